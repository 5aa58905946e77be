//! The words of a message: which machine and folder, what happened, since when, to which files, and
//! what to do next.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use steadfast::escape::visible;
use steadfast::{Standing, Timestamp};
use steadfast_words::{AskedFiles, Priority, StandingWords as _, ended, next_step, quoted};

use crate::alert::config::Details;
use crate::alert::memory::{News, OpenTroubles, Trouble, is_catalogued};
use crate::journal::{MendedPath, MovedPath};
use crate::schedule::TimeOfDay;

/// Paths that a message names at most.
const PATHS_MAX: usize = 5;

/// How a message says what depends on the machine and its user.
#[derive(Clone, Debug)]
pub struct AlertWords {
    /// The name of the machine.
    pub machine: String,
    /// Words a moment.
    pub moment: fn(Timestamp) -> String,
    /// Returns the local time of day.
    pub time_of_day: fn(Timestamp) -> TimeOfDay,
}

/// The facts of a run.
#[derive(Clone, Debug, Default)]
pub struct AlertFacts {
    /// Exit status of the run; `None` if nothing ran.
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
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertMessage {
    /// One line.
    pub subject: String,
    /// Some lines.
    pub body: String,
    /// Everything as JSON.
    pub json: Value,
    /// How urgent it is.
    pub priority: Priority,
}

/// What a message is about.
pub(crate) struct MessageSubject<'a> {
    /// The folder.
    pub(crate) folder: &'a str,
    /// Its schedule.
    pub(crate) schedule: &'a str,
    pub(crate) facts: &'a AlertFacts,
    pub(crate) words: &'a AlertWords,
    pub(crate) details: Details,
    /// Whether there is a file at a path from the root of the folder.
    pub(crate) is_there: &'a dyn Fn(&str) -> bool,
    /// How a command acts on the files of one kind that are told.
    pub(crate) asked: &'a dyn Fn(Standing, &OpenTroubles) -> Option<AskedFiles>,
}

