//! Compares machines: how fast each hashes, reads, and does both.
//!
//! Takes measured and published records. They were not all measured in the same way, so each figure
//! names its source.

use super::hash::{self, Figure, HashFigures, PathLine};
use super::storage;
use crate::record::{Cache, Record, Series, Stage, Workload};

/// The figures of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct HostFigures {
    /// Name of the machine, or of its processor.
    pub name: String,
    /// The configuration, if the record has several: `one file, encrypted`.
    pub what: Option<String>,
    /// The publication; `None` if the figures were measured.
    pub published: Option<String>,
    /// Bytes per second of a check at the highest QoS level, or without a level.
    pub hash_high_per_s: Option<Figure>,
    /// Bytes per second of a check at the lowest QoS.
    pub hash_low_per_s: Option<Figure>,
    /// Bytes per second of reading alone, from storage.
    pub read_per_s: Option<Figure>,
    /// Bytes per second of reading and hashing, from storage.
    pub net_per_s: Option<Figure>,
    /// The share of reading's rate that reading and hashing reaches.
    pub net_by_read: Option<Figure>,
}

/// Derives the figures of a machine; empty if the record has neither hashing nor reading.
pub fn of(record: &Record) -> Vec<HostFigures> {
    match &record.published {
        Some(published) => stated(record, &published.source),
        None => measured(record).into_iter().collect(),
    }
}

fn empty(record: &Record) -> HostFigures {
    HostFigures {
        name: record.name.clone().unwrap_or_else(|| record.machine.cpu.clone()),
        what: None,
        published: None,
        hash_high_per_s: None,
        hash_low_per_s: None,
        read_per_s: None,
        net_per_s: None,
        net_by_read: None,
    }
}

fn measured(record: &Record) -> Option<HostFigures> {
    let mut host = empty(record);
    if let Some(figures) = hash::of(record) {
        hashing(&figures, &mut host);
        host.read_per_s = from_storage(&figures, Stage::Read).and_then(rate_of);
        host.net_per_s = from_storage(&figures, Stage::ReadHash).and_then(rate_of);
        let from = from_storage(&figures, Stage::ReadHash).map(|line| line.cache);
        let overlap = figures.overlaps.iter().find(|overlap| Some(overlap.cache) == from);
        host.net_by_read = overlap.map(|overlap| overlap.net_by_read);
    }
    // Reading was measured in the same rounds as the net rate beside it.
    host.read_per_s = host.read_per_s.or_else(|| reading(record));
    let known = host.hash_high_per_s.is_some() || host.read_per_s.is_some();
    known.then_some(host)
}

/// Adds the levels of a check, or its line if no level was set.
fn hashing(figures: &HashFigures, host: &mut HostFigures) {
    let levels: Vec<_> =
        figures.levels.iter().filter(|level| level.stage == Stage::ReadHash).collect();
    let (low, high) = (levels.first(), levels.last());
    if let (Some(low), Some(high)) = (low, high)
        && low.qos < high.qos
    {
        (host.hash_low_per_s, host.hash_high_per_s) = (Some(low.rate), Some(high.rate));
        return;
    }
    let mut lines = figures.lines.iter().filter(|line| is_check(line));
    let warm = lines.clone().find(|line| line.cache == Some(Cache::Warm));
    host.hash_high_per_s = warm.or_else(|| lines.next()).and_then(rate_of);
}

fn is_check(line: &PathLine) -> bool {
    line.stage == Stage::ReadHash && line.engine != "null"
}

/// Returns the line of a stage whose bytes came from storage, as far as proved.
fn from_storage(figures: &HashFigures, stage: Stage) -> Option<&PathLine> {
    figures.lines.iter().find(|line| {
        let stored = matches!(line.cache, Some(Cache::Cold | Cache::Direct));
        line.stage == stage && line.engine != "null" && stored
    })
}

fn rate_of(line: &PathLine) -> Option<Figure> {
    let value = line.line.fits.robust.rate_per_s()?;
    Some(Figure { value, interval: line.line.rate_per_s })
}

/// Returns the rate of storage by `measure read`. Prefers reads past the page cache to reads after
/// emptying it.
fn reading(record: &Record) -> Option<Figure> {
    let figures = storage::of(record, Workload::Read)?;
    let by = |cache: Cache| {
        let found = figures.series.iter().find(|series| series.cache == Some(cache))?;
        let line = found.line.as_ref()?;
        Some(Figure { value: line.fits.robust.rate_per_s()?, interval: line.rate_per_s })
    };
    by(Cache::Direct).or_else(|| by(Cache::Cold))
}

/// Returns one row for the levels, and one for each kind of reading.
fn stated(record: &Record, source: &str) -> Vec<HostFigures> {
    let published = || HostFigures { published: Some(source.to_owned()), ..empty(record) };
    let mut hosts = Vec::new();
    let mut levels: Vec<(u8, Figure)> = record
        .series
        .iter()
        .filter(|series| series.factors.stage == Some(Stage::ReadHash))
        .filter_map(|series| Some((series.factors.qos?, Figure::stated(series)?)))
        .collect();
    levels.sort_by_key(|(level, _)| *level);
    if let (Some((_, low)), Some((_, high))) = (levels.first(), levels.last()) {
        hosts.push(HostFigures {
            hash_high_per_s: Some(*high),
            hash_low_per_s: Some(*low).filter(|_| levels.len() > 1),
            ..published()
        });
    }
    let reads = |series: &&Series| series.factors.stage == Some(Stage::Read);
    for read in record.series.iter().filter(reads) {
        let net = record.series.iter().find(|series| {
            series.factors.stage == Some(Stage::ReadHash) && series.label == read.label
        });
        let (read_per_s, net_per_s) = (Figure::stated(read), net.and_then(Figure::stated));
        let share = read_per_s.zip(net_per_s).map(|(read, net)| net.value / read.value);
        hosts.push(HostFigures {
            what: Some(read.label.clone()),
            read_per_s,
            net_per_s,
            net_by_read: share.map(|value| Figure { value, interval: None }),
            ..published()
        });
    }
    hosts
}
