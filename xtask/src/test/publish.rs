//! What is published: complete packages that build from what they contain.
//!
//! In comes what cargo says about the workspace. The packages are verified as one set, since each
//! depends on others of the set that no registry has yet.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::{Session, fixtures, steps};

/// The packages for others, each after those that it depends on.
const PUBLISHED: [&str; 7] = [
    "steadfast-time",
    "steadfast-digest",
    "steadfast-sys",
    "steadfast-manifest",
    "steadfast-parity",
    "steadfast-codesign",
    "steadfast",
];

/// What a package says about itself.
const STATED: [&str; 7] =
    ["description", "license", "repository", "readme", "rust_version", "keywords", "categories"];

/// Files that each package contains.
const CONTAINED: [&str; 4] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "src/lib.rs"];

/// Folders for developers of this repository, with what they need from outside of a package.
const LEFT_OUT: [&str; 2] = ["tests/", "benches/"];

pub(super) fn publish(session: &mut Session) -> anyhow::Result<()> {
    let output =
        steps::cargo(session).args(["metadata", "--no-deps", "--format-version=1"]).output();
    let metadata: Value =
        serde_json::from_slice(&output.context("running cargo metadata")?.stdout)?;
    let mut problems = problems(&metadata);
    for package in PUBLISHED {
        problems.extend(unlike_package(package, &listed(session, package)?));
    }
    ensure!(problems.is_empty(), "not ready to be published:\n{}", problems.join("\n"));
    println!("{} packages state and contain what they should", PUBLISHED.len());
    verify(session)
}

/// Packs each package and builds it from the archive.
fn verify(session: &Session) -> anyhow::Result<()> {
    if session.offline {
        println!("left out: this machine is offline, and cargo asks the registry");
        return Ok(());
    }
    let target = steps::target_folder(session)?.join("publish");
    forget_earlier(&target);
    let mut command = steps::cargo(session);
    command.args(["publish", "--dry-run", "--allow-dirty", "--target-dir"]).arg(&target);
    command.args(PUBLISHED.map(|package| format!("--package={package}")));
    // Packages are built with Cargo's own profile, and nobody debugs these.
    command.env("CARGO_PROFILE_DEV_DEBUG", "false");
    let output = command.output().context("running cargo publish")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && fixtures::is_offline(&said) {
        println!("left out: this machine is offline, and cargo asks the registry");
        return Ok(());
    }
    ensure!(output.status.success(), "the dry run failed:\n{said}");
    println!("`cargo publish --dry-run` builds each package from its archive");
    Ok(())
}

/// Removes what an earlier dry run unpacked and built of our packages. Cargo would take it for the
/// present state, because the versions are the same. Dependencies stay built.
fn forget_earlier(target: &Path) {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    // The folder of a registry on this machine has no name, only a number after a hyphen.
    let registries = beginning("-", &home.unwrap_or_default().join("registry/src"));
    let built = beginning("libsteadfast", &target.join("debug/deps"));
    for path in registries.iter().flat_map(|path| beginning("steadfast", path)).chain(built) {
        // The build fails on what cannot be removed, and says where it is.
        drop(if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) });
    }
}

/// The entries of a folder whose names begin so.
fn beginning(with: &str, folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let matches = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(with);
    entries.filter(matches).map(|entry| entry.path()).collect()
}

