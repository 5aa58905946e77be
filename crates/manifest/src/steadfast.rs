//! The project's own manifest: one JSON object per file, and a last line that proves completeness.
//!
//! Can hold everything that a record contains, so a conversion of any format to this one loses
//! nothing. Specified in `docs/formats/manifests.md`.

use std::io::{BufRead, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};
use steadfast_time::Timestamp;
use steadfast_time::names::NameBytes as _;

use crate::json::{self, Json};
use crate::lines::LineReader;
use crate::sums::digest_of;
use crate::write::{Put, chosen};
use crate::{DocumentPlace, Error, Fault, FaultKind, Mtime, Record, Step};

/// The only version, for reading and writing.
const VERSION: i128 = 1;

/// The first bytes of every document.
pub(crate) const MAGIC: &[u8] = b"{\"steadfast_manifest\":";

/// Reads records line by line.
pub(crate) struct ManifestRecords<R> {
    lines: LineReader<R>,
    stage: ManifestStage,
    /// SHA-256 of the lines so far, each ended by LF.
    sum: AlgorithmHasher,
    count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ManifestStage {
    Header,
    Records,
    /// After the last line.
    Told,
    End,
}

/// The kind of a line.
enum Content {
    Header(i128),
    Record(Record),
    Last { records: i128, sum: Digest },
}

impl<R: BufRead> ManifestRecords<R> {
    pub(crate) fn new(reader: R) -> ManifestRecords<R> {
        let sum = AlgorithmHasher::new(Algorithm::Sha256);
        ManifestRecords {
            lines: LineReader::new(reader, b'\n'),
            stage: ManifestStage::Header,
            sum,
            count: 0,
        }
    }

    fn step(&mut self) -> Result<Option<Record>, Fault> {
        loop {
            if !self.lines.advance()? {
                let whole = self.stage == ManifestStage::Told;
                self.stage = ManifestStage::End;
                let what = "the last line is missing: the document is cut short";
                let fault = Fault::new(DocumentPlace::Document, FaultKind::Check, what);
                return if whole { Ok(None) } else { Err(fault) };
            }
            let before = self.sum.clone();
            self.sum.update(self.lines.line());
            self.sum.update(b"\n");
            let content = content(self.lines.line());
            let content = content.map_err(|fault| self.placed(fault));
            match (self.stage, content?) {
                (ManifestStage::Header, Content::Header(VERSION)) => {
                    self.stage = ManifestStage::Records
                }
                (ManifestStage::Header, Content::Header(_)) => {
                    self.stage = ManifestStage::End;
                    let what = "this program knows version 1 of the format";
                    return Err(self.lines.fault(1, FaultKind::Unsupported, what));
                }
                (ManifestStage::Records, Content::Record(record)) => {
                    self.count += 1;
                    return Ok(Some(record));
                }
                (ManifestStage::Records, Content::Last { records, sum }) => {
                    self.stage = ManifestStage::Told;
                    if records != i128::from(self.count) || sum != before.finalize() {
                        let what = "the document is not as it was written: its last line \
                                    tells another count or digest";
                        return Err(self.lines.fault(1, FaultKind::Check, what));
                    }
                }
                (ManifestStage::Header, _) => {
                    self.stage = ManifestStage::End;
                    let what = "the document does not begin as a manifest does";
                    return Err(self.lines.fault(1, FaultKind::Syntax, what));
                }
                _ => {
                    let what = "this line is out of place";
                    return Err(self.lines.fault(1, FaultKind::Syntax, what));
                }
            }
        }
    }

    /// Gives a fault of one line its place in the document.
    fn placed(&mut self, fault: Fault) -> Fault {
        if self.stage == ManifestStage::Header {
            self.stage = ManifestStage::End;
        }
        match fault.place {
            DocumentPlace::Text { column, .. } => {
                Fault { place: DocumentPlace::Text { line: self.lines.number(), column }, ..fault }
            }
            _ => fault,
        }
    }
}

impl<R: BufRead> Iterator for ManifestRecords<R> {
    type Item = Result<Record, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.stage {
            ManifestStage::End => None,
            _ => self.step().transpose(),
        }
    }
}

