//! Compares the resources of a bundle with their seal: what was added, modified or removed.
//!
//! The rules of the seal decide which names are sealed; the seal's entries say what each of them
//! must be. Nested code is collected and not verified here.

use std::collections::BTreeSet;
use std::io;
use std::sync::Mutex;

use steadfast_digest::AlgorithmHasher;

use super::flattened::{is_copy_of_target, resolved};
use super::rules::Decision;
use super::seal::{ResourceSeal, SealVersion, SealedForm};
use super::tree::{BundleTree, EntryKind, joined};
use super::unsealed::{code_at, excluded, fork_of};
use crate::apple::AppleError;
use crate::finding::{CodeFinding, CodeOutcome, FindingKind, Severity};
use crate::form::FileForm;
use crate::hash::HashType;
use crate::share::share;

/// The result of comparing the resources with their seal.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Findings, in the order of the names.
    pub findings: Vec<CodeFinding>,
    /// Files that were hashed.
    pub files: u64,
    /// Symlinks that were compared.
    pub symlinks: u64,
    /// Optional resources that are missing.
    pub absent: u64,
    /// Files that no seal covers, by its own rules.
    pub omitted: u64,
    /// Bytes that were hashed.
    pub read_bytes: u64,
    /// Code with a signature of its own.
    pub nested: Vec<NestedItem>,
    /// Findings that were left out: there were too many.
    pub further: u64,
    worst: Option<CodeOutcome>,
}

/// The most findings about the resources of one bundle.
const FINDINGS_MAX: usize = 10_000;

impl Resources {
    /// Adds a finding. Of very many only those are kept that are worse than any before.
    fn push(&mut self, finding: CodeFinding) {
        let is_worse = Some(finding.outcome()) > self.worst;
        if self.findings.len() >= FINDINGS_MAX && !is_worse {
            self.further += 1;
            return;
        }
        self.worst = self.worst.max(Some(finding.outcome()));
        self.findings.push(finding);
    }

    /// Adds findings.
    pub(super) fn extend(&mut self, findings: impl IntoIterator<Item = CodeFinding>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }
}

/// Code in a bundle that has a signature of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedItem {
    /// Its name relative to the root of the bundle.
    pub path: Vec<u8>,
    /// The requirement it must meet.
    pub requirement: String,
    /// The CDHash of exactly the code that was sealed.
    pub cdhash: Option<Vec<u8>>,
    /// Whether it is a folder.
    pub folder: bool,
}

/// The inputs of a check of resources.
#[derive(Clone, Copy)]
pub(crate) struct ResourceCheck<'a> {
    pub(crate) tree: &'a dyn BundleTree,
    pub(crate) base: &'a [u8],
    pub(crate) seal: &'a ResourceSeal,
    /// The hash types of the code directories. A file must have a digest for each.
    pub(crate) hashes: &'a [HashType],
    pub(crate) strict: bool,
    /// Whether archives among the files are named.
    pub(crate) deep: bool,
    pub(crate) workers: usize,
}

/// A file to hash, and the digests that were sealed.
struct SealedFile<'a> {
    path: Vec<u8>,
    digests: Vec<(HashType, &'a [u8])>,
}

