//! Repairs that were cut off: what a check says of them, and how the next repair ends them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use steadfast_digest::AlgorithmHasher;
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{AlignedBuffer, File};

use super::in_place::{each_page, keep, prove};
use super::journal::RepairJournal;
use super::links::ensure_all_beneath;
use super::mend::{SPAN_LEN, go_on};
use super::originals::Originals;
use super::unfinished::{Remains, Unfinished};
use crate::beneath;
use crate::catalogue::{Catalogue, CatalogueReader};
use crate::error::Error;
use crate::event::{FileError, FilePath, Notice};
use crate::pages::Descriptor;
use crate::run::{CatalogueUse, Options};
use crate::selection::Selection;
use crate::store::xattr::Xattr;
use crate::store::{Store as _, StoredTag};
use crate::tree_folder::is_within_ours;

/// Says which repairs of the trees of a selection were cut off. Writes nothing.
pub(crate) fn tell_of(selection: &Selection) -> Vec<Notice> {
    let mut told = Vec::new();
    for root in roots_of(selection) {
        let remains = match Remains::of(&root) {
            Ok(remains) => remains,
            Err(error) => {
                let text = format!(
                    "it cannot be told whether a repair in place was cut off here: {error}. Run \
                     `steadfast repair` as the user who repaired"
                );
                told.push(Notice::failure(text).at(&root));
                continue;
            }
        };
        for path in remains.in_place {
            let text = "a repair in place was cut off here: `steadfast repair` finishes it";
            told.push(Notice::failure(text).at(&path));
        }
        if remains.has_others {
            let text = "a repair of this tree was cut off, or goes on: the next `steadfast repair` \
                        clears up what it left in .steadfast/damaged/unfinished";
            told.push(Notice::new(text).at(&root));
        }
    }
    told
}

/// Fails if a repair in place of the trees of a selection was cut off: a half-written file looks
/// edited, and must not be tagged.
///
/// # Errors
/// `Usage` if there is such a file.
pub(crate) fn ensure_finished(selection: &Selection) -> Result<(), Error> {
    match tell_of(selection).into_iter().find(|notice| notice.status != 0) {
        Some(Notice { text, path: Some(path), .. }) => Err(Error::usage(text).at(&path)),
        _ => Ok(()),
    }
}

/// Ends the repairs of the trees of a selection that were cut off. Returns what to say of them.
pub(super) fn end(
    selection: &Selection,
    options: &Options,
    originals: &mut BTreeMap<PathBuf, Originals>,
) -> Vec<Notice> {
    let mut told = Vec::new();
    for root in roots_of(selection) {
        let originals = originals.entry(root.clone()).or_insert_with(|| Originals::of(&root));
        if let Err(error) = end_in(&root, options, originals, &mut told) {
            let text = format!("a repair that was cut off cannot be cleared up: {error}");
            told.push(Notice::failure(text).at(&root));
        }
    }
    told
}

/// Returns the roots of the trees at or above a selection in which repairs left something.
fn roots_of(selection: &Selection) -> BTreeSet<PathBuf> {
    // What is selected itself may be missing.
    let selected = selection.roots.iter().chain(&selection.listed);
    let folders: BTreeSet<&Path> = selected.filter_map(|path| path.parent()).collect();
    let selected = selection.roots.iter().map(PathBuf::as_path).chain(folders);
    let here = |path: &Path| match path.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => path.to_owned(),
    };
    let real = selected.filter_map(|path| here(path).canonicalize().ok());
    real.flat_map(|path| path.ancestors().map(Path::to_owned).collect::<Vec<_>>())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .filter(|root| Remains::are_in(root))
        .collect()
}

fn end_in(
    root: &Path,
    options: &Options,
    originals: &Originals,
    told: &mut Vec<Notice>,
) -> io::Result<()> {
    for relative in originals.clear_up()? {
        let text = "kept the damaged file of a repair that was cut off";
        told.push(Notice::new(text).at(&root.join(relative)));
    }
    let work = originals.work()?;
    for name in work.journals()? {
        let (path, ended) = match work.journal(&name) {
            Ok(journal) => {
                let path = root.join(&journal.subject.relative);
                (path, end_journal(root, options, &journal, work, originals))
            }
            // It was whole when its first page was used.
            Err(error) => (root.to_owned(), Err(error)),
        };
        told.push(match ended {
            Ok(true) => Notice::new("finished a repair in place that was cut off"),
            Ok(false) => Notice::failure(
                "a repair in place was cut off, and the file was changed since: it is left as it \
                 is",
            ),
            Err(error) => Notice::failure(format!(
                "a repair in place was cut off, and its journal in .steadfast/damaged/unfinished \
                 cannot be used: {error}"
            )),
        }
        .at(&path));
    }
    Ok(())
}

