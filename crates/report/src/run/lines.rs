//! Writes a run as JSON lines, one object on each and the summary last, or as CSV of RFC 4180 with
//! LF, with a row for each file.
//!
//! In: events and the end. Out: lines in base units, bytes and nanoseconds.
//! `docs/formats/events.md` specifies them and outranks this file.

use steadfast::cost::{EnergyReading, Limit, ThreadCost};
use steadfast::json::{Nanoseconds, ReferenceText, TagText};
use steadfast::{Cost, Event, FileEvent, FindingEvent, Origin, Reason, Stage, Subject, Summary};

use super::Renderer;
use crate::advice;
use crate::json::{CountsByName, JsonObject};
use crate::lines::ObjectLines;
use crate::output::Output;
use crate::pages::damage_object;
use crate::view::{self, FindingRule, finding_detail};

/// The columns, always these and in this order. An unknown value is an empty field.
pub const COLUMNS: [&str; 23] = [
    "path",
    "path_b64",
    "kind",
    "verdict",
    "action",
    "algorithm",
    "digest",
    "length",
    "mtime_ns",
    "stored_algorithm",
    "stored_digest",
    "stored_length",
    "stored_mtime_ns",
    "stored_tagged_s",
    "bytes_read",
    "elapsed_ns",
    "from",
    "error",
    "finding",
    "moved_to",
    "reference",
    "reason",
    "changed_ns",
];

/// Renders JSON lines or CSV.
#[derive(Clone, Copy, Debug)]
pub struct RunLines {
    lines: ObjectLines,
    quiet: bool,
    rule: FindingRule,
}

impl RunLines {
    /// Begins JSON lines; `quiet` leaves out what is not a finding by the rule.
    pub fn json(quiet: bool, rule: FindingRule) -> RunLines {
        RunLines { lines: ObjectLines::Json, quiet, rule }
    }

    /// Begins CSV.
    pub fn csv(quiet: bool, rule: FindingRule) -> RunLines {
        RunLines { lines: ObjectLines::csv(&COLUMNS), quiet, rule }
    }
}

impl Renderer for RunLines {
    fn event(&mut self, event: &Event, output: &mut Output) {
        match event {
            Event::File(event) if self.quiet && !self.rule.finds(event) => {}
            Event::File(event) => self.lines.write(&file_object(event), output),
            Event::Finding(noted) if self.quiet && noted.finding.exit_status().is_fine() => {}
            Event::Finding(noted) => self.lines.write(&finding_object(noted), output),
            Event::Notice(notice) => self.lines.write_notice(notice, output),
            _ => {}
        }
    }

    fn end(&mut self, run: &Summary, output: &mut Output) {
        self.lines.end(&summary_object(run), output);
    }
}

/// The line or row about a file.
fn file_object(event: &FileEvent) -> JsonObject<'_> {
    let read = event.actual.is_some() || event.reading.bytes > 0;
    // The present contents; without a digest if the file was not read.
    let (actual, extent) = (event.extent().and(event.actual), event.extent());
    JsonObject::at(&event.path.to_path())
        .optional("kind", (event.subject == Subject::Directory).then_some("directory"))
        .optional("verdict", event.verdict.map(|verdict| verdict.name()))
        .optional("reason", event.reason().map(Reason::name))
        .optional("changed_ns", event.reason().and(event.changed_at()).map(Nanoseconds))
        .optional("action", event.action.map(|action| action.name()))
        .optional("skipped", event.reading.dataless.then_some("dataless"))
        .optional("algorithm", actual.map(|tag| tag.algorithm.name()))
        .optional("digest", actual.map(|tag| tag.digest.to_string()))
        .optional("length", extent.map(|(length, _)| length))
        .optional("mtime_ns", extent.map(|(_, mtime)| Nanoseconds(mtime)))
        .optional("stored", event.stored.as_ref().map(TagText::of))
        .optional("previous", event.previous.as_deref().map(TagText::of))
        .optional("bytes_read", read.then_some(event.reading.bytes))
        .optional("elapsed_ns", read.then_some(event.reading.elapsed_ns))
        .optional("from", event.reading.origin.map(Origin::name))
        .optional("linked", event.reading.linked.then_some(true))
        .optional("instead", event.instead().map(|kind| kind.to_string()))
        .optional("moved_to", event.moved_to.as_deref().map(JsonObject::at))
        .optional("reference", event.reference.as_deref().map(ReferenceText::of))
        .optional("damage", event.damage.as_deref().map(damage_object))
        .optional("error", event.trouble.as_ref().map(advice::of_error))
}

