//! Detection, reading and writing of every format.
//!
//! A `bitrot` database is only detected here. The caller reads and writes it by SQLite.

use std::ffi::OsStr;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use steadfast_digest::Algorithm;
use steadfast_time::names::NameBytes as _;

use crate::sums::{self, Ending, Line};
use crate::wide::{self, WideText};
use crate::write::Put;
use crate::{DocumentPlace, Fault, FaultKind, Format, Record};
use crate::{bagit, bitrot, chkbit, hashdeep, mhl, mtree, ni, objects, ocfl, sfv, steadfast};

impl Format {
    /// Bytes of a document that [`Format::detect`] needs.
    pub const HEAD_LEN: usize = 4_096;

    /// Detects the format of a document by its name and its first [`Format::HEAD_LEN`] bytes.
    /// `None` if no format matches.
    pub fn detect(name: &Path, head: &[u8]) -> Option<Format> {
        let head = &head[..head.len().min(Format::HEAD_LEN)];
        let text = wide::is_wide(head).then(|| wide::head_of_wide(head));
        let head = text.as_deref().unwrap_or(head);
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        by_mark(head).or_else(|| by_name(name)).or_else(|| by_line(head))
    }
}

/// By bytes with which no other format begins.
fn by_mark(head: &[u8]) -> Option<Format> {
    let solid = |byte: &u8| !byte.is_ascii_whitespace();
    let compact: Vec<u8> = head.iter().copied().filter(solid).collect();
    let text = head.trim_ascii_start();
    let ocfl = b"https://ocfl.io/";
    let is_mtree = |line: &[u8]| line.starts_with(b"/set ") || line.starts_with(b". type=dir");
    if head.starts_with(bitrot::MAGIC) {
        Some(Format::Bitrot)
    } else if head.starts_with(hashdeep::MAGIC) {
        Some(Format::Hashdeep)
    } else if compact.starts_with(steadfast::MAGIC) {
        Some(Format::Steadfast)
    } else if compact.starts_with(chkbit::DATABASE_MAGIC) {
        Some(Format::ChkbitDatabase)
    } else if objects::MAGICS.iter().any(|magic| compact.starts_with(magic)) {
        Some(Format::Objects)
    } else if compact.starts_with(b"{\"v\":") {
        Some(Format::Chkbit)
    } else if compact.starts_with(b"{\"") && head.windows(ocfl.len()).any(|part| part == ocfl) {
        Some(Format::Ocfl)
    } else if text.starts_with(b"#mtree") || head.split(|&byte| byte == b'\n').any(is_mtree) {
        Some(Format::Mtree)
    } else if compact.starts_with(b"<hashlist") || is_mhl(head) {
        Some(Format::Mhl)
    } else if text.starts_with(b"ni:") || text.starts_with(b"nih:") {
        Some(Format::Ni)
    } else {
        None
    }
}

/// An XML document whose root, after the declaration, is a hash list.
fn is_mhl(head: &[u8]) -> bool {
    let root = b"<hashlist";
    head.trim_ascii_start().starts_with(b"<?xml") && head.windows(root.len()).any(|it| it == root)
}

fn by_name(name: &Path) -> Option<Format> {
    let name = name.file_name()?.to_str()?;
    let lower = name.to_ascii_lowercase();
    match lower.as_str() {
        chkbit::INDEX_NAME => Some(Format::Chkbit),
        chkbit::DATABASE_NAME => Some(Format::ChkbitDatabase),
        "inventory.json" => Some(Format::Ocfl),
        _ if bagit::algorithm_of(&lower).is_some() => Some(Format::Bagit),
        _ if lower.ends_with(".sfv") => Some(Format::Sfv),
        _ if lower.ends_with(".mtree") => Some(Format::Mtree),
        _ if lower.ends_with(".mhl") => Some(Format::Mhl),
        _ => None,
    }
}

