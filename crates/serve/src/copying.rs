//! Copies to other folders, and the question whether a folder may be erased: first what a copy
//! comes to, then doing it.
//!
//! In: paths beneath the roots, and how much is asked of copies. Out: the answer of the library,
//! with what is lacking of which file, by a thread that publishes how far it is. The rules and the
//! words of the answer are those of the commands `copy` and `safe`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast::copy::{CopiedFile, CopyRequest, copy, plan_copy};
use steadfast::monitor::{NoticeMonitor, ResultMonitor};
use steadfast::safe::{Grade, Lack, SafeAnswer, SafeFile, SafeRequest, SafeRule, safe};
use steadfast::{ExitStatus, Notice, Options, Progress, Selection, Timestamp};
use steadfast_report::copy::CopyDocument;
use steadfast_report::{Units, advice, escape, units};

use crate::jobs::{JobEnd, JobSnapshot, ServedJob, ServedJobs};
use crate::live::LiveControl;
use crate::roots::{ServedPath, ServedRoots};

/// Files that are listed of each lack.
pub(crate) const LISTED_MAX: u64 = 100;

/// Notices that are listed.
const NOTICES_MAX: usize = 100;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyTask {
    /// To say what a copy comes to. Nothing is copied.
    Plan,
    Copy,
    /// To find out whether the copies that exist are enough.
    Judge,
}

/// What a page asks for.
#[derive(Clone, Debug)]
pub(crate) struct CopyWish {
    pub(crate) task: CopyTask,
    /// What is copied, or may be erased.
    pub(crate) sources: Vec<ServedPath>,
    /// Where copies go, or should be.
    pub(crate) places: Vec<ServedPath>,
    /// Archives: what one of them has is not copied.
    pub(crate) archives: Vec<ServedPath>,
    pub(crate) rule: SafeRule,
}

impl CopyWish {
    /// Returns what words the command has for it.
    pub(crate) fn document(&self) -> CopyDocument {
        let verb = if self.task == CopyTask::Judge { "safe" } else { "copy" };
        CopyDocument { verb, json: false, quiet: false, units: Units::Si, rule: self.rule }
    }
}

/// How many files were proved at a place, by what the reading proved.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlaceProofs {
    /// By [`Grade::ALL`].
    pub(crate) proved: [u64; Grade::ALL.len()],
    /// Files that are not there, or with other contents.
    pub(crate) none: u64,
    pub(crate) were_there: u64,
    pub(crate) rewritten: u64,
    pub(crate) free_bytes: Option<u64>,
}

impl PlaceProofs {
    fn count(&mut self, grade: Option<Grade>) {
        *match grade {
            Some(grade) => &mut self.proved[grade as usize],
            None => &mut self.none,
        } += 1;
    }
}

/// A file that may not be erased.
pub(crate) struct LackingFile {
    pub(crate) lack: Lack,
    pub(crate) path: String,
    pub(crate) length: u64,
    /// Its places with what was proved there, and what went wrong.
    pub(crate) lines: Vec<String>,
}

/// What was found so far, and how it ended.
#[derive(Default)]
pub(crate) struct CopyFindings {
    pub(crate) places: Vec<PlaceProofs>,
    pub(crate) lacking: Vec<LackingFile>,
    pub(crate) notices: Vec<String>,
    /// Notices that are not listed.
    pub(crate) more_notices: u64,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// Files that were not copied because archives have them.
    pub(crate) known: u64,
    /// Whether it was stopped before its end.
    pub(crate) interrupted: bool,
    pub(crate) elapsed_ns: u64,
    pub(crate) exit_status: ExitStatus,
}

/// How it ended.
pub(crate) enum CopyEnd {
    /// It could not begin, for this reason; what was said before is in the notices.
    Failed(String, CopyFindings),
    Planned(CopyFindings),
    Done(SafeAnswer, CopyFindings),
}

impl JobEnd for CopyEnd {
    fn failed(why: String) -> CopyEnd {
        CopyEnd::Failed(why, CopyFindings::default())
    }
}

/// One copy or question.
pub(crate) struct ServedCopy {
    pub(crate) id: u64,
    pub(crate) wish: CopyWish,
    pub(crate) begun: Timestamp,
    pub(crate) control: LiveControl<JobSnapshot<CopyEnd>>,
}

/// The copies of this server.
pub(crate) type ServedCopies = ServedJobs<ServedCopy>;

impl ServedJob for ServedCopy {
    type Snapshot = JobSnapshot<CopyEnd>;

