//! The first tag of a file: planned, judged by another tool's tag if there is one, and written.

use std::io;

use steadfast_sys::file::File;

use super::check::first_foreign;
use super::judge::{judge_known, read_nevertheless};
use super::tag_context::TagContext;
use crate::event::{Action, FileError, FileEvent};
use crate::pipeline::{Algorithms, Contents, Plan};
use crate::store::Replaces;
use crate::verdict::Verdict;
use steadfast_manifest::tag::TagPlace;

impl TagContext {
    /// Plans to give a file its first tag, and to judge it by another tool's tag if it has one, so
    /// that decayed contents are not tagged.
    pub(super) fn plan_first(&self, file: &File, event: &mut FileEvent) -> Plan {
        match first_foreign(file, event) {
            Ok(reference) => event.reference = reference.map(Box::new),
            Err(error) => {
                // The contents may have decayed since that record was made, and a tag would hide
                // it.
                let until = "not tagged until that record is removed, or made again by its tool";
                let reason = format!("{}; {until}", error.reason);
                event.fail(FileError { reason, ..error });
                return Plan::Done;
            }
        }
        if self.judge_length(file, event).is_some_and(Verdict::may_be_decay) {
            return Plan::Done;
        }
        read_nevertheless(event);
        let new = self.new_algorithm();
        let reference = event.reference.as_deref();
        let its = reference.and_then(|reference| reference.digests.first()).map(|(its, _)| *its);
        match its {
            Some(its) => self.plan(Algorithms::two(new, its)),
            None if !self.is_ready(file, event) => Plan::Done,
            None if self.dry_run => {
                event.action = Some(Action::Tagged);
                Plan::Done
            }
            None => self.plan(Algorithms::one(new)),
        }
    }

    /// Returns whether a first tag could be stored, so that no file is read in vain.
    pub(super) fn is_ready(&self, file: &File, event: &mut FileEvent) -> bool {
        if event.tag_place == TagPlace::CatalogueAlone {
            return true;
        }
        let Err(trouble) = self.store.ready(file) else { return true };
        if self.place_in_catalogue(event, &trouble) {
            return true;
        }
        event.visit.has_no_place = trouble.kind == Some(io::ErrorKind::Unsupported);
        event.trouble = Some(trouble);
        false
    }

    /// Writes the first tag of a file, unless its contents may have decayed by the event's
    /// reference, which is then kept.
    pub(super) fn tag_first(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let tag = self.judge(file, event, self.new_algorithm(), contents);
        let reference = event.reference.take();
        let second = contents.digests.second;
        event.reference = reference;
        let judged = judge_known(None, event.reference.as_deref(), &tag, second, || {
            self.evidence(file, event)
        });
        if let Some((judged, by_reference)) = judged.filter(|(it, _)| it.verdict.may_be_decay()) {
            event.actual = Some(by_reference);
            event.judged(judged);
            return;
        }
        event.reference = None;
        // The file has a tag from here on and is no longer untagged.
        event.verdict = None;
        self.write(file, event, &tag, Replaces::Nothing, Action::Tagged);
    }
}
