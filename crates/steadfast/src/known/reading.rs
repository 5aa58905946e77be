//! Reads the files of a list that have no digest of an algorithm, by the run of `hash`.

use std::ops::ControlFlow;
use std::path::PathBuf;

use steadfast_digest::Algorithm;

use super::worklist::Worklist;
use crate::error::Error;
use crate::event::FileEvent;
use crate::monitor::{Event, Monitor, Progress};
use crate::run::{HashOptions, Options, Verb};
use crate::selection::Selection;
use crate::unguarded::run;

/// Files that one run reads.
const BATCH_LEN: usize = 16_384;

/// Reads every file that needs it, and notes the digests. Returns how many bytes were read.
///
/// # Errors
/// If the system lacks something. What cannot be read is noted with the file.
pub(crate) fn digests_of(
    list: &Worklist,
    algorithm: Algorithm,
    (within, options): (&[PathBuf], &Options),
    progress: &mut dyn FnMut(&Progress),
) -> Result<u64, Error> {
    let (mut after, mut bytes) = (0, 0);
    loop {
        let files = list.without_digest(algorithm, after, BATCH_LEN)?;
        let Some((last, _)) = files.last() else { return Ok(bytes) };
        after = *last;
        let (numbers, paths): (Vec<i64>, Vec<PathBuf>) = files.into_iter().unzip();
        let mut outcome = Ok(());
        let mut numbers = numbers.into_iter();
        let mut batch = HashRun {
            within,
            before: bytes,
            progress,
            file: &mut |event| {
                let trouble = event.trouble.as_ref().map(|trouble| trouble.message());
                let read = match (&event.actual, &trouble) {
                    (Some(tag), None) => Ok(tag),
                    (_, Some(trouble)) => Err(trouble.as_str()),
                    (None, None) => Err("it was not read"),
                };
                match numbers.next() {
                    Some(number) if outcome.is_ok() => outcome = list.note_read(number, read),
                    _ => {}
                }
            },
        };
        bytes += batch.read(paths, algorithm, options)?;
        outcome?;
    }
}

/// A run of `hash` over a list of paths: one event for each, in order.
pub(crate) struct HashRun<'a> {
    /// Directories: what they contain is reached by names alone.
    pub(crate) within: &'a [PathBuf],
    /// Bytes of earlier runs, for the progress.
    pub(crate) before: u64,
    pub(crate) progress: &'a mut dyn FnMut(&Progress),
    pub(crate) file: &'a mut dyn FnMut(&FileEvent),
}

impl HashRun<'_> {
    /// Reads the files, and returns how many bytes that were.
    ///
    /// # Errors
    /// If the system lacks something.
    pub(crate) fn read(
        &mut self,
        paths: Vec<PathBuf>,
        algorithm: Algorithm,
        options: &Options,
    ) -> Result<u64, Error> {
        let selection = Selection::of(paths).with(|it| {
            (it.exact, it.with_sidecars) = (true, true);
            it.within = self.within.to_owned();
        });
        let verb = Verb::Hash(HashOptions { algorithm: Some(algorithm), judge: false });
        let options = options.clone().with(|options| {
            options.allow_empty = true;
            options.survey = false;
        });
        Ok(run(verb, &selection, &options, self)?.bytes)
    }
}

impl Monitor for HashRun<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let Event::File(file) = event {
            (self.file)(file);
        }
        ControlFlow::Continue(())
    }

    fn progress(&mut self, progress: &Progress) {
        let bytes = self.before + progress.bytes;
        (self.progress)(&Progress { bytes, ..*progress });
    }
}
