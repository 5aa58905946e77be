//! A comparison, as a spreadsheet reads it: a header, then one row for each path.

use steadfast::diff::{DiffSummary, Pair, Side};
use steadfast::{Notice, Tag};

use super::{DiffRenderer, beneath, finds, kind_name};
use crate::json::PathText;
use crate::output::Output;

/// Columns about the path.
const OF_PATH: [&str; 7] =
    ["path", "path_b64", "kind", "difference", "moved_to", "moved_to_b64", "doubt"];

/// Columns about each side: for A with `a_` before them, for B with `b_`.
const OF_SIDE: [&str; 8] = [
    "length",
    "mtime_ns",
    "algorithm",
    "digest",
    "stored_algorithm",
    "stored_digest",
    "verdict",
    "error",
];

/// Renders CSV.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiffCsv {
    quiet: bool,
    begun: bool,
}

impl DiffCsv {
    /// Starts a document; `quiet` leaves out what is no finding.
    pub fn new(quiet: bool) -> DiffCsv {
        DiffCsv { quiet, begun: false }
    }

    fn begin(&mut self, output: &mut Output) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let sides = ["a", "b"].into_iter();
        let of_sides = sides.flat_map(|side| OF_SIDE.map(|name| format!("{side}_{name}")));
        write_row(OF_PATH.map(str::to_owned).into_iter().chain(of_sides), output);
    }
}

impl DiffRenderer for DiffCsv {
    fn pair(&mut self, pair: &Pair, output: &mut Output) {
        self.begin(output);
        if !self.quiet || finds(pair) {
            let sides = [&pair.here, &pair.there].into_iter();
            let of_sides = sides.flat_map(|side| of_side(side.as_deref()));
            write_row(of_path(pair).into_iter().chain(of_sides), output);
        }
    }

    fn notice(&mut self, notice: &Notice, output: &mut Output) {
        output.write_notice(notice);
    }

    fn end(&mut self, _summary: &DiffSummary, output: &mut Output) {
        self.begin(output);
    }
}

fn of_path(pair: &Pair) -> [String; 7] {
    let path = PathText::of(beneath(&pair.path));
    let moved_to = pair.moved_to.as_deref().map(PathText::of);
    let (moved_to, moved_to_b64) =
        moved_to.map(|text| (text.path, text.path_b64)).unwrap_or_default();
    [
        path.path,
        path.path_b64.unwrap_or_default(),
        kind_name(pair.kind).unwrap_or_default().to_owned(),
        pair.difference.name().to_owned(),
        moved_to,
        moved_to_b64.unwrap_or_default(),
        pair.doubt.map(|doubt| doubt.name()).unwrap_or_default().to_owned(),
    ]
}

fn of_side(side: Option<&Side>) -> [String; 8] {
    let Some(side) = side else { return Default::default() };
    let contents = |tag: Option<Tag>| match tag {
        Some(tag) => [tag.algorithm.name().to_owned(), tag.digest.to_string()],
        None => Default::default(),
    };
    let [algorithm, digest] = contents(side.actual);
    let [stored_algorithm, stored_digest] = contents(side.tag);
    let trouble = side.trouble.as_ref().or(side.tag_trouble.as_ref());
    [
        side.length.map(|length| length.to_string()).unwrap_or_default(),
        side.mtime.map(|mtime| mtime.as_nanoseconds().to_string()).unwrap_or_default(),
        algorithm,
        digest,
        stored_algorithm,
        stored_digest,
        side.verdict.map(|verdict| verdict.name()).unwrap_or_default().to_owned(),
        trouble.map(|trouble| trouble.to_string()).unwrap_or_default(),
    ]
}

fn write_row(fields: impl Iterator<Item = String>, output: &mut Output) {
    let mut writer = ::csv::Writer::from_writer(&mut output.answer);
    writer.write_record(fields).expect("a row goes into memory");
    writer.flush().expect("memory takes all bytes");
}
