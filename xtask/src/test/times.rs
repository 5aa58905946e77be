//! How long each step took, and how much processor time: other work on the machine changes the
//! first far more than the second.

use std::fmt;
use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

/// Ticks per second of the times in `/proc`, on every architecture of Linux that Rust runs on.
const TICKS_PER_S: f64 = 100.0;

/// The times of one step, in seconds.
#[derive(Debug, PartialEq)]
struct StepTime {
    name: String,
    elapsed_s: f64,
    /// Of all programs that the step ran to their end; `None` where the system does not tell.
    processor_s: Option<f64>,
}

/// The times of all steps, in the order in which they ran.
#[derive(Debug, Default, PartialEq)]
pub(super) struct StepTimes(Vec<StepTime>);

/// A table of times whose last line is that of the whole run, in which steps ran side by side.
pub(super) struct TimeTable<'a> {
    pub(super) steps: &'a StepTimes,
    pub(super) elapsed_s: f64,
}

/// A step that is being timed.
pub(super) struct StepClock {
    started: Instant,
    processor_s: Option<f64>,
}

impl StepClock {
    /// Starts a clock.
    pub(super) fn start() -> StepClock {
        StepClock { started: Instant::now(), processor_s: children_processor_s() }
    }

    /// Returns the seconds since the start.
    pub(super) fn elapsed_s(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

impl StepTimes {
    /// Adds a step that has ended.
    pub(super) fn add(&mut self, name: &'static str, clock: &StepClock) {
        let before = clock.processor_s;
        let processor_s = children_processor_s().zip(before).map(|(now, before)| now - before);
        let (name, elapsed_s) = (name.to_owned(), clock.elapsed_s());
        self.0.push(StepTime { name, elapsed_s, processor_s });
    }

    /// Adds the steps of another run.
    pub(super) fn append(&mut self, mut other: StepTimes) {
        self.0.append(&mut other.0);
    }

    /// Returns a list of each step's name, elapsed time and processor time.
    pub(super) fn to_json(&self) -> Value {
        let fields = |step: &StepTime| json!([step.name, step.elapsed_s, step.processor_s]);
        self.0.iter().map(fields).collect()
    }

    /// Reads what [`StepTimes::to_json`] returned.
    pub(super) fn of_json(value: &Value) -> Option<StepTimes> {
        let step = |fields: &Value| {
            let (name, elapsed_s) = (fields[0].as_str()?.to_owned(), fields[1].as_f64()?);
            Some(StepTime { name, elapsed_s, processor_s: fields[2].as_f64() })
        };
        value.as_array()?.iter().map(step).collect::<Option<_>>().map(StepTimes)
    }
}

impl fmt::Display for TimeTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = &self.steps.0;
        let sum = StepTime {
            name: "all".to_owned(),
            elapsed_s: self.elapsed_s,
            processor_s: steps.iter().map(|step| step.processor_s).sum(),
        };
        writeln!(f, "{:<10}{:>12}{:>14}", "step", "elapsed", "processor")?;
        for StepTime { name, elapsed_s, processor_s } in steps.iter().chain([&sum]) {
            let processor = processor_s.map_or_else(|| "-".to_owned(), |s| format!("{s:.1} s"));
            writeln!(f, "{name:<10}{:>12}{processor:>14}", format!("{elapsed_s:.1} s"))?;
        }
        Ok(())
    }
}

/// Returns the processor time of all programs that this one has waited for, in seconds.
fn children_processor_s() -> Option<f64> {
    processor_s_of(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// Source: `proc_pid_stat(5)`, fields 16 and 17. The second field, a name, may contain anything.
fn processor_s_of(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut ticks = rest.split(' ').skip(13).map(|field| field.parse::<f64>().ok());
    Some((ticks.next()?? + ticks.next()??) / TICKS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_that_of_children() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 10 20 0 0 5 6 150 50 20 0 1 0 99 0 0";
        assert_eq!(processor_s_of(stat), Some(2.0));
        assert_eq!(processor_s_of("7 (a) S 1"), None);
    }

    #[test]
    fn the_table_ends_with_the_whole_run() {
        let steps = |fields: Value| StepTimes::of_json(&fields).unwrap();
        let mut times = steps(json!([["fmt", 1.0, 1.5]]));
        times.append(steps(json!([["host", 9.0, 12.0]])));
        let table = TimeTable { steps: &times, elapsed_s: 9.5 }.to_string();
        let last: Vec<&str> = table.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(last, ["all", "9.5", "s", "13.5", "s"]);
        let unknown = steps(json!([["fmt", 1.0, null]]));
        let unknown = TimeTable { steps: &unknown, elapsed_s: 1.0 }.to_string();
        assert!(unknown.lines().all(|line| !line.contains("0.0 s")), "{unknown}");
    }
}
