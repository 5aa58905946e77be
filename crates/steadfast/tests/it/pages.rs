//! Leaves that are kept with tags, and the pages that they find damaged: exactly those.

#![allow(clippy::single_range_in_vec_init, reason = "one range of pages is expected")]

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast::Advice;
use steadfast::fastest_lanes;
use steadfast::pages::{Kept, PagesUse, SIDECAR_SUFFIX};
use steadfast::run::verify_pages;
use steadfast::unguarded::run;
use steadfast::verity::{ReadOptions, VerityParams};
use steadfast::{
    Action, Algorithm, CatalogueUse, CheckOptions, DueChoice, Event, Monitor, ReadFrom, Run,
    Selection, TagOptions, Verb, Verdict,
};

use crate::image::{BLOCK_LEN, EXT4, Image};
use crate::tree::{Tree, retag, retag_to, run_on, set_mtime};

/// Hears nothing.
struct Deaf;

impl Monitor for Deaf {
    fn event(&mut self, _: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Numbers that look random and are the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

fn catalogued() -> Tree {
    let tree = Tree::new();
    let _ = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([tree.path()]),
        crate::tree::usual(),
    )
    .run(&mut Deaf)
    .unwrap();
    tree
}

/// A `tag` that keeps leaves.
fn keeping(page_len: Option<usize>, sidecars: bool) -> Verb {
    with_algorithm(page_len, sidecars, None)
}

fn with_algorithm(page_len: Option<usize>, sidecars: bool, algorithm: Option<Algorithm>) -> Verb {
    Verb::Tag(TagOptions { algorithm, pages: PagesUse::All { page_len, sidecars } })
}

fn with_bit(data: &[u8], bit: u64) -> Vec<u8> {
    let mut data = data.to_vec();
    data[(bit / 8) as usize] ^= 1 << (bit % 8);
    data
}

fn sidecar(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(SIDECAR_SUFFIX);
    name.into()
}

/// Every file of leaves in a tree's folder.
fn kept_in(tree: &Tree) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![tree.at(".steadfast/pages")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => files.push(entry.path()),
            }
        }
    }
    files
}

fn damaged(path: &Path) -> (Verdict, Vec<Range<u64>>) {
    let verified = verify_pages(path, &crate::tree::usual_pages()).unwrap();
    (verified.verdict, verified.damage.check.damaged)
}

#[test]
fn exactly_the_flipped_pages_are_named_in_a_catalogued_tree() {
    let tree = catalogued();
    let mut random = Random(0x9a6e5);
    // Beyond 8 MiB leaves wait in a draft; the last page of this one is short.
    let data = random.bytes((9 << 20) + 777);
    let path = tree.write("folder/long", &data);
    tree.write("short", "one page");
    let said = tree.run(keeping(None, false));
    assert_eq!((said.status(), said.action("long")), (0, Some(Action::Tagged)));
    assert_eq!(kept_in(&tree).len(), 1, "a file of one page has no leaves");
    let verified = verify_pages(&path, &crate::tree::usual_pages()).unwrap();
    assert_eq!((verified.verdict, verified.damage.check.pages), (Verdict::Intact, 2305));
    let workers = NonZeroUsize::new(2).unwrap();
    let reading = ReadOptions { workers, lanes: fastest_lanes(), stop: None };
    let digest = steadfast::verity::digest(&data, &VerityParams::default(), &reading).unwrap();
    assert_eq!(verified.verity, digest);
    let bits = [0, 4096 * 8 - 1, 5 * 4096 * 8, 6 * 4096 * 8 + 9, 8 * data.len() as u64 - 1];
    let all = bits.iter().fold(data.clone(), |data, bit| with_bit(&data, *bit));
    tree.corrupt("folder/long", &all);
    assert_eq!(damaged(&path), (Verdict::Corrupt, vec![0..1, 5..7, 2304..2305]));
    for options in [
        crate::tree::usual(),
        crate::tree::usual().with(|options| options.reading.from = ReadFrom::Media),
    ] {
        let said = tree.run_as(Verb::check(), &options);
        let damage = said.of("long").damage.as_ref().unwrap();
        let bytes: Vec<Range<u64>> = damage.damaged().collect();
        let end = data.len() as u64;
        assert_eq!(bytes, [0..4096, 5 * 4096..7 * 4096, 2304 * 4096..end]);
        assert_eq!((said.status(), damage.check.damaged_pages), (3, 4));
    }
    tree.edit("folder/long", &all);
    assert_eq!(damaged(&path).0, Verdict::Modified);
}

