//! A run inside a catalogued tree: what it sees goes to the catalogue, and what only the catalogue
//! knows becomes events.
//!
//! In: options, then every event in walk order. Out: further events, and at the end the run's
//! record. Trouble with the catalogue never ends a run; it is told, and the exit status shows it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_sys::clock;
use steadfast_sys::file::Timestamp;

use super::judge;
use super::{CatalogueUse, DueChoice, Options, ReadFrom, Verb};
use crate::catalogue::{
    self, Catalogue, CatalogueError, CatalogueErrorKind, CatalogueReader, FILE, FOLDER, Finding,
    LockRequest, Recorder, RunScope, RunStart, TreeList,
};
use crate::error::Error;
use crate::event::{FileEvent, FilePath, Notice};
use crate::monitor::{Event, FindingEvent, Monitor, Summary};
use crate::selection::Selection;
use crate::verdict::Verdict;

/// Why a path cannot be asked of a catalogue.
pub(super) const NOT_IN_TREE: &str = "it is not in the catalogued tree";

/// A catalogue at the side of a run.
pub(super) struct Kept {
    recorder: Option<Recorder>,
    places: Places,
    /// What is to be told of how it was opened.
    notices: Vec<Notice>,
}

/// A run's catalogue, opened, before the run begins.
pub(super) struct Opened {
    pub(super) file: PathBuf,
    pub(super) catalogue: Catalogue,
    notices: Vec<Notice>,
}

/// How the paths of a tree are written by whoever asked for the run.
struct Places {
    root: PathBuf,
    /// Paths as they were given, and where they are.
    given: Vec<(PathBuf, PathBuf)>,
}

impl Opened {
    /// Opens the catalogue that a run is to keep. `None` if there is none, or none is wanted.
    ///
    /// # Errors
    /// If it is in use, damaged, or not of this tree.
    pub(super) fn find(
        verb: Verb,
        selection: &Selection,
        options: &Options,
    ) -> Result<Option<Opened>, Error> {
        if !keeps(verb) {
            return Ok(None);
        }
        let Some(file) = file_of(selection, options)? else { return Ok(None) };
        let opened = Opened::open(verb, file, options)?;
        opened.ensure_within(selection, options)?;
        Ok(Some(opened))
    }

    /// Opens the catalogue for a verb that keeps none and may have to ask it: for the tags of a
    /// file system that has no place for them, and for what is corrupt by it.
    ///
    /// # Errors
    /// As [`Opened::find`].
    pub(super) fn consult(
        verb: Verb,
        selection: &Selection,
        options: &Options,
    ) -> Result<Option<Opened>, Error> {
        let asks = match verb {
            Verb::Hash => options.judge,
            Verb::Show | Verb::Export(_) => true,
            _ => false,
        };
        if !asks {
            return Ok(None);
        }
        let Some(file) = file_of(selection, options)? else { return Ok(None) };
        let reading = Options { dry_run: true, ..options.clone() };
        let opened = Opened::open(verb, file, &reading)?;
        opened.ensure_within(selection, options)?;
        Ok(Some(opened))
    }

    /// Refuses a catalogue that was named and is of another tree: it could say nothing of the
    /// paths, and its silence would pass for good news.
    fn ensure_within(&self, selection: &Selection, options: &Options) -> Result<(), Error> {
        match (&options.catalogue, RunScope::outside(self.catalogue.root(), selection)) {
            (CatalogueUse::At(_), Some(path)) => Err(Error::usage(NOT_IN_TREE).at(&path)),
            _ => Ok(()),
        }
    }

