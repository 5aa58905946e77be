//! The recording of a run in its catalogue, beside the run itself.
//!
//! Takes each event of the run in walk order, and turns the catalogue's findings into further
//! events. An error of the catalogue does not end the run: it becomes a notice with status 2.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_sys::file::Timestamp;

use super::open_catalogue::advised;
use super::{Options, ReadFrom};
use crate::catalogue::Finding;
use crate::catalogue::{
    self, CatalogueError, CatalogueErrorKind, CatalogueSession, Recorder, Repairs, RunStart,
    RunState, TreeList,
};
use crate::error::Error;
use crate::event::{FileError, FileEvent, FilePath, Notice, Subject};
use crate::monitor::{Event, FindingEvent};
use crate::pipeline::AttributesOf;
use crate::read::Origin;
use crate::selection::Selection;
use crate::verb_kind::VerbKind;
use crate::verdict::Verdict;

/// A run that is being recorded.
pub(super) struct RunRecording {
    /// `None` once the recording has ended.
    recorder: Option<Recorder>,
    paths: ShownPaths,
    /// Whether files of the run's list that do not exist are recorded as missing. The run itself
    /// reports them.
    records_missing: bool,
    /// What to report about how the catalogue was opened.
    notice: Option<Notice>,
    stop: Arc<AtomicBool>,
}

/// How the user writes the paths of a tree.
pub(super) struct ShownPaths {
    root: PathBuf,
    /// The selected paths as the user wrote them, with their real paths.
    given: Vec<(PathBuf, PathBuf)>,
}

/// Receives the events that follow from the catalogue's findings.
pub(super) type Tell<'a> = dyn FnMut(Event) + 'a;

impl RunRecording {
    /// Starts to record a run of a verb: with the kernel that hashes, and whether it accepts
    /// changes.
    pub(super) fn start(
        session: CatalogueSession,
        selection: &Selection,
        (verb, backend, accepts): (VerbKind, &str, bool),
        options: &Options,
    ) -> Result<RunRecording, Error> {
        let read_from = match options.reading.from {
            ReadFrom::Cache => Origin::Cache,
            ReadFrom::Media => Origin::Media,
        };
        let (read_from, now) = (Some(read_from), (options.now)());
        let start = RunStart { verb, read_from, backend, now, accepts };
        let paths = ShownPaths::of(session.catalogue().root(), selection);
        let notice = session.notice().cloned();
        let mut recorder = session.record(&start)?;
        let stop = Arc::clone(&options.controls.stop);
        recorder.stop_by(Arc::clone(&stop));
        let others = options.catalogue.trees.as_deref().map(TreeList::at);
        recorder.set_others(others.map(|list| list.read()).unwrap_or_default());
        Ok(RunRecording { recorder: Some(recorder), paths, records_missing: false, notice, stop })
    }

    /// Returns the files whose attributes the catalogue is expected to lack.
    pub(super) fn attributes_of(&self) -> AttributesOf {
        match &self.recorder {
            Some(recorder) if recorder.is_first() => AttributesOf::All,
            Some(recorder) if recorder.writes() => AttributesOf::Tagged,
            _ => AttributesOf::None,
        }
    }

    /// Makes it record files of the run's list that do not exist as missing.
    #[must_use]
    pub(super) fn recording_missing(self, records_missing: bool) -> RunRecording {
        RunRecording { records_missing, ..self }
    }

    /// Sets the files that were repaired before the run.
    pub(super) fn set_repairs(&mut self, repairs: Repairs) {
        if let Some(recorder) = &mut self.recorder {
            recorder.set_repairs(repairs);
        }
    }

    /// Records an event of the run.
    pub(super) fn record(&mut self, event: &FileEvent, tell: &mut Tell<'_>) {
        // The user's list may name files that never were in the tree.
        if event.verdict == Some(Verdict::Missing) && !self.records_missing {
            return;
        }
        let RunRecording { recorder: Some(recorder), paths, .. } = self else { return };
        let result = recorder
            .record_event(event, event.tag_place, &mut |finding| tell(paths.event(finding)));
        RunRecording::report(result, tell);
    }

    /// Commits the recorded events, if it is time.
    pub(super) fn tick(&mut self, now: Timestamp, tell: &mut Tell<'_>) {
        if let Some(recorder) = &mut self.recorder {
            let result = recorder.tick(now);
            RunRecording::report(result, tell);
        }
    }

