//! What is shown of folders: all that is in them, some hundred at a time, and nothing else.

use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use steadfast::{Event, Monitor, Progress};
use steadfast_serve::Config;

use crate::browser::{SECRET, Served};

struct Silent;

impl Monitor for Silent {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn progress(&mut self, _progress: &Progress) {}
}

/// Tokens of places that are none: ways up, around and out, in every spelling.
const WAYS_OUT: [&str; 22] = [
    "0/..",
    "0/../",
    "0/photos/../..",
    "0/photos/2019/../../../",
    "0/%2e%2e",
    "0/%2E%2E/%2e%2e",
    "0/%252e%252e",
    "0/..%2f",
    "0/%2f",
    "0//",
    "0//etc",
    "0/%2Fetc%2Fpasswd",
    "0/way-out",
    "0/way-out/",
    "0/way-out/sesame-outside-the-root",
    "0/photos/%00",
    "0/%00/../..",
    "1/",
    "-1/",
    "99999999999999999999/",
    "/etc",
    "",
];

#[test]
fn nothing_leads_out_of_the_root() {
    let served = Served::begin();
    let browser = served.browser();
    let absolute = format!("0/{}", served.outside.path().join(SECRET).display());
    let long = format!("0/{}", "a/".repeat(3000));
    let name = format!("0/{}", "a".repeat(300));
    let mut ways: Vec<&str> = WAYS_OUT.to_vec();
    ways.extend([absolute.as_str(), &long, &name]);
    for way in ways {
        // Each as it is and once more encoded, as forms of this server write it.
        for spelt in [way.replace('%', "%25"), way.to_owned()] {
            for page in ["/browse", "/browse/part"] {
                let answer = browser.get(&format!("{page}?place={spelt}"));
                let text = answer.text();
                assert!(matches!(answer.status, 200 | 400 | 404), "{page} {spelt}: {text}");
                assert!(!text.contains(SECRET) && !text.contains("passwd"), "{page} {spelt}");
                let is_root = answer.status == 200 && text.contains("photos");
                assert!(answer.status != 200 || is_root, "{page} {spelt}: {text}");
            }
        }
    }
}

#[test]
fn no_run_leads_out_of_the_root() {
    let served = Served::begin();
    let browser = served.browser();
    for way in WAYS_OUT.iter().filter(|way| !way.ends_with("//")) {
        let form = format!("verb=tag&place={}", way.replace('%', "%25"));
        let answer = browser.post("/runs", &form);
        assert!(matches!(answer.status, 400 | 404), "{way}: {}", answer.status);
    }
    for way in ["0/way-out", "0/file-out"] {
        let answer = browser.post("/runs", &format!("verb=tag&place={way}"));
        assert_eq!(answer.status, 404, "{way}");
    }
    let outside = served.outside.path().join(SECRET);
    let tags = std::process::Command::new("getfattr").arg("-d").arg(&outside).output();
    if let Ok(tags) = tags {
        assert!(tags.stdout.is_empty(), "{}", String::from_utf8_lossy(&tags.stdout));
    }
}

/// A catalogue outside the roots: what is in its folder, with contents and times.
fn outside(folder: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut found: Vec<_> = fs::read_dir(folder.join(".steadfast"))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let modified = entry.metadata().unwrap().modified().unwrap();
            (entry.path(), fs::read(entry.path()).unwrap(), modified)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn no_run_and_no_drop_uses_a_catalogue_behind_a_link() {
    let served = Served::begin();
    let browser = served.browser();
    let victim = served.outside.path();
    let options = steadfast::Options::default();
    let _ = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([victim]),
        options.clone(),
    )
    .run(&mut Silent)
    .unwrap();
    let before = outside(victim);
    fs::create_dir(served.at("deep")).unwrap();
    symlink(victim, served.at("deep/link")).unwrap();
    fs::create_dir(victim.join("below")).unwrap();
    for place in ["way-out", "deep/link", "deep/link/below", "way-out/below"] {
        for verb in ["tag", "check", "update"] {
            let answer = browser.post("/runs", &format!("verb={verb}&place=0/{place}"));
            assert_eq!(answer.status, 404, "{verb} {place}");
        }
        let drop = browser.post("/drop", &format!("place=0/{place}"));
        if let Some(page) = drop.header("location") {
            browser.get(page);
        }
    }
    assert_eq!(outside(victim), before);
}

