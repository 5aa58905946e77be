//! `steadfast measure report`: records → one report.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use steadfast_measure::published;
use steadfast_measure::record::{self, Record};
use steadfast_report::document::{Document, write_json, write_text};
use steadfast_report::measure::document_against;
use steadfast_report::{Units, machines};

use crate::args::ReportArgs;
use crate::document_file::{DocumentFile, is_report};
use crate::document_form::DocumentForm;
use crate::output::answer;
use steadfast::ExitStatus;
use steadfast::beneath;

/// Greatest length of a record: a hundred times that of `measure all`.
const RECORD_LEN_BYTES_MAX: u64 = 256 << 20;

/// The name that stands for all published figures.
const PUBLISHED: &str = "published";

pub(super) fn run(args: &ReportArgs) -> anyhow::Result<ExitStatus> {
    let mut records = Vec::new();
    for path in &args.records {
        records.extend(read(path)?);
    }
    let others = args.against.as_deref().map(read).transpose()?.unwrap_or_default();
    let file = match args.output.as_deref().filter(|file| *file != Path::new("-")) {
        Some(file) => Some((DocumentForm::of(file)?, DocumentFile::claim(file, is_report)?)),
        None => None,
    };
    let text = args.text.options();
    let units = text.units;
    let documents = documents(&records, &others, units);
    if let Some((form, file)) = file {
        file.write(&form.render(&documents, units, args.chart.as_deref())?)?;
        return Ok(ExitStatus::Fine);
    }
    let mut page = Vec::new();
    if args.json {
        write_json(&documents, &mut page);
    } else {
        let texts = documents.iter().map(|document| write_text(document, text));
        page.extend_from_slice(texts.collect::<Vec<_>>().join("\n\n").as_bytes());
    }
    answer(&page)?;
    Ok(ExitStatus::Fine)
}

/// Makes a document of all records together, then one of each. With one other record, figures are
/// compared with it. Published figures have a row in the first document and none of their own.
fn documents(records: &[Record], others: &[Record], units: Units) -> Vec<Document> {
    let other = match others {
        [only] => Some(only),
        _ => None,
    };
    let all: Vec<&Record> = records.iter().chain(others).collect();
    let together = machines::document(&all, units);
    let alone = together.is_none();
    let by_itself = |record: &&Record| alone || record.published.is_none();
    let each = records.iter().filter(by_itself);
    let each = each.map(|record| document_against(record, other, units));
    let others = others.iter().filter(by_itself);
    let others = others.map(|other| document_against(other, None, units));
    let mut documents: Vec<Document> = together.into_iter().chain(each.chain(others)).collect();
    number_alike(&mut documents);
    documents
}

/// Numbers documents with the same title, as several records of one machine have, in their given
/// order. Rows of CSV cannot be told apart otherwise.
fn number_alike(documents: &mut [Document]) {
    let titles: Vec<String> = documents.iter().map(|document| document.title.clone()).collect();
    for (at, document) in documents.iter_mut().enumerate() {
        let alike = |among: &[String]| among.iter().filter(|title| **title == titles[at]).count();
        if alike(&titles) > 1 {
            document.title = format!("{} ({})", document.title, alike(&titles[..=at]));
        }
    }
}

/// Reads one record, or all that are published.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Record>> {
    if path == Path::new(PUBLISHED) && beneath::presence_of(path).is_lost() {
        return Ok(published::records());
    }
    let shown = path.display();
    let cannot = || format!("cannot read `{shown}`");
    let file = File::open(path).with_context(cannot)?;
    let length = file.metadata().with_context(cannot)?;
    ensure!(length.is_file(), "`{shown}` is not a regular file");
    let mut document = Vec::new();
    file.take(RECORD_LEN_BYTES_MAX + 1).read_to_end(&mut document).with_context(cannot)?;
    let fits = document.len() as u64 <= RECORD_LEN_BYTES_MAX;
    ensure!(fits, "`{shown}` is longer than any record: {RECORD_LEN_BYTES_MAX} bytes");
    let record = record::read(&document).with_context(|| format!("`{shown}`"))?;
    Ok(vec![record])
}
