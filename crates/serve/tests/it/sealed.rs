//! Seals of code and the memory of the catalogue, as pages.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::browser::{SECRET, Served, between, decay};

/// A signed tool for macOS, small enough to be among the samples.
fn tool() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign/signed-tool");
    fs::read(path).unwrap()
}

#[test]
fn a_damaged_page_is_on_the_map() {
    let served = Served::begin();
    let browser = served.browser();
    let mut bytes = tool();
    fs::write(served.at("tool"), &bytes).unwrap();
    let page = browser.get("/code?place=0/tool").text();
    assert!(page.contains("map-sealed") && !page.contains("map-damaged"), "{page}");
    assert!(page.contains("The three verdicts") && page.contains("intact"), "{page}");
    bytes[5000] ^= 1;
    fs::write(served.at("tool"), &bytes).unwrap();
    let page = browser.get("/code?place=0/tool").text();
    assert!(page.contains("map-damaged") && page.contains("page-damaged"), "{page}");
    let legend = between(&page, "class=\"legend\"", "</ul>");
    assert!(legend.contains("sealed") && legend.contains("damaged"), "{legend}");
}

#[test]
fn a_page_states_what_the_findings_come_to() {
    let served = Served::begin();
    let browser = served.browser();
    fs::write(served.at("tool"), tool()).unwrap();
    let page = browser.get("/code?place=0/tool").text();
    assert!(page.contains("Not verified: ") && page.contains("unverified"), "{page}");
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign/Demo.app");
    let copied = Command::new("cp").arg("-a").arg(app).arg(served.at("Demo.app")).status();
    assert!(copied.unwrap().success());
    fs::write(served.at("Demo.app/Contents/Resources/a.txt"), "edited").unwrap();
    // The path of the main executable stands for the application.
    let page = browser.get("/code?place=0/Demo.app/Contents/MacOS/demo").text();
    assert!(page.contains("resource-modified") && page.contains("Refused: "), "{page}");
}

#[test]
fn all_code_of_a_folder_is_on_one_page() {
    let served = Served::begin();
    let browser = served.browser();
    fs::create_dir_all(served.at("tools/deep")).unwrap();
    fs::write(served.at("tools/one"), tool()).unwrap();
    fs::write(served.at("tools/deep/two"), tool()).unwrap();
    let pack = ["-czf", "tools.tgz", "tools"];
    let packed = Command::new("tar").args(pack).current_dir(served.at("")).status();
    assert!(packed.unwrap().success());
    for place in ["tools", "tools.tgz"] {
        let page = browser.get(&format!("/code?place=0/{place}")).text();
        assert_eq!(page.matches("Not verified: ").count(), 2, "{page}");
        assert!(page.contains("deep/two") && page.contains("/one"), "{page}");
    }
}

#[test]
fn what_is_no_code_says_so_and_nothing_outside_is_read() {
    let served = Served::begin();
    let browser = served.browser();
    let page = browser.get("/code?place=0/plain.txt");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("cannot be read as signed code"), "{}", page.text());
    for place in ["0/way-out", "0/file-out", "0/photos"] {
        let page = browser.get(&format!("/code?place={place}")).text();
        assert!(!page.contains(SECRET) && page.contains("cannot be read as signed code"), "{page}");
    }
    assert_eq!(browser.get("/code?place=0/absent").status, 404);
    assert_eq!(browser.get("/code?place=0/..").status, 404);
    let choose = browser.get("/code").text();
    assert!(choose.contains("/browse/part?for=code&amp;place=0/"), "{choose}");
    let tree = browser.get("/browse/part?for=code&place=0/").text();
    assert!(tree.contains("/code?place=0/plain.txt") && !tree.contains("/run?"), "{tree}");
}

#[test]
fn the_catalogue_tells_of_runs_and_of_each_file() {
    let served = Served::begin();
    let browser = served.browser();
    assert!(browser.get("/history").text().contains("has no catalogue"));
    browser.ended(&browser.run("tag", "0/"));
    browser.ended(&browser.run("init", "0/"));
    decay(&served.at("photos/two.jpg"));
    browser.ended(&browser.run("check", "0/"));
    let all = browser.get("/history?place=0/").text();
    assert!(all.contains("2 runs, the latest first") && all.contains("corrupt"), "{all}");
    let file = browser.get("/history?place=0/photos/two.jpg").text();
    assert!(file.contains("Its life so far") && file.contains("Found damaged"), "{file}");
    let folder = browser.get("/history?place=0/photos").text();
    assert!(folder.contains("Runs over all of"), "{folder}");
    let other = browser.get("/history?place=0/never").text();
    assert!(other.contains("does not contain this path"), "{other}");
    assert_eq!(browser.get("/history?place=0/../x").status, 404);
}
