//! The attributes of Unraid's File Integrity plugin: a digest under the name of its algorithm, and
//! three numbers.
//!
//! Takes the values, and returns the tag or its fault. Source: Dynamix File Integrity, its script
//! `bunker` 2.5.1, which sets them in this order: `user.sha256` (or `blake3`, `blake2`, `md5`),
//! `user.scandate`, `user.filedate`, `user.filesize`.

use steadfast_digest::Algorithm;

use super::{FaultReason, ForeignAttribute, ForeignKind, ForeignSlot, ForeignTag, text, value};

/// The values beside the digest, as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnraidScan<'a> {
    /// When the file was last hashed, in seconds since 1970.
    pub scandate: Option<&'a [u8]>,
    /// The modification time in whole seconds since 1970.
    pub filedate: Option<&'a [u8]>,
    /// The length in bytes.
    pub filesize: Option<&'a [u8]>,
}

impl<'a> UnraidScan<'a> {
    pub(super) fn of(held: &'a [ForeignAttribute]) -> Result<UnraidScan<'a>, FaultReason> {
        Ok(UnraidScan {
            scandate: value(held, ForeignSlot::UnraidScanDate)?,
            filedate: value(held, ForeignSlot::UnraidFileDate)?,
            filesize: value(held, ForeignSlot::UnraidFileSize)?,
        })
    }
}

/// Reads a digest with the values beside it. Missing values are accepted.
///
/// If configured so, the plugin keeps BLAKE2s under the name of BLAKE2b; the length tells them
/// apart.
///
/// # Errors
///
/// If the digest is not valid for its algorithm, or an existing number is not valid.
pub fn parse_unraid(
    algorithm: Algorithm,
    digest: &[u8],
    scan: UnraidScan<'_>,
) -> Result<ForeignTag, FaultReason> {
    let digits = text::trimmed(text::present(digest)?);
    if algorithm == Algorithm::Blake2b && digits.len() == 64 {
        return Err(FaultReason::UnknownAlgorithm);
    }
    let digest = text::digest(digits, algorithm)?;
    let time = |value: Option<&[u8]>| {
        let read = |value| text::seconds(text::present(value)?).ok_or(FaultReason::NotTime);
        value.map(read).transpose()
    };
    let length = |value| text::number(text::present(value)?).ok_or(FaultReason::NotLength);
    Ok(ForeignTag {
        kind: ForeignKind::Unraid,
        algorithm,
        digest,
        mtime: time(scan.filedate)?,
        length: scan.filesize.map(length).transpose()?,
        tagged: time(scan.scandate)?.map(|scanned| scanned.time),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Resolution;
    use super::*;

    const MD5: &[u8] = b"165954f4950fe3f47f896ec27a75605d";
    const SCAN: UnraidScan<'_> = UnraidScan {
        scandate: Some(b"1763650000"),
        filedate: Some(b"1704164645"),
        filesize: Some(b"9"),
    };

    #[test]
    fn the_whole_set_is_read() {
        let tag = parse_unraid(Algorithm::Md5, MD5, SCAN).unwrap();
        assert_eq!((tag.kind, tag.algorithm), (ForeignKind::Unraid, Algorithm::Md5));
        assert_eq!(tag.digest.to_string().as_bytes(), MD5);
        let mtime = tag.mtime.unwrap();
        assert_eq!((mtime.time.seconds, mtime.resolution), (1_704_164_645, Resolution::Second));
        assert_eq!(tag.length, Some(9));
        assert_eq!(tag.tagged.unwrap().seconds, 1_763_650_000);
    }

    #[test]
    fn a_digest_alone_is_a_tag_that_says_less() {
        let tag = parse_unraid(Algorithm::Md5, MD5, UnraidScan::default()).unwrap();
        assert_eq!((tag.mtime, tag.length, tag.tagged), (None, None, None));
    }

    #[test]
    fn faults_are_named() {
        let read = |algorithm, digest: &[u8], scan| parse_unraid(algorithm, digest, scan);
        let length = |expected, found| Err(FaultReason::Length { expected, found });
        assert_eq!(read(Algorithm::Sha256, MD5, SCAN), length(64, 32));
        assert_eq!(read(Algorithm::Md5, b"", SCAN), Err(FaultReason::Empty));
        assert_eq!(read(Algorithm::Md5, &[b'0'; 32], SCAN), Err(FaultReason::Zeroed));
        let blake2s = [b'a'; 64];
        let unknown = Err(FaultReason::UnknownAlgorithm);
        assert_eq!(read(Algorithm::Blake2b, &blake2s, SCAN), unknown);
        let scan = UnraidScan { filedate: Some(b"now"), ..SCAN };
        assert_eq!(read(Algorithm::Md5, MD5, scan), Err(FaultReason::NotTime));
        let scan = UnraidScan { filesize: Some(b"-9"), ..SCAN };
        assert_eq!(read(Algorithm::Md5, MD5, scan), Err(FaultReason::NotLength));
        let scan = UnraidScan { scandate: Some(b""), ..SCAN };
        assert_eq!(read(Algorithm::Md5, MD5, scan), Err(FaultReason::Empty));
    }
}
