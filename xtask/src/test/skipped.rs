//! Collects and prints the tests that were skipped because the machine lacks something. Fails
//! unless what they lack is on the list of what may be missing.
//!
//! Tests write the record through `crates/testing`. Must not know the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

/// Names the file to which each skipped test adds a line.
const RECORD: &str = "STEADFAST_SKIPPED_TESTS";

/// What may be missing on any machine, as `Need` of `crates/testing` prints it, and why. Sorted.
///
/// The step `host` requires every backend that the processor has.
const MAY_BE_MISSING: &[(&str, &str)] = &[
    ("program chkbit", "it is in no package index that the tools come from"),
    ("program cshatag", "it is in no package index; it is built from its sources"),
    ("program shatag", "it is in no package index; it is built from its sources"),
    ("system AES instructions", "virtual machines hide them"),
    ("system access times", "volumes are mounted without them"),
    ("system autogroup", "control groups or a setting of the kernel replace it"),
    ("system backend aarch64_sha2", "the step `arm` tests it"),
    ("system backend x86_avx2", "not every processor has it"),
    ("system backend x86_avx512", "not every processor has it"),
    ("system backend x86_shani", "not every processor has it"),
    ("system encrypted folders", "few kernels are built with them"),
];

/// The record of one step's skipped tests.
pub(super) struct Record {
    file: PathBuf,
}

impl Record {
    /// Begins a step's record in an existing folder, and sets the variable that names it for a
    /// command.
    pub(super) fn begin(
        folder: &Path,
        step: &str,
        command: &mut Command,
    ) -> anyhow::Result<Record> {
        let file = folder.join(format!("skipped-{step}.tsv"));
        fs::write(&file, "").with_context(|| format!("writing `{}`", file.display()))?;
        command.env(RECORD, &file);
        Ok(Record { file })
    }

    /// Prints the skipped tests and returns their number. Fails if one was skipped for something
    /// that must not be missing, unless the caller tolerates this and the machine is not CI's.
    pub(super) fn finish(self, tolerant: bool) -> anyhow::Result<u64> {
        let text = fs::read_to_string(&self.file).context("reading the record of skipped tests")?;
        let skipped = by_need(&text);
        for (need, tests) in &skipped {
            println!("skipped for want of {need}: {} tests", tests.len());
            tests.iter().for_each(|(name, why)| println!("    {name}: {why}"));
        }
        let refused = refused(&skipped);
        let tolerant = tolerant && env::var_os("CI").is_none();
        ensure!(
            refused.is_empty() || tolerant,
            "tests were skipped for want of: {}. Install what is missing, or go on without by \
             `--allow-missing`; what may be missing on machines of CI too is listed in \
             `xtask/src/test/skipped.rs`",
            refused.join(", ")
        );
        Ok(skipped.values().flat_map(|tests| tests.keys()).collect::<BTreeSet<_>>().len() as u64)
    }
}

/// The skipped tests with their reasons, by the missing need.
fn by_need(record: &str) -> BTreeMap<&str, BTreeMap<String, &str>> {
    let mut skipped: BTreeMap<&str, BTreeMap<String, &str>> = BTreeMap::new();
    for line in record.lines() {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap_or("");
        let (need, package, test, why) = (field(), field(), field(), field());
        skipped.entry(need).or_default().insert(format!("{package} {test}"), why);
    }
    skipped
}

/// The needs that are not on the list.
fn refused<'a, T>(skipped: &BTreeMap<&'a str, T>) -> Vec<&'a str> {
    let listed = |need: &&str| MAY_BE_MISSING.iter().any(|(listed, _)| listed == need);
    skipped.keys().copied().filter(|need| !listed(need)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "program cshatag\tsteadfast\tforeign_peers::a\tit is not on PATH\n\
        system io_uring\tsteadfast-sys\tflight::b\tnot permitted\n\
        program cshatag\tsteadfast\tforeign_peers::c\tit is not on PATH\n\
        program cshatag\tsteadfast\tforeign_peers::c\tit is not on PATH\n";

    fn record(lines: &str) -> (tempfile::TempDir, Record) {
        let folder = tempfile::tempdir().unwrap();
        let record = Record::begin(folder.path(), "host", &mut Command::new("true")).unwrap();
        fs::write(&record.file, lines).unwrap();
        (folder, record)
    }

    #[test]
    fn what_is_not_listed_is_refused() {
        let skipped = by_need(LINES);
        assert_eq!(refused(&skipped), ["system io_uring"]);
        let (_folder, unlisted) = record(LINES);
        assert!(unlisted.finish(false).unwrap_err().to_string().contains("system io_uring"));
    }

    #[test]
    fn each_skipped_test_counts_once() {
        let listed: String = LINES
            .lines()
            .filter(|line| line.starts_with("program"))
            .fold(String::new(), |text, line| text + line + "\n");
        let (_folder, listed) = record(&listed);
        assert_eq!(listed.finish(false).unwrap(), 2);
        let (_folder, none) = record("");
        assert_eq!(none.finish(false).unwrap(), 0);
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(MAY_BE_MISSING.is_sorted());
    }
}
