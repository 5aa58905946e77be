//! Pages of a frozen record and of a check, in every form: exact bytes, well-formed, complete.

use std::path::Path;

use proptest::prelude::*;
use steadfast_measure::published;
use steadfast_measure::record::{self, Record};
use steadfast_report::document::{
    Align, Axis, Cell, Chart, Column, Document, DocumentTextOptions, Layer, Mark, Point, Quantity,
    Scale, Section, Table, write_csv, write_json, write_markdown, write_text,
};
use steadfast_report::run::{RunFacts, RunReport};
use steadfast_report::timeline::Timeline;
use steadfast_report::{FindingRule, Units, chart, html, machines, measure};

use crate::exact::compare_bytes;
use crate::facts;

fn frozen() -> Record {
    let path = "../../testdata/formats/record/v1/all.json";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    record::read(&std::fs::read(path).unwrap()).unwrap()
}

fn all_charts(document: &Document) -> Vec<&Chart> {
    document.sections.iter().flat_map(|section| &section.charts).collect()
}

#[test]
fn a_record_in_every_form() {
    let record = frozen();
    let document = measure::document(&record);
    let documents = [document];
    let page = html::page(&documents, Units::Si);
    compare_bytes("page/record.html", page.as_bytes());
    let text = write_text(&documents[0], DocumentTextOptions::default());
    compare_bytes("page/record.txt", text.as_bytes());
    compare_bytes("page/record.md", write_markdown(&documents[0], Units::Si).as_bytes());
    let mut csv = Vec::new();
    write_csv(&documents, &mut csv).unwrap();
    compare_bytes("page/record.csv", &csv);
    let mut json = Vec::new();
    write_json(&documents, &mut json);
    compare_bytes("page/record.json", &json);
    for (name, wanted) in [("bars", "hash-parts"), ("dots", "hash-by-size")] {
        let chart = all_charts(&documents[0]).into_iter().find(|chart| chart.name == wanted);
        let svg = chart::standalone(chart.unwrap(), Units::Si);
        compare_bytes(&format!("page/{name}.svg"), svg.as_bytes());
    }
}

#[test]
fn machines_beside_each_other() {
    let (one, published) = (frozen(), published::records());
    let records: Vec<&Record> = std::iter::once(&one).chain(&published).collect();
    let document = machines::document(&records).unwrap();
    compare_bytes(
        "page/machines.html",
        html::page(std::slice::from_ref(&document), Units::Si).as_bytes(),
    );
    let table = &document.sections[0].tables[0];
    let rows = table.rows.iter().filter(|row| row[1] == Cell::text("published")).count();
    assert_eq!((table.rows.len(), rows), (10, 9));
    for record in &published {
        let source = &record.published.as_ref().unwrap().source;
        let told = document.sections[0].notes.iter().any(|note| note.starts_with(source.as_str()));
        assert!(told, "{source}");
    }
    assert_eq!(machines::document(&[&one]), None);
}

#[test]
fn a_record_beside_itself_differs_by_nothing() {
    let one = frozen();
    let document = machines::document(&[&one, &one]).unwrap();
    let compared = document.sections.iter().flat_map(|section| &section.tables);
    let compared = compared.filter(|table| table.name == "compared");
    let rows: Vec<_> = compared.flat_map(|table| &table.rows).collect();
    assert!(rows.len() > 20, "{} rows", rows.len());
    // Series that differ in nothing, measured twice, are each held against the first.
    let named = |name: &Cell| rows.iter().filter(|row| row[1] == *name).count();
    let single: Vec<_> = rows.iter().filter(|row| named(&row[1]) == 1).collect();
    assert!(single.len() > 20, "{} rows", single.len());
    for row in single {
        let (Cell::Interval(ratio, _) | Cell::Number(ratio)) = &row[4] else { panic!("{row:?}") };
        assert_eq!(ratio.value(), 1.0);
    }
}

