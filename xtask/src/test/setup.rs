//! Installs what the steps need: system tools, Rust targets, the cross linker.
//!
//! Each function checks first and changes nothing that is already installed.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::Session;

/// Tools of the system, their Debian packages, and what cannot run without them.
const TOOLS: &[(&str, &str, &str)] = &[
    ("b3sum", "b3sum", "tests against b3sum"),
    ("fsverity", "fsverity", "tests against fsverity"),
    ("hashdeep", "hashdeep", "tests against hashdeep"),
    ("mtree", "mtree-netbsd", "tests against mtree"),
    ("par2", "par2", "tests against par2"),
    ("rhash", "rhash", "tests against rhash"),
    ("man", "man-db", "the test that manual pages have no warnings"),
    ("zsh", "zsh", "the test of its completions"),
    ("fish", "fish", "the test of its completions"),
    ("sqlite3", "sqlite3", "tests that damage a catalogue, and read it, by SQL"),
    ("script", "bsdutils", "tests of what a terminal is shown"),
    ("strace", "strace", "the test that files are flushed before they are renamed"),
    ("attr", "attr", "tests that compare attributes with the system's tools"),
    ("mkfs.btrfs", "btrfs-progs", "tests on btrfs"),
    ("mkfs.exfat", "exfatprogs", "tests on exFAT"),
    ("mkfs.ext4", "e2fsprogs", "tests on ext4"),
    ("mkfs.vfat", "dosfstools", "tests on FAT"),
    ("mkfs.xfs", "xfsprogs", "tests on XFS"),
    ("chromium", "chromium fonts-liberation", "the step `browser`"),
    ("firefox-esr", "firefox-esr", "the step `browser` in Firefox"),
    ("objdump", "binutils", "the test that plain loops are plain"),
    ("openssl", "openssl", "tests that compare digests with OpenSSL"),
    ("qemu-aarch64", "qemu-user", "the step `arm`"),
    ("cc", "gcc libc6-dev", "linking on this machine"),
    ("python3", "python3 python3-venv", "the steps `arm`, `browser` and `macos`"),
];

/// Folders of system tools that are not in an ordinary user's search path.
const SYSTEM_FOLDERS: &[&str] = &["/usr/sbin", "/sbin"];

const TARGETS: &[&str] = &[
    "aarch64-apple-darwin",
    "aarch64-unknown-linux-gnu",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
];
const COMPONENTS: &[&str] = &["clippy", "rustfmt"];

/// Pinned versions, which are updated deliberately. The linker and its wrapper come first.
const PYTHON_PACKAGES: &[&str] = &[
    "cargo-zigbuild==0.24.0",
    "ziglang==0.17.0",
    // What makes the package for Python.
    "hatchling==1.27.0",
    // The tools with which our manifests are compared.
    "ascmhl==1.2",
    "bagit==1.9.0",
    "bitrot==1.0.1",
    "cfv==3.2.0",
];

/// Programs that tests require once the tools and the environment are set up.
pub(super) const PEERS: &str = "sha256sum,openssl,b3sum,fsverity,hashdeep,rhash,mtree,objdump,\
    ascmhl,ascmhl-debug,bagit.py,bitrot,cfv,par2,script,sqlite3,strace,sha512sum,sha384sum,\
    sha1sum,md5sum,b2sum,man,bash,zsh,fish";

/// Installs what is missing if that is possible; otherwise states what cannot run.
pub(super) fn tools(session: &mut Session) -> anyhow::Result<()> {
    let absent = || TOOLS.iter().filter(|(program, ..)| !is_ready(program));
    let packages: BTreeSet<&str> =
        absent().flat_map(|(_, packages, _)| packages.split(' ')).collect();
    if !packages.is_empty() && is_root() && has_program("apt-get") {
        println!("installing {}", Vec::from_iter(packages.iter().copied()).join(", "));
        // A stale or unreachable list of packages is a problem only if the installation fails.
        let updated = apt_get(&["update", "-qq"]);
        let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
        arguments.extend(packages);
        if let Err(error) = apt_get(&arguments) {
            println!("{error:#}");
            updated?;
        }
    }
    let mut complete = true;
    for (program, packages, purpose) in absent() {
        println!("missing: {program} (Debian: {packages}), so these cannot run: {purpose}");
        complete = false;
    }
    let go_on = complete || session.allow_missing;
    ensure!(go_on, "install what is missing, or go on without by `--allow-missing`");
    Ok(())
}

