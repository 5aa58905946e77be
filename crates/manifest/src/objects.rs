//! What `rclone lsjson --hash -R` and `aws s3api` print of the objects of a store.
//!
//! Takes an array of objects as rclone prints it, or any number of documents of `list-objects-v2`,
//! `head-object` and `get-object-attributes`, the last two with the object's `Key`. Times are not
//! read: they may be those of the upload.
//!
//! Source: rclone 1.60, `fs/operations/lsjson.go`; the API reference of Amazon S3, 2006-03-01.

use std::io::BufRead;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use steadfast_digest::{Algorithm, Digest};

use crate::json::{Cursor, Json};
use crate::lines::step_records;
use crate::parts::{Division, PartsDigest};
use crate::{Fault, FaultKind, Record};

/// How such documents begin, without blanks.
pub(crate) const MAGICS: [&[u8]; 4] =
    [b"[{\"Path\":", b"{\"Contents\":[", b"{\"Key\":", b"[{\"Key\":"];

/// The algorithms of digests in `Checksum…`, the strongest first.
const CHECKSUMS: [Algorithm; 7] = [
    Algorithm::Sha512,
    Algorithm::Sha256,
    Algorithm::Sha1,
    Algorithm::Md5,
    Algorithm::Crc64Nvme,
    Algorithm::Crc32c,
    Algorithm::Crc32,
];

/// The most parts that an object can have.
const PARTS_MAX: u64 = 10_000;

/// Reads objects one by one.
pub(crate) fn records<R: BufRead>(reader: R) -> impl Iterator<Item = Result<Record, Fault>> {
    let mut parser = ObjectParser {
        json: Json::new(reader),
        stage: ListStage::Between,
        document: Cursor::default(),
        list: Cursor::default(),
        is_within: false,
        listed: ListedObject::default(),
    };
    step_records(move || parser.step())
}

struct ObjectParser<R> {
    json: Json<R>,
    stage: ListStage,
    /// Position in the document, and in its list of objects.
    document: Cursor,
    list: Cursor,
    /// Whether the list is a member of the document.
    is_within: bool,
    /// The document itself, if that is an object.
    listed: ListedObject,
}

#[derive(Clone, Copy, Debug)]
enum ListStage {
    Between,
    Document,
    List,
}

/// What is printed of one object.
#[derive(Default)]
struct ListedObject {
    name: Option<Vec<u8>>,
    length: Option<u64>,
    is_folder: bool,
    /// Digests in hexadecimal of all bytes, and in base64 with their extent.
    digests: Vec<(Algorithm, Vec<u8>)>,
    checksums: Vec<(Algorithm, Vec<u8>)>,
    checksum_type: Option<Vec<u8>>,
    etag: Option<Vec<u8>>,
    encryption: Option<Vec<u8>>,
    has_own_key: bool,
    parts: Option<u64>,
    /// The lengths of the first and of the last part, how many were printed, and whether all but
    /// the last are equally long.
    printed: Option<(u64, u64, u64, bool)>,
    /// Whether it is a document that has a list, or that a listing ended before its end.
    has_list: bool,
    is_cut: bool,
}

impl<R: BufRead> ObjectParser<R> {
    fn step(&mut self) -> Result<Option<Result<Record, Fault>>, Fault> {
        loop {
            let place = self.json.place();
            let listed = match self.stage {
                ListStage::Between => match self.json.next_byte()? {
                    None => return Ok(None),
                    Some(b'[') => {
                        self.list = self.json.open_array()?;
                        (self.stage, self.is_within) = (ListStage::List, false);
                        continue;
                    }
                    Some(_) => {
                        self.document = self.json.open_object()?;
                        self.stage = ListStage::Document;
                        continue;
                    }
                },
                ListStage::Document => match self.json.key(&mut self.document)? {
                    Some(key) if key == b"Contents" => {
                        self.list = self.json.open_array()?;
                        (self.stage, self.is_within) = (ListStage::List, true);
                        self.listed.has_list = true;
                        continue;
                    }
                    Some(key) => {
                        self.listed.member(&mut self.json, &key)?;
                        continue;
                    }
                    None => {
                        self.stage = ListStage::Between;
                        std::mem::take(&mut self.listed)
                    }
                },
                ListStage::List if self.json.element(&mut self.list)? => {
                    let (mut listed, mut cursor) =
                        (ListedObject::default(), self.json.open_object()?);
                    while let Some(key) = self.json.key(&mut cursor)? {
                        listed.member(&mut self.json, &key)?;
                    }
                    listed
                }
                ListStage::List if self.is_within => {
                    self.stage = ListStage::Document;
                    continue;
                }
                ListStage::List => {
                    self.stage = ListStage::Between;
                    continue;
                }
            };
            let fault = |what: &'static str| Fault::new(place, FaultKind::Value, what);
            match listed.record() {
                Ok(None) => {}
                Ok(Some(record)) => return Ok(Some(Ok(record))),
                Err(what) => return Ok(Some(Err(fault(what)))),
            }
        }
    }
}

