//! Reads an installer package (`.pkg`): its table of contents, its signatures, and every file in it
//! against the checksums of the table.
//!
//! A package is a xar archive: a header, a compressed table in XML, and a heap. The signatures are
//! over the checksum of the table, and the table has a checksum of each file. Input: the bytes, and
//! who takes the contents of files. Output: facts and findings; whether a signature is valid is for
//! `signer` to say. A table that readers could take in different ways is refused.
//!
//! Source: the description of xar's format; published packages for what Apple's tools write.

mod table;

use std::io::{BufReader, Read};
use std::ops::Range;

use flate2::read::ZlibDecoder;
use lzma_rust2::XzReader;
use steadfast_digest::Algorithm;
use steadfast_sys::source::{Part, ReadAt, read_range};

use self::table::{Encoding, StoredFile, TableOfContents};
use crate::apple::AppleError;
use crate::certificate::Certificate;
use crate::error::{Error, ErrorKind};
use crate::fields::IntegerReader;
use crate::finding::{CodeFinding, FindingKind};
use crate::hash::CdHash;
use crate::pages::BytesVerdict;
use crate::signer::{PackageSeal, SignerVerdict};
use crate::stream::{HashingReader, SourceReader};

/// How a package begins.
const MAGIC: &[u8] = b"xar!";

/// The longest signature that is read.
const SIGNATURE_LEN_MAX: u64 = 1 << 20;

/// The most memory for the dictionary of compressed contents, in KiB. The strongest setting of the
/// usual tool needs 64 MiB.
pub(crate) const XZ_MEMORY_KIB: u32 = 70 << 10;

/// The trailer of a ticket, and the marks before and behind one.
const TRAILER_MAGIC: &[u8] = b"t8lr";
const TRAILER_LEN: u64 = 16;

/// The most findings about bytes that nothing covers.
const GAPS_MAX: usize = 100;

/// What a package contains under one name.
pub(crate) enum PackageEntry<'a> {
    /// A file; its contents can be read once.
    File(&'a mut dyn Read),
    Folder,
    /// A symlink, by its target.
    Symlink(Vec<u8>),
}

/// Takes an entry with its path, or refuses it.
pub(crate) type TakeEntry<'t> = dyn FnMut(&[u8], PackageEntry<'_>) -> Result<(), Error> + 't;

/// Where a ticket is in a file, with its marks, and the ticket.
type PlacedTicket = (Range<u64>, Vec<u8>);

/// An installer package.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Package {
    /// Length of the file.
    pub len_bytes: u64,
    /// The algorithm of the checksum of the table.
    pub algorithm: Algorithm,
    /// How many files it has; a payload is one of them.
    pub files: u64,
    /// What is wrong with its form or its files.
    pub findings: Vec<CodeFinding>,
    /// How many bytes were read and compared with checksums.
    pub read_bytes: u64,
    checksum: Vec<u8>,
    rsa: Option<Vec<u8>>,
    certificates: Vec<Certificate>,
    cms: Option<Vec<u8>>,
    ticket: Option<Vec<u8>>,
}

impl Package {
    /// Returns whether bytes begin as a package does.
    pub fn is_magic(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }

    /// Reads a package. `take` gets each entry in the order of the table, with its path; what it
    /// refuses becomes a finding.
    ///
    /// # Errors
    /// `Malformed` if the table cannot be understood or could be in different ways, `Unsupported`
    /// if it is too long, `System` if it cannot be read.
    pub(crate) fn read(source: &dyn ReadAt, take: &mut TakeEntry<'_>) -> Result<Package, Error> {
        let table = TableOfContents::read(source)?;
        let heap_at = table.heap_at;
        let signature = |range: &Range<u64>| {
            let len = range.end - range.start;
            if len > SIGNATURE_LEN_MAX {
                return Err(Error::new(ErrorKind::Unsupported, "a signature is too long"));
            }
            let read = read_range(source, heap_at + range.start, len);
            read.map_err(|error| Error::system("read the signature", error))
        };
        let ticket = ticket_range(source)?;
        let ticket_bytes = ticket.as_ref().map(|(_, bytes)| bytes.clone());
        let mut package = Package {
            len_bytes: source.len_bytes(),
            algorithm: table.algorithm,
            files: table.files.len() as u64,
            findings: Vec::new(),
            read_bytes: 0,
            rsa: table.rsa.as_ref().map(signature).transpose()?,
            cms: table.cms.as_ref().map(signature).transpose()?,
            certificates: table.certificates,
            ticket: ticket_bytes,
            checksum: table.checksum,
        };
        if signature(&table.stored_checksum)? != package.checksum {
            let text = "its table of contents was changed: it has another checksum";
            package.fail(None, text);
        }
        for (path, target) in table.links {
            let entry = target.map_or(PackageEntry::Folder, PackageEntry::Symlink);
            package.refuse(&path, take(&path, entry));
        }
        for file in &table.files {
            package.check(source, heap_at, file, take)?;
        }
        let mut used: Vec<Range<u64>> = table.used;
        used.iter_mut().for_each(|range| *range = range.start + heap_at..range.end + heap_at);
        used.extend(ticket.map(|(range, _)| range));
        package.find_gaps(source, heap_at, used)?;
        Ok(package)
    }

