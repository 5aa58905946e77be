//! The texts of the pages about folders: the start page, a folder, all runs, the settings.

use steadfast::FileState;
use steadfast_report::units::{count, counted};
use steadfast_schedule::Every;

use crate::config::Language;
use crate::looks::Theme;
use crate::runs::RunVerb;

texts! {
    /// The state of a folder, on cards and in the side bar.
    StateTexts {
        damaged(files: u64): format!("{} damaged", count(files)),
            format!("{} beschädigt", count(files));
        unreadable(files: u64): format!("{} not readable", count(files)),
            format!("{} nicht lesbar", count(files));
        changed(files: u64): format!("{} changed", count(files)),
            format!("{} geändert", count(files));
        going[RunVerb] {
            Tag: "Protecting", "Wird geschützt";
            Check: "Checking", "Wird geprüft";
            Update: "Updating", "Wird aktualisiert";
            Init: "Recording", "Wird erfasst";
            Protect: "Protecting", "Wird geschützt";
        }
        away: "Drive not connected", "Laufwerk nicht da";
        unknown: "Not known", "Nicht bekannt";
        late: "Check is due", "Prüfung fällig";
        intact: "Protected & intact", "Geschützt & intakt";
        unprotected: "Not yet protected", "Noch nicht geschützt";
        /// The state of one file.
        file[FileState] {
            Fine: "Intact", "Intakt";
            Touched: "Intact, with another date", "Intakt, mit anderem Datum";
            Modified: "Changed", "Geändert";
            Corrupt: "Damaged", "Beschädigt";
            Unreadable: "Not readable", "Nicht lesbar";
            Unstable: "Written meanwhile", "Währenddessen geschrieben";
            Missing: "Missing", "Fehlt";
            TagLost: "Record lost", "Aufzeichnung verloren";
            TagReplaced: "Record replaced", "Aufzeichnung ersetzt";
        }
        /// What happened to a file in this state.
        why[FileState] {
            Fine: "Its contents are exactly as recorded.",
                "Der Inhalt ist genau wie aufgezeichnet.";
            Touched: "Its contents are exactly as recorded; its date is another.",
                "Der Inhalt ist genau wie aufgezeichnet, das Datum ist ein anderes.";
            Modified: "Its contents and its date are different: it was saved since it was \
                    recorded. If that was you, accept the change.",
                "Inhalt und Datum sind anders: Die Datei wurde seither gespeichert. Wenn Sie das \
                    waren, übernehmen Sie die Änderung.";
            Corrupt: "Its contents are different, although its date is as recorded: no program \
                    saved it. A worn drive, a loose cable or faulty memory does that.",
                "Der Inhalt ist anders, das Datum aber wie aufgezeichnet: Kein Programm hat sie \
                    gespeichert. Das tun ein abgenutztes Laufwerk, ein loses Kabel oder \
                    fehlerhafter Speicher.";
            Unreadable: "It could not be read, so nothing is known of its contents.",
                "Sie konnte nicht gelesen werden; über ihren Inhalt ist nichts bekannt.";
            Unstable: "It was written while it was read. Check it again.",
                "Sie wurde geschrieben, während sie gelesen wurde. Prüfen Sie sie noch einmal.";
            Missing: "It was recorded and is no longer there.",
                "Sie wurde aufgezeichnet und ist nicht mehr da.";
            TagLost: "Its own record is gone. Its contents are as the catalogue has them.",
                "Ihre eigene Aufzeichnung fehlt. Der Inhalt ist, wie der Katalog ihn hat.";
            TagReplaced: "Its own record and the catalogue disagree about its contents.",
                "Ihre eigene Aufzeichnung und der Katalog widersprechen sich.";
        }
    }

    /// The start page, with all folders.
    HomeTexts {
        title: "Folders", "Ordner";
        no_folder: "Only single files are shown here", "Hier werden nur einzelne Dateien gezeigt";
        attention(things: u64): match things {
                1 => "1 folder needs your attention".to_owned(),
                things => format!("{} folders need your attention", count(things)),
            }, match things {
                1 => "1 Ordner braucht Ihre Aufmerksamkeit".to_owned(),
                things => format!("{} Ordner brauchen Ihre Aufmerksamkeit", count(things)),
            };
        all_well: "All your files are exactly as recorded",
            "Alle Ihre Dateien sind genau wie aufgezeichnet";
        to_do: "Some folders are not proved yet", "Einige Ordner sind noch nicht belegt";
        protect_first: "Protect your first folder", "Schützen Sie Ihren ersten Ordner";
        summary(folders: u64, bytes: &str): format!("{}, {bytes}",
                counted(folders, "folder", "folders")),
            format!("{} Ordner, {bytes}", count(folders));
        damaged_in(files: u64, folder: &str):
            format!("{} in {folder}", counted(files, "damaged file", "damaged files")),
            format!("{} in {folder}", counted(files, "beschädigte Datei", "beschädigte Dateien"));
        unreadable_in(files: u64, folder: &str): format!("{} in {folder} could not be read",
                counted(files, "file", "files")),
            format!("{} in {folder} konnten nicht gelesen werden",
                counted(files, "Datei", "Dateien"));
        away_title(folder: &str): format!("{folder} is not connected"),
            format!("{folder} ist nicht verbunden");
        unknown_title(folder: &str): format!("{folder}: the catalogue cannot be used"),
            format!("{folder}: Der Katalog ist nicht benutzbar");
        damaged_text: "Their contents changed by themselves. See which, and what can be done.",
            "Ihr Inhalt hat sich von selbst geändert. Sehen Sie, welche und was zu tun ist.";
        unreadable_text: "What is in them is not known.", "Was darin ist, ist nicht bekannt.";
        away_text: "Connect the drive, then look again.",
            "Verbinden Sie das Laufwerk und sehen Sie noch einmal nach.";
        show_damaged(files: u64):
            format!("Show {}", counted(files, "damaged file", "damaged files")),
            format!("{} zeigen", counted(files, "beschädigte Datei", "beschädigte Dateien"));
        show_changed(files: u64):
            format!("Show {}", counted(files, "changed file", "changed files")),
            format!("{} zeigen", counted(files, "geänderte Datei", "geänderte Dateien"));
        show: "Show", "Zeigen";
        look_again: "Look again", "Noch einmal nachsehen";
        watch: "Watch", "Zusehen";
        check_now: "Check now", "Jetzt prüfen";
        protect: "Protect this folder", "Diesen Ordner schützen";
        browse: "Choose a folder or a file in it", "Darin einen Ordner oder eine Datei wählen";
        options: "Check or tag with options", "Prüfen oder markieren mit Auswahl";
        history: "History", "Verlauf";
        more(folder: &str): format!("More for {folder}"), format!("Mehr zu {folder}");
        say_damaged(part: u64, whole: u64): format!("{} of {} damaged.", count(part),
                counted(whole, "file is", "files are")),
            format!("{} von {} beschädigt.", count(part),
                counted(whole, "Datei ist", "Dateien sind"));
        say_unreadable(part: u64, whole: u64): format!("{} of {} could not be read.", count(part),
                counted(whole, "file", "files")),
            format!("{} von {} nicht lesbar.", count(part),
                counted(whole, "Datei war", "Dateien waren"));
        say_changed(files: u64): format!("{} changed or missing since they were recorded. If that \
                was you, accept it.", counted(files, "file is", "files are")),
            format!("{} geändert oder fehlen seit der Aufzeichnung. Wenn Sie das waren, \
                übernehmen Sie es.", counted(files, "Datei ist", "Dateien sind"));
        say_intact(files: u64): match files {
                1 => "The only file is exactly as recorded.".to_owned(),
                files => format!("All {} files are exactly as recorded.", count(files)),
            }, match files {
                1 => "Die einzige Datei ist genau wie aufgezeichnet.".to_owned(),
                files => format!("Alle {} Dateien sind genau wie aufgezeichnet.", count(files)),
            };
        say_late(files: u64, days: u32): format!("No damage is known. {} not checked within \
                {days} days.", counted(files, "file was", "files were")),
            format!("Es ist kein Schaden bekannt. {} nicht innerhalb von {days} Tagen geprüft.",
                counted(files, "Datei wurde", "Dateien wurden"));
        say_unproved(files: u64): format!("No damage is known. {} never checked.",
                counted(files, "file was", "files were")),
            format!("Es ist kein Schaden bekannt. {} nie geprüft.",
                counted(files, "Datei wurde", "Dateien wurden"));
        say_empty: "Nothing is recorded in it yet.", "Es ist noch nichts darin aufgezeichnet.";
        say_unprotected: "Nothing is recorded yet, so damage could not be noticed.",
            "Es ist noch nichts aufgezeichnet; ein Schaden fiele nicht auf.";
        say_above: "It is part of a larger catalogued tree, which is not served here.",
            "Der Ordner gehört zu einem größeren katalogisierten Baum, der hier nicht gezeigt \
                wird.";
        say_going(files: u64): format!("{} read so far.", counted(files, "file was", "files were")),
            format!("{} bisher gelesen.", counted(files, "Datei wurde", "Dateien wurden"));
        last_checked: "Last run", "Letzter Lauf";
        proved(days: u32): format!("checked within {days} days"),
            format!("in {days} Tagen geprüft");
        of_run: "of this run", "dieses Laufs";
        nothing_proved: "Nothing checked yet", "Noch nichts geprüft";
        no_schedule: "No schedule yet", "Noch kein Zeitplan";
        scheduled(every: Every, at: &str): match every {
                Every::Night => format!("Checked every night at {at}"),
                Every::Week => format!("Checked every Sunday at {at}"),
                Every::Month => format!("Checked on the 1st of each month at {at}"),
            }, match every {
                Every::Night => format!("Prüfung jede Nacht um {at}"),
                Every::Week => format!("Prüfung jeden Sonntag um {at}"),
                Every::Month => format!("Prüfung am 1. jedes Monats um {at}"),
            };
        lately: "Lately", "Zuletzt";
        coming: "Coming up", "Demnächst";
        nothing_lately: "No runs yet.", "Noch keine Läufe.";
        nothing_coming: "No checks are scheduled yet.", "Noch ist keine Prüfung geplant.";
        all_activity: "All activity", "Alle Läufe";
    }

    /// The list of all runs.
    ActivityTexts {
        title: "Activity", "Läufe";
        intro: "Every run that a catalogue has recorded, from this page or from the command line.",
            "Jeder Lauf, den ein Katalog aufgezeichnet hat, von dieser Seite oder vom Befehl.";
        none: "There are no runs yet.", "Es gibt noch keine Läufe.";
        unfinished: "did not end", "nicht zu Ende";
        interrupted: "stopped", "abgebrochen";
        intact(files: u64): counted(files, "file, all is well", "files, all is well"),
            counted(files, "Datei, alles gut", "Dateien, alles gut");
        here: "Runs of this server", "Läufe dieses Dienstes";
        no_here: "No runs yet.", "Es gab noch keinen.";
        recorded: "Recorded runs", "Aufgezeichnete Läufe";
    }

    /// The settings.
    SettingsTexts {
        title: "Settings", "Einstellungen";
        looks: "Looks and words", "Aussehen und Sprache";
        language: "Language", "Sprache";
        follow_language: "As the browser", "Wie der Browser";
        theme: "Colours", "Farben";
        themes[Theme] {
            Follow: "As the system", "Wie das System";
            Light: "Light", "Hell";
            Dark: "Dark", "Dunkel";
        }
        save: "Save", "Speichern";
        of_browser: "These apply to this browser.", "Das gilt für diesen Browser.";
        access: "Access", "Zugang";
        here_only: "This computer only. Nothing is reachable from the network.",
            "Nur dieser Rechner. Aus dem Netz ist nichts erreichbar.";
        elsewhere: "Other computers can sign in with the password.",
            "Andere Rechner können sich mit dem Passwort anmelden.";
        leave: "Sign out", "Abmelden";
        keys: "Keys", "Tasten";
        keys_text: "g then h: folders; g then a: activity; g then l: look up; /: search; \
                p: pause or go on.",
            "g, dann h: Ordner; g, dann a: Läufe; g, dann l: nachschlagen; /: suchen; \
                p: anhalten oder weiter.";
    }
}

