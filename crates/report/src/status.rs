//! The state of catalogued folders, one for each: as text and as JSON lines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use steadfast::age_s;
use steadfast::catalogue::{Audit, FailedCheck};
use steadfast::verdict::worse_status;
use steadfast_schedule::{CheckSchedule, LastRun};

use crate::escape;
use crate::json::{JsonObject, write_object};
use crate::output::Output;
use crate::units::Units;

/// What is known of a folder without reading its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderState {
    /// Its catalogue could be read.
    Known(FolderFacts),
    /// It is not there, or another volume is in its place. The text says why.
    NotThere(String),
    /// Its catalogue cannot be read, or is gone. The text says why.
    Unknown(String),
}

/// What a catalogue knows of its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderFacts {
    /// Tagged files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Open failures, by state.
    pub open: BTreeMap<String, u64>,
    /// The oldest among the last proofs of all files, in seconds since 1970.
    pub oldest_proof_s: Option<i64>,
    /// Files that were never proved.
    pub never: u64,
    /// Bytes that were proved within the cover.
    pub proved_bytes: u64,
    /// Days within which every byte should be proved.
    pub cover_days: u32,
    /// Whether some file is not proved within the cover, with a tenth of it as grace.
    pub is_overdue: bool,
}

/// Days within which every byte should be read if no schedule says otherwise.
pub const COVER_DAYS: u32 = 90;

impl FolderFacts {
    /// Returns the numbers of days that the audit for [`FolderFacts::of`] counts: the cover, and
    /// the cover with a tenth of it as grace.
    pub fn windows(cover_days: u32) -> [u32; 2] {
        [cover_days, cover_days + cover_days.div_ceil(10)]
    }

    /// Takes the figures of an audit of [`FolderFacts::windows`].
    pub fn of(audit: &Audit, cover_days: u32) -> FolderFacts {
        let [cover, grace] = FolderFacts::windows(cover_days);
        let window = |days| audit.windows.iter().find(|window| window.days == days);
        FolderFacts {
            files: audit.tagged,
            bytes: audit.bytes,
            never: audit.never.0,
            oldest_proof_s: audit.oldest_proof.map(|proof| proof.seconds),
            proved_bytes: window(cover).map_or(0, |window| window.bytes),
            cover_days,
            is_overdue: window(grace).is_none_or(|window| window.entries < audit.tagged),
            ..FolderFacts::default()
        }
    }

    /// Counts a failure that is open.
    pub fn add(&mut self, failure: &FailedCheck) {
        if !failure.settled {
            *self.open.entry(failure.standing.name().to_owned()).or_default() += 1;
        }
    }
}

/// The schedule of a folder, and what became of its last run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleFacts {
    /// Its name.
    pub name: String,
    /// "night", "week" or "month".
    pub every: String,
    /// The time of day.
    pub at: String,
    /// When the last run began, in seconds since 1970.
    pub last_run_s: Option<i64>,
    /// Its exit status.
    pub last_status: Option<u8>,
    /// Why the last run tagged and protected nothing, if too much had changed.
    pub alarm: Option<String>,
    /// Why nothing was done when it was last started, if so.
    pub skipped: Option<String>,
    /// For how many seconds its timer has not started it, if that is too long.
    pub unstarted_s: Option<i64>,
}

impl ScheduleFacts {
    /// Returns the facts about a schedule, whose last run the journal has.
    pub fn of(schedule: &CheckSchedule, last: LastRun, now_s: i64) -> ScheduleFacts {
        ScheduleFacts {
            unstarted_s: last.unstarted_s(schedule, now_s),
            name: schedule.name.clone(),
            every: schedule.every.to_string(),
            at: schedule.at.to_string(),
            last_run_s: last.began_s.filter(|began_s| age_s(*began_s, now_s).is_some()),
            last_status: last.status,
            alarm: last.alarm,
            skipped: last.skipped,
        }
    }
}

