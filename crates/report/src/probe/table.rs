//! Writes a probe as a table: a row for each operation, a column for each directory.

use steadfast_probe::{
    Direct, Group, NameUnit, Normalisation, Operation, Outcome, Place, Probe, Time, Traits,
};

use super::{absent_tools, reason_of};
use crate::{escape, units};

/// One row: its title, and a cell for each directory.
struct ProbeRow {
    title: String,
    cells: Vec<String>,
}

/// Reasons that are listed below the table, by number.
#[derive(Default)]
struct NumberedNotes(Vec<String>);

impl NumberedNotes {
    /// Returns the mark of a reason, giving equal reasons one number.
    fn mark(&mut self, reason: &str) -> String {
        let reason = escape::text(reason);
        let at = self.0.iter().position(|other| *other == reason).unwrap_or_else(|| {
            self.0.push(reason);
            self.0.len() - 1
        });
        format!("[{}]", at + 1)
    }
}

/// Appends the table.
pub fn write_table(probe: &Probe, out: &mut Vec<u8>) {
    let mut notes = NumberedNotes::default();
    let mut text = String::new();
    for (number, place) in probe.places.iter().enumerate() {
        let kind = place.file_system.as_deref().unwrap_or("file system unknown");
        let (path, kind) = (escape::path(&place.path), escape::text(kind));
        text.push_str(&format!("{}  {path}  ({kind})\n", letter(number)));
        if let Err(trouble) = &place.traits {
            text.push_str(&format!("   {}\n", escape::text(&trouble.to_string())));
        }
        if let Some((folder, trouble)) = &place.left_behind {
            let folder = escape::path(folder);
            text.push_str(&format!("   left behind: {folder}: {trouble}\n"));
        }
    }
    let sections = [
        ("the file system", traits_rows(probe, &mut notes)),
        ("copying, moving, packing", operation_rows(probe, Group::Copy, &mut notes)),
        ("saving other contents", operation_rows(probe, Group::Save, &mut notes)),
        ("to another file system", operation_rows(probe, Group::Between, &mut notes)),
    ];
    write_sections(probe.places.len(), &sections, &mut text);
    text.push('\n');
    for (number, note) in notes.0.iter().enumerate() {
        text.push_str(&format!("[{}] {note}\n", number + 1));
    }
    if let Some(tools) = absent_tools(probe) {
        text.push_str(&format!("not installed, not tried: {tools}\n"));
    }
    if probe.interrupted {
        text.push_str("interrupted: the table is not whole\n");
    }
    text.push_str(
        "A tag that is kept with a new time is stale: a check reports touched. Kept with other \
         contents: modified. Lost: untagged.\n",
    );
    out.extend_from_slice(text.as_bytes());
}

/// A, B, …, Z, then AA and so on.
fn letter(number: usize) -> String {
    let last = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => last.to_string(),
        above => format!("{}{last}", letter(above - 1)),
    }
}

fn write_sections(columns: usize, sections: &[(&str, Vec<ProbeRow>)], text: &mut String) {
    let rows = || sections.iter().flat_map(|(_, rows)| rows);
    let width = |text: &str| text.chars().count();
    let title = rows().map(|row| width(&row.title) + 2).max().unwrap_or(0);
    let title = sections.iter().map(|(name, _)| width(name)).fold(title, usize::max);
    let cell = |column: usize| rows().map(|row| width(&row.cells[column])).max().unwrap_or(0);
    let cells: Vec<usize> = (0..columns).map(|column| cell(column).max(2)).collect();
    for (name, rows) in sections.iter().filter(|(_, rows)| !rows.is_empty()) {
        let header: Vec<String> = (0..columns).map(letter).collect();
        text.push('\n');
        write_line(name, &header, title, &cells, text);
        for row in rows {
            write_line(&format!("  {}", row.title), &row.cells, title, &cells, text);
        }
    }
}

