//! A record: what was measured, on what, how, and every raw sample.
//!
//! In: what workloads measured, or a document. Out: a document that anybody can read, or a record
//! that has been checked. Rates and other figures are derived on reading and never stored, so that
//! a better estimator improves old records too. Specified in `crates/measure/RECORD.md`, which
//! outranks this file; the schema beside it is made from these types.

mod factors;
mod machine;
mod read;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

pub use factors::{Cache, Factors, Files, Isa, Order, Side, Stage};
pub use machine::{Clock, CoreType, Load, Machine, Place, SessionLevel};
pub use read::{read, schema, write};

/// Version of the format that is written.
pub const VERSION: u32 = 1;

/// One session of measuring, whole or cut short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// Over 15 fields: it is the document of `crates/measure/RECORD.md`, field by field.
pub struct Record {
    /// `steadfast record`: what the document is.
    pub format: Format,
    /// Version of the format.
    pub version: u32,
    /// What measured: `steadfast 0.1.0 (x86_64-linux)`.
    pub made_by: String,
    /// The command that makes such a record: the verb and its arguments.
    pub command: Vec<String>,
    /// Name of the machine, if its owner gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where the figures come from, if they were published elsewhere and not measured by this
    /// program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
    /// When it began, in seconds since 1970 began in UTC.
    pub started_unix_s: i64,
    /// How long it took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Why it ended before everything was measured; absent if nothing is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// What it was measured on.
    pub machine: Machine,
    /// The QoS level that it was made at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<SessionLevel>,
    /// What time was taken with.
    pub clock: Clock,
    /// Folders that were written to or read from; series name them by their index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
    /// Later sessions of the same command, if the record has several. Their rounds follow those of
    /// the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<LaterSession>,
    /// What was measured.
    pub series: Vec<Series>,
    /// What a reader should know before believing the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A further session of a record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaterSession {
    /// Its first round.
    pub first_round: u32,
    /// When it began, in seconds since 1970 began in UTC.
    pub started_unix_s: i64,
    /// The load meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
}

impl Record {
    /// Returns the number of the session of a round.
    pub fn session_of(&self, round: u32) -> usize {
        self.sessions.iter().filter(|session| session.first_round <= round).count()
    }

    /// Adds a further session of the same command: its rounds, and series that were new in it.
    pub fn add_session(&mut self, later: Record) {
        let rounds = self.series.iter().flat_map(|series| &series.samples);
        let first_round = rounds.map(|sample| sample.round + 1).max().unwrap_or(0);
        let since_s = u64::try_from(later.started_unix_s - self.started_unix_s).unwrap_or(0);
        // Whole seconds: a short session may seem to begin before the former one ended.
        self.elapsed_ns = self.elapsed_ns.max(since_s * 1_000_000_000 + later.elapsed_ns);
        self.sessions.push(LaterSession {
            first_round,
            started_unix_s: later.started_unix_s,
            load: later.machine.load,
        });
        for mut series in later.series {
            for sample in &mut series.samples {
                sample.round += first_round;
                sample.start_ns += since_s * 1_000_000_000;
            }
            let same = |known: &&mut Series| {
                (known.workload, &known.label, &known.factors, known.place)
                    == (series.workload, &series.label, &series.factors, series.place)
            };
            match self.series.iter_mut().find(same) {
                Some(known) => known.samples.append(&mut series.samples),
                None => self.series.push(series),
            }
        }
        for warning in later.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        self.partial = self.partial.take().or(later.partial);
    }
}

/// What the document is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Format {
    /// A record of measurements.
    #[default]
    #[serde(rename = "steadfast record")]
    Record,
}

/// Where figures come from that this program did not measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Who measured, in which publication, when.
    pub source: String,
    /// What is to be known of the method.
    pub note: String,
    /// Figures that it gives as shares of others, without rates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<StatedShare>,
}

/// A figure that a publication gives as a share of another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatedShare {
    /// What it is of: `reading, encrypted, 160 files`.
    pub what: String,
    /// What it is a share of: `reading, plain, 160 files`.
    pub of: String,
    /// The share; 1 is as much.
    pub share: f64,
}

/// What was measured, by name.
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Reading and hashing, each alone and together.
    Hash,
    /// Reading files.
    Read,
    /// Writing files.
    Write,
    /// Reads by queue depth, with their latencies.
    Queue,
    /// The same work in two places, in turn.
    Pair,
    /// Ciphers, digests and signatures, with and without the processor's instructions for them.
    Cipher,
    /// Loops in one core.
    Cpu,
}

impl Workload {
    /// Every workload, in the order of `measure all`.
    pub const ALL: [Workload; 7] =
        *Workload::VARIANTS.as_array().expect("there are seven workloads");

    /// Returns its name, as on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What a sample counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Bytes read, written, hashed or enciphered.
    Bytes,
    /// Reads of a queue, signatures made or verified.
    Operations,
    /// Rounds of a kernel.
    Loops,
}

/// Samples that differ by nothing but size and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// What was measured, by name.
    pub workload: Workload,
    /// What it is called in a table: `SHA-256 by x86_shani, in memory`.
    pub label: String,
    /// How it was measured, in a sentence or two.
    pub method: String,
    /// What it differs in from the other series.
    pub factors: Factors,
    /// What samples count.
    pub unit: Unit,
    /// Where the order of the samples, or their sizes, came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Index of the folder it was measured in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// Every observation, in the order made. Empty only where the figure is `stated`.
    pub samples: Vec<Sample>,
    /// A figure from a publication, which gave no samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<Stated>,
}

