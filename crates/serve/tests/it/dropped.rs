//! Files that are dropped or handed over: known, other than known, unknown; and nothing of them is
//! kept.

use std::fs;
use std::io::Write as _;

use steadfast::{Event, Options};
use steadfast_serve::{Config, Server};

use crate::browser::{Answer, Browser, PATIENCE, SECRET, Served, between, decay};

/// A server on a tagged tree with a catalogue.
fn known() -> (Served, Browser) {
    let served = Served::begin();
    let browser = served.browser();
    browser.ended(&browser.run("tag", "0/"));
    browser.ended(&browser.run("init", "0/"));
    (served, browser)
}

/// Sends a file as the script does.
pub(crate) fn send(browser: &Browser, drop: &str, name: &str, body: &[u8]) -> Answer {
    let lines = [("content-type", "application/octet-stream"), ("x-csrf", browser.csrf.as_str())];
    browser.send("POST", &format!("/drop/{drop}/file?name={name}"), &lines, body)
}

pub(crate) fn begin(browser: &Browser) -> String {
    let lines = [("content-type", "application/octet-stream"), ("x-csrf", browser.csrf.as_str())];
    let begun = browser.send("POST", "/drop/begin", &lines, b"");
    assert_eq!(begun.status, 200, "{}", begun.text());
    begun.text()
}

/// Waits until all files of a drop were looked at.
pub(crate) fn looked_up(browser: &Browser, at: &str) -> String {
    let since = std::time::Instant::now();
    loop {
        let page = browser.get(at).text();
        if !page.contains("http-equiv=\"refresh\"") {
            return page;
        }
        assert!(steadfast_testing::took_at_most(since, PATIENCE));
        std::thread::yield_now();
    }
}

/// The card of a file, with the title of its group.
fn row(page: &str, name: &str) -> String {
    let groups = page.split("<section class=\"panel group").skip(1);
    let mut cards = groups.flat_map(|group| {
        let title = between(group, "<h2", "</h2>");
        group.split("<article").skip(1).map(move |card| format!("{title} {card}"))
    });
    let found = cards.find(|card| card.contains(&format!("{name}</h3>")));
    found.unwrap_or_else(|| panic!("no {name} in {page}"))
}

#[test]
fn files_are_known_or_differ_or_are_unknown() {
    let (served, browser) = known();
    let drop = begin(&browser);
    let two = fs::read(served.at("photos/two.jpg")).unwrap();
    for (name, body) in [
        ("elsewhere/renamed.jpg", &two[..]),
        ("one.jpg", b"something else under that name"),
        ("new.jpg", b"never seen"),
        ("empty", b""),
    ] {
        assert_eq!(send(&browser, &drop, name, body).status, 200, "{name}");
    }
    let page = browser.get(&format!("/drop/{drop}")).text();
    let renamed = row(&page, "elsewhere/renamed.jpg");
    assert!(
        renamed.contains("here, and the same") && renamed.contains("photos/two.jpg"),
        "{renamed}"
    );
    assert!(renamed.contains("recorded <time datetime=\"20") && renamed.contains("sha256"));
    let one = row(&page, "one.jpg");
    assert!(one.contains("unlike the recorded") && one.contains("photos/one.jpg"), "{one}");
    assert!(row(&page, "new.jpg").contains("not known here"));
    assert!(row(&page, "empty").contains("not known here"));
    let order = ["unlike the recorded file", "2 files not known here", "1 file here, and the same"];
    let places: Vec<usize> = order.iter().map(|words| page.find(words).unwrap()).collect();
    assert!(places.is_sorted(), "what is wrong comes first: {places:?}");
    assert!(browser.get("/drop").text().contains("4 files"));
    // The last line is the command's, and can be kept.
    let last = between(&page, "<p class=\"mono\">", "</p>");
    let (known, other) = (two.len(), 30 + 10);
    assert_eq!(last, format!("4 files: 1 known ({known} B), 3 nowhere else ({other} B)"));
    let receipt = browser.get(&format!("/drop/{drop}/receipt"));
    let disposition = receipt.header("content-disposition").unwrap();
    assert!(disposition.starts_with("attachment"), "{disposition}");
    let (text, place) = (receipt.text(), served.at("photos/two.jpg"));
    let line = format!("known       elsewhere/renamed.jpg  = {}", place.display());
    assert!(text.contains(&line) && text.contains("\nunknown     new.jpg\n"), "{text}");
    assert!(text.ends_with(&format!("\n\n{last}\n")), "{text}");
}

