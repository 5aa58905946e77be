//! The words of a message: what happened, numbers, and the command to type.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::alert::config::Details;
use crate::alert::memory::{News, Trouble, TroubleKind};

/// Paths that a message contains at most.
const PATHS_MAX: usize = 20;

/// The facts of a run.
#[derive(Clone, Debug, Default)]
pub struct AlertFacts {
    /// The folder.
    pub directory: String,
    /// Exit status; `None` if nothing ran.
    pub status: Option<u8>,
    /// Files that were judged.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Seconds that the run took.
    pub elapsed_s: u64,
    /// What was checked, in words: files, their size, and the time. `None` if nothing was.
    pub checked: Option<String>,
    /// Numbers of verdicts and findings, by name.
    pub counts: BTreeMap<String, u64>,
    /// An alarm about the whole folder, in a sentence.
    pub alarm: Option<String>,
    /// Why the check could not be made, in a sentence.
    pub failure: Option<String>,
    /// What the drives beneath the folder say of their own failures.
    pub drives: Vec<String>,
    /// The command to type next.
    pub command: String,
    /// Whether this is a test of the alert.
    pub is_test: bool,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertMessage {
    /// One line.
    pub subject: String,
    /// Some lines, the last of which is a command.
    pub body: String,
    /// Everything as JSON.
    pub json: Value,
    /// Whether there is trouble.
    pub is_bad: bool,
    /// Exit status of the run, for pings.
    pub status: Option<u8>,
}

impl AlertMessage {
    /// Words the news of a folder.
    pub fn of(facts: &AlertFacts, news: &News, details: Details) -> AlertMessage {
        let is_bad = facts.alarm.is_some() || news.open_count() > 0;
        let folder = &facts.directory;
        let what = match (&facts.alarm, news.open_count(), news.settled) {
            _ if facts.is_test => "a test; nothing is wrong".to_owned(),
            (Some(_), ..) => "unusually many files changed or disappeared".to_owned(),
            (None, 0, 0) => "everything is as it should be".to_owned(),
            (None, 0, _) => "settled: nothing is wrong any more".to_owned(),
            (None, ..) => listed(&news.open),
        };
        let subject = format!("{folder}: {what}");
        let mut lines = vec![format!("Folder: {folder}")];
        lines.extend(facts.alarm.clone());
        lines.extend(facts.failure.clone());
        for (kind, count) in &news.open {
            let new = news.new.iter().filter(|trouble| trouble.kind == *kind).count();
            let new = if new > 0 { format!(" ({new} new)") } else { String::new() };
            lines.push(format!("{}{new}", phrase(*kind, *count)));
        }
        if news.settled > 0 {
            lines.push(format!("settled since the last message: {}", news.settled));
        }
        lines.extend(facts.checked.iter().map(|checked| format!("checked: {checked}")));
        if details == Details::Paths {
            let shown = news.new.iter().filter(|trouble| !trouble.path.is_empty());
            lines.extend(shown.take(PATHS_MAX).map(|Trouble { kind, path }| {
                format!("  {}: {}", kind.name(), path.replace(char::is_control, "\u{fffd}"))
            }));
            if news.new.len() > PATHS_MAX {
                lines.push(format!("  and {} more", news.new.len() - PATHS_MAX));
            }
        }
        lines.extend(facts.drives.iter().cloned());
        lines.push(format!("To see more: {}", facts.command));
        let mut document = json!({
            "subject": subject,
            "directory": folder,
            "status": facts.status,
            "files": facts.files,
            "bytes": facts.bytes,
            "elapsed_s": facts.elapsed_s,
            "counts": facts.counts,
            "open": news.open,
            "new": news.new.len(),
            "settled": news.settled,
            "alarm": facts.alarm,
            "failure": facts.failure,
            "drives": facts.drives,
            "command": facts.command,
            "test": facts.is_test,
        });
        if details == Details::Paths {
            let new = news.new.iter().take(1_000);
            document["new_paths"] =
                new.map(|trouble| json!({ "state": trouble.kind, "path": trouble.path })).collect();
        }
        AlertMessage {
            subject,
            body: lines.join("\n"),
            json: document,
            is_bad,
            status: facts.status,
        }
    }
}

/// Lists numbers in words, as "2 files are damaged, 1 file is missing".
fn listed(counts: &BTreeMap<TroubleKind, u64>) -> String {
    let parts: Vec<String> = counts.iter().map(|(kind, count)| phrase(*kind, *count)).collect();
    parts.join(", ")
}

fn phrase(kind: TroubleKind, count: u64) -> String {
    let (one, several) = match kind {
        TroubleKind::Corrupt => ("file is damaged", "files are damaged"),
        TroubleKind::Suspect => (
            "file was changed by something that kept its date: was it you?",
            "files were changed by something that kept their dates: was it you?",
        ),
        TroubleKind::Differs => {
            ("file has other contents than a list", "files have other contents than a list")
        }
        TroubleKind::Missing => ("file is missing", "files are missing"),
        TroubleKind::Unreadable => ("file cannot be read", "files cannot be read"),
        TroubleKind::TagLost => ("file has lost its tag", "files have lost their tags"),
        TroubleKind::TagReplaced => {
            ("file has a tag of other contents", "files have tags of other contents")
        }
        TroubleKind::Modified => ("file was changed", "files were changed"),
        TroubleKind::Unstable => {
            ("file changed while it was read", "files changed while they were read")
        }
        TroubleKind::Touched => ("file has another time", "files have other times"),
        TroubleKind::Overdue => ("check is overdue", "checks are overdue"),
        TroubleKind::Unmounted => ("folder is not there", "folders are not there"),
        TroubleKind::Unknown => ("folder cannot be judged", "folders cannot be judged"),
        TroubleKind::NotStarted => {
            ("check is not started by its timer", "checks are not started by their timers")
        }
        TroubleKind::Failed => ("check could not be made", "checks could not be made"),
        TroubleKind::MassChange => ("alarm: unusually many files changed or disappeared", "alarms"),
    };
    format!("{count} {}", if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> AlertFacts {
        AlertFacts {
            directory: "/srv/photos".into(),
            status: Some(3),
            files: 1_204,
            bytes: 9_100_000_000,
            elapsed_s: 61,
            checked: Some("1,204 files, 9.10 GB, in 61 s".into()),
            command: "steadfast status /srv/photos".into(),
            ..AlertFacts::default()
        }
    }

    fn news() -> News {
        let kind = TroubleKind::Corrupt;
        News {
            new: vec![Trouble { kind, path: "2019/a\u{7}.jpg".into() }],
            open: [(kind, 2), (TroubleKind::Missing, 1)].into(),
            settled: 0,
            remind: false,
        }
    }

    #[test]
    fn a_message_says_what_where_and_what_to_type() {
        let message = AlertMessage::of(&facts(), &news(), Details::Counts);
        assert_eq!(message.subject, "/srv/photos: 2 files are damaged, 1 file is missing");
        let expected = "Folder: /srv/photos\n\
                        2 files are damaged (1 new)\n\
                        1 file is missing\n\
                        checked: 1,204 files, 9.10 GB, in 61 s\n\
                        To see more: steadfast status /srv/photos";
        assert_eq!(message.body, expected);
        assert!(!message.body.contains("2019") && !message.json.to_string().contains("2019"));
        assert!(message.is_bad);
    }

    #[test]
    fn a_message_says_what_the_drives_say() {
        let drives = vec!["sda: the drive has 12 sectors it could not read: replace it".into()];
        let facts = AlertFacts { drives, ..facts() };
        let message = AlertMessage::of(&facts, &news(), Details::Counts);
        assert!(message.body.contains("\nsda: the drive has 12 sectors"), "{}", message.body);
        assert_eq!(message.json["drives"][0], facts.drives[0]);
    }

    #[test]
    fn paths_are_shown_only_if_asked_for() {
        let message = AlertMessage::of(&facts(), &news(), Details::Paths);
        assert!(message.body.contains("\n  corrupt: 2019/a\u{fffd}.jpg\n"), "{}", message.body);
        assert_eq!(message.json["new_paths"][0]["path"], "2019/a\u{7}.jpg");
    }

    #[test]
    fn good_news_and_alarms_have_their_words() {
        let good = AlertMessage::of(&facts(), &News::default(), Details::Counts);
        assert_eq!(good.subject, "/srv/photos: everything is as it should be");
        let settled = News { settled: 2, ..News::default() };
        let message = AlertMessage::of(&facts(), &settled, Details::Counts);
        assert_eq!(message.subject, "/srv/photos: settled: nothing is wrong any more");
        assert!(!message.is_bad);
        let alarm = AlertFacts { alarm: Some("31 % of the files are missing.".into()), ..facts() };
        let message = AlertMessage::of(&alarm, &News::default(), Details::Counts);
        assert!(message.is_bad && message.subject.contains("unusually many"));
        let test = AlertFacts { is_test: true, ..facts() };
        let message = AlertMessage::of(&test, &News::default(), Details::Counts);
        assert_eq!(message.subject, "/srv/photos: a test; nothing is wrong");
    }
}
