//! Runs steps in processes of their own, which are watched: one after the other, or some of them
//! beside the tests of this machine, which wait more than they work.
//!
//! A lane is what runs beside the tests: less urgent than they are, and its output is shown when it
//! has ended. Lanes start when the tests have been built: before that they would wait for cargo's
//! lock, and later nobody builds the command that they use.

use std::env;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::count::Counts;
use super::gaps::Gaps;
use super::times::{StepClock, StepTimes};
use super::watch;

/// Set if the command has been built as the tests use it.
pub(super) const BUILT: &str = "STEADFAST_TEST_PROGRAM_IS_BUILT";

/// The steps beside the tests, by lanes. Only the first lane builds where the tests were built,
/// which one step at a time can do.
pub(super) const BESIDE: [&[&str]; 2] =
    [&["clippy", "doc", "library", "arm", "macos"], &["browser", "fleet", "publish", "kernels"]];

/// How much less urgent they are than the tests of this machine, for which it is hardly busier than
/// without.
pub(super) const BESIDE_NICE: &str = "10";

/// What a run of steps came to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RunOutcome {
    pub(super) times: StepTimes,
    pub(super) counts: Counts,
    pub(super) gaps: Gaps,
    pub(super) failures: Vec<String>,
}

/// A step that a process of its own runs.
pub(super) struct Part {
    pub(super) name: &'static str,
    command: Command,
    report: PathBuf,
}

/// Parts beside the tests.
pub(super) enum Lane {
    Waiting(Vec<Part>),
    Running(JoinHandle<(String, RunOutcome)>),
}

impl Part {
    /// Prepares a step, with further arguments of `test`. It reports in the build folder.
    pub(super) fn prepare(
        name: &'static str,
        nice: &str,
        arguments: &[&str],
        build_folder: &Path,
    ) -> anyhow::Result<Part> {
        let report = build_folder.join(format!("part-{name}.json"));
        let program = env::current_exe().context("finding this program")?;
        let mut command = Command::new("nice");
        command.args(["-n", nice]).arg(program).args(["test", "--only", name]);
        command.args(arguments).arg("--report").arg(&report);
        command.env("CARGO_TARGET_DIR", build_folder);
        // What an earlier run left is not taken for the outcome of this one.
        let _ = fs::remove_file(&report);
        Ok(Part { name, command, report })
    }

    /// Runs the step, passes on what it prints, and returns what it came to.
    pub(super) fn run(self, is_built: bool, each: impl FnMut(&str)) -> RunOutcome {
        self.ended(is_built, watch::IDLE_MAX, each)
    }

    fn ended(self, is_built: bool, idle_max: Duration, each: impl FnMut(&str)) -> RunOutcome {
        let Part { name, mut command, report } = self;
        if is_built {
            command.env(BUILT, "1");
        }
        let clock = StepClock::start();
        let ended = watch::run(command, idle_max, each).and_then(|status| {
            let report = fs::read_to_string(report);
            let report = report.with_context(|| format!("it gave {status} and no report"))?;
            let outcome = RunOutcome::of_json(&report).context("its report is damaged")?;
            ensure!(status.success() != outcome.is_failure(), "it gave {status}");
            Ok(outcome)
        });
        ended.unwrap_or_else(|error| {
            let mut outcome = RunOutcome::default();
            outcome.times.add(name, &clock);
            outcome.failures.push(format!("step `{name}` failed: {error:#}"));
            outcome
        })
    }
}

impl Lane {
    /// Starts the lane, unless it was started.
    pub(super) fn start(&mut self, is_built: bool) {
        let Lane::Waiting(parts) = self else { return };
        let parts = mem::take(parts);
        *self = Lane::Running(thread::spawn(move || {
            let mut printed = String::new();
            let mut outcome = RunOutcome::default();
            for part in parts {
                outcome.add(part.run(is_built, |line| printed += &format!("{line}\n")));
            }
            (printed, outcome)
        }));
    }

    /// Waits for the lane, prints what it printed, and returns its outcome.
    pub(super) fn finish(mut self) -> RunOutcome {
        self.start(false);
        let Lane::Running(running) = self else { return RunOutcome::default() };
        let (printed, outcome) = running.join().expect("a lane does not panic");
        print!("{printed}");
        outcome
    }
}

