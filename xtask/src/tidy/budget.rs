//! Checks the lengths of lines, types and files, and the names of files. Clippy checks those of
//! functions.
//!
//! Of tests, only the lengths of lines are checked.

use super::Findings;
use super::source::{Source, has_word, item_end};
use super::tree::Tree;

const COLUMNS_MAX: usize = 100;
/// A file longer than this should have a reason.
const FILE_LINES_NOTED: usize = 600;
const FILE_LINES_MAX: usize = 800;

/// A type with more fields should be several, or say why not in a comment that begins so.
const FIELDS_MAX: usize = 15;
const FIELDS_REASON: &str = "// Over 15 fields: ";

/// Names of files and folders that do not describe the contents.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "imp", "common", "misc"];

pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    for source in tree.sources() {
        check_columns(source, findings);
        check_fields(source, findings);
        check_length(source, findings);
        check_name(source, findings);
    }
}

fn check_columns(source: &Source, findings: &mut Findings) {
    for (number, line) in source.numbered() {
        let columns = line.text.chars().count();
        if columns > COLUMNS_MAX && !line.text.contains("://") {
            let message = format!("{columns} columns; the most is {COLUMNS_MAX}");
            findings.error(&source.path, number, message);
        }
    }
}

fn check_fields(source: &Source, findings: &mut Findings) {
    for (at, line) in source.lines.iter().enumerate().filter(|(_, line)| !line.test) {
        let Some((_, rest)) = line.code.split_once("struct ") else { continue };
        if !has_word(&line.code, "struct") || !rest.ends_with('{') {
            continue;
        }
        let end = item_end(&source.lines, at, 0);
        let fields = source.lines[at + 1..end].iter().filter(|line| is_field(&line.code)).count();
        if fields > FIELDS_MAX && !has_reason(source, at) {
            let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let message = format!(
                "type `{name}` has {fields} fields; the most is {FIELDS_MAX} without a reason \
                 above it that begins with `{FIELDS_REASON}`"
            );
            findings.error(&source.path, at + 1, message);
        }
    }
}

/// Returns whether a line within a type begins a field: a name and a colon.
fn is_field(code: &str) -> bool {
    let code = code.trim_start();
    let code = match code.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ").map_or("", |(_, rest)| rest),
        Some(rest) if rest.starts_with(' ') => &rest[1..],
        _ => code,
    };
    let Some((name, rest)) = code.split_once(':') else { return false };
    let name = name.strip_prefix("r#").unwrap_or(name);
    !rest.starts_with(':')
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns whether the comments and attributes above a type give a reason for its size.
fn has_reason(source: &Source, at: usize) -> bool {
    let above = source.lines[..at].iter().rev().map(|line| line.text.trim());
    let mut above = above.take_while(|text| !text.is_empty() && *text != "}");
    above.any(|text| text.starts_with(FIELDS_REASON))
}

fn check_length(source: &Source, findings: &mut Findings) {
    let lines = source.lines.iter().filter(|line| !line.test).count();
    if lines > FILE_LINES_MAX {
        findings.error(&source.path, 0, format!("{lines} lines; split at {FILE_LINES_MAX}"));
    } else if lines > FILE_LINES_NOTED {
        findings.note(&source.path, 0, format!("{lines} lines; over {FILE_LINES_NOTED}"));
    }
}

fn check_name(source: &Source, findings: &mut Findings) {
    let stem = source.path.strip_suffix(".rs").unwrap_or(&source.path);
    for name in stem.split('/').filter(|name| EMPTY_NAMES.contains(name)) {
        findings.error(&source.path, 0, format!("`{name}` says nothing; name what is inside"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    const PATH: &str = "crates/steadfast/src/walk.rs";

    fn found(path: &str, text: &str) -> Vec<String> {
        findings_of(&[(path, text)], check)
    }

    #[test]
    fn columns_are_counted_in_characters() {
        assert_eq!(found(PATH, &"é".repeat(100)), [""; 0]);
        assert_eq!(found(PATH, &"é".repeat(101)).len(), 1);
        assert_eq!(found(PATH, &format!("// https://{}", "e".repeat(101))), [""; 0]);
    }

    #[test]
    fn files_have_a_budget_without_their_tests() {
        assert_eq!(found(PATH, &"a\n".repeat(600)), [""; 0]);
        assert!(found(PATH, &"a\n".repeat(601))[0].contains("over 600"));
        assert!(found(PATH, &"a\n".repeat(801))[0].contains("split at 800"));
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "a\n".repeat(900));
        assert_eq!(found(PATH, &tests), [""; 0]);
    }

    #[test]
    fn types_have_a_budget_or_a_reason() {
        let with = |above: &str, fields: usize| {
            let body: String = (0..fields)
                .map(|at| format!("    /// One: of many.\n    #[a(b: c)]\n    pub f{at}: a::B,\n"))
                .collect();
            format!("{above}#[derive(Debug)]\npub(crate) struct Many<T: A> {{\n{body}}}\n")
        };
        assert_eq!(found(PATH, &with("", 15)), [""; 0]);
        let bad = found(PATH, &with("", 16));
        assert_eq!(bad.len(), 1);
        assert!(bad[0].contains("`Many` has 16 fields"), "{bad:?}");
        assert_eq!(found(PATH, &with("// Over 15 fields: a format.\n", 16)), [""; 0]);
        assert_eq!(found(PATH, &with("// Over 15 fields: another.\nstruct A;\n\n", 16)).len(), 1);
        assert_eq!(found("crates/steadfast/tests/it/main.rs", &with("", 16)), [""; 0]);
    }

    #[test]
    fn names_say_something() {
        assert_eq!(found("crates/steadfast/src/utils.rs", "").len(), 1);
        assert_eq!(found("crates/steadfast/tests/common/walk.rs", "").len(), 1);
        assert_eq!(found(PATH, ""), [""; 0]);
    }
}
