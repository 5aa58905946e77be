//! Ciphers with and without the processor's instructions: a section of a record's document.
//!
//! In: figures. Out: a [`Section`]: sentences, then tables. If an algorithm uses none of the
//! instructions, its ratio is not called a gain: it shows that something else changed.

use steadfast_measure::figures::cipher::{
    CipherFigures, CipherRow, Gain, GainAccount, TaskRate, UNTOUCHED_SHARE,
};
use steadfast_measure::figures::hash::Figure;
use steadfast_measure::record::{Isa, Stage, Unit};
use steadfast_measure::workload::cipher::masks;

use super::{INTERVALS, by_processor_words, cell, elapsed_cell, rows_layer, waited_cell};
use crate::document::{Axis, Cell, Chart, Field, Headline, Mark, Quantity, Section, Table};
use crate::units::{self, Units};

/// Makes the section.
pub(super) fn section(figures: &CipherFigures) -> Section {
    let mut sentences = Vec::new();
    sentences.extend(gain_sentence(figures));
    if let Some(account) = &figures.account {
        sentences.extend(account_sentences(account, &figures.library));
    }
    sentences.extend(untouched_sentences(figures));
    let mut tables = vec![rates(figures), gains(figures), tasks(&figures.tasks)];
    tables.retain(|table| !table.rows.is_empty());
    Section {
        title: "Ciphers, digests and signatures".to_owned(),
        headline: most_gained(figures).map(|(row, most)| {
            let what = format!(
                "as fast: {} with the processor's instructions, against {}",
                row.algorithm,
                masks::name(most.without)
            );
            Headline::new(cell(Quantity::Ratio, most.gain), what)
        }),
        sentences,
        tables,
        charts: charts(figures),
        notes: notes(figures),
    }
}

/// Returns the algorithm that gains most by its instructions.
fn most_gained(figures: &CipherFigures) -> Option<(&CipherRow, &Gain)> {
    let gains = figures.rows.iter().flat_map(|row| row.gains.iter().map(move |gain| (row, gain)));
    let by_single = gains.filter(|(_, gain)| gain.by_instructions && gain.without != Isa::Baseline);
    by_single.max_by(|a, b| a.1.gain.value.total_cmp(&b.1.gain.value))
}

/// Names the algorithm that gains most by its instructions.
fn gain_sentence(figures: &CipherFigures) -> Option<String> {
    let (row, most) = most_gained(figures)?;
    let gain = cell(Quantity::Ratio, most.gain).shown(Units::Si);
    Some(format!(
        "By {}, {} gains most by the processor's instructions: with them it is {gain} as fast as \
         with {}. Another library may gain more or less.",
        figures.library,
        row.algorithm,
        masks::name(most.without)
    ))
}

fn account_sentences(account: &GainAccount, library: &str) -> Vec<String> {
    let shown = |figure: Figure| cell(Quantity::Ratio, figure).shown(Units::Si);
    let mut sentences = vec![format!(
        "{} by {library} is {} as fast in memory with all instructions as with {}; enciphering a \
         file with it, {} as fast.",
        account.algorithm,
        shown(account.kernel_gain),
        masks::name(account.without),
        shown(account.task_gain)
    )];
    let share = |figure: Figure| cell(Quantity::Share, figure).shown(Units::Si);
    let measured = account.measured_share.map(share);
    sentences.push(match (&account.amdahl, measured) {
        (Some(amdahl), measured) => {
            let measured = measured.map_or(String::new(), |measured| {
                format!(" Measured within the task it was {measured}.")
            });
            let limit = match amdahl.limit() {
                limit if limit.is_finite() && limit < 1e3 => {
                    format!(
                        "were the cipher to take no time, {}",
                        Quantity::Ratio(limit).text(Units::Si)
                    )
                }
                _ => "the cipher was all there was to gain on".to_owned(),
            };
            format!(
                "By Amdahl's account the cipher had {} of the task's time without the \
                 instructions.{measured} The task could gain at most this: {limit}.",
                Quantity::Share(amdahl.share).text(Units::Si)
            )
        }
        (None, measured) => format!(
            "The task gained no less than the cipher, as far as was measured, so the cipher's \
             share does not follow: not enough data, or something else changed.{}",
            measured.map_or(String::new(), |measured| format!(
                " Measured within the task, the cipher had {measured} of its time."
            ))
        ),
    });
    sentences
}

/// States for each set of instructions whether algorithms changed that do not use those missing.
fn untouched_sentences(figures: &CipherFigures) -> Vec<String> {
    let far = |&&(_, gain): &&(Isa, f64)| (gain - 1.0).abs() > UNTOUCHED_SHARE;
    let sentence = |&(isa, gain): &(Isa, f64)| {
        format!(
            "With {} even those were different that use none of what is missing, {} as fast with \
             all: not enough data, or something else changed; the gains are doubtful by as much.",
            masks::name(isa),
            Quantity::Ratio(gain).text(Units::Si)
        )
    };
    figures.untouched.iter().filter(far).map(sentence).collect()
}

fn rates(figures: &CipherFigures) -> Table {
    let isas: Vec<Isa> = figures.isas.iter().map(|(isa, _)| *isa).collect();
    let rate = |row: &CipherRow, isa: Isa| {
        cell(of(row), row.rates.iter().find(|rate| rate.0 == isa).map(|rate| rate.1))
    };
    let title = "Rates by instructions, one thread";
    let elapsed: &[Field<'_, CipherRow>] = &[
        (">Elapsed", &|row| elapsed_cell(of(row), row.elapsed)),
        (">Waited", &|row| waited_cell(row.elapsed)),
    ];
    by_isa("cipher", title, ("", &isas), (&figures.rows, elapsed), rate)
}

