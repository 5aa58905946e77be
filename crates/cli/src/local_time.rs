//! Words moments in the time zone of this machine.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use steadfast_report::units::{self, MomentWords};

/// Returns how a person is told a moment: "12 November at 14:03", with the year if it is another.
pub(crate) fn moments() -> MomentWords {
    MomentWords(|at| {
        let Ok(moment) = Timestamp::new(at.seconds, at.nanoseconds.cast_signed()) else {
            return units::day_and_time(at);
        };
        words(&moment.to_zoned(TimeZone::system()), &Zoned::now())
    })
}

/// Returns the local time of day.
pub(crate) fn time_of_day(at: steadfast::Timestamp) -> steadfast_watch::TimeOfDay {
    let moment = Timestamp::new(at.seconds, at.nanoseconds.cast_signed()).unwrap_or_default();
    let local = moment.to_zoned(TimeZone::system());
    let part = |part: i8| part.unsigned_abs();
    steadfast_watch::TimeOfDay { hour: part(local.hour()), minute: part(local.minute()) }
}

fn words(moment: &Zoned, now: &Zoned) -> String {
    let format = if moment.year() == now.year() { "%-d %B at %H:%M" } else { "%-d %B %Y at %H:%M" };
    moment.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use jiff::tz::offset;

    #[test]
    fn the_year_is_told_only_if_it_is_another() {
        let zone = TimeZone::fixed(offset(2));
        let at = |year| date(year, 11, 12).at(14, 3, 9, 0).to_zoned(zone.clone()).unwrap();
        assert_eq!(words(&at(2026), &at(2026)), "12 November at 14:03");
        assert_eq!(words(&at(2025), &at(2026)), "12 November 2025 at 14:03");
    }
}
