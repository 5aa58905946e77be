//! Assigns the verdict of an object, from the record, the store's metadata and the local file.
//! Pure.
//!
//! In: a [`Reference`], an [`Object`], and if they have no digest in common, the local file. Out: a
//! verdict and its basis. Specified in `docs/reference/objects.md`.

use steadfast::reference::Computed;
use steadfast::{ChangeEvidence, Reference, Timestamp, Verdict};
use steadfast_digest::{Algorithm, Digest};

use crate::algorithm::ObjectAlgorithm;
use crate::finding::Basis;
use crate::object::{Extent, Object, ObjectDigest};

/// Compares the record with the store's metadata. Returns `None` if they have no digest in common.
///
/// A digest of unknown extent that differs proves nothing, since it may be a composite.
pub(crate) fn at_once(reference: &Reference, object: &Object) -> Option<(Verdict, Basis)> {
    let lengths = reference.length.zip(object.length);
    if lengths.is_some_and(|(known, found)| known != found) {
        return Some((differing(reference, object), Basis::Length));
    }
    let mut intact = None;
    let whole = |kept: &&ObjectDigest| kept.extent == Extent::Whole;
    let better = object.digests.iter().filter(whole).any(|kept| !kept.etag);
    for kept in &object.digests {
        let ObjectAlgorithm::Tag(algorithm) = kept.algorithm else { continue };
        if matches!(kept.extent, Extent::Composite(_)) || (kept.etag && better) {
            // Uses the ETag only if the store keeps no better digest.
            continue;
        }
        let mut known = reference.digests.iter().filter(|(known, _)| *known == algorithm);
        let Some((_, digest)) = known.next() else { continue };
        let by = if kept.etag { Basis::Etag } else { Basis::Record(kept.algorithm) };
        match (*digest == kept.digest, kept.extent) {
            (true, _) => intact = intact.or(Some((Verdict::Intact, by))),
            (false, Extent::Whole) => return Some((differing(reference, object), by)),
            (false, _) => {}
        }
    }
    intact
}

/// The local file, hashed as the store hashed the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocalFile {
    /// Whether its contents are as recorded.
    pub(crate) as_known: bool,
    /// Its length in bytes.
    pub(crate) length: u64,
    /// The digest that the store would compute of it.
    pub(crate) digest: Digest,
}

/// Compares the store's digest with the local file, which stands for the record if it is as
/// recorded.
pub(crate) fn by_file(
    reference: &Reference,
    object: &Object,
    kept: &ObjectDigest,
    here: &LocalFile,
) -> Option<(Verdict, Basis)> {
    let by = match (kept.extent, kept.etag) {
        (Extent::Whole | Extent::Unknown, false) => Basis::File(kept.algorithm),
        (Extent::Whole | Extent::Unknown, true) => Basis::FileEtag,
        (Extent::Composite(_), false) => Basis::Parts(kept.algorithm),
        (Extent::Composite(_), true) => Basis::PartsEtag,
    };
    let same = kept.digest == here.digest && object.length.is_none_or(|len| len == here.length);
    match (here.as_known, same) {
        (true, true) => Some((Verdict::Intact, by)),
        (true, false) if kept.extent == Extent::Unknown => None,
        (true, false) => Some((differing(reference, object), by)),
        // The object equals the local file, which is not as recorded: why is not known here.
        (false, true) => Some((Verdict::Differs, by)),
        (false, false) => None,
    }
}

/// Decides by the library's table: corrupt only if the object has the file's modification time as
/// metadata, and that is the recorded one. Without that time, the cause is not known.
fn differing(reference: &Reference, object: &Object) -> Verdict {
    let byte = |byte| Digest::from_slice(&[byte]).expect("a digest may have one byte");
    let known = Reference {
        digests: vec![(Algorithm::Sha256, byte(0))],
        length: None,
        mtime: reference.mtime.filter(|_| object.mtime.is_some()),
        recorded: None,
        ..reference.clone()
    };
    let mtime = object.mtime.unwrap_or(Timestamp { seconds: 0, nanoseconds: 0 });
    let digests = &[(Algorithm::Sha256, byte(1))];
    // The store's change time says nothing about the record.
    let found = Computed { digests, length: 0, mtime };
    known.judge(&found, || ChangeEvidence::NotKnown).verdict
}

