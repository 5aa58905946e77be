//! Each safety rule, tried at each surface: the command, the browser, a schedule and the library.
//!
//! A rule that holds at one surface holds at all. A cell of the matrix is one function call; what
//! it must leave behind is the same for the whole row.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use steadfast::{Error, ErrorKind, Event, FolderState, Run, Summary, Verb};
use steadfast_serve::{Config, Server};

use steadfast_testing::{Need, skip};

use crate::repair_harm::Mounted;
use crate::tree::{Outcome, Tree};

/// A way to reach the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surface {
    Command,
    Browser,
    Schedule,
    Library,
}

const ALL: [Surface; 4] = [Surface::Command, Surface::Browser, Surface::Schedule, Surface::Library];

/// What a person asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Check,
    Update,
}

/// What a surface answered.
#[derive(Debug)]
struct Answer {
    /// The exit status; `None` at a surface that has none.
    status: Option<i32>,
    text: String,
}

impl Answer {
    /// Says whether the answer claims that all is well.
    fn is_fine(&self) -> bool {
        match self.status {
            Some(status) => status == 0,
            None => self.text.contains("Nothing is wrong") || self.text.contains("No fault"),
        }
    }
}

/// A catalogued folder `photos` of 100 files, in a home of its own.
pub(crate) struct House {
    pub(crate) tree: Tree,
}

impl House {
    pub(crate) fn new() -> House {
        let mut tree = Tree::new();
        for number in 0..100 {
            let contents = format!("photograph {number}");
            tree = tree.file(format!("photos/{}/{number}", number % 4), contents.as_bytes());
        }
        fs::create_dir_all(tree.state("home")).unwrap();
        let house = House { tree };
        house.run(&["init", "--tags-only", "photos"]).succeeds();
        house.run(&["tag", "photos"]).succeeds();
        house.run(&["check", "photos"]).succeeds();
        house
    }

    pub(crate) fn photos(&self) -> PathBuf {
        self.tree.path("photos")
    }

    pub(crate) fn photo(&self, number: usize) -> PathBuf {
        self.photos().join(format!("{}/{number}", number % 4))
    }

    pub(crate) fn run(&self, words: &[&str]) -> Outcome {
        self.run_ahead(words, "0")
    }

    /// Runs the command with a clock that is ahead by some seconds.
    pub(crate) fn run_ahead(&self, words: &[&str], ahead_s: &str) -> Outcome {
        let mut command = self.tree.command(words);
        command.env("HOME", self.tree.state("home")).env("STEADFAST_AHEAD_S", ahead_s);
        command
            .env("STEADFAST_IGNORE_CTIME", "1")
            .env("XDG_STATE_HOME", self.tree.state("home/state"));
        command.env("XDG_CONFIG_HOME", self.tree.state("home/config"));
        Outcome::of(&mut command)
    }

    /// Asks a surface.
    fn ask(&self, surface: Surface, wish: Wish) -> Answer {
        self.ask_after(surface, wish, || {})
    }

    /// Asks a surface after something happened to the folder. A schedule was added before that.
    fn ask_after(&self, surface: Surface, wish: Wish, happens: impl FnOnce()) -> Answer {
        if surface == Surface::Schedule {
            let mut words = vec!["schedule", "add", "photos", "--timer", "manual", "--cover", "1d"];
            words.extend(["--name", "photos"]);
            words.extend((wish == Wish::Update).then_some("--update"));
            self.run(&words).succeeds();
        }
        happens();
        match (surface, wish) {
            (Surface::Command, Wish::Check) => answer(self.run(&["check", "photos"])),
            (Surface::Command, Wish::Update) => answer(self.run(&["update", "photos"])),
            (Surface::Schedule, _) => {
                let night = answer(self.run(&["schedule", "run", "--now", "photos"]));
                self.run(&["schedule", "remove", "photos"]).succeeds();
                night
            }
            (Surface::Library, Wish::Check) => self.library(Verb::check()),
            (Surface::Library, Wish::Update) => self.library(Verb::update()),
            (Surface::Browser, Wish::Check) => self.browser("check"),
            (Surface::Browser, Wish::Update) => self.browser("update"),
        }
    }

