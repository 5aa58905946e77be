//! Tables: columns with a title each, rows of cells.

use serde::{Serialize, Serializer};

use super::Quantity;
use crate::units::Units;

/// The definition of a column: its title, and the function that makes the cell of each row. A
/// title that begins with `>` is that of a column of numbers.
pub type Field<'a, T> = (&'a str, &'a dyn Fn(&T) -> Cell);

/// Figures in rows and columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// Name, unique within the document: `hash-in-memory`.
    pub name: String,
    /// What it shows, in a few words.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// How many leading columns identify a row.
    #[serde(skip)]
    pub keys: usize,
    /// The rows. Each has as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Makes a table without rows. Titles that begin with `>` are those of columns of numbers.
    pub fn new(name: &str, title: &str, columns: &[&str]) -> Table {
        let column = |title: &&str| match title.strip_prefix('>') {
            Some(title) => Column { title: title.to_owned(), align: Align::Right },
            None => Column { title: (*title).to_owned(), align: Align::Left },
        };
        Table {
            name: name.to_owned(),
            title: title.to_owned(),
            columns: columns.iter().map(column).collect(),
            keys: 1,
            rows: Vec::new(),
        }
    }

    /// Makes a table with a row for each item. The first `keys` columns identify a row.
    pub fn of<T>(
        name: &str,
        title: &str,
        keys: usize,
        items: &[T],
        fields: &[Field<'_, T>],
    ) -> Table {
        let titles: Vec<&str> = fields.iter().map(|(title, _)| *title).collect();
        let row = |item: &T| fields.iter().map(|(_, cell)| cell(item)).collect();
        Table { keys, rows: items.iter().map(row).collect(), ..Table::new(name, title, &titles) }
    }

    /// Leaves out the columns that are empty in every row, except those that identify a row.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Table {
        let keys = self.keys;
        let is_empty = |at: usize| self.rows.iter().all(|row| row[at] == Cell::Empty);
        let kept: Vec<bool> =
            (0..self.columns.len()).map(|at| at < keys || !is_empty(at)).collect();
        let keep = |at: usize| kept[at];
        for row in &mut self.rows {
            let cells = std::mem::take(row).into_iter().enumerate();
            *row = cells.filter(|(at, _)| keep(*at)).map(|(_, cell)| cell).collect();
        }
        let columns = self.columns.into_iter().enumerate();
        let columns = columns.filter(|(at, _)| keep(*at)).map(|(_, column)| column).collect();
        Table { columns, ..self }
    }

    /// Sets how many leading columns identify a row, if it is more than the first.
    #[must_use]
    pub fn keyed(self, keys: usize) -> Table {
        Table { keys, ..self }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not as many cells as there are columns.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a row of `{}` is not as wide", self.name);
        self.rows.push(row);
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its title.
    pub title: String,
    /// The alignment of its cells.
    pub align: Align,
}

/// The alignment of cells in their column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Names and words.
    #[default]
    Left,
    /// Numbers.
    Right,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value: unknown or not applicable.
    Empty,
    /// Words, or a name that someone gave.
    Text(String),
    /// A number.
    Number(Quantity),
    /// A number with the ends of its interval, in the same unit.
    Interval(Quantity, (f64, f64)),
}

impl Cell {
    /// Makes a cell of words.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// Makes a cell of words; an empty cell if there are none.
    pub fn words(text: String) -> Cell {
        if text.is_empty() { Cell::Empty } else { Cell::Text(text) }
    }

    /// Makes a cell of a whole number of things.
    pub fn count(count: impl Into<u64>) -> Cell {
        Cell::Number(Quantity::Count(count.into()))
    }

    /// Makes a cell of a number of bytes.
    pub fn bytes(bytes: u64) -> Cell {
        Cell::Number(Quantity::Bytes(bytes))
    }

    /// Makes a cell of a number that may be unknown.
    pub fn maybe(quantity: Option<Quantity>) -> Cell {
        quantity.map_or(Cell::Empty, Cell::Number)
    }

