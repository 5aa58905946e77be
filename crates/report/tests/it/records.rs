//! Records as documents: what is in a record is in its document, however little or odd it is.

use std::path::Path;

use proptest::prelude::*;
use steadfast_measure::figures::hosts;
use steadfast_measure::published;
use steadfast_measure::record::{self, Factors, Record, Sample, Series, Stage, Unit, Workload};
use steadfast_measure::workload::queue::FOUR_ROWS;
use steadfast_report::document::{
    Cell, Document, DocumentTextOptions, Headline, Quantity, Section, write_csv, write_json,
    write_markdown, write_text,
};
use steadfast_report::{Units, html, machines, measure};

/// The record that every version reads.
pub(crate) fn frozen() -> Record {
    let path = "../../testdata/formats/record/v1/all.json";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    record::read(&std::fs::read(path).unwrap()).unwrap()
}

/// The same of another machine, some of it faster and some slower.
pub(crate) fn another() -> Record {
    let mut record = frozen();
    record.name = Some("Other".to_owned());
    for (index, series) in record.series.iter_mut().enumerate() {
        let percent = 70 + (index as u64 * 13) % 61;
        slow_down(series, percent);
    }
    record
}

/// Makes every sample of a series take this many per cent of its time.
fn slow_down(series: &mut Series, percent: u64) {
    for sample in &mut series.samples {
        sample.elapsed_ns = (sample.elapsed_ns * percent / 100).max(1);
        sample.cpu_ns = sample.cpu_ns.map(|cpu_ns| cpu_ns * percent / 100);
    }
}

/// Returns whether documents show a series. The frozen record has some that only earlier versions
/// measured: estimates, files that were there, buffers, runs beside busy threads, and what was
/// timed between files.
fn is_shown(series: &Series) -> bool {
    let Factors { stage, engine, order, busy_threads, drawn_from, .. } = &series.factors;
    match series.workload {
        Workload::Hash => {
            let turns = engine.is_none() && *stage == Some(Stage::ReadHash);
            let found = drawn_from.is_some() || order.is_some() || *stage == Some(Stage::Start);
            !turns && !found && busy_threads.is_none()
        }
        Workload::Read | Workload::Write => matches!(stage, Some(Stage::Read | Stage::Write)),
        _ => true,
    }
}

fn of_workload(workload: Workload) -> Record {
    let mut record = frozen();
    record.series.retain(|series| series.workload == workload);
    record
}

fn json(documents: &[Document]) -> String {
    let mut out = Vec::new();
    write_json(documents, &mut out);
    String::from_utf8(out).unwrap()
}

/// Writes a record in every form, alone and beside others.
fn in_every_form(record: &Record) -> Vec<String> {
    let documents = [
        machines::document(&[record, &published::records()[0], &frozen()], Units::Si),
        Some(measure::document_against(record, Some(&frozen()), Units::Si)),
    ];
    let documents: Vec<Document> = documents.into_iter().flatten().collect();
    let mut csv = Vec::new();
    write_csv(&documents, &mut csv);
    let mut forms =
        vec![html::page(&documents, Units::Si), json(&documents), String::from_utf8(csv).unwrap()];
    for document in &documents {
        forms.push(write_text(document, DocumentTextOptions::default()));
        forms.push(write_markdown(document, Units::Si));
        assert_numbers(document);
    }
    forms
}

/// A figure that could not be derived is absent, never something else than a number.
fn assert_numbers(document: &Document) {
    let tables = document.sections.iter().flat_map(|section| &section.tables);
    for cell in tables.flat_map(|table| &table.rows).flatten() {
        match cell {
            Cell::Number(number) => assert!(number.value().is_finite(), "{cell:?}"),
            Cell::Interval(number, (low, high)) => {
                assert!(number.value().is_finite() && low.is_finite() && high.is_finite());
            }
            Cell::Text(_) | Cell::Empty => {}
        }
    }
}

fn assert_sane(forms: &[String]) {
    for form in forms {
        for wrong in ["NaN", "inf ", "inf]", "\"value\": null"] {
            assert!(!form.contains(wrong), "{wrong}: {form}");
        }
    }
}

#[test]
fn every_series_of_a_record_is_in_its_document() {
    for workload in Workload::ALL {
        let mut record = of_workload(workload);
        record.series.retain(is_shown);
        let whole = json(&[measure::document(&record)]);
        assert!(!record.series.is_empty(), "{} is in the record", workload.name());
        for index in 0..record.series.len() {
            let mut less = record.clone();
            let series = less.series.remove(index);
            assert_ne!(whole, json(&[measure::document(&less)]), "without {}", series.label);
        }
    }
}