#[test]
fn a_link_planted_later_leads_nowhere() {
    let served = Served::begin();
    let browser = served.browser();
    assert_eq!(browser.get("/run?place=0/photos/2019").status, 200);
    fs::rename(served.at("photos"), served.at("moved")).unwrap();
    fs::create_dir(served.outside.path().join("2019")).unwrap();
    symlink(served.outside.path(), served.at("photos")).unwrap();
    let answer = browser.post("/runs", "verb=tag&place=0/photos/2019");
    assert_eq!(answer.status, 404);
    assert_eq!(browser.get("/browse?place=0/photos/2019").status, 404);
}

/// Nobody named what has the root's name now.
#[test]
fn a_root_that_becomes_a_link_is_served_no_more() {
    let served = Served::with(|config| {
        let roots = vec![config.roots[0].join("photos")];
        Config { roots, ..config }
    });
    let browser = served.browser();
    assert_eq!(browser.get("/browse?place=0/").status, 200);
    fs::rename(served.at("photos"), served.at("was")).unwrap();
    symlink(served.outside.path(), served.at("photos")).unwrap();
    assert_eq!(browser.get("/browse?place=0/").status, 404);
    for verb in ["tag", "init"] {
        assert_eq!(browser.post("/runs", &format!("verb={verb}&place=0/")).status, 404, "{verb}");
    }
    let measured = browser.post("/measure", "work=read&profile=quick&place=0/");
    assert_eq!(measured.status, 404);
    let drop = browser.post("/drop", &format!("place=0/{SECRET}"));
    for page in [drop.header("location").unwrap(), "/", "/history?place=0/", "/code?place=0/"] {
        let text = browser.get(page).text();
        assert!(!text.contains("Digests"), "{page}: {text}");
    }
    assert!(browser.get("/").text().contains("is not connected"));
    let left: Vec<_> = fs::read_dir(served.outside.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn names_of_any_bytes_are_shown_and_chosen() {
    let served = Served::begin();
    let hostile = OsStr::from_bytes(b"<script>alert(1)</script>&\"'\n\xff \xe2\x80\xae%41");
    let name = hostile.as_bytes().iter().filter(|byte| **byte != b'/').copied().collect::<Vec<_>>();
    fs::create_dir(served.tree.path().join(OsStr::from_bytes(&name))).unwrap();
    fs::write(served.tree.path().join(OsStr::from_bytes(&name)).join("in side"), "x").unwrap();
    let browser = served.browser();
    let text = browser.get("/browse?place=0/").text();
    assert!(!text.contains("<script>alert"), "{text}");
    let start = text.find("/browse/part?place=0/%253Cscript").expect("the name is a way");
    let way = &text[start..start + text[start..].find('"').unwrap()];
    let inside = browser.get(way);
    assert_eq!(inside.status, 200);
    assert!(inside.text().contains("in side"), "{}", inside.text());
    let run = browser.run("tag", way.split("place=").nth(1).unwrap());
    assert!(browser.ended(&run).contains("Tag of 1 file"));
}

#[test]
fn a_large_folder_comes_in_pages() {
    let served = Served::begin();
    let many = served.at("many");
    fs::create_dir(&many).unwrap();
    for number in 0..2100 {
        fs::write(many.join(format!("file {number:05}")), "").unwrap();
    }
    for number in 0..3 {
        fs::create_dir(many.join(format!("z{number}"))).unwrap();
    }
    let browser = served.browser();
    let mut page = "/browse/part?place=0/many".to_owned();
    let mut names = Vec::new();
    for round in 0.. {
        let text = browser.get(&page).text();
        let found = text.split("class=\"leaf\">").skip(1);
        names.extend(found.map(|rest| rest[..rest.find('<').unwrap()].to_owned()));
        assert!(text.len() < 200_000, "{} bytes", text.len());
        if round == 0 {
            assert_eq!(text.matches("<details").count(), 3, "folders come first");
        }
        let Some(at) = text.find("data-more=\"") else { break };
        let rest = &text[at + 11..];
        page = rest[..rest.find('"').unwrap()].replace("&amp;", "&");
    }
    assert_eq!(names.len(), 2100);
    assert!(names.is_sorted());
}
