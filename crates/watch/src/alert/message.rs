//! The words of a message: which machine and folder, what happened, since when, to which files, and
//! what to do next.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use steadfast::escape::visible;
use steadfast::{Notice, Timestamp};
use strum::{Display, IntoStaticStr};

use crate::alert::config::Details;
use crate::alert::memory::{News, OpenTroubles, Trouble, TroubleKind};
use crate::journal::{MendedPath, MovedPath};
use crate::schedule::TimeOfDay;

/// Paths that a message names at most.
const PATHS_MAX: usize = 5;

/// What to do if there is no repair data and no registered copy.
const MORE_COPIES: &str = "If it finds no copy, add --from and a folder that holds a good one.";

/// How a message says what depends on the machine and its user.
#[derive(Clone, Debug)]
pub struct AlertWords {
    /// The name of the machine.
    pub machine: String,
    /// Words a moment.
    pub moment: fn(Timestamp) -> String,
    /// Returns the local time of day.
    pub time_of_day: fn(Timestamp) -> TimeOfDay,
    /// Words a notice, with what to type.
    pub notice: fn(&Notice) -> String,
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

/// How urgent a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Priority {
    /// Good news.
    Low,
    /// Something waits for a person.
    Normal,
    /// Files are damaged or in danger.
    High,
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
}