/// By the first line that is not empty.
fn by_line(head: &[u8]) -> Option<Format> {
    if head.contains(&0) {
        let first = head.split(|&byte| byte == 0).next().unwrap_or_default();
        let line = Line::parse(first, Some(Algorithm::Sha256), Ending::Nul);
        return (line.is_ok() || Line::parse(first, None, Ending::Nul).is_ok())
            .then_some(Format::GnuZero);
    }
    let mut lines = head.split(|&byte| byte == b'\n');
    // What a signature covers begins after its own heading.
    let is_signed = head.starts_with(sums::SIGNED);
    let mut is_header = is_signed;
    let line = lines.find(|line| {
        let is_empty = matches!(line, [] | [b'\r']);
        let is_passed = is_header || is_empty || matches!(line, [b'#' | b';', ..]);
        is_header &= !is_empty;
        !is_passed
    });
    let begins_with_comment = head.first() == Some(&b';');
    let Some(line) = line.filter(|line| Line::parse(line, None, Ending::Newline).is_ok()) else {
        return begins_with_comment.then_some(Format::Sfv);
    };
    let plain = line.trim_ascii_start();
    let plain = plain.strip_prefix(b"\\").unwrap_or(plain);
    let hex = plain.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    match plain.get(hex) {
        Some(b' ' | b'\t') if hex >= 32 => Some(Format::Gnu),
        _ if plain.windows(3).any(|three| three == b")= ") => Some(Format::Openssl),
        _ => Some(Format::Bsd),
    }
}

/// Returns the algorithm from the name of a document: `SHA256SUMS`, `a.b3`, `manifest-sha512.txt`.
/// For formats whose lines do not name it.
pub fn algorithm_hint(name: &Path) -> Option<Algorithm> {
    let name = name.file_name()?.to_str()?.to_ascii_lowercase();
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let stems = words.map(|word| {
        let word = word.strip_suffix('s').unwrap_or(word);
        word.strip_suffix("sum").unwrap_or(word)
    });
    stems.filter(|stem| stem.len() > 1).find_map(|stem| stem.parse().ok())
}

/// Reads a document that has a digest and no name, such as `a.iso.sha256`: the file is the one that
/// the document is named after. `None` if it is no such document.
pub fn lone_digest(document: &Path, head: &[u8]) -> Option<Record> {
    let text = wide::is_wide(head).then(|| wide::head_of_wide(head));
    let head = text.as_deref().unwrap_or(head);
    let hex = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii();
    let named = document.extension()?.to_str()?.parse::<Algorithm>().ok();
    let algorithm = named.or_else(|| algorithm_hint(Path::new(document.extension()?)))?;
    let digest = sums::digest_of(hex, algorithm).ok()?;
    let name = document.file_stem()?.as_bytes().to_vec();
    Some(Record { digests: vec![(algorithm, digest)], ..Record::new(name) })
}

/// Returns the directory to which the paths of a document are relative: the one that contains it,
/// or, of a list in the folder of a history, the one above.
///
/// Tools that were run elsewhere wrote paths relative to that place, which no document records.
pub fn root_of(format: Format, document: &Path) -> PathBuf {
    let is_history = |parent: &&Path| parent.file_name() == Some(OsStr::new(mhl::FOLDER));
    let parent = match document.parent() {
        Some(folder) if format == Format::Mhl && is_history(&folder) => folder.parent(),
        parent => parent,
    };
    match parent {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Returns the writer of a format; `None` for OCFL, MHL and
/// lists of objects, which are read only, and for `bitrot`,
/// whose documents are SQLite databases.
///
/// Of records with several digests, only that of `algorithm` is written. Without it all are, or the
/// first if the format holds one per file.
pub fn put(format: Format, algorithm: Option<Algorithm>) -> Option<Box<dyn Put + Send>> {
    Some(match format {
        Format::Steadfast => Box::new(steadfast::ManifestLines::new(algorithm)),
        Format::Gnu => Box::new(sums::Untagged { algorithm, ending: Ending::Newline }),
        Format::GnuZero => Box::new(sums::Untagged { algorithm, ending: Ending::Nul }),
        Format::Bsd => Box::new(sums::Tagged { algorithm }),
        Format::Openssl => Box::new(sums::Openssl { algorithm }),
        Format::Hashdeep => Box::new(hashdeep::HashdeepLines::new(algorithm)),
        Format::Bagit => Box::new(bagit::BagitLines { algorithm }),
        Format::Chkbit => Box::new(chkbit::IndexWriter::new(algorithm, false)),
        Format::ChkbitDatabase => Box::new(chkbit::IndexWriter::new(algorithm, true)),
        Format::Sfv => Box::new(sfv::SfvLines::default()),
        Format::Ni => Box::new(ni::NiLines { algorithm }),
        Format::Mtree => Box::new(mtree::EntryWriter::new(algorithm)),
        Format::Ocfl | Format::Mhl | Format::Objects | Format::Bitrot => return None,
    })
}

/// The records of one document, each valid or faulty by itself.
///
/// After a faulty line or row, the next may follow. A fault that makes the rest unreadable is the
/// last item.
pub struct Records<'a>(Box<dyn Iterator<Item = Result<Record, Fault>> + Send + 'a>);

/// Reads a document in constant memory. A `bitrot` database gives a fault, because it needs SQLite.
///
/// `algorithm` is that of digests whose format does not name it; see [`algorithm_hint`]. Without
/// it, the length of a digest determines it.
pub fn read<'a>(
    format: Format,
    algorithm: Option<Algorithm>,
    reader: impl BufRead + Send + 'a,
) -> Records<'a> {
    read_boxed(format, algorithm, Box::new(reader))
}

