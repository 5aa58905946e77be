//! The state of catalogued folders, one for each: as text and as JSON lines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use steadfast::{ACCEPTED_DAYS, FileState, FolderFacts, FolderState, Standing};
use steadfast_watch::{DriveReport, FolderStatus, ScheduleFacts};
use steadfast_words::{AskedFiles, matter_words, next_step, reason};

use crate::json::{JsonObject, write_object};
use crate::output::Output;
use crate::units::{self, Units};
use crate::{advice, escape};

/// Appends a folder as a line of JSON.
pub fn write_json(folder: &FolderStatus, output: &mut Output) {
    let said = folder.said(None);
    let mut object = JsonObject::at(&folder.root)
        .field("state", said.state)
        .field("standing", said.standing.name())
        .field("word", &said.word)
        .field("says", &said.sentence)
        .field("exit_status", said.exit_status);
    object = match &folder.state {
        FolderState::Known(facts) => object
            .field("files", facts.audit.tagged)
            .field("unrecorded", facts.unrecorded())
            .field("bytes", facts.audit.bytes)
            .field("open", open_by_name(facts))
            .field("never", facts.audit.never.0)
            .field("oldest_proof_s", oldest_proof_s(facts))
            .field("proved_bytes", facts.proved().1)
            .field("cover_days", facts.cover_days)
            .field("overdue", folder.is_overdue(facts))
            .field("unfinished", unfinished(facts))
            .field("accepted", facts.accepted),
        other => object.field("reason", reason(other)),
    };
    let schedule = folder.schedule.as_ref().map(|schedule| {
        JsonObject::default()
            .field("name", &schedule.name)
            .field("every", &schedule.every)
            .field("at", &schedule.at)
            .field("last_run_s", schedule.last_run_s)
            .field("last_status", schedule.last.status)
            .field("alarm", &schedule.last.alarm)
            .field("skipped", &schedule.last.skipped)
            .field("failure", &schedule.last.failure)
            .field("unstarted_s", schedule.unstarted_s)
            .field("lacks_timer", schedule.lacks_timer)
    });
    let trouble: Vec<String> = folder.troubles().iter().map(matter_words).collect();
    let object = object.field("trouble", trouble);
    let object = object.field("schedule", schedule).field("drives", &folder.drives);
    write_object(&object, &mut output.answer);
}

/// Appends a folder as some lines of text. `asked` is how commands act on its open files.
pub fn write_text(
    folder: &FolderStatus,
    asked: &BTreeMap<FileState, AskedFiles>,
    now_s: i64,
    units: Units,
    output: &mut Output,
) {
    let mut line = |text: String| {
        output.answer.extend_from_slice(text.as_bytes());
        output.answer.push(b'\n');
    };
    let said = folder.said(None);
    line(format!("{:<10} {}", said.state, escape::path(&folder.root)));
    line(format!("           {}", said.sentence));
    if let FolderState::Known(facts) = &folder.state {
        let bytes = units.bytes(facts.audit.bytes);
        let recorded = units::counted(facts.audit.tagged, "file", "files");
        line(format!("           {recorded} recorded, {bytes}"));
        if facts.unrecorded() > 0 {
            let more = units::counted(facts.unrecorded(), "file is", "files are");
            line(format!("           {more} not recorded yet"));
        }
        line(format!("           {}", reading(facts, now_s)));
        let troubles = folder.troubles();
        let has_alarm = troubles.iter().any(|one| one.standing == Standing::MassChange);
        for (state, count) in &facts.open {
            line(format!("           open: {count} {}", state.name()));
            let root = escape::path(&folder.root);
            let step = |kind| next_step(kind, &root, "", has_alarm, asked.get(state));
            let steps = Standing::of_file(*state).and_then(step);
            for step in steps.iter().flat_map(|steps| steps.lines()) {
                line(format!("             {step}"));
            }
        }
        for text in unfinished(facts).into_iter().chain(accepted(facts)) {
            line(format!("           {}", escape::text(&text)));
        }
    }
    if let Some(schedule) = &folder.schedule {
        line(format!("           {}", schedule_line(schedule, now_s)));
    }
    // Those of drives follow with all that drives say.
    let troubles = folder.troubles();
    let of_folder = troubles.iter().filter(|trouble| trouble.standing != Standing::Drive);
    let troubles = of_folder.map(matter_words);
    for text in troubles.chain(folder.drives.iter().flat_map(DriveReport::lines)) {
        line(format!("           {}", escape::text(&text)));
    }
}

