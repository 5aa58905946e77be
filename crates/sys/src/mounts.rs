//! The table of mounts on Linux: an identifier in, the mount out.

use std::fs;

use rustix::fs::{Statx, StatxFlags};

/// A line of the table of mounts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) file_system: String,
    pub(crate) source: String,
    pub(crate) options: String,
}

/// Finds the mount of a file by what `statx` says of it. `None` without `/proc`, before Linux 5.8
/// and in some containers.
///
/// Only the table tells ext4 from ext3, and which program is behind FUSE.
pub(crate) fn mount_of(facts: &Statx) -> Option<Mount> {
    if facts.stx_mask & StatxFlags::MNT_ID.bits() == 0 {
        return None;
    }
    mount_in(&fs::read("/proc/self/mountinfo").ok()?, facts.stx_mnt_id)
}

/// Finds a mount by its identifier.
///
/// Source: `proc_pid_mountinfo(5)`: the identifier is the first field and the mount's own options
/// are the sixth. File system, source and the options of all its mounts follow a lone hyphen.
/// Spaces within fields are escaped.
pub(crate) fn mount_in(table: &[u8], mount_id: u64) -> Option<Mount> {
    let table = String::from_utf8_lossy(table);
    let mount_id = mount_id.to_string();
    let line = table.lines().find(|line| line.split(' ').next() == Some(&mount_id))?;
    let own = line.split(' ').nth(5)?;
    let mut rest = line.split(' ').skip_while(|&field| field != "-").skip(1);
    let (file_system, source, of_all) = (rest.next()?, rest.next()?, rest.next()?);
    let further = of_all.split(',').filter(|option| !own.split(',').any(|known| known == *option));
    let options: Vec<&str> = own.split(',').chain(further).collect();
    (!file_system.is_empty()).then(|| Mount {
        file_system: file_system.to_owned(),
        source: source.to_owned(),
        options: options.join(","),
    })
}

#[cfg(test)]
mod tests {
    use super::mount_in;

    const TABLE: &[u8] = b"\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
36 22 98:0 /mnt1 /mnt\\040-\\040two rw,noatime master:1 shared:2 - fuse.sshfs host: ro\n\
220 22 0:44 / /\xff\xfe rw shared:9 - xfs /dev/sdb1 rw\n\
37 22 0:45 / /cut rw";

    fn name(table: &[u8], mount_id: u64) -> Option<String> {
        mount_in(table, mount_id).map(|mount| mount.file_system)
    }

    #[test]
    fn a_mount_is_found_by_its_whole_identifier() {
        assert_eq!(name(TABLE, 22).as_deref(), Some("ext4"));
        assert_eq!(name(TABLE, 220).as_deref(), Some("xfs"));
        assert_eq!(name(TABLE, 2), None);
    }

    #[test]
    fn optional_fields_before_the_hyphen_are_skipped() {
        assert_eq!(name(TABLE, 36).as_deref(), Some("fuse.sshfs"));
    }

    #[test]
    fn a_line_without_a_type_is_no_answer() {
        assert_eq!(name(TABLE, 37), None);
        assert_eq!(name(b"", 37), None);
        assert_eq!(name(b"37 1 0:1 / / rw - ", 37), None);
    }

    #[test]
    fn options_of_the_mount_come_before_those_of_the_file_system() {
        assert_eq!(mount_in(TABLE, 22).unwrap().options, "rw,relatime");
        assert_eq!(mount_in(TABLE, 36).unwrap().options, "rw,noatime,ro");
    }
}
