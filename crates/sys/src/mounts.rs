//! The table of mounts on Linux: an identifier in, the mount out.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use rustix::fs::{Statx, StatxFlags};
use steadfast_time::names::NameBuf as _;

/// A line of the table of mounts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) id: u64,
    /// The folder of the file system that is mounted.
    pub(crate) root: PathBuf,
    /// Where it is mounted.
    pub(crate) point: PathBuf,
    pub(crate) file_system: String,
    pub(crate) source: String,
    pub(crate) options: String,
}

/// Finds the mount of a file by what `statx` says of it. `None` without `/proc`, before Linux 5.8
/// and in some containers.
///
/// Only the table tells ext4 from ext3, and which program is behind FUSE.
pub(crate) fn mount_of(facts: &Statx) -> Option<Mount> {
    mount_in(&fs::read(TABLE).ok()?, id_of(facts)?)
}

/// Returns all mounts; none without `/proc`.
pub(crate) fn mounts() -> Vec<Mount> {
    let table = fs::read(TABLE).unwrap_or_default();
    table.split(|byte| *byte == b'\n').filter_map(parsed).collect()
}

/// Returns the identifier of the mount of a file, if `statx` has it.
pub(crate) fn id_of(facts: &Statx) -> Option<u64> {
    (facts.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(facts.stx_mnt_id)
}

const TABLE: &str = "/proc/self/mountinfo";

/// Finds a mount by its identifier.
pub(crate) fn mount_in(table: &[u8], mount_id: u64) -> Option<Mount> {
    table.split(|byte| *byte == b'\n').filter_map(parsed).find(|mount| mount.id == mount_id)
}

/// Reads a line.
///
/// Source: `proc_pid_mountinfo(5)`: identifier, root and point are the first, the fourth and the
/// fifth field; the mount's own options are the sixth. File system, source and the options of all
/// its mounts follow a lone hyphen. Blanks within fields are escaped.
fn parsed(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let id = text(fields.next()?).parse().ok()?;
    let [root, point] = [fields.nth(2)?, fields.next()?].map(unescaped);
    let own = text(fields.next()?);
    let mut rest = fields.skip_while(|field| *field != b"-").skip(1);
    let (file_system, source, of_all) = (rest.next()?, rest.next()?, text(rest.next()?));
    let further = of_all.split(',').filter(|option| !own.split(',').any(|known| known == *option));
    let options: Vec<&str> = own.split(',').chain(further).collect();
    (!file_system.is_empty()).then(|| Mount {
        id,
        root: PathBuf::from(root),
        point: PathBuf::from(point),
        file_system: text(file_system),
        source: unescaped(source).to_string_lossy().into_owned(),
        options: options.join(","),
    })
}

/// Replaces escapes of three octal digits by their bytes.
fn unescaped(field: &[u8]) -> OsString {
    let (mut bytes, mut rest) = (Vec::new(), field);
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\');
        let byte = octal.and_then(|it| u8::from_str_radix(str::from_utf8(it).ok()?, 8).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[3..] } else { after };
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn escaped_blanks_are_blanks() {
        let mount = mount_in(TABLE, 36).unwrap();
        assert_eq!((mount.root, mount.point), ("/mnt1".into(), "/mnt - two".into()));
        assert_eq!(unescaped(br"\040a\\9\0").as_encoded_bytes(), br" a\\9\0");
    }

    #[test]
    fn options_of_the_mount_come_before_those_of_the_file_system() {
        assert_eq!(mount_in(TABLE, 22).unwrap().options, "rw,relatime");
        assert_eq!(mount_in(TABLE, 36).unwrap().options, "rw,noatime,ro");
    }
}
