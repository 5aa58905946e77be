//! Finds the code that a path names: a bundle, a file, or what a folder or an archive contains.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::archive::ArchiveTree;
use crate::binary::is_code;
use crate::bundle::{
    BundleTree, EntryKind, FolderTree, LEVELS, Subtree, is_bundle, is_main_executable, joined,
    read_head,
};
use crate::code::Code;
use crate::error::{Error, ErrorKind};
use steadfast_sys::source::FileSource;

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
            return each_within(path, &tree, visit);
        }
        visit(path, Ok(Code::bundle(&tree, &called(path))?));
        return Ok(());
    }
    let source = FileSource::open(path).map_err(system)?;
    match ArchiveTree::read(&source, ArchiveTree::LEN_MAX)? {
        Some(tree) => each_within(path, &tree, visit),
        None => {
            visit(path, Ok(Code::file(Box::new(source))?));
            Ok(())
        }
    }
}

fn each_within(
    path: &Path,
    tree: &dyn BundleTree,
    visit: &mut dyn FnMut(&Path, OpenedCode<'_>),
) -> Result<(), Error> {
    let mut is_empty = true;
    each_code(tree, &mut |inner, code| {
        is_empty = false;
        visit(&path.join(OsStr::from_bytes(inner)), code);
    });
    match is_empty {
        true => Err(Error::new(ErrorKind::NotCode, "no code in it")),
        false => Ok(()),
    }
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
/// with its path; or what could not be opened or listed. Symlinks are not followed. Scripts and
/// archives are left out.
pub fn each_code(tree: &dyn BundleTree, visit: &mut dyn FnMut(&[u8], OpenedCode<'_>)) {
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
                EntryKind::File => match opened(&within, &name) {
                    Ok(None) => {}
                    Ok(Some(code)) => visit(&path, Ok(code)),
                    Err(error) => visit(&path, Err(error)),
                },
                EntryKind::Symlink | EntryKind::Other => {}
            }
        }
        folders[start..].reverse();
    }
}

/// Opens a file if it is code.
fn opened<'a>(file: &'a Subtree<'_>, name: &[u8]) -> Result<Option<Code<'a>>, Error> {
    let head = read_head(file, b"")?;
    // Disk images begin with anything. Their trailer is looked at if the name says that they are.
    if !is_code(head) && !name.to_ascii_lowercase().ends_with(b".dmg") {
        return Ok(None);
    }
    match Code::nested(file, false) {
        Ok(code) => Ok(Some(code)),
        // A script, or a class of Java's.
        Err(error) if error.kind() == ErrorKind::NotCode => Ok(None),
        Err(error) => Err(error),
    }
}
