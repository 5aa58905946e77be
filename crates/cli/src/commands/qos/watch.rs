//! `steadfast qos watch`: what a process gets of the processors, before and after its level
//! changes.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use anyhow::ensure;
use serde_json::{Value, json};
use steadfast::ExitStatus;
use steadfast::Level;
use steadfast::qos::{Cores, CoresUsed, Process};

use crate::args::QosWatchArgs;
use crate::exit;
use crate::output::answer_part;

/// How often threads are looked at for each line: they change processors in between.
const LOOKS: u32 = 10;

pub(super) fn run(args: &QosWatchArgs) -> anyhow::Result<ExitStatus> {
    ensure!(!args.every.is_zero(), "--every 0s: a line needs some time");
    let process = Process::find(args.pid)?;
    let (cores, stop, begun) = (Cores::of_machine(), exit::stop_on_signals()?, Instant::now());
    let mut before = process.times()?;
    let (mut last, mut line) = (begun, CoresUsed::default());
    let mut levels: Vec<(Level, CoresUsed)> = Vec::new();
    let status = loop {
        thread::sleep(args.every / LOOKS);
        let (Ok(now), Ok(level)) = (process.times(), process.level()) else {
            break ExitStatus::Fine;
        };
        if levels.last().is_none_or(|(known, _)| *known != level) {
            levels.push((level, CoresUsed::default()));
        }
        let elapsed = last.elapsed();
        last = Instant::now();
        for used in [Some(&mut line), levels.last_mut().map(|(_, used)| used)] {
            used.into_iter().for_each(|used| used.add(elapsed, &before, &now));
        }
        before = now;
        if line.elapsed >= args.every {
            let at_s = begun.elapsed().as_secs_f64();
            if !print(args.json, ("at_s", at_s), level, &line, &cores)? {
                break ExitStatus::Fine;
            }
            line = CoresUsed::default();
        }
        if stop.load(Ordering::Relaxed) {
            break ExitStatus::Interrupted;
        }
        if args.time.is_some_and(|time| begun.elapsed() >= time) {
            break ExitStatus::Fine;
        }
    };
    for (level, used) in &levels {
        print(args.json, ("for_s", used.elapsed.as_secs_f64()), *level, used, &cores)?;
    }
    Ok(status)
}

/// Prints a line of some seconds, or of all at a level. Returns false if the reader went away.
fn print(
    as_json: bool,
    (key, seconds): (&str, f64),
    level: Level,
    used: &CoresUsed,
    cores: &Cores,
) -> anyhow::Result<bool> {
    let waited = used.waited();
    let fastest = cores.performance_share(&used.spent_ns);
    let of_each = used.spent_ns.iter().filter(|(_, spent_ns)| **spent_ns > 0);
    let of_each: Vec<(usize, f64)> =
        of_each.map(|(processor, spent_ns)| (*processor, used.cores(*spent_ns))).collect();
    let all = used.cores(used.all_spent_ns());
    if as_json {
        let mut object = json!({
            "level": level.name(), "cores": all, "waited": waited, "fastest_share": fastest,
            "processors": of_each.iter().map(|(at, cores)| json!([at, cores])).collect::<Value>(),
        });
        object[key] = seconds.into();
        return answer_part(format!("{object}\n").as_bytes());
    }
    let on: Vec<String> = of_each.iter().map(|(at, cores)| format!("{at}: {cores:.2}")).collect();
    let on = if on.is_empty() { "–".to_owned() } else { on.join(", ") };
    let fastest = fastest
        .map_or(String::new(), |share| format!(", {:.0} % on the fastest type", share * 100.0));
    let (when, waited) = (if key == "at_s" { "at" } else { "for" }, waited * 100.0);
    let text = format!(
        "{when} {seconds:6.1} s  {:16}  {all:5.2} cores{fastest}, waited {waited:.0} %; by \
         processor {}\n",
        level.name(),
        on
    );
    answer_part(text.as_bytes())
}
