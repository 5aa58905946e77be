//! Words that several pages use. Those of one page are where it uses them.

use steadfast::FileState;
use steadfast::qos::Pace;

use crate::live::LiveStatus;
use crate::measuring::MeasureKind;
use crate::runs::RunVerb;

/// Returns the state of a file in a word or two.
pub(crate) fn file_state(state: FileState) -> &'static str {
    match state {
        FileState::Fine => "Intact",
        FileState::Touched => "Intact, with another date",
        FileState::Modified => "Changed",
        FileState::Corrupt => "Damaged",
        FileState::Suspect => "Changed, with its date kept",
        FileState::Differs => "Other than a list",
        FileState::Unreadable => "Not readable",
        FileState::Unstable => "Written meanwhile",
        FileState::Missing => "Missing",
        FileState::TagLost => "Record lost",
        FileState::TagReplaced => "Record replaced",
    }
}

/// Returns the status of a run in a sentence.
pub(crate) fn run_status(status: LiveStatus) -> &'static str {
    match status {
        LiveStatus::Running => "Running. It goes on if you close this page.",
        LiveStatus::Paused => "Paused.",
        LiveStatus::Stopping => "It is stopping.",
        LiveStatus::Ended => "It has ended.",
    }
}

/// Returns the question that a kind of measurement answers.
pub(crate) fn measure_kind(kind: MeasureKind) -> &'static str {
    match kind {
        MeasureKind::Hash => "How fast can this computer check files?",
        MeasureKind::Read => "How fast does the drive read?",
        MeasureKind::Write => "How fast does the drive write?",
        MeasureKind::Pair => "Which of two folders is faster?",
        MeasureKind::Cipher => "What does encryption cost?",
        MeasureKind::Kernels => "How fast does the processor hash?",
        MeasureKind::Queue => "Is the drive faster with several requests at a time?",
        MeasureKind::Levels => "How fast is each level, by size of file?",
        MeasureKind::Contention => "What is left for a low level beside other work?",
        MeasureKind::Cpu => "How much slower are the lower levels?",
    }
}

/// Returns the status of a measurement in a sentence.
pub(crate) fn measure_status(status: LiveStatus) -> &'static str {
    match status {
        LiveStatus::Running => "It is running, and goes on if you close this page.",
        LiveStatus::Paused => "It is paused.",
        LiveStatus::Stopping => "It is stopping. The samples so far are kept.",
        LiveStatus::Ended => "It has ended.",
    }
}

/// Returns the title of a run.
pub(crate) fn run_title(verb: RunVerb) -> &'static str {
    match verb {
        RunVerb::Check | RunVerb::Resume => "Check",
        RunVerb::Update | RunVerb::Accept | RunVerb::Keep => "Accepting changes",
        RunVerb::Removed => "Accepting removed files",
        RunVerb::Tag | RunVerb::Init | RunVerb::Protect => "Protecting",
    }
}

/// Returns the title of a run that goes on in a folder.
pub(crate) fn run_going(verb: RunVerb, name: &str) -> String {
    match verb {
        RunVerb::Check | RunVerb::Resume => format!("Checking {name}"),
        RunVerb::Tag | RunVerb::Protect | RunVerb::Init => format!("Protecting {name}"),
        RunVerb::Update | RunVerb::Accept | RunVerb::Keep | RunVerb::Removed => {
            format!("Accepting what changed in {name}")
        }
    }
}

/// Returns what a run does, in a sentence for its page.
pub(crate) fn run_does(verb: RunVerb) -> &'static str {
    match verb {
        RunVerb::Check | RunVerb::Resume => {
            "Every file is read again and compared with what was recorded. You can close this \
             page: the check goes on."
        }
        RunVerb::Tag | RunVerb::Protect | RunVerb::Init => {
            "Every new file is read once, and what is in it is recorded. You can close this page: \
             it goes on."
        }
        RunVerb::Update | RunVerb::Accept | RunVerb::Keep | RunVerb::Removed => {
            "Files are read, and what you accepted is recorded. Damaged files keep their record."
        }
    }
}

/// Returns the name of a pace.
pub(crate) fn pace(pace: Pace) -> &'static str {
    match pace {
        Pace::Tortoise => "Tortoise",
        Pace::Walk => "Walk",
        Pace::Bicycle => "Bicycle",
        Pace::Car => "Car",
        Pace::RacingCar => "Racing car",
    }
}

/// Returns what a pace means to somebody who works meanwhile.
pub(crate) fn pace_means(pace: Pace) -> &'static str {
    match pace {
        Pace::Tortoise => "Stays in the background: you do not notice it, and it takes longest.",
        Pace::Walk => "Waits for whatever else you do.",
        Pace::Bicycle => "Shares the computer with your work.",
        Pace::Car => "Takes its full share; other programs may have to wait at times.",
        Pace::RacingCar => "Takes all that the computer has. For the night.",
    }
}

/// Returns what a run does, while it goes on.
pub(crate) fn run_does_now(verb: RunVerb) -> &'static str {
    match verb {
        RunVerb::Check | RunVerb::Resume => "Checking",
        RunVerb::Tag | RunVerb::Init | RunVerb::Protect => "Protecting",
        RunVerb::Update | RunVerb::Accept | RunVerb::Keep | RunVerb::Removed => "Accepting",
    }
}
