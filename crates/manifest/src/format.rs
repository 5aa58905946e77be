//! The formats by name.

use std::str::FromStr;

use strum::{Display, IntoStaticStr, VariantArray};

use crate::{Error, ErrorKind};

/// A format of manifests.
#[derive(Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// The project's own manifest.
    Steadfast,
    /// `sha256sum`, `b3sum` and similar tools.
    Gnu,
    /// The same with NUL instead of line feed, as `--zero` prints.
    GnuZero,
    /// BSD tools, and others with `--tag`.
    Bsd,
    /// `openssl dgst`.
    Openssl,
    /// `hashdeep` and `hashit`.
    Hashdeep,
    /// A manifest of a BagIt bag.
    Bagit,
    /// The index that `chkbit` keeps in each directory.
    Chkbit,
    /// The index that `chkbit` keeps at the root of a tree.
    #[strum(serialize = "chkbit-db")]
    ChkbitDatabase,
    /// The database of `bitrot`.
    Bitrot,
    /// CRC-32 lists of Windows tools, `rhash` and `cfv`.
    Sfv,
    /// Lists of RFC 6920 names.
    Ni,
    /// Objects of a store as `rclone lsjson` and `aws s3api` print them; read only.
    Objects,
    /// OCFL inventories; read only.
    Ocfl,
    /// Specifications of `mtree`.
    Mtree,
    /// ASC MHL hash lists; read only, because they belong to a history.
    Mhl,
}

impl Format {
    /// Every format, the project's own first.
    pub const ALL: &'static [Format] = Format::VARIANTS;

    /// Returns the name for `--format`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether documents of the format can be written.
    pub fn is_writable(self) -> bool {
        !matches!(self, Format::Ocfl | Format::Mhl | Format::Objects)
    }

    /// Returns whether paths may come from Windows, with backslashes between names.
    pub(crate) fn is_windows(self) -> bool {
        self == Format::Sfv
    }
}

impl FromStr for Format {
    type Err = Error;

    /// Finds a format by its name.
    fn from_str(text: &str) -> Result<Format, Error> {
        let found = Format::ALL.iter().copied().find(|format| format.name() == text);
        found.ok_or_else(|| {
            let known =
                Format::ALL.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ");
            let name = text.escape_debug();
            let reason = format!("no format is named `{name}`; known are {known}");
            Error::new(ErrorKind::UnknownFormat, reason)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_its_own_name() {
        for format in Format::ALL {
            assert_eq!(format.name().parse::<Format>().unwrap(), *format);
        }
        let error = "x".parse::<Format>().unwrap_err().to_string();
        assert!(error.contains("steadfast, gnu"), "{error}");
    }
}
