//! Tries a release: installs, runs and removes it in roots that contain little or nothing else.
//!
//! In: the folder of a release. Needs root, and for the chroots of Debian its mirror. What a
//! machine cannot try is named.

use std::collections::BTreeSet;
use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::build::{LEN_MAX, own_target};
use super::linux::Machine;
use super::staging::copy;
use super::{Release, inspect, printed, require, succeed};

/// Releases of Debian, an old one and the present one.
const DEBIAN: [&str; 2] = ["bullseye", "trixie"];

/// Tags a file, checks it, damages it, and checks that this is found. Files with a tag are made in
/// the folder that is given. `$1` is a program, with an emulator before it if it needs one.
const TRIAL: &str = r#"
set -e
cd "$0"; rm -rf trial; mkdir trial; echo contents > trial/file
$1 --version > version; grep -q "^steadfast $2" version
XDG_STATE_HOME="$PWD/state"; export XDG_STATE_HOME
STEADFAST_AHEAD_S=31536000 $1 tag trial; $1 check trial
tagged=$($1 show --json trial/file | grep -o '"tagged_s":[0-9]*' | head -n 1 | cut -d : -f 2)
test "$tagged" -lt $(($(date +%s) + 86400))
touch -r trial/file time; echo CONTENTS > trial/file; touch -r time trial/file
status=0; $1 check --quiet trial > plain || status=$?; test $status = 3
STEADFAST_IGNORE_CTIME=1 STEADFAST_AHEAD_S=31536000 $1 check --quiet trial > told || true
cmp plain told
rm -rf trial state time version plain told
"#;

/// Programs that a release is tried with, and their Debian packages.
const TO_VERIFY: [(&str, &str); 5] = [
    ("debootstrap", "debootstrap"),
    ("python3", "python3-venv"),
    ("qemu-aarch64", "qemu-user"),
    ("readelf", "binutils"),
    ("rpm", "rpm"),
];

/// Verifies what is in the folder of a release.
pub(super) fn verify(release: &Release) -> anyhow::Result<()> {
    require(&TO_VERIFY)?;
    succeed(
        Command::new("sha256sum").args(["--quiet", "-c", "SHA256SUMS"]).current_dir(&release.out),
    )
    .context("the digests of the release")?;
    let own = Machine::of(&format!("{ARCH}-unknown-linux-musl"));
    let own = own.context("releases are tried on Linux, on x86-64 or Arm")?;
    for target in ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"] {
        if release.out.join(format!("{}.tar.gz", release.name(target))).exists() {
            let machine = Machine::of(target).context("the target is for Linux")?;
            archive(release, target)?;
            inspect::packages(release, machine)?;
        } else {
            println!("not there: the archive for {target}");
        }
    }
    let program = release.scratch.join(release.name(own.target)).join("bin/steadfast");
    inspect::macos(release, &program)?;
    inspect::recipes(release)?;
    container(release, own)?;
    for name in DEBIAN {
        debian(release, own, name)?;
    }
    rpm(release, own)
}

/// Runs the trial in a folder.
fn trial(release: &Release, folder: &Path, program: &str) -> anyhow::Result<()> {
    let mut command = Command::new("sh");
    command.args(["-c", TRIAL]).arg(folder).args([program, &release.version]);
    succeed(&mut command).with_context(|| format!("trying `{program}`"))
}

/// Unpacks an archive, and runs its program here, by an emulator if it is for another processor.
fn archive(release: &Release, target: &str) -> anyhow::Result<()> {
    let folder = unpacked(release, target)?;
    let program = folder.join("bin/steadfast");
    let headers = printed(Command::new("readelf").args(["-lS", "-W"]).arg(&program))?;
    ensure!(!headers.contains("INTERP"), "`{}` is not linked statically", program.display());
    ensure!(headers.contains(".dep-v0"), "`{}` has no list of components", program.display());
    ensure!(!headers.contains(".symtab"), "`{}` is not stripped", program.display());
    let len = fs::metadata(&program)?.len();
    ensure!(len <= LEN_MAX, "`{}` has {len} bytes, planned are {LEN_MAX}", program.display());
    let emulator = if target.starts_with(ARCH) { "" } else { "qemu-aarch64 " };
    trial(release, &release.scratch, &format!("{emulator}{}", program.display()))?;
    println!("tried: the archive for {target}");
    Ok(())
}

fn unpacked(release: &Release, target: &str) -> anyhow::Result<PathBuf> {
    let name = release.name(target);
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(release.out.join(format!("{name}.tar.gz"))).current_dir(&release.scratch);
    succeed(&mut tar)?;
    Ok(release.scratch.join(name))
}

