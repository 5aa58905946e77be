//! The packages for Python: the program of an archive, and the modules of `python/`.

use std::path::Path;
use std::process::Command;

use super::linux::Machine;
use super::staging::copy;
use super::{Release, succeed};
use crate::test::search_path;

/// The systems of a static program in the words of Python: those with glibc and those with musl.
const LIBRARIES: [&str; 2] = ["manylinux_2_17", "musllinux_1_1"];

/// Makes the wheel for a machine with Linux.
pub(super) fn write(
    release: &Release,
    machine: Machine,
    program: &Path,
    notices: &Path,
) -> anyhow::Result<()> {
    let sources = release.scratch.join("python");
    let mut copied = Command::new("cp");
    succeed(copied.arg("-R").arg(release.root.join("python")).arg(&sources))?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&release.root.join(name), &sources.join(name))?;
    }
    copy(notices, &sources.join("LICENSE-THIRD-PARTY.txt"))?;
    let platforms = LIBRARIES.map(|library| format!("{library}_{}", machine.fedora)).join(".");
    let mut make = Command::new("python3");
    make.args(["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]);
    make.args(["--disable-pip-version-check", "--wheel-dir"]).arg(&release.out).arg(&sources);
    make.env("STEADFAST_PROGRAM", program).env("STEADFAST_PLATFORM", platforms);
    make.env("SOURCE_DATE_EPOCH", &release.made_s).env("PATH", search_path(&release.root)?);
    succeed(&mut make)?;
    std::fs::remove_dir_all(&sources)?;
    Ok(())
}
