//! How much protecting a folder would read, found out in a few seconds.
//!
//! In: a folder. Out: its files without a tag, and their bytes. It looks at files and their tags,
//! reads no contents, and writes nothing.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use steadfast::qos::Pace;
use steadfast::{CatalogueUse, Event, Monitor, Options, Progress, Run, Verb};

use crate::roots::{ServedPath, ServedRoots};
use crate::runs::selection_of;

/// How long counting may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// What protecting a folder would read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProtectEstimate {
    /// Files, with those that have a tag.
    pub(crate) files: u64,
    /// Bytes of the files without a tag.
    pub(crate) bytes: u64,
    /// Whether there are more: the time was up.
    pub(crate) is_cut: bool,
}

/// Counts the files of a folder. `root` is that of its root.
///
/// # Errors
/// If the folder cannot be read; the text says why.
pub(crate) fn estimate(
    place: &ServedPath,
    root: &Path,
    roots: &ServedRoots,
) -> Result<ProtectEstimate, String> {
    let options = Options::default().with(|options| {
        options.qos = Pace::Bicycle.level();
        options.catalogue.choice = CatalogueUse::Off;
        options.allow_empty = true;
    });
    let mut counter = Counter {
        found: ProtectEstimate::default(),
        stop: Arc::clone(&options.controls.stop),
        begun: Instant::now(),
    };
    let selection = selection_of(place, root, roots);
    let shown = Run::of(Verb::Show, selection, options).run(&mut counter);
    let summary = shown.map_err(|error| error.to_string())?;
    Ok(ProtectEstimate { is_cut: summary.interrupted, ..counter.found })
}

/// Counts files until its time is up.
struct Counter {
    found: ProtectEstimate,
    stop: Arc<AtomicBool>,
    begun: Instant,
}

impl Monitor for Counter {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        let Event::File(event) = event else { return ControlFlow::Continue(()) };
        let Some(length) = event.length() else { return ControlFlow::Continue(()) };
        self.found.files += 1;
        if event.stored.is_none() {
            self.found.bytes = self.found.bytes.saturating_add(length);
        }
        ControlFlow::Continue(())
    }

    fn progress(&mut self, _progress: &Progress) {
        if self.begun.elapsed() > PATIENCE {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_a_tag_are_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("photos")).unwrap();
        for (name, length) in [("photos/one", 10), ("photos/two", 20), ("other", 40)] {
            std::fs::write(folder.path().join(name), vec![1; length]).unwrap();
        }
        let roots = ServedRoots::new(&[folder.path().to_owned()], &[], &|_| false).unwrap();
        let told = |token: &str| {
            let place = roots.place(token).unwrap();
            estimate(&place, &roots.root(&place).unwrap(), &roots).unwrap()
        };
        assert_eq!(told("0/"), ProtectEstimate { files: 3, bytes: 70, is_cut: false });
        assert_eq!(told("0/photos"), ProtectEstimate { files: 2, bytes: 30, is_cut: false });
    }
}
