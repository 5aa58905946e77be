//! The table of contents of a package: XML, compressed, with a checksum.
//!
//! Readers of XML differ in what they make of comments, of elements that occur twice, and of ranges
//! that overlap. A table with any of these is refused.

use std::io::Read as _;
use std::ops::Range;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use roxmltree::{Document, Node, ParsingOptions};
use steadfast_digest::Algorithm;
use steadfast_sys::source::{ReadAt, read_range};

use super::Package;
use crate::bundle::joined;
use crate::certificate::Certificate;
use crate::error::{Error, ErrorKind};
use crate::fields::IntegerReader;
use crate::key::digest;

/// The header: magic, its length, version 1, two lengths of the table, the checksum's algorithm.
const HEADER_LEN: u64 = 28;

/// The longest table, compressed or not. That of a package with a payload has a few KiB.
const LEN_MAX: u64 = 16 << 20;

/// The most elements and texts of a table: about 100 bytes of memory each.
const NODES_MAX: u32 = 1 << 20;

/// The longest path of a file, which bounds the depth of folders, and the length of all.
const PATH_LEN_MAX: usize = 4096;
const PATHS_LEN_MAX: usize = 64 << 20;

/// The greatest length of all files that are compressed. Payloads are not: they are archives that
/// are compressed themselves.
const UNPACKED_LEN_MAX: u64 = 4 << 30;

/// How the contents of a file are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Plain,
    /// Called gzip, and without its header.
    Zlib,
    Xz,
    Other,
}

/// A digest that the table has.
type Checksum = (Algorithm, Vec<u8>);

/// A file in the heap.
pub(super) struct StoredFile {
    pub(super) path: Vec<u8>,
    /// Where it is, from the start of the heap.
    pub(super) range: Range<u64>,
    /// The length of its contents.
    pub(super) size: u64,
    pub(super) encoding: Encoding,
    /// The checksum of the bytes in the heap, and that of the contents.
    pub(super) archived: Option<Checksum>,
    pub(super) extracted: Option<Checksum>,
}

/// The table, with ranges from the start of the heap.
pub(super) struct TableOfContents {
    pub(super) heap_at: u64,
    pub(super) algorithm: Algorithm,
    /// The checksum of the table as it is, and where the heap has one.
    pub(super) checksum: Vec<u8>,
    pub(super) stored_checksum: Range<u64>,
    pub(super) rsa: Option<Range<u64>>,
    pub(super) certificates: Vec<Certificate>,
    pub(super) cms: Option<Range<u64>>,
    pub(super) files: Vec<StoredFile>,
    /// Folders, and symlinks with their targets.
    pub(super) links: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// Everything in the heap that the table knows.
    pub(super) used: Vec<Range<u64>>,
}

