//! Copies and the question whether something may be erased: the last line is the command's, a plan
//! copies nothing, and nothing leads out of the roots.

use std::fs;

use crate::browser::{Answer, Browser, SECRET, Served, between, decay};

/// A server on a tree with a card, and two folders that are there for copies.
fn card() -> (Served, Browser) {
    let served = Served::begin();
    for folder in ["card/sub", "one", "two"] {
        fs::create_dir_all(served.at(folder)).unwrap();
    }
    fs::write(served.at("card/a"), "alpha").unwrap();
    fs::write(served.at("card/sub/b"), "beta").unwrap();
    let browser = served.browser();
    (served, browser)
}

/// Waits until what a form began has ended, and returns its page.
fn ended(browser: &Browser, answer: &Answer) -> String {
    assert_eq!(answer.status, 303, "{}", answer.text());
    let page = answer.header("location").unwrap();
    assert!(page.starts_with("/copy/"), "{page}");
    browser.ended(page)
}

fn last_line(page: &str) -> String {
    let last = between(page, "<div class=\"last", "<small>");
    last.rsplit_once("<p>").unwrap().1.to_owned()
}

#[test]
fn a_plan_names_what_is_copied_and_copies_nothing() {
    let (served, browser) = card();
    let page = ended(&browser, &browser.post("/copy", "from=0/card&to=0/one&copies=1"));
    assert!(page.contains("2 files (9 B) would be copied to 1 place"), "{page}");
    assert!(page.contains("nothing was copied") && page.contains("are free"), "{page}");
    assert!(!served.at("one/card").exists());
    assert!(page.contains("name=\"agreed\""), "{page}");
}

#[test]
fn a_copy_says_yes_only_with_copies_that_were_read_back() {
    let (served, browser) = card();
    let form = "from=0/card&to=0/one&copies=1&agreed=1";
    let page = ended(&browser, &browser.post("/copy", form));
    assert_eq!(fs::read(served.at("one/card/sub/b")).unwrap(), b"beta");
    let is_proved = page.contains("2 read back from the drive itself");
    match last_line(&page).as_str() {
        "safe to erase: yes" => assert!(is_proved && page.contains("Yes, you may"), "{page}"),
        // Where the file system lets no reading pass by the cache.
        other => assert!(other.contains("read through a cache") && !is_proved, "{page}"),
    }
    // Asked of the same copies, without copying.
    browser.ended(&browser.run("tag", "0/one"));
    let asked = ended(&browser, &browser.post("/safe", "from=0/card&to=0/one&copies=1"));
    assert_eq!(last_line(&asked), last_line(&page), "{asked}");
    assert!(asked.contains("steadfast safe --copies 1"), "{asked}");
    fs::write(served.at("card/new"), "gamma").unwrap();
    let asked = ended(&browser, &browser.post("/safe", "from=0/card&to=0/one&copies=1"));
    assert!(last_line(&asked).contains("no, because 1 file is not in 1 place"), "{asked}");
    assert!(asked.contains("</span>new</h3>") && asked.contains("Do not erase it yet"), "{asked}");
}

#[test]
fn only_what_is_not_there_yet_is_copied_and_the_receipt_can_be_kept() {
    let (served, browser) = card();
    fs::write(served.at("two/elsewhere"), "alpha").unwrap();
    browser.ended(&browser.run("tag", "0/two"));
    let form = "from=0/card&to=0/one/new&in=0/two&copies=1";
    let plan = ended(&browser, &browser.post("/copy", form));
    assert!(plan.contains("1 file (4 B) would be copied") && plan.contains("1 more left out"));
    assert!(plan.contains("name=\"in\"") && !served.at("one/new").exists(), "{plan}");
    let answer = browser.post("/copy", &format!("{form}&agreed=1"));
    let address = answer.header("location").unwrap().to_owned();
    let page = ended(&browser, &answer);
    assert!(!served.at("one/new/card/a").exists() && served.at("one/new/card/sub/b").exists());
    assert!(page.contains("--unknown --in "), "{page}");
    let receipt = browser.get(&format!("{address}/receipt"));
    let disposition = receipt.header("content-disposition").unwrap();
    assert!(disposition.starts_with("attachment"), "{disposition}");
    let (text, last) = (receipt.text(), last_line(&page));
    assert!(last.contains("1 file is known by records"), "{last}");
    assert!(text.ends_with(&format!("\n{last}\n")), "{text}");
    assert!(text.contains(&served.at("one/new").display().to_string()), "{text}");
}

