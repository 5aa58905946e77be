//! Fletcher-64 over 32-bit words.
//!
//! Takes bytes in pieces of any length. Returns the two sums. Must not know the other algorithms.
//! It detects random errors, not deliberate changes: an all-zero word and an all-one word are equal
//! to it.

/// The sums are taken modulo 2^32 - 1, as J. G. Fletcher's ones' complement sums are.
const MODULUS: u64 = 0xffff_ffff;

/// Words between two reductions.
///
/// Both sums start below 2^32, a word is below 2^32; after n words the second sum is below
/// 2^32 · (1 + n + n(n + 1)/2), which stays below 2^64 for n up to 92,680.
const WORDS_MAX: usize = 65_536;

/// The streaming state of Fletcher-64.
///
/// Words are little-endian; a last partial word is padded with zero bytes.
/// Source: J. G. Fletcher, IEEE Transactions on Communications 30 (1982), pages 247 to 252.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fletcher64 {
    low: u64,
    high: u64,
    partial: [u8; 4],
    partial_len: usize,
}

impl Fletcher64 {
    /// Takes the next bytes of the message.
    pub(crate) fn update(&mut self, mut data: &[u8]) {
        if self.partial_len > 0 {
            let (head, rest) = data.split_at(data.len().min(4 - self.partial_len));
            self.partial[self.partial_len..][..head.len()].copy_from_slice(head);
            self.partial_len += head.len();
            data = rest;
            if self.partial_len < 4 {
                return;
            }
            self.partial_len = 0;
            self.words(&[self.partial]);
        }
        let (words, rest) = data.as_chunks();
        self.words(words);
        self.partial[..rest.len()].copy_from_slice(rest);
        self.partial_len = rest.len();
    }

    /// Returns the second sum in the high half and the first in the low half.
    pub(crate) fn finalize(mut self) -> u64 {
        if self.partial_len > 0 {
            self.partial[self.partial_len..].fill(0);
            self.words(&[self.partial]);
        }
        self.high << 32 | self.low
    }

    fn words(&mut self, words: &[[u8; 4]]) {
        for words in words.chunks(WORDS_MAX) {
            for word in words {
                self.low += u64::from(u32::from_le_bytes(*word));
                self.high += self.low;
            }
            self.low %= MODULUS;
            self.high %= MODULUS;
        }
    }
}
