//! One message cut into pages.

use std::num::NonZeroUsize;

use steadfast_digest::{LastPage, PageDigest, PageHasher, page_digests};

use crate::{Random, lane_setups, message, naive};

fn expected(page_len: usize, last_page: LastPage, data: &[u8]) -> Vec<PageDigest> {
    let digest = |page: &[u8]| {
        let mut page = page.to_vec();
        if last_page == LastPage::ZeroPadded {
            page.resize(page_len, 0);
        }
        PageDigest::from_bytes(naive::sha256(&page))
    };
    data.chunks(page_len).map(digest).collect()
}

#[test]
fn whole_messages_at_page_seams() {
    for page_len in [1, 63, 64, 4_096] {
        for last_page in [LastPage::AsIs, LastPage::ZeroPadded] {
            for pages in [0, 1, 2, 5] {
                for extra in [0, 1, page_len - 1] {
                    let data = message(pages * page_len + extra, 11);
                    let expected = expected(page_len, last_page, &data);
                    let page_len = NonZeroUsize::new(page_len).unwrap();
                    for lanes in lane_setups() {
                        let found = page_digests(lanes, page_len, last_page, &data);
                        let len = data.len();
                        assert_eq!(found, expected, "{lanes:?}, {len} bytes by {page_len}");
                    }
                }
            }
        }
    }
}

#[test]
fn more_pages_than_a_batch_in_random_pieces() {
    let data = message(200 * 96 + 17, 12);
    let page_len = NonZeroUsize::new(96).unwrap();
    for last_page in [LastPage::AsIs, LastPage::ZeroPadded] {
        let expected = expected(96, last_page, &data);
        for lanes in lane_setups() {
            let mut random = Random::new(13);
            for longest in [2, 97, 1_000, 30_000] {
                let mut found = Vec::new();
                let mut hasher = PageHasher::new(lanes, page_len, last_page);
                let mut rest = &data[..];
                while !rest.is_empty() {
                    let (piece, later) = rest.split_at(random.below(longest).min(rest.len()));
                    hasher.update(piece, |digest| found.push(digest));
                    rest = later;
                }
                hasher.finish(|digest| found.push(digest));
                assert_eq!(found, expected, "{lanes:?}, pieces below {longest}");
            }
        }
    }
}

#[test]
fn a_prefix_goes_before_every_page() {
    let data = message(500, 14);
    let page_len = NonZeroUsize::new(128).unwrap();
    let expected: Vec<_> = data
        .chunks(128)
        .map(|page| PageDigest::from_bytes(naive::sha256(&[b"salt", page].concat())))
        .collect();
    for lanes in lane_setups() {
        let mut found = Vec::new();
        let mut hasher = PageHasher::new(lanes, page_len, LastPage::AsIs).prefixed(b"salt");
        hasher.update(&data, |digest| found.push(digest));
        hasher.finish(|digest| found.push(digest));
        assert_eq!(found, expected, "{lanes:?}");
    }
}
