//! Makes a document of a run: verdicts, the files that are not intact, what can be proved of the
//! tree, and where the time went.
//!
//! In: the events of a run in order, its end, and the audit of a catalogue if there is one. Out: a
//! [`Document`]. Memory is bounded for any tree: the document lists the worst findings up to a
//! limit, and counts the rest.

use steadfast::ExitStatus;
use steadfast::catalogue::Audit;
use steadfast::{Event, FileEvent, FindingEvent, Stage, Summary, Timestamp, Verdict};

use crate::document::{
    Axis, Cell, Chart, Document, Field, Layer, Mark, Point, Quantity, Section, Table, labelled,
};
use crate::escape;
use crate::timeline::Timeline;
use crate::units::{self, Units};
use crate::view::{self, FindingRule, bound_title, finding_detail, known_of};

/// Most findings on a page; with their paths and details they take about 150 KB.
const FINDINGS_MAX: usize = 800;

/// Circumstances of a run that its summary does not contain.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The command, as it was given.
    pub command: String,
    /// Program and version.
    pub made_by: String,
    /// When the run began.
    pub begun: Timestamp,
    /// Multiples of bytes in sentences; those in tables are chosen when the document is written.
    pub units: Units,
}

/// Collects a run for a document.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    rule: FindingRule,
    findings: Vec<ShownFinding>,
    /// Findings beyond the limit.
    more: u64,
    notices: Vec<String>,
}

#[derive(Clone, Debug)]
struct ShownFinding {
    rank: usize,
    name: &'static str,
    path: String,
    known: String,
}

impl RunReport {
    /// Begins with what counts as a finding.
    pub fn new(rule: FindingRule) -> RunReport {
        RunReport { rule, ..RunReport::default() }
    }

