//! Dates for people: how long ago, with the exact moment at hand.
//!
//! The server cannot know the time zone of a browser, so it says how long ago something was, and
//! the script adds the local date and time to the title.

use maud::{Markup, html};
use steadfast::Timestamp;
use steadfast_report::units;

/// Returns how long ago something was: "2 days ago".
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    units::ago(now.seconds.saturating_sub(then.seconds))
}

/// Returns whether two moments are told in the same words.
pub(crate) fn is_same(one: Timestamp, other: Timestamp, now: Timestamp) -> bool {
    ago(one, now) == ago(other, now)
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
        time datetime=(machine) title=(exact) { (ago(then, now)) }
    }
}
