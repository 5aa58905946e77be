//! Plans a job of files that do not exist, to see what planning takes: memory, time, bytes on disk.
//!
//! `cargo run --release --package steadfast-fleet --example simulate -- FILES FOLDER [scattered]`
//! makes a job in FOLDER, which must not exist, and prints what it took. Files have names, lengths
//! and SHA-256 digests as an archive's have; `scattered` hands them over in no order.

#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use steadfast::manifest::{Mtime, Record, Step};
use steadfast::{Algorithm, Digest, Options, Skipped, Timestamp};
use steadfast_fleet::{By, Error, JobFile, JobSource, PlanOptions, SourceItem, SourceSink, plan};

/// Files of one folder.
const FOLDER_FILES: u64 = 500;

struct Invented {
    root: PathBuf,
    files: u64,
    scattered: bool,
}

impl JobSource for Invented {
    fn root(&self) -> &Path {
        &self.root
    }

    fn by(&self) -> By {
        By::Manifest
    }

    fn each(&mut self, _: &AtomicBool, sink: &mut SourceSink<'_>) -> Result<Skipped, Error> {
        for number in 0..self.files {
            // A prime beyond any number of files: each number comes once.
            let number = match self.scattered {
                true => (u128::from(number) * 1_000_000_007 % u128::from(self.files)) as u64,
                false => number,
            };
            sink(SourceItem::File(entry(number)))?;
        }
        Ok(Skipped::default())
    }
}

/// What a file would be. Its length is from 0 to 4 MB, 1 MB on average.
fn entry(number: u64) -> JobFile {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut digest = [0; 32];
    for (at, bytes) in digest.chunks_mut(8).enumerate() {
        bytes.copy_from_slice(&mixed.rotate_left(at as u32 * 7).to_le_bytes());
    }
    let share = (mixed >> 32) % 1_000;
    let length = 4_000_000 * share * share / 1_333_333;
    let folder = number / FOLDER_FILES;
    let path = format!(
        "archive/{:04}/{:05}/IMG_{:04}.tiff",
        folder / 1_000,
        folder % 1_000,
        number % FOLDER_FILES
    );
    let time = Timestamp { seconds: 1_700_000_000 + number as i64, nanoseconds: 123_456_789 };
    JobFile {
        record: Record {
            path: path.into(),
            digests: vec![(Algorithm::Sha256, Digest::from_slice(&digest).expect("32 bytes"))],
            length: Some(length),
            mtime: Some(Mtime { time, step: Step::Nanosecond }),
            tagged: Some(Timestamp { seconds: 1_710_000_000, nanoseconds: 0 }),
        },
        device: 1 + folder / 20_000,
        bytes: length,
        checked_s: None,
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let [_, files, folder, further @ ..] = &words[..] else { panic!("FILES FOLDER [scattered]") };
    let files: u64 = files.parse().expect("FILES is a number");
    let scattered = further.first().is_some_and(|word| word == "scattered");
    let mut source = Invented { root: "/".into(), files, scattered };
    let options = PlanOptions::new((Options::default().now)());
    let begun = Instant::now();
    let mut gathered = 0.0;
    let planned =
        plan(&mut source, Path::new(folder), &options, &AtomicBool::new(false), &mut |done| {
            if done.written == 0 {
                gathered = begun.elapsed().as_secs_f64();
            }
        })
        .expect("the job is planned");
    let header = planned.job.header();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("").to_owned();
    println!(
        "files {} bytes {} shards {} cost {:?} gathered_s {gathered:.1} seconds {:.1} {peak}",
        header.files,
        header.bytes,
        header.shards,
        planned.cost_bytes,
        begun.elapsed().as_secs_f64()
    );
}
