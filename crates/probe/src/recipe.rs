//! The table of operations.
//!
//! Each recipe is a few commands or a way of saving. Knows no directories.

use std::env::consts;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::Group;
use crate::folder::Saving;
use crate::tool::{Failure, ToolStep};

/// The name of the file with which every recipe begins.
pub(super) const SOURCE: &str = "source";

/// The contents that are saved. Shorter than those that they replace.
const OTHER_CONTENTS: &[u8] = b"other contents\n";

/// One operation.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) group: Group,
    pub(super) name: &'static str,
    /// The system that has it, by its name in `std`; `None` for all.
    system: Option<&'static str>,
    doing: RecipeAction,
    /// The place of the file afterwards, within the bench.
    pub(super) result: &'static str,
}

#[derive(Debug)]
enum RecipeAction {
    Steps(&'static [ToolStep]),
    Save(Saving),
}

impl Recipe {
    const fn copy(name: &'static str, steps: &'static [ToolStep], result: &'static str) -> Recipe {
        Recipe { group: Group::Copy, name, system: None, doing: RecipeAction::Steps(steps), result }
    }

    const fn save(name: &'static str, saving: Saving) -> Recipe {
        let doing = RecipeAction::Save(saving);
        Recipe { group: Group::Save, name, system: None, doing, result: SOURCE }
    }

    const fn between(name: &'static str, steps: &'static [ToolStep]) -> Recipe {
        let doing = RecipeAction::Steps(steps);
        Recipe { group: Group::Between, name, system: None, doing, result: "result" }
    }

    const fn on(self, system: &'static str) -> Recipe {
        Recipe { system: Some(system), ..self }
    }

    /// Executes it.
    ///
    /// # Errors
    ///
    /// If it fails.
    pub(super) fn perform(&self, from: &Path, to: &Path, stop: &AtomicBool) -> Result<(), Failure> {
        match &self.doing {
            RecipeAction::Steps(steps) => {
                steps.iter().try_for_each(|step| step.run(from, to, stop))
            }
            RecipeAction::Save(saving) => Ok(saving.save(&from.join(SOURCE), OTHER_CONTENTS)?),
        }
    }
}

/// Returns the operations within one directory.
pub(super) fn in_one_place() -> impl Iterator<Item = &'static Recipe> {
    IN_ONE_PLACE.iter().filter(|recipe| recipe.system.is_none_or(|system| system == consts::OS))
}

/// Returns the operations between two file systems.
pub(super) fn between_places() -> impl Iterator<Item = &'static Recipe> {
    BETWEEN_PLACES.iter()
}

const UNPACKED: &str = "out/source";

/// Has the Finder copy, as a person does by dragging. It asks once for leave to control the Finder.
const FINDER_COPY: &str = "const here = $.NSFileManager.defaultManager.currentDirectoryPath.js; \
    Application('Finder').duplicate(Path(here + '/source'), {to: Path(here + '/out')})";

