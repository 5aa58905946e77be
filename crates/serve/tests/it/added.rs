//! Folders that a page adds: beneath the named ones only, and away again.

use std::fs;

use steadfast_serve::Config;

use crate::browser::{Served, between};

#[test]
fn a_folder_beneath_a_named_one_is_added_and_removed() {
    let served = Served::begin();
    let browser = served.browser();
    let add = |place: &str| browser.post("/folders/add", &format!("then=show&place={place}"));
    let added = add("0/photos/2019");
    assert_eq!((added.status, added.header("location")), (303, Some("/folders/1")));
    assert_eq!(add("0/photos/2019").header("location"), Some("/folders/1"), "once");
    assert_eq!(add("0/").header("location"), Some("/folders/0"));
    let home = browser.get("/").text();
    assert!(home.contains("id=\"root-0\"") && home.contains("id=\"root-1\""), "{home}");
    assert!(browser.get("/browse?place=1/").text().contains("three.jpg"));
    assert!(browser.get("/folders/1").text().contains("/folders/1/remove"));
    assert!(!browser.get("/folders/0").text().contains("/folders/0/remove"));
    for nothing in ["0/way-out", "0/way-out/x", "0/plain.txt", "0/gone", "0/..", "2/", ""] {
        let status = add(nothing).status;
        assert!(status == 404 || status == 400, "{nothing}: {status}");
    }
    assert_eq!(browser.post("/folders/0/remove", "").status, 404, "the owner named it");
    assert_eq!(browser.post("/folders/1/remove", "").status, 303);
    for gone in ["/folders/1", "/browse?place=1/", "/folders/1/files"] {
        assert_eq!(browser.get(gone).status, 404, "{gone}");
    }
    assert!(!browser.get("/").text().contains("id=\"root-1\""));
    assert_eq!(add("0/photos/2019").header("location"), Some("/folders/1"), "and back");
}

#[test]
fn it_is_told_what_protecting_comes_to() {
    let served = Served::begin();
    let browser = served.browser();
    let plan = browser.get("/add?place=0/photos").text();
    assert!(plan.contains("3 files; 85 "), "{plan}");
    assert!(plan.contains(".steadfast") && plan.contains("less than a second"), "{plan}");
    assert!(browser.get("/add?place=0/plain.txt").text().contains("not a folder"));
    let begun = browser.post("/folders/add", "then=protect&place=0/photos");
    let run = begun.header("location").unwrap().to_owned();
    let page = browser.ended(&run);
    assert!(page.contains("3 files are protected now"), "{page}");
    let verdict = between(&page, "class=\"verdict\"", "</h1>");
    assert!(verdict.contains("i-recorded") && !verdict.contains("good"), "not compared: {verdict}");
    assert!(page.contains("href=\"/folders/1\""), "{page}");
    assert!(served.at("photos/.steadfast").is_dir() && !served.at(".steadfast").exists());
    let plan = browser.get("/add?place=0/photos").text();
    assert!(
        plan.contains("3 files, all recorded already"),
        "those with a tag are not read: {plan}"
    );
}

#[test]
fn what_was_protected_is_shown_again() {
    let state = tempfile::tempdir().unwrap();
    let trees = Some(state.path().join("trees"));
    let served = Served::with(|config| Config { trees: trees.clone(), ..config });
    let browser = served.browser();
    let begun = browser.post("/folders/add", "then=protect&place=0/photos");
    browser.ended(begun.header("location").unwrap());
    let again = Served::with(|config| {
        let roots = vec![served.tree.path().to_owned()];
        Config { trees: trees.clone(), roots, ..config }
    });
    let home = again.browser().get("/").text();
    assert!(home.contains("id=\"root-1\"") && home.contains("photos"), "{home}");
    fs::rename(served.at("photos"), served.at("moved")).unwrap();
    std::os::unix::fs::symlink("moved", served.at("photos")).unwrap();
    let again = Served::with(|config| {
        let roots = vec![served.tree.path().to_owned()];
        Config { trees, roots, ..config }
    });
    assert!(!again.browser().get("/").text().contains("id=\"root-1\""), "a link has no card");
}

#[test]
fn a_single_file_is_served_alone() {
    let served = Served::with(|mut config| {
        config.files = vec![config.roots.remove(0).join("plain.txt")];
        config
    });
    let browser = served.browser();
    let home = browser.get("/").text();
    assert!(home.contains("Only single files") && !home.contains("exactly as recorded"), "{home}");
    assert_eq!(browser.get("/run?place=0/plain.txt").status, 200);
    for place in ["0/", "0/photos", "0/photos/one.jpg", "0/way-out"] {
        for page in ["run", "browse", "history", "code", "add"] {
            let status = browser.get(&format!("/{page}?place={place}")).status;
            assert_eq!(status, 404, "{page} {place}");
        }
    }
    for page in ["/activity", "/drop", "/code", "/measure", "/settings", "/history", "/run"] {
        let answer = browser.get(page);
        assert!(answer.status == 200 && !answer.text().contains("photos"), "{page}");
    }
    let checked = browser.ended(&browser.run("check", "0/plain.txt"));
    assert!(checked.contains("Nothing could be compared"), "{checked}");
}

#[test]
fn a_folder_is_chosen_without_opening_another_first() {
    let served = Served::begin();
    let page = served.browser().get("/add").text();
    let listed = between(&page, "class=\"tree\"", "</ul>");
    assert!(listed.contains("href=\"/add?place=0/photos\""), "{listed}");
    assert!(!listed.contains("plain.txt") && !listed.contains("way-out"), "{listed}");
    // Where there is nothing to choose, the page says so.
    fs::remove_dir_all(served.at("photos")).unwrap();
    let page = served.browser().get("/add").text();
    assert!(page.contains("There is no folder in it."), "{page}");
}
