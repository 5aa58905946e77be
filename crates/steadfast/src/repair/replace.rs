//! The repaired file: written as a draft, proved, given all that belongs to it, and put in place.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_sys::cache;
use steadfast_sys::file::{Dir, Draft, Existing, File, Ownership, Status};
use steadfast_sys::storage::volume;
use steadfast_sys::xattr;

use super::copies::Own;
use super::mend::{MendedContents, MendedSpan, WantedSpans, digest_matches};
use super::originals::Originals;
use super::target::RepairTarget;
use super::{refused, system};
use crate::beneath;
use crate::event::FileError;
use crate::store::xattr::Xattr;
use crate::store::{Replaces, Store as _, StoredTag};

/// The longest value of an attribute that systems allow: Linux has 64 KiB.
const ATTRIBUTE_LEN_MAX: usize = 1 << 20;

/// Readable and writable by its owner alone: what a draft is until it is proved.
pub(crate) const PRIVATE: u32 = 0o600;

/// Puts the contents in the place of a file, or where it is missing. Returns its status then,
/// if that can be told.
pub(super) fn replace(
    target: &RepairTarget,
    own: Option<&Own>,
    contents: &MendedContents<'_>,
    originals: &Originals,
    stop: &AtomicBool,
) -> Result<Option<Status>, FileError> {
    let name = target.relative.file_name().ok_or_else(|| refused("it has no name"))?;
    let parent = target.relative.parent().unwrap_or(Path::new(""));
    let dir = match own {
        Some(_) => beneath::directory(&target.root, parent),
        None => make_directory(&target.root, parent),
    };
    let dir = Arc::new(dir.map_err(system("open its folder"))?);
    let like = match (own, contents.model()) {
        (Some(own), _) => Some(&own.file),
        (None, model) => model.map(|copy| &copy.file),
    };
    let draft = draft_for((&target.root, parent), own, &dir, originals)?;
    let is_shared = match own {
        Some(own) if contents.uses_own() => {
            draft.share_blocks(&own.file).map_err(system("make a draft of it"))?
        }
        _ => false,
    };
    if let Some(like) = like.filter(|_| !is_shared) {
        let folder = target.root.join(parent);
        ensure_room(&folder, like, own.is_some()).map_err(system("write the draft"))?;
    }
    let ownership = match like {
        Some(file) => file.ownership().map_err(system("read its owner"))?,
        // An empty file that is missing has no copy that gave pages.
        None => {
            draft.to_file().and_then(|file| file.ownership()).map_err(system("read its owner"))?
        }
    };
    // The owner comes first: a change of it takes away capabilities and set-user bits.
    let private = Ownership { mode: PRIVATE, ..ownership };
    draft.assume(private, target.tag.mtime).map_err(system("give the draft to its owner"))?;
    fill(&draft, is_shared, contents, stop).map_err(system("write the draft"))?;
    prove(&draft, target, stop)?;
    if let Some(file) = like {
        copy_attributes(file, &draft).map_err(system("restore its attributes"))?;
    }
    draft.assume(ownership, target.tag.mtime).map_err(system("restore its mode and times"))?;
    set_tag(&draft, target)?;
    let file = draft.to_file().map_err(system("open the draft"))?;
    match own {
        Some(own) => exchange(&target.relative, own, draft, &dir, name, originals)?,
        None => {
            let published = draft.publish_in(&dir, name, Existing::Keep);
            published.and_then(|()| dir.flush()).map_err(system("put it in place"))?;
        }
    }
    Ok(file.status().ok())
}

