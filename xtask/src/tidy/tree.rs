//! The repository for the rules: paths, and the text of the files that rules read.
//!
//! Paths are relative to the root, with `/`. Must not know any rule.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context as _;

use super::source::Source;

/// Names of folders that do not belong to the project, at any depth.
const SKIPPED: &[&str] =
    &[".git", ".venv", ".venv-browser", "target", "__pycache__", "node_modules"];

/// Extensions of the files whose text is read.
const READ: &[&str] = &["md", "rs", "toml"];

/// Every file and folder, and the text of those that rules read.
#[derive(Debug, Default)]
pub(super) struct Tree {
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
    texts: BTreeMap<String, String>,
    sources: Vec<Source>,
}

impl Tree {
    /// Reads the tree beneath `root`. Symbolic links are listed and not followed.
    pub(super) fn read(root: &Path) -> anyhow::Result<Tree> {
        let mut tree = Tree::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> anyhow::Result<()> {
        let context = || format!("reading `{}`", folder.display());
        for entry in fs::read_dir(folder).with_context(context)? {
            let entry = entry.with_context(context)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if entry.file_type().with_context(context)?.is_dir() {
                if !SKIPPED.contains(&name.as_str()) {
                    self.read_folder(&entry.path(), &format!("{path}/"))?;
                    self.folders.insert(path);
                }
            } else {
                let read = READ.contains(&extension(&name));
                let text = if read { fs::read_to_string(entry.path()).ok() } else { None };
                self.add(path, text);
            }
        }
        Ok(())
    }

    fn add(&mut self, path: String, text: Option<String>) {
        if let Some(text) = text {
            if extension(&path) == "rs" {
                self.sources.push(Source::parse(&path, &text));
            }
            self.texts.insert(path.clone(), text);
        }
        self.files.insert(path);
    }

    /// A tree of files given in memory; their folders follow from their paths.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            for (at, _) in path.match_indices('/') {
                tree.folders.insert(path[..at].to_owned());
            }
            tree.add((*path).to_owned(), Some((*text).to_owned()));
        }
        tree
    }

    pub(super) fn file_count(&self) -> usize {
        self.files.len()
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains(path) || self.folders.contains(path)
    }

    pub(super) fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Returns the text of a file; `None` if it is missing or of a kind that is not read.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// The documents: path and text of every Markdown file.
    pub(super) fn documents(&self) -> impl Iterator<Item = (&str, &str)> {
        let markdown = self.texts.iter().filter(|(path, _)| extension(path) == "md");
        markdown.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Every file whose text is read: path and text.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }
}

/// Returns the extension of a file's name, or an empty text.
pub(super) fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}
