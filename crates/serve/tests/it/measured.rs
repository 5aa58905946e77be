//! Measuring, and comparing what was measured: the command's records and documents.

use std::fs;

use crate::browser::{Browser, Served, between};

/// Begins a measurement and returns its page.
pub(crate) fn begin(browser: &Browser, work: &str) -> String {
    let answer = browser.post("/measure", &format!("work={work}&profile=quick&place=0/"));
    assert_eq!(answer.status, 303, "{}", answer.text());
    answer.header("location").unwrap().to_owned()
}

fn add(browser: &Browser, name: &str, document: &[u8]) -> crate::browser::Answer {
    let lines = [("content-type", "application/octet-stream"), ("x-csrf", browser.csrf.as_str())];
    browser.send("POST", &format!("/compare/record?name={name}"), &lines, document)
}

#[test]
fn a_stopped_measurement_keeps_its_samples_as_a_partial_record() {
    let records = tempfile::tempdir().unwrap();
    let served = Served::with(|config| steadfast_serve::Config {
        records: Some(records.path().to_owned()),
        ..config
    });
    let browser = served.browser();
    let one = begin(&browser, "kernels");
    let (mut events, mut others) = (browser.listen(&one), browser.listen(&one));
    // Both are told alike, and one that leaves ends nothing.
    others.until("stand", "It is running");
    std::mem::drop(others);
    events.until("series", "/s");
    // Two at once would measure each other.
    let busy = browser.post("/measure", "work=cpu&profile=quick&place=0/");
    assert_eq!(busy.header("location").unwrap(), format!("{one}?busy=1"));
    assert_eq!(browser.get(&format!("{one}/record")).status, 409);
    assert_eq!(browser.post(&format!("{one}/stop"), "").status, 303);
    let page = browser.ended(&one);
    assert!(page.contains("It ended early") && page.contains("class=\"document\""), "{page}");
    let record = browser.get(&format!("{one}/record"));
    let text = record.text();
    assert!(text.contains("\"partial\": \"interrupted\""), "{text}");
    let name = between(record.header("content-disposition").unwrap(), "filename=\"", "\"");
    assert_eq!(fs::read(records.path().join(name)).unwrap(), record.body);
    let report = browser.get(&format!("{one}/report"));
    assert!(report.text().contains("<style") && report.text().contains("partial: interrupted"));

    // The record is there to be compared, by this server's number and by its file.
    let compare = browser.get("/compare").text();
    assert!(compare.contains("measured here") && compare.contains(name), "{compare}");
    let both = browser.get(&format!("/compare?record=run-1&against=file-{name}")).text();
    assert!(both.contains("class=\"document\"") && both.contains("2 records"), "{both}");
    let saved = browser.get(&format!("/compare/report?record=run-1&against=file-{name}"));
    assert!(saved.header("content-disposition").unwrap().contains("steadfast-compared.html"));

    // What a browser adds is compared like any other; what is no record is refused with the place.
    let added = add(&browser, "theirs.json", &record.body);
    assert_eq!((added.status, added.text().as_str()), (200, "added-1"));
    let page = browser.get("/compare?record=added-1&record=run-1").text();
    assert!(page.contains("class=\"document\""), "{page}");
    let spoilt = text.replacen("\"samples\": [", "\"samples\": [7,", 1);
    let refused = add(&browser, "bad.json", spoilt.as_bytes());
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("series[0].samples[0]"), "{}", refused.text());
    let long = vec![b' '; (8 << 20) + 1];
    assert_eq!(add(&browser, "long.json", &long).status, 413);
}

#[test]
fn only_what_is_offered_is_measured() {
    let served = Served::begin();
    let browser = served.browser();
    let form = browser.get("/measure").text();
    assert!(form.contains("value=\"kernels\"") && !form.contains("value=\"cipher\""), "{form}");
    for asked in [
        "work=cipher&profile=quick&place=0/",
        "work=kernels&profile=fast&place=0/",
        "work=kernels&profile=quick",
        // Files are made in roots alone.
        "work=write&profile=quick&place=0/photos",
        // A pair is two folders.
        "work=pair&profile=quick&place=0/",
        "work=pair&profile=quick&place=0/&beside=0/",
    ] {
        assert_eq!(browser.post("/measure", asked).status, 400, "{asked}");
    }
    assert_eq!(browser.get("/measure/1").status, 404);
}

#[test]
fn two_served_folders_are_measured_by_turns() {
    let second = tempfile::tempdir().unwrap();
    let served = Served::with(|config| {
        let roots = [config.roots, vec![second.path().to_owned()]].concat();
        steadfast_serve::Config { roots, ..config }
    });
    let browser = served.browser();
    let form = browser.get("/measure").text();
    assert!(form.contains("value=\"pair\"") && form.contains("name=\"beside\""), "{form}");
    let same = "work=pair&profile=quick&place=1/&beside=1/";
    assert_eq!(browser.post("/measure", same).status, 400);
    let pair = "work=pair&profile=quick&place=0/&beside=1/";
    let one = browser.post("/measure", pair).header("location").unwrap().to_owned();
    browser.listen(&one).until("series", "/s");
    assert_eq!(browser.post(&format!("{one}/stop"), "").status, 303);
    let page = browser.ended(&one);
    assert!(page.contains("measure pair --quick") && page.contains("class=\"document\""), "{page}");
}

#[test]
fn what_is_gone_is_said() {
    let served = Served::begin();
    let browser = served.browser();
    for token in ["run-7", "added-1", "file-..%2fsecret", "published-9999", "x", "file-"] {
        let page = browser.get(&format!("/compare?record={token}"));
        let text = page.text();
        assert!(text.contains("does not exist any more, or cannot be read"), "{token}: {text}");
    }
    let page = browser.get("/compare?record=published-0").text();
    assert!(page.contains("class=\"document\""), "{page}");
}
