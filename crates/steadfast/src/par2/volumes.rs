//! The PAR2 files of a set: their packets, each proved by its digest before it is used.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use steadfast_parity::par2::{PACKET_HEADER_LEN, PacketHeader, PacketKind, Par2Packets, Par2Set};
use steadfast_sys::file::{Dir, File, FileKind};
use steadfast_sys::source::ReadAt as _;

use super::ranges::{HashedPart, digests};
use crate::error::Error;
use crate::pages::Descriptor;
use crate::tree_folder::is_within_ours;

/// PAR2 files of a set that are read; a set has some ten.
const VOLUMES_MAX: usize = 1000;

/// Packets that are hashed together, and bytes in which a next packet is searched for at a time.
const BATCH: usize = 1024;
const SEARCH_LEN: usize = 64 << 10;

/// Exponents of recovery blocks that are kept; a set has at most so many.
const RECOVERY_MAX: usize = 65_536;

/// Bytes of a recovery packet before its block: the header and the exponent.
const BLOCK_AT: u64 = PACKET_HEADER_LEN as u64 + 4;

/// Where a recovery block is.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecoveryBlock {
    pub(super) exponent: u32,
    volume: usize,
    offset: u64,
    length: u64,
}

/// A set, and the PAR2 files that it was read from.
pub(super) struct LoadedSet {
    /// The folder of the set as the user wrote it.
    pub(super) folder: PathBuf,
    pub(super) set: Par2Set,
    /// Whole recovery blocks, of different exponents.
    pub(super) recovery: Vec<RecoveryBlock>,
    pub(super) damaged_packets: u64,
    /// The PAR2 files with packets of the set alone, as the user would write them.
    pub(super) paths: Vec<PathBuf>,
    /// Files that may have blocks under other names.
    pub(super) others: Vec<PathBuf>,
    volumes: Vec<Par2Volume>,
}

struct Par2Volume {
    file: File,
    length: u64,
}

impl Par2Volume {
    fn source(&self) -> Descriptor<'_> {
        Descriptor { file: &self.file, len_bytes: self.length }
    }
}

impl LoadedSet {
    /// Reads the set of a PAR2 file, from it and from those beside it whose names begin as its
    /// does.
    ///
    /// # Errors
    /// If the file cannot be opened, or the packets that are left make no set.
    pub(super) fn load(
        path: &Path,
        others: &[PathBuf],
        stop: &AtomicBool,
    ) -> Result<LoadedSet, Error> {
        let failed = |error| Error::system("read it", error).at(path);
        for other in others {
            let opened = File::open(other).and_then(|file| file.status());
            let status = opened.map_err(|error| Error::system("open it", error).at(other))?;
            if status.kind != FileKind::Regular {
                return Err(Error::usage("blocks are searched for in regular files").at(other));
            }
        }
        let (dir, name) = Dir::parent_of(path).map_err(failed)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        let mut loader = Loader {
            stop,
            set: None,
            packets: Par2Packets::default(),
            recovery: BTreeMap::new(),
            damaged: 0,
            has_others: false,
        };
        let (mut volumes, mut paths) = (vec![open(&dir, &name).map_err(failed)?], Vec::new());
        let mut names = vec![name.clone()];
        for other in beside(&dir, &name).map_err(failed)? {
            // One that cannot be opened gives nothing.
            if let Ok(volume) = open(&dir, &other) {
                volumes.push(volume);
                names.push(other);
            }
        }
        for ((number, volume), name) in volumes.iter().enumerate().zip(names) {
            loader.has_others = false;
            match loader.scan(number, volume) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    return Err(failed(error));
                }
                // What was read before the place that cannot be read counts.
                Err(_) => loader.damaged += 1,
                Ok(()) if loader.has_others => {}
                Ok(()) => paths.push(path.with_file_name(name)),
            }
        }
        let Some(id) = loader.set else {
            return Err(Error::usage("it has no whole PAR2 packet").at(path));
        };
        let set =
            loader.packets.finish(&id).map_err(|error| Error::usage(error.to_string()).at(path))?;
        if set.files.iter().any(|file| is_within_ours(&file.path)) {
            return Err(Error::usage("the PAR2 set has files of a catalogue").at(path));
        }
        let length = BLOCK_AT.saturating_add(set.block_len);
        let recovery = loader.recovery.into_values().filter(|block| block.length == length);
        let recovery = recovery.collect();
        let (damaged_packets, others) = (loader.damaged, others.to_vec());
        Ok(LoadedSet { folder, set, recovery, damaged_packets, paths, others, volumes })
    }

    /// Reads bytes of a recovery block, from a place in it on.
    pub(super) fn read_recovery(&self, block: usize, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let block = self.recovery[block];
        self.volumes[block.volume].source().read_exact_at(bytes, block.offset + at)
    }
}

