//! File systems made for one test: an image on a loop device, or one in memory, mounted on the
//! folder of a [`Tree`] and gone with it, also when the test panics.
//!
//! In: a [`Kind`]. Out: a tree on that file system, and the bytes beneath it. Needs root
//! and the file system's tools; where they are missing the test is skipped.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use steadfast_testing::{Need, skip};
use tempfile::TempDir;

use crate::tree::Tree;

/// Bytes of a block: data of files begins at multiples of it on every file system here.
pub(crate) const BLOCK_LEN: usize = 4096;

/// A file system and how it is made and mounted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The command that makes it and its arguments; none for one that lives in memory.
    pub(crate) format: &'static [&'static str],
    /// Mount options.
    pub(crate) options: &'static str,
    /// Length of the image, which is sparse.
    pub(crate) size_bytes: u64,
}

/// As it is made by default on anything above 512 MiB, on an image that is sooner searched.
pub(crate) const EXT4: Kind = Kind {
    name: "ext4",
    format: &["mkfs.ext4", "-q", "-F", "-I", "256", "-b", "4096"],
    options: "rw",
    size_bytes: 128 << 20,
};

pub(crate) const BTRFS: Kind = Kind {
    name: "btrfs",
    format: &["mkfs.btrfs", "-q", "-f"],
    options: "rw",
    size_bytes: 256 << 20,
};

pub(crate) const XFS: Kind =
    Kind { name: "xfs", format: &["mkfs.xfs", "-q", "-f"], options: "rw", size_bytes: 320 << 20 };

pub(crate) const TMPFS: Kind =
    Kind { name: "tmpfs", format: &[], options: "size=128m", size_bytes: 0 };

/// Keeps no extended attributes.
pub(crate) const RAMFS: Kind = Kind { name: "ramfs", ..TMPFS };

/// What becomes of a journal when the power is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Log {
    /// What was not yet written is gone.
    Lost,
    /// It was just written.
    Written,
}

/// A mounted file system of its own.
pub(crate) struct Image {
    // In the order in which they must go.
    mount: Option<Mount>,
    device: Option<Device>,
    /// The folder that is mounted on, with its builder.
    pub(crate) tree: Tree,
    backing: TempDir,
    kind: Kind,
}

impl Image {
    /// Makes and mounts one; records a skip and returns `None` where that cannot be done.
    ///
    /// # Panics
    /// Instead of `None`, if the environment requires these tests.
    pub(crate) fn make(kind: Kind) -> Option<Image> {
        let made =
            if is_root() { Image::try_make(kind) } else { Err("only root mounts".to_owned()) };
        match made {
            Ok(image) => Some(image),
            Err(why) => {
                skip(Need::Root, format_args!("{} on a loop device: {why}", kind.name));
                None
            }
        }
    }

    fn try_make(kind: Kind) -> Result<Image, String> {
        let tree = Tree::new();
        let backing = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut image = Image { mount: None, device: None, tree, backing, kind };
        if let [program, arguments @ ..] = kind.format {
            let path = image.backing_path();
            fs::File::create(&path).unwrap().set_len(kind.size_bytes).unwrap();
            command(Command::new(program).args(arguments).arg(path))?;
        }
        image.try_mount()?;
        Ok(image)
    }

    /// The file that stands for the medium.
    fn backing_path(&self) -> PathBuf {
        self.backing.path().join("image")
    }

    fn try_mount(&mut self) -> Result<(), String> {
        assert!(self.mount.is_none(), "mounted already");
        let source = if self.kind.format.is_empty() {
            PathBuf::from("none")
        } else {
            self.device.insert(Device::attach(&self.backing_path())?).path.clone()
        };
        let arguments = ["-t", self.kind.name, "-o", self.kind.options];
        self.mount = Some(Mount::new(&arguments, &source, self.tree.path())?);
        Ok(())
    }

    /// Mounts it again: nothing of it is in the page cache then.
    pub(crate) fn mount(&mut self) {
        self.try_mount().unwrap();
    }

    /// Unmounts it, which writes everything out and empties the page cache of it.
    pub(crate) fn unmount(&mut self) {
        self.mount.take().expect("it is mounted").unmount().unwrap();
        self.device = None;
    }

