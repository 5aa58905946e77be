//! The removal of files that were moved.
//!
//! Two names of one file look like a file and its copy. So no file is removed by its own name: a
//! record is written to its folder, the file gets a name of its own there, the folder is flushed,
//! and each copy is opened anew by its path. A copy that is gone then was the file itself, and the
//! file gets its name back.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{Dir, Status};

use super::destination::Destination;
use super::result::CopiedFile;
use crate::catalogue::Catalogue;
use crate::event::FileError;
use crate::moving::{MovingFile, MovingFiles, RECORD, encode};
use crate::repair::{NamedAgain, give_name_back, mark};
use crate::safe::Lack;
use crate::walk::Entry;

/// How long a waiting run goes without looking whether it was stopped.
const NAP: Duration = Duration::from_millis(100);

/// A file that may be removed.
pub(super) struct Removal {
    pub(super) entry: Entry,
    pub(super) relative: PathBuf,
    /// What it was when it was read.
    pub(super) status: Status,
    /// The tag of its contents.
    pub(super) tag: Tag,
    /// Its copies, by destination.
    pub(super) copies: Vec<Status>,
}

/// A file that has a name of its own.
struct Renamed<'a> {
    removal: &'a Removal,
    report: &'a mut CopiedFile,
    dir: Arc<Dir>,
    file: MovingFile,
    /// What it was once it had that name; `None` until then, and if it had changed.
    status: Option<Status>,
}

/// Removes files whose copies are permanent, in one go. Returns whether every copy was seen: if
/// not, nothing more may be removed. Files that stay are added to `stay`, and catalogued trees of
/// the source, which are marked until the end of the run, to `marked`.
pub(super) fn remove_all(
    files: Vec<(&Removal, &mut CopiedFile)>,
    destinations: &[Destination],
    stop: &AtomicBool,
    (stay, marked): (&mut Vec<NamedAgain>, &mut BTreeSet<PathBuf>),
) -> bool {
    let mut by_folder: BTreeMap<PathBuf, Vec<_>> = BTreeMap::new();
    for file in files {
        let path = file.0.entry.path.to_path();
        by_folder.entry(path.parent().unwrap_or(Path::new("")).to_owned()).or_default().push(file);
    }
    let mut folders = Vec::new();
    for (folder, files) in by_folder {
        let catalogue =
            Catalogue::find(if folder.as_os_str().is_empty() { Path::new(".") } else { &folder });
        let root = catalogue.as_deref().and_then(|file| file.parent()?.parent());
        if let Some(root) = root.filter(|root| !marked.contains(*root)) {
            // A folder that cannot be written has no mark; a walk finds the names.
            let _ = mark(root);
            marked.insert(root.to_owned());
        }
        folders.push(RenamedFolder::rename(files));
    }
    let is_ready =
        folders.iter().all(|folder| folder.dir.as_ref().is_none_or(|it| it.flush().is_ok()))
            && wait(destinations.iter().map(Destination::cached_for).max(), stop);
    let mut is_seen = true;
    for renamed in folders.iter_mut().flat_map(|folder| &mut folder.files) {
        let missing = renamed.missing_copy(destinations);
        is_seen &= missing.is_none();
        if let Some(copy) = missing {
            let copy = copy.display();
            let reason = format!(
                "`{copy}` was gone when the source had another name: both are one file, or the \
                 copy was taken away. The source has its name again"
            );
            renamed.report.lack = Some(Lack::CopyGone);
            renamed.report.trouble = Some(FileError::new("remove it", reason));
        }
    }
    for folder in folders {
        folder.finish(is_ready && is_seen, stay);
    }
    is_seen
}

/// Waits for the longest time for which a destination may show names that are gone. Returns false
/// if the run was stopped.
fn wait(time: Option<Duration>, stop: &AtomicBool) -> bool {
    let begun = Instant::now();
    while let Some(left) = time.and_then(|time| time.checked_sub(begun.elapsed())) {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        thread::sleep(left.min(NAP));
    }
    true
}

