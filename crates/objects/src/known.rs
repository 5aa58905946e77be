//! What is recorded of files: in their tags, a manifest or a catalogue.
//!
//! In: a tree, a list or a catalogue. Out: every file with its record, one by one; and the record
//! of one path. Reads a tree or a catalogue each time, and keeps a list in memory.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::beneath::FileKind;
use steadfast::catalogue::{self, Catalogue, CatalogueReader, CatalogueSession, DueOptions};
use steadfast::run::{List, Unlisted};
use steadfast::store::{StoredTag, is_sidecar, tag_at};
use steadfast::{
    CatalogueUse, Event, FileEvent, FilePath, Monitor, Options, Reference, Run, Selection, Subject,
    Timestamp, Verb, beneath,
};

use crate::error::{Error, ErrorKind};

/// The recorded files.
#[derive(Debug)]
pub struct KnownFiles {
    root: PathBuf,
    source: KnownSource,
}

enum KnownSource {
    Tree(Box<(Selection, Options)>),
    List { entries: BTreeMap<PathBuf, Option<Reference>>, unlisted: Vec<Unlisted> },
    Catalogue { file: PathBuf, beneath: PathBuf, records: Box<CatalogueReader>, now: Timestamp },
}

impl std::fmt::Debug for KnownSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            KnownSource::Tree(_) => "Tree",
            KnownSource::List { .. } => "List",
            KnownSource::Catalogue { .. } => "Catalogue",
        })
    }
}

/// One recorded file.
#[derive(Debug)]
pub(crate) enum KnownEntry {
    /// A file and its record, if it has one.
    File(PathBuf, Option<Reference>),
    /// A path that cannot be read, and why.
    Unreadable(PathBuf, String),
}

/// The record of one path.
#[derive(Clone, Debug)]
pub(crate) enum KnownPath {
    /// There is no such file.
    Nothing,
    /// A file and its record, if it has one.
    File(Option<Reference>),
    /// The record cannot be read, for this reason.
    Unreadable(String),
}

/// Takes recorded files. Returns false to stop.
pub(crate) type KnownSink<'a> = dyn FnMut(KnownEntry) -> bool + 'a;

impl KnownFiles {
    /// Uses the tags of the files beneath one directory.
    ///
    /// # Errors
    /// If the selection is not one directory, or the directory does not exist.
    pub fn tree(selection: &Selection, options: &Options) -> Result<KnownFiles, Error> {
        let [root] = &selection.roots[..] else {
            return Err(Error::usage("objects are compared with one PATH"));
        };
        if !selection.listed.is_empty() {
            return Err(Error::usage(
                "objects are compared with a whole tree: no list goes with it",
            ));
        }
        let root = real(root)?;
        let selection = selection.clone().with(|selection| selection.roots = vec![root.clone()]);
        let options = options.clone().with(|options| {
            options.catalogue.choice = CatalogueUse::Off;
            options.survey = false;
        });
        Ok(KnownFiles { root, source: KnownSource::Tree(Box::new((selection, options))) })
    }

    /// Uses a list of records. Its files need not exist.
    pub fn list(root: &Path, list: List) -> KnownFiles {
        let (mut entries, mut unlisted) = (BTreeMap::<PathBuf, Option<Reference>>::new(), vec![]);
        for line in list {
            let (path, reference) = match line {
                Ok(line) => line,
                Err(fault) => {
                    unlisted.push(fault);
                    continue;
                }
            };
            // Lists of several algorithms have several lines of a file.
            match (entries.get_mut(&path), reference) {
                (Some(Some(first)), Some(more)) => {
                    if !join(first, &more) {
                        unlisted
                            .push(Unlisted { document: path, reason: CONTRADICTION.to_owned() });
                    }
                }
                (Some(place @ None), more) => *place = more,
                (Some(Some(_)), None) => {}
                (None, reference) => drop(entries.insert(path, reference)),
            }
        }
        KnownFiles { root: root.to_owned(), source: KnownSource::List { entries, unlisted } }
    }

