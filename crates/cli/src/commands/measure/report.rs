//! `steadfast measure report`: records → one report.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use steadfast_measure::published;
use steadfast_measure::record::{self, Record};
use steadfast_report::document::{write_json, write_text};
use steadfast_report::machines;

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
    let [records, others] = [&records, &others].map(|all| all.iter().collect::<Vec<&Record>>());
    let documents = machines::documents(&records, &others, units);
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