#[test]
fn two_places_on_one_device_are_one_copy() {
    let (_served, browser) = card();
    let page = ended(&browser, &browser.post("/copy", "from=0/card&to=0/one&to=0/two&agreed=1"));
    let last = last_line(&page);
    let is_one = last.contains("the copies of 2 files are on one device, and not on 2 devices");
    assert!(is_one || last.contains("read through a cache"), "{last}");
    assert!(page.contains("Do not erase it yet") && page.contains("You asked for 2 copies"));
}

#[test]
fn a_corrupt_source_is_told_and_not_spread() {
    let (served, browser) = card();
    browser.ended(&browser.run("tag", "0/card"));
    decay(&served.at("card/a"));
    let page = ended(&browser, &browser.post("/copy", "from=0/card&to=0/one&copies=1&agreed=1"));
    let why = "1 file of the source is corrupt or suspect by the record";
    assert!(last_line(&page).contains(why), "{page}");
    assert!(page.contains("would only spread the damage") && page.contains("</span>a</h3>"));
    assert!(!served.at("one/card/a").exists() && served.at("one/card/sub/b").exists());
}

#[test]
fn a_destination_that_is_away_or_full_of_links_gets_nothing() {
    let (served, browser) = card();
    for place in ["0/away/card", "0/way-out", "0/way-out/new", "0/file-out"] {
        for agreed in ["", "&agreed=1"] {
            let form = format!("from=0/card&to={place}&copies=1{agreed}");
            let page = ended(&browser, &browser.post("/copy", &form));
            assert!(page.contains("Nothing was copied"), "{place}: {page}");
            assert!(!page.contains("safe to erase"), "{place}: {page}");
        }
    }
    assert_eq!(fs::read_dir(served.outside.path()).unwrap().count(), 1);
    let page = ended(&browser, &browser.post("/safe", "from=0/card&to=0/away"));
    assert!(page.contains("Do not erase it"), "{page}");
    // Neither does a link in the source lead out: it is left out, and said to be.
    let page = ended(&browser, &browser.post("/copy", "from=0/way-out&to=0/one&agreed=1"));
    assert!(page.contains("Nothing was copied") && !page.contains(SECRET), "{page}");
}

#[test]
fn a_form_that_makes_no_sense_says_why() {
    let (served, browser) = card();
    let outside = served.outside.path().display().to_string();
    for (page, form, says) in [
        ("/copy", "to=0/one".to_owned(), "Choose what is copied."),
        ("/copy", "from=0/card".to_owned(), "Choose where copies go."),
        ("/safe", "from=0/card".to_owned(), "Choose where copies should be."),
        ("/safe", "to=0/card".to_owned(), "Choose what may be erased."),
        ("/copy", format!("from=0/card&to-paths={outside}"), "is beneath no folder"),
    ] {
        let answer = browser.post(page, &form);
        assert!(answer.status == 200 && answer.text().contains(says), "{says}: {}", answer.text());
    }
    let inside = served.at("one/new").display().to_string();
    let form = format!("from-paths={}&to-paths={inside}", served.at("card/a").display());
    let page = ended(&browser, &browser.post("/copy", &form));
    assert!(page.contains("1 file (5 B) would be copied"), "{page}");
    // Without the token of the form, nothing begins.
    let answer = browser.send("POST", "/copy", &[], b"from=0/card&to=0/one&agreed=1");
    assert_eq!(answer.status, 403);
    assert_eq!(served.stranger().get("/copy/1").status, 401);
}

#[test]
fn a_copy_that_is_stopped_says_no_and_goes_on() {
    let (served, browser) = card();
    for number in 0..3000 {
        fs::write(served.at(&format!("card/{number}")), vec![b'x'; 5_000]).unwrap();
    }
    let form = "from=0/card&to=0/one&copies=1&agreed=1";
    let begun = std::thread::spawn({
        let browser = browser.clone();
        move || browser.post("/copy", form)
    });
    while browser.get("/copy/1").status == 404 {
        std::thread::yield_now();
    }
    assert_eq!(browser.post("/copy/1/stop", "").status, 303);
    let page = ended(&browser, &begun.join().unwrap());
    assert!(last_line(&page).contains("not everything was seen"), "{page}");
    assert!(page.contains("Stopped before the end. Do not erase it."), "{page}");
    assert!(page.contains("Go on"), "{page}");
    let page = ended(&browser, &browser.post("/copy", form));
    assert!(!last_line(&page).contains("not everything was seen"), "{page}");
    assert_eq!(fs::read_dir(served.at("one/card")).unwrap().count(), 3002);
}
