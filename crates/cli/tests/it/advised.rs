//! Every command that a message advises, typed as printed, leads to a tree in which the next check
//! is fine or asks something else. The source is searched for commands, so that no message has one
//! that is not tried here.

use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use steadfast_sys::file::{ChangeTimes, File as SysFile};
use steadfast_sys::xattr;
use steadfast_testing::{Need, skip};

use crate::tree::{Outcome, Tree};

/// A state of the tree `photos`, of which `backup` is an earlier copy.
struct State {
    name: &'static str,
    /// Brings it about.
    make: fn(&Tree),
    /// The command whose messages are followed.
    says: &'static str,
}

const fn state(name: &'static str, make: fn(&Tree)) -> State {
    State { name, make, says: "check photos" }
}

const fn said_by(says: &'static str, name: &'static str, make: fn(&Tree)) -> State {
    State { name, make, says }
}

const REPAIR: &str = "repair -n photos";
const STATUS: &str = "status photos";
const PARITY: &str = "parity update photos";

const STATES: &[State] = &[
    state("a missing file", |it| remove(it, "photos/a")),
    state("a corrupt file", |it| it.corrupt("photos/a")),
    state("an emptied file", empty),
    state(SUSPECT, keep_date),
    said_by(REPAIR, SUSPECT, keep_date),
    said_by(STATUS, SUSPECT, find_protected_suspect),
    state("an edited file", |it| it.edit("photos/a")),
    said_by(REPAIR, "an edited file", |it| it.edit("photos/a")),
    state("many edited files", edit_many),
    state("a lost tag", lose_tag),
    state("a damaged tag", |it| it.damage_tag("photos/a")),
    state("a damaged tag that nothing has", lose_catalogue_and_tag),
    state("a replaced tag", replace_tag),
    state("a new file", |it| add(it, "photos/new")),
    state("a folder that is a file", |it| instead(it, "file")),
    state("a folder that is a fifo", |it| instead(it, "fifo")),
    state("a folder that is a link", |it| instead(it, "link")),
    state("a folder that is a loop", |it| instead(it, "loop")),
    state("no files", lose_all),
    state("no catalogue", lose_catalogue),
    said_by(STATUS, "no catalogue", lose_catalogue),
    state("a lost catalogue file", lose_file),
    state("a damaged catalogue", damage_catalogue),
    state("a copied tree", copy_tree),
    state("no records", lose_records),
    said_by(STATUS, "no records", lose_records),
    said_by(PARITY, "no parity", |_| ()),
    said_by("update photos", "parity of a missing file", |it| protect_without(it, &["photos/a"])),
    said_by(PARITY, "parity of an untagged file", untag_protected),
    said_by("untag photos/b", "parity of a tagged file", |it| protect_without(it, &[])),
    said_by("repair --yes --from backup photos", "a repair", |it| it.corrupt("photos/a")),
    said_by("tag --pages photos", "leaves without a catalogue", lose_records),
];

/// The name of the states in which the evidence of change times is used.
const SUSPECT: &str = "a suspect file";

/// Brings a tree into a state.
type Spoil = fn(&Tree);

/// Commands of mails and pages, and the state in which each is typed.
const ALSO: &[(Spoil, &str)] = &[
    (|it| protect_without(it, &["photos/a"]), "repair PATH"),
    (lose_many, "update --accept-many --accept-missing PATH"),
    (keep_date, "update --accept-many --only-suspect PATH"),
    (keep_date, "repair --suspect --from BACKUP PATH"),
    (lose_records, "tag PATH"),
];

