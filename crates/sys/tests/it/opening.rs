//! Opening: what is opened, what is refused, and that looking leaves no mark.

use std::ffi::OsStr;
use std::fs::{self, FileTimes};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, SystemTime};

use steadfast_sys::file::{Dir, File, FileKind, Status, Timestamp};
use steadfast_testing::{Need, skip};

use crate::tree::Tree;

/// Names a directory may hold; those of a Mac are Unicode.
const HOSTILE: &[&[u8]] = &[
    b"new\nline",
    b"-rf",
    b" ",
    b"\x1b[31mred",
    b"...",
    #[cfg(not(target_os = "macos"))]
    b"\xff\xfe not UTF-8",
];

#[test]
fn hostile_names_open_and_are_looked_up() {
    let tree = Tree::new();
    for name in HOSTILE.iter().copied().map(OsStr::from_bytes) {
        let file = tree.file(name, name.as_bytes());
        let mut contents = [0; 64];
        let length = file.read_at(&mut contents, 0).unwrap();
        assert_eq!(&contents[..length], name.as_bytes());
        assert_eq!(tree.status_of(name).unwrap(), file.status().unwrap());
    }
}

#[test]
fn the_longest_name_opens_and_a_longer_one_is_an_error() {
    let tree = Tree::new();
    tree.file("n".repeat(255), b"long");
    let error = tree.open_file("n".repeat(256).as_ref()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidFilename);
}

#[test]
fn names_of_more_or_less_than_one_component_are_refused() {
    let tree = Tree::new();
    fs::create_dir(tree.path("inner")).unwrap();
    fs::write(tree.path("inner/file"), b"x").unwrap();
    for name in ["", ".", "..", "/", "inner/file", "inner/", "/etc/passwd", "../x", "nul\0"] {
        let name = OsStr::new(name);
        for error in [
            tree.open_file(name).unwrap_err(),
            tree.open_dir(name).unwrap_err(),
            tree.status_of(name).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name:?}");
        }
    }
}

#[test]
fn symlinks_beneath_a_root_are_not_followed() {
    let tree = Tree::new();
    tree.file("file", b"contents");
    fs::create_dir(tree.path("inner")).unwrap();
    symlink("file", tree.path("to-file")).unwrap();
    symlink("inner", tree.path("to-inner")).unwrap();

    let refused = tree.open_file("to-file".as_ref()).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(libc::ELOOP));
    assert!(tree.open_file("to-inner".as_ref()).is_err());
    let refused = tree.open_dir("to-inner".as_ref()).unwrap_err();
    assert!(matches!(refused.raw_os_error(), Some(libc::ENOTDIR | libc::ELOOP)), "{refused}");

    let link = tree.status_of("to-file".as_ref()).unwrap();
    assert_eq!((link.kind, link.length), (FileKind::Symlink, 4));
}

#[test]
fn symlinks_the_user_names_are_followed() {
    let tree = Tree::new();
    let file = tree.file("file", b"contents");
    symlink("file", tree.path("to-file")).unwrap();
    symlink(".", tree.path("to-tree")).unwrap();

    let followed = File::open(&tree.path("to-file")).unwrap();
    assert_eq!(followed.status().unwrap(), file.status().unwrap());
    assert_eq!(Status::of(&tree.path("to-file")).unwrap(), file.status().unwrap());
    let link = Status::of_link(&tree.path("to-file")).unwrap();
    assert_eq!(link, tree.status_of("to-file".as_ref()).unwrap());
    assert_eq!(link.kind, FileKind::Symlink);
    assert_eq!(Status::of(&tree.path("none")).unwrap_err().kind(), ErrorKind::NotFound);
    let followed = Dir::open(&tree.path("to-tree")).unwrap();
    assert_eq!(followed.status().unwrap().inode, tree.status().unwrap().inode);
}

