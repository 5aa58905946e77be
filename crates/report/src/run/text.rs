//! Writes a run as text: a line for each finding, then the result.
//!
//! In: events and the end. Out: lines, with every name escaped. Each finding has one line, as soon
//! as it is made; the end has their numbers. Knows nothing of the screen itself.

mod end;

use std::collections::BTreeMap;

use anstyle::Style;
use steadfast::ExitStatus;
use steadfast::catalogue::Finding as CatalogueFinding;
use steadfast::{Action, Algorithm, Event, FileEvent, FindingEvent, Notice, Summary, Verdict};

use super::Renderer;
use crate::output::Output;
use crate::text::{RED, YELLOW, finding_line, painted};
use crate::units::{self, MomentWords, Units};
use crate::view::{FindingRule, finding_detail, known_of};
use crate::{advice, escape};

/// How text is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextOptions {
    /// Whether every file gets a line, with its time and throughput.
    pub verbose: bool,
    /// Whether to write findings only.
    pub quiet: bool,
    /// Whether to use colours.
    pub color: bool,
    /// The multiples of bytes.
    pub units: Units,
    /// Which events are findings, and whether the run is dry: then actions read "would …".
    pub rule: FindingRule,
    /// How a moment is worded that a person is asked about.
    pub moments: MomentWords,
}

impl TextOptions {
    /// Returns text in a style, if colours are used.
    pub(crate) fn painted(&self, text: &str, style: Style) -> String {
        painted(text, style, self.color)
    }
}

/// Renders text.
#[derive(Debug, Default)]
pub struct Text {
    options: TextOptions,
    findings: BTreeMap<Heading, u64>,
    /// Files that could not be judged because their tags are damaged.
    damaged_tags: u64,
    /// Whether a lost tag can be put back.
    restores_tags: bool,
    /// Whether something is in place of a missing file.
    has_replaced: bool,
    algorithms: HashedBy,
    /// The paths of the run as they are typed; empty if they are not known.
    paths: String,
}

/// The kind of a finding: a verdict, by its index in [`Verdict::ALL`]; a finding of the catalogue;
/// files whose tags could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Heading {
    Verdict(usize),
    Catalogue(&'static str),
    Failed,
}

/// Which algorithms hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum HashedBy {
    #[default]
    None,
    One(Algorithm),
    Several,
}

impl Text {
    /// Starts a document.
    pub fn new(options: TextOptions) -> Text {
        Text { options, ..Text::default() }
    }

    /// Names the paths of the run in the commands that it says, as
    /// [`typed_paths`](crate::advice::typed_paths) returns them.
    pub fn naming(self, paths: String) -> Text {
        Text { paths, ..self }
    }

    fn file(&mut self, event: &FileEvent, output: &mut Output) {
        self.algorithms = match (self.algorithms, event.digest()) {
            (HashedBy::None, Some((algorithm, _))) => HashedBy::One(algorithm),
            (HashedBy::One(before), Some((now, _))) if before != now => HashedBy::Several,
            (algorithms, _) => algorithms,
        };
        let is_damaged = event.tag_error.is_some() && event.stored.is_none();
        self.damaged_tags += u64::from(is_damaged && event.action.is_none());
        self.has_replaced |= event.instead().is_some();
        let finding = self.options.rule.finds(event);
        let told = event.verdict == Some(Verdict::Moved) || self.options.rule.retags(event);
        if !finding && (self.options.quiet || !(self.options.verbose || told)) {
            return;
        }
        if finding {
            *self.findings.entry(self.section(event)).or_default() += 1;
        }
        // The notice about the file system says it once for all of them.
        if event.repeats_trouble() && event.trouble.is_some() && !self.options.verbose {
            return;
        }
        let path = escape::path(&event.path.to_path());
        let (label, style) = self.label(event);
        let label =
            self.options.painted(&format!("{label:<width$}", width = self.label_width()), style);
        let line = finding_line(&label, &path, &self.details(event));
        output.answer.extend_from_slice(line.as_bytes());
    }

