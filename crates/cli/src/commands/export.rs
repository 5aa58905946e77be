//! `steadfast export`: tags as a document on stdout, or as another tool's attributes.

use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use steadfast::ExitStatus;
use steadfast::manifest::{self, DocumentWriter, ErrorKind, Format, Record};
use steadfast::{Event, FileEvent, HashOptions, Monitor, Run, Selection, Subject, Verb, Verdict};

use crate::args::ExportArgs;
use crate::exit::{self, complain};
use crate::output::Screen;
use steadfast_report::advice;

use super::{execute, report};

pub(super) fn run(args: &ExportArgs) -> anyhow::Result<ExitStatus> {
    let roots = if args.paths.is_empty() { vec![PathBuf::from(".")] } else { args.paths.clone() };
    if let Some(kind) = args.attributes {
        let selection = Selection::of(roots);
        let options = args.engine.options().with(|options| options.dry_run = args.dry_run.dry_run);
        let options = args.empty.choose(options);
        return execute(Verb::Export(kind), &selection, options, &args.output, report(&[]));
    }
    let format = args.format.context(NO_FORMAT)?;
    ensure!(roots.len() == 1, "a document is of one PATH: its names are relative to that");
    export(&roots[0], format, args)
}

/// The message if neither a format nor a tool is given.
const NO_FORMAT: &str = "export needs a format: `--format NAME` with steadfast, gnu, gnu-zero, \
    bsd, openssl, hashdeep, bagit, chkbit, chkbit-db, bitrot, sfv, ni or mtree; or \
    `--attributes TOOL` with shatag, dintch or unraid";

/// Writes one manifest of a tree, from its tags or with --read from its contents.
fn export(root: &Path, format: Format, args: &ExportArgs) -> anyhow::Result<ExitStatus> {
    let writer = manifest::writer(format, args.algorithm.algorithm, BufWriter::new(Screen::new()))?;
    let stop = exit::stop_on_signals()?;
    let mut document = ExportDocument {
        writer: Some(writer),
        // The walk reports files of the current directory without a directory.
        root: if root == Path::new(".") { PathBuf::new() } else { root.to_owned() },
        status: ExitStatus::Fine,
        failed: None,
    };
    let algorithm = args.algorithm.algorithm;
    let verb = match args.read {
        true => Verb::Hash(HashOptions { algorithm, judge: true }),
        false => Verb::Show,
    };
    let (roots, output) = (vec![root.to_owned()], exit::stdout_file());
    let selection = Selection::of(roots).with(|selection| selection.output = output);
    let options = args.engine.options().with(|options| options.controls.stop = stop);
    let options = args.empty.choose(options);
    let summary = Run::of(verb, selection, options).run(&mut document)?;
    if let Some(error) = document.failed {
        return Err(error).context("the document is cut short");
    }
    let writer = document.writer.context("the document was ended before its end")?;
    if summary.interrupted {
        complain("interrupted: the document is cut short");
        return Ok(ExitStatus::Interrupted);
    }
    writer.finish()?;
    Ok(document.status.max(summary.exit_status()))
}

/// Writes the files of a run as records.
struct ExportDocument<W: Write> {
    writer: Option<DocumentWriter<W>>,
    root: PathBuf,
    status: ExitStatus,
    failed: Option<manifest::Error>,
}

impl<W: Write> ExportDocument<W> {
    fn file(&mut self, event: &FileEvent) {
        let path = event.path.to_path();
        let complaint = match (event.actual.or(event.stored), &event.trouble) {
            (_, Some(trouble)) => advice::of_error(trouble),
            // A record would make the damaged contents the reference.
            _ if event.verdict == Some(Verdict::Corrupt) => "it is corrupt".to_owned(),
            _ if event.verdict == Some(Verdict::Suspect) => "it is suspect".to_owned(),
            _ if event.verdict == Some(Verdict::Differs) => {
                "it differs from the record of another tool".to_owned()
            }
            (None, None) => "it has no tag; --read hashes it".to_owned(),
            (Some(_), None) if event.actual.is_none() && event.tag_is_current() == Some(false) => {
                "its tag is not of its present contents; --read hashes it".to_owned()
            }
            (Some(tag), None) => {
                let name = match path.strip_prefix(&self.root) {
                    // The root is the file.
                    Ok(name) if name.as_os_str().is_empty() => {
                        Path::new(path.file_name().unwrap_or(path.as_os_str()))
                    }
                    Ok(name) => name,
                    Err(_) => &path,
                };
                let record = Record::of_tag(name.to_owned(), &tag);
                match self.writer.as_mut().map(|writer| writer.put(&record)) {
                    Some(Err(error)) if error.kind() == ErrorKind::Unwritable => {
                        error.reason().to_owned()
                    }
                    Some(Err(error)) => {
                        self.writer = None;
                        self.failed = Some(error);
                        return;
                    }
                    Some(Ok(())) | None => return,
                }
            }
        };
        let path = steadfast_report::escape::path(&path);
        complain(&format!("`{path}` is left out: {}", steadfast_report::escape::text(&complaint)));
        self.status.raise(ExitStatus::Undetermined);
    }
}

impl<W: Write> Monitor for ExportDocument<W> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::File(event) if event.subject == Subject::File => self.file(event),
            Event::File(event) => {
                let path = steadfast_report::escape::path(&event.path.to_path());
                let trouble = event.trouble.as_ref().map(advice::of_error).unwrap_or_default();
                complain(&format!("`{path}`: {}", steadfast_report::escape::text(&trouble)));
            }
            Event::Notice(notice) => {
                complain(&steadfast_report::escape::text(&advice::of_notice(notice)))
            }
            _ => {}
        }
        match self.failed {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}
