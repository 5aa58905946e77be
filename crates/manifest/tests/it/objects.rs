//! Objects of a store, as rclone and the AWS tools print them.

use steadfast_digest::{Algorithm, Digest};
use steadfast_manifest::parts::{Division, PartsDigest};
use steadfast_manifest::{Format, Record, read};

const MIB: u64 = 1 << 20;
const MD5: &str = "25f9e794323b453885f5181f1b624d0b";

fn all(text: &str) -> Vec<Result<Record, String>> {
    let found = read(Format::Objects, None, text.as_bytes());
    found.map(|it| it.map_err(|fault| fault.to_string())).collect()
}

fn one(members: &str) -> Record {
    let text = format!("{{\"Key\": \"a\", \"ContentLength\": 12582912, {members}}}");
    match &all(&text)[..] {
        [Ok(record)] => record.clone(),
        other => panic!("{members}: {other:?}"),
    }
}

fn parts(record: &Record) -> PartsDigest {
    assert!(record.digests.is_empty(), "{record:?}");
    *record.parts.clone().expect("there is a digest of parts")
}

fn mib(length: u64) -> Division {
    Division::Parts((length * MIB).try_into().unwrap())
}

#[test]
fn whole_digests_and_those_of_parts_are_told_apart() {
    let whole = one(r#""ChecksumCRC64NVME": "rosUhgp5mIg=", "ChecksumType": "FULL_OBJECT",
        "ETag": "\"25f9e794323b453885f5181f1b624d0b-2\"""#);
    let expected: Digest = "ae8b14860a799888".parse().unwrap();
    assert_eq!(
        (&whole.digests[..], &whole.parts),
        (&[(Algorithm::Crc64Nvme, expected)][..], &None)
    );
    let guessed = [6, 7, 8, 10].map(mib).to_vec();
    for members in [
        r#""ChecksumCRC32": "y/Q5Jg==-2""#,
        r#""ChecksumCRC32": "y/Q5Jg==", "ChecksumType": "COMPOSITE", "PartsCount": 2"#,
    ] {
        let parts = parts(&one(members));
        assert_eq!((parts.algorithm, parts.is_stated), (Algorithm::Crc32, false), "{members}");
        assert_eq!(parts.divisions, guessed, "{members}");
    }
    let stated = one(r#""ObjectSize": 12582912, "Checksum": {"ChecksumSHA256":
        "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "ChecksumType": "COMPOSITE"},
        "ObjectParts": {"TotalPartsCount": 2, "Parts": [{"PartNumber": 1, "Size": 8388608},
        {"PartNumber": 2, "Size": 4194304}]}"#);
    let PartsDigest { algorithm, divisions, is_stated, .. } = parts(&stated);
    assert_eq!((algorithm, divisions, is_stated), (Algorithm::Sha256, vec![mib(8)], true));
    let uneven =
        one(r#""ChecksumCRC32": "y/Q5Jg==-3", "ObjectParts": {"Parts": [{"Size": 4194304},
        {"Size": 6291456}, {"Size": 2097152}]}"#);
    assert!(!parts(&uneven).is_stated, "parts of other lengths prove nothing by differing");
    // A multipart upload without a type may keep either.
    let open = parts(&one(
        r#""ChecksumCRC32": "y/Q5Jg==", "ETag": "\"25f9e794323b453885f5181f1b624d0b-2\"""#,
    ));
    assert_eq!((open.divisions[0], open.is_stated), (Division::Undivided, false));
    let nothing = one(r#""ChecksumCRC32": "y/Q5Jg==", "ChecksumType": "COMPOSITE""#);
    assert!(nothing.digests.is_empty() && nothing.parts.is_none());
}

#[test]
fn an_etag_is_an_md5_unless_somebody_encrypted_the_object() {
    let etag = format!("\"ETag\": \"\\\"{MD5}\\\"\"");
    let clear = one(&format!("{etag}, \"ServerSideEncryption\": \"AES256\""));
    assert_eq!(clear.digests, [(Algorithm::Md5, MD5.parse().unwrap())]);
    let open = parts(&one(&etag));
    assert_eq!((open.divisions, open.is_stated), (vec![Division::Undivided], false));
    for other in ["\"ServerSideEncryption\": \"aws:kms\"", "\"SSECustomerAlgorithm\": \"AES256\""] {
        let record = one(&format!("{etag}, {other}"));
        assert!(record.digests.is_empty() && record.parts.is_none(), "{other}");
    }
    let better = one(&format!("{etag}, \"ChecksumSHA1\": \"2jmj7l5rSw0yVb/vlWAYkK/YBwk=\""));
    assert_eq!(better.digests[0].0, Algorithm::Sha1);
    assert!(better.parts.is_none());
}

#[test]
fn what_is_no_object_or_not_whole_is_told() {
    let folders = r#"[{"Path": "a", "IsDir": true, "Size": -1}, {"Path": "b", "Size": -1}]"#;
    let [Ok(only)] = &all(folders)[..] else { panic!("one file") };
    assert_eq!((only.path.to_str(), only.length), (Some("b"), None));
    assert_eq!(all(r#"{"Contents": [{"Key": "a/", "Size": 0}], "Prefix": "a/"}"#), []);
    for (text, said) in [
        (r#"{"ContentLength": 5, "ETag": "x"}"#, "no `Key`"),
        (r#"{"Contents": [], "NextToken": "x"}"#, "cut off"),
        (r#"{"Contents": [], "IsTruncated": true}"#, "cut off"),
        (r#"[{"Path": "a", "Hashes": {"md5": "12"}}]"#, "not one"),
        (r#"[{"Path": "a", "Hashes": {"crc32": "00000000", "crc32": "00000001"}}]"#, "contradict"),
        (r#"[{"Key": "a", "ChecksumSHA256": "!"}]"#, "not one"),
        (r#"[{"Key": "a"} {"Key": "b"}]"#, "comma"),
        ("[7]", "object"),
    ] {
        let faults: Vec<String> = all(text).into_iter().filter_map(Result::err).collect();
        assert!(faults.len() == 1 && faults[0].contains(said), "{text}: {faults:?}");
    }
    let two = "{\"Key\": \"a\", \"Size\": 1}\n{\"Key\": \"b\", \"Size\": 2}\n";
    assert_eq!(all(two).len(), 2);
}
