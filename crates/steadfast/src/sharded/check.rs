//! Checks the files of one shard and writes its result, complete or not at all.
//!
//! Running a shard twice, even at the same time, does no harm: the result is renamed into place
//! when it is complete. The catalogue is only read, so that any number of shards can run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io, iter, path};

use super::document::{Closing, ResultHeader, ResultRecord, ResultWriter, ShardFiles, ShardPlan};
use super::row::{CATALOGUE, Row};
use crate::catalogue::CatalogueErrorKind::{EmptyRoot, InUse, OtherVolume, System};
use crate::catalogue::{Catalogue, CatalogueReader, CatalogueSession, DueOptions};
use crate::error::Error;
use crate::event::{FilePath, Notice};
use crate::exit_status::ExitStatus;
use crate::json::PathText;
use crate::monitor::{Event, Monitor, Overheard, Summary};
use crate::reference::Reference;
use crate::run::{
    CatalogueUse, CheckOptions, DatalessUse, List, Options, Unlisted, Verb, check_listed,
};
use crate::selection::Selection;
use crate::shard::{Shard, ShardFilter};
use crate::unguarded;
use crate::verdict::Verdict;

/// If so many files of a shard are gone, and no file is there, the tree is not mounted.
const GONE_MANY: u64 = 20;

/// What is checked, and where the result goes.
#[derive(Clone, Debug)]
pub struct ShardCheck {
    /// The root of the check, which is the same for all shards.
    pub root: PathBuf,
    /// Which of its files.
    pub shard: Shard,
    /// Where its files come from.
    pub files: ShardFiles,
    /// Whether a file without a tag fails the check.
    pub require_tags: bool,
    /// The file of the result.
    pub result: PathBuf,
}

/// Checks one shard, and writes its result. An interrupted check writes none.
///
/// # Errors
/// If the run cannot begin or go on, or the result cannot be written;
/// [`System`](crate::ErrorKind::System) if a retry may succeed, for example because the tree is
/// not mounted.
pub fn check(
    check: &ShardCheck,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let ShardCheck { shard, files, .. } = check;
    let root = &check.root.canonicalize().map_err(|error| Error::system("find", error))?;
    let names = fs::read_dir(root).map_err(|error| Error::system("list", error).at(root))?;
    if names.count() == 0 {
        return Err(absent("it is empty").at(root));
    }
    let session = session_of(root, files, options)?;
    let catalogue = session.as_ref().map(CatalogueSession::catalogue);
    let runs = catalogue.map(|catalogue| catalogue.runs(i64::MAX, 1)).transpose()?;
    let header = ResultHeader {
        steadfast_shard_result: 1,
        shard: shard.number,
        plan: ShardPlan {
            root: PathText::of(root),
            shards: shard.count,
            hash: Shard::HASH.name().to_owned(),
            files: files.clone(),
            catalogue_made_s: catalogue.map(Catalogue::tree).transpose()?.map(|it| it.made.seconds),
            require_tags: check.require_tags,
        },
        begun_s: (options.now)().seconds,
        catalogue_run: runs.map(|runs| runs.first().map_or(0, |run| run.id)),
    };
    let unwritten = |error| Error::system("write the result", error).at(&check.result);
    let mut writer = ResultWriter::create(&check.result, &header).map_err(unwritten)?;
    let output = writer.draft.get_ref().to_file().and_then(|draft| draft.status());
    let output = output.ok().map(|status| (status.device, status.inode));
    let options = &options_of_shard(options);
    let (mut failed, mut rows, mut gone) = (None, 0, 0);
    let mut recorded = Overheard::new(monitor, |event| {
        if let Event::File(file) = event {
            rows += 1;
            gone += u64::from(file.verdict == Some(Verdict::Missing));
        }
        let written = record_of(event, root).map_or(Ok(()), |record| writer.write(&record));
        if let Err(error) = written {
            failed.get_or_insert(error);
            options.controls.stop.store(true, Ordering::Relaxed);
        }
    });
    let (summary, walked) = check_files(check, root, (catalogue, output), options, &mut recorded)?;
    if let Some(error) = failed {
        return Err(unwritten(error));
    }
    if summary.interrupted {
        return Ok(summary);
    }
    if walked == Some(0) || (gone == rows && gone >= GONE_MANY) {
        return Err(absent("it has not one of the files").at(root));
    }
    let closing = ResultRecord::Summary(Box::new(Closing {
        ended_s: (options.now)().seconds,
        walked,
        exit_status: summary.exit_status(),
        skipped: summary.skipped,
        elapsed_ns: summary.elapsed_ns,
        backend: summary.means.backend.clone(),
        from_media: summary.bytes > 0 && summary.bytes == summary.bytes_from_media,
    }));
    writer.write(&closing).and_then(|()| writer.finish()).map_err(unwritten)?;
    Ok(summary)
}

