//! Writes the work of a run's threads for trace viewers: Chrome's trace-event JSON, an array of
//! complete events.
//!
//! In: names of threads, and spans, with the threads in any order. Out: the document, piece by
//! piece. Knows no file. `docs/formats/events.md` specifies it.

use serde::Serialize;
use steadfast::cost::Span;
use steadfast::json::PathText;

/// Renders a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    begun: bool,
}

/// The one process of a trace.
const PROCESS: u32 = 1;

#[derive(Serialize)]
struct TraceEvent<'a> {
    name: &'a str,
    ph: &'static str,
    pid: u32,
    tid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<Microseconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<Microseconds>,
    args: TraceArgs<'a>,
}

#[derive(Default, Serialize)]
struct TraceArgs<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "is_zero")]
    bytes: u64,
    #[serde(skip_serializing_if = "is_zero")]
    files: u64,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    path: Option<PathText>,
}

/// Nanoseconds, written in microseconds: the unit of the format.
struct Microseconds(u64);

impl Serialize for Microseconds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0 as f64 / 1e3)
    }
}

impl Trace {
    /// Appends a thread's name.
    pub fn thread(&mut self, thread: usize, name: &str, out: &mut Vec<u8>) {
        let args = TraceArgs { name: Some(name), ..TraceArgs::default() };
        self.write("thread_name", "M", (thread, None), args, out);
    }

    /// Appends spans of a thread.
    pub fn spans(&mut self, thread: usize, spans: &[Span], out: &mut Vec<u8>) {
        for Span { stage, start_ns, elapsed_ns, bytes, files, path } in spans {
            let path = path.as_deref().map(PathText::of);
            let args = TraceArgs { name: None, bytes: *bytes, files: *files, path };
            let time = Some([*start_ns, *elapsed_ns].map(Microseconds));
            self.write(stage.name(), "X", (thread, time), args, out);
        }
    }

    /// Appends the end.
    pub fn end(self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.begun { b"\n]\n" } else { b"[]\n" });
    }

    fn write(
        &mut self,
        name: &str,
        ph: &'static str,
        (tid, time): (usize, Option<[Microseconds; 2]>),
        args: TraceArgs<'_>,
        out: &mut Vec<u8>,
    ) {
        let (ts, dur) = time.map(|[ts, dur]| (ts, dur)).unzip();
        let begun = std::mem::replace(&mut self.begun, true);
        out.extend_from_slice(if begun { b",\n" } else { b"[\n" });
        let event = TraceEvent { name, ph, pid: PROCESS, tid, ts, dur, args };
        crate::json::write_value(&event, out);
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
