//! Published figures of other people, as records for comparison. This program did not measure them.
//!
//! One record per machine. Every figure has its source, and only figures that a publication states
//! are here, none that were inferred.

use crate::record::{
    Clock, Factors, Format, Machine, Published, Record, Series, Side, Stage, Stated, Unit, VERSION,
    Workload,
};

/// High and low QoS, as the publications call the ends of the scale.
const HIGH: u8 = 33;
const LOW: u8 = 9;

const APRIL: &str = "H. Oakley, The Eclectic Light Company, \"How checking hashes can slow your \
                     Mac\", April 2025";
const JULY: &str = "H. Oakley, The Eclectic Light Company, on encrypted external SSDs and hashing, \
                    July 2025";
const MOJAVE: &str = "Le Journal du Lapin, on AES-NI in macOS Mojave, 29 November 2024";

/// The published figures of one machine.
struct Publication {
    name: &'static str,
    cpu: &'static str,
    os: &'static str,
    source: &'static str,
    note: &'static str,
    /// Day of publication, in seconds since 1970.
    published_unix_s: i64,
    figures: &'static [PublishedFigure],
}

/// One published figure.
struct PublishedFigure {
    workload: Workload,
    label: &'static str,
    stage: Stage,
    algorithm: Option<&'static str>,
    qos: Option<u8>,
    side: Option<Side>,
    unit: Unit,
    per_second: f64,
}

const SHA256: Option<&str> = Some("sha256");
const HASH_NOTE: &str = "SHA-256 of files of 1 MB to 10 GB, read and hashed in one loop; the rate \
                         is the inverse slope of time against size.";
const DISK_NOTE: &str = "Two SSDs, plain and as APFS Encrypted: 160 files of 2 MB to 2 GB, and one \
                         file of 16.8 GB read, and read and hashed.";
const DSA_NOTE: &str = "The same MacBook Pro with two versions of macOS. DSA is arithmetic with \
                        large numbers and uses no AES instructions: its gain has another cause \
                        than that of AES.";

const fn figure(
    workload: Workload,
    label: &'static str,
    stage: Stage,
    algorithm: Option<&'static str>,
    per_second: f64,
) -> PublishedFigure {
    let (qos, side, unit) = (None, None, Unit::Bytes);
    PublishedFigure { workload, label, stage, algorithm, qos, side, unit, per_second }
}

const fn hash(label: &'static str, qos: u8, per_second: f64) -> PublishedFigure {
    let figure = figure(Workload::Hash, label, Stage::ReadHash, SHA256, per_second);
    PublishedFigure { qos: Some(qos), ..figure }
}

const fn disk(
    workload: Workload,
    label: &'static str,
    stage: Stage,
    side: Side,
    per_second: f64,
) -> PublishedFigure {
    let algorithm = if matches!(stage, Stage::ReadHash) { SHA256 } else { None };
    let figure = figure(workload, label, stage, algorithm, per_second);
    PublishedFigure { side: Some(side), ..figure }
}

const fn cipher(
    label: &'static str,
    stage: Stage,
    algorithm: &'static str,
    unit: Unit,
    per_second: f64,
) -> PublishedFigure {
    PublishedFigure { unit, ..figure(Workload::Cipher, label, stage, Some(algorithm), per_second) }
}

