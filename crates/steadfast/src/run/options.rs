//! The options of a run: a verb, a selection, and how to carry it out.
//!
//! Plain values with usable defaults. Knows nothing of stages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_digest::{Algorithm, Backend};
use steadfast_sys::clock;
use steadfast_sys::file::Timestamp;
use steadfast_sys::qos::Level;
use strum::{EnumMessage, IntoStaticStr, VariantArray};

use crate::catalogue::{Catalogue, CataloguedTree};
use crate::cost::SpanSink;
use crate::pages::PagesUse;
use crate::qos::LevelDial;
use crate::store::foreign::ForeignKind;
use crate::verb_kind::VerbKind;

/// What a run is to do, with the options that this verb has. An option of another verb cannot be
/// given, so none is ever ignored:
///
/// ```
/// use steadfast::{CheckOptions, Run, Verb};
///
/// let check = CheckOptions { require_tags: true, ..CheckOptions::default() };
/// let run = Run::new(Verb::Check(check), ["photographs"]);
/// ```
///
/// ```compile_fail,E0560
/// use steadfast::CheckOptions;
///
/// let check = CheckOptions { accept_missing: true, ..CheckOptions::default() };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verb {
    /// Hash every file without a tag and tag it.
    Tag(TagOptions),
    /// Make the catalogue of one directory, and record every file in it: tag those without a tag,
    /// and compare the others with their tags. Files that it has recorded before are not read
    /// again.
    Init(InitOptions),
    /// Hash every tagged file and judge it. Writes nothing.
    Check(CheckOptions),
    /// Tag new files, retag modified ones, report corrupt ones and leave them alone.
    Update(UpdateOptions),
    /// Make tags match the present contents.
    Retag(RetagOptions),
    /// Remove tags and nothing else.
    Untag,
    /// Report tags without reading contents.
    Show,
    /// Hash every file, tagged or not.
    Hash(HashOptions),
    /// Tag files without our tag from another tool's attributes.
    Import,
    /// Write our tags in another tool's format.
    Export(ForeignKind),
}

impl Verb {
    /// Returns it without its options.
    pub fn kind(self) -> VerbKind {
        match self {
            Verb::Tag(_) => VerbKind::Tag,
            Verb::Init(_) => VerbKind::Init,
            Verb::Check(_) => VerbKind::Check,
            Verb::Update(_) => VerbKind::Update,
            Verb::Retag(_) => VerbKind::Retag,
            Verb::Untag => VerbKind::Untag,
            Verb::Show => VerbKind::Show,
            Verb::Hash(_) => VerbKind::Hash,
            Verb::Import => VerbKind::Import,
            Verb::Export(_) => VerbKind::Export,
        }
    }

    /// Returns the name as the command writes it.
    pub fn name(self) -> &'static str {
        self.kind().name()
    }

    /// Returns `tag` without options.
    pub fn tag() -> Verb {
        Verb::Tag(TagOptions::default())
    }

    /// Returns `init` without options.
    pub fn init() -> Verb {
        Verb::Init(InitOptions::default())
    }

    /// Returns `check` without options.
    pub fn check() -> Verb {
        Verb::Check(CheckOptions::default())
    }

    /// Returns `update` without options.
    pub fn update() -> Verb {
        Verb::Update(UpdateOptions::default())
    }

    /// Returns `hash` without options.
    pub fn hash() -> Verb {
        Verb::Hash(HashOptions::default())
    }

    /// Returns the algorithm that was asked for.
    pub(super) fn algorithm(self) -> Option<Algorithm> {
        match self {
            Verb::Tag(TagOptions { algorithm, .. })
            | Verb::Init(InitOptions { algorithm, .. })
            | Verb::Update(UpdateOptions { algorithm, .. })
            | Verb::Retag(RetagOptions { algorithm, .. })
            | Verb::Hash(HashOptions { algorithm, .. }) => algorithm,
            _ => None,
        }
    }

    /// Returns whether a file without a tag is a failure.
    pub fn requires_tags(self) -> bool {
        matches!(self, Verb::Check(CheckOptions { require_tags: true, .. }))
    }

    /// Returns whether it accepts missing files and replaced tags and nothing else.
    pub(crate) fn only_accepts_missing(self) -> bool {
        matches!(
            self,
            Verb::Update(UpdateOptions {
                accept_missing: true,
                accept_suspect: SuspectUse::Leave,
                restore_tags: false,
                ..
            })
        )
    }

    /// Returns whether missing files are let go of.
    pub(crate) fn accepts_missing(self) -> bool {
        matches!(self, Verb::Update(UpdateOptions { accept_missing: true, .. }))
    }
}

