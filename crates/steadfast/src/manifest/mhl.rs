//! A history of ASC MHL: its chain, the lists of nested histories, and what earlier lists say.
//!
//! Opens lists beneath the root of the history only, and follows no link.

use std::collections::HashMap;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};
use steadfast_manifest::mhl::{CHAIN, FOLDER, NamedList, chain, ignored, references};

pub use steadfast_manifest::mhl::{algorithm_of, element_of};

use super::{DocumentPlace, Fault, Format, Record, confine, root_of};
use crate::beneath;

/// How deep histories may be nested.
const DEPTH_MAX: usize = 16;

/// What a list does not say itself.
#[derive(Clone, Debug, Default)]
pub struct MhlSurroundings {
    /// Records of nested histories, with paths beneath the root of the list.
    pub records: Vec<Record>,
    /// The problems: a list that is not the one of its chain, or of the list that refers to it.
    pub problems: Vec<String>,
}

impl MhlSurroundings {
    /// Compares a list with the chain beside it, and reads the lists of nested histories.
    pub fn of(document: &Path) -> MhlSurroundings {
        let mut found = MhlSurroundings::default();
        let root = root_of(Format::Mhl, document);
        let Ok(list) = document.strip_prefix(&root).or_else(|_| document.strip_prefix(".")) else {
            return found;
        };
        if list.parent() == Some(Path::new(FOLDER)) {
            found.chain(&root, Path::new(""), list);
        }
        found.nested(&root, list, Path::new(""), 0);
        found
    }

    /// Compares every list of the history in a folder with its chain, which must have `list`.
    fn chain(&mut self, root: &Path, folder: &Path, list: &Path) {
        let path = folder.join(FOLDER).join(CHAIN);
        let lists = match read_chain(root, folder) {
            Ok(lists) => lists,
            Err(fault) => return self.problems.push(format!("`{}`: {fault}", path.display())),
        };
        let name = list.file_name().and_then(|name| name.to_str());
        if !lists.iter().any(|it| Some(&*it.path) == name) {
            let what = format!("`{}` does not have `{}`", path.display(), list.display());
            self.problems.push(what);
        }
        for it in &lists {
            self.compare(root, &folder.join(FOLDER).join(&it.path), &it.digest);
        }
    }

    /// Notes a problem unless a list has the bytes of its digest.
    fn compare(&mut self, root: &Path, list: &Path, digest: &Digest) -> bool {
        let confined = confine(list, Format::Mhl).map_err(|fault| fault.to_string());
        let found = confined.and_then(|path| {
            let file = open(root, &path).map_err(|error| error.to_string())?;
            sha512_of(file).map_err(|error| error.to_string())
        });
        let problem = match found {
            Ok(found) if found == *digest => return true,
            Ok(_) => "its bytes are not those that its chain or reference names".to_owned(),
            Err(reason) => reason,
        };
        self.problems.push(format!("`{}`: {problem}", list.display()));
        false
    }

    /// Reads the lists that `list`, beneath `at`, refers to.
    fn nested(&mut self, root: &Path, list: &Path, at: &Path, depth: usize) {
        let Ok(references) = open(root, &at.join(list))
            .map_err(drop)
            .and_then(|file| references(BufReader::new(file)).map_err(drop))
        else {
            // Whoever reads its records tells why.
            return;
        };
        for reference in references {
            let path = Path::new(&reference.path);
            let inner = path.parent().and_then(Path::parent).map(|inner| at.join(inner));
            let Some(inner) = inner.filter(|_| depth < DEPTH_MAX) else {
                self.problems.push(format!("`{}`: a list that is not nested", path.display()));
                continue;
            };
            let whole = at.join(path);
            if !self.compare(root, &whole, &reference.digest) {
                continue;
            }
            let Ok(file) = open(root, &whole) else { continue };
            for record in super::read(Format::Mhl, None, BufReader::new(file)) {
                match record.map(|it| Record { path: inner.join(&it.path), ..it }) {
                    Ok(record) => self.records.push(record),
                    Err(fault) => self.problems.push(format!("`{}`: {fault}", whole.display())),
                }
            }
            let list = whole.strip_prefix(&inner).unwrap_or(path).to_owned();
            self.chain(root, &inner, &list);
            self.nested(root, &list, &inner, depth + 1);
        }
    }
}

/// What the lists of a history say so far.
#[derive(Default)]
pub(crate) struct EarlierLists {
    /// Of each file, its first digest of each algorithm.
    pub(crate) digests: HashMap<PathBuf, Vec<(Algorithm, Digest)>>,
    /// The files of the latest list.
    pub(crate) latest: Vec<PathBuf>,
    /// The patterns of what the latest list leaves out.
    pub(crate) ignored: Vec<String>,
}

/// Reads all lists of the history in a folder beneath a root, of which the chain names these.
///
/// # Errors
/// If one is missing, or not the one that the chain names.
pub(crate) fn earlier(
    root: &Path,
    folder: &Path,
    lists: &[NamedList],
) -> Result<EarlierLists, Fault> {
    let mut all = EarlierLists::default();
    for list in lists {
        let path = folder.join(FOLDER).join(&list.path);
        let fault = |what: String| {
            let what = format!("`{}`: {what}", path.display());
            Fault::new(DocumentPlace::Document, super::FaultKind::Check, what)
        };
        let opened = || open(root, &path).map_err(|error| fault(error.to_string()));
        let digest = sha512_of(opened()?).map_err(|error| fault(error.to_string()))?;
        if digest != list.digest {
            return Err(fault("it is not the list that the chain names".to_owned()));
        }
        all.latest.clear();
        all.ignored = ignored(BufReader::new(opened()?))?;
        for record in super::read(Format::Mhl, None, BufReader::new(opened()?)) {
            // A file whose check had failed has no digest to compare with.
            let Ok(record) = record else { continue };
            all.latest.push(record.path.clone());
            let known = all.digests.entry(record.path).or_default();
            for (algorithm, digest) in record.digests {
                if !known.iter().any(|(it, _)| *it == algorithm) {
                    known.push((algorithm, digest));
                }
            }
        }
    }
    Ok(all)
}

/// Reads the chain of the history in a folder beneath a root.
///
/// # Errors
/// If there is none, or it cannot be read.
pub(crate) fn read_chain(root: &Path, folder: &Path) -> Result<Vec<NamedList>, Fault> {
    let file = open(root, &folder.join(FOLDER).join(CHAIN));
    let file = file.map_err(|error| Fault::io(DocumentPlace::Document, &error))?;
    chain(BufReader::new(file))
}

fn open(root: &Path, path: &Path) -> io::Result<std::fs::File> {
    Ok(std::fs::File::from(beneath::file(root, path)?.into_fd()))
}

fn sha512_of(mut file: impl Read) -> io::Result<Digest> {
    let mut hasher = AlgorithmHasher::new(Algorithm::Sha512);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize()),
            len => hasher.update(&buffer[..len]),
        }
    }
}
