//! The first screen, the page of each verb, and the list of all verbs.
//!
//! The parser knows headings for options and none for verbs, so these pages are templates that are
//! made from the command's own definition. `-h` has an example and a line for each usual option;
//! `--help` has everything.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::{Args, CommandFactory as _};

use super::Cli;

/// Explain a verb, or list all verbs.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast help check
  steadfast help --all

Exit status: 0 printed; 2 there is no such verb.")]
pub(crate) struct HelpArgs {
    /// A verb, and a verb beneath it
    #[arg(value_name = "VERB")]
    pub(crate) verb: Vec<String>,
    /// List all verbs, and the variables of the environment
    #[arg(long, conflicts_with = "verb")]
    pub(crate) all: bool,
    /// Write manual pages and shell completions below DIR, where a system looks for them:
    /// DIR/man/man1, DIR/man/man5, DIR/bash-completion/completions, DIR/zsh/site-functions,
    /// DIR/fish/vendor_completions.d. Packages contain them already
    #[arg(long, value_name = "DIR", conflicts_with_all = ["verb", "all"])]
    pub(crate) manual: Option<PathBuf>,
}

/// The verbs of the first screen.
const FIRST: [&str; 9] =
    ["init", "check", "update", "repair", "status", "show", "schedule", "alert", "serve"];

/// The other verbs by what they are for, in the order of `help --all`.
const OTHERS: [(&str, &[&str]); 5] = [
    ("Empty a card, replace a disk", &["copy", "move", "safe", "known"]),
    ("Copies and lists", &["parity", "diff", "hash", "export", "import", "merge"]),
    (
        "Tags alone (without a catalogue, missing and renamed files are not noticed)",
        &["tag", "untag"],
    ),
    ("Companions", &["code", "measure", "qos"]),
    ("Help", &["help"]),
];

/// Options that `-h` does not show.
const RARE: [&str; 70] = [
    "against",
    "alerts-within",
    "algorithm",
    "allow-empty",
    "answer",
    "anyway",
    "backend",
    "base-path",
    "behind-proxy",
    "brief",
    "catalogue",
    "cdhash",
    "convert",
    "csv",
    "days",
    "download",
    "every-byte",
    "exclude-from",
    "files-from",
    "forget-copy",
    "hash-password",
    "host",
    "identifier",
    "lanes",
    "list-copies",
    "max-bytes",
    "metrics-token",
    "name",
    "new",
    "no-catalogue",
    "no-sync",
    "null",
    "offset",
    "one-file-system",
    "page-size",
    "pause",
    "premis",
    "profile",
    "progress",
    "qos",
    "queue-depth",
    "random",
    "rate-limit",
    "read-from",
    "records",
    "remember-copy",
    "report",
    "require-local",
    "requirement",
    "result",
    "resume",
    "sample",
    "seed",
    "sessions",
    "set-id",
    "shard",
    "sidecar",
    "single",
    "strict",
    "tls-cert",
    "tls-key",
    "trace",
    "trust",
    "trust-servers",
    "trust-tree",
    "units",
    "wait",
    "warn",
    "whole-system",
    "workers",
];

/// The environment variables that the program reads, with the verbs whose pages have them; none for
/// all verbs.
const ENVIRONMENT: [(&[&str], &str, &str); 6] = [
    (
        &[],
        "XDG_STATE_HOME, HOME",
        "The folder for state: $XDG_STATE_HOME/steadfast, by default\n          \
         ~/.local/state/steadfast, on macOS ~/Library/Application Support/Steadfast.",
    ),
    (
        &["schedule", "alert"],
        "XDG_CONFIG_HOME",
        "The folder for schedules and alerts: $XDG_CONFIG_HOME/steadfast, by default \
         ~/.config/steadfast.",
    ),
    (
        &["serve"],
        "XDG_RUNTIME_DIR, on macOS TMPDIR",
        "The folder in which a running server leaves its address for `serve --open`.",
    ),
    (
        &[],
        "NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM, CI, PATH",
        "Whether output has colours, and where other programs are found.",
    ),
    (
        &["measure"],
        "STEADFAST_QOS",
        "The level that `qos run` was asked for, which it sets for its command, so that records \
         of `measure` keep it.",
    ),
    (&[], "STEADFAST_SESSION_OF", "Set by the program for a child that it starts. Do not set it."),
];

