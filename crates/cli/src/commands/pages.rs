//! `steadfast hash --fs-verity` and `steadfast check --where`: files → digests of trees, or files
//! verified page by page → text or JSON.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, ensure};
use steadfast::ExitStatus;
use steadfast::beneath::{FileKind, Status};
use steadfast::fastest_lanes;
use steadfast::run::{PagesOptions, verify_pages};
use steadfast::verity::{FileSource, ReadOptions, VerityDigest, VerityParams};
use steadfast_report::escape;
use steadfast_report::pages::{write_digest, write_verified_json, write_verified_text};

use crate::args::{CheckArgs, HashArgs, ignores_change_times};
use crate::exit;
use crate::output::answer_part;

/// Prints fs-verity digests.
pub(super) fn digest(args: &HashArgs) -> anyhow::Result<ExitStatus> {
    let files = &args.paths.paths;
    ensure!(!files.is_empty(), "--fs-verity needs a PATH");
    let stop = exit::stop_on_signals()?;
    let params = args.fs_verity.params(args.algorithm.algorithm)?;
    let workers = args.engine.workers();
    each(files, &stop, |path, out| {
        let digest = digest_of(path, &params, workers, &stop);
        let digest = digest.with_context(|| format!("`{}`", escape::path(path)))?;
        write_digest(path, &digest, args.fs_verity.compact, out);
        Ok(ExitStatus::Fine)
    })
}

fn digest_of(
    path: &Path,
    params: &VerityParams,
    workers: NonZeroUsize,
    stop: &AtomicBool,
) -> io::Result<VerityDigest> {
    // Other kinds of files have no reliable length.
    if Status::of(path)?.kind != FileKind::Regular {
        return Err(io::Error::other("not a regular file"));
    }
    let source = FileSource::open(path)?;
    let options = ReadOptions { workers, lanes: fastest_lanes(), stop: Some(stop) };
    steadfast::verity::digest(&source, params, &options)
}

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
