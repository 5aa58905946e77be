//! Mending through the library: from a copy, from parity, by a PAR2 set; and what is left alone.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use steadfast::par2::{repair_par2, verify_par2};
use steadfast::parity::{
    NotProtected, ParityMonitor, ParityPlace, make_parity, update_parity, verify_parity,
};
use steadfast::repair::{
    Copies, RepairMode, RepairMonitor, RepairOutcome, RepairRequest, RepairSummary, RepairTarget,
    repair_files,
};
use steadfast::{Event, ExitStatus, Monitor, Run, Verb, Verdict};
use steadfast_parity::{PAGE_LEN, ParityPages, SetFile, SetIndex};

use crate::tree::Tree;

#[derive(Default)]
struct Heard {
    repaired: Vec<PathBuf>,
    asked: u64,
}

impl Monitor for Heard {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl ParityMonitor for Heard {
    fn not_protected(&mut self, _file: &NotProtected) {}
}

impl RepairMonitor for Heard {
    fn planned(&mut self, _target: &RepairTarget, _outcome: &RepairOutcome) {}

    fn consents(&mut self, files: u64) -> bool {
        self.asked = files;
        false
    }

    fn repaired(&mut self, target: &RepairTarget, outcome: &RepairOutcome) {
        if outcome.is_good() {
            self.repaired.push(target.path.clone());
        }
    }
}

fn repair(tree: &Tree, from: &[PathBuf], mode: RepairMode) -> (RepairSummary, Heard) {
    let request = RepairRequest {
        copies: Copies::new(from).unwrap(),
        mode,
        in_place: false,
        with_special: false,
        suspects: false,
        to_tag: false,
        all_lost: false,
    };
    let mut heard = Heard::default();
    let summary = repair_files(&tree.selection(), &crate::tree::usual(), &request, &mut heard);
    (summary.unwrap(), heard)
}

/// Bytes in which no page is like another.
fn noise(seed: u8, len: usize) -> Vec<u8> {
    (0..len).map(|at| (at / 7 + at * at / 4096) as u8 ^ seed).collect()
}

/// A tagged tree of three photographs.
fn photographs() -> Tree {
    let tree = Tree::new();
    for (seed, name) in (1..).zip(["a.jpg", "b.jpg", "c/d.jpg"]) {
        tree.write(name, noise(seed, 30_000));
    }
    assert_eq!(steadfast::tag(tree.path()).unwrap().exit_status(), ExitStatus::Fine);
    tree
}

fn verdicts(tree: &Tree, verdict: Verdict) -> u64 {
    steadfast::check(tree.path()).unwrap().verdicts(verdict)
}

#[test]
fn a_copy_gives_back_what_decayed_and_no_edit_is_undone() {
    let (tree, backup) = (photographs(), Tree::new());
    for (seed, name) in (1..).zip(["a.jpg", "b.jpg", "c/d.jpg"]) {
        backup.write(name, noise(seed, 30_000));
    }
    tree.corrupt("a.jpg", noise(9, 30_000));
    tree.edit("b.jpg", "an edit");
    let from = [backup.path().to_owned()];

    let (planned, heard) = repair(&tree, &from, RepairMode::Ask);
    assert_eq!((planned.repaired, heard.asked), (1, 1));
    assert_eq!(fs::read(tree.at("a.jpg")).unwrap(), noise(9, 30_000), "nobody consented");

    let (summary, heard) = repair(&tree, &from, RepairMode::Yes);
    assert_eq!((summary.repaired, summary.not_repaired), (1, 0));
    assert_eq!(heard.repaired, [tree.at("a.jpg")]);
    assert_eq!(fs::read(tree.at("a.jpg")).unwrap(), noise(1, 30_000));
    assert_eq!(fs::read(tree.at("b.jpg")).unwrap(), b"an edit");
    let (_, kept) = &summary.originals[0];
    assert_eq!(fs::read(kept.join("a.jpg")).unwrap(), noise(9, 30_000), "{}", kept.display());
    assert_eq!((verdicts(&tree, Verdict::Intact), verdicts(&tree, Verdict::Modified)), (2, 1));
}

#[test]
fn a_damaged_copy_changes_nothing() {
    let (tree, backup) = (photographs(), Tree::new());
    backup.write("a.jpg", noise(8, 30_000));
    tree.corrupt("a.jpg", noise(9, 30_000));
    let (summary, _) = repair(&tree, &[backup.path().to_owned()], RepairMode::Yes);
    assert_eq!((summary.repaired, summary.not_repaired), (0, 1));
    assert_eq!(fs::read(tree.at("a.jpg")).unwrap(), noise(9, 30_000));
    assert_eq!(summary.exit_status(), ExitStatus::Corrupt);
}

#[test]
fn parity_gives_back_what_decayed_and_what_is_gone() {
    let tree = photographs();
    let place = ParityPlace::new(tree.path(), None).unwrap();
    let made = make_parity(&place, &crate::tree::usual_parity(), &mut Heard::default()).unwrap();
    assert_eq!((made.files, made.exit_status()), (3, ExitStatus::Fine));

    tree.corrupt("a.jpg", noise(9, 30_000));
    fs::remove_file(tree.at("c/d.jpg")).unwrap();
    let (summary, _) = repair(&tree, &[], RepairMode::Yes);
    assert_eq!((summary.repaired, summary.not_repaired), (2, 0));
    assert_eq!(fs::read(tree.at("a.jpg")).unwrap(), noise(1, 30_000));
    assert_eq!(fs::read(tree.at("c/d.jpg")).unwrap(), noise(3, 30_000));
    assert_eq!(verdicts(&tree, Verdict::Intact), 3);
}

/// Parity follows the tags that a run writes.
#[test]
fn an_edit_that_was_accepted_is_protected_as_it_is_now() {
    let tree = photographs();
    let place = ParityPlace::new(tree.path(), None).unwrap();
    let made = make_parity(&place, &crate::tree::usual_parity(), &mut Heard::default());
    assert_eq!(made.unwrap().files, 3);
    tree.edit("b.jpg", noise(7, 20_000));
    let updated = Run::update([tree.path()]);
    assert_eq!(updated.run(&mut Heard::default()).unwrap().exit_status(), ExitStatus::Fine);
    tree.corrupt("b.jpg", noise(9, 20_000));
    let (summary, _) = repair(&tree, &[], RepairMode::Yes);
    assert_eq!(summary.repaired, 1);
    assert_eq!(fs::read(tree.at("b.jpg")).unwrap(), noise(7, 20_000));
}

/// Whether everything missing is let go of, or a path that is named.
#[test]
fn parity_is_not_forgotten_by_a_tree_that_has_none_of_its_files() {
    let (tree, other) = (photographs(), Tree::new());
    other.write("x.jpg", noise(5, 30_000));
    assert_eq!(steadfast::tag(other.path()).unwrap().exit_status(), ExitStatus::Fine);
    let place = ParityPlace::new(tree.path(), None).unwrap();
    let made = make_parity(&place, &crate::tree::usual_parity(), &mut Heard::default());
    let sets = made.unwrap().sets_made;
    copy_folder(&tree.at(".steadfast"), &other.at(".steadfast"));

    let strange = ParityPlace::new(other.path(), None).unwrap();
    let (mut named, mut missing) = (crate::tree::usual_parity(), crate::tree::usual_parity());
    named.forget = vec!["a.jpg".into()];
    missing.forget_missing = true;
    for options in [named, missing] {
        let refused = update_parity(&strange, &options, &mut Heard::default());
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("none of the files that this parity protects"), "{said}");
        let left = verify_parity(&strange, false, &AtomicBool::new(false), &mut |_| {});
        assert_eq!(left.unwrap().sets, sets, "no set is removed");
    }
}

