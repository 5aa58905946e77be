//! Questions about many files: the list as it was asked, so that an answer is about these files and
//! no others.
//!
//! Up to a few files are named in a message. More are a numbered question, which this keeps in the
//! user's folder of state, one file for each tree. It is no part of the catalogue: whoever may read
//! a catalogue may ask, and may not be able to write it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast::beneath::presence;
use steadfast::catalogue::{CataloguedTree, TreeList};
use steadfast::names::NameBytes as _;
use steadfast::run::digest_of;
use steadfast::{Algorithm, FileState, open_files};
use steadfast_sys::file::write_private;

use crate::error::{Error, ErrorKind};
use crate::folder::FolderStatus;
use crate::places::WatchPlaces;
use steadfast_words::{AskedFiles, named, quoted};

/// Questions of a tree that can still be answered.
const KEPT_MAX: usize = 24;

/// Files of one question: about ten megabytes. A list that is longer is asked in parts.
const FILES_MAX: usize = 100_000;

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QuestionKind {
    /// Files in one state.
    State(FileState),
    /// Files that are missing or modified at once, in numbers that are an alarm.
    Many,
}

impl QuestionKind {
    fn name(self) -> &'static str {
        match self {
            QuestionKind::State(state) => state.name(),
            QuestionKind::Many => "many",
        }
    }

    fn of_name(name: &str) -> Option<QuestionKind> {
        let state = FileState::ALL.into_iter().find(|state| state.name() == name);
        let many = (name == "many").then_some(QuestionKind::Many);
        state.map(QuestionKind::State).or(many)
    }
}

/// A file as it was when somebody was asked about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct AskedFile {
    /// The bytes of its path from the root, if they are text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The same if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Vec<u8>>,
    /// Length, and modification and change time in nanoseconds; absent for one that is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    was: Option<(u64, i128, i128)>,
}

impl AskedFile {
    fn at(root: &Path, path: &Path) -> AskedFile {
        let was = presence(root, path).status().map(|status| {
            (status.length, status.mtime.as_nanoseconds(), status.ctime.as_nanoseconds())
        });
        match path.to_str() {
            Some(text) => AskedFile { path: Some(text.to_owned()), bytes: None, was },
            None => AskedFile { path: None, bytes: Some(path.as_bytes().to_vec()), was },
        }
    }

    fn path(&self) -> PathBuf {
        match (&self.path, &self.bytes) {
            (Some(text), _) => PathBuf::from(text),
            (None, bytes) => Path::from_bytes(bytes.as_deref().unwrap_or_default()).to_owned(),
        }
    }
}

/// A question about files of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedQuestion {
    number: u64,
    about: String,
    /// How many such files there were beyond the list.
    more: u64,
    files: Vec<AskedFile>,
}

/// The questions of one tree.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct QuestionBook {
    /// The last number that was given. None is given twice.
    last: u64,
    questions: Vec<AskedQuestion>,
}

impl AskedQuestion {
    /// Returns what is typed to answer it: its number, and letters that depend on its list.
    pub fn code(&self) -> String {
        let mut text = format!("{}\n{}\n", self.about, self.more);
        for file in &self.files {
            text.push_str(&format!("{:?} {:?} {:?}\n", file.path, file.bytes, file.was));
        }
        let digest = digest_of(&mut text.as_bytes(), Algorithm::Sha256);
        let letters: String = digest.map(|digest| digest.to_string()).unwrap_or_default();
        format!("{}-{}", self.number, letters.get(..4).unwrap_or_default())
    }

    /// Returns what it is about.
    pub fn kind(&self) -> Option<QuestionKind> {
        QuestionKind::of_name(&self.about)
    }

    /// Returns how many files it lists.
    pub fn files(&self) -> u64 {
        self.files.len() as u64
    }

    /// Returns how many such files there were that it does not list.
    pub fn more(&self) -> u64 {
        self.more
    }

    /// Returns its files by their paths from the root: those that are as they were when it was
    /// asked, and those that changed since, about which nobody was asked.
    pub fn still(&self, root: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let is_same = |file: &AskedFile| AskedFile::at(root, &file.path()) == *file;
        let (same, changed): (Vec<&AskedFile>, _) =
            self.files.iter().partition(|file| is_same(file));
        let paths = |files: Vec<&AskedFile>| files.into_iter().map(AskedFile::path).collect();
        (paths(same), paths(changed))
    }
}