    /// Takes one event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::File(event) => self.file(event),
            Event::Finding(noted) => self.noted(noted),
            Event::Notice(notice) => {
                let place = notice.path.as_deref().map(|path| format!("{}: ", escape::path(path)));
                let text =
                    format!("{}{}", place.unwrap_or_default(), escape::text(&notice.to_string()));
                if self.notices.len() < FINDINGS_MAX && !self.notices.contains(&text) {
                    self.notices.push(text);
                }
            }
            _ => {}
        }
    }

    fn file(&mut self, event: &FileEvent) {
        // Mild findings are listed as well; worse ones replace them when the limit is reached.
        let intact = event.verdict.is_none_or(|verdict| verdict == Verdict::Intact);
        if !self.rule.finds(event) && intact {
            return;
        }
        let verdict = event.verdict.filter(|_| event.trouble.is_none() || event.verdict.is_some());
        let rank = |verdict| Verdict::ALL.iter().position(|one| *one == verdict);
        self.keep(ShownFinding {
            rank: verdict.and_then(rank).unwrap_or(Verdict::ALL.len()),
            name: verdict.map_or("failed", Verdict::name),
            path: escape::path(&event.path.to_path()),
            known: known_of(event, ToString::to_string, units::MomentWords::default()).join("; "),
        });
    }

    fn noted(&mut self, noted: &FindingEvent) {
        if noted.finding.exit_status().is_fine() {
            return;
        }
        self.keep(ShownFinding {
            rank: Verdict::ALL.len() + 1,
            name: noted.finding.name(),
            path: escape::path(&noted.path),
            known: finding_detail(&noted.finding).unwrap_or_default(),
        });
    }

    /// Keeps a finding. At the limit, a worse finding replaces the mildest.
    fn keep(&mut self, finding: ShownFinding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
            return;
        }
        self.more += 1;
        let mildest = (0..self.findings.len()).max_by_key(|&at| (self.findings[at].rank, at));
        if let Some(mildest) = mildest
            && self.findings[mildest].rank > finding.rank
        {
            self.findings.remove(mildest);
            self.findings.push(finding);
        }
    }

    /// Makes the document.
    pub fn document(
        mut self,
        facts: &RunFacts,
        run: &Summary,
        audit: Option<&Audit>,
        timeline: &Timeline,
    ) -> Document {
        // Findings of one kind stay in the order of the walk.
        self.findings.sort_by_key(|finding| finding.rank);
        let mut sections = vec![self.verdicts(run), self.found()];
        sections.extend(audit.map(coverage));
        sections.push(cost(run, timeline, facts.units));
        let mut warnings = Vec::new();
        if run.interrupted {
            warnings.push(
                "the run was interrupted: the files that it did not reach are missing here".into(),
            );
        }
        warnings.extend(view::time_up(run));
        warnings.append(&mut self.notices);
        Document {
            title: title(run, facts.units),
            facts: run_facts(facts, run),
            warnings,
            sections,
            ..Document::default()
        }
    }

    fn verdicts(&self, run: &Summary) -> Section {
        let verdicts = view::verdicts(run).map(|(verdict, files)| (verdict.name(), files));
        let mut rows: Vec<(&str, u64)> = verdicts.filter(|(_, files)| *files > 0).collect();
        let points =
            (0..).zip(&rows).map(|(at, (_, files))| Point::at(f64::from(at), *files as f64));
        let shown = rows.len() > 1;
        let chart = Chart::new(
            "verdicts",
            "Files by verdict",
            "One bar for each verdict, as long as the number of files that got it.",
            (
                Axis::names(rows.iter().map(|(name, _)| (*name).to_owned())),
                Axis::linear("files", Quantity::Count(0)),
            ),
            vec![Layer::new("", Mark::Bars, points)],
        );
        rows.extend(view::findings(run).filter(|(_, files)| *files > 0));
        let fields: &[Field<'_, (&str, u64)>] = &[
            ("Verdict", &|(name, _)| Cell::text(*name)),
            (">Files", &|(_, files)| Cell::count(*files)),
        ];
        let table = Table::of("verdicts", "Verdicts", 1, &rows, fields);
        let mut sentences = vec![self.answer(run)];
        if run.verdicts(Verdict::Suspect) > 0 {
            let them = if run.verdicts(Verdict::Suspect) == 1 { "it" } else { "them" };
            let keep = "steadfast update --accept-suspect PATH";
            sentences.push(format!("If it was you, keep {them}: {keep}."));
            let restore = "Otherwise: steadfast repair --suspect --from BACKUP PATH.";
            sentences.push(restore.to_owned());
        }
        if run.verdicts(Verdict::Corrupt) > 0 {
            sentences.push(format!("Mend: {}.", view::remedy(run, "PATH")));
        }
        Section {
            title: "Verdicts".to_owned(),
            sentences,
            tables: vec![table],
            charts: if shown { vec![chart] } else { Vec::new() },
            notes: Vec::new(),
            ..Section::default()
        }
    }

    /// The answer in one sentence.
    fn answer(&self, run: &Summary) -> String {
        let (corrupt, suspect) = (run.verdicts(Verdict::Corrupt), run.verdicts(Verdict::Suspect));
        match (corrupt, run.exit_status()) {
            (1.., _) => format!(
                "{} corrupt: other contents, and nothing is known to have written them.",
                units::counted(corrupt, "file is", "files are")
            ),
            (0, _) if suspect > 0 => format!(
                "{} suspect: changed by something that kept the date.",
                units::counted(suspect, "file is", "files are")
            ),
            _ if run.judged() == 0 => "No file was judged.".to_owned(),
            _ if run.verdicts(Verdict::Differs) > 0 => format!(
                "{} than a list says, and the cause is not known.",
                units::counted(run.verdicts(Verdict::Differs), "file is other", "files are other")
            ),
            (_, ExitStatus::Fine) => sound(run),
            (_, ExitStatus::Changed) => {
                "Something is modified or missing; nothing is known to be corrupt.".to_owned()
            }
            _ => "Some files could not be judged.".to_owned(),
        }
    }

    fn found(&self) -> Section {
        let fields: &[Field<'_, ShownFinding>] = &[
            ("Verdict", &|of| Cell::text(of.name)),
            ("Path", &|of| Cell::text(&of.path)),
            ("What is known", &|of| Cell::text(&of.known)),
        ];
        let table = Table::of("findings", "Files that are not intact", 2, &self.findings, fields);
        let mut sentences = Vec::new();
        if self.findings.is_empty() {
            sentences.push("There are none.".to_owned());
        }
        if self.more > 0 {
            let more = units::counted(self.more, "further file is", "further files are");
            sentences.push(format!(
                "{more} not shown here; none is worse than those that are. `--json` lists every \
                 file."
            ));
        }
        Section {
            title: "Files that are not intact".to_owned(),
            sentences,
            tables: vec![table],
            ..Section::default()
        }
    }
}

/// States what a run with status 0 proves, and how many files were not judged.
fn sound(run: &Summary) -> String {
    let intact = run.verdicts(Verdict::Intact);
    let files = units::counted(intact, "file is", "files are");
    if intact == run.files {
        return format!("Nothing is wrong: {files} intact.");
    }
    let mut sentence = format!("No fault was found. {files} intact");
    let others = view::verdicts(run).filter(|(verdict, _)| *verdict != Verdict::Intact);
    for (verdict, number) in others.filter(|(_, number)| *number > 0) {
        sentence.push_str(&format!(", {} {}", units::count(number), verdict.name()));
    }
    let unjudged = run.files.saturating_sub(run.judged());
    if unjudged > 0 {
        let were = units::counted(unjudged, "file was", "files were");
        sentence.push_str(&format!(". {were} not judged"));
    }
    sentence.push('.');
    sentence
}

fn title(run: &Summary, units: Units) -> String {
    let verb = units::capital(run.verb.name());
    let files = units::counted(run.files, "file", "files");
    format!("{verb} of {files}, {}", units.bytes(run.bytes))
}

