//! A check of many files, cut into shards that many machines run, and put together again.
//!
//! In: a tree, a manifest or a catalogue. Out: a **job**, a folder of documents that any engine can
//! work on: [`plan()`] cuts it, [`run()`] does one shard, [`status()`] says how far it is, and
//! [`merge()`] makes one result of the parts, the same whatever the shards were. Its documents are
//! specified in `docs/formats/fleet.md`. Knows no scheduler, prints nothing and reads no
//! environment; files are read and judged by the library's own runs alone.

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
pub use merge::{MergeOptions, Merged, merge};
pub use part::Outcome;
pub use plan::{Done, PlanOptions, Planned, Size, plan};
pub use row::Row;
pub use run::{Ran, Worker, existing, run};
pub use source::{By, Catalogued, Entry, Found, Listed, Sink, Source, Tree, Trouble};
pub use status::{Amount, Device, Failed, Status, status};
