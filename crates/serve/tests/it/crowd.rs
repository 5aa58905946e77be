//! Two hundred pages that look at one run at once.

use std::fs;
use std::io::Write as _;

use crate::browser::{Answer, Served};

const CROWD: usize = 200;

#[test]
fn two_hundred_pages_hold() {
    let served = Served::begin();
    let file = fs::File::create(served.at("large")).unwrap();
    file.set_len(40 << 30).unwrap();
    let browser = served.browser();
    let run = browser.run("tag", "0/");
    let page = format!("{run}/events");
    let mut streams = Vec::new();
    for _ in 0..CROWD {
        let mut stream = browser.connect();
        stream.write_all(&browser.request("GET", &page, &[], b"")).unwrap();
        streams.push(stream);
    }
    let mut last = browser.listen(&run);
    last.until("figures", "/s");
    // Pages are still answered beside them.
    assert_eq!(browser.get("/").status, 200);
    assert_eq!(browser.post(&format!("{run}/stop"), "").status, 303);
    for stream in streams {
        let answer = Answer::read(stream);
        assert_eq!(answer.status, 200);
        let text = answer.text();
        assert!(text.contains("event: figures") && text.ends_with("event: over\ndata: \n\n"));
    }
}
