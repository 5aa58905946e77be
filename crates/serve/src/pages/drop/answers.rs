//! Digests and names → what the catalogues of the roots know of them.
//!
//! Every catalogue is read once for all files. A catalogue may be of a larger tree than the root:
//! of what lies outside the root nothing is told.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;

use steadfast::catalogue::{Catalogue, CatalogueError, Sought, Standing};
use steadfast::{Digest, Timestamp, Verdict};
use steadfast_report::escape;

use crate::drops::Dropped;
use crate::roots::Roots;

/// Places that are told of each file.
const PLACES_MAX: usize = 5;

/// What is known of a file, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A tagged file has these contents.
    Known,
    /// A tagged file has this name and other contents, or its own tag has.
    Differs,
    /// Neither.
    Unknown,
    /// It could not be read.
    Unreadable,
}

impl Answer {
    /// Every answer, the worst first.
    const ALL: [Answer; 4] = [Answer::Differs, Answer::Unreadable, Answer::Unknown, Answer::Known];
}

/// A tagged file that a dropped one is, or should be.
#[derive(Clone, Debug)]
pub(super) struct KnownPlace {
    pub(super) path: String,
    pub(super) tagged: Timestamp,
    /// How it stood when it was judged last, in the report's word, unless all is well.
    pub(super) standing: Option<&'static str>,
}

/// A dropped file, and what is known of it.
pub(super) struct Answered {
    pub(super) dropped: Dropped,
    pub(super) answer: Answer,
    pub(super) places: Vec<KnownPlace>,
    /// Places beyond those.
    pub(super) further: u64,
}

/// What is known of files that were dropped together.
pub(super) struct Answers {
    /// The files, in the order in which they came.
    pub(super) files: Vec<Answered>,
    /// Roots whose catalogue was asked, and those that have none.
    pub(super) asked: Vec<String>,
    pub(super) not_asked: Vec<String>,
    /// Catalogues that could not be read.
    pub(super) troubles: Vec<String>,
}

/// Places of the same contents, and of the same name, as they are found.
#[derive(Default)]
struct Found {
    same: (Vec<KnownPlace>, u64),
    other: (Vec<KnownPlace>, u64),
}

impl Answers {
    /// Asks the catalogues. It waits for the disk.
    pub(super) fn of(files: Vec<Dropped>, roots: &Roots) -> Answers {
        let mut found: Vec<Found> = files.iter().map(|_| Found::default()).collect();
        let mut answers = Answers {
            files: Vec::new(),
            asked: Vec::new(),
            not_asked: Vec::new(),
            troubles: Vec::new(),
        };
        for place in roots.places() {
            match roots.root(&place).map(Catalogue::find) {
                Err(error) => {
                    answers.troubles.push(format!("{}: {error}", roots.shown(&place)));
                }
                Ok(None) => answers.not_asked.push(roots.shown(&place)),
                Ok(Some(file)) => {
                    let sought = Catalogue::open_reader(&file)
                        .and_then(|catalogue| ask(&catalogue, roots, &place, &files, &mut found));
                    match sought {
                        Ok(()) => answers.asked.push(roots.shown(&place)),
                        Err(error) => answers.troubles.push(escape::text(&error.to_string())),
                    }
                }
            }
        }
        let answered = files.into_iter().zip(found).map(|(dropped, found)| answer(dropped, found));
        answers.files = answered.collect();
        answers
    }

    /// Returns how many files have each answer, the worst first.
    pub(super) fn sums(&self) -> Vec<(Answer, u64)> {
        let count = |answer| self.files.iter().filter(|file| file.answer == answer).count() as u64;
        let sums = Answer::ALL.into_iter().map(|answer| (answer, count(answer)));
        sums.filter(|(_, files)| *files > 0).collect()
    }
}

/// Looks for all files at once.
fn ask(
    catalogue: &Catalogue,
    roots: &Roots,
    place: &crate::roots::Place,
    files: &[Dropped],
    found: &mut [Found],
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
    catalogue.seek(&digests, &names, &mut |sought: Sought| {
        let path = catalogue.root().join(&sought.path);
        // Of roots within each other each tells of its own.
        if roots.place_of(&path).is_none_or(|at| at.root != place.root) {
            return ControlFlow::Continue(());
        }
        let known = || KnownPlace {
            path: escape::path(&path),
            tagged: sought.tag.tagged,
            standing: (sought.standing != Standing::Fine).then(|| sought.standing.name()),
        };
        let fits = |at: &usize| files[*at].read.as_ref().is_ok_and(|read| read.fit(&sought.tag));
        for &at in by_digest.get(&sought.tag.digest).into_iter().flatten().filter(|at| fits(at)) {
            keep(&mut found[at].same, known());
        }
        let named = by_name.get(sought.name.as_bytes()).into_iter().flatten();
        for &at in named.filter(|at| !fits(at)) {
            keep(&mut found[at].other, known());
        }
        ControlFlow::Continue(())
    })
}

fn keep((places, further): &mut (Vec<KnownPlace>, u64), place: KnownPlace) {
    match places.len() < PLACES_MAX {
        true => places.push(place),
        false => *further += 1,
    }
}

fn answer(dropped: Dropped, found: Found) -> Answered {
    let own = dropped.own.as_ref().map(|(verdict, _)| *verdict);
    let own_differs = matches!(own, Some(Verdict::Corrupt | Verdict::Modified));
    let own_fits = matches!(own, Some(Verdict::Intact | Verdict::Touched));
    let (answer, (places, further)) = match &dropped.read {
        Err(_) => (Answer::Unreadable, (Vec::new(), 0)),
        Ok(_) if own_differs => (Answer::Differs, found.other),
        Ok(_) if own_fits || !found.same.0.is_empty() => (Answer::Known, found.same),
        Ok(_) if !found.other.0.is_empty() => (Answer::Differs, found.other),
        Ok(_) => (Answer::Unknown, (Vec::new(), 0)),
    };
    Answered { dropped, answer, places, further }
}
