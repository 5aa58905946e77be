//! Opens any code that can be signed: a Mach-O file, a disk image, a bundle or a package.

use strum::IntoStaticStr;

use crate::binary::{Binary, MachSlice};
use crate::bundle::{Bundle, BundleTree, Main, Shape, Subtree};
use crate::error::{Error, ErrorKind};
use crate::finding::CodeFinding;
use crate::image::DiskImage;
use crate::package::Package;
use crate::pages::{Sealed, Surroundings};
use crate::signature::Signature;
use crate::ticket::Ticket;
use steadfast_sys::source::ReadAt;

/// Code that can be signed.
pub struct Code<'a> {
    form: CodeForm<'a>,
    /// The ticket of the package that it came in, which lists the code in the package, too.
    package_ticket: Option<&'a Ticket>,
}

enum CodeForm<'a> {
    File(Box<dyn ReadAt + Send>, Binary),
    Image(Box<dyn ReadAt + Send>, Box<DiskImage>),
    Bundle(Box<Bundle<'a>>),
    Package(&'a dyn ReadAt, Package),
}

/// The kind of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum CodeKind {
    /// A Mach-O file by itself.
    File,
    /// A disk image.
    DiskImage,
    /// A bundle.
    Bundle(Shape),
    /// An installer package.
    Package,
}

impl CodeKind {
    /// Returns the name in documents.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A part of code that may have its own signature: a slice, or the whole file.
#[derive(Clone, Copy)]
pub struct CodePart<'a> {
    /// The slice, if it is one.
    pub slice: Option<&'a MachSlice>,
    /// Its signature, if there is one that can be read.
    pub signature: Option<&'a Signature>,
    /// Where it begins in the file.
    pub offset: u64,
    /// How long it is.
    pub len_bytes: u64,
}

