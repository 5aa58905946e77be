//! Ciphers: answers before times, refusals with words, and gains put down to what caused them.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use steadfast_measure::figures;
use steadfast_measure::record::{self, Factors, Isa, Record, Sample, Series, Stage, Unit};
use steadfast_measure::runner::{End, Session, Unwatched};
use steadfast_measure::workload::Workload as _;
use steadfast_measure::workload::cipher::kernels::{CipherKernel, uses};
use steadfast_measure::workload::cipher::{Cipher, Task, WorkerCommand, serve};

/// Asks what a process of its own would be asked, and returns the answers.
fn asked(questions: &[String]) -> Vec<serde_json::Value> {
    let mut answers = Vec::new();
    serve(&mut Cursor::new(questions.join("\n")), &mut answers).unwrap();
    let lines = String::from_utf8(answers).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn timing(kernel: CipherKernel, buffer_len_bytes: usize) -> String {
    let CipherKernel { algorithm, stage } = kernel;
    serde_json::json!({ "Time": {
        "algorithm": algorithm,
        "stage": stage,
        "buffer_len_bytes": buffer_len_bytes,
        "sample_ns": 1000,
    } })
    .to_string()
}

#[test]
fn every_kernel_gives_its_published_answer_and_a_time() {
    let kernels = CipherKernel::all();
    assert_eq!(kernels.len(), 8 + 4 + 2 * 6);
    let questions: Vec<String> = kernels.iter().map(|&kernel| timing(kernel, 4096)).collect();
    for (answer, kernel) in asked(&questions).iter().zip(&kernels) {
        let timed = &answer["Ok"];
        assert!(timed["elapsed_ns"].as_u64() > Some(0), "{kernel:?}: {answer}");
        let each = match kernel.stage {
            Stage::Sign | Stage::Verify => 1,
            _ => 4096,
        };
        assert_eq!(timed["amount"].as_u64().unwrap() % each, 0, "{kernel:?}");
        let same_everywhere = !matches!(kernel.stage, Stage::Sign | Stage::Verify);
        assert_eq!(timed["answer"].is_array(), same_everywhere, "{kernel:?}");
    }
}

#[test]
fn the_same_work_gives_the_same_answer_however_often_it_was_done() {
    let kernel = CipherKernel { algorithm: "aes-128-ctr", stage: Stage::Encrypt };
    let answers = asked(&[timing(kernel, 1024), timing(kernel, 1024), timing(kernel, 1040)]);
    assert_eq!(answers[0]["Ok"]["answer"], answers[1]["Ok"]["answer"]);
    assert_ne!(answers[0]["Ok"]["answer"], answers[2]["Ok"]["answer"]);
}

#[test]
fn what_makes_no_sense_is_answered_with_words() {
    let answers = asked(&["nonsense".into(), "\"Look\"".into()]);
    assert!(answers[0]["Err"].as_str().unwrap().contains("question"), "{answers:?}");
    assert!(answers[1]["Ok"]["library"].as_str().unwrap().starts_with("AWS-LC"), "{answers:?}");
}

#[test]
fn what_cannot_be_had_is_refused_with_the_reason() {
    let error = CipherKernel::named("aes-128-xts").unwrap_err().to_string();
    assert!(error.contains("256 bits only"), "{error}");
    let error = CipherKernel::named("rot13").unwrap_err().to_string();
    assert!(error.contains("`rot13`") && error.contains("aes-256-gcm"), "{error}");
    assert_eq!(CipherKernel::named("ed25519").unwrap().len(), 2);
}

#[test]
fn a_file_is_enciphered_as_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["plain", "enciphered"].map(|name| folder.path().join(name));
    std::fs::write(&from, vec![5; 3_000_000]).unwrap();
    std::fs::write(&to, "").unwrap();
    let bytes = |path: &PathBuf| path.to_str().unwrap().as_bytes().to_vec();
    for (algorithm, tags) in [("aes-256-cbc", 0), ("aes-256-gcm", 3 * 16), ("aes-256-xts", 0)] {
        let question = serde_json::json!({ "File": {
            "algorithm": algorithm, "from": bytes(&from), "to": bytes(&to),
        } });
        let answers = asked(&[question.to_string()]);
        let filed = &answers[0]["Ok"];
        assert_eq!(filed["bytes"], 3_000_000, "{answers:?}");
        assert!(filed["enciphering_ns"].as_u64() <= filed["elapsed_ns"].as_u64());
        let enciphered = std::fs::read(&to).unwrap();
        assert_eq!(enciphered.len(), 3_000_000 + tags, "{algorithm}");
        assert_ne!(enciphered[..16], enciphered[16..32], "{algorithm} shows that all is alike");
        std::fs::write(&to, "").unwrap();
    }
}

fn run(cipher: &Cipher) -> (Result<(), End>, Record) {
    let stop = AtomicBool::new(false);
    let mut unwatched = Unwatched;
    let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut unwatched);
    let outcome = cipher.run(&mut session);
    (outcome, session.end(None))
}

