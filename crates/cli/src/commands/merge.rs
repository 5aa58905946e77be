//! `steadfast merge`: results of shards → one check, rendered as any.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::{fs, io};

use steadfast::names::NameBytes as _;
use steadfast::{CatalogueUse, ExitStatus, Options, sharded};

use super::{RunPlace, render_as, report};
use crate::args::MergeArgs;

/// Merges results, and those in folders.
pub(super) fn run(args: &MergeArgs) -> anyhow::Result<ExitStatus> {
    let catalogue = match (args.enter, &args.catalogue) {
        (false, _) => CatalogueUse::Off,
        (true, None) => CatalogueUse::Nearest,
        (true, Some(file)) => CatalogueUse::At(file.clone()),
    };
    let mut results = Vec::new();
    for path in &args.results {
        let Ok(names) = fs::read_dir(path) else {
            // It is a result, or cannot be read, which the merge will say.
            results.push(path.clone());
            continue;
        };
        let names: io::Result<BTreeSet<OsString>> = names.map(|it| Ok(it?.file_name())).collect();
        let names = names?.into_iter().filter(|name| !name.as_bytes().starts_with(b"."));
        results.extend(names.map(|name| path.join(name)));
    }
    let options = args.empty.choose(Options::default());
    let options = options.with(|options| options.catalogue.choice = catalogue);
    let place = RunPlace { reads_only: !args.enter, ..RunPlace::READ };
    render_as(options, &args.output, place, report(&[]), |options, console| {
        sharded::merge(&results, options, console)
    })
}
