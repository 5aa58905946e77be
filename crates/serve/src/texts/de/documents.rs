//! The texts for drops, measurements, records, code and history in German.

use super::super::documents::{CodeTexts, CompareTexts, DropTexts, HistoryTexts, MeasureTexts};
use crate::drops::DropAnswer;
use crate::measuring::{MeasureKind, MeasureProfile, MeasureStatus};
use steadfast_report::units::counted;

pub(crate) const DROP: DropTexts = DropTexts {
    title: "Dateien ablegen",
    intro: "Ist diese Datei hier bekannt, und unverändert? Ihre Bytes gehen nur bis zu diesem \
            Dienst, der sie hasht und keines behält.",
    zone: "Dateien oder einen Ordner hier ablegen",
    files: "Dateien wählen",
    folder: "Ordner wählen",
    no_script: "Ablegen braucht das Skript der Seite. Ohne es wählen Sie Dateien im Baum eines \
                Ordners und prüfen sie.",
    given: "Vom Schreibtisch übergeben",
    given_more: |more| format!("und {}", counted(more, "weiterer Pfad", "weitere Pfade")),
    check_given: "Diese ansehen",
    cut: "Dies sind die ersten 1.000 Dateien. Es gibt mehr, die niemand angesehen hat: über sie \
          ist nichts gesagt.",
    whole: |path| format!("{path} ganz prüfen oder markieren"),
    going: "{done} von {all}: {name}",
    failed: "Dies ließ sich nicht lesen oder senden:",
    too_many: "Mehr als 1.000 Dateien: markieren oder prüfen Sie stattdessen den Ordner.",
    hashing: "Wird gehasht; diese Seite sagt, wenn es fertig ist.",
    results: "Was über sie bekannt ist",
    earlier: "Zuvor abgelegt",
    entry: |files, moment| format!("{}, {moment}", counted(files, "Datei", "Dateien")),
    more: "Weitere ablegen",
    answer: |answer| match answer {
        DropAnswer::Known => "hier bekannt",
        DropAnswer::Differs => "weicht ab",
        DropAnswer::Unknown => "hier unbekannt",
        DropAnswer::Unreadable => "nicht lesbar",
    },
    sum: |answer, files| {
        let files = counted(files, "Datei", "Dateien");
        match answer {
            DropAnswer::Known => format!("{files} hier bekannt, mit dem markierten Inhalt"),
            DropAnswer::Differs => format!("{files} anders als die markierte Datei dieses Namens"),
            DropAnswer::Unknown => format!("{files} hier unbekannt"),
            DropAnswer::Unreadable => format!("{files} nicht lesbar"),
        }
    },
    column_file: "Datei",
    column_answer: "Antwort",
    column_known: "Was bekannt ist",
    column_length: "Länge",
    known_as: |path, moment| format!("als {path}, markiert am {moment}"),
    other: |path, moment| format!("{path}, markiert am {moment}, hat anderen Inhalt"),
    stands: |standing| format!("zuletzt vorgefunden: {standing}"),
    own_tag: |verdict, moment| format!("nach der eigenen Markierung vom {moment}: {verdict}"),
    further: |more| format!("und an {}", counted(more, "weiteren Ort", "weiteren Orten")),
    no_tag: "keine markierte Datei hat hier diesen Inhalt oder diesen Namen",
    without_catalogue: "Ohne Katalog, daher nicht gefragt",
    none: "Keiner der Ordner hat einen Katalog, daher ist nach Inhalt nichts zu finden. Die \
           Übersicht legt einen an.",
    digests: "Hashwerte",
};

