//! Translates what reports say in English.
//!
//! In: an English text, as a report makes it of figures and names. Out: the same in another
//! language, with the same names, and the figures as that language writes them. `de.po` has the
//! texts; this module finds the one that fits.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::LazyLock;

use steadfast_report::document::Wording;

use super::figures::figure;
use super::po;
use crate::config::Language;

/// Returns the words for reports of a language.
pub(crate) fn wording(language: Language) -> Wording {
    match language {
        Language::English => Wording::ENGLISH,
        Language::German => {
            Wording { tag: language.tag(), words: |english| GERMAN.translated(english) }
        }
    }
}

/// Returns a name in a language: of a verdict, an action, a finding, a stage or a limit.
pub(crate) fn word(name: &'static str, language: Language) -> &'static str {
    match language {
        Language::English => name,
        Language::German => GERMAN.whole.get(name).map_or(name, String::as_str),
    }
}

static GERMAN: LazyLock<Dictionary> = LazyLock::new(|| Dictionary::of(include_str!("de.po")));

/// Longest text that is translated, in bytes: a sentence with two long paths. This and the next
/// three bound the time that a hostile name takes.
const TEXT_LEN_MAX: usize = 10_000;

/// Most texts within each other, or in a list.
const DEPTH_MAX: usize = 64;

/// Most semicolons at which a list is tried to be cut.
const CUTS_MAX: usize = 8;

/// Most texts that are looked up for one.
const LOOKUPS_MAX: usize = 1000;

/// The messages of a language, so arranged that few are tried for each text.
struct Dictionary {
    /// Texts without places.
    whole: HashMap<String, String>,
    /// Texts with places, in the order of the file.
    patterns: Vec<Pattern>,
    /// Which of them a text may fit, by its first byte.
    by_first: Vec<Vec<usize>>,
}

/// A text with places.
struct Pattern {
    /// What precedes the first place.
    beginning: String,
    /// The places, each with what follows it.
    places: Vec<(PatternPlace, String)>,
    /// What precedes the first place of the translation, and what follows each.
    translation: Vec<String>,
}

/// What a place stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternPlace {
    /// `{n}`: a figure, which is written as in German.
    Figure,
    /// `{t}`: a text that has a translation itself.
    Text,
    /// `{}`: anything, which stays as it is.
    Anything,
}

impl Dictionary {
    /// Reads a file of messages.
    ///
    /// # Panics
    /// If a line is not understood. The tests read the files that the program has.
    fn of(po: &str) -> Dictionary {
        let messages = po::messages(po).expect("the tests read the file");
        let mut dictionary = Dictionary {
            whole: HashMap::new(),
            patterns: Vec::new(),
            by_first: vec![Vec::new(); 256],
        };
        for message in messages {
            let (beginning, places) = cut(&message.text);
            if places.is_empty() {
                dictionary.whole.insert(message.text, message.translation);
                continue;
            }
            let (first, rest) = cut(&message.translation);
            let rest = rest.into_iter().map(|(_, after)| after);
            let pattern = Pattern {
                places,
                translation: std::iter::once(first).chain(rest).collect(),
                beginning,
            };
            for (first, patterns) in (0..=u8::MAX).zip(&mut dictionary.by_first) {
                if pattern.may_begin(first) {
                    patterns.push(dictionary.patterns.len());
                }
            }
            dictionary.patterns.push(pattern);
        }
        dictionary
    }

    /// Translates a text, if it is known, or if it is a list of known texts.
    fn translated(&self, english: &str) -> Option<String> {
        let lookup = TextLookup { dictionary: self, left: Cell::new(LOOKUPS_MAX) };
        (english.len() <= TEXT_LEN_MAX).then(|| lookup.text(english, DEPTH_MAX))?
    }
}

/// The translation of one text, with the texts in it.
struct TextLookup<'a> {
    dictionary: &'a Dictionary,
    /// How many texts may still be looked up.
    left: Cell<usize>,
}

