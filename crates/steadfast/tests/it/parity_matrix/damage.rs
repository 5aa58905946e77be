//! What happens to a file.

use steadfast_parity::PAGE_LEN;

/// One kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    BitFlip,
    OnePage,
    Burst,
    Scattered,
    AllOfAColumn,
    OneMoreOfAColumn,
    ZeroedExtent,
    SwappedPages,
    Truncation,
    Extension,
    InsertedByte,
    MissingFile,
    MissingFolder,
}

pub(super) const DAMAGES: [Damage; 13] = [
    Damage::BitFlip,
    Damage::OnePage,
    Damage::Burst,
    Damage::Scattered,
    Damage::AllOfAColumn,
    Damage::OneMoreOfAColumn,
    Damage::ZeroedExtent,
    Damage::SwappedPages,
    Damage::Truncation,
    Damage::Extension,
    Damage::InsertedByte,
    Damage::MissingFile,
    Damage::MissingFolder,
];

/// Where the pages of a file are in its first set, for damage that is aimed at a column.
pub(super) struct Aim {
    /// Pages that a column can lose.
    pub(super) parity_shards: usize,
    /// The pages of the file that are in one column.
    pub(super) column: Vec<usize>,
}

impl Damage {
    pub(super) fn name(self) -> &'static str {
        match self {
            Damage::BitFlip => "bit flip",
            Damage::OnePage => "one page",
            Damage::Burst => "burst as guaranteed",
            Damage::Scattered => "scattered pages",
            Damage::AllOfAColumn => "m pages of a column",
            Damage::OneMoreOfAColumn => "m + 1 pages of a column",
            Damage::ZeroedExtent => "zeroed extent",
            Damage::SwappedPages => "swapped pages",
            Damage::Truncation => "truncation",
            Damage::Extension => "extension",
            Damage::InsertedByte => "inserted byte",
            Damage::MissingFile => "missing file",
            Damage::MissingFolder => "missing folder",
        }
    }

    /// Returns what is left of the contents; `None` if the file is gone.
    pub(super) fn of(self, bytes: &[u8], aim: &Aim) -> Option<Vec<u8>> {
        let mut left = bytes.to_vec();
        let pages = bytes.len().div_ceil(PAGE_LEN);
        let destroy = |left: &mut [u8], page: usize| {
            let page = left.chunks_mut(PAGE_LEN).nth(page).into_iter().flatten();
            page.for_each(|byte| *byte ^= 0xA5);
        };
        match self {
            Damage::BitFlip => left.iter_mut().skip(bytes.len() / 2).take(1).for_each(flip),
            Damage::OnePage => destroy(&mut left, pages / 2),
            Damage::Burst => {
                let burst = (aim.parity_shards * 16).min(pages);
                let first = (pages - burst) / 2;
                (first..first + burst).for_each(|page| destroy(&mut left, page));
            }
            // Of 16 pages in a row, each is in another column.
            Damage::Scattered => {
                let few = (0..pages).step_by(19).take(aim.parity_shards * 12);
                few.for_each(|page| destroy(&mut left, page));
            }
            Damage::AllOfAColumn => {
                let column = aim.column.iter().take(aim.parity_shards);
                column.for_each(|page| destroy(&mut left, *page));
            }
            Damage::OneMoreOfAColumn => {
                let column = aim.column.iter().take(aim.parity_shards + 1);
                column.for_each(|page| destroy(&mut left, *page));
            }
            Damage::ZeroedExtent => {
                let from = pages / 4 * PAGE_LEN;
                left.iter_mut().skip(from).take(64 << 10).for_each(|byte| *byte = 0);
            }
            Damage::SwappedPages if bytes.len() >= 2 * PAGE_LEN => {
                let (one, other) = left[..2 * PAGE_LEN].split_at_mut(PAGE_LEN);
                one.swap_with_slice(other);
            }
            Damage::SwappedPages => {}
            Damage::Truncation => left.truncate(bytes.len() - bytes.len().div_ceil(3)),
            Damage::Extension => left.extend([0x77; 5000]),
            Damage::InsertedByte => left.insert(bytes.len() * 2 / 3, 0x77),
            Damage::MissingFile | Damage::MissingFolder => return None,
        }
        Some(left)
    }
}

fn flip(byte: &mut u8) {
    *byte ^= 0x10;
}
