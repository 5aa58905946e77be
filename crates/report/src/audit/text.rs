//! Writes an audit as a page of text to read, print and sign.
//!
//! In: an audit and its streams. Out: a page, with names and other text from the catalogue escaped.
//! Colour adds no information. Open failures are listed, settled ones counted.

use anstyle::Style;
use steadfast::catalogue::{CatalogueVerification, Duplicates, FailedCheck, FileState, Overdue};

use super::{AuditPart, AuditRenderer, AuditTally, AuditView};
use crate::catalogue::{ago, bar, runs_table, share, short_digest, style_of, worst_first};
use crate::document::Align;
use crate::escape;
use crate::output::Output;
use crate::run::TextOptions;
use crate::text::{RED, write_table, write_titled};
use crate::units;
use crate::view::algorithm_title;

/// Renders text.
#[derive(Clone, Debug, Default)]
pub struct AuditText {
    options: TextOptions,
    overdue_days: u32,
    /// Whether the present part has a line yet.
    listed: bool,
}

/// Runs on a page, unless all are asked for.
const RUNS_SHOWN: usize = 10;

/// "tag replaced" is the longest name of a state.
const STANDING_WIDTH: usize = 12;

impl AuditText {
    /// Starts a document.
    pub fn new(options: TextOptions) -> AuditText {
        AuditText { options, ..AuditText::default() }
    }

    fn write_head(&self, view: &AuditView<'_>, text: &mut String) {
        let audit = view.audit;
        text.push_str(&format!("Fixity audit of {}\n", escape::path(view.root)));
        let rows = [
            ("as of", units::moment(audit.at)),
            ("catalogue", escape::path(view.file)),
            ("made by", format!("steadfast {}", view.version)),
        ];
        write_table(&rows.map(|(name, value)| vec![name.to_owned(), value]), &[], text);
        text.push('\n');
        let files = |files| units::counted(files, "file", "files");
        let untagged = audit.entries.saturating_sub(audit.tagged);
        let mut rows = vec![vec![
            files(audit.tagged),
            "with a tag".to_owned(),
            self.options.units.bytes(audit.bytes),
        ]];
        if untagged > 0 {
            rows.push(vec![
                files(untagged),
                "without a tag".to_owned(),
                "cannot be proved".to_owned(),
            ]);
        }
        write_table(&rows, &[Align::Right], text);
    }

    fn write_coverage(&self, view: &AuditView<'_>, text: &mut String) {
        let audit = view.audit;
        let (never, never_bytes) = audit.never;
        let proved = audit.tagged.saturating_sub(never);
        let proved_bytes = audit.bytes.saturating_sub(never_bytes);
        let row = |name: String, files: u64, bytes: u64| {
            vec![
                name,
                units::count(files),
                share(files, audit.tagged),
                self.options.units.bytes(bytes),
                share(bytes, audit.bytes),
                bar(bytes, audit.bytes),
            ]
        };
        let head = ["proved within", "files", "", "bytes", "", ""];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(audit.windows.iter().map(|window| {
            let name = units::counted(window.days.into(), "day", "days");
            row(name, window.entries, window.bytes)
        }));
        rows.push(row("ever".to_owned(), proved, proved_bytes));
        rows.push(row("never".to_owned(), never, never_bytes));
        text.push('\n');
        use Align::{Left, Right};
        write_table(&rows, &[Right, Right, Right, Right, Right, Left], text);
        text.push('\n');
        if let Some(oldest) = audit.oldest_proof {
            let (moment, ago) = (units::moment(oldest), ago(audit.at, oldest));
            text.push_str(&format!("  The oldest proof still relied on is of {moment}, {ago}.\n"));
        }
        text.push_str(
            "  Proved means: a run read every byte of the file and found, or made, the digest of \
             its\n  tag. A proof has the time at which its run began.\n",
        );
        self.write_reading(view, text);
    }

    /// States where the bytes of the longest window were read from.
    fn write_reading(&self, view: &AuditView<'_>, text: &mut String) {
        let windows = view.audit.windows.iter().zip(view.readings);
        let Some((window, reading)) = windows.max_by_key(|(window, _)| window.days) else { return };
        let days = units::counted(window.days.into(), "day", "days");
        let bytes = |bytes| self.options.units.bytes(bytes);
        let (media, cache) = (reading.bytes_media, reading.bytes_cache);
        if reading.runs == 0 {
            text.push_str(&format!("  Within {days} no run compared anything with its tag.\n"));
            return;
        }
        let runs = units::counted(reading.runs, "run", "runs");
        let sum = bytes(media.saturating_add(cache));
        text.push_str(&format!("  Within {days} {runs} compared {sum} with their tags, "));
        text.push_str(&match (media, cache) {
            (_, 0) => "all\n  read past the page cache.\n".to_owned(),
            (0, _) => {
                "all\n  read through the page cache, which may have answered from memory.\n".into()
            }
            _ => format!(
                "{}\n  read past the page cache, {} read through the page cache, which may have \
                 answered\n  from memory.\n",
                bytes(media),
                bytes(cache)
            ),
        });
    }