    fn open(verb: Verb, file: PathBuf, options: &Options) -> Result<Opened, Error> {
        use CatalogueErrorKind::{Absent, Damaged, Full, Planted, ReadOnly, Unfinished};
        let wait = options.wait.then_some(&*options.stop);
        let writer = LockRequest { verb: verb.name(), now: clock::utc_now(), wait };
        let mut notices = Vec::new();
        let opened = match options.dry_run {
            true => Catalogue::open_reader(&file),
            false => Catalogue::open_writer(&file, &writer),
        };
        let catalogue = match opened {
            Err(error) if matches!(error.kind(), ReadOnly | Full) && verb == Verb::Check => {
                let text = match error.kind() {
                    Full => {
                        "no space is left on the volume of the catalogue: this run reads it and \
                         leaves no record in it"
                    }
                    _ => "the catalogue cannot be written here: this run leaves no record in it",
                };
                notices.push(Notice::new(text).at(&file));
                Catalogue::open_reader(&file)?
            }
            Err(error) if matches!(error.kind(), Damaged | Absent | Planted | Unfinished) => {
                return Err(advised(&error));
            }
            opened => opened?,
        };
        catalogue.guard()?;
        if !options.dry_run {
            enter(&catalogue, options);
        }
        Ok(Opened { file, catalogue, notices })
    }

    /// Takes a catalogue that was just made.
    pub(super) fn new(catalogue: Catalogue) -> Opened {
        Opened { file: catalogue.file().to_owned(), catalogue, notices: Vec::new() }
    }

    /// Opens what workers ask for tags that the files themselves lack.
    pub(super) fn records(&self, scope: &RunScope) -> Result<Arc<CatalogueReader>, Error> {
        Ok(Arc::new(CatalogueReader::open(&self.file, scope.clone())?))
    }

    /// Returns those of the given paths that are not there and that the catalogue knows: as they
    /// were given, and from the tree's root.
    pub(super) fn gone(&self, selection: &Selection) -> Result<Vec<(PathBuf, PathBuf)>, Error> {
        let mut gone = Vec::new();
        for path in selection.roots.iter().filter(|_| !selection.exact) {
            if let Some(relative) = self.catalogue.known_and_gone(path)? {
                gone.push((path.clone(), relative));
            }
        }
        Ok(gone)
    }

    /// Says whether a choice is to be taken from the catalogue. To resume after a run that came to
    /// its end is to begin anew, with a walk.
    pub(super) fn has_due(&self, choice: DueChoice) -> Result<bool, Error> {
        let DueChoice { older_than, max_time, max_bytes, resume } = choice;
        let otherwise = older_than.is_some() || max_time.is_some() || max_bytes.is_some();
        Ok(otherwise || (resume && self.catalogue.unfinished_run()?.is_some()))
    }

    /// Begins to keep a run.
    pub(super) fn keep(
        self,
        scope: RunScope,
        selection: &Selection,
        begin: &RunStart<'_>,
    ) -> Result<Kept, Error> {
        let places = Places::of(self.catalogue.root(), selection);
        let recorder = self.catalogue.recorder(scope, begin)?;
        Ok(Kept { recorder: Some(recorder), places, notices: self.notices })
    }
}

/// Says whether a verb keeps the catalogue of a tree.
fn keeps(verb: Verb) -> bool {
    match verb {
        Verb::Tag | Verb::Check | Verb::Update | Verb::Retag { .. } | Verb::Untag => true,
        Verb::Import => true,
        Verb::Show | Verb::Hash | Verb::Export(_) => false,
    }
}

/// Enters the tree of a catalogue in the list of catalogued trees. Without that the run is as good.
pub(super) fn enter(catalogue: &Catalogue, options: &Options) {
    if let (Some(list), Ok(tree)) = (&options.trees, catalogue.tree()) {
        let _ = TreeList::at(list).enter(&tree);
    }
}

/// Returns what to say of trees that had a catalogue, where a run found none: it cannot notice what
/// is missing there.
pub(super) fn lost(verb: Verb, selection: &Selection, options: &Options) -> Vec<Notice> {
    let list = options.trees.as_ref().filter(|_| options.catalogue == CatalogueUse::Nearest);
    let Some(list) = list.filter(|_| keeps(verb)) else { return Vec::new() };
    let mut lost = TreeList::at(list).lost();
    lost.retain(|tree| {
        let mut paths = selection.roots.iter().chain(&selection.listed);
        paths.any(|path| {
            let real = catalogue::real_of(path);
            real.is_some_and(|real| real.starts_with(&tree.root) || tree.root.starts_with(&real))
        })
    });
    let told = lost.iter().map(|tree| {
        let (file, root) = (tree.catalogue.display(), tree.root.display());
        Notice::failure(format!(
            "its catalogue `{file}` is gone: missing files are not noticed. Restore it from a \
             backup, mount the volume that has it, or make another with `steadfast init {root}`; \
             if none is wanted, say so with `steadfast init --forget {root}`"
        ))
        .at(&tree.root)
    });
    told.collect()
}

