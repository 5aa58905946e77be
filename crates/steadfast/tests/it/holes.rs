//! Holes of repaired files on a file system that reserves room behind the end of a growing file.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use steadfast::repair::{
    Copies, RepairMode, RepairMonitor, RepairOutcome, RepairRequest, RepairTarget, repair_files,
};
use steadfast::{Event, Monitor, Selection, Verb};

use crate::image::{Image, XFS};

struct Quiet;

impl Monitor for Quiet {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl RepairMonitor for Quiet {
    fn planned(&mut self, _target: &RepairTarget, _outcome: &RepairOutcome) {}

    fn consents(&mut self, _files: u64) -> bool {
        false
    }

    fn repaired(&mut self, _target: &RepairTarget, _outcome: &RepairOutcome) {}
}

#[test]
fn room_that_xfs_reserves_does_not_fill_holes() {
    let Some(image) = Image::make(XFS) else { return };
    let (tree, copy) = (&image.tree, tempfile::tempdir().unwrap());
    let film = tree.at("film");
    let file = fs::File::create(&film).unwrap();
    file.set_len(524_288).unwrap();
    for at in [81_920, 278_528, 409_600] {
        file.write_all_at(&[7; 4096], at).unwrap();
    }
    file.sync_all().unwrap();
    let blocks = || {
        fs::File::open(&film).unwrap().sync_all().unwrap();
        fs::metadata(&film).unwrap().blocks()
    };
    let before = blocks();
    tree.run(Verb::tag());
    fs::copy(&film, copy.path().join("film")).unwrap();
    let time = fs::metadata(&film).unwrap().modified().unwrap();
    file.write_all_at(b"rot", 278_528).unwrap();
    file.set_modified(time).unwrap();
    drop(file);
    let request = RepairRequest {
        copies: Copies::new(&[copy.path().to_owned()]).unwrap(),
        mode: RepairMode::Yes,
        in_place: false,
        with_special: false,
        to_tag: false,
        all_lost: false,
        suspects: false,
    };
    let selection = Selection::of([tree.path().to_owned()]);
    let summary = repair_files(&selection, &crate::tree::usual(), &request, &mut Quiet).unwrap();
    assert_eq!((summary.repaired, summary.not_repaired), (1, 0));
    assert!(blocks() <= before + 16, "{} and not {before}", blocks());
}
