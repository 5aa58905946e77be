//! The German of what reports say in English: of runs, of findings, and of the history.
//!
//! In: an English text, as a report makes it of figures and names. Out: the German text with the
//! same figures and names. The documents of measurements, of signed code and of comparisons are
//! not here.

use steadfast_report::document::Wording;

use super::words::word_of;
use crate::config::Language;

/// Returns the words for reports of a language.
pub(crate) fn wording(language: Language) -> Wording {
    match language {
        Language::English => Wording::ENGLISH,
        Language::German => Wording { tag: language.tag(), words: german },
    }
}

/// Each text in English and in German. `{n}` stands for a number, `{t}` for a text that is here
/// itself, and `{}` for anything, which stays as it is. What stands for them comes in the same
/// order in German. The first text that fits is taken.
const TEXTS: &[(&str, &str)] = &[
    // The page around documents.
    ("Skip to the content", "Zum Inhalt springen"),
    ("Contents of {}", "Inhalt: {}"),
    ("Notes", "Hinweise"),
    ("Table", "Tabelle"),
    (
        "Of {n} dots {n} are drawn, evenly chosen.",
        "Von {} Punkten sind {} gezeichnet, gleichmäßig gewählt.",
    ),
    (
        "Exact values are left out, to keep this page small; the report as .json has them.",
        "Genaue Werte fehlen, damit diese Seite klein bleibt; der Bericht als .json enthält sie.",
    ),
    // Numbers of things.
    ("1 file", "1 Datei"),
    ("{n} files", "{} Dateien"),
    ("{n} share", "{} (Anteil)"),
    ("{n} count", "{} (Anzahl)"),
    ("worker {n}", "Thread {}"),
    ("1 byte", "1 Byte"),
    ("{n} bytes", "{} Bytes"),
    ("1 day", "1 Tag"),
    ("{n} days", "{} Tage"),
    ("within 1 day", "in 1 Tag"),
    ("within {n} days", "in {} Tagen"),
    ("1 run", "1 Lauf"),
    ("{n} runs", "{} Läufe"),
    ("1 page", "1 Seite"),
    ("{n} pages", "{} Seiten"),
    ("1 thread", "1 Thread"),
    ("{n} threads", "{} Threads"),
    ("1 symbolic link", "1 symbolischer Verweis"),
    ("{n} symbolic links", "{} symbolische Verweise"),
    ("1 special file", "1 Spezialdatei"),
    ("{n} special files", "{} Spezialdateien"),
    ("1 excluded path", "1 ausgeschlossener Pfad"),
    ("{n} excluded paths", "{} ausgeschlossene Pfade"),
    ("1 AppleDouble file", "1 AppleDouble-Datei"),
    ("{n} AppleDouble files", "{} AppleDouble-Dateien"),
    ("1 file of leaves", "1 Datei mit Blättern"),
    ("{n} files of leaves", "{} Dateien mit Blättern"),
    ("1 file not on this machine", "1 Datei, die nicht auf diesem Rechner ist"),
    ("{n} files not on this machine", "{} Dateien, die nicht auf diesem Rechner sind"),
    ("1 directory not on this machine", "1 Ordner, der nicht auf diesem Rechner ist"),
    ("{n} directories not on this machine", "{} Ordner, die nicht auf diesem Rechner sind"),
    ("1 directory of the system", "1 Ordner des Systems"),
    ("{n} directories of the system", "{} Ordner des Systems"),
    ("1 resource fork", "1 Resource Fork"),
    ("{n} resource forks", "{} Resource Forks"),
    ("1 directory on another file system", "1 Ordner auf einem anderen Dateisystem"),
    ("{n} directories on other file systems", "{} Ordner auf anderen Dateisystemen"),
    // A run: its head.
    ("Check of {t}, {}", "Prüfung: {}, {}"),
    ("Tag of {t}, {}", "Markieren: {}, {}"),
    ("Update of {t}, {}", "Aktualisierung: {}, {}"),
    ("Init of {t}, {}", "Neuer Katalog: {}, {}"),
    ("when", "Zeit"),
    ("command", "Befehl"),
    ("made by", "erstellt von"),
    ("hashed", "gehasht"),
    ("exit status", "Exit-Status"),
    ("skipped", "übergangen"),
    ("{}, {}, through the page cache, by {}", "{}, {}, durch den Zwischenspeicher, mit {}"),
    ("{}, {}, all past the page cache, by {}", "{}, {}, ganz am Zwischenspeicher vorbei, mit {}"),
    (
        "{}, {}, {} of them past the page cache, by {}",
        "{}, {}, davon {} am Zwischenspeicher vorbei, mit {}",
    ),
    ("by {}, 1 thread", "mit {}, 1 Thread"),
    ("by {}, {n} threads", "mit {}, {} Threads"),
    // A run: its answer.
    ("Verdicts", "Urteile"),
    ("Verdict", "Urteil"),
    ("Files", "Dateien"),
    ("files", "Dateien"),
    ("Path", "Pfad"),
    ("What is known", "Was bekannt ist"),
    ("Files by verdict", "Dateien je Urteil"),
    (
        "One bar for each verdict, as long as the number of files that got it.",
        "Ein Balken je Urteil, so lang wie die Zahl der Dateien, die es bekamen.",
    ),
    (
        "1 file is corrupt: other contents, although the modification time stands.",
        "1 Datei ist beschädigt: anderer Inhalt bei unveränderter Änderungszeit.",
    ),
    (
        "{n} files are corrupt: other contents, although the modification time stands.",
        "{} Dateien sind beschädigt: anderer Inhalt bei unveränderter Änderungszeit.",
    ),
    ("No file was judged.", "Keine Datei wurde beurteilt."),
    (
        "Something is modified or missing; nothing is known to be corrupt.",
        "Etwas ist geändert oder fehlt; von nichts ist bekannt, dass es beschädigt wäre.",
    ),
    ("Some files could not be judged.", "Einige Dateien konnten nicht beurteilt werden."),
    ("Nothing is wrong: 1 file is intact.", "Alles ist in Ordnung: 1 Datei ist intakt."),
    ("Nothing is wrong: {n} files are intact.", "Alles ist in Ordnung: {} Dateien sind intakt."),
    (
        "No fault was found. {t}. 1 file was not judged.",
        "Kein Fehler wurde gefunden. {}. 1 Datei wurde nicht beurteilt.",
    ),
    (
        "No fault was found. {t}. {n} files were not judged.",
        "Kein Fehler wurde gefunden. {}. {} Dateien wurden nicht beurteilt.",
    ),
    ("No fault was found. {t}.", "Kein Fehler wurde gefunden. {}."),
    ("1 file is intact", "1 Datei ist intakt"),
    ("{n} files are intact", "{} Dateien sind intakt"),
    ("Files that are not intact", "Dateien, die nicht intakt sind"),
    ("There are none.", "Es gibt keine."),
    (
        "1 further file is not shown here; none is worse than those that are. `--json` lists \
         every file.",
        "1 weitere Datei ist hier nicht gezeigt; keine ist schlimmer als die gezeigten. \
         `--json` nennt jede Datei.",
    ),
    (
        "{n} further files are not shown here; none is worse than those that are. `--json` \
         lists every file.",
        "{} weitere Dateien sind hier nicht gezeigt; keine ist schlimmer als die gezeigten. \
         `--json` nennt jede Datei.",
    ),
    (
        "{n} of 1 damaged file may be repaired from parity or files of the same contents: \
         steadfast repair PATH.",
        "{} von 1 beschädigten Datei lässt sich vielleicht aus Parität oder Dateien gleichen \
         Inhalts reparieren: steadfast repair PATH.",
    ),
    (
        "{n} of {n} damaged files may be repaired from parity or files of the same contents: \
         steadfast repair PATH.",
        "{} von {} beschädigten Dateien lassen sich vielleicht aus Parität oder Dateien \
         gleichen Inhalts reparieren: steadfast repair PATH.",
    ),
    (
        "Repair the rest with a backup: steadfast repair --from BACKUP PATH.",
        "Reparieren Sie die übrigen aus einer Sicherung: steadfast repair --from BACKUP PATH.",
    ),
    (
        "Repair with a backup: steadfast repair --from BACKUP PATH.",
        "Reparieren Sie aus einer Sicherung: steadfast repair --from BACKUP PATH.",
    ),
    (
        "the run was interrupted: the files that it did not reach are missing here",
        "Der Lauf wurde abgebrochen: Die Dateien, die er nicht erreichte, fehlen hier.",
    ),
    (
        "the time was up: 1 file is not checked and still due",
        "Die Zeit war um: 1 Datei ist nicht geprüft und weiterhin fällig.",
    ),
    (
        "the time was up: {n} files are not checked and still due",
        "Die Zeit war um: {} Dateien sind nicht geprüft und weiterhin fällig.",
    ),
    // A run: what the catalogue proves.
    ("What can be proved of the tree", "Was sich von dem Ordner beweisen lässt"),
    ("Share of the tagged files that is proved", "Anteil der markierten Dateien, der bewiesen ist"),
    (
        "One bar for each number of days: how large a share of the tagged files was proved \
         within them. The rest was proved longer ago or never.",
        "Ein Balken je Zahl von Tagen: welcher Anteil der markierten Dateien in ihnen bewiesen \
         wurde. Der Rest wurde früher oder nie bewiesen.",
    ),
    ("share of tagged files", "Anteil der markierten Dateien"),
    ("proved", "bewiesen"),
    ("Proved within", "Bewiesen in"),
    ("Share", "Anteil"),
    ("Bytes", "Bytes"),
    ("never", "nie"),
    ("What is proved, and how long ago", "Was bewiesen ist, und seit wann"),
    ("The catalogue knows {t}, {n} with a tag.", "Der Katalog kennt {}, {} mit Marke."),
    (
        "A proof is about the time at which it was made. At their last check, these files were \
         not fine: {t}.",
        "Ein Beweis gilt für die Zeit, zu der er geführt wurde. Bei der letzten Prüfung waren \
         diese Dateien nicht in Ordnung: {}.",
    ),
    // A run: its time.
    ("Where the time went", "Wohin die Zeit ging"),
    ("Stage", "Stufe"),
    ("Time of all threads", "Zeit aller Threads"),
    ("Waited for storage or others", "Wartete auf Laufwerk oder andere"),
    ("Time of all threads together, by stage", "Zeit aller Threads zusammen, je Stufe"),
    ("Bound by {t}: {} of {t}.", "Begrenzt durch {}: {} {}."),
    ("The next limit would be {t}, at {}.", "Die nächste Grenze wäre {}, bei {}."),
    ("{t} of the longest file", "{} der längsten Datei"),
    ("{t} with few readers", "{} mit wenigen Lesern"),
    ("the storage", "das Laufwerk"),
    ("the rate limit that was asked for", "die gesetzte Grenze"),
    ("listing directories", "das Auflisten der Ordner"),
    ("opening files", "das Öffnen der Dateien"),
    ("copying bytes", "das Kopieren der Bytes"),
    ("hashing", "das Hashen"),
    ("writing tags", "das Schreiben der Marken"),
    ("printing", "die Ausgabe"),
    ("waiting", "das Warten"),
    ("processor time", "der Prozessorzeit"),
    ("worker time", "der Zeit der Threads"),
    ("the run", "des Laufs"),
    ("What each thread did", "Was jeder Thread tat"),
    (
        "One row for each thread. Each piece of {} shows the stage that took most of it; where \
         a row is empty, the thread waited for most of the time.",
        "Eine Zeile je Thread. Jedes Stück von {} zeigt die Stufe, die den größten Teil davon \
         nahm; wo eine Zeile leer ist, wartete der Thread die meiste Zeit.",
    ),
    ("time since the run began", "Zeit seit Beginn des Laufs"),
    // A run: its notices.
    (
        "no file was found: is this the right place, and is it mounted?",
        "Keine Datei wurde gefunden: Ist es der richtige Ort, und ist er eingehängt?",
    ),
    (
        "no file here has a tag, so nothing was judged. If they had tags, a copy or another \
         tool dropped them; otherwise make them with `steadfast tag`",
        "Keine Datei hier hat eine Marke, also wurde nichts beurteilt. Hatten sie Marken, so \
         ließ eine Kopie oder ein anderes Programm sie weg; sonst legt `steadfast tag` sie an.",
    ),
    (
        "no file's contents are on this machine, so nothing was read: --download fetches them",
        "Von keiner Datei ist der Inhalt auf diesem Rechner, also wurde nichts gelesen: \
         --download holt ihn.",
    ),
    (
        "{n} of {n} bytes cannot be said to come from the medium: the file system reads them \
         through the page cache, or does not tell",
        "Von {} von {} Bytes steht nicht fest, dass sie vom Datenträger kommen: Das Dateisystem \
         liest sie durch den Zwischenspeicher oder sagt es nicht.",
    ),
    (
        "{}: no space is left on the volume of the catalogue: this run reads it and leaves no \
         record in it",
        "{}: Auf dem Datenträger des Katalogs ist kein Platz mehr: Dieser Lauf liest ihn und \
         hinterlässt keinen Eintrag.",
    ),
    (
        "{}: the catalogue cannot be written here: this run leaves no record in it",
        "{}: Der Katalog ist hier nicht beschreibbar: Dieser Lauf hinterlässt keinen Eintrag.",
    ),
    (
        "{}: this file system keeps no extended attributes: `steadfast init DIR` keeps tags in \
         a catalogue instead",
        "{}: Dieses Dateisystem hat keine erweiterten Attribute: `steadfast init DIR` legt \
         Marken in einem Katalog ab.",
    ),
    // What is known of a file.
    (
        "every page is as it was when the tag was made: read it again",
        "Jede Seite ist wie beim Markieren: Lesen Sie die Datei noch einmal",
    ),
    (
        "{n} of {n} pages damaged: bytes {} and {n} more ranges: `steadfast pages locate`; {n} \
         unreadable",
        "{} von {} Seiten beschädigt: Bytes {} und {} weitere Bereiche: \
         `steadfast pages locate`; {} nicht lesbar",
    ),
    (
        "{n} of {n} pages damaged: bytes {} and {n} more ranges: `steadfast pages locate`",
        "{} von {} Seiten beschädigt: Bytes {} und {} weitere Bereiche: `steadfast pages locate`",
    ),
    (
        "{n} of {n} pages damaged: bytes {}; {n} unreadable",
        "{} von {} Seiten beschädigt: Bytes {}; {} nicht lesbar",
    ),
    ("{n} of {n} pages damaged: bytes {}", "{} von {} Seiten beschädigt: Bytes {}"),
    ("now {}", "jetzt {}"),
    ("by run {n}", "von Lauf {}"),
    ("by {}", "laut {}"),
    ("holds exactly what its tag of {} recorded", "enthält genau, was die Marke vom {} festhielt"),
    (
        "was {t}, is {t}; yet last modified {} as recorded",
        "war {}, ist {}; aber zuletzt geändert {} wie aufgezeichnet",
    ),
    ("was {t}, is {t}", "war {}, ist {}"),
    (
        "{t} with other contents; yet last modified {} as recorded",
        "{} mit anderem Inhalt; aber zuletzt geändert {} wie aufgezeichnet",
    ),
    ("edited {}, was {}; same length", "bearbeitet {}, war {}; gleiche Länge"),
    ("edited {}, was {}; {t}", "bearbeitet {}, war {}; {}"),
    ("same contents; modification time {}, was {}", "gleicher Inhalt; Änderungszeit {}, war {}"),
    (
        "its attribute is gone; the catalogue has the tag: `steadfast update --restore-tags` \
         puts it back",
        "Das Attribut fehlt; der Katalog hat die Marke: `steadfast update --restore-tags` \
         stellt sie wieder her",
    ),
    (
        "its attribute is damaged; the catalogue has the tag: `steadfast update --restore-tags` \
         puts it back",
        "Das Attribut ist beschädigt; der Katalog hat die Marke: `steadfast update \
         --restore-tags` stellt sie wieder her",
    ),
    (
        "its attribute is a tag of other contents than the catalogue's: if these are right, \
         `steadfast update --accept-missing` accepts them",
        "Das Attribut ist eine Marke von anderem Inhalt als die des Katalogs: Ist er richtig, \
         übernimmt ihn `steadfast update --accept-missing`",
    ),
    (
        "its attribute is a tag of other contents than the catalogue's; accepted",
        "Das Attribut ist eine Marke von anderem Inhalt als die des Katalogs; übernommen",
    ),
    ("taken out of the catalogue", "aus dem Katalog genommen"),
    (
        "nothing is there, where {t} used to be: is something not mounted?",
        "Nichts ist da, wo {} waren: Ist etwas nicht eingehängt?",
    ),
    ("in no manifest of the bag", "in keiner Liste des Pakets"),
    (
        "an earlier run found it {t}; unchanged since",
        "Ein früherer Lauf fand sie so vor: {}; seither unverändert",
    ),
    ("length", "Länge"),
    ("modification time", "Änderungszeit"),
    ("change time", "Zeit der Statusänderung"),
    ("inode", "Inode"),
    // The history of a folder or a file.
    ("Runs over all of {} in {}", "Läufe über ganz {} in {}"),
    ("Runs over {}", "Läufe über {}"),
    ("Runs", "Läufe"),
    ("History of {}", "Geschichte von {}"),
    ("Run by run", "Lauf für Lauf"),
    ("Runs that judged it", "Läufe, die sie beurteilten"),
    ("There are no runs.", "Es gibt keine Läufe."),
    ("{t}, the latest first.", "{}, der letzte zuerst."),
    ("No run has judged it yet.", "Noch kein Lauf hat sie beurteilt."),
    ("1 run processed it.", "1 Lauf hat sie bearbeitet."),
    ("{n} runs processed it.", "{} Läufe haben sie bearbeitet."),
    (
        "Counts are of whole runs. Runs over a part of it are not listed.",
        "Die Zahlen gelten ganzen Läufen. Läufe über einen Teil davon stehen nicht hier.",
    ),
    (
        "1 run of these judged a part of it, or nothing.",
        "1 dieser Läufe beurteilte einen Teil davon oder nichts.",
    ),
    (
        "{n} runs of these judged a part of it, or nothing.",
        "{} dieser Läufe beurteilten einen Teil davon oder nichts.",
    ),
    ("run", "Lauf"),
    ("began", "begann"),
    ("verb", "Befehl"),
    ("version", "Version"),
    ("from", "aus"),
    ("verdict", "Urteil"),
    ("what happened", "was geschah"),
    ("bytes", "Bytes"),
    ("found", "fand"),
    ("cache", "Zwischenspeicher"),
    ("medium", "Datenträger"),
    ("in", "in"),
    ("now", "jetzt"),
    ("known no more", "nicht mehr bekannt"),
    ("last proved", "zuletzt bewiesen"),
    ("last judged", "zuletzt beurteilt"),
    ("first seen", "zuerst gesehen"),
    ("none", "keine"),
    ("{}, {t}, by run {n}", "{}, {}, von Lauf {}"),
    ("today", "heute"),
    ("in the future", "in der Zukunft"),
    ("1 day ago", "vor 1 Tag"),
    ("{n} days ago", "vor {} Tagen"),
    ("interrupted", "abgebrochen"),
    ("unfinished", "nicht beendet"),
    ("run interrupted", "Lauf abgebrochen"),
    ("run unfinished", "Lauf nicht beendet"),
    ("repaired", "repariert"),
    ("adopted", "übernommen"),
    ("accepted", "angenommen"),
    ("dropped", "fallengelassen"),
    ("fine", "in Ordnung"),
    ("repaired: {t}", "repariert: {}"),
    ("whole from {}", "ganz aus {}"),
    ("{n} pages from {}", "{} Seiten aus {}"),
    ("moved to {}", "verschoben nach {}"),
    ("moved from {}", "verschoben von {}"),
    ("{t}, the same contents", "{}, derselbe Inhalt"),
    ("{t}; it was {}", "{}; sie war {}"),
    ("tag", "Markierung"),
    ("check", "Prüfung"),
    ("update", "Aktualisierung"),
    ("init", "Katalog"),
    ("repair", "Reparatur"),
    // What the above consist of.
    ("{n} {t}", "{} {}"),
    ("{t}: {}", "{}: {}"),
];

