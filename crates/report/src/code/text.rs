//! Writes a verification as text: one sentence, the verdicts on each part, then the findings.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;
use steadfast_codesign::bundle::Resources;
use steadfast_codesign::{
    BytesState, CodeFinding, CodeOutcome, CodeVerification, NestedVerification, PartVerification,
    PolicyState, Severity, SignerState, SignerVerdict,
};

use super::statement::{is_read, statement};
use super::{CodeCounts, VerifiedCode, within, words};
use crate::escape;
use crate::run::TextOptions;
use crate::text::{RED, YELLOW};
use crate::units;
use crate::view::counted_parts;

/// Appends the lines about one piece of code.
pub fn write_verified_text(verified: &VerifiedCode<'_>, options: TextOptions, out: &mut Vec<u8>) {
    let mut text = VerifiedText { options, out: String::new() };
    let findings = verified.verification.all_findings();
    let outcome = verified.verification.outcome();
    if !options.quiet || outcome != CodeOutcome::Good {
        let statement = statement(verified.verification);
        let statement = text.options.painted(&statement, style_of(outcome));
        let _ = writeln!(text.out, "{}: {statement}", escape::path(verified.path));
        text.code(verified.path, verified.verification, 0);
        for finding in &findings {
            text.finding(verified.path, finding);
        }
        if !options.quiet {
            let bytes = verified.verification.read_bytes();
            let (size, time) = (options.units.bytes(bytes), units::duration(verified.elapsed_ns));
            let _ = writeln!(text.out, "  {size} hashed in {time}");
        }
    }
    out.extend_from_slice(text.out.as_bytes());
}

struct VerifiedText {
    options: TextOptions,
    out: String,
}

impl VerifiedText {
    /// Appends the verdicts on some code and on the code that it nests. Writing to a `String`
    /// cannot fail.
    fn code(&mut self, path: &Path, verification: &CodeVerification, depth: usize) {
        let indent = "  ".repeat(depth);
        if depth > 0 {
            let _ = writeln!(self.out, "{indent}{}", escape::path(path));
        }
        // With `quiet`, only failures are written.
        let quiet = self.options.quiet;
        let tells = |failed: bool| failed || !quiet;
        for part in verification.parts.iter().filter(|part| tells(part_failed(part))) {
            self.part(part, &indent);
        }
        let sealed = verification.resources_sealed() == Some(true);
        let failed = |_: &&Resources| tells(!sealed);
        if let Some(resources) = verification.resources.as_ref().filter(failed) {
            let state = match verification.resources_sealed() {
                Some(true) => "as sealed".to_owned(),
                _ => self.options.painted("not as sealed", RED),
            };
            let mut counts = vec![units::counted(resources.files, "file", "files")];
            counts.extend(counted_parts(&[
                ("symlink", "symlinks", resources.symlinks),
                ("nested", "nested", resources.nested.len() as u64),
                ("optional absent", "optional absent", resources.absent),
                ("left out by the rules", "left out by the rules", resources.omitted),
            ]));
            let _ = writeln!(self.out, "{indent}  resources {state}: {}", counts.join(", "));
        }
        if let Some(notarized) = words::notarized(verification).filter(|_| !quiet) {
            let _ = writeln!(self.out, "{indent}  {notarized}");
        }
        for nested in verification.nested.iter().filter(|one| tells(nested_failed(one))) {
            self.nested(path, nested, depth + 1);
        }
    }

    fn part(&mut self, part: &PartVerification, indent: &str) {
        let bytes = <&str>::from(part.bytes.state);
        let bytes = match part.bytes.state {
            BytesState::Intact => bytes.to_owned(),
            BytesState::Damaged => self.options.painted(bytes, RED),
            BytesState::Unread => "not read".to_owned(),
            BytesState::Unsigned | BytesState::Unverifiable => self.options.painted(bytes, YELLOW),
        };
        let _ = write!(self.out, "{indent}  ");
        if let Some(architecture) = &part.architecture {
            let _ = write!(self.out, "{:<8}", escape::text(architecture));
        }
        let _ = write!(self.out, "bytes {bytes}");
        if part.bytes.state != BytesState::Unsigned && !part.bytes.directories.is_empty() {
            let _ = write!(self.out, " ({})", pages(part));
        }
        if let Some(signer) = &part.signer {
            let _ = write!(self.out, "; signer {}", self.signer(signer));
        }
        let policy = part.policy.as_ref().filter(|policy| policy.state != PolicyState::Clear);
        if let Some(policy) = policy {
            let state = policy.state.name();
            let state = match policy.state {
                PolicyState::Refused => self.options.painted(state, RED),
                PolicyState::Unverifiable => self.options.painted(state, YELLOW),
                PolicyState::Clear | PolicyState::Doubtful => state.to_owned(),
            };
            let _ = write!(self.out, "; policy {state}");
        }
        self.out.push('\n');
    }

    fn signer(&self, signer: &SignerVerdict) -> String {
        let state = words::signer_state(signer.state);
        let style = match signer.state {
            SignerState::AdHoc | SignerState::Valid => Style::new(),
            SignerState::Invalid => RED,
            _ => YELLOW,
        };
        let name = signer.leaf().and_then(|leaf| leaf.subject().common_name());
        match name {
            Some(name) => format!("{}: {}", self.options.painted(state, style), escape::text(name)),
            None => self.options.painted(state, style),
        }
    }

