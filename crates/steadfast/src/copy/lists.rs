//! The lists that a copy leaves at its destinations: those of a BagIt bag, or a generation of an
//! ASC MHL history.
//!
//! They are made of digests that were computed while the source was read, and written after all
//! copies are permanent.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};
use steadfast_manifest::mhl::{CHAIN, FOLDER, MhlGeneration, MhlPlace, NamedList, chain};
use steadfast_manifest::mhl::{chain_document, list_name};
use steadfast_sys::file::{Dir, Draft, Existing, Status, Timestamp};
use steadfast_sys::machine;

use super::CopyRequest;
use super::destination::Destination;
use crate::beneath;
use crate::error::Error;
use crate::event::Notice;
use crate::manifest::bagit::{Bag, Problem, documents};
use crate::manifest::mhl::{EarlierDigests, earlier, read_chain};
use crate::manifest::{Format, Record, read};
use crate::selection::Selection;
use crate::walk::Entry;

/// What a bag of ours says in `bag-info.txt`.
const AGENT: &str = "Bag-Software-Agent: steadfast\n";

/// The lists of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListKind {
    /// None.
    #[default]
    None,
    /// Each destination becomes a BagIt bag, with the copies in `data`.
    Bag,
    /// Each folder gets a generation of ASC MHL, with digests of this algorithm.
    Mhl(Algorithm),
}

/// What is gathered for the lists.
pub(super) struct CopyLists {
    kind: ListKind,
    /// The algorithm of the copy's tags.
    algorithm: Algorithm,
    /// Names of the copied folders: each is the root of a history.
    tops: BTreeSet<PathBuf>,
    /// Algorithms of the lists that the source has.
    known: BTreeSet<Algorithm>,
    /// Chains of the source, by the folder of their history.
    chains: BTreeMap<PathBuf, Vec<NamedList>>,
    files: Vec<ListedCopy>,
    folders: BTreeSet<PathBuf>,
}

/// A file that was copied.
pub(super) struct ListedCopy {
    pub(super) relative: PathBuf,
    pub(super) status: Status,
    pub(super) digests: Vec<(Algorithm, Digest)>,
    /// Whether each destination has it.
    pub(super) places: Vec<bool>,
}

impl CopyLists {
    pub(super) fn new(selection: &Selection, request: &CopyRequest) -> CopyLists {
        let is_named = |root: &&PathBuf| !super::is_bare(root) && root.is_dir();
        let tops = selection.roots.iter().filter(is_named);
        CopyLists {
            kind: request.list,
            algorithm: request.algorithm.unwrap_or(Algorithm::Sha256),
            tops: tops.filter_map(|root| root.file_name().map(PathBuf::from)).collect(),
            known: BTreeSet::new(),
            chains: BTreeMap::new(),
            files: Vec::new(),
            folders: BTreeSet::new(),
        }
    }

    /// Returns the algorithms that the lists need, beside those of tags.
    pub(super) fn algorithms(&self) -> Vec<Algorithm> {
        match self.kind {
            ListKind::None => Vec::new(),
            ListKind::Bag => vec![self.algorithm],
            ListKind::Mhl(algorithm) => {
                { self.known.iter().copied().chain([algorithm]).collect::<BTreeSet<_>>() }
                    .into_iter()
                    .collect()
            }
        }
    }

    /// Says why the lists cannot name a file.
    pub(super) fn refusal(&self, relative: &Path) -> Option<String> {
        let is_text = |text: &str| !text.chars().any(char::is_control);
        match (self.kind, relative.to_str()) {
            (ListKind::None, _) => None,
            (ListKind::Bag, Some(_)) => None,
            (ListKind::Mhl(_), Some(text)) if is_text(text) => None,
            _ => Some("the list cannot have its name".to_owned()),
        }
    }

    /// Returns whether a file is the chain of a history. It is not copied: the chain at the
    /// destination has its lists, and the new one.
    pub(super) fn is_chain(&self, relative: &Path) -> bool {
        matches!(self.kind, ListKind::Mhl(_)) && relative.ends_with(Path::new(FOLDER).join(CHAIN))
    }

    /// Reads what the history of the source has: its chain, and the algorithms of its lists.
    ///
    /// # Errors
    /// If the chain cannot be read.
    pub(super) fn foresee(&mut self, entry: &Entry, relative: &Path) -> Result<(), String> {
        let Some(folder) = relative.parent().filter(|it| it.ends_with(FOLDER)) else {
            return Ok(());
        };
        if !matches!(self.kind, ListKind::Mhl(_)) {
            return Ok(());
        }
        let open = || {
            let file = entry.open().map_err(|error| error.to_string())?;
            Ok::<_, String>(BufReader::new(std::fs::File::from(file.into_fd())))
        };
        if self.is_chain(relative) {
            let lists = chain(open()?).map_err(|fault| fault.to_string())?;
            let history = folder.parent().unwrap_or(Path::new(""));
            self.chains.insert(history.to_owned(), lists);
        } else if relative.extension().is_some_and(|it| it == "mhl") {
            let records = read(Format::Mhl, None, open()?).flatten();
            self.known.extend(records.flat_map(|it| it.digests).map(|(algorithm, _)| algorithm));
        }
        Ok(())
    }

