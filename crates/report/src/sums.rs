//! Writes digests in the formats of `sha256sum` and of the BSD tools.
//!
//! In: events of a run that hashes. Out: one line for each file that could be read; errors go to
//! standard error. `sums/comparison.rs` compares files with such lines.

mod comparison;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use steadfast::manifest::sums::{self, Ending, Style};
use steadfast::{Event, FileEvent, Summary};

use crate::output::Output;
use crate::run::{Renderer, Text, TextOptions};
use crate::{advice, escape};

pub use comparison::{Comparison, ComparisonOptions, SumsTally};

/// Renders lines of digests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    /// Whether lines name their algorithm.
    pub style: Style,
    /// The end of a line.
    pub ending: Ending,
    /// Whether the output is a terminal: then names with control characters are escaped. Otherwise
    /// every name is exact.
    pub for_terminal: bool,
    /// How the summary is written to standard error, if at all.
    pub summary: Option<TextOptions>,
}

impl Sums {
    fn file(&self, event: &FileEvent, output: &mut Output) {
        let path = event.path.to_path();
        if event.trouble.is_some() {
            write_trouble(event, output);
        } else if let Some((algorithm, digest)) = event.digest() {
            let path = shown(&path, self.for_terminal);
            let out = &mut output.answer;
            sums::write_line(algorithm, &digest, &path, self.style, self.ending, out)
                .expect("writing to a vector does not fail");
        }
    }
}

impl Renderer for Sums {
    fn event(&mut self, event: &Event, output: &mut Output) {
        match event {
            Event::File(event) => self.file(event, output),
            Event::Notice(notice) => output.write_notice(notice),
            _ => {}
        }
    }

    fn end(&mut self, run: &Summary, output: &mut Output) {
        if let Some(options) = self.summary {
            let mut inner = Output::default();
            Text::new(options).end(run, &mut inner);
            // No blank line: nothing precedes it.
            output.trouble.extend_from_slice(inner.answer.trim_ascii_start());
        }
    }
}

/// Returns the name to print: escaped if a terminal would act on it.
fn shown(path: &Path, for_terminal: bool) -> Cow<'_, Path> {
    // The format has its own escape for a line break.
    let obeyed = |letter: char| letter != '\n' && letter.is_control() || escape::misleads(letter);
    let harmless = path.to_str().is_some_and(|text| !text.contains(obeyed));
    match for_terminal && !harmless {
        true => Cow::Owned(PathBuf::from(escape::path(path))),
        false => Cow::Borrowed(path),
    }
}

fn write_trouble(event: &FileEvent, output: &mut Output) {
    if let Some(trouble) = &event.trouble {
        let path = escape::path(&event.path.to_path());
        let line = format!("steadfast: {path}: {}\n", escape::text(&advice::of_error(trouble)));
        output.trouble.extend_from_slice(line.as_bytes());
    }
}
