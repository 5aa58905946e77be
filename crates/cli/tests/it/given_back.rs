//! What comes back beside the contents: mode, owner, times, access lists, holes and links of files
//! and folders, and what is told if some of it does not.

use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use steadfast_testing::{Need, skip};

use crate::repair::{copied, decay, flip, set_attribute};
use crate::tree::{Outcome, Tree};

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// All that belongs to a file or folder beside its contents, but its inode.
#[derive(Debug, PartialEq)]
struct Rights {
    ownership: [u32; 3],
    mtime: (i64, i64),
    attributes: Vec<(String, Vec<u8>)>,
}

fn rights(path: &Path) -> Rights {
    let found = fs::metadata(path).unwrap();
    let file = steadfast_sys::file::File::open(path).unwrap();
    let names = steadfast_sys::xattr::list(&file).unwrap();
    let mut attributes: Vec<(String, Vec<u8>)> = names
        .into_iter()
        .map(|name| {
            let name = name.into_string().unwrap();
            let mut value = [0; 1024];
            let len = steadfast_sys::xattr::get(&file, &name, &mut value).unwrap().unwrap();
            (name, value[..len].to_vec())
        })
        .collect();
    attributes.sort();
    Rights {
        ownership: [found.mode(), found.uid(), found.gid()],
        mtime: (found.mtime(), found.mtime_nsec()),
        attributes,
    }
}

