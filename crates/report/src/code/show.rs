//! Writes signatures as text: a block for each part.

use std::fmt::Write as _;

use steadfast_codesign::{
    Code, CodeDirectory, CodePart, Constraint, Coverage, Entitlements, Package, RangeCover,
    Requirements, Signature, SignerVerdict, Slot, Value,
};

use super::signer::signer_lines;
use super::{ShownCode, words};
use crate::escape;
use crate::run::TextOptions;
use crate::units;

/// Width of the longest label and the space behind it.
const LABEL_WIDTH: usize = 14;

/// Most lines of entitlements that are shown, except with `verbose`.
const VALUE_LINES_MAX: usize = 40;

/// Appends the lines about one piece of code.
pub fn write_shown_text(shown: &ShownCode<'_>, options: TextOptions, out: &mut Vec<u8>) {
    let mut text = ShownText { options, out: String::new() };
    let ShownCode { path, code, coverage } = *shown;
    let _ = writeln!(text.out, "{}", escape::path(path));
    text.whole(code);
    for part in code.parts().iter().filter(|_| code.as_package().is_none()) {
        text.part(part);
    }
    if let Some(coverage) = coverage {
        text.coverage(coverage);
    }
    out.extend_from_slice(text.out.as_bytes());
}

struct ShownText {
    options: TextOptions,
    out: String,
}

impl ShownText {
    /// Appends one labelled line. Writing to a `String` cannot fail.
    fn line(&mut self, label: &str, value: &str) {
        let _ = writeln!(self.out, "  {label:<LABEL_WIDTH$}{value}");
    }

    fn bytes(&self, bytes: u64) -> String {
        self.options.units.bytes(bytes)
    }

    /// Appends the kind of the code and, of a bundle, its parts.
    fn whole(&mut self, code: &Code<'_>) {
        let Some(bundle) = code.as_bundle() else {
            self.line("kind", words::kind(code.kind()));
            if let Some(package) = code.as_package() {
                self.package(package);
            }
            return;
        };
        let shape = bundle.layout.shape.name();
        self.line("kind", &format!("bundle, {shape}"));
        let executable = String::from_utf8_lossy(&bundle.layout.executable);
        self.line("executable", &escape::text(&executable));
        let seal = match &bundle.seal {
            None => "none".to_owned(),
            Some(Err(reason)) => format!("cannot be understood: {}", escape::text(reason)),
            Some(Ok(seal)) => {
                let entries = units::counted(seal.entries.len() as u64, "entry", "entries");
                let rules = seal.rules.list().len() as u64;
                format!("{entries}, {}", units::counted(rules, "rule", "rules"))
            }
        };
        self.line("resources", &seal);
    }

    fn package(&mut self, package: &Package) {
        self.line("files", &units::count(package.files));
        let hash = package.cdhash().map_or_else(|| "none".to_owned(), |hash| hash.to_string());
        self.line("contents", &format!("{hash}  {}", package.algorithm.name()));
        match package.signer(&[]) {
            Some(signer) => signer_lines(&signer).iter().for_each(|(of, is)| self.line(of, is)),
            None => self.line("signature", "none"),
        }
    }

    fn part(&mut self, part: &CodePart<'_>) {
        let name = part.architecture().unwrap_or_else(|| "all of it".to_owned());
        let _ = writeln!(self.out, "{}", escape::text(&name));
        let size = self.bytes(part.len_bytes);
        self.line("place", &format!("{size} at byte {}", units::count(part.offset)));
        if let Some(build) = part.slice.and_then(|slice| slice.macho.as_ref()?.build) {
            let minimum = words::packed_version(build.minimum);
            let platform = words::platform(build.platform);
            self.line("built for", &format!("{platform} {minimum} or later"));
        }
        match part.signature {
            Some(signature) => self.signature(signature),
            None => self.line("signature", "none that can be read"),
        }
    }

