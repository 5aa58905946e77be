//! How a folder stands: one scale for everything that can be said of a file, a folder or a drive,
//! and what is said of one folder by it.
//!
//! Input: what a catalogue knows. Output: matters, of which the worst is how the folder stands.
//! Words and colours are no part of it.

use strum::{IntoStaticStr, VariantArray};

use crate::exit_status::ExitStatus;
use crate::file_state::FileState;

/// How a file, a folder or a drive stands. The worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Standing {
    /// A file is corrupt.
    Corrupt,
    /// A run found damage that the catalogue does not know.
    Unrecorded,
    /// A drive says that it fails or is worn out.
    Drive,
    /// A file cannot be read.
    Unreadable,
    /// A folder cannot be listed, or a file not be looked at.
    Unlisted,
    /// Too many files changed or disappeared at once.
    #[strum(serialize = "mass change")]
    MassChange,
    /// The folder cannot be judged.
    Unknown,
    /// The check could not be made.
    Failed,
    /// Repair data is damaged.
    #[strum(serialize = "repair data")]
    RepairData,
    /// A repair was cut off, or a part of the folder is not mounted.
    Unfinished,
    /// A file was written by something that kept its date, or is corrupt.
    Suspect,
    /// A file has other contents than a list.
    Differs,
    /// A file is missing.
    Missing,
    /// A file has lost its tag.
    #[strum(serialize = "tag lost")]
    TagLost,
    /// A file has the tag of other contents.
    #[strum(serialize = "tag replaced")]
    TagReplaced,
    /// A file was changed.
    Modified,
    /// A file changed while it was read.
    Unstable,
    /// A file has another time.
    Touched,
    /// The folder is not there.
    Unmounted,
    /// Its timer does not start the check.
    #[strum(serialize = "not started")]
    NotStarted,
    /// Some file was not proved within the cover.
    Overdue,
    /// No file has a tag.
    Empty,
    /// Some files are not recorded yet; all others are fine.
    Incomplete,
    /// The last check was stopped, and not all files were proved before.
    Stopped,
    /// Every file is recorded, and they were not all read again yet.
    Recorded,
    /// It has no catalogue, and files in it have tags.
    #[strum(serialize = "tags alone")]
    TagsAlone,
    /// It has no catalogue, and no tags were seen.
    Unprotected,
    /// Every file is recorded and was proved within the cover.
    Fine,
}

impl Standing {
    /// Every standing, the worst first.
    pub const ALL: &[Standing] = Standing::VARIANTS;

    /// Returns how an open failure of a file stands; `None` if it is none.
    pub fn of_file(state: FileState) -> Option<Standing> {
        Some(match state {
            FileState::Fine => return None,
            FileState::Touched => Standing::Touched,
            FileState::Modified => Standing::Modified,
            FileState::Corrupt => Standing::Corrupt,
            FileState::Suspect => Standing::Suspect,
            FileState::Differs => Standing::Differs,
            FileState::Unreadable => Standing::Unreadable,
            FileState::Unstable => Standing::Unstable,
            FileState::Missing => Standing::Missing,
            FileState::TagLost => Standing::TagLost,
            FileState::TagReplaced => Standing::TagReplaced,
        })
    }

    /// Returns its name, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the standing of a name.
    pub fn of_name(name: &str) -> Option<Standing> {
        Standing::ALL.iter().copied().find(|standing| standing.name() == name)
    }

    /// Returns the state of a folder that stands so, in a word: all that is open is `trouble`.
    pub fn state(self) -> &'static str {
        match self {
            Standing::Unknown => "unknown",
            Standing::Unmounted => "not there",
            Standing::NotStarted | Standing::Overdue => "overdue",
            Standing::Unprotected => "unknown",
            standing if standing < Standing::Overdue => "trouble",
            standing => standing.name(),
        }
    }

    /// Returns the exit status of a folder that stands so: `Corrupt` if a file is or may be
    /// corrupt, `Undetermined` if something cannot be told.
    pub fn exit_status(self) -> ExitStatus {
        match self {
            Standing::Corrupt | Standing::Unrecorded | Standing::Suspect => ExitStatus::Corrupt,
            Standing::Unreadable
            | Standing::Unlisted
            | Standing::Unknown
            | Standing::Failed
            | Standing::Unfinished
            | Standing::Unstable
            | Standing::Unmounted
            | Standing::TagsAlone
            | Standing::Unprotected => ExitStatus::Undetermined,
            Standing::Incomplete | Standing::Stopped | Standing::Recorded | Standing::Fine => {
                ExitStatus::Fine
            }
            _ => ExitStatus::Changed,
        }
    }
}

/// One thing that is to be said of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matter {
    /// How bad it is.
    pub standing: Standing,
    /// How many files it is about; 0 if it is about the folder.
    pub files: u64,
    /// What it concerns: a path, a drive, a set of repair data; empty for the folder.
    pub subject: String,
    /// More in a sentence, or nothing.
    pub text: String,
    /// Its exit status.
    pub status: ExitStatus,
}

impl Matter {
    /// Makes one of the folder.
    pub fn of(standing: Standing) -> Matter {
        let status = standing.exit_status();
        Matter { standing, files: 0, subject: String::new(), text: String::new(), status }
    }

    /// Makes one of so many files.
    pub fn of_files(standing: Standing, files: u64) -> Matter {
        Matter { files, ..Matter::of(standing) }
    }

    /// Makes one that concerns something in particular.
    pub fn about(standing: Standing, subject: &str, text: &str) -> Matter {
        Matter { subject: subject.to_owned(), text: text.to_owned(), ..Matter::of(standing) }
    }
}