    /// Stops it as a loss of power would, and mounts it again; `log` is what becomes of the journal
    /// that is still in memory. Records a skip and returns false where that cannot be done.
    ///
    /// # Panics
    /// Instead of false, if the environment requires these tests.
    pub(crate) fn crash(&mut self, log: Log) -> bool {
        let shutdown = match log {
            Log::Lost => "shutdown",
            Log::Written => "shutdown -f",
        };
        let mut stop = Command::new("xfs_io");
        if let Err(why) = command(stop.args(["-x", "-c", shutdown]).arg(self.tree.path())) {
            skip(Need::Root, format_args!("xfs_io cannot stop the file system: {why}"));
            return false;
        }
        self.unmount();
        self.mount();
        true
    }

    /// Cuts the power: what the file system had not yet sent to the medium is gone. It is then
    /// mounted again.
    pub(crate) fn cut(&mut self) {
        let kept = self.backing.path().join("cut");
        fs::copy(self.backing_path(), &kept).unwrap();
        self.unmount();
        fs::rename(&kept, self.backing_path()).unwrap();
        self.mount();
    }

    /// Fills it until not a byte is free, and returns the file that takes the room.
    pub(crate) fn fill(&self) -> PathBuf {
        let path = self.tree.at("filler");
        let mut filler = fs::File::create(&path).unwrap();
        for len in [1 << 20, BLOCK_LEN, 1] {
            let piece = vec![1; len];
            while filler.write_all(&piece).and_then(|()| filler.sync_data()).is_ok() {}
        }
        path
    }

    /// Changes mount options in place, as in `remount,ro`.
    pub(crate) fn remount(&self, options: &str) {
        command(Command::new("mount").args(["-o", options]).arg(self.tree.path())).unwrap();
    }

    /// Writes everything out.
    pub(crate) fn sync(&self) {
        command(Command::new("sync").arg("-f").arg(self.tree.path())).unwrap();
    }

    /// Returns how many blocks are free, those kept for root included.
    pub(crate) fn free_blocks(&self) -> u64 {
        let said = command(Command::new("stat").args(["-f", "-c", "%f"]).arg(self.tree.path()));
        said.unwrap().trim().parse().unwrap()
    }

    /// Finds where in the image each marker is.
    ///
    /// Shape: a marker begins at a multiple of `step` bytes within a block and ends within it.
    ///
    /// # Panics
    /// If one is not there exactly once: flipping it would then prove nothing.
    pub(crate) fn locate(&self, markers: &[Vec<u8>], step: usize) -> Vec<u64> {
        const HEAD_LEN: usize = 16;
        let heads: HashMap<&[u8], usize> = markers
            .iter()
            .enumerate()
            .map(|(index, marker)| (&marker[..HEAD_LEN], index))
            .collect();
        assert_eq!(heads.len(), markers.len(), "the markers' heads differ");
        let mut places = vec![Vec::new(); markers.len()];
        let image = fs::File::open(self.backing_path()).unwrap();
        let mut piece = vec![0; 256 * BLOCK_LEN];
        let mut start = 0;
        loop {
            let len = image.read_at(&mut piece, start).unwrap();
            if len == 0 {
                break;
            }
            assert_eq!(len % BLOCK_LEN, 0, "images are whole blocks, and so is every read");
            for (number, block) in piece[..len].chunks_exact(BLOCK_LEN).enumerate() {
                if block == [0; BLOCK_LEN] {
                    continue;
                }
                for at in (0..=BLOCK_LEN - HEAD_LEN).step_by(step) {
                    if let Some(&index) = heads.get(&block[at..at + HEAD_LEN])
                        && block[at..].starts_with(&markers[index])
                    {
                        places[index].push(start + (number * BLOCK_LEN + at) as u64);
                    }
                }
            }
            start += len as u64;
        }
        let only = |(index, found): (usize, Vec<u64>)| match found[..] {
            [place] => place,
            _ => panic!("marker {index} is in the image {} times", found.len()),
        };
        places.into_iter().enumerate().map(only).collect()
    }

