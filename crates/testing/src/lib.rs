//! What the tests of all crates share: skipping by name, and files that several of them make.
//!
//! A test that returns early passes, and the harness hides what a passing test prints. So each
//! such test calls [`skip`]. Where the environment requires what is missing, `skip` panics and
//! says what to install. Otherwise it prints the test's name past the harness and adds a line to
//! the file that `cargo xtask test` counts, prints and compares with its list.
#![forbid(unsafe_code)]

use std::env;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Programs, separated by commas, without which a test fails instead of being skipped.
const REQUIRE_PEERS: &str = "STEADFAST_REQUIRE_PEERS";

/// Set where tests that need root must not be skipped.
const REQUIRE_ROOT_TESTS: &str = "STEADFAST_REQUIRE_ROOT_TESTS";

/// Set where published artifacts cannot be fetched, so that tests on them are skipped.
const OFFLINE: &str = "STEADFAST_OFFLINE";

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
///
/// # Panics
/// If the environment requires what is missing. The message says what to install.
pub fn skip(need: Need<'_>, why: impl fmt::Display) {
    Policy::of_environment().skip(need, &why.to_string());
}

/// Finds a program on the search path; records a skip and returns `None` if it is absent.
///
/// # Panics
/// If the environment requires the program.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join(name)).find(|at| at.is_file());
    if found.is_none() {
        skip(Need::Program(name), "it is not on PATH");
    }
    found
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

/// The environment's settings for tests that cannot run.
#[derive(Debug, Default)]
struct Policy {
    programs: String,
    root: bool,
    offline: bool,
    record: Option<PathBuf>,
}

impl Policy {
    fn of_environment() -> Policy {
        Policy {
            programs: env::var(REQUIRE_PEERS).unwrap_or_default(),
            root: env::var_os(REQUIRE_ROOT_TESTS).is_some(),
            offline: env::var_os(OFFLINE).is_some(),
            record: env::var_os(SKIPPED).map(PathBuf::from),
        }
    }

    /// Returns what to do about a missing requirement; `None` if it may be missing.
    fn remedy(&self, need: Need<'_>) -> Option<String> {
        match need {
            Need::Program(name) if self.programs.split(',').any(|listed| listed == name) => {
                let remedy = "install it, or run `cargo xtask test --only tools,zig` as root";
                Some(format!("{remedy}; {REQUIRE_PEERS} lists it"))
            }
            Need::Root if self.root => Some(format!(
                "run the tests as root on a machine that may mount; \
                    {REQUIRE_ROOT_TESTS} is set"
            )),
            Need::Fixture(_) if !self.offline => {
                let fetch = "run `cargo xtask test --only fixtures`, which fetches it";
                Some(format!("{fetch}, or set {OFFLINE}=1 to skip tests on fixtures"))
            }
            _ => None,
        }
    }

    fn skip(&self, need: Need<'_>, why: &str) {
        // The harness names each test's thread after the test.
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("a test");
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(remedy) = self.remedy(need) {
            panic!("{test} needs {need}: {why}. {remedy}");
        }
        let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
        let line = format!("{need}\t{package}\t{test}\t{why}\n");
        match &self.record {
            Some(file) => append(file, &line).expect("the record of skipped tests can be written"),
            None => {
                let line = format!("SKIPPED {package} {test}: needs {need}: {why}\n");
                // Written directly, because the harness captures what passing tests print by macro.
                let _ = io::stderr().write_all(line.as_bytes());
            }
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
    fn what_is_required_is_not_skipped() {
        let policy = Policy { programs: "b3sum,mtree".to_owned(), root: true, ..Policy::default() };
        let remedy = policy.remedy(Need::Program("mtree")).expect("it is required");
        assert!(remedy.contains("install it"), "{remedy}");
        assert!(policy.remedy(Need::Root).expect("it is required").contains("root"));
        assert_eq!(policy.remedy(Need::Program("tree")), None);
        assert_eq!(policy.remedy(Need::System("io_uring")), None);
        assert!(policy.remedy(Need::Fixture("P1")).expect("it is required").contains("fixtures"));
        let offline = Policy { offline: true, ..Policy::default() };
        assert_eq!(offline.remedy(Need::Fixture("P1")), None);
        assert_eq!(Policy::default().remedy(Need::Root), None);
    }

    #[test]
    #[should_panic(expected = "needs program mtree: it is not on PATH")]
    fn a_required_program_that_is_missing_fails_the_test() {
        let policy = Policy { programs: "mtree".to_owned(), ..Policy::default() };
        policy.skip(Need::Program("mtree"), "it is not on PATH");
    }

    #[test]
    fn each_skip_is_one_line_of_the_record() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("skipped");
        let policy = Policy { record: Some(file.clone()), ..Policy::default() };
        policy.skip(Need::Root, "mount:\n\tnot permitted\n");
        policy.skip(Need::System("io_uring"), "forbidden");
        let lines = std::fs::read_to_string(file).expect("the record is there");
        let lines: Vec<Vec<&str>> = lines.lines().map(|line| line.split('\t').collect()).collect();
        let test = "tests::each_skip_is_one_line_of_the_record";
        assert_eq!(lines[0][..], ["root", "steadfast-testing", test, "mount: not permitted"]);
        assert_eq!(lines[1][..], ["system io_uring", "steadfast-testing", test, "forbidden"]);
        assert_eq!(lines.len(), 2);
    }
}
