//! What to do next, as the command says it: what to type.

use std::path::{Path, PathBuf};

use steadfast::event::FileError;
use steadfast::{Advice, CatalogueChange, Notice, with_advice};

use steadfast::escape;

/// Returns paths as a shell takes them; `PATH` for many, for none, and for names that a terminal
/// would obey, that look like options, or that are not text.
pub fn typed_paths(paths: &[PathBuf]) -> String {
    let quoted = paths.iter().map(|path| {
        let text =
            path.to_str().filter(|text| escape::path(path) == **text && !text.starts_with('-'))?;
        let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+,@:".contains(letter);
        match text.chars().all(is_plain) && !text.is_empty() {
            true => Some(text.to_owned()),
            false => Some(format!("'{}'", text.replace('\'', r"'\''"))),
        }
    });
    let quoted: Option<Vec<String>> = quoted.collect();
    quoted
        .filter(|some| (1..=3).contains(&some.len()))
        .map_or("PATH".to_owned(), |some| some.join(" "))
}

/// Returns a path as a shell reads it, or `PATH` if it cannot be printed.
pub fn typed_path(path: &Path) -> String {
    typed_paths(&[path.to_owned()])
}

/// Returns the text of a notice with what to type.
pub fn of_notice(notice: &Notice) -> String {
    with_advice(&notice.text, notice.advice.as_ref().map(typed))
}

/// Returns the text of an error with what to type.
pub fn of_error(error: &FileError) -> String {
    with_advice(&error.message(), error.advice.as_deref().map(typed))
}

/// Returns what to type, as the end of a sentence.
pub fn typed(advice: &Advice) -> String {
    let fixed = match advice {
        Advice::Repair => "`steadfast repair PATH` finishes it",
        Advice::RepairAsOwner => "run `steadfast repair PATH` as the user who repaired",
        Advice::RepairNotInPlace => "repair it without --in-place",
        Advice::ClearUp => {
            "the next `steadfast repair PATH` clears up what it left in .steadfast/damaged/\
             unfinished"
        }
        Advice::DiscardJournal => {
            "`steadfast check PATH` finds it. To remove the journal: steadfast repair --discard \
             unfinished PATH"
        }
        Advice::RestoreOrForget => {
            "`steadfast repair PATH` restores it, `steadfast parity update --forget-missing DIR` \
             ends its protection"
        }
        Advice::MakeParity => "`steadfast parity make DIR` makes it",
        Advice::NameParityFolder => "`--parity-at FOLDER` names another",
        Advice::UpdateParity => "run `steadfast parity update DIR` when it is there",
        Advice::VerifyParity => "`steadfast parity verify DIR` shows it",
        Advice::ForgetInParity => "`steadfast parity update --forget PATH DIR` ends that",
        Advice::DropSet => "`steadfast parity drop --set SET DIR` removes it",
        Advice::Tag => "`steadfast init DIR` records them",
        Advice::TagFirst => "otherwise `steadfast init DIR` records them",
        Advice::TagPagesAgain { beside: false } => "`steadfast tag --pages PATH` makes them again",
        Advice::TagPagesAgain { beside: true } => {
            "`steadfast tag --pages --sidecar PATH` makes them again"
        }
        Advice::TagPages => "`steadfast tag --pages PATH` keeps them",
        Advice::MakeCatalogueOrSidecars => {
            "`steadfast init DIR` makes one, or --sidecar keeps them beside each file"
        }
        Advice::TagInCatalogue => "`steadfast init DIR` keeps tags in a catalogue instead",
        Advice::MakeCatalogue => "`steadfast init DIR` makes one",
        Advice::SetLogAside => "--rebuild sets it aside",
        Advice::CatalogueOutside => "leave --catalogue out, or name a place outside",
        Advice::RemoveOrUseNoCatalogue => "remove it, or leave it out with --no-catalogue",
        Advice::OneTree => "take one at a time, or leave the catalogues out with --no-catalogue",
        Advice::Download => {
            "--download fetches them, --require-local counts them as failures, --verbose and \
             --json list them"
        }
        Advice::MoreTime => "allow more with --max-time",
        placed => return typed_with_place(placed),
    };
    fixed.to_owned()
}

