//! Documents about a comparison of two trees: text, JSON lines, CSV.
//!
//! In: pairs of a comparison and its summary. Out: bytes, with names escaped in text and exact in
//! JSON and CSV. This module decides which pairs are findings; each module below renders one kind
//! of document. `docs/reference/diff.md` specifies the JSON and CSV forms.

mod lines;
mod text;

use std::path::{Path, PathBuf};

use steadfast::diff::{DiffSummary, Difference, PathKind, PathPair};
use steadfast::{Notice, Skipped, Verdict};

pub use lines::DiffLines;
pub use text::DiffText;

use crate::output::Output;

/// Writes one kind of document piece by piece during a comparison.
pub trait DiffRenderer {
    /// Appends the part of the document for one path, if it has one.
    fn pair(&mut self, pair: &PathPair, output: &mut Output);

    /// Appends a notice.
    fn notice(&mut self, notice: &Notice, output: &mut Output);

    /// Appends the end of the document.
    fn end(&mut self, summary: &DiffSummary, output: &mut Output);
}

/// The two sides, as the user wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffRoots {
    /// A, the original.
    pub here: PathBuf,
    /// B, the copy.
    pub there: PathBuf,
}

/// Whether a pair is a finding: it differs, or something else is wrong with it.
pub fn finds(pair: &PathPair) -> bool {
    pair.difference != Difference::Same || !pair.exit_status().is_fine()
}

/// Returns the name of the kind of a path, unless it is a regular file.
fn kind_name(kind: PathKind) -> Option<&'static str> {
    match kind {
        PathKind::File => None,
        PathKind::Directory => Some("directory"),
        PathKind::Symlink => Some("symlink"),
        PathKind::Special => Some("special"),
    }
}

