//! The damaged files that repairs kept, and the buttons that throw them away.

use std::path::Path;

use maud::{Markup, html};
use steadfast::beneath::{self, NameKind};
use steadfast_report::escape;

use crate::app::App;
use crate::folders::ServedFolder;
use crate::icons::icon;
use crate::roots::ServedPath;
use crate::visitor::Visitor;

/// Where repairs keep damaged files, from the root.
const KEPT: &str = ".steadfast/damaged";

/// Repairs that are listed, and names of each.
const LISTED_MAX: usize = 20;

/// What one repair kept: its number, and the names in its folder.
pub(super) struct KeptFiles {
    number: u64,
    names: Vec<String>,
}

/// Returns what repairs of a root kept. Waits for the disk.
pub(super) fn of(app: &App, place: &ServedPath) -> Vec<KeptFiles> {
    let Ok(root) = app.roots.root(place) else { return Vec::new() };
    let names = |path: &Path| {
        let listed = beneath::names(&root, path, None, LISTED_MAX);
        listed.map(|listed| listed.names).unwrap_or_default()
    };
    let repairs = names(Path::new(KEPT)).into_iter();
    let repairs = repairs.filter(|name| name.kind == NameKind::Directory);
    let numbered = repairs.filter_map(|name| name.name.to_str()?.parse::<u64>().ok());
    numbered
        .map(|number| {
            let inside = names(&Path::new(KEPT).join(number.to_string()));
            let names = inside.iter().map(|name| escape::path(Path::new(&name.name))).collect();
            KeptFiles { number, names }
        })
        .collect()
}

/// The card of what was kept, if anything was.
pub(super) fn panel(visitor: &Visitor, folder: &ServedFolder, kept: &[KeptFiles]) -> Markup {
    html! {
        @if !kept.is_empty() {
            section .panel aria-labelledby="kept" {
                div .cap { (icon("layers")) h2 #kept { "Kept originals" } }
                div .body.stack.tight {
                    p .small { "Files of before a repair. Throw them away once all is well." }
                    @for one in kept {
                        form method="post" action="/repair/discard" {
                            (visitor.csrf())
                            input type="hidden" name="place" value=(folder.place.token());
                            input type="hidden" name="number" value=(one.number);
                            p .small.soft { (one.names.join(", ")) }
                            button type="submit" { (icon("trash")) "Throw them away" }
                        }
                    }
                }
            }
        }
    }
}
