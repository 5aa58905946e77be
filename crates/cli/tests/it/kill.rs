//! A command that is killed at any moment: every tag it leaves is absent, the old one whole, or the
//! new one and true; the next run finishes the work.
//!
//! In: rounds of `tag` and `update`, each killed after a delay spread over a full run's time. Out:
//! the stored tags and verdicts, asked of the library.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use steadfast::{Event, FileEvent, Monitor, Options, Selection, Summary, Tag, Verb, Verdict};
use tempfile::TempDir;

const FILES: usize = 600;

const TAG_ROUNDS: usize = 100;

/// More of these: a kill between two writes to one file is what they wait for.
const UPDATE_ROUNDS: usize = 200;

/// Rounds after which a run may finish what the killed ones left.
const ROUNDS_PER_FINISH: usize = 20;

/// Of so many rounds one must have been cut in the middle, or the test shows nothing.
const ROUNDS_PER_CUT: usize = 20;

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

#[derive(Default)]
struct Listener {
    files: Vec<FileEvent>,
}

impl Monitor for Listener {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let Event::File(file) = event {
            self.files.push((**file).clone());
        }
        ControlFlow::Continue(())
    }
}

/// What is known of one file before a round.
struct Known {
    path: PathBuf,
    /// How often it was edited; its contents begin with that number.
    edits: u64,
    tag: Option<Tag>,
}

/// A tree, and what is known of it between rounds.
struct Round {
    folder: TempDir,
    random: Random,
    files: Vec<Known>,
    /// The shortest time of a run that was not killed.
    full: Duration,
}

