//! Who is let in: the token and its cookie, the ticket, the password, and what browsers say of
//! where a request comes from.

use std::fs;

use steadfast_serve::{Config, ErrorKind, PublicAddress, Server, Tls, hash_password};

use crate::browser::{Served, between};

#[test]
fn only_the_token_lets_in() {
    let served = Served::begin();
    let stranger = served.stranger();
    for page in ["/", "/run", "/browse?place=0/", "/runs/1", "/runs/1/events", "/nowhere"] {
        assert_eq!(stranger.get(page).status, 401, "{page}");
    }
    for page in ["/enter", "/enter?token=", "/enter?token=AAAA", "/enter?ticket=AAAA"] {
        let answer = stranger.get(page);
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None), "{page}");
    }
    let mut wrong = served.door().to_owned();
    let last = if wrong.ends_with('A') { 'B' } else { 'A' };
    wrong.pop();
    wrong.push(last);
    assert_eq!(stranger.get(&wrong).status, 401);
    let answer = stranger.get(served.door());
    assert_eq!(answer.status, 200);
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let token = served.entrance.split("token=").nth(1).unwrap();
    assert!(!cookie.contains(token) && !answer.text().contains(token));
    // It lets in one browser, which may load the address again.
    assert_eq!(stranger.get(served.door()).status, 401);
    let key = answer.cookie();
    let again = stranger.send("GET", served.door(), &[("cookie", &key)], b"");
    assert_eq!((again.status, again.header("set-cookie")), (200, None));
    // It asks for no ticket, and what asks for tickets lets nobody in.
    assert_eq!(stranger.get(&format!("/ticket?token={token}")).status, 401);
    let owner = served.desk().split_once("token=").unwrap().1;
    assert_eq!(stranger.get(&format!("/enter?token={owner}")).status, 401);
    assert_eq!(served.browser().get("/").status, 200);
}

#[test]
fn who_leaves_has_left() {
    let served = Served::begin();
    let browser = served.browser();
    std::fs::File::create(served.at("large")).unwrap().set_len(4 << 30).unwrap();
    let run = browser.run("tag", "0/");
    browser.post(&format!("{run}/pause"), "");
    let mut events = browser.listen(&run);
    events.until("stand", "held");
    let answer = browser.post("/leave", "");
    assert_eq!(answer.status, 200);
    assert!(answer.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(browser.get("/").status, 401);
    // What it listened to has ended as well; the run goes on.
    while events.next().is_some() {}
    assert!(served.browser().get("/activity").text().contains("Paused."));
}

#[test]
fn a_ticket_lets_one_browser_in_and_leads_on() {
    let config = Config { roots: vec![std::env::temp_dir()], ..Config::default() };
    let server = Server::bind(config).unwrap();
    let ticket = server.ticket_to("/run?place=0%2F").unwrap();
    assert!(ticket.contains("/enter?ticket=") && ticket.ends_with("&to=/run%3Fplace%3D0%252F"));
    let served = Served::begin();
    let stranger = served.stranger();
    // Who looks at the head alone leaves the ticket good.
    let path = served.tree.path().canonicalize().unwrap();
    let given = stranger.get(&format!("{}&path={}", served.desk(), path.display())).text();
    let door = &given[given.find("/enter").unwrap()..];
    assert!(door.ends_with("&to=/add%3Fplace%3D0/"), "{door}");
    assert_eq!(stranger.send("HEAD", door, &[], b"").status, 401);
    assert_eq!(stranger.get(door).status, 200);
    assert_eq!(stranger.get(door).status, 401);
    // Led on to a page of this server, and to no other's.
    for (to, led) in
        [("/run", "/run"), ("//evil.example", "/"), ("/%5Cevil", "/"), ("https://e", "/")]
    {
        let given = stranger.get(served.desk()).text();
        let ticket = given[given.find("/enter").unwrap()..].split("&to=").next().unwrap();
        let answer = stranger.get(&format!("{ticket}&to={to}"));
        let wanted = format!("content=\"0;url={led}\"");
        assert!(answer.text().contains(&wanted), "{to}: {}", answer.text());
    }
}

#[test]
fn other_names_and_other_pages_are_refused() {
    let served = Served::begin();
    let browser = served.browser();
    let host = served.bound.to_string();
    for lines in [
        &[("host", "evil.example")][..],
        &[("host", "")],
        &[("host", "127.0.0.1:1")],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "navigate")],
        &[("host", &host), ("host", &host)],
    ] {
        let answer = browser.send("GET", "/", lines, b"");
        assert!(matches!(answer.status, 400 | 403), "{lines:?}: {}", answer.status);
        assert!(!answer.text().contains("photos"), "{lines:?}");
    }
    assert_eq!(browser.send("GET", "/", &[("sec-fetch-site", "same-origin")], b"").status, 200);
    // The entrance may be opened by a click anywhere; it is of no use without the token.
    let click = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    assert_eq!(served.stranger().send("GET", served.door(), &click, b"").status, 200);
    assert_eq!(served.stranger().send("GET", "/enter", &click, b"").status, 401);
}

