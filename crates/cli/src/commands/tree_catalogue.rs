//! A path given by the user → the catalogue with its record, the path in that tree, and its runs.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use steadfast::catalogue::{Catalogue, RunRecord};

/// Runs that are read at a time.
const RUNS_LEN: u32 = 512;

/// Opens a catalogue for reading, `file` or that of the nearest tree at or above `path`, and
/// returns the path relative to the root of the tree. The file at the path may have been deleted.
///
/// # Errors
/// If there is no catalogue, it cannot be read, its tree does not contain the path, or the tree is
/// empty or another one.
pub(super) fn open(path: &Path, file: Option<&Path>) -> anyhow::Result<(Catalogue, PathBuf)> {
    let (there, gone) =
        existing(path).with_context(|| format!("cannot find `{}`", path.display()))?;
    let file = match file {
        Some(file) => file.to_owned(),
        None => match Catalogue::find(&there) {
            Some(file) => file,
            None => bail!(
                "there is no catalogue at or above `{}`{}; `steadfast init DIR` makes one",
                path.display(),
                Catalogue::passed_over(&there)
                    .iter()
                    .map(|it| format!("; {it}"))
                    .collect::<String>()
            ),
        },
    };
    let catalogue = Catalogue::open_reader(&file)?;
    let real = if gone.as_os_str().is_empty() { there } else { there.join(gone) };
    let Ok(relative) = real.strip_prefix(catalogue.root()) else {
        let (real, root) = (real.display(), catalogue.root().display());
        bail!("`{real}` is not in the tree `{root}` of the catalogue `{}`", file.display());
    };
    let relative = relative.to_owned();
    // What a catalogue knows of an unmounted or of another tree says nothing about this one.
    catalogue.guard()?;
    Ok((catalogue, relative))
}

/// Splits a path into the existing part, without links, and the deleted part.
fn existing(path: &Path) -> io::Result<(PathBuf, PathBuf)> {
    let mut there = path;
    let mut gone = PathBuf::new();
    loop {
        let shown = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        match shown.canonicalize() {
            Ok(real) => return Ok((real, gone)),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                // `..` after a deleted name is ambiguous.
                let (Some(above), Some(name)) = (there.parent(), there.file_name()) else {
                    return Err(error);
                };
                gone = match gone.as_os_str().is_empty() {
                    true => PathBuf::from(name),
                    false => Path::new(name).join(&gone),
                };
                there = above;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Visits all runs, latest first.
pub(super) fn each_run(
    catalogue: &Catalogue,
    visit: &mut dyn FnMut(RunRecord),
) -> anyhow::Result<()> {
    let mut before = i64::MAX;
    loop {
        let page = catalogue.runs(before, RUNS_LEN)?;
        let Some(last) = page.last() else { return Ok(()) };
        before = last.id;
        page.into_iter().for_each(&mut *visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_is_parted_from_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("a")).unwrap();
        std::fs::write(real.join("a/file"), b"").unwrap();
        std::os::unix::fs::symlink("a", real.join("link")).unwrap();
        for (path, there, gone) in [
            ("a/file", "a/file", ""),
            ("link/file", "a/file", ""),
            ("link/x", "a", "x"),
            ("a/x/y", "a", "x/y"),
            ("a/file/x", "a/file", "x"),
        ] {
            let found = existing(&real.join(path)).unwrap();
            assert_eq!(found, (real.join(there), PathBuf::from(gone)), "{path}");
        }
        assert!(existing(&real.join("x/../a")).is_err());
        assert_eq!(existing(Path::new("")).unwrap().1, Path::new(""));
    }
}
