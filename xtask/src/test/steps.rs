//! The steps, each of one or two commands, in the order in which they run.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::{Session, setup, skipped};

/// Names the backends that must be tested; a run without one of them fails.
const REQUIRE_BACKENDS: &str = "STEADFAST_REQUIRE_BACKENDS";

/// How long each parser is tested with damaged documents; 2 seconds unless set.
const FUZZ_SECONDS: &str = "STEADFAST_FUZZ_SECONDS";

/// How many tests run at a time. Most wait for programs, disks or the time, so more of them than
/// there are processors keep these busy.
const THREADS: &str = "RUST_TEST_THREADS";

/// Each backend and the processor flags of `/proc/cpuinfo` that it needs.
const BACKENDS: &[(&str, &[&str])] = &[
    ("portable", &[]),
    ("x86_shani", &["sha_ni", "ssse3", "sse4_1"]),
    ("x86_avx2", &["avx2", "bmi1", "bmi2"]),
    ("x86_avx512", &["avx512f", "avx512bw", "bmi1", "bmi2"]),
    ("aarch64_sha2", &["sha2"]),
];

const ARM: &str = "aarch64-unknown-linux-gnu";
/// Linked statically, so that the emulator needs no libraries of that architecture.
const ARM_STATIC: &str = "aarch64-unknown-linux-musl";
const MACOS: &str = "aarch64-apple-darwin";
const MACOS_INTEL: &str = "x86_64-apple-darwin";
/// Both in one file, as the wrapper of the linker makes it for a release.
pub(crate) const MACOS_UNIVERSAL: &str = "universal2-apple-darwin";
/// The oldest macOS that a build runs on: the first on Apple silicon.
pub(crate) const MACOS_OLDEST: &str = "11.0";
/// The packages with code for single systems and processors, or with tests for them.
const OF_A_SYSTEM: [&str; 4] = [
    "--package=steadfast",
    "--package=steadfast-codesign",
    "--package=steadfast-digest",
    "--package=steadfast-sys",
];
/// Those of them with code for single processors.
const OF_A_PROCESSOR: [&str; 2] = ["--package=steadfast-digest", "--package=steadfast-sys"];
/// The path at which cargo puts the command for the tests.
pub(super) const PROGRAM: &str = "debug/steadfast";
/// The path at which it puts the program of the tests, which takes the clock from the environment.
const TRIAL: &str = "debug/steadfast-trial";

pub(super) fn fmt(session: &mut Session) -> anyhow::Result<()> {
    succeed(cargo(session).args(["fmt", "--all", "--check"]))
}

pub(super) fn tidy(session: &mut Session) -> anyhow::Result<()> {
    ensure!(crate::tidy::run(&session.root)?, "the house style is broken");
    Ok(())
}

pub(super) fn bench(session: &mut Session) -> anyhow::Result<()> {
    if session.lacks(&["python3"]) {
        return Ok(());
    }
    for harness in ["bench/histories", "bench/peers", "bench/power"] {
        let tests = format!("{harness}/tests");
        let arguments = ["-m", "unittest", "discover", "-s", &tests, "-t", harness];
        succeed(Command::new("python3").args(arguments).current_dir(&session.root))?;
    }
    Ok(())
}

/// Builds the documents as a book. The step `tidy` checks its contents and links on any machine.
pub(super) fn book(session: &mut Session) -> anyhow::Result<()> {
    if session.lacks(&["mdbook"]) {
        return Ok(());
    }
    succeed(Command::new("mdbook").arg("build").current_dir(&session.root))
}

pub(super) fn clippy(session: &mut Session) -> anyhow::Result<()> {
    let clippy =
        ["clippy", "--workspace", "--all-features", "--all-targets", "--", "-D", "warnings"];
    succeed(cargo(session).args(clippy))
}

pub(super) fn doc(session: &mut Session) -> anyhow::Result<()> {
    let mut command = cargo(session);
    command
        .args(["doc", "--workspace", "--all-features", "--no-deps", "--lib"])
        .env("RUSTDOCFLAGS", "-D warnings");
    succeed(&mut command)
}

