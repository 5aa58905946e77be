//! The verbs about signed code: `code show`, `code verify`, `code cost`.

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use steadfast::Digest;
use steadfast_codesign::{CdHash, Condition, PageChoice, Requirement, SignerAnchor};
use steadfast_report::Units;

use super::LevelArgs;
use super::named::named;

/// Show and verify Apple code signatures, on any system.
///
/// A PATH is a Mach-O file, a bundle (an application or a framework), a disk image, an installer
/// package (.pkg), or a folder or an archive of these (.zip, .whl, .ipa, .tar, .tgz). The main
/// executable of a bundle stands for the bundle. Writes no file, and uses no network.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast code show Foo.app
  steadfast code verify --deep --strict Foo.app
  steadfast code cost Foo.app")]
pub(crate) struct CodeArgs {
    #[command(subcommand)]
    pub(crate) what: CodeCommand,
}

/// What to do about signed code.
#[derive(Debug, Subcommand)]
pub(crate) enum CodeCommand {
    Show(CodeShowArgs),
    Verify(Box<CodeVerifyArgs>),
    Cost(CodeCostArgs),
}

/// Show a signature: CDHashes, signer, requirements, entitlements, coverage.
///
/// Reads headers, signatures and bytes that no digest covers. No page is hashed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast code show Foo.app
  steadfast code show --json /usr/local/bin/node | jq -r '.signature.cdhash // empty'

Exit status: 0 shown; 2 a PATH is not code or cannot be read; 130 interrupted.")]
pub(crate) struct CodeShowArgs {
    /// Mach-O files, bundles, disk images, packages; folders and archives of them
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) level: LevelArgs,

    #[command(flatten)]
    pub(crate) output: CodeOutputArgs,
}

/// Verify signed code: its bytes, its signer, and whether to accept it.
///
/// Prints three verdicts per part. Bytes: every page by every code directory, the special slots,
/// the resources of a bundle. Signer: the signature, its certificates up to a root of Apple, the
/// time stamp. Policy: what has expired, what is weak, what strict checking refuses. Code without a
/// signer (ad-hoc) can be intact, but anyone can make such a seal. Code that cannot be verified is
/// not accepted.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast code verify Foo.app
  steadfast code verify --deep --strict Foo.app    also nested code, as for a release
  steadfast code verify --team HX7739G8FX node     and signed by this team
  steadfast code verify --anchor developer-id --notarized Foo.app
  steadfast code verify --offset 81920 node        only the page that holds this byte
  steadfast code verify --json Foo.app | jq 'select(.finding)'

Exit status: 0 everything that was checked is as sealed, and every condition is met
             1 something is unsigned, missing, added, replaced or refused
             2 not verified: unknown signer or algorithm, not code, unreadable, wrong usage
             3 something is not as sealed or signed, or a condition is not met
           130 interrupted
3 outranks 1, 1 outranks 2. A seal without a signer ends with 0 unless --signed is given.")]
pub(crate) struct CodeVerifyArgs {
    /// Mach-O files, bundles, disk images, packages; folders and archives of them
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Fully verify nested code: its pages, its resources and its own nested code. Without this,
    /// only its signature is verified, and that it is the code that was sealed
    #[arg(long)]
    pub(crate) deep: bool,

    /// Refuse what `codesign --strict` refuses (contents beside the seal, weak rules, symlinks that
    /// lead out, bytes after the code), and sealed files that were not given
    #[arg(long)]
    pub(crate) strict: bool,

    /// Refuse any byte that is not zero and that no seal covers. Much published code has some in
    /// the room for its signature
    #[arg(long)]
    pub(crate) every_byte: bool,

    #[command(flatten)]
    pub(crate) conditions: CodeConditionArgs,

    #[command(flatten)]
    pub(crate) pages: CodePagesArgs,

    /// Hash in N threads [default: one per processor that the QoS level may use]
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<NonZeroUsize>,

    /// Also write all findings to FILE, in the format SARIF, which services for code scanning read
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) level: LevelArgs,

    #[command(flatten)]
    pub(crate) output: CodeOutputArgs,
}

