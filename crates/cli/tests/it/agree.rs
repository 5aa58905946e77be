//! What is said of a folder is the same wherever it is said: by the command, in JSON, in metrics,
//! on the start page, in the side bar and on the page of the folder.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::matrix::House;

/// A state of a folder: how it is brought about, and the standing that all must name.
struct Case {
    name: &'static str,
    make: fn(&House),
    standing: &'static str,
    /// By how many seconds the clock of who asks is ahead.
    ahead_s: &'static str,
}

const fn case(name: &'static str, standing: &'static str, make: fn(&House)) -> Case {
    Case { name, make, standing, ahead_s: "0" }
}

const CASES: &[Case] = &[
    case("checked", "fine", |_| ()),
    case("checked twice", "fine", |it| drop(it.run(&["check", "photos"]))),
    case("recorded", "recorded", |it| begin_anew(it, true)),
    case("tags alone", "tags alone", |it| begin_anew(it, false)),
    case("damaged", "corrupt", |it| {
        corrupt(it, 2);
        it.run(&["check", "photos"]).ends(3);
    }),
    case("damaged and missing", "corrupt", |it| {
        corrupt(it, 1);
        fs::remove_file(it.photo(9)).unwrap();
        it.run(&["check", "photos"]).ends(3);
    }),
    case("damaged and found again", "corrupt", |it| {
        corrupt(it, 1);
        it.run(&["check", "photos"]).ends(3);
        it.run(&["check", "photos"]).ends(3);
    }),
    case("damaged, and accepted", "fine", |it| {
        corrupt(it, 1);
        it.run(&["check", "photos"]).ends(3);
        it.run(&["update", "--accept", "photos/0/0"]).succeeds();
    }),
    case("one is gone", "missing", |it| {
        fs::remove_file(it.photo(3)).unwrap();
        it.run(&["check", "photos"]).ends(1);
    }),
    case("many are gone", "mass change", |it| {
        (0..20).for_each(|number| fs::remove_file(it.photo(number)).unwrap());
        it.run(&["check", "photos"]).ends(1);
    }),
    case("one was edited", "modified", |it| {
        it.overwrite(1);
        it.run(&["check", "photos"]).ends(1);
    }),
    case("many were edited", "mass change", |it| {
        it.overwrite(30);
        it.run(&["check", "photos"]).ends(1);
    }),
    case("some each night", "modified", |it| {
        for night in 0..7 {
            fs::write(it.photo(night), format!("edited in night {night}")).unwrap();
            it.run(&["check", "photos"]).ends(1);
        }
    }),
    case("some are new", "incomplete", |it| {
        fs::write(it.photos().join("new"), "not recorded").unwrap();
        it.run(&["check", "photos"]).succeeds();
    }),
    case("empty", "empty", |it| {
        begin_anew(it, false);
        it.run(&["untag", "photos"]).succeeds();
        it.run(&["init", "--tags-only", "photos"]);
    }),
    Case { name: "not checked for long", make: |_| (), standing: "overdue", ahead_s: "17280000" },
    case("its catalogue is damaged", "unknown", |it| {
        fs::write(it.photos().join(".steadfast/catalogue.sqlite"), "no database").unwrap();
    }),
];

/// Takes the catalogue away, and makes one of the tags if that is wanted.
fn begin_anew(house: &House, makes: bool) {
    fs::remove_dir_all(house.photos().join(".steadfast")).unwrap();
    fs::remove_file(house.tree.state("home/state/steadfast/trees")).unwrap();
    if makes {
        house.run(&["init", "--tags-only", "photos"]).succeeds();
    }
}

/// Changes some files and keeps their times.
fn corrupt(house: &House, files: usize) {
    for number in 0..files {
        let path = house.photo(number);
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, format!("phOtograph {number}")).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
}

/// Returns what the command says, after comparing it with all other places. Pages have the clock of
/// this machine, so they are asked only without `ahead_s`.
fn said(house: &House, name: &str, ahead_s: &str) -> Value {
    let json = house.run_ahead(&["status", "--json", "photos"], ahead_s);
    let said: Value = json.objects().first().cloned().unwrap_or_default();
    let status = said["exit_status"].as_i64().unwrap_or(2) as i32;
    assert_eq!(json.status, status, "{name}: {said}");
    let [word, sentence] = ["word", "says"].map(|key| said[key].as_str().unwrap().to_owned());
    let text = house.run_ahead(&["status", "photos"], ahead_s).ends(status).stdout().to_owned();
    let state = format!("{:<10} ", said["state"].as_str().unwrap());
    assert!(text.starts_with(&state) && text.contains(&sentence), "{name}: {text}");
    let metrics = house.run_ahead(&["status", "--prometheus", "-", "photos"], ahead_s);
    let metric = format!("\"}} {status}\n");
    let line = metrics.stdout().lines().find(|line| line.starts_with("steadfast_folder_status{"));
    assert!(format!("{}\n", line.unwrap_or_default()).ends_with(&metric), "{name}: {line:?}");
    if ahead_s == "0" {
        let [home, folder] = ["/", "/folders/0"]
            .map(|page| house.serve(|client, entrance| client.page(entrance, page)));
        let shown = |page: &str, what: &str| {
            let what = what.replace('&', "&amp;");
            assert!(page.contains(&what), "{name}: `{what}` is not on {page}");
        };
        shown(&home, &format!("{word}</span>"));
        shown(&home, &sentence);
        shown(&home, &format!(", {word}</span>"));
        shown(&folder, &format!("photos: {word}</h1>"));
        shown(&folder, &sentence);
        // Green is for what is fine alone.
        let is_green = home.contains("chip good");
        assert_eq!(is_green, said["standing"] == "fine", "{name}: {home}");
    }
    said
}

#[test]
fn every_place_says_the_same_of_a_folder() {
    for Case { name, make, standing, ahead_s } in CASES {
        let house = House::new();
        make(&house);
        let said = said(&house, name, ahead_s);
        assert_eq!(said["standing"], *standing, "{name}: {said}");
    }
}

/// A check of another process, which is ended with this.
struct Going(Child);

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A run of any process is a run, and takes nothing back that is known.
#[test]
fn a_check_of_another_process_is_shown_and_known_damage_stays() {
    let house = House::new();
    corrupt(&house, 2);
    house.run(&["check", "photos"]).ends(3);
    for number in 0..4 {
        fs::write(house.photos().join(format!("large {number}")), vec![0; 400_000]).unwrap();
    }
    house.run(&["tag", "photos"]);
    let mut command: Command =
        house.tree.command(["check", "--rate-limit", "100kB", "--workers", "1", "photos"]);
    command.env("HOME", house.tree.state("home")).env("STEADFAST_IGNORE_CTIME", "1");
    command.env("XDG_STATE_HOME", house.tree.state("home/state"));
    let _going = Going(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let begun = Instant::now();
    loop {
        let json = house.run(&["status", "--json", "photos"]).ends(3);
        let said = json.objects()[0].clone();
        assert_eq!(said["word"], "2 damaged", "{said}");
        let says = said["says"].as_str().unwrap();
        if says.contains("Checking: ") {
            assert!(says.contains("A schedule or a command started it."), "{says}");
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{says}");
    }
    let page = house.serve(|client, entrance| client.page(entrance, "/folders/0"));
    assert!(page.contains("2 damaged") && page.contains("Checking: "), "{page}");
    assert!(!page.contains("Check now"), "a second check would be refused: {page}");
}
