//! Finds the parts of a bundle: resource base, `Info.plist`, main executable.
//!
//! Only one symlink is followed, `Versions/Current`, and only if its target is a single name.

use std::borrow::Cow;

use strum::IntoStaticStr;

use crate::AppleError;
use crate::binary::Binary;
use crate::error::{Error, ErrorKind};
use crate::finding::{CodeFinding, FindingKind};
use crate::form::FileForm;
use crate::plist::Value;
use crate::signature::Signature;
use crate::superblob::Slot;
use steadfast_sys::source::read_range;

use super::tree::{BundleTree, EntryKind, joined};

/// The longest information property list that is read.
const INFO_LEN_MAX: u64 = 16 << 20;

/// How a bundle is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Shape {
    /// With a folder `Contents`, as applications of macOS.
    Contents,
    /// With a folder `Versions`, as frameworks of macOS.
    Versions,
    /// Everything at the root, as on iOS.
    Shallow,
}

impl Shape {
    /// Returns the name in documents.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Where the parts of a bundle are, relative to its root.
#[derive(Clone, Debug)]
pub struct Layout {
    /// How it is laid out.
    pub shape: Shape,
    /// The folder that names in the seal are relative to; empty for the root.
    pub base: Vec<u8>,
    /// `Info.plist`, if there is one.
    pub info_plist: Option<Vec<u8>>,
    /// Its bytes, as the signature seals them.
    pub info_bytes: Option<Vec<u8>>,
    /// The main executable.
    pub executable: Vec<u8>,
    /// Problems of the layout.
    pub findings: Vec<CodeFinding>,
}

impl Layout {
    /// Finds the parts. `name` is the name of the bundle, which is also the executable's if
    /// `Info.plist` names none.
    ///
    /// # Errors
    /// `NotCode` if it is not a bundle; `System` if it cannot be read.
    pub fn find(tree: &dyn BundleTree, name: &[u8]) -> Result<Layout, Error> {
        let mut findings = Vec::new();
        let (shape, base) = shape(tree, &mut findings)?;
        let candidates = match shape {
            Shape::Versions => [&b"Resources/Info.plist"[..], b"Info.plist"],
            _ => [&b"Info.plist"[..], b"Resources/Info.plist"],
        };
        let mut info_plist = None;
        for candidate in candidates {
            let path = joined(&base, candidate);
            if info_plist.is_none() && is(tree, &path, EntryKind::File)? {
                info_plist = Some(path);
            }
        }
        let info_bytes = match &info_plist {
            Some(path) => Some(read_small(tree, path, INFO_LEN_MAX)?),
            None => None,
        };
        let named = info_bytes.as_deref().and_then(|bytes| executable_name(bytes, &mut findings));
        let named = named.unwrap_or_else(|| stem(name).to_vec());
        let executable = match executable(tree, shape, &base, &named)? {
            Some(executable) => executable,
            None => signed_main(tree, &base, &named, &mut findings)?,
        };
        Ok(Layout { shape, base, info_plist, info_bytes, executable, findings })
    }

    /// Returns the name of a part that lies beneath the base.
    pub fn beneath(&self, name: &[u8]) -> Vec<u8> {
        joined(&self.base, name)
    }

