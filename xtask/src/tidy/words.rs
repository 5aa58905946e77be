//! Checks that one word is used per thing: finds synonyms that the house style excludes.
//!
//! Only words that are nearly always wrong are listed, so that there are few false findings. Text
//! in backticks in a comment or a document is a foreign name and is not checked.

use super::Findings;
use super::comments::without_quotes;
use super::tree::Tree;

/// A word, its replacement, and the paths where the word is allowed.
struct Synonym {
    /// In lower case; it is found inside longer words and names as well.
    word: &'static str,
    instead: &'static str,
    /// Prefixes of paths; foreign formats, algorithms and peers keep their own words.
    allowed: &'static [&'static str],
}

const SYNONYMS: &[Synonym] = &[
    Synonym {
        word: "checksum",
        instead: "digest",
        allowed: &[
            "README.md",
            "bench/",
            // A verb that users try.
            "crates/cli/src/args.rs",
            "crates/codesign/",
            "crates/digest/",
            // Names in a protocol contain it.
            "crates/report/src/sums",
            "crates/report/tests/it/sums.rs",
            "crates/manifest/",
            "docs/design/",
            "docs/formats/",
            // An option of the AWS tools.
            "docs/reference/objects.md",
            "docs/style.md",
            "testdata/",
            // A key of Cargo's lock file.
            "xtask/src/package/components.rs",
            "xtask/src/tidy",
        ],
    },
    Synonym {
        word: "fingerprint",
        instead: "digest",
        allowed: &["docs/style.md", "xtask/src/tidy"],
    },
    Synonym { word: "hash sum", instead: "digest", allowed: &["docs/style.md", "xtask/src/tidy"] },
    Synonym {
        word: "root hash",
        instead: "tree root",
        allowed: &["crates/codesign/", "docs/formats/", "docs/style.md", "xtask/src/tidy"],
    },
];

pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    for (path, text) in tree.texts().filter(|(path, _)| !path.ends_with(".toml")) {
        let refused: Vec<&Synonym> = SYNONYMS
            .iter()
            .filter(|synonym| !synonym.allowed.iter().any(|prefix| path.starts_with(prefix)))
            .collect();
        for (at, line) in text.lines().enumerate() {
            let prose = without_quotes(line).to_lowercase();
            for synonym in refused.iter().filter(|synonym| prose.contains(synonym.word)) {
                let Synonym { word, instead, .. } = synonym;
                findings.error(path, at + 1, format!("\"{word}\": the house says \"{instead}\""));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    #[test]
    fn synonyms_are_found_in_names_and_prose() {
        for text in ["let file_checksum = 1;", "/// The Fingerprint of a file.", "a hash sum"] {
            let found = findings_of(&[("crates/steadfast/src/tag.rs", text)], check);
            assert_eq!(found.len(), 1, "{text}");
        }
        assert_eq!(findings_of(&[("docs/verdicts.md", "a root hash")], check).len(), 1);
    }

    #[test]
    fn other_peoples_words_are_theirs() {
        let quoted = [("crates/steadfast/src/tag.rs", "/// As `Checksum` of BagIt.")];
        assert_eq!(findings_of(&quoted, check), [""; 0]);
        let format = [("crates/manifest/src/bagit.rs", "// The checksum column.")];
        assert_eq!(findings_of(&format, check), [""; 0]);
    }
}
