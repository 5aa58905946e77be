//! Damaged and planted catalogues, full disks, media that cannot be written: recognised or
//! harmless, never a panic, never a wrong verdict.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use steadfast::catalogue::{Catalogue, CatalogueErrorKind, DueOptions, RunScope, RunStart};
use steadfast::known::{KnownResult, KnownWord, known};
use steadfast::monitor::{NoticeMonitor, ResultMonitor};
use steadfast::{Notice, Origin, Run, Selection, Verb, VerbKind, Verdict};

use crate::catalogue::{Garden, Way, moment, writer};
use crate::catalogue_trouble::{Told, catalogued, told};
use crate::image::{Image, TMPFS};
use crate::tree::Tree;

/// Makes numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % below
    }
}

/// A tree with something of everything in its catalogue.
fn meadow() -> Garden {
    let names: Vec<String> = (0..60).map(|n| format!("d{}/e{}/f{n:02}", n % 3, n % 5)).collect();
    let mut garden = Garden::planted(&names.iter().map(String::as_str).collect::<Vec<_>>());
    garden.tree.corrupt("d0/e0/f00", "x");
    garden.tree.touch("d1/e1/f01");
    garden.remove("d2/e2/f02");
    garden.tree.write("d0/untagged", "u");
    garden.rename("d1/e4/f04", "d1/moved");
    garden.check();
    garden.run(&Way { verb: "check", stop_after: Some(20), ..Way::default() });
    garden
}

/// Everything that can be asked, as text; `Err` names the kind.
fn asked(file: &Path, now: i64) -> Result<Vec<String>, CatalogueErrorKind> {
    let kind = |error: steadfast::catalogue::CatalogueError| error.kind();
    let open = || Catalogue::open_reader(file).map_err(kind);
    let catalogue = open()?;
    let mut told = Vec::new();
    for path in ["d0/e0/f00", "d2/e2/f02", "d1/moved", "d0/untagged", "d1/e4/f04", "d0/e3/f03"] {
        told.push(format!("{:?}", catalogue.history(Path::new(path)).map_err(kind)?));
    }
    told.push(format!("{:?}", catalogue.audit(&[1, 30], moment(now)).map_err(kind)?));
    let mut visit = |failure| {
        told.push(format!("{failure:?}"));
        ControlFlow::Continue(())
    };
    catalogue.failures(&mut visit).map_err(kind)?;
    let mut due = open()?.due(&DueOptions::default(), moment(now)).map_err(kind)?;
    while let Some(entry) = due.next().map_err(kind)? {
        told.push(format!("{entry:?}"));
    }
    Ok(told)
}

/// What a check finds, in a catalogue that may be damaged.
fn checked(garden: &mut Garden) -> Result<Vec<String>, CatalogueErrorKind> {
    let kind = |error: steadfast::catalogue::CatalogueError| error.kind();
    let catalogue = Catalogue::open_writer(&garden.file, &writer(garden.now)).map_err(kind)?;
    catalogue.guard().map_err(kind)?;
    let root = catalogue.root().to_owned();
    let begin = RunStart {
        verb: VerbKind::Check,
        read_from: Some(Origin::Cache),
        backend: "test x1",
        now: moment(garden.now),
        accepts: false,
    };
    let mut recorder = catalogue.recorder(RunScope::whole(&root), &begin).map_err(kind)?;
    let mut said = Vec::new();
    let mut say = |finding: steadfast::catalogue::Finding| {
        said.push(format!("{} {}", finding.name(), finding.path().display()));
    };
    let way = Way { verb: "check", ..Way::default() };
    for path in garden.paths(&root) {
        let whole = path.to_path();
        let observation = garden.judge(&path, whole.strip_prefix(&root).unwrap(), &way);
        recorder.observe(&observation, &mut say).map_err(kind)?;
    }
    recorder.finish(true, moment(garden.now), &mut say).map_err(kind)?;
    Ok(said)
}

