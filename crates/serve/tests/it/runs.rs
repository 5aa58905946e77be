//! Runs in the browser: the same verdicts and documents as the command's, seen by any number of
//! pages, held, stopped, and never ended by a page that goes.

use std::fs;

use steadfast_serve::Config;

use crate::browser::{Browser, Served, between, decay};
use crate::dropped::looked_up;

/// A server on a tree whose tagging takes seconds, in a file that takes no room.
fn long() -> (Served, Browser) {
    let served = Served::begin();
    let file = fs::File::create(served.at("large")).unwrap();
    file.set_len(12 << 30).unwrap();
    let browser = served.browser();
    (served, browser)
}

/// What a result shows of files, without the document.
fn groups(page: &str) -> &str {
    between(page, "class=\"cols\"", "class=\"fold\"")
}

#[test]
fn a_damaged_file_is_found_and_told() {
    let served = Served::begin();
    let browser = served.browser();
    let tagged = browser.ended(&browser.run("tag", "0/"));
    assert!(tagged.contains("Tag of 4 files"), "{tagged}");
    decay(&served.at("photos/two.jpg"));
    fs::write(served.at("plain.txt"), "edited, and longer than before").unwrap();
    let run = browser.run("check", "0/");
    let page = browser.ended(&run);
    assert!(page.contains("1 file is corrupt"), "{page}");
    assert!(page.contains("The pace was bicycle") && page.contains("Time of each file"), "{page}");
    let results = groups(&page);
    let (corrupt, modified) =
        (results.find("two.jpg").unwrap(), results.find("plain.txt").unwrap());
    assert!(corrupt < modified, "corrupt files come first");
    let only = browser.get(&format!("{run}?show=changed&words=PLAIN")).text();
    let only = groups(&only);
    assert!(only.contains("plain.txt") && !only.contains("two.jpg"), "{only}");
    let none = browser.get(&format!("{run}?show=damaged&words=nothing")).text();
    assert!(!groups(&none).contains("two.jpg"));
    let report = browser.get(&format!("{run}/report"));
    assert!(report.header("content-disposition").unwrap().contains("steadfast-check-2.html"));
    assert!(report.header("content-security-policy").unwrap().contains("sandbox"));
    assert!(report.text().contains("two.jpg") && report.text().contains("<style"));
    // A check of one file, and of one folder.
    assert!(browser.ended(&browser.run("check", "0/photos/one.jpg")).contains("Check of 1 file"));
    assert!(browser.ended(&browser.run("check", "0/photos/2019")).contains("Check of 1 file"));
}

#[test]
fn damage_is_shown_while_a_large_file_before_it_is_read() {
    let served = Served::begin();
    let browser = served.browser();
    browser.ended(&browser.run("tag", "0/"));
    decay(&served.at("photos/two.jpg"));
    fs::File::create(served.at("large")).unwrap().set_len(12 << 30).unwrap();
    let run = browser.run("update", "0/");
    browser.listen(&run).until("found", "two.jpg");
    assert!(browser.get(&run).text().contains("/stop"), "the large file is still read");
    browser.post(&format!("{run}/stop"), "");
    let page = browser.ended(&run);
    let results = groups(&page);
    assert_eq!(results.matches("two.jpg</h3>").count(), 1, "{results}");
}

#[test]
fn the_pace_of_a_run_is_changed_while_it_goes_on() {
    let (_served, browser) = long();
    let run = browser.run("tag", "0/large");
    let pace = format!("{run}/pace");
    for level in ["0", "4", "2"] {
        assert_eq!(browser.post(&pace, &format!("pace={level}")).status, 303);
        let page = browser.get(&run).text();
        assert!(page.contains("/stop"), "the run goes on: {page}");
        assert!(page.contains(&format!("value=\"{level}\" checked")), "{page}");
    }
    for bad in ["pace=5", "pace=-1", "pace=", ""] {
        assert_eq!(browser.post(&pace, bad).status, 400, "{bad}");
    }
    browser.post(&format!("{run}/stop"), "");
    browser.ended(&run);
}

#[test]
fn nothing_is_wrong_only_where_all_files_were_judged_and_are_intact() {
    let served = Served::begin();
    let browser = served.browser();
    let check = |place: &str| browser.ended(&browser.run("check", place));
    let page = check("0/");
    assert!(page.contains("No file was judged.") && page.contains("no file here has a tag"));
    assert!(!page.contains("Nothing is wrong"), "{page}");
    fs::create_dir(served.at("hollow")).unwrap();
    let page = check("0/hollow");
    assert!(page.contains("No file was judged.") && page.contains("no file was found"), "{page}");
    browser.ended(&browser.run("tag", "0/photos"));
    assert!(check("0/").contains("No fault was found. 3 files are intact, 1 untagged."));
    assert!(check("0/photos").contains("Nothing is wrong: 3 files are intact."));
    browser.ended(&browser.run("init", "0/"));
    check("0/");
    let home = home_says(&browser, "1 file was never found intact.");
    assert!(!home.contains("exactly as recorded"), "{home}");
}

