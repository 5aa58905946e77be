//! A shard of a check: the files that one machine of many checks, chosen by a hash of their paths.
//!
//! Any machine finds the same files in a shard without asking the others. Knows no files.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use steadfast_digest::{Algorithm, AlgorithmHasher};
use steadfast_sys::names::NameBytes as _;

/// The most shards of a check: a merge names those that are missing.
const COUNT_MAX: u32 = 100_000;

/// One of so many shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 0.
    pub(crate) number: u32,
    /// The number of shards of the check.
    pub(crate) count: u32,
}

impl Shard {
    /// The hash of paths that assigns files to shards. Results name it, since results of two hashes
    /// would not have every file.
    pub const HASH: Algorithm = Algorithm::Xxh64;

    /// Makes shard `number` of `count`. Numbers begin at 0.
    pub fn new(number: u32, count: u32) -> Option<Shard> {
        (number < count && count <= COUNT_MAX).then_some(Shard { number, count })
    }

    /// Returns whether a file is in the shard, by its path from the root of the check.
    pub fn has(self, path: &Path) -> bool {
        let mut hasher = AlgorithmHasher::new(Shard::HASH);
        hasher.update(path.as_bytes());
        let digest = hasher.finalize();
        let hash = digest.as_bytes().iter().fold(0, |hash, byte| hash << 8 | u64::from(*byte));
        hash % u64::from(self.count) == u64::from(self.number)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(number, count)| number.parse().ok().zip(count.parse().ok()));
        numbers
            .and_then(|(number, count)| Shard::new(number, count))
            .ok_or_else(|| format!("a shard is I/N: I from 0 to N-1, and N at most {COUNT_MAX}"))
    }
}

/// Which of the files that a walk finds are in the run, and how many it found.
#[derive(Clone, Debug)]
pub(crate) struct ShardFilter {
    pub(crate) shard: Shard,
    pub(crate) found: Arc<AtomicU64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_in_one_shard_and_shards_are_of_one_size() {
        let mut sizes = [0; 7];
        for number in 0..7_000 {
            let path = format!("d{}/f{number}", number % 10);
            let of = (0..7).filter(|&shard| Shard::new(shard, 7).unwrap().has(Path::new(&path)));
            let of: Vec<u32> = of.collect();
            assert_eq!(of.len(), 1, "{path}");
            sizes[of[0] as usize] += 1;
        }
        assert!(sizes.iter().all(|size| (850..1_150).contains(size)), "{sizes:?}");
    }

    #[test]
    fn the_shard_of_a_path_never_changes() {
        // XXH64 of "a" is 0xd24e_c4f1_a98c_6e5b.
        let shards = ["a", "d/f", "photographs/2019/IMG_0042.jpg"]
            .map(|path| (0..200).find(|&n| Shard::new(n, 200).unwrap().has(Path::new(path))));
        assert_eq!(shards, [Some(155), Some(21), Some(143)]);
    }

    #[test]
    fn a_shard_is_one_of_so_many() {
        assert_eq!("3/200".parse(), Ok(Shard { number: 3, count: 200 }));
        for text in ["", "3", "3/", "3/3", "-1/3", "0/0", "1/2/3", "0/100001"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