fn apt_get(arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    super::steps::succeed(&mut command)
}

/// Adds the targets and components that the installed toolchain lacks.
pub(super) fn targets(session: &mut Session) -> anyhow::Result<()> {
    set_up_targets(&session.root)
}

/// Adds what is missing of [`TARGETS`] and [`COMPONENTS`].
pub(crate) fn set_up_targets(root: &Path) -> anyhow::Result<()> {
    for (kind, wanted) in [("target", TARGETS), ("component", COMPONENTS)] {
        let mut list = Command::new("rustup");
        list.args([kind, "list", "--installed"]).current_dir(root);
        let output = list.output().context("running rustup, which sets up the targets")?;
        let installed = String::from_utf8_lossy(&output.stdout);
        // The list has the name of the host after that of the component.
        let has = |name: &&&str| installed.lines().any(|line| line.starts_with(**name));
        let absent: Vec<&&str> = wanted.iter().filter(|name| !has(name)).collect();
        if !absent.is_empty() {
            let mut add = Command::new("rustup");
            add.args([kind, "add"]).args(absent).current_dir(root);
            super::steps::succeed(&mut add)?;
        }
    }
    Ok(())
}

/// Sets up the cross linker in the repository's virtual environment.
pub(super) fn zig(session: &mut Session) -> anyhow::Result<()> {
    if session.lacks(&["python3"]) {
        return Ok(());
    }
    set_up_cross_linker(&session.root)
}

/// Sets up the cross linker, if it is not there.
pub(crate) fn set_up_cross_linker(root: &Path) -> anyhow::Result<()> {
    let folder = environment(root);
    let stamp = folder.join("packages");
    let wanted = PYTHON_PACKAGES.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    super::steps::succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))
        .context("making a virtual environment (Debian: python3-venv)")?;
    let mut install = Command::new(folder.join("bin/python3"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    super::steps::succeed(install.args(PYTHON_PACKAGES))?;
    fs::write(&stamp, wanted).with_context(|| format!("writing `{}`", stamp.display()))
}

/// Cargo with the cross linker. The virtual environment is first in the search path, where the
/// wrapper finds the linker.
pub(super) fn cross_cargo(root: &Path) -> anyhow::Result<Command> {
    let wrapper = environment(root).join("bin/cargo-zigbuild");
    ensure!(wrapper.exists(), "no cross linker; run the step `zig` first");
    let mut command = Command::new(wrapper);
    command.current_dir(root).env("PATH", search_path(root)?);
    super::steps::build_once(&mut command);
    Ok(command)
}

/// The search path with the virtual environment's programs in front.
pub(crate) fn search_path(root: &Path) -> anyhow::Result<OsString> {
    let folder = environment(root).join("bin");
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths(std::iter::once(folder).chain(env::split_paths(&path)))
        .context("joining the search path")
}

fn environment(root: &Path) -> PathBuf {
    root.join(".venv")
}

/// Whether a tool can do what the steps need.
pub(crate) fn is_ready(name: &str) -> bool {
    // Debian's python3 does not include the module that makes an environment.
    let makes_environments = || {
        let output = Command::new("python3").args(["-c", "import ensurepip, venv"]).output();
        output.is_ok_and(|output| output.status.success())
    };
    has_program(name) && (name != "python3" || makes_environments())
}

fn has_program(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = SYSTEM_FOLDERS.iter().map(PathBuf::from);
    env::split_paths(&path).chain(system).any(|folder| folder.join(name).is_file())
}

pub(super) fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout == b"0\n")
}
