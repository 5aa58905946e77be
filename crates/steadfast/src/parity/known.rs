//! What the catalogue of a tree says of files in parity: the tags of those that lost theirs, and
//! which folders were other volumes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use steadfast_manifest::tag::Tag;
use steadfast_parity::ProtectedFile;

use super::place::ParityPlace;
use crate::advice::Advice;
use crate::beneath;
use crate::catalogue::{
    Catalogue, CatalogueError, CatalogueErrorKind, CatalogueReader, FolderVolume,
};
use crate::error::Error;
use crate::event::{FileError, FilePath};
use crate::run::Options;

/// The catalogue of a tree with parity, if there is one.
pub(super) struct CataloguedFiles {
    root: PathBuf,
    catalogue: Option<Result<(Catalogue, CatalogueReader), CatalogueError>>,
}

impl CataloguedFiles {
    /// Opens the catalogue that a run with these options uses.
    ///
    /// # Errors
    /// If it is of another tree.
    pub(super) fn of(place: &ParityPlace, options: &Options) -> Result<CataloguedFiles, Error> {
        let file = options.catalogue.choice.of(place.root());
        let open = |file: PathBuf| -> Result<_, CatalogueError> {
            let catalogue = Catalogue::open_reader(&file)?;
            catalogue.guard_as(true)?;
            let reader = CatalogueReader::beside(&catalogue)?;
            Ok((catalogue, reader))
        };
        let root = place.root().to_owned();
        match file.map(open) {
            Some(Err(error)) if error.kind() == CatalogueErrorKind::OtherVolume => {
                Err(error.into())
            }
            catalogue => Ok(CataloguedFiles { root, catalogue }),
        }
    }

    /// Returns the tag that the catalogue has of a file; `None` if it cannot tell.
    pub(super) fn tag(&self, relative: &Path) -> Option<Tag> {
        let Some(Ok((_, reader))) = &self.catalogue else { return None };
        reader.tag(&FilePath::whole(&self.root.join(relative))).ok().flatten()
    }

    /// Says whether a person accepted, in an earlier run, that a file with a tag is gone. The set
    /// that has it may have been needed for another file then.
    pub(super) fn was_let_go(&self, file: &ProtectedFile) -> bool {
        let Some(Ok((catalogue, _))) = &self.catalogue else { return false };
        let path = self.root.join(&file.path);
        let (Ok(path), Ok(tag)) = (path.strip_prefix(catalogue.root()), Tag::decode(&file.tag))
        else {
            return false;
        };
        catalogue.was_let_go(path, &tag).unwrap_or(false)
    }

    /// Returns where a file with a tag went from its path, if the catalogue saw it move and has a
    /// tag of other contents now.
    pub(super) fn moved_and_retagged(&self, relative: &Path, before: &Tag) -> Option<PathBuf> {
        let Some(Ok((catalogue, reader))) = &self.catalogue else { return None };
        let from = self.root.join(relative);
        let to = catalogue.moved_to(from.strip_prefix(catalogue.root()).ok()?).ok()??;
        let to = catalogue.root().join(to);
        let tags = reader.tags_so_far(&FilePath::whole(&to)).ok()?;
        let (now, earlier) = tags.split_first()?;
        let is_retagged = earlier.iter().any(|tag| tag.same_contents(before));
        let is_other = is_retagged && !now.same_contents(before);
        to.strip_prefix(&self.root).ok().filter(|_| is_other).map(Path::to_owned)
    }

    /// Returns why a file that is not in the tree may be on a volume that is not mounted; `None` if
    /// its folder is the one in which it was.
    pub(super) fn why_hidden(&self, relative: &Path) -> Option<FileError> {
        let folder = relative.parent().unwrap_or(Path::new(""));
        let kept = |why: String| FileError::new("let go of it", why);
        match &self.catalogue {
            Some(Err(error)) => {
                return Some(kept(format!("the catalogue cannot be read: {error}")));
            }
            Some(Ok((catalogue, _))) => {
                let real = self.root.join(folder);
                let volume = match real.strip_prefix(catalogue.root()) {
                    Ok(within) => catalogue.volume_of(within),
                    Err(_) => Ok(FolderVolume::NotKnown),
                };
                match volume {
                    Ok(FolderVolume::Mounted) => return None,
                    Ok(FolderVolume::Unmounted(at)) => {
                        let at = at.display();
                        return Some(kept(format!("the volume at `{at}` is not mounted")));
                    }
                    Ok(FolderVolume::NotKnown) => {}
                    Err(error) => {
                        return Some(kept(format!("the catalogue cannot be read: {error}")));
                    }
                }
            }
            None => {}
        }
        // A mount point without its volume is an empty folder, or is not there.
        let is_there = |path: &Path| beneath::directory(&self.root, path).is_ok();
        let has_files =
            folder.as_os_str().is_empty() || is_there(folder) && !is_empty(&self.root, folder);
        (!has_files).then(|| {
            let shown = folder.display();
            let why = format!("nothing is in `{shown}`: is a volume not mounted there?");
            kept(why).advise(Advice::ForgetFolder(folder.to_owned()))
        })
    }
}

/// Returns whether a folder has nothing in it but what every new volume has.
fn is_empty(root: &Path, folder: &Path) -> bool {
    let mut empty = true;
    let listed = beneath::directory(root, folder).and_then(|dir| {
        dir.entries(&mut |entry| {
            empty = entry.name == "lost+found";
            if empty { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
    });
    // What cannot be listed may have been emptied.
    listed.is_err() || empty
}
