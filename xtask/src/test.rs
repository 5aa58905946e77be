//! Runs everything that must pass, on a machine that has only cargo.
//!
//! In: names of steps to run or to skip. Out: headings with seconds, the output of each tool, a
//! table of times, what was left out and what failed, and a last line of counts. Must not
//! know what the tests assert. Each step is a process of its own, which is ended if it is idle. If
//! all steps run, some run beside the tests of this machine.

mod advisories;
mod browser;
mod count;
mod fixtures;
mod fleet;
mod gaps;
mod kernels;
mod lean;
mod library;
mod package;
mod parts;
mod publish;
mod setup;
mod skipped;
mod steps;
mod times;
mod watch;

pub(crate) use setup::{is_ready, search_path, set_up_packages, set_up_targets};
pub(crate) use steps::{MACOS_OLDEST, MACOS_UNIVERSAL, build_folder, metadata};

use std::cell::RefCell;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use self::count::Counts;
use self::gaps::Gaps;
use self::parts::{BESIDE, BESIDE_NICE, Lane, Part, RunOutcome};
use self::times::{StepClock, TimeTable};

/// One thing that must succeed.
struct Step {
    name: &'static str,
    title: &'static str,
    /// Whether it runs tests; then it fails if none was executed.
    counts: bool,
    run: fn(&mut Session) -> anyhow::Result<()>,
}

/// The steps in the order in which they run: cheap ones that often fail come first.
const STEPS: &[Step] = &[
    Step { name: "tools", title: "system tools", counts: false, run: setup::tools },
    Step { name: "targets", title: "Rust targets", counts: false, run: setup::targets },
    Step { name: "python", title: "packages of Python", counts: false, run: setup::packages },
    Step { name: "fmt", title: "formatting", counts: false, run: steps::fmt },
    Step { name: "tidy", title: "house style", counts: false, run: steps::tidy },
    Step { name: "bench", title: "the harnesses of bench/", counts: false, run: steps::bench },
    Step { name: "book", title: "the documents as a book", counts: false, run: steps::book },
    Step { name: "clippy", title: "lints", counts: false, run: steps::clippy },
    Step { name: "doc", title: "documentation", counts: false, run: steps::doc },
    Step {
        name: "fixtures",
        title: "published artifacts that tests read",
        counts: false,
        run: fixtures::fixtures,
    },
    Step { name: "publish", title: "packages for others", counts: false, run: publish::publish },
    Step {
        name: "package",
        title: "recipes, units, workflows and the package for Python",
        counts: false,
        run: package::package,
    },
    Step { name: "lean", title: "the command without features", counts: false, run: lean::lean },
    Step { name: "host", title: "tests on this machine", counts: true, run: steps::host },
    Step {
        name: "library",
        title: "the library as others use it",
        counts: false,
        run: library::library,
    },
    Step {
        name: "browser",
        title: "reports and the server in a browser",
        counts: false,
        run: browser::browser,
    },
    Step { name: "fleet", title: "a fleet on Dask", counts: false, run: fleet::fleet },
    Step {
        name: "kernels",
        title: "kernels in other profiles",
        counts: false,
        run: kernels::kernels,
    },
    Step { name: "arm", title: "digests on emulated Armv8", counts: true, run: steps::arm },
    Step { name: "macos", title: "macOS build", counts: false, run: steps::macos },
    Step { name: "release", title: "release build", counts: false, run: steps::release },
];

/// The state of a step.
struct Session {
    root: PathBuf,
    /// The name of the step.
    step: &'static str,
    /// Whether to continue without tools that cannot be installed.
    allow_missing: bool,
    /// Whether to leave out what takes long, for everyday work.
    quick: bool,
    counts: Counts,
    /// What was left out because something is missing.
    gaps: RefCell<Gaps>,
    /// Whether the tests, and the command as they use it, have been built.
    is_built: bool,
}

impl Session {
    /// Whether a program is missing; then what follows is left out.
    fn lacks(&self, programs: &[&str]) -> bool {
        let absent = programs.iter().find(|program| !setup::is_ready(program));
        absent.is_some_and(|program| self.leave_out(&format!("program {program}")))
    }

