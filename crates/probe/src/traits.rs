//! The properties of a file system that concern tags and names, determined by trying.
//!
//! Properties that could not be determined are `None`.

use std::fs;
use std::io;
use std::path::Path;
use steadfast_sys::names::NameBytes as _;
use strum::IntoStaticStr;

use steadfast::event::FileError;
use steadfast_sys::file::{AlignedBuffer, DirectAlignment, File};
use steadfast_sys::xattr;

use crate::folder::{self, Folder};
use crate::sample::{MTIME, ProbeSample};

/// The properties of a file system.
#[derive(Clone, Debug)]
pub struct Traits {
    /// Whether files can have attributes.
    pub attributes: Result<(), FileError>,
    /// Length of the longest attribute value in bytes, up to a mebibyte.
    pub value_len_max: Option<u64>,
    /// Space that a tag takes in addition to its file, in bytes, as the file system counts it.
    pub tag_space_bytes: Option<u64>,
    /// Precision of modification times, in nanoseconds.
    pub mtime_step_ns: Option<u64>,
    /// Whether two names may differ by case only.
    pub case_sensitive: Option<bool>,
    /// The treatment of composed and decomposed spellings of a letter.
    pub normalisation: Option<Normalisation>,
    /// Whether names may contain bytes that are not UTF-8.
    pub any_bytes: Option<bool>,
    /// Length of the longest name, in `name_unit`.
    pub name_len_max: Option<u64>,
    /// The unit of the lengths of names.
    pub name_unit: NameUnit,
    /// Whether reading past the page cache works.
    pub direct: Direct,
}

/// The treatment of composed and decomposed spellings of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Normalisation {
    /// They are different names.
    Distinct,
    /// They are the same name, which is stored as given.
    Alike,
    /// Names are stored composed (NFC).
    Composed,
    /// Names are stored decomposed (NFD).
    Decomposed,
}

/// The unit of the length of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum NameUnit {
    /// Bytes.
    #[default]
    Bytes,
    /// Characters, or units of UTF-16.
    Characters,
}

/// The result of requesting direct reads.
#[derive(Clone, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Direct {
    /// They are direct if aligned in this way.
    Aligned(DirectAlignment),
    /// They are accepted, but served through the page cache.
    Cached,
    /// They are accepted, and the system does not tell whether they are direct.
    Untold,
    /// They are refused.
    Refused(FileError),
}

/// The longest value that is tried, in bytes. Linux allows 64 KiB.
const VALUE_LEN_TRIED_MAX: u64 = 1 << 20;

/// The longest name that is tried.
const NAME_LEN_TRIED_MAX: u64 = 1024;

/// Precisions of clocks, in nanoseconds, the finest first; those of the verdicts.
const STEPS_NS: [i128; 7] = [1, 100, 1_000, 1_000_000, 10_000_000, 1_000_000_000, 2_000_000_000];

/// Length of the file for trying direct reads, in bytes: a block of any device.
const DIRECT_LEN: usize = 4096;

const COMPOSED: &str = "\u{e9}";
const DECOMPOSED: &str = "e\u{301}";

impl Traits {
    /// Determines them.
    ///
    /// # Errors
    ///
    /// If no file can be made.
    pub(super) fn of(folder: &Folder, sample: &ProbeSample) -> io::Result<Traits> {
        let drawer = folder.drawer("traits")?;
        let path = drawer.join("file");
        folder::write_new(&path, &[7; DIRECT_LEN], None)?;
        let file = File::open(&path)?;
        let attributes = folder::set_attribute(&file, xattr::TAG, sample.tag_value())
            .map_err(|error| FileError::from_io("set an attribute", &error));
        let names = folder.drawer("names")?;
        let name_len_max = longest_name(&names, "n");
        let fits_twice = |len: u64| name_works(&names, &COMPOSED.repeat(len as usize));
        let in_characters = name_len_max.is_some_and(fits_twice);
        Ok(Traits {
            value_len_max: attributes.is_ok().then(|| longest_value(&drawer)).flatten(),
            tag_space_bytes: attributes.is_ok().then(|| tag_space(&drawer, sample).ok()).flatten(),
            attributes,
            mtime_step_ns: mtime_step(&drawer, sample),
            case_sensitive: case_sensitive(&drawer),
            normalisation: normalisation(&folder.drawer("spellings")?),
            any_bytes: folder::write_new(&drawer.join(Path::from_bytes(b"\xff")), b"", None)
                .map(|()| true)
                .or_else(|error| refused(&error))
                .ok(),
            name_len_max,
            name_unit: if in_characters { NameUnit::Characters } else { NameUnit::Bytes },
            direct: direct(&file),
        })
    }
}

