//! Records as documents: what is in a record is in its document, however little or odd it is.

use std::path::Path;

use proptest::prelude::*;
use steadfast_measure::published;
use steadfast_measure::record::{self, Record, Sample, Workload};
use steadfast_report::document::{
    Cell, Document, DocumentTextOptions, write_csv, write_json, write_markdown, write_text,
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
        for sample in &mut series.samples {
            sample.elapsed_ns = (sample.elapsed_ns * percent / 100).max(1);
        }
    }
    record
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
        machines::document(&[record, &published::records()[0], &frozen()]),
        Some(measure::document_against(record, Some(&frozen()))),
    ];
    let documents: Vec<Document> = documents.into_iter().flatten().collect();
    let mut csv = Vec::new();
    write_csv(&documents, &mut csv).unwrap();
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
        let record = of_workload(workload);
        let whole = json(&[measure::document(&record)]);
        assert!(!record.series.is_empty(), "{} is in the record", workload.name());
        for index in 0..record.series.len() {
            let mut less = record.clone();
            let series = less.series.remove(index);
            assert_ne!(whole, json(&[measure::document(&less)]), "without {}", series.label);
        }
    }
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
        let before = json(&[measure::document(&record)]);
        let index = which.index(record.series.len());
        for sample in &mut record.series[index].samples {
            sample.elapsed_ns = sample.elapsed_ns * percent / 100;
        }
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
