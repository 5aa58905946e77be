//! Every command that a message advises, typed as printed, leads to a tree in which the next check
//! is fine or asks something else.

use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use steadfast_sys::{file::File as SysFile, xattr};

use crate::tree::Tree;

/// A state of the tree `photos`, of which `backup` is an earlier copy.
struct State {
    name: &'static str,
    /// Brings it about.
    make: fn(&Tree),
}

const STATES: &[State] = &[
    State { name: "a missing file", make: |it| remove(it, "photos/a") },
    State { name: "a corrupt file", make: |it| it.corrupt("photos/a") },
    State { name: "an emptied file", make: empty },
    State { name: "an edited file", make: |it| it.edit("photos/a") },
    State { name: "many edited files", make: edit_many },
    State { name: "a lost tag", make: lose_tag },
    State { name: "a damaged tag", make: |it| it.damage_tag("photos/a") },
    State { name: "a replaced tag", make: replace_tag },
    State { name: "a new file", make: |it| add(it, "photos/new") },
    State { name: "a folder that is a file", make: |it| instead(it, "file") },
    State { name: "a folder that is a fifo", make: |it| instead(it, "fifo") },
    State { name: "a folder that is a link", make: |it| instead(it, "link") },
    State { name: "a folder that is a loop", make: |it| instead(it, "loop") },
    State { name: "no files", make: lose_all },
    State { name: "no catalogue", make: lose_catalogue },
    State { name: "a lost catalogue file", make: lose_file },
    State { name: "a damaged catalogue", make: damage_catalogue },
    State { name: "a copied tree", make: copy_tree },
    State { name: "no records", make: lose_records },
];

fn remove(tree: &Tree, name: &str) {
    fs::remove_file(tree.path(name)).unwrap();
}

fn add(tree: &Tree, name: &str) {
    fs::write(tree.path(name), name).unwrap();
}

/// Empties a file and puts its date back.
fn empty(tree: &Tree) {
    let path = tree.path("photos/a");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let file = File::options().write(true).truncate(true).open(&path).unwrap();
    file.set_times(FileTimes::new().set_modified(modified)).unwrap();
}

fn edit_many(tree: &Tree) {
    (0..60).for_each(|number| tree.edit(&format!("photos/many/{number}")));
}

fn lose_tag(tree: &Tree) {
    xattr::remove(&SysFile::open(&tree.path("photos/a")).unwrap(), xattr::TAG).unwrap();
}

fn replace_tag(tree: &Tree) {
    tree.edit("photos/a");
    tree.run(["update", "--no-catalogue", "photos/a"]).succeeds();
}

fn instead(tree: &Tree, kind: &str) {
    let folder = tree.path("photos/sub");
    fs::remove_dir_all(&folder).unwrap();
    match kind {
        "file" => fs::write(folder, kind).unwrap(),
        "fifo" => assert!(Command::new("mkfifo").arg(folder).status().unwrap().success()),
        "link" => symlink("many", folder).unwrap(),
        _ => symlink("sub", folder).unwrap(),
    }
}

fn lose_all(tree: &Tree) {
    for name in ["a", "b"] {
        remove(tree, &format!("photos/{name}"));
    }
    for name in ["sub", "many"] {
        fs::remove_dir_all(tree.path("photos").join(name)).unwrap();
    }
}

fn lose_catalogue(tree: &Tree) {
    fs::remove_dir_all(tree.path("photos/.steadfast")).unwrap();
}

fn lose_file(tree: &Tree) {
    remove(tree, "photos/.steadfast/catalogue.sqlite");
}

fn damage_catalogue(tree: &Tree) {
    let file = tree.path("photos/.steadfast/catalogue.sqlite");
    fs::write(file, [7; 10_000]).unwrap();
}

fn copy_tree(tree: &Tree) {
    fs::rename(tree.path("photos"), tree.path("before")).unwrap();
    copy(&tree.path("before"), &tree.path("photos"));
}

fn lose_records(tree: &Tree) {
    tree.run(["untag", "photos"]).succeeds();
    tree.run(["init", "--forget", "photos"]);
    lose_catalogue(tree);
}

fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(done.success());
}

/// Makes the tree, its copy, and a state of it.
fn tree_in(state: &State) -> Tree {
    let mut tree = Tree::new().file("photos/a", b"alpha").file("photos/b", b"beta");
    tree = tree.file("photos/sub/c", b"gamma").file("photos/sub/d", b"delta");
    for number in 0..60 {
        tree = tree.file(format!("photos/many/{number}"), format!("{number}").as_bytes());
    }
    tree.run(["init", "photos"]).succeeds();
    copy(&tree.path("photos"), &tree.path("backup"));
    (state.make)(&tree);
    tree
}

/// Checks the tree. Returns the status, the text and the commands that it advises.
fn check(tree: &Tree) -> (i32, String, BTreeSet<String>) {
    let outcome = tree.run(["check", "photos"]);
    let text = [outcome.stdout(), outcome.stderr()].concat();
    let advised = commands_of(&text);
    (outcome.status, text, advised)
}

/// Returns the commands in a text, to their end: a mark, a remark, or a column.
fn commands_of(text: &str) -> BTreeSet<String> {
    let begun = text.match_indices("steadfast ").map(|(at, name)| &text[at + name.len()..]);
    let command = |rest: &str| {
        let ends = ["`", "\n", ";", " (", "  ", ": "].map(|end| rest.find(end));
        let end = ends.into_iter().flatten().min().unwrap_or(rest.len());
        rest[..end].to_owned()
    };
    let is_verb = |command: &String| command.starts_with(|first: char| first.is_lowercase());
    begun.map(command).filter(is_verb).collect()
}

/// Types a command as a person does who names what it leaves to them, and answers yes.
fn type_in(tree: &Tree, command: &str) -> i32 {
    let typed = command.split(' ').map(|word| match word {
        "BACKUP" | "COPY" => "backup",
        "DIR" | "PATH" => "photos",
        "FILE" => "photos/a",
        word => word.trim_matches('\''),
    });
    let consent = command.starts_with("repair").then_some("--yes");
    let status = tree.run(typed.chain(consent)).status;
    if command.starts_with("init --forget") && tree.path("photos/.steadfast").exists() {
        // As the same message says.
        lose_catalogue(tree);
    }
    status
}

#[test]
fn every_advised_command_leads_to_a_tree_that_is_fine_or_asks_something_else() {
    for state in STATES {
        let (status, text, advised) = check(&tree_in(state));
        assert!(status == 0 || !advised.is_empty(), "{}: {text}", state.name);
        for at in 0..advised.len() {
            let tree = tree_in(state);
            let (_, _, before) = check(&tree);
            // Some name the folder by its whole path.
            let command = before.iter().nth(at).unwrap();
            let done = type_in(&tree, command);
            let (status, text, after) = check(&tree);
            let asks_else = !after.contains(command) && after != before;
            assert!(status == 0 || asks_else, "{}: `{command}` ({done}): {text}", state.name);
        }
    }
}
