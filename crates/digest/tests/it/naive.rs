//! SHA-256 as the standard writes it: short, slow, obviously right.
//!
//! Source: FIPS 180-4 (2015), sections 4.1.2, 4.2.2, 5.1.1, 5.3.3, 6.2. The constants are derived
//! from the primes they come from, so that they are not copied from the code under test.

/// Hashes a whole message.
pub(crate) fn sha256(message: &[u8]) -> [u8; 32] {
    let k: Vec<u32> = primes(64).map(|prime| fraction_of_root(prime, 3)).collect();
    let mut h: Vec<u32> = primes(8).map(|prime| fraction_of_root(prime, 2)).collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let mut w: Vec<u32> = block
            .chunks(4)
            .map(|word| word.iter().fold(0, |value, byte| value << 8 | u32::from(*byte)))
            .collect();
        for t in 16..64 {
            let small_sigma0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
            let small_sigma1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
            w.push(add(&[small_sigma1, w[t - 7], small_sigma0, w[t - 16]]));
        }
        let mut v = h.clone();
        for t in 0..64 {
            let ch = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let sum1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
            let t1 = add(&[v[7], sum1, ch, k[t], w[t]]);
            let sum0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
            let maj = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            let t2 = add(&[sum0, maj]);
            v = vec![add(&[t1, t2]), v[0], v[1], v[2], add(&[v[3], t1]), v[4], v[5], v[6]];
        }
        for (word, value) in h.iter_mut().zip(v) {
            *word = add(&[*word, value]);
        }
    }
    let bytes: Vec<u8> = h.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.try_into().unwrap()
}

fn rotr(word: u32, count: u32) -> u32 {
    (word >> count) | (word << (32 - count))
}

fn add(words: &[u32]) -> u32 {
    words.iter().map(|word| u64::from(*word)).sum::<u64>() as u32
}

fn primes(count: usize) -> impl Iterator<Item = u128> {
    (2..).filter(|n: &u128| (2..*n).all(|divisor| n % divisor != 0)).take(count)
}

/// The first 32 bits of the fractional part of a square or cube root.
fn fraction_of_root(n: u128, degree: u32) -> u32 {
    let scaled = n << (32 * degree);
    let (mut low, mut high) = (0_u128, 1 << 36);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if middle.pow(degree) <= scaled { low = middle } else { high = middle }
    }
    low as u32
}

#[test]
fn the_oracle_agrees_with_the_standard() {
    let abc = [
        0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22,
        0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00,
        0x15, 0xad,
    ];
    assert_eq!(sha256(b"abc"), abc);
}
