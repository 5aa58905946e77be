//! The words, the colour and the next step of each standing: the only place that has them.

use steadfast::Standing;

use crate::asked::{AskedFiles, quoted};
use crate::units;

/// What to do if there is no repair data and no registered copy.
pub const MORE_COPIES: &str = "If it finds no copy, add --from and a folder that holds a good one.";

/// How urgent it is to hear of something.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::Display, strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
pub enum Priority {
    /// Good news.
    Low,
    /// Something waits for a person.
    Normal,
    /// Files are damaged or in danger.
    High,
}

/// What is said of a standing.
pub trait StandingWords {
    /// Returns the names of its colour and its icon.
    fn class_and_icon(self) -> (&'static str, &'static str);

    /// Returns whether somebody should do something about it soon.
    fn alarms(self) -> bool;

    /// Returns how urgent it is to hear of it.
    fn priority(self) -> Priority;

    /// Returns so many of it in a few words: "2 damaged".
    fn word(self, files: u64) -> String;

    /// Returns so many of it in a phrase without a capital: "2 files are damaged".
    fn phrase(self, count: u64) -> String;

    /// Returns what it means, if its phrase does not say it.
    fn meaning(self) -> Option<&'static str>;
}

impl StandingWords for Standing {
    fn class_and_icon(self) -> (&'static str, &'static str) {
        match self {
            Standing::Corrupt
            | Standing::Unrecorded
            | Standing::Drive
            | Standing::Failed
            | Standing::RepairData
            | Standing::Unfinished => ("bad", "damaged"),
            Standing::Unreadable | Standing::Unlisted | Standing::Unknown | Standing::Unstable => {
                ("bad", "help")
            }
            Standing::MassChange => ("bad", "many"),
            Standing::Suspect => ("warn", "suspect"),
            Standing::Differs => ("warn", "help"),
            Standing::Missing => ("warn", "missing"),
            Standing::TagLost | Standing::TagReplaced => ("warn", "layers"),
            Standing::Modified | Standing::Touched => ("warn", "changed"),
            Standing::Unmounted => ("warn", "away"),
            Standing::NotStarted | Standing::Overdue | Standing::Empty | Standing::Incomplete => {
                ("warn", "clock")
            }
            Standing::Stopped => ("warn", "stopped"),
            Standing::Recorded | Standing::TagsAlone => ("idle", "recorded"),
            Standing::Unprotected => ("idle", "unprotected"),
            Standing::Fine => ("good", "intact"),
        }
    }

    fn alarms(self) -> bool {
        self <= Standing::Missing || self == Standing::Unmounted
    }

    fn priority(self) -> Priority {
        match self < Standing::Unfinished {
            true => Priority::High,
            false => Priority::Normal,
        }
    }

    fn word(self, files: u64) -> String {
        let count = units::count(files);
        match self {
            Standing::Corrupt => format!("{count} damaged"),
            Standing::Unreadable | Standing::Unstable => format!("{count} not readable"),
            Standing::MassChange => format!("{count} at once"),
            Standing::Suspect => format!("{count}: was it you?"),
            Standing::Differs => format!("{count} other than a list"),
            Standing::Missing => format!("{count} missing"),
            Standing::TagLost | Standing::TagReplaced => format!("{count} with a lost record"),
            Standing::Modified => format!("{count} changed"),
            Standing::Touched => format!("{count} with another date"),
            Standing::Unrecorded
            | Standing::Drive
            | Standing::Unlisted
            | Standing::Failed
            | Standing::RepairData => "In danger".to_owned(),
            Standing::Unknown => "Not known".to_owned(),
            Standing::Unfinished => "Repair cut off".to_owned(),
            Standing::Unmounted => "Drive not connected".to_owned(),
            Standing::NotStarted | Standing::Overdue | Standing::Empty => "Check is due".to_owned(),
            Standing::Incomplete => "Not all recorded".to_owned(),
            Standing::Stopped => "Stopped".to_owned(),
            Standing::Recorded => "Recorded, not yet checked".to_owned(),
            Standing::TagsAlone => "Tags, no catalogue".to_owned(),
            Standing::Unprotected => "Not yet protected".to_owned(),
            Standing::Fine => "Protected & intact".to_owned(),
        }
    }

    fn phrase(self, count: u64) -> String {
        let (one, several) = match self {
            Standing::Corrupt => ("file is damaged", "files are damaged"),
            Standing::Suspect => {
                ("file was changed and kept its date", "files were changed and kept their dates")
            }
            Standing::Differs => {
                ("file has other contents than a list", "files have other contents than a list")
            }
            Standing::Missing => ("file is gone. Was it you?", "files are gone. Was it you?"),
            Standing::Unreadable => ("file cannot be read", "files cannot be read"),
            Standing::Unlisted => ("folder cannot be opened", "folders cannot be opened"),
            Standing::TagLost => ("file has lost its tag", "files have lost their tags"),
            Standing::TagReplaced => {
                ("file has a tag of other contents", "files have tags of other contents")
            }
            Standing::Modified => ("file was changed", "files were changed"),
            Standing::Unstable => {
                ("file changed while it was read", "files changed while they were read")
            }
            Standing::Touched => ("file has another time", "files have other times"),
            Standing::RepairData => {
                ("set of repair data is damaged", "sets of repair data are damaged")
            }
            Standing::Unfinished => ("thing is unfinished", "things are unfinished"),
            Standing::Drive => ("drive is in danger", "warnings of drives"),
            Standing::Overdue => return "some files were not checked in time".to_owned(),
            Standing::Unmounted => return "the folder is not there".to_owned(),
            Standing::Unknown => return "the folder cannot be checked".to_owned(),
            Standing::NotStarted => return "its timer does not start the check".to_owned(),
            Standing::Failed => return "the check could not be made".to_owned(),
            Standing::Unrecorded => return "damage was found that is not recorded".to_owned(),
            Standing::MassChange => {
                return "unusually many files changed or disappeared".to_owned();
            }
            Standing::Empty => return "no file has a tag".to_owned(),
            Standing::Incomplete => return "some files are not recorded yet".to_owned(),
            Standing::Stopped => return "the last check was stopped".to_owned(),
            Standing::Recorded => return "nothing was compared yet".to_owned(),
            Standing::TagsAlone => return "it has tags and no catalogue".to_owned(),
            Standing::Unprotected => return "nothing is recorded".to_owned(),
            Standing::Fine => return "all is well".to_owned(),
        };
        format!("{count} {}", if count == 1 { one } else { several })
    }

