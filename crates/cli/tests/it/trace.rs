//! `--trace`: the file it leaves.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::tree::Tree;

const STAGES: [&str; 8] = ["walk", "open", "read", "hash", "store", "report", "wait", "queue"];

#[test]
fn a_trace_tells_the_same_as_the_summary() {
    let mut tree = Tree::new().file("large", &[7; 3_000_000]);
    for number in 0..300 {
        tree = tree.file(format!("small/{number}"), &[1; 5_000]);
    }
    let summary = tree.run(["tag", "--json", "--trace", "trace.json", "small", "large"]);
    let summary = summary.succeeds().summary();
    let text = fs::read_to_string(tree.path("trace.json")).unwrap();
    let events: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut names: BTreeMap<u64, String> = BTreeMap::new();
    let mut ends_us: BTreeMap<u64, f64> = BTreeMap::new();
    let mut sums_us: BTreeMap<(String, String), f64> = BTreeMap::new();
    for event in &events {
        let thread = event["tid"].as_u64().unwrap();
        let name = event["name"].as_str().unwrap().to_owned();
        assert_eq!(event["pid"], 1);
        if event["ph"] == "M" {
            assert_eq!(name, "thread_name");
            names.insert(thread, event["args"]["name"].as_str().unwrap().to_owned());
            continue;
        }
        assert_eq!(event["ph"], "X", "{event}");
        let (start_us, elapsed_us) =
            (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        let end_us = ends_us.entry(thread).or_default();
        assert!(start_us >= *end_us - 0.0015, "{event} overlaps what ended at {end_us}");
        *end_us = start_us + elapsed_us;
        *sums_us.entry((names[&thread].clone(), name)).or_default() += elapsed_us;
    }
    let threads = summary["cost"]["threads"].as_array().unwrap();
    assert_eq!(names.len(), threads.len());
    for thread in threads {
        let name = thread["name"].as_str().unwrap();
        for stage in STAGES {
            let known_us = thread[format!("{stage}_ns")].as_u64().unwrap() as f64 / 1e3;
            let found_us = sums_us.get(&(name.to_owned(), stage.to_owned())).copied();
            let difference_us = (found_us.unwrap_or(0.0) - known_us).abs();
            assert!(difference_us <= known_us / 100.0, "{name} {stage}: {found_us:?} {known_us}");
        }
    }
    let hashed = events.iter().filter(|event| event["name"] == "hash");
    let bytes: u64 = hashed.map(|event| event["args"]["bytes"].as_u64().unwrap()).sum();
    assert_eq!(bytes, summary["bytes"].as_u64().unwrap());
}

#[test]
fn a_trace_never_takes_the_place_of_a_file() {
    let tree = Tree::tagged();
    let refused = tree.run(["check", "--trace", "a"]).ends(2);
    assert!(refused.stderr().contains("cannot make the trace `a`"), "{}", refused.stderr());
    assert_eq!(fs::read(tree.path("a")).unwrap(), b"alpha");
    assert_eq!(refused.stdout(), "");
}

#[test]
fn a_trace_that_cannot_be_written_is_told_and_hides_nothing() {
    let tree = Tree::tagged();
    tree.corrupt("a");
    let traced = tree.run(["check", "--trace", "no/such/place"]).ends(2);
    assert!(traced.stderr().contains("cannot make the trace"), "{}", traced.stderr());
    let traced = tree.run(["check", "--trace", "trace.json"]).ends(3);
    assert!(traced.stdout().contains("corrupt"), "{}", traced.stdout());
    tree.run_with(["hash", "--trace", "other", "-"], b"bytes").ends(2);
    assert!(!tree.path("other").exists());
}
