//! Published figures of other people, as records for comparison. This program did not measure them.
//!
//! One record per machine. Every figure has its source, and only figures that the text of a
//! publication states are here, none that were inferred or read off a chart.

use crate::record::{
    Clock, Factors, Format, Machine, Published, Record, Series, Side, Stage, Stated, StatedShare,
    Unit, VERSION, Workload,
};

/// High and low QoS, as the publications call the ends of the scale.
const HIGH: u8 = 33;
const LOW: u8 = 9;

const APRIL: &str = "H. Oakley, The Eclectic Light Company, \"How checking hashes can slow your \
                     Mac\", April 2025";
const JULY: &str = "H. Oakley, The Eclectic Light Company, \"Encryption and checking hashes slows \
                    faster SSDs\", 17 July 2025";
const SHA_JULY: &str = "H. Oakley, The Eclectic Light Company, \"Intel Macs can be much slower \
                        computing SHA-256 hashes\", July 2025";
const CORES: &str = "H. Oakley, The Eclectic Light Company, on the performance of cores in Intel \
                     and Apple silicon Macs, 16 May 2025";
const MOJAVE: &str = "Le Journal du Lapin, on AES-NI in macOS Mojave, 29 November 2024";

/// The published figures of one machine.
struct Publication {
    name: &'static str,
    cpu: &'static str,
    os: &'static str,
    source: &'static str,
    note: &'static str,
    /// Day of publication, in seconds since 1970; the last of the month if only that is known.
    published_unix_s: i64,
    figures: &'static [PublishedFigure],
    /// What, of what, and the share.
    shares: &'static [(&'static str, &'static str, f64)],
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
const HASH_NOTE: &str = "SHA-256 of files of 1 MB to 10 GB, read and hashed in one loop by Dintch; \
                         the rate is the inverse slope of time against size. The text also \
                         estimates nearly 250 MB at well over 0.5 s on an iMac Pro and less than \
                         0.1 s on an M4 Pro, and almost 1 GB at over 2.5 s on an iMac Pro.";
const SHA_NOTE: &str = "SHA-256 of files of 10 GB, read and hashed in one loop at the highest QoS; \
                        reads by Stibium. Rates are in a chart only; these are the shares in the \
                        text.";
const CORES_NOTE: &str = "Six loops in one thread and in four. Rates are in charts only; these are \
                          the shares in the text, which gives typical ones and the greatest.";
const THUNDERBOLT_3_NOTE: &str = "160 files of 2 MB to 2 GB, earlier results that the article of \
                                  July 2025 repeats.";
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

/// A rate that is not that of the fitted line, so it has no level to be looked up by.
const fn one_gigabyte(label: &'static str, per_second: f64) -> PublishedFigure {
    figure(Workload::Hash, label, Stage::ReadHash, SHA256, per_second)
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
            one_gigabyte("SHA-256 of 1 GB in 2.4 s, high QoS", 1e9 / 2.4),
        ],
        shares: &[],
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
            one_gigabyte("SHA-256 of 1 GB in 2.1 s, low QoS", 1e9 / 2.1),
        ],
        shares: &[],
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
            one_gigabyte("SHA-256 of 1 GB in 0.34 s, high QoS", 1e9 / 0.34),
            one_gigabyte(
                "SHA-256 of almost 1 GB in around 0.4 s, an estimate, high QoS",
                1e9 / 0.4,
            ),
            one_gigabyte("SHA-256 of large files, about, high QoS", 3e9),
        ],
        shares: &[],
    },
    Publication {
        name: "Mac mini, M4 Pro, with a Thunderbolt 5 SSD",
        cpu: "Apple M4 Pro, 10 performance and 4 efficiency cores",
        os: "macOS 15.5",
        source: JULY,
        note: DISK_NOTE,
        published_unix_s: 1_752_710_400,
        figures: &[
            disk(Workload::Read, "160 files, plain", Stage::Read, Side::Control, 5.3e9),
            disk(Workload::Write, "160 files, plain", Stage::Write, Side::Control, 5.3e9),
            disk(Workload::Write, "160 files, encrypted", Stage::Write, Side::A, 4.7e9),
            disk(Workload::Read, "one file, plain", Stage::Read, Side::Control, 6.5e9),
            disk(Workload::Read, "one file, encrypted", Stage::Read, Side::A, 4.7e9),
            disk(Workload::Hash, "one file, plain", Stage::ReadHash, Side::Control, 2.6e9),
            disk(Workload::Hash, "one file, encrypted", Stage::ReadHash, Side::A, 2.2e9),
        ],
        shares: &[
            ("reading 160 files, encrypted", "reading them, plain", 0.98),
            ("writing 160 files, encrypted", "writing them, plain", 0.89),
        ],
    },
    Publication {
        name: "Mac mini, M4 Pro, with a USB4 SSD",
        cpu: "Apple M4 Pro, 10 performance and 4 efficiency cores",
        os: "macOS 15.5",
        source: JULY,
        note: DISK_NOTE,
        published_unix_s: 1_752_710_400,
        figures: &[
            disk(Workload::Read, "160 files, plain", Stage::Read, Side::Control, 3.7e9),
            disk(Workload::Write, "160 files, plain", Stage::Write, Side::Control, 3.7e9),
            disk(Workload::Read, "one file, plain", Stage::Read, Side::Control, 3.8e9),
            disk(Workload::Read, "one file, encrypted", Stage::Read, Side::A, 3.7e9),
            disk(Workload::Hash, "one file, plain", Stage::ReadHash, Side::Control, 2.8e9),
            disk(Workload::Hash, "one file, encrypted", Stage::ReadHash, Side::A, 2.7e9),
        ],
        shares: &[
            ("reading 160 files, encrypted", "reading them, plain", 0.95),
            ("writing 160 files, encrypted", "writing them, plain", 0.97),
        ],
    },
    Publication {
        name: "Mac Studio, M1 Max, with a Thunderbolt 3 SSD that encryption slows",
        cpu: "Apple M1 Max",
        os: "macOS",
        source: JULY,
        note: THUNDERBOLT_3_NOTE,
        published_unix_s: 1_752_710_400,
        figures: &[
            disk(Workload::Write, "160 files, plain", Stage::Write, Side::Control, 2.2e9),
            disk(Workload::Write, "160 files, encrypted", Stage::Write, Side::A, 1.8e9),
        ],
        shares: &[],
    },
    Publication {
        name: "Mac Studio, M1 Max, with the fastest Thunderbolt 3 SSD",
        cpu: "Apple M1 Max",
        os: "macOS",
        source: JULY,
        note: THUNDERBOLT_3_NOTE,
        published_unix_s: 1_752_710_400,
        figures: &[
            disk(Workload::Write, "160 files, plain", Stage::Write, Side::Control, 2.8e9),
            disk(Workload::Write, "160 files, encrypted", Stage::Write, Side::A, 2.8e9),
        ],
        shares: &[],
    },
    Publication {
        name: "MacBook Pro 2019, Core i9",
        cpu: "Intel Core i9, 2.3 GHz, 8 cores",
        os: "macOS 15.5",
        source: SHA_JULY,
        note: SHA_NOTE,
        published_unix_s: 1_753_920_000,
        figures: &[],
        shares: &[
            ("reading and hashing 10 GB", "reading it", 0.17),
            ("reading and hashing 10 GB", "the same on the Mac mini, M4 Pro", 0.16),
            ("reading 10 GB", "the same on the Mac mini, M4 Pro", 0.37),
        ],
    },
    Publication {
        name: "MacBook Pro, M3 Pro, files of 10 GB",
        cpu: "Apple M3 Pro, 6 performance and 6 efficiency cores",
        os: "macOS 26.0 beta 3",
        source: SHA_JULY,
        note: SHA_NOTE,
        published_unix_s: 1_753_920_000,
        figures: &[],
        shares: &[("reading and hashing 10 GB", "reading it", 0.48)],
    },
    Publication {
        name: "Mac mini, M4 Pro, files of 10 GB",
        cpu: "Apple M4 Pro, 10 performance and 4 efficiency cores",
        os: "macOS 15.5",
        source: SHA_JULY,
        note: SHA_NOTE,
        published_unix_s: 1_753_920_000,
        figures: &[],
        shares: &[
            ("reading and hashing 10 GB", "reading it", 0.40),
            ("reading and hashing 10 GB, over", "the same on the MacBook Pro, Core i9", 6.00),
        ],
    },
    Publication {
        name: "Loops in cores of four Macs",
        cpu: "Intel Xeon W, Intel Core i9, Apple M3 Pro, Apple M4 Pro",
        os: "macOS 15.3.2 and 15.5",
        source: CORES,
        note: CORES_NOTE,
        published_unix_s: 1_747_353_600,
        figures: &[],
        shares: &[
            ("loops, Xeon W, low QoS", "the same at high QoS", 0.45),
            ("loops, Core i9, low QoS", "the same at high QoS", 0.35),
            ("loops, Core i9, low QoS, least", "the same at high QoS", 0.30),
            ("the first three loops, M4 Pro, high QoS, about", "the Xeon W, high QoS", 2.00),
            ("BNNSMatMul, M4 Pro, high QoS, over", "the Xeon W, high QoS", 4.00),
            ("loops, M3 Pro, performance cores, typical", "a Xeon or i9 core", 1.60),
            ("loops, M3 Pro, performance cores, greatest", "a Xeon or i9 core", 3.30),
            ("loops, M4 Pro, performance cores, typical", "a Xeon or i9 core", 1.90),
            ("loops, M4 Pro, performance cores, greatest", "a Xeon or i9 core", 4.00),
            ("loops, efficiency cores, low QoS, typical", "a Xeon or i9 core, high QoS", 0.30),
            ("BNNSMatMul, M4 Pro, efficiency cores, low QoS", "the Xeon W, high QoS", 0.66),
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
        shares: &[],
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
        shares: &[("AES with instructions, at most, not measured", "without them", 20.00)],
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
            note: format!(
                "{} Each figure is printed in the text, none read off a chart.",
                source.note
            ),
            shares: source.shares.iter().map(share).collect(),
        }),
        started_unix_s: source.published_unix_s,
        elapsed_ns: 0,
        partial: None,
        machine: Machine {
            cpu: source.cpu.to_owned(),
            os: source.os.to_owned(),
            ..Machine::default()
        },
        level: None,
        clock: Clock { name: "unknown".to_owned(), ..Clock::default() },
        places: Vec::new(),
        series: source.figures.iter().map(|figure| series(source, figure)).collect(),
        warnings: Vec::new(),
    }
}

fn share(&(what, of, share): &(&str, &str, f64)) -> StatedShare {
    StatedShare { what: what.to_owned(), of: of.to_owned(), share }
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