pub(crate) const MEASURE: MeasureTexts = MeasureTexts {
    title: "Messen",
    intro: "Was dieser Rechner kann, und was ihn aufhält: die Stufen einer Prüfung mit einer Uhr \
            daneben. Lassen Sie ihn währenddessen nichts anderes tun.",
    what: "Was gemessen wird",
    kind: |kind| match kind {
        MeasureKind::Kernels => "Hashen im Speicher",
        MeasureKind::Hash => "Hashen von Dateien",
        MeasureKind::Read => "Lesen",
        MeasureKind::Write => "Schreiben",
        MeasureKind::Queue => "Gleichzeitiges Lesen",
        MeasureKind::Cpu => "Schleifen in einem Kern",
        MeasureKind::Cipher => "Verschlüsselung",
    },
    kind_help: |kind| match kind {
        MeasureKind::Kernels => "jedes Verfahren und jeder Rechenweg; schreibt keine Datei",
        MeasureKind::Hash => "Lesen, Hashen und beides, an Dateien, die dafür angelegt werden",
        MeasureKind::Read => "dafür angelegte Dateien, am Seitenspeicher vorbei und mit leerem",
        MeasureKind::Write => "Dateien vieler Längen, gesichert, zurückgelesen und verglichen",
        MeasureKind::Queue => "1 bis 32 Lesevorgänge zugleich, und wie lange jeder dauert",
        MeasureKind::Cpu => "sechs Rechenkerne auf jeder QoS-Stufe; schreibt keine Datei",
        MeasureKind::Cipher => "mit den Befehlen des Prozessors dafür und ohne sie",
    },
    profile_label: "Wie gründlich",
    profile: |profile| match profile {
        MeasureProfile::Quick => "kurz: ein erster Blick, etwa eine Minute",
        MeasureProfile::Small => "kleine Dateien (Lesen und Schreiben; 3,3 GB)",
        MeasureProfile::Standard => "Standard: womit Rechner verglichen werden",
    },
    profile_help: "Der Standard schreibt 53,3 GB, wenn Lesen oder Schreiben gemessen wird.",
    folder: "Ordner für die Dateien, die angelegt werden",
    folder_help: "Sie liegen in einem eigenen Ordner, der danach entfernt wird.",
    begin: "Messen",
    busy: "Es wird bereits etwas gemessen. Dies ist es.",
    status: |status| match status {
        MeasureStatus::Running => "Es wird gemessen, auch wenn diese Seite geschlossen wird.",
        MeasureStatus::Stopping => "Es hält an; die Messwerte bis jetzt bleiben.",
        MeasureStatus::Ended => "Es ist beendet.",
    },
    stop: "Anhalten und Messwerte behalten",
    progress: "Fortschritt",
    preparing: "Vorbereitung",
    now: "Jetzt",
    left: "Noch",
    elapsed: "Zeit",
    samples: "Messwerte",
    series: "Messwerte, wie sie kommen",
    column_series: "Reihe",
    column_course: "Raten bisher, ab null",
    column_latest: "Zuletzt",
    column_samples: "Messwerte",
    no_samples: "Noch keine.",
    ended_early: "Es endete vorzeitig; das Folgende beruht auf den Messwerten bis dahin.",
    failed: "Etwas ließ sich nicht messen",
    nothing: "Es wurde nichts gemessen.",
    not_kept: |why| format!("Das Protokoll liegt nicht im Ordner der Protokolle: {why}."),
    kept: |name| format!("Das Protokoll liegt als {name} vor."),
    save_record: "Protokoll sichern",
    save_report: "Bericht sichern",
    compare: "Vergleichen",
    records: "Von diesem Dienst gemessen",
    no_records: "Noch nichts.",
    column_begun: "Begonnen",
    column_stand: "RunStatus",
};

pub(crate) const COMPARE: CompareTexts = CompareTexts {
    title: "Protokolle vergleichen",
    intro: "Protokolle beliebiger Rechner nebeneinander, auch mit dem, was andere veröffentlicht \
            haben.",
    records: "Protokolle",
    show: "Zeigen",
    against: "gegenüber",
    against_none: "nichts",
    column_record: "Protokoll",
    column_machine: "Rechner",
    column_begun: "Begonnen",
    column_from: "Woher",
    measured_here: "hier gemessen",
    in_folder: "Ordner der Protokolle",
    uploaded: "hinzugefügt",
    published: "veröffentlicht",
    unreadable: "ist kein Protokoll",
    no_records: "Es gibt keine.",
    none_chosen: "Wählen Sie eines oder mehrere, und auf Wunsch eines, dem sie gegenüberstehen.",
    upload: "Ein Protokoll hinzufügen",
    upload_help: "Eine .json-Datei, wie `measure --export` sie schreibt, bis 8 MB. Sie bleibt im \
                  Speicher, bis der Dienst endet.",
    upload_script: "Hinzufügen braucht das Skript der Seite; ohne es nennen Sie beim Start des \
                    Dienstes einen Ordner mit Protokollen.",
    refused: "Es wurde nicht angenommen",
    save: "Bericht sichern",
    more: "Andere wählen",
    gone: "Ein gewähltes Protokoll ist nicht mehr da oder nicht lesbar.",
};

pub(crate) const CODE: CodeTexts = CodeTexts {
    title: "Siegel von Code",
    intro: "Ein Programm, Programmpaket oder Abbild, wie Apples Werkzeuge es signieren: sind die \
            Bytes die versiegelten, wer hat signiert, ist die Signatur annehmbar. Ob ein Mac es \
            laufen ließe, steht hier nicht.",
    choose: "Ein Programm wählen in",
    no_code: "Dies ist nicht als signierter Code zu lesen",
    map: "Byte für Byte",
    map_help: |cell| format!("Vom ersten Byte bis zum letzten; jedes Feld ist {cell} der Datei."),
    no_map: "Es gibt keine Karte: nur bei Mach-O ist bekannt, was jedes Byte bedeckt.",
    legend: "Was die Farben bedeuten",
};

pub(crate) const HISTORY: HistoryTexts = HistoryTexts {
    title: "Verlauf",
    intro: "Jeder Lauf, an den der Katalog sich erinnert, und was aus jeder Datei wurde.",
    choose: "Datei oder Ordner wählen in",
    none: "hat keinen Katalog, der allein sich erinnert. Die Übersicht legt einen an.",
    unknown: "Der Katalog weiß nichts von diesem Namen.",
};