impl TableOfContents {
    pub(super) fn read(source: &dyn ReadAt) -> Result<TableOfContents, Error> {
        let system = |error| Error::system("read the table of contents", error);
        let header = read_range(source, 0, HEADER_LEN).map_err(system)?;
        let fields = IntegerReader::big(&header);
        let (packed_len, len) = (fields.u64(8).unwrap_or(0), fields.u64(16).unwrap_or(0));
        // Of a longer header nothing would cover the rest.
        let is_known = fields.u16(4).map(u64::from) == Some(HEADER_LEN) && fields.u16(6) == Some(1);
        if !Package::is_magic(&header) || !is_known {
            return Err(Error::malformed("the package has no header of version 1"));
        }
        if packed_len.max(len) > LEN_MAX {
            return Err(Error::new(ErrorKind::Unsupported, "the table of contents is too long"));
        }
        let packed = read_range(source, HEADER_LEN, packed_len).map_err(system)?;
        let mut text = Vec::new();
        let mut decoder = ZlibDecoder::new(&packed[..]).take(len + 1);
        let unpacked = decoder.read_to_end(&mut text);
        let decoder = decoder.into_inner();
        let whole =
            unpacked.is_ok() && text.len() as u64 == len && decoder.total_in() == packed_len;
        let text = String::from_utf8(text).ok().filter(|_| whole);
        let text = text.ok_or_else(|| Error::malformed("the table of contents is damaged"))?;
        let options = ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
        let document = Document::parse_with_options(&text, options)
            .map_err(|error| Error::malformed(format!("the table of contents: {error}")))?;
        if !is_utf8(&text) {
            return Err(malformed("another encoding than UTF-8"));
        }
        let is_beside = |node: Node<'_, '_>| node.is_comment() || node.is_pi();
        if document.descendants().any(is_beside) || text.contains("xmlns:") {
            return Err(malformed("a comment or a name space"));
        }
        let heap_at = HEADER_LEN + packed_len;
        let toc = child(document.root_element(), "toc")?.ok_or_else(|| malformed("no `toc`"))?;
        let stated = child(toc, "checksum")?.ok_or_else(|| malformed("no checksum"))?;
        let algorithm = algorithm_of(stated)?;
        if fields.u32(24) != Some(number_of(algorithm)) {
            return Err(malformed("another checksum than the header"));
        }
        let heap_len = source.len_bytes().saturating_sub(heap_at);
        let mut table = TableOfContents {
            heap_at,
            algorithm,
            checksum: digest(algorithm, &[&packed]),
            stored_checksum: range(stated, "size", heap_len)?,
            rsa: None,
            certificates: Vec::new(),
            cms: None,
            files: Vec::new(),
            links: Vec::new(),
            used: Vec::new(),
        };
        table.read_signatures(toc, heap_len)?;
        table.read_files(toc, heap_len)?;
        table.find_overlaps()?;
        table.bound_work(heap_len)?;
        Ok(table)
    }

    fn read_signatures(&mut self, toc: Node<'_, '_>, heap_len: u64) -> Result<(), Error> {
        for (name, style) in [("signature", "RSA"), ("x-signature", "CMS")] {
            let Some(node) = child(toc, name)? else { continue };
            if node.attribute("style") != Some(style) {
                return Err(Error::new(ErrorKind::Unsupported, "a signature of unknown style"));
            }
            let place = Some(range(node, "size", heap_len)?);
            if style == "CMS" {
                // The message has the certificates again.
                self.cms = place;
                continue;
            }
            self.rsa = place;
            for node in node.descendants().filter(|node| is(*node, "X509Certificate")) {
                let letters: String = text(node)?.split_ascii_whitespace().collect();
                let der = STANDARD.decode(letters).map_err(|_| malformed("no certificate"))?;
                let certificate = Certificate::parse(&der)
                    .map_err(|fault| Error::malformed(format!("a certificate: {fault}")))?;
                self.certificates.push(certificate);
            }
        }
        Ok(())
    }

    fn read_files(&mut self, toc: Node<'_, '_>, heap_len: u64) -> Result<(), Error> {
        let mut waiting: Vec<(Node<'_, '_>, Rc<[u8]>)> =
            files(toc).map(|node| (node, Rc::default())).collect();
        let mut paths_len = 0;
        while let Some((node, folder)) = waiting.pop() {
            let path = path_of(node, &folder)?;
            paths_len += path.len();
            if path.len() > PATH_LEN_MAX || paths_len > PATHS_LEN_MAX {
                return Err(Error::new(ErrorKind::Unsupported, "the paths are too long"));
            }
            let kind = child(node, "type")?.map(text).transpose()?.unwrap_or("file");
            if kind != "directory" && files(node).next().is_some() {
                return Err(malformed("files in what is no folder"));
            }
            match kind {
                "directory" => {
                    let folder: Rc<[u8]> = path.as_slice().into();
                    waiting.extend(files(node).map(|inner| (inner, Rc::clone(&folder))));
                    self.links.push((path, None));
                }
                "symlink" => {
                    let target = child(node, "link")?.map(text).transpose()?;
                    let target = target.ok_or_else(|| malformed("a symlink without a target"))?;
                    self.links.push((path, Some(target.as_bytes().to_vec())));
                }
                "file" => self.files.push(StoredFile::read(node, path, heap_len)?),
                _ => return Err(Error::new(ErrorKind::Unsupported, "a file of unknown type")),
            }
        }
        // Attributes lie in the heap as files do, and are not installed as files.
        for node in toc.descendants().filter(|node| is(*node, "ea")) {
            self.used.push(range(node, "length", heap_len)?);
        }
        Ok(())
    }

