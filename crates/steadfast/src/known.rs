//! Which contents are already in other archives, where, and which are nowhere else.
//!
//! Input: a selection of files, and archives: trees or catalogues. Output: for each file, the
//! places that have the same contents, in the order of the walk; and folders whose files are all in
//! one folder of an archive. A file has a digest by its tag if it did not change since, and is read
//! otherwise. Digests and places wait in a temporary database, so memory does not depend on how
//! many there are. Writes nothing else.

mod archive;
mod folders;
mod list;
mod reading;
mod worklist;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::storage::storage_place;
use strum::{IntoStaticStr, VariantArray};

pub(crate) use archive::Archive;
use archive::OwnPlaces;
pub(crate) use reading::HashRun;
use reading::digests_of;
pub(crate) use worklist::{SeenFile, WantedFile, WantedPlace, Worklist};

use crate::advice::{Advice, counted};
use crate::beneath;
use crate::error::Error;
use crate::event::{Notice, Skipped};
use crate::exit_status::ExitStatus;
use crate::monitor::{NoticeMonitor, ResultMonitor};
use crate::run::Options;
use crate::selection::Selection;
use crate::tree_folder::OwnFolders;
use crate::walk::{Excludes, WalkItem, walk};

/// The most places that are reported of one file.
const PLACES_MAX: usize = 16;

/// Whether the contents of a file are in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum KnownWord {
    /// An archive has them.
    Known,
    /// No archive has them.
    Unknown,
    /// It could not be told.
    Undetermined,
}

impl KnownWord {
    /// Every word, in the order of summaries.
    pub const ALL: [KnownWord; 3] = *KnownWord::VARIANTS.as_array().expect("there are three words");

    /// Returns the name in lower case, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    fn exit_status(self) -> ExitStatus {
        match self {
            KnownWord::Known => ExitStatus::Fine,
            KnownWord::Unknown => ExitStatus::Changed,
            KnownWord::Undetermined => ExitStatus::Undetermined,
        }
    }
}

/// A place in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPlace {
    /// The path.
    pub path: PathBuf,
    /// Whether it is there, with the length, the times and the inode of its record. False if its
    /// volume is not mounted, so the record is all that is known.
    pub is_there: bool,
    /// Whether it is in a list, whose path its path begins with.
    pub is_listed: bool,
}

/// The result for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownContents {
    /// Its path, as the user would write it.
    pub path: PathBuf,
    /// Whether its contents are known.
    pub word: KnownWord,
    /// Its length in bytes.
    pub length: u64,
    /// Where its contents are, at most sixteen places.
    pub places: Vec<KnownPlace>,
    /// How many further places there are.
    pub more: u64,
    /// Why it could not be told.
    pub trouble: Option<String>,
}

/// A folder whose files, those beneath it too, are all in one folder of an archive, at the same
/// paths.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SameFolder {
    /// Its path, as the user would write it.
    pub path: PathBuf,
    /// The folder of the archive.
    pub there: PathBuf,
    /// How many files both have.
    pub files: u64,
    /// Whether the folder of the archive has no other files.
    pub is_whole: bool,
}

/// The result in numbers.
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct KnownSummary {
    /// Files by their word, as [`KnownWord::ALL`].
    pub files: [u64; 3],
    /// Bytes of them.
    pub bytes: [u64; 3],
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Places whose file changed since it was recorded, or is gone. They count for nothing.
    pub stale: u64,
    /// What the walk skipped.
    pub skipped: Skipped,
    /// What the folders of ours have that it met.
    pub(crate) own_folders: OwnFolders,
    /// Time that it took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    pub(crate) status: ExitStatus,
}

impl KnownSummary {
    /// Returns how it ended: `Fine` if every file is known, `Changed` if one is not.
    pub fn exit_status(&self) -> ExitStatus {
        self.status.max(ExitStatus::Interrupted.only_if(self.interrupted))
    }

    fn count(&mut self, file: &KnownContents) {
        let at = file.word as usize;
        self.files[at] += 1;
        self.bytes[at] += file.length;
        self.status.raise(file.word.exit_status());
    }
}

/// A result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownResult {
    /// A file, in the order of the walk.
    File(KnownContents),
    /// A folder, in the order of paths, after all files.
    Folder(SameFolder),
}

/// Receives the results of a search.
type KnownMonitor<'a> = dyn ResultMonitor<KnownResult> + 'a;

