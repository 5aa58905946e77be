//! The answer whether a source may be erased by copies that exist, as text and as JSON lines.
//!
//! In text, files of one folder that lack the same are one finding. Every name is escaped there.
//! `docs/reference/copy.md` specifies the JSON form.

use std::path::{Path, PathBuf};

use steadfast::safe::{Grade, Lack, SafeFile, SafeList, SafePlace, SafeSummary};
use steadfast::{ExitStatus, Notice, Verdict};

use crate::copy::{CopyDocument, words};
use crate::escape;
use crate::json::{JsonObject, write_object, write_summary};
use crate::output::Output;
use crate::repair::withheld_json;
use crate::result_document::ResultDocument;
use crate::units::counted;

const DAY_S: u64 = 86_400;

/// Appends what is said of copies that exist.
#[derive(Clone, Debug)]
pub struct SafeDocument {
    words: CopyDocument,
    /// The finding that the next file may belong to.
    finding: Option<LackFinding>,
}

/// What files of one folder lack that come one after the other.
#[derive(Clone, Debug)]
struct LackFinding {
    alike: LackingAlike,
    first: SafeFile,
    files: u64,
}

/// What files of one finding have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LackingAlike {
    lack: Lack,
    folder: PathBuf,
    /// The folders of the places, and what was proved there.
    places: Vec<(PathBuf, Option<Grade>)>,
    trouble: Option<String>,
    verdict: Option<Verdict>,
    /// What no place has of what belongs to the files.
    lacking: Vec<String>,
}

impl LackingAlike {
    fn of(file: &SafeFile) -> Option<LackingAlike> {
        let place = |place: &SafePlace| (folder_of(&place.path).to_owned(), place.grade);
        Some(LackingAlike {
            lack: file.lack?,
            folder: folder_of(&file.path).to_owned(),
            places: file.places.iter().map(place).collect(),
            trouble: file.trouble.clone(),
            verdict: file.verdict,
            lacking: file.withheld.iter().map(|it| it.what.clone()).collect(),
        })
    }
}

impl SafeDocument {
    /// Makes one with the words of `words`.
    pub fn new(words: CopyDocument) -> SafeDocument {
        SafeDocument { words, finding: None }
    }

    fn end_finding(&mut self, output: &mut Output) {
        let Some(LackFinding { alike, first, files }) = self.finding.take() else { return };
        let shown = |path: &Path| match files {
            1 => escape::path(path),
            _ => format!("{}/", escape::path(folder_of(path))),
        };
        let word = alike.verdict.map_or(words(alike.lack).0, Verdict::name);
        let mut text = format!("{word:<14}  {}", shown(&first.path));
        if files > 1 {
            text.push_str(&format!(" ({})", counted(files, "file", "files")));
        }
        for place in &first.places {
            let proof = place.grade.map_or("other contents", Grade::name);
            text.push_str(&format!("\n                  {} ({proof})", shown(&place.path)));
        }
        if !alike.lacking.is_empty() {
            text.push_str(&format!("  ({})", escape::text(&alike.lacking.join(", "))));
        }
        text.extend(first.trouble.iter().map(|it| format!("  ({})", escape::text(it))));
        text.push('\n');
        output.answer.extend_from_slice(text.as_bytes());
    }
}

impl ResultDocument for SafeDocument {
    type Result = SafeFile;
    type Summary = SafeSummary;

    fn result(&mut self, file: &SafeFile, output: &mut Output) {
        if self.words.json {
            let lacks = withheld_json(&file.withheld);
            let object = JsonObject::at(&file.path)
                .field("length", file.length)
                .field("places", file.places.iter().map(place_object).collect::<Vec<_>>())
                .field("lack", file.lack.map(Lack::name))
                .optional("verdict", file.verdict.map(Verdict::name))
                .optional("lacks", (!lacks.is_empty()).then_some(lacks))
                .optional("error", file.trouble.as_deref());
            return write_object(&object, &mut output.answer);
        }
        let alike = LackingAlike::of(file);
        match &mut self.finding {
            Some(finding) if Some(&finding.alike) == alike.as_ref() => finding.files += 1,
            _ => {
                self.end_finding(output);
                let first = file.clone();
                self.finding = alike.map(|alike| LackFinding { alike, first, files: 1 });
            }
        }
    }

    fn is_json(&self) -> bool {
        self.words.json
    }

    fn notice(&mut self, notice: &Notice, output: &mut Output) {
        self.end_finding(output);
        self.words.notice(notice, output);
    }

    fn end(&mut self, summary: &SafeSummary, output: &mut Output) -> ExitStatus {
        self.end_finding(output);
        if self.words.json {
            let object = self
                .words
                .summary_object(&summary.answer, summary.bytes)
                .field("interrupted", summary.interrupted)
                .field("exit_status", summary.exit_status())
                .field("files", summary.answer.files())
                .field("bytes_read", summary.bytes_read)
                .field("lists", summary.lists.iter().map(list_object).collect::<Vec<_>>())
                .field("elapsed_ns", summary.elapsed_ns);
            write_summary(&object, &mut output.answer);
        } else {
            let line = format!("{}{}\n", self.words.last_line(&summary.answer), by_lists(summary));
            output.answer.extend_from_slice(line.as_bytes());
        }
        summary.exit_status()
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the age of the lists that were asked: what was deleted since is not known.
fn by_lists(summary: &SafeSummary) -> String {
    let said = summary.lists.iter().map(|list| {
        let age = match list.age_s / DAY_S {
            0 => "less than a day old".to_owned(),
            days => format!("{} old", counted(days, "day", "days")),
        };
        format!("the list {} is {age}", escape::path(&list.path))
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) }
}

fn list_object(list: &SafeList) -> JsonObject<'_> {
    JsonObject::at(&list.path).field("age_s", list.age_s)
}

fn place_object(place: &SafePlace) -> JsonObject<'_> {
    JsonObject::at(&place.path).field("proof", place.grade.map(Grade::name))
}
