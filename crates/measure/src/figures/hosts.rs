//! Compares machines: how fast each hashes, reads, and does both.
//!
//! Takes measured and published records. They were not all measured in the same way, so each figure
//! names its source.

use super::hash::{self, HashFigures, moves_bytes};
use super::{Curve, storage};
use crate::record::{Cache, Record, SessionLevel, Stage, Workload};
use crate::stats::Figure;

/// The figures of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostFigures {
    /// Name of the machine, or of its processor.
    pub name: String,
    /// The configuration, if the record has several: `one file, encrypted`.
    pub what: Option<String>,
    /// The publication; `None` if the figures were measured.
    pub published: Option<String>,
    /// Bytes per second of a check of one file, which is one stream, at the highest QoS level, or
    /// without a level.
    pub hash_high_per_s: Option<Figure>,
    /// The same at the lowest QoS level.
    pub hash_low_per_s: Option<Figure>,
    /// Bytes per second of a check of a folder, which is hashed in lanes and threads, at the
    /// highest QoS level.
    pub folder_high_per_s: Option<Figure>,
    /// The same at the lowest QoS level.
    pub folder_low_per_s: Option<Figure>,
    /// Bytes per second of writing files.
    pub write_per_s: Option<Figure>,
    /// Bytes per second of reading alone, from storage after the page cache was emptied.
    pub read_per_s: Option<Figure>,
    /// Bytes per second of reading past the page cache.
    pub read_direct_per_s: Option<Figure>,
    /// Bytes per second of reading and hashing, from storage.
    pub net_per_s: Option<Figure>,
    /// The share of reading's rate that reading and hashing reaches.
    pub net_by_read: Option<Figure>,
}

/// Derives the figures of a machine; empty if the record has neither hashing nor reading.
pub fn of(record: &Record) -> Vec<HostFigures> {
    let named = HostFigures {
        name: record.name.clone().unwrap_or_else(|| record.machine.cpu.clone()),
        published: record.published.as_ref().map(|published| published.source.clone()),
        ..HostFigures::default()
    };
    match named.published {
        Some(_) => stated(record, &named),
        None => measured(record, named).into_iter().collect(),
    }
}

fn measured(record: &Record, mut host: HostFigures) -> Option<HostFigures> {
    if let Some(figures) = hash::of(record) {
        let lowered = record.level.as_ref().is_some_and(SessionLevel::is_lowered);
        hashing(&figures, lowered, &mut host);
        let net = from_storage(&figures, Stage::ReadHash);
        host.read_per_s = from_storage(&figures, Stage::Read).and_then(|line| line.rate);
        host.net_per_s = net.and_then(|line| line.rate);
        let of_line = |overlap: &&hash::Overlap| {
            net.is_some_and(|net| {
                (overlap.cache, overlap.qos) == (net.factors.cache, net.factors.qos)
            })
        };
        host.net_by_read = figures.overlaps.iter().find(of_line).map(|overlap| overlap.net_by_read);
    }
    let files = |workload: Workload, is: &dyn Fn(&Curve<'_>) -> bool| {
        storage::of(record, workload).into_iter().find(is)?.rate
    };
    let reading = |cache: Cache| files(Workload::Read, &|files| files.factors.cache == Some(cache));
    // Reading was measured in the same rounds as the net rate beside it.
    host.read_per_s = host.read_per_s.or_else(|| reading(Cache::Cold));
    host.read_direct_per_s = reading(Cache::Direct);
    host.write_per_s = files(Workload::Write, &|files| files.factors.stage == Some(Stage::Write));
    let known = [
        host.hash_high_per_s,
        host.hash_low_per_s,
        host.folder_high_per_s,
        host.folder_low_per_s,
        host.write_per_s,
        host.read_per_s,
        host.read_direct_per_s,
    ];
    known.iter().any(Option::is_some).then_some(host)
}

/// Adds the rates of one stream, and those of a folder at levels. What a session below the default
/// level measured is no figure of a high level, whatever its threads asked for.
fn hashing(figures: &HashFigures<'_>, lowered: bool, host: &mut HostFigures) {
    let mut folders =
        figures.levels.iter().filter(|level| level.factors.stage == Some(Stage::ReadHash));
    let (low, high) = (folders.next(), folders.next_back());
    let (folder_high, folder_low) = match high {
        Some(_) => (high, low),
        None => (low, None),
    };
    let [folder_high, folder_low] = [folder_high, folder_low].map(|level| level?.rate);
    let at = |qos: Option<u8>| {
        let lines = || figures.checks().filter(|line| line.factors.qos == qos);
        let warm = lines().find(|line| line.factors.cache == Some(Cache::Warm));
        warm.or(lines().next())?.rate
    };
    let levels = || figures.checks().filter_map(|line| line.factors.qos);
    let (stream_high, stream_low) = match (levels().max(), levels().min()) {
        (high, low) if high == low => (at(None).or(at(high)), None),
        (high, low) => (at(high), at(low)),
    };
    if lowered {
        (host.hash_low_per_s, host.folder_low_per_s) = (stream_high, folder_high);
    } else {
        (host.hash_high_per_s, host.hash_low_per_s) = (stream_high, stream_low);
        (host.folder_high_per_s, host.folder_low_per_s) = (folder_high, folder_low);
    }
}

/// Returns the line of a stage whose bytes came from storage, as far as proved: that without a
/// level, or at the highest.
fn from_storage<'f, 'a>(figures: &'f HashFigures<'a>, stage: Stage) -> Option<&'f Curve<'a>> {
    figures.lines.iter().find(|line| {
        let stored = matches!(line.factors.cache, Some(Cache::Cold | Cache::Direct));
        line.factors.stage == Some(stage) && moves_bytes(line) && stored
    })
}

/// Returns one row for the levels, and one for each kind of reading and writing.
fn stated(record: &Record, named: &HostFigures) -> Vec<HostFigures> {
    let all: Vec<Curve<'_>> = record.series.iter().map(Curve::of).collect();
    let of_stage = |stage: Stage| all.iter().filter(move |of| of.factors.stage == Some(stage));
    let mut hosts = Vec::new();
    let levels = of_stage(Stage::ReadHash).filter(|of| of.factors.qos.is_some());
    let mut levels: Vec<&Curve<'_>> = levels.collect();
    levels.sort_by_key(|level| level.factors.qos);
    if let (Some(low), Some(high)) = (levels.first(), levels.last()) {
        hosts.push(HostFigures {
            hash_high_per_s: high.rate,
            hash_low_per_s: low.rate.filter(|_| levels.len() > 1),
            ..named.clone()
        });
    }
    let stores = |of: &&Curve<'_>| matches!(of.factors.stage, Some(Stage::Read | Stage::Write));
    let mut labels: Vec<&str> = Vec::new();
    for label in all.iter().filter(stores).map(|of| of.series.label.as_str()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    hosts.extend(labels.into_iter().map(|label| {
        let of = |stage: Stage| of_stage(stage).find(|of| of.series.label == label)?.rate;
        let (read_per_s, net_per_s) = (of(Stage::Read), of(Stage::ReadHash));
        let share = read_per_s.zip(net_per_s).map(|(read, net)| net.value / read.value);
        HostFigures {
            what: Some(label.to_owned()),
            write_per_s: of(Stage::Write),
            read_per_s,
            net_per_s,
            net_by_read: share.map(|value| Figure { value, interval: None }),
            ..named.clone()
        }
    }));
    hosts
}
