//! `steadfast code cost`: what a verification would read and hash, and how long that takes.

use steadfast_report::code::{CostOfCode, write_cost_json, write_cost_text};

use super::{RenderedCode, check_options, each};
use crate::args::CodeCostArgs;
use steadfast::ExitStatus;

pub(super) fn run(args: &CodeCostArgs) -> anyhow::Result<ExitStatus> {
    let check = check_options(args.workers, &args.level);
    let units = args.output.units;
    each(
        "code cost",
        &args.paths,
        &args.output,
        |_, _| {},
        |path, code, _opened_ns| {
            let cost = code.cost(args.deep)?;
            let (workers, hashing_ns) = (check.workers.get(), cost.hashing_ns(check.workers));
            let of = CostOfCode { path, cost: &cost, workers, hashing_ns };
            let mut outcome = RenderedCode::default();
            match args.output.json {
                true => write_cost_json(&of, &mut outcome.document),
                false if args.output.quiet => {}
                false => write_cost_text(&of, units, &mut outcome.document),
            }
            Ok(outcome)
        },
    )
}
