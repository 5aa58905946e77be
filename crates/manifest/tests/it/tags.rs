//! Every version of the tag that was ever released is still read and written, byte for byte.

use std::fs;
use std::path::Path;

use steadfast_digest::Algorithm;
use steadfast_manifest::tag::Tag;
use steadfast_time::Timestamp;

#[test]
fn tags_of_version_1_read_and_write_as_they_always_did() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats/tag/v1/tags.tsv");
    let samples = fs::read_to_string(path).unwrap();
    let mut algorithms = 0;
    for line in samples.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [algorithm, length, mtime_ns, tagged_s, digest, value] = fields[..] else {
            panic!("six fields: {line}");
        };
        let value: Vec<u8> = (0..value.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&value[at..at + 2], 16).unwrap())
            .collect();
        let expected = Tag {
            algorithm: algorithm.parse().unwrap(),
            digest: digest.parse().unwrap(),
            length: length.parse().unwrap(),
            mtime: Timestamp::from_nanoseconds(mtime_ns.parse().unwrap()),
            tagged: Timestamp { seconds: tagged_s.parse().unwrap(), nanoseconds: 0 },
        };
        assert_eq!(Tag::decode(&value), Ok(expected));
        assert_eq!(expected.encode().as_bytes(), value);
        let mut hasher = steadfast_digest::AlgorithmHasher::new(expected.algorithm);
        hasher.update(b"steadfast");
        assert_eq!(hasher.finalize(), expected.digest, "{algorithm}");
        algorithms += 1;
    }
    assert_eq!(algorithms, Algorithm::ALL.len());
}
