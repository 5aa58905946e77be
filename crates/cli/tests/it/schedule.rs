//! `schedule`, `status` and `alert`: a folder that is checked by itself, and trouble that is told.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tree::{Outcome, Tree};

/// A tree with a catalogue, in a home of its own.
pub(crate) struct Household {
    pub(crate) tree: Tree,
    /// By how many days its clock is ahead.
    ahead: Cell<i64>,
    /// Whether the program runs as a user without rights to everything.
    is_plain: Cell<bool>,
}

impl Household {
    pub(crate) fn new(files: usize) -> Household {
        let mut tree = Tree::new();
        for number in 0..files {
            tree = tree.file(format!("photos/{number}"), format!("photograph {number}").as_bytes());
        }
        fs::create_dir_all(tree.state("home")).unwrap();
        let household = Household { tree, ahead: Cell::new(0), is_plain: Cell::new(false) };
        household.run(&["init", "--tags-only", "photos"]).succeeds();
        household.run(&["tag", "photos"]).succeeds();
        household
    }

    pub(crate) fn run(&self, words: &[&str]) -> Outcome {
        let mut command = self.tree.command(words);
        command.env("HOME", self.tree.state("home"));
        command
            .env("STEADFAST_IGNORE_CTIME", "1")
            .env("XDG_STATE_HOME", self.tree.state("home/state"));
        command
            .env("XDG_CONFIG_HOME", self.tree.state("home/config"))
            .env("STEADFAST_AHEAD_S", (self.ahead.get() * 86_400).to_string());
        if self.is_plain.get() && is_root() {
            command.uid(12_345).gid(12_345);
        }
        Outcome::of(&mut command)
    }

    /// Lets the program run as a user without rights to everything, who owns the files.
    pub(crate) fn become_plain(&self) {
        self.is_plain.set(true);
        if is_root() {
            let home = self.tree.state("home");
            fs::set_permissions(home.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
            let root = self.tree.path("");
            fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
            let mut chown = Command::new("chown");
            chown.args(["-R", "12345:12345"]).args([root, home]);
            assert!(chown.status().unwrap().success());
        }
    }

    pub(crate) fn add(&self, more: &[&str]) -> Outcome {
        let words = ["schedule", "add", "photos", "--timer", "manual", "--name", "photos"];
        self.run(&[&words[..], more].concat())
    }

    pub(crate) fn night(&self) -> Outcome {
        self.run(&["schedule", "run", "--now", "photos"])
    }

    pub(crate) fn photo(&self, number: usize) -> PathBuf {
        self.tree.path(format!("photos/{number}"))
    }

    /// Changes a byte of a photograph and keeps its time.
    pub(crate) fn corrupt(&self, number: usize) {
        let path = self.photo(number);
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, format!("phOtograph {number}")).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }

    /// Adds an alert that appends its JSON to a file, and returns the file.
    pub(crate) fn listen(&self) -> PathBuf {
        let log = self.tree.state("log");
        let tool = self.tree.state("tool");
        let script = format!("#!/bin/sh\ncat >> '{0}'\necho >> '{0}'\n", log.display());
        fs::write(&tool, script).unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        self.run(&["alert", "add", "--command", tool.to_str().unwrap()]).succeeds();
        log
    }
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// The messages so far, as JSON.
pub(crate) fn messages(log: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(log).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Household {
    /// Lets days pass.
    pub(crate) fn age(&self, days: i64) {
        self.ahead.set(self.ahead.get() + days);
    }
}

pub(crate) fn status_of(household: &Household) -> serde_json::Value {
    let told = household.run(&["status", "--json"]);
    serde_json::from_str(told.stdout().lines().next().unwrap()).unwrap()
}

#[test]
fn a_night_finds_decay_and_tells_once() {
    let household = Household::new(60);
    let log = household.listen();
    let added = household.add(&["--cover", "1d"]).succeeds();
    assert!(
        added.stdout().contains("every night at 02:00, all within 1 days"),
        "{}",
        added.stdout()
    );
    assert!(added.stdout().contains("schedule run photos"), "{}", added.stdout());
    household.night().succeeds();
    assert_eq!(messages(&log).len(), 0, "nothing is wrong");
    assert_eq!(status_of(&household)["state"], "fine");
    assert_eq!(household.run(&["status"]).status, 0);

    household.corrupt(7);
    assert_eq!(household.night().status, 3);
    let told = messages(&log);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["open"]["corrupt"], &told[0]["status"]), (&1.into(), &3.into()));
    let body = told[0]["body"].as_str().unwrap();
    assert!(body.contains("\n  7\nTo mend it: steadfast repair /"), "{body}");
    assert_eq!(household.night().status, 3);
    assert_eq!(messages(&log).len(), 1, "open trouble is not told every night");
    assert_eq!(household.run(&["status"]).status, 3);
    assert_eq!(status_of(&household)["open"]["corrupt"], 1);

