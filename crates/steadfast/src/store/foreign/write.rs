//! Writes a tag the way another tool does, beside ours or instead of it.
//!
//! In: an open file and what its contents are. Out: the attributes, set, read back and compared.
//! The digest is taken away first and set last, so that at any moment there is the old tag, the new
//! one, or half of one, which every reader can tell from a tag.

use std::io;

use steadfast_digest::Algorithm;
use steadfast_sys::file::{File, Timestamp};
use steadfast_sys::xattr;

use crate::event::FileError;
use crate::store::xattr::trouble;
use crate::tag::Tag;

use super::names::Slot;
use super::{ForeignKind, Held, VALUE_LEN_MAX};
use super::{assemble_kind, calendar, dintch, held_on, shatag};

const SETTING: &str = "set the foreign tag";

/// What is done where the file has another tag of that kind already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and is trouble. A tag of the same contents is no other tag: its times are set.
    Keep,
    /// The new tag takes its place.
    Replace,
}

/// Returns the attributes, by name and value, that a tool of this kind would set, in the order of
/// setting them; `None` if it has no place for the tag's algorithm, or if only the kernel sets it.
pub fn encode(kind: ForeignKind, tag: &Tag) -> Option<Vec<(String, Vec<u8>)>> {
    Some(placed(values(kind, tag)?, &[], tag))
}

/// Writes a tag as another tool does, and reads it back.
///
/// # Errors
/// If the kind has no place for the tag's algorithm; if another tag is there that is to be kept;
/// if the system refuses, or what is read back is not what was written. The old tag is put back
/// then, as far as the system lets it.
pub fn write(
    file: &File,
    kind: ForeignKind,
    tag: &Tag,
    existing: Existing,
) -> Result<(), FileError> {
    let new = values(kind, tag).ok_or_else(|| {
        refusal(format!("{} keeps no digests of {}", kind.owner(), tag.algorithm))
    })?;
    let mut old =
        held_on(file).map_err(|error| FileError::from_io("read the tag again", &error))?;
    old.retain(|held| held.slot.kind() == kind);
    let new = placed(new, &old, tag);
    if old.len() == new.len() && new.iter().all(|attribute| is_held(&old, attribute)) {
        return Ok(());
    }
    if existing == Existing::Keep && !is_of(&old, kind, tag) {
        return Err(refusal(format!("another tag of {} is there", kind.owner())));
    }
    replace(file, &old, &new).map_err(|error| trouble(file, SETTING, &error))
}

fn refusal(reason: String) -> FileError {
    FileError { operation: SETTING, reason }
}

/// The attributes of a kind, the digest last.
fn values(kind: ForeignKind, tag: &Tag) -> Option<Vec<(Slot, Vec<u8>)>> {
    let hex = || tag.digest.to_string().into_bytes();
    let seconds = |time: Timestamp| time.seconds.to_string().into_bytes();
    let sha256 = tag.algorithm == Algorithm::Sha256;
    match kind {
        ForeignKind::Shatag if sha256 => Some(vec![
            (Slot::ShatagTime, shatag::print_time_like(None, tag.mtime).into_bytes()),
            (Slot::ShatagDigest, hex()),
        ]),
        ForeignKind::Dintch if sha256 => Some(vec![
            (Slot::DintchTime, calendar::print(tag.tagged).into_bytes()),
            (Slot::DintchHash, dintch::print_like(None, &tag.digest)),
        ]),
        ForeignKind::Unraid => {
            let of_tag = |slot: &Slot| slot.algorithm() == Some(tag.algorithm);
            let digest = Slot::UNRAID_DIGESTS.into_iter().find(of_tag)?;
            Some(vec![
                (Slot::UnraidScanDate, seconds(tag.tagged)),
                (Slot::UnraidFileDate, seconds(tag.mtime)),
                (Slot::UnraidFileSize, tag.length.to_string().into_bytes()),
                (digest, hex()),
            ])
        }
        ForeignKind::Shatag | ForeignKind::Dintch | ForeignKind::Ima => None,
    }
}