#[test]
fn bytes_that_changed_by_themselves_are_recognised_or_harmless() {
    let mut garden = meadow();
    let whole = fs::read(&garden.file).unwrap();
    let (answers, findings) = (asked(&garden.file, garden.now), checked(&mut garden));
    let (answers, findings) = (answers.unwrap(), findings.unwrap());
    assert_eq!(findings, ["missing d2/e2/f02"]);
    let differing = |told: &[String]| {
        let pair = told.iter().zip(&answers).find(|(told, answer)| told != answer);
        pair.map_or_else(|| "more or fewer".to_owned(), |(told, _)| told.clone())
    };
    let mut numbers = Numbers(1);
    let (mut refused, mut harmless) = (0, 0);
    for _ in 0..700 {
        let mut bytes = whole.clone();
        let at = numbers.next(bytes.len() as u64) as usize;
        let length = 1 + numbers.next(16) as usize;
        for byte in bytes.iter_mut().skip(at).take(length) {
            *byte = numbers.next(256) as u8;
        }
        for part in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{part}", garden.file.display()));
        }
        fs::write(&garden.file, &bytes).unwrap();
        match asked(&garden.file, garden.now) {
            Ok(told) => assert!(told == answers, "{length} bytes at {at}: {}", differing(&told)),
            Err(_) => refused += 1,
        }
        match checked(&mut garden) {
            Ok(said) => {
                assert_eq!(said, findings, "{length} bytes at {at}");
                harmless += 1;
            }
            Err(CatalogueErrorKind::Full) => panic!("the disk is full"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 150 && harmless > 100, "{refused} refused, {harmless} harmless");
}

#[test]
fn a_file_cut_short_or_of_another_program_is_recognised() {
    let garden = meadow();
    let whole = fs::read(&garden.file).unwrap();
    for length in [0, 1, 99, 100, 4095, 4096, 8192, whole.len() / 2, whole.len() - 4096] {
        fs::write(&garden.file, &whole[..length]).unwrap();
        let refused = asked(&garden.file, garden.now).unwrap_err();
        assert_eq!(refused, CatalogueErrorKind::Damaged, "cut to {length}");
    }
    fs::write(&garden.file, "not a database at all, but long enough to be one").unwrap();
    assert_eq!(asked(&garden.file, 0).unwrap_err(), CatalogueErrorKind::Damaged);
}

/// Runs statements in the sqlite3 shell; records a skip and returns `false` where there is none.
fn shell(file: &Path, statements: &str) -> bool {
    let Some(shell) = steadfast_testing::program("sqlite3") else { return false };
    let output = std::process::Command::new(shell).arg(file).arg(statements).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn planted_rows_and_tables_are_refused() {
    let cases = [
        "CREATE TRIGGER t AFTER UPDATE ON slices BEGIN DELETE FROM files; END",
        "CREATE TABLE more (a)",
        "DROP TABLE coverage",
        "UPDATE files SET digest = x'00' WHERE digest IS NOT NULL",
        "UPDATE files SET algorithm = 'md4'",
        "UPDATE files SET state = 'well'",
        "UPDATE files SET state = 'touched'",
        "UPDATE files SET mtime_ns = x'ff'",
        "UPDATE files SET tagged_s = tagged_s + 1",
        "UPDATE files SET proved_run = 2",
        "UPDATE files SET id = id + 100",
        "UPDATE files SET mode = 2541",
        "UPDATE names SET file = 3 - file WHERE file < 3",
        "UPDATE names SET name = x'612f62' WHERE name = CAST('f09' AS BLOB)",
        "DELETE FROM names WHERE name = CAST('f09' AS BLOB)",
        "DELETE FROM files WHERE id = 9",
        "DELETE FROM slices WHERE directory = 4",
        "UPDATE slices SET checked_run = 99",
        "UPDATE slices SET entries = 1000000000",
        "UPDATE directories SET parent = id WHERE id = 3",
        "UPDATE directories SET name = x'2e2e' WHERE id = 3",
        "DELETE FROM directories WHERE id = 3",
        "UPDATE runs SET started_s = 0",
        "UPDATE events SET what = 'intact'",
        "UPDATE events SET file = file + 1",
        "PRAGMA user_version = 103",
        "PRAGMA user_version = 4",
    ];
    for statement in cases {
        let mut garden = meadow();
        if !shell(&garden.file, statement) {
            return;
        }
        let verified = Catalogue::open_reader(&garden.file)
            .and_then(|catalogue| catalogue.verify())
            .map(|verification| verification.is_sound());
        let kind = verified.as_ref().map_err(|error| error.kind());
        match kind {
            Ok(sound) => assert!(!sound, "{statement}"),
            Err(CatalogueErrorKind::Newer) => assert!(statement.contains("user_version")),
            Err(kind) => assert_eq!(kind, CatalogueErrorKind::Damaged, "{statement}"),
        }
        if let Ok(said) = checked(&mut garden) {
            assert_eq!(said, ["missing d2/e2/f02"], "{statement}");
        }
    }
}

#[test]
fn a_damaged_catalogue_is_put_aside_and_made_anew_from_the_attributes() {
    let mut garden = Garden::planted(&["a", "b/c"]);
    fs::write(&garden.file, "rubbish").unwrap();
    let aside = Catalogue::set_aside(&garden.file, &writer(garden.now)).unwrap();
    assert_eq!(fs::read(&aside).unwrap(), b"rubbish");
    assert!(!garden.file.exists());
    Catalogue::create(garden.tree.path(), None, &writer(garden.now)).unwrap();
    // Tags are taken over from attributes without reading any file.
    garden.run(&Way { verb: "tag", ..Way::default() });
    let reader = garden.reader();
    for name in ["a", "b/c"] {
        let tag = garden.attributes[Path::new(name)];
        assert_eq!(reader.tag(Path::new(name)).unwrap(), Some(tag));
    }
    let audit = reader.audit(&[1], moment(garden.now)).unwrap();
    assert_eq!(audit.never.0, 2, "nothing of it is proved yet");
    assert_eq!(garden.check().all(), [""; 0]);
}

#[test]
fn a_catalogue_that_cannot_be_written_is_read() {
    let garden = Garden::planted(&["a"]);
    let folder = garden.file.parent().unwrap();
    let audit = garden.reader().audit(&[1], moment(garden.now)).unwrap();
    fs::set_permissions(&garden.file, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    assert_eq!(garden.reader().audit(&[1], moment(garden.now)).unwrap(), audit);
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_read_only_volume_can_be_read_and_not_written() {
    let Some(image) = Image::make(TMPFS) else { return };
    let path = image.tree.path().to_owned();
    let file = {
        let catalogue = Catalogue::create(&path, None, &writer(1)).unwrap();
        catalogue.file().to_owned()
    };
    image.remount("remount,ro");
    let reader = Catalogue::open_reader(&file).unwrap();
    assert_eq!(reader.entries().unwrap(), 0);
    let refused = Catalogue::open_writer(&file, &writer(2)).unwrap_err();
    assert_eq!(refused.kind(), CatalogueErrorKind::ReadOnly, "{refused}");
}

#[test]
fn a_full_disk_keeps_nothing_of_a_catalogue_that_was_not_made() {
    let Some(image) = Image::make(TMPFS) else { return };
    image.remount("remount,size=8k");
    let path = image.tree.path();
    Catalogue::create(path, None, &writer(1)).unwrap_err();
    assert_eq!(fs::read_dir(path).unwrap().count(), 0, "no draft, no lock");
    assert_eq!(Catalogue::find(path), None);
}

#[test]
fn a_full_disk_loses_what_was_not_stored_and_nothing_else() {
    let Some(image) = Image::make(TMPFS) else { return };
    image.remount("remount,size=1m");
    let mut garden = Garden::new(&[]);
    let file = image.tree.at("catalogue.sqlite");
    Catalogue::create(garden.tree.path(), Some(&file), &writer(1)).unwrap();
    garden.file = file;
    for number in 0..40 {
        garden.tree.write(format!("a/{number:04}"), "a");
    }
    garden.run(&Way { verb: "tag", ..Way::default() });
    garden.check();
    let names: Vec<PathBuf> =
        (0..20_000).map(|n| PathBuf::from(format!("b{:04}/{n:0200}", n / 50))).collect();
    let (stored, refused) = garden.pretend(&names);
    assert_eq!(refused, Some(CatalogueErrorKind::Full));
    let reader = garden.reader();
    assert_eq!(reader.verify().unwrap().problems, [""; 0]);
    for number in 0..40 {
        let path = PathBuf::from(format!("a/{number:04}"));
        assert_eq!(reader.tag(&path).unwrap(), Some(garden.attributes[&path]));
    }
    assert!(stored > 0, "some of it was stored before");
    assert_eq!(reader.entries().unwrap(), 40 + stored);
    drop(reader);
    image.remount("remount,size=64m");
    assert_eq!(garden.check().record.counts.get("intact"), Some(&40));
}

/// The pages of a database, and the table or index that each belongs to.
fn pages_of(file: &Path) -> Vec<(String, u64)> {
    let db = rusqlite::Connection::open(file).unwrap();
    let mut statement = db.prepare("SELECT name, pageno FROM dbstat ORDER BY pageno").unwrap();
    let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)));
    rows.unwrap().map(Result::unwrap).collect()
}

/// The problems of a catalogue, but for what no row has.
fn problems_of(file: &Path) -> Vec<String> {
    let mut problems = Catalogue::open_reader(file).unwrap().verify().unwrap().problems;
    problems.retain(|it| !it.ends_with("free space corruption"));
    problems
}

/// Overwrites bytes of every page of the catalogue in turn and compares what a check says with the
/// truth. `lost` says that one file has lost its attribute, so that the catalogue's tag judges it.
fn damage_is_refused_noticed_or_harmless(lost: bool) {
    let tree = Tree::new();
    for number in 0..60 {
        tree.write(format!("d{}/f{number:02}", number % 3), format!("contents {number}"));
    }
    let file = catalogued(&tree);
    assert_eq!(told(&tree, Verb::tag()).unwrap().status, 0);
    tree.edit("d1/f01", "edited");
    assert_eq!(told(&tree, Verb::update()).unwrap().status, 0);
    if lost {
        let file = steadfast_sys::file::File::open(&tree.at("d0/f00")).unwrap();
        steadfast_sys::xattr::remove(&file, steadfast_sys::xattr::TAG).unwrap();
    }
    let truth = told(&tree, Verb::check()).unwrap();
    assert_eq!(truth.status, u8::from(lost));
    let whole = fs::read(&file).unwrap();
    let place = |damaged: &[u8]| {
        for part in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{part}", file.display()));
        }
        fs::write(&file, damaged).unwrap();
    };
    let mut numbers = Numbers(7);
    let mut outcomes: BTreeMap<String, [u32; 3]> = BTreeMap::new();
    for (table, page) in pages_of(&file) {
        for _ in 0..12 {
            let start = (page as usize - 1) * 4096;
            let used = |at: &usize| whole[*at] != 0;
            let mut places = (0..50).map(|_| start + numbers.next(4096) as usize);
            let at = places.find(used).unwrap_or(start);
            drop(places);
            let mut bytes = whole.clone();
            let length = 1 + numbers.next(16) as usize;
            for byte in bytes.iter_mut().skip(at).take(length) {
                *byte ^= 1 + numbers.next(255) as u8;
            }
            place(&bytes);
            let outcome = match told(&tree, Verb::check()) {
                Err(_) => 0,
                Ok(told) if told == truth => {
                    place(&bytes);
                    let relied = ["files", "names", "slices", "directories"];
                    if relied.iter().any(|name| table == *name || table.starts_with("sqlite_auto"))
                    {
                        assert_eq!(problems_of(&file), [""; 0], "{table}: {length} bytes at {at}");
                    }
                    2
                }
                Ok(told) => {
                    assert_ne!(told.status, 0, "{table}: {length} bytes at {at}: {told:?}");
                    for (path, verdict) in &told.verdicts {
                        let known = truth.verdicts.get(path).copied().flatten();
                        let honest = [known, Some(Verdict::Unreadable)].contains(verdict);
                        assert!(honest, "{table}: {length} bytes at {at}: {path:?} {verdict:?}");
                    }
                    1
                }
            };
            outcomes.entry(table.clone()).or_default()[outcome] += 1;
        }
    }
    place(&whole);
    println!("refused, noticed, harmless: {outcomes:?}");
    let [refused, noticed, _] = outcomes["files"];
    assert!(refused + noticed > 10, "{outcomes:?}");
}

