//! A year of nights with a clock of the test's own: every byte is read within the cover.

use steadfast_watch::{
    CheckSchedule, Conditions, Every, Mounted, ScheduleDecision, TimeOfDay, TimerKind, decide,
};

const DAY_S: i64 = 86_400;
const COVER_DAYS: u32 = 30;

/// xorshift64, so that a year is the same on every machine.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// What happens in a night.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Night {
    Quiet,
    /// The machine sleeps: nothing is started.
    Asleep,
    OnBattery,
    Busy,
    Unmounted,
    /// The power fails after a part of the run: its files are checked, the run is not completed.
    PowerCut,
    /// The disk of the catalogue is full: nothing can be recorded.
    Full,
}

struct File {
    length: u64,
    proved_s: i64,
}

fn schedule() -> CheckSchedule {
    CheckSchedule {
        name: "photos".into(),
        directory: "/srv/photos".into(),
        every: Every::Night,
        at: TimeOfDay { hour: 2, minute: 0 },
        cover_days: COVER_DAYS,
        max_time_s: None,
        update: false,
        parity: false,
        repair: false,
        from_medium: None,
        timer: TimerKind::Manual,
        made_s: 0,
        tree_made_s: None,
        tree_volume: None,
    }
}

/// Lives through some nights; returns the longest time in days that any file waited for a proof.
fn longest_wait_days(files: &mut [File], nights: impl IntoIterator<Item = (i64, Night)>) -> f64 {
    let schedule = schedule();
    let mut last_run_s = None;
    let (mut longest_s, mut end_s) = (0, 0);
    for (now_s, night) in nights {
        end_s = now_s;
        if matches!(night, Night::Asleep) {
            continue;
        }
        let conditions = Conditions {
            now_s,
            last_run_s,
            made_s: 0,
            mounted: match night {
                Night::Unmounted => Mounted::No("not there".into()),
                _ => Mounted::Yes,
            },
            on_battery: Some(night == Night::OnBattery),
            load: Some(if night == Night::Busy { 4.0 } else { 0.2 }),
            in_progress: false,
            total_bytes: files.iter().map(|file| file.length).sum(),
            forced: false,
        };
        let ScheduleDecision::Run { max_bytes, .. } = decide(&schedule, &conditions) else {
            continue;
        };
        // As the catalogue does: the longest-unchecked first, and at least one file.
        let mut order: Vec<usize> = (0..files.len()).collect();
        order.sort_by_key(|&number| files[number].proved_s);
        let budget = if night == Night::PowerCut { max_bytes / 3 } else { max_bytes };
        let mut taken = 0;
        for number in order {
            if night == Night::Full || taken > 0 && taken + files[number].length > budget {
                break;
            }
            taken += files[number].length;
            longest_s = longest_s.max(now_s - files[number].proved_s);
            files[number].proved_s = now_s;
        }
        if !matches!(night, Night::PowerCut | Night::Full) {
            last_run_s = Some(now_s);
        }
    }
    // Those that still wait at the end of the year, too.
    let waits = files.iter().map(|file| end_s - file.proved_s);
    waits.fold(longest_s, i64::max) as f64 / DAY_S as f64
}

fn photographs(chance: &mut Chance) -> Vec<File> {
    let mut file = || File { length: 1_000_000 + chance.below(30_000_000), proved_s: 0 };
    (0..4_000).map(|_| file()).collect()
}

/// The time of a night. Local time is an hour ahead in summer, and the timer follows it.
fn at(day: i64) -> i64 {
    let summer = (87..304).contains(&(day % 365));
    day * DAY_S + 2 * 3_600 - if summer { 3_600 } else { 0 }
}

fn limit_days() -> f64 {
    f64::from(COVER_DAYS) * 1.1
}

#[test]
fn every_byte_is_proved_in_a_quiet_year() {
    let mut files = photographs(&mut Chance(7));
    let longest = longest_wait_days(&mut files, (1..=400).map(|day| (at(day), Night::Quiet)));
    assert!((20.0..limit_days()).contains(&longest), "{longest}");
}

#[test]
fn every_byte_is_proved_in_a_year_of_troubles() {
    let mut longest_of_all = 0.0_f64;
    for seed in 1..=20 {
        let mut chance = Chance(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15));
        let mut files = photographs(&mut chance);
        let nights: Vec<(i64, Night)> = (1..=400)
            .map(|day| {
                let night = match chance.below(100) {
                    0..8 => Night::Asleep,
                    8..13 => Night::OnBattery,
                    13..16 => Night::Busy,
                    16..20 => Night::Unmounted,
                    20..24 => Night::PowerCut,
                    24..26 => Night::Full,
                    _ => Night::Quiet,
                };
                (at(day), night)
            })
            .collect();
        let longest = longest_wait_days(&mut files, nights);
        assert!((20.0..limit_days()).contains(&longest), "seed {seed}: {longest}");
        longest_of_all = longest_of_all.max(longest);
    }
    // What docs/reference/schedule.md says.
    assert_eq!(format!("{longest_of_all:.1}"), "30.0");
}

#[test]
fn what_a_week_away_left_undone_is_made_up_for() {
    let mut files = photographs(&mut Chance(3));
    let away = |day: i64| (100..107).contains(&day) || (200..207).contains(&day);
    let night = |day: i64| (at(day), if away(day) { Night::Asleep } else { Night::Quiet });
    let longest = longest_wait_days(&mut files, (1..=400).map(night));
    assert!(longest < limit_days(), "{longest}");
}

#[test]
fn a_laptop_on_battery_is_checked_after_a_week_all_the_same() {
    let mut files = photographs(&mut Chance(5));
    let nights = (1..=400).map(|day| (at(day), Night::OnBattery));
    let longest = longest_wait_days(&mut files, nights);
    assert!(longest < limit_days(), "{longest}");
}

#[test]
fn a_clock_that_was_set_back_does_not_stop_the_checks() {
    let mut files = photographs(&mut Chance(9));
    let back = |day: i64| at(if day < 100 { day + 3_000 } else { day });
    longest_wait_days(&mut files, (1..=200).map(|day| (back(day), Night::Quiet)));
    let checked = files.iter().filter(|file| file.proved_s < at(300)).count();
    assert!(checked > 0, "nothing was checked after the clock was set right");
}