impl WatchPlaces {
    /// Asks about files of a tree, by their paths from its root; `more` are not listed. The same
    /// list has the same number.
    ///
    /// # Errors
    /// If the question cannot be kept.
    pub fn ask(
        &self,
        tree: &CataloguedTree,
        about: QuestionKind,
        paths: &[PathBuf],
        more: u64,
    ) -> Result<AskedQuestion, Error> {
        let file = self.questions_of(tree);
        let mut book = read(&file);
        let listed = &paths[..paths.len().min(FILES_MAX)];
        let files: Vec<AskedFile> =
            listed.iter().map(|path| AskedFile::at(&tree.root, path)).collect();
        let more = more + (paths.len() - listed.len()) as u64;
        let question = AskedQuestion { number: 0, about: about.name().to_owned(), more, files };
        let is_same =
            |known: &&AskedQuestion| AskedQuestion { number: 0, ..(*known).clone() } == question;
        if let Some(known) = book.questions.iter().rev().find(is_same) {
            return Ok(known.clone());
        }
        book.last += 1;
        let question = AskedQuestion { number: book.last, ..question };
        book.questions.push(question.clone());
        let files =
            |book: &QuestionBook| book.questions.iter().map(AskedQuestion::files).sum::<u64>();
        while book.questions.len() > 1
            && (book.questions.len() > KEPT_MAX || files(&book) > 2 * FILES_MAX as u64)
        {
            book.questions.remove(0);
        }
        let text = serde_json::to_string(&book)
            .map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
        let written = write_private(&file, text.as_bytes());
        written.map_err(|error| Error::system("write", &file, &error))?;
        Ok(question)
    }

    /// Asks about the open files of a tree in one state, all of them as far as one question can
    /// list them.
    ///
    /// # Errors
    /// As [`WatchPlaces::ask`]; also if the catalogue cannot be read.
    pub fn ask_open(
        &self,
        tree: &CataloguedTree,
        state: FileState,
    ) -> Result<AskedQuestion, Error> {
        let paths = open_files(&tree.open()?, |standing| standing == state)?;
        self.ask(tree, QuestionKind::State(state), &paths, 0)
    }

    /// Returns how a command says that it acts on files of a folder, which are in one state; `None`
    /// if that cannot be said. Without names, a message gives away no path.
    pub(crate) fn asked(
        &self,
        root: &Path,
        about: QuestionKind,
        paths: &[PathBuf],
        with_names: bool,
    ) -> Option<AskedFiles> {
        let named = named(root, paths).filter(|_| with_names).map(AskedFiles::Named);
        named.or_else(|| {
            let tree = self.tree_at(root)?;
            Some(numbered(&tree, &self.ask(&tree, about, paths, 0).ok()?))
        })
    }

    /// Returns how commands say that they act on the open files of a folder, by state.
    pub fn asked_open(&self, folder: &FolderStatus) -> BTreeMap<FileState, AskedFiles> {
        let Some(facts) = folder.state.facts() else { return BTreeMap::new() };
        let asked = |(state, count): (&FileState, &u64)| {
            let of_state = facts.failures.iter().filter(|failure| failure.standing == *state);
            let paths: Vec<PathBuf> = of_state.map(|failure| failure.path.clone()).collect();
            let asked = match paths.len() as u64 == *count {
                true => self.asked(&folder.root, QuestionKind::State(*state), &paths, true),
                false => self
                    .tree_at(&folder.root)
                    .and_then(|tree| Some(numbered(&tree, &self.ask_open(&tree, *state).ok()?))),
            };
            Some((*state, asked?))
        };
        facts.open.iter().filter_map(asked).collect()
    }

    /// Returns the catalogued tree at a root.
    pub fn tree_at(&self, root: &Path) -> Option<CataloguedTree> {
        TreeList::at(&self.tree_list()).of_root(root)
    }

    /// Returns the question that a person answers.
    ///
    /// # Errors
    /// If there is none of this number, or the letters are not those of its list.
    pub fn question(&self, tree: &CataloguedTree, code: &str) -> Result<AskedQuestion, Error> {
        let number = code.split('-').next().and_then(|number| number.parse::<u64>().ok());
        let book = read(&self.questions_of(tree));
        let known = book.questions.into_iter().find(|one| Some(one.number) == number);
        known.filter(|known| known.code() == code).ok_or_else(|| {
            let text = format!(
                "there is no question `{code}` about `{}`: `steadfast status` asks anew",
                tree.root.display()
            );
            Error::new(ErrorKind::Name, text)
        })
    }

    /// Returns the file of the questions of a tree, by what identifies it.
    fn questions_of(&self, tree: &CataloguedTree) -> PathBuf {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric();
        let volume = tree.volume.to_string();
        let volume: String = volume.chars().map(|it| if is_plain(it) { it } else { '-' }).collect();
        self.state.join("questions").join(format!("{}-{volume}.json", tree.made.seconds))
    }
}

fn numbered(tree: &CataloguedTree, question: &AskedQuestion) -> AskedFiles {
    let folder = quoted(&tree.root.to_string_lossy());
    AskedFiles::Numbered { code: question.code(), folder, more: question.more() }
}

/// Reads the questions of a tree; a file that is absent or damaged has none. Numbers then begin
/// anew, and the letters keep an old answer from fitting.
fn read(file: &Path) -> QuestionBook {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
