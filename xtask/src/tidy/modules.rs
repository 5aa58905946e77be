//! Checks that modules depend one way.
//!
//! `lib.rs` (or `main.rs`) lists the modules of a crate in reading order: a module comes after
//! those that it uses. So there is no cycle. The files of a folder may stand in any order, and must
//! not form a cycle either. Tests may import any module.

use std::collections::{BTreeMap, BTreeSet, HashMap};

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
        let mut imports = SiblingImports::default();
        for source in tree.sources() {
            if let Some(path) = source.path.strip_prefix(folder) {
                check_module(source, module_of(path), &order, findings);
                imports.add(source, path);
            }
        }
        imports.check(findings);
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
    for ImportedPath { line, up, path } in imported_paths(source) {
        let name = path.split("::").next().unwrap_or(&path);
        let Some(other) = order.module(name).filter(|_| up == 0) else { continue };
        if order.place.get(other).is_some_and(|other| other > place) {
            let message = format!(
                "module `{module}` may not import `{other}`, which stands below it in the list of \
                 modules"
            );
            findings.error(&source.path, line, message);
        }
    }
}

/// Where each of the files of one folder imports which others.
type FolderImports = BTreeMap<String, BTreeMap<String, (String, usize)>>;

/// The imports within each folder.
#[derive(Default)]
struct SiblingImports(BTreeMap<String, FolderImports>);

impl SiblingImports {
    /// Notes the imports of a file at `path` beneath the sources of its crate.
    fn add(&mut self, source: &Source, path: &str) {
        let own: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
        for ImportedPath { line, up, path } in imported_paths(source) {
            let above = if up == 0 { 0 } else { own.len().saturating_sub(up) };
            let other: Vec<&str> = own[..above].iter().copied().chain(path.split("::")).collect();
            let shared = own.iter().zip(&other).take_while(|(own, other)| own == other).count();
            let (Some(from), Some(to)) = (own.get(shared), other.get(shared)) else { continue };
            let folder = self.0.entry(own[..shared].join("/")).or_default();
            let imports = folder.entry((*from).to_owned()).or_default();
            imports.entry((*to).to_owned()).or_insert_with(|| (source.path.clone(), line));
        }
    }

    /// Reports each file that reaches itself through the imports of its folder.
    fn check(&self, findings: &mut Findings) {
        for folder in self.0.values() {
            for (from, imports) in folder {
                for (to, (path, line)) in imports {
                    if reaches(folder, to, from) {
                        let message = format!("`{from}` and `{to}` import each other in a cycle");
                        findings.error(path, *line, message);
                    }
                }
            }
        }
    }
}

/// Whether imports lead from one file of a folder to another.
fn reaches(folder: &FolderImports, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(at) = next.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            next.extend(folder.get(at).into_iter().flat_map(BTreeMap::keys).map(String::as_str));
        }
    }
    false
}

/// A path to another module.
struct ImportedPath {
    line: usize,
    /// How often it says `super`; 0 if it begins at the crate's root.
    up: usize,
    /// Its names after that, as far as they stand together.
    path: String,
}

/// Returns all paths that begin at the crate's root or above their own module.
fn imported_paths(source: &Source) -> Vec<ImportedPath> {
    let mut found = Vec::new();
    // Depth within the braces of `crate::{`, while in them, whether a name begins, and what stands
    // before the braces.
    let mut within: Option<(usize, bool, usize, String)> = None;
    for (line, text) in source.numbered().filter(|(_, line)| !line.test) {
        let mut rest = text.code.as_str();
        while !rest.is_empty() {
            if let Some((depth, begins, up, before)) = &mut within {
                let c = rest.chars().next().unwrap_or(' ');
                let path = path_at(rest);
                match c {
                    '{' => *depth += 1,
                    '}' => *depth -= 1,
                    ',' if *depth == 1 => *begins = true,
                    _ if !path.is_empty() && *depth == 1 && *begins => {
                        found.push(ImportedPath { line, up: *up, path: format!("{before}{path}") });
                        *begins = false;
                    }
                    _ => {}
                }
                let ended = *depth == 0;
                rest = &rest[path.len().max(c.len_utf8())..];
                if ended {
                    within = None;
                }
                continue;
            }
            let starts = ["crate::", "super::"].map(|start| rest.find(start));
            let Some(at) = starts.into_iter().flatten().min() else { break };
            let is_path =
                !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
            rest = &rest[at..];
            let mut up = 0;
            while let Some(above) = rest.strip_prefix("super::") {
                (rest, up) = (above, up + 1);
            }
            rest = rest.strip_prefix("crate::").filter(|_| up == 0).unwrap_or(rest);
            let path = path_at(rest);
            rest = &rest[path.len()..];
            match rest.strip_prefix("::{").or_else(|| rest.strip_prefix('{')) {
                Some(inner) if is_path => {
                    let before = if path.is_empty() { String::new() } else { format!("{path}::") };
                    within = Some((1, true, up, before));
                    rest = inner;
                }
                _ if is_path => found.push(ImportedPath { line, up, path: path.to_owned() }),
                _ => {}
            }
        }
    }
    found
}

/// Returns the names at the beginning of a text, with `::` between them.
fn path_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    text[..end.unwrap_or(text.len())].trim_end_matches(':')
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
    fn files_of_a_folder_form_no_cycle() {
        let files = |low: &'static str, deep: &'static str| {
            [
                ("crates/x/src/lib.rs", ROOT),
                ("crates/x/src/low/first.rs", low),
                ("crates/x/src/low/second/deep.rs", deep),
                ("crates/x/src/low/third.rs", "use super::{second, first::C};\n"),
            ]
        };
        let one_way = files("use super::Low;\n", "use super::super::first::A;\n");
        assert_eq!(findings_of(&one_way, check), [""; 0]);
        for path in ["super::super::third::A", "crate::low::third", "crate::low::{x, third}"] {
            let deep = format!("//! Deep.\nuse {path};\n");
            let cycle = files("use super::second::B;\n", deep.leak());
            let found = findings_of(&cycle, check);
            let expected = "crates/x/src/low/second/deep.rs:2: `second` and `third` import each \
                            other in a cycle";
            assert!(found.contains(&expected.to_owned()), "{found:?}");
        }
    }

    #[test]
    fn tests_and_comments_may_name_anything() {
        let text = "// crate::high\n#[cfg(test)]\nmod tests {\n    use crate::high::High;\n}\n";
        assert_eq!(found("crates/x/src/low.rs", text), [""; 0]);
    }
}
