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
struct NameEvent<'a> {
    name: &'static str,
    ph: &'static str,
    pid: u32,
    tid: usize,
    args: NameArgs<'a>,
}

#[derive(Serialize)]
struct NameArgs<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct SpanEvent {
    name: &'static str,
    ph: &'static str,
    pid: u32,
    tid: usize,
    ts: Microseconds,
    dur: Microseconds,
    args: SpanArgs,
}

#[derive(Serialize)]
struct SpanArgs {
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
        let args = NameArgs { name };
        self.write(
            &NameEvent { name: "thread_name", ph: "M", pid: PROCESS, tid: thread, args },
            out,
        );
    }

    /// Appends spans of a thread.
    pub fn spans(&mut self, thread: usize, spans: &[Span], out: &mut Vec<u8>) {
        for span in spans {
            let event = SpanEvent {
                name: span.stage.name(),
                ph: "X",
                pid: PROCESS,
                tid: thread,
                ts: Microseconds(span.start_ns),
                dur: Microseconds(span.elapsed_ns),
                args: SpanArgs {
                    bytes: span.bytes,
                    files: span.files,
                    path: span.path.as_deref().map(PathText::of),
                },
            };
            self.write(&event, out);
        }
    }

    /// Appends the end.
    pub fn end(self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.begun { b"\n]\n" } else { b"[]\n" });
    }

    fn write(&mut self, event: &impl Serialize, out: &mut Vec<u8>) {
        let begun = std::mem::replace(&mut self.begun, true);
        out.extend_from_slice(if begun { b",\n" } else { b"[\n" });
        crate::json::write_value(event, out);
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
