//! What a repair must leave alone: files outside the tree, edits made meanwhile, and what a file
//! has beyond its end.

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use steadfast::repair::{
    Copies, RepairMode, RepairMonitor, RepairOutcome, RepairRequest, RepairSummary, RepairTarget,
    repair_files,
};
use steadfast::{Event, Monitor, Options, Selection};
use steadfast_testing::{Need, skip};

use crate::repair::{Facts, attribute, copied, decay, facts, flip, names, without_catalogue};
use crate::tree::{Outcome, Tree};

/// Puts the journal of a finished repair back, as if that had been cut off.
fn plant_journal(tree: &Tree) -> PathBuf {
    let inode = fs::metadata(tree.path("data/film")).unwrap().ino();
    let unfinished = tree.path("data/.steadfast/damaged/unfinished");
    let planted = unfinished.join(format!("{inode:016x}.pages"));
    fs::create_dir_all(&unfinished).unwrap();
    fs::copy(tree.path("data/.steadfast/damaged/1/film.pages"), &planted).unwrap();
    planted
}

#[test]
fn bytes_beyond_the_end_are_in_the_journal_and_come_back() {
    // Leaves say that no page is damaged: the tail alone must go.
    let tree = copied();
    let whole = facts(&tree.path("data/film"));
    let tail = b"a tail within the last page";
    decay(&tree.path("data/film"), |bytes| bytes.extend(tail));
    let grown = facts(&tree.path("data/film"));
    let words = ["repair", "--yes", "--in-place", "--from", "one", "data/film"];
    // Told to stop once the end was cut off, it puts the tail back. Without a catalogue, the first
    // file that is cut is this one, which the trace proves.
    let length = |facts: &Facts| facts.contents.len();
    if steadfast_testing::program("strace").is_some() {
        let trace = tree.path("trace");
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-y", "-e", "trace=ftruncate", "-o"]).arg(&trace);
        traced.args(["-e", "inject=ftruncate:signal=INT:when=1"]);
        traced.arg(tree.command([""; 0]).get_program()).args(words).arg("--no-catalogue");
        traced
            .current_dir(tree.path(""))
            .env("STEADFAST_IGNORE_CTIME", "1")
            .env("XDG_STATE_HOME", tree.state(""));
        let ended = traced.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        assert_ne!(ended.status().unwrap().code(), Some(0));
        assert!(facts(&tree.path("data/film")) == grown);
        let calls = fs::read_to_string(trace).unwrap();
        let (cut, undone) = calls.split_once("SIGINT").expect("it was told to stop");
        assert!(cut.contains(&format!("/data/film>, {})", length(&whole))), "{calls}");
        assert!(undone.contains(&format!("/data/film>, {})", length(&grown))), "{calls}");
    }
    tree.run(words).succeeds();
    assert!(facts(&tree.path("data/film")) == whole);
    let journal = fs::read(tree.path("data/.steadfast/damaged/1/film.pages")).unwrap();
    assert!(journal.windows(tail.len()).any(|bytes| bytes == tail));
    // Cut off before the end was: it is finished. With another tail, it is left alone.
    decay(&tree.path("data/film"), |bytes| bytes.extend(tail));
    plant_journal(&tree);
    tree.run(["repair", "--yes", "data"]).succeeds();
    assert!(facts(&tree.path("data/film")) == whole);
    for other in [&b"b tail within the last page"[..], b"a tail within the last page, longer"] {
        fs::write(tree.path("data/film"), [&*whole.contents, other].concat()).unwrap();
        let edited = facts(&tree.path("data/film"));
        plant_journal(&tree);
        let said = tree.run(["repair", "--yes", "data"]);
        assert!(said.stderr().contains("changed since"), "{}", said.stderr());
        assert!(facts(&tree.path("data/film")) == edited);
        decay(&tree.path("data/film"), |bytes| bytes.truncate(whole.contents.len()));
    }
}

