//! What follows from a record: rates with their intervals, ratios, phases. Derived on reading.
//!
//! In: a record. Out: plain figures in base units, one structure for each workload; nothing where
//! the record has no series of that workload. [`hosts`] and [`compare`] are of several records.
//! Pure: the same record gives the same figures.

pub mod cipher;
pub mod compare;
pub mod cpu;
pub mod hash;
pub mod hosts;
pub mod pair;
pub mod queue;
pub mod storage;
