//! Apple's names, numbers and texts for what can be wrong with signed code.
//!
//! In: nothing. Out: a table. Must not know: when one of them applies. People who come from a Mac
//! know these; each of our findings names the one that Apple's own check would give, if any.
//!
//! Source: `CSCommon.h` of Apple's Security framework; the texts are those its tools print.

use std::fmt;

/// One of Apple's errors of code signing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AppleError {
    /// Not signed at all.
    Unsigned,
    /// Code or signature have been modified.
    SignatureFailed,
    /// Bytes could not be read.
    SignatureNotVerifiable,
    /// A form of signature that is not known.
    SignatureUnsupported,
    /// A property list that cannot be understood.
    BadDictionaryFormat,
    /// Resources that no signature seals.
    ResourcesNotSealed,
    /// A signature asks for sealed resources that are not there.
    ResourcesNotFound,
    /// The seal of the resources cannot be understood.
    ResourcesInvalid,
    /// A sealed resource is missing or invalid.
    BadResource,
    /// Rules of sealing that cannot be understood.
    ResourceRulesInvalid,
    /// A requirement cannot be understood.
    ReqInvalid,
    /// A requirement is of a kind that is not known.
    ReqUnsupported,
    /// A requirement is not met.
    ReqFailed,
    /// The form of the code is not known.
    BadObjectFormat,
    /// The signature's own form is wrong.
    SignatureInvalid,
    /// The property list, or what seals it, has been modified.
    InfoPlistFailed,
    /// A bundle without its executable.
    NoMainExecutable,
    /// The form of the bundle is not known.
    BadBundleFormat,
    /// The seal of the resources, or what seals it, has been modified.
    ResourceDirectoryFailed,
    /// Nested code is not signed.
    UnsignedNestedCode,
    /// Nested code is modified or invalid.
    BadNestedCode,
    /// A resource of a kind that cannot be sealed.
    ResourceNotSupported,
    /// Something else than a regular file where one is needed.
    RegularFile,
    /// Contents beside the sealed folder of an application.
    UnsealedAppRoot,
    /// Rules of sealing that leave too much out.
    WeakResourceRules,
    /// A symlink under a name that no seal covers.
    DsStoreSymlink,
    /// A bundle that could be an application or a framework.
    AmbiguousBundleFormat,
    /// Bytes around the code that no signature covers.
    BadMainExecutable,
    /// Another version of a framework is modified or invalid.
    BadFrameworkVersion,
    /// Contents beside the sealed versions of a framework.
    UnsealedFrameworkRoot,
    /// An old form of seal.
    WeakResourceEnvelope,
    /// A platform that does not fit.
    InvalidPlatform,
    /// Code longer than the signature can say.
    TooBig,
    /// A symlink that leads out of the bundle.
    InvalidSymlink,
    /// A disk image whose form is wrong.
    BadDiskImageFormat,
    /// Hash types that are not known.
    UnsupportedDigestAlgorithm,
    /// Data attached to a file that no seal covers.
    InvalidAssociatedFileData,
    /// A team that is no team.
    InvalidTeamIdentifier,
    /// The team of the signature is not that of the certificate.
    BadTeamIdentifier,
    /// A certificate leads to no root that is trusted (`CSSMERR_TP_NOT_TRUSTED`).
    NotTrusted,
    /// A certificate had expired (`CSSMERR_TP_CERT_EXPIRED`).
    CertificateExpired,
}

/// An error with its number, its name in Apple's headers, and the text Apple's tools print.
type ErrorRow = (AppleError, i32, &'static str, &'static str);