/// Makes the draft with the other work that is not finished, where no check sees it: of a missing
/// file on another file system in a folder there. `parent` is the folder of the file, `dir`, beneath
/// the root.
pub(crate) fn draft_for(
    (root, parent): (&Path, &Path),
    own: Option<&Own>,
    dir: &Arc<Dir>,
    originals: &Originals,
) -> Result<Draft, FileError> {
    let look = system("look at its folder");
    let root = Dir::open(root).and_then(|root| root.status()).map_err(&look)?;
    let device = dir.status().map_err(&look)?.device;
    let is_same_device = root.device == device;
    let draft = match own {
        Some(own) if is_same_device => {
            originals.work().and_then(|work| work.draft(own.status.inode))
        }
        Some(_) => {
            return Err(refused(
                "the damaged file cannot be kept: it is on another file system than its tree. \
                 Repair it from the folder where that is mounted",
            ));
        }
        None if is_same_device => originals.work().and_then(|work| Draft::new(work.dir())),
        None => originals.work_on(device, parent).and_then(|work| Draft::new(&work)),
    };
    draft.map_err(system("make a draft of it"))
}

/// Opens a directory beneath a root, and makes what of it is missing.
pub(crate) fn make_directory(root: &Path, path: &Path) -> io::Result<Dir> {
    let mut dir = Dir::open(root)?;
    for name in path.components() {
        dir = dir.make_dir(name.as_os_str())?;
    }
    Ok(dir)
}

/// Fails before anything is written if a folder has no room for another file like this one.
fn ensure_room(folder: &Path, like: &File, is_there: bool) -> io::Result<()> {
    // A file system that does not tell is tried.
    let Ok(volume) = volume(folder) else { return Ok(()) };
    let needed = like.allocated_bytes()?;
    if needed <= volume.free_bytes {
        return Ok(());
    }
    let advice = if is_there { "; --in-place needs room for the damaged pages only" } else { "" };
    Err(io::Error::new(
        io::ErrorKind::StorageFull,
        format!("it needs {needed} bytes, and {} are free{advice}", volume.free_bytes),
    ))
}

/// Writes the contents. Where the file system can, blocks of the damaged file are shared, and only
/// what differs is written; otherwise spans of zeros are left out, so a sparse file stays sparse.
fn fill(
    draft: &Draft,
    shared: bool,
    contents: &MendedContents<'_>,
    stop: &AtomicBool,
) -> io::Result<()> {
    let wanted = if shared { WantedSpans::Lacking } else { WantedSpans::All };
    contents.copy_to(wanted, stop, &mut |span: MendedSpan<'_>| {
        let is_there = match shared {
            true => !span.is_mended,
            false => span.bytes.iter().all(|byte| *byte == 0),
        };
        if is_there { Ok(()) } else { draft.write_at(span.bytes, span.offset) }
    })?;
    draft.set_length(contents.target.tag.length)
}

/// Reads the draft back from the medium: length and digest must be those of the tag.
fn prove(draft: &Draft, target: &RepairTarget, stop: &AtomicBool) -> Result<(), FileError> {
    let file = read_back(draft)?;
    let matches =
        digest_matches(&file, &target.tag, stop).map_err(system("read the draft back"))?;
    let length = file.status().map_err(system("read the draft back"))?.length;
    match matches && length == target.tag.length {
        true => Ok(()),
        false => Err(refused("the mended contents do not have the digest of its tag")),
    }
}

/// Flushes a draft, and opens it to be read from the medium.
pub(crate) fn read_back(draft: &Draft) -> Result<File, FileError> {
    let file = draft.flush_and_open().map_err(system("flush the draft"))?;
    // Either keeps the answer from coming out of the cache; some file systems know neither.
    let _ = cache::drop_cached(&file);
    let _ = file.set_uncached();
    Ok(file)
}

/// Copies all extended attributes, access lists among them.
pub(crate) fn copy_attributes(from: &File, draft: &Draft) -> io::Result<()> {
    let to = draft.to_file()?;
    let names = match xattr::list(from) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(()),
        Err(error) => return Err(error),
    };
    for name in names {
        let name =
            name.to_str().ok_or_else(|| io::Error::other("an attribute has no readable name"))?;
        let Some(value) = value_of(from, name)? else { continue };
        if value_of(&to, name)?.as_ref() != Some(&value) {
            xattr::set(&to, name, &value)?;
        }
    }
    Ok(())
}