    /// Refuses tables that ask for far more work than the file is long.
    fn bound_work(&self, heap_len: u64) -> Result<(), Error> {
        let sum = |lens: &mut dyn Iterator<Item = u64>| lens.fold(0, u64::saturating_add);
        let stored = sum(&mut self.files.iter().map(|file| file.range.end - file.range.start));
        let packed = self.files.iter().filter(|file| file.encoding != Encoding::Plain);
        let unpacked = sum(&mut packed.map(|file| file.size));
        match stored > heap_len.saturating_mul(4) || unpacked > UNPACKED_LEN_MAX {
            true => Err(Error::new(ErrorKind::Unsupported, "its files are too long together")),
            false => Ok(()),
        }
    }

    /// Refuses ranges that overlap, but for files that share one, and those in the order of the
    /// heap.
    fn find_overlaps(&mut self) -> Result<(), Error> {
        self.files.sort_by_key(|file| file.range.start);
        let own = [Some(&self.stored_checksum), self.rsa.as_ref(), self.cms.as_ref()];
        let mut all: Vec<(Range<u64>, bool)> =
            own.into_iter().flatten().map(|range| (range.clone(), false)).collect();
        all.extend(self.used.iter().map(|range| (range.clone(), true)));
        all.extend(self.files.iter().map(|file| (file.range.clone(), true)));
        all.retain(|(range, _)| !range.is_empty());
        all.sort_by_key(|(range, _)| (range.start, range.end));
        for pair in all.windows(2) {
            let [(first, first_shared), (second, second_shared)] = pair else { continue };
            let shared = first == second && *first_shared && *second_shared;
            if second.start < first.end && !shared {
                return Err(malformed("ranges that overlap"));
            }
        }
        self.used = all.into_iter().map(|(range, _)| range).collect();
        Ok(())
    }
}

impl StoredFile {
    fn read(node: Node<'_, '_>, path: Vec<u8>, heap_len: u64) -> Result<StoredFile, Error> {
        let Some(data) = child(node, "data")? else {
            // A file without data is empty.
            let (encoding, empty) = (Encoding::Plain, digest(Algorithm::Sha1, &[]));
            let archived = Some((Algorithm::Sha1, empty));
            return Ok(StoredFile {
                path,
                range: 0..0,
                size: 0,
                encoding,
                archived,
                extracted: None,
            });
        };
        let style = child(data, "encoding")?.and_then(|node| node.attribute("style"));
        let encoding = match style.unwrap_or("application/octet-stream") {
            "application/octet-stream" => Encoding::Plain,
            "application/x-gzip" => Encoding::Zlib,
            "application/x-xz" | "application/x-lzma" => Encoding::Xz,
            _ => Encoding::Other,
        };
        Ok(StoredFile {
            path,
            range: range(data, "length", heap_len)?,
            size: number(data, "size")?,
            encoding,
            archived: checksum(data, "archived-checksum")?,
            extracted: checksum(data, "extracted-checksum")?,
        })
    }
}

/// Returns whether a document says that it is in UTF-8, or nothing of its encoding.
fn is_utf8(text: &str) -> bool {
    let declaration = text.strip_prefix("<?xml").and_then(|text| text.split_once("?>"));
    let encoding = declaration.and_then(|(text, _)| text.split_once("encoding"));
    let name = encoding.and_then(|(_, value)| value.split(['"', '\'']).nth(1));
    encoding.is_none() || name.is_some_and(|name| name.eq_ignore_ascii_case("utf-8"))
}

