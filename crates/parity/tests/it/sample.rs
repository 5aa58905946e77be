//! Sets with contents that follow from a seed, and their parity files.

use std::io;

use steadfast_digest::{Backend, Lanes};
use steadfast_parity::*;

/// Numbers that follow from a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }

    /// Some different numbers below `end`.
    pub(crate) fn choose(&mut self, count: usize, end: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (0..end).collect();
        for at in 0..count {
            let other = at as u64 + self.below(u64::from(end) - at as u64);
            all.swap(at, other as usize);
        }
        all.truncate(count);
        all
    }
}

pub(crate) fn file(path: &str, length: u64) -> ProtectedFile {
    let tag = path.as_bytes().repeat(2);
    ProtectedFile {
        path: path.into(),
        length,
        mode: 0o640,
        uid: 1000,
        gid: 100,
        tag,
        attributes: Some(b"x".to_vec()),
        has_links: length % 2 == 1,
    }
}

pub(crate) const ORIGIN: SetOrigin =
    SetOrigin { redundancy: Redundancy::MIN, tree: [7; 16], made_s: 1_700_000_000 };

/// A set, all its bytes, and its parity file.
pub(crate) struct SetSample {
    pub(crate) data: Vec<u8>,
    pub(crate) index: SetIndex,
    pub(crate) parity: Vec<Vec<u8>>,
    pub(crate) file: Vec<u8>,
}

pub(crate) fn encode(geometry: Geometry, data: &[u8]) -> ParityPages {
    let mut encoder = ParityEncoder::new(geometry);
    let mut buffer = RunBuffer::new();
    for (run, bytes) in (0..).zip(data.chunks(RUN_LEN as usize)) {
        for (page, bytes) in (0..).zip(bytes.chunks(PAGE_LEN)) {
            buffer.fill(page, bytes);
        }
        encoder.add(run, &mut buffer);
    }
    encoder.finish()
}

/// A set of one file.
pub(crate) fn set_of(len: usize, parity_shards: u32, seed: u64) -> SetSample {
    let data = Random::new(seed).bytes(len);
    let pages = len.div_ceil(PAGE_LEN) as u32;
    let whole = Member {
        file: file("a/b", len as u64),
        start: 0,
        length: len as u64,
        sets: 1,
        page: 0,
        offset: 0,
    };
    set_with(Geometry::new(pages, parity_shards).unwrap(), vec![whole], data)
}

pub(crate) fn set_with(geometry: Geometry, members: Vec<Member>, mut data: Vec<u8>) -> SetSample {
    data.resize(geometry.pages() as usize * PAGE_LEN, 0);
    let parity = encode(geometry, &data);
    let marks = PageMark::of_all(Lanes::best(Backend::detect()), &data, None);
    let index = SetIndex::new(geometry, members, marks, |page| parity.page(page)).unwrap();
    let mut file = Vec::new();
    let header = SetFile::write(&index, &parity, ORIGIN, &mut file).unwrap();
    assert_eq!(header.file_len(), file.len() as u64);
    let parity = (0..geometry.parity_pages()).map(|page| parity.page(page).to_vec()).collect();
    SetSample { data, index, parity, file }
}

impl SetSample {
    pub(crate) fn page(&self, page: u32) -> &[u8] {
        &self.data[page as usize * PAGE_LEN..][..PAGE_LEN]
    }

    /// Rebuilds every column after losses; compares with what was lost. Returns how many pages
    /// came back, or the first error.
    pub(crate) fn rebuild(&self, losses: &Losses) -> Result<usize, Error> {
        let mut decoder = ColumnDecoder::new(self.index.geometry());
        let mut count = 0;
        for column in 0..COLUMNS {
            let rebuilt = decoder.rebuild(&self.index, column, &mut |page, bytes| {
                bytes.copy_from_slice(match page {
                    PageAt::Data(page) => self.page(page),
                    PageAt::Parity(page) => &self.parity[page as usize],
                });
                // Half of the losses are pages that cannot be read, half are wrong bytes.
                let number = match page {
                    PageAt::Data(page) | PageAt::Parity(page) => page,
                };
                bytes[0] ^= u8::from(losses.is_lost(page));
                !losses.is_lost(page) || number % 2 == 0
            })?;
            let lost: Vec<u32> = losses.lost_pages(column).collect();
            assert_eq!(rebuilt.iter().map(|(page, _)| *page).collect::<Vec<_>>(), lost);
            for (page, bytes) in &rebuilt {
                assert!(bytes == self.page(*page), "page {page} is not what it was");
            }
            count += rebuilt.len();
        }
        Ok(count)
    }
}

/// Reads a parity file from memory.
pub(crate) fn read(bytes: &[u8]) -> Result<SetFile, Error> {
    SetFile::read(bytes.len() as u64, &mut |at, buffer| read_at(bytes, at, buffer))
}

pub(crate) fn read_at(bytes: &[u8], at: u64, buffer: &mut [u8]) -> io::Result<()> {
    let end = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let start = usize::try_from(at).map_err(|_| end())?;
    let found = start.checked_add(buffer.len()).and_then(|stop| bytes.get(start..stop));
    buffer.copy_from_slice(found.ok_or_else(end)?);
    Ok(())
}
