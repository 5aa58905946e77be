//! What `hash --fs-verity` takes, and what the verbs that tag say of pages.

use anyhow::bail;
use clap::Args;
use steadfast::Algorithm;
use steadfast::pages::PagesUse;
use steadfast::verity::{VerityHash, VerityParams};

use super::quantity;

/// Digests of fs-verity instead of ordinary ones.
#[derive(Debug, Args)]
#[command(next_help_heading = "Digests of fs-verity")]
pub(crate) struct FsVerityArgs {
    /// Print fs-verity digests of files, as `fsverity digest` does, by sha256 or sha512
    #[arg(long, conflicts_with_all = ["check", "tag", "zero", "json", "csv", "files_from"])]
    pub(crate) fs_verity: bool,

    /// Divide the file, and the tree above it, into pages of SIZE: a power of two, 1KiB to 64KiB
    #[arg(long, value_name = "SIZE", default_value = "4096", value_parser = page_len)]
    block_size: usize,

    /// Hash these bytes before every page: up to 32, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = salt, requires = "fs_verity")]
    salt: Option<Salt>,

    /// Print only digests
    #[arg(long, requires = "fs_verity")]
    pub(crate) compact: bool,
}

impl FsVerityArgs {
    /// Returns how trees are made.
    ///
    /// # Errors
    /// If fs-verity does not have the algorithm.
    pub(crate) fn params(&self, algorithm: Option<Algorithm>) -> anyhow::Result<VerityParams> {
        let hash = match algorithm {
            None | Some(Algorithm::Sha256) => VerityHash::Sha256,
            Some(Algorithm::Sha512) => VerityHash::Sha512,
            Some(_) => bail!("fs-verity has the algorithms sha256 and sha512"),
        };
        let salt = self.salt.as_ref().map_or(&[][..], |salt| &salt.0);
        let params = VerityParams::new(hash, self.block_size, salt);
        Ok(params.expect("the arguments were looked at one by one"))
    }
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
    page_size: Option<usize>,

    /// Store the leaves in NAME.steadfast-pages beside each file instead
    #[arg(long, requires = "pages")]
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
