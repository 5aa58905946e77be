//! Writes tags as text: one short paragraph for each file.
//!
//! In: events of a run that reads tags. Out: text, with every name escaped. The stored form of a
//! tag is binary, so people read tags with `show`.

use steadfast::{Event, FileEvent, Tag};

use super::Renderer;
use crate::output::Output;
use crate::{advice, escape, units};

/// Renders tags.
#[derive(Clone, Copy, Debug, Default)]
pub struct Show {
    /// Whether to write only tags that cannot be read.
    pub quiet: bool,
}

impl Show {
    fn file(&self, event: &FileEvent, output: &mut Output) {
        if self.quiet && event.trouble.is_none() {
            return;
        }
        let mut text = escape::path(&event.path.to_path());
        text.push('\n');
        match (&event.stored, &event.trouble) {
            (Some(tag), _) => write_tag(tag, &mut text),
            (None, Some(trouble)) => {
                text.push_str(&format!("  {}\n", escape::text(&advice::of_error(trouble))));
            }
            (None, None) => text.push_str("  no tag\n"),
        }
        if let Some(previous) = &event.previous {
            text.push_str("  previous tag\n");
            let mut inner = String::new();
            write_tag(previous, &mut inner);
            text.extend(inner.lines().flat_map(|line| ["  ", line, "\n"]));
        }
        if let (Some(_), Some(trouble)) = (&event.stored, &event.trouble) {
            text.push_str(&format!("  {}\n", escape::text(&advice::of_error(trouble))));
        }
        output.answer.extend_from_slice(text.as_bytes());
    }
}

impl Renderer for Show {
    fn event(&mut self, event: &Event, output: &mut Output) {
        match event {
            Event::File(event) => self.file(event, output),
            Event::Notice(notice) => output.write_notice(notice),
            _ => {}
        }
    }
}

fn write_tag(tag: &Tag, text: &mut String) {
    let rows = [
        (tag.algorithm.name(), tag.digest.to_string()),
        ("length", units::counted(tag.length, "byte", "bytes")),
        ("modified", units::moment_exact(tag.mtime)),
        ("tagged", units::moment(tag.tagged)),
    ];
    for (name, value) in rows {
        text.push_str(&format!("  {name:<10}  {value}\n"));
    }
}
