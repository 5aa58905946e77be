//! The sample file of every operation, and the comparison afterwards.
//!
//! It has a valid tag, a previous tag, and an ordinary attribute. The result is an [`Outcome`].

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use steadfast::Algorithm;
use steadfast::run::digest_of;
use steadfast::tag::{Tag, VALUE_LEN_MAX};
use steadfast::verdict::{ChangeEvidence, Judgement, Reading, Stored, Verdict};
use steadfast_sys::file::{File, Timestamp};
use steadfast_sys::xattr;

use crate::{Outcome, Time, folder};

const CONTENTS: &[u8] = b"steadfast writes this file to see what becomes of its attributes\n";

/// 2001-09-09 01:46:41.123456789Z: the second is odd, so every coarser clock shows.
pub(super) const MTIME: Timestamp = Timestamp { seconds: 1_000_000_001, nanoseconds: 123_456_789 };

/// A file that can be made repeatedly.
pub(super) struct ProbeSample {
    tag: Tag,
    /// Names and values, the tag first.
    attributes: [(String, Vec<u8>); 3],
}

impl ProbeSample {
    pub(super) fn new() -> ProbeSample {
        let digest = digest_of(&mut &CONTENTS[..], Algorithm::Sha256);
        let tag = Tag {
            algorithm: Algorithm::Sha256,
            digest: digest.expect("reading from memory does not fail"),
            length: CONTENTS.len() as u64,
            mtime: MTIME,
            tagged: Timestamp { nanoseconds: 0, ..MTIME },
        };
        let value = tag.encode().as_bytes().to_vec();
        let plain = format!("{}org.steadfast.probe", xattr::MAC_PREFIX);
        let attributes = [
            (xattr::TAG.to_owned(), value.clone()),
            (xattr::TAG_PREVIOUS.to_owned(), value),
            (plain, b"plain".to_vec()),
        ];
        ProbeSample { tag, attributes }
    }

    /// Returns the tag's value.
    pub(super) fn tag_value(&self) -> &[u8] {
        &self.attributes[0].1
    }

    /// Makes the file and returns its modification time.
    ///
    /// # Errors
    ///
    /// If a system call fails.
    pub(super) fn write(&self, path: &Path) -> io::Result<Timestamp> {
        folder::write_new(path, CONTENTS, Some(system_time(MTIME)))?;
        let file = File::open(path)?;
        for (name, value) in &self.attributes {
            folder::set_attribute(&file, name, value)?;
        }
        Ok(file.status()?.mtime)
    }

    /// Compares a file after an operation with the original one.
    pub(super) fn outcome(&self, path: &Path, mtime: Timestamp, contents_stay: bool) -> Outcome {
        match self.read_back(path, mtime, contents_stay) {
            Ok(outcome) => outcome,
            Err(error) => Outcome::Impossible(error.to_string()),
        }
    }

    fn read_back(&self, path: &Path, mtime: Timestamp, contents_stay: bool) -> io::Result<Outcome> {
        let file = File::open(path)?;
        if contents_stay {
            let mut contents = [0; CONTENTS.len() + 1];
            let len = file.read_at(&mut contents, 0)?;
            if &contents[..len] != CONTENTS {
                return Ok(Outcome::Changed("the contents are others".to_owned()));
            }
        }
        let now = file.status()?.mtime;
        let time = match now == mtime {
            true => Time::Kept,
            false if self.bears(mtime, now) => Time::Cut,
            false => Time::New,
        };
        let mut kept = Vec::new();
        let mut value = [0; 2 * VALUE_LEN_MAX];
        for (name, expected) in &self.attributes {
            match xattr::get(&file, name, &mut value) {
                Ok(Some(len)) if &value[..len] == expected => kept.push(name.as_str()),
                Ok(Some(_)) => return Ok(Outcome::Changed(format!("{name} has another value"))),
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(error) => return Err(error),
            }
        }
        Ok(match kept.len() {
            0 => Outcome::Lost(time),
            all if all == self.attributes.len() => Outcome::Kept(time),
            _ => Outcome::Changed(format!("of three attributes only {} kept", kept.join(", "))),
        })
    }

    /// Returns whether a time equals the recorded one within the precision of a coarser clock.
    fn bears(&self, recorded: Timestamp, mtime: Timestamp) -> bool {
        let (stored, now) = (Tag { mtime: recorded, ..self.tag }, Tag { mtime, ..self.tag });
        let judged =
            Judgement::of(Stored::Tag(&stored), Reading::Whole(&now), || ChangeEvidence::NotKnown);
        judged.verdict == Verdict::Intact
    }
}

fn system_time(time: Timestamp) -> SystemTime {
    let seconds = u64::try_from(time.seconds).expect("the sample is from after 1970");
    SystemTime::UNIX_EPOCH + Duration::new(seconds, time.nanoseconds)
}
