//! `steadfast import`: other tools' records → our tags.

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use steadfast::ExitStatus;
use steadfast::Verb;

use crate::args::ImportArgs;

use super::documents::{ManifestDocument, ensure_plain};
use super::{execute, execute_with, report};

pub(super) fn run(args: &ImportArgs) -> anyhow::Result<ExitStatus> {
    let options = args.engine.options().with(|options| options.dry_run = args.dry_run.dry_run);
    let options = args.catalogue.choose(args.paths.walk.empty.choose(options));
    if args.attributes {
        let named = args.catalogue.catalogue.as_deref();
        args.whole_system.ensure_meant("import --attributes", &args.paths.paths, named)?;
        let selection = args.paths.selection()?;
        return execute(Verb::Import, &selection, options, &args.output, report(&[]));
    }
    ensure_plain(&args.paths)?;
    let [manifest, rest @ ..] = &args.paths.paths[..] else {
        anyhow::bail!("import needs a FILE, or --attributes");
    };
    ensure!(rest.len() <= 1, "import takes one FILE, and a DIR if its names are relative to that");
    let document = ManifestDocument::open(manifest, args.format, args.strip.as_deref());
    let mut document = document.context("cannot import")?;
    let command = format!("steadfast import {}", manifest.display());
    let given = rest.first().map(PathBuf::as_path);
    let root = document.find_root(given, &command)?;
    args.whole_system.ensure_meant("import", std::slice::from_ref(&root), None)?;
    // Digests accepted without reading must not be applied to other files of the same names.
    let guessed = args.trust && given.is_none() && document.is_elsewhere(&root);
    ensure!(!guessed, "--trust needs the folder that the names are relative to: `{command} DIR`");
    execute_with(options, &args.output, report(&[]), |options, console| {
        steadfast::import(&root, document.list, document.extra, args.trust, options, console)
    })
}
