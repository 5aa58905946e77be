//! What the pages claim: only what was judged, at once, and for as long as it is so.

use std::fs;
use std::time::Instant;

use steadfast_serve::{Automation, Config};
use steadfast_testing::took_at_most;
use steadfast_watch::WatchPlaces;

use crate::automation::automation_in;
use crate::browser::{Browser, PATIENCE, Served, between, decay};
use crate::dropped::looked_up;

/// A server on a protected tree of 54 files that a check found intact.
fn protected() -> (Served, Browser) {
    let served = Served::begin();
    fs::create_dir(served.at("many")).unwrap();
    for number in 0..50 {
        fs::write(served.at(&format!("many/{number:02}")), number.to_string()).unwrap();
    }
    let browser = served.browser();
    browser.ended(&browser.run("protect", "0/"));
    browser.ended(&browser.run("check", "0/"));
    (served, browser)
}

fn home(browser: &Browser) -> String {
    browser.get("/").text()
}

#[test]
fn many_changes_are_accepted_only_after_a_look() {
    let (served, browser) = protected();
    for number in 0..45 {
        fs::write(served.at(&format!("many/{number:02}")), format!("other {number}")).unwrap();
    }
    browser.ended(&browser.run("check", "0/"));
    assert!(home(&browser).contains("45 files changed at once"), "{}", home(&browser));
    let plan = browser.get("/folders/0/many").text();
    for verb in ["accept", "update"] {
        let stopped = browser.ended(&browser.run(verb, "0/"));
        for page in [&stopped, &plan] {
            assert!(page.contains("45 of 54 files changed at once"), "{verb}: {page}");
            assert!(page.contains("Nothing was accepted") && page.contains("<dt>many</dt>"));
            assert!(page.contains("name=\"many\" value=\"1\" required"), "{page}");
        }
        assert!(home(&browser).contains("45 files changed at once"), "nothing was accepted");
    }
    let answer = browser.post("/runs", "verb=accept&place=0/&many=1");
    let page = browser.ended(answer.header("location").unwrap());
    assert!(page.contains("45 accepted"), "{page}");
    let after = home(&browser);
    assert!(!after.contains("at once") && after.contains("All 54 files are exactly as recorded"));
    assert!(browser.get("/folders/0/many").text().contains("Nothing unusual"));
}

#[test]
fn missing_files_are_a_question_with_two_answers() {
    let (served, browser) = protected();
    let names = ["photos/one.jpg", "photos/two.jpg"];
    names.iter().for_each(|name| fs::remove_file(served.at(name)).unwrap());
    browser.ended(&browser.run("check", "0/"));
    let page = home(&browser);
    assert!(page.contains("2 files are gone from") && page.contains("Was it you?"), "{page}");
    let side = browser.get("/side").text();
    assert!(side.contains("2 missing"), "{side}");
    let folder = browser.get("/folders/0").text();
    let group = between(&folder, "aria-labelledby=\"missing\"", "</section>");
    assert!(group.contains("I removed it") && group.contains("I removed them"), "{group}");
    assert!(group.contains("Restore all 2…"), "{group}");
    // One by one, and then all of them.
    browser.ended(&browser.run("removed", "0/photos/one.jpg"));
    assert!(home(&browser).contains("1 file is gone from"), "{}", home(&browser));
    browser.ended(&browser.run("removed", "0/"));
    assert!(!home(&browser).contains("gone"), "{}", home(&browser));
    // To remove most of them takes a look first.
    fs::remove_dir_all(served.at("many")).unwrap();
    browser.ended(&browser.run("check", "0/"));
    assert!(home(&browser).contains("50 files are gone from"), "{}", home(&browser));
    assert_eq!(browser.run("removed", "0/"), "/folders/0/many");
    let plan = browser.get("/folders/0/many").text();
    assert!(plan.contains("50 of 52 files are gone"), "{plan}");
    let answer = browser.post("/runs", "verb=removed&place=0/&many=1");
    browser.ended(answer.header("location").unwrap());
    assert!(!home(&browser).contains("gone"), "{}", home(&browser));
}

