//! Copies, and the answer whether the source may be erased, as text and as JSON lines.
//!
//! Every name is escaped in text. `docs/reference/copy.md` specifies the JSON form.

use steadfast::copy::{CopiedFile, CopiedPlace, CopySummary};
use steadfast::json::TagText;
use steadfast::safe::{Grade, Lack, OwnFolders, SafeAnswer, SafeRule};
use steadfast::{Notice, Verdict};

use crate::json::{JsonObject, write_notice, write_object, write_summary};
use crate::output::Output;
use crate::repair::withheld_json;
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

impl CopyDocument {
    /// Appends a file that was copied.
    pub fn copied(self, file: &CopiedFile, output: &mut Output) {
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

    /// Appends a notice.
    pub fn notice(self, notice: &Notice, output: &mut Output) {
        match self.json {
            true => write_notice(notice, &mut output.answer),
            false => output.write_notice(notice),
        }
    }

    /// Appends the end of a copy.
    pub fn end_of_copy(self, summary: &CopySummary, output: &mut Output) {
        if self.json {
            let object = self
                .summary_object(&summary.answer, summary.bytes)
                .field("interrupted", summary.interrupted)
                .field("exit_status", summary.exit_status())
                .field("files", summary.files)
                .field("copied", summary.copied)
                .field("were_there", summary.were_there)
                .field("removed", summary.removed)
                .field("mended", summary.mended)
                .field("unproved", summary.unproved)
                .field("elapsed_ns", summary.elapsed_ns);
            return write_summary(&object, &mut output.answer);
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
    }

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
        if answer.is_yes_but() {
            let lacking = answer.lacks().map(|(lack, files)| self.reason(lack, files));
            let lacking: Vec<String> = lacking.collect();
            return format!("safe to erase: yes, but for {}", lacking.join("; "));
        }
        let reasons = answer.lacks().map(|(lack, files)| self.reason(lack, files));
        let mut reasons: Vec<String> = reasons.collect();
        if reasons.is_empty() {
            reasons.push("no file was found".to_owned());
        }
        format!("safe to erase: no, because {}", reasons.join("; "))
    }

    /// Returns why so many files may not be erased.
    pub fn reason(self, lack: Lack, files: u64) -> String {
        let of = counted(files, "file", "files");
        let (is, are) = (if files == 1 { "is" } else { "are" }, counted(files, "entry", "entries"));
        let copies = counted(self.rule.copies as u64, "place", "places");
        match lack {
            Lack::CopyGone => format!(
                "a copy of {of} was gone when {} another name: source and copy are one file",
                if files == 1 { "that had" } else { "these had" }
            ),
            Lack::Corrupt => format!("{of} of the source {is} corrupt or suspect by the record"),
            Lack::Changed => format!("{of} changed meanwhile, or could not be read twice the same"),
            Lack::NotCopied => format!("{of} could not be read or written"),
            Lack::LeftOut => {
                format!("{are} of the source {is} no regular file on this machine, or excluded")
            }
            Lack::KnownOnly => format!(
                "{of} {is} known by records and {was} not copied: `safe` reads the copies",
                was = if files == 1 { "was" } else { "were" }
            ),
            Lack::OtherVolume => "a copy is no longer where it was proved".to_owned(),
            Lack::TooFew => format!("{of} {is} not in {copies}"),
            Lack::OneDevice => {
                let devices = counted(self.rule.copies as u64, "device", "devices");
                format!("the copies of {of} are on one device, and not on {devices}")
            }
            Lack::OnePlace => format!(
                "the copies of {of} are, or may be, the source itself or each other under another \
                 name: one place shows the other"
            ),
            Lack::FromDeleted => format!(
                "the copies of {of} are in an image whose file was deleted: they are gone when it \
                 is unmounted"
            ),
            Lack::FromMemory => format!(
                "the copies of {of} are in memory: they are gone when the machine is switched off"
            ),
            Lack::NotTold => format!(
                "the system does not tell whether the places of {of} are two, on different devices \
                 (if you know that they are: --apart)"
            ),
            Lack::FromServer => format!(
                "the copies of {of} were read from a server or a FUSE program, which may have \
                 answered from its memory (if that is enough: --trust-servers)"
            ),
            Lack::FromCache => {
                format!("the copies of {of} were read through a cache, not from the medium")
            }
            Lack::FromTree => format!(
                "the copies of {of} are kept in the file system's tree, which was not read past \
                 its cache (as root, it is; if that is enough: --trust-tree)"
            ),
            Lack::NotSeen => "not everything was seen".to_owned(),
            Lack::Belongings => {
                format!("dates, owner, rights or attributes of {of}, which no copy has")
            }
            Lack::Kept => format!(
                "{of} in .steadfast/damaged of the source (to remove what you do not need: \
                 steadfast repair --discard)"
            ),
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
