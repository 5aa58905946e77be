//! Checks that every type name is declared once in the sources of all crates.
//!
//! In: the lines of every Rust file. Out: declarations of a name beyond the first. Associated types
//! and tests are not counted. A type that is declared in variants for several systems or processors
//! counts once.

use std::collections::BTreeMap;

use super::Findings;
use super::tree::Tree;

/// Names that each crate, or each verb of the command, declares for itself.
const COMMON: &[&str] = &["Args", "Error", "ErrorKind", "Result"];

/// Names that are declared more often than once, and how often at most. Sorted. The list only
/// shrinks: a name that is declared once leaves it.
const REPEATED: &str = "
    Compared 2, Finding 2, Format 2, Layer 2, Line 2, Part 2,
    Plan 2, Point 2, Record 2, Stage 2, Step 2, Task 2, Workload 2
";

/// Files of `crates/sys` that declare the same types for different systems.
const SYSTEMS: &[&str] = &["absent.rs", "linux.rs", "macos.rs"];

/// Folders of `digest` whose files have one shape: a kernel for each processor's instructions, and
/// the state of each algorithm.
const SHAPES: &[&str] = &["crates/digest/src/backend/", "crates/digest/src/state/"];

/// Where a type is declared: path and line.
type Site<'a> = (&'a str, usize);

/// This file, which holds the list of repeated names.
const LIST: &str = "xtask/src/tidy/names.rs";

pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    // The trees of tests contain none of these names.
    check_against(tree, if tree.has(LIST) { REPEATED } else { "" }, findings);
}

fn check_against(tree: &Tree, repeated: &str, findings: &mut Findings) {
    let limits: BTreeMap<&str, usize> = entries(repeated).collect();
    let mut declared = declarations(tree);
    for name in limits.keys() {
        declared.entry(name).or_default();
    }
    for (name, sites) in declared {
        let most = limits.get(name).copied().unwrap_or(1);
        let first = sites.values().next().map_or("", |(path, _)| *path);
        for (path, line) in sites.values().skip(most) {
            let message = format!("type `{name}` is declared in `{first}` too: rename one of them");
            findings.error(path, *line, message);
        }
        if sites.len() < most {
            let count = sites.len();
            let message = format!("type `{name}` is declared {count} times: lower its number");
            findings.note(LIST, 0, message);
        }
    }
}

/// The entries of a list as `REPEATED`, in order.
fn entries(list: &str) -> impl Iterator<Item = (&str, usize)> {
    list.split(',').filter_map(|entry| {
        let (name, most) = entry.trim().split_once(' ')?;
        Some((name, most.parse().ok()?))
    })
}

/// Returns where each type is declared, by its name and by the place that all variants share.
fn declarations(tree: &Tree) -> BTreeMap<&str, BTreeMap<String, Site<'_>>> {
    let mut found: BTreeMap<&str, BTreeMap<String, Site<'_>>> = BTreeMap::new();
    let ours = |path: &str| path.starts_with("crates/") && path.contains("/src/");
    for source in tree.sources().iter().filter(|source| ours(&source.path)) {
        for (number, line) in source.numbered().filter(|(_, line)| !line.test) {
            if let Some(name) = declared(&line.code).filter(|name| !COMMON.contains(name)) {
                let site = (source.path.as_str(), number);
                found.entry(name).or_default().entry(version_of(site)).or_insert(site);
            }
        }
    }
    found
}

/// Returns the type that a line declares. Of aliases, only associated types are indented.
fn declared(code: &str) -> Option<&str> {
    let rest = code.trim_start();
    let rest = match rest.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => rest,
    };
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let (keyword, rest) = rest.split_once(' ')?;
    let indented = code.starts_with(' ');
    let declares = matches!(keyword, "struct" | "enum" | "trait") || keyword == "type" && !indented;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let name = &rest[..end];
    (declares && name.starts_with(char::is_uppercase)).then_some(name)
}

/// Returns the declaration itself, or the folder if each file in it has a variant of it.
fn version_of((path, line): Site<'_>) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if let Some(shape) = SHAPES.iter().find(|shape| path.starts_with(**shape)) {
        return (*shape).to_owned();
    }
    if path.starts_with("crates/sys/src/") && SYSTEMS.contains(&name) {
        return folder.to_owned();
    }
    format!("{path}:{line:06}")
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    fn found(repeated: &str, files: &[(&str, &str)]) -> Vec<String> {
        findings_of(files, |tree, findings| check_against(tree, repeated, findings))
    }

    const TWICE: [(&str, &str); 2] = [
        ("crates/report/src/table.rs", "pub(crate) struct Row {\n"),
        ("crates/serve/src/table.rs", "//! Tables.\npub enum Row {\n"),
    ];

    #[test]
    fn a_name_is_declared_once() {
        let message = "crates/serve/src/table.rs:2: type `Row` is declared in \
                       `crates/report/src/table.rs` too: rename one of them";
        assert_eq!(found("", &TWICE), [message]);
        assert_eq!(found("", &TWICE[..1]), [""; 0]);
    }

    #[test]
    fn the_list_allows_so_many_and_only_shrinks() {
        assert_eq!(found("Row 2", &TWICE), [""; 0]);
        let gone = found("Row 2, Rows 2", &TWICE);
        assert!(gone[0].contains("`Rows` is declared 0 times: lower its number"), "{gone:?}");
        let third = ("crates/sys/src/table.rs", "trait Row {}\n");
        assert_eq!(found("Row 2", &[TWICE[0], TWICE[1], third]).len(), 1);
        let shrinks = found("Row 3", &TWICE);
        assert!(shrinks[0].contains("declared 2 times: lower its number"), "{shrinks:?}");
    }

    #[test]
    fn versions_tests_and_associated_types_are_not_repeats() {
        let type_in = |path, text| (path, text);
        for files in [
            [
                type_in("crates/sys/src/uring/linux.rs", "pub struct Queue;\n"),
                type_in("crates/sys/src/uring/absent.rs", "pub struct Queue;\n"),
            ],
            [
                type_in("crates/digest/src/backend/x86_avx2/md5.rs", "type Vectors = [u8];\n"),
                type_in("crates/digest/src/backend/x86_shani.rs", "type Vectors = [u8];\n"),
            ],
            [
                type_in("crates/a/src/lib.rs", "    type Item = u8;\n    type Error = u8;\n"),
                type_in("crates/b/src/lib.rs", "    type Item = u8;\ntype Error = u8;\n"),
            ],
            [
                type_in("crates/a/src/lib.rs", "struct Tree<'a>(&'a str);\n"),
                type_in("crates/a/tests/it/tree.rs", "struct Tree;\n// struct Tree;\n"),
            ],
            [
                type_in("crates/a/src/lib.rs", "pub enum ErrorKind {\n"),
                type_in("crates/b/src/lib.rs", "pub enum ErrorKind {\n"),
            ],
        ] {
            assert_eq!(found("", &files), [""; 0]);
        }
    }

    #[test]
    fn the_list_is_sorted() {
        let listed: Vec<(&str, usize)> = entries(REPEATED).collect();
        assert!(listed.is_sorted() && listed.iter().all(|(_, most)| *most > 1));
        assert_eq!(listed.len(), REPEATED.matches(',').count() + 1, "an entry is not understood");
    }
}
