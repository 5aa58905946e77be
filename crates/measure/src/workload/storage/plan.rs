//! Plans which files are written and read: their lengths and order, from a profile and a seed.
//!
//! The same seed always gives the same plan. The standard follows published reviews: 16 lengths
//! from 2 MB to 2 GB, ten times, each time in another order. With a fixed order, effects of the
//! previous file would look like effects of the length.

use std::time::Duration;

use strum::IntoStaticStr;

use crate::error::Error;
use crate::random::Random;

/// A megabyte in decimal units, as used for disks.
const MB: u64 = 1_000_000;

/// Lengths of the standard set: 5.33 GB.
///
/// Source: the protocol of H. Oakley's Stibium, which names the range, the number of lengths and
/// the total; these are the only round numbers that fit all three.
const STANDARD_MB: [u64; 16] =
    [2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400, 600, 800, 1000, 2000];

/// Bounds of random lengths, in bytes.
const DRAWN_BYTES: (u64, u64) = (2 * MB, 2000 * MB);

/// Allowed numbers of random lengths in a set.
const DRAWN_COUNT: std::ops::RangeInclusive<u32> = 5..=100;

/// Lengths in the range of small files, in bytes: 4 kB, doubled up to 2 MB.
const SMALL_BYTES: [u64; 10] =
    [4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000, 2_000_000];

/// Least length of a single file that a cache in a disk cannot hide, in bytes.
const SINGLE_STANDARD_BYTES: u64 = 10_000 * MB;

/// The lengths of a set.
#[derive(Clone, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Profile {
    /// 16 lengths from 2 MB to 2 GB: 5.33 GB.
    Standard,
    /// The first 12 of them, up to 400 MB: 930 MB.
    Medium,
    /// The first 10, up to 100 MB: 330 MB.
    Small,
    /// The first 7, up to 40 MB: 90 MB.
    Quick,
    /// One file of each of these lengths in bytes.
    Single(Vec<u64>),
    /// This many files of random lengths between 2 MB and 2 GB, each doubling equally likely.
    Random(u32),
    /// 10 lengths from 4 kB to 2 MB, ten files of each: 40.4 MB. Often served from memory instead
    /// of the disk.
    SmallFiles,
}

impl Profile {
    /// Returns the name, as on the command line.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Returns the default number of sets.
    pub const fn sets(&self) -> u32 {
        match self {
            Profile::Standard | Profile::Medium | Profile::Small => 10,
            Profile::Quick | Profile::SmallFiles | Profile::Random(_) => 5,
            Profile::Single(_) => 3,
        }
    }

    /// Returns the lengths of a set in rising order, each once. The seed draws random ones.
    pub fn lens_bytes(&self, seed: u64) -> Vec<u64> {
        let mut lengths = self.lengths(&mut Random::new(seed));
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }

    /// Returns the lengths of one set, in rising order unless they are random.
    fn lengths(&self, random: &mut Random) -> Vec<u64> {
        let first = |count: usize| STANDARD_MB[..count].iter().map(|mb| mb * MB).collect();
        match self {
            Profile::Standard => first(16),
            Profile::Medium => first(12),
            Profile::Small => first(10),
            Profile::Quick => first(7),
            Profile::Single(lengths) => lengths.clone(),
            Profile::Random(count) => {
                let (low, high) = DRAWN_BYTES;
                (0..*count).map(|_| random.log_uniform(low as f64, high as f64) as u64).collect()
            }
            Profile::SmallFiles => SMALL_BYTES.iter().flat_map(|&length| [length; 10]).collect(),
        }
    }
}

/// What to write and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Which lengths a set has.
    pub profile: Profile,
    /// How often a set is written, each time in another order.
    pub sets: u32,
    /// The seed of lengths, orders and contents.
    pub seed: u64,
    /// Pause between two sets, in which a disk can empty its caches.
    pub pause: Duration,
    /// Whether each file is flushed to the medium within its time.
    pub sync: bool,
}

/// One file of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// Its number, from 0 in the order of writing.
    pub number: u32,
    /// Its set, from 0.
    pub set: u32,
    /// Its length in bytes.
    pub length: u64,
}

impl Plan {
    /// Makes a plan with as many sets as the profile has, without pauses, flushing each file.
    pub fn new(profile: Profile, seed: u64) -> Plan {
        Plan { sets: profile.sets(), profile, seed, pause: Duration::ZERO, sync: true }
    }