fn gains(figures: &CipherFigures) -> Table {
    let isas = figures.isas.iter().map(|isa| isa.0);
    let without: Vec<Isa> = isas.filter(|isa| *isa != Isa::Full).collect();
    let rows: Vec<CipherRow> =
        figures.rows.iter().filter(|row| !row.gains.is_empty()).cloned().collect();
    let gain = |row: &CipherRow, isa: Isa| {
        let gain = row.gains.iter().find(|gain| gain.without == isa);
        let shown = cell(Quantity::Ratio, gain.map(|gain| gain.gain));
        match gain {
            // The ratio is shown as evidence, but not as a gain by instructions.
            Some(gain) if !gain.by_instructions => {
                Cell::text(format!("uses none ({})", shown.shown(Units::Si)))
            }
            _ => shown,
        }
    };
    let title = "How many times as fast with all";
    by_isa("cipher-gains", title, ("÷ ", &without), (&rows, &[]), gain)
}

/// A table with a column for each set of instructions.
fn by_isa(
    name: &str,
    title: &str,
    (mark, isas): (&str, &[Isa]),
    (rows, more): (&[CipherRow], &[Field<'_, CipherRow>]),
    of: impl Fn(&CipherRow, Isa) -> Cell,
) -> Table {
    let of = &of;
    let columns = isas
        .iter()
        .map(|&isa| (format!(">{mark}{}", masks::name(isa)), move |row: &CipherRow| of(row, isa)));
    let columns: Vec<_> = columns.collect();
    let mut fields: Vec<Field<'_, CipherRow>> = vec![
        ("Algorithm", &|row| Cell::text(&row.algorithm)),
        ("What", &|row| Cell::text(what(row.stage))),
    ];
    fields.extend(columns.iter().map(|(title, cell)| -> Field<'_, CipherRow> { (title, cell) }));
    fields.extend_from_slice(more);
    Table::of(name, title, 2, rows, &fields).without_empty_columns()
}

fn tasks(tasks: &[TaskRate]) -> Table {
    let fields: &[Field<'_, TaskRate>] = &[
        ("Cipher", &|of| Cell::text(&of.algorithm)),
        ("Instructions", &|of| Cell::text(masks::name(of.isa))),
        (">File", &|of| Cell::bytes(of.bytes)),
        (">Rate", &|of| cell(Quantity::Rate, of.rate)),
        (">Cipher's share", &|of| cell(Quantity::Share, of.cipher_share)),
    ];
    Table::of("cipher-file", "A file to an enciphered file", 2, tasks, fields)
}

fn charts(figures: &CipherFigures) -> Vec<Chart> {
    let mut charts = vec![by_instructions(figures)];
    charts.retain(|chart| chart.layers.iter().any(|layer| !layer.points.is_empty()));
    charts
}

/// Rates in bytes per second, with each set of instructions.
fn by_instructions(figures: &CipherFigures) -> Chart {
    let rows: Vec<&CipherRow> = figures.rows.iter().filter(|row| row.unit == Unit::Bytes).collect();
    let layer = |isa: Isa| {
        rows_layer(masks::name(isa), Mark::Bars, &rows, |row| {
            row.rates.iter().find(|(of, _)| *of == isa).map(|(_, rate)| *rate)
        })
    };
    let names = Axis::names(rows.iter().map(|row| row.algorithm.clone()));
    Chart::new(
        "cipher-rates",
        "Ciphers and digests in memory, by instructions",
        "For each algorithm one bar with each set of instructions: bytes per second of one thread.",
        (names, Axis::linear("rate", Quantity::Rate(0.0))),
        figures.isas.iter().map(|(isa, _)| layer(*isa)).collect(),
    )
}

fn what(stage: Stage) -> &'static str {
    match stage {
        Stage::Encrypt => "Encipher",
        Stage::Hash => "Hash",
        Stage::Sign => "Sign",
        Stage::Verify => "Verify",
        _ => "Other",
    }
}

fn of(row: &CipherRow) -> fn(f64) -> Quantity {
    if row.unit == Unit::Bytes { Quantity::Rate } else { Quantity::PerSecond }
}

fn is_by_processor(figures: &CipherFigures) -> bool {
    figures.rows.iter().any(|row| row.elapsed.is_some())
}

fn notes(figures: &CipherFigures) -> Vec<String> {
    let by = by_processor_words(is_by_processor(figures));
    let words = figures.isas.iter().filter(|(_, words)| !words.is_empty());
    let words: Vec<String> =
        words.map(|(isa, words)| format!("{} {words}", masks::name(*isa))).collect();
    vec![
        format!(
            "By {}, in {}: each set of instructions has its own, started with a mask. The words \
             that the library sees of the processor differ by the mask and nothing else: {}.",
            figures.library,
            units::counted(figures.isas.len() as u64, "process", "processes"),
            words.join(", ")
        ),
        "RSA, DSA, ECDSA and Ed25519 multiply large numbers; the few bytes they hash or draw \
         hardly count. What they gain between versions of a library is not the work of \
         instructions for AES."
            .to_owned(),
        format!(
            "Rates are medians over rounds in which everything was measured in turn, gains medians \
             of the ratios within a round. {by} {INTERVALS}"
        ),
    ]
}
