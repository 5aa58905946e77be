//! Which catalogue a run uses, how it is opened, and what to tell the user if it cannot be.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_sys::clock;

use super::{CatalogueUse, DueChoice, Options, Verb};
use crate::advice::{Advice, CatalogueChange};
use crate::beneath::{self, presence_of};
use crate::catalogue::{
    self, Catalogue, CatalogueError, CatalogueErrorKind, CatalogueReader, CatalogueSession, FILE,
    FOLDER, LockRequest, RunScope, TreeList,
};
use crate::error::Error;
use crate::event::Notice;
use crate::selection::Selection;
use crate::verb_kind::VerbKind;

/// The message about a path that the catalogue cannot know.
pub(super) const NOT_IN_TREE: &str = "it is not in the catalogued tree";

/// Opens the catalogue that a run is recorded in, or only reads it in a dry run. `None` if there is
/// none, or the user wants none.
///
/// # Errors
/// If the catalogue is in use, damaged, or of another tree.
pub(super) fn open(
    verb: Verb,
    selection: &Selection,
    options: &Options,
) -> Result<Option<CatalogueSession>, Error> {
    if !is_recorded(verb) {
        return Ok(None);
    }
    if let Verb::Init(_) = verb {
        return make(selection, options).map(Some);
    }
    let Some(file) = file_of(selection, options)? else { return Ok(None) };
    let wait = options.catalogue.wait.then_some(&*options.controls.stop);
    let lock = LockRequest { verb: verb.kind(), now: clock::utc_now(), wait };
    let session = match (options.dry_run, verb) {
        (true, _) => CatalogueSession::read(&file),
        // A check is useful even if its result cannot be recorded.
        (false, Verb::Check(check)) => {
            CatalogueSession::write_or_read(&file, &lock, check.all_lost)
        }
        (false, _) => CatalogueSession::write(&file, &lock),
    };
    let session = session.map_err(advised)?;
    ensure_within(&session, selection, options)?;
    if let Some(list) = options.catalogue.trees.as_ref().filter(|_| !options.dry_run) {
        // A failure is ignored, because the run does not need the list.
        let _ = session.catalogue().tree().map(|tree| TreeList::at(list).follow(&tree));
    }
    Ok(Some(session))
}

/// Makes the catalogue of one directory, or opens it if an earlier `init` made it.
fn make(selection: &Selection, options: &Options) -> Result<CatalogueSession, Error> {
    let [root] = &selection.roots[..] else {
        return Err(Error::usage("a catalogue is of one directory"));
    };
    let inside = root.join(FOLDER).join(FILE);
    let file = match &options.catalogue.choice {
        CatalogueUse::At(file) => Some(file.as_path()).filter(|file| *file != inside),
        CatalogueUse::Nearest => None,
        CatalogueUse::Off => return Err(Error::usage("`init` makes a catalogue")),
    };
    let wait = options.catalogue.wait.then_some(&*options.controls.stop);
    let lock = LockRequest { verb: VerbKind::Init, now: (options.now)(), wait };
    let place = file.map_or(inside.as_path(), |file| file);
    let session = match presence_of(place).is_lost() {
        true => CatalogueSession::create(root, file, &lock)?,
        false => CatalogueSession::write(place, &lock).map_err(advised)?,
    };
    let (of, real) = (session.catalogue().root(), catalogue::real_of(root));
    if real.as_deref() != Some(of) {
        let text = format!("this catalogue is of `{}`.", of.display());
        let (change, file) = (CatalogueChange::Rebind, place.to_owned());
        let advice = Advice::Catalogue { change, root: real, file };
        return Err(Error::usage(text).at(place).advise(advice));
    }
    if let (Some(list), Ok(tree)) = (&options.catalogue.trees, session.catalogue().tree()) {
        let _ = TreeList::at(list).enter(&tree);
    }
    Ok(session)
}