#[test]
fn nothing_outside_the_tree_is_written_through_a_name_of_it() {
    let (tree, _) = without_catalogue(50_000);
    fs::create_dir(tree.path("outside")).unwrap();
    let damaged = facts(&tree.path("data/film"));
    fs::hard_link(tree.path("data/film"), tree.path("outside/victim")).unwrap();
    let words = ["repair", "--yes", "--in-place", "--from", "copy", "data/film"];
    let said = tree.run(words).ends(3);
    assert!(said.stdout().contains("2 names (hard links), of which 1"), "{}", said.stdout());
    assert!(facts(&tree.path("outside/victim")) == damaged);
    // A name anywhere in the tree is one that is repaired with it.
    fs::create_dir_all(tree.path("data/deep/er")).unwrap();
    fs::rename(tree.path("outside/victim"), tree.path("data/deep/er/name")).unwrap();
    tree.run(words).succeeds();
    let whole = facts(&tree.path("data/film"));
    assert!(facts(&tree.path("data/deep/er/name")) == whole);
    // A journal, planted or not, does not write to another name either.
    decay(&tree.path("data/film"), |bytes| bytes.copy_from_slice(&damaged.contents));
    fs::rename(tree.path("data/deep/er/name"), tree.path("outside/victim")).unwrap();
    let journal = plant_journal(&tree);
    let said = tree.run(["repair", "--yes", "data"]);
    assert!(said.status != 0 && said.stderr().contains("of which 1"), "{}", said.stderr());
    assert!(facts(&tree.path("outside/victim")) == damaged);
    assert!(journal.exists());
    fs::remove_file(tree.path("outside/victim")).unwrap();
    tree.run(["repair", "--yes", "data"]).succeeds();
    assert!(facts(&tree.path("data/film")) == whole);
}

#[test]
fn a_file_that_another_program_writes_to_is_left_alone() {
    for way in [&[][..], &["--in-place"]] {
        let (tree, _) = without_catalogue(50_000);
        let damaged = facts(&tree.path("data/film"));
        let writer = fs::File::options().write(true).open(tree.path("data/film")).unwrap();
        let file = steadfast_sys::file::File::open(&tree.path("data/film")).unwrap();
        if file.hold_off_writers().is_ok() {
            return skip(Need::System("file leases"), "writers cannot be noticed here");
        }
        let words = ["repair", "--yes", "--from", "copy", "data"];
        let said = tree.run(words.iter().chain(way)).ends(3);
        assert!(said.stdout().contains("another program has it open"), "{}", said.stdout());
        assert!(facts(&tree.path("data/film")) == damaged);
        assert!(!said.stdout().contains("damaged files are in"), "{}", said.stdout());
        assert!(!tree.path("data/.steadfast/damaged/1").exists(), "nothing was kept");
        drop(writer);
        tree.run(words.iter().chain(way)).succeeds();
    }
}

/// Does something while a repair runs.
struct Meddler<'a> {
    asked: &'a dyn Fn(),
    repaired: &'a dyn Fn(&Path),
    told: Vec<String>,
}

impl Monitor for Meddler<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let Event::Notice(notice) = event {
            self.told.push(notice.to_string());
        }
        ControlFlow::Continue(())
    }
}

impl RepairMonitor for Meddler<'_> {
    fn planned(&mut self, _target: &RepairTarget, outcome: &RepairOutcome) {
        assert!(outcome.is_good(), "{outcome:?}");
    }

    fn consents(&mut self, _files: u64) -> bool {
        (self.asked)();
        true
    }

    fn repaired(&mut self, target: &RepairTarget, outcome: &RepairOutcome) {
        let fault = outcome.fault.as_ref();
        self.told.extend(fault.map(ToString::to_string));
        (self.repaired)(&target.path);
    }
}

/// Two damaged files, and what happens while they are repaired.
fn meddled(
    tree: &Tree,
    in_place: bool,
    asked: &dyn Fn(),
    repaired: &dyn Fn(&Path),
) -> (RepairSummary, String) {
    let request = RepairRequest {
        copies: Copies::new(&[tree.path("copy")]).unwrap(),
        mode: RepairMode::Ask,
        in_place,
        with_special: false,
        suspects: false,
        to_tag: false,
        all_lost: false,
    };
    let mut meddler = Meddler { asked, repaired, told: Vec::new() };
    let selection = Selection::of([tree.path("data")]);
    // As for every command of a test: the damage may fall into a later second than the tags.
    let options = Options::default().with(|options| options.ignore_change_times = true);
    let summary = repair_files(&selection, &options, &request, &mut meddler);
    (summary.unwrap(), meddler.told.join("\n"))
}

