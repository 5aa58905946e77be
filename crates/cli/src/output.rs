//! Stdout: writes the answer, and remembers whether a write failed.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

/// Set once something could not be written to stdout although somebody may read it.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Says whether something could not be written to stdout. That its reader went away, as `head`
/// does, is no failure.
pub(crate) fn has_failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

/// Writes to stdout at once.
pub(crate) fn write_out(bytes: &[u8]) -> io::Result<()> {
    let write = || {
        if steadfast::stdout_was_closed() && !bytes.is_empty() {
            return Err(io::Error::other("it is closed"));
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()
    };
    write().inspect_err(|error| {
        if error.kind() != io::ErrorKind::BrokenPipe {
            FAILED.store(true, Ordering::Relaxed);
        }
    })
}

/// Writes a whole answer to stdout. That its reader went away is no error.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn answer(bytes: &[u8]) -> anyhow::Result<()> {
    match write_out(bytes) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to stdout")
        }
        _ => Ok(()),
    }
}

/// Stdout for what writes by itself.
pub(crate) struct Stdout;

impl io::Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_out(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
