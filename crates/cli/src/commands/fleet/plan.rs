//! `steadfast fleet plan`: files → a job.

use anyhow::Context as _;
use steadfast::ExitStatus;
use steadfast::{CatalogueUse, Options};
use steadfast_fleet::{
    CatalogueSource, JobSource, ManifestSource, PlanOptions, PlanProgress, PlannedJob, Size,
    TreeSource, plan,
};
use steadfast_report::{Output, Units, fleet, units};

use super::super::documents::ManifestDocument;
use crate::args::{FleetPlanArgs, When, usual_options};
use crate::exit;
use crate::output::answer;
use crate::progress::ProgressLine;

pub(super) fn run(args: &FleetPlanArgs) -> anyhow::Result<ExitStatus> {
    let stop = exit::stop_on_signals()?;
    let options = usual_options().with(|options| {
        options.qos = args.level.level();
        options.catalogue.choice = CatalogueUse::Off;
        options.controls.stop = std::sync::Arc::clone(&stop);
    });
    let mut source = source(args, &options)?;
    let mut how = PlanOptions::new((options.now)());
    how.size = match (args.shards, args.shard_cost) {
        (Some(shards), _) => Size::Shards(shards),
        (None, Some(cost)) => Size::Cost(cost),
        (None, None) => how.size,
    };
    how.file_cost_bytes = args.file_cost.unwrap_or(how.file_cost_bytes);
    let mut progress = ProgressLine::new(When::Auto, args.json, false, Units::Si);
    let planned = plan(&mut *source, &args.out, &how, &stop, &mut |done: PlanProgress| {
        let (found, written) = (units::count(done.found), units::count(done.written));
        progress.print(&match done.written {
            0 => format!("found {found} files"),
            _ => format!("cut {written} files"),
        });
    });
    progress.clear();
    let planned = planned?;
    let mut output = Output::default();
    let empty = planned.job.header().files == 0 && !planned.job.had_nothing_due();
    if empty && planned.troubles.is_empty() {
        exit::complain("no file was found: is this the right place, and is it mounted?");
    }
    let fails = !planned.troubles.is_empty() || (empty && !args.walk.empty.allow_empty);
    let status = ExitStatus::Undetermined.only_if(fails);
    show(&planned, args.json, status, &mut output);
    answer(&output.answer)?;
    Ok(status)
}

fn show(planned: &PlannedJob, json: bool, status: ExitStatus, output: &mut Output) {
    for trouble in &planned.troubles {
        let path = steadfast_report::escape::path(&trouble.path);
        exit::complain(&format!("`{path}`: cannot {}: {}", trouble.doing, trouble.reason));
    }
    match json {
        true => fleet::write_planned_json(planned, status, &mut output.answer),
        false => fleet::write_planned_text(planned, Units::Si, &mut output.answer),
    }
}

/// Returns where the files come from.
fn source(args: &FleetPlanArgs, options: &Options) -> anyhow::Result<Box<dyn JobSource>> {
    if let Some(folder) = &args.catalogue {
        return Ok(Box::new(CatalogueSource::new(folder, args.older_than, (options.now)())?));
    }
    if let Some(manifest) = &args.manifest {
        let mut document = ManifestDocument::open(manifest, args.format)?;
        let command = format!("steadfast fleet plan --manifest {}", manifest.display());
        let root = document.find_root(args.path.as_deref(), &command)?;
        return Ok(Box::new(ManifestSource::new(&root, manifest, document.list)?));
    }
    let path = args.path.as_deref();
    let path = path.context("plan needs a PATH, --manifest FILE or --catalogue DIR")?;
    let selection =
        args.walk.selection()?.with(|selection| selection.roots = vec![path.to_owned()]);
    Ok(Box::new(TreeSource::new(&selection, options)?))
}
