//! What the verbs share: looks up a tag, compares it with the contents, replaces it.
//!
//! Takes an open file and its event, and fills in the event. The verbs decide what may be replaced;
//! the store does all writing.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::file::{File, Timestamp};

use crate::catalogue::CatalogueReader;
use crate::event::{Action, FileError, FileEvent};
use crate::evidence::{LastProof, evidence_of};
use crate::pages::{self, Descriptor};
use crate::pipeline::{Algorithms, ByteSink, Plan};
use crate::store::carried::SidecarTags;
use crate::store::pages::{Leaves, PageKeeper};
use crate::store::{self, Replaces, Store, StoredTag};
use crate::verdict::{ChangeEvidence, Reason, Verdict};
use steadfast_manifest::tag::{Tag, TagPlace};

/// The data that every verb needs.
#[derive(Clone)]
pub(super) struct TagContext {
    pub(super) store: Arc<dyn Store>,
    /// The catalogue's records, if the tree has a catalogue.
    pub(super) records: Option<Arc<CatalogueReader>>,
    /// The algorithm that was asked for.
    pub(super) algorithm: Option<Algorithm>,
    /// Whether attributes are accepted that differ from the catalogue's tags.
    pub(super) accept_missing: bool,
    /// Where leaves of pages are kept, for verbs that use leaves.
    pub(super) pages: Option<Arc<PageKeeper>>,
    /// Set when the run should end.
    pub(super) stop: Arc<AtomicBool>,
    pub(super) dry_run: bool,
    pub(super) ignore_change_times: bool,
    pub(super) now: fn() -> Timestamp,
}

/// The result of looking up a tag.
pub(super) enum TagLookup {
    /// No tag.
    Nothing,
    /// A tag, which is also in the event.
    Tag(Tag),
    /// The tag could not be read. The event is judged and complete.
    Unreadable,
}

impl TagContext {
    /// Returns the algorithm of a file's first tag.
    pub(super) fn new_algorithm(&self) -> Algorithm {
        self.algorithm.unwrap_or(Algorithm::Sha256)
    }

    /// Plans to hash a file whose tag may be written.
    pub(super) fn plan(&self, algorithms: Algorithms) -> Plan {
        Plan::Hash { algorithms, settled: !self.dry_run }
    }

    /// Looks for a file's tag.
    pub(super) fn look_up(&self, file: &File, event: &mut FileEvent) -> TagLookup {
        let trouble = match self.store.tag(file) {
            Ok(StoredTag::Absent) => {
                let found = self.tag_beside_or_known(event, TagPlace::Catalogue);
                if event.tag_place == TagPlace::Catalogue {
                    event.tag_place = self.place_without_attribute(file, event);
                }
                return found;
            }
            Ok(StoredTag::Impossible) => {
                return self.tag_beside_or_known(event, TagPlace::CatalogueAlone);
            }
            Ok(StoredTag::Whole(tag)) => {
                event.stored = Some(tag);
                return TagLookup::Tag(tag);
            }
            Ok(StoredTag::Damaged(error)) => {
                event.tag_error = Some(error);
                FileError::new("read the tag", error)
            }
            Err(error) => FileError::from_io("read the tag", &error),
        };
        event.trouble = Some(trouble);
        self.damaged_tag_from_catalogue(event)
    }

    /// Looks for the tag of the file itself. The catalogue's tag is used only if the file system
    /// has no place for one.
    pub(super) fn own_tag(&self, file: &File, event: &mut FileEvent) -> TagLookup {
        let found = self.look_up(file, event);
        if !event.tag_place.is_loss() {
            return found;
        }
        (event.tag_place, event.stored) = (TagPlace::Attribute, None);
        match event.trouble {
            Some(_) => {
                event.verdict = Some(Verdict::Unreadable);
                TagLookup::Unreadable
            }
            None => TagLookup::Nothing,
        }
    }