    fn signature(&mut self, signature: &Signature) {
        self.line("identifier", &escape::text(&signature.identifier()));
        if let Some(team) = signature.team() {
            self.line("team", &escape::text(&team));
        }
        let chosen = signature.chosen_directory().slot();
        for directory in signature.directories() {
            let mark = if directory.slot() == chosen { ", chosen" } else { "" };
            let cdhash = format!("{}  {}{mark}", directory.cdhash(), directory.hash_type());
            self.line("CDHash", &cdhash);
        }
        for directory in signature.directories() {
            if self.options.verbose || directory.slot() == chosen {
                self.directory(directory);
            }
        }
        self.slots(signature);
        for line in signer_lines(&SignerVerdict::of(signature)) {
            self.line(line.0, &line.1);
        }
        self.requirements(signature);
        let entitlements = Entitlements::of(signature);
        if let Some(value) = entitlements.value() {
            let forms = match (&entitlements.xml, &entitlements.der) {
                (Some(_), Some(_)) => "as a property list and in DER",
                (Some(_), None) => "as a property list",
                _ => "in DER",
            };
            self.line("entitlements", forms);
            self.value(value);
        }
        for constraint in Constraint::all(signature).0 {
            self.line("constraint", constraint.slot.name().unwrap_or("of unknown kind"));
            self.value(&constraint.value);
        }
        if signature.blob(Slot::TICKET).is_some() {
            self.line("ticket", "notarization, stapled, not verified");
        }
    }

    fn directory(&mut self, directory: &CodeDirectory) {
        let pages = match directory.page_len() {
            Some(len) => {
                let pages = units::counted(directory.page_count(), "page", "pages");
                format!("{pages} of {} bytes", units::count(len))
            }
            None => "one digest over everything".to_owned(),
        };
        let limit = units::count(directory.code_limit());
        self.line("pages", &format!("{pages}; code ends at byte {limit}"));
        let mut flags = words::flag_names(directory.flags());
        if let Some(segment) = directory.exec_segment() {
            flags.extend(words::exec_segment_names(segment.flags));
        }
        let flags = if flags.is_empty() { "none".to_owned() } else { flags.join(", ") };
        self.line("flags", &format!("{flags} ({:#x})", directory.flags()));
        if let Some(runtime) = directory.runtime().filter(|runtime| *runtime != 0) {
            self.line("runtime", &words::packed_version(runtime));
        }
        let version = directory.version();
        self.line("directory", &format!("version {version:#x}, slot {}", directory.slot()));
    }

    /// Appends what the signature binds besides pages.
    fn slots(&mut self, signature: &Signature) {
        for (slot, digest) in signature.chosen_directory().special_digests() {
            let name = slot.name().unwrap_or("of unknown kind");
            match self.options.verbose {
                true => self.line("binds", &format!("{name}  {}", words::hex(digest))),
                false => self.line("binds", name),
            }
        }
    }

    fn requirements(&mut self, signature: &Signature) {
        let Some(blob) = signature.requirements() else { return };
        match Requirements::from_blob(blob.bytes) {
            Ok(requirements) => {
                for (kind, requirement) in &requirements.entries {
                    let text = format!("{kind} => {requirement}");
                    self.line("requirement", &escape::text(&text));
                }
            }
            Err(error) => self.line("requirement", &escape::text(&error.to_string())),
        }
    }

    fn value(&mut self, value: &Value) {
        let mut lines = Vec::new();
        words::value_lines(value, 0, &mut lines);
        let shown = if self.options.verbose { lines.len() } else { VALUE_LINES_MAX };
        for line in lines.iter().take(shown) {
            let _ = writeln!(self.out, "    {}", escape::text(line));
        }
        if lines.len() > shown {
            let more = units::counted((lines.len() - shown) as u64, "more line", "more lines");
            let _ = writeln!(self.out, "    and {more}; --verbose shows all");
        }
    }

    fn coverage(&mut self, coverage: &Coverage) {
        let _ = writeln!(self.out, "coverage");
        for cover in words::COVERS {
            let len_bytes = coverage.len_bytes(cover);
            if len_bytes > 0 {
                let label = cover.name();
                let exact = units::counted(len_bytes, "byte", "bytes");
                let _ = writeln!(self.out, "  {label:<LABEL_WIDTH$}{exact:>20}");
            }
        }
        for covered in &coverage.ranges {
            if covered.cover == RangeCover::Unsealed || self.options.verbose {
                let (start, end) =
                    (units::count(covered.bytes.start), units::count(covered.bytes.end));
                let slice =
                    covered.slice.as_deref().map(|slice| format!("{slice} ")).unwrap_or_default();
                let what = escape::text(&format!("{slice}{}", covered.what));
                self.line(covered.cover.name(), &format!("bytes {start} to {end}: {what}"));
            }
        }
    }
}
