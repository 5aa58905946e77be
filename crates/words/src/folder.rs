//! What is said of one folder: from what is known of it to a word, a colour, a sentence and a step.

use steadfast::escape::{path as escaped, text as one_line};
use steadfast::{ExitStatus, FileState, FolderFacts, FolderState, Matter, Standing, VerbKind};

use crate::advice;
use crate::standing::StandingWords as _;
use crate::units;

/// What was last known of a folder that is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastSeen {
    /// Files that were recorded then.
    pub files: u64,
    /// Files that were damaged then.
    pub damaged: u64,
    /// Whether nothing was wrong with it.
    pub is_fine: bool,
}

/// A run that goes on in a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoingView {
    /// What it does: "Checking".
    pub does: &'static str,
    /// Files that it has read, and all of them, if that is known.
    pub files: u64,
    /// All files that it is going to read, if that is known.
    pub all: Option<u64>,
    /// How far it is, from 0 to 1, if that is known.
    pub share: Option<f64>,
    /// How long it still takes, in words, if that is known.
    pub left: Option<String>,
    /// Files that it found damaged so far.
    pub damaged: u64,
    /// Whether it is of another process, such as a schedule or a command.
    pub is_elsewhere: bool,
}

/// All that is known of a folder, to be put into words.
#[derive(Clone, Debug)]
pub struct FolderView<'a> {
    /// What its catalogue knows.
    pub state: &'a FolderState,
    /// What is to be said beside that: of its schedule, its repair data, its drives, and of runs
    /// that no catalogue has recorded.
    pub besides: Vec<Matter>,
    /// What was last known of it, and how long ago in words, if it is away.
    pub seen: Option<(LastSeen, String)>,
    /// The run that goes on.
    pub run: Option<GoingView>,
}

/// What a person does next about a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Look at the files that it is about.
    Show,
    /// Look at many changes before they are accepted; of files in this state.
    LookFirst(FileState),
    /// Look whether its drive is there again.
    LookAgain,
    /// Go on with a check that was stopped.
    GoOn,
    /// Check it, which is due.
    Check,
    /// Check it, which need not be.
    CheckAnyway,
    /// Make a catalogue.
    Protect,
    /// Watch the run that goes on.
    Watch,
}

/// What is said of a folder. Everyone who shows a folder shows this.
// Over 15 fields: one for each thing that some place shows, so that no place makes its own.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderSaid {
    /// How it stands, whatever goes on in it: the worst that is known.
    pub standing: Standing,
    /// How many files that is about.
    pub files: u64,
    /// The state in a word, as in JSON.
    pub state: &'static str,
    /// Its exit status.
    pub exit_status: ExitStatus,
    /// A few words: "2 damaged".
    pub word: String,
    /// The name of its colour.
    pub class: &'static str,
    /// The name of its icon.
    pub icon: &'static str,
    /// Whether somebody should do something about it soon.
    pub alarms: bool,
    /// A sentence or more.
    pub sentence: String,
    /// What follows a title that says the same as the word.
    pub note: String,
    /// What to do next.
    pub step: NextStep,
    /// What a button or link for that says.
    pub step_label: String,
    /// How far the run is that goes on, or how far checks were that were stopped.
    pub share: Option<f64>,
    /// Whether a run goes on, in whatever process.
    pub is_going: bool,
    /// Whether that run found the damage.
    pub is_so_far: bool,
    /// How much is proved, or how far a run is.
    pub gauge: Option<GaugeSaid>,
}

/// How much of a folder is proved, or how far a run is.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeSaid {
    /// The share, from 0 to 1.
    pub share: f64,
    /// The name of its colour.
    pub class: &'static str,
    /// What it is a share of.
    pub says: String,
    /// Whether the size of the folder is shown beside it.
    pub has_size: bool,
}

