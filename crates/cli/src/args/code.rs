//! The verbs about signed code: `code show`, `code verify`, `code cost`.

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use steadfast::Level;
use steadfast_codesign::PageChoice;
use steadfast_report::Units;

use super::{LevelArgs, UnitsArg};

/// Show and verify Apple code signatures, on any system.
///
/// A PATH is a Mach-O file, a bundle (an application, a framework), or a disk image. The main
/// executable of a bundle stands for the bundle. Nothing is written, and no network is asked.
#[derive(Debug, Args)]
pub(crate) struct CodeArgs {
    #[command(subcommand)]
    pub(crate) what: CodeCommand,
}

impl CodeArgs {
    /// Returns the level that the verb runs at.
    pub(super) fn level(&self) -> Level {
        let level = match &self.what {
            CodeCommand::Show(args) => &args.level,
            CodeCommand::Verify(args) => &args.level,
            CodeCommand::Cost(args) => &args.level,
        };
        level.level()
    }
}

/// What to do about signed code.
#[derive(Debug, Subcommand)]
pub(crate) enum CodeCommand {
    Show(CodeShowArgs),
    Verify(CodeVerifyArgs),
    Cost(CodeCostArgs),
}

/// Show what a signature says: every CDHash, the signer, requirements, entitlements, coverage.
///
/// Reads headers, signatures and what no digest covers; no page is hashed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast code show Foo.app
  steadfast code show --json /usr/local/bin/node | jq -r '.signature.cdhash // empty'

Exit status: 0 shown; 2 a PATH is no code or cannot be read; 130 interrupted.")]
pub(crate) struct CodeShowArgs {
    /// Mach-O files, bundles, disk images
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) level: LevelArgs,

    #[command(flatten)]
    pub(crate) output: CodeOutputArgs,
}

/// Verify signed code: are the bytes those that were sealed, who sealed them, is it to be accepted?
///
/// Three verdicts for each part, never one. Bytes: every page by every code directory, what special
/// slots bind, the resources of a bundle. Signer: the signature, its certificates up to Apple's
/// roots, the time stamp. Policy: what expired, what is weak, what strict checking refuses. Code
/// signed by nobody (ad-hoc) can be intact: anyone can make such a seal. What cannot be verified is
/// not accepted.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast code verify Foo.app
  steadfast code verify --deep --strict Foo.app    nested code as well, as for a release
  steadfast code verify --offset 81920 node        the page that holds a byte, and no other
  steadfast code verify --json Foo.app | jq 'select(.finding)'

Exit status: 0 all as it was sealed; 1 something is unsigned, missing, added, replaced or refused; \
2 not verified (unknown signer or algorithm, no code, unreadable, usage); 3 something is not as it \
was sealed or signed; 130 interrupted. 3 outranks 1, 1 outranks 2.")]
pub(crate) struct CodeVerifyArgs {
    /// Mach-O files, bundles, disk images
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Verify nested code wholly: its pages, its resources, what it nests. Otherwise only its
    /// signature is, and whether it is what was sealed
    #[arg(long)]
    pub(crate) deep: bool,

    /// Refuse what Apple's strict checking refuses (contents beside the seal, weak rules, symlinks
    /// that lead out), bytes that nothing seals, and sealed files that were not given
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) pages: CodePagesArgs,

    /// Hash in N threads [default: one for each processor that the QoS level may use]
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) level: LevelArgs,

    #[command(flatten)]
    pub(crate) output: CodeOutputArgs,
}

/// Which pages are checked.
#[derive(Debug, Args)]
#[command(next_help_heading = "A part of it: pages and slots, not resources")]
#[group(multiple = false)]
pub(crate) struct CodePagesArgs {
    /// Check pages A to B, counted from 0, B left out; of every slice
    #[arg(long, value_name = "A..B", value_parser = page_range)]
    pages: Option<Range<u64>>,

    /// Check the page that holds byte N of the file
    #[arg(long, value_name = "N")]
    offset: Option<u64>,

    /// Check N pages of every slice, spread evenly
    #[arg(long, value_name = "N")]
    sample: Option<NonZeroU64>,
}

impl CodePagesArgs {
    /// Returns the choice.
    pub(crate) fn choice(&self) -> PageChoice {
        let pages = self.pages.clone().map(PageChoice::Pages);
        let offset = self.offset.map(PageChoice::Offset);
        let sample = self.sample.map(|size| PageChoice::Sample(size.get()));
        pages.or(offset).or(sample).unwrap_or_default()
    }
}

/// Predict what a full verification would read, hash and take, on this machine, now.
///
/// Does all of it but most of the hashing: of each executable, and of the files of each bundle, 8
/// MiB are hashed for the time it takes. What is in memory meanwhile is taken to stay there.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast code cost Foo.app
  steadfast code cost --deep --json Foo.app | jq .predicted_ns

Exit status: 0 told; 2 a PATH is no code or cannot be read; 130 interrupted.")]
pub(crate) struct CodeCostArgs {
    /// Mach-O files, bundles, disk images
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Nested code as well
    #[arg(long)]
    pub(crate) deep: bool,

    /// Hash in N threads [default: one for each processor that the QoS level may use]
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) level: LevelArgs,

    #[command(flatten)]
    pub(crate) output: CodeOutputArgs,
}

/// How the answer looks.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to print")]
pub(crate) struct CodeOutputArgs {
    /// Print one JSON object for each part and each finding, the summary last
    #[arg(long)]
    pub(crate) json: bool,

    /// Print notes, every slot and every directory as well
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Print only what is wrong
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Multiples of bytes: `si` for MB and GB, `iec` for MiB and GiB
    #[arg(long, value_enum, default_value = "si")]
    units: UnitsArg,
}

impl CodeOutputArgs {
    /// Returns the multiples of bytes.
    pub(crate) fn units(&self) -> Units {
        self.units.units()
    }
}

/// Reads `A..B`.
fn page_range(text: &str) -> Result<Range<u64>, String> {
    let (start, end) = text.split_once("..").ok_or("a range is A..B, as 0..16")?;
    let number = |text: &str| text.trim().parse::<u64>().map_err(|error| error.to_string());
    let (start, end) = (number(start)?, number(end)?);
    match start < end {
        true => Ok(start..end),
        false => Err("an empty range: B is left out".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::page_range;

    #[test]
    fn ranges_leave_out_their_end() {
        assert_eq!(page_range("0..16"), Ok(0..16));
        for text in ["", "3", "3..3", "4..3", "a..b", "-1..2", "1...2"] {
            assert!(page_range(text).is_err(), "{text}");
        }
    }
}