/// Gives every value its name: the one it has on the file already, so that whoever carried it here
/// finds it again, or the tool's own. Where a tool has several forms, a value keeps the old one's.
fn placed(values: Vec<(Slot, Vec<u8>)>, old: &[Held], tag: &Tag) -> Vec<(String, Vec<u8>)> {
    let held = |slot| old.iter().find(|held| held.slot == slot);
    let hash = held(Slot::DintchHash);
    let value_of = |slot| held(slot).and_then(|held| held.value.as_deref().ok());
    let hash_value = value_of(Slot::DintchHash);
    // 32 bytes may end in a NUL of their own; Samba's comes on top of a digest.
    let ends_in_nul = hash_value.is_some_and(|value| value.len() != 32 && value.ends_with(&[0]));
    let place = |(slot, mut value): (Slot, Vec<u8>)| {
        let name = match (held(slot), hash) {
            (Some(held), _) => held.name.clone(),
            (None, Some(hash)) if slot == Slot::DintchTime => {
                hash.name.replace("dintch.hash", "dintch.time")
            }
            _ => slot.own_name().into_owned(),
        };
        match slot {
            Slot::ShatagTime => {
                value = shatag::print_time_like(value_of(slot), tag.mtime).into_bytes();
            }
            Slot::DintchHash => value = dintch::print_like(hash_value, &tag.digest),
            Slot::DintchTime if ends_in_nul => value.push(0),
            _ => {}
        }
        (name, value)
    };
    values.into_iter().map(place).collect()
}

fn is_held(old: &[Held], (name, value): &(String, Vec<u8>)) -> bool {
    old.iter().any(|held| held.name == *name && held.value.as_ref() == Ok(value))
}

/// Says whether what is there is no tag at all, or one of the same contents.
fn is_of(old: &[Held], kind: ForeignKind, tag: &Tag) -> bool {
    match assemble_kind(old, kind)[..] {
        [] => true,
        [Ok(found)] => {
            found.algorithm == tag.algorithm
                && found.digest == tag.digest
                && found.length.is_none_or(|length| length == tag.length)
        }
        _ => false,
    }
}

/// Where attributes are set: a file, or what stands for one in a test.
trait Place {
    fn set(&self, name: &str, value: &[u8]) -> io::Result<()>;
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Says whether an attribute has a value.
    fn has(&self, name: &str, value: &[u8]) -> io::Result<bool>;
}

impl Place for File {
    fn set(&self, name: &str, value: &[u8]) -> io::Result<()> {
        xattr::set(self, name, value)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        xattr::remove(self, name).map(drop)
    }