fn open(dir: &Dir, name: &OsStr) -> io::Result<Par2Volume> {
    let file = dir.open_file(name)?;
    let status = file.status()?;
    match status.kind {
        FileKind::Regular => Ok(Par2Volume { file, length: status.length }),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// Returns the names of other PAR2 files of the same set, in order: `photos.par2` and
/// `photos.vol003+04.par2` both begin with `photos`.
fn beside(dir: &Dir, name: &OsStr) -> io::Result<Vec<OsString>> {
    let is_par2 = |name: &[u8]| name.to_ascii_lowercase().ends_with(b".par2");
    let own = name.as_encoded_bytes();
    let stem = &own[..own.len() - if is_par2(own) { 5 } else { 0 }];
    let volume = stem.windows(4).rposition(|part| part.eq_ignore_ascii_case(b".vol"));
    let stem = &stem[..volume.unwrap_or(stem.len())];
    let mut names = Vec::new();
    dir.entries(&mut |entry| {
        let bytes = entry.name.as_encoded_bytes();
        let is_more = bytes.strip_prefix(stem).is_some_and(|rest| rest.starts_with(b"."));
        if is_more && is_par2(bytes) && entry.name != name {
            names.push(entry.name.to_owned());
        }
        match names.len() < VOLUMES_MAX {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    names.sort();
    Ok(names)
}

/// Reads packets.
struct Loader<'a> {
    stop: &'a AtomicBool,
    /// The set of the first whole packet; others are left out.
    set: Option<[u8; 16]>,
    packets: Par2Packets,
    recovery: BTreeMap<u32, RecoveryBlock>,
    damaged: u64,
    /// Whether the file that is read has packets of another set.
    has_others: bool,
}

impl Loader<'_> {
    /// Reads all packets of a file. Behind a damaged one, the next is searched for.
    fn scan(&mut self, number: usize, volume: &Par2Volume) -> io::Result<()> {
        let whole = 0..volume.length;
        let mut ranges = vec![whole];
        // A hostile file can claim packets within packets; each is hashed.
        let mut budget = volume.length.saturating_mul(4).saturating_add(1 << 20);
        while let Some(mut range) = ranges.pop() {
            let batch = self.batch(volume, &mut range)?;
            if !range.is_empty() {
                ranges.push(range);
            }
            let parts: Vec<HashedPart> =
                batch.iter().map(|(at, header)| covered(*at, header)).collect();
            let hashed = parts.iter().map(|part| part.len).sum();
            let Some(left) = budget.checked_sub(hashed) else {
                self.damaged += 1;
                return Ok(());
            };
            budget = left;
            for ((at, header), digest) in
                batch.iter().zip(digests(&volume.source(), &parts, self.stop)?)
            {
                match digest == Some(header.digest) {
                    true => self.add_packet(number, volume, *at, header)?,
                    false => {
                        self.damaged += 1;
                        ranges.push(at + 1..at + header.length);
                    }
                }
            }
        }
        Ok(())
    }

    /// Finds the next packets in a range, which then begins behind them.
    fn batch(
        &self,
        volume: &Par2Volume,
        range: &mut Range<u64>,
    ) -> io::Result<Vec<(u64, PacketHeader)>> {
        let mut batch = Vec::new();
        while batch.len() < BATCH && !range.is_empty() {
            super::go_on(self.stop)?;
            let Some(at) = next_packet(volume, range)? else {
                range.start = range.end;
                break;
            };
            let mut bytes = [0; PACKET_HEADER_LEN];
            let is_there = range.end - at >= bytes.len() as u64;
            if is_there {
                volume.source().read_exact_at(&mut bytes, at)?;
            }
            let header = PacketHeader::parse(&bytes).filter(|_| is_there);
            range.start = match header.filter(|header| header.length <= range.end - at) {
                Some(header) => {
                    batch.push((at, header));
                    at + header.length
                }
                None => at + 1,
            };
        }
        Ok(batch)
    }

    /// Takes a packet that is whole.
    fn add_packet(
        &mut self,
        number: usize,
        volume: &Par2Volume,
        at: u64,
        header: &PacketHeader,
    ) -> io::Result<()> {
        if *self.set.get_or_insert(header.set) != header.set {
            self.has_others = true;
            return Ok(());
        }
        let body_len = header.length - PACKET_HEADER_LEN as u64;
        if header.kind == PacketKind::Recovery && body_len >= 4 {
            let mut exponent = [0; 4];
            volume.source().read_exact_at(&mut exponent, at + PACKET_HEADER_LEN as u64)?;
            let exponent = u32::from_le_bytes(exponent);
            if self.recovery.len() < RECOVERY_MAX {
                let block = RecoveryBlock {
                    exponent,
                    volume: number,
                    offset: at + BLOCK_AT,
                    length: header.length,
                };
                self.recovery.insert(exponent, block);
            }
        } else if body_len <= Par2Packets::body_len_max(header.kind) {
            let mut body = vec![0; body_len as usize];
            volume.source().read_exact_at(&mut body, at + PACKET_HEADER_LEN as u64)?;
            self.packets.add(header.kind, &body).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

/// Returns what the digest of a packet covers.
fn covered(at: u64, header: &PacketHeader) -> HashedPart {
    let from = PacketHeader::COVERED_FROM;
    HashedPart::whole(at + from, header.length - from)
}

/// Returns where the next packet may begin.
fn next_packet(volume: &Par2Volume, range: &Range<u64>) -> io::Result<Option<u64>> {
    let mut at = range.start;
    // Most packets follow each other.
    let mut len = PACKET_HEADER_LEN;
    while at < range.end {
        let mut bytes = vec![0; (range.end - at).min(len as u64) as usize];
        volume.source().read_exact_at(&mut bytes, at)?;
        if let Some(found) = PacketHeader::find(&bytes) {
            return Ok(Some(at + found as u64));
        }
        // A packet may begin in the last bytes.
        at += bytes.len().saturating_sub(7).max(1) as u64;
        len = SEARCH_LEN;
    }
    Ok(None)
}