#[test]
fn random_damage_is_located_whatever_the_page() {
    let mut random = Random(0x10ca7e);
    for round in 0..12 {
        let tree = Tree::new();
        let page_len = 1024 << random.below(7);
        let len = page_len + 1 + random.below(600_000);
        let data = random.bytes(len as usize);
        let path = tree.write("file", &data);
        tree.run(keeping(Some(page_len as usize), true));
        let bits: BTreeSet<u64> = (0..random.below(9)).map(|_| random.below(8 * len)).collect();
        let flipped = bits.iter().fold(data.clone(), |data, bit| with_bit(&data, *bit));
        tree.corrupt("file", flipped);
        let expected: BTreeSet<u64> = bits.iter().map(|bit| bit / 8 / page_len).collect();
        let (verdict, ranges) = damaged(&path);
        let found: BTreeSet<u64> = ranges.into_iter().flatten().collect();
        assert_eq!(found, expected, "round {round}, {len} bytes in pages of {page_len}");
        assert_eq!(verdict == Verdict::Corrupt, !expected.is_empty());
    }
}

#[test]
fn a_flipped_bit_beneath_the_file_system_is_located_in_its_page() {
    let Some(mut image) = Image::make(EXT4) else { return };
    let mut random = Random(0xd15c);
    let data = random.bytes(300 * BLOCK_LEN + 1000);
    let _ = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([image.tree.path()]),
        crate::tree::usual(),
    )
    .run(&mut Deaf)
    .unwrap();
    let path = image.tree.write("film", &data);
    image.tree.run(keeping(None, false));
    image.sync();
    image.unmount();
    let pages = [0, 17, 18, 123, 299, 300];
    let head = |page: usize| data[page * BLOCK_LEN..][..32].to_vec();
    let places = image.locate(&pages.map(head), BLOCK_LEN);
    for (place, page) in places.into_iter().zip(pages) {
        // The last page has 1000 bytes of the file; what follows them belongs to nobody.
        image.flip(place + (random.below(1000)), (page % 8) as u8);
    }
    image.mount();
    let (verdict, ranges) = damaged(&path);
    assert_eq!((verdict, ranges), (Verdict::Corrupt, vec![0..1, 17..19, 123..124, 299..301]));
    let said = image.tree.run(Verb::check());
    assert_eq!(said.verdict("film"), Some(Verdict::Corrupt));
    assert_eq!(said.of("film").damage.as_ref().unwrap().check.damaged_pages, 6);
}

#[test]
fn update_and_retag_keep_leaves_true_and_the_old_ones_go() {
    let tree = catalogued();
    let mut random = Random(3);
    let [first, second] = [random.bytes(100_000), random.bytes(120_000)];
    let path = tree.write("file", first);
    tree.run(keeping(Some(1024), false));
    let old = kept_in(&tree);
    tree.edit("file", &second);
    tree.write("later", random.bytes(50_000));
    let said = tree.run(Verb::update());
    assert_eq!(said.action("file"), Some(Action::Retagged));
    let verified = verify_pages(&path, &crate::tree::usual_pages()).unwrap();
    assert_eq!((verified.verdict, verified.damage.page_len), (Verdict::Intact, 1024));
    let place = verified.kept.unwrap();
    assert_ne!(old[0], place);
    assert_eq!(damaged(&tree.at("later")), (Verdict::Intact, vec![]), "a new file has leaves too");
    let said = tree.run(retag_to(Algorithm::Blake3));
    assert_eq!(said.status(), 0);
    let verified = verify_pages(&path, &crate::tree::usual_pages()).unwrap();
    let moved = Kept::open(verified.kept.as_deref().unwrap()).unwrap();
    assert_eq!((verified.verdict, moved.header().algorithm), (Verdict::Intact, Algorithm::Blake3));
    assert_eq!(kept_in(&tree).len(), 2, "one for each file: {:?}", kept_in(&tree));
    tree.corrupt("file", with_bit(&second, 50_000));
    let said = tree.run(Verb::update());
    assert_eq!(said.of("file").damage.as_ref().unwrap().check.damaged, [6..7]);
}