/// The question of a measurement is answered by the figure of its section, and the bars beside it.
#[test]
fn every_workload_has_the_figure_of_its_record() {
    let headline = |record: &Record| measure::document(record).sections.remove(0).headline.unwrap();
    let of = |workload| headline(&of_workload(workload));
    let shown = |headline: &Headline| {
        let (figure, interval) = headline.figure.number().unwrap();
        assert!(interval.is_some(), "{headline:?}");
        figure.text(Units::Si)
    };
    let hash = of(Workload::Hash);
    let host = &hosts::of(&frozen())[0];
    let reading = Quantity::Rate(host.read_per_s.unwrap().value);
    assert_eq!(hash.bars[0], ("Reading alone, from the drive".to_owned(), reading));
    assert!(hash.what.contains("62 % of the rate of reading alone"), "{}", hash.what);
    let mut kernels = of_workload(Workload::Hash);
    kernels.series.retain(|series| series.factors.engine.is_none());
    let kernels = headline(&kernels);
    assert!(kernels.bars.iter().any(|(name, _)| name == "sha256"), "{kernels:?}");
    let queue = of(Workload::Queue);
    let depths: Vec<&str> = queue.bars.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(depths, ["1 request at a time", "4 requests at a time", "32 requests at a time"]);
    let cpu = of(Workload::Cpu);
    assert_eq!(cpu.bars[0].1, cpu.figure.number().unwrap().0, "the lowest level comes first");
    assert_eq!(cpu.bars.last().unwrap().1, Quantity::Share(1.0));
    let all = [hash, of(Workload::Read), of(Workload::Write), of(Workload::Cipher), cpu, kernels];
    let all: Vec<String> = all.iter().chain([&queue]).map(shown).collect();
    let expected =
        ["1.82 GB/s", "3.39 GB/s", "1.90 GB/s", "70.3 %", "94.4 %", "2.35 GB/s", "6.13×"];
    assert_eq!(all, expected);
    let pair = of(Workload::Pair);
    assert_eq!(pair.bars.len(), 2, "{pair:?}");
    assert!(pair.what.starts_with("the rate of ") && pair.what.ends_with('.'), "{}", pair.what);
}

/// Levels by size: the lowest first, as the question has it.
#[test]
fn levels_by_size_are_answered_by_the_lowest() {
    let mut record = of_workload(Workload::Hash);
    let mut lines = record.series.clone();
    lines.retain(|one| {
        let check = one.factors.stage == Some(Stage::ReadHash);
        check && one.label.ends_with("one file, warm")
    });
    for qos in [9, 33] {
        let at = |one: &Series| {
            let factors = Factors { qos: Some(qos), ..one.factors.clone() };
            Series { factors, ..one.clone() }
        };
        record.series.extend(lines.iter().map(at));
    }
    let headline = measure::document(&record).sections.remove(0).headline.unwrap();
    assert_eq!(headline.bars[0].1, headline.figure.number().unwrap().0);
    assert!(headline.what.contains("at level 9, the lowest"), "{}", headline.what);
}

#[test]
fn a_record_of_one_sample_each_has_a_page() {
    let mut record = frozen();
    record.series.iter_mut().for_each(|series| series.samples.truncate(1));
    assert_sane(&in_every_form(&record));
    for index in 0..record.series.len() {
        let mut only = record.clone();
        only.series = vec![only.series.swap_remove(index)];
        let text = write_text(&measure::document(&only), DocumentTextOptions::default());
        assert_sane(&[text]);
    }
}

#[test]
fn what_only_warmed_up_counts_for_nothing() {
    let mut record = frozen();
    let samples = record.series.iter_mut().flat_map(|series| &mut series.samples);
    samples.for_each(|sample| sample.warm_up = true);
    assert_sane(&in_every_form(&record));
    record.series.clear();
    assert_sane(&in_every_form(&record));
}

/// Multiples of bytes of the other kind than what was asked for.
fn has_units(text: &str, wrong: &[&str]) -> bool {
    wrong.iter().any(|unit| text.contains(unit))
}

#[test]
fn sentences_are_in_the_units_that_are_asked_for() {
    let (one, other) = (frozen(), another());
    let documents = [
        measure::document_against(&one, None, Units::Iec),
        machines::document(&[&one, &other], Units::Iec).unwrap(),
    ];
    for document in &documents {
        for section in &document.sections {
            for sentence in &section.sentences {
                let wrong = has_units(sentence, &[" kB", " MB", " GB", " TB"]);
                assert!(!wrong, "{sentence}");
            }
            for chart in &section.charts {
                assert!(!has_units(&chart.description, &[" MB/s", " GB/s"]), "{}", chart.name);
            }
        }
        assert!(document.facts.iter().all(|(_, fact)| !has_units(fact, &[" MB free", " GB free"])));
    }
    let sections = documents.iter().flat_map(|document| &document.sections);
    let sentences: Vec<&String> = sections.flat_map(|section| &section.sentences).collect();
    assert!(sentences.iter().any(|sentence| has_units(sentence, &["MiB/s", "GiB/s"])));
}