fn value_of(file: &File, name: &str) -> io::Result<Option<Vec<u8>>> {
    let Some(len) = length_of(file, name)? else { return Ok(None) };
    let mut value = vec![0; len];
    let found = xattr::get(file, name, &mut value)?;
    Ok(found.map(|len| {
        value.truncate(len);
        value
    }))
}

/// Returns the length of an attribute's value, found by growing the room for it.
fn length_of(file: &File, name: &str) -> io::Result<Option<usize>> {
    let mut room = 256;
    loop {
        let mut value = vec![0; room];
        match xattr::get(file, name, &mut value) {
            Err(error)
                if error.kind() == io::ErrorKind::InvalidData && room < ATTRIBUTE_LEN_MAX =>
            {
                room *= 16;
            }
            found => return Ok(found?.map(|len| len.max(1))),
        }
    }
}

/// Makes sure that the draft has the tag of the target, if the file had one of its own.
fn set_tag(draft: &Draft, target: &RepairTarget) -> Result<(), FileError> {
    let file = draft.to_file().map_err(system("open the draft"))?;
    let stored = Xattr.tag(&file).map_err(system("read its tag"))?;
    match stored {
        StoredTag::Whole(tag)
            if tag.same_contents(&target.tag) && tag.mtime == target.tag.mtime =>
        {
            return Ok(());
        }
        // No place for tags: the catalogue, or the file beside it, has the tag.
        StoredTag::Impossible => return Ok(()),
        StoredTag::Absent => {}
        StoredTag::Whole(_) | StoredTag::Damaged(_) => {
            Xattr.remove(&file)?;
        }
    }
    Xattr.write(&file, &target.tag, Replaces::Nothing)
}

/// Exchanges the draft and the damaged file, and moves that to where it is kept.
pub(crate) fn exchange(
    relative: &Path,
    own: &Own,
    draft: Draft,
    dir: &Arc<Dir>,
    name: &OsStr,
    originals: &Originals,
) -> Result<(), FileError> {
    let changed = || refused("the file was changed meanwhile");
    let work = originals.work().map_err(system("prepare to keep the damaged file"))?;
    let kept = originals.dir_for(relative);
    let kept = kept.map_err(system("make the folder for the damaged file"))?;
    let inode = own.status.inode;
    let repaired = draft.to_file().and_then(|file| file.status());
    let repaired = repaired.map_err(system("look at the draft"))?.inode;
    let noted = work.note(inode, relative, &draft);
    noted.map_err(system("prepare to keep the damaged file"))?;
    let forgetting = |error: FileError| {
        work.forget(inode);
        error
    };
    // Who writes to the file after this finds the repaired one, or is noticed below.
    let writers = own.file.hold_off_writers().map_err(system("replace it")).map_err(forgetting)?;
    let now = own.file.status().map_err(system("look at it again")).map_err(forgetting)?;
    let there = dir.status_of(name).map_err(system("look at it again")).map_err(forgetting)?;
    if now != own.status || there != own.status {
        return Err(forgetting(changed()));
    }
    let exchanged = draft.exchange(dir, name).map_err(system("put it in place"));
    let displaced = exchanged.map_err(forgetting)?;
    let status = displaced.status().map_err(system("look at the damaged file"))?;
    let is_same = (status.device, status.inode) == own.identity()
        && (status.length, status.mtime) == (own.status.length, own.status.mtime);
    if !is_same || writers.is_wanted() {
        if dir.status_of(name).map_err(system("look at it again"))?.inode != repaired {
            return Err(refused(
                "another program replaced it meanwhile. What it replaced before is in \
                 `.steadfast/damaged/unfinished`, and the next repair keeps it",
            ));
        }
        displaced.undo().map_err(system("put a file back that was changed meanwhile"))?;
        return Err(forgetting(changed()));
    }
    displaced.move_to(&kept, name).map_err(|error| FileError {
        operation: "keep the damaged file",
        reason: format!(
            "{error}. The file is repaired; the next repair moves the damaged one from \
             `.steadfast/damaged/unfinished`"
        ),
    })?;
    work.forget(inode);
    originals.note_kept(relative, status);
    Ok(())
}
