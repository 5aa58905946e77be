//! What a full check costs: the bytes that it reads and hashes, and how long hashing them takes.

use std::num::NonZeroUsize;

use steadfast_digest::{Algorithm, AlgorithmHasher, LastPage, PageHasher};
use steadfast_sys::clock;

use crate::bundle::{Bundle, EntryKind, SealedForm, Subtree, joined};
use crate::code::Code;
use crate::cost::VerifyCost;
use crate::error::{Error, ErrorKind};
use crate::pages::lanes_for;

/// Bytes that are hashed to measure a rate: a few milliseconds of work.
const SAMPLE_LEN: usize = 8 << 20;

/// The length of the pages of most signatures.
const PAGE_LEN: NonZeroUsize = NonZeroUsize::new(4 << 10).expect("it has bytes");

impl VerifyCost {
    /// Returns how long hashing all of it takes in so many threads, by the rates at which one
    /// thread hashes a sample in memory now. Reading comes on top of it.
    pub fn hashing_ns(&self, workers: NonZeroUsize) -> u64 {
        let sample = vec![0x5a; SAMPLE_LEN];
        let each_ns = self.hashed().iter().map(|(algorithm, bytes)| {
            let begun_ns = clock::monotonic_ns();
            hash(*algorithm, &sample);
            let sample_ns = clock::monotonic_ns() - begun_ns;
            u128::from(sample_ns) * u128::from(*bytes) / SAMPLE_LEN as u128
        });
        let all_ns = each_ns.sum::<u128>() / workers.get() as u128;
        u64::try_from(all_ns).unwrap_or(u64::MAX)
    }
}

fn hash(algorithm: Algorithm, sample: &[u8]) {
    if algorithm == Algorithm::Sha256 {
        let lanes = lanes_for(sample.len() as u64);
        let mut pages = PageHasher::new(lanes, PAGE_LEN, LastPage::AsIs);
        pages.update(sample, |digest| {
            std::hint::black_box(digest.as_bytes()[0]);
        });
        return;
    }
    let mut hasher = AlgorithmHasher::new(algorithm);
    hasher.update(sample);
    std::hint::black_box(hasher.finalize());
}

impl Code<'_> {
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
