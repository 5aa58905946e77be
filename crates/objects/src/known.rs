//! What is known of files, whoever recorded it: their tags, a manifest, a catalogue.
//!
//! In: a tree, a list or a catalogue. Out: every file with what is recorded of it, one by one; and
//! what is recorded of one path. A tree and a catalogue are asked each time, a list is held whole.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::beneath::FileKind;
use steadfast::catalogue::{self, Catalogue, DueOptions, Records, Scope};
use steadfast::run::{List, Unlisted};
use steadfast::store::{StoredTag, is_sidecar, tag_at};
use steadfast::{
    CatalogueUse, Event, FileEvent, FilePath, Monitor, Options, Reference, Selection, Subject,
    Timestamp, Verb, beneath,
};

use crate::error::{Error, ErrorKind};

/// What is known of files.
#[derive(Debug)]
pub struct Known {
    root: PathBuf,
    source: Source,
}

enum Source {
    Tree(Box<(Selection, Options)>),
    List { entries: BTreeMap<PathBuf, Option<Reference>>, unlisted: Vec<Unlisted> },
    Catalogue { file: PathBuf, beneath: PathBuf, records: Box<Records>, now: Timestamp },
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Source::Tree(_) => "Tree",
            Source::List { .. } => "List",
            Source::Catalogue { .. } => "Catalogue",
        })
    }
}

/// What one is told of.
#[derive(Debug)]
pub(crate) enum Told {
    /// A file, and what is recorded of it, if anything.
    File(PathBuf, Option<Reference>),
    /// What cannot be made out, and why.
    Trouble(PathBuf, String),
}

/// What is known of one path.
#[derive(Clone, Debug)]
pub(crate) enum Looked {
    /// Nothing: no file here is the object's.
    Nothing,
    /// A file, and what is recorded of it, if anything.
    File(Option<Reference>),
    /// There is no telling, and why.
    Unreadable(String),
}

/// Takes what is known; false ends it.
pub(crate) type Sink<'a> = dyn FnMut(Told) -> bool + 'a;

impl Known {
    /// Takes the tags of the files beneath one directory.
    ///
    /// # Errors
    /// If the selection is of anything else, or the directory is not there.
    pub fn tree(selection: &Selection, options: &Options) -> Result<Known, Error> {
        let [root] = &selection.roots[..] else {
            return Err(Error::usage("objects are compared with one PATH"));
        };
        if !selection.listed.is_empty() {
            return Err(Error::usage(
                "objects are compared with a whole tree: no list goes with it",
            ));
        }
        let root = real(root)?;
        let selection = Selection { roots: vec![root.clone()], ..selection.clone() };
        let options = Options { catalogue: CatalogueUse::Off, survey: false, ..options.clone() };
        Ok(Known { root, source: Source::Tree(Box::new((selection, options))) })
    }

