//! The texts in English.

mod documents;

use steadfast_report::units::{count, counted};

use super::{BrowseTexts, EnterTexts, HomeTexts, LayoutTexts, NoticeText, RunTexts, Texts};
use crate::refusal::Refusal;
use crate::runs::{RunStatus, RunVerb};

pub(super) const TEXTS: Texts = Texts {
    layout: LayoutTexts {
        skip: "Skip to the content",
        pages: "Pages",
        home: "Home",
        run: "Run",
        drop: "Drop",
        measure: "Measure",
        compare: "Compare",
        code: "Code",
        history: "History",
        leave: "Sign out",
        untranslated: "",
        lost: "The server does not answer. This page shows its last update.",
    },
    enter: EnterTexts {
        title: "Sign in",
        password: "Password",
        enter: "Sign in",
        wrong: "The password is wrong.",
        welcome: "You are signed in.",
        go_on: "Go on",
        left: "You are signed out",
        left_text: "To sign in again, open the printed address or enter the password.",
    },
    home: HomeTexts {
        title: "Folders",
        runs: "Runs of this server",
        no_runs: "No runs yet.",
        check_or_tag: "Check or tag",
        choose: "Choose a folder or a file in it",
        fine: "Nothing is known to be wrong.",
        partly_checked: |files| format!("No fault is known. Never checked: {files}."),
        never_checked: "No file was checked yet.",
        wrong: |what| format!("Failures: {what}."),
        last_run: "Last run",
        known: "Known",
        files: |files| counted(files, "file", "files"),
        proved: |days| format!("Proved within {days} days"),
        of: |part, whole| format!("{part} of {whole}"),
        overdue: "Overdue",
        nothing_overdue: "nothing",
        no_catalogue: "There is no catalogue: a check can judge the files that are there, and \
                       cannot tell which are gone, nor when each was last proved.",
        make_catalogue: "Make a catalogue",
        catalogue_above: "It is part of a larger catalogued tree, which is not served here.",
        unreadable: "The catalogue cannot be read",
        column_run: "Run",
        column_folder: "Folder",
        column_begun: "Started",
        column_stand: "Status",
    },
    browse: BrowseTexts {
        title: "Choose a folder",
        way: "Folders above",
        use_this: "Check or tag this folder",
        use_name: |name| format!("Check or tag {name}"),
        use_short: "choose",
        open: |name| format!("Open {name}"),
        entries: |entries| counted(entries, "entry", "entries"),
        empty: "The folder is empty.",
        link: "a link, not followed",
        special: "neither a file nor a folder",
        more: |next, more| format!("Show the next {} of {} more", count(next), count(more)),
        unreadable: "The folder cannot be listed",
    },
    run: RunTexts {
        title: "Check or tag",
        folder: "Folder or file",
        other_folder: "Choose another",
        pace: "Pace",
        pace_names: ["tortoise", "walk", "bicycle", "car", "racing car"],
        pace_help: "A tortoise stays out of everybody's way, a racing car asks for more than its \
                    share.",
        media: "Read from the medium, past the page cache, where the file system can",
        verb: |verb| match verb {
            RunVerb::Tag => "Tag",
            RunVerb::Check => "Check",
            RunVerb::Update => "Update",
            RunVerb::Init => "Make a catalogue",
        },
        verb_help: |verb| match verb {
            RunVerb::Tag => "tags every file that has no tag; reads no other file",
            RunVerb::Check => {
                "reads every file and compares it with its tag; writes nothing to files"
            }
            RunVerb::Update => {
                "checks, tags new files, and retags edited ones; corrupt ones keep \
                             their tags"
            }
            RunVerb::Init => "records the present tags; reads no file",
        },
        heading: |verb| match verb {
            RunVerb::Tag => "Tagging",
            RunVerb::Check => "Check",
            RunVerb::Update => "Update",
            RunVerb::Init => "A new catalogue",
        },
        status: |status| match status {
            RunStatus::Running => "It is running, and goes on if you close this page.",
            RunStatus::Paused => "It is paused.",
            RunStatus::Stopping => "It is stopping.",
            RunStatus::Ended => "It has ended.",
        },
        failed: "The run failed",
        overlaps: "Another run goes on that this one would meet: in that folder, above or beneath, \
                   or with the same catalogue, or while something is to be measured. This is it.",
        pause: "Pause",
        resume: "Go on",
        stop: "Stop",
        progress: "Progress",
        counting: "counting files",
        read: "Read",
        files: "Files",
        rate: "Rate",
        elapsed: "Time",
        left: "Left",
        bound: "Bound by",
        cost: "Where the time goes",
        cost_help: "Time of the hashing threads by stage.",
        cores: "Processors, the last minute",
        core: |number| format!("processor {number}"),
        cores_virtual: "a virtual machine: core types not known",
        cores_unknown: "core types not known",
        load_unknown: "The system does not report the load of processors.",
        one_type: "all of one type",
        counts: "So far",
        done: "What was done",
        found: "Findings",
        nothing_found: "None yet.",
        found_more: |more| {
            format!("and {} more, in the results below once it has ended", count(more))
        },
        rows: "Latest files",
        column_verdict: "Verdict",
        column_path: "Path",
        column_known: "Details",
        column_length: "Read",
        column_seconds: "Time",
        column_rate: "Rate",
        results: "Files that are not intact",
        show: "Show",
        all: "all",
        words: "Path or details contain",
        filter: "Filter",
        none_fits: "No findings match.",
        lost: |lost| {
            let more = counted(lost, "further finding was", "further findings were");
            format!("{more} not kept; none is worse than those that are.")
        },
        next: "Next",
        previous: "Previous",
        span: |from, to, of| format!("{} to {} of {}", count(from), count(to), count(of)),
        report: "Save the report",
        again: "Run again",
        say: |done, found| match found {
            0 => format!("{done}; no problem so far"),
            found => format!("{done}; {} found", counted(found, "problem", "problems")),
        },
    },
    drop: documents::DROP,
    measure: documents::MEASURE,
    compare: documents::COMPARE,
    code: documents::CODE,
    history: documents::HISTORY,
    refusal,
};

fn refusal(refusal: Refusal) -> NoticeText {
    let (title, text) = match refusal {
        Refusal::Method => ("Not supported", "This server accepts GET and POST only."),
        Refusal::Malformed => ("Malformed request", "The request cannot be parsed."),
        Refusal::LongAddress => ("Too long", "The address is too long."),
        Refusal::Stranger => (
            "Not from here",
            "The request names another server, or comes from another server's page. Open the \
             address that the command printed.",
        ),
        Refusal::NoSession => (
            "Please sign in first",
            "Open the address that `steadfast serve` printed: it holds the token that lets this \
             browser in.",
        ),
        Refusal::ForeignForm => {
            ("Outdated form", "The form belongs to another session. Reload its page and try again.")
        }
        Refusal::TooLarge => ("Too large", "The request is too large."),
        Refusal::TooSlow => ("Too slow", "The request did not arrive in time."),
        Refusal::TooMuch => ("Too many requests", "Wait a moment and try again."),
        Refusal::NotFound => ("Not found", "There is no such page, folder, file or run here."),
        Refusal::Conflict => ("Not possible now", "This is not possible in the present state."),
    };
    NoticeText { title, text }
}