fn run_facts(facts: &RunFacts, run: &Summary) -> Vec<(String, String)> {
    let rate = facts.units.rate(run.bytes, run.elapsed_ns);
    let took = units::duration(run.elapsed_ns);
    let bytes = facts.units.bytes(run.bytes);
    let threads = units::counted(run.means.workers as u64, "thread", "threads");
    let media = match run.bytes_from_media {
        0 => "through the page cache".to_owned(),
        media if media == run.bytes => "all past the page cache".to_owned(),
        media => format!("{} of them past the page cache", facts.units.bytes(media)),
    };
    let skipped = view::skipped(&run.skipped);
    let mut rows = vec![
        ("when", format!("{}, {took}", units::moment(facts.begun))),
        ("command", escape::text(&facts.command)),
        ("made by", facts.made_by.clone()),
        ("read", format!("{bytes}, {rate}, {media}, by {}", run.means.engine)),
        ("hashed", format!("by {}, {threads}", run.means.backend)),
        ("exit status", run.exit_status().to_string()),
    ];
    if !skipped.is_empty() {
        rows.push(("skipped", skipped.join(", ")));
    }
    labelled(rows)
}

/// What the catalogue can prove of the tree, by the age of the last proof.
fn coverage(audit: &Audit) -> Section {
    let share = |files: u64| files as f64 / audit.tagged.max(1) as f64;
    let windows = audit.windows.iter().map(|window| {
        let days = units::counted(u64::from(window.days), "day", "days");
        (days, window.entries, window.bytes)
    });
    let mut rows: Vec<(String, u64, u64)> = windows.collect();
    let points = rows.iter().enumerate();
    let points = points.map(|(at, (_, files, _))| Point::at(at as f64, share(*files)));
    let chart = Chart::new(
        "coverage",
        "Share of the tagged files that is proved",
        "One bar for each number of days: how large a share of the tagged files was proved within \
         them. The rest was proved longer ago or never.",
        (
            Axis::names(rows.iter().map(|(days, ..)| format!("within {days}"))),
            Axis::linear("share of tagged files", Quantity::Share(0.0)),
        ),
        vec![Layer::new("proved", Mark::Bars, points)],
    );
    rows.push(("never".to_owned(), audit.never.0, audit.never.1));
    let fields: &[Field<'_, (String, u64, u64)>] = &[
        ("Proved within", &|(when, ..)| Cell::text(when)),
        (">Files", &|(_, files, _)| Cell::count(*files)),
        (">Share", &|(_, files, _)| Cell::Number(Quantity::Share(share(*files)))),
        (">Bytes", &|(.., bytes)| Cell::bytes(*bytes)),
    ];
    let table = Table::of("coverage", "What is proved, and how long ago", 1, &rows, fields);
    Section {
        title: "What can be proved of the tree".to_owned(),
        sentences: coverage_sentences(audit),
        tables: vec![table],
        charts: vec![chart],
        notes: Vec::new(),
        ..Section::default()
    }
}

fn coverage_sentences(audit: &Audit) -> Vec<String> {
    let mut sentences = vec![format!(
        "The catalogue knows {}, {} with a tag.",
        units::counted(audit.entries, "file", "files"),
        units::count(audit.tagged)
    )];
    let failed = audit
        .standings
        .iter()
        .filter(|(standing, _)| !standing.verdict(true).exit_status(false).is_fine());
    let failed: Vec<String> = failed
        .map(|(standing, files)| format!("{} {}", units::count(*files), standing.name()))
        .collect();
    if !failed.is_empty() {
        sentences.push(format!(
            "A proof is about the time at which it was made. At their last check, these files were \
             not fine: {}.",
            failed.join(", ")
        ));
    }
    sentences
}

/// Where the time went.
fn cost(run: &Summary, timeline: &Timeline, units: Units) -> Section {
    let all = run.account.cost_of(|_| true);
    let time = |ns: u64| Cell::Number(Quantity::Time(ns as f64));
    let stages = Stage::ALL.into_iter().filter(|&stage| all.elapsed_ns(stage) > 0);
    let stages: Vec<Stage> = stages.collect();
    let fields: &[Field<'_, Stage>] = &[
        ("Stage", &|stage| Cell::text(stage.name())),
        (">Time of all threads", &|stage| time(all.elapsed_ns(*stage))),
        (">Share", &|stage| Cell::Number(Quantity::Share(all.share(*stage)))),
        (">Waited for storage or others", &|stage| time(all.waited_ns(*stage))),
    ];
    let table = Table::of("stages", "Time of all threads together, by stage", 1, &stages, fields);
    let mut sentences = Vec::new();
    if let Some(bounds) = run.account.bounds().filter(|_| run.bytes > 0) {
        let bound = bound_title(&bounds.limit, None);
        let whole = view::resource_title(bounds.limit.resource);
        sentences.push(format!("Bound by {bound}: {} of {whole}.", units::percent(bounds.share)));
        sentences.extend(bounds.next.map(|next| {
            let rate = units.rate(run.bytes, next.least_ns);
            format!("The next limit would be {}, at {rate}.", bound_title(&next, None))
        }));
    }
    Section {
        title: "Where the time went".to_owned(),
        sentences,
        tables: vec![table],
        charts: timeline.chart().into_iter().collect(),
        notes: Vec::new(),
        ..Section::default()
    }
}
