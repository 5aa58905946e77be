//! Fetches published artifacts that tests read, from their package registries.
//!
//! Each is fetched once, by exact version, with its registry's client, compared with its digest and
//! kept in the build folder, where the tests of `crates/codesign` find it by name. The clients are
//! packages of Python. Only the tests of this step need a registry. Must not know what the tests
//! check.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use sha2::{Digest as _, Sha256};

use super::{Session, setup, steps};

/// The folder of the artifacts in the build folder. Cargo reserves `tmp` for tests.
const FOLDER: &str = "tmp/codesign-fixtures";

/// What the clients of registries print when there is no network, in lower case.
const OFFLINE_MESSAGES: &[&str] = &[
    "connection refused",
    "could not resolve",
    "eai_again",
    "econnrefused",
    "enetunreach",
    "enotfound",
    "etimedout",
    "i/o timeout",
    "name resolution",
    "network is unreachable",
    "no such host",
];

/// How an artifact is fetched.
enum Origin {
    Npm(&'static str),
    /// A requirement, and further arguments.
    Pip(&'static str, &'static [&'static str]),
    GoModule(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Npm(package) => write!(f, "npm {package}"),
            Origin::Pip(package, _) => write!(f, "pip {package}"),
            Origin::GoModule(module) => write!(f, "go {module}"),
        }
    }
}

struct Artifact {
    name: &'static str,
    origin: Origin,
    sha256: &'static str,
}

const ARTIFACTS: &[Artifact] = &[
    Artifact {
        name: "P1",
        origin: Origin::Npm("@parcel/watcher-darwin-arm64@2.6.0"),
        sha256: "4e668008969832fd9fa7d1fd250b9bf1f2420ec0f0637fc07324fe1b8f0e131a",
    },
    Artifact {
        name: "P2",
        origin: Origin::Npm("fsevents@2.3.3"),
        sha256: "c77e7a5d5ff31dd7acea7c44d4a0455e0528cdacbd24a8cb6c82b66d239b587e",
    },
    Artifact {
        name: "P3",
        origin: Origin::Npm("sass-embedded-darwin-arm64@1.105.0"),
        sha256: "f955dc0ee1fa3f2afaa7875b9cd58d3096605e3b6129a4e5cee8bdabdd519d12",
    },
    Artifact {
        name: "P4",
        origin: Origin::Pip("adbutils==2.12.0", &["--platform", "macosx_10_9_x86_64"]),
        sha256: "adf131c746519f8a9576765d8f1315396d2573c9f178d6104e2a42dc9a714a3f",
    },
    Artifact {
        name: "P5",
        origin: Origin::Pip("mitmproxy_macos==0.12.15", &["--platform", "any"]),
        sha256: "ed5693f89b0cbd1d2a8c5a31baed2bd7a74b0aad68672e08444c1868c38f49f8",
    },
    Artifact {
        name: "P6",
        origin: Origin::Npm("@nativescript/core@9.1.2"),
        sha256: "29e2af6634027a63004c563c694fb0866ddd36ae80a483ab10b454fa64fccc23",
    },
    Artifact {
        name: "P7",
        origin: Origin::Pip(
            "pymsalruntime==0.20.7",
            &["--implementation", "cp", "--abi", "cp312", "--platform", "macosx_12_0_arm64"],
        ),
        sha256: "1cd25b9917f78f1ac4a438860fb6ac26edc4dabf6fae8b20a116ea153b755099",
    },
    Artifact {
        name: "P8",
        origin: Origin::GoModule("github.com/sassoftware/relic/v8@v8.2.0"),
        sha256: "7da98c9a58c012aff44c136a6f7fadd89f20a55fcf00ac63995bce88d7f29fb1",
    },
    Artifact {
        name: "P9",
        origin: Origin::Pip("pyinstaller==6.22.3", &["--platform", "macosx_10_13_universal2"]),
        sha256: "052f4a1cd4f81092ccb7a18fe8ebc9ecf832a5917317e39fb3775af4e959b253",
    },
];

/// Fetches the missing artifacts. Names those that are still missing: their tests are skipped.
pub(super) fn fixtures(session: &mut Session) -> anyhow::Result<()> {
    let home = steps::target_folder(session)?.join(FOLDER);
    fs::create_dir_all(&home).with_context(|| format!("making `{}`", home.display()))?;
    let missing = || ARTIFACTS.iter().filter(|artifact| !home.join(artifact.name).exists());
    if missing().next().is_some() {
        setup::packages(session)?;
    }
    let has_clients = setup::environment(&session.root).join("bin/npm").exists();
    for artifact in missing() {
        let lacking = format!("fixture {}", artifact.name);
        let fetched = has_clients.then(|| fetch_into(artifact, &home, &session.root));
        match fetched {
            Some(Ok(())) => println!("fetched {}: {}", artifact.name, artifact.origin),
            None => drop(session.leave_out(&lacking)),
            Some(Err(error)) if is_offline(&format!("{error:#}")) => {
                println!("{}: {error:#}", artifact.origin);
                session.leave_out(&lacking);
            }
            // Everything else is wrong here or there, and a reason to look.
            Some(Err(error)) => return Err(error).context(artifact.origin.to_string()),
        }
    }
    println!("fixtures are in `{}`", home.display());
    Ok(())
}

/// Whether a registry's client failed because there is no network.
pub(super) fn is_offline(message: &str) -> bool {
    let message = message.to_lowercase();
    OFFLINE_MESSAGES.iter().any(|known| message.contains(known))
}

/// Fetches an artifact to a folder that gets its name when it is complete.
fn fetch_into(artifact: &Artifact, home: &Path, root: &Path) -> anyhow::Result<()> {
    let work = home.join(format!("{}.part", artifact.name));
    if work.exists() {
        fs::remove_dir_all(&work).context("removing what an earlier fetch left")?;
    }
    fs::create_dir(&work).with_context(|| format!("making `{}`", work.display()))?;
    fetch(artifact, &work, root)?;
    fs::rename(&work, home.join(artifact.name)).context("renaming what was fetched")
}

fn fetch(artifact: &Artifact, work: &Path, root: &Path) -> anyhow::Result<()> {
    let client = |name: &str| -> anyhow::Result<Command> {
        let mut command = Command::new(setup::environment(root).join("bin").join(name));
        // The client of npm is a script for its companion.
        command.env("PATH", setup::search_path(root)?).current_dir(work);
        Ok(command)
    };
    let file = match artifact.origin {
        Origin::Npm(package) => {
            // Two attempts: by default npm tries for minutes without a network.
            let pack = ["pack", "--loglevel=error", "--fetch-retries=1", package];
            run(client("npm")?.args(pack))?;
            only_file(work)?
        }
        Origin::Pip(package, further) => {
            let mut pip = client("python3")?;
            pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"]);
            pip.args(["--no-deps", "--only-binary=:all:", "--python-version", "312"]);
            run(pip.args(further).arg("--dest").arg(work).arg(package))?;
            only_file(work)?
        }
        Origin::GoModule(module) => {
            let cache = work.join("cache");
            let mut go = client("go")?;
            go.args(["mod", "download", "-modcacherw", module]);
            run(go.env("GOMODCACHE", &cache))?;
            let (path, version) = module.split_once('@').context("a module without a version")?;
            cache.join(format!("cache/download/{path}/@v/{version}.zip"))
        }
    };
    let bytes = fs::read(&file).with_context(|| format!("reading `{}`", file.display()))?;
    let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    ensure!(found == artifact.sha256, "its SHA-256 is {found}, not {}", artifact.sha256);
    unpack(&file, work)?;
    if artifact.name == "P5" {
        unpack(&work.join("mitmproxy_macos/Mitmproxy Redirector.app.tar"), work)?;
    }
    Ok(())
}

fn unpack(file: &Path, into: &Path) -> anyhow::Result<()> {
    let zipped = file.extension().is_some_and(|extension| extension == "whl" || extension == "zip");
    match zipped {
        true => run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(file).arg(into)),
        false => run(Command::new("tar").arg("-xf").arg(file).arg("-C").arg(into)),
    }
}

fn only_file(folder: &Path) -> anyhow::Result<PathBuf> {
    let entry = fs::read_dir(folder)?.next().context("nothing was fetched")??;
    Ok(entry.path())
}

/// Runs a program and captures its output, which is the error if it fails.
fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("running {program}"))?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        bail!("{program} failed: {}", printed.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_network_is_told_from_a_wrong_version() {
        assert!(is_offline("npm failed: npm error code ENOTFOUND"));
        assert!(is_offline("pip: Temporary failure in name resolution"));
        assert!(!is_offline("its SHA-256 is 00, not 11"));
    }

    #[test]
    fn artifacts_are_pinned() {
        for artifact in ARTIFACTS {
            assert_eq!(artifact.sha256.len(), 64, "{}", artifact.name);
        }
    }
}
