//! The earlier sets: of files that were edited, and whose edits were accepted. They are kept for a
//! time, so that decay that was taken for an edit can be undone.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use steadfast_parity::Member;
use steadfast_sys::file::Timestamp;

use super::folder::{KEEP_EARLIER, ParityFolder};
use super::identity::SetId;
use super::member::FileKeys;

/// How long earlier sets are kept unless a user says otherwise.
const KEPT_S: u64 = 30 * 86_400;

/// The longest record of a time in bytes: the digits of a number.
const TIME_LEN_MAX: u64 = 20;

/// Returns how long earlier sets of a folder are kept. A time that the user gives is recorded for
/// later runs.
///
/// # Errors
/// If the folder cannot be read or written.
pub(super) fn keep_time(folder: &ParityFolder, given: Option<Duration>) -> io::Result<Duration> {
    let recorded = folder.read_text(KEEP_EARLIER, TIME_LEN_MAX)?.and_then(|text| {
        let seconds = std::str::from_utf8(&text).ok()?.trim_end().parse().ok()?;
        Some(Duration::from_secs(seconds))
    });
    if let Some(given) = given
        && recorded != Some(given)
    {
        folder.write_text(KEEP_EARLIER, given.as_secs().to_string().as_bytes())?;
    }
    Ok(given.or(recorded).unwrap_or(Duration::from_secs(KEPT_S)))
}

/// Returns the folder of earlier sets, and those in it whose time is over, or of which later sets
/// have all files that are not protected as they are there. `None` if there is no such folder.
///
/// # Errors
/// If the folder cannot be read.
pub(super) fn outlived(
    folder: &ParityFolder,
    keep: Duration,
    now: Timestamp,
    is_protected: &dyn Fn(&Member) -> bool,
) -> io::Result<Option<(ParityFolder, Vec<SetId>)>> {
    let Some(folder) = folder.earlier()? else { return Ok(None) };
    let mut sets = Vec::new();
    for id in folder.ids()? {
        sets.push((folder.length_and_time(&id)?.1, id));
    }
    // The latest first.
    sets.sort_unstable_by(|one, other| other.cmp(one));
    let (mut outlived, keys) = (Vec::new(), FileKeys::default());
    // The latest contents of each path. A file that is cut has them in several sets.
    let mut latest: HashMap<u64, u64> = HashMap::new();
    let keep_s = i64::try_from(keep.as_secs()).unwrap_or(i64::MAX);
    for (since, id) in sets {
        if since.seconds > now.seconds {
            // A clock was wrong: its time begins now.
            folder.set_earlier_since(&id, now)?;
        } else if now.seconds.saturating_sub(since.seconds) >= keep_s {
            outlived.push(id);
            continue;
        }
        let Ok(stored) = folder.set(&id) else { continue };
        let members = stored.set.index().members().iter();
        let edited = members.filter(|member| !is_protected(member));
        let mut is_latest = false;
        for Member { file, .. } in edited {
            let tag = keys.of_tag(&file.tag);
            is_latest |= *latest.entry(keys.of_parts(&file.path, &[])).or_insert(tag) == tag;
        }
        if !is_latest {
            outlived.push(id);
        }
    }
    Ok(Some((folder, outlived)))
}
