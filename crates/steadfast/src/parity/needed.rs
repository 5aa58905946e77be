//! The one question about a set of parity: is it needed?
//!
//! A set is needed while one of its files is recorded with the contents that the set has, unless
//! another set is proved to have them. Input: what is recorded of each file (`recorded.rs`), and
//! what other sets have of it (`protection.rs`). Output: the proof that the set may be removed, or
//! for which of its files it is needed. [`ParityFolder`](super::folder::ParityFolder) removes
//! nothing without such a proof, so no caller can forget to ask.

use std::path::PathBuf;

use steadfast_manifest::tag::Tag;
use steadfast_parity::{Member, ProtectedFile, SetIndex};

use super::identity::SetId;
use crate::event::FileError;
use crate::verdict::Verdict;

/// What tags and the catalogue record of a file that a set has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    /// The contents that the set has, at its path: the file as it is now.
    Here(ProtectedFile),
    /// These contents, but the file is not there, or has no tag.
    Lost {
        /// Whether something is at its path.
        is_there: bool,
        /// Why it is not released, although missing files are.
        why_kept: Option<FileError>,
    },
    /// Other contents, and why that does not show that an edit was accepted.
    Disputed(&'static str),
    /// Other contents: an edit was accepted.
    Edited,
    /// Nothing any more: a person ended its protection.
    Released {
        /// Whether something is at its path.
        is_there: bool,
    },
    /// That cannot be determined, and why.
    Unclear(String),
}

/// What other sets have of a file with the contents that a set has, under its present path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherSets {
    /// They do not have it.
    Lack,
    /// They do not have it, because reading it failed.
    Failed(Verdict),
    /// One has it. The file must be read to prove it.
    Have,
    /// A sound one has it, and the file was read whole in this run.
    Prove,
}

/// Whether a set is needed for one of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SetNeed {
    /// It is not.
    No,
    /// Only to undo an edit.
    ToUndo,
    /// That is known when the file was read, which another set has.
    Unproved,
    /// It is, and why.
    Yes(String),
}

impl SetNeed {
    /// Answers for one file. `similar` is a file that may be this one, damaged: it has the same
    /// length and time, and other contents.
    pub(super) fn of(recorded: Recorded, others: OtherSets, similar: Option<&PathBuf>) -> SetNeed {
        let yes = |why: &str| SetNeed::Yes(why.to_owned());
        match (recorded, others) {
            (Recorded::Unclear(why), _) => SetNeed::Yes(why),
            (_, OtherSets::Prove) => SetNeed::No,
            (_, OtherSets::Have) => SetNeed::Unproved,
            (Recorded::Here(_), OtherSets::Failed(verdict)) => {
                SetNeed::Yes(format!("it is {}", verdict.name()))
            }
            (Recorded::Here(_), OtherSets::Lack) => yes("no other set has it"),
            (Recorded::Released { .. }, _) => SetNeed::No,
            (Recorded::Disputed(why), _) => yes(why),
            (Recorded::Lost { is_there: true, .. }, _) => yes("it has no tag any more"),
            (Recorded::Lost { why_kept, .. }, _) => {
                SetNeed::Yes(why_kept.map_or_else(|| "it is missing".to_owned(), |why| why.reason))
            }
            (Recorded::Edited, _) => similar.map_or(SetNeed::ToUndo, |similar| {
                let similar = similar.display();
                let why = "now, which has its length and time and other contents";
                SetNeed::Yes(format!("it may be `{similar}` {why}"))
            }),
        }
    }
}

/// A set that may be removed.
#[derive(Debug)]
pub(super) struct Unneeded {
    id: SetId,
    is_to_undo: bool,
}

impl Unneeded {
    /// Asks for each file of a set.
    ///
    /// # Errors
    /// The files for which it is needed, and why.
    pub(super) fn by_files(
        id: SetId,
        index: &SetIndex,
        mut need_of: impl FnMut(&Member) -> SetNeed,
    ) -> Result<Unneeded, Vec<(PathBuf, String)>> {
        let (mut needed, mut is_to_undo) = (Vec::new(), false);
        for member in index.members() {
            let why = match need_of(member) {
                SetNeed::No => continue,
                SetNeed::ToUndo => {
                    is_to_undo = true;
                    continue;
                }
                SetNeed::Unproved => {
                    "another set has it, and the file or that set is damaged".into()
                }
                SetNeed::Yes(why) => why,
            };
            needed.push((member.file.path.clone(), why));
        }
        if needed.is_empty() { Ok(Unneeded { id, is_to_undo }) } else { Err(needed) }
    }