    fs::write(household.photo(7), "photograph 7").unwrap();
    household.run(&["update", "photos/7"]).succeeds();
    household.night();
    let told = messages(&log);
    assert_eq!((told.len(), &told[1]["settled"]), (2, &1.into()), "{told:?}");
    assert_eq!(household.run(&["status"]).status, 0);
}

#[test]
fn each_night_reads_its_part() {
    let household = Household::new(60);
    household.add(&["--cover", "30d"]).succeeds();
    let night = || {
        let told = household.run(&["schedule", "run", "--now", "photos", "--json"]).succeeds();
        let objects = told.objects();
        let paths = objects.iter().filter_map(|object| object["path"].as_str().map(str::to_owned));
        paths.collect::<Vec<String>>()
    };
    let (first, second) = (night(), night());
    assert!((2..=6).contains(&first.len()), "a thirtieth of the cover reads {first:?}");
    assert!(second.iter().all(|path| !first.contains(path)), "{first:?}, then {second:?}");
}

#[test]
fn a_schedule_that_is_not_due_does_nothing() {
    let household = Household::new(3);
    household.add(&[]).succeeds();
    household.night().succeeds();
    let again = household.run(&["schedule", "run", "photos"]).succeeds();
    assert!(again.stderr().contains("nothing done: not due yet"), "{}", again.stderr());
    let all = household.run(&["schedule", "run", "--all"]).succeeds();
    assert!(all.stderr().contains("not due yet"), "{}", all.stderr());
}

#[test]
fn a_folder_that_is_not_there_is_told_and_not_judged() {
    let household = Household::new(3);
    let log = household.listen();
    household.add(&[]).succeeds();
    fs::rename(household.tree.path("photos"), household.tree.path("elsewhere")).unwrap();
    household.age(9);
    // A disk that is away for two nights is no news; the third is told, once.
    for (night, expected) in [0, 0, 1, 1].into_iter().enumerate() {
        let told = household.night();
        assert_eq!(told.status, 2);
        assert!(told.stderr().contains("not mounted"), "{}", told.stderr());
        assert_eq!(messages(&log).len(), expected, "night {night}");
        household.age(1);
    }
    assert_eq!(messages(&log)[0]["open"]["unmounted"], 1);
    assert_eq!(status_of(&household)["state"], "not there");
    assert_eq!(household.run(&["status"]).status, 2);
    // An empty mount point in its place is not a folder whose files were all deleted.
    fs::create_dir(household.tree.path("photos")).unwrap();
    let night = household.night().ends(2);
    assert!(night.stderr().contains("its disk is not mounted"), "{}", night.stderr());
    fs::remove_dir(household.tree.path("photos")).unwrap();
    fs::rename(household.tree.path("elsewhere"), household.tree.path("photos")).unwrap();
    household.night().succeeds();
    assert_eq!(messages(&log).last().unwrap()["settled"], 1);
}

