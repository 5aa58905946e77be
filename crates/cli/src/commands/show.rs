//! `steadfast show`: arguments → a run that reads tags → the tags.

use steadfast::{Options, Verb};
use steadfast_report::Show;

use crate::args::ShowArgs;

use super::execute;

pub(super) fn run(args: &ShowArgs) -> anyhow::Result<u8> {
    let selection = args.paths.selection()?;
    execute(Verb::Show, &selection, Options::default(), &args.output, |text| {
        Box::new(Show { quiet: text.quiet })
    })
}