    /// Returns the main executable relative to the base, if it lies beneath it.
    pub fn executable_in_base(&self) -> Option<&[u8]> {
        match self.base.is_empty() {
            true => Some(&self.executable),
            false => self.executable.strip_prefix(&*self.base)?.strip_prefix(b"/"),
        }
    }
}

/// Returns whether a name exists and is of this kind.
pub(crate) fn is(tree: &dyn BundleTree, path: &[u8], kind: EntryKind) -> Result<bool, Error> {
    let found = tree.kind(path).map_err(|error| Error::system(&sealed_part(path), error))?;
    Ok(found == Some(kind))
}

fn sealed_part(path: &[u8]) -> String {
    format!("look at `{}`", String::from_utf8_lossy(path))
}

/// Reads a whole file of a limited length.
pub(crate) fn read_small(
    tree: &dyn BundleTree,
    path: &[u8],
    len_max: u64,
) -> Result<Vec<u8>, Error> {
    let doing = || format!("read `{}`", String::from_utf8_lossy(path));
    let source = tree.open(path).map_err(|error| Error::system(&doing(), error))?;
    let len_bytes = source.len_bytes();
    if len_bytes > len_max {
        let message = format!("`{}` has {len_bytes} bytes", String::from_utf8_lossy(path));
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    read_range(&*source, 0, len_bytes).map_err(|error| Error::system(&doing(), error))
}

/// Returns which kind of file is at a path.
pub(super) fn form_at(tree: &dyn BundleTree, path: &[u8]) -> Result<Option<FileForm>, Error> {
    let doing = || format!("read `{}`", String::from_utf8_lossy(path));
    FileForm::of(&*tree.open(path).map_err(|error| Error::system(&doing(), error))?)
}

/// The shape and the base.
fn shape(
    tree: &dyn BundleTree,
    findings: &mut Vec<CodeFinding>,
) -> Result<(Shape, Vec<u8>), Error> {
    let contents = is(tree, b"Contents", EntryKind::Folder)?;
    if !is(tree, b"Versions", EntryKind::Folder)? {
        return Ok(match contents {
            true => (Shape::Contents, b"Contents".to_vec()),
            false => (Shape::Shallow, Vec::new()),
        });
    }
    if contents {
        let text = "`Contents` and `Versions` side by side: an application or a framework?";
        let error = AppleError::AmbiguousBundleFormat;
        findings.push(CodeFinding::failure(FindingKind::Malformed, error, text));
        return Ok((Shape::Contents, b"Contents".to_vec()));
    }
    let current = b"Versions/Current";
    let kind = tree.kind(current).map_err(|error| Error::system(&sealed_part(current), error))?;
    let version = match kind {
        Some(EntryKind::Symlink) => {
            let target = tree.read_link(current);
            let target = target.map_err(|error| Error::system(&sealed_part(current), error))?;
            single_name(target.strip_suffix(b"/").unwrap_or(&target)).map(<[u8]>::to_vec)
        }
        _ => only_version(tree)?,
    };
    let lacks = |text: &str| {
        let error = AppleError::BadBundleFormat;
        CodeFinding::failure(FindingKind::Flattened, error, text)
            .at(|place| place.path = Some(current.to_vec()))
    };
    match (version, kind) {
        (Some(version), Some(EntryKind::Symlink)) => {
            let base = joined(b"Versions", &version);
            if !is(tree, &base, EntryKind::Folder)? {
                return Err(Error::new(ErrorKind::NotCode, "its current version is missing"));
            }
            Ok((Shape::Versions, base))
        }
        (_, Some(EntryKind::Folder)) => {
            findings.push(lacks("a folder where the symlink to the current version was"));
            Ok((Shape::Versions, current.to_vec()))
        }
        (Some(version), _) => {
            findings.push(lacks(
                "the symlink to the current version is missing; there is only one version",
            ));
            Ok((Shape::Versions, joined(b"Versions", &version)))
        }
        (None, _) => Err(Error::new(
            ErrorKind::NotCode,
            "the framework does not say which version is current",
        )),
    }
}

/// Returns the only version, if there is exactly one.
fn only_version(tree: &dyn BundleTree) -> Result<Option<Vec<u8>>, Error> {
    let entries = tree.entries(b"Versions");
    let entries = entries.map_err(|error| Error::system("list `Versions`", error))?;
    let mut versions = entries.into_iter().filter(|(_, kind)| *kind == EntryKind::Folder);
    let first = versions.next();
    Ok(first.filter(|_| versions.next().is_none()).map(|(name, _)| name))
}

/// Returns the executable that `Info.plist` names.
fn executable_name(bytes: &[u8], findings: &mut Vec<CodeFinding>) -> Option<Vec<u8>> {
    let mut wrong = |text: String| {
        let error = AppleError::BadBundleFormat;
        findings.push(CodeFinding::failure(FindingKind::Malformed, error, text));
        None
    };
    match Value::parse(bytes) {
        Err(error) => wrong(format!("`Info.plist` cannot be understood: {error}")),
        Ok(info) => {
            let named = info.get("CFBundleExecutable")?.as_text()?;
            match single_name(named.as_bytes()) {
                Some(name) => Some(name.to_vec()),
                None => wrong("`Info.plist` names an executable that is no file name".to_owned()),
            }
        }
    }
}

/// Returns the name if it is a single path component.
fn single_name(name: &[u8]) -> Option<&[u8]> {
    let fine = !name.is_empty() && name != b"." && name != b"..";
    (fine && !name.iter().any(|byte| matches!(byte, b'/' | 0))).then_some(name)
}

/// A bundle's name without its extension.
fn stem(name: &[u8]) -> &[u8] {
    match name.iter().rposition(|byte| *byte == b'.') {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    }
}

/// Finds the main executable of a signed bundle by its signature, if the one that `Info.plist`
/// names does not exist. One flipped bit in the name is enough for that.
fn signed_main(
    tree: &dyn BundleTree,
    base: &[u8],
    named: &[u8],
    findings: &mut Vec<CodeFinding>,
) -> Result<Vec<u8>, Error> {
    let not_code = || Error::new(ErrorKind::NotCode, "not a bundle: it has no main executable");
    if !is(tree, &joined(base, b"_CodeSignature/CodeResources"), EntryKind::File)? {
        return Err(not_code());
    }
    let main = main_by_signature(tree, base)?.ok_or_else(not_code)?;
    let text = format!("`{}` is called the main executable, and not there", shown(named));
    let error = AppleError::BadBundleFormat;
    findings.push(CodeFinding::failure(FindingKind::Malformed, error, text));
    Ok(main)
}

/// Finds the only file whose signature seals resources, which only a main executable's does. `None`
/// if no file or several do.
///
/// # Errors
/// If folders or files cannot be read.
fn main_by_signature(tree: &dyn BundleTree, base: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let mut found = Vec::new();
    for folder in [joined(base, b"MacOS"), base.to_vec()] {
        if !folder.is_empty() && !is(tree, &folder, EntryKind::Folder)? {
            continue;
        }
        let entries = tree.entries(&folder);
        let entries = entries.map_err(|error| Error::system("look for the executable", error))?;
        for (name, _) in entries.into_iter().filter(|(_, kind)| *kind == EntryKind::File) {
            let path = joined(&folder, &name);
            let source = tree.open(&path);
            let source = source.map_err(|error| Error::system("look for the executable", error))?;
            // A file that is not code is not the executable.
            let Ok(binary) = Binary::read(&*source) else { continue };
            let mut signatures = binary.slices.iter().filter_map(|slice| slice.signature.as_ref());
            let seals = |signature: &Signature| {
                let directory = signature.chosen_directory();
                directory.special_digest(Slot::RESOURCES).is_some()
            };
            if signatures.any(seals) {
                found.push(path);
            }
        }
    }
    let one = found.pop();
    Ok(one.filter(|_| found.is_empty()))
}

fn shown(name: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(name)
}

/// Returns the file of the main executable's name, if it exists.
fn executable(
    tree: &dyn BundleTree,
    shape: Shape,
    base: &[u8],
    name: &[u8],
) -> Result<Option<Vec<u8>>, Error> {
    let within = joined(base, &joined(b"MacOS", name));
    let beside = joined(base, name);
    let candidates = match shape {
        Shape::Contents => [within, beside],
        _ => [beside, within],
    };
    for candidate in candidates {
        let kind = tree.kind(&candidate);
        let kind = kind.map_err(|error| Error::system(&sealed_part(&candidate), error))?;
        match kind {
            Some(EntryKind::File) => return Ok(Some(candidate)),
            Some(EntryKind::Symlink) => {
                let message = "its main executable is a symlink";
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
            _ => {}
        }
    }
    Ok(None)
}