#[test]
fn runs_that_only_read_find_that_the_slices_are_lost() {
    let tree = Tree::new();
    for number in 0..60 {
        tree.write(format!("d{}/f{number:02}", number % 3), format!("contents {number}"));
    }
    let file = catalogued(&tree);
    fs::remove_file(tree.at("d0/f00")).unwrap();
    let whole = fs::read(&file).unwrap();
    let selection = Selection::of([tree.path()]);
    let options = crate::tree::usual();
    let root_of = |table: &str| {
        let db = Connection::open(&file).unwrap();
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?";
        db.query_row(sql, (table,), |row| row.get::<_, i64>(0)).unwrap() as usize - 1
    };
    let roots = [root_of("slices"), root_of("names")];
    // Another page in place of both is that of a catalogue that knows no file.
    for page in 1..whole.len() / 4096 {
        let mut copied = whole.clone();
        for root in roots {
            copied[root * 4096..][..4096].copy_from_slice(&whole[page * 4096..][..4096]);
        }
        fs::write(&file, &copied).unwrap();
        let reading = options.clone().with(|options| options.dry_run = true);
        if let Ok(done) =
            Run::of(Verb::check(), selection.clone(), reading).run(&mut Told::default())
        {
            assert_ne!(done.exit_status().code(), 0, "page {page}");
        }
        if let Ok(Some(changes)) = steadfast::changes(&selection, &options) {
            assert_eq!(changes.missing, [Path::new("d0/f00")], "page {page}");
        }
    }
}