    fn write_standings(&self, view: &AuditView<'_>, text: &mut String) {
        let standings = &view.audit.standings;
        if standings.is_empty() {
            return;
        }
        text.push_str("\nFiles that are not fine\n");
        let width = standings.values().map(|files| units::count(*files).len()).max().unwrap_or(0);
        for (standing, files) in worst_first(standings.iter()) {
            let name = format!("{:<STANDING_WIDTH$}", standing.name());
            let name = self.options.painted(&name, style_of(*standing));
            text.push_str(&format!("  {name}  {:>width$}\n", units::count(*files)));
        }
    }

    fn write_runs(&self, view: &AuditView<'_>, text: &mut String) {
        let shown = if self.options.verbose { usize::MAX } else { RUNS_SHOWN };
        if view.audit.runs.is_empty() {
            text.push_str("\nNo run was ever made.\n");
            return;
        }
        let title = "The last runs";
        text.push_str(&format!("\n{title}\n"));
        let units = self.options.units;
        let runs: Vec<_> = view.audit.runs.iter().take(shown).collect();
        write_titled(&runs_table(title, &runs, units), units, text);
    }

    fn write_verification(&self, verification: &CatalogueVerification, text: &mut String) {
        let CatalogueVerification { directories, entries, events, runs, problems } = verification;
        text.push_str(&format!(
            "\nThe catalogue itself\n  looked at {}, {}, {} and {}\n",
            units::counted(*directories, "directory", "directories"),
            units::counted(*entries, "file", "files"),
            units::counted(*events, "event", "events"),
            units::counted(*runs, "run", "runs"),
        ));
        for problem in problems {
            let problem = self.options.painted(&escape::text(problem), RED);
            text.push_str(&format!("  {problem}\n"));
        }
        if problems.is_empty() {
            text.push_str("  sound: every seal and every check value fits\n");
        }
    }

    fn write_conclusion(&self, view: &AuditView<'_>, tally: &AuditTally, text: &mut String) {
        let mut sentences = Vec::new();
        if tally.interrupted {
            sentences.push("Interrupted: the lists are not whole.".to_owned());
        }
        let (open, settled): (u64, u64) = (tally.open.values().sum(), tally.settled.values().sum());
        sentences.push(match (open, settled) {
            (0, 0) => "Nothing ever failed.".to_owned(),
            (0, _) => "Everything that failed is settled.".to_owned(),
            (1, _) => "1 failure is not settled.".to_owned(),
            _ => format!("{} failures are not settled.", units::count(open)),
        });
        if let Some(days) = view.overdue_days {
            let days = units::counted(days.into(), "day", "days");
            sentences.push(match tally.overdue {
                0 => format!("Every tagged file was proved within {days}."),
                1 => "1 file is overdue.".to_owned(),
                files => format!("{} files are overdue.", units::count(files)),
            });
        }
        if view.verification.is_some_and(|verification| !verification.is_sound()) {
            sentences.push("The catalogue is damaged.".to_owned());
        }
        text.push_str(&format!("\n{}\n", sentences.join(" ")));
    }

    /// Appends a blank line and a heading before the first line of a part.
    fn heading(&mut self, heading: &str, text: &mut String) {
        if !std::mem::replace(&mut self.listed, true) {
            text.push_str(&format!("\n{heading}\n"));
        }
    }
}

impl AuditRenderer for AuditText {
    fn begin(&mut self, view: &AuditView<'_>, output: &mut Output) {
        self.overdue_days = view.overdue_days.unwrap_or_default();
        let mut text = String::new();
        self.write_head(view, &mut text);
        self.write_coverage(view, &mut text);
        self.write_standings(view, &mut text);
        self.write_runs(view, &mut text);
        if let Some(verification) = view.verification {
            self.write_verification(verification, &mut text);
        }
        output.answer.extend_from_slice(text.as_bytes());
    }

    fn begin_part(&mut self, _part: AuditPart, _output: &mut Output) {
        self.listed = false;
    }

