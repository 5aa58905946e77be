//! Processor time on Linux: `/proc/stat`.

use std::fs;
use std::io;

use super::CpuTime;

/// Reads a line for each processor.
pub(super) fn cpu_times() -> io::Result<Vec<CpuTime>> {
    let times = of_stat(&fs::read_to_string("/proc/stat")?);
    match times.is_empty() {
        true => Err(io::ErrorKind::Unsupported.into()),
        false => Ok(times),
    }
}

fn of_stat(text: &str) -> Vec<CpuTime> {
    text.lines().filter_map(of_line).collect()
}

/// Source: `proc_stat(5)`: user, nice, system, idle, iowait, irq, softirq, steal. The first two
/// include the time of guests.
fn of_line(line: &str) -> Option<CpuTime> {
    let (name, rest) = line.split_once(' ')?;
    let cpu = name.strip_prefix("cpu")?.parse().ok()?;
    let ticks: Vec<u64> =
        rest.split_whitespace().take(8).map_while(|number| number.parse().ok()).collect();
    let (idle, iowait) = (*ticks.get(3)?, ticks.get(4).copied().unwrap_or(0));
    let total: u64 = ticks.iter().sum();
    Some(CpuTime { cpu, busy: total - idle - iowait, total })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_processor_has_a_line_and_waiting_is_no_work() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 1 5 80 4 0 0 0 3 0\ncpu11 1 2 3 4\nintr 1 2\n\
                    cpux 1 2 3 4 5\n";
        let times = of_stat(text);
        assert_eq!(times[0], CpuTime { cpu: 0, busy: 16, total: 100 });
        assert_eq!(times[1], CpuTime { cpu: 11, busy: 6, total: 10 });
        assert_eq!(times.len(), 2);
    }

    #[test]
    fn this_machine_tells() {
        let times = cpu_times().unwrap();
        assert!(!times.is_empty());
        assert!(times.iter().all(|time| time.busy <= time.total));
    }
}
