//! What a renderer hands to its caller: bytes for standard output, and bytes for standard error.

use steadfast::Notice;

use crate::escape;

/// What was rendered and not yet written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The document itself, for standard output.
    pub answer: Vec<u8>,
    /// Notices and errors, for standard error.
    pub trouble: Vec<u8>,
}

impl Output {
    /// Appends a notice to the troubles, as every renderer but that of JSON does.
    pub(crate) fn write_notice(&mut self, notice: &Notice) {
        let place = notice.path.as_deref().map(|path| format!("`{}`: ", escape::path(path)));
        let place = place.unwrap_or_default();
        let line = format!("steadfast: {place}{}\n", escape::text(&notice.text));
        self.trouble.extend_from_slice(line.as_bytes());
    }
}
