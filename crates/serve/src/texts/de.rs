//! The texts in German.

mod documents;

use steadfast_report::units::{count, counted};

use super::{BrowseTexts, EnterTexts, HomeTexts, LayoutTexts, NoticeText, RunTexts, Texts};
use crate::refusal::Refusal;
use crate::runs::{RunStatus, RunVerb};

pub(super) const TEXTS: Texts = Texts {
    layout: LayoutTexts {
        skip: "Zum Inhalt springen",
        pages: "Seiten",
        home: "Übersicht",
        run: "Lauf",
        drop: "Ablegen",
        measure: "Messen",
        compare: "Vergleichen",
        code: "Code",
        history: "Verlauf",
        leave: "Verlassen",
        untranslated: "Der Bericht ist auf Englisch.",
        lost: "Der Dienst antwortet nicht. Was hier steht, ist das Letzte, was er gesagt hat.",
    },
    enter: EnterTexts {
        title: "Eintreten",
        password: "Passwort",
        enter: "Eintreten",
        wrong: "Das ist nicht das Passwort.",
        welcome: "Sie sind drin.",
        go_on: "Weiter",
        left: "Sie haben den Dienst verlassen",
        left_text: "Dieser Browser muss die Adresse oder das Passwort erneut vorzeigen.",
    },
    home: HomeTexts {
        title: "Ordner",
        runs: "Läufe dieses Dienstes",
        no_runs: "Es gab noch keinen.",
        check_or_tag: "Prüfen oder markieren",
        choose: "Darin einen Ordner oder eine Datei wählen",
        fine: "Es ist nichts Schlechtes bekannt.",
        partly_checked: |files| format!("Es ist kein Fehler bekannt. Nie geprüft: {files}."),
        never_checked: "Es wurde noch nichts geprüft.",
        wrong: |what| format!("Nicht in Ordnung: {what}."),
        last_run: "Letzter Lauf",
        known: "Bekannt",
        files: |files| counted(files, "Datei", "Dateien"),
        proved: |days| format!("In {days} Tagen belegt"),
        of: |part, whole| format!("{part} von {whole}"),
        overdue: "Überfällig",
        nothing_overdue: "nichts",
        no_catalogue: "Es gibt keinen Katalog: Eine Prüfung beurteilt die Dateien, die da sind, \
                       und weiß nicht, welche fehlen und wann jede zuletzt belegt wurde.",
        make_catalogue: "Einen Katalog anlegen",
        catalogue_above: "Der Ordner gehört zu einem größeren katalogisierten Baum, der hier nicht \
                          gezeigt wird.",
        unreadable: "Der Katalog ist nicht lesbar",
        column_run: "Lauf",
        column_folder: "Ordner",
        column_begun: "Begonnen",
        column_stand: "RunStatus",
    },
    browse: BrowseTexts {
        title: "Einen Ordner wählen",
        way: "Ordner darüber",
        use_this: "Diesen Ordner prüfen oder markieren",
        use_name: |name| format!("{name} prüfen oder markieren"),
        use_short: "wählen",
        open: |name| format!("{name} öffnen"),
        entries: |entries| counted(entries, "Eintrag", "Einträge"),
        empty: "Er ist leer.",
        link: "ein Verweis, dem nicht gefolgt wird",
        special: "weder Datei noch Ordner",
        more: |next, more| {
            format!("Die nächsten {} von {} weiteren zeigen", count(next), count(more))
        },
        unreadable: "Der Inhalt ist nicht lesbar",
    },
    run: RunTexts {
        title: "Prüfen oder markieren",
        folder: "Ordner oder Datei",
        other_folder: "Anderes wählen",
        pace: "Wie schnell",
        pace_names: ["Schildkröte", "zu Fuß", "Fahrrad", "Auto", "Rennwagen"],
        pace_help: "Eine Schildkröte ist niemandem im Weg, ein Rennwagen verlangt mehr als seinen \
                    Anteil.",
        media: "Vom Datenträger lesen, am Zwischenspeicher vorbei, wo das Dateisystem es kann",
        verb: |verb| match verb {
            RunVerb::Tag => "Markieren",
            RunVerb::Check => "Prüfen",
            RunVerb::Update => "Aktualisieren",
            RunVerb::Init => "Einen Katalog anlegen",
        },
        verb_help: |verb| match verb {
            RunVerb::Tag => "gibt jeder Datei ohne Marke eine; liest keine andere",
            RunVerb::Check => {
                "liest jede Datei und sagt, was aus ihr wurde; schreibt nichts an sie"
            }
            RunVerb::Update => {
                "prüft, markiert neue Dateien und bearbeitete neu; beschädigte \
                             behalten ihre Marken"
            }
            RunVerb::Init => "trägt ein, was die Marken sagen; liest keine Datei",
        },
        heading: |verb| match verb {
            RunVerb::Tag => "Markieren",
            RunVerb::Check => "Prüfung",
            RunVerb::Update => "Aktualisierung",
            RunVerb::Init => "Ein neuer Katalog",
        },
        status: |status| match status {
            RunStatus::Running => "Er läuft; auch wenn diese Seite geschlossen wird.",
            RunStatus::Paused => "Er ist angehalten.",
            RunStatus::Stopping => "Er wird beendet.",
            RunStatus::Ended => "Er ist zu Ende.",
        },
        failed: "Der Lauf konnte nicht weitergehen",
        overlaps: "Es läuft schon einer, der ihm in die Quere käme: in diesem Ordner, darüber oder \
                   darunter, mit demselben Katalog, oder während gemessen werden soll. Das ist er.",
        pause: "Anhalten",
        resume: "Weiter",
        stop: "Beenden",
        progress: "Fortschritt",
        counting: "es wird gezählt, wie viel da ist",
        read: "Gelesen",
        files: "Dateien",
        rate: "Durchsatz",
        elapsed: "Zeit",
        left: "Verbleibend",
        bound: "Begrenzt durch",
        cost: "Wohin die Zeit geht",
        cost_help: "Anteile an der Zeit der Threads, die Digests bilden, je Stufe.",
        cores: "Prozessoren in der letzten Minute",
        core: |number| format!("Prozessor {number}"),
        cores_virtual: "eine virtuelle Maschine: Kernarten nicht bekannt",
        cores_unknown: "Kernarten nicht bekannt",
        load_unknown: "Das System sagt nicht, was die einzelnen Prozessoren tun.",
        one_type: "alle von einer Art",
        counts: "Bisher",
        done: "Was getan wurde",
        found: "Nicht in Ordnung",
        nothing_found: "Noch nichts.",
        found_more: |more| format!("und {} weitere, am Ende in den Ergebnissen", count(more)),
        rows: "Die letzten Dateien",
        column_verdict: "Urteil",
        column_path: "Pfad",
        column_known: "Was bekannt ist",
        column_length: "Gelesen",
        column_seconds: "Zeit",
        column_rate: "Durchsatz",
        results: "Dateien, die nicht unversehrt sind",
        show: "Zeigen",
        all: "alle",
        words: "Deren Pfad oder Einzelheiten enthalten",
        filter: "Filtern",
        none_fits: "Es gibt keine.",
        lost: |lost| {
            let more = counted(lost, "weiterer Befund wurde", "weitere Befunde wurden");
            format!("{more} nicht aufgehoben; keiner ist schlimmer als die gezeigten.")
        },
        next: "Weiter",
        previous: "Zurück",
        span: |from, to, of| format!("{} bis {} von {}", count(from), count(to), count(of)),
        report: "Bericht speichern",
        again: "Dasselbe noch einmal",
        say: |done, found| match found {
            0 => format!("{done}; bisher kein Problem"),
            found => format!("{done}; {} gefunden", counted(found, "Problem", "Probleme")),
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
        Refusal::Method => {
            ("Nicht verstanden", "Dieser Dienst gibt nur Seiten und nimmt Formulare.")
        }
        Refusal::Malformed => ("Nicht verstanden", "Die Anfrage ist nicht lesbar."),
        Refusal::LongAddress => ("Zu lang", "Die Adresse ist länger als jede hier."),
        Refusal::Stranger => (
            "Nicht von hier",
            "Die Anfrage nennt einen anderen Dienst oder kommt von der Seite eines anderen. Öffnen \
             Sie die Adresse, die der Befehl ausgegeben hat.",
        ),
        Refusal::NoSession => (
            "Bitte erst eintreten",
            "Öffnen Sie die Adresse, die `steadfast serve` ausgegeben hat: Sie enthält das \
             Kennwort, das diesen Browser einlässt.",
        ),
        Refusal::ForeignForm => (
            "Nicht dieses Formular",
            "Das Formular gehört nicht zu dieser Sitzung. Laden Sie seine Seite neu und \
             wiederholen Sie es.",
        ),
        Refusal::TooLarge => ("Zu groß", "Es wurde mehr gesendet, als hier angenommen wird."),
        Refusal::TooSlow => ("Zu langsam", "Was zu senden war, kam nicht rechtzeitig."),
        Refusal::TooMuch => {
            ("Zu viel auf einmal", "Warten Sie einen Augenblick und versuchen Sie es erneut.")
        }
        Refusal::NotFound => (
            "Nicht gefunden",
            "Hier gibt es keine solche Seite, Datei, keinen solchen Ordner oder \
                                Lauf.",
        ),
        Refusal::Conflict => ("Nicht jetzt", "Das geht im gegenwärtigen Zustand nicht."),
    };
    NoticeText { title, text }
}