    const NAME: &'static str = "copy";

    const KEPT_MAX: usize = 6;

    fn control(&self) -> &LiveControl<JobSnapshot<CopyEnd>> {
        &self.control
    }

    fn unexplained() -> JobSnapshot<CopyEnd> {
        JobSnapshot::unexplained()
    }
}

impl ServedJobs<ServedCopy> {
    /// Starts a copy or a question. Returns the one that goes on if there is one, with true: two
    /// would wait for each other's drives. Returns `None` if the system refuses a thread.
    pub(crate) fn begin(
        &self,
        wish: CopyWish,
        roots: &ServedRoots,
        usual: Options,
    ) -> Option<(Arc<ServedCopy>, bool)> {
        let mut list = self.list();
        if let Some((_, going)) = list.going().next() {
            return Some((Arc::clone(going), true));
        }
        let begun = (Options::default().now)();
        let make = |id| ServedCopy { id, wish, begun, control: LiveControl::default() };
        let roots = roots.clone();
        let copy = list.begin(make, move |copy| {
            CopyListener::new(copy).execute(&roots, usual);
            steadfast::process::give_back_memory();
        });
        Some((copy?, false))
    }
}

/// Gathers what becomes of each file, and publishes how far it is.
struct CopyListener<'a> {
    copy: &'a ServedCopy,
    /// The paths of the places.
    places: Vec<PathBuf>,
    progress: Progress,
    found: CopyFindings,
    /// How many files have each lack so far.
    listed: [u64; Lack::ALL.len()],
}

impl<'a> CopyListener<'a> {
    fn new(copy: &'a ServedCopy) -> CopyListener<'a> {
        let places = vec![PlaceProofs::default(); copy.wish.places.len()];
        let found = CopyFindings { places, ..CopyFindings::default() };
        let listed = [0; Lack::ALL.len()];
        CopyListener { copy, places: Vec::new(), progress: Progress::default(), found, listed }
    }

    /// Does what was asked for. Also after a panic, the last snapshot says that it has ended.
    fn execute(mut self, roots: &ServedRoots, usual: Options) {
        self.publish(None);
        let answered = self.answered(roots, usual);
        let found = std::mem::take(&mut self.found);
        let end = match answered {
            Ok(None) => CopyEnd::Planned(found),
            Ok(Some(answer)) => CopyEnd::Done(answer, found),
            Err(why) => CopyEnd::Failed(why, found),
        };
        self.publish(Some(end));
    }

    fn answered(
        &mut self,
        roots: &ServedRoots,
        usual: Options,
    ) -> Result<Option<SafeAnswer>, String> {
        let CopyWish { task, sources, places, archives, rule } = &self.copy.wish;
        let all = |of: &[ServedPath]| -> Result<Vec<PathBuf>, String> {
            of.iter().map(|it| resolve(roots, it)).collect()
        };
        let listed = all(sources)?;
        let unknown_in = all(archives)?;
        self.places = match task {
            CopyTask::Judge => all(places)?,
            // The library opens them, and refuses links.
            CopyTask::Plan | CopyTask::Copy => places.iter().map(|it| roots.path(it)).collect(),
        };
        let of_roots = sources.iter().chain(places).chain(archives).map(|place| {
            roots.root(place).map_err(|error| format!("{}: {error}", roots.shown(place)))
        });
        let within = of_roots.collect::<Result<Vec<PathBuf>, String>>()?;
        let selection = Selection::default().with(|selection| {
            selection.listed = listed;
            selection.within = within;
        });
        let options = usual.with(|options| {
            options.controls.stop = Arc::clone(&self.copy.control.stop);
        });
        let request = CopyRequest::to(self.places.clone()).with(|it| {
            it.rule = *rule;
            it.unknown_in = unknown_in;
        });
        let failed = |error: steadfast::Error| escape::text(&error.to_string());
        match task {
            CopyTask::Plan => {
                let plan = plan_copy(&selection, &request, &options, self).map_err(failed)?;
                let found = &mut self.found;
                (found.files, found.bytes, found.known) = (plan.files, plan.bytes, plan.known);
                found.interrupted = plan.interrupted;
                for (place, free) in found.places.iter_mut().zip(plan.free_bytes) {
                    place.free_bytes = Some(free);
                }
                Ok(None)
            }
            CopyTask::Copy => {
                let summary = copy(&selection, &request, &options, self).map_err(failed)?;
                let found = &mut self.found;
                (found.files, found.bytes) = (summary.files, summary.bytes);
                found.known = summary.known;
                (found.interrupted, found.elapsed_ns) = (summary.interrupted, summary.elapsed_ns);
                found.exit_status = summary.exit_status();
                Ok(Some(summary.answer))
            }
            CopyTask::Judge => {
                let request = SafeRequest::new(&self.places, *rule);
                let summary = safe(&selection, &request, &options, self).map_err(failed)?;
                let found = &mut self.found;
                (found.files, found.bytes) = (summary.answer.files(), summary.bytes);
                (found.interrupted, found.elapsed_ns) = (summary.interrupted, summary.elapsed_ns);
                found.exit_status = summary.exit_status();
                Ok(Some(summary.answer))
            }
        }
    }

    fn add(&mut self, lack: Lack, path: &Path, length: u64, lines: Vec<String>) {
        self.listed[lack as usize] += 1;
        if self.listed[lack as usize] <= LISTED_MAX {
            self.found.lacking.push(LackingFile { lack, path: escape::path(path), length, lines });
        }
    }

    fn publish(&self, end: Option<CopyEnd>) {
        let now = self.progress;
        let of_all = now.total.map(|(files, _)| format!(" of {}", units::count(files)));
        let says = format!("{}{} files", units::count(now.files), of_all.unwrap_or_default());
        JobSnapshot::publish(&self.copy.control, now, says, end);
    }
}

impl NoticeMonitor for CopyListener<'_> {
    fn notice(&mut self, notice: &Notice) {
        if self.found.notices.len() >= NOTICES_MAX {
            self.found.more_notices += 1;
            return;
        }
        let place = notice.path.as_deref().map(|path| format!("{}: ", escape::path(path)));
        let text = escape::text(&advice::of_notice(notice));
        self.found.notices.push(format!("{}{text}", place.unwrap_or_default()));
    }

