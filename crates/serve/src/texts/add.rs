//! The texts of adding a folder.

use steadfast_report::units::counted;

use crate::config::Language;

texts! {
    /// Choosing a folder, what protecting it comes to, and what can come next.
    AddTexts {
        title: "Add a folder", "Ordner hinzufügen";
        intro: "A folder beneath those that this server was started with gets a card of its own, \
                and can be protected by itself.",
            "Ein Ordner unterhalb derer, mit denen dieser Dienst gestartet wurde, bekommt eine \
                eigene Karte und kann für sich geschützt werden.";
        choose: "Choose in", "Wählen in";
        protect(folder: &str): format!("Protect {folder}"), format!("{folder} schützen");
        reads: "What is read", "Was gelesen wird";
        at_least: "Counted so far:", "Bisher gezählt:";
        amount(files: u64, bytes: &str): format!("{}; {bytes} are read once, and what is in \
                each file is recorded. Files that are recorded already are not read.",
                counted(files, "file", "files")),
            format!("{}; {bytes} werden einmal gelesen, und der Inhalt jeder \
                Datei wird aufgezeichnet. Dateien, die es schon sind, werden nicht gelesen.",
                counted(files, "Datei", "Dateien"));
        time(fast: &str, slow: &str): format!("That takes about {fast} on a fast drive and {slow} \
                on a slow one."),
            format!("Das dauert etwa {fast} mit einem schnellen Laufwerk und {slow} mit einem \
                langsamen.");
        time_short: "That takes less than a second.", "Das dauert weniger als eine Sekunde.";
        meanwhile: "You can pause it, close the page, and go on working.",
            "Sie können anhalten, die Seite schließen und weiterarbeiten.";
        writes: "What is written", "Was geschrieben wird";
        written(catalogue: &str): format!("A tag of 60 bytes attached to each file, and one hidden \
                folder, .steadfast, of about {catalogue}. On drives without attributes the tags \
                are in that folder too."),
            format!("Eine Marke von 60 Bytes an jeder Datei und ein verborgener Ordner, \
                .steadfast, von etwa {catalogue}. Auf Laufwerken ohne Attribute stehen auch die \
                Marken in diesem Ordner.");
        kept: "Contents, names and dates of your files stay as they are. `steadfast untag` removes \
                the tags again.",
            "Inhalt, Namen und Daten Ihrer Dateien bleiben, wie sie sind. `steadfast untag` \
                entfernt die Marken wieder.";
        go: "Protect this folder", "Diesen Ordner schützen";
        only_show: "Only show it", "Nur zeigen";
        remove: "Show this folder no longer", "Diesen Ordner nicht mehr zeigen";
        removed: "Nothing is deleted. A protected folder is shown again when the server starts.",
            "Nichts wird gelöscht. Ist er geschützt, wird er beim nächsten Start wieder gezeigt.";
        then: "What next?", "Und nun?";
        then_monthly: "Check it every month", "Jeden Monat prüfen lassen";
        then_other: "Choose other times", "Andere Zeiten wählen";
        then_tell: "Be told of damage", "Bei Schäden benachrichtigt werden";
    }
}
