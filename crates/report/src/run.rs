//! Documents about a run: text, JSON lines, CSV, tags, and a page.
//!
//! In: the events of a run in order, then its end. Out: bytes for the caller to write, or a
//! [`Document`](crate::document::Document). Each module below renders one kind of document.

mod document;
mod lines;
mod show;
mod text;

use steadfast::{Event, Summary};

use crate::output::Output;

pub use document::{RunFacts, RunReport};
pub use lines::{COLUMNS, RunLines};
pub use show::Show;
pub use text::{Text, TextOptions};

/// Writes one kind of document piece by piece during a run.
pub trait Renderer {
    /// Appends the part of the document for one event, if it has one.
    fn event(&mut self, event: &Event, output: &mut Output);

    /// Appends the end of the document, if it has one.
    fn end(&mut self, _run: &Summary, _output: &mut Output) {}
}
