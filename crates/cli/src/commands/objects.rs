//! `check` and `import` of an object store: arguments → its digests, compared with local records.

mod check;
mod import;
mod keys;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use steadfast::ExitStatus;
use steadfast::Selection;
use steadfast_objects::{
    Error, ErrorKind, KnownFiles, ObjectCheckOptions, ObjectFinding, ObjectsSummary,
};
use steadfast_report::objects::ObjectsOptions;
use steadfast_report::{Units, units};

use super::documents::ManifestDocument;
use crate::args::{ComparedArgs, ObjectsCheckArgs, ObjectsImportArgs, When, usual_options};
use crate::exit;
use crate::outlet::Outlet;
use crate::progress::ProgressLine;

/// Compares objects with local records by the digests that their store tells.
pub(super) fn check(args: &ObjectsCheckArgs) -> anyhow::Result<ExitStatus> {
    explained(check::run(args))
}

/// Compares objects with local records by a report of their store.
pub(super) fn import(args: &ObjectsImportArgs) -> anyhow::Result<ExitStatus> {
    explained(import::run(args))
}

fn explained(done: anyhow::Result<ExitStatus>) -> anyhow::Result<ExitStatus> {
    done.or_else(|error| {
        let error = error.downcast::<Error>()?;
        exit::complain(&error.to_string());
        Ok(match error.kind() {
            ErrorKind::Interrupted => ExitStatus::Interrupted,
            _ => ExitStatus::Undetermined,
        })
    })
}

/// Returns the records that objects are compared with.
fn known(args: &ComparedArgs, stop: &Arc<AtomicBool>) -> anyhow::Result<KnownFiles> {
    let options = usual_options().with(|options| {
        options.qos = args.level.level();
        options.controls.stop = Arc::clone(stop);
        options.survey = false;
    });
    if let Some(folder) = &args.catalogue {
        return Ok(KnownFiles::catalogue(folder, (options.now)())?);
    }
    if let Some(manifest) = &args.manifest {
        let document = ManifestDocument::open(manifest, args.format)?;
        // Names are compared with objects, so files with these names need not exist.
        let root = args.path.clone().unwrap_or(document.folder);
        return Ok(KnownFiles::list(&root, document.list));
    }
    let root = args.path.as_deref().unwrap_or(Path::new(".")).to_owned();
    let selection = Selection::of([root]);
    Ok(KnownFiles::tree(&selection, &options)?)
}

/// Returns the options of a run, by default with this number of threads.
fn how(
    args: &ComparedArgs,
    workers: usize,
    complete: bool,
    stop: &Arc<AtomicBool>,
) -> ObjectCheckOptions {
    ObjectCheckOptions {
        workers: args.workers.map_or(workers, std::num::NonZeroUsize::get),
        read: !args.no_read,
        require_tags: args.require_tags,
        complete,
        stop: Arc::clone(stop),
    }
}

/// Runs, prints findings as they come, and returns the status.
fn print_compared(
    args: &ComparedArgs,
    stop: &AtomicBool,
    run: impl FnOnce(&mut dyn FnMut(&ObjectFinding)) -> Result<ObjectsSummary, Error>,
) -> anyhow::Result<ExitStatus> {
    let options = ObjectsOptions {
        json: args.json,
        verbose: args.verbose,
        quiet: args.quiet,
        require_tags: args.require_tags,
        units: Units::Si,
    };
    let begun = Instant::now();
    let mut outlet = Outlet::new(false);
    let mut progress = ProgressLine::new(When::Auto, args.json, args.quiet, Units::Si);
    let mut seen = 0;
    let mut result = run(&mut |finding| {
        options.write_finding(finding, &mut outlet.pending);
        seen += 1;
        if outlet.is_full() || seen % 256 == 0 {
            progress.aside(|| outlet.pour());
            if outlet.is_closed() {
                stop.store(true, Ordering::Relaxed);
            }
            progress.print(&format!("looked at {}", units::counted(seen, "object", "objects")));
        }
    });
    progress.clear();
    let elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    if let Ok(summary) = &mut result {
        summary.interrupted &= !outlet.is_closed() || exit::was_signalled();
        options.write_end(summary, elapsed_ns, &mut outlet.pending);
    }
    outlet.finish()?;
    let summary = result?;
    if summary.judged_none() && !summary.interrupted {
        exit::complain("no object that could be read has a record here, so none was judged");
    }
    Ok(summary.exit_status())
}
