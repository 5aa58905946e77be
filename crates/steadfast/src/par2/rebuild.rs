//! Lost blocks, computed from the recovery blocks and the blocks that are left.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::AtomicBool;

use steadfast_parity::par2::{Product, Solution};
use steadfast_sys::file::File;

use super::go_on;
use super::survey::{BlockSurvey, open};
use super::volumes::LoadedSet;
use crate::pages::Descriptor;

/// Memory for parts of lost blocks, in bytes.
const PARTS_LEN: u64 = 32 << 20;

/// The least part of each block that is computed at a time.
const PART_LEN_MIN: u64 = 4096;

/// Files of the set that are held open.
const OPEN_MAX: usize = 64;

/// Reads blocks from the files that have them.
pub(super) struct BlockReader<'a> {
    loaded: &'a LoadedSet,
    survey: &'a BlockSurvey,
    open: HashMap<usize, (File, u64)>,
}

impl<'a> BlockReader<'a> {
    pub(super) fn new(loaded: &'a LoadedSet, survey: &'a BlockSurvey) -> BlockReader<'a> {
        BlockReader { loaded, survey, open: HashMap::new() }
    }

    /// Reads bytes of a block, from a place in it on; returns false if the block is lost.
    pub(super) fn read(&mut self, block: usize, at: u64, bytes: &mut [u8]) -> io::Result<bool> {
        let Some(place) = &self.survey.places[block] else { return Ok(false) };
        let number = place.file();
        if !self.open.contains_key(&number) {
            if self.open.len() == OPEN_MAX {
                self.open.clear();
            }
            let (file, status) = open(self.loaded, number)?;
            self.open.insert(number, (file, status.length));
        }
        let (file, len_bytes) = &self.open[&number];
        place.read(&Descriptor { file, len_bytes: *len_bytes }, at, bytes)?;
        Ok(true)
    }
}

/// Takes the number of a block, a place in it, and the bytes there.
type PartSink<'a> = dyn FnMut(usize, u64, &[u8]) -> io::Result<()> + 'a;

/// Computes all lost blocks, part by part, and passes each part to `write`: the number of the lost
/// block, the place in it, and the bytes.
///
/// # Errors
/// Those of `write`; that of a block which cannot be read any more; `Interrupted` if it was
/// stopped.
pub(super) fn rebuild(
    loaded: &LoadedSet,
    survey: &BlockSurvey,
    solution: &Solution,
    stop: &AtomicBool,
    write: &mut PartSink<'_>,
) -> io::Result<()> {
    let lost = survey.lost();
    let block_len = loaded.set.block_len;
    let part_len = (PARTS_LEN / lost.len().max(1) as u64).max(PART_LEN_MIN).min(block_len) & !3;
    let mut reader = BlockReader::new(loaded, survey);
    let mut freed = vec![vec![0; part_len as usize]; lost.len()];
    let mut bytes = vec![0; part_len as usize];
    let mut at = 0;
    while at < block_len {
        let len = part_len.min(block_len - at) as usize;
        let bytes = &mut bytes[..len];
        for (recovery, freed) in solution.used().zip(&mut freed) {
            loaded.read_recovery(recovery, at, &mut freed[..len])?;
        }
        for block in 0..survey.places.len() {
            go_on(stop)?;
            if !reader.read(block, at, bytes)? {
                continue;
            }
            for (used, freed) in freed.iter_mut().enumerate() {
                Product::with(solution.factor(used, block)).add(bytes, &mut freed[..len]);
            }
        }
        for (number, block) in lost.iter().enumerate() {
            bytes.fill(0);
            for (used, freed) in freed.iter().enumerate() {
                Product::with(solution.weight(number, used)).add(&freed[..len], bytes);
            }
            write(*block, at, bytes)?;
        }
        at += len as u64;
    }
    Ok(())
}
