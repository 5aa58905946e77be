//! The list of catalogued trees, stored outside them, so that a deleted catalogue is noticed.
//!
//! The caller chooses the place of the list. `docs/formats/trees.md` specifies its format. Invalid
//! lines are ignored, and an error with the list never fails a run.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use steadfast_sys::file::{Timestamp, write_private};
use steadfast_sys::names::{NameBuf as _, NameBytes as _};

use super::place::inside;
use super::volume::is_empty;
use super::{Catalogue, CatalogueError, TreeVolume, meta};
use crate::beneath;

/// The first line with the version.
const HEAD: &str = "steadfast trees 1";

/// A longer file is not a list: a line has about a hundred bytes.
const LEN_MAX: u64 = 16 << 20;

/// A tree that has, or had, a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CataloguedTree {
    /// Its root, without links in its path.
    pub root: PathBuf,
    /// Its catalogue.
    pub catalogue: PathBuf,
    /// Its volume.
    pub volume: TreeVolume,
    /// When the catalogue was made, in whole seconds.
    pub made: Timestamp,
}

impl CataloguedTree {
    /// Returns whether another tree is of another disk. A catalogue that was made anew is not, nor
    /// is a disk that got another number.
    fn is_another(&self, other: &CataloguedTree) -> bool {
        self.made != other.made && !self.volume.is_same(&other.volume)
    }

    /// Opens its catalogue for reading.
    ///
    /// # Errors
    ///
    /// As [`Catalogue::open_reader`] and [`Catalogue::guard`]; also if another tree is in its
    /// place.
    pub fn open(&self) -> Result<Catalogue, CatalogueError> {
        let catalogue = Catalogue::open_reader(&self.catalogue)?;
        catalogue.guard()?;
        catalogue.ensure_is(self)?;
        Ok(catalogue)
    }

    /// Returns whether its root is empty, or on another volume, so that a catalogue that is not
    /// there is not lost.
    pub(crate) fn is_away(&self) -> bool {
        is_empty(&self.root).unwrap_or(false)
            || TreeVolume::of(&self.root).is_ok_and(|found| !found.is_same(&self.volume))
    }

    /// Returns whether another one is of the same folder and has the mark of its catalogue.
    fn is_of(&self, other: &CataloguedTree) -> bool {
        self.made == other.made && self.volume == other.volume
    }

    /// Returns whether its folder is at its path, and not behind a link.
    fn is_here(&self) -> bool {
        self.root.canonicalize().is_ok_and(|real| real == self.root)
            && TreeVolume::of(&self.root).is_ok_and(|found| found.may_be(&self.volume))
    }

    /// Returns whether its catalogue is in the tree.
    fn is_inside(&self) -> bool {
        self.catalogue == inside(&self.root)
    }
}

/// The list in one file.
#[derive(Clone, Debug)]
pub struct TreeList {
    file: PathBuf,
}

impl Catalogue {
    /// Returns the entry of this tree for the list: its folder as the system gives it, and when the
    /// catalogue was made.
    ///
    /// # Errors
    ///
    /// If the root cannot be opened, or the catalogue cannot be read.
    pub fn tree(&self) -> Result<CataloguedTree, CatalogueError> {
        let read = || Ok((TreeVolume::of(&self.root)?, meta::integer(&self.db, "created_s")?));
        let (volume, created_s) = read().map_err(|fault| self.wrong(fault))?;
        Ok(CataloguedTree {
            root: self.root.clone(),
            catalogue: self.file.canonicalize().unwrap_or_else(|_| self.file.clone()),
            volume,
            made: super::seconds(created_s),
        })
    }
}

impl TreeList {
    /// Uses the list in a file, which need not exist.
    pub fn at(file: &Path) -> TreeList {
        TreeList { file: file.to_owned() }
    }

    /// Returns the trees with valid lines; empty if there is no list.
    pub fn read(&self) -> Vec<CataloguedTree> {
        self.load().unwrap_or_default()
    }

    /// Returns the trees that exist and whose catalogue is gone.
    pub fn lost(&self) -> Vec<CataloguedTree> {
        let mut trees = self.read();
        trees
            .retain(|tree| beneath::is_folder(&tree.root) && !Catalogue::is_found(&tree.catalogue));
        trees
    }

    /// Returns the entry of a root. If disks take turns there, that of the one that is there.
    pub fn of_root(&self, root: &Path) -> Option<CataloguedTree> {
        let mut trees = self.read();
        trees.retain(|tree| tree.root == root);
        let is_there = |tree: &CataloguedTree| tree.open().is_ok();
        let there = (trees.len() > 1).then(|| trees.iter().position(is_there));
        let at = there.flatten().unwrap_or(0);
        trees.into_iter().nth(at)
    }

