//! Jobs of a catalogue: what is due, judged by its tags, and entered there as one run.

use std::fs;
use std::time::Duration;

use steadfast::catalogue::{Catalogue, RunState};
use steadfast::{Options, Timestamp, Verdict};
use steadfast_fleet::{By, Catalogued, Size};

use crate::folder::{Folder, Heard};

/// A tagged tree with a catalogue.
fn catalogued() -> Folder {
    let folder = Folder::tagged(40);
    let options = Options::default();
    steadfast::run::init(&folder.tree(), None, &options, &mut Heard::default()).unwrap();
    folder
}

fn source(folder: &Folder, older_than: Option<Duration>, now: Timestamp) -> Catalogued {
    Catalogued::new(&folder.tree(), older_than, now).unwrap()
}

fn later(seconds: i64) -> Timestamp {
    let now = (Options::default().now)();
    Timestamp { seconds: now.seconds + seconds, ..now }
}

#[test]
fn a_job_is_one_run_of_the_catalogue() {
    let folder = catalogued();
    let mut due = source(&folder, None, later(0));
    let job = folder.plan_of("job", &mut due, Size::Shards(4)).unwrap().job;
    assert_eq!((job.by(), job.header().files), (By::Catalogue, 40));
    folder.corrupt("d1/f6");
    fs::remove_file(folder.tree().join("d0/f10")).unwrap();
    for shard in 0..job.header().shards {
        crate::folder::run_shard(&job, shard).unwrap();
    }
    let (merged, heard) = folder.merge(&job, false).unwrap();
    assert_eq!(merged.summary.exit_status(), 3, "{:?}", heard.notices);
    assert!(merged.summary.catalogued);
    let verdicts = |verdict| merged.summary.verdicts(verdict);
    assert_eq!((verdicts(Verdict::Intact), verdicts(Verdict::Corrupt)), (38, 1));
    assert_eq!(verdicts(Verdict::Missing), 1);
    let catalogue = Catalogue::open_reader(&folder.tree().join(".steadfast/catalogue.sqlite"));
    let catalogue = catalogue.unwrap();
    let runs = catalogue.runs(i64::MAX, 10).unwrap();
    assert_eq!(
        (runs[0].verb.as_str(), runs[0].state, runs[0].files),
        ("check", RunState::Whole, 39)
    );
    assert_eq!(runs[0].counts["corrupt"], 1);
    let audit = catalogue.audit(&[1], later(0)).unwrap();
    assert_eq!((audit.tagged, audit.windows[0].entries), (40, 38), "what was proved today");
}

#[test]
fn only_what_is_due_is_planned() {
    let folder = catalogued();
    let mut all = source(&folder, None, later(0));
    let first = folder.plan_of("first", &mut all, Size::Shards(2)).unwrap().job;
    folder.result(&first);
    let day = Some(Duration::from_secs(86_400));
    let mut none = source(&folder, day, later(0));
    assert_eq!(folder.plan_of("none", &mut none, Size::Shards(2)).unwrap().job.header().files, 0);
    let mut again = source(&folder, day, later(2 * 86_400));
    let again = folder.plan_of("again", &mut again, Size::Shards(2)).unwrap().job;
    assert_eq!(again.header().files, 40);
    let mut ages = Vec::new();
    again
        .each_shard(&mut |row| {
            ages.push(row.checked_s);
            Ok(())
        })
        .unwrap();
    assert!(ages.len() == 2 && ages.iter().all(Option::is_some), "{ages:?}");
}

#[test]
fn what_was_retagged_since_is_not_entered() {
    let folder = catalogued();
    let mut all = source(&folder, None, later(0));
    let job = folder.plan_of("job", &mut all, Size::Shards(2)).unwrap().job;
    fs::write(folder.tree().join("d1/f1"), "edited").unwrap();
    let selection =
        steadfast::Selection { roots: vec![folder.tree()], ..steadfast::Selection::default() };
    let options = Options::default();
    let update = steadfast::Verb::Update;
    steadfast::run::run(update, &selection, &options, &mut Heard::default()).unwrap();
    for shard in 0..job.header().shards {
        crate::folder::run_shard(&job, shard).unwrap();
    }
    let (merged, heard) = folder.merge(&job, false).unwrap();
    assert_eq!(merged.summary.verdicts(Verdict::Modified), 1);
    let told = heard.notices.iter().any(|notice| notice.starts_with("1 files have another tag"));
    assert!(told, "{:?}", heard.notices);
    let (checked, _) = {
        let mut heard = Heard::default();
        let check = steadfast::Verb::Check;
        let summary = steadfast::run::run(check, &selection, &options, &mut heard).unwrap();
        (summary, heard)
    };
    assert_eq!(checked.exit_status(), 0, "the catalogue still knows the newer tag");
}
