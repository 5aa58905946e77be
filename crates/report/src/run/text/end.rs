//! The end of a text: a line of counts, a line of size and rate, and what to do next; if that is
//! asked for, where the time went.

use steadfast::cost::{Bounds, EnergyReading, Role, ThreadCost};
use steadfast::{Cost, Stage, Summary, VerbKind, Verdict};

use anstyle::Style;

use super::{HashedBy, Heading, Text, style_of};
use crate::output::Output;
use crate::text::{RED, YELLOW};
use crate::units;
use crate::view;

/// The limit of a shorter run is not stated: it spends its time on starting and ending.
const TOLD_FROM_NS: u64 = 50_000_000;

/// A stage with a smaller share of a run does not limit it.
const TOLD_FROM_SHARE: f64 = 0.1;

/// Says what the run took of energy, and of the performance cores, where the system tells.
fn energy_line(energy: &EnergyReading, elapsed_ns: u64) -> Option<String> {
    if elapsed_ns < TOLD_FROM_NS {
        return None;
    }
    let joules = energy.energy_nj.map(|energy_nj| {
        let whose =
            if energy.of_machine { " by all processors, others' work included" } else { "" };
        format!("energy: {}{whose}", units::energy(energy_nj))
    });
    let share = energy.performance_share().map(|share| {
        format!("{} of the processor time was on performance cores", units::percent(share))
    });
    let parts: Vec<String> = [joules, share].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{}\n", parts.join("; ")))
}

impl Text {
    pub(super) fn write_end(&self, run: &Summary, output: &mut Output) {
        // A blank line separates the end from the list before it.
        let mut text = if self.findings.is_empty() && !self.options.verbose {
            String::new()
        } else {
            "\n".to_owned()
        };
        text.push_str(&self.counts(run));
        text.push_str(&self.size_and_rate(run));
        if let Some(line) = view::time_up(run) {
            text.push_str(&format!("{line}\n"));
        }
        if self.options.verbose {
            text.extend(self.cost_line(run));
            text.extend(energy_line(&run.account.energy, run.elapsed_ns));
            self.write_threads(run, &mut text);
        }
        let advices: Vec<String> =
            self.advice(run).into_iter().chain(self.advice_on_tags(run)).collect();
        if !advices.is_empty() {
            text.push_str(&format!("\n{}\n", advices.join("\n")));
        }
        output.answer.extend_from_slice(text.as_bytes());
    }

    /// Counts the files: first those that the verb did its work on, then all others.
    fn counts(&self, run: &Summary) -> String {
        let checks = matches!(run.verb, VerbKind::Check | VerbKind::Update);
        let (done, files) = match run.verb {
            VerbKind::Check | VerbKind::Update => ("checked", view::checked(run)),
            VerbKind::Hash => ("hashed", run.files),
            _ => ("looked at", run.files),
        };
        let interrupted = if run.interrupted { "interrupted: " } else { "" };
        let mut line = format!("{interrupted}{done} {}", units::counted(files, "file", "files"));
        let mut others = Vec::new();
        let mut of_these = Vec::new();
        for (at, (verdict, files)) in view::verdicts(run).enumerate() {
            let found = self.findings.contains_key(&Heading::Verdict(at));
            let style = if found { style_of(verdict) } else { Style::new() };
            let is_other = checks && !view::is_checked(verdict);
            let counts = if is_other { &mut others } else { &mut of_these };
            counts.push((verdict.name(), files, style));
        }
        let actions = view::actions(run).map(|(action, files)| (self.action(action), files));
        let rest = actions.chain(view::findings(run));
        let counts = if checks { &mut others } else { &mut of_these };
        counts.extend(rest.map(|(name, files)| (name, files, Style::new())));
        counts.push(("failed", run.counts.failed, YELLOW));
        let list = |counts: &[(&str, u64, Style)]| {
            let some = counts.iter().filter(|(_, files, _)| *files > 0);
            let each = some.map(|(name, files, style)| {
                self.options.painted(&format!("{} {name}", units::count(*files)), *style)
            });
            each.collect::<Vec<String>>().join(", ")
        };
        let (of_these, others) = (list(&of_these), list(&others));
        if !of_these.is_empty() {
            line.push_str(&format!(": {of_these}"));
        }
        if !others.is_empty() {
            line.push_str(&format!("; {others}"));
        }
        let passed = view::skipped(&run.skipped);
        if !passed.is_empty() {
            line.push_str(&format!("; skipped {}", passed.join(", ")));
        }
        if run.dry_run {
            line.push_str("; nothing was written");
        }
        line + "\n"
    }

