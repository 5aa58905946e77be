//! The findings of a run, the most severe first, in bounded memory.
//!
//! In: events. Out: findings by severity and walk order up to a limit, and how many there are in
//! all. Names and details come from the report.

use std::collections::BTreeMap;

use steadfast::{FileEvent, FindingEvent, Verdict};
use steadfast_report::escape;
use steadfast_report::units::MomentWords;
use steadfast_report::view::{FindingRule, finding_detail, known_of};

/// Findings that are kept of one run: about 2 MB with their details.
const FINDINGS_MAX: usize = 5000;

/// Findings that are kept before their turn in walk order.
const EARLY_MAX: usize = 100;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFinding {
    /// The verdict or other finding, as the report names it.
    pub(crate) name: &'static str,
    /// Whether the file is corrupt.
    pub(crate) is_corrupt: bool,
    /// The path as documents show it.
    pub(crate) path: String,
    /// Its details, in the words of the report.
    pub(crate) known: Vec<String>,
}

impl RunFinding {
    /// Returns its details in one line.
    pub(crate) fn details(&self) -> String {
        self.known.join("; ")
    }
}

/// The findings of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// By severity, the worst first, and then in walk order.
    kept: BTreeMap<(usize, u64), RunFinding>,
    /// How many there are, by severity and name.
    counts: BTreeMap<(usize, &'static str), u64>,
    seen: u64,
    /// By severity and path, those whose turn in walk order has not come.
    early: BTreeMap<(usize, String), RunFinding>,
}

/// A filter of findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FindingFilter {
    /// Only findings of this name.
    pub(crate) name: Option<String>,
    /// Only findings whose path or details contain this text, in any case.
    pub(crate) words: String,
}

impl Findings {
    /// Adds the outcome of a file if it is a finding; returns whether it is.
    pub(crate) fn add_file(&mut self, event: &FileEvent) -> bool {
        let Some((rank, finding)) = finding_of(event) else { return false };
        if !self.early.is_empty() {
            self.early.remove(&(rank, finding.path.clone()));
        }
        self.keep(rank, finding);
        true
    }

    /// Adds a finding before its turn in walk order, until [`Findings::add_file`] replaces it.
    pub(crate) fn add_early(&mut self, event: &FileEvent) {
        let Some((rank, finding)) = finding_of(event) else { return };
        self.early.insert((rank, finding.path.clone()), finding);
        if self.early.len() > EARLY_MAX {
            self.early.pop_last();
        }
    }

    /// Adds an outcome of the catalogue if it is a finding; returns whether it is.
    pub(crate) fn add_noted(&mut self, noted: &FindingEvent) -> bool {
        if noted.finding.exit_status().is_fine() {
            return false;
        }
        let finding = RunFinding {
            name: noted.finding.name(),
            is_corrupt: false,
            path: escape::path(&noted.path),
            known: finding_detail(&noted.finding).into_iter().collect(),
        };
        self.keep(Verdict::ALL.len() + 1, finding);
        true
    }

    fn keep(&mut self, rank: usize, finding: RunFinding) {
        self.seen += 1;
        *self.counts.entry((rank, finding.name)).or_default() += 1;
        self.kept.insert((rank, self.seen), finding);
        if self.kept.len() > FINDINGS_MAX {
            self.kept.pop_last();
        }
    }

    /// Returns how many are known so far.
    pub(crate) fn found(&self) -> u64 {
        self.seen + self.early.len() as u64
    }

    /// Returns the most severe, at most so many, with those whose turn has not come.
    pub(crate) fn worst(&self, limit: usize) -> Vec<RunFinding> {
        let early = self.early.iter().map(|((rank, _), finding)| (*rank, finding));
        let kept = self.kept.iter().map(|((rank, _), finding)| (*rank, finding));
        let mut worst: Vec<(usize, &RunFinding)> = early.chain(kept.take(limit)).collect();
        worst.sort_by_key(|(rank, _)| *rank);
        worst.into_iter().take(limit).map(|(_, finding)| finding.clone()).collect()
    }