impl MessageSubject<'_> {
    /// Words open trouble that is new, and then what is told again.
    pub(crate) fn trouble(&self, news: &News) -> AlertMessage {
        let has_alarm = news.open.contains_key(&Standing::MassChange);
        let (mut said, mut lines) = (Vec::new(), Vec::new());
        let (mut left, mut told, mut most_urgent) = (PATHS_MAX, 0, Priority::Normal);
        for (troubles, still) in [(&news.new, ""), (&news.again, "still: ")] {
            let kinds: BTreeSet<Standing> = troubles.keys().map(|one| one.kind).collect();
            let count = |kind: Standing| {
                troubles.keys().filter(|trouble| trouble.kind == kind).count() as u64
            };
            let phrases: Vec<String> = kinds.iter().map(|kind| kind.phrase(count(*kind))).collect();
            said.extend((!phrases.is_empty()).then(|| still.to_owned() + &joined(&phrases)));
            for (at, (kind, phrase)) in kinds.iter().zip(&phrases).enumerate() {
                let end = if phrase.ends_with('?') { "" } else { "." };
                lines.push(capital(&format!("{still}{phrase}{end}")));
                // One path is left for each kind that follows.
                let most = left.saturating_sub(kinds.len() - at - 1).max(1);
                let (described, shown) = self.described(*kind, troubles, most);
                left = left.saturating_sub(shown);
                lines.extend(described);
                let asked = (self.asked)(*kind, troubles);
                lines.extend(next_step(
                    *kind,
                    self.folder,
                    self.schedule,
                    has_alarm,
                    asked.as_ref(),
                ));
                told += count(*kind);
                most_urgent = most_urgent.max(kind.priority());
            }
        }
        let others = news.open_count().saturating_sub(told);
        if others > 0 {
            lines.push(format!("Still open from before: {others}."));
        }
        let news = News { settled: Vec::new(), ..news.clone() };
        self.message(said.join("; "), lines, most_urgent, &news)
    }

    /// Words what runs mended, and where the damaged files are.
    pub(crate) fn mended(&self, mended: &[MendedPath], news: &News) -> AlertMessage {
        let what = match mended {
            [one] if self.details == Details::Paths => {
                format!("{} was damaged and is mended", plain(&one.path))
            }
            [_] => "1 file was damaged and is mended".to_owned(),
            several => format!("{} files were damaged and are mended", several.len()),
        };
        let mut lines = vec![format!("{what}.")];
        if self.details == Details::Paths && mended.len() > 1 {
            let shown = mended.iter().take(PATHS_MAX);
            lines.extend(shown.map(|one| format!("  {}", plain(&one.path))));
            let more = mended.len().saturating_sub(PATHS_MAX);
            lines.extend((more > 0).then(|| format!("  and {more} more")));
        }
        lines
            .push("The damaged contents are kept in .steadfast, in case you want them.".to_owned());
        let folder = quoted(self.folder);
        let repairs: BTreeSet<u64> = mended.iter().map(|one| one.repair).collect();
        lines.extend(
            repairs.iter().map(|number| {
                format!("To remove them: steadfast repair --discard {number} {folder}")
            }),
        );
        if news.open_count() > 0 {
            lines.push(format!("Still open: {}.", news.open_count()));
        }
        let news = News { open: news.open.clone(), ..News::default() };
        let mut message = self.message(what, lines, Priority::Low, &news);
        message.json["mended"] = mended.len().into();
        message
    }

    /// Words what was moved to other catalogued folders.
    pub(crate) fn moved(&self, moved: &[MovedPath], news: &News) -> AlertMessage {
        let has_names = self.details == Details::Paths;
        let what = match moved {
            [one] if has_names => format!("{} was moved to {}", plain(&one.path), plain(&one.to)),
            [_] => "1 file was moved to another folder".to_owned(),
            several => format!("{} files were moved to other folders", several.len()),
        };
        let mut lines = vec![format!("{what}.")];
        if has_names && moved.len() > 1 {
            let line = |one: &MovedPath| format!("  {} to {}", plain(&one.path), plain(&one.to));
            lines.extend(moved.iter().take(PATHS_MAX).map(line));
            let more = moved.len().saturating_sub(PATHS_MAX);
            lines.extend((more > 0).then(|| format!("  and {more} more")));
        }
        let news = News { open: news.open.clone(), ..News::default() };
        let mut message = self.message(what, lines, Priority::Low, &news);
        message.json["moved"] = moved.len().into();
        message
    }

    /// Words what is settled.
    pub(crate) fn settled(&self, news: &News) -> AlertMessage {
        let mut lines: Vec<String> = Vec::new();
        let shown = news.settled.iter().take(PATHS_MAX);
        lines.extend(shown.map(|trouble| self.end_of(trouble) + "."));
        lines.dedup();
        let more = news.settled.len().saturating_sub(PATHS_MAX);
        if more > 0 {
            lines.push(format!("And {more} more."));
        }
        let what = match &news.settled[..] {
            [one] => self.end_of(one),
            several => self.ends_of(several),
        };
        let is_well = news.open.is_empty();
        lines.push(match is_well {
            true => "Nothing is wrong any more.".to_owned(),
            false => format!("Still open: {}.", news.open_count()),
        });
        let news = News { new: OpenTroubles::new(), again: OpenTroubles::new(), ..news.clone() };
        self.message(what, lines, Priority::Low, &news)
    }

    /// Says that a trouble is over.
    fn end_of(&self, trouble: &Trouble) -> String {
        let name = match (self.details, trouble.path.is_empty()) {
            (Details::Paths, false) => plain(&trouble.path),
            _ => String::new(),
        };
        ended(trouble.kind, (self.is_there)(&trouble.path), 1, &name)
    }

    /// Says that several troubles are over, in one line.
    fn ends_of(&self, settled: &[Trouble]) -> String {
        let mut counts: BTreeMap<(Standing, bool), usize> = BTreeMap::new();
        for trouble in settled {
            let is_there = (self.is_there)(&trouble.path);
            *counts.entry((trouble.kind, is_there)).or_default() += 1;
        }
        let said = counts.into_iter().map(|((kind, is_there), count)| {
            let said = ended(kind, is_there, count, "");
            let (first, rest) = said.split_at(1);
            first.to_ascii_lowercase() + rest
        });
        let mut phrases: Vec<String> = said.collect();
        phrases.dedup();
        phrases.join(", ")
    }

    /// Words that nothing is wrong, or what is known to be wrong already.
    pub(crate) fn unchanged(&self, news: &News) -> AlertMessage {
        let kinds = news.open.iter().map(|(kind, count)| kind.phrase(*count));
        let open = kinds.collect::<Vec<_>>().join(", ");
        let (what, priority) = match open.is_empty() {
            true => ("all is well".to_owned(), Priority::Low),
            false => (format!("still: {open}"), Priority::Normal),
        };
        let lines = self.facts.checked.iter().map(|checked| format!("Checked: {checked}."));
        self.message(what, lines.collect(), priority, news)
    }

    fn message(
        &self,
        what: String,
        lines: Vec<String>,
        priority: Priority,
        news: &News,
    ) -> AlertMessage {
        let AlertFacts { status, files, bytes, elapsed_s, counts, .. } = self.facts;
        let (folder, machine) = (self.folder, &self.words.machine);
        let subject = plain(&format!("{machine}: {folder}: {what}"));
        let body = lines.join("\n");
        let mut document = json!({
            "subject": subject,
            "body": body,
            "machine": machine,
            "directory": folder,
            "schedule": self.schedule,
            "priority": priority.to_string(),
            "status": status,
            "files": files,
            "bytes": bytes,
            "elapsed_s": elapsed_s,
            "counts": counts,
            "open": open_by_name(news),
            "new": news.new.len(),
            "settled": news.settled.len(),
        });
        if self.details == Details::Paths {
            let of = |one: &Trouble| json!({ "state": one.kind.name(), "path": one.path });
            document["new_paths"] = news.new.keys().take(1_000).map(of).collect();
            document["settled_paths"] = news.settled.iter().take(1_000).map(of).collect();
        }
        AlertMessage { subject, body, json: document, priority }
    }

    /// Says of one kind of trouble what it means, when it was noticed, and which files it concerns,
    /// of which it names at most so many. Also returns how many it names.
    fn described(&self, kind: Standing, open: &OpenTroubles, most: usize) -> (Vec<String>, usize) {
        let of_kind = open.iter().filter(|(trouble, _)| trouble.kind == kind);
        let mut lines: Vec<String> = kind.meaning().map(str::to_owned).into_iter().collect();
        let texts: BTreeSet<&str> = of_kind
            .clone()
            .map(|(_, facts)| facts.text.as_str())
            .filter(|t| !t.is_empty())
            .collect();
        let worded = texts.into_iter().take(PATHS_MAX).map(plain);
        lines.extend(worded.map(|text| match kind {
            Standing::Unmounted => capital(&text),
            _ => text,
        }));
        let noticed_s = of_kind.clone().filter_map(|(_, facts)| facts.since_s).min();
        lines.extend(noticed_s.map(|seconds| {
            format!("Noticed on {}.", (self.words.moment)(Timestamp { seconds, nanoseconds: 0 }))
        }));
        if self.details != Details::Paths || !is_catalogued(kind) {
            return (lines, 0);
        }
        let paths: Vec<&str> = of_kind
            .map(|(trouble, _)| trouble.path.as_str())
            .filter(|path| !path.is_empty())
            .collect();
        let shown = paths.len().min(most);
        lines.extend(paths[..shown].iter().map(|path| format!("  {}", plain(path))));
        if paths.len() > shown {
            lines.push(format!("  and {} more", paths.len() - shown));
        }
        (lines, shown)
    }
}

