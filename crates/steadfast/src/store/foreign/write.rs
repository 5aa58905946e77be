//! Writes a tag in another tool's format, beside ours or instead of it.
//!
//! Takes an open file and the tag of its contents. Sets the attributes, reads them back and
//! compares them. The digest is removed first and set last, so that at any moment there is the old
//! tag, the new one, or an incomplete one, which every reader recognises as incomplete.

use std::io;

use steadfast_sys::file::File;
use steadfast_sys::xattr::{self, MAC_PREFIX};

use crate::event::FileError;
use crate::store::xattr::trouble;
use steadfast_manifest::tag::Tag;

use super::{ForeignAttribute, ForeignKind, VALUE_LEN_MAX, encode, encode_over, held_on, is_of};

const SETTING: &str = "set the foreign tag";

/// What happens if the file has another tag of that kind already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingTag {
    /// It stays, and writing fails. If the tag has the same contents, its times are set.
    Keep,
    /// The new tag replaces it.
    Replace,
}

/// Writes a tag in another tool's format, and reads it back.
///
/// # Errors
/// If the kind has no place for the tag's algorithm, if another tag must be kept, if the system
/// refuses, or if the tag was read back differently. In that case the old tag is restored as far as
/// the system allows.
pub fn write(
    file: &File,
    kind: ForeignKind,
    tag: &Tag,
    existing: ExistingTag,
) -> Result<(), FileError> {
    let no_place = || refusal(format!("{} keeps no digests of {}", kind.owner(), tag.algorithm));
    encode(kind, tag).ok_or_else(no_place)?;
    let mut old =
        held_on(file).map_err(|error| FileError::from_io("read the tag again", &error))?;
    old.retain(|held| held.slot.kind() == kind);
    let new = encode_over(kind, tag, &old, MAC_PREFIX).ok_or_else(no_place)?;
    if old.len() == new.len() && new.iter().all(|attribute| is_held(&old, attribute)) {
        return Ok(());
    }
    if existing == ExistingTag::Keep && !is_of(&old, kind, tag) {
        return Err(refusal(format!("another tag of {} is there", kind.owner())));
    }
    replace(file, &old, &new).map_err(|error| trouble(file, SETTING, &error))
}

fn refusal(reason: String) -> FileError {
    FileError::new(SETTING, reason)
}

fn is_held(old: &[ForeignAttribute], (name, value): &(String, Vec<u8>)) -> bool {
    old.iter().any(|held| held.name == *name && held.value.as_ref() == Ok(value))
}

/// A place for attributes: a file, or its substitute in a test.
trait AttributeSink {
    fn set(&self, name: &str, value: &[u8]) -> io::Result<()>;
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Returns whether an attribute has a value.
    fn has(&self, name: &str, value: &[u8]) -> io::Result<bool>;
}

impl AttributeSink for File {
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

/// Replaces the old attributes by the new ones. If that fails, the old ones are restored.
fn replace(
    place: &dyn AttributeSink,
    old: &[ForeignAttribute],
    new: &[(String, Vec<u8>)],
) -> io::Result<()> {
    let stays = |held: &ForeignAttribute| new.iter().any(|(name, _)| *name == held.name);
    let goes = |held: &&ForeignAttribute| held.slot.is_digest() || !stays(held);
    let mut removed = old.iter().filter(goes);
    removed
        .try_for_each(|held| place.remove(&held.name))
        .and_then(|()| new.iter().try_for_each(|(name, value)| set(place, name, value)))
        .inspect_err(|_| restore(place, old, new))
}

fn set(place: &dyn AttributeSink, name: &str, value: &[u8]) -> io::Result<()> {
    place.set(name, value)?;
    if place.has(name, value)? {
        return Ok(());
    }
    // Some SMB servers drop an attribute that is set again.
    place.remove(name)?;
    place.set(name, value)?;
    match place.has(name, value)? {
        true => Ok(()),
        false => Err(io::Error::other("what was read back is not what was written")),
    }
}

/// Undoes what was written and sets the old attributes again, the digests last. Further refusals
/// are ignored, because the caller reports the error that led here.
fn restore(place: &dyn AttributeSink, old: &[ForeignAttribute], new: &[(String, Vec<u8>)]) {
    for (name, _) in new.iter().rev() {
        if place.remove(name).is_err() {
            // A digest that cannot be removed must keep its times.
            return;
        }
    }
    let (digests, others): (Vec<&ForeignAttribute>, Vec<&ForeignAttribute>) =
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
    use super::super::{ForeignTags, assemble, recognised};
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;
    use steadfast_digest::{Algorithm, Digest};
    use steadfast_sys::file::Timestamp;

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

    /// A fault of a simulated place.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum SinkFault {
        /// It refuses two calls.
        Refuses,
        /// It refuses one call, and ignores all calls from another one on, as if power was lost.
        Dies,
        /// It drops an attribute that is set again.
        DropsSetAgain,
        /// It truncates every attribute that is set, from some call on.
        Cuts,
    }