/// A schedule is of the tree that it was made for.
#[test]
fn a_schedule_follows_no_link_that_took_its_folders_place_and_its_folder_elsewhere() {
    let household = Household::new(3);
    household.add(&["--update"]).succeeds();
    let (photos, other) = (household.tree.path("photos"), household.tree.path("other"));
    let elsewhere = household.tree.path("elsewhere");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("old"), "old").unwrap();
    household.run(&["init", "other"]).succeeds();
    let before = fs::read(other.join(".steadfast/catalogue.sqlite")).unwrap();
    fs::write(other.join("new"), "new").unwrap();
    fs::rename(&photos, &elsewhere).unwrap();
    std::os::unix::fs::symlink("other", &photos).unwrap();
    let night = household.night().ends(2);
    assert!(night.stderr().contains("a link leads from"), "{}", night.stderr());
    assert_eq!(fs::read(other.join(".steadfast/catalogue.sqlite")).unwrap(), before);
    let file = steadfast_sys::file::File::open(&other.join("new")).unwrap();
    let tag = steadfast_sys::xattr::get(&file, steadfast_sys::xattr::TAG, &mut [0; 256]);
    assert_eq!(tag.unwrap(), None);
    // A run at its new path finds it, with its schedule.
    fs::write(elsewhere.join("new"), "new").unwrap();
    household.run(&["check", "elsewhere"]).succeeds();
    let night = household.night().succeeds();
    assert!(night.stdout().contains("1 tagged"), "{}", night.stdout());
    assert_eq!(
        household.run(&["status"]).succeeds().stdout().matches("(schedule photos)").count(),
        1
    );
}

#[test]
fn open_trouble_is_told_again_after_a_week_and_not_settled_by_an_absence() {
    let household = Household::new(60);
    let log = household.listen();
    household.add(&["--cover", "1d"]).succeeds();
    household.corrupt(7);
    assert_eq!(household.night().status, 3);
    household.age(6);
    assert_eq!(household.night().status, 3);
    assert_eq!(messages(&log).len(), 1, "it was told six days ago");
    household.age(1);
    assert_eq!(household.night().status, 3);
    let told = messages(&log);
    assert_eq!(
        (told.len(), &told[1]["new"], &told[1]["open"]["corrupt"]),
        (2, &0.into(), &1.into())
    );

    let (here, away) = (household.tree.path("photos"), household.tree.path("away"));
    fs::rename(&here, &away).unwrap();
    assert_eq!(household.night().status, 2);
    assert_eq!(messages(&log).len(), 2, "what was not looked at is not settled");
    fs::rename(&away, &here).unwrap();
    assert_eq!(household.night().status, 3);
    assert_eq!(messages(&log).len(), 2);
}

#[test]
fn a_missing_file_is_told_before_its_turn_comes() {
    let household = Household::new(60);
    let log = household.listen();
    household.add(&["--cover", "60d"]).succeeds();
    let away = household.tree.path("away");
    fs::rename(household.photo(50), &away).unwrap();
    household.night().ends(1);
    household.night().ends(1);
    let told = messages(&log);
    assert_eq!((told.len(), &told[0]["open"]["missing"]), (1, &1.into()), "{told:?}");
    household.run(&["status"]).ends(1);
    assert_eq!(status_of(&household)["open"]["missing"], 1);
    household.run(&["status", "--alert"]);
    assert_eq!(messages(&log).len(), 1, "what was not looked at is not settled");
    // With its tag and its time.
    fs::rename(&away, household.photo(50)).unwrap();
    household.night().succeeds();
    let told = messages(&log);
    assert_eq!((told.len(), &told[1]["settled"]), (2, &1.into()), "{told:?}");
    assert_eq!(status_of(&household)["state"], "recorded", "a part of it was compared so far");
}

#[test]
fn a_check_of_what_is_due_records_what_is_missing() {
    let household = Household::new(3);
    fs::remove_file(household.photo(1)).unwrap();
    let check = household.run(&["check", "--older-than", "0s", "photos", "--json"]).ends(1);
    let missing = check.objects().iter().filter(|object| object["verdict"] == "missing").count();
    assert_eq!(missing, 1, "it is reported once: {}", check.stdout());
    household.run(&["status"]).ends(1);
    assert_eq!(status_of(&household)["open"]["missing"], 1);
    fs::rename(household.photo(2), household.tree.path("photos/renamed")).unwrap();
    household.run(&["check", "--older-than", "0s", "photos"]).ends(1);
    assert_eq!(status_of(&household)["open"]["missing"], 2);
    household.run(&["check", "photos"]).ends(1);
    assert_eq!(status_of(&household)["open"]["missing"], 1, "a whole check finds it again");
}

