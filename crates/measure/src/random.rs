//! Reproducible random numbers, orders and bytes from a seed.
//!
//! The generator is written here because a library may change its algorithm, and the seed in an old
//! record must still give the same order. It is fast and uniform, and not for secrets.

/// A generator of uniform pseudo-random numbers: xoshiro256++ 1.0, its state filled by SplitMix64.
///
/// Results that consist of whole numbers (orders, lengths below a bound, bytes) are the same on
/// every machine. Results that use a logarithm or an exponential may differ in the last bit between
/// systems.
///
/// Source: D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", ACM
/// Transactions on Mathematical Software 47 (2021), number 4; <https://prng.di.unimi.it>.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// Name of the algorithm. Records keep it beside the seed.
    pub const NAME: &'static str = "xoshiro256++";

    /// Returns the generator of a seed. Every seed is valid.
    pub fn new(seed: u64) -> Random {
        let mut walk = seed;
        Random { state: std::array::from_fn(|_| split_mix(&mut walk)) }
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let drawn = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        drawn
    }

    /// Returns a uniform whole number below `bound`.
    ///
    /// Source: D. Lemire, "Fast random integer generation in an interval", ACM Transactions on
    /// Modeling and Computer Simulation 29 (2019), number 1.
    ///
    /// # Panics
    ///
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        // These lowest products would make some numbers more likely than others.
        let uneven = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= uneven {
                return (product >> 64) as u64;
            }
        }
    }

    /// Returns a uniform number from 0 up to, but not including, 1, in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a uniform number from `low` to `high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Returns a number from `low` to `high` whose logarithm is uniform: each doubling is equally
    /// likely. Both bounds must be positive.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low.ln(), high.ln()).exp().clamp(low, high)
    }

    /// Returns a normal number of mean 0 and standard deviation 1.
    ///
    /// Source: G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates",
    /// Annals of Mathematical Statistics 29 (1958), number 2.
    pub fn normal(&mut self) -> f64 {
        // Subtracted from 1, because the logarithm of 0 has no value.
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Shuffles: every order is equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            things.swap(last, other);
        }
    }

    /// Fills the slice with bytes that no file system can compress or deduplicate.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.next_u64().to_le_bytes()[..part.len()]);
        }
    }
}

/// Returns the next number of SplitMix64, which gives different states for similar seeds.
fn split_mix(walk: &mut u64) -> u64 {
    *walk = walk.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *walk;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generators_are_the_published_ones() {
        // From the authors' C programs.
        let mut walk = 1_234_567;
        let drawn: [u64; 3] = std::array::from_fn(|_| split_mix(&mut walk));
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
        let mut random = Random { state: [0, 0, 0, 1] };
        let drawn: [u64; 10] = std::array::from_fn(|_| random.next_u64());
        assert_eq!(
            drawn,
            [
                0x0000_0000_0080_0000,
                0x0000_0000_0080_0011,
                0x0002_2000_0080_0011,
                0x0002_2000_4400_0020,
                0x0002_2000_4480_08a1,
                0x0110_2100_8022_08a0,
                0x0114_0022_8420_0880,
                0x0402_8966_44a6_4095,
                0x8a14_a0a2_44ac_c891,
                0x8c88_ba46_80b2_0495,
            ]
        );
    }
}