    fn library(&self, verb: Verb) -> Answer {
        let mut text = String::new();
        let mut listen = |event: &Event| {
            if let Event::Notice(notice) = event {
                text.push_str(&notice.to_string());
            }
        };
        let trees = self.tree.state("home/state/steadfast/trees");
        let run = Run::new(verb, [self.photos()])
            .options(|options| options.catalogue.trees = Some(trees));
        let done: Result<Summary, Error> = run.run(&mut listen);
        match done {
            Ok(summary) => Answer { status: Some(summary.exit_status().code().into()), text },
            Err(error) => Answer { status: Some(2), text: error.to_string() },
        }
    }

    /// Starts a run on a page and returns the page of its end.
    fn browser(&self, verb: &str) -> Answer {
        Answer { status: None, text: self.serve(|client, entrance| client.run(entrance, verb)) }
    }

    /// Serves the folder while something talks to the server. A server that does not begin says
    /// why.
    pub(crate) fn serve(&self, talk: impl FnOnce(Client, &str) -> String) -> String {
        let config = Config { roots: vec![self.photos()], ..Config::default() };
        let server = match Server::bind(config) {
            Ok(server) => server,
            Err(error) => return format!("{error:?}"),
        };
        let client = Client { host: server.bound().to_string(), cookie: String::new() };
        let entrance = server.address();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || server.run(&flag));
        let text = talk(client, &entrance);
        stop.store(true, Ordering::Relaxed);
        thread.join().unwrap().unwrap();
        text
    }

    /// Overwrites files, as a program that encrypts a disk would.
    pub(crate) fn overwrite(&self, count: usize) {
        for number in 0..count {
            fs::write(self.photo(number), format!("encrypted photograph {number}")).unwrap();
        }
    }

    /// Returns how many files have other contents than their tags.
    fn modified(&self) -> usize {
        let said = self.run(&["check", "--json", "photos"]);
        said.objects().iter().filter(|object| object["verdict"] == "modified").count()
    }
}

fn answer(said: Outcome) -> Answer {
    let text = format!("{}{}", said.stdout(), said.stderr());
    Answer { status: Some(said.status), text }
}

/// What talks to a server.
pub(crate) struct Client {
    host: String,
    cookie: String,
}

impl Client {
    /// Enters, and returns a page.
    pub(crate) fn page(mut self, entrance: &str, page: &str) -> String {
        self.enter(entrance);
        self.send(page, None)
    }

    fn enter(&mut self, entrance: &str) {
        let page = self.send(&entrance[entrance.find("/enter").unwrap()..], None);
        let cookie = page.split("set-cookie: ").nth(1).expect("the entrance sets a cookie");
        self.cookie = cookie.split(';').next().unwrap().to_owned();
    }

    /// Enters, starts a run of the first folder, waits for its end, and returns its page.
    fn run(mut self, entrance: &str, verb: &str) -> String {
        self.enter(entrance);
        let home = self.send("/", None);
        let csrf = home.split("data-csrf=\"").nth(1).unwrap().split('"').next().unwrap();
        let begun = self.send("/runs", Some(format!("csrf={csrf}&verb={verb}&place=0/&pace=2")));
        let Some(run) = begun.split("location: ").nth(1) else { return begun };
        let run = run.split_whitespace().next().unwrap();
        let mut events = BufReader::new(self.open(&format!("{run}/events"), None));
        let mut line = String::new();
        while events.read_line(&mut line).unwrap() > 0 && !line.contains("event: over") {
            line.clear();
        }
        self.send(run, None)
    }

    fn send(&self, page: &str, form: Option<String>) -> String {
        let mut bytes = Vec::new();
        self.open(page, form).read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn open(&self, page: &str, form: Option<String>) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let Client { host, cookie } = self;
        let always = format!("host: {host}\r\ncookie: {cookie}\r\nconnection: close\r\n");
        let request = match form {
            None => format!("GET {page} HTTP/1.1\r\n{always}\r\n"),
            Some(form) => format!(
                "POST {page} HTTP/1.1\r\n{always}origin: http://{host}\r\ncontent-type: \
                 application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
                form.len()
            ),
        };
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }
}

