//! A copy or a judgement as its page shows it, and as a text to keep.

use maud::{Markup, html};
use steadfast::safe::{Grade, Lack, SafeAnswer, SafeRule};
use steadfast_report::{Units, advice, units};

use super::Question;
use crate::app::App;
use crate::copying::{
    CopyFindings, CopyTask, CopyWish, LISTED_MAX, LackingFile, PlaceProofs, ServedCopy, proof_words,
};
use crate::fields::{NamedValues, encode};
use crate::icons::{disc, drawn, icon, small_icon};
use crate::layout::verdict;
use crate::live::Live as _;
use crate::pages::task;
use crate::roots::ServedPath;
use crate::visitor::Visitor;

/// A copy as a visitor sees it.
pub(super) struct CopyView<'a> {
    pub(super) app: &'a App,
    pub(super) visitor: &'a Visitor,
    pub(super) copy: &'a ServedCopy,
}

impl CopyView<'_> {
    /// The page while it goes on.
    pub(super) fn going(&self, query: &NamedValues) -> Markup {
        let copy = self.copy;
        let says = match copy.wish.task {
            CopyTask::Plan => ("Finding out what it comes to", "Nothing is copied yet."),
            CopyTask::Copy => (
                "Copying",
                "A copy gets its name when it was read back from its drive. Leave the source and \
                 the drives connected.",
            ),
            CopyTask::Judge => ("Reading the copies", "Nothing is written."),
        };
        let parts = copy.control.snapshot().parts();
        html! {
            @if query.text("busy").is_some() {
                p .note.warn role="status" { "This one goes on. Begin yours when it has ended." }
            }
            (task::going::<ServedCopy>(self.visitor, copy.id, says, &parts))
        }
    }

    pub(super) fn failed(&self, why: &str, found: &CopyFindings) -> Markup {
        let (title, last) = match self.copy.wish.task {
            CopyTask::Judge => ("This could not be found out. Do not erase it.", ""),
            _ => ("Nothing was copied", "Do not erase anything."),
        };
        html! {
            (verdict("bad", "damaged", title, html! {
                p .soft { (why) ". " (last) }
                div .row { (self.change()) }
            }))
            (notices(found))
        }
    }

    pub(super) fn planned(&self, found: &CopyFindings) -> Markup {
        let files = units::counted(found.files, "file", "files");
        let bytes = Units::Si.bytes(found.bytes);
        let places = self.copy.wish.places.len() as u64;
        let title = match (found.interrupted, found.files) {
            (true, _) => "Stopped before the end. Nothing was copied.".to_owned(),
            (_, 0) => "There is no file to copy".to_owned(),
            _ => format!(
                "{files} ({bytes}) would be copied to {}",
                units::counted(places, "place", "places")
            ),
        };
        html! {
            (verdict("info", "copy", &title, html! {
                p .soft { "This is a plan: nothing was copied." }
                div .row {
                    @if found.files > 0 && !found.interrupted { (self.again("Copy ", &files)) }
                    (self.change())
                }
            }))
            (notices(found))
            section .panel.receipt aria-label="What is copied" {
                (self.from(found))
                @for (place, proofs) in self.copy.wish.places.iter().zip(&found.places) {
                    @let free = proofs.free_bytes.map(|free| {
                        format!("{} are free", Units::Si.bytes(free))
                    });
                    (self.place("idle", place, &free.unwrap_or_default(), html! {}))
                }
            }
        }
    }

    /// The answer: may it be erased?
    pub(super) fn answered(&self, answer: &SafeAnswer, found: &CopyFindings) -> Markup {
        let document = self.copy.wish.document();
        let copies = units::counted(document.rule.copies as u64, "copy", "copies");
        let is_yes = answer.is_yes();
        let (class, sign) = if is_yes { ("good", "intact") } else { ("bad", "damaged") };
        let title = match is_yes {
            true => "Yes, you may erase it.",
            false if found.interrupted => "Stopped before the end. Do not erase it.",
            false => "Do not erase it yet.",
        };
        let files = units::counted(found.files, "file", "files");
        html! {
            (verdict(class, sign, title, html! {
                p .soft { (files) ", " (Units::Si.bytes(found.bytes)) "." }
                div .row {
                    @if !is_yes && self.copy.wish.task == CopyTask::Copy {
                        (self.again(if found.interrupted { "Go on" } else { "Try again" }, ""))
                    }
                    @if self.copy.wish.task == CopyTask::Judge { (self.again("Ask again", "")) }
                    a .button href=(format!("/copy/{}/receipt", self.copy.id)) {
                        "Save the receipt"
                    }
                    @if !is_yes { (self.change()) }
                }
            }))
            section .panel.receipt aria-label="Receipt" {
                (self.from(found))
                @for (place, proofs) in self.copy.wish.places.iter().zip(&found.places) {
                    (self.proved(place, proofs))
                }
                div .last.(class) {
                    (drawn(sign, &format!("icon {class}")))
                    p { (document.last_line(answer))
                        small { "You asked for " (copies) " of every file, proved by reading, the \
                            source not counted"
                            @if document.rule.copies > 1 { ", on different drives" } "." } }
                }
            }
            @for (lack, files) in answer.lacks() {
                @let listed = found.lacking.iter().filter(|file| file.lack == lack);
                (group(lack, &document.reason(lack, files), files, &listed.collect::<Vec<_>>()))
            }
            (notices(found))
            details .fold {
                summary { (small_icon("chevron")) "Technical details" }
                div .body { dl .facts {
                    div { dt { "Command" } dd { span .mono { (self.command()) } } }
                    div { dt { "Time" } dd { (units::duration(found.elapsed_ns)) } }
                    div { dt { "Exit status" } dd { (found.exit_status.code()) } }
                } }
            }
        }
    }

    /// The answer with what was proved where, as a text to keep.
    pub(super) fn receipt(&self, answer: &SafeAnswer, found: &CopyFindings) -> String {
        let (roots, wish) = (&self.app.roots, &self.copy.wish);
        let from = wish.sources.iter().map(|place| format!("From: {}\n", roots.shown(place)));
        let mut text: String = from.collect();
        let (files, bytes) = (units::counted(found.files, "file", "files"), found.bytes);
        text.push_str(&format!("  {files}, {}\n", Units::Si.bytes(bytes)));
        for (place, proofs) in wish.places.iter().zip(&found.places) {
            text.push_str(&format!("{}: {}\n", place_word(wish.task), roots.shown(place)));
            for (files, _, _, says) in proof_lines(proofs) {
                text.push_str(&format!("  {} {says}\n", units::count(files)));
            }
        }
        format!("{text}\n{}\n", wish.document().last_line(answer))
    }

    fn from(&self, found: &CopyFindings) -> Markup {
        let sources: Vec<String> =
            self.copy.wish.sources.iter().map(|place| self.app.roots.shown(place)).collect();
        html! {
            div .line-item {
                (disc("folder", "idle"))
                div {
                    h2 { "From: " (sources.join(", ")) }
                    p { (units::counted(found.files, "file", "files")) ", "
                        (Units::Si.bytes(found.bytes))
                        @if found.known > 0 {
                            "; " (units::count(found.known)) " more left out, because you have \
                            them by the records"
                        } }
                }
            }
        }
    }

    fn place(&self, class: &str, place: &ServedPath, says: &str, proofs: Markup) -> Markup {
        let word = place_word(self.copy.wish.task);
        html! {
            div .line-item {
                (disc("drive", class))
                div {
                    h2 { (word) ": " (self.app.roots.shown(place)) }
                    p { (says) }
                }
                (proofs)
            }
        }
    }

    /// A place, with what was proved there.
    fn proved(&self, place: &ServedPath, proofs: &PlaceProofs) -> Markup {
        let medium = proofs.proved[Grade::Medium as usize];
        let all = proofs.none + proofs.proved.iter().sum::<u64>();
        let class = if medium > 0 && medium == all { "good" } else { "warn" };
        let list = html! {
            ul .proof {
                @for (files, class, sign, says) in proof_lines(proofs) {
                    li { (drawn(sign, &format!("icon sm {class}")))
                        (units::count(files)) " " (says) }
                }
            }
        };
        self.place(class, place, "", list)
    }

    /// The fields of the same wish, and a button.
    fn again(&self, label: &str, what: &str) -> Markup {
        let wish = &self.copy.wish;
        html! {
            form method="post" action=(Question::of(wish.task).path()) {
                (self.visitor.csrf())
                @for (name, value) in fields(wish) {
                    input type="hidden" name=(name) value=(value);
                }
                button .main type="submit" name="agreed" value="1" {
                    (icon(if wish.task == CopyTask::Judge { "checking" } else { "copy" }))
                    (label) (what)
                }
            }
        }
    }

    /// The way back to the form, with what was chosen.
    fn change(&self) -> Markup {
        let wish = &self.copy.wish;
        let query = fields(wish).map(|(name, it)| format!("{name}={}", encode(it.as_bytes())));
        let query = query.collect::<Vec<_>>().join("&");
        let path = Question::of(wish.task).path();
        html! { a .button href=(format!("{path}?{query}")) { "Choose otherwise…" } }
    }

    /// What does the same in a terminal.
    fn command(&self) -> String {
        let wish = &self.copy.wish;
        let typed = |place: &ServedPath| advice::typed_paths(&[self.app.roots.path(place)]);
        let (verb, option) = match wish.task {
            CopyTask::Judge => ("safe", "--in"),
            CopyTask::Plan | CopyTask::Copy => ("copy", "--to"),
        };
        let mut words = vec![format!("steadfast {verb}")];
        if wish.rule.copies != SafeRule::default().copies {
            words.push(format!("--copies {}", wish.rule.copies));
        }
        words.extend(known_to_user(wish.rule).map(|(_, option)| option.to_owned()));
        if !wish.archives.is_empty() {
            words.push("--unknown".to_owned());
            words.extend(wish.archives.iter().map(|place| format!("--in {}", typed(place))));
        }
        words.extend(wish.sources.iter().map(typed));
        words.extend(wish.places.iter().map(|place| format!("{option} {}", typed(place))));
        words.join(" ")
    }
}

