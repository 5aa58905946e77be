//! The root of the image for containers, which the recipe of the image unpacks.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::Release;
use super::linux::Machine;
use super::staging::{copy, pack, settle};

/// Packs the root of the image for a machine.
pub(super) fn write(
    release: &Release,
    machine: Machine,
    program: &Path,
    notices: &Path,
) -> anyhow::Result<()> {
    let root = release.scratch.join(format!("image-{}", machine.debian));
    copy(program, &root.join("bin/steadfast"))?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&release.root.join(name), &root.join("licenses").join(name))?;
    }
    copy(notices, &root.join("licenses/THIRD-PARTY.txt"))?;
    for name in ["config", "data"] {
        fs::create_dir(root.join(name))?;
    }
    settle(release, &root)?;
    // A new volume gets the permissions of the image's folder, and its user can be anyone.
    fs::set_permissions(root.join("config"), Permissions::from_mode(0o777))?;
    let archive = release.out.join(release.name(&format!("image-{}", machine.debian)));
    let parts = ["bin", "config", "data", "licenses"];
    pack(&format!("{}.tar.gz", archive.display()), &root, &parts)
}
