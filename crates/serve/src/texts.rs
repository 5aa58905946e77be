//! The texts of the pages in every language. Each text is stated once, in English and in German, so
//! that none can be missing.
//!
//! What reports say in English is translated by `reports`, with the texts of `de.po`.

use steadfast::qos::Pace;
use steadfast_report::units::{count, counted};

use crate::config::Language;
use crate::live::LiveStatus;
use crate::refusal::Refusal;
use crate::runs::RunVerb;

/// The type of a text: a string, a function that makes one, or a function from a variant to one.
macro_rules! text_type {
    () => { &'static str };
    ([$enum:ident]) => { fn($enum) -> &'static str };
    ($($type:ty),+) => { fn($($type),+) -> String };
}

/// Declares structs of texts, with the English and the German value of each:
///
/// - `key: "English", "German";` is a string;
/// - `key(name: Type): english, german;` is a function that makes a string;
/// - `key[Enum] { Variant: "English", "German"; }` has a string for each variant.
macro_rules! texts {
    ($($(#[$about:meta])* $texts:ident {$(
        $(#[$doc:meta])* $key:ident $(($($name:ident: $type:ty),+))?
        $(: $english:expr, $german:expr;)?
        $([$enum:ident] {$($variant:ident: $variant_english:expr, $variant_german:expr;)+})?
    )+})+) => {$(
        $(#[$about])*
        pub(crate) struct $texts {
            of: Language,
            $($(#[$doc])* pub(crate) $key: text_type!($($($type),+)? $([$enum])?),)+
        }

        impl $texts {
            pub(super) const fn new(language: Language) -> $texts {
                $texts {
                    of: language,
                    $($key: match language {
                        Language::English => $(|$($name: $type),+|)? $($english)? $(|variant| {
                            match variant { $($enum::$variant => $variant_english,)+ }
                        })?,
                        Language::German => {
                            // In German texts, numbers are German too.
                            #[allow(unused_imports, reason = "few texts have a number")]
                            use $crate::texts::figures::{count, counted};
                            $(|$($name: $type),+|)? $($german)? $(|variant| {
                                match variant { $($enum::$variant => $variant_german,)+ }
                            })?
                        }
                    },)+
                }
            }
        }

        impl $crate::texts::OfLanguage for $texts {
            fn language(&self) -> Language {
                self.of
            }
        }
    )+};
}

mod figures;
mod po;

pub(crate) mod add;
pub(crate) mod automation;
pub(crate) mod documents;
pub(crate) mod folders;
pub(crate) mod reports;
pub(crate) mod result;

use add::AddTexts;
use automation::{AlertTexts, ScheduleTexts};
use documents::{CodeTexts, CompareTexts, DropTexts, HistoryTexts, MeasureTexts};
use folders::{ActivityTexts, FolderTexts, HomeTexts, RepairTexts, SettingsTexts, StateTexts};
use result::ResultTexts;

/// Texts of one language.
pub(crate) trait OfLanguage {
    /// Returns the language.
    fn language(&self) -> Language;

    /// Returns what a report says in English in this language: a text, or a figure.
    fn say(&self, english: &str) -> String {
        reports::wording(self.language()).say(english)
    }
}

/// Returns the texts of a language.
pub(crate) fn texts(language: Language) -> &'static Texts {
    const ENGLISH: Texts = Texts::new(Language::English);
    const GERMAN: Texts = Texts::new(Language::German);
    match language {
        Language::English => &ENGLISH,
        Language::German => &GERMAN,
    }
}

/// The texts of all pages.
pub(crate) struct Texts {
    pub(crate) layout: LayoutTexts,
    pub(crate) enter: EnterTexts,
    pub(crate) state: StateTexts,
    pub(crate) home: HomeTexts,
    pub(crate) folder: FolderTexts,
    pub(crate) add: AddTexts,
    pub(crate) repair: RepairTexts,
    pub(crate) activity: ActivityTexts,
    pub(crate) settings: SettingsTexts,
    pub(crate) schedule: ScheduleTexts,
    pub(crate) alert: AlertTexts,
    pub(crate) browse: BrowseTexts,
    pub(crate) run: RunTexts,
    pub(crate) result: ResultTexts,
    pub(crate) drop: DropTexts,
    pub(crate) measure: MeasureTexts,
    pub(crate) compare: CompareTexts,
    pub(crate) code: CodeTexts,
    pub(crate) history: HistoryTexts,
    pub(crate) refusal: RefusalTexts,
}

impl Texts {
    const fn new(language: Language) -> Texts {
        Texts {
            layout: LayoutTexts::new(language),
            enter: EnterTexts::new(language),
            state: StateTexts::new(language),
            home: HomeTexts::new(language),
            folder: FolderTexts::new(language),
            add: AddTexts::new(language),
            repair: RepairTexts::new(language),
            activity: ActivityTexts::new(language),
            settings: SettingsTexts::new(language),
            schedule: ScheduleTexts::new(language),
            alert: AlertTexts::new(language),
            browse: BrowseTexts::new(language),
            run: RunTexts::new(language),
            result: ResultTexts::new(language),
            drop: DropTexts::new(language),
            measure: MeasureTexts::new(language),
            compare: CompareTexts::new(language),
            code: CodeTexts::new(language),
            history: HistoryTexts::new(language),
            refusal: RefusalTexts::new(language),
        }
    }
}

texts! {
    /// The frame of every page.
    LayoutTexts {
        skip: "Skip to the content", "Zum Inhalt springen";
        pages: "Pages", "Seiten";
        home: "Folders", "Ordner";
        activity: "Activity", "Läufe";
        drop: "Look up", "Suche";
        /// What follows in a wide side bar.
        drop_more: " files", " nach Dateien";
        code: "Signed apps", "Signaturen";
        measure: "Measure", "Messen";
        settings: "Settings", "Einstel\u{ad}lungen";
        mine: "Your folders", "Ihre Ordner";
        here_only: "This computer only", "Nur dieser Rechner";
        elsewhere: "Reachable from the network", "Aus dem Netz erreichbar";
        /// Says that the server does not answer during a run.
        lost: "The server does not answer. This page shows its last update.",
            "Der Dienst antwortet nicht. Diese Seite zeigt seinen letzten Stand.";
    }

    /// The password page.
    EnterTexts {
        title: "Sign in", "Anmelden";
        password: "Password", "Passwort";
        enter: "Sign in", "Anmelden";
        wrong: "The password is wrong.", "Das Passwort ist falsch.";
        welcome: "You are signed in.", "Sie sind angemeldet.";
        go_on: "Go on", "Weiter";
        left: "You are signed out", "Sie sind abgemeldet";
        left_text: "To sign in again, open the printed address or enter the password.",
            "Zum Anmelden öffnen Sie die ausgegebene Adresse oder geben das Passwort ein.";
    }

    /// The tree of a folder.
    BrowseTexts {
        title: "Choose a folder", "Einen Ordner wählen";
        way: "Folders above", "Ordner darüber";
        use_this: "Check or tag this folder", "Diesen Ordner prüfen oder markieren";
        /// Chooses the folder or file of this name.
        use_name(name: &str): format!("Check or tag {name}"),
            format!("{name} prüfen oder markieren");
        use_short: "choose", "wählen";
        open(name: &str): format!("Open {name}"), format!("{name} öffnen");
        entries(entries: u64): counted(entries, "entry", "entries"),
            counted(entries, "Eintrag", "Einträge");
        empty: "The folder is empty.", "Er ist leer.";
        link: "a link, not followed", "ein Verweis, dem nicht gefolgt wird";
        special: "neither a file nor a folder", "weder Datei noch Ordner";
        /// The next so many of so many more.
more(next: u64, more: u64): format!("Show the next {} of {} more", count(next), count(more)),
            format!("Die nächsten {} von {} weiteren zeigen", count(next), count(more));
        unreadable: "The folder cannot be listed", "Der Inhalt ist nicht lesbar";
    }

    /// A run, before, meanwhile and afterwards.
    RunTexts {
        title: "Check or tag", "Prüfen oder markieren";
        folder: "Folder or file", "Ordner oder Datei";
        other_folder: "Choose another", "Anderes wählen";
        pace: "Pace", "Wie schnell";
pace_name[Pace] {
            Tortoise: "tortoise", "Schildkröte";
            Walk: "walk", "zu Fuß";
            Bicycle: "bicycle", "Fahrrad";
            Car: "car", "Auto";
            RacingCar: "racing car", "Rennwagen";
        }
        pace_help: "A tortoise stays out of everybody's way, a racing car asks for more than its \
                share.",
            "Eine Schildkröte ist niemandem im Weg, ein Rennwagen verlangt mehr als seinen Anteil.";
        media: "Read from the medium, past the page cache, where the file system can",
            "Vom Datenträger lesen, am Zwischenspeicher vorbei, wo das Dateisystem es kann";
        verb[RunVerb] {
            Tag: "Tag", "Markieren";
            Check: "Check", "Prüfen";
            Update: "Update", "Aktualisieren";
            Init: "Make a catalogue", "Einen Katalog anlegen";
            Protect: "Protect", "Schützen";
        }
        verb_help[RunVerb] {
            Tag: "tags every file that has no tag; reads no other file",
                "gibt jeder Datei ohne Marke eine; liest keine andere";
            Check: "reads every file and compares it with its tag; writes nothing to files",
                "liest jede Datei und sagt, was aus ihr wurde; schreibt nichts an sie";
            Update: "checks, tags new files, and retags edited ones; corrupt ones keep their tags",
                "prüft, markiert neue Dateien und bearbeitete neu; beschädigte behalten ihre \
                    Marken";
            Init: "records the present tags; reads no file",
                "trägt ein, was die Marken sagen; liest keine Datei";
            Protect: "makes a catalogue and tags every file that has no tag",
                "legt einen Katalog an und gibt jeder Datei ohne Marke eine";
        }
        heading[RunVerb] {
            Tag: "Tagging", "Markieren";
            Check: "Check", "Prüfung";
            Update: "Update", "Aktualisierung";
            Init: "A new catalogue", "Ein neuer Katalog";
            Protect: "Protecting", "Schützen";
        }
        status[LiveStatus] {
            Running: "It is running, and goes on if you close this page.",
                "Er läuft; auch wenn diese Seite geschlossen wird.";
            Paused: "It is paused.", "Er ist angehalten.";
            Stopping: "It is stopping.", "Er wird beendet.";
            Ended: "It has ended.", "Er ist zu Ende.";
        }
        failed: "The run failed", "Der Lauf konnte nicht weitergehen";
        overlaps: "Another run goes on that this one would meet: in that folder, above or beneath, \
                or with the same catalogue, or while something is to be measured. This is it.",
            "Es läuft schon einer, der ihm in die Quere käme: in diesem Ordner, darüber oder \
                darunter, mit demselben Katalog, oder während gemessen werden soll. Das ist er.";
        pause: "Pause", "Anhalten";
        resume: "Go on", "Weiter";
        stop: "Stop", "Beenden";
        progress: "Progress", "Fortschritt";
        counting: "counting files", "es wird gezählt, wie viel da ist";
        read: "Read", "Gelesen";
        files: "Files", "Dateien";
        rate: "Rate", "Durchsatz";
        elapsed: "Time", "Zeit";
        bound: "Bound by", "Begrenzt durch";
        cost: "Where the time goes", "Wohin die Zeit geht";
        cost_help: "Time of the hashing threads by stage.",
            "Anteile an der Zeit der Threads, die Digests bilden, je Stufe.";
        cores: "Processors, the last minute", "Prozessoren in der letzten Minute";
        core(number: usize): format!("processor {number}"), format!("Prozessor {number}");
        cores_virtual: "a virtual machine: core types not known",
            "eine virtuelle Maschine: Kernarten nicht bekannt";
        cores_unknown: "core types not known", "Kernarten nicht bekannt";
        load_unknown: "The system does not report the load of processors.",
            "Das System sagt nicht, was die einzelnen Prozessoren tun.";
        one_type: "all of one type", "alle von einer Art";
        counts: "So far", "Bisher";
        done: "What was done", "Was getan wurde";
        nothing_found: "Nothing yet.", "Noch nichts.";
found_more(more: u64):
            format!("and {} more, in the results below once it has ended", count(more)),
            format!("und {} weitere, am Ende in den Ergebnissen", count(more));
        rows: "Latest files", "Die letzten Dateien";
        column_verdict: "Verdict", "Urteil";
        column_path: "Path", "Pfad";
        column_known: "Details", "Was bekannt ist";
        column_length: "Read", "Gelesen";
        column_seconds: "Time", "Zeit";
        column_rate: "Rate", "Durchsatz";
        results: "Files that are not intact", "Dateien, die nicht unversehrt sind";
        show: "Show", "Zeigen";
        all: "all", "alle";
        words: "Path or details contain", "Deren Pfad oder Einzelheiten enthalten";
        filter: "Filter", "Filtern";
        none_fits: "No findings match.", "Es gibt keine.";
        /// The number of findings that were dropped.
lost(lost: u64): {
                let more = counted(lost, "further finding was", "further findings were");
                format!("{more} not kept; none is worse than those that are.")
            }, {
                let more = counted(lost, "weiterer Befund wurde", "weitere Befunde wurden");
                format!("{more} nicht aufgehoben; keiner ist schlimmer als die gezeigten.")
            };
        next: "Next", "Weiter";
        previous: "Previous", "Zurück";
        /// From, to, of.
span(from: u64, to: u64, of: u64):
            format!("{} to {} of {}", count(from), count(to), count(of)),
            format!("{} bis {} von {}", count(from), count(to), count(of));
        report: "Save the report", "Bericht speichern";
        again: "Run again", "Dasselbe noch einmal";
        /// Progress and number of findings, for screen readers.
        say(done: &str, found: u64): match found {
                0 => format!("{done}; no problem so far"),
                found => format!("{done}; {} found", counted(found, "problem", "problems")),
            }, match found {
                0 => format!("{done}; bisher kein Problem"),
                found => format!("{done}; {} gefunden", counted(found, "Problem", "Probleme")),
            };
    }

    /// Why a request is refused: a title and a sentence.
    RefusalTexts {
        title[Refusal] {
            Method: "Not supported", "Nicht verstanden";
            Malformed: "Malformed request", "Nicht verstanden";
            LongAddress: "Too long", "Zu lang";
            Stranger: "Not from here", "Nicht von hier";
            NoSession: "Please sign in first", "Bitte erst anmelden";
            ForeignForm: "Outdated form", "Nicht dieses Formular";
            TooLarge: "Too large", "Zu groß";
            TooSlow: "Too slow", "Zu langsam";
            TooMuch: "Too many requests", "Zu viel auf einmal";
            NotFound: "Not found", "Nicht gefunden";
            Conflict: "Not possible now", "Nicht jetzt";
        }
        text[Refusal] {
            Method: "This server accepts GET and POST only.",
                "Dieser Dienst gibt nur Seiten und nimmt Formulare.";
            Malformed: "The request cannot be parsed.", "Die Anfrage ist nicht lesbar.";
            LongAddress: "The address is too long.", "Die Adresse ist länger als jede hier.";
            Stranger: "The request names another server, or comes from another server's page. Open \
                    the address that the command printed.",
                "Die Anfrage nennt einen anderen Dienst oder kommt von der Seite eines anderen. \
                    Öffnen Sie die Adresse, die der Befehl ausgegeben hat.";
            NoSession: "Open the address that `steadfast serve` printed. It lets one browser in, \
                    once. For another one, or to come back later, `steadfast open --no-open \
                    FOLDER` prints a new address on the machine of the server.",
                "Öffnen Sie die Adresse, die `steadfast serve` ausgegeben hat. Sie lässt einen \
                    Browser ein, einmal. Für einen weiteren, oder um später wiederzukommen, gibt \
                    `steadfast open --no-open ORDNER` auf dem Rechner des Dienstes eine neue aus.";
            ForeignForm: "The form belongs to another session. Reload its page and try again.",
                "Das Formular gehört nicht zu dieser Sitzung. Laden Sie seine Seite neu und \
                    wiederholen Sie es.";
            TooLarge: "The request is too large.",
                "Es wurde mehr gesendet, als hier angenommen wird.";
            TooSlow: "The request did not arrive in time.",
                "Was zu senden war, kam nicht rechtzeitig.";
            TooMuch: "Wait a moment and try again.",
                "Warten Sie einen Augenblick und versuchen Sie es erneut.";
            NotFound: "There is no such page, folder, file or run here.",
                "Hier gibt es keine solche Seite, Datei, keinen solchen Ordner oder Lauf.";
            Conflict: "This is not possible in the present state.",
                "Das geht im gegenwärtigen Zustand nicht.";
        }
    }
}
