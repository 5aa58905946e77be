//! How long each step took, and how much processor time: other work on the machine changes the
//! first far more than the second.

use std::fmt;
use std::fs;
use std::time::Instant;

/// Ticks per second of the times in `/proc`, on every architecture of Linux that Rust runs on.
const TICKS_PER_S: f64 = 100.0;

/// The times of one step, in seconds.
struct StepTime {
    name: &'static str,
    elapsed_s: f64,
    /// Of all programs that the step ran to their end; `None` where the system does not tell.
    processor_s: Option<f64>,
}

/// The times of all steps, in the order in which they ran.
#[derive(Default)]
pub(super) struct StepTimes(Vec<StepTime>);

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
        self.0.push(StepTime { name, elapsed_s: clock.elapsed_s(), processor_s });
    }
}

impl fmt::Display for StepTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = StepTime {
            name: "all",
            elapsed_s: self.0.iter().map(|step| step.elapsed_s).sum(),
            processor_s: self.0.iter().map(|step| step.processor_s).sum(),
        };
        writeln!(f, "{:<10}{:>12}{:>14}", "step", "elapsed", "processor")?;
        for StepTime { name, elapsed_s, processor_s } in self.0.iter().chain([&sum]) {
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
    fn the_table_ends_with_the_sum() {
        let step = |name, elapsed_s, processor_s| StepTime { name, elapsed_s, processor_s };
        let times = StepTimes(vec![step("fmt", 1.0, Some(1.5)), step("host", 9.0, Some(12.0))]);
        let table = times.to_string();
        let last: Vec<&str> = table.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(last, ["all", "10.0", "s", "13.5", "s"]);
        let unknown = StepTimes(vec![step("fmt", 1.0, None)]).to_string();
        assert!(unknown.lines().all(|line| !line.contains("0.0 s")), "{unknown}");
    }
}
