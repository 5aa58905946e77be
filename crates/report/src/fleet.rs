//! Documents about a job of a fleet: the plan and the progress.
//!
//! In: facts of `steadfast-fleet`. Out: text, or one JSON object, which `fleet/FORMAT.md`
//! specifies. The merged result of a job is rendered like a check.

mod json;
mod text;

pub use json::{write_planned_json, write_status_json};
pub use text::{write_existing, write_planned_text, write_status_text};

/// Formats numbers as ranges: "3, 7 to 9, 12".
fn ranges(numbers: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let shown = ranges.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_told_together() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[3, 7, 8, 9, 12, 13]), "3, 7 to 9, 12, 13");
    }
}
