//! Each channel against a server on loopback or a program of the test's own.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_testing::took_at_most;
use steadfast_watch::{
    Alert, AlertMessage, AlertWords, Channel, Delivery, Sender, TimeOfDay, WebhookForm,
};
use steadfast_words::Priority;

fn sender(folder: &Path) -> Sender {
    Sender {
        time_limit: Duration::from_secs(2),
        search_path: Some(format!("{}:/usr/bin:/bin", folder.display()).into()),
        environment: Vec::new(),
        os: "linux",
        is_bare: false,
        words: AlertWords {
            machine: "nas".into(),
            moment: |at| at.seconds.to_string(),
            time_of_day: |_| TimeOfDay { hour: 2, minute: 0 },
        },
    }
}

fn bad_news() -> AlertMessage {
    AlertMessage {
        subject: "nas: /srv/Büro: 1 file is damaged".into(),
        body: "1 file is damaged.\nTo mend it: steadfast repair /srv/Büro".into(),
        json: serde_json::json!({ "open": { "corrupt": 1 }, "status": 3 }),
        priority: Priority::High,
    }
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

fn send(channel: Channel, folder: &Path) -> Result<(), String> {
    sender(folder).send(&channel, &bad_news()).map_err(|error| error.to_string())
}

#[test]
fn each_service_gets_its_form() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [
        (WebhookForm::Ntfy, "title: nas: /srv/b?ro: 1 file is damaged"),
        (WebhookForm::Ntfy, "priority: high"),
        (WebhookForm::Json, "\"open\":{\"corrupt\":1}"),
        (WebhookForm::Gotify, "\"priority\":8"),
        (WebhookForm::Slack, "{\"text\":\"```\\nnas: /srv/Büro: 1 file is damaged\\n1 file"),
        (WebhookForm::Discord, "\"content\":\"```\\nnas: /srv/Büro: 1 file is damaged"),
    ];
    for (form, expected) in rows {
        let (url, requests) = server(OK);
        send(Channel::Webhook { url: format!("{url}/a"), form }, folder.path()).unwrap();
        let request = requests.recv().unwrap();
        let found = request.contains(expected) || request.to_lowercase().contains(expected);
        assert!(found && request.starts_with("POST /a "), "{form}: {request}");
    }
}

#[test]
fn a_monitor_hears_of_the_start_and_of_the_status() {
    let folder = tempfile::tempdir().unwrap();
    let (url, requests) = server(OK);
    let alert = Alert::new(Channel::Ping(format!("{url}/uuid?x=1")));
    let of_music = Alert { schedule: Some("music".into()), ..alert.clone() };
    let sender = sender(folder.path());
    assert!(sender.begin(&[of_music], "photos").is_empty());
    assert!(sender.begin(std::slice::from_ref(&alert), "photos").remove(0).result.is_ok());
    assert!(sender.test(&[alert]).remove(0).result.is_ok());
    assert!(requests.recv().unwrap().starts_with("POST /uuid/start?x=1 "));
    assert!(requests.recv().unwrap().starts_with("POST /uuid/0?x=1 "));
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
        let error = send(channel, folder.path()).unwrap_err();
        assert!(error.contains(expected), "{manner:?}: {error}");
        assert!(!error.contains("token"), "{error}");
        assert!(took_at_most(begun, Duration::from_secs(15)), "{manner:?}");
    }
    assert!(never.try_recv().is_err(), "a redirect was followed");
}

#[test]
fn an_answer_that_drips_is_an_answer_once_its_status_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (url, _requests) = server(Manner::DripsBody);
    send(Channel::Webhook { url, form: WebhookForm::Json }, folder.path()).unwrap();
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
    assert_eq!(outcomes(sender.begin(&alerts, "photos")), [false, false, false, false, true]);
    assert!(took_at_most(begun, limit * 3), "four pings took {:?}", begun.elapsed());
    let begun = Instant::now();
    let told = outcomes(sender.test(&alerts));
    assert_eq!(told, [false, false, false, false, false, false, true]);
    assert!(took_at_most(begun, limit * 4), "seven alerts took {:?}", begun.elapsed());
}

#[test]
fn a_program_that_leaves_another_behind_does_not_hold_up() {
    let folder = tempfile::tempdir().unwrap();
    // The other has the input, and reads none of it.
    let tool = program(folder.path(), "tool", "exec 3<&0; sleep 30 <&3 & exit 0\n");
    let long = AlertMessage { json: "x".repeat(200_000).into(), ..bad_news() };
    let begun = Instant::now();
    sender(folder.path()).send(&Channel::Command(vec![tool]), &long).unwrap();
    assert!(took_at_most(begun, Duration::from_secs(10)), "{:?}", begun.elapsed());
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
    send(Channel::Command(words), folder.path()).unwrap();
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
        let error = send(Channel::Command(vec![tool]), folder.path()).unwrap_err();
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
    send(Channel::Sendmail("me@example.org".into()), folder.path()).unwrap();
    let mail = fs::read_to_string(&out).unwrap();
    let (head, body) = mail.split_once("\n\n").unwrap();
    assert!(head.starts_with("-i -t\nTo: me@example.org\nSubject: =?UTF-8?Q?"), "{mail}");
    assert!(body.ends_with("To mend it: steadfast repair /srv/Büro\n"), "{mail}");
    program(folder.path(), "notify-send", &format!("printf '%s|' \"$@\" > '{}'\n", out.display()));
    send(Channel::Desktop, folder.path()).unwrap();
    let words = fs::read_to_string(&out).unwrap();
    assert!(
        words.starts_with("--app-name=Steadfast|--|nas: /srv/Büro: 1 file is damaged|"),
        "{words}"
    );
}

#[test]
fn no_channel_interprets_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let name = r"<!channel> @here **b** ``` <b>\342\200\256 [x](http://x)";
    let message = AlertMessage { body: name.to_owned(), ..bad_news() };
    for (form, expected) in [
        (WebhookForm::Slack, r"&lt;!channel&gt; @here **b** `\\u{60}` &lt;b&gt;\\342"),
        (WebhookForm::Discord, r"<!channel> @here **b** `\\u{60}` <b>\\342"),
    ] {
        let (url, requests) = server(OK);
        sender(folder.path()).send(&Channel::Webhook { url, form }, &message).unwrap();
        let request = requests.recv().unwrap();
        assert!(request.contains(expected), "{form}: {request}");
        assert_eq!(request.matches("```").count(), 2, "{form}: {request}");
    }
    let out = folder.path().join("out");
    program(folder.path(), "notify-send", &format!("printf '%s|' \"$@\" > '{}'\n", out.display()));
    sender(folder.path()).send(&Channel::Desktop, &message).unwrap();
    let words = fs::read_to_string(&out).unwrap();
    assert!(words.contains(r"|&lt;!channel&gt; @here **b** ``` &lt;b&gt;\\342\\200"), "{words}");
}

#[test]
fn a_test_has_the_environment_of_a_timer() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let tool = program(folder.path(), "tool", &format!("env > '{}'\n", out.display()));
    let environment = ["CARGO", "HOME", "PATH"].map(|name| (name.into(), "/somewhere".into()));
    let environment = environment.into();
    let bare = Sender { search_path: None, environment, is_bare: true, ..sender(folder.path()) };
    bare.send(&Channel::Command(vec![tool]), &bad_news()).unwrap();
    let environment = fs::read_to_string(&out).unwrap();
    let path = "PATH=/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/sbin\n";
    assert!(environment.contains(path), "{environment}");
    assert!(environment.contains("HOME=/somewhere\n"), "{environment}");
    assert!(!environment.contains("CARGO"), "{environment}");
}
