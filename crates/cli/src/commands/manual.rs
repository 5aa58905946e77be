//! `steadfast help --manual`: the command's own definition → manual pages and completions.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use clap_complete::Shell;
use clap_mangen::Man;
use steadfast::ExitStatus;
use steadfast::beneath::{Existing, write_whole};

use crate::args::described;

/// The page about formats. It is the only one that is written by hand.
const FORMATS: &str = include_str!("manual/steadfast-formats.5");

/// Where each shell looks for completions below the folder for data, and the names of their files.
const COMPLETIONS: [(Shell, &str, &str); 3] = [
    (Shell::Bash, "bash-completion/completions", "steadfast"),
    (Shell::Zsh, "zsh/site-functions", "_steadfast"),
    (Shell::Fish, "fish/vendor_completions.d", "steadfast.fish"),
];

pub(super) fn run(directory: &Path) -> anyhow::Result<ExitStatus> {
    let mut command = described();
    for (shell, folder, name) in COMPLETIONS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command, "steadfast", &mut text);
        write(&directory.join(folder), name, &text)?;
    }
    write(&directory.join("man/man5"), "steadfast-formats.5", FORMATS.as_bytes())?;
    write_pages(&directory.join("man/man1"), &command)?;
    Ok(ExitStatus::Fine)
}

/// Writes the page of a command and of each below it.
fn write_pages(folder: &Path, command: &clap::Command) -> anyhow::Result<()> {
    // A page names its version once, without the backends of the machine that made it.
    let page = Man::new(command.clone().long_version(env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text).context("rendering a manual page")?;
    let name = page.get_filename();
    let text = titled(&String::from_utf8(text)?, name.trim_end_matches(".1"));
    write(folder, &name, text.as_bytes())?;
    let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    shown.into_iter().try_for_each(|verb| write_pages(folder, verb))
}

/// Gives a page its title, since an empty date shifts what follows it, and a known heading.
fn titled(page: &str, name: &str) -> String {
    let title =
        format!(".TH {name} 1 \"\" \"steadfast {}\" \"Steadfast\"", env!("CARGO_PKG_VERSION"));
    let line = |line| match line {
        ".SH EXTRA" => ".SH NOTES".to_owned(),
        _ if str::starts_with(line, ".TH ") => title.clone(),
        _ => line.to_owned(),
    };
    page.lines().map(|each| line(each) + "\n").collect()
}

fn write(folder: &Path, name: &str, text: &[u8]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    let path = folder.join(name);
    let written = write_whole(&path, text, Existing::Replace);
    written.with_context(|| format!("cannot write `{}`", path.display()))
}
