//! Folders whose files are all in one folder of an archive, under the same names.

use std::path::{Path, PathBuf};

use super::SameFolder;
use super::archive::Archive;
use super::worklist::{SAME, Worklist, failed, path_at};
use crate::error::Error;

/// A folder, and one of an archive that has its files.
struct FolderPair {
    path: PathBuf,
    archive: usize,
    there: PathBuf,
}

/// Visits the folders, in the order of paths. A folder in one that was visited is left out if it is
/// at the same place beneath it on both sides.
pub(super) fn each(
    list: &Worklist,
    archives: &[Archive],
    visit: &mut dyn FnMut(SameFolder),
) -> Result<(), Error> {
    let db = list.db();
    let sql = format!(
        "SELECT f.dir, h.archive, h.dir, count(*) AS files \
         FROM files AS f CROSS JOIN digests AS d ON d.number = f.number \
         CROSS JOIN held AS h ON {SAME} AND h.name = f.name \
         GROUP BY f.dir, h.archive, h.dir \
         HAVING files = (SELECT count(*) FROM files WHERE files.dir = f.dir) \
         ORDER BY f.dir, h.archive, h.dir"
    );
    let mut statement = db.prepare(&sql).map_err(failed)?;
    let mut rows = statement.query(()).map_err(failed)?;
    let mut above: Vec<FolderPair> = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let read = || {
            let pair = FolderPair {
                path: path_at(row, 0)?,
                archive: row.get::<_, i64>(1)? as usize,
                there: path_at(row, 2)?,
            };
            Ok((pair, row.get::<_, i64>(3)?.cast_unsigned()))
        };
        let (pair, files) = read().map_err(failed)?;
        above.retain(|one| pair.path.starts_with(&one.path));
        let archive = &archives[pair.archive];
        let is_whole = archive.files_in(&pair.there)? == Some(files);
        if !above.iter().any(|one| is_within(&pair, one)) {
            let (path, there) = (shown(&pair.path), archive.place(&pair.there).path);
            visit(SameFolder { path, there, files, is_whole });
        }
        above.push(pair);
    }
    Ok(())
}

/// Says whether a folder is at the same place beneath another on both sides.
fn is_within(pair: &FolderPair, above: &FolderPair) -> bool {
    let beneath = |path: &Path, above: &Path| path.strip_prefix(above).ok().map(Path::to_owned);
    let here = beneath(&pair.path, &above.path).filter(|down| !down.as_os_str().is_empty());
    pair.archive == above.archive && here.is_some() && here == beneath(&pair.there, &above.there)
}

fn shown(path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() }
}
