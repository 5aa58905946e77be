//! `steadfast update`: arguments → a run that judges and tags → the report.

use std::path::PathBuf;

use steadfast::beneath::presence_of;
use steadfast::{ExitStatus, FileState};
use steadfast::{RetagOptions, SuspectUse, UpdateOptions, Verb};
use steadfast_watch::QuestionKind;

use crate::args::UpdateArgs;

use super::answer::{AnsweredQuestion, answered};
use super::{execute_accepting, report};

pub(super) fn run(args: &UpdateArgs) -> anyhow::Result<ExitStatus> {
    if let Some(code) = &args.answer {
        return answer(args, code);
    }
    let selection = match args.accept {
        true => args.write.paths.explicit_selection("update --accept")?,
        false => args.write.paths.selection()?,
    };
    args.write.ensure_meant("update")?;
    let (options, output) = (args.write.options(), &args.write.output);
    execute_accepting(verb(args), &selection, options, output, report(&selection.roots))
}

/// Accepts the files of a question, and nothing else.
fn answer(args: &UpdateArgs, code: &str) -> anyhow::Result<ExitStatus> {
    let AnsweredQuestion { kind, selection, mut status } = answered(code, &args.write.paths)?;
    let usual = UpdateOptions { accept_many: true, ..UpdateOptions::default() };
    let gone = UpdateOptions { accept_missing: true, ..usual };
    let steps = match kind {
        QuestionKind::State(FileState::Suspect) => {
            vec![UpdateOptions { accept_suspect: SuspectUse::AcceptAlone, ..usual }]
        }
        QuestionKind::State(FileState::Missing | FileState::TagReplaced) => vec![gone],
        QuestionKind::State(FileState::Modified | FileState::Touched) => vec![usual],
        QuestionKind::State(FileState::TagLost) => {
            vec![UpdateOptions { restore_tags: true, ..usual }]
        }
        QuestionKind::Many => vec![gone, usual],
        QuestionKind::State(state) => {
            let named = state.name();
            anyhow::bail!("what is {named} is not accepted so: `steadfast repair --answer {code}`")
        }
    };
    for (at, step) in steps.iter().enumerate() {
        let is_gone = |path: &PathBuf| presence_of(path).is_lost();
        let mut selection = selection.clone();
        if steps.len() > 1 {
            selection.listed.retain(|path| is_gone(path) == (at == 0));
        }
        if selection.listed.is_empty() {
            continue;
        }
        let (options, output) = (args.write.options(), &args.write.output);
        let text = report(&selection.roots);
        status.raise(execute_accepting(Verb::Update(*step), &selection, options, output, text)?);
    }
    Ok(status)
}

fn verb(args: &UpdateArgs) -> Verb {
    let algorithm = args.write.algorithm.algorithm;
    // Both replace tags, and tag no new file.
    if args.accept || args.convert {
        let UpdateArgs { accept, accept_many, .. } = *args;
        return Verb::Retag(RetagOptions { algorithm, accept, accept_many });
    }
    Verb::Update(UpdateOptions {
        algorithm,
        accept_missing: args.accept_missing,
        accept_suspect: match (args.accept_suspect, args.only_suspect) {
            (_, true) => SuspectUse::AcceptAlone,
            (true, false) => SuspectUse::Accept,
            (false, false) => SuspectUse::Leave,
        },
        accept_many: args.accept_many,
        restore_tags: args.restore_tags,
    })
}
