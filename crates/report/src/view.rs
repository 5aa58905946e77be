//! Decides what documents show of a run, and in which order.
//!
//! In: a [`Summary`] or an event. Out: plain values with public fields. Knows no document.

use serde::{Serialize, Serializer};
use steadfast::ExitStatus;
use steadfast::catalogue::Finding;
use steadfast::cost::{Limit, Resource};
use steadfast::event::FileError;
use steadfast::{
    Account, Action, Algorithm, Bound, FileEvent, Reason, Skipped, Stage, Summary, Verdict,
};

use crate::pages::damage_detail;
use crate::units::MomentWords;
use crate::{escape, units};

/// The end of a run, as documents show it. Its fields are serialized as `docs/formats/events.md`
/// specifies them for the summary.
#[derive(Clone, Debug, Default, Serialize)]
// Over 15 fields: it is the JSON object of `docs/formats/events.md`, field by field.
pub struct RunView {
    /// The verb that ran.
    pub verb: &'static str,
    /// Whether it was a dry run, which writes nothing.
    pub dry_run: bool,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// Files that were due and were not checked, if the time limit ended the run.
    pub still_due: Option<u64>,
    /// Damaged files that may be repaired without another copy, if something is damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_be_repaired: Option<u64>,
    /// The exit status that the run asks for.
    pub exit_status: ExitStatus,
    /// Files that had an event.
    pub files: u64,
    /// Files that were compared with a record of them.
    #[serde(skip)]
    pub judged: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes that were read past the page cache.
    pub bytes_from_media: u64,
    /// Duration of the run in nanoseconds.
    pub elapsed_ns: u64,
    /// Threads that hashed.
    pub workers: usize,
    /// The SHA-256 backend and its lanes.
    pub backend: String,
    /// How bytes were read.
    pub engine: &'static str,
    /// Every verdict and how many files got it, in the order of [`Verdict::ALL`].
    #[serde(serialize_with = "verdicts_by_name")]
    pub verdicts: Vec<(Verdict, u64)>,
    /// Every action and how many files it was taken on, in the order of [`Action::ALL`].
    #[serde(serialize_with = "actions_by_name")]
    pub actions: Vec<(Action, u64)>,
    /// Whether the run kept a catalogue.
    pub catalogued: bool,
    /// Every kind of finding that only a catalogue can make, and how many there are.
    #[serde(serialize_with = "counts_by_name")]
    pub findings: Vec<(&'static str, u64)>,
    /// Files whose tag could not be written or removed.
    pub failed: u64,
    /// What the walk skipped.
    #[serde(serialize_with = "skipped_by_name")]
    pub skipped: Skipped,
    /// Where the time went.
    #[serde(skip)]
    pub account: Account,
}

impl RunView {
    /// Extracts from a summary what documents show.
    pub fn of(summary: &Summary) -> RunView {
        RunView {
            verb: summary.verb,
            dry_run: summary.dry_run,
            interrupted: summary.interrupted,
            still_due: summary.still_due,
            may_be_repaired: summary.may_be_repaired,
            exit_status: summary.exit_status(),
            files: summary.files,
            judged: summary.judged(),
            bytes: summary.bytes,
            bytes_from_media: summary.bytes_from_media,
            elapsed_ns: summary.elapsed_ns,
            workers: summary.means.workers,
            backend: summary.means.backend.clone(),
            engine: summary.means.engine,
            verdicts: Verdict::ALL.map(|verdict| (verdict, summary.verdicts(verdict))).into(),
            actions: Action::ALL.map(|action| (action, summary.actions(action))).into(),
            // The verdicts count these two.
            findings: summary
                .counts
                .findings
                .iter()
                .filter(|(name, _)| !matches!(**name, "missing" | "moved"))
                .map(|(name, count)| (*name, *count))
                .collect(),
            catalogued: summary.catalogued,
            failed: summary.counts.failed,
            skipped: summary.skipped,
            account: summary.account.clone(),
        }
    }

    /// States how many files are still due, if the time limit ended the run.
    pub fn time_up(&self) -> Option<String> {
        let files = units::counted(self.still_due?, "file is", "files are");
        Some(format!("the time was up: {files} not checked and still due"))
    }

