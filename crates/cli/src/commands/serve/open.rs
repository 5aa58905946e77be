//! `steadfast serve --open`: paths → a server that shows them, or a new one for their folders → the
//! page that shows them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use steadfast_serve::{Config, Server};

use crate::args::{ServeArgs, ignores_change_times, workload_of};
use steadfast::ExitStatus;
use steadfast::beneath;

use super::super::measure::made_by;
use super::{automation, open_browser, running, serve};
use crate::exit::complain;
use crate::output::write_out;
use crate::state_folder;

/// How long a server stays without a visitor.
const IDLE: Duration = Duration::from_secs(600);

pub(super) fn run(args: &ServeArgs) -> anyhow::Result<ExitStatus> {
    let here = [PathBuf::from(".")];
    let given = if args.roots.is_empty() { &here[..] } else { &args.roots };
    let paths = given.iter().map(|path| real(path));
    let paths: Vec<PathBuf> = paths.collect::<anyhow::Result<_>>()?;
    if let Some(address) = running::find(&paths) {
        return show(&address, !args.no_open);
    }
    // Of a file, nothing beside it is shown.
    let (roots, files) = paths.iter().cloned().partition(|path| beneath::is_folder(path));
    let server = Server::bind(Config {
        roots,
        files,
        trees: state_folder::trees(),
        ignore_change_times: ignores_change_times(),
        // Timers start checks of their own, so schedules outlive this server.
        automation: automation().ok(),
        made_by: made_by(),
        workload: |arguments| workload_of(arguments).ok(),
        ends_when_idle: Some(IDLE),
        ..Config::default()
    })?;
    let page = server.page_of(&paths);
    serve(server, &page, !args.no_open)
}

/// Prints an address, or has a browser open it.
fn show(address: &str, opens: bool) -> anyhow::Result<ExitStatus> {
    // Valid for a minute, for a user who opens it by hand: not every browser may read the page.
    write_out(format!("{address}\n").as_bytes()).context("cannot write to stdout")?;
    if let Some(Err(error)) = opens.then(|| open_browser(address)) {
        complain(&format!("no browser could be opened ({error}): open the address above"));
    }
    Ok(ExitStatus::Fine)
}

fn real(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize().with_context(|| format!("cannot open `{}`", path.display()))
}