    fn progress(&mut self, progress: &Progress) {
        self.progress = *progress;
        if self.copy.control.is_due() {
            self.publish(None);
        }
    }
}

impl ResultMonitor<CopiedFile> for CopyListener<'_> {
    fn result(&mut self, file: &CopiedFile) {
        let mut lines: Vec<String> = file.trouble.iter().map(error_text).collect();
        for (place, proofs) in file.places.iter().zip(&mut self.found.places) {
            proofs.count(place.grade);
            proofs.were_there += u64::from(place.was_there);
            proofs.rewritten += u64::from(place.rewrites > 0);
            let shown = escape::path(&place.path);
            lines.push(match &place.trouble {
                Some(trouble) if file.trouble.is_none() => {
                    format!("{shown}: {}", error_text(trouble))
                }
                _ => format!("{shown}: {}", place.grade.map_or("no copy", proof_words)),
            });
        }
        if let Some(lack) = file.lack {
            self.add(lack, &file.path, file.length, lines);
        }
    }
}

impl ResultMonitor<SafeFile> for CopyListener<'_> {
    fn result(&mut self, file: &SafeFile) {
        let of_place = self.places.iter().zip(&mut self.found.places);
        for (path, proofs) in of_place {
            let here = file.places.iter().filter(|place| place.path.starts_with(path));
            proofs.count(here.filter_map(|place| place.grade).min());
        }
        let Some(lack) = file.lack else { return };
        let places = file.places.iter();
        let mut lines: Vec<String> = file.trouble.iter().map(|why| escape::text(why)).collect();
        lines.extend(places.map(|place| {
            let word = place.grade.map_or("other contents", proof_words);
            format!("{}: {word}", escape::path(&place.path))
        }));
        self.add(lack, &file.path, file.length, lines);
    }
}

fn error_text(trouble: &steadfast::event::FileError) -> String {
    escape::text(&advice::of_error(trouble))
}

/// Returns what a reading proved.
pub(crate) fn proof_words(grade: Grade) -> &'static str {
    match grade {
        Grade::Medium => "read back from the drive itself",
        Grade::Tree => "kept in the file system's tree, and read through its cache",
        Grade::Listed => "in a list, and not read",
        Grade::Server => "as a server answers, maybe from its memory",
        Grade::Cache => "read through a cache, not from the drive",
        Grade::Memory => "in memory, gone when the machine is switched off",
        Grade::Deleted => "in an image that was deleted, gone when it is unmounted",
    }
}

/// Returns the path of a place that is there.
fn resolve(roots: &ServedRoots, place: &ServedPath) -> Result<PathBuf, String> {
    let shown = roots.shown(place);
    roots.resolve(place).map_err(|error| format!("{shown}: {error}"))
}