    /// Compares one file with its checksums, and passes its contents on.
    fn check(
        &mut self,
        source: &dyn ReadAt,
        heap_at: u64,
        file: &StoredFile,
        take: &mut TakeEntry<'_>,
    ) -> Result<(), Error> {
        let len_bytes = file.range.end - file.range.start;
        let Some(part) = Part::new(source, heap_at + file.range.start, len_bytes) else {
            return Err(Error::malformed("a file reaches beyond the end of the package"));
        };
        let raw = BufReader::with_capacity(1 << 18, SourceReader { source: &part, at: 0 });
        let Some((algorithm, expected)) = &file.archived else {
            let text = "no checksum covers it";
            let finding =
                CodeFinding::failure(FindingKind::Unsealed, AppleError::ResourcesNotSealed, text);
            self.findings.push(at(finding, &file.path));
            return Ok(());
        };
        let mut archived = HashingReader::new(raw, *algorithm);
        let (taken, contents) = file.pass_on(&mut archived, take);
        self.read_bytes += len_bytes;
        // What was not read is hashed, too.
        match archived.finish() {
            Err(error) => {
                let error = Error::system("read it", error);
                self.findings.push(at(CodeFinding::of_error(&error), &file.path));
            }
            Ok((_, digest)) if digest != *expected => {
                self.fail(Some(&file.path), "it was changed: it has another checksum");
            }
            Ok(_) if contents == Some(false) => {
                self.fail(Some(&file.path), "its contents have another checksum or length");
            }
            Ok(_) => self.refuse(&file.path, taken),
        }
        Ok(())
    }

    fn fail(&mut self, path: Option<&[u8]>, text: &str) {
        let (kind, error) = (FindingKind::ResourceModified, AppleError::BadResource);
        let finding = CodeFinding::failure(kind, error, text);
        self.findings.push(finding.at(|place| place.path = path.map(<[u8]>::to_vec)));
    }

    fn refuse(&mut self, path: &[u8], taken: Result<(), Error>) {
        if let Err(error) = taken {
            self.findings.push(at(CodeFinding::of_error(&error), path));
        }
    }

    /// Finds bytes other than zero that neither a checksum nor a signature covers.
    fn find_gaps(
        &mut self,
        source: &dyn ReadAt,
        heap_at: u64,
        mut used: Vec<Range<u64>>,
    ) -> Result<(), Error> {
        used.push(self.len_bytes..self.len_bytes);
        used.sort_by_key(|range| (range.start, range.end));
        let mut at = heap_at;
        let mut found = 0;
        for range in used {
            let gap = at..range.start;
            at = at.max(range.end);
            if gap.is_empty() || found == GAPS_MAX || is_zero(source, &gap)? {
                continue;
            }
            found += 1;
            let text = "bytes that neither a checksum nor a signature covers";
            let finding = CodeFinding::warning(FindingKind::Unsealed, text);
            self.findings.push(finding.at(|place| place.bytes = Some(gap)));
        }
        Ok(())
    }

    /// Returns the checksum of its table of contents, cut to the length of a CDHash: what a ticket
    /// of notarization lists.
    pub fn cdhash(&self) -> Option<CdHash> {
        CdHash::from_slice(&self.checksum)
    }

    /// Returns whether it has a signature.
    pub fn is_signed(&self) -> bool {
        self.rsa.is_some() || self.cms.is_some()
    }

