//! Sets of parity that stay until each of their files is proved whole under another set: whatever
//! was lost, renamed, unmounted or damaged in between.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::PathBuf;

use serde_json::Value;
use steadfast::Tag;
use steadfast::parity::{ParityPlace, ParitySource};
use steadfast::store::{StoredTag, tag_at};
use steadfast_sys::file::File;
use steadfast_testing::{Need, skip};

use crate::parity::{contents, photographs, sets};
use crate::tree::{Outcome, Tree};

/// What a file was when it was protected.
pub(crate) struct Known {
    pub(crate) tag: Tag,
    pub(crate) bytes: Vec<u8>,
}

/// Returns what a file beneath `data` is.
pub(crate) fn known(tree: &Tree, name: &str) -> Known {
    let path = tree.path("data").join(name);
    match tag_at(&File::open(&path).unwrap(), &path).unwrap() {
        StoredTag::Whole(tag) => Known { tag, bytes: fs::read(&path).unwrap() },
        other => panic!("{name}: {other:?}"),
    }
}

/// Says whether parity can give a file beneath `data` back, as it was.
pub(crate) fn can_give(tree: &Tree, name: &str, known: &Known) -> bool {
    let place = ParityPlace::new(&tree.path("data"), None).unwrap();
    let source = ParitySource::open(&place).unwrap();
    let own = File::open(&tree.path("data").join(name)).ok();
    let copy = source.copy_of(name.as_ref(), &known.tag, own.as_ref(), None, &false.into());
    let Some(copy) = copy.unwrap() else { return false };
    let mut bytes = vec![0; known.bytes.len() + 1];
    let mut end = 0;
    while end < bytes.len() {
        match copy.file.read_at(&mut bytes[end..], end as u64).unwrap() {
            0 => break,
            read => end += read,
        }
    }
    bytes[..end] == known.bytes
}

/// Takes the attributes of a file away, as a copy without `-X` does.
pub(crate) fn drop_attributes(tree: &Tree, name: &str) {
    let file = File::open(&tree.path(name)).unwrap();
    let names = [steadfast_sys::xattr::TAG, steadfast_sys::xattr::TAG_PREVIOUS];
    names.iter().for_each(|name| drop(steadfast_sys::xattr::remove(&file, name)));
}

fn protected() -> Tree {
    let tree = photographs();
    tree.run(["parity", "make", "data"]).succeeds();
    tree
}

fn summary(tree: &Tree, arguments: &[&str], status: i32) -> Value {
    let arguments = ["parity"].iter().chain(arguments).chain(&["--json", "data"]);
    tree.run(arguments).ends(status).summary()
}

fn said(outcome: &Outcome) -> String {
    format!("{}{}", outcome.stdout(), outcome.stderr())
}

#[test]
fn a_set_stays_for_a_rotten_file_that_lost_its_tag() {
    let tree = protected();
    let before = sets(&tree);
    let cat = known(&tree, "0/1.jpg");
    drop_attributes(&tree, "data/0/1.jpg");
    tree.corrupt("data/0/1.jpg");
    // Another file is edited, so the set is not as the tree is.
    tree.edit("data/1/4.jpg");
    let outcome = tree.run(["update", "data/1"]).ends(2);
    assert!(said(&outcome).contains("0/1.jpg`: it has no tag any more"), "{outcome:?}");
    let outcome = tree.run(["parity", "update", "data"]).ends(2);
    assert!(said(&outcome).contains("still needed, because `data/0/1.jpg`"), "{outcome:?}");
    // The rotten contents get a tag, with the time that the file had.
    for verb in [&["tag"][..], &["update"], &["parity", "update"], &["parity", "make"]] {
        let outcome = tree.run(verb.iter().chain(&["data"])).ends(2);
        assert!(said(&outcome).contains("of other contents, with the same time"), "{outcome:?}");
    }
    assert!(before.iter().all(|set| set.exists()));
    assert!(can_give(&tree, "0/1.jpg", &cat));
    // A person may let go of it by its name.
    let made = summary(&tree, &["update", "--forget", "0/1.jpg"], 0);
    assert_eq!((&made["files"], &made["sets_needed"]), (&8.into(), &0.into()), "{made}");
    assert!(!before[0].exists());
    summary(&tree, &["update"], 0);
}

