//! Dates for people: how long ago, with the exact moment at hand.
//!
//! The server cannot know the time zone of a browser, so it says how long ago something was, and
//! the script adds the local date and time to the title.

use maud::{Markup, html};
use steadfast::Timestamp;
use steadfast_report::units;

/// Seconds of the units in which a time is told, and the names of one and of several of each.
const STEPS: [(i64, &str, &str); 5] = [
    (365 * 86_400, "a year", "years"),
    (30 * 86_400, "a month", "months"),
    (86_400, "a day", "days"),
    (3_600, "an hour", "hours"),
    (60, "a minute", "minutes"),
];

/// Returns how long ago something was: "2 days ago".
pub(crate) fn ago(then_s: i64, now_s: i64) -> String {
    let past_s = now_s.saturating_sub(then_s);
    match STEPS.iter().find(|(step_s, ..)| past_s >= *step_s) {
        None => "just now".to_owned(),
        Some((step_s, one, _)) if past_s / step_s == 1 => format!("{one} ago"),
        Some((step_s, _, many)) => format!("{} {many} ago", past_s / step_s),
    }
}

/// Returns whether two moments are told in the same words.
pub(crate) fn is_same(one: Timestamp, other: Timestamp, now: Timestamp) -> bool {
    ago(one.seconds, now.seconds) == ago(other.seconds, now.seconds)
}

/// Returns a day: "Today", "Yesterday", or its date as in UTC.
pub(crate) fn day(then: Timestamp, now: Timestamp) -> String {
    let number = |moment: Timestamp| moment.seconds.div_euclid(86_400);
    match number(now) - number(then) {
        0 => "Today".to_owned(),
        1 => "Yesterday".to_owned(),
        _ => units::moment(then).split(' ').next().unwrap_or_default().to_owned(),
    }
}

/// Returns an element that says how long ago something was, and when exactly.
pub(crate) fn moment(then: Timestamp, now: Timestamp) -> Markup {
    let exact = units::moment(then);
    let machine = exact.replace(' ', "T");
    html! {
        time datetime=(machine) title=(exact) { (ago(then.seconds, now.seconds)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_their_largest_unit() {
        let rows = [
            (0, "just now"),
            (-5, "just now"),
            (60, "a minute ago"),
            (7_300, "2 hours ago"),
            (12 * 86_400, "12 days ago"),
            (41 * 86_400, "a month ago"),
            (800 * 86_400, "2 years ago"),
        ];
        for (past_s, told) in rows {
            assert_eq!(ago(1_000_000_000 - past_s, 1_000_000_000), told);
        }
    }
}
