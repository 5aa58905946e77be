//! A service of the user that the system starts at login: systemd's or launchd's.
//!
//! It differs from a timer in that it runs all the time.

use std::fs;
use std::io;
use std::path::Path;

use super::systemd::UNIT;
use super::{TimerFile, TimerHost, UserService, launchd, systemd, write_file};
use crate::error::{Error, ErrorKind};
use crate::schedule::TimerKind;

impl UserService {
    /// Returns the file of the service; `None` if the system has no services.
    pub fn file(&self, host: &TimerHost) -> Option<TimerFile> {
        match self.kind {
            TimerKind::SystemdUser | TimerKind::SystemdSystem => Some(systemd::serving(self, host)),
            TimerKind::Launchd => Some(launchd::serving(self, host)),
            TimerKind::Crontab | TimerKind::Manual => None,
        }
    }

    /// Writes, enables and starts the service, in place of an earlier one.
    ///
    /// # Errors
    /// If the system has no services, the file cannot be written, or the system refuses.
    pub fn install(&self, host: &TimerHost) -> Result<TimerFile, Error> {
        let file = self.file(host).ok_or_else(|| {
            let text = "neither systemd nor launchd runs here: let the system start this at login";
            Error::new(ErrorKind::Timer, format!("{text}: {}", self.arguments.join(" ")))
        })?;
        // launchd reads a changed file only after it forgot the old one.
        let _ = self.run_all(host, &self.stop(&file));
        write_file(&file)?;
        self.run_all(host, &self.start(&file))?;
        Ok(file)
    }

    /// Stops and removes the service. Returns whether there was one.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn uninstall(&self, host: &TimerHost) -> Result<bool, Error> {
        let Some(file) = self.file(host) else { return Ok(false) };
        // It fails if the service is not installed any more.
        let _ = self.run_all(host, &self.stop(&file));
        match fs::remove_file(&file.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => {
                removed.map_err(|error| Error::system("remove", &file.path, &error))?;
                Ok(true)
            }
        }
    }

    fn start(&self, file: &TimerFile) -> Vec<Vec<String>> {
        match self.kind {
            TimerKind::Launchd => vec![launchctl("load", &file.path)],
            kind => [&["daemon-reload"][..], &["enable", UNIT], &["restart", UNIT]]
                .map(|words| systemd::systemctl(kind, words))
                .into(),
        }
    }

    fn stop(&self, file: &TimerFile) -> Vec<Vec<String>> {
        match self.kind {
            TimerKind::Launchd => vec![launchctl("unload", &file.path)],
            kind => vec![systemd::systemctl(kind, &["disable", "--now", UNIT])],
        }
    }

    fn run_all(&self, host: &TimerHost, commands: &[Vec<String>]) -> Result<(), Error> {
        for command in commands {
            host.run(&command.iter().map(String::as_str).collect::<Vec<_>>(), None)?;
        }
        Ok(())
    }
}

fn launchctl(verb: &str, path: &Path) -> Vec<String> {
    ["launchctl", verb, "-w", &path.to_string_lossy()].map(str::to_owned).into()
}
