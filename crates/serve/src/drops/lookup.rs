//! Looks dropped files up in the catalogues of the roots.
//!
//! Which contents are known, and where, is the answer of `steadfast known`. The catalogues also
//! tell of files of the same name, and how the recorded ones stood at the latest check. Ignores the
//! files of a catalogue that are outside the root.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::PathBuf;

use steadfast::catalogue::{Catalogue, CatalogueError, FileState, LookupMatch};
use steadfast::known::{KnownContents, KnownResult, KnownWord, SoughtContents, known_contents};
use steadfast::monitor::{NoticeMonitor, ResultMonitor};
use steadfast::names::NameBytes as _;
use steadfast::{Digest, Notice, Options, Timestamp, Verdict};
use steadfast_report::known::KnownDocument;
use steadfast_report::{Units, advice, escape};

use super::Dropped;
use crate::roots::{ServedPath, ServedRoots};

/// The words of the command.
const DOCUMENT: KnownDocument = KnownDocument { json: false, quiet: false, units: Units::Si };

/// Matches that are listed of each file.
const MATCHES_MAX: usize = 5;

/// The result for one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropAnswer {
    /// A file with these contents is recorded here, and is damaged or gone: this one can mend it.
    Mends,
    /// An archive has these contents.
    Known,
    /// A tagged file of this name, or its own tag, has other contents.
    Differs,
    /// No archive has these contents, and no tagged file this name.
    Unknown,
    /// It could not be read.
    Unreadable,
}

impl DropAnswer {
    /// Every result, the worst first.
    pub(crate) const ALL: [DropAnswer; 5] = [
        DropAnswer::Mends,
        DropAnswer::Differs,
        DropAnswer::Unreadable,
        DropAnswer::Unknown,
        DropAnswer::Known,
    ];
}

/// A tagged file with the contents or the name of a dropped one.
#[derive(Clone, Debug)]
pub(crate) struct TaggedMatch {
    pub(crate) path: String,
    pub(crate) place: ServedPath,
    pub(crate) tagged: Timestamp,
    /// Its state at the latest check as the report names it, unless it was intact.
    pub(crate) standing: Option<FileState>,
}

impl TaggedMatch {
    /// Returns whether the file is not what was recorded, or not there.
    pub(crate) fn needs_mending(&self) -> bool {
        use FileState::{Corrupt, Missing, Suspect, Unreadable};
        matches!(self.standing, Some(Corrupt | Missing | Suspect | Unreadable))
    }
}

/// A dropped file and its result.
pub(crate) struct LookedUp {
    pub(crate) dropped: Dropped,
    pub(crate) answer: DropAnswer,
    pub(crate) matches: Vec<TaggedMatch>,
    /// The number of further matches.
    pub(crate) further: u64,
    /// Where archives have the same contents.
    pub(crate) known: Option<KnownContents>,
}

impl LookedUp {
    /// Returns what the command says of it, if the archives could be searched.
    fn word(&self, is_searched: bool) -> KnownWord {
        match &self.known {
            Some(known) => known.word,
            None if self.dropped.read.is_ok() && is_searched => KnownWord::Unknown,
            None => KnownWord::Undetermined,
        }
    }
}

/// The results of files that were dropped together.
pub(crate) struct Lookup {
    /// The files in the order of the drop.
    pub(crate) files: Vec<LookedUp>,
    /// Roots whose catalogue was searched, and roots without one.
    pub(crate) searched: Vec<String>,
    pub(crate) without_catalogue: Vec<String>,
    /// The errors of catalogues that could not be read.
    pub(crate) errors: Vec<String>,
    /// What the search said.
    pub(crate) notices: Vec<String>,
}

/// Keeps where contents are, in the order in which they were asked about.
#[derive(Default)]
struct PlacesFound {
    files: Vec<KnownContents>,
    notices: Vec<String>,
}

impl ResultMonitor<KnownResult> for PlacesFound {
    fn result(&mut self, result: &KnownResult) {
        if let KnownResult::File(file) = result {
            self.files.push(file.clone());
        }
    }
}