#[test]
fn a_check_as_a_page() {
    let mut report = RunReport::new(FindingRule::default());
    facts::check_events().iter().for_each(|event| report.event(event));
    let run = RunFacts {
        command: "steadfast check photos --report check.html".to_owned(),
        made_by: "steadfast 0.0.0".to_owned(),
        begun: steadfast::Timestamp { seconds: 1_767_225_600, nanoseconds: 0 },
    };
    let document = report.document(&run, &facts::check_end(), None, &Timeline::default());
    let page = html::page(&[document], Units::Si);
    compare_bytes("page/check.html", page.as_bytes());
    for name in ["rotten.jpg", "cut.jpg", "notes.txt", "locked.jpg", "growing.log"] {
        assert!(page.contains(name), "{name}");
    }
}

#[test]
fn every_workload_of_a_record_has_its_section_and_charts() {
    let record = frozen();
    let document = measure::document(&record);
    assert_eq!(document.sections.len(), 7, "one for each workload");
    for section in &document.sections {
        assert!(!section.sentences.is_empty() || !section.tables.is_empty(), "{}", section.title);
        assert!(!section.charts.is_empty(), "{} has no chart", section.title);
    }
    let page = html::page(std::slice::from_ref(&document), Units::Si);
    assert!(page.len() < 500_000, "{} bytes", page.len());
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"));
}

#[test]
fn every_figure_is_in_json_and_in_csv() {
    let documents = [measure::document(&frozen())];
    lossless(&documents);
}

/// Holds JSON and CSV against the tables they are of.
fn lossless(documents: &[Document]) {
    let (mut json, mut bytes) = (Vec::new(), Vec::new());
    write_json(documents, &mut json);
    write_csv(documents, &mut bytes).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let mut rows = reader.records().map(Result::unwrap);
    for (d, document) in documents.iter().enumerate() {
        for (s, section) in document.sections.iter().enumerate() {
            let told = &json["documents"][d]["sections"][s];
            for (t, table) in section.tables.iter().enumerate() {
                for (r, row) in table.rows.iter().enumerate() {
                    for (c, cell) in row.iter().enumerate() {
                        let found = &told["tables"][t]["rows"][r][c];
                        let (number, ends) = match cell {
                            Cell::Empty => {
                                assert!(found.is_null());
                                continue;
                            }
                            Cell::Text(text) => {
                                assert_eq!(found.as_str(), Some(text.as_str()));
                                assert_eq!(&rows.next().unwrap()[4], text);
                                continue;
                            }
                            Cell::Number(number) => (*number, None),
                            Cell::Interval(number, ends) => (*number, Some(*ends)),
                        };
                        same(&found["value"], number.value());
                        assert_eq!(found["unit"], number.unit_name());
                        let row = rows.next().unwrap();
                        assert_eq!(row[4].parse::<f64>().unwrap(), number.value());
                        if let Some((low, high)) = ends {
                            same(&found["interval"][0], low);
                            same(&found["interval"][1], high);
                            assert_eq!(row[5].parse::<f64>().unwrap(), low);
                            assert_eq!(row[6].parse::<f64>().unwrap(), high);
                        }
                    }
                }
            }
            for (c, chart) in section.charts.iter().enumerate() {
                for (l, layer) in chart.layers.iter().enumerate() {
                    let points = &told["charts"][c]["layers"][l]["points"];
                    assert_eq!(points.as_array().unwrap().len(), layer.points.len());
                }
            }
        }
    }
    assert_eq!(rows.next(), None);
}

/// The reader of JSON may miss the last bit of a number; CSV is held to all of them.
fn same(found: &serde_json::Value, number: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - number).abs() <= number.abs() * f64::EPSILON, "{found} is not {number}");
}

fn quantity() -> impl Strategy<Value = Quantity> {
    let real = prop_oneof![Just(0.0), 1e-12..1e15_f64];
    prop_oneof![
        any::<u64>().prop_map(Quantity::Bytes),
        any::<u64>().prop_map(Quantity::Count),
        real.clone().prop_map(Quantity::Rate),
        real.clone().prop_map(Quantity::Time),
        real.clone().prop_map(Quantity::Share),
        real.prop_map(Quantity::Ratio),
    ]
}

fn cell() -> impl Strategy<Value = Cell> {
    prop_oneof![
        Just(Cell::Empty),
        any::<String>().prop_map(Cell::Text),
        quantity().prop_map(Cell::Number),
        (0.0..1e12_f64, 0.0..1e12_f64, 0.0..1e12_f64)
            .prop_map(|(value, low, high)| Cell::Interval(Quantity::Rate(value), (low, high))),
    ]
}

