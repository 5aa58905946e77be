//! Folders after a year: runs that the library recorded by a clock that the test sets, as the
//! server shows them today.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

use steadfast::{Event, InitOptions, Options, Selection, Timestamp, Verb};
use steadfast_serve::Config;

use crate::browser::{Served, between, decay};

const DAY_S: i64 = 86_400;

/// How many days ago a run is. Only one test sets it.
static DAYS_AGO: AtomicI64 = AtomicI64::new(0);

/// The clock of the runs.
fn past() -> Timestamp {
    let now = (Options::default().now)();
    let seconds = now.seconds - DAYS_AGO.load(Ordering::Relaxed) * DAY_S;
    Timestamp { seconds, ..now }
}

/// Runs a verb over paths as if it were so many days ago.
fn ago(days: i64, verb: Verb, paths: &[&Path]) {
    DAYS_AGO.store(days, Ordering::Relaxed);
    let options = Options::default().with(|options| {
        options.now = past;
        // Damage is played from above the file system.
        options.ignore_change_times = true;
    });
    let selection = Selection::of(paths);
    let done = steadfast::Run::of(verb, selection, options).run(&mut |_: &Event| {});
    assert!(done.is_ok(), "{days} days ago: {done:?}");
}

/// A folder with twenty files in two folders, recorded 400 days ago.
fn recorded(root: &Path) {
    for folder in ["old", "new"] {
        fs::create_dir_all(root.join(folder)).unwrap();
        for number in 0..10 {
            let file = root.join(format!("{folder}/picture {number}.jpg"));
            fs::write(file, format!("{folder} {number}").repeat(1_000)).unwrap();
        }
    }
    ago(400, Verb::Init(InitOptions::default()), &[root]);
}

/// The folders by what became of them.
const FOLDERS: [&str; 4] = ["Well", "Late", "Damaged", "Never checked"];

/// Makes the year of the folders.
fn live_through(home: &Path) {
    let at = |name: &str| home.join(name);
    FOLDERS.iter().for_each(|name| recorded(&at(name)));
    for month in (0..12).rev() {
        ago(12 + 30 * month, Verb::check(), &[&at("Well")]);
    }
    // One part was checked lately, and the other was not.
    ago(200, Verb::check(), &[&at("Late")]);
    ago(20, Verb::check(), &[&at("Late/new")]);
    // Damage that was found in spring is there today, and so is a change that was accepted.
    fs::write(at("Damaged/new/picture 1.jpg"), "edited").unwrap();
    ago(300, Verb::update(), &[&at("Damaged")]);
    decay(&at("Damaged/old/picture 3.jpg"));
    ago(220, Verb::check(), &[&at("Damaged")]);
    ago(40, Verb::check(), &[&at("Damaged")]);
}

#[test]
fn after_a_year_the_pages_say_what_is_late_and_how_old_everything_is() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let home = home.path().canonicalize().unwrap();
    live_through(&home);
    let roots = FOLDERS.map(|name| home.join(name)).into();
    let served = Served::with(|config| Config { roots, ignore_change_times: true, ..config });
    let browser = served.browser();
    let page = browser.get("/").text();
    let card = |name: &str| {
        let at = FOLDERS.iter().position(|other| *other == name).unwrap();
        between(&page, &format!("aria-labelledby=\"root-{at}\""), "</article>")
    };
    let says = |text: &str, all: &[&str]| {
        all.iter().for_each(|words| assert!(text.contains(words), "{words}: {text}"));
    };
    let well = card("Well");
    says(well, &["All 20 files are exactly as recorded", ">12 days ago<", "100.0 %", "f-good"]);
    let late = card("Late");
    says(late, &["Check is due", "10 files were not checked within 90 days", ">20 days ago<"]);
    assert!(late.contains("50.0 %") && !late.contains("f-good"), "{late}");
    says(card("Damaged"), &["1 of 20 files is damaged", ">a month ago<"]);
    let never = card("Never checked");
    says(never, &["Check is due", "20 files were not checked within 90 days", ">a year ago<"]);
    assert!(!never.contains("f-good") && !page.contains("All your files"), "{never}");
    let pages = |path: &str| browser.get(path).text();
    // The months: one bar of half the files, and the other half in another month.
    let months = pages("/folders/1");
    assert_eq!(months.matches("height=\"60.00\"").count(), 2, "{months}");
    // What was found in spring and again in autumn is open since autumn, and both are told.
    let found = pages("/folders/2");
    says(&found, &["Found <time", ">a month ago<", "1 damaged"]);
    let life = pages("/history?place=2/old/picture%203.jpg");
    says(&life, &["Found damaged", ">7 months ago<", "First seen", ">a year ago<"]);
    let edited = pages("/history?place=2/new/picture%201.jpg");
    says(&edited, &["Its change was accepted", ">10 months ago<", "Intact 2 times"]);
    let all = pages("/activity");
    says(&all, &["20 files recorded", "20 files, all intact", "1 damaged", "changes accepted"]);
    assert_eq!(all.matches("/runs/").count(), 4 + 12 + 2 + 3, "{all}");
    let history = pages("/history?place=0/");
    says(&history, &["13 runs", ">a year ago<", ">11 months ago<", ">12 days ago<"]);
}