    /// States how many of the damaged files may be repaired, and how.
    pub fn prospect(&self) -> Option<String> {
        let repairable = self.may_be_repaired.filter(|files| *files > 0)?;
        let damaged = Verdict::ALL.into_iter().filter(|verdict| verdict.is_damage());
        let damaged: u64 = damaged.map(|verdict| self.verdict(verdict)).sum();
        Some(format!(
            "{} of {} may be repaired from parity or files of the same contents: \
             steadfast repair PATH",
            units::count(repairable),
            units::counted(damaged, "damaged file", "damaged files")
        ))
    }

    /// Says how to get back what was damaged, apart from the files of [`RunView::prospect`].
    pub(crate) fn remedy(&self) -> &'static str {
        match self.prospect() {
            Some(_) => "Repair the rest with a backup: steadfast repair --from BACKUP PATH",
            None => "Repair with a backup: steadfast repair --from BACKUP PATH",
        }
    }

    /// Returns how many files got a verdict.
    pub fn verdict(&self, verdict: Verdict) -> u64 {
        self.verdicts.iter().find(|(other, _)| *other == verdict).map_or(0, |&(_, files)| files)
    }

    /// Lists what the walk skipped, each kind with its number: "3 symbolic links".
    pub fn skipped(&self) -> Vec<String> {
        let skipped = &self.skipped;
        let kinds = [
            ("symbolic link", "symbolic links", skipped.symlinks),
            ("special file", "special files", skipped.special),
            ("excluded path", "excluded paths", skipped.excluded),
            ("AppleDouble file", "AppleDouble files", skipped.sidecars),
            ("file of leaves", "files of leaves", skipped.leaves),
            ("file not on this machine", "files not on this machine", skipped.dataless),
            (
                "directory not on this machine",
                "directories not on this machine",
                skipped.dataless_directories,
            ),
            ("directory of the system", "directories of the system", skipped.system_folders),
            ("resource fork", "resource forks", skipped.resource_forks),
            (
                "directory on another file system",
                "directories on other file systems",
                skipped.other_file_systems,
            ),
        ];
        told(&kinds)
    }
}

