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
        LiveStatus::Running => "It is running, and goes on if you close this page.",
        LiveStatus::Paused => "It is paused.",
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
        MeasureKind::Cipher => "What does encryption cost?",
        MeasureKind::Kernels => "How fast does the processor hash?",
        MeasureKind::Queue => "Is the drive faster with several requests at a time?",
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
        RunVerb::Tag => "Tagging",
        RunVerb::Check => "Check",
        RunVerb::Update | RunVerb::Keep => "Update",
        RunVerb::Init => "A new catalogue",
        RunVerb::Protect => "Protecting",
    }
}

/// Returns the name of a pace.
pub(crate) fn pace(pace: Pace) -> &'static str {
    match pace {
        Pace::Tortoise => "tortoise",
        Pace::Walk => "walk",
        Pace::Bicycle => "bicycle",
        Pace::Car => "car",
        Pace::RacingCar => "racing car",
    }
}
