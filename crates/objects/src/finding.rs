//! The result for one object, and the summary of a run: plain values for documents.
//!
//! If the store and the record have no algorithm in common, the object is not comparable, which is
//! no verdict.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use steadfast::ExitStatus;
use steadfast::{Reference, Verdict};

use crate::algorithm::ObjectAlgorithm;
use crate::object::Object;

/// The result for one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// A verdict, as of a file.
    Verdict(Verdict),
    /// The record and the store have no digest in common.
    NotComparable,
}

impl Judged {
    /// Returns the name in documents, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Judged::Verdict(verdict) => verdict.name(),
            Judged::NotComparable => "not comparable",
        }
    }

    /// Returns the exit status: undetermined if the object is not comparable.
    pub fn exit_status(self, require_tags: bool) -> ExitStatus {
        match self {
            Judged::Verdict(verdict) => verdict.exit_status(require_tags),
            Judged::NotComparable => ExitStatus::Undetermined,
        }
    }
}

/// The basis of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// The length, which differs.
    Length,
    /// The store's digest and the recorded one, by this algorithm.
    Record(ObjectAlgorithm),
    /// The store's ETag, interpreted as an MD5, and the recorded MD5.
    Etag,
    /// The store's digest and the local file, which is as recorded.
    File(ObjectAlgorithm),
    /// The store's composite digest and the parts of the local file.
    Parts(ObjectAlgorithm),
    /// The store's ETag, interpreted as an MD5, and the local file.
    FileEtag,
    /// The store's ETag, interpreted as an MD5 of MD5s, and the parts of the local file.
    PartsEtag,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Basis::Length => f.write_str("length"),
            Basis::Record(algorithm) => write!(f, "{algorithm}"),
            Basis::Etag => f.write_str("ETag as MD5"),
            Basis::File(algorithm) => write!(f, "{algorithm} of the file here"),
            Basis::Parts(algorithm) => write!(f, "{algorithm} of the parts of the file here"),
            Basis::FileEtag => f.write_str("ETag as MD5 of the file here"),
            Basis::PartsEtag => f.write_str("ETag as MD5 of the parts of the file here"),
        }
    }
}

/// An object with its result.
#[derive(Clone, Debug)]
pub struct ObjectFinding {
    /// The path relative to the root, or the object's name if it has no path.
    pub path: PathBuf,
    /// The object's name, if the path can be one.
    pub key: Option<String>,
    /// The result.
    pub judged: Judged,
    /// The basis of the verdict, if anything was compared.
    pub by: Option<Basis>,
    /// Further information, as a lower-case fragment.
    pub detail: Option<String>,
    /// The object's metadata.
    pub object: Option<Object>,
    /// What is recorded of the file.
    pub reference: Option<Reference>,
    /// Bytes that were read of the local file.
    pub bytes_read: u64,
}

impl ObjectFinding {
    pub(crate) fn new(path: PathBuf, key: Option<String>, judged: Judged) -> ObjectFinding {
        ObjectFinding {
            path,
            key,
            judged,
            by: None,
            detail: None,
            object: None,
            reference: None,
            bytes_read: 0,
        }
    }

    pub(crate) fn detailed(self, detail: impl Into<String>) -> ObjectFinding {
        ObjectFinding { detail: Some(detail.into()), ..self }
    }
}

/// The counts of a run.
#[derive(Clone, Debug, Default)]
pub struct ObjectsSummary {
    /// Findings.
    pub objects: u64,
    /// Findings by the name of their result.
    pub counts: BTreeMap<&'static str, u64>,
    /// Verdicts by their basis.
    pub by: BTreeMap<Basis, u64>,
    /// Skipped objects: markers of folders, and those of other prefixes, versions or buckets.
    pub passed: u64,
    /// The length of all objects whose contents were compared.
    pub bytes_compared: u64,
    /// Bytes that were read of local files.
    pub bytes_read: u64,
    /// Requests that were sent to the store.
    pub requests: u64,
    /// Whether it was told to stop before its end.
    pub interrupted: bool,
    status: ExitStatus,
}

impl ObjectsSummary {
    /// Counts a finding.
    pub(crate) fn count(&mut self, finding: &ObjectFinding, require_tags: bool) {
        self.objects += 1;
        *self.counts.entry(finding.judged.name()).or_default() += 1;
        if let Some(by) = finding.by {
            *self.by.entry(by).or_default() += 1;
            // A report of digests has no lengths. An intact object has the recorded length.
            let told = finding.object.as_ref().and_then(|object| object.length);
            let length = told.or(finding.reference.as_ref().and_then(|known| known.length));
            self.bytes_compared += length.filter(|_| by != Basis::Length).unwrap_or(0);
        }
        self.bytes_read += finding.bytes_read;
        self.raise_status(finding.judged.exit_status(require_tags));
    }

    /// Raises the exit status if the other one is worse.
    pub(crate) fn raise_status(&mut self, status: ExitStatus) {
        self.status.raise(status);
    }

    /// Returns whether no object has a verdict: all are untagged or unreadable.
    pub fn judged_none(&self) -> bool {
        let count = |verdict| self.counts.get(Judged::Verdict(verdict).name()).copied();
        let unjudged = [Verdict::Untagged, Verdict::Unreadable].into_iter().filter_map(count);
        self.objects == unjudged.sum::<u64>()
    }

    /// Returns the exit status of the command: never fine if no object has a verdict.
    pub fn exit_status(&self) -> ExitStatus {
        let unjudged = ExitStatus::Undetermined.only_if(self.judged_none());
        self.status.max(unjudged).max(ExitStatus::Interrupted.only_if(self.interrupted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_judged_no_object_is_never_a_success() {
        let mut summary = ObjectsSummary::default();
        assert_eq!(summary.exit_status().code(), 2);
        let finding = |verdict| ObjectFinding::new("a".into(), None, Judged::Verdict(verdict));
        summary.count(&finding(Verdict::Untagged), false);
        assert_eq!(summary.exit_status().code(), 2);
        let mut unread = summary.clone();
        unread.count(&finding(Verdict::Unreadable), false);
        assert!(unread.judged_none());
        summary.count(&finding(Verdict::Intact), false);
        assert_eq!((summary.exit_status().code(), summary.judged_none()), (0, false));
    }

    #[test]
    fn what_could_not_be_compared_is_never_a_success() {
        let mut summary = ObjectsSummary::default();
        let said = [Judged::Verdict(Verdict::Intact), Judged::NotComparable];
        for (judged, status) in said.into_iter().zip([0, 2]) {
            summary.count(&ObjectFinding::new("a".into(), None, judged), false);
            assert_eq!(summary.exit_status().code(), status);
        }
        assert_eq!(summary.counts["not comparable"], 1);
        summary.interrupted = true;
        assert_eq!(summary.exit_status().code(), 130);
    }
}
