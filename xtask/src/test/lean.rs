//! Whether the command that `cargo install` builds unasked, without features, builds without
//! warnings, and works.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context as _, ensure};

use super::Session;
use super::steps::{PROGRAM, cargo, target_folder};

/// What is built.
const LEAN: [&str; 2] = ["--package", "steadfast-cli"];

/// What is left out, as words that ask for it, with the feature that it needs.
const ABSENT: [([&str; 2], &str); 3] =
    [(["code", "."], "companions"), (["measure", "."], "companions"), (["serve", "."], "serve")];

pub(super) fn lean(session: &mut Session) -> anyhow::Result<()> {
    let built = cargo(session).arg("build").args(LEAN).output().context("running cargo build")?;
    let said = String::from_utf8_lossy(&built.stderr);
    ensure!(built.status.success(), "the command does not build without its features:\n{said}");
    // What cargo says at the end of each package, also of one that it did not compile again.
    ensure!(!said.contains("warning: `steadfast"), "the build has warnings:\n{said}");
    let program = target_folder(session)?.join(PROGRAM);
    // In the folder for temporary files, where the tests have attributes as well.
    let folder = env::temp_dir().join(format!("steadfast-lean-{}", std::process::id()));
    fs::create_dir(&folder).with_context(|| format!("making `{}`", folder.display()))?;
    let tried = try_out(&program, &folder);
    fs::remove_dir_all(&folder).with_context(|| format!("removing `{}`", folder.display()))?;
    tried
}

/// Tags and checks a file, and asks for verbs that are left out.
fn try_out(program: &Path, folder: &Path) -> anyhow::Result<()> {
    let tree = folder.join("tree");
    fs::create_dir(&tree)?;
    fs::write(tree.join("file"), "contents")?;
    let run = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&tree).env("XDG_STATE_HOME", folder);
        command.output().with_context(|| format!("running `{}`", program.display()))
    };
    let help = run(&["help", "--all"])?;
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    for (words, feature) in ABSENT {
        let verb = words[0];
        let is_listed = help.contains(&format!("\n  {verb} "));
        ensure!(verb == "check" || !is_listed, "the help lists `{verb}`");
        let refused = run(&words)?;
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        ensure!(refused.status.code() == Some(2), "{words:?} gave {}", refused.status);
        ensure!(said.contains(&format!("the Cargo feature `{feature}`")), "{words:?}: {said}");
    }
    for arguments in [["init", "."], ["check", "."], ["status", "."]] {
        ensure_status(&run(&arguments)?, &arguments, 0)?;
    }
    fs::write(tree.join("file"), "other contents")?;
    ensure_status(&run(&["check", "."])?, &["check", "of an edited file"], 1)
}

fn ensure_status(output: &Output, what: &[&str], status: i32) -> anyhow::Result<()> {
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(status), "{what:?} gave {}: {said}", output.status);
    Ok(())
}