/// Says what to do about a catalogue that is damaged or gone.
fn advised(error: &CatalogueError) -> Error {
    let file = error.path();
    let root = match file.ends_with(Path::new(FOLDER).join(FILE)) {
        true => file.parent().and_then(Path::parent),
        false => None,
    };
    let option = if error.kind() == CatalogueErrorKind::Unfinished { "" } else { "--rebuild" };
    let command = catalogue::command(option, root.unwrap_or(Path::new("DIR")), file);
    Error::usage(match error.kind() {
        CatalogueErrorKind::Unfinished => format!("{error}: `{command}` makes the catalogue"),
        CatalogueErrorKind::Absent => format!("{error}: `{command}` makes one from the tags"),
        _ => format!(
            "{error}: `{command}` sets it aside under another name and makes one from the tags"
        ),
    })
}

/// Says what a run is, for its record.
pub(super) fn begin<'a>(
    verb: &'a str,
    backend: &'a str,
    accepts: bool,
    options: &Options,
) -> RunStart<'a> {
    let read_from = match options.read_from {
        ReadFrom::Cache => "cache",
        ReadFrom::Media => "media",
    };
    RunStart { verb, read_from, backend, now: (options.now)(), accepts }
}

/// Returns where the catalogue is that a run is to have.
fn file_of(selection: &Selection, options: &Options) -> Result<Option<PathBuf>, Error> {
    match &options.catalogue {
        CatalogueUse::Off => Ok(None),
        CatalogueUse::At(file) => Ok(Some(file.clone())),
        CatalogueUse::Nearest => nearest(selection),
    }
}

/// Returns the one catalogue above everything that is selected.
fn nearest(selection: &Selection) -> Result<Option<PathBuf>, Error> {
    let mut first: Option<(&Path, Option<PathBuf>)> = None;
    let mut last_parent = None;
    for (path, is_root) in selection
        .roots
        .iter()
        .map(|path| (path, true))
        .chain(selection.listed.iter().map(|path| (path, false)))
    {
        // The next in a list is likely the last one's neighbour.
        if !is_root && last_parent == Some(path.parent()) {
            continue;
        }
        last_parent = (!is_root).then(|| path.parent());
        let found = match &selection.within {
            Some(root) => Catalogue::find_beneath(root, path),
            None => Catalogue::find(path),
        };
        match &first {
            None => first = Some((path, found)),
            Some((_, before)) if *before == found => {}
            Some((before, _)) => {
                let (before, other) = (before.display(), path.display());
                return Err(Error::usage(format!(
                    "`{before}` and `{other}` are not in the same catalogued tree: take one at a \
                     time, or leave the catalogues out with --no-catalogue"
                )));
            }
        }
    }
    Ok(first.and_then(|(_, found)| found))
}

/// Hears of what the catalogue finds, as it is found.
pub(super) type Tell<'a> = dyn FnMut(Event) + 'a;

impl Kept {
    /// Takes an event of the run.
    pub(super) fn take(&mut self, event: &FileEvent, tell: &mut Tell<'_>) {
        // What a list names and is gone was not seen; a walk of the whole tree says it is missing.
        if event.verdict == Some(Verdict::Missing) {
            return;
        }
        let Kept { recorder: Some(recorder), places, .. } = self else { return };
        let result =
            recorder.take(event, event.tag_place, &mut |finding| tell(places.event(finding)));
        Kept::check(result, tell);
    }

    /// Stores what is known so far, if it is time.
    pub(super) fn tick(&mut self, now: Timestamp, tell: &mut Tell<'_>) {
        if let Some(recorder) = &mut self.recorder {
            let result = recorder.tick(now);
            Kept::check(result, tell);
        }
    }