fn malformed(what: &str) -> Error {
    Error::malformed(format!("the table of contents has {what}"))
}

fn files<'a, 'i>(folder: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    folder.children().filter(|node| is(*node, "file"))
}

fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

/// Returns the child of a name. Apple's tools write some names twice: children that are the same
/// count once.
fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Result<Option<Node<'a, 'i>>, Error> {
    let mut found = node.children().filter(|node| is(*node, name));
    let first = found.next();
    for other in found {
        let plain = other.first_element_child().is_none() && other.attributes().len() == 0;
        if !plain || first.is_none_or(|first| text(first).ok() != text(other).ok()) {
            return Err(malformed(&format!("more than one `{name}`")));
        }
    }
    Ok(first)
}

/// Returns the text of an element that has nothing else.
fn text<'a>(node: Node<'a, '_>) -> Result<&'a str, Error> {
    let mut children = node.children();
    match (children.next(), children.next()) {
        (None, _) => Ok(""),
        (Some(only), None) if only.is_text() => Ok(only.text().unwrap_or("")),
        _ => Err(malformed("an element where a text must be")),
    }
}

fn number(node: Node<'_, '_>, name: &str) -> Result<u64, Error> {
    let digits = child(node, name)?.map(text).transpose()?.unwrap_or("").trim();
    let all = digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| all);
    number.ok_or_else(|| malformed(&format!("no number for `{name}`")))
}

fn range(node: Node<'_, '_>, length: &str, heap_len: u64) -> Result<Range<u64>, Error> {
    let (start, len) = (number(node, "offset")?, number(node, length)?);
    let end = start.checked_add(len).filter(|end| *end <= heap_len);
    Ok(start..end.ok_or_else(|| malformed("a range beyond the end of the file"))?)
}

fn algorithm_of(node: Node<'_, '_>) -> Result<Algorithm, Error> {
    match node.attribute("style").unwrap_or("").to_ascii_lowercase().as_str() {
        "sha1" => Ok(Algorithm::Sha1),
        "md5" => Ok(Algorithm::Md5),
        "sha256" => Ok(Algorithm::Sha256),
        "sha512" => Ok(Algorithm::Sha512),
        _ => Err(Error::new(ErrorKind::Unsupported, "a checksum by an unknown algorithm")),
    }
}

/// Returns the number of an algorithm in the header.
fn number_of(algorithm: Algorithm) -> u32 {
    match algorithm {
        Algorithm::Md5 => 2,
        Algorithm::Sha256 => 3,
        Algorithm::Sha512 => 4,
        _ => 1,
    }
}

fn checksum(data: Node<'_, '_>, name: &str) -> Result<Option<Checksum>, Error> {
    let Some(node) = child(data, name)? else { return Ok(None) };
    let (algorithm, digits) = (algorithm_of(node)?, text(node)?.trim());
    // A parser of numbers would accept a sign.
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(pair).collect();
    let bytes = bytes.filter(|bytes| is_hex && bytes.len() == algorithm.digest_len());
    Ok(Some((algorithm, bytes.ok_or_else(|| malformed("a checksum of wrong length"))?)))
}

fn path_of(node: Node<'_, '_>, folder: &[u8]) -> Result<Vec<u8>, Error> {
    let name = child(node, "name")?.ok_or_else(|| malformed("a file without a name"))?;
    if name.attributes().len() > 0 {
        return Err(Error::new(ErrorKind::Unsupported, "an encoded name"));
    }
    let name = text(name)?.as_bytes();
    if name.contains(&b'/') || matches!(name, b"" | b"." | b"..") {
        return Err(malformed("a name that leads elsewhere"));
    }
    Ok(joined(folder, name))
}
