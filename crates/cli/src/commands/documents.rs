//! Manifests: opened, recognised, and turned into lists for a run.
//!
//! In: a path or `-`, and optionally the name of a format. Out: the directory that the names are
//! relative to, and a list. Lines that cannot be parsed stay in the list as errors with their
//! place.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use steadfast::Reference;
use steadfast::beneath::{self, presence};
use steadfast::manifest::bagit::{Bag, Problem};
use steadfast::manifest::mhl::MhlSurroundings;
use steadfast::manifest::{self, Format, confine};
use steadfast::run::{List, Unlisted};

use crate::args::{NAMES_MANY, PathArgs};
use crate::exit::complain;

/// The path that stands for standard input.
pub(super) const STDIN: &str = "-";

/// Fails if a manifest is combined with options that choose files.
pub(super) fn ensure_plain(paths: &PathArgs) -> anyhow::Result<()> {
    ensure!(
        paths.files_from.is_none() && !paths.walk.is_limited(),
        "a manifest names its files: --files-from, patterns and --one-file-system cannot be \
         combined with it"
    );
    Ok(())
}

/// Names that are looked up to find the directory that the names of a manifest are relative to.
const NAMES_TRIED: usize = 1000;

/// An open manifest.
pub(super) struct ManifestDocument {
    /// The folder of the manifest.
    pub(super) folder: PathBuf,
    pub(super) list: List,
    /// Files of a bag that its manifest does not name.
    pub(super) extra: Vec<PathBuf>,
    /// The path of the manifest as it is printed.
    shown: String,
}

impl ManifestDocument {
    /// Opens a manifest; `-` is stdin. If `path` is a directory, opens the bag in it. Its names
    /// begin with `prefix`, which is removed.
    ///
    /// # Errors
    /// If it cannot be opened, or its format is not recognised.
    pub(super) fn open(
        path: &Path,
        format: Option<Format>,
        prefix: Option<&Path>,
    ) -> anyhow::Result<ManifestDocument> {
        let shown = steadfast_report::escape::path(path).to_string();
        if beneath::is_folder(path) {
            ensure!(
                beneath::is_file(&path.join("bagit.txt")),
                "`{shown}` is a folder, and no BagIt bag"
            );
            return ManifestDocument::of_bag(path, shown);
        }
        let (file, is_seekable): (Box<dyn Read + Send>, bool) = match path == Path::new(STDIN) {
            true => (Box::new(io::stdin()), false),
            false => {
                let file = File::open(path).with_context(|| format!("cannot open `{shown}`"))?;
                let is_file = file.metadata().is_ok_and(|status| status.is_file());
                (Box::new(file), is_file)
            }
        };
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let head = reader.fill_buf().with_context(|| format!("cannot read `{shown}`"))?;
        if format.is_none()
            && is_seekable
            && let Some(record) = manifest::lone_digest(path, head)
        {
            let folder = manifest::root_of(Format::Gnu, path);
            let line = (record.path.clone(), Some(Reference::of_record(record)));
            let list = Box::new(std::iter::once(Ok(line)));
            return Ok(ManifestDocument { folder, list, extra: Vec::new(), shown });
        }
        let format = match format {
            Some(format) => format,
            None => Format::detect(path, head).with_context(|| {
                format!("the format of `{shown}` is not recognised: specify it with --format")
            })?,
        };
        // Input from a pipe has no folder.
        let folder = match is_seekable {
            true => manifest::root_of(format, path),
            false => PathBuf::from("."),
        };
        let hint = manifest::algorithm_hint(path);
        let (document, prefix) = (path.to_owned(), prefix.map(Path::to_owned));
        let around = match format {
            Format::Mhl if is_seekable => MhlSurroundings::of(path),
            _ => MhlSurroundings::default(),
        };
        let records = manifest::read(format, hint, reader);
        let records = records.chain(around.records.into_iter().map(Ok)).map(move |record| {
            let unlisted = |reason: String| Unlisted { document: document.clone(), reason };
            let record = record.map_err(|fault| unlisted(fault.to_string()))?;
            let shown = || steadfast_report::escape::path(&record.path);
            let path = match &prefix {
                None => &*record.path,
                Some(prefix) => record.path.strip_prefix(prefix).map_err(|_| {
                    let prefix = steadfast_report::escape::path(prefix);
                    unlisted(format!("`{}` does not begin with `{prefix}`", shown()))
                })?,
            };
            let path = confine(path, format)
                .map_err(|fault| unlisted(format!("`{}`: {fault}", shown())))?;
            Ok((path, Some(Reference::of_record(record))))
        });
        let document = path.to_owned();
        let problem = move |reason| Err(Unlisted { document: document.clone(), reason });
        let list = Box::new(around.problems.into_iter().map(problem).chain(records));
        Ok(ManifestDocument { folder, list, extra: Vec::new(), shown })
    }