/// The fields of the form, with what was chosen.
fn fields(wish: &CopyWish) -> impl Iterator<Item = (&'static str, String)> {
    let of = |name: &'static str| move |place: &ServedPath| (name, place.token());
    let places = wish.sources.iter().map(of("from")).chain(wish.places.iter().map(of("to")));
    let places = places.chain(wish.archives.iter().map(of("in")));
    let copies = ("copies", wish.rule.copies.to_string());
    let known = known_to_user(wish.rule).map(|(field, _)| (field, "1".to_owned()));
    places.chain([copies]).chain(known)
}

/// What only the user can know, as far as it was chosen: the field of the form and the option.
fn known_to_user(rule: SafeRule) -> impl Iterator<Item = (&'static str, &'static str)> {
    let SafeRule { apart, servers, tree, .. } = rule;
    let all = [
        (apart, ("apart", "--apart")),
        (servers, ("servers", "--trust-servers")),
        (tree, ("tree", "--trust-tree")),
    ];
    all.into_iter().filter_map(|(is_chosen, names)| is_chosen.then_some(names))
}

fn place_word(task: CopyTask) -> &'static str {
    if task == CopyTask::Judge { "In" } else { "To" }
}

/// How many files were proved at a place and how: with a colour, a sign and the words.
fn proof_lines(
    proofs: &PlaceProofs,
) -> impl Iterator<Item = (u64, &'static str, &'static str, &'static str)> {
    let PlaceProofs { proved, none, were_there, rewritten, .. } = *proofs;
    let of_grades = proved.into_iter().zip(Grade::ALL).map(|(files, grade)| match grade {
        Grade::Medium => (files, "good", "check", proof_words(grade)),
        _ => (files, "warn", "help", proof_words(grade)),
    });
    let others = [
        (none, "warn", "missing", "not there, or not proved"),
        (rewritten, "info", "copy", "written again, because they were read back wrong"),
        (were_there, "info", "file", "were there before"),
    ];
    of_grades.chain(others).filter(|(files, ..)| *files > 0)
}

