//! Parses a store's responses in XML.
//!
//! In: untrusted bytes of bounded length. Out: a listing, the parts of an object, or why the store
//! refused. Resolves only the predefined entities, and refuses document types.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roxmltree::{Document, Node, ParsingOptions};
use steadfast_digest::Digest;

use crate::algorithm::ObjectAlgorithm;
use crate::error::{Error, ErrorKind};
use crate::listing::{ListedObject, Listing, ObjectPart};
use crate::names::unescape;
use crate::object::{Extent, extent_named};

/// Nodes of the longest listing: 1000 objects with ten elements, their texts and spaces.
const NODES_MAX: u32 = 100_000;

fn parse(body: &[u8]) -> Result<(&str, ParsingOptions<'_>), Error> {
    let text = str::from_utf8(body).map_err(|_| malformed("it is not UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Ok((text, ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..Default::default() }))
}

fn malformed(why: &str) -> Error {
    Error::new(ErrorKind::Malformed, format!("the store's answer makes no sense: {why}"))
}

/// Parses a response whose root element must have the name.
fn document<'a>(body: &'a [u8], name: &str) -> Result<Document<'a>, Error> {
    let (text, options) = parse(body)?;
    let document = Document::parse_with_options(text, options)
        .map_err(|error| malformed(&error.to_string()))?;
    match document.root_element().tag_name().name() == name {
        true => Ok(document),
        false => Err(malformed(&format!("it is no `{name}`"))),
    }
}

fn text_of<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let found = node.children().find(|child| child.has_tag_name_local(name))?;
    Some(found.text().unwrap_or(""))
}

/// Compares names without the namespace, in which stores differ.
trait LocalName {
    fn has_tag_name_local(&self, name: &str) -> bool;
}