#[test]
fn nothing_accepts_a_mass_change_unasked() {
    for surface in ALL {
        let house = House::new();
        house.overwrite(60);
        let said = house.ask(surface, Wish::Update);
        assert!(!said.is_fine(), "{surface:?}: {said:?}");
        assert!(said.text.contains("60 of 100 files"), "{surface:?}: {}", said.text);
        assert_eq!(house.modified(), 60, "{surface:?}");
    }
}

/// What a check advises can be done: it says what an update asks, and no more than that.
#[test]
fn a_check_says_when_an_update_will_ask() {
    let house = House::new();
    house.overwrite(60);
    let said = house.run(&["check", "photos"]).ends(1);
    let alarm = "60 of 100 files are missing or modified at once: is the right disk mounted?\n60 \
                 files were edited. If that was you: steadfast update --accept-many photos\n";
    assert!(said.stdout().ends_with(alarm), "{}", said.stdout());
    let said = house.run(&["check", "--json", "photos"]).ends(1);
    assert_eq!(said.summary()["many_at_once"], 60);
    house.run(&["update", "--accept-many", "photos"]).succeeds();
    (0..5).for_each(|number| fs::write(house.photo(number), "another").unwrap());
    let said = house.run(&["check", "photos"]).ends(1);
    assert!(said.stdout().ends_with("steadfast update photos\n"), "{}", said.stdout());
    house.run(&["update", "photos"]).succeeds();
    // Most of a part is little of the whole.
    fs::write(house.photo(0), "yet another").unwrap();
    let part = house.photo(0);
    let said = house.run(&["check", part.to_str().unwrap()]).ends(1);
    assert!(!said.stdout().contains("at once"), "{}", said.stdout());
}

#[test]
fn a_mass_change_that_a_check_has_seen_is_not_thereby_accepted() {
    for surface in ALL {
        let house = House::new();
        for number in 0..100 {
            let path = house.photo(number);
            let locked = path.with_extension("locked");
            fs::write(locked, format!("encrypted photograph {number}")).unwrap();
            fs::remove_file(path).unwrap();
        }
        house.run(&["check", "photos"]).ends(1);
        let said = house.ask(surface, Wish::Update);
        assert!(!said.is_fine(), "{surface:?}: {said:?}");
        assert!(said.text.contains("100 of 200 files"), "{surface:?}: {}", said.text);
        let failures = house.run(&["check", "--json", "photos"]);
        assert_eq!(failures.summary()["verdicts"]["missing"], 100, "{surface:?}");
    }
}

