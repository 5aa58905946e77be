//! A document that is kept in a file: written whole or not at all, and never over something else.
//!
//! In: a path, and the document when it is ready. Out: the file. Whether it can be written is
//! tried before the work begins, so that an hour's measuring does not end in a refusal.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use steadfast_measure::scratch::by_chance;

/// Bytes at the beginning of a file by which it is known.
const BEGINNING_LEN: u64 = 512;

/// A place for a document. Until it is written, an empty file stands beside it under a name by
/// chance; it goes when this goes.
#[derive(Debug)]
pub(crate) struct DocumentFile {
    path: PathBuf,
    draft: PathBuf,
    /// Whether something of ours was there before.
    replaces: bool,
    /// Whether the draft is to stay.
    stays: bool,
}

impl DocumentFile {
    /// Claims a place. What is there may only be a regular file that this program made: `ours` is
    /// asked with its beginning.
    ///
    /// # Errors
    /// If something else is there, or nothing can be written there.
    pub(crate) fn claim(
        path: &Path,
        ours: impl FnOnce(&[u8]) -> bool,
    ) -> anyhow::Result<DocumentFile> {
        let shown = path.display();
        let Some(name) = path.file_name() else { bail!("`{shown}` is no name for a file") };
        let replaces = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error).with_context(|| format!("cannot look at `{shown}`")),
            Ok(there) => {
                ensure!(there.is_file(), "`{shown}` is no regular file, and is not overwritten");
                let mut beginning = Vec::new();
                File::open(path)
                    .and_then(|file| file.take(BEGINNING_LEN).read_to_end(&mut beginning))
                    .with_context(|| format!("cannot read `{shown}`"))?;
                ensure!(ours(&beginning), "`{shown}` is something else, and is not overwritten");
                true
            }
        };
        let mut draft = name.to_owned();
        draft.push(format!(".{:016x}.part", by_chance()));
        let draft = path.with_file_name(draft);
        File::create_new(&draft).with_context(|| format!("cannot write `{shown}`"))?;
        Ok(DocumentFile { path: path.to_owned(), draft, replaces, stays: false })
    }

    /// Writes the document beside its place first, so that a full disk leaves what was there.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn write(&self, document: &[u8]) -> anyhow::Result<()> {
        self.fill(document)
            .and_then(|()| fs::rename(&self.draft, &self.path))
            .with_context(|| format!("cannot write `{}`", self.path.display()))
    }

    /// Writes a document that is not whole. It does not replace one that was there before: then it
    /// stays beside it, and its name is returned.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn write_partial(&mut self, document: &[u8]) -> anyhow::Result<Option<PathBuf>> {
        if !self.replaces {
            return self.write(document).map(|()| None);
        }
        self.fill(document).with_context(|| format!("cannot write `{}`", self.draft.display()))?;
        self.stays = true;
        Ok(Some(self.draft.clone()))
    }

    fn fill(&self, document: &[u8]) -> io::Result<()> {
        let mut file = File::create(&self.draft)?;
        file.write_all(document)?;
        file.sync_all()
    }
}

impl Drop for DocumentFile {
    fn drop(&mut self) {
        // After `write` there is none; before, an empty one is nothing to keep.
        if !self.stays {
            let _ = fs::remove_file(&self.draft);
        }
    }
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
        drop(file);
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
        let mut file = DocumentFile::claim(&path, is_record).expect("it is ours");
        let beside = file.write_partial(b"part").expect("written").expect("beside it");
        drop(file);
        assert_eq!(fs::read(&path).expect("read"), whole);
        assert_eq!(fs::read(beside).expect("read"), b"part");
    }

    #[test]
    fn a_claim_that_is_not_used_leaves_nothing_and_a_bad_place_is_told_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(DocumentFile::claim(&folder.path().join("one.json"), is_record).expect("a place"));
        assert!(listed(folder.path()).is_empty());
        assert!(DocumentFile::claim(&folder.path().join("gone/one.json"), is_record).is_err());
        assert!(DocumentFile::claim(Path::new("/dev/null"), |_| true).is_err());
    }
}
