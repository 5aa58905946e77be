//! No bytes make a parser of manifests panic, run without end or say what it cannot stand by.
//!
//! Every frozen sample is changed some thousand times, the same way in every run; then on with
//! other changes until `STEADFAST_FUZZ_SECONDS` (2 by default) are over.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use steadfast_manifest::parts::Division;
use steadfast_manifest::{Format, Record, algorithm_hint, read};

use crate::documents::{documents, write};
use crate::fixtures::{Random, Sample, mutated};

/// Reads a document to its end and checks what it says.
fn try_document(format: Format, name: &Path, bytes: &[u8]) {
    let mut records: Vec<Record> = Vec::new();
    let mut items = 0;
    for found in read(format, algorithm_hint(name), bytes) {
        items += 1;
        assert!(items <= bytes.len() + 2, "more records than bytes");
        match found {
            Ok(mut record) => {
                if let Some(parts) = record.parts.take() {
                    assert_eq!(parts.digest.as_bytes().len(), parts.algorithm.digest_len());
                    assert!((1..=1 + Division::COUNT_MAX).contains(&parts.divisions.len()));
                }
                for (algorithm, digest) in &record.digests {
                    assert_eq!(digest.as_bytes().len(), algorithm.digest_len());
                }
                records.push(record);
            }
            Err(fault) => assert!(!fault.to_string().is_empty()),
        }
    }
    let rewritten = write(Format::Steadfast, &records);
    let again: Result<Vec<Record>, _> = read(Format::Steadfast, None, &rewritten[..]).collect();
    assert_eq!(again.as_ref(), Ok(&records));
}

fn try_mutation(number: usize, all: &[Sample], random: &mut Random) {
    let Sample { file, name, format, bytes: sample } = &all[number];
    let name = Path::new(name);
    let bytes = mutated(sample, all, random);
    let other = *random.pick(Format::ALL);
    let format = if random.below(8) == 0 { other } else { *format };
    let tried = catch_unwind(AssertUnwindSafe(|| {
        let _ = Format::detect(name, &bytes);
        try_document(format, name, &bytes);
    }));
    if let Err(panic) = tried {
        eprintln!("{format} fails on a changed {file}: b\"{}\"", bytes.escape_ascii());
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn changed_documents_are_read_without_panic_or_end() {
    let seconds = std::env::var("STEADFAST_FUZZ_SECONDS").ok();
    let seconds = seconds.map_or(2, |text| text.parse().expect("a number of seconds"));
    let end = Instant::now() + Duration::from_secs(seconds);
    let all = documents();
    std::thread::scope(|scope| {
        for part in 0..2 {
            let all = &all;
            scope.spawn(move || {
                let mut random = Random::new(0x5ead_fa57 + part as u64);
                let mine = (0..all.len()).filter(|number| number % 2 == part);
                for number in mine {
                    for _ in 0..20_000 {
                        try_mutation(number, all, &mut random);
                    }
                }
                while Instant::now() < end {
                    let number = random.below(all.len());
                    try_mutation(number, all, &mut random);
                }
            });
        }
    });
}

#[test]
fn arbitrary_bytes_are_read_without_panic_or_end() {
    let mut random = Random::new(21);
    for _ in 0..2_000 {
        let len = random.below(200);
        let limit = *random.pick(&[4, 128, 256]);
        let bytes: Vec<u8> = (0..len).map(|_| random.below(limit) as u8).collect();
        for &format in Format::ALL {
            try_document(format, Path::new("x"), &bytes);
        }
        let _ = Format::detect(Path::new("x"), &bytes);
    }
}
