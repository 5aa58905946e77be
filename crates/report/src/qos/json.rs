//! Levels as programs read them: one object on each line, the summary last.
//!
//! In: facts. Out: lines, in base units. Specified in `docs/qos.md`.

use std::collections::BTreeMap;

use serde::Serialize;
use steadfast::qos::{Confinement, CoreClass, Fact, Grouping, Offer, Pace, Step, Trial};

use crate::json::{write_object, write_summary};

/// Appends the lines.
pub fn write_json(offer: &Offer, trials: &[Trial], out: &mut Vec<u8>) {
    write_object(&MachineLine { machine: MachineObject::of(offer) }, out);
    for device in &offer.devices {
        let object = DeviceObject {
            device: &device.name,
            scheduler: device.scheduler.as_deref(),
            honours: device.honours.name(),
        };
        write_object(&object, out);
    }
    for trial in trials {
        write_object(&LevelObject::of(trial), out);
    }
    let steps = || trials.iter().flat_map(|trial| &trial.steps);
    let summary = QosSummary {
        verb: "qos show",
        levels: trials.len(),
        steps: steps().count(),
        refused: steps().filter(|step| step.result.is_err()).count(),
        exit_status: 0,
    };
    write_summary(&summary, out);
}

#[derive(Serialize)]
struct MachineLine<'a> {
    machine: MachineObject<'a>,
}

#[derive(Serialize)]
struct MachineObject<'a> {
    cpu_model: &'a str,
    core_types: &'static str,
    told_by: Option<&'static str>,
    logical: usize,
    classes: Vec<ClassObject<'a>>,
    uclamp: Option<bool>,
    shared_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_nice: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    control_group: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    control_group_weight: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    control_group_idle: Option<bool>,
    thread: BTreeMap<&'static str, &'a str>,
}

impl<'a> MachineObject<'a> {
    fn of(offer: &'a Offer) -> MachineObject<'a> {
        let slower = offer.cores.slower();
        let classes = offer.cores.classes.iter();
        let mut object = MachineObject {
            cpu_model: &offer.cpu_model,
            core_types: offer.cores.knowledge.name(),
            told_by: offer.cores.source.map(|source| source.name()),
            logical: offer.cores.logical,
            classes: classes.map(|class| ClassObject::of(class, slower)).collect(),
            uclamp: offer.uclamp,
            shared_by: "threads",
            session_nice: None,
            control_group: None,
            control_group_weight: None,
            control_group_idle: None,
            thread: facts(&offer.thread),
        };
        match &offer.grouping {
            Grouping::Threads => {}
            Grouping::Session { nice } => {
                object.shared_by = "session";
                object.session_nice = Some(*nice);
            }
            Grouping::ControlGroup { name, weight, idle } => {
                object.shared_by = "control_group";
                object.control_group = Some(name);
                object.control_group_weight = *weight;
                object.control_group_idle = Some(*idle);
            }
        }
        object
    }
}

#[derive(Serialize)]
struct ClassObject<'a> {
    name: &'a str,
    cpus: &'a [usize],
    logical: usize,
    physical: Option<usize>,
    capacity: Option<u32>,
    frequency_khz_max: Option<u64>,
    slower: bool,
}

impl<'a> ClassObject<'a> {
    fn of(class: &'a CoreClass, slower: &[CoreClass]) -> ClassObject<'a> {
        ClassObject {
            name: &class.name,
            cpus: &class.cpus,
            logical: class.logical,
            physical: class.physical,
            capacity: class.capacity,
            frequency_khz_max: class.frequency_khz_max,
            slower: slower.contains(class),
        }
    }
}

#[derive(Serialize)]
struct DeviceObject<'a> {
    device: &'a str,
    scheduler: Option<&'a str>,
    honours: &'static str,
}

#[derive(Serialize)]
struct LevelObject<'a> {
    level: &'static str,
    number: u8,
    pace: &'static str,
    workers: usize,
    confined_to: Option<&'a [usize]>,
    steps: Vec<StepObject<'a>>,
    thread: BTreeMap<&'static str, &'a str>,
}

impl<'a> LevelObject<'a> {
    fn of(trial: &'a Trial) -> LevelObject<'a> {
        LevelObject {
            level: trial.level.name(),
            number: trial.level.number(),
            pace: Pace::of(trial.level).name(),
            workers: trial.workers,
            confined_to: match &trial.confinement {
                Confinement::To(cpus) => Some(cpus),
                _ => None,
            },
            steps: trial.steps.iter().map(StepObject::of).collect(),
            thread: facts(&trial.thread),
        }
    }
}

#[derive(Serialize)]
struct StepObject<'a> {
    what: &'a str,
    done: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl StepObject<'_> {
    fn of(step: &Step) -> StepObject<'_> {
        StepObject {
            what: &step.what,
            done: step.result.is_ok(),
            error: step.result.as_ref().err().map(ToString::to_string),
        }
    }
}

#[derive(Serialize)]
struct QosSummary {
    verb: &'static str,
    levels: usize,
    steps: usize,
    refused: usize,
    exit_status: u8,
}

fn facts(facts: &[Fact]) -> BTreeMap<&'static str, &str> {
    facts.iter().map(|fact| (fact.what, fact.value.as_str())).collect()
}
