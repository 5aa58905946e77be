//! Merges the results of shards into the events of one check, in the order of a walk.
//!
//! In: result files, which anything may have written. Out: events, a summary, and if asked a run in
//! the catalogue. Rows are sorted on disk; memory does not depend on their number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use steadfast_sys::names::NameBytes as _;

use super::document::{Closing, ResultHeader, ResultReader, ResultRecord, ShardFiles};
use super::enter::Entering;
use crate::advice::counted;
use crate::catalogue::SortedRows;
use crate::error::Error;
use crate::event::Notice;
use crate::exit_status::ExitStatus;
use crate::monitor::{Event, Monitor, Summary};
use crate::run::{CatalogueUse, Options};
use crate::shard::Shard;
use crate::verb_kind::VerbKind;

/// The most different notices of results that are shown.
const NOTICES_MAX: usize = 1_000;

/// Ranges of missing shards that are named.
const RANGES_MAX: usize = 100;

/// A whole result.
struct WholeResult {
    /// Which of the files that were given.
    source: u32,
    header: ResultHeader,
    closing: Closing,
}

/// The results that count, by shard.
type CountedResults = BTreeMap<u32, WholeResult>;

/// Merges results. Those that are cut off or altered are named and do not count; of two results of
/// one shard, that which ended later counts. Shards without a result are named, and the status is
/// then not that of a success. The check is entered in the catalogue that `options` choose.
///
/// # Errors
/// If no result counts, two are not of the same check, or the catalogue cannot be written.
pub fn merge(
    results: &[PathBuf],
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let sorting = |error| Error::system("sort the results", std::io::Error::other(error));
    let rows = SortedRows::new().map_err(sorting)?;
    let mut counted = CountedResults::new();
    // The statuses of the results count whether or not their notices are kept.
    let mut notices = BTreeMap::new();
    for (source, path) in (0..).zip(results) {
        match load(source, path, &rows, &mut notices) {
            Ok(result) => add(&mut counted, result, (path, results))?,
            Err(why) => {
                let text = format!("`{}`: this result does not count: {why}", path.display());
                notices.insert(text, ExitStatus::Undetermined);
            }
        }
    }
    let mut notices: Vec<Notice> = notices.into_iter().map(notice_of).collect();
    let Some(first) = counted.values().next() else {
        notices.into_iter().for_each(|notice| monitor.notice(notice));
        return Err(Error::usage("no result counts"));
    };
    let plan = first.header.plan.clone();
    let root = plan.root.to_path().ok_or_else(|| Error::usage("the root is not a path"))?;
    notices.extend(doubts(&counted, plan.shards));
    let mut summary = summary_of(&counted, first);
    let mut entering = entering(&root, &counted, &summary, options)?;
    let runs = counted.values().map(|it| (it.source, it.header.catalogue_run.unwrap_or(0)));
    let runs: BTreeMap<u32, i64> = runs.collect();
    let mut last = None;
    let visited = rows.visit::<Error>(&mut |source, key, text| {
        summary.interrupted |= options.controls.stop.load(Ordering::Relaxed);
        // A list may name a file twice, and every shard of a walk meets the directories that
        // cannot be read.
        let is_new = last.as_deref() != Some(key);
        let Some(&run) = runs.get(&source).filter(|_| is_new && !summary.interrupted) else {
            return Ok(());
        };
        last = Some(key.to_owned());
        let Ok(ResultRecord::File(row)) = serde_json::from_slice(text) else { return Ok(()) };
        let Some(event) = row.to_event(&root) else { return Ok(()) };
        let verdict = event.verdict.map(|verdict| verdict.exit_status(plan.require_tags));
        let trouble = ExitStatus::Undetermined.only_if(event.trouble.is_some());
        summary.count(&event, verdict.unwrap_or_default().max(trouble));
        if let Some(entering) = &mut entering {
            entering.enter(&event, run, &mut summary, monitor)?;
        }
        summary.interrupted |= monitor.event(&Event::File(Box::new(event))).is_break();
        Ok(())
    });
    visited.map_err(sorting)??;
    if let Some(entering) = entering.filter(|_| !summary.interrupted) {
        notices.extend(entering.finish(&mut summary, monitor)?);
        summary.catalogued = true;
    }
    let no_file = Notice::failure("the check has no file: was everything mounted?");
    // The catalogue knows when each file was checked.
    let is_due = matches!(plan.files, ShardFiles::Catalogue { older_than_s: Some(_) });
    notices.iter().for_each(|notice| summary.raise_status(notice.status));
    let unproved = summary.unproved(no_file, options.allow_empty || is_due);
    for notice in notices.into_iter().chain(unproved.or_else(|| summary.lost_tags())) {
        summary.raise_status(notice.status);
        monitor.notice(notice);
    }
    Ok(summary)
}