    /// Returns how much was read in which time, and in two words what limited it.
    fn size_and_rate(&self, run: &Summary) -> String {
        let elapsed = units::duration(run.elapsed_ns);
        if run.bytes == 0 {
            return format!("nothing read, in {elapsed}\n");
        }
        let units = self.options.units;
        let limit =
            self.bounds(run).map(|bounds| format!(", {}", view::limit_in_words(&bounds.limit)));
        let limit = limit.unwrap_or_default();
        let rate = units.rate(run.bytes, run.elapsed_ns);
        let mut line = format!("{} in {elapsed} ({rate}{limit})", units.bytes(run.bytes));
        if run.bytes_from_media > 0 {
            let bytes = units.bytes(run.bytes_from_media);
            line.push_str(&format!(", {bytes} of them from the medium"));
        }
        line + "\n"
    }

    /// Returns what limits the run, if it took long enough to say so.
    fn bounds(&self, run: &Summary) -> Option<Bounds> {
        let bounds = run.account.bounds()?;
        let is_told = run.elapsed_ns >= TOLD_FROM_NS && bounds.share >= TOLD_FROM_SHARE;
        is_told.then_some(bounds)
    }

    /// States what limits the run, how the workers spent their time, and the next limit.
    fn cost_line(&self, run: &Summary) -> Option<String> {
        if run.bytes == 0 {
            return None;
        }
        let algorithm = match self.algorithms {
            HashedBy::One(algorithm) => Some(algorithm),
            _ => None,
        };
        let bounds = self.bounds(run)?;
        let bound = view::bound_title(&bounds.limit, algorithm);
        let share = units::percent(bounds.share);
        let whole = view::resource_title(bounds.limit.resource);
        let workers = shares(&run.account.cost_of(|role| role == Role::Worker));
        let mut line = format!("bound by {bound}: {share} of {whole} (workers: {workers})");
        if let Some(next) = bounds.next {
            let title = view::bound_title(&next, algorithm);
            let rate = self.options.units.rate(run.bytes, next.least_ns);
            line.push_str(&format!("; next limit: {title}, {rate}"));
        }
        line.push('\n');
        Some(line)
    }

    /// Appends a line for every thread that did not only wait.
    fn write_threads(&self, run: &Summary, text: &mut String) {
        for ThreadCost { name, cost, .. } in &run.account.threads {
            if cost.total_ns() == cost.elapsed_ns(Stage::Wait) {
                continue;
            }
            let worked = units::duration(cost.processor_ns);
            text.push_str(&format!("  {name:<9}  {}; {worked} of processor time", shares(cost)));
            let waited_ns: u64 = Stage::BUSY.map(|stage| cost.waited_ns(stage)).iter().sum();
            if waited_ns > 0 {
                text.push_str(&format!(", {} asleep", units::duration(waited_ns)));
            }
            text.push('\n');
        }
    }

    /// Says what to do about damaged tags that no catalogue can restore.
    fn advice_on_tags(&self, run: &Summary) -> Option<String> {
        if self.damaged_tags == 0 || run.verb == VerbKind::Untag {
            return None;
        }
        let tags = match self.damaged_tags {
            1 => "1 tag is damaged".to_owned(),
            tags => format!("{} tags are damaged", units::count(tags)),
        };
        Some(format!(
            "{}: compare these files with a backup, then: steadfast update --accept FILE",
            self.options.painted(&tags, YELLOW)
        ))
    }

    /// Returns how many files have a verdict that fails the run.
    fn found(&self, verdict: Verdict) -> Option<u64> {
        let place = Verdict::ALL.iter().position(|other| *other == verdict)?;
        self.findings.get(&Heading::Verdict(place)).copied()
    }