impl MessageSubject<'_> {
    /// Words open trouble that is new, or told again.
    pub(crate) fn trouble(&self, news: &News) -> AlertMessage {
        let kinds: BTreeSet<TroubleKind> = news.new.keys().map(|trouble| trouble.kind).collect();
        let count = |kind: &TroubleKind| {
            news.new.keys().filter(|trouble| trouble.kind == *kind).count() as u64
        };
        let phrases: Vec<String> = kinds.iter().map(|kind| phrase(*kind, count(kind))).collect();
        let still = if news.remind { "still: " } else { "" };
        let mut lines = Vec::new();
        let mut left = PATHS_MAX;
        for (at, (kind, phrase)) in kinds.iter().zip(&phrases).enumerate() {
            let end = if phrase.ends_with('?') { "" } else { "." };
            lines.push(capital(phrase) + end);
            // One path is left for each kind that follows.
            let most = left.saturating_sub(kinds.len() - at - 1).max(1);
            let (described, shown) = self.described(*kind, &news.new, most);
            left = left.saturating_sub(shown);
            lines.extend(described);
            let has_alarm = news.open.contains_key(&TroubleKind::MassChange);
            lines.extend(kind.next_step(self.folder, self.schedule, has_alarm));
        }
        let told: u64 = kinds.iter().map(count).sum();
        let others = news.open_count().saturating_sub(told);
        if others > 0 {
            lines.push(format!("Still open from before: {others}."));
        }
        let priority = kinds.iter().map(|kind| priority(*kind)).max().unwrap_or(Priority::Normal);
        let news = News { settled: Vec::new(), ..news.clone() };
        self.message(still.to_owned() + &joined(&phrases), lines, priority, &news)
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
        let news = News { new: OpenTroubles::new(), remind: false, ..news.clone() };
        self.message(what, lines, Priority::Low, &news)
    }

    /// Says that a trouble is over.
    fn end_of(&self, trouble: &Trouble) -> String {
        let name = match (self.details, trouble.path.is_empty()) {
            (Details::Paths, false) => plain(&trouble.path),
            _ => "1 file".to_owned(),
        };
        match ending(trouble.kind, (self.is_there)(&trouble.path)) {
            FileOrFolder::File([one, _]) => format!("{name} {one}"),
            FileOrFolder::Folder(sentence) => sentence.to_owned(),
        }
    }

    /// Says that several troubles are over, in one line.
    fn ends_of(&self, settled: &[Trouble]) -> String {
        let mut counts: BTreeMap<(TroubleKind, bool), usize> = BTreeMap::new();
        for trouble in settled {
            let is_there = (self.is_there)(&trouble.path);
            *counts.entry((trouble.kind, is_there)).or_default() += 1;
        }
        let mut phrases: Vec<String> = Vec::new();
        for ((kind, is_there), count) in counts {
            let noun = if kind == TroubleKind::Unlisted { "folder" } else { "file" };
            phrases.push(match (ending(kind, is_there), count) {
                (FileOrFolder::File([one, _]), 1) => format!("1 {noun} {one}"),
                (FileOrFolder::File([_, several]), count) => format!("{count} {noun}s {several}"),
                (FileOrFolder::Folder(sentence), _) => {
                    let (first, rest) = sentence.split_at(1);
                    first.to_ascii_lowercase() + rest
                }
            });
        }
        phrases.dedup();
        phrases.join(", ")
    }

    /// Words that nothing is wrong, or what is known to be wrong already.
    pub(crate) fn unchanged(&self, news: &News) -> AlertMessage {
        let kinds = news.open.iter().map(|(kind, count)| phrase(*kind, *count));
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
            "open": news.open,
            "new": if news.remind { 0 } else { news.new.len() },
            "settled": news.settled.len(),
        });
        if self.details == Details::Paths {
            let of = |one: &Trouble| json!({ "state": one.kind, "path": one.path });
            document["new_paths"] = news.new.keys().take(1_000).map(of).collect();
            document["settled_paths"] = news.settled.iter().take(1_000).map(of).collect();
        }
        AlertMessage { subject, body, json: document, priority }
    }

    /// Says of one kind of trouble what it means, when it was noticed, and which files it concerns,
    /// of which it names at most so many. Also returns how many it names.
    fn described(
        &self,
        kind: TroubleKind,
        open: &OpenTroubles,
        most: usize,
    ) -> (Vec<String>, usize) {
        let of_kind = open.iter().filter(|(trouble, _)| trouble.kind == kind);
        let mut lines: Vec<String> = meaning(kind).map(str::to_owned).into_iter().collect();
        let texts: BTreeSet<&str> = of_kind
            .clone()
            .map(|(_, facts)| facts.text.as_str())
            .filter(|t| !t.is_empty())
            .collect();
        let worded = texts.into_iter().take(PATHS_MAX).map(plain);
        lines.extend(worded.map(|text| match kind {
            TroubleKind::Unmounted => capital(&text),
            _ => text,
        }));
        let noticed_s = of_kind.clone().filter_map(|(_, facts)| facts.since_s).min();
        lines.extend(noticed_s.map(|seconds| {
            format!("Noticed on {}.", (self.words.moment)(Timestamp { seconds, nanoseconds: 0 }))
        }));
        if self.details != Details::Paths || !kind.is_catalogued() {
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

impl TroubleKind {
    /// Returns what to do next about trouble in a folder, with what to type, unless its own
    /// text says so. During an alarm about many changes, `update` needs consent to them.
    pub fn next_step(self, folder: &str, schedule: &str, has_alarm: bool) -> Option<String> {
        let folder = quoted(folder);
        let update = if has_alarm { "update --accept-many" } else { "update" };
        Some(match self {
            TroubleKind::Corrupt => format!("To mend it: steadfast repair {folder}\n{MORE_COPIES}"),
            TroubleKind::Unreadable | TroubleKind::Unlisted | TroubleKind::Unstable => {
                format!("To try again: steadfast check {folder}")
            }
            TroubleKind::Failed => format!("To try again: steadfast schedule run --now {schedule}"),
            TroubleKind::RepairData => format!("To make it anew: steadfast parity make {folder}"),
            TroubleKind::Suspect => format!(
                "If it was you: steadfast {update} --accept-suspect {folder}\n\
                 If not, mend it: steadfast repair --suspect {folder}\n{MORE_COPIES}"
            ),
            TroubleKind::Missing => format!(
                "If it was you: steadfast {update} --accept-missing {folder}\n\
                 If not, bring it back: steadfast repair --from BACKUP {folder}\n\
                 BACKUP is a folder that holds a good copy."
            ),
            TroubleKind::Modified | TroubleKind::Touched => {
                format!("If it was you: steadfast {update} {folder}")
            }
            TroubleKind::TagLost => {
                format!("To give it back: steadfast update --restore-tags {folder}")
            }
            TroubleKind::Differs | TroubleKind::TagReplaced => {
                format!("To see it: steadfast check {folder}")
            }
            TroubleKind::NotStarted => {
                format!("To see the timer: steadfast schedule show {schedule}")
            }
            TroubleKind::Overdue => {
                format!("To check it now: steadfast schedule run --now {schedule}")
            }
            TroubleKind::Unmounted => {
                format!("When it is there again: steadfast status {folder}")
            }
            TroubleKind::MassChange
            | TroubleKind::Unknown
            | TroubleKind::Unfinished
            | TroubleKind::Drive => return None,
        })
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

/// Returns how urgent a kind of trouble is.
fn priority(kind: TroubleKind) -> Priority {
    match kind < TroubleKind::Unfinished {
        true => Priority::High,
        false => Priority::Normal,
    }
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

/// Quotes a path for a shell if it needs that.
pub(crate) fn quoted(path: &str) -> String {
    let path = visible(path);
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+".contains(letter);
    match path.chars().all(is_plain) {
        true => path.into_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// Joins phrases, some of which are questions.
fn joined(phrases: &[String]) -> String {
    phrases.join(", ").replace("?, ", "? ")
}

fn phrase(kind: TroubleKind, count: u64) -> String {
    let (one, several) = match kind {
        TroubleKind::Corrupt => ("file is damaged", "files are damaged"),
        TroubleKind::Suspect => {
            ("file was changed and kept its date", "files were changed and kept their dates")
        }
        TroubleKind::Differs => {
            ("file has other contents than a list", "files have other contents than a list")
        }
        TroubleKind::Missing => ("file is gone. Was it you?", "files are gone. Was it you?"),
        TroubleKind::Unreadable => ("file cannot be read", "files cannot be read"),
        TroubleKind::Unlisted => ("folder cannot be opened", "folders cannot be opened"),
        TroubleKind::TagLost => ("file has lost its tag", "files have lost their tags"),
        TroubleKind::TagReplaced => {
            ("file has a tag of other contents", "files have tags of other contents")
        }
        TroubleKind::Modified => ("file was changed", "files were changed"),
        TroubleKind::Unstable => {
            ("file changed while it was read", "files changed while they were read")
        }
        TroubleKind::Touched => ("file has another time", "files have other times"),
        TroubleKind::RepairData => {
            ("set of repair data is damaged", "sets of repair data are damaged")
        }
        TroubleKind::Unfinished => ("thing is unfinished", "things are unfinished"),
        TroubleKind::Drive => ("drive is in danger", "warnings of drives"),
        TroubleKind::Overdue => return "some files were not checked in time".to_owned(),
        TroubleKind::Unmounted => return "the folder is not there".to_owned(),
        TroubleKind::Unknown => return "the folder cannot be checked".to_owned(),
        TroubleKind::NotStarted => return "its timer does not start the check".to_owned(),
        TroubleKind::Failed => return "the check could not be made".to_owned(),
        TroubleKind::MassChange => return "unusually many files changed or disappeared".to_owned(),
    };
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Returns what a kind of trouble means, if its phrase does not say it.
fn meaning(kind: TroubleKind) -> Option<&'static str> {
    Some(match kind {
        TroubleKind::Corrupt => "The contents changed, and nothing is known to have written them.",
        TroubleKind::Suspect => "A program of yours may have done it, or it is damage.",
        TroubleKind::Unreadable => "The drive, or the rights of the file, may be the reason.",
        TroubleKind::Unlisted => {
            "Nothing in there was checked. The drive, or the rights of the folder, may be the \
             reason."
        }
        TroubleKind::RepairData => "The files are well, but could not be mended from it.",
        _ => return None,
    })
}

/// How the end of a trouble is said.
enum FileOrFolder {
    /// Of one file, and of several.
    File([&'static str; 2]),
    /// Of the folder: a sentence.
    Folder(&'static str),
}

/// Returns how the end of a kind of trouble is said, of a file that is there or not.
fn ending(kind: TroubleKind, is_there: bool) -> FileOrFolder {
    use FileOrFolder::{File, Folder};
    match kind {
        TroubleKind::RepairData => Folder("The repair data is whole again"),
        TroubleKind::Unfinished => Folder("What was unfinished is done"),
        TroubleKind::Overdue => Folder("Every file was checked in time"),
        TroubleKind::Unmounted => Folder("The folder is there again"),
        TroubleKind::Unknown => Folder("The folder can be checked again"),
        TroubleKind::NotStarted | TroubleKind::Failed => Folder("Checks run again"),
        TroubleKind::MassChange => Folder("The many changes are settled"),
        TroubleKind::Drive => Folder("A drive no longer gives its warning"),
        TroubleKind::Missing if is_there => File(["is back", "are back"]),
        TroubleKind::Missing => File(["is no longer missing", "are no longer missing"]),
        _ if !is_there => File(["is no longer there", "are no longer there"]),
        TroubleKind::Unreadable => File(["can be read again", "can be read again"]),
        TroubleKind::Unlisted => File(["can be opened again", "can be opened again"]),
        TroubleKind::Corrupt => File(["is whole again", "are whole again"]),
        TroubleKind::Suspect
        | TroubleKind::Differs
        | TroubleKind::TagLost
        | TroubleKind::TagReplaced
        | TroubleKind::Modified
        | TroubleKind::Unstable
        | TroubleKind::Touched => File(["is in order again", "are in order again"]),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::alert::memory::TroubleFacts;

    /// The words of a test's machine.
    pub(crate) fn words() -> AlertWords {
        AlertWords {
            machine: "nas".into(),
            moment: |at| format!("day {}", at.seconds / 86_400),
            time_of_day: |_| TimeOfDay { hour: 2, minute: 0 },
            notice: |notice| notice.text.clone(),
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
        say(&MessageSubject { folder, schedule, facts: &facts, words, details, is_there }, news)
    }

    fn trouble(kind: TroubleKind, path: &str) -> Trouble {
        Trouble { kind, path: path.into(), folder: "/srv/my photos".into() }
    }

    fn news(kind: TroubleKind, paths: &[&str], text: &str) -> News {
        let facts = TroubleFacts { since_s: Some(3 * 86_400), text: text.into() };
        let new = paths.iter().map(|path| (trouble(kind, path), facts.clone()));
        News { new: new.collect(), open: [(kind, paths.len() as u64)].into(), ..News::default() }
    }

    #[test]
    fn a_message_says_where_what_since_when_and_what_to_do() {
        let news = news(TroubleKind::Corrupt, &["2019/a\u{7}.jpg", "2019/b\u{202e}.jpg"], "");
        let message = said(&news, Details::Paths, |subject, news| subject.trouble(news));
        assert_eq!(message.subject, "nas: /srv/my photos: 2 files are damaged");
        let expected = "2 files are damaged.\n\
                        The contents changed, and nothing is known to have written them.\n\
                        Noticed on day 3.\n  2019/a\\x07.jpg\n  2019/b\\u{202e}.jpg\n\
                        To mend it: steadfast repair '/srv/my photos'\n\
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
            said(&news(TroubleKind::Missing, &paths, ""), Details::Paths, |subject, news| {
                subject.trouble(news)
            });
        assert_eq!(message.subject, "nas: /srv/my photos: 7 files are gone. Was it you?");
        assert!(message.body.contains("\n  e\n  and 2 more\nIf it was you: steadfast update "));
        assert!(message.body.ends_with("\nBACKUP is a folder that holds a good copy."));
        assert_eq!(message.priority, Priority::Normal);
    }

    #[test]
    fn during_an_alarm_an_update_consents_to_many_changes() {
        for (kind, expected) in [
            (TroubleKind::Missing, "steadfast update --accept-many --accept-missing '"),
            (TroubleKind::Modified, "steadfast update --accept-many '"),
            (TroubleKind::Suspect, "steadfast update --accept-many --accept-suspect '"),
        ] {
            let mut news = news(kind, &["a"], "");
            let say = |news: &News| {
                said(news, Details::Paths, |subject, news| subject.trouble(news)).body
            };
            assert!(!say(&news).contains("--accept-many"));
            news.open.insert(TroubleKind::MassChange, 1);
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
        let news = news(TroubleKind::Suspect, &["a"], "");
        let message = said(&news, Details::Paths, |subject, news| subject.trouble(news));
        let expected = "\nIf it was you: steadfast update --accept-suspect '/srv/my photos'\n\
                        If not, mend it: steadfast repair --suspect '/srv/my photos'\n";
        assert!(message.body.contains(expected), "{}", message.body);
    }

    #[test]
    fn good_news_is_told_by_name_and_at_low_priority() {
        let settled = vec![trouble(TroubleKind::Corrupt, "2019/a.jpg")];
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
        let subject = MessageSubject { folder, schedule, facts, words, details, is_there };
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
            &news(TroubleKind::Drive, &["sda failing"], text),
            Details::Paths,
            |subject, news| subject.trouble(news),
        );
        assert_eq!(message.body, format!("1 drive is in danger.\n{text}\nNoticed on day 3."));
    }
}
