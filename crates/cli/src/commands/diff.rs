//! `steadfast diff`: arguments → one comparison → one document of it.

use std::path::Path;
use std::sync::Arc;

use anyhow::ensure;
use steadfast::ExitStatus;
use steadfast::beneath::{FileKind, Status};
use steadfast::diff::{Trees, diff, diff_list};
use steadfast_report::FindingRule;
use steadfast_report::diff::{DiffLines, DiffRenderer, DiffRoots, DiffText};

use crate::args::DiffArgs;
use crate::console::Console;
use crate::exit;

use super::documents::{ManifestDocument, STDIN};

pub(super) fn run(args: &DiffArgs) -> anyhow::Result<ExitStatus> {
    let output = &args.output;
    ensure!(output.trace.is_none(), "a comparison cannot be traced");
    ensure!(
        args.read || args.algorithm.algorithm.is_none(),
        "--algorithm needs --read: tags have the algorithm that they were made with"
    );
    let selection = args.walk.selection()?;
    let mut trees = Trees::new(&args.a, &args.b);
    trees.read = args.read;
    trees.algorithm = args.algorithm.algorithm;
    trees.excludes = selection.excludes;
    trees.one_file_system = selection.one_file_system;
    let stop = exit::stop_on_signals()?;
    let options = args.walk.empty.choose(args.engine.options());
    let options = options.with(|options| options.controls.stop = Arc::clone(&stop));
    let mut renderer = renderer(args);
    let mut console = Console::new(&mut *renderer, output, Some(stop));
    let is_list = args.b == Path::new(STDIN)
        || Status::of(&args.b).is_ok_and(|b| b.kind != FileKind::Directory);
    if !is_list {
        let result = diff(&trees, &options, &mut console);
        return console.finish(result);
    }
    // If a part of the manifest cannot be read, no file can be reported as missing from it.
    let list = ManifestDocument::open(&args.b, args.format, None)?.list;
    let list = list.collect::<Result<Vec<_>, _>>().map_err(|unlisted| {
        let document = steadfast_report::escape::path(&unlisted.document);
        anyhow::anyhow!("`{document}`: {}", steadfast_report::escape::text(&unlisted.reason))
    })?;
    let list = list.into_iter().filter_map(|(path, reference)| Some((path, reference?))).collect();
    let result = diff_list(&trees, list, &options, &mut console);
    console.finish(result)
}

fn renderer(args: &DiffArgs) -> Box<dyn DiffRenderer> {
    let output = &args.output;
    if output.json {
        return Box::new(DiffLines::json(output.quiet));
    }
    if output.csv {
        return Box::new(DiffLines::csv(output.quiet));
    }
    let roots = DiffRoots { here: args.a.clone(), there: args.b.clone() };
    Box::new(DiffText::new(roots, output.text(FindingRule::default())))
}