#[test]
fn nothing_is_green_before_a_comparison_was_completed() {
    let served = Served::begin();
    // Takes a while to read, and no room.
    fs::File::create(served.at("large")).unwrap().set_len(512 << 20).unwrap();
    let browser = served.browser();
    browser.ended(&browser.run("protect", "0/"));
    let is_green = |page: &str| {
        let side = between(page, "aria-labelledby=\"mine\"", "</nav>");
        side.contains("icon good") || page.contains("All 5 files are exactly as recorded.")
    };
    let again = browser.ended(&browser.run("protect", "0/"));
    assert!(again.contains("nothing new to protect"), "{again}");
    assert!(again.contains("5 files recorded already."), "{again}");
    assert!(!again.contains("None of these files is recorded"), "{again}");
    let page = home(&browser);
    assert!(page.contains("Recorded, not yet checked") && !is_green(&page), "{page}");
    // A check of a part is no comparison of all.
    browser.ended(&browser.run("check", "0/photos/one.jpg"));
    let page = home(&browser);
    assert!(page.contains("Recorded, not yet checked") && !is_green(&page), "{page}");
    let run = browser.run("check", "0/");
    browser.listen(&run).until("stand", "going");
    browser.post(&format!("{run}/stop"), "");
    let stopped = browser.ended(&run);
    assert!(stopped.contains("Stopped") && stopped.contains("Go on"), "{stopped}");
    let page = home(&browser);
    assert!(page.contains("Stopped at ") && page.contains("Go on") && !is_green(&page), "{page}");
    browser.ended(&browser.run("resume", "0/"));
    let page = home(&browser);
    assert!(page.contains("All 5 files are exactly as recorded."), "{page}");
}

#[test]
fn damage_that_a_check_finds_is_everywhere_at_once() {
    let (served, browser) = protected();
    decay(&served.at("photos/two.jpg"));
    fs::File::create(served.at("large")).unwrap().set_len(12 << 30).unwrap();
    let run = browser.run("update", "0/");
    browser.listen(&run).until("found", "two.jpg");
    let (page, side) = (home(&browser), browser.get("/side").text());
    assert!(browser.get(&run).text().contains("/stop"), "it goes on");
    assert!(side.contains("1 damaged so far"), "{side}");
    assert!(page.contains("1 damaged file in") && page.contains("so far"), "{page}");
    // What a catalogue has of a run that goes on is no result.
    let activity = browser.get("/activity").text();
    let listed = between(&activity, "aria-label=\"Activity\"", "</section>");
    assert!(!listed.contains("did not end") && !listed.contains("stopped"), "{listed}");
    let latest: i64 = between(&activity, "href=\"/folders/0/runs/", "\"").parse().unwrap();
    let since = Instant::now();
    let recorded = loop {
        let recorded = browser.get(&format!("/folders/0/runs/{}", latest + 1));
        // Its first files are written to the catalogue after some seconds.
        if recorded.status != 404 || !took_at_most(since, PATIENCE) {
            break recorded;
        }
        std::thread::yield_now();
    };
    assert_eq!(recorded.header("location"), Some(run.as_str()), "{}", recorded.text());
    browser.post(&format!("{run}/stop"), "");
    browser.ended(&run);
}