/// Leaves a repair in place half done.
fn cut_off(house: &House) {
    fs::create_dir(house.tree.path("copy")).unwrap();
    let film: Vec<u8> = (0..30_000_u32).map(|at| (at / 13 % 251) as u8).collect();
    fs::write(house.photos().join("film"), &film).unwrap();
    fs::copy(house.photos().join("film"), house.tree.path("copy/film")).unwrap();
    house.run(&["tag", "photos"]).succeeds();
    let path = house.photos().join("film");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let mut damaged = film;
    (damaged[5], damaged[20_000]) = (0xfe, 0xfe);
    fs::write(&path, damaged).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    // SQLite writes by the same call.
    let words = ["repair", "--no-catalogue", "--in-place", "--yes", "--from", "copy", "photos"];
    let command = house.tree.command(words);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-e", "signal=none", "-e", "trace=pwrite64"]);
    traced.args(["-e", "inject=pwrite64:signal=KILL:when=2", "-o", "/dev/null"]);
    traced.arg(command.get_program()).args(words).current_dir(house.tree.path(""));
    traced.env("STEADFAST_IGNORE_CTIME", "1").env("XDG_STATE_HOME", house.tree.state("home/state"));
    let _ = traced.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

#[test]
fn a_repair_that_was_cut_off_is_told_and_never_tagged() {
    if steadfast_testing::program("strace").is_none() {
        return;
    }
    for surface in ALL {
        let house = House::new();
        cut_off(&house);
        let said = house.ask(surface, Wish::Check);
        assert!(said.text.contains("cut off"), "{surface:?}: {}", said.text);
        assert!(!said.is_fine(), "{surface:?}");
        let said = house.ask(surface, Wish::Update);
        assert!(!said.is_fine() && said.text.contains("cut off"), "{surface:?}: {}", said.text);
        let shown = house.run(&["repair", "--yes", "--from", "copy", "photos"]);
        assert!(shown.status != 1, "{surface:?}: {}", shown.stdout());
        house.run(&["check", "photos"]).succeeds();
    }
}

#[test]
fn an_empty_root_is_not_a_mass_deletion() {
    for surface in ALL {
        for wish in [Wish::Check, Wish::Update] {
            let house = House::new();
            let said = house.ask_after(surface, wish, || {
                for folder in 0..4 {
                    fs::remove_dir_all(house.photos().join(folder.to_string())).unwrap();
                }
            });
            assert!(!said.is_fine(), "{surface:?} {wish:?}: {said:?}");
            let shown = house.run(&["show", "--history", "photos", "--json"]);
            assert!(!shown.stdout().contains("dropped"), "{surface:?} {wish:?}");
        }
    }
}

#[test]
fn a_folder_that_is_gone_is_not_fine() {
    for surface in ALL {
        for wish in [Wish::Check, Wish::Update] {
            let house = House::new();
            let elsewhere = house.tree.path("elsewhere");
            let said =
                house.ask_after(surface, wish, || fs::rename(house.photos(), elsewhere).unwrap());
            assert!(!said.is_fine(), "{surface:?} {wish:?}: {said:?}");
        }
    }
}

#[test]
fn a_volume_that_is_not_mounted_has_lost_nothing() {
    for surface in ALL {
        for wish in [Wish::Check, Wish::Update] {
            for place in ["photos", "photos/disk"] {
                let house = House::new();
                fs::remove_dir_all(house.photos()).unwrap();
                fs::create_dir_all(house.tree.path(place)).unwrap();
                let Some(mounted) = Mounted::at(&house.tree.path(place)) else {
                    return skip(Need::Root, "nothing can be mounted");
                };
                fs::write(house.tree.path(place).join("film"), "film").unwrap();
                house.run(&["init", "--tags-only", "photos"]).succeeds();
                if house.run(&["tag", "photos"]).status != 0 {
                    return skip(Need::System("attributes on tmpfs"), "nothing can be tagged");
                }
                let said = house.ask_after(surface, wish, || drop(mounted));
                assert!(!said.is_fine(), "{surface:?} {wish:?} {place}: {said:?}");
                for (asked, said) in answers(&house) {
                    let is_root = place == "photos";
                    assert!(is_root || said == Some(2), "{surface:?} {wish:?}: {asked}: {said:?}");
                }
            }
        }
    }
}

/// Runs a test once more as a user who may not read everything, if root runs it. Returns whether it
/// was root.
fn ran_as_user(test: &str) -> bool {
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() != 0) {
        return false;
    }
    let everybody = fs::Permissions::from_mode(0o1777);
    fs::set_permissions(env!("CARGO_TARGET_TMPDIR"), everybody).unwrap();
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", test]).uid(12_345).gid(12_345);
    let said = Outcome::of(&mut again);
    assert!(said.stdout().contains("1 passed"), "{}{}", said.stdout(), said.stderr());
    true
}

#[test]
fn a_folder_that_cannot_be_read_is_told_and_has_lost_nothing() {
    if ran_as_user("matrix::a_folder_that_cannot_be_read_is_told_and_has_lost_nothing") {
        return;
    }
    for surface in ALL {
        for wish in [Wish::Check, Wish::Update] {
            let house = House::new();
            let mode = |mode| fs::Permissions::from_mode(mode);
            fs::set_permissions(house.photos().join("2"), mode(0o000)).unwrap();
            let said = house.ask(surface, wish);
            for (asked, told) in answers(&house) {
                assert_eq!(told, Some(2), "{surface:?} {wish:?}: {asked}");
            }
            fs::set_permissions(house.photos().join("2"), mode(0o755)).unwrap();
            assert!(!said.is_fine(), "{surface:?} {wish:?}: {said:?}");
            assert!(said.status.is_none_or(|status| status == 2), "{surface:?} {wish:?}: {said:?}");
            house.run(&["check", "photos"]).succeeds();
            let shown = house.run(&["show", "--history", "photos", "--json"]);
            assert!(!shown.stdout().contains("dropped"), "{surface:?} {wish:?}");
        }
    }
}

