//! One run of a schedule: what is due is checked, and the alerts hear of it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use steadfast::catalogue::Catalogue;
use steadfast::verdict::worse_status;
use steadfast::{CatalogueUse, DueChoice, Finding, Options, Selection, Verb};
use steadfast_alert::{AlertFacts, Memory, Trouble};
use steadfast_report::status::{FolderState, FolderStatus};
use steadfast_schedule::{
    CheckSchedule, Conditions, Mounted, ScheduleDecision, SkipReason, decide, load, on_battery,
};

use crate::args::ScheduleRunArgs;
use crate::commands::{alert, execute, report, status};
use crate::exit;
use crate::state_folder;

/// Share of the files that may be missing or modified at once without an alarm.
const ALARM_SHARE: f64 = 0.05;

/// A folder with fewer files has no alarm: a few of them are a large share.
const ALARM_FILES_MIN: u64 = 40;

/// Runs a schedule if it is due. Returns the exit status.
pub(super) fn run(schedule: &CheckSchedule, args: &ScheduleRunArgs) -> anyhow::Result<u8> {
    let journal = status::journal(schedule)?;
    let lock = journal.lock()?;
    let now_s = (Options::default().now)().seconds;
    let tree = super::tree_of(&schedule.directory);
    let folder = tree.as_ref().ok().map(|tree| status::of_tree(tree, Some(schedule), now_s));
    let (mounted, total_bytes) = match folder.map(|folder| folder.state) {
        Some(FolderState::Known(facts)) => (Mounted::Yes, facts.bytes),
        Some(FolderState::NotThere(reason) | FolderState::Unknown(reason)) => {
            (Mounted::No(reason), 0)
        }
        None => (Mounted::No("its catalogue is gone".to_owned()), 0),
    };
    let last = journal.read();
    let conditions = Conditions {
        now_s,
        last_run_s: last.began_s,
        made_s: schedule.made_s,
        mounted,
        on_battery: on_battery(),
        load: load(),
        in_progress: lock.is_none(),
        total_bytes,
        forced: args.now,
    };
    match (decide(schedule, &conditions), tree) {
        (ScheduleDecision::Run { max_bytes, max_time_s }, Ok(tree)) => {
            let limits = DueChoice::default().with(|choice| {
                choice.max_bytes = Some(max_bytes);
                choice.max_time = max_time_s.map(Duration::from_secs);
            });
            check(schedule, &tree.catalogue, limits, now_s, args)
        }
        (ScheduleDecision::Skip(reason), _) => {
            exit::complain(&format!("schedule `{}`: nothing done: {reason}", schedule.name));
            if reason == SkipReason::InProgress {
                return Ok(0);
            }
            journal.skipped(&reason.to_string(), now_s)?;
            let unmounted = matches!(reason, SkipReason::NotMounted(_));
            tell(schedule, None, AlertFacts::default(), now_s)?;
            Ok(if unmounted { exit::COULD_NOT_TELL } else { 0 })
        }
        (ScheduleDecision::Run { .. }, Err(error)) => Err(error),
    }
}

/// Checks what is due, updates if asked to, and tells.
fn check(
    schedule: &CheckSchedule,
    catalogue: &Path,
    limits: DueChoice,
    now_s: i64,
    args: &ScheduleRunArgs,
) -> anyhow::Result<u8> {
    let sender = alert::sender();
    alert::report(&sender.begin(alert::list()?.alerts()));
    let selection = Selection::of([&schedule.directory]);
    let options = || {
        Options::default().with(|options| {
            options.qos = args.level.level();
            options.catalogue = CatalogueUse::At(catalogue.to_owned());
            options.trees = state_folder::trees();
            options.wait = true;
        })
    };
    // Before the check, which enters what it finds.
    let alarm = mass_change(catalogue, &selection)?;
    let due = options().with(|options| options.due = Some(limits));
    let mut status = execute(Verb::Check, &selection, due, &args.output, report)?;
    if let Some(alarm) = &alarm {
        exit::complain(&format!("schedule `{}`: {alarm}", schedule.name));
        status = worse_status(status, 1);
    } else if schedule.update {
        let updated = execute(Verb::Update, &selection, options(), &args.output, report)?;
        status = worse_status(status, updated);
    }
    let ended_s = (Options::default().now)().seconds;
    status::journal(schedule)?.ran(now_s, ended_s, status)?;
    let last = Catalogue::open_reader(catalogue)?.runs(i64::MAX, 1)?;
    let facts = AlertFacts {
        status: Some(status),
        files: last.first().map_or(0, |run| run.files),
        bytes: last.first().map_or(0, |run| run.bytes),
        elapsed_s: ended_s.abs_diff(now_s),
        counts: last.first().map(|run| run.counts.clone()).unwrap_or_default(),
        alarm,
        ..AlertFacts::default()
    };
    tell(schedule, Some(catalogue), facts, ended_s)?;
    Ok(status)
}

