//! Tests the Python package that runs shards on Dask: installs it as a user would, checks its
//! types, and runs its tests with the present command.
//!
//! The package has a separate environment, which is made again when its files change. The tests
//! start workers and kill them; as root they also mount a small disk. Must not know what the tests
//! check.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use super::{Session, skipped, steps};

/// The folder of the package.
const PACKAGE: &str = "fleet";

/// Installs the package, checks its types and runs its tests.
pub(super) fn fleet(session: &mut Session) -> anyhow::Result<()> {
    if session.lacks(&["python3"]) {
        return Ok(());
    }
    let folder = session.root.join(".venv-fleet");
    let package = session.root.join(PACKAGE);
    environment(&folder, &package)?;
    let python = |arguments: &[&str]| {
        let mut command = Command::new(folder.join("bin/python3"));
        // The build must not write beside the sources in the repository.
        command.args(arguments).current_dir(&package).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    steps::succeed(&mut python(&["-m", "mypy", "--cache-dir=/dev/null"]))?;
    let mut tests = python(&["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    tests.env("STEADFAST", steps::trial(session)?);
    let record = skipped::Record::begin(&steps::target_folder(session)?, "fleet", &mut tests)?;
    let outcome = steps::succeed(&mut tests);
    session.counts.skipped += record.finish(session.gaps.get_mut())?;
    outcome
}

/// Sets up the environment unless it exists and was made of these files.
fn environment(folder: &Path, package: &Path) -> anyhow::Result<()> {
    let stamp = folder.join("package");
    let mut wanted = fs::read_to_string(package.join("pyproject.toml"))?;
    let mut sources = Vec::new();
    for entry in fs::read_dir(package.join("src/steadfast_fleet"))? {
        sources.push(entry?.path());
    }
    sources.retain(|source| source.is_file());
    sources.sort();
    for source in &sources {
        wanted += &fs::read_to_string(source)?;
    }
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    if !folder.join("bin/python3").exists() {
        steps::succeed(Command::new("python3").args(["-m", "venv"]).arg(folder))
            .context("making a virtual environment (Debian: python3-venv)")?;
    }
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let mut install = Command::new(folder.join("bin/python3"));
    install.args(pip).arg(format!("{}[test]", package.display()));
    steps::succeed(&mut install)?;
    // Changed files with the same version are not installed again without this.
    let mut again = Command::new(folder.join("bin/python3"));
    steps::succeed(again.args(pip).args(["--force-reinstall", "--no-deps"]).arg(package))?;
    fs::write(&stamp, wanted).with_context(|| format!("writing `{}`", stamp.display()))
}