/// Reads a result to its end, and its rows into the table.
///
/// # Errors
/// Why the result does not count.
fn load(
    source: u32,
    path: &Path,
    rows: &SortedRows,
    notices: &mut BTreeMap<String, ExitStatus>,
) -> Result<WholeResult, String> {
    let (mut reader, header) = ResultReader::open(path)?;
    let shard = Shard::new(header.shard, header.plan.shards);
    let mut whole = None;
    while let Some(record) = reader.next()? {
        match record {
            ResultRecord::File(row) => {
                let path = row.relative().filter(|_| row.to_event(Path::new("/")).is_some());
                let path = path.ok_or("a line of it is invalid")?;
                if !row.directory && !shard.is_some_and(|shard| shard.has(&path)) {
                    return Err("it has a file of another shard".to_owned());
                }
                let put = rows.put(source, &walk_order(&path), &reader.line);
                put.map_err(|error| format!("it cannot be sorted: {error}"))?;
            }
            ResultRecord::Notice { text, exit_status } if notices.len() < NOTICES_MAX => {
                notices.insert(text, exit_status);
            }
            ResultRecord::Summary(closing) => whole = Some(*closing),
            ResultRecord::Notice { .. } | ResultRecord::End { .. } => {}
        }
    }
    let closing = whole.ok_or("it has no summary")?;
    Ok(WholeResult { source, header, closing })
}

/// Returns bytes that sort as a path does in a walk: a directory's contents come in place of its
/// name. Names have no NUL.
fn walk_order(path: &Path) -> Vec<u8> {
    path.as_bytes().iter().map(|&byte| if byte == b'/' { 0 } else { byte }).collect()
}

fn notice_of((text, status): (String, ExitStatus)) -> Notice {
    Notice { status, ..Notice::new(text) }
}

/// Adds a whole result to those that count.
fn add(
    counted: &mut CountedResults,
    result: WholeResult,
    (path, results): (&Path, &[PathBuf]),
) -> Result<(), Error> {
    if let Some(first) = counted.values().next() {
        let [one, two] = [&first.header.plan, &result.header.plan];
        if one != two {
            let [one_is, two_is] =
                [one, two].map(|plan| serde_json::to_string(plan).unwrap_or_default());
            let first = results[first.source as usize].display();
            let text = format!("it is of the check {two_is}, and `{first}` of {one_is}");
            return Err(Error::usage(text).at(path));
        }
    }
    let known = counted.get(&result.header.shard);
    if known.is_none_or(|known| known.closing.ended_s <= result.closing.ended_s) {
        counted.insert(result.header.shard, result);
    }
    Ok(())
}

/// Begins the summary of a check, with how its shards were read and ended.
fn summary_of(counted: &CountedResults, first: &WholeResult) -> Summary {
    let mut summary = Summary { verb: VerbKind::Check, ..Summary::default() };
    summary.skipped = first.closing.skipped;
    summary.means.backend.clone_from(&first.closing.backend);
    summary.means.engine = "of each shard";
    for WholeResult { closing, .. } in counted.values() {
        summary.raise_status(closing.exit_status);
        summary.elapsed_ns = summary.elapsed_ns.saturating_add(closing.elapsed_ns);
    }
    summary
}

/// Begins to enter the check in its catalogue, if that is asked for.
fn entering(
    root: &Path,
    counted: &CountedResults,
    summary: &Summary,
    options: &Options,
) -> Result<Option<Entering>, Error> {
    if options.catalogue.choice == CatalogueUse::Off {
        return Ok(None);
    }
    let file = options.catalogue.choice.of(root);
    let file = file.ok_or_else(|| Error::usage("there is no catalogue at or above it").at(root))?;
    let begun_s = counted.values().map(|result| result.header.begun_s).min().unwrap_or_default();
    let from_media = counted.values().all(|result| result.closing.from_media);
    let begun = (begun_s, from_media);
    Entering::begin(file, begun, &summary.means.backend, options.now).map(Some)
}

/// Returns what to say of the shards of a check.
fn doubts(results: &CountedResults, count: u32) -> Vec<Notice> {
    let mut notices = Vec::new();
    let missing = (0..count).filter(|shard| !results.contains_key(shard));
    let missing: Vec<u32> = missing.collect();
    if !missing.is_empty() {
        let shards = counted(u64::from(count), "shard", "shards");
        let (number, named) = (missing.len(), ranges(&missing));
        let text =
            format!("no result for {number} of {shards}: {named}. Their files were not judged");
        notices.push(Notice::failure(text));
    }
    let walked: BTreeSet<u64> = results.values().filter_map(|it| it.closing.walked).collect();
    if let (Some(least), Some(most), 2..) = (walked.first(), walked.last(), walked.len()) {
        let text = format!(
            "the walks of the shards found {least} to {most} files: the tree was changed, or not \
             mounted everywhere, so some files may not have been judged"
        );
        notices.push(Notice::failure(text));
    }
    let shards = counted(results.len() as u64, "shard", "shards");
    notices.push(Notice::new(format!("the time is that of {shards}, one after the other")));
    notices
}

/// Formats numbers as ranges: "3, 7-9, 12".
fn ranges(numbers: &[u32]) -> String {
    let ranges: Vec<&[u32]> = numbers.chunk_by(|one, next| one + 1 == *next).collect();
    let shown = ranges.iter().take(RANGES_MAX).map(|range| match range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range[0].to_string(),
    });
    let more = if ranges.len() > RANGES_MAX { ", …" } else { "" };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}
