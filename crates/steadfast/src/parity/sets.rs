//! What is known of the stored sets: by their indices alone, or with every parity page read.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_parity::{Losses, Member, PAGE_LEN, PageAt};

use super::data_pages::DataPages;
use super::folder::{ParityFolder, SetFault, StoredSet};
use super::identity::{SetId, hex};
use super::needed::Recorded;
use super::place::{ParityPlace, none_at, system};
use super::recorded::TreeRecords;
use crate::error::Error;
use crate::exit_status::ExitStatus;

/// What is known of one set.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SetReport {
    /// The identity of the set in hexadecimal: the name of its file.
    pub set: String,
    /// Whether it is kept for a time because it has files as they were before an edit.
    pub is_earlier: bool,
    /// The redundancy that was asked for, in percent.
    pub redundancy_percent: u8,
    /// Files, or parts of a file.
    pub members: u64,
    /// Of these, files with another tag, mode or owner now.
    pub changed: u64,
    /// Of these, files that are gone from the tree.
    pub missing: u64,
    /// Bytes of files that are in the set.
    pub bytes: u64,
    /// Length of the parity file in bytes.
    pub parity_bytes: u64,
    /// Pages of parity.
    pub parity_pages: u64,
    /// Of these, damaged or unreadable ones, if they were read.
    pub damaged_pages: Option<u64>,
    /// Blocks of the header and the index that are damaged in one copy.
    pub damaged_blocks: u64,
    /// Pages of files that are damaged or cannot be read, if they were read.
    pub lost_pages: Option<u64>,
    /// Pages that may be lost in each column, of data and parity together, beyond those that are.
    pub strength: i64,
    /// Why the set cannot be used.
    pub fault: Option<String>,
    status: ExitStatus,
}

impl SetReport {
    /// Says whether nothing of the parity file is known to be damaged.
    pub fn is_whole(&self) -> bool {
        self.status.is_fine()
    }
}

/// What is known of all sets.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
#[must_use]
pub struct SetTotals {
    /// Sets that were looked at.
    pub sets: u64,
    /// Of these, damaged or unreadable ones.
    pub damaged: u64,
    /// Files, or parts of files, in them.
    pub members: u64,
    /// Bytes of files that are in them.
    pub bytes: u64,
    /// Bytes of the parity files.
    pub parity_bytes: u64,
    /// Sets that are kept for a time because they have files as they were before an edit.
    pub earlier_sets: u64,
    /// Bytes of their parity files.
    pub earlier_bytes: u64,
    /// Whether the run was told to stop before its end.
    pub interrupted: bool,
    #[cfg_attr(feature = "json", serde(skip))]
    status: ExitStatus,
}

impl SetTotals {
    /// Returns the exit status: `Corrupt` if a set is damaged, `Undetermined` if one cannot be
    /// read.
    pub fn exit_status(&self) -> ExitStatus {
        self.status.max(ExitStatus::Interrupted.only_if(self.interrupted))
    }
}

/// Reads every parity file whole and compares each block and page with its check value or digest.
/// With `reads_files`, the pages of the files as well; otherwise they count as whole, as those of
/// earlier sets do, whose files were edited.
///
/// # Errors
/// If there is no parity, or its folder cannot be listed.
pub fn verify_parity(
    place: &ParityPlace,
    reads_files: bool,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&SetReport),
) -> Result<SetTotals, Error> {
    verify(place, reads_files, &|_| true, stop, found)
}

/// A set of a folder, and the length of its file in bytes.
type ListedSet<'a> = (&'a ParityFolder, SetId, u64);

/// Lists the sets of a folder, if there is one.
fn list(folder: Option<&ParityFolder>) -> io::Result<Vec<ListedSet<'_>>> {
    let Some(folder) = folder else { return Ok(Vec::new()) };
    // One that another run removes meanwhile has no length.
    let length = |id: &SetId| folder.length_and_time(id).map_or(0, |(length, _)| length);
    Ok(folder.ids()?.into_iter().map(|id| (folder, id, length(&id))).collect())
}

/// Returns the sets by their names, the earlier ones as well, and the lengths of their files in
/// bytes.
///
/// # Errors
/// As [`verify_parity`].
pub fn parity_sets(place: &ParityPlace) -> Result<Vec<(String, u64)>, Error> {
    let folder = ParityFolder::open(place)?;
    let failed = |error| system("list the parity", error, place);
    let earlier = folder.earlier().map_err(failed)?;
    let sets = list(Some(&folder)).map_err(failed)?.into_iter();
    let sets = sets.chain(list(earlier.as_ref()).map_err(failed)?);
    Ok(sets.map(|(_, id, length)| (hex(&id), length)).collect())
}

/// Reads the parity files of some sets, as [`verify_parity`] does of all.
///
/// # Errors
/// As [`verify_parity`].
pub fn verify_parity_sets(
    place: &ParityPlace,
    is_wanted: &dyn Fn(&str) -> bool,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&SetReport),
) -> Result<SetTotals, Error> {
    verify(place, false, is_wanted, stop, found)
}