fn end_journal(
    root: &Path,
    options: &Options,
    journal: &RepairJournal,
    work: &Unfinished,
    originals: &Originals,
) -> io::Result<bool> {
    let catalogue = match &options.catalogue {
        CatalogueUse::Off => None,
        CatalogueUse::At(file) => Some(file.clone()),
        CatalogueUse::Nearest => Catalogue::find(root),
    };
    let is_finished = finish(root, catalogue.as_deref(), journal, &options.stop)?;
    keep(work, &journal.name, originals, &journal.subject.relative)?;
    Ok(is_finished)
}

/// Writes the pages of a journal again, if the file has the digest of its tag with them. Otherwise
/// it returns false and changes nothing: the file was edited since, or the journal was planted.
fn finish(
    root: &Path,
    catalogue: Option<&Path>,
    journal: &RepairJournal,
    stop: &AtomicBool,
) -> io::Result<bool> {
    let subject = &journal.subject;
    let (parent, name) = (subject.relative.parent(), subject.relative.file_name());
    let (Some(parent), Some(name)) = (parent, name) else {
        return Err(io::Error::other("the journal names no file"));
    };
    if is_within_ours(&subject.relative) {
        return Err(io::Error::other("the journal names a file in `.steadfast`"));
    }
    let opened = beneath::directory(root, parent).and_then(|dir| dir.open_to_change(name));
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    let (own, status) = (file.to_file()?, file.status()?);
    if status.inode != subject.inode {
        return Ok(false);
    }
    let said = |error: FileError| io::Error::other(error.reason);
    ensure_all_beneath(root, &subject.relative, &status, catalogue, stop).map_err(said)?;
    let tag = tag_of(&own, root, &subject.relative, catalogue)
        .ok_or_else(|| io::Error::other("it has no tag"))?;
    if subject.new_length != tag.length || !would_have_digest(journal, &own, &tag, stop)? {
        return Ok(false);
    }
    // Also a name that was added meanwhile changes the status.
    if file.status()? != status {
        return Err(io::Error::other("the file was changed meanwhile"));
    }
    journal.apply(&file, tag.mtime)?;
    prove(&own, &tag, stop).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(true)
}

/// Returns the tag of a file: its own, or else that of the catalogue.
fn tag_of(file: &File, root: &Path, relative: &Path, catalogue: Option<&Path>) -> Option<Tag> {
    if let Ok(StoredTag::Whole(tag)) = Xattr.tag(file) {
        return Some(tag);
    }
    let catalogue = Catalogue::open_reader(catalogue?).ok()?;
    let reader = CatalogueReader::beside(&catalogue).ok()?;
    reader.tag(&FilePath::whole(&root.join(relative))).ok()?
}

/// Says whether a file has the digest of its tag once the pages of a journal are written, and
/// nothing of it would be lost that the journal does not have.
fn would_have_digest(
    journal: &RepairJournal,
    file: &File,
    tag: &Tag,
    stop: &AtomicBool,
) -> io::Result<bool> {
    let source = Descriptor { file, len_bytes: file.status()?.length };
    if !journal.subject.may_have_length(source.len_bytes) {
        return Ok(false);
    }
    let mut hasher = AlgorithmHasher::new(tag.algorithm);
    let mut buffer = AlignedBuffer::new(SPAN_LEN);
    let mut span = vec![0; SPAN_LEN];
    let mut pages = journal.pages()?;
    let mut next = pages.next()?;
    let mut offset = 0;
    while offset < tag.length.max(source.len_bytes) {
        go_on(stop)?;
        span.fill(0);
        let mut is_foreign = false;
        each_page(&source, offset, SPAN_LEN, &mut buffer, &mut |at, bytes| {
            let place = offset + at as u64;
            let page = next.take_if(|page| page.offset == place);
            let bytes = match &page {
                Some(page) => {
                    is_foreign |= !page.is_cut_off(bytes, &journal.subject);
                    next = pages.next()?;
                    &page.new
                }
                None => bytes.unwrap_or_default(),
            };
            // Beyond the new end, the journal has all that is not zeros.
            let kept = tag.length.saturating_sub(place).min(bytes.len() as u64) as usize;
            is_foreign |= bytes[kept..].iter().any(|byte| *byte != 0);
            span[at..at + bytes.len()].copy_from_slice(bytes);
            Ok(())
        })?;
        if is_foreign {
            return Ok(false);
        }
        let len = tag.length.saturating_sub(offset).min(SPAN_LEN as u64) as usize;
        hasher.update(&span[..len]);
        offset += SPAN_LEN as u64;
    }
    Ok(hasher.finalize() == tag.digest)
}
