//! What the drives beneath a folder, their arrays and their file system say of their own failures.
//!
//! Takes a volume; returns findings in words. Nothing here judges a file: a drive that counts
//! errors is a reason to look, and one that counts none proves nothing. Each source has a file that
//! parses it, and is asked only if it is there.

mod counters;
mod kernel_log;
mod smart;
mod zpool;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use steadfast::beneath;
use steadfast_sys::machine;
use steadfast_sys::storage::{Layer, Volume, volume};

/// The longest answer of a program that is read: a long SMART report has some 100 kB.
const ANSWER_LEN_MAX: u64 = 4 << 20;

/// How often to look whether a program has ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Something that a drive, an array or a file system counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DriveFinding {
    /// Its name in documents: `unreadable_sectors`.
    pub key: &'static str,
    /// How many.
    pub count: u64,
    /// Whether files on it are in danger: the drive fails, is worn out, or has lost data.
    pub danger: bool,
    /// What it is and what to do, in words.
    pub text: String,
}

/// What is known of a drive, an array or a file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DriveReport {
    /// Its name: `sda`, `md0`, `btrfs`, the name of a pool.
    pub name: String,
    /// The model, by its maker.
    pub model: Option<String>,
    /// What was asked and answered: `smartctl`, `kernel log`, `sysfs`, `zpool`.
    pub sources: Vec<&'static str>,
    /// What it counts.
    pub findings: Vec<DriveFinding>,
}

impl DriveReport {
    /// Returns the findings by which files are in danger.
    pub fn dangers(&self) -> impl Iterator<Item = &DriveFinding> {
        self.findings.iter().filter(|finding| finding.danger)
    }

    /// Returns what it counts, a line for each finding, or that it counts nothing.
    pub fn lines(&self) -> Vec<String> {
        let Self { name, findings, .. } = self;
        match findings.is_empty() {
            true => vec![format!("{name}: counts no errors ({})", self.sources.join(", "))],
            false => findings.iter().map(|one| format!("{name}: {}", one.text)).collect(),
        }
    }
}

/// Where drives are asked.
#[derive(Clone, Debug)]
pub struct DriveProbe {
    /// The mount of sysfs.
    pub sys: PathBuf,
    /// The folders in which `smartctl` and `zpool` are looked for.
    pub programs: Vec<PathBuf>,
    /// How long each program may take.
    pub time_limit: Duration,
}

impl Default for DriveProbe {
    fn default() -> DriveProbe {
        let folders = ["/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin", "/opt/homebrew/sbin"];
        DriveProbe {
            sys: "/sys".into(),
            programs: folders.map(PathBuf::from).to_vec(),
            time_limit: Duration::from_secs(10),
        }
    }
}

impl DriveProbe {
    /// Asks about everything beneath a folder. Empty if nothing is known, as of a network.
    pub fn of_folder(&self, folder: &Path) -> Vec<DriveReport> {
        volume(folder).map(|volume| self.of_volume(&volume)).unwrap_or_default()
    }

    /// Asks about everything beneath a volume.
    pub fn of_volume(&self, volume: &Volume) -> Vec<DriveReport> {
        let mut reports: Vec<DriveReport> = Vec::new();
        // Read once, for all drives.
        let log = machine::kernel_log();
        for layer in &volume.layers {
            if reports.iter().all(|report| report.name != layer.name) {
                reports.push(self.of_layer(layer, log.as_deref()));
            }
        }
        let names: Vec<&str> = volume.layers.iter().map(|layer| layer.name.as_str()).collect();
        match volume.file_system.as_str() {
            "btrfs" => reports.extend(counters::btrfs(&self.sys, &names)),
            "zfs" => {
                let answer = self.answer("zpool", &["status", "-p"]);
                reports.extend(answer.map(|text| zpool::parse(&text)).unwrap_or_default());
            }
            _ => {}
        }
        reports.retain(|report| !report.sources.is_empty());
        reports
    }

    fn of_layer(&self, layer: &Layer, log: Option<&str>) -> DriveReport {
        let mut report = DriveReport {
            name: layer.name.clone(),
            model: layer.model.clone(),
            ..DriveReport::default()
        };
        let block = self.sys.join("block").join(&layer.name);
        let mut add = |source: &'static str, findings: Vec<DriveFinding>| {
            report.sources.push(source);
            report.findings.extend(findings);
        };
        if beneath::is_folder(&block.join("md")) {
            add("sysfs", counters::md(&block.join("md")));
        }
        if layer.made_up {
            return report;
        }
        // A drive that sleeps is not woken for this.
        let device = format!("/dev/{}", layer.name);
        let words = [
            "--json=c",
            "-i",
            "-H",
            "-A",
            "-l",
            "error",
            "-l",
            "selftest",
            "-n",
            "standby,0",
            &device,
        ];
        let answer = self.answer("smartctl", &words);
        if let Some(findings) = answer.and_then(|text| smart::parse(&text)) {
            add("smartctl", findings);
        }
        if let Some(log) = log {
            add("kernel log", kernel_log::parse(log, &layer.name));
        }
        report
    }

    /// Returns what a program of the system writes to stdout. It is never looked for in `PATH`, and
    /// its status is not used: `smartctl` sets bits for what it found.
    fn answer(&self, name: &str, words: &[&str]) -> Option<String> {
        let paths = self.programs.iter().map(|folder| folder.join(name));
        let program = paths.into_iter().find(|path| beneath::is_file(path))?;
        let mut command = Command::new(program);
        command.args(words).env_clear().env("LC_ALL", "C").env("PATH", "/usr/sbin:/usr/bin");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let pipe = child.stdout.take()?;
        let reader = thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.take(ANSWER_LEN_MAX).read_to_end(&mut bytes).map(|_| bytes)
        });
        let begun = Instant::now();
        while child.try_wait().ok()?.is_none() {
            if begun.elapsed() > self.time_limit {
                // What it started may keep the pipe open, so the reader is left alone.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            thread::sleep(LOOK_EVERY);
        }
        let bytes = reader.join().ok()?.ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Makes a finding, if there is anything to say.
fn finding(key: &'static str, count: u64, text: impl Into<String>) -> Option<DriveFinding> {
    (count > 0).then(|| DriveFinding { key, count, danger: false, text: text.into() })
}

/// Makes a finding by which files are in danger, if there is anything to say.
fn danger(key: &'static str, count: u64, text: impl Into<String>) -> Option<DriveFinding> {
    finding(key, count, text).map(|found| DriveFinding { danger: true, ..found })
}

/// Words a number with its noun.
fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Reads a file of the kernel that holds one number.
fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}