    /// Returns the number of the cell, and the ends of its interval in the same unit.
    pub fn number(&self) -> Option<(Quantity, Option<(Quantity, Quantity)>)> {
        match *self {
            Cell::Empty | Cell::Text(_) => None,
            Cell::Number(of) => Some((of, None)),
            Cell::Interval(of, (low, high)) => Some((of, Some((of.with(low), of.with(high))))),
        }
    }

    /// Returns the cell as people read it: `2.71 GB/s [2.68–2.74]`; a dash if it is empty.
    pub fn shown(&self, units: Units) -> String {
        match self {
            Cell::Empty => "–".to_owned(),
            Cell::Text(text) => text.clone(),
            Cell::Number(quantity) => quantity.text(units),
            Cell::Interval(quantity, ends) => interval(*quantity, *ends, units),
        }
    }
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.title.serialize(serializer)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct CellFigure {
            #[serde(serialize_with = "number")]
            value: Quantity,
            unit: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            interval: Option<(f64, f64)>,
        }
        let (value, interval) = match self {
            Cell::Empty => return serializer.serialize_unit(),
            Cell::Text(text) => return text.serialize(serializer),
            Cell::Number(of) => (*of, None),
            Cell::Interval(of, ends) => (*of, Some(*ends)),
        };
        CellFigure { value, unit: value.unit_name(), interval }.serialize(serializer)
    }
}

/// Writes bytes and counts as integers: a float would round lengths above 2^53.
fn number<S: Serializer>(of: &Quantity, serializer: S) -> Result<S::Ok, S::Error> {
    match of {
        Quantity::Bytes(value) | Quantity::Count(value) => serializer.serialize_u64(*value),
        other => serializer.serialize_f64(other.value()),
    }
}

/// Returns a number with its interval. The unit is stated once if both ends have the number's
/// unit; otherwise each end has its own.
fn interval(quantity: Quantity, (low, high): (f64, f64), units: Units) -> String {
    let text = quantity.text(units);
    if let Quantity::Rate(rate) = quantity
        && let Some([low, high]) = units.ends_of_rate(rate, [low, high])
    {
        return format!("{text} [{low}–{high}]");
    }
    let (low, high) = (quantity.with(low).text(units), quantity.with(high).text(units));
    let unit_of = |text: &str| {
        let unit = text.trim_start_matches(|letter: char| {
            letter.is_ascii_digit() || matches!(letter, '.' | ',' | '-')
        });
        unit.to_owned()
    };
    let unit = unit_of(&text);
    match unit_of(&low) == unit && unit_of(&high) == unit {
        true => {
            let bare = |text: &str| text[..text.len() - unit.len()].to_owned();
            format!("{text} [{}–{}]", bare(&low), bare(&high))
        }
        false => format!("{text} [{low}–{high}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_of_an_interval_is_said_once() {
        for (quantity, ends, text) in [
            (Quantity::Rate(2.71e9), (2.68e9, 2.74e9), "2.71 GB/s [2.68–2.74]"),
            (Quantity::Rate(1.02e9), (0.68e9, 1.18e9), "1.02 GB/s [0.68–1.18]"),
            (Quantity::Rate(985e6), (9e6, 1.18e9), "985 MB/s [9.00–1180]"),
            (Quantity::Rate(2e9), (1e6, 3e9), "2.00 GB/s [1.00 MB/s–3.00 GB/s]"),
            (Quantity::Ratio(5.61), (2.49, 12.0), "5.61× [2.49–12.0]"),
            (Quantity::Share(0.04), (-0.41, 0.542), "4.0 % [-41.0–54.2]"),
            (Quantity::Time(9e8), (8e8, 1.2e9), "900 ms [800 ms–1.20 s]"),
            // What a line leaves at no bytes may be less than nothing.
            (Quantity::Time(-2e6), (-3e6, 1.5e6), "-2.00 ms [-3.00–1.50]"),
        ] {
            assert_eq!(Cell::Interval(quantity, ends).shown(Units::Si), text);
        }
    }
}