/// The options of `tag`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TagOptions {
    /// The algorithm of new tags; `None` for SHA-256. Existing tags keep their own algorithm.
    pub algorithm: Option<Algorithm>,
    /// For which files leaves are kept, so that damage can be located later.
    pub pages: PagesUse,
}

/// The options of `init`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InitOptions {
    /// The algorithm of new tags; `None` for SHA-256. Existing tags keep their own algorithm.
    pub algorithm: Option<Algorithm>,
    /// Whether to enter the tags that are there, and read no contents.
    pub tags_only: bool,
}

/// The options of `check`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// Which files of the catalogue to check, the longest unchecked first; `None` for a walk.
    pub due: Option<DueChoice>,
    /// Whether a file without a tag fails the check.
    pub require_tags: bool,
    /// Whether an empty tree has lost all its files. Otherwise it is refused, because its volume
    /// may not be mounted.
    pub all_lost: bool,
}

/// The options of `update`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateOptions {
    /// The algorithm of new tags; `None` for SHA-256. Existing tags keep their own algorithm.
    pub algorithm: Option<Algorithm>,
    /// Whether to remove missing files from the catalogue, and to accept attributes that differ
    /// from the catalogue's tags.
    pub accept_missing: bool,
    /// Whether to accept suspect files: the user says that a program of theirs wrote them.
    pub accept_suspect: SuspectUse,
    /// Whether to accept any number of changed files. Otherwise the run ends with
    /// [`crate::ErrorKind::TooManyChanges`] before anything is written if too many files are
    /// missing or modified at once ([`crate::TreeChanges::need_consent`]).
    pub accept_many: bool,
    /// Whether to restore lost tags from the catalogue.
    pub restore_tags: bool,
}

/// The options of `retag`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetagOptions {
    /// The algorithm that tags are moved to; `None` to keep that of each.
    pub algorithm: Option<Algorithm>,
    /// Whether to include files that look corrupt, or whose tag is damaged.
    pub accept: bool,
    /// As [`UpdateOptions::accept_many`].
    pub accept_many: bool,
}

/// The options of `hash`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HashOptions {
    /// The algorithm; `None` for SHA-256.
    pub algorithm: Option<Algorithm>,
    /// Whether to report tagged files that are corrupt by their tag.
    pub judge: bool,
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

/// How files are treated whose contents are in a cloud and not on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DatalessUse {
    /// They are skipped and counted. Nothing is downloaded.
    #[default]
    Skip,
    /// They count as unreadable: status 2. Nothing is downloaded.
    Fail,
    /// They are downloaded and read like other files.
    Download,
}

/// Which catalogue a run uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogueUse {
    /// That of the nearest tree at or above the selection, if there is one.
    #[default]
    Nearest,
    /// This file.
    At(PathBuf),
    /// None.
    Off,
}

impl CatalogueUse {
    /// Returns the catalogue that is used for a path.
    pub(crate) fn of(&self, path: &Path) -> Option<PathBuf> {
        match self {
            CatalogueUse::Off => None,
            CatalogueUse::At(file) => Some(file.clone()),
            CatalogueUse::Nearest => Catalogue::find(path),
        }
    }
}

/// Which files of a catalogue are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DueChoice {
    /// Only files that no run has judged for this long.
    pub older_than: Option<Duration>,
    /// End the check after this time. Unfinished files stay due.
    pub max_time: Option<Duration>,
    /// The most bytes of all files together; at least one file is checked.
    pub max_bytes: Option<u64>,
    /// Only files that the last run did not reach, if it was interrupted.
    pub resume: bool,
    /// Whether missing files are reported but not recorded as missing.
    pub leaves_missing: bool,
}