/// What a drive, an array or a file system beneath a folder counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DriveRemark {
    /// Its name in JSON: `unreadable_sectors`.
    pub key: &'static str,
    /// How many.
    pub count: u64,
    /// What it is and what to do, in words.
    pub text: String,
}

/// What a drive, an array or a file system beneath a folder says of its own failures. It changes
/// no state of a folder, because it says nothing of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DriveFacts {
    /// Its name.
    pub name: String,
    /// The model, by its maker.
    pub model: Option<String>,
    /// What was asked and answered.
    pub sources: Vec<&'static str>,
    /// What it counts.
    pub findings: Vec<DriveRemark>,
}

impl DriveFacts {
    /// Says what it counts, a line for each finding, or that it counts nothing.
    pub fn lines(&self) -> Vec<String> {
        let Self { name, findings, .. } = self;
        match findings.is_empty() {
            true => vec![format!("{name}: counts no errors ({})", self.sources.join(", "))],
            false => findings.iter().map(|one| format!("{name}: {}", one.text)).collect(),
        }
    }
}

/// A folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderStatus {
    /// Its root.
    pub root: PathBuf,
    /// Its state.
    pub state: FolderState,
    /// Its schedule.
    pub schedule: Option<ScheduleFacts>,
    /// What the drives beneath it say.
    pub drives: Vec<DriveFacts>,
}

impl FolderStatus {
    /// Returns whether files were not checked within the cover, or the timer does not work.
    pub(crate) fn is_overdue(&self, facts: &FolderFacts) -> bool {
        let unstarted = |schedule: &ScheduleFacts| schedule.unstarted_s.is_some();
        facts.is_overdue || self.schedule.as_ref().is_some_and(unstarted)
    }

    /// Returns the alarm of the last run of its schedule.
    fn alarm(&self) -> Option<&str> {
        self.schedule.as_ref()?.alarm.as_deref()
    }

    /// Returns its exit status: 3 if a corrupt file is open, 1 if anything else is open or
    /// overdue, or if too much changed at once, 2 if it could not be determined.
    pub fn exit_status(&self) -> u8 {
        let FolderState::Known(facts) = &self.state else { return 2 };
        let of = |state: &str| match state {
            "corrupt" => 3,
            "unreadable" | "unstable" => 2,
            _ => 1,
        };
        let open = facts.open.iter().filter(|(_, count)| **count > 0).map(|(state, _)| of(state));
        let is_amiss = self.is_overdue(facts) || facts.files == 0 || self.alarm().is_some();
        open.fold(u8::from(is_amiss), worse_status)
    }

