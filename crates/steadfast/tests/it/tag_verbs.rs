//! Every verb on every state of a file and its tags: what is said, what is done, and what the file
//! and the catalogue have afterwards. The table is `testdata/golden/tags`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use steadfast::event::FileError;
use steadfast::read::buffered::Buffered;
use steadfast::store::foreign::{self, ExistingTag, ForeignKind};
use steadfast::store::xattr::Xattr;
use steadfast::store::{Replaces, Store, StoredTag};
use steadfast::tag::{Tag, TagPlace};
use steadfast::unguarded::run_with;
use steadfast::{
    Algorithm, CatalogueUse, Event, FileEvent, HashOptions, Monitor, Options, TagOptions,
    UpdateOptions, Verb,
};
use steadfast_sys::file::File;
use steadfast_sys::xattr;
use steadfast_testing::appledouble;

use crate::catalogue_trouble::catalogued;
use crate::tree::{Tree, retag, retag_to};

/// Changes a file of this name.
type Change = fn(&Tree, &str);

/// What happened to the contents after they were tagged.
const CONTENTS: [(&str, Change); 5] = [
    ("same", |_, _| {}),
    ("touched", |tree, name| tree.touch(name)),
    ("edited", |tree, name| tree.edit(name, "later")),
    ("decayed", |tree, name| tree.corrupt(name, "fIrst")),
    ("cut", |tree, name| tree.corrupt(name, "fir")),
];

/// Where the file has its tags: as it was tagged; in the catalogue alone; other ones at the file
/// and in the catalogue; damaged at the file; at the file alone; only as another tool has them;
/// nowhere; and instead of at the file, in the AppleDouble file beside it.
const PLACES: [&str; 10] = [
    "both",
    "lost",
    "other",
    "damaged",
    "alone",
    "foreign",
    "none",
    "beside both",
    "beside other",
    "beside alone",
];

const DAMAGED: &[u8] = b"damaged";

/// The verbs, with the options that change what they do to a tag, and whether it is a dry run.
fn verbs() -> Vec<(&'static str, Verb, bool)> {
    let blake3 = Some(Algorithm::Blake3);
    let update = UpdateOptions::default();
    let (restoring, accepting) = (
        UpdateOptions { restore_tags: true, ..update },
        UpdateOptions { accept_missing: true, ..update },
    );
    let (retag, accept) = (retag(false), retag(true));
    let hash = |algorithm, judge| Verb::Hash(HashOptions { algorithm, judge });
    let shatag = Verb::Export(ForeignKind::Shatag);
    let mut verbs = vec![
        ("check", Verb::check()),
        ("tag", Verb::tag()),
        ("tag with blake3", Verb::Tag(TagOptions { algorithm: blake3, ..TagOptions::default() })),
        ("update", Verb::update()),
        ("update, tags restored", Verb::Update(restoring)),
        ("update, losses accepted", Verb::Update(accepting)),
        ("retag", retag),
        ("retag, accepted", accept),
        ("retag to blake3", retag_to(Algorithm::Blake3)),
        ("untag", Verb::Untag),
        ("show", Verb::Show),
        ("hash", hash(None, true)),
        ("hash with blake3", hash(blake3, true)),
        ("hash, unjudged", Verb::hash()),
        ("import", Verb::Import),
        ("export", shatag),
    ];
    let mut verbs: Vec<_> = verbs.drain(..).map(|(title, verb)| (title, verb, false)).collect();
    let writing = [Verb::tag(), Verb::Update(restoring), accept, Verb::Untag, shatag, Verb::Import];
    verbs.extend(writing.map(|verb| (verb.name(), verb, true)));
    verbs
}

/// A file system without attributes.
struct NoPlace;

impl Store for NoPlace {
    fn tag(&self, _file: &File) -> io::Result<StoredTag> {
        Ok(StoredTag::Impossible)
    }

    fn previous(&self, _file: &File) -> io::Result<StoredTag> {
        Ok(StoredTag::Impossible)
    }