/// Reads a string; `None` if the value is no string.
fn text<R: BufRead>(json: &mut Json<R>) -> Result<Option<Vec<u8>>, Fault> {
    match json.is_string()? {
        true => json.string().map(Some),
        false => json.skip_value().map(|()| None),
    }
}

/// Reads a length or a number; `None` if it is negative, as rclone prints what is not known.
fn number<R: BufRead>(json: &mut Json<R>) -> Result<Option<u64>, Fault> {
    match json.next_byte()? {
        Some(b'-' | b'0'..=b'9') => Ok(u64::try_from(json.integer()?).ok()),
        _ => json.skip_value().map(|()| None),
    }
}

impl ListedObject {
    /// Reads the value of a member.
    fn member<R: BufRead>(&mut self, json: &mut Json<R>, key: &[u8]) -> Result<(), Fault> {
        let is_true = |json: &mut Json<R>| {
            let is_true = json.next_byte()? == Some(b't');
            json.skip_value().map(|()| is_true)
        };
        match key {
            b"Path" | b"Key" => self.name = text(json)?,
            b"Size" | b"ContentLength" | b"ObjectSize" => self.length = number(json)?,
            b"IsDir" => self.is_folder = is_true(json)?,
            b"ETag" => self.etag = text(json)?,
            b"ServerSideEncryption" => self.encryption = text(json)?,
            b"SSECustomerAlgorithm" => self.has_own_key = text(json)?.is_some(),
            b"ChecksumType" => self.checksum_type = text(json)?,
            b"PartsCount" | b"TotalPartsCount" => self.parts = number(json)?,
            b"NextToken" => self.is_cut |= text(json)?.is_some(),
            b"IsTruncated" => self.is_cut |= is_true(json)?,
            b"Hashes" if json.next_byte()? == Some(b'{') => {
                let mut cursor = json.open_object()?;
                while let Some(name) = json.key(&mut cursor)? {
                    let algorithm = str::from_utf8(&name).ok().and_then(|name| name.parse().ok());
                    let hex = text(json)?.filter(|hex| !hex.is_empty());
                    self.digests.extend(algorithm.zip(hex));
                }
            }
            b"Checksum" | b"ObjectParts" if json.next_byte()? == Some(b'{') => {
                let mut cursor = json.open_object()?;
                while let Some(key) = json.key(&mut cursor)? {
                    match &key[..] {
                        b"Parts" => self.printed_parts(json)?,
                        // They are not the whole list, so the division is not stated.
                        b"IsTruncated" => json.skip_value()?,
                        key => self.member(json, key)?,
                    }
                }
            }
            _ => match key.strip_prefix(b"Checksum").and_then(|name| str::from_utf8(name).ok()) {
                Some(name) if CHECKSUMS.iter().any(|it| name.parse() == Ok(*it)) => {
                    let algorithm = name.parse().ok();
                    self.checksums.extend(algorithm.zip(text(json)?));
                }
                _ => json.skip_value()?,
            },
        }
        Ok(())
    }

    fn printed_parts<R: BufRead>(&mut self, json: &mut Json<R>) -> Result<(), Fault> {
        let mut list = json.open_array()?;
        while json.element(&mut list)? {
            let (mut cursor, mut length) = (json.open_object()?, None);
            while let Some(key) = json.key(&mut cursor)? {
                match &key[..] {
                    b"Size" => length = number(json)?,
                    _ => json.skip_value()?,
                }
            }
            let length = length.unwrap_or(0);
            self.printed = Some(match self.printed {
                None => (length, length, 1, true),
                Some((first, last, count, are_same)) => {
                    (first, length, count + 1, are_same && first == last)
                }
            });
        }
        Ok(())
    }

