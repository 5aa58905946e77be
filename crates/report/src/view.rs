//! Decides what documents show of a run, and in which order.
//!
//! In: a [`Summary`] or an event. Out: plain values with public fields. Knows no document.

use steadfast::catalogue::Finding;
use steadfast::cost::{Limit, Resource};
use steadfast::event::FileError;
use steadfast::{Action, Algorithm, Bound, FileEvent, Reason, Skipped, Summary, Verdict};

use crate::pages::damage_detail;
use crate::units::MomentWords;
use crate::{escape, units};

/// Lists every verdict and how many files got it, in the order of [`Verdict::ALL`].
pub fn verdicts(run: &Summary) -> impl Iterator<Item = (Verdict, u64)> {
    Verdict::ALL.into_iter().map(|verdict| (verdict, run.verdicts(verdict)))
}

/// Lists every action and how many files it was taken on, in the order of [`Action::ALL`].
pub fn actions(run: &Summary) -> impl Iterator<Item = (Action, u64)> {
    Action::ALL.into_iter().map(|action| (action, run.actions(action)))
}

/// Lists every kind of finding that only a catalogue can make, and how many there are. The verdicts
/// count the others.
pub(crate) fn findings(run: &Summary) -> impl Iterator<Item = (&'static str, u64)> {
    let findings = run.counts.findings.iter().map(|(name, count)| (*name, *count));
    findings.filter(|(name, _)| !matches!(*name, "missing" | "moved"))
}

/// States how many files are still due, if the time limit ended the run.
pub(crate) fn time_up(run: &Summary) -> Option<String> {
    let files = units::counted(run.still_due?, "file is", "files are");
    Some(format!("the time was up: {files} not checked and still due"))
}

/// Says what to type to get back what was damaged: without a backup what has parity or another file
/// of the same contents, with one the rest.
pub(crate) fn remedy(run: &Summary, paths: &str) -> String {
    let damaged = verdicts(run).filter(|(verdict, _)| verdict.is_damage());
    let damaged: u64 = damaged.map(|(_, files)| files).sum();
    match run.may_be_repaired.unwrap_or(0) {
        0 => format!("steadfast repair --from BACKUP {paths}"),
        all if all >= damaged => format!("steadfast repair {paths}"),
        some => format!(
            "steadfast repair {paths} (can mend {} of {damaged}; the rest with --from BACKUP)",
            units::count(some)
        ),
    }
}

/// Returns whether a file of this verdict was compared with a record of it. Missing and moved files
/// were not.
pub(crate) fn is_checked(verdict: Verdict) -> bool {
    verdict.judges() && !matches!(verdict, Verdict::Missing | Verdict::Moved)
}

/// Returns how many files were compared with a record of them.
pub(crate) fn checked(run: &Summary) -> u64 {
    verdicts(run).filter(|(verdict, _)| is_checked(*verdict)).map(|(_, files)| files).sum()
}

/// Lists what the walk skipped, each kind with its number: "3 symbolic links".
pub(crate) fn skipped(skipped: &Skipped) -> Vec<String> {
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
    counted_parts(&kinds)
}

/// Lists the numbers that are not zero, each with its noun. Input: singular, plural, number.
pub(crate) fn counted_parts(numbers: &[(&str, &str, u64)]) -> Vec<String> {
    let some = numbers.iter().filter(|(.., number)| *number > 0);
    some.map(|(one, many, number)| units::counted(*number, one, many)).collect()
}

/// Says in two words what limited a run.
pub(crate) fn limit_in_words(limit: &Limit) -> &'static str {
    match (limit.resource, limit.bound) {
        (_, Bound::Queue) => "other programs",
        (Resource::LongestFile, _) => "one file",
        (_, Bound::Storage) => "the drive",
        (_, Bound::RateLimit) => "your limit",
        (_, Bound::Walk) => "listing folders",
        (_, Bound::Open) => "opening files",
        (Resource::Report, Bound::Store) => "the catalogue",
        (_, Bound::Store) => "writing tags",
        (_, Bound::Report) => "the output",
        _ => "the processor",
    }
}

/// Names what sets a limit: completes "bound by …".
///
/// `algorithm` is the algorithm of the run, if there was only one.
pub fn bound_title(limit: &Limit, algorithm: Option<Algorithm>) -> String {
    let title = match limit.bound {
        Bound::Storage => "the storage",
        Bound::RateLimit => "the rate limit that was asked for",
        Bound::Walk => "listing directories",
        Bound::Open => "opening files",
        Bound::Read => "copying bytes",
        Bound::Hash => algorithm.map_or("hashing", algorithm_title),
        Bound::Store => "writing tags",
        Bound::Report => "printing",
        Bound::Queue => "waiting for a processor",
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
        Algorithm::Xxh64 => "XXH64",
        Algorithm::Xxh3_64 => "XXH3-64",
        Algorithm::Crc32c => "CRC-32C",
        Algorithm::Crc32 => "CRC-32",
        Algorithm::Crc64Nvme => "CRC-64/NVME",
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
    known.extend(difference(event));
    known.extend(reason_words(event).map(str::to_owned));
    known.extend(rollback(event));
    let may_be_edit = event.verdict.is_some_and(|it| it.differs() && it != Verdict::Corrupt);
    known.extend(event.damage.as_deref().map(|damage| damage_detail(damage, may_be_edit)));
    let instead = event.instead();
    known.extend(instead.map(|it| format!("a {it} is in its place, or in that of a folder above")));
    known.extend(event.moved_to.as_ref().map(|to| format!("now {}", escape::path(to))));
    let source = event.reference.as_ref().map(|reference| escape::text(reference.source));
    known.extend(source.map(|source| format!("by {source}")));
    known.extend(question(event, moments));
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
fn reason_words(event: &FileEvent) -> Option<&'static str> {
    let is_unread = event.verdict == Some(Verdict::Unreadable);
    match event.reason()? {
        Reason::NothingWroteIt => Some("nothing wrote to it"),
        Reason::TimesDecayed => Some("nothing wrote to it, so its times decayed as well"),
        Reason::DateKept if is_unread => Some("something wrote to it and kept its date"),
        Reason::DateKept => None,
        Reason::ByMtimeAlone if is_unread => None,
        Reason::Emptied => Some("it was emptied"),
        Reason::CutOff => Some("it was cut off, and is otherwise the same"),
        reason @ (Reason::ByMtimeAlone | Reason::CauseNotKnown) => Some(reason.name()),
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
                    _ => format!("; its date is still {now}"),
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
        Verdict::Modified => Some(format!("edited {now}, was {was}; other contents, same length")),
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
            if *fits { " and can put it back" } else { "" }
        )),
        Finding::TagReplaced { accepted, .. } => {
            let end = match accepted {
                true => "; accepted",
                false => "",
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
        Finding::Missing { accepted: true, .. } => Some("removed from the catalogue".into()),
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