#[test]
fn what_an_update_retags_is_listed() {
    let served = Served::begin();
    let browser = served.browser();
    browser.ended(&browser.run("tag", "0/"));
    fs::write(served.at("plain.txt"), "edited, and longer than before").unwrap();
    let page = browser.ended(&browser.run("update", "0/"));
    assert!(groups(&page).contains("plain.txt"), "{page}");
}

#[test]
fn a_catalogue_tells_how_the_folder_stands() {
    let served = Served::begin();
    let browser = served.browser();
    assert!(browser.get("/").text().contains("Nothing is recorded yet"));
    browser.ended(&browser.run("tag", "0/"));
    browser.ended(&browser.run("init", "0/"));
    assert_eq!(browser.post("/runs", "verb=init&place=0/photos").status, 400);
    browser.ended(&browser.run("check", "0/"));
    let home = home_says(&browser, "All 4 files are exactly as recorded.");
    assert!(home.contains("100.0 %"), "{home}");
    fs::remove_file(served.at("photos/one.jpg")).unwrap();
    let page = browser.ended(&browser.run("check", "0/"));
    assert!(page.contains("missing"), "{page}");
    home_says(&browser, "1 missing");
    let folder = browser.get("/folders/0").text();
    assert!(folder.contains("one.jpg") && folder.contains("not found any more"), "{folder}");
    assert_eq!(browser.get("/folders/1").status, 404);
}

/// Plans a repair, or carries it out, and returns its page.
fn mended(browser: &Browser, form: &str) -> String {
    let begun = browser.post("/repair", form);
    assert_eq!(begun.status, 303, "{}", begun.text());
    browser.ended(begun.header("location").unwrap())
}

/// Loads the home page, which says something: what a run of this server found is never late.
fn home_says(browser: &Browser, words: &str) -> String {
    let home = browser.get("/").text();
    assert!(home.contains(words), "{home}");
    home
}

/// What the page offers to somebody who has never seen a terminal.
#[test]
fn a_folder_is_protected_checked_and_repaired_by_buttons() {
    let served = Served::begin();
    let browser = served.browser();
    assert!(browser.get("/").text().contains("Protect this folder"));
    assert_eq!(browser.post("/runs", "verb=protect&place=0/photos").status, 400);
    let page = browser.ended(&browser.run("protect", "0/"));
    assert!(page.contains("4 files are protected now"), "{page}");
    assert!(served.at(".steadfast").is_dir());
    let page = browser.ended(&browser.run("check", "0/"));
    assert!(page.contains("All 4 files are exactly as recorded"), "{page}");
    decay(&served.at("photos/two.jpg"));
    let page = browser.ended(&browser.run("check", "0/"));
    let side = between(&page, "aria-labelledby=\"mine\"", "</nav>");
    assert!(side.contains("1 damaged"), "the side bar is as new as the page: {side}");
    let home = home_says(&browser, "1 damaged file in");
    assert!(home.contains("Show 1 damaged file") && !home.contains("exactly as recorded."));
    // Later servers find the same in the catalogue.
    let folder = browser.get("/folders/0").text();
    let cause = "nothing is known to have written them";
    assert!(folder.contains("two.jpg") && folder.contains(cause), "{folder}");
    assert!(browser.get("/activity").text().contains("1 damaged"));
    // There is no parity: the plan says so, and nothing is written.
    let before = fs::read(served.at("photos/two.jpg")).unwrap();
    let why = "no good copy was found";
    for (form, title) in [
        ("place=0/photos/two.jpg", format!("1 file cannot be repaired yet: {why}")),
        ("place=0/&agreed=1", format!("1 file was not repaired: {why}")),
    ] {
        let plan = mended(&browser, form);
        assert!(plan.contains(&title) && plan.contains("two.jpg"), "{plan}");
        assert_eq!(fs::read(served.at("photos/two.jpg")).unwrap(), before);
    }
    assert_eq!(browser.post("/repair", "place=0/..").status, 404);
    assert_eq!(browser.get("/repair").status, 405);
    // To stop what has ended changes nothing; others are not there.
    assert_eq!(browser.post("/repairs/2/stop", "").status, 303);
    assert!(browser.get("/repairs/2").text().contains("was not repaired"));
    for gone in ["/repairs/3", "/repairs/3/events", "/repairs/x"] {
        assert_eq!(browser.get(gone).status, 404, "{gone}");
    }
    decay(&served.at("photos/two.jpg"));
    browser.ended(&browser.run("check", "0/"));
    assert!(mended(&browser, "place=0/").contains("Nothing here is known to need repair"));
}

/// What is kept of runs does not grow with their number.
#[test]
fn only_the_latest_runs_are_kept() {
    let served = Served::begin();
    let browser = served.browser();
    let runs: Vec<String> = (0..8)
        .map(|_| {
            let run = browser.run("check", "0/photos");
            browser.ended(&run);
            run
        })
        .collect();
    assert_eq!(browser.get(&runs[0]).status, 404);
    assert_eq!(browser.get(&runs[1]).status, 404);
    assert!(runs[2..].iter().all(|run| browser.get(run).status == 200));
}

