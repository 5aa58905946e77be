//! Writes a comparison as text: a line for each finding, then counts.

use std::path::Path;

use anstyle::Style;
use steadfast::ExitStatus;
use steadfast::diff::{DiffSummary, Difference, Doubt, FileSide, PathKind, PathPair};
use steadfast::{Notice, Verdict};

use super::{DiffRenderer, DiffRoots, beneath, decay, finds};
use crate::advice::typed_paths;
use crate::escape;
use crate::output::Output;
use crate::run::TextOptions;
use crate::text::{RED, YELLOW, finding_line, throughput, write_counts};
use crate::units;
use crate::view::{self, algorithm_title};

/// Renders text.
#[derive(Clone, Debug, Default)]
pub struct DiffText {
    roots: DiffRoots,
    options: TextOptions,
    /// Whether any tag was missing or stale; then the end suggests `--read`.
    doubtful: bool,
}

/// "unreadable" and "only there" are the longest labels.
const LABEL_WIDTH: usize = 10;

impl DiffText {
    /// Starts a document, in which `roots` name the two sides.
    pub fn new(roots: DiffRoots, options: TextOptions) -> DiffText {
        DiffText { roots, options, doubtful: false }
    }

    /// Returns the path; with its root if it exists on that side only.
    fn place(&self, pair: &PathPair) -> String {
        let roots = &self.roots;
        let path = match (pair.difference, &pair.here) {
            (Difference::OnlyHere, _) => joined(&roots.here, &pair.path),
            (Difference::OnlyThere, _) => joined(&roots.there, &pair.path),
            (Difference::Unreadable | Difference::Unknown, Some(_)) if pair.there.is_none() => {
                joined(&roots.here, &pair.path)
            }
            (Difference::Unreadable | Difference::Unknown, None) => {
                joined(&roots.there, &pair.path)
            }
            _ => escape::path(beneath(&pair.path)),
        };
        match &pair.moved_to {
            Some(moved_to) => format!("{path} -> {}", escape::path(moved_to)),
            None => path,
        }
    }

    fn details(&self, pair: &PathPair) -> Vec<String> {
        let mut details = Vec::new();
        details.extend(match pair.kind {
            PathKind::File => None,
            PathKind::Directory => Some("a directory".to_owned()),
            PathKind::Symlink if pair.difference == Difference::Different => {
                Some("symbolic links to different targets".to_owned())
            }
            PathKind::Symlink => Some("a symbolic link".to_owned()),
            PathKind::Special => Some("a special file".to_owned()),
        });
        details.extend(self.lengths(pair));
        details.extend(pair.doubt.map(|doubt| self.doubt(doubt)));
        if pair.difference == Difference::TagLost {
            let read = pair.here.as_ref().is_some_and(|side| side.actual.is_some());
            details.push(if read { "the same contents" } else { "contents not read" }.to_owned());
        }
        let roots = &self.roots;
        for (root, side) in [(&roots.here, &pair.here), (&roots.there, &pair.there)] {
            let Some(side) = side else { continue };
            details.extend(self.troubles(root, side));
        }
        if pair.times_differ {
            details.push(times(pair));
        }
        details
    }

    /// States both lengths if they differ, or that contents of equal length differ.
    fn lengths(&self, pair: &PathPair) -> Option<String> {
        let lengths = pair.here.as_ref()?.length.zip(pair.there.as_ref()?.length);
        let (here, there) = lengths.filter(|_| pair.difference == Difference::Different)?;
        let bytes = |length| units::counted(length, "byte", "bytes");
        Some(match here == there {
            true => format!("{} with other contents", bytes(here)),
            false => {
                format!("{}, {}", self.sided(true, &bytes(here)), self.sided(false, &bytes(there)))
            }
        })
    }

    fn sided(&self, here: bool, what: &str) -> String {
        let roots = &self.roots;
        format!("{what} in {}", escape::path(if here { &roots.here } else { &roots.there }))
    }

    fn doubt(&self, doubt: Doubt) -> String {
        match doubt {
            Doubt::NoTags => "neither has a tag".to_owned(),
            Doubt::NoTagHere => self.sided(true, "no tag"),
            Doubt::StaleHere => self.sided(true, "changed after it was tagged,"),
            Doubt::StaleThere => self.sided(false, "changed after it was tagged,"),
            Doubt::DamagedHere | Doubt::DamagedThere => {
                "what it contains now was not compared".to_owned()
            }
            Doubt::Algorithms => "tags of different algorithms".to_owned(),
            Doubt::Hidden => "its directory cannot be read on the other side".to_owned(),
        }
    }

    /// Lists the errors on one side, and the verdict by its tag.
    fn troubles(&self, root: &Path, side: &FileSide) -> Vec<String> {
        let root = escape::path(root);
        let troubles = side.trouble.iter().chain(&side.tag_trouble);
        let mut told: Vec<String> = troubles
            .map(|trouble| format!("{} in {root}", escape::text(&trouble.to_string())))
            .collect();
        told.extend(decay(side.verdict).map(|verdict| {
            let by = if side.actual.is_some() { "by its tag" } else { "as the last check found" };
            let said = format!("{verdict} in {root}, {by}");
            match verdict {
                Verdict::Corrupt | Verdict::Suspect => self.options.painted(&said, RED),
                _ => said,
            }
        }));
        told
    }

