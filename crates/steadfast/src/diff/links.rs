//! Compares entries that are not regular files: links, pipes, sockets and devices that only one
//! side has, or that differ.
//!
//! Lists directories once more, by name beneath open ones. Opens nothing else and follows no link.
//! The walk has already reported a directory that cannot be opened, so it is skipped here.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use steadfast_sys::file::{Dir, FileKind};

use super::join::only_of;
use super::moves::WhichSide;
use super::pair::{Difference, FileSide, PathKind, PathPair};
use super::{PairReporter, Trees};
use crate::walk::Excludes;

/// Compares the entries that the walks skipped.
pub(super) fn compare(trees: &Trees, excludes: &Excludes, reporter: &mut PairReporter<'_>) {
    let (Ok(here), Ok(there)) = (Dir::open(&trees.here), Dir::open(&trees.there)) else { return };
    let device = |dir: &Dir| dir.status().map(|status| status.device).ok();
    let devices = trees.one_file_system.then(|| (device(&here), device(&there)));
    let mut stack = vec![LevelPair::list(Some(here), Some(there), PathBuf::new(), excludes)];
    while let Some(level) = stack.last_mut() {
        if reporter.stopped() {
            return;
        }
        let Some((name, (here, there))) = level.names.pop_first() else {
            stack.pop();
            continue;
        };
        let path = level.path.join(&name);
        for (side, one, other) in [(WhichSide::Here, here, there), (WhichSide::There, there, here)]
        {
            match (kind_of(one), kind_of(other)) {
                (Some(kind), Some(same)) if kind == same && side == WhichSide::Here => {
                    if kind == PathKind::Symlink && names_another(trees, &path) {
                        reporter.report(&alone(path.clone(), kind, Difference::Different));
                    }
                }
                (Some(kind), Some(same)) if kind == same => {}
                (Some(kind), _) => reporter.report(&alone(path.clone(), kind, only_of(side))),
                (None, _) => {}
            }
        }
        let inner = level.enter(&name, here, there, devices);
        if let Some((here, there)) = inner {
            stack.push(LevelPair::list(here, there, path, excludes));
        }
    }
}

/// One directory on one or both sides.
struct LevelPair {
    here: Option<Dir>,
    there: Option<Dir>,
    path: PathBuf,
    names: LevelNames,
}

/// Names that are not a regular file on at least one side, with their kinds.
type LevelNames = BTreeMap<OsString, (Option<FileKind>, Option<FileKind>)>;

type DevicePair = Option<(Option<u64>, Option<u64>)>;

impl LevelPair {
    fn list(
        here: Option<Dir>,
        there: Option<Dir>,
        path: PathBuf,
        excludes: &Excludes,
    ) -> LevelPair {
        let mut names = BTreeMap::new();
        for (side, dir) in [(WhichSide::Here, &here), (WhichSide::There, &there)] {
            let listed = dir.as_ref().map(|dir| list(dir, side, &path, excludes, &mut names));
            if matches!(listed, Some(Err(_))) {
                // If one side could not be listed, all names would look like the other's alone.
                names.clear();
                break;
            }
        }
        LevelPair { here, there, path, names }
    }

    /// Opens a directory on the sides that have it. `None` if there is none, or if a side cannot be
    /// opened: its contents are then unknown.
    fn enter(
        &self,
        name: &OsStr,
        here: Option<FileKind>,
        there: Option<FileKind>,
        devices: DevicePair,
    ) -> Option<(Option<Dir>, Option<Dir>)> {
        let open = |dir: &Option<Dir>, kind, device: Option<u64>| match (dir, kind) {
            (Some(dir), Some(FileKind::Directory)) => {
                let inner = dir.open_dir(name).ok()?;
                let other = device.is_some() && inner.status().ok().map(|s| s.device) != device;
                (!other).then_some(Some(inner))
            }
            _ => Some(None),
        };
        let (device_here, device_there) = devices.unwrap_or_default();
        let here = open(&self.here, here, device_here)?;
        let there = open(&self.there, there, device_there)?;
        (here.is_some() || there.is_some()).then_some((here, there))
    }
}

/// Adds the names of a directory that are not regular files.
fn list(
    dir: &Dir,
    side: WhichSide,
    path: &Path,
    excludes: &Excludes,
    names: &mut LevelNames,
) -> io::Result<()> {
    dir.entries(&mut |entry| {
        let looked = || dir.status_of(entry.name).map(|status| status.kind).ok();
        let kind = entry.kind.or_else(looked);
        let directory = kind == Some(FileKind::Directory);
        let passed = kind.is_none_or(|kind| kind == FileKind::Regular)
            || excludes.any() && excludes.matches(&path.join(entry.name), directory);
        if !passed {
            let kinds = names.entry(entry.name.to_owned()).or_default();
            match side {
                WhichSide::Here => kinds.0 = kind,
                WhichSide::There => kinds.1 = kind,
            }
        }
        ControlFlow::Continue(())
    })
}

fn kind_of(kind: Option<FileKind>) -> Option<PathKind> {
    match kind? {
        FileKind::Symlink => Some(PathKind::Symlink),
        FileKind::Other => Some(PathKind::Special),
        FileKind::Regular | FileKind::Directory => None,
    }
}

/// Returns whether the links at one path have different targets.
fn names_another(trees: &Trees, path: &Path) -> bool {
    let target = |root: &Path| fs::read_link(root.join(path)).ok();
    target(&trees.here) != target(&trees.there)
}

fn alone(path: PathBuf, kind: PathKind, difference: Difference) -> PathPair {
    let side = |there: bool| there.then(Box::<FileSide>::default);
    PathPair {
        here: side(difference != Difference::OnlyThere),
        there: side(difference != Difference::OnlyHere),
        ..PathPair::new(path, kind, difference)
    }
}
