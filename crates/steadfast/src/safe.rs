//! May the source be erased? What each copy proves, and what is lacking.
//!
//! Input: for each file of a source, the places that have its contents, each with its device and
//! how it was read. Output: yes, or no with the reasons counted. It is yes only if each file is in
//! enough places on different devices, proved by readings that came from no cache.

mod device;
mod existing;
mod held_path;
mod missing;

use strum::{IntoStaticStr, VariantArray};

pub use device::{Apartness, Device, Grade};
pub(crate) use device::{Devices, UncachedFile};
pub(crate) use existing::left_out;
pub use existing::{SafeFile, SafeList, SafePlace, SafeRequest, SafeSummary, safe};
pub(crate) use held_path::{FileIdentity, FileSum, HeldPath, held_folders};
pub(crate) use missing::missing_files;

use crate::exit_status::ExitStatus;
pub use crate::tree_folder::OwnFolders;
use crate::verdict::Verdict;

/// What is lacking before a file may be erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Lack {
    /// A copy of it was gone when it had another name: both were one file.
    CopyGone,
    /// Its contents are not those of its record: a check calls it corrupt or suspect.
    Corrupt,
    /// It changed during the run, or two readings of it differ.
    Changed,
    /// It could not be read, or not be written where it was to be copied.
    NotCopied,
    /// It is not a regular file, or was left out, so nothing was copied or looked for.
    LeftOut,
    /// It was not copied because an archive has it by its record, which nobody read.
    KnownOnly,
    /// Something else is now where a copy was proved.
    OtherVolume,
    /// It is in too few places.
    TooFew,
    /// A place is the source itself, or another place, under another name.
    OnePlace,
    /// Its places are on one device.
    OneDevice,
    /// A place is in a file without a name.
    FromDeleted,
    /// A place is in memory.
    FromMemory,
    /// The system does not tell whether its places are two, or on different devices.
    NotTold,
    /// A server may have answered from its memory.
    FromServer,
    /// A place is in a list, and nobody read it.
    FromList,
    /// It was read through a cache, which proves nothing about the medium.
    FromCache,
    /// It is kept in the tree of the file system, which was not read past its cache.
    FromTree,
    /// The run was stopped, or found no file.
    NotSeen,
    /// No copy has all that belongs to it: dates, owner, rights and attributes.
    Belongings,
    /// It was kept in `.steadfast/damaged` of the source, and was not looked for elsewhere.
    Kept,
}

impl Lack {
    /// Every lack, the most serious first.
    pub const ALL: [Lack; 20] = *Lack::VARIANTS.as_array().expect("there are twenty lacks");

    /// Returns the name in lower case, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns what is lacking of a file that a check calls corrupt, suspect or unreadable.
    pub(crate) fn of_damage(verdict: Verdict) -> Lack {
        match verdict {
            Verdict::Corrupt | Verdict::Suspect => Lack::Corrupt,
            _ => Lack::NotCopied,
        }
    }

    fn exit_status(self) -> ExitStatus {
        match self {
            Lack::CopyGone | Lack::Corrupt => ExitStatus::Corrupt,
            Lack::LeftOut
            | Lack::TooFew
            | Lack::OnePlace
            | Lack::OneDevice
            | Lack::Belongings
            | Lack::Kept => ExitStatus::Changed,
            _ => ExitStatus::Undetermined,
        }
    }
}

/// The answer: yes, or what is lacking for how many files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SafeAnswer {
    lacks: [u64; Lack::ALL.len()],
    files: u64,
    own_folders: OwnFolders,
}

impl SafeAnswer {
    /// Returns whether the source may be erased.
    pub fn is_yes(&self) -> bool {
        self.files > 0 && self.lacks.iter().all(|count| *count == 0)
    }

    /// Returns what the source's folders of ours have, which was not copied.
    pub fn own_folders(&self) -> OwnFolders {
        self.own_folders
    }

    pub(crate) fn note_own_folders(&mut self, found: OwnFolders) {
        self.own_folders = found;
        self.note(Lack::Kept, found.kept);
    }

