//! What became of one object, and what a whole run came to.
//!
//! In: a judgement and what it rests on. Out: plain values for documents. A digest of another kind
//! than what is known is nothing to compare, which is told as what it is and never as a verdict.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use steadfast::verdict::worse_status;
use steadfast::{Reference, Verdict};

use crate::algorithm::ObjectAlgorithm;
use crate::object::Object;

/// What can be said of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// What became of it since it was recorded.
    Verdict(Verdict),
    /// Nothing that is known and nothing that the store keeps are of one kind.
    NotComparable,
}

impl Judged {
    /// Returns the name in lower case, as documents carry it.
    pub fn name(self) -> &'static str {
        match self {
            Judged::Verdict(verdict) => verdict.name(),
            Judged::NotComparable => "not comparable",
        }
    }

    /// Returns the exit status that it asks for. What could not be compared could not be told.
    pub fn exit_status(self, require_tags: bool) -> u8 {
        match self {
            Judged::Verdict(verdict) => verdict.exit_status(require_tags),
            Judged::NotComparable => 2,
        }
    }
}

/// What a judgement rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The length alone, which differs.
    Length,
    /// The store's digest, which is of the kind that is recorded.
    Record(ObjectAlgorithm),
    /// The store's ETag, taken for an MD5, where an MD5 is recorded.
    Etag,
    /// The store's digest and the file here, which is as recorded.
    File(ObjectAlgorithm),
    /// The store's digest of digests of parts, and the parts of the file here.
    Parts(ObjectAlgorithm),
    /// The store's ETag, taken for an MD5, and the file here.
    FileEtag,
    /// The store's ETag, taken for an MD5 of MD5s, and the parts of the file here.
    PartsEtag,
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Length => f.write_str("length"),
            By::Record(algorithm) => write!(f, "{algorithm}"),
            By::Etag => f.write_str("ETag as MD5"),
            By::File(algorithm) => write!(f, "{algorithm} of the file here"),
            By::Parts(algorithm) => write!(f, "{algorithm} of the parts of the file here"),
            By::FileEtag => f.write_str("ETag as MD5 of the file here"),
            By::PartsEtag => f.write_str("ETag as MD5 of the parts of the file here"),
        }
    }
}

/// What became of one object.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The path that it is known by, from the root; the object's name where there is none.
    pub path: PathBuf,
    /// The object's name, if the path can be one.
    pub key: Option<String>,
    /// What can be said of it.
    pub judged: Judged,
    /// What that rests on, if anything was compared.
    pub by: Option<By>,
    /// What the reader should know besides, a lower-case fragment.
    pub detail: Option<String>,
    /// What the store says of it.
    pub object: Option<Object>,
    /// What is known of the file.
    pub reference: Option<Reference>,
    /// Bytes of the file here that were read to compare it.
    pub bytes_read: u64,
}

impl Finding {
    pub(crate) fn new(path: PathBuf, key: Option<String>, judged: Judged) -> Finding {
        Finding {
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

    pub(crate) fn detailed(self, detail: impl Into<String>) -> Finding {
        Finding { detail: Some(detail.into()), ..self }
    }
}

/// The end of a run, in numbers.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Findings.
    pub objects: u64,
    /// Findings by the name of what was said.
    pub counts: BTreeMap<&'static str, u64>,
    /// Comparisons by what they rest on.
    pub by: BTreeMap<By, u64>,
    /// Objects that mark folders, or are of other prefixes, versions or buckets: passed by.
    pub passed: u64,
    /// Bytes that the objects have whose contents were compared.
    pub bytes_compared: u64,
    /// Bytes of files here that were read.
    pub bytes_read: u64,
    /// Requests that were sent to the store.
    pub requests: u64,
    /// Whether it was told to stop before its end.
    pub interrupted: bool,
    status: u8,
}

impl Summary {
    /// Counts a finding.
    pub(crate) fn count(&mut self, finding: &Finding, require_tags: bool) {
        self.objects += 1;
        *self.counts.entry(finding.judged.name()).or_default() += 1;
        if let Some(by) = finding.by {
            *self.by.entry(by).or_default() += 1;
            // A report of digests has no lengths; what equals the recorded contents has theirs.
            let told = finding.object.as_ref().and_then(|object| object.length);
            let length = told.or(finding.reference.as_ref().and_then(|known| known.length));
            self.bytes_compared += length.filter(|_| by != By::Length).unwrap_or(0);
        }
        self.bytes_read += finding.bytes_read;
        self.raise_status(finding.judged.exit_status(require_tags));
    }

    /// Makes the exit status at least as grave.
    pub(crate) fn raise_status(&mut self, status: u8) {
        self.status = worse_status(self.status, status);
    }

    /// Says whether no object was judged: of each, nothing was known or it could not be read.
    pub fn judged_none(&self) -> bool {
        let count = |verdict| self.counts.get(Judged::Verdict(verdict).name()).copied();
        let unjudged = [Verdict::Untagged, Verdict::Unreadable].into_iter().filter_map(count);
        self.objects == unjudged.sum::<u64>()
    }

    /// Returns the process's exit status, as a check's: 2 at least if no object was judged.
    pub fn exit_status(&self) -> u8 {
        match self.interrupted && self.status != 3 {
            true => 130,
            false => worse_status(self.status, if self.judged_none() { 2 } else { 0 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_judged_no_object_is_never_a_success() {
        let mut summary = Summary::default();
        assert_eq!(summary.exit_status(), 2);
        let finding = |verdict| Finding::new("a".into(), None, Judged::Verdict(verdict));
        summary.count(&finding(Verdict::Untagged), false);
        assert_eq!(summary.exit_status(), 2);
        let mut unread = summary.clone();
        unread.count(&finding(Verdict::Unreadable), false);
        assert!(unread.judged_none());
        summary.count(&finding(Verdict::Intact), false);
        assert_eq!((summary.exit_status(), summary.judged_none()), (0, false));
    }

    #[test]
    fn what_could_not_be_compared_is_never_a_success() {
        let mut summary = Summary::default();
        let said = [Judged::Verdict(Verdict::Intact), Judged::NotComparable];
        for (judged, status) in said.into_iter().zip([0, 2]) {
            summary.count(&Finding::new("a".into(), None, judged), false);
            assert_eq!(summary.exit_status(), status);
        }
        assert_eq!(summary.counts["not comparable"], 1);
        summary.interrupted = true;
        assert_eq!(summary.exit_status(), 130);
    }
}