    /// Makes the record; `None` of what is no file.
    fn record(self) -> Result<Option<Record>, &'static str> {
        let Some(name) = &self.name else {
            return match (self.is_cut, self.has_list, self.length.is_some() || self.etag.is_some())
            {
                (true, ..) => Err("the list is cut off: there are more objects than it has"),
                (_, false, true) => Err("the object has no `Key`"),
                _ => Ok(None),
            };
        };
        if self.is_folder || name.ends_with(b"/") {
            return Ok(None);
        }
        let mut record = Record { length: self.length, ..Record::new(name.clone()) };
        for (algorithm, hex) in &self.digests {
            let digest: Option<Digest> = str::from_utf8(hex).ok().and_then(|hex| hex.parse().ok());
            let digest = digest.filter(|it| it.as_bytes().len() == algorithm.digest_len());
            add(&mut record, *algorithm, digest.ok_or("a digest is not one")?)?;
        }
        let etag = self.etag.as_deref().and_then(etag_digest);
        let uploaded = etag.and_then(|(_, parts)| parts);
        for wanted in CHECKSUMS {
            for (algorithm, text) in self.checksums.iter().filter(|(it, _)| *it == wanted) {
                let (digest, parts) = checksum(*algorithm, text).ok_or("a checksum is not one")?;
                let parts = parts.or(self.parts).or(uploaded);
                match (self.checksum_type.as_deref(), parts) {
                    (Some(b"FULL_OBJECT"), _) | (None, None) if !ends_in_count(text) => {
                        add(&mut record, *algorithm, digest)?;
                    }
                    (kind, parts) => {
                        let kept = (*algorithm, digest, parts);
                        self.keep_parts(&mut record, kept, kind.is_none() && !ends_in_count(text));
                    }
                }
            }
        }
        // An ETag is the MD5 of what is stored, unless that was encrypted with a key of the user.
        let is_clear = self.encryption.as_deref().is_none_or(|how| how == b"AES256");
        let is_needed = record.digests.is_empty() && record.parts.is_none();
        if let Some((digest, parts)) = etag.filter(|_| is_needed && is_clear && !self.has_own_key) {
            match parts {
                None if self.encryption.is_some() => record.digests.push((Algorithm::Md5, digest)),
                parts => {
                    let kept = (Algorithm::Md5, digest, parts);
                    self.keep_parts(&mut record, kept, parts.is_none());
                }
            }
        }
        Ok(Some(record))
    }

    /// Adds a digest of the digests of parts to a record, or one that may be that. The first, which
    /// is of the strongest algorithm, stays.
    fn keep_parts(
        &self,
        record: &mut Record,
        (algorithm, digest, parts): (Algorithm, Digest, Option<u64>),
        may_be_whole: bool,
    ) {
        let stated = self.printed.filter(|(first, last, count, are_same)| {
            *are_same && last <= first && parts.is_none_or(|parts| parts == *count)
        });
        let mut divisions = match (stated, parts, self.length) {
            (Some((first, ..)), ..) => Division::of_length(first).into_iter().collect(),
            (None, Some(parts @ 1..=PARTS_MAX), Some(length)) => Division::likely(length, parts),
            _ => Vec::new(),
        };
        if may_be_whole {
            divisions.insert(0, Division::Undivided);
        }
        if record.parts.is_none() && !divisions.is_empty() {
            let is_stated = stated.is_some() && !may_be_whole;
            let parts = PartsDigest { algorithm, digest, divisions, is_stated };
            record.parts = Some(Box::new(parts));
        }
    }
}

/// Adds a digest of all bytes.
fn add(record: &mut Record, algorithm: Algorithm, digest: Digest) -> Result<(), &'static str> {
    match record.digest(algorithm) {
        Some(known) if *known != digest => return Err("two of its digests contradict each other"),
        Some(_) => {}
        None => record.digests.push((algorithm, digest)),
    }
    Ok(())
}

/// Reads an ETag as an MD5, with the number of parts if it is one of their MD5s.
fn etag_digest(etag: &[u8]) -> Option<(Digest, Option<u64>)> {
    let (hex, parts) = split_count(str::from_utf8(etag).ok()?.trim_matches('"'))?;
    let digest: Digest = hex.parse().ok()?;
    (digest.as_bytes().len() == Algorithm::Md5.digest_len()).then_some((digest, parts))
}

/// Reads a digest in base64, with the number of parts if it ends in that.
fn checksum(algorithm: Algorithm, text: &[u8]) -> Option<(Digest, Option<u64>)> {
    let (text, parts) = split_count(str::from_utf8(text).ok()?)?;
    let bytes = STANDARD.decode(text).ok().filter(|it| it.len() == algorithm.digest_len())?;
    Some((Digest::from_slice(&bytes)?, parts))
}

fn ends_in_count(text: &[u8]) -> bool {
    text.contains(&b'-')
}

/// Splits off the number of parts after a hyphen; `None` if that is no number.
fn split_count(text: &str) -> Option<(&str, Option<u64>)> {
    match text.rsplit_once('-') {
        Some((front, parts)) => Some((front, Some(parts.parse().ok()?))),
        None => Some((text, None)),
    }
}
