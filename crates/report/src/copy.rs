//! Copies, and the answer whether the source may be erased, as text and as JSON lines.
//!
//! Every name is escaped in text. `docs/reference/copy.md` specifies the JSON form.

use steadfast::copy::{CopiedFile, CopiedPlace, CopySummary};
use steadfast::json::TagText;
use steadfast::safe::{Grade, Lack, OwnFolders, SafeAnswer, SafeRule};
use steadfast::{ExitStatus, Verdict};

use crate::json::{JsonObject, write_object, write_summary};
use crate::output::Output;
use crate::repair::withheld_json;
use crate::result_document::ResultDocument;
use crate::units::{Units, count, counted, duration};
use crate::{advice, escape};

/// Appends what is said of copies.
#[derive(Clone, Copy, Debug)]
pub struct CopyDocument {
    /// The verb.
    pub verb: &'static str,
    /// Whether it is JSON.
    pub json: bool,
    /// Whether to say nothing of what went well but the last line.
    pub quiet: bool,
    /// Units of sizes.
    pub units: Units,
    /// How much is asked of copies.
    pub rule: SafeRule,
}

impl ResultDocument for CopyDocument {
    type Result = CopiedFile;
    type Summary = CopySummary;

    fn result(&mut self, file: &CopiedFile, output: &mut Output) {
        if self.json {
            return write_object(&copied_object(file), &mut output.answer);
        }
        let places = file.places.iter().filter_map(|place| {
            let trouble = place.trouble.as_ref().filter(|_| file.trouble.is_none())?;
            Some(format!("{}: {}", escape::path(&place.path), advice::of_error(trouble)))
        });
        let source = file.trouble.iter().map(|trouble| {
            format!("{}: {}", escape::path(&file.path), escape::text(&advice::of_error(trouble)))
        });
        for line in source.chain(places) {
            let word = file.verdict.filter(|it| it.is_alarm()).map_or("failed", Verdict::name);
            output.answer.extend_from_slice(format!("{word:<8}  {line}\n").as_bytes());
        }
        if let Some(mended) = &file.mended {
            let by: Vec<_> = mended.iter().map(|it| escape::path(&it.path)).collect();
            let (path, by) = (escape::path(&file.path), by.join(", "));
            let verdict = file.verdict.map_or("damaged", Verdict::name);
            let line =
                format!("mended    {path}: it is {verdict}, the copies are right, by {by}\n");
            output.answer.extend_from_slice(line.as_bytes());
        }
        for place in file.places.iter().filter(|place| place.rewrites > 0 && !self.quiet) {
            let times = counted(place.rewrites.into(), "time", "times");
            let path = escape::path(&place.path);
            let line =
                format!("wrote     {path}: again, {times}, because it was read back wrong\n");
            output.answer.extend_from_slice(line.as_bytes());
        }
    }

    fn is_json(&self) -> bool {
        self.json
    }

    fn end(&mut self, summary: &CopySummary, output: &mut Output) -> ExitStatus {
        let status = summary.exit_status();
        if self.json {
            let object = self
                .summary_object(&summary.answer, summary.bytes)
                .field("interrupted", summary.interrupted)
                .field("exit_status", status)
                .field("files", summary.files)
                .field("copied", summary.copied)
                .field("were_there", summary.were_there)
                .field("removed", summary.removed)
                .field("mended", summary.mended)
                .field("unproved", summary.unproved)
                .field("elapsed_ns", summary.elapsed_ns);
            write_summary(&object, &mut output.answer);
            return status;
        }
        if !self.quiet {
            let files = counted(summary.files, "file", "files");
            let (size, time) = (self.units.bytes(summary.bytes), duration(summary.elapsed_ns));
            let there = summary.were_there;
            let mut words = Vec::new();
            if there < summary.copied || there == 0 {
                words.push(format!("{} copied and proved", count(summary.copied - there)));
            }
            if there > 0 {
                words.push(format!("{} there before and proved", count(there)));
            }
            let mut text = format!("{files}, {size}: {} in {time}", words.join(", "));
            if summary.removed > 0 {
                text.push_str(&format!(", {} removed from the source", count(summary.removed)));
            }
            output.answer.extend_from_slice(format!("{text}\n").as_bytes());
        }
        self.write_last_line(&summary.answer, output);
        status
    }
}

