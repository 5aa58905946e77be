//! What is known of missing files and folders beside their contents.
//!
//! The catalogue and the parity know it of each path, and copies that are named have it of the same
//! path. What another path has is nothing to go by: a file with the same contents may be one that
//! everybody can run.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use steadfast_sys::file::File;

use super::parities::Parities;
use super::target::RepairTarget;
use super::{RepairRequest, refused};
use crate::belongings::{Belongings, Trust, is_ours_alone};
use crate::beneath;
use crate::catalogue::{Catalogue, FolderVolume};
use crate::event::FileError;

/// What belonged to a file or a folder, and how far that is followed.
#[derive(Clone, Debug)]
pub(crate) struct BelongingsRecord {
    pub(crate) belongings: Belongings,
    pub(crate) trust: Trust,
}

/// The records of a tree.
#[derive(Default)]
pub(crate) struct MissingRecords {
    /// The real path of the tree.
    root: PathBuf,
    catalogue: Option<Rc<Catalogue>>,
    /// What parity has of the file that is to be made.
    parity: Option<BelongingsRecord>,
    /// Whether parity says that it had other names (hard links).
    had_links: bool,
    /// Copies: their root, and the folder of the tree that it is a copy of.
    copies: Vec<(PathBuf, PathBuf)>,
    /// A copy of the one file that is to be made.
    copy_of_file: Option<PathBuf>,
    /// Whether special bits and capabilities were asked for.
    with_special: bool,
}

impl MissingRecords {
    /// Takes what the catalogue of a tree knows, if there is one.
    pub(crate) fn of(root: &Path, catalogue: Option<Rc<Catalogue>>) -> MissingRecords {
        MissingRecords { root: root.to_owned(), catalogue, ..MissingRecords::default() }
    }

    /// Takes all that is known of a missing file.
    pub(super) fn of_missing(
        target: &RepairTarget,
        request: &RepairRequest,
        parities: &mut Parities,
    ) -> MissingRecords {
        let catalogue = parities.catalogue(target.catalogue.as_deref());
        let (copies, parity) = (&request.copies, parities.belongings_of(target));
        let mut records = MissingRecords::of(&target.root, catalogue);
        records.with_special = request.with_special;
        records.had_links = parity.as_ref().is_some_and(|known| known.has_links);
        records.parity = parity.map(|known| records.record(known.belongings, known.is_ours));
        for root in copies.roots_of(&target.root) {
            if beneath::is_file(&root) {
                records.copy_of_file = Some(root.clone());
                continue;
            }
            records.copies.push((root.clone(), PathBuf::new()));
            let base = match target.selected.as_os_str().is_empty() {
                true => None,
                false => folder_above(&target.relative, &target.selected),
            };
            let base = base.filter(|base| !base.as_os_str().is_empty());
            records.copies.extend(base.map(|base| (root.clone(), base)));
        }
        records
    }

    fn record(&self, belongings: Belongings, is_ours: bool) -> BelongingsRecord {
        let trust = match is_ours {
            true => Trust::Record { with_special: self.with_special },
            false => Trust::Doubtful,
        };
        BelongingsRecord { belongings, trust }
    }

    /// Refuses a path on a volume that is not mounted: what is made in its mount point is hidden
    /// by the volume later. The nearest catalogue knows it, also if the repair uses none.
    ///
    /// # Errors
    /// If the volume is not there.
    pub(crate) fn ensure_mounted(&self, relative: &Path) -> Result<(), FileError> {
        let real = self.root.join(relative);
        let nearest = || Catalogue::open_reader(&Catalogue::find(&self.root)?).ok().map(Rc::new);
        let found = if self.catalogue.is_some() { None } else { nearest() };
        let Some(catalogue) = self.catalogue.as_ref().or(found.as_ref()) else { return Ok(()) };
        let within = real.strip_prefix(catalogue.root()).ok().and_then(Path::parent);
        match within.map(|within| catalogue.volume_of(within)) {
            Some(Ok(FolderVolume::Unmounted(at))) => {
                let at = catalogue.root().join(at);
                Err(refused(format!("the volume at `{}` is not mounted", at.display())))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn had_links(&self) -> bool {
        self.had_links
    }

    pub(crate) fn catalogue(&self) -> Option<&Catalogue> {
        self.catalogue.as_deref()
    }

    /// Returns what belonged to a file beneath the root, as far as something knows it.
    pub(crate) fn file(&self, relative: &Path) -> Option<BelongingsRecord> {
        let known = self.in_catalogue(relative, |catalogue, path| {
            catalogue.belongings_of_file(path).ok().flatten().map(|known| known.belongings)
        });
        let parity = || self.parity.clone();
        known.or_else(parity).or_else(|| {
            let copy = self.copy(relative)?;
            Some(self.record(Belongings::for_record(&copy.0).ok()?, copy.1))
        })
    }

    /// Returns what belonged to a folder beneath the root, as far as something knows it.
    pub(crate) fn folder(&self, relative: &Path) -> Option<BelongingsRecord> {
        let known = self.in_catalogue(relative, |catalogue, path| {
            catalogue.belongings_of_folder(path).ok().flatten().map(|known| known.belongings)
        });
        known.or_else(|| {
            self.copies.iter().find_map(|(root, base)| {
                let path = relative.strip_prefix(base).ok()?;
                let file = beneath::directory(root, path).and_then(|dir| dir.to_file()).ok()?;
                Some(self.record(Belongings::for_record(&file).ok()?, is_ours_alone(root, path)))
            })
        })
    }

    /// Opens the copy of a file by the same path, and says whether only the user can write it.
    fn copy(&self, relative: &Path) -> Option<(File, bool)> {
        let named = self.copy_of_file.iter().filter_map(|file| {
            let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
            Some((parent.unwrap_or(Path::new(".")), PathBuf::from(file.file_name()?)))
        });
        let trees = self.copies.iter().filter_map(|(root, base)| {
            Some((root.as_path(), relative.strip_prefix(base).ok()?.to_owned()))
        });
        named.chain(trees).find_map(|(root, path)| {
            let file = beneath::file(root, &path).ok()?;
            Some((file, is_ours_alone(root, &path)))
        })
    }

    fn in_catalogue(
        &self,
        relative: &Path,
        find: impl Fn(&Catalogue, &Path) -> Option<Belongings>,
    ) -> Option<BelongingsRecord> {
        let catalogue = self.catalogue.as_ref()?;
        let real = self.root.join(relative);
        let known = find(catalogue, real.strip_prefix(catalogue.root()).ok()?)?;
        let file = catalogue.file();
        let (root, path) = match file.strip_prefix(catalogue.root()) {
            Ok(path) => (catalogue.root(), path),
            Err(_) => (file.parent()?, Path::new(file.file_name()?)),
        };
        Some(self.record(known, is_ours_alone(root, path)))
    }
}

/// Returns the path of the folder from which a path is `selected`.
fn folder_above(path: &Path, selected: &Path) -> Option<PathBuf> {
    let above = path.components().count().checked_sub(selected.components().count())?;
    path.ends_with(selected).then(|| path.components().take(above).collect())
}
