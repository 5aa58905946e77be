//! Splits a Rust file into lines, and each line into code and comment.
//!
//! In: text. Out: lines whose `code` has no comments and no contents of strings, so that a rule can
//! search for a name without a parser. Must not know any rule.

use std::iter::Peekable;
use std::str::Chars;

/// One line of a Rust file.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// The line as written.
    pub(super) text: String,
    /// The line with comments and the insides of literals left out.
    pub(super) code: String,
    /// The comment on this line with its slashes, or nothing.
    pub(super) comment: String,
    /// Whether the line belongs to a test, by its folder or by `cfg(test)`.
    pub(super) test: bool,
}

/// One Rust file.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: String,
    pub(super) lines: Vec<Line>,
}

impl Source {
    /// Splits a file. A file that does not compile is split as well as it can be.
    pub(super) fn parse(path: &str, text: &str) -> Source {
        let mut lines = Splitter::new(text).split();
        if is_test_path(path) {
            lines.iter_mut().for_each(|line| line.test = true);
        } else {
            mark_tests(&mut lines);
        }
        Source { path: path.to_owned(), lines }
    }

    /// Returns the lines with their numbers, counted from 1.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines.iter().enumerate().map(|(at, line)| (at + 1, line))
    }
}

/// Whether a file belongs to tests; `crates/testing` is the code that tests share.
fn is_test_path(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let of_tests = |folder| matches!(folder, "tests" | "testing" | "benches" | "examples" | "fuzz");
    name == "tests.rs" || folders.split('/').any(of_tests)
}

/// Marks the lines under `#[cfg(test)]`: up to the end of the item that follows.
fn mark_tests(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let code = &lines[at].code;
        let start = at;
        at += 1;
        if code.contains("#[cfg(") && has_word(code, "test") && !code.contains("not(test") {
            let end = item_end(lines, start, code.find("#[cfg(").unwrap_or(0));
            lines[start..=end].iter_mut().for_each(|line| line.test = true);
            at = end + 1;
        }
    }
}

/// Returns the last line of the item that begins at a line and a byte: that of its closing brace or
/// its semicolon. Skips attributes, parentheses and brackets.
pub(super) fn item_end(lines: &[Line], start: usize, column: usize) -> usize {
    let (mut braces, mut nested) = (0_usize, 0_usize);
    for (at, line) in lines.iter().enumerate().skip(start) {
        let from = if at == start { column } else { 0 };
        for c in line.code[from..].chars() {
            match c {
                '(' | '[' => nested += 1,
                ')' | ']' => nested = nested.saturating_sub(1),
                '{' => braces += 1,
                '}' => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 && nested == 0 {
                        return at;
                    }
                }
                ';' if braces == 0 && nested == 0 => return at,
                _ => {}
            }
        }
    }
    lines.len() - 1
}

/// Whether `word` occurs in `code` as a whole word, or as a path beginning at a word's start.
///
/// If `word` ends in punctuation, such as `env::`, only its left side is checked.
pub(super) fn has_word(code: &str, word: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    let open_ended = !word.ends_with(in_name);
    code.match_indices(word).any(|(at, _)| {
        let after = code[at + word.len()..].chars().next();
        !code[..at].ends_with(in_name) && (open_ended || !after.is_some_and(in_name))
    })
}

/// Splits a text into lines and tracks whether it is within a comment or a literal.
struct Splitter<'a> {
    rest: Peekable<Chars<'a>>,
    line: Line,
    lines: Vec<Line>,
}

impl<'a> Splitter<'a> {
    fn new(text: &'a str) -> Self {
        Splitter { rest: text.chars().peekable(), line: Line::default(), lines: Vec::new() }
    }

