//! `steadfast show --history`: arguments → what a catalogue tells of one path → one document of it.

use std::path::Path;

use anyhow::bail;
use steadfast::ExitStatus;
use steadfast::Options;
use steadfast::beneath;
use steadfast::catalogue::{Catalogue, History};
use steadfast_report::history::{
    HistoryOf, HistoryView, RunOver, write_csv, write_json, write_text,
};
use steadfast_report::premis::write_premis;

use crate::args::{DocumentArgs, ShowArgs};
use crate::exit;
use crate::outlet::Outlet;
use crate::output::stdout_has_color;

use super::premis::write_tree;
use super::tree_catalogue::{each_run, open};

pub(super) fn run(args: &ShowArgs) -> anyhow::Result<ExitStatus> {
    let [path] = &args.paths.paths[..] else { bail!("--history is of one PATH") };
    let (catalogue, path) = open(path, args.place.file.as_deref())?;
    exit::stop_on_signals()?;
    let outlet = Outlet::new(args.document.csv);
    let history = catalogue.history(&path)?;
    if is_known(&history) {
        return write_of_file(&catalogue, &history, &args.document, outlet);
    }
    let whole = catalogue.runs_over(&path)?;
    if whole.is_empty() && !beneath::is_folder(&catalogue.root().join(&path)) {
        bail!("the catalogue `{}` knows no `{}`", catalogue.file().display(), path.display());
    }
    write_of_directory(&catalogue, &path, &whole, &args.document, outlet)
}

/// Whether a file of this name is known or ever was. Runs that covered its place say nothing of a
/// file that was never there.
fn is_known(history: &History) -> bool {
    history.now.is_some() || history.runs.iter().any(|run| !run.happened.is_empty())
}

fn write_of_file(
    catalogue: &Catalogue,
    history: &History,
    document: &DocumentArgs,
    mut outlet: Outlet,
) -> anyhow::Result<ExitStatus> {
    if document.premis {
        write_premis(catalogue.root(), history, &mut outlet.pending.answer);
    } else {
        let first = match &history.now {
            Some(look) => catalogue.runs(look.first_run.saturating_add(1), 1)?,
            None => Vec::new(),
        };
        let of = HistoryOf::File(history);
        let view = HistoryView { first: first.first(), ..view_of(catalogue, of) };
        write_view(&view, document, &mut outlet);
    }
    outlet.finish()?;
    Ok(ExitStatus::Fine)
}

fn write_of_directory(
    catalogue: &Catalogue,
    path: &Path,
    whole: &[i64],
    document: &DocumentArgs,
    mut outlet: Outlet,
) -> anyhow::Result<ExitStatus> {
    if document.premis {
        let tally = write_tree(catalogue, path, &mut outlet)?;
        outlet.finish()?;
        return Ok(ExitStatus::Interrupted.only_if(tally.interrupted));
    }
    let mut runs = Vec::new();
    each_run(catalogue, &mut |run| {
        let whole = whole.contains(&run.id);
        if whole || path.as_os_str().is_empty() {
            runs.push(RunOver { run, whole });
        }
    })?;
    runs.reverse();
    let of = HistoryOf::Directory { path, runs: &runs };
    write_view(&view_of(catalogue, of), document, &mut outlet);
    outlet.finish()?;
    Ok(ExitStatus::Fine)
}

fn view_of<'a>(catalogue: &'a Catalogue, of: HistoryOf<'a>) -> HistoryView<'a> {
    HistoryView { root: catalogue.root(), now: (Options::default().now)(), first: None, of }
}

fn write_view(view: &HistoryView<'_>, document: &DocumentArgs, outlet: &mut Outlet) {
    let out = &mut outlet.pending.answer;
    if document.json {
        write_json(view, out);
    } else if document.csv {
        write_csv(view, out);
    } else {
        write_text(view, document.units, stdout_has_color(), out);
    }
}