#[test]
fn a_check_over_a_damaged_catalogue_never_ends_as_if_all_were_well() {
    damage_is_refused_noticed_or_harmless(false);
}

#[test]
fn a_damaged_catalogue_never_judges_a_file_wrongly() {
    damage_is_refused_noticed_or_harmless(true);
}

/// Without its attribute and its slice a file has a record all the same, and is not untagged.
#[test]
fn a_file_whose_slice_is_lost_is_unreadable_and_not_untagged() {
    let tree = Tree::new();
    for number in 0..20 {
        tree.write(format!("d{}/f{number}", number % 2), format!("contents {number}"));
    }
    let file = catalogued(&tree);
    told(&tree, Verb::tag()).unwrap();
    let bare = steadfast_sys::file::File::open(&tree.at("d0/f0")).unwrap();
    steadfast_sys::xattr::remove(&bare, steadfast_sys::xattr::TAG).unwrap();
    let db = rusqlite::Connection::open(&file).unwrap();
    let sql = "UPDATE slices SET directory = 99 WHERE directory = \
        (SELECT id FROM directories WHERE name = CAST('d0' AS BLOB))";
    assert_eq!(db.execute(sql, ()).unwrap(), 1);
    drop(db);
    let told = told(&tree, Verb::check()).unwrap();
    assert_eq!((told.status, told.verdicts[&tree.at("d0/f0")]), (2, Some(Verdict::Unreadable)));
}

