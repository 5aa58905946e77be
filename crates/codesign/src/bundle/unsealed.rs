//! Finds code in the places of a bundle that no seal covers: names that are never sealed, what the
//! seal's own rules leave out, and what lies beside the sealed part.
//!
//! Apple's check passes over these places. The loader does not: a library is loaded from wherever a
//! path leads. So code there is never accepted, and everything else there is named.

use super::flattened::resolved;
use super::layout::form_at;
use super::tree::{BundleTree, EntryKind, joined};
use crate::apple::AppleError;
use crate::finding::{CodeFinding, FindingKind, Severity};
use crate::form::FileForm;

/// The most names that are visited beneath one unsealed folder.
const NAMES_MAX: usize = 100_000;

/// Returns a finding for each file of code at or beneath a path that no seal covers, for each
/// resource fork and symlink there that is refused, and for what could not be read. Symlinks are
/// not followed.
pub(super) fn code_at(
    tree: &dyn BundleTree,
    path: &[u8],
    kind: EntryKind,
    strict: bool,
) -> Vec<CodeFinding> {
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
            EntryKind::File => {
                found.extend(fork_of(tree, &path, strict));
                match form_at(tree, &path) {
                    Ok(Some(FileForm::MachO | FileForm::Script)) => {
                        found.push(refused(path, "code that no seal covers"));
                    }
                    Ok(Some(form)) => {
                        let text =
                            format!("{}, which no seal covers, was not looked into", form.words());
                        found.push(unreadable(path, text));
                    }
                    Ok(None) => {}
                    Err(error) => found.push(unreadable(path, error.to_string())),
                }
            }
            EntryKind::Symlink => found.extend(leads_out(tree, path)),
            EntryKind::Other => {}
        }
    }
    found
}

/// Returns a finding if a symlink in no seal leads out of the bundle, to code that no seal covers
/// either. What is inside is checked where it is.
fn leads_out(tree: &dyn BundleTree, path: Vec<u8>) -> Option<CodeFinding> {
    match tree.read_link(&path) {
        Ok(target) if resolved(b"", &path, &target).is_some() => None,
        Ok(target) => {
            let text = "a symlink that no seal covers leads out of the bundle, to";
            Some(refused(path, &format!("{text} `{}`", String::from_utf8_lossy(&target))))
        }
        Err(error) => Some(unreadable(path, error.to_string())),
    }
}

/// Returns a finding if the resource fork of a file, which no seal covers, is code. Any other fork
/// is refused by strict checking alone.
pub(super) fn fork_of(tree: &dyn BundleTree, path: &[u8], strict: bool) -> Option<CodeFinding> {
    let path = path.to_vec();
    let fork = match tree.fork(&path) {
        Ok(fork) => fork?,
        Err(error) => return Some(unreadable(path, format!("its resource fork: {error}"))),
    };
    if FileForm::of(&fork)
        .is_ok_and(|form| matches!(form, Some(FileForm::MachO | FileForm::Script)))
    {
        return Some(refused(path, "the file has a resource fork of code, which no seal covers"));
    }
    let (kind, error) = (FindingKind::Strict, AppleError::InvalidAssociatedFileData);
    let finding = CodeFinding::failure(kind, error, "has a resource fork, which no seal covers");
    Some(softened(finding, strict).at(|place| place.path = Some(path)))
}

/// Makes a failure of strict checking a warning without it.
pub(super) fn softened(mut finding: CodeFinding, strict: bool) -> CodeFinding {
    if !strict {
        finding.severity = Severity::Warning;
    }
    finding
}

pub(super) fn refused(path: Vec<u8>, text: &str) -> CodeFinding {
    let finding = CodeFinding::failure(FindingKind::Unsealed, AppleError::UnsealedAppRoot, text);
    CodeFinding { apple: None, ..finding }.at(|place| place.path = Some(path))
}

/// Returns what is wrong with a name that is never sealed. Each has one form in which Apple's tools
/// make it: the folder of the signature, a stapled ticket, and a folder with a receipt.
pub(super) fn excluded(
    tree: &dyn BundleTree,
    base: &[u8],
    name: &[u8],
    kind: EntryKind,
    strict: bool,
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
                found.extend(code_at(tree, &path, EntryKind::Folder, strict));
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