/// The files of one folder that are removed together.
struct RenamedFolder<'a> {
    dir: Option<Arc<Dir>>,
    files: Vec<Renamed<'a>>,
}

impl<'a> RenamedFolder<'a> {
    /// Writes the record of a folder, and gives its files names of their own.
    fn rename(files: Vec<(&'a Removal, &'a mut CopiedFile)>) -> RenamedFolder<'a> {
        let mut opened = Vec::new();
        for (removal, report) in files {
            match removal.open() {
                Ok(Some((dir, file))) => {
                    opened.push(Renamed { removal, report, dir, file, status: None })
                }
                Ok(None) => report.lack = Some(Lack::Changed),
                Err(error) => fail(report, &error),
            }
        }
        let Some(dir) = opened.first().map(|first| Arc::clone(&first.dir)) else {
            return RenamedFolder { dir: None, files: Vec::new() };
        };
        if let Err(error) = record(&dir, opened.iter().map(|renamed| &renamed.file)) {
            opened.into_iter().for_each(|renamed| fail(renamed.report, &error));
            return RenamedFolder { dir: None, files: Vec::new() };
        }
        let mut files = Vec::new();
        for mut renamed in opened {
            let file = &renamed.file;
            match rename(&dir, &file.name, &file.temporary()) {
                Ok(()) => {
                    let now = dir.status_of(&file.temporary()).ok();
                    renamed.status = now.filter(|now| renamed.removal.is_same(now));
                    files.push(renamed);
                }
                Err(error) => fail(renamed.report, &error),
            }
        }
        RenamedFolder { dir: Some(dir), files }
    }

    /// Removes the files, or gives them their names back, and removes the record.
    fn finish(self, removes: bool, stay: &mut Vec<NamedAgain>) {
        let Some(dir) = self.dir else { return };
        let mut is_clear = true;
        for Renamed { removal, report, dir, file, status } in self.files {
            let temporary = file.temporary();
            // What was written and kept its date moved the change time; so did the removal of
            // another name.
            let same = status.is_some_and(|renamed| {
                let is_same = |now| now == renamed || (renamed.links > 1 && removal.is_same(&now));
                dir.status_of(&temporary).is_ok_and(is_same)
            });
            let removed = (removes && same).then(|| dir.remove_file(&temporary));
            if let Some(Ok(())) = removed {
                report.was_removed = true;
                continue;
            }
            if removes && !same {
                report.lack = report.lack.or(Some(Lack::Changed));
            }
            if let Some(Err(error)) = removed {
                fail(report, &error);
            }
            match give_name_back(&dir, &file) {
                Ok(()) if same => {
                    stay.push(NamedAgain { path: removal.entry.path.to_path(), tag: file.tag });
                }
                Ok(()) => {}
                Err(trouble) => {
                    is_clear = false;
                    report.trouble = Some(trouble);
                }
            }
        }
        let _ = dir.flush();
        if is_clear {
            let _ = dir.remove_file(OsStr::new(RECORD));
        }
    }
}

/// Gives a file a temporary name, which is ours alone. A rename that replaces nothing would be a
/// link on most FUSE file systems, with another inode on some.
fn rename(dir: &Dir, name: &OsStr, temporary: &OsStr) -> io::Result<()> {
    match dir.status_of(temporary) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => dir.rename(name, temporary),
        found => found.and(Err(io::ErrorKind::AlreadyExists.into())),
    }
}

fn fail(report: &mut CopiedFile, error: &io::Error) {
    report.trouble = Some(FileError::from_io("remove it after copying", error));
}

/// Writes the record of a folder and flushes it. One of a move that left nothing else is replaced.
fn record<'f>(dir: &Arc<Dir>, files: impl Iterator<Item = &'f MovingFile>) -> io::Result<()> {
    let is_left = MovingFiles::of(dir).is_some_and(|it| it == MovingFiles::default());
    if is_left {
        dir.remove_file(OsStr::new(RECORD))?;
    }
    let made = dir.create_file(OsStr::new(RECORD)).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            io::Error::other("another move of this folder goes on, or was cut off")
        }
        _ => error,
    });
    let mut made = made?;
    made.write_all(&encode(files)?)?;
    made.sync_all()?;
    dir.flush()
}

