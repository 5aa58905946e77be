//! Writes levels as JSON lines: one object on each line, the summary last.
//!
//! In: facts. Out: lines in base units. `docs/reference/qos.md` specifies them.

use std::collections::BTreeMap;

use steadfast::ExitStatus;
use steadfast::qos::{Confinement, Fact, Grouping, Offer, Pace, Trial};

use crate::json::{JsonObject, write_object, write_summary};

/// Appends the lines.
pub fn write_json(offer: &Offer, trials: &[Trial], out: &mut Vec<u8>) {
    write_object(&JsonObject::default().field("machine", machine_object(offer)), out);
    for device in &offer.devices {
        let object = JsonObject::default()
            .field("device", &device.name)
            .field("scheduler", device.scheduler.as_deref())
            .field("honours", device.honours.name());
        write_object(&object, out);
    }
    for trial in trials {
        write_object(&level_object(trial), out);
    }
    let steps = || trials.iter().flat_map(|trial| &trial.steps);
    let summary = JsonObject::default()
        .field("verb", "qos show")
        .field("levels", trials.len())
        .field("steps", steps().count())
        .field("refused", steps().filter(|step| step.result.is_err()).count())
        .field("exit_status", ExitStatus::Fine);
    write_summary(&summary, out);
}

fn machine_object(offer: &Offer) -> JsonObject<'_> {
    let slower = offer.cores.slower();
    let classes = offer.cores.classes.iter().map(|class| {
        JsonObject::default()
            .field("name", &class.name)
            .field("cpus", &class.cpus)
            .field("logical", class.logical)
            .field("physical", class.physical)
            .field("capacity", class.capacity)
            .field("frequency_khz_max", class.frequency_khz_max)
            .field("slower", slower.contains(class))
    });
    let shared = JsonObject::default();
    let shared = match &offer.grouping {
        Grouping::Threads => shared.field("shared_by", "threads"),
        Grouping::Session { nice } => {
            shared.field("shared_by", "session").field("session_nice", *nice)
        }
        Grouping::ControlGroup { name, weight, idle } => shared
            .field("shared_by", "control_group")
            .field("control_group", name)
            .optional("control_group_weight", *weight)
            .field("control_group_idle", *idle),
    };
    JsonObject::default()
        .field("cpu_model", &offer.cpu_model)
        .field("core_types", offer.cores.knowledge.name())
        .field("told_by", offer.cores.source.map(|source| source.name()))
        .field("logical", offer.cores.logical)
        .field("classes", classes.collect::<Vec<_>>())
        .field("uclamp", offer.uclamp)
        .fields(shared)
        .field("thread", facts(&offer.thread))
}

fn level_object(trial: &Trial) -> JsonObject<'_> {
    let confined_to = match &trial.confinement {
        Confinement::To(cpus) => Some(cpus),
        _ => None,
    };
    let steps = trial.steps.iter().map(|step| {
        JsonObject::default()
            .field("what", &step.what)
            .field("done", step.result.is_ok())
            .optional("error", step.result.as_ref().err().map(ToString::to_string))
    });
    JsonObject::default()
        .field("level", trial.level.name())
        .field("number", trial.level.number())
        .field("pace", Pace::of(trial.level).name())
        .field("workers", trial.workers)
        .field("confined_to", confined_to)
        .field("steps", steps.collect::<Vec<_>>())
        .field("thread", facts(&trial.thread))
}

fn facts(facts: &[Fact]) -> BTreeMap<&'static str, &str> {
    facts.iter().map(|fact| (fact.what, fact.value.as_str())).collect()
}
