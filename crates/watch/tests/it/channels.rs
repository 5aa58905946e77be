//! Each channel against a server on loopback or a program of the test's own.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_watch::{
    Alert, AlertFacts, Channel, Delivery, Details, Memory, News, Occasion, Sender, Trouble,
    TroubleKind, WebhookForm,
};

fn sender(folder: &Path) -> Sender {
    Sender {
        time_limit: Duration::from_secs(2),
        search_path: Some(format!("{}:/usr/bin:/bin", folder.display()).into()),
        os: "linux",
    }
}

fn facts() -> AlertFacts {
    AlertFacts {
        directory: "/srv/Büro".into(),
        status: Some(3),
        files: 10,
        command: "steadfast status".into(),
        ..AlertFacts::default()
    }
}

fn bad_news() -> News {
    let trouble = Trouble { kind: TroubleKind::Corrupt, path: "secret plans.odt".into() };
    Memory::default().news(&[trouble].into(), 1_000)
}

/// How a server behaves.
#[derive(Clone, Copy, Debug)]
enum Manner {
    Answers(&'static str),
    /// Never answers.
    Hangs,
    /// Closes after a part of the answer.
    ClosesMidway,
    /// Sends a header that never ends, a byte at a time.
    DripsHeader,
    /// Sends a body that never ends, a byte at a time.
    DripsBody,
}

/// Starts a server for some requests; returns its address and what it was asked.
fn server(manner: Manner) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let (asked, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let _ = asked.send(request(&mut stream));
            match manner {
                Manner::Answers(answer) => {
                    let _ = stream.write_all(answer.as_bytes());
                }
                Manner::Hangs => thread::sleep(Duration::from_secs(20)),
                Manner::ClosesMidway => {
                    let _ = stream.write_all(b"HTTP/1.1 200 O");
                }
                Manner::DripsHeader => drip(&mut stream, "HTTP/1.1 200 OK\r\nx: "),
                Manner::DripsBody => {
                    drip(&mut stream, "HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n");
                }
            }
        }
    });
    (address, requests)
}

/// Sends a beginning, and then a byte at a time until the other side has had enough.
fn drip(stream: &mut TcpStream, beginning: &str) {
    let _ = stream.write_all(beginning.as_bytes());
    while stream.write_all(b"x").is_ok() {
        thread::sleep(Duration::from_millis(200));
    }
}

/// Reads a request with its body.
fn request(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer).unwrap_or(0);
        text.extend_from_slice(&buffer[..length]);
        let shown = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = shown.split_once("\r\n\r\n") {
            let wanted = head.to_lowercase().lines().find_map(|line| {
                line.strip_prefix("content-length: ").and_then(|number| number.parse().ok())
            });
            let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
            if wanted.is_none_or(|wanted: usize| body.len() >= wanted)
                && (!is_chunked || body.ends_with("0\r\n\r\n"))
            {
                return shown;
            }
        }
        if length == 0 {
            return shown;
        }
    }
}

const OK: Manner = Manner::Answers("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");

fn send(channel: Channel, news: &News, folder: &Path) -> Result<(), String> {
    let mut deliveries = sender(folder).end(&[Alert::new(channel)], &facts(), news);
    assert_eq!(deliveries.len(), 1);
    deliveries.remove(0).result.map_err(|error| error.to_string())
}

#[test]
fn each_service_gets_its_form() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [
        (WebhookForm::Ntfy, "title: /srv/b?ro: 1 file is damaged"),
        (WebhookForm::Json, "\"open\":{\"corrupt\":1}"),
        (WebhookForm::Gotify, "\"priority\":8"),
        (WebhookForm::Slack, "{\"text\":\"/srv/Büro: 1 file is damaged\\nFolder"),
        (WebhookForm::Discord, "\"content\":\"/srv/Büro: 1 file is damaged"),
    ];
    for (form, expected) in rows {
        let (url, requests) = server(OK);
        send(Channel::Webhook { url: format!("{url}/a"), form }, &bad_news(), folder.path())
            .unwrap();
        let request = requests.recv().unwrap();
        let found = request.contains(expected) || request.to_lowercase().contains(expected);
        assert!(found && request.starts_with("POST /a "), "{form}: {request}");
        assert!(!request.contains("secret plans"), "{form}: a path was sent: {request}");
    }
}