#[test]
fn the_catalogue_of_another_tree_judges_nothing() {
    for surface in ALL {
        for wish in [Wish::Check, Wish::Update] {
            let house = House::new();
            let other = house.tree.path("other");
            fs::create_dir(&other).unwrap();
            fs::write(other.join("0"), "another photograph").unwrap();
            house.run(&["init", "--tags-only", "other"]).succeeds();
            // Its catalogue was copied to another disk.
            let said = house.ask_after(surface, wish, || {
                other_disk(&house);
                fs::rename(other.join(".steadfast"), house.photos().join(".steadfast")).unwrap();
            });
            assert!(!said.is_fine(), "{surface:?} {wish:?}: {said:?}");
        }
    }
}

/// Mounts another disk in the place of the folder, which is `away` then.
fn other_disk(house: &House) {
    fs::rename(house.photos(), house.tree.path("away")).unwrap();
    fs::create_dir(house.photos()).unwrap();
    fs::write(house.photos().join("new"), "another disk").unwrap();
}

#[test]
fn another_disk_in_its_place_is_not_fine_and_the_folder_has_lost_nothing() {
    for surface in ALL {
        for wish in [Wish::Check, Wish::Update] {
            let house = House::new();
            let said = house.ask_after(surface, wish, || other_disk(&house));
            assert!(!said.is_fine(), "{surface:?} {wish:?}: {said:?}");
            fs::remove_dir_all(house.photos()).unwrap();
            fs::rename(house.tree.path("away"), house.photos()).unwrap();
            house.run(&["check", "photos"]).succeeds();
            let shown = house.run(&["show", "--history", "photos", "--json"]);
            assert!(!shown.stdout().contains("dropped"), "{surface:?} {wish:?}");
        }
    }
}

#[test]
fn an_option_that_a_verb_does_not_have_is_refused_and_not_ignored() {
    for surface in ALL {
        let house = House::new();
        house.overwrite(1);
        fs::write(house.photos().join("new"), "a new photograph").unwrap();
        let said = match surface {
            Surface::Command => answer(house.run(&["check", "--accept-many", "photos"])),
            Surface::Browser => Answer {
                status: None,
                text: house.serve(|client, entrance| client.run(entrance, "check&many=1")),
            },
            Surface::Schedule => {
                let words = ["schedule", "add", "photos", "--timer", "manual", "--accept-many"];
                answer(house.run(&words))
            }
            // What another verb has does not compile; see `Verb`.
            Surface::Library => {
                let run = Run::init(house.photos()).dry_run();
                let error = run.run(&mut |_: &Event| {}).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Usage);
                Answer { status: Some(2), text: error.to_string() }
            }
        };
        let is_refused = match said.status {
            Some(status) => status == 2,
            None => said.text.starts_with("HTTP/1.1 400 "),
        };
        assert!(is_refused, "{surface:?}: {said:?}");
        let listed = house.run(&["schedule", "list"]).succeeds();
        assert!(!listed.stdout().contains("photos"), "{surface:?}: {}", listed.stdout());
        let known = house.run(&["show", "--history", "photos/new"]);
        assert_eq!(known.status, 2, "{surface:?}: nothing ran: {}", known.stdout());
        assert_eq!(house.modified(), 1, "{surface:?}");
    }
}

#[test]
fn another_disk_in_its_place_is_not_taken_for_the_folder() {
    let house = House::new();
    let photos = house.photos();
    fs::remove_dir_all(&photos).unwrap();
    fs::create_dir_all(&photos).unwrap();
    let disk = |ahead: &str| {
        let mounted = Mounted::at(&photos)?;
        fs::write(photos.join("film"), "film").unwrap();
        house.run_ahead(&["init", "photos"], ahead).succeeds();
        (house.run_ahead(&["tag", "photos"], ahead).status == 0).then_some(mounted)
    };
    let Some(first) = disk("0") else { return skip(Need::Root, "nothing can be mounted") };
    house.run(&["schedule", "add", "photos", "--timer", "manual", "--name", "photos"]).succeeds();
    house.run(&["schedule", "run", "--now", "photos"]).succeeds();
    drop(first);
    let night = house.run(&["schedule", "run", "--now", "photos"]).ends(2);
    assert!(night.stderr().contains("its disk is not mounted"), "{}", night.stderr());
    let _second = disk("100").unwrap();
    let night = house.run(&["schedule", "run", "--now", "photos"]).ends(2);
    assert!(
        night.stderr().contains("another disk or folder is in its place"),
        "{}",
        night.stderr()
    );
    let status = house.run_ahead(&["status"], "200").ends(2);
    assert!(status.stdout().contains("not there"), "{}", status.stdout());
}

