//! What becomes of a verb whose answer cannot be written: a full device, a closed stream, a reader
//! that went away. The verbs are those that the help lists, so that a new one is tried as well.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::pipe;
use std::path::Path;
use std::process::Command;

use crate::tree::{Outcome, Tree};

/// Verbs that are tried by their help alone, and why.
const BY_HELP_ALONE: [(&str, &str); 20] = [
    ("alert add", "answers in one piece, as `steadfast --version` does"),
    ("alert list", "answers in one piece, as `steadfast --version` does"),
    ("alert snooze", "answers in one piece, as `steadfast --version` does"),
    ("alert remove", "answers in one piece, as `steadfast --version` does"),
    ("alert test", "sends messages, and answers as `alert list` does"),
    ("schedule add", "answers in one piece, as `steadfast --version` does"),
    ("schedule list", "answers in one piece, as `steadfast --version` does"),
    ("schedule metrics", "answers in one piece, as `steadfast --version` does"),
    ("schedule remove", "answers in one piece, as `steadfast --version` does"),
    ("schedule run", "answers as `check` does"),
    ("schedule show", "answers in one piece, as `steadfast --version` does"),
    ("measure all", "takes a minute, and answers as `measure queue` does"),
    ("measure cipher", "as `measure queue`"),
    ("measure cpu", "as `measure queue`"),
    ("measure hash", "as `measure queue`"),
    ("measure pair", "as `measure queue`"),
    ("measure read", "as `measure queue`"),
    ("measure write", "as `measure queue`"),
    ("qos run", "becomes another command, and answers nothing itself"),
    ("qos set", "changes a process, and answers as `qos show` does"),
];

/// Every verb with what makes it answer, in a tree that [`everything`] makes.
const ANSWERS: [(&str, &str); 35] = [
    ("check", "check"),
    ("check", "check --where a"),
    ("code cost", "code cost Demo.app"),
    ("code show", "code show Demo.app"),
    ("code verify", "code verify Demo.app"),
    ("copy", "copy --copies 1 sub copied"),
    ("diff", "diff a-folder sub"),
    ("export", "export --format gnu ."),
    ("hash", "hash a"),
    ("hash", "hash --check list"),
    ("help", "help --all"),
    ("import", "import --attributes"),
    ("init", "init sub"),
    ("known", "known a --in a-folder"),
    ("safe", "safe --copies 1 a --in copied"),
    ("merge", "merge result"),
    ("measure queue", "measure queue --quick --size 1MiB --block 4KiB --depth 1 sub"),
    ("measure report", "measure report published"),
    ("parity drop", "parity drop --yes a-folder"),
    ("parity make", "parity make ."),
    ("parity show", "parity show ."),
    ("parity update", "parity update ."),
    ("parity verify", "parity verify ."),
    ("qos watch", "qos watch --every 1s --time 1s 1"),
    ("qos show", "qos show"),
    ("repair", "repair --dry-run sub"),
    ("serve", "serve --no-open ."),
    ("show", "show"),
    ("show", "show --history a"),
    ("status", "status"),
    ("status", "status --audit"),
    ("tag", "tag"),
    ("untag", "untag sub"),
    ("update", "update"),
    // It takes a file away, which runs over the tree would miss.
    ("move", "move --copies 1 list moved"),
];

/// A tree in which every verb has something to say, and succeeds.
fn everything() -> Tree {
    let tree = Tree::small().file("a-folder/c", b"gamma");
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign/Demo.app");
    assert!(Command::new("cp").arg("-a").arg(app).arg(tree.path("")).status().unwrap().success());
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag", "--pages", "."]).succeeds();
    tree.run(["parity", "make", "a-folder"]).succeeds();
    tree.run(["check", "sub", "--shard", "0/1", "--result", "result"]).succeeds();
    std::fs::write(tree.path("list"), tree.run(["hash", "a", "b"]).succeeds().stdout).unwrap();
    tree
}

/// The verbs beneath one, as its help lists them; the verb itself if there are none.
fn verbs(tree: &Tree, above: &[String], found: &mut Vec<Vec<String>>) {
    let help = match above {
        [] => tree.run(["help", "--all"]).succeeds(),
        above => tree.run(above.iter().map(String::as_str).chain(["--help"])).succeeds(),
    };
    let lines = help.stdout().lines();
    let lines = lines.skip_while(|line| !above.is_empty() && !line.starts_with("Usage: "));
    let lines = lines.take_while(|line| *line != "Options:");
    // A verb is indented by two and in lower case; what follows on further lines is deeper.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| name.starts_with(|letter: char| letter.is_ascii_lowercase()));
    let names: Vec<&str> = names.filter(|name| *name != "help" || above.is_empty()).collect();
    found.push(above.to_vec());
    for name in names {
        let beneath = [above, &[name.to_owned()]].concat();
        verbs(tree, &beneath, found);
    }
}

/// Ends with what becomes of a command on a full device and with its stdout closed.
fn unwritten(tree: &Tree, arguments: &[String]) -> [Outcome; 2] {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$@\" >&-", "sh", crate::tree::PROGRAM]).args(arguments);
    shell
        .current_dir(tree.path(""))
        .env("STEADFAST_IGNORE_CTIME", "1")
        .env("XDG_STATE_HOME", tree.state(""));
    [output_to(tree.command(arguments), full), Outcome::of(&mut shell)]
}

/// Runs a command with its stdout elsewhere.
fn output_to(mut command: Command, stdout: impl Into<std::process::Stdio>) -> Outcome {
    let output = command.stdout(stdout).spawn().unwrap();
    drop(command);
    let output = output.wait_with_output().unwrap();
    Outcome {
        status: output.status.code().expect("the command ends by itself"),
        stdout: output.stdout,
        stderr: output.stderr,
    }
}

#[test]
fn help_that_cannot_be_written_is_no_success() {
    let tree = Tree::new();
    let mut all = Vec::new();
    verbs(&tree, &[], &mut all);
    let help = all.iter().map(|verb| [verb.as_slice(), &["--help".to_owned()]].concat());
    for arguments in help.chain([vec!["--version".to_owned()]]) {
        for outcome in unwritten(&tree, &arguments) {
            assert_eq!(outcome.status, 2, "{arguments:?}");
        }
    }
    // That nobody reads on is no failure.
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    assert_eq!(output_to(tree.command(["--help"]), writer).status, 0);
}

#[test]
fn an_answer_that_cannot_be_written_is_no_success() {
    let tree = everything();
    let mut all = Vec::new();
    verbs(&tree, &[], &mut all);
    let above: BTreeSet<Vec<String>> =
        all.iter().filter_map(|verb| Some(verb.split_last()?.1.to_vec())).collect();
    let leaves = all.into_iter().filter(|verb| !above.contains(verb));
    let leaves: BTreeSet<String> = leaves.map(|verb| verb.join(" ")).collect();
    let answers = ANSWERS.iter().chain(&BY_HELP_ALONE).map(|(verb, _)| (*verb).to_owned());
    assert_eq!(leaves, answers.collect(), "each verb is tried, or it is said why not");
    for (verb, line) in ANSWERS {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for outcome in unwritten(&tree, &arguments) {
            // What was found outranks it: 1 and 3.
            let found = matches!(verb, "diff" | "code verify");
            assert!(outcome.status == 2 || (found && outcome.status != 0), "{line}: {outcome:?}");
            let _ = std::fs::remove_dir_all(tree.path("sub/.steadfast"));
            let _ = std::fs::remove_dir_all(tree.path("other"));
        }
    }
}
