//! A document in a file: written completely or not at all, and never over an unrelated file.
//!
//! In: a path, and later the document. Out: the file. Tests whether the file can be written before
//! the work begins, so that an hour of measuring does not end in an error. While the work is done
//! there is no such file, because a walk must not find files that the owner did not create.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use steadfast::beneath::{Dir, Draft, Existing, FileKind};
#[cfg(feature = "companions")]
use steadfast_measure::scratch::by_chance;

/// Bytes at the beginning of a file by which its kind is recognised.
const BEGINNING_LEN: usize = 512;

/// A place for a document: a name in an open folder.
#[derive(Debug)]
pub(crate) struct DocumentFile {
    path: PathBuf,
    dir: Arc<Dir>,
    name: OsString,
    /// The mode of an earlier document, which is replaced.
    replaces: Option<u32>,
}

impl DocumentFile {
    /// Reserves a place. An existing file must be regular and made by this program; `ours` is
    /// called with its beginning.
    ///
    /// # Errors
    /// If there is another file, or none can be written there.
    pub(crate) fn claim(
        path: &Path,
        ours: impl FnOnce(&[u8]) -> bool,
    ) -> anyhow::Result<DocumentFile> {
        let shown = path.display();
        let parent = Dir::parent_of(path).with_context(|| format!("cannot write `{shown}`"));
        let (dir, name) = parent.map(|(dir, name)| (Arc::new(dir), name))?;
        let replaces = match dir.status_of(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("cannot look at `{shown}`")),
            Ok(there) => {
                let is_regular = there.kind == FileKind::Regular;
                ensure!(is_regular, "`{shown}` is not a regular file, and is not overwritten");
                let beginning = beginning_of(&dir, &name);
                let beginning = beginning.with_context(|| format!("cannot read `{shown}`"))?;
                ensure!(
                    ours(&beginning),
                    "`{shown}` was not written by steadfast, and is not overwritten"
                );
                Some(there.mode & 0o777)
            }
        };
        // Dropped at once. It shows whether a file can be created there.
        Draft::document(&dir).with_context(|| format!("cannot write `{shown}`"))?;
        Ok(DocumentFile { path: path.to_owned(), dir, name, replaces })
    }

    /// Writes a draft beside the file first, so a full disk leaves the earlier document.
    ///
    /// # Errors
    /// Those of the system; also if a file has appeared since the place was reserved.
    pub(crate) fn write(self, document: &[u8]) -> anyhow::Result<()> {
        let existing = self.replaces.map_or(Existing::Keep, |_| Existing::Replace);
        self.write_as(&self.name, document, existing)
    }

    /// Writes a partial document. If there was one before, it is kept: the partial one is written
    /// beside it, and its path is returned.
    ///
    /// # Errors
    /// The system's.
    #[cfg(feature = "companions")]
    pub(crate) fn write_partial(self, document: &[u8]) -> anyhow::Result<Option<PathBuf>> {
        if self.replaces.is_none() {
            return self.write(document).map(|()| None);
        }
        let mut name = self.name.clone();
        name.push(format!(".{:016x}.part", by_chance()));
        self.write_as(&name, document, Existing::Keep)?;
        Ok(Some(self.path.with_file_name(name)))
    }

    fn write_as(&self, name: &OsStr, document: &[u8], existing: Existing) -> anyhow::Result<()> {
        let put = || {
            let Some(mode) = self.replaces else {
                let mut draft = Draft::document(&self.dir)?;
                draft.write_all(document)?;
                return draft.publish(name, existing);
            };
            let mut draft = Draft::new(&self.dir)?;
            draft.write_all(document)?;
            // Not every volume has rights.
            let _ = draft.to_file()?.set_mode(mode);
            draft.publish(name, existing)
        };
        put()
            .with_context(|| format!("cannot write `{}`", self.path.with_file_name(name).display()))
    }
}

/// Reads the beginning of a file in a folder, through no link.
fn beginning_of(dir: &Dir, name: &OsStr) -> io::Result<Vec<u8>> {
    let file = dir.open_file(name)?;
    let mut beginning = vec![0; BEGINNING_LEN];
    let length = file.read_at(&mut beginning, 0)?;
    beginning.truncate(length);
    Ok(beginning)
}

/// Whether a file begins as a report of this program does, in any of its forms.
pub(crate) fn is_report(beginning: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(&beginning[..beginning.len().min(400)]) else { return false };
    let begins = |with: &str| text.starts_with(with);
    begins("section,table,row,column,value,low,high,unit,document")
        || begins("{\n  \"format\": \"steadfast report\"")
        || (begins("<!DOCTYPE html>") && text.contains("name=\"generator\" content=\"steadfast\""))
        || (begins("<svg ") && text.contains("<!-- steadfast report -->"))
        || begins("<!-- steadfast report -->\n")
}

/// Whether a file begins as a record of measurements does.
pub(crate) fn is_record(beginning: &[u8]) -> bool {
    beginning.starts_with(b"{\n  \"format\": \"steadfast record\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn listed(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("it is there").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_only_speaks_of_us_is_not_ours() {
        for text in ["My notes on using steadfast", "<p>steadfast</p>", "\"steadfast record\""] {
            assert!(!is_report(text.as_bytes()) && !is_record(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn neighbours_and_links_stay_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("photo.jpg"), "mine").expect("written");
        fs::write(path("one.json.part"), "mine").expect("written");
        std::os::unix::fs::symlink("photo.jpg", path("link.json")).expect("a link");
        assert!(DocumentFile::claim(&path("link.json"), |_| true).is_err());
        let file = DocumentFile::claim(&path("one.json"), is_record).expect("nothing is there");
        file.write(b"document").expect("written");
        assert_eq!(listed(folder.path()), ["link.json", "one.json", "one.json.part", "photo.jpg"]);
        assert_eq!(fs::read(path("photo.jpg")).expect("read"), b"mine");
        assert_eq!(fs::read(path("one.json.part")).expect("read"), b"mine");
    }

    #[test]
    fn a_part_does_not_replace_the_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("one.json");
        let whole = b"{\n  \"format\": \"steadfast record\", whole";
        DocumentFile::claim(&path, is_record).expect("a place").write(whole).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("changed");
        DocumentFile::claim(&path, is_record).expect("a place").write(whole).expect("written");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
        let file = DocumentFile::claim(&path, is_record).expect("it is ours");
        let beside = file.write_partial(b"part").expect("written").expect("beside it");
        assert_eq!(fs::read(&path).expect("read"), whole);
        assert_eq!(fs::read(beside).expect("read"), b"part");
    }

    #[test]
    fn a_claim_is_not_to_be_seen_and_a_bad_place_is_told_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("one.json");
        let claimed = DocumentFile::claim(&path, is_record).expect("a place");
        assert!(listed(folder.path()).is_empty());
        fs::create_dir(&path).expect("made");
        assert!(claimed.write(b"document").is_err(), "it would stand in place of a folder");
        assert_eq!(listed(folder.path()), ["one.json"]);
        assert!(DocumentFile::claim(&folder.path().join("gone/one.json"), is_record).is_err());
        assert!(DocumentFile::claim(Path::new("/dev/null"), |_| true).is_err());
    }
}
