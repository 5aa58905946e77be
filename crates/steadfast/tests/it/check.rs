//! Tag, change, check: every row of the verdict table, with its exit status, on real files.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use steadfast::read::buffered::Buffered;
use steadfast::run::read_without_hashing;
use steadfast::tag::TagError;
use steadfast::{Action, Algorithm, CheckOptions, TagOptions, Verb, VerbKind, Verdict};
use steadfast_testing::took_at_most;

use crate::catalogue_trouble::Told;
use crate::tree::{Tree, retag, retag_to, run_on};

const RETAG: Verb = retag(false);
const ACCEPT: Verb = retag(true);

fn tagged() -> Tree {
    let tree = Tree::new();
    tree.write("a", "the first file");
    tree.write("b", vec![7; 100_000]);
    tree.write("c", vec![9; 3_000_000]);
    tree.write("empty", "");
    let said = tree.run(Verb::tag());
    assert_eq!((said.status(), said.summary.actions(Action::Tagged)), (0, 4));
    tree
}

#[test]
fn what_nobody_touched_is_intact() {
    let tree = tagged();
    let said = tree.run(Verb::check());
    assert_eq!((said.status(), said.summary.verdicts(Verdict::Intact)), (0, 4));
    assert_eq!(said.summary.bytes, 3_100_014);
    let digest = said.of("empty").digest().unwrap().1.to_string();
    assert_eq!(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

#[test]
fn each_kind_of_change_alone_has_its_verdict_and_status() {
    type Change = fn(&Tree);
    let cases: [(&str, Change, Verdict, u8); 6] = [
        ("a", |tree| tree.corrupt("a", "the firsT file"), Verdict::Corrupt, 3),
        ("b", |tree| tree.corrupt("b", vec![7; 99_999]), Verdict::Corrupt, 3),
        ("a", |tree| tree.edit("a", "the firsT file"), Verdict::Modified, 1),
        ("c", |tree| tree.edit("c", "shorter"), Verdict::Modified, 1),
        ("a", |tree| tree.touch("a"), Verdict::Touched, 0),
        ("new", |tree| drop(tree.write("new", "new")), Verdict::Untagged, 0),
    ];
    for (name, change, verdict, status) in cases {
        let tree = tagged();
        change(&tree);
        let said = tree.run(Verb::check());
        assert_eq!((said.verdict(name), said.status()), (Some(verdict), status), "{name}");
        let others = said.files.iter().filter(|event| event.verdict == Some(Verdict::Intact));
        assert_eq!(others.count(), said.files.len() - 1, "{name}");
    }
}

#[test]
fn gone_and_moved_files_are_not_noticed_without_a_catalogue_and_nothing_else_suffers() {
    let tree = tagged();
    fs::remove_file(tree.at("a")).unwrap();
    fs::rename(tree.at("b"), tree.at("z")).unwrap();
    let said = tree.run(Verb::check());
    assert_eq!((said.status(), said.summary.verdicts(Verdict::Intact)), (0, 3));
}

#[test]
fn everything_at_once_and_corruption_decides() {
    let tree = tagged();
    tree.corrupt("a", "THE first file");
    tree.edit("b", "edited");
    tree.touch("c");
    tree.write("d", "new");
    let said = tree.run(Verb::check());
    let verdicts = ["a", "b", "c", "d", "empty"].map(|name| said.verdict(name).unwrap().name());
    assert_eq!(verdicts, ["corrupt", "modified", "touched", "untagged", "intact"]);
    assert_eq!(said.status(), 3);
}

#[test]
fn a_check_writes_nothing_not_even_the_access_time() {
    let tree = tagged();
    tree.corrupt("a", "THE first file");
    let before = fs::metadata(tree.at("a")).unwrap();
    let again = (tree.run(Verb::check()), tree.run(Verb::check()));
    assert_eq!((again.0.status(), again.1.status()), (3, 3));
    let after = fs::metadata(tree.at("a")).unwrap();
    use std::os::unix::fs::MetadataExt;
    let times = |of: &fs::Metadata| (of.atime_nsec(), of.mtime_nsec(), of.ctime_nsec());
    assert_eq!(times(&before), times(&after));
}

#[test]
fn tagging_leaves_the_modification_time_and_existing_tags_alone() {
    let tree = Tree::new();
    let path = tree.write("a", "contents");
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    tree.run(Verb::tag());
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    tree.corrupt("a", "Contents");
    let said = tree.run(Verb::tag());
    assert_eq!((said.action("a"), said.status()), (Some(Action::Kept), 0));
    assert_eq!(tree.run(Verb::check()).status(), 3);
}

#[test]
fn update_retags_edits_and_keeps_the_evidence_of_decay() {
    let tree = tagged();
    tree.corrupt("a", "THE first file");
    tree.edit("b", "edited");
    tree.touch("c");
    tree.write("d", "new");
    let old = tree.run(Verb::Show).of("b").stored.unwrap();
    let said = tree.run(Verb::update());
    assert_eq!(said.status(), 3);
    let actions = ["a", "b", "c", "d", "empty"].map(|name| said.action(name));
    let done = [Action::Retagged, Action::Refreshed, Action::Tagged].map(Some);
    assert_eq!(actions, [None, done[0], done[1], done[2], None]);
    let shown = tree.run(Verb::Show);
    assert_eq!(shown.of("b").previous.as_deref(), Some(&old), "one step back can be proved");
    assert_eq!(shown.of("c").previous, None);
    let said = tree.run(Verb::check());
    assert_eq!(said.verdict("a"), Some(Verdict::Corrupt));
    assert_eq!(said.summary.verdicts(Verdict::Intact), 4);
    for _ in 0..3 {
        assert_eq!(tree.run(Verb::update()).verdict("a"), Some(Verdict::Corrupt));
        tree.run(Verb::tag());
        tree.run(RETAG);
    }
    assert_eq!(tree.run(Verb::check()).status(), 3);
}

#[test]
fn only_acceptance_replaces_the_tag_of_a_corrupt_file() {
    let tree = tagged();
    tree.corrupt("a", "THE first file");
    let old = tree.run(Verb::Show).of("a").stored;
    assert_eq!(tree.run(RETAG).status(), 3);
    assert_eq!(tree.run(Verb::Show).of("a").stored, old);
    let said = tree.run(ACCEPT);
    assert_eq!((said.action("a"), said.status()), (Some(Action::Retagged), 0));
    assert_eq!(tree.run(Verb::Show).of("a").previous.as_deref().copied(), old);
    assert_eq!(tree.run(Verb::check()).status(), 0);
}

#[test]
fn retag_moves_to_another_algorithm_only_what_it_could_verify() {
    let tree = tagged();
    tree.corrupt("a", "THE first file");
    let said = tree.run(retag_to(Algorithm::Blake3));
    assert_eq!((said.action("a"), said.action("c")), (None, Some(Action::Retagged)));
    let shown = tree.run(Verb::Show);
    assert_eq!(shown.of("a").stored.unwrap().algorithm, Algorithm::Sha256);
    assert_eq!(shown.of("c").stored.unwrap().algorithm, Algorithm::Blake3);
    let said = tree.run(Verb::check());
    assert_eq!((said.verdict("c"), said.status()), (Some(Verdict::Intact), 3));
}

#[test]
fn every_algorithm_tags_and_checks() {
    for &algorithm in Algorithm::ALL {
        let tree = Tree::new();
        tree.write("a", "abc");
        tree.write("b", vec![1; 600_000]);
        let verb = Verb::Tag(TagOptions { algorithm: Some(algorithm), ..TagOptions::default() });
        assert_eq!(tree.run(verb).status(), 0, "{algorithm}");
        assert_eq!(tree.run(Verb::check()).summary.verdicts(Verdict::Intact), 2, "{algorithm}");
        tree.corrupt("b", vec![2; 600_000]);
        assert_eq!(tree.run(Verb::check()).verdict("b"), Some(Verdict::Corrupt), "{algorithm}");
    }
}

#[test]
fn untag_removes_tags_and_nothing_else() {
    let tree = tagged();
    tree.edit("b", "edited");
    tree.run(Verb::update());
    let keeps = "user.other";
    let set = std::process::Command::new("setfattr")
        .args(["-n", keeps, "-v", "kept"])
        .arg(tree.at("b"))
        .status();
    let said = tree.run(Verb::Untag);
    assert_eq!(said.summary.actions(Action::Removed), 4);
    assert_eq!(tree.run(Verb::check()).summary.verdicts(Verdict::Untagged), 4);
    let attributes = steadfast_sys::file::File::open(&tree.at("b"))
        .and_then(|file| steadfast_sys::xattr::list(&file))
        .unwrap();
    let expected: Vec<&str> =
        if set.is_ok_and(|status| status.success()) { vec![keeps] } else { Vec::new() };
    assert_eq!(attributes, expected);
    assert_eq!(tree.run(Verb::Untag).summary.actions(Action::Removed), 0);
    let file = steadfast_sys::file::File::open(&tree.at("b")).unwrap();
    steadfast_sys::xattr::set(&file, steadfast_sys::xattr::TAG_PREVIOUS, b"left alone").unwrap();
    assert_eq!(tree.run(Verb::Untag).action("b"), Some(Action::Removed), "a previous tag alone");
}

#[test]
fn a_dry_run_writes_nothing_and_says_what_it_would_do() {
    let tree = tagged();
    tree.edit("b", "edited");
    tree.write("d", "new");
    let before = tree.run(Verb::Show).files;
    let options = crate::tree::usual().with(|options| options.dry_run = true);
    let said = tree.run_as(Verb::update(), &options);
    let actions = [said.action("b"), said.action("d")];
    assert_eq!(actions, [Some(Action::Retagged), Some(Action::Tagged)]);
    assert_eq!(said.status(), 1, "what is not written down is not settled");
    for verb in [Verb::tag(), ACCEPT, Verb::Untag] {
        tree.run_as(verb, &options);
    }
    let after = tree.run(Verb::Show).files;
    let tags = |files: &[steadfast::FileEvent]| -> Vec<_> {
        files.iter().map(|event| (event.stored, event.previous.clone())).collect()
    };
    assert_eq!(tags(&before), tags(&after));
}

#[test]
fn damaged_tags_are_unreadable_and_never_a_change() {
    for value in [&b""[..], &[0; 60], b"garbage", &[2; 60], &[1; 60], &[1; 400]] {
        let tree = tagged();
        let file = steadfast_sys::file::File::open(&tree.at("a")).unwrap();
        steadfast_sys::xattr::set(&file, steadfast_sys::xattr::TAG, value).unwrap();
        for verb in [Verb::check(), Verb::tag(), Verb::update(), RETAG, Verb::Show] {
            let said = tree.run(verb);
            assert_eq!(said.verdict("a"), Some(Verdict::Unreadable), "{verb:?} {value:?}");
            assert_eq!(said.status(), 2, "{verb:?} {value:?}");
            assert!(said.of("a").trouble.is_some());
            // Longer than any tag, and so longer than what is read of it.
            let too_long = said.of("a").tag_error == Some(TagError::TooLong);
            assert_eq!(too_long, value.len() == 400, "{verb:?} {value:?}");
        }
        let mut back = [0; 500];
        let len = steadfast_sys::xattr::get(&file, steadfast_sys::xattr::TAG, &mut back).unwrap();
        assert_eq!(&back[..len.unwrap()], value, "nothing rewrote it");
        assert_eq!(tree.run(ACCEPT).status(), 0);
        assert_eq!(tree.run(Verb::check()).verdict("a"), Some(Verdict::Intact));
    }
}

#[test]
fn untagged_files_fail_a_check_only_if_asked() {
    let tree = tagged();
    tree.write("new", "new");
    let require = CheckOptions { require_tags: true, ..CheckOptions::default() };
    assert_eq!(tree.run(Verb::check()).status(), 0);
    assert_eq!(tree.run(Verb::Check(require)).status(), 1);
}

#[test]
fn hard_links_are_read_once_and_reported_for_each_name() {
    let tree = Tree::new();
    for (name, size) in [("small", 1_000), ("large", 2_000_000)] {
        tree.write(name, vec![3; size]);
        for copy in 0..3 {
            fs::hard_link(tree.at(name), tree.at(format!("{name}-{copy}"))).unwrap();
        }
    }
    let said = tree.run(Verb::tag());
    assert_eq!((said.summary.bytes, said.summary.files), (2_001_000, 8));
    assert_eq!(said.summary.actions(Action::Tagged), 8);
    tree.corrupt("large", vec![4; 2_000_000]);
    let said = tree.run(Verb::check());
    assert_eq!(said.summary.verdicts(Verdict::Corrupt), 4);
    assert_eq!(said.summary.verdicts(Verdict::Intact), 4);
    assert_eq!(said.summary.bytes, 2_001_000);
    assert_eq!(said.files.iter().filter(|event| event.reading.linked).count(), 6);
}

#[test]
fn sparse_files_hash_as_their_zeros() {
    let tree = Tree::new();
    let path = tree.write("sparse", "head");
    fs::File::options().write(true).open(&path).unwrap().set_len(40_000_000).unwrap();
    let said = tree.run(Verb::hash());
    let mut whole = b"head".to_vec();
    whole.resize(40_000_000, 0);
    assert_eq!(said.of("sparse").digest().unwrap().1, steadfast_digest::sha256(&whole));
    assert_eq!(said.summary.bytes, 40_000_000);
}

#[test]
fn lengths_around_every_seam_of_the_engine_hash_right() {
    let tree = Tree::new();
    let contents: Vec<u8> =
        (0..3_000_000_u32).map(|at| (at.wrapping_mul(7919) >> 5) as u8).collect();
    let chunk = 256 << 10;
    let mut lengths = vec![0, 1, 63, 64, 65, 4095, 4096, 4097];
    for seam in [chunk / 4, chunk, 2 * chunk, 8 * chunk, 9 * chunk] {
        lengths.extend([seam - 1, seam, seam + 1]);
    }
    for &length in &lengths {
        tree.write(length.to_string(), &contents[..length]);
    }
    for read_from in [steadfast::ReadFrom::Cache, steadfast::ReadFrom::Media] {
        for (workers, lanes) in [(1, 1), (2, 2), (3, 2)] {
            let lanes = steadfast::Lanes::new(steadfast::Backend::detect(), lanes).map(|_| lanes);
            let options = crate::tree::usual().with(|options| {
                options.reading.workers = Some(workers);
                options.reading.lanes = lanes.ok();
                options.reading.from = read_from;
            });
            let said = tree.run_as(Verb::hash(), &options);
            for &length in &lengths {
                let digest = said.of(&length.to_string()).digest().unwrap().1;
                assert_eq!(digest, steadfast_digest::sha256(&contents[..length]), "{length}");
            }
        }
    }
}

#[test]
fn a_run_told_to_stop_ends_soon_with_a_true_summary() {
    let tree = Tree::new();
    let path = tree.write("huge", "");
    fs::File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    tree.write("a", "small");
    tree.write("z", "finished, although it comes after one that is not");
    let options = crate::tree::usual();
    let stop = Arc::clone(&options.controls.stop);
    let stopper = std::thread::spawn(move || {
        std::thread::park_timeout(std::time::Duration::from_millis(300));
        stop.store(true, Ordering::Relaxed);
    });
    let start = std::time::Instant::now();
    let said = run_on(Verb::hash(), &tree.selection(), &options);
    stopper.join().unwrap();
    assert!(took_at_most(start, std::time::Duration::from_millis(1300)));
    assert!(said.summary.interrupted);
    assert_eq!((said.status(), said.summary.files), (130, 2));
}

#[test]
fn a_run_stopped_while_it_still_walks_is_interrupted() {
    let tree = Tree::new();
    for number in 0..3_000 {
        fs::create_dir(tree.at(format!("{number}"))).unwrap();
    }
    tree.write("zz/last", "x");
    let options = crate::tree::usual();
    options.controls.stop.store(true, Ordering::Relaxed);
    let said = run_on(Verb::check(), &tree.selection(), &options);
    assert!(said.summary.files == 1 || said.status() == 130, "{:?}", said.summary);
}

#[test]
fn a_file_given_beside_its_folder_is_taken_once_and_its_previous_tag_stays() {
    let tree = tagged();
    tree.edit("b", "edited");
    let old = tree.run(Verb::Show).of("b").stored;
    let selection = steadfast::Selection::of([tree.path()])
        .with(|selection| selection.listed = vec![tree.at("b"), tree.at("a"), tree.at("b")]);
    let said = run_on(Verb::update(), &selection, &crate::tree::usual());
    assert_eq!(said.files.len(), 4);
    assert_eq!(tree.run(Verb::Show).of("b").previous.as_deref().copied(), old);
}

#[test]
fn the_first_name_in_walk_order_stands_for_a_linked_file() {
    let tree = Tree::new();
    for number in 0..200 {
        let path = tree.write(format!("a/{number:03}"), format!("{number}").repeat(999));
        fs::create_dir_all(tree.at("b")).unwrap();
        fs::hard_link(path, tree.at(format!("b/{number:03}"))).unwrap();
    }
    for workers in [1, 2, 4, 8] {
        let options = crate::tree::usual().with(|options| options.reading.workers = Some(workers));
        let said = tree.run_as(Verb::hash(), &options);
        let linked: Vec<bool> = said.files.iter().map(|event| event.reading.linked).collect();
        assert_eq!(linked, [vec![false; 200], vec![true; 200]].concat(), "{workers} workers");
        assert!(said.files.iter().all(|event| event.reading.linked == (event.reading.bytes == 0)));
    }
}

#[test]
fn files_can_be_read_and_not_hashed() {
    let tree = tagged();
    let (options, mut told) = (crate::tree::usual(), Told::default());
    let summary =
        read_without_hashing(&tree.selection(), &options, Arc::new(Buffered), &mut told).unwrap();
    assert_eq!((summary.files, summary.bytes, summary.exit_status().code()), (4, 3_100_014, 0));
    assert_eq!((summary.verb, summary.means.engine), (VerbKind::Read, "buffered"));
    assert!(told.verdicts.values().all(Option::is_none));
}

#[test]
fn a_check_of_nothing_says_so() {
    let tree = Tree::new();
    let said = tree.run(Verb::check());
    assert_eq!((said.status(), said.notices.len()), (2, 1));
    let options = crate::tree::usual().with(|options| options.allow_empty = true);
    let allowed = tree.run_as(Verb::check(), &options);
    assert_eq!((allowed.status(), allowed.notices.len()), (0, 1));
}
