//! `update` and `retag`: walk, read, hash, compare, store. `update` gives new files a tag and
//! modified ones a new one; `retag` replaces tags only, also by those of another algorithm. Files
//! that look corrupt keep their tag as evidence, unless they are accepted too.

use steadfast_sys::file::File;

use super::judge::read_nevertheless;
use super::options::{RetagOptions, SuspectUse, UpdateOptions};
use super::tag_context::{TagContext, TagLookup};
use crate::event::{Action, FileEvent};
use crate::pipeline::{Algorithms, ByteSink, Contents, Plan, Task};
use crate::store::Replaces;
use crate::verdict::Verdict;
use steadfast_digest::Algorithm;
use steadfast_manifest::tag::{Tag, TagPlace};

pub(super) struct UpdateTask {
    context: TagContext,
    /// Whether only existing tags are replaced.
    is_retag: bool,
    /// Whether lost tags are restored from the catalogue.
    restores: bool,
    /// The algorithm that existing tags are moved to.
    moves_to: Option<Algorithm>,
    suspects: SuspectUse,
    /// Whether corrupt contents are accepted, and damaged tags replaced.
    accepts_all: bool,
}

impl UpdateTask {
    pub(super) fn update(context: TagContext, options: UpdateOptions) -> UpdateTask {
        UpdateTask {
            context,
            is_retag: false,
            restores: options.restore_tags,
            moves_to: None,
            suspects: options.accept_suspect,
            accepts_all: false,
        }
    }

    pub(super) fn retag(context: TagContext, options: RetagOptions) -> UpdateTask {
        UpdateTask {
            context,
            is_retag: true,
            restores: false,
            moves_to: options.algorithm,
            suspects: SuspectUse::Leave,
            accepts_all: options.accept,
        }
    }
}

impl Task for UpdateTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.context.look_up(file, event) {
            TagLookup::Tag(tag) => {
                let verdict = self.context.judge_length(file, event);
                if verdict.is_some_and(|verdict| self.keeps(verdict, event, &tag))
                    && !self.context.may_be_earlier(file, event)
                {
                    self.context.locate(file, event);
                    return Plan::Done;
                }
                read_nevertheless(event);
                let wanted = self.moves_to.unwrap_or(tag.algorithm);
                return self.context.plan(Algorithms::two(tag.algorithm, wanted));
            }
            TagLookup::Unreadable if self.accepts_all => {
                (event.verdict, event.trouble) = (None, None);
                return self.context.plan(Algorithms::one(self.context.new_algorithm()));
            }
            TagLookup::Unreadable => {}
            TagLookup::Nothing if self.is_retag || self.suspects_alone() => {
                event.verdict = Some(Verdict::Untagged);
            }
            TagLookup::Nothing => return self.context.plan_first(file, event),
        }
        Plan::Done
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let Some(stored) = event.stored else {
            return match self.is_retag {
                true => self.replace_unreadable(file, event, contents),
                false => self.context.tag_first(file, event, contents),
            };
        };
        let actual = self.context.judge(file, event, stored.algorithm, contents);
        self.context.find_earlier_tag(file, event);
        let Some(verdict) = event.verdict else { return };
        let moved = contents.digests.second.zip(self.moves_to);
        let new = moved.map_or(actual, |(digest, algorithm)| {
            self.context.tag_of(algorithm, digest, actual.length, actual.mtime)
        });
        let (replaces, action) = match verdict {
            _ if self.keeps(verdict, event, &stored) => {
                return self.context.locate(file, event);
            }
            // The catalogue confirms the contents, and the attribute is not a tag.
            Verdict::Intact if self.accepts_all && event.trouble.is_some() => {
                (Replaces::DamagedKept, Action::Retagged)
            }
            Verdict::Intact if moved.is_none() && self.may_restore(event) => {
                return self.context.restore(file, event);
            }
            Verdict::Intact if moved.is_none() => {
                event.action = self.is_retag.then_some(Action::Kept);
                return;
            }
            Verdict::Touched if moved.is_none() => (Replaces::Tag(stored), Action::Refreshed),
            verdict if verdict.judges() => (Replaces::TagKept(stored), Action::Retagged),
            _ => return,
        };
        self.context.write(file, event, &new, replaces, action);
        if !self.accepts_all {
            self.context.locate(file, event);
        }
    }

    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        let wanted = self.moves_to.or(event.stored.map(|tag| tag.algorithm));
        self.context.leaves(event, wanted.unwrap_or(self.context.new_algorithm()))
    }
}

impl UpdateTask {
    fn suspects_alone(&self) -> bool {
        self.suspects == SuspectUse::AcceptAlone
    }

    /// Returns whether a file may get its attribute from the catalogue: one that could not take it
    /// gets it unasked.
    fn may_restore(&self, event: &FileEvent) -> bool {
        let is_asked = !self.is_retag && !self.suspects_alone();
        self.restores || is_asked && event.tag_place == TagPlace::Refused
    }

    /// Returns whether a file of this verdict keeps its tag whatever it contains.
    fn keeps(&self, verdict: Verdict, event: &FileEvent, stored: &Tag) -> bool {
        match verdict {
            _ if self.accepts_all => false,
            Verdict::Corrupt => true,
            Verdict::Suspect if self.suspects == SuspectUse::Leave => true,
            Verdict::Touched | Verdict::Modified if self.suspects_alone() => true,
            Verdict::Intact if !self.is_retag => false,
            Verdict::Intact | Verdict::Touched | Verdict::Modified | Verdict::Suspect => {
                self.context.is_disputed(event, stored)
            }
            _ => false,
        }
    }

    /// Replaces an attribute that is not a valid tag; its bytes are kept beside the new tag.
    fn replace_unreadable(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let actual = self.context.judge(file, event, self.context.new_algorithm(), contents);
        event.verdict = None;
        self.context.write(file, event, &actual, Replaces::DamagedKept, Action::Retagged);
    }
}