/// The members that a line may have.
#[derive(Default)]
struct Members {
    version: Option<i128>,
    records: Option<i128>,
    sha256: Option<Vec<u8>>,
    path: Option<Vec<u8>>,
    path_b64: Option<Vec<u8>>,
    algorithm: Option<Vec<u8>>,
    digest: Option<Vec<u8>>,
    also: Vec<(Vec<u8>, Vec<u8>)>,
    length: Option<i128>,
    mtime_ns: Option<i128>,
    mtime_step_ns: Option<i128>,
    tagged_s: Option<i128>,
}

fn content(line: &[u8]) -> Result<Content, Fault> {
    let mut json = Json::new(line);
    let members = members(&mut json)?;
    json.end()?;
    let value = |what| Fault::text(0, 1, FaultKind::Value, what);
    if let Some(version) = members.version {
        return Ok(Content::Header(version));
    }
    if let Some(records) = members.records {
        let sum = members.sha256.as_deref().map(|hex| digest_of(hex, Algorithm::Sha256));
        let sum = sum.and_then(Result::ok).ok_or_else(|| value("the line lacks its `sha256`"))?;
        return Ok(Content::Last { records, sum });
    }
    record(members).map(Content::Record).map_err(value)
}

fn members(json: &mut Json<&[u8]>) -> Result<Members, Fault> {
    let mut members = Members::default();
    let mut cursor = json.open_object()?;
    while let Some(key) = json.key(&mut cursor)? {
        match &key[..] {
            b"steadfast_manifest" => members.version = Some(json.integer()?),
            b"records" => members.records = Some(json.integer()?),
            b"sha256" => members.sha256 = Some(json.string()?),
            b"path" => members.path = Some(json.string()?),
            b"path_b64" => members.path_b64 = Some(json.string()?),
            b"algorithm" => members.algorithm = Some(json.string()?),
            b"digest" => members.digest = Some(json.string()?),
            b"also" => {
                let mut others = json.open_object()?;
                while let Some(name) = json.key(&mut others)? {
                    members.also.push((name, json.string()?));
                }
            }
            b"length" => members.length = Some(json.integer()?),
            b"mtime_ns" => members.mtime_ns = Some(wide_integer(json)?),
            b"mtime_step_ns" => members.mtime_step_ns = Some(json.integer()?),
            b"tagged_s" => members.tagged_s = Some(json.integer()?),
            _ => json.skip_value()?,
        }
    }
    Ok(members)
}

/// Reads a number, or a string of its digits if it exceeds a signed 64-bit integer.
fn wide_integer(json: &mut Json<&[u8]>) -> Result<i128, Fault> {
    if !json.is_string()? {
        return json.integer();
    }
    let fault = json.fault(FaultKind::Value, "the string is no number");
    let text = json.string()?;
    str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).ok_or(fault)
}

fn record(members: Members) -> Result<Record, &'static str> {
    let path = match (members.path_b64, members.path) {
        (Some(base64), _) => BASE64.decode(base64).map_err(|_| "`path_b64` is not base64")?,
        (None, Some(path)) => path,
        (None, None) => return Err("the line has no `path`"),
    };
    let mut record = Record::new(path);
    let first = members.algorithm.zip(members.digest);
    for (name, hex) in first.into_iter().chain(members.also) {
        let name = str::from_utf8(&name).map_err(|_| "the algorithm is not known")?;
        let algorithm = name.parse().map_err(|_| "the algorithm is not known")?;
        let digest = digest_of(&hex, algorithm).map_err(|_| "the digest is not one")?;
        if record.digest(algorithm).is_some() {
            return Err("an algorithm comes twice");
        }
        record.digests.push((algorithm, digest));
    }
    let length = members.length.map(u64::try_from).transpose();
    record.length = length.map_err(|_| "`length` is no length")?;
    let step = match members.mtime_step_ns {
        None | Some(1) => Step::Nanosecond,
        Some(1_000_000) => Step::Millisecond,
        Some(1_000_000_000) => Step::Second,
        Some(_) => return Err("`mtime_step_ns` is not 1, 1000000 or 1000000000"),
    };
    let mtime = |time| Mtime { time: Timestamp::from_nanoseconds(time), step };
    record.mtime = members.mtime_ns.map(mtime);
    let tagged = members.tagged_s.map(i64::try_from).transpose();
    let tagged = tagged.map_err(|_| "`tagged_s` is out of range")?;
    record.tagged = tagged.map(|seconds| Timestamp { seconds, nanoseconds: 0 });
    Ok(record)
}

