//! Many messages at once: any number, any lengths, any pieces.

use steadfast_digest::{Backend, Digest, Lanes, Message, Sha256};

use crate::differential::independent;
use crate::{Random, SEAM_LENGTHS, lane_setups, message};

/// Ends all messages in one call.
fn digests(lanes: Lanes, messages: &[Vec<u8>]) -> Vec<Digest> {
    let mut hashers = vec![Sha256::new(lanes.backend()); messages.len()];
    let mut pieces: Vec<Message<'_>> = hashers
        .iter_mut()
        .zip(messages)
        .map(|(hasher, data)| Message { hasher, data, last: true })
        .collect();
    lanes.update(&mut pieces);
    hashers.iter().map(Sha256::digest).collect()
}

#[test]
fn any_number_of_messages() {
    for lanes in lane_setups() {
        for count in 0..=2 * Backend::LANES_MAX + 3 {
            let messages: Vec<_> = (0..count).map(|index| message(300, index as u64)).collect();
            let expected: Vec<_> = messages.iter().map(|data| independent(data)).collect();
            assert_eq!(digests(lanes, &messages), expected, "{lanes:?}, {count} messages");
        }
    }
}

#[test]
fn seam_lengths_side_by_side() {
    let messages: Vec<_> = SEAM_LENGTHS.iter().map(|len| message(*len, 7)).collect();
    let expected: Vec<_> = messages.iter().map(|data| independent(data)).collect();
    for lanes in lane_setups() {
        assert_eq!(digests(lanes, &messages), expected, "{lanes:?}");
        let reversed: Vec<_> = messages.iter().rev().cloned().collect();
        let expected: Vec<_> = expected.iter().rev().copied().collect();
        assert_eq!(digests(lanes, &reversed), expected, "{lanes:?}, reversed");
    }
}

#[test]
fn one_long_message_among_many_short() {
    let mut messages: Vec<_> = (0..250).map(|index| message(index % 70, index as u64)).collect();
    messages[100] = message(1 << 18, 8);
    let expected: Vec<_> = messages.iter().map(|data| independent(data)).collect();
    for lanes in lane_setups() {
        assert_eq!(digests(lanes, &messages), expected, "{lanes:?}");
    }
}

#[test]
fn random_pieces_equal_one_piece() {
    for lanes in lane_setups() {
        let mut random = Random::new(9);
        for _ in 0..20 {
            let count = 1 + random.below(40);
            let messages: Vec<_> =
                (0..count).map(|_| message(random.below(3_000), random.next())).collect();
            let mut hashers = vec![Sha256::new(lanes.backend()); count];
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
                assert_eq!(hasher.digest(), independent(message), "{lanes:?}");
            }
        }
    }
}

#[test]
fn a_message_may_alternate_between_lanes_and_alone() {
    let data = message(1_000, 10);
    for lanes in lane_setups() {
        let mut hasher = Sha256::new(lanes.backend());
        hasher.update(&data[..100]);
        lanes.update(&mut [Message { hasher: &mut hasher, data: &data[100..500], last: false }]);
        hasher.update(&data[500..]);
        lanes.update(&mut [Message { hasher: &mut hasher, data: &[], last: true }]);
        assert_eq!(hasher.digest(), independent(&data), "{lanes:?}");
        assert_eq!(hasher.finalize(), independent(&data), "{lanes:?}");
    }
}

#[test]
#[should_panic(expected = "takes no more bytes")]
fn an_ended_message_takes_no_more() {
    let lanes = Lanes::best(Backend::detect());
    let mut hasher = Sha256::new(lanes.backend());
    lanes.update(&mut [Message { hasher: &mut hasher, data: b"abc", last: true }]);
    hasher.update(b"d");
}
