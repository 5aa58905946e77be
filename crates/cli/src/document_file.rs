//! A document that is kept in a file: written whole or not at all, and never over something else.
//!
//! In: a path, and the document when it is ready. Out: the file. Whether it can be written is
//! tried before the work begins, so that an hour's measuring does not end in a refusal. Nothing of
//! it is there while the work is done: a walk must not find what is no file of the tree's owner.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use steadfast_measure::scratch::by_chance;

/// Bytes at the beginning of a file by which it is known.
const BEGINNING_LEN: u64 = 512;

/// A place for a document, which is written beside it first, under a name by chance.
#[derive(Debug)]
pub(crate) struct DocumentFile {
    path: PathBuf,
    draft: PathBuf,
    /// Whether something of ours was there before.
    replaces: bool,
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
        File::create_new(&draft)
            .and_then(|_| fs::remove_file(&draft))
            .with_context(|| format!("cannot write `{shown}`"))?;
        Ok(DocumentFile { path: path.to_owned(), draft, replaces })
    }

    /// Writes the document beside its place first, so that a full disk leaves what was there.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn write(self, document: &[u8]) -> anyhow::Result<()> {
        let put = || {
            self.fill(document)?;
            // What could not be put in its place is of no use under a name that nobody knows.
            fs::rename(&self.draft, &self.path).inspect_err(|_| self.discard())
        };
        put().with_context(|| format!("cannot write `{}`", self.path.display()))
    }

    /// Writes a document that is not whole. It does not replace one that was there before: then it
    /// stays beside it, and its name is returned.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn write_partial(self, document: &[u8]) -> anyhow::Result<Option<PathBuf>> {
        if !self.replaces {
            return self.write(document).map(|()| None);
        }
        self.fill(document).with_context(|| format!("cannot write `{}`", self.draft.display()))?;
        Ok(Some(self.draft))
    }

    /// Writes the draft; one that is cut short does not stay.
    fn fill(&self, document: &[u8]) -> io::Result<()> {
        let mut file = File::create_new(&self.draft)?;
        file.write_all(document).and_then(|()| file.sync_all()).inspect_err(|_| self.discard())
    }

    fn discard(&self) {
        // One that cannot be removed is told of no more than why it was not written.
        let _ = fs::remove_file(&self.draft);
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
