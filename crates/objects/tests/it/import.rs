//! Reports of stores, read without a store.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use steadfast::{Algorithm, Reference};
use steadfast_objects::{
    Address, ErrorKind, KnownFiles, ObjectCheckOptions, ObjectFinding, ObjectsSummary, Report,
    ReportKind, import,
};

use crate::tree::{known, run, tagged, told};

fn samples() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/formats/objects/v1"))
}

fn imported(
    report: &Report,
    known: &KnownFiles,
    options: &ObjectCheckOptions,
) -> (Vec<ObjectFinding>, ObjectsSummary) {
    let address = Address::parse("s3://amzn-s3-demo-bucket1/archive").unwrap();
    let mut findings = Vec::new();
    let summary =
        import(report, &address, known, options, &mut |finding| findings.push(finding.clone()));
    (findings, summary.unwrap())
}

#[test]
fn a_report_of_version_1_reads_as_it_always_did() {
    let tree = tagged(&[
        ("damaged.txt", b"damaged"),
        ("gone.txt", b"gone"),
        ("plain.txt", b"123456789"),
        ("sealed.txt", b"sealed"),
        ("two words+é.txt", b"123456789"),
        ("unnamed.txt", b"unnamed"),
    ]);
    let report = Report::open(&samples().join("computed/manifest.json"), None).unwrap();
    assert_eq!(report.kind(), ReportKind::Computed);
    let (findings, summary) = imported(&report, &known(tree.path()), &run());
    assert_eq!(
        told(&findings),
        [
            "plain.txt: intact by SHA-256",
            "two words+é.txt: intact by CRC-64/NVME of the file here",
            "damaged.txt: differs by SHA-256",
            "nobody.txt: untagged",
            "gone.txt: missing",
            "sealed.txt: unreadable",
            "unnamed.txt: missing",
        ],
        "{findings:#?}"
    );
    let detail = findings[5].detail.as_deref().unwrap();
    assert!(detail.contains("400 SSE-C encryption type is not supported"), "{detail}");
    assert_eq!((summary.exit_status().code(), summary.passed), (1, 2));
    assert_eq!(summary.bytes_compared, 9 + 9 + 7, "by what is recorded: the report has no lengths");
    let (findings, _) = imported(
        &report,
        &known(tree.path()),
        &ObjectCheckOptions { read: false, complete: false, ..run() },
    );
    assert_eq!(told(&findings)[1], "two words+é.txt: not comparable");
    assert_eq!(findings.len(), 6);
}