    /// Ends the record of the run, which saw `whole` what it was about, or not.
    pub(super) fn finish(&mut self, whole: bool, now: Timestamp, tell: &mut Tell<'_>) {
        self.notices.drain(..).for_each(|notice| tell(Event::Notice(notice)));
        let Kept { recorder, places, .. } = self;
        let Some(recorder) = recorder.take() else { return };
        let result = recorder.finish(whole, now, &mut |finding| tell(places.event(finding)));
        Kept::check(result.map(|_| ()), tell);
    }

    fn check(result: Result<(), CatalogueError>, tell: &mut Tell<'_>) {
        if let Err(error) = result {
            let what = match error.kind() {
                CatalogueErrorKind::Damaged => advised(&error).to_string(),
                _ => error.to_string(),
            };
            let text = format!(
                "{what}. The rest of this run is not recorded, and missing files are not looked for"
            );
            tell(Event::Notice(Notice::failure(text)));
        }
    }
}

impl Places {
    fn of(root: &Path, selection: &Selection) -> Places {
        let given = selection.roots.iter().filter_map(|path| {
            let real = catalogue::real_of(path)?;
            let shown = if path == Path::new(".") { PathBuf::new() } else { path.clone() };
            Some((shown, real))
        });
        Places { root: root.to_owned(), given: given.collect() }
    }

    /// Writes a path of the tree as the user would.
    fn shown(&self, relative: &Path) -> PathBuf {
        let real = self.root.join(relative);
        let down = self.given.iter().find_map(|(shown, given)| {
            let down = real.strip_prefix(given).ok()?;
            Some(if down.as_os_str().is_empty() { shown.clone() } else { shown.join(down) })
        });
        down.unwrap_or(real)
    }

    fn event(&self, finding: Finding) -> Event {
        let path = self.shown(finding.path());
        match finding {
            Finding::Missing { tag, accepted: false, .. } => {
                let mut event = FileEvent::new(FilePath::whole(&path));
                (event.verdict, event.stored) = (Some(Verdict::Missing), tag);
                Event::File(Box::new(event))
            }
            Finding::Moved { ref to, tag, .. } => {
                let mut event = FileEvent::new(FilePath::whole(&path));
                (event.verdict, event.stored) = (Some(Verdict::Moved), Some(tag));
                event.moved_to = Some(self.shown(to));
                Event::File(Box::new(event))
            }
            finding => {
                // The current directory is shown as nothing before other names.
                let here = path.as_os_str().is_empty();
                let path = if here { PathBuf::from(".") } else { path };
                Event::Finding(Box::new(FindingEvent { path, finding }))
            }
        }
    }
}

/// Looks quickly at a selection, and tells what is found.
pub(super) fn look_quickly(
    opened: Opened,
    selection: &Selection,
    options: &Options,
    summary: &mut Summary,
    monitor: &mut dyn Monitor,
) -> Result<(), Error> {
    let places = Places::of(opened.catalogue.root(), selection);
    let told = RefCell::new((summary, monitor));
    let tell = |event: Event| {
        let (summary, monitor) = &mut *told.borrow_mut();
        match &event {
            Event::File(event) => summary.count(event, judge::exit_status(event, false, false)),
            Event::Finding(noted) => summary.note(&noted.finding),
            Event::Notice(notice) => summary.raise_status(notice.status),
        }
        monitor.event(&event);
    };
    let quick = opened.catalogue.quick(
        selection,
        (options.now)(),
        &options.stop,
        &mut |finding| tell(places.event(finding)),
        &mut |event| tell(Event::File(Box::new(event))),
    )?;
    let text = format!(
        "{} files were looked at by length, times and inode: nothing was proved about their bytes",
        quick.files
    );
    tell(Event::Notice(Notice::new(text)));
    let (summary, _) = told.into_inner();
    summary.files = quick.files;
    summary.skipped = quick.skipped;
    summary.interrupted = !quick.whole;
    if quick.unreadable > 0 {
        summary.raise_status(2);
    }
    Ok(())
}
