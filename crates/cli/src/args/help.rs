//! The page of `steadfast --help`, on which the verbs stand in groups.
//!
//! The parser knows headings for options and none for verbs, so the page is a template that is
//! made from the command's own definition.

use std::fmt::Write as _;

/// The verbs by what they are for, in the order of the page.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Everyday", &["tag", "check", "update", "show", "untag", "retag"]),
    ("Catalogue", &["init", "history", "audit"]),
    ("Interchange", &["hash", "export", "import", "diff", "probe"]),
    ("Browser", &["serve", "open"]),
    ("Elsewhere", &["code", "pages", "fleet", "objects"]),
    ("This machine", &["measure", "report", "qos"]),
];

/// Length of the longest verb.
const VERB_LEN: usize = 7;

/// Gives a command a help page with its verbs in groups.
pub(super) fn grouped(command: clap::Command) -> clap::Command {
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
    command.help_template(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory as _;

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
        let page = grouped(Cli::command()).render_help().to_string();
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
}