pub(super) fn host(session: &mut Session) -> anyhow::Result<()> {
    let backends = backends_of(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
    println!("backends that must be tested: {backends}");
    let mut command = cargo(session);
    command
        .args(["test", "--workspace", "--all-features", "--no-fail-fast"])
        .env(REQUIRE_BACKENDS, backends);
    if session.quick {
        // Each crate's documentation is another program to link, and few have an example to run.
        command.arg("--tests");
    } else {
        command.env(FUZZ_SECONDS, "10");
    }
    command.env("PATH", setup::search_path(&session.root)?);
    if env::var_os(THREADS).is_none() {
        command.env(THREADS, (2 * thread::available_parallelism()?.get()).to_string());
    }
    let record = skipped::Record::begin(&target_folder(session)?, "host", &mut command)?;
    let outcome = run_tests(session, &mut command);
    session.counts.skipped += record.finish(session.gaps.get_mut())?;
    outcome
}

pub(super) fn arm(session: &mut Session) -> anyhow::Result<()> {
    if session.lacks(&["qemu-aarch64"]) || setup::lacks_cross(session, &[ARM, ARM_STATIC]) {
        return Ok(());
    }
    check(session, ARM, &OF_A_PROCESSOR)?;
    let mut command = setup::cross_cargo(&session.root)?;
    command
        .args(["test", "--target", ARM_STATIC, "--package", "steadfast-digest"])
        .args(["--lib", "--tests", "--no-fail-fast"])
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", "qemu-aarch64")
        .env(REQUIRE_BACKENDS, "portable,aarch64_sha2");
    run_tests(session, &mut command)
}

/// Compiles what differs on Macs, with its tests, and links the command as the main job needs it.
/// Its companions have no code of a system, and their cipher library would take longer to compile
/// than all else.
pub(super) fn macos(session: &mut Session) -> anyhow::Result<()> {
    if setup::lacks_cross(session, &[MACOS, MACOS_INTEL]) {
        return Ok(());
    }
    check(session, MACOS, &OF_A_SYSTEM)?;
    check(session, MACOS_INTEL, &OF_A_PROCESSOR)?;
    let link = ["zigbuild", "--target", MACOS, "--package", "steadfast-cli"];
    let mut command = setup::cross_cargo(&session.root)?;
    command.args(link).args(not_run(&session.root)?);
    succeed(command.env("MACOSX_DEPLOYMENT_TARGET", MACOS_OLDEST))?;
    let program = target_folder(session)?.join(MACOS).join("debug/steadfast");
    let mut head = [0; 8];
    fs::File::open(&program)?.read_exact(&mut head)?;
    ensure!(is_for_apple_silicon(head), "`{}` is no program for a Mac", program.display());
    Ok(())
}

/// Checks packages with their tests for a system that they do not run on here.
fn check(session: &Session, target: &str, packages: &[&str]) -> anyhow::Result<()> {
    let mut command = setup::cross_cargo(&session.root)?;
    command.args(["check", "--target", target, "--all-targets"]).args(packages);
    command.args(not_run(&session.root)?);
    succeed(command.env("MACOSX_DEPLOYMENT_TARGET", MACOS_OLDEST))
}

/// Build settings for programs that are not run: nothing is optimised that the tests optimise.
fn not_run(root: &Path) -> anyhow::Result<Vec<String>> {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).context("reading `Cargo.toml`")?;
    let names = optimised(&manifest);
    let off = names.iter().map(|name| format!("--config=profile.dev.package.{name}.opt-level=0"));
    Ok(off.chain(["--config=profile.dev.debug=false".to_owned()]).collect())
}

/// The packages that a manifest optimises in the profile of the tests.
fn optimised(manifest: &str) -> Vec<&str> {
    let section = manifest.split("[profile.dev.package]\n").nth(1).unwrap_or("");
    let section = section.lines().take_while(|line| !line.starts_with('['));
    let names = section.filter(|line| line.contains("opt-level"));
    names.filter_map(|line| line.split(' ').next()).collect()
}

/// Whether a file begins as a program for Macs with 64 bits and Apple silicon (`mach-o/loader.h`).
fn is_for_apple_silicon(head: [u8; 8]) -> bool {
    head == [0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1]
}

pub(super) fn release(session: &mut Session) -> anyhow::Result<()> {
    succeed(cargo(session).args([
        "build",
        "--release",
        "--package",
        "steadfast-cli",
        "--all-features",
    ]))
}

/// The backends that a processor has, by the flags it lists.
fn backends_of(cpuinfo: &str) -> String {
    let listed = |line: &&str| line.starts_with("flags") || line.starts_with("Features");
    let line = cpuinfo.lines().find(listed).unwrap_or("");
    let has = |flag: &&str| line.split_whitespace().any(|word| word == *flag);
    let usable = BACKENDS.iter().filter(|(_, flags)| flags.iter().all(has));
    usable.map(|(name, _)| *name).collect::<Vec<_>>().join(",")
}

/// Returns the command as the tests on this machine run it. Builds it if they did not.
///
/// The arguments to cargo are those of the tests: the set of built packages decides the features of
/// shared dependencies.
pub(super) fn program(session: &Session) -> anyhow::Result<PathBuf> {
    let path = target_folder(session)?.join(PROGRAM);
    if session.is_built {
        return Ok(path);
    }
    succeed(cargo(session).args(["test", "--workspace", "--all-features", "--no-run", "--quiet"]))?;
    Ok(path)
}