fn two_damaged() -> Tree {
    let (tree, contents) = without_catalogue(50_000);
    let tree = tree.file("data/other", &contents).file("copy/other", &contents);
    tree.run(["tag", "data/other"]).succeeds();
    flip(&tree.path("data/other"), &[9000]);
    // The clock of change times moves in steps. An edit within the step of the damage, with its
    // date kept, leaves no trace.
    let ctime = |path: &Path| fs::metadata(path).map(|of| (of.ctime(), of.ctime_nsec())).unwrap();
    let damaged = ctime(&tree.path("data/other"));
    loop {
        fs::write(tree.path("later"), "").unwrap();
        if ctime(&tree.path("later")) > damaged {
            return tree;
        }
    }
}

#[test]
fn an_edit_after_the_check_stays() {
    for in_place in [false, true] {
        // While the question waits: another time, or none. And while another file is repaired.
        let edits: [&dyn Fn(&Path); 3] = [
            &|path| fs::write(path, b"an edit").unwrap(),
            &|path| decay(path, |bytes| bytes.fill(7)),
            &|path| {
                fs::write(path.with_extension("new"), b"an edit").unwrap();
                fs::rename(path.with_extension("new"), path).unwrap();
            },
        ];
        for (number, edit) in edits.into_iter().enumerate() {
            let tree = two_damaged();
            let other = tree.path("data/other");
            let asked = || edit(&other);
            let (summary, told) = meddled(&tree, in_place, &asked, &|_| ());
            let edited = facts(&other);
            assert_ne!(summary.exit_status().code(), 0, "{number}");
            assert!(told.contains("changed since it was checked"), "{number}: {told}");
            assert!(edited.contents == b"an edit" || edited.contents[..9] == [7; 9], "{number}");
            let tree = two_damaged();
            let other = tree.path("data/other");
            let repaired = |path: &Path| {
                if path.ends_with("film") {
                    edit(&other)
                }
            };
            let (summary, _) = meddled(&tree, in_place, &|| (), &repaired);
            assert_ne!(summary.exit_status().code(), 0, "{number}");
            let edited = facts(&other);
            assert!(edited.contents == b"an edit" || edited.contents[..9] == [7; 9], "{number}");
        }
    }
}

#[test]
fn who_writes_to_a_file_that_was_replaced_is_told_where_that_is() {
    let tree = two_damaged();
    let kept = tree.path("data/.steadfast/damaged/1/film");
    let repaired = |path: &Path| {
        if path.ends_with("film") {
            let mut file = fs::File::options().append(true).open(&kept).unwrap();
            file.write_all(b"of a program that had it open").unwrap();
        }
    };
    let (summary, told) = meddled(&tree, false, &|| (), &repaired);
    assert_eq!(summary.exit_status().code(), 2);
    assert!(told.contains("wrote to it since") && told.contains("damaged/1/film"), "{told}");
}

/// Another user, and one who runs the program.
const MALLORY: u32 = 54_321;
const ALICE: u32 = 54_322;

