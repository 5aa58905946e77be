//! Where the time of each thread went, in sequence, for a tracer.
//!
//! Takes finished jobs, with their time by stage. Passes [`Span`]s to a [`SpanSink`], several at a
//! time. Knows no file and no format.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Cost, Stage};

/// Time that one thread spent in one stage within one job.
///
/// A thread's spans follow each other without gaps. A job that alternates between stages, for
/// example to open and read fifty small files, has one span for each stage: their lengths are
/// exact, and their order within the job is that of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What the thread did.
    pub stage: Stage,
    /// When it began, in nanoseconds of the process's clock.
    pub start_ns: u64,
    /// How long it took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Bytes that the job processed.
    pub bytes: u64,
    /// Files that the job processed.
    pub files: u64,
    /// The file, if the job hashed a chunk of one file only.
    pub path: Option<PathBuf>,
}

/// Receives spans. All threads of a run may call it at once; the caller waits.
pub trait SpanSink: Debug + Send + Sync {
    /// Receives a thread's name, before its first span. Names are repeated with each run.
    fn thread(&self, thread: usize, name: &str);

    /// Receives the next spans of one thread, in order.
    fn spans(&self, thread: usize, spans: &[Span]);
}

/// What a job processed.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobFacts {
    pub(crate) bytes: u64,
    pub(crate) files: u64,
    pub(crate) path: Option<PathBuf>,
}

/// Spans of a thread that are passed on together.
const SPANS_PER_CALL: usize = 128;

/// One thread's spans, collected until there are enough to pass on.
#[derive(Debug)]
pub(super) struct Tracer {
    sink: Arc<dyn SpanSink>,
    thread: usize,
    spans: Vec<Span>,
}

impl Tracer {
    pub(super) fn new(sink: Arc<dyn SpanSink>, thread: usize, name: &str) -> Tracer {
        sink.thread(thread, name);
        Tracer { sink, thread, spans: Vec::with_capacity(SPANS_PER_CALL) }
    }

    /// Adds the spans of a thread since `start_ns`: it waited, then carried out a job.
    pub(super) fn job(&mut self, mut start_ns: u64, cost: &Cost, facts: JobFacts) {
        let JobFacts { bytes, files, path } = facts;
        // A job that hashes closes its files last; every other one opens them first.
        let order = match cost.elapsed_ns(Stage::Hash) {
            0 => [Stage::Walk, Stage::Open, Stage::Read, Stage::Store, Stage::Report],
            _ => [Stage::Hash, Stage::Read, Stage::Store, Stage::Open, Stage::Report],
        };
        for stage in [Stage::Wait, Stage::Queue].into_iter().chain(order) {
            let elapsed_ns = cost.elapsed_ns(stage);
            if elapsed_ns == 0 {
                continue;
            }
            let (bytes, files) = if Stage::BUSY.contains(&stage) { (bytes, files) } else { (0, 0) };
            let path = if stage == Stage::Hash { path.clone() } else { None };
            self.spans.push(Span { stage, start_ns, elapsed_ns, bytes, files, path });
            start_ns += elapsed_ns;
        }
        if self.spans.len() >= SPANS_PER_CALL {
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        self.sink.spans(self.thread, &self.spans);
        self.spans.clear();
    }
}
