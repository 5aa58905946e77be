//! Pages of a frozen record and of a check, in every form: exact bytes, well-formed, complete.

use proptest::prelude::*;
use steadfast::Stage;
use steadfast::cost::Span;
use steadfast_measure::published;
use steadfast_measure::record::Record;
use steadfast_report::document::{
    Align, Axis, Cell, Chart, Column, Document, DocumentTextOptions, Headline, Layer, Mark, Point,
    Quantity, Scale, Section, Table, write_csv, write_json, write_markdown, write_text,
};
use steadfast_report::run::{RunFacts, RunReport};
use steadfast_report::timeline::Timeline;
use steadfast_report::{FindingRule, Units, chart, escape, html, machines, measure};

use crate::exact::compare_bytes;
use crate::records::{another, frozen};
use crate::{facts, ledger};

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
    write_csv(&documents, &mut csv);
    compare_bytes("page/record.csv", &csv);
    let mut json = Vec::new();
    write_json(&documents, &mut json);
    compare_bytes("page/record.json", &json);
    for (name, wanted) in [("bars", "hash-parts"), ("dots", "hash-by-size")] {
        let chart = all_charts(&documents[0]).into_iter().find(|chart| chart.name == wanted);
        let svg = chart::standalone(chart.unwrap(), &documents[0].origin, Units::Si);
        compare_bytes(&format!("page/{name}.svg"), svg.as_bytes());
    }
}

/// Each question has one large figure, and a sentence below says the same.
#[test]
fn a_section_has_one_headline_that_a_sentence_repeats() {
    let document = measure::document(&frozen());
    let page = html::page(std::slice::from_ref(&document), Units::Si);
    assert_eq!(page.matches("class=\"headline\"").count(), document.sections.len());
    for section in &document.sections {
        let headline = section.headline.as_ref().expect("every section has one");
        let figure = headline.figure.shown(Units::Si);
        let told = section.sentences.iter().any(|sentence| sentence.contains(&figure));
        assert!(told, "{figure} {}: {:?}", headline.what, section.sentences);
    }
}

#[test]
fn machines_beside_each_other() {
    let (one, published) = (frozen(), published::records());
    let records: Vec<&Record> = std::iter::once(&one).chain(&published).collect();
    let document = machines::document(&records, Units::Si).unwrap();
    compare_bytes(
        "page/machines.html",
        html::page(std::slice::from_ref(&document), Units::Si).as_bytes(),
    );
    let table = &document.sections[0].tables[0];
    let rows = table.rows.iter().filter(|row| row[1] == Cell::text("Published")).count();
    assert_eq!((table.rows.len(), rows), (15, 14));
    for record in &published {
        let source = &record.published.as_ref().unwrap().source;
        let told = document.sections[0].notes.iter().any(|note| note.starts_with(source.as_str()));
        assert!(told, "{source}");
    }
    // Whatever was published is there, also what no measured machine has beside it.
    let rows: Vec<_> = document.sections[1].tables[0].rows.iter().collect();
    let stated = published.iter().flat_map(|record| &record.series).filter_map(|of| of.stated);
    let stated: Vec<f64> = stated.map(|stated| stated.per_second).collect();
    assert_eq!(rows.len(), stated.len());
    for (row, stated) in rows.iter().zip(stated) {
        let Cell::Number(rate) = row[3] else { panic!("{row:?}") };
        assert_eq!(rate.value(), stated);
    }
    // What encryption costs a drive when writing is drawn, too, under names that tell drives apart.
    let charts = &document.sections[0].charts;
    let writing = charts.iter().find(|chart| chart.name == "machines-writing").unwrap();
    assert_eq!(writing.layers[0].points.len(), 1 + 7, "{:?}", writing.layers);
    let Scale::Names(names) = &writing.x.scale else { panic!("{:?}", writing.x) };
    assert!(
        names.contains(&"The fastest Thunderbolt 3 SSD, 160 files, plain (published)".to_owned())
    );
    // Shares of the sources stand beside those that follow from the measured record.
    let shares = &document.sections[2].tables[0].rows;
    let stated: usize =
        published.iter().map(|of| of.published.as_ref().unwrap().shares.len()).sum();
    let is = |mark: &str| shares.iter().filter(|row| row[1] == Cell::text(mark)).count();
    assert_eq!(is("Published"), stated);
    for what in ["Reading and hashing, cold", "Reading in ", "f32x4-dot, at background (9)"] {
        let is = |cell: &Cell| matches!(cell, Cell::Text(text) if text.starts_with(what));
        let row = shares.iter().find(|row| is(&row[2]));
        let row = row.unwrap_or_else(|| panic!("{what}: {shares:?}"));
        assert!(matches!(row[4], Cell::Interval(Quantity::Share(_), _)), "{row:?}");
    }
    assert!(shares.iter().any(|row| row[2] == Cell::text("aes-256-cbc with instructions")));
    assert_eq!(machines::document(&[&one], Units::Si), None);
}

