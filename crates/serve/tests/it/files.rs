//! The files that a catalogue knows: all of them, some at a time, and those that are looked for.

use std::collections::BTreeSet;
use std::fs;

use crate::browser::{Browser, Served, between, decay};

/// Files of the tree, more than two pages.
const FILES: usize = 450;

fn protected() -> (Served, Browser) {
    let served = Served::begin();
    fs::create_dir(served.at("many")).unwrap();
    for number in 0..FILES {
        fs::write(served.at(&format!("many/{number:03}")), number.to_string()).unwrap();
    }
    fs::write(served.at("<b>bold & \u{202e}txt\n"), "a name").unwrap();
    let browser = served.browser();
    browser.ended(&browser.run("protect", "0/"));
    (served, browser)
}

/// The names in the rows of a page.
fn names(page: &str) -> Vec<String> {
    let cells = page.split("<td class=\"name\">").skip(1);
    cells.map(|cell| between(cell, "\">", "</a>").rsplit('>').next().unwrap().to_owned()).collect()
}

/// Follows the links to further rows, and returns all names.
fn followed(browser: &Browser, first: &str) -> Vec<String> {
    let mut page = browser.get(first).text();
    let mut all = names(&page);
    while page.contains("data-more=\"") {
        let more = between(&page, "data-more=\"", "\"").replace("&amp;", "&");
        let answer = browser.get(&more);
        assert_eq!(answer.status, 200, "{more}");
        page = answer.text();
        assert!(!page.contains("<html"), "a part is no page");
        all.extend(names(&page));
    }
    all
}

#[test]
fn every_file_is_listed_once_a_page_at_a_time() {
    let (_served, browser) = protected();
    let first = browser.get("/folders/0/files").text();
    assert_eq!(names(&first).len(), 200);
    assert!(!first.contains("<b>bold"), "{first}");
    let all = followed(&browser, "/folders/0/files");
    assert_eq!(all.len(), FILES + 5);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert!(all.iter().any(|name| name.contains("&lt;b&gt;bold &amp; ")), "{all:?}");
    let link = between(&first, "href=\"/folders/0/files?", "\"").replace("&amp;", "&");
    let second = browser.get(&format!("/folders/0/files?{link}")).text();
    assert_eq!(names(&second), all[200..400], "without a script, links lead on");
}

#[test]
fn files_are_found_by_name_and_state() {
    let (served, browser) = protected();
    let found = |query: &str| followed(&browser, &format!("/folders/0/files?{query}"));
    assert_eq!(found("words=MANY%2F01"), (10..20).map(|n| format!("{n:03}")).collect::<Vec<_>>());
    assert_eq!(found("words=MANY&state=fine").len(), FILES);
    assert_eq!(found("state=corrupt"), [""; 0]);
    decay(&served.at("photos/two.jpg"));
    browser.ended(&browser.run("check", "0/"));
    assert_eq!(found("state=corrupt"), ["two.jpg"]);
    let page = browser.get("/folders/0/files?state=corrupt").text();
    assert!(page.contains("Damaged") && page.contains("photos/"), "{page}");
    let none = browser.get("/folders/0/files?words=nowhere").text();
    assert!(none.contains("No file matches."), "{none}");
}

#[test]
fn nothing_else_is_listed() {
    let served = Served::begin();
    let browser = served.browser();
    assert_eq!(browser.get("/folders/0/files").status, 404, "it has no catalogue");
    browser.ended(&browser.run("protect", "0/"));
    for (address, status) in [
        ("/folders/1/files", 404),
        ("/folders/x/files", 404),
        ("/folders/0/files?after=..%2Fx", 409),
        ("/folders/0/files?after=%2Fetc%2Fpasswd", 409),
        ("/folders/0/files?after=gone%2Fx", 200),
        ("/folders/0/files?after=%00", 200),
    ] {
        let answer = browser.get(address);
        assert_eq!(answer.status, status, "{address}: {}", answer.text());
    }
}
