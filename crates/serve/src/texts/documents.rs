//! The words of the pages about single files, measurements, records, code and the past.

use crate::measuring::{MeasureStand, Profile, Work};
use crate::pages::drop::Answer;

/// Files that are dropped on the page.
pub(crate) struct DropTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) zone: &'static str,
    pub(crate) files: &'static str,
    pub(crate) folder: &'static str,
    pub(crate) no_script: &'static str,
    pub(crate) given: &'static str,
    /// So many further ones.
    pub(crate) given_more: fn(u64) -> String,
    pub(crate) check_given: &'static str,
    /// There are more files than were looked at.
    pub(crate) cut: &'static str,
    /// Leads to a run over all of this folder.
    pub(crate) whole: fn(&str) -> String,
    /// What the script says as it goes, with `{done}`, `{all}` and `{name}` to be filled in.
    pub(crate) going: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) too_many: &'static str,
    pub(crate) hashing: &'static str,
    pub(crate) results: &'static str,
    pub(crate) earlier: &'static str,
    /// Files of a drop, and when it was.
    pub(crate) entry: fn(u64, &str) -> String,
    pub(crate) more: &'static str,
    pub(crate) answer: fn(Answer) -> &'static str,
    pub(crate) sum: fn(Answer, u64) -> String,
    pub(crate) column_file: &'static str,
    pub(crate) column_answer: &'static str,
    pub(crate) column_known: &'static str,
    pub(crate) column_length: &'static str,
    /// Path and moment.
    pub(crate) known_as: fn(&str, &str) -> String,
    /// Path and moment of a file of the same name and other contents.
    pub(crate) other: fn(&str, &str) -> String,
    /// How the file there stood when it was judged last.
    pub(crate) stands: fn(&str) -> String,
    /// By its own tag, of this moment.
    pub(crate) own_tag: fn(&str, &str) -> String,
    pub(crate) further: fn(u64) -> String,
    pub(crate) no_tag: &'static str,
    pub(crate) not_asked: &'static str,
    pub(crate) none: &'static str,
    pub(crate) digests: &'static str,
}

/// Measuring.
pub(crate) struct MeasureTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) what: &'static str,
    pub(crate) work: fn(Work) -> &'static str,
    pub(crate) work_help: fn(Work) -> &'static str,
    pub(crate) profile_label: &'static str,
    pub(crate) profile: fn(Profile) -> &'static str,
    pub(crate) profile_help: &'static str,
    pub(crate) folder: &'static str,
    pub(crate) folder_help: &'static str,
    pub(crate) begin: &'static str,
    pub(crate) busy: &'static str,
    pub(crate) stand: fn(MeasureStand) -> &'static str,
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

/// Records side by side.
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

/// The seal of code.
pub(crate) struct CodeTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) choose: &'static str,
    pub(crate) no_code: &'static str,
    pub(crate) map: &'static str,
    /// Bytes of a cell.
    pub(crate) map_help: fn(&str) -> String,
    pub(crate) no_map: &'static str,
    pub(crate) legend: &'static str,
}

/// The past.
pub(crate) struct HistoryTexts {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) choose: &'static str,
    pub(crate) none: &'static str,
    pub(crate) unknown: &'static str,
}