/// What was said on the way.
fn notices(found: &CopyFindings) -> Markup {
    html! {
        @if !found.notices.is_empty() {
            section .panel.pad aria-labelledby="told" {
                h2 #told { "To know" }
                ul .stack.tight.small { @for notice in &found.notices { li { (notice) } } }
                @if found.more_notices > 0 {
                    p .small.soft { "and " (units::count(found.more_notices)) " more" }
                }
            }
        }
    }
}

/// The files of one lack.
fn group(lack: Lack, title: &str, files: u64, listed: &[&LackingFile]) -> Markup {
    html! {
        @if !listed.is_empty() {
            section .panel.group.attention aria-labelledby=(lack.name()) {
                div .cap { (icon("damaged")) h2 id=(lack.name()) { (units::capital(title)) } }
                @if lack == Lack::Corrupt {
                    p .say {
                        "Copies have what the record says, if parity or another copy gave that; \
                         otherwise nothing was copied, since a copy would only spread the damage. \
                         Repair them first, or look for a good copy."
                    }
                }
                @for file in listed {
                    article .find {
                        (drawn("file", "icon warn"))
                        div {
                            h3 .file { @if let Some((above, name)) = file.path.rsplit_once('/') {
                                span { (above) } (name)
                            } @else { (file.path) } }
                            @for line in &file.lines { p .why { (line) } }
                        }
                        p .at { (Units::Si.bytes(file.length)) }
                    }
                }
                @if files > LISTED_MAX {
                    p .more { (units::count(LISTED_MAX)) " of " (units::count(files)) " shown" }
                }
            }
        }
    }
}