    /// Says what to do: a line for the worst kind of finding, two if files are suspect too. Files
    /// that this run accepted are no findings.
    fn advice(&self, run: &Summary) -> Option<String> {
        let alarms: Vec<String> =
            [self.of_corrupt(run), self.of_suspect()].into_iter().flatten().collect();
        if !alarms.is_empty() {
            return Some(alarms.join("\n"));
        }
        let many = run.many_at_once.map(|(changed, files)| {
            let (changed, files) = (units::count(changed), units::count(files));
            let text = format!("{changed} of {files} files are missing or modified at once");
            format!("{}: is the right disk mounted?\n", self.options.painted(&text, RED))
        });
        self.advice_on_edits(run).map(|advice| many.unwrap_or_default() + &advice)
    }

    /// Says what to do about files that are missing or edited.
    fn advice_on_edits(&self, run: &Summary) -> Option<String> {
        if let Some(files) = self.found(Verdict::Missing) {
            let files = units::counted(files, "file is missing", "files are missing");
            // A catalogue need not contain the files that another list misses.
            return Some(match run.catalogued && run.verb != VerbKind::Import {
                true if self.has_replaced => format!(
                    "{files}, and something else is in place of some. If that was you: steadfast \
                     update --accept-missing {}; if not, move that away, and check again",
                    self.paths()
                ),
                true => format!(
                    "{files}. Bring back: {}; if that was you: steadfast update --accept-missing \
                     {}",
                    view::remedy(run, self.paths()),
                    self.paths()
                ),
                false => format!("{files}: copy from a backup."),
            });
        }
        let paths = self.paths();
        let accept = format!("steadfast update --accept-missing {paths}");
        match () {
            () if self.found(Verdict::Differs).is_some() => Some(
                "Bring back what differs from a copy that fits the list: nothing says that the \
                 present contents are right."
                    .to_owned(),
            ),
            () if self.restores_tags => {
                Some(format!("Put the tags back: steadfast update --restore-tags {paths}"))
            }
            () if self.findings.contains_key(&Heading::Catalogue("tag replaced")) => Some(format!(
                "Compare files whose tags were replaced with a backup; if they are right: {accept}"
            )),
            () => {
                self.found(Verdict::Modified).filter(|_| run.verb == VerbKind::Check).map(|files| {
                    let files = units::counted(files, "file was edited", "files were edited");
                    let consent = run.many_at_once.map(|_| "--accept-many ").unwrap_or_default();
                    format!("{files}. If that was you: steadfast update {consent}{paths}")
                })
            }
        }
    }

    fn of_corrupt(&self, run: &Summary) -> Option<String> {
        let files = self.found(Verdict::Corrupt)?;
        let corrupt = units::counted(files, "file is corrupt", "files are corrupt");
        let corrupt = self.options.painted(&corrupt, RED);
        Some(format!("{corrupt}. Mend: {}", view::remedy(run, self.paths())))
    }

    fn of_suspect(&self) -> Option<String> {
        let files = self.found(Verdict::Suspect)?;
        let suspect = units::counted(files, "file is suspect", "files are suspect");
        let suspect = self.options.painted(&suspect, RED);
        let paths = self.paths();
        Some(format!(
            "{suspect}. If that was you: steadfast update --accept-suspect {paths}; if not: \
             steadfast repair --suspect --from BACKUP {paths}"
        ))
    }

    /// Returns what stands for the paths of the run in a command to type.
    fn paths(&self) -> &str {
        if self.paths.is_empty() { "PATH" } else { &self.paths }
    }
}

/// Lists the stages that took time, with their shares: "read 7 %, hash 91 %, wait 2 %".
fn shares(cost: &Cost) -> String {
    let stages = Stage::ALL.into_iter().filter(|&stage| cost.elapsed_ns(stage) > 0);
    let shares = stages.map(|stage| {
        let share = units::percent(cost.share(stage));
        format!("{} {share}", stage.name())
    });
    shares.collect::<Vec<_>>().join(", ")
}