/// Describes the digests that the store keeps, for objects that are not comparable.
pub(crate) fn kept(object: &Object) -> String {
    let mut kept: Vec<String> = object.digests.iter().map(ToString::to_string).collect();
    kept.extend(object.unknown.iter().cloned());
    match kept.is_empty() {
        true => "the store keeps no digest of it".to_owned(),
        false => format!("the store keeps {}", kept.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast::store::foreign::{ForeignTime, Resolution};

    fn digest(byte: u8, len: usize) -> Digest {
        Digest::from_slice(&vec![byte; len]).unwrap()
    }

    fn reference() -> Reference {
        let time = Timestamp { seconds: 100, nanoseconds: 5 };
        Reference {
            source: "tag",
            digests: vec![(Algorithm::Sha256, digest(1, 32)), (Algorithm::Md5, digest(2, 16))],
            length: Some(10),
            mtime: Some(ForeignTime { time, resolution: Resolution::Tick }),
            recorded: Some(Timestamp { seconds: 200, nanoseconds: 0 }),
        }
    }

    fn kept(algorithm: ObjectAlgorithm, byte: u8, extent: Extent, etag: bool) -> ObjectDigest {
        ObjectDigest { algorithm, extent, digest: digest(byte, algorithm.digest_len()), etag }
    }

    fn object(digests: Vec<ObjectDigest>) -> Object {
        Object { length: Some(10), digests, ..Object::default() }
    }

    const SHA256: ObjectAlgorithm = ObjectAlgorithm::Tag(Algorithm::Sha256);
    const MD5: ObjectAlgorithm = ObjectAlgorithm::Tag(Algorithm::Md5);

    #[test]
    fn the_table_without_the_file() {
        let (whole, parts) = (Extent::Whole, Extent::Composite(Some(1)));
        let crc = ObjectAlgorithm::Crc64Nvme;
        let rows = [
            (vec![kept(SHA256, 1, whole, false)], Some((Verdict::Intact, Basis::Record(SHA256)))),
            (vec![kept(SHA256, 9, whole, false)], Some((Verdict::Differs, Basis::Record(SHA256)))),
            // A digest of digests is no digest of the file, even if it looks like one.
            (vec![kept(SHA256, 1, parts, false)], None),
            (vec![kept(SHA256, 9, parts, false)], None),
            // A digest of unknown extent proves what it agrees with, and nothing by differing.
            (
                vec![kept(SHA256, 1, Extent::Unknown, false)],
                Some((Verdict::Intact, Basis::Record(SHA256))),
            ),
            (vec![kept(SHA256, 9, Extent::Unknown, false)], None),
            (vec![kept(crc, 1, whole, false)], None),
            (vec![kept(MD5, 2, whole, true)], Some((Verdict::Intact, Basis::Etag))),
            (vec![kept(MD5, 9, whole, true)], Some((Verdict::Differs, Basis::Etag))),
            (
                vec![kept(SHA256, 1, whole, false), kept(MD5, 9, whole, true)],
                Some((Verdict::Intact, Basis::Record(SHA256))),
            ),
            // The other is better, though it needs the file.
            (vec![kept(crc, 1, whole, false), kept(MD5, 9, whole, true)], None),
            (vec![], None),
        ];
        for (digests, expected) in rows {
            let object = object(digests);
            assert_eq!(at_once(&reference(), &object), expected, "{object:?}");
        }
        let longer = Object { length: Some(11), ..object(vec![]) };
        assert_eq!(at_once(&reference(), &longer), Some((Verdict::Differs, Basis::Length)));
    }

    #[test]
    fn only_the_same_time_makes_it_decay() {
        let mut other = object(vec![kept(SHA256, 9, Extent::Whole, false)]);
        for (mtime, verdict) in [
            (None, Verdict::Differs),
            (Some((100, 5)), Verdict::Corrupt),
            (Some((101, 5)), Verdict::Modified),
        ] {
            other.mtime = mtime.map(|(seconds, nanoseconds)| Timestamp { seconds, nanoseconds });
            assert_eq!(at_once(&reference(), &other).unwrap().0, verdict, "{mtime:?}");
        }
    }

    #[test]
    fn the_table_with_the_file() {
        let crc = kept(ObjectAlgorithm::Crc64Nvme, 7, Extent::Composite(Some(2)), false);
        let by = Basis::Parts(ObjectAlgorithm::Crc64Nvme);
        let rows = [
            (true, 7, Some((Verdict::Intact, by))),
            (true, 8, Some((Verdict::Differs, by))),
            (false, 7, Some((Verdict::Differs, by))),
            (false, 8, None),
        ];
        for (as_known, byte, expected) in rows {
            let here = LocalFile { as_known, length: 10, digest: digest(byte, 8) };
            assert_eq!(by_file(&reference(), &object(vec![]), &crc, &here), expected);
        }
        let unknown = kept(ObjectAlgorithm::Crc64Nvme, 7, Extent::Unknown, false);
        for (byte, expected) in
            [(7, Some((Verdict::Intact, Basis::File(ObjectAlgorithm::Crc64Nvme)))), (8, None)]
        {
            let here = LocalFile { as_known: true, length: 10, digest: digest(byte, 8) };
            assert_eq!(by_file(&reference(), &object(vec![]), &unknown, &here), expected);
        }
        let shorter = LocalFile { as_known: true, length: 9, digest: digest(7, 8) };
        let found = by_file(&reference(), &object(vec![]), &crc, &shorter);
        assert_eq!(found, Some((Verdict::Differs, by)));
    }
}