    fn meaning(self) -> Option<&'static str> {
        Some(match self {
            Standing::Corrupt => "The contents changed, and nothing is known to have written them.",
            Standing::Suspect => "A program of yours may have done it, or it is damage.",
            Standing::Unreadable => "The drive, or the rights of the file, may be the reason.",
            Standing::Unlisted => {
                "Nothing in there was checked. The drive, or the rights of the folder, may be the \
                 reason."
            }
            Standing::RepairData => "The files are well, but could not be mended from it.",
            Standing::Unrecorded => "A check of the whole folder finds out which files.",
            _ => return None,
        })
    }
}

/// Returns what to do next about something in a folder, with what to type, unless its own text says
/// so. What is typed acts on the files that are told, `asked`, and on no others. During an alarm
/// about many changes, `update` needs consent to them.
pub fn next_step(
    standing: Standing,
    folder: &str,
    schedule: &str,
    has_alarm: bool,
    asked: Option<&AskedFiles>,
) -> Option<String> {
    let folder = quoted(folder);
    let many = if has_alarm { "--accept-many " } else { "" };
    let act = |verb: &str, options: &str| match asked {
        Some(asked) => asked.command(verb, options),
        None => format!("steadfast status {folder}"),
    };
    let update = |options: &str| act("update", &format!("{many}{options}"));
    let mends = |options: &str| act("repair", options);
    Some(match standing {
        Standing::Corrupt => format!("To mend it: {}\n{MORE_COPIES}", mends("")),
        Standing::Unreadable | Standing::Unlisted | Standing::Unstable | Standing::Unrecorded => {
            format!("To try again: steadfast check {folder}")
        }
        Standing::Failed => format!("To try again: steadfast schedule run --now {schedule}"),
        Standing::RepairData => format!("To make it anew: steadfast parity make {folder}"),
        Standing::Suspect => format!(
            "If it was you: {}\nIf not, mend it: {}\n{MORE_COPIES}",
            update("--only-suspect "),
            mends("--suspect ")
        ),
        Standing::Missing => format!(
            "If it was you: {}\nIf not, bring it back: {}\n\
             BACKUP is a folder that holds a good copy.",
            update("--accept-missing "),
            mends("--from BACKUP ").replace("--answer", "--from BACKUP --answer")
        ),
        Standing::Modified | Standing::Touched => format!("If it was you: {}", update("")),
        Standing::TagLost => format!("To give it back: {}", act("update", "--restore-tags ")),
        Standing::Differs | Standing::TagReplaced => {
            format!("To see it: steadfast check {folder}")
        }
        Standing::NotStarted => format!("To see the timer: steadfast schedule show {schedule}"),
        Standing::Overdue => format!("To check it now: steadfast schedule run --now {schedule}"),
        Standing::Unmounted => format!("When it is there again: steadfast status {folder}"),
        _ => return None,
    })
}

/// Says that something is over, of one or several files that are there or not, or of the folder.
/// `name` is that of one file.
pub fn ended(standing: Standing, is_there: bool, count: usize, name: &str) -> String {
    let (one, several) = match standing {
        Standing::RepairData => return "The repair data is whole again".to_owned(),
        Standing::Unfinished => return "What was unfinished is done".to_owned(),
        Standing::Overdue => return "Every file was checked in time".to_owned(),
        Standing::Unmounted => return "The folder is there again".to_owned(),
        Standing::Unknown => return "The folder can be checked again".to_owned(),
        Standing::NotStarted | Standing::Failed => return "Checks run again".to_owned(),
        Standing::MassChange => return "The many changes are settled".to_owned(),
        Standing::Drive => return "A drive no longer gives its warning".to_owned(),
        Standing::Unrecorded => return "What was damaged is recorded".to_owned(),
        Standing::Missing if is_there => ("is back", "are back"),
        Standing::Missing => ("is no longer missing", "are no longer missing"),
        _ if !is_there => ("is no longer there", "are no longer there"),
        Standing::Unreadable => ("can be read again", "can be read again"),
        Standing::Unlisted => ("can be opened again", "can be opened again"),
        Standing::Corrupt => ("is whole again", "are whole again"),
        _ => ("is in order again", "are in order again"),
    };
    let noun = if standing == Standing::Unlisted { "folder" } else { "file" };
    match count {
        1 if name.is_empty() => format!("1 {noun} {one}"),
        1 => format!("{name} {one}"),
        count => format!("{count} {noun}s {several}"),
    }
}
