//! `copy`, `move` and `safe` from outside.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
#[cfg(target_os = "linux")]
use std::process::Command;

use serde_json::Value;
#[cfg(target_os = "linux")]
use steadfast_testing::{Need, skip};

use crate::tree::Tree;

/// `card` with three files, one of them in a folder.
fn card() -> Tree {
    Tree::new().file("card/a", b"alpha").file("card/sub/b", b"beta").file("card/empty", b"")
}

/// Copies with one copy asked for, and returns the answer as JSON.
fn copy(tree: &Tree, more: &[&str], status: i32) -> Vec<Value> {
    let words = ["copy", "--json", "--copies", "1"].iter().chain(more);
    tree.run(words).ends(status).objects()
}

fn summary(objects: &[Value]) -> &Value {
    &objects.last().unwrap()["summary"]
}

fn because(objects: &[Value]) -> Vec<(String, u64)> {
    let lacks = summary(objects)["because"].as_array().unwrap().iter();
    let lack = |it: &Value| (it["lack"].as_str().unwrap().into(), it["files"].as_u64().unwrap());
    lacks.map(lack).collect()
}

fn of<'a>(objects: &'a [Value], path: &str) -> &'a Value {
    objects.iter().find(|object| object["path"] == path).expect(path)
}

/// Names in a directory, drafts too.
fn names(tree: &Tree, path: &str) -> Vec<String> {
    let names = fs::read_dir(tree.path(path)).unwrap();
    let mut names: Vec<String> =
        names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Whether the answer is yes where the file system lets a reading pass by the cache.
fn expects_yes(tree: &Tree, objects: &[Value]) {
    let proof = &of(objects, "card/a")["copies"][0]["proof"];
    let lacks = because(objects);
    match proof.as_str() {
        Some("medium") => assert!(lacks.is_empty() && tree.path("card").exists(), "{lacks:?}"),
        Some(_) => assert!(lacks.iter().all(|(lack, _)| lack.starts_with("from_")), "{lacks:?}"),
        None => panic!("{objects:?}"),
    }
}

#[test]
fn a_copy_is_whole_and_two_destinations_on_one_disk_are_one_place() {
    let tree = card();
    fs::set_permissions(tree.path("card/a"), fs::Permissions::from_mode(0o640)).unwrap();
    let said = tree.run(["copy", "--json", "card", "--to", "one", "--to", "two"]);
    let objects = said.objects();
    for place in ["one/card", "two/card"] {
        assert_eq!(names(&tree, place), ["a", "empty", "sub"], "{said:?}");
        assert_eq!(fs::read(tree.path(place).join("sub/b")).unwrap(), b"beta");
        let (from, to) = (tree.path("card/a"), tree.path(place).join("a"));
        let (from, to) = (fs::metadata(from).unwrap(), fs::metadata(to).unwrap());
        assert_eq!((from.mode(), from.mtime()), (to.mode(), to.mtime()));
    }
    assert_eq!(summary(&objects)["copied"], 3);
    assert_eq!(summary(&objects)["safe_to_erase"], false);
    let lacks = because(&objects);
    assert!(
        lacks.iter().any(|(lack, files)| {
            *files == 3 && matches!(lack.as_str(), "one_device" | "from_memory")
        }),
        "{lacks:?}"
    );
    assert_ne!(said.status, 0);
    let apart = tree.run(["copy", "--apart", "card", "--to", "one", "--to", "two"]);
    assert!(apart.stdout().contains("safe to erase: no, because "), "one device stays one");
    tree.run(["check", "one"]).succeeds();
    let one = tree.run(["copy", "--json", "--copies", "1", "card", "three"]);
    expects_yes(&tree, &one.objects());
}

#[test]
fn nothing_is_overwritten_and_what_is_there_is_read() {
    let tree = card().file("to/card/a", b"mine").file("to/card/sub/b", b"beta");
    let objects = copy(&tree, &["card", "to"], 1);
    assert_eq!(fs::read(tree.path("to/card/a")).unwrap(), b"mine");
    let error = of(&objects, "card/a")["copies"][0]["error"].as_str().unwrap();
    assert!(error.contains("other contents"), "{error}");
    assert_eq!(of(&objects, "card/sub/b")["copies"][0]["was_there"], true);
    let lacks = [("not_copied".to_owned(), 1), ("belongings".to_owned(), 1)];
    assert_eq!(because(&objects), lacks, "`sub/b` has another date there");
    assert_eq!(names(&tree, "to/card"), ["a", "empty", "sub"], "no draft is left");
}

#[test]
fn a_further_name_of_a_file_is_none_of_another_that_has_the_place_of_the_first() {
    let tree = card().file("to/card/a", b"mine");
    fs::hard_link(tree.path("card/a"), tree.path("card/z")).unwrap();
    copy(&tree, &["card", "to"], 2);
    assert_eq!(fs::read(tree.path("to/card/a")).unwrap(), b"mine");
    assert_eq!(fs::read(tree.path("to/card/z")).unwrap(), b"alpha");
}

#[test]
fn what_was_there_is_not_called_copied_and_nobody_gets_set_id_rights() {
    let tree = card();
    fs::set_permissions(tree.path("card/a"), fs::Permissions::from_mode(0o6755)).unwrap();
    let words = ["copy", "--copies", "1", "card", "to"];
    let first = tree.run(words);
    assert!(first.stdout().contains(": 3 copied and proved in "), "{first:?}");
    assert!(first.stderr().contains("set-user-ID bit"), "{first:?}");
    assert_eq!(fs::metadata(tree.path("to/card/a")).unwrap().mode() & 0o7777, 0o755);
    let again = tree.run(words);
    assert!(again.stdout().contains(": 3 there before and proved in "), "{again:?}");
    fs::write(tree.path("card/new"), b"new").unwrap();
    let more = tree.run(words);
    let said = ": 1 copied and proved, 3 there before and proved in ";
    assert!(more.stdout().contains(said), "{more:?}");
}

#[test]
fn files_of_a_folder_that_lack_the_same_are_one_finding() {
    let tree = card().file("card/sub/c", b"gamma").file("archive/x", b"other");
    tree.run(["tag", "archive"]).succeeds();
    let said = tree.run(["safe", "--copies", "1", "card", "--in", "archive"]).ends(1);
    let line = "too few copies  card/sub/ (2 files)\n";
    assert_eq!(said.stdout().matches(line).count(), 1, "{said:?}");
    assert!(!said.stdout().contains("card/sub/c"), "{said:?}");
    let objects = tree.run(["safe", "--json", "card", "--in", "archive"]).objects();
    assert_eq!(of(&objects, "card/sub/c")["lack"], "too_few", "JSON has each");
}

#[test]
fn a_corrupt_source_is_told_and_not_spread() {
    let tree = card();
    tree.run(["tag", "card"]).succeeds();
    tree.corrupt("card/a");
    let objects = copy(&tree, &["card", "to"], 3);
    assert_eq!(of(&objects, "card/a")["lack"], "corrupt");
    assert_eq!(names(&tree, "to/card"), ["empty", "sub"]);
    assert_eq!(names(&tree, "card"), ["a", "empty", "sub"]);
    tree.run(["check", "card/a"]).ends(3);
}

#[test]
fn a_killed_copy_goes_on_and_leaves_nothing_half() {
    let tree = card();
    let big: Vec<u8> = (0..9_000_000u32).map(|at| (at / 7) as u8).collect();
    let tree = tree.file("card/big", &big);
    // No copy is not enough copies.
    tree.run(["copy", "--copies", "0", "card", "to"]).ends(2);
    let words = ["copy", "--copies", "1", "card", "to"];
    let mut tries = 0;
    for delay_ms in [5, 20, 40, 80] {
        let mut child = tree.command(words).spawn().unwrap();
        let begun = std::time::Instant::now();
        while begun.elapsed().as_millis() < delay_ms && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        let there = fs::read(tree.path("to/card/big"));
        assert!(there.is_err() || there.unwrap() == big, "half a file");
        tries += 1;
    }
    let last = tree.run(words);
    assert_eq!(fs::read(tree.path("to/card/big")).unwrap(), big);
    assert_eq!(names(&tree, "to/card"), ["a", "big", "empty", "sub"], "{tries} {last:?}");
}

#[test]
fn links_holes_and_further_names_are_kept_or_told() {
    let tree = card();
    fs::hard_link(tree.path("card/a"), tree.path("card/sub/again")).unwrap();
    fs::File::create(tree.path("card/holes")).unwrap().set_len(4 << 20).unwrap();
    symlink("a", tree.path("card/link")).unwrap();
    let objects = copy(&tree, &["card", "to"], 1);
    assert_eq!(because(&objects).first().unwrap(), &("left_out".to_owned(), 1));
    let inode = |path: &str| fs::metadata(tree.path(path)).unwrap().ino();
    assert_eq!(inode("to/card/a"), inode("to/card/sub/again"));
    assert_eq!(fs::metadata(tree.path("to/card/holes")).unwrap().blocks(), 0);
    let again = copy(&tree, &["card/.", "to/card"], 1);
    assert_eq!(summary(&again)["copied"], summary(&objects)["copied"], "{again:?}");
    assert_eq!(inode("to/card/a"), inode("to/card/sub/again"));
}

#[test]
fn a_move_removes_only_what_is_proved() {
    let tree = card();
    let two = tree.run(["move", "card", "--to", "one", "--to", "two"]);
    assert_ne!(two.status, 0);
    assert_eq!(names(&tree, "card"), ["a", "empty", "sub"], "{two:?}");
    let moved = tree.run(["move", "--json", "--copies", "1", "card", "three"]);
    let left = names(&tree, "card");
    match moved.status {
        0 => assert_eq!(left, ["sub"], "{moved:?}"),
        _ => assert!(because(&moved.objects()).iter().all(|(lack, _)| lack.starts_with("from_"))),
    }
    assert_eq!(fs::read(tree.path("three/card/a")).unwrap(), b"alpha");
}

#[test]
fn copies_are_entered_in_the_catalogue_of_their_destination() {
    let tree = card().file("to/other", b"other");
    tree.run(["init", "to"]).succeeds();
    tree.run(["copy", "--copies", "1", "card", "to"]);
    tree.run(["check", "to"]).succeeds();
    fs::remove_file(tree.path("to/card/a")).unwrap();
    let said = tree.run(["check", "to"]).ends(1);
    assert!(said.stdout().contains("to/card/a"), "{}", said.stdout());
    let history = tree.run(["show", "--history", "to/card/sub/b"]).succeeds();
    assert!(history.stdout().contains("  copy  "), "{}", history.stdout());
    let known = tree.run(["known", "card/sub", "--in", "to"]).succeeds();
    assert!(known.stdout().contains("to/card/sub/b"));
    let unknown = ["--unknown", "--in", "to", "card", "new"];
    let objects = copy(&tree, &unknown, 2);
    assert!(because(&objects).contains(&("known_only".to_owned(), 2)), "{objects:?}");
    assert_eq!(names(&tree, "new/card"), ["a"]);
}

#[test]
fn a_copy_that_was_read_back_counts_as_read_in_its_catalogue() {
    let tree = card().file("to/other", b"other");
    fs::hard_link(tree.path("card/a"), tree.path("card/z")).unwrap();
    tree.run(["init", "to"]).succeeds();
    let objects =
        copy(&tree, &["card", "to"], tree.run(["copy", "--copies", "1", "card", "x"]).status);
    let said = tree.run(["status", "--json", "to"]).succeeds();
    let folder = &said.objects()[0];
    assert_eq!(
        (&folder["files"], &folder["never"]),
        (&Value::from(5), &Value::from(0)),
        "{objects:?}"
    );
}

#[test]
fn existing_copies_are_read_before_a_card_is_called_safe() {
    let tree = card();
    let status = tree.run(["copy", "--copies", "1", "card", "to"]).status;
    let words = ["safe", "--copies", "1", "card", "--in", "to"];
    let said = tree.run(words).ends(status);
    assert!(said.stdout().starts_with("safe to erase: ") || status == 2, "{}", said.stdout());
    tree.run(["safe", "card", "--in", "to"]).ends(if status == 0 { 1 } else { 2 });
    tree.corrupt("to/card/a");
    let said = tree.run(words);
    assert!([1, 2].contains(&said.status), "{said:?}");
    assert!(said.stdout().contains("card/a"), "{}", said.stdout());
    assert!(said.stdout().contains("safe to erase: no, because 1 file is not in 1 place"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let tree = card();
    tree.run(["copy", "card", "card/sub/inside"]).ends(2);
    tree.run(["copy", "card"]).ends(2);
    tree.run(["copy", "card", "--to", "a", "--to", "./a"]);
    let twice = tree.run(["copy", "card", "--to", "a", "--to", "./a"]).ends(2);
    assert!(twice.stderr().contains("the same destination"), "{}", twice.stderr());
    tree.run(["copy", "nowhere", "to"]).ends(2);
}

#[test]
#[cfg(target_os = "linux")]
fn an_empty_file_in_memory_is_no_copy() {
    let tree = Tree::new().file("card/empty", b"");
    let memory = tempfile::TempDir::new_in("/dev/shm").unwrap();
    let to = memory.path().to_str().unwrap();
    let objects = copy(&tree, &["card", to], 2);
    assert_eq!(because(&objects), [("from_memory".to_owned(), 1)]);
    tree.run(["move", "--copies", "1", "card", to]).ends(2);
    assert_eq!(names(&tree, "card"), ["empty"]);
}

#[test]
#[cfg(target_os = "linux")]
fn an_overlay_and_its_upper_folder_are_one_place() {
    let tree = card().file("lower/x", b"x").file("upper/card/a", b"alpha");
    for folder in ["work", "merged"] {
        fs::create_dir(tree.path(folder)).unwrap();
    }
    let [lower, upper, work] = ["lower", "upper", "work"].map(|it| tree.path(it));
    let [lower, upper, work] = [&lower, &upper, &work].map(|it| it.to_str().unwrap());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    let mut mount = Command::new("mount");
    mount.args(["-t", "overlay", "overlay", "-o", &options]).arg(tree.path("merged"));
    if !mount.output().is_ok_and(|done| done.status.success()) {
        return skip(Need::Root, "no overlay can be mounted");
    }
    let said = tree.run(["move", "--json", "--copies", "1", "--apart", "merged/card", "upper"]);
    let left = names(&tree, "upper/card");
    let shown = tree.run(["copy", "upper", "merged/card/to"]);
    Command::new("umount").arg(tree.path("merged")).status().unwrap();
    assert_eq!(because(&said.objects()), [("one_place".to_owned(), 1)], "{said:?}");
    assert_eq!((said.status, left), (1, vec!["a".to_owned()]));
    assert!(shown.stderr().contains("the source shows the destination"), "{shown:?}");
}

#[test]
fn an_empty_folder_is_copied() {
    let tree = card();
    fs::create_dir_all(tree.path("card/nothing/deep")).unwrap();
    let objects =
        copy(&tree, &["card", "to"], tree.run(["copy", "--copies", "1", "card", "x"]).status);
    assert_eq!(names(&tree, "to/card/nothing"), ["deep"], "{objects:?}");
    assert_eq!(names(&tree, "to/card/nothing/deep"), [] as [&str; 0]);
}

#[test]
fn a_bag_is_whole_and_grows() {
    let tree = card().file("more/c", b"gamma").file("other/bagit.txt", b"BagIt-Version: 0.97\n");
    let status = tree.run(["copy", "--copies", "1", "card", "plain"]).status;
    let words = |from| ["copy", "--bag", "--copies", "1", from, "bag"];
    tree.run(words("card")).ends(status);
    tree.run(words("card")).ends(status);
    tree.run(words("more")).ends(status);
    assert_eq!(names(&tree, "bag/data"), ["card", "more"]);
    tree.run(["check", "--manifest", "bag"]).succeeds();
    if let Some(bagit) = steadfast_testing::program("bagit.py") {
        let mut command = std::process::Command::new(bagit);
        let done = command.arg("--validate").arg(tree.path("bag")).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    tree.corrupt("bag/data/card/a");
    let said = tree.run(["check", "--manifest", "bag"]);
    assert!([1, 3].contains(&said.status), "{said:?}");
    fs::remove_file(tree.path("bag/data/card/a")).unwrap();
    tree.run(words("more")).ends(2);
    let lists = fs::read_to_string(tree.path("bag/manifest-sha256.txt")).unwrap();
    assert!(lists.contains("data/card/a"), "a loss is not forgotten: {lists}");
    tree.run(["copy", "--bag", "--copies", "1", "card", "other"]).ends(2);
    assert_eq!(names(&tree, "other"), ["bagit.txt"], "the bag of another program");
}

/// The newest list of a history.
fn newest(tree: &Tree, folder: &str) -> String {
    let lists = names(tree, &format!("{folder}/ascmhl"));
    let list = lists.iter().rfind(|name| name.ends_with(".mhl")).unwrap();
    format!("{folder}/ascmhl/{list}")
}

#[test]
fn a_history_of_asc_mhl_goes_on() {
    let tree = card().file("card/.DS_Store", b"x").file("card/sub/one & two", b"x");
    let status = tree.run(["copy", "--copies", "1", "card", "plain"]).status;
    tree.run(["copy", "--mhl", "--copies", "1", "card", "to"]).ends(status);
    let first = newest(&tree, "to/card");
    assert!(first.contains("/0001_card_"), "{first}");
    tree.run(["check", "--manifest", &first]).succeeds();
    let text = fs::read_to_string(tree.path(&first)).unwrap();
    assert!(text.contains("one &amp; two") && text.contains("action=\"original\""), "{text}");
    assert!(!text.contains(".DS_Store</path>"), "{text}");
    // A copy of the copy: its history goes on, and its digests are verified in the same reading.
    tree.run(["copy", "--mhl=md5", "--copies", "1", "to/card", "next"]).ends(status);
    let second = newest(&tree, "next/card");
    assert!(second.contains("/0002_card_"), "{second}");
    let text = fs::read_to_string(tree.path(&second)).unwrap();
    assert!(text.contains("<xxh64 action=\"verified\"") && text.contains("<md5 "), "{text}");
    tree.run(["check", "--manifest", &second]).succeeds();
    // A history within another: the outer list refers to the inner one.
    fs::create_dir(tree.path("reels")).unwrap();
    fs::rename(tree.path("next/card"), tree.path("reels/A001")).unwrap();
    fs::write(tree.path("reels/notes"), "n").unwrap();
    tree.run(["copy", "--mhl", "--copies", "1", "reels", "raid"]).ends(status);
    let outer = newest(&tree, "raid/reels");
    let text = fs::read_to_string(tree.path(&outer)).unwrap();
    assert!(text.contains("<path>A001/ascmhl/0003_A001_"), "{text}");
    assert!(!text.contains("A001/sub"), "{text}");
    let said = tree.run(["check", "--json", "--manifest", &outer]).succeeds();
    assert_eq!(said.summary()["files"], 5, "those of the inner history too: {said:?}");
    reference_agrees(&tree, &["to/card", "raid/reels"]);
    // What differs from its history is told, and the copy is no reason to erase the source.
    fs::write(tree.path("raid/reels/A001/a"), "ALPHA").unwrap();
    let objects = copy(&tree, &["--mhl", "raid/reels", "late"], 3);
    assert!(because(&objects).contains(&("corrupt".to_owned(), 1)), "{objects:?}");
    assert_eq!(tree.run(["check", "--manifest", &outer]).status, 1);
    // A list that was changed is not the one of its chain.
    let text = fs::read_to_string(tree.path(&first)).unwrap();
    fs::write(tree.path(&first), format!("{text}<!-- changed -->")).unwrap();
    let said = tree.run(["check", "--manifest", &first]).ends(2);
    assert!(said.stdout().contains("its bytes are not those"), "{}", said.stdout());
}

/// Lets the reference implementation make a further generation, which verifies everything.
fn reference_agrees(tree: &Tree, roots: &[&str]) {
    let [Some(ascmhl), Some(debug)] = ["ascmhl", "ascmhl-debug"].map(steadfast_testing::program)
    else {
        return;
    };
    for root in roots {
        let run = |program: &std::path::Path, words: &[&str]| {
            let mut command = std::process::Command::new(program);
            let done = command.args(words).arg(tree.path(root)).output().unwrap();
            assert!(done.status.success(), "{words:?} {done:?}");
        };
        run(&debug, &["verify"]);
        if *root == "to/card" {
            // It looks for the hashes of all earlier generations, and fails without one of them.
            run(&debug, &["verify", "-dh", "-h", "xxh64"]);
        }
        run(&ascmhl, &["diff"]);
        run(&ascmhl, &["create", "-h", "xxh64"]);
        let list = newest(tree, root);
        tree.run(["check", "--manifest", &list]).succeeds();
    }
}

#[test]
fn published_histories_are_read_and_go_on_with_the_same_hashes() {
    let mut tree = Tree::new();
    let published = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/mhl");
    let mut folders = vec![published.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(&published).unwrap().to_owned();
                    tree = tree.file(name, &fs::read(&path).unwrap());
                }
            }
        }
    }
    let said = tree.run(["check", "--json", "--manifest", &newest(&tree, "Reels")]).succeeds();
    assert_eq!(said.summary()["files"], 7, "those of the nested histories too: {said:?}");
    let said = tree.run(["check", "--manifest", &newest(&tree, "failed")]).ends(2);
    assert!(said.stdout().contains("its check had failed"), "{}", said.stdout());
    tree.run(["copy", "--mhl", "--copies", "1", "Reels", "to"]);
    let text = fs::read_to_string(tree.path(newest(&tree, "to/Reels"))).unwrap();
    // Content and structure of the root, then of one nested history.
    for hash in ["92950bc8fda076ec", "2c2ce52605558158", "8d02114c32e28cbe", "f557f8ca8e5a88ef"] {
        assert!(text.contains(hash), "{hash}: {text}");
    }
    assert!(newest(&tree, "to/Reels/A002R2EC").contains("/0003_A002R2EC_"));
}
