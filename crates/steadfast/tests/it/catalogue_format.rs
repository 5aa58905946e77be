//! Catalogues of every version that was ever released are still read, and their tables are as they
//! were frozen.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast::Verdict;
use steadfast::catalogue::{Catalogue, FileState};

use crate::catalogue::{moment, writer};
use crate::tree::Tree;

/// The versions of the tables; the last one is the present one.
const VERSIONS: [&str; 2] = ["v2", "v3"];

fn frozen(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats/catalogue").join(version)
}

/// Copies a frozen catalogue into a tree, since a writer brings it up to the present version.
fn thawed(version: &str) -> (Tree, PathBuf) {
    let tree = Tree::new();
    let contents = fs::read(frozen(version).join("catalogue.sqlite")).unwrap();
    let file = tree.write(".steadfast/catalogue.sqlite", contents);
    (tree, file)
}

#[test]
fn tables_are_as_they_were_frozen() {
    let tree = Tree::new();
    let catalogue = Catalogue::create(tree.path(), None, &writer(1)).unwrap();
    let tables = catalogue.tables();
    let path = frozen(VERSIONS[1]).join("tables.sql");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &tables).unwrap();
    }
    assert_eq!(tables, fs::read_to_string(path).unwrap());
}

#[test]
fn catalogues_of_every_version_tell_what_they_always_told() {
    VERSIONS.into_iter().for_each(tells_what_it_always_told);
}

fn tells_what_it_always_told(version: &str) {
    let (_tree, file) = thawed(version);
    for catalogue in
        [Catalogue::open_reader(&file).unwrap(), Catalogue::open_writer(&file, &writer(2)).unwrap()]
    {
        assert_eq!(catalogue.verify().unwrap().problems, [""; 0]);
        assert_eq!(catalogue.entries().unwrap(), 4);
        let verdicts = |path: &str| -> Vec<(i64, Option<Verdict>)> {
            let history = catalogue.history(Path::new(path)).unwrap();
            history.runs.iter().map(|run| (run.run.id, run.verdict)).collect()
        };
        use Verdict::{Corrupt, Intact, Missing, Untagged};
        let all = |verdicts: &[Verdict]| -> Vec<(i64, Option<Verdict>)> {
            (1..).zip(verdicts.iter().map(|verdict| Some(*verdict))).collect()
        };
        assert_eq!(verdicts("a"), all(&[Intact, Intact, Intact]));
        assert_eq!(verdicts("b/corrupt"), all(&[Intact, Intact, Corrupt]));
        assert_eq!(verdicts("b/gone"), all(&[Intact, Intact, Missing]));
        assert_eq!(verdicts("b/new"), [(3, Some(Untagged))]);
        let look = catalogue.history(Path::new("b/corrupt")).unwrap().now.unwrap();
        assert_eq!((look.standing, look.last_proved_run), (FileState::Corrupt, 2));
        let tag = look.tag.unwrap();
        assert_eq!((tag.algorithm.name(), tag.length), ("blake3", 9));
        let audit = catalogue.audit(&[1], moment(1_700_010_801)).unwrap();
        assert_eq!((audit.entries, audit.tagged, audit.windows[0].entries), (4, 3, 3));
    }
}

/// Makes the frozen sample. To be run by hand, once for each version that is released.
#[test]
#[ignore = "makes the frozen sample of this version"]
fn freeze() {
    use crate::catalogue::Garden;
    let mut garden = Garden::planted(&["a", "b/corrupt", "b/gone"]);
    garden.tree.corrupt("b/corrupt", "decayed!!");
    garden.tree.write("b/new", "new");
    garden.remove("b/gone");
    garden.check();
    fs::copy(&garden.file, frozen(VERSIONS[1]).join("catalogue.sqlite")).unwrap();
}
