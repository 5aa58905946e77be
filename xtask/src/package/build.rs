//! The programs of a release, and their manual.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::{PackageOptions, Release, succeed};
use crate::test::{MACOS_OLDEST, MACOS_UNIVERSAL, build_folder, search_path, set_up_targets};

/// Linked statically, so that they run on any Linux, also in an empty container.
const LINUX: [&str; 2] = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];

/// What programs are made for.
pub(super) const TARGETS: [&str; 3] = [LINUX[0], LINUX[1], MACOS_UNIVERSAL];

/// The targets of cargo: the program for macOS has two of them in one file.
pub(super) const COMPILED_FOR: [&str; 4] =
    [LINUX[0], LINUX[1], "x86_64-apple-darwin", "aarch64-apple-darwin"];

/// Puts the list of components into the program, where scanners for vulnerabilities find it.
const AUDITABLE: &str = "cargo-auditable@0.7.7";

/// The size that a program for one processor should not exceed: a tenth above what it had on
/// 2026-11-24. Only trying a release fails because of it.
pub(super) const LEN_MAX: u64 = 17_600_000;

/// Leaves out of C what only unwinding through it would need: 0.3 MB. Panics of our code never
/// pass through C.
const C_FLAGS: &str = "-fno-unwind-tables";

/// Builds the programs. Returns each with its target.
pub(super) fn programs(
    release: &Release,
    options: &PackageOptions,
) -> anyhow::Result<Vec<(&'static str, PathBuf)>> {
    let target_folder = build_folder(&release.root)?;
    if let Some(program) = &options.program {
        return Ok(vec![(own_target()?, program.canonicalize().context("the program")?)]);
    }
    let own = own_target()?;
    ensure!(
        !options.is_staged()
            || (options.builds() && options.targets.contains(&own))
            || built(&target_folder, own).exists(),
        "the program for {own} writes the manual; build it as well"
    );
    if options.builds() {
        build(release, &options.targets, &target_folder.join("tools"))?;
    }
    let program = |&target: &&'static str| {
        let program = built(&target_folder, target);
        let len = fs::metadata(&program).context("there is no program; build it")?.len();
        println!("{target}: {:.1} MB", len as f64 / 1e6);
        let parts = if target == MACOS_UNIVERSAL { 2 } else { 1 };
        if len > parts * LEN_MAX {
            println!("{target}: more than the {} bytes that were planned", parts * LEN_MAX);
        }
        Ok((target, program))
    };
    options.targets.iter().map(program).collect()
}

/// The target whose program runs here.
pub(super) fn own_target() -> anyhow::Result<&'static str> {
    let own = LINUX.into_iter().find(|target| target.starts_with(env::consts::ARCH));
    own.context("packages are made on Linux, on x86-64 or Arm")
}

/// Where cargo puts the program for a target.
fn built(target_folder: &Path, target: &str) -> PathBuf {
    target_folder.join(target).join("dist/steadfast")
}

/// Builds the programs for some targets.
fn build(release: &Release, targets: &[&str], tools: &Path) -> anyhow::Result<()> {
    set_up_targets(&release.root)?;
    if !tools.join("bin/cargo-auditable").exists() {
        let mut install = Command::new(crate::cargo());
        install.args(["install", "--locked", "--quiet", AUDITABLE, "--root"]).arg(tools);
        succeed(install.env_remove("CARGO_TARGET_DIR"))?;
    }
    let path = search_path(&release.root)?;
    let path = env::join_paths([tools.join("bin")].into_iter().chain(env::split_paths(&path)))?;
    for target in targets {
        println!("building for {target}");
        // `cargo auditable` wraps the compiler, and runs the cross linker, which runs cargo.
        let mut build = Command::new(tools.join("bin/cargo-auditable"));
        build.args(["auditable", "zigbuild", "--locked", "--profile=dist", "--bin=steadfast"]);
        build
            .args(["--package=steadfast-cli", "--all-features", "--target", target])
            .env("PATH", &path);
        build.current_dir(&release.root).env("RUSTFLAGS", remapped(release));
        build.env("MACOSX_DEPLOYMENT_TARGET", MACOS_OLDEST).env("CARGO", crate::cargo());
        if LINUX.contains(target) {
            build.env("CFLAGS", C_FLAGS);
        }
        succeed(&mut build)?;
    }
    Ok(())
}

/// Flags that keep the folders of this machine out of the programs.
fn remapped(release: &Release) -> String {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let home = home.unwrap_or_default();
    format!(
        "--remap-path-prefix={}=cargo --remap-path-prefix={}=steadfast",
        home.display(),
        release.root.display()
    )
}

/// Writes the manual by the program for this machine.
pub(super) fn manual(release: &Release, options: &PackageOptions) -> anyhow::Result<PathBuf> {
    let program = match &options.program {
        Some(program) => program.canonicalize()?,
        None => built(&build_folder(&release.root)?, own_target()?),
    };
    let share = release.scratch.join("share");
    succeed(Command::new(program).args(["help", "--manual"]).arg(&share))?;
    for section in ["man1", "man5"] {
        compress(&share.join("man").join(section))?;
    }
    Ok(share)
}

/// Compresses each file of a folder, without its name and time.
fn compress(folder: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        succeed(Command::new("gzip").arg("-9n").arg(entry?.path()))?;
    }
    Ok(())
}
