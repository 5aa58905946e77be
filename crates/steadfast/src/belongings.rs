//! What belongs to a file or a folder beside its contents: owner, group, mode, times, attributes.
//!
//! Whatever makes a file or a folder anew gives it these in one place, [`Belongings::give_to`],
//! which returns by name what it withheld or what the system refused. What a record says is
//! evidence, not an order: how far it is followed depends on who could have written it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use steadfast_sys::file::{Dir, File, Ownership, Status, Timestamp};
use steadfast_sys::xattr;

use crate::verdict::same_mtime;

/// The most bytes of the attributes of a file that a record has, as [`Attributes::encode`] writes
/// them.
pub(crate) const ATTRIBUTES_LEN_MAX: usize = 64 << 10;

/// The most bytes of attributes that wait in memory with the event of a file, of which there are
/// thousands.
const BRIEF_LEN_MAX: usize = 512;

/// The longest value of an attribute that systems allow: Linux has 64 KiB.
const VALUE_LEN_MAX: usize = 1 << 20;

/// Attributes of ours, which records of attributes leave out.
const TAGS: [&str; 3] = [xattr::TAG, xattr::TAG_PREVIOUS, xattr::LEAVES];

/// File systems that keep no owner and no mode: what they show is made up.
const WITHOUT_RIGHTS: [&str; 8] =
    ["vfat", "msdos", "exfat", "ntfs", "ntfs3", "fuseblk", "iso9660", "udf"];

/// The rights that a program has whoever runs it.
const CAPABILITIES: &str = "security.capability";

/// The beginning of the names of access lists.
const ACCESS_LISTS: &str = "system.posix_acl_";

/// Set-user-ID, set-group-ID and sticky bit.
const SPECIAL: u32 = 0o7000;
const SET_GROUP: u32 = 0o2000;

/// A right or an attribute that a file or a folder had and did not get back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// The file or the folder, beneath the root of its tree.
    pub path: PathBuf,
    /// What it lacks.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// How far a description is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It is that of the file itself, which is there: everything is given.
    Own,
    /// Only the user and root could have written it. Special bits and capabilities are given only
    /// if they were asked for.
    Record { with_special: bool },
    /// Somebody else could have written it: nobody gets a right from it that its owner lacks.
    Doubtful,
}

/// Extended attributes by name, access lists among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attributes(BTreeMap<String, Vec<u8>>);

impl Attributes {
    /// Reads all attributes of an open file or folder. None on a file system without attributes.
    pub(crate) fn of(file: &File) -> io::Result<Attributes> {
        let names = match xattr::list(file) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut all = BTreeMap::new();
        for name in names {
            let unreadable = |_| io::Error::other("an attribute has no readable name");
            let name = name.into_string().map_err(unreadable)?;
            if let Some(value) = value_of(file, &name)? {
                all.insert(name, value);
            }
        }
        Ok(Attributes(all))
    }

    /// Reads the attributes that a record has: all but our tags. `None` if they are too long for
    /// one, or cannot be read.
    pub(crate) fn for_record(file: &File) -> Option<Attributes> {
        let names = match xattr::list(file) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Vec::new(),
            Err(_) => return None,
        };
        let mut all = Attributes::default();
        for name in names {
            let name = name.into_string().ok()?;
            if TAGS.contains(&name.as_str()) {
                continue;
            }
            if let Some(value) = value_of(file, &name).ok()? {
                all.0.insert(name, value);
            }
        }
        (all.encode().len() <= ATTRIBUTES_LEN_MAX).then_some(all)
    }

    /// Reads the attributes that a record has, as [`Attributes::encode`] writes them. `None` if
    /// they are too long to be kept in memory for each of many files, or cannot be read.
    pub(crate) fn brief(file: &File) -> Option<Box<[u8]>> {
        let bytes = Attributes::for_record(file)?.encode();
        (bytes.len() <= BRIEF_LEN_MAX).then(|| bytes.into_boxed_slice())
    }

    /// Writes them as bytes: for each, in the order of the names, the length of the name (2 bytes)
    /// and of the value (4), both little-endian, the name and the value.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, value) in &self.0 {
            bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
            bytes.extend_from_slice(&(value.len() as u32).to_le_bytes());
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(value);
        }
        bytes
    }

    /// Reads the bytes of [`Attributes::encode`]; `None` if they are no such bytes.
    pub(crate) fn decode(mut bytes: &[u8]) -> Option<Attributes> {
        let mut all = BTreeMap::new();
        while !bytes.is_empty() {
            let (name_len, rest) = bytes.split_first_chunk()?;
            let (value_len, rest) = rest.split_first_chunk()?;
            let (name, rest) = rest.split_at_checked(u16::from_le_bytes(*name_len).into())?;
            let value_len = usize::try_from(u32::from_le_bytes(*value_len)).ok()?;
            let (value, rest) = rest.split_at_checked(value_len)?;
            let name = str::from_utf8(name).ok().filter(|name| is_name(name))?;
            all.insert(name.to_owned(), value.to_vec());
            bytes = rest;
        }
        Some(Attributes(all))
    }
}