const SOURCES: &[Publication] = &[
    Publication {
        name: "iMac Pro",
        cpu: "Intel Xeon W, 3.2 GHz, 8 cores",
        os: "macOS",
        source: APRIL,
        note: HASH_NOTE,
        published_unix_s: 1_745_798_400,
        figures: &[
            hash("SHA-256 of files, high QoS", HIGH, 0.41e9),
            hash("SHA-256 of files, low QoS", LOW, 0.18e9),
        ],
    },
    Publication {
        name: "MacBook Pro, M3 Pro",
        cpu: "Apple M3 Pro, 6 performance and 6 efficiency cores",
        os: "macOS",
        source: APRIL,
        note: HASH_NOTE,
        published_unix_s: 1_745_798_400,
        figures: &[
            hash("SHA-256 of files, high QoS", HIGH, 2.71e9),
            hash("SHA-256 of files, low QoS", LOW, 0.52e9),
        ],
    },
    Publication {
        name: "Mac mini, M4 Pro",
        cpu: "Apple M4 Pro, 10 performance and 4 efficiency cores",
        os: "macOS",
        source: APRIL,
        note: HASH_NOTE,
        published_unix_s: 1_745_798_400,
        figures: &[
            hash("SHA-256 of files, high QoS", HIGH, 2.92e9),
            hash("SHA-256 of files, low QoS", LOW, 0.64e9),
        ],
    },
    Publication {
        name: "Mac mini, M4 Pro, with a Thunderbolt 5 SSD",
        cpu: "Apple M4 Pro, 10 performance and 4 efficiency cores",
        os: "macOS 15.5",
        source: JULY,
        note: DISK_NOTE,
        published_unix_s: 1_753_056_000,
        figures: &[
            disk(Workload::Read, "160 files, plain", Stage::Read, Side::Control, 5.3e9),
            disk(Workload::Write, "160 files, plain", Stage::Write, Side::Control, 5.3e9),
            disk(Workload::Write, "160 files, encrypted", Stage::Write, Side::A, 4.7e9),
            disk(Workload::Read, "one file, plain", Stage::Read, Side::Control, 6.5e9),
            disk(Workload::Read, "one file, encrypted", Stage::Read, Side::A, 4.7e9),
            disk(Workload::Hash, "one file, plain", Stage::ReadHash, Side::Control, 2.6e9),
            disk(Workload::Hash, "one file, encrypted", Stage::ReadHash, Side::A, 2.2e9),
        ],
    },
    Publication {
        name: "Mac mini, M4 Pro, with a USB4 SSD",
        cpu: "Apple M4 Pro, 10 performance and 4 efficiency cores",
        os: "macOS 15.5",
        source: JULY,
        note: DISK_NOTE,
        published_unix_s: 1_753_056_000,
        figures: &[
            disk(Workload::Read, "160 files, plain", Stage::Read, Side::Control, 3.7e9),
            disk(Workload::Write, "160 files, plain", Stage::Write, Side::Control, 3.7e9),
            disk(Workload::Read, "one file, plain", Stage::Read, Side::Control, 3.8e9),
            disk(Workload::Read, "one file, encrypted", Stage::Read, Side::A, 3.7e9),
            disk(Workload::Hash, "one file, plain", Stage::ReadHash, Side::Control, 2.8e9),
            disk(Workload::Hash, "one file, encrypted", Stage::ReadHash, Side::A, 2.7e9),
        ],
    },
    Publication {
        name: "MacBook Pro 2017, macOS 10.14.0",
        cpu: "Intel Core",
        os: "macOS 10.14.0 (18A391)",
        source: MOJAVE,
        note: DSA_NOTE,
        published_unix_s: 1_732_838_400,
        figures: &[
            cipher("DSA-512, signing", Stage::Sign, "dsa-512", Unit::Operations, 1_485.0),
            cipher(
                "AES-256, a file of 832 MB in 23 s",
                Stage::EncryptFile,
                "aes-256",
                Unit::Bytes,
                832e6 / 23.0,
            ),
        ],
    },
    Publication {
        name: "MacBook Pro 2017, macOS 10.14.6",
        cpu: "Intel Core",
        os: "macOS 10.14.6",
        source: MOJAVE,
        note: DSA_NOTE,
        published_unix_s: 1_732_838_400,
        figures: &[
            cipher("DSA-512, signing", Stage::Sign, "dsa-512", Unit::Operations, 20_932.0),
            cipher(
                "AES-256, a file of 832 MB in 11 s",
                Stage::EncryptFile,
                "aes-256",
                Unit::Bytes,
                832e6 / 11.0,
            ),
        ],
    },
];

/// Returns all published records, one for each machine.
pub fn records() -> Vec<Record> {
    SOURCES.iter().map(record).collect()
}

fn record(source: &Publication) -> Record {
    Record {
        format: Format::Record,
        version: VERSION,
        made_by: "published".to_owned(),
        command: Vec::new(),
        name: Some(source.name.to_owned()),
        published: Some(Published {
            source: source.source.to_owned(),
            note: source.note.to_owned(),
        }),
        started_unix_s: source.published_unix_s,
        elapsed_ns: 0,
        partial: None,
        machine: Machine {
            cpu: source.cpu.to_owned(),
            os: source.os.to_owned(),
            ..Machine::default()
        },
        clock: Clock { name: "unknown".to_owned(), ..Clock::default() },
        places: Vec::new(),
        series: source.figures.iter().map(|figure| series(source, figure)).collect(),
        warnings: Vec::new(),
    }
}

fn series(source: &Publication, figure: &PublishedFigure) -> Series {
    let factors = Factors {
        stage: Some(figure.stage),
        algorithm: figure.algorithm.map(str::to_owned),
        qos: figure.qos,
        side: figure.side,
        ..Factors::default()
    };
    Series {
        unit: figure.unit,
        stated: Some(Stated { per_second: figure.per_second }),
        ..Series::new(figure.workload, figure.label, source.note, factors)
    }
}