/// Returns the records of the catalogue for a verb that only looks up tags in it.
///
/// An error ends `hash`, which would otherwise report corrupt contents as good. The other verbs
/// report the error and continue with the tags of the files themselves.
pub(super) fn records(
    verb: Verb,
    selection: &Selection,
    options: &Options,
    notices: &mut Vec<Notice>,
) -> Result<Option<Arc<CatalogueReader>>, Error> {
    let reader = || -> Result<Option<Arc<CatalogueReader>>, Error> {
        let session = open_to_ask(verb, selection, options)?;
        let Some(session) = session else { return Ok(None) };
        Ok(Some(Arc::new(session.covering(selection)?.reader()?)))
    };
    match reader() {
        // It is there, so its tags are known to somebody.
        Err(error) if matches!(error.advice(), Some(Advice::OpenCatalogue(_))) => {
            notices.push(Notice::of(&error));
            Ok(None)
        }
        Err(error) if !matches!(verb, Verb::Hash(_)) => {
            let text = format!("{error}: only tags at the files themselves are known");
            notices.push(Notice::new(text));
            Ok(None)
        }
        reader => reader,
    }
}

/// Opens the catalogue for a verb that is not recorded but needs its tags: of files on a file
/// system without attributes, and to recognise corrupt files.
///
/// # Errors
/// As [`open`].
fn open_to_ask(
    verb: Verb,
    selection: &Selection,
    options: &Options,
) -> Result<Option<CatalogueSession>, Error> {
    let asks = match verb {
        Verb::Hash(hash) => hash.judge,
        Verb::Show | Verb::Export(_) => true,
        _ => false,
    };
    if !asks {
        return Ok(None);
    }
    let Some(file) = file_of(selection, options)? else { return Ok(None) };
    let session = CatalogueSession::read(&file).map_err(advised)?;
    ensure_within(&session, selection, options)?;
    Ok(Some(session))
}

/// Refuses a catalogue of another tree, if it was named, or if its tree was. It knows nothing of
/// the paths, and a run that reports nothing missing would look like a success.
fn ensure_within(
    session: &CatalogueSession,
    selection: &Selection,
    options: &Options,
) -> Result<(), Error> {
    if let Some(tree) = &options.catalogue.tree {
        session.catalogue().ensure_is(tree)?;
    }
    match (&options.catalogue.choice, RunScope::outside(session.catalogue().root(), selection)) {
        (CatalogueUse::At(_), Some(path)) => Err(Error::usage(NOT_IN_TREE).at(&path)),
        _ => Ok(()),
    }
}

/// Returns whether the files to check are chosen from the catalogue. Resuming a run that ended
/// normally starts a new one, with a walk.
pub(super) fn has_due(session: &CatalogueSession, choice: DueChoice) -> Result<bool, Error> {
    let DueChoice { older_than, max_time, max_bytes, resume, .. } = choice;
    let limited = older_than.is_some() || max_time.is_some() || max_bytes.is_some();
    Ok(limited || (resume && session.catalogue().unfinished_run()?.is_some()))
}

/// Returns whether runs of a verb are recorded in the catalogue.
fn is_recorded(verb: Verb) -> bool {
    !matches!(verb, Verb::Show | Verb::Hash(_) | Verb::Export(_))
}

/// Returns what to say of the catalogues that a verb would use but does not; `is_open` if it uses
/// one.
pub(super) fn notices(
    verb: Verb,
    selection: &Selection,
    options: &Options,
    is_open: bool,
) -> Vec<Notice> {
    let mut notices = passed_over(verb, selection, options);
    if !is_open {
        notices.extend(lost(verb, selection, options));
    }
    notices
}

/// Returns what to say of catalogues above a selection that a verb would use, and that are passed
/// over because another person can change them.
fn passed_over(verb: Verb, selection: &Selection, options: &Options) -> Vec<Notice> {
    let uses = options.catalogue.choice == CatalogueUse::Nearest && is_recorded(verb);
    let mut notices: Vec<Notice> = Vec::new();
    let mut last_parent = None;
    for path in selection.roots.iter().chain(&selection.listed).filter(|_| uses) {
        if last_parent != Some(path.parent()) || beneath::is_folder(path) {
            let passed = Catalogue::passed_over(selection.within.first().unwrap_or(path));
            notices
                .extend(passed.into_iter().filter(|it| !notices.contains(it)).collect::<Vec<_>>());
        }
        last_parent = Some(path.parent());
    }
    notices
}

