//! Tags that other tools keep on a file: shatag and cshatag, Unraid, Dintch, Linux IMA.
//!
//! Takes attributes by name and value, and returns every foreign tag, or its fault. The bytes are
//! specified in `crates/manifest/ATTRIBUTES.md`.

mod dintch;
mod ima;
mod names;
mod shatag;
mod text;
mod unraid;
mod encode;

use steadfast_digest::{Algorithm, Digest};
use steadfast_time::Timestamp;
use strum::{Display, IntoStaticStr};

pub use self::dintch::parse_dintch;
pub use self::encode::{encode, encode_over, is_of};
pub use self::ima::parse_ima;
pub use self::names::ForeignSlot;
pub use self::shatag::parse_shatag;
pub use self::unraid::{UnraidScan, parse_unraid};

/// The longest accepted value, in bytes. The longest value of any of the tools is a signature of
/// IMA: 9 bytes and an RSA-4096 signature of 512.
pub const VALUE_LEN_MAX: usize = 1024;

/// The tool that made a tag, in the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ForeignKind {
    /// shatag and cshatag: SHA-256 and the modification time.
    Shatag,
    /// Unraid's File Integrity plugin: one or more digests, modification time, length, last scan.
    Unraid,
    /// Dintch, Fintch and cintch: SHA-256, and the time of tagging if the user asked for it.
    Dintch,
    /// The Linux kernel's integrity measurement architecture: a digest.
    Ima,
}

impl ForeignKind {
    /// Every kind, in the order of preference.
    pub const ALL: [ForeignKind; 4] =
        [ForeignKind::Shatag, ForeignKind::Unraid, ForeignKind::Dintch, ForeignKind::Ima];

    /// Returns the name in options and documents.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the name of the tool, as used in a sentence.
    pub const fn owner(self) -> &'static str {
        match self {
            ForeignKind::Shatag => "shatag",
            ForeignKind::Unraid => "Unraid File Integrity",
            ForeignKind::Dintch => "Dintch",
            ForeignKind::Ima => "Linux IMA",
        }
    }
}

/// The precision of a modification time in a foreign tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// Nanoseconds, which the tool itself compares in steps of 100 ns, because SMB keeps no more.
    Tick,
    /// A 64-bit float of seconds: within 480 ns until the year 2106.
    Float,
    /// Whole milliseconds, rounded down.
    Millisecond,
    /// Whole seconds, rounded down.
    Second,
}

/// A modification time in a foreign tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ForeignTime {
    /// The time.
    pub time: Timestamp,
    /// Its precision.
    pub resolution: Resolution,
}

/// The record of one file by another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignTag {
    /// The tool.
    pub kind: ForeignKind,
    /// The algorithm of the digest.
    pub algorithm: Algorithm,
    /// The digest of all bytes of the file.
    pub digest: Digest,
    /// When the contents were last modified, if the tool records that.
    pub mtime: Option<ForeignTime>,
    /// Length of the file in bytes, if the tool records that.
    pub length: Option<u64>,
    /// When the digest was made or last verified, if the tool records that.
    pub tagged: Option<Timestamp>,
}

/// Why a foreign tag cannot be used. Says nothing about the file's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the tag of {owner} {reason}", owner = .kind.owner())]
pub struct ForeignFault {
    /// The tool.
    pub kind: ForeignKind,
    /// The fault.
    pub reason: FaultReason,
}

impl ForeignFault {
    /// Returns whether the attribute is a valid signature instead of a digest. The file then counts
    /// as one without a foreign tag.
    pub fn is_signature(&self) -> bool {
        self.reason == FaultReason::Signature
    }
}

