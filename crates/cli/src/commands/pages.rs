//! `steadfast check --where`: files verified page by page → text or JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::ensure;
use steadfast::ExitStatus;
use steadfast::run::{PagesOptions, verify_pages};
use steadfast_report::pages::{write_verified_json, write_verified_text};

use crate::args::{CheckArgs, ignores_change_times};
use crate::exit;
use crate::output::answer_part;

/// Verifies files by their leaves, and prints their damaged ranges.
pub(super) fn verify(args: &CheckArgs) -> anyhow::Result<ExitStatus> {
    let files = &args.paths.paths;
    ensure!(!files.is_empty(), "--where needs a PATH");
    let stop = exit::stop_on_signals()?;
    let mut options = PagesOptions::default();
    options.catalogue = args.catalogue.catalogue.clone();
    options.workers = args.engine.workers();
    options.ignore_change_times = ignores_change_times();
    options.stop = Arc::clone(&stop);
    let write = if args.output.json { write_verified_json } else { write_verified_text };
    each(files, &stop, |path, out| {
        let verified = verify_pages(path, &options)?;
        write(path, &verified, out);
        Ok(verified.verdict.exit_status(false))
    })
}

/// Does the same for each file, writes the result, and continues after a failure.
fn each(
    files: &[PathBuf],
    stop: &AtomicBool,
    work: impl Fn(&Path, &mut Vec<u8>) -> anyhow::Result<ExitStatus>,
) -> anyhow::Result<ExitStatus> {
    let mut status = ExitStatus::Fine;
    for path in files {
        let mut document = Vec::new();
        match work(path, &mut document) {
            Ok(one) => status.raise(one),
            Err(_) if stop.load(Ordering::Relaxed) => {}
            Err(error) => {
                exit::complain(&exit::words(&error));
                status.raise(ExitStatus::Undetermined);
            }
        }
        if !answer_part(&document)? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(status.max(ExitStatus::Interrupted));
        }
    }
    Ok(status)
}
