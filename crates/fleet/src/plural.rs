//! Counts with their noun.

/// Returns a count with its noun: "1 file", "12 files".
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
