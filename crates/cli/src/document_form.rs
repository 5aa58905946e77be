//! The format of a document, by the extension of its file.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use steadfast_report::document::{Chart, Document, write_csv, write_json, write_markdown};
use steadfast_report::{Units, chart, html};

/// A format of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentForm {
    /// One page, with charts.
    Html,
    /// One chart.
    Svg,
    /// Tables, each figure in a row.
    Csv,
    /// Text for notes and forums.
    Markdown,
    /// Everything, in base units.
    Json,
}

impl DocumentForm {
    /// Returns the format of a file name.
    ///
    /// # Errors
    /// If the extension is not known.
    pub(crate) fn of(path: &Path) -> anyhow::Result<DocumentForm> {
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        Ok(match end.to_ascii_lowercase().as_str() {
            "html" | "htm" => DocumentForm::Html,
            "svg" => DocumentForm::Svg,
            "csv" => DocumentForm::Csv,
            "md" | "markdown" => DocumentForm::Markdown,
            "json" => DocumentForm::Json,
            _ => bail!(
                "`{}`: the extension of a report must be .html, .svg, .csv, .md or .json",
                path.display()
            ),
        })
    }

    /// Writes documents in this format. `wanted` names a chart, for SVG.
    ///
    /// # Errors
    /// If there is no such chart, several and no name, or several with that name.
    pub(crate) fn render(
        self,
        documents: &[Document],
        units: Units,
        wanted: Option<&str>,
    ) -> anyhow::Result<Vec<u8>> {
        let mut out = Vec::new();
        match self {
            DocumentForm::Html => out = html::page(documents, units).into_bytes(),
            DocumentForm::Svg => {
                let (document, chart) = chosen(documents, wanted)?;
                out = chart::standalone(chart, &document.origin, units).into_bytes();
            }
            DocumentForm::Csv => write_csv(documents, &mut out),
            DocumentForm::Markdown => {
                let texts = documents.iter().map(|document| write_markdown(document, units));
                let text = texts.collect::<Vec<_>>().join("\n");
                out = format!("<!-- steadfast report -->\n{text}").into_bytes();
            }
            DocumentForm::Json => write_json(documents, &mut out),
        }
        Ok(out)
    }
}

/// Finds the named chart, or the only one, and its document.
fn chosen<'a>(
    documents: &'a [Document],
    wanted: Option<&str>,
) -> anyhow::Result<(&'a Document, &'a Chart)> {
    let charts = documents.iter().flat_map(|document| {
        let charts = document.sections.iter().flat_map(|section| &section.charts);
        charts.map(move |chart| (document, chart))
    });
    let charts: Vec<(&Document, &Chart)> = charts.collect();
    let names = charts.iter().map(|(_, chart)| chart.name.as_str()).collect::<Vec<_>>().join(", ");
    match (wanted, charts.as_slice()) {
        (_, []) => bail!("there is no chart in this report"),
        (None, [only]) => Ok(*only),
        (None, _) => bail!("which chart? --chart NAME, of {names}"),
        (Some(wanted), charts) => {
            let mut found = charts.iter().copied().filter(|(_, chart)| chart.name == wanted);
            let first =
                found.next().with_context(|| format!("no chart `{wanted}`, there are: {names}"))?;
            ensure!(
                found.next().is_none(),
                "several records have a chart `{wanted}`: name only one record"
            );
            Ok(first)
        }
    }
}