    fn of_bag(root: &Path, shown: String) -> anyhow::Result<ManifestDocument> {
        let bag = Bag::open(root).with_context(|| format!("cannot open the bag `{shown}`"))?;
        let document = root.to_owned();
        let (mut extra, mut problems) = (Vec::new(), Vec::new());
        for problem in bag.problems {
            match problem {
                Problem::Missing(path) => problems.push(Ok((path, None))),
                Problem::Extra(path) => extra.push(path),
                problem => problems.push(Err(Unlisted {
                    document: document.clone(),
                    reason: problem.to_string(),
                })),
            }
        }
        let records = bag.records.into_iter().map(|record| {
            let path = record.path.clone();
            Ok((path, Some(Reference::of_record(record))))
        });
        let list = Box::new(problems.into_iter().chain(records));
        Ok(ManifestDocument { folder: root.to_owned(), list, extra, shown })
    }

    /// Returns the directory that the names are relative to: `given`, otherwise the folder of the
    /// manifest, or the working directory if names are there and none is in that folder. Prints a
    /// message unless the first choice has some of the names. `command` is what to type before the
    /// folder.
    ///
    /// # Errors
    /// If none of many names is in any of these directories: a line for each would say less.
    pub(super) fn find_root(
        &mut self,
        given: Option<&Path>,
        command: &str,
    ) -> anyhow::Result<PathBuf> {
        let here = Path::new(".");
        let first = given.unwrap_or(&self.folder).to_owned();
        let mut list = std::mem::replace(&mut self.list, Box::new(std::iter::empty()));
        let mut head: Vec<_> = list.by_ref().take(NAMES_TRIED).collect();
        let names: Vec<&Path> = head.iter().flatten().map(|(path, _)| path.as_path()).collect();
        let found =
            |root: &Path| names.iter().filter(|name| !presence(root, name).is_lost()).count();
        let in_first = found(&first);
        let second = given.is_none() && !is_same_folder(&first, here);
        let in_second = if second && in_first < names.len() { found(here) } else { 0 };
        let (document, folder) = (&self.shown, steadfast_report::escape::path(&first));
        let mut root = first.clone();
        if in_first == 0 && in_second > 0 {
            complain(&format!(
                "the names in `{document}` are relative to the working directory: none is in its \
                 folder `{folder}`"
            ));
            root = here.to_owned();
        } else if in_first == 0 && !names.is_empty() {
            let searched = if second { " or in the working directory" } else { "" };
            let text = format!(
                "no file that `{document}` names is in `{folder}`{searched}: give the folder that \
                 its names are relative to: `{command} DIR`"
            );
            let is_long = names.len() >= NAMES_MANY;
            head.extend(list.by_ref().take(if is_long { usize::MAX } else { 0 }));
            let mut rest = head.iter().skip(NAMES_TRIED).flatten();
            let is_there = |name: &PathBuf| !presence(&first, name).is_lost();
            ensure!(!is_long || rest.any(|(name, _)| is_there(name)), "{text}");
            complain(&text);
        } else if in_second > in_first {
            complain(&format!(
                "more of the files that `{document}` names are in the working directory than in \
                 its folder `{folder}`, which is searched: for the other type `{command} .`"
            ));
        }
        let list = head.into_iter().chain(list);
        let beneath = root.clone();
        self.list = Box::new(list.map(move |line| {
            let (path, reference) = line?;
            Ok((spelt(&beneath, path)?, reference))
        }));
        Ok(root)
    }

    /// Returns whether the names are relative to another folder than that of the manifest.
    pub(super) fn is_elsewhere(&self, root: &Path) -> bool {
        root != self.folder
    }
}

/// Returns a name as it is spelt beneath a folder: as the list has it, if there is such a file, or
/// else as another system writes it.
///
/// # Errors
/// If several files fit.
fn spelt(root: &Path, path: PathBuf) -> Result<PathBuf, Unlisted> {
    if !presence(root, &path).is_lost() {
        return Ok(path);
    }
    let mut fitting = manifest::other_spellings(&path);
    fitting.retain(|spelling| !presence(root, spelling).is_lost());
    match &fitting[..] {
        [] => Ok(path),
        [only] => Ok(only.clone()),
        [first, second, ..] => {
            let shown = steadfast_report::escape::path;
            let reason = format!("it may be `{}` or `{}`", shown(first), shown(second));
            Err(Unlisted { document: path, reason })
        }
    }
}

/// Returns whether two paths lead to the same directory.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