    /// Uses the catalogue of the nearest tree at or above a folder, for the files beneath the
    /// folder.
    ///
    /// # Errors
    /// If there is no catalogue, it belongs to another tree, or it cannot be read.
    pub fn catalogue(folder: &Path, now: Timestamp) -> Result<KnownFiles, Error> {
        let shown = folder.display();
        let file = Catalogue::find(folder).ok_or_else(|| {
            let message = "there is no catalogue at or above";
            Error::usage(format!("{message} `{shown}`: `steadfast init DIR` makes one"))
        })?;
        let root = real(folder)?;
        let session = CatalogueSession::read(&file)?;
        let tree = session.catalogue().root();
        let beneath = root.strip_prefix(tree).unwrap_or(Path::new("")).to_owned();
        let records = Box::new(session.reader()?);
        Ok(KnownFiles { root, source: KnownSource::Catalogue { file, beneath, records, now } })
    }

    /// Returns the directory of the files.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Passes every file to the sink once, until the sink returns false or `stop` is set.
    pub(crate) fn each(&self, stop: &AtomicBool, sink: &mut KnownSink<'_>) -> Result<(), Error> {
        match &self.source {
            KnownSource::Tree(tree) => walk(&self.root, &tree.0, &tree.1, stop, sink),
            KnownSource::List { entries, unlisted } => {
                for Unlisted { document, reason } in unlisted {
                    if !sink(KnownEntry::Unreadable(document.clone(), reason.clone())) {
                        return Ok(());
                    }
                }
                for (path, reference) in entries {
                    let told = KnownEntry::File(path.clone(), reference.clone());
                    if stop.load(Ordering::Relaxed) || !sink(told) {
                        return Ok(());
                    }
                }
                Ok(())
            }
            KnownSource::Catalogue { file, beneath, records, now } => {
                let options =
                    DueOptions::default().with(|options| options.beneath = beneath.clone());
                let mut due = Catalogue::open_reader(file)?.due(&options, *now)?;
                while let Some(entry) = due.next()? {
                    let path = entry.path.strip_prefix(beneath).unwrap_or(&entry.path).to_owned();
                    let tag = records.tag(&self.place(&path))?;
                    let reference = tag.map(|tag| Reference::of_tag("catalogue", &tag));
                    if stop.load(Ordering::Relaxed) || !sink(KnownEntry::File(path, reference)) {
                        return Ok(());
                    }
                }
                Ok(())
            }
        }
    }

    /// Returns the record of a path.
    pub(crate) fn record_of(&self, path: &Path) -> Result<KnownPath, Error> {
        match &self.source {
            KnownSource::Tree(_) => Ok(read_tag(&self.root, path)),
            KnownSource::List { entries, .. } => {
                Ok(entries.get(path).cloned().map_or(KnownPath::Nothing, KnownPath::File))
            }
            KnownSource::Catalogue { records, .. } => {
                let tag = records.tag(&self.place(path))?;
                let reference = tag.map(|tag| Reference::of_tag("catalogue", &tag));
                Ok(reference
                    .map_or(KnownPath::Nothing, |reference| KnownPath::File(Some(reference))))
            }
        }
    }

    /// Returns a path as catalogues expect it.
    fn place(&self, path: &Path) -> FilePath {
        let whole = self.root.join(path);
        let parent = Arc::from(whole.parent().unwrap_or(&self.root));
        FilePath { parent, name: whole.file_name().unwrap_or_default().to_owned() }
    }
}

/// The reason for a line that contradicts an earlier one.
const CONTRADICTION: &str = "it contradicts an earlier line about the same file, which was taken";

