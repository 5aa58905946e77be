//! The document model: sections of sentences, tables and charts, which every renderer can show.
//!
//! In: values in base units, in the order in which they are shown. Out: one structure for text,
//! HTML, Markdown, CSV and JSON, so that no renderer chooses units, order or words. Knows nothing
//! of what the values mean.

mod export;
mod markdown;
mod table;
mod text;

use serde::{Serialize, Serializer};

use crate::units::{self, Units};

pub(crate) use export::exact as exact_digits;
pub use export::{write_csv, write_json};
pub use markdown::write_markdown;
pub use table::{Align, Cell, Column, Field, Table};
pub use text::{DocumentTextOptions, write_text};

/// A page about one thing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Document {
    /// What it is about.
    pub title: String,
    /// Circumstances, such as the machine, the time and the command. Label and value.
    #[serde(serialize_with = "labels_and_values")]
    pub facts: Vec<(String, String)>,
    /// The machine and the date in one line, which a chart that is a file of its own shows.
    #[serde(skip)]
    pub origin: String,
    /// Warnings, which come before the figures unless they are folded.
    pub warnings: Vec<String>,
    /// Whether facts and warnings follow the sections, so that the answer comes first.
    #[serde(skip)]
    pub answers_first: bool,
    /// Its parts, in order.
    pub sections: Vec<Section>,
}

/// One part of a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// What it is about.
    pub title: String,
    /// The one figure that answers its question, which pages show large. A sentence has it, too.
    #[serde(skip)]
    pub headline: Option<Headline>,
    /// The answer in sentences, each complete.
    pub sentences: Vec<String>,
    /// Tables of figures.
    pub tables: Vec<Table>,
    /// Charts of the same figures.
    pub charts: Vec<Chart>,
    /// How it was measured, and the limits of the figures.
    pub notes: Vec<String>,
}

/// The most figures beside a headline.
const BARS_MAX: usize = 8;

/// The figure that answers a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// The figure.
    pub figure: Cell,
    /// What it is, in a few words, which follow the figure.
    pub what: String,
    /// Figures of one unit to see it beside, by name.
    pub bars: Vec<(String, Quantity)>,
}

impl Headline {
    /// Makes a headline.
    pub fn new(figure: Cell, what: impl Into<String>) -> Headline {
        Headline { figure, what: what.into(), bars: Vec::new() }
    }

    /// Adds figures to see it beside, in their order.
    #[must_use]
    pub fn beside(self, bars: impl IntoIterator<Item = (String, Quantity)>) -> Headline {
        Headline { bars: bars.into_iter().take(BARS_MAX).collect(), ..self }
    }

    /// Adds figures to see it beside, the highest first.
    #[must_use]
    pub fn among(self, bars: impl IntoIterator<Item = (String, Quantity)>) -> Headline {
        let mut bars: Vec<(String, Quantity)> = bars.into_iter().collect();
        bars.sort_by(|(_, one), (_, other)| other.value().total_cmp(&one.value()));
        self.beside(bars)
    }
}

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Bytes.
    Bytes(u64),
    /// Bytes in a second.
    Rate(f64),
    /// Operations or loops in a second.
    PerSecond(f64),
    /// Nanoseconds.
    Time(f64),
    /// Nanoseconds, shown in days.
    Days(f64),
    /// A whole number of things.
    Count(u64),
    /// A share; 1 is 100 %.
    Share(f64),
    /// How many times as much; 1 is the same.
    Ratio(f64),
}

/// A share beyond this is shown as a factor.
const SHARE_MAX: f64 = 2.0;

impl Quantity {
    /// Returns the number in base units: bytes, bytes or things per second, nanoseconds, 1.
    pub fn value(self) -> f64 {
        match self {
            Quantity::Bytes(value) | Quantity::Count(value) => value as f64,
            Quantity::Rate(value)
            | Quantity::PerSecond(value)
            | Quantity::Time(value)
            | Quantity::Days(value)
            | Quantity::Share(value)
            | Quantity::Ratio(value) => value,
        }
    }

    /// Returns another number with the same unit.
    #[must_use]
    pub fn with(self, value: f64) -> Quantity {
        match self {
            Quantity::Bytes(_) => Quantity::Bytes(value.max(0.0).round() as u64),
            Quantity::Count(_) => Quantity::Count(value.max(0.0).round() as u64),
            Quantity::Rate(_) => Quantity::Rate(value),
            Quantity::PerSecond(_) => Quantity::PerSecond(value),
            Quantity::Time(_) => Quantity::Time(value),
            Quantity::Days(_) => Quantity::Days(value),
            Quantity::Share(_) => Quantity::Share(value),
            Quantity::Ratio(_) => Quantity::Ratio(value),
        }
    }