#[test]
fn a_monitor_hears_of_the_start_and_of_the_status() {
    let folder = tempfile::tempdir().unwrap();
    let (url, requests) = server(OK);
    let alerts = [Alert::new(Channel::Ping(format!("{url}/uuid?x=1")))];
    let sender = sender(folder.path());
    assert!(sender.begin(&alerts).remove(0).result.is_ok());
    // Also without news: silence is what a monitor takes for an alarm.
    assert!(sender.end(&alerts, &facts(), &News::default()).remove(0).result.is_ok());
    assert!(requests.recv().unwrap().starts_with("POST /uuid/start?x=1 "));
    assert!(requests.recv().unwrap().starts_with("POST /uuid/3?x=1 "));
}

#[test]
fn servers_that_fail_or_redirect_are_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let (elsewhere, never) = server(OK);
    let moved: &'static str = Box::leak(
        format!("HTTP/1.1 302 Found\r\nlocation: {elsewhere}/x\r\ncontent-length: 0\r\n\r\n")
            .into_boxed_str(),
    );
    let rows = [
        (Manner::Answers("HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n"), "answers 500"),
        (Manner::Answers(moved), "not followed"),
        (Manner::ClosesMidway, "127.0.0.1"),
        (Manner::Hangs, "127.0.0.1"),
        (Manner::DripsHeader, "127.0.0.1"),
    ];
    for (manner, expected) in rows {
        let (url, _requests) = server(manner);
        let begun = Instant::now();
        let channel = Channel::Webhook { url: format!("{url}/token"), form: WebhookForm::Json };
        let error = send(channel, &bad_news(), folder.path()).unwrap_err();
        assert!(error.contains(expected), "{manner:?}: {error}");
        assert!(!error.contains("token"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(15), "{manner:?}");
    }
    assert!(never.try_recv().is_err(), "a redirect was followed");
}

#[test]
fn an_answer_that_drips_is_an_answer_once_its_status_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (url, _requests) = server(Manner::DripsBody);
    send(Channel::Webhook { url, form: WebhookForm::Json }, &bad_news(), folder.path()).unwrap();
}

#[test]
fn channels_that_hang_take_the_time_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let sender = sender(folder.path());
    let hangs = program(folder.path(), "hangs", "exec sleep 60\n");
    let mut alerts: Vec<Alert> = (0..6)
        .map(|number| match number % 3 {
            0 => Alert::new(Channel::Ping(server(Manner::Hangs).0)),
            1 => Alert::new(Channel::Ping(server(Manner::DripsHeader).0)),
            _ => Alert::new(Channel::Command(vec![hangs.clone()])),
        })
        .collect();
    alerts.push(Alert::new(Channel::Ping(server(OK).0)));
    let limit = sender.time_limit;
    let begun = Instant::now();
    let outcomes = |deliveries: Vec<Delivery>| -> Vec<bool> {
        deliveries.iter().map(|delivery| delivery.result.is_ok()).collect()
    };
    assert_eq!(outcomes(sender.begin(&alerts)), [false, false, false, false, true]);
    assert!(begun.elapsed() < limit * 3, "four pings took {:?}", begun.elapsed());
    let begun = Instant::now();
    let told = outcomes(sender.end(&alerts, &facts(), &bad_news()));
    assert_eq!(told, [false, false, false, false, false, false, true]);
    assert!(begun.elapsed() < limit * 4, "seven alerts took {:?}", begun.elapsed());
}

