//! `steadfast show`: arguments → a run that reads tags → the tags.

use steadfast::ExitStatus;
use steadfast::{Options, Verb};
use steadfast_report::Show;

use crate::args::ShowArgs;

use super::execute;

pub(super) fn run(args: &ShowArgs) -> anyhow::Result<ExitStatus> {
    let selection = args.paths.selection()?;
    let options = Options::default().with(|options| options.qos = args.level.level());
    let options = args.paths.walk.empty.choose(options);
    execute(Verb::Show, &selection, options, &args.output, |text| {
        Box::new(Show { quiet: text.quiet })
    })
}
