//! What other tools wrote, frozen, is still read as what it was.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast_manifest::appledouble::{AppleDouble, HEAD_LEN_MAX};
use steadfast_manifest::foreign::{
    self, ForeignFault, ForeignKind, ForeignTag, ForeignTags, ForeignTime, Resolution,
};
use steadfast_time::Timestamp;

/// One frozen set of attributes, by name and value.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, Vec<u8>)>,
}

impl Sample {
    pub(crate) fn tags(&self) -> ForeignTags {
        let pairs = self.attributes.iter();
        foreign::of_attributes(pairs.map(|(name, value)| (name.as_bytes(), &value[..])))
    }
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats/attributes/v1")
}

/// Reads a table: its fields, line by line, without the first.
fn table(name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    let fields = |line: &str| line.split('\t').map(str::to_owned).collect();
    text.lines().skip(1).map(fields).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(pair).collect()
}

/// Reads every sample, in the order of the file.
pub(crate) fn samples() -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    for line in table("attributes.tsv") {
        let [sample, name, value] = &line[..] else { panic!("three fields: {line:?}") };
        let attribute = (name.clone(), bytes(value));
        match samples.last_mut().filter(|last| last.name == *sample) {
            Some(last) => last.attributes.push(attribute),
            None => {
                samples.push(Sample { name: sample.clone(), attributes: vec![attribute] });
            }
        }
    }
    samples
}

fn kind(name: &str) -> ForeignKind {
    ForeignKind::ALL.into_iter().find(|kind| kind.name() == name).unwrap()
}

/// What a line of `tags.tsv` says; `-` stands for what is not there.
fn expected(line: &[String]) -> Result<ForeignTag, String> {
    let [_, kind_name, algorithm, digest, mtime_ns, resolution, length, tagged_s, fault] = line
    else {
        panic!("nine fields: {line:?}");
    };
    if fault != "-" {
        return Err(fault.clone());
    }
    let some = |text: &str| (text != "-").then(|| text.parse::<i128>().unwrap());
    let resolution = match resolution.as_str() {
        "tick" => Resolution::Tick,
        "float" => Resolution::Float,
        "second" => Resolution::Second,
        _ => Resolution::Tick,
    };
    let mtime = some(mtime_ns).map(Timestamp::from_nanoseconds);
    Ok(ForeignTag {
        kind: kind(kind_name),
        algorithm: algorithm.parse().unwrap(),
        digest: digest.parse().unwrap(),
        mtime: mtime.map(|time| ForeignTime { time, resolution }),
        length: some(length).map(|length| length.try_into().unwrap()),
        tagged: some(tagged_s)
            .map(|seconds| Timestamp { seconds: seconds.try_into().unwrap(), nanoseconds: 0 }),
    })
}

#[test]
fn every_sample_reads_as_what_it_was() {
    let samples = samples();
    let expectations = table("tags.tsv");
    for sample in &samples {
        let lines = expectations.iter().filter(|line| line[0] == sample.name);
        let expected: Vec<_> = lines.map(|line| expected(line)).collect();
        assert!(!expected.is_empty(), "{} has no line in tags.tsv", sample.name);
        let tags = sample.tags();
        let text = |fault: ForeignFault| fault.reason.to_string();
        let found: Vec<_> = tags.into_iter().map(|tag| tag.map_err(text)).collect();
        assert_eq!(found, expected, "{}", sample.name);
    }
    for line in &expectations {
        assert!(samples.iter().any(|sample| sample.name == line[0]), "{line:?} has no attributes");
    }
}

#[test]
fn the_digests_are_those_of_the_contents() {
    let mut digests = 0;
    for line in table("tags.tsv").iter().filter(|line| line[8] == "-") {
        let mut hasher = steadfast_digest::AlgorithmHasher::new(line[2].parse().unwrap());
        hasher.update(b"steadfast");
        assert_eq!(hasher.finalize().to_string(), line[3], "{line:?}");
        digests += 1;
    }
    assert!(digests > 10);
}

#[test]
fn the_sidecar_reads_as_what_it_was() {
    let path = folder().join("dintch.appledouble");
    let bytes = fs::read(&path).unwrap();
    let head = &bytes[..bytes.len().min(HEAD_LEN_MAX)];
    let double = AppleDouble::parse(head, bytes.len() as u64).unwrap();
    let names: Vec<&[u8]> = double.attributes().iter().map(|found| &found.name[..]).collect();
    assert_eq!(
        names,
        [
            &b"co.eclecticlight.dintch.hash#S"[..],
            b"co.eclecticlight.dintch.time#S",
            b"com.apple.lastuseddate#PS",
        ]
    );
    assert_eq!(double.finder_info().unwrap()[..8], *b"TEXTttxt");
    assert_eq!(double.resource_fork(), None, "the blank one");
    let value = double.attribute(b"co.eclecticlight.dintch.time#S").unwrap();
    assert_eq!(value.of(&bytes), Some(&b"2025-11-20 14:46:40 +0000"[..]));

    let pairs = double.attributes().iter();
    let pairs = pairs.map(|found| (&found.name[..], found.value.of(&bytes).unwrap()));
    let [Ok(tag)] = foreign::of_attributes(pairs)[..] else { panic!("one tag") };
    assert_eq!((tag.kind, tag.tagged.unwrap().seconds), (ForeignKind::Dintch, 1_763_650_000));
}
