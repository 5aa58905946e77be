//! The end of a text: the findings again, counts, where the time went, and what to do next.

use steadfast::cost::{EnergyReading, Role, ThreadCost};
use steadfast::{Cost, Stage, Summary, Verdict};

use anstyle::Style;

use super::{HashedBy, Heading, Text, style_of};
use crate::output::Output;
use crate::text::{RED, YELLOW, throughput, write_counts};
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
        let mut text = String::new();
        self.write_findings(&mut text);
        // A blank line separates the end from the list before it.
        if !output.answer.is_empty() || self.options.verbose || !self.findings.is_empty() {
            text.push('\n');
        }
        text.push_str(&self.heading(run));
        self.write_counts(run, &mut text);
        if let Some(line) = view::time_up(run) {
            text.push_str(&format!("{line}\n"));
        }
        if let Some(line) = self.cost_line(run) {
            text.push_str(&line);
        }
        if let Some(line) = energy_line(&run.account.energy, run.elapsed_ns) {
            text.push_str(&line);
        }
        if self.options.verbose {
            self.write_threads(run, &mut text);
        }
        let advices = [view::prospect(run), self.advice(run), self.advice_on_tags(run)];
        for advice in advices.into_iter().flatten() {
            text.push_str(&format!("\n{advice}\n"));
        }
        output.answer.extend_from_slice(text.as_bytes());
    }

    fn write_findings(&self, text: &mut String) {
        for (section, finding) in &self.findings {
            let (name, style) = match section {
                Heading::Verdict(at) => (Verdict::ALL[*at].name(), style_of(Verdict::ALL[*at])),
                Heading::Catalogue(name) => (*name, YELLOW),
                Heading::Failed => ("failed", YELLOW),
            };
            let files = match finding.has_places {
                true => units::counted(finding.files, "place", "places"),
                false => units::counted(finding.files, "file", "files"),
            };
            text.push_str(&format!("\n{}: {files}\n", self.options.painted(name, style)));
            for path in &finding.paths {
                text.push_str(&format!("  {path}\n"));
            }
            if finding.told > 0 {
                let told = units::count(finding.told);
                text.push_str(&format!("  and {told} more, on the same file system\n"));
            }
            let more = finding.files - finding.told - finding.paths.len() as u64;
            if more > 0 {
                text.push_str(&format!("  and {} more, listed above\n", units::count(more)));
            }
        }
    }

    fn heading(&self, run: &Summary) -> String {
        let done = match run.verb {
            "check" | "update" => "checked",
            "hash" => "hashed",
            _ => "looked at",
        };
        let interrupted = if run.interrupted { "interrupted: " } else { "" };
        let files = units::counted(run.files, "file", "files");
        let throughput = throughput(run.bytes, run.elapsed_ns, self.options.units);
        let mut line = format!("{interrupted}{done} {files}{throughput}");
        if run.bytes_from_media > 0 {
            let bytes = self.options.units.bytes(run.bytes_from_media);
            line.push_str(&format!(", {bytes} of them from the medium"));
        }
        if run.dry_run {
            line.push_str("; nothing was written");
        }
        line.push('\n');
        line
    }

    fn write_counts(&self, run: &Summary, text: &mut String) {
        let mut counts: Vec<(&str, u64, Style)> = Vec::new();
        for (at, (verdict, files)) in view::verdicts(run).enumerate() {
            let found = self.findings.contains_key(&Heading::Verdict(at));
            let style = if found { style_of(verdict) } else { Style::new() };
            counts.push((verdict.name(), files, style));
        }
        let actions = view::actions(run).map(|(action, files)| (self.action(action), files));
        let others = actions.chain(view::findings(run));
        counts.extend(others.map(|(name, files)| (name, files, Style::new())));
        counts.push(("failed", run.counts.failed, YELLOW));
        write_counts(counts, 0, self.options.color, text);
        let passed = view::skipped(&run.skipped);
        if !passed.is_empty() {
            text.push_str(&format!("skipped {}\n", passed.join(", ")));
        }
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
        let bounds = run.account.bounds()?;
        if run.elapsed_ns < TOLD_FROM_NS || bounds.share < TOLD_FROM_SHARE {
            return None;
        }
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
        if self.damaged_tags == 0 || run.verb == "untag" {
            return None;
        }
        let tags = match self.damaged_tags {
            1 => "1 tag is damaged".to_owned(),
            tags => format!("{} tags are damaged", units::count(tags)),
        };
        Some(format!(
            "{}: these files cannot be judged.\nCompare them with a backup; then tag them as they \
             are: steadfast retag --accept PATH",
            self.options.painted(&tags, YELLOW)
        ))
    }

    fn advice(&self, run: &Summary) -> Option<String> {
        let missing = Verdict::ALL.iter().position(|verdict| *verdict == Verdict::Missing);
        if let Some(advice) = self.advice_of_alarms(run) {
            return Some(advice);
        }
        if missing.is_some_and(|at| self.findings.contains_key(&Heading::Verdict(at))) {
            // A catalogue need not contain the files that another list misses.
            let accepts = run.catalogued && run.verb != "import";
            return Some(match accepts {
                true => format!(
                    "{}\nOr, if something was moved, check the whole tree; or, if it was removed \
                     on purpose:\nsteadfast update --accept-missing PATH",
                    view::remedy(run)
                ),
                false => "Restore what is missing from a backup.".to_owned(),
            });
        }
        let differs = Verdict::ALL.iter().position(|verdict| *verdict == Verdict::Differs);
        if differs.is_some_and(|at| self.findings.contains_key(&Heading::Verdict(at))) {
            return Some(
                "Restore what differs from the list from a copy that fits it. Do not accept it: \
                 nothing says that it is right."
                    .to_owned(),
            );
        }
        let found = |name| self.findings.contains_key(&Heading::Catalogue(name));
        if self.restores_tags {
            return Some("Put the tags back: steadfast update --restore-tags PATH".to_owned());
        }
        if found("tag replaced") {
            return Some(
                "Compare files whose tags were replaced with a backup; if their contents are \
                 right, accept them:\nsteadfast update --accept-missing PATH"
                    .to_owned(),
            );
        }
        None
    }

    /// Returns what to do about corrupt and suspect files. Files that this run accepted are no
    /// findings.
    fn advice_of_alarms(&self, run: &Summary) -> Option<String> {
        let found = |verdict| {
            let place = Verdict::ALL.iter().position(|other| *other == verdict)?;
            self.findings.get(&Heading::Verdict(place))
        };
        let corrupt = found(Verdict::Corrupt).map(|finding| {
            let corrupt = units::counted(finding.files, "file is corrupt", "files are corrupt");
            format!(
                "{}: other contents, although the modification time stands.\n{}\nOr, if a change \
                 was yours, accept it: steadfast retag --accept PATH",
                self.options.painted(&corrupt, RED),
                view::remedy(run)
            )
        });
        let suspect = found(Verdict::Suspect).map(|finding| {
            let suspect = units::counted(finding.files, "file is suspect", "files are suspect");
            let suspect = self.options.painted(&suspect, RED);
            let [changed, them] = match finding.files {
                1 => ["it and kept its date", "it"],
                _ => ["them and kept their dates", "them"],
            };
            format!(
                "{suspect}: something changed {changed}.\nIf it was you, keep {them}: steadfast \
                 update --accept-suspect PATH\nOtherwise restore {them}: steadfast repair \
                 --suspect --from BACKUP PATH"
            )
        });
        let advice: Vec<String> = corrupt.into_iter().chain(suspect).collect();
        (!advice.is_empty()).then(|| advice.join("\n"))
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
