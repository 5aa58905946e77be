//! Whether a folder that a verb would write in was meant.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::Args;
use steadfast::catalogue::{Catalogue, TreeList};

use crate::state_folder;

/// Folders that hold a whole system, or everybody's files. What lies in them is never refused.
const SYSTEM_FOLDERS: [&str; 11] = [
    "/", "/home", "/Users", "/usr", "/etc", "/var", "/proc", "/sys", "/dev", "/System", "/Library",
];

/// Whether a folder of the system is meant.
#[derive(Debug, Args)]
pub(crate) struct WholeSystemArg {
    /// Write in a folder of the system such as / or /home, although it has no catalogue
    #[arg(long, help_heading = "Which files")]
    pub(crate) whole_system: bool,
}

impl WholeSystemArg {
    /// Makes sure that the paths of a verb that writes were meant. Without a path, the current
    /// folder is taken if it is in a catalogued tree; `catalogue` is the one that was named.
    ///
    /// # Errors
    /// If no path was given elsewhere, or one is a folder of the system without a catalogue.
    pub(crate) fn ensure_meant(
        &self,
        verb: &str,
        paths: &[PathBuf],
        catalogue: Option<&Path>,
    ) -> anyhow::Result<()> {
        let here = [PathBuf::from(".")];
        let is_in_tree = || {
            catalogue.is_some() || Catalogue::find(&here[0]).is_some() || is_listed_above(&here[0])
        };
        if paths.is_empty() && !is_in_tree() {
            bail!(
                "{verb} needs a PATH, because the current folder is in no catalogued tree; for the \
                 current folder: `steadfast {verb} .`"
            );
        }
        for path in if paths.is_empty() { &here[..] } else { paths } {
            let Ok(real) = path.canonicalize() else { continue };
            let is_of_system = SYSTEM_FOLDERS.iter().any(|folder| real == Path::new(folder));
            ensure!(
                self.whole_system || !is_of_system || has_catalogue(&real, catalogue),
                "`{}` is a folder of the system: name the folder in it that you mean, or add \
                 --whole-system",
                real.display()
            );
        }
        Ok(())
    }
}

/// Returns whether a folder is in a tree that is known to have had a catalogue: that it is gone is
/// told by the verb.
fn is_listed_above(folder: &Path) -> bool {
    let listed = |real: PathBuf| {
        let list = TreeList::at(&state_folder::trees()?);
        real.ancestors().find_map(|above| list.of_root(above))
    };
    folder.canonicalize().ok().and_then(listed).is_some()
}

/// Returns whether a folder is the root of a catalogued tree.
fn has_catalogue(root: &Path, named: Option<&Path>) -> bool {
    let is_of_root = |file: &Path| Catalogue::open_reader(file).is_ok_and(|it| it.root() == root);
    let is_listed = || {
        let list = state_folder::trees();
        list.is_some_and(|list| TreeList::at(&list).of_root(root).is_some())
    };
    named.is_some_and(is_of_root)
        || Catalogue::find(root).is_some_and(|file| is_of_root(&file))
        || is_listed()
}
