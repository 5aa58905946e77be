//! The file of alerts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use steadfast_watch::{Alert, AlertList, Channel, Details, ErrorKind, Occasion, WebhookForm};

fn webhook(url: &str) -> Alert {
    Alert::new(Channel::Webhook { url: url.into(), form: WebhookForm::of(url) })
}

#[test]
fn alerts_are_kept_in_a_private_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/alerts.toml");
    let mut list = AlertList::read(&file).unwrap();
    assert!(list.alerts().is_empty());
    let command = Channel::Command(vec!["apprise".into(), "-t".into(), "a b".into()]);
    let alerts = [
        webhook("https://ntfy.sh/topic"),
        Alert { details: Details::Paths, ..Alert::new(Channel::Sendmail("me@example.org".into())) },
        Alert { on: Occasion::EveryRun, ..Alert::new(command) },
        Alert::new(Channel::Ping("https://hc.example/uuid".into())),
        Alert::new(Channel::Desktop),
    ];
    for alert in &alerts {
        list.add(alert.clone()).unwrap();
        list.add(alert.clone()).unwrap();
    }
    let read = AlertList::read(&file).unwrap();
    assert_eq!(read.alerts(), alerts, "{}", fs::read_to_string(&file).unwrap());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(list.remove(2).unwrap(), alerts[1]);
    assert_eq!(AlertList::read(&file).unwrap().alerts().len(), 4);
    for number in [0, 5] {
        assert_eq!(list.remove(number).unwrap_err().kind(), ErrorKind::Usage);
    }
}

#[test]
fn mistakes_in_the_file_are_told_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("alerts.toml");
    let rows = [
        ("[[alert]]\non = \"trouble\"\n", "alert 1: an alert has one of"),
        ("[[alert]]\ndesktop = true\nping = \"https://a\"\n", "one of"),
        ("[[alert]]\ndesktop = true\n[[alert]]\nwebhook = \"ftp://a\"\n", "alert 2: an address"),
        ("[[alert]]\nsendmail = \"-oQ/tmp@x\"\n", "mail address"),
        ("[[alert]]\nsendmail = \"me@x\\nBcc: y@z\"\n", "mail address"),
        ("[[alert]]\ncommand = []\n", "a program"),
        ("[[alert]]\ndesktpo = true\n", "desktpo"),
        ("[[alert]]\ndesktop = true\non = \"always\"\n", "always"),
    ];
    for (text, expected) in rows {
        fs::write(&file, text).unwrap();
        let error = AlertList::read(&file).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        let message = error.to_string();
        assert!(message.contains(expected) && message.contains("alerts.toml"), "{message}");
    }
}

#[test]
fn services_are_recognised_by_their_addresses() {
    let rows = [
        ("https://ntfy.sh/a", WebhookForm::Ntfy),
        ("https://ntfy.example.org/a", WebhookForm::Ntfy),
        ("https://hooks.slack.com/services/A/B", WebhookForm::Slack),
        ("https://discord.com/api/webhooks/1/x", WebhookForm::Discord),
        ("https://gotify.home/message?token=x", WebhookForm::Gotify),
        ("https://example.org/hook", WebhookForm::Json),
    ];
    for (url, form) in rows {
        assert_eq!(WebhookForm::of(url), form, "{url}");
    }
}

#[test]
fn a_target_shows_no_secret() {
    let rows = [
        (webhook("https://me:secret@ntfy.sh/topic"), "webhook ntfy.sh (ntfy)"),
        (Alert::new(Channel::Ping("https://hc.example/secret".into())), "ping hc.example"),
        (Alert::new(Channel::Command(vec!["/bin/x".into(), "secret".into()])), "command /bin/x"),
    ];
    for (alert, expected) in rows {
        assert_eq!(alert.target(), expected);
    }
}
