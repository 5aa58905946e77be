//! Verifies one file page by page against the leaves kept for its tag.
//!
//! Takes a path. Returns a verdict and the damaged pages. Reads the file once and hashes its pages
//! only. Nothing is written, not even to the catalogue.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use steadfast_sys::file::{File, FileKind};

use super::leaves::leaves_folder;
use crate::advice::Advice;
use crate::catalogue::{Catalogue, CatalogueReader};
use crate::error::Error;
use crate::event::FilePath;
use crate::evidence::{LastProof, evidence_of};
use crate::pages::{Damage, Descriptor, PAGE_LEN_DEFAULT, damage_of};
use crate::store::pages::find;
use crate::store::{StoredTag, tag_at};
use crate::verdict::{Judgement, LengthNow, Verdict, same_mtime};
use crate::verity::{PageCheck, Tree, VerityDigest, VerityParams};
use steadfast_manifest::tag::Tag;

/// How files are verified page by page.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PagesOptions {
    /// The catalogue; `None` for that of the nearest tree at or above the file, if there is one.
    pub catalogue: Option<PathBuf>,
    /// Threads that read and hash.
    pub workers: NonZeroUsize,
    /// As [`crate::Options::ignore_change_times`].
    pub ignore_change_times: bool,
    /// Set from outside to end early.
    pub stop: Arc<AtomicBool>,
}

impl Default for PagesOptions {
    fn default() -> PagesOptions {
        let workers = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        PagesOptions { catalogue: None, workers, ignore_change_times: false, stop: Arc::default() }
    }
}

/// The result for one file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verified {
    /// The verdict. A file with damaged pages is `Corrupt` if its modification time is the tag's,
    /// else `Modified`, as with the digest of the whole file.
    pub verdict: Verdict,
    /// The damaged pages.
    pub damage: Damage,
    /// Present length of the file, in bytes.
    pub length_now: u64,
    /// The tag.
    pub tag: Tag,
    /// Where its leaves are kept; `None` for an empty file, which has none.
    pub kept: Option<PathBuf>,
    /// The fs-verity digest of its leaves.
    pub verity: VerityDigest,
}

/// Verifies a file page by page against the leaves kept for its tag.
///
/// # Errors
/// `Usage` if the file has no tag or no leaves are kept for it; otherwise if the leaves or the file
/// cannot be read.
pub fn verify_pages(path: &Path, options: &PagesOptions) -> Result<Verified, Error> {
    let system =
        |operation: &'static str| move |error: io::Error| Error::system(operation, error).at(path);
    let file = File::open(path).map_err(system("open"))?;
    let before = file.status().map_err(system("look at"))?;
    if before.kind != FileKind::Regular {
        return Err(Error::usage("not a regular file").at(path));
    }
    let catalogue = options.catalogue.clone().or_else(|| Catalogue::find(path.parent()?.here()));
    let tag = tag_of(path, &file, catalogue.as_deref())?;
    let proof = last_proof(path, &tag, catalogue.as_deref());
    let folder = catalogue.as_deref().map(leaves_folder).transpose();
    let folder =
        folder.map_err(io::Error::other).map_err(system("read the kept leaves of"))?.flatten();
    let found = find(&tag, path, folder.as_ref());
    let (place, damage, verity) = match found.map_err(system("read the kept leaves of"))? {
        Some((place, kept)) => {
            let source = Descriptor { file: &file, len_bytes: before.length };
            let damage = damage_of(&source, &kept, options.workers, &options.stop);
            let damage = damage.map_err(system("verify the pages of"))?;
            (Some(place), damage, kept.header().verity_digest())
        }
        None if tag.length == 0 => {
            let (damage, verity) = nothing();
            (None, damage, verity)
        }
        None => {
            let error = Error::usage("no leaves are kept for its tag");
            return Err(error.advise(Advice::TagPages).at(path));
        }
    };
    let after = file.status().map_err(system("look at"))?;
    let same_time = same_mtime(tag.mtime, before.mtime);
    let verdict = match &damage.check {
        _ if after != before => Verdict::Unstable,
        check if check.damaged_pages > 0 || before.length != tag.length => {
            let length = LengthNow::of(Some(tag.length), before.length);
            let evidence = evidence_of(&file, &before, Some(proof), options.ignore_change_times);
            let same_time = same_time || proof.has_mtime(before.mtime);
            Judgement::of_difference(same_time, length, evidence).verdict
        }
        check if check.unreadable_pages > 0 => Verdict::Unreadable,
        _ => Verdict::of_same_contents(same_time),
    };
    Ok(Verified { verdict, damage, length_now: before.length, tag, kept: place, verity })
}

/// Returns the result for an empty file, which has no pages and needs no leaves.
fn nothing() -> (Damage, VerityDigest) {
    let params = VerityParams::default();
    let damage =
        Damage { page_len: PAGE_LEN_DEFAULT as u64, length: 0, check: PageCheck::default() };
    let root = Tree::new(&params).root();
    (damage, params.digest(&root, 0))
}

/// Finds the tag of a file: its own, or else the catalogue's.
fn tag_of(path: &Path, file: &File, catalogue: Option<&Path>) -> Result<Tag, Error> {
    match tag_at(file, path) {
        Ok(StoredTag::Whole(tag)) => return Ok(tag),
        Ok(StoredTag::Damaged(error)) => {
            return Err(Error::usage(format!("cannot read the tag: {error}")).at(path));
        }
        Err(error) => return Err(Error::system("read the tag of", error).at(path)),
        Ok(StoredTag::Absent | StoredTag::Impossible) => {}
    }
    let untagged = || Error::usage("it has no tag").at(path);
    let catalogue = Catalogue::open_reader(catalogue.ok_or_else(untagged)?)?;
    catalogue.guard()?;
    let real = path.canonicalize().map_err(|error| Error::system("find", error).at(path))?;
    let within = real.strip_prefix(catalogue.root()).map_err(|_| untagged())?;
    catalogue.tag(within)?.ok_or_else(untagged)
}

/// Returns the last proof of a file's contents: the catalogue's, or else its tag.
fn last_proof(path: &Path, tag: &Tag, catalogue: Option<&Path>) -> LastProof {
    let known = catalogue.and_then(|file| {
        let catalogue = Catalogue::open_reader(file).ok()?;
        let real = FilePath::whole(&path.canonicalize().ok()?);
        CatalogueReader::beside(&catalogue).ok()?.last_proof(&real, None, tag).ok()?
    });
    known.unwrap_or(LastProof::Tagged(tag.tagged))
}

/// The folder that the parent of a path names.
trait Here {
    /// Returns the current folder for an empty path.
    fn here(&self) -> &Path;
}

impl Here for Path {
    fn here(&self) -> &Path {
        if self.as_os_str().is_empty() { Path::new(".") } else { self }
    }
}