/// Returns what to type where the advice has a place, which is a part of it.
fn typed_with_place(advice: &Advice) -> String {
    match advice {
        Advice::RestoreAll(root) => {
            let own = root.join(".steadfast");
            let root = typed_path(root);
            format!(
                "if all files are lost, restore them: `steadfast repair --all-lost --from COPY \
                 {root}`; if you removed them, remove `{}` too, and end its checks: `steadfast \
                 init --forget {root}`",
                own.display()
            )
        }
        Advice::MakeParityAt(folder) => {
            format!(
                "if the tree was moved here, run `steadfast parity make --parity-at {}` once; if \
                 it is a copy, give it a folder of its own",
                typed_path(folder)
            )
        }
        Advice::GiveNamesBack(folder) => {
            let folder = typed_path(folder);
            format!("`steadfast repair {folder}` gives them back")
        }
        Advice::AcceptAsIs(file) => {
            let file = typed_path(file);
            format!("if it is right as it is, `steadfast update --accept {file}` records it so")
        }
        Advice::ForgetFolder(folder) => {
            format!("if not, `--forget {}` ends its protection", typed_path(folder))
        }
        Advice::RestoreCatalogue(root) => {
            let root = typed_path(root);
            format!(
                "mount the volume that has it, restore it from a backup, or make another: \
                 `steadfast init {root}` ({LOST_WITH_A_CATALOGUE}). If you want none: `steadfast \
                 init --forget {root}`"
            )
        }
        Advice::OpenCatalogue(file) => {
            let own = file.parent().filter(|_| file.ends_with(".steadfast/catalogue.sqlite"));
            let place = match own.and_then(Path::parent) {
                Some(root) => typed_path(root),
                None => format!("--catalogue {} DIR", typed_path(file)),
            };
            format!(
                "its owner opens it with `steadfast init --readers all {place}`; or take it over \
                 with `sudo chown \"$USER\" {}*`",
                typed_path(file)
            )
        }
        Advice::Catalogue { change, root, file } => {
            catalogue(*change, root.as_deref().unwrap_or(Path::new("DIR")), file)
        }
        other => other.to_string(),
    }
}

/// What a catalogue that is made anew does not have.
const LOST_WITH_A_CATALOGUE: &str =
    "a new one does not know which files are gone, what was checked when, and what was found";

fn catalogue(change: CatalogueChange, root: &Path, file: &Path) -> String {
    let place = match file.ends_with(".steadfast/catalogue.sqlite") {
        true => typed_path(root),
        false => format!("--catalogue {} {}", typed_path(file), typed_path(root)),
    };
    match change {
        CatalogueChange::Finish => format!("`steadfast init {place}` makes the catalogue"),
        CatalogueChange::Make => {
            format!("`steadfast init --rebuild {place}` makes one from the tags")
        }
        CatalogueChange::Replace => format!(
            "`steadfast init --rebuild {place}` sets it aside under another name and makes one \
             from the tags: {LOST_WITH_A_CATALOGUE}"
        ),
        CatalogueChange::Rebind => format!(
            "if the tree was copied or restored to `{}`, bind the catalogue to it: `steadfast init \
             --rebind {place}`",
            root.display()
        ),
        CatalogueChange::KeepElsewhere => format!(
            "if the tree was copied or restored to `{}`, keep a catalogue of it elsewhere: \
             `steadfast init --catalogue FILE {}`, and name it for each run",
            root.display(),
            typed_path(root)
        ),
        CatalogueChange::List => {
            format!("if it is the right one, enter it: `steadfast init {place}`")
        }
    }
}

#[cfg(test)]
mod tests {
    use steadfast::names::NameBytes as _;

    use super::*;

    #[test]
    fn paths_can_be_typed_again_or_are_not_named() {
        let typed = |paths: &[&[u8]]| {
            let paths = paths.iter().map(|path| PathBuf::from(Path::from_bytes(path)));
            typed_paths(&paths.collect::<Vec<_>>())
        };
        assert_eq!(typed(&[b"."]), ".");
        assert_eq!(typed(&[b"/a b/c", b"d"]), "'/a b/c' d");
        assert_eq!(typed(&[b"it's $HOME"]), r"'it'\''s $HOME'");
        assert_eq!(typed(&[b""]), "''");
        let many: [&[u8]; 4] = [b"a"; 4];
        let unnamed: [&[&[u8]]; 5] = [&[], &[b"-a"], &[b"a\nb"], &[b"a\xff"], &many];
        for paths in unnamed {
            assert_eq!(typed(paths), "PATH", "{paths:?}");
        }
    }
}