#[test]
fn what_posts_shows_origin_and_token() {
    let served = Served::begin();
    let browser = served.browser();
    let form = format!("csrf={}&verb=check&place=0/", browser.csrf);
    for (lines, body) in [
        (&[][..], "verb=check&place=0/"),
        (&[], "csrf=&verb=check&place=0/"),
        (&[], "csrf=AAAA&verb=check&place=0/"),
        (&[("origin", "")], &form),
        (&[("origin", "null")], &form),
        (&[("origin", "http://evil.example")], &form),
        (&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")], &form),
        (&[("content-type", "text/plain")], &form),
        (&[("content-type", "multipart/form-data; boundary=a")], &form),
    ] {
        let answer = browser.send("POST", "/runs", lines, body.as_bytes());
        assert_eq!(answer.status, 403, "{lines:?} {body}");
    }
    // Another session's token is not this one's.
    let other = served.browser();
    let foreign = format!("csrf={}&verb=check&place=0/", other.csrf);
    assert_eq!(browser.send("POST", "/runs", &[], foreign.as_bytes()).status, 403);
    assert!(!browser.get("/").text().contains("/runs/1"));
    assert_eq!(browser.send("POST", "/runs", &[], form.as_bytes()).status, 303);
}

/// What every page loads is sent once: its name changes with its contents.
#[test]
fn style_and_script_are_kept_by_browsers() {
    let served = Served::begin();
    let page = served.browser().get("/").text();
    for mark in ["rel=\"stylesheet\" href=\"", "script src=\""] {
        let answer = served.stranger().get(between(&page, mark, "\""));
        let kept = Some("public, max-age=31536000, immutable");
        assert_eq!((answer.status, answer.header("cache-control")), (200, kept), "{mark}");
    }
    assert_eq!(served.browser().get("/style.css").status, 404);
}

/// Pages are compressed for browsers that can read that: half a second of a slow line holds 25 kB.
#[test]
fn pages_are_small_on_a_slow_line() {
    let served = Served::begin();
    let browser = served.browser();
    for page in ["/", "/folders/0", "/settings"] {
        let plain = browser.get(page);
        assert_eq!(plain.header("content-encoding"), None, "{page}");
        let packed = browser.send("GET", page, &[("accept-encoding", "gzip")], b"");
        assert_eq!(packed.header("content-encoding"), Some("gzip"), "{page}");
        assert!(packed.body.len() < 8_000, "{page}: {}", packed.body.len());
        assert!(packed.body.len() * 2 < plain.body.len(), "{page}: {}", packed.body.len());
    }
}

#[test]
fn every_answer_says_what_browsers_may_do() {
    let served = Served::begin();
    let browser = served.browser();
    let long = format!("/?{}", "a".repeat(30_000));
    for page in ["/", "/run", "/style.css", "/script.js", "/nowhere", "/runs/7", &long] {
        let answer = browser.get(page);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{page}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{page}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{page}");
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"), "{page}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{page}");
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"), "{page}");
        let text = answer.text();
        assert!(!text.contains("<style") && !text.contains("style=\""), "{page}");
    }
}

#[test]
fn a_password_lets_in_where_there_is_one() {
    let hash = hash_password("correct horse").unwrap();
    let served = Served::with(|config| Config { password_hash: Some(hash), ..config });
    let stranger = served.stranger();
    let home = stranger.get("/");
    assert_eq!((home.status, home.header("location")), (303, Some("/enter")));
    assert!(stranger.get("/enter").text().contains("type=\"password\""));
    let page = stranger.get("/run?place=0/photos");
    assert_eq!(page.header("location"), Some("/enter?to=/run%3Fplace%3D0/photos"));
    let asks = stranger.get(page.header("location").unwrap()).text();
    assert!(asks.contains("name=\"to\" value=\"/run?place=0/photos\""), "{asks}");
    let led = b"password=correct+horse&to=/run%3Fplace%3D0/photos";
    let led = stranger.send("POST", "/enter", &[], led).text();
    assert!(led.contains("content=\"0;url=/run?place=0/photos\""), "{led}");
    let wrong = stranger.send("POST", "/enter", &[], b"password=correct+hors");
    assert_eq!((wrong.status, wrong.header("set-cookie")), (403, None));
    let foreign = [("origin", "http://evil.example")];
    assert_eq!(stranger.send("POST", "/enter", &foreign, b"password=correct+horse").status, 403);
    let right = stranger.send("POST", "/enter", &[], b"password=correct+horse");
    assert_eq!(right.status, 200);
    let mut browser = served.stranger();
    browser.cookie = Some(right.cookie());
    assert_eq!(browser.get("/").status, 200);
}

#[test]
fn what_is_not_safe_is_not_begun() {
    let roots = vec![std::env::temp_dir()];
    let hash = Some(hash_password("x").unwrap());
    let elsewhere = "0.0.0.0:0".parse().unwrap();
    let tls = Some(Tls { certificates: b"none".to_vec(), key: b"none".to_vec() });
    let proxy = Some("https://nas.example".to_owned());
    let plain = Some("http://nas.example".to_owned());
    let behind = |origin: &Option<String>| PublicAddress {
        proxy_origin: origin.clone(),
        ..PublicAddress::default()
    };
    let usual = || Config { roots: roots.clone(), ..Config::default() };
    for (config, why) in [
        (Config { roots: Vec::new(), ..usual() }, "no folder"),
        (Config { listen: elsewhere, ..usual() }, "a certificate"),
        (Config { listen: elsewhere, password_hash: hash.clone(), ..usual() }, "a certificate"),
        (Config { listen: elsewhere, public: behind(&proxy), ..usual() }, "a certificate"),
        (Config { public: behind(&proxy), ..usual() }, "a password"),
        (Config { public: behind(&plain), password_hash: hash, ..usual() }, "no origin of a proxy"),
        (Config { password_hash: Some("plain".into()), ..usual() }, "argon2"),
        (Config { tls, ..usual() }, "the certificates"),
    ] {
        let error = Server::bind(config).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        assert!(error.to_string().contains(why), "{error}");
    }
    let records = Some("/nonexist".into());
    let error = Server::bind(Config { records, ..usual() }).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::System);
    let cause = std::error::Error::source(&error).and_then(|it| it.downcast_ref());
    assert_eq!(cause.map(std::io::Error::kind), Some(std::io::ErrorKind::NotFound), "{error}");
}

