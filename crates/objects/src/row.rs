//! Parses one row of a store's report: an object and its result.
//!
//! In: the columns of an untrusted row. Out: a [`ReportRow`], or what is wrong with it. Does not
//! decode names: which encoding was used is decided by the known names.

use serde::Deserialize;
use steadfast_digest::Digest;

use crate::names::unescape;
use crate::object::{Extent, Object, extent_named, of_etag};

/// A row of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRow {
    /// The bucket.
    pub bucket: String,
    /// The object's name as the report encodes it.
    pub spelt: String,
    /// The version, if the report names it.
    pub version: Option<String>,
    /// Whether it is the current version, and not an earlier one or a deletion.
    pub current: bool,
    /// The store's result.
    pub outcome: RowOutcome,
}

/// A store's result for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowOutcome {
    /// The object's metadata.
    Found(Box<Object>),
    /// A failure: its HTTP status, and the reason.
    Failed(Option<u16>, String),
}

impl ReportRow {
    /// Returns the possible names, the likeliest first: reports encode a space as a plus, but
    /// repeat names of user-made lists, which may not be encoded.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let read = [unescape(&self.spelt, true), unescape(&self.spelt, false)];
        for name in read.into_iter().flatten().chain([self.spelt.clone()]) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// The number of columns of a completion report.
const REPORT_COLUMNS: usize = 7;

/// The result of a row in JSON.
#[derive(Deserialize)]
struct ComputedRow {
    #[serde(rename = "checksum_base64")]
    base64: Option<String>,
    #[serde(rename = "checksum_hex")]
    hex: Option<String>,
    #[serde(rename = "checksumAlgorithm")]
    algorithm: Option<String>,
    #[serde(rename = "checksumType")]
    kind: Option<String>,
}

/// Parses a row of a completion report. Returns `None` for the header row.
pub(crate) fn of_report(fields: &[&str]) -> Result<Option<ReportRow>, String> {
    if fields.len() < REPORT_COLUMNS {
        return Err(format!("it has {} columns instead of {REPORT_COLUMNS}", fields.len()));
    }
    let [bucket, spelt, version, task, first, second, ..] = fields else { return Ok(None) };
    if *bucket == "Bucket" && *spelt == "Key" {
        return Ok(None);
    }
    // Rows have these two columns in the opposite order of the stated schema.
    let status = [first, second].into_iter().find_map(|field| field.trim().parse::<u16>().ok());
    // Messages of failures are quoted incorrectly, so they span further columns.
    let message = fields[REPORT_COLUMNS - 1..].join(",");
    let outcome = match task.trim() {
        "succeeded" => RowOutcome::Found(Box::new(computed(&message)?)),
        "failed" => failed(&message, status),
        other => return Err(format!("`{other}` is neither succeeded nor failed")),
    };
    Ok(Some(ReportRow {
        bucket: (*bucket).to_owned(),
        spelt: (*spelt).to_owned(),
        version: some(version),
        current: true,
        outcome,
    }))
}

fn some(field: &str) -> Option<String> {
    Some(field.trim()).filter(|text| !text.is_empty() && *text != "null").map(str::to_owned)
}

fn computed(message: &str) -> Result<Object, String> {
    let computed: ComputedRow = serde_json::from_str(message)
        .map_err(|_| "its result is none of computed digests".to_owned())?;
    let ComputedRow { base64: Some(base64), algorithm: Some(algorithm), .. } = &computed else {
        return Err("its result names no digest or no algorithm".to_owned());
    };
    let extent = computed.kind.as_deref().map_or(Extent::Unknown, extent_named);
    if extent == Extent::Unknown {
        return Err("its result does not say what the digest is of".to_owned());
    }
    let mut object = Object::default();
    object.add_digest(algorithm, base64, extent);
    let hex = computed.hex.as_deref().and_then(|hex| hex.parse::<Digest>().ok());
    let taken = object.digests.first().map(|digest| digest.digest);
    match taken.zip(hex) {
        Some((taken, hex)) if taken != hex => {
            Err("its two spellings of the digest differ".to_owned())
        }
        _ => Ok(object),
    }
}

/// Extracts the reason and the status of a failure's message.
fn failed(message: &str, status: Option<u16>) -> RowOutcome {
    let after = |mark: &str| message.split_once(mark).map(|(_, rest)| rest);
    let code: Option<u16> = after("errorCode").and_then(|rest| {
        let digits = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().ok()
    });
    let mut words = after("failureMessage").unwrap_or(message);
    words = words.split("errorCode").next().unwrap_or(words);
    let words = words.trim_matches(|c: char| c.is_ascii_punctuation() || c.is_whitespace());
    // Removes the number of the task, which does not help.
    let words = match words.strip_prefix("Task ").and_then(|rest| rest.split_once(' ')) {
        Some((number, rest)) if number.len() == 36 => rest,
        _ => words,
    };
    let code = code.or(status.filter(|status| *status >= 400));
    RowOutcome::Failed(code, words.to_owned())
}

/// The columns of an inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Columns(Vec<String>);

impl Columns {
    /// Parses the names of columns, such as "Bucket, Key, Size".
    pub(crate) fn parse(text: &str) -> Result<Columns, String> {
        let columns: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        let has = |wanted: &str| columns.iter().any(|name| name == wanted);
        match has("Bucket") && has("Key") {
            true => Ok(Columns(columns)),
            false => Err("an inventory without the columns Bucket and Key is none".to_owned()),
        }
    }