#[test]
fn decay_on_a_coarser_clock_is_no_edit() {
    let tree = catalogued();
    let data = Random(11).bytes(50_000);
    let path = tree.write("file", &data);
    let whole = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_001);
    set_mtime(&path, whole + Duration::from_nanos(123_456_789));
    tree.run(keeping(None, false));
    // As a copy to HFS+ keeps it.
    set_mtime(&path, whole);
    assert_eq!(damaged(&path), (Verdict::Intact, vec![]));
    tree.corrupt("file", with_bit(&data, 9));
    assert_eq!(damaged(&path).0, Verdict::Corrupt);
}

#[test]
fn an_empty_file_needs_no_leaves() {
    let tree = catalogued();
    let path = tree.write("empty", "");
    tree.run(keeping(None, false));
    let verified = verify_pages(&path, &crate::tree::usual_pages()).unwrap();
    assert_eq!((verified.verdict, verified.kept), (Verdict::Intact, None));
    let mtime = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "grown").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(mtime).unwrap();
    assert_eq!(damaged(&path).0, Verdict::Corrupt);
}

#[test]
fn tagged_files_are_read_for_their_leaves_once_and_never_retagged() {
    let tree = catalogued();
    let data = Random(4).bytes(50_000);
    for name in ["decayed", "fine"] {
        tree.write(name, &data[name.len()..]);
    }
    tree.run(Verb::tag());
    assert!(kept_in(&tree).is_empty(), "nobody asked");
    tree.corrupt("decayed", with_bit(&data["decayed".len()..], 9));
    tree.write(".steadfast/pages/4096/draft-1-0", "what a run that was killed left");
    let foreign = tree.write(".steadfast/pages/4096/note", "not a draft");
    let said = tree.run(keeping(None, false));
    assert_eq!((said.status(), said.verdict("decayed")), (3, Some(Verdict::Corrupt)));
    assert_eq!((said.action("fine"), said.verdict("fine")), (Some(Action::Kept), None));
    assert!(foreign.is_file(), "only drafts are swept away");
    fs::remove_file(foreign).unwrap();
    assert_eq!(kept_in(&tree).len(), 1, "damage must not become what pages are held against");
    let left = tree.write(".steadfast/pages/4096/draft-1-1", "left beside leaves that are whole");
    let again = tree.run(keeping(None, false));
    assert_eq!(again.of("fine").reading.bytes, 0);
    assert!(!left.exists(), "no leaves replace this draft");
    assert!(verify_pages(&tree.at("decayed"), &crate::tree::usual_pages()).is_err());
}

#[test]
fn sidecars_are_no_data_and_serve_their_own_file_alone() {
    let tree = Tree::new();
    let mut random = Random(5);
    let [first, second] = [random.bytes(40_000), random.bytes(40_000)];
    let (one, two) = (tree.write("one", &first), tree.write("two", &second));
    tree.run(keeping(None, true));
    assert!(sidecar(&one).is_file() && sidecar(&two).is_file());
    let said = tree.run(Verb::check());
    assert_eq!((said.files.len(), said.summary.skipped.sidecars), (2, 0));
    assert_eq!(said.summary.skipped.leaves, 2);
    fs::copy(sidecar(&one), sidecar(&two)).unwrap();
    let error = verify_pages(&two, &crate::tree::usual_pages()).unwrap_err();
    assert!(error.to_string().contains("no leaves are kept"), "{error}");
    tree.edit("one", &second);
    assert_eq!(damaged(&one).0, Verdict::Modified);
    tree.run(Verb::update());
    assert_eq!(damaged(&one), (Verdict::Intact, vec![]), "where there is one it is kept true");
    let alone = tree.write("alone.steadfast-pages", "data of that name");
    let unmatched = tree.write("two.steadfast-pages.new", "data");
    let said = tree.run(Verb::tag());
    assert_eq!(said.action("alone.steadfast-pages"), Some(Action::Tagged));
    assert_eq!(said.action("two.steadfast-pages.new"), Some(Action::Tagged));
    assert!(alone.is_file() && unmatched.is_file());
    tree.write("three", &first);
    tree.write("three.steadfast-pages", "somebody else's");
    let said = tree.run(keeping(None, true));
    let trouble = said.of("three").trouble.as_ref().unwrap().to_string();
    assert!(trouble.contains("three.steadfast-pages` is not a file of leaves"), "{trouble}");
    assert_eq!(fs::read(tree.at("three.steadfast-pages")).unwrap(), b"somebody else's");
}