#[test]
fn a_known_file_says_how_it_stood() {
    let (served, browser) = known();
    let two = fs::read(served.at("photos/two.jpg")).unwrap();
    fs::remove_file(served.at("photos/two.jpg")).unwrap();
    browser.ended(&browser.run("check", "0/"));
    let drop = begin(&browser);
    send(&browser, &drop, "found-again.jpg", &two);
    let page = browser.get(&format!("/drop/{drop}")).text();
    let row = row(&page, "found-again.jpg");
    assert!(row.contains("yours is good") && row.contains("That one: missing"), "{row}");
}

#[test]
fn a_folder_whose_volume_is_away_knows_no_file() {
    let (served, browser) = known();
    let two = fs::read(served.at("photos/two.jpg")).unwrap();
    fs::remove_dir_all(served.at("photos")).unwrap();
    for name in ["plain.txt", "way-out", "file-out"] {
        fs::remove_file(served.at(name)).unwrap();
    }
    let drop = begin(&browser);
    send(&browser, &drop, "two.jpg", &two);
    let page = browser.get(&format!("/drop/{drop}")).text();
    assert!(page.contains("is something not mounted?"), "{page}");
    assert!(row(&page, "two.jpg").contains("not known here"), "{page}");
}

#[test]
fn files_of_the_roots_are_judged_by_their_own_tags() {
    let (served, browser) = known();
    decay(&served.at("photos/one.jpg"));
    fs::write(served.at("untagged"), "new").unwrap();
    let places = "place=0/photos&place=0/untagged&place=0/plain.txt";
    let given = browser.get(&format!("/drop?{places}"));
    assert!(given.text().contains("id=\"given\""), "{}", given.text());
    let answer = browser.post("/drop", places);
    assert_eq!(answer.status, 303, "{}", answer.text());
    let page = looked_up(&browser, answer.header("location").unwrap());
    assert!(row(&page, "photos/one.jpg").contains("Damaged"), "{page}");
    assert!(row(&page, "photos/one.jpg").contains("unlike the recorded"), "{page}");
    assert!(row(&page, "photos/two.jpg").contains("Intact"));
    assert!(row(&page, "plain.txt").contains("here, and the same"));
    assert!(row(&page, "untagged").contains("not known here"));
    assert_eq!(browser.post("/drop", "place=0/../x").status, 404);
    assert_eq!(browser.post("/drop", "").status, 400);
    let out = browser.post("/drop", "place=0/way-out");
    let page = browser.get(out.header("location").unwrap_or("/drop/99"));
    assert!(!page.text().contains(SECRET), "{}", page.text());
}

/// As the command `known`: a record counts only while it describes what is there.
#[test]
fn contents_whose_recorded_file_changed_or_went_are_nowhere_else() {
    let (served, browser) = known();
    let drop = begin(&browser);
    let contents = |name: &str| fs::read(served.at(name)).unwrap();
    let [one, two] = ["photos/one.jpg", "photos/two.jpg"].map(contents);
    fs::write(served.at("photos/one.jpg"), "edited since").unwrap();
    for (name, body) in [("old.jpg", &one), ("same.jpg", &two)] {
        assert_eq!(send(&browser, &drop, name, body).status, 200);
    }
    let page = browser.get(&format!("/drop/{drop}")).text();
    let old = row(&page, "old.jpg");
    assert!(old.contains("not known here") && old.contains("That one changed since"), "{old}");
    assert!(page.contains("1 recorded place has changed since, or is gone"), "{page}");
    assert!(row(&page, "same.jpg").contains("here, and the same"));
}

#[test]
fn what_was_cut_short_or_has_no_name_is_not_taken() {
    let (_served, browser) = known();
    let drop = begin(&browser);
    for name in ["", "a%00b", "a/"] {
        assert_eq!(send(&browser, &drop, name, b"x").status, 400, "{name}");
    }
    assert_eq!(send(&browser, "99", "a", b"x").status, 404);
    // A form's bytes were taken for one before: those of a file would be lost.
    let form = browser.post(&format!("/drop/{drop}/file?name=form"), "a=b");
    assert_eq!(form.status, 400);
    // Another page's script has no token, and a form is none of this.
    let plain = [("content-type", "application/octet-stream")];
    assert_eq!(browser.send("POST", "/drop/begin", &plain, b"").status, 403);
    let cut = [
        ("content-type", "application/octet-stream"),
        ("x-csrf", browser.csrf.as_str()),
        ("content-length", "1000"),
    ];
    let mut stream = browser.connect();
    let request = browser.request("POST", &format!("/drop/{drop}/file?name=cut"), &cut, b"half");
    stream.write_all(&request).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_ne!(Answer::read(stream).status, 200);
    let page = browser.get(&format!("/drop/{drop}")).text();
    assert!(!page.contains("cut</h3>"), "{page}");
}