#[test]
fn parity_follows_what_is_tagged() {
    for surface in ALL {
        let house = House::new();
        house.run(&["parity", "make", "photos"]).succeeds();
        fs::write(house.photo(7), "edited photograph").unwrap();
        let said = house.ask(surface, Wish::Update);
        assert!(said.status.is_none_or(|status| status == 0), "{surface:?}: {said:?}");
        fs::remove_file(house.photo(7)).unwrap();
        house.run(&["repair", "--yes", "photos"]);
        let back = fs::read_to_string(house.photo(7)).unwrap_or_default();
        assert_eq!(back, "edited photograph", "{surface:?}");
    }
}

/// What each surface says of how the folder is, as an exit status.
fn answers(house: &House) -> [(&'static str, Option<i64>); 4] {
    let json: serde_json::Value =
        serde_json::from_str(house.run(&["status", "--json"]).stdout().lines().next().unwrap())
            .unwrap();
    let metric = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("steadfast_folder_status{"));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok())
    };
    let prometheus = house.run(&["status", "--prometheus", "-"]);
    let now = (steadfast::Options::default().now)();
    let state = FolderState::read(&house.photos(), None, steadfast::COVER_DAYS, now);
    let page = house.serve(|client, entrance| client.page(entrance, "/metrics"));
    [
        ("status", json["exit_status"].as_i64()),
        ("metrics", metric(prometheus.stdout())),
        ("library", Some(state.exit_status().code().into())),
        ("server", metric(&page)),
    ]
}

#[test]
fn a_folder_has_the_same_answer_everywhere() {
    type Spoil = fn(&House);
    let spoil: [(&str, Spoil, i64); 5] = [
        ("nothing", |_| {}, 0),
        ("new", |house| fs::write(house.photos().join("new"), "new").unwrap(), 0),
        ("edited", |house| house.overwrite(1), 1),
        ("missing", |house| fs::remove_file(house.photo(3)).unwrap(), 1),
        (
            "corrupt",
            |house| {
                let modified = fs::metadata(house.photo(3)).unwrap().modified().unwrap();
                fs::write(house.photo(3), "phOtograph 3").unwrap();
                let file = fs::File::options().write(true).open(house.photo(3)).unwrap();
                file.set_modified(modified).unwrap();
            },
            3,
        ),
    ];
    for (name, spoil, status) in spoil {
        let house = House::new();
        spoil(&house);
        house.run(&["check", "photos"]);
        for (surface, said) in answers(&house) {
            assert_eq!(said, Some(status), "{name}: {surface}");
        }
    }
    if steadfast_testing::program("strace").is_some() {
        let house = House::new();
        cut_off(&house);
        for (surface, said) in answers(&house) {
            assert!(said.is_some_and(|status| status >= 2), "cut off: {surface}: {said:?}");
        }
    }
}

#[test]
fn what_is_accepted_a_little_each_night_adds_up() {
    for surface in ALL {
        let house = House::new();
        for night in 0..3 {
            fs::write(house.photo(2 * night), format!("encrypted {night}")).unwrap();
            fs::write(house.photo(2 * night + 1), format!("encrypted {night}")).unwrap();
            let said = house.ask(surface, Wish::Update);
            assert!(said.status.is_none_or(|status| status == 0), "{surface:?}: {said:?}");
        }
        let shown = house.run(&["status", "--json"]);
        assert_eq!(shown.objects()[0]["accepted"], 6, "{surface:?}");
        let said = "6 of 100 files accepted as changed or removed within 30 days";
        assert!(house.run(&["status"]).stdout().contains(said), "{surface:?}");
        let page = house.serve(|client, entrance| client.page(entrance, "/"));
        assert!(page.contains(said), "{surface:?}");
    }
}