    /// Returns whether the contents are safe, and something that belongs to them is not.
    pub fn is_yes_but(&self) -> bool {
        let is_beside = |(lack, _): (Lack, u64)| matches!(lack, Lack::Belongings | Lack::Kept);
        self.files > 0 && !self.is_yes() && self.lacks().all(is_beside)
    }

    /// Returns what is lacking, with the number of files, the most serious first.
    pub fn lacks(&self) -> impl Iterator<Item = (Lack, u64)> {
        Lack::ALL.into_iter().zip(self.lacks).filter(|(_, count)| *count > 0)
    }

    /// Returns how many files were judged.
    pub fn files(&self) -> u64 {
        self.files
    }

    /// Returns the status: `Fine` if it is yes.
    pub fn exit_status(&self) -> ExitStatus {
        let most = self.lacks().map(|(lack, _)| lack.exit_status()).max();
        most.unwrap_or(ExitStatus::Undetermined.only_if(self.files == 0))
    }

    pub(crate) fn count(&mut self, lack: Option<Lack>) {
        self.files += 1;
        if let Some(lack) = lack {
            self.note(lack, 1);
        }
    }

    pub(crate) fn note(&mut self, lack: Lack, files: u64) {
        self.lacks[lack as usize] += files;
    }
}

/// How much is asked of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SafeRule {
    /// Places on different devices, the source not counted.
    pub copies: usize,
    /// Whether the user knows that places are two which the system does not tell apart.
    pub apart: bool,
    /// Whether what a server answers counts, and with `apart` what a list says.
    pub servers: bool,
    /// Whether what is kept in the tree of a file system counts.
    pub tree: bool,
}

impl Default for SafeRule {
    fn default() -> SafeRule {
        SafeRule { copies: 2, apart: false, servers: false, tree: false }
    }
}