#[test]
fn two_machines_beside_each_other() {
    let (one, other) = (frozen(), another());
    let documents = [machines::document(&[&one, &other], Units::Si).unwrap()];
    compare_bytes("page/compared.html", html::page(&documents, Units::Si).as_bytes());
    let text = write_text(&documents[0], DocumentTextOptions::default());
    compare_bytes("page/compared.txt", text.as_bytes());
    let ratios = all_charts(&documents[0]).into_iter();
    let ratios = ratios.filter(|chart| chart.name.starts_with("compared-"));
    let rows: usize = ratios.map(|chart| chart.layers[0].points.len()).sum();
    assert!(rows > 40, "{rows} ratios are drawn");
}

#[test]
fn a_record_beside_itself_differs_by_nothing() {
    let one = frozen();
    let document = machines::document(&[&one, &one], Units::Si).unwrap();
    let compared = document.sections.iter().flat_map(|section| &section.tables);
    let compared = compared.filter(|table| table.name == "compared");
    let rows: Vec<_> = compared.flat_map(|table| &table.rows).collect();
    assert_eq!(rows.len(), one.series.len());
    let sentences = document.sections.iter().flat_map(|section| &section.sentences);
    let named = sentences.filter(|sentence| sentence.contains("fastest"));
    assert_eq!(named.count(), 0, "one of two equal machines is called the fastest");
    for row in rows {
        let (Cell::Interval(ratio, _) | Cell::Number(ratio)) = &row[4] else { panic!("{row:?}") };
        assert_eq!(ratio.value(), 1.0, "{row:?}");
    }
}

/// What two workers and a thread that walks did in a fifth of a second.
fn timeline() -> Timeline {
    let mut timeline = Timeline::default();
    for (thread, name) in [(0, "worker 0"), (1, "worker 1"), (2, "walk")] {
        timeline.thread(thread, name);
        let stages = match thread {
            2 => [Stage::Walk, Stage::Wait, Stage::Walk],
            _ => [Stage::Open, Stage::Read, Stage::Hash],
        };
        let spans = (0..30).map(|index| Span {
            stage: stages[(index as usize + thread) % 3],
            start_ns: index * 7_000_000,
            elapsed_ns: 4_000_000 + 500_000 * (index % 7),
            bytes: 0,
            files: 0,
            path: None,
        });
        timeline.spans(thread, &spans.collect::<Vec<_>>());
    }
    timeline
}

#[test]
fn a_check_as_a_page() {
    let mut report = RunReport::new(FindingRule::default());
    facts::check_events().iter().for_each(|event| report.event(event));
    let run = RunFacts {
        command: "steadfast check photos --report check.html".to_owned(),
        made_by: "steadfast 0.0.0".to_owned(),
        begun: steadfast::Timestamp { seconds: 1_767_225_600, nanoseconds: 0 },
        units: Units::Si,
    };
    let audit = ledger::audit();
    let document = report.document(&run, &facts::check_end(), Some(&audit), &timeline());
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
    assert!(page.len() < html::PAGE_LEN_BYTES_MAX, "{} bytes", page.len());
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
    write_csv(documents, &mut bytes);
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
                                let row = rows.next().unwrap();
                                assert_eq!(row[4].strip_prefix('\'').unwrap_or(&row[4]), {
                                    text.strip_prefix('\'').unwrap_or(text)
                                });
                                continue;
                            }
                            Cell::Number(number) => (*number, None),
                            Cell::Interval(number, ends) => (*number, Some(*ends)),
                        };
                        assert_eq!(found["value"].as_f64(), Some(number.value()));
                        assert_eq!(found["unit"], number.unit_name());
                        let row = rows.next().unwrap();
                        assert_eq!(row[4].parse::<f64>().unwrap(), number.value());
                        if let Some((low, high)) = ends {
                            assert_eq!(found["interval"][0].as_f64(), Some(low));
                            assert_eq!(found["interval"][1].as_f64(), Some(high));
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
        Just(Mark::Band),
        Just(Mark::Bars),
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
            keys: 1,
            rows: rows.into_iter().map(|(one, two)| vec![one, two]).collect(),
        };
        let section = Section {
            title: title.clone(),
            headline: Some(Headline::new(Cell::text(&title), &title)),
            sentences: warnings.clone(),
            tables: vec![table],
            charts: vec![chart],
            notes: warnings.clone(),
        };
        Document { title, facts, warnings, sections: vec![section], ..Document::default() }
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
        let svg = chart::standalone(&chart, "", Units::Si);
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
        prop_assert_eq!(text("title"), escape::visible(&chart.title));
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
