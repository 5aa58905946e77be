//! Findings: one fact for each thing that is wrong or worth knowing, with its place and Apple's
//! error.
//!
//! Each kind of finding belongs to one of three verdicts: on the bytes, the signer or the policy.

use std::fmt;
use std::ops::Range;

use strum::IntoStaticStr;

use crate::apple::AppleError;
use crate::error::{Error, ErrorKind};
use crate::superblob::Slot;

/// Which of the three verdicts a finding belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Aspect {
    /// Whether the bytes are as they were sealed.
    Bytes,
    /// Who signed them, and whether that can be verified.
    Signer,
    /// Whether a signature of this form should be accepted.
    Policy,
}

/// What a finding means for the verdict it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// Information; the verdict is not affected.
    Note,
    /// A warning. Everything that was checked was verified.
    Warning,
    /// Something could not be verified, so the code is not accepted.
    Unverified,
    /// The verdict is bad.
    Failure,
}

/// The outcome of all findings on some code, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum CodeOutcome {
    /// Everything that was checked is as it was sealed, and nothing is refused.
    Good,
    /// Something could not be verified.
    Unverified,
    /// Something is unsigned, missing, added, replaced or refused.
    Refused,
    /// A condition that the user set is not met.
    Unmet,
    /// Something is not as it was sealed or signed.
    Damaged,
}

impl CodeOutcome {
    /// Returns the status that a command ends with: 3 outranks 1, 1 outranks 2.
    pub fn exit_status(self) -> u8 {
        match self {
            CodeOutcome::Good => 0,
            CodeOutcome::Unverified => 2,
            CodeOutcome::Refused => 1,
            CodeOutcome::Unmet | CodeOutcome::Damaged => 3,
        }
    }

    /// Returns the worst outcome of some findings.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a CodeFinding>) -> CodeOutcome {
        findings.into_iter().map(CodeFinding::outcome).max().unwrap_or(CodeOutcome::Good)
    }
}

/// The kind of a finding. Its name in documents is [`FindingKind::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    // Bytes: structure and pages of one signature.
    /// A slice, or the whole file, has no signature.
    Unsigned,
    /// A structure contradicts itself or reaches beyond what holds it.
    Malformed,
    /// A structure, a version of one or an algorithm that is not known.
    Unsupported,
    /// A page does not have the digest that was sealed.
    PageDamaged,
    /// Bytes could not be read.
    Unreadable,
    /// The sealed range is not where the signature begins.
    CodeLimit,
    /// The number of page digests does not fit the sealed range.
    PageCount,
    /// The contents of a special slot do not have the sealed digest.
    SlotDamaged,
    /// The contents of a special slot are missing.
    SlotMissing,
    /// A part of the signature that no directory binds.
    SlotUnbound,
    /// The contents of a special slot were not given to the check.
    SlotUnchecked,
    /// The same slot or the same hash type twice.
    Duplicate,
    /// Pages scattered over addresses: their digests cannot be checked in the file.
    Scatter,
    /// Bytes other than zero that no digest covers.
    Unsealed,
    /// Two forms of the same facts that do not agree, such as entitlements.
    Disagreement,

    // Bytes: bundles and disk images.
    /// Contents that nothing here looks into.
    NotRead,
    /// The seal of the resources is missing.
    ResourcesNotFound,
    /// The seal of the resources cannot be understood.
    ResourcesMalformed,
    /// A file that the seal does not list.
    ResourceAdded,
    /// A file that is not as it was sealed.
    ResourceModified,
    /// A sealed file that is missing.
    ResourceMissing,
    /// A file or folder that could not be read or is of no kind that can be sealed.
    ResourceUnreadable,
    /// Symlinks that became copies of their targets.
    Flattened,
    /// Nested code that is damaged, or does not meet its requirement.
    NestedDamaged,
    /// Nested code that is not signed.
    NestedUnsigned,
    /// Nested code that meets its requirement but is not the code that was sealed.
    NestedReplaced,

    // Signer.
    /// Not signed: the code is marked as ad-hoc.
    AdHoc,
    /// No signature over the digests, and no mark that none was meant.
    SignerMissing,
    /// The signature over the digests cannot be read.
    SignerMalformed,
    /// The signature is over other digests than these.
    SignerDigest,
    /// The signature names other directories than there are.
    SignerDirectories,
    /// The signature itself is wrong.
    SignerSignature,
    /// The certificates do not lead to a root.
    SignerChain,
    /// The certificates lead to a root that is not Apple's.
    SignerRoot,
    /// The certificate does not belong to the team the directory names.
    SignerTeam,
    /// The time stamp is wrong.
    TimestampDamaged,
    /// The time stamp is from an authority that is not known here.
    TimestampUntrusted,
    /// There is no time stamp.
    TimestampMissing,

    // Policy.
    /// Slices of one file by different signers, for the same processor, or for another one than
    /// the index of the file says.
    SlicesDisagree,
    /// A certificate was not valid when it was used.
    CertificateExpired,
    /// A hash that is too weak for what it seals.
    WeakHash,
    /// A requirement is not met.
    Requirement,
    /// A requirement that cannot be evaluated.
    RequirementUnsupported,
    /// Rules of sealing that leave too much out.
    WeakRules,
    /// An old form of seal.
    WeakSeal,
    /// Something beside the sealed part of a bundle.
    UnsealedRoot,
    /// A symlink that leads out of the bundle.
    SymlinkEscapes,
    /// Data attached to a file that no seal covers.
    AssociatedData,
    /// Another form that strict checking refuses.
    Strict,
    /// A condition that the user set is not met.
    Condition,
}

