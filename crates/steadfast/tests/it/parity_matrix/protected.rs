//! A tree with parity: one file of interest, its neighbours, and the states that its parity can be
//! in.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use steadfast::parity::{ParityPlace, Redundancy, make_parity, verify_parity};
use steadfast::repair::RepairSummary;
use steadfast::{CatalogueUse, Options, Verb};
use steadfast_parity::{COLUMNS, Losses, PAGE_LEN, PageAt, SetFile, SetIndex, column_of};
use steadfast_sys::xattr;

use super::Quiet;
use super::damage::{Aim, Damage};
use crate::tree::{Tree, run_on};

/// A kind of file, and the tree that it is in.
pub(super) struct FileOfInterest {
    pub(super) name: &'static str,
    pub(super) len: usize,
    /// Lengths of its neighbours, which are in its set as far as there is room.
    neighbours: &'static [usize],
    redundancy: u8,
    circumstance: Circumstance,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Circumstance {
    Plain,
    /// It came after the others, into a set of its own.
    Added,
    /// A neighbour was edited and tagged again after parity was made.
    Weakened,
}

const MIB: usize = 1 << 20;

/// The longest set with as much parity as data.
const SET: usize = 8 * MIB;

const fn file(
    name: &'static str,
    len: usize,
    neighbours: &'static [usize],
    redundancy: u8,
) -> FileOfInterest {
    FileOfInterest { name, len, neighbours, redundancy, circumstance: Circumstance::Plain }
}

pub(super) const FILES: [FileOfInterest; 10] = [
    file("in a full set", 3 * MIB, &[3 * MIB, 2 * MIB], 100),
    file("cut over two sets", SET + 3 * MIB + 5, &[5000], 100),
    file("set length - 1", SET - 1, &[], 100),
    file("set length + 1", SET + 1, &[], 100),
    file("packed and tiny", 100, &[50, 3000, 70, 2000, 600 << 10, 900 << 10], 10),
    FileOfInterest {
        circumstance: Circumstance::Added,
        ..file("in the last open set", 1_400_000, &[20_000, 40_000], 10)
    },
    FileOfInterest {
        circumstance: Circumstance::Weakened,
        ..file("in a weakened set", 1_300_000, &[30_000, 40_000, 500], 10)
    },
    file("empty", 0, &[1, 9000], 10),
    file("one byte", 1, &[4096, 9000], 10),
    file("one page", PAGE_LEN, &[1_500_000, 9000], 10),
];

/// What is wrong with the parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParityState {
    Intact,
    PageBad,
    HeaderBad,
    HeadersBad,
    TableBlockBad,
    IndexBad,
    CutInFront,
    CutBehind,
    SetMissing,
    Stale,
}

pub(super) const PARITY_STATES: [ParityState; 10] = [
    ParityState::Intact,
    ParityState::PageBad,
    ParityState::HeaderBad,
    ParityState::HeadersBad,
    ParityState::TableBlockBad,
    ParityState::IndexBad,
    ParityState::CutInFront,
    ParityState::CutBehind,
    ParityState::SetMissing,
    ParityState::Stale,
];

impl ParityState {
    pub(super) fn name(self) -> &'static str {
        match self {
            ParityState::Intact => "parity intact",
            ParityState::PageBad => "parity page bad",
            ParityState::HeaderBad => "header bad",
            ParityState::HeadersBad => "both headers bad",
            ParityState::TableBlockBad => "index block bad in one copy",
            ParityState::IndexBad => "index bad in both copies",
            ParityState::CutInFront => "parity cut in front",
            ParityState::CutBehind => "parity cut behind",
            ParityState::SetMissing => "set missing",
            ParityState::Stale => "parity of an older version",
        }
    }

    fn is_usable(self) -> bool {
        use ParityState::{CutBehind, CutInFront, HeaderBad, Intact, PageBad, TableBlockBad};
        matches!(self, Intact | PageBad | HeaderBad | TableBlockBad | CutInFront | CutBehind)
    }

    /// Damages the bytes of a parity file; `None` if it is gone.
    fn damage(self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut left = bytes.to_vec();
        let index_blocks = read_set(bytes).0.div_ceil(4092);
        let end = bytes.len();
        let mut flip = |at: usize| left[at] ^= 0x40;
        match self {
            ParityState::Intact | ParityState::Stale => {}
            ParityState::PageBad => flip((1 + index_blocks) * PAGE_LEN + 77),
            ParityState::HeaderBad => flip(30),
            ParityState::HeadersBad => [30, end - PAGE_LEN + 30].into_iter().for_each(flip),
            ParityState::TableBlockBad => flip(PAGE_LEN + 9),
            ParityState::IndexBad => {
                let second = end - (1 + index_blocks) * PAGE_LEN;
                [PAGE_LEN + 9, second + 9].into_iter().for_each(flip);
            }
            ParityState::CutInFront => drop(left.drain(..5000)),
            ParityState::CutBehind => left.truncate(end - 5000),
            ParityState::SetMissing => return None,
        }
        Some(left)
    }
}

