//! From the command line to [`Cli`].
//!
//! Building the arguments of all verbs takes half a millisecond, a fifth of a check of one small
//! file. Therefore the verbs of everyday use are first tried alone. Help and messages come from the
//! whole command, which also parses everything else.

use std::ffi::OsString;

use clap::Args as _;
use clap::error::ErrorKind;

use super::{CheckArgs, Cli, HashArgs, ShowArgs, TagArgs, UpdateArgs, store};

impl Cli {
    /// Parses the words of a command line, the program's name first.
    ///
    /// # Errors
    /// If they ask for help, or are not understood.
    pub(crate) fn of_words(words: &[OsString]) -> Result<Cli, clap::Error> {
        if let Some(advice) = store::advice(words) {
            return Err(clap::Error::raw(ErrorKind::ValueValidation, advice));
        }
        by_verb_alone(words).map_or_else(|| Cli::of_all_verbs(words), Ok)
    }
}

/// Parses the words if they begin with a verb of everyday use, and nothing is wrong with them.
fn by_verb_alone(words: &[OsString]) -> Option<Cli> {
    let verb = |name: &'static str| clap::Command::new(name);
    let verb = match words.get(1)?.to_str()? {
        "check" => CheckArgs::augment_args(verb("check")),
        "hash" => HashArgs::augment_args(verb("hash")),
        "show" => ShowArgs::augment_args(verb("show")),
        "tag" => TagArgs::augment_args(verb("tag")),
        "update" => UpdateArgs::augment_args(verb("update")),
        _ => return None,
    };
    let command = clap::Command::new("steadfast").subcommand(verb);
    let matches = command.try_get_matches_from(words).ok()?;
    Cli::of_matches(&matches).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_verb_alone_is_parsed_as_with_all_others() {
        for line in [
            "steadfast check a b --json",
            "steadfast check --require-tags -- -x",
            "steadfast hash --algorithm blake3 a",
            "steadfast show",
            "steadfast tag --dry-run --exclude *.tmp a",
            "steadfast update --workers 3 a",
        ] {
            let whole = format!("{:?}", Cli::of_all_verbs(&words(line)).unwrap());
            let alone = by_verb_alone(&words(line));
            assert_eq!(alone.map(|cli| format!("{cli:?}")), Some(whole), "{line}");
        }
    }

    #[test]
    fn help_and_mistakes_are_left_to_the_whole_command() {
        for line in ["steadfast", "steadfast check --help", "steadfast tag --jsno", "steadfast tga"]
        {
            assert!(by_verb_alone(&words(line)).is_none(), "{line}");
            assert!(Cli::of_words(&words(line)).is_err(), "{line}");
        }
    }
}
