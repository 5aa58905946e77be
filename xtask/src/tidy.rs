//! Checks the house style: reads the files of the repository and prints what breaks a rule.
//!
//! A rule sees the tree as text and reports problems; it changes nothing. Each group of rules is
//! one file under `tidy/`, with its data at the top. What the compiler or clippy can check is not
//! checked here.

mod boundary;
mod budget;
mod comments;
mod documents;
mod imports;
mod links;
mod modules;
mod names;
mod skips;
mod source;
mod tree;
mod words;

use std::path::Path;
use std::time::Instant;

use self::tree::Tree;

/// A problem that a rule found.
#[derive(Debug)]
struct Problem {
    path: String,
    /// Counted from 1; 0 for the whole file.
    line: usize,
    message: String,
    /// Whether it is a note, which is printed but does not fail the run.
    note: bool,
}

/// The problems found so far.
#[derive(Debug, Default)]
struct Findings {
    problems: Vec<Problem>,
}

impl Findings {
    fn error(&mut self, path: &str, line: usize, message: impl Into<String>) {
        self.push(path, line, message.into(), false);
    }

    fn note(&mut self, path: &str, line: usize, message: impl Into<String>) {
        self.push(path, line, message.into(), true);
    }

    fn push(&mut self, path: &str, line: usize, message: String, note: bool) {
        self.problems.push(Problem { path: path.to_owned(), line, message, note });
    }

    /// Prints one line per problem in path order; returns the counts of errors and notes.
    fn print(&mut self) -> (usize, usize) {
        self.problems.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        let mut counts = (0, 0);
        for problem in &self.problems {
            let kind = if problem.note { "note: " } else { "" };
            let Problem { path, line, message, .. } = problem;
            println!("{path}:{}: {kind}{message}", (*line).max(1));
            if problem.note {
                counts.1 += 1;
            } else {
                counts.0 += 1;
            }
        }
        counts
    }
}

/// Checks every rule. Returns `Ok(false)` if at least one is broken.
pub(crate) fn run(root: &Path) -> anyhow::Result<bool> {
    let started = Instant::now();
    let tree = Tree::read(root)?;
    let metadata = imports::metadata(root)?;
    let mut findings = Findings::default();
    check(&tree, &metadata, &mut findings);
    let (errors, notes) = findings.print();
    let seconds = started.elapsed().as_secs_f64();
    println!("tidy: {} files, {errors} problems, {notes} notes, {seconds:.2} s", tree.file_count());
    Ok(errors == 0)
}

fn check(tree: &Tree, metadata: &serde_json::Value, findings: &mut Findings) {
    boundary::check(tree, findings);
    budget::check(tree, findings);
    comments::check(tree, findings);
    documents::check(tree, metadata, findings);
    imports::check(metadata, findings);
    links::check(tree, findings);
    modules::check(tree, findings);
    names::check(tree, findings);
    skips::check(tree, findings);
    words::check(tree, findings);
}

/// Runs one group of rules over files given in memory; returns `path:line: message` lines.
#[cfg(test)]
fn findings_of(files: &[(&str, &str)], rule: impl Fn(&Tree, &mut Findings)) -> Vec<String> {
    let mut findings = Findings::default();
    rule(&Tree::of(files), &mut findings);
    let shown = |p: &Problem| format!("{}:{}: {}", p.path, p.line, p.message);
    findings.problems.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_group_of_rules_is_asked() {
        let long = format!("//! Walks.\n// {}\n", "x".repeat(100));
        let files = [
            ("crates/steadfast/src/walk.rs", long.as_str()),
            ("crates/steadfast/src/read.rs", "//! Reads.\nlet out = io::stdout();\n"),
            ("crates/steadfast/src/hash.rs", "fn hash() {}\n"),
            ("crates/steadfast/src/tag.rs", "//! The fingerprint of a file.\n"),
            ("docs/a.md", "`docs/b.md`"),
            ("CHANGELOG.md", "0.1.0"),
        ];
        let dependency = json!({ "name": "steadfast", "kind": null, "path": "/w" });
        let metadata = json!({ "packages": [{
            "name": "steadfast-sys",
            "version": "0.1.0",
            "dependencies": [dependency],
        }] });
        let found = findings_of(&files, |tree, findings| check(tree, &metadata, findings));
        let paths: Vec<&str> = found.iter().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(
            paths,
            [
                "crates/steadfast/src/read.rs",
                "crates/steadfast/src/walk.rs",
                "crates/steadfast/src/hash.rs",
                "docs/a.md",
                "Cargo.toml",
                "crates/steadfast/src/tag.rs",
            ]
        );
    }

    #[test]
    fn notes_do_not_fail() {
        let mut findings = Findings::default();
        findings.note("a.rs", 0, "long");
        assert_eq!(findings.print(), (0, 1));
        findings.error("a.rs", 2, "wrong");
        assert_eq!(findings.print(), (1, 1));
    }
}