    /// Takes a set, and one on the medium that was written from it with other names, times or modes
    /// of its files; `None` if that is another.
    pub(super) fn by_rewritten(
        (id, index): (SetId, &SetIndex),
        (other, rewritten): (SetId, &SetIndex),
    ) -> Option<Unneeded> {
        let place = |it: &Member| (it.start, it.length, it.sets, it.page, it.offset);
        let has_contents = |(one, two): (&Member, &Member)| {
            let tags = (Tag::decode(&one.file.tag), Tag::decode(&two.file.tag));
            place(one) == place(two)
                && matches!(tags, (Ok(one), Ok(two)) if one.same_contents(&two))
        };
        let (before, now) = (index.members(), rewritten.members());
        let is_rewritten = id != other
            && index.geometry() == rewritten.geometry()
            && index.marks() == rewritten.marks()
            && before.len() == now.len()
            && before.iter().zip(now).all(has_contents);
        is_rewritten.then_some(Unneeded { id, is_to_undo: false })
    }

    /// Takes a set that a person asked to remove by name; or that only served to undo an edit, or
    /// was made in this run, of a file that then failed its tag.
    pub(super) fn by_decision(id: SetId) -> Unneeded {
        Unneeded { id, is_to_undo: false }
    }

    /// Returns the set.
    pub(super) fn id(&self) -> &SetId {
        &self.id
    }

    /// Says whether it can undo an edit, so that it is kept for a time.
    pub(super) fn is_to_undo(&self) -> bool {
        self.is_to_undo
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use OtherSets::{Failed, Have, Lack, Prove};

    /// The table of `docs/reference/parity.md`, row by row: what is recorded, and the answer by
    /// what other sets have.
    #[test]
    fn each_row_of_the_table_has_its_answer() {
        let file = ProtectedFile {
            path: "a".into(),
            length: 1,
            mode: 0o600,
            uid: 0,
            gid: 0,
            tag: Vec::new(),
            attributes: None,
            has_links: false,
        };
        let why = Some(FileError::new("end its protection", "not mounted"));
        let lost = |is_there, why_kept| Recorded::Lost { is_there, why_kept };
        let yes = |why: &str| SetNeed::Yes(why.to_owned());
        let corrupt = Failed(Verdict::Corrupt);
        for (recorded, others, need) in [
            (Recorded::Here(file.clone()), Lack, yes("no other set has it")),
            (Recorded::Here(file), corrupt, yes("it is corrupt")),
            (lost(false, None), Lack, yes("it is missing")),
            (lost(false, why), Lack, yes("not mounted")),
            (lost(true, None), Lack, yes("it has no tag any more")),
            (Recorded::Disputed("why"), Lack, yes("why")),
            (Recorded::Edited, Lack, SetNeed::ToUndo),
            (Recorded::Released { is_there: false }, Lack, SetNeed::No),
            (Recorded::Released { is_there: true }, Lack, SetNeed::No),
        ] {
            for (others, need) in [(others, need), (Have, SetNeed::Unproved), (Prove, SetNeed::No)]
            {
                let found = SetNeed::of(recorded.clone(), others, None);
                assert_eq!(found, need, "{recorded:?} {others:?}");
            }
        }
        for others in [Lack, corrupt, Have, Prove] {
            let unclear = Recorded::Unclear("it cannot be opened".to_owned());
            assert_eq!(SetNeed::of(unclear, others, None), yes("it cannot be opened"));
        }
        let similar = PathBuf::from("b");
        let found = SetNeed::of(Recorded::Edited, Lack, Some(&similar));
        assert!(matches!(found, SetNeed::Yes(why) if why.starts_with("it may be `b` now")));
        assert_eq!(SetNeed::of(Recorded::Edited, Prove, Some(&similar)), SetNeed::No);
    }
}
