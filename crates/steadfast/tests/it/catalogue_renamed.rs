//! Files that were renamed to names that the catalogue knows: swapped, rotated, in cycles, onto
//! others. Fixed cases, and random histories against a model.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use steadfast::catalogue::{FileHistoryEvent, FileState, Finding};
use steadfast::{Tag, Verdict};

use crate::catalogue::{Garden, Told, Way};

impl Garden {
    /// Renames a file onto a name that may be taken.
    fn put_over(&mut self, from: &str, to: &str) {
        self.attributes.remove(Path::new(to));
        self.rename(from, to);
    }

    /// Renames files along a list of names, and the last to the first: `a b c` is a to b, b to c
    /// and c to a.
    fn turn(&mut self, names: &[&str]) {
        let (last, rest) = names.split_last().unwrap();
        self.put_over(last, "in between");
        for (from, to) in rest.iter().zip(&names[1..]).rev() {
            self.put_over(from, to);
        }
        self.put_over("in between", names[0]);
    }

    /// Renames files along a list of names; what the last one had is gone.
    fn rotate(&mut self, names: &[&str]) {
        for (from, to) in names.iter().zip(&names[1..]).rev() {
            self.put_over(from, to);
        }
    }

    /// The tags of the catalogue are those of the files, and the catalogue is sound.
    #[track_caller]
    fn is_true(&self) {
        for (path, tag) in &self.attributes {
            assert_eq!(self.reader().tag(path).unwrap().as_ref(), Some(tag), "{path:?}");
        }
        assert_eq!(self.reader().verify().unwrap().problems, [""; 0]);
    }
}

/// The number of the file of each name, by the last part of the name.
fn numbers(garden: &Garden) -> BTreeMap<String, i64> {
    let db = rusqlite::Connection::open(&garden.file).unwrap();
    let mut statement = db.prepare("SELECT CAST(name AS TEXT), file FROM names").unwrap();
    let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_file_that_is_renamed_stays_the_file_that_it_was() {
    let mut garden = Garden::planted(&["a", "b", "d/c", "d/x", "log", "log.1"]);
    let was = numbers(&garden);
    garden.turn(&["a", "b", "d/c"]);
    garden.rename("d/x", "e/y");
    garden.rotate(&["log", "log.1"]);
    garden.check();
    let is = numbers(&garden);
    let expected = [("b", "a"), ("c", "b"), ("a", "c"), ("y", "x"), ("log.1", "log")];
    for (new, old) in expected {
        assert_eq!(is[new], was[old], "{old} is {new}: {was:?} {is:?}");
    }
    assert_eq!(is.len(), 5);
    assert_eq!(garden.reader().verify().unwrap().problems, [""; 0]);
    garden.rename("e/y", "d/x");
    garden.check();
    assert_eq!(numbers(&garden)["x"], was["x"], "and back");
    garden.tree.write("new", "new");
    garden.check();
    assert!(numbers(&garden)["new"] > *was.values().max().unwrap(), "no number is used again");
    assert_eq!(garden.check().all(), [""; 0]);
    garden.is_true();
}

fn sorted(told: &Told) -> Vec<String> {
    let mut all = told.all();
    all.sort();
    all
}

#[test]
fn a_swap_and_a_cycle_are_moves() {
    for names in [&["a", "b"][..], &["a", "b", "c"], &["d/a", "b", "c/d/e", "d/b", "a"]] {
        let mut garden = Garden::planted(names);
        garden.turn(names);
        let mut expected: Vec<String> = (0..names.len())
            .map(|at| format!("moved {} {}", names[at], names[(at + 1) % names.len()]))
            .collect();
        expected.sort();
        let told = garden.check();
        assert_eq!(sorted(&told), expected);
        assert!(told.verdicts.iter().all(|(_, verdict)| *verdict == Verdict::Intact));
        garden.is_true();
        assert_eq!(garden.check().all(), [""; 0]);
        let history = garden.reader().history(Path::new(names[0])).unwrap();
        let verdicts: Vec<_> = history.runs.iter().map(|run| run.verdict).collect();
        assert_eq!(verdicts[1..], [Some(Verdict::Intact); 3], "{history:?}");
    }
}

#[test]
fn a_rotation_tells_once_what_was_overwritten() {
    let names = ["log", "log.1", "log.2", "log.3"];
    for verb in ["check", "update"] {
        let mut garden = Garden::planted(&names);
        garden.rotate(&names);
        let told = garden.run(&Way { verb, ..Way::default() });
        let expected =
            ["moved log log.1", "moved log.1 log.2", "moved log.2 log.3", "overwritten log.3"];
        assert_eq!(sorted(&told), expected);
        let status = told.findings.iter().map(|one| one.exit_status().code()).max();
        assert_eq!(status, Some(u8::from(verb == "check")), "an update accepts it");
        garden.is_true();
        assert_eq!(garden.check().all(), [""; 0]);
        // The history of the name has the file that is gone, with its tag.
        let history = garden.reader().history(Path::new("log.3")).unwrap();
        let gone = history.runs.iter().flat_map(|run| &run.happened);
        let gone: Vec<&Tag> = gone
            .filter(|happened| happened.what == FileHistoryEvent::Overwritten)
            .filter_map(|happened| happened.before.as_ref())
            .collect();
        assert_eq!(gone.len(), 1);
        assert_eq!(history.now.unwrap().standing, FileState::Fine);
    }
}

/// The log is written anew, and has no tag of its own yet.
#[test]
fn logs_that_are_rotated_every_night_are_no_alarm_after_an_update() {
    let names = ["log", "log.1", "log.2"];
    let mut garden = Garden::planted(&names);
    for night in 0..4 {
        garden.tree.edit("log", format!("more of {night}"));
        garden.rotate(&names);
        garden.tree.write("log", format!("new of {night}"));
        let told = garden.run(&Way { verb: "update", ..Way::default() });
        let status = told.findings.iter().map(|one| one.exit_status().code()).max();
        assert_eq!(status, Some(0), "{night}: {:?}", told.all());
        assert_eq!(garden.check().all(), [""; 0], "{night}");
        garden.is_true();
    }
}

#[test]
fn a_tag_that_is_replaced_in_place_is_no_move() {
    let mut garden = Garden::planted(&["a", "b"]);
    fs::write(garden.tree.at("b"), "a").unwrap();
    let tag = garden.attributes[Path::new("a")];
    garden.attributes.insert(PathBuf::from("b"), tag);
    assert_eq!(garden.check().all(), ["tag replaced b"]);
    assert_eq!(garden.check().all(), ["tag replaced b"]);
    // Nor is a copy that replaces a file.
    let mut garden = Garden::planted(&["a", "b"]);
    garden.tree.write("c", "a");
    garden.attributes.insert(PathBuf::from("c"), garden.attributes[Path::new("a")]);
    garden.put_over("c", "b");
    assert_eq!(garden.check().all(), ["tag replaced b"]);
    assert_eq!(garden.check().all(), ["tag replaced b"]);
}

#[test]
fn a_stop_between_moves_is_made_good_by_the_next_run() {
    let names = ["a/1", "b/2", "c/3", "d/4"];
    for stop in 0..4 {
        let mut garden = Garden::planted(&names);
        garden.turn(&names);
        let way = Way { verb: "check", stop_at_finding: Some(stop), ..Way::default() };
        garden.run(&way);
        let said = garden.check();
        let moved = said.findings.iter().all(|finding| matches!(finding, Finding::Moved { .. }));
        assert!(moved, "stopped after {stop}: {:?}", said.all());
        assert_eq!(garden.check().all(), [""; 0]);
        garden.is_true();
    }
}

#[test]
fn a_part_of_the_tree_is_settled_by_itself() {
    let mut garden = Garden::planted(&["a/x", "b/x"]);
    garden.turn(&["a/x", "b/x"]);
    garden.run(&Way { verb: "check", roots: vec!["b"], ..Way::default() });
    garden.check();
    assert_eq!(garden.check().all(), [""; 0]);
    garden.is_true();
}

/// A generator of small numbers that is the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }
}

