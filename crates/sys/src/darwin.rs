//! What the numbers and texts of macOS mean.
//!
//! Pure, so that its tests run on any system. The numbers are those of the headers of xnu, which
//! each constant names; error numbers are macOS's, not those of the system that compiles.

/// Marks a file or directory whose contents are stored elsewhere.
///
/// Source: `sys/stat.h`, `SF_DATALESS`.
const SF_DATALESS: u32 = 0x4000_0000;

/// Mark a file as immutable: by its owner, by the superuser.
///
/// Source: `sys/stat.h`, `UF_IMMUTABLE`, `SF_IMMUTABLE`.
const IMMUTABLE: u32 = 0x0000_0002 | 0x0002_0000;

/// Mark a file as append-only: by its owner, by the superuser.
///
/// Source: `sys/stat.h`, `UF_APPEND`, `SF_APPEND`.
const APPEND: u32 = 0x0000_0004 | 0x0004_0000;

/// Marks a file that System Integrity Protection keeps from changes, even by root.
///
/// Source: `sys/stat.h`, `SF_RESTRICTED`.
const SF_RESTRICTED: u32 = 0x0008_0000;

/// A process in Darwin's background: by its own request, and because another process put it there.
///
/// Source: `sys/proc_info_private.h`, `PROC_FLAG_DARWINBG`, `PROC_FLAG_EXT_DARWINBG`.
const BACKGROUND_BY_ITSELF: u32 = 0x8000;
const BACKGROUND_BY_OTHERS: u32 = 0x1_0000;

/// Error numbers of `sys/errno.h`.
const EPERM: i32 = 1;
const EDEADLK: i32 = 11;
const EINVAL: i32 = 22;
const ENOTTY: i32 = 25;
const ENOTSUP: i32 = 45;
const EOPNOTSUPP: i32 = 102;

/// Says whether the flags of a file say that its contents are stored elsewhere.
pub(crate) fn is_dataless(st_flags: u32) -> bool {
    st_flags & SF_DATALESS != 0
}

/// Says whether an error means that contents are not on this machine and may not be fetched.
///
/// The kernel gives this number to whoever may not materialise files, and to nobody else who only
/// opens, lists and reads (`vfs_context_dataless_materialization_is_prevented` of xnu).
pub(crate) fn is_contents_elsewhere(errno: i32) -> bool {
    errno == EDEADLK
}

/// What keeps a file from changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFlag {
    Restricted,
    Immutable,
    AppendOnly,
}

/// Returns what keeps a file from changes: of several flags the one that is hardest to remove.
pub(crate) fn change_flag(st_flags: u32) -> Option<FileFlag> {
    let flags = [
        (SF_RESTRICTED, FileFlag::Restricted),
        (IMMUTABLE, FileFlag::Immutable),
        (APPEND, FileFlag::AppendOnly),
    ];
    flags.into_iter().find_map(|(bits, flag)| (st_flags & bits != 0).then_some(flag))
}

/// Says whether a process is in the background. Of this process its own request counts, of another
/// what was asked from outside, because that is what can be taken back from there.
pub(crate) fn is_background(pbi_flags: u32, own: bool) -> bool {
    pbi_flags & if own { BACKGROUND_BY_ITSELF } else { BACKGROUND_BY_OTHERS } != 0
}

/// Says whether a refusal to flush a drive's cache means that the file system cannot do it, so that
/// a plain flush is all there is. SMB gives `ENOTSUP`, NFS and FUSE file systems the others.
pub(crate) fn lacks_full_flush(errno: i32) -> bool {
    matches!(errno, EINVAL | ENOTTY | ENOTSUP | EOPNOTSUPP)
}

/// Says whether an attribute cannot be kept because the file is itself a list of attributes: where
/// a volume has no attributes, the kernel keeps them in `._` files and refuses attributes of these
/// (`vn_getxattr` of xnu: `EPERM` unless `XATTR_VNODE_SUPPORTED`).
pub(crate) fn refuses_attributes(errno: i32) -> bool {
    errno == EPERM
}