    /// Notes that the step, or a part of it, is left out because something is missing.
    fn leave_out(&self, need: &str) -> bool {
        println!("left out: no {need}");
        self.gaps.borrow_mut().add(need, &format!("the step `{}`", self.step));
        true
    }
}

/// The options of the command line.
#[derive(Debug, Default, PartialEq)]
struct Options {
    only: Vec<String>,
    skip: Vec<String>,
    allow_missing: bool,
    quick: bool,
    /// Where to write the outcome, for the run that this one is a part of.
    report: Option<PathBuf>,
}

/// The steps that run only if they are named: the test of a change needs no second build of all.
const NAMED: [&str; 1] = ["release"];

/// The steps of `--quick`.
const QUICK: [&str; 4] = ["fmt", "tidy", "clippy", "host"];

/// The steps by name, in order.
pub(crate) fn step_names() -> Vec<&'static str> {
    STEPS.iter().map(|step| step.name).collect()
}

/// Runs the steps. Returns `Ok(false)` if one failed or if no test was executed.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<bool> {
    let options = Options::parse(arguments)?;
    let steps = STEPS.iter().filter(|step| options.wants(step));
    if let Some(report) = &options.report {
        let mut outcome = RunOutcome::default();
        steps.for_each(|step| run_step(step, root, &options, &mut outcome));
        fs::write(report, outcome.to_json()).context("writing the report")?;
        return Ok(!outcome.is_failure());
    }
    let clock = StepClock::start();
    let outcome = run_parts(Vec::from_iter(steps), &setup::build_folder(root)?, &options)?;
    print!("\n{}", TimeTable { steps: &outcome.times, elapsed_s: clock.elapsed_s() });
    outcome.gaps.lines().chain(outcome.failures.clone()).for_each(|line| println!("{line}"));
    println!("{}", outcome.counts);
    Ok(!outcome.is_failure())
}

/// Runs steps, each in a process of its own.
fn run_parts(steps: Vec<&Step>, folder: &Path, options: &Options) -> anyhow::Result<RunOutcome> {
    let expects_tests = steps.iter().any(|step| step.counts);
    // Prepared before anything is built: cargo may put another file in the place of this program.
    let mut in_turn = Vec::new();
    let mut lanes = BESIDE.map(|_| Vec::new());
    for step in steps {
        let (list, nice) = match options.lane(step) {
            Some(lane) => (&mut lanes[lane], BESIDE_NICE),
            None => (&mut in_turn, "0"),
        };
        list.push(Part::prepare(step.name, nice, &options.flags(), folder)?);
    }
    let mut lanes = lanes.map(Lane::Waiting);
    let mut is_built = false;
    let mut outcome = RunOutcome::default();
    for part in in_turn {
        let name = part.name;
        outcome.add(part.run(is_built, |line| {
            println!("{line}");
            if name == "host" && steps::begins_tests(line) {
                is_built = true;
                lanes.iter_mut().for_each(|lane| lane.start(true));
            }
        }));
        if name == "tools" && outcome.is_failure() {
            // What is missing has been named, and much would fail for want of it.
            return Ok(outcome.closed());
        }
    }
    lanes.into_iter().for_each(|lane| outcome.add(lane.finish()));
    if expects_tests {
        outcome.require_tests();
    }
    Ok(outcome.closed())
}

/// Runs one step in this process.
fn run_step(step: &Step, root: &Path, options: &Options, outcome: &mut RunOutcome) {
    println!("\n== {}: {}", step.name, step.title);
    let mut session = Session {
        root: root.to_path_buf(),
        step: step.name,
        allow_missing: options.allow_missing,
        quick: options.quick,
        counts: Counts::default(),
        gaps: RefCell::default(),
        is_built: env::var_os(parts::BUILT).is_some(),
    };
    let clock = StepClock::start();
    let ended = (step.run)(&mut session);
    let seconds = clock.elapsed_s();
    outcome.times.add(step.name, &clock);
    outcome.counts = session.counts;
    outcome.gaps = session.gaps.take();
    if let Err(error) = ended {
        println!("== {}: FAILED after {seconds:.1} s", step.name);
        outcome.failures.push(format!("step `{}` failed: {error:#}", step.name));
        return;
    }
    println!("== {}: {seconds:.1} s", step.name);
}

