//! `steadfast pages`: arguments → digests of trees, or files verified page by page → text or JSON.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use steadfast::ExitStatus;
use steadfast::fastest_lanes;
use steadfast::run::{PagesOptions, verify_pages};
use steadfast::verity::{ReadOptions, VerityDigest, VerityParams};
use steadfast_codesign::FileSource;
use steadfast_report::escape;
use steadfast_report::pages::{write_digest, write_verified_json, write_verified_text};

use crate::args::{PagesArgs, PagesCommand, PagesDigestArgs, PagesVerifyArgs};
use crate::exit;
use crate::output::answer_part;

pub(super) fn run(args: &PagesArgs) -> anyhow::Result<ExitStatus> {
    match &args.what {
        PagesCommand::Digest(args) => digest(args),
        PagesCommand::Verify(args) => verify(args),
    }
}

fn digest(args: &PagesDigestArgs) -> anyhow::Result<ExitStatus> {
    let stop = exit::stop_on_signals()?;
    let params = args.params();
    let workers = args.level.workers(args.workers);
    each(&args.files, &stop, |path, out| {
        let digest = digest_of(path, &params, workers, &stop);
        let digest = digest.with_context(|| format!("`{}`", escape::path(path)))?;
        write_digest(path, &digest, args.compact, out);
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
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let source = FileSource::open(path)?;
    let options = ReadOptions { workers, lanes: fastest_lanes(), stop: Some(stop) };
    steadfast::verity::digest(&source, params, &options)
}

fn verify(args: &PagesVerifyArgs) -> anyhow::Result<ExitStatus> {
    let stop = exit::stop_on_signals()?;
    let mut options = PagesOptions::default();
    options.catalogue = args.catalogue.clone();
    options.workers = args.level.workers(args.workers);
    options.stop = Arc::clone(&stop);
    let write = if args.json { write_verified_json } else { write_verified_text };
    each(&args.files, &stop, |path, out| {
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