    /// Ends the recording of a run that used `backend`. `whole` says whether it came to its end.
    /// Returns whether the user stopped it before all missing files were found.
    pub(super) fn finish(
        &mut self,
        whole: bool,
        backend: &str,
        now: Timestamp,
        tell: &mut Tell<'_>,
    ) -> bool {
        self.notice.take().into_iter().for_each(|notice| tell(Event::Notice(notice)));
        let RunRecording { recorder, paths, records_missing, .. } = self;
        let Some(mut recorder) = recorder.take() else { return false };
        recorder.set_backend(backend);
        let result = recorder.finish(whole, now, &mut |finding| match finding {
            Finding::Missing { .. } if *records_missing => {}
            finding => tell(paths.event(finding)),
        });
        let is_cut_short = whole
            && result.as_ref().is_ok_and(|record| record.state == RunState::Interrupted)
            && self.stop.load(Ordering::Relaxed);
        RunRecording::report(result.map(|_| ()), tell);
        is_cut_short
    }

    fn report(result: Result<(), CatalogueError>, tell: &mut Tell<'_>) {
        if let Err(error) = result {
            let error = match error.kind() {
                CatalogueErrorKind::Damaged => advised(error),
                _ => error.into(),
            };
            let text = format!(
                "{}. The rest of this run is not recorded, and missing files are not looked for",
                error.message()
            );
            let notice = Notice { text, ..Notice::of(&error) };
            tell(Event::Notice(notice));
        }
    }
}

impl ShownPaths {
    pub(super) fn of(root: &Path, selection: &Selection) -> ShownPaths {
        let given = selection.roots.iter().filter_map(|path| {
            let real = catalogue::real_of(path)?;
            let shown = if path == Path::new(".") { PathBuf::new() } else { path.clone() };
            Some((shown, real))
        });
        ShownPaths { root: root.to_owned(), given: given.collect() }
    }

    /// Returns a path of the tree as the user writes it.
    fn shown(&self, relative: &Path) -> PathBuf {
        let real = self.root.join(relative);
        let down = self.given.iter().find_map(|(shown, given)| {
            let down = real.strip_prefix(given).ok()?;
            Some(if down.as_os_str().is_empty() { shown.clone() } else { shown.join(down) })
        });
        down.unwrap_or(real)
    }

    /// Returns a path in the tree as the user writes it, and any other path as it is.
    pub(super) fn as_written(&self, path: &Path) -> PathBuf {
        let relative = path.strip_prefix(&self.root);
        let path = relative.map_or_else(|_| path.to_owned(), |relative| self.shown(relative));
        // `shown` writes the current directory as an empty path.
        if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
    }

    pub(super) fn event(&self, finding: Finding) -> Event {
        let path = self.shown(finding.path());
        match finding {
            Finding::Missing { tag, instead, accepted: false, .. } => {
                let mut event = FileEvent::new(FilePath::whole(&path));
                (event.verdict, event.stored) = (Some(Verdict::Missing), tag);
                event.visit.instead = instead;
                Event::File(Box::new(event))
            }
            Finding::Unreadable { ref why, .. } => {
                let (path, why) = (FilePath::whole(&path), FileError::new("look at", why));
                Event::File(Box::new(FileEvent::unreadable(path, Subject::File, why)))
            }
            Finding::Moved { ref to, tag, .. } => {
                let mut event = FileEvent::new(FilePath::whole(&path));
                (event.verdict, event.stored) = (Some(Verdict::Moved), Some(tag));
                event.moved_to = Some(self.shown(to));
                Event::File(Box::new(event))
            }
            finding => {
                // `shown` writes the current directory as an empty path.
                let here = path.as_os_str().is_empty();
                let path = if here { PathBuf::from(".") } else { path };
                Event::Finding(Box::new(FindingEvent { path, finding }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_as_the_user_wrote_their_beginning() {
        let here = catalogue::real_of(Path::new(".")).unwrap();
        let shown = |root: &str, path: &str| {
            let selection = Selection { roots: vec![root.into()], ..Selection::default() };
            ShownPaths::of(&here, &selection).shown(Path::new(path))
        };
        assert_eq!(shown(".", "src/run.rs").as_os_str(), "src/run.rs");
        assert_eq!(shown("./src", "src/run.rs").as_os_str(), "./src/run.rs");
        assert_eq!(shown("src", "src").as_os_str(), "src");
        assert_eq!(shown("src", "tests"), here.join("tests"));
    }
}
