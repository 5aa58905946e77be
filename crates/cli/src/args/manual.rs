//! The arguments of `steadfast manual`, and the command as its manual describes it.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};

use super::{Cli, help};

/// Write manual pages and shell completions.
///
/// Writes a manual page for each verb and one about formats, and completions for bash, zsh and
/// fish, into the folders below DIR where a system looks for them. Existing files with these names
/// are replaced. Packages contain these files already.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast manual ~/.local/share        for yourself
  steadfast manual /usr/local/share      for all users

Files: DIR/man/man1, DIR/man/man5, DIR/bash-completion/completions, DIR/zsh/site-functions, \
DIR/fish/vendor_completions.d.

Exit status: 0 written; 2 not written.")]
pub(crate) struct ManualArgs {
    /// A folder for data of programs, such as ~/.local/share. Made if it is not there
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

impl ManualArgs {
    /// Returns the command with all its verbs, complete, for pages and completions.
    pub(crate) fn command() -> clap::Command {
        // The page of `--help` groups the verbs by a template that manual pages do not use.
        let mut command = help::page(Cli::command()).disable_help_subcommand(true);
        command.build();
        command
    }
}
