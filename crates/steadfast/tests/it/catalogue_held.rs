//! A catalogue is reached through its open folder, and nobody who may only read stops a run.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use steadfast::catalogue::{Catalogue, CatalogueErrorKind, LockRequest};
use steadfast_sys::file::Dir;
use steadfast_sys::sqlite::HeldDatabase;
use steadfast_testing::{Need, skip};

use crate::catalogue::{Garden, writer};
use crate::tree::Tree;

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Opens a database through its folder.
fn held(folder: &Path, writes: bool) -> (Connection, HeldDatabase) {
    let dir = Arc::new(Dir::open(folder).unwrap());
    let held = HeldDatabase::new(&dir, OsStr::new("x.sqlite"), writes);
    let access = match writes {
        true => OpenFlags::SQLITE_OPEN_READ_WRITE,
        false => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    (Connection::open_with_flags_and_vfs(held.path(), flags, c"unix-excl").unwrap(), held)
}

const BEGIN: &str = "PRAGMA journal_mode = MEMORY; PRAGMA journal_mode = WAL; CREATE TABLE t (x);";

#[test]
fn a_folder_that_is_exchanged_leads_sqlite_nowhere() {
    let tree = Tree::new();
    tree.write("folder/x.sqlite", "");
    fs::create_dir(tree.at("outside")).unwrap();
    let given = chown(tree.at("folder/x.sqlite"), Some(54_321), None).is_ok();
    let (db, _held) = held(&tree.at("folder"), true);
    fs::rename(tree.at("folder"), tree.at("moved")).unwrap();
    symlink(tree.at("outside"), tree.at("folder")).unwrap();
    db.execute_batch(BEGIN).unwrap();
    assert_eq!(names(&tree.at("outside")), [""; 0]);
    assert_eq!(names(&tree.at("moved")), ["x.sqlite", "x.sqlite-wal"], "and no shared memory");
    match given {
        true => assert_eq!(fs::metadata(tree.at("moved/x.sqlite-wal")).unwrap().uid(), 0),
        false => skip(Need::Root, "the database cannot be given to another user"),
    }
}

#[test]
fn sqlite_opens_nothing_that_is_planted_meanwhile() {
    for (name, kind) in
        [("-wal", "hard link"), ("-wal", "link"), ("-wal", "folder"), ("-journal", "file")]
    {
        let tree = Tree::new();
        let place = tree.write("folder/x.sqlite", "").with_file_name(format!("x.sqlite{name}"));
        let victim = tree.write("victim", "kept");
        held(&tree.at("folder"), true).0.execute_batch(BEGIN).unwrap();
        let (db, _held) = held(&tree.at("folder"), true);
        match kind {
            "hard link" => fs::hard_link(&victim, &place).unwrap(),
            "link" => symlink(&victim, &place).unwrap(),
            "folder" => fs::create_dir(&place).unwrap(),
            _ => fs::write(&place, "not a journal").unwrap(),
        }
        let done = db.execute_batch("INSERT INTO t VALUES (1)");
        // A journal is not even looked for.
        assert_eq!(done.is_ok(), name == "-journal", "{kind} at {name}: {done:?}");
        assert_eq!(fs::read(&victim).unwrap(), b"kept", "{kind} at {name}");
        assert!(place.symlink_metadata().is_ok(), "{kind} at {name}");
    }
}

#[test]
fn reading_makes_nothing_and_is_never_in_the_way() {
    let garden = Garden::planted(&["a", "b"]);
    let folder = garden.file.parent().unwrap();
    let rest = ["catalogue.sqlite", "catalogue.sqlite.lock", "catalogue.sqlite.readers"];
    assert_eq!(names(folder), rest);
    let reader = garden.reader();
    assert_eq!(names(folder), rest);
    let catalogue = Catalogue::open_writer(&garden.file, &writer(garden.now)).unwrap();
    assert_eq!(names(folder), [rest[0], "catalogue.sqlite-wal", rest[1], rest[2]]);
    // The log stays as long as somebody reads, and has all.
    drop(catalogue);
    assert!(names(folder).contains(&"catalogue.sqlite-wal".to_owned()));
    assert_eq!((reader.entries().unwrap(), garden.reader().entries().unwrap()), (2, 2));
    drop(reader);
    drop(Catalogue::open_writer(&garden.file, &writer(garden.now)).unwrap());
    assert_eq!(names(folder), rest);
}

#[test]
fn who_may_only_read_stops_no_run() {
    let garden = Garden::planted(&["a"]);
    let beside = |suffix: &str| garden.file.with_file_name(format!("catalogue.sqlite{suffix}"));
    let set =
        |mode| fs::set_permissions(beside(".lock"), fs::Permissions::from_mode(mode)).unwrap();
    let at_once = || {
        let request = LockRequest { wait: None, ..writer(garden.now) };
        Catalogue::open_writer(&garden.file, &request)
    };
    // A lock of an earlier version, which everybody may open, and which somebody holds. The process
    // that it names ended long ago.
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    fs::write(beside(".lock"), format!("{} 1700000000 init\n", child.id())).unwrap();
    set(0o644);
    let lock = fs::File::open(beside(".lock")).unwrap();
    lock.lock().unwrap();
    drop(at_once().unwrap());
    for suffix in [".lock", ".readers"] {
        let mode = fs::metadata(beside(suffix)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{suffix}: nobody else can open it");
    }
    // One that a process holds which lives.
    let held = at_once().unwrap();
    assert_eq!(at_once().unwrap_err().kind(), CatalogueErrorKind::InUse);
    drop(held);
    // The database itself, as every reader can lock it.
    let database = fs::File::open(&garden.file).unwrap();
    rustix::fs::fcntl_lock(&database, rustix::fs::FlockOperation::NonBlockingLockShared).unwrap();
    drop(at_once().unwrap());
    // A group that may write to the catalogue may take its lock.
    fs::set_permissions(&garden.file, fs::Permissions::from_mode(0o664)).unwrap();
    drop(at_once().unwrap());
    let mode = fs::metadata(beside(".lock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
}

#[test]
fn a_schema_that_is_not_ours_by_its_whole_text_is_refused() {
    let trigger = "AFTER UPDATE ON slices BEGIN DELETE FROM files; END";
    let row = |kind: &str, name: &str, table: &str, text: &str| {
        format!(
            "INSERT INTO sqlite_schema VALUES ('{kind}', '{name}', '{table}', 0, \
             'CREATE {kind} {name} {text}')"
        )
    };
    let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000) \
        INSERT INTO sqlite_schema SELECT 'view', 'v' || i, 'v' || i, 0, \
        'CREATE VIEW v' || i || ' AS SELECT 1' FROM n";
    let long = format!("AS SELECT {}1", "1,".repeat(30_000));
    let cases = [
        row("trigger", "sqliteXt", "slices", trigger),
        row("trigger", "sqlite_t", "slices", trigger),
        format!("CREATE TRIGGER sqlitet {trigger}"),
        "CREATE INDEX sqlitei ON files (abs(inode))".to_owned(),
        "ANALYZE".to_owned(),
        "UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'events'".to_owned(),
        "UPDATE sqlite_schema SET name = 'event' WHERE name = 'events'".to_owned(),
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema \
            WHERE name = 'events') WHERE name = 'coverage'"
            .to_owned(),
        many.to_owned(),
        row("view", "v", "v", &long),
    ];
    for statement in cases {
        let garden = Garden::planted(&["a"]);
        let db = Connection::open(&garden.file).unwrap();
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
        db.execute_batch("PRAGMA writable_schema = ON").unwrap();
        db.execute_batch(&statement).unwrap();
        drop(db);
        let refused = Catalogue::open_reader(&garden.file).map(|_| ()).unwrap_err();
        assert_eq!(refused.kind(), CatalogueErrorKind::Damaged, "{statement}: {refused}");
        let refused = Catalogue::open_writer(&garden.file, &writer(1)).map(|_| ()).unwrap_err();
        assert_eq!(refused.kind(), CatalogueErrorKind::Damaged, "{statement}: {refused}");
    }
}

#[test]
fn a_journal_beside_a_catalogue_is_refused() {
    let garden = Garden::planted(&["a"]);
    fs::write(garden.file.with_extension("sqlite-journal"), "any").unwrap();
    let refused = Catalogue::open_reader(&garden.file).unwrap_err();
    assert_eq!(refused.kind(), CatalogueErrorKind::Planted, "{refused}");
    assert!(refused.to_string().contains("-journal` is not used"), "{refused}");
}