    /// Returns the name of the base unit, as it is in JSON and CSV.
    pub fn unit_name(self) -> &'static str {
        match self {
            Quantity::Bytes(_) => "bytes",
            Quantity::Rate(_) => "bytes_per_second",
            Quantity::PerSecond(_) => "per_second",
            Quantity::Time(_) | Quantity::Days(_) => "ns",
            Quantity::Count(_) => "count",
            Quantity::Share(_) => "share",
            Quantity::Ratio(_) => "ratio",
        }
    }

    /// Returns the number as people read it, as in "2.71 GB/s".
    pub fn text(self, units: Units) -> String {
        match self {
            Quantity::Bytes(bytes) => units.bytes(bytes),
            Quantity::Rate(rate) => units.per_second(rate),
            Quantity::PerSecond(rate) => format!("{}/s", units::short(rate)),
            Quantity::Time(0.0) => "0 s".to_owned(),
            Quantity::Time(ns) if ns < 0.0 => format!("-{}", units::duration(-ns as u64)),
            Quantity::Time(ns) => units::duration(ns as u64),
            Quantity::Days(ns) => format!("{} d", units::digits(ns / units::DAY_NS)),
            Quantity::Count(count) => units::count(count),
            // Hundreds of per cent are read as a factor.
            Quantity::Share(share) if share > SHARE_MAX => Quantity::Ratio(share).text(units),
            Quantity::Share(share) => units::share(share),
            Quantity::Ratio(ratio) => format!("{}×", units::digits(ratio)),
        }
    }
}

/// A chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// Name, unique within the document: `rate-by-size`.
    pub name: String,
    /// What it shows, in a few words.
    pub title: String,
    /// A description for readers who cannot see it.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis. Rates begin at zero.
    pub y: Axis,
    /// The layers in drawing order; the first is at the bottom.
    pub layers: Vec<Layer>,
}

impl Chart {
    /// Makes a chart with a horizontal and a vertical axis.
    pub fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        description: impl Into<String>,
        (x, y): (Axis, Axis),
        layers: Vec<Layer>,
    ) -> Chart {
        let (name, title, description) = (name.into(), title.into(), description.into());
        Chart { name, title, description, x, y, layers }
    }
}

/// One axis of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// What it counts, without the unit, which follows from `of`.
    pub title: String,
    /// The unit; the value in it is not used.
    #[serde(rename = "unit", serialize_with = "unit")]
    pub of: Quantity,
    /// Its scale.
    #[serde(flatten)]
    pub scale: Scale,
}

impl Axis {
    /// Makes a linear axis.
    pub fn linear(title: impl Into<String>, of: Quantity) -> Axis {
        Axis { title: title.into(), of, scale: Scale::Linear }
    }

    /// Makes a logarithmic axis.
    pub fn log(title: impl Into<String>, of: Quantity) -> Axis {
        Axis { scale: Scale::Log, ..Axis::linear(title, of) }
    }

    /// Makes an axis with a place for each name. It has no title.
    pub fn names(names: impl IntoIterator<Item = String>) -> Axis {
        let scale = Scale::Names(names.into_iter().collect());
        Axis { scale, ..Axis::linear("", Quantity::Count(0)) }
    }
}

/// The scale of an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "scale", content = "names", rename_all = "lowercase")]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// Logarithmic, from the smallest value.
    Log,
    /// One place for each name; a point's coordinate is an index into the names.
    Names(Vec<String>),
}

/// Points of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layer {
    /// The label in the legend. Layers with the same label show the same thing, such as dots and
    /// the line through them.
    pub label: String,
    /// How they are drawn.
    pub mark: Mark,
    /// The points in base units.
    pub points: Vec<Point>,
}

impl Layer {
    /// Makes a layer.
    pub fn new(
        label: impl Into<String>,
        mark: Mark,
        points: impl IntoIterator<Item = Point>,
    ) -> Layer {
        Layer { label: label.into(), mark, points: points.into_iter().collect() }
    }
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// One dot each.
    Dots,
    /// A line through them.
    Line,
    /// The area between their lower and upper ends.
    Band,
    /// One bar each, from zero, beside those of other layers.
    Bars,
    /// A vertical line with its label, which marks an event. `y` is the distance of the label from
    /// the top, which is 0, so that labels of neighbours do not overlap.
    Rule,
    /// One bar along x over the interval, at height `y`: a span of time of a thread.
    Spans,
}

/// One point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// The horizontal coordinate.
    pub x: f64,
    /// The vertical coordinate.
    pub y: f64,
    /// Lower and upper end of its interval, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

impl Point {
    /// Makes a point without an interval.
    pub fn at(x: f64, y: f64) -> Point {
        Point { x, y, interval: None }
    }
}

/// Makes the facts of a document.
pub(crate) fn labelled(
    facts: impl IntoIterator<Item = (&'static str, String)>,
) -> Vec<(String, String)> {
    facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}

fn labels_and_values<S: Serializer>(
    facts: &[(String, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct LabelledFact<'a> {
        label: &'a str,
        value: &'a str,
    }
    serializer.collect_seq(facts.iter().map(|(label, value)| LabelledFact { label, value }))
}

fn unit<S: Serializer>(of: &Quantity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(of.unit_name())
}
