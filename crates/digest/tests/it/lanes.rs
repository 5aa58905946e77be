//! Many messages at once, of each algorithm that has lanes: any number, any lengths, any pieces.

use sha2::Digest as _;
use steadfast_digest::{
    Algorithm, AlgorithmHasher, Backend, BlockHasher, Digest, Lanes, LanesOf, Md5Rules, Message,
    Messages, Rules, Sha256, Sha256Rules, Sha512Rules,
};

use crate::{Random, SEAM_LENGTHS, lane_setups, message};

/// An algorithm with lanes, and its digest by another hand.
pub(crate) trait Tested: Rules {
    fn independent(data: &[u8]) -> Digest;
}

impl Tested for Sha256Rules {
    fn independent(data: &[u8]) -> Digest {
        Digest::from_slice(&sha2::Sha256::digest(data)).unwrap()
    }
}

impl Tested for Sha512Rules {
    fn independent(data: &[u8]) -> Digest {
        Digest::from_slice(&sha2::Sha512::digest(data)).unwrap()
    }
}

impl Tested for Md5Rules {
    fn independent(data: &[u8]) -> Digest {
        Digest::from_slice(&::md5::Md5::digest(data)).unwrap()
    }
}

/// Makes a test of each function for each algorithm.
macro_rules! with_every_algorithm {
    ($($test:ident)+) => {
        with_every_algorithm!(sha256: Sha256Rules, $($test)+);
        with_every_algorithm!(sha512: Sha512Rules, $($test)+);
        with_every_algorithm!(md5: Md5Rules, $($test)+);
    };
    ($name:ident: $rules:ident, $($test:ident)+) => {
        mod $name {
            $(#[test] fn $test() { super::$test::<super::$rules>(); })+
        }
    };
}

with_every_algorithm! {
    any_number_of_messages
    every_short_length
    seam_lengths_side_by_side
    one_long_message_among_many_short
    random_pieces_equal_one_piece
    a_message_may_alternate_between_lanes_and_alone
    an_ended_message_takes_no_more
}

/// Ends all messages in one call.
pub(crate) fn digests<A: Rules>(lanes: LanesOf<A>, messages: &[Vec<u8>]) -> Vec<Digest> {
    let mut hashers = vec![BlockHasher::<A>::new(lanes.backend()); messages.len()];
    let mut pieces: Vec<Message<'_, A>> = hashers
        .iter_mut()
        .zip(messages)
        .map(|(hasher, data)| Message { hasher, data, last: true })
        .collect();
    lanes.update(&mut pieces);
    hashers.iter().map(BlockHasher::digest).collect()
}

fn any_number_of_messages<A: Tested>() {
    for lanes in lane_setups::<A>() {
        for count in 0..=2 * Backend::LANES_MAX + 3 {
            let messages: Vec<_> = (0..count).map(|index| message(300, index as u64)).collect();
            let expected: Vec<_> = messages.iter().map(|data| A::independent(data)).collect();
            assert_eq!(digests(lanes, &messages), expected, "{lanes:?}, {count} messages");
        }
    }
}

fn every_short_length<A: Tested>() {
    let messages: Vec<_> = (0..=520).map(|length| message(length, 2)).collect();
    let expected: Vec<_> = messages.iter().map(|data| A::independent(data)).collect();
    for lanes in lane_setups::<A>() {
        assert_eq!(digests(lanes, &messages), expected, "{lanes:?}");
    }
}

fn seam_lengths_side_by_side<A: Tested>() {
    let messages: Vec<_> = SEAM_LENGTHS.iter().map(|len| message(*len, 7)).collect();
    let expected: Vec<_> = messages.iter().map(|data| A::independent(data)).collect();
    for lanes in lane_setups::<A>() {
        assert_eq!(digests(lanes, &messages), expected, "{lanes:?}");
        let reversed: Vec<_> = messages.iter().rev().cloned().collect();
        let expected: Vec<_> = expected.iter().rev().copied().collect();
        assert_eq!(digests(lanes, &reversed), expected, "{lanes:?}, reversed");
    }
}

fn one_long_message_among_many_short<A: Tested>() {
    let mut messages: Vec<_> = (0..250).map(|index| message(index % 70, index as u64)).collect();
    messages[100] = message(1 << 18, 8);
    let expected: Vec<_> = messages.iter().map(|data| A::independent(data)).collect();
    for lanes in lane_setups::<A>() {
        assert_eq!(digests(lanes, &messages), expected, "{lanes:?}");
    }
}

fn random_pieces_equal_one_piece<A: Tested>() {
    for lanes in lane_setups::<A>() {
        let mut random = Random::new(9);
        for _ in 0..20 {
            let count = 1 + random.below(40);
            let messages: Vec<_> =
                (0..count).map(|_| message(random.below(3_000), random.next())).collect();
            let mut hashers = vec![BlockHasher::<A>::new(lanes.backend()); count];
            let mut rests: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            let mut ended = vec![false; count];
            while ended.contains(&false) {
                let mut pieces = Vec::new();
                let each = hashers.iter_mut().zip(&mut rests).zip(&mut ended);
                for ((hasher, rest), ended) in each.filter(|(_, ended)| !**ended) {
                    let longest = [2, 70, 400, 4_000][random.below(4)];
                    let (data, later) = rest.split_at(random.below(longest).min(rest.len()));
                    *rest = later;
                    // Sometimes the end comes with the last bytes, sometimes after them.
                    *ended = rest.is_empty() && random.below(2) == 0;
                    pieces.push(Message { hasher, data, last: *ended });
                }
                lanes.update(&mut pieces);
            }
            for (hasher, message) in hashers.iter().zip(&messages) {
                assert_eq!(hasher.digest(), A::independent(message), "{lanes:?}");
            }
        }
    }
}

fn a_message_may_alternate_between_lanes_and_alone<A: Tested>() {
    let data = message(1_000, 10);
    for lanes in lane_setups::<A>() {
        let mut hasher = BlockHasher::<A>::new(lanes.backend());
        hasher.update(&data[..100]);
        lanes.update(&mut [Message { hasher: &mut hasher, data: &data[100..500], last: false }]);
        hasher.update(&data[500..]);
        lanes.update(&mut [Message { hasher: &mut hasher, data: &[], last: true }]);
        assert_eq!(hasher.digest(), A::independent(&data), "{lanes:?}");
        assert_eq!(hasher.finalize(), A::independent(&data), "{lanes:?}");
    }
}

fn an_ended_message_takes_no_more<A: Tested>() {
    let lanes = LanesOf::<A>::widest();
    let mut hasher = BlockHasher::<A>::new(lanes.backend());
    lanes.update(&mut [Message { hasher: &mut hasher, data: b"abc", last: true }]);
    let more = std::panic::AssertUnwindSafe(|| hasher.update(b"d"));
    let panic = std::panic::catch_unwind(more).unwrap_err();
    assert!(panic.downcast_ref::<&str>().unwrap().contains("takes no more bytes"));
}

#[test]
fn bytes_need_no_alignment() {
    fn check<A: Tested>() {
        let data = message(1_100, 17);
        for lanes in lane_setups::<A>() {
            let mut hashers = vec![BlockHasher::<A>::new(lanes.backend()); 40];
            let mut pieces: Vec<Message<'_, A>> = hashers
                .iter_mut()
                .enumerate()
                .map(|(start, hasher)| Message { hasher, data: &data[start..], last: true })
                .collect();
            lanes.update(&mut pieces);
            for (start, hasher) in hashers.iter().enumerate() {
                assert_eq!(hasher.digest(), A::independent(&data[start..]), "{lanes}, {start}");
            }
        }
    }
    check::<Sha256Rules>();
    check::<Sha512Rules>();
    check::<Md5Rules>();
}

/// Lanes of SHA-256 given, all algorithms in one call, each message in pieces.
#[test]
fn messages_of_all_algorithms_together() {
    let mut random = Random::new(18);
    for lanes in lane_setups::<Sha256Rules>() {
        let sorts = Algorithm::ALL.iter().copied().cycle().take(15 * Algorithm::ALL.len());
        let mut hashers: Vec<AlgorithmHasher> = sorts.map(AlgorithmHasher::new).collect();
        let messages: Vec<_> =
            hashers.iter().map(|_| message(random.below(2_000), random.next())).collect();
        let cuts: Vec<_> = messages.iter().map(|data| random.below(data.len() + 1)).collect();
        let mut pieces = Messages::new();
        for ((hasher, data), cut) in hashers.iter_mut().zip(&messages).zip(&cuts) {
            pieces.push(hasher, &data[..*cut], false);
        }
        pieces.update(lanes);
        let mut pieces = Messages::new();
        for ((hasher, data), cut) in hashers.iter_mut().zip(&messages).zip(&cuts) {
            pieces.push(hasher, &data[*cut..], true);
        }
        pieces.update(lanes);
        for (hasher, data) in hashers.into_iter().zip(&messages) {
            let algorithm = hasher.algorithm();
            let mut alone = AlgorithmHasher::new(algorithm);
            alone.update(data);
            assert_eq!(hasher.finalize(), alone.finalize(), "{lanes}, {algorithm}");
        }
    }
}

#[test]
fn no_messages_are_no_work() {
    Messages::new().update(Lanes::widest());
    Lanes::widest().update(&mut []);
    assert_eq!(Sha256::new(Backend::detect()).length(), 0);
}