impl Round {
    fn new(seed: u64) -> Round {
        // Beside the build, where attributes work; the system's own folder may be in memory.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut random = Random(seed);
        let mut files = Vec::new();
        for number in 0..FILES {
            let path = folder.path().join(format!("{:02}/{number:03}", number / 20));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // Mostly small: then the larger part of the time goes to the tags.
            let len = match number % 100 {
                7 => 1_200_000,
                30..36 => 100_000,
                _ => 200,
            };
            let len = len + random.below(2_000) as usize;
            fs::write(&path, vec![number as u8; len]).unwrap();
            files.push(Known { path, edits: 0, tag: None });
        }
        Round { folder, random, files, full: Duration::MAX }
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(crate::tree::PROGRAM);
        command.arg(verb).arg(self.folder.path()).arg("--quiet");
        command.args((verb == "update").then_some("--accept-many"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn library(&self, verb: Verb) -> (Summary, Vec<FileEvent>) {
        let roots = vec![self.folder.path().to_owned()];
        let selection = Selection::of(roots);
        let mut listener = Listener::default();
        // A kill may come before the first tag.
        let options = Options::default().with(|options| options.allow_empty = true);
        let summary = steadfast::unguarded::run(verb, &selection, &options, &mut listener).unwrap();
        assert_eq!(listener.files.len(), FILES);
        (summary, listener.files)
    }

    /// Runs a verb to its end.
    fn finish(&mut self, verb: &str) {
        let start = Instant::now();
        let status = self.command(verb).status().unwrap();
        self.full = self.full.min(start.elapsed());
        assert!(status.success(), "{verb}: {status}");
    }

    /// Runs a verb and kills it somewhere on its way; says whether it was still running.
    fn kill(&mut self, verb: &str) -> bool {
        let span = self.full.as_nanos() as u64 * 11 / 10;
        let delay = Duration::from_nanos(self.random.below(span));
        let mut child = self.command(verb).spawn().unwrap();
        let (_never, nothing) = mpsc::channel::<()>();
        let _ = nothing.recv_timeout(delay);
        child.kill().unwrap();
        !child.wait().unwrap().success()
    }

    /// Edits about half of the files.
    fn edit(&mut self) {
        for known in &mut self.files {
            if self.random.below(2) == 0 {
                // In place: file systems write out a truncated file at once, and this is many.
                let file = fs::File::options().write(true).open(&known.path).unwrap();
                let mtime = file.metadata().unwrap().modified().unwrap();
                known.edits += 1;
                file.write_all_at(&known.edits.to_le_bytes(), 0).unwrap();
                file.set_modified(mtime + Duration::from_secs(60)).unwrap();
            }
        }
    }

    fn remove_tags(&mut self) {
        assert_eq!(self.library(Verb::Untag).0.exit_status().code(), 0);
    }
}

/// Whether some files were done and some were not: the kill fell in the middle of the work.
fn is_cut(done: usize, of: usize) -> bool {
    0 < done && done < of
}

fn assert_cuts(cuts: usize, rounds: usize) {
    let enough = cuts * ROUNDS_PER_CUT >= rounds;
    assert!(enough, "only {cuts} of {rounds} kills fell in the middle of the work");
}

#[test]
fn a_killed_tag_leaves_each_file_with_a_true_tag_or_none() {
    let mut round = Round::new(0x5eed_0001);
    round.finish("tag");
    let mut cuts = 0;
    for number in 1..=TAG_ROUNDS {
        round.remove_tags();
        let killed = round.kill("tag");
        let (summary, _) = round.library(Verb::check());
        let intact = summary.verdicts(Verdict::Intact) as usize;
        let untagged = summary.verdicts(Verdict::Untagged) as usize;
        assert_eq!((intact + untagged, summary.exit_status().code()), (FILES, 0), "round {number}");
        assert!(killed || untagged == 0, "round {number}: it ended and left files untagged");
        cuts += usize::from(is_cut(intact, FILES));
        if number % ROUNDS_PER_FINISH == 0 {
            round.finish("tag");
            let (summary, _) = round.library(Verb::check());
            assert_eq!(summary.verdicts(Verdict::Intact), FILES as u64);
            round.remove_tags();
            round.finish("tag");
        }
    }
    assert_cuts(cuts, TAG_ROUNDS);
}

#[test]
fn a_killed_update_leaves_the_old_tag_or_the_new_one_with_the_old_beside_it() {
    let mut round = Round::new(0x5eed_0002);
    round.finish("tag");
    round.full = Duration::MAX;
    round.edit();
    round.finish("update");
    let mut cuts = 0;
    note_tags(&mut round);
    for number in 1..=UPDATE_ROUNDS {
        round.edit();
        let killed = round.kill("update");
        let (summary, checked) = round.library(Verb::check());
        let (_, shown) = round.library(Verb::Show);
        assert_eq!(summary.verdicts(Verdict::Corrupt), 0, "round {number}");
        let (mut modified, mut replaced) = (0, 0);
        for ((known, check), show) in round.files.iter_mut().zip(&checked).zip(&shown) {
            assert_eq!(check.path.to_path(), known.path);
            let (old, new) = (known.tag, show.stored);
            match check.verdict {
                Some(Verdict::Modified) => {
                    assert_eq!(new, old, "round {number}: the old tag stands");
                    modified += 1;
                }
                Some(Verdict::Intact) if new != old => {
                    assert_eq!(
                        show.previous.as_deref().copied(),
                        old,
                        "round {number}: one step back is kept"
                    );
                    replaced += 1;
                }
                verdict => assert_eq!(verdict, Some(Verdict::Intact), "round {number}"),
            }
            known.tag = new;
        }
        assert!(killed || modified == 0, "round {number}: it ended and left files modified");
        cuts += usize::from(is_cut(replaced, replaced + modified));
        if number % ROUNDS_PER_FINISH == 0 {
            round.finish("update");
            let (summary, _) = round.library(Verb::check());
            assert_eq!(summary.verdicts(Verdict::Intact), FILES as u64);
            note_tags(&mut round);
        }
    }
    assert_cuts(cuts, UPDATE_ROUNDS);
}

/// Takes the stored tags as what is known.
fn note_tags(round: &mut Round) {
    let (_, shown) = round.library(Verb::Show);
    for (known, show) in round.files.iter_mut().zip(&shown) {
        known.tag = show.stored;
        assert!(known.tag.is_some());
    }
}
