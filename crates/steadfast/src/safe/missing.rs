//! Files of a source that its catalogue knows, and that are gone.

use std::path::Path;

use crate::advice::counted;
use crate::beneath;
use crate::catalogue::{Catalogue, real_of};
use crate::event::Notice;
use crate::run::{Options, changes};
use crate::selection::Selection;

/// The most missing files that are named.
const NAMED_MAX: usize = 16;

/// Names the files that the catalogues of a source miss, as far as they are not among the copies:
/// `is_copied` gets the path that was selected and the path beneath it.
pub(crate) fn missing_files(
    selection: &Selection,
    options: &Options,
    is_copied: &dyn Fn(&Path, &Path) -> bool,
) -> Vec<Notice> {
    let (mut told, mut more) = (Vec::new(), 0);
    for root in
        selection.roots.iter().chain(&selection.listed).filter(|root| beneath::is_folder(root))
    {
        let Some(catalogue) = options.catalogue.choice.of(root) else { continue };
        let Some(real) = real_of(root) else { continue };
        let is_typed = selection.roots.contains(root);
        let only = vec![root.clone()];
        let (roots, listed) = if is_typed { (only, Vec::new()) } else { (Vec::new(), only) };
        let one = Selection { roots, listed, ..selection.clone() };
        // A catalogue that cannot be used is reported where files are judged.
        let Ok(Some(changes)) = changes(&one, options) else { continue };
        let Ok(catalogue) = Catalogue::open_reader(&catalogue) else { continue };
        for missing in changes.missing {
            let Ok(below) = catalogue.root().join(&missing).strip_prefix(&real).map(Path::to_owned)
            else {
                continue;
            };
            if is_copied(root, &below) {
                continue;
            }
            more += u64::from(told.len() >= NAMED_MAX);
            if told.len() < NAMED_MAX {
                let text = "the catalogue of the source knows it, and it is missing";
                told.push(Notice::new(text).at(&root.join(below)));
            }
        }
    }
    if more > 0 {
        let files = counted(more, "further file", "further files");
        told.push(Notice::new(format!("{files} of the source's catalogue are missing")));
    }
    told
}