#[test]
fn a_link_that_is_named_has_its_leaves_beside_it() {
    let tree = Tree::new();
    tree.write("file", Random(5).bytes(40_000));
    let link = tree.at("link");
    std::os::unix::fs::symlink("file", &link).unwrap();
    let selection = Selection::default().with(|selection| selection.roots = vec![link.clone()]);
    let said = run_on(keeping(None, true), &selection, &crate::tree::usual());
    assert!(said.of("link").trouble.is_none(), "{:?}", said.of("link").trouble);
    assert!(sidecar(&link).is_file());
}

#[test]
fn damaged_leaves_are_never_believed() {
    let tree = Tree::new();
    let path = tree.write("file", Random(6).bytes(9_000));
    tree.run(keeping(None, true));
    let place = sidecar(&path);
    let good = fs::read(&place).unwrap();
    assert_eq!(good.len(), 192 + 3 * 32 + 4);
    for bit in 0..8 * good.len() as u64 {
        fs::write(&place, with_bit(&good, bit)).unwrap();
        let error = verify_pages(&path, &crate::tree::usual_pages()).unwrap_err();
        assert!(error.to_string().contains("kept leaves"), "bit {bit}: {error}");
    }
    for len in [0, 1, 191, 195, 196, good.len() - 1] {
        fs::write(&place, &good[..len]).unwrap();
        assert!(verify_pages(&path, &crate::tree::usual_pages()).is_err(), "cut to {len}");
        assert_eq!(Kept::open(&place).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
    let said = tree.run(keeping(None, true));
    assert_eq!((said.status(), said.action("file")), (0, Some(Action::Kept)));
    assert_eq!(fs::read(&place).unwrap(), good, "what is damaged is made anew when asked for");
}

/// What a loss of power leaves of a file: nothing, a part, zeros, or the bytes of something else.
fn torn(good: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let garbage = Random(0x6a7b).bytes(good.len());
    let mut body = good.to_vec();
    body[192..].fill(0);
    vec![
        ("empty", Vec::new()),
        ("cut in the magic", good[..9].to_vec()),
        ("cut in the header", good[..100].to_vec()),
        ("cut in the leaves", good[..good.len() - 40].to_vec()),
        ("zeros", vec![0; good.len()]),
        ("a whole header before zeros", body),
        ("garbage", garbage),
    ]
}

#[test]
fn torn_sidecars_are_ours_and_are_made_again() {
    let tree = Tree::new();
    let path = tree.write("file", Random(7).bytes(900_000));
    tree.run(keeping(None, true));
    let place = sidecar(&path);
    let good = fs::read(&place).unwrap();
    for (name, bytes) in torn(&good) {
        for verb in [Verb::tag(), Verb::update(), retag(false)] {
            // In place, as a loss of power leaves it: attributes are journalled with the inode.
            fs::write(&place, &bytes).unwrap();
            let said = tree.run(Verb::check());
            assert_eq!((said.status(), said.verdict("file")), (2, Some(Verdict::Intact)), "{name}");
            let event = said.of("file.steadfast-pages");
            assert_eq!(event.verdict, Some(Verdict::Unreadable), "{name}");
            let trouble = event.trouble.as_ref().unwrap();
            let again = Advice::TagPagesAgain { beside: true };
            assert_eq!(trouble.advice.as_deref(), Some(&again), "{name}: {trouble}");
            let verb = if verb == Verb::tag() { keeping(None, true) } else { verb };
            let said = tree.run(verb);
            assert_eq!((said.status(), said.files.len()), (0, 1), "{name}, {}", verb.name());
            assert_eq!(fs::read(&place).unwrap(), good, "{name}, {}", verb.name());
            assert_eq!(tree.run(Verb::check()).status(), 0);
        }
    }
}

#[test]
fn a_draft_that_a_kill_left_does_not_block_the_leaves() {
    let tree = Tree::new();
    let path = tree.write("file", Random(8).bytes(900_000));
    tree.run(keeping(None, true));
    let (place, draft) = (sidecar(&path), tree.at("file.steadfast-pages.new"));
    let good = fs::read(&place).unwrap();
    for (name, bytes) in torn(&good).into_iter().filter(|(name, _)| *name != "garbage") {
        fs::remove_file(&place).unwrap();
        fs::write(&draft, &bytes).unwrap();
        let said = tree.run(Verb::check());
        assert_eq!((said.status(), said.files.len()), (0, 1), "{name}: a draft is no data");
        assert_eq!(said.summary.skipped.leaves, 1, "{name}");
        let said = tree.run(keeping(None, true));
        assert_eq!(said.status(), 0, "{name}: {:?}", said.of("file").trouble);
        assert_eq!(fs::read(&place).unwrap(), good, "{name}");
        assert!(!draft.exists(), "{name}");
    }
    // The leaves are whole, so no new draft replaces this one.
    fs::write(&draft, &good[..good.len() / 2]).unwrap();
    assert_eq!(tree.run(keeping(None, true)).of("file").reading.bytes, 0);
    assert!(!draft.exists(), "a draft that nothing needs is removed");
    // Nor for a file that is too short to need leaves.
    let short = tree.at("short.steadfast-pages.new");
    tree.write("short", "short");
    fs::write(&short, &good[..good.len() / 2]).unwrap();
    tree.run(keeping(None, true));
    assert!(!short.exists(), "a short file needs no draft");
    fs::remove_file(tree.at("short")).unwrap();
    // The mark outlasts the bytes.
    fs::rename(&place, &draft).unwrap();
    fs::write(&draft, Random(9).bytes(5000)).unwrap();
    let said = tree.run(keeping(None, true));
    assert_eq!(said.status(), 0, "{:?} {:?}", said.of("file").trouble, said.notices);
    assert_eq!(fs::read(&place).unwrap(), good);
    // A file of somebody else's stays.
    fs::remove_file(&place).unwrap();
    fs::write(&draft, "notes").unwrap();
    assert_eq!(tree.run(keeping(None, true)).status(), 2);
    assert_eq!(fs::read(&draft).unwrap(), b"notes");
}

#[test]
fn torn_leaves_in_the_tree_s_folder_are_told_and_made_again() {
    let tree = catalogued();
    let data = Random(10).bytes(900_000);
    tree.write("file", &data);
    tree.run(keeping(None, false));
    let [place] = &kept_in(&tree)[..] else { panic!("one file of leaves") };
    let good = fs::read(place).unwrap();
    for (name, bytes) in torn(&good) {
        for verb in [Verb::tag(), Verb::update(), retag(false)] {
            fs::write(place, &bytes).unwrap();
            let said = tree.run(Verb::check());
            assert_eq!((said.status(), said.verdict("file")), (2, Some(Verdict::Intact)), "{name}");
            let trouble = said.of("file").trouble.as_ref().unwrap();
            let again = Advice::TagPagesAgain { beside: false };
            assert_eq!(trouble.advice.as_deref(), Some(&again), "{name}: {trouble}");
            let verb = if verb == Verb::tag() { keeping(None, false) } else { verb };
            assert_eq!(tree.run(verb).status(), 0, "{name}, {}", verb.name());
            assert_eq!(fs::read(place).unwrap(), good, "{name}, {}", verb.name());
            assert_eq!(tree.run(Verb::check()).status(), 0);
        }
    }
    fs::write(place, []).unwrap();
    tree.corrupt("file", with_bit(&data, 5));
    let said = tree.run(Verb::check());
    assert_eq!((said.status(), said.verdict("file")), (3, Some(Verdict::Corrupt)));
    assert!(said.of("file").trouble.is_some(), "why no page is named");
}

#[test]
fn what_has_no_place_or_no_use_is_refused() {
    let tree = Tree::new();
    tree.write("file", [7; 10_000]);
    let refused =
        |verb| run(verb, &tree.selection(), &crate::tree::usual(), &mut Deaf).unwrap_err();
    let nowhere = refused(keeping(None, false));
    assert_eq!(nowhere.advice(), Some(&Advice::MakeCatalogueOrSidecars), "{nowhere}");
    assert!(refused(keeping(Some(5000), true)).to_string().contains("power of two"));
    let _ = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([tree.path()]),
        crate::tree::usual(),
    )
    .run(&mut Deaf)
    .unwrap();
    let dry = crate::tree::usual().with(|options| options.dry_run = true);
    tree.run_as(keeping(None, false), &dry);
    assert!(kept_in(&tree).is_empty());
    tree.run(with_algorithm(None, false, Some(Algorithm::Crc32c)));
    assert!(kept_in(&tree).is_empty(), "four bytes tell too little apart");
    tree.write("md5", [9; 10_000]);
    tree.run(with_algorithm(None, false, Some(Algorithm::Md5)));
    assert_eq!(kept_in(&tree).len(), 1, "sixteen bytes tell enough apart");
    tree.write("other", [8; 10_000]);
    tree.run(keeping(None, false));
    assert!(refused(keeping(Some(8192), false)).to_string().contains("4096"));
    let untagged = tree.write("untagged", "bytes");
    let error = verify_pages(&untagged, &crate::tree::usual_pages()).unwrap_err();
    assert!(error.to_string().contains("no tag"), "{error}");
    assert!(verify_pages(tree.path(), &crate::tree::usual_pages()).is_err());
}

#[test]
fn a_catalogue_elsewhere_has_its_leaves_beside_it() {
    for name in ["of-the-tree.sqlite", "catalogue.sqlite"] {
        let (tree, other) = (Tree::new(), Tree::new());
        let data = Random(8).bytes(30_000);
        let path = tree.write("file", &data);
        let catalogue = other.at(name);
        let options = crate::tree::usual()
            .with(|options| options.catalogue.choice = CatalogueUse::At(catalogue.clone()));
        let _summary = Run::of(
            steadfast::Verb::Init(steadfast::InitOptions {
                tags_only: true,
                ..steadfast::InitOptions::default()
            }),
            tree.selection(),
            options,
        )
        .run(&mut Deaf)
        .unwrap();
        let catalogue_use = steadfast::CatalogueUse::At(catalogue.clone());
        let options = crate::tree::usual().with(|options| options.catalogue.choice = catalogue_use);
        tree.run_as(keeping(None, false), &options);
        assert!(other.at(format!("{name}.pages/4096")).is_dir(), "{name}");
        tree.corrupt("file", with_bit(&data, 8 * 4096));
        let due = DueChoice::default().with(|choice| choice.max_bytes = Some(1 << 40));
        let check = CheckOptions { due: Some(due), ..CheckOptions::default() };
        let said = tree.run_as(Verb::Check(check), &options);
        assert_eq!(said.of("file").damage.as_ref().unwrap().check.damaged, [1..2]);
        let mut options = crate::tree::usual_pages();
        options.catalogue = Some(catalogue);
        assert_eq!(verify_pages(&path, &options).unwrap().damage.check.damaged, [1..2]);
        assert!(verify_pages(&path, &crate::tree::usual_pages()).is_err());
    }
}

#[test]
fn leaves_beside_a_file_need_no_catalogue() {
    let tree = Tree::new();
    let path = tree.write("file", [7; 30_000]);
    tree.run(keeping(None, true));
    let verified = |catalogue: PathBuf| {
        let mut options = crate::tree::usual_pages();
        options.catalogue = Some(catalogue);
        verify_pages(&path, &options)
    };
    let absent = verified(tree.at("absent/catalogue.sqlite"));
    assert_eq!(absent.unwrap().verdict, Verdict::Intact);
    tree.write("plain", "not a folder");
    assert!(verified(tree.at("plain/catalogue.sqlite")).is_err());
}
