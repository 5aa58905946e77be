//! Runs everything that must pass, on a machine that has only cargo.
//!
//! In: names of steps to run or to skip. Out: headings with seconds, the output of each tool, a
//! table of times, what was left out and what failed, and a last line of counts. Must not
//! know what the tests assert. If all steps run, some run beside the tests of this machine.

mod browser;
mod count;
mod fixtures;
mod fleet;
mod kernels;
mod lanes;
mod lean;
mod library;
mod package;
mod publish;
mod setup;
mod skipped;
mod steps;
mod times;

pub(crate) use setup::{is_ready, search_path, set_up_cross_linker, set_up_targets};
pub(crate) use steps::{MACOS_OLDEST, MACOS_UNIVERSAL, build_folder, metadata};

use std::cell::RefCell;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use self::count::Counts;
use self::lanes::{LANES, Lane, RunOutcome};
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
    Step { name: "zig", title: "cross linker", counts: false, run: setup::zig },
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

/// The state that the steps share.
struct Session {
    root: PathBuf,
    /// Whether to continue without tools that cannot be installed.
    allow_missing: bool,
    /// Whether to leave out what takes long, for everyday work.
    quick: bool,
    /// Whether fixtures are missing, so that their tests are skipped.
    offline: bool,
    counts: Counts,
    /// What was left out because a program is missing.
    left_out: RefCell<Vec<String>>,
    /// What runs beside the tests of this machine.
    lanes: Vec<Lane>,
    /// Whether the tests, and the command as they use it, have been built.
    is_built: bool,
}

impl Session {
    /// Starts what runs beside the tests, unless it was started.
    fn start_lanes(&mut self, is_built: bool) {
        // Where there are lanes, the tests of this machine are what was built.
        self.is_built |= is_built && !self.lanes.is_empty();
        let offline = self.offline;
        self.lanes.iter_mut().for_each(|lane| lane.start(is_built, offline));
    }

    /// Whether a step must be skipped because a tool is missing. Prints that it is skipped.
    ///
    /// If missing tools are not allowed, the answer is no, and the step fails when it needs the
    /// tool.
    fn lacks(&self, programs: &[&str]) -> bool {
        let absent = programs.iter().find(|program| !setup::is_ready(program));
        match absent {
            Some(program) if self.allow_missing => {
                let text = format!("left out: no {program}");
                println!("{text}");
                self.left_out.borrow_mut().push(text);
                true
            }
            _ => false,
        }
    }
}

/// The options of the command line.
#[derive(Debug, Default, PartialEq)]
struct Options {
    only: Vec<String>,
    skip: Vec<String>,
    allow_missing: bool,
    quick: bool,
    /// Where to write the outcome, for the run that this one is a lane of.
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
    let clock = StepClock::start();
    let mut session = Session {
        root: root.to_path_buf(),
        allow_missing: options.allow_missing,
        quick: options.quick,
        offline: env::var_os(fixtures::OFFLINE).is_some(),
        counts: Counts::default(),
        left_out: RefCell::default(),
        lanes: options.lanes(root)?,
        is_built: env::var_os(lanes::BUILT).is_some(),
    };
    let mut outcome = RunOutcome::default();
    let steps = STEPS.iter().filter(|step| options.wants(step));
    let mut expects_tests = false;
    for step in steps.filter(|step| !options.is_beside(step)) {
        expects_tests |= step.counts;
        run_step(step, &mut session, &mut outcome);
    }
    session.start_lanes(false);
    outcome.counts = session.counts;
    outcome.left_out = session.left_out.take();
    session.lanes.into_iter().for_each(|lane| outcome.add(lane.finish()));
    if !outcome.is_failure() && expects_tests && outcome.counts.passed == 0 {
        outcome.failures.push("no test was executed".to_owned());
    }
    if let Some(report) = &options.report {
        fs::write(report, outcome.to_json()).context("writing the report")?;
        return Ok(!outcome.is_failure());
    }
    print!("\n{}", TimeTable { steps: &outcome.times, elapsed_s: clock.elapsed_s() });
    for text in outcome.left_out.iter().chain(&outcome.failures) {
        println!("{text}");
    }
    if outcome.is_failure() {
        // If a step failed outside the tests, the last line must not say that nothing failed.
        outcome.counts.failed = outcome.counts.failed.max(1);
    }
    println!("{}", outcome.counts);
    Ok(!outcome.is_failure())
}

/// Runs one step. A failure does not end the run.
fn run_step(step: &Step, session: &mut Session, outcome: &mut RunOutcome) {
    println!("\n== {}: {}", step.name, step.title);
    let clock = StepClock::start();
    let ended = (step.run)(session);
    let seconds = clock.elapsed_s();
    outcome.times.add(step.name, &clock);
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

    /// Whether a step runs beside the tests of this machine: if those run, and nothing was named.
    fn is_beside(&self, step: &Step) -> bool {
        let is_whole = self.only.is_empty() && !self.quick && !self.skip.contains(&"host".into());
        is_whole && LANES.iter().any(|(_, _, steps)| steps.contains(&step.name))
    }

    /// The lanes with the steps that are wanted.
    fn lanes(&self, root: &Path) -> anyhow::Result<Vec<Lane>> {
        let wanted: Vec<&str> = STEPS
            .iter()
            .filter(|step| self.wants(step) && self.is_beside(step))
            .map(|step| step.name)
            .collect();
        let mut lanes = Vec::new();
        for (name, nice, steps) in LANES {
            let steps: Vec<&str> =
                steps.iter().copied().filter(|step| wanted.contains(step)).collect();
            let arguments: &[&str] = if self.allow_missing { &["--allow-missing"] } else { &[] };
            if !steps.is_empty() {
                lanes.push(Lane::prepare(name, nice, &steps, arguments, &build_folder(root)?)?);
            }
        }
        Ok(lanes)
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
            let lanes = options.lanes(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
            (options.is_beside(step("clippy")), options.is_beside(step("host")), lanes.len())
        };
        assert_eq!(beside(&[]), (true, false, 1));
        assert_eq!(beside(&["--skip", "package,browser,fleet"]), (true, false, 1));
        assert_eq!(beside(&["--skip", "host"]), (false, false, 0));
        assert_eq!(beside(&["--only", "clippy,host"]), (false, false, 0));
        assert_eq!(beside(&["--quick"]), (false, false, 0));
    }

    #[test]
    fn unknown_steps_and_flags_are_refused() {
        assert!(parse(&["--only", "fmt,hosts"]).unwrap_err().to_string().contains("`hosts`"));
        assert!(parse(&["--only"]).is_err());
        assert!(parse(&["--alow-missing"]).is_err());
        assert!(parse(&["--allow-missing=yes"]).is_err());
    }
}
