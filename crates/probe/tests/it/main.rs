//! Probing: what is said of known file systems, and that nothing is left.

#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "other crates use the rest")]
#[path = "../../../steadfast/tests/it/image.rs"]
mod image;
#[allow(dead_code, reason = "other crates use the rest")]
#[path = "../../../steadfast/tests/it/tree.rs"]
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use steadfast_probe::{Direct, Group, NameUnit, Normalisation, Outcome, Probe, Time, probe};

use crate::image::{Image, Kind};
use crate::tree::Tree;

fn probed(directories: &[&Path]) -> Probe {
    let directories: Vec<PathBuf> = directories.iter().map(|path| (*path).to_owned()).collect();
    let probe = probe(&directories, &AtomicBool::new(false)).unwrap();
    for directory in &directories {
        assert_eq!(probes_left(directory), 0, "nothing is left");
    }
    probe
}

fn probes_left(directory: &Path) -> usize {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let of_probe = |name: &str| name.starts_with(".steadfast-probe");
    entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(of_probe)).count()
}

/// The outcome of an operation in the first directory.
fn outcome<'a>(probe: &'a Probe, group: Group, name: &str) -> &'a Outcome {
    let of_name = |one: &&steadfast_probe::Operation| one.group == group && one.name == name;
    &probe.operations.iter().find(of_name).unwrap_or_else(|| panic!("{name}")).outcomes[0]
}

#[test]
fn copying_and_saving_where_attributes_are_kept() {
    let tree = Tree::new();
    tree.write("bystander", "untouched");
    let probe = probed(&[tree.path()]);
    assert_eq!(probe.exit_status().code(), 0);
    assert!(probe.places[0].traits.as_ref().unwrap().attributes.is_ok());
    let copies = [
        ("cp", Outcome::Lost(Time::New)),
        ("cp -p", Outcome::Lost(Time::Kept)),
        ("cp -a", Outcome::Kept(Time::Kept)),
        ("mv", Outcome::Kept(Time::Kept)),
    ];
    for (name, expected) in copies {
        assert_eq!(*outcome(&probe, Group::Copy, name), expected, "{name}");
    }
    let saves = [
        ("bytes written in place", Outcome::Kept(Time::New)),
        ("truncated and written", Outcome::Kept(Time::New)),
        ("new file renamed over", Outcome::Lost(Time::New)),
        ("old file renamed away", Outcome::Lost(Time::New)),
    ];
    for (name, expected) in saves {
        assert_eq!(*outcome(&probe, Group::Save, name), expected, "{name}");
    }
    assert_eq!(fs::read(tree.at("bystander")).unwrap(), b"untouched");
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 1);
}

#[test]
fn a_place_that_cannot_be_probed_is_named_and_the_others_are_probed() {
    let tree = Tree::new();
    let gone = tree.at("gone");
    let probe = probed(&[&gone, tree.path()]);
    assert_eq!(probe.exit_status().code(), 2);
    assert!(probe.places[0].traits.is_err() && probe.places[1].traits.is_ok());
    assert!(probe.operations.iter().all(|one| one.outcomes[0] == Outcome::NotTried));
    assert!(probe.operations.iter().any(|one| matches!(one.outcomes[1], Outcome::Kept(_))));
}

#[test]
fn a_stop_leaves_nothing_behind() {
    let tree = Tree::new();
    let stopped = probe(&[tree.path().to_owned()], &AtomicBool::new(true)).unwrap();
    assert_eq!((stopped.exit_status().code(), stopped.operations.len()), (130, 0));
    assert_eq!(probes_left(tree.path()), 0);
}

#[test]
fn what_is_known_of_file_systems_is_found() {
    let expected: [(Kind, bool, Option<u64>, u64); 4] = [
        (image::EXT4, true, Some(0), 255),
        (image::XFS, true, Some(0), 255),
        (image::BTRFS, true, Some(0), 255),
        (image::RAMFS, false, None, 255),
    ];
    for (kind, attributes, space, name_len) in expected {
        let Some(image) = Image::make(kind) else { continue };
        let probe = probed(&[image.tree.path()]);
        let place = &probe.places[0];
        assert_eq!(place.file_system.as_deref(), Some(kind.name));
        let traits = place.traits.as_ref().unwrap();
        assert_eq!(traits.attributes.is_ok(), attributes, "{}", kind.name);
        assert_eq!(traits.tag_space_bytes, space, "{}", kind.name);
        assert_eq!(traits.name_len_max, Some(name_len), "{}", kind.name);
        assert_eq!(traits.name_unit, NameUnit::Bytes);
        assert_eq!(traits.mtime_step_ns, Some(1), "{}", kind.name);
        assert_eq!((traits.case_sensitive, traits.any_bytes), (Some(true), Some(true)));
        assert_eq!(traits.normalisation, Some(Normalisation::Distinct));
        let refused = matches!(traits.direct, Direct::Refused(_));
        assert!(!refused || kind.name == "ramfs", "{}: {:?}", kind.name, traits.direct);
        let kept = *outcome(&probe, Group::Copy, "cp -a") == Outcome::Kept(Time::Kept);
        assert_eq!(kept, attributes, "{}", kind.name);
    }
}

#[test]
fn small_inodes_make_a_tag_cost_a_block() {
    let small =
        Kind { format: &["mkfs.ext4", "-q", "-F", "-I", "128", "-b", "4096"], ..image::EXT4 };
    let Some(image) = Image::make(small) else { return };
    let probe = probed(&[image.tree.path()]);
    let traits = probe.places[0].traits.as_ref().unwrap();
    assert_eq!(traits.tag_space_bytes, Some(4096));
    assert_eq!(traits.mtime_step_ns, Some(1_000_000_000), "small inodes have no room for less");
}

#[test]
fn moves_between_file_systems_lose_tags_only_where_there_is_no_place() {
    let (Some(ext4), Some(ramfs)) = (Image::make(image::EXT4), Image::make(image::RAMFS)) else {
        return;
    };
    let tree = Tree::new();
    let probe = probed(&[tree.path(), ext4.tree.path(), ramfs.tree.path()]);
    let moved = |from: usize| {
        let of_mv = |one: &&steadfast_probe::Operation| {
            (one.group, one.name, one.from) == (Group::Between, "mv", Some(from))
        };
        &probe.operations.iter().find(of_mv).unwrap().outcomes
    };
    assert_eq!(moved(0)[0], Outcome::NotTried, "its own file system");
    assert_eq!(moved(0)[1], Outcome::Kept(Time::Kept));
    assert!(matches!(moved(0)[2], Outcome::Lost(_) | Outcome::Impossible(_)), "{:?}", moved(0));
    assert_eq!(moved(1)[0], Outcome::Kept(Time::Kept));
    let from_ramfs = probe.operations.iter().any(|one| one.from == Some(2));
    assert!(!from_ramfs, "there is no tag to begin with");
}