    pub(super) fn add(&mut self, file: ListedCopy) {
        if self.kind != ListKind::None {
            self.files.push(file);
        }
    }

    pub(super) fn add_folder(&mut self, relative: &Path) {
        self.folders.insert(relative.to_owned());
    }

    /// Writes the lists of a destination. Returns what went wrong, and whether a file differs from
    /// what an earlier generation says of it.
    pub(super) fn write(
        &self,
        (at, to): (usize, &Destination),
        now: Timestamp,
    ) -> (Vec<Notice>, bool) {
        let mut notices = Vec::new();
        let mut differ = false;
        let mut tell = |path: &Path, error: String| {
            notices.push(Notice::failure(format!("cannot write the list: {error}")).at(path));
        };
        match self.kind {
            ListKind::None => {}
            ListKind::Bag => {
                if let Err(error) = self.write_bag(at, to) {
                    tell(&to.path, error);
                }
            }
            ListKind::Mhl(_) => {
                for top in self.tops.iter().map(PathBuf::as_path).chain([Path::new("")]) {
                    match self.write_history(at, to, top, now) {
                        Ok(same) => differ |= !same,
                        Err(error) => tell(&to.path.join(top), error),
                    }
                }
            }
        }
        (notices, differ)
    }

    fn write_bag(&self, at: usize, to: &Destination) -> Result<(), String> {
        let record = |file: &ListedCopy| Record {
            path: file.relative.clone(),
            digests: file.digests.clone(),
            length: Some(file.status.length),
            mtime: None,
            tagged: None,
        };
        let mut records: BTreeMap<PathBuf, Record> = self
            .files
            .iter()
            .filter(|file| file.places[at])
            .map(|file| (file.relative.clone(), record(file)))
            .collect();
        if beneath::status(&to.path, Path::new("bagit.txt")).is_ok() {
            let bag = Bag::open(&to.path).map_err(|error| error.to_string())?;
            let expected = |it: &Problem| match it {
                Problem::Extra(path) => records.contains_key(path),
                Problem::Oxum { .. } => true,
                _ => false,
            };
            if let Some(problem) = bag.problems.iter().find(|problem| !expected(problem)) {
                return Err(format!("the bag that is there is not whole: {problem}"));
            }
            for record in bag.records.into_iter().filter(|it| it.path.starts_with("data")) {
                records.entry(record.path.clone()).or_insert(record);
            }
        }
        for record in records.values_mut() {
            record.digests.retain(|(algorithm, _)| *algorithm == self.algorithm);
        }
        let records: Vec<Record> = records.into_values().collect();
        let files = documents(&records, None).map_err(|error| error.to_string())?;
        let dir = to.open_dir(Path::new("")).map_err(|error| error.to_string())?;
        for (name, bytes) in &files {
            put(&dir, name, bytes, Existing::Replace).map_err(|error| error.to_string())?;
        }
        to.flush().map_err(|error| error.to_string())?;
        let bag = Bag::open(&to.path).map_err(|error| error.to_string())?;
        bag.problems.first().map_or(Ok(()), |problem| Err(format!("no whole bag: {problem}")))
    }