    /// Enters a tree that a person names. Replaces the entry of its root, but not that of another
    /// disk that has its turn there. Writes nothing if it is unchanged.
    ///
    /// # Errors
    ///
    /// If the list is of a later version, or cannot be written.
    pub fn enter(&self, tree: &CataloguedTree) -> io::Result<()> {
        self.enter_bound(tree, &tree.volume)
    }

    /// Enters a tree whose catalogue a person bound to its folder. Removes the entry of the
    /// `former` folder, if that is no longer at its path.
    ///
    /// # Errors
    ///
    /// As [`TreeList::enter`].
    pub fn enter_bound(&self, tree: &CataloguedTree, former: &TreeVolume) -> io::Result<()> {
        let before = self.load()?;
        let bound = CataloguedTree { volume: former.clone(), ..tree.clone() };
        let is_replaced = |other: &CataloguedTree| match other.root == tree.root {
            true => !other.is_another(tree),
            false => other.is_of(&bound) && !other.is_here(),
        };
        let mut trees = before.clone();
        trees.retain(|other| !is_replaced(other));
        trees.push(tree.clone());
        self.replace(&before, trees)
    }

    /// Finds the entry of a tree whose volume is mounted elsewhere now, by its folder and the mark
    /// of its catalogue, and enters the new path. Changes nothing else, and nothing while the old
    /// path leads to it.
    ///
    /// # Errors
    ///
    /// If the list is of a later version, or cannot be written.
    pub fn follow(&self, tree: &CataloguedTree) -> io::Result<()> {
        let before = self.load()?;
        let mut trees = before.clone();
        let mut found = trees.iter_mut().filter(|entry| entry.is_of(tree));
        let (Some(entry), None) = (found.next(), found.next()) else { return Ok(()) };
        if entry.root == tree.root || !entry.is_inside() || !tree.is_inside() || entry.is_here() {
            return Ok(());
        }
        (entry.root, entry.catalogue) = (tree.root.clone(), tree.catalogue.clone());
        self.replace(&before, trees)
    }

    /// Writes the list in the order of its roots, if it changed.
    fn replace(&self, before: &[CataloguedTree], mut trees: Vec<CataloguedTree>) -> io::Result<()> {
        trees.sort_by(|one, other| one.root.cmp(&other.root));
        if before == trees { Ok(()) } else { self.store(&trees) }
    }

    /// Removes a tree from the list. Returns whether it was on it.
    ///
    /// # Errors
    ///
    /// If the list is of a later version, or cannot be written.
    pub fn remove(&self, root: &Path) -> io::Result<bool> {
        let mut trees = self.load()?;
        let before = trees.len();
        trees.retain(|tree| tree.root != root);
        let removed = trees.len() < before;
        if removed {
            self.store(&trees)?;
        }
        Ok(removed)
    }

    fn load(&self) -> io::Result<Vec<CataloguedTree>> {
        let mut text = Vec::new();
        match File::open(&self.file) {
            Ok(file) => file.take(LEN_MAX).read_to_end(&mut text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&text);
        let mut lines = text.lines();
        let head = lines.next().unwrap_or(HEAD);
        if head != HEAD && head.starts_with("steadfast trees ") {
            return Err(io::Error::other("the list is of a later version"));
        }
        Ok(lines.filter_map(parse).collect())
    }

    /// Replaces the whole list.
    fn store(&self, trees: &[CataloguedTree]) -> io::Result<()> {
        let mut text = format!("{HEAD}\n");
        trees.iter().for_each(|tree| text.push_str(&print(tree)));
        write_private(&self.file, text.as_bytes())
    }
}

impl fmt::Display for TreeVolume {
    /// Writes it as three words in ASCII.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file_system = encode(self.file_system.as_bytes());
        write!(f, "{file_system} {:x} {}", self.id, self.root_inode)
    }
}

fn print(tree: &CataloguedTree) -> String {
    let (root, catalogue) = (tree.root.as_os_str(), tree.catalogue.as_os_str());
    let (root, catalogue) = (encode(root.as_bytes()), encode(catalogue.as_bytes()));
    format!("{} {} {root} {catalogue}\n", tree.made.seconds, tree.volume)
}