/// Checks the files of a shard. Returns also the files of the whole walk, if there was one, from
/// which the file of the result is left out.
fn check_files(
    check: &ShardCheck,
    root: &Path,
    (catalogue, output): (Option<&Catalogue>, Option<(u64, u64)>),
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<(Summary, Option<u64>), Error> {
    let ShardCheck { shard, require_tags, .. } = *check;
    let paths = match &check.files {
        ShardFiles::Walk { excludes, one_file_system } => {
            let found = Arc::<AtomicU64>::default();
            let filter = ShardFilter { shard, found: Arc::clone(&found) };
            let selection = Selection::of([root]).with(|selection| {
                selection.excludes.clone_from(excludes);
                selection.one_file_system = *one_file_system;
                (selection.output, selection.shard) = (output, Some(filter));
            });
            let verb = Verb::Check(CheckOptions { require_tags, ..CheckOptions::default() });
            let summary = unguarded::run(verb, &selection, options, monitor)?;
            return Ok((summary, Some(found.load(Ordering::Relaxed))));
        }
        ShardFiles::List { paths, .. } => listed(root, paths)?,
        ShardFiles::Catalogue { older_than_s } => {
            let no_catalogue = || Error::usage("there is no catalogue").at(root);
            due(root, *older_than_s, catalogue.ok_or_else(no_catalogue)?, options)?
        }
    };
    let list = with_records(root, paths, shard, catalogue)?;
    Ok((check_listed(root, list, require_tags, options, monitor)?, None))
}

fn absent(what: &str) -> Error {
    Error::system("check it", io::Error::other(format!("{what}: is it mounted?")))
}

/// Makes the options for the run of a shard: any number of shards may have no file or no tagged
/// one, and a file that is not on this machine fails, because a result has no skipped files.
fn options_of_shard(options: &Options) -> Options {
    options.clone().with(|options| {
        options.catalogue.choice = CatalogueUse::Off;
        options.survey = false;
        options.allow_empty = true;
        if options.dataless == DatalessUse::Skip {
            options.dataless = DatalessUse::Fail;
        }
    })
}

/// Opens the catalogue by which files are judged, if there is one.
fn session_of(
    root: &Path,
    files: &ShardFiles,
    options: &Options,
) -> Result<Option<CatalogueSession>, Error> {
    let file = options.catalogue.choice.of(root);
    let Some(file) = file.filter(|_| !matches!(files, ShardFiles::Walk { .. })) else {
        return Ok(None);
    };
    let session = CatalogueSession::read(&file).map_err(|error| match error.kind() {
        EmptyRoot | OtherVolume | InUse | System => {
            Error::system("use the catalogue", io::Error::other(error))
        }
        _ => error.into(),
    })?;
    let tree = session.catalogue().root();
    let Ok(beneath) = root.strip_prefix(tree) else {
        return Err(Error::usage("it is not in the catalogued tree").at(root));
    };
    let mut unmounted = session.catalogue().unmounted_parts()?.into_iter().map(|(part, _)| part);
    let is_there = |part: &PathBuf| part.starts_with(beneath) || beneath.starts_with(part);
    match unmounted.find(is_there) {
        Some(part) => Err(absent("its volume is missing").at(&tree.join(part))),
        None => Ok(Some(session)),
    }
}

/// ListedPaths by their paths from the root, or why a list cannot be read further.
type ListedPaths = Box<dyn Iterator<Item = Result<PathBuf, Unlisted>> + Send>;

/// Returns the files of a list.
fn listed(root: &Path, paths: &[PathBuf]) -> Result<ListedPaths, Error> {
    let beneath = |typed: &PathBuf| {
        let path = path::absolute(typed).map_err(|error| Error::system("find", error).at(typed))?;
        let path = path.strip_prefix(root).map(|path| Ok(path.to_owned()));
        path.map_err(|_| Error::usage("it is not beneath the root").at(typed))
    };
    let files: Result<Vec<_>, Error> = paths.iter().map(beneath).collect();
    Ok(Box::new(files?.into_iter()))
}

/// Returns the files of the catalogue.
fn due(
    root: &Path,
    older_than_s: Option<u64>,
    catalogue: &Catalogue,
    options: &Options,
) -> Result<ListedPaths, Error> {
    let (root, tree) = (root.to_owned(), catalogue.root().to_owned());
    let chosen = DueOptions::default().with(|due| {
        due.older_than_s = older_than_s.map(|time| i64::try_from(time).unwrap_or(i64::MAX));
        due.beneath = root.strip_prefix(&tree).unwrap_or(Path::new("")).to_owned();
    });
    let document = catalogue.file().to_owned();
    let due = Catalogue::open_reader(&document)?.due(&chosen, (options.now)())?;
    if due.known() == 0 {
        return Err(Error::usage("the catalogue has no file with a tag here").at(&root));
    }
    let mut due = Some(due);
    Ok(Box::new(iter::from_fn(move || match due.as_mut()?.next() {
        Ok(entry) => {
            let path = tree.join(entry?.path);
            Some(Ok(path.strip_prefix(&root).unwrap_or(&path).to_owned()))
        }
        Err(error) => {
            due = None;
            Some(Err(Unlisted { document: document.clone(), reason: error.message() }))
        }
    })))
}

/// Returns those of some files that are in the shard, each with its record in the catalogue.
fn with_records(
    root: &Path,
    files: ListedPaths,
    shard: Shard,
    catalogue: Option<&Catalogue>,
) -> Result<List, Error> {
    let (root, records) = (root.to_owned(), catalogue.map(CatalogueReader::beside).transpose()?);
    let of_shard = files.filter(move |file| file.as_ref().map_or(true, |path| shard.has(path)));
    Ok(Box::new(of_shard.map(move |file| {
        let path = file?;
        let tag = records.as_ref().map(|it| it.tag(&FilePath::beneath(&root, &path))).transpose();
        match tag.map(Option::flatten) {
            Ok(tag) => Ok((path, tag.map(|tag| Reference::of_tag(CATALOGUE, &tag)))),
            Err(error) => Err(Unlisted { document: root.join(path), reason: error.message() }),
        }
    })))
}

/// Returns the record of an event, if it is of a file or prevents a success.
fn record_of(event: &Event, root: &Path) -> Option<ResultRecord> {
    let notice = match event {
        Event::File(file) => match Row::of(file, root) {
            Some(row) => return Some(ResultRecord::File(Box::new(row))),
            // A list, which is elsewhere.
            None => Notice::failure(file.trouble.as_ref()?.to_string()).at(&file.path.to_path()),
        },
        Event::Notice(notice) if notice.status != ExitStatus::Fine => notice.clone(),
        _ => return None,
    };
    let path = notice.path.as_ref().map(|path| format!("`{}`: ", path.display()));
    let text = format!("{}{notice}", path.unwrap_or_default());
    Some(ResultRecord::Notice { text, exit_status: notice.status })
}
