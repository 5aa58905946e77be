//! What is due, what is proved, and every verdict ever given, by a clock that the tests set.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use steadfast::catalogue::{
    Catalogue, DueEntry, DueOptions, FileHistoryEvent, FileState, Finding, LookupMatch, RunState,
};
use steadfast::{Algorithm, Verdict};

use crate::catalogue::{DAY_S, Garden, Way, moment};

fn due_of(garden: &Garden, options: &DueOptions) -> Vec<DueEntry> {
    let mut due = garden.reader().due(options, moment(garden.now)).unwrap();
    let mut entries = Vec::new();
    while let Some(entry) = due.next().unwrap() {
        entries.push(entry);
    }
    entries
}

fn paths_of(entries: &[DueEntry]) -> Vec<PathBuf> {
    entries.iter().map(|entry| entry.path.clone()).collect()
}

/// Files of many lengths, some above the nightly budget.
fn orchard() -> Garden {
    let mut garden = Garden::new(&[]);
    for number in 0..120_u64 {
        let length = if number % 40 == 7 { 5000 } else { 10 + 7 * number };
        let name = format!("d{}/f{number:03}", number % 7);
        garden.tree.write(name, vec![number as u8; length as usize]);
    }
    garden.run(&Way { verb: "tag", ..Way::default() });
    garden
}

#[test]
fn a_nightly_budget_covers_the_tree_over_time() {
    let mut garden = orchard();
    let budget = DueOptions::default().with(|options| options.max_bytes = Some(4000));
    let all: BTreeSet<PathBuf> = garden.attributes.keys().cloned().collect();
    let bytes: u64 = garden.attributes.values().map(|tag| tag.length).sum();
    let nights = bytes.div_ceil(4000 - 850) as usize + 3;
    for round in 0..2 {
        let mut checked: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for night in 0..nights * 2 {
            garden.now += DAY_S;
            // Something is always wrong, and must not eat the budget of the rest.
            if night == 0 && round == 0 {
                garden.tree.corrupt("d1/f001", "x");
                garden.tree.corrupt("d0/f007", "x");
            }
            let files = paths_of(&due_of(&garden, &budget));
            assert!(!files.is_empty());
            for file in &files {
                *checked.entry(file.clone()).or_default() += 1;
            }
            garden.run(&Way { verb: "check", files: Some(files), ..Way::default() });
            if checked.len() == all.len() {
                assert!(night <= nights, "round {round} took {night} nights, not {nights}");
                break;
            }
        }
        assert_eq!(checked.keys().cloned().collect::<BTreeSet<_>>(), all);
        let most = checked.values().max().unwrap();
        assert!(*most <= 2, "nothing comes round twice before all came round: {most}");
    }
    assert_eq!(garden.reader().verify().unwrap().problems, [""; 0]);
}

#[test]
fn what_is_due_is_what_was_not_judged_for_long_the_longest_first() {
    let mut garden = Garden::planted(&["a", "b/c", "b/d", "e"]);
    garden.now += 10 * DAY_S;
    garden.run(&Way { verb: "check", roots: vec!["b"], ..Way::default() });
    garden.now += 10 * DAY_S;
    let older =
        |days: i64| DueOptions::default().with(|options| options.older_than_s = Some(days * DAY_S));
    assert_eq!(paths_of(&due_of(&garden, &older(30))), [""; 0].map(PathBuf::from));
    assert_eq!(paths_of(&due_of(&garden, &older(15))), ["a", "e"].map(PathBuf::from));
    assert_eq!(paths_of(&due_of(&garden, &older(5))), ["a", "e", "b/c", "b/d"].map(PathBuf::from));
    let beneath = DueOptions::default().with(|options| options.beneath = PathBuf::from("b"));
    assert_eq!(paths_of(&due_of(&garden, &beneath)), ["b/c", "b/d"].map(PathBuf::from));
    let one = DueOptions::default().with(|options| options.beneath = PathBuf::from("b/c"));
    assert_eq!(paths_of(&due_of(&garden, &one)), [PathBuf::from("b/c")]);
    let none = DueOptions::default().with(|options| options.beneath = PathBuf::from("b/x"));
    assert_eq!(due_of(&garden, &none), []);
    garden.tree.write("new", "new");
    garden.remove("a");
    garden.check();
    let all = paths_of(&due_of(&garden, &DueOptions::default()));
    assert_eq!(all, ["a", "e", "b/c", "b/d"].map(PathBuf::from), "missing ones, no untagged ones");
}