    /// Looks in the catalogue for the tag of a file whose own tag cannot be read. The error stays
    /// in the event, and the contents are judged.
    fn damaged_tag_from_catalogue(&self, event: &mut FileEvent) -> TagLookup {
        let known = self
            .records
            .as_ref()
            .map(|records| records.tag_of(&event.path, event.visit.status.as_ref()));
        if let Some(Ok(Some(tag))) = known {
            event.tag_place = TagPlace::Damaged;
            event.stored = Some(tag);
            return TagLookup::Tag(tag);
        }
        event.verdict = Some(Verdict::Unreadable);
        TagLookup::Unreadable
    }

    /// Looks for the tag of a file without an attribute: in the AppleDouble file beside it, and in
    /// the catalogue. If the two differ, the catalogue's is used, and the attribute counts as lost.
    ///
    /// `place` says whether the file could have an attribute.
    fn tag_beside_or_known(&self, event: &mut FileEvent, place: TagPlace) -> TagLookup {
        let beside = SidecarTags::of(&event.path.to_path()).map(|beside| beside.tag);
        let found = self.tag_from_catalogue(event, place);
        event.visit.has_no_place = place == TagPlace::CatalogueAlone && event.tag_place != place;
        let reason = match (beside, &found) {
            (Ok(StoredTag::Absent | StoredTag::Impossible), _) => return found,
            (Ok(StoredTag::Whole(tag)), TagLookup::Nothing) => {
                (event.tag_place, event.visit.is_beside) = (TagPlace::Attribute, true);
                (event.stored, event.visit.has_no_place) = (Some(tag), false);
                return TagLookup::Tag(tag);
            }
            (Ok(StoredTag::Whole(tag)), TagLookup::Tag(known)) => {
                if tag.same_contents(known) && place == TagPlace::Catalogue {
                    (event.tag_place, event.visit.is_beside) = (TagPlace::Attribute, true);
                }
                return found;
            }
            (Ok(StoredTag::Whole(_)), TagLookup::Unreadable) => return found,
            (Ok(StoredTag::Damaged(error)), _) => {
                event.tag_error = Some(error);
                error.to_string()
            }
            (Err(error), _) => error.to_string(),
        };
        if event.trouble.is_none() {
            let operation = "read the tag in the AppleDouble file beside it";
            event.trouble = Some(FileError::new(operation, reason));
        }
        if matches!(found, TagLookup::Nothing) {
            (event.tag_place, event.visit.is_beside) = (TagPlace::Attribute, true);
            event.verdict = Some(Verdict::Unreadable);
            return TagLookup::Unreadable;
        }
        found
    }

    /// Looks in the catalogue for the tag of a file that has none itself.
    ///
    /// `place` says whether the file could have one.
    fn tag_from_catalogue(&self, event: &mut FileEvent, place: TagPlace) -> TagLookup {
        let Some(records) = &self.records else { return TagLookup::Nothing };
        let trouble = match records.tag_of(&event.path, event.visit.status.as_ref()) {
            Ok(Some(tag)) => {
                event.tag_place = place;
                event.stored = Some(tag);
                return TagLookup::Tag(tag);
            }
            Ok(None) => {
                if place == TagPlace::CatalogueAlone && records.covers(&event.path) {
                    event.tag_place = place;
                }
                return TagLookup::Nothing;
            }
            Err(error) => FileError::new("ask the catalogue", error),
        };
        event.fail(trouble);
        TagLookup::Unreadable
    }

    /// Returns what the change time of a file says about the time since its contents were last
    /// proved: by the catalogue's entry, otherwise by the time of the tag or of the reference.
    pub(super) fn evidence(&self, file: &File, event: &FileEvent) -> ChangeEvidence {
        let Some(status) = &event.visit.status else { return ChangeEvidence::NotKnown };
        evidence_of(file, status, self.last_proof(event), self.ignore_change_times)
    }

