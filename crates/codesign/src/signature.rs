//! The signature of one slice or disk image: its blobs, its directories, and the preferred one.

use std::borrow::Cow;

use crate::apple::AppleError;
use crate::directory::CodeDirectory;
use crate::error::{Error, ErrorKind};
use crate::fields::IntegerReader;
use crate::finding::{CodeFinding, FindingKind};
use crate::superblob::{Blob, Slot, SuperBlob, magic};
use steadfast_sys::source::{ReadAt, read_range};

/// The longest signature that is read. It would seal 8 GiB in pages of 4 KiB.
pub const SIGNATURE_LEN_MAX: u64 = 64 << 20;

/// The signature of one slice or disk image.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Where it begins in the file.
    pub offset: u64,
    /// The space for it in the file, which may be longer than the container.
    pub len_bytes: u64,
    /// The container with all blobs.
    pub superblob: SuperBlob,
    /// The directories: the one of slot 0 first, then the alternates in order. Never empty.
    directories: Vec<CodeDirectory>,
    /// Problems of the signature's form.
    pub findings: Vec<CodeFinding>,
}

impl Signature {
    /// Reads the signature in a range of a file. Problems outside of the first directory are
    /// findings.
    ///
    /// # Errors
    /// If there is no container with a readable directory in slot 0.
    pub fn read(source: &dyn ReadAt, offset: u64, len_bytes: u64) -> Result<Signature, Error> {
        let system = |error| Error::system("read the signature", error);
        if offset.checked_add(len_bytes).is_none_or(|end| end > source.len_bytes()) {
            return Err(Error::malformed("the signature reaches beyond the end of the file"));
        }
        let head = read_range(source, offset, len_bytes.min(12)).map_err(system)?;
        let fields = IntegerReader::big(&head);
        let short = || Error::malformed("the signature is shorter than its header");
        let magic = fields.u32(0).ok_or_else(short)?;
        let own_len = u64::from(fields.u32(4).ok_or_else(short)?);
        check_magic(magic)?;
        if own_len > len_bytes {
            return Err(Error::malformed("the signature is longer than the room for it"));
        }
        if own_len > SIGNATURE_LEN_MAX {
            let text = format!("signatures of {own_len} bytes are not supported");
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        let bytes = read_range(source, offset, own_len).map_err(system)?;
        Signature::new(offset, len_bytes, SuperBlob::of(bytes)?)
    }

    /// Makes a signature from a container, such as one put together from the files of a bundle.
    ///
    /// # Errors
    /// If it has no readable directory in slot 0.
    pub fn new(offset: u64, len_bytes: u64, superblob: SuperBlob) -> Result<Signature, Error> {
        let base = CodeDirectory::parse(&superblob, Slot::CODE_DIRECTORY)?;
        let mut signature =
            Signature { offset, len_bytes, superblob, directories: vec![base], findings: vec![] };
        signature.read_alternates();
        signature.find_duplicates();
        signature.find_misplaced();
        Ok(signature)
    }

    /// Reads alternate directories. Those after a gap count too, since the kernel uses them all.
    fn read_alternates(&mut self) {
        let mut gap = false;
        for slot in (Slot::ALTERNATE_FIRST.0..Slot::ALTERNATE_END.0).map(Slot) {
            if self.superblob.blob(slot).is_none() {
                gap = true;
                continue;
            }
            if gap {
                let text = "an alternate code directory follows a gap: the kernel sees it, \
                            other checks do not";
                let finding = CodeFinding::warning(FindingKind::Malformed, text);
                self.findings.push(finding.at(|place| place.directory = Some(slot)));
            }
            match CodeDirectory::parse(&self.superblob, slot) {
                Ok(directory) => self.directories.push(directory),
                Err(error) => {
                    let finding = CodeFinding::of_error(&error);
                    self.findings.push(finding.at(|place| place.directory = Some(slot)));
                }
            }
        }
    }

    fn find_duplicates(&mut self) {
        let entries = self.superblob.entries();
        for (index, entry) in entries.iter().enumerate() {
            if entries[..index].iter().any(|earlier| earlier.slot == entry.slot) {
                let text = format!("slot {} is there twice", entry.slot);
                let error = AppleError::SignatureInvalid;
                let finding = CodeFinding::failure(FindingKind::Duplicate, error, text);
                self.findings.push(finding.at(|place| place.slot = Some(entry.slot)));
            }
        }
        for (index, directory) in self.directories.iter().enumerate() {
            let hash = directory.hash_type();
            if self.directories[..index].iter().any(|earlier| earlier.hash_type() == hash) {
                let text = format!("two code directories have the hash type {hash}");
                let error = AppleError::SignatureInvalid;
                let finding = CodeFinding::failure(FindingKind::Duplicate, error, text);
                self.findings.push(finding.at(|place| place.directory = Some(directory.slot())));
            }
        }
    }

    /// Finds blobs of the wrong kind for their slot, and unknown slots.
    fn find_misplaced(&mut self) {
        for entry in self.superblob.entries() {
            let finding = match magic_of(entry.slot) {
                Some(magic) if magic == entry.magic => continue,
                Some(_) => {
                    let name = entry.slot.name().unwrap_or("a blob");
                    let text = format!("{name} has the wrong kind of blob: 0x{:08x}", entry.magic);
                    CodeFinding::failure(FindingKind::Malformed, AppleError::SignatureInvalid, text)
                }
                None if entry.slot.name().is_some() => continue,
                None if entry.magic == magic::CODE_DIRECTORY => {
                    let text =
                        format!("a code directory is in slot {}, which is not for one", entry.slot);
                    CodeFinding::failure(FindingKind::Malformed, AppleError::SignatureInvalid, text)
                }
                None => {
                    let text = format!("slot {} is not known", entry.slot);
                    CodeFinding::warning(FindingKind::Unsupported, text)
                }
            };
            self.findings.push(finding.at(|place| place.slot = Some(entry.slot)));
        }
    }

    /// Returns the directories: the one of slot 0 first, then the alternates.
    pub fn directories(&self) -> &[CodeDirectory] {
        &self.directories
    }

    /// Returns the directory of slot 0, which a CMS signature is over.
    pub fn base_directory(&self) -> &CodeDirectory {
        &self.directories[0]
    }

    /// Returns the directory with the best hash, whose CDHash is *the* CDHash.
    pub fn chosen_directory(&self) -> &CodeDirectory {
        // Of several with the same hash the first, which a check that stops at the first would use.
        let best = self.directories.iter().rev().max_by_key(|directory| directory.hash_type());
        best.expect("a signature has a directory")
    }

    /// Returns the blob of a slot.
    pub fn blob(&self, slot: Slot) -> Option<Blob<'_>> {
        self.superblob.blob(slot)
    }

