//! Ciphers with and without the processor's instructions: a section of a record's document.
//!
//! If an algorithm uses none of the instructions, its ratio is not called a gain: it shows that
//! something else changed.

use steadfast_measure::figures::Curve;
use steadfast_measure::figures::cipher::{
    self, CipherFigures, CipherRow, Gain, GainAccount, UNTOUCHED_SHARE, isa,
};
use steadfast_measure::record::{Isa, Record, Stage, Unit};
use steadfast_measure::workload::cipher::masks;

use super::{
    INTERVALS, bars, by_processor_words, cell, crossed, elapsed, rate, ratio, rows_layer, share,
    waited,
};
use crate::document::{Axis, Cell, Chart, Field, Headline, Mark, Quantity, Section, Table};
use crate::units::{self, Units};

/// Makes the section.
pub(super) fn section(record: &Record) -> Option<Section> {
    let figures = cipher::of(record)?;
    let most = most_gained(&figures);
    let mut sentences = Vec::new();
    sentences.extend(most.map(|(row, most)| {
        format!(
            "By {}, {} gains most by the processor's instructions: with them it is {} as fast as \
             with {}. Another library may gain more or less.",
            figures.library(),
            row.first().algorithm(),
            ratio(most.gain),
            masks::name(most.without)
        )
    }));
    let full = || figures.tasks.iter().filter(|task| isa(task) == Isa::Full);
    let of_task = full().find_map(|task| figures.cipher_share(task));
    sentences.extend(of_task.map(|of_task| {
        format!("Of the time in which the file is enciphered, the cipher has {}.", share(of_task))
    }));
    let headline = match (of_task, most) {
        (Some(of_task), _) => {
            let what = "of the time in which a file is encrypted goes to the cipher, the rest to \
                        reading and writing.";
            let bars =
                full().map(|of| (of.algorithm().to_owned(), Quantity::Rate(of.per_second())));
            Some(Headline::new(cell(Quantity::Share, of_task), what).among(bars))
        }
        (None, most) => most.map(|(row, most)| {
            let (algorithm, without) = (row.first().algorithm(), masks::name(most.without));
            let what = format!(
                "as fast: {algorithm} with the processor's instructions, against {without}"
            );
            Headline::new(cell(Quantity::Ratio, most.gain), what)
        }),
    };
    let account = figures.account();
    sentences.extend(account.iter().flat_map(|of| account_sentences(of, figures.library())));
    // For each set of instructions whether algorithms changed that do not use those missing.
    let untouched = figures.untouched().into_iter();
    let untouched = untouched.filter(|(_, gain)| (gain - 1.0).abs() > UNTOUCHED_SHARE);
    sentences.extend(untouched.map(|(isa, gain)| {
        format!(
            "With {} even those were different that use none of what is missing, {} as fast with \
             all: not enough data, or something else changed; the gains are doubtful by as much.",
            masks::name(isa),
            Quantity::Ratio(gain).text(Units::Si)
        )
    }));
    let tasks: &[Field<'_, Curve<'_>>] = &[
        ("Cipher", &|of| Cell::text(of.algorithm())),
        ("Instructions", &|of| Cell::text(masks::name(isa(of)))),
        (">File", &|of| Cell::bytes(of.amounts().1 as u64)),
        (">Rate", &rate),
        (">Cipher's share", &|of| cell(Quantity::Share, figures.cipher_share(of))),
    ];
    let title = "A file to an enciphered file";
    Some(Section {
        title: "Ciphers, digests and signatures".to_owned(),
        headline,
        sentences,
        tables: vec![
            rates(&figures),
            gains(&figures),
            Table::of("cipher-file", title, 2, &figures.tasks, tasks),
        ],
        charts: vec![by_instructions(&figures)],
        notes: notes(&figures),
    })
}

/// Returns the algorithm that gains most by its instructions.
fn most_gained<'f, 'a>(figures: &'f CipherFigures<'a>) -> Option<(&'f CipherRow<'a>, Gain)> {
    figures.explained().max_by(|a, b| a.1.gain.value.total_cmp(&b.1.gain.value))
}