fn write_line(title: &str, cells: &[String], width: usize, widths: &[usize], text: &mut String) {
    let mut line = format!("{title:<width$}");
    for (cell, width) in cells.iter().zip(widths) {
        line.push_str(&format!("  {cell:<width$}"));
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

fn operation_rows(probe: &Probe, group: Group, notes: &mut NumberedNotes) -> Vec<ProbeRow> {
    let of_group = probe.operations.iter().filter(|operation| operation.group == group);
    of_group
        .map(|operation| {
            let Operation { name, from, outcomes, .. } = operation;
            let title = match from {
                Some(from) => format!("{name} from {}", letter(*from)),
                None => (*name).to_owned(),
            };
            let cells = outcomes.iter().map(|outcome| cell(outcome, group, notes)).collect();
            ProbeRow { title, cells }
        })
        .collect()
}

fn cell(outcome: &Outcome, group: Group, notes: &mut NumberedNotes) -> String {
    let word = match outcome {
        Outcome::Kept(Time::New) if group != Group::Save => "kept, new time",
        Outcome::Kept(Time::Cut) => "kept, time cut",
        Outcome::Kept(_) => "kept",
        Outcome::Lost(_) => "lost",
        Outcome::Changed(_) => "changed",
        Outcome::Impossible(_) => "impossible",
        Outcome::NotTried => "-",
    };
    match reason_of(outcome) {
        Some(reason) => format!("{word} {}", notes.mark(reason)),
        None => word.to_owned(),
    }
}

type TraitCell = fn(&Traits, &mut NumberedNotes) -> String;

fn traits_rows(probe: &Probe, notes: &mut NumberedNotes) -> Vec<ProbeRow> {
    let rows: [(&str, TraitCell); 9] = [
        ("extended attributes", attributes),
        ("longest value", |traits, _| bytes(traits.value_len_max)),
        ("a tag occupies", tag_space),
        ("step of modification times", |traits, _| traits.mtime_step_ns.map_or_else(unknown, step)),
        ("upper and lower case", |traits, _| match traits.case_sensitive {
            Some(true) => "differ".to_owned(),
            Some(false) => "alike".to_owned(),
            None => unknown(),
        }),
        ("composed and decomposed letters", normalisation),
        ("names that are no UTF-8", |traits, _| match traits.any_bytes {
            Some(true) => "allowed".to_owned(),
            Some(false) => "refused".to_owned(),
            None => unknown(),
        }),
        ("longest name", longest_name),
        ("direct reads", direct),
    ];
    rows.into_iter()
        .map(|(title, of)| {
            let mut cell = |place: &Place| match &place.traits {
                Ok(traits) => of(traits, notes),
                Err(_) => "-".to_owned(),
            };
            ProbeRow {
                title: title.to_owned(),
                cells: probe.places.iter().map(&mut cell).collect(),
            }
        })
        .collect()
}

fn attributes(traits: &Traits, notes: &mut NumberedNotes) -> String {
    match &traits.attributes {
        Ok(()) => "yes".to_owned(),
        Err(trouble) => format!("no {}", notes.mark(&trouble.to_string())),
    }
}

fn tag_space(traits: &Traits, _notes: &mut NumberedNotes) -> String {
    match traits.tag_space_bytes {
        Some(0) => "nothing more".to_owned(),
        space => bytes(space),
    }
}

fn normalisation(traits: &Traits, _notes: &mut NumberedNotes) -> String {
    match traits.normalisation {
        Some(Normalisation::Distinct) => "differ".to_owned(),
        Some(Normalisation::Alike) => "alike".to_owned(),
        Some(Normalisation::Composed) => "made composed".to_owned(),
        Some(Normalisation::Decomposed) => "made decomposed".to_owned(),
        None => unknown(),
    }
}

fn longest_name(traits: &Traits, _notes: &mut NumberedNotes) -> String {
    match (traits.name_len_max, traits.name_unit) {
        (None, _) => unknown(),
        (Some(len), NameUnit::Bytes) => units::counted(len, "byte", "bytes"),
        (Some(len), NameUnit::Characters) => units::counted(len, "character", "characters"),
    }
}

fn direct(traits: &Traits, notes: &mut NumberedNotes) -> String {
    match &traits.direct {
        Direct::Aligned(alignment) => {
            format!("aligned to {} B", units::count(alignment.offset.into()))
        }
        Direct::Cached => "through the cache".to_owned(),
        Direct::Untold => "granted, not told".to_owned(),
        Direct::Refused(trouble) => format!("refused {}", notes.mark(&trouble.to_string())),
    }
}

fn bytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(unknown, |bytes| units::counted(bytes, "byte", "bytes"))
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// A step of a clock, in the largest unit that it is a whole number of.
fn step(step_ns: u64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000)];
    let whole = units.iter().find(|(_, unit_ns)| step_ns.is_multiple_of(*unit_ns));
    whole.map_or_else(
        || format!("{step_ns} ns"),
        |(name, unit)| format!("{} {name}", step_ns / unit),
    )
}
