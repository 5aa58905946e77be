//! Every format that was ever released is still read, byte for byte.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use steadfast::Algorithm;
use steadfast::pages::Kept;
use steadfast::verity::VerityHash;

fn formats() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats")
}

#[test]
fn every_frozen_folder_has_its_test() {
    let mut found = BTreeSet::new();
    for format in fs::read_dir(formats()).unwrap().map(Result::unwrap) {
        if format.file_type().unwrap().is_dir() {
            for version in fs::read_dir(format.path()).unwrap().map(Result::unwrap) {
                if version.file_type().unwrap().is_dir() {
                    let path = version.path();
                    let path = path.strip_prefix(formats()).unwrap();
                    found.insert(path.to_str().unwrap().to_owned());
                }
            }
        }
    }
    let tested = [
        "attributes/v1",
        "catalogue/v2",
        "catalogue/v3",
        "manifest/v1",
        "pages/v1",
        "record/v1",
        "shard/v1",
        "tag/v1",
    ];
    let tested = tested.map(str::to_owned);
    assert_eq!(found, BTreeSet::from(tested));
}

#[test]
fn kept_leaves_of_version_1_read_as_they_always_did() {
    let sample = formats().join("pages/v1/sample.steadfast-pages");
    let kept = Kept::open(&sample).unwrap();
    kept.ensure_whole(&AtomicBool::new(false)).unwrap();
    let contents: Vec<u8> = (0..10_000).map(|at| (at % 251) as u8).collect();
    let header = kept.header();
    assert_eq!((header.hash, header.page_len, header.length), (VerityHash::Sha256, 4096, 10_000));
    assert_eq!(header.algorithm, Algorithm::Sha256);
    assert_eq!(header.digest, steadfast_digest::sha256(&contents));
    // What `fsverity digest` prints of these bytes.
    let verity = "sha256:d12c9af23bd04b706b9a6a2f706150d552a9460efd4759586dfc04ebdf96eb5e";
    assert_eq!(header.verity_digest().to_string(), verity);
    assert_eq!(&header.encode()[..], &fs::read(&sample).unwrap()[..192]);
}
