//! The proof that a set may be removed. [`ParityFolder`](super::folder::ParityFolder) removes
//! nothing without one, so no caller can forget to ask.
//!
//! A set goes only if each of its files is proved whole under another set, or was edited and the
//! edit accepted, or if a person asked for it by name.

use std::path::PathBuf;

use steadfast_manifest::tag::Tag;
use steadfast_parity::{Member, SetIndex};

use super::identity::SetId;

/// What became of a file of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MemberFate {
    /// It is proved whole under another set, in this run.
    Proved,
    /// It was edited, and its new contents were tagged.
    Edited,
    /// A person asked to forget it by name, or accepted that it is missing.
    LetGo,
    /// The set is still needed for it, and why.
    Needed(String),
}

/// How a set goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetEnding {
    /// It is removed.
    Removed,
    /// It has contents that were edited since. It is kept for a time among earlier sets.
    Earlier,
}

/// A set that may go.
#[derive(Debug)]
pub(super) struct Superseded {
    id: SetId,
    ending: SetEnding,
}

impl Superseded {
    /// Takes a set, and asks what became of each of its files.
    ///
    /// # Errors
    /// The files for which it is still needed, and why.
    pub(super) fn by_fates(
        id: SetId,
        index: &SetIndex,
        fate_of: &mut dyn FnMut(&Member) -> MemberFate,
    ) -> Result<Superseded, Vec<(PathBuf, String)>> {
        let (mut needed, mut ending) = (Vec::new(), SetEnding::Removed);
        for member in index.members() {
            match fate_of(member) {
                MemberFate::Proved | MemberFate::LetGo => {}
                MemberFate::Edited => ending = SetEnding::Earlier,
                MemberFate::Needed(why) => needed.push((member.file.path.clone(), why)),
            }
        }
        match needed.is_empty() {
            true => Ok(Superseded { id, ending }),
            false => Err(needed),
        }
    }

    /// Takes a set, and one on the medium that was written from it with other names, times or modes
    /// of its files; `None` if that is another.
    pub(super) fn by_rewriting(
        id: SetId,
        index: &SetIndex,
        rewritten: (SetId, &SetIndex),
    ) -> Option<Superseded> {
        let (other, new) = rewritten;
        let is_same = |(one, two): (&Member, &Member)| {
            let place = |member: &Member| (member.start, member.length, member.page, member.offset);
            let tags = (Tag::decode(&one.file.tag), Tag::decode(&two.file.tag));
            place(one) == place(two)
                && one.sets == two.sets
                && matches!(tags, (Ok(one), Ok(two)) if one.same_contents(&two))
        };
        let is_rewritten = other != id
            && index.geometry() == new.geometry()
            && index.marks() == new.marks()
            && index.members().len() == new.members().len()
            && index.members().iter().zip(new.members()).all(is_same);
        is_rewritten.then_some(Superseded { id, ending: SetEnding::Removed })
    }

    /// Takes a set that this run made, of a file that then failed its tag. There was none of it
    /// before.
    pub(super) fn as_failed(id: SetId) -> Superseded {
        Superseded { id, ending: SetEnding::Removed }
    }

    /// Takes a set that a person asked to remove by name.
    pub(super) fn as_asked(id: SetId) -> Superseded {
        Superseded { id, ending: SetEnding::Removed }
    }

    /// Takes an earlier set, which only serves to undo edits: its time is over, later ones have all
    /// files, it is damaged, or it must give way.
    pub(super) fn as_outlived(id: SetId) -> Superseded {
        Superseded { id, ending: SetEnding::Removed }
    }

    /// Returns the set.
    pub(super) fn id(&self) -> &SetId {
        &self.id
    }

    /// Returns how it goes.
    pub(super) fn ending(&self) -> SetEnding {
        self.ending
    }
}
