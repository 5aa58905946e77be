//! What is said: numbers, moments, what to type next, and how a folder stands.
//!
//! In: values of the library. Out: words and the names of colours and icons. The command, pages,
//! messages and metrics show them, and choose none of their own. Must not know: clocks, files,
//! networks, terminals.

#![forbid(unsafe_code)]

pub mod units;
pub mod advice;
mod asked;
mod standing;
mod folder;

pub use asked::{AskedFiles, named, quoted};
pub use folder::{
    FolderSaid, FolderView, GaugeSaid, GoingView, LastSeen, NextStep, folder_said, folders_said,
    matter_words, reason, run_word, schedule_words,
};
pub use standing::{MORE_COPIES, Priority, StandingWords, ended, next_step};
pub use units::Units;
