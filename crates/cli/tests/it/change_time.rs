//! Verdicts by the change time: an edit that keeps its date is suspect, what was changed beneath
//! the file system is corrupt, and neither is undone or accepted unasked.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use steadfast_testing::{Need, skip};
use tempfile::TempDir;

use crate::tree::{Outcome, Tree};

/// Runs the command with the evidence of change times.
fn run<'a>(tree: &Tree, arguments: impl IntoIterator<Item = &'a str>) -> Outcome {
    Outcome::of(tree.command(arguments).env_remove("STEADFAST_IGNORE_CTIME"))
}

/// Changes a file as a program does that puts the modification time back.
fn edit_and_keep_date(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

/// A tree with a catalogue, on a file system whose change times prove something.
fn catalogued() -> Option<Tree> {
    let tree = Tree::small();
    let times = steadfast_sys::file::File::open(&tree.path(".")).unwrap().change_times();
    if times == steadfast_sys::file::ChangeTimes::Unknown {
        skip(Need::System("change times"), "those of this file system prove nothing");
        return None;
    }
    run(&tree, ["init", "--tags-only", "."]).succeeds();
    run(&tree, ["tag", "."]).succeeds();
    Some(tree)
}

#[test]
fn an_edit_that_kept_its_date_is_suspect_until_it_is_accepted() {
    let Some(tree) = catalogued() else { return };
    edit_and_keep_date(&tree.path("a"), |bytes| bytes[0] ^= 1);
    for _ in 0..2 {
        let text = run(&tree, ["check", "."]).ends(3);
        assert!(text.stdout().contains("suspect"), "{}", text.stdout());
        assert!(text.stdout().contains("by something that kept its date. Was it you?"));
        assert!(text.stdout().contains("update --accept-suspect"), "{}", text.stdout());
        let json = run(&tree, ["check", "--json", "."]).ends(3);
        assert_eq!(json.verdict("a").as_deref(), Some("suspect"));
        let event = json.objects().into_iter().find(|it| it["path"] == "a").unwrap();
        assert_eq!(event["reason"], "date kept");
        assert!(event["changed_ns"].is_number());
    }
    run(&tree, ["update", "."]).ends(3);
    run(&tree, ["update", "."]).ends(3);
    let csv = run(&tree, ["check", "--csv", "."]).ends(3);
    assert!(csv.stdout().lines().any(|line| line.starts_with("a,") && line.contains("date kept")));
    run(&tree, ["status", "--audit", "."]).ends(3);
    let history = run(&tree, ["show", "--history", "a"]).succeeds();
    assert!(history.stdout().contains("suspect"), "{}", history.stdout());
    run(&tree, ["update", "--accept-suspect", "."]).succeeds();
    run(&tree, ["check", "."]).succeeds();
}

/// Runs the command while nothing can be read of one file.
fn run_unread(tree: &Tree, file: &str, words: &[&str]) -> Option<Outcome> {
    let mut traced = Command::new(steadfast_testing::program("strace")?);
    traced.args(["-f", "-qq", "-o", "/dev/null", "-P"]).arg(tree.path(file));
    traced.args(["-e", "trace=pread64", "-e", "inject=pread64:error=EIO"]);
    let program = tree.command(["check"]).get_program().to_owned();
    traced.arg(program).args(words).current_dir(tree.path(""));
    Some(Outcome::of(traced.env("XDG_STATE_HOME", tree.state(""))))
}

#[test]
fn a_file_that_cannot_be_read_is_mended_only_if_nothing_wrote_to_it() {
    for is_edited in [false, true] {
        let Some(tree) = catalogued() else { return };
        fs::create_dir(tree.path("copy")).unwrap();
        fs::copy(tree.path("a"), tree.path("copy/a")).unwrap();
        let run_unread = |words: &[&str]| run_unread(&tree, "a", words);
        if is_edited {
            edit_and_keep_date(&tree.path("a"), |bytes| bytes[0] ^= 1);
        }
        let before = fs::read(tree.path("a")).unwrap();
        let Some(said) = run_unread(&["check", "--json", "."]) else { return };
        assert_eq!(said.verdict("a").as_deref(), Some("unreadable"), "{said:?}");
        let event = said.objects().into_iter().find(|it| it["path"] == "a").unwrap();
        assert_eq!(event["reason"], if is_edited { "date kept" } else { "nothing wrote it" });
        let unasked = run_unread(&["repair", "--yes", "--from", "copy", "."]).unwrap();
        assert_eq!(unasked.status, if is_edited { 2 } else { 0 }, "{unasked:?}");
        assert!(unasked.stdout().contains('a'), "{unasked:?}");
        assert_eq!(fs::read(tree.path("a")).unwrap(), before);
        let asked = ["repair", "--yes", "--suspect", "--from", "copy", "."];
        run_unread(&asked).unwrap().succeeds();
        let copy = fs::read(tree.path("copy/a")).unwrap();
        assert_eq!(fs::read(tree.path("a")).unwrap(), copy, "{is_edited}");
    }
}

#[test]
fn another_length_with_its_date_kept_is_an_edit_unless_nothing_is_left() {
    let Some(tree) = catalogued() else { return };
    edit_and_keep_date(&tree.path("a"), |bytes| bytes.push(b'!'));
    edit_and_keep_date(&tree.path("b"), Vec::clear);
    let json = run(&tree, ["check", "--json", "."]).ends(3);
    assert_eq!(json.verdict("a").as_deref(), Some("modified"));
    assert_eq!(json.verdict("b").as_deref(), Some("suspect"));
    let text = run(&tree, ["check", "."]).ends(3);
    assert!(text.stdout().contains("its date was kept"), "{}", text.stdout());
    assert!(text.stdout().contains("it was emptied"), "{}", text.stdout());
    run(&tree, ["check", "a"]).ends(1);
}

#[test]
fn an_edit_stays_one_however_often_it_is_checked() {
    let Some(tree) = catalogued() else { return };
    let modified = fs::metadata(tree.path("a")).unwrap().modified().unwrap();
    fs::write(tree.path("a"), "alpha, and more").unwrap();
    // As programs do that keep dates to the second.
    let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let rounded = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(since.as_secs());
    File::options().write(true).open(tree.path("a")).unwrap().set_modified(rounded).unwrap();
    for _ in 0..3 {
        let json = run(&tree, ["check", "--json", "."]).ends(1);
        assert_eq!(json.verdict("a").as_deref(), Some("modified"));
    }
    run(&tree, ["repair", "--yes", "."]).ends(1);
}

#[test]
fn the_date_that_a_check_proved_is_the_one_that_counts() {
    let Some(tree) = catalogued() else { return };
    let set = |seconds| {
        let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        File::options().write(true).open(tree.path("a")).unwrap().set_modified(at).unwrap();
    };
    set(1_000_000_000);
    assert_eq!(run(&tree, ["check", "--json", "."]).verdict("a").as_deref(), Some("touched"));
    fs::write(tree.path("a"), "alpho").unwrap();
    set(1_000_000_000);
    for _ in 0..2 {
        let json = run(&tree, ["check", "--json", "."]).ends(3);
        assert_eq!(json.verdict("a").as_deref(), Some("suspect"));
    }
    fs::rename(tree.path("a"), tree.path("d")).unwrap();
    for _ in 0..2 {
        let json = run(&tree, ["check", "--json", "."]).ends(3);
        assert_eq!(json.verdict("d").as_deref(), Some("suspect"));
    }
    fs::rename(tree.path("d"), tree.path("a")).unwrap();
    run(&tree, ["check", "."]).ends(3);
    set(1_000_000_005);
    // It meets the file and does not read it.
    run(&tree, ["tag", "."]).succeeds();
    let json = run(&tree, ["check", "--json", "."]).ends(1);
    assert_eq!(json.verdict("a").as_deref(), Some("modified"));
}

#[test]
fn what_was_cut_off_and_is_otherwise_the_same_is_no_edit() {
    let pages = |length: usize| (0..length).map(|at| (at / 7) as u8).collect::<Vec<u8>>();
    let tree = Tree::new().file("cut", &pages(20_000)).file("other", &pages(20_000));
    run(&tree, ["init", "--tags-only", "."]).succeeds();
    run(&tree, ["tag", "--pages", "."]).succeeds();
    for name in ["cut", "other"] {
        edit_and_keep_date(&tree.path(name), |bytes| bytes.truncate(10_000));
    }
    edit_and_keep_date(&tree.path("other"), |bytes| bytes[5] ^= 1);
    let json = run(&tree, ["check", "--json", "."]).ends(3);
    assert_eq!(json.verdict("cut").as_deref(), Some("suspect"));
    assert_eq!(json.verdict("other").as_deref(), Some("modified"));
    let updated = run(&tree, ["update", "--json", "."]).ends(3);
    assert_eq!(updated.verdict("cut").as_deref(), Some("suspect"));
}

#[test]
fn nothing_that_may_be_an_edit_is_undone_unasked() {
    let Some(tree) = catalogued() else { return };
    let copy = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for name in ["a", "b"] {
        fs::copy(tree.path(name), copy.path().join(name)).unwrap();
        fs::copy(tree.path(name), tree.path(format!("{name}.twin"))).unwrap();
    }
    run(&tree, ["update", "."]).succeeds();
    edit_and_keep_date(&tree.path("a"), |bytes| bytes[0] ^= 1);
    edit_and_keep_date(&tree.path("b"), |bytes| bytes.push(b'!'));
    let edited = fs::read(tree.path("a")).unwrap();
    let from = copy.path().to_str().unwrap();
    let left = run(&tree, ["repair", "--yes", "--from", from, "."]).ends(3);
    assert!(left.stdout().contains("Suspect, so left alone: 1 file. "), "{}", left.stdout());
    assert_eq!(fs::read(tree.path("a")).unwrap(), edited);
    assert_eq!(fs::read(tree.path("b")).unwrap(), b"beta!");
    // A duplicate in the tree is not proposed.
    run(&tree, ["repair", "--dry-run", "--suspect", "."]).ends(3);
    let plan = run(&tree, ["repair", "--dry-run", "--suspect", "."]);
    assert!(!plan.stdout().contains("twin"), "{}", plan.stdout());
    let plan = run(&tree, ["repair", "--dry-run", "--suspect", "--from", from, "."]);
    assert!(plan.stdout().contains("can be repaired from"), "{}", plan.stdout());
    assert!(plan.stdout().contains("(changed on "), "{}", plan.stdout());
    assert!(plan.stdout().contains("the copy is of "), "{}", plan.stdout());
    let one = run(&tree, ["repair", "--yes", "--from", from, "a"]).succeeds();
    assert!(one.stdout().contains("repaired from"), "{}", one.stdout());
    assert_eq!(fs::read(tree.path("a")).unwrap(), b"alpha");
    // The repair renewed the record.
    edit_and_keep_date(&tree.path("a"), |bytes| bytes[0] ^= 1);
    run(&tree, ["repair", "--yes", "--suspect", "--from", from, "."]).ends(1);
    assert_eq!(fs::read(tree.path("a")).unwrap(), b"alpha");
}

/// A file system on a loop device, mounted within a folder.
pub(crate) struct Loop {
    folder: TempDir,
    format: &'static [&'static str],
    options: &'static str,
}