/// Returns when a schedule runs, or that nothing starts it, and how its last run ended.
fn schedule_line(schedule: &ScheduleFacts, now_s: i64) -> String {
    let last = match (&schedule.last.skipped, schedule.last_run_s) {
        (Some(reason), _) => format!("skipped last time: {}", escape::text(reason)),
        (None, Some(run_s)) => {
            let status = schedule.last.status.unwrap_or_default();
            format!("ran {} with status {status}", since(now_s - run_s))
        }
        (None, None) => "has not run yet".to_owned(),
    };
    format!("{} (schedule {}); {last}", schedule.words(), schedule.name)
}

/// Returns how many files have an open failure, by the name of its state.
pub(crate) fn open_by_name(facts: &FolderFacts) -> BTreeMap<&'static str, u64> {
    facts.open.iter().map(|(state, count)| (state.name(), *count)).collect()
}

/// Returns when the file was proved whose proof is the oldest, in seconds since 1970.
pub(crate) fn oldest_proof_s(facts: &FolderFacts) -> Option<i64> {
    facts.audit.oldest_proof.map(|proof| proof.seconds)
}

/// Returns what is said of repairs that were cut off, and of parts that are not mounted.
fn unfinished(facts: &FolderFacts) -> Vec<String> {
    let place = |path: &PathBuf| format!("{}: ", escape::path(path));
    let said = |notice: &steadfast::Notice| {
        format!(
            "{}{}",
            notice.path.as_ref().map(place).unwrap_or_default(),
            advice::of_notice(notice)
        )
    };
    facts.unfinished.iter().map(said).collect()
}

/// Returns what was proved within the cover, and how long ago the oldest proof was.
fn reading(facts: &FolderFacts, now_s: i64) -> String {
    let share = match facts.audit.bytes {
        _ if facts.audit.tagged == 0 => return "no file has a tag".to_owned(),
        0 => 100.0,
        bytes => facts.proved().1 as f64 * 100.0 / bytes as f64,
    };
    let oldest = match (facts.audit.never.0, oldest_proof_s(facts)) {
        (0, Some(oldest_s)) => match (now_s - oldest_s).max(0) / 86_400 {
            0 => return "all of it was proved within a day".to_owned(),
            days => {
                let days = units::counted(days.unsigned_abs(), "day", "days");
                format!("the oldest proof is {days} ago")
            }
        },
        (never, _) => format!("{} never proved", units::counted(never, "file was", "files were")),
    };
    let cover = units::counted(u64::from(facts.cover_days), "day", "days");
    format!("{share:.1} % proved within {cover}; {oldest}")
}

/// Returns how many files were accepted with other contents lately; `None` if none were.
pub fn accepted(facts: &FolderFacts) -> Option<String> {
    (facts.accepted > 0).then(|| {
        format!(
            "{} of {} accepted as changed or removed within {ACCEPTED_DAYS} days",
            units::count(facts.accepted),
            units::counted(facts.audit.entries, "file", "files"),
        )
    })
}