#[test]
fn a_digest_that_changed_in_the_catalogue_fails_check_and_update() {
    for verb in [Verb::check(), Verb::update(), Verb::tag()] {
        let tree = Tree::new();
        for number in 0..20 {
            tree.write(format!("f{number}"), format!("contents {number}"));
        }
        let file = catalogued(&tree);
        told(&tree, Verb::tag()).unwrap();
        let db = rusqlite::Connection::open(&file).unwrap();
        let sql = "UPDATE files SET digest = zeroblob(32) WHERE id = \
            (SELECT file FROM names WHERE name = CAST('f7' AS BLOB))";
        assert_eq!(db.execute(sql, ()).unwrap(), 1);
        drop(db);
        let told = told(&tree, verb).unwrap();
        assert_eq!(told.status, 2, "{}", verb.name());
        let said = told.notices.iter().any(|notice| notice.contains("made from the tags"));
        assert!(said, "{}: {:?}", verb.name(), told.notices);
    }
}

/// Gives all rows of `slices` their check values.
fn put_sums(db: &Connection) {
    let columns = "entries, tagged, bytes, apart, checked_run";
    let sql = format!("SELECT rowid, seal, directory, first, {columns} FROM temp.forged");
    let mut statement = db.prepare(&sql).unwrap();
    let mut rows = statement.query(()).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let number = |at: usize| row.get::<_, i64>(at).unwrap().to_le_bytes();
        let bytes = |at: usize| row.get::<_, Vec<u8>>(at).unwrap();
        let long = |bytes: &[u8]| (bytes.len() as i64).to_le_bytes();
        let (seal, first) = (bytes(1), bytes(3));
        let numbers = (4..9).flat_map(number).collect::<Vec<u8>>();
        let parts: [&[u8]; 7] =
            [b"slices", &number(2), &long(&first), &first, &numbers, &long(&seal), &seal];
        let sum = i64::from(crc32c::crc32c(&parts.concat()));
        let rowid: i64 = row.get(0).unwrap();
        db.execute("UPDATE temp.forged SET sum = ? WHERE rowid = ?", (sum, rowid)).unwrap();
    }
}

