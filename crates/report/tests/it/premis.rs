//! PREMIS documents: exact ones, and all of them held against the rules of the schema.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use proptest::prelude::*;
use roxmltree::{Document, Node};
use steadfast::catalogue::FileState;
use steadfast::{Algorithm, Digest, Tag};
use steadfast_report::premis::{PremisHappening, PremisObjects, write_premis};

use crate::exact::compare_bytes;
use crate::ledger::{self, hostile, moment, run};

const NAMESPACE: &str = "http://www.loc.gov/premis/v3";
const INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// How often a child may stand: at least and at most.
type Often = (&'static str, usize, usize);

const MANY: usize = usize::MAX;

/// The schema's sequences, as far as this program writes elements of them. What is left out of a
/// sequence here must not be written without adding it.
///
/// Source: `premis-v3-0.xsd` of 18 January 2016.
const SEQUENCES: &[(&str, &[Often])] = &[
    ("premis", &[("object", 1, MANY), ("event", 0, MANY), ("agent", 0, MANY)]),
    (
        "object file",
        &[
            ("objectIdentifier", 1, MANY),
            ("objectCharacteristics", 1, MANY),
            ("originalName", 0, 1),
        ],
    ),
    ("object intellectualEntity", &[("objectIdentifier", 1, MANY), ("originalName", 0, 1)]),
    ("objectIdentifier", &[("objectIdentifierType", 1, 1), ("objectIdentifierValue", 1, 1)]),
    ("objectCharacteristics", &[("fixity", 0, MANY), ("size", 0, 1), ("format", 1, MANY)]),
    (
        "fixity",
        &[
            ("messageDigestAlgorithm", 1, 1),
            ("messageDigest", 1, 1),
            ("messageDigestOriginator", 0, 1),
        ],
    ),
    ("format", &[("formatDesignation", 1, 1)]),
    ("formatDesignation", &[("formatName", 1, 1)]),
    (
        "event",
        &[
            ("eventIdentifier", 1, 1),
            ("eventType", 1, 1),
            ("eventDateTime", 1, 1),
            ("eventDetailInformation", 0, MANY),
            ("eventOutcomeInformation", 0, MANY),
            ("linkingAgentIdentifier", 0, MANY),
            ("linkingObjectIdentifier", 0, MANY),
        ],
    ),
    ("eventIdentifier", &[("eventIdentifierType", 1, 1), ("eventIdentifierValue", 1, 1)]),
    ("eventDetailInformation", &[("eventDetail", 0, 1)]),
    ("eventOutcomeInformation", &[("eventOutcome", 1, 1), ("eventOutcomeDetail", 0, MANY)]),
    ("eventOutcomeDetail", &[("eventOutcomeDetailNote", 1, 1)]),
    (
        "linkingAgentIdentifier",
        &[
            ("linkingAgentIdentifierType", 1, 1),
            ("linkingAgentIdentifierValue", 1, 1),
            ("linkingAgentRole", 0, MANY),
        ],
    ),
    (
        "linkingObjectIdentifier",
        &[("linkingObjectIdentifierType", 1, 1), ("linkingObjectIdentifierValue", 1, 1)],
    ),
    (
        "agent",
        &[
            ("agentIdentifier", 1, MANY),
            ("agentName", 0, MANY),
            ("agentType", 0, 1),
            ("agentVersion", 0, 1),
        ],
    ),
    ("agentIdentifier", &[("agentIdentifierType", 1, 1), ("agentIdentifierValue", 1, 1)]),
];

/// Elements of the schema's type `stringPlusAuthority`: text that may name its vocabulary. All
/// other leaves are text without attributes.
const TERMS: &[&str] = &[
    "agentIdentifierType",
    "agentName",
    "agentType",
    "eventIdentifierType",
    "eventOutcome",
    "eventType",
    "formatName",
    "linkingAgentIdentifierType",
    "linkingAgentRole",
    "linkingObjectIdentifierType",
    "messageDigestAlgorithm",
    "messageDigestOriginator",
    "objectIdentifierType",
];

/// Terms of the vocabularies at id.loc.gov that this program uses.
const VOCABULARIES: &[(&str, &[(&str, &str)])] = &[
    ("agentType", &[("software", "sof")]),
    (
        "cryptographicHashFunctions",
        &[
            ("MD5", "md5"),
            ("SHA-1", "sha1"),
            ("SHA-256", "sha256"),
            ("SHA-384", "sha384"),
            ("SHA-512", "sha512"),
        ],
    ),
    ("eventOutcome", &[("success", "suc"), ("fail", "fai")]),
    ("eventRelatedAgentRole", &[("executing program", "exe")]),
    (
        "eventType",
        &[
            ("fixity check", "fix"),
            ("message digest calculation", "mes"),
            ("recovery", "rec"),
            ("filename change", "fil"),
        ],
    ),
];

/// Holds a document against the rules, and its links against its objects and agents.
#[track_caller]
fn ensure_valid(document: &[u8]) {
    let text = str::from_utf8(document).expect("it is UTF-8");
    let document = Document::parse(text).expect("it is well-formed");
    let root = document.root_element();
    assert_eq!((root.tag_name().name(), root.attribute("version")), ("premis", Some("3.0")));
    ensure_element(root);
    let objects = identifiers(root, "objectIdentifier");
    let agents = identifiers(root, "agentIdentifier");
    for linked in identifiers(root, "linkingObjectIdentifier") {
        assert!(objects.contains(&linked), "{linked:?} is no object of the document");
    }
    for linked in identifiers(root, "linkingAgentIdentifier") {
        assert!(agents.contains(&linked), "{linked:?} is no agent of the document");
    }
    let events = root.descendants().filter(|node| node.has_tag_name((NAMESPACE, "event"))).count();
    assert_eq!(identifiers(root, "eventIdentifier").len(), events, "each has its own identifier");
}

fn identifiers<'d>(root: Node<'d, '_>, of: &str) -> BTreeSet<(&'d str, &'d str)> {
    let found = root.descendants().filter(|node| node.has_tag_name((NAMESPACE, of)));
    let part = |node: &Node<'d, '_>, end: &str| {
        let name = format!("{of}{end}");
        let mut parts = node.children();
        let part = parts.find(|child| child.has_tag_name((NAMESPACE, name.as_str())));
        part.and_then(|part| part.text()).unwrap()
    };
    found.map(|node| (part(&node, "Type"), part(&node, "Value"))).collect()
}