/// Returns an English text in German, if it is known, or if it is a list of known texts.
fn german(english: &str) -> Option<String> {
    let several = || {
        // Some texts contain a semicolon themselves, so the first is as long as it can be.
        let mut cuts = english.rmatch_indices("; ").map(|(at, _)| english.split_at(at));
        let (first, rest) = cuts.find_map(|(first, rest)| Some((known(first)?, &rest[2..])))?;
        Some(format!("{first}; {}", german(rest)?))
    };
    let listed = || {
        let (first, rest) = english.split_once(", ")?;
        Some(format!("{}, {}", known(first)?, german(rest)?))
    };
    known(english).or_else(several).or_else(listed)
}

/// Returns one English text in German, if it is known.
fn known(english: &str) -> Option<String> {
    let of_pattern = |(pattern, german): &(&str, &str)| {
        let mut found = Vec::new();
        fits(pattern, english, &mut found).then(|| filled(german, &found))
    };
    word_of(english).map(str::to_owned).or_else(|| TEXTS.iter().find_map(of_pattern))
}

/// Returns whether a text is that of a pattern, and appends what stands for each of its places, in
/// German. Each place takes as little as it can, so this takes time in proportion to the text.
fn fits(pattern: &str, text: &str, found: &mut Vec<String>) -> bool {
    let Some((before, rest)) = pattern.split_once('{') else { return pattern == text };
    let (kind, rest) = rest.split_once('}').expect("a place ends with a brace");
    let Some(text) = text.strip_prefix(before) else { return false };
    let after = rest.split('{').next().unwrap_or("");
    let end = match rest.contains('{') {
        true => text.find(after),
        false => text.ends_with(after).then(|| text.len() - after.len()),
    };
    let Some((taken, text)) = end.map(|end| text.split_at(end)) else { return false };
    let said = match kind {
        "n" => is_number(taken).then(|| taken.to_owned()),
        "t" => german(taken),
        _ => Some(taken.to_owned()),
    };
    found.extend(said.clone());
    said.is_some() && fits(rest, text, found)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit() || ",.".contains(letter))
}

