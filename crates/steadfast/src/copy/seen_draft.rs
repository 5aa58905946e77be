//! Whether one place of a copy shows another: what is written at a destination is looked for at the
//! others. That it is not found proves nothing: a pool may put new files elsewhere.

use std::ffi::OsStr;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use steadfast_sys::file::{Draft, File, Status};

use super::destination::Destination;
use crate::safe::{Apartness, Device, Devices};

const NAME: &str = ".steadfast-place.draft";

/// Notes which destinations show, or are shown by, the source or another destination, if the system
/// does not tell.
pub(super) fn note_views(destinations: &mut [Destination], sources: &mut Devices) {
    for at in 0..destinations.len() {
        let (before, rest) = destinations.split_at_mut(at);
        let Some((own, after)) = rest.split_first_mut() else { return };
        let others = before.iter_mut().chain(after).map(|it| (&*it.path, &mut it.device));
        let others: Vec<(&Path, &mut Device)> = others
            .chain(sources.folders())
            .filter(|(_, device)| own.device.files_apart(device) == Apartness::Untold)
            .collect();
        if others.is_empty() {
            continue;
        }
        let token = format!("{:016x}", RandomState::new().hash_one(at));
        let Ok((_draft, path)) = written(own, &token) else { continue };
        for (place, device) in others {
            if shows(place, &path, &token) {
                own.device.note_shown(device, &token);
            }
        }
    }
}

/// Writes a draft at a destination. Returns it, and the real path of its folder.
fn written(to: &Destination, token: &str) -> io::Result<(Draft, PathBuf)> {
    let draft = to.draft(OsStr::new(NAME))?;
    draft.write_at(token.as_bytes(), 0)?;
    // A server gets it late otherwise.
    draft.flush_and_open()?;
    Ok((draft, to.path.canonicalize()?))
}

/// Returns whether a folder of the volume of `place`, at or above that, has the draft at the end of
/// its path.
fn shows(place: &Path, path: &Path, token: &str) -> bool {
    let Ok((place, volume)) =
        place.canonicalize().and_then(|it| Ok((it.clone(), Status::of(&it)?.device)))
    else {
        return false;
    };
    let is_of_volume =
        |folder: &&Path| Status::of(folder).is_ok_and(|status| status.device == volume);
    let has = |path: &Path| {
        let mut bytes = vec![0; token.len()];
        let file = File::open(path).ok()?;
        let read = file.read_at(&mut bytes, 0).ok()?;
        let is_here = file.status().ok()?.device == volume;
        Some(is_here && bytes[..read] == *token.as_bytes())
    };
    place.ancestors().take_while(is_of_volume).any(|folder| {
        let mut ends = vec![folder.join(NAME)];
        let names: Vec<&OsStr> = path.iter().skip(1).collect();
        ends.extend((0..names.len()).map(|at| {
            let end: PathBuf = names[at..].iter().collect();
            folder.join(end).join(NAME)
        }));
        ends.iter().any(|path| has(path) == Some(true))
    })
}