    fn of<'a>(&self, fields: &[&'a str], wanted: &str) -> Option<&'a str> {
        let at = self.0.iter().position(|name| name == wanted)?;
        fields.get(at).copied().filter(|field| !field.is_empty())
    }

    /// Parses a row of an inventory.
    pub(crate) fn row(&self, fields: &[&str]) -> Result<ReportRow, String> {
        if fields.len() != self.0.len() {
            return Err(format!("it has {} columns instead of {}", fields.len(), self.0.len()));
        }
        let get = |wanted| self.of(fields, wanted);
        let (Some(bucket), Some(spelt)) = (get("Bucket"), get("Key")) else {
            return Err("it names no object".to_owned());
        };
        let length = get("Size").map(str::parse).transpose();
        let length = length.map_err(|_| "its length is no number".to_owned())?;
        let mut object = Object { length, ..Object::default() };
        // An ETag is an MD5 only if the object is not encrypted with a key.
        let clear = matches!(get("EncryptionStatus"), Some("NOT-SSE" | "SSE-S3"));
        object.digests.extend(get("ETag").filter(|_| clear).and_then(of_etag));
        if let Some(names) = get("ChecksumAlgorithm") {
            let names = names.split(['|', ';', ' ']).filter(|name| !name.is_empty());
            object.unknown.extend(names.map(|name| format!("{name} (not in the inventory)")));
        }
        Ok(ReportRow {
            bucket: bucket.to_owned(),
            spelt: spelt.to_owned(),
            version: get("VersionId").and_then(some),
            current: get("IsLatest") != Some("false") && get("IsDeleteMarker") != Some("true"),
            outcome: RowOutcome::Found(Box::new(object)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = "{\"checksum_base64\":\"y/Q5Jg\\u003d\\u003d\",\"etag\":\"x\",\
        \"checksumAlgorithm\":\"CRC32\",\"checksumType\":\"FULL_OBJECT\",\
        \"checksum_hex\":\"CBF43926\"}";

    fn report(task: &str, message: &str) -> Result<Option<ReportRow>, String> {
        of_report(&["b", "a+b%2F", "", task, "200", "", message])
    }

    #[test]
    fn a_digest() {
        let row = report("succeeded", RESULT).unwrap().unwrap();
        let RowOutcome::Found(object) = &row.outcome else { panic!("{row:?}") };
        assert_eq!(object.digests[0].digest.to_string(), "cbf43926");
        assert_eq!(object.digests[0].extent, Extent::Whole);
        assert_eq!(row.names(), ["a b/", "a+b/", "a+b%2F"]);
        let composite = RESULT.replace("FULL_OBJECT", "COMPOSITE");
        let row = report("succeeded", &composite).unwrap().unwrap();
        let RowOutcome::Found(object) = row.outcome else { panic!() };
        assert_eq!(object.digests[0].extent, Extent::Composite(None));
    }

    #[test]
    fn what_is_no_digest_is_refused() {
        for (from, to) in
            [("CBF43926", "CBF43927"), ("FULL_OBJECT", "SOME"), ("checksum_base64", "x"), ("{", "")]
        {
            assert!(report("succeeded", &RESULT.replacen(from, to, 1)).is_err(), "{from}");
        }
        assert!(report("pending", RESULT).is_err());
        assert!(of_report(&["b", "k"]).is_err());
        let names = "Bucket, Key, VersionId, TaskStatus, ErrorCode, HTTPStatusCode, ResultMessage";
        let names: Vec<&str> = names.split(", ").collect();
        assert_eq!(of_report(&names), Ok(None));
    }

    #[test]
    fn failures_are_told_in_their_own_words() {
        // As it falls apart in the report.
        let fields = [
            "b",
            "k",
            "",
            "failed",
            "200",
            "PermanentFailure",
            "error details: {\"failureMessage\":\"Task 2845ca0d-38d9-4c4b-abcf-379dc749c452 Key \
             not found",
            " \"\"errorCode\"\": \"404\"}\"",
        ];
        let row = of_report(&fields).unwrap().unwrap();
        assert_eq!(row.outcome, RowOutcome::Failed(Some(404), "Key not found".to_owned()));
        let row =
            of_report(&["b", "k", "", "failed", "403", "", "Access denied"]).unwrap().unwrap();
        assert_eq!(row.outcome, RowOutcome::Failed(Some(403), "Access denied".to_owned()));
    }

    #[test]
    fn an_inventory_has_lengths_and_etags() {
        let columns = Columns::parse(
            "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, ETag, EncryptionStatus, \
             ChecksumAlgorithm",
        )
        .unwrap();
        let etag = "25f9e794323b453885f5181f1b624d0b";
        let fields = ["b", "k", "v1", "true", "false", "9", etag, "SSE-S3", "CRC64NVME"];
        let row = columns.row(&fields).unwrap();
        let RowOutcome::Found(object) = &row.outcome else { panic!("{row:?}") };
        assert_eq!((object.length, object.digests.len(), row.current), (Some(9), 1, true));
        assert_eq!(object.unknown, ["CRC64NVME (not in the inventory)"]);
        let sealed = ["b", "k", "v1", "false", "false", "9", etag, "SSE-KMS", ""];
        let row = columns.row(&sealed).unwrap();
        let RowOutcome::Found(object) = &row.outcome else { panic!("{row:?}") };
        assert!(object.digests.is_empty() && !row.current);
        assert!(columns.row(&["b", "k"]).is_err());
        assert!(Columns::parse("Key, Size").is_err());
    }
}