impl NoticeMonitor for PlacesFound {
    fn notice(&mut self, notice: &Notice) {
        self.notices.push(escape::text(&advice::of_notice(notice)));
    }
}

/// The matches of one file, and how many more there are.
#[derive(Default)]
struct Matches {
    same_contents: (Vec<TaggedMatch>, u64),
    same_name: (Vec<TaggedMatch>, u64),
}

impl Lookup {
    /// Searches the catalogues. Waits for the disk.
    pub(crate) fn of(files: Vec<Dropped>, roots: &ServedRoots) -> Lookup {
        let mut found: Vec<Matches> = files.iter().map(|_| Matches::default()).collect();
        let mut lookup = Lookup {
            files: Vec::new(),
            searched: Vec::new(),
            without_catalogue: Vec::new(),
            errors: Vec::new(),
            notices: Vec::new(),
        };
        let mut archives = Vec::new();
        for place in roots.places() {
            match roots.root(&place).map(|root| Catalogue::find(&root)) {
                Err(error) => {
                    let why = match error.kind() {
                        ErrorKind::NotFound => "not connected, so it was not searched".to_owned(),
                        _ => error.to_string(),
                    };
                    lookup.errors.push(format!("{}: {why}", roots.shown(&place)));
                }
                Ok(None) => lookup.without_catalogue.push(roots.shown(&place)),
                Ok(Some(file)) => {
                    let searched = Catalogue::open_reader(&file).and_then(|catalogue| {
                        // The catalogue of another tree has no file of this one.
                        catalogue.guard()?;
                        search(&catalogue, roots, &place, &files, &mut found)
                    });
                    match searched {
                        Ok(()) => {
                            archives.push(roots.path(&place));
                            lookup.searched.push(roots.shown(&place));
                        }
                        Err(error) => lookup.errors.push(escape::text(&error.to_string())),
                    }
                }
            }
        }
        let mut known = lookup.known(&files, &archives).into_iter();
        let answered = files.into_iter().zip(found).map(|(dropped, found)| {
            let places = dropped.read.is_ok().then(|| known.next()).flatten();
            answer(dropped, found, places)
        });
        lookup.files = answered.collect();
        lookup
    }

    /// Asks the library where the contents of files are that could be read.
    fn known(&mut self, files: &[Dropped], archives: &[PathBuf]) -> Vec<KnownContents> {
        let sought = files.iter().filter_map(|file| {
            let read = file.read.as_ref().ok()?;
            let (path, digests) = (PathBuf::from(&file.shown), read.digests.clone());
            Some(SoughtContents { path, length: read.length, digests })
        });
        let sought: Vec<SoughtContents> = sought.collect();
        if sought.is_empty() || archives.is_empty() {
            return Vec::new();
        }
        let mut found = PlacesFound::default();
        if let Err(error) = known_contents(&sought, archives, &Options::default(), &mut found) {
            self.errors.push(escape::text(&error.to_string()));
        }
        self.notices = found.notices;
        found.files
    }

    /// Returns the last line of the command.
    pub(crate) fn last_line(&self) -> String {
        let (mut files, mut bytes) = ([0; 3], [0; 3]);
        for file in &self.files {
            let word = file.word(self.errors.is_empty()) as usize;
            files[word] += 1;
            bytes[word] += file.dropped.read.as_ref().map_or(0, |read| read.length);
        }
        DOCUMENT.last_line(files, bytes)
    }

    /// Returns what the command prints, and where was searched.
    pub(crate) fn receipt(&self) -> String {
        let mut text = String::new();
        let places = [("In", &self.searched), ("Not in", &self.without_catalogue)];
        for (word, places) in places {
            text.extend(places.iter().map(|place| format!("{word}: {place}\n")));
        }
        text.extend(self.errors.iter().map(|error| format!("{error}\n")));
        text.push('\n');
        for file in &self.files {
            let (places, more) = match &file.known {
                Some(known) => (known.places.as_slice(), known.more),
                None => (&[][..], 0),
            };
            let trouble = file.dropped.read.as_ref().err().map(String::as_str);
            let word = file.word(self.errors.is_empty());
            let line = DOCUMENT.line(word, &file.dropped.shown, (places, more), trouble);
            text.push_str(&format!("{line}\n"));
        }
        format!("{text}\n{}\n", self.last_line())
    }

