//! Reads a bundle (an application, a framework, a plug-in) and compares its resources with their
//! seal.
//!
//! The code directory of the main executable binds `Info.plist` and the seal; both are passed on as
//! [`Surroundings`]. Nested code is returned, to be verified by `verify`.

mod components;
mod enclosing;
mod flattened;
mod layout;
mod pattern;
mod resources;
mod root;
mod rules;
mod seal;
mod tree;
mod unsealed;
mod versions;

use std::num::NonZeroUsize;

pub use enclosing::{LEVELS, is_bundle, is_main_executable};
pub use layout::{Layout, Shape};
pub use resources::{NestedItem, Resources};
pub use rules::{Decision, ResourceRule, ResourceRules};
pub use seal::{ResourceSeal, SealVersion, SealedEntry, SealedForm};
pub use tree::{BundleTree, EntryKind, FolderTree};
pub(crate) use tree::{Subtree, folded, joined};

use crate::apple::AppleError;
use crate::binary::Binary;
use crate::error::{Error, ErrorKind};
use crate::finding::{CodeFinding, FindingKind, Severity};
use crate::hash::HashType;
use crate::pages::Surroundings;
use crate::signature::Signature;
use crate::superblob::Slot;
use crate::ticket;
use steadfast_sys::source::ReadAt;

use layout::{is, read_small};

/// The longest seal that is read; it has room for a million files.
const SEAL_LEN_MAX: u64 = 256 << 20;

/// One bundle, opened.
pub struct Bundle<'a> {
    tree: &'a dyn BundleTree,
    /// Where its parts are.
    pub layout: Layout,
    /// The main executable.
    pub main: Main,
    executable: Box<dyn ReadAt + Send>,
    seal_bytes: Option<Vec<u8>>,
    /// The seal, or why it cannot be read; `None` if there is none.
    pub seal: Option<Result<ResourceSeal, String>>,
}

/// The main executable of a bundle.
#[derive(Debug)]
pub enum Main {
    /// Mach-O, which contains its signature.
    Binary(Binary),
    /// Another file, such as a script. Its signature, if any, is in files beside the seal.
    Other(Option<Box<Signature>>),
}

impl<'a> Bundle<'a> {
    /// Opens the bundle at the root of a tree. `name` is the name of the bundle.
    ///
    /// # Errors
    /// `NotCode` if it is not a bundle; `System` if it cannot be read.
    pub fn read(tree: &'a dyn BundleTree, name: &[u8]) -> Result<Bundle<'a>, Error> {
        let layout = Layout::find(tree, name)?;
        let executable = tree.open(&layout.executable).map_err(|error| {
            let executable = String::from_utf8_lossy(&layout.executable);
            Error::system(&format!("open `{executable}`"), error)
        })?;
        let path = layout.beneath(b"_CodeSignature/CodeResources");
        let seal_bytes = match is(tree, &path, EntryKind::File)? {
            true => Some(read_small(tree, &path, SEAL_LEN_MAX)?),
            false => None,
        };
        let main = match Binary::read(&*executable) {
            Ok(binary) => Main::Binary(binary),
            Err(error) if error.kind() == ErrorKind::NotCode => {
                let signature = components::signature(tree, &layout, executable.len_bytes())?;
                Main::Other(signature.map(Box::new))
            }
            Err(error) => return Err(error),
        };
        let mut seal = seal_bytes.as_deref().map(ResourceSeal::parse);
        if let (Some(Ok(seal)), Some(executable)) = (&mut seal, layout.executable_in_base()) {
            seal.rules.exclude_executable(executable);
        }
        Ok(Bundle { tree, layout, main, executable, seal_bytes, seal })
    }

    /// Returns the tree that the bundle is in.
    pub fn tree(&self) -> &'a dyn BundleTree {
        self.tree
    }

    /// Returns the bytes of the main executable.
    pub fn executable(&self) -> &dyn ReadAt {
        &*self.executable
    }

    /// Returns what the signature of the main executable binds besides the executable.
    pub fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            in_bundle: true,
            info_plist: self.layout.info_bytes.as_deref(),
            resources: self.seal_bytes.as_deref(),
            container: None,
        }
    }

    /// Returns the signatures of the main executable, one for each slice that has one.
    pub fn signatures(&self) -> Vec<&Signature> {
        match &self.main {
            Main::Binary(binary) => {
                binary.slices.iter().filter_map(|slice| slice.signature.as_ref()).collect()
            }
            Main::Other(signature) => signature.as_deref().into_iter().collect(),
        }
    }

    /// Returns the hash types of all directories, each once.
    pub(crate) fn hash_types(&self) -> Vec<HashType> {
        let mut hashes: Vec<HashType> = Vec::new();
        for directory in self.signatures().iter().flat_map(|signature| signature.directories()) {
            if !hashes.contains(&directory.hash_type()) {
                hashes.push(directory.hash_type());
            }
        }
        hashes
    }

    /// Compares the resources with their seal.
    ///
    /// The result is empty if the executable is not signed: without a signature nothing is sealed,
    /// and the verdict on the executable says so.
    pub(crate) fn check_resources(
        &self,
        (strict, deep): (bool, bool),
        workers: NonZeroUsize,
    ) -> Resources {
        let signatures = self.signatures();
        let mut found = Resources::default();
        if signatures.is_empty() {
            return found;
        }
        let binds = |signature: &&Signature| {
            let mut directories = signature.directories().iter();
            directories.all(|directory| directory.special_digest(Slot::RESOURCES).is_some())
        };
        let bound = signatures.iter().all(binds);
        match &self.seal {
            Some(Ok(seal)) => {
                let check = resources::ResourceCheck {
                    tree: self.tree,
                    base: &self.layout.base,
                    seal,
                    hashes: &self.hash_types(),
                    strict,
                    deep,
                    workers: workers.get(),
                };
                found = check.run();
                if !bound {
                    let text =
                        "there is a seal of resources, and a signature that does not bind it";
                    found.findings.push(self.of_seal(FindingKind::ResourcesNotFound, text));
                }
                found.findings.extend(root::weaknesses(seal, strict));
            }
            Some(Err(reason)) => {
                let text = format!("the seal of resources cannot be understood: {reason}");
                let mut finding = self.of_seal(FindingKind::ResourcesMalformed, &text);
                finding.severity = Severity::Unverified;
                found.findings.push(finding.apple(AppleError::ResourcesInvalid));
            }
            None => {
                let text = match bound {
                    true => "the seal of resources is missing",
                    false => "signed without a seal of resources",
                };
                found.findings.push(self.of_seal(FindingKind::ResourcesNotFound, text));
            }
        }
        found.findings.extend(root::unsealed(self.tree, &self.layout, strict));
        found
    }

    /// Reads the ticket that is stapled to the bundle, beside the seal's folder; `None` if there is
    /// none.
    pub(crate) fn stapled(&self) -> Option<Result<Vec<u8>, Error>> {
        let path = self.layout.beneath(b"CodeResources");
        match is(self.tree, &path, EntryKind::File) {
            Ok(false) => None,
            Ok(true) => Some(read_small(self.tree, &path, ticket::LEN_MAX)),
            Err(error) => Some(Err(error)),
        }
    }

    fn of_seal(&self, kind: FindingKind, text: &str) -> CodeFinding {
        let path = self.layout.beneath(b"_CodeSignature/CodeResources");
        CodeFinding::failure(kind, AppleError::ResourcesNotFound, text)
            .at(|place| place.path = Some(path))
    }
}
