//! Reads the AppleDouble file beside a file: `._name` beside `name`.
//!
//! `steadfast_manifest` finds its parts in the bytes. A sidecar is metadata of
//! another file, so it is never tagged as data.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use steadfast_manifest::appledouble::{PREFIX, check_header};
use steadfast_sys::file::{Dir, File, FileKind, Status};
use steadfast_sys::names::NameBytes as _;

pub use steadfast_manifest::appledouble::{
    AppleDouble, AppleDoubleAttribute, AppleDoubleEntry, AppleDoubleFault, AppleDoubleSpan,
    FINDER_INFO, HEAD_LEN_MAX, MAGIC_LEN, RESOURCE_FORK, companion, is_appledouble,
};

/// Reads the beginning of a file and parses it.
///
/// # Errors
///
/// `InvalidData` with an [`AppleDoubleFault`] if it is not AppleDouble; otherwise if it cannot be
/// read.
pub fn read(file: &File) -> io::Result<AppleDouble> {
    let file_len = file.status()?.length;
    let unusable = |fault| io::Error::new(io::ErrorKind::InvalidData, fault);
    let mut first = [0; MAGIC_LEN];
    let len = read_up_to(file, &mut first, 0)?;
    // A file that only has such a name is refused before more of it is read.
    check_header(&first[..len]).map_err(unusable)?;
    let head_len = usize::try_from(file_len).map_or(HEAD_LEN_MAX, |len| len.min(HEAD_LEN_MAX));
    let mut head = vec![0; head_len];
    let len = read_up_to(file, &mut head, 0)?;
    AppleDouble::parse(&head[..len], file_len).map_err(unusable)
}

/// Reads a part of a file; `None` if it is longer than `len_max`.
///
/// # Errors
///
/// `UnexpectedEof` if the file has become shorter; otherwise if it cannot be read.
pub fn read_span(
    file: &File,
    span: AppleDoubleSpan,
    len_max: usize,
) -> io::Result<Option<Vec<u8>>> {
    let Some(len) = usize::try_from(span.len).ok().filter(|len| *len <= len_max) else {
        return Ok(None);
    };
    let mut bytes = vec![0; len];
    match read_up_to(file, &mut bytes, span.offset)? == len {
        true => Ok(Some(bytes)),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Opens the AppleDouble file beside a path: `._name` for `name`. `None` if there is none, or if
/// the file is not AppleDouble. Does not follow a link.
///
/// # Errors
///
/// `InvalidData` with an [`AppleDoubleFault`] if it is AppleDouble and damaged; otherwise if it
/// cannot be opened or read.
pub fn open_beside(path: &Path) -> io::Result<Option<(File, AppleDouble)>> {
    let Some(name) = path.file_name() else { return Ok(None) };
    let mut sidecar = OsStr::from_bytes(PREFIX).to_owned();
    sidecar.push(name);
    // There nearly always is none, so its status is checked before it is opened.
    let status = Status::of_link(&path.with_file_name(&sidecar));
    if !status.is_ok_and(|status| status.kind == FileKind::Regular) {
        return Ok(None);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let file = Dir::open(parent.unwrap_or(Path::new(".")))?.open_file(&sidecar)?;
    let mut head = [0; MAGIC_LEN];
    let len = read_up_to(&file, &mut head, 0)?;
    if !is_appledouble(&head[..len]) {
        return Ok(None);
    }
    let double = read(&file)?;
    Ok(Some((file, double)))
}

/// Reads until the buffer is full or the file ends; returns how many bytes.
fn read_up_to(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}
