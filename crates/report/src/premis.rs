//! Writes fixity records for archives: a PREMIS 3 document of objects, events and agents.
//!
//! In: files with their tags, then their events. Out: XML, piece by piece, in constant memory. The
//! schema requires all objects before all events; the types here enforce this order.
//! `docs/formats/premis.md` specifies what is written. Knows no files and no clock.
//!
//! Source: PREMIS Data Dictionary 3.0 (2015), and its schema `premis-v3-0.xsd` (2016); terms of
//! the preservation vocabularies at id.loc.gov.

mod name;
mod of_history;
mod xml;

use std::collections::BTreeSet;
use std::path::Path;

use steadfast::catalogue::{FileState, RepairSource, RunRecord};
use steadfast::names::NameBytes as _;
use steadfast::{Algorithm, Origin, Tag, Timestamp};

use crate::units;
use crate::view::algorithm_title;

pub use of_history::write_premis;

use name::PremisName;
use xml::{Term, Xml};

/// The vocabularies of the Library of Congress.
const VOCABULARIES: &str = "http://id.loc.gov/vocabulary/preservation/";

/// The first part of a document: its objects.
#[derive(Debug)]
pub struct PremisObjects {
    xml: Xml,
}

impl PremisObjects {
    /// Begins the document of a tree; the tree is its first object.
    pub fn begin(root: &Path, out: &mut Vec<u8>) -> PremisObjects {
        let mut xml = Xml::default();
        xml.declare(out);
        let schema = "http://www.loc.gov/premis/v3 \
                      https://www.loc.gov/standards/premis/v3/premis-v3-0.xsd";
        let attributes = [
            ("xmlns", "http://www.loc.gov/premis/v3"),
            ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
            ("xsi:schemaLocation", schema),
            ("version", "3.0"),
        ];
        xml.open("premis", &attributes, out);
        let name = PremisName::of(root);
        xml.open("object", &[("xsi:type", "intellectualEntity")], out);
        write_identifier(&mut xml, "objectIdentifier", name.kind, &name.value, out);
        name.write_original(&mut xml, out);
        xml.close(out);
        PremisObjects { xml }
    }

    /// Appends a file, by its path from the root, with its length in bytes. Without a tag it has no
    /// fixity.
    pub fn file(&mut self, path: &Path, tag: Option<&Tag>, length: Option<u64>, out: &mut Vec<u8>) {
        let xml = &mut self.xml;
        let name = PremisName::of(path);
        xml.open("object", &[("xsi:type", "file")], out);
        write_identifier(xml, "objectIdentifier", name.kind, &name.value, out);
        xml.open("objectCharacteristics", &[], out);
        if let Some(tag) = tag {
            xml.open("fixity", &[], out);
            xml.term("messageDigestAlgorithm", &algorithm_term(tag.algorithm), out);
            xml.text("messageDigest", &tag.digest.to_string(), out);
            xml.text("messageDigestOriginator", "steadfast", out);
            xml.close(out);
        }
        // The schema's type for a size has 63 bits.
        if let Some(length) = length.filter(|length| i64::try_from(*length).is_ok()) {
            xml.text("size", &length.to_string(), out);
        }
        // The schema requires a format, which Steadfast does not determine.
        xml.open("format", &[], out);
        xml.open("formatDesignation", &[], out);
        xml.text("formatName", "unknown", out);
        xml.close(out);
        xml.close(out);
        xml.close(out);
        name.write_original(xml, out);
        xml.close(out);
    }

    /// Ends the objects and begins the events.
    pub fn events(self) -> PremisEvents {
        PremisEvents { xml: self.xml, versions: BTreeSet::new() }
    }
}