impl Series {
    /// Makes a series of bytes without samples, seed or folder.
    pub fn new(
        workload: Workload,
        label: impl Into<String>,
        method: impl Into<String>,
        factors: Factors,
    ) -> Series {
        Series {
            workload,
            label: label.into(),
            method: method.into(),
            factors,
            unit: Unit::Bytes,
            seed: None,
            place: None,
            samples: Vec::new(),
            stated: None,
        }
    }

    /// Returns the samples that count: all but those that were taken only to warm up.
    pub fn counting(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(|sample| !sample.warm_up)
    }

    /// Returns whether the processor did all of the work, so that its time is what was measured:
    /// loops, and ciphers and digests in memory. Other programs hardly change processor time, but
    /// they do change elapsed time.
    pub fn is_by_processor_time(&self) -> bool {
        let Factors { stage, engine, busy_threads, .. } = &self.factors;
        let in_memory = match self.workload {
            Workload::Cpu => true,
            Workload::Cipher => self.place.is_none(),
            Workload::Hash => {
                *stage == Some(Stage::Hash) && engine.as_ref().is_none_or(|of| of == "memory")
            }
            _ => false,
        };
        let known = |sample: &Sample| sample.cpu_ns.is_some_and(|cpu_ns| cpu_ns > 0);
        // What threads leave each other shows in elapsed time only.
        in_memory && busy_threads.is_none() && self.counting().all(known)
    }

    /// Returns the time of a sample in nanoseconds: the processor time of each thread if the
    /// processor did the work, otherwise the elapsed time.
    pub fn time_ns(&self, sample: &Sample) -> f64 {
        match sample.cpu_ns.filter(|_| self.is_by_processor_time()) {
            Some(cpu_ns) => cpu_ns as f64 / f64::from(self.factors.threads.unwrap_or(1).max(1)),
            None => sample.elapsed_ns as f64,
        }
    }

    /// Returns the rate of a sample by [`Series::time_ns`], in the unit of the series per second.
    pub fn per_second(&self, sample: &Sample) -> f64 {
        sample.amount as f64 * 1e9 / self.time_ns(sample)
    }

    /// Returns the samples that count, each with the first of the same round in another series.
    /// Leaves out rounds that the other series lacks.
    pub fn paired<'a>(
        &'a self,
        other: &'a Series,
    ) -> impl Iterator<Item = (&'a Sample, &'a Sample)> {
        self.counting().filter_map(move |sample| {
            let same_round = other.counting().find(|other| other.round == sample.round);
            same_round.map(|other| (sample, other))
        })
    }

    /// Returns the series with the seed that its order or its sizes came from.
    pub fn seeded(self, seed: u64) -> Series {
        Series { seed: Some(seed), ..self }
    }
}

/// One timed repetition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Which round it belongs to, from 0. Samples of one round share the state of the machine, so
    /// intervals are from whole rounds.
    pub round: u32,
    /// How much was done, in the series' unit. For a file, its length.
    pub amount: u64,
    /// When it began, in nanoseconds after the record's beginning.
    pub start_ns: u64,
    /// How long it took, in nanoseconds; never 0.
    pub elapsed_ns: u64,
    /// Processor time of the whole process meanwhile, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// The part of it on performance cores, in nanoseconds, where the system tells: macOS 13 and
    /// later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub performance_cpu_ns: Option<u64>,
    /// How long the thread that measured was ready to run and waited for a processor, in
    /// nanoseconds, where the system tells: Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_ns: Option<u64>,
    /// Energy meanwhile, in nanojoules: of the process on macOS, of all processor packages on Linux
    /// where their counters may be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_nj: Option<u64>,
    /// How many files the amount was in, if it was not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// How many of the bytes the page cache held before they were read, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_bytes: Option<u64>,
    /// Whether it was done only to warm up. Such samples are kept and count for nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_up: bool,
    /// What else was seen meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// How long each operation took, where there were many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latencies: Option<Latencies>,
}

impl Sample {
    /// Returns the rate by elapsed time, in the unit of the series per second.
    pub fn per_second(&self) -> f64 {
        self.amount as f64 * 1e9 / self.elapsed_ns as f64
    }
}

/// What else was seen while a sample was taken: evidence for what disturbed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// Processor time that other processes and the kernel's own threads took, in nanoseconds; in
    /// steps as coarse as the system's ticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_ns: Option<u64>,
    /// Processor time that the host gave to others, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_ns: Option<u64>,
    /// Frequency of the fastest processor at the end, in kHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_khz: Option<u64>,
    /// Clock of the processor after the sample, in kHz, as measured by steps of two cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_khz: Option<u64>,
    /// The highest temperature that any of the processor's sensors gave at the end, in thousandths
    /// of a degree Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_millidegrees: Option<i64>,
}

/// How many operations took how long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// Lower bound of a latency in nanoseconds, and how many there were from it to the next bound,
    /// in rising order. Bounds lie less than one part in 64 apart.
    pub buckets: Vec<(u64, u64)>,
}

/// A figure as a publication gives it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// In the series' unit, per second.
    pub per_second: f64,
}
