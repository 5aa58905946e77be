//! Compares a signature's attributes with the code directories: a digest, a list and a set.

use crate::apple::AppleError;
use crate::ber::{Element, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE};
use crate::cms::{SignedData, Signer, oid};
use crate::directory::CodeDirectory;
use crate::finding::{CodeFinding, FindingKind};
use crate::hash::HashType;
use crate::plist::Value;
use crate::signature::Signature;

/// The result of comparing one attribute with the directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// The attribute is absent.
    #[default]
    Absent,
    /// It matches the directories.
    Same,
    /// It does not match the directories.
    Differs,
}

/// The attributes that bind the directories to the signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bindings {
    /// The digest of the directory of slot 0.
    pub message_digest: Binding,
    /// The list of every directory's hash, cut to 20 bytes.
    pub list: Binding,
    /// The set of every directory's hash by algorithm, not cut.
    pub set: Binding,
}

impl Bindings {
    /// Compares the attributes of a signer with the directories there are.
    pub(crate) fn of(
        signer: &Signer<'_>,
        message: &SignedData<'_>,
        signature: &Signature,
        findings: &mut Vec<CodeFinding>,
    ) -> Bindings {
        let mut bindings = Bindings::default();
        let mut fail = |kind, text: &str| {
            findings.push(CodeFinding::failure(kind, AppleError::SignatureFailed, text));
        };
        // Without attributes the signature covers the directory itself, and checking it is enough.
        if signer.has_signed_attributes() {
            bindings.message_digest = message_digest(signer, signature);
            if signer.hash.is_some() && bindings.message_digest != Binding::Same {
                let text = "the signature is over another code directory than the one there is";
                fail(FindingKind::SignerDigest, text);
            }
            let named = signer.signed_value(oid::CONTENT_TYPE).and_then(|value| value.oid().ok());
            if named.as_ref() != Some(&message.content_type) {
                fail(FindingKind::SignerMalformed, "the signature names another kind of content");
            }
        }
        if signer.has_signed(oid::AGILITY_LIST) {
            bindings.list = tie(list_matches(signer, signature));
            if bindings.list == Binding::Differs {
                let text = "the signed list of code directories is not the list of those there are";
                fail(FindingKind::SignerDirectories, text);
            }
        }
        if signer.has_signed(oid::AGILITY_SET) {
            bindings.set = tie(set_matches(signer, signature));
            if bindings.set == Binding::Differs {
                let text = "the signed set of code directories is not the set of those there are";
                fail(FindingKind::SignerDirectories, text);
            }
        }
        if signer.has_signed_attributes() && signer.hash.is_none() {
            let text = format!(
                "digest algorithm {} is not known here: what the signature is over is not verified",
                signer.hash_oid
            );
            findings.push(CodeFinding::unverified(FindingKind::SignerDigest, None, text));
        }
        let tied = bindings.list == Binding::Same || bindings.set == Binding::Same;
        if signature.directories().len() > 1 && !tied {
            let text = "nothing ties the alternate code directories to the signature";
            findings.push(CodeFinding::unverified(FindingKind::SignerDirectories, None, text));
        }
        bindings
    }
}

fn tie(same: Option<bool>) -> Binding {
    if same == Some(true) { Binding::Same } else { Binding::Differs }
}

fn message_digest(signer: &Signer<'_>, signature: &Signature) -> Binding {
    let (Some(stated), Some(hash)) = (signer.message_digest(), signer.hash) else {
        return Binding::Absent;
    };
    tie(Some(signature.base_directory().digest(hash).as_bytes() == stated))
}

/// Compares the list, which must have the hashes in the order of their types' numbers.
fn list_matches(signer: &Signer<'_>, signature: &Signature) -> Option<bool> {
    let value = signer.signed_value(oid::AGILITY_LIST)?.octets().ok()?;
    let list = Value::parse(&value).ok()?;
    let stated: Option<Vec<&[u8]>> =
        list.get("cdhashes")?.as_list()?.iter().map(Value::as_data).collect();
    let mut directories: Vec<&CodeDirectory> = signature.directories().iter().collect();
    directories.sort_by_key(|directory| directory.hash_type().number());
    let hashes: Vec<_> = directories.iter().map(|directory| directory.cdhash()).collect();
    let actual: Vec<&[u8]> = hashes.iter().map(|hash| &hash.as_bytes()[..]).collect();
    Some(stated? == actual)
}

/// Compares the set, which must have as many hashes as there are directories, and each of theirs.
///
/// The two types that are cut from SHA-256 or not have the same identifier, so that a file with
/// both never matches.
fn set_matches(signer: &Signer<'_>, signature: &Signature) -> Option<bool> {
    let values = signer.signed_values(oid::AGILITY_SET)?;
    let stated: Vec<(String, Vec<u8>)> = values.iter().map(set_entry).collect::<Option<_>>()?;
    let directories = signature.directories();
    let all_stated = directories.iter().all(|directory| {
        let algorithm = match directory.hash_type() {
            HashType::Sha1 => "1.3.14.3.2.26",
            HashType::Sha256 | HashType::Sha256Truncated => "2.16.840.1.101.3.4.2.1",
            HashType::Sha384 => "2.16.840.1.101.3.4.2.2",
        };
        let hash = directory.cdhash_full();
        let mut entries = stated.iter().filter(|(oid, _)| oid == algorithm);
        let found = entries.next().is_some_and(|(_, stated)| stated == hash.as_bytes());
        found && entries.next().is_none()
    });
    Some(stated.len() == directories.len() && all_stated)
}

fn set_entry(value: &Element<'_>) -> Option<(String, Vec<u8>)> {
    if value.tag != SEQUENCE {
        return None;
    }
    let mut fields = value.children();
    let algorithm = fields.expect(OBJECT_IDENTIFIER).ok()?.oid().ok()?;
    let hash = fields.expect(OCTET_STRING).ok()?.octets().ok()?.into_owned();
    Some((algorithm, hash))
}