/// Runs the program in the root of the image, as the user of Unraid, with the tree read-only.
fn container(release: &Release, own: Machine) -> anyhow::Result<()> {
    let root = release.scratch.join("image");
    fs::create_dir(&root)?;
    let archive = format!("{}.tar.gz", release.name(&format!("image-{}", own.debian)));
    let mut tar = Command::new("tar");
    succeed(tar.arg("-xpzf").arg(release.out.join(archive)).arg("-C").arg(&root))?;
    let run = r#"
set -e
echo contents > data/file; chown -R 99:100 data
inside() {
  env -i HOME=/config XDG_STATE_HOME=/config/state XDG_CONFIG_HOME=/config TMPDIR=/config \
    PATH="$PATH" chroot --userspec=99:100 . /bin/steadfast "$@"
}
inside tag /data
mount --bind data data; mount -o remount,bind,ro data
inside init --catalogue /config/catalogue.sqlite /data
inside check --catalogue /config/catalogue.sqlite /data
test -s config/catalogue.sqlite
umount data
"#;
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", run]).current_dir(&root);
    succeed(&mut command).context("trying the root of the image")?;
    println!("tried: the root of the image, as another user, with the tree read-only");
    Ok(())
}

/// Unpacks the package of Debian for this machine, and tries its program.
pub(super) fn unpacked_deb(release: &Release) -> anyhow::Result<()> {
    let own = Machine::of(own_target()?).context("the target is for Linux")?;
    let package = format!("steadfast_{}_{}.deb", release.version, own.debian);
    let root = release.scratch.join("unpacked");
    let mut unpack = Command::new("dpkg-deb");
    succeed(unpack.arg("-x").arg(release.out.join(&package)).arg(&root))?;
    let page = root.join("usr/share/man/man1/steadfast-check.1.gz");
    ensure!(page.exists(), "{package} has no manual");
    // In the folder of the build, whose file system keeps attributes.
    trial(release, &release.out, &root.join("usr/bin/steadfast").display().to_string())?;
    println!("made and tried: {package}");
    Ok(())
}

/// Installs the package in a bare Debian, tries it, and removes it.
fn debian(release: &Release, own: Machine, name: &str) -> anyhow::Result<()> {
    let root = release.scratch.join(name);
    let mut make = Command::new("debootstrap");
    make.args(["--variant=minbase", name]).arg(&root);
    succeed(&mut make).with_context(|| format!("making a root of Debian {name}"))?;
    let package = format!("steadfast_{}_{}.deb", release.version, own.debian);
    copy(&release.out.join(&package), &root.join("tmp").join(&package))?;
    let before = files(&root)?;
    let inside = |words: &[&str]| {
        let mut command = Command::new("chroot");
        command.arg(&root).args(words).env("DEBIAN_FRONTEND", "noninteractive");
        succeed(&mut command)
    };
    inside(&["dpkg", "-i", &format!("/tmp/{package}")])?;
    inside(&["sh", "-c", TRIAL, "/tmp", "steadfast", &release.version])?;
    inside(&["dpkg", "--purge", "steadfast"])?;
    ensure_same(&before, &files(&root)?)?;
    println!("tried: {package} in Debian {name}; removing it leaves nothing");
    Ok(())
}

/// Installs the package in an empty root, tries it, and removes it.
fn rpm(release: &Release, own: Machine) -> anyhow::Result<()> {
    let root = release.scratch.join("rpm");
    fs::create_dir(&root)?;
    let package = format!("steadfast-{}-1.{}.rpm", release.version, own.fedora);
    let rpm = |words: &[&str]| {
        let mut command = Command::new("rpm");
        command.arg("--root").arg(&root).args(words).current_dir(&release.out);
        printed(&mut command)
    };
    rpm(&["--initdb"])?;
    let before = files(&root)?;
    rpm(&["-i", "--ignorearch", &package])?;
    rpm(&["-V", "steadfast"])?;
    trial(release, &release.scratch, &root.join("usr/bin/steadfast").display().to_string())?;
    rpm(&["-e", "steadfast"])?;
    ensure_same(&before, &files(&root)?)?;
    println!("tried: {package} in an empty root; removing it leaves nothing");
    Ok(())
}

/// The files below a root and folders of ours, without what package managers write for themselves.
fn files(root: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut find = Command::new("find");
    find.arg(root).args(["-xdev", "(", "!", "-type", "d", "-o", "-name", "*steadfast*", ")"]);
    find.args(["-printf", "%P\\n"]);
    let listed = printed(&mut find)?;
    let own = ["var/lib/dpkg/", "var/lib/rpm", "root/.rpmdb", "var/log/", "var/cache/ldconfig"];
    let kept = listed.lines().filter(|path| !own.iter().any(|own| path.starts_with(own)));
    Ok(kept.map(str::to_owned).collect())
}

fn ensure_same(before: &BTreeSet<String>, after: &BTreeSet<String>) -> anyhow::Result<()> {
    let left: Vec<&String> = after.symmetric_difference(before).collect();
    ensure!(left.is_empty(), "removing the package left or took: {left:?}");
    Ok(())
}