impl AlertMessage {
    /// Returns a message that only tries a channel.
    pub fn test(words: &AlertWords) -> AlertMessage {
        let subject = format!("{}: Steadfast: a test; nothing is wrong", words.machine);
        let body = "Messages about your folders will arrive like this one.".to_owned();
        let mut message = AlertMessage::good(subject, body, words);
        message.json["test"] = true.into();
        message
    }

    /// Returns the message that all folders are well.
    pub(crate) fn all_well(words: &AlertWords, folders: &[&str]) -> AlertMessage {
        let subject = format!("{}: all is well", words.machine);
        let body = format!("Nothing is wrong with {}.", plain(&folders.join(", ")));
        let mut message = AlertMessage::good(subject, body, words);
        message.json["open"] = json!({});
        message
    }

    /// Returns a message that is of no folder.
    fn good(subject: String, body: String, words: &AlertWords) -> AlertMessage {
        let priority = Priority::Low;
        let json = json!({
            "subject": subject,
            "body": body,
            "machine": words.machine,
            "priority": priority.to_string(),
        });
        AlertMessage { subject, body, json, priority }
    }
}

/// Returns how much is open, by the name of its kind.
fn open_by_name(news: &News) -> BTreeMap<&'static str, u64> {
    news.open.iter().map(|(kind, count)| (kind.name(), *count)).collect()
}

