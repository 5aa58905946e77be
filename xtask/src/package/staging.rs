//! The folder with everything for one system, and its archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::{Release, notices, succeed};
use crate::test::MACOS_UNIVERSAL;

/// Files for each system: where they are in the repository, and where they go below the folder.
const EVERYWHERE: [(&str, &str); 4] = [
    ("README.md", "README.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
];
const LINUX: [(&str, &str); 4] = [
    ("share/applications/steadfast.desktop", "share/applications/steadfast.desktop"),
    ("share/applications/steadfast.svg", "share/icons/hicolor/scalable/apps/steadfast.svg"),
    ("share/systemd/steadfast-check@.service", "lib/systemd/system/steadfast-check@.service"),
    ("share/systemd/steadfast-check@.timer", "lib/systemd/system/steadfast-check@.timer"),
];
const MACOS: [(&str, &str); 3] = [
    (
        "share/macos/steadfast.workflow/Contents/Info.plist",
        "Services/steadfast.workflow/Contents/Info.plist",
    ),
    (
        "share/macos/steadfast.workflow/Contents/document.wflow",
        "Services/steadfast.workflow/Contents/document.wflow",
    ),
    ("share/macos/org.steadfast.check.plist", "LaunchAgents/org.steadfast.check.plist"),
];

/// Makes the folder for a target. Returns it.
pub(super) fn stage(
    release: &Release,
    target: &str,
    program: &Path,
    manual: &Path,
    notices: &Path,
) -> anyhow::Result<PathBuf> {
    let name = release.name(target);
    let folder = release.scratch.join(&name);
    let own: &[_] = if target == MACOS_UNIVERSAL { &MACOS } else { &LINUX };
    for (from, to) in EVERYWHERE.iter().chain(own) {
        copy(&release.root.join(from), &folder.join(to))?;
    }
    copy(program, &folder.join("bin/steadfast"))?;
    copy(notices, &folder.join(notices::NAME))?;
    succeed(Command::new("cp").arg("-R").arg(manual).arg(&folder))?;
    settle(release, &folder)?;
    Ok(folder)
}

/// Packs the folder for a target.
pub(super) fn archive(release: &Release, target: &str) -> anyhow::Result<()> {
    let name = release.name(target);
    let archive = release.out.join(&name);
    if target == MACOS_UNIVERSAL {
        // Python's module keeps the permissions of files, and is there for the cross linker.
        let mut zip = Command::new("python3");
        zip.args(["-m", "zipfile", "-c"]).arg(format!("{}.zip", archive.display())).arg(&name);
        succeed(zip.current_dir(&release.scratch))?;
    } else {
        pack(&format!("{}.tar.gz", archive.display()), &release.scratch, &[&name])?;
    }
    Ok(())
}

/// Packs parts of a folder, in the same way on every machine.
pub(super) fn pack(archive: &str, folder: &Path, parts: &[&str]) -> anyhow::Result<()> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-czf", archive]);
    succeed(tar.arg("-C").arg(folder).args(parts).env("GZIP", "-9n"))
}

/// Gives everything in a folder the same permissions and times on every machine.
pub(super) fn settle(release: &Release, folder: &Path) -> anyhow::Result<()> {
    let modes = "find \"$0\" -type d -exec chmod 755 {} + \
                 ; find \"$0\" -type f -exec chmod 644 {} + \
                 ; find \"$0\" -path '*/bin/*' -type f -exec chmod 755 {} + \
                 ; find \"$0\" -exec touch -h -d \"@$1\" {} +";
    succeed(Command::new("sh").args(["-c", modes]).arg(folder).arg(&release.made_s))
}

/// Copies a file, and makes the folders for it.
pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let folder = to.parent().context("a file is in a folder")?;
    fs::create_dir_all(folder)?;
    fs::copy(from, to).with_context(|| format!("copying `{}`", from.display()))?;
    Ok(())
}
