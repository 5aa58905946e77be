//! What a machine lacks: what was left out for that, what may be lacking, and what fails for it.
//!
//! In: a need, and what was left out. Out: lines that name each, and their number for the last
//! line. Must not know the steps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// What may be missing on any machine, CI's too, as `Need` of `crates/testing` prints it, and why.
/// Sorted.
///
/// The step `host` requires every backend that the processor has.
const MAY_BE_MISSING: &[(&str, &str)] = &[
    ("program actionlint", "it is in no package index; CI reads the workflows itself"),
    ("program cargo-deny", "building it takes longer than the tests"),
    ("program chkbit", "it is in no package index that the tools come from"),
    ("program cshatag", "it is in no package index; it is built from its sources"),
    ("program mdbook", "building it takes as long as the tests; `tidy` checks the documents"),
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

/// What was left out, by what was missing.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Gaps(BTreeMap<String, BTreeSet<String>>);

impl Gaps {
    /// Adds what was left out for a need.
    pub(super) fn add(&mut self, need: &str, what: &str) {
        self.0.entry(need.to_owned()).or_default().insert(what.to_owned());
    }

    /// Adds all of others.
    pub(super) fn append(&mut self, others: Gaps) {
        for (need, whats) in others.0 {
            self.0.entry(need).or_default().extend(whats);
        }
    }

    /// The needs that must not be missing on a machine of CI.
    pub(super) fn serious(&self) -> Vec<&str> {
        let listed = |need: &&str| MAY_BE_MISSING.iter().any(|(listed, _)| listed == need);
        self.0.keys().map(String::as_str).filter(|need| !listed(need)).collect()
    }

    /// A line for each need.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let serious = self.serious();
        self.0.iter().map(move |(need, whats)| {
            let kind = if serious.contains(&need.as_str()) { "gap" } else { "left out" };
            format!("{kind}: no {need}: {}", Vec::from_iter(whats.iter().cloned()).join("; "))
        })
    }

    pub(super) fn to_json(&self) -> Value {
        json!(self.0)
    }

    /// Reads what [`Gaps::to_json`] returned.
    pub(super) fn of_json(value: &Value) -> Option<Gaps> {
        let mut gaps = Gaps::default();
        for (need, whats) in value.as_object()? {
            for what in whats.as_array()? {
                gaps.add(need, what.as_str()?);
            }
        }
        Some(gaps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(MAY_BE_MISSING.is_sorted());
    }

    #[test]
    fn what_is_not_listed_is_a_gap() {
        let mut gaps = Gaps::default();
        gaps.add("program cshatag", "2 tests of steadfast");
        gaps.add("root", "3 tests of steadfast-sys");
        gaps.append(Gaps::of_json(&json!({"root": ["the step `a`"]})).unwrap());
        assert_eq!(gaps.serious(), ["root"]);
        let lines: Vec<String> = gaps.lines().collect();
        assert_eq!(lines[0], "left out: no program cshatag: 2 tests of steadfast");
        assert_eq!(lines[1], "gap: no root: 3 tests of steadfast-sys; the step `a`");
        assert_eq!(Gaps::of_json(&gaps.to_json()), Some(gaps));
        assert_eq!(Gaps::of_json(&json!({"root": [1]})), None);
    }
}
