//! Several sessions of one measurement, gathered in one record.
//!
//! Each session is a process of its own, because the place of code and data in memory, which each
//! process has anew, is part of what differs between sessions. The record is written after each
//! one, so gathering can go on after a restart of the machine.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use steadfast_measure::record::{self, Record};

use super::report;
use crate::document_file::{DocumentFile, is_record};
use crate::exit;
use steadfast::beneath;

/// Measures sessions until the record has this many, and returns it.
pub(super) fn gather(count: u32, export: &Path) -> anyhow::Result<Record> {
    let mut gathered = match !beneath::presence_of(export).is_lost() {
        true => Some(report::read(export)?.remove(0)),
        false => None,
    };
    let (command, arguments) = (command(), arguments());
    if let Some(known) = &gathered {
        let shown = export.display();
        ensure!(known.partial.is_none(), "`{shown}` is partial: no session can follow it");
        ensure!(
            known.command == command,
            "`{shown}` has sessions of another command: {}",
            known.command.join(" ")
        );
    }
    let mut name = export.file_name().context("--export names no file")?.to_owned();
    name.push(".session");
    let one: PathBuf = export.with_file_name(name);
    loop {
        let done = gathered.as_ref().map_or(0, |known| 1 + known.sessions.len() as u32);
        if let Some(known) = gathered.take_if(|_| done >= count) {
            return Ok(known);
        }
        exit::complain(&format!("session {} of {count}", done + 1));
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let mut session = Command::new(program);
        session.args(&arguments).arg("--yes").arg("--export").arg(&one).stdout(Stdio::null());
        let status = session.status().context("cannot start a session")?;
        if !status.success() {
            bail!("session {} of {count} ended early; earlier ones are kept", done + 1);
        }
        let mut record = report::read(&one)?.remove(0);
        fs::remove_file(&one).context("cannot remove the record of one session")?;
        let all = match gathered {
            Some(mut known) => {
                known.add_session(record);
                known
            }
            None => {
                record.command.clone_from(&command);
                record
            }
        };
        DocumentFile::claim(export, is_record)?.write(&record::write(&all))?;
        gathered = Some(all);
    }
}

/// Returns the command without the number of sessions, so that more can follow.
fn command() -> Vec<String> {
    let all: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words = without(&all, &["--sessions"]);
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    std::iter::once("steadfast".to_owned()).chain(words).collect()
}

/// Returns the arguments of one session.
fn arguments() -> Vec<OsString> {
    let all: Vec<OsString> = std::env::args_os().skip(1).collect();
    without(&all, &["--sessions", "--export", "--yes", "-y", "--json", "--brief"])
}

/// Returns arguments without some options and their values.
fn without(arguments: &[OsString], options: &[&str]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        match options.contains(&name) {
            false => kept.push(word.clone()),
            true if name == text && matches!(name, "--sessions" | "--export") => {
                words.next();
            }
            true => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_left_out_with_their_values() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let all = words("measure cpu --sessions 3 --quick --export=a.json --yes --export b");
        let kept = without(&all, &["--sessions", "--export", "--yes"]);
        assert_eq!(kept, words("measure cpu --quick"));
    }
}
