//! `steadfast import --of s3://…`: reads the report of a store.

use steadfast_objects::{Report, import};

use super::{how, known, print_compared};
use crate::args::ObjectsImportArgs;
use crate::exit;
use steadfast::ExitStatus;

pub(super) fn run(args: &ObjectsImportArgs) -> anyhow::Result<ExitStatus> {
    let stop = exit::stop_on_signals()?;
    let report = Report::open(&args.report, args.columns.as_deref())?;
    let known = known(&args.compared, &stop)?;
    let workers = steadfast::qos::workers(args.compared.level.level());
    let options = how(&args.compared, workers, args.complete, &stop);
    print_compared(&args.compared, &stop, |found| {
        import(&report, &args.of, &known, &options, found)
    })
}