/// What is wrong with what the packages state, and with which are published.
fn problems(metadata: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    for package in packages {
        let name = package["name"].as_str().unwrap_or("");
        let goes_out = package["publish"].is_null();
        if goes_out != PUBLISHED.contains(&name) {
            problems.push(format!("`{name}`: its `publish` and the list of packages differ"));
        }
        if !goes_out {
            continue;
        }
        let stated = |key: &&&str| match &package[**key] {
            Value::String(text) => !text.is_empty(),
            Value::Array(words) => !words.is_empty(),
            _ => false,
        };
        let missing = STATED.iter().filter(|key| !stated(key));
        problems.extend(missing.map(|key| format!("`{name}` states no {key}")));
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let on = dependency["name"].as_str().unwrap_or("");
            let ours = dependency["path"].is_string() && dependency["kind"] != "dev";
            if ours && !PUBLISHED.contains(&on) {
                problems.push(format!("`{name}` depends on `{on}`, which is not published"));
            }
            if ours && dependency["req"] == "*" {
                problems.push(format!("`{name}` depends on any version of `{on}`"));
            }
        }
    }
    let named = |name: &&&str| packages.iter().any(|package| package["name"] == **name);
    let absent = PUBLISHED.iter().filter(|name| !named(name));
    problems.extend(absent.map(|name| format!("there is no package `{name}`")));
    problems
}

/// The files of a package.
fn listed(session: &Session, package: &str) -> anyhow::Result<Vec<String>> {
    let mut command: Command = steps::cargo(session);
    command.args(["package", "--list", "--allow-dirty", "--offline", "--package", package]);
    let output = command.output().context("running cargo package")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo lists no files of `{package}`:\n{said}");
    Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
}

/// What is wrong with the files of a package.
fn unlike_package(package: &str, files: &[String]) -> Vec<String> {
    let has = |file: &&&str| files.iter().any(|listed| listed == **file);
    let missing = CONTAINED.iter().filter(|file| !has(file));
    let missing = missing.map(|file| format!("`{package}` does not contain `{file}`"));
    let inner = |file: &&String| LEFT_OUT.iter().any(|folder| file.starts_with(folder));
    let inner = files.iter().filter(inner).map(|file| format!("`{package}` contains `{file}`"));
    missing.chain(inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Packages as cargo describes them, without problems.
    fn workspace() -> Value {
        let package = |name: &&str| {
            let stated = STATED.map(|key| (key.to_owned(), json!("stated")));
            let mut package: serde_json::Map<String, Value> = stated.into_iter().collect();
            package.insert("name".to_owned(), json!(name));
            package.insert("publish".to_owned(), Value::Null);
            package.insert("dependencies".to_owned(), json!([]));
            Value::Object(package)
        };
        json!({ "packages": PUBLISHED.iter().map(package).collect::<Vec<_>>() })
    }

    #[test]
    fn each_published_package_states_everything() {
        assert_eq!(problems(&workspace()), [""; 0]);
        let mut silent = workspace();
        silent["packages"][6]["keywords"] = json!([]);
        silent["packages"][6]["readme"] = Value::Null;
        let expected = ["`steadfast` states no readme", "`steadfast` states no keywords"];
        assert_eq!(problems(&silent), expected);
        let mut kept = workspace();
        kept["packages"][0]["publish"] = json!([]);
        assert_eq!(problems(&kept).len(), 1);
    }

    #[test]
    fn published_packages_depend_on_published_ones_by_version() {
        let with = |name: &str, req: &str, kind: Value| {
            let mut workspace = workspace();
            let on = json!({ "name": name, "req": req, "kind": kind, "path": "/x" });
            workspace["packages"][1]["dependencies"] = json!([on]);
            problems(&workspace).len()
        };
        assert_eq!(with("steadfast-time", "^0.1.0", Value::Null), 0);
        assert_eq!(with("steadfast-time", "*", Value::Null), 1);
        assert_eq!(with("steadfast-testing", "^0.1.0", Value::Null), 1);
        assert_eq!(with("steadfast-testing", "*", json!("dev")), 0);
    }

    #[test]
    fn packages_contain_their_licences_and_no_tests() {
        let mut files = CONTAINED.map(str::to_owned).to_vec();
        assert_eq!(unlike_package("p", &files), [""; 0]);
        files[0] = "tests/it/main.rs".to_owned();
        let expected = ["`p` does not contain `LICENSE-APACHE`", "`p` contains `tests/it/main.rs`"];
        assert_eq!(unlike_package("p", &files), expected);
    }
}
