//! Files that somebody asks about: their names and digests, and not one of their bytes.
//!
//! In: bytes as they come, or places beneath the roots. Out: digests by every algorithm that the
//! catalogues use. Memory is bounded: of a drop so many files, of past drops the last.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use steadfast::beneath;
use steadfast::catalogue::Catalogue;
use steadfast::{
    Algorithm, AlgorithmHasher, Digest, Event, Monitor, Options, Progress, Selection, Tag,
    Timestamp, Verb, Verdict,
};
use steadfast_report::escape;

use crate::roots::{Place, Roots};

/// Files of one drop.
pub(crate) const FILES_MAX: usize = 1000;

/// Drops that are remembered.
const DROPS_MAX: usize = 24;

/// Bytes of a name: as long as a path may be.
const NAME_LEN_MAX: usize = 4096;

/// Bytes that are read at a time.
const PIECE_LEN: usize = 256 << 10;

/// Digests of some bytes, and how many these were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digests {
    pub(crate) length: u64,
    pub(crate) digests: Vec<(Algorithm, Digest)>,
}

impl Digests {
    /// Says whether a tag is of the same contents.
    pub(crate) fn fit(&self, tag: &Tag) -> bool {
        tag.length == self.length && self.digests.contains(&(tag.algorithm, tag.digest))
    }
}

/// Takes bytes and keeps none.
pub(crate) struct Taker {
    hashers: Vec<AlgorithmHasher>,
    length: u64,
}

impl Taker {
    pub(crate) fn new(algorithms: &[Algorithm]) -> Taker {
        Taker { hashers: algorithms.iter().copied().map(AlgorithmHasher::new).collect(), length: 0 }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.hashers.iter_mut().for_each(|hasher| hasher.update(bytes));
    }

    pub(crate) fn end(self) -> Digests {
        let digests = self.hashers.into_iter().map(|one| (one.algorithm(), one.finalize()));
        Digests { length: self.length, digests: digests.collect() }
    }
}

/// One file that somebody asks about.
#[derive(Clone, Debug)]
pub(crate) struct Dropped {
    /// Its name, or its path from the folder that was dropped, as documents show it.
    pub(crate) shown: String,
    /// The last part of it, as it is.
    pub(crate) name: Vec<u8>,
    /// Its digests, or why there are none.
    pub(crate) read: Result<Digests, String>,
    /// What its own tag says of it, where it is one of the roots' files.
    pub(crate) own: Option<(Verdict, Option<Tag>)>,
}

/// Files that were dropped together.
pub(crate) struct Drop {
    pub(crate) id: u64,
    pub(crate) begun: Timestamp,
    /// What their bytes are hashed with.
    pub(crate) algorithms: Vec<Algorithm>,
    files: Mutex<Vec<Dropped>>,
    /// Places whose files come by themselves.
    pub(crate) places: Vec<Place>,
    /// Whether these still come.
    going: AtomicBool,
    /// Whether there are more than are told of.
    cut: AtomicBool,
    stop: Arc<AtomicBool>,
}

impl Drop {
    /// Adds a file; says whether there was room for it.
    pub(crate) fn add(&self, file: Dropped) -> bool {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = files.len() < FILES_MAX;
        match fits {
            true => files.push(file),
            false => self.cut.store(true, Ordering::Release),
        }
        fits
    }

    /// Says whether there are more files than are told of.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    /// Returns its files.
    pub(crate) fn files(&self) -> Vec<Dropped> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how many files it has.
    pub(crate) fn len(&self) -> usize {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Says whether files still come by themselves.
    pub(crate) fn is_going(&self) -> bool {
        self.going.load(Ordering::Acquire)
    }
}

/// The drops of this server.
#[derive(Default)]
pub(crate) struct Drops(Mutex<(u64, VecDeque<Arc<Drop>>)>);

impl Drops {
    /// Begins one. It asks the catalogues what they use, and so waits for the disk.
    pub(crate) fn begin(&self, roots: &Roots) -> Arc<Drop> {
        self.begin_of(Vec::new(), roots)
    }

    fn begin_of(&self, places: Vec<Place>, roots: &Roots) -> Arc<Drop> {
        let algorithms = algorithms_of(roots);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.0 += 1;
        let drop = Arc::new(Drop {
            id: known.0,
            begun: (Options::default().now)(),
            algorithms,
            files: Mutex::default(),
            going: AtomicBool::new(!places.is_empty()),
            places,
            cut: AtomicBool::new(false),
            stop: Arc::default(),
        });
        while known.1.len() >= DROPS_MAX {
            if let Some(old) = known.1.pop_front() {
                old.stop.store(true, Ordering::Relaxed);
            }
        }
        known.1.push_back(Arc::clone(&drop));
        drop
    }

    /// Begins one of files of the roots, which are read in a thread of their own.
    pub(crate) fn begin_at(&self, places: Vec<Place>, roots: &Roots) -> Option<Arc<Drop>> {
        let drop = self.begin_of(places, roots);
        let (of_thread, roots) = (Arc::clone(&drop), roots.clone());
        let spawned = std::thread::Builder::new().name("drop".to_owned()).spawn(move || {
            let _ended = Ended(&of_thread);
            for place in &of_thread.places {
                read_place(&of_thread, place, &roots);
            }
        });
        spawned.is_ok().then_some(drop)
    }

    /// Finds one by its number.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<Drop>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.1.iter().find(|drop| drop.id == id).cloned()
    }

