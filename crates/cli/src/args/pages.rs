//! What the verbs that tag say of pages.

use clap::Args;
use steadfast::pages::PagesUse;
use steadfast::verity::{VerityHash, VerityParams};

use super::quantity;

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

/// Reads a length that pages may have.
fn page_len(text: &str) -> Result<usize, String> {
    let len = usize::try_from(quantity::bytes(text)?).map_err(|_| "out of range".to_owned())?;
    let params = VerityParams::new(VerityHash::Sha256, len, b"");
    params.map(|_| len).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_powers_of_two() {
        assert_eq!(page_len("4KiB"), Ok(4096));
        assert_eq!(page_len("65536"), Ok(65_536));
        for text in ["512", "4000", "4k", "128KiB", "x"] {
            assert!(page_len(text).is_err(), "{text}");
        }
    }
}