/// Returns a text in one line. What moves or hides the text around it is shown as in a terminal.
fn plain(text: &str) -> String {
    visible(text).into_owned()
}

/// Returns a text that begins with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Joins phrases, some of which are questions.
fn joined(phrases: &[String]) -> String {
    phrases.join(", ").replace("?, ", "? ")
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::alert::memory::TroubleFacts;
    use steadfast_words::named;

    /// The words of a test's machine.
    pub(crate) fn words() -> AlertWords {
        AlertWords {
            machine: "nas".into(),
            moment: |at| format!("day {}", at.seconds / 86_400),
            time_of_day: |_| TimeOfDay { hour: 2, minute: 0 },
        }
    }

    fn said(
        news: &News,
        details: Details,
        say: fn(&MessageSubject<'_>, &News) -> AlertMessage,
    ) -> AlertMessage {
        let facts = AlertFacts { checked: Some("10 files".into()), ..AlertFacts::default() };
        let (folder, schedule) = ("/srv/my photos", "photos");
        let (words, is_there) = (words(), |path: &str| path.starts_with("2019"));
        let words = &words;
        let is_there = &is_there;
        let asked = &asked;
        let subject =
            MessageSubject { folder, schedule, facts: &facts, words, details, is_there, asked };
        say(&subject, news)
    }

    /// Names up to two files, and numbers more of them.
    fn asked(kind: Standing, told: &OpenTroubles) -> Option<AskedFiles> {
        let of_kind = told.keys().filter(|trouble| trouble.kind == kind);
        let paths: Vec<PathBuf> = of_kind.map(|trouble| PathBuf::from(&trouble.path)).collect();
        let named = named(Path::new("/srv/my photos"), &paths).map(AskedFiles::Named);
        named.or_else(|| {
            let (code, folder) = ("7-k3f9".to_owned(), "'/srv/my photos'".to_owned());
            Some(AskedFiles::Numbered { code, folder, more: 0 })
        })
    }

    fn trouble(kind: Standing, path: &str) -> Trouble {
        Trouble { kind, path: path.into(), folder: "/srv/my photos".into() }
    }

    fn news(kind: Standing, paths: &[&str], text: &str) -> News {
        let facts = TroubleFacts { since_s: Some(3 * 86_400), text: text.into() };
        let new = paths.iter().map(|path| (trouble(kind, path), facts.clone()));
        News { new: new.collect(), open: [(kind, paths.len() as u64)].into(), ..News::default() }
    }

    #[test]
    fn a_message_says_where_what_since_when_and_what_to_do() {
        let news = news(Standing::Corrupt, &["2019/a\u{7}.jpg", "2019/b\u{202e}.jpg"], "");
        let message = said(&news, Details::Paths, |subject, news| subject.trouble(news));
        assert_eq!(message.subject, "nas: /srv/my photos: 2 files are damaged");
        let expected = "2 files are damaged.\n\
                        The contents changed, and nothing is known to have written them.\n\
                        Noticed on day 3.\n  2019/a\\x07.jpg\n  2019/b\\u{202e}.jpg\n\
                        To mend it: steadfast repair --answer 7-k3f9 '/srv/my photos'\n\
                        If it finds no copy, add --from and a folder that holds a good one.";
        assert_eq!(message.body, expected);
        assert_eq!(message.json["body"], expected);
        assert_eq!(message.priority, Priority::High);
        let message = said(&news, Details::Counts, |subject, news| subject.trouble(news));
        assert!(!message.body.contains("2019") && !message.json.to_string().contains("2019"));
    }

    #[test]
    fn five_files_are_named_and_deletions_are_a_question() {
        let paths = ["a", "b", "c", "d", "e", "f", "g"];
        let message =
            said(&news(Standing::Missing, &paths, ""), Details::Paths, |subject, news| {
                subject.trouble(news)
            });
        assert_eq!(message.subject, "nas: /srv/my photos: 7 files are gone. Was it you?");
        let asks = "\n  e\n  and 2 more\nIf it was you: steadfast update --answer 7-k3f9 '/srv/my \
                    photos'\nIf not, bring it back: steadfast repair --from BACKUP --answer \
                    7-k3f9 '/srv/my photos'\n";
        assert!(message.body.contains(asks), "{}", message.body);
        assert!(message.body.ends_with("\nBACKUP is a folder that holds a good copy."));
        assert_eq!(message.priority, Priority::Normal);
    }

    #[test]
    fn during_an_alarm_an_update_consents_to_many_changes() {
        for (kind, expected) in [
            (
                Standing::Missing,
                "steadfast update --accept-many --accept-missing '/srv/my photos/a'",
            ),
            (Standing::Modified, "steadfast update --accept-many '/srv/my photos/a'"),
            (Standing::Suspect, "steadfast update --accept-many --only-suspect '/srv/my photos/a'"),
        ] {
            let mut news = news(kind, &["a"], "");
            let say = |news: &News| {
                said(news, Details::Paths, |subject, news| subject.trouble(news)).body
            };
            assert!(!say(&news).contains("--accept-many"));
            news.open.insert(Standing::MassChange, 1);
            assert!(say(&news).contains(expected), "{}", say(&news));
        }
    }

    #[test]
    fn a_question_ends_with_its_own_mark() {
        let phrases = ["1 file is gone. Was it you?".to_owned(), "1 file was changed".to_owned()];
        assert_eq!(joined(&phrases), "1 file is gone. Was it you? 1 file was changed");
    }

    #[test]
    fn a_suspect_file_is_a_question_with_two_answers() {
        let news = news(Standing::Suspect, &["a"], "");
        let message = said(&news, Details::Paths, |subject, news| subject.trouble(news));
        let expected = "\nIf it was you: steadfast update --only-suspect '/srv/my photos/a'\n\
                        If not, mend it: steadfast repair --suspect '/srv/my photos/a'\n";
        assert!(message.body.contains(expected), "{}", message.body);
    }

    #[test]
    fn good_news_is_told_by_name_and_at_low_priority() {
        let settled = vec![trouble(Standing::Corrupt, "2019/a.jpg")];
        let news = News { settled, ..News::default() };
        let message = said(&news, Details::Paths, |subject, news| subject.settled(news));
        assert_eq!(message.subject, "nas: /srv/my photos: 2019/a.jpg is whole again");
        assert_eq!(message.body, "2019/a.jpg is whole again.\nNothing is wrong any more.");
        assert_eq!(message.priority, Priority::Low);
        let message =
            said(&News::default(), Details::Paths, |subject, news| subject.unchanged(news));
        assert_eq!(message.subject, "nas: /srv/my photos: all is well");
    }

    #[test]
    fn what_was_mended_is_good_news_with_its_name_and_what_is_kept() {
        let paths = ["2019/a.jpg", "2019/b.jpg"];
        let of = |path: &&str| MendedPath { path: (*path).into(), at_s: 0, repair: 7 };
        let mended: Vec<MendedPath> = paths.iter().map(of).collect();
        let facts = AlertFacts::default();
        let (folder, schedule, words) = ("/srv/photos", "photos", words());
        let details = Details::Paths;
        let (words, facts) = (&words, &facts);
        let is_there = &|_: &str| true;
        let asked = &asked;
        let subject = MessageSubject { folder, schedule, facts, words, details, is_there, asked };
        let one = subject.mended(&mended[..1], &News::default());
        assert_eq!(one.subject, "nas: /srv/photos: 2019/a.jpg was damaged and is mended");
        assert!(one.body.ends_with("\nTo remove them: steadfast repair --discard 7 /srv/photos"));
        assert_eq!((one.priority, &one.json["mended"]), (Priority::Low, &1.into()));
        let two = subject.mended(&mended, &News::default());
        assert_eq!(two.subject, "nas: /srv/photos: 2 files were damaged and are mended");
        assert!(two.body.contains("\n  2019/a.jpg\n  2019/b.jpg\n"), "{}", two.body);
        let subject = MessageSubject { details: Details::Counts, ..subject };
        let hidden = subject.mended(&mended[..1], &News::default());
        assert!(!format!("{}{}", hidden.subject, hidden.body).contains("2019"));
    }

    #[test]
    fn a_drive_speaks_for_itself() {
        let text = "sda: it is about to fail: copy its files and replace it";
        let message = said(
            &news(Standing::Drive, &["sda failing"], text),
            Details::Paths,
            |subject, news| subject.trouble(news),
        );
        assert_eq!(message.body, format!("1 drive is in danger.\n{text}\nNoticed on day 3."));
    }
}
