//! Jobs of a catalogue: what is due, judged by its tags, and entered there as one run.

use std::fs;
use std::time::Duration;

use steadfast::catalogue::{Catalogue, DueOptions, FileState, RunState};
use steadfast::{Options, Origin, ReadFrom, Timestamp, Verdict};
use steadfast_fleet::{By, CatalogueSource, Job, Size};

use crate::folder::{Folder, Heard, run_shard, run_with};

/// A tagged tree with a catalogue.
fn catalogued() -> Folder {
    let folder = Folder::tagged(40);
    let options = crate::folder::usual();
    let _ = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([&folder.tree()]),
        options.clone(),
    )
    .run(&mut Heard::default())
    .unwrap();
    folder
}

fn source(folder: &Folder, older_than: Option<Duration>, now: Timestamp) -> CatalogueSource {
    CatalogueSource::new(&folder.tree(), older_than, now).unwrap()
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
    assert_eq!(merged.summary.exit_status().code(), 3, "{:?}", heard.notices);
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
    assert_eq!(audit.standings[&FileState::Missing], 1);
    let history = catalogue.history("d0/f10".as_ref()).unwrap();
    assert_eq!(history.runs.last().unwrap().verdict, Some(Verdict::Missing));
    let missing = heard.files.iter().filter(|file| file.verdict == Some(Verdict::Missing));
    assert_eq!(
        (missing.count(), merged.summary.counts.findings.get("missing").copied().unwrap_or(0)),
        (1, 0),
        "told once"
    );
    // What was missing, and was back when the parts were merged, is not entered.
    let again = catalogued();
    let mut due = source(&again, None, later(0));
    let job = again.plan_of("job", &mut due, Size::Shards(1)).unwrap().job;
    fs::rename(again.tree().join("d0/f10"), again.path("away")).unwrap();
    run_shard(&job, 0).unwrap();
    fs::rename(again.path("away"), again.tree().join("d0/f10")).unwrap();
    again.merge(&job, false).unwrap();
    assert_eq!(opened(&again).audit(&[1], later(0)).unwrap().standings.len(), 0);
}

fn opened(folder: &Folder) -> Catalogue {
    Catalogue::open_reader(&folder.tree().join(".steadfast/catalogue.sqlite")).unwrap()
}

fn ten_days_ago() -> Timestamp {
    later(-10 * 86_400)
}

/// A job whose parts were made ten days ago.
fn old_job(folder: &Folder) -> Job {
    let mut all = source(folder, None, ten_days_ago());
    let job = folder.plan_of("job", &mut all, Size::Shards(4)).unwrap().job;
    let options = crate::folder::usual().with(|options| options.now = ten_days_ago);
    for shard in 0..4 {
        run_with(&job, shard, &options).unwrap();
    }
    job
}

#[test]
fn a_merge_proves_no_more_than_its_parts_did() {
    let folder = catalogued();
    let job = old_job(&folder);
    let runs = || opened(&folder).runs(i64::MAX, 100).unwrap();
    let before = runs().len();
    folder.merge(&job, false).unwrap();
    let started = runs()[0].started.seconds;
    assert!((ten_days_ago().seconds - started).abs() < 100, "{started}");
    let audit = opened(&folder).audit(&[1, 30], later(0)).unwrap();
    assert_eq!((audit.windows[0].entries, audit.windows[1].entries), (0, 40));
    let due = DueOptions::default().with(|options| options.older_than_s = Some(86_400));
    assert_eq!(opened(&folder).due(&due, later(0)).unwrap().total().0, 40);
    let (_, heard) = folder.merge(&job, false).unwrap();
    assert!(heard.notices.contains(&"40 files entered by an earlier merge".to_owned()));
    assert_eq!(runs().len(), before + 1, "a job is entered once");
}

#[test]
fn what_was_judged_since_stays_as_it_was_judged() {
    let folder = catalogued();
    let job = old_job(&folder);
    folder.corrupt("d1/f6");
    fs::remove_file(folder.tree().join("d2/f7")).unwrap();
    let check = |folder: &Folder| {
        let roots = vec![folder.tree()];
        let selection = steadfast::Selection::of(roots);
        let options = crate::folder::usual();
        let check = steadfast::Verb::check();
        steadfast::unguarded::run(check, &selection, &options, &mut Heard::default()).unwrap()
    };
    assert_eq!(check(&folder).exit_status().code(), 3);
    let (_, heard) = folder.merge(&job, false).unwrap();
    let standings = opened(&folder).audit(&[1], later(0)).unwrap().standings;
    assert_eq!((standings[&FileState::Corrupt], standings[&FileState::Missing]), (1, 1));
    let words = "40 files judged by another run since: what the job found is not entered";
    assert!(heard.notices.contains(&words.to_owned()), "{:?}", heard.notices);
}

#[test]
fn a_job_is_read_from_media_if_all_of_it_was() {
    let folder = catalogued();
    let mut all = source(&folder, None, later(0));
    let job = folder.plan_of("job", &mut all, Size::Shards(2)).unwrap().job;
    run_with(
        &job,
        0,
        &crate::folder::usual().with(|options| options.reading.from = ReadFrom::Media),
    )
    .unwrap();
    run_shard(&job, 1).unwrap();
    folder.merge(&job, false).unwrap();
    assert_eq!(opened(&folder).runs(i64::MAX, 1).unwrap()[0].read_from, Some(Origin::Cache));
}

#[test]
fn a_shard_with_a_file_that_was_never_judged_comes_first() {
    let folder = catalogued();
    let roots = vec![folder.tree().join("d1")];
    let selection = steadfast::Selection::of(roots);
    let check = steadfast::Verb::check();
    let _ = steadfast::unguarded::run(
        check,
        &selection,
        &crate::folder::usual(),
        &mut Heard::default(),
    )
    .unwrap();
    let mut all = source(&folder, None, later(0));
    let job = folder.plan_of("job", &mut all, Size::Shards(1)).unwrap().job;
    let mut ages = Vec::new();
    job.each_shard(&mut |row| {
        ages.push(row.checked_s);
        Ok(())
    })
    .unwrap();
    assert_eq!(ages, [None]);
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
    let selection = steadfast::Selection::of([folder.tree()]);
    let options = crate::folder::usual();
    let update = steadfast::Verb::update();
    let _ = steadfast::unguarded::run(update, &selection, &options, &mut Heard::default()).unwrap();
    for shard in 0..job.header().shards {
        crate::folder::run_shard(&job, shard).unwrap();
    }
    let (merged, heard) = folder.merge(&job, false).unwrap();
    assert_eq!(merged.summary.verdicts(Verdict::Modified), 1);
    let told = heard.notices.iter().any(|notice| notice.starts_with("1 file with another tag"));
    assert!(told, "{:?}", heard.notices);
    let (checked, _) = {
        let mut heard = Heard::default();
        let check = steadfast::Verb::check();
        let summary = steadfast::unguarded::run(check, &selection, &options, &mut heard).unwrap();
        (summary, heard)
    };
    assert_eq!(checked.exit_status().code(), 0, "the catalogue still knows the newer tag");
}