fn account_sentences(account: &GainAccount<'_>, library: &str) -> [String; 2] {
    let first = format!(
        "{} by {library} is {} as fast in memory with all instructions as with {}; enciphering a \
         file with it, {} as fast.",
        account.algorithm,
        ratio(account.kernel_gain),
        masks::name(account.without),
        ratio(account.task_gain)
    );
    let measured = account.measured_share.map(share);
    let second = match (&account.amdahl, measured) {
        (Some(amdahl), measured) => {
            let measured = measured.map_or(String::new(), |measured| {
                format!(" Measured within the task it was {measured}.")
            });
            let limit = match amdahl.limit() {
                limit if limit.is_finite() && limit < 1e3 => {
                    let limit = Quantity::Ratio(limit).text(Units::Si);
                    format!("were the cipher to take no time, {limit}")
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
    };
    [first, second]
}

fn algorithm(row: &CipherRow<'_>) -> Cell {
    Cell::text(row.first().algorithm())
}

fn operation(row: &CipherRow<'_>) -> Cell {
    Cell::text(match row.first().factors.stage {
        Some(Stage::Encrypt) => "Encipher",
        Some(Stage::Hash) => "Hash",
        Some(Stage::Sign) => "Sign",
        Some(Stage::Verify) => "Verify",
        _ => "Other",
    })
}

fn rates(figures: &CipherFigures<'_>) -> Table {
    let full = |row: &CipherRow<'_>, of: fn(&Curve<'_>) -> Cell| {
        row.with(Isa::Full).map_or(Cell::Empty, of)
    };
    let after: &[Field<'_, CipherRow<'_>>] =
        &[(">Elapsed", &|row| full(row, elapsed)), (">Waited", &|row| full(row, waited))];
    let isas = figures.isas.iter().map(|(isa, _)| (format!(">{}", masks::name(*isa)), *isa));
    let named: &[Field<'_, CipherRow<'_>>] = &[("Algorithm", &algorithm), ("What", &operation)];
    let words = ["cipher", "Rates by instructions, one thread"];
    let isas: Vec<(String, Isa)> = isas.collect();
    crossed(words, &figures.rows, (named, after), &isas, |row, isa| {
        row.with(*isa).map_or(Cell::Empty, rate)
    })
    .without_empty_columns()
}

fn gains(figures: &CipherFigures<'_>) -> Table {
    let without = figures.isas.iter().map(|(isa, _)| *isa).filter(|isa| *isa != Isa::Full);
    let without: Vec<(String, Isa)> =
        without.map(|isa| (format!(">÷ {}", masks::name(isa)), isa)).collect();
    let rows = figures.rows.iter().filter(|row| row.gains().next().is_some());
    let rows: Vec<CipherRow<'_>> = rows.cloned().collect();
    let named: &[Field<'_, CipherRow<'_>>] = &[("Algorithm", &algorithm), ("What", &operation)];
    let words = ["cipher-gains", "How many times as fast with all"];
    crossed(words, &rows, (named, &[]), &without, |row, isa| match row.gain(*isa) {
        // The ratio is shown as evidence, but not as a gain by instructions.
        Some(gain) if !gain.by_instructions => {
            Cell::text(format!("uses none ({})", ratio(gain.gain)))
        }
        gain => cell(Quantity::Ratio, gain.map(|gain| gain.gain)),
    })
    .without_empty_columns()
}

/// Rates in bytes per second, with each set of instructions.
fn by_instructions(figures: &CipherFigures<'_>) -> Chart {
    let rows = figures.rows.iter().filter(|row| row.first().series.unit == Unit::Bytes);
    let rows: Vec<&CipherRow<'_>> = rows.collect();
    let layer = |(isa, _): &(Isa, &str)| {
        rows_layer(masks::name(*isa), Mark::Bars, &rows, |row| row.with(*isa)?.rate)
    };
    let words = [
        "cipher-rates",
        "Ciphers and digests in memory, by instructions",
        "For each algorithm one bar with each set of instructions: bytes per second of one thread.",
    ];
    let names = rows.iter().map(|row| row.first().algorithm().to_owned());
    let y = Axis::linear("rate", Quantity::Rate(0.0));
    bars(words, names, y, figures.isas.iter().map(layer).collect())
}

fn notes(figures: &CipherFigures<'_>) -> Vec<String> {
    let full = figures.rows.iter().filter_map(|row| row.with(Isa::Full)?.elapsed());
    let by = by_processor_words(full.count() > 0);
    let words = figures.isas.iter().filter(|(_, words)| !words.is_empty());
    let words: Vec<String> =
        words.map(|(isa, words)| format!("{} {words}", masks::name(*isa))).collect();
    vec![
        format!(
            "By {}, in {}: each set of instructions has its own, started with a mask. The words \
             that the library sees of the processor differ by the mask and nothing else: {}.",
            figures.library(),
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
