//! `steadfast update`: arguments → a run that judges and tags → the report.

use steadfast::{TreeChanges, Verb, changes};

use crate::args::UpdateArgs;
use crate::exit;

use super::{execute, report};

pub(super) fn run(args: &UpdateArgs) -> anyhow::Result<u8> {
    let selection = args.write.paths.selection()?;
    let options = args.write.options().with(|options| {
        options.restore_tags = args.restore_tags;
        options.accept_missing = args.accept_missing;
    });
    if !args.accept_many && !options.dry_run {
        exit::set_on_signals(&options.stop)?;
        let mut changes = changes(&selection, &options)?.unwrap_or_default();
        if args.accept_missing {
            changes.newly_missing = 0;
        }
        if changes.are_alarming() {
            let alarm = alarm_of(&changes);
            exit::complain(&format!("{alarm} `update --accept-many` accepts the changes"));
            return Ok(1);
        }
    }
    execute(Verb::Update, &selection, options, &args.write.output, report)
}

/// Says that too many files changed at once.
pub(super) fn alarm_of(changes: &TreeChanges) -> String {
    let TreeChanges { files, newly_missing, edited, .. } = changes;
    let changed = newly_missing + edited.len() as u64;
    format!(
        "{changed} of {files} files are missing or modified at once: nothing was updated. Is the \
         right volume mounted?"
    )
}