    fn split(mut self) -> Vec<Line> {
        while let Some(c) = self.take() {
            match (c, self.rest.peek().copied()) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', Some('"' | '#')) if self.starts_literal() => self.raw_string(),
                ('\'', _) => self.quote(),
                _ => self.code(c),
            }
        }
        if !self.line.text.is_empty() {
            self.lines.push(self.line);
        }
        self.lines
    }

    /// Adds one character to the line; a newline ends it.
    fn take(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.lines.push(std::mem::take(&mut self.line));
        } else {
            self.line.text.push(c);
        }
        Some(c)
    }

    fn code(&mut self, c: char) {
        if c != '\n' {
            self.line.code.push(c);
        }
    }

    /// Whether an `r` begins a raw literal and does not end a name; so do `br` and `cr`.
    fn starts_literal(&self) -> bool {
        let mut before = self.line.code.chars().rev();
        let in_name = |c: char| c.is_alphanumeric() || c == '_';
        match before.next() {
            Some('b' | 'c') => !before.next().is_some_and(in_name),
            other => !other.is_some_and(in_name),
        }
    }

    fn line_comment(&mut self) {
        let at = self.line.text.len() - 1;
        while self.rest.peek().is_some_and(|&c| c != '\n') {
            self.take();
        }
        self.line.comment.push_str(&self.line.text[at..]);
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        let mut c = '/';
        loop {
            match (c, self.rest.peek()) {
                ('/', Some('*')) => depth += 1,
                ('*', Some('/')) => depth -= 1,
                (_, None) => return,
                _ => {
                    c = self.take().unwrap_or(' ');
                    continue;
                }
            }
            self.take();
            if depth == 0 {
                return;
            }
            c = self.take().unwrap_or(' ');
        }
    }

    fn string(&mut self) {
        self.code('"');
        while let Some(c) = self.take() {
            match c {
                '\\' => {
                    self.take();
                }
                '"' => return self.code('"'),
                _ => {}
            }
        }
    }

    fn raw_string(&mut self) {
        let mut hashes = 0;
        while self.rest.peek() == Some(&'#') {
            self.take();
            hashes += 1;
        }
        // `r#name` is a name, not a literal.
        if self.rest.peek() != Some(&'"') {
            return self.line.code.push_str("r#");
        }
        self.take();
        self.code('"');
        while let Some(c) = self.take() {
            if c == '"' {
                let mut closing = 0;
                while closing < hashes && self.rest.peek() == Some(&'#') {
                    self.take();
                    closing += 1;
                }
                if closing == hashes {
                    return self.code('"');
                }
            }
        }
    }

    /// Removes the contents of a character literal. A lifetime is code.
    fn quote(&mut self) {
        let mut ahead = self.rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('\\'), _) => {
                self.take();
                self.take();
                while self.take().is_some_and(|c| c != '\'') {}
                self.line.code.push_str("''");
            }
            (Some(_), Some('\'')) => {
                self.take();
                self.take();
                self.line.code.push_str("''");
            }
            _ => self.code('\''),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<String> {
        Source::parse("crates/a/src/lib.rs", text).lines.into_iter().map(|l| l.code).collect()
    }

    #[test]
    fn comments_and_literals_are_blanked() {
        assert_eq!(code("let a = \"{ // no\"; // {"), ["let a = \"\"; "]);
        assert_eq!(code("let a = r#\"x\"{\"#; b"), ["let a = \"\"; b"]);
        assert_eq!(code("a /* x { /* y */ } */ b"), ["a  b"]);
        assert_eq!(code("f('{', '\\'', '\"', \"\\\"{\")"), ["f('', '', '', \"\")"]);
        assert_eq!(code("fn f<'a>(a: &'a str) {}"), ["fn f<'a>(a: &'a str) {}"]);
        assert_eq!(code("let r#type = var\"\";"), ["let r#type = var\"\";"]);
    }

    #[test]
    fn strings_over_several_lines_keep_the_line_numbers() {
        assert_eq!(code("a(\"one\ntwo {\nthree\");\nb"), ["a(\"", "", "\");", "b"]);
    }

    #[test]
    fn test_modules_are_marked_to_their_end() {
        let text = "a();\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nc();\n";
        let source = Source::parse("crates/a/src/lib.rs", text);
        let marks: Vec<bool> = source.lines.iter().map(|line| line.test).collect();
        assert_eq!(marks, [false, true, true, true, true, false]);
        let text = "#[cfg(not(test))]\nfn a() {}\n";
        assert!(!Source::parse("crates/a/src/lib.rs", text).lines[0].test);
    }

    #[test]
    fn words_have_borders() {
        assert!(has_word("unsafe { x }", "unsafe"));
        assert!(!has_word("forbid(unsafe_code)", "unsafe"));
        assert!(has_word("std::env::var(a)", "env::"));
        assert!(!has_word("my_env::var(a)", "env::"));
    }
}
