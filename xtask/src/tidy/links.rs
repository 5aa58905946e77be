//! Links of documents lead somewhere, and `docs/` reads as a book.
//!
//! A link to a file of the repository names one that exists, and its anchor is a heading there.
//! Every page of the book is listed once in its table of contents, and links only within the book,
//! because nothing else is beside it when it is built.

use super::Findings;
use super::tree::{Tree, extension};

/// The folder of the book's pages.
const BOOK: &str = "docs/";
const CONTENTS: &str = "docs/SUMMARY.md";
/// Explains the pictures to whoever makes them again; no page of the book.
const NOT_PAGES: &[&str] = &[CONTENTS, "docs/images/README.md"];

pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    for (path, text) in tree.documents() {
        for (line, target) in links(text) {
            if let Some(message) = problem(tree, path, target) {
                findings.error(path, line, message);
            }
        }
    }
    check_contents(tree, findings);
}

/// What is wrong with a link to a file of the repository, or to a heading of the same one.
fn problem(tree: &Tree, document: &str, target: &str) -> Option<String> {
    if target.contains(':') {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { document.to_owned() } else { resolve(document, file) };
    if !path.is_empty() && !tree.has(&path) {
        return Some(format!("link to `{target}`, which does not exist"));
    }
    let is_page = document.starts_with(BOOK) && !NOT_PAGES.contains(&document);
    if is_page && !path.starts_with(BOOK) {
        return Some(format!("link to `{target}`, which is outside of the book: name the path"));
    }
    let headings = tree.text(&path).filter(|_| extension(&path) == "md")?;
    let exists = anchor.is_empty() || anchors(headings).any(|heading| heading == anchor);
    (!exists).then(|| format!("link to `{target}`, which has no such heading"))
}

/// Every page of the book is in its table of contents, once.
fn check_contents(tree: &Tree, findings: &mut Findings) {
    let Some(contents) = tree.text(CONTENTS) else { return };
    let listed: Vec<String> =
        links(contents).map(|(_, target)| resolve(CONTENTS, target)).collect();
    let documents = tree.documents().map(|(path, _)| path);
    let is_page = |path: &&str| path.starts_with(BOOK) && !NOT_PAGES.contains(path);
    for page in documents.filter(is_page) {
        let times = listed.iter().filter(|path| *path == page).count();
        if times != 1 {
            findings.error(CONTENTS, 0, format!("`{page}` is listed {times} times, not once"));
        }
    }
}

/// The targets of `[text](target)` outside of fenced blocks, with their lines counted from 1.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(number, line)| {
        let target = move |(at, _)| line[at + 2..].split([')', ' ']).next().unwrap_or("");
        line.match_indices("](").map(target).map(move |target| (number, target))
    })
}

/// The anchors of a document's headings, as mdBook and code forges make them.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let headings = prose(text).filter_map(|(_, line)| {
        let heading = line.trim_start_matches('#');
        (heading.len() < line.len()).then_some(heading.trim())
    });
    headings.map(|heading| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

/// The lines outside of fenced blocks, counted from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    })
}

/// A link's target as a path from the root; empty for the root itself.
fn resolve(document: &str, target: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    #[test]
    fn links_resolve() {
        let found = |page: &str| {
            let other = ("docs/sub/b.md", "# Kept `leaves`, version 1\n```\n# code\n```\n");
            findings_of(&[("docs/a.md", page), other, ("README.md", "")], check)
        };
        let right = "[b](sub/b.md) [b](sub/b.md#kept-leaves-version-1) [a](#one)\n# One";
        assert_eq!(found(right), [""; 0]);
        assert_eq!(found("[c](https://d/e)\n```\n[c](c.md)\n```"), [""; 0]);
        assert_eq!(found("\n[c](c.md)"), ["docs/a.md:2: link to `c.md`, which does not exist"]);
        assert_eq!(found("[b](sub/b.md#code)").len(), 1);
        assert_eq!(found("[a](#two)\n# One").len(), 1);
        assert_eq!(found("[r](../README.md)").len(), 1);
        assert_eq!(findings_of(&[("a.md", "[b](b/)"), ("b/c.md", "[a](../a.md)")], check), [""; 0]);
    }

    #[test]
    fn pages_are_listed_once() {
        let found = |contents| {
            let pages = [("docs/a.md", ""), ("docs/images/README.md", ""), ("README.md", "")];
            findings_of(&[&pages[..], &[(CONTENTS, contents)]].concat(), check)
        };
        assert_eq!(found("- [A](a.md)"), [""; 0]);
        assert_eq!(found("").len(), 1);
        assert_eq!(found("- [A](a.md)\n- [B](a.md)").len(), 1);
    }
}