#[track_caller]
fn ensure_element(node: Node<'_, '_>) {
    let name = node.tag_name().name();
    assert_eq!(node.tag_name().namespace(), Some(NAMESPACE), "{name}");
    let kind = match node.attribute((INSTANCE, "type")) {
        Some(kind) => format!("{name} {kind}"),
        None => name.to_owned(),
    };
    let Some((_, sequence)) = SEQUENCES.iter().find(|(of, _)| *of == kind) else {
        return ensure_leaf(node);
    };
    let children: Vec<Node<'_, '_>> = node.children().filter(Node::is_element).collect();
    let mut names = children.iter().map(|child| child.tag_name().name()).peekable();
    for (child, least, most) in *sequence {
        let mut count = 0;
        while names.next_if(|name| name == child).is_some() {
            count += 1;
        }
        assert!((*least..=*most).contains(&count), "{count} times `{child}` in `{kind}`");
    }
    assert_eq!(names.next(), None, "in `{kind}`: not there, or not in this order");
    let blank = |node: &Node<'_, '_>| node.text().is_none_or(|text| text.trim().is_empty());
    assert!(node.children().filter(Node::is_text).all(|text| blank(&text)), "text in `{kind}`");
    children.into_iter().for_each(ensure_element);
}

#[track_caller]
fn ensure_leaf(node: Node<'_, '_>) {
    let name = node.tag_name().name();
    let known = SEQUENCES.iter().flat_map(|(_, sequence)| sequence.iter());
    assert!(known.clone().any(|(child, ..)| *child == name), "`{name}` is in no rule");
    assert!(!node.children().any(|child| child.is_element()), "`{name}` holds text alone");
    let text = node.text().unwrap_or_default();
    assert!(!text.is_empty(), "`{name}` says nothing");
    match name {
        "size" => drop(text.parse::<i64>().expect("`xs:long`")),
        "eventDateTime" => assert!(text.len() == 20 && text.ends_with('Z'), "{text}"),
        _ => {}
    }
    let attributes: BTreeMap<&str, &str> =
        node.attributes().map(|attribute| (attribute.name(), attribute.value())).collect();
    if attributes.is_empty() {
        return;
    }
    assert!(TERMS.contains(&name), "attributes on `{name}`");
    let authority = attributes["authority"];
    let base = format!("http://id.loc.gov/vocabulary/preservation/{authority}");
    let (_, terms) = VOCABULARIES.iter().find(|(of, _)| *of == authority).expect(authority);
    let (_, code) = terms.iter().find(|(term, _)| *term == text).expect(text);
    let expected = [
        ("authority", authority),
        ("authorityURI", &base),
        ("valueURI", &format!("{base}/{code}")),
    ];
    assert_eq!(attributes, BTreeMap::from(expected));
}

fn history_document(history: &steadfast::catalogue::History) -> Vec<u8> {
    let mut out = Vec::new();
    write_premis(Path::new("/srv/photos"), history, &mut out);
    out
}