#[test]
fn a_missing_file_comes_back_as_it_was_last_although_an_older_set_stays() {
    // The sets are listed in the order of their names, which are drawn at random.
    for _ in 0..6 {
        let tree = protected();
        drop_attributes(&tree, "data/0/1.jpg");
        tree.corrupt("data/0/1.jpg");
        tree.edit("data/1/4.jpg");
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(tree.path("data/1/5.jpg"), private).unwrap();
        tree.run(["update", "data"]).ends(2);
        assert_eq!(sets(&tree).len(), 2, "the older one is needed");
        let edited = known(&tree, "1/4.jpg");
        fs::remove_file(tree.path("data/1/4.jpg")).unwrap();
        fs::remove_file(tree.path("data/1/5.jpg")).unwrap();
        tree.run(["repair", "--yes", "data"]);
        assert_eq!(fs::read(tree.path("data/1/4.jpg")).unwrap(), edited.bytes);
        let mode = fs::metadata(tree.path("data/1/5.jpg")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_lost_tag_alone_keeps_its_set_and_is_told() {
    let tree = protected();
    let before = sets(&tree);
    drop_attributes(&tree, "data/0/1.jpg");
    let outcome = tree.run(["parity", "update", "data"]).ends(2);
    assert!(said(&outcome).contains("data/0/1.jpg"), "{outcome:?}");
    assert_eq!(sets(&tree), before);
    // The same contents get a tag again, and no file is read.
    tree.run(["tag", "data"]).succeeds();
    let made = summary(&tree, &["update"], 0);
    assert_eq!((&made["files"], &made["bytes_read"]), (&8.into(), &0.into()), "{made}");
    // A tag that is damaged tells as little.
    let cat = known(&tree, "0/1.jpg");
    tree.damage_tag("data/0/1.jpg");
    tree.corrupt("data/0/1.jpg");
    tree.edit("data/1/4.jpg");
    tree.run(["update", "data/1"]).ends(2);
    tree.run(["parity", "update", "data"]).ends(2);
    assert!(can_give(&tree, "0/1.jpg", &cat));
}

#[test]
fn a_lost_tag_counts_as_the_catalogue_has_it() {
    let tree = photographs();
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["check", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    let cat = known(&tree, "0/1.jpg");
    let before = sets(&tree);
    drop_attributes(&tree, "data/0/1.jpg");
    let made = summary(&tree, &["update"], 0);
    assert_eq!((&made["files"], &made["untagged"]), (&8.into(), &0.into()), "{made}");
    assert_eq!((&made["bytes_read"], sets(&tree)), (&0.into(), before.clone()), "{made}");
    tree.corrupt("data/0/1.jpg");
    tree.edit("data/1/4.jpg");
    let outcome = tree.run(["update", "data"]).ends(3);
    assert!(said(&outcome).contains("0/1.jpg`: it is corrupt"), "{outcome:?}");
    assert!(before[0].exists() && can_give(&tree, "0/1.jpg", &cat));
    // The check found that the tag was lost, besides.
    tree.run(["repair", "--yes", "data"]);
    assert!(fs::read(tree.path("data/0/1.jpg")).unwrap() == cat.bytes);
    let made = summary(&tree, &["update"], 0);
    assert_eq!((&made["files"], &made["sets_needed"]), (&8.into(), &0.into()), "{made}");
    assert!(!before[0].exists());
}

#[test]
fn a_damaged_set_stays_while_it_is_needed() {
    let tree = protected();
    let before = sets(&tree)[0].clone();
    let cat = known(&tree, "0/1.jpg");
    // One of the two copies of a block of the index.
    let set = fs::File::options().write(true).open(&before).unwrap();
    set.write_all_at(&[0xEE; 16], 4096 + 20).unwrap();
    tree.corrupt("data/0/1.jpg");
    for verb in ["update", "make"] {
        let outcome = tree.run(["parity", verb, "data"]).ends(3);
        let why = "still needed, because `data/0/1.jpg`: it is corrupt";
        assert!(said(&outcome).contains(why), "{outcome:?}");
        assert!(before.exists() && can_give(&tree, "0/1.jpg", &cat), "{verb}");
    }
    tree.run(["repair", "--yes", "data"]).succeeds();
    summary(&tree, &["update"], 0);
    assert!(!before.exists() || sets(&tree).len() == 1);
    summary(&tree, &["verify"], 0);
}

#[test]
fn a_set_that_cannot_be_read_stays_and_is_told_by_name() {
    let tree = protected();
    let before = sets(&tree)[0].clone();
    let name = before.file_name().unwrap().to_str().unwrap().to_owned();
    let whole = fs::read(&before).unwrap();
    tree.edit("data/1/4.jpg");
    for bytes in [&b""[..], b"not a set", &whole[..100]] {
        fs::write(&before, bytes).unwrap();
        for verb in [&["update"][..], &["parity", "update"], &["parity", "make"]] {
            let outcome = tree.run(verb.iter().chain(&["data"])).ends(2);
            assert!(said(&outcome).contains(&name), "{outcome:?}");
            assert_eq!(fs::read(&before).unwrap(), bytes);
        }
    }
    // It is there again, and has what it had.
    fs::write(&before, &whole).unwrap();
    summary(&tree, &["update"], 0);
    assert!(!before.exists());
    // A set under the name of another is not written over.
    let other = sets(&tree)[0].clone();
    let stranger = other.with_file_name("ab".repeat(16));
    fs::rename(&other, &stranger).unwrap();
    tree.run(["parity", "update", "data"]).ends(2);
    assert!(stranger.exists());
    tree.run(["parity", "drop", "--set", "nothing", "data"]).ends(2);
    let stranger_name = stranger.file_name().and_then(OsStr::to_str).unwrap();
    let folder = tree.path("data/.steadfast/parity/ab");
    fs::create_dir_all(&folder).unwrap();
    fs::rename(&stranger, folder.join(stranger_name)).unwrap();
    tree.run(["parity", "update", "data"]).ends(2);
    tree.run(["parity", "drop", "--set", stranger_name, "data"]).succeeds();
    summary(&tree, &["update"], 0);
}

#[test]
fn a_set_of_which_reads_fail_stays() {
    let Some(strace) = steadfast_testing::program("strace") else { return };
    let tree = protected();
    let before = sets(&tree)[0].clone();
    tree.edit("data/1/4.jpg");
    let words = ["update", "data"];
    let command = tree.command(words);
    let mut traced = std::process::Command::new(strace);
    traced.args(["-f", "-qq", "-o", "/dev/null", "-P"]).arg(&before);
    traced.args(["-e", "trace=pread64", "-e", "inject=pread64:error=EIO"]);
    traced.arg(command.get_program()).args(words).current_dir(tree.path(""));
    traced.env("STEADFAST_IGNORE_CTIME", "1").env("XDG_STATE_HOME", tree.state(""));
    let outcome = Outcome::of(&mut traced).ends(2);
    let name = before.file_name().unwrap().to_str().unwrap();
    assert!(said(&outcome).contains(name), "{outcome:?}");
    assert!(before.exists());
    tree.run(["update", "data"]).succeeds();
    summary(&tree, &["update"], 0);
}

#[test]
fn a_set_stays_for_a_rotten_file_that_lost_its_tag_and_was_rotated() {
    let tree = Tree::new().file("data/log.0", &contents(0, 30_000));
    let tree = tree.file("data/log.1", &contents(1, 30_000));
    tree.run(["tag", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    let before = sets(&tree);
    let logs = [known(&tree, "log.0"), known(&tree, "log.1")];
    tree.corrupt("data/log.0");
    drop_attributes(&tree, "data/log.0");
    for number in [1, 0] {
        let name = |number| tree.path(format!("data/log.{number}"));
        fs::rename(name(number), name(number + 1)).unwrap();
    }
    fs::write(tree.path("data/log.0"), "a new day").unwrap();
    for verb in [&["tag"][..], &["update"], &["parity", "update"], &["parity", "make"]] {
        let outcome = tree.run(verb.iter().chain(&["data"])).ends(2);
        assert!(
            said(&outcome).contains("data/log.1` now, which has its length"),
            "{verb:?} {outcome:?}"
        );
        assert!(before.iter().all(|set| set.exists()), "{verb:?}");
    }
    assert!(can_give(&tree, "log.0", &logs[0]) && can_give(&tree, "log.2", &logs[1]));
    // A person may let go of it by its name.
    assert_eq!(summary(&tree, &["update", "--forget", "log.0"], 0)["sets_needed"], 0);
    summary(&tree, &["update"], 0);
}

#[test]
fn rotated_files_stay_protected_under_their_present_names() {
    for has_new in [false, true] {
        let mut tree = Tree::new().file("data/other", &contents(9, 50_000));
        for number in 0..4 {
            tree = tree.file(format!("data/log.{number}"), &contents(number, 30_000));
        }
        tree.run(["tag", "data"]).succeeds();
        tree.run(["parity", "make", "data"]).succeeds();
        let logs: Vec<Known> = (0..4).map(|at| known(&tree, &format!("log.{at}"))).collect();
        for number in (0..4).rev() {
            let name = |number| tree.path(format!("data/log.{number}"));
            fs::rename(name(number), name(number + 1)).unwrap();
        }
        if has_new {
            fs::write(tree.path("data/log.0"), "not tagged yet").unwrap();
        }
        let made = summary(&tree, &["update"], 0);
        assert_eq!((&made["files"], &made["missing"]), (&5.into(), &0.into()), "{made}");
        for (number, log) in logs.iter().enumerate() {
            let name = format!("log.{}", number + 1);
            tree.corrupt(&format!("data/{name}"));
            assert!(can_give(&tree, &name, log), "{name}");
            tree.run(["repair", "--yes", &format!("data/{name}")]).succeeds();
        }
        // Swapped, in one set and with it stale.
        let (one, two) = (tree.path("data/log.1"), tree.path("data/log.2"));
        fs::rename(&one, tree.path("data/aside")).unwrap();
        fs::rename(&two, &one).unwrap();
        fs::rename(tree.path("data/aside"), &two).unwrap();
        tree.run(["tag", "data"]).succeeds();
        let made = summary(&tree, &["update"], 0);
        assert_eq!(made["sets_needed"], 0, "{made}");
        assert!(can_give(&tree, "log.1", &logs[1]) && can_give(&tree, "log.2", &logs[0]));
    }
}

#[test]
fn a_file_that_was_renamed_and_rotted_keeps_its_set() {
    let tree = protected();
    let cat = known(&tree, "0/1.jpg");
    let before = sets(&tree)[0].clone();
    fs::rename(tree.path("data/0/1.jpg"), tree.path("data/0/cat.jpg")).unwrap();
    tree.corrupt("data/0/cat.jpg");
    tree.edit("data/1/4.jpg");
    // Its set is stale, so it is read again under its new name, and fails.
    tree.run(["update", "data"]).ends(3);
    assert!(before.exists() && can_give(&tree, "0/1.jpg", &cat));
    let outcome = tree.run(["parity", "update", "data"]).ends(3);
    assert!(said(&outcome).contains("still needed, because `data/0/1.jpg`"), "{outcome:?}");
}

#[test]
fn a_copy_that_was_there_before_is_not_what_became_of_a_missing_file() {
    let tree = photographs();
    for name in ["0/1.jpg", "1/copy.jpg"] {
        let to = tree.path("data").join(name);
        let mut command = std::process::Command::new("cp");
        command.arg("--preserve=all").arg(tree.path("data/0/0.jpg")).arg(to);
        let copied = command.status().unwrap();
        assert!(copied.success());
    }
    tree.run(["parity", "make", "data"]).succeeds();
    let cat = known(&tree, "0/1.jpg");
    fs::remove_file(tree.path("data/0/1.jpg")).unwrap();
    tree.edit("data/1/4.jpg");
    tree.run(["update", "data"]).ends(2);
    let outcome = tree.run(["parity", "update", "data"]).ends(2);
    assert!(said(&outcome).contains("data/0/1.jpg`: it is missing"), "{outcome:?}");
    assert!(can_give(&tree, "0/1.jpg", &cat));
}

#[test]
fn a_change_of_mode_or_time_reads_no_file() {
    let tree = protected();
    let cat = tree.path("data/0/1.jpg");
    fs::set_permissions(&cat, fs::Permissions::from_mode(0o600)).unwrap();
    tree.touch("data/0/2.jpg");
    tree.run(["update", "data"]).succeeds();
    let made = summary(&tree, &["update"], 0);
    assert_eq!((&made["files"], &made["bytes_read"]), (&8.into(), &0.into()), "{made}");
    assert_eq!(sets(&tree).len(), 1);
    let made = summary(&tree, &["make"], 0);
    assert_eq!((&made["sets_made"], &made["sets_kept"]), (&0.into(), &1.into()), "{made}");
    let known = known(&tree, "0/2.jpg");
    assert!(can_give(&tree, "0/2.jpg", &known));
}

#[test]
fn an_empty_folder_is_not_let_go_of_unless_it_is_named() {
    let tree = protected();
    for name in ["0.jpg", "1.jpg", "2.jpg"] {
        fs::remove_file(tree.path("data/0").join(name)).unwrap();
    }
    let before = sets(&tree);
    for verb in [&["parity", "update", "--forget-missing"][..], &["update", "--accept-missing"]] {
        let outcome = tree.run(verb.iter().chain(&["data"])).ends(2);
        assert!(
            said(&outcome).contains("nothing is in `0`: is a volume not mounted"),
            "{outcome:?}"
        );
        assert_eq!(sets(&tree), before);
    }
    // Nor is a folder that is gone with all its files.
    fs::remove_dir(tree.path("data/0")).unwrap();
    let outcome = tree.run(["parity", "update", "--forget-missing", "data"]).ends(2);
    assert!(said(&outcome).contains("`--forget 0` ends its protection"), "{outcome:?}");
    let made = summary(&tree, &["update", "--forget", "0"], 0);
    assert_eq!((&made["files"], &made["missing"]), (&5.into(), &0.into()), "{made}");
}

#[test]
fn a_loss_that_was_accepted_while_another_file_needed_the_set_stays_accepted() {
    let tree = photographs();
    tree.run(["init", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    let before = sets(&tree);
    for name in ["0.jpg", "1.jpg"] {
        fs::remove_file(tree.path("data/0").join(name)).unwrap();
    }
    tree.run(["update", "--accept-missing", "data/0/0.jpg"]).ends(2);
    assert!(sets(&tree).contains(&before[0]), "it has a file that is missing");
    tree.run(["update", "--accept-missing", "data/0/1.jpg"]).succeeds();
    assert!(!sets(&tree).contains(&before[0]));
    assert_eq!(summary(&tree, &["verify"], 0)["sets"], 1);
}

/// Runs a script with the command as `$0`, in a tree, with a volume of its own at `data/sub`.
fn with_volume(tree: &Tree, script: &str) -> Option<Outcome> {
    steadfast_testing::program("unshare")?;
    let script = format!(
        "mount -t tmpfs none data/sub && echo beta > data/sub/b && echo gamma > data/sub/c && \
         setfattr -n user.try -v 1 data/sub/b && {{ {script}; }}"
    );
    let mut command = tree.command([""; 0]);
    let program = command.get_program().to_owned();
    command = {
        let mut outer = std::process::Command::new("unshare");
        outer.args(["--mount", "--map-root-user", "sh", "-c", &script]).arg(program);
        outer
            .current_dir(tree.path(""))
            .env("STEADFAST_IGNORE_CTIME", "1")
            .env("XDG_STATE_HOME", tree.state(""));
        outer
    };
    let outcome = Outcome::of(&mut command);
    if outcome.status == 1 && outcome.stdout.is_empty() {
        skip(Need::System("mounts with attributes"), outcome.stderr());
        return None;
    }
    Some(outcome)
}

#[test]
fn files_of_a_volume_that_is_not_mounted_stay_protected() {
    for init in ["true", "$0 init --quiet data"] {
        let tree = Tree::new().file("data/a", b"alpha").file("data/sub/under", b"beneath it");
        fs::remove_file(tree.path("data/sub/under")).unwrap();
        let script = format!(
            "$0 tag --quiet data && {init} && $0 check --quiet data && \
             $0 parity make data && umount data/sub && \
             $0 update --accept-missing data; echo \"accepted $?\"; \
             $0 parity update --forget-missing data; echo \"forgot $?\"; \
             $0 parity show data; exit 0"
        );
        let Some(outcome) = with_volume(&tree, &script) else { return };
        let outcome = outcome.succeeds();
        let text = said(&outcome);
        assert!(text.contains("accepted 2") && text.contains("forgot 2"), "{text}");
        assert!(text.contains("3 files; ") && text.contains("2 missing files"), "{text}");
        assert!(text.contains("mounted"), "{text}");
    }
}

#[test]
fn decay_that_was_taken_for_an_edit_is_undone() {
    for init in [false, true] {
        let tree = photographs();
        if init {
            tree.run(["init", "--tags-only", "data"]).succeeds();
        }
        tree.run(["check", "data"]).succeeds();
        tree.run(["parity", "make", "data"]).succeeds();
        let name = "data/0/1.jpg";
        let cat = known(&tree, "0/1.jpg");
        tree.corrupt(name);
        tree.touch(name);
        tree.run(["update", "data"]).succeeds();
        let rotten = fs::read(tree.path(name)).unwrap();
        assert!(rotten != cat.bytes);
        tree.run(["check", "data"]).succeeds();
        tree.run(["repair", "--yes", "--to-previous", "data"]).ends(2);
        tree.run(["repair", "--yes", "data"]).succeeds();
        assert!(fs::read(tree.path(name)).unwrap() == rotten, "it was not named");
        // A file without an earlier tag.
        let outcome = tree.run(["repair", "--yes", "--to-previous", "data/0/2.jpg"]).ends(2);
        assert!(said(&outcome).contains("no tag before its present one"), "{outcome:?}");
        tree.run(["repair", "--dry-run", "--to-previous", name]).ends(3);
        let outcome = tree.run(["repair", "--yes", "--to-previous", name]).succeeds();
        assert!(said(&outcome).contains("Repaired 1 file"), "{outcome:?}");
        assert!(fs::read(tree.path(name)).unwrap() == cat.bytes);
        assert!(known(&tree, "0/1.jpg").tag == cat.tag);
        tree.run(["check", "data"]).succeeds();
        tree.run(["update", "data"]).succeeds();
        tree.run(["parity", "update", "data"]).succeeds();
        tree.corrupt(name);
        tree.run(["repair", "--yes", name]).succeeds();
        assert!(fs::read(tree.path(name)).unwrap() == cat.bytes);
    }
}

#[test]
fn a_file_that_was_renamed_and_edited_is_not_missing_and_can_be_undone() {
    let tree = photographs();
    tree.run(["init", "data"]).succeeds();
    tree.run(["check", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    let cat = known(&tree, "0/1.jpg");
    fs::rename(tree.path("data/0/1.jpg"), tree.path("data/0/cat.jpg")).unwrap();
    fs::write(tree.path("data/0/cat.jpg"), [&*cat.bytes, b"and more"].concat()).unwrap();
    tree.run(["update", "data"]).succeeds();
    assert_eq!(earlier(&tree).len(), 1);
    tree.run(["parity", "update", "data"]).succeeds();
    tree.run(["repair", "--yes", "--to-previous", "data/0/cat.jpg"]).succeeds();
    assert!(fs::read(tree.path("data/0/cat.jpg")).unwrap() == cat.bytes);
}

/// The earlier sets.
fn earlier(tree: &Tree) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(folders) = fs::read_dir(tree.path("data/.steadfast/parity/earlier")) else {
        return found;
    };
    for folder in folders {
        let files = fs::read_dir(folder.unwrap().path()).unwrap();
        found.extend(files.map(|entry| entry.unwrap().path()));
    }
    found
}

#[test]
fn the_parity_of_edited_files_is_kept_for_a_time() {
    let tree = protected();
    let first = sets(&tree)[0].file_name().unwrap().to_owned();
    tree.edit("data/0/1.jpg");
    tree.run(["update", "data"]).succeeds();
    let kept = earlier(&tree);
    assert_eq!(kept.iter().map(|set| set.file_name().unwrap()).collect::<Vec<_>>(), [&*first]);
    let shown = summary(&tree, &["show"], 0);
    let length = fs::metadata(&kept[0]).unwrap().len();
    assert_eq!((&shown["earlier_sets"], &shown["earlier_bytes"]), (&1.into(), &length.into()));
    // Also what is kept for a time is verified.
    assert_eq!(summary(&tree, &["verify"], 0)["damaged"], 0);
    let whole = fs::read(&kept[0]).unwrap();
    let mut damaged = whole.clone();
    let last = damaged.len() - 20;
    damaged[last] ^= 1;
    fs::write(&kept[0], damaged).unwrap();
    assert_eq!(summary(&tree, &["verify"], 3)["damaged"], 1);
    fs::write(&kept[0], whole).unwrap();
    // At most one generation of a file.
    fs::write(tree.path("data/0/1.jpg"), "edited again").unwrap();
    tree.run(["update", "data"]).succeeds();
    assert_eq!(earlier(&tree).len(), 1);
    assert_ne!(earlier(&tree)[0].file_name().unwrap(), first);
    // Of two files, one each.
    fs::write(tree.path("data/0/2.jpg"), "edited too").unwrap();
    tree.run(["update", "data"]).succeeds();
    assert_eq!(earlier(&tree).len(), 2);
    // A time that is over, and one in the future, which begins now.
    let set_days_ago = |set: &PathBuf, days: i64| {
        let now = std::time::SystemTime::now();
        let day = std::time::Duration::from_secs(86_400 * days.unsigned_abs());
        let then = if days < 0 { now + day } else { now - day };
        fs::File::options().write(true).open(set).unwrap().set_modified(then).unwrap();
    };
    let kept = earlier(&tree);
    set_days_ago(&kept[0], 31);
    set_days_ago(&kept[1], -4000);
    // Only a run that succeeds removes it.
    tree.corrupt("data/1/4.jpg");
    tree.edit("data/1/5.jpg");
    tree.run(["update", "data"]).ends(3);
    assert!(kept.iter().all(|set| set.exists()));
    tree.run(["repair", "--yes", "data"]).succeeds();
    tree.run(["parity", "update", "data"]).succeeds();
    assert!(!kept[0].exists() && kept[1].exists());
    // None are kept if that is asked for, also by later runs.
    tree.run(["parity", "update", "--keep-earlier", "0d", "data"]).succeeds();
    assert_eq!(earlier(&tree).len(), 0);
    tree.edit("data/0/0.jpg");
    tree.run(["update", "data"]).succeeds();
    assert_eq!(earlier(&tree).len(), 0);
    tree.run(["parity", "drop", "--yes", "data"]).succeeds();
    assert!(!tree.path("data/.steadfast/parity").exists());
}
