//! Making and renewing the repair data of a root: parity, from which damaged files are rebuilt.
//!
//! In: a root. Out: its repair data, made by a thread of its own that publishes how far it is.

use std::ops::ControlFlow;
use std::sync::Arc;

use steadfast::parity::{
    NotProtected, ParityMade, ParityMonitor, ParityOptions, ParityPlace, make_parity, parity_sets,
    update_parity,
};
use steadfast::{Event, Monitor, Options, Progress};
use steadfast_report::{Units, escape};

use crate::jobs::{JobEnd, JobSnapshot, ServedJob, ServedJobs};
use crate::kinds::StateKind;
use crate::live::LiveControl;
use crate::roots::{ServedPath, ServedRoots};

/// Files that are named of those that are not protected.
const NAMED_MAX: usize = 50;

/// The repair data of a root: how many sets there are, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredRepairData {
    pub(crate) sets: u64,
    pub(crate) bytes: u64,
}

impl StoredRepairData {
    /// Looks at what is stored in a root; `None` if there is nothing. Waits for the disk.
    pub(crate) fn of(place: &ServedPath, roots: &ServedRoots) -> Option<StoredRepairData> {
        let root = roots.root(place).ok()?;
        let sets = parity_sets(&ParityPlace::new(&root, None).ok()?).ok()?;
        let bytes = sets.iter().map(|(_, bytes)| bytes).sum();
        (!sets.is_empty()).then_some(StoredRepairData { sets: sets.len() as u64, bytes })
    }
}

/// How making it ended.
pub(crate) enum RepairDataEnd {
    /// It could not be made, for this reason.
    Failed(String),
    /// With files that are not protected as they should be.
    Made(Box<ParityMade>, Vec<String>),
}

impl JobEnd for RepairDataEnd {
    fn failed(why: String) -> RepairDataEnd {
        RepairDataEnd::Failed(escape::text(&why))
    }
}

/// Repair data in the making.
pub(crate) struct ServedRepairData {
    pub(crate) id: u64,
    pub(crate) place: ServedPath,
    pub(crate) control: LiveControl<JobSnapshot<RepairDataEnd>>,
}

/// All that this server makes.
pub(crate) type ServedRepairDataJobs = ServedJobs<ServedRepairData>;

impl ServedJob for ServedRepairData {
    type Snapshot = JobSnapshot<RepairDataEnd>;

    const NAME: &'static str = "repair data";

    const KEPT_MAX: usize = 6;

    fn control(&self) -> &LiveControl<JobSnapshot<RepairDataEnd>> {
        &self.control
    }

    fn unexplained() -> JobSnapshot<RepairDataEnd> {
        JobSnapshot::unexplained()
    }
}

impl ServedJobs<ServedRepairData> {
    /// Begins to make the repair data of a root, or to renew it. Returns what goes on there
    /// already, and `None` if the system refuses a thread.
    pub(crate) fn begin(
        &self,
        place: ServedPath,
        roots: &ServedRoots,
        usual: Options,
    ) -> Option<Arc<ServedRepairData>> {
        let mut list = self.list();
        let is_there = |(_, one): &(u64, &Arc<ServedRepairData>)| roots.overlap(&one.place, &place);
        if let Some((_, going)) = list.going().find(is_there) {
            return Some(Arc::clone(going));
        }
        let roots = roots.clone();
        let make = |id| ServedRepairData { id, place, control: LiveControl::default() };
        list.begin(make, move |job| {
            let (progress, lacking) = (Progress::default(), Vec::new());
            let mut listener = RepairDataListener { job, progress, lacking };
            let end = match listener.make(&roots, usual) {
                Ok(made) => {
                    RepairDataEnd::Made(Box::new(made), std::mem::take(&mut listener.lacking))
                }
                Err(why) => RepairDataEnd::failed(why),
            };
            listener.publish(Some(end));
        })
    }
}

struct RepairDataListener<'a> {
    job: &'a ServedRepairData,
    progress: Progress,
    /// Files that are not protected as they should be.
    lacking: Vec<String>,
}

impl RepairDataListener<'_> {
    fn make(&mut self, roots: &ServedRoots, usual: Options) -> Result<ParityMade, String> {
        let root = roots.root(&self.job.place).map_err(|error| error.to_string())?;
        let place = ParityPlace::new(&root, None).map_err(|error| error.to_string())?;
        let mut options = ParityOptions::default();
        options.run = usual;
        options.run.controls.stop = Arc::clone(&self.job.control.stop);
        options.run.survey = true;
        let is_there = parity_sets(&place).is_ok_and(|sets| !sets.is_empty());
        let work = if is_there { update_parity } else { make_parity };
        work(&place, &options, self).map_err(|error| error.to_string())
    }

    fn publish(&self, end: Option<RepairDataEnd>) {
        let says = format!("{} read", Units::Si.bytes(self.progress.bytes));
        JobSnapshot::publish(&self.job.control, self.progress, says, end);
    }
}

impl Monitor for RepairDataListener<'_> {
    fn event(&mut self, _: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn progress(&mut self, progress: &Progress) {
        self.progress = *progress;
        if self.job.control.is_due() {
            self.publish(None);
        }
    }
}

impl ParityMonitor for RepairDataListener<'_> {
    fn not_protected(&mut self, file: &NotProtected) {
        if self.lacking.len() < NAMED_MAX {
            self.lacking.push(format!(
                "{}: {}",
                escape::path(&file.path),
                StateKind::of_verdict(file.verdict)
                    .map_or("intact", StateKind::word)
                    .to_lowercase()
            ));
        }
    }
}
