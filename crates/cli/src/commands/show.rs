//! `steadfast show`: arguments → a run that reads tags → the tags; or the history of one file.

use anyhow::ensure;
use steadfast::ExitStatus;
use steadfast::Verb;
use steadfast_report::Show;

use crate::args::{OutputArgs, ShowArgs, usual_options};

use super::{execute, history};

pub(super) fn run(args: &ShowArgs) -> anyhow::Result<ExitStatus> {
    if args.history {
        return history::run(args);
    }
    ensure!(!args.document.premis, "--premis is of --history");
    let selection = args.paths.selection()?;
    let options = usual_options().with(|options| {
        options.qos = args.level.level();
        options.catalogue.choice = args.place.choice();
    });
    let options = args.paths.walk.empty.choose(options);
    let output = OutputArgs::of_document(&args.document, args.quiet);
    execute(Verb::Show, &selection, options, &output, |text| Box::new(Show { quiet: text.quiet }))
}