/// Returns how long ago a run was.
fn since(seconds: i64) -> String {
    match seconds.max(0) / 3_600 {
        0 => "within the hour".to_owned(),
        hours @ 1..48 => format!("{hours} h ago"),
        hours => format!("{} days ago", hours / 24),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use steadfast::catalogue::{Audit, AuditWindow};
    use steadfast::{Notice, Timestamp};
    use steadfast_watch::{DriveFinding, LastRun};

    fn folder(state: FolderState) -> FolderStatus {
        FolderStatus::alone("/srv/photos".into(), state)
    }

    /// A folder of `tagged` files, of which `proved` were proved within 30 days.
    pub(crate) fn facts_of(tagged: u64, proved: u64) -> FolderFacts {
        let windows = FolderFacts::windows(30);
        let windows = windows.map(|days| AuditWindow {
            days,
            entries: proved,
            bytes: 2_000_000,
            judged: proved,
        });
        let audit = Audit {
            at: Timestamp { seconds: 11 * 86_400, nanoseconds: 0 },
            entries: tagged,
            tagged,
            bytes: 2_000_000,
            windows: windows.to_vec(),
            proofs: Vec::new(),
            never: (0, 0),
            checked: true,
            oldest_proof: Some(Timestamp { seconds: 86_400, nanoseconds: 0 }),
            standings: BTreeMap::new(),
            runs: Vec::new(),
        };
        // The cover has passed once since the folder was recorded.
        FolderFacts { begun_s: -100 * 86_400, ..FolderFacts::of(audit, 30) }
    }

    /// As if one file of each state were named.
    fn asked() -> BTreeMap<FileState, AskedFiles> {
        let named = |state| (state, AskedFiles::Named("/srv/photos/a".into()));
        FileState::ALL.into_iter().map(named).collect()
    }

    fn facts() -> FolderFacts {
        facts_of(10, 10)
    }

    /// A schedule that ran, with some change.
    pub(crate) fn scheduled(change: impl FnOnce(&mut ScheduleFacts)) -> ScheduleFacts {
        let mut facts = ScheduleFacts {
            name: "photos".into(),
            every: "night".into(),
            at: "02:00".into(),
            last_run_s: Some(90_000),
            last: LastRun::default(),
            unstarted_s: None,
            is_long_away: false,
            lacks_timer: false,
        };
        change(&mut facts);
        facts
    }

    fn open(state: FileState, count: u64) -> FolderState {
        known(FolderFacts { open: [(state, count)].into(), ..facts() })
    }

    fn known(facts: FolderFacts) -> FolderState {
        FolderState::Known(Box::new(facts))
    }

    #[test]
    fn what_was_not_looked_at_is_never_fine() {
        let mut incomplete = facts();
        incomplete.audit.entries = 12;
        let unfinished = vec![Notice::failure("a repair in place was cut off here")];
        let rows = [
            (known(facts()), "fine", 0),
            (known(incomplete), "incomplete", 0),
            (known(facts_of(10, 9)), "overdue", 1),
            (known(facts_of(0, 0)), "empty", 1),
            (open(FileState::Missing, 1), "trouble", 1),
            (open(FileState::Unreadable, 1), "trouble", 2),
            (open(FileState::Corrupt, 1), "trouble", 3),
            (known(FolderFacts { unfinished, ..facts() }), "trouble", 2),
            (FolderState::Unrecorded, "unknown", 2),
            (FolderState::NotThere(Notice::failure("no such folder")), "not there", 2),
            (FolderState::Unknown(Notice::failure("damaged")), "unknown", 2),
        ];
        for (state, word, status) in rows {
            let folder = folder(state);
            assert_eq!((folder.word(), folder.exit_status().code()), (word, status));
        }
    }

    #[test]
    fn text_and_json_tell_the_same() {
        let mut folder = folder(open(FileState::Corrupt, 2));
        let remark = DriveFinding {
            key: "unreadable_sectors",
            count: 12,
            danger: true,
            text: "the drive has 12 sectors it could not read: replace it".into(),
        };
        let drive = |name: &str, findings| DriveReport {
            name: name.into(),
            model: None,
            sources: vec!["smartctl", "kernel log"],
            findings,
        };
        folder.drives = vec![drive("sda", vec![remark]), drive("sdb", Vec::new())];
        folder.schedule = Some(scheduled(|one| {
            one.last.status = Some(3);
        }));
        let mut output = Output::default();
        write_text(&folder, &asked(), 11 * 86_400, Units::Si, &mut output);
        let expected = "trouble    /srv/photos\n           2 of 10 files are damaged.\n           \
                        10 files recorded, 2.00 MB\n           \
                        100.0 % proved within 30 days; the oldest proof is 10 days \
                        ago\n           \
                        open: 2 corrupt\n             To mend it: steadfast repair \
                        /srv/photos/a\n             If it finds no copy, add --from and a \
                        folder that holds a good one.\n           Checked every night at 02:00 \
                        (schedule photos); ran 9 days ago with status 3\n           \
                        sda: the drive has 12 sectors it could not read: replace it\n           \
                        sdb: counts no errors (smartctl, kernel log)\n";
        assert_eq!(String::from_utf8_lossy(&output.answer), expected);
        let mut output = Output::default();
        write_json(&folder, &mut output);
        let json: serde_json::Value = serde_json::from_slice(&output.answer).unwrap();
        assert_eq!((&json["state"], &json["open"]["corrupt"]), (&"trouble".into(), &2.into()));
        assert_eq!(json["schedule"]["last_status"], 3);
        assert_eq!(json["drives"][0]["findings"][0]["key"], "unreadable_sectors");
        assert_eq!(json["drives"][0]["findings"][0]["count"], 12);
    }

    #[test]
    fn a_schedule_that_nothing_starts_promises_no_night() {
        let mut folder = folder(known(facts()));
        folder.schedule = Some(scheduled(|one| one.lacks_timer = true));
        let mut output = Output::default();
        write_text(&folder, &asked(), 0, Units::Si, &mut output);
        let text = String::from_utf8_lossy(&output.answer).into_owned();
        let expected = "Due every night at 02:00, but nothing on this computer starts it";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn an_alarm_is_trouble_although_no_file_is_open() {
        let mut folder = folder(known(facts()));
        let alarm = Some("20 of 100 files are missing.".to_owned());
        folder.schedule = Some(scheduled(|one| {
            one.last.status = Some(1);
            one.last.alarm = alarm;
        }));
        assert_eq!((folder.word(), folder.exit_status().code()), ("trouble", 1));
        let mut output = Output::default();
        write_text(&folder, &asked(), 90_000, Units::Si, &mut output);
        let text = String::from_utf8_lossy(&output.answer).into_owned();
        assert!(text.contains("\n           alarm: 20 of 100 files are missing.\n"), "{text}");
    }

    #[test]
    fn a_timer_that_does_not_work_is_overdue() {
        let mut folder = folder(known(facts()));
        folder.schedule = Some(scheduled(|one| {
            one.last.status = Some(0);
            one.unstarted_s = Some(5 * 86_400 + 1);
        }));
        assert_eq!((folder.word(), folder.exit_status().code()), ("overdue", 1));
        let mut output = Output::default();
        write_text(&folder, &asked(), 6 * 86_400, Units::Si, &mut output);
        let text = String::from_utf8_lossy(&output.answer).into_owned();
        assert!(text.ends_with("its timer has not started it for 5 days\n"), "{text}");
    }

    #[test]
    fn what_a_drive_or_a_failed_check_says_is_never_fine() {
        let finding =
            |danger| DriveFinding { key: "failing", count: 1, danger, text: "fails".into() };
        let drive = |danger| DriveReport {
            name: "sda".into(),
            findings: vec![finding(danger)],
            ..DriveReport::default()
        };
        let with_drive =
            |danger| FolderStatus { drives: vec![drive(danger)], ..folder(known(facts())) };
        let failed = scheduled(|one| one.last.failure = Some("no space is left".into()));
        let unlisted = scheduled(|one| one.last.unreadable = vec!["2019".into()]);
        let damaged = scheduled(|one| one.last.damaged_sets = vec!["ab".into()]);
        let of = |schedule| FolderStatus { schedule: Some(schedule), ..folder(known(facts())) };
        let rows = [
            (with_drive(false), "fine", 0, ""),
            (with_drive(true), "trouble", 1, "sda: fails\n"),
            (of(failed), "trouble", 2, "the check could not be made: no space is left\n"),
            (of(unlisted), "trouble", 2, "2019 cannot be opened: nothing in it was checked\n"),
            (of(damaged), "trouble", 1, "the set ab of repair data is damaged\n"),
        ];
        for (folder, word, status, said) in rows {
            assert_eq!((folder.word(), folder.exit_status().code()), (word, status), "{said}");
            let mut output = Output::default();
            write_text(&folder, &asked(), 90_000, Units::Si, &mut output);
            let text = String::from_utf8_lossy(&output.answer).into_owned();
            assert!(text.ends_with(said), "{text}");
        }
    }
}
