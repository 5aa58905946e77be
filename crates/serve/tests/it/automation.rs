//! Schedules and alerts made in the browser, and the metrics.

use std::path::Path;
use std::time::Duration;

use steadfast_serve::{Automation, Config, PublicAddress};
use steadfast_watch::timer::TimerHost;
use steadfast_watch::{
    AlertList, AlertWords, Details, Every, Journal, ScheduleList, Sender, TimeOfDay, TimerKind,
    WatchPlaces,
};
use tempfile::TempDir;

use crate::browser::{Browser, Served, between};

/// A server whose user has a home of its own, on a machine without timers.
struct House {
    home: TempDir,
    served: Served,
    browser: Browser,
}

const TOKEN: &str = "a token of thirty letters or so";

/// What makes schedules and alerts in a folder, on a machine without timers.
pub(crate) fn automation_in(home: &Path) -> Automation {
    let host = TimerHost {
        more_starts: Vec::new(),
        program: "/opt/steadfast".into(),
        home: home.to_owned(),
        config: home.join("config"),
        state: Vec::new(),
        is_root: false,
        search_path: Some("/nowhere".into()),
        root: "/nowhere".into(),
    };
    let sender = Sender {
        time_limit: Duration::from_secs(2),
        search_path: Some("/nowhere".into()),
        environment: Vec::new(),
        os: "linux",
        is_bare: false,
        words: AlertWords {
            machine: "nas".into(),
            moment: steadfast_report::units::day_and_time,
            time_of_day: |_| TimeOfDay { hour: 2, minute: 0 },
        },
    };
    let places = WatchPlaces { configuration: home.to_owned(), state: home.join("state") };
    Automation { places, host, sender }
}

impl House {
    fn new() -> House {
        let home = tempfile::tempdir().unwrap();
        let automation = automation_in(home.path());
        let served = Served::with(|config| Config {
            automation: Some(automation),
            metrics_token: Some(TOKEN.to_owned()),
            ..config
        });
        let browser = served.browser();
        let run = browser.run("protect", "0/");
        browser.ended(&run);
        House { home, served, browser }
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.home.path().join(name)
    }

    fn schedules(&self) -> ScheduleList {
        ScheduleList::read(&self.file("schedules.toml")).unwrap()
    }
}

#[test]
fn a_schedule_is_made_changed_and_removed_on_the_page_of_its_folder() {
    let house = House::new();
    let page = house.browser.get("/folders/0").text();
    assert!(page.contains("Check regularly"), "{page}");
    let save =
        |wish: &str| house.browser.post("/schedules", &format!("place=0/&act=save&{wish}")).status;
    assert_eq!(save("every=week&at=03:30&cover=60&update=1"), 303);
    let list = house.schedules();
    let [made] = list.schedules() else { panic!("{list:?}") };
    let root = house.served.tree.path().canonicalize().unwrap();
    assert_eq!((&made.directory, made.every, made.cover_days), (&root, Every::Week, 60));
    assert!(made.update && made.at.to_string() == "03:30");
    assert_eq!(made.timer, TimerKind::Manual);
    let page = house.browser.get("/folders/0").text();
    assert!(page.contains("value=\"03:30\"") && page.contains("Remove the schedule"), "{page}");
    let line = format!("/opt/steadfast schedule run {}", made.name);
    assert!(page.contains(&line), "nothing starts it by itself, and the page says so: {page}");
    assert_eq!(save("every=month&at=4:05&cover=90"), 303);
    let list = house.schedules();
    assert_eq!(list.schedules().len(), 1);
    assert_eq!((list.schedules()[0].every, list.schedules()[0].update), (Every::Month, false));
    // A cover that is shorter than the interval, and fields that are none.
    let refused = house.browser.post("/schedules", "place=0/&act=save&every=month&at=4:05&cover=2");
    assert!(refused.text().contains("2 days cannot be covered"), "{}", refused.text());
    let mistakes =
        ["every=year&at=4:05&cover=90", "every=week&at=25:00&cover=90", "every=week&at=2:00"];
    for wish in mistakes {
        assert_eq!(save(wish), 400, "{wish}");
    }
    assert_eq!(house.browser.post("/schedules", "place=0/photos&act=remove").status, 400);
    assert_eq!(house.browser.post("/schedules", "place=0/&act=remove").status, 303);
    assert!(house.schedules().schedules().is_empty());
}