    fn write_counts(&self, summary: &DiffSummary, text: &mut String) {
        let counts = Difference::ALL.map(|difference| {
            let style = match difference {
                Difference::Same => Style::new(),
                _ => YELLOW,
            };
            (label(difference), summary.differences(difference), style)
        });
        write_counts(counts.into(), LABEL_WIDTH, self.options.color, text);
        if summary.times_differ > 0 {
            let pairs = units::count(summary.times_differ);
            text.push_str(&format!("same contents, other modification time: {pairs}\n"));
        }
        let roots = &self.roots;
        let sides = [(&roots.here, &roots.there), (&roots.there, &roots.here)];
        for ((root, other), damaged) in sides.into_iter().zip(summary.damaged) {
            if damaged > 0 {
                let (name, files) = (escape::path(root), units::counted(damaged, "file", "files"));
                let typed = typed_paths(&[other.clone(), root.clone()]);
                text.push_str(&format!(
                    "damaged in {name}: {files}. To mend: steadfast repair --from {typed}\n"
                ));
            }
        }
        for (root, skipped) in
            [(&roots.here, &summary.skipped_here), (&roots.there, &summary.skipped_there)]
        {
            let passed = view::skipped(skipped);
            if !passed.is_empty() {
                let root = escape::path(root);
                text.push_str(&format!("not compared in {root}: {}\n", passed.join(", ")));
            }
        }
    }

    fn heading(&self, summary: &DiffSummary) -> String {
        let roots = &self.roots;
        let interrupted = if summary.interrupted { "interrupted: " } else { "" };
        let how = match summary.algorithm {
            Some(algorithm) => format!("by reading both, {}", algorithm_title(algorithm)),
            None => "by their tags".to_owned(),
        };
        let files = match (summary.files_here, summary.files_there) {
            (here, there) if here == there => units::counted(here, "file", "files"),
            (here, there) => {
                format!("{} with {}", units::counted(here, "file", "files"), units::count(there))
            }
        };
        let (here, there) = (escape::path(&roots.here), escape::path(&roots.there));
        let throughput = throughput(summary.bytes, summary.elapsed_ns, self.options.units);
        format!("{interrupted}compared {here} with {there} {how}: {files}{throughput}\n")
    }

    fn verdict(&self, summary: &DiffSummary) -> &'static str {
        match summary.exit_status() {
            ExitStatus::Fine => "The second is a faithful copy of the first.\n",
            ExitStatus::Changed => "The second is not a faithful copy of the first.\n",
            ExitStatus::Undetermined if self.doubtful && !summary.read => {
                "Not everything could be told; to read both sides: steadfast diff --read A B\n"
            }
            ExitStatus::Undetermined => "Not everything could be told.\n",
            _ => "",
        }
    }
}

impl DiffRenderer for DiffText {
    fn pair(&mut self, pair: &PathPair, output: &mut Output) {
        self.doubtful |= pair.doubt.is_some();
        let finding = finds(pair);
        if !finding && !self.options.verbose {
            return;
        }
        let style = if finding { YELLOW } else { Style::new() };
        let label =
            self.options.painted(&format!("{:<LABEL_WIDTH$}", label(pair.difference)), style);
        let line = finding_line(&label, &self.place(pair), &self.details(pair));
        output.answer.extend_from_slice(line.as_bytes());
    }

    fn notice(&mut self, notice: &Notice, output: &mut Output) {
        if !self.options.quiet || !notice.status.is_fine() {
            output.write_notice(notice);
        }
    }

    fn end(&mut self, summary: &DiffSummary, output: &mut Output) {
        if self.options.quiet {
            return;
        }
        let findings = Difference::ALL[..7].iter().any(|&one| summary.differences(one) > 0);
        let mut text = String::new();
        if findings || self.options.verbose {
            text.push('\n');
        }
        text.push_str(&self.heading(summary));
        self.write_counts(summary, &mut text);
        text.push_str(self.verdict(summary));
        output.answer.extend_from_slice(text.as_bytes());
    }
}

fn label(difference: Difference) -> &'static str {
    match difference {
        Difference::OnlyHere => "only here",
        Difference::OnlyThere => "only there",
        Difference::TagLost => "tag lost",
        other => other.name(),
    }
}

fn joined(root: &Path, path: &Path) -> String {
    match path.as_os_str().is_empty() {
        true => escape::path(root),
        false => escape::path(&root.join(path)),
    }
}

fn times(pair: &PathPair) -> String {
    let mtime = |side: &Option<Box<FileSide>>| side.as_ref().and_then(|side| side.mtime);
    let (Some(here), Some(there)) = (mtime(&pair.here), mtime(&pair.there)) else {
        return "modification times differ".to_owned();
    };
    let [was, now] = units::moments_apart(here, there);
    format!("modification time {now}, not {was}")
}
