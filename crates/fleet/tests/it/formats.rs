//! The frozen job: read as it was written.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast_fleet::{Job, existing, status};

use crate::folder::Folder;

/// A job of version 1, run and merged: see its README.
fn frozen() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats/fleet/v1")
}

#[test]
fn the_frozen_job_is_read_and_merges_to_the_frozen_result() {
    let job = Job::open(&frozen().join("job")).unwrap();
    assert_eq!((job.header().shards, job.header().files), (2, 6));
    let whole = status(&job).unwrap();
    assert!(whole.is_complete());
    assert_eq!((whole.checked_status.code(), whole.verdicts["corrupt"]), (3, 1));
    for shard in 0..2 {
        assert!(existing(&job, shard).unwrap().is_some());
    }
    let folder = Folder::new();
    folder.merge(&job, false).unwrap();
    let result = fs::read(folder.path("result.jsonl")).unwrap();
    assert!(result == fs::read(frozen().join("result.jsonl")).unwrap());
}
