//! Lines of text for people: colours, and columns of equal width. The caller has escaped all text.

use anstyle::{AnsiColor, Style};

use crate::document::{Align, Cell, Table};
use crate::units::{self, Units};

/// The style of corruption and other failures.
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();

/// The style of all other findings.
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Returns text in a style, if `color` is set.
pub(crate) fn painted(text: &str, style: Style, color: bool) -> String {
    match color {
        true => format!("{style}{text}{style:#}"),
        false => text.to_owned(),
    }
}

/// Returns a line about a path: the finding, the path, and details in brackets.
pub(crate) fn finding_line(label: &str, place: &str, details: &[String]) -> String {
    match details {
        [] => format!("{label}  {place}\n"),
        details => format!("{label}  {place}  ({})\n", details.join("; ")),
    }
}

/// Appends the counts that are not zero, each in its style, with the numbers aligned.
/// `label_min` is the least width of the names.
pub(crate) fn write_counts(
    mut counts: Vec<(&str, u64, Style)>,
    label_min: usize,
    color: bool,
    text: &mut String,
) {
    counts.retain(|(_, number, _)| *number > 0);
    let label = counts.iter().map(|(name, ..)| name.len()).fold(label_min, usize::max);
    let digits = counts.iter().map(|(_, number, _)| units::count(*number).len()).max();
    let digits = digits.unwrap_or(0);
    for (name, number, style) in counts {
        let row = format!("{name:<label$}  {:>digits$}", units::count(number));
        text.push_str(&format!("  {}\n", painted(&row, style, color)));
    }
}

/// Returns bytes, time and throughput; only the time if nothing was read.
pub(crate) fn throughput(bytes: u64, elapsed_ns: u64, units: Units) -> String {
    let elapsed = units::duration(elapsed_ns);
    match bytes {
        0 => format!(" in {elapsed}"),
        _ => {
            let rate = units.rate(bytes, elapsed_ns);
            format!(", {} in {elapsed} ({rate})", units.bytes(bytes))
        }
    }
}

/// Appends rows, one on each line, with two blanks before every cell. Columns beyond `aligns` are
/// aligned to the left.
pub(crate) fn write_table(rows: &[Vec<String>], aligns: &[Align], text: &mut String) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            match aligns.get(column) {
                Some(Align::Right) => line.push_str(&format!("  {cell:>width$}")),
                _ => line.push_str(&format!("  {cell:<width$}")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// Appends a table of a document: its titles, then its rows. Empty cells are left blank.
pub(crate) fn write_titled(table: &Table, units: Units, text: &mut String) {
    let aligns: Vec<Align> = table.columns.iter().map(|column| column.align).collect();
    let cell = |cell: &Cell| match cell {
        Cell::Empty => String::new(),
        cell => cell.shown(units),
    };
    let mut rows = vec![table.columns.iter().map(|column| column.title.clone()).collect()];
    rows.extend(table.rows.iter().map(|row| row.iter().map(cell).collect()));
    write_table(&rows, &aligns, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["1", "é", "x"], ["100", "abc", ""]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let mut text = String::new();
        write_table(&rows, &[Align::Right], &mut text);
        assert_eq!(text, "    1  é    x\n  100  abc\n");
    }
}