impl Removal {
    /// Opens the folder of the file; `None` if the file is not what was read.
    fn open(&self) -> io::Result<Option<(Arc<Dir>, MovingFile)>> {
        let (dir, name) = self.entry.folder()?;
        let now = dir.status_of(&name)?;
        // Removing another name of it moved its change time.
        let is_same = now == self.status || (self.status.links > 1 && self.is_same(&now));
        let Status { length, mtime, .. } = now;
        let file = MovingFile { name, tag: Tag { length, mtime, ..self.tag } };
        Ok(is_same.then_some((dir, file)))
    }

    /// Returns whether a file is this one, whose change time its new name moved.
    fn is_same(&self, now: &Status) -> bool {
        let facts = |it: &Status| (it.device, it.inode, it.length, it.mtime, it.kind);
        facts(now) == facts(&self.status)
    }
}

impl Renamed<'_> {
    /// Returns the path of a copy that is not there while the file has another name.
    fn missing_copy(&self, destinations: &[Destination]) -> Option<PathBuf> {
        let Removal { relative, status, copies, .. } = self.removal;
        let source = self.dir.open_file(&self.file.temporary());
        let mut copies = destinations.iter().zip(copies);
        let is_there = |(to, copy): &(&Destination, &Status)| {
            source.as_ref().is_ok_and(|it| to.still_has(relative, (copy, status), it))
        };
        let missing = copies.find(|copy| !is_there(copy));
        missing.map(|(to, _)| to.path.join(relative))
    }
}

#[cfg(test)]
mod tests {
    use super::super::destination::Absent;
    use super::*;
    use crate::selection::Selection;
    use crate::walk::{Excludes, WalkItem, walk};
    use std::fs;
    use std::ops::ControlFlow;
    use steadfast_digest::Algorithm;

