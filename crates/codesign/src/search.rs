//! Finds the code that a path names: a bundle, a file, or what a folder or an archive contains.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use crate::archive::ArchiveTree;
use crate::bundle::{
    BundleTree, EntryKind, FolderTree, LEVELS, Subtree, is_bundle, is_main_executable, joined,
};
use crate::code::Code;
use crate::error::{Error, ErrorKind};
use crate::form::FileForm;
use crate::ticket::Ticket;
use steadfast_sys::names::NameBytes as _;
use steadfast_sys::source::{FileSource, ReadAt};

/// How many archives may lie in each other, and how long the contents of one within a folder or an
/// archive may be; together those within an archive may be as long as its own.
const ARCHIVES_MAX: usize = 3;
const INNER_LEN_MAX: u64 = 256 << 20;

/// Code, or why it could not be opened.
pub type OpenedCode<'a> = Result<Code<'a>, Error>;

/// Opens each piece of code that a path names, and passes it on with its own path; or what could
/// not be opened.
///
/// A folder that is a bundle is one piece, and so is the bundle whose main executable the path is.
/// Other folders and archives are searched by [`each_code`]; anything else is a file.
pub fn each_code_at(path: &Path, visit: &mut dyn FnMut(&Path, OpenedCode<'_>)) {
    if let Err(error) = try_each_code_at(path, visit) {
        visit(path, Err(error));
    }
}

fn try_each_code_at(
    path: &Path,
    visit: &mut dyn FnMut(&Path, OpenedCode<'_>),
) -> Result<(), Error> {
    let system = |error| Error::system("open it", error);
    let enclosing = bundle_of(path)?;
    let path = enclosing.as_deref().unwrap_or(path);
    if path.is_dir() {
        let tree = FolderTree::open(path).map_err(system)?;
        if !is_bundle(&tree, &called(path))? {
            let mut is_empty = true;
            each_code(&tree, &mut |inner, code| {
                is_empty = false;
                visit(&below(path, inner), code);
            });
            return not_empty(is_empty);
        }
        visit(path, Ok(Code::bundle(&tree, &called(path))?));
        return Ok(());
    }
    let source = FileSource::open(path).map_err(system)?;
    each_code_in(Box::new(source), ArchiveTree::LEN_MAX, &mut |inner, code| {
        visit(&below(path, inner), code);
    })
}

/// Returns the path of what is inside of something; of the thing itself if that is empty.
fn below(path: &Path, inner: &[u8]) -> PathBuf {
    if inner.is_empty() { path.to_owned() } else { path.join(Path::from_bytes(inner)) }
}

/// Opens each piece of code in a file, and passes it on with its path: an archive is searched as by
/// [`each_code`], its contents having up to `len_max` bytes; the path of anything else, and of a
/// package itself, is empty.
///
/// # Errors
/// As [`ArchiveTree::read`] and [`Code::file`]; `NotCode` if nothing was found.
pub fn each_code_in(
    source: Box<dyn ReadAt + Send>,
    len_max: u64,
    visit: &mut dyn FnMut(&[u8], OpenedCode<'_>),
) -> Result<(), Error> {
    if let Some(left_out) = FileForm::left_out(FileForm::of(&*source)?, &*source, b"")? {
        return Err(left_out);
    }
    match ArchiveTree::read(&*source, len_max)? {
        Some(tree) => {
            let mut is_empty = true;
            let room = Cell::new(len_max);
            each_unpacked(b"", &*source, tree, (0, &room), &mut |path, code| {
                is_empty = false;
                visit(path, code);
            });
            not_empty(is_empty)
        }
        None => {
            visit(b"", Ok(Code::file(source)?));
            Ok(())
        }
    }
}

fn not_empty(is_empty: bool) -> Result<(), Error> {
    match is_empty {
        true => Err(Error::new(ErrorKind::NotCode, "no code in it")),
        false => Ok(()),
    }
}

/// Passes on a package, if the archive is one, and what is in the archive.
fn each_unpacked(
    path: &[u8],
    source: &dyn ReadAt,
    mut tree: ArchiveTree,
    (depth, room): (usize, &Cell<u64>),
    visit: &mut dyn FnMut(&[u8], OpenedCode<'_>),
) {
    let package = tree.take_package().map(|package| Code::package(source, package));
    let ticket = package.as_ref().and_then(Code::ticket).and_then(Result::ok);
    if let Some(package) = package {
        visit(path, Ok(package));
    }
    let around = Around { path, ticket: ticket.as_ref(), depth, room: Some(room) };
    each_around(&tree, &around, visit);
}

/// What a tree lies in.
struct Around<'a> {
    /// The path of the tree.
    path: &'a [u8],
    /// The ticket of the package that it is the contents of.
    ticket: Option<&'a Ticket>,
    /// How many archives are around it.
    depth: usize,
    /// How long the contents of archives in it may yet be; in a folder, each may be as long as any.
    room: Option<&'a Cell<u64>>,
}

/// Returns the bundle whose main executable is at a path, spelled like the path if possible.
fn bundle_of(path: &Path) -> Result<Option<PathBuf>, Error> {
    // A path that cannot be resolved cannot be opened either, and opening reports why.
    let Ok(file) = path.canonicalize() else { return Ok(None) };
    if file.is_dir() {
        return Ok(None);
    }
    for level in LEVELS {
        let Some(root) = file.ancestors().nth(level) else { continue };
        let inner = file.strip_prefix(root).expect("an ancestor is a prefix");
        let system =
            |error| Error::system("tell whether it is the main executable of a bundle", error);
        let tree = FolderTree::open(root).map_err(system)?;
        if is_main_executable(&tree, &called(root), inner.as_os_str().as_encoded_bytes())? {
            let same = |spelled: &&Path| spelled.canonicalize().is_ok_and(|found| found == root);
            let spelled = path.ancestors().nth(level).filter(same);
            return Ok(Some(spelled.unwrap_or(root).to_owned()));
        }
    }
    Ok(None)
}

/// Returns the name of a bundle, which is that of its executable by default.
fn called(path: &Path) -> Vec<u8> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.file_name().unwrap_or_default().as_encoded_bytes().to_vec()
}

/// Opens each piece of code beneath the root of a tree, in the order of names, and passes it on
/// with its path; or what could not be opened or listed. Archives are searched, too, and packages
/// are code. Symlinks are not followed. Scripts are left out.
pub fn each_code(tree: &dyn BundleTree, visit: &mut dyn FnMut(&[u8], OpenedCode<'_>)) {
    each_around(tree, &Around { path: b"", ticket: None, depth: 0, room: None }, visit);
}

fn each_around(
    tree: &dyn BundleTree,
    around: &Around<'_>,
    visit: &mut dyn FnMut(&[u8], OpenedCode<'_>),
) {
    let mut visit = |path: &[u8], code: OpenedCode<'_>| {
        visit(&joined(around.path, path), code.map(|code| code.in_package(around.ticket)));
    };
    let mut folders = vec![Vec::new()];
    while let Some(folder) = folders.pop() {
        let entries = match tree.entries(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                visit(&folder, Err(Error::system("list the folder", error)));
                continue;
            }
        };
        let start = folders.len();
        for (name, kind) in entries {
            let path = joined(&folder, &name);
            let within = Subtree::new(tree, &path);
            match kind {
                EntryKind::Folder => match is_bundle(&within, &name) {
                    Ok(false) => folders.push(path),
                    Ok(true) => match Code::nested(&within, true) {
                        // A Mac packs what else it knows of a bundle's files into such a folder.
                        Err(error)
                            if error.kind() == ErrorKind::NotCode
                                && path.starts_with(b"__MACOSX/") =>
                        {
                            folders.push(path);
                        }
                        code => visit(&path, code),
                    },
                    Err(error) => visit(&path, Err(error)),
                },
                EntryKind::File => {
                    if let Err(error) = each_of_file(&within, &path, around, &mut visit) {
                        visit(&path, Err(error));
                    }
                }
                EntryKind::Symlink | EntryKind::Other => {}
            }
        }
        folders[start..].reverse();
    }
}

/// Opens a file and passes it on if it is code, or what is in it if it is an archive.
fn each_of_file(
    file: &Subtree<'_>,
    path: &[u8],
    around: &Around<'_>,
    visit: &mut dyn FnMut(&[u8], OpenedCode<'_>),
) -> Result<(), Error> {
    let source = file.open(b"").map_err(|error| Error::system("open it", error))?;
    let form = FileForm::of(&*source)?;
    if let Some(left_out) = FileForm::left_out(form, &*source, path)? {
        return Err(left_out);
    }
    match form {
        Some(FileForm::MachO | FileForm::DiskImage) => {
            visit(path, Code::file(source));
            return Ok(());
        }
        // What a script does is no matter of a seal.
        None | Some(FileForm::Script) => return Ok(()),
        Some(_) => {}
    }
    if around.depth == ARCHIVES_MAX {
        let text = "it lies in too many other archives";
        return Err(Error::new(ErrorKind::Unsupported, text));
    }
    let of_one = Cell::new(ArchiveTree::LEN_MAX);
    let room = around.room.unwrap_or(&of_one);
    let len_max = room.get().min(INNER_LEN_MAX);
    // What cannot be read has cost as much as anything.
    room.set(room.get() - len_max);
    if let Some(tree) = ArchiveTree::read(&*source, len_max)? {
        room.set(room.get() + tree.room());
        each_unpacked(path, &*source, tree, (around.depth + 1, room), visit);
    }
    Ok(())
}
