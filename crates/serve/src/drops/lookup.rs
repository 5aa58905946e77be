//! Looks dropped files up in the catalogues of the roots, by digest and by name.
//!
//! Reads every catalogue once for all files. Ignores the files of a catalogue that are outside the
//! root.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;

use steadfast::catalogue::{Catalogue, CatalogueError, FileState, LookupMatch};
use steadfast::{Digest, Timestamp, Verdict};
use steadfast_report::escape;

use super::Dropped;
use crate::roots::{ServedPath, ServedRoots};

/// Matches that are listed of each file.
const MATCHES_MAX: usize = 5;

/// The result for one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropAnswer {
    /// A file with these contents is recorded here, and is damaged or gone: this one can mend it.
    Mends,
    /// A tagged file has these contents.
    Known,
    /// A tagged file of this name, or its own tag, has other contents.
    Differs,
    /// No tagged file has these contents or this name.
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
        };
        for place in roots.places() {
            match roots.root(&place).map(|root| Catalogue::find(&root)) {
                Err(error) => {
                    lookup.errors.push(format!("{}: {error}", roots.shown(&place)));
                }
                Ok(None) => lookup.without_catalogue.push(roots.shown(&place)),
                Ok(Some(file)) => {
                    let searched = Catalogue::open_reader(&file).and_then(|catalogue| {
                        // The catalogue of another tree has no file of this one.
                        catalogue.guard()?;
                        search(&catalogue, roots, &place, &files, &mut found)
                    });
                    match searched {
                        Ok(()) => lookup.searched.push(roots.shown(&place)),
                        Err(error) => lookup.errors.push(escape::text(&error.to_string())),
                    }
                }
            }
        }
        let answered = files.into_iter().zip(found).map(|(dropped, found)| answer(dropped, found));
        lookup.files = answered.collect();
        lookup
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

fn answer(dropped: Dropped, found: Matches) -> LookedUp {
    let own = dropped.own.as_ref().map(|(verdict, _)| *verdict);
    let own_differs = own.is_some_and(Verdict::differs);
    let own_fits = matches!(own, Some(Verdict::Intact | Verdict::Touched));
    let (answer, (matches, further)) = match &dropped.read {
        Err(_) => (DropAnswer::Unreadable, (Vec::new(), 0)),
        Ok(_) if own_differs => (DropAnswer::Differs, found.same_name),
        Ok(_) if own_fits || !found.same_contents.0.is_empty() => {
            (DropAnswer::Known, found.same_contents)
        }
        Ok(_) if !found.same_name.0.is_empty() => (DropAnswer::Differs, found.same_name),
        Ok(_) => (DropAnswer::Unknown, (Vec::new(), 0)),
    };
    let mends = answer == DropAnswer::Known && matches.iter().any(TaggedMatch::needs_mending);
    let answer = if mends { DropAnswer::Mends } else { answer };
    LookedUp { dropped, answer, matches, further }
}