impl SafeRule {
    /// Returns what is lacking of a file, by the proved places of its contents.
    ///
    /// Places are counted one by one: each counts if it is apart from the source and from all that
    /// were counted before. A place on the device of the source does not count, because whoever
    /// formats that erases both; only who asks for a single copy may have it there, as another
    /// file.
    pub fn lack(&self, source: Option<&Device>, proofs: &[(&Device, Grade)]) -> Option<Lack> {
        let apartness = |a: &Device, b: &Device| match self.copies > 1 {
            true => a.apartness(b),
            false => a.files_apart(b),
        };
        let (mut counted, mut lack): (Vec<&Device>, Lack) = (Vec::new(), Lack::TooFew);
        for (device, grade) in proofs {
            let others = source.iter().chain(&counted);
            let (files, devices) = others.fold((Apartness::Apart, Apartness::Apart), |most, it| {
                (most.0.max(it.files_apart(device)), most.1.max(apartness(it, device)))
            });
            let reason = match (grade, devices) {
                _ if files == Apartness::Same => Lack::OnePlace,
                (_, Apartness::Same) => Lack::OneDevice,
                (Grade::Deleted, _) => Lack::FromDeleted,
                (Grade::Memory, _) => Lack::FromMemory,
                (Grade::Cache, _) => Lack::FromCache,
                (Grade::Server, _) if !self.servers => Lack::FromServer,
                (Grade::Listed, _) if !(self.servers && self.apart) => Lack::FromList,
                (Grade::Tree, _) if !self.tree => Lack::FromTree,
                (_, Apartness::Untold) if !self.apart => Lack::NotTold,
                _ => {
                    counted.push(device);
                    continue;
                }
            };
            lack = lack.max(reason);
        }
        (counted.len() < self.copies.max(1)).then_some(lack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(copies: usize) -> SafeRule {
        SafeRule { copies, ..SafeRule::default() }
    }

    #[test]
    fn only_different_devices_that_were_read_count() {
        let [a, b] = [1, 2].map(|number| Device::real(number, &[&format!("sd{number}")]));
        let partition = Device::real(3, &["sd1"]);
        let virtual_disk = Device::untold(4, &["vda"]);
        let medium = |device| (device, Grade::Medium);
        assert_eq!(rule(2).lack(None, &[medium(&a), medium(&b)]), None);
        assert_eq!(rule(2).lack(None, &[medium(&a)]), Some(Lack::TooFew));
        assert_eq!(rule(2).lack(None, &[]), Some(Lack::TooFew));
        assert_eq!(rule(2).lack(None, &[medium(&a), medium(&a)]), Some(Lack::OneDevice));
        assert_eq!(rule(2).lack(None, &[medium(&a), medium(&partition)]), Some(Lack::OneDevice));
        assert_eq!(rule(2).lack(None, &[medium(&a), medium(&virtual_disk)]), Some(Lack::NotTold));
        let apart = SafeRule { apart: true, ..rule(2) };
        assert_eq!(apart.lack(None, &[medium(&a), medium(&virtual_disk)]), None);
        assert_eq!(apart.lack(None, &[medium(&a), medium(&partition)]), Some(Lack::OneDevice));
        assert_eq!(rule(2).lack(None, &[medium(&a), (&b, Grade::Cache)]), Some(Lack::FromCache));
        assert_eq!(rule(2).lack(None, &[medium(&a), (&b, Grade::Server)]), Some(Lack::FromServer));
        assert_eq!(rule(1).lack(None, &[(&b, Grade::Cache)]), Some(Lack::FromCache));
        assert_eq!(rule(0).lack(None, &[]), Some(Lack::TooFew), "nothing is never enough");
        let of_two_reasons = [medium(&a), medium(&a), (&b, Grade::Cache)];
        let the_same = [(&b, Grade::Cache), medium(&a), medium(&a)];
        assert_eq!(rule(2).lack(None, &of_two_reasons), rule(2).lack(None, &the_same));
        let three = [medium(&a), medium(&partition), medium(&b)];
        assert_eq!(rule(2).lack(None, &three), None);
        assert_eq!(rule(3).lack(None, &three), Some(Lack::OneDevice));
        let beside = [medium(&a), medium(&b)];
        assert_eq!(rule(2).lack(Some(&partition), &beside), Some(Lack::OneDevice));
        assert_eq!(rule(1).lack(Some(&partition), &beside[..1]), None, "one copy was asked for");
    }

    #[test]
    fn what_is_proved_to_be_one_stays_one_whatever_the_user_says() {
        let view = || (Device::untold(1, &[]).viewing(), Device::untold(2, &["sda"]));
        let told = |copies| SafeRule { copies, apart: true, servers: true, tree: true };
        let (mut pool, mut branch) = view();
        for copies in [1, 2] {
            let lack = rule(copies).lack(Some(&pool), &[(&branch, Grade::Medium)]);
            assert_eq!(lack, Some(Lack::NotTold), "an untold source is as an untold copy");
        }
        assert_eq!(told(1).lack(Some(&pool), &[(&branch, Grade::Medium)]), None);
        pool.note_shown(&mut branch, "a draft");
        for copies in [1, 2] {
            let lack = told(copies).lack(Some(&pool), &[(&branch, Grade::Medium)]);
            assert_eq!(lack, Some(Lack::OnePlace));
        }
        let [a, b] = [1, 2].map(|number| Device::real(number, &[&format!("sd{number}")]));
        for (grade, lack) in [
            (Grade::Tree, Some(Lack::FromTree)),
            (Grade::Memory, Some(Lack::FromMemory)),
            (Grade::Deleted, Some(Lack::FromDeleted)),
        ] {
            assert_eq!(rule(2).lack(None, &[(&a, Grade::Medium), (&b, grade)]), lack);
            let lack = lack.filter(|it| *it != Lack::FromTree);
            assert_eq!(told(2).lack(None, &[(&a, Grade::Medium), (&b, grade)]), lack);
        }
    }

    #[test]
    fn an_answer_is_yes_only_of_files_that_lack_nothing() {
        let mut answer = SafeAnswer::default();
        assert!(!answer.is_yes() && answer.exit_status() == ExitStatus::Undetermined);
        answer.count(None);
        assert!(answer.is_yes() && answer.exit_status() == ExitStatus::Fine);
        answer.note(Lack::TooFew, 1);
        assert!(!answer.is_yes() && answer.exit_status() == ExitStatus::Changed);
        answer.note(Lack::Corrupt, 1);
        assert_eq!(answer.exit_status(), ExitStatus::Corrupt);
        assert_eq!(answer.lacks().next(), Some((Lack::Corrupt, 1)));
    }
}
