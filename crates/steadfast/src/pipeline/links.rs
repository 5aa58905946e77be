//! Hard links: a file with several names is read once and reported under each name.
//!
//! Takes the identities of files with more than one link. Decides which name is read, which names
//! wait, and which further events a finished file has. Memory is bounded: if there are too many
//! linked files, some are read again.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use steadfast_sys::file::Status;

use super::locked;
use crate::event::{FileEvent, FilePath};
use crate::walk::Identity;

/// The most finished linked files that are remembered.
const FINISHED_MAX: usize = 10_000;

/// The linked files of one run.
pub(super) struct Links {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    files: HashMap<Identity, Linked>,
    /// The finished files, oldest first, which are removed to make room. Files under way are never
    /// removed, because then two threads could read and tag the same file.
    finished: VecDeque<Identity>,
}

/// A file with several names, some of which have not been found yet.
struct Linked {
    /// The file's status when it was claimed.
    then: Status,
    /// Names that may still be found, without the first.
    names_left: u64,
    state: LinkState,
}

enum LinkState {
    /// It is being read under its first name; these names wait.
    UnderWay(Vec<(u64, FilePath)>),
    /// It is finished, with this event.
    Finished(Box<FileEvent>),
}

/// What to do with one name of a linked file.
pub(super) enum Claim {
    /// Read it. The file is linked, and other names may wait for it.
    First,
    /// Read it. No other name uses the result.
    Alone,
    /// Nothing: its event comes with that of the first name.
    Waits,
    /// It is finished already.
    Finished(Box<FileEvent>),
}

impl Links {
    pub(super) fn new() -> Links {
        Links { known: Mutex::new(Known::default()) }
    }

    /// Claims a file under one of its names.
    pub(super) fn claim(&self, status: &Status, number: u64, path: &FilePath) -> Claim {
        if status.links < 2 {
            return Claim::Alone;
        }
        let identity = (status.device, status.inode);
        let mut known = locked(&self.known);
        let Some(linked) = known.files.get_mut(&identity) else {
            let state = LinkState::UnderWay(Vec::new());
            let linked = Linked { then: *status, names_left: status.links - 1, state };
            known.files.insert(identity, linked);
            return Claim::First;
        };
        linked.names_left = linked.names_left.saturating_sub(1);
        match &mut linked.state {
            // It was changed meanwhile, so the earlier result does not apply.
            _ if !same_file(&linked.then, status) => Claim::Alone,
            LinkState::UnderWay(waiting) => {
                waiting.push((number, path.clone()));
                Claim::Waits
            }
            LinkState::Finished(event) => {
                let event = for_name(event, path.clone());
                if linked.names_left == 0 {
                    known.files.remove(&identity);
                }
                Claim::Finished(event)
            }
        }
    }

    /// Finishes a linked file, and adds the events of the names that waited.
    pub(super) fn finish(
        &self,
        status: &Status,
        event: &FileEvent,
        done: &mut Vec<(u64, Box<FileEvent>)>,
    ) {
        if status.links < 2 {
            return;
        }
        let identity = (status.device, status.inode);
        let mut known = locked(&self.known);
        let Some(linked) = known.files.get_mut(&identity) else { return };
        if !same_file(&linked.then, status) {
            return;
        }
        let LinkState::UnderWay(waiting) = &mut linked.state else { return };
        let waiting = std::mem::take(waiting);
        done.extend(waiting.into_iter().map(|(number, path)| (number, for_name(event, path))));
        linked.state = LinkState::Finished(Box::new(event.clone()));
        if linked.names_left == 0 {
            known.files.remove(&identity);
            return;
        }
        known.finished.push_back(identity);
        while known.finished.len() > FINISHED_MAX {
            let oldest = known.finished.pop_front().expect("not empty");
            if matches!(
                known.files.get(&oldest),
                Some(Linked { state: LinkState::Finished(..), .. })
            ) {
                known.files.remove(&oldest);
            }
        }
    }
}

/// Returns whether a file is unchanged. The change time is ignored, because writing the tag changes
/// it.
fn same_file(then: &Status, now: &Status) -> bool {
    then.length == now.length && then.mtime == now.mtime
}

/// Returns the same event under another name.
fn for_name(event: &FileEvent, path: FilePath) -> Box<FileEvent> {
    let mut event = Box::new(event.clone());
    event.path = path;
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use steadfast_sys::file::{FileKind, Timestamp};

    fn status(inode: u64, links: u64, seconds: i64) -> Status {
        let time = Timestamp { seconds, nanoseconds: 0 };
        Status {
            device: 1,
            inode,
            kind: FileKind::Regular,
            length: 10,
            links,
            mtime: time,
            ctime: time,
            mode: 0o644,
            uid: 0,
            gid: 0,
            dataless: false,
        }
    }

    fn path() -> FilePath {
        FilePath::whole(Path::new("a"))
    }

    #[test]
    fn a_name_met_after_a_change_is_read_by_itself() {
        let links = Links::new();
        let (before, after) = (status(7, 3, 5), status(7, 3, 6));
        assert!(matches!(links.claim(&before, 0, &path()), Claim::First));
        assert!(matches!(links.claim(&after, 1, &path()), Claim::Alone));
        assert!(matches!(links.claim(&before, 2, &path()), Claim::Waits));
        let mut done = Vec::new();
        links.finish(&after, &FileEvent::new(path()), &mut done);
        assert!(done.is_empty(), "what was read after the change is no answer for before");
        links.finish(&before, &FileEvent::new(path()), &mut done);
        assert_eq!(done.len(), 1);
    }

    #[test]
    fn what_is_under_way_is_found_however_many_others_are_finished() {
        let links = Links::new();
        assert!(matches!(links.claim(&status(1, 2, 5), 0, &path()), Claim::First));
        let mut done = Vec::new();
        for inode in 2..FINISHED_MAX as u64 + 100 {
            let other = status(inode, 2, 5);
            assert!(matches!(links.claim(&other, inode, &path()), Claim::First));
            links.finish(&other, &FileEvent::new(path()), &mut done);
        }
        assert!(locked(&links.known).files.len() <= FINISHED_MAX + 1);
        assert!(matches!(links.claim(&status(1, 2, 5), 9, &path()), Claim::Waits));
        let newest = status(FINISHED_MAX as u64 + 99, 2, 5);
        assert!(matches!(links.claim(&newest, 9, &path()), Claim::Finished(_)));
    }
}
