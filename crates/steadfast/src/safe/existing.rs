//! May a source be erased, by copies of it that exist already?
//!
//! Every file of the source is read; its places in archives come from catalogues or tags, and each
//! is read from its medium. A record alone proves nothing.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::cache;
use steadfast_sys::file::{File, Status, Timestamp};

use super::{
    Device, Devices, FileIdentity, FileSum, Grade, HeldPath, Lack, SafeAnswer, SafeRule,
    held_folders, missing_files,
};
use crate::belongings::{Belongings, Withheld};
use crate::beneath;
use crate::error::Error;
use crate::event::{FileError, Skipped};
use crate::exit_status::ExitStatus;
use crate::known::{
    Archive, HashRun, KnownSummary, Search, SeenFile, WantedFile, WantedPlace, Worklist, matched,
};
use crate::monitor::ResultMonitor;
use crate::read::Origin;
use crate::repair::{Mender, judge_contents};
use crate::run::{FileJudge, Options, ReadFrom, digest_of};
use crate::selection::Selection;
use crate::verdict::Verdict;
use crate::walk::{Excludes, WalkItem, walk};

/// The most places of one file that are read.
const PLACES_MAX: usize = 16;

/// Files whose places are read in one run.
const BATCH_LEN: usize = 4096;

/// What is asked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SafeRequest {
    /// The archives that may have copies.
    pub archives: Vec<PathBuf>,
    /// How much is asked of copies.
    pub rule: SafeRule,
}

impl SafeRequest {
    /// Asks for copies in archives.
    pub fn new(archives: &[PathBuf], rule: SafeRule) -> SafeRequest {
        SafeRequest { archives: archives.to_owned(), rule }
    }
}

/// A place that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafePlace {
    /// The path.
    pub path: PathBuf,
    /// What reading it proved; `None` if it does not have the contents, or could not be read.
    pub grade: Option<Grade>,
}

/// The result for one file of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SafeFile {
    /// Its path, as the user would write it.
    pub path: PathBuf,
    /// Its length in bytes.
    pub length: u64,
    /// The places that should have its contents.
    pub places: Vec<SafePlace>,
    /// What is lacking; `None` if it may be erased.
    pub lack: Option<Lack>,
    /// What a check says of it, if that is why it may not be erased.
    pub verdict: Option<Verdict>,
    /// What no place has of what belongs to it, by the place that has most.
    pub withheld: Vec<Withheld>,
    /// Why it could not be read.
    pub trouble: Option<String>,
}

/// A list that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafeList {
    /// Its path.
    pub path: PathBuf,
    /// How old it is, by the modification time of its file.
    pub age_s: u64,
}

/// The result.
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct SafeSummary {
    /// The answer.
    pub answer: SafeAnswer,
    /// Bytes of the files of the source.
    pub bytes: u64,
    /// Bytes that were read, of the source and of the copies.
    pub bytes_read: u64,
    /// The lists that were asked.
    pub lists: Vec<SafeList>,
    /// What was left out of the source.
    pub skipped: Skipped,
    /// Time that it took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    status: ExitStatus,
}

impl SafeSummary {
    /// Returns how it ended: `Fine` if the source may be erased.
    pub fn exit_status(&self) -> ExitStatus {
        let status = self.status.max(self.answer.exit_status());
        status.max(ExitStatus::Interrupted.only_if(self.interrupted))
    }
}

/// Receives what was found of each file.
type SafeMonitor<'a> = dyn ResultMonitor<SafeFile> + 'a;