#[test]
fn rows_in_csv_are_told_apart() {
    let mut csv = Vec::new();
    write_csv(&[measure::document(&frozen())], &mut csv);
    let mut seen = std::collections::HashSet::new();
    for row in csv::Reader::from_reader(csv.as_slice()).records() {
        let row = row.unwrap();
        let place = [&row[0], &row[1], &row[2], &row[3]].map(str::to_owned);
        assert!(seen.insert(place.clone()), "two cells are at {place:?}");
    }
    assert!(seen.iter().any(|place| place[2] == "Random 4 KiB, 1"), "key columns are all named");
}

#[test]
fn records_of_one_machine_have_names_of_their_own() {
    let one = frozen();
    let mut later = another();
    later.name = one.name.clone();
    later.started_unix_s += 60;
    for (other, marks) in [(&later, ["Z ÷ ", "Z"]), (&one, [" (1) ÷ ", " (2)"])] {
        let document = machines::document(&[&one, other], Units::Si).unwrap();
        let table = &document.sections[0].tables[0];
        assert_ne!(table.rows[0][0], table.rows[1][0]);
        let title = &document.sections.last().unwrap().title;
        assert!(title.contains(marks[0]) && title.ends_with(marks[1]), "{title}");
    }
}

#[test]
fn a_record_without_figures_says_so() {
    let mut record = frozen();
    record.series.clear();
    record.partial = Some("interrupted".to_owned());
    let document = measure::document(&record);
    assert!(document.sections.is_empty());
    let told = document.warnings.iter().any(|warning| warning.contains("no figures"));
    assert!(told, "{:?}", document.warnings);
}

#[test]
fn a_page_tells_seeds_and_folders_in_order() {
    let mut record = of_workload(Workload::Pair);
    let facts = |record: &Record, label: &str| -> Vec<String> {
        let facts = measure::document(record).facts;
        facts.into_iter().filter(|(found, _)| found == label).map(|(_, fact)| fact).collect()
    };
    let seed = record.series[0].seed.unwrap().to_string();
    assert_eq!(facts(&record, "seed"), [seed]);
    let paths: Vec<String> = facts(&record, "folder")
        .iter()
        .map(|fact| fact.split(": ").next().unwrap().to_owned())
        .collect();
    let mut known: Vec<String> = Vec::new();
    for place in &record.places {
        if !known.contains(&place.path) {
            known.push(place.path.clone());
        }
    }
    assert_eq!(paths, known);
    record.series[0].seed = Some(12);
    record.series.truncate(2);
    assert!(facts(&record, "seed")[0].starts_with("pair 12, pair "));
}

#[test]
fn a_record_without_loops_to_compare_with_says_so() {
    let one = of_workload(Workload::Cpu);
    let other = of_workload(Workload::Queue);
    let document = measure::document_against(&one, Some(&other), Units::Si);
    let told = document.sections[0].sentences.iter().any(|one| one.contains("none of these loops"));
    assert!(told, "{:?}", document.sections[0].sentences);
}

#[test]
fn loops_at_one_level_have_a_rate_in_the_first_line() {
    let mut record = of_workload(Workload::Cpu);
    let high = record.series.iter().map(|series| series.factors.qos).max().unwrap();
    record.series.retain(|series| series.factors.qos == high && series.factors.threads == Some(1));
    let sentences = &measure::document(&record).sections[0].sentences;
    assert!(sentences[0].starts_with("One thread does "), "{sentences:?}");
    assert!(sentences[0].ends_with(": loops per second."), "{sentences:?}");
}

/// Writes may be faster than what the first sentence is about.
#[test]
fn the_highest_rate_names_what_it_is_of() {
    let mut record = of_workload(Workload::Queue);
    let first = |record: &Record| measure::document(record).sections[0].sentences[0].clone();
    assert!(first(&record).starts_with("The highest rate of reading is "), "{}", first(&record));
    for series in &mut record.series {
        series.factors.stage = Some(Stage::Write);
    }
    assert!(first(&record).starts_with("The highest rate of writing is "), "{}", first(&record));
}

