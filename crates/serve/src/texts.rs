//! The texts of the pages in every language: one value for each, so that no text can be missing.
//!
//! Texts of the report (verdicts, findings, units, figures) are not here: documents are not
//! translated.

mod de;
pub(crate) mod documents;
mod en;

use crate::config::Language;
use crate::refusal::Refusal;
use crate::runs::{RunStatus, RunVerb};
use documents::{CodeTexts, CompareTexts, DropTexts, HistoryTexts, MeasureTexts};

/// Returns the texts of a language.
pub(crate) fn texts(language: Language) -> &'static Texts {
    match language {
        Language::English => &en::TEXTS,
        Language::German => &de::TEXTS,
    }
}

/// The texts of all pages.
pub(crate) struct Texts {
    pub(crate) layout: LayoutTexts,
    pub(crate) enter: EnterTexts,
    pub(crate) home: HomeTexts,
    pub(crate) browse: BrowseTexts,
    pub(crate) run: RunTexts,
    pub(crate) drop: DropTexts,
    pub(crate) measure: MeasureTexts,
    pub(crate) compare: CompareTexts,
    pub(crate) code: CodeTexts,
    pub(crate) history: HistoryTexts,
    /// A title and a sentence.
    pub(crate) refusal: fn(Refusal) -> NoticeText,
}

/// A title and a sentence.
pub(crate) struct NoticeText {
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
}

/// The frame of every page.
pub(crate) struct LayoutTexts {
    pub(crate) skip: &'static str,
    pub(crate) pages: &'static str,
    pub(crate) home: &'static str,
    pub(crate) run: &'static str,
    pub(crate) drop: &'static str,
    pub(crate) measure: &'static str,
    pub(crate) compare: &'static str,
    pub(crate) code: &'static str,
    pub(crate) history: &'static str,
    pub(crate) leave: &'static str,
    /// Says that the document below is in English.
    pub(crate) untranslated: &'static str,
    /// Says that the server does not answer during a run.
    pub(crate) lost: &'static str,
}

/// The password page.
pub(crate) struct EnterTexts {
    pub(crate) title: &'static str,
    pub(crate) password: &'static str,
    pub(crate) enter: &'static str,
    pub(crate) wrong: &'static str,
    pub(crate) welcome: &'static str,
    pub(crate) go_on: &'static str,
    pub(crate) left: &'static str,
    pub(crate) left_text: &'static str,
}

/// The start page, with all folders.
pub(crate) struct HomeTexts {
    pub(crate) title: &'static str,
    pub(crate) runs: &'static str,
    pub(crate) no_runs: &'static str,
    pub(crate) check_or_tag: &'static str,
    pub(crate) choose: &'static str,
    pub(crate) fine: &'static str,
    pub(crate) never_checked: &'static str,
    pub(crate) partly_checked: fn(&str) -> String,
    pub(crate) wrong: fn(&str) -> String,
    pub(crate) last_run: &'static str,
    pub(crate) known: &'static str,
    pub(crate) files: fn(u64) -> String,
    pub(crate) proved: fn(u32) -> String,
    pub(crate) of: fn(&str, &str) -> String,
    pub(crate) overdue: &'static str,
    pub(crate) nothing_overdue: &'static str,
    pub(crate) no_catalogue: &'static str,
    pub(crate) make_catalogue: &'static str,
    pub(crate) catalogue_above: &'static str,
    pub(crate) unreadable: &'static str,
    pub(crate) column_run: &'static str,
    pub(crate) column_folder: &'static str,
    pub(crate) column_begun: &'static str,
    pub(crate) column_stand: &'static str,
}

/// The tree of a folder.
pub(crate) struct BrowseTexts {
    pub(crate) title: &'static str,
    pub(crate) way: &'static str,
    pub(crate) use_this: &'static str,
    /// Chooses the folder or file of this name.
    pub(crate) use_name: fn(&str) -> String,
    pub(crate) use_short: &'static str,
    pub(crate) open: fn(&str) -> String,
    pub(crate) entries: fn(u64) -> String,
    pub(crate) empty: &'static str,
    pub(crate) link: &'static str,
    pub(crate) special: &'static str,
    /// The next so many of so many more.
    pub(crate) more: fn(u64, u64) -> String,
    pub(crate) unreadable: &'static str,
}

/// A run, before, meanwhile and afterwards.
pub(crate) struct RunTexts {
    pub(crate) title: &'static str,
    pub(crate) folder: &'static str,
    pub(crate) other_folder: &'static str,
    pub(crate) pace: &'static str,
    pub(crate) pace_names: [&'static str; 5],
    pub(crate) pace_help: &'static str,
    pub(crate) media: &'static str,
    pub(crate) verb: fn(RunVerb) -> &'static str,
    pub(crate) verb_help: fn(RunVerb) -> &'static str,
    pub(crate) heading: fn(RunVerb) -> &'static str,
    pub(crate) status: fn(RunStatus) -> &'static str,
    pub(crate) failed: &'static str,
    pub(crate) overlaps: &'static str,
    pub(crate) pause: &'static str,
    pub(crate) resume: &'static str,
    pub(crate) stop: &'static str,
    pub(crate) progress: &'static str,
    pub(crate) counting: &'static str,
    pub(crate) read: &'static str,
    pub(crate) files: &'static str,
    pub(crate) rate: &'static str,
    pub(crate) elapsed: &'static str,
    pub(crate) left: &'static str,
    pub(crate) bound: &'static str,
    pub(crate) cost: &'static str,
    pub(crate) cost_help: &'static str,
    pub(crate) cores: &'static str,
    pub(crate) core: fn(usize) -> String,
    pub(crate) cores_virtual: &'static str,
    pub(crate) cores_unknown: &'static str,
    pub(crate) load_unknown: &'static str,
    pub(crate) one_type: &'static str,
    pub(crate) counts: &'static str,
    pub(crate) done: &'static str,
    pub(crate) found: &'static str,
    pub(crate) nothing_found: &'static str,
    pub(crate) found_more: fn(u64) -> String,
    pub(crate) rows: &'static str,
    pub(crate) column_verdict: &'static str,
    pub(crate) column_path: &'static str,
    pub(crate) column_known: &'static str,
    pub(crate) column_length: &'static str,
    pub(crate) column_seconds: &'static str,
    pub(crate) column_rate: &'static str,
    pub(crate) results: &'static str,
    pub(crate) show: &'static str,
    pub(crate) all: &'static str,
    pub(crate) words: &'static str,
    pub(crate) filter: &'static str,
    pub(crate) none_fits: &'static str,
    /// The number of findings that were dropped.
    pub(crate) lost: fn(u64) -> String,
    pub(crate) next: &'static str,
    pub(crate) previous: &'static str,
    /// From, to, of.
    pub(crate) span: fn(u64, u64, u64) -> String,
    pub(crate) report: &'static str,
    pub(crate) again: &'static str,
    /// Progress and number of findings, for screen readers.
    pub(crate) say: fn(&str, u64) -> String,
}