/// A clock that once stood in 2036 must not hide files from checks until then.
#[test]
fn a_run_in_the_future_counts_as_none() {
    let mut garden = Garden::planted(&["a", "b/c"]);
    let (now, years) = (garden.now, 3_650 * DAY_S);
    garden.now += years;
    garden.check();
    garden.now = now + 40 * DAY_S;
    let options = DueOptions::default().with(|options| options.older_than_s = Some(30 * DAY_S));
    assert_eq!(paths_of(&due_of(&garden, &options)), ["a", "b/c"].map(PathBuf::from));
    let audit = garden.reader().audit(&[30, 36_500], moment(garden.now)).unwrap();
    let proved: Vec<u64> = audit.windows.iter().map(|window| window.entries).collect();
    assert_eq!((proved, audit.never.0, audit.oldest_proof), (vec![0, 0], 2, None));
    let mut overdue = Vec::new();
    let mut visit = |file: steadfast::catalogue::Overdue| {
        overdue.push((file.path, file.last_proof));
        ControlFlow::Continue(())
    };
    garden.reader().overdue(30, moment(garden.now), &mut visit).unwrap();
    assert_eq!(overdue, ["a", "b/c"].map(|path| (PathBuf::from(path), None)));
    // The next check settles it.
    garden.check();
    assert_eq!(due_of(&garden, &options), []);
    let audit = garden.reader().audit(&[30], moment(garden.now)).unwrap();
    assert_eq!((audit.windows[0].entries, audit.never.0), (2, 0));
}

