//! Writes a probe as JSON lines: one object on each line, the summary last.

use std::path::Path;

use steadfast::json::PathText;
use steadfast_probe::{Direct, Operation, Place, Probe, Traits};

use super::{reason_of, time_of};
use crate::json::{JsonObject, write_object, write_summary};

/// Appends the lines.
pub fn write_json(probe: &Probe, out: &mut Vec<u8>) {
    for place in &probe.places {
        write_object(&place_object(place), out);
    }
    for operation in &probe.operations {
        write_object(&operation_object(operation, &probe.places), out);
    }
    let summary = JsonObject::default()
        .field("verb", "probe")
        .field("interrupted", probe.interrupted)
        .field("exit_status", probe.exit_status())
        .field("directories", probe.places.len())
        .field("absent", &probe.absent);
    write_summary(&summary, out);
}

fn place_object(place: &Place) -> JsonObject<'_> {
    let left_behind = place.left_behind.as_ref();
    let trouble = place.traits.as_ref().err().or(left_behind.map(|(_, trouble)| trouble));
    JsonObject::at(&place.path)
        .field("file_system", place.file_system.as_deref())
        .fields(place.traits.as_ref().map(traits_object).unwrap_or_default())
        .optional("left_behind", left_behind.map(|(path, _): &(_, _)| PathText::of(path)))
        .optional("error", trouble.map(|trouble| trouble.to_string()))
}

fn traits_object(traits: &Traits) -> JsonObject<'_> {
    let alignment = match &traits.direct {
        Direct::Aligned(alignment) => Some(alignment),
        Direct::Cached | Direct::Untold | Direct::Refused(_) => None,
    };
    JsonObject::default()
        .field("attributes", traits.attributes.is_ok())
        .field("value_len_max", traits.value_len_max)
        .field("tag_space_bytes", traits.tag_space_bytes)
        .field("mtime_step_ns", traits.mtime_step_ns)
        .field("case_sensitive", traits.case_sensitive)
        .field("normalisation", traits.normalisation.map(<&str>::from))
        .field("any_bytes", traits.any_bytes)
        .field("name_len_max", traits.name_len_max)
        .field("name_unit", <&str>::from(traits.name_unit))
        .field("direct", <&str>::from(&traits.direct))
        .optional("direct_memory_bytes", alignment.map(|alignment| alignment.memory))
        .optional("direct_offset_bytes", alignment.map(|alignment| alignment.offset))
}

fn operation_object<'a>(operation: &'a Operation, places: &[Place]) -> JsonObject<'a> {
    let path = |at: usize| -> &Path { &places[at].path };
    let outcomes = operation.outcomes.iter().enumerate().map(|(at, outcome)| {
        JsonObject::at(path(at))
            .field("outcome", <&str>::from(outcome))
            .optional("time", time_of(outcome).map(<&str>::from))
            .optional("reason", reason_of(outcome))
    });
    JsonObject::default()
        .field("operation", operation.name)
        .field("group", <&str>::from(operation.group))
        .optional("from", operation.from.map(|from| PathText::of(path(from))))
        .field("outcomes", outcomes.collect::<Vec<_>>())
}