/// A refused name is a result. Other errors are not.
fn refused(error: &io::Error) -> Result<bool, ()> {
    // The errors for such a name: EILSEQ, EINVAL, or "not a file name".
    match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename => Ok(false),
        io::ErrorKind::StorageFull | io::ErrorKind::PermissionDenied => Err(()),
        _ => Ok(false),
    }
}

/// Finds the longest value. Each is tried on a file without other attributes.
fn longest_value(drawer: &Path) -> Option<u64> {
    let path = drawer.join("value");
    longest(VALUE_LEN_TRIED_MAX, |len| {
        let tried = folder::write_new(&path, b"", None).and_then(|()| {
            let file = File::open(&path)?;
            folder::set_attribute(&file, xattr::TAG, &vec![b'v'; len as usize])
        });
        let _ = folder::remove(&path);
        tried.is_ok()
    })
}

fn longest_name(drawer: &Path, letter: &str) -> Option<u64> {
    longest(NAME_LEN_TRIED_MAX, |len| name_works(drawer, &letter.repeat(len as usize)))
}

fn name_works(drawer: &Path, name: &str) -> bool {
    let path = drawer.join(name);
    folder::write_new(&path, b"", None).and_then(|()| folder::remove(&path)).is_ok()
}

/// Finds the largest number up to `max` that works, if all smaller ones work.
fn longest(max: u64, mut works: impl FnMut(u64) -> bool) -> Option<u64> {
    let (mut good, mut bad) = (0, max + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if works(middle) { good = middle } else { bad = middle }
    }
    (good > 0).then_some(good)
}

/// Returns by how many bytes a file is larger with a tag than without.
fn tag_space(drawer: &Path, sample: &ProbeSample) -> io::Result<u64> {
    let path = drawer.join("space");
    folder::write_new(&path, b"some contents", None)?;
    let file = File::open(&path)?;
    let before = file.allocated_bytes()?;
    folder::set_attribute(&file, xattr::TAG, sample.tag_value())?;
    Ok(file.allocated_bytes()?.saturating_sub(before))
}

/// Determines the precision of modification times from a time that no coarser step divides.
fn mtime_step(drawer: &Path, sample: &ProbeSample) -> Option<u64> {
    let path = drawer.join("time");
    // If attributes cannot be set, the file is still made with its time.
    let _ = sample.write(&path);
    let kept = File::open(&path).and_then(|file| file.status()).ok()?.mtime.as_nanoseconds();
    let given = MTIME.as_nanoseconds();
    let is_step = |step: &&i128| {
        let down = given.div_euclid(**step) * **step;
        kept == down || kept == down + **step && **step > 1
    };
    STEPS_NS.iter().find(is_step).map(|step| *step as u64)
}

fn case_sensitive(drawer: &Path) -> Option<bool> {
    folder::write_new(&drawer.join("case"), b"", None).ok()?;
    Some(fs::symlink_metadata(drawer.join("CASE")).is_err())
}

fn normalisation(drawer: &Path) -> Option<Normalisation> {
    folder::write_new(&drawer.join(COMPOSED), b"", None).ok()?;
    let stored = fs::read_dir(drawer).ok()?.next()?.ok()?.file_name();
    let is_found = |name| fs::symlink_metadata(drawer.join(name)).is_ok();
    if stored.as_bytes() == DECOMPOSED.as_bytes() {
        return Some(Normalisation::Decomposed);
    }
    if !is_found(DECOMPOSED) {
        return Some(Normalisation::Distinct);
    }
    // To tell names stored as given from composed ones, tries the other spelling of another letter.
    folder::remove(&drawer.join(COMPOSED)).ok()?;
    folder::write_new(&drawer.join(DECOMPOSED), b"", None).ok()?;
    let stored = fs::read_dir(drawer).ok()?.next()?.ok()?.file_name();
    Some(match stored.as_bytes() == COMPOSED.as_bytes() {
        true => Normalisation::Composed,
        false => Normalisation::Alike,
    })
}

fn direct(file: &File) -> Direct {
    let mut buffer = AlignedBuffer::new(DIRECT_LEN);
    let read = file.set_uncached().and_then(|()| file.read_at(&mut buffer, 0));
    match read.and_then(|_| file.direct_alignment()) {
        Ok(Some(alignment)) => Direct::Aligned(alignment),
        Ok(None) => Direct::Cached,
        // Reading worked. Only the query is too new, or not supported by this file system.
        Err(_) if buffer[0] == 7 => Direct::Untold,
        Err(error) => Direct::Refused(FileError::from_io("read directly", &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_that_works_is_found() {
        for limit in [1, 2, 255, 1023, 1024] {
            assert_eq!(longest(1024, |len| len <= limit), Some(limit));
        }
        assert_eq!(longest(1024, |_| false), None);
    }
}