#[test]
fn directories_open_one_beneath_the_other() {
    let tree = Tree::new();
    fs::create_dir_all(tree.path("a/b")).unwrap();
    fs::write(tree.path("a/b/file"), b"deep").unwrap();
    let inner = tree.open_dir("a".as_ref()).unwrap().open_dir("b".as_ref()).unwrap();
    assert_eq!(inner.status_of("file".as_ref()).unwrap().length, 4);
    assert_eq!(inner.open_dir("file".as_ref()).unwrap_err().kind(), ErrorKind::NotADirectory);
    assert_eq!(inner.open_dir("none".as_ref()).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(Dir::open(&tree.path("a/b/file")).unwrap_err().kind(), ErrorKind::NotADirectory);
}

#[test]
fn a_fifo_without_a_writer_opens_at_once() {
    let tree = Tree::new();
    let made = Command::new("mkfifo").arg(tree.path("fifo")).status().unwrap();
    assert!(made.success());
    assert_eq!(tree.status_of("fifo".as_ref()).unwrap().kind, FileKind::Other);
    let opened = tree.open_file("fifo".as_ref()).unwrap();
    assert_eq!(opened.status().unwrap().kind, FileKind::Other);
    let opened = File::open(&tree.path("fifo")).unwrap();
    assert_eq!(opened.status().unwrap().kind, FileKind::Other);
}

#[test]
fn status_says_what_the_standard_library_says() {
    let tree = Tree::new();
    let status = tree.file("file", b"12345").status().unwrap();
    fs::hard_link(tree.path("file"), tree.path("second")).unwrap();
    fs::set_permissions(tree.path("file"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(status.links, 1);

    let status = tree.status_of("file".as_ref()).unwrap();
    let known = fs::metadata(tree.path("file")).unwrap();
    assert_eq!(status.kind, FileKind::Regular);
    assert_eq!((status.device, status.inode), (known.dev(), known.ino()));
    assert_eq!((status.length, status.links), (5, 2));
    assert_eq!(status.mode, known.mode());
    assert_eq!(status.mode & 0o777, 0o640);
    assert_eq!(status.mtime.seconds, known.mtime());
    assert_eq!(i64::from(status.mtime.nanoseconds), known.mtime_nsec());
    assert_eq!(status.ctime.seconds, known.ctime());
    assert_eq!(i64::from(status.ctime.nanoseconds), known.ctime_nsec());
    assert!(!status.dataless);
}

#[test]
fn times_before_1970_keep_their_nanoseconds() {
    let tree = Tree::new();
    let file = tree.file("old", b"");
    let moment = SystemTime::UNIX_EPOCH - Duration::new(1_000_000_000, 250);
    let writable = fs::File::options().write(true).open(tree.path("old")).unwrap();
    writable.set_times(FileTimes::new().set_modified(moment)).unwrap();
    let mtime = file.status().unwrap().mtime;
    assert_eq!(mtime, Timestamp { seconds: -1_000_000_001, nanoseconds: 999_999_750 });
    assert_eq!(mtime.as_nanoseconds(), -1_000_000_000_000_000_250);
}

/// Sets the access time of an entry into the far past, where every mount that records accesses
/// at all would move it from, and returns it.
fn age(tree: &Tree, name: &str) -> i64 {
    let file = fs::File::open(tree.path(name)).unwrap();
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400);
    file.set_times(FileTimes::new().set_accessed(past)).unwrap();
    86_400
}

#[test]
#[cfg_attr(target_os = "macos", ignore = "macOS has no way to ask that")]
fn reading_and_listing_leave_the_access_times_as_they_were() {
    let tree = Tree::new();
    fs::create_dir(tree.path("inner")).unwrap();
    fs::write(tree.path("inner/entry"), b"x").unwrap();
    for name in ["watched", "control"] {
        fs::write(tree.path(name), b"contents").unwrap();
    }

    let past = age(&tree, "watched");
    let file = tree.open_file("watched".as_ref()).unwrap();
    assert_eq!(file.read_at(&mut [0; 8], 0).unwrap(), 8);
    let file = File::open(&tree.path("watched")).unwrap();
    assert_eq!(file.read_at(&mut [0; 8], 0).unwrap(), 8);
    assert_eq!(fs::metadata(tree.path("watched")).unwrap().atime(), past);

    let past = age(&tree, "inner");
    for dir in [tree.open_dir("inner".as_ref()).unwrap(), Dir::open(&tree.path("inner")).unwrap()] {
        dir.entries(&mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    }
    assert_eq!(fs::metadata(tree.path("inner")).unwrap().atime(), past);

    age(&tree, "control");
    let mut contents = Vec::new();
    fs::File::open(tree.path("control")).unwrap().read_to_end(&mut contents).unwrap();
    if fs::metadata(tree.path("control")).unwrap().atime() == past {
        skip(Need::System("access times"), "this mount records none");
    }
}

/// Opens files that only their owner may open unmarked. Root owns every right, so as root the
/// test runs itself again as a user without any.
#[test]
fn files_of_another_user_open_too() {
    if rustix::process::geteuid().is_root() {
        let nobody = 65_534;
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.uid(nobody);
        let name = "opening::files_of_another_user_open_too";
        let outcome = again.args(["--exact", name]).output().unwrap();
        let said = String::from_utf8_lossy(&outcome.stdout);
        assert!(outcome.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let tree = Dir::open("/etc".as_ref()).unwrap();
    for _ in 0..10 {
        let file = tree.open_file("passwd".as_ref()).unwrap();
        assert_ne!(file.read_at(&mut [0; 16], 0).unwrap(), 0);
    }
    assert!(File::open("/etc/passwd".as_ref()).is_ok());
    let missing = tree.open_file("no such file".as_ref()).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}
