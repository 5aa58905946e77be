//! The system's timers: they start `steadfast schedule run NAME`.
//!
//! What to run when is decided by that command, so timers only need to be roughly right. Each kind
//! of timer has a file here that renders its text; this file writes, enables and removes.

mod crontab;
mod launchd;
mod service;
mod systemd;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use steadfast_sys::file::{Existing, write_whole};
use steadfast_sys::names::NameBytes as _;

use crate::error::{Error, ErrorKind};
use crate::schedule::{CheckSchedule, TimeOfDay, TimerKind};
use steadfast::beneath;

pub use crontab::{with_block, without_block};

/// The facts of this machine and user that timers depend on.
#[derive(Clone, Debug)]
pub struct TimerHost {
    /// The command, absolute.
    pub program: PathBuf,
    /// The user's home folder.
    pub home: PathBuf,
    /// The folder of the user's configuration, usually `~/.config`.
    pub config: PathBuf,
    /// Folders that runs write to beside the scheduled one.
    pub state: Vec<PathBuf>,
    /// When schedules are started as well, although nothing is due: messages wait until then.
    pub more_starts: Vec<TimeOfDay>,
    /// Whether the user is root.
    pub is_root: bool,
    /// The search path for the system's programs; `None` for that of this process.
    pub search_path: Option<OsString>,
    /// The root of the file system; `/` except in tests.
    pub root: PathBuf,
}

/// A file of a timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerFile {
    /// Where it belongs.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

impl TimerFile {
    /// Returns whether it is where it belongs, with this text.
    pub fn is_there(&self) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|text| text == self.text)
    }
}

/// A command that runs all the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserService {
    /// What it does, for lists of services.
    pub description: String,
    /// The words after the program.
    pub arguments: Vec<String>,
    /// The kind of the system's services, as [`TimerHost::detect`] returns it.
    pub kind: TimerKind,
}

impl TimerHost {
    /// Returns the kind of timer for this machine: systemd's if it runs, else launchd's or cron's.
    pub fn detect(&self, os: &str) -> TimerKind {
        let systemd = beneath::is_folder(&self.root.join("run/systemd/system"));
        match (os, systemd, self.is_root) {
            ("macos", _, _) => TimerKind::Launchd,
            (_, true, true) => TimerKind::SystemdSystem,
            (_, true, false) => TimerKind::SystemdUser,
            _ if self.found("crontab").is_some() => TimerKind::Crontab,
            _ => TimerKind::Manual,
        }
    }

    /// Finds a program in the search path.
    fn found(&self, program: &str) -> Option<PathBuf> {
        let path = self.search_path.clone().unwrap_or_else(|| "/usr/bin:/bin:/usr/sbin".into());
        let mut folders = path.as_encoded_bytes().split(|&byte| byte == b':');
        folders.find_map(|folder| {
            let path = Path::from_bytes(folder).join(program);
            beneath::is_file(&path).then_some(path)
        })
    }

    /// Returns a command of the system: the program that was found, however this process would
    /// search for it.
    fn command(&self, words: &[&str]) -> Command {
        let program = self.found(words[0]).unwrap_or_else(|| words[0].into());
        let mut command = Command::new(program);
        command.args(&words[1..]);
        if let Some(path) = &self.search_path {
            command.env("PATH", path);
        }
        command
    }

    /// Runs a command of the system and returns its output.
    fn run(&self, words: &[&str], input: Option<&[u8]>) -> Result<Vec<u8>, Error> {
        let failed = |reason: String| {
            Error::new(ErrorKind::Timer, format!("`{}` failed: {reason}", words.join(" ")))
        };
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        let mut command = self.command(words);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        if let (Some(input), Some(mut pipe)) = (input, child.stdin.take()) {
            pipe.write_all(input).map_err(|error| failed(error.to_string()))?;
        }
        let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            let reason = in_a_line(&output.stderr);
            return Err(failed(if reason.is_empty() { output.status.to_string() } else { reason }));
        }
        Ok(output.stdout)
    }
}

/// Returns the files of a schedule's timer, for showing and writing.
pub fn files(schedule: &CheckSchedule, host: &TimerHost) -> Vec<TimerFile> {
    match schedule.timer {
        TimerKind::SystemdUser | TimerKind::SystemdSystem => systemd::files(schedule, host),
        TimerKind::Launchd => vec![launchd::file(schedule, host)],
        TimerKind::Crontab | TimerKind::Manual => Vec::new(),
    }
}

/// Returns the command line for the scheduler of a NAS, quoted for a shell.
pub fn command_line(schedule: &CheckSchedule, host: &TimerHost) -> String {
    crontab::command_line(schedule, host)
}