    /// Checks the options.
    ///
    /// # Errors
    ///
    /// If there is nothing to write, or a number is out of its bounds.
    pub fn check(&self) -> Result<(), Error> {
        let (least, most) = (DRAWN_COUNT.start(), DRAWN_COUNT.end());
        match &self.profile {
            _ if self.sets == 0 => Err(Error::usage("no sets, nothing to measure")),
            _ if self.sets > 1000 => Err(Error::usage("no more than 1000 sets")),
            Profile::Random(count) if !DRAWN_COUNT.contains(count) => Err(Error::usage(format!(
                "a set has from {least} to {most} files of drawn lengths"
            ))),
            Profile::Single(lengths) if lengths.is_empty() || lengths.contains(&0) => {
                Err(Error::usage("a file without bytes takes no time"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the files in the order of writing.
    pub fn files(&self) -> Vec<PlannedFile> {
        let mut random = Random::new(self.seed);
        let mut files = Vec::new();
        for set in 0..self.sets {
            let mut lengths = self.profile.lengths(&mut random);
            random.shuffle(&mut lengths);
            for length in lengths {
                let number = u32::try_from(files.len()).expect("a plan has few files");
                files.push(PlannedFile { number, set, length });
            }
        }
        files
    }

    /// Returns the bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files().iter().map(|file| file.length).sum()
    }

    /// Explains why figures of this plan are not comparable with standard ones, if so.
    pub fn departs(&self) -> Option<String> {
        let profile = &self.profile;
        let name = profile.name();
        match profile {
            Profile::Standard if self.sets == profile.sets() && self.sync => None,
            Profile::Single(lengths) if least(lengths) >= SINGLE_STANDARD_BYTES && self.sync => {
                None
            }
            Profile::Single(lengths) if least(lengths) < SINGLE_STANDARD_BYTES => {
                let length = least(lengths) / MB;
                Some(format!("not standard: a single file of {length} MB fits caches of disks"))
            }
            _ if !self.sync => {
                Some("not standard: files are not flushed, so memory takes what it can".to_owned())
            }
            Profile::Standard => {
                let (sets, standard) = (self.sets, profile.sets());
                Some(format!("not standard: {sets} sets and not {standard}"))
            }
            _ => Some(format!("not standard: the profile `{name}`")),
        }
    }

    /// Describes in a sentence what is written.
    pub fn described(&self) -> String {
        let files = self.files();
        let (sets, megabytes) = (self.sets, self.bytes() / MB);
        let lengths = || files.iter().map(|file| file.length);
        let shortest = length_text(lengths().min().unwrap_or(0));
        let most = length_text(lengths().max().unwrap_or(0));
        let count = files.len();
        let drawn = match self.profile {
            Profile::Random(_) => "lengths drawn, every doubling as likely",
            _ => "the same lengths in each",
        };
        let mut text = match count {
            1 => format!("1 file of {most}"),
            _ => format!(
                "{count} files from {shortest} to {most}, {megabytes} MB in {sets} sets, {drawn}, \
                 their order drawn anew for each set"
            ),
        };
        if !self.pause.is_zero() {
            text += &format!("; {} s of rest between sets", self.pause.as_secs_f64());
        }
        if let Some(why) = self.departs() {
            text += &format!("; {why}");
        }
        text
    }
}

/// Returns the least of some lengths; 0 if there are none.
fn least(lengths: &[u64]) -> u64 {
    lengths.iter().copied().min().unwrap_or(0)
}

fn length_text(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes / 1000),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / MB),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_is_160_files_of_53_gigabytes() {
        let plan = Plan::new(Profile::Standard, 1);
        let files = plan.files();
        assert_eq!(files.len(), 160);
        assert_eq!(plan.bytes(), 53_300 * MB);
        assert_eq!(plan.departs(), None);
        let set = |number: u32| {
            files.iter().filter(move |file| file.set == number).map(|file| file.length)
        };
        let sorted = |number| {
            let mut lengths: Vec<u64> = set(number).collect();
            lengths.sort_unstable();
            lengths
        };
        assert!((1..10).all(|number| sorted(number) == sorted(0)));
        let orders: std::collections::HashSet<Vec<u64>> =
            (0..10).map(|number| set(number).collect()).collect();
        assert_eq!(orders.len(), 10, "an order came twice");
    }

    #[test]
    fn the_seed_of_a_record_gives_its_order_for_ever() {
        let plan = Plan::new(Profile::Quick, 42);
        let megabytes: Vec<u64> =
            plan.files().iter().take(7).map(|file| file.length / MB).collect();
        assert_eq!(megabytes, QUICK_42);
        assert_eq!(plan.files(), Plan::new(Profile::Quick, 42).files());
        assert_ne!(plan.files(), Plan::new(Profile::Quick, 43).files());
    }

    /// The lengths that this generator drew when the format was published.
    const QUICK_42: [u64; 7] = [2, 40, 8, 6, 10, 4, 20];

    #[test]
    fn drawn_lengths_stay_in_their_bounds() {
        let files = Plan::new(Profile::Random(70), 3).files();
        assert_eq!(files.len(), 350);
        assert!(files.iter().all(|file| (2 * MB..=2000 * MB).contains(&file.length)));
        let short = files.iter().filter(|file| file.length < 63 * MB).count();
        assert!((120..230).contains(&short), "half the doublings lie below 63 MB: {short}");
        for count in [4, 101] {
            assert!(Plan::new(Profile::Random(count), 3).check().is_err(), "{count}");
        }
    }

    #[test]
    fn whatever_is_not_the_standard_says_so() {
        for profile in [
            Profile::Medium,
            Profile::Small,
            Profile::Quick,
            Profile::SmallFiles,
            Profile::Random(5),
            Profile::Single(vec![MB]),
        ] {
            let plan = Plan::new(profile, 1);
            assert!(plan.departs().is_some(), "{:?}", plan.profile);
            assert!(plan.described().contains("not standard"), "{}", plan.described());
        }
        let few = Plan { sets: 2, ..Plan::new(Profile::Standard, 1) };
        assert!(few.departs().unwrap().contains("2 sets"));
        let unsynced = Plan { sync: false, ..Plan::new(Profile::Standard, 1) };
        assert!(unsynced.departs().unwrap().contains("not flushed"));
        assert_eq!(Plan::new(Profile::Single(vec![10_000 * MB]), 1).departs(), None);
    }
}