    /// Returns the last proof of a file's contents: the catalogue's, otherwise the time of the tag.
    pub(super) fn last_proof(&self, event: &FileEvent) -> Option<LastProof> {
        let Some(stored) = &event.stored else {
            return event.reference.as_deref()?.recorded.map(LastProof::Tagged);
        };
        let records = self.records.as_ref();
        let status = event.visit.status.as_ref();
        match records.map(|records| records.last_proof(&event.path, status, stored)) {
            Some(Ok(Some(proof))) => Some(proof),
            Some(Err(_)) => None,
            Some(Ok(None)) | None => Some(LastProof::Tagged(stored.tagged)),
        }
    }

    /// Returns the stored tag as a file whose contents differ is compared with it: with the
    /// modification time of the last proof if the file still has that.
    pub(super) fn tag_as_proved(&self, event: &FileEvent, mtime: Timestamp) -> Option<Tag> {
        let is_proved = self.last_proof(event).is_some_and(|proof| proof.has_mtime(mtime));
        event.stored.map(|stored| if is_proved { Tag { mtime, ..stored } } else { stored })
    }

    /// Returns whether the catalogue has a tag of other contents than the attribute. Writing the
    /// attribute's tag would then accept it without the user's consent.
    pub(super) fn is_disputed(&self, event: &FileEvent, stored: &Tag) -> bool {
        if event.tag_place != TagPlace::Attribute || self.accept_missing {
            return false;
        }
        let Some(records) = &self.records else { return false };
        // If the lookup fails, treat the tag as disputed.
        let differs = records.tag(&event.path).map_or(true, |known| {
            known.is_some_and(|known| {
                known.algorithm != stored.algorithm || !known.same_contents(stored)
            })
        });
        let is_renamed = |status| records.is_renamed(&event.path, status, stored);
        differs
            && !event
                .visit
                .status
                .as_ref()
                .is_some_and(|status| is_renamed(status).unwrap_or(false))
    }

    /// Gives a file the attribute that it lost or could not take, if the contents still match it.
    pub(super) fn restore(&self, file: &File, event: &mut FileEvent) {
        let (Some(stored), place) = (event.stored, event.tag_place) else { return };
        let is_due =
            place.is_loss() || place == TagPlace::Refused && self.store.ready(file).is_ok();
        if is_due && matches!(event.verdict, Some(Verdict::Intact)) {
            self.write(file, event, &stored, Replaces::Nothing, Action::Restored);
            if event.tag_place.is_loss() && event.action.is_some() && !self.dry_run {
                event.tag_place = TagPlace::Attribute;
            }
            if event.tag_place == TagPlace::Refused && !self.dry_run {
                (event.action, event.visit.written) = (None, None);
            }
        }
    }

    /// Makes the tag of the present contents.
    pub(super) fn tag_of(
        &self,
        algorithm: Algorithm,
        digest: Digest,
        length: u64,
        mtime: Timestamp,
    ) -> Tag {
        Tag { algorithm, digest, length, mtime, tagged: super::whole_seconds((self.now)()) }
    }

    /// Looks for an earlier tag of contents that differ from the present tag: a loss of power can
    /// bring back an older version of a file. The verdict stays.
    pub(super) fn find_earlier_tag(&self, file: &File, event: &mut FileEvent) {
        let differs = event.verdict.is_some_and(Verdict::differs);
        let Some(actual) = event.actual.filter(|_| differs) else { return };
        let earlier = self.earlier(file, event).find(|tag| tag.same_contents(&actual));
        event.previous = earlier.map(Box::new);
    }

    /// Returns whether an earlier tag has the file's present length. The earlier contents may be
    /// back, so the file is read although its length decides the verdict.
    pub(super) fn may_be_earlier(&self, file: &File, event: &FileEvent) -> bool {
        let length = event.visit.status.map(|status| status.length);
        self.earlier(file, event).any(|tag| Some(tag.length) == length)
    }