    fn ready(&self, file: &File) -> Result<(), FileError> {
        self.remove(file).map(drop)
    }

    fn write(&self, file: &File, _tag: &Tag, _replaces: Replaces) -> Result<(), FileError> {
        self.remove(file).map(drop)
    }

    fn remove(&self, _file: &File) -> Result<bool, FileError> {
        let reason = "this file system keeps no extended attributes";
        let kind = Some(io::ErrorKind::Unsupported);
        Err(FileError { kind, ..FileError::new("set the tag", reason) })
    }
}

#[derive(Default)]
struct Events {
    files: BTreeMap<String, FileEvent>,
    findings: BTreeMap<String, &'static str>,
}

impl Monitor for Events {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        match event {
            Event::File(event) => {
                self.files.insert(name(&event.path.to_path()), (**event).clone());
            }
            Event::Finding(noted) => {
                self.findings.insert(name(&noted.path), noted.finding.name());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Runs a verb; returns what it said of each file, and the exit status.
fn run(tree: &Tree, verb: Verb, options: &Options, store: &Arc<dyn Store>) -> (Events, u8) {
    let (mut events, engine) = (Events::default(), Arc::new(Buffered));
    let store = Arc::clone(store);
    let summary = run_with(verb, &tree.selection(), options, engine, store, &mut events).unwrap();
    (events, summary.exit_status().code())
}

/// Makes files whose tags are in these places, each with every change of contents; all are in a
/// catalogued tree.
fn tree(places: &[&str], store: &Arc<dyn Store>) -> Tree {
    let tree = Tree::new();
    let each = |of: &[&str], act: &dyn Fn(&str)| {
        for place in places.iter().filter(|place| of.contains(place)) {
            CONTENTS.iter().for_each(|(contents, _)| act(&format!("{place} {contents}")));
        }
    };
    let plain = crate::tree::usual().with(|options| options.catalogue.wait = true);
    each(&["both", "lost", "damaged", "beside both"], &|name| drop(tree.write(name, "first")));
    each(&["other", "beside other"], &|name| drop(tree.write(name, "older")));
    catalogued(&tree);
    run(&tree, Verb::tag(), &plain, store);
    let untag = |name: &str| {
        let file = File::open(&tree.at(name)).unwrap();
        Xattr.remove(&file).unwrap();
    };
    each(&["other", "beside other"], &|name| {
        tree.edit(name, "first");
        untag(name);
    });
    each(&["alone", "foreign", "beside alone"], &|name| drop(tree.write(name, "first")));
    let apart = plain.with(|options| options.catalogue.choice = CatalogueUse::Off);
    run(&tree, Verb::tag(), &apart, store);
    let tag_of = |name: &str| match Xattr.tag(&File::open(&tree.at(name)).unwrap()).unwrap() {
        StoredTag::Whole(tag) => tag,
        other => panic!("{name} has {other:?}"),
    };
    each(&["foreign"], &|name| {
        let file = File::open(&tree.at(name)).unwrap();
        foreign::write(&file, ForeignKind::Shatag, &tag_of(name), ExistingTag::Keep).unwrap();
    });
    each(&["beside both", "beside other", "beside alone"], &|name| {
        let tag = tag_of(name).encode();
        tree.write(format!("._{name}"), appledouble(tag.as_bytes()));
    });
    each(&["lost", "foreign", "beside both", "beside other", "beside alone"], &untag);
    each(&["damaged"], &|name| {
        xattr::set(&File::open(&tree.at(name)).unwrap(), xattr::TAG, DAMAGED).unwrap();
    });
    each(&["none"], &|name| drop(tree.write(name, "first")));
    for place in places {
        for (contents, change) in CONTENTS {
            change(&tree, &format!("{place} {contents}"));
        }
    }
    tree
}

/// Says what a file has under the name of an attribute.
fn held(tree: &Tree, name: &str, attribute: &str, before: Option<&Tag>) -> &'static str {
    let mut value = [0; 500];
    let file = File::open(&tree.at(name)).unwrap();
    let Some(len) = xattr::get(&file, attribute, &mut value).unwrap() else { return "none" };
    if &value[..len] == DAMAGED {
        return "damaged";
    }
    let previous = Xattr.previous(&file).unwrap();
    let found = if attribute == xattr::TAG { Xattr.tag(&file).unwrap() } else { previous };
    let StoredTag::Whole(tag) = found else { return "unreadable" };
    match before {
        Some(before) if *before == tag => "old",
        Some(before) if before.same_contents(&tag) => "refreshed",
        _ => "new",
    }
}

fn place_name(place: TagPlace) -> &'static str {
    match place {
        TagPlace::Attribute => "attribute",
        TagPlace::Catalogue => "catalogue",
        TagPlace::Damaged => "damaged",
        TagPlace::CatalogueAlone => "no-place",
        TagPlace::Refused => "refused",
    }
}

/// The table of one kind of store: for each verb a line for each file.
fn table(places: &[&str], store: &Arc<dyn Store>) -> String {
    let mut table = String::new();
    let plain = crate::tree::usual().with(|options| options.catalogue.wait = true);
    for (title, verb, is_dry) in verbs() {
        let options = plain.clone().with(|options| options.dry_run = is_dry);
        let tree = tree(places, store);
        let (before, _) = run(&tree, Verb::Show, &plain, store);
        let (said, status) = run(&tree, verb, &options, store);
        let (after, status_after) = run(&tree, Verb::check(), &plain, store);
        let dry = if is_dry { ", dry run" } else { "" };
        writeln!(table, "# {title}{dry}: {status}, then {status_after}").unwrap();
        for (name, event) in &said.files {
            let before = before.files[name].stored;
            let tag = |attribute| held(&tree, name, attribute, before.as_ref());
            let then = &after.files[name];
            let words = [
                event.verdict.map_or("-", |verdict| verdict.name()),
                event.action.map_or("-", |action| action.name()),
                place_name(event.tag_place),
                said.findings.get(name).unwrap_or(&"-"),
                if event.trouble.is_some() { "trouble" } else { "-" },
                match (event.reading.bytes > 0, event.reading.resized.is_some()) {
                    (true, false) => "read",
                    (false, true) => "resized",
                    (false, false) => "-",
                    (true, true) => "both",
                },
                tag(xattr::TAG),
                tag(xattr::TAG_PREVIOUS),
                then.verdict.map_or("-", |verdict| verdict.name()),
                place_name(then.tag_place),
            ];
            let [verdict, action, place, finding, trouble, read, tag, previous, next, next_place] =
                words;
            let now = format!("{verdict} {action} {place} {finding} {trouble} {read}");
            let foreign = foreign::read(&File::open(&tree.at(name)).unwrap()).unwrap();
            let exported = if foreign.is_empty() { "-" } else { "shatag" };
            let kept = format!("{tag} {previous} {exported}");
            let digest = event.digest().map(|(algorithm, digest)| format!("{algorithm} {digest}"));
            let digest = digest.as_deref().map_or("-", |text| text.split_at(10).0);
            let then = format!("{next} {next_place}");
            writeln!(table, "{name:<20} | {now:<53} | {digest:<10} | {kept:<20} | {then}").unwrap();
        }
        assert_eq!(said.files.len(), places.len() * CONTENTS.len());
    }
    table
}

fn assert_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden/tags").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{name} differs; UPDATE_GOLDEN=1 rewrites it");
}

#[test]
fn every_verb_on_every_state_of_a_tag() {
    assert_golden("attributes.txt", &table(&PLACES, &(Arc::new(Xattr) as Arc<dyn Store>)));
}

#[test]
fn every_verb_where_only_the_catalogue_keeps_tags() {
    // Without attributes a tag is in the catalogue or nowhere.
    assert_golden("no-attributes.txt", &table(&["both", "none"], &(Arc::new(NoPlace) as _)));
}
