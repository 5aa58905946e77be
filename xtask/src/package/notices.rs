//! The licences of everything that is compiled into the program.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::Release;
use super::components::compiled;

/// The file of the notices.
pub(super) const NAME: &str = "THIRD-PARTY.txt";

/// How the names of files with licences and notices begin, in lower case.
const NAMES: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];

/// The line of LICENSE-MIT that another package has with its own authors.
const OUR_COPYRIGHT: &str = "Copyright (c) 2026 the Steadfast authors";

/// Writes the notices, and returns where.
pub(super) fn write(release: &Release) -> anyhow::Result<PathBuf> {
    // Many packages have the same text, and it stands there once.
    let mut packages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mit = fs::read_to_string(release.root.join("LICENSE-MIT"))?;
    ensure!(mit.contains(OUR_COPYRIGHT), "`LICENSE-MIT` names no copyright");
    let mut list = String::new();
    let mut silent = Vec::new();
    for package in compiled(&release.metadata)? {
        let (name, version) = (text(package, "name")?, text(package, "version")?);
        let called = format!("{name} {version}");
        let licence = package["license"].as_str().unwrap_or("see below");
        list.push_str(&format!("{called}: {licence}\n"));
        let mut texts = texts(Path::new(text(package, "manifest_path")?))?;
        if texts.is_empty() && licence == "MIT" {
            texts.push(mit.replace(OUR_COPYRIGHT, &authors(package)));
        } else if texts.is_empty() && !licence.contains("Apache-2.0") {
            silent.push(called.clone());
        }
        for licence in texts {
            packages.entry(licence).or_default().push(called.clone());
        }
    }
    // The text of Apache-2.0 is in each archive; other licences must come with their packages.
    ensure!(silent.is_empty(), "packages without the text of their licence: {}", silent.join(", "));
    let mut notices = format!("Steadfast contains these packages:\n\n{list}");
    for (licence, packages) in packages {
        let line = "-".repeat(80);
        notices.push_str(&format!("\n{line}\n{}\n{line}\n\n{licence}\n", packages.join(", ")));
    }
    let path = release.scratch.join(NAME);
    fs::write(&path, notices).with_context(|| format!("writing `{}`", path.display()))?;
    Ok(path)
}

/// The copyright of a package that states a licence and does not contain its text.
fn authors(package: &Value) -> String {
    let authors = package["authors"].as_array().into_iter().flatten();
    let authors: Vec<&str> = authors.filter_map(Value::as_str).collect();
    format!("Copyright (c) {}", authors.join(", "))
}

fn text<'a>(package: &'a Value, key: &str) -> anyhow::Result<&'a str> {
    package[key].as_str().with_context(|| format!("a package without `{key}`"))
}

/// The texts of licences beside a manifest, and one folder below.
fn texts(manifest: &Path) -> anyhow::Result<Vec<String>> {
    let folder = manifest.parent().context("a manifest is in a folder")?;
    let mut texts = Vec::new();
    for folder in [folder.to_owned(), folder.join("LICENSES"), folder.join("licenses")] {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            let is_source = path.extension().is_some_and(|end| end == "rs" || end == "html");
            let named = NAMES.iter().any(|begin| name.starts_with(begin));
            let below = path.parent().is_some_and(|folder| folder.ends_with("LICENSES"));
            if path.is_file() && !is_source && (named || below) {
                let text = String::from_utf8_lossy(&fs::read(&path)?).replace("\r\n", "\n");
                texts.push(text.trim_end().to_owned());
            }
        }
    }
    texts.sort();
    texts.dedup();
    Ok(texts)
}