impl FolderSaid {
    /// Returns the title of an alarm about it, by its name.
    pub fn title(&self, name: &str) -> String {
        let files = |one: &str, several: &str| units::counted(self.files, one, several);
        match self.standing {
            Standing::Corrupt => format!("{} in {name}", files("damaged file", "damaged files")),
            Standing::Unreadable | Standing::Unstable => {
                format!("{} in {name} could not be read", files("file", "files"))
            }
            Standing::MassChange if self.icon == "missing" => {
                format!("{} gone from {name}. Was it you?", files("file is", "files are"))
            }
            Standing::MassChange => format!("{} changed at once in {name}", files("file", "files")),
            Standing::Suspect => {
                format!(
                    "{} in {name} changed and kept the date. Was it you?",
                    files("file", "files")
                )
            }
            Standing::Missing => {
                format!("{} gone from {name}. Was it you?", files("file is", "files are"))
            }
            Standing::Differs => format!("{} in {name}", self.word),
            Standing::Unfinished => format!("A repair in {name} was cut off"),
            Standing::Unmounted => format!("{name} is not connected"),
            Standing::Unknown => format!("{name}: what is recorded of it cannot be read"),
            _ => format!("{name} is in danger"),
        }
    }
}

/// Says how a folder stands. What is known to be damaged stays so while a run goes on.
pub fn folder_said(view: &FolderView<'_>) -> FolderSaid {
    let mut matters = view.state.matters();
    // What the schedule could not look at includes what the catalogue knows of that.
    if view.besides.iter().any(|matter| matter.standing == Standing::Unlisted) {
        matters.retain(|matter| matter.standing != Standing::Unlisted);
    }
    matters.extend(view.besides.iter().cloned());
    let so_far = view.run.as_ref().map_or(0, |run| run.damaged);
    let known = view.state.facts().map_or(0, |facts| facts.count(&[FileState::Corrupt]));
    if so_far > known {
        matters.retain(|matter| matter.standing != Standing::Corrupt);
        matters.push(Matter::of_files(Standing::Corrupt, so_far));
    }
    let fine = Matter::of(Standing::Fine);
    let worst = matters.iter().min_by_key(|matter| matter.standing).unwrap_or(&fine);
    let exit_status =
        matters.iter().map(|matter| matter.status).fold(ExitStatus::Fine, ExitStatus::max);
    let speech = Speech { view, matters: &matters, worst };
    let standing = worst.standing;
    let (class, icon) = speech.look();
    let is_going = view.run.is_some() && !standing.alarms();
    let (class, icon) = if is_going { ("info", "checking") } else { (class, icon) };
    let (step, step_label) = speech.step();
    FolderSaid {
        standing,
        files: worst.files,
        state: standing.state(),
        exit_status,
        word: if is_going { speech.going_word() } else { speech.word(so_far > known) },
        class,
        icon,
        alarms: standing.alarms(),
        sentence: speech.sentence(),
        note: speech.note(),
        step,
        step_label,
        share: view.run.as_ref().map_or_else(|| speech.stopped_share(), |run| run.share),
        is_going: view.run.is_some(),
        is_so_far: so_far > known,
        gauge: speech.gauge(),
    }
}

/// What is put into words.
struct Speech<'a> {
    view: &'a FolderView<'a>,
    matters: &'a [Matter],
    worst: &'a Matter,
}

