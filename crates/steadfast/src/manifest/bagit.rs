//! A bag as a whole: whether all expected files are there, and no others.
//!
//! Takes a bag's directory; returns the files to hash and the problems found so far. Lists the
//! directory and reads the bag's own files; does not open the payload. Does not follow symbolic
//! links. Holds every record in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use steadfast_digest::Algorithm;
use steadfast_sys::names::{NameBuf as _, NameBytes as _};

use steadfast_manifest::bagit::{algorithm_of, declaration, encode, fetched, oxum, records};

use super::{
    Conflict, DocumentPlace, Fault, FaultKind, Format, PathFault, Record, combine, confine, folded,
};

use crate::beneath::{self, FileKind};

pub use steadfast_manifest::bagit::{Oxum, Version, documents};

/// The contents of a bag, according to its own files and a listing.
#[derive(Clone, Debug)]
pub struct Bag {
    /// The version of its declaration; `None` if that cannot be read.
    pub version: Option<Version>,
    /// The size of the payload according to `bag-info.txt`.
    pub oxum: Option<Oxum>,
    /// Every listed file that exists, of the payload and of the bag itself, with all its digests
    /// and its actual length. These are to be hashed.
    pub records: Vec<Record>,
    /// The problems. Without any, the bag is complete. It is valid if the digests match as well.
    pub problems: Vec<Problem>,
}

/// A problem of a bag.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A file cannot be read, or is not valid.
    Fault {
        /// The file, or directory, relative to the bag.
        document: PathBuf,
        /// The fault.
        fault: Fault,
    },
    /// A manifest has a path that leads out of the bag, or to a file that the manifest must not
    /// list.
    Path {
        /// The manifest.
        document: PathBuf,
        /// The path.
        path: PathBuf,
        /// The fault; `None` if the path is only in the wrong part of the bag.
        fault: Option<PathFault>,
    },
    /// There is no manifest of the payload with a supported algorithm.
    NoManifest,
    /// `fetch.txt` lists files that must be fetched first, so the bag is not complete.
    Fetch {
        /// Number of files.
        files: u64,
    },
    /// A listed file does not exist.
    Missing(PathBuf),
    /// A file of the payload is in no manifest.
    Extra(PathBuf),
    /// A file of the payload is missing from one of several manifests, which version 1.0 forbids.
    Unlisted {
        /// The file.
        path: PathBuf,
        /// The algorithm of the manifest that lacks it.
        algorithm: Algorithm,
    },
    /// Something in the payload is neither a file nor a directory.
    Special(PathBuf),
    /// Two manifests contradict each other.
    Conflict(Conflict),
    /// The size of the payload differs from that in `bag-info.txt`.
    Oxum {
        /// The stated size.
        stated: Oxum,
        /// The actual size.
        found: Oxum,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Fault { document, fault } => write!(f, "`{}`: {fault}", document.display()),
            Problem::Path { document, path, fault } => {
                write!(f, "`{}`: `{}`: ", document.display(), path.display())?;
                match fault {
                    Some(fault) => write!(f, "{fault}"),
                    None => f.write_str("the manifest is not for files there"),
                }
            }
            Problem::NoManifest => f.write_str("there is no payload manifest that can be checked"),
            Problem::Fetch { files } => {
                write!(f, "`fetch.txt` lists {files} files that must be fetched first")
            }
            Problem::Missing(path) => write!(f, "`{}` is missing", path.display()),
            Problem::Extra(path) => write!(f, "`{}` is in no manifest", path.display()),
            Problem::Unlisted { path, algorithm } => {
                write!(f, "`{}` is not in the {algorithm} manifest", path.display())
            }
            Problem::Special(path) => {
                write!(f, "`{}` is neither a file nor a directory", path.display())
            }
            Problem::Conflict(conflict) => {
                write!(f, "manifests contradict each other on `{}`", conflict.path.display())
            }
            Problem::Oxum { stated, found } => {
                write!(f, "the payload has {found} bytes and files, `Payload-Oxum` says {stated}")
            }
        }
    }
}

