//! Tags that other tools keep on a file: shatag and cshatag, Unraid, Dintch, Linux IMA.
//!
//! In: an open file, or attributes by name and value. Out: every foreign tag that is there, or why
//! what is there is none. The bytes are specified in `docs/formats/attributes.md`. Knows nothing of
//! verdicts: what a foreign tag says of a reading stands in `reference/foreign.rs`.

mod calendar;
mod dintch;
mod ima;
mod names;
mod shatag;
mod text;
mod unraid;
mod write;

use std::io;

use steadfast_sys::file::File;
use steadfast_sys::xattr;

use super::carrier;
use crate::appledouble::AppleDouble;

pub use crate::foreign_tag::{
    FaultReason, ForeignFault, ForeignKind, ForeignTag, ForeignTime, Resolution, VALUE_LEN_MAX,
};

use self::names::Slot;

pub use self::dintch::parse_dintch;
pub use self::ima::parse_ima;
pub use self::shatag::parse_shatag;
pub use self::unraid::{UnraidScan, parse_unraid};
pub use self::write::{Existing, encode, write};

/// Every foreign tag of one file, or why it is none; the most telling kind first.
pub type ForeignTags = Vec<Result<ForeignTag, ForeignFault>>;

/// Reads every foreign tag of a file. A file without any costs one system call and no memory.
///
/// A file system that keeps no attributes has no tags.
///
/// # Errors
/// If the system refuses to list or to read the attributes.
pub fn read(file: &File) -> io::Result<ForeignTags> {
    Ok(assemble(&held_on(file)?))
}

/// Reads the foreign tags that a sidecar keeps for its file; see [`crate::appledouble`].
///
/// # Errors
/// `InvalidData` if it is not an AppleDouble file; otherwise whatever the system says.
pub fn read_sidecar(sidecar: &File) -> io::Result<ForeignTags> {
    tags_of(sidecar, &AppleDouble::read(sidecar)?)
}

/// Reads the foreign tags in a sidecar whose parts are known.
pub(crate) fn tags_of(sidecar: &File, double: &AppleDouble) -> io::Result<ForeignTags> {
    let mut held = Vec::new();
    for attribute in double.attributes() {
        let Some((name, slot)) = recognised(&attribute.name) else { continue };
        let value = attribute.value.read(sidecar, VALUE_LEN_MAX)?.ok_or(FaultReason::TooLong);
        held.push(Held { slot, name: name.to_owned(), value });
    }
    Ok(assemble(&held))
}

/// Finds the foreign tags among attributes, by name and value.
pub fn of_attributes<'a>(
    attributes: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
) -> ForeignTags {
    let held = attributes.into_iter().filter_map(|(name, value)| {
        let (name, slot) = recognised(name)?;
        let value = match value.len() {
            ..=VALUE_LEN_MAX => Ok(value.to_vec()),
            _ => Err(FaultReason::TooLong),
        };
        Some(Held { slot, name: name.to_owned(), value })
    });
    assemble(&held.collect::<Vec<_>>())
}

/// One attribute that belongs to a foreign tag.
#[derive(Clone, Debug)]
struct Held {
    slot: Slot,
    /// Its name as the file has it.
    name: String,
    value: Result<Vec<u8>, FaultReason>,
}

fn recognised(name: &[u8]) -> Option<(&str, Slot)> {
    let name = str::from_utf8(name).ok()?;
    Some((name, Slot::of(name)?))
}

fn held_on(file: &File) -> io::Result<Vec<Held>> {
    let mut held = Vec::new();
    for (name, slot) in carrier::select(file, Slot::of)? {
        let mut value = [0; VALUE_LEN_MAX];
        let value = match xattr::get(file, &name, &mut value) {
            Ok(Some(len)) => Ok(value[..len].to_vec()),
            // Somebody removed it between the two calls.
            Ok(None) => continue,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(FaultReason::TooLong),
            Err(error) => return Err(error),
        };
        held.push(Held { slot, name, value });
    }
    Ok(held)
}

fn assemble(held: &[Held]) -> ForeignTags {
    let kinds = ForeignKind::ALL.into_iter();
    kinds.flat_map(|kind| assemble_kind(held, kind)).collect()
}

fn assemble_kind(held: &[Held], kind: ForeignKind) -> ForeignTags {
    let any = held.iter().any(|held| held.slot.kind() == kind);
    if !any {
        return Vec::new();
    }
    let fault = |reason| ForeignFault { kind, reason };
    let whole = match kind {
        ForeignKind::Shatag => value(held, Slot::ShatagDigest).and_then(|digest| {
            let time = value(held, Slot::ShatagTime)?;
            parse_shatag(digest, time)
        }),
        ForeignKind::Dintch => value(held, Slot::DintchHash).and_then(|hash| {
            let time = value(held, Slot::DintchTime)?;
            parse_dintch(hash, time)
        }),
        ForeignKind::Ima => value(held, Slot::Ima).and_then(|value| {
            let value = value.ok_or(FaultReason::Empty)?;
            parse_ima(value)
        }),
        ForeignKind::Unraid => {
            return assemble_unraid(held).into_iter().map(|tag| tag.map_err(fault)).collect();
        }
    };
    vec![whole.map_err(fault)]
}

