//! Checks many files on many machines, in shards, and merges the results.
//!
//! In: a tree, a manifest or a catalogue. Out: a **job**, which is a folder of documents that any
//! scheduler can work on: [`plan()`] cuts it into shards, [`run()`] checks one shard, [`status()`]
//! reports the progress, and [`merge()`] makes one result of the parts, which does not depend on
//! the shards. `fleet/FORMAT.md` specifies the documents. Prints nothing and reads no
//! environment; only the library's own runs read and judge files.

#![forbid(unsafe_code)]

mod error;
mod line;
mod plural;
mod fit;
mod source;
mod row;
mod sealed;
mod job;
mod order;
mod spool;
mod cut;
mod shard;
mod part;
mod failure;
mod joined;
mod plan;
mod run;
mod status;
mod keep;
mod merge;

pub use cut::FILE_COST_BYTES;
pub use error::{Error, ErrorKind};
pub use job::{Job, JobHeader, ShardRow};
pub use merge::{MergeOptions, MergedJob, merge};
pub use part::PartOutcome;
pub use plan::{PlanOptions, PlanProgress, PlannedJob, Size, plan};
pub use row::Row;
pub use run::{ShardRun, ShardWorker, existing, run};
pub use source::{
    By, CatalogueSource, JobFile, JobSource, ManifestSource, SourceFailure, SourceItem, SourceSink,
    TreeSource,
};
pub use status::{DeviceStatus, FailedShard, JobAmount, JobStatus, status};
