//! Nights after files were edited, moved, renamed or deleted.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::schedule::{Household, messages, status_of};
use crate::tree::Outcome;

#[test]
fn what_is_gone_is_accepted_without_reading_anything() {
    let household = Household::new(60);
    fs::write(household.photo(0), "an edited photograph").unwrap();
    fs::remove_file(household.photo(1)).unwrap();
    fs::remove_file(household.photo(2)).unwrap();
    fs::rename(household.photo(3), household.tree.path("photos/renamed")).unwrap();
    let accept = |path: &str| {
        let said = household.run(&["update", "--accept-missing", "--json", path]);
        assert_eq!(said.summary()["bytes"], 0, "{}", said.stdout());
        said
    };
    let gone = |said: &Outcome| {
        let objects = said.objects();
        let is_gone =
            |object: &serde_json::Value| ["verdict", "finding"].map(|key| object[key] == "missing");
        let paths = objects.iter().filter(|object| is_gone(object).contains(&true));
        paths.map(|object| object["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(gone(&accept("photos/1").succeeds()), ["photos/1"]);
    let said = accept("photos").succeeds();
    assert_eq!(gone(&said).len(), 1, "a renamed file is not gone: {}", said.stdout());
    assert_eq!(gone(&accept("photos").succeeds()).len(), 0);
    let checked = household.run(&["check", "--json", "photos"]).ends(1);
    assert_eq!(checked.verdict("photos/0").as_deref(), Some("modified"), "it is not accepted");
    assert_eq!(checked.summary()["verdicts"]["moved"], 1, "{}", checked.stdout());
    assert_eq!(checked.summary()["verdicts"]["missing"], 0, "{}", checked.stdout());
}

#[test]
fn a_file_that_came_lately_is_not_overdue() {
    let household = Household::new(60);
    household.add(&["--cover", "1d"]).succeeds();
    household.night().succeeds();
    household.age(5);
    household.night().succeeds();
    // It brings its tag along, so no run reads it at its new place at once.
    fs::rename(household.photo(3), household.tree.path("photos/renamed")).unwrap();
    household.run(&["tag", "photos"]);
    assert_eq!(status_of(&household)["overdue"], false);
    household.age(5);
    assert_eq!(status_of(&household)["overdue"], true, "now it is late");
    household.night().succeeds();
    assert_eq!(status_of(&household)["overdue"], false);
}

#[test]
fn a_move_to_another_catalogued_folder_is_a_move_and_the_loss_of_a_copy_is_none() {
    let household = Household::new(60);
    let log = household.listen();
    let other = household.tree.path("music");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("song"), "a song").unwrap();
    // A copy that was there all along.
    let copied = fs::metadata(household.photo(9)).unwrap().modified().unwrap();
    fs::copy(household.photo(9), other.join("copy")).unwrap();
    let copy = fs::File::options().write(true).open(other.join("copy")).unwrap();
    copy.set_modified(copied).unwrap();
    household.run(&["init", "music"]).succeeds();
    household.run(&["tag", "music"]).succeeds();
    household.add(&["--cover", "1d"]).succeeds();
    household.age(1);
    household.night().succeeds();
    household.age(1);
    fs::rename(household.photo(7), other.join("moved")).unwrap();
    household.run(&["tag", "music"]).succeeds();
    household.night().succeeds();
    let told = messages(&log);
    assert_eq!((told.len(), &told[0]["moved"]), (1, &1.into()), "{told:?}");
    let subject = told[0]["subject"].as_str().unwrap();
    assert!(subject.contains(": 7 was moved to /") && subject.ends_with("/music/moved"));
    assert_eq!(told[0]["priority"], "low");
    household.age(1);
    fs::remove_file(household.photo(9)).unwrap();
    household.night().ends(1);
    let told = messages(&log);
    assert_eq!((told.len(), &told[1]["open"]["missing"]), (2, &1.into()), "{told:?}");
}

#[test]
fn a_renamed_file_is_never_gone() {
    for more in [&["--cover", "1d"][..], &["--cover", "60d"], &["--cover", "1d", "--update"]] {
        let household = Household::new(60);
        let log = household.listen();
        household.add(more).succeeds();
        household.night().succeeds();
        let to = |name: &str| household.tree.path(format!("photos/{name}"));
        fs::rename(household.photo(7), to("renamed")).unwrap();
        // With another time: its tag tells that it is the same.
        fs::rename(household.photo(10), to("touched")).unwrap();
        let touched = fs::File::options().write(true).open(to("touched")).unwrap();
        touched.set_modified(std::time::SystemTime::now()).unwrap();
        // Over another known file, whose contents are gone, and of whose name something is there.
        fs::rename(household.photo(8), household.photo(9)).unwrap();
        // A fifth of the files, with their folder.
        fs::create_dir(to("album")).unwrap();
        for number in 20..32 {
            fs::rename(household.photo(number), to(&format!("album/{number}"))).unwrap();
        }
        household.age(1);
        let night = household.night();
        let told = messages(&log);
        assert!(told.is_empty(), "{more:?}: {told:?}\n{}", night.stdout());
        let status = status_of(&household);
        assert_eq!((&status["open"], &status["files"]), (&serde_json::json!({}), &59.into()));
        household.age(1);
        household.night().succeeds();
        assert_eq!(messages(&log).len(), 0, "{more:?}");
    }
}

#[test]
fn a_missing_file_that_comes_back_under_another_name_is_settled() {
    for more in [&["--cover", "60d"][..], &["--cover", "60d", "--update"]] {
        let household = Household::new(60);
        let log = household.listen();
        household.add(more).succeeds();
        let away = household.tree.path("away");
        fs::rename(household.photo(7), &away).unwrap();
        household.night().ends(1);
        assert_eq!(messages(&log)[0]["open"]["missing"], 1);
        fs::rename(&away, household.tree.path("photos/found")).unwrap();
        household.age(1);
        household.night().succeeds();
        let told = messages(&log);
        assert_eq!((told.len(), &told[1]["settled"]), (2, &1.into()), "{told:?}");
        let subject = told[1]["subject"].as_str().unwrap();
        assert!(subject.ends_with(": 7 is no longer missing"), "{subject}");
        assert_eq!(status_of(&household)["open"], serde_json::json!({}));
    }
}

#[test]
fn edits_of_many_nights_are_told_one_by_one_and_are_no_mass_change() {
    let household = Household::new(60);
    let log = household.listen();
    household.add(&["--cover", "60d"]).succeeds();
    for night in 0..4 {
        for number in [2 * night, 2 * night + 1] {
            fs::write(household.photo(number), format!("edited {number}")).unwrap();
        }
        let touched = fs::File::options().write(true).open(household.photo(30 + night)).unwrap();
        touched.set_modified(std::time::SystemTime::now()).unwrap();
        household.age(1);
        household.night().ends(1);
        let told = messages(&log);
        let last = told.last().unwrap();
        assert_eq!((told.len(), &last["new"]), (night + 1, &2.into()), "{told:?}");
        assert_eq!(last["open"], serde_json::json!({ "modified": 2 * night + 2 }));
    }
    for number in 20..24 {
        fs::write(household.photo(number), "encrypted, pay us").unwrap();
    }
    household.age(1);
    let night = household.night().ends(1);
    assert!(night.stderr().contains("4 of 60 files are missing or modified"), "{}", night.stderr());
}

#[test]
fn a_folder_that_cannot_be_opened_is_told_once_as_one_and_is_no_mass_change() {
    for more in [&["--cover", "4d"][..], &["--cover", "4d", "--update"]] {
        let household = Household::new(60);
        let album = household.tree.path("photos/album");
        fs::create_dir(&album).unwrap();
        for number in 0..20 {
            fs::rename(household.photo(number), album.join(number.to_string())).unwrap();
        }
        household.run(&["tag", "photos"]).succeeds();
        household.become_plain();
        let log = household.tree.state("home/log");
        let keep = format!("cat >> '{0}'; echo >> '{0}'", log.display());
        household.run(&["alert", "add", "--command", "sh", "-c", &keep]).succeeds();
        household.add(more).succeeds();
        household.night().succeeds();
        fs::set_permissions(&album, fs::Permissions::from_mode(0o000)).unwrap();
        fs::remove_file(household.photo(30)).unwrap();
        for _ in 0..3 {
            household.age(1);
            household.night();
            household.run(&["status"]).ends(1);
        }
        let told = messages(&log);
        let open = serde_json::json!({ "missing": 1, "unlisted": 1 });
        assert_eq!((told.len(), &told[0]["open"]), (1, &open), "{told:?}");
        let mut night = household.run(&["check", "photos"]);
        assert!(night.status != 0, "{}", night.stdout());
        fs::set_permissions(&album, fs::Permissions::from_mode(0o755)).unwrap();
        household.age(1);
        night = household.night();
        let told = messages(&log);
        assert_eq!((told.len(), &told[1]["settled"]), (2, &1.into()), "{told:?}");
        let subject = told[1]["subject"].as_str().unwrap();
        assert!(subject.ends_with(": album can be opened again"), "{subject}\n{}", night.stdout());
        assert_eq!(status_of(&household)["open"], serde_json::json!({ "missing": 1 }));
    }
}

#[test]
fn moves_between_catalogued_folders_are_moves_in_every_command() {
    let household = Household::new(60);
    let other = household.tree.path("music");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("song"), "a song").unwrap();
    household.run(&["init", "music"]).succeeds();
    household.age(1);
    household.run(&["check", "photos"]).succeeds();
    household.age(1);
    for number in 0..10 {
        fs::rename(household.photo(number), other.join(number.to_string())).unwrap();
    }
    let check = household.run(&["check", "--json", "photos"]).ends(1);
    assert_eq!(check.summary()["verdicts"]["missing"], 10, "nobody has met them there");
    household.run(&["tag", "music"]).succeeds();
    // That is no mass change, and asks for no consent.
    household.run(&["update", "photos"]).succeeds();
    let check = household.run(&["check", "--json", "photos"]).succeeds();
    assert_eq!(check.summary()["verdicts"]["missing"], 0, "{}", check.stdout());
    assert_eq!(status_of(&household)["open"], serde_json::json!({}));
    household.age(1);
    fs::rename(household.photo(20), other.join("20")).unwrap();
    household.run(&["tag", "music"]).succeeds();
    let check = household.run(&["check", "--json", "photos"]).succeeds();
    assert_eq!(check.summary()["verdicts"]["moved"], 1, "{}", check.stdout());
    // A copy that was met in the second of the last check was there before it: that is no move.
    let copied = fs::metadata(household.photo(21)).unwrap().modified().unwrap();
    fs::copy(household.photo(21), other.join("21")).unwrap();
    let copy = fs::File::options().write(true).open(other.join("21")).unwrap();
    copy.set_modified(copied).unwrap();
    household.run(&["tag", "music"]).succeeds();
    household.run(&["check", "photos"]).succeeds();
    fs::remove_file(household.photo(21)).unwrap();
    let check = household.run(&["check", "--json", "photos"]).ends(1);
    assert_eq!(check.summary()["verdicts"]["missing"], 1, "{}", check.stdout());
}

#[test]
fn an_edit_is_seen_although_a_run_that_did_not_read_it_came_first() {
    let household = Household::new(60);
    household.add(&["--cover", "60d"]).succeeds();
    household.night().succeeds();
    fs::write(household.photo(3), "an edited photograph").unwrap();
    household.run(&["tag", "photos"]).succeeds();
    household.night().ends(1);
    assert_eq!(status_of(&household)["open"], serde_json::json!({ "modified": 1 }));
    for number in 0..10 {
        fs::write(household.photo(number), "encrypted, pay us").unwrap();
    }
    household.run(&["tag", "photos"]).succeeds();
    let update = household.run(&["update", "photos"]).ends(1);
    assert!(update.stderr().contains("10 of 60 files"), "{}", update.stderr());
}

#[test]
fn a_settled_failure_stays_settled_when_the_renamed_file_fails_again() {
    let household = Household::new(60);
    household.add(&["--cover", "1d"]).succeeds();
    fs::write(household.photo(7), "edited").unwrap();
    household.night().ends(1);
    household.run(&["update", "photos"]).succeeds();
    household.age(1);
    household.night().succeeds();
    fs::rename(household.photo(7), household.photo(700)).unwrap();
    household.age(1);
    household.night().succeeds();
    fs::write(household.photo(700), "edited again").unwrap();
    household.age(1);
    household.night().ends(1);
    let status = status_of(&household);
    assert_eq!(status["open"]["modified"], 1, "{status}");
}

#[test]
fn a_settled_failure_stays_settled_when_the_file_is_renamed_and_fails_on_one_day() {
    let household = Household::new(60);
    let log = household.listen();
    household.add(&["--cover", "1d"]).succeeds();
    household.corrupt(7);
    household.night().ends(3);
    let time = fs::metadata(household.photo(7)).unwrap().modified().unwrap();
    fs::write(household.photo(7), "photograph 7").unwrap();
    let whole = fs::File::options().write(true).open(household.photo(7)).unwrap();
    whole.set_modified(time).unwrap();
    household.age(1);
    household.night().succeeds();
    household.corrupt(7);
    fs::rename(household.photo(7), household.photo(700)).unwrap();
    household.age(1);
    household.night().ends(3);
    let told = messages(&log);
    assert_eq!(told.last().unwrap()["new_paths"][0]["path"], "700", "{told:?}");
    assert_eq!(status_of(&household)["open"], serde_json::json!({ "corrupt": 1 }));
}
