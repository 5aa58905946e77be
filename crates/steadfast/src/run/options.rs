//! What a run is asked for: a verb, a selection, and how to carry it out.
//!
//! In: nothing. Out: plain values with defaults that need no thought. Knows nothing of stages.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_digest::{Algorithm, Backend};
use steadfast_sys::clock;
use steadfast_sys::file::Timestamp;
use steadfast_sys::qos::Level;
use strum::{EnumMessage, IntoStaticStr, VariantArray};

use crate::cost::SpanSink;
use crate::pages::PagesUse;
use crate::store::foreign::ForeignKind;

/// What a run is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum Verb {
    /// Hash every file without a tag and tag it.
    Tag,
    /// Hash every tagged file and judge it. Writes nothing.
    Check,
    /// Tag new files, retag modified ones, report corrupt ones and leave them alone.
    Update,
    /// Make tags fit the present contents.
    Retag {
        /// Whether also of files that look corrupt, or whose tag is damaged.
        accept: bool,
    },
    /// Remove tags and nothing else.
    Untag,
    /// Report tags without reading contents.
    Show,
    /// Hash every file, tagged or not.
    Hash,
    /// Give files that lack our tag one of what another tool recorded at them.
    Import,
    /// Write our tags as another tool has them.
    Export(ForeignKind),
}

impl Verb {
    /// Returns the name as the command has it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Where the bytes are to come from.
#[derive(EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadFrom {
    /// Through the page cache: fastest, and checks what the system gives to any program.
    #[default]
    Cache,
    /// Past the page cache, from the medium, if the file system can.
    Media,
}

/// What is done with files whose contents are in a cloud and not on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DatalessUse {
    /// They are skipped and counted. Nothing is downloaded.
    #[default]
    Skip,
    /// They are unreadable: status 2. Nothing is downloaded.
    Fail,
    /// They are downloaded and read like any other.
    Download,
}

/// Which catalogue a run keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogueUse {
    /// That of the nearest tree at or above what is selected, if there is one.
    #[default]
    Nearest,
    /// This file.
    At(PathBuf),
    /// None.
    Off,
}

/// What of a catalogue is to be checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DueChoice {
    /// Only what no run judged for so long.
    pub older_than: Option<Duration>,
    /// End the check after so long. Files that are not finished then stay due.
    pub max_time: Option<Duration>,
    /// Files of at most so many bytes together, and at least one.
    pub max_bytes: Option<u64>,
    /// Only what the last run did not come to, if it was interrupted.
    pub resume: bool,
}

impl DueChoice {
    /// Changes some of it, and returns the whole.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// How a run is carried out; every field has a default that needs no thought.
///
/// ```
/// use steadfast::{Options, ReadFrom};
///
/// let options = Options::default().with(|options| {
///     options.read_from = ReadFrom::Media;
///     options.workers = Some(2);
/// });
/// # assert_eq!(options.workers, Some(2));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The algorithm of new tags and of `hash`; `None` for SHA-256, and for tags that are there
    /// already their own.
    pub algorithm: Option<Algorithm>,
    /// Threads that hash; `None` for one per processor.
    pub workers: Option<usize>,
    /// The SHA-256 backend; `None` for the best that this machine has.
    pub backend: Option<Backend>,
    /// Lanes of that backend; `None` for its best.
    pub lanes: Option<usize>,
    /// Where bytes come from.
    pub read_from: ReadFrom,
    /// Reading jobs at a time; `None` for one where a disk rotates, and otherwise as many as pay.
    pub queue_depth: Option<usize>,
    /// The most bytes to read in a second; `None` for no limit.
    pub rate_limit_bytes_per_s: Option<u64>,
    /// The level of the run's threads.
    pub qos: Level,
    /// Whether to say what would be written and write nothing.
    pub dry_run: bool,
    /// Which catalogue the run keeps.
    pub catalogue: CatalogueUse,
    /// The list of catalogued trees, by which a catalogue that was deleted is noticed; `None` for
    /// none. Trees whose catalogue is opened or made are entered in it.
    pub trees: Option<PathBuf>,
    /// Whether to wait for another run that keeps it, rather than to refuse.
    pub wait: bool,
    /// What of the catalogue to check, the longest-unchecked first; `None` for a walk.
    pub due: Option<DueChoice>,
    /// Whether `update` takes missing files out of the catalogue, and believes attributes that are
    /// other tags than the catalogue's.
    pub accept_missing: bool,
    /// The time of day, for tags and records.
    pub now: fn() -> Timestamp,
    /// Whether `update` puts back tags that the catalogue has and the files have lost.
    pub restore_tags: bool,
    /// What is done with files whose contents are not on this machine.
    pub dataless: DatalessUse,
    /// Whether `hash` says of a tagged file if it is corrupt by its tag.
    pub judge: bool,
    /// Whether a file without a tag fails a check.
    pub require_tags: bool,
    /// Whether a run that finds no file, or judges none, is a success all the same.
    pub allow_empty: bool,
    /// Which files' leaves are kept, so that damage can be located later.
    pub pages: PagesUse,
    /// Who hears what every thread does, job by job; `None` for nobody, which costs nothing.
    pub trace: Option<Arc<dyn SpanSink>>,
    /// Whether to count the tree beside the run, so that progress knows the end.
    pub survey: bool,
    /// Set from outside to end the run early; the summary then says so.
    pub stop: Arc<AtomicBool>,
    /// Set and cleared from outside to hold the run: meanwhile no thread begins anything.
    pub hold: Arc<AtomicBool>,
}

impl Options {
    /// Returns what becomes of files that are not on this machine. A list of digests that silently
    /// lacks them would look whole, so there they fail.
    pub(super) fn dataless_of(&self, verb: Verb) -> DatalessUse {
        match (self.dataless, verb) {
            (DatalessUse::Skip, Verb::Hash) => DatalessUse::Fail,
            (chosen, _) => chosen,
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            algorithm: None,
            workers: None,
            backend: None,
            lanes: None,
            read_from: ReadFrom::Cache,
            queue_depth: None,
            rate_limit_bytes_per_s: None,
            qos: Level::Default,
            dry_run: false,
            catalogue: CatalogueUse::Nearest,
            trees: None,
            wait: false,
            due: None,
            accept_missing: false,
            now: clock::utc_now,
            restore_tags: false,
            dataless: DatalessUse::Skip,
            judge: false,
            require_tags: false,
            allow_empty: false,
            pages: PagesUse::Kept,
            trace: None,
            survey: false,
            stop: Arc::new(AtomicBool::new(false)),
            hold: Arc::new(AtomicBool::new(false)),
        }
    }
}

impl Options {
    /// Changes some of them, and returns the whole.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