fn verdicts_by_name<S: Serializer>(
    verdicts: &[(Verdict, u64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(verdicts.iter().map(|(verdict, files)| (verdict.name(), files)))
}

fn actions_by_name<S: Serializer>(
    actions: &[(Action, u64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(actions.iter().map(|(action, files)| (action.name(), files)))
}

fn counts_by_name<S: Serializer>(counts: &[(&str, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().copied())
}

fn skipped_by_name<S: Serializer>(skipped: &Skipped, serializer: S) -> Result<S::Ok, S::Error> {
    let counts = [
        ("symlinks", skipped.symlinks),
        ("special", skipped.special),
        ("excluded", skipped.excluded),
        ("dataless", skipped.dataless),
        ("dataless_directories", skipped.dataless_directories),
        ("system_folders", skipped.system_folders),
        ("resource_forks", skipped.resource_forks),
        ("sidecars", skipped.sidecars),
        ("leaves", skipped.leaves),
        ("other_file_systems", skipped.other_file_systems),
    ];
    counts_by_name(&counts, serializer)
}

/// Lists the numbers that are not zero, each with its noun. Input: singular, plural, number.
pub(crate) fn told(numbers: &[(&str, &str, u64)]) -> Vec<String> {
    let some = numbers.iter().filter(|(.., number)| *number > 0);
    some.map(|(one, many, number)| units::counted(*number, one, many)).collect()
}

/// Names what sets a limit: completes "bound by …".
///
/// `algorithm` is the algorithm of the run, if there was only one.
pub fn bound_title(limit: &Limit, algorithm: Option<Algorithm>) -> String {
    let title = match limit.bound {
        Bound::Storage => "the storage",
        Bound::RateLimit => "the rate limit that was asked for",
        Bound::Stage(Stage::Walk) => "listing directories",
        Bound::Stage(Stage::Open) => "opening files",
        Bound::Stage(Stage::Read) => "copying bytes",
        Bound::Stage(Stage::Hash) => algorithm.map_or("hashing", algorithm_title),
        Bound::Stage(Stage::Store) => "writing tags",
        Bound::Stage(Stage::Report) => "printing",
        Bound::Queue => "waiting for a processor",
        Bound::Stage(Stage::Wait | Stage::Queue) => "waiting",
    };
    match limit.resource {
        Resource::LongestFile => format!("{title} of the longest file"),
        Resource::Reads => format!("{title} with few readers"),
        _ => title.to_owned(),
    }
}

/// Names the whole of which a limit's share is a part: completes "91 % of …".
pub fn resource_title(resource: Resource) -> &'static str {
    match resource {
        Resource::Processors => "processor time",
        Resource::Workers => "worker time",
        _ => "the run",
    }
}

/// Returns the usual spelling of an algorithm's name.
pub fn algorithm_title(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Sha256 => "SHA-256",
        Algorithm::Sha512 => "SHA-512",
        Algorithm::Sha384 => "SHA-384",
        Algorithm::Sha1 => "SHA-1",
        Algorithm::Md5 => "MD5",
        Algorithm::Blake2b => "BLAKE2b",
        Algorithm::Blake3 => "BLAKE3",
        Algorithm::Xxh3_128 => "XXH3",
        Algorithm::Crc32c => "CRC-32C",
        Algorithm::Crc32 => "CRC-32",
        Algorithm::Fletcher64 => "Fletcher-64",
    }
}

/// Lists what is known of a file beyond its verdict: errors, differences, its present path.
/// `in_words` words an error, with or without a command to type.
pub fn known_of(
    event: &FileEvent,
    in_words: fn(&FileError) -> String,
    moments: MomentWords,
) -> Vec<String> {
    let mut known = Vec::new();
    known.extend(event.trouble.as_ref().map(|trouble| escape::text(&in_words(trouble))));
    known.extend(question(event, moments));
    known.extend(difference(event));
    known.extend(event.reason().and_then(words_of).map(str::to_owned));
    known.extend(rollback(event));
    let may_be_edit = event.verdict.is_some_and(|it| it.differs() && it != Verdict::Corrupt);
    known.extend(event.damage.as_deref().map(|damage| damage_detail(damage, may_be_edit)));
    known.extend(event.moved_to.as_ref().map(|to| format!("now {}", escape::path(to))));
    let source = event.reference.as_ref().map(|reference| escape::text(reference.source));
    known.extend(source.map(|source| format!("by {source}")));
    known
}

/// Asks about a suspect file, with the time at which something wrote to it.
fn question(event: &FileEvent, moments: MomentWords) -> Option<String> {
    let changed_at = event.changed_at().filter(|_| event.verdict == Some(Verdict::Suspect))?;
    Some(format!(
        "changed on {} by something that kept its date. Was it you?",
        moments.0(changed_at)
    ))
}

/// Returns the words of a reason, if the sentences about the difference do not have them.
fn words_of(reason: Reason) -> Option<&'static str> {
    match reason {
        Reason::NothingWroteIt => Some("nothing wrote to it"),
        Reason::TimesDecayed => Some("nothing wrote to it, so its times decayed as well"),
        Reason::DateKept => None,
        Reason::Emptied => Some("it was emptied"),
        Reason::CutOff => Some("it was cut off, and is otherwise the same"),
        Reason::ByMtimeAlone | Reason::CauseNotKnown => Some(reason.name()),
    }
}

/// States that a changed file has the contents of its previous tag, if it has.
fn rollback(event: &FileEvent) -> Option<String> {
    let (earlier, actual) = (event.previous.as_deref()?, event.actual?);
    (event.verdict?.differs() && earlier.same_contents(&actual)).then(|| {
        format!("holds exactly what its tag of {} recorded", units::moment(earlier.tagged))
    })
}

/// Describes how a file differs from its record, if it does and both are known.
fn difference(event: &FileEvent) -> Option<String> {
    let (length, mtime) = event.extent()?;
    let lengths = |was: u64| {
        let counted = |bytes| units::counted(bytes, "byte", "bytes");
        format!("was {}, is {}", counted(was), counted(length))
    };
    let Some(stored) = event.stored else {
        let recorded = event.reference.as_ref()?.length?;
        return (recorded != length).then(|| lengths(recorded));
    };
    let [was, now] = units::moments_apart(stored.mtime, mtime);
    match event.verdict? {
        Verdict::Corrupt | Verdict::Suspect => {
            let mut text = match stored.length == length {
                true => format!("{} with other contents", units::counted(length, "byte", "bytes")),
                false => lengths(stored.length),
            };
            if event.verdict == Some(Verdict::Corrupt) {
                text.push_str(&match event.reason() {
                    Some(Reason::TimesDecayed) => format!("; last modified {now}, was {was}"),
                    _ => format!("; yet last modified {now} as recorded"),
                });
            }
            Some(text)
        }
        Verdict::Modified if event.reason() == Some(Reason::DateKept) => {
            Some(format!("edited, and its date was kept; {}", lengths(stored.length)))
        }
        Verdict::Modified if stored.length != length => {
            Some(format!("edited {now}, was {was}; {}", lengths(stored.length)))
        }
        Verdict::Modified => Some(format!("edited {now}, was {was}; same length")),
        Verdict::Touched => Some(format!("same contents; modification time {now}, was {was}")),
        _ => None,
    }
}

/// Describes a finding beyond its name, if there is more to say.
pub fn finding_detail(finding: &Finding) -> Option<String> {
    match finding {
        Finding::TagLost { damaged, fits, .. } => Some(format!(
            "its attribute is {}; the catalogue has the tag{}",
            if *damaged { "damaged" } else { "gone" },
            if *fits { ": `steadfast update --restore-tags` puts it back" } else { "" }
        )),
        Finding::TagReplaced { accepted, .. } => {
            let end = match accepted {
                true => "; accepted",
                false => ": if these are right, `steadfast update --accept-missing` accepts them",
            };
            Some(format!("its attribute is a tag of other contents than the catalogue's{end}"))
        }
        Finding::Overwritten { accepted, .. } => {
            let end =
                if *accepted { "; accepted" } else { ": restore it from a backup if it is wanted" };
            Some(format!(
                "its contents are gone: another file of the tree was renamed to this name{end}"
            ))
        }
        Finding::Missing { accepted: true, .. } => Some("taken out of the catalogue".into()),
        Finding::Unmounted { entries, .. } => Some(format!(
            "nothing is there, where {} used to be: is something not mounted?",
            units::counted(*entries, "file", "files")
        )),
        Finding::Extra { .. } => Some("not in the list".into()),
        Finding::Changed { change, .. } => {
            let facts = [
                ("length", change.length),
                ("modification time", change.mtime),
                ("change time", change.ctime),
                ("inode", change.inode),
            ];
            let differ = facts.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name);
            Some(differ.collect::<Vec<_>>().join(", "))
        }
        Finding::FileState { standing, .. } => {
            Some(format!("an earlier run found it {}; unchanged since", standing.name()))
        }
        _ => None,
    }
}

/// Decides which events are findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingRule {
    /// Whether a file without a tag is a finding.
    pub require_tags: bool,
    /// Whether it is a dry run: its actions are not taken, so they settle nothing.
    pub dry_run: bool,
}

impl FindingRule {
    /// Returns the verdict that makes an event a finding: one that fails a check, unless the run
    /// accepted the file and wrote its tag.
    pub fn failing_verdict(self, event: &FileEvent) -> Option<Verdict> {
        let settled = event.action.is_some() && !self.dry_run;
        let fails =
            |verdict: &Verdict| !settled && !verdict.exit_status(self.require_tags).is_fine();
        event.verdict.filter(fails)
    }

    /// Whether the run replaced a tag by one of other contents. If nobody edited the file, this is
    /// a fault, so it is always reported.
    pub fn retags(self, event: &FileEvent) -> bool {
        use Verdict::{Intact, Touched};
        event.action == Some(Action::Retagged) && !matches!(event.verdict, Some(Intact | Touched))
    }

    /// Whether an event is a finding: by its verdict, or because something failed.
    pub fn finds(self, event: &FileEvent) -> bool {
        event.trouble.is_some() || self.failing_verdict(event).is_some()
    }
}