#[test]
fn the_four_rows_of_other_programs_have_names_and_headings() {
    let mut record = of_workload(Workload::Queue);
    record.series.truncate(FOUR_ROWS.len());
    for (series, (order, block_len, depth)) in record.series.iter_mut().zip(FOUR_ROWS) {
        let factors = &mut series.factors;
        (factors.order, factors.queue_depth) = (Some(order), Some(depth));
        factors.block_len_bytes = Some(block_len);
    }
    let table = &measure::document(&record).sections[0].tables[0];
    let titles: Vec<&str> = table.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles, ["Test", "Read", "Write", "Mix", "Reads/s", "Writes/s"]);
    let names: Vec<&Cell> = table.rows.iter().map(|row| &row[0]).collect();
    let wanted = ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"].map(Cell::text);
    assert_eq!(names, wanted.iter().collect::<Vec<_>>());
}

/// Names of instruction sets and percentiles are written as they are.
#[test]
fn headings_and_captions_begin_with_capitals() {
    let document = measure::document(&frozen());
    let tables = || document.sections.iter().flat_map(|section| &section.tables);
    let columns = tables().flat_map(|table| &table.columns).map(|column| &column.title);
    let names = ["full", "no-aes", "p50", "p99", "p99.9"];
    let columns = columns.filter(|title| !names.contains(&title.as_str()));
    let charts = document.sections.iter().flat_map(|section| &section.charts);
    let charts = charts.map(|chart| &chart.title).filter(|title| !title.starts_with("aes-"));
    let titles: Vec<&String> =
        columns.chain(charts).chain(tables().map(|table| &table.title)).collect();
    assert!(titles.len() > 40, "{titles:?}");
    let storage = document.sections.iter().filter(|section| section.title.contains("files"));
    let storage: Vec<&Section> = storage.collect();
    assert_eq!(storage.len(), 2);
    let notes = storage.iter().flat_map(|section| section.sentences.iter().chain(&section.notes));
    let titles = titles.into_iter().chain(notes);
    for title in titles {
        assert!(!title.starts_with(char::is_lowercase), "{title}");
    }
}

#[test]
fn requests_in_flight_have_a_sentence_and_rows_of_their_own() {
    let mut record = of_workload(Workload::Pair);
    for series in &mut record.series {
        let factors = &mut series.factors;
        if (factors.stage, factors.block_len_bytes) == (Some(Stage::Read), Some(1_000_000)) {
            (factors.queue_depth, factors.block_len_bytes) = (Some(8), Some(4096));
            series.unit = Unit::Operations;
        }
    }
    let section = &measure::document(&record).sections[0];
    let wanted = "A compared with B, requests of 4 KiB: random reads at depth 8 at 0.941×";
    assert!(section.sentences[1].starts_with(wanted), "{:?}", section.sentences);
    let rows = format!("{:?}", section.tables[0].rows);
    assert!(rows.contains("Random reads at depth 8"), "{rows}");
}

/// What a sample may say at its ends, each of which a reader lets pass.
fn odd() -> impl Strategy<Value = (u64, u64)> {
    let amount = prop_oneof![Just(0), Just(1), 1..1_u64 << 50];
    let elapsed_ns = prop_oneof![Just(1), 1..1_u64 << 50];
    (amount, elapsed_ns)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn what_changes_in_a_series_changes_its_document(
        workload in prop::sample::select(Workload::ALL.to_vec()),
        which in any::<prop::sample::Index>(),
        percent in 110..300_u64,
    ) {
        let mut record = of_workload(workload);
        record.series.retain(is_shown);
        let before = json(&[measure::document(&record)]);
        let index = which.index(record.series.len());
        slow_down(&mut record.series[index], percent);
        let after = json(&[measure::document(&record)]);
        prop_assert_ne!(before, after, "{}", record.series[index].label);
    }

    #[test]
    fn any_part_of_a_record_has_a_page(
        kept in prop::collection::vec(prop::bool::weighted(0.6), 400),
        samples in prop::collection::vec(1..12_usize, 400),
        odd in prop::collection::vec((any::<prop::sample::Index>(), odd()), 0..6),
    ) {
        let mut record = frozen();
        let mut kept = kept.into_iter();
        record.series.retain(|_| kept.next().unwrap_or(true));
        for (series, samples) in record.series.iter_mut().zip(samples) {
            series.samples.truncate(samples);
        }
        let mut all: Vec<&mut Sample> =
            record.series.iter_mut().flat_map(|series| &mut series.samples).collect();
        for (which, (amount, elapsed_ns)) in odd {
            if !all.is_empty() {
                let place = which.index(all.len());
                (all[place].amount, all[place].elapsed_ns) = (amount, elapsed_ns);
            }
        }
        assert_sane(&in_every_form(&record));
    }
}
