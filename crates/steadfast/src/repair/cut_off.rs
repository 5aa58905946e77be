//! Repairs that were cut off: what a check says of them, and how the next repair ends them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
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
use super::unfinished::{LeftJournal, Remains, Unfinished};
use crate::advice::Advice;
use crate::beneath;
use crate::catalogue::{Catalogue, CatalogueReader, real_of};
use crate::error::Error;
use crate::event::{FileError, FilePath, Notice};
use crate::pages::Descriptor;
use crate::run::CatalogueUse;
use crate::selection::Selection;
use crate::store::xattr::Xattr;
use crate::store::{Store as _, StoredTag};
use crate::tree_above::{TreeAbove, trees_above};
use crate::tree_folder::is_within_ours;

/// Says which repairs of the trees of a selection were cut off. Writes nothing. What concerns none
/// of what was selected is told, and no failure.
pub(crate) fn notices_of_cut_off(selection: &Selection) -> Vec<Notice> {
    let mut told = Vec::new();
    for tree in trees_of(selection) {
        let remains = match Remains::of(&tree.above) {
            Ok(None) => continue,
            Ok(Some(remains)) => remains,
            Err(error) => {
                let text = format!(
                    "it cannot be told whether a repair in place was cut off here: {error}."
                );
                let notice = tree.notice(tree.above.is_own, text).advise(Advice::RepairAsOwner);
                told.push(notice.at(&tree.above.root));
                continue;
            }
        };
        for LeftJournal { path, fault } in remains.journals {
            let concerns = tree.concerns(&path, fault.is_some());
            let (text, advice) = match fault {
                None => ("a repair in place was cut off here".into(), Advice::Repair),
                Some(fault) => (format!("{fault}: {UNUSABLE}"), Advice::DiscardJournal),
            };
            told.push(tree.notice(concerns, text).advise(advice).at(&path));
        }
        if remains.has_others {
            let notice = Notice::new("a repair of this tree was cut off, or goes on");
            told.push(notice.advise(Advice::ClearUp).at(&tree.above.root));
        }
    }
    told
}

/// What is said of a journal that cannot be used.
const UNUSABLE: &str = "a repair in place was cut off, and its journal cannot be used. A file of \
                        this tree may be half-written";

/// A tree at or above what was selected.
struct SelectedTree {
    above: TreeAbove,
    /// The real paths that were selected in it.
    selected: Vec<PathBuf>,
}

impl SelectedTree {
    /// Says whether a file, or one of which nothing is known, may be among what was selected.
    fn concerns(&self, path: &Path, is_unknown: bool) -> bool {
        let is_selected = |selected: &PathBuf| path.starts_with(selected);
        match is_unknown {
            true => self.above.is_own,
            false => self.above.is_own || self.selected.iter().any(is_selected),
        }
    }

    fn notice(&self, concerns: bool, text: String) -> Notice {
        if concerns { Notice::failure(text) } else { Notice::new(text) }
    }
}

/// Fails if a repair in place of the trees of a selection was cut off: a half-written file looks
/// edited, and must not be tagged.
///
/// # Errors
/// `Usage` if there is such a file.
pub(crate) fn ensure_finished(selection: &Selection) -> Result<(), Error> {
    match notices_of_cut_off(selection).into_iter().find(|notice| !notice.status.is_fine()) {
        Some(Notice { text, advice, path: Some(path), .. }) => {
            Err(Error::usage(text).advise(advice).at(&path))
        }
        _ => Ok(()),
    }
}

/// Ends the repairs of the trees of a selection that were cut off. Returns what to say of them.
pub(crate) fn end(
    selection: &Selection,
    catalogue: &CatalogueUse,
    stop: &AtomicBool,
    originals: &mut BTreeMap<PathBuf, Originals>,
) -> Vec<Notice> {
    let mut told = Vec::new();
    for tree in trees_of(selection) {
        let root = &tree.above.root;
        let ended = match Remains::of(&tree.above) {
            Ok(None) => continue,
            Ok(Some(_)) => {
                let of_root = originals.entry(root.clone());
                let originals = of_root.or_insert_with(|| Originals::of(root));
                end_in(&tree, (catalogue, stop), originals, &mut told)
            }
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            let text = format!("a repair that was cut off cannot be cleared up: {error}");
            told.push(tree.notice(tree.above.is_own, text).at(root));
        }
    }
    told
}

/// Returns the trees at or above a selection, each once.
fn trees_of(selection: &Selection) -> Vec<SelectedTree> {
    let mut trees: BTreeMap<PathBuf, SelectedTree> = BTreeMap::new();
    for path in selection.roots.iter().chain(&selection.listed) {
        let Some(real) = real_of(path) else { continue };
        for above in trees_above(path, path) {
            match trees.entry(above.root.clone()) {
                Entry::Vacant(none) => {
                    none.insert(SelectedTree { above, selected: vec![real.clone()] });
                }
                Entry::Occupied(mut tree) => {
                    let tree = tree.get_mut();
                    // Who selected it trusts its owner.
                    if above.is_own && !tree.above.is_own {
                        tree.above = above;
                    }
                    tree.selected.push(real.clone());
                }
            }
        }
    }
    trees.into_values().collect()
}

fn end_in(
    tree: &SelectedTree,
    (catalogue, stop): (&CatalogueUse, &AtomicBool),
    originals: &Originals,
    told: &mut Vec<Notice>,
) -> io::Result<()> {
    let root = &tree.above.root;
    for relative in originals.clear_up()? {
        let text = "kept the damaged file of a repair that was cut off";
        told.push(Notice::new(text).at(&root.join(relative)));
    }
    let work = originals.work()?;
    for name in work.journals()? {
        let (path, concerns, ended) = match work.journal(&name) {
            Ok(journal) => {
                let path = root.join(&journal.subject.relative);
                let concerns = tree.concerns(&path, false);
                (path, concerns, end_journal(root, (catalogue, stop), &journal, work, originals))
            }
            // It was whole when its first page was used.
            Err(error) => (root.clone(), tree.concerns(root, true), Err(error)),
        };
        told.push(match ended {
            Ok(true) => Notice::new("finished a repair in place that was cut off").at(&path),
            Ok(false) => {
                let text = "a repair in place was cut off, and the file was changed since: it is \
                            left as it is";
                tree.notice(concerns, text.to_owned()).at(&path)
            }
            Err(error) => {
                let notice = tree.notice(concerns, format!("{error}: {UNUSABLE}"));
                notice.advise(Advice::DiscardJournal).at(&path)
            }
        });
    }
    Ok(())
}

fn end_journal(
    root: &Path,
    (catalogue, stop): (&CatalogueUse, &AtomicBool),
    journal: &RepairJournal,
    work: &Unfinished,
    originals: &Originals,
) -> io::Result<bool> {
    let is_finished = finish(root, catalogue.of(root).as_deref(), journal, stop)?;
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
