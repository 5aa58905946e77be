//! `steadfast check`: arguments → a run that judges → the report.

pub(super) mod shard;

use std::path::{Path, PathBuf};

use anyhow::ensure;
use steadfast::beneath::{self, Status};
use steadfast::run::Unnamed;
use steadfast::{CheckOptions, ExitStatus, Verb};

use crate::args::CheckArgs;

use super::documents::{ManifestDocument, ensure_plain};
use super::{RunPlace, execute, par2, render_as, report};

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<ExitStatus> {
    if args.r#where {
        return super::pages::verify(args);
    }
    if par2::are_sets(&args.paths.paths)? {
        return par2::check(args);
    }
    if let Some(manifest) = &args.manifest {
        return check_manifest(args, manifest);
    }
    let selection = args.paths.selection()?;
    let options = args.paths.walk.empty.choose(args.catalogue.choose(args.engine.options()));
    let check = CheckOptions {
        due: args.due.choice(),
        require_tags: args.require_tags,
        ..CheckOptions::default()
    };
    let place = RunPlace { require_tags: args.require_tags, ..RunPlace::READ };
    if check.due.is_some() {
        let plain = selection.excludes.is_empty() && selection.listed.is_empty();
        ensure!(
            plain,
            "the catalogue chooses the files that are due: --files-from and patterns cannot be \
             combined with it"
        );
    }
    if args.due.quick {
        let text = report(&selection.roots);
        return render_as(options, &args.output, place, text, |options, console| {
            steadfast::run::quick(&selection, options, console)
        });
    }
    let status =
        execute(Verb::Check(check), &selection, options, &args.output, report(&selection.roots))?;
    if status == ExitStatus::Corrupt && !args.output.json {
        print_drive_errors(selection.roots.first());
    }
    Ok(status)
}

/// Says what the drives of a folder with corrupt files count, if they count errors.
fn print_drive_errors(root: Option<&PathBuf>) {
    let drives = root.map(|root| steadfast_watch::drives(root)).unwrap_or_default();
    for drive in drives.iter().filter(|drive| !drive.findings.is_empty()) {
        drive.lines().iter().for_each(|line| crate::exit::complain(line));
    }
}

/// Returns the device and the inode of a file.
fn identity_of(path: &Path) -> Option<(u64, u64)> {
    Status::of(path).ok().map(|status| (status.device, status.inode))
}

/// Checks the files of a manifest.
fn check_manifest(args: &CheckArgs, manifest: &Path) -> anyhow::Result<ExitStatus> {
    ensure_plain(&args.paths)?;
    let paths = &args.paths.paths;
    ensure!(paths.len() <= 1, "with --manifest, one PATH says what its names are relative to");
    let mut document = ManifestDocument::open(manifest, args.format, args.strip.as_deref())?;
    let command = format!("steadfast check --manifest {}", manifest.display());
    let root = document.find_root(paths.first().map(PathBuf::as_path), &command)?;
    let options = args.paths.walk.empty.choose(args.engine.options());
    let options = args.catalogue.choose(options);
    let unnamed = match args.new && document.extra.is_empty() && !beneath::is_folder(manifest) {
        true => Unnamed::All { list: identity_of(manifest) },
        false => Unnamed::Known(document.extra),
    };
    let require_tags = args.require_tags;
    let place = RunPlace { require_tags, ..RunPlace::READ };
    render_as(options, &args.output, place, report(paths), |options, console| {
        steadfast::run::compare(&root, document.list, unnamed, require_tags, options, console)
    })
}