/// A planted set makes any file of the tree, but none that Steadfast obeys.
#[test]
fn parity_that_names_a_file_of_ours_is_refused() {
    for (name, made) in [
        ("plan/x.jpg", true),
        (".steadfast/x.jpg", false),
        (".STEADFAST/x.jpg", false),
        ("c/.steadfast/damaged/x.jpg", false),
    ] {
        let tree = photographs();
        let place = ParityPlace::new(tree.path(), None).unwrap();
        let _ = make_parity(&place, &crate::tree::usual_parity(), &mut Heard::default()).unwrap();
        fs::remove_dir_all(tree.at("c")).unwrap();
        plant(&tree, "c/d.jpg", name);

        let verified = verify_parity(&place, false, &AtomicBool::new(false), &mut |_| {});
        let verified = verified.unwrap();
        let (summary, heard) = repair(&tree, &[], RepairMode::Yes);
        assert_eq!(tree.at(name).exists(), made, "{name}: {summary:?}");
        if made {
            assert_eq!(heard.repaired, [tree.at(name)]);
            assert_eq!(fs::read(tree.at(name)).unwrap(), noise(3, 30_000));
        } else {
            assert!(!verified.exit_status().is_fine(), "{name}: {verified:?}");
            assert!(heard.repaired.is_empty(), "{name}");
        }
    }
}