/// Finds out whether a source may be erased.
///
/// # Errors
/// If an archive cannot be used, an option is not valid, or the system lacks something.
pub fn safe(
    selection: &Selection,
    request: &SafeRequest,
    options: &Options,
    monitor: &mut SafeMonitor<'_>,
) -> Result<SafeSummary, Error> {
    let start = Instant::now();
    let mut found = KnownSummary::default();
    let within = &selection.within;
    let search = Search { archives: &request.archives, within, reads_all: true };
    let media = options.clone().with(|options| options.reading.from = ReadFrom::Media);
    let sources = selection.roots.iter().chain(&selection.listed);
    let held = held_folders(sources.chain(&request.archives));
    let (list, archives) = matched(selection, &search, &media, &mut found, monitor)?;
    let mut summary =
        SafeSummary { skipped: found.skipped, bytes_read: found.bytes_read, ..Default::default() };
    let within = match within.is_empty() {
        true => archives.iter().map(Archive::named).collect(),
        false => within.clone(),
    };
    let now = (options.now)();
    let age_s = |made: Timestamp| now.seconds.saturating_sub(made.seconds).max(0).cast_unsigned();
    let listed = archives.iter().filter_map(|it| Some((it.named(), it.listed()?.made)));
    summary.lists.extend(listed.map(|(path, made)| SafeList { path, age_s: age_s(made) }));
    let trees = archives.iter().filter(|it| it.listed().is_none());
    let named: Vec<PathBuf> = trees.map(Archive::named).collect();
    let devices = Devices::beneath(selection.roots.iter().chain(&selection.listed).chain(&named));
    let mut proof = Proving {
        request,
        options: &media,
        within,
        sources: selection.confines(),
        devices,
        judge: FileJudge::new(selection, &media),
        mender: Mender::new(selection, &media),
    };
    let mut waiting = Vec::new();
    let mut outcome = Ok(());
    list.each_file(PLACES_MAX, &mut |mut file| {
        file.places.retain_mut(|place| {
            let archive = &archives[place.archive];
            place.is_listed = archive.listed().is_some();
            let path = archive.path_of(&place.path);
            let path = path.or_else(|| place.is_listed.then(|| archive.place(&place.path).path));
            let is_known = path.is_some();
            place.path = path.unwrap_or_default();
            is_known
        });
        waiting.push(file);
        if waiting.len() >= BATCH_LEN && outcome.is_ok() {
            outcome = proof.prove(std::mem::take(&mut waiting), &mut summary, monitor);
        }
    })?;
    outcome?;
    proof.prove(waiting, &mut summary, monitor)?;
    summary.answer.note(Lack::LeftOut, left_out(&summary.skipped));
    summary.answer.note(Lack::NotCopied, u64::from(!found.status.is_fine()));
    summary.answer.note_own_folders(found.own_folders);
    for notice in missing_files(selection, options, &|_, _| false) {
        monitor.notice(&notice);
    }
    for notice in proof.judge.take_troubles() {
        summary.answer.note(Lack::NotSeen, 1);
        monitor.notice(&notice);
    }
    if summary.answer.is_yes()
        && let Some(lack) = proof.confirm(&list, &archives, selection, &held)?
    {
        summary.answer.note(lack, 1);
    }
    summary.interrupted = options.controls.stop.load(Ordering::Relaxed);
    summary
        .answer
        .note(Lack::NotSeen, u64::from(summary.interrupted || summary.answer.files() == 0));
    summary.elapsed_ns = start.elapsed().as_nanos() as u64;
    Ok(summary)
}

/// Returns how many entries of a source are no copied file.
pub(crate) fn left_out(skipped: &Skipped) -> u64 {
    let Skipped { symlinks, special, excluded, dataless, dataless_directories, .. } = *skipped;
    let Skipped { resource_forks, other_file_systems, .. } = *skipped;
    symlinks
        + special
        + excluded
        + dataless
        + dataless_directories
        + resource_forks
        + other_file_systems
}

/// Reads places, and judges files by them.
struct Proving<'a> {
    request: &'a SafeRequest,
    options: &'a Options,
    /// Directories from which places are reached by names alone.
    within: Vec<PathBuf>,
    devices: Devices,
    /// Directories from which files of the source are reached by names alone.
    sources: Vec<PathBuf>,
    judge: FileJudge,
    mender: Mender,
}

/// What reading a place gave.
struct ReadPlace {
    digest: Digest,
    length: u64,
    origin: Origin,
}