/// Commands that change no tree, or that no state above asks for. Each of them can be typed.
const OTHERS: &[&str] = &[
    "alert add",
    "alert list",
    "alert test",
    "check",
    "check --manifest",
    "check --where",
    "code verify",
    "diff --read",
    "hash",
    "help --all",
    "import",
    "init --catalogue",
    "init --readers",
    "measure",
    "parity drop --set",
    "parity make --parity-at",
    "parity update",
    "parity verify",
    "qos",
    "qos set --pid",
    "repair --answer",
    "repair --discard",
    "repair --from --answer",
    "schedule add",
    "schedule remove",
    "schedule run --now",
    "schedule show",
    "serve",
    "serve --hash-password",
    "serve --install",
    "serve --open",
    "serve --open --no-open",
    "serve --uninstall",
    "status",
    "tag --pages",
    "tag --pages --sidecar",
    "untag",
    "update --answer",
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

/// Edits a file and puts its date back.
fn keep_date(tree: &Tree) {
    let path = tree.path("photos/a");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "ALPHA").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
}

fn find_protected_suspect(tree: &Tree) {
    protect_without(tree, &[]);
    keep_date(tree);
    run(tree, SUSPECT, "check photos").ends(3);
}

fn protect_without(tree: &Tree, gone: &[&str]) {
    tree.run(["parity", "make", "photos"]).succeeds();
    gone.iter().for_each(|name| remove(tree, name));
}

fn untag_protected(tree: &Tree) {
    protect_without(tree, &[]);
    tree.run(["init", "--forget", "photos"]).succeeds();
    for entry in fs::read_dir(tree.path("photos/.steadfast")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name().to_str().unwrap().starts_with("catalogue") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    lose_tag(tree);
}

fn lose_catalogue_and_tag(tree: &Tree) {
    tree.run(["init", "--forget", "photos"]);
    lose_catalogue(tree);
    tree.damage_tag("photos/a");
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

fn lose_many(tree: &Tree) {
    fs::remove_dir_all(tree.path("photos/many")).unwrap();
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
fn tree_in(make: fn(&Tree)) -> Tree {
    let mut tree = Tree::new().file("photos/a", b"alpha").file("photos/b", b"beta");
    tree = tree.file("photos/sub/c", b"gamma").file("photos/sub/d", b"delta");
    for number in 0..60 {
        tree = tree.file(format!("photos/many/{number}"), format!("{number}").as_bytes());
    }
    tree.run(["init", "photos"]).succeeds();
    copy(&tree.path("photos"), &tree.path("backup"));
    make(&tree);
    tree
}

fn run(tree: &Tree, state: &str, command: &str) -> Outcome {
    let mut command = tree.command(command.split(' '));
    if state == SUSPECT {
        command.env_remove("STEADFAST_IGNORE_CTIME");
    }
    Outcome::of(&mut command)
}

/// Types a command of a state. Returns the status, the text and the commands that it advises.
fn hear(tree: &Tree, state: &str, says: &str) -> (i32, String, BTreeSet<String>) {
    let outcome = run(tree, state, says);
    let text = [outcome.stdout(), outcome.stderr()].concat();
    let advised = commands_of(&text);
    (outcome.status, text, advised)
}

/// Returns the commands in a text, to their end: a mark, a remark, or a column.
fn commands_of(text: &str) -> BTreeSet<String> {
    let begun = text.match_indices("steadfast ").map(|(at, name)| &text[at + name.len()..]);
    let command = |rest: &str| {
        let ends = ["`", "\n", ";", " (", "  ", ": ", "\"", "\\"].map(|end| rest.find(end));
        let end = ends.into_iter().flatten().min().unwrap_or(rest.len());
        rest[..end].to_owned()
    };
    let is_verb = |command: &String| command.starts_with(|first: char| first.is_lowercase());
    begun.map(command).filter(is_verb).collect()
}

/// Returns the verb and the options of a command.
fn form_of(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_group = ["alert", "code", "parity", "qos", "schedule"].contains(&words[0]);
    let is_kept = |(at, word): &(usize, &str)| {
        let is_name = word.chars().all(|letter| letter.is_ascii_lowercase());
        *at == 0 || *at == 1 && is_group && is_name || word.starts_with("--")
    };
    let kept = words.iter().copied().enumerate().filter(is_kept);
    kept.map(|(_, word)| word.trim_end_matches([',', '.', ')'])).collect::<Vec<_>>().join(" ")
}

/// Returns the forms of the commands that the source has in texts.
fn forms_in_source(verbs: &BTreeSet<String>) -> BTreeSet<String> {
    let mut folders = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))];
    let mut forms = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            // Tests, and the help texts of options.
            if path.is_dir() && !["tests", "args", "testing", "target"].contains(&&*name) {
                folders.push(path);
            } else if name.ends_with(".rs") && name != "args.rs" {
                let text = fs::read_to_string(path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
                let mut lines = Vec::new();
                for line in code.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
                    lines.push(line.strip_suffix('\\').unwrap_or(line).to_owned());
                    if !line.ends_with('\\') {
                        let text = lines.concat().replace("{update}", "update");
                        forms.extend(commands_of(&text).iter().map(|command| form_of(command)));
                        lines.clear();
                    }
                }
            }
        }
    }
    forms.retain(|form| verbs.contains(form.split(' ').next().unwrap()));
    forms
}