/// Returns the length of the index in bytes, and the index.
fn read_set(bytes: &[u8]) -> (usize, SetIndex) {
    let set = SetFile::read(bytes.len() as u64, &mut |at, to| {
        to.copy_from_slice(&bytes[at as usize..at as usize + to.len()]);
        Ok(())
    });
    let set = set.unwrap();
    // The header has it at 32.
    (u64::from_le_bytes(bytes[32..40].try_into().unwrap()) as usize, set.index().clone())
}

/// What must become of a damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Restored,
    Untouched,
    /// The file is gone, and nothing that can be read knew of it.
    Unknown,
}

/// A file that was damaged.
pub(super) struct DamagedFile {
    pub(super) expected: Expected,
    state: ParityState,
    left: Option<Vec<u8>>,
    inode: Option<u64>,
    /// Whether its folder is gone too, of which only a catalogue knows the mode.
    folder_is_gone: bool,
}

/// All of a file that a repair must bring back or leave.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Whole {
    bytes: Vec<u8>,
    mode: u32,
    owner: (u32, u32),
    mtime: (i64, i64),
    tag: Option<Vec<u8>>,
    note: Option<Vec<u8>>,
}

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let file = steadfast_sys::file::File::open(path).unwrap();
    let mut value = vec![0; 4096];
    let len = xattr::get(&file, name, &mut value).unwrap()?;
    value.truncate(len);
    Some(value)
}

impl Whole {
    fn of(path: &Path) -> Option<Whole> {
        let facts = fs::symlink_metadata(path).ok()?;
        Some(Whole {
            bytes: fs::read(path).unwrap(),
            mode: facts.mode(),
            owner: (facts.uid(), facts.gid()),
            mtime: (facts.mtime(), facts.mtime_nsec()),
            tag: attribute(path, xattr::TAG),
            note: attribute(path, "user.note"),
        })
    }

    fn put(&self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &self.bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(self.mode)).unwrap();
        let file = steadfast_sys::file::File::open(path).unwrap();
        for (name, value) in [(xattr::TAG, &self.tag), ("user.note", &self.note)] {
            if let Some(value) = value {
                xattr::set(&file, name, value).unwrap();
            }
        }
        self.set_mtime(path);
    }

    fn set_mtime(&self, path: &Path) {
        let since = Duration::new(self.mtime.0 as u64, self.mtime.1 as u32);
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + since).unwrap();
    }
}

/// A set as it was made: its path beneath the parity's folder, and its bytes.
type SavedSet = (PathBuf, Vec<u8>);

/// A tree of which one file is to be damaged.
pub(super) struct ProtectedTree {
    of: &'static FileOfInterest,
    tree: Tree,
    has_catalogue: bool,
    subject: PathBuf,
    /// Files of the subject's folder besides it.
    beside: Vec<(PathBuf, Whole)>,
    whole: Whole,
    /// The version before, which stale parity protects.
    before: Whole,
    sets: Vec<SavedSet>,
    stale: Vec<SavedSet>,
    /// Paths beneath the root whose bytes are not those of the sets any more.
    edited: Vec<PathBuf>,
}

fn contents(seed: usize, len: usize) -> Vec<u8> {
    let mut state = seed as u64 + 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// Gives a file what a repair must keep or restore.
fn dress(path: &Path, mtime_s: u64) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
    let file = steadfast_sys::file::File::open(path).unwrap();
    xattr::set(&file, "user.note", b"keep").unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    let mtime = SystemTime::UNIX_EPOCH + Duration::new(mtime_s, 123_456_789);
    file.set_modified(mtime).unwrap();
}

/// Reads the parity files of a tree.
fn saved(tree: &Tree) -> Vec<SavedSet> {
    let mut sets = Vec::new();
    for above in fs::read_dir(tree.at(".steadfast/parity")).unwrap() {
        let above = above.unwrap();
        if above.file_type().unwrap().is_dir() {
            for set in fs::read_dir(above.path()).unwrap() {
                let set = set.unwrap();
                // Earlier sets are in folders of their own.
                if set.file_type().unwrap().is_dir() {
                    continue;
                }
                let name = Path::new(&above.file_name()).join(set.file_name());
                sets.push((name, fs::read(set.path()).unwrap()));
            }
        }
    }
    sets
}

fn options(has_catalogue: bool) -> Options {
    crate::tree::usual().with(|options| {
        options.reading.workers = Some(1);
        // A process that another test just started may still hold the lock of a catalogue.
        options.catalogue.wait = true;
        options.allow_empty = true;
        options.catalogue.choice = match has_catalogue {
            true => CatalogueUse::Nearest,
            false => CatalogueUse::Off,
        };
    })
}

