//! The earlier sets: of files that were edited, and whose edits were accepted. They are kept for a
//! time, so that decay that was taken for an edit can be undone, and give way where room is short.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use steadfast_parity::{Member, ProtectedFile};
use steadfast_sys::file::Timestamp;
use steadfast_sys::storage::volume;

use super::folder::{KEEP_EARLIER, ParityFolder, SetFault};
use super::identity::SetId;
use super::needed::Unneeded;
use super::place::{ParityPlace, read_small, system, write_small};
use super::protection::SetProtection;
use crate::error::Error;
use crate::event::Notice;

/// How long earlier sets are kept unless a user says otherwise.
const KEPT_S: u64 = 30 * 86_400;

/// The share of a disk that earlier sets leave free, and the most bytes of it.
const FREE_SHARE: u64 = 20;
const FREE_MAX_BYTES: u64 = 1 << 30;

/// What is said when earlier sets are removed before their time.
pub(super) const EARLIER_REMOVED: &str =
    "the disk is nearly full: the oldest sets of parity that only serve to undo edits are removed";

/// The longest record of a time in bytes: the digits of a number.
const TIME_LEN_MAX: u64 = 20;

/// Returns how long earlier sets of a folder are kept. A time that the user gives is recorded for
/// later runs.
///
/// # Errors
/// If the folder cannot be read or written.
pub(super) fn keep_time(folder: &ParityFolder, given: Option<Duration>) -> io::Result<Duration> {
    let recorded = read_small(&folder.dir, KEEP_EARLIER, TIME_LEN_MAX)?.and_then(|text| {
        let seconds = std::str::from_utf8(&text).ok()?.trim_end().parse().ok()?;
        Some(Duration::from_secs(seconds))
    });
    if let Some(given) = given
        && recorded != Some(given)
    {
        write_small(&folder.dir, KEEP_EARLIER, given.as_secs().to_string().as_bytes())?;
    }
    Ok(given.or(recorded).unwrap_or(Duration::from_secs(KEPT_S)))
}

/// Removes the earlier sets whose time is over, and those of which later sets have all files that
/// are not protected as they are there. If a run `proves`, also damaged ones, and returns how many.
///
/// # Errors
/// If the folder cannot be read or changed.
pub(super) fn prune(
    folder: &ParityFolder,
    keep: Duration,
    now: Timestamp,
    proves: bool,
    is_protected: &dyn Fn(&ProtectedFile) -> bool,
) -> io::Result<u64> {
    let Some(folder) = folder.earlier()? else { return Ok(0) };
    let remove = |id| folder.remove(&Unneeded::by_decision(id), now, false);
    let mut damaged = 0;
    let keys = SetProtection::default();
    // The latest contents of each path. A file that is cut has them in several sets.
    let mut latest: HashMap<u64, u64> = HashMap::new();
    let keep_s = i64::try_from(keep.as_secs()).unwrap_or(i64::MAX);
    for (since, id) in by_time(&folder)?.into_iter().rev() {
        if since.seconds > now.seconds {
            // A clock was wrong: its time begins now.
            folder.set_earlier_since(&id, now)?;
        } else if now.seconds.saturating_sub(since.seconds) >= keep_s {
            remove(id)?;
            continue;
        }
        let stored = match folder.set(&id) {
            Err(SetFault::Unreadable(_)) => continue,
            stored => stored.ok().filter(|stored| !proves || stored.is_sound()),
        };
        let Some(stored) = stored else {
            if proves {
                remove(id)?;
                damaged += 1;
            }
            continue;
        };
        let members = stored.set.index().members().iter();
        let edited = members.filter(|member| !is_protected(&member.file));
        let mut is_latest = false;
        for Member { file, .. } in edited {
            let tag = keys.digest(&*file.tag);
            is_latest |= *latest.entry(keys.digest(&*file.path)).or_insert(tag) == tag;
        }
        if !is_latest {
            remove(id)?;
        }
    }
    Ok(damaged)
}

/// Returns the sets of a folder of earlier ones, and since when they are, the oldest first.
fn by_time(earlier: &ParityFolder) -> io::Result<Vec<(Timestamp, SetId)>> {
    let mut sets = Vec::new();
    for id in earlier.ids()? {
        sets.push((earlier.length_and_time(&id)?.1, id));
    }
    sets.sort_unstable();
    Ok(sets)
}

/// Returns whether an error says that there is no room for a file.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Removes the oldest earlier set, before its time, and returns whether there was one.
///
/// # Errors
/// If the folder cannot be read or changed.
pub(super) fn remove_oldest_earlier(folder: &ParityFolder) -> io::Result<bool> {
    let Some(earlier) = folder.earlier()? else { return Ok(false) };
    let Some((_, id)) = by_time(&earlier)?.into_iter().next() else { return Ok(false) };
    earlier.remove(&Unneeded::by_decision(id), Timestamp::MIN, false)?;
    Ok(true)
}

/// Removes the oldest earlier sets until a part of the disk is free, and returns how many.
///
/// # Errors
/// If the folder cannot be read or changed.
pub(super) fn make_room_in(place: &ParityPlace, folder: &ParityFolder) -> io::Result<u64> {
    let is_short = || {
        let found = volume(&place.folder());
        found.is_ok_and(|at| at.free_bytes < (at.total_bytes / FREE_SHARE).min(FREE_MAX_BYTES))
    };
    let mut removed = 0;
    while is_short() && remove_oldest_earlier(folder)? {
        removed += 1;
    }
    Ok(removed)
}

/// Makes room on a disk that is nearly full: the oldest earlier sets of its parity are removed,
/// which only serve to undo edits. Returns what to say of that.
///
/// # Errors
/// If another run has the parity locked, or it cannot be changed.
pub fn make_room(place: &ParityPlace) -> Result<Option<Notice>, Error> {
    let folder = ParityFolder::open_to_change(place)?;
    let _lock = folder.lock(place)?;
    let removed = make_room_in(place, &folder);
    let removed = removed.map_err(|error| system("remove earlier sets", error, place))?;
    Ok((removed > 0).then(|| Notice::new(EARLIER_REMOVED).at(&place.folder())))
}