    /// Verifies its signatures; `None` if it has none.
    pub fn signer(&self, trusted: &[Certificate]) -> Option<SignerVerdict> {
        let seal = PackageSeal {
            checksum: &self.checksum,
            algorithm: self.algorithm,
            rsa: self.rsa.as_deref(),
            certificates: &self.certificates,
            cms: self.cms.as_deref(),
        };
        self.is_signed().then(|| SignerVerdict::of_package(&seal, trusted))
    }

    /// Returns the bytes of the ticket that is stapled to it.
    pub(crate) fn ticket(&self) -> Option<&[u8]> {
        self.ticket.as_deref()
    }

    /// Returns the verdict on its bytes.
    pub(crate) fn bytes_verdict(&self, every_byte: bool) -> BytesVerdict {
        let mut findings = self.findings.clone();
        if every_byte {
            let gaps = findings.iter_mut().filter(|found| found.place.bytes.is_some());
            gaps.for_each(|found| found.severity = crate::finding::Severity::Failure);
        }
        BytesVerdict::of_package(findings, self.is_signed(), self.read_bytes)
    }
}

impl StoredFile {
    /// Passes the contents on. Returns what became of them, and whether they have their checksum
    /// and length, unless they could not be decoded.
    fn pass_on(
        &self,
        archived: &mut dyn Read,
        take: &mut TakeEntry<'_>,
    ) -> (Result<(), Error>, Option<bool>) {
        let decoded: Box<dyn Read + '_> = match self.encoding {
            Encoding::Plain => Box::new(archived),
            Encoding::Zlib => Box::new(ZlibDecoder::new(archived)),
            Encoding::Xz => Box::new(XzReader::new_mem_limit(archived, false, XZ_MEMORY_KIB)),
            Encoding::Other => {
                let text = "it is compressed in a way that is not supported";
                return (Err(Error::new(ErrorKind::Unsupported, text)), None);
            }
        };
        let (algorithm, expected) = match &self.extracted {
            Some((algorithm, expected)) => (*algorithm, Some(expected)),
            None => (Algorithm::Sha256, None),
        };
        let bounded = decoded.take(self.size.saturating_add(1));
        let mut contents = HashingReader::new(bounded, algorithm);
        let taken = take(&self.path, PackageEntry::File(&mut contents));
        match contents.finish() {
            Err(error) => (Err(Error::malformed(format!("its contents: {error}"))), None),
            Ok((len_bytes, digest)) => {
                let same = expected.is_none_or(|expected| *expected == digest);
                (taken, Some(same && len_bytes == self.size))
            }
        }
    }
}

fn at(finding: CodeFinding, path: &[u8]) -> CodeFinding {
    finding.at(|place| place.path = Some(path.to_vec()))
}

/// Returns where the ticket with its marks is, and the ticket: a mark, the ticket, and a mark with
/// its length, at the end of the file.
fn ticket_range(source: &dyn ReadAt) -> Result<Option<PlacedTicket>, Error> {
    let read = |at: u64, len: u64| {
        read_range(source, at, len).map_err(|error| Error::system("read the ticket", error))
    };
    let end = source.len_bytes();
    let Some(mark_at) = end.checked_sub(TRAILER_LEN) else { return Ok(None) };
    let mark = read(mark_at, TRAILER_LEN)?;
    let fields = IntegerReader::new(&mark, false);
    let len = fields.u32(8).map_or(0, u64::from);
    let first = mark_at.checked_sub(len).and_then(|at| at.checked_sub(TRAILER_LEN));
    let is_ticket = mark.starts_with(TRAILER_MAGIC) && fields.u16(6) == Some(2);
    let Some(first) = first.filter(|_| is_ticket && len <= crate::ticket::LEN_MAX) else {
        return Ok(None);
    };
    if !read(first, TRAILER_LEN)?.starts_with(TRAILER_MAGIC) {
        return Ok(None);
    }
    Ok(Some((first..end, read(first + TRAILER_LEN, len)?)))
}

fn is_zero(source: &dyn ReadAt, range: &Range<u64>) -> Result<bool, Error> {
    let mut at = range.start;
    while at < range.end {
        let len = (range.end - at).min(1 << 16);
        let bytes = read_range(source, at, len);
        let bytes = bytes.map_err(|error| Error::system("read what is not sealed", error))?;
        if bytes.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        at += len;
    }
    Ok(true)
}