    /// Takes what a document says. Its files need not be beneath the root, or anywhere.
    pub fn list(root: &Path, list: List) -> Known {
        let (mut entries, mut unlisted) = (BTreeMap::<PathBuf, Option<Reference>>::new(), vec![]);
        for line in list {
            let (path, reference) = match line {
                Ok(line) => line,
                Err(fault) => {
                    unlisted.push(fault);
                    continue;
                }
            };
            // Lists of several algorithms name a file several times.
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
        Known { root: root.to_owned(), source: Source::List { entries, unlisted } }
    }

    /// Takes what the catalogue of the nearest tree at or above a folder has of what is beneath.
    ///
    /// # Errors
    /// If there is none, it is not of the tree that is there, or it cannot be read.
    pub fn catalogue(folder: &Path, now: Timestamp) -> Result<Known, Error> {
        let shown = folder.display();
        let file = Catalogue::find(folder).ok_or_else(|| {
            let message = "there is no catalogue at or above";
            Error::usage(format!("{message} `{shown}`: `steadfast init DIR` makes one"))
        })?;
        let root = real(folder)?;
        let catalogue = Catalogue::open_reader(&file)?;
        catalogue.guard()?;
        let beneath = root.strip_prefix(catalogue.root()).unwrap_or(Path::new("")).to_owned();
        let scope = Scope::files_beneath(catalogue.root());
        let records = Box::new(Records::open(&file, scope)?);
        Ok(Known { root, source: Source::Catalogue { file, beneath, records, now } })
    }

    /// Returns where the files are, if they are anywhere.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Hands every file to the sink, once, until that has enough or `stop` is set.
    pub(crate) fn each(&self, stop: &AtomicBool, sink: &mut Sink<'_>) -> Result<(), Error> {
        match &self.source {
            Source::Tree(tree) => walk(&self.root, &tree.0, &tree.1, stop, sink),
            Source::List { entries, unlisted } => {
                for Unlisted { document, reason } in unlisted {
                    if !sink(Told::Trouble(document.clone(), reason.clone())) {
                        return Ok(());
                    }
                }
                for (path, reference) in entries {
                    let told = Told::File(path.clone(), reference.clone());
                    if stop.load(Ordering::Relaxed) || !sink(told) {
                        return Ok(());
                    }
                }
                Ok(())
            }
            Source::Catalogue { file, beneath, records, now } => {
                let options = DueOptions { beneath: beneath.clone(), ..DueOptions::default() };
                let mut due = Catalogue::open_reader(file)?.due(&options, *now)?;
                while let Some(entry) = due.next()? {
                    let path = entry.path.strip_prefix(beneath).unwrap_or(&entry.path).to_owned();
                    let tag = records.tag(&self.place(&path))?;
                    let reference = tag.map(|tag| Reference::of_tag("catalogue", &tag));
                    if stop.load(Ordering::Relaxed) || !sink(Told::File(path, reference)) {
                        return Ok(());
                    }
                }
                Ok(())
            }
        }
    }

    /// Returns what is known of a path.
    pub(crate) fn look(&self, path: &Path) -> Result<Looked, Error> {
        match &self.source {
            Source::Tree(_) => Ok(look_at(&self.root, path)),
            Source::List { entries, .. } => {
                Ok(entries.get(path).cloned().map_or(Looked::Nothing, Looked::File))
            }
            Source::Catalogue { records, .. } => {
                let tag = records.tag(&self.place(path))?;
                let reference = tag.map(|tag| Reference::of_tag("catalogue", &tag));
                Ok(reference.map_or(Looked::Nothing, |reference| Looked::File(Some(reference))))
            }
        }
    }

    /// Where a file is, as whoever asks a catalogue says it.
    fn place(&self, path: &Path) -> FilePath {
        let whole = self.root.join(path);
        let parent = Arc::from(whole.parent().unwrap_or(&self.root));
        FilePath { parent, name: whole.file_name().unwrap_or_default().to_owned() }
    }
}

/// What is told of a line that says something else than an earlier one.
const CONTRADICTION: &str = "it contradicts an earlier line about the same file, which was taken";

/// Adds what a further line says of a file; says whether they agree.
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

/// Looks at a path beneath a root as the walk does: what that passes by is no object's file.
fn look_at(root: &Path, path: &Path) -> Looked {
    let status = match beneath::status(root, path) {
        Ok(status) => status,
        // No file can have the name, nothing has it, or a link or a file stands in its way.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::InvalidFilename
            ) =>
        {
            return Looked::Nothing;
        }
        Err(error) => return Looked::Unreadable(format!("cannot look at the file here: {error}")),
    };
    if status.kind != FileKind::Regular || is_ours(root, path) {
        return Looked::Nothing;
    }
    // A file whose tag cannot be read the walk has told.
    let tag = beneath::file(root, path).map(|file| tag_at(&file, &root.join(path)));
    Looked::File(match tag {
        Ok(Ok(StoredTag::Whole(tag))) => Some(Reference::of_tag("tag", &tag)),
        _ => None,
    })
}

/// Says whether a file is of a catalogue, or a sidecar of another file.
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

/// Walks a tree as the library does, reading tags and no contents.
fn walk(
    root: &Path,
    selection: &Selection,
    options: &Options,
    stop: &AtomicBool,
    sink: &mut Sink<'_>,
) -> Result<(), Error> {
    let ended = Arc::new(AtomicBool::new(stop.load(Ordering::Relaxed)));
    let options = Options { stop: Arc::clone(&ended), ..options.clone() };
    let mut walk = Walk { root, sink, stop, ended };
    let summary = steadfast::run::run(Verb::Show, selection, &options, &mut walk)?;
    let enough = walk.ended.load(Ordering::Relaxed);
    match summary.interrupted && !enough {
        true => Err(Error::new(ErrorKind::Interrupted, "the walk was interrupted")),
        false => Ok(()),
    }
}

struct Walk<'a, 'b> {
    root: &'a Path,
    sink: &'a mut Sink<'b>,
    /// Set from outside.
    stop: &'a AtomicBool,
    /// Ends the walk.
    ended: Arc<AtomicBool>,
}

impl Walk<'_, '_> {
    fn told(&self, event: &FileEvent) -> Told {
        let path = event.path.to_path();
        let relative = path.strip_prefix(self.root).unwrap_or(&path).to_owned();
        match (&event.trouble, event.subject) {
            (Some(trouble), _) => Told::Trouble(relative, trouble.to_string()),
            (None, Subject::Directory) => Told::Trouble(relative, "it cannot be listed".to_owned()),
            (None, Subject::File) => {
                let tag = event.stored.as_ref();
                Told::File(relative, tag.map(|tag| Reference::of_tag("tag", tag)))
            }
        }
    }
}

impl Monitor for Walk<'_, '_> {
    fn event(&mut self, event: &Event) {
        let Event::File(event) = event else { return };
        if self.ended.load(Ordering::Relaxed) {
            return;
        }
        let told = self.told(event);
        if !(self.sink)(told) || self.stop.load(Ordering::Relaxed) {
            self.ended.store(true, Ordering::Relaxed);
        }
    }
}
