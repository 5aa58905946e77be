//! `steadfast code verify`: the three verdicts.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use anyhow::Context as _;
use steadfast_codesign::{Certificate, VerifyOptions};
use steadfast_report::code::{SarifLog, VerifiedCode, write_verified_json, write_verified_text};
use steadfast_report::escape;

use super::{RenderedCode, check_options, each, elapsed_ns, text_options};
use crate::args::CodeVerifyArgs;
use crate::document_file::DocumentFile;
use steadfast::ExitStatus;

pub(super) fn run(args: &CodeVerifyArgs) -> anyhow::Result<ExitStatus> {
    let options = VerifyOptions {
        deep: args.deep,
        strict: args.strict,
        every_byte: args.every_byte,
        conditions: args.conditions.all(),
        trusted: trusted(&args.conditions.trust)?,
        pages: args.pages.choice(),
        check: check_options(args.workers, &args.level),
        now: now(),
    };
    let text = text_options(&args.output);
    let sarif_file = args.sarif.as_deref();
    let sarif_file =
        sarif_file.map(|path| DocumentFile::claim(path, SarifLog::is_beginning)).transpose()?;
    let sarif = RefCell::new(SarifLog::default());
    let failed = |path: &Path, why: &str| sarif.borrow_mut().add_failed(path, why);
    let status =
        each("code verify", &args.paths, &args.output, failed, |path, code, opened_ns| {
            let begun = Instant::now();
            let verification = code.verify(&options)?;
            let elapsed_ns = opened_ns + elapsed_ns(begun);
            let verified = VerifiedCode { path, verification: &verification, elapsed_ns };
            if args.sarif.is_some() {
                sarif.borrow_mut().add(&verified);
            }
            let mut outcome = RenderedCode {
                status: verification.exit_status().try_into().unwrap_or(ExitStatus::Undetermined),
                read_bytes: verification.read_bytes(),
                ..RenderedCode::default()
            };
            match args.output.json {
                true => write_verified_json(&verified, &mut outcome.document),
                false => write_verified_text(&verified, text, &mut outcome.document),
            }
            Ok(outcome)
        })?;
    if let Some(file) = sarif_file {
        file.write(&sarif.into_inner().finish(status))?;
    }
    Ok(status)
}

/// Reads the certificates to trust.
fn trusted(files: &[PathBuf]) -> anyhow::Result<Vec<Certificate>> {
    let mut trusted = Vec::new();
    for file in files {
        let named = || format!("`{}`", escape::path(file));
        let bytes = std::fs::read(file).with_context(named)?;
        trusted.extend(Certificate::all_of(&bytes).with_context(named)?);
    }
    Ok(trusted)
}

/// The present in seconds since 1970. An earlier clock counts as 1970, when no certificate was
/// valid. Without a time, expired certificates would be accepted.
pub(super) fn now() -> Option<i64> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    i64::try_from(since.map_or(0, |since| since.as_secs())).ok()
}
