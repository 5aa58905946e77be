//! Folders whose files are all in one folder of an archive, at the same paths beneath it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::SameFolder;
use super::archive::Archive;
use super::worklist::{SAME, Worklist, failed, path_at};
use crate::error::Error;

/// The most folders that are held in memory. Of more, only those that have files themselves are
/// compared.
const FOLDERS_MAX: usize = 100_000;

/// A folder of an archive: its number, and the path in it.
type ArchiveFolder = (usize, PathBuf);

/// A folder that was asked about.
#[derive(Default)]
struct AskedFolder {
    /// Whether it has files itself.
    has_files: bool,
    /// The names of the folders in it.
    children: BTreeSet<PathBuf>,
    /// Where all its files are, those beneath it too, with their number.
    same: BTreeMap<ArchiveFolder, u64>,
}

/// Visits the folders, in the order of paths. A folder in one that was visited is left out if it is
/// at the same place beneath it on both sides. `roots` are the paths that were asked about: what is
/// above them was not.
pub(super) fn each(
    list: &Worklist,
    archives: &[Archive],
    roots: &[PathBuf],
    visit: &mut dyn FnMut(SameFolder),
) -> Result<(), Error> {
    let mut folders = BTreeMap::new();
    list_folders(list, roots, &mut folders).map_err(failed)?;
    let paths: Vec<PathBuf> = folders.keys().cloned().collect();
    for path in paths.iter().rev() {
        let same = with_beneath(&folders, path);
        folders.entry(path.clone()).or_default().same = same;
    }
    for (path, folder) in &folders {
        for ((number, there), files) in &folder.same {
            if is_in_above(&folders, path, (*number, there)) {
                continue;
            }
            let archive = &archives[*number];
            let is_whole = archive.files_beneath(there)? == Some(*files);
            let there = archive.place(there).path;
            visit(SameFolder { path: shown(path), there, files: *files, is_whole });
        }
    }
    Ok(())
}

/// Lists the folders that have files, where these are, and the folders above.
fn list_folders(
    list: &Worklist,
    roots: &[PathBuf],
    folders: &mut BTreeMap<PathBuf, AskedFolder>,
) -> rusqlite::Result<()> {
    let db = list.db();
    let mut statement = db.prepare("SELECT DISTINCT dir FROM files")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let path = path_at(row, 0)?;
        folders.entry(path.clone()).or_default().has_files = true;
        let mut below = path.as_path();
        let is_asked = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        while let Some(above) = below.parent().filter(|it| is_asked(it))
            && folders.len() < FOLDERS_MAX
        {
            let folder = folders.entry(above.to_owned()).or_default();
            folder.children.extend(below.file_name().map(PathBuf::from));
            below = above;
        }
    }
    let sql = format!(
        "SELECT f.dir, h.archive, h.dir, count(*) AS files \
         FROM files AS f CROSS JOIN digests AS d ON d.number = f.number \
         CROSS JOIN held AS h ON {SAME} AND h.name = f.name WHERE f.found = 1 \
         GROUP BY f.dir, h.archive, h.dir \
         HAVING files = (SELECT count(*) FROM files WHERE files.dir = f.dir)"
    );
    let mut statement = db.prepare(&sql)?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let place = (row.get::<_, i64>(1)? as usize, path_at(row, 2)?);
        let files = row.get::<_, i64>(3)?.cast_unsigned();
        folders.entry(path_at(row, 0)?).or_default().same.insert(place, files);
    }
    Ok(())
}

/// Returns where all files of a folder are, by where its own are and where its folders are.
fn with_beneath(
    folders: &BTreeMap<PathBuf, AskedFolder>,
    path: &Path,
) -> BTreeMap<ArchiveFolder, u64> {
    let folder = &folders[path];
    let child = |name: &PathBuf| folders.get(&path.join(name));
    let own = match folder.children.first().filter(|_| !folder.has_files) {
        Some(name) => {
            let of_first = child(name).into_iter().flat_map(|it| it.same.keys());
            let above = of_first.filter(|(_, there)| there.file_name() == name.file_name());
            let above = above.filter_map(|(at, there)| Some((*at, there.parent()?.to_owned())));
            above.map(|place| (place, 0)).collect()
        }
        None => folder.same.clone(),
    };
    let sum = |(number, there): ArchiveFolder, files: u64| {
        let beneath = folder.children.iter().map(|name| {
            child(name).and_then(|it| it.same.get(&(number, there.join(name)))).copied()
        });
        let beneath: u64 = beneath.sum::<Option<u64>>()?;
        Some(((number, there), files + beneath))
    };
    own.into_iter().filter_map(|(place, files)| sum(place, files)).collect()
}

/// Says whether the folder above is in the folder above that of the archive.
fn is_in_above(
    folders: &BTreeMap<PathBuf, AskedFolder>,
    path: &Path,
    (number, there): (usize, &Path),
) -> bool {
    let above = path.parent().and_then(|above| folders.get(above));
    let is_named_so = path.file_name().is_some() && path.file_name() == there.file_name();
    let place = there.parent().map(|above| (number, above.to_owned()));
    is_named_so && above.zip(place).is_some_and(|(above, place)| above.same.contains_key(&place))
}

fn shown(path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() }
}