texts! {
    /// The page of a folder.
    FolderTexts {
        attention: "Needs attention", "Braucht Aufmerksamkeit";
        found: "found", "gefunden";
        accept: "Accept the change", "Änderung übernehmen";
        again: "Check again", "Noch einmal prüfen";
        copy: "Copy the path", "Pfad kopieren";
        copied: "Copied", "Kopiert";
        restore: "How to restore", "Wie man sie wiederherstellt";
        restore_text: "Copy this file from a backup over the damaged one, with its date, and check \
                it again: the check says whether the backup's copy is good. Or let Steadfast take \
                what is good of the backup: `steadfast repair PATH --from BACKUP`.",
            "Kopieren Sie diese Datei aus einer Sicherung über die beschädigte, mit ihrem Datum, \
                und prüfen Sie sie noch einmal: Die Prüfung sagt, ob die Kopie gut ist. Oder \
                lassen Sie Steadfast nehmen, was an der Sicherung gut ist: \
                `steadfast repair PFAD --from SICHERUNG`.";
        coverage: "When files were last found intact", "Wann Dateien zuletzt intakt waren";
        earlier: "of the files were last found intact earlier",
            "der Dateien waren es zuletzt früher";
        never: "of the files were never checked", "der Dateien wurden nie geprüft";
        numbers: "The same in numbers", "Dasselbe in Zahlen";
        /// From January, 0, to December, 11.
        month(number: usize):
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
                [number].to_owned(),
            ["Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"]
                [number].to_owned();
        files_of(folder: &str): format!("Files of {folder}"), format!("Dateien in {folder}");
        find: "Find a file", "Eine Datei suchen";
        find_now: "Find", "Suchen";
        all_states: "All states", "Alle Zustände";
        new: "New, not yet protected", "Neu, noch nicht geschützt";
        no_file: "No file matches.", "Keine Datei passt.";
        file: "Name", "Name";
        state: "State", "Zustand";
        last_checked: "Last intact", "Zuletzt intakt";
        never_checked: "never", "nie";
        saved: "Saved", "Gespeichert";
        size: "Size", "Größe";
        more_files: "Show more", "Weitere zeigen";
        tree: "Files", "Dateien";
        schedule: "Schedule", "Zeitplan";
        parity: "Repair data", "Reparaturdaten";
        parity_text: "With repair data, damaged files can be repaired without a backup. This \
                command makes it or brings it up to date:",
            "Mit Reparaturdaten lassen sich beschädigte Dateien ohne Sicherung reparieren. Dieser \
                Befehl legt sie an oder erneuert sie:";
        next: "Next", "Weiter";
        previous: "Previous", "Zurück";
        /// From, to, of.
        span(from: u64, to: u64, of: u64):
            format!("{} to {} of {}", count(from), count(to), count(of)),
            format!("{} bis {} von {}", count(from), count(to), count(of));
    }

    /// The page of a repair.
    RepairTexts {
        title: "Repair", "Reparatur";
        plan: "See what can be repaired", "Sehen, was zu reparieren ist";
        plan_one: "Repair…", "Reparieren…";
        nothing: "Nothing here is known to be damaged.", "Hier ist kein Schaden bekannt.";
        failed: "The repair could not begin", "Die Reparatur konnte nicht beginnen";
        planning: "Finding out what can be repaired", "Es wird ermittelt, was zu reparieren ist";
        only_reads: "Damaged files and what could replace them are read. Nothing is written.",
            "Beschädigte Dateien, und woraus sie zu ersetzen wären, werden gelesen. Geschrieben \
                wird nichts.";
        repairing: "Repairing", "Es wird repariert";
        stopped: "Stopped before the end", "Vor dem Ende abgebrochen";
        /// Damaged files that one repair leaves out.
        more(files: u64): format!("{} not looked at here: one repair takes 1,000. In a \
                terminal, `steadfast repair` takes all.", counted(files, "further damaged file was",
                "further damaged files were")),
            format!("{} hier nicht angesehen: Eine Reparatur nimmt 1.000. Im Terminal nimmt \
                `steadfast repair` alle.", counted(files, "weitere beschädigte Datei wurde",
                "weitere beschädigte Dateien wurden"));
        /// Files that were read, of so many.
        seen(files: u64, all: u64):
            format!("{} of {} read", count(files), counted(all, "file", "files")),
            format!("{} von {} gelesen", count(files), counted(all, "Datei", "Dateien"));
        /// Files for which it is known what can be done, of so many.
        told(files: u64, all: u64):
            format!("{} of {} settled", count(files), counted(all, "file", "files")),
            format!("{} von {} entschieden", count(files), counted(all, "Datei", "Dateien"));
        /// How many can be repaired, and how many cannot.
        planned(good: u64, bad: u64): match bad {
                0 if good == 0 => "Nothing is damaged".to_owned(),
                0 => format!("{} can be repaired", counted(good, "file", "files")),
                bad => format!("{} can be repaired, {} cannot", counted(good, "file", "files"),
                    count(bad)),
            }, match bad {
                0 if good == 0 => "Nichts ist beschädigt".to_owned(),
                0 => format!("{} zu reparieren", counted(good, "Datei ist", "Dateien sind")),
                bad => format!("{} zu reparieren, {} nicht",
                    counted(good, "Datei ist", "Dateien sind"), count(bad)),
            };
        /// How many were repaired, and how many were not.
        done(good: u64, bad: u64): match bad {
                0 => format!("Repaired {}", counted(good, "file", "files")),
                bad => format!("Repaired {}, {} not", counted(good, "file", "files"), count(bad)),
            }, match bad {
                0 => format!("{} repariert", counted(good, "Datei", "Dateien")),
                bad => format!("{} repariert, {} nicht", counted(good, "Datei", "Dateien"),
                    count(bad)),
            };
        go(files: u64): format!("Repair {}", counted(files, "file", "files")),
            format!("{} reparieren", counted(files, "Datei", "Dateien"));
        kept: "A repaired file replaces a damaged one only when it is exactly as recorded. The \
                damaged file is kept until you discard it.",
            "Eine reparierte Datei ersetzt eine beschädigte nur, wenn sie genau wie aufgezeichnet \
                ist. Die beschädigte wird aufgehoben, bis Sie sie verwerfen.";
        originals: "The damaged files are kept in", "Die beschädigten Dateien liegen in";
        back: "Back to the folder", "Zurück zum Ordner";
        can: "Can be repaired", "Reparierbar";
        cannot: "Cannot be repaired", "Nicht reparierbar";
        repaired: "Repaired", "Repariert";
        from: "from", "aus";
    }
}
