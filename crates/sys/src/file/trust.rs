//! Who can change a file or a directory besides the user of this process and root.

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{Mode, Stat};
use rustix::process::{getegid, geteuid};

use super::{Dir, Status};

/// The attribute that has the access list of a file on Linux.
const ACCESS_LIST: &std::ffi::CStr = c"system.posix_acl_access";

/// Somebody who can change a file or a directory, and is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stranger {
    /// Its owner.
    Owner(u32),
    /// Its group.
    Group(u32),
    /// Those that its access list names.
    Listed,
    /// Everybody.
    Anyone,
}

impl fmt::Display for Stranger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stranger::Owner(uid) => write!(f, "it belongs to another user ({uid})"),
            Stranger::Group(gid) => {
                write!(f, "the group {gid} can write to it (`chmod g-w` ends that)")
            }
            Stranger::Listed => write!(f, "its access list lets others write to it"),
            Stranger::Anyone => write!(f, "anyone can write to it (`chmod o-w` ends that)"),
        }
    }
}

/// Returns the name of a user; the number if the system's file of users does not have it.
pub fn user_name(uid: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let number = uid.to_string();
    let mut named = users.lines().map(|line| line.split(':'));
    let name = named.find_map(|mut line| {
        let name = line.next()?;
        (line.nth(1) == Some(&*number)).then_some(name)
    });
    name.map_or_else(|| format!("user {uid}"), |name| format!("`{name}`"))
}

/// Users who are trusted: the user of this process, root, and those that are added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedUsers {
    uids: Vec<u32>,
}

impl TrustedUsers {
    /// Trusts the user of this process and root.
    pub fn own() -> TrustedUsers {
        TrustedUsers { uids: vec![0, geteuid().as_raw()] }
    }

    /// Adds the owner of a directory.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn and_owner_of(mut self, dir: &Dir) -> io::Result<TrustedUsers> {
        self.uids.push(rustix::fs::fstat(dir)?.st_uid);
        Ok(self)
    }

    /// Returns who else can change an open file, or the names in an open directory.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn stranger_in(&self, opened: &impl AsFd) -> io::Result<Option<Stranger>> {
        let stat = rustix::fs::fstat(opened)?;
        let mode = Mode::from_raw_mode(stat.st_mode);
        Ok(if !self.uids.contains(&stat.st_uid) {
            Some(Stranger::Owner(stat.st_uid))
        } else if mode.contains(Mode::WOTH) {
            Some(Stranger::Anyone)
        } else if !mode.contains(Mode::WGRP) {
            None
        } else if rustix::fs::fgetxattr(opened, ACCESS_LIST, &mut [0_u8; 0]).is_ok() {
            // The bits of the group are the most that the list gives.
            Some(Stranger::Listed)
        } else {
            Some(Stranger::Group(stat.st_gid)).filter(|_| !is_private(&stat))
        })
    }

    /// Returns the owner of a file or directory, if he is not trusted.
    pub fn stranger_owning(&self, status: &Status) -> Option<Stranger> {
        (!self.uids.contains(&status.uid)).then_some(Stranger::Owner(status.uid))
    }

    /// Returns who else can put another thing in the place of what a trusted user has in a
    /// directory. In one like `/tmp` (the sticky bit), only its owner can.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn stranger_above(&self, dir: &Dir) -> io::Result<Option<Stranger>> {
        let mode = Mode::from_raw_mode(rustix::fs::fstat(dir)?.st_mode);
        let stranger = self.stranger_in(dir)?;
        Ok(stranger.filter(|stranger| {
            matches!(stranger, Stranger::Owner(_)) || !mode.contains(Mode::SVTX)
        }))
    }
}

/// Says whether the group of a file is one that its user shares with nobody: that of root, one
/// with the user's number, as most systems make it, or the first of this process.
fn is_private(stat: &Stat) -> bool {
    let is_first = !geteuid().is_root() && stat.st_gid == getegid().as_raw();
    stat.st_gid == 0 || stat.st_gid == stat.st_uid || is_first
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown};

    #[test]
    fn who_else_can_write_is_told() {
        let root = tempfile::tempdir().unwrap();
        let dir = Dir::open(root.path()).unwrap();
        let set =
            |mode| fs::set_permissions(root.path(), fs::Permissions::from_mode(mode)).unwrap();
        let own = TrustedUsers::own();
        set(0o755);
        assert_eq!(own.stranger_in(&dir).unwrap(), None);
        set(0o777);
        assert_eq!(own.stranger_in(&dir).unwrap(), Some(Stranger::Anyone));
        assert_eq!(own.stranger_above(&dir).unwrap(), Some(Stranger::Anyone));
        set(0o1777);
        assert_eq!(own.stranger_in(&dir).unwrap(), Some(Stranger::Anyone));
        assert_eq!(own.stranger_above(&dir).unwrap(), None);
        // Only root can give it away.
        if chown(root.path(), Some(54_321), Some(54_322)).is_ok() {
            assert_eq!(own.stranger_above(&dir).unwrap(), Some(Stranger::Owner(54_321)));
            let with_owner = own.and_owner_of(&dir).unwrap();
            assert_eq!(with_owner.stranger_above(&dir).unwrap(), None);
            set(0o775);
            assert_eq!(with_owner.stranger_in(&dir).unwrap(), Some(Stranger::Group(54_322)));
            chown(root.path(), None, Some(54_321)).unwrap();
            assert_eq!(with_owner.stranger_in(&dir).unwrap(), None);
        }
    }
}