/// Answers the requests of a monitor, and keeps the path of the last one.
fn monitor() -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/ping", listener.local_addr().unwrap());
    let last = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&last);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
            stream.read_line(&mut first).unwrap();
            while stream.read_line(&mut line).unwrap() > 2 {
                let lower = line.to_lowercase();
                let value = lower.strip_prefix("content-length:");
                length = value.map_or(length, |value| value.trim().parse().unwrap());
                line.clear();
            }
            stream.read_exact(&mut vec![0; length]).unwrap();
            *heard.lock().unwrap() = first.split(' ').nth(1).unwrap().to_owned();
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
            stream.get_mut().write_all(answer).unwrap();
        }
    });
    (url, last)
}

/// Says whether an alarm of `share/monitoring/steadfast.rules.yml` is raised, by the metrics of a
/// machine without drives that count errors.
fn is_alarmed(metrics: &str) -> bool {
    let value = |line: &str| line.rsplit(' ').next().and_then(|value| value.parse::<i64>().ok());
    let any = |name: &str, is_bad: fn(i64) -> bool| {
        let lines = metrics.lines().filter(|line| line.starts_with(&format!("{name}{{")));
        lines.filter_map(value).any(is_bad)
    };
    let of_files = any("steadfast_open_failures", |count| count > 0);
    let status = |wanted: fn(i64) -> bool| any("steadfast_folder_status", wanted);
    of_files || any("steadfast_overdue", |count| count > 0) || status(|it| it == 1 || it == 2)
}

/// Changes something in the folder, by a number.
fn live(house: &House, number: usize) {
    let file = house.photo(number / 8 % 100);
    match number % 8 {
        0 => _ = fs::remove_file(file),
        1 => fs::write(file, format!("edited {number}")).unwrap(),
        2 => fs::write(house.photos().join(format!("new {number}")), "new").unwrap(),
        3 if file.exists() => {
            let modified = fs::metadata(&file).unwrap().modified().unwrap();
            let mut bytes = fs::read(&file).unwrap();
            bytes[0] ^= 1;
            fs::write(&file, bytes).unwrap();
            let file = fs::File::options().write(true).open(&file).unwrap();
            file.set_modified(modified).unwrap();
        }
        4 => _ = house.run(&["update", "photos"]),
        5 => _ = house.run(&["update", "--accept-missing", "photos"]),
        6 => _ = house.run(&["update", "--accept", "--accept-many", "photos"]),
        _ => {}
    }
}

#[test]
fn at_every_moment_all_surfaces_say_the_same() {
    let house = House::new();
    let (url, last) = monitor();
    house.run(&["alert", "add", "--ping", &url]).succeeds();
    let words = ["schedule", "add", "photos", "--timer", "manual", "--cover", "1d"];
    house.run(&words).succeeds();
    let nights = std::env::var("STEADFAST_NIGHTS").map_or(12, |nights| nights.parse().unwrap());
    let mut number: usize = 7;
    let mut words = BTreeSet::new();
    for night in 0..nights {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
        live(&house, number >> 33);
        house.run(&["schedule", "run", "--now", "photos"]);
        let json = house.run(&["status", "--json"]);
        let (json, status) = (json.objects().remove(0), i64::from(json.status));
        let said = house.run(&["status"]);
        let word = json["state"].as_str().unwrap().to_owned();
        let ping = last.lock().unwrap().clone();
        let context = format!("night {night}: {json}");
        assert_eq!(json["exit_status"], status, "{context}");
        assert_eq!(i64::from(said.status), status, "{context}");
        assert!(said.stdout().starts_with(&format!("{word} ")), "{context}: {}", said.stdout());
        assert_eq!(ping, format!("/ping/{status}"), "{context}");
        let metrics = house.run(&["status", "--prometheus", "-"]);
        assert_eq!(is_alarmed(metrics.stdout()), status != 0, "{context}: {}", metrics.stdout());
        let is_green = ["fine", "recorded", "incomplete"].contains(&word.as_str());
        assert_eq!(is_green, status == 0, "{context}");
        let [_, told, _, server] = answers(&house);
        assert_eq!(told, ("metrics", Some(status)), "{context}");
        if json["schedule"]["alarm"].is_null() {
            assert_eq!(server, ("server", Some(status)), "{context}");
        }
        words.insert(word);
    }
    assert!(words.len() >= 2, "it was not always the same: {words:?}");
}