fn told(document: &[u8]) -> Vec<String> {
    let text = str::from_utf8(document).unwrap().to_owned();
    let document = Document::parse(&text).unwrap();
    let events = document.descendants().filter(|node| node.has_tag_name((NAMESPACE, "event")));
    let value = |node: Node<'_, '_>, name: &str| {
        let mut inner = node.descendants();
        let found = inner.find(|inner| inner.has_tag_name((NAMESPACE, name))).unwrap();
        found.text().unwrap().to_owned()
    };
    events
        .map(|event| {
            let parts = ["eventDateTime", "eventType", "eventOutcome"];
            parts.map(|name| value(event, name)).join(" ")
        })
        .collect()
}

#[test]
fn the_history_of_a_file() {
    let document = history_document(&ledger::history());
    ensure_valid(&document);
    compare_bytes("history.premis.xml", &document);
    assert_eq!(
        told(&document),
        [
            "2025-01-24T14:47:40Z message digest calculation success",
            "2025-05-04T14:46:40Z fixity check success",
            "2025-08-02T14:47:40Z fixity check fail",
            "2025-08-12T14:47:40Z message digest calculation success",
            "2025-10-31T14:46:40Z fixity check success",
            "2025-11-17T14:47:40Z fixity check fail",
        ]
    );
}

#[test]
fn a_file_that_moved_and_one_without_a_tag() {
    let moved = history_document(&ledger::moved_history());
    ensure_valid(&moved);
    compare_bytes("history-moved.premis.xml", &moved);
    let untagged = history_document(&ledger::untagged_history());
    ensure_valid(&untagged);
    let text = String::from_utf8(untagged).unwrap();
    assert!(!text.contains("<fixity>") && !text.contains("<event>"), "{text}");
}

/// A document of a tree with these files, each with every standing.
fn tree_document(paths: &[&Path], tags: &[Tag]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut objects = PremisObjects::begin(Path::new("/srv/photos"), &mut out);
    for (path, tag) in paths.iter().zip(tags.iter().cycle()) {
        objects.file(path, Some(tag), Some(tag.length), &mut out);
    }
    let mut events = objects.events();
    for (id, standing) in (1..).zip(FileState::ALL) {
        let mut run = run(id, "check", 9, &[]);
        run.version = format!("0.{}.0", id % 2);
        for path in paths {
            let happening = PremisHappening::FixityCheck { standing };
            events.event(path, &run, moment(run.started.seconds), happening, &mut out);
        }
    }
    events.end(&mut out);
    out
}

#[test]
fn a_tree_with_every_standing_and_every_algorithm() {
    let tag = |algorithm: &Algorithm| {
        let digest = Digest::from_slice(&vec![7; algorithm.digest_len()]).unwrap();
        Tag { algorithm: *algorithm, digest, length: 10, ..ledger::tag(1) }
    };
    let tags: Vec<Tag> = Algorithm::ALL.iter().map(tag).collect();
    let names: Vec<String> = tags.iter().map(|tag| tag.algorithm.name().to_owned()).collect();
    let paths: Vec<&Path> = names.iter().map(Path::new).collect();
    let document = tree_document(&paths, &tags);
    ensure_valid(&document);
    let said = told(&document);
    let succeeded = said.iter().filter(|event| event.ends_with("success")).count();
    assert_eq!(
        (succeeded, said.len()),
        (3 * tags.len(), steadfast::Verdict::ALL.len() * tags.len())
    );
}

#[test]
fn an_empty_tree_and_a_size_beyond_the_schema() {
    ensure_valid(&tree_document(&[], &[]));
    let vast = Tag { length: u64::MAX, ..ledger::tag(1) };
    let document = tree_document(&[Path::new("a")], &[vast]);
    ensure_valid(&document);
    assert!(!String::from_utf8(document).unwrap().contains("<size>"));
}

#[test]
fn names_that_xml_cannot_carry() {
    let odd = hostile();
    let document = tree_document(&[&odd], &[ledger::tag(1)]);
    ensure_valid(&document);
    let text = String::from_utf8(document).unwrap();
    let value = "<objectIdentifierValue>odd/%1B%5B31m%FF%20%3C%26%3E%0A.jpg<";
    assert!(text.contains(value), "{text}");
}

proptest! {
    #[test]
    fn any_name_makes_a_valid_document(
        names in prop::collection::btree_set(prop::collection::vec(1_u8.., 1..12), 1..5),
    ) {
        let paths: Vec<&Path> =
            names.iter().map(|name| Path::new(OsStr::from_bytes(name))).collect();
        let document = tree_document(&paths, &[ledger::tag(1)]);
        ensure_valid(&document);
        let text = str::from_utf8(&document).unwrap();
        let parsed = Document::parse(text).unwrap();
        let objects = identifiers(parsed.root_element(), "objectIdentifier");
        prop_assert_eq!(objects.len(), names.len() + 1, "no two names are one");
    }
}
