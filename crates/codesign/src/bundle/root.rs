//! Checks what only strict checking rejects in a bundle: contents outside the sealed part, and weak
//! seals.
//!
//! Without strict checking the findings are warnings, since Apple's check accepts them. Code in
//! these places is never accepted.

use std::io;

use super::layout::{Layout, Shape};
use super::seal::{ResourceSeal, SealVersion};
use super::tree::{BundleTree, EntryKind, folded, joined};
use super::unsealed::{code_at, refused, softened};
use crate::apple::AppleError;
use crate::finding::{CodeFinding, FindingKind};

/// Names that are allowed beside `Contents`.
const BESIDE_CONTENTS: [&[u8]; 4] =
    [b".LSOverride", b".DS_Store", b"Icon\r", b".SoftwareDepot.tracking"];

/// How `Versions` says which version is meant.
const CURRENT: (&[u8], EntryKind) = (b"Current", EntryKind::Symlink);

/// Names that are allowed in `_CodeSignature`.
const IN_SIGNATURE: [&[u8]; 7] = [
    b"CodeResources",
    b"CodeDirectory",
    b"CodeSignature",
    b"CodeRequirements",
    b"CodeRequirements-1",
    b"CodeEntitlements",
    b"CodeTopDirectory",
];

/// Returns a finding for each name beside the sealed part.
pub(super) fn unsealed(tree: &dyn BundleTree, layout: &Layout, strict: bool) -> Vec<CodeFinding> {
    let (mut found, mut unlisted, mut code) = (Vec::new(), Vec::new(), Vec::new());
    let mut tell = |path: Vec<u8>, error: AppleError, text: &str| {
        let finding = CodeFinding::failure(FindingKind::UnsealedRoot, error, text);
        found.push(softened(finding, strict).at(|place| place.path = Some(path)));
    };
    let mut listed = |path: &[u8]| {
        tree.entries(path).unwrap_or_else(|error| {
            let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
            if !absent.contains(&error.kind()) {
                let text = format!("unsealed contents cannot be listed: {error}");
                let finding = CodeFinding::unverified(FindingKind::ResourceUnreadable, None, text);
                unlisted
                    .push(softened(finding, strict).at(|place| place.path = Some(path.to_vec())));
            }
            Vec::new()
        })
    };
    match layout.shape {
        Shape::Contents => {
            for (name, kind) in listed(b"").into_iter().filter(|(name, _)| name != b"Contents") {
                code.extend(code_at(tree, &name, kind, strict));
                code.extend(same_on_mac(&name, "Contents"));
                if !BESIDE_CONTENTS.contains(&&*name) {
                    tell(name, AppleError::UnsealedAppRoot, "beside `Contents`, in no seal");
                }
            }
        }
        Shape::Versions => {
            for (name, kind) in listed(b"").into_iter().filter(|(name, _)| name != b"Versions") {
                code.extend(code_at(tree, &name, kind, strict));
                code.extend(same_on_mac(&name, "Versions"));
                if !allowed_in_framework(tree, layout, &name, kind) {
                    if kind == EntryKind::Symlink && sealed_as_well(tree, layout, &name) {
                        let text = "a symlink to another place than the same name in the current \
                                    version, where the framework is loaded from";
                        code.push(refused(name.clone(), text));
                    }
                    let text = "beside `Versions`, in no seal";
                    tell(name, AppleError::UnsealedFrameworkRoot, text);
                }
            }
            // Other folders are versions, which are verified separately.
            for (name, kind) in listed(b"Versions") {
                let path = joined(b"Versions", &name);
                if kind != EntryKind::Folder && (&name[..], kind) != CURRENT {
                    code.extend(code_at(tree, &path, kind, strict));
                    let text = "beside the versions, in no seal";
                    tell(path, AppleError::UnsealedFrameworkRoot, text);
                }
            }
        }
        Shape::Shallow => {}
    }
    let folder = layout.beneath(b"_CodeSignature");
    for (name, kind) in listed(&folder) {
        code.extend(code_at(tree, &joined(&folder, &name), kind, strict));
        if !IN_SIGNATURE.contains(&&*name) {
            let error = AppleError::UnsealedAppRoot;
            tell(joined(&folder, &name), error, "among the parts of the signature, in no seal");
        }
    }
    found.extend(unlisted);
    found.extend(code);
    found
}

/// Returns a finding if a Mac, whose file systems ignore the case of letters, would take a name for
/// that of the sealed folder: one of the two would replace the other.
fn same_on_mac(name: &[u8], sealed: &str) -> Option<CodeFinding> {
    let text = format!("on a Mac this name is that of `{sealed}`, and in no seal");
    (folded(name) == folded(sealed.as_bytes())).then(|| refused(name.to_vec(), &text))
}

/// Returns whether the current version has this name, too.
fn sealed_as_well(tree: &dyn BundleTree, layout: &Layout, name: &[u8]) -> bool {
    tree.kind(&joined(&layout.base, name)).is_ok_and(|kind| kind.is_some())
}

/// Beside its versions, the root of a framework may contain symlinks to the same names in the
/// current version.
fn allowed_in_framework(
    tree: &dyn BundleTree,
    layout: &Layout,
    name: &[u8],
    kind: EntryKind,
) -> bool {
    match kind {
        EntryKind::Folder => false,
        EntryKind::Symlink => {
            let current = joined(b"Versions/Current", name);
            let based = joined(&layout.base, name);
            tree.read_link(name).is_ok_and(|target| target == current || target == based)
        }
        _ => name == b"module.map",
    }
}

/// Returns what strict checking rejects in a seal.
pub(super) fn weaknesses(seal: &ResourceSeal, strict: bool) -> Vec<CodeFinding> {
    let mut found = Vec::new();
    if seal.version == SealVersion::One {
        let text = "a seal of the first form: symlinks and nested code are in none";
        let error = AppleError::WeakResourceEnvelope;
        found.push(softened(CodeFinding::failure(FindingKind::WeakSeal, error, text), strict));
    }
    for text in seal.rules.weaknesses() {
        let error = AppleError::WeakResourceRules;
        found.push(softened(CodeFinding::failure(FindingKind::WeakRules, error, text), strict));
    }
    found
}
