//! `measure cipher` from outside: real processes with real masks, and what they prove.

use std::process::{Command, Output};

use serde_json::Value;
use steadfast_testing::{Need, skip};

/// Runs a small measurement in a folder of its own.
fn measured(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(crate::tree::PROGRAM)
        .args(["measure", "cipher", "--quick", "--progress", "never", "--json"])
        .args(arguments)
        .arg(folder.path())
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

fn record(output: &Output) -> Value {
    let trouble = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{trouble}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the words of a set of instructions; none where the processor cannot do without.
fn words(record: &Value, isa: &str) -> Option<Vec<u32>> {
    let series = record["series"].as_array().unwrap();
    let series = series.iter().find(|series| series["factors"]["isa"] == isa)?;
    let words = series["factors"]["capabilities"].as_str().unwrap();
    Some(words.split(':').map(|word| u32::from_str_radix(word, 16).unwrap()).collect())
}

/// Returns the sum of amounts ÷ the sum of times.
fn rate(record: &Value, algorithm: &str, isa: &str, stage: &str) -> f64 {
    let fits = |series: &&Value| {
        let factors = &series["factors"];
        factors["algorithm"] == algorithm && factors["isa"] == isa && factors["stage"] == stage
    };
    let series = record["series"].as_array().unwrap().iter().find(fits).unwrap();
    let sum = |field: &str| {
        let samples = series["samples"].as_array().unwrap();
        samples.iter().map(|sample| sample[field].as_f64().unwrap()).sum::<f64>()
    };
    sum("amount") / sum("elapsed_ns")
}

/// Bits that one set lacks and another has, in all words together.
fn missing(full: &[u32], fewer: &[u32]) -> u32 {
    assert_eq!(full.len(), fewer.len());
    assert!(full.iter().zip(fewer).all(|(full, fewer)| full & fewer == *fewer), "bits came in");
    full.iter().zip(fewer).map(|(full, fewer)| (full & !fewer).count_ones()).sum()
}

#[test]
fn masks_take_away_what_they_name_and_the_file_is_the_same() {
    let arguments = ["--algorithm", "aes-256-gcm,sha256", "--size", "1600000"];
    // Whatever this process was told, the one with all instructions has them all.
    let variable = [("OPENSSL_ia32cap", "~0x0:~0x20000000"), ("OPENSSL_armcap", "~0x10")];
    let record = record(&measured(&arguments, &variable));
    let full = words(&record, "full").unwrap();
    let Some(no_aes) = words(&record, "no-aes") else {
        return skip(Need::System("AES instructions"), &record["warnings"]);
    };
    // AES, and its wide form on x86.
    assert!((1..=2).contains(&missing(&full, &no_aes)), "{full:x?} {no_aes:x?}");
    // With instructions it is tens of times as fast; thrice leaves room for a busy machine.
    let gain = rate(&record, "aes-256-gcm", "full", "encrypt")
        / rate(&record, "aes-256-gcm", "no-aes", "encrypt");
    assert!(gain > 3.0, "{gain}");
    if let Some(no_sha) = words(&record, "no-sha") {
        assert!((1..=3).contains(&missing(&full, &no_sha)), "{full:x?} {no_sha:x?}");
    }
    let task = |isa: &str| rate(&record, "aes-256-cbc", isa, "encrypt-file");
    assert!(task("full") > 0.0 && task("no-aes") > 0.0);
    assert_eq!(record["places"].as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_is() {
    for (arguments, word) in [
        (["--algorithm", "aes-128-xts"], "256 bits only"),
        (["--algorithm", "rot13"], "no such algorithm"),
        (["--task", "sha256"], "is no cipher"),
        (["--isa", "less"], "no-aes"),
    ] {
        let output = measured(&arguments, &[]);
        let trouble = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(trouble.contains(word), "{arguments:?}: {trouble}");
    }
}

#[test]
fn loops_are_held_against_another_record() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept.json");
    let run = |arguments: &[&str]| {
        let output = Command::new(crate::tree::PROGRAM)
            .args(["measure", "cpu", "--quick", "--progress", "never", "--rounds", "5"])
            .args(["--kernel", "i64-dot,sparse-product", "--threads", "1"])
            .args(arguments)
            .output()
            .unwrap();
        let trouble = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), trouble)
    };
    let kept = kept.to_str().unwrap();
    let (status, _, trouble) = run(&["--name", "this one", "--export", kept]);
    assert_eq!(status, Some(0), "{trouble}");
    let (status, page, trouble) = run(&["--against", kept]);
    assert_eq!(status, Some(0), "{trouble}");
    assert!(page.contains("of the loops of this one") && page.contains("i64-dot"), "{page}");
    let other = folder.path().join("other.json");
    std::fs::write(&other, "{}").unwrap();
    let (status, _, trouble) = run(&["--against", other.to_str().unwrap()]);
    assert_eq!(status, Some(2));
    assert!(trouble.contains("not a record"), "{trouble}");
}
