//! Packages of Debian and of Fedora, by the tools of these.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::staging::{copy, settle};
use super::{Release, notices, printed, succeed};

/// A placeholder until the maintainers have an address.
const MAINTAINER: &str = "The Steadfast authors <steadfast@steadfast.example>";
const SUMMARY: &str = "Finds the files that changed without you, and mends them";
const DESCRIPTION: &str = "Records a digest of every file, reads the files again later, and tells \
                           which are intact, edited or decayed. Repairs from copies or parity.";

/// A kind of processor by its names.
#[derive(Clone, Copy)]
pub(super) struct Machine {
    pub(super) target: &'static str,
    pub(super) debian: &'static str,
    pub(super) fedora: &'static str,
}

const MACHINES: [Machine; 2] = [
    Machine { target: "x86_64-unknown-linux-musl", debian: "amd64", fedora: "x86_64" },
    Machine { target: "aarch64-unknown-linux-musl", debian: "arm64", fedora: "aarch64" },
];

impl Machine {
    /// Returns the machine of a target for Linux.
    pub(super) fn of(target: &str) -> Option<Machine> {
        MACHINES.into_iter().find(|machine| machine.target == target)
    }
}

/// Whether a program needs no libraries: it names no loader of the system.
pub(super) fn is_static(program: &Path) -> anyhow::Result<bool> {
    let bytes = fs::read(program).with_context(|| format!("reading `{}`", program.display()))?;
    const LOADER: &[u8] = b"/ld-linux";
    Ok(!bytes.windows(LOADER.len()).any(|window| window == LOADER))
}

/// Makes the package of Debian and its relatives.
pub(super) fn deb(
    release: &Release,
    machine: Machine,
    staged: &Path,
    is_static: bool,
) -> anyhow::Result<()> {
    let root = release.scratch.join(format!("deb-{}", machine.debian));
    let documents = root.join("usr/share/doc/steadfast");
    installed(staged, &root, &documents)?;
    let zsh = root.join("usr/share/zsh");
    fs::rename(zsh.join("site-functions"), zsh.join("vendor-completions"))?;
    let notices = fs::read_to_string(staged.join(notices::NAME))?;
    let mit = fs::read_to_string(release.root.join("LICENSE-MIT"))?;
    let copyright = format!(
        "Steadfast is licensed under MIT or Apache-2.0, as you like. Apache-2.0 is in \
         /usr/share/common-licenses/Apache-2.0. MIT:\n\n{mit}\n\n{notices}"
    );
    fs::write(documents.join("copyright"), copyright)?;
    fs::remove_file(documents.join(notices::NAME))?;
    let libraries = if is_static {
        String::new()
    } else {
        let version = printed(Command::new("getconf").arg("GNU_LIBC_VERSION"))?;
        let version = version.strip_prefix("glibc ").context("the C library is not glibc")?;
        format!("Depends: libc6 (>= {version}), libgcc-s1\n")
    };
    let control = format!(
        "Package: steadfast\nVersion: {}\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
         {libraries}Section: utils\nPriority: optional\nRecommends: xdg-utils\nHomepage: {}\n\
         Description: {SUMMARY}\n {DESCRIPTION}\n",
        release.version, machine.debian, release.repository,
    );
    fs::create_dir(root.join("DEBIAN"))?;
    fs::write(root.join("DEBIAN/control"), control)?;
    settle(release, &root)?;
    let name = format!("steadfast_{}_{}.deb", release.version, machine.debian);
    let mut make = Command::new("dpkg-deb");
    // A program that was not built for a release is long, and xz is slow.
    let compression = if is_static { "-Zxz" } else { "-Zgzip" };
    make.args(["--root-owner-group", compression, "--build"])
        .arg(&root)
        .arg(release.out.join(name));
    succeed(make.env("SOURCE_DATE_EPOCH", &release.made_s))
}

/// Makes the package of Fedora, openSUSE and their relatives.
pub(super) fn rpm(
    release: &Release,
    machine: Machine,
    staged: &Path,
    is_static: bool,
) -> anyhow::Result<()> {
    let top = release.scratch.join(format!("rpm-{}", machine.fedora));
    let root = top.join("root");
    installed(staged, &root, &root.join("usr/share/doc/steadfast"))?;
    settle(release, &root)?;
    // `debug_package` and the scripts after the installation would look into the program.
    let spec = format!(
        "%global debug_package %{{nil}}\n%global __os_install_post %{{nil}}\n\
         %global _build_id_links none\n\
         Name: steadfast\nVersion: {}\nRelease: 1\nSummary: {SUMMARY}\n\
         License: MIT OR Apache-2.0\nURL: {}\nAutoReqProv: {}\n\
         %description\n{DESCRIPTION}\n\
         %install\ncp -a '{}'/. %{{buildroot}}\n\
         %files\n{}\n",
        release.version,
        release.repository,
        if is_static { "no" } else { "yes" },
        root.display(),
        listed(&root)?,
    );
    fs::write(top.join("steadfast.spec"), spec)?;
    let mut make = Command::new("rpmbuild");
    make.args(["-bb", "--quiet", "--target", machine.fedora, "steadfast.spec"]);
    for (name, value) in [
        ("_topdir", top.display().to_string()),
        ("_rpmdir", release.out.display().to_string()),
        ("_build_name_fmt", "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm".to_owned()),
        ("_buildhost", "localhost".to_owned()),
        ("use_source_date_epoch_as_buildtime", "1".to_owned()),
        ("_binary_payload", "w6.xzdio".to_owned()),
    ] {
        make.args(["--define", &format!("{name} {value}")]);
    }
    succeed(make.current_dir(&top).env("SOURCE_DATE_EPOCH", &release.made_s))
}

/// Puts what an archive contains to where a system has it.
fn installed(staged: &Path, root: &Path, documents: &Path) -> anyhow::Result<()> {
    for (from, to) in [("bin", "usr/bin"), ("share", "usr/share"), ("lib", "usr/lib")] {
        fs::create_dir_all(root.join("usr"))?;
        succeed(Command::new("cp").arg("-R").arg(staged.join(from)).arg(root.join(to)))?;
    }
    for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", notices::NAME] {
        copy(&staged.join(name), &documents.join(name))?;
    }
    Ok(())
}

/// The files below a folder, and the folders that are no other package's, as a spec lists them.
fn listed(root: &Path) -> anyhow::Result<String> {
    let mut lines = vec!["%dir /usr/share/doc/steadfast".to_owned()];
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let path = path.strip_prefix(root)?;
                lines.push(format!("%attr(-, root, root) /{}", path.display()));
            }
        }
    }
    lines.sort();
    Ok(lines.join("\n"))
}
