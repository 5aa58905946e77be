//! The verbs about pages of any file, `pages digest` and `pages verify`; and what the verbs that
//! tag say of pages.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use steadfast::pages::PagesUse;
use steadfast::verity::{VerityHash, VerityParams};

use super::{LevelArgs, quantity};

/// Print fs-verity digests, and find the damaged pages of a file.
///
/// A digest shows that a file changed. Leaves, one digest per page, show where. `steadfast tag
/// --pages` stores them; they take 0.8 % of the length of the file.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast tag --pages ~/Videos
  steadfast pages verify ~/Videos/wedding.mkv
  steadfast pages verify --json ~/Videos/wedding.mkv | jq '.damaged[]'   ranges to restore")]
pub(crate) struct PagesArgs {
    #[command(subcommand)]
    pub(crate) what: PagesCommand,
}

/// What to do about pages.
#[derive(Debug, Subcommand)]
pub(crate) enum PagesCommand {
    Digest(PagesDigestArgs),
    Verify(PagesVerifyArgs),
}

/// Print fs-verity digests, as `fsverity digest` does, on any file system.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast pages digest base.apk
  steadfast pages digest --hash-alg sha512 --block-size 65536 --compact image

Exit status: 0 printed; 2 a FILE cannot be read; 130 interrupted.")]
pub(crate) struct PagesDigestArgs {
    /// Files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Hash with sha256 or sha512
    #[arg(long, value_name = "NAME", default_value = "sha256")]
    hash_alg: VerityHash,

    /// Divide the file, and the tree above it, into pages of SIZE: a power of two, 1KiB to 64KiB
    #[arg(long, value_name = "SIZE", default_value = "4096", value_parser = page_len)]
    block_size: usize,

    /// Hash these bytes before every page: up to 32, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = salt)]
    salt: Option<Salt>,

    /// Print only digests
    #[arg(long)]
    pub(crate) compact: bool,

    /// Read and hash in N threads [default: one per processor that the QoS level may use]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) workers: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) level: LevelArgs,
}

impl PagesDigestArgs {
    /// Returns how trees are made.
    pub(crate) fn params(&self) -> VerityParams {
        let salt = self.salt.as_ref().map_or(&[][..], |salt| &salt.0);
        VerityParams::new(self.hash_alg, self.block_size, salt)
            .expect("the arguments were looked at one by one")
    }
}

/// Verify files page by page, by the leaves stored with their tags, and print all damaged ranges.
///
/// If pages differ, the file is corrupt if its modification time is that of the tag, otherwise
/// modified. Writes no file.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast tag --pages ~/Videos
  steadfast pages verify ~/Videos/wedding.mkv

Exit status: 0 intact; 1 modified; 2 could not tell (no tag, no leaves, unreadable); 3 corrupt; \
130 interrupted. 3 outranks 1, 1 outranks 2.")]
pub(crate) struct PagesVerifyArgs {
    /// Files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Read the catalogue FILE and the leaves beside it [default: that of the nearest tree at or
    /// above FILE]
    #[arg(long, value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,

    /// Read and hash in N threads [default: one per processor that the QoS level may use]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) workers: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) level: LevelArgs,

    /// Print one JSON object per file
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whether leaves are kept with tags.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pages")]
pub(crate) struct KeepPagesArgs {
    /// Also store a digest per page of every tagged file, so that damage can be located. Files that
    /// have a tag and no leaves are read. Leaves are stored with the catalogue of the tree
    #[arg(long)]
    pages: bool,

    /// Divide files into pages of SIZE: a power of two, 1KiB to 64KiB [default: as in this tree, or
    /// 4KiB]
    #[arg(long, value_name = "SIZE", requires = "pages", value_parser = page_len)]
    #[arg(hide_short_help = true)]
    page_size: Option<usize>,

    /// Store the leaves in NAME.steadfast-pages beside each file instead
    #[arg(long, requires = "pages", hide_short_help = true)]
    sidecar: bool,
}

impl KeepPagesArgs {
    /// Returns for which files leaves are kept.
    pub(crate) fn choice(&self) -> PagesUse {
        match self.pages {
            true => PagesUse::All { page_len: self.page_size, sidecars: self.sidecar },
            false => PagesUse::Kept,
        }
    }
}

/// Bytes that are hashed before every page.
#[derive(Clone, Debug)]
struct Salt(Vec<u8>);

/// Reads a length that pages may have.
fn page_len(text: &str) -> Result<usize, String> {
    let len = usize::try_from(quantity::bytes(text)?).map_err(|_| "out of range".to_owned())?;
    let params = VerityParams::new(VerityHash::Sha256, len, b"");
    params.map(|_| len).map_err(|error| error.to_string())
}

/// Reads a salt.
fn salt(text: &str) -> Result<Salt, String> {
    let refused = || "a salt is up to 32 bytes, two hexadecimal digits each".to_owned();
    let pairs = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| match pair {
        [high, low] => {
            let digit = |digit: u8| char::from(digit).to_digit(16).ok_or_else(refused);
            Ok((digit(*high)? << 4 | digit(*low)?) as u8)
        }
        _ => Err(refused()),
    };
    let bytes: Vec<u8> = pairs.map(byte).collect::<Result<_, String>>()?;
    match bytes.len() <= VerityParams::SALT_LEN_MAX {
        true => Ok(Salt(bytes)),
        false => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn salts_are_whole_bytes() {
        assert_eq!(salt("00fFa1").unwrap().0, [0, 0xff, 0xa1]);
        assert!(salt("").unwrap().0.is_empty());
        for text in ["0", "abc", "zz", "+1", &"00".repeat(33)] {
            assert!(salt(text).is_err(), "{text}");
        }
    }

    #[test]
    fn pages_are_powers_of_two() {
        assert_eq!(page_len("4KiB"), Ok(4096));
        assert_eq!(page_len("65536"), Ok(65_536));
        for text in ["512", "4000", "4k", "128KiB", "x"] {
            assert!(page_len(text).is_err(), "{text}");
        }
    }
}