/// The fault of a foreign tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum FaultReason {
    /// It has no bytes.
    #[error("is empty")]
    Empty,
    /// Every byte or every digit is zero.
    #[error("is all zeros")]
    Zeroed,
    /// It has more than [`VALUE_LEN_MAX`] bytes.
    #[error("is longer than {VALUE_LEN_MAX} bytes")]
    TooLong,
    /// The digest is too short or too long. Lengths are in digits or bytes, as the value is
    /// written.
    #[error("has a digest of {found} characters instead of {expected}")]
    Length {
        /// Length for the algorithm.
        expected: usize,
        /// Actual length.
        found: usize,
    },
    /// The digest contains a character that is not a hexadecimal digit.
    #[error("has a digest that is not hexadecimal")]
    NotHex,
    /// The modification time or the time of tagging is not valid.
    #[error("has a time that is none")]
    NotTime,
    /// The length of the file is not valid.
    #[error("has a length that is none")]
    NotLength,
    /// The pair is incomplete: there is a time but no digest.
    #[error("is half written: it has no digest")]
    NoDigest,
    /// The pair is incomplete: there is a digest but no time.
    #[error("is half written: it has no time")]
    NoTime,
    /// This version does not support the algorithm.
    #[error("has an algorithm that this program lacks")]
    UnknownAlgorithm,
    /// This version does not know the form of this number.
    #[error("has form number {0}, which this program does not know")]
    UnknownForm(u8),
    /// It is a signature and contains no digest.
    #[error("is a signature and holds no digest")]
    Signature,
    /// It exists twice, copied by different tools, and the values differ.
    #[error("is there twice, and the two differ")]
    Ambiguous,
}

/// Every foreign tag of one file, or its fault, in the order of preference.
pub type ForeignTags = Vec<Result<ForeignTag, ForeignFault>>;

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
        Some(ForeignAttribute { slot, name: name.to_owned(), value })
    });
    assemble(&held.collect::<Vec<_>>())
}

/// One attribute that belongs to a foreign tag.
#[derive(Clone, Debug)]
pub struct ForeignAttribute {
    /// Its role.
    pub slot: ForeignSlot,
    /// Its name as the file has it.
    pub name: String,
    /// Its bytes, or why they were not read.
    pub value: Result<Vec<u8>, FaultReason>,
}

/// Recognises the name of an attribute that belongs to a foreign tag.
pub fn recognised(name: &[u8]) -> Option<(&str, ForeignSlot)> {
    let name = str::from_utf8(name).ok()?;
    Some((name, ForeignSlot::of(name)?))
}

/// Makes the foreign tags from their attributes.
pub fn assemble(held: &[ForeignAttribute]) -> ForeignTags {
    let kinds = ForeignKind::ALL.into_iter();
    kinds.flat_map(|kind| assemble_kind(held, kind)).collect()
}

fn assemble_kind(held: &[ForeignAttribute], kind: ForeignKind) -> ForeignTags {
    let any = held.iter().any(|held| held.slot.kind() == kind);
    if !any {
        return Vec::new();
    }
    let fault = |reason| ForeignFault { kind, reason };
    let whole = match kind {
        ForeignKind::Shatag => value(held, ForeignSlot::ShatagDigest).and_then(|digest| {
            let time = value(held, ForeignSlot::ShatagTime)?;
            parse_shatag(digest, time)
        }),
        ForeignKind::Dintch => value(held, ForeignSlot::DintchHash).and_then(|hash| {
            let time = value(held, ForeignSlot::DintchTime)?;
            parse_dintch(hash, time)
        }),
        ForeignKind::Ima => value(held, ForeignSlot::Ima).and_then(|value| {
            let value = value.ok_or(FaultReason::Empty)?;
            parse_ima(value)
        }),
        ForeignKind::Unraid => {
            return assemble_unraid(held).into_iter().map(|tag| tag.map_err(fault)).collect();
        }
    };
    vec![whole.map_err(fault)]
}

/// An Unraid tag for each digest. Modification time, length and scan time exist only once. With
/// several digests, it is unknown which of them they belong to, so they are ignored.
fn assemble_unraid(held: &[ForeignAttribute]) -> Vec<Result<ForeignTag, FaultReason>> {
    let digests: Vec<ForeignSlot> = ForeignSlot::UNRAID_DIGESTS
        .into_iter()
        .filter(|slot| held.iter().any(|held| held.slot == *slot))
        .collect();
    let scan = match digests.len() {
        1 => UnraidScan::of(held),
        _ => Ok(UnraidScan::default()),
    };
    let tag = |slot: ForeignSlot| {
        let digest = value(held, slot)?.ok_or(FaultReason::NoDigest)?;
        let algorithm = slot.algorithm().ok_or(FaultReason::UnknownAlgorithm)?;
        parse_unraid(algorithm, digest, scan?)
    };
    digests.into_iter().map(tag).collect()
}

/// The value of an attribute that may exist under several names, because it was copied in several
/// ways.
fn value(held: &[ForeignAttribute], slot: ForeignSlot) -> Result<Option<&[u8]>, FaultReason> {
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
