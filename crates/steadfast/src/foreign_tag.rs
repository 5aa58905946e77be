//! What other tools record of a file, as values: whose tag, of what, and why it cannot be used.
//!
//! The bytes are read and written in `store/foreign.rs`.

use std::fmt;

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::file::Timestamp;

/// The longest value that is looked at, in bytes. The longest that any of the tools writes is a
/// signature of IMA: 9 bytes and an RSA-4096 signature of 512.
pub const VALUE_LEN_MAX: usize = 1024;

/// Whose tag it is, the most telling kind first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForeignKind {
    /// shatag's and cshatag's: SHA-256 and the modification time.
    Shatag,
    /// Unraid's File Integrity plugin: one digest or more, modification time, length, last scan.
    Unraid,
    /// Dintch's, Fintch's and cintch's: SHA-256, and when it was made if the user asked for that.
    Dintch,
    /// The Linux kernel's integrity measurement architecture: a digest.
    Ima,
}

impl ForeignKind {
    /// Every kind, the most telling first.
    pub const ALL: [ForeignKind; 4] =
        [ForeignKind::Shatag, ForeignKind::Unraid, ForeignKind::Dintch, ForeignKind::Ima];

    /// Returns the name, the same in flags and documents.
    pub const fn name(self) -> &'static str {
        match self {
            ForeignKind::Shatag => "shatag",
            ForeignKind::Unraid => "unraid",
            ForeignKind::Dintch => "dintch",
            ForeignKind::Ima => "ima",
        }
    }

    /// Returns whose tag it is, as a sentence says it.
    pub const fn owner(self) -> &'static str {
        match self {
            ForeignKind::Shatag => "shatag",
            ForeignKind::Unraid => "Unraid File Integrity",
            ForeignKind::Dintch => "Dintch",
            ForeignKind::Ima => "Linux IMA",
        }
    }
}

impl fmt::Display for ForeignKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How exactly a tool wrote down a modification time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// To the nanosecond, and compared by its own tool in steps of 100 ns, which is what SMB keeps.
    Tick,
    /// Through a 64-bit float of seconds: within 480 ns until the year 2106.
    Float,
    /// In whole milliseconds, rounded down.
    Millisecond,
    /// In whole seconds, rounded down.
    Second,
}

/// A modification time as a foreign tag has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ForeignTime {
    /// The moment.
    pub time: Timestamp,
    /// How exactly it was written down.
    pub resolution: Resolution,
}

/// What another tool recorded of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignTag {
    /// Whose tag it is.
    pub kind: ForeignKind,
    /// How the digest was computed.
    pub algorithm: Algorithm,
    /// The digest of all bytes of the file.
    pub digest: Digest,
    /// When the contents were last modified, if the tool records that.
    pub mtime: Option<ForeignTime>,
    /// Length of the file in bytes, if the tool records that.
    pub length: Option<u64>,
    /// When the digest was made or last found right, if the tool records that.
    pub tagged: Option<Timestamp>,
}

/// Why a foreign tag cannot be used. Never a statement about the file's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ForeignFault {
    /// Whose tag it is.
    pub kind: ForeignKind,
    /// What is wrong with it.
    pub reason: FaultReason,
}

impl ForeignFault {
    /// Says whether there is nothing wrong with the attribute: it is a signature, not a digest, and
    /// the file counts as one without a foreign tag.
    pub fn is_signature(&self) -> bool {
        self.reason == FaultReason::Signature
    }
}

/// What is wrong with a foreign tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultReason {
    /// No bytes at all.
    Empty,
    /// Every byte or every digit is zero.
    Zeroed,
    /// More than [`VALUE_LEN_MAX`] bytes.
    TooLong,
    /// The digest is cut short or too long, counted as it is written: digits, or bytes.
    Length {
        /// What its algorithm asks for.
        expected: usize,
        /// What is there.
        found: usize,
    },
    /// The digest has a character that is no hexadecimal digit.
    NotHex,
    /// The modification time or the moment of tagging is not one.
    NotTime,
    /// The length of the file is not one.
    NotLength,
    /// Half of a pair: there is a time, and no digest.
    NoDigest,
    /// Half of a pair: there is a digest, and no time.
    NoTime,
    /// An algorithm that this version lacks.
    UnknownAlgorithm,
    /// A form, by its number, that this version does not know.
    UnknownForm(u8),
    /// A signature: it holds no digest.
    Signature,
    /// It is there twice, carried by different tools, and the two differ.
    Ambiguous,
}

impl fmt::Display for FaultReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultReason::Empty => f.write_str("is empty"),
            FaultReason::Zeroed => f.write_str("is all zeros"),
            FaultReason::TooLong => write!(f, "is longer than {VALUE_LEN_MAX} bytes"),
            FaultReason::Length { expected, found } => {
                write!(f, "has a digest of {found} characters instead of {expected}")
            }
            FaultReason::NotHex => f.write_str("has a digest that is not hexadecimal"),
            FaultReason::NotTime => f.write_str("has a time that is none"),
            FaultReason::NotLength => f.write_str("has a length that is none"),
            FaultReason::NoDigest => f.write_str("is half written: it has no digest"),
            FaultReason::NoTime => f.write_str("is half written: it has no time"),
            FaultReason::UnknownAlgorithm => {
                f.write_str("has an algorithm that this program lacks")
            }
            FaultReason::UnknownForm(number) => {
                write!(f, "has form number {number}, which this program does not know")
            }
            FaultReason::Signature => f.write_str("is a signature and holds no digest"),
            FaultReason::Ambiguous => f.write_str("is there twice, and the two differ"),
        }
    }
}

impl fmt::Display for ForeignFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tag of {} {}", self.kind.owner(), self.reason)
    }
}

impl std::error::Error for ForeignFault {}
