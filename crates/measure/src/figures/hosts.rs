//! Compares machines: how fast each hashes, reads, and does both.
//!
//! Takes measured and published records. They were not all measured in the same way, so each figure
//! names its source.

use super::hash::{self, Figure, HashFigures, LevelRate, PathLine};
use super::storage;
use crate::record::{Cache, Record, Series, SessionLevel, Stage, Workload};

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
    match &record.published {
        Some(published) => stated(record, &published.source),
        None => measured(record).into_iter().collect(),
    }
}

/// Names a machine, without figures.
fn named(record: &Record) -> HostFigures {
    let name = record.name.clone().unwrap_or_else(|| record.machine.cpu.clone());
    HostFigures { name, ..HostFigures::default() }
}

fn measured(record: &Record) -> Option<HostFigures> {
    let mut host = named(record);
    if let Some(figures) = hash::of(record) {
        let lowered = record.level.as_ref().is_some_and(SessionLevel::is_lowered);
        hashing(&figures, lowered, &mut host);
        host.read_per_s = from_storage(&figures, Stage::Read).and_then(PathLine::rate);
        host.net_per_s = from_storage(&figures, Stage::ReadHash).and_then(PathLine::rate);
        let from = from_storage(&figures, Stage::ReadHash).map(|line| (line.cache, line.qos));
        let of_line = |overlap: &&hash::Overlap| Some((overlap.cache, overlap.qos)) == from;
        let overlap = figures.overlaps.iter().find(of_line);
        host.net_by_read = overlap.map(|overlap| overlap.net_by_read);
    }
    // Reading was measured in the same rounds as the net rate beside it.
    host.read_per_s = host.read_per_s.or_else(|| reading(record, Cache::Cold));
    host.read_direct_per_s = reading(record, Cache::Direct);
    host.write_per_s = writing(record);
    host.is_known().then_some(host)
}

/// Adds the rates of one stream, and those of a folder at levels. What a session below the default
/// level measured is no figure of a high level, whatever its threads asked for.
fn hashing(figures: &HashFigures, lowered: bool, host: &mut HostFigures) {
    let folder = |level: Option<&LevelRate>| level.map(|level| level.rate);
    let mut levels = figures.levels.iter().filter(|level| level.stage == Stage::ReadHash);
    let (low, high) = (levels.next(), levels.next_back());
    let checks = || figures.lines.iter().filter(|line| line.is_check());
    let at = |qos: Option<u8>| {
        let lines = || checks().filter(|line| line.qos == qos);
        let warm = lines().find(|line| line.cache == Some(Cache::Warm));
        warm.or(lines().next()).and_then(PathLine::rate)
    };
    let levels = || checks().filter_map(|line| line.qos);
    let (stream_high, stream_low) = match (levels().max(), levels().min()) {
        (high, low) if high == low => (at(None).or(at(high)), None),
        (high, low) => (at(high), at(low)),
    };
    if lowered {
        host.hash_low_per_s = stream_high;
        host.folder_low_per_s = folder(high.or(low));
        return;
    }
    (host.hash_high_per_s, host.hash_low_per_s) = (stream_high, stream_low);
    (host.folder_high_per_s, host.folder_low_per_s) = match (high, low) {
        (None, only) => (folder(only), None),
        (high, low) => (folder(high), folder(low)),
    };
}

/// Returns the line of a stage whose bytes came from storage, as far as proved: that without a
/// level, or at the highest.
fn from_storage(figures: &HashFigures, stage: Stage) -> Option<&PathLine> {
    figures.lines.iter().find(|line| {
        let stored = matches!(line.cache, Some(Cache::Cold | Cache::Direct));
        line.stage == stage && line.moves_bytes() && stored
    })
}

impl HostFigures {
    /// Returns whether there is any figure of hashing, reading or writing.
    fn is_known(&self) -> bool {
        let figures = [
            self.hash_high_per_s,
            self.hash_low_per_s,
            self.folder_high_per_s,
            self.folder_low_per_s,
            self.write_per_s,
            self.read_per_s,
            self.read_direct_per_s,
        ];
        figures.iter().any(Option::is_some)
    }
}

/// Returns the rate of `measure read` in one way.
fn reading(record: &Record, cache: Cache) -> Option<Figure> {
    let figures = storage::of(record, Workload::Read)?;
    figures.series.iter().find(|series| series.cache == Some(cache))?.rate()
}

/// Returns the rate of `measure write`.
fn writing(record: &Record) -> Option<Figure> {
    let figures = storage::of(record, Workload::Write)?;
    figures.series.iter().find(|series| series.stage == Stage::Write)?.rate()
}

/// Returns one row for the levels, and one for each kind of reading and writing.
fn stated(record: &Record, source: &str) -> Vec<HostFigures> {
    let published = || HostFigures { published: Some(source.to_owned()), ..named(record) };
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
    let stores =
        |series: &&Series| matches!(series.factors.stage, Some(Stage::Read | Stage::Write));
    let mut labels: Vec<&str> = Vec::new();
    for series in record.series.iter().filter(stores) {
        if !labels.contains(&series.label.as_str()) {
            labels.push(&series.label);
        }
    }
    for label in labels {
        let of = |stage: Stage| {
            let mut all = record.series.iter();
            all.find(|one| one.factors.stage == Some(stage) && one.label == label)
                .and_then(Figure::stated)
        };
        let (read_per_s, net_per_s) = (of(Stage::Read), of(Stage::ReadHash));
        let share = read_per_s.zip(net_per_s).map(|(read, net)| net.value / read.value);
        hosts.push(HostFigures {
            what: Some(label.to_owned()),
            write_per_s: of(Stage::Write),
            read_per_s,
            net_per_s,
            net_by_read: share.map(|value| Figure { value, interval: None }),
            ..published()
        });
    }
    hosts
}
