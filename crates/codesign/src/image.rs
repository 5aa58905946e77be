//! Reads a disk image (UDIF): its trailer, and the signature before the trailer.
//!
//! One digest covers everything before the signature, so damage can be detected but not located.
//!
//! Source: the facts of `UDIFDiskImage` in Apple's published `diskimagerep`.

use crate::apple::AppleError;
use crate::error::{Error, ErrorKind};
use crate::finding::{CodeFinding, FindingKind};
use crate::form::FileForm;
use crate::pages::{BytesVerdict, PageCheckOptions, PageChoice, Sealed, Surroundings};
use crate::signature::Signature;
use steadfast_sys::source::{ReadAt, read_range};

/// Length of the trailer.
const TRAILER_LEN: u64 = 512;

/// Where the trailer has the signature's offset and length.
const OFFSET_AT: usize = 296;
const LENGTH_AT: usize = 304;

/// The only version of trailers.
const VERSION: u32 = 4;

/// A disk image.
#[derive(Clone, Debug)]
pub struct DiskImage {
    /// Length of the file.
    pub len_bytes: u64,
    /// The signature, if there is one that can be read.
    pub signature: Option<Signature>,
    /// Problems of the image's form.
    pub findings: Vec<CodeFinding>,
    /// The trailer as the signature seals it: with the signature's length zeroed.
    trailer: Vec<u8>,
}

impl DiskImage {
    /// Reads the trailer and the signature, not the contents.
    ///
    /// # Errors
    /// `NotCode` if it is not a disk image; `Malformed` if it is something else as well; `System`
    /// if bytes cannot be read.
    pub fn read(source: &dyn ReadAt) -> Result<DiskImage, Error> {
        if FileForm::of(source)? != Some(FileForm::DiskImage) {
            return Err(Error::new(ErrorKind::NotCode, "not a disk image"));
        }
        let len_bytes = source.len_bytes();
        let trailer_at = len_bytes - TRAILER_LEN;
        let mut trailer = read_range(source, trailer_at, TRAILER_LEN)
            .map_err(|error| Error::system("read the trailer", error))?;
        if trailer[4..8] != VERSION.to_be_bytes() {
            return Err(Error::new(ErrorKind::Unsupported, "a disk image of an unknown version"));
        }
        let field = |at: usize| {
            let bytes = trailer[at..at + 8].try_into().expect("eight bytes of the trailer");
            u64::from_be_bytes(bytes)
        };
        let (offset, length) = (field(OFFSET_AT), field(LENGTH_AT));
        trailer[LENGTH_AT..LENGTH_AT + 8].fill(0);
        let mut image = DiskImage { len_bytes, signature: None, findings: Vec::new(), trailer };
        if offset == 0 && length == 0 {
            return Ok(image);
        }
        if offset.checked_add(length) != Some(trailer_at) {
            let text = "the signature does not fill the place before the trailer";
            let error = AppleError::BadDiskImageFormat;
            let place = offset..offset.saturating_add(length);
            image.findings.push(
                CodeFinding::failure(FindingKind::Malformed, error, text)
                    .at(|at| at.bytes = Some(place)),
            );
        }
        match Signature::read(source, offset, length) {
            Ok(signature) => image.signature = Some(signature),
            Err(error) if error.kind() == ErrorKind::System => return Err(error),
            Err(error) => image.findings.push(CodeFinding::of_error(&error)),
        }
        Ok(image)
    }

    /// Returns the input of a check of the image; `None` if it has no readable signature.
    pub fn sealed<'a>(&'a self, source: &'a dyn ReadAt) -> Option<Sealed<'a>> {
        let signature = self.signature.as_ref()?;
        Some(Sealed { source, offset: 0, len_bytes: self.len_bytes, signature, macho: None })
    }

    /// Returns what the signature binds besides the contents: the trailer.
    pub fn surroundings(&self) -> Surroundings<'_> {
        Surroundings { container: Some(&self.trailer), ..Surroundings::default() }
    }

    /// Checks the whole image, which has a single hash. `None` if it has no readable signature.
    ///
    /// # Errors
    /// As for the check of any signature.
    pub fn check_bytes(
        &self,
        source: &dyn ReadAt,
        options: &PageCheckOptions,
    ) -> Option<Result<BytesVerdict, Error>> {
        let sealed = self.sealed(source)?;
        Some(sealed.check_bytes(&self.surroundings(), &PageChoice::All, options))
    }
}