/// Gives everything beneath a path to a user. Returns false if only root can.
fn give(path: &Path, uid: u32) -> bool {
    let owner = format!("{uid}:{uid}");
    Command::new("chown").args(["-R", &owner]).arg(path).status().unwrap().success()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A folder `shared` with a tree `shared/own`, and parity in the shared one that also has a file
/// `own/planted`, which is gone.
fn planted_parity() -> Tree {
    let tree = Tree::new().file("shared/own/film", &[7; 9000]).file("shared/own/planted", b"evil");
    tree.run(["tag", "shared"]).succeeds();
    tree.run(["parity", "make", "shared"]).succeeds();
    fs::remove_file(tree.path("shared/own/planted")).unwrap();
    tree
}

#[test]
fn a_catalogue_that_another_person_could_have_put_there_decides_nothing() {
    let tree = Tree::new().file("shared/own/film", &[7; 9000]).file("shared/own/planted", b"evil");
    tree.run(["init", "--tags-only", "shared"]).succeeds();
    tree.run(["tag", "shared"]).succeeds();
    fs::remove_file(tree.path("shared/own/planted")).unwrap();
    if !give(&tree.path("shared"), ALICE) {
        return skip(Need::Root, "files cannot be given to another user");
    }
    set_mode(&tree.path(""), 0o755);
    let as_alice = |words: &[&str]| Outcome::of(tree.command(words).uid(ALICE).gid(ALICE));
    let is_refused = |place: &str| {
        for verb in ["check", "tag", "update"] {
            let said = as_alice(&[verb, "shared/own"]).succeeds();
            assert!(said.stderr().contains("is not trusted"), "{verb}: {}", said.stderr());
            assert!(said.stderr().contains(place), "{verb}: {}", said.stderr());
        }
        let said = as_alice(&["show", "--history", "shared/own/film"]);
        assert!(said.status == 2 && said.stderr().contains(place), "{}", said.stderr());
    };
    // Her own says what is missing.
    as_alice(&["check", "shared/own"]).ends(1);
    set_mode(&tree.path("shared"), 0o777);
    is_refused("shared` is not trusted");
    // What is in the folder that she names is hers to judge.
    as_alice(&["check", "shared"]).ends(1);
    set_mode(&tree.path("shared"), 0o755);
    for place in ["shared", "shared/.steadfast", "shared/.steadfast/catalogue.sqlite"] {
        let is_folder = tree.path(place).is_dir();
        chown(tree.path(place), Some(MALLORY), Some(MALLORY)).unwrap();
        is_refused(place);
        chown(tree.path(place), Some(ALICE), Some(ALICE)).unwrap();
        set_mode(&tree.path(place), if is_folder { 0o775 } else { 0o664 });
        chown(tree.path(place), None, Some(MALLORY)).unwrap();
        is_refused(place);
        set_mode(&tree.path(place), if is_folder { 0o755 } else { 0o644 });
    }
    as_alice(&["check", "shared/own"]).ends(1);
    // A link in its place keeps nobody from a tree beneath.
    fs::rename(tree.path("shared/.steadfast"), tree.path("aside")).unwrap();
    std::os::unix::fs::symlink("/nowhere", tree.path("shared/.steadfast")).unwrap();
    std::os::unix::fs::lchown(tree.path("shared/.steadfast"), Some(MALLORY), None).unwrap();
    is_refused("shared/.steadfast");
}

#[test]
fn parity_that_another_person_could_have_put_there_is_not_used() {
    let tree = planted_parity();
    if !give(&tree.path("shared"), ALICE) {
        return skip(Need::Root, "files cannot be given to another user");
    }
    set_mode(&tree.path(""), 0o755);
    let as_alice = |words: &[&str]| Outcome::of(tree.command(words).uid(ALICE).gid(ALICE));
    let is_refused = |place: &str| {
        let said = as_alice(&["repair", "--yes", "shared/own"]);
        assert!(!tree.path("shared/own/planted").exists(), "{place}");
        assert!(said.stderr().contains("is not trusted"), "{place}: {}", said.stderr());
        assert!(said.stderr().contains(place), "{place}: {}", said.stderr());
        // It does not keep her from her own tree.
        assert_eq!(said.status, 0, "{place}: {}", said.stderr());
        as_alice(&["update", "shared/own"]).succeeds();
        as_alice(&["check", "shared/own"]).succeeds();
    };
    let parity = tree.path("shared/.steadfast/parity");
    let mut entries = fs::read_dir(&parity).unwrap().map(|entry| entry.unwrap().path());
    let group = entries.find(|path| path.is_dir()).unwrap();
    // The folder of ours, the one above it, and the parity belong to somebody else.
    for (place, mode) in [("shared", 0o1777), ("shared/.steadfast", 0o755)] {
        set_mode(&tree.path("shared"), 0o1777);
        chown(tree.path(place), Some(MALLORY), Some(MALLORY)).unwrap();
        set_mode(&tree.path(place), mode);
        is_refused(place);
        chown(tree.path(place), Some(ALICE), Some(ALICE)).unwrap();
    }
    set_mode(&tree.path("shared"), 0o755);
    set_mode(&parity, 0o755);
    for mode in [0o777, 0o1777, 0o775] {
        chown(&parity, None, Some(MALLORY)).unwrap();
        set_mode(&parity, mode);
        is_refused(".steadfast/parity");
    }
    chown(&parity, None, Some(ALICE)).unwrap();
    set_mode(&parity, 0o700);
    // Anyone could have put another folder in the place of ours, unless the sticky bit is set.
    set_mode(&tree.path("shared"), 0o777);
    is_refused("shared");
    set_mode(&tree.path("shared"), 0o755);
    // A folder of sets, and a set: nothing comes of them, and that is told.
    let set = fs::read_dir(&group).unwrap().next().unwrap().unwrap().path();
    for path in [&group, &set] {
        let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
        set_mode(path, mode | 0o002);
        let said = as_alice(&["repair", "--yes", "shared/own"]).ends(2);
        assert!(said.stderr().contains("cannot be read"), "{}", said.stderr());
        assert!(!tree.path("shared/own/planted").exists());
        set_mode(path, mode);
    }
    // What is hers, root may use too, and she herself.
    for as_root in [true, false] {
        match as_root {
            true => tree.run(["repair", "--yes", "shared/own"]).succeeds(),
            // She cannot give the file to its group again, which is told.
            false => as_alice(&["repair", "--yes", "shared/own"]).ends(2),
        };
        assert_eq!(fs::read(tree.path("shared/own/planted")).unwrap(), b"evil");
        fs::remove_file(tree.path("shared/own/planted")).unwrap();
    }
}

#[test]
fn what_is_broken_above_a_tree_does_not_keep_from_it() {
    let tree = Tree::new().file("above/tree/film", b"film");
    tree.run(["init", "--tags-only", "above/tree"]).succeeds();
    tree.run(["tag", "above/tree"]).succeeds();
    let unfinished = tree.path("above/.steadfast/damaged/unfinished");
    fs::create_dir_all(&unfinished).unwrap();
    let journal = unfinished.join("0000000000000007.pages");
    fs::write(&journal, b"garbage").unwrap();
    let parity = tree.path("above/.steadfast/parity");
    fs::create_dir(&parity).unwrap();
    fs::write(parity.join("elsewhere"), b"garbage").unwrap();
    for verb in ["check", "update", "tag"] {
        let said = tree.run([verb, "above/tree"]).succeeds();
        assert!(said.stderr().contains("damaged"), "{verb}: {}", said.stderr());
    }
    let said = tree.run(["repair", "--yes", "above/tree"]).succeeds();
    assert!(said.stderr().contains("cannot be used"), "{}", said.stderr());
    // The tree itself is not tagged, until the journal is removed by name.
    let said = tree.run(["update", "above"]).ends(2);
    assert!(said.stderr().contains("repair --discard unfinished"), "{}", said.stderr());
    tree.run(["check", "above"]).ends(2);
    tree.run(["repair", "--yes", "above"]).ends(2);
    let said = tree.run(["repair", "--discard", "unfinished", "above"]).succeeds();
    assert!(said.stdout().contains("Removed 1 journal."), "{}", said.stdout());
    assert!(!journal.exists());
    fs::remove_dir_all(parity).unwrap();
    tree.run(["update", "above"]).succeeds();
    tree.run(["repair", "--discard", "unfinished", "above"]).ends(2);
}

#[test]
fn a_journal_of_another_person_is_not_finished() {
    let (tree, _) = without_catalogue(50_000);
    tree.run(["repair", "--yes", "--in-place", "--from", "copy", "data"]).succeeds();
    let kept = fs::read(tree.path("data/.steadfast/damaged/1/film.pages")).unwrap();
    tree.corrupt("data/film");
    let damaged = facts(&tree.path("data/film"));
    let inode = fs::metadata(tree.path("data/film")).unwrap().ino();
    let unfinished = tree.path("data/.steadfast/damaged/unfinished");
    fs::create_dir(&unfinished).unwrap();
    fs::write(unfinished.join(format!("{inode:016x}.pages")), kept).unwrap();
    for (path, mode) in [(&unfinished, 0o777), (&tree.path("data/.steadfast/damaged"), 0o777)] {
        let before = fs::metadata(path).unwrap().permissions();
        set_mode(path, mode);
        let said = tree.run(["repair", "--yes", "data"]);
        assert!(said.stderr().contains("anyone can write to it"), "{}", said.stderr());
        assert!(said.status != 0 && facts(&tree.path("data/film")) == damaged);
        tree.run(["update", "data"]).ends(2);
        fs::set_permissions(path, before).unwrap();
    }
    if chown(&unfinished, Some(MALLORY), None).is_err() {
        return skip(Need::Root, "files cannot be given to another user");
    }
    let said = tree.run(["repair", "--yes", "data"]);
    assert!(said.stderr().contains("another user (54321)"), "{}", said.stderr());
    assert!(said.status != 0 && facts(&tree.path("data/film")) == damaged);
    chown(&unfinished, Some(0), None).unwrap();
    tree.run(["repair", "--yes", "data"]).succeeds();
}

/// A file system in a folder, until it is dropped.
pub(crate) struct Mounted(PathBuf);

impl Mounted {
    pub(crate) fn at(path: &Path) -> Option<Mounted> {
        let mut mount = Command::new("mount");
        let status = mount.args(["-t", "tmpfs", "none"]).arg(path).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success()).then(|| Mounted(path.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_draft_on_another_volume_is_no_file_of_the_tree_and_is_cleared_up() {
    let tree = Tree::new().file("data/film", b"film").file("copy/disk/sub/photo", b"photo");
    fs::create_dir(tree.path("data/disk")).unwrap();
    let Some(_mounted) = Mounted::at(&tree.path("data/disk")) else {
        return skip(Need::Root, "nothing can be mounted");
    };
    fs::create_dir(tree.path("data/disk/sub")).unwrap();
    fs::copy(tree.path("copy/disk/sub/photo"), tree.path("data/disk/sub/photo")).unwrap();
    tree.run(["init", "--tags-only", "data"]).succeeds();
    if tree.run(["tag", "data"]).status != 0 {
        return skip(Need::System("attributes on tmpfs"), "files cannot be tagged there");
    }
    fs::remove_file(tree.path("data/disk/sub/photo")).unwrap();
    if steadfast_testing::program("strace").is_none() {
        return;
    }
    let words = ["repair", "--yes", "--from", "copy", "data"];
    // Killed before the draft gets its name.
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2"]);
    traced.args(["-e", "inject=renameat2:signal=KILL:when=1:error=EIO"]);
    traced.arg(tree.command([""; 0]).get_program()).args(words).current_dir(tree.path(""));
    traced
        .env("STEADFAST_IGNORE_CTIME", "1")
        .env("XDG_STATE_HOME", tree.state(""))
        .stdin(Stdio::null());
    traced.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let left = tree.path("data/disk/.steadfast/damaged/unfinished");
    assert_eq!(names(&left).len(), 1, "the draft is there");
    assert_eq!(names(&tree.path("data/disk/sub")), [""; 0]);
    let said = tree.run(["check", "--json", "data"]).ends(1);
    assert!(format!("{}{}", said.stdout(), said.stderr()).contains("was cut off, or goes on"));
    let said = tree.run(["update", "--json", "--accept-many", "data"]);
    assert!(!said.stdout().contains("draft"), "{}", said.stdout());
    tree.run(words).succeeds();
    assert_eq!(fs::read(tree.path("data/disk/sub/photo")).unwrap(), b"photo");
    assert_eq!(names(&tree.path("data/disk")), ["sub"]);
    assert!(!tree.path("data/.steadfast/damaged").exists());
}

/// Puts a file into the mount point, as a program does. It says nothing of those on the volume, and
/// is neither tagged nor recorded: the volume hides it later.
fn expect_a_stray_file_left_alone(tree: &Tree) {
    fs::write(tree.path("data/disk/stray"), "stray").unwrap();
    for words in [
        &["check", "--json", "data"][..],
        &["check", "--json", "--older-than", "0s", "data"],
        &["update", "--json", "data"],
        &["tag", "--json", "data"],
        &["tag", "--json", "data/disk"],
        &["tag", "--json", "data/disk/stray"],
        &["tag", "--json", "data/disk/sub"],
    ] {
        let said = tree.run(words).ends(2);
        assert_eq!(said.summary()["verdicts"]["missing"], 0, "{words:?}");
        assert_eq!(said.summary()["findings"]["unmounted"], 1, "{words:?}");
        assert!(!said.stdout().contains("stray"), "{words:?}: {}", said.stdout());
        let tag = attribute(&tree.path("data/disk/stray"), steadfast_sys::xattr::TAG);
        assert_eq!(tag, None, "{words:?}");
    }
    fs::remove_file(tree.path("data/disk/stray")).unwrap();
}

#[test]
fn nothing_is_made_in_a_mount_point_without_its_volume() {
    let tree = Tree::new().file("data/a", b"alpha").file("copy/disk/b", b"beta");
    let tree = tree.file("copy/disk/sub/c", b"gamma");
    fs::create_dir(tree.path("data/disk")).unwrap();
    let Some(mounted) = Mounted::at(&tree.path("data/disk")) else {
        return skip(Need::Root, "nothing can be mounted");
    };
    let filled = || {
        fs::create_dir(tree.path("data/disk/sub")).unwrap();
        for name in ["disk/b", "disk/sub/c"] {
            fs::copy(tree.path("copy").join(name), tree.path("data").join(name)).unwrap();
        }
    };
    filled();
    tree.run(["init", "--tags-only", "data"]).succeeds();
    if tree.run(["tag", "data"]).status != 0 {
        return skip(Need::System("attributes on tmpfs"), "files cannot be tagged there");
    }
    tree.run(["parity", "make", "data"]).succeeds();
    if steadfast_testing::program("par2").is_some() {
        let mut make = Command::new("par2");
        make.args(["create", "-q", "-q", "-R", "-r100", "set.par2", "disk"]);
        assert!(make.current_dir(tree.path("data")).status().unwrap().success());
        tree.run(["repair", "--dry-run", "data/set.par2"]).succeeds();
    }
    drop(mounted);
    for words in [
        &["check", "data"][..],
        &["check", "data/disk"],
        &["check", "data/disk/b"],
        &["check", "data/disk/sub/c"],
        &["update", "--accept-missing", "data/disk"],
        &["update", "--accept-missing", "data/disk/sub"],
        &["update", "--accept-missing", "data/disk/b"],
        &["repair", "--yes", "data"],
        &["repair", "--yes", "data/disk"],
        &["repair", "--yes", "data/disk/b"],
        &["repair", "--yes", "--from", "copy/disk/b", "data/disk/b"],
        &["repair", "--yes", "--from", "copy", "data"],
        &["repair", "--yes", "--no-catalogue", "--from", "copy", "data"],
        &["repair", "--yes", "--no-catalogue", "data/disk/sub"],
        &["repair", "--yes", "data/set.par2"],
        &["parity", "update", "data"],
        &["parity", "make", "data"],
    ] {
        if words.last() == Some(&"data/set.par2") && !tree.path("data/set.par2").exists() {
            continue;
        }
        let said = tree.run(words);
        assert!(said.status >= 2, "{words:?}: {} {}", said.stdout(), said.stderr());
        let is_parity = words[0] == "parity";
        let text = format!("{}{}", said.stdout(), said.stderr());
        let names_it = text.contains("mounted") || text.contains("data/disk");
        assert!(is_parity || names_it, "{words:?}: {text}");
        assert_eq!(names(&tree.path("data/disk")), [""; 0], "{words:?}");
    }
    expect_a_stray_file_left_alone(&tree);
    // What was copied out of the volume is judged like any other folder.
    filled();
    tree.run(["check", "data"]);
    fs::remove_file(tree.path("data/disk/b")).unwrap();
    let said = tree.run(["check", "--json", "data"]).ends(1);
    assert_eq!(said.summary()["verdicts"]["missing"], 1, "{}", said.stdout());
}
