//! What the tests of all crates share: skipping by name, bounds of time, and files that several of
//! them make.
//!
//! A test that returns early passes, and the harness hides what a passing test prints. So each
//! such test calls [`skip`]. It adds a line to the file that `cargo xtask test` counts and prints,
//! which fails on a machine of CI; without that file it prints the test's name past the harness.
#![forbid(unsafe_code)]

use std::env;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The file that takes one line for each skipped test.
const SKIPPED: &str = "STEADFAST_SKIPPED_TESTS";

/// Something that a test needs and a machine may lack.
///
/// `cargo xtask test` compares the text of `Display` with its list of tolerated skips. So the text
/// of a need is the same on every machine, and details go into the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need<'a> {
    /// A program on the search path.
    Program(&'a str),
    /// Root's rights, with the tools and kernel features to use them, such as mounting.
    Root,
    /// A feature of the kernel, the file system or the processor.
    System(&'a str),
    /// A published artifact that `cargo xtask test --only fixtures` fetches.
    Fixture(&'a str),
}

impl fmt::Display for Need<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Program(name) => write!(f, "program {name}"),
            Need::Root => write!(f, "root"),
            Need::System(what) => write!(f, "system {what}"),
            Need::Fixture(name) => write!(f, "fixture {name}"),
        }
    }
}

/// Records that the running test, or the rest of it, is skipped, and why.
pub fn skip(need: Need<'_>, why: impl fmt::Display) {
    record(need, &why.to_string(), env::var_os(SKIPPED).map(PathBuf::from).as_deref());
}

/// Finds a program on the search path; records a skip and returns `None` if it is absent.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join(name)).find(|at| at.is_file());
    if found.is_none() {
        skip(Need::Program(name), "it is not on PATH");
    }
    found
}

/// Whether what began then has taken at most as long as it may on an idle machine. On a busy one,
/// or for a process of low priority, it may take longer, by as much as a computation does here and
/// now.
pub fn took_at_most(begun: Instant, limit: Duration) -> bool {
    let elapsed = begun.elapsed();
    elapsed <= limit || elapsed.as_secs_f64() <= limit.as_secs_f64() * slowness()
}

/// How much longer than its processor time a computation takes.
fn slowness() -> f64 {
    const WORK_S: f64 = 0.02;
    let processor_s = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let (begun, before) = (Instant::now(), processor_s());
    while processor_s() - before < WORK_S {}
    begun.elapsed().as_secs_f64() / WORK_S
}

/// Makes an AppleDouble file with a tag of ours: a header, one entry of Finder information, and
/// after that the attributes.
pub fn appledouble(value: &[u8]) -> Vec<u8> {
    const NAME: &[u8] = b"org.steadfast.tag#S\0";
    const FINDER_START: usize = 38;
    const ATTRIBUTES_START: usize = FINDER_START + 34;
    let data_start = ATTRIBUTES_START + 36 + (11 + NAME.len()).next_multiple_of(4);
    let total = data_start + value.len();
    let mut bytes = vec![0, 5, 0x16, 7, 0, 2, 0, 0];
    let words = |bytes: &mut Vec<u8>, numbers: &[usize]| {
        numbers.iter().for_each(|number| bytes.extend((*number as u32).to_be_bytes()));
    };
    bytes.extend(b"Mac OS X        \x00\x01");
    words(&mut bytes, &[9, FINDER_START, total - FINDER_START]);
    bytes.resize(ATTRIBUTES_START, 0);
    bytes.extend(b"ATTR");
    words(&mut bytes, &[7, total, data_start, value.len(), 0, 0, 0]);
    bytes.extend([0, 0, 0, 1]);
    words(&mut bytes, &[data_start, value.len()]);
    bytes.extend([0, 0, NAME.len() as u8]);
    bytes.extend(NAME);
    bytes.resize(data_start, 0);
    bytes.extend(value);
    bytes
}

fn record(need: Need<'_>, why: &str, file: Option<&Path>) {
    // The harness names each test's thread after the test.
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    match file {
        Some(file) => append(file, &format!("{need}\t{package}\t{test}\t{why}\n"))
            .expect("the record of skipped tests can be written"),
        None => {
            let line = format!("SKIPPED {package} {test}: needs {need}: {why}\n");
            // Written directly, because the harness captures what passing tests print by macro.
            let _ = io::stderr().write_all(line.as_bytes());
        }
    }
}

/// Appends in one write, so that lines of simultaneous tests do not mix.
fn append(file: &Path, line: &str) -> io::Result<()> {
    File::options().append(true).create(true).open(file)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_holds_for_an_idle_machine() {
        let begun = Instant::now();
        assert!(slowness() >= 1.0);
        assert!(took_at_most(begun, Duration::from_secs(3600)));
        assert!(!took_at_most(begun, Duration::ZERO));
    }

    #[test]
    fn each_skip_is_one_line_of_the_record() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("skipped");
        record(Need::Root, "mount:\n\tnot permitted\n", Some(&file));
        record(Need::System("io_uring"), "forbidden", Some(&file));
        let lines = std::fs::read_to_string(file).expect("the record is there");
        let lines: Vec<Vec<&str>> = lines.lines().map(|line| line.split('\t').collect()).collect();
        let test = "tests::each_skip_is_one_line_of_the_record";
        assert_eq!(lines[0][..], ["root", "steadfast-testing", test, "mount: not permitted"]);
        assert_eq!(lines[1][..], ["system io_uring", "steadfast-testing", test, "forbidden"]);
        assert_eq!(lines.len(), 2);
    }
}