impl ResourceCheck<'_> {
    /// Compares everything that the rules seal.
    pub(crate) fn run(self) -> Resources {
        let mut walk = ResourceWalk {
            check: self,
            found: Resources::default(),
            jobs: Vec::new(),
            unmet: self.seal.entries.keys().map(String::as_str).collect(),
            unlisted: Vec::new(),
        };
        walk.walk();
        walk.missing();
        let ResourceWalk { mut found, jobs, .. } = walk;
        self.hash(&jobs, &mut found);
        if found.further > 0 {
            let text = format!("{} more findings about resources are not listed", found.further);
            found.findings.push(CodeFinding::warning(FindingKind::ResourceModified, text));
        }
        found.findings.sort_by(|one, other| one.place.path.cmp(&other.place.path));
        found.nested.sort_by(|one, other| one.path.cmp(&other.path));
        found
    }

    /// Hashes files in several threads, and reports those that are not as sealed.
    fn hash(self, jobs: &[SealedFile<'_>], found: &mut Resources) {
        let shared = Mutex::new(found);
        share(jobs, self.workers, |job, buffer| {
            let outcome = self.hash_one(job, buffer);
            let archive = if self.deep { self.archive(job) } else { None };
            let mut found = shared.lock().expect("no thread panics while it counts");
            found.extend(archive);
            match outcome {
                Ok((matches, read_bytes)) => {
                    found.files += 1;
                    found.read_bytes += read_bytes;
                    if !matches {
                        let kind = FindingKind::ResourceModified;
                        found.push(self.bad(kind, &job.path, "not as it was sealed"));
                    }
                }
                Err(error) => {
                    let text = format!("cannot be read: {error}");
                    let kind = FindingKind::ResourceUnreadable;
                    found.push(self.bad(kind, &job.path, text));
                }
            }
        });
    }

    /// Returns a note if a sealed file is an archive or another container: the seal vouches for it,
    /// and what is in it was not looked into.
    fn archive(self, job: &SealedFile<'_>) -> Option<CodeFinding> {
        // What cannot be opened is reported by the one who hashes it.
        let source = self.tree.open(&joined(self.base, &job.path)).ok()?;
        let what = match FileForm::of(&*source) {
            Ok(None | Some(FileForm::MachO | FileForm::Script)) => return None,
            Ok(Some(form)) => form.words().to_owned(),
            Err(error) => error.to_string(),
        };
        let text = format!("{what}: sealed, and not looked into");
        let path = joined(self.base, &job.path);
        Some(CodeFinding::note(FindingKind::NotRead, text).at(|place| place.path = Some(path)))
    }

    /// Hashes one file; returns whether it is as sealed, and how long it is.
    fn hash_one(self, job: &SealedFile<'_>, buffer: &mut [u8]) -> io::Result<(bool, u64)> {
        let source = self.tree.open(&joined(self.base, &job.path))?;
        let hasher = |(hash, _): &(HashType, &[u8])| AlgorithmHasher::new(hash.algorithm());
        let mut hashers: Vec<AlgorithmHasher> = job.digests.iter().map(hasher).collect();
        let (mut offset, len_bytes) = (0, source.len_bytes());
        while offset < len_bytes {
            let len = usize::try_from(len_bytes - offset).unwrap_or(usize::MAX).min(buffer.len());
            source.read_exact_at(&mut buffer[..len], offset)?;
            hashers.iter_mut().for_each(|hasher| hasher.update(&buffer[..len]));
            offset += len as u64;
        }
        let digests = hashers.into_iter().map(AlgorithmHasher::finalize);
        let mut pairs = digests.zip(&job.digests);
        let matches = pairs.all(|(computed, (hash, sealed))| {
            computed.as_bytes().get(..hash.stored_len()) == Some(*sealed)
        });
        Ok((matches, len_bytes))
    }

    /// Makes a finding about a name that Apple's check reports as well.
    fn bad(self, kind: FindingKind, path: &[u8], text: impl Into<String>) -> CodeFinding {
        let path = joined(self.base, path);
        let mut finding = CodeFinding::failure(kind, AppleError::BadResource, text);
        if kind == FindingKind::ResourceUnreadable {
            finding.severity = Severity::Unverified;
        }
        finding.at(|place| place.path = Some(path))
    }
}

struct ResourceWalk<'a> {
    check: ResourceCheck<'a>,
    found: Resources,
    jobs: Vec<SealedFile<'a>>,
    /// Sealed names that were not found yet.
    unmet: BTreeSet<&'a str>,
    /// Folders that could not be listed: their contents are not reported as missing.
    unlisted: Vec<Vec<u8>>,
}

impl<'a> ResourceWalk<'a> {
    /// Visits every name below the base, without following symlinks.
    fn walk(&mut self) {
        let mut folders = vec![Vec::new()];
        while let Some(folder) = folders.pop() {
            let entries = match self.check.tree.entries(&joined(self.check.base, &folder)) {
                Ok(entries) => entries,
                Err(error) => {
                    let text = format!("cannot be listed: {error}");
                    let kind = FindingKind::ResourceUnreadable;
                    let finding = self.check.bad(kind, &folder, text);
                    self.found.push(finding.apple(AppleError::ResourceNotSupported));
                    self.unlisted.push(folder);
                    continue;
                }
            };
            for (name, kind) in entries {
                let path = joined(&folder, &name);
                if self.name(&name, &path, kind) {
                    folders.push(path);
                }
            }
        }
    }