#[test]
fn an_interrupted_run_goes_on_where_it_was() {
    let names: Vec<String> = (0..40).map(|n| format!("d{}/f{n:02}", n / 10)).collect();
    let mut garden = Garden::planted(&names.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(garden.reader().unfinished_run().unwrap(), None);
    let stopped = Way { verb: "check", stop_after: Some(17), ..Way::default() };
    let told = garden.run(&stopped);
    assert_eq!(told.record.state, RunState::Interrupted);
    let run = garden.reader().unfinished_run().unwrap();
    assert_eq!(run, Some(told.record.id));
    let rest = DueOptions::default().with(|options| options.before_run = run);
    let due = due_of(&garden, &rest);
    assert_eq!(paths_of(&due), names[17..].iter().map(PathBuf::from).collect::<Vec<_>>());
    assert!(due.iter().all(|entry| entry.last_checked_run == 2));
    garden.run(&Way { verb: "check", files: Some(paths_of(&due)), ..Way::default() });
    assert_eq!(due_of(&garden, &rest), []);
    assert_eq!(garden.reader().verify().unwrap().problems, [""; 0]);
}

/// What was said of each file in each run, to be compared with what the catalogue tells.
#[derive(Default)]
struct Diary {
    said: BTreeMap<PathBuf, Vec<(i64, Verdict)>>,
}

impl Diary {
    fn note(&mut self, run: i64, path: &str, verdict: Verdict) {
        self.said.entry(PathBuf::from(path)).or_default().push((run, verdict));
    }

    fn compare(&self, catalogue: &Catalogue) {
        for (path, said) in &self.said {
            let history = catalogue.history(path).unwrap();
            let told: Vec<(i64, Verdict)> =
                history.runs.iter().filter_map(|run| Some((run.run.id, run.verdict?))).collect();
            assert_eq!(&told, said, "{}", path.display());
        }
    }
}

#[test]
fn history_tells_every_verdict_ever_given() {
    let files = ["a", "b/c", "b/d", "b/e", "f/g", "h"];
    let mut garden = Garden::new(&files);
    let mut diary = Diary::default();
    let run = garden.run(&Way { verb: "tag", ..Way::default() }).record.id;
    for file in files {
        diary.note(run, file, Verdict::Intact);
    }
    garden.tree.corrupt("b/d", "x");
    garden.tree.touch("b/e");
    let run = garden.check().record.id;
    let verdict_of = |file: &str| match file {
        "b/d" => Verdict::Corrupt,
        "b/e" => Verdict::Touched,
        _ => Verdict::Intact,
    };
    for file in files {
        diary.note(run, file, verdict_of(file));
    }
    // Interrupted in the middle of a folder, with what was known stored in between.
    let stopped = Way { verb: "check", stop_after: Some(3), tick_each: true, ..Way::default() };
    let run = garden.run(&stopped).record.id;
    for file in &files[..3] {
        diary.note(run, file, verdict_of(file));
    }
    // Single files, not neighbours.
    let some = ["a", "b/c", "b/e", "h"];
    let single = Some(some.map(PathBuf::from).to_vec());
    let run = garden.run(&Way { verb: "check", files: single, ..Way::default() }).record.id;
    for file in some {
        diary.note(run, file, verdict_of(file));
    }
    let part = Way { verb: "check", roots: vec!["b"], excluded: vec!["c"], ..Way::default() };
    let run = garden.run(&part).record.id;
    for file in ["b/d", "b/e"] {
        diary.note(run, file, verdict_of(file));
    }
    // A file that comes later is not claimed by what came before it.
    garden.tree.write("b/bb", "bb");
    let run = garden.check().record.id;
    for file in files {
        diary.note(run, file, verdict_of(file));
    }
    diary.note(run, "b/bb", Verdict::Untagged);
    garden.remove("h");
    let run = garden.check().record.id;
    for file in &files[..5] {
        diary.note(run, file, verdict_of(file));
    }
    diary.note(run, "b/bb", Verdict::Untagged);
    diary.note(run, "h", Verdict::Missing);
    diary.compare(&garden.reader());
    let run = garden.run(&Way { verb: "update", ..Way::default() }).record.id;
    for file in &files[..5] {
        diary.note(run, file, verdict_of(file));
    }
    diary.note(run, "b/bb", Verdict::Intact);
    garden.check();
    let history = garden.reader().history(Path::new("h")).unwrap();
    assert_eq!(history.now, None);
    let last = history.runs.last().unwrap();
    assert_eq!((last.run.id, last.happened[0].what), (run, FileHistoryEvent::Dropped));
    assert!(last.happened[0].before.is_some(), "its tag is not lost with it");
    let untagged = garden.reader().history(Path::new("b/bb")).unwrap();
    let tags: Vec<bool> = untagged.runs.iter().map(|run| run.tag.is_some()).collect();
    assert_eq!(tags, [false, false, true, true]);
}

/// Makes numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % limit
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Does something to some file.
fn meddle(garden: &mut Garden, numbers: &mut Numbers, round: usize) {
    let files: Vec<String> =
        garden.attributes.keys().map(|path| path.to_str().unwrap().to_owned()).collect();
    let fresh = format!("d{}/e{}/r{round}", numbers.below(3), numbers.below(3));
    if files.len() < 5 {
        garden.tree.write(fresh, format!("{round}"));
        return;
    }
    let file = numbers.pick(&files).as_str();
    let there = garden.tree.at(file).exists();
    match numbers.below(7) {
        0 | 1 => {
            garden.tree.write(fresh, format!("{round}"));
        }
        2 if there => garden.tree.edit(file, format!("edit {round}")),
        3 if there => garden.tree.corrupt(file, format!("decay {round}")),
        4 if there => garden.tree.touch(file),
        5 if there => garden.remove(file),
        6 if there => garden.rename(file, &format!("d{}/m{round}", numbers.below(3))),
        _ => {}
    }
}

#[test]
fn at_random_the_catalogue_tells_what_was_said() {
    for seed in 1..=6 {
        let mut numbers = Numbers(seed);
        let names: Vec<String> = (0..24).map(|n| format!("d{}/e{}/f{n}", n % 3, n % 2)).collect();
        let mut garden = Garden::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut diary = Diary::default();
        let mut keep = |told: &crate::catalogue::Told| {
            for (path, verdict) in &told.verdicts {
                diary.note(told.record.id, path.to_str().unwrap(), *verdict);
            }
            for finding in &told.findings {
                let (path, verdict) = match finding {
                    Finding::Missing { path, .. } => (path, Verdict::Missing),
                    Finding::Moved { from, .. } => (from, Verdict::Moved),
                    _ => continue,
                };
                diary.note(told.record.id, path.to_str().unwrap(), verdict);
            }
        };
        keep(&garden.run(&Way { verb: "tag", ..Way::default() }));
        for round in 0..40 {
            (0..numbers.below(4)).for_each(|_| meddle(&mut garden, &mut numbers, round));
            let files = garden.attributes.keys().filter(|path| garden.tree.at(path).exists());
            let some: Vec<PathBuf> = files.filter(|_| numbers.below(3) == 0).cloned().collect();
            let way = match numbers.below(6) {
                0 | 1 => Way { verb: "check", ..Way::default() },
                2 => Way { verb: "update", ..Way::default() },
                3 => Way { verb: "check", stop_after: Some(numbers.below(20)), ..Way::default() },
                4 => Way { verb: "check", files: Some(some), ..Way::default() },
                _ if garden.tree.at("d1").exists() => {
                    Way { verb: "check", roots: vec!["d1"], ..Way::default() }
                }
                _ => Way { verb: "check", ..Way::default() },
            };
            keep(&garden.run(&Way { tick_each: numbers.below(2) == 0, ..way }));
            let verification = garden.reader().verify().unwrap();
            assert_eq!(verification.problems, [""; 0], "seed {seed}, round {round}");
        }
        diary.compare(&garden.reader());
        garden.check();
        let expected: BTreeSet<PathBuf> = garden.attributes.keys().cloned().collect();
        let due = due_of(&garden, &DueOptions::default());
        let mut there = paths_of(&due);
        assert_eq!(there.iter().collect::<BTreeSet<_>>().len(), due.len(), "each once");
        // What is missing is due too, so that every check says so.
        there.retain(|path| garden.tree.at(path).exists());
        assert_eq!(there.into_iter().collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn a_whole_run_is_one_row_of_coverage() {
    let names: Vec<String> = (0..60).map(|n| format!("d{}/e{}/f{n:02}", n % 3, n % 5)).collect();
    let mut garden = Garden::planted(&names.iter().map(String::as_str).collect::<Vec<_>>());
    garden.run(&Way { verb: "check", tick_each: true, ..Way::default() });
    let Some(shell) = steadfast_testing::program("sqlite3") else { return };
    let mut counted = std::process::Command::new(shell);
    counted.arg(&garden.file).arg("SELECT run, count(*), max(beneath) FROM coverage GROUP BY run");
    let output = counted.output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "1|1|1\n2|1|1\n3|1|1\n");
}

#[test]
fn an_audit_says_what_was_proved_when() {
    let mut garden = Garden::planted(&["a", "b/c", "b/d", "e"]);
    garden.now += 40 * DAY_S;
    garden.tree.write("untagged", "u");
    garden.tree.corrupt("b/d", "x");
    garden.run(&Way { verb: "check", roots: vec!["b"], ..Way::default() });
    let now = moment(garden.now);
    let audit = garden.reader().audit(&[7, 30, 90], now).unwrap();
    assert_eq!((audit.entries, audit.tagged), (4, 4));
    let windows: Vec<(u32, u64)> =
        audit.windows.iter().map(|window| (window.days, window.entries)).collect();
    assert_eq!(windows, [(7, 1), (30, 1), (90, 4)], "what is corrupt now was proved then");
    let ages = audit.proofs.iter().map(|proof| (garden.now - proof.at.seconds) / DAY_S);
    let proofs: Vec<(i64, u64)> = ages.zip(audit.proofs.iter().map(|one| one.entries)).collect();
    assert_eq!(proofs, [(40, 3), (0, 1)], "each file counts once, by its last proof");
    let mut files = Vec::new();
    let mut list = |file: steadfast::catalogue::ListedFile| {
        let age = file.last_proof.map(|proof| (garden.now - proof.seconds) / DAY_S);
        files.push((file.path.display().to_string(), file.standing.name(), file.length, age));
        ControlFlow::Continue(())
    };
    garden.reader().files(None, &mut list).unwrap();
    let expected = [
        ("a", "fine", 1, Some(40)),
        ("e", "fine", 1, Some(40)),
        ("b/c", "fine", 3, Some(0)),
        ("b/d", "corrupt", 1, Some(40)),
    ];
    let expected = expected.map(|(path, state, length, age)| (path.to_owned(), state, length, age));
    assert_eq!(files, expected, "a corrupt file was proved by the run before");
    assert_eq!(audit.never, (0, 0));
    assert_eq!(audit.standings.values().sum::<u64>(), 1);
    assert_eq!(audit.runs[0].counts.get("corrupt"), Some(&1));
    let mut overdue = Vec::new();
    let mut visit = |one: steadfast::catalogue::Overdue| {
        overdue.push((one.path, one.last_proof.is_some()));
        ControlFlow::Continue(())
    };
    garden.reader().overdue(30, now, &mut visit).unwrap();
    let expected = ["a", "e", "b/d"].map(|path| (PathBuf::from(path), true));
    assert_eq!(overdue, expected);
    let failures = |garden: &Garden| {
        let mut all = Vec::new();
        let mut visit = |failure: steadfast::catalogue::FailedCheck| {
            all.push((failure.path.clone(), failure.run, failure.settled));
            ControlFlow::Continue(())
        };
        garden.reader().failures(&mut visit).unwrap();
        all
    };
    assert_eq!(failures(&garden), [(PathBuf::from("b/d"), 3, false)]);
    garden.tree.corrupt("b/d", "b/d");
    garden.check();
    assert_eq!(failures(&garden), [(PathBuf::from("b/d"), 3, true)]);
    // Another run finds another file, and its failures are told apart.
    garden.tree.corrupt("a", "x");
    garden.check();
    let of = |run: i64| {
        let mut all = Vec::new();
        let mut visit = |failure: steadfast::catalogue::FailedCheck| {
            all.push((failure.path, failure.run, failure.length));
            ControlFlow::Continue(())
        };
        garden.reader().failures_of(run, &mut visit).unwrap();
        all
    };
    assert_eq!(of(3), [(PathBuf::from("b/d"), 3, Some(3))]);
    assert_eq!(of(5), [(PathBuf::from("a"), 5, Some(1))]);
    assert_eq!(of(4), []);
}

#[test]
fn a_quick_look_compares_facts_and_leaves_no_trace() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    let mut garden = Garden::planted(&["a", "b/c", "b/d", "e", "f"]);
    garden.tree.corrupt("f", "x");
    garden.check();
    garden.tree.edit("b/c", "longer than it was");
    garden.tree.touch("b/d");
    garden.tree.write("b/new", "new");
    garden.remove("e");
    let runs = garden.reader().runs(i64::MAX, 100).unwrap().len();
    let mut findings = Vec::new();
    let selection = garden.tree.selection();
    let summary = garden.reader().quick(
        &selection,
        moment(garden.now),
        &Arc::new(AtomicBool::new(false)),
        &mut |finding| findings.push(format!("{} {}", finding.name(), finding.path().display())),
        &mut |event| panic!("{event:?}"),
    );
    let summary = summary.unwrap();
    let expected =
        ["changed b/c", "changed b/d", "new b/new", "standing f", "missing e"].map(str::to_owned);
    assert_eq!(findings, expected);
    assert_eq!((summary.files, summary.changed, summary.new, summary.missing), (5, 2, 1, 1));
    assert!(summary.whole);
    assert_eq!(garden.reader().runs(i64::MAX, 100).unwrap().len(), runs);
    assert_eq!(garden.check().all(), ["new b/new", "missing e"], "nothing was taken for known");
}

#[test]
fn files_are_found_by_their_contents_and_by_their_names() {
    let mut garden = Garden::planted(&["a", "b/a", "b/c", "d"]);
    garden.now += DAY_S;
    let tag = |path: &str| garden.attributes[Path::new(path)];
    let (digest, name) = (tag("b/c").digest, OsStr::new("a"));
    let mut found = Vec::new();
    let mut take = |sought: LookupMatch| {
        found.push((sought.path, sought.tag.digest, sought.standing));
        ControlFlow::Continue(())
    };
    garden.reader().look_up(&[digest], &[name, OsStr::new("never")], &mut take).unwrap();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let paths: Vec<&Path> = found.iter().map(|(path, ..)| path.as_path()).collect();
    assert_eq!(paths, ["a", "b/a", "b/c"].map(Path::new));
    assert_eq!(found[2].1, digest);
    assert!(found.iter().all(|(_, _, standing)| *standing == FileState::Fine));
    let mut none = |sought: LookupMatch| panic!("{sought:?} was not sought");
    garden.reader().look_up(&[], &[], &mut none).unwrap();
    let mut first = 0;
    let mut one = |_: LookupMatch| {
        first += 1;
        ControlFlow::Break(())
    };
    garden.reader().look_up(&[], &[name], &mut one).unwrap();
    assert_eq!(first, 1, "who has enough is told no more");
    assert_eq!(garden.reader().algorithms().unwrap(), [Algorithm::Blake3]);
}