fn holds_subject(index: &SetIndex) -> bool {
    index.member(Path::new(SUBJECT)).is_some()
}

const FOLDER: &str = "folder";
const SUBJECT: &str = "folder/subject";

impl ProtectedTree {
    pub(super) fn new(of: &'static FileOfInterest, has_catalogue: bool) -> ProtectedTree {
        let tree = Tree::in_memory();
        let mut edited = Vec::new();
        for (number, len) in of.neighbours.iter().enumerate() {
            // The first is in the folder that goes missing; the others stand around it.
            let name = if number == 0 { format!("{FOLDER}/beside") } else { format!("z{number}") };
            tree.write(name, contents(number, *len));
        }
        // A tree of which nothing is left looks like one that is not mounted.
        tree.write("zz", "not protected");
        let subject = tree.at(SUBJECT);
        let selection = tree.selection();
        let options = options(has_catalogue);
        let tag = || {
            for verb in [Verb::tag(), Verb::update()] {
                let _ = run_on(verb, &selection, &options);
            }
        };
        if has_catalogue {
            let init = steadfast::InitOptions { tags_only: true, ..Default::default() };
            let run = steadfast::Run::of(Verb::Init(init), tree.selection(), options.clone());
            let _ = run.run(&mut Quiet).unwrap();
        }
        let mut parity = crate::tree::usual_parity();
        parity.redundancy = Some(Redundancy::new(of.redundancy).unwrap());
        let place = ParityPlace::new(tree.path(), None).unwrap();
        let make = || {
            let made = make_parity(&place, &parity, &mut Quiet).unwrap();
            assert_eq!(made.exit_status().code(), 0, "{}: {made:?}", of.name);
            saved(&tree)
        };
        if of.circumstance == Circumstance::Added {
            tag();
            let _ = make();
        }
        // The version that is protected before.
        fs::create_dir_all(tree.at(FOLDER)).unwrap();
        fs::write(&subject, contents(77, of.len)).unwrap();
        dress(&subject, 1_000_000_000);
        tag();
        let before = Whole::of(&subject).unwrap();
        let stale = make();
        fs::write(&subject, contents(99, of.len)).unwrap();
        dress(&subject, 1_100_000_000);
        tag();
        let sets = make();
        let totals = verify_parity(&place, false, &false.into(), &mut |_| ()).unwrap();
        assert_eq!(totals.exit_status().code(), 0);
        if of.circumstance == Circumstance::Weakened {
            tree.edit("z1", contents(5, of.neighbours[1]));
            tag();
            edited.push(PathBuf::from("z1"));
        }
        let whole = Whole::of(&subject).unwrap();
        let beside = tree.at("folder/beside");
        let beside = Whole::of(&beside).map(|whole| (beside, whole)).into_iter().collect();
        let has = has_catalogue;
        ProtectedTree {
            of,
            tree,
            has_catalogue: has,
            subject,
            beside,
            whole,
            before,
            sets,
            stale,
            edited,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.of.name
    }

    pub(super) fn options(&self) -> Options {
        options(self.has_catalogue)
    }

    pub(super) fn root(&self) -> &Path {
        self.tree.path()
    }

    /// Puts the parity into a state.
    pub(super) fn set_parity(&self, state: ParityState) {
        let folder = self.tree.at(".steadfast/parity");
        fs::remove_dir_all(&folder).unwrap();
        let sets = if state == ParityState::Stale { &self.stale } else { &self.sets };
        for (name, bytes) in sets {
            let left = if holds_subject(&read_set(bytes).1) {
                state.damage(bytes)
            } else {
                Some(bytes.clone())
            };
            if let Some(left) = left {
                let path = folder.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, left).unwrap();
            }
        }
        fs::create_dir_all(&folder).unwrap();
    }

    /// Damages the file and says what must become of it; `None` if nothing is damaged.
    pub(super) fn damage(&self, damage: Damage, state: ParityState) -> Option<DamagedFile> {
        let left = damage.of(&self.whole.bytes, &self.aim());
        let folder_is_gone = damage == Damage::MissingFolder;
        match &left {
            Some(left) if *left == self.whole.bytes => return None,
            Some(left) => {
                fs::write(&self.subject, left).unwrap();
                self.whole.set_mtime(&self.subject);
            }
            None if folder_is_gone => fs::remove_dir_all(self.tree.at(FOLDER)).unwrap(),
            None => fs::remove_file(&self.subject).unwrap(),
        }
        let is_stale = state == ParityState::Stale;
        // Without a catalogue, the version in the parity is all that is known of a missing file.
        let is_known = left.is_some() || self.has_catalogue;
        let as_protected = !is_stale || !is_known || self.of.len == 0;
        let can = as_protected && self.can_come_back(left.as_deref(), state, folder_is_gone);
        let expected = match state {
            _ if (state.is_usable() || is_stale) && can => Expected::Restored,
            _ if state.is_usable() || is_stale || is_known => Expected::Untouched,
            _ => Expected::Unknown,
        };
        let inode = fs::metadata(&self.subject).ok().map(|facts| facts.ino());
        Some(DamagedFile { expected, state, left, inode, folder_is_gone })
    }