#[test]
fn a_process_that_does_something_else_is_found_out() {
    let echo = WorkerCommand { program: "/bin/cat".into(), arguments: Vec::new() };
    let (outcome, record) = run(&Cipher::quick(echo, None, 1));
    let Err(End::Failed(error)) = outcome else { panic!("{outcome:?}") };
    assert!(error.to_string().contains("process that measures"), "{error}");
    assert!(record.series.is_empty());
    let none = WorkerCommand { program: "/nowhere/steadfast".into(), arguments: Vec::new() };
    let Err(End::Failed(error)) = run(&Cipher::quick(none, None, 1)).0 else { panic!() };
    assert!(error.to_string().contains("`/nowhere/steadfast`"), "{error}");
}

#[test]
fn a_file_of_half_a_block_is_refused() {
    let worker = WorkerCommand { program: "/bin/cat".into(), arguments: Vec::new() };
    let task = Task { len_bytes: 1001, ..Task::quick(".".into()) };
    let Err(End::Failed(error)) = run(&Cipher::quick(worker, Some(task), 1)).0 else { panic!() };
    assert!(error.to_string().contains("multiple of 16"), "{error}");
}

/// A series whose rounds take so many nanoseconds each for a million.
fn series(algorithm: &str, stage: Stage, isa: Isa, in_file: bool, elapsed_ns: u64) -> Series {
    let sample = |round: u32| Sample {
        round,
        amount: 1_000_000,
        elapsed_ns: elapsed_ns + u64::from(round % 2),
        ..Sample::default()
    };
    Series {
        workload: record::Workload::Cipher,
        label: String::new(),
        method: String::new(),
        factors: Factors {
            stage: Some(stage),
            algorithm: Some(algorithm.into()),
            isa: Some(isa),
            capabilities: Some("00000000".into()),
            ..Factors::default()
        },
        unit: Unit::Bytes,
        seed: Some(3),
        place: in_file.then_some(0),
        samples: (0..6).map(sample).collect(),
        stated: None,
    }
}

fn made(all: Vec<Series>) -> Record {
    let stop = AtomicBool::new(false);
    let mut unwatched = Unwatched;
    let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut unwatched);
    for series in all {
        session.add_series(series);
    }
    session.end(None)
}

#[test]
fn a_gain_is_put_down_to_instructions_that_are_used() {
    let record = made(vec![
        series("aes-256-gcm", Stage::Encrypt, Isa::Full, false, 100_000),
        series("aes-256-gcm", Stage::Encrypt, Isa::NoAes, false, 3_000_000),
        series("dsa-1024", Stage::Sign, Isa::Full, false, 100_000),
        series("dsa-1024", Stage::Sign, Isa::NoAes, false, 1_400_000),
    ]);
    let figures = figures::cipher::of(&record).unwrap();
    let [aes, dsa] = figures.rows.as_slice() else { panic!("{figures:?}") };
    let [aes, dsa] = [aes, dsa].map(|row| row.gain(Isa::NoAes).unwrap());
    assert!((aes.gain.value - 30.0).abs() < 0.01 && aes.by_instructions);
    // DSA multiplies: whatever made it 14 times as fast, instructions for AES did not.
    assert!((dsa.gain.value - 14.0).abs() < 0.01 && !dsa.by_instructions);
    let (isa, untouched) = figures.untouched()[0];
    assert!(isa == Isa::NoAes && (untouched - 14.0).abs() < 0.01, "said to be doubtful");
    assert!(uses("sha256").sha && !uses("sha256").aes && !uses("rsa-2048").sha);
    assert!(uses("aes-128-gcm").carry_less && !uses("aes-128-ctr").carry_less);
}

#[test]
fn the_account_explains_why_a_task_gains_less() {
    // A twentieth of 550 is left beside 450 of other work: 1000 → 477.5.
    let record = made(vec![
        series("aes-256-cbc", Stage::Encrypt, Isa::Full, false, 50_000),
        series("aes-256-cbc", Stage::Encrypt, Isa::NoAes, false, 1_000_000),
        series("aes-256-cbc", Stage::EncryptFile, Isa::Full, true, 4_775_000),
        series("aes-256-cbc", Stage::Encrypt, Isa::Full, true, 275_000),
        series("aes-256-cbc", Stage::EncryptFile, Isa::NoAes, true, 10_000_000),
        series("aes-256-cbc", Stage::Encrypt, Isa::NoAes, true, 5_500_000),
    ]);
    let figures = figures::cipher::of(&record).unwrap();
    assert_eq!((figures.rows.len(), figures.tasks.len()), (1, 2));
    let account = figures.account().unwrap();
    assert!((account.kernel_gain.value - 20.0).abs() < 0.01);
    assert!((account.task_gain.value - 10.0 / 4.775).abs() < 0.01);
    let amdahl = account.amdahl.unwrap();
    assert!((amdahl.share - 0.55).abs() < 0.001, "{amdahl:?}");
    assert!((account.measured_share.unwrap().value - 0.55).abs() < 0.001);
    assert!((amdahl.limit() - 1.0 / 0.45).abs() < 0.01);
}
