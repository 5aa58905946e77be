//! `steadfast code show`: the contents of signatures.

use anyhow::Context as _;
use steadfast_codesign::Coverage;
use steadfast_report::code::{ShownCode, write_shown_json, write_shown_text};

use super::{RenderedCode, each, text_options};
use crate::args::CodeShowArgs;
use steadfast::ExitStatus;

pub(super) fn run(args: &CodeShowArgs) -> anyhow::Result<ExitStatus> {
    let options = text_options(&args.output);
    each(
        "code show",
        &args.paths,
        &args.output,
        |_, _| {},
        |path, code, _| {
            let coverage = code.as_binary().map(|binary| Coverage::of(code.source(), binary));
            let coverage = coverage.transpose().context("cannot read what is not sealed")?;
            let shown = ShownCode { path, code, coverage: coverage.as_ref() };
            let mut outcome = RenderedCode::default();
            match args.output.json {
                true => write_shown_json(&shown, &mut outcome.document),
                // --quiet prints only problems, and `show` finds none.
                false if args.output.quiet => {}
                false => write_shown_text(&shown, options, &mut outcome.document),
            }
            Ok(outcome)
        },
    )
}
