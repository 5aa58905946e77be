//! Reads a Mach-O file, thin or fat: its slices, and the signature of each.
//!
//! Each slice is read by itself: one may be signed and the next not. Verifying compares them.

use crate::apple::AppleError;
use crate::error::{Error, ErrorKind};
use crate::fat::{
    Container, FAT_COUNT_MAX, FAT_HEADER_LEN, FatEntry, HEAD_LEN, entry_len, fat_header,
    read_entries,
};
use crate::finding::{CodeFinding, FindingKind};
use crate::form::FileForm;
use crate::macho::{Architecture, MachO};
use crate::signature::Signature;
use steadfast_sys::source::{Part, ReadAt, read_range};

/// One slice of a file.
#[derive(Clone, Debug)]
pub struct MachSlice {
    /// The processor it is for.
    pub architecture: Architecture,
    /// Where it begins in the file.
    pub offset: u64,
    /// How long it is.
    pub len_bytes: u64,
    /// The load commands, if they can be read.
    pub macho: Option<MachO>,
    /// Its signature, if there is one that can be read.
    pub signature: Option<Signature>,
    /// Problems of the slice's form; those of the signature are in [`Signature::findings`].
    pub findings: Vec<CodeFinding>,
}

/// One Mach-O file.
#[derive(Clone, Debug)]
pub struct Binary {
    /// The container of the slices.
    pub container: Container,
    /// Length of the file.
    pub len_bytes: u64,
    /// The slices, in the order of the file's index.
    pub slices: Vec<MachSlice>,
}

impl Binary {
    /// Reads load commands and signatures of every slice; no page is read.
    ///
    /// # Errors
    /// `NotCode` if it is not a Mach-O file; `System` if its first bytes cannot be read.
    pub fn read(source: &dyn ReadAt) -> Result<Binary, Error> {
        if FileForm::of(source)? != Some(FileForm::MachO) {
            return Err(Error::new(ErrorKind::NotCode, "the file is no Mach-O file"));
        }
        let len_bytes = source.len_bytes();
        let system = |error| Error::system("read the header", error);
        let head = read_range(source, 0, len_bytes.min(HEAD_LEN)).map_err(system)?;
        let Some((container, count)) = fat_header(&head) else {
            let cut = || Error::malformed("the file ends within its header");
            let architecture = MachO::architecture_of(&head).ok_or_else(cut)?;
            let entry = FatEntry { architecture, offset: 0, len_bytes };
            let slices = vec![MachSlice::read(source, entry)];
            return Ok(Binary { container: Container::Thin, len_bytes, slices });
        };
        if count > FAT_COUNT_MAX {
            return Err(Error::new(ErrorKind::Unsupported, "a fat file of more than 40 slices"));
        }
        let entries = read_entries(source, container, count)?;
        let slices = entries.into_iter().map(|entry| MachSlice::read(source, entry));
        Ok(Binary { container, len_bytes, slices: slices.collect() })
    }

    /// Returns how many bytes the header and the index of slices take; of a thin file none.
    pub(crate) fn index_len_bytes(&self) -> u64 {
        match self.container {
            Container::Thin => 0,
            container => FAT_HEADER_LEN + self.slices.len() as u64 * entry_len(container),
        }
    }

    /// Returns the slice for an architecture, by its name.
    pub fn slice(&self, architecture: &str) -> Option<&MachSlice> {
        self.slices.iter().find(|slice| slice.architecture.to_string() == architecture)
    }
}

impl MachSlice {
    /// Reads one slice; problems become findings.
    fn read(source: &dyn ReadAt, entry: FatEntry) -> MachSlice {
        let FatEntry { architecture, offset, len_bytes } = entry;
        let mut slice = MachSlice {
            architecture,
            offset,
            len_bytes,
            macho: None,
            signature: None,
            findings: Vec::new(),
        };
        let Some(part) = Part::new(source, offset, len_bytes) else {
            let text = "the slice reaches beyond the end of the file";
            let error = AppleError::BadObjectFormat;
            slice.findings.push(CodeFinding::failure(FindingKind::Malformed, error, text));
            slice.name_findings();
            return slice;
        };
        match MachO::read(&part) {
            Ok(macho) => slice.read_signature(source, macho),
            Err(error) => {
                let finding = CodeFinding::of_error(&error);
                slice.findings.push(finding.apple(AppleError::BadObjectFormat));
            }
        }
        slice.name_findings();
        slice
    }

    /// Stores the load commands, and reads the signature they name.
    fn read_signature(&mut self, source: &dyn ReadAt, macho: MachO) {
        if let Some(range) = macho.signature.clone() {
            let len_bytes = range.end - range.start;
            if range.end > self.len_bytes {
                let text = "the signature reaches beyond the end of the slice";
                let error = AppleError::SignatureInvalid;
                self.findings.push(CodeFinding::failure(FindingKind::Malformed, error, text));
            } else {
                match Signature::read(source, self.offset + range.start, len_bytes) {
                    Ok(signature) => self.signature = Some(signature),
                    Err(error) => self.findings.push(CodeFinding::of_error(&error)),
                }
            }
        }
        self.macho = Some(macho);
    }

    /// Puts the slice's name on every finding.
    fn name_findings(&mut self) {
        let name = self.architecture.to_string();
        let of_signature = self.signature.iter_mut().flat_map(|signature| &mut signature.findings);
        for finding in self.findings.iter_mut().chain(of_signature) {
            finding.place.slice = Some(name.clone());
        }
    }

    /// Returns whether the slice has no signature, neither a good one nor a broken one.
    pub fn is_unsigned(&self) -> bool {
        self.macho.as_ref().is_some_and(|macho| macho.signature.is_none())
    }
}
