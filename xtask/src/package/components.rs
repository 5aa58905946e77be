//! The list of components, as CycloneDX 1.5.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::Release;

/// The packages of others that are compiled into one of the programs, in order.
pub(super) fn compiled(metadata: &Value) -> anyhow::Result<Vec<&Value>> {
    let reached = reached(metadata)?;
    let packages = metadata["packages"].as_array().context("cargo lists no packages")?;
    let theirs = |package: &&Value| package["source"].is_string();
    let is_in =
        |package: &&Value| package["id"].as_str().is_some_and(|id| reached.contains_key(id));
    Ok(packages.iter().filter(is_in).filter(theirs).collect())
}

/// Everything that the command needs to run, each with what it needs itself.
fn reached(metadata: &Value) -> anyhow::Result<BTreeMap<&str, BTreeSet<&str>>> {
    let nodes = metadata["resolve"]["nodes"].as_array().context("cargo resolved nothing")?;
    let by_id: BTreeMap<&str, &Value> =
        nodes.iter().filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let command = by_id.keys().find(|id| id.contains("/crates/cli#"));
    let mut open = vec![*command.context("there is no package in `crates/cli`")?];
    let mut reached = BTreeMap::new();
    while let Some(id) = open.pop() {
        if reached.contains_key(id) {
            continue;
        }
        let on = by_id[id]["deps"].as_array().into_iter().flatten().filter(|dependency| {
            let kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
            // Others are for tests and for the build.
            kinds.into_iter().any(|kind| kind["kind"].is_null())
        });
        let on: BTreeSet<&str> = on.filter_map(|dependency| dependency["pkg"].as_str()).collect();
        open.extend(on.iter().copied());
        reached.insert(id, on);
    }
    Ok(reached)
}

pub(super) fn write(release: &Release) -> anyhow::Result<()> {
    let sums = sums(&fs::read_to_string(release.root.join("Cargo.lock"))?);
    let reached = reached(&release.metadata)?;
    let packages = release.metadata["packages"].as_array().context("cargo lists no packages")?;
    let name_of = |package: &Value| {
        let (name, version) = (package["name"].as_str(), package["version"].as_str());
        format!("pkg:cargo/{}@{}", name.unwrap_or(""), version.unwrap_or(""))
    };
    let names: BTreeMap<&str, String> = packages
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, name_of(package))))
        .collect();
    let mut components = Vec::new();
    let mut dependencies = Vec::new();
    for package in packages {
        let Some((id, on)) = package["id"].as_str().and_then(|id| reached.get_key_value(id)) else {
            continue;
        };
        let (name, version) = (&package["name"], &package["version"]);
        let reference = &names[id];
        let on: Vec<&String> = on.iter().map(|id| &names[id]).collect();
        dependencies.push(json!({ "ref": reference, "dependsOn": on }));
        let mut component = json!({
            "type": "library", "bom-ref": reference, "name": name, "version": version,
            "purl": reference,
        });
        if let Some(licence) = package["license"].as_str() {
            // `/` between licences is Cargo's older form of OR.
            let licence = licence.replace('/', " OR ");
            component["licenses"] = json!([{ "expression": licence }]);
        }
        let entry =
            (name.as_str().unwrap_or("").to_owned(), version.as_str().unwrap_or("").to_owned());
        if let Some(sum) = sums.get(&entry) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        components.push(component);
    }
    let of = |component: &&Value| component["name"] == "steadfast-cli";
    let mut subject = components.iter().find(of).context("the command is no component")?.clone();
    components.retain(|component| !of(&component));
    subject["type"] = json!("application");
    let document = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": { "component": subject },
        "components": components, "dependencies": dependencies,
    });
    let path = release.out.join(format!("steadfast-{}.cdx.json", release.version));
    let text = serde_json::to_string_pretty(&document)? + "\n";
    fs::write(&path, text).with_context(|| format!("writing `{}`", path.display()))
}

/// The digests of the lock file by name and version.
fn sums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |entry: &str, key: &str| {
        let begin = format!("{key} = \"");
        let line = entry.lines().find_map(|line| line.strip_prefix(begin.as_str()))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    let entries = lock.split("[[package]]");
    let entry = |entry: &str| {
        Some(((value(entry, "name")?, value(entry, "version")?), value(entry, "checksum")?))
    };
    entries.filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_found_by_name_and_version() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"2.0.0\"\nchecksum = \"00ff\"\n";
        let sums = sums(lock);
        assert_eq!(sums.len(), 1);
        assert_eq!(sums[&("b".to_owned(), "2.0.0".to_owned())], "00ff");
    }

    #[test]
    fn what_only_tests_and_builds_need_is_no_component() {
        let dependency =
            |id: &str, kind: Value| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let cli = "path+file:///x/crates/cli#steadfast-cli@1.0.0";
        let deps = json!([
            dependency("a", Value::Null),
            dependency("b", json!("dev")),
            dependency("c", json!("build")),
        ]);
        let mut nodes = Vec::from(["b", "c", "d"].map(|id| json!({ "id": id, "deps": [] })));
        nodes.push(json!({ "id": "a", "deps": [dependency("d", Value::Null)] }));
        nodes.push(json!({ "id": cli, "deps": deps }));
        let metadata = json!({ "resolve": { "nodes": nodes } });
        let reached = reached(&metadata).unwrap();
        assert_eq!(Vec::from_iter(reached.keys().copied()), ["a", "d", cli]);
    }
}
