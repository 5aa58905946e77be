//! Makes the attributes that another tool would set for a tag.
//!
//! Takes a tag and the existing attributes of the file. Returns names and values, the digest last.

use steadfast_digest::Algorithm;
use steadfast_time::Timestamp;

use super::{ForeignAttribute, ForeignKind, ForeignSlot};
use super::{assemble_kind, dintch, shatag};
use crate::calendar;
use crate::tag::Tag;

/// Returns the attributes that a tool of this kind would set, by name and value, in the order of
/// setting; `None` if the kind cannot hold the tag's algorithm, or only the kernel sets it.
///
/// `mac_prefix` is the prefix of this system for the names of macOS.
pub fn encode(kind: ForeignKind, tag: &Tag, mac_prefix: &str) -> Option<Vec<(String, Vec<u8>)>> {
    encode_over(kind, tag, &[], mac_prefix)
}

/// As [`encode`], for a file that has attributes of the kind already. Their names and forms stay.
pub fn encode_over(
    kind: ForeignKind,
    tag: &Tag,
    old: &[ForeignAttribute],
    mac_prefix: &str,
) -> Option<Vec<(String, Vec<u8>)>> {
    Some(placed(values(kind, tag)?, old, tag, mac_prefix))
}

/// The attributes of a kind, the digest last.
fn values(kind: ForeignKind, tag: &Tag) -> Option<Vec<(ForeignSlot, Vec<u8>)>> {
    let hex = || tag.digest.to_string().into_bytes();
    let seconds = |time: Timestamp| time.seconds.to_string().into_bytes();
    let sha256 = tag.algorithm == Algorithm::Sha256;
    match kind {
        ForeignKind::Shatag if sha256 => Some(vec![
            (ForeignSlot::ShatagTime, shatag::print_time_like(None, tag.mtime).into_bytes()),
            (ForeignSlot::ShatagDigest, hex()),
        ]),
        ForeignKind::Dintch if sha256 => Some(vec![
            (ForeignSlot::DintchTime, calendar::print(tag.tagged).into_bytes()),
            (ForeignSlot::DintchHash, dintch::print_like(None, &tag.digest)),
        ]),
        ForeignKind::Unraid => {
            let of_tag = |slot: &ForeignSlot| slot.algorithm() == Some(tag.algorithm);
            let digest = ForeignSlot::UNRAID_DIGESTS.into_iter().find(of_tag)?;
            Some(vec![
                (ForeignSlot::UnraidScanDate, seconds(tag.tagged)),
                (ForeignSlot::UnraidFileDate, seconds(tag.mtime)),
                (ForeignSlot::UnraidFileSize, tag.length.to_string().into_bytes()),
                (digest, hex()),
            ])
        }
        ForeignKind::Shatag | ForeignKind::Dintch | ForeignKind::Ima => None,
    }
}

/// Gives every value its name: that of the existing attribute, so the tool that copied it here
/// finds it again, or the tool's own name. If a tool has several forms, the old form stays.
fn placed(
    values: Vec<(ForeignSlot, Vec<u8>)>,
    old: &[ForeignAttribute],
    tag: &Tag,
    mac_prefix: &str,
) -> Vec<(String, Vec<u8>)> {
    let held = |slot| old.iter().find(|held| held.slot == slot);
    let hash = held(ForeignSlot::DintchHash);
    let value_of = |slot| held(slot).and_then(|held| held.value.as_deref().ok());
    let hash_value = value_of(ForeignSlot::DintchHash);
    // A digest of 32 bytes may end in a NUL of its own. Samba's NUL follows the digest.
    let ends_in_nul = hash_value.is_some_and(|value| value.len() != 32 && value.ends_with(&[0]));
    let place = |(slot, mut value): (ForeignSlot, Vec<u8>)| {
        let name = match (held(slot), hash) {
            (Some(held), _) => held.name.clone(),
            (None, Some(hash)) if slot == ForeignSlot::DintchTime => {
                hash.name.replace("dintch.hash", "dintch.time")
            }
            _ => slot.own_name(mac_prefix),
        };
        match slot {
            ForeignSlot::ShatagTime => {
                value = shatag::print_time_like(value_of(slot), tag.mtime).into_bytes();
            }
            ForeignSlot::DintchHash => value = dintch::print_like(hash_value, &tag.digest),
            ForeignSlot::DintchTime if ends_in_nul => value.push(0),
            _ => {}
        }
        (name, value)
    };
    values.into_iter().map(place).collect()
}

/// Returns whether the existing attributes are no tag, or a tag of the same contents.
pub fn is_of(old: &[ForeignAttribute], kind: ForeignKind, tag: &Tag) -> bool {
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

#[cfg(test)]
mod tests {
    use super::super::{ForeignTag, of_attributes};
    use super::*;
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
                let Some(attributes) = encode(kind, &tag, "user.") else { continue };
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
            let some = |kind: &ForeignKind| encode(*kind, &tag(algorithm), "user.").is_some();
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
            let attributes = encode(kind, &tag(Algorithm::Sha256), "user.").unwrap();
            let digests: Vec<bool> = attributes
                .iter()
                .map(|(name, _)| ForeignSlot::of(name).unwrap().is_digest())
                .collect();
            assert_eq!(digests.iter().position(|is| *is), Some(digests.len() - 1), "{kind}");
        }
    }

    #[test]
    fn a_carried_tag_keeps_its_names_and_its_form() {
        let name = "user.DosStream.co.eclecticlight.dintch.hash#S:$DATA";
        let value = Ok([&[0xab; 32][..], &[0]].concat());
        let old =
            [ForeignAttribute { slot: ForeignSlot::DintchHash, name: name.to_owned(), value }];
        let tag = tag(Algorithm::Sha256);
        let new = encode_over(ForeignKind::Dintch, &tag, &old, "user.").unwrap();
        assert_eq!(new[0].0, name.replace("hash", "time"));
        assert_eq!(new[0].1.last(), Some(&0));
        assert_eq!(new[1].0, name);
        assert_eq!(new[1].1, [tag.digest.as_bytes(), &[0]].concat());
        let value = Ok([&[0xab; 31][..], &[0]].concat());
        let slot = ForeignSlot::DintchHash;
        let whole = [ForeignAttribute { slot, name: name.to_owned(), value }];
        let new = encode_over(ForeignKind::Dintch, &tag, &whole, "user.").unwrap();
        assert_ne!(new[0].1.last(), Some(&0), "the NUL is the digest's own");
        let (slot, name) = (ForeignSlot::ShatagTime, "user.shatag.ts".to_owned());
        let whole = ForeignAttribute { slot, name: name.clone(), value: Ok(b"1".to_vec()) };
        let new = encode_over(ForeignKind::Shatag, &tag, &[whole], "user.").unwrap();
        assert_eq!(new[0], (name, b"1704164645".to_vec()), "as coarse as it was");
    }
}