impl CopyDocument {
    pub(crate) fn summary_object(self, answer: &SafeAnswer, bytes: u64) -> JsonObject<'static> {
        let lacks: Vec<JsonObject<'static>> = answer
            .lacks()
            .map(|(lack, files)| {
                JsonObject::default().field("lack", lack.name()).field("files", files)
            })
            .collect();
        let own = answer.own_folders();
        let own_folders = JsonObject::default()
            .field("catalogues", own.catalogues)
            .field("parity", own.parity)
            .field("kept", own.kept);
        JsonObject::default()
            .field("verb", self.verb)
            .field("safe_to_erase", answer.is_yes())
            .field("because", lacks)
            .optional("only_here", (own != OwnFolders::default()).then_some(own_folders))
            .field("copies", self.rule.copies)
            .field("bytes", bytes)
    }

    pub(crate) fn write_last_line(self, answer: &SafeAnswer, output: &mut Output) {
        output.answer.extend_from_slice(format!("{}\n", self.last_line(answer)).as_bytes());
    }

    /// Returns the answer in a line.
    pub fn last_line(self, answer: &SafeAnswer) -> String {
        let line = self.answer_line(answer);
        let OwnFolders { catalogues, parity, kept, .. } = answer.own_folders();
        let parts = [
            (catalogues, "history", "histories"),
            (parity, "file of parity", "files of parity"),
            (kept, "kept file", "kept files"),
        ];
        let parts = parts.into_iter().filter(|(number, ..)| *number > 0);
        let parts: Vec<String> =
            parts.map(|(number, one, many)| counted(number, one, many)).collect();
        if parts.is_empty() {
            return line;
        }
        format!("{line} (only in .steadfast of the source: {})", parts.join(", "))
    }

    fn answer_line(self, answer: &SafeAnswer) -> String {
        if answer.is_yes() {
            return "safe to erase: yes".to_owned();
        }
        let mut reasons: Vec<String> =
            answer.lacks().map(|(lack, files)| self.reason(lack, files)).collect();
        if reasons.is_empty() {
            reasons.push("no file was found".to_owned());
        }
        let word = if answer.is_yes_but() { "yes, but for" } else { "no, because" };
        format!("safe to erase: {word} {}", reasons.join("; "))
    }

    /// Returns why so many files may not be erased.
    pub fn reason(self, lack: Lack, files: u64) -> String {
        let one_of = |one: &'static str, many: &'static str| if files == 1 { one } else { many };
        let copies = self.rule.copies as u64;
        words(lack)
            .1
            .replace("{files}", &counted(files, "file", "files"))
            .replace("{entries}", &counted(files, "entry", "entries"))
            .replace("{is}", one_of("is", "are"))
            .replace("{was}", one_of("was", "were"))
            .replace("{these}", one_of("that", "these"))
            .replace("{places}", &counted(copies, "place", "places"))
            .replace("{devices}", &counted(copies, "device", "devices"))
    }
}

/// Returns the word for a file that lacks something, and the sentence for several.
pub(crate) fn words(lack: Lack) -> (&'static str, &'static str) {
    let word = match lack {
        Lack::NotCopied => "unreadable",
        Lack::TooFew => "too few copies",
        Lack::OnePlace => "one place",
        Lack::OneDevice => "one device",
        Lack::FromDeleted => "in a deleted file",
        Lack::FromMemory => "in memory",
        Lack::NotTold => "not told apart",
        Lack::FromServer => "from a server",
        Lack::FromList => "in a list",
        Lack::FromCache => "from a cache",
        Lack::FromTree => "from the tree",
        other => other.name(),
    };
    (word, sentence(lack))
}

fn sentence(lack: Lack) -> &'static str {
    match lack {
        Lack::CopyGone => {
            "a copy of {files} was gone when {these} had another name: source and copy are one \
             file"
        }
        Lack::Corrupt => "{files} of the source {is} corrupt or suspect by the record",
        Lack::Changed => "{files} changed meanwhile, or could not be read twice the same",
        Lack::NotCopied => "{files} could not be read or written",
        Lack::LeftOut => {
            "{entries} of the source {is} no regular file on this machine, or excluded"
        }
        Lack::KnownOnly => {
            "{files} {is} known by records and {was} not copied: `safe` reads the copies"
        }
        Lack::OtherVolume => "a copy is no longer where it was proved",
        Lack::TooFew => "{files} {is} not in {places}",
        Lack::OnePlace => {
            "the copies of {files} are, or may be, the source itself or each other under another \
             name: one place shows the other"
        }
        Lack::OneDevice => "the copies of {files} are on one device, and not on {devices}",
        Lack::FromDeleted => {
            "the copies of {files} are in an image whose file was deleted: they are gone when it \
             is unmounted"
        }
        Lack::FromMemory => {
            "the copies of {files} are in memory: they are gone when the machine is switched off"
        }
        Lack::NotTold => {
            "the system does not tell whether the places of {files} are two, on different devices \
             (if you know that they are: --apart)"
        }
        Lack::FromServer => {
            "the copies of {files} were read from a server or a FUSE program, which may have \
             answered from its memory (if that is enough: --trust-servers)"
        }
        Lack::FromList => {
            "copies of {files} are only in a list, which may be out of date (if that is enough: \
             --apart --trust-servers)"
        }
        Lack::FromCache => "the copies of {files} were read through a cache, not from the medium",
        Lack::FromTree => {
            "the copies of {files} are kept in the file system's tree, which was not read past \
             its cache (as root, it is; if that is enough: --trust-tree)"
        }
        Lack::NotSeen => "not everything was seen",
        Lack::Belongings => "dates, owner, rights or attributes of {files}, which no copy has",
        Lack::Kept => {
            "{files} in .steadfast/damaged of the source (to remove what you do not need: \
             steadfast repair --discard RUN PATH)"
        }
    }
}

fn copied_object(file: &CopiedFile) -> JsonObject<'_> {
    let place = |place: &CopiedPlace| {
        JsonObject::at(&place.path)
            .field("proof", place.grade.map(Grade::name))
            .field("was_there", place.was_there)
            .optional("rewrites", (place.rewrites > 0).then_some(place.rewrites))
            .optional("error", place.trouble.as_ref().map(ToString::to_string))
    };
    let places = file.places.iter().map(|it| {
        let lacks = withheld_json(&it.withheld);
        place(it).optional("lacks", (!lacks.is_empty()).then_some(lacks))
    });
    let mended = file
        .mended
        .as_ref()
        .map(|from| from.iter().map(|it| JsonObject::at(&it.path)).collect::<Vec<_>>());
    JsonObject::at(&file.path)
        .field("length", file.length)
        .optional("tag", file.tag.as_ref().map(TagText::of))
        .field("proved", file.is_proved)
        .optional("verdict", file.verdict.map(Verdict::name))
        .optional("mended_by", mended)
        .field("copies", places.collect::<Vec<_>>())
        .field("lack", file.lack.map(Lack::name))
        .optional("removed", file.was_removed.then_some(true))
        .optional("error", file.trouble.as_ref().map(ToString::to_string))
}