/// What a name has in truth.
#[derive(Clone)]
struct TrueFile {
    /// What it held when it was tagged.
    identity: usize,
    is_rotten: bool,
}

/// Renames at random, and compares what each run says with the truth.
#[test]
fn random_histories_of_renames_follow_the_files() {
    const NAMES: [&str; 7] = ["a", "b", "c", "d/e", "d/f", "g/h/i", "z"];
    for seed in 0..300 {
        let mut dice = Dice(seed * 7_919 + 1);
        let files = 2 + dice.roll(4);
        let mut garden = Garden::planted_in_memory(&NAMES[..files]);
        let mut truth: BTreeMap<String, TrueFile> = (0..files)
            .map(|at| (NAMES[at].to_owned(), TrueFile { identity: at, is_rotten: false }))
            .collect();
        let tags: Vec<Tag> = (0..files).map(|at| garden.attributes[Path::new(NAMES[at])]).collect();
        for round in 0..3 {
            let before = truth.clone();
            for _ in 0..=dice.roll(4) {
                let from = NAMES[dice.roll(NAMES.len())];
                let to = NAMES[dice.roll(NAMES.len())];
                if from == to || !truth.contains_key(from) {
                    continue;
                }
                match dice.roll(3) {
                    0 if truth.contains_key(to) => {
                        garden.turn(&[from, to]);
                        let (one, two) = (truth[from].clone(), truth[to].clone());
                        truth.extend([(from.to_owned(), two), (to.to_owned(), one)]);
                    }
                    1 if !truth[from].is_rotten => {
                        garden.tree.corrupt(from, format!("rot {}", truth[from].identity));
                        truth.get_mut(from).unwrap().is_rotten = true;
                    }
                    _ => {
                        garden.put_over(from, to);
                        let file = truth.remove(from).unwrap();
                        truth.insert(to.to_owned(), file);
                    }
                }
            }
            let told = garden.check();
            let place = format!("seed {seed}, round {round}: {:?}", told.all());
            for (path, verdict) in &told.verdicts {
                let file = &truth[path.to_str().unwrap()];
                let expected = if file.is_rotten { Verdict::Corrupt } else { Verdict::Intact };
                assert_eq!(*verdict, expected, "{path:?}, {place}");
            }
            // Each file that is elsewhere has moved there, and each that is nowhere is told.
            let mut expected = BTreeSet::new();
            for (name, file) in &before {
                let now = truth.iter().find(|(_, now)| now.identity == file.identity);
                match now {
                    Some((now, _)) if now == name => {}
                    Some((now, _)) => drop(expected.insert(format!("moved {name} {now}"))),
                    None if truth.contains_key(name) => {
                        expected.insert(format!("overwritten {name}"));
                    }
                    None => drop(expected.insert(format!("missing {name}"))),
                }
            }
            let about = told.all().into_iter().filter(|it| !it.starts_with("new "));
            assert_eq!(about.collect::<BTreeSet<_>>(), expected, "{place}");
            for (name, file) in &truth {
                let tag = garden.reader().tag(Path::new(name)).unwrap();
                assert_eq!(tag, Some(tags[file.identity]), "{name}, {place}");
            }
            // Missing ones are accepted, so that each round begins with what is there.
            garden.run(&Way { verb: "update", ..Way::default() });
            assert_eq!(garden.check().all(), [""; 0], "{place}");
        }
        garden.is_true();
    }
}
