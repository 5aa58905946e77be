//! Checks which crate may depend on which, by the output of `cargo metadata`.
//!
//! Only shipped code is checked: a crate's tests may use any crate, except the surfaces.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::Findings;

/// Each crate, and the crates of this workspace on which it may depend.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("time", &[]),
    ("digest", &[]),
    ("sys", &["time"]),
    ("manifest", &["digest", "time"]),
    ("parity", &["digest", "time"]),
    ("codesign", &["digest", "sys"]),
    ("steadfast", &["manifest", "parity", "digest", "sys"]),
    ("measure", &["steadfast", "codesign", "digest", "sys"]),
    ("words", &["steadfast"]),
    ("watch", &["words", "steadfast", "sys"]),
    ("report", &["measure", "watch", "words", "steadfast", "codesign"]),
    ("serve", &["report", "measure", "watch", "words", "steadfast", "codesign"]),
    ("cli", &["watch", "words", "serve", "report", "measure", "steadfast", "codesign"]),
    ("trial", &["cli", "serve", "steadfast"]),
    ("py", &["report", "measure", "steadfast"]),
    ("testing", &[]),
    ("xtask", &[]),
];

/// Crates that no other crate may import, not even tests.
const SURFACES: &[&str] = &["cli", "serve", "py", "xtask"];

/// Packages that only the named crates may use.
const RESTRICTED: &[(&str, &[&str])] = &[("anyhow", &["cli", "xtask"])];

/// The packages of the workspace, as `cargo metadata` lists them.
pub(super) fn metadata(root: &Path) -> anyhow::Result<Value> {
    let output = Command::new(crate::cargo())
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("running cargo metadata")?;
    let trouble = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo metadata failed: {trouble}");
    serde_json::from_slice(&output.stdout).context("reading what cargo metadata says")
}

pub(super) fn check(metadata: &Value, findings: &mut Findings) {
    let workspace = metadata["workspace_root"].as_str().unwrap_or("");
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let importer = house_name(&package["name"]);
        let manifest = package["manifest_path"].as_str().unwrap_or("Cargo.toml");
        let manifest = manifest.strip_prefix(workspace).unwrap_or(manifest);
        let manifest = manifest.trim_start_matches('/');
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == importer) else {
            let message = format!("crate `{importer}` has no row in the table of imports");
            findings.error(manifest, 0, message);
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let name = house_name(&dependency["name"]);
            let for_tests = dependency["kind"] == "dev";
            let ours = dependency["path"].is_string();
            let surface = SURFACES.contains(&name) && !allowed.contains(&name);
            if ours && (surface || !for_tests && !allowed.contains(&name)) {
                findings.error(manifest, 0, format!("`{importer}` may not import `{name}`"));
            }
            let restricted = RESTRICTED.iter().find(|(package, _)| *package == name);
            if !for_tests && restricted.is_some_and(|(_, users)| !users.contains(&importer)) {
                findings.error(manifest, 0, format!("`{name}` is not for `{importer}`"));
            }
        }
    }
}

/// Returns a crate's name as in documents: without the common prefix.
fn house_name(name: &Value) -> &str {
    let name = name.as_str().unwrap_or("");
    name.strip_prefix("steadfast-").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(importer: &str, dependency: Value) -> Vec<String> {
        let metadata = json!({
            "workspace_root": "/w",
            "packages": [{
                "name": importer,
                "manifest_path": "/w/crates/x/Cargo.toml",
                "dependencies": [dependency],
            }],
        });
        let mut findings = Findings::default();
        check(&metadata, &mut findings);
        findings.problems.into_iter().map(|p| format!("{}: {}", p.path, p.message)).collect()
    }

    fn ours(name: &str, kind: Value) -> Value {
        json!({ "name": name, "kind": kind, "path": "/w/crates/y" })
    }

    #[test]
    fn arrows_point_right() {
        assert_eq!(found("steadfast", ours("steadfast-digest", Value::Null)), [""; 0]);
        assert_eq!(
            found("steadfast-digest", ours("steadfast", Value::Null)),
            ["crates/x/Cargo.toml: `digest` may not import `steadfast`"]
        );
        assert_eq!(found("steadfast-cli", ours("steadfast-sys", Value::Null)).len(), 1);
        assert_eq!(found("steadfast-cli", ours("steadfast-serve", Value::Null)), [""; 0]);
    }

    #[test]
    fn tests_may_look_around_but_not_at_surfaces() {
        assert_eq!(found("steadfast-digest", ours("steadfast-sys", json!("dev"))), [""; 0]);
        assert_eq!(found("steadfast", ours("steadfast-cli", json!("dev"))).len(), 1);
    }

    #[test]
    fn new_crates_need_a_row() {
        assert_eq!(found("steadfast-extra", ours("steadfast", Value::Null)).len(), 1);
    }

    #[test]
    fn anyhow_is_for_the_surfaces() {
        let anyhow = json!({ "name": "anyhow", "kind": null });
        assert_eq!(found("steadfast-report", anyhow.clone()).len(), 1);
        assert_eq!(found("steadfast-cli", anyhow), [""; 0]);
    }
}
