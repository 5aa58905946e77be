//! `steadfast diff`: arguments → one comparison → one document of it.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, ensure};
use steadfast::diff::{DiffMonitor, DiffSummary, PathPair, Trees, diff, diff_list};
use steadfast::{Notice, Options, Progress};
use steadfast_report::diff::{
    DiffCsv, DiffJson, DiffRenderer, DiffRoots, DiffText, DiffTextOptions,
};
use steadfast_report::{FindingRule, Output};

use crate::args::{DiffArgs, PathArgs};
use crate::exit;
use crate::output::write_answer;
use crate::progress::ProgressLine;

use super::documents::{ManifestDocument, STDIN};

/// Bytes of output that wait for a tick of progress.
const WAITING_LEN_MAX: usize = 64 << 10;

pub(super) fn run(args: &DiffArgs) -> anyhow::Result<u8> {
    let output = &args.output;
    ensure!(output.trace.is_none(), "a comparison cannot be traced");
    ensure!(
        args.read || args.algorithm.algorithm.is_none(),
        "--algorithm needs --read: tags have the algorithm that they were made with"
    );
    let of_both = PathArgs {
        paths: Vec::new(),
        files_from: None,
        null: false,
        exclude: args.exclude.clone(),
        exclude_from: args.exclude_from.clone(),
        one_file_system: args.one_file_system,
        empty: args.empty,
    };
    let selection = of_both.selection()?;
    let trees = Trees {
        here: args.a.clone(),
        there: args.b.clone(),
        read: args.read,
        excludes: selection.excludes,
        one_file_system: selection.one_file_system,
    };
    let stop = exit::stop_on_signals()?;
    let options = args.algorithm.choose(args.empty.choose(args.engine.options()));
    let options = Options { stop: Arc::clone(&stop), ..options };
    let mut listener = DiffListener::new(args, renderer(args), stop);
    let is_list = args.b == Path::new(STDIN) || (args.b.exists() && !args.b.is_dir());
    if !is_list {
        let result = diff(&trees, &options, &mut listener);
        return listener.finish(result);
    }
    // Of a list that cannot be understood whole, nothing can be said to be lacking.
    let list = ManifestDocument::open(&args.b, args.format)?.list;
    let list = list.collect::<Result<Vec<_>, _>>().map_err(|unlisted| {
        let document = steadfast_report::escape::path(&unlisted.document);
        anyhow::anyhow!("`{document}`: {}", steadfast_report::escape::text(&unlisted.reason))
    })?;
    let list = list.into_iter().filter_map(|(path, reference)| Some((path, reference?))).collect();
    let result = diff_list(&trees, list, &options, &mut listener);
    listener.finish(result)
}

fn renderer(args: &DiffArgs) -> Box<dyn DiffRenderer> {
    let output = &args.output;
    if output.json {
        return Box::new(DiffJson { quiet: output.quiet });
    }
    if output.csv {
        return Box::new(DiffCsv::new(output.quiet));
    }
    let text = output.text(FindingRule::default());
    Box::new(DiffText::new(DiffTextOptions {
        roots: DiffRoots { here: args.a.clone(), there: args.b.clone() },
        verbose: text.verbose,
        quiet: text.quiet,
        color: text.color,
        units: text.units,
    }))
}

/// Renders and writes what a comparison says, at each tick of progress or whenever much waits.
struct DiffListener {
    renderer: Box<dyn DiffRenderer>,
    pending: Output,
    progress: ProgressLine,
    /// Set when nobody reads the answer any more.
    stop: Arc<AtomicBool>,
    failed: Option<io::Error>,
    is_csv: bool,
}

impl DiffListener {
    fn new(
        args: &DiffArgs,
        renderer: Box<dyn DiffRenderer>,
        stop: Arc<AtomicBool>,
    ) -> DiffListener {
        let output = &args.output;
        let machine_read = output.json || output.csv;
        let progress =
            ProgressLine::new(output.progress, machine_read, output.quiet, output.units());
        let (pending, is_csv) = (Output::default(), output.csv);
        DiffListener { renderer, pending, progress, stop, failed: None, is_csv }
    }

    /// Writes the end and returns the exit status.
    fn finish(mut self, result: Result<DiffSummary, steadfast::Error>) -> anyhow::Result<u8> {
        self.progress.clear();
        if let Ok(summary) = &result {
            self.renderer.end(summary, &mut self.pending);
        }
        self.pour();
        let mut summary = result.map_err(|error| anyhow::anyhow!("{error}"))?;
        match self.failed {
            None => {}
            // The reader went away, as `head` does. That is its right.
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                summary.interrupted &= exit::was_signalled();
            }
            Some(error) => return Err(error).context("cannot write to stdout"),
        }
        Ok(summary.exit_status())
    }

    fn pour(&mut self) {
        let DiffListener { pending, progress, failed, is_csv, .. } = self;
        if pending.answer.is_empty() && pending.trouble.is_empty() {
            return;
        }
        progress.aside(|| {
            if failed.is_none() {
                *failed = write_answer(&pending.answer, *is_csv).err();
            }
            // There is no place left to say that stderr is gone.
            let _ = io::stderr().lock().write_all(&pending.trouble);
        });
        pending.answer.clear();
        pending.trouble.clear();
        if self.failed.is_some() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn pour_if_much(&mut self) {
        if self.pending.answer.len() + self.pending.trouble.len() >= WAITING_LEN_MAX {
            self.pour();
        }
    }
}

impl DiffMonitor for DiffListener {
    fn pair(&mut self, pair: &PathPair) {
        self.renderer.pair(pair, &mut self.pending);
        self.pour_if_much();
    }

    fn notice(&mut self, notice: &Notice) {
        self.renderer.notice(notice, &mut self.pending);
        self.pour_if_much();
    }

    fn progress(&mut self, progress: &Progress) {
        self.pour();
        self.progress.show(progress);
    }
}