#[test]
fn without_a_catalogue_nothing_is_claimed() {
    let served = Served::begin();
    let browser = served.browser();
    let drop = begin(&browser);
    send(&browser, &drop, "one.jpg", &fs::read(served.at("photos/one.jpg")).unwrap());
    let page = browser.get(&format!("/drop/{drop}")).text();
    assert!(page.contains("None of the folders has a catalogue"), "{page}");
    assert!(row(&page, "one.jpg").contains("not known here"));
}

#[test]
fn a_running_server_gives_tickets_to_its_owner_alone() {
    let (served, browser) = known();
    let token = served.desk().split_once("token=").unwrap().1;
    let path = |name: &str| served.at(name).canonicalize().unwrap().display().to_string();
    let stranger = served.stranger();
    let ask = |token: &str, paths: &[String]| {
        let paths: String = paths.iter().map(|path| format!("&path={path}")).collect();
        stranger.get(&format!("/ticket?token={token}{paths}"))
    };
    assert_eq!(ask("x", &[path("plain.txt")]).status, 401);
    assert_eq!(ask(token, &["/etc/passwd".to_owned()]).status, 404);
    let answer = ask(token, &[path("plain.txt"), path("photos/one.jpg")]);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let address = answer.text();
    assert!(!address.contains(token) && address.contains("/enter?ticket="), "{address}");
    let door = &address[address.find("/enter").unwrap()..];
    let welcome = stranger.get(door);
    assert_eq!(welcome.status, 200);
    assert!(welcome.text().contains("/drop?given=1"), "{}", welcome.text());
    let given = browser.get("/drop?given=1").text();
    assert!(given.contains("plain.txt") && given.contains("photos/one.jpg"), "{given}");
    assert_eq!(browser.post("/drop", "given=1").status, 303);
    assert_eq!(browser.post("/drop", "given=9").status, 404);
    assert_eq!(stranger.get(door).status, 401, "a ticket is good once");
    // A folder of a larger tree is offered to be checked, one with a catalogue has its own page.
    let page = |path: String| ask(token, &[path]).text().rsplit_once("&to=").unwrap().1.to_owned();
    assert_eq!(page(path("photos")), "/run%3Fplace%3D0/photos");
    assert_eq!(browser.get("/run?place=0/photos").status, 200);
    assert_eq!(page(path("")), "/folders/0");
    let photos = served.at("photos").canonicalize().unwrap();
    let made = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([&photos]),
        Options::default(),
    )
    .run(&mut |_: &Event| {});
    assert!(made.is_ok(), "{made:?}");
    assert_eq!(page(path("photos")), "/folders/1");
    assert!(browser.get("/folders/1").text().contains("photos"));
}

/// Nothing is recorded of it, so protecting it is the next step.
#[test]
fn a_folder_that_is_not_protected_is_offered_to_be() {
    let served = Served::begin();
    let stranger = served.stranger();
    let tree = served.tree.path().canonicalize().unwrap();
    for (path, page) in
        [(tree.clone(), "/add%3Fplace%3D0/"), (tree.join("photos"), "/add%3Fplace%3D0/photos")]
    {
        let ticket = stranger.get(&format!("{}&path={}", served.desk(), path.display())).text();
        assert!(ticket.ends_with(&format!("&to={page}")), "{ticket}");
    }
}

/// However many there are, and however long their names: an address has no room for them.
#[test]
fn what_is_handed_over_is_kept_under_a_number() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = folder.path().canonicalize().unwrap();
    let names = (0..700).map(|number| root.join(format!("{}{number}", "ä".repeat(60))));
    let paths: Vec<_> = names.inspect(|path| fs::write(path, "x").unwrap()).collect();
    let server = Server::bind(Config { roots: vec![root], ..Config::default() }).unwrap();
    assert_eq!(server.page_of(&paths), "/drop?given=1");
}

#[test]
fn more_files_than_are_looked_at_are_said_to_be_there() {
    let served = Served::begin();
    let browser = served.browser();
    for (folder, files) in [("full", 1000), ("over", 1001)] {
        fs::create_dir(served.at(folder)).unwrap();
        for number in 0..files {
            fs::write(served.at(&format!("{folder}/{number}")), "").unwrap();
        }
        let drop = browser.post("/drop", &format!("place=0/{folder}"));
        let page = looked_up(&browser, drop.header("location").unwrap());
        let told = page.contains("were not looked up");
        assert_eq!(told, files > 1000, "{folder}");
        assert_eq!(page.contains(&format!("/run?place=0/{folder}\"")), told, "{folder}");
    }
}