impl TextLookup<'_> {
    fn text(&self, english: &str, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let several = || {
            // Some texts contain a semicolon themselves, so the first is as long as it can be.
            let cuts = english.rmatch_indices("; ").take(CUTS_MAX);
            let mut cuts = cuts.map(|(at, _)| (&english[..at], &english[at + 2..]));
            let known = |(first, rest)| Some((self.one(first, depth)?, rest));
            let (first, rest) = cuts.find_map(known)?;
            Some(format!("{first}; {}", self.text(rest, depth)?))
        };
        let listed = || {
            let (first, rest) = english.split_once(", ")?;
            Some(format!("{}, {}", self.one(first, depth)?, self.text(rest, depth)?))
        };
        self.one(english, depth).or_else(several).or_else(listed)
    }

    /// Translates a text that is no list.
    fn one(&self, english: &str, depth: usize) -> Option<String> {
        self.left.set(self.left.get().checked_sub(1)?);
        if let Some(known) = self.dictionary.whole.get(english) {
            return Some(known.clone());
        }
        let first = usize::from(*english.as_bytes().first()?);
        let may_fit = self.dictionary.by_first[first].iter();
        may_fit
            .map(|&at| &self.dictionary.patterns[at])
            .find_map(|pattern| pattern.filled(english, |text| self.text(text, depth)))
    }
}

impl Pattern {
    /// Returns whether a text that fits can begin with a byte.
    fn may_begin(&self, first: u8) -> bool {
        match (self.beginning.as_bytes().first(), self.places[0].0) {
            (Some(beginning), _) => *beginning == first,
            (None, PatternPlace::Figure) => first.is_ascii_digit() || first == b'-',
            (None, PatternPlace::Text | PatternPlace::Anything) => true,
        }
    }

    /// Returns the translation of a text, if it fits; `say` translates the texts in it. Each place
    /// takes as little as it can, so this takes time in proportion to the text.
    fn filled(&self, text: &str, say: impl Fn(&str) -> Option<String>) -> Option<String> {
        let mut rest = text.strip_prefix(&self.beginning)?;
        if !rest.ends_with(&self.places.last()?.1) {
            return None;
        }
        let mut found = Vec::with_capacity(self.places.len());
        for (at, (place, after)) in self.places.iter().enumerate() {
            let end = match at + 1 == self.places.len() {
                true => rest.len().checked_sub(after.len())?,
                false => rest.find(after.as_str())?,
            };
            let taken = &rest[..end];
            found.push(match place {
                PatternPlace::Figure => FoundText::Said(figure(taken)?),
                PatternPlace::Text => FoundText::Known(taken),
                PatternPlace::Anything => FoundText::Said(taken.to_owned()),
            });
            rest = &rest[end + after.len()..];
        }
        // Texts are translated last: this takes the longest, and the pattern need not fit.
        let mut filled = self.translation[0].clone();
        for (found, after) in found.into_iter().zip(&self.translation[1..]) {
            match found {
                FoundText::Said(said) => filled.push_str(&said),
                FoundText::Known(english) => filled.push_str(&say(english)?),
            }
            filled.push_str(after);
        }
        Some(filled)
    }
}

/// What stands for a place.
enum FoundText<'a> {
    /// This, in either language.
    Said(String),
    /// A text that has a translation.
    Known(&'a str),
}

/// Cuts a text at its places: what precedes the first, and each with what follows it.
fn cut(text: &str) -> (String, Vec<(PatternPlace, String)>) {
    let mut parts = text.split('{');
    let beginning = parts.next().unwrap_or_default().to_owned();
    let place = |part: &str| {
        let (kind, after) = part.split_once('}').expect("a place ends with a brace");
        let place = match kind {
            "n" => PatternPlace::Figure,
            "t" => PatternPlace::Text,
            "" => PatternPlace::Anything,
            other => panic!("`{{{other}}}` is no place"),
        };
        (place, after.to_owned())
    };
    (beginning, parts.map(place).collect())
}

