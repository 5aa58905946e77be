//! The texts of schedules and alerts.

use steadfast_schedule::Every;

use crate::config::Language;

texts! {
    /// The schedule of a folder.
    ScheduleTexts {
        make: "Check regularly", "Regelmäßig prüfen";
        change: "Save the schedule", "Zeitplan speichern";
        remove: "Remove the schedule", "Zeitplan entfernen";
        every: "How often", "Wie oft";
        periods[Every] {
            Night: "every night", "jede Nacht";
            Week: "every week", "jede Woche";
            Month: "every month", "jeden Monat";
        }
        at: "At", "Um";
        cover: "Days within which everything is checked",
            "Tage, innerhalb derer alles geprüft wird";
        update: "Also record new and edited files", "Auch neue und geänderte Dateien erfassen";
        about: "A timer of this computer starts the checks, as the user who started this server. \
                Each reads a part, the longest unchecked first.",
            "Ein Zeitgeber dieses Rechners beginnt die Prüfungen, als der Benutzer, der diesen \
                Server gestartet hat. Jede liest einen Teil, das am längsten Ungeprüfte zuerst.";
        manual: "Nothing on this computer starts it yet. Enter this command in its scheduler, as a \
                daily task:",
            "Noch beginnt sie nichts auf diesem Rechner. Tragen Sie diesen Befehl als tägliche \
                Aufgabe in seinen Aufgabenplaner ein:";
        failed: "The schedule could not be changed", "Der Zeitplan konnte nicht geändert werden";
    }

    /// The alerts of the user.
    AlertTexts {
        title: "Messages about trouble", "Meldungen bei Problemen";
        about: "Regular checks send a message when they find trouble, remind of it weekly, and say \
                when it is settled. Messages contain numbers of files and no names.",
            "Regelmäßige Prüfungen senden eine Meldung, wenn sie Probleme finden, erinnern \
                wöchentlich daran und sagen, wenn sie behoben sind. Meldungen enthalten Anzahlen \
                von Dateien und keine Namen.";
        none: "No messages are sent yet.", "Noch werden keine Meldungen gesendet.";
        channel: "Send", "Senden";
        webhook: "a request: ntfy, Gotify, Slack, Discord, JSON",
            "eine Anfrage: ntfy, Gotify, Slack, Discord, JSON";
        ping: "a ping at each check, as to Healthchecks",
            "ein Ping bei jeder Prüfung, wie an Healthchecks";
        mail: "a mail, by this computer's sendmail", "eine E-Mail, durch sendmail dieses Rechners";
        address: "To the address", "An die Adresse";
        add: "Add", "Hinzufügen";
        remove: "Remove", "Entfernen";
        test: "Send a test message to all", "Allen eine Testmeldung senden";
        tested: "Test messages", "Testmeldungen";
        delivered: "delivered", "zugestellt";
        undelivered: "not delivered", "nicht zugestellt";
        failed: "The messages could not be changed",
            "Die Meldungen konnten nicht geändert werden";
        back: "Back", "Zurück";
    }
}
