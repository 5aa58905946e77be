//! Lays tables out in columns, no wider than a terminal.
//!
//! In: a table and the available width. Out: lines. If a table is too wide, its titles and long
//! cells are broken into several lines. If that is not enough, the table is split into parts, each
//! with the columns that identify its rows. Nothing is left out.

use super::{padded, width_of, wrapped};
use crate::document::{Align, Cell, Table};
use crate::escape::visible;
use crate::units::Units;

/// Blanks between columns.
const GAP: usize = 2;

/// Greatest width of cells of words in a table that is too wide.
const WORDS_LEN_MAX: usize = 34;

/// Greatest number of leading columns that identify rows.
const KEYS_MAX: usize = 3;

/// Some of a table's columns, in lines.
pub(super) struct TablePart {
    pub(super) head: Vec<String>,
    pub(super) body: Vec<String>,
}

/// Lays a table out in the given number of terminal columns.
pub(super) fn laid_out(table: &Table, units: Units, columns: usize) -> Vec<TablePart> {
    let shown = |cell: &Cell| visible(&cell.shown(units)).into_owned();
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.iter().map(shown).collect()).collect();
    let titles: Vec<String> =
        table.columns.iter().map(|column| visible(&column.title).into_owned()).collect();
    let aligns: Vec<Align> = table.columns.iter().map(|column| column.align).collect();
    let grid = Grid { titles, aligns, rows };
    let all: Vec<usize> = (0..grid.titles.len()).collect();
    let widest = |column: usize| grid.widest_cell(column).max(width_of(&grid.titles[column]));
    let natural: Vec<usize> = all.iter().map(|&column| widest(column)).collect();
    if total(&natural) <= columns {
        return vec![grid.part(&all, &natural)];
    }
    let widths: Vec<usize> = all.iter().map(|&column| grid.narrow(column)).collect();
    let parts = grid.parts(&widths, columns);
    parts.iter().map(|part| grid.part(part, &widths)).collect()
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

struct Grid {
    titles: Vec<String>,
    aligns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    fn widest_cell(&self, column: usize) -> usize {
        self.rows.iter().map(|row| width_of(&row[column])).max().unwrap_or(0)
    }

    /// Returns the width of a column whose title and words are broken into lines.
    fn narrow(&self, column: usize) -> usize {
        let cells = self.widest_cell(column);
        let cells = match self.aligns[column] {
            Align::Left => cells.min(WORDS_LEN_MAX.max(self.longest_word(column))),
            Align::Right => cells,
        };
        let words = self.titles[column].split(' ').map(width_of).max().unwrap_or(0);
        cells.max(words)
    }

    fn longest_word(&self, column: usize) -> usize {
        let words = self.rows.iter().flat_map(|row| row[column].split(' '));
        words.map(width_of).max().unwrap_or(0)
    }

    /// Returns how many leading columns identify the rows, or 1 if a few do not.
    fn keys(&self) -> usize {
        let apart = |keys: &usize| {
            let mut known = std::collections::BTreeSet::new();
            self.rows.iter().all(|row| known.insert(&row[..*keys]))
        };
        (1..=KEYS_MAX.min(self.titles.len())).find(apart).unwrap_or(1)
    }

    /// Divides the columns into parts. Every part begins with those that identify rows.
    fn parts(&self, widths: &[usize], columns: usize) -> Vec<Vec<usize>> {
        let keys: Vec<usize> = (0..self.keys()).collect();
        let mut parts = Vec::new();
        let mut part = keys.clone();
        for column in keys.len()..widths.len() {
            let wanted: Vec<usize> =
                part.iter().chain([&column]).map(|&column| widths[column]).collect();
            if total(&wanted) > columns && part.len() > keys.len() {
                parts.push(std::mem::replace(&mut part, keys.clone()));
            }
            part.push(column);
        }
        parts.push(part);
        parts
    }

    fn part(&self, columns: &[usize], widths: &[usize]) -> TablePart {
        let head = self.lines(columns, widths, &self.titles, true);
        let rows = self.rows.iter().flat_map(|row| self.lines(columns, widths, row, false));
        TablePart { head, body: rows.collect() }
    }

    /// Writes a row in as many lines as its longest cell needs. If `low`, shorter cells are at the
    /// bottom, as titles are.
    fn lines(&self, columns: &[usize], widths: &[usize], row: &[String], low: bool) -> Vec<String> {
        let cells: Vec<Vec<String>> =
            columns.iter().map(|&column| wrapped(&row[column], widths[column])).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |index: usize| {
            let words = columns.iter().zip(&cells).map(|(&column, cell)| {
                let above = if low { height - cell.len() } else { 0 };
                let word = index.checked_sub(above).and_then(|index| cell.get(index));
                padded(word.map_or("", String::as_str), widths[column], self.aligns[column])
            });
            words.collect::<Vec<_>>().join(&" ".repeat(GAP))
        };
        (0..height).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: usize, cell: &str) -> Table {
        let titles: Vec<String> = (0..columns).map(|column| format!(">title {column}")).collect();
        let mut titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        titles[0] = "what";
        let mut table = Table::new("any", "Any", &titles);
        for row in 0..3 {
            let mut cells = vec![Cell::text(format!("row {row}"))];
            cells.extend((1..columns).map(|_| Cell::text(cell)));
            table.push(cells);
        }
        table
    }

    #[test]
    fn a_wide_table_comes_in_parts_that_name_their_rows() {
        let cell = "1.77 GB/s [1.74–1.81]";
        let parts = laid_out(&table(7, cell), Units::Si, 98);
        assert_eq!(parts.len(), 2);
        let lines = || parts.iter().flat_map(|part| part.head.iter().chain(&part.body));
        assert!(lines().all(|line| width_of(line) <= 98));
        assert!(parts.iter().all(|part| part.body.iter().all(|line| line.starts_with("row "))));
        let told: usize = lines().map(|line| line.matches(cell).count()).sum();
        assert_eq!(told, 3 * 6, "no cell is left out");
    }

    #[test]
    fn long_words_take_several_lines() {
        let mut table = Table::new("any", "Any", &["what", ">figure of the whole thing together"]);
        table.push(vec![Cell::text("name ".repeat(30).trim_end()), Cell::text("7")]);
        let parts = laid_out(&table, Units::Si, 60);
        assert_eq!(parts.len(), 1);
        assert!(parts[0].body.len() > 3 && parts[0].head.len() > 1);
        assert!(parts[0].body.iter().all(|line| width_of(line) <= 60));
    }

    #[test]
    fn rows_alike_in_their_first_cell_are_told_apart_by_the_next() {
        let mut table = Table::new("any", "Any", &["order", ">depth", ">figure"]);
        for depth in ["1", "4"] {
            table.push(vec![Cell::text("random"), Cell::text(depth), Cell::text("x".repeat(90))]);
        }
        let parts = laid_out(&table, Units::Si, 98);
        assert!(parts[0].body[0].starts_with("random      1  x"), "{}", parts[0].body[0]);
    }
}