    /// Returns the earlier tags of a file: the one kept beside its tag, and the catalogue's.
    fn earlier(&self, file: &File, event: &FileEvent) -> impl Iterator<Item = Tag> + use<> {
        let own = match self.store.previous(file) {
            Ok(StoredTag::Whole(tag)) => Some(tag),
            _ => None,
        };
        // If the lookup fails, only the attribute is used.
        let records = self.records.as_ref();
        let known = records.and_then(|records| records.tags_so_far(&event.path).ok());
        own.into_iter().chain(known.unwrap_or_default())
    }

    /// Starts to keep the leaves of a file's pages, if leaves are kept for tags of this algorithm.
    pub(super) fn leaves(
        &self,
        event: &FileEvent,
        algorithm: Algorithm,
    ) -> Option<Box<dyn ByteSink>> {
        let keeper = self.pages.as_ref().filter(|_| !self.dry_run)?;
        keeper.wants(event, algorithm).then(|| keeper.begin(event) as Box<dyn ByteSink>)
    }

    /// Locates the pages of a corrupt or suspect file that differ, if leaves are kept for its tag.
    /// Those of a file that is shorter and kept its date show whether it was merely cut off.
    pub(super) fn locate(&self, file: &File, event: &mut FileEvent) {
        let is_wanted = event.verdict.is_some_and(Verdict::is_alarm)
            || (event.verdict, event.reason()) == (Some(Verdict::Modified), Some(Reason::DateKept));
        let is_wanted = is_wanted && event.damage.is_none();
        let Some(keeper) = self.pages.as_ref().filter(|_| is_wanted) else { return };
        let (Some(stored), Some((len_bytes, _))) = (event.stored, event.extent()) else { return };
        let found = keeper.find(&stored, &event.path.to_path()).and_then(|kept| {
            let source = Descriptor { file, len_bytes };
            let damage = |kept| {
                pages::damage_of(&source, &kept, NonZeroUsize::MIN, &self.stop).map(Box::new)
            };
            kept.map(damage).transpose()
        });
        match found {
            Ok(damage) => {
                if damage.as_ref().is_some_and(|damage| damage.is_cut_off_at(len_bytes)) {
                    event.note_cut_off();
                }
                event.damage = damage;
            }
            Err(error) => note_unusable_leaves(event, &error, keeper.has_sidecars()),
        }
    }

    /// Checks that the leaves kept for an intact file are whole, because they can be made again
    /// only while the file is intact.
    pub(super) fn check_leaves(&self, event: &mut FileEvent) {
        let Some(keeper) = &self.pages else { return };
        let (Some(stored), Some(Verdict::Intact | Verdict::Touched)) =
            (event.stored, event.verdict)
        else {
            return;
        };
        if let Err(error) = keeper.ensure_whole(&stored) {
            note_unusable_leaves(event, &error, false);
        }
    }

    /// Returns where the tag is of a file that has no attribute, but a tag in the catalogue. None
    /// was lost if the file takes none (a server may show no attributes and refuse to set any), or
    /// took none when its tag was made.
    fn place_without_attribute(&self, file: &File, event: &FileEvent) -> TagPlace {
        let (records, status) = (self.records.as_ref(), event.visit.status.as_ref());
        let was_refused = || {
            let asked = records.zip(status).map(|(it, status)| it.was_refused(&event.path, status));
            asked.is_some_and(|answer| answer.unwrap_or(false))
        };
        match self.store.ready(file) {
            Err(trouble) => place_after(&trouble).unwrap_or(TagPlace::Catalogue),
            Ok(()) if was_refused() => TagPlace::Refused,
            Ok(()) => TagPlace::Catalogue,
        }
    }

    /// Makes the catalogue the place of a tag that a file does not take. Returns false if no
    /// catalogue covers the file, or the error says nothing about its attributes.
    pub(super) fn place_in_catalogue(&self, event: &mut FileEvent, trouble: &FileError) -> bool {
        let covers = self.records.as_ref().is_some_and(|records| records.covers(&event.path));
        let Some(place) = place_after(trouble).filter(|_| covers) else { return false };
        event.tag_place = place;
        true
    }

