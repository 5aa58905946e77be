//! Puts the texts of a document into another language.
//!
//! In: a document, which is made in English, and the words of a language. Out: the same document in
//! that language. Names stay as they are.

use super::{
    Axis, Cell, Chart, Column, Document, Headline, Layer, Quantity, Scale, Section, Table,
};
use crate::units::Units;

/// The language of a page.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    /// Its language tag.
    pub tag: &'static str,
    /// Returns an English text in this language; `None` if it is not known and stays English.
    pub words: fn(&str) -> Option<String>,
}

/// How figures are written.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// The multiples of bytes.
    pub units: Units,
    /// The language.
    pub wording: Wording,
}

impl Figures {
    /// Returns a number as people read it.
    pub fn text(self, quantity: Quantity) -> String {
        self.wording.say(&quantity.text(self.units))
    }

    /// Returns a cell as people read it. A document already has its words in the language.
    pub fn cell(self, cell: &Cell) -> String {
        match cell {
            Cell::Number(_) | Cell::Interval(..) => self.wording.say(&cell.shown(self.units)),
            Cell::Empty | Cell::Text(_) | Cell::Name(_) => cell.shown(self.units),
        }
    }
}

impl Wording {
    /// The language in which documents are made.
    pub const ENGLISH: Wording = Wording { tag: "en", words: |_| None };

    /// Returns an English text in this language.
    pub fn say(self, english: &str) -> String {
        (self.words)(english).unwrap_or_else(|| english.to_owned())
    }

    /// Returns a document in this language.
    #[must_use]
    pub fn document(self, document: &Document) -> Document {
        let fact = |(label, value): &(String, String)| (self.say(label), self.say(value));
        Document {
            title: self.say(&document.title),
            facts: document.facts.iter().map(fact).collect(),
            warnings: self.all(&document.warnings),
            answers_first: document.answers_first,
            sections: document.sections.iter().map(|section| self.section(section)).collect(),
        }
    }

    fn section(self, section: &Section) -> Section {
        Section {
            title: self.say(&section.title),
            headline: section
                .headline
                .as_ref()
                .map(|of| Headline { figure: of.figure.clone(), what: self.say(&of.what) }),
            sentences: self.all(&section.sentences),
            tables: section.tables.iter().map(|table| self.table(table)).collect(),
            charts: section.charts.iter().map(|chart| self.chart(chart)).collect(),
            notes: self.all(&section.notes),
        }
    }

    fn table(self, table: &Table) -> Table {
        let column = |of: &Column| Column { title: self.say(&of.title), align: of.align };
        let cell = |cell: &Cell| match cell {
            Cell::Text(text) => Cell::Text(self.say(text)),
            other => other.clone(),
        };
        Table {
            name: table.name.clone(),
            title: self.say(&table.title),
            columns: table.columns.iter().map(column).collect(),
            keys: table.keys,
            rows: table.rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        }
    }

    fn chart(self, chart: &Chart) -> Chart {
        let layer = |layer: &Layer| Layer { label: self.say(&layer.label), ..layer.clone() };
        Chart {
            name: chart.name.clone(),
            title: self.say(&chart.title),
            description: self.say(&chart.description),
            x: self.axis(&chart.x),
            y: self.axis(&chart.y),
            layers: chart.layers.iter().map(layer).collect(),
        }
    }

    fn axis(self, axis: &Axis) -> Axis {
        let scale = match &axis.scale {
            Scale::Names(names) => Scale::Names(self.all(names)),
            other => other.clone(),
        };
        Axis { title: self.say(&axis.title), of: axis.of, scale }
    }

    fn all(self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.say(text)).collect()
    }
}
