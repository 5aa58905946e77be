//! The specifications of `mtree`, nested or with full paths.
//!
//! Reads and writes the records of regular files. Skips directories, links and devices, and
//! keywords that do not describe contents. Names are encoded as by `vis`.
//!
//! Source: NetBSD `mtree(5)`, `vis(3)`. A time is `<seconds>.<nanoseconds>`; the second part is a
//! whole number without leading zeros.

mod vis;

use std::io::{BufRead, Write};
use std::path::{Component, Path, PathBuf};

use steadfast_digest::{Algorithm, Digest};
use steadfast_time::Timestamp;
use steadfast_time::names::NameBytes as _;

use crate::lines::{LINE_LEN_MAX, LineReader, skip_blanks};
use crate::sums::digest_of;
use crate::write::{Put, wanted};
use crate::{Error, Fault, FaultKind, Mtime, Record, Step};

/// The deepest nesting: more directories than fit in a path.
const DEPTH_MAX: usize = 4_096;

/// Algorithms that both the format and this program support, with the keyword that every `mtree`
/// reads.
const KEYWORDS: [(Algorithm, &str); 5] = [
    (Algorithm::Md5, "md5digest"),
    (Algorithm::Sha1, "sha1digest"),
    (Algorithm::Sha256, "sha256digest"),
    (Algorithm::Sha384, "sha384digest"),
    (Algorithm::Sha512, "sha512digest"),
];

/// Reads records entry by entry.
pub(crate) struct EntryParser<R> {
    lines: LineReader<R>,
    /// The current line, joined with its continuations.
    entry: Vec<u8>,
    /// The directory of entries without a slash.
    folder: Vec<u8>,
    /// Its length before each directory was entered.
    entered: Vec<usize>,
    /// The value of `/set type=`.
    default: Option<MtreeKind>,
    ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MtreeKind {
    File,
    Folder,
    Other,
}

impl<R: BufRead> EntryParser<R> {
    pub(crate) fn new(reader: R) -> EntryParser<R> {
        EntryParser {
            lines: LineReader::new(reader, b'\n'),
            entry: Vec::new(),
            folder: Vec::new(),
            entered: Vec::new(),
            default: None,
            ended: false,
        }
    }

    /// Reads the next line and its continuations into the entry.
    fn advance(&mut self) -> Result<bool, Fault> {
        self.entry.clear();
        loop {
            if !self.lines.advance()? {
                return Ok(!self.entry.is_empty());
            }
            let line = self.lines.line();
            let comment = self.entry.is_empty() && skip_blanks(line).starts_with(b"#");
            let slashes = line.iter().rev().take_while(|&&byte| byte == b'\\').count();
            let goes_on = slashes % 2 == 1 && !comment;
            self.entry.extend_from_slice(&line[..line.len() - usize::from(goes_on)]);
            if self.entry.len() > LINE_LEN_MAX {
                self.ended = true;
                let what = "the entry is longer than 64 KiB";
                return Err(self.lines.fault(1, FaultKind::Limit, what));
            }
            if !goes_on {
                return Ok(true);
            }
        }
    }

    fn step(&mut self) -> Result<Option<Record>, Fault> {
        while self.advance()? {
            let entry = std::mem::take(&mut self.entry);
            let found = self.parse_entry(&entry);
            self.entry = entry;
            if let Some(record) = found? {
                return Ok(Some(record));
            }
        }
        self.ended = true;
        Ok(None)
    }

    fn parse_entry(&mut self, entry: &[u8]) -> Result<Option<Record>, Fault> {
        let mut words = words(entry);
        let Some((_, name)) = words.next().filter(|(_, word)| word[0] != b'#') else {
            return Ok(None);
        };
        match name {
            b"/set" => {
                let kinds = words.filter_map(|(_, word)| word.strip_prefix(b"type="));
                self.default = kinds.map(kind).last().or(self.default);
                Ok(None)
            }
            b"/unset" => {
                if words.any(|(_, word)| word == b"type" || word == b"all") {
                    self.default = None;
                }
                Ok(None)
            }
            b".." => match self.entered.pop() {
                Some(length) => {
                    self.folder.truncate(length);
                    Ok(None)
                }
                None => Err(self.fatal(FaultKind::Syntax, "`..` closes no directory")),
            },
            _ => self.parse_file(entry, name),
        }
    }

    /// Reads an entry that begins with a name.
    fn parse_file(&mut self, entry: &[u8], name: &[u8]) -> Result<Option<Record>, Fault> {
        let plain = vis::decode(name);
        let Some(plain) = plain.filter(|plain| !plain.is_empty() && !plain.contains(&0)) else {
            return Err(self.fatal(FaultKind::Syntax, "the name is not encoded as by `vis`"));
        };
        let full = plain.contains(&b'/');
        let kinds = words(entry).filter_map(|(_, word)| word.strip_prefix(b"type="));
        let kind = kinds.map(kind).last().or(self.default).unwrap_or(MtreeKind::File);
        if kind == MtreeKind::Folder && !full {
            self.enter(&plain)?;
        }
        if kind != MtreeKind::File {
            return Ok(None);
        }
        let mut path = Vec::new();
        if !full {
            path.extend_from_slice(&self.folder);
        }
        path.extend_from_slice(plain.strip_prefix(b"./").unwrap_or(&plain));
        let mut record = Record::new(path);
        for (at, word) in words(entry).skip(1) {
            if let Some(equals) = word.iter().position(|&byte| byte == b'=') {
                let (keyword, value) = (&word[..equals], &word[equals + 1..]);
                apply_keyword(&mut record, keyword, value)
                    .map_err(|what| self.lines.fault(at + equals + 2, FaultKind::Value, what))?;
            }
        }
        Ok(Some(record))
    }

