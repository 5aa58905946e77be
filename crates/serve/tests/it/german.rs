//! The pages in German: none shows a text in English.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use steadfast_measure::published;

use crate::browser::{Browser, Served, decay};
use crate::{dropped, measured};

/// What is the same in both languages, apart from numbers at its end.
const SAME: [&str; 21] = [
    "Steadfast",
    "Code",
    "Team",
    "CDHash",
    "org.example.tool",
    "Rate",
    "System",
    "Threads",
    "English",
    "Deutsch",
    "Name",
    "Bytes",
    "Inode",
    "Jan",
    "Feb",
    "Apr",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Nov",
];

/// The names in the tree of a test.
const NAMES: [&str; 8] =
    ["photos", "one.jpg", "two.jpg", "three.jpg", "plain.txt", "new.txt", "here.txt", "tool"];

/// Returns what a page shows: its texts, and the attributes that are read aloud or shown.
fn texts(page: &str) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    for piece in page.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or((piece, ""));
        if !tag.starts_with("style") && !tag.starts_with("script") {
            texts.insert(text.trim().to_owned());
        }
        for name in ["aria-label", "title", "placeholder", "data-lost", "alt"] {
            let value =
                tag.split_once(&format!(" {name}=\"")).and_then(|(_, of)| of.split_once('"'));
            texts.extend(value.map(|(value, _)| value.trim().to_owned()));
        }
    }
    texts
}

/// Whether a text has words: not a figure, a name, or something to type.
fn has_words(text: &str) -> bool {
    let is_word = |word: &str| word.chars().count() > 2 && word.chars().all(char::is_alphabetic);
    let is_typed = text.starts_with("steadfast") || text.contains('/');
    let bare =
        text.trim_end_matches(|letter: char| letter.is_ascii_digit() || " .".contains(letter));
    // A folder of a test has a name that `tempfile` made.
    let is_name = NAMES.contains(&text) || text.contains(".tmp") || is_machine(text);
    let is_name = is_name || text.split(", ").all(is_kernel);
    let is_same = is_typed || is_name || SAME.contains(&bare);
    !is_same && text.split([' ', ',', ':', '.']).any(is_word)
}

/// Whether a text is the name of an algorithm or a backend, with its lanes.
fn is_kernel(text: &str) -> bool {
    let name = text.split(" ×").next().unwrap_or(text);
    let is_marked = name.contains(|letter: char| letter.is_ascii_digit() || letter == '_');
    ["portable", "steadfast"].contains(&name) || is_marked && !name.contains(' ')
}

/// Whether a text is the name of a machine or a system in published records.
fn is_machine(text: &str) -> bool {
    published::records().iter().any(|record| {
        let machine = &record.machine;
        record.name.as_deref() == Some(text) || machine.cpu == text || machine.os == text
    })
}

fn page_in(browser: &Browser, language: &str, page: &str) -> String {
    let answer = browser.send("GET", page, &[("accept-language", language)], b"");
    assert_eq!(answer.status, 200, "{page}: {}", answer.text());
    answer.text()
}

/// Returns the texts that a page has in both languages.
fn alike(browser: &Browser, page: &str) -> Vec<String> {
    let [of_english, of_german] = ["en", "de"].map(|tag| texts(&page_in(browser, tag, page)));
    let same = of_english.intersection(&of_german).filter(|text| has_words(text));
    same.map(|text| format!("{page}: {text}")).collect()
}

#[test]
fn no_german_page_shows_english() {
    let served = Served::begin();
    let browser = served.browser();
    browser.ended(&browser.run("tag", "0/"));
    browser.ended(&browser.run("protect", "0/"));
    decay(&served.at("photos/two.jpg"));
    fs::write(served.at("plain.txt"), "edited, and longer than before").unwrap();
    fs::write(served.at("new.txt"), "new").unwrap();
    fs::remove_file(served.at("photos/2019/three.jpg")).unwrap();
    fs::rename(served.at("photos/one.jpg"), served.at("here.txt")).unwrap();
    let run = browser.run("check", "0/");
    browser.ended(&run);
    let report = format!("{run}/report");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign");
    let mut tool = fs::read(samples.join("signed-tool")).unwrap();
    tool[5000] ^= 1;
    fs::write(served.at("tool"), tool).unwrap();
    let drop = dropped::begin(&browser);
    for (name, body) in [("two.jpg", "other"), ("here.txt", "unlike any")] {
        assert_eq!(dropped::send(&browser, &drop, name, body.as_bytes()).status, 200);
    }
    let drop = format!("/drop/{drop}");
    let plan = browser.post("/repair", "place=0/").header("location").unwrap().to_owned();
    browser.ended(&plan);
    let mut english = Vec::new();
    for page in [
        "/",
        "/folders/0",
        "/folders/0/files",
        "/add",
        "/browse?place=0/",
        "/run?place=0/",
        &run,
        &report,
        "/history?place=0/",
        "/history?place=0/photos/two.jpg",
        "/activity",
        "/drop",
        &drop,
        &plan,
        "/measure",
        "/compare",
        "/compare?record=published-0",
        "/compare?record=published-0&record=published-1&against=published-2",
        "/code",
        "/code?place=0/tool",
        "/code?place=0/plain.txt",
        "/settings",
    ] {
        english.extend(alike(&browser, page));
    }
    let measured = measured::begin(&browser, "kernels");
    browser.listen(&measured).until("series", "/s");
    browser.post(&format!("{measured}/stop"), "");
    browser.ended(&measured);
    english.extend(alike(&browser, &measured));
    assert!(english.is_empty(), "{}", english.join("\n"));
}