    fn nested(&mut self, path: &Path, nested: &NestedVerification, depth: usize) {
        let path = within(path, &nested.item.path);
        let indent = "  ".repeat(depth);
        match &nested.code {
            Some(code) => self.code(&path, code, depth),
            None => {
                let _ = writeln!(self.out, "{indent}{}", escape::path(&path));
            }
        }
        let requirement = match &nested.requirement {
            Ok(true) => "met".to_owned(),
            Ok(false) => self.options.painted("not met", RED),
            Err(_) => self.options.painted("unknown", YELLOW),
        };
        let outcome = nested.code.as_ref().map_or(CodeOutcome::Good, |code| code.outcome());
        let exact = match nested.exact {
            Some(true) if outcome != CodeOutcome::Good => {
                self.options.painted("by its CDHash only, see the findings", style_of(outcome))
            }
            Some(true) if nested.code.as_ref().is_some_and(|code| !is_read(code)) => {
                "by its CDHash, no page read".to_owned()
            }
            Some(true) => "yes".to_owned(),
            Some(false) => self.options.painted("no", RED),
            None => "not said".to_owned(),
        };
        let _ = writeln!(
            self.out,
            "{indent}  requirement {requirement}; exactly the code that was sealed: {exact}"
        );
    }

    /// Appends one line for a finding, and another for the error that Apple's check would report.
    fn finding(&mut self, path: &Path, finding: &CodeFinding) {
        let (style, wanted) = match finding.severity {
            Severity::Failure => (RED, true),
            Severity::Unverified => (YELLOW, true),
            Severity::Warning => (YELLOW, !self.options.quiet),
            Severity::Note => (Style::new(), self.options.verbose),
        };
        if !wanted {
            return;
        }
        let label = format!("{}  {}", <&str>::from(finding.severity), finding.kind.name());
        let label = self.options.painted(&label, style);
        let place = place(path, finding, self.options.verbose);
        let said = escape::text(&finding.text);
        let _ = writeln!(self.out, "  {label}  {place}{said}");
        if let Some(apple) = words::apple(finding) {
            let _ = writeln!(self.out, "      {apple}");
        }
    }
}

fn any_failed(findings: &[CodeFinding]) -> bool {
    CodeOutcome::of(findings) != CodeOutcome::Good
}

fn style_of(outcome: CodeOutcome) -> Style {
    match outcome {
        CodeOutcome::Good => Style::new(),
        CodeOutcome::Unverified => YELLOW,
        CodeOutcome::Refused | CodeOutcome::Unmet | CodeOutcome::Damaged => RED,
    }
}

fn part_failed(part: &PartVerification) -> bool {
    let signer = part.signer.as_ref().is_some_and(|signer| any_failed(&signer.findings));
    let policy = part.policy.as_ref().is_some_and(|policy| any_failed(&policy.findings));
    any_failed(&part.bytes.findings) || signer || policy
}

fn nested_failed(nested: &NestedVerification) -> bool {
    let within = nested.code.as_ref().is_some_and(|code| code.outcome() != CodeOutcome::Good);
    any_failed(&nested.findings) || within
}

/// Returns how many pages were checked, and of how many.
pub(super) fn pages(part: &PartVerification) -> String {
    let Some(directory) = part.bytes.directories.first() else { return "no pages".to_owned() };
    let total = units::counted(directory.pages_total, "page", "pages");
    let directories = match part.bytes.directories.len() {
        1 => String::new(),
        many => format!(", {many} directories"),
    };
    match directory.pages_checked == directory.pages_total {
        true => format!("{total}{directories}"),
        false => format!("{} of {total}{directories}", units::count(directory.pages_checked)),
    }
}

/// Returns the place of a finding, with a colon at the end; empty if it concerns the whole.
fn place(path: &Path, finding: &CodeFinding, verbose: bool) -> String {
    let place = &finding.place;
    let mut words = named_place(path, finding);
    if verbose {
        words.extend(place.directory.map(|slot| format!("directory {slot}")));
        words.extend(place.slot.map(|slot| format!("slot {slot}")));
    }
    words.extend(part_of_code(finding));
    match words.is_empty() {
        true => String::new(),
        false => format!("{}: ", words.join(", ")),
    }
}

/// Returns the names in the place of a finding: the file in a bundle, and the slice.
pub(super) fn named_place(path: &Path, finding: &CodeFinding) -> Vec<String> {
    let place = &finding.place;
    let file = place.path.as_ref().map(|inner| escape::path(&within(path, inner)));
    file.into_iter().chain(place.slice.as_deref().map(escape::text)).collect()
}

/// Returns which part of the file or slice a finding concerns, in words.
pub(super) fn part_of_code(finding: &CodeFinding) -> Vec<String> {
    let place = &finding.place;
    let mut words = Vec::new();
    words.extend(place.pages.as_ref().map(|pages| match pages.end.saturating_sub(pages.start) {
        1 => format!("page {}", units::count(pages.start)),
        _ => format!("pages {} to {}", units::count(pages.start), units::count(pages.end - 1)),
    }));
    words.extend(place.bytes.as_ref().map(|bytes| {
        format!("bytes {} to {}", units::count(bytes.start), units::count(bytes.end))
    }));
    words.extend(place.section.as_deref().map(|section| format!("in {}", escape::text(section))));
    words
}

/// Appends the last line about folders and archives: what was found in them, and what was not
/// looked into. Nothing is appended if each path was one piece of code.
pub fn write_end_text(counts: &CodeCounts, out: &mut Vec<u8>) {
    let CodeCounts { codes, not_read, failed, paths, .. } = *counts;
    if codes + not_read + failed == paths && not_read == 0 {
        return;
    }
    let parts = [
        ("piece of code", "pieces of code", codes),
        ("file that was not looked into", "files that were not looked into", not_read),
        ("that could not be opened", "that could not be opened", failed),
    ];
    out.extend_from_slice(counted_parts(&parts).join(", ").as_bytes());
    out.push(b'\n');
}
