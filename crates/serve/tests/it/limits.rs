//! What a client may take of the server: bytes, time, connections.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use steadfast_serve::{Config, Limits};
use steadfast_testing::took_at_most;

use crate::browser::{Answer, Served};

/// Limits so short that a test can wait for them.
fn hasty() -> Served {
    let limits = Limits {
        head: Duration::from_millis(400),
        stall: Duration::from_millis(400),
        ..Limits::default()
    };
    Served::with(|config| Config { limits, ..config })
}

#[test]
fn what_is_too_long_is_refused() {
    let served = Served::begin();
    let browser = served.browser();
    let form = format!("place=0/&verb=check&x={}", "a".repeat(70_000));
    assert_eq!(browser.post("/runs", &form).status, 413);
    let address = format!("/browse?place=0/{}", "a".repeat(30_000));
    assert_eq!(browser.get(&address).status, 414);
    let address = format!("/browse?place=0/{}", "a".repeat(300_000));
    assert!(matches!(browser.get(&address).status, 0 | 414 | 431));
    let many: Vec<(String, String)> = (0..200).map(|n| (format!("x-{n}"), "1".into())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert!(matches!(browser.send("GET", "/", &many, b"").status, 0 | 431));
    let fields = "a=1&".repeat(200);
    assert_eq!(browser.post("/runs", &fields).status, 400);
    assert_eq!(browser.send("DELETE", "/", &[], b"").status, 405);
    assert_eq!(browser.get("/").status, 200);
}

/// A length that is announced is refused before any byte of it.
#[test]
fn a_length_that_is_too_long_is_refused_at_once() {
    let served = Served::begin();
    let browser = served.browser();
    let mut stream = browser.connect();
    let lines = [("content-length", "1000000")];
    stream.write_all(&browser.request("POST", "/runs", &lines, b"csrf=")).unwrap();
    let since = Instant::now();
    assert_eq!(Answer::read(stream).status, 413);
    assert!(took_at_most(since, Duration::from_secs(5)), "{:?}", since.elapsed());
}

/// Clients that send nothing do not keep others out for as long as the usual limits allow.
#[test]
fn slow_clients_do_not_shut_others_out() {
    let limits = Limits { connections: 32, ..Limits::default() };
    let served = Served::with(|config| Config { limits, ..config });
    let browser = served.browser();
    let slow: Vec<_> = (0..30).map(|_| browser.connect()).collect();
    let since = Instant::now();
    for _ in 0..8 {
        assert_eq!(browser.get("/").status, 200);
    }
    assert!(took_at_most(since, Duration::from_secs(10)), "{:?}", since.elapsed());
    drop(slow);
}

#[test]
fn who_dawdles_is_dropped() {
    let served = hasty();
    let browser = served.browser();
    let since = Instant::now();
    // Nothing at all; half a head; a body that does not come; a connection kept without use.
    let mut silent = browser.connect();
    let mut half = browser.connect();
    half.write_all(b"GET / HTTP/1.1\r\nhost: ").unwrap();
    let mut bodiless = browser.connect();
    let lines = [("content-length", "50")];
    bodiless.write_all(&browser.request("POST", "/runs", &lines, b"csrf=")).unwrap();
    let mut kept = browser.connect();
    let lines = [("connection", "keep-alive")];
    kept.write_all(&browser.request("GET", "/icon.svg", &lines, b"")).unwrap();
    let mut rest = Vec::new();
    let _ = silent.read_to_end(&mut rest);
    let _ = half.read_to_end(&mut rest);
    assert_eq!(Answer::read(bodiless).status, 408);
    assert_eq!(Answer::read(kept).status, 200);
    assert!(took_at_most(since, Duration::from_secs(5)), "{:?}", since.elapsed());
    assert_eq!(browser.get("/").status, 200);
}

#[test]
fn who_takes_nothing_is_dropped() {
    let served = hasty();
    let many = served.at("many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..500 {
        std::fs::write(many.join(format!("{number:0200}")), "").unwrap();
    }
    let browser = served.browser();
    let mut stream = browser.connect();
    // More pages than buffers hold, asked for on one connection and never read.
    let request =
        browser.request("GET", "/browse/part?place=0/many", &[("connection", "keep-alive")], b"");
    let since = Instant::now();
    let mut dropped = false;
    stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    while !dropped && took_at_most(since, Duration::from_secs(10)) {
        dropped = match stream.write(&request) {
            Ok(_) => false,
            Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
        };
    }
    assert!(dropped, "the server still holds the connection");
    assert_eq!(browser.get("/").status, 200);
}

#[test]
fn who_listens_is_not_taken_for_who_dawdles() {
    let served = hasty();
    std::fs::File::create(served.at("large")).unwrap().set_len(40 << 30).unwrap();
    let browser = served.browser();
    let run = browser.run("tag", "0/");
    let mut events = browser.listen(&run);
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(1500) {
        assert!(events.next().is_some(), "dropped after {:?}", since.elapsed());
    }
    browser.post(&format!("{run}/stop"), "");
}

#[test]
fn a_server_that_nobody_looks_at_ends() {
    let idle = Some(Duration::from_millis(300));
    let served = Served::with(|config| Config { ends_when_idle: idle, ..config });
    let looks = served.stranger().connect();
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(900) {
        assert!(!served.has_ended(), "somebody was connected");
        std::thread::yield_now();
    }
    drop(looks);
    while !served.has_ended() {
        assert!(took_at_most(since, crate::browser::PATIENCE), "it stays");
        std::thread::yield_now();
    }
}

#[test]
fn further_connections_wait_their_turn() {
    let limits = Limits { connections: 4, head: Duration::from_millis(300), ..Limits::default() };
    let served = Served::with(|config| Config { limits, ..config });
    let browser = served.browser();
    let held: Vec<_> = (0..8).map(|_| browser.connect()).collect();
    // All places are taken by who says nothing; they are given up in time.
    assert_eq!(browser.get("/").status, 200);
    drop(held);
}
