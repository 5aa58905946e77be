//! Catalogues of version 2: read as they are by who cannot write to them, and converted by a
//! writer, or left as they were.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use steadfast::catalogue::{
    Audit, Catalogue, CatalogueError, CatalogueErrorKind, History, ListedFile, LookupMatch,
};

use crate::catalogue::{moment, writer};
use crate::tree::Tree;

/// A later moment than that of any run of the sample.
const NOW: i64 = 1_800_000_000;

/// A tree with a catalogue that version 0.2.0 wrote: files that moved, were swapped, rotated,
/// overwritten, edited, damaged, missing and let go.
fn sample() -> (Tree, PathBuf) {
    let tree = Tree::new();
    let sample = "../../testdata/formats/catalogue/v2/history.sqlite";
    let contents = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(sample)).unwrap();
    let file = tree.write(".steadfast/catalogue.sqlite", contents);
    (tree, file)
}

fn version_of(file: &Path) -> i64 {
    let db = Connection::open(file).unwrap();
    db.query_row("PRAGMA user_version", (), |row| row.get(0)).unwrap()
}

/// All that a catalogue answers.
#[derive(Debug, PartialEq)]
struct Answers {
    files: Vec<ListedFile>,
    histories: Vec<History>,
    audit: Audit,
    failures: Vec<String>,
    matches: Vec<LookupMatch>,
}

fn answers(file: &Path) -> Result<Answers, CatalogueError> {
    let catalogue = Catalogue::open_reader(file)?;
    let mut files = Vec::new();
    catalogue.files(None, &mut |file| {
        files.push(file);
        ControlFlow::Continue(())
    })?;
    let gone = ["a/f4", "a/f6", "b/c/deep", "logs/log.2"].map(PathBuf::from);
    let paths = files.iter().map(|file| file.path.clone()).chain(gone);
    let histories = paths.map(|path| catalogue.history(&path)).collect::<Result<Vec<_>, _>>()?;
    let mut failures = Vec::new();
    catalogue.failures(&mut |failure| {
        failures.push(format!("{failure:?}"));
        ControlFlow::Continue(())
    })?;
    let mut matches = Vec::new();
    let digests: Vec<_> = histories.iter().filter_map(|it| it.now.as_ref()?.tag).collect();
    let digests: Vec<_> = digests.iter().map(|tag| tag.digest).collect();
    catalogue.look_up(&digests, &[], &mut |found| {
        matches.push(found);
        ControlFlow::Continue(())
    })?;
    matches.sort_by(|one, two| one.path.cmp(&two.path));
    let audit = catalogue.audit(&[1, 30], moment(NOW))?;
    Ok(Answers { files, histories, audit, failures, matches })
}

#[test]
fn a_converted_catalogue_answers_as_it_did() {
    let (_tree, file) = sample();
    let before = answers(&file).unwrap();
    assert!(before.files.len() > 10 && before.matches.len() > 10 && !before.failures.is_empty());
    let events = before.histories.iter().flat_map(|it| &it.runs).flat_map(|run| &run.happened);
    assert!(events.count() > 15);
    assert_eq!(version_of(&file), 2, "who reads changes nothing");
    drop(Catalogue::open_writer(&file, &writer(NOW)).unwrap());
    assert_eq!(version_of(&file), 3);
    assert_eq!(answers(&file).unwrap(), before);
    let reader = Catalogue::open_reader(&file).unwrap();
    assert_eq!(reader.verify().unwrap().problems, [""; 0]);
    // Its tables are those of a catalogue that was made anew.
    drop(Catalogue::open_writer(&file, &writer(NOW)).unwrap());
}

#[test]
fn a_catalogue_that_cannot_be_written_is_read_as_it_is() {
    let (_tree, file) = sample();
    let (before, whole) = (answers(&file).unwrap(), fs::read(&file).unwrap());
    let folder = file.parent().unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    let after = answers(&file);
    let verified = Catalogue::open_reader(&file).and_then(|catalogue| catalogue.verify());
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(after.unwrap(), before);
    assert_eq!(verified.unwrap().problems, [""; 0]);
    assert_eq!(fs::read(&file).unwrap(), whole);
}

#[test]
fn damage_is_never_sealed_anew() {
    let (_tree, file) = sample();
    let (before, whole) = (answers(&file).unwrap(), fs::read(&file).unwrap());
    let (mut refused, mut harmless) = (0, 0);
    for at in (4096..whole.len()).step_by(61) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x15;
        for part in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{part}", file.display()));
        }
        fs::write(&file, &damaged).unwrap();
        // Tables that are not converted may have it, and are found damaged as before.
        let is_found = answers(&file).is_err();
        match Catalogue::open_writer(&file, &writer(NOW)) {
            Ok(catalogue) => {
                drop(catalogue);
                match answers(&file) {
                    Ok(after) => assert!(!is_found && after == before, "byte {at}"),
                    Err(error) => assert!(is_found, "byte {at}: {error}"),
                }
                harmless += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), CatalogueErrorKind::Damaged, "byte {at}: {error}");
                drop(Connection::open(&file));
                assert!(fs::read(&file).unwrap() == damaged, "byte {at}: it stays as it was");
                refused += 1;
            }
        }
    }
    assert!(refused > 50 && harmless > 50, "{refused} refused, {harmless} harmless");
}

#[test]
fn a_row_that_fits_no_seal_stops_the_conversion_and_the_rest_is_read() {
    for statement in [
        "UPDATE entries SET digest = zeroblob(32) WHERE name = CAST('f2' AS BLOB)",
        "UPDATE entries SET proved_run = 7 WHERE name = CAST('f2' AS BLOB)",
        "UPDATE belongings SET mode = 511 WHERE name = CAST('f2' AS BLOB)",
        "UPDATE belongings SET mode = 511 WHERE name = x''",
        "UPDATE events SET standing = 0 WHERE standing = 6",
        "DELETE FROM entries WHERE name = CAST('f2' AS BLOB)",
        "DELETE FROM events WHERE what = 'moved to'",
        "INSERT INTO entries SELECT 99, name, length, mtime_ns, ctime_ns, inode, algorithm, \
         digest, tagged_s, tag_length, tag_mtime_ns, standing, first_run, checked_run, proved_run \
         FROM entries LIMIT 1",
    ] {
        let (_tree, file) = sample();
        let db = Connection::open(&file).unwrap();
        assert!(db.execute(statement, ()).unwrap() > 0);
        db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        drop(db);
        let refused = Catalogue::open_writer(&file, &writer(NOW)).map(|_| ()).unwrap_err();
        assert_eq!(refused.kind(), CatalogueErrorKind::Damaged, "{statement}: {refused}");
        assert_eq!(version_of(&file), 2, "{statement}");
        let reader = Catalogue::open_reader(&file).unwrap();
        let verified = reader.verify();
        assert!(verified.map_or(true, |found| !found.is_sound()), "{statement}");
        assert!(reader.tag(Path::new("b/moved4")).unwrap().is_some(), "{statement}");
    }
}
