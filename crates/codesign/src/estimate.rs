//! Predicts what a full check costs: the bytes it reads and hashes, and the time it takes.
//!
//! The time is measured by running the check with a [`Meter`]: everything is done except most of
//! the hashing, of which only samples are hashed.

use steadfast_sys::clock;

use crate::bundle::{Bundle, EntryKind, SealedForm, Subtree, joined};
use crate::code::Code;
use crate::cost::VerifyCost;
use crate::error::{Error, ErrorKind};
use crate::meter::Meter;
use crate::pages::PageChoice;
use crate::verify::VerifyOptions;

/// What a full check would take on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyEstimate {
    /// The amount of work.
    pub cost: VerifyCost,
    /// Bytes that were hashed for the estimate.
    pub tried_bytes: u64,
    /// How long all hashing would take where only samples were hashed.
    pub hashing_ns: u64,
    /// How long everything else took: listing, reading signatures, public keys, and hashing where
    /// the input was short enough to be hashed whole.
    pub rest_ns: u64,
    /// Bytes of the executable, or of the image.
    pub len_bytes: u64,
    /// How many of them were in the page cache before; `None` if that is not known.
    pub cached_bytes: Option<u64>,
}

impl VerifyEstimate {
    /// Returns how long a check would take.
    pub fn predicted_ns(&self) -> u64 {
        self.hashing_ns + self.rest_ns
    }
}

impl Code<'_> {
    /// Predicts how long verifying with these options takes, by doing part of it.
    ///
    /// The first call in a process finds nothing of the program in memory, and so does the first
    /// check in a process.
    ///
    /// # Errors
    /// As [`Code::verify`]; and if sealed files cannot be opened.
    pub fn estimate(&self, options: &VerifyOptions) -> Result<VerifyEstimate, Error> {
        let cached_bytes = self.source().cached_bytes();
        let options = VerifyOptions { pages: PageChoice::All, ..options.clone() };
        let meter = Meter::default();
        let begun_ns = clock::monotonic_ns();
        self.verify_metered(&options, Some(&meter))?;
        let elapsed_ns = clock::monotonic_ns() - begun_ns;
        let measured = meter.total();
        Ok(VerifyEstimate {
            cost: self.cost(options.deep)?,
            tried_bytes: measured.tried_bytes,
            hashing_ns: measured.whole_ns,
            rest_ns: elapsed_ns.saturating_sub(measured.tried_ns) + measured.beside_ns,
            len_bytes: self.source().len_bytes(),
            cached_bytes,
        })
    }

    /// Returns what verifying would read and hash; with `deep`, nested code too.
    ///
    /// # Errors
    /// If sealed files cannot be opened.
    pub fn cost(&self, deep: bool) -> Result<VerifyCost, Error> {
        let mut cost = self.as_binary().map(VerifyCost::of).unwrap_or_default();
        if self.as_binary().is_none() {
            for part in self.parts() {
                if let Some(signature) = part.signature {
                    cost.add_signature(signature, part.len_bytes);
                }
            }
        }
        if let Some(package) = self.as_package() {
            cost.read_bytes += package.read_bytes;
            cost.digests += package.files;
        }
        if let Some(bundle) = self.as_bundle() {
            add_resources(bundle, deep, &mut cost)?;
        }
        Ok(cost)
    }
}

/// Adds the sealed files of a bundle; with `deep`, nested code too.
fn add_resources(bundle: &Bundle<'_>, deep: bool, cost: &mut VerifyCost) -> Result<(), Error> {
    let hashes = bundle.hash_types();
    let (Some(Ok(seal)), false) = (&bundle.seal, hashes.is_empty()) else { return Ok(()) };
    for (name, sealed) in &seal.entries {
        let path = joined(&bundle.layout.base, name.as_bytes());
        let system = |error| Error::system(&format!("look at `{name}`"), error);
        match (&sealed.form, bundle.tree().kind(&path).map_err(system)?) {
            (SealedForm::File(_), Some(EntryKind::File)) => {
                let source = bundle.tree().open(&path).map_err(system)?;
                let needed = sealed.digests_for(&hashes).unwrap_or_default();
                let needed: Vec<_> = needed.into_iter().map(|(hash, _)| hash).collect();
                cost.add_file(source.len_bytes(), &needed);
            }
            (SealedForm::Nested { .. }, Some(kind)) if deep => {
                add_nested(bundle, &path, kind, cost)?;
            }
            _ => {}
        }
    }
    for version in bundle.other_versions()?.into_iter().filter(|_| deep) {
        add_nested(bundle, &version.path, EntryKind::Folder, cost)?;
    }
    Ok(())
}

/// Adds nested code. Anything that is not code costs nothing.
fn add_nested(
    bundle: &Bundle<'_>,
    path: &[u8],
    kind: EntryKind,
    cost: &mut VerifyCost,
) -> Result<(), Error> {
    let tree = Subtree::new(bundle.tree(), path);
    match Code::nested(&tree, kind == EntryKind::Folder) {
        Ok(code) => cost.add(&code.cost(true)?),
        Err(error) if error.kind() == ErrorKind::System => return Err(error),
        Err(_) => {}
    }
    Ok(())
}
