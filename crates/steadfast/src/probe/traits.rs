//! What a file system is like, as far as tags and names are concerned: found by trying.
//!
//! In: a folder. Out: [`Traits`]. What cannot be found out is `None`.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use steadfast_sys::file::{AlignedBuffer, DirectAlignment, File};
use steadfast_sys::xattr;

use super::folder::{self, Folder};
use super::sample::{MTIME, Sample};
use crate::event::FileError;

/// What a file system is like.
#[derive(Clone, Debug)]
pub struct Traits {
    /// Whether files can have attributes.
    pub attributes: Result<(), FileError>,
    /// Length of the longest value that an attribute can have, in bytes, up to a mebibyte.
    pub value_len_max: Option<u64>,
    /// Space that a tag took beside its file, in bytes, as far as the file system counts it.
    pub tag_space_bytes: Option<u64>,
    /// Step of modification times, in nanoseconds.
    pub mtime_step_ns: Option<u64>,
    /// Whether names may differ by case alone.
    pub case_sensitive: Option<bool>,
    /// What becomes of two spellings of one accented letter.
    pub normalisation: Option<Normalisation>,
    /// Whether names may be bytes that are no UTF-8.
    pub any_bytes: Option<bool>,
    /// Length of the longest name, counted as `name_unit` says.
    pub name_len_max: Option<u64>,
    /// What the length of names is counted in.
    pub name_unit: NameUnit,
    /// Whether reading past the page cache works.
    pub direct: Direct,
}

/// What a file system makes of composed and decomposed spellings of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Normalisation {
    /// They are two names.
    Distinct,
    /// They are one name, kept as it was given.
    Alike,
    /// Names are kept composed (NFC).
    Composed,
    /// Names are kept decomposed (NFD).
    Decomposed,
}

/// What the length of a name is counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NameUnit {
    /// Bytes.
    #[default]
    Bytes,
    /// Characters, or units of UTF-16.
    Characters,
}

/// What became of asking for direct reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Direct {
    /// They are direct, if aligned so.
    Aligned(DirectAlignment),
    /// They are granted and served through the page cache.
    Cached,
    /// They are granted, and nobody says whether they are direct.
    Untold,
    /// They are refused.
    Refused(FileError),
}

/// The longest value that is tried. Linux allows 64 KiB.
const VALUE_LEN_TRIED_MAX: u64 = 1 << 20;

/// The longest name that is tried.
const NAME_LEN_TRIED_MAX: u64 = 1024;

/// Steps of clocks, in nanoseconds, finest first: see the verdicts.
const STEPS_NS: [i128; 7] = [1, 100, 1_000, 1_000_000, 10_000_000, 1_000_000_000, 2_000_000_000];

/// Length of the file that direct reads are tried with, in bytes: any device's block.
const DIRECT_LEN: usize = 4096;

const COMPOSED: &str = "\u{e9}";
const DECOMPOSED: &str = "e\u{301}";

impl Traits {
    /// Finds them out.
    ///
    /// # Errors
    /// If not even a file can be made.
    pub(super) fn of(folder: &Folder, sample: &Sample) -> io::Result<Traits> {
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
            any_bytes: folder::write_new(&drawer.join(OsStr::from_bytes(b"\xff")), b"", None)
                .map(|()| true)
                .or_else(|error| refused(&error))
                .ok(),
            name_len_max,
            name_unit: if in_characters { NameUnit::Characters } else { NameUnit::Bytes },
            direct: direct(&file),
        })
    }
}

/// A refusal of a name is an answer; other errors are none.
fn refused(error: &io::Error) -> Result<bool, ()> {
    // What systems say of such a name: EILSEQ, EINVAL, or that it is no file name.
    match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename => Ok(false),
        io::ErrorKind::StorageFull | io::ErrorKind::PermissionDenied => Err(()),
        _ => Ok(false),
    }
}

/// Finds the longest value, each tried on a file that has no other.
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

/// Finds the largest number up to `max` that works, where all below it do.
fn longest(max: u64, mut works: impl FnMut(u64) -> bool) -> Option<u64> {
    let (mut good, mut bad) = (0, max + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if works(middle) { good = middle } else { bad = middle }
    }
    (good > 0).then_some(good)
}

/// How many bytes more a file occupies with a tag than without.
fn tag_space(drawer: &Path, sample: &Sample) -> io::Result<u64> {
    let path = drawer.join("space");
    folder::write_new(&path, b"some contents", None)?;
    let occupied = || fs::symlink_metadata(&path).map(|found| 512 * found.blocks());
    let before = occupied()?;
    folder::set_attribute(&File::open(&path)?, xattr::TAG, sample.tag_value())?;
    Ok(occupied()?.saturating_sub(before))
}

/// Finds the step of modification times from one that no coarser step divides.
fn mtime_step(drawer: &Path, sample: &Sample) -> Option<u64> {
    let path = drawer.join("time");
    // Where attributes cannot be set the file is there all the same, with its time.
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
    // Kept as given, or composed? The other spelling of another letter tells.
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
        // Reading worked; only the question was too new, or not for this file system.
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
