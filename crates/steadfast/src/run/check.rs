//! `check`: walk, read, hash, compare — every tagged file gets its verdict. Nothing is written.

use steadfast_digest::Algorithm;
use steadfast_sys::file::File;

use super::judge::{Found, Tools};
use crate::hash::{Algorithms, Contents, Plan, Task};
use crate::monitor::FileEvent;
use crate::verdict::Verdict;

pub(super) struct CheckTask {
    pub(super) tools: Tools,
}

impl Task for CheckTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.tools.look_up(file, event) {
            Found::Tag(tag) => {
                return Plan::Hash { algorithms: Algorithms::one(tag.algorithm), settled: false };
            }
            Found::Nothing | Found::NoPlace => event.verdict = Some(Verdict::Untagged),
            Found::Unreadable => {}
        }
        Plan::Done
    }

    fn conclude(&self, _file: &File, event: &mut FileEvent, contents: Contents) {
        let algorithm = stored_algorithm(event);
        self.tools.judge(event, algorithm, contents);
    }
}

/// The algorithm that a file with a tag was hashed with.
pub(super) fn stored_algorithm(event: &FileEvent) -> Algorithm {
    event.stored.expect("only files with a tag are hashed").algorithm
}