impl Speech<'_> {
    fn facts(&self) -> Option<&FolderFacts> {
        self.view.state.facts()
    }

    fn is_of_missing(&self) -> bool {
        self.worst.text == FileState::Missing.name()
    }

    fn look(&self) -> (&'static str, &'static str) {
        match (self.worst.standing, &self.view.seen) {
            (Standing::MassChange, _) if self.is_of_missing() => ("bad", "missing"),
            (Standing::Unmounted, Some((LastSeen { damaged: 1.., .. }, _))) => ("bad", "away"),
            (standing, _) => standing.class_and_icon(),
        }
    }

    fn word(&self, is_so_far: bool) -> String {
        let Matter { standing, files, .. } = self.worst;
        match (standing, &self.view.seen) {
            (Standing::Corrupt, _) if is_so_far => {
                format!("{} damaged so far", units::count(*files))
            }
            (Standing::MassChange, _) => {
                let state =
                    FileState::ALL.into_iter().find(|state| state.name() == self.worst.text);
                let of_state = state.and_then(Standing::of_file).unwrap_or(Standing::Modified);
                match of_state {
                    Standing::Suspect => format!("{} changed at once", units::count(*files)),
                    of_state => format!("{} at once", of_state.word(*files)),
                }
            }
            (Standing::Stopped, _) => {
                let share = self.stopped_share().unwrap_or(0.0);
                format!("Stopped at {}", units::percent(share))
            }
            (Standing::Unmounted, Some((LastSeen { damaged: damaged @ 1.., .. }, _))) => {
                format!("Away, {}", Standing::Corrupt.word(*damaged))
            }
            (standing, _) => standing.word(*files),
        }
    }

    fn going_word(&self) -> String {
        let run = self.view.run.as_ref();
        let share =
            run.and_then(|run| run.share).map(|share| format!(" {}", units::percent(share)));
        format!("{}{}", run.map_or("", |run| run.does), share.unwrap_or_default())
    }

    /// Returns how far checks were that were stopped, from 0 to 1.
    fn stopped_share(&self) -> Option<f64> {
        let facts = self.facts()?;
        let stopped = facts.stopped_check()?;
        Some(stopped.proved as f64 / facts.audit.tagged.max(1) as f64)
    }

    /// Returns so many of all files, with a verb.
    fn of_all(&self, is: &str, are: &str) -> String {
        let files = self.worst.files;
        let verb = if files == 1 { is } else { are };
        let Some(all) = self.facts().map(|facts| facts.audit.entries) else {
            return format!("{} {verb}", units::counted(files, "file", "files"));
        };
        format!("{} of {} {verb}", units::count(files), units::counted(all, "file", "files"))
    }

    fn sentence(&self) -> String {
        let run = self.view.run.as_ref().map(said_of_run).unwrap_or_default();
        match (self.worst.standing.alarms(), run.is_empty()) {
            (false, false) => run,
            (_, true) => self.settled(),
            (true, false) => format!("{} {run}", self.settled()),
        }
    }

    /// Says how it stands, whatever goes on.
    fn settled(&self) -> String {
        let all = self.facts().map_or(0, |facts| facts.audit.entries);
        match self.worst.standing {
            Standing::Corrupt => {
                format!("{}.{}", self.of_all("is damaged", "are damaged"), self.besides())
            }
            Standing::Unreadable | Standing::Unstable => {
                let unread = self.of_all("could not be read", "could not be read");
                format!("{unread}.{}", self.besides())
            }
            Standing::MassChange if !self.worst.text.is_empty() && self.worst.files == 0 => {
                self.of_folder()
            }
            Standing::MassChange if self.is_of_missing() => {
                format!(
                    "{}. That is more than usual.{}",
                    self.of_all("is gone", "are gone"),
                    self.besides()
                )
            }
            Standing::MassChange => {
                let changed = self.of_all("changed", "changed");
                format!("{changed} at once. That is more than usual.{}", self.besides())
            }
            Standing::Suspect => {
                let changed = self.of_all("was changed", "were changed");
                format!("{changed} by something that kept the date. Was it you?{}", self.besides())
            }
            Standing::Differs => {
                let (is, are) = ("is other than a list says", "are other than a list says");
                format!("{}.{}", self.of_all(is, are), self.besides())
            }
            Standing::Missing => {
                format!("{}. Was it you?{}", self.of_all("is gone", "are gone"), self.besides())
            }
            Standing::TagLost | Standing::TagReplaced => {
                let (is, are) = ("has lost its own record", "have lost their own record");
                format!("{}; the catalogue still has it.{}", self.of_all(is, are), self.besides())
            }
            Standing::Modified | Standing::Touched => format!(
                "{} since recorded. If that was you, accept it.",
                self.of_all("was changed", "were changed")
            ),
            Standing::Unfinished => self.unfinished(),
            Standing::Drive
            | Standing::Unlisted
            | Standing::Failed
            | Standing::RepairData
            | Standing::Unrecorded => self.of_folder(),
            Standing::Unknown => self.unknown(),
            Standing::Unmounted => self.away(),
            Standing::NotStarted => format!("No damage is known. {}", self.of_folder()),
            Standing::Overdue | Standing::Empty | Standing::Incomplete => self.late(),
            Standing::Stopped => self.stopped(),
            Standing::Recorded => format!(
                "{} recorded. Nothing was compared with that yet, so nothing is known about them.",
                units::counted(all, "file is", "files are")
            ),
            Standing::TagsAlone => self.tags_alone(),
            Standing::Unprotected => {
                "Nothing is recorded yet, so damage could not be noticed.".to_owned()
            }
            Standing::Fine if all == 1 => "The only file is exactly as recorded.".to_owned(),
            Standing::Fine => format!("All {} files are exactly as recorded.", units::count(all)),
        }
    }

    /// Says what else is open than the files of the sentence.
    fn besides(&self) -> String {
        const TOLD: [Standing; 5] = [
            Standing::Unreadable,
            Standing::Suspect,
            Standing::Differs,
            Standing::Missing,
            Standing::Modified,
        ];
        let is_other = |matter: &&Matter| {
            let is_part = self.worst.standing == Standing::MassChange
                && Standing::of_name(&self.worst.text) == Some(matter.standing);
            TOLD.contains(&matter.standing) && matter.standing != self.worst.standing && !is_part
        };
        let others = self.matters.iter().filter(is_other).map(|matter| match matter.standing {
            Standing::Suspect => format!("{} “was it you?”", units::count(matter.files)),
            standing => standing.word(matter.files),
        });
        let others: Vec<String> = others.collect();
        if others.is_empty() { String::new() } else { format!(" Also {}.", others.join(", ")) }
    }

    /// Says what is wrong with its schedule, its repair data or its drives.
    fn of_folder(&self) -> String {
        const TOLD: [Standing; 7] = [
            Standing::Drive,
            Standing::Failed,
            Standing::Unlisted,
            Standing::RepairData,
            Standing::NotStarted,
            Standing::Unrecorded,
            Standing::MassChange,
        ];
        let of_folder =
            self.matters.iter().filter(|it| it.files == 0 && TOLD.contains(&it.standing));
        let words: Vec<String> = of_folder.map(|it| one_line(&matter_words(it))).collect();
        sentence_of(&words.join(". "))
    }

    /// Says which repairs were cut off.
    fn unfinished(&self) -> String {
        let notices = self.facts().map_or(&[][..], |facts| &facts.unfinished);
        let said = notices.iter().filter(|notice| !notice.status.is_fine()).map(|notice| {
            let path = notice.path.as_deref().map(escaped);
            format!("{}: {}.", path.unwrap_or_default(), notice)
        });
        said.collect::<Vec<String>>().join(" ")
    }

    fn unknown(&self) -> String {
        match self.view.state {
            FolderState::Unknown(notice) => sentence_of(&one_line(&advice::of_notice(notice))),
            _ => "It is part of a larger catalogued tree, which is not served here.".to_owned(),
        }
    }

    /// Says of a folder that is not there since when, and how it was then.
    fn away(&self) -> String {
        let Some((seen, ago)) = &self.view.seen else {
            let why = match self.view.state {
                FolderState::NotThere(notice) => one_line(&advice::of_notice(notice)),
                _ => String::new(),
            };
            return format!("Not connected. {}", sentence_of(&why));
        };
        let files = units::counted(seen.files, "file", "files");
        let then = match seen.damaged {
            0 if seen.is_fine && seen.files == 1 => "its file was exactly as recorded".to_owned(),
            0 if seen.is_fine => format!("all {files} were exactly as recorded"),
            0 => format!("no damage was known in {files}"),
            damaged => format!("{} of {files} were damaged", units::count(damaged)),
        };
        format!("Not connected, last seen {ago}. Then, {then}.")
    }

    fn late(&self) -> String {
        let Some(facts) = self.facts() else { return String::new() };
        let proved = facts.audit.windows.first().map_or(0, |window| window.entries);
        match facts.unrecorded() + facts.audit.never.0 {
            _ if facts.audit.entries == 0 => "Nothing is recorded in it yet.".to_owned(),
            0 => format!(
                "No damage is known. {} not checked within {} days.",
                units::counted(facts.audit.tagged.saturating_sub(proved), "file was", "files were"),
                facts.cover_days
            ),
            files => format!(
                "No damage is known. {} never found intact.",
                units::counted(files, "file was", "files were")
            ),
        }
    }

    /// Says what stopped checks proved.
    fn stopped(&self) -> String {
        let facts = self.facts();
        let Some(stopped) = facts.and_then(FolderFacts::stopped_check) else {
            return String::new();
        };
        let how = match stopped.was_told {
            true => "The check was stopped",
            false => "The program or the computer ended",
        };
        if stopped.proved == 0 {
            return format!("{how} before any file was compared: nothing new is known.");
        }
        format!(
            "{how}: {} of {} were read until then, and are exactly as recorded. Nothing new is \
             known of the others.",
            units::count(stopped.proved),
            units::counted(facts.map_or(0, |facts| facts.audit.tagged), "file", "files")
        )
    }

    /// Says what tags without a catalogue tell, and what they cannot.
    fn tags_alone(&self) -> String {
        let FolderState::TagsAlone(found) = self.view.state else { return String::new() };
        let more = if found.is_cut { "At least " } else { "" };
        let has = match (found.tagged, found.foreign) {
            (0, foreign) => format!(
                "{more}{} the record of another tool, which `steadfast import` takes over",
                units::counted(foreign, "file has", "files have")
            ),
            (tagged, _) => {
                format!("{more}{} a tag", units::counted(tagged, "file has", "files have"))
            }
        };
        format!(
            "{}. A check compares them, and nothing remembers what it finds: without a catalogue, \
             a file that is gone or renamed is not noticed.",
            units::capital(&has)
        )
    }

    /// Returns what follows the title of an alarm.
    fn note(&self) -> String {
        let run = self.view.run.as_ref().map(said_of_run).unwrap_or_default();
        let text = match self.worst.standing {
            Standing::Corrupt => {
                "Nothing is known to have written to them. See which, and what can be done."
            }
            Standing::Unreadable | Standing::Unstable => "What is in them is not known.",
            Standing::MassChange if self.is_of_missing() => {
                "More than is usual. Restore them, or say that you removed them."
            }
            Standing::MassChange if self.worst.files > 0 => {
                "Nothing was accepted. Look before you do."
            }
            Standing::Suspect => "A program of yours does that, and so can damage.",
            Standing::Missing => "Restore them, or say that you removed them.",
            _ => return self.sentence(),
        };
        if run.is_empty() { text.to_owned() } else { format!("{text} {run}") }
    }

    /// Returns how much is proved, or how far a run is; `None` if nothing was checked yet.
    fn gauge(&self) -> Option<GaugeSaid> {
        if let Some((_, ago)) = &self.view.seen {
            let says = format!("As of {ago}");
            return Some(GaugeSaid { share: 1.0, class: "f-idle", says, has_size: false });
        }
        if let Some(run) = &self.view.run {
            let (share, says) = (run.share.unwrap_or(0.0), "of this run".to_owned());
            return Some(GaugeSaid { share, class: "f-info", says, has_size: false });
        }
        let facts = self.facts()?;
        let proved = facts.proved().0 as f64 / facts.audit.entries.max(1) as f64;
        let (share, says) = match self.stopped_share().filter(|_| !self.is_fine()) {
            Some(share) => (share, "read, the rest is not known".to_owned()),
            None if !facts.audit.checked => return None,
            None => (proved, format!("checked within {} days", facts.cover_days)),
        };
        // Nothing is green beside an alarm, however lately all was checked.
        let class = match (proved > 0.9, self.worst.standing.alarms()) {
            (_, true) => "f-idle",
            (true, false) => "f-good",
            (false, false) => "f-warn",
        };
        Some(GaugeSaid { share, class, says, has_size: true })
    }

    fn is_fine(&self) -> bool {
        self.worst.standing == Standing::Fine
    }

    /// Returns what to do next, and how a button or link for it is called.
    fn step(&self) -> (NextStep, String) {
        let files = self.worst.files;
        let shown = |word: &str| {
            let noun = if files == 1 { "file" } else { "files" };
            (NextStep::Show, format!("Show {} {word}{noun}", units::count(files)))
        };
        let many = FileState::ALL.into_iter().find(|state| state.name() == self.worst.text);
        match (self.worst.standing, many) {
            (standing, _) if self.view.run.is_some() && !standing.alarms() => {
                (NextStep::Watch, "Watch".to_owned())
            }
            (Standing::Corrupt, _) => shown("damaged "),
            (Standing::Suspect, _) => shown(""),
            (Standing::Missing, _) => shown("missing "),
            (Standing::Modified, _) => shown("changed "),
            (Standing::MassChange, Some(state)) => {
                (NextStep::LookFirst(state), format!("Look at the {} files", units::count(files)))
            }
            (Standing::Unmounted, _) => (NextStep::LookAgain, "Look again".to_owned()),
            (Standing::Stopped, _) => (NextStep::GoOn, "Go on".to_owned()),
            (
                Standing::Overdue
                | Standing::NotStarted
                | Standing::Empty
                | Standing::Incomplete
                | Standing::Recorded,
                _,
            ) => (NextStep::Check, "Check now".to_owned()),
            (Standing::Fine, _) => (NextStep::CheckAnyway, "Check now".to_owned()),
            (Standing::Unprotected | Standing::TagsAlone, _) => {
                (NextStep::Protect, "Protect this folder".to_owned())
            }
            _ => (NextStep::Show, "Show".to_owned()),
        }
    }
}

