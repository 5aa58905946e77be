//! Documents about signed code: its signature, its verification, and the cost of a check.
//!
//! In: opened code, verdicts, an estimate. Out: bytes, with all text from files escaped.
//! `crates/codesign/REFERENCE.md` specifies the JSON forms. `code/words.rs` has the words; each
//! other module renders one kind of document.

mod cost;
mod document;
mod json;
mod map;
mod sarif;
mod show;
mod signer;
mod statement;
mod text;
mod words;

use std::path::{Path, PathBuf};

use steadfast_codesign::{Code, CodeVerification, Coverage};

pub use cost::{CostOfCode, write_cost_json, write_cost_text};
pub use document::document;
pub use json::{
    CodeCounts, write_end_json, write_failed_json, write_shown_json, write_verified_json,
};
pub use map::{CodeMap, MapCell, MapMark};
pub use sarif::SarifLog;
pub use show::write_shown_text;
pub use text::{write_end_text, write_verified_text};

/// Code whose signature is shown.
#[derive(Clone, Copy)]
pub struct ShownCode<'a> {
    /// Its path, as the user wrote it.
    pub path: &'a Path,
    /// The code.
    pub code: &'a Code<'a>,
    /// The coverage of its bytes, if it is Mach-O.
    pub coverage: Option<&'a Coverage>,
}

/// Code that was verified.
#[derive(Clone, Copy)]
pub struct VerifiedCode<'a> {
    /// Its path, as the user wrote it.
    pub path: &'a Path,
    /// The result.
    pub verification: &'a CodeVerification,
    /// Duration of the verification in nanoseconds.
    pub elapsed_ns: u64,
}

/// Returns the path of a place within some code.
fn within(path: &Path, inner: &[u8]) -> PathBuf {
    use steadfast::names::NameBytes as _;
    match inner.is_empty() {
        true => path.to_owned(),
        false => path.join(Path::from_bytes(inner)),
    }
}
