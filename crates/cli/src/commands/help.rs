//! `steadfast help`: the first screen, the page of a verb, all verbs, or the manual as files.

use anyhow::Context as _;
use clap::CommandFactory as _;
use steadfast::ExitStatus;

use crate::args::{Cli, HelpArgs, all_verbs, page_of};
use crate::output::{answer, stdout_has_color};

use super::manual;

pub(super) fn run(args: &HelpArgs) -> anyhow::Result<ExitStatus> {
    if let Some(directory) = &args.manual {
        return manual::run(directory);
    }
    if args.all {
        answer(all_verbs(stdout_has_color()).as_bytes())?;
        return Ok(ExitStatus::Fine);
    }
    let verb = args.verb.join(" ");
    let page = page_of(Cli::command(), &args.verb);
    let page = page
        .with_context(|| format!("there is no verb `{verb}`: `steadfast help --all` lists them"))?;
    let page = match stdout_has_color() {
        true => page.ansi().to_string(),
        false => page.to_string(),
    };
    answer(page.as_bytes())?;
    Ok(ExitStatus::Fine)
}