/// Every error once, in the order of the enumeration.
const TABLE: &[ErrorRow] = &[
    (AppleError::Unsigned, -67_062, "errSecCSUnsigned", "code object is not signed at all"),
    (
        AppleError::SignatureFailed,
        -67_061,
        "errSecCSSignatureFailed",
        "invalid signature (code or signature have been modified)",
    ),
    (
        AppleError::SignatureNotVerifiable,
        -67_060,
        "errSecCSSignatureNotVerifiable",
        "the code cannot be read by the verifier (file system permissions etc.)",
    ),
    (
        AppleError::SignatureUnsupported,
        -67_059,
        "errSecCSSignatureUnsupported",
        "unsupported type or version of signature",
    ),
    (
        AppleError::BadDictionaryFormat,
        -67_058,
        "errSecCSBadDictionaryFormat",
        "a required plist file or resource is malformed",
    ),
    (
        AppleError::ResourcesNotSealed,
        -67_057,
        "errSecCSResourcesNotSealed",
        "resources are present but not sealed by signature",
    ),
    (
        AppleError::ResourcesNotFound,
        -67_056,
        "errSecCSResourcesNotFound",
        "code has no resources but signature indicates they must be present",
    ),
    (
        AppleError::ResourcesInvalid,
        -67_055,
        "errSecCSResourcesInvalid",
        "the sealed resource directory is invalid",
    ),
    (
        AppleError::BadResource,
        -67_054,
        "errSecCSBadResource",
        "a sealed resource is missing or invalid",
    ),
    (
        AppleError::ResourceRulesInvalid,
        -67_053,
        "errSecCSResourceRulesInvalid",
        "invalid resource specification rule(s)",
    ),
    (
        AppleError::ReqInvalid,
        -67_052,
        "errSecCSReqInvalid",
        "invalid or corrupted code requirement(s)",
    ),
    (
        AppleError::ReqUnsupported,
        -67_051,
        "errSecCSReqUnsupported",
        "unsupported type or version of code requirement(s)",
    ),
    (
        AppleError::ReqFailed,
        -67_050,
        "errSecCSReqFailed",
        "code failed to satisfy specified code requirement(s)",
    ),
    (
        AppleError::BadObjectFormat,
        -67_049,
        "errSecCSBadObjectFormat",
        "object file format unrecognized, invalid, or unsuitable",
    ),
    (
        AppleError::SignatureInvalid,
        -67_045,
        "errSecCSSignatureInvalid",
        "invalid or unsupported format for signature",
    ),
    (
        AppleError::InfoPlistFailed,
        -67_030,
        "errSecCSInfoPlistFailed",
        "invalid Info.plist (plist or signature have been modified)",
    ),
    (
        AppleError::NoMainExecutable,
        -67_029,
        "errSecCSNoMainExecutable",
        "the code has no main executable file",
    ),
    (
        AppleError::BadBundleFormat,
        -67_028,
        "errSecCSBadBundleFormat",
        "bundle format unrecognized, invalid, or unsuitable",
    ),
    (
        AppleError::ResourceDirectoryFailed,
        -67_023,
        "errSecCSResourceDirectoryFailed",
        "invalid resource directory (directory or signature have been modified)",
    ),
    (
        AppleError::UnsignedNestedCode,
        -67_022,
        "errSecCSUnsignedNestedCode",
        "nested code is unsigned",
    ),
    (
        AppleError::BadNestedCode,
        -67_021,
        "errSecCSBadNestedCode",
        "nested code is modified or invalid",
    ),
    (
        AppleError::ResourceNotSupported,
        -67_016,
        "errSecCSResourceNotSupported",
        "unsupported resource found (something not a directory, file or symlink)",
    ),
    (
        AppleError::RegularFile,
        -67_015,
        "errSecCSRegularFile",
        "the main executable or Info.plist must be a regular file (no symlinks, etc.)",
    ),
    (
        AppleError::UnsealedAppRoot,
        -67_014,
        "errSecCSUnsealedAppRoot",
        "unsealed contents present in the bundle root",
    ),
    (
        AppleError::WeakResourceRules,
        -67_013,
        "errSecCSWeakResourceRules",
        "resource envelope is obsolete (custom omit rules)",
    ),
    (
        AppleError::DsStoreSymlink,
        -67_012,
        "errSecCSDSStoreSymlink",
        ".DS_Store files cannot be a symlink",
    ),
    (
        AppleError::AmbiguousBundleFormat,
        -67_011,
        "errSecCSAmbiguousBundleFormat",
        "bundle format is ambiguous (could be app or framework)",
    ),
    (
        AppleError::BadMainExecutable,
        -67_010,
        "errSecCSBadMainExecutable",
        "main executable failed strict validation",
    ),
    (
        AppleError::BadFrameworkVersion,
        -67_009,
        "errSecCSBadFrameworkVersion",
        "embedded framework contains modified or invalid version",
    ),
    (
        AppleError::UnsealedFrameworkRoot,
        -67_008,
        "errSecCSUnsealedFrameworkRoot",
        "unsealed contents present in the root directory of an embedded framework",
    ),
    (
        AppleError::WeakResourceEnvelope,
        -67_007,
        "errSecCSWeakResourceEnvelope",
        "resource envelope is obsolete (version 1 signature)",
    ),
    (
        AppleError::InvalidPlatform,
        -67_005,
        "errSecCSInvalidPlatform",
        "invalid platform identifier or platform mismatch",
    ),
    (AppleError::TooBig, -67_004, "errSecCSTooBig", "code is too big for current signing format"),
    (
        AppleError::InvalidSymlink,
        -67_003,
        "errSecCSInvalidSymlink",
        "invalid destination for symbolic link in bundle",
    ),
    (
        AppleError::BadDiskImageFormat,
        -67_001,
        "errSecCSBadDiskImageFormat",
        "disk image format unrecognized, invalid, or unsuitable",
    ),
    (
        AppleError::UnsupportedDigestAlgorithm,
        -67_000,
        "errSecCSUnsupportedDigestAlgorithm",
        "signature digest algorithm(s) specified are not supported",
    ),
    (
        AppleError::InvalidAssociatedFileData,
        -66_999,
        "errSecCSInvalidAssociatedFileData",
        "resource fork, Finder information, or similar detritus not allowed",
    ),
    (
        AppleError::InvalidTeamIdentifier,
        -66_998,
        "errSecCSInvalidTeamIdentifier",
        "a Team Identifier string is invalid",
    ),
    (
        AppleError::BadTeamIdentifier,
        -66_997,
        "errSecCSBadTeamIdentifier",
        "a Team Identifier is wrong or inappropriate",
    ),
    (AppleError::NotTrusted, -2_147_409_622, "CSSMERR_TP_NOT_TRUSTED", "CSSMERR_TP_NOT_TRUSTED"),
    (
        AppleError::CertificateExpired,
        -2_147_409_654,
        "CSSMERR_TP_CERT_EXPIRED",
        "CSSMERR_TP_CERT_EXPIRED",
    ),
];

const _: () = {
    assert!(TABLE.len() == AppleError::CertificateExpired as usize + 1, "each error has a row");
    let mut index = 0;
    while index < TABLE.len() {
        assert!(TABLE[index].0 as usize == index, "rows are in the order of the errors");
        index += 1;
    }
};

impl AppleError {
    /// Returns all of them.
    pub fn all() -> impl Iterator<Item = AppleError> {
        TABLE.iter().map(|row| row.0)
    }

    /// Returns the number, an `OSStatus`.
    pub fn code(self) -> i32 {
        self.row().1
    }

    /// Returns the name in Apple's headers.
    pub fn name(self) -> &'static str {
        self.row().2
    }

    /// Returns the text that Apple's tools print.
    pub fn text(self) -> &'static str {
        self.row().3
    }

    fn row(self) -> &'static ErrorRow {
        &TABLE[self as usize]
    }
}

impl fmt::Display for AppleError {
    /// Writes the text, as `codesign` does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