    /// Returns its state in a word: "fine", "trouble", "overdue", "empty", "not there", "unknown".
    pub fn word(&self) -> &'static str {
        match &self.state {
            FolderState::NotThere(_) => "not there",
            FolderState::Unknown(_) => "unknown",
            FolderState::Known(facts) if facts.open.values().any(|count| *count > 0) => "trouble",
            FolderState::Known(_) if self.alarm().is_some() => "trouble",
            FolderState::Known(facts) if facts.files == 0 => "empty",
            FolderState::Known(facts) if self.is_overdue(facts) => "overdue",
            FolderState::Known(_) => "fine",
        }
    }

    /// Appends it as a line of JSON.
    pub fn write_json(&self, output: &mut Output) {
        let mut object = JsonObject::at(&self.root)
            .field("state", self.word())
            .field("exit_status", self.exit_status());
        object = match &self.state {
            FolderState::Known(facts) => object
                .field("files", facts.files)
                .field("bytes", facts.bytes)
                .field("open", &facts.open)
                .field("never", facts.never)
                .field("oldest_proof_s", facts.oldest_proof_s)
                .field("proved_bytes", facts.proved_bytes)
                .field("cover_days", facts.cover_days)
                .field("overdue", self.is_overdue(facts)),
            FolderState::NotThere(reason) | FolderState::Unknown(reason) => {
                object.field("reason", reason)
            }
        };
        let schedule = self.schedule.as_ref().map(|schedule| {
            JsonObject::default()
                .field("name", &schedule.name)
                .field("every", &schedule.every)
                .field("at", &schedule.at)
                .field("last_run_s", schedule.last_run_s)
                .field("last_status", schedule.last_status)
                .field("alarm", &schedule.alarm)
                .field("skipped", &schedule.skipped)
                .field("unstarted_s", schedule.unstarted_s)
        });
        let object = object.field("schedule", schedule).field("drives", &self.drives);
        write_object(&object, &mut output.answer);
    }

    /// Appends it as some lines of text.
    pub fn write_text(&self, now_s: i64, units: Units, output: &mut Output) {
        let mut line = |text: String| {
            output.answer.extend_from_slice(text.as_bytes());
            output.answer.push(b'\n');
        };
        line(format!("{:<10} {}", self.word(), escape::path(&self.root)));
        match &self.state {
            FolderState::NotThere(reason) | FolderState::Unknown(reason) => {
                line(format!("           {}", escape::text(reason)));
            }
            FolderState::Known(facts) => {
                let bytes = units.bytes(facts.bytes);
                line(format!("           {} tagged files, {bytes}", facts.files));
                let share = match facts.bytes {
                    0 => 100.0,
                    bytes => facts.proved_bytes as f64 * 100.0 / bytes as f64,
                };
                let oldest = match (facts.never, facts.oldest_proof_s) {
                    (0, Some(oldest_s)) => {
                        format!(
                            "the oldest check is {} days ago",
                            (now_s - oldest_s).max(0) / 86_400
                        )
                    }
                    (never, _) => format!("{never} files were never checked"),
                };
                let days = facts.cover_days;
                line(format!("           {share:.1} % checked within {days} days; {oldest}"));
                for (state, count) in facts.open.iter().filter(|(_, count)| **count > 0) {
                    line(format!("           open: {count} {state}"));
                }
            }
        }
        if let Some(schedule) = &self.schedule {
            let ScheduleFacts { name, every, at, .. } = schedule;
            let last = match (schedule.unstarted_s, &schedule.skipped, schedule.last_run_s) {
                (Some(unstarted_s), ..) => {
                    format!("its timer has not started it for {} days", unstarted_s / 86_400)
                }
                (None, Some(reason), _) => format!("skipped last time: {}", escape::text(reason)),
                (None, None, Some(run_s)) => {
                    let hours = (now_s - run_s).max(0) / 3_600;
                    let status = schedule.last_status.unwrap_or_default();
                    format!("ran {hours} h ago with status {status}")
                }
                (None, None, None) => "has not run yet".to_owned(),
            };
            line(format!("           schedule {name}: every {every} at {at}; {last}"));
            if let Some(alarm) = self.alarm() {
                line(format!("           alarm: {}", escape::text(alarm)));
            }
        }
        for text in self.drives.iter().flat_map(DriveFacts::lines) {
            line(format!("           {}", escape::text(&text)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(state: FolderState) -> FolderStatus {
        FolderStatus { root: "/srv/photos".into(), state, schedule: None, drives: Vec::new() }
    }

    fn facts() -> FolderFacts {
        FolderFacts {
            files: 10,
            bytes: 2_000_000,
            oldest_proof_s: Some(86_400),
            proved_bytes: 2_000_000,
            cover_days: 30,
            ..FolderFacts::default()
        }
    }

    #[test]
    fn what_was_not_looked_at_is_never_fine() {
        let open = |state: &str| FolderFacts { open: [(state.to_owned(), 1)].into(), ..facts() };
        let rows = [
            (FolderState::Known(facts()), "fine", 0),
            (FolderState::Known(FolderFacts { is_overdue: true, ..facts() }), "overdue", 1),
            (FolderState::Known(FolderFacts { files: 0, ..facts() }), "empty", 1),
            (FolderState::Known(open("missing")), "trouble", 1),
            (FolderState::Known(open("unreadable")), "trouble", 2),
            (FolderState::Known(open("corrupt")), "trouble", 3),
            (FolderState::NotThere("no such folder".into()), "not there", 2),
            (FolderState::Unknown("damaged".into()), "unknown", 2),
        ];
        for (state, word, status) in rows {
            let folder = folder(state);
            assert_eq!((folder.word(), folder.exit_status()), (word, status));
        }
    }

    #[test]
    fn text_and_json_tell_the_same() {
        let mut folder = folder(FolderState::Known(FolderFacts {
            open: [("corrupt".to_owned(), 2)].into(),
            ..facts()
        }));
        let remark = DriveRemark {
            key: "unreadable_sectors",
            count: 12,
            text: "the drive has 12 sectors it could not read: replace it".into(),
        };
        let drive = |name: &str, findings| DriveFacts {
            name: name.into(),
            model: None,
            sources: vec!["smartctl", "kernel log"],
            findings,
        };
        folder.drives = vec![drive("sda", vec![remark]), drive("sdb", Vec::new())];
        folder.schedule = Some(ScheduleFacts {
            name: "photos".into(),
            every: "night".into(),
            at: "02:00".into(),
            last_run_s: Some(90_000),
            last_status: Some(3),
            alarm: None,
            skipped: None,
            unstarted_s: None,
        });
        let mut output = Output::default();
        folder.write_text(11 * 86_400, Units::Si, &mut output);
        let expected = "trouble    /srv/photos\n           10 tagged files, 2.00 MB\n           \
                        100.0 % checked within 30 days; the oldest check is 10 days \
                        ago\n           \
                        open: 2 corrupt\n           schedule photos: every night at 02:00; ran \
                        239 h ago with status 3\n           sda: the drive has 12 sectors it \
                        could not read: replace it\n           sdb: counts no errors (smartctl, \
                        kernel log)\n";
        assert_eq!(String::from_utf8_lossy(&output.answer), expected);
        let mut output = Output::default();
        folder.write_json(&mut output);
        let json: serde_json::Value = serde_json::from_slice(&output.answer).unwrap();
        assert_eq!((&json["state"], &json["open"]["corrupt"]), (&"trouble".into(), &2.into()));
        assert_eq!(json["schedule"]["last_status"], 3);
        assert_eq!(json["drives"][0]["findings"][0]["key"], "unreadable_sectors");
        assert_eq!(json["drives"][0]["findings"][0]["count"], 12);
    }

    #[test]
    fn an_alarm_is_trouble_although_no_file_is_open() {
        let mut folder = folder(FolderState::Known(facts()));
        let alarm = Some("20 of 100 files are missing.".to_owned());
        folder.schedule = Some(ScheduleFacts {
            name: "photos".into(),
            every: "night".into(),
            at: "02:00".into(),
            last_run_s: Some(90_000),
            last_status: Some(1),
            alarm,
            skipped: None,
            unstarted_s: None,
        });
        assert_eq!((folder.word(), folder.exit_status()), ("trouble", 1));
        let mut output = Output::default();
        folder.write_text(90_000, Units::Si, &mut output);
        let text = String::from_utf8_lossy(&output.answer).into_owned();
        assert!(text.contains("\n           alarm: 20 of 100 files are missing.\n"), "{text}");
    }

    #[test]
    fn a_timer_that_does_not_work_is_overdue() {
        let mut folder = folder(FolderState::Known(facts()));
        folder.schedule = Some(ScheduleFacts {
            name: "photos".into(),
            every: "night".into(),
            at: "02:00".into(),
            last_run_s: Some(90_000),
            last_status: Some(0),
            alarm: None,
            skipped: None,
            unstarted_s: Some(5 * 86_400 + 1),
        });
        assert_eq!((folder.word(), folder.exit_status()), ("overdue", 1));
        let mut output = Output::default();
        folder.write_text(6 * 86_400, Units::Si, &mut output);
        let text = String::from_utf8_lossy(&output.answer).into_owned();
        assert!(text.ends_with("its timer has not started it for 5 days\n"), "{text}");
    }
}