impl Loop {
    pub(crate) fn make(
        format: &'static [&'static str],
        options: &'static str,
        mib: u64,
    ) -> Option<Loop> {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let made = Loop { folder, format, options };
        File::create(made.image()).unwrap().set_len(mib << 20).unwrap();
        fs::create_dir(made.mounted()).unwrap();
        let mut mkfs = Command::new(format[0]);
        let formatted = mkfs.args(&format[1..]).arg(made.image()).output();
        if !formatted.is_ok_and(|output| output.status.success()) || !made.mount() {
            skip(Need::Root, format[0]);
            return None;
        }
        Some(made)
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    pub(crate) fn mounted(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    fn mount(&self) -> bool {
        let options = format!("loop,{}", self.options);
        let mut mount = Command::new("mount");
        let mount = mount.args(["-o", &options]).arg(self.image()).arg(self.mounted());
        mount.output().is_ok_and(|output| output.status.success())
    }

    fn unmount(&self) {
        let unmounted = Command::new("umount").arg(self.mounted()).status();
        assert!(unmounted.is_ok_and(|status| status.success()));
    }

    /// Changes bytes beneath the file system.
    fn damage(&self, marker: &[u8]) {
        self.unmount();
        let image = File::options().read(true).write(true).open(self.image()).unwrap();
        let bytes = fs::read(self.image()).unwrap();
        let step = 512;
        let at = (0..bytes.len()).step_by(step).filter(|at| bytes[*at..].starts_with(marker));
        let places: Vec<usize> = at.collect();
        assert!(!places.is_empty(), "{} keeps the file elsewhere", self.format[0]);
        for at in places {
            image.write_all_at(&[bytes[at + 100] ^ 1], at as u64 + 100).unwrap();
        }
        assert!(self.mount());
    }

    pub(crate) fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Outcome {
        let mut command = Command::new(crate::tree::PROGRAM);
        command.args(arguments).current_dir(self.mounted());
        command.env("HOME", self.folder.path()).env("XDG_CONFIG_HOME", self.folder.path());
        Outcome::of(command.env("XDG_STATE_HOME", self.folder.path()))
    }

    fn verdict_of(&self, name: &str) -> (Option<String>, Option<String>) {
        let json = self.run(["check", "--json", "."]);
        let event = json.objects().into_iter().find(|it| it["path"] == name).unwrap();
        (json.verdict(name), event["reason"].as_str().map(str::to_owned))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l"]).arg(self.mounted()).output();
    }
}

/// Contents that no file system keeps in an inode, with a marker of their own.
fn contents(marker: &str) -> Vec<u8> {
    [marker.as_bytes(), &[7; 20_000]].concat()
}

/// Damages files beneath a file system that keeps change times, and expects proof of it.
fn decay_is_proved(format: &'static [&'static str], options: &'static str, mib: u64) {
    let Some(image) = Loop::make(format, options, mib) else { return };
    for name in ["whole", "mode", "renewed", "edited"] {
        fs::write(image.mounted().join(name), contents(&format!("of {name} here"))).unwrap();
    }
    image.run(["init", "--tags-only", "."]).succeeds();
    image.run(["tag", "."]).succeeds();
    let mode = |name: &str, mode| {
        let path = image.mounted().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("renewed", 0o640);
    image.run(["check", "."]).succeeds();
    mode("mode", 0o640);
    edit_and_keep_date(&image.mounted().join("edited"), |bytes| bytes[9_000] ^= 1);
    for name in ["whole", "mode", "renewed", "edited"] {
        image.damage(format!("of {name} here").as_bytes());
    }
    let wanted = |verdict: &str, reason: &str| (Some(verdict.to_owned()), Some(reason.to_owned()));
    for _ in 0..2 {
        assert_eq!(image.verdict_of("whole"), wanted("corrupt", "nothing wrote it"));
        assert_eq!(image.verdict_of("renewed"), wanted("corrupt", "nothing wrote it"));
        assert_eq!(image.verdict_of("mode"), wanted("suspect", "date kept"));
        assert_eq!(image.verdict_of("edited"), wanted("suspect", "date kept"));
    }
    image.run(["update", "--accept-suspect", "."]).ends(3);
    assert_eq!(image.verdict_of("whole"), wanted("corrupt", "nothing wrote it"));
    assert_eq!(image.verdict_of("mode").0.as_deref(), Some("intact"));
}

const EXT4: &[&str] = &["mkfs.ext4", "-q", "-F", "-I", "256", "-b", "4096"];

#[test]
fn decay_on_ext4_is_proved() {
    decay_is_proved(EXT4, "rw", 64);
}

/// The file takes more than half of the volume, so there is no room for a second one.
#[test]
fn a_repair_where_blocks_can_be_shared_needs_room_only_for_what_differs() {
    let Some(image) = Loop::make(&["mkfs.xfs", "-q", "-f"], "rw", 320) else { return };
    let film = image.mounted().join("data/film");
    let mut bytes = vec![7; 150 << 20];
    bytes[30 << 20..][..14].copy_from_slice(b"it decays here");
    let copy = image.folder.path().join("copy");
    fs::create_dir(image.mounted().join("data")).unwrap();
    fs::create_dir(&copy).unwrap();
    fs::write(&film, &bytes).unwrap();
    fs::write(copy.join("film"), &bytes).unwrap();
    image.run(["init", "data"]).succeeds();
    // Only leaves say what differs.
    image.run(["tag", "--pages", "data"]).succeeds();
    image.damage(b"it decays here");
    let copy = copy.to_str().unwrap();
    image.run(["repair", "--yes", "--from", copy, "data"]).succeeds();
    assert!(fs::read(&film).unwrap() == bytes);
    let kept = fs::read(image.mounted().join("data/.steadfast/damaged/1/film")).unwrap();
    assert!(kept.len() == bytes.len() && kept != bytes);
    image.run(["check", "data"]).succeeds();
}

#[test]
fn decay_on_xfs_is_proved() {
    decay_is_proved(&["mkfs.xfs", "-q", "-f"], "rw", 320);
}

#[test]
fn decay_on_btrfs_without_sums_is_proved() {
    decay_is_proved(&["mkfs.btrfs", "-q", "-f"], "nodatasum", 256);
}

/// An overlay, of whose change times nothing is known.
struct Overlay {
    folder: TempDir,
}

impl Overlay {
    fn make() -> Option<Overlay> {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for name in ["lower", "upper", "work", "mounted"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut mount = Command::new("mount");
        mount.args(["-t", "overlay", "-o", "lowerdir=lower,upperdir=upper,workdir=work"]);
        let mount = mount.args(["overlay", "mounted"]).current_dir(folder.path()).output();
        if !mount.is_ok_and(|output| output.status.success()) {
            skip(Need::Root, "no overlay can be mounted");
            return None;
        }
        Some(Overlay { folder })
    }

    fn mounted(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Outcome {
        let mut command = Command::new(crate::tree::PROGRAM);
        command.args(arguments).current_dir(self.mounted());
        Outcome::of(command.env("XDG_STATE_HOME", self.folder.path()))
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l"]).arg(self.mounted()).output();
    }
}

#[test]
fn where_change_times_prove_nothing_the_modification_time_decides_and_the_line_says_so() {
    let Some(overlay) = Overlay::make() else { return };
    for name in ["same", "later"] {
        fs::write(overlay.mounted().join(name), contents(name)).unwrap();
    }
    overlay.run(["init", "--tags-only", "."]).succeeds();
    overlay.run(["tag", "."]).succeeds();
    edit_and_keep_date(&overlay.mounted().join("same"), |bytes| bytes[9_000] ^= 1);
    let later = overlay.mounted().join("later");
    edit_and_keep_date(&later, |bytes| bytes[9_000] ^= 1);
    File::options().write(true).open(&later).unwrap().set_modified(SystemTime::now()).unwrap();
    let json = overlay.run(["check", "--json", "."]).ends(3);
    for (name, verdict) in [("same", "corrupt"), ("later", "modified")] {
        let event = json.objects().into_iter().find(|it| it["path"] == name).unwrap();
        assert_eq!(event["verdict"], verdict);
        assert_eq!(event["reason"], "by the modification time alone");
    }
    let text = overlay.run(["check", "."]).ends(3);
    assert!(text.stdout().contains("by the modification time alone"), "{}", text.stdout());
}

#[test]
fn decay_of_the_times_is_no_edit() {
    let Some(image) = Loop::make(EXT4, "rw", 64) else { return };
    fs::write(image.mounted().join("file"), contents("of file here")).unwrap();
    image.run(["init", "--tags-only", "."]).succeeds();
    image.run(["tag", "."]).succeeds();
    image.damage(b"of file here");
    image.unmount();
    let mut set = Command::new("debugfs");
    let set = set.args(["-w", "-R", "set_inode_field /file mtime 20010203040506"]);
    assert!(set.arg(image.image()).output().unwrap().status.success());
    assert!(image.mount());
    let reason = "the times decayed as well".to_owned();
    assert_eq!(image.verdict_of("file"), (Some("corrupt".to_owned()), Some(reason)));
}

#[test]
fn a_list_without_times_tells_no_cause_unless_the_tag_does() {
    let Some(tree) = catalogued() else { return };
    let list = run(&tree, ["hash", "a", "b", "sub/c"]).succeeds();
    fs::write(tree.path("LIST"), &list.stdout).unwrap();
    let check = ["check", "--json", "--manifest", "LIST"];
    let verdict = |outcome: &Outcome, name: &str| {
        outcome.verdict(name).or(outcome.verdict(&format!("./{name}")))
    };
    tree.edit("a");
    edit_and_keep_date(&tree.path("b"), |bytes| bytes[0] ^= 1);
    let said = run(&tree, check).ends(3);
    assert_eq!(verdict(&said, "a").as_deref(), Some("differs"));
    assert_eq!(verdict(&said, "b").as_deref(), Some("suspect"));
    assert_eq!(run(&tree, ["check", "--json", "."]).verdict("b").as_deref(), Some("suspect"));
    run(&tree, ["untag", "--no-catalogue", "."]).succeeds();
    let said = run(&tree, [&check[..], &["--no-catalogue"]].concat()).ends(1);
    assert_eq!(verdict(&said, "b").as_deref(), Some("differs"));
    let text = run(&tree, ["check", "--no-catalogue", "--manifest", "LIST"]).ends(1);
    assert!(text.stdout().contains("cause not known"), "{}", text.stdout());
    assert!(text.stdout().contains("nothing says that the present contents"), "{}", text.stdout());
}

#[test]
fn only_suspect_files_are_accepted_if_asked_so() {
    let Some(tree) = catalogued() else { return };
    edit_and_keep_date(&tree.path("a"), |bytes| bytes[0] ^= 1);
    edit_and_keep_date(&tree.path("b"), |bytes| bytes.push(b'!'));
    fs::write(tree.path("new"), "new").unwrap();
    let text = run(&tree, ["check", "."]).ends(3);
    assert!(text.stdout().contains("1 file is suspect. If that was you: "));
    run(&tree, ["update", "--only-suspect", "."]).ends(1);
    let json = run(&tree, ["check", "--json", "--verbose", "."]).ends(1);
    let verdicts = ["a", "b", "new"].map(|name| json.verdict(name));
    let verdicts = verdicts.map(Option::unwrap_or_default);
    assert_eq!(verdicts, ["intact", "modified", "untagged"]);
}

#[test]
fn a_tag_that_went_with_a_save_is_put_back_only_where_it_fits() {
    let Some(tree) = catalogued() else { return };
    let save = |name: &str, contents: &str| {
        fs::write(tree.path("draft"), contents).unwrap();
        fs::rename(tree.path("draft"), tree.path(name)).unwrap();
    };
    let old = fs::read_to_string(tree.path("b")).unwrap();
    save("a", "saved anew");
    let lost = run(&tree, ["check", "."]).ends(1);
    assert!(!lost.stdout().contains("--restore-tags"), "{}", lost.stdout());
    save("b", &old);
    let lost = run(&tree, ["check", "."]).ends(1);
    let lines = lost.stdout().lines().filter(|line| line.contains("can put it back"));
    let lines: Vec<&str> = lines.collect();
    assert!(lines.len() == 1 && lines[0].contains("b "), "{lines:?}");
}

#[test]
fn files_without_tags_are_counted_where_no_catalogue_knows_them() {
    let tree = Tree::small();
    run(&tree, ["tag", "."]).succeeds();
    assert_eq!(run(&tree, ["check", "."]).succeeds().stderr(), "");
    fs::write(tree.path("draft"), "saved anew").unwrap();
    fs::rename(tree.path("draft"), tree.path("a")).unwrap();
    let checked = run(&tree, ["check", "."]).succeeds();
    assert!(checked.stderr().contains("1 file has no tag."), "{}", checked.stderr());
    assert!(checked.stderr().contains("steadfast init"), "{}", checked.stderr());
    let json = run(&tree, ["check", "--json", "."]).succeeds();
    assert!(json.stdout().contains("1 file has no tag."), "{}", json.stdout());
}

#[test]
fn what_a_list_does_not_name_is_told_if_asked() {
    let tree = Tree::small();
    let list = run(&tree, ["hash", "."]).succeeds();
    fs::write(tree.path("SUMS"), list.stdout()).unwrap();
    run(&tree, ["check", "--manifest", "SUMS", "--new"]).succeeds();
    fs::write(tree.path("sub/more"), "more").unwrap();
    run(&tree, ["check", "--manifest", "SUMS"]).succeeds();
    let told = run(&tree, ["check", "--manifest", "SUMS", "--new"]).ends(1);
    assert!(told.stdout().contains("extra       sub/more  (not in the list)"), "{}", told.stdout());
    let elsewhere = tree.path(".");
    let told = run(&tree, ["check", "--manifest", "SUMS", "--new", elsewhere.to_str().unwrap()]);
    assert!(told.ends(1).stdout().contains("sub/more  (not in the list)"));
}

#[test]
fn a_new_name_of_a_file_that_lost_its_tag_does_not_hide_its_edit() {
    let Some(tree) = catalogued() else { return };
    fs::write(tree.path("draft"), "saved anew").unwrap();
    fs::rename(tree.path("draft"), tree.path("b")).unwrap();
    run(&tree, ["check", "."]).ends(1);
    fs::hard_link(tree.path("b"), tree.path("a.new")).unwrap();
    // The new name is read first.
    let json = run(&tree, ["check", "--json", "--verbose", "a.new", "b"]).ends(1);
    assert_eq!(json.verdict("b").as_deref(), Some("modified"));
    let json = run(&tree, ["check", "--json", "--verbose", "."]).ends(1);
    assert_eq!(json.verdict("b").as_deref(), Some("modified"));
}

#[test]
fn a_schedule_mends_proved_decay_from_a_registered_copy_and_nothing_else() {
    let Some(image) = Loop::make(EXT4, "data=ordered", 32) else { return };
    let copy = image.folder.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for name in ["decayed", "edited", "gone"] {
        let bytes = contents(&format!("of {name} here"));
        fs::write(image.mounted().join(name), &bytes).unwrap();
        fs::write(copy.join(name), &bytes).unwrap();
    }
    image.run(["init", "--tags-only", "."]).succeeds();
    image.run(["tag", "."]).succeeds();
    let (log, place) = (image.folder.path().join("log"), copy.to_str().unwrap());
    let script = format!("cat >> '{0}'; echo >> '{0}'", log.display());
    image.run(["alert", "add", "--command", "sh", "-c", &script]).succeeds();
    let schedule = ["schedule", "add", ".", "--timer", "manual", "--name", "disk", "--cover", "1d"];
    image.run(schedule.into_iter().chain(["--repair"])).succeeds();
    image.run(["repair", "--remember-copy", ".", "."]).ends(2);
    let listed = image.run(["repair", "--remember-copy", place, "."]).succeeds();
    assert!(listed.stdout().contains(place), "{}", listed.stdout());
    edit_and_keep_date(&image.mounted().join("edited"), |bytes| bytes[9_000] ^= 1);
    fs::remove_file(image.mounted().join("gone")).unwrap();
    image.damage(b"of decayed here");
    // A copy that is away is not used, and what it would mend stays open.
    fs::rename(&copy, image.folder.path().join("away")).unwrap();
    let night = ["schedule", "run", "--now", "disk"];
    image.run(night).ends(3);
    fs::rename(image.folder.path().join("away"), &copy).unwrap();
    image.run(night).ends(3);
    let read = |name: &str| fs::read(image.mounted().join(name)).ok();
    assert_eq!(read("decayed"), Some(contents("of decayed here")));
    assert_ne!(read("edited"), Some(contents("of edited here")), "it waits for a person");
    assert_eq!(read("gone"), None, "it waits for a person");
    let kept = image.run(["repair", "--discard", "3", "."]);
    assert!(kept.stdout().contains("decayed") || kept.status == 2, "{}", kept.stdout());
    let told = fs::read_to_string(&log).unwrap();
    let told: Vec<serde_json::Value> =
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!((&told[0]["priority"], &told[0]["new"]), (&"high".into(), &3.into()));
    assert_eq!((&told[1]["priority"], &told[1]["mended"]), (&"low".into(), &1.into()));
    assert!(told[1]["subject"].as_str().unwrap().ends_with("decayed was damaged and is mended"));
    let status = image.run(["status", "--json", "."]);
    let open = status.objects()[0]["open"].clone();
    assert_eq!(open, serde_json::json!({ "missing": 1, "suspect": 1 }), "{}", status.stdout());
    image.run(["repair", "--forget-copy", place, "."]).succeeds();
    assert_eq!(image.run(["repair", "--list-copies", "."]).succeeds().stdout(), "");
}

#[test]
fn what_has_the_place_and_the_date_of_a_recorded_file_is_not_called_known() {
    for replaces in [false, true] {
        let Some(tree) = catalogued() else { return };
        let card = Tree::new().file("a", b"alpha");
        let card_at = card.path("a").display().to_string();
        let known = ["known", &card_at, "--in", "."];
        run(&tree, known).succeeds();
        fs::set_permissions(tree.path("a"), fs::Permissions::from_mode(0o600)).unwrap();
        let said = run(&tree, known).ends(1);
        let text = "1 recorded place has changed since, or is gone: it counts for nothing until a \
                    check has read it";
        assert!(said.stderr().contains(text), "{said:?}");
        run(&tree, ["check", "."]).succeeds();
        run(&tree, known).succeeds();
        if replaces {
            fs::rename(tree.path("a"), tree.path("b")).unwrap();
            fs::copy(tree.path("b"), tree.path("a")).unwrap();
            let date = fs::metadata(tree.path("b")).unwrap().modified().unwrap();
            File::options().write(true).open(tree.path("a")).unwrap().set_modified(date).unwrap();
            fs::remove_file(tree.path("b")).unwrap();
        }
        edit_and_keep_date(&tree.path("a"), |bytes| bytes[0] ^= 1);
        run(&tree, known).ends(1);
        let to = tree.path("copied").display().to_string();
        run(&tree, ["copy", "--unknown", "--in", ".", &card_at, "--to", &to]);
        assert_eq!(fs::read(tree.path("copied/a")).unwrap(), b"alpha");
    }
}

#[test]
fn a_suspect_file_counts_once_on_every_surface_after_it_was_renamed() {
    let Some(tree) = catalogued() else { return };
    edit_and_keep_date(&tree.path("a"), |bytes| bytes[0] ^= 1);
    run(&tree, ["check", "."]).ends(3);
    fs::rename(tree.path("a"), tree.path("renamed")).unwrap();
    run(&tree, ["check", "."]).ends(3);
    let said = run(&tree, ["status"]).ends(3);
    assert!(said.stdout().contains("all of it was proved within a day"), "{said:?}");
    assert!(said.stdout().contains("open: 1 suspect"), "{said:?}");
    let json = run(&tree, ["status", "--json"]).ends(3).objects().remove(0);
    assert_eq!((&json["open"]["suspect"], &json["never"]), (&1.into(), &0.into()), "{json}");
    let audit = run(&tree, ["status", "--audit", "."]).ends(3);
    assert!(audit.stdout().contains("1 failure is not settled."), "{audit:?}");
    let audit = run(&tree, ["status", "--audit", "--json", "."]).ends(3).objects();
    let open: Vec<_> = audit.iter().filter(|it| it["settled"] == false).collect();
    let counted: Vec<_> = open.iter().filter(|it| it["goes_on"].is_null()).collect();
    assert_eq!((open.len(), counted.len()), (2, 1), "{audit:?}");
    assert_eq!(counted[0]["path"], "renamed");
}