    /// Says whether the pages that are left of each set suffice.
    fn can_come_back(&self, left: Option<&[u8]>, state: ParityState, folder: bool) -> bool {
        let sets = if state == ParityState::Stale { &self.stale } else { &self.sets };
        sets.iter().all(|(_, bytes)| {
            let index = read_set(bytes).1;
            let mut losses = Losses::new(index.geometry());
            let mut wanted = Vec::new();
            for member in index.members() {
                let is_subject = member.file.path == Path::new(SUBJECT);
                let is_gone = folder && member.file.path.starts_with(FOLDER);
                let is_left = |range: std::ops::Range<usize>| {
                    let left = left.and_then(|left| left.get(range.clone()));
                    left == Some(&self.whole.bytes[range])
                };
                for page in member.pages() {
                    let span = member.span(page).unwrap();
                    let start = span.file_offset as usize;
                    let is_lost = is_gone
                        || is_subject && !is_left(start..start + span.in_page.len())
                        || self.edited.contains(&member.file.path);
                    if is_lost {
                        losses.lose(PageAt::Data(page));
                    }
                    if is_subject || is_gone {
                        wanted.push(page);
                    }
                }
            }
            if state == ParityState::PageBad && holds_subject(&index) {
                losses.lose(PageAt::Parity(0));
            }
            wanted.iter().all(|page| losses.can_have(*page))
        })
    }

    /// Returns where the file's pages are in the first set that has it.
    fn aim(&self) -> Aim {
        let mut sets = self.sets.iter().map(|(_, bytes)| read_set(bytes).1);
        let found = sets.find_map(|index| {
            let member = index.member(Path::new(SUBJECT)).filter(|member| member.start == 0)?;
            // The column with most of its pages, so that one more than it can lose may be lost.
            let mut columns = vec![Vec::new(); COLUMNS];
            for page in member.pages() {
                let at = member.span(page)?.file_offset as usize / PAGE_LEN;
                columns[column_of(page)].push(at);
            }
            let column = columns.into_iter().max_by_key(Vec::len)?;
            Some(Aim { parity_shards: index.geometry().parity_shards() as usize, column })
        });
        found.expect("a set has the file")
    }

    pub(super) fn assert_outcome(&self, file: &DamagedFile, summary: &RepairSummary, name: &str) {
        let found = Whole::of(&self.subject);
        let status = summary.exit_status().code();
        match file.expected {
            Expected::Restored => {
                let is_older = file.state == ParityState::Stale && !self.has_catalogue;
                let is_older = is_older && file.left.is_none();
                let whole = if is_older { &self.before } else { &self.whole };
                assert!(found.as_ref() == Some(whole), "{name}: not as it was; {summary:?}");
                let is_withheld = file.folder_is_gone && !self.has_catalogue;
                assert_eq!(status, if is_withheld { 2 } else { 0 }, "{name}: {summary:?}");
            }
            Expected::Untouched => {
                // Of a folder that is gone, this file may come back and its neighbour not.
                if file.left.is_none() && found.as_ref() == Some(&self.whole) {
                    assert_eq!(status, 3, "{name}: {summary:?}");
                    return;
                }
                let left = file.left.clone().map(|bytes| Whole { bytes, ..self.whole.clone() });
                assert!(found == left, "{name}: it was touched; {summary:?}");
                let inode = fs::metadata(&self.subject).ok().map(|facts| facts.ino());
                assert_eq!((inode, status), (file.inode, 3), "{name}: {summary:?}");
            }
            Expected::Unknown => {
                assert!(found.is_none(), "{name}: it is there");
                let is_there = file.state != ParityState::SetMissing;
                assert!(!is_there || status == 2, "{name}: {summary:?}");
            }
        }
    }

    /// Puts everything back as it was before the damage.
    pub(super) fn restore(&self) {
        for (path, whole) in &self.beside {
            if Whole::of(path).as_ref() != Some(whole) {
                whole.put(path);
            }
        }
        if Whole::of(&self.subject).as_ref() != Some(&self.whole) {
            let _ = fs::remove_file(&self.subject);
            self.whole.put(&self.subject);
        }
        let _ = fs::remove_dir_all(self.tree.at(".steadfast/damaged"));
    }
}