#[test]
fn an_alarm_is_shown_and_does_not_wear_off() {
    let household = Household::new(100);
    household.add(&["--cover", "30d"]).succeeds();
    for number in 0..20 {
        fs::remove_file(household.photo(number)).unwrap();
    }
    for _ in 0..3 {
        let night = household.night().ends(1);
        assert!(night.stderr().contains("20 of 100 files"), "{}", night.stderr());
        household.run(&["status"]).ends(1);
        let status = status_of(&household);
        assert!(status["schedule"]["alarm"].as_str().unwrap().contains("20 of 100"), "{status}");
    }
    // A whole check records them, and they are no news then.
    household.run(&["check", "photos"]).ends(1);
    household.night().ends(1);
    let status = status_of(&household);
    assert_eq!(
        (&status["schedule"]["alarm"], &status["open"]["missing"]),
        (&().into(), &20.into())
    );
}

#[test]
fn a_timer_that_does_not_work_is_told_by_status_and_by_another_schedule() {
    let household = Household::new(3);
    let log = household.listen();
    household.add(&[]).succeeds();
    household.night().succeeds();
    household.run(&["status", "--alert"]).succeeds();
    household.age(3);
    let status = household.run(&["status"]);
    assert_eq!(status.status, 1);
    assert!(status.stdout().contains("its timer has not started it for 3 days"));
    assert_eq!(status_of(&household)["state"], "overdue");
    assert_eq!(messages(&log).len(), 0, "only --alert sends");
    household.run(&["status", "--alert"]).ends(1);
    household.run(&["status", "--alert"]).ends(1);
    let told = messages(&log);
    assert_eq!((told.len(), &told[0]["open"]["not started"]), (1, &1.into()), "{told:?}");
    household.night().succeeds();
    assert_eq!(messages(&log).last().unwrap()["settled"], 1);

    fs::create_dir(household.tree.path("papers")).unwrap();
    fs::write(household.tree.path("papers/a"), "a").unwrap();
    household.run(&["init", "--tags-only", "papers"]).succeeds();
    household.run(&["tag", "papers"]).succeeds();
    household.run(&["schedule", "add", "papers", "--timer", "manual"]).succeeds();
    household.age(4);
    household.run(&["schedule", "run", "papers"]).succeeds();
    let told = messages(&log);
    assert_eq!(told.last().unwrap()["open"]["not started"], 1, "{told:?}");
}

#[test]
fn a_catalogue_that_cannot_be_read_is_told_at_once() {
    let household = Household::new(3);
    let log = household.listen();
    household.add(&[]).succeeds();
    fs::write(household.tree.path("photos/.steadfast/catalogue.sqlite"), "no catalogue").unwrap();
    assert_eq!(household.night().status, 2);
    let told = messages(&log);
    assert_eq!((told.len(), &told[0]["open"]["unknown"]), (1, &1.into()), "{told:?}");
}

#[test]
fn metrics_replace_their_own_file_and_no_other() {
    let household = Household::new(3);
    household.add(&[]).succeeds();
    household.corrupt(1);
    household.run(&["check", "photos"]).ends(3);
    let file = household.tree.state("steadfast.prom");
    for _ in 0..2 {
        let told = household.run(&["status", "--prometheus", file.to_str().unwrap()]).ends(3);
        assert_eq!(told.stdout(), "");
        let text = fs::read_to_string(&file).unwrap();
        let open = text.lines().find(|line| line.contains("state=\"corrupt\"")).unwrap();
        assert!(open.ends_with("photos\",state=\"corrupt\"} 1"), "{open}");
    }
    let shown = household.run(&["status", "--prometheus", "-"]).ends(3);
    assert_eq!(shown.stdout(), fs::read_to_string(&file).unwrap());
    fs::write(&file, "a letter").unwrap();
    household.run(&["status", "--prometheus", file.to_str().unwrap()]).ends(2);
    assert_eq!(fs::read_to_string(&file).unwrap(), "a letter");
}

