//! The files of a question that a person answers.

use anyhow::{Context as _, ensure};
use steadfast::{ExitStatus, Selection};
use steadfast_report::{escape, units};
use steadfast_watch::QuestionKind;

use crate::args::PathArgs;
use crate::exit;

use super::alert::places;

/// Files that are named of those that are left out.
const NAMED_MAX: usize = 5;

/// A question, and which of its files may be answered for.
pub(super) struct AnsweredQuestion {
    pub(super) kind: QuestionKind,
    /// The files that are as they were when it was asked.
    pub(super) selection: Selection,
    /// Not fine if some are not.
    pub(super) status: ExitStatus,
}

/// Finds the question of a tree by what was typed.
///
/// # Errors
/// If there is none, its list is another one, or PATH is not a catalogued tree.
pub(super) fn answered(code: &str, paths: &PathArgs) -> anyhow::Result<AnsweredQuestion> {
    ensure!(paths.files_from.is_none(), "--answer has its own list of files");
    let [path] = &paths.paths[..] else {
        anyhow::bail!("--answer is about one tree: name its PATH")
    };
    let root = path.canonicalize().with_context(|| format!("cannot find `{}`", path.display()))?;
    let places = places()?;
    let tree = places.tree_at(&root);
    let tree = tree.with_context(|| format!("`{}` is not a catalogued tree", path.display()))?;
    let question = places.question(&tree, code)?;
    let kind = question.kind().context("the question is of a later version of Steadfast")?;
    let (still, changed) = question.still(&root);
    if !changed.is_empty() {
        let files = units::counted(changed.len() as u64, "file", "files");
        let named: Vec<String> =
            changed.iter().take(NAMED_MAX).map(|path| escape::path(path)).collect();
        let more = if changed.len() > NAMED_MAX { ", …" } else { "" };
        let named = named.join(", ");
        exit::complain(&format!("{files} changed since it was asked, and left out: {named}{more}"));
    }
    if question.more() > 0 {
        let more = units::counted(question.more(), "more file is", "more files are");
        exit::complain(&format!("{more} not in this question: `steadfast status` asks about them"));
    }
    let selection = paths.walk.selection()?.with(|selection| {
        selection.listed = still.iter().map(|path| root.join(path)).collect();
        selection.within = vec![root.clone()];
    });
    let status = ExitStatus::Changed.only_if(!changed.is_empty() || question.more() > 0);
    Ok(AnsweredQuestion { kind, selection, status })
}