/// Says how several folders stand, in one sentence.
pub fn folders_said<'a>(folders: impl Iterator<Item = &'a FolderSaid> + Clone) -> String {
    let alarms = folders.clone().filter(|said| said.alarms).count() as u64;
    let all = |standing| folders.clone().all(|said| said.standing == standing);
    match alarms {
        1.. => units::counted(alarms, "folder needs your attention", "folders need your attention"),
        0 if folders.clone().next().is_none() => "Only single files are shown here".to_owned(),
        0 if all(Standing::Fine) => "All your files are exactly as recorded".to_owned(),
        0 if all(Standing::Unprotected) => "Protect your first folder".to_owned(),
        0 => "Nothing is known to be damaged; not all is checked".to_owned(),
    }
}

/// Returns why nothing is known of a folder.
pub fn reason(state: &FolderState) -> String {
    match state {
        FolderState::NotThere(notice) | FolderState::Unknown(notice) => advice::of_notice(notice),
        FolderState::PartOf(root) => format!("it is a part of `{}`", root.display()),
        FolderState::TagsAlone(_) => "it has tags, and no catalogue of its own".to_owned(),
        FolderState::Unrecorded | FolderState::Known(_) => {
            "it has no catalogue of its own".to_owned()
        }
    }
}

/// Says when a schedule checks its folder, or that nothing starts it.
pub fn schedule_words(every: &str, at: &str, lacks_timer: bool) -> String {
    let when = match every {
        "week" => format!("every Sunday at {at}"),
        "month" => format!("on the 1st of each month at {at}"),
        every => format!("every {every} at {at}"),
    };
    match lacks_timer {
        true => format!("Due {when}, but nothing on this computer starts it"),
        false => format!("Checked {when}"),
    }
}

