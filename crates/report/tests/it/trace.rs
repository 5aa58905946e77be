//! Traces: what viewers need of them.

use std::path::PathBuf;

use serde_json::Value;
use steadfast::Stage;
use steadfast::cost::Span;
use steadfast_report::trace::Trace;

fn span(stage: Stage, start_ns: u64, elapsed_ns: u64) -> Span {
    Span { stage, start_ns, elapsed_ns, bytes: 0, files: 0, path: None }
}

#[test]
fn a_trace_is_an_array_of_names_and_complete_events() {
    let mut out = Vec::new();
    let mut trace = Trace::default();
    trace.thread(3, "walk", &mut out);
    let path = Some(PathBuf::from("a\x1bb"));
    let hash = Span { bytes: 7, files: 1, path, ..span(Stage::Hash, 1_500, 250_001) };
    trace.spans(0, &[span(Stage::Wait, 0, 1_500), hash], &mut out);
    trace.spans(3, &[], &mut out);
    trace.end(&mut out);
    let expected = concat!(
        "[\n",
        r#"{"name":"thread_name","ph":"M","pid":1,"tid":3,"args":{"name":"walk"}},"#,
        "\n",
        r#"{"name":"wait","ph":"X","pid":1,"tid":0,"ts":0.0,"dur":1.5,"args":{}},"#,
        "\n",
        r#"{"name":"hash","ph":"X","pid":1,"tid":0,"ts":1.5,"dur":250.001,"#,
        r#""args":{"bytes":7,"files":1,"path":"a\u001bb"}}"#,
        "\n]\n",
    );
    assert_eq!(String::from_utf8(out.clone()).unwrap(), expected);
    assert_eq!(serde_json::from_slice::<Value>(&out).unwrap().as_array().unwrap().len(), 3);
}

#[test]
fn a_trace_of_nothing_is_an_empty_array() {
    let mut out = Vec::new();
    Trace::default().end(&mut out);
    assert_eq!(out, b"[]\n");
}
