//! Finds code in the places of a bundle that no seal covers: names that are never sealed, what the
//! seal's own rules leave out, and what lies beside the sealed part.
//!
//! Apple's check passes over these places. The loader does not: a library is loaded from wherever a
//! path leads. So code there is never accepted, and everything else there is named.

use super::layout::read_head;
use super::tree::{BundleTree, EntryKind, joined};
use crate::apple::AppleError;
use crate::binary::is_code;
use crate::finding::{CodeFinding, FindingKind};

/// The most names that are visited beneath one unsealed folder.
const NAMES_MAX: usize = 100_000;

/// Returns a finding for each file of code at or beneath a path that no seal covers, and for what
/// could not be read there. Symlinks are not followed.
pub(super) fn code_at(tree: &dyn BundleTree, path: &[u8], kind: EntryKind) -> Vec<CodeFinding> {
    let mut found = Vec::new();
    let mut waiting = vec![(path.to_vec(), kind)];
    let mut visited = 0;
    while let Some((path, kind)) = waiting.pop() {
        visited += 1;
        if visited > NAMES_MAX {
            let text = "more names than are searched for code, in no seal";
            found.push(unreadable(path, text.to_owned()));
            break;
        }
        match kind {
            EntryKind::Folder => match tree.entries(&path) {
                Ok(entries) => waiting
                    .extend(entries.into_iter().map(|(name, kind)| (joined(&path, &name), kind))),
                Err(error) => {
                    found.push(unreadable(path, format!("in no seal, cannot be listed: {error}")));
                }
            },
            EntryKind::File => match read_head(tree, &path) {
                Ok(head) if is_code(head) => {
                    let text = "code that no seal covers";
                    let error = AppleError::UnsealedAppRoot;
                    let finding = CodeFinding::failure(FindingKind::Unsealed, error, text);
                    let finding = CodeFinding { apple: None, ..finding };
                    found.push(finding.at(|place| place.path = Some(path)));
                }
                Ok(_) => {}
                Err(error) => found.push(unreadable(path, error.to_string())),
            },
            EntryKind::Symlink | EntryKind::Other => {}
        }
    }
    found
}

/// Returns what is wrong with a name that is never sealed. Each has one form in which Apple's tools
/// make it: the folder of the signature, a stapled ticket, and a folder with a receipt.
pub(super) fn excluded(
    tree: &dyn BundleTree,
    base: &[u8],
    name: &[u8],
    kind: EntryKind,
) -> Vec<CodeFinding> {
    let path = joined(base, name);
    let added = |path: Vec<u8>, text: &str| {
        CodeFinding::failure(FindingKind::ResourceAdded, AppleError::BadResource, text)
            .at(|place| place.path = Some(path))
    };
    match (name, kind) {
        // What is in it is checked with the other parts of the signature.
        (b"_CodeSignature", EntryKind::Folder) => Vec::new(),
        (b"_CodeSignature", _) => vec![added(path, "in the place of the signature's folder")],
        // What is in it is checked as a ticket.
        (b"CodeResources", EntryKind::File) => Vec::new(),
        (b"CodeResources", _) => vec![added(path, "in the place of a stapled ticket")],
        (b"_MASReceipt", EntryKind::Folder) => match tree.entries(&path) {
            Ok(entries) => {
                let others = entries
                    .into_iter()
                    .filter(|(name, kind)| (&name[..], *kind) != (b"receipt", EntryKind::File));
                let text = "beside the receipt of Apple's store, in no seal";
                let mut found: Vec<CodeFinding> =
                    others.map(|(name, _)| added(joined(&path, &name), text)).collect();
                found.extend(code_at(tree, &path, EntryKind::Folder));
                found
            }
            Err(error) => vec![unreadable(path, format!("cannot be listed: {error}"))],
        },
        (b"_MASReceipt", _) => vec![added(path, "in the place of the receipt's folder")],
        // The main executable, which its own signature covers.
        _ => Vec::new(),
    }
}

fn unreadable(path: Vec<u8>, text: String) -> CodeFinding {
    CodeFinding::unverified(FindingKind::ResourceUnreadable, None, text)
        .at(|place| place.path = Some(path))
}
