//! The library as others use it: its example programs, and a public API that names no type of
//! another crate of the project without exporting it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, ensure};

use super::{Session, steps};

/// The crates beneath the library. A program that depends on `steadfast` alone cannot name them.
const LOWER: &[&str] = &[
    "steadfast_digest",
    "steadfast_manifest",
    "steadfast_parity",
    "steadfast_sys",
    "steadfast_time",
];

pub(super) fn library(session: &mut Session) -> anyhow::Result<()> {
    examples(session)?;
    public_api(session)
}

/// Runs the example programs on a folder, and on a copy of it before and after it is changed. The
/// examples in the documentation are among the tests of the step `host`.
fn examples(session: &Session) -> anyhow::Result<()> {
    steps::program(session)?;
    let target = steps::target_folder(session)?;
    let programs = target.join("debug/examples");
    let place = target.join("tmp/library");
    if place.exists() {
        fs::remove_dir_all(&place).context("removing the folder of the last run")?;
    }
    let (folder, copy) = (place.join("folder"), place.join("copy"));
    for folder in [&folder, &copy] {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("photograph"), "pixels")?;
    }
    let example = |name: &str, folders: &[&Path], status: i32, line: &str| -> anyhow::Result<()> {
        let output = Command::new(programs.join(name)).args(folders).output();
        let output = output.with_context(|| format!("running the example `{name}`"))?;
        ensure!(
            output.status.code() == Some(status) && prints(&output, line),
            "the example `{name}` should end with {status} and print {line:?}: {output:?}"
        );
        Ok(())
    };
    example("tag_and_check", &[&folder], 0, "       1 intact")?;
    example("watch", &[&copy], 2, "  untagged ")?;
    example("tag_and_check", &[&copy], 0, "       1 intact")?;
    example("compare", &[&folder, &copy], 0, "1 files and 1 files")?;
    fs::write(copy.join("photograph"), "pixelS")?;
    example("compare", &[&folder, &copy], 1, " different \"photograph\"")?;
    println!("the examples print what they should");
    Ok(())
}

/// Says whether a program printed a line that begins with `line`.
fn prints(output: &Output, line: &str) -> bool {
    String::from_utf8_lossy(&output.stdout).lines().any(|printed| printed.starts_with(line))
}

/// Makes sure that each type of the public API is exported by `steadfast` itself.
///
/// A page of documentation links to every type that it names. The links to a lower crate are made
/// only if its pages exist already, so those of the library are made again after all others.
fn public_api(session: &mut Session) -> anyhow::Result<()> {
    steps::doc(session)?;
    let pages = steps::target_folder(session)?.join("doc/steadfast");
    if pages.exists() {
        fs::remove_dir_all(&pages).context("removing the pages of the last run")?;
    }
    steps::doc(session)?;
    let exported = pages.join("struct.Digest.html");
    ensure!(exported.exists(), "`{}` is missing: nothing is exported", exported.display());
    let mut leaks = Vec::new();
    for page in files_of(&pages)? {
        let text = fs::read_to_string(&page)?;
        let page = page.strip_prefix(&pages).unwrap_or(&page).display();
        leaks.extend(foreign_links(&text).map(|link| format!("{page} names {link}")));
    }
    leaks.sort();
    leaks.dedup();
    ensure!(
        leaks.is_empty(),
        "the public API of `steadfast` has types that it does not export:\n{}",
        leaks.join("\n")
    );
    println!("the public API names no type that `steadfast` does not export");
    Ok(())
}

/// The pages of a folder of documentation.
fn files_of(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            pages.extend(files_of(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            pages.push(path);
        }
    }
    Ok(pages)
}

/// The links of a page that lead to a lower crate. Links to sources are no part of the API.
fn foreign_links(page: &str) -> impl Iterator<Item = &str> {
    let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    links.map(|link| link.trim_start_matches("../")).filter(|link| {
        let first = link.split('/').next().unwrap_or(link);
        LOWER.contains(&first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_lower_crates_are_found() {
        let page = "<a href=\"../steadfast_digest/struct.Digest.html\">Digest</a> \
                    <a href=\"../../steadfast_sys/file/struct.File.html#method.open\">open</a> \
                    <a class=\"src\" href=\"../src/steadfast_digest/digest.rs.html\">Source</a> \
                    <a href=\"struct.Run.html\">Run</a> <a href=\"../steadfast/index.html\">up</a>";
        let found: Vec<&str> = foreign_links(page).collect();
        let expected = [
            "steadfast_digest/struct.Digest.html",
            "steadfast_sys/file/struct.File.html#method.open",
        ];
        assert_eq!(found, expected);
    }
}
