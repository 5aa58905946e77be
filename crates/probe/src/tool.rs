//! One external command: its arguments in, whether it did its work out.
//!
//! No shell, no input but what is given, a time limit, and what it says about failing. It runs in
//! a process group of its own, so that Ctrl-C reaches the probe alone, which then ends it.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::folder;

/// How long a tool may take for a file of a few bytes.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Interval of checks whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Bytes of its error message that are read.
const COMPLAINT_LEN_MAX: usize = 1024;

/// Environment variables that change these tools. They are removed, so the commands do what the
/// table says.
const VARIABLES: [&str; 8] = [
    "TAR_OPTIONS",
    "ZIPOPT",
    "UNZIP",
    "ZIPINFO",
    "GZIP",
    "RSYNC_RSH",
    "COPYFILE_DISABLE",
    "POSIXLY_CORRECT",
];

/// Why an operation has no outcome.
#[derive(Debug)]
pub(super) enum Failure {
    /// The tool is not installed.
    Absent(&'static str),
    /// It was tried and failed.
    Failed(String),
    /// The probe was stopped, or there is no directory to try it.
    Stopped,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Failed(error.to_string())
    }
}

/// One command.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolStep {
    /// The program and its arguments. `{from}` and `{to}` are replaced by folders.
    pub(super) words: &'static [&'static str],
    /// The folder within the bench in which it runs.
    pub(super) inside: &'static str,
    /// Its input, a file in the bench.
    pub(super) input: Option<&'static str>,
    /// Its output, a file in the bench.
    pub(super) output: Option<&'static str>,
}

impl ToolStep {
    /// A command that runs in the bench itself, without input or output.
    pub(super) const fn of(words: &'static [&'static str]) -> ToolStep {
        ToolStep { words, inside: ".", input: None, output: None }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// If the tool is missing, fails, takes too long, or `stop` is set.
    pub(super) fn run(&self, from: &Path, to: &Path, stop: &AtomicBool) -> Result<(), Failure> {
        let [program, arguments @ ..] = self.words else { return Ok(()) };
        let complaints = from.join("complaints");
        let mut command = Command::new(program);
        for argument in arguments {
            match argument.strip_prefix("{from}/").zip(Some(from)) {
                Some((name, folder)) => command.arg(folder.join(name)),
                None => match argument.strip_prefix("{to}/") {
                    Some(name) => command.arg(to.join(name)),
                    None => command.arg(argument),
                },
            };
        }
        command.current_dir(from.join(self.inside)).env("LC_ALL", "C").process_group(0);
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        command.stdin(match self.input {
            Some(name) => File::open(from.join(name))?.into(),
            None => Stdio::null(),
        });
        command.stdout(match self.output {
            Some(name) => folder::outlet(&from.join(name))?.into(),
            None => Stdio::null(),
        });
        // A file, not a pipe: a process that the tool leaves behind cannot block the probe.
        command.stderr(folder::outlet(&complaints)?);
        let child = match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Failure::Absent(program));
            }
            spawned => spawned?,
        };
        match wait(child, stop)? {
            status if status.success() => Ok(()),
            status => Err(Failure::Failed(complaint(&complaints).unwrap_or(status.to_string()))),
        }
    }
}

/// Waits for a tool to end, or ends it.
fn wait(mut child: Child, stop: &AtomicBool) -> Result<std::process::ExitStatus, Failure> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let stopped = stop.load(Ordering::Relaxed);
        if stopped || start.elapsed() > TIME_LIMIT {
            child.kill()?;
            child.wait()?;
            return Err(match stopped {
                true => Failure::Stopped,
                false => Failure::Failed(format!("not done after {} s", TIME_LIMIT.as_secs())),
            });
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Returns the first line of a tool's error message.
fn complaint(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(COMPLAINT_LEN_MAX)]).into_owned();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &'static [&'static str], stop: bool) -> Result<(), Failure> {
        let folder = tempfile::tempdir().unwrap();
        ToolStep::of(words).run(folder.path(), folder.path(), &AtomicBool::new(stop))
    }

    #[test]
    fn tools_end_well_or_say_why_not() {
        assert!(run(&["true"], false).is_ok());
        let Err(Failure::Failed(said)) = run(&["ls", "--", "gone\u{1b}"], false) else { panic!() };
        assert!(said.contains("gone"), "{said}");
        let Err(Failure::Failed(said)) = run(&["false"], false) else { panic!() };
        assert!(said.contains('1'), "{said}");
        let absent = run(&["steadfast-no-such-tool"], false);
        assert!(matches!(absent, Err(Failure::Absent("steadfast-no-such-tool"))));
    }

    #[test]
    fn a_stop_ends_a_tool_that_would_go_on() {
        let start = Instant::now();
        assert!(matches!(run(&["sleep", "60"], true), Err(Failure::Stopped)));
        assert!(steadfast_testing::took_at_most(start, Duration::from_secs(10)));
    }
}