/// Says whether a record may name an attribute so: those of ours are not given by a record.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains('\0') && !TAGS.contains(&name)
}

fn value_of(file: &File, name: &str) -> io::Result<Option<Vec<u8>>> {
    let mut room = 256;
    loop {
        let mut value = vec![0; room];
        match xattr::get(file, name, &mut value) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData && room < VALUE_LEN_MAX => {
                room *= 16;
            }
            found => {
                return Ok(found?.map(|len| {
                    value.truncate(len);
                    value
                }));
            }
        }
    }
}

/// What belongs to a file or a folder beside its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Belongings {
    pub(crate) ownership: Ownership,
    /// When it was last changed; `None` if that is not to be set.
    pub(crate) mtime: Option<Timestamp>,
    /// When it was last read; `None` if that is not to be set.
    pub(crate) atime: Option<Timestamp>,
    /// `None` if they are not known.
    pub(crate) attributes: Option<Attributes>,
}

impl Belongings {
    /// Returns all that belongs to an open file, its tags too.
    pub(crate) fn of(file: &File) -> io::Result<Belongings> {
        let status = file.status()?;
        Ok(Belongings {
            ownership: status.ownership(),
            mtime: Some(status.mtime),
            atime: Some(file.last_access()?),
            attributes: Some(Attributes::of(file)?),
        })
    }

    /// Returns all but our tags.
    pub(crate) fn without_tags(mut self) -> Belongings {
        if let Some(Attributes(all)) = &mut self.attributes {
            all.retain(|name, _| !TAGS.contains(&name.as_str()));
        }
        self
    }

    /// Returns all but our tag; what else is of ours stays.
    pub(crate) fn without_tag(mut self) -> Belongings {
        if let Some(Attributes(all)) = &mut self.attributes {
            all.remove(xattr::TAG);
        }
        self
    }

    /// Returns what a file that was there does not have of what belongs to a file. What the file
    /// system of that one makes up is not compared, nor are our tags and labels of the system.
    pub(crate) fn lacking_of(&self, there: &Belongings, of: &File, path: &Path) -> Vec<Withheld> {
        let reason = "the file that was there has another";
        let mut lacking = Vec::new();
        let mut lack = |what: String| {
            lacking.push(Withheld { path: path.to_owned(), what, reason: reason.to_owned() });
        };
        let same_time = |(this, other)| same_mtime(this, other) || same_mtime(other, this);
        if self.mtime.zip(there.mtime).is_some_and(|times| !same_time(times)) {
            lack("modification time".to_owned());
        }
        let (own, other) = (&self.ownership, &there.ownership);
        if of.file_system().is_ok_and(|it| !WITHOUT_RIGHTS.contains(&&*it.name)) {
            // Rights to act as the owner are not for whoever has a copy.
            let [mode, mode_there] = [own.mode, other.mode].map(|mode| mode & 0o777);
            let facts = [("mode", mode == mode_there), ("owner", own.uid == other.uid)];
            let facts = facts.into_iter().chain([("group", own.gid == other.gid)]);
            facts.filter(|(_, is_same)| !is_same).for_each(|(what, _)| lack(what.to_owned()));
        }
        let none = Attributes::default();
        let [all, others] = [self, there].map(|it| it.attributes.as_ref().unwrap_or(&none));
        let is_compared = |name: &str| !TAGS.contains(&name) && !name.starts_with("security.");
        let all = all.0.iter().filter(|(name, _)| is_compared(name));
        for (name, _) in all.filter(|(name, value)| others.0.get(*name) != Some(*value)) {
            lack(format!("attribute `{name}`"));
        }
        lacking
    }

    /// Returns what a record has of an open file or folder.
    pub(crate) fn for_record(file: &File) -> io::Result<Belongings> {
        let status = file.status()?;
        Ok(Belongings::recorded(&status, Attributes::for_record(file)))
    }