/// One button after a folder was protected, and each choice of how often fits the form's days.
#[test]
fn a_protected_folder_is_checked_every_month_by_one_button() {
    let house = House::new();
    let page = house.browser.get("/runs/1").text();
    let form = between(&page, "action=\"/schedules\"", "</form>");
    assert!(form.contains("Check it every month"), "{page}");
    let value = |name: &str| between(form, &format!("name=\"{name}\" value=\""), "\"").to_owned();
    let names = ["place", "every", "at", "cover", "act"];
    let fields: Vec<String> = names.map(|name| format!("{name}={}", value(name))).to_vec();
    assert_eq!(house.browser.post("/schedules", &fields.join("&")).status, 303);
    let list = house.schedules();
    let [made] = list.schedules() else { panic!("{list:?}") };
    assert_eq!((made.every, made.cover_days, &*made.at.to_string()), (Every::Month, 31, "02:00"));
    assert_eq!(made.cover_s(), made.every.interval_s(), "all of it every month");
    let other = Served::begin();
    let browser = other.browser();
    let page = browser.ended(&browser.run("protect", "0/"));
    assert!(!page.contains("every month"), "without timers it is not offered: {page}");
}

#[test]
fn alerts_are_added_tried_and_removed_and_show_no_secret() {
    let house = House::new();
    let alerts = || AlertList::read(&house.file("alerts.toml")).unwrap();
    let post = |form: &str| house.browser.post("/alerts", form);
    // Nobody listens at port 9.
    let hook = "act=add&channel=webhook&address=http%3A%2F%2F127.0.0.1%3A9%2Fsecret-topic";
    assert_eq!(post(hook).status, 303);
    assert_eq!(post("act=add&channel=mail&address=me%40example.org&details=counts").status, 303);
    let details = [Details::Paths, Details::Counts];
    assert_eq!(alerts().alerts().iter().map(|one| one.details).collect::<Vec<_>>(), details);
    let refused = post("act=add&channel=ping&address=ftp%3A%2F%2Fx");
    assert!(refused.text().contains("an address begins with https://"), "{}", refused.text());
    assert_eq!(post("act=add&channel=mail&address=-oQ%2Ftmp%40x").status, 200);
    assert_eq!(alerts().alerts().len(), 2, "a program cannot be named, nor what is not valid");
    let page = house.browser.get("/settings").text();
    assert!(page.contains("webhook 127.0.0.1:9 (json)") && page.contains("me@example.org"));
    assert!(!page.contains("secret-topic"), "{page}");
    let tested = post("act=test").text();
    assert_eq!(tested.matches("not delivered").count(), 2, "{tested}");
    assert!(!tested.contains("secret-topic"), "{tested}");
    // The list changed since the page was shown.
    let other = "act=remove&number=1&target=mail+to+me%40example.org";
    assert_eq!(post(other).status, 409);
    let first = "act=remove&number=1&target=webhook+127.0.0.1%3A9+%28json%29";
    assert_eq!(post(first).status, 303);
    assert_eq!(alerts().alerts().len(), 1);
    assert_eq!(post("act=remove&number=7&target=x").status, 409);
}