impl FindingKind {
    /// Returns the name in documents: lower case, words joined with hyphens.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the outcome of a failure of this kind. A kind that is not listed here is damage, the
    /// worst.
    fn outcome(self) -> CodeOutcome {
        match self {
            FindingKind::Unsigned
            | FindingKind::SlotMissing
            | FindingKind::Unsealed
            | FindingKind::ResourcesNotFound
            | FindingKind::ResourceAdded
            | FindingKind::ResourceMissing
            | FindingKind::Flattened
            | FindingKind::NestedUnsigned
            | FindingKind::NestedReplaced => CodeOutcome::Refused,
            FindingKind::Condition => CodeOutcome::Unmet,
            kind if kind.aspect() == Aspect::Policy => CodeOutcome::Refused,
            _ => CodeOutcome::Damaged,
        }
    }

    /// Returns the verdict that findings of this kind belong to.
    pub fn aspect(self) -> Aspect {
        if self < FindingKind::AdHoc {
            Aspect::Bytes
        } else if self < FindingKind::SlicesDisagree {
            Aspect::Signer
        } else {
            Aspect::Policy
        }
    }
}

/// The place of a finding. Fields that do not apply are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingPlace {
    /// The path inside the bundle, with slashes, as bytes that need not be text.
    pub path: Option<Vec<u8>>,
    /// The slice, by the name of its architecture.
    pub slice: Option<String>,
    /// The directory, by its slot.
    pub directory: Option<Slot>,
    /// The slot that binds, or would bind, the thing.
    pub slot: Option<Slot>,
    /// Pages, counted from 0, end excluded.
    pub pages: Option<Range<u64>>,
    /// Bytes of the file (not of the slice), end excluded.
    pub bytes: Option<Range<u64>>,
    /// Segment and section that hold the first of the bytes, such as `__TEXT,__text`.
    pub section: Option<String>,
}

/// One fact that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFinding {
    /// The kind.
    pub kind: FindingKind,
    /// The effect on the verdict.
    pub severity: Severity,
    /// Where it is.
    pub place: FindingPlace,
    /// The error that Apple's own check would report, if any.
    pub apple: Option<AppleError>,
    /// The message: a lower-case fragment, without the place.
    pub text: String,
}

impl CodeFinding {
    /// Makes a failure.
    pub fn failure(kind: FindingKind, apple: AppleError, text: impl Into<String>) -> CodeFinding {
        let place = FindingPlace::default();
        let text = text.into();
        CodeFinding { kind, severity: Severity::Failure, place, apple: Some(apple), text }
    }

    /// Makes a finding that something could not be verified. If Apple's check accepts it, there is
    /// no error of Apple's.
    pub fn unverified(
        kind: FindingKind,
        apple: impl Into<Option<AppleError>>,
        text: impl Into<String>,
    ) -> CodeFinding {
        let (place, apple, text) = (FindingPlace::default(), apple.into(), text.into());
        CodeFinding { kind, severity: Severity::Unverified, place, apple, text }
    }

    /// Makes a warning about something that Apple's check accepts.
    pub fn warning(kind: FindingKind, text: impl Into<String>) -> CodeFinding {
        let place = FindingPlace::default();
        CodeFinding { kind, severity: Severity::Warning, place, apple: None, text: text.into() }
    }

    /// Makes a finding for information only.
    pub fn note(kind: FindingKind, text: impl Into<String>) -> CodeFinding {
        CodeFinding { severity: Severity::Note, ..CodeFinding::warning(kind, text) }
    }

    /// Makes a finding of an error that prevents the check of a part of a file.
    pub fn of_error(error: &Error) -> CodeFinding {
        let text = error.to_string();
        let malformed = FindingKind::Malformed;
        match error.kind() {
            ErrorKind::System => {
                let apple = AppleError::SignatureNotVerifiable;
                CodeFinding::unverified(FindingKind::Unreadable, apple, text)
            }
            ErrorKind::Unsupported => {
                let apple = AppleError::SignatureUnsupported;
                CodeFinding::unverified(FindingKind::Unsupported, apple, text)
            }
            ErrorKind::NotCode => {
                CodeFinding::failure(malformed, AppleError::BadObjectFormat, text)
            }
            _ => CodeFinding::failure(malformed, AppleError::SignatureInvalid, text),
        }
    }

    /// Returns the outcome of this finding alone.
    pub fn outcome(&self) -> CodeOutcome {
        match self.severity {
            Severity::Note | Severity::Warning => CodeOutcome::Good,
            Severity::Unverified => CodeOutcome::Unverified,
            Severity::Failure => self.kind.outcome(),
        }
    }

    /// Sets Apple's error.
    pub fn apple(mut self, error: AppleError) -> CodeFinding {
        self.apple = Some(error);
        self
    }

    /// Changes the place.
    pub fn at(mut self, change: impl FnOnce(&mut FindingPlace)) -> CodeFinding {
        change(&mut self.place);
        self
    }

    /// Returns the verdict that the finding belongs to.
    pub fn aspect(&self) -> Aspect {
        self.kind.aspect()
    }
}

impl fmt::Display for CodeFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