    /// Returns what a record has of a file or folder with this status and these attributes.
    pub(crate) fn recorded(status: &Status, attributes: Option<Attributes>) -> Belongings {
        let (ownership, mtime) = (status.ownership(), Some(status.mtime));
        Belongings { ownership, mtime, atime: None, attributes }
    }

    /// Gives them to a new file or folder at a path of the tree, as far as they are trusted and the
    /// system allows it. Returns what it lacks then.
    pub(crate) fn give_to(&self, to: &File, path: &Path, trust: Trust) -> Vec<Withheld> {
        let mut giver = Giver { to, path, trust, withheld: Vec::new() };
        if let Err(error) = giver.give(self) {
            giver.withhold("mode and owner", &error);
        }
        giver.withheld
    }

    /// Makes a new file or folder accessible to its owner alone, because nothing says what belonged
    /// to it.
    pub(crate) fn give_least(to: &File, path: &Path, mode: u32) -> Vec<Withheld> {
        let mut giver = Giver { to, path, trust: Trust::Doubtful, withheld: Vec::new() };
        giver.withhold(
            "mode, owner and attributes",
            &"nothing that was found has them of this path",
        );
        if let Err(error) = disinherit(to).and_then(|()| to.set_mode(mode)) {
            giver.withhold("privacy", &error);
        }
        giver.withheld
    }
}

/// Takes away from a new file or folder the access lists that the system gave it after those of
/// its folder.
pub(crate) fn disinherit(to: &File) -> io::Result<()> {
    let names = match xattr::list(to) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(()),
        names => names?,
    };
    for name in names.iter().filter_map(|name| name.to_str()) {
        if name.starts_with(ACCESS_LISTS) {
            xattr::remove(to, name)?;
        }
    }
    Ok(())
}

/// Says whether only the user of this process and root can write to a file beneath a root, and to
/// the folders on the way.
pub(crate) fn is_ours_alone(root: &Path, relative: &Path) -> bool {
    let check = || -> io::Result<bool> {
        let mut dir = Dir::open(root)?;
        let mut is_ours = dir.to_file()?.is_ours_alone()?;
        for name in relative.parent().unwrap_or(Path::new("")).components() {
            dir = dir.open_dir(name.as_os_str())?;
            is_ours &= dir.to_file()?.is_ours_alone()?;
        }
        match relative.file_name() {
            Some(name) => Ok(is_ours && dir.open_file(name)?.is_ours_alone()?),
            None => Ok(is_ours),
        }
    };
    check().unwrap_or(false)
}

/// Gives a new file what belongs to it, and notes what it withholds.
struct Giver<'a> {
    to: &'a File,
    path: &'a Path,
    trust: Trust,
    withheld: Vec<Withheld>,
}

