//! How a command in a message says which files it acts on: those that the message is about, and no
//! others.

use std::path::{Path, PathBuf};

use steadfast::escape::visible;

/// Files that a command names at most.
const NAMED_MAX: usize = 5;

/// How a command in a message says which files it acts on: those that the message is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedFiles {
    /// By their paths, as a shell reads them.
    Named(String),
    /// As a numbered question about a folder, as a shell reads its path.
    Numbered {
        /// The number and the letters.
        code: String,
        /// The root of the tree.
        folder: String,
        /// How many of them the question does not list.
        more: u64,
    },
}

impl AskedFiles {
    /// Returns a command that acts on them; an answer needs no options.
    pub fn command(&self, verb: &str, options: &str) -> String {
        match self {
            AskedFiles::Named(paths) => format!("steadfast {verb} {options}{paths}"),
            AskedFiles::Numbered { code, folder, .. } => {
                format!("steadfast {verb} --answer {code} {folder}")
            }
        }
    }
}

/// Returns paths beneath a root as a shell reads them, if they are few and can be typed.
pub fn named(root: &Path, paths: &[PathBuf]) -> Option<String> {
    let typed = |path: &PathBuf| {
        let path = root.join(path);
        let text = path.to_str().filter(|text| visible(text) == *text)?;
        Some(quoted(text))
    };
    let typed: Option<Vec<String>> = paths.iter().map(typed).collect();
    typed.filter(|_| (1..=NAMED_MAX).contains(&paths.len())).map(|typed| typed.join(" "))
}

/// Quotes a path for a shell if it needs that.
pub fn quoted(path: &str) -> String {
    let path = visible(path);
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+".contains(letter);
    match path.chars().all(is_plain) {
        true => path.into_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}