/// An access list: owner rwx, user 1000 rwx, group and mask rwx, others nothing.
fn list() -> Vec<u8> {
    let mut list = vec![2, 0, 0, 0];
    for (tag, permissions, id) in [
        (1_u16, 7_u16, u32::MAX),
        (2, 7, 1000),
        (4, 7, u32::MAX),
        (16, 7, u32::MAX),
        (32, 0, u32::MAX),
    ] {
        list.extend(tag.to_le_bytes());
        list.extend(permissions.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    list
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn copy(tree: &Tree, from: &str, to: &str) {
    let mut command = Command::new("cp");
    let status = command.args(["-a", "--sparse=always", from, to]).current_dir(tree.path(""));
    assert!(status.status().unwrap().success());
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn withheld(said: &Outcome) -> Vec<String> {
    let objects = said.objects();
    let all = objects.iter().filter_map(|object| object["withheld"].as_array());
    all.flatten().map(|lack| lack["what"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_file_comes_back_with_the_date_of_its_last_proof() {
    type Loss = fn(&Tree);
    let losses: [(&str, &[&str], Loss); 3] = [
        ("missing", &[], |tree| fs::remove_file(tree.path("data/film")).unwrap()),
        ("corrupt", &[], |tree| decay(&tree.path("data/film"), |bytes| bytes[9_000] ^= 1)),
        ("in place", &["--in-place"], |tree| {
            decay(&tree.path("data/film"), |bytes| bytes[9_000] ^= 1);
        }),
    ];
    for (loss, how, lose) in losses {
        for is_told in [true, false] {
            let tree = copied();
            let at = std::time::UNIX_EPOCH + std::time::Duration::new(1_700_000_000, 5);
            let file = fs::File::options().write(true).open(tree.path("data/film")).unwrap();
            file.set_modified(at).unwrap();
            drop(file);
            tree.run(["check", "data"]).succeeds();
            lose(&tree);
            if is_told {
                tree.run(["check", "data"]);
            }
            let all = [&["repair", "--yes", "--from", "one"], how, &["data"]].concat();
            let said = tree.run(all).succeeds();
            let now = fs::metadata(tree.path("data/film")).unwrap().modified().unwrap();
            assert_eq!(now, at, "{loss}, {is_told}: {said:?}");
            tree.run(["check", "data"]).succeeds();
        }
    }
}

#[test]
fn a_private_file_takes_on_no_list_of_the_folder_of_drafts() {
    let tree = Tree::new().file("data/secret", &[7; 9000]).file("data/sub/gone", b"gone");
    set_attribute(&tree.path("data"), DEFAULT, &list());
    for name in ["secret", "sub/gone"] {
        set_mode(&tree.path("data").join(name), 0o600);
    }
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    copy(&tree, "data", "copy");
    let paths = ["data/secret", "data/sub/gone", "data/sub"].map(|name| tree.path(name));
    let before = paths.clone().map(|path| rights(&path));
    flip(&tree.path("data/secret"), &[5]);
    fs::remove_dir_all(tree.path("data/sub")).unwrap();
    tree.run(["repair", "--yes", "--from", "copy", "data"]).succeeds();
    assert_eq!(paths.map(|path| rights(&path)), before);
    let kept = rights(&tree.path("data/.steadfast/damaged/1"));
    assert_eq!(kept.ownership[0] & 0o7777, 0o700, "{kept:?}");
}

#[test]
fn missing_files_and_folders_get_what_belonged_to_their_own_path() {
    if !is_root() {
        return skip(Need::Root, "files are given to other users");
    }
    let tree = Tree::new().file("data/private/deep/a", b"same").file("data/open", b"same");
    let path = |name: &str| tree.path("data").join(name);
    set_mode(&path("private/deep/a"), 0o600);
    chown(path("private/deep/a"), Some(1234), Some(4321)).unwrap();
    set_attribute(&path("private/deep/a"), "user.author", b"someone");
    set_mode(&path("open"), 0o4755);
    set_attribute(&path("private"), DEFAULT, &list());
    set_attribute(&path("private"), "user.kind", b"a folder");
    chown(path("private"), Some(1234), Some(4321)).unwrap();
    set_mode(&path("private"), 0o710);
    set_mode(&path("private/deep"), 0o750);
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    let names = ["private/deep/a", "private/deep", "private", ""];
    let before = names.map(|name| rights(&path(name)));
    let when = before[3].mtime;
    fs::remove_dir_all(path("private")).unwrap();
    let time = std::time::UNIX_EPOCH + std::time::Duration::new(when.0 as u64, when.1 as u32);
    fs::File::open(path("")).unwrap().set_modified(time).unwrap();
    tree.run(["repair", "--yes", "data"]).succeeds();
    assert_eq!(names.map(|name| rights(&path(name))), before);
    tree.run(["check", "data"]).succeeds();
}

#[test]
fn special_bits_come_back_only_if_they_are_asked_for() {
    for with in [false, true] {
        let tree = Tree::new().file("data/program", b"run").file("data/shared/file", b"file");
        let tree = tree.file("data/other", b"other");
        set_mode(&tree.path("data/program"), 0o4755);
        set_mode(&tree.path("data/shared"), 0o2775);
        tree.run(["init", "--tags-only", "data"]).succeeds();
        tree.run(["tag", "data"]).succeeds();
        copy(&tree, "data", "copy");
        fs::remove_file(tree.path("data/program")).unwrap();
        fs::remove_dir_all(tree.path("data/shared")).unwrap();
        let arguments = ["repair", "--yes", "--json", "--from", "copy", "data", "--set-id"];
        let said = tree.run(&arguments[..arguments.len() - usize::from(!with)]);
        let mode = |name: &str| fs::metadata(tree.path(name)).unwrap().mode() & 0o7777;
        if with {
            assert_eq!((mode("data/program"), mode("data/shared")), (0o4755, 0o2775));
            said.succeeds();
        } else {
            assert_eq!((mode("data/program"), mode("data/shared")), (0o755, 0o775));
            assert_eq!(withheld(&said), ["set-user-ID bit", "set-group-ID bit"]);
            assert_eq!(said.summary()["withheld"], 2);
            said.ends(2);
        }
    }
}

#[test]
fn parity_gives_no_special_bits() {
    let tree = Tree::new().file("data/program", &[3; 5000]).file("data/other", &[4; 100]);
    set_attribute(&tree.path("data/program"), "user.kind", b"program");
    set_attribute(&tree.path("data/program"), ACCESS, &list());
    set_mode(&tree.path("data/program"), 0o4775);
    tree.run(["tag", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    let mut before = rights(&tree.path("data/program"));
    fs::remove_file(tree.path("data/program")).unwrap();
    let said = tree.run(["repair", "--yes", "--json", "data"]).ends(2);
    before.ownership[0] &= !0o4000;
    assert_eq!(rights(&tree.path("data/program")), before, "{}", said.stdout());
    assert_eq!(withheld(&said), ["set-user-ID bit"]);
}

#[test]
fn a_folder_of_which_nothing_is_known_is_private_and_told() {
    let tree = Tree::new().file("data/sub/file", &[3; 5000]).file("data/other", &[4; 100]);
    tree.run(["tag", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    let before = rights(&tree.path("data/sub/file"));
    fs::remove_dir_all(tree.path("data/sub")).unwrap();
    let said = tree.run(["repair", "--yes", "--json", "data"]).ends(2);
    assert_eq!(rights(&tree.path("data/sub/file")), before);
    assert_eq!(fs::metadata(tree.path("data/sub")).unwrap().mode() & 0o7777, 0o700);
    assert_eq!(withheld(&said), ["mode, owner and attributes"]);
}

#[test]
fn an_owner_that_cannot_be_given_is_named() {
    if !is_root() {
        return skip(Need::Root, "files are given to other users");
    }
    let tree = Tree::new().file("data/foreign", b"foreign").file("data/own", b"own");
    set_mode(&tree.path("data/foreign"), 0o664);
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    copy(&tree, "data", "copy");
    fs::remove_dir_all(tree.path("copy/.steadfast")).unwrap();
    fs::remove_file(tree.path("data/foreign")).unwrap();
    for name in ["data", "data/own", "data/.steadfast"] {
        chown(tree.path(name), Some(12_345), Some(12_345)).unwrap();
    }
    for file in fs::read_dir(tree.path("data/.steadfast")).unwrap() {
        chown(file.unwrap().path(), Some(12_345), Some(12_345)).unwrap();
    }
    set_mode(&tree.path(""), 0o755);
    let mut command = tree.command(["repair", "--yes", "--json", "--from", "copy", "data"]);
    let said = Outcome::of(command.uid(12_345).gid(12_345));
    let found = fs::metadata(tree.path("data/foreign"));
    let found = found.unwrap_or_else(|_| panic!("{} {}", said.stdout(), said.stderr()));
    assert_eq!((found.uid(), found.gid()), (12_345, 12_345), "{}", said.stdout());
    // Another group may do what everybody may.
    assert_eq!(found.mode() & 0o7777, 0o644);
    assert_eq!(withheld(&said), ["group 0", "owner 0"]);
    said.ends(2);
}

/// Writes a file of 64 MiB with some pages of data, and one of zeros that are stored.
fn sparse(path: &Path) {
    let file = fs::File::create(path).unwrap();
    file.set_len(64 << 20).unwrap();
    for (number, at) in [0_u64, 20 << 20, (20 << 20) + 8192, (64 << 20) - 4096].iter().enumerate() {
        file.write_all_at(&[number as u8 + 1; 4096], *at).unwrap();
    }
    file.write_all_at(&[0; 4096], 30 << 20).unwrap();
    file.sync_all().unwrap();
}

#[test]
fn holes_are_kept_to_the_block() {
    for pages in [&["tag", "--pages", "data"][..], &["tag", "data"]] {
        let tree = Tree::new().file("data/other", b"other");
        sparse(&tree.path("data/film"));
        tree.run(["init", "--tags-only", "data"]).succeeds();
        tree.run(pages).succeeds();
        copy(&tree, "data", "copy");
        let blocks = || {
            fs::File::open(tree.path("data/film")).unwrap().sync_all().unwrap();
            fs::metadata(tree.path("data/film")).unwrap().blocks()
        };
        let before = blocks();
        assert!(before < 200, "the file system keeps no holes: {before}");
        let file = fs::File::options().write(true).open(tree.path("data/film")).unwrap();
        let time = fs::metadata(tree.path("copy/film")).unwrap().modified().unwrap();
        file.write_all_at(b"rot", (20 << 20) + 8192).unwrap();
        file.set_modified(time).unwrap();
        drop(file);
        tree.run(["repair", "--yes", "--from", "copy", "data"]).succeeds();
        assert_eq!(blocks(), before, "of a damaged file");
        fs::remove_file(tree.path("data/film")).unwrap();
        tree.run(["repair", "--yes", "--from", "copy", "data"]).succeeds();
        assert!(blocks() <= before, "of a missing file: {} and not {before}", blocks());
    }
}

#[test]
fn a_missing_hard_link_comes_back_as_a_link() {
    let tree = Tree::new().file("data/a", &[1; 9000]).file("data/other", b"other");
    fs::create_dir(tree.path("data/sub")).unwrap();
    for name in ["data/b", "data/sub/c"] {
        fs::hard_link(tree.path("data/a"), tree.path(name)).unwrap();
    }
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    copy(&tree, "data", "copy");
    let inode = |name: &str| {
        let found = fs::metadata(tree.path(name)).unwrap();
        (found.ino(), found.nlink())
    };
    // One name is missing.
    let before = inode("data/a");
    fs::remove_file(tree.path("data/a")).unwrap();
    tree.run(["repair", "--yes", "data"]).succeeds();
    assert_eq!(inode("data/a"), before);
    // All but one are missing, and that is corrupt.
    fs::remove_file(tree.path("data/a")).unwrap();
    fs::remove_dir_all(tree.path("data/sub")).unwrap();
    flip(&tree.path("data/b"), &[5]);
    tree.run(["repair", "--yes", "--from", "copy", "data"]).succeeds();
    assert_eq!((inode("data/a"), inode("data/sub/c").1), (inode("data/b"), 3));
    // All are missing.
    for name in ["data/a", "data/b", "data/sub/c"] {
        fs::remove_file(tree.path(name)).unwrap();
    }
    tree.run(["repair", "--yes", "--from", "copy", "data"]).succeeds();
    assert_eq!((inode("data/a"), inode("data/sub/c").1), (inode("data/b"), 3));
    assert_eq!(fs::read(tree.path("data/b")).unwrap(), [1; 9000]);
    tree.run(["check", "data"]).succeeds();
}

#[test]
fn a_link_to_a_name_outside_the_tree_is_told_to_be_lost() {
    let tree = Tree::new().file("data/a", &[1; 9000]).file("data/other", b"other");
    fs::hard_link(tree.path("data/a"), tree.path("outside")).unwrap();
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    copy(&tree, "data", "copy");
    fs::remove_file(tree.path("data/a")).unwrap();
    let said = tree.run(["repair", "--yes", "--json", "--from", "copy", "data"]).ends(2);
    assert_eq!(withheld(&said), ["links"]);
    assert_eq!(fs::read(tree.path("data/a")).unwrap(), [1; 9000]);
}

#[test]
fn flags_of_a_damaged_file_stay() {
    let tree = Tree::new().file("data/a", &[1; 9000]).file("data/b", b"other");
    let run = |program: &str, option: &str| {
        let ran = Command::new(program).args([option, "a"]).current_dir(tree.path("data")).output();
        ran.ok().filter(|ran| ran.status.success()).map(|ran| ran.stdout)
    };
    // Not in a dump, and no times of access.
    if run("chattr", "+dA").is_none() {
        return skip(Need::System("flags of files"), "the file system has none");
    }
    tree.run(["init", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    copy(&tree, "data", "copy");
    let before = run("lsattr", "-d");
    flip(&tree.path("data/a"), &[5]);
    tree.run(["repair", "--yes", "--from", "copy", "data"]).succeeds();
    assert_eq!(run("lsattr", "-d"), before);
}

#[test]
fn without_a_catalogue_a_name_that_is_no_link_any_more_is_told() {
    let tree = Tree::new().file("data/a", &[1; 9000]).file("data/other", b"other");
    fs::hard_link(tree.path("data/a"), tree.path("data/b")).unwrap();
    tree.run(["tag", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    for gone in ["data/b", "data/other"] {
        fs::remove_file(tree.path(gone)).unwrap();
    }
    let said = tree.run(["repair", "--yes", "--json", "data"]).ends(2);
    assert_eq!(withheld(&said), ["links"]);
    assert_eq!(fs::read(tree.path("data/b")).unwrap(), [1; 9000]);
    // The present names are what is known from then on.
    tree.run(["parity", "update", "data"]).succeeds();
    fs::remove_file(tree.path("data/b")).unwrap();
    tree.run(["repair", "--yes", "data"]).succeeds();
}

#[test]
fn a_record_that_others_can_write_gives_no_right() {
    if !is_root() {
        return skip(Need::Root, "files are given to other users");
    }
    for doubtful in ["copy", "data/.steadfast/catalogue.sqlite"] {
        let tree = Tree::new().file("data/sub/own", b"own").file("data/other", b"other");
        let path = tree.path("data/sub");
        chown(&path, Some(1234), Some(4321)).unwrap();
        set_mode(&path, 0o777);
        set_attribute(&path, "user.author", b"someone");
        if doubtful != "copy" {
            tree.run(["init", "--tags-only", "data"]).succeeds();
        }
        tree.run(["tag", "data"]).succeeds();
        // Without a catalogue, only this knows that the file is missing. It knows no folders.
        tree.run(["parity", "make", "data"]).succeeds();
        fs::create_dir(tree.path("copy")).unwrap();
        copy(&tree, "data/sub", "copy/sub");
        // Anyone can write there.
        set_mode(&tree.path(doubtful), fs::metadata(tree.path(doubtful)).unwrap().mode() | 0o002);
        fs::remove_dir_all(&path).unwrap();
        let said = tree.run(["repair", "--yes", "--json", "--from", "copy", "data"]).ends(2);
        let found = rights(&path);
        let lacks = withheld(&said).join(", ");
        for what in ["1234", "4321", "permission of others to write"] {
            assert!(lacks.contains(what), "{doubtful}: {lacks}");
        }
        assert_eq!(found.ownership, [0o040_755, 0, 0], "{doubtful}");
        // It gives nobody a right.
        assert!(found.attributes.iter().any(|(name, _)| name == "user.author"), "{doubtful}");
    }
}

#[test]
fn capabilities_stay_with_a_damaged_file_and_are_withheld_from_a_missing_one() {
    if !is_root() {
        return skip(Need::Root, "capabilities can be set by root alone");
    }
    const CAPABILITIES: &str = "security.capability";
    let mut bind_ports = [0_u8; 20];
    (bind_ports[0], bind_ports[3], bind_ports[5]) = (1, 2, 4);
    let tree = Tree::new().file("data/server", &[7; 9000]).file("data/other", b"other");
    let path = tree.path("data/server");
    set_mode(&path, 0o755);
    set_attribute(&path, CAPABILITIES, &bind_ports);
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    copy(&tree, "data", "copy");
    let before = rights(&path);
    assert!(before.attributes.iter().any(|(name, _)| name == CAPABILITIES));
    let words = ["repair", "--yes", "--json", "--from", "copy", "data"];
    // A write takes capabilities away, as decay does not.
    flip(&path, &[5]);
    set_attribute(&path, CAPABILITIES, &bind_ports);
    tree.run(words);
    assert_eq!(rights(&path), before);
    fs::remove_file(&path).unwrap();
    let said = tree.run(words).ends(2);
    assert!(withheld(&said).join(", ").contains(CAPABILITIES), "{}", said.stdout());
    assert!(rights(&path).attributes.iter().all(|(name, _)| name != CAPABILITIES));
}

#[test]
fn par2_gives_a_private_file_no_list_of_the_folder_of_drafts() {
    if steadfast_testing::program("par2").is_none() {
        return;
    }
    let tree = Tree::new().file("data/secret", &[7; 9000]).file("data/other", &[8; 9000]);
    set_attribute(&tree.path("data"), DEFAULT, &list());
    set_mode(&tree.path("data/secret"), 0o600);
    let mut make = Command::new("par2");
    make.args(["create", "-q", "-q", "-r100", "set.par2", "secret", "other"]);
    assert!(make.current_dir(tree.path("data")).status().unwrap().success());
    let before = rights(&tree.path("data/secret"));
    flip(&tree.path("data/secret"), &[5]);
    tree.run(["repair", "--yes", "data/set.par2"]).succeeds();
    assert_eq!(rights(&tree.path("data/secret")), before);
}

#[test]
fn a_mode_that_was_changed_with_the_contents_comes_back_after_an_update() {
    let tree = Tree::new().file("data/a", &[1; 5_000]).file("data/b", &[2; 5_000]);
    set_mode(&tree.path("data/a"), 0o600);
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    fs::write(tree.path("data/a"), [3; 6_000]).unwrap();
    set_mode(&tree.path("data/a"), 0o640);
    tree.run(["update", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    fs::remove_file(tree.path("data/a")).unwrap();
    tree.run(["repair", "--yes", "data"]).succeeds();
    assert_eq!(fs::metadata(tree.path("data/a")).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn rights_of_a_file_that_was_saved_under_another_ones_name_stay_with_its_contents() {
    for verb in ["tag", "update", "check"] {
        let tree = Tree::new().file("data/a", b"of a").file("data/b", b"of b").file("data/c", b"c");
        for (name, mode) in [("data/a", 0o700), ("data/b", 0o644)] {
            set_mode(&tree.path(name), mode);
        }
        tree.run(["init", "data"]).succeeds();
        copy(&tree, "data", "copy");
        // The two exchange their names, and a program saves one anew by a rename.
        for (from, to) in [("a", "new"), ("b", "a"), ("new", "b")] {
            fs::rename(tree.path("data").join(from), tree.path("data").join(to)).unwrap();
        }
        fs::write(tree.path("data/new"), b"of a, edited").unwrap();
        set_mode(&tree.path("data/new"), 0o700);
        fs::rename(tree.path("data/new"), tree.path("data/b")).unwrap();
        tree.run([verb, "data"]);
        for name in ["data/a", "data/b"] {
            fs::remove_file(tree.path(name)).unwrap();
        }
        tree.run(["repair", "--yes", "--from", "copy", "data"]);
        for name in ["data/a", "data/b"] {
            let (Ok(held), mode) = (fs::read(tree.path(name)), 0o777) else { continue };
            let mode = fs::metadata(tree.path(name)).unwrap().mode() & mode;
            let own = if held == b"of b" { 0o644 } else { 0o700 };
            assert_eq!(mode, own, "{verb}: {name} has {}", String::from_utf8_lossy(&held));
        }
    }
}

#[test]
fn names_of_one_file_that_are_lost_one_after_the_other_come_back_as_links() {
    let tree = Tree::new().file("data/a", &[1; 5_000]).file("data/b", &[2; 5_000]);
    fs::hard_link(tree.path("data/a"), tree.path("data/link")).unwrap();
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    for lost in ["data/a", "data/link", "data/a"] {
        fs::remove_file(tree.path(lost)).unwrap();
        // The name that is left has one link now.
        tree.run(["update", "data"]).ends(1);
        tree.run(["repair", "--yes", "data"]).succeeds();
        let inode = |name: &str| fs::metadata(tree.path(name)).unwrap().ino();
        assert_eq!(inode("data/a"), inode("data/link"), "{lost}");
    }
}