#[test]
fn pages_lie_beneath_a_path_of_a_proxy() {
    let served = Served::with(|config| Config {
        public: PublicAddress { base_path: "/of/steadfast".to_owned(), ..PublicAddress::default() },
        ..config
    });
    assert!(served.entrance.contains("/of/steadfast/enter?token="), "{}", served.entrance);
    let browser = served.browser();
    browser.ended(&browser.run("protect", "0/").replacen("/of/steadfast", "", 1));
    fs::write(served.at("photos/two.jpg"), "edited").unwrap();
    let run = browser.run("check", "0/");
    let run = run.strip_prefix("/of/steadfast").unwrap();
    assert!(browser.ended(run).contains("action=\"/of/steadfast/runs\""));
    let pages = ["/", "/of/steadfast", "/of/steadfast/", "/folders/0", "/folders/0/files", "/add"];
    let others = ["/run?place=0/", "/browse?place=0/", "/history?place=0/", "/drop", "/settings"];
    let all = pages.into_iter().chain(others).chain(["/measure", "/compare", "/code", run]);
    for page in all {
        let answer = browser.get(page);
        assert_eq!(answer.status, 200, "{page}");
        let text = answer.text();
        assert!(text.contains("href=\"/of/steadfast/style-"), "{text}");
        // Every attribute with an absolute path, whatever its name: an address, or a path to read.
        for (at, _) in text.match_indices("=\"/") {
            let name = text[..at].rsplit([' ', '\n']).next().unwrap();
            let is_address = text[at + 2..].starts_with("/of/steadfast/");
            let is_path = ["title", "value", "aria-label", "data-copy"].contains(&name);
            assert!(is_address || is_path, "{page}: {name}");
        }
    }
    let page = browser.get("/of/steadfast/").text();
    let style = between(&page, "rel=\"stylesheet\" href=\"", "\"");
    assert_eq!(browser.get(style).status, 200, "{style}");
    assert_eq!(browser.get("/of/steadfastly").status, 404);
    let bad = Config {
        public: PublicAddress { base_path: "/a/../b".to_owned(), ..PublicAddress::default() },
        roots: vec![".".into()],
        ..Config::default()
    };
    assert!(Server::bind(bad).is_err());
}
