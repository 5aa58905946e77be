//! The texts of the pages for drops, measurements, records, code and history.

use crate::drops::DropAnswer;
use crate::measuring::{MeasureKind, MeasureProfile, MeasureStatus};

/// Dropped files.
pub(crate) struct DropTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) zone: &'static str,
    pub(crate) files: &'static str,
    pub(crate) folder: &'static str,
    pub(crate) no_script: &'static str,
    pub(crate) given: &'static str,
    /// The number of further paths.
    pub(crate) given_more: fn(u64) -> String,
    pub(crate) check_given: &'static str,
    /// Says that there are more files than were looked up.
    pub(crate) cut: &'static str,
    /// Links to a run of all of this folder.
    pub(crate) whole: fn(&str) -> String,
    /// The progress that the script shows; it replaces `{done}`, `{all}` and `{name}`.
    pub(crate) going: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) too_many: &'static str,
    pub(crate) hashing: &'static str,
    pub(crate) results: &'static str,
    pub(crate) earlier: &'static str,
    /// The number of files of a drop, and its moment.
    pub(crate) entry: fn(u64, &str) -> String,
    pub(crate) more: &'static str,
    pub(crate) answer: fn(DropAnswer) -> &'static str,
    pub(crate) sum: fn(DropAnswer, u64) -> String,
    pub(crate) column_file: &'static str,
    pub(crate) column_answer: &'static str,
    pub(crate) column_known: &'static str,
    pub(crate) column_length: &'static str,
    /// Path and moment.
    pub(crate) known_as: fn(&str, &str) -> String,
    /// Path and moment of a file of the same name and other contents.
    pub(crate) other: fn(&str, &str) -> String,
    /// The file's state at its latest check.
    pub(crate) stands: fn(&str) -> String,
    /// The verdict by the file's own tag, and the tag's moment.
    pub(crate) own_tag: fn(&str, &str) -> String,
    pub(crate) further: fn(u64) -> String,
    pub(crate) no_tag: &'static str,
    pub(crate) without_catalogue: &'static str,
    pub(crate) none: &'static str,
    pub(crate) digests: &'static str,
}

/// Measuring.
pub(crate) struct MeasureTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) what: &'static str,
    pub(crate) kind: fn(MeasureKind) -> &'static str,
    pub(crate) kind_help: fn(MeasureKind) -> &'static str,
    pub(crate) profile_label: &'static str,
    pub(crate) profile: fn(MeasureProfile) -> &'static str,
    pub(crate) profile_help: &'static str,
    pub(crate) folder: &'static str,
    pub(crate) folder_help: &'static str,
    pub(crate) begin: &'static str,
    pub(crate) busy: &'static str,
    pub(crate) status: fn(MeasureStatus) -> &'static str,
    pub(crate) stop: &'static str,
    pub(crate) progress: &'static str,
    pub(crate) preparing: &'static str,
    pub(crate) now: &'static str,
    pub(crate) left: &'static str,
    pub(crate) elapsed: &'static str,
    pub(crate) samples: &'static str,
    pub(crate) series: &'static str,
    pub(crate) column_series: &'static str,
    pub(crate) column_course: &'static str,
    pub(crate) column_latest: &'static str,
    pub(crate) column_samples: &'static str,
    pub(crate) no_samples: &'static str,
    pub(crate) ended_early: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) nothing: &'static str,
    pub(crate) not_kept: fn(&str) -> String,
    pub(crate) kept: fn(&str) -> String,
    pub(crate) save_record: &'static str,
    pub(crate) save_report: &'static str,
    pub(crate) compare: &'static str,
    pub(crate) records: &'static str,
    pub(crate) no_records: &'static str,
    pub(crate) column_begun: &'static str,
    pub(crate) column_stand: &'static str,
}

/// Comparison of records.
pub(crate) struct CompareTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) records: &'static str,
    pub(crate) show: &'static str,
    pub(crate) against: &'static str,
    pub(crate) against_none: &'static str,
    pub(crate) column_record: &'static str,
    pub(crate) column_machine: &'static str,
    pub(crate) column_begun: &'static str,
    pub(crate) column_from: &'static str,
    pub(crate) measured_here: &'static str,
    pub(crate) in_folder: &'static str,
    pub(crate) uploaded: &'static str,
    pub(crate) published: &'static str,
    pub(crate) unreadable: &'static str,
    pub(crate) no_records: &'static str,
    pub(crate) none_chosen: &'static str,
    pub(crate) upload: &'static str,
    pub(crate) upload_help: &'static str,
    pub(crate) upload_script: &'static str,
    pub(crate) refused: &'static str,
    pub(crate) save: &'static str,
    pub(crate) more: &'static str,
    pub(crate) gone: &'static str,
}

/// Code signatures.
pub(crate) struct CodeTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) choose: &'static str,
    pub(crate) no_code: &'static str,
    pub(crate) map: &'static str,
    /// The length of a cell.
    pub(crate) map_help: fn(&str) -> String,
    pub(crate) no_map: &'static str,
    pub(crate) legend: &'static str,
}

/// History.
pub(crate) struct HistoryTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) choose: &'static str,
    pub(crate) none: &'static str,
    pub(crate) unknown: &'static str,
}