    /// Writes a generation of the history at `top`, and of those nested in it. Returns whether
    /// every file has the digests of earlier generations.
    fn write_history(
        &self,
        at: usize,
        to: &Destination,
        top: &Path,
        now: Timestamp,
    ) -> Result<bool, String> {
        let files: Vec<(&str, &ListedCopy)> = self
            .files
            .iter()
            .filter(|file| file.places[at])
            .filter_map(|file| Some((self.beneath(top, &file.relative)?.to_str()?, file)))
            .filter(|(path, _)| !MhlGeneration::ignores(path))
            .collect();
        if files.is_empty() {
            return Ok(true);
        }
        let root = to.path.join(top);
        // The deepest first: a list refers to those of the histories in it.
        let nested = self.chains.keys().filter_map(|it| self.beneath(top, it)?.to_str());
        let mut histories: BTreeSet<&str> = nested.collect();
        histories.insert("");
        let mut histories: Vec<&str> = histories.into_iter().collect();
        histories.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        let mut before = BTreeMap::new();
        for folder in &histories {
            before.insert(*folder, self.before(&root, top, folder)?);
        }
        let (mut generation, mut are_same) = (MhlGeneration::default(), true);
        let mut folders: BTreeSet<&Path> =
            self.folders.iter().filter_map(|it| self.beneath(top, it)).collect();
        for (path, file) in files {
            folders.extend(Path::new(path).ancestors().skip(1));
            let is_in = |folder: &&&str| Path::new(path).starts_with(folder);
            let folder = histories.iter().find(is_in).copied().unwrap_or_default();
            let inner = Path::new(path).strip_prefix(folder).unwrap_or(Path::new(path));
            let earlier = before.get(folder).and_then(|(_, earlier)| earlier.get(inner));
            let wanted = self.algorithms();
            let digests: Vec<(Algorithm, Digest)> =
                file.digests.iter().filter(|(it, _)| wanted.contains(it)).copied().collect();
            let facts = (file.status.length, file.status.mtime);
            let earlier = earlier.map(Vec::as_slice).unwrap_or_default();
            are_same &= generation.add_file(path, facts, &digests, earlier);
        }
        for folder in folders.into_iter().filter(|folder| !folder.as_os_str().is_empty()) {
            if let (Ok(status), Some(text)) = (beneath::status(&root, folder), folder.to_str()) {
                generation.add_folder(text, status.mtime);
            }
        }
        let host = machine::name();
        let place = MhlPlace { host, version: env!("CARGO_PKG_VERSION"), now };
        for folder in histories {
            let (lists, _) = before.remove(folder).unwrap_or_default();
            let text = generation.document(folder, &place);
            let named = write_generation(to, &top.join(folder), lists, &text, now)
                .map_err(|error| error.to_string())?;
            generation.refer(folder, named);
        }
        to.flush().map_err(|error| error.to_string())?;
        Ok(are_same)
    }

    /// Returns what of a path is beneath the root of a history: a copied folder, or the destination
    /// for files that are in none.
    fn beneath<'p>(&self, top: &Path, path: &'p Path) -> Option<&'p Path> {
        let first = path.iter().next().map(Path::new);
        match first.filter(|first| self.tops.contains(*first)) {
            Some(first) => path.strip_prefix(first).ok().filter(|_| first == top),
            None => Some(path).filter(|_| top.as_os_str().is_empty()),
        }
    }

    /// Returns the lists of a history so far, and what they say of each file. The destination has
    /// those of the source, and maybe further ones.
    fn before(
        &self,
        root: &Path,
        top: &Path,
        folder: &str,
    ) -> Result<(Vec<NamedList>, EarlierDigests), String> {
        let source = self.chains.get(&top.join(folder)).cloned().unwrap_or_default();
        let folder = Path::new(folder);
        let lists = match beneath::status(root, &folder.join(FOLDER).join(CHAIN)) {
            Ok(_) => read_chain(root, folder).map_err(|fault| fault.to_string())?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => source.clone(),
            Err(error) => return Err(error.to_string()),
        };
        if !lists.starts_with(&source) {
            return Err("another history is there".to_owned());
        }
        let earlier = earlier(root, folder, &lists).map_err(|fault| fault.to_string())?;
        Ok((lists, earlier))
    }
}

/// Refuses a destination with the bag of another program: its description would be lost.
pub(super) fn ensure_own_bag(to: &Path) -> Result<(), Error> {
    let read = || std::fs::read_to_string(to.join("bag-info.txt"));
    match beneath::status(to, Path::new("bagit.txt")).is_ok() {
        true if !read().is_ok_and(|text| text.starts_with(AGENT)) => {
            Err(Error::usage("a bag that another program made is there").at(to))
        }
        _ => Ok(()),
    }
}

/// Writes a list and its chain, and returns the list as others refer to it.
fn write_generation(
    to: &Destination,
    folder: &Path,
    mut lists: Vec<NamedList>,
    text: &str,
    now: Timestamp,
) -> io::Result<NamedList> {
    let dir = to.open_dir(folder)?;
    let dir = match dir.open_dir(FOLDER.as_ref()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => dir.make_dir(FOLDER.as_ref())?,
        opened => opened?,
    };
    let dir = Arc::new(dir);
    let number = lists.iter().filter_map(|list| list.number).max().unwrap_or(0) + 1;
    let whole = to.path.join(folder);
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    let path = list_name(number, &name, now);
    put(&dir, &path, text.as_bytes(), Existing::Keep)?;
    let mut hasher = AlgorithmHasher::new(Algorithm::Sha512);
    hasher.update(text.as_bytes());
    let named = NamedList { path, digest: hasher.finalize(), number: Some(number) };
    lists.push(named.clone());
    put(&dir, CHAIN, chain_document(&lists).as_bytes(), Existing::Replace)?;
    Ok(named)
}

fn put(dir: &Arc<Dir>, name: &str, bytes: &[u8], existing: Existing) -> io::Result<()> {
    let mut draft = Draft::new(dir)?;
    draft.write_all(bytes)?;
    draft.publish(name.as_ref(), existing)
}