/// Forges something of a catalogue at random; the check values are right.
fn forge(db: &Connection, numbers: &mut Numbers, wanted: &[u8]) {
    db.execute_batch("CREATE TEMP TABLE forged AS SELECT * FROM slices").unwrap();
    let name = format!("f{}", numbers.next(8)).into_bytes();
    let value = [0, 1, 2, 4, 7, 8, 9, 1_i64 << 40][numbers.next(8) as usize];
    let column = ["entries", "tagged", "bytes", "apart", "checked_run"];
    let column = column[numbers.next(5) as usize];
    match numbers.next(7) {
        0 => db.execute(&format!("UPDATE temp.forged SET {column} = ?"), (value % 99,)),
        1 => db.execute("DELETE FROM temp.forged WHERE directory = 2", ()),
        2 => db.execute("UPDATE temp.forged SET seal = randomblob(16)", ()),
        3 => db.execute(
            "INSERT INTO temp.forged \
             SELECT directory, ?, 1, 1, 1, 0, 1, seal, 0 FROM slices",
            (&name,),
        ),
        4 => db.execute(
            "INSERT INTO temp.forged SELECT 99, first, entries, tagged, bytes, apart, checked_run, \
             seal, 0 FROM slices LIMIT 1",
            (),
        ),
        5 => db.execute("UPDATE names SET directory = 99 - directory WHERE name = ?", (&name,)),
        _ => Ok(0),
    }
    .unwrap();
    put_sums(db);
    db.execute_batch(
        "DELETE FROM slices; INSERT OR REPLACE INTO slices SELECT * FROM temp.forged; \
         DROP TABLE temp.forged",
    )
    .unwrap();
    if numbers.next(3) > 0 {
        let sql = "UPDATE files SET digest = ?, state = 'fine' \
            WHERE id = (SELECT file FROM names WHERE name = ?)";
        db.execute(sql, params![wanted, name]).unwrap();
    }
}

/// The files that are called known.
#[derive(Default)]
struct CalledKnown(Vec<PathBuf>);

impl ResultMonitor<KnownResult> for CalledKnown {
    fn result(&mut self, result: &KnownResult) {
        if let KnownResult::File(file) = result
            && file.word == KnownWord::Known
        {
            self.0.push(file.path.clone());
        }
    }
}