/// Returns a notice for each selected tree whose catalogue is gone: the run cannot notice missing
/// files there.
fn lost(verb: Verb, selection: &Selection, options: &Options) -> Vec<Notice> {
    let list = options
        .catalogue
        .trees
        .as_ref()
        .filter(|_| options.catalogue.choice == CatalogueUse::Nearest);
    let Some(list) = list.filter(|_| is_recorded(verb)) else { return Vec::new() };
    let mut lost = TreeList::at(list).lost();
    lost.retain(|tree| {
        let mut paths = selection.roots.iter().chain(&selection.listed);
        paths.any(|path| {
            let real = catalogue::real_of(path);
            real.is_some_and(|real| real.starts_with(&tree.root) || tree.root.starts_with(&real))
        })
    });
    let told = lost.iter().map(|tree| {
        let file = tree.catalogue.display();
        let text = format!("its catalogue `{file}` is gone: missing files are not noticed.");
        let notice = Notice::failure(text).advise(Advice::RestoreCatalogue(tree.root.clone()));
        notice.at(&tree.root)
    });
    told.collect()
}

/// Adds to an error what the user can do, if the catalogue is damaged or gone.
pub(crate) fn advised(error: CatalogueError) -> Error {
    use CatalogueErrorKind::{Absent, Damaged, Planted, Unfinished};
    if !matches!(error.kind(), Damaged | Absent | Planted | Unfinished) {
        return error.into();
    }
    let file = error.path();
    let root = match file.ends_with(Path::new(FOLDER).join(FILE)) {
        true => file.parent().and_then(Path::parent),
        false => None,
    };
    let change = match error.kind() {
        Unfinished => CatalogueChange::Finish,
        Absent => CatalogueChange::Make,
        _ => CatalogueChange::Replace,
    };
    let (root, file) = (root.map(Path::to_owned), file.to_owned());
    let advice = Advice::Catalogue { change, root, file };
    Error::usage(error.message()).advise(advice).caused_by(error)
}

/// Returns the path of the catalogue that a run uses, if it uses one.
pub(super) fn file_of(selection: &Selection, options: &Options) -> Result<Option<PathBuf>, Error> {
    match &options.catalogue.choice {
        CatalogueUse::Off => Ok(None),
        CatalogueUse::At(file) => Ok(Some(file.clone())),
        CatalogueUse::Nearest => nearest(selection),
    }
}

/// Returns the one catalogue above all selected paths, if there is one.
fn nearest(selection: &Selection) -> Result<Option<PathBuf>, Error> {
    let mut first: Option<(&Path, Option<PathBuf>)> = None;
    let mut last_parent = None;
    for (path, is_root) in selection
        .roots
        .iter()
        .map(|path| (path, true))
        .chain(selection.listed.iter().map(|path| (path, false)))
    {
        // Consecutive paths of a list are often in one directory.
        if !is_root && last_parent == Some(path.parent()) {
            continue;
        }
        last_parent = (!is_root).then(|| path.parent());
        let found = match selection.within.iter().find(|root| path.starts_with(root)) {
            Some(root) => Catalogue::find_beneath(root, path),
            None => Catalogue::find(path),
        };
        match &first {
            None => first = Some((path, found)),
            Some((_, before)) if *before == found => {}
            Some((before, _)) => {
                let (before, other) = (before.display(), path.display());
                let text = format!("`{before}` and `{other}` are not in the same catalogued tree");
                return Err(Error::usage(text).advise(Advice::OneTree));
            }
        }
    }
    Ok(first.and_then(|(_, found)| found))
}
