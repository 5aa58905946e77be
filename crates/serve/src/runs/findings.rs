//! The findings of a run, the most severe first, in bounded memory.
//!
//! In: events. Out: findings by kind and walk order up to a limit, and how many there are in all.
//! Names and details come from the report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use steadfast::{FileEvent, FindingEvent, Timestamp, Verdict};
use steadfast_report::escape;
use steadfast_report::units::MomentWords;
use steadfast_report::view::{FindingRule, finding_detail, known_of};

use crate::kinds::StateKind;

/// Findings that are kept of one run: about 2 MB with their details.
const FINDINGS_MAX: usize = 5000;

/// Findings that are kept before their turn in walk order.
const EARLY_MAX: usize = 100;

/// One file of which there is something to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileFinding {
    pub(crate) kind: StateKind,
    /// The verdict or other finding, as the report names it.
    pub(crate) name: &'static str,
    /// The path from the root.
    pub(crate) below: PathBuf,
    /// Its length in bytes: the present one, or what is recorded of one that is gone.
    pub(crate) length: Option<u64>,
    /// What its length was when it was recorded, if that is known.
    pub(crate) was: Option<u64>,
    /// When it was written, if something wrote to it.
    pub(crate) written: Option<Timestamp>,
    /// When it was found, if that is not the moment of the page's run.
    pub(crate) at: Option<Timestamp>,
    /// Its details, in the words of the report.
    pub(crate) known: Vec<String>,
}

impl FileFinding {
    /// Returns the path as documents show it.
    pub(crate) fn shown(&self) -> String {
        escape::path(&self.below)
    }
}

/// The findings of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// The folder from which paths are counted.
    root: PathBuf,
    /// By kind, the worst first, and then in walk order.
    kept: BTreeMap<(StateKind, u64), FileFinding>,
    /// How many there are of each kind.
    counts: BTreeMap<StateKind, u64>,
    seen: u64,
    /// By kind and path, those whose turn in walk order has not come.
    early: BTreeMap<(StateKind, PathBuf), FileFinding>,
}

/// A filter of findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FindingFilter {
    /// Only findings of this kind.
    pub(crate) kind: Option<StateKind>,
    /// Only findings whose path or details contain this text, in any case.
    pub(crate) words: String,
}

impl Findings {
    /// Makes an empty list of findings beneath a root.
    pub(crate) fn beneath(root: PathBuf) -> Findings {
        Findings { root, ..Findings::default() }
    }

    /// Adds the outcome of a file if it is a finding; returns whether it is.
    pub(crate) fn add_file(&mut self, event: &FileEvent) -> bool {
        let Some(finding) = finding_of(event, &self.root) else { return false };
        if !self.early.is_empty() {
            self.early.remove(&(finding.kind, finding.below.clone()));
        }
        self.keep(finding);
        true
    }

    /// Adds a finding before its turn in walk order, until [`Findings::add_file`] replaces it.
    pub(crate) fn add_early(&mut self, event: &FileEvent) {
        let Some(finding) = finding_of(event, &self.root) else { return };
        self.early.insert((finding.kind, finding.below.clone()), finding);
        if self.early.len() > EARLY_MAX {
            self.early.pop_last();
        }
    }

    /// Adds an outcome of the catalogue if it is a finding; returns whether it is.
    pub(crate) fn add_noted(&mut self, noted: &FindingEvent) -> bool {
        if noted.finding.exit_status().is_fine() {
            return false;
        }
        self.keep(FileFinding {
            kind: StateKind::of_finding(&noted.finding),
            name: noted.finding.name(),
            below: below(&noted.path, &self.root),
            length: None,
            was: None,
            written: None,
            at: None,
            known: finding_detail(&noted.finding).into_iter().collect(),
        });
        true
    }

    fn keep(&mut self, finding: FileFinding) {
        self.seen += 1;
        *self.counts.entry(finding.kind).or_default() += 1;
        self.kept.insert((finding.kind, self.seen), finding);
        if self.kept.len() > FINDINGS_MAX {
            self.kept.pop_last();
        }
    }

    /// Returns how many of a kind are known so far.
    pub(crate) fn count(&self, kind: StateKind) -> u64 {
        let early = self.early.keys().filter(|(other, _)| *other == kind).count() as u64;
        self.counts.get(&kind).copied().unwrap_or(0) + early
    }

    /// Returns how many there are of each kind, the most severe first.
    pub(crate) fn counts(&self) -> Vec<(StateKind, u64)> {
        let mut counts = self.counts.clone();
        for (kind, _) in self.early.keys() {
            *counts.entry(*kind).or_default() += 1;
        }
        counts.into_iter().collect()
    }

    /// Returns the most severe, at most so many, with those whose turn has not come. What is new
    /// is no trouble.
    pub(crate) fn worst(&self, limit: usize) -> Vec<FileFinding> {
        let kept = self.kept.values().filter(|one| one.kind != StateKind::New).take(limit);
        let mut worst: Vec<&FileFinding> = self.early.values().chain(kept).collect();
        worst.sort_by_key(|one| one.kind);
        worst.into_iter().take(limit).cloned().collect()
    }

    /// Returns how many were dropped for lack of room.
    pub(crate) fn lost(&self) -> u64 {
        self.seen - self.kept.len() as u64
    }