/// Finds out which contents of a selection are in archives. An archive is a directory, with a
/// catalogue at or above it or with tags, a list of digests, or the file of a catalogue, whose
/// volume need not be mounted. A path of the selection may be the file of a catalogue, too.
///
/// # Errors
/// If an archive cannot be used, an option is not valid, or the system lacks something.
pub fn known(
    selection: &Selection,
    archives: &[PathBuf],
    options: &Options,
    monitor: &mut KnownMonitor<'_>,
) -> Result<KnownSummary, Error> {
    let start = Instant::now();
    let mut summary = KnownSummary::default();
    let search = Search { archives, within: &selection.within, reads_all: false };
    let found = matched(selection, &search, options, &mut summary, monitor)?;
    report(&found, &selection.roots, (options, &mut summary), monitor)?;
    summary.elapsed_ns = start.elapsed().as_nanos() as u64;
    Ok(summary)
}

/// Contents that are looked for, although their file is not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoughtContents {
    /// What results call it.
    pub path: PathBuf,
    /// The length in bytes.
    pub length: u64,
    /// Their digests.
    pub digests: Vec<(Algorithm, Digest)>,
}

/// Finds out which contents are in archives, as [`known`], by digests alone. Reads no file.
///
/// # Errors
/// As [`known`].
pub fn known_contents(
    sought: &[SoughtContents],
    archives: &[PathBuf],
    options: &Options,
    monitor: &mut KnownMonitor<'_>,
) -> Result<KnownSummary, Error> {
    let start = Instant::now();
    let mut summary = KnownSummary::default();
    let search = Search { archives, within: &[], reads_all: false };
    let (mut list, archives, strong) = searched(&search, options, monitor)?;
    for contents in sought {
        list.add_sought(contents)?;
    }
    list.index_files()?;
    let own = OwnPlaces::default();
    for algorithm in strong {
        find_places((&mut list, &archives), algorithm, &own, &mut summary)?;
    }
    report(&(list, archives), &[PathBuf::new()], (options, &mut summary), monitor)?;
    summary.elapsed_ns = start.elapsed().as_nanos() as u64;
    Ok(summary)
}

/// Passes on what was found, and counts it.
fn report(
    (list, archives): &(Worklist, Vec<Archive>),
    roots: &[PathBuf],
    (options, summary): (&Options, &mut KnownSummary),
    monitor: &mut KnownMonitor<'_>,
) -> Result<(), Error> {
    let tell = |notice: Notice, summary: &mut KnownSummary, to: &mut KnownMonitor<'_>| {
        summary.status.raise(notice.status);
        to.notice(&notice);
    };
    summary.interrupted = options.controls.stop.load(Ordering::Relaxed);
    if !summary.interrupted {
        list.each_file(PLACES_MAX, &mut |file| {
            let file = KnownContents {
                path: file.path,
                word: match (&file.trouble, file.places.is_empty()) {
                    (_, false) => KnownWord::Known,
                    (Some(_), true) => KnownWord::Undetermined,
                    (None, true) => KnownWord::Unknown,
                },
                length: file.seen.length,
                places: file
                    .places
                    .into_iter()
                    .map(|it| archives[it.archive].place(&it.path))
                    .collect(),
                more: file.more,
                trouble: file.trouble,
            };
            summary.count(&file);
            monitor.result(&KnownResult::File(file));
        })?;
        folders::each(list, archives, roots, &mut |folder| {
            monitor.result(&KnownResult::Folder(folder));
        })?;
    }
    if summary.files.iter().sum::<u64>() == 0 && !summary.interrupted {
        let notice = Notice::failure("no file was found");
        let status = notice.status.only_if(!options.allow_empty);
        tell(Notice { status, ..notice }, summary, monitor);
    }
    if summary.stale > 0 {
        let text = counted(
            summary.stale,
            "recorded place has changed since, or is gone: it counts for nothing until a check has \
             read it",
            "recorded places have changed since, or are gone: they count for nothing until a check \
             has read them",
        );
        tell(Notice::new(text), summary, monitor);
    }
    Ok(())
}

/// What is searched, and how.
pub(crate) struct Search<'a> {
    pub(crate) archives: &'a [PathBuf],
    /// Directories from which the archives are reached by names alone, if there are any.
    pub(crate) within: &'a [PathBuf],
    /// Whether to read every file of the selection, whatever its tag says.
    pub(crate) reads_all: bool,
}

/// Lists the files of a selection with their digests, and the places of archives that have the same
/// contents.
pub(crate) fn matched(
    selection: &Selection,
    search: &Search<'_>,
    options: &Options,
    summary: &mut KnownSummary,
    monitor: &mut dyn NoticeMonitor,
) -> Result<(Worklist, Vec<Archive>), Error> {
    let (mut list, archives, strong) = searched(search, options, monitor)?;
    list_selection(selection, options, &mut list, summary, monitor)?;
    list.index_files()?;
    let own = selection.roots.iter().chain(&selection.listed);
    let paths = own.filter_map(|path| path.canonicalize().ok()).collect();
    // Who asks whether a source may be erased is told that one place shows the other.
    let roots = selection.roots.iter().filter(|root| beneath::is_folder(root) && !search.reads_all);
    let shown = roots.filter_map(|root| storage_place(root).ok()).collect();
    let own = OwnPlaces { paths, shown };
    let reading = (&*selection.confines(), options);
    for algorithm in strong {
        summary.bytes_read +=
            digests_of(&list, algorithm, reading, &mut |it| monitor.progress(it))?;
        find_places((&mut list, &archives), algorithm, &own, summary)?;
    }
    Ok((list, archives))
}