/// The line or row about a finding of the catalogue.
fn finding_object(noted: &FindingEvent) -> JsonObject<'_> {
    JsonObject::at(&noted.path)
        .field("finding", noted.finding.name())
        .optional("detail", finding_detail(&noted.finding))
}

fn summary_object(run: &Summary) -> JsonObject<'_> {
    let verdicts = view::verdicts(run).map(|(verdict, files)| (verdict.name(), files));
    let actions = view::actions(run).map(|(action, files)| (action.name(), files));
    JsonObject::default()
        .field("verb", run.verb.name())
        .field("dry_run", run.dry_run)
        .field("interrupted", run.interrupted)
        .field("still_due", run.still_due)
        .optional("may_be_repaired", run.may_be_repaired)
        .optional("many_at_once", run.many_at_once.map(|(changed, _)| changed))
        .field("exit_status", run.exit_status())
        .field("files", run.files)
        .field("bytes", run.bytes)
        .field("bytes_from_media", run.bytes_from_media)
        .field("elapsed_ns", run.elapsed_ns)
        .field("workers", run.means.workers)
        .field("backend", &run.means.backend)
        .field("engine", run.means.engine)
        .field("verdicts", CountsByName(verdicts.collect()))
        .field("actions", CountsByName(actions.collect()))
        .field("catalogued", run.catalogued)
        .field("findings", CountsByName(view::findings(run).collect()))
        .field("failed", run.counts.failed)
        .field("skipped", run.skipped)
        .field("cost", cost_object(run))
}

/// Where the time went: for all threads together and for each, and what limits the run.
fn cost_object(run: &Summary) -> JsonObject<'_> {
    let (account, cost) = (&run.account, run.account.cost());
    let bounds = account.bounds();
    let threads = account.threads.iter().map(thread_object);
    let limits = account.limits().into_iter().map(limit_object);
    stages_object(&cost)
        .field("storage_wait_ns", cost.storage_wait_ns())
        .field("bound", bounds.map(|bounds| bounds.limit.bound.name()))
        .field("bound_share", bounds.map(|bounds| (bounds.share * 1e4).round() / 1e4))
        .field("next", bounds.and_then(|bounds| bounds.next).map(limit_object))
        .field("limits", limits.collect::<Vec<_>>())
        .field("processors", account.processors)
        .field("reads_at_a_time", account.reads_at_a_time)
        .optional("energy", energy_object(&account.energy))
        .field("threads", threads.collect::<Vec<_>>())
}

/// Energy and core types, where the system tells of either.
fn energy_object(energy: &EnergyReading) -> Option<JsonObject<'_>> {
    if energy.energy_nj.is_none() && energy.performance_cpu_ns.is_none() {
        return None;
    }
    let levels = CountsByName(energy.levels.clone());
    let object = JsonObject::default()
        .field("of", if energy.of_machine { "machine" } else { "process" })
        .field("energy_nj", energy.energy_nj)
        .field("performance_energy_nj", energy.performance_energy_nj)
        .field("cpu_ns", energy.cpu_ns)
        .field("performance_cpu_ns", energy.performance_cpu_ns)
        .field("level_cpu_ns", levels);
    Some(object)
}

fn stages_object<'a>(cost: &Cost) -> JsonObject<'a> {
    JsonObject::default()
        .field("walk_ns", cost.elapsed_ns(Stage::Walk))
        .field("open_ns", cost.elapsed_ns(Stage::Open))
        .field("read_ns", cost.elapsed_ns(Stage::Read))
        .field("hash_ns", cost.elapsed_ns(Stage::Hash))
        .field("store_ns", cost.elapsed_ns(Stage::Store))
        .field("report_ns", cost.elapsed_ns(Stage::Report))
        .field("wait_ns", cost.elapsed_ns(Stage::Wait))
        .field("queue_ns", cost.elapsed_ns(Stage::Queue))
        .field("processor_ns", cost.processor_ns)
}

fn limit_object<'a>(limit: Limit) -> JsonObject<'a> {
    JsonObject::default()
        .field("resource", limit.resource.name())
        .field("bound", limit.bound.name())
        .field("least_ns", limit.least_ns)
}

fn thread_object(thread: &ThreadCost) -> JsonObject<'_> {
    // The time that each stage spent asleep; stages that never slept are left out.
    let waited = Stage::BUSY.map(|stage| (stage.name(), thread.cost.waited_ns(stage)));
    let waited = waited.into_iter().filter(|&(_, waited_ns)| waited_ns > 0);
    JsonObject::default()
        .field("name", &thread.name)
        .field("role", thread.role.name())
        .field("lifetime_ns", thread.lifetime_ns)
        .fields(stages_object(&thread.cost))
        .field("waited", CountsByName(waited.collect()))
}
