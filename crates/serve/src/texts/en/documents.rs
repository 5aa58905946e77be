//! The texts for drops, measurements, records, code and history in English.

use steadfast_report::units::counted;

use super::super::documents::{CodeTexts, CompareTexts, DropTexts, HistoryTexts, MeasureTexts};
use crate::drops::DropAnswer;
use crate::measuring::{MeasureKind, MeasureProfile, MeasureStatus};

pub(crate) const DROP: DropTexts = DropTexts {
    title: "Drop files",
    intro: "Looks files up by their contents: are they known here, and unchanged? The server \
            hashes the bytes and keeps none of them.",
    zone: "Drop files or a folder here",
    files: "Choose files",
    folder: "Choose a folder",
    no_script: "Dropping needs the page's script. Without it, choose files in the tree of a folder \
                and check them.",
    given: "Handed over by the desktop",
    given_more: |more| format!("and {}", counted(more, "further path", "further paths")),
    check_given: "Look these up",
    cut: "These are the first 1,000 files. Further files were not looked up.",
    whole: |path| format!("Check or tag all of {path}"),
    going: "{done} of {all}: {name}",
    failed: "Cannot read or send:",
    too_many: "More than 1,000 files: tag or check the folder instead.",
    hashing: "Hashing. This page reloads until it is done.",
    results: "Results",
    earlier: "Dropped before",
    entry: |files, moment| format!("{}, {moment}", counted(files, "file", "files")),
    more: "Drop more",
    answer: |answer| match answer {
        DropAnswer::Known => "known here",
        DropAnswer::Differs => "differs",
        DropAnswer::Unknown => "unknown here",
        DropAnswer::Unreadable => "unreadable",
    },
    sum: |answer, files| {
        let files = counted(files, "file", "files");
        match answer {
            DropAnswer::Known => format!("{files} known here, with the tagged contents"),
            DropAnswer::Differs => format!("{files} unlike the tagged file of that name"),
            DropAnswer::Unknown => format!("{files} unknown here"),
            DropAnswer::Unreadable => format!("{files} that could not be read"),
        }
    },
    column_file: "File",
    column_answer: "DropAnswer",
    column_known: "Details",
    column_length: "Length",
    known_as: |path, moment| format!("as {path}, tagged on {moment}"),
    other: |path, moment| format!("{path}, tagged on {moment}, has other contents"),
    stands: |standing| format!("last found {standing}"),
    own_tag: |verdict, moment| format!("by its own tag of {moment}: {verdict}"),
    further: |more| format!("and at {}", counted(more, "further place", "further places")),
    no_tag: "no tagged file here has these contents or this name",
    without_catalogue: "Not searched, since there is no catalogue",
    none: "None of the folders has a catalogue, so nothing can be found by its contents. Home \
           makes one.",
    digests: "Digests",
};

pub(crate) const MEASURE: MeasureTexts = MeasureTexts {
    title: "Measure",
    intro: "Measures the stages of a check on this machine. Run nothing else meanwhile.",
    what: "What to measure",
    kind: |kind| match kind {
        MeasureKind::Kernels => "Hashing in memory",
        MeasureKind::Hash => "Hashing files",
        MeasureKind::Read => "Reading",
        MeasureKind::Write => "Writing",
        MeasureKind::Queue => "Reads in flight",
        MeasureKind::Cpu => "Loops in one core",
        MeasureKind::Cipher => "Ciphers",
    },
    kind_help: |kind| match kind {
        MeasureKind::Kernels => "every algorithm and backend; writes no file",
        MeasureKind::Hash => "reading, hashing, and both, over files made for it",
        MeasureKind::Read => "files made for it, past the page cache and with an empty one",
        MeasureKind::Write => "files of many lengths, flushed, read back and compared",
        MeasureKind::Queue => "1 to 32 reads at a time, and how long each takes",
        MeasureKind::Cpu => "six kernels at every QoS level; writes no file",
        MeasureKind::Cipher => "with and without the instructions for them",
    },
    profile_label: "How thoroughly",
    profile: |profile| match profile {
        MeasureProfile::Quick => "quick: a first look, in about a minute",
        MeasureProfile::Small => "small files (reading and writing; 3.3 GB)",
        MeasureProfile::Standard => "standard: what machines are compared by",
    },
    profile_help: "The standard profile writes 53.3 GB for reading and writing.",
    folder: "Folder for temporary files",
    folder_help: "The files are created in a new folder, which is removed afterwards.",
    begin: "Measure",
    busy: "Another measurement is running. This is it.",
    status: |status| match status {
        MeasureStatus::Running => "It is running, and goes on if you close this page.",
        MeasureStatus::Stopping => "It is stopping. The samples so far are kept.",
        MeasureStatus::Ended => "It has ended.",
    },
    stop: "Stop and keep the samples",
    progress: "Progress",
    preparing: "Preparing",
    now: "Now",
    left: "Left",
    elapsed: "Time",
    samples: "Samples",
    series: "Latest samples",
    column_series: "Series",
    column_course: "Rates so far, from zero",
    column_latest: "Latest",
    column_samples: "Samples",
    no_samples: "None yet.",
    ended_early: "It ended early; what follows is made of the samples until then.",
    failed: "A part could not be measured",
    nothing: "Nothing was measured.",
    not_kept: |why| format!("The record is not kept in the folder of records: {why}."),
    kept: |name| format!("The record is kept as {name}."),
    save_record: "Save the record",
    save_report: "Save the report",
    compare: "Compare it",
    records: "Measured by this server",
    no_records: "None yet.",
    column_begun: "Started",
    column_stand: "Status",
};

pub(crate) const COMPARE: CompareTexts = CompareTexts {
    title: "Compare records",
    intro: "Records of any machine, side by side, with what others have published.",
    records: "Records",
    show: "Show them",
    against: "compared with",
    against_none: "nothing",
    column_record: "Record",
    column_machine: "Machine",
    column_begun: "Started",
    column_from: "From",
    measured_here: "measured here",
    in_folder: "folder of records",
    uploaded: "added",
    published: "published",
    unreadable: "not a record",
    no_records: "There are no records.",
    none_chosen: "Choose one or more records, and optionally one to compare them with.",
    upload: "Add a record",
    upload_help: "A .json file as `measure --export` writes it, up to 8 MB. It is kept in memory \
                  until the server ends.",
    upload_script: "Adding a record needs the page's script. Without it, start the server with a \
                    folder of records.",
    refused: "The record was refused",
    save: "Save the report",
    more: "Choose others",
    gone: "A chosen record does not exist any more, or cannot be read.",
};

pub(crate) const CODE: CodeTexts = CodeTexts {
    title: "Code signature",
    intro: "Verifies an application, program or disk image signed with Apple's tools: whether its \
            bytes are the signed ones, who signed it, and whether the signature is valid. Does \
            not tell whether a Mac would run it.",
    choose: "Choose an application or a binary in",
    no_code: "This cannot be read as signed code",
    map: "Byte by byte",
    map_help: |cell| format!("The file from its first to its last byte. Each cell is {cell}."),
    no_map: "There is no map. Maps exist for Mach-O code only.",
    legend: "Legend",
};

pub(crate) const HISTORY: HistoryTexts = HistoryTexts {
    title: "History",
    intro: "Every run in the catalogue, and the history of each file.",
    choose: "Choose a file or a folder in",
    none: "has no catalogue, and so no history. Create a catalogue on the start page.",
    unknown: "The catalogue does not contain this path.",
};
