//! Stdout: writes the answer, and remembers whether a write failed.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use steadfast_report::{escape, for_terminal};

/// Set when a write to stdout fails, except because its reader went away.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Returns whether a write to stdout failed. It is no failure if the reader went away, as `head`
/// does.
pub(crate) fn has_failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

/// Returns whether stdout and the environment allow colours.
pub(crate) fn stdout_has_color() -> bool {
    let choice = anstream::AutoStream::choice(&io::stdout());
    choice != anstream::ColorChoice::Never
}

/// Writes to stdout at once.
pub(crate) fn write_out(bytes: &[u8]) -> io::Result<()> {
    let write = || {
        if steadfast::process::stdout_was_closed() && !bytes.is_empty() {
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

/// Writes a whole answer to stdout. It is no error if the reader went away.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn answer(bytes: &[u8]) -> anyhow::Result<()> {
    answer_part(bytes).map(drop)
}

/// Writes a part of the answer to stdout; returns false if the reader went away.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn answer_part(bytes: &[u8]) -> anyhow::Result<bool> {
    match write_out(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error).context("cannot write to stdout"),
    }
}

/// Writes an answer to stdout at once. Names in CSV are escaped on a terminal, as in text.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_answer(bytes: &[u8], is_csv: bool) -> io::Result<()> {
    if is_csv && io::stdout().is_terminal() {
        return write_out(&for_terminal(bytes));
    }
    write_out(bytes)
}

/// Stdout for a document whose bytes must be exact. On a terminal, control characters are escaped
/// instead.
pub(crate) struct Screen {
    is_terminal: bool,
    /// The line so far, on a terminal.
    line: Vec<u8>,
}

impl Screen {
    pub(crate) fn new() -> Screen {
        Screen { is_terminal: io::stdout().is_terminal(), line: Vec::new() }
    }

    fn show(&mut self) -> io::Result<()> {
        let line = String::from_utf8_lossy(&self.line);
        let shown = write_out(escape::visible(&line).as_bytes());
        self.line.clear();
        shown
    }
}

impl io::Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return write_out(bytes).map(|()| bytes.len());
        }
        for byte in bytes {
            match byte {
                b'\n' => {
                    self.show()?;
                    write_out(b"\n")?;
                }
                _ => self.line.push(*byte),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.show()
    }
}