fn parse(line: &str) -> Option<CataloguedTree> {
    let words: Vec<&str> = line.split(' ').collect();
    let [made_s, file_system, id, root_inode, root, catalogue] = words.as_slice() else {
        return None;
    };
    let path = |word: &str| Some(PathBuf::from_vec(decode(word)?));
    Some(CataloguedTree {
        root: path(root).filter(|root| root.is_absolute())?,
        catalogue: path(catalogue).filter(|catalogue| catalogue.is_absolute())?,
        volume: TreeVolume {
            file_system: String::from_utf8(decode(file_system)?).ok()?,
            id: u64::from_str_radix(id, 16).ok()?,
            root_inode: root_inode.parse().ok()?,
        },
        made: super::seconds(made_s.parse().ok()?),
    })
}

/// Writes bytes in printable ASCII without spaces; any other byte, and `%`, as `%` and two digits.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let byte = |&byte: &u8| match byte {
        b'%' | 0..=b' ' | 0x7f.. => format!("%{byte:02x}"),
        _ => char::from(byte).to_string(),
    };
    bytes.iter().map(byte).collect()
}

/// Reads what [`encode`] wrote.
pub(crate) fn decode(word: &str) -> Option<Vec<u8>> {
    let mut parts = word.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn tree(root: &Path) -> CataloguedTree {
        CataloguedTree {
            root: root.to_owned(),
            catalogue: root.join(".steadfast/catalogue.sqlite"),
            volume: TreeVolume {
                file_system: "ext4".to_owned(),
                id: 0xab12,
                root_inode: root.as_os_str().len() as u64,
            },
            made: crate::catalogue::seconds(1_700_000_000),
        }
    }

    #[test]
    fn what_is_entered_is_read_again_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("steadfast/trees");
        let list = TreeList::at(&file);
        assert!(list.read().is_empty());
        let hostile = tree(Path::from_bytes(b"/a b/%41\n\xff\x1b"));
        let plain = tree(Path::new("/bb"));
        list.enter(&plain).unwrap();
        list.enter(&hostile).unwrap();
        assert_eq!(list.read(), [hostile.clone(), plain.clone()]);
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with("steadfast trees 1\n1700000000 ext4 ab12 11 /a%20b/%2541%0a%ff%1b ")
        );
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let moved = CataloguedTree { catalogue: "/c".into(), ..plain.clone() };
        list.enter(&moved).unwrap();
        assert_eq!(list.read(), [hostile.clone(), moved]);
        assert!(list.remove(&plain.root).unwrap());
        assert!(!list.remove(&plain.root).unwrap());
        assert_eq!(list.read(), [hostile]);
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "no draft is left");
    }

    /// A person binds the catalogue to a folder that was restored.
    #[test]
    fn an_entry_takes_the_place_of_that_of_the_same_catalogue_where_its_folder_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let list = TreeList::at(&folder.path().join("trees"));
        let former = TreeVolume { root_inode: 9, ..tree(&real).volume };
        let gone = CataloguedTree { volume: former.clone(), ..tree(&real.join("gone")) };
        let other = tree(&real.join("made in the same second"));
        list.enter(&gone).unwrap();
        list.enter(&other).unwrap();
        let here = CataloguedTree { volume: TreeVolume::of(&real).unwrap(), ..tree(&real) };
        list.enter_bound(&here, &former).unwrap();
        assert_eq!(list.read(), [here.clone(), other.clone()]);
        // The original of a copy stays.
        let copy = CataloguedTree { volume: former, ..tree(&real.join("copy")) };
        list.enter_bound(&copy, &here.volume).unwrap();
        assert_eq!(list.read(), [here.clone(), copy, other]);
        let elsewhere = CataloguedTree { root: "/b".into(), ..here.clone() };
        list.follow(&elsewhere).unwrap();
        assert!(list.read().contains(&here), "its folder is at its path");
    }

    #[test]
    fn damage_is_passed_over_and_a_later_version_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("trees");
        let list = TreeList::at(&file);
        let good = print(&tree(Path::new("/a")));
        let long = format!("{HEAD}\n\n1 ext4 zz 2 /b /b/c\nx\n{good}1 ext4 0 2 relative /c\n%\n");
        fs::write(&file, [long.as_bytes(), b"\xff\xfe\0 % %4 %zz"].concat()).unwrap();
        assert_eq!(list.read(), [tree(Path::new("/a"))]);
        list.enter(&tree(Path::new("/bb"))).unwrap();
        assert_eq!(list.read().len(), 2);
        let later = format!("steadfast trees 2\n{good}");
        fs::write(&file, &later).unwrap();
        assert!(list.read().is_empty());
        assert!(list.enter(&tree(Path::new("/bb"))).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), later);
    }
}
