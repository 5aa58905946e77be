//! The output of a renderer: bytes for standard output and bytes for standard error.

use steadfast::Notice;

use crate::{advice, escape};

/// Rendered bytes that the caller has not written yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The document itself, for standard output.
    pub answer: Vec<u8>,
    /// Notices and errors, for standard error.
    pub trouble: Vec<u8>,
}

impl Output {
    /// Appends a notice for standard error. JSON has notices among its lines instead.
    pub(crate) fn write_notice(&mut self, notice: &Notice) {
        let place = notice.path.as_deref().map(|path| format!("`{}`: ", escape::path(path)));
        let place = place.unwrap_or_default();
        let line = format!("steadfast: {place}{}\n", escape::text(&advice::of_notice(notice)));
        self.trouble.extend_from_slice(line.as_bytes());
    }
}