#[test]
fn a_report_of_other_objects_proves_nothing() {
    let tree = tagged(&[("plain.txt", b"123456789")]);
    let report = Report::open(&samples().join("computed/manifest.json"), None).unwrap();
    let address = Address::parse("s3://amzn-s3-demo-bucket1/archiv").unwrap();
    let error = import(&report, &address, &known(tree.path()), &run(), &mut |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let words = "no row of the report is of an object at `s3://amzn-s3-demo-bucket1/archiv/`";
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn an_inventory_of_version_1_reads_as_it_always_did() {
    let record = |bytes: &[u8], hex: &str| {
        let (digest, length) = (hex.parse().unwrap(), Some(bytes.len() as u64));
        let digests = vec![(Algorithm::Md5, digest)];
        Some(Reference { source: "manifest", digests, length, mtime: None, recorded: None })
    };
    let nine = "25f9e794323b453885f5181f1b624d0b";
    let lines = [
        ("plain.txt", record(b"123456789", nine)),
        ("two words+é.txt", record(b"123456789", nine)),
        ("short.txt", record(b"123456789", nine)),
        ("parts.bin", record(b"123456789", nine)),
        ("sealed.txt", record(b"123456789", nine)),
    ];
    let lines = lines.map(|(path, record)| Ok((path.into(), record)));
    let known = KnownFiles::list(Path::new("/nowhere"), Box::new(lines.into_iter()));
    let folder = tempfile::tempdir().unwrap();
    let rows = fs::read(samples().join("inventory/rows.csv")).unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&rows).unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/rows.csv.gz"), packed.finish().unwrap()).unwrap();
    let manifest = fs::read_to_string(samples().join("inventory/manifest.json")).unwrap();
    fs::write(folder.path().join("manifest.json"), manifest).unwrap();
    let report = Report::open(&folder.path().join("manifest.json"), None).unwrap();
    assert_eq!(report.kind(), ReportKind::Inventory);
    let (findings, summary) = imported(&report, &known, &run());
    let expected = [
        "plain.txt: intact by ETag as MD5",
        "two words+é.txt: intact by ETag as MD5",
        "short.txt: differs by length",
        "parts.bin: not comparable",
        "sealed.txt: not comparable",
    ];
    assert_eq!(told(&findings), expected, "{findings:#?}");
    assert_eq!(summary.passed, 2, "an earlier version and a deletion");
    let columns = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, ETag, \
                   IsMultipartUploaded, EncryptionStatus, ChecksumAlgorithm";
    let alone = Report::open(&samples().join("inventory/rows.csv"), Some(columns)).unwrap();
    assert_eq!(told(&imported(&alone, &known, &run()).0), expected);
}

#[test]
fn a_file_that_is_not_what_its_manifest_says_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = fs::read_to_string(samples().join("computed/manifest.json")).unwrap();
    let path = folder.path().join("manifest.json");
    fs::write(&path, &manifest).unwrap();
    let error = Report::open(&path, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Document);
    assert!(error.to_string().contains("is not beside it"), "{error}");
    for name in ["succeeded.csv", "failed.csv"] {
        fs::copy(samples().join("computed").join(name), folder.path().join(name)).unwrap();
    }
    Report::open(&path, None).unwrap();
    let mut rows = fs::read(folder.path().join("succeeded.csv")).unwrap();
    rows[0] ^= 1;
    fs::write(folder.path().join("succeeded.csv"), rows).unwrap();
    assert!(Report::open(&path, None).unwrap_err().to_string().contains("the MD5 differs"));
    for text in [
        "{",
        "{}",
        "{\"Format\":\"other\"}",
        "{\"fileFormat\":\"ORC\",\"fileSchema\":\"Bucket, Key\"}",
    ] {
        fs::write(&path, text).unwrap();
        assert_eq!(Report::open(&path, None).unwrap_err().kind(), ErrorKind::Document, "{text}");
    }
    let outside = manifest.replace("results/succeeded.csv", "results/..");
    fs::write(&path, outside).unwrap();
    assert!(Report::open(&path, None).is_err());
}

#[test]
fn rows_that_are_none_are_told_with_their_lines() {
    let tree = tagged(&[("a", b"a")]);
    let path = tree.path().join("rows.csv");
    let rows = b"amzn-s3-demo-bucket1,archive/a,,succeeded,200,,\"{}\"\n\
        b,k\n\
        \xff,archive/a,,failed,200,,x\n\
        \n\
        amzn-s3-demo-bucket1,archive/../a,,failed,500,,x\n";
    fs::write(&path, rows).unwrap();
    let report = Report::open(&path, None).unwrap();
    let options = ObjectCheckOptions { complete: false, ..run() };
    let (findings, summary) = imported(&report, &known(tree.path()), &options);
    let details: Vec<&str> = findings.iter().map(|f| f.detail.as_deref().unwrap()).collect();
    assert_eq!(
        details,
        [
            "line 1: its result names no digest or no algorithm",
            "line 2: it has 2 columns instead of 7",
            "line 3: it is not UTF-8",
            "the store failed: 500 x",
        ]
    );
    assert_eq!(summary.exit_status().code(), 2);
    // A line without an end is refused before it fills the memory.
    fs::write(&path, vec![b'a'; 1 << 20]).unwrap();
    let report = Report::open(&path, None).unwrap();
    let address = Address::parse("s3://b").unwrap();
    let error = import(&report, &address, &known(tree.path()), &options, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("line 1 is too long"), "{error}");
}

#[test]
fn every_cut_of_a_report_is_read_without_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let rows = fs::read(samples().join("computed/failed.csv")).unwrap();
    let path = folder.path().join("rows.csv");
    let known = KnownFiles::list(Path::new("/nowhere"), Box::new(std::iter::empty()));
    for cut in 1..rows.len() {
        fs::write(&path, &rows[..cut]).unwrap();
        let report = Report::open(&path, None).unwrap();
        let (findings, _) = imported(&report, &known, &ObjectCheckOptions { workers: 1, ..run() });
        assert!(findings.len() <= 2);
    }
}