/// Returns the program of the tests, under the name of the command in a folder of its own.
pub(super) fn trial(session: &Session) -> anyhow::Result<PathBuf> {
    program(session)?;
    let target = target_folder(session)?;
    let (folder, program) = (target.join("trial"), target.join("trial/steadfast"));
    fs::create_dir_all(&folder)?;
    let _ = fs::remove_file(&program);
    std::os::unix::fs::symlink(target.join(TRIAL), &program).context("linking the program")?;
    Ok(program)
}

/// The build folder of cargo, which exists.
pub(super) fn target_folder(session: &Session) -> anyhow::Result<PathBuf> {
    build_folder(&session.root)
}

/// What cargo says about the workspace, or about more, as the arguments ask.
pub(crate) fn metadata(root: &Path, arguments: &[&str]) -> anyhow::Result<Value> {
    let mut command = Command::new(crate::cargo());
    command.args(["metadata", "--format-version=1"]).args(arguments).current_dir(root);
    let output = command.output().context("running cargo metadata")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo metadata failed: {said}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The build folder of the workspace at `root`, which exists.
pub(crate) fn build_folder(root: &Path) -> anyhow::Result<PathBuf> {
    let metadata = metadata(root, &["--no-deps"])?;
    let target = metadata["target_directory"].as_str();
    let target = Path::new(target.context("cargo metadata names no target directory")?);
    fs::create_dir_all(target).with_context(|| format!("making `{}`", target.display()))?;
    Ok(target.to_path_buf())
}

/// Cargo, started at the root of the repository.
pub(super) fn cargo(session: &Session) -> Command {
    let mut command = Command::new(crate::cargo());
    command.current_dir(&session.root);
    build_once(&mut command);
    command
}

/// Turns incremental builds off if no further build follows, as on a machine of CI.
pub(super) fn build_once(cargo: &mut Command) {
    if env::var_os("CI").is_some() {
        cargo.env("CARGO_INCREMENTAL", "0");
    }
}

/// Runs a command with our own output streams.
pub(super) fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("running {}", shown(command)))?;
    ensure!(status.success(), "{} gave {status}", shown(command));
    Ok(())
}

/// Runs a command that runs tests. Passes its output on and counts its summaries.
pub(super) fn run_tests(session: &mut Session, command: &mut Command) -> anyhow::Result<()> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("running cargo")?;
    let output = child.stdout.take().context("the tests' output is not piped")?;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("reading the tests' output")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        session.counts.add_line(&line);
    }
    let status = child.wait().context("waiting for the tests")?;
    ensure!(status.success(), "{} gave {status}", shown(command));
    ensure!(session.counts.passed > 0, "no test was executed");
    Ok(())
}

/// Whether a line is the first of a program of tests. Then all of them have been built.
pub(super) fn begins_tests(line: &str) -> bool {
    line.starts_with("running ") && (line.ends_with(" tests") || line.ends_with(" test"))
}

/// Formats a command as it would be typed.
fn shown(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or(&program).to_owned();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    let words: Vec<String> = std::iter::once(name).chain(arguments).collect();
    format!("`{}`", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_follow_the_processor() {
        assert_eq!(backends_of(""), "portable");
        assert_eq!(
            backends_of("flags\t: fpu bmi1 bmi2 avx2 sha_ni ssse3 sse4_1\n"),
            "portable,x86_shani,x86_avx2"
        );
        assert_eq!(backends_of("flags\t: avx512f\n"), "portable");
        assert_eq!(backends_of("Features\t: fp asimd sha1 sha2\n"), "portable,aarch64_sha2");
    }

    #[test]
    fn packages_that_are_optimised_for_tests_are_known() {
        let manifest = "[profile.dist.package]\nz = { opt-level = 1 }\n[profile.dev.package]\n\
            \"*\" = { debug = false }\nwide = { opt-level = 3 }\n[end]\na = { opt-level = 3 }\n";
        assert_eq!(optimised(manifest), ["wide"]);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
        assert!(optimised(&manifest).contains(&"steadfast-digest"));
    }

    #[test]
    fn tests_begin_with_their_number() {
        assert!(begins_tests("running 12 tests") && begins_tests("running 1 test"));
        assert!(!begins_tests("running `rustc`") && !begins_tests("test running ... ok"));
    }

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = Command::new("/opt/bin/cargo");
        assert_eq!(shown(command.args(["fmt", "--check"])), "`cargo fmt --check`");
    }
}
