//! `steadfast check --shard`: arguments → a run over a part of the files → its result.

use std::path::Path;

use anyhow::ensure;
use steadfast::catalogue::Catalogue;
use steadfast::sharded::{self, ShardCheck, ShardFiles};
use steadfast::{CatalogueUse, ErrorKind, ExitStatus, Options, Selection, Shard};

use super::super::{RunPlace, render_as, report};
use crate::args::CheckArgs;
use crate::exit;

/// The status of a shard without a result that may succeed later, or on another machine:
/// `EX_TEMPFAIL` of sysexits.h.
const TRY_AGAIN: u8 = 75;

/// Checks a shard. Its status is that of a check, or [`TRY_AGAIN`].
pub(in super::super) fn run(args: &CheckArgs, shard: Shard) -> anyhow::Result<u8> {
    let [root] = &args.paths.paths[..] else {
        anyhow::bail!("--shard needs one PATH: the root of the check, the same for all shards");
    };
    let options = args.catalogue.choose(args.engine.options());
    let files = files_of(args, root, &options)?;
    let check = ShardCheck {
        root: root.clone(),
        shard,
        files,
        require_tags: args.require_tags,
        result: args.shard.result.clone().unwrap_or_default(),
    };
    // The result is wanted even if nobody reads the output.
    let (reads_only, require_tags) = (false, args.require_tags);
    let place = RunPlace { reads_only, require_tags, ..RunPlace::READ };
    let text = report(&args.paths.paths);
    let checked = render_as(options, &args.output, place, text, |options, console| {
        sharded::check(&check, options, console)
    });
    let is_temporary = |error: &anyhow::Error| {
        let error = error.downcast_ref::<steadfast::Error>();
        error.is_some_and(|error| error.kind() == ErrorKind::System)
    };
    match checked {
        Err(error) if is_temporary(&error) => {
            exit::complain(&exit::words(&error));
            Ok(TRY_AGAIN)
        }
        checked => checked.map(ExitStatus::code),
    }
}

/// Returns where the files come from: a list, the catalogue, or a walk.
fn files_of(args: &CheckArgs, root: &Path, options: &Options) -> anyhow::Result<ShardFiles> {
    let older_than = args.due.choice().and_then(|choice| choice.older_than);
    let is_listed = args.paths.files_from.is_some();
    let is_catalogued = match &options.catalogue.choice {
        CatalogueUse::Nearest => Catalogue::find(root).is_some(),
        choice => *choice != CatalogueUse::Off,
    };
    ensure!(
        older_than.is_none() || (is_catalogued && !is_listed),
        "--older-than needs the catalogue: it knows when each file was checked"
    );
    ensure!(
        !args.paths.walk.is_limited() || !(is_catalogued || is_listed),
        "only a walk leaves files out: --exclude and --one-file-system need --no-catalogue"
    );
    let Selection { listed, excludes, one_file_system, .. } = args.paths.selection()?;
    Ok(match (is_listed, is_catalogued) {
        (true, _) => ShardFiles::list(listed),
        (false, true) => {
            ShardFiles::Catalogue { older_than_s: older_than.map(|time| time.as_secs()) }
        }
        (false, false) => ShardFiles::Walk { excludes, one_file_system },
    })
}
