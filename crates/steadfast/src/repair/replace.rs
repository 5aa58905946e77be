//! The repaired file: written as a draft, proved, given all that belongs to it, and put in place.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_sys::cache;
use steadfast_sys::file::{Dir, Draft, Existing, File, Status, Timestamp};

use super::copies::Own;
use super::mend::{MendedContents, MendedSpan, WantedSpans, digest_matches};
use super::originals::Originals;
use super::records::MissingRecords;
use super::sparse::{SparseWriter, ensure_room};
use super::target::RepairTarget;
use super::{changed, refused, system};
use crate::belongings::{Belongings, Trust, Withheld, disinherit};
use crate::beneath;
use crate::event::FileError;
use crate::store::xattr::Xattr;
use crate::store::{Replaces, Store as _, StoredTag};

/// Puts the contents in the place of a damaged file, with all that belongs to it. Returns its
/// status then, if that can be told.
pub(super) fn replace(
    target: &RepairTarget,
    own: &Own,
    contents: &MendedContents<'_>,
    originals: &Originals,
    stop: &AtomicBool,
) -> Result<Option<Status>, FileError> {
    let name = target.relative.file_name().ok_or_else(|| refused("it has no name"))?;
    let parent = target.relative.parent().unwrap_or(Path::new(""));
    let dir = beneath::directory(&target.root, parent);
    let dir = Arc::new(dir.map_err(system("open its folder"))?);
    let folder = FolderTime::of(&dir);
    let draft = draft_for((&target.root, parent), Some(own), &dir, originals)?;
    make_private(&draft, Some(own))?;
    let is_shared = contents.uses_own()
        && draft.share_blocks(&own.file).map_err(system("make a draft of it"))?;
    let writer = SparseWriter::new(&draft, Some(&own.file));
    let room = DraftRoom { folder: &target.root.join(parent), is_there: true };
    fill(writer, is_shared, contents, room, stop).map_err(system("write the draft"))?;
    prove(&draft, target, stop)?;
    give_all(own, &draft, &target.relative, target.mtime())?;
    set_tag(&draft, target)?;
    let file = draft.to_file().map_err(system("open the draft"))?;
    exchange(&target.relative, own, draft, &dir, name, originals)?;
    folder.restore();
    Ok(file.status().ok())
}

/// Makes a missing file, with what its records say of it. Returns its status then, if that can be
/// told, and what of that was not given.
pub(super) fn make_missing(
    target: &RepairTarget,
    records: &MissingRecords,
    contents: &MendedContents<'_>,
    originals: &Originals,
    stop: &AtomicBool,
) -> Result<(Option<Status>, Vec<Withheld>), FileError> {
    let name = target.relative.file_name().ok_or_else(|| refused("it has no name"))?;
    let parent = target.relative.parent().unwrap_or(Path::new(""));
    let made = make_directory(&target.root, parent, records).map_err(system("open its folder"))?;
    let draft = draft_for((&target.root, parent), None, &made.dir, originals)?;
    make_private(&draft, None)?;
    let writer = SparseWriter::new(&draft, None);
    let room = DraftRoom { folder: &target.root.join(parent), is_there: false };
    fill(writer, false, contents, room, stop).map_err(system("write the draft"))?;
    prove(&draft, target, stop)?;
    // Before the mode, which may forbid to write.
    set_tag(&draft, target)?;
    let mut withheld = give_known(records, &draft, &target.relative, Some(target.mtime()))?;
    let file = draft.to_file().map_err(system("open the draft"))?;
    let published = draft.publish_in(&made.dir, name, Existing::Keep);
    published.and_then(|()| made.dir.flush()).map_err(system("put it in place"))?;
    withheld.extend(made.finish());
    Ok((file.status().ok(), withheld))
}

/// Makes a draft that only its owner can read, whatever its folder hands down. It has the flags of
/// the damaged file, and belongs to its owner, from the first byte on.
pub(crate) fn make_private(draft: &Draft, own: Option<&Own>) -> Result<(), FileError> {
    let file = draft.to_file().map_err(system("open the draft"))?;
    disinherit(&file).map_err(system("make the draft private"))?;
    let Some(own) = own else { return Ok(()) };
    // Some can be set while it is empty only.
    draft.copy_flags(&own.file).map_err(system("restore its flags (`chattr`)"))?;
    let wanted = own.file.ownership().map_err(system("read its owner"))?;
    let now = file.ownership().map_err(system("read its owner"))?;
    if (now.uid, now.gid) == (wanted.uid, wanted.gid) {
        return Ok(());
    }
    let given = file.set_owner(Some(wanted.uid), Some(wanted.gid));
    given.map_err(system("give the draft to its owner"))
}

/// Gives a draft all that belongs to a damaged file, with another modification time.
///
/// # Errors
/// If the system refuses some of it: replacing the file would lose that.
pub(crate) fn give_all(
    own: &Own,
    draft: &Draft,
    relative: &Path,
    mtime: Timestamp,
) -> Result<(), FileError> {
    let all = Belongings::of(&own.file).map_err(system("read its owner and attributes"))?;
    let all = Belongings { mtime: Some(mtime), ..all };
    let file = draft.to_file().map_err(system("open the draft"))?;
    match all.give_to(&file, relative, Trust::Own).as_slice() {
        [] => Ok(()),
        [Withheld { what, reason, .. }, ..] => {
            Err(refused(format!("its {what} cannot be restored: {reason}")))
        }
    }
}