impl Giver<'_> {
    fn withhold(&mut self, what: impl Into<String>, reason: &dyn std::fmt::Display) {
        let (what, reason) = (what.into(), reason.to_string());
        self.withheld.push(Withheld { path: self.path.to_owned(), what, reason });
    }

    fn give(&mut self, belongings: &Belongings) -> io::Result<()> {
        let before = self.to.ownership()?;
        // The owner comes first: a change of it takes away capabilities and set-user bits.
        self.give_owner(&belongings.ownership, &before);
        self.give_attributes(belongings.attributes.as_ref())?;
        let mode = self.mode_of(&belongings.ownership, &before)?;
        self.to.set_mode(mode)?;
        let got = self.to.ownership()?.mode;
        if got != mode {
            self.withhold(format!("mode {mode:04o}"), &format!("the system made it {got:04o}"));
        }
        if let Err(error) = self.to.set_times(belongings.atime, belongings.mtime) {
            self.withhold("times", &error);
        }
        Ok(())
    }

    fn give_owner(&mut self, wanted: &Ownership, before: &Ownership) {
        for (what, number, is_same) in [
            ("group", wanted.gid, wanted.gid == before.gid),
            ("owner", wanted.uid, wanted.uid == before.uid),
        ] {
            if is_same {
                continue;
            }
            let given = match (self.trust, what) {
                (Trust::Doubtful, _) => Err(io::Error::other(DOUBT)),
                (_, "group") => self.to.set_owner(None, Some(number)),
                _ => self.to.set_owner(Some(number), None),
            };
            if let Err(error) = given {
                self.withhold(format!("{what} {number}"), &error);
            }
        }
    }

    fn give_attributes(&mut self, wanted: Option<&Attributes>) -> io::Result<()> {
        let none = Attributes::default();
        let is_known = wanted.is_some();
        let wanted = wanted.unwrap_or(&none);
        let now = Attributes::of(self.to)?;
        // The system's own labels stay; what the folder handed down does not.
        let is_ours = |name: &str| TAGS.contains(&name) || name.starts_with("security.");
        for name in now.0.keys().filter(|name| !wanted.0.contains_key(*name) && !is_ours(name)) {
            if let Err(error) = xattr::remove(self.to, name) {
                self.withhold(format!("absence of the attribute `{name}`"), &error);
            }
        }
        for (name, value) in wanted.0.iter().filter(|(name, value)| now.0.get(*name) != Some(value))
        {
            let given = match self.refusal_of(name) {
                Some(reason) => Err(io::Error::other(reason)),
                None => xattr::set(self.to, name, value),
            };
            if let Err(error) = given {
                self.withhold(format!("attribute `{name}`"), &error);
            }
        }
        if !is_known {
            self.withhold("attributes", &"they are not recorded, or are longer than a record");
        }
        Ok(())
    }

    /// Returns why an attribute is not given; `None` if it is.
    fn refusal_of(&self, name: &str) -> Option<&'static str> {
        match self.trust {
            Trust::Record { with_special: false } if name == CAPABILITIES => Some(UNASKED),
            Trust::Doubtful if !name.starts_with(xattr::MAC_PREFIX) => Some(DOUBT),
            _ => None,
        }
    }

    /// Returns the mode that may be given to the file, which has its owner already.
    fn mode_of(&mut self, wanted: &Ownership, before: &Ownership) -> io::Result<u32> {
        let now = self.to.ownership()?;
        let (mut bits, mut special) = (wanted.mode & 0o777, wanted.mode & SPECIAL);
        if self.trust == Trust::Doubtful && bits & 0o022 != 0 {
            bits &= !0o022;
            self.withhold("permission of others to write", &DOUBT);
        }
        if now.gid != wanted.gid {
            // What the group was allowed is nothing for another one.
            bits &= !0o070 | (bits & 0o007) << 3;
        }
        let has_owner = (now.uid, now.gid) == (wanted.uid, wanted.gid);
        let reason = match self.trust {
            Trust::Own => None,
            Trust::Doubtful => Some(DOUBT),
            Trust::Record { with_special: false } => Some(UNASKED),
            Trust::Record { with_special: true } if has_owner => None,
            Trust::Record { with_special: true } => Some("it has another owner or group now"),
        };
        // A folder made in one with this bit has it from there.
        let inherited = special & before.mode & SET_GROUP;
        if let Some(reason) = reason.filter(|_| special & !inherited != 0) {
            let names = [(0o4000, "set-user-ID"), (SET_GROUP, "set-group-ID"), (0o1000, "sticky")];
            let lost = special & !inherited;
            for (_, name) in names.iter().filter(|(bit, _)| lost & bit != 0) {
                self.withhold(format!("{name} bit"), &reason);
            }
            special = inherited;
        }
        Ok(bits | special)
    }
}

const UNASKED: &str = "such rights are given only if set-ID rights are asked for";

const DOUBT: &str = "somebody else could have written the record of it";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_as_they_were_written() {
        let pairs =
            [("system.posix_acl_access", &b"\x02\0"[..]), ("user.a", b""), ("user.b", b"x")];
        let all = pairs.map(|(name, value)| (name.to_owned(), value.to_vec()));
        let all = Attributes(all.into_iter().collect());
        let bytes = all.encode();
        assert_eq!(Attributes::decode(&bytes), Some(all));
        assert_eq!(Attributes::decode(b""), Some(Attributes::default()));
        for len in 1..bytes.len() {
            if let Some(part) = Attributes::decode(&bytes[..len]) {
                assert_eq!(part.encode(), bytes[..len]);
            }
        }
        assert_eq!(Attributes::decode(b"\x01\0\xff\xff\xff\xffa"), None);
        let mut tag = Vec::new();
        tag.extend_from_slice(&(xattr::TAG.len() as u16).to_le_bytes());
        tag.extend_from_slice(&[0; 4]);
        tag.extend_from_slice(xattr::TAG.as_bytes());
        assert_eq!(Attributes::decode(&tag), None, "a record gives no tag");
    }
}
