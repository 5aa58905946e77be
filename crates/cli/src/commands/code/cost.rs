//! `steadfast code cost`: what verifying would take.

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use steadfast_codesign::{CheckOptions, PageChoice, Rates, VerifyOptions};
use steadfast_report::code::{CostOfCode, write_cost_json, write_cost_text};

use super::{Outcome, check_options, each, elapsed_ns, opened};
use crate::args::CodeCostArgs;

pub(super) fn run(args: &CodeCostArgs) -> anyhow::Result<u8> {
    let check = check_options(args.workers);
    let units = args.output.units();
    each("code cost", &args.paths, &args.output, |path, code| {
        let cost = code.cost(args.deep)?;
        let rates = Rates::measure(code.source(), cost.part_len_max(), &check);
        let rates = rates.context("cannot measure reading")?;
        let fixed_ns = fixed(path, &check)?;
        let workers = check.workers.get();
        let of = CostOfCode { path, cost: &cost, rates: &rates, workers, fixed_ns };
        let mut outcome = Outcome::default();
        match args.output.json {
            true => write_cost_json(&of, &mut outcome.document),
            false => write_cost_text(&of, units, &mut outcome.document),
        }
        Ok(outcome)
    })
}

/// Opens the code and verifies all but pages and resources, for the time it takes: neither public
/// keys nor the form of a signature have bytes per second. The quicker of two counts.
fn fixed(path: &Path, check: &CheckOptions) -> anyhow::Result<u64> {
    let once = || {
        let begun = Instant::now();
        opened(path, |code| {
            let pages = PageChoice::Sample(0);
            let _ = code.verify(&VerifyOptions { pages, check: *check, ..Default::default() })?;
            Ok(elapsed_ns(begun))
        })
    };
    Ok(once()?.min(once()?))
}