impl LocalName for Node<'_, '_> {
    fn has_tag_name_local(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

/// Parses a batch of a listing.
pub(crate) fn listing(body: &[u8]) -> Result<Listing, Error> {
    let document = document(body, "ListBucketResult")?;
    let root = document.root_element();
    let escaped = text_of(root, "EncodingType") == Some("url");
    let mut objects = Vec::new();
    for entry in root.children().filter(|child| child.has_tag_name_local("Contents")) {
        let key = text_of(entry, "Key").ok_or_else(|| malformed("an object has no name"))?;
        let key = match escaped {
            true => unescape(key, true).ok_or_else(|| malformed("a name is not UTF-8"))?,
            false => key.to_owned(),
        };
        let length = text_of(entry, "Size").and_then(|size| size.trim().parse().ok());
        let length = length.ok_or_else(|| malformed("an object has no length"))?;
        objects.push(ListedObject { key, length });
    }
    let truncated = text_of(root, "IsTruncated").map(str::trim) == Some("true");
    let next = text_of(root, "NextContinuationToken").filter(|token| !token.is_empty());
    match (truncated, next) {
        (true, None) => Err(malformed("it goes on, and does not say where")),
        (true, Some(next)) => Ok(Listing { objects, next: Some(next.to_owned()) }),
        (false, _) => Ok(Listing { objects, next: None }),
    }
}

/// Parses an object's attributes.
fn attributes(body: &[u8]) -> Result<Document<'_>, Error> {
    document(body, "GetObjectAttributesResponse")
        .or_else(|_| document(body, "GetObjectAttributesOutput"))
}

/// Reads the extent of an object's digests from its attributes: the stated type, or composite if
/// there are parts. Returns `None` if there is neither.
pub(crate) fn extent(body: &[u8]) -> Result<Option<Extent>, Error> {
    let document = attributes(body)?;
    let root = document.root_element();
    let child = |name| root.children().find(|child| child.has_tag_name_local(name));
    let kind = child("Checksum").and_then(|sums| text_of(sums, "ChecksumType"));
    if let Some(kind) = kind {
        return Ok(Some(extent_named(kind.trim())).filter(|extent| *extent != Extent::Unknown));
    }
    let parts = child("ObjectParts");
    let count = |name| parts.and_then(|parts| text_of(parts, name));
    let count = count("TotalPartsCount").or(count("PartsCount"));
    Ok(parts.map(|_| Extent::Composite(count.and_then(|count| count.trim().parse().ok()))))
}

/// Reads some parts of an object, and the marker of the next ones.
pub(crate) fn parts(
    body: &[u8],
    algorithm: ObjectAlgorithm,
) -> Result<(Vec<ObjectPart>, Option<String>), Error> {
    let document = attributes(body)?;
    let root = document.root_element();
    let Some(node) = root.children().find(|child| child.has_tag_name_local("ObjectParts")) else {
        return Ok((Vec::new(), None));
    };
    let name = format!("Checksum{}", algorithm.store_name());
    let mut parts = Vec::new();
    for entry in node.children().filter(|child| child.has_tag_name_local("Part")) {
        let number = |name| text_of(entry, name).and_then(|text| text.trim().parse::<u64>().ok());
        let length = number("Size").ok_or_else(|| malformed("a part has no length"))?;
        let digest = text_of(entry, &name).and_then(|text| STANDARD.decode(text.trim()).ok());
        let digest = digest.filter(|bytes| bytes.len() == algorithm.digest_len());
        parts.push(ObjectPart {
            length,
            digest: digest.and_then(|bytes| Digest::from_slice(&bytes)),
        });
    }
    let truncated = text_of(node, "IsTruncated").map(str::trim) == Some("true");
    let next = text_of(node, "NextPartNumberMarker").map(|marker| marker.trim().to_owned());
    match (truncated, next) {
        (true, None) => Err(malformed("its parts go on, and it does not say where")),
        (true, next) => Ok((parts, next)),
        (false, _) => Ok((parts, None)),
    }
}

/// Returns why the store refused, as the end of a message. Empty if it did not say.
pub(crate) fn error(body: &[u8]) -> String {
    let Ok(document) = document(body, "Error") else { return String::new() };
    let root = document.root_element();
    let get = |name| text_of(root, name).map(str::trim).filter(|text| !text.is_empty());
    match (get("Code"), get("Message")) {
        (Some(code), Some(message)) => format!(" {code}: {message}"),
        (Some(text), None) | (None, Some(text)) => format!(" {text}"),
        (None, None) => String::new(),
    }
}

/// Returns whether the bucket does not exist.
pub(crate) fn is_no_bucket(body: &[u8]) -> bool {
    error(body).starts_with(" NoSuchBucket")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"urn:x\">\
        <EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>\
        <NextContinuationToken>a&amp;b</NextContinuationToken>\
        <Contents><Key>a+b%2F%C3%A9</Key><Size>7</Size><ETag>&quot;x&quot;</ETag></Contents>\
        </ListBucketResult>";

    #[test]
    fn a_listing() {
        let found = listing(LISTING.as_bytes()).unwrap();
        assert_eq!(found.objects, [ListedObject { key: "a b/é".to_owned(), length: 7 }]);
        assert_eq!(found.next.as_deref(), Some("a&b"));
        let plain = LISTING.replace("<EncodingType>url</EncodingType>", "");
        assert_eq!(listing(plain.as_bytes()).unwrap().objects[0].key, "a+b%2F%C3%A9");
    }

    #[test]
    fn malformed_listings_are_refused() {
        let broken = [
            LISTING.replace("<Size>7</Size>", "<Size>-7</Size>"),
            LISTING.replace("<NextContinuationToken>a&amp;b</NextContinuationToken>", ""),
            LISTING.replace("<Key>a+b%2F%C3%A9</Key>", "<Key>%FF</Key>"),
            LISTING.replace("</ListBucketResult>", ""),
            LISTING.replace("ListBucketResult", "Html"),
            format!("<!DOCTYPE x [<!ENTITY a \"b\">]>{LISTING}"),
            String::new(),
        ];
        for body in broken {
            assert_eq!(
                listing(body.as_bytes()).unwrap_err().kind(),
                ErrorKind::Malformed,
                "{body}"
            );
        }
        assert_eq!(listing(b"\xff").unwrap_err().kind(), ErrorKind::Malformed);
    }

    #[test]
    fn every_cut_of_an_answer_is_an_error_and_no_panic() {
        for at in 0..LISTING.len() {
            assert!(listing(&LISTING.as_bytes()[..at]).is_err(), "{at}");
            let _ = error(&LISTING.as_bytes()[..at]);
        }
    }

    #[test]
    fn extents() {
        let of = |inner: &str| {
            let body =
                format!("<GetObjectAttributesResponse>{inner}</GetObjectAttributesResponse>");
            extent(body.as_bytes()).unwrap()
        };
        let typed = |kind| format!("<Checksum><ChecksumType>{kind}</ChecksumType></Checksum>");
        assert_eq!(of(&typed("FULL_OBJECT")), Some(Extent::Whole));
        assert_eq!(of(&typed("COMPOSITE")), Some(Extent::Composite(None)));
        assert_eq!(of(&typed("LATER")), None);
        let parts = "<ObjectParts><TotalPartsCount>3</TotalPartsCount></ObjectParts>";
        assert_eq!(of(parts), Some(Extent::Composite(Some(3))));
        assert_eq!(of(&(typed("FULL_OBJECT") + parts)), Some(Extent::Whole));
        assert_eq!(of("<ETag>x</ETag>"), None);
        assert!(extent(b"<Error/>").is_err());
    }

    #[test]
    fn parts_and_reasons() {
        let body = "<GetObjectAttributesResponse><ObjectParts><IsTruncated>false</IsTruncated>\
            <Part><PartNumber>1</PartNumber><Size>5</Size><ChecksumCRC32>y/Q5Jg==</ChecksumCRC32>\
            </Part><Part><Size>2</Size></Part></ObjectParts></GetObjectAttributesResponse>";
        let crc = ObjectAlgorithm::named("CRC32").unwrap();
        let (found, next) = parts(body.as_bytes(), crc).unwrap();
        assert_eq!((found.len(), next), (2, None));
        assert_eq!(found[0].digest.unwrap().to_string(), "cbf43926");
        assert_eq!((found[1].length, found[1].digest), (2, None));
        let body = b"<Error><Code>SlowDown</Code><Message>Please reduce</Message></Error>";
        assert_eq!(error(body), " SlowDown: Please reduce");
        assert_eq!(error(b"<html>"), "");
    }
}