#[test]
fn a_drive_that_is_away_costs_one_card() {
    let state = tempfile::tempdir().unwrap();
    let trees = Some(state.path().join("trees"));
    let drive = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = drive.path().join("drive");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("photo"), "a photo").unwrap();
    let automation = || {
        let places = WatchPlaces {
            configuration: state.path().to_owned(),
            state: state.path().join("state"),
        };
        Some(Automation { places, ..automation_in(state.path()) })
    };
    let serve = |only: bool| {
        let (trees, root) = (trees.clone(), root.clone());
        Served::with(move |mut config| {
            if only {
                config.roots.clear();
            }
            config.roots.push(root);
            Config { trees, automation: automation(), ..config }
        })
    };
    let served = serve(false);
    let browser = served.browser();
    browser.ended(&browser.run("protect", "1/"));
    browser.ended(&browser.run("check", "1/"));
    assert!(home(&browser).contains("The only file is exactly as recorded."));
    drop(served);
    fs::rename(&root, drive.path().join("away")).unwrap();
    for only in [false, true] {
        let served = serve(only);
        let browser = served.browser();
        if !only {
            let begun = browser.post("/drop", "place=0/plain.txt");
            let looked_up = looked_up(&browser, begun.header("location").unwrap());
            assert!(looked_up.contains("not connected, so it was not searched"), "{looked_up}");
            assert!(!looked_up.contains("os error"), "{looked_up}");
        }
        let away = browser.get(if only { "/folders/0" } else { "/folders/1" }).text();
        assert!(!away.contains("no runs yet"), "it has runs, which are not known now: {away}");
        let page = home(&browser);
        assert!(page.contains("drive is not connected"), "{page}");
        assert!(
            page.contains("last seen just now. Then, its file was exactly as recorded"),
            "{page}"
        );
        assert!(!page.contains("os error") && !page.contains("No such file"), "{page}");
    }
    let served = serve(true);
    let browser = served.browser();
    assert!(home(&browser).contains("Drive not connected"));
    fs::rename(drive.path().join("away"), &root).unwrap();
    let since = Instant::now();
    while !home(&browser).contains("The only file is exactly as recorded.") {
        assert!(took_at_most(since, PATIENCE), "{}", home(&browser));
        std::thread::yield_now();
    }
}

#[test]
fn results_outlive_the_server() {
    let (served, browser) = protected();
    decay(&served.at("photos/two.jpg"));
    browser.ended(&browser.run("check", "0/"));
    let again =
        Served::with(|config| Config { roots: vec![served.tree.path().to_owned()], ..config });
    let browser = again.browser();
    let activity = browser.get("/activity").text();
    assert!(activity.contains("1 damaged"), "{activity}");
    let page = home(&browser);
    assert!(!between(&page, "class=\"gauge\"", "</p>").contains("f-good"), "{page}");
    for page in ["/folders/0", "/activity"] {
        let page = browser.get(page).text();
        let address = between(&page, "href=\"/folders/0/runs/", "\"");
        let result = browser.get(&format!("/folders/0/runs/{address}")).text();
        assert!(result.contains("1 file is damaged") && result.contains("two.jpg"), "{result}");
        assert!(result.contains("53 of 54 files are exactly as recorded"), "{result}");
    }
    for nothing in ["/folders/0/runs/99", "/folders/0/runs/-1", "/folders/9/runs/1"] {
        assert_eq!(browser.get(nothing).status, 404, "{nothing}");
    }
    assert_eq!(browser.get(&format!("/folders/0/runs/{}", i64::MAX)).status, 404);
}

#[test]
fn a_recorded_result_counts_all_files_and_shows_the_first() {
    let (served, browser) = protected();
    for number in 0..30 {
        decay(&served.at(&format!("many/{number:02}")));
    }
    browser.ended(&browser.run("check", "0/"));
    let page = browser.get("/folders/0").text();
    let latest = between(&page, "href=\"/folders/0/runs/", "\"");
    let result = browser.get(&format!("/folders/0/runs/{latest}")).text();
    assert!(result.contains("30 files are damaged"), "{result}");
    assert!(result.contains("20 of 30 shown"), "{result}");
    assert_eq!(result.matches("<article class=\"find\"").count(), 20);
}

