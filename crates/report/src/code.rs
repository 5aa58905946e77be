//! Signed code, as documents: what its signature says, what became of it, what checking costs.
//!
//! In: opened code, verdicts, a prediction. Out: bytes; whatever came out of a file is escaped. The
//! JSON forms are specified in `docs/code.md`. What is said of each thing is decided here and in
//! `code/words.rs`, once; each other module renders one kind of document.

mod cost;
mod document;
mod json;
mod map;
mod show;
mod signer;
mod statement;
mod text;
mod words;

use std::path::{Path, PathBuf};

use steadfast_codesign::{Code, CodeVerification, Coverage};

use crate::units::Units;

pub use cost::{CostOfCode, write_cost_json, write_cost_text};
pub use document::document;
pub use json::{
    CodeCounts, write_end_json, write_failed_json, write_shown_json, write_verified_json,
};
pub use map::{CodeMap, MapCell, MapMark};
pub use show::write_shown_text;
pub use text::write_verified_text;

/// How text about code is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct CodeTextOptions {
    /// Whether notes are told, and every slot and directory.
    pub verbose: bool,
    /// Whether only what is wrong is told.
    pub quiet: bool,
    /// Whether colours may carry meaning.
    pub color: bool,
    /// The multiples of bytes.
    pub units: Units,
}

/// Code whose signature is shown.
#[derive(Clone, Copy)]
pub struct ShownCode<'a> {
    /// Where it is, as the user wrote it.
    pub path: &'a Path,
    /// The code.
    pub code: &'a Code<'a>,
    /// Which of its bytes are sealed, if it is Mach-O.
    pub coverage: Option<&'a Coverage>,
}

/// Code that was verified.
#[derive(Clone, Copy)]
pub struct VerifiedCode<'a> {
    /// Where it is, as the user wrote it.
    pub path: &'a Path,
    /// What became of it.
    pub verification: &'a CodeVerification,
    /// How long that took.
    pub elapsed_ns: u64,
}

/// A place within some code, as a path that leads there.
fn within(path: &Path, inner: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    match inner.is_empty() {
        true => path.to_owned(),
        false => path.join(std::ffi::OsStr::from_bytes(inner)),
    }
}