/// Opens the archives, and lists those that have no catalogue. Returns the algorithms of all whose
/// digests prove that contents are the same.
fn searched(
    search: &Search<'_>,
    options: &Options,
    monitor: &mut dyn NoticeMonitor,
) -> Result<(Worklist, Vec<Archive>, Vec<Algorithm>), Error> {
    let open = |path: &PathBuf| Archive::open(path, search.within, options);
    let archives = search.archives.iter().map(open).collect::<Result<Vec<Archive>, Error>>()?;
    let mut list = Worklist::new(search.reads_all)?;
    for (at, archive) in archives.iter().enumerate() {
        if archive.is_other {
            let text =
                "the catalogue there is of another tree: only the tags of its files are used";
            monitor.notice(&Notice::new(text).at(&archive.named()));
        }
        let mut tell = |notice: Notice| monitor.notice(&notice);
        let unrecorded = archive.list_tags(at, &mut list, (search.within, options), &mut tell)?;
        if unrecorded > 0 {
            let files = counted(unrecorded, "file", "files");
            let text = format!("nothing is known of {files} that no record describes");
            let notice = Notice::new(text).advise(Advice::Tag);
            monitor.notice(&notice.at(&archive.named()));
        }
    }
    let mut algorithms = list.held_algorithms()?;
    for archive in &archives {
        algorithms.extend(archive.algorithms()?);
    }
    algorithms.sort_by_key(|algorithm| algorithm.name());
    algorithms.dedup();
    let (weak, strong): (Vec<Algorithm>, Vec<Algorithm>) =
        algorithms.into_iter().partition(|it| !search.reads_all && !it.proves_sameness());
    for algorithm in weak {
        let text =
            format!("records of {} do not prove that contents are the same", algorithm.name());
        monitor.notice(&Notice::new(text));
    }
    Ok((list, archives, strong))
}

/// Notes for each file with a digest of an algorithm the places of archives that have it.
fn find_places(
    (list, archives): (&mut Worklist, &[Archive]),
    algorithm: Algorithm,
    own: &OwnPlaces,
    summary: &mut KnownSummary,
) -> Result<(), Error> {
    let filter = list.filter(algorithm)?;
    for (at, archive) in archives.iter().enumerate() {
        archive.list_contents(at, algorithm, &filter, list)?;
    }
    list.index_places()?;
    summary.stale += archive::remove_stale(archives, own, list)?;
    list.note_found()
}

/// Walks a selection, and lists its files with the digests of tags that are up to date.
fn list_selection(
    selection: &Selection,
    options: &Options,
    list: &mut Worklist,
    summary: &mut KnownSummary,
    monitor: &mut dyn NoticeMonitor,
) -> Result<(), Error> {
    let excludes = Arc::new(Excludes::new(&selection.excludes)?);
    let is_catalogue = |path: &&PathBuf| archive::is_catalogue_file(path);
    let (catalogues, roots): (Vec<&PathBuf>, Vec<&PathBuf>) =
        selection.roots.iter().partition(is_catalogue);
    for file in catalogues {
        Archive::open(file, &[], options)?.list_as_selection(list)?;
    }
    let selection = Selection { roots: roots.into_iter().cloned().collect(), ..selection.clone() };
    let selection = Selection { with_sidecars: true, ..selection };
    let stop = &options.controls.stop;
    let mut outcome = Ok(());
    let (skipped, _) = walk(&selection, &excludes, crate::store::has_tag, stop, &mut |item| {
        match item {
            WalkItem::File(entry) | WalkItem::Leaves(entry) => outcome = list.add(&entry),
            WalkItem::Failed(event) => {
                let path = event.path.to_path();
                let text = event.trouble.map(|it| it.message()).unwrap_or_default();
                summary.status.raise(ExitStatus::Undetermined);
                monitor.notice(&Notice::failure(text).at(Path::new(&path)));
            }
            WalkItem::EmptyFolder(_) => {}
            WalkItem::Ours(dir) => summary.own_folders.add(&dir),
            WalkItem::Notice(notice) => {
                summary.status.raise(notice.status);
                monitor.notice(&notice);
            }
        }
        match outcome {
            Ok(()) => std::ops::ControlFlow::Continue(()),
            Err(_) => std::ops::ControlFlow::Break(()),
        }
    });
    summary.skipped = skipped;
    outcome
}