#[test]
fn a_program_that_leaves_another_behind_does_not_hold_up() {
    let folder = tempfile::tempdir().unwrap();
    // The other has the input, and reads none of it.
    let tool = program(folder.path(), "tool", "exec 3<&0; sleep 30 <&3 & exit 0\n");
    let trouble =
        |number| Trouble { kind: TroubleKind::Corrupt, path: format!("{number}").repeat(100) };
    let news = Memory::default().news(&(0..900).map(trouble).collect(), 1_000);
    let alert = Alert { details: Details::Paths, ..Alert::new(Channel::Command(vec![tool])) };
    let begun = Instant::now();
    assert!(sender(folder.path()).end(&[alert], &facts(), &news).remove(0).result.is_ok());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

fn program(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}")).expect("a program");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    path.display().to_string()
}

#[test]
fn a_command_gets_json_and_no_shell() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let script = format!("printf '%s|' \"$@\" > '{0}'; cat >> '{0}'\n", out.display());
    let tool = program(folder.path(), "tool", &script);
    let words = vec![tool, "$(touch gone)".into(), "a b".into()];
    send(Channel::Command(words), &bad_news(), folder.path()).unwrap();
    let told = fs::read_to_string(&out).unwrap();
    let json = told.strip_prefix("$(touch gone)|a b|").unwrap();
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!((&json["open"]["corrupt"], &json["status"]), (&1.into(), &3.into()));
}

#[test]
fn programs_that_fail_or_hang_are_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let fails = program(folder.path(), "fails", "exit 7\n");
    let hangs = program(folder.path(), "hangs", "exec sleep 60\n");
    let rows = [(fails, "7"), (hangs, "within 2 s"), ("/nowhere/tool".to_owned(), "/nowhere/tool")];
    for (tool, expected) in rows {
        let error = send(Channel::Command(vec![tool]), &bad_news(), folder.path()).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn mail_and_desktop_go_through_the_systems_programs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    program(
        folder.path(),
        "sendmail",
        &format!("echo \"$@\" > '{0}'; cat >> '{0}'\n", out.display()),
    );
    send(Channel::Sendmail("me@example.org".into()), &bad_news(), folder.path()).unwrap();
    let mail = fs::read_to_string(&out).unwrap();
    let (head, body) = mail.split_once("\n\n").unwrap();
    assert!(head.starts_with("-i -t\nTo: me@example.org\nSubject: =?UTF-8?Q?"), "{mail}");
    assert!(body.ends_with("To see more: steadfast status\n"), "{mail}");
    program(folder.path(), "notify-send", &format!("printf '%s|' \"$@\" > '{}'\n", out.display()));
    send(Channel::Desktop, &bad_news(), folder.path()).unwrap();
    let words = fs::read_to_string(&out).unwrap();
    assert!(words.starts_with("--app-name=Steadfast|--|/srv/Büro: 1 file is damaged|"), "{words}");
}

#[test]
fn without_news_only_every_run_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let tool = program(folder.path(), "tool", "cat > /dev/null\n");
    let quiet = Alert::new(Channel::Command(vec![tool]));
    let always = Alert { on: Occasion::EveryRun, ..quiet.clone() };
    let loud = Alert { details: Details::Paths, ..quiet.clone() };
    let alerts = [quiet, always, loud];
    let sender = sender(folder.path());
    assert_eq!(sender.end(&alerts, &facts(), &News::default()).len(), 1);
    assert_eq!(sender.end(&alerts, &facts(), &bad_news()).len(), 3);
    let nothing_ran = AlertFacts { status: None, ..facts() };
    assert_eq!(sender.end(&alerts, &nothing_ran, &News::default()).len(), 0);
    assert_eq!(sender.end(&alerts, &nothing_ran, &bad_news()).len(), 3);
    let ping = [Alert::new(Channel::Ping("http://127.0.0.1:9/x".into()))];
    assert_eq!(sender.end(&ping, &nothing_ran, &bad_news()).len(), 0, "silence is the alarm");
    assert_eq!(sender.test(&alerts).len(), 3);
}
