//! Checks that a module imports only modules above it in `lib.rs`.
//!
//! `lib.rs` (or `main.rs`) lists the modules of a crate in reading order: a module comes after
//! those that it uses. So there is no cycle. Tests may import any module.

use std::collections::HashMap;

use super::Findings;
use super::source::Source;
use super::tree::Tree;

/// Crates whose modules still form cycles. A crate that loses its cycle leaves this list.
const CYCLIC: &[&str] = &[];

pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    for root in tree.sources() {
        let Some(folder) = source_folder(&root.path) else { continue };
        let name = folder.trim_start_matches("crates/").trim_end_matches("/src/");
        if CYCLIC.contains(&name) {
            continue;
        }
        let order = Order::of(root);
        for source in tree.sources() {
            if let Some(path) = source.path.strip_prefix(folder) {
                check_module(source, module_of(path), &order, findings);
            }
        }
    }
}

/// Returns the folder of a crate's sources, if this is the file that lists its modules.
fn source_folder(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("lib.rs").or_else(|| path.strip_suffix("main.rs"))?;
    (folder.starts_with("crates/") && folder.ends_with("/src/")).then_some(folder)
}

/// Returns the module of a file: the first part of its path.
fn module_of(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or(path);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// The modules of a crate in their order, and the names that the crate's root re-exports.
struct Order {
    place: HashMap<String, usize>,
    exported: HashMap<String, String>,
}

impl Order {
    fn of(root: &Source) -> Order {
        let mut order = Order { place: HashMap::new(), exported: HashMap::new() };
        let code = code_of(root);
        for statement in code.split(';') {
            let words: Vec<&str> = statement.split_whitespace().collect();
            if let Some(at) = words.iter().position(|word| *word == "mod") {
                let name = words.get(at + 1).copied().unwrap_or("");
                if words.len() == at + 2 {
                    order.place.insert(name.to_owned(), order.place.len());
                }
            }
            let Some((before, path)) = statement.split_once("use ") else { continue };
            if before.split_whitespace().any(|word| word.starts_with("pub")) {
                let path = path.trim().trim_start_matches("crate::");
                let Some((module, names)) = path.split_once("::") else { continue };
                let names = names.split(|c: char| !c.is_alphanumeric() && c != '_');
                for name in names.filter(|name| !name.is_empty()) {
                    order.exported.insert(name.to_owned(), module.to_owned());
                }
            }
        }
        order
    }

    /// Returns the module of a name at the crate's root.
    fn module<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        match self.exported.get(name) {
            Some(module) if !self.place.contains_key(name) => Some(module),
            _ => self.place.contains_key(name).then_some(name),
        }
    }
}

fn check_module(source: &Source, module: &str, order: &Order, findings: &mut Findings) {
    let Some(place) = order.place.get(module) else { return };
    for (line, name) in names_of_root(source) {
        let Some(other) = order.module(&name) else { continue };
        if order.place.get(other).is_some_and(|other| other > place) {
            let message = format!(
                "module `{module}` may not import `{other}`, which stands below it in the list of \
                 modules"
            );
            findings.error(&source.path, line, message);
        }
    }
}

/// Returns the first names of all paths that begin at the crate's root, with their lines.
fn names_of_root(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    // Depth within the braces of `crate::{`, while in them, and whether a name begins.
    let mut within: Option<(usize, bool)> = None;
    for (number, line) in source.numbered().filter(|(_, line)| !line.test) {
        let mut rest = line.code.as_str();
        while !rest.is_empty() {
            if let Some((depth, begins)) = &mut within {
                let c = rest.chars().next().unwrap_or(' ');
                let name = name_at(rest);
                match c {
                    '{' => *depth += 1,
                    '}' => *depth -= 1,
                    ',' if *depth == 1 => *begins = true,
                    _ if !name.is_empty() && *depth == 1 && *begins => {
                        found.push((number, name.to_owned()));
                        *begins = false;
                    }
                    _ => {}
                }
                let ended = *depth == 0;
                rest = &rest[name.len().max(c.len_utf8())..];
                if ended {
                    within = None;
                }
                continue;
            }
            let Some(at) = rest.find("crate::") else { break };
            let is_path =
                !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
            rest = &rest[at + "crate::".len()..];
            match rest.strip_prefix('{') {
                Some(inner) if is_path => {
                    within = Some((1, true));
                    rest = inner;
                }
                _ if is_path => found.push((number, name_at(rest).to_owned())),
                _ => {}
            }
        }
    }
    found
}

/// Returns the name at the beginning of a text, if there is one.
fn name_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Returns the code of a file without its tests, on one line.
fn code_of(source: &Source) -> String {
    let lines = source.lines.iter().filter(|line| !line.test);
    lines.map(|line| line.code.as_str()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    const ROOT: &str = "#![forbid(unsafe_code)]\npub mod low;\nmod high;\n\n\
        pub use low::{Low, Other};\npub(crate) use high::High;\n";

    fn found(path: &str, text: &str) -> Vec<String> {
        let files = [("crates/x/src/lib.rs", ROOT), (path, text)];
        findings_of(&files, check)
    }

    #[test]
    fn modules_see_what_stands_above_them() {
        let high = "use crate::low;\nuse crate::{Low, low::deep::{A, B}};\nuse crate::high::x;\n";
        assert_eq!(found("crates/x/src/high.rs", high), [""; 0]);
        assert_eq!(found("crates/x/src/high/part.rs", high), [""; 0]);
    }

    #[test]
    fn no_module_sees_what_stands_below_it() {
        let expected = |path: &str, line: usize| {
            vec![format!(
                "{path}:{line}: module `low` may not import `high`, which stands below it in the \
                 list of modules"
            )]
        };
        for (text, line) in [
            ("use crate::high::High;\n", 1),
            ("//! Low.\nuse crate::High;\n", 2),
            ("use crate::{\n    low::{a, b},\n    high::c,\n};\n", 3),
            ("fn f() -> crate::high::High {}\n", 1),
        ] {
            assert_eq!(found("crates/x/src/low.rs", text), expected("crates/x/src/low.rs", line));
            let deep = "crates/x/src/low/deep.rs";
            assert_eq!(found(deep, text), expected(deep, line));
        }
    }

    #[test]
    fn tests_and_comments_may_name_anything() {
        let text = "// crate::high\n#[cfg(test)]\nmod tests {\n    use crate::high::High;\n}\n";
        assert_eq!(found("crates/x/src/low.rs", text), [""; 0]);
    }
}
