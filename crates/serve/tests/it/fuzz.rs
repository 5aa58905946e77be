//! Ten thousand requests of somebody who knows the routes and is up to no good.
//!
//! The seed is fixed, so that what fails once fails again.

use std::io::Write as _;

use crate::browser::{Answer, Browser, SECRET, Served};

const REQUESTS: usize = 10_000;

/// Numbers that look random (`xorshift64*`).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

const PAGES: &[&str] = &[
    "/drop",
    "/drop/begin",
    "/drop/1",
    "/drop/1/file",
    "/drop/x/file",
    "/compare",
    "/compare/report",
    "/compare/record",
    "/code",
    "/history",
    "/measure/1",
    "/measure/1/record",
    "/measure/x/stop",
    "/ticket",
    "/",
    "/run",
    "/runs",
    "/runs/1",
    "/runs/2/report",
    "/runs/1/stop",
    "/runs/1/pause",
    "/runs/1/resume",
    "/runs/0",
    "/runs/-1",
    "/runs/%00",
    "/runs/99999999999999999999",
    "/browse",
    "/browse/part",
    "/enter",
    "/style.css",
    "/script.js",
    "/icon.svg",
    "/..",
    "//",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/../../etc/passwd",
    "/browse/../../x",
    "/runs/1/events/x",
    "/.steadfast/catalogue.sqlite",
    "*",
    "http://evil.example/",
    "/runs/{id}",
    "/\u{7f}",
];

const NAMES: &[&str] = &[
    "place", "after", "verb", "pace", "media", "show", "words", "skip", "token", "ticket", "to",
    "password", "csrf", "overlaps", "x", "", "record", "against", "name", "added", "for", "path",
    "work", "profile",
];

const VALUES: &[&str] = &[
    "run-1",
    "added-1",
    "published-0",
    "published-",
    "file-..%2fx",
    "code",
    "history",
    "a%00b",
    "0/",
    "0/photos",
    "0/photos/one.jpg",
    "0/..",
    "0/way-out",
    "0/way-out/sesame-outside-the-root",
    "0/file-out",
    "0/%2e%2e",
    "0/%252e%252e",
    "0/%00",
    "1/",
    "18446744073709551616/",
    "check",
    "tag",
    "update",
    "init",
    "2",
    "4",
    "5",
    "-1",
    "18446744073709551615",
    "99999999999999999999999",
    "corrupt",
    "%",
    "%4",
    "%zz",
    "%ff%fe",
    "%0d%0aSet-Cookie:%20a=b",
    "<script>",
    "%3Cscript%3E",
    "d",
    "fx",
    "//evil.example",
    "/\\evil",
    "",
    "/etc/passwd",
    "..%2f..%2f",
    "\u{e9}",
    "a+b",
    "'\";--",
];

const LINES: &[(&str, &str)] = &[
    ("host", "evil.example"),
    ("origin", "http://evil.example"),
    ("origin", "null"),
    ("sec-fetch-site", "cross-site"),
    ("content-type", "application/json"),
    ("content-type", "multipart/form-data; boundary=x"),
    ("content-type", "application/x-www-form-urlencoded; charset=utf-16"),
    ("content-length", "5"),
    ("content-length", "99999999999"),
    ("content-length", "-1"),
    ("transfer-encoding", "chunked"),
    ("cookie", "steadfast-1=x; ;;=; a"),
    ("cookie", "\u{ff}"),
    ("x-csrf", "AAAA"),
    ("expect", "100-continue"),
    ("upgrade", "websocket"),
    ("range", "bytes=0-1"),
];

fn request(dice: &mut Dice, browser: &Browser) -> Vec<u8> {
    let method =
        dice.pick(&["GET", "GET", "GET", "POST", "POST", "HEAD", "PUT", "OPTIONS", "G\0T"]);
    let fields = |dice: &mut Dice| {
        let count = dice.roll(4);
        let pair = |dice: &mut Dice| format!("{}={}", dice.pick(NAMES), dice.pick(VALUES));
        (0..count).map(|_| pair(dice)).collect::<Vec<_>>().join("&")
    };
    let page = match dice.roll(3) {
        0 => dice.pick(PAGES).to_owned(),
        _ => format!("{}?{}", dice.pick(PAGES), fields(dice)),
    };
    let mut body = fields(dice);
    if dice.roll(3) > 0 {
        body = format!("csrf={}&{body}", browser.csrf);
    }
    let lines: Vec<(&str, &str)> = match dice.roll(3) {
        0 => vec![LINES[dice.roll(LINES.len())]],
        _ => Vec::new(),
    };
    let body = if method == "POST" { body } else { String::new() };
    let mut request = browser.request(method, &page, &lines, body.as_bytes());
    // Now and then not even that is right.
    if dice.roll(12) == 0 {
        let at = dice.roll(request.len());
        request[at] = dice.roll(256) as u8;
    }
    request
}

#[test]
fn ten_thousand_requests_do_no_harm() {
    let served = Served::with(|config| {
        let limits = steadfast_serve::Limits {
            head: std::time::Duration::from_millis(50),
            stall: std::time::Duration::from_millis(50),
            ..config.limits
        };
        steadfast_serve::Config { limits, ..config }
    });
    let mut inside = served.browser();
    let outside = served.stranger();
    let mut dice = Dice(0x5eed_0fa1_57ea_d1e5);
    let mut answered = 0;
    for number in 0..REQUESTS {
        let browser = if dice.roll(8) == 0 { &outside } else { &inside };
        let bytes = request(&mut dice, browser);
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let mut stream = browser.connect();
        // It may be closed before all is written.
        let _ = stream.write_all(&bytes);
        if shown.contains("expect: 100-continue") || shown.contains("/events") {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let answer = Answer::read(stream);
        answered += usize::from(answer.status > 0);
        assert!(answer.status < 500, "request {number}: {shown}\n{}", answer.text());
        let text = answer.text();
        assert!(!text.contains(SECRET), "request {number}: {shown}");
        assert!(!text.contains("root:x:"), "request {number}: {shown}");
        assert!(!text.contains("<script>"), "request {number}: {shown}");
        assert!(!answer.head.to_lowercase().contains("set-cookie: a=b"), "{shown}");
        // Some requests leave, and come in again.
        if number % 500 == 499 && inside.get("/").status == 401 {
            inside = served.browser();
        }
    }
    assert!(answered > REQUESTS / 2, "{answered}");
    let browser = served.browser();
    assert_eq!(browser.get("/").status, 200);
}