/// Returns what a run does, while it goes on.
pub fn run_word(kind: Option<VerbKind>) -> &'static str {
    match kind {
        Some(VerbKind::Init | VerbKind::Tag | VerbKind::Import) => "Protecting",
        Some(VerbKind::Update | VerbKind::Retag) => "Accepting",
        Some(VerbKind::Repair) => "Repairing",
        Some(VerbKind::Copy | VerbKind::Move) => "Copying",
        _ => "Checking",
    }
}

/// Returns a text as a sentence.
fn sentence_of(text: &str) -> String {
    let end = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    units::capital(text) + end
}

/// Says how far a run is.
fn said_of_run(run: &GoingView) -> String {
    let of_all = run.all.map(|all| format!(" of {}", units::count(all))).unwrap_or_default();
    let left = run.left.as_ref().map(|left| format!(", about {left} left")).unwrap_or_default();
    let started = match run.is_elsewhere {
        true => " A schedule or a command started it.",
        false => "",
    };
    format!("{}: {}{of_all} files read{left}.{started}", run.does, units::count(run.files))
}

/// Says a matter that is not of files in a line.
pub fn matter_words(matter: &Matter) -> String {
    let Matter { subject, text, .. } = matter;
    match matter.standing {
        Standing::Drive => {
            format!("{}: {text}", subject.split(' ').next().unwrap_or_default())
        }
        Standing::Failed => format!("the check could not be made: {text}"),
        Standing::Unlisted => format!("{subject} cannot be opened: nothing in it was checked"),
        Standing::RepairData => format!("the set {subject} of repair data is damaged"),
        Standing::NotStarted => format!("its timer has not started it {text}"),
        Standing::Unrecorded => {
            "the last run found damage that is not recorded: check the whole folder".to_owned()
        }
        _ => format!("alarm: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast::catalogue::{Audit, AuditWindow};
    use steadfast::{FoundByRun, Options};

    /// Facts of ten files, of which one was proved long ago if they are `late`.
    fn facts(open: &[(FileState, u64)], late: bool) -> FolderFacts {
        let entries = if late { 9 } else { 10 };
        let windows = FolderFacts::windows(90);
        let window = |days| AuditWindow { days, entries, bytes: 10, judged: entries };
        let audit = Audit {
            at: (Options::default().now)(),
            entries: 10,
            tagged: 10,
            bytes: 10,
            windows: windows.map(window).to_vec(),
            proofs: Vec::new(),
            checked: true,
            never: (0, 0),
            oldest_proof: None,
            standings: Default::default(),
            runs: Vec::new(),
        };
        let mut facts = FolderFacts::of(audit, 90);
        facts.open = open.iter().copied().collect();
        facts
    }

    fn said_with(facts: FolderFacts, besides: Vec<Matter>, run: Option<GoingView>) -> FolderSaid {
        let state = FolderState::Known(Box::new(facts));
        folder_said(&FolderView { state: &state, besides, seen: None, run })
    }

    fn said(facts: FolderFacts) -> FolderSaid {
        said_with(facts, Vec::new(), None)
    }

    #[test]
    fn the_worst_state_wins_and_what_was_not_judged_is_not_intact() {
        use FileState::{Corrupt, Missing, Modified, Suspect, Unreadable};
        let of = |open: &[(FileState, u64)], late| {
            let said = said(facts(open, late));
            (said.standing, said.files, said.class)
        };
        let all = [(Corrupt, 2), (Modified, 3), (Unreadable, 1)];
        assert_eq!(of(&all, true), (Standing::Corrupt, 2, "bad"));
        assert_eq!(of(&all[1..], true), (Standing::Unreadable, 1, "bad"));
        let open = [(Suspect, 1), (Missing, 4), (Modified, 3)];
        assert_eq!(of(&open, true), (Standing::Suspect, 1, "warn"));
        assert_eq!(of(&open[1..], true), (Standing::Missing, 4, "warn"));
        assert_eq!(of(&open[2..], true), (Standing::Modified, 3, "warn"));
        assert_eq!(of(&[], true), (Standing::Overdue, 0, "warn"));
        assert_eq!(of(&[], false), (Standing::Fine, 0, "good"));
        let mut unchecked = facts(&[], false);
        unchecked.audit.checked = false;
        assert_eq!(said(unchecked).standing, Standing::Recorded, "nothing was compared yet");
    }

    /// To check anew what is known to be damaged does not make it well.
    #[test]
    fn known_damage_stays_said_while_a_run_goes_on() {
        let run = || GoingView { does: "Checking", all: Some(10), ..GoingView::default() };
        let damaged = facts(&[(FileState::Corrupt, 2)], false);
        let said = said_with(damaged, Vec::new(), Some(run()));
        assert_eq!((said.word.as_str(), said.class), ("2 damaged", "bad"));
        let expected = "2 of 10 files are damaged. Checking: 0 of 10 files read.";
        assert_eq!(said.sentence, expected);
        let said = said_with(facts(&[], false), Vec::new(), Some(run()));
        assert_eq!((said.word.as_str(), said.class, said.state), ("Checking", "info", "fine"));
        let found = GoingView { damaged: 3, ..run() };
        let said = said_with(facts(&[(FileState::Corrupt, 2)], false), Vec::new(), Some(found));
        assert_eq!((said.word.as_str(), said.is_so_far), ("3 damaged so far", true));
    }

    #[test]
    fn many_changes_are_those_of_one_run_and_suspect_files_count() {
        let mut many = facts(&[(FileState::Suspect, 30), (FileState::Missing, 3)], false);
        many.audit.entries = 100;
        let of_run = |state, files| FoundByRun { open: [(state, files)].into(), settled: 0 };
        for run in 0..30 {
            many.found.insert(run, of_run(FileState::Suspect, 1));
        }
        assert_eq!(said(many.clone()).standing, Standing::Suspect, "thirty nights with one each");
        many.found.insert(31, of_run(FileState::Suspect, 30));
        let said = said(many);
        assert_eq!((said.standing, said.files), (Standing::MassChange, 30));
        assert_eq!(said.step, NextStep::LookFirst(FileState::Suspect));
    }

    #[test]
    fn a_timer_that_starts_nothing_makes_a_folder_late_and_a_check_that_fails_endangers_it() {
        let with = |matter| said_with(facts(&[], false), vec![matter], None);
        let unstarted = with(Matter::about(Standing::NotStarted, "", "for 9 days"));
        assert_eq!((unstarted.word.as_str(), unstarted.state), ("Check is due", "overdue"));
        let failed = with(Matter::about(Standing::Failed, "", "no room"));
        assert_eq!((failed.word.as_str(), failed.class), ("In danger", "bad"));
        assert_eq!(failed.sentence, "The check could not be made: no room.");
        assert!(schedule_words("night", "02:00", true).contains("nothing on this computer starts"));
    }

    /// One scale: whoever is asked, in whatever form, says the same.
    #[test]
    fn every_standing_has_words_that_agree() {
        for standing in Standing::ALL {
            let (class, icon) = standing.class_and_icon();
            assert!(!standing.word(2).is_empty() && !icon.is_empty(), "{standing:?}");
            let is_fine = standing.exit_status() == ExitStatus::Fine;
            assert!(!(class == "good" && *standing != Standing::Fine), "{standing:?}");
            assert!(!(standing.alarms() && is_fine), "{standing:?}");
            assert!(!(class == "bad" && is_fine), "{standing:?}");
            assert_eq!(standing.state() == "fine", *standing == Standing::Fine, "{standing:?}");
            assert_eq!(Standing::of_name(standing.name()), Some(*standing));
        }
    }
}
