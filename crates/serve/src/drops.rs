//! Dropped files: their names and digests. Keeps none of their bytes.
//!
//! In: uploads, or paths beneath the roots. Out: digests by every algorithm of the catalogues.
//! Memory is bounded: so many files of a drop, and the latest drops.

mod lookup;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use steadfast::beneath;
use steadfast::catalogue::Catalogue;
use steadfast::{
    Algorithm, AlgorithmHasher, Digest, Event, Monitor, Options, Run, Selection, Tag, Timestamp,
    Verb, Verdict,
};
use steadfast_report::escape;

pub(crate) use lookup::{DropAnswer, LookedUp, Lookup, TaggedMatch};

use crate::lock::lock;
use crate::recent::Recent;
use crate::roots::{ServedPath, ServedRoots};

/// Files of one drop at most.
pub(crate) const FILES_MAX: usize = 1000;

/// Drops that are kept.
const DROPS_MAX: usize = 24;

/// Longest name in bytes, as that of a path.
const NAME_LEN_MAX: usize = 4096;

/// Bytes of one read.
const PIECE_LEN: usize = 256 << 10;

/// The length of a file, and its digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileDigests {
    pub(crate) length: u64,
    pub(crate) digests: Vec<(Algorithm, Digest)>,
}

impl FileDigests {
    /// Returns whether a tag is of the same contents.
    pub(crate) fn matches(&self, tag: &Tag) -> bool {
        tag.length == self.length && self.digests.contains(&(tag.algorithm, tag.digest))
    }
}

/// Hashes a file piece by piece.
pub(crate) struct DropHasher {
    hashers: Vec<AlgorithmHasher>,
    length: u64,
}

impl DropHasher {
    pub(crate) fn new(algorithms: &[Algorithm]) -> DropHasher {
        DropHasher {
            hashers: algorithms.iter().copied().map(AlgorithmHasher::new).collect(),
            length: 0,
        }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.hashers.iter_mut().for_each(|hasher| hasher.update(bytes));
    }

    pub(crate) fn end(self) -> FileDigests {
        let digests = self.hashers.into_iter().map(|one| (one.algorithm(), one.finalize()));
        FileDigests { length: self.length, digests: digests.collect() }
    }
}

/// One dropped file.
#[derive(Clone, Debug)]
pub(crate) struct Dropped {
    /// Its name, or its path from the dropped folder, as documents show it.
    pub(crate) shown: String,
    /// The last part of the name, exactly.
    pub(crate) name: Vec<u8>,
    /// Its digests, or why there are none.
    pub(crate) read: Result<FileDigests, String>,
    /// The verdict by its own tag, if it is a file of a root, and its path from there.
    pub(crate) own: Option<(Verdict, Option<Tag>)>,
    pub(crate) place: Option<ServedPath>,
}

/// Files that were dropped together.
pub(crate) struct Drop {
    pub(crate) id: u64,
    pub(crate) begun: Timestamp,
    /// What their bytes are hashed with.
    pub(crate) algorithms: Vec<Algorithm>,
    files: Mutex<Vec<Dropped>>,
    /// Places whose files come by themselves.
    pub(crate) places: Vec<ServedPath>,
    /// Whether these still come.
    going: AtomicBool,
    /// Whether there are more than are told of.
    cut: AtomicBool,
    stop: Arc<AtomicBool>,
}

impl Drop {
    /// Adds a file; returns whether there was room for it.
    pub(crate) fn add(&self, file: Dropped) -> bool {
        let mut files = lock(&self.files);
        let fits = files.len() < FILES_MAX;
        match fits {
            true => files.push(file),
            false => self.cut.store(true, Ordering::Release),
        }
        fits
    }

    /// Returns whether there are more files than are kept.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    /// Returns its files.
    pub(crate) fn files(&self) -> Vec<Dropped> {
        lock(&self.files).clone()
    }

    /// Returns how many files it has.
    pub(crate) fn len(&self) -> usize {
        lock(&self.files).len()
    }

    /// Returns whether a thread still adds files.
    pub(crate) fn is_going(&self) -> bool {
        self.going.load(Ordering::Acquire)
    }
}

/// The drops of this server.
#[derive(Default)]
pub(crate) struct Drops(Mutex<Recent<Arc<Drop>>>);

impl Drops {
    /// Begins a drop of uploads. Reads the catalogues' algorithms, and so waits for the disk.
    pub(crate) fn begin(&self, roots: &ServedRoots) -> Arc<Drop> {
        self.begin_of(Vec::new(), roots)
    }

    fn begin_of(&self, places: Vec<ServedPath>, roots: &ServedRoots) -> Arc<Drop> {
        let algorithms = algorithms_of(roots);
        let mut drops = lock(&self.0);
        let id = drops.next_number();
        let drop = Arc::new(Drop {
            id,
            begun: (Options::default().now)(),
            algorithms,
            files: Mutex::default(),
            going: AtomicBool::new(!places.is_empty()),
            places,
            cut: AtomicBool::new(false),
            stop: Arc::default(),
        });
        if let Some(oldest) = drops.add(id, Arc::clone(&drop), DROPS_MAX, |_| true) {
            oldest.stop.store(true, Ordering::Relaxed);
        }
        drop
    }

