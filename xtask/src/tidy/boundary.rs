//! Checks where code may write to a terminal, read the environment, write files or depend on a
//! system. Clippy checks the macros that print, and `exit`; the compiler checks unsafe code.
//!
//! In: the lines of every Rust file. Out: uses of a name outside the places that may use it.

use super::Findings;
use super::source::{Source, has_word};
use super::tree::Tree;

/// A group of names and the only places that may use them.
struct Border {
    names: &'static [&'static str],
    /// Where the rule applies; empty for everywhere.
    within: &'static str,
    /// Prefixes of the paths that may use the names.
    homes: &'static [&'static str],
    /// Whether tests may use them anywhere.
    tests: bool,
    message: &'static str,
}

const BORDERS: &[Border] = &[
    Border {
        names: &["io::stdout", "io::stderr"],
        within: "",
        homes: &["crates/cli/", "xtask/"],
        tests: true,
        message: "only crates/cli prints",
    },
    Border {
        names: &["env::"],
        within: "",
        homes: &["crates/cli/", "crates/trial/", "xtask/"],
        tests: true,
        message: "only crates/cli reads the environment",
    },
    Border {
        names: &[
            "fs::write",
            "fs::rename",
            "fs::copy",
            "fs::hard_link",
            "create_dir",
            "create_dir_all",
            "remove_dir",
            "remove_dir_all",
            "remove_file",
            "set_permissions",
            "set_len",
            "set_times",
            "File::create",
            "File::create_new",
            "OpenOptions",
            "xattr::set",
            "xattr::remove",
        ],
        within: "crates/steadfast/src/",
        homes: &[
            "crates/steadfast/src/store",
            // Writes its own file and its own folders.
            "crates/steadfast/src/catalogue",
            // Files that it proved, by drafts.
            "crates/steadfast/src/repair",
            // Writes the folder of parity.
            "crates/steadfast/src/parity",
            // Gives new files and folders their owner, mode, times and attributes.
            "crates/steadfast/src/belongings",
            // Copies by drafts, and removes a source whose copies are proved.
            "crates/steadfast/src/copy",
            "crates/steadfast/src/walk.rs",
        ],
        tests: true,
        message: "of the library, only `store` writes, and what has a place of its own",
    },
    Border {
        names: &["fs::rename", "fs::write", "File::create", "File::create_new"],
        within: "crates/",
        homes: &[
            "crates/sys/",
            // Tries operations of other programs.
            "crates/steadfast/benches/",
        ],
        tests: true,
        message: "files are made and replaced whole by `Draft` of crates/sys",
    },
    Border {
        names: &["std::fs", "std::net", "Instant::now", "SystemTime"],
        within: "crates/report/src/",
        homes: &[],
        tests: true,
        message: "reports are pure: no clock, no files, no network",
    },
    Border {
        names: &["std::fs", "std::net", "Instant::now", "SystemTime"],
        within: "crates/words/src/",
        homes: &[],
        tests: true,
        message: "words are pure: no clock, no files, no network",
    },
    Border {
        names: &["Standing::"],
        within: "crates/serve/src/",
        // Takes the state of files.
        homes: &["crates/serve/src/runs.rs"],
        tests: true,
        message: "what is said of a folder is chosen in crates/words: show `FolderSaid`",
    },
    Border {
        names: &["Standing::"],
        within: "crates/watch/src/",
        homes: &[
            // Says what a schedule and drives add to the value.
            "crates/watch/src/folder.rs",
            "crates/watch/src/news.rs",
            "crates/watch/src/seen.rs",
            "crates/watch/src/alert",
        ],
        tests: true,
        message: "what is said of a folder is chosen in crates/words: show `FolderSaid`",
    },
    Border {
        names: &["std::fs", "std::net", "std::thread"],
        within: "crates/digest/src/",
        homes: &[],
        tests: true,
        message: "digests know bytes: no files, no network, no threads",
    },
    Border {
        names: &["target_os", "target_family", "target_vendor"],
        within: "",
        homes: &["crates/sys/"],
        tests: true,
        message: "what differs between systems belongs in crates/sys",
    },
    Border {
        names: &["MetadataExt", "PermissionsExt", "OpenOptionsExt"],
        within: "",
        homes: &["crates/sys/", "xtask/"],
        tests: true,
        message: "what systems say of files belongs in crates/sys: see `Status`",
    },
    Border {
        names: &["exists()", "try_exists", "is_dir()", "fs::metadata", "symlink_metadata"],
        within: "",
        homes: &["crates/codesign/", "crates/measure/", "crates/sys/", "xtask/"],
        tests: true,
        message: "whether a name is there is `presence` or `is_folder` of `beneath`",
    },
    Border {
        names: &["OsStrExt", "OsStringExt"],
        within: "",
        homes: &["crates/time/src/names.rs", "xtask/"],
        tests: true,
        message: "names are bytes by `NameBytes` and `NameBuf`",
    },
    Border {
        names: &["target_arch"],
        within: "",
        homes: &["crates/digest/src/backend", "crates/sys/src/crypto/words.rs"],
        tests: true,
        message: "what differs between processors belongs in the backends of crates/digest",
    },
];

/// Packages whose roots need not forbid unsafe code.
const UNSAFE_HOMES: &[&str] = &["crates/digest/", "crates/sys/"];

/// A package outside the workspace, which another toolchain builds.
const OWN_LINTS: &str = "fuzz/";

pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    for source in tree.sources() {
        for border in BORDERS {
            check_border(source, border, findings);
        }
        check_root(source, findings);
    }
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with("/Cargo.toml")) {
        let shares = text.contains("[lints]\nworkspace = true");
        if !shares && !path.starts_with(OWN_LINTS) {
            findings.error(path, 0, "the package does not take the workspace's lints");
        }
    }
}

fn check_border(source: &Source, border: &Border, findings: &mut Findings) {
    let at_home = border.homes.iter().any(|home| source.path.starts_with(home));
    if at_home || !source.path.starts_with(border.within) {
        return;
    }
    for (number, line) in source.numbered().filter(|(_, line)| !(line.test && border.tests)) {
        // The target's settings at compile time are not the environment.
        let code = line.code.replace("env::consts", "");
        for name in border.names.iter().filter(|name| has_word(&code, name)) {
            findings.error(&source.path, number, format!("`{name}`: {}", border.message));
        }
    }
}

/// Checks that the root of every library and program forbids unsafe code.
fn check_root(source: &Source, findings: &mut Findings) {
    let root = source.path.ends_with("src/lib.rs") || source.path.ends_with("src/main.rs");
    let exempt = UNSAFE_HOMES.iter().any(|home| source.path.starts_with(home));
    let forbids = |code: &str| code.starts_with("#![forbid(") && has_word(code, "unsafe_code");
    if root && !exempt && !source.lines.iter().any(|line| forbids(&line.code)) {
        findings.error(&source.path, 0, "no `#![forbid(unsafe_code)]` at the root");
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        findings_of(&[(path, text)], check)
    }

    #[test]
    fn roots_forbid_unsafe() {
        assert_eq!(found("crates/report/src/lib.rs", "//! Report.").len(), 1);
        assert_eq!(found("crates/report/src/lib.rs", "#![forbid(unsafe_code)]"), [""; 0]);
        assert_eq!(found("crates/digest/src/lib.rs", "//! Digest."), [""; 0]);
    }

    #[test]
    fn packages_share_the_lints() {
        let shared = "[package]\n\n[lints]\nworkspace = true\n";
        assert_eq!(found("crates/steadfast/Cargo.toml", shared), [""; 0]);
        assert_eq!(found("crates/steadfast/Cargo.toml", "[package]\n").len(), 1);
        assert_eq!(found("Cargo.toml", "[workspace]\n"), [""; 0]);
    }

    #[test]
    fn the_command_prints_and_reads_the_environment() {
        for text in ["std::io::stdout();", "std::env::var(a);"] {
            assert_eq!(found("crates/steadfast/src/run.rs", text).len(), 1, "{text}");
            assert_eq!(found("crates/cli/src/main.rs", &forbidding(text)), [""; 0], "{text}");
            assert_eq!(found("crates/steadfast/tests/it/main.rs", text), [""; 0], "{text}");
        }
        assert_eq!(found("crates/sys/src/machine.rs", "std::env::consts::OS;"), [""; 0]);
    }

    #[test]
    fn the_store_writes() {
        for text in ["fs::remove_file(a);", "xattr::set(f, n, v);", "std::fs::create_dir(p);"] {
            assert_eq!(found("crates/steadfast/src/verdict.rs", text).len(), 1, "{text}");
            assert_eq!(found("crates/steadfast/src/store/xattr.rs", text), [""; 0], "{text}");
            assert_eq!(found("crates/steadfast/src/store.rs", text), [""; 0], "{text}");
        }
        for text in ["std::fs::write(a, b);", "fs::rename(a, b);", "File::create(p);"] {
            assert_eq!(found("crates/steadfast/src/verdict.rs", text).len(), 2, "{text}");
            assert_eq!(found("crates/steadfast/src/store/pages.rs", text).len(), 1, "{text}");
            assert_eq!(found("crates/cli/src/trace.rs", text).len(), 1, "{text}");
            assert_eq!(found("crates/sys/src/file/draft.rs", text), [""; 0], "{text}");
        }
        let test = "#[cfg(test)]\nmod tests {\n    fn a() { std::fs::write(a, b); }\n}\n";
        assert_eq!(found("crates/steadfast/src/walk.rs", test), [""; 0]);
    }

    #[test]
    fn names_are_looked_up_in_one_way() {
        for text in ["path.exists();", "root.is_dir();", "fs::symlink_metadata(a);"] {
            assert_eq!(found("crates/steadfast/src/copy.rs", text).len(), 1, "{text}");
            assert_eq!(found("crates/cli/tests/it/main.rs", text), [""; 0], "{text}");
        }
        assert_eq!(found("crates/cli/src/run.rs", "statement.exists((1,))"), [""; 0]);
    }

    #[test]
    fn reports_and_digests_are_pure() {
        assert_eq!(found("crates/report/src/text.rs", "Instant::now();").len(), 1);
        assert_eq!(found("crates/digest/src/hasher.rs", "use std::fs::File;").len(), 1);
        assert_eq!(found("crates/measure/src/runner.rs", "Instant::now();"), [""; 0]);
    }

    #[test]
    fn platforms_stay_at_home() {
        let os = "#[cfg(target_os = \"linux\")]";
        assert_eq!(found("crates/steadfast/src/read.rs", os).len(), 1);
        assert_eq!(found("crates/sys/src/xattr.rs", os), [""; 0]);
        let arch = "#[cfg(target_arch = \"x86_64\")]";
        assert_eq!(found("crates/digest/src/lanes.rs", arch).len(), 1);
        assert_eq!(found("crates/digest/src/backend/x86_avx2.rs", arch), [""; 0]);
    }

    fn forbidding(text: &str) -> String {
        format!("#![forbid(unsafe_code)]\n{text}")
    }
}
