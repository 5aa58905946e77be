//! Hard links: a file with several names is read once and reported under each.
//!
//! In: the identities of files with more than one link. Out: who reads, who waits, and for whom
//! else a finished event holds. Bounded: of more linked files than fit, some are read again.

use std::collections::HashMap;
use std::sync::Mutex;

use steadfast_sys::file::Status;

use super::locked;
use crate::monitor::{FileEvent, FilePath};

/// Linked files remembered at a time.
const FILES_MAX: usize = 10_000;

/// The linked files of one run.
pub(super) struct Links {
    files: Mutex<HashMap<(u64, u64), Linked>>,
}

/// One file with several names, of which some are still to come.
struct Linked {
    /// Names that may yet be met, the first not counted.
    names_left: u64,
    state: State,
}

enum State {
    /// Being read under its first name; these wait.
    UnderWay(Vec<(u64, FilePath)>),
    /// Finished, and this is how.
    Finished(Box<FileEvent>),
}

/// What to do with one name of a linked file.
pub(super) enum Claim {
    /// Read it; the file is linked and others may wait for it.
    First,
    /// Read it; nobody will ask.
    Alone,
    /// Nothing: it will come out when the first name does.
    Waits,
    /// It is finished already.
    Finished(Box<FileEvent>),
}

impl Links {
    pub(super) fn new() -> Links {
        Links { files: Mutex::new(HashMap::new()) }
    }

    /// Claims a file under one of its names.
    pub(super) fn claim(&self, status: &Status, number: u64, path: &FilePath) -> Claim {
        if status.links < 2 {
            return Claim::Alone;
        }
        let identity = (status.device, status.inode);
        let mut files = locked(&self.files);
        let Some(linked) = files.get_mut(&identity) else {
            if files.len() >= FILES_MAX {
                return Claim::Alone;
            }
            let state = State::UnderWay(Vec::new());
            files.insert(identity, Linked { names_left: status.links - 1, state });
            return Claim::First;
        };
        linked.names_left = linked.names_left.saturating_sub(1);
        match &mut linked.state {
            State::UnderWay(waiting) => {
                waiting.push((number, path.clone()));
                Claim::Waits
            }
            State::Finished(event) => {
                let event = for_name(event, path.clone());
                if linked.names_left == 0 {
                    files.remove(&identity);
                }
                Claim::Finished(event)
            }
        }
    }

    /// Finishes a linked file: adds the events of the names that waited.
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
        let mut files = locked(&self.files);
        let Some(linked) = files.get_mut(&identity) else { return };
        if let State::UnderWay(waiting) = &mut linked.state {
            let waiting = std::mem::take(waiting);
            done.extend(waiting.into_iter().map(|(number, path)| (number, for_name(event, path))));
            linked.state = State::Finished(Box::new(event.clone()));
        }
        if linked.names_left == 0 {
            files.remove(&identity);
        }
    }
}

/// The same event under another name; its bytes were read only once.
fn for_name(event: &FileEvent, path: FilePath) -> Box<FileEvent> {
    let mut event = Box::new(event.clone());
    event.path = path;
    event.linked = true;
    event.bytes_read = 0;
    event.elapsed_ns = 0;
    event
}