impl Bag {
    /// Reads the bag's own files and lists its payload.
    ///
    /// # Errors
    ///
    /// If the directory itself cannot be listed. Any other error is a [`Problem`].
    pub fn open(root: &Path) -> io::Result<Bag> {
        let mut names: Vec<PathBuf> = Vec::new();
        beneath::directory(root, Path::new(""))?.entries(&mut |entry| {
            names.push(entry.name.into());
            ControlFlow::Continue(())
        })?;
        names.sort_unstable();
        let bag = Bag { version: None, oxum: None, records: Vec::new(), problems: Vec::new() };
        let (present, listed) = (BTreeMap::new(), BTreeMap::new());
        let mut reader = BagReader { root, bag, present, listed, forms: None };
        reader.declaration();
        reader.list(Path::new("data"));
        reader.fetch();
        let listed = reader.manifests(&names);
        reader.compare(listed);
        reader.oxum();
        Ok(reader.bag)
    }
}

/// A bag while it is read.
struct BagReader<'a> {
    root: &'a Path,
    bag: Bag,
    /// The files of the payload with their lengths.
    present: BTreeMap<PathBuf, u64>,
    /// The payload according to each manifest.
    listed: BTreeMap<Algorithm, BTreeSet<PathBuf>>,
    /// The payload by folded path, made when first needed; `None` for a path that two files share.
    forms: Option<HashMap<PathBuf, Option<PathBuf>>>,
}