fn layer() -> impl Strategy<Value = Layer> {
    let mark = prop_oneof![
        Just(Mark::Dots),
        Just(Mark::Line),
        Just(Mark::Steps),
        Just(Mark::Band),
        Just(Mark::Bars),
        Just(Mark::Histogram),
        Just(Mark::Rule),
        Just(Mark::Spans),
    ];
    let point =
        (0.0..5.0_f64, -1e3..1e12_f64, proptest::option::of((0.0..1e12_f64, 0.0..1e12_f64)))
            .prop_map(|(x, y, interval)| Point { x, y, interval });
    (any::<String>(), mark, proptest::collection::vec(point, 0..12))
        .prop_map(|(label, mark, points)| Layer { label, mark, points })
}

fn axis() -> impl Strategy<Value = Axis> {
    let scale = prop_oneof![
        Just(Scale::Linear),
        Just(Scale::Log),
        proptest::collection::vec(any::<String>(), 0..6).prop_map(Scale::Names),
    ];
    (any::<String>(), quantity(), scale).prop_map(|(title, of, scale)| Axis { title, of, scale })
}

prop_compose! {
    fn any_chart()(
        title in any::<String>(),
        description in any::<String>(),
        x in axis(),
        y in axis(),
        layers in proptest::collection::vec(layer(), 0..5),
    ) -> Chart {
        Chart { name: "any".to_owned(), title, description, x, y, layers }
    }
}

prop_compose! {
    fn any_document()(
        title in any::<String>(),
        facts in proptest::collection::vec((any::<String>(), any::<String>()), 0..3),
        warnings in proptest::collection::vec(any::<String>(), 0..3),
        rows in proptest::collection::vec((cell(), cell()), 0..50),
        chart in any_chart(),
    ) -> Document {
        let column = |title: &str| Column { title: title.to_owned(), align: Align::Right };
        let table = Table {
            name: "any".to_owned(),
            title: title.clone(),
            columns: vec![column("one"), column("two")],
            rows: rows.into_iter().map(|(one, two)| vec![one, two]).collect(),
        };
        let section = Section {
            title: title.clone(),
            sentences: warnings.clone(),
            tables: vec![table],
            charts: vec![chart],
            notes: warnings.clone(),
        };
        Document { title, facts, warnings, sections: vec![section] }
    }
}

/// What XML cannot hold at all is not the page's fault.
fn is_plain(text: &str) -> bool {
    text.chars().all(|letter| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}'))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_document_loses_no_value(document in any_document()) {
        lossless(&[document]);
    }

    #[test]
    fn any_chart_is_well_formed(chart in any_chart()) {
        let svg = chart::standalone(&chart, Units::Si);
        let plain = is_plain(&chart.title) && is_plain(&chart.description);
        let names = |axis: &Axis| match &axis.scale {
            Scale::Names(names) => names.iter().all(|name| is_plain(name)),
            _ => true,
        };
        let labels = chart.layers.iter().all(|layer| is_plain(&layer.label));
        let titles = is_plain(&chart.x.title) && is_plain(&chart.y.title);
        prop_assume!(plain && labels && titles && names(&chart.x) && names(&chart.y));
        let parsed = roxmltree::Document::parse(&svg);
        prop_assert!(parsed.is_ok(), "{:?}\n{svg}", parsed.err());
        let parsed = parsed.unwrap();
        let text = |name: &str| {
            let found = parsed.descendants().find(|node| node.tag_name().name() == name);
            found.and_then(|node| node.text()).unwrap_or_default().to_owned()
        };
        prop_assert_eq!(text("title"), chart.title);
    }

    #[test]
    fn any_page_closes_what_it_opens(document in any_document()) {
        let page = html::page(&[document], Units::Iec);
        for name in ["article", "section", "table", "tr", "td", "svg", "figure", "p", "main"] {
            let opened = |end: char| page.matches(&format!("<{name}{end}")).count();
            let open = opened(' ') + opened('>');
            prop_assert_eq!(open, page.matches(&format!("</{name}>")).count(), "{}", name);
        }
    }
}
