//! Reads and hashes in turn in one thread, with buffers of every size.
//!
//! Simple programs work in this way. The result shows the buffer length at which calls no longer
//! cost time and the buffer still fits the cache of the processor. A run instead reads chunks ahead
//! of the hashing.

use std::cell::RefCell;
use std::rc::Rc;

use steadfast_digest::AlgorithmHasher;

use super::HashCell;
use super::files::{FileStore, Made};
use super::kernel::{backend_of_one, of_other};
use crate::error::Error;
use crate::record::{Cache, Factors, Series, Stage, Workload};
use crate::runner::{End, SeriesId, Session};

/// One buffer length.
pub(super) struct SweepCell {
    buffer_len: usize,
    /// Memory for the longest buffer, shared by all cells.
    memory: Rc<RefCell<Vec<u8>>>,
    file: Made,
    store: Rc<FileStore>,
    id: SeriesId,
    label: String,
}

impl SweepCell {
    /// Makes the cell and its series.
    pub(super) fn new(
        session: &mut Session<'_>,
        (buffer_len, memory): (usize, &Rc<RefCell<Vec<u8>>>),
        file: &Made,
        store: &Rc<FileStore>,
        seed: u64,
    ) -> SweepCell {
        let algorithm = store.algorithm;
        let backend = backend_of_one(algorithm);
        let by = of_other(algorithm);
        let label = format!("read and hash{by} by turns, buffer of {buffer_len} bytes");
        let method = "one thread reads a buffer full of a file that the page cache holds, hashes \
                      it, and reads the next; the digest is compared with that of what was written";
        let factors = Factors {
            stage: Some(Stage::ReadHash),
            algorithm: Some(algorithm.name().to_owned()),
            backend: Some(backend.to_owned()),
            lanes: Some(1),
            threads: Some(1),
            buffer_len_bytes: Some(buffer_len as u64),
            cache: Some(Cache::Warm),
            ..Factors::default()
        };
        let series = Series::new(Workload::Hash, label.as_str(), method, factors);
        let id = session.add_series_at(store.place, series.seeded(seed));
        let (file, store, memory) = (file.clone(), Rc::clone(store), Rc::clone(memory));
        SweepCell { buffer_len, memory, file, store, id, label }
    }
}

impl HashCell for SweepCell {
    fn label(&self) -> &str {
        &self.label
    }

    fn cost_s(&self) -> f64 {
        self.file.length as f64 / 1.2e9
    }

    fn measure(&mut self, session: &mut Session<'_>, round: u32) -> Result<(), End> {
        let cached = self.store.warm(&self.file)?;
        let file = self.store.open(&self.file)?;
        let mut memory = self.memory.borrow_mut();
        let buffer = &mut memory[..self.buffer_len];
        let (timed, digest) = session.time(|| {
            let mut hasher = AlgorithmHasher::new(self.store.algorithm);
            let mut offset = 0;
            loop {
                match file.read_at(buffer, offset) {
                    Ok(0) => return Ok(hasher.finalize()),
                    Ok(read) => {
                        hasher.update(&buffer[..read]);
                        offset += read as u64;
                    }
                    Err(error) => return Err(error),
                }
            }
        });
        let digest = digest.map_err(|error| Error::system("read a file", error))?;
        if digest != self.file.digest {
            return Err(Error::wrong(format!("{}: a wrong digest", self.label)).into());
        }
        let mut sample = timed.sample(round, self.file.length);
        sample.cached_bytes = cached;
        session.add_sample(self.id, sample);
        Ok(())
    }

    fn finish(&self, session: &mut Session<'_>) {
        let series = session.series_mut(self.id);
        if series.samples.iter().any(|sample| sample.cached_bytes != Some(sample.amount)) {
            series.factors.cache = Some(Cache::Unknown);
        }
    }
}