fn read_boxed<'a>(
    format: Format,
    algorithm: Option<Algorithm>,
    mut reader: Box<dyn BufRead + Send + 'a>,
) -> Records<'a> {
    let head = match reader.fill_buf() {
        Ok(head) => head,
        // The reader of the format gets the same error again and reports it.
        Err(_) => &[],
    };
    if wide::is_wide(head) && format != Format::Bitrot {
        return read_boxed(format, algorithm, Box::new(BufReader::new(WideText::new(reader))));
    }
    // A NUL does not occur in lines of text.
    let ending = match format {
        Format::Gnu if !head.contains(&0) => Ending::Newline,
        Format::Gnu | Format::GnuZero => Ending::Nul,
        _ => Ending::Newline,
    };
    Records(match format {
        Format::Steadfast => Box::new(steadfast::ManifestRecords::new(reader)),
        Format::Gnu | Format::GnuZero | Format::Bsd | Format::Openssl => {
            Box::new(sums::records(reader, algorithm, ending))
        }
        Format::Hashdeep => Box::new(hashdeep::records(reader)),
        Format::Bagit => {
            Box::new(bagit::records(reader, algorithm, bagit::Version::ENCODES_PERCENT))
        }
        Format::Chkbit => Box::new(chkbit::records(reader, false)),
        Format::ChkbitDatabase => Box::new(chkbit::records(reader, true)),
        Format::Bitrot => {
            let what = "a `bitrot` database can be read with SQLite only";
            Box::new(std::iter::once(Err(Fault::new(
                DocumentPlace::Document,
                FaultKind::Unsupported,
                what,
            ))))
        }
        Format::Sfv => Box::new(sfv::records(reader)),
        Format::Ni => Box::new(ni::records(reader)),
        Format::Objects => Box::new(objects::records(reader)),
        Format::Ocfl => Box::new(ocfl::records(reader)),
        Format::Mhl => Box::new(mhl::records(reader)),
        Format::Mtree => Box::new(mtree::EntryParser::new(reader)),
    })
}

impl<'a> Records<'a> {
    /// Makes records from those that the caller reads.
    pub fn of(records: impl Iterator<Item = Result<Record, Fault>> + Send + 'a) -> Records<'a> {
        Records(Box::new(records))
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_documents_tell_algorithms() {
        for (name, algorithm) in [
            ("SHA256SUMS", Some(Algorithm::Sha256)),
            ("x/SHA512SUMS.txt", Some(Algorithm::Sha512)),
            ("md5sum", Some(Algorithm::Md5)),
            ("a.tar.sha1", Some(Algorithm::Sha1)),
            ("photos.b3", Some(Algorithm::Blake3)),
            ("B2SUMS", Some(Algorithm::Blake2b)),
            ("manifest-sha256.txt", Some(Algorithm::Sha256)),
            ("checksums.txt", None),
            ("s", None),
            ("..", None),
        ] {
            assert_eq!(algorithm_hint(Path::new(name)), algorithm, "{name}");
        }
    }

    #[test]
    fn paths_are_relative_to_the_documents_folder() {
        assert_eq!(root_of(Format::Gnu, Path::new("a/SHA256SUMS")), Path::new("a"));
        assert_eq!(root_of(Format::Gnu, Path::new("SHA256SUMS")), Path::new("."));
        let list = Path::new("card/ascmhl/0001_card.mhl");
        assert_eq!(root_of(Format::Mhl, list), Path::new("card"));
        assert_eq!(root_of(Format::Mhl, Path::new("ascmhl/0001.mhl")), Path::new("."));
        assert_eq!(root_of(Format::Mhl, Path::new("card/card.mhl")), Path::new("card"));
        assert_eq!(root_of(Format::Bitrot, Path::new("/a/.bitrot.db")), Path::new("/a"));
    }
}
