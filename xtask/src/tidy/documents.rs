//! Checks that everything that documents name exists: paths, commands, flags, the version.
//!
//! A path is checked if it is in backticks and begins with a folder at the root of the repository.
//! A planned path is written without backticks.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Findings;
use super::source::has_word;
use super::tree::Tree;

const COMMANDS: &str = "crates/cli/src/commands/";
const COMMAND_SOURCES: &str = "crates/cli/src/";

/// Languages of fenced blocks whose lines are commands.
const SHELLS: &[&str] = &["", "sh", "bash", "shell", "console"];

pub(super) fn check(tree: &Tree, metadata: &Value, findings: &mut Findings) {
    let commands = Commands::read(tree);
    for (path, text) in tree.documents() {
        let mut fence: Option<String> = None;
        for (at, line) in text.lines().enumerate() {
            let number = at + 1;
            if let Some(language) = line.trim_start().strip_prefix("```") {
                fence = fence.is_none().then(|| language.trim().to_owned());
                continue;
            }
            let mut report = |message: String| findings.error(path, number, message);
            match &fence {
                Some(language) if SHELLS.contains(&language.as_str()) => {
                    if let Some(command) = command_line(language, line) {
                        commands.check(command, &mut report);
                    }
                }
                Some(_) => {}
                None => {
                    for span in line.split('`').skip(1).step_by(2) {
                        check_path(tree, span, &mut report);
                        commands.check(span, &mut report);
                    }
                }
            }
        }
    }
    check_testdata(tree, findings);
    check_version(tree, metadata, findings);
}

/// Returns the command on a line of a shell block: in a console it follows a `$`, elsewhere it is
/// the line up to a comment.
fn command_line<'a>(language: &str, line: &'a str) -> Option<&'a str> {
    let line = line.trim();
    let line = match line.strip_prefix("$ ") {
        Some(command) => command,
        None if language == "console" => return None,
        None => line,
    };
    Some(line.split_once('#').map_or(line, |(command, _)| command))
}

fn check_path(tree: &Tree, span: &str, report: &mut dyn FnMut(String)) {
    if span.contains(char::is_whitespace) || !span.contains('/') {
        return;
    }
    for path in expand_braces(span) {
        let path = path.split(['*', '<']).next().unwrap_or("");
        // The text before a wildcard is a folder and the beginning of a name.
        let path = match path.rsplit_once('/') {
            Some((folder, _)) if span.contains(['*', '<']) => folder,
            _ => path.trim_end_matches('/'),
        };
        let path = path.split([':', '#']).next().unwrap_or("");
        let first = path.split('/').next().unwrap_or("");
        if tree.has(first) && !tree.has(path) {
            report(format!("`{path}` does not exist"));
        }
    }
}

/// Expands `a/{b,c}.rs` to `a/b.rs` and `a/c.rs`; nested braces too.
fn expand_braces(text: &str) -> Vec<String> {
    let Some(open) = text.rfind('{') else { return vec![text.to_owned()] };
    let Some(close) = text[open..].find('}').map(|at| open + at) else {
        return vec![text.to_owned()];
    };
    let (before, after) = (&text[..open], &text[close + 1..]);
    let choices = text[open + 1..close].split(',');
    choices.flat_map(|choice| expand_braces(&format!("{before}{choice}{after}"))).collect()
}

/// The existing verbs, and the files that declare their flags.
struct Commands<'a> {
    verbs: BTreeSet<String>,
    sources: Vec<&'a str>,
}

impl<'a> Commands<'a> {
    /// Verbs are the names of the files in the commands' folder.
    fn read(tree: &'a Tree) -> Self {
        let files = tree.files().filter_map(|path| path.strip_prefix(COMMANDS));
        let stems = files.filter_map(|name| name.strip_suffix(".rs"));
        let verbs = stems.filter(|stem| !stem.contains('/')).map(|stem| stem.replace('_', "-"));
        let of_command = |path: &&str| path.starts_with(COMMAND_SOURCES);
        let sources = tree.texts().map(|(path, _)| path).filter(of_command);
        let sources = sources.filter_map(|path| tree.text(path)).collect();
        Commands { verbs: verbs.collect(), sources }
    }

    /// Checks every `steadfast` command in a command line.
    fn check(&self, line: &str, report: &mut dyn FnMut(String)) {
        for command in line.split(['|', ';', '&', '(', ')']) {
            let words: Vec<&str> = command.split_whitespace().collect();
            match words.as_slice() {
                ["cargo", "xtask", verb, ..] if is_verb(verb) && !is_chore(verb) => {
                    report(format!("`cargo xtask {verb}` does not exist"));
                }
                [program, rest @ ..] if program.rsplit('/').next() == Some("steadfast") => {
                    self.check_verb(rest, report);
                }
                _ => {}
            }
        }
    }

    fn check_verb(&self, words: &[&str], report: &mut dyn FnMut(String)) {
        if self.verbs.is_empty() {
            return;
        }
        if let Some(verb) = words.first().filter(|word| is_verb(word))
            && *verb != "help"
            && !self.verbs.contains(*verb)
        {
            report(format!("`steadfast {verb}` does not exist"));
        }
        // The words after a bare `--` are another program's command line.
        for word in words.iter().take_while(|word| **word != "--") {
            let Some(flag) = word.strip_prefix("--") else { continue };
            let flag = flag.split('=').next().unwrap_or(flag);
            let plain = flag.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            if plain && !self.has_flag(flag) {
                report(format!("flag `--{flag}` does not exist"));
            }
        }
    }

