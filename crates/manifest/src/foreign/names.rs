//! Which attribute of which tool a name is, by whatever way it came to this system.
//!
//! In: the name of an attribute. Out: the [`ForeignSlot`] it fills. Knows nothing of values.

use std::borrow::Cow;

use steadfast_digest::Algorithm;

use super::ForeignKind;
use crate::carrier;

/// One attribute of a foreign tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignSlot {
    /// shatag's SHA-256.
    ShatagDigest,
    /// shatag's modification time.
    ShatagTime,
    /// Unraid's SHA-256.
    UnraidSha256,
    /// Unraid's BLAKE3.
    UnraidBlake3,
    /// Unraid's BLAKE2b.
    UnraidBlake2,
    /// Unraid's MD5.
    UnraidMd5,
    /// When the digest was last made or checked.
    UnraidScanDate,
    /// The modification time.
    UnraidFileDate,
    /// The length in bytes.
    UnraidFileSize,
    /// Dintch's SHA-256.
    DintchHash,
    /// When Dintch made it.
    DintchTime,
    /// The kernel's digest or signature.
    Ima,
}

impl ForeignSlot {
    /// The digests of Unraid, the strongest first.
    pub const UNRAID_DIGESTS: [ForeignSlot; 4] = [
        ForeignSlot::UnraidSha256,
        ForeignSlot::UnraidBlake3,
        ForeignSlot::UnraidBlake2,
        ForeignSlot::UnraidMd5,
    ];

    /// Recognises a name.
    pub fn of(name: &str) -> Option<ForeignSlot> {
        let bare = carrier::bare(name);
        if let Some(dintch) = bare.strip_prefix("co.eclecticlight.dintch.") {
            return ForeignSlot::of_dintch(dintch);
        }
        match bare {
            "shatag.sha256" => return Some(ForeignSlot::ShatagDigest),
            "shatag.ts" => return Some(ForeignSlot::ShatagTime),
            "security.ima" => return Some(ForeignSlot::Ima),
            // Unraid's names are anybody's words without the namespace.
            _ if bare.len() == name.len() => return None,
            _ => {}
        }
        Some(match bare {
            "sha256" => ForeignSlot::UnraidSha256,
            "blake3" => ForeignSlot::UnraidBlake3,
            "blake2" => ForeignSlot::UnraidBlake2,
            "md5" => ForeignSlot::UnraidMd5,
            "scandate" => ForeignSlot::UnraidScanDate,
            "filedate" => ForeignSlot::UnraidFileDate,
            "filesize" => ForeignSlot::UnraidFileSize,
            _ => return None,
        })
    }

    /// Recognises `hash` and `time`, with the flags of macOS behind a `#` or without.
    fn of_dintch(name: &str) -> Option<ForeignSlot> {
        match carrier::without_flags(name)? {
            "hash" => Some(ForeignSlot::DintchHash),
            "time" => Some(ForeignSlot::DintchTime),
            _ => None,
        }
    }

    /// Returns whose attribute it is.
    pub fn kind(self) -> ForeignKind {
        match self {
            ForeignSlot::ShatagDigest | ForeignSlot::ShatagTime => ForeignKind::Shatag,
            ForeignSlot::DintchHash | ForeignSlot::DintchTime => ForeignKind::Dintch,
            ForeignSlot::Ima => ForeignKind::Ima,
            _ => ForeignKind::Unraid,
        }
    }

    /// Says whether the attribute holds a digest, without which the others are no tag.
    pub fn is_digest(self) -> bool {
        let alone = [ForeignSlot::ShatagDigest, ForeignSlot::DintchHash, ForeignSlot::Ima];
        alone.contains(&self) || ForeignSlot::UNRAID_DIGESTS.contains(&self)
    }

    /// Returns the algorithm of a digest that the name of its attribute tells.
    pub fn algorithm(self) -> Option<Algorithm> {
        match self {
            ForeignSlot::ShatagDigest | ForeignSlot::DintchHash | ForeignSlot::UnraidSha256 => {
                Some(Algorithm::Sha256)
            }
            ForeignSlot::UnraidBlake3 => Some(Algorithm::Blake3),
            ForeignSlot::UnraidBlake2 => Some(Algorithm::Blake2b),
            ForeignSlot::UnraidMd5 => Some(Algorithm::Md5),
            _ => None,
        }
    }

    /// Returns the name that the tool itself gives the attribute on this system, which puts
    /// `mac_prefix` before the names of macOS.
    pub fn own_name(self, mac_prefix: &str) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            ForeignSlot::ShatagDigest => "user.shatag.sha256",
            ForeignSlot::ShatagTime => "user.shatag.ts",
            ForeignSlot::UnraidSha256 => "user.sha256",
            ForeignSlot::UnraidBlake3 => "user.blake3",
            ForeignSlot::UnraidBlake2 => "user.blake2",
            ForeignSlot::UnraidMd5 => "user.md5",
            ForeignSlot::UnraidScanDate => "user.scandate",
            ForeignSlot::UnraidFileDate => "user.filedate",
            ForeignSlot::UnraidFileSize => "user.filesize",
            ForeignSlot::Ima => "security.ima",
            ForeignSlot::DintchHash | ForeignSlot::DintchTime => {
                let part = if self == ForeignSlot::DintchHash { "hash" } else { "time" };
                return format!("{mac_prefix}co.eclecticlight.dintch.{part}#S").into();
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_macs_name_is_known_however_it_came() {
        for name in [
            "co.eclecticlight.dintch.hash",
            "co.eclecticlight.dintch.hash#S",
            "co.eclecticlight.dintch.hash#CS",
            "user.co.eclecticlight.dintch.hash#S",
            "user.rsync.co.eclecticlight.dintch.hash#S",
            "user.DosStream.co.eclecticlight.dintch.hash#S:$DATA",
            "osx.co.eclecticlight.dintch.hash#S",
        ] {
            assert_eq!(ForeignSlot::of(name), Some(ForeignSlot::DintchHash), "{name}");
            let time = name.replace("hash", "time");
            assert_eq!(ForeignSlot::of(&time), Some(ForeignSlot::DintchTime), "{time}");
        }
    }

    #[test]
    fn other_names_are_nobodys() {
        for name in [
            "",
            "user.",
            "user.steadfast",
            "user.co.eclecticlight.dintch",
            "user.co.eclecticlight.dintch.hash2",
            "user.co.eclecticlight.dintch.hash#S#",
            "user.shatag",
            "user.shatag.sha256x",
            "sha256",
            "filedate",
            "user.sha1",
            "security.evm",
            "trusted.sha256",
        ] {
            assert_eq!(ForeignSlot::of(name), None, "{name}");
        }
    }

    #[test]
    fn own_names_are_recognised() {
        let others = [
            ForeignSlot::ShatagDigest,
            ForeignSlot::ShatagTime,
            ForeignSlot::UnraidScanDate,
            ForeignSlot::UnraidFileDate,
            ForeignSlot::UnraidFileSize,
            ForeignSlot::DintchHash,
            ForeignSlot::DintchTime,
            ForeignSlot::Ima,
        ];
        for slot in others.into_iter().chain(ForeignSlot::UNRAID_DIGESTS) {
            for mac_prefix in ["", "user."] {
                assert_eq!(ForeignSlot::of(&slot.own_name(mac_prefix)), Some(slot));
            }
        }
    }
}
