//! Gives files their names back that a move was about to remove when it was killed, or whose copy
//! was gone when they had another name.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{Dir, File, Status};

use super::mend::digest_matches;
use super::system;
use crate::advice::counted;
use crate::belongings::Belongings;
use crate::beneath;
use crate::catalogue::{Catalogue, real_of};
use crate::error::Error;
use crate::event::{FileError, Notice};
use crate::moving::{MARK, MovedName, MovingFile, MovingFiles, RECORD};
use crate::run::{CatalogueUse, Options, ProvedFile, ProvedFiles, Verb, run_proved, whole_seconds};
use crate::selection::Selection;
use crate::store::xattr::Xattr;
use crate::store::{Replaces, Store as _, StoredTag};
use crate::tree_folder::FOLDER;
use crate::verb_kind::VerbKind;

/// A file that has its name again, and the tag of its contents, which were just proved.
pub(crate) struct NamedAgain {
    pub(crate) path: PathBuf,
    pub(crate) tag: Tag,
}

/// Gives a file its name back, which nothing may have meanwhile.
///
/// # Errors
/// Any I/O error of the system; `AlreadyExists` if the name is taken.
pub(crate) fn give_name_back(dir: &Dir, file: &MovingFile) -> Result<(), FileError> {
    dir.rename_to_new(&file.temporary(), dir, &file.name).map_err(system("give its name back"))
}

/// Marks a catalogued tree from which a move removes files, for those who do not walk it.
///
/// # Errors
/// Any I/O error of the system.
pub(crate) fn mark(root: &Path) -> io::Result<()> {
    let dir = Dir::open(root)?.open_dir(OsStr::new(FOLDER))?;
    match dir.create_file(OsStr::new(MARK)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.and_then(|_| dir.flush()),
    }
}

/// Removes what [`mark`] made.
pub(crate) fn unmark(root: &Path) {
    let dir = Dir::open(root).and_then(|dir| dir.open_dir(OsStr::new(FOLDER)));
    let _ = dir.and_then(|dir| dir.remove_file(OsStr::new(MARK)));
}

/// Removes the marks of moves from the trees that a selection covers.
pub(crate) fn clear_marks(selection: &Selection) {
    for path in selection.roots.iter().chain(&selection.listed) {
        let file = Catalogue::find(path);
        let root = file.as_deref().and_then(|file| file.parent()?.parent());
        if let Some(root) = root.filter(|root| real_of(path).is_some_and(|it| root.starts_with(it)))
        {
            unmark(root);
        }
    }
}

/// Gives the files of folders their names back, if they are as their records say. Returns what to
/// say of it.
pub(crate) fn give_names_back(
    folders: &[PathBuf],
    selection: &Selection,
    options: &Options,
) -> Vec<Notice> {
    let (mut told, mut named) = (Vec::new(), Vec::new());
    let within = selection.confines();
    for folder in folders {
        let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let open = || match beneath::innermost(&within, shown).is_some() {
            true => beneath::directory_within(&within, shown),
            false => Dir::open(shown),
        };
        let given = open()
            .map_err(system("open the folder"))
            .and_then(|dir| give_back_in(&dir, folder, &options.controls.stop, &mut named));
        told.push(match given {
            // The record alone was left.
            Ok((0, 0)) => continue,
            Ok((files, 0)) => {
                let files = counted(files, "file", "files");
                Notice::new(format!("gave {files} their names back, which a move had changed"))
            }
            Ok((_, others)) => {
                let files = counted(others, "file", "files");
                let text = format!(
                    "{files} of a move that was cut off keep their temporary names: they changed \
                     since, or other files have their names"
                );
                Notice::failure(text)
            }
            Err(error) => Notice::failure(error.to_string()),
        }
        .at(shown));
    }
    told.extend(renew(named, &within, options, VerbKind::Repair).err().map(|it| Notice::of(&it)));
    told
}