/// An event of a file, as PREMIS names it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PremisHappening<'a> {
    /// The file was read and compared with its tag, or could not be.
    FixityCheck {
        /// The resulting state.
        standing: FileState,
    },
    /// A digest was computed and stored as the file's tag.
    DigestCalculation {
        /// The tag.
        tag: &'a Tag,
        /// The tag before, if it had other contents.
        before: Option<&'a Tag>,
    },
    /// Damaged or missing contents were restored.
    Recovery {
        /// Where they came from.
        sources: &'a [RepairSource],
    },
    /// The file was moved here from another path.
    FilenameChange {
        /// The other path, from the root.
        from: &'a Path,
    },
}

impl PremisHappening<'_> {
    /// Returns the term of the vocabulary of event types.
    fn term(&self) -> Term<'static> {
        let (text, code) = match self {
            PremisHappening::FixityCheck { .. } => ("fixity check", "fix"),
            PremisHappening::DigestCalculation { .. } => ("message digest calculation", "mes"),
            PremisHappening::Recovery { .. } => ("recovery", "rec"),
            PremisHappening::FilenameChange { .. } => ("filename change", "fil"),
        };
        Term::of("eventType", text, code)
    }

    fn succeeded(&self) -> bool {
        !matches!(self, PremisHappening::FixityCheck { standing } if !standing.proves())
    }

    /// Returns the outcome in words.
    fn note(&self) -> String {
        match self {
            PremisHappening::FixityCheck { standing } => standing_note(*standing).to_owned(),
            PremisHappening::DigestCalculation { tag, before: Some(before) } => {
                format!("{}, in place of {}", contents(tag), contents(before))
            }
            PremisHappening::DigestCalculation { tag, before: None } => contents(tag),
            PremisHappening::Recovery { sources } => {
                let notes: Vec<String> = sources.iter().map(source_note).collect();
                format!("restored to the contents of the tag: {}", notes.join("; "))
            }
            PremisHappening::FilenameChange { from } => {
                let name = PremisName::of(from);
                format!("from {}: {}", name.kind, name.value)
            }
        }
    }
}

/// The second part of a document: its events and agents.
#[derive(Debug)]
pub struct PremisEvents {
    xml: Xml,
    /// The versions of this program that made the events.
    versions: BTreeSet<String>,
}

impl PremisEvents {
    /// Appends an event of a file in a run. `path` is relative to the root.
    pub fn event(
        &mut self,
        path: &Path,
        run: &RunRecord,
        at: Timestamp,
        happening: PremisHappening<'_>,
        out: &mut Vec<u8>,
    ) {
        let xml = &mut self.xml;
        let (event_type, name) = (happening.term(), PremisName::of(path));
        let kind = event_type.text.replace(' ', "-");
        let identifier = format!("run-{}/{kind}/{}", run.id, path.percent_encoded());
        xml.open("event", &[], out);
        write_identifier(xml, "eventIdentifier", "local", &identifier, out);
        xml.term("eventType", &event_type, out);
        xml.text("eventDateTime", &moment(at), out);
        xml.open("eventDetailInformation", &[], out);
        xml.text("eventDetail", &detail(run), out);
        xml.close(out);
        xml.open("eventOutcomeInformation", &[], out);
        let outcome = match happening.succeeded() {
            true => Term::of("eventOutcome", "success", "suc"),
            false => Term::of("eventOutcome", "fail", "fai"),
        };
        xml.term("eventOutcome", &outcome, out);
        xml.open("eventOutcomeDetail", &[], out);
        xml.text("eventOutcomeDetailNote", &happening.note(), out);
        xml.close(out);
        xml.close(out);
        xml.open("linkingAgentIdentifier", &[], out);
        xml.text("linkingAgentIdentifierType", "local", out);
        xml.text("linkingAgentIdentifierValue", &agent(&run.version), out);
        let role = Term::of("eventRelatedAgentRole", "executing program", "exe");
        xml.term("linkingAgentRole", &role, out);
        xml.close(out);
        write_identifier(xml, "linkingObjectIdentifier", name.kind, &name.value, out);
        xml.close(out);
        if !self.versions.contains(&run.version) {
            self.versions.insert(run.version.clone());
        }
    }