/// Writes the document.
pub(crate) struct ManifestLines {
    pub(crate) algorithm: Option<Algorithm>,
    sum: AlgorithmHasher,
    count: u64,
    begun: bool,
}

impl ManifestLines {
    pub(crate) fn new(algorithm: Option<Algorithm>) -> ManifestLines {
        let sum = AlgorithmHasher::new(Algorithm::Sha256);
        ManifestLines { algorithm, sum, count: 0, begun: false }
    }

    fn write_line(&mut self, line: &[u8], out: &mut dyn Write) -> Result<(), Error> {
        self.sum.update(line);
        Ok(out.write_all(line)?)
    }

    fn begin(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        if !self.begun {
            self.begun = true;
            self.write_line(format!("{{\"steadfast_manifest\":{VERSION}}}\n").as_bytes(), out)?;
        }
        Ok(())
    }
}

impl Put for ManifestLines {
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error> {
        let mut digests = record.digests.clone();
        if self.algorithm.is_some() {
            digests = vec![chosen(record, self.algorithm)?];
        }
        self.begin(out)?;
        let mut line = Vec::with_capacity(256);
        write_record(record, &digests, &mut line)?;
        self.count += 1;
        self.write_line(&line, out)
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        self.begin(out)?;
        let sum = self.sum.clone().finalize();
        Ok(writeln!(out, "{{\"records\":{},\"sha256\":\"{sum}\"}}", self.count)?)
    }
}

fn write_record(
    record: &Record,
    digests: &[(Algorithm, Digest)],
    line: &mut Vec<u8>,
) -> Result<(), Error> {
    line.extend_from_slice(b"{\"path\":");
    json::write_string(&record.path.to_string_lossy(), line)?;
    if record.path.to_str().is_none() {
        let base64 = BASE64.encode(record.path.as_bytes());
        write!(line, ",\"path_b64\":\"{base64}\"")?;
    }
    if let [(algorithm, digest), others @ ..] = digests {
        write!(line, ",\"algorithm\":\"{algorithm}\",\"digest\":\"{digest}\"")?;
        for (index, (algorithm, digest)) in others.iter().enumerate() {
            let open = if index == 0 { ",\"also\":{" } else { "," };
            write!(line, "{open}\"{algorithm}\":\"{digest}\"")?;
        }
        if !others.is_empty() {
            line.push(b'}');
        }
    }
    if let Some(length) = record.length {
        write!(line, ",\"length\":{length}")?;
    }
    if let Some(Mtime { time, step }) = record.mtime {
        let time = time.as_nanoseconds();
        match i64::try_from(time) {
            Ok(time) => write!(line, ",\"mtime_ns\":{time}")?,
            Err(_) => write!(line, ",\"mtime_ns\":\"{time}\"")?,
        }
        if step != Step::Nanosecond {
            write!(line, ",\"mtime_step_ns\":{}", step.nanoseconds())?;
        }
    }
    if let Some(tagged) = record.tagged {
        write!(line, ",\"tagged_s\":{}", tagged.seconds)?;
    }
    line.extend_from_slice(b"}\n");
    Ok(())
}
