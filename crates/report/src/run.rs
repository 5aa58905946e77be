//! A run, as documents: text, JSON lines, CSV, tags, and a page.
//!
//! In: the events of a run as they come, then its end. Out: bytes for the caller to write, or a
//! [`Document`](crate::document::Document). Each module below renders one kind of document.

mod csv;
mod document;
mod json;
mod show;
mod text;

use steadfast::Event;

use crate::output::Output;
use crate::view::RunView;

pub use csv::{COLUMNS, Csv};
pub use document::{RunFacts, RunReport};
pub use json::JsonLines;
pub use show::Show;
pub use text::{Text, TextOptions};

/// Writes one kind of document, piece by piece, as a run goes on.
pub trait Renderer {
    /// Appends what the document says of one event, if anything.
    fn event(&mut self, event: &Event, output: &mut Output);

    /// Appends the end of the document, if it has one.
    fn end(&mut self, _run: &RunView, _output: &mut Output) {}
}