/// Adds a further record of the same file; returns whether both agree.
fn join(first: &mut Reference, more: &Reference) -> bool {
    let mut agree = first.length.is_none() || more.length.is_none() || first.length == more.length;
    for (algorithm, digest) in &more.digests {
        match first.digests.iter().find(|(known, _)| known == algorithm) {
            Some((_, known)) => agree &= known == digest,
            None => first.digests.push((*algorithm, *digest)),
        }
    }
    agree
}

/// Reads the tag of one path. Like the walk, ignores links, special files and sidecars.
fn read_tag(root: &Path, path: &Path) -> KnownPath {
    let status = match beneath::status(root, path) {
        Ok(status) => status,
        // The name is impossible or does not exist, or a part of the path is a link or a file.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::InvalidFilename
            ) =>
        {
            return KnownPath::Nothing;
        }
        Err(error) => {
            return KnownPath::Unreadable(format!("cannot look at the file here: {error}"));
        }
    };
    if status.kind != FileKind::Regular || is_ours(root, path) {
        return KnownPath::Nothing;
    }
    // The walk has reported a tag that cannot be read.
    let tag = beneath::file(root, path).map(|file| tag_at(&file, &root.join(path)));
    KnownPath::File(match tag {
        Ok(Ok(StoredTag::Whole(tag))) => Some(Reference::of_tag("tag", &tag)),
        _ => None,
    })
}

/// Returns whether a file belongs to a catalogue, or is a sidecar of another file.
fn is_ours(root: &Path, path: &Path) -> bool {
    let mut above = path.ancestors().skip(1);
    let holds = |folder: &Path| {
        let catalogue = folder.join(catalogue::FILE);
        folder.file_name().is_some_and(|name| name == catalogue::FOLDER)
            && beneath::status(root, &catalogue).is_ok()
    };
    if above.any(holds) {
        return true;
    }
    is_sidecar(root, path)
}

fn real(root: &Path) -> Result<PathBuf, Error> {
    let real = root.canonicalize().map_err(|error| Error::system(root, "find it", error))?;
    match real.is_dir() {
        true => Ok(real),
        false => Err(Error::usage(format!("`{}` is no directory", root.display()))),
    }
}

/// Walks a tree and reads tags, but no contents.
fn walk(
    root: &Path,
    selection: &Selection,
    options: &Options,
    stop: &AtomicBool,
    sink: &mut KnownSink<'_>,
) -> Result<(), Error> {
    let options = options.clone().with(|options| options.controls.stop = Arc::default());
    let mut walk = TagWalk { root, sink, stop, has_ended: false };
    let summary = Run::of(Verb::Show, selection.clone(), options).run(&mut walk)?;
    match summary.interrupted && !walk.has_ended {
        true => Err(Error::new(ErrorKind::Interrupted, "the walk was interrupted")),
        false => Ok(()),
    }
}

struct TagWalk<'a, 'b> {
    root: &'a Path,
    sink: &'a mut KnownSink<'b>,
    /// Set from outside.
    stop: &'a AtomicBool,
    has_ended: bool,
}

impl TagWalk<'_, '_> {
    fn entry_of(&self, event: &FileEvent) -> KnownEntry {
        let path = event.path.to_path();
        let relative = path.strip_prefix(self.root).unwrap_or(&path).to_owned();
        match (&event.trouble, event.subject) {
            (Some(trouble), _) => KnownEntry::Unreadable(relative, trouble.to_string()),
            (None, Subject::Directory) => {
                KnownEntry::Unreadable(relative, "it cannot be listed".to_owned())
            }
            (None, Subject::File) => {
                let tag = event.stored.as_ref();
                KnownEntry::File(relative, tag.map(|tag| Reference::of_tag("tag", tag)))
            }
        }
    }
}

impl Monitor for TagWalk<'_, '_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        let Event::File(event) = event else { return ControlFlow::Continue(()) };
        if !self.has_ended {
            let told = self.entry_of(event);
            self.has_ended = !(self.sink)(told) || self.stop.load(Ordering::Relaxed);
        }
        match self.has_ended {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
