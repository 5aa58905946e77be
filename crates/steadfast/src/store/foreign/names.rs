//! Which attribute of which tool a name is, by whatever way it came to this system.
//!
//! In: the name of an attribute. Out: the [`Slot`] it fills. Knows nothing of values.

use std::borrow::Cow;

use steadfast_digest::Algorithm;
use steadfast_sys::xattr::MAC_PREFIX;

use super::ForeignKind;
use crate::store::carrier;

/// One attribute of a foreign tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    ShatagDigest,
    ShatagTime,
    UnraidSha256,
    UnraidBlake3,
    UnraidBlake2,
    UnraidMd5,
    /// When the digest was last made or checked.
    UnraidScanDate,
    /// The modification time.
    UnraidFileDate,
    UnraidFileSize,
    DintchHash,
    DintchTime,
    Ima,
}

impl Slot {
    /// The digests of Unraid, the strongest first.
    pub(super) const UNRAID_DIGESTS: [Slot; 4] =
        [Slot::UnraidSha256, Slot::UnraidBlake3, Slot::UnraidBlake2, Slot::UnraidMd5];

    /// Recognises a name.
    pub(super) fn of(name: &str) -> Option<Slot> {
        let bare = carrier::bare(name);
        if let Some(dintch) = bare.strip_prefix("co.eclecticlight.dintch.") {
            return Slot::of_dintch(dintch);
        }
        match bare {
            "shatag.sha256" => return Some(Slot::ShatagDigest),
            "shatag.ts" => return Some(Slot::ShatagTime),
            "security.ima" => return Some(Slot::Ima),
            // Unraid's names are anybody's words without the namespace.
            _ if bare.len() == name.len() => return None,
            _ => {}
        }
        Some(match bare {
            "sha256" => Slot::UnraidSha256,
            "blake3" => Slot::UnraidBlake3,
            "blake2" => Slot::UnraidBlake2,
            "md5" => Slot::UnraidMd5,
            "scandate" => Slot::UnraidScanDate,
            "filedate" => Slot::UnraidFileDate,
            "filesize" => Slot::UnraidFileSize,
            _ => return None,
        })
    }

    /// Recognises `hash` and `time`, with the flags of macOS behind a `#` or without.
    fn of_dintch(name: &str) -> Option<Slot> {
        match carrier::without_flags(name)? {
            "hash" => Some(Slot::DintchHash),
            "time" => Some(Slot::DintchTime),
            _ => None,
        }
    }

    /// Returns whose attribute it is.
    pub(super) fn kind(self) -> ForeignKind {
        match self {
            Slot::ShatagDigest | Slot::ShatagTime => ForeignKind::Shatag,
            Slot::DintchHash | Slot::DintchTime => ForeignKind::Dintch,
            Slot::Ima => ForeignKind::Ima,
            _ => ForeignKind::Unraid,
        }
    }

    /// Says whether the attribute holds a digest, without which the others are no tag.
    pub(super) fn is_digest(self) -> bool {
        let alone = [Slot::ShatagDigest, Slot::DintchHash, Slot::Ima];
        alone.contains(&self) || Slot::UNRAID_DIGESTS.contains(&self)
    }

    /// Returns the algorithm of a digest that the name of its attribute tells.
    pub(super) fn algorithm(self) -> Option<Algorithm> {
        match self {
            Slot::ShatagDigest | Slot::DintchHash | Slot::UnraidSha256 => Some(Algorithm::Sha256),
            Slot::UnraidBlake3 => Some(Algorithm::Blake3),
            Slot::UnraidBlake2 => Some(Algorithm::Blake2b),
            Slot::UnraidMd5 => Some(Algorithm::Md5),
            _ => None,
        }
    }

    /// Returns the name that the tool itself gives the attribute on this system.
    pub(super) fn own_name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Slot::ShatagDigest => "user.shatag.sha256",
            Slot::ShatagTime => "user.shatag.ts",
            Slot::UnraidSha256 => "user.sha256",
            Slot::UnraidBlake3 => "user.blake3",
            Slot::UnraidBlake2 => "user.blake2",
            Slot::UnraidMd5 => "user.md5",
            Slot::UnraidScanDate => "user.scandate",
            Slot::UnraidFileDate => "user.filedate",
            Slot::UnraidFileSize => "user.filesize",
            Slot::Ima => "security.ima",
            Slot::DintchHash | Slot::DintchTime => {
                let part = if self == Slot::DintchHash { "hash" } else { "time" };
                return format!("{MAC_PREFIX}co.eclecticlight.dintch.{part}#S").into();
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
            assert_eq!(Slot::of(name), Some(Slot::DintchHash), "{name}");
            let time = name.replace("hash", "time");
            assert_eq!(Slot::of(&time), Some(Slot::DintchTime), "{time}");
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
            assert_eq!(Slot::of(name), None, "{name}");
        }
    }

    #[test]
    fn own_names_are_recognised() {
        let others = [
            Slot::ShatagDigest,
            Slot::ShatagTime,
            Slot::UnraidScanDate,
            Slot::UnraidFileDate,
            Slot::UnraidFileSize,
            Slot::DintchHash,
            Slot::DintchTime,
            Slot::Ima,
        ];
        for slot in others.into_iter().chain(Slot::UNRAID_DIGESTS) {
            assert_eq!(Slot::of(&slot.own_name()), Some(slot));
        }
    }
}