    /// Visits one name; returns whether it is a folder to enter.
    fn name(&mut self, name: &[u8], path: &[u8], kind: EntryKind) -> bool {
        let decision = self.check.seal.rules.decide(path);
        match kind {
            EntryKind::Folder => {
                if self.sealed(path).is_some_and(|form| matches!(form, SealedForm::Symlink(_))) {
                    self.met(path, kind);
                    return false;
                }
                match decision {
                    Decision::Excluded => self.excluded(path, kind),
                    // A folder with an extension is nested code; others are plain folders.
                    Decision::Rule(rule) if rule.nested && name.contains(&b'.') => {
                        self.met(path, kind);
                        false
                    }
                    _ => true,
                }
            }
            EntryKind::Other => {
                let text = "neither a file nor a folder nor a symlink";
                let finding = self.check.bad(FindingKind::ResourceUnreadable, path, text);
                self.found.push(finding.apple(AppleError::ResourceNotSupported));
                false
            }
            EntryKind::File | EntryKind::Symlink => {
                let is_sealed = match decision {
                    Decision::Rule(rule) => !rule.omit || path == b"Info.plist",
                    Decision::Excluded => true,
                    Decision::Unruled => false,
                };
                if kind == EntryKind::File && is_sealed {
                    let ResourceCheck { tree, base, strict, .. } = self.check;
                    self.found.extend(fork_of(tree, &joined(base, path), strict));
                }
                match decision {
                    Decision::Rule(rule) if !rule.omit => self.met(path, kind),
                    Decision::Excluded => {
                        self.excluded(path, kind);
                    }
                    _ => self.omitted(path, kind),
                }
                false
            }
        }
    }

    /// Checks a name that is never sealed; returns that it is no folder to enter.
    fn excluded(&mut self, path: &[u8], kind: EntryKind) -> bool {
        let ResourceCheck { tree, base, strict, .. } = self.check;
        self.found.extend(excluded(tree, base, path, kind, strict));
        false
    }

    /// Counts and names a file that the rules of the seal leave out. `Info.plist` is not among
    /// those named, since the signature itself binds it.
    fn omitted(&mut self, path: &[u8], kind: EntryKind) {
        self.found.omitted += 1;
        if path == b"Info.plist" {
            return;
        }
        let path = joined(self.check.base, path);
        let code = code_at(self.check.tree, &path, kind, self.check.strict);
        if code.is_empty() {
            let note = CodeFinding::note(FindingKind::Unsealed, "left out by the seal's own rules");
            self.found.push(note.at(|place| place.path = Some(path)));
        }
        self.found.extend(code);
    }