/// Returns what to do about an error that looks like one of permissions and is none.
///
/// `EACCES` is a matter of permission bits. `EPERM` on opening, listing or reading is one of
/// privacy: the sandbox of macOS refused it, whoever owns the file.
pub(crate) fn advice(errno: i32) -> Option<&'static str> {
    (errno == EPERM).then_some(
        "macOS protects this place: allow the terminal or the program Full Disk Access in System \
         Settings, Privacy & Security",
    )
}

/// Places of numbers in `rusage_info_v6`, counted in words of 8 bytes. The first two are a UUID.
///
/// Source: `sys/resource.h`, `struct rusage_info_v6`.
mod place {
    pub(super) const USER_TIME: usize = 2;
    pub(super) const SYSTEM_TIME: usize = 3;
    pub(super) const QOS_TIMES: usize = 20;
    pub(super) const USER_PTIME: usize = 38;
    pub(super) const SYSTEM_PTIME: usize = 39;
    pub(super) const ENERGY_NJ: usize = 42;
    pub(super) const PENERGY_NJ: usize = 43;
}

/// Words of `rusage_info_v6`: a UUID of two, 47 numbers and nine in reserve.
pub(crate) const RUSAGE_WORDS: usize = 2 + 47 + 9;

/// The classes of `ri_cpu_time_qos_*`, in their order.
const QOS_CLASSES: [&str; 7] = [
    "default",
    "maintenance",
    "background",
    "utility",
    "legacy",
    "user-initiated",
    "user-interactive",
];

