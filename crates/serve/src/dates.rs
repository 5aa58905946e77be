//! Dates for people: how long ago, with the exact moment at hand.
//!
//! The server cannot know the time zone of a browser, so it says how long ago something was, and
//! the script adds the local date and time to the title.

use maud::{Markup, html};
use steadfast::Timestamp;
use steadfast_report::units;

use crate::config::Language;

/// Seconds of the units in which a time is told, and the names of one and of several of each.
const STEPS: [(i64, [&str; 2], [&str; 2]); 5] = [
    (365 * 86_400, ["a year", "years"], ["einem Jahr", "Jahren"]),
    (30 * 86_400, ["a month", "months"], ["einem Monat", "Monaten"]),
    (86_400, ["a day", "days"], ["einem Tag", "Tagen"]),
    (3_600, ["an hour", "hours"], ["einer Stunde", "Stunden"]),
    (60, ["a minute", "minutes"], ["einer Minute", "Minuten"]),
];

/// Returns how long ago something was: "2 days ago".
pub(crate) fn ago(then_s: i64, now_s: i64, language: Language) -> String {
    let past_s = now_s.saturating_sub(then_s);
    let Some((step_s, english, german)) = STEPS.iter().find(|(step_s, ..)| past_s >= *step_s)
    else {
        return match language {
            Language::English => "just now".to_owned(),
            Language::German => "gerade eben".to_owned(),
        };
    };
    let count = past_s / step_s;
    let named = |[one, many]: [&str; 2]| match count {
        1 => one.to_owned(),
        _ => format!("{count} {many}"),
    };
    match language {
        Language::English => format!("{} ago", named(*english)),
        Language::German => format!("vor {}", named(*german)),
    }
}

/// Returns an element that says how long ago something was, and when exactly.
pub(crate) fn moment(then: Timestamp, now: Timestamp, language: Language) -> Markup {
    let exact = units::moment(then);
    let machine = exact.replace(' ', "T");
    html! {
        time datetime=(machine) title=(exact) { (ago(then.seconds, now.seconds, language)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_their_largest_unit() {
        let rows = [
            (0, "just now", "gerade eben"),
            (-5, "just now", "gerade eben"),
            (60, "a minute ago", "vor einer Minute"),
            (7_300, "2 hours ago", "vor 2 Stunden"),
            (12 * 86_400, "12 days ago", "vor 12 Tagen"),
            (41 * 86_400, "a month ago", "vor einem Monat"),
            (800 * 86_400, "2 years ago", "vor 2 Jahren"),
        ];
        for (past_s, english, german) in rows {
            assert_eq!(ago(1_000_000_000 - past_s, 1_000_000_000, Language::English), english);
            assert_eq!(ago(1_000_000_000 - past_s, 1_000_000_000, Language::German), german);
        }
    }
}