/// Writes the only set of a tree anew, with another path for one of its files and every check value
/// right.
fn plant(tree: &Tree, path: &str, other: &str) {
    let folders = fs::read_dir(tree.at(".steadfast/parity")).unwrap();
    let folder = folders.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let at = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&at).unwrap();
    let read = &mut |from: u64, to: &mut [u8]| {
        to.copy_from_slice(&bytes[from as usize..][..to.len()]);
        Ok(())
    };
    let set = SetFile::read(bytes.len() as u64, read).unwrap();
    let geometry = set.index().geometry();
    let mut parity = ParityPages::zeros(geometry);
    for page in 0..geometry.parity_pages() {
        let mut whole = vec![0; PAGE_LEN];
        assert!(set.read_parity(page, read, &mut whole));
        parity.add_page(page, &whole);
    }
    let mut members = set.index().members().to_vec();
    let member = members.iter_mut().find(|member| member.file.path == Path::new(path)).unwrap();
    member.file.path = other.into();
    let marks = set.index().marks().to_vec();
    let index = SetIndex::new(geometry, members, marks, |page| parity.page(page)).unwrap();

    let mut forged = Vec::new();
    let id = SetFile::write(&index, &parity, set.header().origin, &mut forged).unwrap().set();
    fs::remove_file(at).unwrap();
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let folder = tree.at(".steadfast/parity").join(&hex[..2]);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(&hex), forged).unwrap();
}

fn copy_folder(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}

#[test]
fn a_par2_set_gives_back_what_decayed() {
    if steadfast_testing::program("par2").is_none() {
        return;
    }
    let tree = photographs();
    let mut create = Command::new("par2");
    create.args(["create", "-q", "-q", "-r50", "set.par2", "a.jpg", "b.jpg"]);
    create.current_dir(tree.path()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(create.status().unwrap().success());
    let (set, stop) = (tree.at("set.par2"), AtomicBool::new(false));
    let verify = || verify_par2(&set, &[], &stop, &mut |_| {}).unwrap();
    assert_eq!((verify().verdicts.intact, verify().exit_status()), (2, ExitStatus::Fine));

    let mut decayed = noise(1, 30_000);
    decayed[4242] ^= 8;
    tree.corrupt("a.jpg", &decayed);
    assert_eq!((verify().verdicts.corrupt, verify().exit_status()), (1, ExitStatus::Corrupt));
    let planned = repair_par2(&set, &[], true, &stop, &mut |_| {}).unwrap();
    assert_eq!((planned.repaired, planned.is_done), (1, false));
    assert_eq!(fs::read(tree.at("a.jpg")).unwrap(), decayed);

    let done = repair_par2(&set, &[], false, &stop, &mut |_| {}).unwrap();
    assert_eq!((done.repaired, done.exit_status()), (1, ExitStatus::Fine));
    assert_eq!(fs::read(tree.at("a.jpg")).unwrap(), noise(1, 30_000));
    assert_eq!(tree.run(Verb::check()).verdict("a.jpg"), Some(Verdict::Intact), "by its tag");
    let (_, kept) = &done.originals[0];
    assert_eq!(fs::read(kept.join("a.jpg")).unwrap(), decayed);
}