/// Length of the longest verb.
const VERB_LEN: usize = 8;

/// Gives a command its first screen, and each verb its page.
pub(super) fn page(command: clap::Command) -> clap::Command {
    let styles = command.get_styles();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let mut page = format!(
        "{{about}}.\n\n{header}Usage:{header:#} {literal}steadfast{literal:#} VERB \
         [OPTIONS] [PATH]...\n\n"
    );
    write_verbs(&command, &FIRST, &mut page);
    let others = OTHERS.iter().flat_map(|(_, verbs)| *verbs);
    let others: Vec<&str> = others
        .copied()
        .filter(|verb| command.find_subcommand(verb).is_some_and(|verb| !verb.is_hide_set()))
        .collect();
    let others: Vec<String> = others.chunks(OTHERS_IN_LINE).map(|line| line.join(" ")).collect();
    let _ = write!(
        page,
        "\nBegin with `steadfast init DIR`. `steadfast VERB -h` explains a verb.\n\
         More (`steadfast help --all` explains them):\n  {}\n\n{END}\n",
        others.join("\n  ")
    );
    command.help_template(page).mut_subcommands(|verb| verb_page(verb, &[]))
}

/// How many of the other verbs stand in a line of the first screen.
const OTHERS_IN_LINE: usize = 10;

/// What the first screen ends with.
const END: &str = "\
Exit status: 0 nothing wrong; 1 something is modified or missing; 2 could not
tell; 3 something is corrupt or suspect; 130 interrupted.";

/// Returns the page of all verbs and the variables of the environment.
pub(crate) fn all_verbs(color: bool) -> String {
    let command = Cli::command();
    let mut page = String::new();
    write_verbs(&command, &FIRST, &mut page);
    for (title, verbs) in OTHERS {
        let _ = write!(page, "\n{title}:\n");
        write_verbs(&command, verbs, &mut page);
    }
    let _ = write!(page, "\n{END}{}\n", environment(None));
    let page = StyledStr::from(page);
    if color { page.ansi().to_string() } else { page.to_string() }
}

/// Returns the whole page of a verb, given by its words.
pub(crate) fn page_of(command: clap::Command, words: &[String]) -> Option<StyledStr> {
    let mut command = page(command);
    command.build();
    let mut verb = &mut command;
    for word in words {
        verb = verb.find_subcommand_mut(word)?;
    }
    Some(verb.render_long_help())
}

fn write_verbs(command: &clap::Command, verbs: &[&str], page: &mut String) {
    let literal = *command.get_styles().get_literal();
    for verb in verbs.iter().filter_map(|verb| command.find_subcommand(verb)) {
        let (name, about) = (verb.get_name(), verb.get_about().unwrap_or_default());
        let _ = writeln!(page, "  {literal}{name:VERB_LEN$}{literal:#}  {about}");
    }
}

/// Gives a verb its page: an example first, then the options.
fn verb_page(verb: clap::Command, above: &[&str]) -> clap::Command {
    let help = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let (examples, rest) = split_examples(&help);
    let mut first: Vec<&str> = Vec::new();
    for line in examples.lines() {
        first.push(line);
        if !line.ends_with('\\') {
            break;
        }
    }
    let mut end = rest.to_owned();
    if above.is_empty() {
        end.push_str(&environment(Some(verb.get_name())));
    }
    let name = verb.get_name().to_owned();
    let verb = match examples.is_empty() {
        true => verb,
        false => verb
            .before_help(format!("Example:\n{}", first.join("\n")))
            .before_long_help(format!("Examples:\n{examples}"))
            .help_template(
                "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}\
                 {after-help}",
            ),
    };
    verb.after_long_help(end)
        .mut_args(brief)
        .mut_subcommands(|below| verb_page(below, &[above, &[name.as_str()]].concat()))
}

/// Makes `-h` show the first sentence about an option, and no option that is rare.
fn brief(arg: clap::Arg) -> clap::Arg {
    let Some(full) = arg.get_help().map(ToString::to_string) else { return arg };
    let short = full.split(". ").next().unwrap_or(&full);
    let short = short.split(" [default").next().unwrap_or(short).to_owned();
    let is_rare = arg.get_long().is_some_and(|name| RARE.contains(&name));
    let long = arg.get_long_help().map_or(full, ToString::to_string);
    arg.help(short).long_help(long).hide_short_help(is_rare)
}

