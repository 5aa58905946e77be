//! The surface that runs of schedules belong to.

use std::path::PathBuf;

use steadfast::catalogue::CatalogueError;
use steadfast::parity::ParityPlace;
use steadfast::{ExitStatus, Options, Selection, Verb};

use crate::alert::channel::Delivery;
use crate::error::Error;

/// The surface that a run of a schedule belongs to: it carries out the verbs, and shows what they
/// find as its user wants it.
pub trait NightSurface {
    /// Why a step could not be carried out.
    type Error: From<Error> + From<steadfast::Error> + From<CatalogueError>;

    /// Returns the options that the user gave for every step.
    fn options(&self) -> Options;

    /// Runs a verb.
    ///
    /// # Errors
    /// If it cannot begin or go on.
    fn run(
        &mut self,
        verb: Verb,
        selection: &Selection,
        options: Options,
    ) -> Result<ExitStatus, Self::Error>;

    /// Brings the parity of a tree up to date. Returns the worst status of its files.
    ///
    /// # Errors
    /// If it cannot begin or go on.
    fn update_parity(
        &mut self,
        place: &ParityPlace,
        options: Options,
    ) -> Result<ExitStatus, Self::Error>;

    /// Mends the files of a selection whose decay is proved. Returns their paths from the root, and
    /// the number of the repair that keeps what they were.
    ///
    /// # Errors
    /// If it cannot begin or go on.
    fn mend(
        &mut self,
        selection: &Selection,
        options: Options,
    ) -> Result<(Vec<PathBuf>, u64), Self::Error>;

    /// Shows what the user should know of the schedule.
    fn complain(&mut self, text: &str);

    /// Shows which messages did not arrive.
    fn delivered(&mut self, deliveries: &[Delivery]);

    /// Returns what an error and its causes say.
    fn words_of(&self, error: &Self::Error) -> String;

    /// Returns how much a run checked, in words.
    fn words_of_check(&self, files: u64, bytes: u64, elapsed_s: u64) -> String;

    /// Returns whether the user asked to stop.
    fn was_stopped(&self) -> bool;
}