impl RunOutcome {
    pub(super) fn is_failure(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Makes it a failure that no test was executed, unless one could not be.
    pub(super) fn require_tests(&mut self) {
        if !self.is_failure() && self.gaps.serious().is_empty() && self.counts.passed == 0 {
            self.failures.push("no test was executed".to_owned());
        }
    }

    /// Completes the counts of a run that is over. A machine of CI lacks nothing that it can have.
    pub(super) fn closed(mut self) -> RunOutcome {
        self.counts.gaps = self.gaps.serious().len();
        if self.counts.gaps > 0 && env::var_os("CI").is_some() {
            self.failures.push("there are gaps, and CI is set".to_owned());
        }
        if self.is_failure() {
            // If a step failed outside the tests, the last line must not say that nothing failed.
            self.counts.failed = self.counts.failed.max(1);
        }
        self
    }

    /// Adds what a part came to.
    pub(super) fn add(&mut self, part: RunOutcome) {
        self.times.append(part.times);
        self.counts.passed += part.counts.passed;
        self.counts.failed += part.counts.failed;
        self.counts.skipped += part.counts.skipped;
        self.gaps.append(part.gaps);
        self.failures.extend(part.failures);
    }

    pub(super) fn to_json(&self) -> String {
        let Counts { passed, failed, skipped, .. } = self.counts;
        let counts = [passed, failed, skipped];
        let (times, gaps) = (self.times.to_json(), self.gaps.to_json());
        json!({ "times": times, "counts": counts, "gaps": gaps, "failures": self.failures })
            .to_string()
    }

    fn of_json(text: &str) -> Option<RunOutcome> {
        let value: Value = serde_json::from_str(text).ok()?;
        let failures = value["failures"].as_array()?.iter();
        let count = |place: usize| value["counts"][place].as_u64();
        let counts = Counts { passed: count(0)?, failed: count(1)?, skipped: count(2)?, gaps: 0 };
        Some(RunOutcome {
            times: StepTimes::of_json(&value["times"])?,
            counts,
            gaps: Gaps::of_json(&value["gaps"])?,
            failures: failures
                .map(|text| Some(text.as_str()?.to_owned()))
                .collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::step_names;

    #[test]
    fn steps_beside_the_tests_exist() {
        assert!(BESIDE.concat().iter().all(|step| step_names().contains(step)));
    }

    #[test]
    fn a_report_says_what_the_part_came_to() {
        let outcome = RunOutcome {
            times: StepTimes::of_json(&json!([["arm", 1.5, null], ["doc", 2.0, 3.0]])).unwrap(),
            counts: Counts { passed: 3, failed: 1, skipped: 2, gaps: 0 },
            gaps: Gaps::of_json(&json!({ "program man": ["1 test"] })).unwrap(),
            failures: vec!["step `arm` failed".to_owned()],
        };
        assert_eq!(RunOutcome::of_json(&outcome.to_json()), Some(outcome));
        assert_eq!(RunOutcome::of_json("{}"), None);
    }

    fn part(folder: &Path, program: &str, argument: &str) -> Part {
        let mut part = Part::prepare("fmt", "1", &[], folder).unwrap();
        part.command = Command::new(program);
        part.command.arg(argument);
        part
    }

    #[test]
    fn a_part_without_a_report_has_failed() {
        let folder = tempfile::tempdir().unwrap();
        let part = |program: &str| part(folder.path(), program, "");
        let failure = |part: Part| part.run(true, |_| ()).failures[0].clone();
        assert!(failure(part("true")).contains("step `fmt` failed: it gave exit status: 0 and no"));
        assert!(failure(part("/nowhere")).contains("running `/nowhere`"));
        let failed = part("false");
        fs::write(&failed.report, RunOutcome::default().to_json()).unwrap();
        let outcome = Lane::Waiting(vec![failed]).finish();
        assert!(outcome.failures[0].contains("exit status: 1"), "{outcome:?}");
    }

    #[test]
    fn a_part_that_is_idle_is_ended_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let part = part(folder.path(), "sleep", "9999");
        let outcome = part.ended(true, Duration::from_secs(1), |_| ());
        let begin = "step `fmt` failed: ended: no processor time";
        assert!(outcome.failures[0].starts_with(begin), "{outcome:?}");
    }
}
