//! The texts of the pages for drops, measurements, records, code and history.

use steadfast_report::units::{counted, percent};

use super::reports::wording;
use crate::config::Language;
use crate::drops::DropAnswer;
use crate::live::LiveStatus;
use crate::measuring::{AnswerBar, AnswerWhat, MeasureKind, MeasureProfile};

texts! {
    /// Dropped files.
    DropTexts {
        title: "Look up files", "Dateien suchen";
        intro: "Looks files up by their contents: are they known here, and unchanged? The server \
                hashes the bytes and keeps none of them.",
            "Sucht Dateien nach ihrem Inhalt: Sind sie hier bekannt, und unverändert? Ihre Bytes \
                gehen nur bis zu diesem Dienst, der sie hasht und keines behält.";
        zone: "Drop files or a folder here", "Dateien oder einen Ordner hier ablegen";
        files: "Choose files", "Dateien wählen";
        folder: "Choose a folder", "Ordner wählen";
        no_script: "Dropping needs the page's script. Without it, choose files in the tree of a \
                folder and check them.",
            "Ablegen braucht das Skript der Seite. Ohne es wählen Sie Dateien im Baum eines \
                Ordners und prüfen sie.";
        given: "Handed over by the desktop", "Vom Schreibtisch übergeben";
        /// The number of further paths.
        given_more(more: u64): format!("and {}", counted(more, "further path", "further paths")),
            format!("und {}", counted(more, "weiterer Pfad", "weitere Pfade"));
        check_given: "Look these up", "Diese ansehen";
        /// Says that there are more files than were looked up.
        cut: "These are the first 1,000 files. Further files were not looked up.",
            "Dies sind die ersten 1.000 Dateien. Es gibt mehr, die niemand angesehen hat: über sie \
                ist nichts gesagt.";
        /// Links to a run of all of this folder.
        whole(path: &str): format!("Check or tag all of {path}"),
            format!("{path} ganz prüfen oder markieren");
        /// The progress that the script shows; it replaces `{done}`, `{all}` and `{name}`.
        going: "{done} of {all}: {name}", "{done} von {all}: {name}";
        failed: "Cannot read or send:", "Dies ließ sich nicht lesen oder senden:";
        too_many: "More than 1,000 files: tag or check the folder instead.",
            "Mehr als 1.000 Dateien: markieren oder prüfen Sie stattdessen den Ordner.";
        hashing: "Hashing. This page reloads until it is done.",
            "Wird gehasht; diese Seite sagt, wenn es fertig ist.";
        results: "Results", "Was über sie bekannt ist";
        earlier: "Looked up before", "Zuvor gesucht";
        count(files: u64): counted(files, "file", "files"), counted(files, "Datei", "Dateien");
        more: "Drop more", "Weitere ablegen";
        answer[DropAnswer] {
            Known: "known here", "hier bekannt";
            Differs: "differs", "weicht ab";
            Unknown: "unknown here", "hier unbekannt";
            Unreadable: "unreadable", "nicht lesbar";
        }
        /// Follows the number of files with this answer.
        sum[DropAnswer] {
            Known: "known here, with the tagged contents",
                "hier bekannt, mit dem markierten Inhalt";
            Differs: "unlike the tagged file of that name",
                "anders als die markierte Datei dieses Namens";
            Unknown: "unknown here", "hier unbekannt";
            Unreadable: "that could not be read", "nicht lesbar";
        }
        column_file: "File", "Datei";
        column_answer: "Answer", "Antwort";
        column_known: "Details", "Was bekannt ist";
        column_length: "Length", "Länge";
        /// Path and moment.
        known_as(path: &str, moment: &str): format!("as {path}, tagged on {moment}"),
            format!("als {path}, markiert am {moment}");
        /// Path and moment of a file of the same name and other contents.
        other(path: &str, moment: &str): format!("{path}, tagged on {moment}, has other contents"),
            format!("{path}, markiert am {moment}, hat anderen Inhalt");
        /// The file's state at its latest check.
        stands(standing: &str): format!("last found {standing}"),
            format!("zuletzt vorgefunden: {standing}");
        /// The verdict by the file's own tag, and the tag's moment.
        own_tag(verdict: &str, moment: &str): format!("by its own tag of {moment}: {verdict}"),
            format!("nach der eigenen Markierung vom {moment}: {verdict}");
        further(more: u64): format!("and at {}", counted(more, "further place", "further places")),
            format!("und an {}", counted(more, "weiteren Ort", "weiteren Orten"));
        no_tag: "no tagged file here has these contents or this name",
            "keine markierte Datei hat hier diesen Inhalt oder diesen Namen";
        without_catalogue: "Not searched, since there is no catalogue",
            "Ohne Katalog, daher nicht gefragt";
        none: "None of the folders has a catalogue, so nothing can be found by its contents. Home \
                makes one.",
            "Keiner der Ordner hat einen Katalog, daher ist nach Inhalt nichts zu finden. Die \
                Übersicht legt einen an.";
        digests: "Digests", "Hashwerte";
    }

    /// Measuring.
    MeasureTexts {
        title: "Measure", "Messen";
        ask: "What do you want to know?", "Was möchten Sie wissen?";
        intro: "Let the computer do nothing else meanwhile. Files made for a measurement are \
                removed after it.",
            "Lassen Sie den Rechner währenddessen nichts anderes tun. Dateien, die für eine \
                Messung angelegt werden, werden danach entfernt.";
        what: "Question", "Frage";
        kind[MeasureKind] {
            Hash: "How fast can this computer check files?",
                "Wie schnell kann dieser Rechner Dateien prüfen?";
            Read: "How fast does the drive read?", "Wie schnell liest das Laufwerk?";
            Write: "How fast does the drive write?", "Wie schnell schreibt das Laufwerk?";
            Cipher: "What does encryption cost?", "Was kostet Verschlüsselung?";
            Kernels: "How fast does the processor hash?", "Wie schnell hasht der Prozessor?";
            Queue: "Is the drive faster with several requests at a time?",
                "Ist das Laufwerk mit mehreren Anfragen zugleich schneller?";
            Cpu: "How much slower are the lower levels?",
                "Wie viel langsamer sind die niedrigen Stufen?";
        }
        /// What the figure is.
        answer(what: &AnswerWhat): match what {
                AnswerWhat::Checking(Some(share)) => format!("read and hashed, as a check does. \
                    That is {} of the rate of reading alone.", percent(*share)),
                AnswerWhat::Checking(None) => "read and hashed, as a check does.".to_owned(),
                AnswerWhat::Hashing => "of SHA-256, in memory, in one core.".to_owned(),
                AnswerWhat::Reading => "read from the drive.".to_owned(),
                AnswerWhat::Writing => "written to the drive.".to_owned(),
                AnswerWhat::Depth(depth) =>
                    format!("as fast with {depth} requests at a time as with the fewest."),
                AnswerWhat::LowLevel => "of the rate at the highest level, in the median over the \
                    loops.".to_owned(),
                AnswerWhat::CipherShare => "of the time in which a file is encrypted goes to the \
                    cipher, the rest to reading and writing.".to_owned(),
            }, match what {
                AnswerWhat::Checking(Some(share)) => format!("gelesen und gehasht, wie eine \
                    Prüfung es tut. Das sind {} der Rate, mit der nur gelesen \
                    wird.", percent(*share)),
                AnswerWhat::Checking(None) =>
                    "gelesen und gehasht, wie eine Prüfung es tut.".to_owned(),
                AnswerWhat::Hashing => "mit SHA-256, im Speicher, in einem Kern.".to_owned(),
                AnswerWhat::Reading => "vom Laufwerk gelesen.".to_owned(),
                AnswerWhat::Writing => "auf das Laufwerk geschrieben.".to_owned(),
                AnswerWhat::Depth(depth) =>
                    format!("so schnell mit {depth} Anfragen zugleich wie mit den wenigsten."),
                AnswerWhat::LowLevel => "der Rate auf der höchsten Stufe, im Median über die \
                    Schleifen.".to_owned(),
                AnswerWhat::CipherShare => "der Zeit, in der eine Datei verschlüsselt wird, \
                    braucht das Verfahren, den Rest das Lesen und Schreiben.".to_owned(),
            };
        /// The time of a terabyte at the rate of the figure.
        terabyte(time: &str): format!("At that rate, 1 TB takes {time}."),
            format!("Bei dieser Rate dauert 1 TB {time}.");
        interval(low: &str, high: &str): format!("The interval goes from {low} to {high}."),
            format!("Das Intervall reicht von {low} bis {high}.");
        no_interval: "There were too few rounds for an interval.",
            "Für ein Intervall waren es zu wenige Runden.";
        bar(bar: &AnswerBar): match bar {
                AnswerBar::Read => "Reading alone, from the drive".to_owned(),
                AnswerBar::Check => "Reading and hashing, from the drive".to_owned(),
                AnswerBar::CheckFolder =>
                    "Reading and hashing, many files in memory".to_owned(),
                AnswerBar::CheckFile => "Reading and hashing, one file in memory".to_owned(),
                AnswerBar::Depth(depth) =>
                    counted(u64::from(*depth), "request at a time", "requests at a time"),
                AnswerBar::Level(level) => format!("Level {level}"),
                AnswerBar::Named(name) => name.clone(),
            }, match bar {
                AnswerBar::Read => "Nur lesen, vom Laufwerk".to_owned(),
                AnswerBar::Check => "Lesen und hashen, vom Laufwerk".to_owned(),
                AnswerBar::CheckFolder => "Lesen und hashen, viele Dateien im Speicher".to_owned(),
                AnswerBar::CheckFile => "Lesen und hashen, eine Datei im Speicher".to_owned(),
                AnswerBar::Depth(depth) =>
                    counted(u64::from(*depth), "Anfrage zugleich", "Anfragen zugleich"),
                AnswerBar::Level(level) => format!("Stufe {level}"),
                AnswerBar::Named(name) => wording(Language::German).say(name),
            };
        measured: "measured", "gemessen";
        details: "Technical details", "Technische Einzelheiten";
        details_hint: "every series, method, computer", "jede Reihe, Verfahren, Rechner";
        on: "On", "Auf";
        kind_help[MeasureKind] {
            Kernels: "Every algorithm and backend, in memory. Writes no file.",
                "Jedes Verfahren und jeder Rechenweg, im Speicher. Schreibt keine Datei.";
            Hash: "Reading, hashing, and both, over files made for it.",
                "Lesen, Hashen und beides, an Dateien, die dafür angelegt werden.";
            Read: "Files made for it, past the page cache and with an empty one.",
                "Dafür angelegte Dateien, am Zwischenspeicher vorbei und mit leerem.";
            Write: "Files of many lengths, flushed, read back and compared.",
                "Dateien vieler Längen, gesichert, zurückgelesen und verglichen.";
            Queue: "1 to 32 reads at a time, and how long each takes.",
                "1 bis 32 Lesevorgänge zugleich, und wie lange jeder dauert.";
            Cpu: "Six loops at every QoS level. Writes no file.",
                "Sechs Schleifen auf jeder QoS-Stufe. Schreibt keine Datei.";
            Cipher: "With and without the instructions for them.",
                "Mit den Befehlen des Prozessors dafür und ohne sie.";
        }
        profile_label: "How thoroughly", "Wie gründlich";
        profile[MeasureProfile] {
            Quick: "quick: a first look, in about a minute",
                "kurz: ein erster Blick, etwa eine Minute";
            Small: "small files (reading and writing; 3.3 GB)",
                "kleine Dateien (Lesen und Schreiben; 3,3 GB)";
            Standard: "standard: what machines are compared by",
                "Standard: womit Rechner verglichen werden";
        }
        profile_help: "The standard profile writes 53.3 GB for reading and writing.",
            "Der Standard schreibt 53,3 GB, wenn Lesen oder Schreiben gemessen wird.";
        folder_help: "The files are created in a new folder, which is removed afterwards.",
            "Sie liegen in einem eigenen Ordner, der danach entfernt wird.";
        begin: "Measure", "Messen";
        busy: "Another measurement is running. This is it.",
            "Es wird bereits etwas gemessen. Dies ist es.";
        status[LiveStatus] {
            Running: "It is running, and goes on if you close this page.",
                "Es wird gemessen, auch wenn diese Seite geschlossen wird.";
            Paused: "It is paused.", "Es ist angehalten.";
            Stopping: "It is stopping. The samples so far are kept.",
                "Es hält an; die Messwerte bis jetzt bleiben.";
            Ended: "It has ended.", "Es ist beendet.";
        }
        stop: "Stop and keep the samples", "Anhalten und Messwerte behalten";
        progress: "Progress", "Fortschritt";
        preparing: "Preparing", "Vorbereitung";
        now: "Now", "Jetzt";
        left: "Left", "Noch";
        elapsed: "Time", "Zeit";
        samples: "Samples", "Messwerte";
        series: "Latest samples", "Messwerte, wie sie kommen";
        column_series: "Series", "Reihe";
        column_course: "Rates so far, from zero", "Raten bisher, ab null";
        column_latest: "Latest", "Zuletzt";
        column_samples: "Samples", "Messwerte";
        no_samples: "None yet.", "Noch keine.";
        ended_early: "It ended early; what follows is made of the samples until then.",
            "Es endete vorzeitig; das Folgende beruht auf den Messwerten bis dahin.";
        failed: "A part could not be measured", "Etwas ließ sich nicht messen";
        nothing: "Nothing was measured.", "Es wurde nichts gemessen.";
        not_kept(why: &str): format!("The record is not kept in the folder of records: {why}."),
            format!("Das Protokoll liegt nicht im Ordner der Protokolle: {why}.");
        kept(name: &str): format!("The record is kept as {name}."),
            format!("Das Protokoll liegt als {name} vor.");
        save_record: "Save the record", "Protokoll sichern";
        save_report: "Save the report", "Bericht sichern";
        compare: "Compare it", "Vergleichen";
        records: "Measured before", "Zuvor gemessen";
        no_records: "None yet.", "Noch nichts.";
    }

    /// Comparison of records.
    CompareTexts {
        title: "Compare records", "Protokolle vergleichen";
        intro: "Records of any machine, side by side, with what others have published.",
            "Protokolle beliebiger Rechner nebeneinander, auch mit dem, was andere veröffentlicht \
                haben.";
        records: "Records", "Protokolle";
        show: "Show them", "Zeigen";
        against: "compared with", "gegenüber";
        against_none: "nothing", "nichts";
        column_record: "Record", "Protokoll";
        column_machine: "Machine", "Rechner";
        column_begun: "Started", "Begonnen";
        column_from: "From", "Woher";
        measured_here: "measured here", "hier gemessen";
        in_folder: "folder of records", "Ordner der Protokolle";
        uploaded: "added", "hinzugefügt";
        published: "published", "veröffentlicht";
        unreadable: "not a record", "ist kein Protokoll";
        no_records: "There are no records.", "Es gibt keine.";
        none_chosen: "Choose one or more records, and optionally one to compare them with.",
            "Wählen Sie eines oder mehrere, und auf Wunsch eines, dem sie gegenüberstehen.";
        upload: "Add a record", "Ein Protokoll hinzufügen";
        upload_help: "A .json file as `measure --export` writes it, up to 8 MB. It is kept in \
                memory until the server ends.",
            "Eine .json-Datei, wie `measure --export` sie schreibt, bis 8 MB. Sie bleibt im \
                Speicher, bis der Dienst endet.";
        upload_script: "Adding a record needs the page's script. Without it, start the server with \
                a folder of records.",
            "Hinzufügen braucht das Skript der Seite; ohne es nennen Sie beim Start des Dienstes \
                einen Ordner mit Protokollen.";
        refused: "The record was refused", "Es wurde nicht angenommen";
        save: "Save the report", "Bericht sichern";
        more: "Choose others", "Andere wählen";
        gone: "A chosen record does not exist any more, or cannot be read.",
            "Ein gewähltes Protokoll ist nicht mehr da oder nicht lesbar.";
    }

    /// Code signatures.
    CodeTexts {
        title: "Code signature", "Siegel von Code";
        intro: "Verifies an application, program or disk image signed with Apple's tools: whether \
                its bytes are the signed ones, who signed it, and whether the signature is valid. \
                Does not tell whether a Mac would run it.",
            "Ein Programm, Programmpaket oder Abbild, wie Apples Werkzeuge es signieren: sind die \
                Bytes die versiegelten, wer hat signiert, ist die Signatur annehmbar. Ob ein Mac \
                es laufen ließe, steht hier nicht.";
        choose: "Choose an application or a binary in", "Ein Programm wählen in";
        no_code: "This cannot be read as signed code",
            "Dies ist nicht als signierter Code zu lesen";
        map: "Byte by byte", "Byte für Byte";
        /// The length of a cell.
        map_help(cell: &str):
            format!("The file from its first to its last byte. Each cell is {cell}."),
            format!("Vom ersten Byte bis zum letzten; jedes Feld ist {cell} der Datei.");
        no_map: "There is no map. Maps exist for Mach-O code only.",
            "Es gibt keine Karte: nur bei Mach-O ist bekannt, was jedes Byte bedeckt.";
        legend: "Legend", "Was die Farben bedeuten";
    }

    /// History.
    HistoryTexts {
        title: "History", "Verlauf";
        intro: "Every run in the catalogue, and the history of each file.",
            "Jeder Lauf, an den der Katalog sich erinnert, und was aus jeder Datei wurde.";
        choose: "Choose a file or a folder in", "Datei oder Ordner wählen in";
        none: "has no catalogue, and so no history. Create a catalogue on the start page.",
            "hat keinen Katalog, der allein sich erinnert. Die Übersicht legt einen an.";
        unknown: "The catalogue does not contain this path.",
            "Der Katalog weiß nichts von diesem Namen.";
    }
}