/// What a process used, as `rusage_info_v6` tells it, in nanoseconds and nanojoules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessUsage {
    pub(crate) cpu_ns: u64,
    pub(crate) performance_cpu_ns: u64,
    pub(crate) energy_nj: u64,
    pub(crate) performance_energy_nj: u64,
    pub(crate) levels: [(&'static str, u64); 7],
}

/// Translates `rusage_info_v6`. Its times are in ticks of `numerator / denominator` nanoseconds.
pub(crate) fn usage(
    words: &[u64; RUSAGE_WORDS],
    (numerator, denominator): (u32, u32),
) -> ProcessUsage {
    let time_ns = |ticks: u64| {
        let ns = u128::from(ticks) * u128::from(numerator) / u128::from(denominator.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    };
    let fast = words[place::USER_PTIME] + words[place::SYSTEM_PTIME];
    let level_ns = |at: usize| time_ns(words[place::QOS_TIMES + at]);
    ProcessUsage {
        cpu_ns: time_ns(words[place::USER_TIME] + words[place::SYSTEM_TIME]),
        performance_cpu_ns: time_ns(fast),
        energy_nj: words[place::ENERGY_NJ],
        performance_energy_nj: words[place::PENERGY_NJ],
        levels: std::array::from_fn(|at| (QOS_CLASSES[at], level_ns(at))),
    }
}

/// Translates the ticks of one processor: user, system, idle, nice. Returns busy and all ticks.
///
/// Source: `mach/machine.h`, `CPU_STATE_USER` to `CPU_STATE_NICE`.
pub(crate) fn ticks([user, system, idle, nice]: [u32; 4]) -> (u64, u64) {
    let busy = u64::from(user) + u64::from(system) + u64::from(nice);
    (busy, busy + u64::from(idle))
}

/// Reads from the property list of `diskutil info -plist` whether a disk has no moving parts.
/// Nothing is known of disk images: they tell nothing of what they are on.
pub(crate) fn is_solid(plist: &str) -> Option<bool> {
    let value = |key: &str| {
        let (_, rest) = plist.split_once(&format!("<key>{key}</key>"))?;
        Some(rest.trim_start())
    };
    let is_image = value("BusProtocol").is_some_and(|it| it.starts_with("<string>Disk Image<"));
    let solid = value("SolidState")?;
    match (is_image, solid.starts_with("<true/>"), solid.starts_with("<false/>")) {
        (false, true, _) => Some(true),
        (false, _, true) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_files_say_what_keeps_them_from_changes_and_where_they_are() {
        assert!(is_dataless(0x4000_0020) && !is_dataless(0x2000_0020));
        for (flags, mark) in [
            (0, None),
            (0x20, None),
            (0x2, Some(FileFlag::Immutable)),
            (0x2_0000, Some(FileFlag::Immutable)),
            (0x4, Some(FileFlag::AppendOnly)),
            (0x4_0000, Some(FileFlag::AppendOnly)),
            (0x8_0000, Some(FileFlag::Restricted)),
            (0xa_0000, Some(FileFlag::Restricted)),
        ] {
            assert_eq!(change_flag(flags), mark, "{flags:#x}");
        }
    }

    #[test]
    fn only_a_deadlock_says_that_contents_are_elsewhere() {
        let found: Vec<i32> = (0..=106).filter(|errno| is_contents_elsewhere(*errno)).collect();
        assert_eq!(found, [11]);
    }

    #[test]
    fn a_failing_drive_is_no_lack_of_a_full_flush() {
        let found: Vec<i32> = (0..=106).filter(|errno| lacks_full_flush(*errno)).collect();
        assert_eq!(found, [22, 25, 45, 102]);
        assert!(!lacks_full_flush(5), "EIO");
        assert!(!lacks_full_flush(28), "ENOSPC");
    }

    #[test]
    fn privacy_is_refused_by_another_number_than_permissions() {
        assert!(advice(1).is_some_and(|advice| advice.contains("Full Disk Access")));
        assert_eq!(advice(13), None);
        assert!(refuses_attributes(1) && !refuses_attributes(13) && !refuses_attributes(93));
    }

    #[test]
    fn a_process_is_lowered_by_itself_or_by_others() {
        let (own, other) = (0x4000_8010, 0x4001_0010);
        assert!(is_background(own, true) && !is_background(own, false));
        assert!(is_background(other, false) && !is_background(other, true));
        assert!(!is_background(0x4010, true) && !is_background(0x4010, false));
    }

    #[test]
    fn usage_is_read_in_nanoseconds_of_its_clock() {
        let mut words = [0; RUSAGE_WORDS];
        (words[2], words[3], words[22], words[38], words[39]) = (240, 24, 48, 24, 24);
        (words[42], words[43]) = (7_000, 5_000);
        let used = usage(&words, (125, 3));
        assert_eq!((used.cpu_ns, used.performance_cpu_ns), (11_000, 2_000));
        assert_eq!((used.energy_nj, used.performance_energy_nj), (7_000, 5_000));
        let busy: Vec<_> = used.levels.iter().filter(|(_, ns)| *ns > 0).collect();
        assert_eq!(busy, [&("background", 2_000)]);
        assert_eq!(usage(&words, (1, 1)).cpu_ns, 264, "an Intel Mac counts nanoseconds");
    }

    #[test]
    fn idle_ticks_are_no_work() {
        assert_eq!(ticks([10, 5, 80, 5]), (20, 100));
        assert_eq!(ticks([u32::MAX; 4]), (3 * u64::from(u32::MAX), 4 * u64::from(u32::MAX)));
    }

    #[test]
    fn a_disk_says_whether_it_is_solid_and_an_image_says_nothing() {
        let plist = |bus: &str, solid: &str| {
            format!(
                "<dict>\n\t<key>BusProtocol</key>\n\t<string>{bus}</string>\n\t\
                 <key>SolidState</key>\n\t{solid}\n</dict>"
            )
        };
        assert_eq!(is_solid(&plist("Apple Fabric", "<true/>")), Some(true));
        assert_eq!(is_solid(&plist("USB", "<false/>")), Some(false));
        assert_eq!(is_solid(&plist("Disk Image", "<true/>")), None);
        assert_eq!(is_solid(&plist("USB", "<string>no</string>")), None);
        assert_eq!(is_solid("<dict></dict>"), None);
    }
}
