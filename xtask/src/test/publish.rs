//! What is published: complete packages that build from what they contain.
//!
//! In comes what cargo says about the workspace. The packages are verified as one set, since each
//! depends on others of the set that no registry has yet.

use std::fs;
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

/// Packs each package and compiles it from what its archive contains, with the features that it
/// has alone. Of the others, a package gets what their archives contain. Nothing is made into
/// machine code, which the tests have done with the same sources.
fn verify(session: &Session) -> anyhow::Result<()> {
    let target = steps::target_folder(session)?.join("publish");
    let packed = target.join("package");
    let set = target.join("set");
    for old in [&packed, &set] {
        // What cannot be removed is in the way of what follows, which says so.
        let _ = fs::remove_dir_all(old);
    }
    let mut command = steps::cargo(session);
    command.args(["package", "--no-verify", "--allow-dirty", "--target-dir"]).arg(&target);
    command.args(PUBLISHED.map(|package| format!("--package={package}")));
    let output = command.output().context("running cargo package")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && fixtures::is_offline(&said) {
        session.leave_out("registry of cargo");
        return Ok(());
    }
    ensure!(output.status.success(), "nothing was packed:\n{said}");
    fs::create_dir_all(&set).with_context(|| format!("making `{}`", set.display()))?;
    for archive in fs::read_dir(&packed)? {
        let archive = archive?.path();
        if archive.extension().is_some_and(|extension| extension == "crate") {
            // All files of an archive have one time, by which a changed one would seem compiled.
            steps::succeed(Command::new("tar").arg("-xmzf").arg(archive).arg("-C").arg(&set))?;
        }
    }
    let version = &steps::metadata(&session.root, &["--no-deps"])?["packages"][0];
    let version = version["version"].as_str().context("the workspace has no version")?;
    fs::write(set.join("Cargo.toml"), workspace_of(version))?;
    // The versions of all others are those that the tests use.
    fs::copy(session.root.join("Cargo.lock"), set.join("Cargo.lock"))?;
    for package in PUBLISHED {
        let mut check = steps::cargo(session);
        check.args(["check", "--quiet", "--offline", "--package", package, "--target-dir"]);
        steps::succeed(check.arg(&target).current_dir(&set))?;
    }
    println!("{} packages compile from their archives", PUBLISHED.len());
    Ok(())
}

/// The manifest of a workspace of the unpacked packages, in which each stands for what a registry
/// would have of it.
fn workspace_of(version: &str) -> String {
    let folders = PUBLISHED.map(|package| format!("\"{package}-{version}\"")).join(", ");
    let patches = PUBLISHED.map(|name| format!("{name} = {{ path = \"{name}-{version}\" }}\n"));
    format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{folders}]\n\n[profile.dev]\n\
         debug = false\n\n[patch.crates-io]\n{}",
        patches.concat()
    )
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
    fn an_unpacked_package_stands_for_a_published_one() {
        let manifest = workspace_of("1.2.3");
        assert!(manifest.contains("members = [\"steadfast-time-1.2.3\", "), "{manifest}");
        assert!(manifest.ends_with("\nsteadfast = { path = \"steadfast-1.2.3\" }\n"), "{manifest}");
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