/// Splits the end of a verb's help into its examples, without their heading, and the rest.
fn split_examples(help: &str) -> (&str, &str) {
    let Some(rest) = help.strip_prefix("Examples:\n") else { return ("", help) };
    rest.split_once("\n\n").unwrap_or((rest, ""))
}

/// Describes the environment variables of a verb, or those that no verb has alone.
fn environment(verb: Option<&str>) -> String {
    let of = |verbs: &&[&str]| verb.map_or(verbs.is_empty(), |verb| verbs.contains(&verb));
    let rows = ENVIRONMENT.iter().filter(|(verbs, ..)| of(verbs));
    let rows: String =
        rows.map(|(_, names, what)| format!("\n  {names}\n          {what}")).collect();
    if rows.is_empty() { rows } else { format!("\n\nEnvironment:{rows}") }
}

/// Returns the command with all its verbs, complete, for manual pages and completions.
pub(crate) fn described() -> clap::Command {
    let with_environment = |verb: clap::Command| {
        let help = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        let end = help + &environment(Some(verb.get_name()));
        verb.after_long_help(end)
    };
    let command = Cli::command().mut_subcommands(with_environment);
    let mut command = command.after_long_help(format!("{END}{}", environment(None)));
    command.build();
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::ffi::OsString;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Every verb and every verb beneath one, by its words.
    fn verbs() -> Vec<(String, clap::Command)> {
        fn add(words: &str, command: &clap::Command, all: &mut Vec<(String, clap::Command)>) {
            for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
                let words = format!("{words} {}", verb.get_name());
                add(&words, verb, all);
                all.push((words, verb.clone()));
            }
        }
        let mut all = Vec::new();
        let mut command = page(Cli::command()).term_width(100);
        command.build();
        add("steadfast", &command, &mut all);
        assert!(all.len() >= 20, "{}", all.len());
        all
    }

    #[test]
    fn every_verb_stands_in_one_group() {
        let command = Cli::command();
        let mut verbs: Vec<&str> = command.get_subcommands().map(|verb| verb.get_name()).collect();
        let others = OTHERS.iter().flat_map(|(_, verbs)| *verbs);
        let mut grouped: Vec<&str> = FIRST.iter().chain(others).copied().collect();
        verbs.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, verbs);
        let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set()).count();
        assert!(shown <= 24, "{shown} verbs");
    }

    #[test]
    fn the_first_screen_fits_and_is_the_same_however_it_is_asked_for() {
        let mut command = page(Cli::command());
        let (short, long) = (command.render_help(), command.render_long_help());
        let (short, long) = (short.to_string(), long.to_string());
        assert_eq!(short, long);
        assert!(
            short.starts_with("Steadfast finds the files that changed without you, and mends them")
        );
        assert!(short.lines().count() <= 24, "{short}");
        assert!(short.lines().all(|line| line.len() <= 80), "{short}");
        for verb in FIRST {
            assert!(short.contains(&format!("\n  {verb:VERB_LEN$}  ")), "{verb}\n{short}");
        }
        for (_, verbs) in &OTHERS[..4] {
            assert!(verbs.iter().all(|verb| short.contains(verb)), "{short}");
        }
        let all = all_verbs(false);
        let command = Cli::command();
        for verb in command.get_subcommands() {
            let line = format!("  {:VERB_LEN$}  {}", verb.get_name(), verb.get_about().unwrap());
            assert!(all.lines().any(|other| other == line), "{line}\n{all}");
        }
    }

    #[test]
    fn short_help_is_short_and_begins_with_an_example() {
        let mut too_long = Vec::new();
        for (words, mut verb) in verbs() {
            let short = verb.render_help().to_string();
            let lines = short.lines().count();
            if lines > 30 {
                too_long.push(format!("{words}: {lines} lines\n{short}"));
            }
            let begins = short.lines().take(5).any(|line| line.starts_with("Example"));
            assert!(begins, "{words}\n{short}");
        }
        assert!(too_long.is_empty(), "{}", too_long.join("\n"));
    }

    #[test]
    fn rare_options_are_in_the_long_help_alone() {
        let mut seen = BTreeSet::new();
        for (words, mut verb) in verbs() {
            let (short, long) =
                (verb.render_help().to_string(), verb.render_long_help().to_string());
            let names: Vec<&str> = verb.get_arguments().filter_map(|arg| arg.get_long()).collect();
            for name in names.into_iter().filter(|name| RARE.contains(name)) {
                let shown = |help: &str| {
                    let lines = help.lines().map(str::trim_start);
                    let mut lines = lines.filter(|line| line.starts_with('-'));
                    lines.any(|line| line.split([' ', ',']).any(|word| word == format!("--{name}")))
                };
                assert!(!shown(&short) && shown(&long), "{words} --{name}\n{short}");
                seen.insert(name.to_owned());
            }
        }
        if cfg!(feature = "serve") {
            assert!(seen.iter().eq(&RARE.map(str::to_owned)), "{seen:?}");
        }
    }

    #[test]
    fn every_verb_has_examples_that_it_understands() {
        for (words, verb) in verbs() {
            let examples = examples(&verb);
            let own = examples.iter().filter(|example| {
                example
                    .strip_prefix(&words)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            });
            assert!(own.count() > 0, "{words} has no example of its own: {examples:?}");
            for example in &examples {
                let typed: Vec<OsString> = split(example).into_iter().map(OsString::from).collect();
                let parsed = Cli::of_words(&typed);
                assert!(parsed.is_ok(), "`{example}` in the help of {words}: {:?}", parsed.err());
            }
        }
    }

    /// The commands of this program in the examples of a verb.
    fn examples(verb: &clap::Command) -> Vec<String> {
        let help = verb.get_before_long_help().map(ToString::to_string).unwrap_or_default();
        let block = help.split_once("Examples:\n").map_or("", |(_, rest)| rest);
        let block = block.split("\n\n").next().unwrap_or("").replace("\\\n", " ");
        // A remark follows after several spaces.
        let lines = block.lines().filter_map(|line| line.trim().split("   ").next());
        let commands = lines.flat_map(|line| line.split(['|', '>'])).map(str::trim);
        commands.filter(|part| part.starts_with("steadfast ")).map(str::to_owned).collect()
    }

    /// Splits a command as a shell does, with numbers for variables.
    fn split(command: &str) -> Vec<String> {
        let mut quote = None;
        let mut words = vec![String::new()];
        for letter in command.chars() {
            match letter {
                _ if quote == Some(letter) => quote = None,
                '\'' | '"' if quote.is_none() => quote = Some(letter),
                ' ' if quote.is_none() => words.push(String::new()),
                _ => words.last_mut().unwrap().push(letter),
            }
        }
        let words = words.into_iter().filter(|word| !word.is_empty());
        words.map(|word| if word.starts_with('$') { "1".to_owned() } else { word }).collect()
    }

    #[test]
    fn help_describes_every_environment_variable() {
        let of_verbs = verbs().into_iter().map(|(_, mut verb)| verb.render_long_help().to_string());
        let help = all_verbs(false) + &of_verbs.collect::<String>();
        let described: BTreeSet<&str> = help.split(|c: char| !is_of_name(c)).collect();
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut read = BTreeSet::new();
        for name in ["cli", "sys", "serve"] {
            for file in sources(&crates.join(name).join("src")) {
                let source = fs::read_to_string(&file).unwrap();
                let source = source.split("#[cfg(test)]").next().unwrap();
                if !source.contains("env::var(") && !source.contains("env::var_os(") {
                    continue;
                }
                let names = source.split('"').skip(1).step_by(2);
                let names = names.filter(|text| text.len() > 1 && text.chars().all(is_of_name));
                let names: Vec<String> = names.map(str::to_owned).collect();
                assert!(!names.is_empty(), "{} reads a variable without a name", file.display());
                read.extend(names);
            }
        }
        for name in &read {
            assert!(described.contains(name.as_str()), "{name} is not described");
        }
        assert!(read.contains("HOME"), "{read:?}");
    }

    fn is_of_name(letter: char) -> bool {
        letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_'
    }

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        files.into_iter().chain(folders.iter().flat_map(|folder| sources(folder))).collect()
    }
}
