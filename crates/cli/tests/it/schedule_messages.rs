//! Messages of schedules: when they are sent, what is put off, and what they ask.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::schedule::{Household, messages, status_of};

#[test]
fn a_dead_channel_costs_the_others_nothing_and_gets_its_news_later() {
    let household = Household::new(60);
    let log = household.listen();
    let late = household.tree.state("late");
    let tool = household.tree.state("late-tool");
    household.run(&["alert", "add", "--command", tool.to_str().unwrap()]).succeeds();
    household.add(&["--cover", "1d"]).succeeds();
    household.corrupt(7);
    for _ in 0..3 {
        household.night().ends(3);
        household.age(1);
    }
    assert_eq!((messages(&log).len(), messages(&late).len()), (1, 0));
    let script = format!("#!/bin/sh\ncat >> '{0}'\necho >> '{0}'\n", late.display());
    fs::write(&tool, script).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    household.night().ends(3);
    assert_eq!((messages(&log).len(), messages(&late).len()), (1, 1));
}

#[test]
fn alarms_are_put_off_until_a_date() {
    let household = Household::new(60);
    let log = household.listen();
    household.add(&["--cover", "1d"]).succeeds();
    household.run(&["alert", "snooze", "photos", "--for", "14d"]).succeeds();
    household.corrupt(7);
    household.night().ends(3);
    household.age(13);
    household.night().ends(3);
    assert_eq!(messages(&log).len(), 0);
    household.age(2);
    household.night().ends(3);
    assert_eq!(messages(&log).len(), 1);
}

#[test]
fn a_failing_channel_never_changes_the_status() {
    let household = Household::new(3);
    household.run(&["alert", "add", "--command", "/nowhere/tool"]).succeeds();
    household.run(&["alert", "add", "--webhook", "http://127.0.0.1:9/x"]).succeeds();
    household.add(&[]).succeeds();
    household.corrupt(1);
    household.run(&["check", "photos"]);
    let night = household.night();
    assert!(night.stderr().contains("was not delivered"), "{}", night.stderr());
    let status = night.status;
    assert!(status == 0 || status == 3, "{status}");
    assert_eq!(household.run(&["alert", "test"]).status, 2);
}

#[test]
fn in_quiet_hours_only_danger_is_told_and_the_rest_comes_later() {
    let household = Household::new(60);
    let log = household.listen();
    let tool = household.tree.state("tool");
    let words = ["alert", "add", "--quiet", "00:00-00:00", "--command", tool.to_str().unwrap()];
    household.run(&words).succeeds();
    let listed = household.run(&["alert", "list"]).succeeds();
    assert!(listed.stdout().contains(", quiet 00:00-00:00\n"), "{}", listed.stdout());
    household.add(&["--cover", "1d"]).succeeds();
    fs::remove_file(household.photo(3)).unwrap();
    household.night().ends(1);
    assert_eq!(messages(&log).len(), 0, "a question can wait");
    household.corrupt(7);
    household.night().ends(3);
    let told = messages(&log);
    assert_eq!((told.len(), &told[0]["priority"], &told[0]["new"]), (1, &"high".into(), &2.into()));
    fs::write(household.photo(7), "photograph 7").unwrap();
    household.run(&["update", "photos/7"]).succeeds();
    household.night().ends(1);
    assert_eq!(messages(&log).len(), 1, "good news can wait");
    household.run(&["alert", "add", "--command", tool.to_str().unwrap()]).succeeds();
    // As the timer does at the end of the quiet hours.
    household.run(&["schedule", "run", "photos"]).succeeds();
    let told = messages(&log);
    assert_eq!((told.len(), &told[1]["settled"], &told[1]["new"]), (2, &1.into(), &0.into()));
    assert_eq!(status_of(&household)["schedule"]["skipped"], serde_json::Value::Null);
}

#[test]
fn all_is_well_is_told_once_a_week_and_only_if_it_is() {
    let household = Household::new(60);
    let log = household.listen();
    let tool = household.tree.state("tool");
    household.run(&["alert", "add", "--weekly", "--command", tool.to_str().unwrap()]).succeeds();
    household.add(&["--cover", "3d"]).succeeds();
    let well_told = || {
        let all = messages(&log);
        let is_well = |one: &&serde_json::Value| {
            one["subject"].as_str().unwrap().ends_with(": all is well") && one["priority"] == "low"
        };
        all.iter().filter(is_well).count()
    };
    for _ in 0..15 {
        household.night().succeeds();
        household.age(1);
    }
    assert_eq!(well_told(), 3, "on days 0, 7 and 14");
    fs::remove_file(household.photo(3)).unwrap();
    for _ in 0..9 {
        household.night().ends(1);
        household.age(1);
    }
    assert_eq!(well_told(), 3, "not while a file is missing");
}

/// A command in a message acts on what the message names.
#[test]
fn an_answer_is_about_the_files_that_were_asked_about() {
    let household = Household::new(200);
    household.run(&["check", "photos"]).succeeds();
    let edit = |number: usize, text: &str| fs::write(household.photo(number), text).unwrap();
    (0..8).for_each(|number| edit(number, "edited"));
    household.run(&["check", "photos"]).ends(1);
    let status = || household.run(&["status"]).ends(1).stdout().to_owned();
    let asked = status();
    let line = asked.lines().find(|line| line.contains("--answer")).expect("it asks").trim();
    assert!(line.starts_with("If it was you: steadfast update --answer 1-"), "{line}");
    let code = line.split(' ').nth(7).expect("it has a number");
    assert!(status().contains(code), "the same list has the same number");
    // What changes or appears later was not asked about.
    edit(3, "edited once more");
    edit(50, "edited as well");
    household.run(&["check", "photos"]).ends(1);
    let said = household.run(&["update", "--answer", code, "photos"]).ends(1);
    let left = "1 file changed since it was asked, and left out: 3\n";
    assert!(said.stderr().contains(left), "{}", said.stderr());
    assert_eq!(status_of(&household)["open"]["modified"], 2);
    // Two are named. A number with other letters is refused.
    let asked = status();
    assert!(asked.contains("/photos/3 ") && asked.contains("/photos/50\n"), "{asked}");
    let forged = household.run(&["update", "--answer", "1-aaaa", "photos"]).ends(2);
    assert!(forged.stderr().contains("there is no question `1-aaaa`"), "{}", forged.stderr());
}

/// New trouble is not told as if it were old.
#[test]
fn a_reminder_tells_new_trouble_first() {
    let household = Household::new(30);
    household.add(&["--cover", "1d"]).succeeds();
    let log = household.listen();
    household.corrupt(1);
    household.night().ends(3);
    household.age(8);
    fs::remove_file(household.photo(2)).unwrap();
    household.night().ends(3);
    let told = messages(&log);
    let last = told.last().unwrap();
    let subject = last["subject"].as_str().unwrap();
    let expected = "1 file is gone. Was it you?; still: 1 file is damaged";
    assert!(subject.ends_with(expected), "{subject}");
    assert_eq!(last["new"], 1);
}
