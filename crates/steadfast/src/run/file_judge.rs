//! Judges single files as a check does, for verbs that read files for a reason of their own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::file::{File, Status, Timestamp};

use super::check::CheckTask;
use super::open_catalogue::advised;
use super::{CatalogueUse, Options, TagContext, Verb, context_of, pages_of};
use crate::beneath;
use crate::catalogue::{Catalogue, CatalogueReader, CatalogueSession};
use crate::error::Error;
use crate::event::{FileError, FileEvent, FilePath, Notice};
use crate::pipeline::{Algorithms, Contents, Digests, Plan, Task as _};
use crate::selection::Selection;
use crate::store::xattr::Xattr;
use crate::verdict::Verdict;

/// Judges files of any tree, each by its tag and by the nearest catalogue above it.
pub(crate) struct FileJudge {
    options: Options,
    within: Vec<PathBuf>,
    known: Mutex<KnownTasks>,
}

#[derive(Default)]
struct KnownTasks {
    last: Option<FolderTask>,
    by_catalogue: HashMap<Option<PathBuf>, Arc<CheckTask>>,
    troubles: Vec<Notice>,
}

/// What judges the files of a folder.
#[derive(Clone)]
struct FolderTask {
    folder: PathBuf,
    real: Arc<Path>,
    task: Arc<CheckTask>,
}

impl FileJudge {
    /// Makes a judge of the files of a selection.
    pub(crate) fn new(selection: &Selection, options: &Options) -> FileJudge {
        let options = Options { dry_run: true, ..options.clone() };
        FileJudge { options, within: selection.within.clone(), known: Mutex::default() }
    }

    /// Looks up the record of an open file, which may decide without reading.
    pub(crate) fn begin(&self, file: &File, path: &Path, status: Status) -> FileTrial {
        let FolderTask { real, task, .. } = self.task_of(path.parent().unwrap_or(Path::new("")));
        let name = path.file_name().unwrap_or_default().to_owned();
        let mut event = FileEvent::new(FilePath { parent: real, name });
        event.visit.status = Some(status);
        let plan = task.open(file, &mut event);
        FileTrial { task, event, plan }
    }

    /// Returns which catalogues could not be used, so that files were judged by their tags alone.
    pub(crate) fn take_troubles(&self) -> Vec<Notice> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut known.troubles)
    }

    fn task_of(&self, folder: &Path) -> FolderTask {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = known.last.as_ref().filter(|last| last.folder == folder) {
            return last.clone();
        }
        let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let real = shown.canonicalize().unwrap_or_else(|_| shown.to_owned());
        let catalogue = match (&self.options.catalogue.choice, &self.within[..]) {
            (CatalogueUse::Nearest, within @ [_, ..]) => beneath::innermost(within, shown)
                .and_then(|(root, _)| Catalogue::find_beneath(root, shown)),
            (choice, _) => choice.of(&real),
        };
        let task = match known.by_catalogue.get(&catalogue) {
            Some(task) => Arc::clone(task),
            None => {
                let (task, trouble) = self.open(catalogue.as_deref());
                known.troubles.extend(trouble);
                known.by_catalogue.insert(catalogue, Arc::clone(&task));
                task
            }
        };
        let (folder, real) = (folder.to_owned(), Arc::from(real));
        known.last.insert(FolderTask { folder, real, task }).clone()
    }

    /// Makes the task of a catalogue, and says why the catalogue cannot be used.
    fn open(&self, catalogue: Option<&Path>) -> (Arc<CheckTask>, Option<Notice>) {
        let reader = |file: &Path| -> Result<CatalogueReader, Error> {
            let session = CatalogueSession::read(file).map_err(advised)?;
            Ok(CatalogueReader::beside(session.catalogue())?)
        };
        let (records, mut trouble) = match catalogue.map(reader).transpose() {
            Ok(records) => (records.map(Arc::new), None),
            Err(error) => (None, Some(Notice::of(&error))),
        };
        let pages = match pages_of(Verb::check(), catalogue, &self.options) {
            Ok(pages) => pages,
            Err(error) => {
                trouble.get_or_insert(Notice::of(&error));
                None
            }
        };
        let context = context_of(Verb::check(), Arc::new(Xattr), records, &self.options);
        let context = TagContext { pages, ..context };
        let trouble = trouble.map(|it| match catalogue {
            Some(file) if it.path.is_none() => it.at(file),
            _ => it,
        });
        (Arc::new(CheckTask { context }), trouble)
    }
}

/// A file that is judged.
pub(crate) struct FileTrial {
    task: Arc<CheckTask>,
    pub(crate) event: FileEvent,
    plan: Plan,
}

impl FileTrial {
    /// Returns the algorithms of the record, if it takes reading to compare it.
    pub(crate) fn algorithms(&self) -> impl Iterator<Item = Algorithm> + use<> {
        let wanted = match self.plan {
            Plan::Hash { algorithms, .. } => Some(algorithms),
            Plan::Done | Plan::Read => None,
        };
        wanted.into_iter().flat_map(|it| [Some(it.first), it.second]).flatten()
    }

    /// Judges the contents, which have a digest of each of the algorithms.
    pub(crate) fn conclude(
        &mut self,
        file: &File,
        digests: &[(Algorithm, Digest)],
        (length, mtime): (u64, Timestamp),
    ) {
        let Plan::Hash { algorithms: Algorithms { first, second }, .. } = self.plan else { return };
        let digest = |of| digests.iter().find(|(it, _)| *it == of).map(|(_, digest)| *digest);
        let Some(found) = digest(first) else { return };
        let digests = Digests { first: found, second: second.and_then(digest) };
        self.task.conclude(file, &mut self.event, Contents { digests, length, mtime });
    }

    /// Notes that the contents could not be read.
    pub(crate) fn fail(&mut self, file: &File, trouble: FileError) {
        self.event.fail(trouble);
        self.task.give_up(file, &mut self.event);
    }

    /// Returns the verdict, if the file is one that a check calls damaged, or may be.
    pub(crate) fn damage(&self) -> Option<Verdict> {
        let is_damage =
            |it: &Verdict| matches!(it, Verdict::Corrupt | Verdict::Suspect | Verdict::Unreadable);
        self.event.verdict.filter(is_damage)
    }
}