#[test]
fn every_run_writes_the_metrics() {
    let household = Household::new(3);
    household.add(&["--cover", "1d"]).succeeds();
    let file = household.tree.state("steadfast.prom");
    household.run(&["schedule", "metrics", file.to_str().unwrap()]).succeeds();
    let value = |metric: &str| {
        let text = fs::read_to_string(&file).unwrap();
        let line = text.lines().find(|line| line.starts_with(&format!("{metric}{{")));
        line.map(|line| line.rsplit(' ').next().unwrap().to_owned())
    };
    assert_eq!(value("steadfast_files").as_deref(), Some("3"));
    assert_eq!(value("steadfast_last_run_status"), None, "nothing has run");
    household.corrupt(1);
    household.night().ends(3);
    assert_eq!(value("steadfast_folder_status").as_deref(), Some("3"));
    assert_eq!(value("steadfast_last_run_status").as_deref(), Some("3"));
    // A run that does nothing writes them too: an old file means that no timer works.
    fs::remove_file(&file).unwrap();
    household.run(&["schedule", "run", "photos"]).succeeds();
    assert_eq!(value("steadfast_folder_status").as_deref(), Some("3"));
    fs::write(&file, "a letter").unwrap();
    let night = household.night().ends(3);
    assert!(night.stderr().contains("the metrics were not written"), "{}", night.stderr());
    assert_eq!(fs::read_to_string(&file).unwrap(), "a letter");
    household.run(&["schedule", "metrics", file.to_str().unwrap()]).ends(2);
    household.run(&["schedule", "metrics", "--off"]).succeeds();
    assert!(!household.night().stderr().contains("metrics"));
}

#[test]
fn an_update_reads_what_is_new_or_edited_and_nothing_else() {
    let household = Household::new(60);
    household.add(&["--update", "--cover", "60d"]).succeeds();
    fs::write(household.tree.path("photos/new"), "a new one").unwrap();
    // A check of one's own knows it before the schedule does.
    household.run(&["check", "photos"]).succeeds();
    fs::write(household.photo(50), "an edited photograph").unwrap();
    let night = household.run(&["schedule", "run", "--now", "photos", "--json"]).succeeds();
    let read = night.objects().iter().filter(|object| object["verdict"].is_string()).count();
    assert!(read < 12, "{read} files were read: {}", night.stdout());
    household.run(&["check", "--require-tags", "photos"]).succeeds();
}

#[test]
fn parity_is_brought_up_to_date_after_a_run_without_damage() {
    let household = Household::new(60);
    let refused = household.add(&["--parity"]);
    assert!(refused.stderr().contains("steadfast parity make"), "{}", refused.stderr());
    household.run(&["parity", "make", "photos"]).succeeds();
    let added = household.add(&["--update", "--parity", "--cover", "1d"]).succeeds();
    assert!(added.stdout().contains(", with update and parity"), "{}", added.stdout());
    fs::write(household.tree.path("photos/new"), "a new one").unwrap();
    let night = household.night().succeeds();
    assert!(night.stdout().contains("Protected 61 files"), "{}", night.stdout());
    fs::write(household.tree.path("photos/newer"), "a newer one").unwrap();
    household.corrupt(7);
    let night = household.night();
    assert_eq!(night.status, 3);
    assert!(!night.stdout().contains("Protected"), "{}", night.stdout());
}

