//! Our own tag under the names by which another system's tag arrives: the same tag for every verb.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use steadfast_sys::file::File;
use steadfast_sys::xattr;
use steadfast_testing::appledouble;

use crate::tree::{Outcome, Tree};

/// One way by which a tag comes from another system.
#[derive(Clone, Copy, Debug)]
enum Carrier {
    /// An attribute, and whether its value ends in a NUL.
    Attribute(&'static str, bool),
    /// The AppleDouble file beside the file.
    Sidecar,
}

use Carrier::{Attribute, Sidecar};

const CARRIERS: [Carrier; 10] = [
    Attribute("user.org.steadfast.tag#S", false),
    Attribute("user.org.steadfast.tag", false),
    Attribute("user.org.steadfast.tag#S", true),
    Attribute("user.rsync.org.steadfast.tag#S", false),
    Attribute("user.DosStream.org.steadfast.tag#S:$DATA", true),
    Attribute("user.DosStream.org.steadfast.tag:$DATA", true),
    Attribute("user.user.steadfast", false),
    Attribute("user.rsync.user.steadfast", false),
    Attribute("user.DosStream.steadfast:$DATA", true),
    Sidecar,
];

impl Carrier {
    /// `a` with a tag that came this way, and `plain` without one.
    fn tree(self) -> Tree {
        let tree = Tree::new().file("a", b"alpha").file("plain", b"plain");
        tree.run(["tag", "a"]).succeeds();
        let mut value = attribute(&tree, "a", xattr::TAG).unwrap();
        xattr::remove(&open(&tree, "a"), xattr::TAG).unwrap();
        self.store(&tree, &mut value);
        tree
    }

    fn store(self, tree: &Tree, value: &mut Vec<u8>) {
        match self {
            Attribute(name, nul) => {
                if nul {
                    value.push(0);
                }
                xattr::set(&open(tree, "a"), name, value).unwrap();
            }
            Sidecar => fs::write(tree.path("._a"), appledouble(value)).unwrap(),
        }
    }

