//! Translates what reports say in English.
//!
//! In: an English text, as a report makes it of figures and names. Out: the same in another
//! language, with the same names, and the figures as that language writes them. `de.po` has the
//! texts; this module finds the one that fits.

use std::cell::RefCell;
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
/// four bound the time that a hostile name takes.
const TEXT_LEN_MAX: usize = 10_000;

/// Most texts within each other, or in a list.
const DEPTH_MAX: usize = 64;

/// Most semicolons at which a list is tried to be cut.
const CUTS_MAX: usize = 8;

/// Most ends of places that are tried until a text fits a pattern.
const TRIES_MAX: usize = 32;

/// Most parts of a text that are looked up.
const LOOKUPS_MAX: usize = 1000;

/// The messages of a language.
struct Dictionary {
    /// Texts without places.
    whole: HashMap<String, String>,
    /// Texts with places, in the order of the file.
    patterns: Vec<Pattern>,
}

/// A text with places.
struct Pattern {
    /// What precedes the first place.
    beginning: String,
    /// The places, each with what follows it.
    places: Vec<(PatternPlace, String)>,
    /// What precedes the first place of the translation, and what follows each.
    translation: Vec<String>,
    /// The trigrams of all that is not a place. Only a text that has them all can fit.
    trigrams: Vec<usize>,
}

/// Trigrams are told apart modulo this number.
const TRIGRAMS: usize = 1024;

fn trigrams(text: &str) -> impl Iterator<Item = usize> + '_ {
    let of = |three: &[u8]| three.iter().fold(0, |sum, byte| sum * 31 + usize::from(*byte));
    text.as_bytes().windows(3).map(move |three| of(three) % TRIGRAMS)
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
        let mut dictionary = Dictionary { whole: HashMap::new(), patterns: Vec::new() };
        for message in messages {
            let (beginning, places) = cut(&message.text);
            if places.is_empty() {
                dictionary.whole.insert(message.text, message.translation);
                continue;
            }
            let (first, rest) = cut(&message.translation);
            let literals = places.iter().map(|(_, after)| after).chain([&beginning]);
            let trigrams = literals.flat_map(|literal| trigrams(literal)).collect();
            let rest = rest.into_iter().map(|(_, after)| after);
            let translation = std::iter::once(first).chain(rest).collect();
            dictionary.patterns.push(Pattern { beginning, places, translation, trigrams });
        }
        dictionary
    }

    /// Translates a text, if it is known, or if it is a list of known texts.
    fn translated<'a>(&'a self, english: &'a str) -> Option<String> {
        let lookup = TextLookup { dictionary: self, known: RefCell::default() };
        (english.len() <= TEXT_LEN_MAX).then(|| lookup.text(english, DEPTH_MAX))?
    }
}

/// The translation of one text, with the texts in it.
struct TextLookup<'a> {
    dictionary: &'a Dictionary,
    /// The parts of the text that were looked up: several patterns may ask for the same.
    known: RefCell<HashMap<&'a str, Option<String>>>,
}

impl<'a> TextLookup<'a> {
    fn text(&self, english: &'a str, depth: usize) -> Option<String> {
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
    fn one(&self, english: &'a str, depth: usize) -> Option<String> {
        if let Some(known) = self.known.borrow().get(english) {
            return known.clone();
        }
        if self.known.borrow().len() >= LOOKUPS_MAX {
            return None;
        }
        // What is being looked up cannot be a part of itself.
        self.known.borrow_mut().insert(english, None);
        let whole = self.dictionary.whole.get(english).cloned();
        let said = whole.or_else(|| figure(english)).or_else(|| self.fitting(english, depth));
        self.known.borrow_mut().insert(english, said.clone());
        said
    }

    /// Translates a text that fits a pattern.
    fn fitting(&self, english: &'a str, depth: usize) -> Option<String> {
        let mut has = [false; TRIGRAMS];
        trigrams(english).for_each(|of| has[of] = true);
        let patterns = self.dictionary.patterns.iter();
        patterns
            .filter(|pattern| pattern.trigrams.iter().all(|of| has[*of]))
            .find_map(|pattern| pattern.filled(english, |text| self.text(text, depth)))
    }
}

impl Pattern {
    /// Returns the translation of a text, if it fits; `say` translates the texts in it.
    fn filled<'a>(&self, text: &'a str, say: impl Fn(&'a str) -> Option<String>) -> Option<String> {
        let text = text.strip_prefix(&self.beginning)?;
        if !text.ends_with(&self.places.last()?.1) {
            return None;
        }
        let mut found = Vec::with_capacity(self.places.len());
        if !fits(&self.places, text, &mut found, &mut { TRIES_MAX }) {
            return None;
        }
        let mut filled = self.translation[0].clone();
        for ((found, (place, _)), after) in
            found.into_iter().zip(&self.places).zip(&self.translation[1..])
        {
            match place {
                PatternPlace::Figure => filled.push_str(&figure(found)?),
                PatternPlace::Text => filled.push_str(&say(found)?),
                PatternPlace::Anything => filled.push_str(found),
            }
            filled.push_str(after);
        }
        Some(filled)
    }
}

/// Appends what a text has in places, each as short as it can be. Returns false if it does not fit,
/// or if this takes too many tries.
fn fits<'a>(
    places: &[(PatternPlace, String)],
    text: &'a str,
    found: &mut Vec<&'a str>,
    tries: &mut usize,
) -> bool {
    let Some(((place, after), later)) = places.split_first() else { return true };
    let last = later.is_empty().then(|| text.len().checked_sub(after.len())).flatten();
    let ends = text.match_indices(after.as_str()).map(|(end, _)| end);
    for end in ends.filter(|_| !later.is_empty()).chain(last) {
        let Some(left) = tries.checked_sub(1) else { return false };
        *tries = left;
        if *place == PatternPlace::Figure && figure(&text[..end]).is_none() {
            continue;
        }
        found.push(&text[..end]);
        if fits(later, &text[end + after.len()..], found, tries) {
            return true;
        }
        found.pop();
    }
    false
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
            (
                "`/nas`: its root `/nas` is empty, although the catalogue knows files there: is \
                 something not mounted?",
                "`/nas`: sein Ordner `/nas` ist leer, obwohl der Katalog dort Dateien kennt: Ist \
                 etwas nicht eingehängt?",
            ),
            ("cannot open: permission denied", "Öffnen nicht möglich: keine Berechtigung"),
            (
                "/nas/a.jpg: not protected by parity: unreadable",
                "/nas/a.jpg: nicht durch Parität geschützt: nicht lesbar",
            ),
            ("cannot read: odd error", "Lesen nicht möglich: odd error"),
            (
                "cannot lock it: Read-only file system (os error 30)",
                "Sperren nicht möglich: das Dateisystem ist nur lesbar (Systemfehler 30)",
            ),
            // A place ends where the rest fits.
            (
                "Core i9, 2.3 GHz, 8 cores, 1,024 processors",
                "Core i9, 2.3 GHz, 8 cores, 1.024 Prozessoren",
            ),
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