/// Returns the path beneath a root as documents show it. The path of the root itself is empty.
fn beneath(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

fn skipped_counts(skipped: &Skipped) -> [(&'static str, u64); 5] {
    [
        ("symlinks", skipped.symlinks),
        ("special", skipped.special),
        ("excluded", skipped.excluded),
        ("dataless", skipped.dataless),
        ("other_file_systems", skipped.other_file_systems),
    ]
}

/// Returns the verdict on a side by its tag, if its contents differ from the tag.
fn decay(verdict: Option<Verdict>) -> Option<Verdict> {
    verdict.filter(|verdict| verdict.differs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::TextOptions;
    use steadfast::diff::{Doubt, FileSide};
    use steadfast::event::FileError;
    use steadfast::{Algorithm, Digest, Tag, Timestamp};

    fn side(content: u8, length: u64) -> Option<Box<FileSide>> {
        let mtime = Timestamp { seconds: 1_709_294_405, nanoseconds: 5 };
        let digest = Digest::from_slice(&[content; 4]).unwrap();
        let tagged = Timestamp { seconds: 1_763_650_000, nanoseconds: 0 };
        let mut side = FileSide::default();
        (side.length, side.mtime) = (Some(length), Some(mtime));
        side.tag = Some(Tag { algorithm: Algorithm::Crc32c, digest, length, mtime, tagged });
        Some(Box::new(side))
    }

    fn pair(path: &str, difference: Difference) -> PathPair {
        let mut pair = PathPair::new(path.into(), PathKind::File, difference);
        (pair.here, pair.there) = (side(1, 9), side(1, 9));
        pair
    }

    /// One of everything.
    fn pairs() -> Vec<PathPair> {
        let mut later = pair("later", Difference::Same);
        later.times_differ = true;
        later.there.as_mut().unwrap().mtime.as_mut().unwrap().seconds += 3600;
        let mut different = pair("new\nline", Difference::Different);
        different.there = side(2, 9);
        let mut longer = pair("longer", Difference::Different);
        longer.there = side(2, 10);
        let doubt = Some(Doubt::NoTagHere);
        let mut unknown = pair("unknown", Difference::Unknown);
        unknown.doubt = doubt;
        let mut closed = pair("closed", Difference::Unreadable);
        let reason = "permission denied".to_owned();
        closed.there.as_mut().unwrap().trouble = Some(FileError::new("open", reason));
        (closed.here, closed.kind) = (None, PathKind::Directory);
        let mut decayed = pair("decayed", Difference::Same);
        decayed.here.as_mut().unwrap().verdict = Some(Verdict::Corrupt);
        let moved_to = Some("to\u{202e}".into());
        let mut moved = pair("from", Difference::Moved);
        moved.moved_to = moved_to;
        let mut link = pair("link", Difference::Different);
        link.kind = PathKind::Symlink;
        (link.here, link.there) = (Some(Box::default()), Some(Box::default()));
        let mut here = pair("sub/here", Difference::OnlyHere);
        here.there = None;
        let mut there = pair("there", Difference::OnlyThere);
        there.here = None;
        let lost = pair("lost", Difference::TagLost);
        let same = pair("same", Difference::Same);
        vec![
            same, later, different, longer, unknown, closed, decayed, lost, moved, link, here,
            there,
        ]
    }

    fn summary() -> DiffSummary {
        let mut summary = DiffSummary::default();
        pairs().iter().for_each(|pair| summary.count(pair));
        summary.elapsed_ns = 2_000_000_000;
        summary.skipped_here.symlinks = 1;
        summary
    }

    fn document(renderer: &mut dyn DiffRenderer) -> String {
        let mut output = Output::default();
        for pair in pairs() {
            renderer.pair(&pair, &mut output);
        }
        renderer.notice(&Notice::new("something").at(Path::new("b")), &mut output);
        renderer.end(&summary(), &mut output);
        output.answer.extend_from_slice(&output.trouble);
        String::from_utf8(output.answer).unwrap()
    }

    fn text(options: TextOptions) -> String {
        let roots = DiffRoots { here: "a".into(), there: "/mnt/b\x1b".into() };
        document(&mut DiffText::new(roots, options))
    }

    const FINDINGS: &str = "\
different   new\\nline  (9 bytes with other contents)
different   longer  (9 bytes in a, 10 bytes in /mnt/b\\x1b)
unknown     unknown  (no tag in a)
unreadable  /mnt/b\\x1b/closed  (a directory; cannot open: permission denied in /mnt/b\\x1b)
same        decayed  (corrupt in a, as the last check found)
tag lost    lost  (contents not read)
moved       from -> to\\u{202e}
different   link  (symbolic links to different targets)
only here   a/sub/here
only there  /mnt/b\\x1b/there
";

    #[test]
    fn text_for_people() {
        let end = "
compared a with /mnt/b\\x1b by their tags: 9 files in 2.00 s
  different   3
  only here   1
  only there  1
  tag lost    1
  moved       1
  unreadable  1
  unknown     1
  same        3
same contents, other modification time: 1
damaged in a: 1 file. To mend: steadfast repair --from PATH
not compared in a: 1 symbolic link
The second is not a faithful copy of the first.
steadfast: `b`: something
";
        assert_eq!(text(TextOptions::default()), format!("{FINDINGS}{end}"));
        let quiet = TextOptions { quiet: true, ..TextOptions::default() };
        assert_eq!(text(quiet), FINDINGS);
        let verbose = text(TextOptions { verbose: true, ..TextOptions::default() });
        let later = "later  (modification time 2024-03-01 13:00:05Z, not 2024-03-01 12:00:05Z)\n";
        assert!(verbose.starts_with(&format!("same        same\nsame        {later}")));
    }

    #[test]
    fn json_for_programs() {
        let lines = document(&mut DiffLines::json(false));
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.len(), pairs().len() + 2);
        let contents = "\"algorithm\":\"crc32c\",\"digest\":\"01010101\",\"length\":9";
        let side = format!(
            "{{\"length\":9,\"mtime_ns\":1709294405000000005,\"stored\":{{{contents},\
             \"mtime_ns\":1709294405000000005,\"tagged_s\":1763650000}}}}"
        );
        let same =
            format!("{{\"path\":\"same\",\"difference\":\"same\",\"a\":{side},\"b\":{side}}}");
        assert_eq!(lines[0], same);
        let moved =
            "{\"path\":\"from\",\"difference\":\"moved\",\"moved_to\":{\"path\":\"to\\u202e\"},";
        assert!(lines[8].starts_with(moved), "{}", lines[8]);
        assert!(lines[12].starts_with("{\"notice\":\"something\",\"path\":\"b\"}"));
        let end = "{\"summary\":{\"verb\":\"diff\",\"read\":false,\"interrupted\":false,\
                   \"exit_status\":1,\"algorithm\":null,\"files_a\":9,\"files_b\":9,";
        assert!(lines[13].starts_with(end), "{}", lines[13]);
        let quiet = document(&mut DiffLines::json(true));
        assert_eq!(quiet.lines().count(), pairs().len(), "two are no findings");
    }

    #[test]
    fn csv_for_spreadsheets() {
        let lines = document(&mut DiffLines::csv(true));
        let mut lines = lines.lines();
        let columns = lines.next().unwrap().split(',').count();
        assert_eq!(columns, 23);
        // The name has a line feed, so its row has two lines.
        assert_eq!(lines.next(), Some("\"new"));
        let row = "line\",,,different,,,,9,1709294405000000005,,,crc32c,01010101,,,9,\
                   1709294405000000005,,,crc32c,02020202,,";
        assert_eq!(lines.next(), Some(row));
        let mut output = Output::default();
        DiffLines::csv(false).end(&summary(), &mut output);
        assert_eq!(output.answer.iter().filter(|byte| **byte == b'\n').count(), 1, "the header");
    }
}