    /// Whether the command's sources declare a long flag, by a field or by its name.
    fn has_flag(&self, flag: &str) -> bool {
        let field = flag.replace('-', "_");
        let literal = format!("\"{flag}\"");
        let declares = |text: &&str| has_word(text, &field) || text.contains(&literal);
        matches!(flag, "help" | "version") || self.sources.iter().any(declares)
    }
}

fn is_chore(verb: &str) -> bool {
    crate::VERBS.iter().any(|(name, _)| *name == verb)
}

fn is_verb(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// Checks that every folder of files in `testdata`, or a folder above it, has a README.
fn check_testdata(tree: &Tree, findings: &mut Findings) {
    for folder in tree.folders().filter(|path| path.split('/').any(|name| name == "testdata")) {
        let inside =
            |path: &&str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let holds = |path: &str| !path[folder.len() + 1..].contains('/');
        let is_root = folder.ends_with("testdata");
        if !is_root && !tree.files().filter(inside).any(holds) {
            continue;
        }
        let mut above = folder;
        loop {
            let explained = tree.has(&format!("{above}/README.md"));
            if explained && (is_root || !above.ends_with("testdata")) {
                break;
            }
            match above.rsplit_once('/') {
                Some((parent, _)) if !is_root && !parent.ends_with("testdata") => above = parent,
                _ => {
                    findings.error(folder, 0, "no README.md says what this folder holds");
                    break;
                }
            }
        }
    }
}

fn check_version(tree: &Tree, metadata: &Value, findings: &mut Findings) {
    let version = metadata["packages"][0]["version"].as_str().unwrap_or("");
    match tree.text("CHANGELOG.md") {
        Some(text) if text.contains(version) => {}
        Some(_) => findings.error("CHANGELOG.md", 0, format!("version {version} is not in it")),
        None => findings.error("CHANGELOG.md", 0, "the file does not exist"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;
    use serde_json::json;

    const VERB: (&str, &str) = ("crates/cli/src/commands/check.rs", "//! C.\nread_from: Engine,\n");

    /// The findings in one document, in a repository with one verb.
    fn found(document: &str) -> Vec<String> {
        let files = [("docs/a.md", document), ("CHANGELOG.md", "## 0.1.0"), VERB];
        let metadata = json!({ "packages": [{ "version": "0.1.0" }] });
        findings_of(&files, |tree, findings| check(tree, &metadata, findings))
    }

    #[test]
    fn paths_exist() {
        assert_eq!(found("see `docs/b.md`"), ["docs/a.md:1: `docs/b.md` does not exist"]);
        assert_eq!(found("see `docs/a.md:3`, `crates/cli/`, `docs/*.md`, `docs/<b>.md`"), [""; 0]);
        assert_eq!(found("`crates/cli/src/commands/{check,gone}.rs`").len(), 1);
        assert_eq!(found("planned: docs/b.md; theirs: `src/arch/`, `and/or`"), [""; 0]);
    }

    #[test]
    fn commands_exist() {
        assert_eq!(found("`cargo xtask tidy` `steadfast check .` `steadfast help`"), [""; 0]);
        assert_eq!(found("`cargo xtask tidily`").len(), 1);
        assert_eq!(found("`steadfast chek .`").len(), 1);
        assert_eq!(found("```sh\nls | steadfast chek  # steadfast does\n```").len(), 1);
        assert_eq!(found("```console\n$ ./steadfast chek\nsteadfast says\n```").len(), 1);
        assert_eq!(found("```text\nsteadfast says\n```\nsteadfast says"), [""; 0]);
    }

    #[test]
    fn flags_exist() {
        assert_eq!(found("`steadfast check --read-from media --help .`"), [""; 0]);
        assert_eq!(found("`steadfast check --read-form=media`").len(), 1);
        assert_eq!(found("`steadfast check -- --else`"), [""; 0]);
    }

    #[test]
    fn the_version_is_in_the_changelog() {
        let metadata = json!({ "packages": [{ "version": "0.2.0" }] });
        let run = |files: &[(&str, &str)]| {
            findings_of(files, |tree, findings| check(tree, &metadata, findings))
        };
        assert_eq!(run(&[("CHANGELOG.md", "## 0.2.0")]), [""; 0]);
        assert_eq!(run(&[("CHANGELOG.md", "## 0.1.0")]).len(), 1);
        assert_eq!(run(&[]).len(), 1);
    }

    #[test]
    fn folders_of_test_data_are_explained() {
        let run = |files: &[(&str, &str)]| findings_of(files, check_testdata);
        let root = ("testdata/README.md", "");
        assert_eq!(run(&[root, ("testdata/a/README.md", ""), ("testdata/a/b/c.bin", "")]), [""; 0]);
        assert_eq!(run(&[root, ("testdata/a/b/c.bin", "")]).len(), 1);
        assert_eq!(run(&[("testdata/a/README.md", "")]).len(), 1);
    }
}
