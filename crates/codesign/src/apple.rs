//! Apple's names, numbers and texts for what can be wrong with signed code.
//!
//! Users of a Mac know these errors. Each of our findings names the one that Apple's own check
//! would report, if any.
//!
//! Source: `CSCommon.h` of Apple's Security framework; the texts are those its tools print.

use std::fmt;

/// Declares the errors from one table: name, number, name in Apple's headers, text.
macro_rules! apple_errors {
    ($($(#[$doc:meta])* $error:ident = $code:literal, $name:literal, $text:literal;)*) => {
        /// One of Apple's errors of code signing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum AppleError {
            $($(#[$doc])* $error,)*
        }

        impl AppleError {
            /// Returns all of them, in the order of the enumeration.
            pub fn all() -> impl Iterator<Item = AppleError> {
                [$(AppleError::$error),*].into_iter()
            }

            /// Returns the number, the name in Apple's headers, and the text Apple's tools print.
            fn row(self) -> (i32, &'static str, &'static str) {
                match self {
                    $(AppleError::$error => ($code, $name, $text),)*
                }
            }
        }
    };
}

apple_errors! {
    /// Not signed at all.
    Unsigned = -67_062, "errSecCSUnsigned", "code object is not signed at all";
    /// Code or signature have been modified.
    SignatureFailed = -67_061, "errSecCSSignatureFailed",
        "invalid signature (code or signature have been modified)";
    /// Bytes could not be read.
    SignatureNotVerifiable = -67_060, "errSecCSSignatureNotVerifiable",
        "the code cannot be read by the verifier (file system permissions etc.)";
    /// A form of signature that is not known.
    SignatureUnsupported = -67_059, "errSecCSSignatureUnsupported",
        "unsupported type or version of signature";
    /// A property list that cannot be understood.
    BadDictionaryFormat = -67_058, "errSecCSBadDictionaryFormat",
        "a required plist file or resource is malformed";
    /// Resources that no signature seals.
    ResourcesNotSealed = -67_057, "errSecCSResourcesNotSealed",
        "resources are present but not sealed by signature";
    /// A signature asks for sealed resources that are not there.
    ResourcesNotFound = -67_056, "errSecCSResourcesNotFound",
        "code has no resources but signature indicates they must be present";
    /// The seal of the resources cannot be understood.
    ResourcesInvalid = -67_055, "errSecCSResourcesInvalid",
        "the sealed resource directory is invalid";
    /// A sealed resource is missing or invalid.
    BadResource = -67_054, "errSecCSBadResource", "a sealed resource is missing or invalid";
    /// Rules of sealing that cannot be understood.
    ResourceRulesInvalid = -67_053, "errSecCSResourceRulesInvalid",
        "invalid resource specification rule(s)";
    /// A requirement cannot be understood.
    ReqInvalid = -67_052, "errSecCSReqInvalid", "invalid or corrupted code requirement(s)";
    /// A requirement is of a kind that is not known.
    ReqUnsupported = -67_051, "errSecCSReqUnsupported",
        "unsupported type or version of code requirement(s)";
    /// A requirement is not met.
    ReqFailed = -67_050, "errSecCSReqFailed",
        "code failed to satisfy specified code requirement(s)";
    /// The form of the code is not known.
    BadObjectFormat = -67_049, "errSecCSBadObjectFormat",
        "object file format unrecognized, invalid, or unsuitable";
    /// The signature's own form is wrong.
    SignatureInvalid = -67_045, "errSecCSSignatureInvalid",
        "invalid or unsupported format for signature";
    /// The property list, or what seals it, has been modified.
    InfoPlistFailed = -67_030, "errSecCSInfoPlistFailed",
        "invalid Info.plist (plist or signature have been modified)";
    /// A bundle without its executable.
    NoMainExecutable = -67_029, "errSecCSNoMainExecutable", "the code has no main executable file";
    /// The form of the bundle is not known.
    BadBundleFormat = -67_028, "errSecCSBadBundleFormat",
        "bundle format unrecognized, invalid, or unsuitable";
    /// The seal of the resources, or what seals it, has been modified.
    ResourceDirectoryFailed = -67_023, "errSecCSResourceDirectoryFailed",
        "invalid resource directory (directory or signature have been modified)";
    /// Nested code is not signed.
    UnsignedNestedCode = -67_022, "errSecCSUnsignedNestedCode", "nested code is unsigned";
    /// Nested code is modified or invalid.
    BadNestedCode = -67_021, "errSecCSBadNestedCode", "nested code is modified or invalid";
    /// A resource of a kind that cannot be sealed.
    ResourceNotSupported = -67_016, "errSecCSResourceNotSupported",
        "unsupported resource found (something not a directory, file or symlink)";
    /// Something else than a regular file where one is needed.
    RegularFile = -67_015, "errSecCSRegularFile",
        "the main executable or Info.plist must be a regular file (no symlinks, etc.)";
    /// Contents beside the sealed folder of an application.
    UnsealedAppRoot = -67_014, "errSecCSUnsealedAppRoot",
        "unsealed contents present in the bundle root";
    /// Rules of sealing that leave too much out.
    WeakResourceRules = -67_013, "errSecCSWeakResourceRules",
        "resource envelope is obsolete (custom omit rules)";
    /// A symlink under a name that no seal covers.
    DsStoreSymlink = -67_012, "errSecCSDSStoreSymlink", ".DS_Store files cannot be a symlink";
    /// A bundle that could be an application or a framework.
    AmbiguousBundleFormat = -67_011, "errSecCSAmbiguousBundleFormat",
        "bundle format is ambiguous (could be app or framework)";
    /// Bytes around the code that no signature covers.
    BadMainExecutable = -67_010, "errSecCSBadMainExecutable",
        "main executable failed strict validation";
    /// Another version of a framework is modified or invalid.
    BadFrameworkVersion = -67_009, "errSecCSBadFrameworkVersion",
        "embedded framework contains modified or invalid version";
    /// Contents beside the sealed versions of a framework.
    UnsealedFrameworkRoot = -67_008, "errSecCSUnsealedFrameworkRoot",
        "unsealed contents present in the root directory of an embedded framework";
    /// An old form of seal.
    WeakResourceEnvelope = -67_007, "errSecCSWeakResourceEnvelope",
        "resource envelope is obsolete (version 1 signature)";
    /// A platform that does not fit.
    InvalidPlatform = -67_005, "errSecCSInvalidPlatform",
        "invalid platform identifier or platform mismatch";
    /// Code longer than the signature can say.
    TooBig = -67_004, "errSecCSTooBig", "code is too big for current signing format";
    /// A symlink that leads out of the bundle.
    InvalidSymlink = -67_003, "errSecCSInvalidSymlink",
        "invalid destination for symbolic link in bundle";
    /// A disk image whose form is wrong.
    BadDiskImageFormat = -67_001, "errSecCSBadDiskImageFormat",
        "disk image format unrecognized, invalid, or unsuitable";
    /// Hash types that are not known.
    UnsupportedDigestAlgorithm = -67_000, "errSecCSUnsupportedDigestAlgorithm",
        "signature digest algorithm(s) specified are not supported";
    /// Data attached to a file that no seal covers.
    InvalidAssociatedFileData = -66_999, "errSecCSInvalidAssociatedFileData",
        "resource fork, Finder information, or similar detritus not allowed";
    /// A team identifier that is not valid.
    InvalidTeamIdentifier = -66_998, "errSecCSInvalidTeamIdentifier",
        "a Team Identifier string is invalid";
    /// The team of the signature is not that of the certificate.
    BadTeamIdentifier = -66_997, "errSecCSBadTeamIdentifier",
        "a Team Identifier is wrong or inappropriate";
    /// A certificate leads to no root that is trusted (`CSSMERR_TP_NOT_TRUSTED`).
    NotTrusted = -2_147_409_622, "CSSMERR_TP_NOT_TRUSTED", "CSSMERR_TP_NOT_TRUSTED";
    /// A certificate had expired (`CSSMERR_TP_CERT_EXPIRED`).
    CertificateExpired = -2_147_409_654, "CSSMERR_TP_CERT_EXPIRED", "CSSMERR_TP_CERT_EXPIRED";
}

impl AppleError {
    /// Returns the number, an `OSStatus`.
    pub fn code(self) -> i32 {
        self.row().0
    }

    /// Returns the name in Apple's headers.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns the text that Apple's tools print.
    pub fn text(self) -> &'static str {
        self.row().2
    }
}

impl fmt::Display for AppleError {
    /// Writes the text, as `codesign` does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
