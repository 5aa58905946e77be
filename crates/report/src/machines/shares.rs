//! Figures that are a share of another one, measured beside published: a section of the document
//! about machines.
//!
//! Publications often print only how much slower something is. A measured record has the same
//! shares, each with its interval: low QoS of high, encrypted of plain, hashing of reading.

use steadfast_measure::figures::{Curve, cipher, cpu, hash, pair};
use steadfast_measure::record::{Record, Side, Stage};
use steadfast_measure::stats::Figure;
use steadfast_measure::workload::cipher::masks;

use super::names;
use crate::document::{Cell, Quantity, Section, Table};
use crate::measure::{cache_words, cell, level_name};
use crate::units;

/// What, of what, and the share.
type MeasuredShare = (String, String, Figure);

/// Makes the section.
pub(super) fn section(records: &[&Record]) -> Section {
    let columns = ["Machine", "Figures", "What", "Of", ">Share"];
    let mut table = Table::new("shares", "Shares, measured and published", &columns).keyed(4);
    for (record, name) in records.iter().zip(names(records)) {
        let mut row = |figures: &str, what: &str, of: &str, share: Cell| {
            let words = [&name, figures, what, of].map(Cell::text);
            table.push(words.into_iter().chain([share]).collect());
        };
        match &record.published {
            Some(published) => published.shares.iter().for_each(|share| {
                let stated = Cell::Number(Quantity::Share(share.share));
                row("Published", &units::capital(&share.what), &share.of, stated);
            }),
            None => measured(record).into_iter().for_each(|(what, of, share)| {
                row("Measured", &what, &of, cell(Quantity::Share, share));
            }),
        }
    }
    Section {
        title: "Shares".to_owned(),
        sentences: vec![
            "Sources often print only what one figure is of another. Measured shares have \
             intervals, published ones have none."
                .to_owned(),
        ],
        tables: vec![table],
        ..Section::default()
    }
}

fn measured(record: &Record) -> Vec<MeasuredShare> {
    let of_parts = [
        hash::of(record).map(|figures| of_hash(&figures)),
        pair::of(record).map(|figures| of_pair(&figures, record)),
        cipher::of(record).map(|figures| of_cipher(&figures)),
        cpu::of(record, None).map(|figures| of_cpu(&figures)),
    ];
    of_parts.into_iter().flatten().flatten().collect()
}

/// Reading and hashing as a share of reading, from each state of the page cache and at each level.
fn of_hash(figures: &hash::HashFigures<'_>) -> Vec<MeasuredShare> {
    let share = |of: &hash::Overlap| {
        let level = of.qos.map_or(String::new(), |qos| format!(", at {}", level_name(qos)));
        let what = format!("Reading and hashing, {}{level}", cache_words(of.cache));
        (what, "reading".to_owned(), of.net_by_read)
    };
    figures.overlaps.iter().map(share).collect()
}

/// Each step in folder A as a share of the same in B.
fn of_pair(figures: &pair::PairFigures, record: &Record) -> Vec<MeasuredShare> {
    let path = |wanted: Side| {
        let of_side = figures.sides.iter().find(|(side, _)| *side == wanted);
        let place = of_side.and_then(|(_, place)| record.places.get((*place)?));
        place.map_or("the other folder".to_owned(), |place| place.path.clone())
    };
    let (a, b) = (path(Side::A), path(Side::B));
    let whole = |row: &&pair::PairRow| {
        let one_length = figures.length_level.is_none();
        row.depth.is_none() && (one_length || row.len_bytes.is_none())
    };
    let share = |row: &pair::PairRow| {
        let step = match row.stage {
            Stage::Write => "Writing",
            Stage::Read => "Reading",
            Stage::Hash => "Processor time of both",
            _ => "Reading and hashing",
        };
        Some((format!("{step} in {a}"), format!("in {b}"), row.a_to_b.ratio?))
    };
    figures.rows.iter().filter(whole).filter_map(share).collect()
}

/// Each algorithm with all instructions as a multiple of the same without some.
fn of_cipher(figures: &cipher::CipherFigures<'_>) -> Vec<MeasuredShare> {
    let share = |(row, gain): (&cipher::CipherRow<'_>, cipher::Gain)| {
        let what = format!("{} with instructions", row.first().algorithm());
        (what, format!("with {}", masks::name(gain.without)), gain.gain)
    };
    let task = figures.account().map(|account| {
        let what = format!("A file by {} with instructions", account.algorithm);
        (what, format!("with {}", masks::name(account.without)), account.task_gain)
    });
    figures.explained().map(share).chain(task).collect()
}

/// Each loop of one thread at a lower level as a share of the same at the highest.
fn of_cpu(figures: &cpu::CpuFigures<'_>) -> Vec<MeasuredShare> {
    let Some(levels) = figures.levels else { return Vec::new() };
    let high = format!("at {}", level_name(levels.high));
    let share = |rate: &Curve<'_>| {
        let what = format!("{}, at {}", rate.algorithm(), level_name(rate.factors.qos?));
        Some((what, high.clone(), figures.of_high(rate)?))
    };
    figures.alone().filter_map(share).collect()
}
