//! Checks that tests are skipped in one way only: through `crates/testing`.
//!
//! In: the lines of tests. Out: the lines that handle a missing tool themselves. Such a test would
//! pass silently, because the harness hides the output of passing tests.

use super::Findings;
use super::source::Line;
use super::tree::Tree;

/// Beginnings of messages that report a skipped test, in lower case.
const MESSAGES: &[&str] = &["skip", "not run", "not shown", "not tested", "left out"];

const HOME: &str = "crates/testing/";

pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    for source in tree.sources() {
        // A benchmark asserts nothing, so it may skip parts.
        let asserts = source.path.starts_with("crates/") && !source.path.contains("/benches/");
        if !asserts || source.path.starts_with(HOME) {
            continue;
        }
        let tests = source.numbered().filter(|(_, line)| line.test);
        for (number, _) in tests.filter(|(_, line)| skips(line)) {
            let message = "a test that cannot run calls `steadfast_testing::skip`";
            findings.error(&source.path, number, message);
        }
    }
}

/// Whether a line prints that a test is skipped.
fn skips(line: &Line) -> bool {
    let text = line.text.strip_suffix(line.comment.as_str()).unwrap_or(&line.text);
    let mut printed = text.split("println!(\"").skip(1);
    let says = |message: &str| {
        let message = message.to_lowercase();
        MESSAGES.iter().any(|begin| message.starts_with(begin))
    };
    printed.any(says)
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        findings_of(&[(path, text)], check).len()
    }

    #[test]
    fn tests_do_not_skip_by_themselves() {
        for text in ["eprintln!(\"SKIPPED: no openssl\");", "return println!(\"not run: {why}\");"]
        {
            assert_eq!(found("crates/sys/tests/it/main.rs", text), 1, "{text}");
            assert_eq!(found("crates/testing/src/lib.rs", text), 0, "{text}");
            assert_eq!(found("crates/cli/src/main.rs", text), 0, "{text}");
        }
        for text in ["println!(\"ready\");", "a(\"skipped\");", "// println!(\"skipped\");"] {
            assert_eq!(found("crates/sys/tests/it/main.rs", text), 0, "{text}");
        }
    }
}