#[test]
fn a_mass_change_is_an_alarm_and_stops_the_update() {
    let household = Household::new(100);
    let log = household.listen();
    household.add(&["--update"]).succeeds();
    fs::write(household.tree.path("photos/new"), "a new one").unwrap();
    household.night();
    let tagged = household.run(&["show", "photos/new"]);
    assert_eq!(tagged.status, 0, "new files are tagged: {}", tagged.stderr());
    for number in 0..20 {
        fs::write(household.photo(number), "encrypted, pay us").unwrap();
    }
    let night = household.night();
    assert!(
        night.stderr().contains("20 of 101 files are missing or modified"),
        "{}",
        night.stderr()
    );
    let told = messages(&log);
    let alarm = told.last().unwrap();
    assert!(alarm["body"].as_str().unwrap().contains("nothing was updated"), "{alarm}");
    assert_eq!(alarm["priority"], "high");
    let check = household.run(&["check", "photos"]);
    assert_eq!(check.status, 1, "the tags of before are kept: {}", check.stdout());
    // The catalogue knows of the changes now. That accepts nothing.
    let count = messages(&log).len();
    let night = household.night();
    assert!(night.stderr().contains("20 of 101 files"), "{}", night.stderr());
    assert_eq!(messages(&log).len(), count + 1, "the check found more to tell");
    household.night();
    assert_eq!(messages(&log).len(), count + 1, "an alarm is not told every night");
    let update = household.run(&["update", "photos"]).ends(1);
    assert!(update.stderr().contains("nothing was updated"), "{}", update.stderr());
    household.run(&["check", "photos"]).ends(1);
    let status = household.run(&["status", "photos"]);
    assert!(status.stdout().contains("update --answer "), "{}", status.stdout());
    household.run(&["update", "--accept-many", "photos"]).succeeds();
    household.run(&["check", "photos"]).succeeds();
}

#[test]
fn five_in_a_hundred_are_no_alarm() {
    let household = Household::new(100);
    for number in 0..5 {
        fs::write(household.photo(number), "an edited photograph").unwrap();
    }
    household.run(&["update", "photos"]).succeeds();
    for number in 0..6 {
        fs::remove_file(household.photo(number)).unwrap();
    }
    let update = household.run(&["update", "photos"]).ends(1);
    assert!(update.stderr().contains("6 of 100 files"), "{}", update.stderr());
    household.run(&["update", "--accept-missing", "photos"]).succeeds();
}

/// Damages the largest set in a folder, and returns its path and what it was.
fn damage_largest(folder: &Path) -> (PathBuf, Vec<u8>) {
    let beneath = |folder: &Path| {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let folders = beneath(folder).into_iter().filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| beneath(&folder)).filter(|path| path.is_file());
    let set = files.max_by_key(|path| path.metadata().unwrap().len()).unwrap();
    let whole = fs::read(&set).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() * 3 / 4;
    damaged[middle] ^= 1;
    fs::write(&set, damaged).unwrap();
    (set, whole)
}

#[test]
fn repair_data_that_undoes_edits_is_verified_as_well() {
    let household = Household::new(60);
    let log = household.listen();
    household.run(&["parity", "make", "photos"]).succeeds();
    household.add(&["--cover", "6d"]).succeeds();
    // More of them than others, so that some nights have no others.
    for number in 0..6 {
        fs::write(household.photo(number), "an edited photograph").unwrap();
        household.run(&["update", "photos"]).succeeds();
    }
    damage_largest(&household.tree.path("photos/.steadfast/parity/earlier"));
    for _ in 0..6 {
        household.age(1);
        household.night();
    }
    let told = messages(&log);
    assert_eq!(told.last().unwrap()["open"]["repair data"], 1, "{told:?}");
    let said = household.run(&["status"]).ends(1);
    assert!(said.stdout().contains("of repair data is damaged"), "{}", said.stdout());
    // What the message says to do.
    household.run(&["parity", "make", "photos"]).succeeds();
    household.age(1);
    household.night().succeeds();
    assert_eq!(status_of(&household)["state"], "fine");
}

#[test]
fn damage_in_the_repair_data_is_told_and_is_not_fine() {
    let household = Household::new(60);
    let log = household.listen();
    household.run(&["parity", "make", "photos"]).succeeds();
    household.add(&["--cover", "1d"]).succeeds();
    household.night().succeeds();
    let folder = household.tree.path("photos/.steadfast/parity");
    let (set, whole) = damage_largest(&folder);
    household.age(1);
    household.night();
    household.run(&["status"]).ends(1);
    assert_eq!(status_of(&household)["state"], "trouble");
    assert_eq!(messages(&log).last().unwrap()["open"]["repair data"], 1);
    fs::write(&set, whole).unwrap();
    household.age(1);
    household.night().succeeds();
    assert_eq!(status_of(&household)["state"], "fine");
    assert_eq!(messages(&log).last().unwrap()["settled"], 1);
}