#[test]
fn a_browser_keeps_its_colours() {
    let served = Served::begin();
    let browser = served.browser();
    let saved = browser.post("/settings", "theme=dark");
    assert_eq!((saved.status, saved.header("location")), (303, Some("/settings")));
    let looks = format!("{}; {}", browser.cookie.as_ref().unwrap(), saved.cookie());
    let page = browser.send("GET", "/", &[("cookie", &looks)], b"").text();
    assert!(page.contains("lang=\"en\" data-theme=\"dark\""), "{page}");
    let page = browser.get("/settings").text();
    assert!(page.contains("lang=\"en\"") && !page.contains("data-theme"), "{page}");
}

#[test]
fn two_pages_see_one_run_and_a_page_that_goes_ends_nothing() {
    let (_served, browser) = long();
    let run = browser.run("tag", "0/");
    let (mut one, mut two) = (browser.listen(&run), browser.listen(&run));
    one.until("stand", "going");
    two.until("stand", "going");
    two.until("rows", "<table");
    drop(one);
    two.until("figures", "B/s");
    two.until("figures", "/s");
    assert_eq!(browser.post(&format!("{run}/stop"), "").status, 303);
    while two.next().is_some_and(|(name, _)| name != "over") {}
    assert!(browser.get(&run).text().contains("interrupted"));
}

#[test]
fn a_run_is_held_and_goes_on_and_is_stopped() {
    let (_served, browser) = long();
    let run = browser.run("tag", "0/");
    let mut events = browser.listen(&run);
    events.until("stand", "going");
    browser.post(&format!("{run}/pause"), "");
    events.until("stand", "held");
    assert!(browser.get("/activity").text().contains("Paused."));
    browser.post(&format!("{run}/resume"), "");
    events.until("stand", "going");
    browser.post(&format!("{run}/pause"), "");
    events.until("stand", "held");
    // Stopping wakes what is held.
    browser.post(&format!("{run}/stop"), "");
    while events.next().is_some_and(|(name, _)| name != "over") {}
    let page = browser.get(&run).text();
    assert!(page.contains("interrupted") && page.contains("the run was held for"), "{page}");
    assert_eq!(browser.post(&format!("{run}/dance"), "").status, 404);
    assert_eq!(browser.post("/runs/99/stop", "").status, 404);
}

#[test]
fn one_run_at_a_time_in_a_folder() {
    let (_served, browser) = long();
    let run = browser.run("tag", "0/");
    let again = browser.run("check", "0/photos");
    assert_eq!(again, format!("{run}?overlaps=1"));
    assert!(browser.get(&again).text().contains("This run goes on already"));
    browser.post(&format!("{run}/stop"), "");
    browser.ended(&run);
    assert_ne!(browser.run("check", "0/photos"), again);
}

/// The catalogue has one writer: what goes on there is led to, and files are looked up beside it.
#[test]
fn runs_of_one_catalogue_do_not_meet() {
    let (served, browser) = long();
    browser.ended(&browser.run("tag", "0/photos"));
    let init = browser.run("init", "0/");
    browser.post(&format!("{init}/stop"), "");
    browser.ended(&init);
    let run = browser.run("tag", "0/large");
    browser.post(&format!("{run}/pause"), "");
    browser.listen(&run).until("stand", "held");
    assert_eq!(browser.run("check", "0/photos"), format!("{run}?overlaps=1"));
    let measured = browser.post("/measure", "work=kernels&profile=quick&place=0/");
    assert_eq!(measured.header("location"), Some(&*format!("{run}?overlaps=1")));
    let drop = browser.post("/drop", "place=0/photos/one.jpg");
    let page = looked_up(&browser, drop.header("location").unwrap());
    assert!(page.contains("one.jpg</h3>") && !page.contains("in use"), "{page}");
    assert!(served.at(".steadfast").is_dir());
    let home = browser.get("/").text();
    assert!(!home.contains("check; "), "looking a file up is no run: {home}");
}

#[test]
fn roots_within_each_other_are_one_tree() {
    let served = Served::with(|config| {
        let roots = vec![config.roots[0].clone(), config.roots[0].join("photos")];
        Config { roots, ..config }
    });
    fs::File::create(served.at("photos/large")).unwrap().set_len(12 << 30).unwrap();
    let browser = served.browser();
    let run = browser.run("tag", "0/");
    assert_eq!(browser.run("tag", "1/"), format!("{run}?overlaps=1"));
}

#[test]
fn a_pace_is_one_of_five() {
    let served = Served::begin();
    let browser = served.browser();
    for pace in ["-1", "x", "5", "9999999999999999999999"] {
        let form = format!("verb=check&place=0/&pace={pace}");
        assert_eq!(browser.post("/runs", &form).status, 400, "{pace}");
    }
}

#[test]
fn a_server_that_ends_ends_its_runs() {
    let (served, browser) = long();
    browser.run("tag", "0/");
    let since = std::time::Instant::now();
    drop(served);
    let limit = std::time::Duration::from_secs(4);
    assert!(steadfast_testing::took_at_most(since, limit), "{:?}", since.elapsed());
}