/// Writes and enables the timer of a schedule.
///
/// # Errors
///
/// If a file cannot be written, or the system refuses. The message says which command failed.
pub fn install(schedule: &CheckSchedule, host: &TimerHost) -> Result<(), Error> {
    for file in files(schedule, host) {
        write_file(&file)?;
    }
    match schedule.timer {
        TimerKind::SystemdUser | TimerKind::SystemdSystem => {
            for command in systemd::enable(schedule) {
                host.run(&command.iter().map(String::as_str).collect::<Vec<_>>(), None)?;
            }
        }
        TimerKind::Launchd => {
            let path = launchd::file(schedule, host).path;
            host.run(&["launchctl", "load", "-w", &path.to_string_lossy()], None)?;
        }
        TimerKind::Crontab => {
            let line = crontab::line(schedule, host);
            change_crontab(host, |old| with_block(old, &schedule.name, &line))?;
        }
        TimerKind::Manual => {}
    }
    Ok(())
}

/// Returns whether what starts a schedule runs, as far as that can be told.
pub fn is_running(schedule: &CheckSchedule, host: &TimerHost) -> Option<bool> {
    match schedule.timer {
        TimerKind::SystemdUser | TimerKind::SystemdSystem => {
            let words = systemd::is_active(schedule);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            Some(host.run(&words, None).is_ok())
        }
        TimerKind::Crontab => has_cron(&host.root),
        TimerKind::Launchd | TimerKind::Manual => None,
    }
}

/// Returns whether cron runs, if that can be told.
fn has_cron(root: &Path) -> Option<bool> {
    let is_cron = |entry: fs::DirEntry| {
        let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        ["cron", "crond", "fcron", "bcron-start"].contains(&name.trim())
    };
    let mut processes = fs::read_dir(root.join("proc")).ok()?.flatten().peekable();
    processes.peek()?;
    Some(processes.any(is_cron))
}

/// Returns whether a timer of this kind can start anything on this machine: a container has no
/// systemd and no cron. The scheduler of a NAS is not known, until it has started something.
pub(crate) fn may_start(timer: TimerKind) -> bool {
    let root = Path::new("/");
    match timer {
        TimerKind::SystemdUser | TimerKind::SystemdSystem => {
            beneath::is_folder(&root.join("run/systemd/system"))
        }
        TimerKind::Crontab => has_cron(root).unwrap_or(true),
        TimerKind::Launchd => true,
        TimerKind::Manual => false,
    }
}

/// Writes a file, and makes its folder.
fn write_file(file: &TimerFile) -> Result<(), Error> {
    let failed = |error: io::Error| Error::system("write", &file.path, &error);
    let folder = file.path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(failed)?;
    write_whole(&file.path, file.text.as_bytes(), Existing::Replace).map_err(failed)
}

/// Disables and removes the timer of a schedule. A timer that is gone already is no error.
///
/// # Errors
///
/// If a file cannot be removed, or the crontab cannot be changed.
pub fn uninstall(schedule: &CheckSchedule, host: &TimerHost) -> Result<(), Error> {
    match schedule.timer {
        TimerKind::SystemdUser | TimerKind::SystemdSystem => {
            let words = systemd::disable(schedule);
            // It fails if the timer is not installed any more.
            let _ = host.run(&words.iter().map(String::as_str).collect::<Vec<_>>(), None);
        }
        TimerKind::Launchd => {
            let path = launchd::file(schedule, host).path;
            let _ = host.run(&["launchctl", "unload", "-w", &path.to_string_lossy()], None);
        }
        TimerKind::Crontab => change_crontab(host, |old| without_block(old, &schedule.name))?,
        TimerKind::Manual => {}
    }
    for file in files(schedule, host) {
        match fs::remove_file(&file.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::system("remove", &file.path, &error));
            }
            _ => {}
        }
    }
    if matches!(schedule.timer, TimerKind::SystemdUser | TimerKind::SystemdSystem) {
        // The files are gone; systemd notices at the latest when it starts.
        let reload = systemd::reload(schedule);
        let _ = host.run(&reload.iter().map(String::as_str).collect::<Vec<_>>(), None);
    }
    Ok(())
}

/// Returns what a program complained of in a line, as messages are.
fn in_a_line(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("; ")
}

/// Replaces the user's crontab. A user without one has an empty one.
fn change_crontab(host: &TimerHost, change: impl FnOnce(&[u8]) -> Vec<u8>) -> Result<(), Error> {
    let mut list = host.command(&["crontab", "-l"]);
    let output = list.stdin(Stdio::null()).output();
    let output = output.map_err(|error| {
        Error::new(ErrorKind::Timer, format!("`crontab -l` cannot be started: {error}"))
    })?;
    let complaint = in_a_line(&output.stderr).to_lowercase();
    if !output.status.success() && !complaint.contains("no crontab") {
        let message = format!("`crontab -l` failed: {complaint}");
        return Err(Error::new(ErrorKind::Timer, message));
    }
    let old = output.stdout;
    let new = change(&old);
    match (new == old, new.is_empty()) {
        (true, _) => Ok(()),
        (_, true) => host.run(&["crontab", "-r"], None).map(drop),
        _ => host.run(&["crontab", "-"], Some(&new)).map(drop),
    }
}
