//! Runs steps beside the tests of this machine, which wait more than they work: each lane is a
//! process of its own, less urgent than the tests, whose output is shown when it has ended.
//!
//! A lane starts when the tests have been built: before that both would wait for cargo's lock, and
//! later nobody builds the command that they use.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::count::Counts;
use super::fixtures;
use super::times::StepTimes;

/// Set for a lane if the command has been built as the tests use it.
pub(super) const BUILT: &str = "STEADFAST_TEST_PROGRAM_IS_BUILT";

/// The lanes, each with a nice value and its steps in order. Only one step at a time can use the
/// build folder, so one lane compiles. It is less urgent than the tests of this machine, some of
/// which look at a clock: for them, and for browsers, the machine is hardly busier than without.
pub(super) const LANES: [(&str, &str, &[&str]); 1] =
    [("compiling", "10", &["clippy", "doc", "library", "publish", "kernels", "arm", "macos"])];

/// What a run of steps came to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RunOutcome {
    pub(super) times: StepTimes,
    pub(super) counts: Counts,
    pub(super) left_out: Vec<String>,
    pub(super) failures: Vec<String>,
}

/// A lane that was started or that will be.
pub(super) struct Lane {
    name: &'static str,
    command: Command,
    log: PathBuf,
    report: PathBuf,
    child: Option<anyhow::Result<Child>>,
}

impl Lane {
    /// Prepares a lane for some steps, with further arguments of `test`.
    pub(super) fn prepare(
        name: &'static str,
        nice: &str,
        steps: &[&str],
        arguments: &[&str],
        folder: &Path,
    ) -> anyhow::Result<Lane> {
        let report = folder.join(format!("lane-{name}.json"));
        let program = env::current_exe().context("finding this program")?;
        let mut command = Command::new("nice");
        command.args(["-n", nice]).arg(program).args(["test", "--only", &steps.join(",")]);
        command.args(arguments).arg("--report").arg(&report);
        let log = folder.join(format!("lane-{name}.log"));
        // What an earlier run left is not taken for the outcome of this one.
        let _ = fs::remove_file(&report);
        Ok(Lane { name, command, log, report, child: None })
    }

    /// Starts the lane, unless it was started.
    pub(super) fn start(&mut self, is_built: bool, is_offline: bool) {
        if self.child.is_some() {
            return;
        }
        if is_built {
            self.command.env(BUILT, "1");
        }
        if is_offline {
            self.command.env(fixtures::OFFLINE, "1");
        }
        self.child = Some(self.spawn());
    }

    fn spawn(&mut self) -> anyhow::Result<Child> {
        let log = File::create(&self.log)?;
        self.command.stderr(log.try_clone()?).stdout(log);
        self.command.spawn().context("running `nice`")
    }

    /// Waits for the lane, prints what it printed, and returns its outcome.
    pub(super) fn finish(self) -> RunOutcome {
        let name = self.name;
        self.ended().unwrap_or_else(|error| RunOutcome {
            failures: vec![format!("the steps beside the tests, `{name}`: {error:#}")],
            ..RunOutcome::default()
        })
    }

    fn ended(self) -> anyhow::Result<RunOutcome> {
        let mut child = self.child.context("it was not started")??;
        let status = child.wait().context("waiting for it")?;
        println!("\n== beside the tests: {}", self.name);
        print!("{}", String::from_utf8_lossy(&fs::read(&self.log)?));
        let report = fs::read_to_string(&self.report);
        let report = report.with_context(|| format!("it gave {status} and no report"))?;
        let outcome = RunOutcome::of_json(&report).context("its report is damaged")?;
        ensure!(status.success() != outcome.is_failure(), "it gave {status}");
        Ok(outcome)
    }
}

impl RunOutcome {
    pub(super) fn is_failure(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Adds what a lane came to.
    pub(super) fn add(&mut self, lane: RunOutcome) {
        self.times.append(lane.times);
        self.counts.passed += lane.counts.passed;
        self.counts.failed += lane.counts.failed;
        self.counts.skipped += lane.counts.skipped;
        self.left_out.extend(lane.left_out);
        self.failures.extend(lane.failures);
    }

    pub(super) fn to_json(&self) -> String {
        let Counts { passed, failed, skipped } = self.counts;
        let counts = [passed, failed, skipped];
        let (left_out, failures) = (&self.left_out, &self.failures);
        json!({
            "times": self.times.to_json(), "counts": counts, "left_out": left_out,
            "failures": failures,
        })
        .to_string()
    }

    fn of_json(text: &str) -> Option<RunOutcome> {
        let value: Value = serde_json::from_str(text).ok()?;
        let texts = |key: &str| -> Option<Vec<String>> {
            value[key].as_array()?.iter().map(|text| Some(text.as_str()?.to_owned())).collect()
        };
        let count = |place: usize| value["counts"][place].as_u64();
        let counts = Counts { passed: count(0)?, failed: count(1)?, skipped: count(2)? };
        Some(RunOutcome {
            times: StepTimes::of_json(&value["times"])?,
            counts,
            left_out: texts("left_out")?,
            failures: texts("failures")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::step_names;

    #[test]
    fn lanes_have_steps_that_exist_each_once() {
        let known = step_names();
        let mut listed: Vec<&str> =
            LANES.iter().flat_map(|(_, _, steps)| *steps).copied().collect();
        assert!(listed.iter().all(|step| known.contains(step)), "{listed:?}");
        let number = listed.len();
        listed.sort_unstable();
        listed.dedup();
        assert_eq!(listed.len(), number);
    }

    #[test]
    fn a_report_says_what_the_lane_came_to() {
        let outcome = RunOutcome {
            times: StepTimes::of_json(&json!([["arm", 1.5, null], ["doc", 2.0, 3.0]])).unwrap(),
            counts: Counts { passed: 3, failed: 1, skipped: 2 },
            left_out: vec!["left out: no man".to_owned()],
            failures: vec!["step `arm` failed".to_owned()],
        };
        assert_eq!(RunOutcome::of_json(&outcome.to_json()), Some(outcome));
        assert_eq!(RunOutcome::of_json("{}"), None);
    }

    #[test]
    fn a_lane_without_a_report_has_failed() {
        let folder = tempfile::tempdir().unwrap();
        let lane = |program: &str| {
            let mut lane = Lane::prepare("compiling", "1", &["fmt"], &[], folder.path()).unwrap();
            lane.command = Command::new(program);
            lane.start(true, false);
            lane.finish()
        };
        assert!(lane("true").failures[0].contains("no report"));
        assert!(lane("/nowhere").failures[0].contains("running `nice`"));
        let idle = Lane::prepare("compiling", "1", &["fmt"], &[], folder.path()).unwrap();
        assert!(idle.finish().failures[0].contains("not started"));
        let mut failed = Lane::prepare("compiling", "1", &["fmt"], &[], folder.path()).unwrap();
        failed.command = Command::new("false");
        fs::write(&failed.report, RunOutcome::default().to_json()).unwrap();
        failed.start(true, false);
        assert!(failed.finish().failures[0].contains("exit status: 1"));
    }
}
