//! `steadfast pages`: arguments → digests of trees, or files verified page by page → text or JSON.

use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use steadfast::ExitStatus;
use steadfast::fastest_lanes;
use steadfast::run::{PagesOptions, Verified, verify_pages};
use steadfast::verity::{ReadOptions, VerityDigest, VerityParams};
use steadfast_codesign::FileSource;
use steadfast_report::escape;
use steadfast_report::pages::{
    write_digest, write_located_text, write_verified_json, write_verified_text,
};

use crate::args::{PagesArgs, PagesCommand, PagesDigestArgs, PagesSourceArgs};
use crate::exit;
use crate::output::answer_part;

/// Writes the result for one file.
type WriteVerified = fn(&Path, &Verified, &mut Vec<u8>);

pub(super) fn run(args: &PagesArgs) -> anyhow::Result<ExitStatus> {
    match &args.what {
        PagesCommand::Digest(args) => digest(args),
        PagesCommand::Verify(args) => {
            verify(args.files.iter().map(|file| file.as_path()), &args.source, write_verified_text)
        }
        PagesCommand::Locate(args) => {
            let write: WriteVerified = |_, verified, out| write_located_text(verified, out);
            verify(std::iter::once(args.file.as_path()), &args.source, write)
        }
    }
}

fn digest(args: &PagesDigestArgs) -> anyhow::Result<ExitStatus> {
    let stop = exit::stop_on_signals()?;
    let params = args.params();
    let workers = args.level.workers(args.workers);
    each(args.files.iter().map(|file| file.as_path()), &stop, |path, out| {
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

fn verify<'a>(
    files: impl Iterator<Item = &'a Path>,
    source: &PagesSourceArgs,
    write: WriteVerified,
) -> anyhow::Result<ExitStatus> {
    let stop = exit::stop_on_signals()?;
    let mut options = PagesOptions::default();
    options.catalogue = source.catalogue.clone();
    options.workers = source.level.workers(source.workers);
    options.stop = Arc::clone(&stop);
    let write = if source.json { write_verified_json } else { write };
    each(files, &stop, |path, out| {
        let verified = verify_pages(path, &options)?;
        write(path, &verified, out);
        Ok(verified.verdict.exit_status(false))
    })
}

/// Does the same for each file, writes the result, and continues after a failure.
fn each<'a>(
    files: impl Iterator<Item = &'a Path>,
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
