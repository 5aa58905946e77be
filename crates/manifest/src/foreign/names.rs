//! Recognises the attributes of other tools by name, including the names under which other systems
//! and programs copy them.

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
        // Names of macOS may be followed by `#` and flags.
        let plain = match bare.starts_with(DINTCH) {
            true => carrier::without_flags(bare)?,
            false => bare,
        };
        let (slot, kind, ..) = SLOTS.iter().find(|(.., known, _)| *known == plain)?;
        // Unraid's names are common words. They count only in the user namespace.
        let is_own = *kind != ForeignKind::Unraid || bare.len() < name.len();
        is_own.then_some(*slot)
    }

    fn row(self) -> &'static SlotRow {
        SLOTS.iter().find(|(slot, ..)| *slot == self).expect("every slot has its row")
    }

    /// Returns the tool of the attribute.
    pub fn kind(self) -> ForeignKind {
        self.row().1
    }

    /// Returns the algorithm that the name of the attribute implies.
    pub fn algorithm(self) -> Option<Algorithm> {
        self.row().3
    }

    /// Returns whether the attribute holds a digest. Without a digest, the others are no tag.
    pub fn is_digest(self) -> bool {
        self.algorithm().is_some() || self == ForeignSlot::Ima
    }

    /// Returns the name that the tool uses on this system. `mac_prefix` is the prefix of this
    /// system for the names of macOS.
    pub fn own_name(self, mac_prefix: &str) -> String {
        let (_, kind, name, _) = self.row();
        match kind {
            ForeignKind::Ima => (*name).to_owned(),
            ForeignKind::Dintch => format!("{mac_prefix}{name}#S"),
            ForeignKind::Shatag | ForeignKind::Unraid => format!("user.{name}"),
        }
    }
}

/// Prefix of the names of Dintch's attributes.
const DINTCH: &str = "co.eclecticlight.dintch.";

/// A slot, its tool, its name without prefixes and flags, and the algorithm that the name implies.
type SlotRow = (ForeignSlot, ForeignKind, &'static str, Option<Algorithm>);

const SLOTS: [SlotRow; 12] = {
    use ForeignKind::{Dintch, Ima, Shatag, Unraid};
    [
        (ForeignSlot::ShatagDigest, Shatag, "shatag.sha256", Some(Algorithm::Sha256)),
        (ForeignSlot::ShatagTime, Shatag, "shatag.ts", None),
        (ForeignSlot::UnraidSha256, Unraid, "sha256", Some(Algorithm::Sha256)),
        (ForeignSlot::UnraidBlake3, Unraid, "blake3", Some(Algorithm::Blake3)),
        (ForeignSlot::UnraidBlake2, Unraid, "blake2", Some(Algorithm::Blake2b)),
        (ForeignSlot::UnraidMd5, Unraid, "md5", Some(Algorithm::Md5)),
        (ForeignSlot::UnraidScanDate, Unraid, "scandate", None),
        (ForeignSlot::UnraidFileDate, Unraid, "filedate", None),
        (ForeignSlot::UnraidFileSize, Unraid, "filesize", None),
        (ForeignSlot::DintchHash, Dintch, "co.eclecticlight.dintch.hash", Some(Algorithm::Sha256)),
        (ForeignSlot::DintchTime, Dintch, "co.eclecticlight.dintch.time", None),
        (ForeignSlot::Ima, Ima, "security.ima", None),
    ]
};

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