    /// Appends the agents and the end.
    pub fn end(mut self, out: &mut Vec<u8>) {
        let xml = &mut self.xml;
        for version in &self.versions {
            xml.open("agent", &[], out);
            write_identifier(xml, "agentIdentifier", "local", &agent(version), out);
            xml.text("agentName", "steadfast", out);
            xml.term("agentType", &Term::of("agentType", "software", "sof"), out);
            xml.text("agentVersion", version, out);
            xml.close(out);
        }
        xml.close(out);
    }
}

/// Appends an identifier: its type and its value.
fn write_identifier(xml: &mut Xml, of: &'static str, kind: &str, value: &str, out: &mut Vec<u8>) {
    let (kind_name, value_name) = match of {
        "objectIdentifier" => ("objectIdentifierType", "objectIdentifierValue"),
        "eventIdentifier" => ("eventIdentifierType", "eventIdentifierValue"),
        "agentIdentifier" => ("agentIdentifierType", "agentIdentifierValue"),
        _ => ("linkingObjectIdentifierType", "linkingObjectIdentifierValue"),
    };
    xml.open(of, &[], out);
    xml.text(kind_name, kind, out);
    xml.text(value_name, value, out);
    xml.close(out);
}

fn agent(version: &str) -> String {
    format!("steadfast {version}")
}

fn detail(run: &RunRecord) -> String {
    let from = match run.read_from {
        Some(Origin::Media) => "asked of the medium",
        _ => "read through the page cache",
    };
    let RunRecord { id, verb, backend, .. } = run;
    format!("run {id}, {verb}; {from}; backend {backend}; {}", run.state.name())
}

/// Says what came from a source of a repair.
fn source_note(source: &RepairSource) -> String {
    let name = PremisName::of(&source.path);
    let bytes: u64 = source.ranges.iter().map(|range| range.end - range.start).sum();
    format!("{bytes} bytes from {}: {}", name.kind, name.value)
}

/// Returns the outcome of a fixity check that resulted in a state.
fn standing_note(standing: FileState) -> &'static str {
    match standing {
        FileState::Fine => "intact: the digest is that of the tag",
        FileState::Touched => {
            "touched: the digest is that of the tag, the modification time is another"
        }
        FileState::Modified => "modified: other contents than tagged, which something wrote",
        FileState::Corrupt => "corrupt: other contents, and nothing is known to have written them",
        FileState::Suspect => {
            "suspect: something changed the contents and kept the modification time"
        }
        FileState::Differs => "differs: other contents than those of a record without times",
        FileState::Unreadable => "unreadable: nothing is known of the contents",
        FileState::Unstable => "unstable: the file changed while it was read",
        FileState::Missing => "missing: the file is gone",
        FileState::TagLost => {
            "intact: the digest is that of the tag in the catalogue; the file has lost its own"
        }
        FileState::TagReplaced => {
            "tag replaced: the file's own tag is of other contents than the catalogue's"
        }
    }
}

fn contents(tag: &Tag) -> String {
    format!("{} {}", algorithm_title(tag.algorithm), tag.digest)
}

/// An algorithm, with its term where the vocabulary has one.
fn algorithm_term(algorithm: Algorithm) -> Term<'static> {
    let code = match algorithm {
        Algorithm::Md5 => "md5",
        Algorithm::Sha1 => "sha1",
        Algorithm::Sha256 => "sha256",
        Algorithm::Sha384 => "sha384",
        Algorithm::Sha512 => "sha512",
        _ => return Term::plain(algorithm_title(algorithm)),
    };
    Term::of("cryptographicHashFunctions", algorithm_title(algorithm), code)
}

/// Returns a moment in ISO 8601.
fn moment(at: Timestamp) -> String {
    units::moment(at).replacen(' ', "T", 1)
}
