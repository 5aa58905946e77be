//! Assigns the verdict of each file that could be read.
//!
//! Takes an event and the contents of its file, and sets the event's verdict. [`FileEvent`] itself
//! notes that a file could not be read.

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::file::{File, Status};

use super::tag_context::TagContext;
use crate::event::{FileError, FileEvent, Resized};
use crate::exit_status::ExitStatus;
use crate::pipeline::{Algorithms, Contents};
use crate::reference::{Computed, Reference};
use crate::verdict::{ChangeEvidence, Judgement, Reading, Stored, Verdict};
use steadfast_manifest::tag::{Tag, TagPlace};

impl TagContext {
    /// Compares contents with the stored tag of the same algorithm, if there is one. Returns the
    /// tag of the present contents.
    pub(super) fn judge(
        &self,
        file: &File,
        event: &mut FileEvent,
        algorithm: Algorithm,
        contents: Contents,
    ) -> Tag {
        let Contents { digests, length, mtime } = contents;
        let actual = self.tag_of(algorithm, digests.first, length, mtime);
        if event.stored.is_some_and(|stored| !stored.same_contents(&actual)) {
            self.prefer_tag_of_path(event, &actual);
        }
        let differs = event.stored.is_some_and(|stored| !stored.same_contents(&actual));
        let stored = if differs { self.tag_as_proved(event, mtime) } else { event.stored };
        let stored = stored.as_ref().map_or(Stored::Absent, Stored::Tag);
        let judged = Judgement::of(stored, Reading::Whole(&actual), || self.evidence(file, event));
        event.judged(judged);
        event.actual = Some(actual);
        self.find_cut(file, event);
        actual
    }

    /// Judges a file by the tag of its path after all, if its inode led to another file's tag and
    /// the contents are those of the path.
    fn prefer_tag_of_path(&self, event: &mut FileEvent, actual: &Tag) {
        if event.tag_place == TagPlace::Attribute {
            return;
        }
        let known = self.records.as_ref().and_then(|records| records.tag(&event.path).ok());
        let known = known.flatten().filter(|known| known.same_contents(actual));
        event.stored = known.or(event.stored);
    }

    /// Compares contents, which were hashed with these algorithms, with the reference of their
    /// event, if it has one.
    pub(super) fn judge_by_reference(
        &self,
        file: &File,
        event: &mut FileEvent,
        contents: Contents,
        hashed: Algorithms,
    ) {
        let Some(reference) = event.reference.as_deref() else { return };
        let Contents { digests, length, mtime } = contents;
        let mut computed = vec![(hashed.first, digests.first)];
        computed.extend(hashed.second.zip(digests.second));
        let found =
            Computed { digests: &computed, has_parts: event.reading.has_parts, length, mtime };
        let judged = reference.judge(&found, || self.evidence(file, event));
        if judged.verdict == Verdict::Unreadable {
            let reason = "the digest of its record may be that of its parts, whose lengths are not \
                          recorded";
            event.trouble = Some(FileError::new("compare it", reason));
        }
        event.judged(judged);
        event.actual = Some(self.tag_of(hashed.first, digests.first, length, mtime));
    }

    /// Judges a file by its length alone, if the length differs from that of its tag, or else of
    /// its reference. The contents then differ and need not be read.
    pub(super) fn judge_length(&self, file: &File, event: &mut FileEvent) -> Option<Verdict> {
        let Status { length, mtime, .. } = event.visit.status?;
        // Files in `/proc`, and on some network file systems, have contents although their length
        // is 0.
        if length == 0 {
            return None;
        }
        let evidence = || self.evidence(file, event);
        let judged = match (&event.stored, &event.reference) {
            (Some(stored), _) if stored.length == length => None,
            (Some(_), _) => self.tag_as_proved(event, mtime).map(|stored| {
                let reading = Reading::Resized { length, mtime };
                Judgement::of(Stored::Tag(&stored), reading, evidence)
            }),
            (None, Some(reference)) => reference.judge_length(length, mtime, evidence),
            (None, None) => None,
        };
        let judged = judged?;
        event.reading.resized = Some(Resized { length, mtime });
        event.judged(judged);
        self.find_cut(file, event);
        event.verdict
    }

    /// Notes whether something wrote to a file that could not be read, so that an edit is not taken
    /// for damage.
    pub(super) fn judge_unread(&self, file: &File, event: &mut FileEvent) {
        let Some(Status { length, mtime, .. }) = event.visit.status else { return };
        if event.verdict != Some(Verdict::Unreadable) || event.reading.dataless {
            return;
        }
        if let Some(stored) = self.tag_as_proved(event, mtime) {
            let reading = Reading::Failed { length, mtime };
            let evidence = || self.evidence(file, event);
            event.judged(Judgement::of(Stored::Tag(&stored), reading, evidence));
        }
    }

    /// Finds out by the pages of a file that kept its date whether it was merely cut off.
    fn find_cut(&self, file: &File, event: &mut FileEvent) {
        if event.verdict == Some(Verdict::Modified) {
            self.locate(file, event);
        }
    }
}

/// Undoes [`TagContext::judge_length`], because the contents are read after all.
pub(super) fn read_nevertheless(event: &mut FileEvent) {
    (event.verdict, event.visit.reason, event.reading.resized) = (None, None, None);
}

/// Judges contents that were hashed with two algorithms by a known tag, or else by a reference, of
/// the second one. `actual` has the first digest, which serves as both if there is only one
/// algorithm. Also returns the tag that was used.
pub(super) fn judge_known(
    stored: Option<&Tag>,
    reference: Option<&Reference>,
    actual: &Tag,
    second: Option<Digest>,
    evidence: impl FnOnce() -> ChangeEvidence,
) -> Option<(Judgement, Tag)> {
    let digest = second.unwrap_or(actual.digest);
    if let Some(stored) = stored {
        let by_tag = Tag { algorithm: stored.algorithm, digest, ..*actual };
        let judged = Judgement::of(Stored::Tag(stored), Reading::Whole(&by_tag), evidence);
        return Some((judged, by_tag));
    }
    let reference = reference?;
    let &(algorithm, _) = reference.digests.first()?;
    let (length, mtime) = (actual.length, actual.mtime);
    let digests = &[(algorithm, digest)];
    let found = Computed { digests, has_parts: None, length, mtime };
    let judged = reference.judge(&found, evidence);
    Some((judged, Tag { algorithm, digest, ..*actual }))
}

/// Judges a file whose record has no digest that this program can compute.
pub(super) fn judge_undigested(event: &mut FileEvent) {
    let judged = event.reference.as_deref().zip(event.visit.status).map(|(reference, status)| {
        let Status { length, mtime, .. } = status;
        let found = Computed { digests: &[], has_parts: None, length, mtime };
        reference.judge(&found, || ChangeEvidence::NotKnown)
    });
    let judged = judged.unwrap_or(Verdict::Unreadable.into());
    event.judged(judged);
    if judged.verdict == Verdict::Unreadable {
        let reason = "its record has no digest that this program computes".to_owned();
        event.trouble = Some(FileError::new("compare it", reason));
    }
}

/// Returns the exit status for one event.
///
/// A difference that the verb accepted and recorded counts as resolved; in a dry run it does not.
pub(super) fn exit_status(event: &FileEvent, require_tags: bool, dry_run: bool) -> ExitStatus {
    let settled = event.action.is_some() && !dry_run;
    let verdict = match event.verdict {
        Some(verdict) if !settled => verdict.exit_status(require_tags),
        _ => ExitStatus::Fine,
    };
    verdict.max(ExitStatus::Undetermined.only_if(event.trouble.is_some()))
}
