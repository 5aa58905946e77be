//! `steadfast parity`: arguments → sets made, verified, shown or removed → text or JSON.

use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::bail;
use steadfast::ExitStatus;
use steadfast::Options;
use steadfast::parity::{
    NeededSet, NotProtected, ParityMade, ParityMonitor, ParityOptions, ParityPlace, SetReport,
    SetTotals, drop_parity, drop_set, make_parity, show_parity, update_parity, verify_parity,
};
use steadfast::{Event, Monitor, Progress, ReadFrom};
use steadfast_report::advice;
use steadfast_report::parity::{
    write_dropped, write_made_json, write_made_text, write_needed_json, write_needed_text,
    write_not_protected_json, write_not_protected_text, write_set_json, write_set_text,
    write_totals_json, write_totals_text,
};
use steadfast_report::{Units, escape};

use crate::args::{
    ParityArgs, ParityCommand, ParityDropArgs, ParityMadeArgs, ParityPlaceArgs, When,
};
use crate::exit;
use crate::output::{answer, answer_part};
use crate::progress::ProgressLine;

/// Hears of a set.
type FoundSet<'a> = dyn FnMut(&SetReport) + 'a;

pub(super) fn run(args: &ParityArgs) -> anyhow::Result<ExitStatus> {
    match &args.what {
        ParityCommand::Make(args) => {
            let paths: Vec<PathBuf> = args.made.place.directory.iter().cloned().collect();
            args.made.whole_system.ensure_meant("parity make", &paths, None)?;
            make(&args.made, "make", make_parity)
        }
        ParityCommand::Update(args) => make(&args.made, "update", update_parity),
        ParityCommand::Verify(args) => {
            let stop = exit::stop_on_signals()?;
            let place = args.place.place()?;
            sets(&args.place, "verify", |found| verify_parity(&place, args.strength, &stop, found))
        }
        ParityCommand::Show(args) => {
            let stop = exit::stop_on_signals()?;
            let elsewhere = args.place.parity_at.as_deref();
            let (place, beneath) = ParityPlace::around(args.place.root(), elsewhere)?;
            let of = beneath.join(args.of.as_deref().unwrap_or(Path::new("")));
            sets(&args.place, "show", |found| show_parity(&place, &of, &stop, found))
        }
        ParityCommand::Drop(args) => remove(args),
    }
}

impl ParityPlaceArgs {
    fn place(&self) -> Result<ParityPlace, steadfast::Error> {
        ParityPlace::new(ParityPlaceArgs::root(self), self.parity_at.as_deref())
    }
}

fn make(
    args: &ParityMadeArgs,
    verb: &'static str,
    work: impl FnOnce(
        &ParityPlace,
        &ParityOptions,
        &mut dyn ParityMonitor,
    ) -> Result<ParityMade, steadfast::Error>,
) -> anyhow::Result<ExitStatus> {
    let json = args.place.json;
    let mut options = args.options();
    options.run.controls.stop = exit::stop_on_signals()?;
    let made = watched(json, |console| work(&args.place.place()?, &options, console))?.0;
    if options.run.reading.from == ReadFrom::Media && made.bytes_from_media < made.bytes_read {
        let cached = made.bytes_read - made.bytes_from_media;
        let read = made.bytes_read;
        exit::complain(&format!("{cached} of {read} bytes were read through the page cache"));
    }
    finish(verb, &made, json)?;
    Ok(made.exit_status())
}

/// Brings the parity of a tree up to date after a check. Returns the worst status of its files: one
/// that is missing or modified is no more than that, because the check is what tells of it.
pub(super) fn keep_up(place: &ParityPlace, run: Options, json: bool) -> anyhow::Result<ExitStatus> {
    exit::set_on_signals(&run.controls.stop)?;
    let mut options = ParityOptions::default();
    options.run = run;
    let (made, status) = watched(json, |console| update_parity(place, &options, console))?;
    finish("update", &made, json)?;
    Ok(if made.interrupted { made.exit_status() } else { status })
}