impl Proving<'_> {
    fn prove(
        &mut self,
        files: Vec<WantedFile>,
        summary: &mut SafeSummary,
        monitor: &mut SafeMonitor<'_>,
    ) -> Result<(), Error> {
        let mut by_algorithm: HashMap<Algorithm, Vec<PathBuf>> = HashMap::new();
        for file in &files {
            let Some((algorithm, _)) = &file.found_by else { continue };
            let places = file.places.iter().filter(|place| !place.is_listed);
            let paths = places.map(|place| place.path.clone());
            let found = by_algorithm.entry(proving(*algorithm)).or_default();
            found.extend(paths);
            // A digest that proves nothing found the places, so all are read for another one.
            found.extend((!algorithm.proves_sameness()).then(|| file.path.clone()));
        }
        let mut read: HashMap<PathBuf, ReadPlace> = HashMap::new();
        for (algorithm, mut paths) in by_algorithm {
            paths.sort();
            paths.dedup();
            // Not every file system tells that a reading passes by what is cached already.
            for file in paths.iter().filter_map(|path| File::open(path).ok()) {
                let _ = cache::drop_cached(&file);
            }
            let mut batch = HashRun {
                within: &self.within,
                before: summary.bytes_read,
                progress: &mut |progress| monitor.progress(progress),
                file: &mut |event| {
                    let facts = (&event.actual, event.reading.origin, &event.trouble);
                    if let (Some(tag), origin, None) = facts {
                        let origin = origin.unwrap_or(Origin::Media);
                        let (digest, length) = (tag.digest, tag.length);
                        read.insert(event.path.to_path(), ReadPlace { digest, length, origin });
                    }
                },
            };
            summary.bytes_read += batch.read(paths, algorithm, self.options)?;
        }
        for file in files {
            let file = self.judge(file, &read);
            summary.bytes += file.length;
            summary.answer.count(file.lack);
            monitor.result(&file);
        }
        Ok(())
    }

    /// Walks the source and its places again, and returns what is lacking because a path leads
    /// elsewhere by now: the answer is about the files that the user finds there.
    fn confirm(
        &self,
        list: &Worklist,
        archives: &[Archive],
        selection: &Selection,
        held: &[HeldPath],
    ) -> Result<Option<Lack>, Error> {
        let is_here =
            || held.iter().all(HeldPath::is_here) && archives.iter().all(Archive::is_here);
        if !is_here() {
            return Ok(Some(Lack::OtherVolume));
        }
        let identity = |seen: SeenFile| FileIdentity::of(seen, self.devices.known(seen.device));
        let (mut seen, mut are_there) = (FileSum::default(), true);
        list.each_file(PLACES_MAX, &mut |file| {
            seen.add(&file.path, identity(file.seen));
            for place in file.places {
                let archive = &archives[place.archive];
                let same = |now: Status| identity(SeenFile::of(&now)) == identity(place.seen);
                are_there &=
                    !archive.is_mounted() || archive.status_of(&place.path).is_ok_and(same);
            }
        })?;
        let mut now = seen.begin_again();
        let selection = Selection { with_sidecars: true, ..selection.clone() };
        let (excludes, stop) = (Excludes::new(&selection.excludes)?, &self.options.controls.stop);
        let _ = walk(&selection, &excludes, crate::store::has_tag, stop, &mut |item| {
            if let WalkItem::File(entry) | WalkItem::Leaves(entry) = item
                && let Ok(status) = entry.status()
            {
                now.add(&entry.path.to_path(), identity(SeenFile::of(&status)));
            }
            ControlFlow::Continue(())
        });
        Ok(match now.is_same(&seen) {
            false => Some(Lack::Changed),
            true => (!are_there || !is_here()).then_some(Lack::OtherVolume),
        })
    }

    fn judge(&mut self, file: WantedFile, read: &HashMap<PathBuf, ReadPlace>) -> SafeFile {
        let found_by = file.found_by.map(|(algorithm, digest)| match algorithm.proves_sameness() {
            true => Some(digest),
            false => read.get(&file.path).map(|own| own.digest),
        });
        let wanted = found_by.flatten();
        let (mut proofs, mut places) = (Vec::new(), Vec::new());
        for WantedPlace { path, seen, archive, is_listed } in file.places {
            if is_listed {
                // Its digest is that of this reading of the source.
                proofs.push((Device::listed(archive), Grade::Listed));
                places.push(SafePlace { path, grade: Some(Grade::Listed) });
                continue;
            }
            let place = read
                .get(&path)
                .filter(|place| place.length == file.seen.length && wanted == Some(place.digest));
            let device = place.map(|_| self.devices.of(&path, seen.device).clone());
            let proof = place.zip(device).map(|(place, device)| {
                let grade = match (place.length, place.origin) {
                    (0, _) => device.grade(Origin::Media),
                    (_, Origin::Cache) => read_through_cache(&path, seen, &device),
                    (_, origin) => device.grade(origin),
                };
                (device, grade)
            });
            places.push(SafePlace { path, grade: proof.as_ref().map(|(_, grade)| *grade) });
            proofs.extend(proof);
        }
        let proofs: Vec<(&Device, Grade)> = proofs.iter().map(|(it, grade)| (it, *grade)).collect();
        let source = self.devices.of(&file.path, file.seen.device);
        let lack = match &file.trouble {
            Some(_) => Some(Lack::NotCopied),
            None => self.request.rule.lack(Some(source), &proofs),
        };
        let WantedFile { path, seen, trouble, .. } = file;
        let mut judged = SafeFile {
            path,
            length: seen.length,
            places,
            lack,
            verdict: None,
            withheld: Vec::new(),
            trouble,
        };
        let digest = file.found_by.zip(wanted).map(|((it, _), digest)| (proving(it), digest));
        if judged.trouble.is_none()
            && let Err(error) = self.compare_source(&mut judged, seen, digest)
        {
            judged.lack = Some(Lack::NotCopied);
            judged.trouble = Some(FileError::from_io("read", &error).message());
        }
        judged
    }

    /// Judges a file of the source as a check does, and compares what belongs to it with what its
    /// places have. `known` is its digest, if it was read.
    fn compare_source(
        &mut self,
        judged: &mut SafeFile,
        seen: SeenFile,
        known: Option<(Algorithm, Digest)>,
    ) -> io::Result<()> {
        let open = |within: &[PathBuf], path: &Path| match beneath::innermost(within, path) {
            Some((root, below)) => beneath::file(root, below),
            None => File::open(path),
        };
        let file = open(&self.sources, &judged.path)?;
        let status = file.status()?;
        if SeenFile::of(&status) != seen {
            judged.lack = Some(Lack::Changed);
            return Ok(());
        }
        let mut trial = self.judge.begin(&file, &judged.path, status);
        let mut digests: Vec<(Algorithm, Digest)> = known.into_iter().collect();
        // A file that is nowhere is not read again: the answer is no in any case.
        for algorithm in trial.algorithms().filter(|_| known.is_some()) {
            if digests.iter().all(|(it, _)| *it != algorithm) {
                let again = open(&self.sources, &judged.path)?;
                let mut reader = std::fs::File::from(again.into_fd());
                digests.push((algorithm, digest_of(&mut reader, algorithm)?));
            }
        }
        let recorded = &mut || self.mender.recorded(&judged.path, &status);
        let stop = &self.options.controls.stop;
        judge_contents(&mut trial, (&file, &status), &digests, recorded, stop)?;
        if let Some(verdict) = trial.damage() {
            (judged.verdict, judged.lack) = (Some(verdict), Some(Lack::of_damage(verdict)));
            return Ok(());
        }
        if judged.lack.is_some() {
            return Ok(());
        }
        let own = Belongings::of(&file)?;
        let is_read = |place: &&SafePlace| place.grade.is_some_and(|grade| grade != Grade::Listed);
        let proved = judged.places.iter().filter(is_read);
        let lacking = proved.filter_map(|place| {
            let there = Belongings::of(&open(&self.within, &place.path).ok()?).ok()?;
            Some(own.lacking_of(&there, &file, &judged.path))
        });
        let least = lacking.min_by_key(Vec::len);
        judged.withheld = match judged.places.iter().any(|place| is_read(&place)) {
            true => least.unwrap_or_default(),
            false => vec![Withheld {
                path: judged.path.clone(),
                what: "dates, owner, rights and attributes".to_owned(),
                reason: "a list does not have them".to_owned(),
            }],
        };
        judged.lack = (!judged.withheld.is_empty()).then_some(Lack::Belongings);
        Ok(())
    }
}

/// Returns the algorithm whose digests prove what places have that were found by another one.
fn proving(found_by: Algorithm) -> Algorithm {
    if found_by.proves_sameness() { found_by } else { Algorithm::Sha256 }
}

/// Returns what reading a place through a cache proved.
fn read_through_cache(path: &Path, seen: SeenFile, device: &Device) -> Grade {
    let opened = File::open(path).and_then(|file| Ok((file.status()?, file)));
    match opened {
        Ok((now, file)) if SeenFile::of(&now) == seen => device.grade_of(&file, Origin::Cache),
        _ => device.grade(Origin::Cache),
    }
}
