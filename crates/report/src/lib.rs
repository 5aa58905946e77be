//! Facts to documents: what a run said, as text, JSON, CSV or `sha256sum` lines.
//!
//! In: the events of a run and its summary. Out: bytes, for the caller to write where it likes.
//! Must not know: clocks, files, networks, terminals. [`view`] chooses units and order once; each
//! other module renders one kind of document from it.

#![forbid(unsafe_code)]

pub mod audit;
pub mod chart;
pub mod code;
pub mod csv;
pub mod diff;
pub mod document;
pub mod escape;
pub mod fleet;
pub mod history;
pub mod html;
pub mod json;
pub mod machines;
pub mod measure;
pub mod objects;
pub mod pages;
pub mod premis;
pub mod probe;
pub mod progress;
pub mod qos;
pub mod run;
pub mod show;
pub mod sums;
pub mod text;
pub mod timeline;
pub mod trace;
pub mod units;
pub mod view;

use steadfast::Event;

pub use crate::csv::{Csv, for_terminal};
pub use crate::json::Json;
pub use crate::show::Show;
pub use crate::sums::Sums;
pub use crate::text::{Text, TextOptions};
pub use crate::units::Units;
pub use crate::view::{FindingRule, RunView};

/// Writes one kind of document, piece by piece, as a run goes on.
pub trait Renderer {
    /// Appends what the document says of one event, if anything.
    fn event(&mut self, event: &Event, output: &mut Output);

    /// Appends the end of the document.
    fn end(&mut self, run: &RunView, output: &mut Output);
}

/// What was rendered and not yet written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The answer to what was asked.
    pub answer: Vec<u8>,
    /// What the reader should know besides, and what went wrong.
    pub trouble: Vec<u8>,
}