/// Returns an alarm if more than 5 % of the files are missing or modified at once, as after a wrong
/// mount or an attack. Looks at names and status only.
fn mass_change(catalogue: &Path, selection: &Selection) -> anyhow::Result<Option<String>> {
    let stop = exit::stop_on_signals()?;
    let catalogue = Catalogue::open_reader(catalogue)?;
    let files = catalogue.entries()?;
    let mut changed = 0;
    let mut say = |finding: Finding| {
        changed += match finding {
            Finding::Missing { .. } => 1,
            Finding::Changed { change, .. } => u64::from(change.length || change.mtime),
            _ => 0,
        };
    };
    let now = (Options::default().now)();
    let _ = catalogue.quick(selection, now, &Arc::clone(&stop), &mut say, &mut |_| {})?;
    let share = changed as f64 / files.max(1) as f64;
    Ok((files >= ALARM_FILES_MIN && share > ALARM_SHARE).then(|| {
        format!(
            "{changed} of {files} files are missing or modified at once: nothing was updated. Is \
             the right volume mounted? `steadfast update` accepts the changes"
        )
    }))
}

/// Compares open trouble with what was told, and sends the news.
fn tell(
    schedule: &CheckSchedule,
    catalogue: Option<&Path>,
    facts: AlertFacts,
    now_s: i64,
) -> anyhow::Result<()> {
    let alerts = alert::list()?;
    let Some(folder) = state_folder::folder() else { return Ok(()) };
    let file = folder.join("alerts").join(format!("{}.json", schedule.name));
    let mut memory = Memory::read(&file);
    let open = open_troubles(schedule, catalogue, now_s)?;
    let news = memory.news(&open, now_s);
    let directory = schedule.directory.display().to_string();
    let facts = AlertFacts { command: format!("steadfast status {directory}"), directory, ..facts };
    let deliveries = alert::sender().end(alerts.alerts(), &facts, &news);
    // A message that did not arrive is sent again at the next run.
    if alert::report(&deliveries) && news.is_due() {
        memory.tell(&open, now_s);
        memory.write(&file)?;
    }
    Ok(())
}

/// Lists what is wrong with a folder now.
fn open_troubles(
    schedule: &CheckSchedule,
    catalogue: Option<&Path>,
    now_s: i64,
) -> anyhow::Result<BTreeSet<Trouble>> {
    let of_folder =
        |state: &str| BTreeSet::from([Trouble { state: state.to_owned(), path: String::new() }]);
    let Ok(tree) = super::tree_of(&schedule.directory) else { return Ok(of_folder("unmounted")) };
    let FolderStatus { state, .. } = status::of_tree(&tree, Some(schedule), now_s);
    let FolderState::Known(facts) = state else { return Ok(of_folder("unmounted")) };
    let mut open = BTreeSet::new();
    // A new schedule has its whole cover to prove everything once.
    let is_young = now_s - schedule.made_s < schedule.cover_s();
    if facts.is_overdue && !is_young {
        open = of_folder("overdue");
    }
    let reader = Catalogue::open_reader(catalogue.unwrap_or(&tree.catalogue))?;
    reader.failures(&mut |failure| {
        if !failure.settled {
            open.insert(Trouble {
                state: failure.standing.name().to_owned(),
                path: failure.path.to_string_lossy().into_owned(),
            });
        }
        ControlFlow::Continue(())
    })?;
    Ok(open)
}