    /// Returns how many files have each result, the worst first.
    pub(crate) fn sums(&self) -> Vec<(DropAnswer, u64)> {
        let count = |answer| self.files.iter().filter(|file| file.answer == answer).count() as u64;
        let sums = DropAnswer::ALL.into_iter().map(|answer| (answer, count(answer)));
        sums.filter(|(_, files)| *files > 0).collect()
    }
}

/// Searches one catalogue for all files at once.
fn search(
    catalogue: &Catalogue,
    roots: &ServedRoots,
    place: &ServedPath,
    files: &[Dropped],
    found: &mut [Matches],
) -> Result<(), CatalogueError> {
    let mut by_digest: HashMap<Digest, Vec<usize>> = HashMap::new();
    let mut by_name: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        let Ok(read) = &file.read else { continue };
        for (_, digest) in &read.digests {
            by_digest.entry(*digest).or_default().push(at);
        }
        by_name.entry(&file.name).or_default().push(at);
    }
    let digests: Vec<Digest> = by_digest.keys().copied().collect();
    let names: Vec<&OsStr> = by_name.keys().map(|name| OsStr::from_bytes(name)).collect();
    catalogue.look_up(&digests, &names, &mut |sought: LookupMatch| {
        let path = catalogue.root().join(&sought.path);
        // Of nested roots, each lists its own files only.
        let Some(at) = roots.place_of(&path).filter(|at| at.root == place.root) else {
            return ControlFlow::Continue(());
        };
        let known = || TaggedMatch {
            path: escape::path(&path),
            place: at.clone(),
            tagged: sought.tag.tagged,
            standing: (sought.standing != FileState::Fine).then_some(sought.standing),
        };
        let fits =
            |at: &usize| files[*at].read.as_ref().is_ok_and(|read| read.matches(&sought.tag));
        let same = by_digest.get(&sought.tag.digest).into_iter().flatten();
        for &index in same.filter(|at| fits(at)) {
            keep(&mut found[index].same_contents, known());
        }
        let named = by_name.get(sought.name.as_bytes()).into_iter().flatten();
        for &index in named.filter(|at| !fits(at)) {
            keep(&mut found[index].same_name, known());
        }
        ControlFlow::Continue(())
    })
}

fn keep((matches, further): &mut (Vec<TaggedMatch>, u64), one: TaggedMatch) {
    match matches.len() < MATCHES_MAX {
        true => matches.push(one),
        false => *further += 1,
    }
}

fn answer(dropped: Dropped, found: Matches, known: Option<KnownContents>) -> LookedUp {
    let own = dropped.own.as_ref().map(|(verdict, _)| *verdict);
    let own_differs = own.is_some_and(Verdict::differs);
    let own_fits = matches!(own, Some(Verdict::Intact | Verdict::Touched));
    let is_known = known.as_ref().is_some_and(|known| known.word == KnownWord::Known);
    let mends = found.same_contents.0.iter().any(TaggedMatch::needs_mending);
    let (answer, (matches, further)) = match &dropped.read {
        Err(_) => (DropAnswer::Unreadable, (Vec::new(), 0)),
        Ok(_) if own_differs => (DropAnswer::Differs, found.same_name),
        Ok(_) if mends => (DropAnswer::Mends, found.same_contents),
        Ok(_) if own_fits || is_known => (DropAnswer::Known, found.same_contents),
        Ok(_) if !found.same_name.0.is_empty() => (DropAnswer::Differs, found.same_name),
        Ok(_) => (DropAnswer::Unknown, found.same_contents),
    };
    LookedUp { dropped, answer, matches, further, known }
}
