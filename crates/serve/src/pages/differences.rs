//! Two folders beside each other: what differs, what is only here and only there, by what is
//! recorded of their files.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::diff::{DiffMonitor, DiffSummary, Difference, FileSide, PathPair, Trees, diff};
use steadfast::{Notice, Timestamp, Verdict};
use steadfast_report::{Units, escape, units};

use crate::app::App;
use crate::dates;
use crate::folders::name_of;
use crate::icons::{disc, drawn, icon, small_icon};
use crate::layout::{Tab, folder_trail, framed};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::visitor::{QueryFields, Visitor};

/// Files that are listed of each kind.
const LISTED_MAX: usize = 200;

/// What is listed, in this order: what differs most first.
const SHOWN: [Difference; 6] = [
    Difference::Different,
    Difference::OnlyHere,
    Difference::OnlyThere,
    Difference::Moved,
    Difference::Unreadable,
    Difference::Unknown,
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/differences", get(show))
}

/// Keeps some of each kind.
#[derive(Default)]
struct PairKeeper {
    pairs: Vec<PathPair>,
}

impl DiffMonitor for PairKeeper {
    fn pair(&mut self, pair: &PathPair) {
        let of_kind = self.pairs.iter().filter(|other| other.difference == pair.difference).count();
        if SHOWN.contains(&pair.difference) && of_kind < LISTED_MAX {
            self.pairs.push(pair.clone());
        }
    }

    fn notice(&mut self, _: &Notice) {}
}

/// The folders that are compared, each with its name.
struct TwoFolders {
    here: (ServedPath, String),
    there: (ServedPath, String),
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let here = app.place(&query)?.ok_or(Refusal::NotFound)?;
    let path = query.text("path").map(str::trim).filter(|path| !path.is_empty());
    let there = match path {
        Some(path) => app.roots.place_of(Path::new(path)),
        None => query.text("with").and_then(|token| app.roots.place(token)),
    };
    let is_unknown = there.is_none() && (path.is_some() || query.text("with").is_some());
    let content = match there {
        None => choose(&app, &here, is_unknown),
        Some(there) => {
            let name = |place: &ServedPath| name_of(&app.roots.path(place));
            let names = (name(&here), name(&there));
            let two = TwoFolders { here: (here, names.0), there: (there, names.1) };
            let places = (two.here.0.clone(), two.there.0.clone());
            let compared = app.heavy(move |app| compare(app, &places.0, &places.1)).await?;
            match compared {
                Ok((summary, pairs)) => shown(&visitor, &two, &summary, &pairs, app.now()),
                Err(why) => html! {
                    (trail(&two.here.0, &two.here.1))
                    h1 { "These two cannot be compared" }
                    p .note.bad role="alert" { (why) }
                },
            }
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), "Two folders", &html! {}, &content))
}

fn compare(
    app: &App,
    here: &ServedPath,
    there: &ServedPath,
) -> Result<(DiffSummary, Vec<PathPair>), String> {
    let path = |place| app.roots.resolve(place).map_err(|error| error.to_string());
    let trees = Trees::new(path(here)?, path(there)?);
    let mut keeper = PairKeeper::default();
    let summary = diff(&trees, &app.usual_options(), &mut keeper);
    let summary = summary.map_err(|error| escape::text(&error.to_string()))?;
    Ok((summary, keeper.pairs))
}

fn trail(place: &ServedPath, name: &str) -> Markup {
    folder_trail(place.root, name, "Compared")
}

/// The choice of the other folder.
fn choose(app: &App, here: &ServedPath, is_unknown: bool) -> Markup {
    let mut others = app.roots.places();
    others.retain(|other| other != here);
    html! {
        (trail(here, &name_of(&app.roots.path(here))))
        h1 { "Compare " (name_of(&app.roots.path(here))) " with which folder?" }
        @if is_unknown {
            p .note.bad role="alert" { "That path is beneath no folder that this server shows." }
        }
        form .panel method="get" action="/differences" {
            input type="hidden" name="place" value=(here.token());
            div .body.stack.tight {
                @if !others.is_empty() {
                    fieldset .pick {
                        legend { "One of your folders" }
                        @for other in &others {
                            label {
                                input type="radio" name="with" value=(other.token());
                                (icon("folder"))
                                span .what { (name_of(&app.roots.path(other)))
                                    small { (app.roots.shown(other)) } }
                            }
                        }
                    }
                }
                div .field {
                    label for="path" { "A folder within one of yours" }
                    input #path type="text" name="path" maxlength="4000" autocomplete="off"
                        placeholder=(app.roots.shown(here));
                }
                div .row { button .main type="submit" { (icon("layers")) "Compare" } }
            }
        }
    }
}

