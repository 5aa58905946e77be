//! Mutation tests: repeats with `cargo mutants` what xtask/MUTANTS.md records.
//!
//! In: arguments for `cargo mutants`, such as `--shard 0/8` or `--re NAME`. Out: its output and its
//! verdict. It takes hours, so it is not a step of `test`. Must not know the tests.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

/// The version of `cargo mutants` with which the record was made.
const VERSION: &str = "27.1.0";

/// What is mutated: verdicts, tags, stores and the verbs.
const FILES: &[&str] = &[
    "crates/steadfast/src/verdict.rs",
    "crates/steadfast/src/reference.rs",
    "crates/steadfast/src/reference/**",
    "crates/manifest/src/tag.rs",
    "crates/manifest/src/foreign.rs",
    "crates/manifest/src/foreign/**",
    "crates/steadfast/src/store.rs",
    "crates/steadfast/src/store/**",
    "crates/steadfast/src/run.rs",
    "crates/steadfast/src/run/**",
];

/// What is not mutated: regular expressions on a mutant's name, as `cargo mutants` takes them.
const EXCLUDED: &[&str] = &[
    // The output of `Debug` is not behaviour.
    "impl fmt::Debug for",
];

/// The packages that have the files.
const PACKAGES: &[&str] = &["steadfast", "steadfast-manifest"];

/// The packages whose tests must catch the mutants. Many verbs are tested through the command.
const TESTED: &[&str] = &["steadfast", "steadfast-manifest", "steadfast-trial"];

/// Time limit for the tests of one mutant: several times the time of the unchanged tests.
const TIMEOUT_S: u32 = 900;

/// Runs `cargo mutants` in the tree. Returns `Ok(false)` if a mutant survived.
///
/// Mutants are made in the tree itself, not in a copy, so that all of them share the build folder.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<bool> {
    let version = Command::new(crate::cargo()).args(["mutants", "--version"]).output();
    let version = version.context("running cargo")?;
    ensure!(
        version.status.success(),
        "cargo-mutants is not installed: `cargo install cargo-mutants --locked --version {VERSION}`"
    );
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    if !version.ends_with(VERSION) {
        println!("{version}: the record in xtask/MUTANTS.md was made with {VERSION}");
    }
    let mut command = Command::new(crate::cargo());
    command.current_dir(root).args(flags()).args(arguments);
    let status = command.status().context("running cargo mutants")?;
    Ok(status.success())
}

/// The arguments that `cargo mutants` always gets.
fn flags() -> Vec<String> {
    let mut flags: Vec<String> =
        ["mutants", "--in-place", "--no-shuffle", "--baseline=skip"].map(str::to_owned).into();
    flags.push(format!("--timeout={TIMEOUT_S}"));
    flags.push("--output=target".to_owned());
    flags.extend(PACKAGES.iter().map(|package| format!("--package={package}")));
    flags.push(format!("--test-package={}", TESTED.join(",")));
    flags.extend(FILES.iter().map(|file| format!("--file={file}")));
    flags.extend(EXCLUDED.iter().map(|name| format!("--exclude-re={name}")));
    // The unit tests and the integration binary of each package.
    flags.extend(["--cargo-test-arg=--lib", "--cargo-test-arg=--test=it"].map(str::to_owned));
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for file in FILES {
            let path = root.join(file.trim_end_matches("/**"));
            assert!(path.exists(), "{file}: nothing is there to be mutated");
        }
    }

    #[test]
    fn every_file_and_package_is_named_to_the_tool() {
        let flags = flags();
        assert_eq!(flags.iter().filter(|flag| flag.starts_with("--file=")).count(), FILES.len());
        assert!(
            flags.contains(
                &"--test-package=steadfast,steadfast-manifest,steadfast-trial".to_owned()
            )
        );
    }
}
