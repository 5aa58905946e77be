//! The names of verdicts, actions, findings and stages, which reports and JSON have in English.

use crate::config::Language;

/// The German of each name. A name that is not here stays as it is.
const GERMAN: [(&str, &str); 36] = [
    ("intact", "intakt"),
    ("touched", "anderes Datum"),
    ("modified", "geändert"),
    ("corrupt", "beschädigt"),
    ("untagged", "ohne Marke"),
    ("missing", "fehlt"),
    ("moved", "verschoben"),
    ("unstable", "währenddessen geschrieben"),
    ("unreadable", "nicht lesbar"),
    ("failed", "fehlgeschlagen"),
    ("no tag", "keine Marke"),
    ("tagged", "markiert"),
    ("retagged", "neu markiert"),
    ("refreshed", "aufgefrischt"),
    ("restored", "wiederhergestellt"),
    ("kept", "behalten"),
    ("removed", "entfernt"),
    ("exported", "exportiert"),
    ("new", "neu"),
    ("returned", "wieder da"),
    ("tag lost", "Marke verloren"),
    ("tag damaged", "Marke beschädigt"),
    ("tag replaced", "Marke ersetzt"),
    ("unmounted", "nicht eingehängt"),
    ("extra", "überzählig"),
    ("changed", "verändert"),
    ("standing", "weiterhin schlecht"),
    ("walk", "Suchen"),
    ("open", "Öffnen"),
    ("read", "Lesen"),
    ("hash", "Hashen"),
    ("store", "Schreiben"),
    ("report", "Melden"),
    ("wait", "Warten"),
    ("storage", "das Laufwerk"),
    ("rate_limit", "die gesetzte Grenze"),
];

/// Returns a name in a language.
pub(crate) fn word(name: &'static str, language: Language) -> &'static str {
    match language {
        Language::English => name,
        Language::German => word_of(name).unwrap_or(name),
    }
}

/// Returns the German of a name, if it is here.
pub(super) fn word_of(name: &str) -> Option<&'static str> {
    GERMAN.iter().find(|(english, _)| *english == name).map(|(_, german)| *german)
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast::{Action, Bound, Stage, Verdict};

    #[test]
    fn every_name_of_a_run_has_a_german_word() {
        let verdicts = Verdict::ALL.into_iter().map(Verdict::name);
        let actions = Action::ALL.into_iter().map(Action::name);
        let stages = Stage::ALL.into_iter().map(Stage::name);
        let bounds = Bound::ALL.into_iter().map(Bound::name);
        for name in verdicts.chain(actions).chain(stages).chain(bounds) {
            assert_ne!(word(name, Language::German), name);
            assert_eq!(word(name, Language::English), name);
        }
    }
}
