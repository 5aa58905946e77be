//! The code written again from its definition in `docs/formats/parity.md`, by Lagrange's formula,
//! without anything of the crate or of the library that it uses.

/// β₀ to β₁₅.
const BASIS: [u32; 16] = [
    0x0001, 0xACCA, 0x3C0E, 0x163E, 0xC582, 0xED2E, 0x914C, 0x4012, 0x6C98, 0x10D8, 0x6A72, 0xB900,
    0xFDB8, 0xFB34, 0xFF38, 0x991E,
];

/// M: the data symbols of a run.
const RUN: usize = 128;

/// The field: polynomials over GF(2) modulo 0x1002D, with powers of x tabulated.
pub(crate) struct Field {
    power: Vec<u32>,
    logarithm: Vec<usize>,
    /// The 16-bit value of each element.
    value: Vec<u16>,
}

impl Field {
    pub(crate) fn new() -> Field {
        let (mut power, mut logarithm) = (Vec::new(), vec![0; 1 << 16]);
        let mut element = 1_u32;
        for exponent in 0..(1 << 16) - 1 {
            power.push(element);
            logarithm[element as usize] = exponent;
            element <<= 1;
            if element >> 16 == 1 {
                element ^= 0x1002D;
            }
        }
        let mut value = vec![0; 1 << 16];
        for v in 0..=u16::MAX {
            value[Field::element(v) as usize] = v;
        }
        Field { power, logarithm, value }
    }

    /// The element that a 16-bit value stands for.
    fn element(value: u16) -> u32 {
        (0..16).filter(|bit| value >> bit & 1 == 1).fold(0, |sum, bit| sum ^ BASIS[bit])
    }

    fn mul(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        self.power[(self.logarithm[a as usize] + self.logarithm[b as usize]) % self.power.len()]
    }

    fn div(&self, a: u32, b: u32) -> u32 {
        let logarithm = self.logarithm[a as usize] + self.power.len() - self.logarithm[b as usize];
        if a == 0 { 0 } else { self.power[logarithm % self.power.len()] }
    }

    /// What data symbol `data` contributes to parity symbol `parity`, for a data symbol of 1.
    pub(crate) fn coefficient(&self, data: usize, parity: usize) -> u32 {
        let run = data / RUN;
        let omega = |i: usize| Field::element(i as u16);
        let own = omega(RUN + data);
        let others = ((run + 1) * RUN..(run + 2) * RUN).filter(|i| *i != RUN + data).map(omega);
        others.fold(1, |product, other| {
            self.mul(product, self.div(omega(parity) ^ other, own ^ other))
        })
    }

    /// A parity symbol of data symbols.
    pub(crate) fn parity(&self, data: &[u16], parity: usize) -> u16 {
        let terms = data.iter().enumerate().filter(|(_, symbol)| **symbol != 0);
        let sum = terms.fold(0, |sum, (at, symbol)| {
            sum ^ self.mul(Field::element(*symbol), self.coefficient(at, parity))
        });
        self.value[sum as usize]
    }

    /// Finds the lost data symbols from as many parity symbols: by elimination.
    pub(crate) fn solve(&self, data: &[u16], lost: &[usize], parity: &[(usize, u16)]) -> Vec<u16> {
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for (number, symbol) in parity {
            let mut row: Vec<u32> = lost.iter().map(|at| self.coefficient(*at, *number)).collect();
            let known = data.iter().enumerate().filter(|(at, _)| !lost.contains(at));
            let rest = known.fold(Field::element(*symbol), |sum, (at, symbol)| {
                sum ^ self.mul(Field::element(*symbol), self.coefficient(at, *number))
            });
            row.push(rest);
            rows.push(row);
        }
        for pivot in 0..lost.len() {
            let found = (pivot..rows.len()).find(|row| rows[*row][pivot] != 0).unwrap();
            rows.swap(pivot, found);
            let own = rows[pivot].clone();
            for row in (0..rows.len()).filter(|row| *row != pivot) {
                let factor = self.div(rows[row][pivot], own[pivot]);
                for (at, term) in own.iter().enumerate() {
                    rows[row][at] ^= self.mul(factor, *term);
                }
            }
        }
        let solved = rows.iter().enumerate().take(lost.len());
        solved.map(|(at, row)| self.value[self.div(row[lost.len()], row[at]) as usize]).collect()
    }
}

/// Symbol `number` of a page: of each 64 bytes the first 32 are low bytes, the others high bytes.
pub(crate) fn symbol(page: &[u8], number: usize) -> u16 {
    let low = number / 32 * 64 + number % 32;
    u16::from_le_bytes([page[low], page[low + 32]])
}
