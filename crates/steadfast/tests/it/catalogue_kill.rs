//! A writer that is killed at any moment: what it had stored is there, and nothing is damaged.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use steadfast::catalogue::{Catalogue, Observation, RunScope, RunStart};
use steadfast::tag::TagPlace;
use steadfast::{Action, Algorithm, Digest, Tag};
use steadfast::{FilePath, Origin, Subject, VerbKind};
use steadfast_sys::file::{FileKind, Status};

use crate::catalogue::{moment, writer};
use crate::tree::Tree;

/// Tells the test's own binary to be the writer, in this tree.
const TREE: &str = "STEADFAST_TEST_WRITER_TREE";

/// The number of the round: what the writer's tags say.
const ROUND: &str = "STEADFAST_TEST_WRITER_ROUND";

const DIRECTORIES: usize = 6;
const FILES: usize = 40;

fn path_of(directory: usize, file: usize) -> PathBuf {
    PathBuf::from(format!("d{directory}/f{file:03}"))
}

fn tag_of(round: i64, file: usize) -> Tag {
    Tag {
        algorithm: Algorithm::Blake3,
        digest: Digest::from_slice(&[file as u8; 32]).unwrap(),
        length: 10,
        mtime: moment(5),
        tagged: moment(round),
    }
}

/// The writer: gives every file a tag of its round, over and over, and prints what is stored.
#[test]
#[ignore = "the test that kills it starts it"]
fn writer_that_is_killed() {
    let tree = PathBuf::from(std::env::var_os(TREE).unwrap());
    let round: i64 = std::env::var(ROUND).unwrap().parse().unwrap();
    let file = Catalogue::find(&tree).unwrap();
    let catalogue = Catalogue::open_writer(&file, &writer(round)).unwrap();
    let scope = RunScope::whole(&tree);
    let begin = RunStart {
        verb: VerbKind::Update,
        read_from: Some(Origin::Cache),
        backend: "test x1",
        now: moment(round),
        accepts: true,
    };
    let mut recorder = catalogue.recorder(scope, &begin).unwrap();
    let mut seconds = round;
    for directory in 0..DIRECTORIES {
        let parent: Arc<Path> = Arc::from(tree.join(format!("d{directory}")));
        for file in 0..FILES {
            let name = path_of(directory, file).file_name().unwrap().to_owned();
            let path = FilePath { parent: Arc::clone(&parent), name };
            let observation = Observation {
                path: &path,
                subject: Subject::File,
                status: Some(status(file)),
                verdict: None,
                action: Some(Action::Tagged),
                stored: None,
                actual: Some(tag_of(round, file)),
                place: TagPlace::CatalogueAlone,
                attributes: None,
            };
            recorder.observe(&observation, &mut |_| {}).unwrap();
        }
        // It is time to commit by then, however long the last flush took.
        seconds += 61;
        recorder.tick(moment(seconds)).unwrap();
        // What is in the deepest directory is settled when the walk leaves it.
        println!("stored {directory}");
    }
    recorder.finish(true, moment(seconds), &mut |_| {}).unwrap();
    println!("stored {DIRECTORIES}");
}

fn status(file: usize) -> Status {
    Status {
        device: 1,
        inode: file as u64,
        kind: FileKind::Regular,
        length: 10,
        links: 1,
        mtime: moment(5),
        ctime: moment(6),
        mode: 0o644,
        uid: 0,
        gid: 0,
        dataless: false,
    }
}

fn start(tree: &Path, round: i64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["catalogue_kill::writer_that_is_killed", "--exact", "--ignored", "--nocapture"])
        .env(TREE, tree)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_writer_killed_at_any_moment_loses_nothing_that_it_had_stored() {
    let tree = Tree::new();
    for directory in 0..DIRECTORIES {
        for file in 0..FILES {
            tree.write(path_of(directory, file), "");
        }
    }
    let root = tree.path().canonicalize().unwrap();
    let file = {
        let catalogue = Catalogue::create(&root, None, &writer(0)).unwrap();
        catalogue.file().to_owned()
    };
    let mut killed_under_way = 0;
    for round in 1..=200_i64 {
        let mut child = start(&root, round);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // As many lines as this round is due to hear, and a moment that differs each time.
        let wanted = round as usize % (DIRECTORIES + 2);
        let mut stored = None;
        for line in lines.by_ref().map(Result::unwrap) {
            if let Some((_, count)) = line.rsplit_once("stored ") {
                stored = Some(count.parse::<usize>().unwrap());
            }
            if stored.map_or(0, |count| count + 1) >= wanted {
                break;
            }
        }
        let spins = (round as u64).wrapping_mul(0x9e37_79b9) % 400_000;
        (0..spins).for_each(|spin| {
            std::hint::black_box(spin);
        });
        child.kill().unwrap();
        let rest = lines.map_while(Result::ok);
        let heard = rest.filter_map(|line| line.rsplit_once("stored ")?.1.parse().ok());
        stored = heard.max().or(stored);
        killed_under_way += u32::from(!child.wait().unwrap().success());
        let catalogue = Catalogue::open_writer(&file, &writer(round)).unwrap();
        assert_eq!(catalogue.verify().unwrap().problems, [""; 0], "round {round}");
        for directory in 0..stored.unwrap_or(0).min(DIRECTORIES) {
            for file in 0..FILES {
                let tag = catalogue.tag(&path_of(directory, file)).unwrap();
                assert_eq!(tag, Some(tag_of(round, file)), "round {round}");
            }
        }
    }
    assert!(killed_under_way > 100, "{killed_under_way} were killed before their end");
}
