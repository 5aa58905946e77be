//! A missing name of a file that has other names: it comes back as a link to it.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use steadfast_sys::file::{FileKind, Status};

use super::mend::digest_matches;
use super::originals::Originals;
use super::records::MissingRecords;
use super::replace::make_directory;
use super::target::RepairTarget;
use super::{RepairSource, changed, refused, system};
use crate::belongings::Withheld;
use crate::beneath;
use crate::catalogue::SameInode;
use crate::event::FileError;
use crate::identity::{CandidateFile, FileTraits, NameState, Observed, WhichFile, identity};

/// What became of a missing name.
pub(super) struct LinkedName {
    pub(super) source: RepairSource,
    /// The status of the file, if the name was made.
    pub(super) status: Option<Status>,
    pub(super) withheld: Vec<Withheld>,
}

/// Another name of the file, open and proved.
struct Sibling {
    dir: beneath::Dir,
    path: PathBuf,
    status: Status,
}

/// Makes a missing name again as a link to another name of its file, if the catalogue knows one
/// that is as the tag says. `None` if there is none. Without `originals`, nothing is made.
///
/// # Errors
/// If the name cannot be made, or the run was stopped.
pub(super) fn link(
    target: &RepairTarget,
    records: &MissingRecords,
    originals: Option<&Originals>,
    stop: &AtomicBool,
) -> Result<Option<LinkedName>, FileError> {
    let Some(others) = same_inode(target, records) else { return Ok(None) };
    let Some(sibling) = find(target, &others, originals, stop)? else { return Ok(None) };
    let whole = 0..target.tag.length;
    let path = target.root.join(&sibling.path);
    let source = RepairSource { ranges: vec![whole], ..RepairSource::at(&path) };
    let mut linked = LinkedName { source, status: None, withheld: Vec::new() };
    if originals.is_none() {
        return Ok(Some(linked));
    }
    let name = target.relative.file_name().ok_or_else(|| refused("it has no name"))?;
    let parent = target.relative.parent().unwrap_or(Path::new(""));
    let made = make_directory(&target.root, parent, records);
    let made = made.map_err(system("open its folder"))?;
    let from = sibling.path.file_name().ok_or_else(|| refused("it has no name"))?;
    if let Err(error) = sibling.dir.link_to(from, &made.dir, name) {
        // Its contents come back, and it is told that they are those of a file of their own.
        return match error.kind() {
            std::io::ErrorKind::AlreadyExists => Err(system("put it in place")(error)),
            _ => Ok(None),
        };
    }
    let is_same = made
        .dir
        .status_of(name)
        .is_ok_and(|now| (now.device, now.inode) == (sibling.status.device, sibling.status.inode));
    if !is_same {
        // The other name was replaced meanwhile, so this one leads to what was not proved.
        let _ = made.dir.remove_file(name);
        return Err(changed("its other name was changed meanwhile"));
    }
    made.dir.flush().map_err(system("put it in place"))?;
    linked.status = made.dir.status_of(name).ok();
    linked.withheld = made.finish();
    Ok(Some(linked))
}

/// Says what is lost if a name comes back as a file of its own.
pub(super) fn lost_links(target: &RepairTarget, records: &MissingRecords) -> Option<Withheld> {
    let path = target.relative.clone();
    let lost = |reason: String| Withheld { path, what: "links".to_owned(), reason };
    let Some(others) = same_inode(target, records) else {
        // Parity does not say which names they were.
        let reason = "it was one of several names (hard links) of a file";
        let is_unknown = records.catalogue().is_none() && records.had_links();
        return is_unknown.then(|| lost(reason.to_owned()));
    };
    // If all names are missing, the first one is made anew and the others become links to it.
    let is_first = others.names.len() as u64 + 1 >= others.links
        && others.names.iter().all(|(_, is_missing)| *is_missing);
    let reason = format!("it was one of {} names (hard links) of a file", others.links);
    (!is_first).then(|| lost(reason))
}

/// Returns the other names of a file that had several when it was seen last.
fn same_inode(target: &RepairTarget, records: &MissingRecords) -> Option<SameInode> {
    let catalogue = records.catalogue()?;
    let real = target.root.join(&target.relative);
    let path = real.strip_prefix(catalogue.root()).ok()?;
    if catalogue.root() != target.root {
        return None;
    }
    catalogue.same_inode(path, &target.names).ok().flatten().filter(|others| others.links > 1)
}

/// Finds a name that still leads to the file, or to what was repaired in its place, and proves it.
fn find(
    target: &RepairTarget,
    others: &SameInode,
    originals: Option<&Originals>,
    stop: &AtomicBool,
) -> Result<Option<Sibling>, FileError> {
    for (path, _) in &others.names {
        let Some(name) = path.file_name() else { continue };
        let parent = path.parent().unwrap_or(Path::new(""));
        let Ok(dir) = beneath::directory(&target.root, parent) else { continue };
        let Ok(file) = dir.open_file(name) else { continue };
        let Ok(status) = file.status() else { continue };
        if status.kind != FileKind::Regular || status.length != target.tag.length {
            continue;
        }
        let is_repaired = originals.is_some_and(|originals| originals.has_repaired(path));
        if !is_repaired && !may_be(&status, target, others) {
            continue;
        }
        let _ = file.set_uncached();
        match digest_matches(&file, &target.tag, stop) {
            Ok(true) => return Ok(Some(Sibling { dir, path: path.clone(), status })),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                return Err(FileError::from_io("read its other name", &error));
            }
            Ok(false) | Err(_) => {}
        }
    }
    Ok(None)
}

/// Returns whether the file at another name may be that of the missing name, before it is read.
fn may_be(status: &Status, target: &RepairTarget, others: &SameInode) -> bool {
    let traits = |inode, length, mtime| {
        let (inode, length, mtime) = (Some(inode), Some(length), Some(mtime));
        FileTraits { inode, length, mtime, birth: None }
    };
    let known = CandidateFile {
        traits: traits(others.inode, target.tag.length, target.mtime()),
        ..CandidateFile::tagged(&target.tag, NameState::Unknown)
    };
    let observed = Observed::unread(traits(status.inode, status.length, status.mtime));
    identity(&observed, &[known]).answer != WhichFile::New
}
