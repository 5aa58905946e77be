//! Everything that a release consists of, made on a Linux machine.
//!
//! In: a folder, by `--out`. Out: programs for Linux and macOS in archives and packages, recipes
//! for package managers, the list of components, the notices of third parties, and the digests of
//! all of these. `--verify` unpacks and tries what is in the folder, in roots of its own.

mod build;
mod components;
mod image;
mod inspect;
mod linux;
mod notices;
mod recipes;
mod staging;
mod verify;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::test::{is_ready, metadata, set_up_cross_linker};

/// Programs that packages are made with, and their Debian packages.
const TO_MAKE: [(&str, &str); 4] =
    [("python3", "python3-venv"), ("dpkg-deb", "dpkg"), ("rpmbuild", "rpm"), ("gzip", "gzip")];

/// What is made, and from what.
struct Release {
    root: PathBuf,
    out: PathBuf,
    /// For what is unpacked and removed again.
    scratch: PathBuf,
    version: String,
    repository: String,
    /// Seconds since 1970 of the commit: the time of every packed file.
    made_s: String,
    metadata: serde_json::Value,
}

/// Makes a release, or verifies one that was made.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<bool> {
    let options = PackageOptions::parse(arguments)?;
    let release = Release::of(root, Path::new(&options.out))?;
    let outcome = if options.verify { verify::verify(&release) } else { release.make(&options) };
    fs::remove_dir_all(&release.scratch).context("removing the scratch folder")?;
    outcome.map(|()| true)
}

/// The options of the command line.
#[derive(Debug, PartialEq)]
struct PackageOptions {
    out: String,
    verify: bool,
    /// Whether to take the programs of an earlier build.
    no_build: bool,
    targets: Vec<&'static str>,
}

impl PackageOptions {
    fn parse(arguments: &[String]) -> anyhow::Result<PackageOptions> {
        const USAGE: &str =
            "usage: cargo xtask package --out DIR [--no-build] [--verify] [--target TARGET]...";
        let (mut out, mut verify, mut no_build, mut targets) = (None, false, false, Vec::new());
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--out" => out = words.next().cloned(),
                "--verify" => verify = true,
                "--no-build" => no_build = true,
                "--target" => {
                    let wanted = words.next().map_or("", String::as_str);
                    let known = build::TARGETS.iter().find(|target| **target == wanted);
                    let known = known.with_context(|| {
                        format!("packages are made for {}", build::TARGETS.join(", "))
                    })?;
                    targets.push(*known);
                }
                _ => bail!(USAGE),
            }
        }
        if targets.is_empty() {
            targets.extend(build::TARGETS);
        }
        Ok(PackageOptions { out: out.context(USAGE)?, verify, no_build, targets })
    }
}

impl Release {
    fn of(root: &Path, out: &Path) -> anyhow::Result<Release> {
        fs::create_dir_all(out).with_context(|| format!("making `{}`", out.display()))?;
        let platforms = build::COMPILED_FOR.map(|target| format!("--filter-platform={target}"));
        let metadata = metadata(root, &platforms.each_ref().map(String::as_str))?;
        let packages = metadata["packages"].as_array().context("cargo lists no packages")?;
        let cli = packages.iter().find(|package| package["name"] == "steadfast-cli");
        let cli = cli.context("there is no package `steadfast-cli`")?;
        let stated = |key: &str| cli[key].as_str().map(str::to_owned).context("not stated");
        let (version, repository) = (stated("version")?, stated("repository")?);
        let mut git = Command::new("git");
        git.args(["log", "-1", "--format=%ct"]).current_dir(root);
        let out = out.canonicalize()?;
        let scratch =
            std::env::temp_dir().join(format!("steadfast-package-{}", std::process::id()));
        fs::create_dir(&scratch).with_context(|| format!("making `{}`", scratch.display()))?;
        let made_s = printed(&mut git)?;
        Ok(Release { root: root.to_owned(), out, scratch, version, repository, made_s, metadata })
    }

    fn make(&self, options: &PackageOptions) -> anyhow::Result<()> {
        require(&TO_MAKE)?;
        set_up_cross_linker(&self.root)?;
        let notices = notices::write(self)?;
        components::write(self)?;
        let programs = build::programs(self, options)?;
        let manual = build::manual(self)?;
        for (target, program) in &programs {
            let folder = staging::archive(self, target, program, &manual, &notices)?;
            if let Some(machine) = linux::Machine::of(target) {
                linux::deb(self, machine, &folder)?;
                linux::rpm(self, machine, &folder)?;
                image::write(self, machine, program, &notices)?;
                wheel::write(self, machine, program)?;
            }
        }
        recipes::write(self)?;
        self.write_sums()
    }

    /// Writes the digests of everything in the folder.
    fn write_sums(&self) -> anyhow::Result<()> {
        let sums = "find . -type f ! -name SHA256SUMS -printf '%P\\n' | LC_ALL=C sort \
                    | xargs -d '\\n' sha256sum > SHA256SUMS";
        succeed(Command::new("sh").args(["-c", sums]).current_dir(&self.out))
    }

    /// The beginning of the names of archives.
    fn name(&self, target: &str) -> String {
        format!("steadfast-{}-{target}", self.version)
    }
}

/// Fails if a program is missing: before anything is compiled, which takes long.
fn require(programs: &[(&str, &str)]) -> anyhow::Result<()> {
    let absent = programs.iter().filter(|(program, _)| !is_ready(program));
    let absent: Vec<_> =
        absent.map(|(program, package)| format!("{program} (Debian: {package})")).collect();
    ensure!(absent.is_empty(), "install these first: {}", absent.join(", "));
    Ok(())
}

/// Runs a command, and fails if it does. Its output is shown then.
fn succeed(command: &mut Command) -> anyhow::Result<()> {
    printed(command).map(drop)
}

/// Runs a command, and returns what it prints, without space around it.
fn printed(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("running {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} gave {}: {said}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_are_missing_are_named() {
        assert!(require(&[("sh", "dash")]).is_ok());
        let error = require(&[("sh", "dash"), ("no-such-program", "none")]).unwrap_err();
        assert_eq!(error.to_string(), "install these first: no-such-program (Debian: none)");
    }

    #[test]
    fn options_name_a_folder_and_known_targets() {
        let parse = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            PackageOptions::parse(&words)
        };
        let all = parse("--out d").unwrap();
        assert_eq!((all.out.as_str(), all.verify), ("d", false));
        assert_eq!(all.targets, build::TARGETS);
        let one = parse("--target aarch64-unknown-linux-musl --out d").unwrap();
        assert_eq!(one.targets, ["aarch64-unknown-linux-musl"]);
        for line in ["", "--verify", "--out", "--out d --target", "--out d --target riscv", "x"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