    /// Begins a drop of files of the roots, which a thread reads.
    pub(crate) fn begin_at(
        &self,
        places: Vec<ServedPath>,
        roots: &ServedRoots,
        usual: Options,
    ) -> Option<Arc<Drop>> {
        let drop = self.begin_of(places, roots);
        let (of_thread, roots) = (Arc::clone(&drop), roots.clone());
        let spawned = std::thread::Builder::new().name("drop".to_owned()).spawn(move || {
            let _end_guard = DropEndGuard(&of_thread);
            for place in &of_thread.places {
                read_place(&of_thread, place, &roots, usual.clone());
            }
        });
        spawned.is_ok().then_some(drop)
    }

    /// Finds a drop by its number.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<Drop>> {
        lock(&self.0).find(id).cloned()
    }

    /// Returns the drops that are kept, the latest first.
    pub(crate) fn all(&self) -> Vec<Arc<Drop>> {
        lock(&self.0).iter().rev().map(|(_, drop)| Arc::clone(drop)).collect()
    }

    /// Returns whether a thread still reads files.
    pub(crate) fn any_going(&self) -> bool {
        self.all().iter().any(|drop| drop.is_going())
    }

    /// Stops all threads. They end after at most one more read.
    pub(crate) fn end_all(&self) {
        self.all().iter().for_each(|drop| drop.stop.store(true, Ordering::Relaxed));
    }
}

/// Marks a drop as complete when its thread ends, also by a panic.
struct DropEndGuard<'a>(&'a Drop);

impl std::ops::Drop for DropEndGuard<'_> {
    fn drop(&mut self) {
        self.0.going.store(false, Ordering::Release);
    }
}

/// Returns SHA-256, which new tags have, and the other algorithms of the catalogues.
fn algorithms_of(roots: &ServedRoots) -> Vec<Algorithm> {
    let mut all = vec![Algorithm::Sha256];
    for place in roots.places() {
        let file = roots.root(&place).ok().and_then(|root| Catalogue::find(&root));
        let used = file.and_then(|file| Catalogue::open_reader(&file).ok()?.algorithms().ok());
        all.extend(used.unwrap_or_default());
    }
    let known = Algorithm::ALL.iter().copied();
    known.filter(|algorithm| all.contains(algorithm)).collect()
}

/// Returns the last part of a name. Returns `None` if it is not a name.
pub(crate) fn name_of(path: &[u8]) -> Option<&[u8]> {
    let name = path.rsplit(|byte| *byte == b'/').next()?;
    let is_name = !name.is_empty() && path.len() <= NAME_LEN_MAX && !path.contains(&0);
    is_name.then_some(name)
}

/// Reads the files at a path, and checks them by their own tags.
fn read_place(drop: &Arc<Drop>, place: &ServedPath, roots: &ServedRoots, usual: Options) {
    let read = roots.root(place).map_err(|error| error.to_string()).and_then(|root| {
        let selection = Selection::default().with(|selection| {
            selection.listed = vec![roots.path(place)];
            selection.within = vec![root.clone()];
        });
        // Dry: the run neither locks the catalogue nor writes to it.
        let stop = Arc::clone(&drop.stop);
        let options = usual.with(|options| {
            options.controls.stop = stop;
            options.dry_run = true;
        });
        let mut monitor = DropMonitor { drop, root: &root, at: place };
        let run = Run::of(Verb::check(), selection, options).run(&mut monitor);
        run.map(std::mem::drop).map_err(|error| error.to_string())
    });
    if let Err(error) = read {
        let shown = roots.shown(place);
        let name = place.below.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        let read = Err(escape::text(&error));
        drop.add(Dropped { shown, name, read, own: None, place: None });
    }
}

/// Monitors the check of dropped files.
struct DropMonitor<'a> {
    drop: &'a Drop,
    root: &'a Path,
    at: &'a ServedPath,
}

impl Monitor for DropMonitor<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        let Event::File(event) = event else { return ControlFlow::Continue(()) };
        if self.drop.len() >= FILES_MAX {
            self.drop.cut.store(true, Ordering::Release);
            return ControlFlow::Break(());
        }
        let path = event.path.to_path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        let own = event.verdict.map(|verdict| (verdict, event.stored));
        let actual = event.actual.filter(|tag| self.drop.algorithms == [tag.algorithm]);
        let read = match actual {
            Some(tag) => {
                Ok(FileDigests { length: tag.length, digests: vec![(tag.algorithm, tag.digest)] })
            }
            None => self.digests(&path),
        };
        let read = read.map_err(|error| escape::text(&error.to_string()));
        let place = path.strip_prefix(self.root).ok().map(|below| self.at.with(below));
        self.drop.add(Dropped { shown: escape::path(&path), name, read, own, place });
        ControlFlow::Continue(())
    }
}

impl DropMonitor<'_> {
    /// Reads a file that the check did not read, or not by all algorithms.
    fn digests(&self, path: &Path) -> std::io::Result<FileDigests> {
        let below = path.strip_prefix(self.root).map_err(std::io::Error::other)?;
        let file = beneath::file(self.root, below)?;
        let mut taker = DropHasher::new(&self.drop.algorithms);
        let mut piece = vec![0; PIECE_LEN];
        loop {
            if self.drop.stop.load(Ordering::Relaxed) {
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
        let (mut one, mut two) = (DropHasher::new(&all), DropHasher::new(&all));
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
        assert!(one.matches(&of(algorithm, digest, 9)));
        assert!(!one.matches(&of(algorithm, digest, 8)));
        assert!(!one.matches(&of(algorithm, one.digests[0].1, 9)));
    }
}
