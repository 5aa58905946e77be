//! Everything that a release consists of, made on a Linux machine.
//!
//! In: a folder, by `--out`. Out: programs for Linux and macOS in archives and packages, recipes
//! for package managers, the list of components, the notices of third parties, and the digests of
//! all of these; with `--only`, packages of the named kinds alone. `--verify` unpacks and tries
//! what is in the folder, in roots of its own.

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

use crate::test::{is_ready, metadata, set_up_packages};

/// The kinds of packages, each with the program that makes it and the Debian package of that.
const KINDS: [(&str, (&str, &str)); 5] = [
    ("archive", ("gzip", "gzip")),
    ("deb", ("dpkg-deb", "dpkg")),
    ("rpm", ("rpmbuild", "rpm")),
    ("image", ("gzip", "gzip")),
    ("wheel", PYTHON),
];

/// Also sets up the cross linker.
const PYTHON: (&str, &str) = ("python3", "python3-venv");

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
    /// A program for this machine, to be packed instead of those that are built.
    program: Option<PathBuf>,
    /// The kinds of packages; empty for a whole release.
    only: Vec<&'static str>,
    targets: Vec<&'static str>,
}

impl PackageOptions {
    fn parse(arguments: &[String]) -> anyhow::Result<PackageOptions> {
        const USAGE: &str = "usage: cargo xtask package --out DIR [--only KIND]... \
                             [--target TARGET]... [--program FILE | --no-build] [--verify]";
        let (mut out, mut verify, mut no_build, mut program) = (None, false, false, None);
        let (mut only, mut targets) = (Vec::new(), Vec::new());
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--out" => out = words.next().cloned(),
                "--verify" => verify = true,
                "--no-build" => no_build = true,
                "--program" => program = Some(PathBuf::from(words.next().context(USAGE)?)),
                "--only" => {
                    let wanted = words.next().map_or("", String::as_str);
                    let known = KINDS.iter().find(|(kind, _)| *kind == wanted);
                    let kinds = KINDS.map(|(kind, _)| kind).join(", ");
                    only.push(known.with_context(|| format!("the kinds are {kinds}"))?.0);
                }
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
        if program.is_some() || (targets.is_empty() && !only.is_empty()) {
            targets = vec![build::own_target()?];
        } else if targets.is_empty() {
            targets.extend(build::TARGETS);
        }
        ensure!(program.is_none() || !only.is_empty(), "--program needs --only");
        Ok(PackageOptions { out: out.context(USAGE)?, verify, no_build, program, only, targets })
    }

    fn wants(&self, kind: &str) -> bool {
        self.only.is_empty() || self.only.contains(&kind)
    }

    /// Whether packages are made from a folder with everything for one system.
    fn is_staged(&self) -> bool {
        ["archive", "deb", "rpm"].iter().any(|kind| self.wants(kind))
    }

    fn builds(&self) -> bool {
        self.program.is_none() && !self.no_build
    }

    /// The programs that are needed.
    fn tools(&self) -> Vec<(&'static str, &'static str)> {
        let kinds = KINDS.iter().filter(|(kind, _)| self.wants(kind));
        let mut tools: Vec<_> = kinds.map(|(_, tool)| *tool).collect();
        tools.extend(self.builds().then_some(PYTHON));
        // It compresses the manual.
        tools.extend(self.is_staged().then_some(("gzip", "gzip")));
        tools
    }
}

/// Makes a package from a program for this machine, and tries it: what each run of the tests does.
pub(crate) fn make_and_try(root: &Path, out: &Path, program: &Path) -> anyhow::Result<()> {
    let options = PackageOptions {
        out: out.display().to_string(),
        verify: false,
        no_build: false,
        program: Some(program.to_owned()),
        only: vec!["deb"],
        targets: vec![build::own_target()?],
    };
    let release = Release::of(root, out)?;
    let outcome = release.make(&options).and_then(|()| verify::unpacked_deb(&release));
    fs::remove_dir_all(&release.scratch).context("removing the scratch folder")?;
    outcome
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
        require(&options.tools())?;
        if options.builds() || options.wants("wheel") {
            set_up_packages(&self.root)?;
        }
        let notices = notices::write(self)?;
        let programs = build::programs(self, options)?;
        let manual = options.is_staged().then(|| build::manual(self, options)).transpose()?;
        for (target, program) in &programs {
            self.pack(options, target, program, manual.as_deref(), &notices)?;
        }
        if options.only.is_empty() {
            staging::copy(&notices, &self.out.join(notices::NAME))?;
            components::write(self)?;
            recipes::write(self)?;
            self.write_sums()?;
        }
        Ok(())
    }

    /// Makes the packages of one program.
    fn pack(
        &self,
        options: &PackageOptions,
        target: &str,
        program: &Path,
        manual: Option<&Path>,
        notices: &Path,
    ) -> anyhow::Result<()> {
        let is_static = linux::is_static(program)?;
        let machine = linux::Machine::of(target);
        if let Some(manual) = manual {
            let folder = staging::stage(self, target, program, manual, notices)?;
            if options.wants("archive") {
                ensure!(is_static, "`{}` is not static: make a deb or an rpm", program.display());
                staging::archive(self, target)?;
            }
            match machine {
                Some(machine) if options.wants("deb") => {
                    linux::deb(self, machine, &folder, is_static)?;
                }
                _ => {}
            }
            match machine {
                Some(machine) if options.wants("rpm") => {
                    linux::rpm(self, machine, &folder, is_static)?;
                }
                _ => {}
            }
        }
        let Some(machine) = machine else { return Ok(()) };
        for kind in ["image", "wheel"].into_iter().filter(|kind| options.wants(kind)) {
            ensure!(is_static, "`{}` is not static: make a deb or an rpm", program.display());
            match kind {
                "image" => image::write(self, machine, program, notices)?,
                _ => wheel::write(self, machine, program, notices)?,
            }
        }
        Ok(())
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
        assert_eq!(all.tools().len(), 7);
        let deb = parse("--out d --only deb").unwrap();
        assert_eq!(deb.targets, [build::own_target().unwrap()]);
        let own = parse("--out d --only deb --program p").unwrap();
        assert_eq!(own.tools(), [("dpkg-deb", "dpkg"), ("gzip", "gzip")]);
        let one = parse("--target aarch64-unknown-linux-musl --out d").unwrap();
        assert_eq!(one.targets, ["aarch64-unknown-linux-musl"]);
        let wrong = ["--out d --only zip", "--out d --program p", "--out d --only deb --program"];
        for line in ["", "--verify", "--out", "--out d --target", "--out d --target riscv", "x"]
            .into_iter()
            .chain(wrong)
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