    fn enter(&mut self, name: &[u8]) -> Result<(), Fault> {
        if self.entered.len() == DEPTH_MAX || self.folder.len() + name.len() > LINE_LEN_MAX {
            return Err(self.fatal(FaultKind::Limit, "directories are nested too deep"));
        }
        self.entered.push(self.folder.len());
        if name != b"." {
            self.folder.extend_from_slice(name);
            self.folder.push(b'/');
        }
        Ok(())
    }

    /// Makes a fault after which the paths of the document are unreliable.
    fn fatal(&mut self, kind: FaultKind, what: &'static str) -> Fault {
        self.ended = true;
        self.lines.fault(1, kind, what)
    }
}

impl<R: BufRead> Iterator for EntryParser<R> {
    type Item = Result<Record, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        self.step().transpose()
    }
}

/// The words of an entry, each with the bytes before it.
fn words(entry: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    let placed = move |word: &'_ [u8]| {
        let start = at;
        at += word.len() + 1;
        (start, word.len())
    };
    let spans = entry.split(|byte| b" \t".contains(byte)).map(placed);
    spans.filter(|(_, len)| *len > 0).map(|(start, len)| (start, &entry[start..start + len]))
}

fn kind(value: &[u8]) -> MtreeKind {
    match value {
        b"file" => MtreeKind::File,
        b"dir" => MtreeKind::Folder,
        _ => MtreeKind::Other,
    }
}

fn apply_keyword(record: &mut Record, keyword: &[u8], value: &[u8]) -> Result<(), &'static str> {
    match keyword {
        b"size" => {
            let length = str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            record.length = Some(length.ok_or("a length in bytes should be here")?);
        }
        b"time" => record.mtime = Some(time(value).ok_or("a time should be here")?),
        _ => {
            let name = keyword.strip_suffix(b"digest").unwrap_or(keyword);
            let known = KEYWORDS.iter().find(|(known, _)| known.name().as_bytes() == name);
            if let Some((algorithm, _)) = known {
                let digest = digest_of(value, *algorithm).map_err(|_| "the digest is not one")?;
                match record.digest(*algorithm) {
                    Some(first) if *first != digest => return Err("the digest comes twice"),
                    Some(_) => {}
                    None => record.digests.push((*algorithm, digest)),
                }
            }
        }
    }
    Ok(())
}

fn time(value: &[u8]) -> Option<Mtime> {
    let text = str::from_utf8(value).ok()?;
    let (seconds, nanoseconds) = text.split_once('.').unwrap_or((text, "0"));
    let nanoseconds: u32 = nanoseconds.parse().ok()?;
    let step = if text.contains('.') { Step::Nanosecond } else { Step::Second };
    let time = Timestamp { seconds: seconds.parse().ok()?, nanoseconds };
    (nanoseconds < 1_000_000_000).then_some(Mtime { time, step })
}

/// Writes the document with full paths. A directory comes before its files.
pub(crate) struct EntryWriter {
    algorithm: Option<Algorithm>,
    /// The directory of the last file. It and its ancestors have been written.
    folder: PathBuf,
    begun: bool,
}

impl EntryWriter {
    pub(crate) fn new(algorithm: Option<Algorithm>) -> EntryWriter {
        EntryWriter { algorithm, folder: PathBuf::new(), begun: false }
    }

    fn begin(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        if !self.begun {
            self.begun = true;
            out.write_all(b"#mtree\n. type=dir\n")?;
        }
        Ok(())
    }

    /// Writes the directories down to `folder` that have not been written.
    fn write_folders(&mut self, folder: &Path, out: &mut dyn Write) -> Result<(), Error> {
        let mut path = PathBuf::new();
        for component in folder.components() {
            path.push(component);
            if !self.folder.starts_with(&path) {
                write_name(&path, out)?;
                out.write_all(b" type=dir\n")?;
            }
        }
        folder.clone_into(&mut self.folder);
        Ok(())
    }
}

impl Put for EntryWriter {
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error> {
        let known = |algorithm| KEYWORDS.iter().find(|(known, _)| *known == algorithm);
        let digests = wanted(record, self.algorithm);
        let named = |(algorithm, digest): (Algorithm, Digest)| {
            known(algorithm).map(|(_, keyword)| format!(" {keyword}={digest}"))
        };
        let digests: Vec<String> = digests.filter_map(named).collect();
        if digests.is_empty() {
            let why = "there is no digest that the format has: md5, sha1, sha256, sha384, sha512";
            return Err(Error::unwritable(&record.path, why));
        }
        let inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
        if !record.path.components().all(inside) || record.path.file_name().is_none() {
            let why = "the path is not beneath the root";
            return Err(Error::unwritable(&record.path, why));
        }
        let path: PathBuf =
            record.path.components().filter(|part| *part != Component::CurDir).collect();
        self.begin(out)?;
        self.write_folders(path.parent().unwrap_or(Path::new("")), out)?;
        write_name(&path, out)?;
        out.write_all(b" type=file")?;
        if let Some(length) = record.length {
            write!(out, " size={length}")?;
        }
        match record.mtime {
            Some(Mtime { time, step: Step::Second }) => write!(out, " time={}", time.seconds)?,
            Some(Mtime { time, .. }) => {
                write!(out, " time={}.{:09}", time.seconds, time.nanoseconds)?;
            }
            None => {}
        }
        for digest in digests {
            out.write_all(digest.as_bytes())?;
        }
        Ok(out.write_all(b"\n")?)
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        self.begin(out)
    }
}

fn write_name(path: &Path, out: &mut dyn Write) -> Result<(), Error> {
    out.write_all(b"./")?;
    Ok(vis::encode(path.as_bytes(), out)?)
}
