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
use steadfast_manifest::mhl::{CHAIN, FOLDER, IGNORED, MhlGeneration, MhlPlace, NamedList, chain};
use steadfast_manifest::mhl::{chain_document, list_name};
use steadfast_sys::file::{Dir, Draft, Existing, Status, Timestamp};
use steadfast_sys::machine;

use super::destination::Destination;
use super::result::{CopyRequest, ListKind};
use crate::advice::counted;
use crate::beneath;
use crate::error::Error;
use crate::event::Notice;
use crate::manifest::bagit::{Bag, Problem, documents};
use crate::manifest::mhl::{EarlierLists, earlier, read_chain};
use crate::manifest::{Format, Record, read};
use crate::selection::Selection;
use crate::walk::{Entry, Excludes};

/// What a bag of ours says in `bag-info.txt`.
const AGENT: &str = "Bag-Software-Agent: steadfast\n";

/// What is gathered for the lists.
pub(super) struct CopyLists {
    kind: ListKind,
    /// The algorithm of the copy's tags.
    algorithm: Algorithm,
    /// Names of the copied folders: each is the root of a history.
    tops: BTreeSet<PathBuf>,
    /// Algorithms of the lists that the source has.
    known: BTreeSet<Algorithm>,
    /// Chains of the source, by the folder of their history; `None` if there are lists alone.
    chains: BTreeMap<PathBuf, Option<Vec<NamedList>>>,
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
        let is_named = |root: &&PathBuf| !super::sources::is_bare(root) && beneath::is_folder(root);
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
        let history = folder.parent().unwrap_or(Path::new("")).to_owned();
        if self.is_chain(relative) {
            let lists = chain(open()?).map_err(|fault| fault.to_string())?;
            self.chains.insert(history, Some(lists));
        } else if relative.extension().is_some_and(|it| it == "mhl") {
            self.chains.entry(history).or_default();
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
        let failed = |path: &Path, error: String| {
            Notice::failure(format!("cannot write the list: {error}")).at(path)
        };
        match self.kind {
            ListKind::None => {}
            ListKind::Bag => {
                let written = self.write_bag(at, to);
                notices.extend(written.err().map(|error| failed(&to.path, error)));
            }
            ListKind::Mhl(_) => {
                for top in self.tops.iter().map(PathBuf::as_path).chain([Path::new("")]) {
                    match self.write_history(at, to, top, now) {
                        Ok((same, missing)) => {
                            differ |= !same;
                            notices.extend(missing);
                        }
                        Err(error) => notices.push(failed(&to.path.join(top), error)),
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
            parts: None,
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
    /// every file has the digests of earlier generations, and what to say of files that are gone.
    fn write_history(
        &self,
        at: usize,
        to: &Destination,
        top: &Path,
        now: Timestamp,
    ) -> Result<(bool, Option<Notice>), String> {
        let all = || {
            let files = self.files.iter();
            files.filter_map(|file| Some((self.beneath(top, &file.relative)?, file)))
        };
        if !all().any(|(_, file)| file.places[at]) {
            return Ok((true, None));
        }
        let root = to.path.join(top);
        let before = self.earlier_lists(&root, top)?;
        let ignored = &before.last().ok_or("there is no topmost history")?.ignored;
        let excludes = Excludes::new(ignored).map_err(|error| error.to_string())?;
        let is_ignored =
            |path: &Path| path.ancestors().any(|above| excludes.matches(above, above != path));
        let seen: BTreeMap<&Path, &ListedCopy> =
            all().filter(|(path, _)| !is_ignored(path)).collect();
        if !seen.values().any(|file| file.places[at]) {
            return Ok((true, None));
        }
        let (mut generation, mut are_same) = (MhlGeneration::default(), true);
        // Also one that has nothing but what is left out.
        let copied = all().filter(|(_, file)| file.places[at]);
        let folders: BTreeSet<&Path> = copied
            .flat_map(|(path, _)| path.ancestors().skip(1))
            .chain(self.folders.iter().filter_map(|it| self.beneath(top, it)))
            .filter(|folder| !folder.as_os_str().is_empty() && !is_ignored(folder))
            .collect();
        let wanted = self.algorithms();
        for (path, file) in seen.iter().filter(|(_, file)| file.places[at]) {
            let Some(text) = path.to_str() else { continue };
            let history = before.iter().find(|it| path.starts_with(&it.folder));
            let known = history
                .and_then(|it| it.lists.digests.get(path.strip_prefix(&it.folder).unwrap_or(path)));
            let digests: Vec<(Algorithm, Digest)> =
                file.digests.iter().filter(|(it, _)| wanted.contains(it)).copied().collect();
            let facts = (file.status.length, file.status.mtime);
            let known = known.map(Vec::as_slice).unwrap_or_default();
            are_same &= generation.add_file(text, facts, &digests, known);
        }
        for folder in folders {
            if let (Ok(status), Some(text)) = (beneath::status(&root, folder), folder.to_str()) {
                generation.add_folder(text, status.mtime);
            }
        }
        let is_there = |path: &Path| seen.contains_key(path) || is_ignored(path);
        let missing = missing(&root, &before, &is_there);
        let place = MhlPlace { host: machine::name(), version: env!("CARGO_PKG_VERSION"), now };
        for EarlierHistory { folder, chain, ignored, .. } in before {
            let text = generation.document(&folder, &ignored, &place);
            let named = write_generation(to, &top.join(&folder), chain, &text, now)
                .map_err(|error| error.to_string())?;
            generation.refer(&folder, named);
        }
        to.flush().map_err(|error| error.to_string())?;
        Ok((are_same, missing))
    }

    /// Returns the history at `top` and those in it, as they are so far; the deepest first, because
    /// a list refers to those of the histories in it.
    fn earlier_lists(&self, root: &Path, top: &Path) -> Result<Vec<EarlierHistory>, String> {
        let nested = self.chains.keys().filter_map(|it| self.beneath(top, it)?.to_str());
        let mut folders: Vec<&str> = nested.filter(|folder| !folder.is_empty()).collect();
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        folders.push("");
        let mut all = Vec::new();
        for folder in folders {
            let (chain, lists) = self.before(root, top, folder)?;
            let ignored = match lists.ignored.is_empty() {
                true => IGNORED.map(str::to_owned).to_vec(),
                false => lists.ignored.clone(),
            };
            all.push(EarlierHistory { folder: folder.to_owned(), chain, lists, ignored });
        }
        // As the reference implementation does, the patterns of the topmost one go for all.
        let of_top = all.last().map(|it| it.ignored.clone()).unwrap_or_default();
        for history in &mut all {
            let more = of_top.iter().filter(|it| !history.ignored.contains(it));
            let more: Vec<String> = more.cloned().collect();
            history.ignored.extend(more);
        }
        Ok(all)
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
    ) -> Result<(Vec<NamedList>, EarlierLists), String> {
        let source = match self.chains.get(&top.join(folder)) {
            Some(None) => return Err(format!("`{folder}` has lists without a chain")),
            Some(Some(lists)) => lists.clone(),
            None => Vec::new(),
        };
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

/// A history so far.
struct EarlierHistory {
    /// Its folder, beneath the topmost history.
    folder: String,
    chain: Vec<NamedList>,
    lists: EarlierLists,
    /// The patterns of what its next list leaves out.
    ignored: Vec<String>,
}

/// Says which files of the latest lists are no longer there.
fn missing(
    root: &Path,
    histories: &[EarlierHistory],
    is_there: &dyn Fn(&Path) -> bool,
) -> Option<Notice> {
    let latest = histories.iter().flat_map(|history| {
        history.lists.latest.iter().map(|path| Path::new(&history.folder).join(path))
    });
    let mut missing = latest.filter(|path| !is_there(path));
    let first = missing.next()?;
    let mut text = String::from("the latest list of its history has it, and it was not copied");
    let more = missing.count() as u64;
    if more > 0 {
        text.push_str(&format!("; nor {}", counted(more, "further file", "further files")));
    }
    Some(Notice::new(text).at(&root.join(first)))
}

/// Refuses a destination with the bag of another program: its description would be lost.
pub(super) fn ensure_own_bag(to: &Path) -> Result<(), Error> {
    let read = || {
        let file = beneath::file(to, Path::new("bag-info.txt"))?;
        io::read_to_string(std::fs::File::from(file.into_fd()))
    };
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
    let mut draft = Draft::document(dir)?;
    draft.write_all(bytes)?;
    draft.publish(name.as_ref(), existing)
}