    /// The value as it is stored now.
    fn stored(self, tree: &Tree) -> Option<Vec<u8>> {
        match self {
            Attribute(name, _) => attribute(tree, "a", name),
            Sidecar => fs::read(tree.path("._a")).ok(),
        }
    }
}

fn open(tree: &Tree, name: &str) -> File {
    File::open(&tree.path(name)).unwrap()
}

fn attribute(tree: &Tree, name: &str, attribute: &str) -> Option<Vec<u8>> {
    let mut value = [0; 4096];
    let len = xattr::get(&open(tree, name), attribute, &mut value).unwrap();
    len.map(|len| value[..len].to_vec())
}

/// The names of our attributes on `a`.
fn ours(tree: &Tree) -> Vec<String> {
    let names = xattr::list(&open(tree, "a")).unwrap();
    let names = names.into_iter().map(|name| name.into_string().unwrap());
    names.filter(|name| name.contains("steadfast")).collect()
}

fn verdict(said: &Outcome) -> String {
    said.verdict("a").unwrap_or_else(|| panic!("{}", said.stdout()))
}

fn action(said: &Outcome) -> String {
    let objects = said.objects();
    let object = objects.iter().find(|object| object["path"] == "a").expect("`a` is told of");
    object["action"].as_str().unwrap_or_default().to_owned()
}

const CHECK: [&str; 4] = ["check", "--json", "--verbose", "a"];

#[test]
fn a_check_judges_by_a_carried_tag_with_its_full_rules() {
    for carrier in CARRIERS {
        let tree = carrier.tree();
        let before = (ours(&tree), carrier.stored(&tree));
        assert_eq!(verdict(&tree.run(CHECK).succeeds()), "intact", "{carrier:?}");
        tree.run(["check", "--require-tags", "a"]).succeeds();
        tree.run(["hash", "--json", "a"]).succeeds();
        tree.corrupt("a");
        assert_eq!(verdict(&tree.run(CHECK).ends(3)), "corrupt", "{carrier:?}");
        tree.run(["update", "a"]).ends(3);
        tree.run(["update", "a"]).ends(3);
        let exported = tree.run(["export", "--format", "gnu", "--read", "a"]).ends(3);
        assert!(!exported.stdout().contains("  a\n"), "{carrier:?}: decay is in no document");
        assert_eq!((ours(&tree), carrier.stored(&tree)), before, "{carrier:?}: the evidence stays");
        tree.edit("a");
        assert_eq!(verdict(&tree.run(CHECK).ends(1)), "modified", "{carrier:?}");
        let tree = carrier.tree();
        tree.touch("a");
        assert_eq!(verdict(&tree.run(CHECK).succeeds()), "touched", "{carrier:?}");
    }
}

#[test]
fn tag_keeps_a_carried_tag_and_reads_nothing() {
    for carrier in CARRIERS {
        let tree = carrier.tree();
        let before = (ours(&tree), carrier.stored(&tree));
        tree.corrupt("a");
        let said = tree.run(["tag", "--json", "--verbose", "."]).succeeds();
        assert_eq!(action(&said), "kept", "{carrier:?}");
        assert_eq!(said.summary()["actions"]["tagged"], 1, "`plain`: {carrier:?}");
        assert_eq!((ours(&tree), carrier.stored(&tree)), before, "{carrier:?}");
        // A record of another tool does not take the place of ours.
        let said = tree.run(["import", "--attributes", "--json", "--verbose", "a"]).succeeds();
        assert_eq!(action(&said), "kept", "{carrier:?}");
    }
}

#[test]
fn a_new_tag_goes_where_the_carried_one_is() {
    for carrier in CARRIERS {
        let tree = carrier.tree();
        let old = carrier.stored(&tree).unwrap();
        tree.touch("a");
        let said = tree.run(["update", "--json", "--verbose", "a"]).succeeds();
        assert_eq!(action(&said), "refreshed", "{carrier:?}");
        tree.edit("a");
        let said = tree.run(["update", "--json", "--verbose", "a"]).succeeds();
        assert_eq!(action(&said), "retagged", "{carrier:?}");
        assert_eq!(verdict(&tree.run(CHECK).succeeds()), "intact", "{carrier:?}");
        match carrier {
            Attribute(name, nul) => {
                let new = carrier.stored(&tree).unwrap();
                assert_ne!(new, old);
                assert_eq!(new.len(), old.len(), "{carrier:?}");
                assert!(!nul || new.last() == Some(&0), "{carrier:?}");
                assert_eq!(ours(&tree).len(), 2, "{name} and its previous tag alone");
                assert_eq!(attribute(&tree, "a", xattr::TAG), None, "{carrier:?}");
            }
            Sidecar => {
                assert_eq!(carrier.stored(&tree), Some(old), "it is never written");
                assert!(attribute(&tree, "a", xattr::TAG).is_some());
            }
        }
        let shown = tree.run(["show", "--json", "a"]).succeeds();
        let shown = shown.objects();
        assert!(shown[0]["previous"].is_object(), "{carrier:?}: {}", shown[0]);
        let tree = carrier.tree();
        tree.corrupt("a");
        tree.run(["update", "--accept", "a"]).succeeds();
        assert_eq!(verdict(&tree.run(CHECK).succeeds()), "intact", "{carrier:?}");
    }
}

#[test]
fn untag_removes_every_carried_tag_or_says_what_it_left() {
    for carrier in CARRIERS {
        let tree = carrier.tree();
        tree.edit("a");
        tree.run(["update", "a"]).succeeds();
        match carrier {
            Attribute(..) => {
                let said = tree.run(["untag", "--json", "a"]).succeeds();
                assert_eq!(said.summary()["actions"]["removed"], 1, "{carrier:?}");
                assert_eq!(tree.run(CHECK).verdict("a").as_deref(), Some("untagged"));
            }
            Sidecar => {
                let said = tree.run(["untag", "a"]).ends(2);
                assert!(said.stdout().contains("`._a`"), "{}", said.stdout());
                fs::remove_file(tree.path("._a")).unwrap();
                assert_eq!(tree.run(CHECK).verdict("a").as_deref(), Some("untagged"));
            }
        }
        assert_eq!(ours(&tree), [""; 0], "{carrier:?}");
    }
}

#[test]
fn documents_and_comparisons_know_a_carried_tag() {
    for carrier in CARRIERS {
        let tree = carrier.tree();
        let shown = tree.run(["show", "--json", "a"]).succeeds();
        assert!(shown.stdout().contains("sha256"), "{carrier:?}: {}", shown.stdout());
        let list = tree.run(["export", "--format", "gnu", "a"]).succeeds();
        assert!(list.stdout().contains("  a\n"), "{carrier:?}: {}", list.stdout());
        tree.run(["export", "--attributes", "shatag", "a"]).succeeds();
        assert!(attribute(&tree, "a", "user.shatag.sha256").is_some(), "{carrier:?}");

        fs::create_dir(tree.path("one")).unwrap();
        let names: &[&str] = if matches!(carrier, Sidecar) { &["a", "._a"] } else { &["a"] };
        let from: Vec<PathBuf> = names.iter().map(|name| tree.path(name)).collect();
        let copy = |from: &[PathBuf], to: &str| {
            let mut copy = Command::new("cp");
            assert!(copy.arg("-a").args(from).arg(tree.path(to)).status().unwrap().success());
        };
        copy(&from, "one");
        copy(&[tree.path("one")], "two");
        tree.run(["diff", "one", "two"]).succeeds();
        tree.run(["diff", "--read", "one", "two"]).succeeds();
        // One side has the tag under this system's own name.
        tree.run(["untag", "two"]);
        tree.run(["tag", "two"]);
        tree.run(["diff", "one", "two"]).succeeds();
    }
}

#[test]
fn a_catalogue_takes_a_carried_tag_for_the_files_own() {
    for carrier in CARRIERS {
        let tree = carrier.tree();
        fs::remove_file(tree.path("plain")).unwrap();
        tree.run(["init", "--tags-only", "."]).succeeds();
        for _ in 0..2 {
            let said = tree.run(["check", "--json", "--verbose"]).succeeds();
            assert_eq!(verdict(&said), "intact", "{carrier:?}");
            assert!(!said.stdout().contains("tag lost"), "{carrier:?}: {}", said.stdout());
        }
        tree.edit("a");
        tree.run(["update"]).succeeds();
        let said = tree.run(["check", "--json"]).succeeds();
        assert!(!said.stdout().contains("finding\":\"tag"), "{carrier:?}: {}", said.stdout());
        // The attribute goes: the catalogue still has the tag.
        if let Attribute(name, _) = carrier {
            xattr::remove(&open(&tree, "a"), name).unwrap();
            let said = tree.run(["check", "--json"]).ends(1);
            assert!(said.stdout().contains("tag lost"), "{carrier:?}: {}", said.stdout());
        }
    }
}

#[test]
fn a_damaged_carried_tag_is_unreadable_and_replaced_only_if_that_is_accepted() {
    for carrier in CARRIERS {
        let tree = carrier.tree();
        let mut damaged = b"not a tag".to_vec();
        carrier.store(&tree, &mut damaged);
        let before = carrier.stored(&tree);
        for verb in ["check", "tag", "update"] {
            let said = tree.run([verb, "--json", "a"]).ends(2);
            assert_eq!(verdict(&said), "unreadable", "{verb} {carrier:?}");
            assert_eq!(carrier.stored(&tree), before, "{verb} {carrier:?}");
        }
        tree.run(["update", "--accept", "a"]).succeeds();
        assert_eq!(verdict(&tree.run(CHECK).succeeds()), "intact", "{carrier:?}");
        if let Attribute(..) = carrier {
            let previous = ours(&tree).into_iter().find(|name| name.contains("previous")).unwrap();
            assert_eq!(attribute(&tree, "a", &previous), Some(damaged), "{carrier:?}");
        }
    }
}

/// A file with its own tag, and one of `other` contents that was carried here.
fn two_tags(other: &[u8]) -> Tree {
    let tree = Tree::new().file("a", other);
    tree.run(["tag", "a"]).succeeds();
    let carried = attribute(&tree, "a", xattr::TAG).unwrap();
    tree.run(["untag", "a"]).succeeds();
    let tree = tree.file("a", b"alpha");
    tree.run(["tag", "a"]).succeeds();
    xattr::set(&open(&tree, "a"), "user.org.steadfast.tag#S", &carried).unwrap();
    tree
}

#[test]
fn two_tags_that_disagree_are_reported_and_settled_together() {
    let tree = two_tags(b"other");
    for verb in ["check", "tag", "update"] {
        let said = tree.run([verb, "a"]).ends(2);
        assert!(said.stdout().contains("several tags, and they disagree"), "{}", said.stdout());
    }
    tree.run(["update", "--accept", "a"]).succeeds();
    assert_eq!(ours(&tree).len(), 4, "both tags and both previous ones: {:?}", ours(&tree));
    let both = [xattr::TAG, "user.org.steadfast.tag#S"].map(|name| attribute(&tree, "a", name));
    assert_eq!(both[0], both[1]);
    assert_eq!(verdict(&tree.run(CHECK).succeeds()), "intact");
    tree.run(["untag", "a"]).succeeds();
    assert_eq!(ours(&tree), [""; 0]);
}

#[test]
fn of_two_tags_that_agree_the_one_of_the_present_time_tells_decay_from_an_edit() {
    // The same contents, tagged at another modification time before.
    let tree = two_tags(b"alpha");
    assert_eq!(verdict(&tree.run(CHECK).succeeds()), "intact");
    tree.corrupt("a");
    assert_eq!(verdict(&tree.run(CHECK).ends(3)), "corrupt");
    tree.edit("a");
    tree.run(["update", "a"]).succeeds();
    let both = [xattr::TAG, "user.org.steadfast.tag#S"].map(|name| attribute(&tree, "a", name));
    assert_eq!(both[0], both[1], "both systems find the new tag");
}

#[test]
fn a_sidecar_that_is_damaged_is_no_good_news() {
    let tree = Sidecar.tree();
    let bytes = fs::read(tree.path("._a")).unwrap();
    fs::write(tree.path("._a"), &bytes[..bytes.len() - 40]).unwrap();
    for verb in ["check", "tag"] {
        assert_eq!(verdict(&tree.run([verb, "--json", "a"]).ends(2)), "unreadable");
    }
    assert_eq!(attribute(&tree, "a", xattr::TAG), None);
}
