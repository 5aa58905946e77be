//! Names from disk are hostile, and exact.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use base64::Engine as _;

use crate::tree::Tree;

const NASTY: [&[u8]; 8] = [
    b"a b",
    b"new\nline",
    b"cr\r",
    b"back\\slash",
    b"\x1b[31mred",
    b"not utf-8 \xff",
    b"*star",
    b"\xe2\x80\xaegpj",
];

pub(crate) fn nasty_tree() -> Tree {
    NASTY.iter().fold(Tree::new(), |tree, name| tree.file(OsStr::from_bytes(name), name))
}

#[test]
fn text_never_carries_what_a_terminal_obeys() {
    let tree = nasty_tree();
    tree.run(["tag", "."]).succeeds();
    for arguments in [&["check", "-v"][..], &["show"], &["check", "--json"], &["tag", "-v", "."]] {
        let outcome = tree.run(arguments).succeeds();
        let obeyed = |letter: char| letter != '\n' && letter.is_control() || letter == '\u{202e}';
        assert!(!outcome.stdout().contains(obeyed), "{}", outcome.stdout());
    }
    let checked = tree.run(["check", "-v"]).succeeds();
    assert!(checked.stdout().contains("intact      \\x1b[31mred  ("), "{}", checked.stdout());
    assert!(checked.stdout().contains("intact      new\\nline  ("), "{}", checked.stdout());
}

#[test]
fn json_gives_every_byte_back() {
    let tree = nasty_tree();
    let hashed = tree.run(["hash", "--json", "."]).succeeds();
    let mut found: Vec<Vec<u8>> = hashed
        .objects()
        .iter()
        .filter(|object| object["path"].is_string())
        .map(|object| match object["path_b64"].as_str() {
            Some(text) => base64::engine::general_purpose::STANDARD.decode(text).unwrap(),
            None => object["path"].as_str().unwrap().as_bytes().to_vec(),
        })
        .collect();
    let mut expected = NASTY.map(<[u8]>::to_vec);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn arguments_are_bytes() {
    let tree = nasty_tree();
    for name in NASTY {
        let argument = OsString::from_vec(name.to_vec());
        tree.run([OsStr::new("tag"), OsStr::new("--"), &argument]).succeeds();
    }
    let checked = tree.run(["check", "--json", "--require-tags", "."]).succeeds();
    assert_eq!(checked.summary()["verdicts"]["intact"], NASTY.len());
}