    /// Replaces a tag, unless this is a dry run, and notes what was done.
    pub(super) fn write(
        &self,
        file: &File,
        event: &mut FileEvent,
        tag: &Tag,
        replaces: Replaces,
        action: Action,
    ) {
        // A tag that only the catalogue has cannot be replaced at the file.
        let replaces = match event.tag_place {
            TagPlace::Attribute if event.visit.is_beside => Replaces::Nothing,
            TagPlace::Attribute => replaces,
            TagPlace::Damaged => Replaces::DamagedKept,
            TagPlace::Catalogue | TagPlace::Refused => match replaces {
                // If the run is killed before the catalogue has the new tag, the next run
                // recognises it by this one.
                Replaces::TagKept(lost) => Replaces::LostKept(lost),
                _ => Replaces::Nothing,
            },
            TagPlace::CatalogueAlone => Replaces::Nothing,
        };
        if !self.dry_run && event.tag_place != TagPlace::CatalogueAlone {
            let had_none = match event.tag_place {
                TagPlace::Attribute => event.stored.is_none() && replaces == Replaces::Nothing,
                place => place == TagPlace::Refused,
            };
            match self.store.write(file, tag, replaces) {
                Ok(()) if had_none => event.tag_place = TagPlace::Attribute,
                Ok(()) => {}
                Err(trouble) if had_none && self.place_in_catalogue(event, &trouble) => {}
                Err(trouble) => {
                    event.visit.has_no_place = trouble.kind == Some(io::ErrorKind::Unsupported);
                    event.trouble = Some(trouble);
                    return;
                }
            }
        }
        if replaces == Replaces::DamagedKept && !self.dry_run {
            // The new tag repairs whatever was wrong with the attribute.
            event.trouble = None;
        }
        event.visit.written = Some(Box::new(*tag));
        event.action = Some(action);
    }
}

impl ByteSink for Leaves {
    fn take(&mut self, data: &[u8]) {
        Leaves::take(self, data);
    }

    /// Keeps the leaves if the file now has a tag of the contents that were read.
    fn finish(self: Box<Leaves>, event: &mut FileEvent) {
        let own = |tag: &&Tag| event.actual.is_some_and(|actual| actual.same_contents(tag));
        let stored = event.stored.as_ref();
        let (tag, replaces) = match (event.visit.written.as_deref(), stored.filter(own)) {
            (Some(written), _) => (written, stored),
            (None, Some(own)) => (own, None),
            (None, None) => return,
        };
        if let Err(trouble) = self.keep(tag, replaces) {
            event.trouble.get_or_insert(trouble);
        }
    }
}

/// Returns where the tag of a file is to be that cannot be set, for this reason, in its attribute.
/// `None` if the reason may not concern attributes.
fn place_after(trouble: &FileError) -> Option<TagPlace> {
    use io::ErrorKind::{
        PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull, Unsupported,
    };
    match trouble.kind? {
        Unsupported => Some(TagPlace::CatalogueAlone),
        PermissionDenied | ReadOnlyFilesystem | StorageFull | QuotaExceeded => {
            Some(TagPlace::Refused)
        }
        _ => None,
    }
}

/// Notes that the leaves of a file cannot be used. The verdict stays.
fn note_unusable_leaves(event: &mut FileEvent, error: &io::Error, sidecars: bool) {
    if error.kind() != io::ErrorKind::Interrupted {
        event.trouble.get_or_insert_with(|| store::pages::trouble(error, sidecars));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::event::FilePath;

    #[test]
    fn leaves_that_cannot_be_used_are_told_unless_the_run_was_stopped() {
        let told = |kind: io::ErrorKind| {
            let mut event = FileEvent::new(FilePath::whole(Path::new("file")));
            note_unusable_leaves(&mut event, &kind.into(), true);
            event.trouble.map(|trouble| trouble.operation)
        };
        assert_eq!(told(io::ErrorKind::Interrupted), None);
        assert_eq!(told(io::ErrorKind::InvalidData), Some("use the leaves"));
    }
}
