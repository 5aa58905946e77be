//! A check of many files, cut into shards that many machines run, and put together again.
//!
//! In: a tree, a manifest or a catalogue. Out: a **job**, a folder of documents that any engine can
//! work on: [`plan()`] cuts it, [`run()`] does one shard, [`status()`] says how far it is, and
//! [`merge()`] makes one result of the parts, the same whatever the shards were. Its documents are
//! specified in `docs/formats/fleet.md`. Knows no scheduler, prints nothing and reads no
//! environment; files are read and judged by the library's own runs alone.

#![forbid(unsafe_code)]

mod cut;
mod error;
mod failure;
mod fit;
mod job;
mod joined;
mod keep;
mod line;
mod merge;
mod order;
mod part;
mod plan;
mod plural;
mod row;
mod run;
mod sealed;
mod shard;
mod source;
mod spool;
mod status;

pub use cut::FILE_COST_BYTES;
pub use error::{Error, ErrorKind};
pub use job::{Job, JobHeader, ShardRow};
pub use merge::{MergeOptions, Merged, merge};
pub use part::Outcome;
pub use plan::{Done, PlanOptions, Planned, Size, plan};
pub use row::Row;
pub use run::{Ran, Worker, existing, run};
pub use source::{By, Catalogued, Entry, Found, Listed, Sink, Source, Tree, Trouble};
pub use status::{Amount, Device, Failed, Status, status};
