//! The field of PAR2: GF(2¹⁶) modulo x¹⁶ + x¹² + x³ + x + 1, by logarithms to the base 2.

use std::sync::LazyLock;

const POLYNOMIAL: u32 = 0x1_100B;

/// The number of elements that are not 0.
pub(super) const ORDER: u32 = 65_535;

struct Logarithms {
    /// Powers of 2, twice over, so that a sum of two logarithms needs no reduction.
    powers: Vec<u16>,
    logarithms: Vec<u16>,
}

static LOGARITHMS: LazyLock<Logarithms> = LazyLock::new(|| {
    let mut powers = vec![0; 2 * ORDER as usize];
    let mut logarithms = vec![0; 1 << 16];
    let mut power = 1_u32;
    for at in 0..ORDER as usize {
        powers[at] = power as u16;
        powers[at + ORDER as usize] = power as u16;
        logarithms[power as usize] = at as u16;
        power <<= 1;
        if power > 0xFFFF {
            power ^= POLYNOMIAL;
        }
    }
    Logarithms { powers, logarithms }
});

/// Returns a power of 2; the exponent is reduced.
pub(super) fn power_of_2(exponent: u64) -> u16 {
    LOGARITHMS.powers[(exponent % u64::from(ORDER)) as usize]
}

pub(super) fn multiply(one: u16, other: u16) -> u16 {
    if one == 0 || other == 0 {
        return 0;
    }
    let of = |value: u16| usize::from(LOGARITHMS.logarithms[usize::from(value)]);
    LOGARITHMS.powers[of(one) + of(other)]
}

/// Returns the inverse of an element that is not 0.
pub(super) fn inverse(value: u16) -> u16 {
    debug_assert_ne!(value, 0, "0 has no inverse");
    let logarithm = LOGARITHMS.logarithms[usize::from(value)];
    LOGARITHMS.powers[(ORDER - u32::from(logarithm)) as usize]
}

/// Products of one element with all others, by their low and high bytes.
pub struct Product {
    low: [u16; 256],
    high: [u16; 256],
}

impl Product {
    /// Prepares products with an element.
    pub fn with(factor: u16) -> Product {
        let mut product = Product { low: [0; 256], high: [0; 256] };
        for byte in 0..256 {
            product.low[byte] = multiply(factor, byte as u16);
            product.high[byte] = multiply(factor, (byte as u16) << 8);
        }
        product
    }

    /// Adds the product to `to`, for elements of two bytes, the low one first.
    pub fn add(&self, from: &[u8], to: &mut [u8]) {
        for (from, to) in from.chunks_exact(2).zip(to.chunks_exact_mut(2)) {
            let product = self.low[usize::from(from[0])] ^ self.high[usize::from(from[1])];
            let [low, high] = product.to_le_bytes();
            to[0] ^= low;
            to[1] ^= high;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplies bit by bit, as the definition says.
    fn by_definition(one: u16, other: u16) -> u16 {
        let mut product = 0_u32;
        for bit in (0..16).rev() {
            product <<= 1;
            if product > 0xFFFF {
                product ^= POLYNOMIAL;
            }
            if other >> bit & 1 == 1 {
                product ^= u32::from(one);
            }
        }
        product as u16
    }

    #[test]
    fn products_and_inverses_are_those_of_the_field() {
        for one in (0..=u16::MAX).step_by(251) {
            let product = Product::with(one);
            for other in (0..=u16::MAX).step_by(509) {
                let expected = by_definition(one, other);
                assert_eq!(multiply(one, other), expected);
                let mut sum = [0; 2];
                product.add(&other.to_le_bytes(), &mut sum);
                assert_eq!(u16::from_le_bytes(sum), expected);
            }
            assert!(one == 0 || multiply(one, inverse(one)) == 1);
        }
    }
}
