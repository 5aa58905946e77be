//! The texts of the pages for drops, measurements, records, code and history.

use steadfast_report::units::counted;

use crate::config::Language;
use crate::drops::DropAnswer;
use crate::live::LiveStatus;
use crate::measuring::{MeasureKind, MeasureProfile};

texts! {
    /// Dropped files.
    DropTexts {
        title: "Drop files", "Dateien ablegen";
        intro: "Looks files up by their contents: are they known here, and unchanged? The server \
                hashes the bytes and keeps none of them.",
            "Ist diese Datei hier bekannt, und unverändert? Ihre Bytes gehen nur bis zu diesem \
                Dienst, der sie hasht und keines behält.";
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
        earlier: "Dropped before", "Zuvor abgelegt";
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
        intro: "Measures the stages of a check on this machine. Run nothing else meanwhile.",
            "Was dieser Rechner kann, und was ihn aufhält: die Stufen einer Prüfung mit einer Uhr \
                daneben. Lassen Sie ihn währenddessen nichts anderes tun.";
        what: "What to measure", "Was gemessen wird";
        kind[MeasureKind] {
            Kernels: "Hashing in memory", "Hashen im Speicher";
            Hash: "Hashing files", "Hashen von Dateien";
            Read: "Reading", "Lesen";
            Write: "Writing", "Schreiben";
            Queue: "Reads in flight", "Gleichzeitiges Lesen";
            Cpu: "Loops in one core", "Schleifen in einem Kern";
            Cipher: "Ciphers", "Verschlüsselung";
        }
        kind_help[MeasureKind] {
            Kernels: "every algorithm and backend; writes no file",
                "jedes Verfahren und jeder Rechenweg; schreibt keine Datei";
            Hash: "reading, hashing, and both, over files made for it",
                "Lesen, Hashen und beides, an Dateien, die dafür angelegt werden";
            Read: "files made for it, past the page cache and with an empty one",
                "dafür angelegte Dateien, am Seitenspeicher vorbei und mit leerem";
            Write: "files of many lengths, flushed, read back and compared",
                "Dateien vieler Längen, gesichert, zurückgelesen und verglichen";
            Queue: "1 to 32 reads at a time, and how long each takes",
                "1 bis 32 Lesevorgänge zugleich, und wie lange jeder dauert";
            Cpu: "six kernels at every QoS level; writes no file",
                "sechs Rechenkerne auf jeder QoS-Stufe; schreibt keine Datei";
            Cipher: "with and without the instructions for them",
                "mit den Befehlen des Prozessors dafür und ohne sie";
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
        folder: "Folder for temporary files", "Ordner für die Dateien, die angelegt werden";
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
        records: "Measured by this server", "Von diesem Dienst gemessen";
        no_records: "None yet.", "Noch nichts.";
        column_begun: "Started", "Begonnen";
        column_stand: "Status", "Stand";
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