impl BagReader<'_> {
    fn fault(&mut self, document: &Path, fault: Fault) {
        self.bag.problems.push(Problem::Fault { document: document.to_owned(), fault });
    }

    fn io_fault(&mut self, document: &Path, error: &io::Error) {
        self.fault(document, Fault::io(DocumentPlace::Document, error));
    }

    /// Opens one of the bag's own files; `None` if it does not exist or cannot be read.
    fn open(&mut self, name: &Path, needed: bool) -> Option<BufReader<File>> {
        match beneath::file(self.root, name) {
            Ok(file) => Some(BufReader::new(File::from(file.into_fd()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !needed => None,
            Err(error) => {
                self.io_fault(name, &error);
                None
            }
        }
    }

    fn declaration(&mut self) {
        let name = Path::new("bagit.txt");
        let Some(file) = self.open(name, true) else { return };
        match declaration(file) {
            Ok(version) => self.bag.version = Some(version),
            Err(fault) => self.fault(name, fault),
        }
    }

    /// Lists the files beneath a directory of the bag.
    fn list(&mut self, top: &Path) {
        let mut folders = vec![top.to_owned()];
        while let Some(folder) = folders.pop() {
            if let Err(error) = self.list_folder(&folder, &mut folders) {
                self.io_fault(&folder, &error);
            }
        }
    }

    fn list_folder(&mut self, folder: &Path, folders: &mut Vec<PathBuf>) -> io::Result<()> {
        let dir = beneath::directory(self.root, folder)?;
        let mut names: Vec<OsString> = Vec::new();
        dir.entries(&mut |entry| {
            names.push(entry.name.to_owned());
            ControlFlow::Continue(())
        })?;
        for name in names {
            let (path, status) = (folder.join(&name), dir.status_of(&name)?);
            match status.kind {
                FileKind::Directory => folders.push(path),
                FileKind::Regular => drop(self.present.insert(path, status.length)),
                _ => self.bag.problems.push(Problem::Special(path)),
            }
        }
        Ok(())
    }

    fn fetch(&mut self) {
        let name = Path::new("fetch.txt");
        let Some(file) = self.open(name, false) else { return };
        let files = fetched(file, |fault| self.fault(name, fault));
        if files > 0 {
            self.bag.problems.push(Problem::Fetch { files });
        }
    }

    /// Reads every manifest of the bag, those of the payload first, and returns their records.
    fn manifests(&mut self, names: &[PathBuf]) -> Vec<Record> {
        let (mut payload, mut own) = (Vec::new(), Vec::new());
        for name in names {
            let Some((tag, label)) = name.to_str().and_then(algorithm_of) else { continue };
            let Ok(algorithm) = label.parse::<Algorithm>() else {
                let what = format!("the algorithm `{}` is not known", label.escape_debug());
                self.fault(name, Fault::new(DocumentPlace::Document, FaultKind::Unsupported, what));
                continue;
            };
            let into = if tag { &mut own } else { &mut payload };
            self.manifest(name, algorithm, tag, into);
        }
        if self.listed.is_empty() {
            self.bag.problems.push(Problem::NoManifest);
        }
        payload.append(&mut own);
        payload
    }

    fn manifest(&mut self, name: &Path, algorithm: Algorithm, tag: bool, into: &mut Vec<Record>) {
        let Some(file) = self.open(name, true) else { return };
        // Bags without a declaration are read as most tools would have written them.
        let version = self.bag.version.unwrap_or(Version { major: 0, minor: 97 });
        let mut listed = BTreeSet::new();
        for record in records(file, Some(algorithm), version) {
            let mut record = match record {
                Ok(record) => record,
                Err(fault) => {
                    let ended = fault.kind == FaultKind::Io;
                    self.fault(name, fault);
                    if ended {
                        break;
                    }
                    continue;
                }
            };
            let confined = confine(&record.path, Format::Bagit);
            let fault = confined.as_ref().err().copied();
            match confined {
                Ok(path) if path.starts_with("data") != tag => {
                    record.path = self.present_form(path)
                }
                _ => {
                    let (document, path) = (name.to_owned(), record.path);
                    self.bag.problems.push(Problem::Path { document, path, fault });
                    continue;
                }
            }
            listed.insert(record.path.clone());
            into.push(record);
        }
        if !tag {
            self.listed.entry(algorithm).or_default().append(&mut listed);
        }
    }

    /// Returns the path under which the file exists. Some tools never encode `%`, and some systems
    /// change the form of accented letters. If the exact path does not exist, its other forms are
    /// tried.
    fn present_form(&mut self, path: PathBuf) -> PathBuf {
        if self.present.contains_key(&path) || !path.starts_with("data") {
            return path;
        }
        let encoded = PathBuf::from_vec(encode(path.as_bytes()));
        if self.present.contains_key(&encoded) {
            return encoded;
        }
        let forms = self.forms.get_or_insert_with(|| {
            let mut forms: HashMap<PathBuf, Option<PathBuf>> = HashMap::new();
            for present in self.present.keys() {
                let form = forms.entry(folded(present));
                form.and_modify(|known| *known = None).or_insert_with(|| Some(present.clone()));
            }
            forms
        });
        forms.get(&folded(&path)).cloned().flatten().unwrap_or(path)
    }

    /// Compares the lists with the existing files.
    fn compare(&mut self, records: Vec<Record>) {
        let combined = combine(records);
        self.bag.problems.extend(combined.conflicts.into_iter().map(Problem::Conflict));
        for mut record in combined.records {
            let length = match record.path.starts_with("data") {
                true => self.present.get(&record.path).copied(),
                false => self.own_length(&record.path),
            };
            match length {
                Some(length) => {
                    record.length = Some(length);
                    self.bag.records.push(record);
                }
                None => self.bag.problems.push(Problem::Missing(record.path)),
            }
        }
        let in_all = self.bag.version.is_some_and(|version| version >= Version::ENCODES_PERCENT);
        for path in self.present.keys() {
            let lacking = self.listed.iter().filter(|(_, listed)| !listed.contains(path));
            let lacking: Vec<Algorithm> = lacking.map(|(algorithm, _)| *algorithm).collect();
            if lacking.len() == self.listed.len() {
                self.bag.problems.push(Problem::Extra(path.clone()));
            } else if in_all {
                let unlisted = |algorithm| Problem::Unlisted { path: path.clone(), algorithm };
                self.bag.problems.extend(lacking.into_iter().map(unlisted));
            }
        }
    }

    /// Returns the length of one of the bag's own files, if no part of its path is a symbolic link.
    fn own_length(&self, path: &Path) -> Option<u64> {
        let status = beneath::status(self.root, path).ok()?;
        (status.kind == FileKind::Regular).then_some(status.length)
    }

    fn oxum(&mut self) {
        let name = Path::new("bag-info.txt");
        let Some(file) = self.open(name, false) else { return };
        match oxum(file) {
            Ok(stated) => self.bag.oxum = stated,
            Err(fault) => self.fault(name, fault),
        }
        let bytes = self.present.values().fold(0_u64, |sum, length| sum.saturating_add(*length));
        let found = Oxum { bytes, files: self.present.len() as u64 };
        if let Some(stated) = self.bag.oxum
            && stated != found
        {
            self.bag.problems.push(Problem::Oxum { stated, found });
        }
    }
}