/// An Unraid tag for each digest. One modification time, length and scan serve them all; with
/// several digests nobody can tell which of them was made with these, so they count for none.
fn assemble_unraid(held: &[Held]) -> Vec<Result<ForeignTag, FaultReason>> {
    let digests: Vec<Slot> = Slot::UNRAID_DIGESTS
        .into_iter()
        .filter(|slot| held.iter().any(|held| held.slot == *slot))
        .collect();
    let scan = match digests.len() {
        1 => UnraidScan::of(held),
        _ => Ok(UnraidScan::default()),
    };
    let tag = |slot: Slot| {
        let digest = value(held, slot)?.ok_or(FaultReason::NoDigest)?;
        let algorithm = slot.algorithm().ok_or(FaultReason::UnknownAlgorithm)?;
        parse_unraid(algorithm, digest, scan?)
    };
    digests.into_iter().map(tag).collect()
}

/// The value of an attribute that may have come by several ways, and so under several names.
fn value(held: &[Held], slot: Slot) -> Result<Option<&[u8]>, FaultReason> {
    let mut found: Option<&[u8]> = None;
    for held in held.iter().filter(|held| held.slot == slot) {
        let value = held.value.as_deref().map_err(|reason| *reason)?;
        match found {
            None => found = Some(value),
            Some(first) if text::trimmed(first) == text::trimmed(value) => {}
            Some(_) => return Err(FaultReason::Ambiguous),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "9fe92c4232ea01c3e3d37e91721208adeca7572c1d57ed42f10867a9e9e8bf59";

    fn found(attributes: &[(&str, &str)]) -> ForeignTags {
        of_attributes(attributes.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())))
    }

    fn kinds(tags: &ForeignTags) -> Vec<ForeignKind> {
        let kind = |tag: &Result<ForeignTag, ForeignFault>| match tag {
            Ok(tag) => tag.kind,
            Err(fault) => fault.kind,
        };
        tags.iter().map(kind).collect()
    }

    #[test]
    fn every_kind_is_found_and_the_most_telling_comes_first() {
        let ima = [&[4, 4][..], &[1; 32]].concat();
        let tags = of_attributes([
            (&b"security.ima"[..], &ima[..]),
            (b"user.co.eclecticlight.dintch.hash#S", HEX.as_bytes()),
            (b"user.md5", b"165954f4950fe3f47f896ec27a75605d"),
            (b"user.shatag.ts", b"1704164645.123456789"),
            (b"user.steadfast", b"not foreign"),
            (b"user.shatag.sha256", HEX.as_bytes()),
        ]);
        assert!(tags.iter().all(Result::is_ok), "{tags:?}");
        assert_eq!(kinds(&tags), ForeignKind::ALL);
        assert_eq!(found(&[("user.steadfast", "x"), ("user.xdg.origin.url", "x")]), []);
    }

    #[test]
    fn half_a_pair_is_a_fault_and_never_a_tag() {
        let fault = |reason| vec![Err(ForeignFault { kind: ForeignKind::Shatag, reason })];
        assert_eq!(found(&[("user.shatag.sha256", HEX)]), fault(FaultReason::NoTime));
        assert_eq!(found(&[("user.shatag.ts", "1.0")]), fault(FaultReason::NoDigest));
        let dintch = found(&[("co.eclecticlight.dintch.time", "2020-04-12 10:11:12 +0000")]);
        let reason = FaultReason::NoDigest;
        assert_eq!(dintch, [Err(ForeignFault { kind: ForeignKind::Dintch, reason })]);
    }

    #[test]
    fn what_is_there_twice_must_agree() {
        let other = HEX.replace('9', "8");
        let names = ["user.co.eclecticlight.dintch.hash#S", "user.DosStream.co.eclecticlight"];
        let stream = format!("{}.dintch.hash#S:$DATA", names[1]);
        let twice = |second: &str| found(&[(names[0], HEX), (&stream, second)]);
        assert!(matches!(twice(&format!("{HEX}\0"))[..], [Ok(_)]));
        let reason = FaultReason::Ambiguous;
        assert_eq!(twice(&other), [Err(ForeignFault { kind: ForeignKind::Dintch, reason })]);
    }

    #[test]
    fn several_unraid_digests_share_no_time() {
        let scan = [("user.filedate", "1704164645"), ("user.filesize", "9")];
        let one = found(&[("user.sha256", HEX), scan[0], scan[1]]);
        assert!(matches!(one[..], [Ok(ForeignTag { mtime: Some(_), length: Some(9), .. })]));
        let two = found(&[("user.sha256", HEX), ("user.blake3", HEX), scan[0], scan[1]]);
        assert_eq!(two.len(), 2);
        for tag in two {
            let tag = tag.unwrap();
            assert_eq!((tag.mtime, tag.length, tag.tagged), (None, None, None));
        }
        assert_eq!(found(&scan), [], "what is left when the digest was removed is no tag");
    }

    #[test]
    fn a_value_that_is_too_long_is_a_fault() {
        let long = "a".repeat(VALUE_LEN_MAX + 1);
        let tags = found(&[("user.shatag.sha256", &long), ("user.shatag.ts", "1.0")]);
        let reason = FaultReason::TooLong;
        assert_eq!(tags, [Err(ForeignFault { kind: ForeignKind::Shatag, reason })]);
    }

    #[test]
    fn faults_say_whose_tag_it_is() {
        let fault = ForeignFault { kind: ForeignKind::Unraid, reason: FaultReason::Zeroed };
        assert_eq!(fault.to_string(), "the tag of Unraid File Integrity is all zeros");
    }
}
