//! The page of `steadfast --help`: the verbs in groups, and the environment variables.
//!
//! The parser knows headings for options and none for verbs, so the page is a template that is
//! made from the command's own definition.

use std::fmt::Write as _;

/// The verbs by what they are for, in the order of the page.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Everyday", &["tag", "check", "update", "repair", "show", "untag", "retag"]),
    ("Catalogue", &["init", "history", "audit", "parity"]),
    ("Regularly", &["status", "schedule", "alert"]),
    ("Interchange", &["hash", "export", "import", "diff", "probe"]),
    ("Browser", &["serve", "open"]),
    ("Elsewhere", &["code", "pages", "par2", "fleet", "objects"]),
    ("This machine", &["measure", "report", "qos", "manual"]),
];

/// The environment variables that the program reads, with the verb that reads them if it is one
/// alone. Those of the sixth row are read by the libraries that write colours and start programs.
const ENVIRONMENT: [(Option<&str>, &str, &str); 11] = [
    (
        None,
        "STEADFAST_IGNORE_CTIME",
        "If it is set, files are judged by their modification times alone, as on file systems that \
         keep no change time: for trees in which another program moves change times all the time.",
    ),
    (
        None,
        "STEADFAST_AHEAD_S",
        "For tests: seconds by which the program takes its clock to be ahead.",
    ),
    (
        None,
        "XDG_STATE_HOME, HOME",
        "The folder for state: $XDG_STATE_HOME/steadfast, by default ~/.local/state/steadfast, on \
         macOS ~/Library/Application Support/Steadfast. It holds the list of trees that have a \
         catalogue, and the changes of `qos set`.",
    ),
    (
        Some("schedule"),
        "XDG_CONFIG_HOME",
        "The folder for schedules and alerts: $XDG_CONFIG_HOME/steadfast, by default \
         ~/.config/steadfast.",
    ),
    (
        Some("open"),
        "XDG_RUNTIME_DIR, on macOS TMPDIR",
        "The folder in which a running server leaves its address for `open`.",
    ),
    (
        None,
        "NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM, CI, PATH",
        "Whether output has colours, and where other programs are found (the tools that `probe` \
         tries, the command of `qos run`, the browser).",
    ),
    (
        Some("objects"),
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE, \
         AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE",
        "The keys for `objects check`, or the profile and the files that have them, by default \
         ~/.aws/credentials and ~/.aws/config.",
    ),
    (
        Some("objects"),
        "AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_CA_BUNDLE",
        "The region and address of the store, and the certificates to trust.",
    ),
    (
        Some("fleet"),
        "HOSTNAME, SLURMD_NODENAME",
        "The name of the machine in the parts of a job, by default that of the system.",
    ),
    (
        Some("measure"),
        "STEADFAST_QOS",
        "The level that `qos run` was asked for, which it sets for its command, so that records \
         of `measure` keep it.",
    ),
    (
        None,
        "STEADFAST_SESSION_OF",
        "Set by the program for a child that it starts in a session of its own. Do not set it.",
    ),
];

/// Length of the longest verb.
const VERB_LEN: usize = 8;

/// Gives a command a help page with its verbs in groups, and its environment variables at the end.
pub(super) fn page(command: clap::Command) -> clap::Command {
    let styles = command.get_styles();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let mut page = String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n");
    for (title, verbs) in GROUPS {
        let _ = write!(page, "\n{header}{title}:{header:#}\n");
        for verb in verbs.iter().filter_map(|verb| command.find_subcommand(verb)) {
            let (name, about) = (verb.get_name(), verb.get_about().unwrap_or_default());
            let _ = writeln!(page, "  {literal}{name:VERB_LEN$}{literal:#}  {about}");
        }
    }
    let _ = write!(page, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    let end = command.get_after_long_help().map(|end| end.ansi().to_string());
    let end = end.unwrap_or_default() + &environment(&command);
    command.help_template(page).after_long_help(end)
}

/// Describes the environment variables that the verbs of a command read.
fn environment(command: &clap::Command) -> String {
    let mut text = String::from("\n\nEnvironment:");
    for (verb, names, what) in ENVIRONMENT {
        if verb.is_none_or(|verb| command.find_subcommand(verb).is_some()) {
            let _ = write!(text, "\n  {names}\n          {what}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{CommandFactory as _, Parser as _};
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Options for experts, which `-h` does not show.
    const EXPERT: [&str; 17] = [
        "allow-empty",
        "backend",
        "ca-bundle",
        "exclude-from",
        "file-cost",
        "lanes",
        "null",
        "one-file-system",
        "page-size",
        "progress",
        "queue-depth",
        "seed",
        "sidecar",
        "trace",
        "units",
        "wait",
        "workers",
    ];

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
        add("steadfast", &Cli::command(), &mut all);
        assert!(all.len() >= 20, "{}", all.len());
        all
    }

    #[test]
    fn every_verb_stands_in_one_group() {
        let command = Cli::command();
        let mut verbs: Vec<&str> = command.get_subcommands().map(|verb| verb.get_name()).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        verbs.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, verbs);
    }

    #[test]
    fn the_page_lists_each_verb_in_80_columns() {
        let page = page(Cli::command()).render_help().to_string();
        for verb in Cli::command().get_subcommands() {
            let about = verb.get_about().unwrap();
            let line = format!("  {:VERB_LEN$}  {about}", verb.get_name());
            assert!(page.lines().any(|other| other == line), "{line}\n{page}");
            assert!(line.len() <= 80, "{} columns: {line}", line.len());
        }
        for (title, _) in GROUPS {
            assert!(page.contains(&format!("\n\n{title}:\n")), "{title}\n{page}");
        }
    }

    #[test]
    fn short_help_leaves_out_the_options_of_experts() {
        let mut seen = BTreeSet::new();
        for (words, mut verb) in verbs() {
            let (short, long) =
                (verb.render_help().to_string(), verb.render_long_help().to_string());
            let names: Vec<&str> = verb.get_arguments().filter_map(|arg| arg.get_long()).collect();
            for name in names.into_iter().filter(|name| EXPERT.contains(name)) {
                let shown = |help: &str| {
                    let mut lines = help.lines().map(str::trim_start);
                    lines.any(|line| line.split([' ', ',']).any(|word| word == format!("--{name}")))
                };
                assert!(!shown(&short) && shown(&long), "{words} --{name}\n{short}");
                seen.insert(name.to_owned());
            }
        }
        assert!(seen.iter().eq(&EXPERT.map(str::to_owned)), "{seen:?}");
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
                let parsed = Cli::try_parse_from(split(example));
                assert!(parsed.is_ok(), "`{example}` in the help of {words}: {:?}", parsed.err());
            }
        }
    }

    /// The commands of this program in the examples of a verb.
    fn examples(verb: &clap::Command) -> Vec<String> {
        let help = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
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
        let help = page(Cli::command()).render_long_help().to_string();
        let described: BTreeSet<&str> = help.split(|c: char| !is_of_name(c)).collect();
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut read = BTreeSet::new();
        for name in ["cli", "sys", "serve", "fleet", "objects"] {
            for file in sources(&crates.join(name).join("src")) {
                let source = fs::read_to_string(&file).unwrap();
                let source = source.split("#[cfg(test)]").next().unwrap();
                if !source.contains("env::var") {
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
        assert!(read.contains("HOME") && read.contains("AWS_PROFILE"), "{read:?}");
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