fn shown(
    visitor: &Visitor,
    two: &TwoFolders,
    summary: &DiffSummary,
    pairs: &[PathPair],
    now: Timestamp,
) -> Markup {
    let differing: u64 = SHOWN.iter().map(|kind| summary.differences(*kind)).sum();
    let same = summary.differences(Difference::Same) + summary.differences(Difference::TagLost);
    let unknown = summary.differences(Difference::Unknown);
    let damaged = summary.damaged[0] + summary.damaged[1];
    let (class, title) = match differing {
        // Before all else: one decides here which side to keep.
        _ if damaged > 0 => ("bad", damage_title(two, summary.damaged)),
        _ if !summary.exit_status().is_fine() && differing == 0 => {
            ("warn", "Not everything could be compared".to_owned())
        }
        0 if same == 0 => ("idle", "There are no files to compare".to_owned()),
        0 => ("good", "The two folders are the same".to_owned()),
        all if all == unknown => {
            let files = units::counted(all, "file", "files");
            ("warn", format!("Of {files} nothing is recorded that could be compared"))
        }
        all => {
            let files = units::counted(all, "file", "files");
            ("warn", format!("The two folders are the same except for {files}"))
        }
    };
    html! {
        (trail(&two.here.0, &two.here.1))
        div .verdict {
            @let sign = match class { "good" => "intact", "bad" => "damaged", _ => "differs" };
            (disc(sign, &format!("{class} big")))
            div {
                h1 { (title) }
                p .soft {
                    (units::counted(same, "file has", "files have"))
                    " the same contents on both sides, as recorded. The files were not read now."
                }
            }
        }
        div .two {
            (side(&two.here.1, summary.files_here))
            span .mid { (icon("differs")) }
            (side(&two.there.1, summary.files_there))
        }
        @for kind in SHOWN {
            @let files = summary.differences(kind);
            @if files > 0 {
                @let of_kind = pairs.iter().filter(|pair| pair.difference == kind);
                (group(visitor, two, kind, files, &of_kind.collect::<Vec<_>>(), now))
            }
        }
    }
}

/// Says how many files of which side are known to be damaged.
fn damage_title(two: &TwoFolders, damaged: [u64; 2]) -> String {
    let names = [&two.here.1, &two.there.1];
    let sides = names.into_iter().zip(damaged).filter(|(_, files)| *files > 0);
    let said: Vec<String> = sides
        .map(|(name, files)| {
            format!("{} damaged in {name}", units::counted(files, "file is", "files are"))
        })
        .collect();
    said.join(", ")
}

fn side(name: &str, files: u64) -> Markup {
    html! {
        section .panel {
            h2 { (name) }
            p .small.soft { (units::counted(files, "file", "files")) }
        }
    }
}

fn group(
    visitor: &Visitor,
    two: &TwoFolders,
    kind: Difference,
    files: u64,
    pairs: &[&PathPair],
    now: Timestamp,
) -> Markup {
    let (here, there) = (&two.here.1, &two.there.1);
    let (class, sign, title) = match kind {
        Difference::Different => ("warn", "differs", "differ".to_owned()),
        Difference::OnlyHere => ("info", "new", format!("only in {here}")),
        Difference::OnlyThere => ("warn", "missing", format!("only in {there}")),
        Difference::Moved => ("info", "moved", "under another name".to_owned()),
        Difference::Unreadable => ("bad", "help", "could not be read".to_owned()),
        _ => ("warn", "help", "could not be compared by what is recorded".to_owned()),
    };
    html! {
        section .panel.group aria-labelledby=(kind.name()) {
            div .cap {
                (drawn(sign, &format!("icon {class}")))
                h2 id=(kind.name()) { (units::count(files)) " " (title) }
            }
            ul .pairs.list-top { @for pair in pairs { (line(visitor, two, pair, now)) } }
            @if files > pairs.len() as u64 {
                p .more { (units::count(pairs.len() as u64)) " of " (units::count(files)) " shown" }
            }
        }
    }
}

/// One path with both sides, and the button that mends a damaged one from a good one.
fn line(visitor: &Visitor, two: &TwoFolders, pair: &PathPair, now: Timestamp) -> Markup {
    let last = pair.path.file_name().map_or(pair.path.as_path(), Path::new);
    let above = pair.path.parent().map(escape::path).unwrap_or_default();
    let is_damaged = |side: &Option<Box<FileSide>>| side.as_ref().is_some_and(|it| it.is_damaged());
    let mended = match (is_damaged(&pair.here), is_damaged(&pair.there)) {
        (true, false) => Some((&two.here, &two.there)),
        (false, true) => Some((&two.there, &two.here)),
        _ => None,
    };
    let place = |base: &ServedPath| base.with(&base.below.join(&pair.path));
    html! {
        li {
            p .file { (escape::path(last)) small { (above) } }
            (has(&two.here.1, pair.here.as_deref(), now))
            (has(&two.there.1, pair.there.as_deref(), now))
            @if let Some(moved_to) = &pair.moved_to {
                p .small.soft { "There: " (escape::path(moved_to)) }
            }
            @if let Some((bad, good)) = mended {
                form .row method="post" action="/repair" {
                    (visitor.csrf())
                    input type="hidden" name="place" value=(place(&bad.0).token());
                    input type="hidden" name="from" value=(place(&good.0).token());
                    button type="submit" {
                        (icon("repair")) "Mend " (bad.1) " from " (good.1) "…"
                    }
                }
            }
        }
    }
}

/// One side: what there is, how long, how old.
fn has(name: &str, side: Option<&FileSide>, now: Timestamp) -> Markup {
    let (sign, said) = match side.map(|side| side.verdict) {
        None => ("missing", ""),
        Some(Some(Verdict::Corrupt)) => ("damaged", "damaged, "),
        Some(Some(Verdict::Suspect)) => ("suspect", "changed, with its date kept, "),
        Some(_) => ("file", ""),
    };
    html! {
        div .has.bad[!said.is_empty()] {
            (small_icon(sign))
            div {
                (name)
                @match side {
                    None => small { "not there" },
                    Some(side) => {
                        small {
                            (said)
                            @if let Some(length) = side.length { (Units::Si.bytes(length)) }
                            @if let Some(mtime) = side.mtime {
                                ", saved " (dates::moment(mtime, now))
                            }
                        }
                    }
                }
            }
        }
    }
}