    /// Returns up to `limit` findings that match, from the `skip`th on, and how many match in
    /// all.
    pub(crate) fn page(
        &self,
        wanted: &FindingFilter,
        skip: usize,
        limit: usize,
    ) -> (Vec<FileFinding>, usize) {
        let words = wanted.words.to_lowercase();
        let fits = |finding: &&FileFinding| {
            let is_kind = wanted.kind.is_none_or(|kind| finding.kind == kind);
            let said = |text: &str| text.to_lowercase().contains(&words);
            let is_said = || said(&finding.shown()) || said(&finding.known.join("; "));
            is_kind && (words.is_empty() || is_said())
        };
        let all: Vec<&FileFinding> = self.kept.values().filter(fits).collect();
        let page = all.iter().skip(skip).take(limit).map(|finding| (*finding).clone());
        (page.collect(), all.len())
    }
}

fn below(path: &Path, root: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

/// Returns the finding of a file, if its outcome is one.
fn finding_of(event: &FileEvent, root: &Path) -> Option<FileFinding> {
    let rule = FindingRule::default();
    let is_new = event.verdict == Some(Verdict::Untagged) && event.action.is_none();
    let notable = is_new || matches!(event.verdict, Some(Verdict::Moved | Verdict::Touched));
    let kind = match () {
        () if rule.retags(event) => StateKind::Accepted,
        () if rule.finds(event) || notable => {
            let of_verdict = event.verdict.and_then(StateKind::of_verdict);
            of_verdict.unwrap_or(StateKind::Unreadable)
        }
        () => return None,
    };
    Some(FileFinding {
        kind,
        name: event.verdict.map_or("failed", Verdict::name),
        below: below(&event.path.to_path(), root),
        length: event.actual.or(event.stored).map(|tag| tag.length),
        was: event.stored.map(|tag| tag.length),
        written: match kind {
            StateKind::Suspect => event.changed_at(),
            StateKind::Changed => event.actual.map(|tag| tag.mtime),
            _ => None,
        },
        at: None,
        known: known_of(event, ToString::to_string, MomentWords::default()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast::FilePath;

    fn event(path: &str, verdict: Verdict) -> FileEvent {
        let mut event = FileEvent::new(FilePath::whole(Path::new(path)));
        event.verdict = Some(verdict);
        event
    }

    fn found(findings: &mut Findings, path: &str, verdict: Verdict) -> bool {
        findings.add_file(&event(path, verdict))
    }

    #[test]
    fn what_is_found_early_is_shown_at_once_and_counted_once() {
        let mut findings = Findings::default();
        let paths = |findings: &Findings| {
            let worst = findings.worst(2).into_iter().map(|finding| finding.shown());
            let (damaged, changed) =
                (findings.count(StateKind::Damaged), findings.count(StateKind::Changed));
            (worst.collect::<Vec<_>>(), damaged, changed)
        };
        found(&mut findings, "a", Verdict::Modified);
        findings.add_early(&event("z", Verdict::Corrupt));
        findings.add_early(&event("y", Verdict::Modified));
        findings.add_early(&event("x", Verdict::Intact));
        assert_eq!(paths(&findings), (vec!["z".to_owned(), "y".to_owned()], 1, 2));
        found(&mut findings, "y", Verdict::Modified);
        found(&mut findings, "z", Verdict::Corrupt);
        assert_eq!(paths(&findings), (vec!["z".to_owned(), "a".to_owned()], 1, 2));
        for number in 0..2 * EARLY_MAX {
            findings.add_early(&event(&number.to_string(), Verdict::Modified));
        }
        assert_eq!(findings.count(StateKind::Changed), 2 + EARLY_MAX as u64);
    }

    #[test]
    fn corrupt_files_come_first_and_are_never_lost() {
        let mut findings = Findings::default();
        for number in 0..FINDINGS_MAX + 10 {
            assert!(found(&mut findings, &format!("m{number}"), Verdict::Modified));
        }
        assert!(found(&mut findings, "bad", Verdict::Corrupt));
        assert!(!found(&mut findings, "fine", Verdict::Intact));
        assert_eq!((findings.lost(), findings.kept.len()), (11, FINDINGS_MAX));
        let (page, all) = findings.page(&FindingFilter::default(), 0, 2);
        assert_eq!((page[0].shown().as_str(), page[1].shown().as_str()), ("bad", "m0"));
        assert_eq!(all, FINDINGS_MAX);
        let expected = [(StateKind::Damaged, 1), (StateKind::Changed, FINDINGS_MAX as u64 + 10)];
        assert_eq!(findings.counts(), expected);
    }

    #[test]
    fn findings_are_wanted_by_kind_and_letters() {
        let mut findings = Findings::default();
        found(&mut findings, "Sommer/a.jpg", Verdict::Modified);
        found(&mut findings, "winter/b.jpg", Verdict::Modified);
        found(&mut findings, "sommer/c.jpg", Verdict::Corrupt);
        let of = |kind, words: &str, skip| {
            let wanted = FindingFilter { kind, words: words.to_owned() };
            let (page, all) = findings.page(&wanted, skip, 10);
            (page.iter().map(FileFinding::shown).collect::<Vec<_>>(), all)
        };
        assert_eq!(of(None, "SOMMER", 0), (vec!["sommer/c.jpg".into(), "Sommer/a.jpg".into()], 2));
        let changed = Some(StateKind::Changed);
        assert_eq!(of(changed, "sommer", 0), (vec!["Sommer/a.jpg".into()], 1));
        assert_eq!(of(changed, "", 1), (vec!["winter/b.jpg".into()], 2));
        assert_eq!(of(Some(StateKind::New), "", 0), (vec![], 0));
    }
}