    fn overdue(&mut self, overdue: &Overdue, output: &mut Output) {
        let mut text = String::new();
        let days = units::counted(self.overdue_days.into(), "day", "days");
        self.heading(&format!("Overdue: not proved within {days}"), &mut text);
        let proof = match overdue.last_proof {
            Some(proof) => units::moment(proof),
            None => "never".to_owned(),
        };
        let (length, path) =
            (self.options.units.bytes(overdue.length), escape::path(&overdue.path));
        text.push_str(&format!("  {proof:<20}  {length:>8}  {path}"));
        if !matches!(overdue.standing, FileState::Fine | FileState::Touched) {
            let name = self.options.painted(overdue.standing.name(), style_of(overdue.standing));
            text.push_str(&format!("  ({name})"));
        }
        text.push('\n');
        output.answer.extend_from_slice(text.as_bytes());
    }

    fn failure(&mut self, failure: &FailedCheck, output: &mut Output) {
        let settled = failure.settled || failure.goes_on;
        if settled && !self.options.verbose {
            return;
        }
        let mut text = String::new();
        let all = self.options.verbose;
        self.heading(if all { "What ever failed" } else { "Failed and not settled" }, &mut text);
        let name = format!("{:<STANDING_WIDTH$}", failure.standing.name());
        let style = if settled { Style::new() } else { style_of(failure.standing) };
        let (name, moment) = (self.options.painted(&name, style), units::moment(failure.at));
        let (run, path) = (failure.run, escape::path(&failure.path));
        text.push_str(&format!("  {name}  {moment}  run {run}  {path}"));
        let repaired = failure.repaired_run.filter(|_| settled);
        let now = match failure.now {
            _ if !failure.settled && settled => Some("open at its present name".to_owned()),
            _ if repaired.is_some() => {
                repaired.map(|run| format!("settled: repaired by run {run}"))
            }
            None => Some("settled: removed from the catalogue".to_owned()),
            Some(FileState::TagLost) if settled => Some("settled: contents proved".to_owned()),
            Some(now) if settled => Some(format!("settled: {}", now.name())),
            Some(now) if now != failure.standing => Some(format!("now {}", now.name())),
            Some(_) => None,
        };
        text.extend(now.map(|now| format!("  ({now})")));
        text.push('\n');
        output.answer.extend_from_slice(text.as_bytes());
    }

    fn duplicates(&mut self, duplicates: &Duplicates, output: &mut Output) {
        let mut text = String::new();
        self.heading("Files with the same contents", &mut text);
        let Duplicates { tag, paths } = duplicates;
        let length = self.options.units.bytes(tag.length);
        let algorithm = algorithm_title(tag.algorithm);
        let digest = short_digest(tag);
        text.push_str(&format!("  {} of {length}, {algorithm} {digest}\n", paths.len()));
        for path in paths {
            text.push_str(&format!("    {}\n", escape::path(path)));
        }
        output.answer.extend_from_slice(text.as_bytes());
    }

    fn end_part(&mut self, part: AuditPart, tally: &AuditTally, output: &mut Output) {
        let bytes = |bytes| self.options.units.bytes(bytes);
        let line = match part {
            AuditPart::Overdue if tally.overdue > 0 => {
                let files = units::counted(tally.overdue, "file", "files");
                format!("  {files}, {}\n", bytes(tally.overdue_bytes))
            }
            AuditPart::Failures if !tally.settled.is_empty() => {
                let settled: Vec<String> = worst_first(tally.settled.iter())
                    .map(|(standing, count)| {
                        format!("{} {}", units::count(*count), standing.name())
                    })
                    .collect();
                let lead = if self.listed { "  " } else { "\n" };
                format!("{lead}Settled since: {}\n", settled.join(", "))
            }
            AuditPart::Duplicates if tally.groups > 0 => {
                let groups = units::counted(tally.groups, "group", "groups");
                let copies = units::counted(tally.copies, "copy", "copies");
                format!("  {groups}, {copies} beyond the first: {}\n", bytes(tally.copies_bytes))
            }
            AuditPart::Duplicates => "\nNo two files have the same contents.\n".to_owned(),
            AuditPart::Overdue | AuditPart::Failures => return,
        };
        output.answer.extend_from_slice(line.as_bytes());
    }

    fn end(&mut self, view: &AuditView<'_>, tally: &AuditTally, output: &mut Output) {
        let mut text = String::new();
        self.write_conclusion(view, tally, &mut text);
        output.answer.extend_from_slice(text.as_bytes());
    }
}
