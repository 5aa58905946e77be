//! `steadfast objects import`: a store's report is read.

use steadfast_objects::{Report, import};

use super::{how, known, refuse, tell};
use crate::args::ObjectsImportArgs;
use crate::exit;

pub(super) fn run(args: &ObjectsImportArgs) -> anyhow::Result<u8> {
    let stop = exit::stop_on_signals()?;
    let report = match Report::open(&args.report, args.columns.as_deref()) {
        Ok(report) => report,
        Err(error) => return Ok(refuse(&error)),
    };
    let known = match known(&args.compared, &stop)? {
        Ok(known) => known,
        Err(error) => return Ok(refuse(&error)),
    };
    let workers = steadfast::qos::workers(args.compared.level.level());
    let options = how(&args.compared, workers, args.complete, &stop);
    tell(&args.compared, &stop, |found| import(&report, &args.of, &known, &options, found))
}