    fn sealed(&self, path: &[u8]) -> Option<&'a SealedForm> {
        let sealed = self.check.seal.entries.get(str::from_utf8(path).ok()?)?;
        Some(&sealed.form)
    }

    /// Compares a name that the rules seal with its entry in the seal.
    fn met(&mut self, path: &[u8], kind: EntryKind) {
        let seal = self.check.seal;
        let found = str::from_utf8(path).ok().and_then(|path| seal.entries.get_key_value(path));
        let Some((name, sealed)) = found else {
            // The first version of seals has no symlinks.
            if seal.version == SealVersion::Two || kind != EntryKind::Symlink {
                self.report(FindingKind::ResourceAdded, path, "not in the seal");
            }
            return;
        };
        self.unmet.remove(name.as_str());
        match (&sealed.form, kind) {
            (SealedForm::Nested { .. }, EntryKind::Symlink) => {
                self.report(
                    FindingKind::ResourceModified,
                    path,
                    "code was sealed; it is a symlink",
                );
            }
            (SealedForm::Nested { requirement, cdhash }, _) => self.found.nested.push(NestedItem {
                path: joined(self.check.base, path),
                requirement: requirement.clone(),
                cdhash: cdhash.clone(),
                folder: kind == EntryKind::Folder,
            }),
            (SealedForm::Symlink(target), EntryKind::Symlink) => self.symlink(path, target),
            (SealedForm::Symlink(target), _) => self.no_symlink(path, target, kind),
            (SealedForm::File(_), EntryKind::File) => match sealed.digests_for(self.check.hashes) {
                Some(digests) => self.jobs.push(SealedFile { path: path.to_vec(), digests }),
                None => {
                    let text = "sealed without a digest of the signature's hash type";
                    self.report(FindingKind::ResourceModified, path, text);
                }
            },
            (SealedForm::File(_), EntryKind::Symlink) => {
                self.report(
                    FindingKind::ResourceModified,
                    path,
                    "a file was sealed; it is a symlink",
                );
            }
            (SealedForm::File(_), _) => {
                self.report(
                    FindingKind::ResourceModified,
                    path,
                    "a file was sealed; it is a folder",
                );
            }
        }
    }

    fn symlink(&mut self, path: &[u8], sealed: &str) {
        self.found.symlinks += 1;
        match self.check.tree.read_link(&joined(self.check.base, path)) {
            Ok(target) if target == sealed.as_bytes() => {
                if escapes(self.check.base, path, &target) {
                    let text = format!("leads out of the bundle, to `{sealed}`");
                    let mut finding = self.check.bad(FindingKind::SymlinkEscapes, path, text);
                    finding = finding.apple(AppleError::InvalidSymlink);
                    if !self.check.strict {
                        finding.severity = Severity::Warning;
                    }
                    self.found.push(finding);
                }
            }
            Ok(target) => {
                let target = String::from_utf8_lossy(&target);
                let text = format!("leads to `{target}`; sealed was `{sealed}`");
                self.report(FindingKind::ResourceModified, path, text);
            }
            Err(error) => {
                let text = format!("cannot be read: {error}");
                self.report(FindingKind::ResourceUnreadable, path, text);
            }
        }
    }

    /// Reports a sealed symlink that is now something else, perhaps a copy of its target.
    fn no_symlink(&mut self, path: &[u8], sealed: &str, kind: EntryKind) {
        self.found.symlinks += 1;
        let what = if kind == EntryKind::Folder { "folder" } else { "file" };
        let base = self.check.base;
        if is_copy_of_target(self.check.tree, base, path, sealed.as_bytes()) {
            let text =
                format!("a {what}, the copy of what the sealed symlink to `{sealed}` led to");
            self.report(FindingKind::Flattened, path, text);
        } else {
            let text = format!("a symlink to `{sealed}` was sealed; it is a {what}");
            self.report(FindingKind::ResourceModified, path, text);
        }
    }

    /// Reports sealed names that were not found.
    fn missing(&mut self) {
        for name in std::mem::take(&mut self.unmet) {
            let within = |folder: &Vec<u8>| match name.as_bytes().strip_prefix(&folder[..]) {
                Some(rest) => folder.is_empty() || rest.starts_with(b"/"),
                None => false,
            };
            if self.unlisted.iter().any(within) {
                continue;
            }
            if self.check.seal.entries[name].optional {
                self.found.absent += 1;
                let text = "an optional file, sealed and not there";
                let note = CodeFinding::note(FindingKind::ResourceMissing, text);
                let path = joined(self.check.base, name.as_bytes());
                self.found.push(note.at(|place| place.path = Some(path)));
                continue;
            }
            let path = joined(self.check.base, name.as_bytes());
            let text = match self.check.tree.kind(&path) {
                Ok(Some(_)) => "sealed, and left out by the seal's own rules",
                _ => "sealed, and not there",
            };
            self.report(FindingKind::ResourceMissing, name.as_bytes(), text);
        }
    }

    fn report(&mut self, kind: FindingKind, path: &[u8], text: impl Into<String>) {
        self.found.push(self.check.bad(kind, path, text));
    }
}

/// Returns whether strict checking rejects the target of a symlink: it is outside of the bundle, or
/// an absolute path outside of the system's folders.
fn escapes(base: &[u8], path: &[u8], target: &[u8]) -> bool {
    let of_system = [&b"/System/"[..], b"/Library/"];
    let goes_up = || target.split(|byte| *byte == b'/').any(|step| step == b"..");
    match of_system.iter().any(|folder| target.starts_with(folder)) {
        true => goes_up(),
        false => resolved(base, path, target).is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::escapes;

    #[test]
    fn symlinks_that_can_lead_out_are_told_from_others() {
        for (target, expected) in [
            (&b"b"[..], false),
            (b"./b//c/", false),
            (b"../b", false),
            (b"../../b", true),
            (b"b/../c", true),
            (b"b/c/../../../../d", true),
            (b"/System/Library/a", false),
            (b"/System/../etc/passwd", true),
            (b"/etc/passwd", true),
        ] {
            let shown = String::from_utf8_lossy(target);
            assert_eq!(escapes(b"Contents", b"folder/link", target), expected, "{shown}");
        }
    }
}