/// Types a command as a person does who names what it leaves to them, and answers yes.
fn type_in(tree: &Tree, state: &str, command: &str) -> i32 {
    let typed = command.replace("--forget PATH", "--forget b");
    let typed = typed.split(' ').map(|word| match word {
        "BACKUP" | "COPY" => "backup",
        "DIR" | "PATH" => "photos",
        "FILE" => "photos/a",
        word => word.trim_matches('\''),
    });
    let is_repair = command.starts_with("repair") && !command.contains("--discard");
    let typed: Vec<&str> = typed.chain(is_repair.then_some("--yes")).collect();
    let status = run(tree, state, &typed.join(" ")).status;
    if command.starts_with("init --forget") && tree.path("photos/.steadfast").exists() {
        // As the same message says.
        lose_catalogue(tree);
    }
    status
}

#[test]
fn every_advised_command_leads_to_a_tree_that_is_fine_or_asks_something_else() {
    let times = SysFile::open(Path::new(".")).unwrap().change_times();
    if times == ChangeTimes::Unknown {
        return skip(Need::System("change times"), "those of this file system prove nothing");
    }
    let mut tried = BTreeSet::new();
    for State { name, make, says } in STATES {
        let (status, text, advised) = hear(&tree_in(*make), name, says);
        assert!(status == 0 || !advised.is_empty(), "{name}: {text}");
        for at in 0..advised.len() {
            let tree = tree_in(*make);
            let (_, _, before) = hear(&tree, name, says);
            // Some name the folder by its whole path.
            let command = before.iter().nth(at).unwrap();
            if OTHERS.contains(&&*form_of(command)) {
                continue;
            }
            tried.insert(form_of(command));
            let done = type_in(&tree, name, command);
            let (_, text, after) = hear(&tree, name, says);
            let asks_else = !after.contains(command) && after != before;
            let is_fine = asks_else || run(&tree, name, "check photos").status == 0;
            assert!(is_fine, "{name}: `{command}` ({done}): {text}");
        }
    }
    for (make, command) in ALSO {
        let tree = tree_in(*make);
        let done = type_in(&tree, SUSPECT, command);
        let checked = run(&tree, SUSPECT, "check photos");
        assert_eq!((done, checked.status), (0, 0), "`{command}`: {}", checked.stdout());
        tried.insert(form_of(command));
    }
    let tree = Tree::new();
    for form in OTHERS {
        let (verb, options) = form.split_once(" --").unwrap_or((form, ""));
        let help = tree.run(verb.split(' ').chain(["--help"])).succeeds();
        for option in options.split(" --").filter(|option| !option.is_empty()) {
            assert!(help.stdout().contains(&format!("--{option}")), "{form}");
        }
        assert!(tried.insert((*form).to_owned()), "{form} is tried in a state");
    }
    let help = tree.run(["help", "--all"]).succeeds();
    let verbs = help.stdout().lines().filter_map(|line| line.strip_prefix("  "));
    let verbs = verbs.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect();
    assert_eq!(forms_in_source(&verbs), tried, "the commands that messages have");
}