    /// Returns how many there are by name, the most severe first.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.counts.iter().map(|((_, name), count)| (*name, *count))
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
    ) -> (Vec<RunFinding>, usize) {
        let words = wanted.words.to_lowercase();
        let fits = |finding: &&RunFinding| {
            let named = wanted.name.as_ref().is_none_or(|name| finding.name == name);
            let said = |text: &str| text.to_lowercase().contains(&words);
            named && (words.is_empty() || said(&finding.path) || said(&finding.details()))
        };
        let all: Vec<&RunFinding> = self.kept.values().filter(fits).collect();
        let page = all.iter().skip(skip).take(limit).map(|finding| (*finding).clone());
        (page.collect(), all.len())
    }
}

/// Returns the finding of a file with its rank, if its outcome is one.
fn finding_of(event: &FileEvent) -> Option<(usize, RunFinding)> {
    let rule = FindingRule::default();
    let notable = matches!(event.verdict, Some(Verdict::Moved | Verdict::Touched));
    if !rule.finds(event) && !notable && !rule.retags(event) {
        return None;
    }
    let rank = |verdict| Verdict::ALL.iter().position(|one| *one == verdict);
    let finding = RunFinding {
        name: event.verdict.map_or("failed", Verdict::name),
        is_corrupt: event.verdict.is_some_and(Verdict::is_alarm),
        path: escape::path(&event.path.to_path()),
        known: known_of(event, ToString::to_string, MomentWords::default()),
    };
    Some((event.verdict.and_then(rank).unwrap_or(Verdict::ALL.len()), finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
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
            let worst = findings.worst(2).into_iter().map(|finding| finding.path);
            (worst.collect::<Vec<_>>(), findings.found())
        };
        found(&mut findings, "a", Verdict::Modified);
        findings.add_early(&event("z", Verdict::Corrupt));
        findings.add_early(&event("y", Verdict::Modified));
        findings.add_early(&event("x", Verdict::Intact));
        assert_eq!(paths(&findings), (vec!["z".to_owned(), "y".to_owned()], 3));
        found(&mut findings, "y", Verdict::Modified);
        found(&mut findings, "z", Verdict::Corrupt);
        assert_eq!(paths(&findings), (vec!["z".to_owned(), "a".to_owned()], 3));
        for number in 0..2 * EARLY_MAX {
            findings.add_early(&event(&number.to_string(), Verdict::Modified));
        }
        assert_eq!(findings.found(), 3 + EARLY_MAX as u64);
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
        assert_eq!((page[0].path.as_str(), page[1].path.as_str()), ("bad", "m0"));
        assert_eq!(all, FINDINGS_MAX);
        let counts: Vec<_> = findings.counts().collect();
        assert_eq!(counts, [("corrupt", 1), ("modified", FINDINGS_MAX as u64 + 10)]);
    }

    #[test]
    fn findings_are_wanted_by_name_and_letters() {
        let mut findings = Findings::default();
        found(&mut findings, "Sommer/a.jpg", Verdict::Modified);
        found(&mut findings, "winter/b.jpg", Verdict::Modified);
        found(&mut findings, "sommer/c.jpg", Verdict::Corrupt);
        let of = |name: Option<&str>, words: &str, skip| {
            let wanted = FindingFilter { name: name.map(str::to_owned), words: words.to_owned() };
            let (page, all) = findings.page(&wanted, skip, 10);
            (page.into_iter().map(|finding| finding.path).collect::<Vec<_>>(), all)
        };
        assert_eq!(of(None, "SOMMER", 0), (vec!["sommer/c.jpg".into(), "Sommer/a.jpg".into()], 2));
        assert_eq!(of(Some("modified"), "sommer", 0), (vec!["Sommer/a.jpg".into()], 1));
        assert_eq!(of(Some("modified"), "", 1), (vec!["winter/b.jpg".into()], 2));
        assert_eq!(of(Some("intact"), "", 0), (vec![], 0));
    }
}
