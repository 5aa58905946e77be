//! The texts of a run's page: while it goes on, and its result.

use steadfast_report::units::{count, counted};

use crate::config::Language;

texts! {
    /// The frame of a run, and the sentence of its result.
    ResultTexts {
        going_text: "Every file is read and compared with what was recorded. You can close this \
                page: the run goes on.",
            "Jede Datei wird gelesen und mit dem Aufgezeichneten verglichen. Sie können diese \
                Seite schließen: Der Lauf geht weiter.";
        details: "Technical details", "Technische Einzelheiten";
        details_hint: "time, processors, latest files", "Zeit, Prozessoren, letzte Dateien";
        found: "Found so far", "Bisher gefunden";
        pace_text: "Takes effect at once, slower or faster. Finding and counting files keep their \
                first pace. The report says if the system refused a pace.",
            "Gilt sofort, langsamer oder schneller. Das Suchen und Zählen der Dateien behält sein \
                erstes Tempo. Der Bericht sagt, wenn das System ein Tempo verweigert.";
        set_pace: "Set this pace", "Dieses Tempo setzen";
        document: "report, counts, command", "Bericht, Zahlen, Befehl";
        about_left(time: &str): format!("About {time} left"), format!("Noch etwa {time}");
        no_estimate: "The time left is not known yet", "Die Restzeit ist noch nicht bekannt";
        damaged(bad: u64, whole: u64): format!("{} damaged, of {}",
                counted(bad, "file is", "files are"), count(whole)),
            format!("{} beschädigt, von {}", counted(bad, "Datei ist", "Dateien sind"),
                count(whole));
        unreadable(bad: u64): format!("{} could not be read", counted(bad, "file", "files")),
            format!("{} nicht lesbar", counted(bad, "Datei war", "Dateien waren"));
        stopped: "Stopped before its end", "Vor dem Ende abgebrochen";
        changed(files: u64): format!("{} changed or missing",
                counted(files, "file is", "files are")),
            format!("{} geändert oder fehlen", counted(files, "Datei ist", "Dateien sind"));
        nothing: "Nothing could be compared", "Nichts konnte verglichen werden";
        nothing_text: "None of these files is protected yet.",
            "Keine dieser Dateien ist bisher geschützt.";
        protected(files: u64): format!("{} protected now", counted(files, "file is", "files are")),
            format!("{} jetzt geschützt", counted(files, "Datei ist", "Dateien sind"));
        protected_text: "Their contents are recorded. A check says later whether they are still \
                the same.",
            "Ihr Inhalt ist aufgezeichnet. Eine Prüfung sagt später, ob er noch derselbe ist.";
        new(files: u64): format!("No damage was found; {} not protected yet",
                counted(files, "file is", "files are")),
            format!("Kein Schaden gefunden; {} noch nicht geschützt",
                counted(files, "Datei ist", "Dateien sind"));
        look: "Something needs a look", "Etwas ist anzusehen";
        recorded: "The catalogue is made", "Der Katalog ist angelegt";
        intact(files: u64): match files {
                1 => "The file is exactly as recorded".to_owned(),
                files => format!("All {} files are exactly as recorded", count(files)),
            }, match files {
                1 => "Die Datei ist genau wie aufgezeichnet".to_owned(),
                files => format!("Alle {} Dateien sind genau wie aufgezeichnet", count(files)),
            };
        tile_damaged: "Damaged", "Beschädigt";
        tile_changed: "Changed", "Geändert";
        tile_missing: "Missing", "Fehlen";
        tile_moved: "Moved", "Verschoben";
        tile_new: "New", "Neu";
        tile_unreadable: "Not readable", "Nicht lesbar";
        tile_intact: "Intact", "Intakt";
        to_folder: "To the folder", "Zum Ordner";
    }
}