impl NoticeMonitor for CalledKnown {
    fn notice(&mut self, _: &Notice) {}
}

#[test]
fn what_fits_no_seal_is_never_called_known() {
    let (archive, card) = (Tree::new(), Tree::new());
    for number in 0..8 {
        archive.write(format!("d{}/f{number}", number % 3), format!("{number}"));
    }
    card.write("there", "5");
    card.write("nowhere", "x");
    archive.run(Verb::init());
    let file = archive.at(".steadfast/catalogue.sqlite");
    let honest = fs::read(&file).unwrap();
    let wanted = steadfast_digest::sha256(b"x");
    let (mut numbers, mut fine) = (Numbers(54), 0);
    for _ in 0..300 {
        // In a folder of its own, where the program holds no lock.
        let folder = tempfile::tempdir().unwrap();
        let forged = folder.path().join("forged");
        fs::write(&forged, &honest).unwrap();
        let db = Connection::open(&forged).unwrap();
        forge(&db, &mut numbers, wanted.as_bytes());
        db.close().unwrap();
        fs::copy(&forged, &file).unwrap();
        let mut called = CalledKnown::default();
        let roots = [archive.path().to_owned()];
        let selection = Selection::of([card.path()]);
        let done = known(&selection, &roots, &crate::tree::usual(), &mut called);
        fine += u32::from(done.is_ok() && called.0.len() == 1);
        assert!(
            called.0.iter().all(|path| path.ends_with("there")),
            "{called:?}",
            called = called.0
        );
    }
    assert!(fine > 5, "what was not forged is known: {fine}");
}

/// Makes a page of the rows of no directory part of all others there, many times over.
fn nest(file: &Path) {
    let db = Connection::open(file).unwrap();
    db.execute_batch(
        "BEGIN; CREATE TEMP TABLE t AS SELECT * FROM coverage LIMIT 1; \
         UPDATE t SET directory = 99;",
    )
    .unwrap();
    for number in 0..6000 {
        db.execute("UPDATE t SET first = CAST(? AS BLOB)", (format!("{number:090}"),)).unwrap();
        db.execute("INSERT INTO coverage SELECT * FROM t", ()).unwrap();
    }
    db.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'coverage'";
    let root = db.query_row(sql, (), |row| row.get::<_, u32>(0)).unwrap() as usize;
    drop(db);
    let mut bytes = fs::read(file).unwrap();
    let page = |number: usize| (number - 1) * 4096;
    let number =
        |bytes: &[u8], at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    // Where an inner page has the numbers of the pages beneath it, but for the last one.
    let places = |bytes: &[u8], of: usize| -> Vec<usize> {
        let cells = usize::from(u16::from_be_bytes([bytes[page(of) + 3], bytes[page(of) + 4]]));
        let cell = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
        (0..cells).map(|at| page(of) + cell(page(of) + 12 + 2 * at)).collect()
    };
    let inner = number(&bytes, page(root) + 8) as usize;
    let below: Vec<usize> =
        places(&bytes, inner).iter().map(|at| number(&bytes, *at) as usize).collect();
    let (image, mut to) = (bytes[page(inner)..][..4096].to_vec(), below[0]);
    for copy in &below[1..7] {
        bytes[page(*copy)..][..4096].copy_from_slice(&image);
        for at in places(&bytes, *copy).into_iter().chain([page(*copy) + 8]) {
            bytes[at..at + 4].copy_from_slice(&(to as u32).to_be_bytes());
        }
        to = *copy;
    }
    let last = places(&bytes, inner)[8];
    bytes[last..last + 4].copy_from_slice(&(to as u32).to_be_bytes());
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_page_that_is_a_part_of_many_others_ends_the_run() {
    let mut garden = Garden::planted(&["a", "b", "c"]);
    garden.remove("a");
    nest(&garden.file);
    // Without a bound, it would be read a thousand million times.
    let began = Instant::now();
    assert_eq!(checked(&mut garden), Err(CatalogueErrorKind::Damaged));
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}