/// Who signs in from elsewhere may not look around in the network of the server.
#[test]
fn a_server_that_others_reach_sends_no_alert_into_its_own_network() {
    let home = tempfile::tempdir().unwrap();
    let outside = |alerts_within| {
        let automation = Some(automation_in(home.path()));
        let proxy_origin = Some("https://nas.example".to_owned());
        Served::with(move |config| Config {
            automation,
            alerts_within,
            password_hash: Some(steadfast_serve::hash_password("a password").unwrap()),
            public: PublicAddress { proxy_origin, ..PublicAddress::default() },
            ..config
        })
    };
    let enter = |served: &Served| {
        let mut browser = served.stranger();
        let origin = [("host", "nas.example"), ("origin", "https://nas.example")];
        let entered = browser.send("POST", "/enter", &origin, b"password=a+password");
        browser.cookie = Some(entered.cookie());
        let page = browser.send("GET", "/settings", &origin[..1], b"").text();
        browser.csrf = between(&page, "data-csrf=\"", "\"").to_owned();
        browser
    };
    let post = |browser: &Browser, form: &str| {
        let origin = [("host", "nas.example"), ("origin", "https://nas.example")];
        let form = format!("csrf={}&{form}", browser.csrf);
        browser.send("POST", "/alerts", &origin, form.as_bytes())
    };
    let hook = |host: &str| format!("act=add&channel=webhook&address=http%3A%2F%2F{host}%2Fx");
    let served = outside(false);
    let browser = enter(&served);
    for host in ["127.0.0.1%3A9", "localhost", "192.168.1.1", "169.254.169.254", "%5B%3A%3A1%5D"] {
        let refused = post(&browser, &hook(host));
        assert!(refused.text().contains("could not be changed"), "{host}: {}", refused.text());
    }
    assert!(!home.path().join("alerts.toml").exists());
    drop(served);
    let served = outside(true);
    let browser = enter(&served);
    for number in 0..16 {
        let host = format!("127.0.0.1%3A9%2F{number}");
        assert_eq!(post(&browser, &hook(&host)).status, 303);
    }
    assert!(post(&browser, &hook("127.0.0.1%3A9")).text().contains("16 already"));
    let tested = post(&browser, "act=test&number=1").text();
    assert_eq!(tested.matches("not delivered").count(), 1, "{tested}");
    assert!(!tested.contains("refused"), "how it failed is not told: {tested}");
}

#[test]
fn only_a_session_changes_schedules_and_alerts() {
    let house = House::new();
    let stranger = house.served.stranger();
    let foreign = Browser { csrf: "another".into(), ..house.browser.clone() };
    for (page, form) in [
        ("/schedules", "place=0/&act=save&every=week&at=03:30&cover=60"),
        ("/alerts", "act=add&channel=mail&address=me%40example.org"),
    ] {
        assert_eq!(stranger.post(page, form).status, 401, "{page}");
        assert_eq!(foreign.post(page, form).status, 403, "{page}");
        assert_eq!(house.browser.get(page).status, 405, "{page}");
    }
    assert!(!house.file("schedules.toml").exists() && !house.file("alerts.toml").exists());
    // Without a home there is nothing to make them in.
    let plain = Served::begin();
    let browser = plain.browser();
    assert_eq!(browser.post("/alerts", "act=test").status, 404);
    assert!(!browser.get("/settings").text().contains("Messages about trouble"));
}

#[test]
fn metrics_are_for_a_session_or_their_token() {
    let house = House::new();
    let wish = "place=0/&act=save&every=week&at=03:30&cover=60";
    assert_eq!(house.browser.post("/schedules", wish).status, 303);
    let name = house.schedules().schedules()[0].name.clone();
    let journal = Journal::of(&house.file("state/schedules"), &name);
    journal.change(|last| (last.began_s, last.status) = (Some(1_000), Some(3))).unwrap();
    let shown = house.browser.get("/metrics");
    assert_eq!(shown.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let root = house.served.tree.path().canonicalize().unwrap();
    let label = format!("folder=\"{}\"", Path::display(&root));
    let text = shown.text();
    for line in ["steadfast_folder_status", "steadfast_last_run_status"] {
        assert!(text.contains(&format!("{line}{{{label}}} ")), "{text}");
    }
    let stranger = house.served.stranger();
    let bearer = |token: &str| {
        let shown = format!("Bearer {token}");
        stranger.send("GET", "/metrics", &[("authorization", &shown)], b"")
    };
    assert_eq!(bearer(TOKEN).text(), text);
    let wrong = bearer("a token of thirty letters or no");
    assert_eq!((wrong.status, stranger.get("/metrics").status), (401, 401));
    assert!(!wrong.text().contains("steadfast_files"));
    // It opens no other page, and nothing that changes.
    let shown = format!("Bearer {TOKEN}");
    assert_eq!(stranger.send("GET", "/", &[("authorization", &shown)], b"").status, 401);
    assert_eq!(stranger.send("POST", "/metrics", &[("authorization", &shown)], b"").status, 403);
    let short = Config {
        roots: vec![house.served.tree.path().to_owned()],
        metrics_token: Some("short".into()),
        ..Config::default()
    };
    assert!(steadfast_serve::Server::bind(short).is_err());
}