/// Makes parity and shows its progress. Also returns the worst status of the files by their
/// verdicts.
fn watched(
    json: bool,
    work: impl FnOnce(&mut ParityConsole) -> Result<ParityMade, steadfast::Error>,
) -> anyhow::Result<(ParityMade, ExitStatus)> {
    let progress = ProgressLine::new(When::Auto, json, false, Units::Si);
    let mut console = ParityConsole { json, progress, status: ExitStatus::Fine };
    let made = work(&mut console);
    console.progress.clear();
    Ok((made?, console.status))
}

/// Writes what became of the parity.
fn finish(verb: &'static str, made: &ParityMade, json: bool) -> anyhow::Result<()> {
    let mut end = Vec::new();
    match json {
        true => write_made_json(verb, made, &mut end),
        false => write_made_text(made, &mut end),
    }
    answer(&end)
}

/// Writes what is not protected as it becomes known, and shows progress.
struct ParityConsole {
    json: bool,
    progress: ProgressLine,
    /// The worst status of the files by their verdicts.
    status: ExitStatus,
}

impl Monitor for ParityConsole {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let Event::Notice(notice) = event {
            let path = notice.path.as_ref().map(|path| format!("`{}`: ", path.display()));
            let text = format!("{}{}", path.unwrap_or_default(), advice::of_notice(notice));
            self.progress.aside(|| exit::complain(&text));
        }
        ControlFlow::Continue(())
    }

    fn progress(&mut self, progress: &Progress) {
        self.progress.show(progress);
    }
}

impl ParityMonitor for ParityConsole {
    fn not_protected(&mut self, file: &NotProtected) {
        self.status.raise(file.verdict.exit_status(true));
        let write = |out: &mut Vec<u8>| match self.json {
            true => write_not_protected_json(file, out),
            false => write_not_protected_text(file, out),
        };
        self.progress.aside(|| print_line(write));
    }

    fn still_needed(&mut self, set: &NeededSet) {
        self.status.raise(ExitStatus::Undetermined);
        let write = |out: &mut Vec<u8>| match self.json {
            true => write_needed_json(set, out),
            false => write_needed_text(set, out),
        };
        self.progress.aside(|| print_line(write));
    }
}

fn sets(
    args: &ParityPlaceArgs,
    verb: &'static str,
    work: impl FnOnce(&mut FoundSet<'_>) -> Result<SetTotals, steadfast::Error>,
) -> anyhow::Result<ExitStatus> {
    let totals = work(&mut |set| {
        print_line(|out| match args.json {
            true => write_set_json(set, out),
            false => write_set_text(set, out),
        });
    })?;
    let mut end = Vec::new();
    match args.json {
        true => write_totals_json(verb, &totals, &mut end),
        false => write_totals_text(&totals, &mut end),
    }
    answer(&end)?;
    Ok(totals.exit_status())
}

fn remove(args: &ParityDropArgs) -> anyhow::Result<ExitStatus> {
    let place = args.place.place()?;
    if let Some(set) = &args.set {
        drop_set(&place, set)?;
        let mut out = Vec::new();
        write_dropped(1, args.place.json, &mut out);
        answer(&out)?;
        return Ok(ExitStatus::Fine);
    }
    if !args.yes {
        if args.place.json || !io::stdin().is_terminal() {
            bail!("this removes the parity: to do it, add --yes");
        }
        let mut reply = String::new();
        write!(io::stderr(), "Remove the parity in `{}`? [y/N] ", escape::path(&place.folder()))?;
        io::stdin().read_line(&mut reply)?;
        if !matches!(reply.trim(), "y" | "Y" | "yes") {
            bail!("the parity was not removed");
        }
    }
    let sets = drop_parity(&place)?;
    let mut out = Vec::new();
    write_dropped(sets, args.place.json, &mut out);
    answer(&out)?;
    Ok(ExitStatus::Fine)
}

/// Writes a line as it becomes known.
fn print_line(line: impl FnOnce(&mut Vec<u8>)) {
    let mut out = Vec::new();
    line(&mut out);
    // The work goes on although nobody reads of it; the exit status then tells.
    if let Err(error) = answer_part(&out) {
        exit::complain(&exit::words(&error));
    }
}