/// Returns how many files of a folder got their names back, and how many did not.
fn give_back_in(
    dir: &Dir,
    folder: &Path,
    stop: &AtomicBool,
    named: &mut Vec<NamedAgain>,
) -> Result<(u64, u64), FileError> {
    let Some(MovingFiles { files, mut others }) = MovingFiles::of(dir) else { return Ok((0, 0)) };
    let mut given = 0;
    for MovedName { file, temporary, has_both } in files {
        let opened = dir.open_file(&temporary).map_err(system("open it"))?;
        let is_right = |opened: &File| digest_matches(opened, &file.tag, stop);
        let is_twice = || {
            let named = dir.open_file(&file.name)?;
            let lacks = Belongings::of(&opened)?.lacking_of(
                &Belongings::of(&named)?,
                &opened,
                Path::new(&file.name),
            );
            Ok::<bool, io::Error>(lacks.is_empty() && is_right(&named)?)
        };
        let is_given = is_right(&opened).and_then(|it| Ok(it && (!has_both || is_twice()?)));
        if !is_given.map_err(system("read it"))? {
            others += 1;
            continue;
        }
        match has_both {
            true => dir.remove_file(&temporary).map_err(system("remove its other name"))?,
            false => give_name_back(dir, &file)?,
        }
        given += 1;
        named.push(NamedAgain { path: folder.join(&file.name), tag: file.tag });
    }
    dir.flush().map_err(system("flush the folder"))?;
    if others == 0 {
        dir.remove_file(OsStr::new(RECORD)).map_err(system("remove the record of a move"))?;
    }
    Ok((given, others))
}

/// Records anew that files are as their tags say, because their names were changed, which moved
/// their change times. They were read just now.
///
/// # Errors
/// If the catalogue cannot be written.
pub(crate) fn renew(
    files: Vec<NamedAgain>,
    within: &[PathBuf],
    options: &Options,
    recorded_as: VerbKind,
) -> Result<(), Error> {
    let mut by_catalogue: std::collections::BTreeMap<PathBuf, Vec<NamedAgain>> = Default::default();
    for file in files {
        match options.catalogue.choice.of(&file.path) {
            Some(catalogue) => by_catalogue.entry(catalogue).or_default().push(file),
            None => renew_tag(&file, options),
        }
    }
    for (catalogue, files) in by_catalogue {
        let proved = files.iter().filter_map(|file| {
            Some(ProvedFile { status: Status::of_link(&file.path).ok()?, tag: file.tag })
        });
        let proved = ProvedFiles { files: proved.collect(), ..ProvedFiles::default() };
        let selection = Selection::default().with(|it| {
            it.listed = files.into_iter().map(|file| file.path).collect();
            it.within = within.to_owned();
            it.with_sidecars = true;
        });
        let options = options.clone().with(|it| {
            it.catalogue.choice = CatalogueUse::At(catalogue);
            it.catalogue.recorded_as = Some(recorded_as);
            it.allow_empty = true;
            it.controls.stop = Arc::default();
        });
        let _ = run_proved(Verb::check(), proved, &selection, &options, &mut |_: &_| ())?;
    }
    Ok(())
}