#[test]
fn open_failures_are_read_again_every_night() {
    let household = Household::new(60);
    household.add(&["--cover", "60d"]).succeeds();
    household.corrupt(50);
    household.run(&["check", "photos"]).ends(3);
    let time = fs::metadata(household.photo(50)).unwrap().modified().unwrap();
    fs::write(household.photo(50), "photograph 50").unwrap();
    fs::File::options().write(true).open(household.photo(50)).unwrap().set_modified(time).unwrap();
    household.age(1);
    household.night().succeeds();
    assert_eq!(status_of(&household)["state"], "fine");
}

#[test]
fn nothing_is_overdue_that_has_had_no_time() {
    let household = Household::new(60);
    household.age(89);
    assert_eq!(status_of(&household)["overdue"], false);
    household.age(20);
    assert_eq!(status_of(&household)["overdue"], true);
    household.corrupt(7);
    household.run(&["check", "photos"]).ends(3);
    household.age(60);
    household.run(&["check", "photos"]).ends(3);
    household.age(60);
    assert_eq!(status_of(&household)["overdue"], false, "an open file is not overdue");
}

#[test]
fn alerts_and_schedules_are_listed_and_removed() {
    let household = Household::new(1);
    household
        .run(&["alert", "add", "--webhook", "https://me:pw@ntfy.example.org/topic"])
        .succeeds();
    household.run(&["alert", "add", "--ping", "https://hc.example.org/secret"]).succeeds();
    let list = household.run(&["alert", "list"]).succeeds();
    let expected = "1  webhook ntfy.example.org (ntfy), on trouble, with paths\n\
                    2  ping hc.example.org, at every run\n";
    assert_eq!(list.stdout(), expected);
    let file = household.tree.state("home/config/steadfast/alerts.toml");
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    household.run(&["alert", "remove", "1"]).succeeds();
    assert_eq!(household.run(&["alert", "remove", "2"]).status, 2);
    assert_eq!(household.run(&["alert", "add", "--webhook", "ftp://x"]).status, 2);
    assert_eq!(household.run(&["alert", "add"]).status, 2);

    household.add(&["--every", "week", "--at", "3:30", "--max-time", "2h"]).succeeds();
    let list = household.run(&["schedule", "list"]).succeeds();
    assert!(list.stdout().contains("every week at 03:30, all within 31 days, at most 7200 s each"));
    // The usual cover is long enough for each period.
    household.add(&["--every", "month"]).succeeds();
    let show = household.run(&["schedule", "show", "photos"]).succeeds();
    assert!(show.stdout().contains(" schedule run photos\n"), "{}", show.stdout());
    household.run(&["schedule", "remove", "photos"]).succeeds();
    assert_eq!(household.run(&["schedule", "list"]).stdout(), "");
    assert_eq!(household.run(&["schedule", "run", "photos"]).status, 2);
    let missing = household.run(&["schedule", "add", "."]);
    assert!(missing.stderr().contains("steadfast init"), "{}", missing.stderr());
}

/// The step that makes repair data reads files as well. What it finds must not be known to the exit
/// status of one night alone.
#[test]
fn damage_that_is_found_while_repair_data_is_made_is_told_like_any_other() {
    let household = Household::new(40);
    household.run(&["check", "photos"]).succeeds();
    household.run(&["parity", "make", "photos"]).succeeds();
    household.add(&["--update", "--parity", "--cover", "90d"]).succeeds();
    household.night().succeeds();
    let log = household.listen();
    // The file whose turn is the last; and an edit, after which the set that has both is made anew.
    household.corrupt(9);
    fs::write(household.photo(3), "another photograph").unwrap();
    household.age(1);
    household.night().ends(3);
    assert_eq!(status_of(&household)["open"]["corrupt"], 1);
    household.run(&["status"]).ends(3);
    let told = messages(&log);
    assert!(told[0]["subject"].as_str().unwrap().contains("1 file is damaged"), "{told:?}");
}