/// Puts what was found in the places of a German text.
fn filled(german: &str, found: &[String]) -> String {
    let mut found = found.iter();
    let mut text = String::new();
    for (at, part) in german.split("{}").enumerate() {
        if at > 0 {
            text.push_str(found.next().expect("both languages have the same places"));
        }
        text.push_str(part);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_the_same_places() {
        for (english, german) in TEXTS {
            let places = english.split('{').skip(1).map(|rest| rest.split_once('}').unwrap().0);
            let places: Vec<&str> = places.collect();
            assert!(places.iter().all(|kind| ["", "n", "t"].contains(kind)), "{english}");
            assert_eq!(german.matches("{}").count(), places.len(), "{english}");
            assert_eq!(german.matches('{').count(), places.len(), "{english}");
        }
    }

    #[test]
    fn texts_of_reports_are_said_in_german() {
        for (english, said) in [
            ("corrupt", "beschädigt"),
            ("Check of 1,234 files, 5.20 GB", "Prüfung: 1,234 Dateien, 5.20 GB"),
            (
                "No fault was found. 3 files are intact, 1 untagged. 1 file was not judged.",
                "Kein Fehler wurde gefunden. 3 Dateien sind intakt, 1 ohne Marke. 1 Datei wurde \
                 nicht beurteilt.",
            ),
            (
                "was 5 bytes, is 1 byte; yet last modified 2024-03-01 12:00:05Z as recorded",
                "war 5 Bytes, ist 1 Byte; aber zuletzt geändert 2024-03-01 12:00:05Z wie \
                 aufgezeichnet",
            ),
            ("interrupted, 3 intact, 1 tag lost", "abgebrochen, 3 intakt, 1 Marke verloren"),
            ("length, inode", "Länge, Inode"),
            (
                "was 2 bytes, is 1 byte; yet last modified D as recorded; 1 of 2 pages damaged: \
                 bytes 3..9; 4 unreadable",
                "war 2 Bytes, ist 1 Byte; aber zuletzt geändert D wie aufgezeichnet; 1 von 2 \
                 Seiten beschädigt: Bytes 3..9; 4 nicht lesbar",
            ),
            ("edited A, was B; same length; by x", "bearbeitet A, war B; gleiche Länge; laut x"),
            ("now a, b; now c", "jetzt a, b; now c"),
            ("retagged: 0123… -> 4567…", "neu markiert: 0123… -> 4567…"),
        ] {
            assert_eq!(german(english).as_deref(), Some(said), "{english}");
        }
        for unknown in ["", "{}", "holiday, now", "photo {n}.jpg", "12 monkeys", "a: b"] {
            assert_eq!(german(unknown), None, "{unknown}");
        }
    }
}
