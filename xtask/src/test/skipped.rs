//! Collects and prints the tests that were skipped because the machine lacks something.
//!
//! Tests write the record through `crates/testing`. Must not know the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::gaps::Gaps;

/// Names the file to which each skipped test adds a line.
const RECORD: &str = "STEADFAST_SKIPPED_TESTS";

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

    /// Prints the skipped tests, adds what they lack, and returns their number.
    pub(super) fn finish(self, gaps: &mut Gaps) -> anyhow::Result<u64> {
        let text = fs::read_to_string(&self.file).context("reading the record of skipped tests")?;
        let skipped = by_need(&text);
        for (need, tests) in &skipped {
            println!("skipped for want of {need}: {} tests", tests.len());
            tests.iter().for_each(|(name, why)| println!("    {name}: {why}"));
            gaps.add(need, &format!("{} tests", tests.len()));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "program cshatag\tsteadfast\tforeign_peers::a\tit is not on PATH\n\
        system io_uring\tsteadfast-sys\tflight::b\tnot permitted\n\
        program cshatag\tsteadfast\tforeign_peers::c\tit is not on PATH\n\
        program cshatag\tsteadfast\tforeign_peers::c\tit is not on PATH\n";

    #[test]
    fn each_skipped_test_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let record = || Record::begin(folder.path(), "host", &mut Command::new("true")).unwrap();
        let mut gaps = Gaps::default();
        assert_eq!(record().finish(&mut gaps).unwrap(), 0);
        assert_eq!(gaps, Gaps::default());
        let lines = record();
        fs::write(&lines.file, LINES).unwrap();
        assert_eq!(lines.finish(&mut gaps).unwrap(), 3);
        assert_eq!(gaps.serious(), ["system io_uring"]);
    }
}
