//! The state of catalogued folders as metrics of Prometheus.
//!
//! Takes folders; appends the text format 0.0.4. Paths of folders are in it, and none of files.

use steadfast::{FileState, FolderFacts};
use steadfast_watch::FolderStatus;

use crate::status::oldest_proof_s;

/// How the text begins, by which a file of metrics is recognised.
pub const METRICS_BEGINNING: &str = "# HELP steadfast_folder_status ";

/// A value with its labels.
type MetricSample = (Vec<(&'static str, String)>, i64);

/// Appends the metrics of all folders.
pub fn write_metrics(folders: &[FolderStatus], out: &mut Vec<u8>) {
    let mut metric = |name: &str, help: &str, of: &dyn Fn(&FolderStatus) -> Vec<MetricSample>| {
        let mut text = format!("# HELP {name} {help}\n# TYPE {name} gauge\n");
        for folder in folders {
            for (labels, value) in of(folder) {
                let path = folder.root.to_string_lossy().into_owned();
                let all = std::iter::once(("folder", path)).chain(labels);
                let labels: Vec<String> =
                    all.map(|(key, value)| format!("{key}=\"{}\"", escaped(&value))).collect();
                text.push_str(&format!("{name}{{{}}} {value}\n", labels.join(",")));
            }
        }
        out.extend_from_slice(text.as_bytes());
    };
    metric(
        "steadfast_folder_status",
        "Exit status: 0 fine, 1 modified, missing or overdue, 2 could not tell, 3 corrupt.",
        &|folder| one(i64::from(folder.exit_status().code())),
    );
    metric("steadfast_files", "Tagged files.", &|folder| fact(folder, |facts| facts.audit.tagged));
    metric("steadfast_bytes", "Bytes of the tagged files.", &|folder| {
        fact(folder, |facts| facts.audit.bytes)
    });
    metric("steadfast_never_proved_files", "Files that were never proved.", &|folder| {
        fact(folder, |facts| facts.audit.never.0)
    });
    metric("steadfast_proved_bytes", "Bytes that were proved within the cover.", &|folder| {
        fact(folder, |facts| facts.proved().1)
    });
    metric("steadfast_overdue", "Whether checks are overdue.", &|folder| {
        fact(folder, |facts| u64::from(folder.is_overdue(facts)))
    });
    metric("steadfast_oldest_check_timestamp_seconds", "The oldest last check.", &|folder| {
        let facts = facts_of(folder).and_then(oldest_proof_s);
        facts.map(one).unwrap_or_default()
    });
    metric("steadfast_open_failures", "Open failures, by state.", &|folder| {
        let Some(facts) = facts_of(folder) else { return Vec::new() };
        // Those with 0 too, so that an alarm about them ends.
        let fails = |state: &FileState| !matches!(state, FileState::Fine | FileState::Touched);
        let sample = |state: FileState| {
            (vec![("state", state.name().to_owned())], signed(facts.count(&[state])))
        };
        FileState::ALL.into_iter().filter(fails).map(sample).collect()
    });
    metric("steadfast_last_run_timestamp_seconds", "When its schedule last ran.", &|folder| {
        let run_s = folder.schedule.as_ref().and_then(|schedule| schedule.last_run_s);
        run_s.map(one).unwrap_or_default()
    });
    metric("steadfast_last_run_status", "Exit status of the last run.", &|folder| {
        let status = folder.schedule.as_ref().and_then(|schedule| schedule.last.status);
        status.map(|status| one(i64::from(status))).unwrap_or_default()
    });
    metric("steadfast_drive_errors", "What drives count of their own failures.", &|folder| {
        let remarks = folder.drives.iter().flat_map(|drive| {
            drive.findings.iter().map(|remark| {
                let labels = vec![("drive", drive.name.clone()), ("kind", remark.key.to_owned())];
                (labels, remark.count)
            })
        });
        let mut samples: Vec<MetricSample> = Vec::new();
        for (labels, count) in remarks {
            // Two devices of an array may count the same kind.
            match samples.iter_mut().find(|(known, _)| *known == labels) {
                Some((_, sum)) => *sum = sum.saturating_add(signed(count)),
                None => samples.push((labels, signed(count))),
            }
        }
        samples
    });
}

fn one(value: i64) -> Vec<MetricSample> {
    vec![(Vec::new(), value)]
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn facts_of(folder: &FolderStatus) -> Option<&FolderFacts> {
    folder.state.facts()
}

/// A number of a folder that could be judged.
fn fact(folder: &FolderStatus, value: impl Fn(&FolderFacts) -> u64) -> Vec<MetricSample> {
    facts_of(folder).map(|facts| one(signed(value(facts)))).unwrap_or_default()
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use steadfast::{FolderState, Notice};
    use steadfast_watch::{DriveFinding, DriveReport};

    use super::*;
    use crate::status::tests::scheduled;

    #[test]
    fn a_folder_is_told_with_its_labels() {
        let open = [(FileState::Corrupt, 2), (FileState::Differs, 1)].into();
        let facts = FolderFacts { open, ..crate::status::tests::facts_of(10, 9) };
        let remark = |count| DriveFinding {
            key: "btrfs_read",
            count,
            danger: false,
            text: "reads that failed".into(),
        };
        let state = FolderState::Known(Box::new(facts));
        let known = FolderStatus {
            schedule: Some(scheduled(|one| one.last.status = Some(3))),
            drives: vec![DriveReport {
                name: "btrfs".into(),
                model: None,
                sources: vec!["sysfs"],
                findings: vec![remark(2), remark(3)],
            }],
            ..FolderStatus::alone("/srv/\"my\" photos\n".into(), state)
        };
        let away = FolderState::NotThere(Notice::failure("no such folder"));
        let away = FolderStatus::alone("/mnt/usb".into(), away);
        let mut out = Vec::new();
        write_metrics(&[known, away], &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with(METRICS_BEGINNING), "{text}");
        for line in [
            "steadfast_folder_status{folder=\"/srv/\\\"my\\\" photos\\n\"} 3",
            "steadfast_folder_status{folder=\"/mnt/usb\"} 2",
            // Overdue although its state in a word is "trouble".
            "steadfast_overdue{folder=\"/srv/\\\"my\\\" photos\\n\"} 1",
            "steadfast_open_failures{folder=\"/srv/\\\"my\\\" photos\\n\",state=\"corrupt\"} 2",
            "steadfast_open_failures{folder=\"/srv/\\\"my\\\" photos\\n\",state=\"missing\"} 0",
            "steadfast_open_failures{folder=\"/srv/\\\"my\\\" photos\\n\",state=\"suspect\"} 0",
            "steadfast_open_failures{folder=\"/srv/\\\"my\\\" photos\\n\",state=\"differs\"} 1",
            "steadfast_last_run_status{folder=\"/srv/\\\"my\\\" photos\\n\"} 3",
            "steadfast_drive_errors{folder=\"/srv/\\\"my\\\" photos\\n\",drive=\"btrfs\",\
             kind=\"btrfs_read\"} 5",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("steadfast_files{folder=\"/mnt/usb\"}"), "{text}");
    }

    /// Returns the names of our metrics in a text.
    fn names_in(text: &str) -> BTreeSet<&str> {
        let parts = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        parts.filter(|part| part.starts_with("steadfast_")).collect()
    }

    #[test]
    fn rules_and_dashboard_name_metrics_that_exist() {
        let mut out = Vec::new();
        write_metrics(&[], &mut out);
        let text = String::from_utf8(out).unwrap();
        let metrics = names_in(&text);
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../share/monitoring");
        let read = |name: &str| std::fs::read_to_string(shared.join(name)).unwrap();
        let (rules, board) = (read("steadfast.rules.yml"), read("grafana.json"));
        let unknown: Vec<&str> = names_in(&rules).difference(&metrics).copied().collect();
        assert_eq!(unknown, [""; 0], "in the rules");
        assert_eq!(names_in(&board), metrics, "the dashboard shows each metric");
        let board: serde_json::Value = serde_json::from_str(&board).unwrap();
        let panels = board["panels"].as_array().unwrap();
        let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
        assert_eq!(ids.len(), panels.len(), "each panel has an id of its own");
        for panel in panels {
            let targets = panel["targets"].as_array().unwrap();
            let asks = |target: &serde_json::Value| target["expr"].as_str().is_some();
            assert!(!targets.is_empty() && targets.iter().all(asks), "{panel}");
        }
    }
}