impl<'a> Code<'a> {
    /// Opens a file: Mach-O or a disk image.
    ///
    /// # Errors
    /// `NotCode` if it is neither; `System` if it cannot be read.
    pub fn file(source: Box<dyn ReadAt + Send>) -> Result<Code<'a>, Error> {
        match Binary::read(&*source) {
            Ok(binary) => Ok(CodeForm::File(source, binary).into()),
            Err(error) if error.kind() == ErrorKind::NotCode => {
                let image = DiskImage::read(&*source).map_err(|error| match error.kind() {
                    ErrorKind::NotCode => {
                        Error::new(ErrorKind::NotCode, "neither Mach-O nor a disk image")
                    }
                    _ => error,
                })?;
                Ok(CodeForm::Image(source, Box::new(image)).into())
            }
            Err(error) => Err(error),
        }
    }

    /// Opens the bundle at the root of a tree; `name` is its name.
    ///
    /// # Errors
    /// `NotCode` if it is not a bundle; `System` if it cannot be read.
    pub fn bundle(tree: &'a dyn BundleTree, name: &[u8]) -> Result<Code<'a>, Error> {
        Ok(CodeForm::Bundle(Box::new(Bundle::read(tree, name)?)).into())
    }

    /// Takes a package that was read from this source.
    pub(crate) fn package(source: &'a dyn ReadAt, package: Package) -> Code<'a> {
        CodeForm::Package(source, package).into()
    }

    /// Opens the nested code at the root of a subtree: a folder or a file.
    ///
    /// # Errors
    /// As [`Code::bundle`] and [`Code::file`].
    pub(crate) fn nested(tree: &'a Subtree<'_>, folder: bool) -> Result<Code<'a>, Error> {
        if folder {
            return Code::bundle(tree, tree.name());
        }
        Code::file(tree.open(b"").map_err(|error| Error::system("open nested code", error))?)
    }

    /// Says in what package it came, of packages in each other the inmost.
    pub(crate) fn in_package(mut self, ticket: Option<&'a Ticket>) -> Code<'a> {
        self.package_ticket = self.package_ticket.or(ticket);
        self
    }

    /// Returns the ticket of the package that it came in.
    pub(crate) fn package_ticket(&self) -> Option<&'a Ticket> {
        self.package_ticket
    }

    /// Returns the kind of code.
    pub fn kind(&self) -> CodeKind {
        match &self.form {
            CodeForm::File(..) => CodeKind::File,
            CodeForm::Image(..) => CodeKind::DiskImage,
            CodeForm::Bundle(bundle) => CodeKind::Bundle(bundle.layout.shape),
            CodeForm::Package(..) => CodeKind::Package,
        }
    }

    /// Returns the package, if it is one.
    pub fn as_package(&self) -> Option<&Package> {
        match &self.form {
            CodeForm::Package(_, package) => Some(package),
            _ => None,
        }
    }

    /// Returns the bundle, if it is one.
    pub fn as_bundle(&self) -> Option<&Bundle<'a>> {
        match &self.form {
            CodeForm::Bundle(bundle) => Some(bundle),
            _ => None,
        }
    }

    /// Returns the Mach-O file, that of the main executable if it is a bundle.
    pub fn as_binary(&self) -> Option<&Binary> {
        match &self.form {
            CodeForm::File(_, binary) => Some(binary),
            CodeForm::Image(..) | CodeForm::Package(..) => None,
            CodeForm::Bundle(bundle) => match &bundle.main {
                Main::Binary(binary) => Some(binary),
                Main::Other(_) => None,
            },
        }
    }

    /// Returns the file that contains the parts.
    pub fn source(&self) -> &dyn ReadAt {
        match &self.form {
            CodeForm::File(source, _) | CodeForm::Image(source, _) => &**source,
            CodeForm::Bundle(bundle) => bundle.executable(),
            CodeForm::Package(source, _) => *source,
        }
    }

    /// Returns what the signatures bind besides the parts.
    pub fn surroundings(&self) -> Surroundings<'_> {
        match &self.form {
            CodeForm::File(..) | CodeForm::Package(..) => Surroundings::default(),
            CodeForm::Image(_, image) => image.surroundings(),
            CodeForm::Bundle(bundle) => bundle.surroundings(),
        }
    }

    /// Returns the parts, in the order of the file. There is one at least, unless a fat file has
    /// an empty index.
    pub fn parts(&self) -> Vec<CodePart<'_>> {
        let whole = |signature| CodePart {
            slice: None,
            signature,
            offset: 0,
            len_bytes: self.source().len_bytes(),
        };
        match &self.form {
            CodeForm::Image(_, image) => vec![whole(image.signature.as_ref())],
            CodeForm::Package(..) => vec![whole(None)],
            CodeForm::Bundle(bundle) if let Main::Other(signature) = &bundle.main => {
                vec![whole(signature.as_deref())]
            }
            _ => {
                let slices = self.as_binary().map_or(&[][..], |binary| &binary.slices);
                slices.iter().map(CodePart::of_slice).collect()
            }
        }
    }

    /// Returns the findings about the form of the image or bundle; those about a package belong to
    /// its bytes.
    pub fn findings(&self) -> &[CodeFinding] {
        match &self.form {
            CodeForm::File(..) | CodeForm::Package(..) => &[],
            CodeForm::Image(_, image) => &image.findings,
            CodeForm::Bundle(bundle) => &bundle.layout.findings,
        }
    }
}

impl<'a> From<CodeForm<'a>> for Code<'a> {
    fn from(form: CodeForm<'a>) -> Code<'a> {
        Code { form, package_ticket: None }
    }
}

impl<'a> CodePart<'a> {
    fn of_slice(slice: &'a MachSlice) -> CodePart<'a> {
        CodePart {
            slice: Some(slice),
            signature: slice.signature.as_ref(),
            offset: slice.offset,
            len_bytes: slice.len_bytes,
        }
    }

    /// Returns the name of its architecture, if it is a slice.
    pub fn architecture(&self) -> Option<String> {
        self.slice.map(|slice| slice.architecture.to_string())
    }

    /// Returns whether a byte of the file is in a page, or would be in one if the part were signed.
    pub(crate) fn holds(&self, offset: u64) -> bool {
        let len_bytes = match self.signature {
            Some(signature) => signature.chosen_directory().code_limit().min(self.len_bytes),
            None => self.len_bytes,
        };
        offset.checked_sub(self.offset).is_some_and(|inside| inside < len_bytes)
    }

    /// Returns the input of a check of its bytes; `None` if it has no readable signature.
    pub fn sealed(&self, source: &'a dyn ReadAt) -> Option<Sealed<'a>> {
        let (offset, len_bytes) = (self.offset, self.len_bytes);
        let macho = self.slice.and_then(|slice| slice.macho.as_ref());
        Some(Sealed { source, offset, len_bytes, signature: self.signature?, macho })
    }
}
