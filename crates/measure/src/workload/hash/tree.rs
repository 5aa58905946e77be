//! Counts the files of a folder by length, and draws some of them.
//!
//! Reads names and statuses and opens no file. Memory is bounded for any tree, because only a
//! sample of each class is kept.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use steadfast::catalogue::{FILE, FOLDER};
use steadfast::store::is_sidecar;

use crate::random::Random;
use crate::record::Files;
use crate::runner::{End, Session};

/// The longest file of each class but the last: the length that a run reads whole, the length that
/// fits a cache, and so on.
pub(super) const CLASS_LEN_BYTES_MAX: [u64; 4] = [64 << 10, 1 << 20, 16 << 20, 128 << 20];

/// The most files that are kept of each class.
const SAMPLE_LEN_MAX: usize = 8_192;

/// The most hard-linked files that are recognised by another name.
const LINKED_FILES_MAX: usize = 100_000;

/// Files between two checks of the stop flag.
const FILES_PER_LOOK: u64 = 1_000;

/// A file of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SampledFile {
    pub(super) path: PathBuf,
    pub(super) length: u64,
}

/// Files of about one length.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    pub(super) files: Files,
    /// The sample, in the order of drawing. Each file of the class is equally likely to be in it.
    pub(super) sample: Vec<SampledFile>,
}

/// The files of a folder.
#[derive(Clone, Debug, Default)]
pub(super) struct FolderSample {
    /// By rising length.
    pub(super) classes: [Class; CLASS_LEN_BYTES_MAX.len() + 1],
    /// Directories and files that could not be examined.
    pub(super) unseen: u64,
}

impl FolderSample {
    /// Walks a folder as a check does: does not follow links, counts hard-linked files once, and
    /// leaves out the catalogue's folder and sidecars.
    ///
    /// # Errors
    ///
    /// If the folder itself cannot be listed, or it was stopped.
    pub(super) fn walk(
        session: &mut Session<'_>,
        root: &Path,
        random: &mut Random,
    ) -> Result<FolderSample, End> {
        let mut tree = FolderSample::default();
        let mut seen = HashSet::new();
        let mut folders = vec![root.to_owned()];
        let mut looked = 0;
        while let Some(folder) = folders.pop() {
            session.doing("counting files")?;
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if folder == root => {
                    let error = crate::Error::system("list it", error);
                    return Err(error.at(root).into());
                }
                Err(_) => {
                    tree.unseen += 1;
                    continue;
                }
            };
            for entry in entries {
                looked += 1;
                if looked % FILES_PER_LOOK == 0 {
                    session.doing("counting files")?;
                }
                match sort_entry(entry, &mut seen) {
                    Ok(SampledEntry::Folder(path)) => folders.push(path),
                    Ok(SampledEntry::File(file)) => tree.add_file(file, random),
                    Ok(SampledEntry::Other) => {}
                    Err(_) => tree.unseen += 1,
                }
            }
        }
        for class in &mut tree.classes {
            random.shuffle(&mut class.sample);
        }
        Ok(tree)
    }

    /// Counts a file, and keeps it with the same probability as every other file of its class.
    ///
    /// Source: J. S. Vitter, "Random sampling with a reservoir", ACM Transactions on Mathematical
    /// Software 11 (1985), number 1, algorithm R.
    fn add_file(&mut self, file: SampledFile, random: &mut Random) {
        let class = CLASS_LEN_BYTES_MAX.iter().take_while(|&&max| file.length > max).count();
        let Class { files, sample } = &mut self.classes[class];
        files.files += 1;
        files.bytes += file.length;
        if sample.len() < SAMPLE_LEN_MAX {
            sample.push(file);
        } else if let Ok(place) = usize::try_from(random.below(files.files))
            && place < SAMPLE_LEN_MAX
        {
            sample[place] = file;
        }
    }
}

/// The kind of an entry.
enum SampledEntry {
    Folder(PathBuf),
    File(SampledFile),
    Other,
}

fn sort_entry(
    entry: io::Result<fs::DirEntry>,
    seen: &mut HashSet<(u64, u64)>,
) -> io::Result<SampledEntry> {
    let entry = entry?;
    let kind = entry.file_type()?;
    if kind.is_dir() {
        let path = entry.path();
        let is_catalogue = entry.file_name() == FOLDER && path.join(FILE).is_file();
        return Ok(if is_catalogue { SampledEntry::Other } else { SampledEntry::Folder(path) });
    }
    if !kind.is_file() {
        return Ok(SampledEntry::Other);
    }
    let path = entry.path();
    if path.parent().is_some_and(|folder| is_sidecar(folder, Path::new(&entry.file_name()))) {
        return Ok(SampledEntry::Other);
    }
    let status = entry.metadata()?;
    if status.nlink() > 1
        && seen.len() < LINKED_FILES_MAX
        && !seen.insert((status.dev(), status.ino()))
    {
        return Ok(SampledEntry::Other);
    }
    Ok(SampledEntry::File(SampledFile { path, length: status.len() }))
}