    fn has(&self, name: &str, value: &[u8]) -> io::Result<bool> {
        let mut found = [0; VALUE_LEN_MAX];
        match xattr::get(self, name, &mut found) {
            Ok(len) => Ok(len.is_some_and(|len| &found[..len] == value)),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Puts the new attributes in the place of the old ones, or leaves the old ones.
fn replace(place: &dyn Place, old: &[Held], new: &[(String, Vec<u8>)]) -> io::Result<()> {
    let stays = |held: &Held| new.iter().any(|(name, _)| *name == held.name);
    let goes = |held: &&Held| held.slot.is_digest() || !stays(held);
    let mut removed = old.iter().filter(goes);
    removed
        .try_for_each(|held| place.remove(&held.name))
        .and_then(|()| new.iter().try_for_each(|(name, value)| set(place, name, value)))
        .inspect_err(|_| restore(place, old, new))
}

fn set(place: &dyn Place, name: &str, value: &[u8]) -> io::Result<()> {
    place.set(name, value)?;
    if place.has(name, value)? {
        return Ok(());
    }
    // SMB servers have been seen to drop an attribute that is set again.
    place.remove(name)?;
    place.set(name, value)?;
    match place.has(name, value)? {
        true => Ok(()),
        false => Err(io::Error::other("what was read back is not what was written")),
    }
}

/// Undoes what was written and sets the old attributes again, the digests last. The error that led
/// here is what is reported: nothing more can be done about a refusal now.
fn restore(place: &dyn Place, old: &[Held], new: &[(String, Vec<u8>)]) {
    for (name, _) in new.iter().rev() {
        if place.remove(name).is_err() {
            // A digest that cannot be taken away must keep the times it has.
            return;
        }
    }
    let (digests, others): (Vec<&Held>, Vec<&Held>) =
        old.iter().partition(|held| held.slot.is_digest());
    let values = others.into_iter().chain(digests).filter_map(|held| {
        let value = held.value.as_ref().ok()?;
        Some((&held.name, value))
    });
    for (name, value) in values {
        if set(place, name, value).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ForeignTag, ForeignTags, of_attributes, recognised};
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;
    use steadfast_digest::Digest;

    fn tag(algorithm: Algorithm) -> Tag {
        let digest: Vec<u8> = (1..=64).collect();
        Tag {
            algorithm,
            digest: Digest::from_slice(&digest[..algorithm.digest_len()]).unwrap(),
            length: 9,
            mtime: Timestamp::from_nanoseconds(1_704_164_645_123_456_789),
            tagged: Timestamp { seconds: 1_763_650_000, nanoseconds: 0 },
        }
    }

    fn read(attributes: &[(String, Vec<u8>)]) -> ForeignTag {
        let pairs = attributes.iter().map(|(name, value)| (name.as_bytes(), &value[..]));
        let [Ok(tag)] = of_attributes(pairs)[..] else { panic!("{attributes:?}") };
        tag
    }

    #[test]
    fn what_is_written_reads_as_it_was() {
        for algorithm in Algorithm::ALL {
            let tag = tag(*algorithm);
            for kind in ForeignKind::ALL {
                let Some(attributes) = encode(kind, &tag) else { continue };
                let read = read(&attributes);
                assert_eq!((read.kind, read.algorithm), (kind, tag.algorithm));
                assert_eq!(read.digest, tag.digest);
                let mtime = read.mtime.map(|mtime| mtime.time);
                match kind {
                    ForeignKind::Shatag => assert_eq!(mtime, Some(tag.mtime)),
                    ForeignKind::Unraid => {
                        let whole = Timestamp { nanoseconds: 0, ..tag.mtime };
                        assert_eq!(mtime, Some(whole));
                        assert_eq!(read.length, Some(9));
                        assert_eq!(read.tagged, Some(tag.tagged));
                    }
                    _ => assert_eq!(read.tagged, Some(tag.tagged)),
                }
            }
        }
    }

    #[test]
    fn a_kind_without_a_place_for_the_algorithm_has_no_attributes() {
        let kinds = |algorithm| {
            let some = |kind: &ForeignKind| encode(*kind, &tag(algorithm)).is_some();
            ForeignKind::ALL.into_iter().filter(some).collect::<Vec<_>>()
        };
        let all = [ForeignKind::Shatag, ForeignKind::Unraid, ForeignKind::Dintch];
        assert_eq!(kinds(Algorithm::Sha256), all);
        assert_eq!(kinds(Algorithm::Md5), [ForeignKind::Unraid]);
        assert_eq!(kinds(Algorithm::Crc32c), []);
    }

    #[test]
    fn the_digest_is_set_last() {
        for kind in [ForeignKind::Shatag, ForeignKind::Unraid, ForeignKind::Dintch] {
            let attributes = encode(kind, &tag(Algorithm::Sha256)).unwrap();
            let digests: Vec<bool> =
                attributes.iter().map(|(name, _)| Slot::of(name).unwrap().is_digest()).collect();
            assert_eq!(digests.iter().position(|is| *is), Some(digests.len() - 1), "{kind}");
        }
    }

    #[test]
    fn a_carried_tag_keeps_its_names_and_its_form() {
        let name = "user.DosStream.co.eclecticlight.dintch.hash#S:$DATA";
        let value = Ok([&[0xab; 32][..], &[0]].concat());
        let old = [Held { slot: Slot::DintchHash, name: name.to_owned(), value }];
        let tag = tag(Algorithm::Sha256);
        let new = placed(values(ForeignKind::Dintch, &tag).unwrap(), &old, &tag);
        assert_eq!(new[0].0, name.replace("hash", "time"));
        assert_eq!(new[0].1.last(), Some(&0));
        assert_eq!(new[1].0, name);
        assert_eq!(new[1].1, [tag.digest.as_bytes(), &[0]].concat());
    }

    /// How a place misbehaves.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Fault {
        /// It refuses two calls.
        Refuses,
        /// It refuses one call, and does nothing from another on, as if the power were gone.
        Dies,
        /// It drops an attribute that is set while it is there.
        DropsSetAgain,
        /// It cuts whatever is set, from some call on.
        Cuts,
    }

    /// Attributes in memory, and trouble at two calls by their numbers.
    struct Faulty {
        attributes: RefCell<BTreeMap<String, Vec<u8>>>,
        fault: Fault,
        at: [u32; 2],
        calls: Cell<u32>,
    }

    /// A call that is never made.
    const NEVER: u32 = u32::MAX;

    impl Faulty {
        fn with(old: &[(String, Vec<u8>)], fault: Fault, at: [u32; 2]) -> Faulty {
            let attributes = RefCell::new(old.iter().cloned().collect());
            Faulty { attributes, fault, at, calls: Cell::new(0) }
        }

        fn call(&self) -> io::Result<bool> {
            let call = self.calls.get() + 1;
            self.calls.set(call);
            match (self.fault, self.at) {
                (Fault::Refuses, at) if at.contains(&call) => {
                    Err(io::ErrorKind::PermissionDenied.into())
                }
                (Fault::Dies, [once, on]) if call == once || call >= on => {
                    Err(io::ErrorKind::NotConnected.into())
                }
                (Fault::Cuts, [on, _]) => Ok(call >= on),
                _ => Ok(false),
            }
        }

        fn held(&self) -> Vec<Held> {
            let held = |(name, value): (&String, &Vec<u8>)| {
                let (name, slot) = recognised(name.as_bytes()).unwrap();
                Held { slot, name: name.to_owned(), value: Ok(value.clone()) }
            };
            self.attributes.borrow().iter().map(held).collect()
        }

        fn tags(&self) -> ForeignTags {
            super::super::assemble(&self.held())
        }
    }

    impl Place for Faulty {
        fn set(&self, name: &str, value: &[u8]) -> io::Result<()> {
            let cut = self.call()?;
            let mut attributes = self.attributes.borrow_mut();
            if self.fault == Fault::DropsSetAgain && attributes.remove(name).is_some() {
                return Ok(());
            }
            let value = if cut { &value[..value.len() / 2] } else { value };
            attributes.insert(name.to_owned(), value.to_vec());
            Ok(())
        }

        fn remove(&self, name: &str) -> io::Result<()> {
            self.call()?;
            self.attributes.borrow_mut().remove(name);
            Ok(())
        }

        fn has(&self, name: &str, value: &[u8]) -> io::Result<bool> {
            self.call()?;
            Ok(self.attributes.borrow().get(name).is_some_and(|found| found == value))
        }
    }

    /// The tag of an edited file.
    fn edited(tag: &Tag) -> Tag {
        Tag {
            digest: Digest::from_slice(&[0xab; 32]).unwrap(),
            length: 10,
            mtime: Timestamp::from_nanoseconds(1_704_164_700_000_000_000),
            tagged: Timestamp { seconds: 1_763_660_000, nanoseconds: 0 },
            ..*tag
        }
    }

    /// Replaces a tag by that of an edited file, with trouble at every call in turn and at every
    /// later one besides, and shows how each ended.
    fn at_every_call(fault: Fault, mut ended: impl FnMut(&Faulty, bool, &[ForeignTags; 2])) {
        for kind in [ForeignKind::Shatag, ForeignKind::Unraid, ForeignKind::Dintch] {
            let tag = tag(Algorithm::Sha256);
            let (old, new) = (encode(kind, &tag).unwrap(), encode(kind, &edited(&tag)).unwrap());
            let whole = |attributes: &[_]| Faulty::with(attributes, fault, [NEVER; 2]).tags();
            let tags = [whole(&old), whole(&new)];
            // More calls than any of them makes, the restoring of the old tag included.
            for once in 1..40 {
                for again in (once + 1..40).chain([NEVER]) {
                    let place = Faulty::with(&old, fault, [once, again]);
                    let outcome = replace(&place, &place.held(), &new);
                    assert!(place.calls.get() < 40);
                    ended(&place, outcome.is_ok(), &tags);
                }
            }
        }
    }

    #[test]
    fn a_refusal_leaves_the_old_tag_wherever_it_comes() {
        at_every_call(Fault::Refuses, |place, ok, [old, new]| {
            let tags = place.tags();
            match place.at {
                [_, NEVER] => assert_eq!(&tags, if ok { new } else { old }),
                _ => assert!(tags == *old || tags == *new || !tags.iter().any(Result::is_ok)),
            }
        });
    }

    #[test]
    fn a_loss_of_power_leaves_the_old_tag_the_new_one_or_half_of_one() {
        at_every_call(Fault::Dies, |place, _, [old, new]| {
            let tags = place.tags();
            let half = !tags.iter().any(Result::is_ok);
            assert!(tags == *old || tags == *new || half, "{:?}: {tags:?}", place.at);
        });
    }

    #[test]
    fn a_place_that_drops_what_is_set_again_is_asked_twice() {
        at_every_call(Fault::DropsSetAgain, |place, ok, [_, new]| {
            assert!(ok);
            assert_eq!(place.tags(), *new);
        });
    }

    #[test]
    fn what_is_not_read_back_is_not_believed() {
        at_every_call(Fault::Cuts, |place, ok, [old, new]| {
            let tags = place.tags();
            assert_eq!(ok, tags == *new);
            assert!(ok || tags == *old || !tags.iter().any(Result::is_ok), "{tags:?}");
        });
    }
}
