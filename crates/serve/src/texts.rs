//! All words of the pages, in every language: one value for each, so that none can lack a word.
//!
//! In: a language. Out: its words. What the report says (verdicts, findings, units, figures) is
//! not here: those words are the same wherever they stand, and documents are not translated.

mod de;
pub(crate) mod documents;
mod en;

use crate::config::Language;
use crate::guard::Refusal;
use crate::runs::{Stand, Verb};
use documents::{CodeTexts, CompareTexts, DropTexts, HistoryTexts, MeasureTexts};

/// Returns the words of a language.
pub(crate) fn texts(language: Language) -> &'static Texts {
    match language {
        Language::English => &en::TEXTS,
        Language::German => &de::TEXTS,
    }
}

/// The words of all pages.
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
    pub(crate) refusal: fn(Refusal) -> Words,
}

/// A title and a sentence.
pub(crate) struct Words {
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
}

/// What stands around every page.
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
    /// That the document below is in English.
    pub(crate) untranslated: &'static str,
    /// That the server is silent, while something goes on.
    pub(crate) lost: &'static str,
}

/// The entrance.
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

/// The page of all folders.
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
    pub(crate) verb: fn(Verb) -> &'static str,
    pub(crate) verb_help: fn(Verb) -> &'static str,
    pub(crate) heading: fn(Verb) -> &'static str,
    pub(crate) stand: fn(Stand) -> &'static str,
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
    /// So many findings were not kept.
    pub(crate) lost: fn(u64) -> String,
    pub(crate) next: &'static str,
    pub(crate) previous: &'static str,
    /// From, to, of.
    pub(crate) span: fn(u64, u64, u64) -> String,
    pub(crate) report: &'static str,
    pub(crate) again: &'static str,
    /// So much of it is done, and so many were found: told to who does not see it.
    pub(crate) say: fn(&str, u64) -> String,
}
