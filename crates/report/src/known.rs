//! Which contents are in other archives, as text and as JSON lines.
//!
//! Every name is escaped in text. `docs/reference/copy.md` specifies the JSON form.

use steadfast::ExitStatus;
use steadfast::known::{
    KnownContents, KnownPlace, KnownResult, KnownSummary, KnownWord, SameFolder,
};

use crate::escape;
use crate::json::{CountsByName, JsonObject, write_object, write_summary};
use crate::output::Output;
use crate::result_document::ResultDocument;
use crate::units::{Units, count, counted};

/// Appends what is said of a search for known contents.
#[derive(Clone, Copy, Debug)]
pub struct KnownDocument {
    /// Whether it is JSON.
    pub json: bool,
    /// Whether to leave out files that are known.
    pub quiet: bool,
    /// Units of sizes.
    pub units: Units,
}

impl ResultDocument for KnownDocument {
    type Result = KnownResult;
    type Summary = KnownSummary;

    fn result(&mut self, result: &KnownResult, output: &mut Output) {
        match result {
            KnownResult::File(file) => self.file(file, output),
            KnownResult::Folder(folder) => self.folder(folder, output),
        }
    }

    fn is_json(&self) -> bool {
        self.json
    }

    fn end(&mut self, summary: &KnownSummary, output: &mut Output) -> ExitStatus {
        let status = summary.exit_status();
        if self.json {
            let counts = |of: [u64; 3]| {
                CountsByName(KnownWord::ALL.into_iter().map(KnownWord::name).zip(of).collect())
            };
            let object = JsonObject::default()
                .field("verb", "known")
                .field("interrupted", summary.interrupted)
                .field("exit_status", status)
                .field("files", counts(summary.files))
                .field("bytes", counts(summary.bytes))
                .field("bytes_read", summary.bytes_read)
                .field("stale_places", summary.stale)
                .field("elapsed_ns", summary.elapsed_ns);
            write_summary(&object, &mut output.answer);
            return status;
        }
        let end = match summary.interrupted {
            true => "Interrupted: nothing is known.".to_owned(),
            false => self.last_line(summary.files, summary.bytes),
        };
        output.answer.extend_from_slice(format!("{end}\n").as_bytes());
        status
    }
}

impl KnownDocument {
    fn file(self, file: &KnownContents, output: &mut Output) {
        if self.quiet && file.word == KnownWord::Known {
            return;
        }
        if self.json {
            let object = JsonObject::at(&file.path)
                .field("known", file.word.name())
                .field("length", file.length)
                .field("places", places(file))
                .optional("more_places", (file.more > 0).then_some(file.more))
                .optional("error", file.trouble.as_deref());
            return write_object(&object, &mut output.answer);
        }
        let places = (file.places.as_slice(), file.more);
        let trouble = file.trouble.as_deref().map(escape::text);
        let line = self.line(file.word, &escape::path(&file.path), places, trouble.as_deref());
        output.answer.extend_from_slice(format!("{line}\n").as_bytes());
    }

    /// Returns what is said of a file with a name, the places that have its contents, of which
    /// there are `more`, and why it could not be read.
    pub fn line(
        self,
        word: KnownWord,
        name: &str,
        (places, more): (&[KnownPlace], u64),
        trouble: Option<&str>,
    ) -> String {
        let word = if word == KnownWord::Undetermined { "unreadable" } else { word.name() };
        let mut line = format!("{word:<10}  {name}");
        if let Some(place) = places.first() {
            line.push_str(&format!("  = {}", escape::path(&place.path)));
            let others = places.len() as u64 - 1 + more;
            let others = (others > 0).then(|| format!("{} more", count(others)));
            let away = match (place.is_listed, place.is_there) {
                (true, _) => Some("by that list".to_owned()),
                (false, true) => None,
                (false, false) => Some("not mounted".to_owned()),
            };
            let remarks: Vec<String> = others.into_iter().chain(away).collect();
            if !remarks.is_empty() {
                line.push_str(&format!(" ({})", remarks.join("; ")));
            }
        }
        line.extend(trouble.map(|trouble| format!("  ({trouble})")));
        line
    }

    fn folder(self, folder: &SameFolder, output: &mut Output) {
        if self.json {
            let object = JsonObject::default()
                .field("folder", JsonObject::at(&folder.path))
                .field("same_as", JsonObject::at(&folder.there))
                .field("files", folder.files)
                .field("whole", folder.is_whole);
            return write_object(&object, &mut output.answer);
        }
        if !self.quiet {
            let files = match folder.files {
                1 => "the only file is".to_owned(),
                files => format!("all {} files are", count(files)),
            };
            let whole = if folder.is_whole { "" } else { ", which may have more" };
            let (path, there) = (escape::path(&folder.path), escape::path(&folder.there));
            let line = format!("folder      {path}: {files} in {there}{whole}\n");
            output.answer.extend_from_slice(line.as_bytes());
        }
    }

    /// Returns how many files, and bytes, have each word.
    pub fn last_line(self, files: [u64; 3], bytes: [u64; 3]) -> String {
        let [known, unknown, undetermined] = files;
        let size = |at: usize| self.units.bytes(bytes[at]);
        let files = counted(known + unknown + undetermined, "file", "files");
        let mut text = format!("{files}: {} known ({})", count(known), size(0));
        text.push_str(&format!(", {} nowhere else ({})", count(unknown), size(1)));
        if undetermined > 0 {
            text.push_str(&format!(", {} could not be told", count(undetermined)));
        }
        text
    }
}

fn places(file: &KnownContents) -> Vec<JsonObject<'_>> {
    let places = file.places.iter();
    places.map(|it| JsonObject::at(&it.path).field("mounted", it.is_there)).collect()
}