/// Writes the tag of a file again, with the present time. A file that has none, or another one,
/// keeps that.
fn renew_tag(file: &NamedAgain, options: &Options) {
    let renew = || {
        let (dir, name): (Dir, OsString) = Dir::parent_of(&file.path)?;
        let opened = dir.open_file(&name)?;
        if let StoredTag::Whole(tag) = Xattr.tag(&opened)?
            && tag.same_contents(&file.tag)
        {
            let new = Tag { tagged: whole_seconds((options.now)()), ..tag };
            let _ = Xattr.write(&opened, &new, Replaces::Tag(tag));
        }
        Ok::<_, std::io::Error>(())
    };
    // Without it, decay of the file is called suspect and not corrupt.
    let _ = renew();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit_status::ExitStatus;
    use crate::monitor::Event;
    use crate::moving::encode;
    use crate::{Advice, Run, Verdict};
    use std::fs;
    use steadfast_manifest::tag::Tag;

    /// A folder with `a` and `b`, of which a killed move left `a` under a temporary name.
    fn cut_off(has_catalogue: bool) -> (tempfile::TempDir, MovingFile) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let run = match has_catalogue {
            true => Run::init(folder.path()),
            false => Run::tag([folder.path()]),
        };
        let _ = run.run(&mut |_: &_| {}).unwrap();
        let dir = Dir::open(folder.path()).unwrap();
        let status = dir.status_of(OsStr::new("a")).unwrap();
        let digest = steadfast_digest::sha256(b"a");
        let (length, mtime) = (status.length, status.mtime);
        let algorithm = steadfast_digest::Algorithm::Sha256;
        let tag = Tag { algorithm, digest, length, mtime, tagged: mtime };
        let file = MovingFile { name: "a".into(), tag };
        fs::write(folder.path().join(RECORD), encode([&file]).unwrap()).unwrap();
        fs::rename(folder.path().join("a"), folder.path().join(file.temporary())).unwrap();
        (folder, file)
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let names = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
        let mut names: Vec<OsString> = names.filter(|name| name != ".steadfast").collect();
        names.sort();
        names
    }

    /// Returns the files of a check with their verdicts, and the folders that it wants repaired.
    fn checked(folder: &Path) -> (Vec<(PathBuf, Verdict)>, Vec<PathBuf>, ExitStatus) {
        let (mut files, mut advised) = (Vec::new(), Vec::new());
        let summary = Run::check([folder]).run(&mut |event: &Event| match event {
            Event::File(file) => files.push((file.path.to_path(), file.verdict.unwrap())),
            Event::Notice(Notice { advice: Some(Advice::GiveNamesBack(folder)), .. }) => {
                advised.push(folder.clone());
            }
            Event::Notice(_) => {}
            Event::Finding(found) => panic!("{found:?}"),
        });
        (files, advised, summary.unwrap().exit_status())
    }

    #[test]
    fn files_of_a_killed_move_are_neither_new_nor_missing_and_get_their_names_back() {
        for (has_catalogue, is_linked) in [(true, false), (false, false), (true, true)] {
            let (folder, file) = cut_off(has_catalogue);
            let (folder, options) = (folder.path(), Options::default());
            if is_linked {
                // Killed between the new name and the removal of the other one.
                fs::hard_link(folder.join(file.temporary()), folder.join("a")).unwrap();
            }
            let before = names(folder);
            let all = ["a", "b"].map(|name| (folder.join(name), Verdict::Intact));
            let (files, advised, status) = checked(folder);
            assert_eq!((files, status), (all.to_vec(), ExitStatus::Changed));
            assert_eq!((&advised[..], names(folder)), (&[folder.to_owned()][..], before));
            let told = give_names_back(&advised, &Selection::of([folder]), &options);
            assert!(told.iter().all(|it| it.status.is_fine()), "{told:?}");
            assert_eq!(names(folder), ["a", "b"]);
            let (files, advised, status) = checked(folder);
            assert_eq!((files, status, advised.len()), (all.to_vec(), ExitStatus::Fine, 0));
        }
    }

    #[test]
    fn a_file_of_a_killed_move_is_found_by_its_path() {
        let (folder, _) = cut_off(true);
        let (folder, path) = (folder.path(), folder.path().join("a"));
        let (files, advised, status) = checked(&path);
        assert_eq!(files, [(path.clone(), Verdict::Intact)]);
        assert_eq!((&advised[..], status), (&[folder.to_owned()][..], ExitStatus::Changed));
        let listed = Selection::default().with(|it| it.listed = vec![path.clone()]);
        let summary =
            Run::of(Verb::check(), listed, Options::default()).run(&mut |_: &Event| {}).unwrap();
        assert_eq!((summary.exit_status(), summary.verdicts(Verdict::Intact)), (status, 1));
    }

    #[test]
    fn no_name_is_given_over_a_file_or_to_other_contents() {
        for kind in ["taken", "alike", "edited", "rotten"] {
            let (folder, file) = cut_off(true);
            let (folder, temporary) = (folder.path(), folder.path().join(file.temporary()));
            match kind {
                "taken" => fs::write(folder.join("a"), "new").unwrap(),
                "edited" => fs::write(&temporary, "edited").unwrap(),
                "alike" => {
                    let modified = fs::metadata(&temporary).unwrap().modified().unwrap();
                    fs::write(folder.join("a"), "c").unwrap();
                    let opened = fs::File::options().write(true).open(folder.join("a")).unwrap();
                    opened.set_modified(modified).unwrap();
                }
                _ => {
                    let modified = fs::metadata(&temporary).unwrap().modified().unwrap();
                    fs::write(&temporary, "c").unwrap();
                    let opened = fs::File::options().write(true).open(&temporary).unwrap();
                    opened.set_modified(modified).unwrap();
                }
            }
            let before = names(folder);
            let (selection, options) = (Selection::of([folder]), Options::default());
            let told = give_names_back(&[folder.to_owned()], &selection, &options);
            assert!(told.iter().any(|it| !it.status.is_fine()), "{kind} {told:?}");
            assert_eq!(names(folder), before, "{kind}");
        }
    }
}