/// Gives the draft of a missing file what its records say of it. Returns what was not given.
pub(crate) fn give_known(
    records: &MissingRecords,
    draft: &Draft,
    relative: &Path,
    mtime: Option<Timestamp>,
) -> Result<Vec<Withheld>, FileError> {
    let file = draft.to_file().map_err(system("open the draft"))?;
    let Some(record) = records.file(relative) else {
        let withheld = Belongings::give_least(&file, relative, 0o600);
        file.set_times(None, mtime).map_err(system("restore its time"))?;
        return Ok(withheld);
    };
    let belongings = Belongings { mtime, ..record.belongings };
    Ok(belongings.give_to(&file, relative, record.trust))
}

/// The modification time of a folder, which putting a file there changes.
pub(crate) struct FolderTime {
    file: Option<File>,
    mtime: Option<Timestamp>,
}

impl FolderTime {
    /// Notes the time of a folder.
    pub(crate) fn of(dir: &Dir) -> FolderTime {
        let mtime = dir.status().map(|status| status.mtime).ok();
        FolderTime { file: dir.to_file().ok(), mtime }
    }

    /// Gives the folder its time again. Only its owner can do so; for others it stays as it is.
    pub(crate) fn restore(self) {
        let _ = self.file.map(|file| file.set_times(None, self.mtime));
    }
}

/// A folder of the tree, and those above it that were made.
pub(crate) struct MadeFolders {
    pub(crate) dir: Arc<Dir>,
    withheld: Vec<Withheld>,
    times: Vec<FolderTime>,
}

impl MadeFolders {
    /// Gives the folders their times, after the file is there. Returns what those that were made
    /// lack of what belonged to them.
    pub(crate) fn finish(self) -> Vec<Withheld> {
        // From the lowest on: nothing changes one above.
        self.times.into_iter().rev().for_each(FolderTime::restore);
        self.withheld
    }
}

/// Opens a directory beneath a root, and makes what of it is missing, as its records say.
pub(crate) fn make_directory(
    root: &Path,
    path: &Path,
    records: &MissingRecords,
) -> io::Result<MadeFolders> {
    let mut dir = Dir::open(root)?;
    let (mut withheld, mut times) = (Vec::new(), Vec::new());
    let mut relative = PathBuf::new();
    for name in path.components() {
        let name = name.as_os_str();
        relative.push(name);
        dir = match dir.open_dir(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                times.push(FolderTime::of(&dir));
                let made = dir.create_dir(name)?;
                let record = records.folder(&relative);
                let file = made.to_file()?;
                withheld.extend(match &record {
                    Some(record) => record.belongings.give_to(&file, &relative, record.trust),
                    None => Belongings::give_least(&file, &relative, 0o700),
                });
                made
            }
            opened => opened?,
        };
    }
    times.push(FolderTime::of(&dir));
    Ok(MadeFolders { dir: Arc::new(dir), withheld, times })
}

/// Makes the draft with the other work that is not finished, where no check sees it: of a missing
/// file on another file system in a folder there. `parent` is the folder of the file, `dir`,
/// beneath the root.
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

/// The folder that needs room for a draft.
struct DraftRoom<'a> {
    folder: &'a Path,
    /// Whether the file is there, so that it can be repaired in place.
    is_there: bool,
}

/// Writes the contents with their holes. Where the file system can, blocks of the damaged file are
/// shared, and only what differs is written.
fn fill(
    mut writer: SparseWriter<'_>,
    shared: bool,
    contents: &MendedContents<'_>,
    room: DraftRoom<'_>,
    stop: &AtomicBool,
) -> io::Result<()> {
    let wanted = if shared { WantedSpans::Lacking } else { WantedSpans::All };
    let write =
        |writer: &mut SparseWriter<'_>| {
            contents.copy_to(wanted, stop, &mut |span: MendedSpan<'_>| match shared
                && !span.is_mended
            {
                true => Ok(()),
                false => writer.write(span.bytes, span.offset),
            })
        };
    let advice = if room.is_there {
        "; a repair in place needs room for the damaged pages only"
    } else {
        ""
    };
    ensure_room(room.folder, contents.target.tag.length, advice, || {
        let mut counter = writer.counter();
        write(&mut counter)?;
        Ok(counter.written)
    })?;
    writer.set_length(contents.target.tag.length)?;
    write(&mut writer)
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
    let is_other = || changed("the file was changed meanwhile");
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
        return Err(forgetting(is_other()));
    }
    let exchanged = draft.exchange(dir, name).map_err(system("put it in place"));
    let displaced = exchanged.map_err(forgetting)?;
    let status = displaced.status().map_err(system("look at the damaged file"))?;
    let is_same = (status.device, status.inode) == own.identity()
        && (status.length, status.mtime) == (own.status.length, own.status.mtime);
    if !is_same || writers.is_wanted() {
        if dir.status_of(name).map_err(system("look at it again"))?.inode != repaired {
            return Err(changed(
                "another program replaced it meanwhile. What it replaced before is in \
                 `.steadfast/damaged/unfinished`, and the next repair keeps it",
            ));
        }
        displaced.undo().map_err(system("put a file back that was changed meanwhile"))?;
        return Err(forgetting(is_other()));
    }
    displaced.move_to(&kept, name).map_err(|error| FileError {
        kind: Some(error.kind()),
        advice: None,
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
