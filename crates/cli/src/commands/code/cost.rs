//! `steadfast code cost`: the predicted cost of a verification.

use steadfast_codesign::VerifyOptions;
use steadfast_report::code::{CostOfCode, write_cost_json, write_cost_text};

use super::verify::now;
use super::{RenderedCode, check_options, each};
use crate::args::CodeCostArgs;
use steadfast::ExitStatus;

pub(super) fn run(args: &CodeCostArgs) -> anyhow::Result<ExitStatus> {
    let check = check_options(args.workers, &args.level);
    let options = VerifyOptions { deep: args.deep, check, now: now(), ..VerifyOptions::default() };
    let units = args.output.units;
    each("code cost", &args.paths, &args.output, |path, code, opened_ns| {
        let estimate = code.estimate(&options)?;
        let of = CostOfCode { path, estimate: &estimate, workers: check.workers.get(), opened_ns };
        let mut outcome = RenderedCode::default();
        match args.output.json {
            true => write_cost_json(&of, &mut outcome.document),
            false if args.output.quiet => {}
            false => write_cost_text(&of, units, &mut outcome.document),
        }
        Ok(outcome)
    })
}