impl Options {
    fn parse(arguments: &[String]) -> anyhow::Result<Options> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (flag, value) = match argument.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            match flag {
                "--allow-missing" if value.is_none() => options.allow_missing = true,
                "--quick" if value.is_none() => options.quick = true,
                "--report" => options.report = rest.next().map(PathBuf::from),
                "--only" | "--skip" => {
                    let value = value.or_else(|| rest.next().cloned());
                    let value = value.with_context(|| format!("`{flag}` needs step names"))?;
                    let names = value.split(',').map(str::to_owned);
                    let list = if flag == "--only" { &mut options.only } else { &mut options.skip };
                    list.extend(names);
                }
                _ => bail!("unknown argument `{argument}`; try `cargo xtask help`"),
            }
        }
        let known = step_names();
        let named = options.only.iter().chain(&options.skip);
        if let Some(name) = named.into_iter().find(|name| !known.contains(&name.as_str())) {
            bail!("no step `{name}`; the steps are {}", known.join(", "));
        }
        Ok(options)
    }

    fn wants(&self, step: &Step) -> bool {
        let in_list = |list: &[String]| list.iter().any(|listed| listed == step.name);
        let in_default =
            if self.quick { QUICK.contains(&step.name) } else { !NAMED.contains(&step.name) };
        let in_only = if self.only.is_empty() { in_default } else { in_list(&self.only) };
        in_only && !in_list(&self.skip)
    }

    /// The flags that each step gets.
    fn flags(&self) -> Vec<&'static str> {
        let flags = [(self.allow_missing, "--allow-missing"), (self.quick, "--quick")];
        flags.into_iter().filter_map(|(is_set, flag)| is_set.then_some(flag)).collect()
    }

    /// In which lane a step runs beside the tests of this machine: if those run, and nothing was
    /// named.
    fn lane(&self, step: &Step) -> Option<usize> {
        let is_whole = self.only.is_empty() && !self.quick && !self.skip.contains(&"host".into());
        BESIDE.iter().position(|lane| is_whole && lane.contains(&step.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> anyhow::Result<Options> {
        Options::parse(&arguments.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>())
    }

    fn step(name: &str) -> &'static Step {
        STEPS.iter().find(|step| step.name == name).unwrap()
    }

    #[test]
    fn steps_are_chosen_by_name() {
        let options = parse(&["--only", "fmt,tidy", "--skip=tidy"]).unwrap();
        let wants = |name| options.wants(step(name));
        assert!(wants("fmt") && !wants("tidy") && !wants("host"));
        let all = parse(&[]).unwrap();
        assert!(STEPS.iter().all(|step| all.wants(step) != NAMED.contains(&step.name)));
        assert!(parse(&["--only=release"]).unwrap().wants(step("release")));
        let named = Options { only: vec!["browser".to_owned()], ..Options::default() };
        assert!(named.wants(step("browser")) && !named.wants(step("fmt")));
    }

    #[test]
    fn quick_is_what_everyday_work_needs() {
        let quick = parse(&["--quick"]).unwrap();
        let named: Vec<&str> =
            STEPS.iter().filter(|step| quick.wants(step)).map(|step| step.name).collect();
        assert_eq!(named, QUICK);
        let only = parse(&["--quick", "--only", "host"]).unwrap();
        assert!(only.quick && only.wants(step("host")) && !only.wants(step("fmt")));
    }

    #[test]
    fn steps_run_beside_the_tests_only_if_all_run() {
        let beside = |arguments: &[&str]| {
            let options = parse(arguments).unwrap();
            assert!(options.lane(step("host")).is_none(), "{arguments:?}");
            options.lane(step("clippy")).is_some()
        };
        assert!(beside(&[]) && beside(&["--skip", "package,browser,fleet"]));
        assert!(!beside(&["--skip", "host"]) && !beside(&["--only", "clippy,host"]));
        assert!(!beside(&["--quick"]));
        assert_eq!(parse(&["--quick"]).unwrap().flags(), ["--quick"]);
    }

    #[test]
    fn unknown_steps_and_flags_are_refused() {
        assert!(parse(&["--only", "fmt,hosts"]).unwrap_err().to_string().contains("`hosts`"));
        assert!(parse(&["--only"]).is_err());
        assert!(parse(&["--alow-missing"]).is_err());
        assert!(parse(&["--allow-missing=yes"]).is_err());
    }
}