fn verify(
    place: &ParityPlace,
    reads_files: bool,
    is_wanted: &dyn Fn(&str) -> bool,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&SetReport),
) -> Result<SetTotals, Error> {
    each_set(place, is_wanted, stop, found, &mut |stored, report| {
        let geometry = stored.set.index().geometry();
        let mut losses = Losses::new(geometry);
        let mut bytes = vec![0; PAGE_LEN];
        let mut damaged = 0;
        for page in 0..geometry.parity_pages() {
            if !stored.read_parity(page, &mut bytes) {
                damaged += 1;
                losses.lose(PageAt::Parity(page));
            }
        }
        report.damaged_pages = Some(damaged);
        if reads_files && !report.is_earlier {
            let mut data = DataPages::new(place.root(), stored.set.index(), None);
            let pages = 0..geometry.pages();
            let lost: Vec<u32> = pages.filter(|page| !data.is_whole(*page, &mut bytes)).collect();
            lost.iter().for_each(|page| losses.lose(PageAt::Data(*page)));
            report.lost_pages = Some(lost.len() as u64);
        }
        report.strength = losses.strength();
        Some(())
    })
}

/// Says what each set has, by its index, and compares its files' tags with the tree. With a path
/// beneath the root, only sets with files at it or beneath it.
///
/// # Errors
/// As [`verify_parity`].
pub fn show_parity(
    place: &ParityPlace,
    beneath: &Path,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&SetReport),
) -> Result<SetTotals, Error> {
    let tags = TreeRecords::by_tags(place);
    each_set(place, &|_| true, stop, found, &mut |stored, report| {
        let members = stored.set.index().members();
        if report.is_earlier {
            return None;
        }
        let is_asked = |member: &Member| member.file.path.starts_with(beneath);
        if !members.iter().any(is_asked) {
            return None;
        }
        for Member { file, .. } in members {
            match tags.of(file) {
                Recorded::Lost { is_there: false, .. } => report.missing += 1,
                Recorded::Unclear(_) => {}
                Recorded::Here(now) if now == *file => {}
                _ => report.changed += 1,
            }
        }
        report.strength = i64::from(stored.set.index().geometry().parity_shards());
        Some(())
    })
}

/// Looks at each wanted set, the earlier ones last. `look` adds to the report, or returns `None` if
/// it is not asked for.
fn each_set(
    place: &ParityPlace,
    is_wanted: &dyn Fn(&str) -> bool,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&SetReport),
    look: &mut dyn FnMut(&StoredSet, &mut SetReport) -> Option<()>,
) -> Result<SetTotals, Error> {
    let folder = ParityFolder::open(place)?;
    let failed = |error| system("list the parity", error, place);
    let present = list(Some(&folder)).map_err(failed)?;
    if present.is_empty() {
        return Err(none_at(place));
    }
    let earlier = folder.earlier().map_err(failed)?;
    let earlier = list(earlier.as_ref()).map_err(failed)?;
    let mut has_found = false;
    let mut totals = SetTotals {
        earlier_sets: earlier.len() as u64,
        earlier_bytes: earlier.iter().map(|(_, _, length)| length).sum(),
        ..SetTotals::default()
    };
    let present = present.into_iter().map(|set| (set, false));
    let all = present.chain(earlier.into_iter().map(|set| (set, true)));
    for ((folder, id, _), is_earlier) in all.filter(|((_, id, _), _)| is_wanted(&hex(id))) {
        if stop.load(Ordering::Relaxed) {
            totals.interrupted = true;
            break;
        }
        let mut report = SetReport { set: hex(&id), is_earlier, ..SetReport::default() };
        match folder.set(&id) {
            Ok(stored) => {
                describe(&stored, &mut report);
                if look(&stored, &mut report).is_none() {
                    continue;
                }
                let is_damaged = report.damaged_blocks > 0
                    || report.damaged_pages.is_some_and(|pages| pages > 0)
                    || report.strength < 0
                    || report.fault.is_some();
                report.status = ExitStatus::Corrupt.only_if(is_damaged);
            }
            Err(fault) => {
                report.status = match fault {
                    SetFault::Unreadable(_) => ExitStatus::Undetermined,
                    _ => ExitStatus::Corrupt,
                };
                report.fault = Some(fault.to_string());
            }
        }
        totals.add(&report);
        found(&report);
        has_found = true;
    }
    match !has_found && !totals.interrupted {
        true => Err(Error::usage("no set has a file there").at(&place.folder())),
        false => Ok(totals),
    }
}

fn describe(stored: &StoredSet, report: &mut SetReport) {
    let index = stored.set.index();
    report.redundancy_percent = stored.set.header().origin.redundancy.percent();
    report.members = index.members().len() as u64;
    report.bytes = index.members().iter().map(|member| member.length).sum();
    report.parity_bytes = stored.len_bytes;
    report.parity_pages = u64::from(index.geometry().parity_pages());
    report.damaged_blocks = u64::from(stored.set.damaged_blocks());
    if !stored.set.has_its_length() {
        report.fault = Some("it does not have the length that it was written with".to_owned());
    }
}

impl SetTotals {
    fn add(&mut self, report: &SetReport) {
        self.status.raise(report.status);
        self.damaged += u64::from(!report.is_whole());
        if report.is_earlier {
            return;
        }
        self.sets += 1;
        self.members += report.members;
        self.bytes += report.bytes;
        self.parity_bytes += report.parity_bytes;
    }
}