    fn noted(&mut self, noted: &FindingEvent, output: &mut Output) {
        let matters = !noted.finding.exit_status().is_fine();
        let shown = match noted.finding {
            CatalogueFinding::New { .. } => self.options.verbose,
            _ => matters || !self.options.quiet,
        };
        if !shown {
            return;
        }
        let name = noted.finding.name();
        let style = if matters { YELLOW } else { Style::new() };
        let label =
            self.options.painted(&format!("{name:<width$}", width = self.label_width()), style);
        let path = escape::path(&noted.path);
        let line = finding_line(&label, &path, finding_detail(&noted.finding).as_slice());
        output.answer.extend_from_slice(line.as_bytes());
        self.restores_tags |= matches!(noted.finding, CatalogueFinding::TagLost { fits: true, .. });
        if matters {
            *self.findings.entry(Heading::Catalogue(name)).or_default() += 1;
        }
    }

    fn notice(&self, notice: &Notice, output: &mut Output) {
        if !self.options.quiet || !notice.status.is_fine() {
            output.write_notice(notice);
        }
    }

    fn label(&self, event: &FileEvent) -> (&'static str, Style) {
        if let Some(verdict) = self.options.rule.failing_verdict(event) {
            return (verdict.name(), style_of(verdict));
        }
        let label = match (&event.trouble, event.action, event.verdict) {
            (Some(_), ..) => return ("failed", YELLOW),
            (None, Some(action), _) => self.action(action),
            (None, None, Some(verdict)) => verdict.name(),
            (None, None, None) if event.reading.dataless => "not here",
            (None, None, None) => "no tag",
        };
        (label, Style::new())
    }

    fn section(&self, event: &FileEvent) -> Heading {
        let verdict = self.options.rule.failing_verdict(event);
        let place = verdict.and_then(|one| Verdict::ALL.iter().position(|other| *other == one));
        place.map_or(Heading::Failed, Heading::Verdict)
    }

    /// "unreadable" is the longest verdict, "would refresh" the longest action of a dry run.
    fn label_width(&self) -> usize {
        if self.options.rule.dry_run { 13 } else { 10 }
    }

    fn action(&self, action: Action) -> &'static str {
        if !self.options.rule.dry_run {
            return action.name();
        }
        match action {
            Action::Tagged => "would tag",
            Action::Retagged => "would retag",
            Action::Refreshed => "would refresh",
            Action::Kept => "would keep",
            Action::Removed => "would remove",
            Action::Restored => "would restore",
            Action::Exported => "would export",
        }
    }

    fn details(&self, event: &FileEvent) -> Vec<String> {
        let mut details = known_of(event, advice::of_error, self.options.moments);
        if let (Some(_), Some(action)) = (self.options.rule.failing_verdict(event), event.action) {
            details.push(self.action(action).to_owned());
        }
        if self.options.verbose && event.reading.linked {
            details.push("hard link, read once".to_owned());
        } else if self.options.verbose && event.actual.is_some() {
            let units = self.options.units;
            details.push(format!(
                "{} in {}, {}",
                units.bytes(event.reading.bytes),
                units::duration(event.reading.elapsed_ns),
                units.rate(event.reading.bytes, event.reading.elapsed_ns)
            ));
        }
        details
    }
}

impl Renderer for Text {
    fn event(&mut self, event: &Event, output: &mut Output) {
        match event {
            Event::File(event) => self.file(event, output),
            Event::Finding(noted) => self.noted(noted, output),
            Event::Notice(notice) => self.notice(notice, output),
            _ => {}
        }
    }

    fn end(&mut self, run: &Summary, output: &mut Output) {
        if !self.options.quiet {
            self.write_end(run, output);
        }
    }
}

fn style_of(verdict: Verdict) -> Style {
    match verdict.exit_status(true) {
        ExitStatus::Corrupt => RED,
        ExitStatus::Fine => Style::new(),
        _ => YELLOW,
    }
}
