//! Predicts how long hashing the resources of a bundle takes, by hashing some of them.

use std::sync::Mutex;

use steadfast_sys::clock;

use super::resources::{ResourceCheck, Resources, SealedFile};
use super::tree::joined;
use crate::meter::{Meter, TRY_LEN, spread};
use crate::share::share;

/// For files shorter than this, opening takes most of the time; for longer ones, hashing.
const SMALL_LEN: u64 = 64 << 10;

/// How many small files are timed, and how many others, of which only a part is hashed.
const SMALL_TRIED: usize = 128;
const LARGE_TRIED: usize = 16;
const LARGE_TRIED_LEN: u64 = TRY_LEN / LARGE_TRIED as u64;

/// A file that was timed: its length, how much of it was hashed, and how long that took.
struct EstimatedFile {
    len_bytes: u64,
    hashed_bytes: u64,
    took_ns: u64,
}

impl ResourceCheck<'_> {
    /// Measures hashing: of all files if they are few and short, else of some.
    pub(super) fn estimate(self, jobs: &[SealedFile<'_>], meter: &Meter, found: &mut Resources) {
        let begun_ns = clock::monotonic_ns();
        let len_of = |job: &SealedFile<'_>| {
            let source = self.tree.open(&joined(self.base, &job.path));
            // A file that cannot be opened takes almost no time.
            source.map_or(0, |source| source.len_bytes())
        };
        let lens: Vec<u64> = jobs.iter().map(len_of).collect();
        if lens.iter().sum::<u64>() <= TRY_LEN && jobs.len() <= SMALL_TRIED {
            meter.tried(0, clock::monotonic_ns() - begun_ns, 0);
            self.hash(jobs, found);
            return meter.hashed(found.read_bytes);
        }
        let (small, large): (Vec<usize>, Vec<usize>) =
            (0..jobs.len()).partition(|index| lens[*index] < SMALL_LEN);
        let picked = spread(small.len(), SMALL_TRIED, 1).into_iter().map(|place| small[place]);
        let others = spread(large.len(), LARGE_TRIED, 1).into_iter().map(|place| large[place]);
        let picked: Vec<usize> = picked.chain(others).collect();
        let tried = self.try_files(jobs, &lens, &picked);
        let whole_ns = whole_ns(&lens, &tried, self.workers);
        let tried_bytes = tried.iter().map(|one| one.hashed_bytes).sum();
        meter.tried(tried_bytes, clock::monotonic_ns() - begun_ns, whole_ns);
    }

    /// Times the hashing of some files, in several threads as a check does.
    fn try_files(
        self,
        jobs: &[SealedFile<'_>],
        lens: &[u64],
        picked: &[usize],
    ) -> Vec<EstimatedFile> {
        let tried = Mutex::new(Vec::new());
        share(picked, self.workers, |index, buffer| {
            let begun_ns = clock::monotonic_ns();
            let outcome = self.hash_one(&jobs[*index], LARGE_TRIED_LEN, buffer);
            let took_ns = clock::monotonic_ns() - begun_ns;
            let hashed_bytes = outcome.map_or(0, |(_, hashed_bytes)| hashed_bytes);
            let one = EstimatedFile { len_bytes: lens[*index], hashed_bytes, took_ns };
            tried.lock().expect("no thread panics while it counts").push(one);
        });
        tried.into_inner().expect("no thread panics while it counts")
    }
}

/// Predicts from the timed files how long all files take. Only one worker at a time hashes the
/// longest file.
fn whole_ns(lens: &[u64], tried: &[EstimatedFile], workers: usize) -> u64 {
    let of = |small: bool| tried.iter().filter(move |one| (one.len_bytes < SMALL_LEN) == small);
    let took_ns = |small| of(small).map(|one| one.took_ns).sum::<u64>() as f64;
    let small_ns = took_ns(true) / of(true).count().max(1) as f64;
    let hashed_bytes: u64 = of(false).map(|one| one.hashed_bytes).sum();
    let ns_per_byte = took_ns(false) / hashed_bytes.max(1) as f64;
    let each_ns = lens.iter().map(|len| match *len < SMALL_LEN {
        true => small_ns,
        false => *len as f64 * ns_per_byte,
    });
    let longest_ns = lens.iter().max().map_or(0.0, |len| *len as f64 * ns_per_byte);
    (each_ns.sum::<f64>() / workers as f64).max(longest_ns) as u64
}

#[cfg(test)]
mod tests {
    use super::{EstimatedFile, whole_ns};

    #[test]
    fn small_files_cost_by_number_and_large_ones_by_length() {
        let tried = [
            EstimatedFile { len_bytes: 100, hashed_bytes: 100, took_ns: 1_000 },
            EstimatedFile { len_bytes: 200, hashed_bytes: 200, took_ns: 3_000 },
            EstimatedFile { len_bytes: 1 << 20, hashed_bytes: 1 << 19, took_ns: 1 << 18 },
        ];
        let lens = [100, 200, 300, 400, 1 << 20, 1 << 20, 1 << 20];
        let each_ns = 4 * 2_000 + 3 * (1 << 19);
        assert_eq!(whole_ns(&lens, &tried, 1), each_ns);
        assert_eq!(whole_ns(&lens, &tried, 2), each_ns / 2);
        // The longest file is left to one of many.
        assert_eq!(whole_ns(&lens, &tried, 16), 1 << 19);
        assert_eq!(whole_ns(&[], &[], 2), 0);
    }
}