static IN_ONE_PLACE: [Recipe; 25] = [
    Recipe::copy("cp", &[ToolStep::of(&["cp", "source", "result"])], "result"),
    Recipe::copy("cp -p", &[ToolStep::of(&["cp", "-p", "source", "result"])], "result"),
    Recipe::copy("cp -a", &[ToolStep::of(&["cp", "-a", "source", "result"])], "result"),
    Recipe::copy(
        "cp --reflink=auto",
        &[ToolStep::of(&["cp", "--reflink=auto", "source", "result"])],
        "result",
    )
    .on("linux"),
    Recipe::copy(
        "cp --preserve=xattr",
        &[ToolStep::of(&["cp", "--preserve=xattr", "source", "result"])],
        "result",
    )
    .on("linux"),
    Recipe::copy("cp -c", &[ToolStep::of(&["cp", "-c", "source", "result"])], "result").on("macos"),
    Recipe::copy("ditto", &[ToolStep::of(&["ditto", "source", "result"])], "result").on("macos"),
    Recipe::copy(
        "ditto -c -k, ditto -x -k",
        &[
            ToolStep::of(&["ditto", "-c", "-k", "--sequesterRsrc", "source", "archive.zip"]),
            ToolStep::of(&["ditto", "-x", "-k", "archive.zip", "out"]),
        ],
        UNPACKED,
    )
    .on("macos"),
    Recipe::copy(
        "Finder",
        &[ToolStep::of(&["osascript", "-l", "JavaScript", "-e", FINDER_COPY])],
        UNPACKED,
    )
    .on("macos"),
    Recipe::copy("mv", &[ToolStep::of(&["mv", "source", "result"])], "result"),
    Recipe::copy("rsync -a", &[ToolStep::of(&["rsync", "-a", "source", "result"])], "result"),
    Recipe::copy("rsync -aX", &[ToolStep::of(&["rsync", "-aX", "source", "result"])], "result"),
    Recipe::copy(
        "rsync -aE",
        &[ToolStep::of(&["/usr/bin/rsync", "-aE", "source", "result"])],
        "result",
    )
    .on("macos"),
    Recipe::copy(
        "tar",
        &[
            ToolStep::of(&["tar", "-cf", "archive.tar", "source"]),
            ToolStep::of(&["tar", "-xf", "archive.tar", "-C", "out"]),
        ],
        UNPACKED,
    ),
    Recipe::copy(
        "tar --xattrs",
        &[
            ToolStep::of(&["tar", "--xattrs", "-cf", "archive.tar", "source"]),
            ToolStep::of(&["tar", "--xattrs", "-xf", "archive.tar", "-C", "out"]),
        ],
        UNPACKED,
    ),
    Recipe::copy(
        "zip, unzip",
        &[
            ToolStep::of(&["zip", "-q", "archive.zip", "source"]),
            ToolStep::of(&["unzip", "-q", "archive.zip", "-d", "out"]),
        ],
        UNPACKED,
    ),
    Recipe::copy(
        "cpio -m",
        &[
            ToolStep { output: Some("names"), ..ToolStep::of(&["ls", "source"]) },
            ToolStep {
                input: Some("names"),
                output: Some("archive.cpio"),
                ..ToolStep::of(&["cpio", "-o", "-H", "newc"])
            },
            ToolStep {
                inside: "out",
                input: Some("archive.cpio"),
                ..ToolStep::of(&["cpio", "-i", "-m"])
            },
        ],
        UNPACKED,
    ),
    Recipe::copy(
        "7z",
        &[
            ToolStep::of(&["7z", "a", "archive.7z", "source"]),
            ToolStep::of(&["7z", "x", "-oout", "archive.7z"]),
        ],
        UNPACKED,
    ),
    Recipe::save("bytes written in place", Saving::InPlace),
    Recipe::save("truncated and written", Saving::Truncating),
    Recipe::save("new file renamed over", Saving::Replacing),
    Recipe::save("old file renamed away", Saving::SettingAside),
    by_editor("sed -i", &[ToolStep::of(&["sed", "-i", "s/s/S/", "source"])]).on("linux"),
    by_editor("perl -i", &[ToolStep::of(&["perl", "-i", "-pe", "s/s/S/", "source"])]),
    by_editor(
        "vim",
        &[ToolStep::of(&[
            "vim", "-u", "NONE", "-i", "NONE", "-n", "-es", "-c", "s/s/S/", "-c", "wq", "source",
        ])],
    ),
];

static BETWEEN_PLACES: [Recipe; 3] = [
    Recipe::between("mv", &[ToolStep::of(&["mv", "{from}/source", "{to}/result"])]),
    Recipe::between("cp -a", &[ToolStep::of(&["cp", "-a", "{from}/source", "{to}/result"])]),
    Recipe::between(
        "rsync -aX",
        &[ToolStep::of(&["rsync", "-aX", "{from}/source", "{to}/result"])],
    ),
];

const fn by_editor(name: &'static str, steps: &'static [ToolStep]) -> Recipe {
    Recipe { group: Group::Save, ..Recipe::copy(name, steps, SOURCE) }
}
