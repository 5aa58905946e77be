//! The program that users have takes no clock and no verdict from the environment. All other tests
//! of the command are in `tests/it`, with the program of the package `steadfast-trial`.

#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::process::Command;

/// The variables that the program of the tests takes.
const ONLY_FOR_TESTS: [(&str, &str); 2] =
    [("STEADFAST_IGNORE_CTIME", "1"), ("STEADFAST_AHEAD_S", "31536000")];

fn status(folder: &tempfile::TempDir, words: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_steadfast"));
    command.args(words).current_dir(folder.path()).env("XDG_STATE_HOME", folder.path());
    let output = command.envs(ONLY_FOR_TESTS).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_shipped_program_has_the_clock_of_the_system_and_sees_writes() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    let path = folder.path().join("data/file");
    fs::write(&path, b"as it was").unwrap();
    assert_eq!(status(&folder, &["tag", "data"]).0, Some(0));
    let (code, said) = status(&folder, &["show", "--json", "data/file"]);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let tagged = said.split("\"tagged_s\":").nth(1).unwrap();
    let digits: String = tagged.chars().take_while(char::is_ascii_digit).collect();
    let ahead = digits.parse::<u64>().unwrap().abs_diff(now.as_secs());
    assert!(code == Some(0) && ahead < 3600, "{said}");
    // A write that kept the date moved the change time: that is no decay, and `suspect`.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, b"as it is.").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    let (code, said) = status(&folder, &["check", "data"]);
    assert!(code == Some(3) && said.contains("suspect"), "{code:?} {said}");
}
