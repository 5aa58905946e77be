//! Gives the right contents of damaged files to whoever copies them elsewhere: from the parity of
//! their tree, and from copies that are registered or that its catalogue knows. Writes nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_digest::{Algorithm, Digest};
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{File, Status, Timestamp};

use super::copies::{Copies, Own};
use super::files::{RepairMode, RepairRequest};
use super::mend::{WantedSpans, digest_matches};
use super::parities::{OpenParity, Parities};
use super::target::{RepairTarget, SelectedRoot, ask_catalogues, damage_of, target_of};
use super::{FileRepair, RepairOutcome, RepairSource, refused, system};
use crate::catalogue::Catalogue;
use crate::event::{FileError, FileEvent};
use crate::run::{CatalogueUse, FileTrial, Options};
use crate::selection::Selection;
use crate::verdict::Verdict;

/// Mends files of a selection on their way elsewhere.
pub(crate) struct Mender {
    roots: Vec<PathBuf>,
    options: Options,
    request: RepairRequest,
    /// The folder of the last file, what its records are found from, and these.
    last: Option<(PathBuf, PathBuf)>,
    given: Option<(PathBuf, SelectedRoot)>,
    parity: OpenParity,
}

/// What a damaged file should be, and what gave it.
#[derive(Debug)]
pub(crate) struct MendedCopy {
    pub(crate) tag: Tag,
    /// The modification time of its last proof.
    pub(crate) mtime: Timestamp,
    pub(crate) sources: Vec<RepairSource>,
}

/// Receives contents, in order.
pub(crate) type ContentsSink<'a> = dyn FnMut(&[u8], u64) -> io::Result<()> + 'a;

impl Mender {
    pub(crate) fn new(selection: &Selection, options: &Options) -> Mender {
        let request = RepairRequest {
            copies: Copies::default().with_registered(options.catalogue.trees.as_deref()),
            mode: RepairMode::Plan,
            in_place: false,
            with_special: false,
            suspects: false,
            to_tag: false,
            all_lost: false,
        };
        Mender {
            roots: selection.roots.iter().chain(&selection.listed).cloned().collect(),
            options: options.clone(),
            request,
            last: None,
            given: None,
            parity: OpenParity::default(),
        }
    }

    /// Returns the tag that the parity recorded of a file without a tag, if its modification time
    /// is that of the tag.
    pub(crate) fn recorded(&mut self, path: &Path, status: &Status) -> Option<Tag> {
        self.given(path)?.recorded(path, status)
    }

    /// Passes the right contents of a damaged file to `sink`. `status` is what the file was when it
    /// was judged.
    ///
    /// # Errors
    /// If nothing has them.
    pub(crate) fn mend(
        &mut self,
        path: &Path,
        event: &FileEvent,
        stop: &Arc<AtomicBool>,
        sink: &mut ContentsSink<'_>,
    ) -> Result<MendedCopy, FileError> {
        let lacks_tag = event.stored.is_none() || event.tag_place.is_loss();
        let status = event.visit.status;
        let parts = damage_of(event);
        let known = status.filter(|_| event.stored.is_none());
        let tag = event.stored.or_else(|| self.recorded(path, &known?));
        let tag = tag.ok_or_else(|| refused("no record says what it should be"))?;
        let nowhere = || refused("it is in no tree");
        let given = self.given(path).map(std::slice::from_ref).ok_or_else(nowhere)?;
        // Also of a suspect file, which stays as it is, the copy is to be what the record says.
        let target = target_of(given, path.to_owned(), Verdict::Corrupt, tag);
        let target = target.ok_or_else(nowhere)?;
        let mut target = RepairTarget { status, damage: parts, lacks_tag, ..target };
        ask_catalogues(std::slice::from_mut(&mut target));
        let own = Own::open(&target)?;
        let (request, outcome) = (&self.request, RepairOutcome::default());
        let mut repair = FileRepair { target: &target, request, originals: None, stop, outcome };
        let mut parities = Parities::of(std::mem::take(&mut self.parity));
        let sources = repair.with_contents(own.as_ref(), &mut parities, &mut |_, contents| {
            let copied =
                contents.copy_to(WantedSpans::All, stop, &mut |span| sink(span.bytes, span.offset));
            copied.map_err(system("write what it should be"))?;
            Ok(contents.sources())
        });
        self.parity = parities.into_open();
        Ok(MendedCopy { tag, mtime: target.mtime(), sources: sources? })
    }

    /// Returns what is known of the tree of a file: that of its catalogue, or else what was
    /// selected.
    fn given(&mut self, path: &Path) -> Option<&SelectedRoot> {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if self.last.as_ref().is_none_or(|(last, _)| last != folder) {
            let is_catalogued = match self.options.catalogue.choice {
                CatalogueUse::Nearest => Catalogue::find(folder).is_some(),
                CatalogueUse::Off | CatalogueUse::At(_) => false,
            };
            let above = self.roots.iter().find(|root| !is_catalogued && path.starts_with(root));
            let anchor = above.map_or(folder, PathBuf::as_path).to_owned();
            self.last = Some((folder.to_owned(), anchor));
        }
        let (_, anchor) = self.last.as_ref()?;
        if self.given.as_ref().is_none_or(|(of, _)| of != anchor) {
            let root = SelectedRoot::of(anchor, &self.options).ok()?;
            self.given = Some((anchor.clone(), root));
        }
        self.given.as_ref().map(|(_, root)| root)
    }
}

/// Compares contents, which have these digests, with the record of the file, or else with what is
/// `recorded` in its parity.
///
/// # Errors
/// If the file has to be read again for that, and cannot be.
pub(crate) fn judge_contents(
    trial: &mut FileTrial,
    (file, status): (&File, &Status),
    digests: &[(Algorithm, Digest)],
    recorded: &mut dyn FnMut() -> Option<Tag>,
    stop: &AtomicBool,
) -> io::Result<()> {
    trial.conclude(file, digests, (status.length, status.mtime));
    if trial.event.verdict != Some(Verdict::Untagged) {
        return Ok(());
    }
    let Some(tag) = recorded() else { return Ok(()) };
    let known = digests.iter().find(|(algorithm, _)| *algorithm == tag.algorithm);
    let is_same = tag.length == status.length
        && match known {
            Some((_, digest)) => *digest == tag.digest,
            None => digest_matches(file, &tag, stop)?,
        };
    if !is_same {
        (trial.event.verdict, trial.event.stored) = (Some(Verdict::Corrupt), Some(tag));
    }
    Ok(())
}
