//! `check` against references that are not our tags: read, hash, compare with a manifest or another
//! tool's record.

use steadfast_digest::Algorithm;
use steadfast_manifest::parts::PartsHasher;
use steadfast_sys::file::File;

use super::judge::{judge_undigested, read_nevertheless};
use super::tag_context::{TagContext, TagLookup};
use crate::event::FileEvent;
use crate::pipeline::{Algorithms, ByteSink, Contents, Digests, Plan, Task};
use crate::reference::Reference;
use crate::verdict::Verdict;

/// Compares every file that has a reference.
pub(super) struct CompareTask {
    pub(super) context: TagContext,
}

impl Task for CompareTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        let mut own = self.own_tag(file, event);
        if self.context.judge_length(file, event).is_some() {
            let Some(own) = &mut own else { return Plan::Done };
            if self.context.judge_length(file, own).is_some() {
                believe(event, own);
                return Plan::Done;
            }
            read_nevertheless(event);
        }
        let own = own.and_then(|own| own.stored).map(|stored| stored.algorithm);
        match hashed(event, own) {
            Some(algorithms) => Plan::Hash { algorithms, settled: false },
            None => {
                judge_undigested(event);
                Plan::Done
            }
        }
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        // Without a digest in the reference, its length decides.
        let by_list = event.reference.as_deref().and_then(algorithms).or_else(|| {
            let stored = self.own_tag(file, event)?.stored?;
            Some(Algorithms::one(stored.algorithm))
        });
        let Some(by_list) = by_list else { return };
        self.context.judge_by_reference(file, event, contents, by_list);
        if event.verdict != Some(Verdict::Differs) {
            return;
        }
        let Some(mut own) = self.own_tag(file, event) else { return };
        let Some(stored) = own.stored else { return };
        let Some(hashed) = hashed(event, Some(stored.algorithm)) else { return };
        let by_second = contents.digests.second;
        let digest = match stored.algorithm {
            first if first == hashed.first => Some(contents.digests.first),
            other => by_second.filter(|_| hashed.second == Some(other)),
        };
        if let Some(first) = digest {
            let digests = Digests { first, second: None };
            let contents = Contents { digests, ..contents };
            self.context.judge(file, &mut own, stored.algorithm, contents);
            believe(event, &own);
        }
    }

    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        parts_sink(event)
    }
}

/// Returns a sink that compares a file with the digest of parts of its reference, if that has one.
pub(super) fn parts_sink(event: &FileEvent) -> Option<Box<dyn ByteSink>> {
    let parts = event.reference.as_deref()?.parts.as_deref()?;
    Some(Box::new(PartsSink(Some(PartsHasher::new(parts)))))
}

struct PartsSink(Option<PartsHasher>);

impl ByteSink for PartsSink {
    fn take(&mut self, data: &[u8]) {
        self.0.iter_mut().for_each(|hasher| hasher.update(data));
    }

    fn close(&mut self, event: &mut FileEvent) {
        event.reading.has_parts = self.0.take().and_then(PartsHasher::finalize);
    }

    fn finish(self: Box<Self>, _event: &mut FileEvent) {}
}

impl CompareTask {
    /// Returns an event with the tag of a file whose reference has no time: that or the catalogue
    /// may say why the contents differ.
    fn own_tag(&self, file: &File, event: &FileEvent) -> Option<FileEvent> {
        let reference = event.reference.as_deref()?;
        if reference.mtime.is_some() || reference.recorded.is_some() {
            return None;
        }
        let mut own = FileEvent::new(event.path.clone());
        own.visit.status = event.visit.status;
        matches!(self.context.look_up(file, &mut own), TagLookup::Tag(_)).then_some(own)
    }
}

/// Returns the algorithms to hash a file with: those of its reference, and that of its own tag if
/// that may tell more and there is room.
fn hashed(event: &FileEvent, own: Option<Algorithm>) -> Option<Algorithms> {
    match event.reference.as_deref().and_then(algorithms) {
        Some(Algorithms { first, second: None }) => {
            Some(own.map_or(Algorithms::one(first), |own| Algorithms::two(first, own)))
        }
        Some(both) => Some(both),
        None => own.filter(|_| event.length() != listed_length(event)).map(Algorithms::one),
    }
}

/// Returns the length that the reference of a file has.
fn listed_length(event: &FileEvent) -> Option<u64> {
    event.reference.as_deref().and_then(|reference| reference.length)
}

/// Gives a file that differs from a list the verdict by its own tag, if that says more.
fn believe(event: &mut FileEvent, own: &FileEvent) {
    if own.verdict.is_some_and(Verdict::is_alarm) {
        (event.verdict, event.visit.reason) = (own.verdict, own.reason());
        event.stored = own.stored;
        event.tag_place = own.tag_place;
    }
}

/// Returns the algorithms to hash with: the two strongest, if the reference has more. Besides a
/// digest of parts, which a sink compares, SHA-256 is computed.
pub(super) fn algorithms(reference: &Reference) -> Option<Algorithms> {
    let by_parts = reference.parts.iter().map(|_| Algorithm::Sha256);
    let mut algorithms = reference.digests.iter().map(|(algorithm, _)| *algorithm).chain(by_parts);
    let first = algorithms.next()?;
    Some(algorithms.next().map_or(Algorithms::one(first), |other| Algorithms::two(first, other)))
}