    /// Flips one bit of the medium, behind the file system's back.
    pub(crate) fn flip(&self, place: u64, bit: u8) {
        let image = fs::File::options().read(true).write(true).open(self.backing_path()).unwrap();
        let mut byte = [0];
        image.read_exact_at(&mut byte, place).unwrap();
        byte[0] ^= 1 << bit;
        image.write_all_at(&byte, place).unwrap();
        image.sync_all().unwrap();
    }
}

impl Image {
    /// Changes bytes of the medium wherever a block has them, and returns how often that was.
    pub(crate) fn change(&self, from: &[u8], to: &[u8]) -> usize {
        let bytes = fs::read(self.backing_path()).unwrap();
        let image = fs::File::options().write(true).open(self.backing_path()).unwrap();
        let mut count = 0;
        for (block, bytes) in bytes.chunks(BLOCK_LEN).enumerate() {
            // Most of them are holes, which are compared quickly.
            let is_hole = *bytes == [0; BLOCK_LEN][..bytes.len()];
            if is_hole {
                continue;
            }
            let found = bytes.windows(from.len()).enumerate();
            for (at, _) in found.filter(|(_, window)| *window == from) {
                image.write_all_at(to, (block * BLOCK_LEN + at) as u64).unwrap();
                count += 1;
            }
        }
        image.sync_all().unwrap();
        count
    }
}

/// A loop device, detached when dropped.
struct Device {
    path: PathBuf,
}

impl Device {
    fn attach(file: &Path) -> Result<Device, String> {
        // Finding a free one and taking it are two steps: another test may be quicker.
        let attach = || command(Command::new("losetup").args(["--find", "--show"]).arg(file));
        let said = attach().or_else(|_| attach()).or_else(|_| attach())?;
        Ok(Device { path: said.trim().into() })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if let Err(why) = command(Command::new("losetup").arg("-d").arg(&self.path)) {
            say(&format!("LEFT BEHIND: {}: {why}", self.path.display()));
        }
    }
}

/// Something mounted on a folder, unmounted when dropped.
pub(crate) struct Mount {
    at: PathBuf,
    mounted: bool,
}

impl Mount {
    fn new(arguments: &[&str], source: &Path, at: &Path) -> Result<Mount, String> {
        command(Command::new("mount").args(arguments).arg(source).arg(at))?;
        Ok(Mount { at: at.to_owned(), mounted: true })
    }

    /// Shows a folder at a second place.
    pub(crate) fn bind(folder: &Path, at: &Path) -> Mount {
        Mount::new(&["--bind"], folder, at).unwrap()
    }

    /// Mounts an empty file system in memory.
    pub(crate) fn tmpfs(at: &Path) -> Mount {
        Mount::new(&["-t", "tmpfs"], Path::new("none"), at).unwrap()
    }

    /// Mounts an empty file system without attributes.
    pub(crate) fn ramfs(at: &Path) -> Mount {
        Mount::new(&["-t", "ramfs"], Path::new("none"), at).unwrap()
    }

    fn unmount(mut self) -> Result<(), String> {
        let outcome = self.try_unmount();
        self.mounted = outcome.is_err();
        outcome
    }

    fn try_unmount(&self) -> Result<(), String> {
        let attempt = || command(Command::new("umount").arg(&self.at));
        // A process that another test is about to start holds, for an instant, copies of all
        // descriptors that were open when it was born.
        let mut outcome = attempt();
        for _ in 0..20 {
            match &outcome {
                Err(why) if why.contains("busy") => outcome = attempt(),
                _ => break,
            }
        }
        outcome.map(drop)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if !self.mounted {
            return;
        }
        let lazily = |_| command(Command::new("umount").arg("-l").arg(&self.at)).map(drop);
        if let Err(why) = self.try_unmount().or_else(lazily) {
            say(&format!("LEFT BEHIND: {}: {why}", self.at.display()));
        }
    }
}

/// Runs a command; returns what it printed, or what it complained of.
pub(crate) fn command(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.env("LC_ALL", "C").output().map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Writes past the test harness, which swallows what passing tests print.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
