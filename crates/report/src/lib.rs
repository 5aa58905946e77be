//! Facts to documents: the results of a run as text, HTML, Markdown, JSON, CSV or lines of
//! `sha256sum`.
//!
//! In: the events of a run and its summary, or other facts of the crates below. Out: bytes, which
//! the caller writes. Must not know: clocks, files, networks, terminals.
//!
//! The modules are listed in reading order: what every document needs, the document model and its
//! renderers, then one module for each kind of report.

#![forbid(unsafe_code)]

mod output;
mod json;
mod result_document;
mod csv;
mod lines;
pub mod document;
mod text;
pub mod chart;
pub mod html;
pub mod pages;
pub mod repair;
pub mod par2;
pub mod parity;
pub mod view;
pub mod timeline;
pub mod pace;
pub mod trace;
pub mod progress;
pub mod run;
pub mod sums;
pub mod diff;
pub mod known;
pub mod copy;
pub mod safe;
mod catalogue;
pub mod history;
pub mod audit;
pub mod status;
pub mod metrics;
pub mod premis;
pub mod qos;
#[cfg(feature = "companions")]
pub mod code;
#[cfg(feature = "companions")]
pub mod measure;
#[cfg(feature = "companions")]
pub mod machines;

pub use csv::for_terminal;
pub use output::Output;
pub use result_document::ResultDocument;
pub use run::{Renderer, RunLines, Show, Text, TextOptions};
pub use steadfast::escape;
pub use steadfast_words::{advice, units};
pub use sums::Sums;
pub use units::Units;
pub use view::FindingRule;
