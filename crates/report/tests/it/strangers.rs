//! Documents of strangers: whatever a record's words hold, no form obeys them.

use steadfast_measure::record::Record;
use steadfast_report::document::{
    Axis, Cell, Chart, Document, DocumentTextOptions, Layer, Mark, Point, Quantity, Scale, Section,
    Table, write_csv, write_json, write_markdown, write_text,
};
use steadfast_report::escape::misleads;
use steadfast_report::{Units, chart, html, machines, measure};

use crate::records::{another, frozen};

/// Markup, a script, a spreadsheet's formula, a terminal's sequence, text that runs backwards, and
/// a table's border.
const HOSTILE: &str =
    "=HYPERLINK(\"http://a\")<script>alert(1)</script>\u{202e}gpj\u{1b}[2J\n| # -- \" ' & \\";

fn hostile() -> Record {
    let mut record = another();
    let name = || HOSTILE.to_owned();
    record.name = Some(name());
    record.made_by = name();
    record.partial = Some(name());
    record.warnings = vec![name()];
    record.command = vec![name()];
    record.machine.cpu = name();
    record.machine.os = name();
    record.clock.name = name();
    for place in &mut record.places {
        (place.path, place.file_system, place.medium) = (name(), name(), Some(name()));
    }
    for series in &mut record.series {
        (series.label, series.method) = (name(), name());
        series.factors.algorithm = series.factors.algorithm.as_ref().map(|_| name());
        series.factors.backend = series.factors.backend.as_ref().map(|_| name());
    }
    record
}

fn documents() -> Vec<Document> {
    let (record, other) = (hostile(), frozen());
    let together = machines::document(&[&record, &other], Units::Si).unwrap();
    vec![
        together,
        measure::document_against(&other, Some(&record), Units::Si),
        measure::document(&record),
    ]
}

fn assert_plain(form: &str) {
    let obeyed = |letter: char| letter != '\n' && letter.is_control() || misleads(letter);
    assert!(!form.contains(obeyed), "{form}");
}

#[test]
fn a_page_and_its_pictures_hold_no_foreign_markup() {
    let documents = documents();
    let page = html::page(&documents, Units::Si);
    assert_plain(&page);
    assert!(page.contains("&lt;script&gt;"), "the name is shown");
    assert!(!page.contains("<script") && !page.contains("href=\"http"));
    for chart in documents.iter().flat_map(|of| &of.sections).flat_map(|section| &section.charts) {
        let svg = chart::standalone(chart, "", Units::Si);
        assert_plain(&svg);
        let parsed = roxmltree::Document::parse(&svg).unwrap();
        assert!(parsed.descendants().all(|node| node.tag_name().name() != "script"));
    }
}

#[test]
fn a_terminal_is_told_nothing() {
    for document in documents() {
        let text = write_text(&document, DocumentTextOptions::default());
        assert_plain(&text);
        assert!(text.contains("=HYPERLINK"), "the name is shown");
    }
}

#[test]
fn notes_hold_no_foreign_markup_and_keep_their_tables() {
    for document in documents() {
        let text = write_markdown(&document, Units::Si);
        assert_plain(&text);
        let unescaped = text.replace("\\\\", "").replace("\\<", "");
        assert!(!unescaped.contains('<'), "{unescaped}");
        let mut columns = None;
        for line in text.lines() {
            let ends = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
            match columns {
                Some(columns) if line.starts_with('|') => assert_eq!(ends, columns, "{line}"),
                _ => columns = line.starts_with('|').then_some(ends),
            }
        }
    }
}

#[test]
fn a_spreadsheet_is_given_no_formula() {
    let mut out = Vec::new();
    write_csv(&documents(), &mut out);
    let mut reader = csv::Reader::from_reader(out.as_slice());
    let mut guarded = 0;
    for row in reader.records() {
        let row = row.unwrap();
        for (column, field) in row.iter().enumerate() {
            let is_number = (4..=6).contains(&column) && !row[7].is_empty();
            let runs = field.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
            assert!(is_number || !runs, "{field}");
            guarded += usize::from(field.starts_with("'="));
        }
    }
    assert!(guarded > 20, "{guarded} fields");
}

#[test]
fn programs_get_every_name_as_it_is() {
    let mut out = Vec::new();
    write_json(&documents(), &mut out);
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let warnings = json["documents"][2]["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning == HOSTILE));
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let (one, other) = (frozen(), another());
    let documents =
        [machines::document(&[&one, &other], Units::Si).unwrap(), measure::document(&one)];
    for document in &documents {
        let text = write_text(document, DocumentTextOptions::default());
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
        let cells = document.sections.iter().flat_map(|section| &section.tables);
        for cell in cells.flat_map(|table| &table.rows).flatten() {
            if let Cell::Number(_) | Cell::Interval(..) = cell {
                assert!(text.contains(&cell.shown(Units::Si)), "{cell:?} is left out");
            }
        }
    }
}

/// A document with far more dots and figures than a page should hold.
fn vast() -> Document {
    let axis = |title: &str, of| Axis { title: title.to_owned(), of, scale: Scale::Linear };
    let dots = (0..20_000_u32).map(|dot| Point::at(f64::from(dot), f64::from(dot * 7919 % 10_007)));
    let dots: Vec<Point> = dots.collect();
    let charts = (0..60).map(|chart| Chart {
        name: format!("chart-{chart}"),
        title: "Files".to_owned(),
        description: "One dot for each file.".to_owned(),
        x: axis("bytes", Quantity::Bytes(0)),
        y: axis("rate", Quantity::Rate(0.0)),
        layers: vec![Layer { label: "files".to_owned(), mark: Mark::Dots, points: dots.clone() }],
    });
    let mut table = Table::new("many", "Many", &["what", ">rate", ">ratio"]);
    for row in 0..1_500 {
        let rate = Quantity::Rate(1e9 / f64::from(row + 3));
        let ratio = Quantity::Ratio(1.0 / f64::from(row + 3));
        table.push(vec![
            Cell::text(format!("series {row}")),
            Cell::Interval(rate, (rate.value() / 1.1, rate.value() * 1.1)),
            Cell::Interval(ratio, (ratio.value() / 1.1, ratio.value() * 1.1)),
        ]);
    }
    let charts = charts.collect();
    let section =
        Section { title: "All".to_owned(), tables: vec![table], charts, ..Section::default() };
    Document { title: "Vast".to_owned(), sections: vec![section], ..Document::default() }
}

#[test]
fn a_page_that_would_be_too_long_says_what_it_leaves_out() {
    let page = html::page(&[vast()], Units::Si);
    assert!(page.len() < html::PAGE_LEN_BYTES_MAX, "{} bytes", page.len());
    assert_eq!(page.matches("Of 20,000 dots ").count(), 60);
    assert!(page.contains("Exact values are left out"));
    assert!(page.contains("series 399"));
    let small = html::page(&[measure::document(&frozen())], Units::Si);
    assert!(!small.contains("are drawn, evenly chosen") && !small.contains("are left out, to"));
}