    /// Attributes in memory, with faults at two calls, given by their numbers.
    struct Faulty {
        attributes: RefCell<BTreeMap<String, Vec<u8>>>,
        fault: SinkFault,
        at: [u32; 2],
        calls: Cell<u32>,
    }

    /// The number of a call that is never made.
    const NEVER: u32 = u32::MAX;

    impl Faulty {
        fn with(old: &[(String, Vec<u8>)], fault: SinkFault, at: [u32; 2]) -> Faulty {
            let attributes = RefCell::new(old.iter().cloned().collect());
            Faulty { attributes, fault, at, calls: Cell::new(0) }
        }

        fn call(&self) -> io::Result<bool> {
            let call = self.calls.get() + 1;
            self.calls.set(call);
            match (self.fault, self.at) {
                (SinkFault::Refuses, at) if at.contains(&call) => {
                    Err(io::ErrorKind::PermissionDenied.into())
                }
                (SinkFault::Dies, [once, on]) if call == once || call >= on => {
                    Err(io::ErrorKind::NotConnected.into())
                }
                (SinkFault::Cuts, [on, _]) => Ok(call >= on),
                _ => Ok(false),
            }
        }

        fn held(&self) -> Vec<ForeignAttribute> {
            let held = |(name, value): (&String, &Vec<u8>)| {
                let (name, slot) = recognised(name.as_bytes()).unwrap();
                ForeignAttribute { slot, name: name.to_owned(), value: Ok(value.clone()) }
            };
            self.attributes.borrow().iter().map(held).collect()
        }

        fn tags(&self) -> ForeignTags {
            assemble(&self.held())
        }
    }

    impl AttributeSink for Faulty {
        fn set(&self, name: &str, value: &[u8]) -> io::Result<()> {
            let cut = self.call()?;
            let mut attributes = self.attributes.borrow_mut();
            if self.fault == SinkFault::DropsSetAgain && attributes.remove(name).is_some() {
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

    /// Returns the tag of an edited file.
    fn edited(tag: &Tag) -> Tag {
        Tag {
            digest: Digest::from_slice(&[0xab; 32]).unwrap(),
            length: 10,
            mtime: Timestamp::from_nanoseconds(1_704_164_700_000_000_000),
            tagged: Timestamp { seconds: 1_763_660_000, nanoseconds: 0 },
            ..*tag
        }
    }

    /// Replaces a tag by that of an edited file, once for each pair of faulty calls, and passes on
    /// how each replacement ended.
    fn at_every_call(fault: SinkFault, mut ended: impl FnMut(&Faulty, bool, &[ForeignTags; 2])) {
        for kind in [ForeignKind::Shatag, ForeignKind::Unraid, ForeignKind::Dintch] {
            let tag = tag(Algorithm::Sha256);
            let (old, new) = (encode(kind, &tag).unwrap(), encode(kind, &edited(&tag)).unwrap());
            let whole = |attributes: &[_]| Faulty::with(attributes, fault, [NEVER; 2]).tags();
            let tags = [whole(&old), whole(&new)];
            // More calls than any replacement makes, including the restoring of the old tag.
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
        at_every_call(SinkFault::Refuses, |place, ok, [old, new]| {
            let tags = place.tags();
            match place.at {
                [_, NEVER] => assert_eq!(&tags, if ok { new } else { old }),
                _ => assert!(tags == *old || tags == *new || !tags.iter().any(Result::is_ok)),
            }
        });
    }

    #[test]
    fn a_loss_of_power_leaves_the_old_tag_the_new_one_or_half_of_one() {
        at_every_call(SinkFault::Dies, |place, _, [old, new]| {
            let tags = place.tags();
            let half = !tags.iter().any(Result::is_ok);
            assert!(tags == *old || tags == *new || half, "{:?}: {tags:?}", place.at);
        });
    }

    #[test]
    fn a_place_that_drops_what_is_set_again_is_asked_twice() {
        at_every_call(SinkFault::DropsSetAgain, |place, ok, [_, new]| {
            assert!(ok);
            assert_eq!(place.tags(), *new);
        });
    }

    #[test]
    fn what_is_not_read_back_is_not_believed() {
        at_every_call(SinkFault::Cuts, |place, ok, [old, new]| {
            let tags = place.tags();
            assert_eq!(ok, tags == *new);
            assert!(ok || tags == *old || !tags.iter().any(Result::is_ok), "{tags:?}");
        });
    }
}
