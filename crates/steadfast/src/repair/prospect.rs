//! A check that also says how much of the damage may be repaired, as far as that is known without
//! reading further contents: parity of the file, or another file of the same contents. It also says
//! which repairs were cut off.

use std::path::PathBuf;

use steadfast_manifest::tag::Tag;

use super::cut_off::notices_of_cut_off;
use super::parities::Parities;
use super::target::{RepairTarget, SelectedRoot, ask_catalogues, target_of};
use crate::error::Error;
use crate::event::Subject;
use crate::monitor::{Event, Monitor, Overheard, Summary};
use crate::run::{CheckOptions, Options, Verb, are_alarming, changes};
use crate::selection::Selection;
use crate::unguarded::run;
use crate::verdict::Verdict;

/// Damaged files of which this is asked. Of further ones nothing is claimed.
const ASKED_MAX: usize = 10_000;

/// Checks a selection, as [`run`] does. If files are corrupt, missing or unreadable, the summary
/// also says how many of them may be repaired.
///
/// # Errors
/// As those of [`run`].
pub(crate) fn check(
    check: CheckOptions,
    selection: &Selection,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let mut damaged = Vec::new();
    let mut watch = Overheard::new(monitor, |event| {
        if let Event::File(file) = event
            && file.subject == Subject::File
            && let (Some(verdict), Some(tag)) = (file.verdict, file.stored)
            && verdict.is_damage()
            && damaged.len() < ASKED_MAX
        {
            damaged.push((file.path.to_path(), verdict, tag));
        }
    });
    let mut summary = run(Verb::Check(check), selection, options, &mut watch)?;
    for notice in notices_of_cut_off(selection) {
        if !notice.status.is_fine() {
            summary.doubt_edits();
        }
        monitor.notice(notice);
    }
    summary.many_at_once = many_at_once(&summary, selection, options);
    if !damaged.is_empty() {
        summary.may_be_repaired = Some(count_repairable(damaged, selection, options));
    }
    Ok(summary)
}

/// Returns how many files are missing or edited, of how many, if an update would ask for consent.
/// It is asked only if the verdicts suggest so, because it looks at the names once more.
fn many_at_once(summary: &Summary, selection: &Selection, options: &Options) -> Option<(u64, u64)> {
    let changed = summary.verdicts(Verdict::Modified) + summary.verdicts(Verdict::Missing);
    if summary.interrupted || !are_alarming(changed, summary.files) {
        return None;
    }
    let changes = changes(selection, options).ok().flatten()?;
    changes.need_consent().then(|| (changes.count(), changes.files))
}

/// Counts the files of which parity or another file of the same contents is known.
fn count_repairable(
    damaged: Vec<(PathBuf, Verdict, Tag)>,
    selection: &Selection,
    options: &Options,
) -> u64 {
    let given = selection.roots.iter().chain(&selection.listed);
    let given: Vec<_> = given.filter_map(|path| SelectedRoot::of(path, options).ok()).collect();
    let targets = damaged.into_iter();
    let targets = targets.filter_map(|(path, verdict, tag)| target_of(&given, path, verdict, tag));
    let mut targets: Vec<RepairTarget> = targets.collect();
    ask_catalogues(&mut targets);
    let mut parities = Parities::default();
    let is_known = |target: &RepairTarget| {
        target.duplicates.first().is_some_and(|(_, proves)| *proves) || parities.has(target)
    };
    targets.iter().map(is_known).filter(|is_known| *is_known).count() as u64
}