    /// `from` with files, and copies of them at `to`.
    fn copied() -> (tempfile::TempDir, Vec<Removal>, Vec<Destination>) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("from/sub")).unwrap();
        fs::create_dir_all(path("to/sub")).unwrap();
        for name in ["a", "b", "empty", "sub/c"] {
            let contents = name.repeat(if name == "empty" { 0 } else { 5_000 });
            fs::write(path("from").join(name), &contents).unwrap();
            fs::write(path("to").join(name), &contents).unwrap();
        }
        let to = vec![Destination::open(&path("to"), &[], (Absent::Made, None)).unwrap()];
        let (mut removals, excludes) = (Vec::new(), Excludes::new(&[]).unwrap());
        let from = Selection::of([path("from")]);
        walk(&from, &excludes, |_| false, &AtomicBool::new(false), &mut |item| {
            if let WalkItem::File(entry) = item {
                let relative = entry.path.to_path();
                let relative = relative.strip_prefix(path("from")).unwrap().to_owned();
                let status = entry.status().unwrap();
                let digest = steadfast_digest::sha256(&fs::read(entry.path.to_path()).unwrap());
                let (length, mtime) = (status.length, status.mtime);
                let algorithm = Algorithm::Sha256;
                let tag = Tag { algorithm, digest, length, mtime, tagged: mtime };
                let copies = vec![Status::of(&path("to").join(&relative)).unwrap()];
                removals.push(Removal { entry, relative, status, tag, copies });
            }
            ControlFlow::Continue(())
        });
        (folder, removals, to)
    }

    fn report(removal: &Removal) -> CopiedFile {
        CopiedFile {
            path: removal.entry.path.to_path(),
            length: 0,
            tag: None,
            is_proved: true,
            verdict: None,
            mended: None,
            places: Vec::new(),
            lack: None,
            was_removed: false,
            trouble: None,
        }
    }

    fn removed(removals: &[Removal], to: &[Destination]) -> (bool, Vec<CopiedFile>, usize) {
        let mut reports: Vec<CopiedFile> = removals.iter().map(report).collect();
        let (files, mut stay) = (removals.iter().zip(&mut reports).collect(), Vec::new());
        let is_seen =
            remove_all(files, to, &AtomicBool::new(false), (&mut stay, &mut BTreeSet::new()));
        (is_seen, reports, stay.len())
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_whose_copies_are_seen_are_removed_and_nothing_is_left() {
        let (folder, removals, to) = copied();
        let (is_seen, reports, stay) = removed(&removals, &to);
        assert!(is_seen && stay == 0 && reports.iter().all(|it| it.was_removed), "{reports:?}");
        assert_eq!(names(&folder.path().join("from")), ["sub"]);
        assert!(names(&folder.path().join("from/sub")).is_empty());
    }

    #[test]
    fn a_copy_that_is_gone_gives_every_name_back() {
        type Change = fn(&Path);
        let changes: [(&str, Change); 4] = [
            ("gone", |copy| fs::remove_file(copy).unwrap()),
            ("other contents", |copy| fs::write(copy, "b".repeat(5_000)).unwrap()),
            ("other end", |copy| fs::write(copy, "a".repeat(4_999) + "b").unwrap()),
            ("a folder", |copy| {
                fs::remove_file(copy).unwrap();
                fs::create_dir(copy).unwrap();
            }),
        ];
        for (what, change) in changes {
            let (folder, mut removals, to) = copied();
            let copy = folder.path().join("to/a");
            change(&copy);
            if what.starts_with("other") {
                // As a file system shows it that remembers a status.
                removals[0].copies = vec![Status::of(&copy).unwrap()];
            }
            let (is_seen, reports, stay) = removed(&removals, &to);
            assert!(!is_seen && stay == 4, "{what}");
            assert!(reports.iter().all(|it| !it.was_removed), "{what}");
            assert_eq!(reports[0].lack, Some(Lack::CopyGone), "{what}");
            assert!(reports[1..].iter().all(|it| it.lack.is_none()), "{what}");
            assert_eq!(names(&folder.path().join("from")), ["a", "b", "empty", "sub"], "{what}");
        }
    }

    #[test]
    fn a_file_that_changed_and_a_folder_of_another_move_keep_their_files() {
        let (folder, removals, to) = copied();
        fs::write(folder.path().join("from/b"), "edited").unwrap();
        fs::write(folder.path().join("from/sub").join(RECORD), "another's").unwrap();
        let (is_seen, reports, _) = removed(&removals, &to);
        assert!(is_seen);
        let lacks: Vec<Option<Lack>> = reports.iter().map(|it| it.lack).collect();
        assert_eq!(lacks, [None, Some(Lack::Changed), None, None]);
        assert!(reports[3].trouble.is_some(), "{:?}", reports[3]);
        assert_eq!(names(&folder.path().join("from")), ["b", "sub"]);
        assert_eq!(names(&folder.path().join("from/sub")), [RECORD, "c"]);
    }

    #[test]
    fn a_file_that_is_written_under_its_temporary_name_stays() {
        let (folder, removals, _) = copied();
        let mut reports: Vec<CopiedFile> = removals.iter().map(report).collect();
        let of_b = removals.iter().zip(&mut reports).filter(|it| it.0.relative == Path::new("b"));
        let renamed = RenamedFolder::rename(of_b.collect());
        let path = folder.path().join("from").join(renamed.files[0].file.temporary());
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let changed = || Status::of(&path).unwrap().ctime;
        let before = changed();
        // The clock of a file system may stand still for some milliseconds.
        while changed() == before {
            fs::write(&path, "x".repeat(5_000)).unwrap();
            fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        }
        let mut stay = Vec::new();
        renamed.finish(true, &mut stay);
        // Its contents were not proved.
        assert!(stay.is_empty());
        assert_eq!(names(&folder.path().join("from")), ["a", "b", "empty", "sub"]);
        assert_eq!(fs::read(folder.path().join("from/b")).unwrap(), vec![b'x'; 5_000]);
        assert_eq!(reports[1].lack, Some(Lack::Changed));
    }
}
