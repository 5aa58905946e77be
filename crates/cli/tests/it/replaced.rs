//! A folder that something else has replaced: its files are missing, on every surface, and what is
//! advised settles that.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use steadfast_testing::{Need, skip};

use crate::tree::Tree;

/// What replaces a folder `photos/2019` of two files.
type Replacement = fn(&Path);

const REPLACEMENTS: [(&str, Replacement); 11] = [
    ("nothing", |_| ()),
    ("a file", |at| fs::write(at, "a file").unwrap()),
    ("a fifo", |at| assert!(Command::new("mkfifo").arg(at).status().unwrap().success())),
    ("an empty folder", |at| fs::create_dir(at).unwrap()),
    ("another folder", |at| {
        fs::create_dir(at).unwrap();
        fs::write(at.join("other"), "other").unwrap();
    }),
    ("a link to nothing", |at| symlink("nowhere", at).unwrap()),
    ("a link to itself", |at| symlink("2019", at).unwrap()),
    ("a link through a file", |at| symlink("2020/c/d", at).unwrap()),
    ("a link to another folder", |at| symlink("2020", at).unwrap()),
    ("a link to a closed place", |at| symlink("/proc/1/fd", at).unwrap()),
    ("a link into a place that fails", |at| symlink("far/x", at).unwrap()),
];

fn replaced(replacement: Replacement) -> Tree {
    let tree = Tree::new().file("photos/2019/a", b"alpha").file("photos/2019/b", b"beta");
    let tree = tree.file("photos/2020/c", b"gamma").file("photos/far/g", b"eta");
    tree.run(["init", "photos"]).succeeds();
    fs::remove_dir_all(tree.path("photos/2019")).unwrap();
    replacement(&tree.path("photos/2019"));
    tree
}

#[test]
fn the_files_of_a_replaced_folder_are_missing_on_every_surface_and_can_be_accepted() {
    for (kind, replacement) in REPLACEMENTS {
        let tree = replaced(replacement);
        let says = |command: &[&str]| {
            let outcome = tree.run(command);
            assert!(outcome.status > 0, "{kind} {command:?}");
            let both = [outcome.stdout(), outcome.stderr()].concat();
            let names = ["photos/2019/a", "photos/2019/b"];
            assert!(names.iter().all(|name| both.contains(name)), "{kind} {command:?}: {both}");
        };
        says(&["check", "--quick", "photos"]);
        says(&["repair", "-n", "photos"]);
        says(&["update", "-n", "photos"]);
        says(&["check", "photos"]);
        tree.run(["status", "photos"]).ends(1);
        tree.run(["update", "--accept-missing", "photos"]).succeeds();
        tree.run(["check", "photos"]).succeeds();
        tree.run(["status", "photos"]).succeeds();
    }
}

/// The errors of a place that fails, as Linux numbers them.
const ERRORS: [(&str, i32); 5] =
    [("EACCES", 13), ("ELOOP", 40), ("ENOTDIR", 20), ("EIO", 5), ("ENOTCONN", 107)];

/// A mounted file system of which every request fails.
struct FailingMount(PathBuf);

impl FailingMount {
    /// Mounts it; `is_folder`: whether its root still has a status. `None` if that is not possible.
    fn at(folder: PathBuf, errno: i32, is_folder: bool) -> Option<FailingMount> {
        let device = File::options().read(true).write(true).open("/dev/fuse").ok()?;
        let options = "fd=0,rootmode=40000,user_id=0,group_id=0,allow_other";
        let mut mount = Command::new("mount");
        mount.args(["-i", "-t", "fuse", "none", "-o", options]).arg(&folder);
        mount.stdin(device.try_clone().ok()?).stderr(Stdio::null());
        if !mount.status().ok()?.success() {
            return None;
        }
        thread::spawn(move || answer(device, errno, is_folder));
        Some(FailingMount(folder))
    }
}

impl Drop for FailingMount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Answers the kernel's requests until the mount is gone.
fn answer(mut device: File, errno: i32, is_folder: bool) {
    const GETATTR: u32 = 3;
    const INIT: u32 = 26;
    const FORGET: [u32; 2] = [2, 42];
    let mut request = vec![0; 1 << 17];
    while device.read(&mut request).is_ok_and(|length| length >= 40) {
        let operation = u32::from_ne_bytes(request[4..8].try_into().unwrap());
        let mut words = [0_u32; 26];
        let words = match operation {
            INIT => {
                words[..6].copy_from_slice(&[7, 22, 0, 0, 1 | 1 << 16, 4096]);
                &words[..6]
            }
            GETATTR if is_folder => {
                (words[4], words[19], words[20], words[24]) = (1, 0o40755, 2, 4096);
                &words[..]
            }
            _ if FORGET.contains(&operation) => continue,
            _ => &[],
        };
        let error = if words.is_empty() { -errno } else { 0 };
        let body: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let length = (16 + body.len() as u32).to_ne_bytes();
        let reply = [&length[..], &error.to_ne_bytes(), &request[8..16], &body].concat();
        let _ = device.write_all(&reply);
    }
}

#[test]
fn a_place_that_fails_hides_nothing_and_is_told_on_every_surface() {
    const COMMANDS: [&[&str]; 4] = [
        &["check", "--quick", "photos"],
        &["repair", "-n", "photos"],
        &["update", "-n", "photos"],
        &["check", "photos"],
    ];
    let says = |tree: &Tree, names: &[&str], cell: &str| {
        for command in COMMANDS {
            let outcome = tree.run(command);
            let both = [outcome.stdout(), outcome.stderr()].concat();
            let told = names.iter().all(|name| both.contains(name));
            assert!(told && outcome.status > 0, "{cell} {command:?} {}: {both}", outcome.status);
        }
        assert!(tree.run(["status", "photos"]).status > 0, "{cell}");
    };
    for (name, errno) in ERRORS {
        for (kind, replacement) in REPLACEMENTS {
            let tree = replaced(replacement);
            let Some(_far) = FailingMount::at(tree.path("photos/far"), errno, true) else {
                return skip(Need::Root, "no place that fails can be mounted");
            };
            let names = ["photos/2019/a", "photos/2019/b", "missing", "photos/far"];
            says(&tree, &names, &format!("{name}, {kind}"));
            let known = tree.run(["status", "--json", "photos"]);
            assert!(known.stdout().contains("missing"), "{name}, {kind}");
        }
        let tree = Tree::new().file("photos/2019/a", b"alpha").file("photos/2020/c", b"gamma");
        tree.run(["init", "photos"]).succeeds();
        let _mount = FailingMount::at(tree.path("photos/2019"), errno, false);
        says(&tree, &["photos/2019"], &format!("{name}, a mount that fails"));
    }
}
