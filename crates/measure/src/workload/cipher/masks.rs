//! Masks that switch processor instructions off, and the check that they switch off nothing else.
//!
//! A mask names exactly its bits. The common recipe for OpenSSL names one word only and clears all
//! bits of the other word too.

use steadfast_sys::crypto::{Bit, WORDS};

use crate::error::Error;
use crate::record::Isa;

/// Every instruction set, largest first.
pub const ALL: [Isa; 4] = [Isa::Full, Isa::NoAes, Isa::NoSha, Isa::Baseline];

/// Returns the name of an instruction set, as in records and on the command line.
pub fn name(isa: Isa) -> &'static str {
    isa.into()
}

/// The bits that a mask clears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    /// Bits to clear in each word, all of which are set without the mask.
    bits: Vec<u32>,
}

impl Mask {
    /// Makes the mask of an instruction set for a processor with these words.
    ///
    /// # Errors
    ///
    /// If the processor has none of these instructions, or the library offers no switch for them.
    pub fn of(isa: Isa, words: &[u32]) -> Result<Mask, Error> {
        let groups: &[&[Bit]] = match isa {
            Isa::Full => &[],
            Isa::NoAes => &[WORDS.aes],
            Isa::NoSha => &[WORDS.sha],
            Isa::Baseline => &[WORDS.aes, WORDS.carry_less, WORDS.sha],
        };
        let mut bits = vec![0; words.len()];
        for &(word, bit) in groups.iter().copied().flatten() {
            if let Some(found) = words.get(word) {
                bits[word] |= found & 1 << bit;
            }
        }
        if isa != Isa::Full && WORDS.variable.is_empty() {
            let message = "no switch for this processor's instructions is known";
            return Err(Error::usage(format!("{}: {message}", name(isa))));
        }
        if isa != Isa::Full && bits.iter().all(|&bits| bits == 0) {
            let message = "the processor has none of these instructions, nothing to switch off";
            return Err(Error::usage(format!("{}: {message}", name(isa))));
        }
        Ok(Mask { bits })
    }

    /// Returns the environment variable and its value; `None` if nothing is masked.
    pub fn variable(&self) -> Option<(&'static str, String)> {
        if self.bits.iter().all(|&bits| bits == 0) {
            return None;
        }
        // Every number is given, so no default of the library applies.
        let number = |words: &[u32]| {
            let number =
                words.iter().rev().fold(0_u64, |number, &word| number << 32 | u64::from(word));
            format!("~{number:#x}")
        };
        let numbers: Vec<String> = self.bits.chunks(WORDS.per_number).map(number).collect();
        Some((WORDS.variable, numbers.join(":")))
    }

    /// Checks that words differ from the unmasked ones exactly by this mask.
    ///
    /// # Errors
    ///
    /// If they differ in another way. The effect could then not be attributed to these
    /// instructions.
    pub fn check(&self, unmasked: &[u32], masked: &[u32]) -> Result<(), Error> {
        let expected: Vec<u32> =
            unmasked.iter().zip(&self.bits).map(|(word, bits)| word & !bits).collect();
        if expected == masked {
            return Ok(());
        }
        Err(Error::usage(format!(
            "the crypto library sees {} where {} was asked for: no effect may be put down to \
             single instructions here",
            hex(masked),
            hex(&expected)
        )))
    }
}

/// Returns words in the form that records keep.
pub fn hex(words: &[u32]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("{word:08x}")).collect();
    words.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_clears_its_bits_and_no_others() {
        let words = steadfast_sys::crypto::capabilities();
        let Ok(mask) = Mask::of(Isa::NoAes, &words) else { return };
        let (word, bit) = WORDS.aes[0];
        let mut masked = words.clone();
        for &(word, bit) in WORDS.aes {
            masked[word] &= !(1 << bit);
        }
        assert_eq!(mask.check(&words, &masked).ok(), Some(()));
        assert!(mask.check(&words, &words).is_err(), "nothing was switched off");
        masked[word] &= !(1 << bit ^ 1 << (bit + 1) | masked[word]);
        assert!(mask.check(&words, &masked).is_err(), "something else was switched off too");
    }

    #[test]
    fn every_number_of_the_variable_is_given() {
        let words = steadfast_sys::crypto::capabilities();
        assert_eq!(Mask::of(Isa::Full, &words).unwrap().variable(), None);
        let Ok(mask) = Mask::of(Isa::Baseline, &words) else { return };
        let (variable, value) = mask.variable().unwrap();
        assert_eq!(variable, WORDS.variable);
        assert_eq!(value.split(':').count(), words.len() / WORDS.per_number);
        assert!(value.split(':').all(|number| number.starts_with("~0x")), "{value}");
    }

    #[test]
    fn what_is_not_there_is_not_switched_off() {
        assert!(Mask::of(Isa::NoSha, &[0, 0, 0, 0]).is_err());
    }
}
