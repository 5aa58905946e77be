//! What to do next. The library says it in plain words; the command as a command to type.

use std::fmt;
use std::path::PathBuf;

/// The next step after a message.
///
/// [`Display`](fmt::Display) writes it as the end of a sentence that names no command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Finish a repair that was cut off.
    Repair,
    /// Repair as the user who began it.
    RepairAsOwner,
    /// Give the files of this folder their names back.
    GiveNamesBack(PathBuf),
    /// Record a file as it is now, since nothing has what it was.
    AcceptAsIs(PathBuf),
    /// Repair a file with special rights, but not in place.
    RepairNotInPlace,
    /// Let the next repair remove what an earlier one left.
    ClearUp,
    /// Find the half-written file, then remove the journal that cannot be used.
    DiscardJournal,
    /// Restore what is missing from parity, or let go of it.
    RestoreOrForget,
    /// Restore a tree that lost all its files.
    RestoreAll(PathBuf),
    /// Make parity.
    MakeParity,
    /// Make parity in this folder again, as the tree was moved.
    MakeParityAt(PathBuf),
    /// Name another folder for parity.
    NameParityFolder,
    /// Bring parity up to date.
    UpdateParity,
    /// Verify parity.
    VerifyParity,
    /// Let parity go of files.
    ForgetInParity,
    /// Let parity go of this folder.
    ForgetFolder(PathBuf),
    /// Remove a set of parity.
    DropSet,
    /// Make tags.
    Tag,
    /// Make tags, if there were none before.
    TagFirst,
    /// Make tags with leaves.
    TagPages,
    /// Make leaves again, beside the file or in the catalogue.
    TagPagesAgain {
        /// Whether they are beside the file.
        beside: bool,
    },
    /// Make a catalogue, or keep leaves beside their files.
    MakeCatalogueOrSidecars,
    /// Keep tags in a catalogue.
    TagInCatalogue,
    /// Make a catalogue.
    MakeCatalogue,
    /// Do something about a catalogue.
    Catalogue {
        /// What to do.
        change: CatalogueChange,
        /// The root of its tree, if it is known.
        root: Option<PathBuf>,
        /// Its file.
        file: PathBuf,
    },
    /// Restore the lost catalogue of this tree, make another, or want none.
    RestoreCatalogue(PathBuf),
    /// Set aside the log of a catalogue that is gone.
    SetLogAside,
    /// Keep the catalogue outside of the tree.
    CatalogueOutside,
    /// Remove a folder that is not trusted, or use no catalogue.
    RemoveOrUseNoCatalogue,
    /// Have the owner of this catalogue open it, or take it over.
    OpenCatalogue(PathBuf),
    /// Take one tree at a time, or use no catalogue.
    OneTree,
    /// Download contents that are elsewhere.
    Download,
    /// Allow more time.
    MoreTime,
}

/// What to do about a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogueChange {
    /// Make it, as was begun.
    Finish,
    /// Make it from the tags.
    Make,
    /// Set it aside, and make one from the tags.
    Replace,
    /// Bind it to the tree, which was copied or restored.
    Rebind,
    /// Make another one elsewhere, as this one cannot be written.
    KeepElsewhere,
    /// Enter its tree in the list of trees.
    List,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Advice::Repair => "a repair finishes it",
            Advice::RepairAsOwner => "the user who repaired can repair again",
            Advice::GiveNamesBack(_) => "a repair of this folder gives them back",
            Advice::AcceptAsIs(_) => "if it is right as it is, it can be recorded so",
            Advice::RepairNotInPlace => "repair it, but not in place",
            Advice::ClearUp => {
                "the next repair clears up what it left in .steadfast/damaged/unfinished"
            }
            Advice::DiscardJournal => "a check finds it; the journal can be discarded then",
            Advice::RestoreOrForget => "a repair restores it, or parity can let go of it",
            Advice::RestoreAll(_) => "if all files are lost, a repair restores them from a copy",
            Advice::MakeParity => "parity can be made",
            Advice::MakeParityAt(_) => {
                "if the tree was moved here, make its parity there again; if it is a copy, give it \
                 a folder of its own"
            }
            Advice::NameParityFolder => "another folder can be named",
            Advice::UpdateParity => "bring it up to date when it is there",
            Advice::VerifyParity => "verifying the parity shows it",
            Advice::ForgetInParity => "parity can let go of them",
            Advice::ForgetFolder(_) => "if not, parity can let go of it",
            Advice::DropSet => "it can be removed",
            Advice::Tag => "files can be tagged",
            Advice::TagFirst => "otherwise they can be tagged",
            Advice::TagPages => "tagging with pages keeps them",
            Advice::TagPagesAgain { .. } => "tagging with pages makes them again",
            Advice::MakeCatalogueOrSidecars => "make one, or keep them beside each file",
            Advice::TagInCatalogue => "a catalogue can keep them instead",
            Advice::MakeCatalogue => "make one first",
            Advice::Catalogue { change: CatalogueChange::Finish, .. } => "make it again",
            Advice::Catalogue { change: CatalogueChange::Make, .. } => {
                "one can be made from the tags"
            }
            Advice::Catalogue { change: CatalogueChange::Replace, .. } => {
                "it can be set aside, and one made from the tags"
            }
            Advice::Catalogue { change: CatalogueChange::Rebind, .. } => {
                "if the tree was copied or restored here, bind the catalogue to it"
            }
            Advice::Catalogue { change: CatalogueChange::KeepElsewhere, .. } => {
                "if the tree was copied or restored here, make a catalogue of it in another place"
            }
            Advice::Catalogue { change: CatalogueChange::List, .. } => {
                "if it is the right one, its catalogue can be made again"
            }
            Advice::RestoreCatalogue(_) => {
                "restore it from a backup, mount the volume that has it, or make another"
            }
            Advice::SetLogAside => "making the catalogue from the tags sets it aside",
            Advice::CatalogueOutside => "name no place, or one outside",
            Advice::RemoveOrUseNoCatalogue => "remove it, or use no catalogue",
            Advice::OpenCatalogue(_) => "its owner can open it to others, or it can be taken over",
            Advice::OneTree => "take one at a time, or use no catalogue",
            Advice::Download => "download them first",
            Advice::MoreTime => "allow more time",
        })
    }
}

/// Returns a number with its noun, in singular or plural: "1 file is".
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Returns a message and the words of an advice as one text.
pub fn with_advice(message: &str, advice: Option<impl fmt::Display>) -> String {
    let Some(advice) = advice.map(|advice| advice.to_string()) else { return message.to_owned() };
    if !message.ends_with(['?', '.']) {
        let colon = if message.ends_with(';') { "" } else { ":" };
        return format!("{message}{colon} {advice}");
    }
    let mut letters = advice.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    format!("{message} {}{}", first.collect::<String>(), letters.as_str())
}
