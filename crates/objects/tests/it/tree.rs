//! A tree with tags, and objects as a store would hold its files.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use steadfast::{CatalogueUse, Event, Monitor, Options, Progress, Selection, Verb};
use steadfast_digest::Digest;
use steadfast_objects::{KnownFiles, ObjectAlgorithm, ObjectCheckOptions as Run, ObjectFinding};

use crate::server::Held;

struct Silent;

impl Monitor for Silent {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn progress(&mut self, _progress: &Progress) {}
}

/// Makes files of names and contents, and tags them.
pub(crate) fn tagged(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    // Not every file system for temporary files keeps attributes.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (name, contents) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }
    let selection = selection(folder.path());
    let options = Options::default().with(|options| options.catalogue.choice = CatalogueUse::Off);
    let _ = steadfast::unguarded::run(Verb::tag(), &selection, &options, &mut Silent).unwrap();
    folder
}

pub(crate) fn selection(root: &Path) -> Selection {
    Selection::of([root.to_owned()])
}

pub(crate) fn known(root: &Path) -> KnownFiles {
    KnownFiles::tree(&selection(root), &Options::default()).unwrap()
}

pub(crate) fn run() -> Run {
    Run { workers: 3, read: true, require_tags: false, complete: true, stop: Arc::default() }
}

pub(crate) fn algorithm(name: &str) -> ObjectAlgorithm {
    ObjectAlgorithm::named(name).unwrap()
}

pub(crate) fn base64(digest: &Digest) -> String {
    STANDARD.encode(digest.as_bytes())
}

/// An object that came in one, with a digest of the whole.
pub(crate) fn whole(contents: &[u8], name: &str) -> Held {
    let header = format!("x-amz-checksum-{}", name.to_ascii_lowercase());
    let digest = base64(&algorithm(name).digest(contents));
    let kind = ("x-amz-checksum-type".to_owned(), "FULL_OBJECT".to_owned());
    Held { length: contents.len() as u64, headers: vec![(header, digest), kind], ..Held::default() }
}

/// An object that came in parts, with a digest of the parts' digests.
pub(crate) fn composite(contents: &[u8], name: &str, part_len: usize) -> Held {
    let (algorithm, parts) = (algorithm(name), contents.chunks(part_len));
    let digests: Vec<Digest> = parts.clone().map(|part| algorithm.digest(part)).collect();
    let joined: Vec<u8> = digests.iter().flat_map(|digest| digest.as_bytes().to_vec()).collect();
    let value = format!("{}-{}", base64(&algorithm.digest(&joined)), digests.len());
    let header = format!("x-amz-checksum-{}", name.to_ascii_lowercase());
    let kind = ("x-amz-checksum-type".to_owned(), "COMPOSITE".to_owned());
    let parts = parts.zip(&digests).map(|(part, digest)| (part.len() as u64, Some(base64(digest))));
    Held {
        length: contents.len() as u64,
        headers: vec![(header, value), kind],
        parts: parts.collect(),
        ..Held::default()
    }
}

/// Says of each finding where, what, and by what.
pub(crate) fn told(findings: &[ObjectFinding]) -> Vec<String> {
    let told = findings.iter().map(|finding| {
        let by = finding.by.map_or(String::new(), |by| format!(" by {by}"));
        format!("{}: {}{by}", finding.path.display(), finding.judged.name())
    });
    told.collect()
}
