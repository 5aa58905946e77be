//! The file of `--trace`: what each thread of a run did.
//!
//! In: spans from all threads. Out: a new file. The report crate words it; memory holds one buffer.
//! The file has no name while it is written, because a walk must not find a file that changes all
//! the time.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use steadfast::beneath::{Dir, Draft, Existing};
use steadfast::cost::{Span, SpanSink};
use steadfast_report::trace::Trace;

/// A trace that is being written.
#[derive(Debug)]
pub(crate) struct TraceFile {
    path: PathBuf,
    dir: Arc<Dir>,
    name: OsString,
    state: Mutex<TraceState>,
}

#[derive(Debug)]
struct TraceState {
    trace: Trace,
    /// Rendered, but not yet written.
    page: Vec<u8>,
    writer: BufWriter<File>,
    /// The first error. Nothing is written after it, or after the end.
    ended: Option<io::Result<()>>,
}

impl TraceFile {
    /// Creates a new file.
    ///
    /// # Errors
    /// If a file of this name exists; or those of the system.
    pub(crate) fn create(path: &Path) -> anyhow::Result<TraceFile> {
        let nameless = || {
            let (dir, name) = Dir::parent_of(path)?;
            if dir.status_of(&name).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            let dir = Arc::new(dir);
            let file = Draft::new(&dir)?.into_nameless()?;
            Ok::<_, io::Error>((dir, name, file))
        };
        let (dir, name, file) =
            nameless().with_context(|| format!("cannot make the trace `{}`", path.display()))?;
        let state = TraceState {
            trace: Trace::default(),
            page: Vec::new(),
            writer: BufWriter::new(file),
            ended: None,
        };
        Ok(TraceFile { path: path.to_owned(), dir, name, state: Mutex::new(state) })
    }

    /// Writes the end.
    ///
    /// # Errors
    /// If anything could not be written.
    pub(crate) fn finish(&self) -> anyhow::Result<()> {
        let mut state = self.state();
        state.write(|trace, page| trace.end(page));
        let result = match state.ended.replace(Ok(())) {
            Some(failed) => failed,
            None => self.put(&mut state),
        };
        result.with_context(|| format!("cannot write the trace `{}`", self.path.display()))
    }

    /// Gives the file its name.
    fn put(&self, state: &mut TraceState) -> io::Result<()> {
        state.writer.flush()?;
        let file = state.writer.get_mut();
        file.rewind()?;
        let mut draft = Draft::document(&self.dir)?;
        io::copy(file, &mut draft)?;
        draft.publish(&self.name, Existing::Keep)
    }

    /// A thread that panics while it writes only cuts the trace short.
    fn state(&self) -> MutexGuard<'_, TraceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TraceState {
    fn write(&mut self, render: impl FnOnce(&mut Trace, &mut Vec<u8>)) {
        if self.ended.is_some() {
            return;
        }
        self.page.clear();
        render(&mut self.trace, &mut self.page);
        if let Err(error) = self.writer.write_all(&self.page) {
            self.ended = Some(Err(error));
        }
    }
}

impl SpanSink for TraceFile {
    fn thread(&self, thread: usize, name: &str) {
        self.state().write(|trace, page| trace.thread(thread, name, page));
    }

    fn spans(&self, thread: usize, spans: &[Span]) {
        self.state().write(|trace, page| trace.spans(thread, spans, page));
    }
}