/// What the code must be, besides whole.
#[derive(Debug, Args)]
#[command(next_help_heading = "Conditions on the code: status 3 if one is not met")]
pub(crate) struct CodeConditionArgs {
    /// Require a signer who can be verified
    #[arg(long)]
    signed: bool,

    /// Require a signer of this team
    #[arg(long, value_name = "ID")]
    team: Option<String>,

    /// Require this identifier
    #[arg(long, value_name = "NAME")]
    identifier: Option<String>,

    /// Require this CDHash; give it once for each slice
    #[arg(long, value_name = "HEX", value_parser = cdhash)]
    cdhash: Vec<CdHash>,

    /// Require a certificate of this authority of Apple's
    #[arg(long, value_name = "WHICH", value_parser = named::<SignerAnchor>())]
    anchor: Option<SignerAnchor>,

    /// Require a stapled ticket of notarization that lists the code
    #[arg(long)]
    notarized: bool,

    /// Require the code to meet a requirement, written as for `codesign -R`
    #[arg(short = 'R', long, value_name = "TEXT", value_parser = requirement)]
    requirement: Option<Requirement>,

    /// Also trust signers whose certificates lead to one in FILE (PEM or DER)
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: Vec<PathBuf>,
}

impl CodeConditionArgs {
    /// Returns the conditions.
    pub(crate) fn all(&self) -> Vec<Condition> {
        let hashes = (!self.cdhash.is_empty()).then(|| Condition::CdHash(self.cdhash.clone()));
        let conditions = [
            self.signed.then_some(Condition::Signed),
            self.team.clone().map(Condition::Team),
            self.identifier.clone().map(Condition::Identifier),
            hashes,
            self.anchor.map(Condition::SignerAnchor),
            self.notarized.then_some(Condition::Notarized),
            self.requirement.clone().map(Condition::Requirement),
        ];
        conditions.into_iter().flatten().collect()
    }
}

/// Which pages are checked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Part of the code: pages and slots, no resources")]
#[group(multiple = false)]
pub(crate) struct CodePagesArgs {
    /// Check pages A to B of every slice, counted from 0, without B
    #[arg(long, value_name = "A..B", value_parser = page_range)]
    pages: Option<Range<u64>>,

    /// Check the page that holds byte N of the file
    #[arg(long, value_name = "N")]
    offset: Option<u64>,

    /// Check N pages of every slice, evenly spread
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

/// Predict what a full verification would read and hash, and how long hashing takes.
///
/// Measures the rate of hashing on 8 MiB in memory. Reading from a drive comes on top of it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast code cost Foo.app
  steadfast code cost --deep --json Foo.app | jq .hashing_ns

Exit status: 0 done; 2 a PATH is not code or cannot be read; 130 interrupted.")]
pub(crate) struct CodeCostArgs {
    /// Mach-O files, bundles, disk images, packages; folders and archives of them
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Include nested code
    #[arg(long)]
    pub(crate) deep: bool,

    /// Hash in N threads [default: one per processor that the QoS level may use]
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
    /// Print one JSON object per part and per finding, the summary last
    #[arg(long)]
    pub(crate) json: bool,

    /// Also print notes, every slot and every directory
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Print only what is wrong
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Units of sizes: `si` for MB and GB, `iec` for MiB and GiB
    #[arg(long, default_value = "si", value_parser = named::<Units>())]
    pub(crate) units: Units,
}

/// Reads a CDHash: 40 hexadecimal digits.
fn cdhash(text: &str) -> Result<CdHash, String> {
    let digest =
        text.parse::<Digest>().ok().filter(|digest| digest.as_bytes().len() == CdHash::LEN);
    let hash = digest.and_then(|digest| CdHash::from_slice(digest.as_bytes()));
    hash.ok_or_else(|| "a CDHash is 40 hexadecimal digits".to_owned())
}

/// Reads a requirement. As for `codesign -R`, an equals sign may stand before it.
fn requirement(text: &str) -> Result<Requirement, String> {
    let text = text.strip_prefix('=').unwrap_or(text);
    Requirement::parse(text).map_err(|error| error.to_string())
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
