//! Checks comments: every file has a module comment; none announces work or is commented-out code.

use super::Findings;
use super::source::{Source, has_word};
use super::tree::Tree;

/// Words that announce work, which belongs in an issue.
const PROMISES: &[&str] = &["TODO", "FIXME", "XXX"];

/// Macros that are for debugging only.
const UNFINISHED: &[&str] = &["dbg!", "todo!", "unimplemented!"];

pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    for source in tree.sources() {
        check_opening(source, findings);
        for (number, line) in source.numbered() {
            for name in UNFINISHED.iter().filter(|name| has_word(&line.code, name)) {
                findings.error(&source.path, number, format!("`{name}` is unfinished work"));
            }
            check_promises(&source.path, number, &line.comment, findings);
            if is_sleeping_code(&line.comment) {
                findings.error(&source.path, number, "commented-out code");
            }
        }
    }
    for (path, text) in tree.texts().filter(|(path, _)| !path.ends_with(".rs")) {
        for (at, line) in text.lines().enumerate() {
            check_promises(path, at + 1, line, findings);
        }
    }
}

fn check_opening(source: &Source, findings: &mut Findings) {
    let first = source.lines.iter().map(|line| line.text.trim()).find(|text| !text.is_empty());
    if !first.is_some_and(|text| text.starts_with("//!")) {
        findings.error(&source.path, 0, "the file does not open with a `//!` comment");
    }
}

fn check_promises(path: &str, number: usize, prose: &str, findings: &mut Findings) {
    let prose = without_quotes(prose);
    for word in PROMISES.iter().filter(|word| has_word(&prose, word)) {
        findings.error(path, number, format!("`{word}`: write an issue instead"));
    }
}

/// Returns the prose of a line, without the names in backticks.
pub(super) fn without_quotes(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// Whether a comment is Rust code. In doubt, it is prose.
fn is_sleeping_code(comment: &str) -> bool {
    let Some(text) = comment.strip_prefix("//") else { return false };
    if text.starts_with(['/', '!']) {
        return false;
    }
    let text = text.trim();
    let first = text.split([' ', '(', '!', ';']).next().unwrap_or("");
    if let Some(statement) = text.strip_suffix(';') {
        return match first {
            "let" | "const" | "static" => statement.contains('='),
            "use" | "mod" | "pub" => !statement[first.len()..].trim().contains(' '),
            "return" | "break" | "continue" => text.len() == first.len() + 1,
            _ => is_call(statement) || is_assignment(statement),
        };
    }
    let opens = matches!(
        first,
        "if" | "for"
            | "while"
            | "match"
            | "loop"
            | "fn"
            | "pub"
            | "impl"
            | "mod"
            | "struct"
            | "enum"
            | "else"
            | "}"
    );
    text.ends_with('{') && opens
}

/// Matches `path::to(…)`, `value.call(…)` and `name!(…)`: a name directly followed by a
/// parenthesis, which closes at the end.
fn is_call(statement: &str) -> bool {
    let Some(open) = statement.find('(') else { return false };
    let closes = statement.ends_with([')', '?']);
    open > 0 && closes && !statement[..open].contains(' ')
}

/// Matches `place = value`, with one name or field on the left.
fn is_assignment(statement: &str) -> bool {
    let Some((place, _)) = statement.split_once("= ") else { return false };
    let place = place.trim_end_matches(['+', '-', '*', '|', '&', '^']);
    place.strip_suffix(' ').is_some_and(|name| !name.is_empty() && !name.contains(' '))
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        findings_of(&[("crates/steadfast/src/walk.rs", text)], check)
    }

    #[test]
    fn files_open_with_their_purpose() {
        assert_eq!(found("\n//! Walks.\nfn a() {}\n"), [""; 0]);
        assert_eq!(found("fn a() {}\n").len(), 1);
        assert_eq!(found("// Walks.\n//! Walks.\n").len(), 1);
    }

    #[test]
    fn promises_are_refused() {
        assert_eq!(found("//! A.\n// TODO: more\n").len(), 1);
        assert_eq!(found("//! A.\nf(); // FIXME\n").len(), 1);
        assert_eq!(found("//! A.\n// Says `TODO`.\nf(\"TODO\");\n"), [""; 0]);
        assert_eq!(findings_of(&[("docs/a.md", "TODO later")], check).len(), 1);
        assert_eq!(findings_of(&[("docs/a.md", "no `TODO` here")], check), [""; 0]);
    }

    #[test]
    fn unfinished_macros_are_refused() {
        for text in ["dbg!(a);", "todo!()", "unimplemented!()"] {
            assert_eq!(found(&format!("//! A.\n{text}\n")).len(), 1, "{text}");
        }
        assert_eq!(found("//! A.\nf(\"dbg!\");\n"), [""; 0]);
    }

    #[test]
    fn code_in_comments_is_told_from_prose() {
        let code = [
            "// let a = 1;",
            "// self.read(a, b)?;",
            "// assert_eq!(a, b);",
            "// self.count += 1;",
            "// use std::fs;",
            "// if a < b {",
            "// return;",
            "// } else {",
        ];
        for text in code {
            assert!(is_sleeping_code(text), "{text}");
        }
        let prose = [
            "// The tail is hashed first;",
            "// let the caller decide;",
            "// if the tag is absent, nothing is known;",
            "// use the old one;",
            "// return to the start of the folder;",
            "// A read that fails (twice);",
            "/// let a = 1;",
            "//! use std::fs;",
        ];
        for text in prose {
            assert!(!is_sleeping_code(text), "{text}");
        }
    }
}