#[cfg(test)]
mod complete;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use steadfast::{Action, Bound, Stage, Verdict};

    use super::*;

    #[test]
    fn both_languages_have_the_same_places() {
        let mut known = HashSet::new();
        for message in po::messages(include_str!("de.po")).expect("every line is understood") {
            let places = |text: &str| cut(text).1.into_iter().map(|(place, _)| place);
            let places = |text: &str| places(text).collect::<Vec<_>>();
            let (text, translation) = (&message.text, &message.translation);
            assert_eq!(places(text), places(translation), "{text}");
            assert!(!translation.is_empty() && known.insert(text.clone()), "{text}");
        }
    }

    #[test]
    fn every_name_of_a_run_has_a_german_word() {
        let verdicts = Verdict::ALL.into_iter().map(Verdict::name);
        let actions = Action::ALL.into_iter().map(Action::name);
        let stages = Stage::ALL.into_iter().map(Stage::name);
        let bounds = Bound::ALL.into_iter().map(Bound::name);
        for name in verdicts.chain(actions).chain(stages).chain(bounds) {
            assert_ne!(word(name, Language::German), name);
            assert_eq!(word(name, Language::English), name);
        }
    }

    #[test]
    fn texts_of_reports_are_said_in_german() {
        for (english, said) in [
            ("corrupt", "beschädigt"),
            ("Check of 1,234 files, 5.20 GB", "Prüfung: 1.234 Dateien, 5,20 GB"),
            (
                "No fault was found. 3 files are intact, 1 untagged. 1 file was not judged.",
                "Kein Fehler wurde gefunden. 3 Dateien sind intakt, 1 ohne Marke. 1 Datei wurde \
                 nicht beurteilt.",
            ),
            (
                "was 5 bytes, is 1 byte; yet last modified 2024-03-01 12:00:05Z as recorded",
                "war 5 Bytes, ist 1 Byte; aber zuletzt geändert 2024-03-01 12:00:05Z wie \
                 aufgezeichnet",
            ),
            ("interrupted, 3 intact, 1 tag lost", "abgebrochen, 3 intakt, 1 Marke verloren"),
            ("length, inode", "Länge, Inode"),
            (
                "was 2 bytes, is 1 byte; yet last modified D as recorded; 1 of 2 pages damaged: \
                 bytes 3..9; 4 unreadable",
                "war 2 Bytes, ist 1 Byte; aber zuletzt geändert D wie aufgezeichnet; 1 von 2 \
                 Seiten beschädigt: Bytes 3..9; 4 nicht lesbar",
            ),
            ("edited A, was B; same length; by x", "bearbeitet A, war B; gleiche Länge; laut x"),
            ("now a, b; now c", "jetzt a, b; now c"),
            ("retagged: 0123… -> 4567…", "neu markiert: 0123… -> 4567…"),
        ] {
            assert_eq!(wording(Language::German).say(english), said, "{english}");
        }
        for unknown in ["", "{}", "holiday, now", "photo {n}.jpg", "12 monkeys", "a: b"] {
            assert_eq!((wording(Language::German).words)(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn no_text_takes_long() {
        let list = |text: &str, texts: usize| GERMAN.translated(&vec![text; texts].join(", "));
        assert_eq!(list("intact", DEPTH_MAX), Some(vec!["intakt"; DEPTH_MAX].join(", ")));
        assert_eq!(list("intact", DEPTH_MAX + 1), None);
        // Each number could begin a text of all that follows.
        assert_eq!(list("1 file", 1000), None);
        assert_eq!(GERMAN.translated(&("1 file, ".repeat(50) + "x")), None);
        assert_eq!(GERMAN.translated(&"intact; ".repeat(2000)), None);
    }
}