    /// Returns those that are remembered, the latest first.
    pub(crate) fn all(&self) -> Vec<Arc<Drop>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.1.iter().rev().cloned().collect()
    }

    /// Says whether files of one still come by themselves.
    pub(crate) fn any_going(&self) -> bool {
        self.all().iter().any(|drop| drop.is_going())
    }

    /// Ends what goes on. Its threads see so within a piece of a file.
    pub(crate) fn end_all(&self) {
        self.all().iter().for_each(|drop| drop.stop.store(true, Ordering::Relaxed));
    }
}

/// Says that no more files come, also if the thread panicked.
struct Ended<'a>(&'a Drop);

impl std::ops::Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.going.store(false, Ordering::Release);
    }
}

/// SHA-256, which new tags have, and what else the catalogues' tags have.
fn algorithms_of(roots: &Roots) -> Vec<Algorithm> {
    let mut all = vec![Algorithm::Sha256];
    for place in roots.places() {
        let file = roots.root(&place).ok().and_then(Catalogue::find);
        let used = file.and_then(|file| Catalogue::open_reader(&file).ok()?.algorithms().ok());
        all.extend(used.unwrap_or_default());
    }
    let known = Algorithm::ALL.iter().copied();
    known.filter(|algorithm| all.contains(algorithm)).collect()
}

/// Returns the last part of a name, or `None` for what is none.
pub(crate) fn name_of(path: &[u8]) -> Option<&[u8]> {
    let name = path.rsplit(|byte| *byte == b'/').next()?;
    let is_name = !name.is_empty() && path.len() <= NAME_LEN_MAX && !path.contains(&0);
    is_name.then_some(name)
}

/// Reads the files of a place, with what their own tags say of them.
fn read_place(drop: &Arc<Drop>, place: &Place, roots: &Roots) {
    let read = roots.root(place).map_err(|error| error.to_string()).and_then(|root| {
        let selection = Selection {
            listed: vec![roots.path(place)],
            within: Some(root.to_owned()),
            ..Selection::default()
        };
        // It reads the catalogue beside whoever writes to it, and leaves no record.
        let stop = Arc::clone(&drop.stop);
        let options = Options { stop, dry_run: true, ..Options::default() };
        let mut reader = Reader { drop, root, options: &options };
        let run = steadfast::run::run(Verb::Check, &selection, &options, &mut reader);
        run.map(std::mem::drop).map_err(|error| error.to_string())
    });
    if let Err(error) = read {
        let shown = roots.shown(place);
        let name = place.below.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        drop.add(Dropped { shown, name, read: Err(escape::text(&error)), own: None });
    }
}

/// Hears a check of dropped places.
struct Reader<'a> {
    drop: &'a Drop,
    root: &'a Path,
    options: &'a Options,
}

impl Monitor for Reader<'_> {
    fn event(&mut self, event: &Event) {
        let Event::File(event) = event else { return };
        if self.drop.len() >= FILES_MAX {
            self.drop.cut.store(true, Ordering::Release);
            self.options.stop.store(true, Ordering::Relaxed);
            return;
        }
        let path = event.path.to_path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        let own = event.verdict.map(|verdict| (verdict, event.stored));
        let actual = event.actual.filter(|tag| self.drop.algorithms == [tag.algorithm]);
        let read = match actual {
            Some(tag) => {
                Ok(Digests { length: tag.length, digests: vec![(tag.algorithm, tag.digest)] })
            }
            None => self.digests(&path),
        };
        let read = read.map_err(|error| escape::text(&error.to_string()));
        self.drop.add(Dropped { shown: escape::path(&path), name, read, own });
    }

    fn progress(&mut self, _progress: &Progress) {}
}

impl Reader<'_> {
    /// Reads a file that the check had no reason to read, or not by all algorithms.
    fn digests(&self, path: &Path) -> std::io::Result<Digests> {
        let below = path.strip_prefix(self.root).map_err(std::io::Error::other)?;
        let file = beneath::file(self.root, below)?;
        let mut taker = Taker::new(&self.drop.algorithms);
        let mut piece = vec![0; PIECE_LEN];
        loop {
            if self.options.stop.load(Ordering::Relaxed) {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            match file.read_at(&mut piece, taker.length)? {
                0 => return Ok(taker.end()),
                count => taker.take(&piece[..count]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_last_part_of_a_path() {
        assert_eq!(name_of(b"a/b/c.jpg"), Some(&b"c.jpg"[..]));
        assert_eq!(name_of(b"c"), Some(&b"c"[..]));
        for bad in [&b""[..], b"a/", b"a\0b", &[b'x'; NAME_LEN_MAX + 1]] {
            assert_eq!(name_of(bad), None);
        }
    }

    #[test]
    fn pieces_have_the_digests_of_the_whole() {
        let all = [Algorithm::Sha256, Algorithm::Md5];
        let (mut one, mut two) = (Taker::new(&all), Taker::new(&all));
        one.take(b"steadfast");
        two.take(b"stead");
        two.take(b"");
        two.take(b"fast");
        let (one, two) = (one.end(), two.end());
        assert_eq!(one, two);
        assert_eq!((one.length, one.digests.len()), (9, 2));
        let of = |algorithm, digest, length| Tag {
            algorithm,
            digest,
            length,
            mtime: Timestamp { seconds: 0, nanoseconds: 0 },
            tagged: Timestamp { seconds: 0, nanoseconds: 0 },
        };
        let (algorithm, digest) = one.digests[1];
        assert!(one.fit(&of(algorithm, digest, 9)));
        assert!(!one.fit(&of(algorithm, digest, 8)));
        assert!(!one.fit(&of(algorithm, one.digests[0].1, 9)));
    }
}