    /// Returns the CMS signature; `None` if its blob is missing or empty.
    pub fn cms(&self) -> Option<&[u8]> {
        let blob = self.blob(Slot::CMS).filter(|blob| blob.magic == magic::WRAPPER)?;
        Some(blob.payload()).filter(|payload| !payload.is_empty())
    }

    /// Returns the set of requirements, its header included.
    pub fn requirements(&self) -> Option<Blob<'_>> {
        self.blob(Slot::REQUIREMENTS)
    }

    /// Returns whether every directory is marked as ad-hoc.
    pub fn is_adhoc(&self) -> bool {
        self.directories.iter().all(CodeDirectory::is_adhoc)
    }

    /// Returns the identifier of the code.
    pub fn identifier(&self) -> Cow<'_, str> {
        self.base_directory().identifier()
    }

    /// Returns the team, if the directory names one.
    pub fn team(&self) -> Option<Cow<'_, str>> {
        self.base_directory().team()
    }
}

/// Checks that a container is that of an embedded signature.
fn check_magic(found: u32) -> Result<(), Error> {
    match found {
        magic::EMBEDDED_SIGNATURE => Ok(()),
        magic::DETACHED_SIGNATURE => {
            Err(Error::new(ErrorKind::Unsupported, "the signature is a detached one"))
        }
        magic::LIBRARY_DEPENDENCIES => Err(Error::malformed(
            "there are requirements of dependencies in place of the signature",
        )),
        other => Err(Error::malformed(format!("0x{other:08x} begins no signature"))),
    }
}

/// Returns the magic number of a slot's blob, if it is defined.
fn magic_of(slot: Slot) -> Option<u32> {
    Some(match slot {
        Slot::REQUIREMENTS => magic::REQUIREMENTS,
        Slot::ENTITLEMENTS => magic::ENTITLEMENTS,
        Slot::ENTITLEMENTS_DER => magic::ENTITLEMENTS_DER,
        slot if slot.is_directory() => magic::CODE_DIRECTORY,
        slot if (Slot::CONSTRAINT_SELF..=Slot::CONSTRAINT_LIBRARY).contains(&slot) => {
            magic::CONSTRAINT
        }
        Slot::CMS => magic::WRAPPER,
        _ => return None,
    })
}