impl DueChoice {
    /// Changes some of it, and returns the whole.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// How contents are read and hashed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReadingOptions {
    /// Where bytes come from.
    pub from: ReadFrom,
    /// Threads that hash; `None` for one per processor.
    pub workers: Option<usize>,
    /// The SHA-256 backend; `None` for the best that this machine has.
    pub backend: Option<Backend>,
    /// Lanes of that backend; `None` for its best.
    pub lanes: Option<usize>,
    /// Reading jobs at a time; `None` for one on a rotating disk, and otherwise as many as are
    /// useful.
    pub queue_depth: Option<usize>,
    /// The most bytes to read in a second; `None` for no limit.
    pub rate_limit_bytes_per_s: Option<u64>,
}

/// Requests to a run from outside while it works. Clones share them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Controls {
    /// Set to end the run early; the summary then says so.
    pub stop: Arc<AtomicBool>,
    /// Set to hold the run, cleared to continue it: meanwhile no thread begins a job.
    pub hold: Arc<AtomicBool>,
    /// Changes the level of the threads that read and hash, up or down.
    pub dial: Arc<LevelDial>,
}

/// Which catalogue a run uses, and how.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CatalogueOptions {
    /// Which one.
    pub choice: CatalogueUse,
    /// The tree that it must be of, by its identity; `None` for any that has the selection.
    pub tree: Option<CataloguedTree>,
    /// The list of catalogued trees, by which a deleted catalogue is noticed; `None` for none.
    /// `init` enters its tree. Of a tree that is mounted elsewhere now, any run enters the path.
    pub trees: Option<PathBuf>,
    /// Whether to wait if another run has the catalogue locked, instead of failing.
    pub wait: bool,
    /// What the run is called in the catalogue, if not by its verb: it is a part of another one.
    pub(crate) recorded_as: Option<VerbKind>,
}

/// How any verb is carried out; every field has a default that needs no thought.
///
/// ```
/// use steadfast::{Options, ReadFrom};
///
/// let options = Options::default().with(|options| {
///     options.reading.from = ReadFrom::Media;
///     options.reading.workers = Some(2);
/// });
/// # assert_eq!(options.reading.workers, Some(2));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How contents are read and hashed.
    pub reading: ReadingOptions,
    /// How a program stops, holds or slows the run while it works.
    pub controls: Controls,
    /// Which catalogue the run uses, and how.
    pub catalogue: CatalogueOptions,
    /// The level of the run's threads.
    pub qos: Level,
    /// Whether to report what would be written without writing it.
    pub dry_run: bool,
    /// The time of day, for tags and records.
    pub now: fn() -> Timestamp,
    /// How files are treated whose contents are not on this machine.
    pub dataless: DatalessUse,
    /// Whether change times prove nothing, as on file systems that keep none: for trees in which
    /// another program moves them all the time.
    pub ignore_change_times: bool,
    /// Whether a run that finds no file, or judges none, is still a success.
    pub allow_empty: bool,
    /// Receives what every thread does, job by job; `None` for no tracing, which costs nothing.
    pub trace: Option<Arc<dyn SpanSink>>,
    /// Whether to count the tree during the run, so that progress can show the remaining work.
    pub survey: bool,
}

/// What `update` does with suspect files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SuspectUse {
    /// Reports them.
    #[default]
    Leave,
    /// Accepts them like edited files.
    Accept,
    /// Accepts them and leaves all other files alone.
    AcceptAlone,
}

impl Options {
    /// Returns how files are treated that are not on this machine. A list of digests without them
    /// would look complete, so for `hash` they are failures.
    pub(super) fn dataless_of(&self, verb: Verb) -> DatalessUse {
        match (self.dataless, verb) {
            (DatalessUse::Skip, Verb::Hash(_)) => DatalessUse::Fail,
            (chosen, _) => chosen,
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            reading: ReadingOptions::default(),
            controls: Controls::default(),
            catalogue: CatalogueOptions::default(),
            qos: Level::Default,
            dry_run: false,
            now: clock::utc_now,
            dataless: DatalessUse::Skip,
            ignore_change_times: false,
            allow_empty: false,
            trace: None,
            survey: false,
        }
    }
}

impl Options {
    /// Returns the options after `change`.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
