//! What probing found, as programs read it: one JSON object on each line, the summary last.

use std::path::Path;

use serde::Serialize;
use steadfast::probe::{
    Direct, Group, NameUnit, Normalisation, Operation, Place, Probe, Time, Traits,
};
use steadfast_events::PathText;

use super::{outcome_name, reason_of, time_of};
use crate::json::{write_object, write_summary};

/// Appends the lines.
pub fn write_json(probe: &Probe, out: &mut Vec<u8>) {
    for place in &probe.places {
        write_object(&PlaceObject::of(place), out);
    }
    for operation in &probe.operations {
        write_object(&OperationObject::of(operation, &probe.places), out);
    }
    let summary = ProbeSummary {
        verb: "probe",
        interrupted: probe.interrupted,
        exit_status: probe.exit_status(),
        directories: probe.places.len(),
        absent: probe.absent.iter().copied().collect(),
    };
    write_summary(&summary, out);
}

#[derive(Serialize)]
struct PlaceObject<'a> {
    #[serde(flatten)]
    path: PathText,
    file_system: Option<&'a str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    traits: Option<TraitsObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_behind: Option<PathText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl PlaceObject<'_> {
    fn of(place: &Place) -> PlaceObject<'_> {
        let left_behind = place.left_behind.as_ref();
        let trouble = place.traits.as_ref().err().or(left_behind.map(|(_, trouble)| trouble));
        PlaceObject {
            path: PathText::of(&place.path),
            file_system: place.file_system.as_deref(),
            traits: place.traits.as_ref().ok().map(TraitsObject::of),
            left_behind: left_behind.map(|(path, _): &(_, _)| PathText::of(path)),
            error: trouble.map(|trouble| trouble.to_string()),
        }
    }
}

#[derive(Serialize)]
struct TraitsObject {
    attributes: bool,
    value_len_max: Option<u64>,
    tag_space_bytes: Option<u64>,
    mtime_step_ns: Option<u64>,
    case_sensitive: Option<bool>,
    normalisation: Option<&'static str>,
    any_bytes: Option<bool>,
    name_len_max: Option<u64>,
    name_unit: &'static str,
    direct: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    direct_memory_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direct_offset_bytes: Option<u32>,
}

impl TraitsObject {
    fn of(traits: &Traits) -> TraitsObject {
        let (direct, alignment) = match &traits.direct {
            Direct::Aligned(alignment) => ("aligned", Some(alignment)),
            Direct::Cached => ("cached", None),
            Direct::Untold => ("untold", None),
            Direct::Refused(_) => ("refused", None),
        };
        TraitsObject {
            attributes: traits.attributes.is_ok(),
            value_len_max: traits.value_len_max,
            tag_space_bytes: traits.tag_space_bytes,
            mtime_step_ns: traits.mtime_step_ns,
            case_sensitive: traits.case_sensitive,
            normalisation: traits.normalisation.map(normalisation_name),
            any_bytes: traits.any_bytes,
            name_len_max: traits.name_len_max,
            name_unit: match traits.name_unit {
                NameUnit::Bytes => "bytes",
                NameUnit::Characters => "characters",
            },
            direct,
            direct_memory_bytes: alignment.map(|alignment| alignment.memory),
            direct_offset_bytes: alignment.map(|alignment| alignment.offset),
        }
    }
}

fn normalisation_name(normalisation: Normalisation) -> &'static str {
    match normalisation {
        Normalisation::Distinct => "distinct",
        Normalisation::Alike => "alike",
        Normalisation::Composed => "composed",
        Normalisation::Decomposed => "decomposed",
    }
}

#[derive(Serialize)]
struct OperationObject<'a> {
    operation: &'a str,
    group: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<PathText>,
    outcomes: Vec<OutcomeObject<'a>>,
}

impl<'a> OperationObject<'a> {
    fn of(operation: &'a Operation, places: &[Place]) -> OperationObject<'a> {
        let path = |at: usize| -> &Path { &places[at].path };
        let outcomes = operation.outcomes.iter().enumerate();
        OperationObject {
            operation: operation.name,
            group: match operation.group {
                Group::Copy => "copy",
                Group::Save => "save",
                Group::Between => "between",
            },
            from: operation.from.map(|from| PathText::of(path(from))),
            outcomes: outcomes
                .map(|(at, outcome)| OutcomeObject {
                    path: PathText::of(path(at)),
                    outcome: outcome_name(outcome),
                    time: time_of(outcome).map(time_name),
                    reason: reason_of(outcome),
                })
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct OutcomeObject<'a> {
    #[serde(flatten)]
    path: PathText,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

fn time_name(time: Time) -> &'static str {
    match time {
        Time::Kept => "kept",
        Time::Cut => "cut",
        Time::New => "new",
    }
}

#[derive(Serialize)]
struct ProbeSummary {
    verb: &'static str,
    interrupted: bool,
    exit_status: u8,
    directories: usize,
    absent: Vec<&'static str>,
}