#[test]
fn to_look_at_a_plan_is_no_check() {
    let (served, browser) = protected();
    decay(&served.at("photos/two.jpg"));
    browser.ended(&browser.run("check", "0/"));
    let runs = || browser.get("/activity").text().matches("/folders/0/runs/").count();
    let before = runs();
    let plan = browser.post("/repair", "place=0/photos/two.jpg");
    let plan = browser.ended(plan.header("location").unwrap());
    assert!(plan.contains("cannot be repaired yet"), "{plan}");
    assert!(plan.contains("Choose a folder…"), "{plan}");
    assert_eq!(runs(), before, "a plan is not in the catalogue");
    // A copy of the file mends it, also one of another folder.
    fs::write(served.at("plain.txt"), "contents of photos/two.jpg").unwrap();
    let form = "place=0/photos/two.jpg&from=0/plain.txt";
    let plan = browser.ended(browser.post("/repair", form).header("location").unwrap());
    assert!(plan.contains("1 file can be put back"), "{plan}");
    let done = browser.post("/repair", &format!("{form}&agreed=1"));
    let done = browser.ended(done.header("location").unwrap());
    assert!(done.contains("1 file is exactly as recorded again"), "{done}");
    let kept = browser.get("/folders/0").text();
    assert!(kept.contains("Throw them away"), "{kept}");
    let number = between(&kept, "name=\"number\" value=\"", "\"");
    let thrown = browser.post("/repair/discard", &format!("place=0/&number={number}"));
    assert_eq!(thrown.status, 303);
    assert!(!browser.get("/folders/0").text().contains("Throw them away"));
    let unknown = browser.post("/repair", "place=0/photos/two.jpg&path=%2Fetc");
    assert!(unknown.header("location").unwrap().starts_with("/copies?"), "{}", unknown.text());
}

/// Tags tell decay, and not what is gone. What a check found is forgotten by nobody but the server.
#[test]
fn a_folder_with_tags_alone_says_what_is_known_and_what_is_not() {
    let served = Served::begin();
    let browser = served.browser();
    assert!(home(&browser).contains("Not yet protected"), "{}", home(&browser));
    browser.ended(&browser.run("tag", "0/"));
    let page = home(&browser);
    assert!(page.contains("Tags, no catalogue") && page.contains("is not noticed"), "{page}");
    assert!(!page.contains("Nothing is recorded yet"), "{page}");
    decay(&served.at("photos/two.jpg"));
    browser.ended(&browser.run("check", "0/"));
    let page = home(&browser);
    assert!(page.contains("1 damaged") || page.contains("1: was it you?"), "{page}");
    assert!(!page.contains("of 0 files"), "{page}");
}

/// An answer about some files is not one about others.
#[test]
fn files_that_were_removed_are_accepted_without_those_that_were_edited() {
    let (served, browser) = protected();
    for number in 0..5 {
        fs::write(served.at(&format!("many/{number:02}")), "edited").unwrap();
    }
    for name in ["photos/one.jpg", "photos/two.jpg"] {
        fs::remove_file(served.at(name)).unwrap();
    }
    browser.ended(&browser.run("check", "0/"));
    assert!(home(&browser).contains("5 files changed at once"), "{}", home(&browser));
    let run = browser.run("removed", "0/");
    assert!(run.starts_with("/runs/"), "it asks about the missing files alone: {run}");
    browser.ended(&run);
    let page = home(&browser);
    assert!(page.contains("5 files changed at once") && !page.contains("Also 2"), "{page}");
}

/// A check that was stopped at once says nothing of what is recorded, and takes nothing back.
#[test]
fn a_check_that_is_stopped_at_once_leaves_what_was_known() {
    let (served, browser) = protected();
    decay(&served.at("photos/two.jpg"));
    browser.ended(&browser.run("check", "0/"));
    fs::File::create(served.at("large")).unwrap().set_len(12 << 30).unwrap();
    browser.ended(&browser.run("check", "0/photos/two.jpg"));
    let run = browser.run("check", "0/");
    let page = home(&browser);
    assert!(page.contains("1 damaged"), "a run goes on: {page}");
    browser.post(&format!("{run}/stop"), "");
    let stopped = browser.ended(&run);
    assert!(!stopped.contains("None of these files is recorded"), "{stopped}");
    assert!(home(&browser).contains("1 damaged"), "{}", home(&browser));
}
