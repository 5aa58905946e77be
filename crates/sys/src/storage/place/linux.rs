//! Where a folder lies on Linux: the table of mounts, `/sys`, and what mounted programs tell.

use std::fs;
use std::io;
use std::net::{IpAddr, UdpSocket};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, major, makedev, minor};
use rustix::ioctl::{Getter, Opcode, ioctl, opcode};
use steadfast_time::names::NameBuf as _;

use super::super::platform::{STACK_DEPTH_MAX, disk_of, stands_on};
use super::{PlacedFolder, StoragePlace};
use crate::file::File;
use crate::kernel_files;
use crate::mounts::{Mount, id_of, mounts};

/// File systems whose contents come from a server.
const SERVERS: [&str; 10] =
    ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs", "virtiofs", "vboxsf", "glusterfs"];

/// File systems that show others.
const LAYERED: [&str; 5] = ["overlay", "aufs", "ecryptfs", "unionfs", "shiftfs"];

/// File systems and devices in memory.
const MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];
const MEMORY_DEVICES: [&str; 2] = ["zram", "ram"];

/// Devices at the other end of a network.
const NETWORK_DEVICES: [&str; 4] = ["nbd", "rbd", "drbd", "etherd"];

/// How many views and images within each other are followed.
const DEPTH_MAX: usize = 8;

pub(super) fn storage_place(folder: &Path) -> io::Result<StoragePlace> {
    let finder = PlaceFinder { mounts: mounts() };
    let mut place = StoragePlace { are_real: true, ..StoragePlace::default() };
    let (mount, own) = finder.followed(folder, &mut place, 0)?;
    let (real, source) = (folder.canonicalize()?, mount.map(|mount| mount.source.clone()));
    place.uuid = File::open(folder).ok().and_then(|file| uuid(&file)).or_else(|| listed(&source?));
    place.are_real &= !place.devices.is_empty() && !place.is_view;
    place.folders.push(PlacedFolder { is_own: true, ..own.clone() });
    if let Some(mount) = mount {
        finder.shown(mount, &within(mount, &own.path), &mut place, 0);
    }
    let beneath = |it: &&Mount| it.point.starts_with(&real) && it.point != real;
    for mount in finder.mounts.iter().filter(beneath) {
        // Files there are on another volume, which is followed when one is met.
        let mut other = StoragePlace::default();
        if !is_remote(mount)
            && let Ok((_, folder)) = finder.followed(&mount.point, &mut other, 0)
        {
            other.folders.push(PlacedFolder { is_own: true, ..folder });
        }
        finder.shown(mount, Path::new(""), &mut other, 0);
        place.folders.extend(other.folders);
    }
    Ok(place)
}

/// Says whether looking at a mount may wait for a server.
fn is_remote(mount: &Mount) -> bool {
    let name = mount.file_system.as_str();
    SERVERS.contains(&name) || name.starts_with("fuse") || name == "autofs"
}

/// Returns a path of a file system as one beneath the point where it is mounted.
fn within(mount: &Mount, path: &Path) -> PathBuf {
    path.strip_prefix(&mount.root).unwrap_or(Path::new("")).to_owned()
}

struct PlaceFinder {
    mounts: Vec<Mount>,
}

impl PlaceFinder {
    /// Returns the mount of a folder, and the folder within its file system, and notes what is
    /// beneath. Of a folder that is absent, that of the next one above it.
    fn followed(
        &self,
        folder: &Path,
        place: &mut StoragePlace,
        depth: usize,
    ) -> io::Result<(Option<&Mount>, PlacedFolder)> {
        let there = folder.ancestors().find(|it| it.exists()).unwrap_or(folder);
        let facts = rustix::fs::statx(CWD, there, AtFlags::empty(), StatxFlags::MNT_ID)?;
        let mount = id_of(&facts).and_then(|id| self.mounts.iter().find(|mount| mount.id == id));
        let real = there.canonicalize()?.join(folder.strip_prefix(there).unwrap_or(folder));
        let path = match mount {
            Some(mount) => real.strip_prefix(&mount.point).ok().map(|below| mount.root.join(below)),
            // The one mount that a table lacks is that of a root which is no mount (`chroot`).
            None if !self.mounts.is_empty() => real.strip_prefix("/").ok().map(Path::to_owned),
            None => None,
        };
        // Something is mounted over it, or there is no table: it may be any folder.
        let path = path.unwrap_or_else(|| PathBuf::from("/"));
        let name = match mount {
            Some(mount) => mount.file_system.clone(),
            None => File::open(there)?.file_system()?.name,
        };
        let is_served = name.starts_with("fuse") || SERVERS.contains(&&*name);
        let is_layered = LAYERED.contains(&&*name);
        place.is_served |= is_served;
        place.is_view |= is_served || is_layered;
        place.is_cached |= is_layered;
        place.in_memory |= MEMORY.contains(&&*name);
        let number = makedev(facts.stx_dev_major, facts.stx_dev_minor);
        let device = sysfs_of(number).or_else(|| {
            // The numbers of btrfs belong to no device, but its source does.
            let source = mount.map(|mount| mount.source.as_str())?;
            sysfs_of(fs::metadata(source).ok().filter(|_| source.starts_with("/dev/"))?.rdev())
        });
        let Some(device) = device else {
            place.are_real = false;
            let number = format!("{number:x}");
            let (file_system, mounted_as) = (number.clone(), number);
            return Ok((mount, PlacedFolder { file_system, mounted_as, path, is_own: false }));
        };
        let (base, offset) = self.device(&device, place, depth);
        if name == "btrfs" {
            self.members(&device, place, depth);
        }
        Ok((
            mount,
            PlacedFolder {
                file_system: format!("{base}+{offset}"),
                mounted_as: device.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                path,
                is_own: false,
            },
        ))
    }

    /// Notes the further devices of a btrfs, which names only one of them.
    fn members(&self, device: &Path, place: &mut StoragePlace, depth: usize) {
        let Some(name) = device.file_name() else { return };
        let volumes = fs::read_dir("/sys/fs/btrfs").into_iter().flatten().flatten();
        let lists = volumes.map(|volume| volume.path().join("devices"));
        let Some(list) = lists.into_iter().find(|list| list.join(name).exists()) else { return };
        let members: Vec<PathBuf> = fs::read_dir(list)
            .into_iter()
            .flatten()
            .filter_map(|it| fs::canonicalize(it.ok()?.path()).ok())
            .collect();
        // Contents may be on any of them.
        place.are_real &= members.len() < 2;
        for member in members.iter().filter(|it| it.file_name() != Some(name)) {
            self.device(member, place, depth);
        }
    }

    /// Notes a device and all beneath it. Returns what tells it from others, and the offset of a
    /// part of it.
    fn device(&self, folder: &Path, place: &mut StoragePlace, depth: usize) -> (String, u64) {
        let disk = disk_of(folder);
        let start: u64 = match disk == folder {
            true => 0,
            false => kernel_files::number(folder.join("start")).unwrap_or(0) * 512,
        };
        let name = disk.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let parts = || disk.components().map(|part| part.as_os_str().to_string_lossy());
        let begins = |with: &[&str]| with.iter().any(|it| name.starts_with(it));
        place.in_memory |= begins(&MEMORY_DEVICES);
        let is_far = begins(&NETWORK_DEVICES)
            || parts().any(|part| part == "nvme-fabrics" || part.starts_with("session"));
        place.is_served |= is_far;
        place.is_view |= is_far;
        place.devices.insert(controller(&name).to_owned());
        // Two ways to one disk have one of these.
        place.devices.extend(kernel_files::text(disk.join("device/wwid")));
        if let Some(backing) = kernel_files::text(disk.join("loop/backing_file")) {
            let (base, offset) = self.image(disk, &name, &backing, place, depth);
            return (base, offset + start);
        }
        let below = stands_on(disk);
        let made_up = parts().any(|part| part == "virtual" || part.starts_with("virtio"));
        place.are_real &= !below.is_empty() || !made_up;
        for below in below.iter().filter(|_| depth < STACK_DEPTH_MAX) {
            self.device(below, place, depth + 1);
        }
        (name, start)
    }

    /// Notes the file or the device that a loop device stands for. Returns what tells it from
    /// others, and the offset in it.
    fn image(
        &self,
        disk: &Path,
        name: &str,
        backing: &str,
        place: &mut StoragePlace,
        depth: usize,
    ) -> (String, u64) {
        let offset = kernel_files::number(disk.join("loop/offset")).unwrap_or(0);
        let facts = fs::metadata(backing).ok();
        if let Some(device) = facts.as_ref().filter(|facts| facts.file_type().is_block_device())
            && let Some(device) = sysfs_of(device.rdev())
            && depth < DEPTH_MAX
        {
            let (base, start) = self.device(&device, place, depth + 1);
            return (base, start + offset);
        }
        place.is_cached |= kernel_files::text(disk.join("loop/dio")).as_deref() != Some("1");
        let is_it = |facts: &fs::Metadata| {
            backing_of(name).is_none_or(|it| it == (facts.dev(), facts.ino()))
        };
        let facts = facts.filter(is_it);
        place.is_deleted |=
            facts.as_ref().map_or(backing.ends_with(" (deleted)"), |facts| facts.nlink() == 0);
        let above = Path::new(backing).parent().filter(|_| depth < DEPTH_MAX);
        match facts.zip(above) {
            Some((facts, above)) => match self.followed(above, place, depth + 1) {
                Ok((_, it)) => (format!("{}/{}", it.file_system, facts.ino()), offset),
                Err(_) => (name.to_owned(), offset),
            },
            // Its file is somewhere, and so is what is there.
            None => {
                place.are_real = false;
                (name.to_owned(), offset)
            }
        }
    }

    /// Notes the folders that a mount shows at a path beneath it.
    fn shown(&self, mount: &Mount, below: &Path, place: &mut StoragePlace, depth: usize) {
        for folder in shown_by(mount, place).iter().filter(|_| depth < DEPTH_MAX) {
            let folder = folder.join(below);
            if let Ok((mount, folder)) = self.followed(&folder, place, depth + 1) {
                let below = mount.map(|mount| within(mount, &folder.path));
                place.folders.push(folder);
                if let Some((mount, below)) = mount.zip(below) {
                    self.shown(mount, &below, place, depth + 1);
                }
            }
        }
    }
}

/// Returns the folders that a mount shows, by the table of mounts, or by what mergerfs tells.
fn shown_by(mount: &Mount, place: &mut StoragePlace) -> Vec<PathBuf> {
    let absolute = |text: &str| Some(PathBuf::from(text)).filter(|path| path.is_absolute());
    let several = |text: &str| text.split([':', ';']).filter_map(absolute).collect();
    match mount.file_system.as_str() {
        "overlay" => {
            let layers = mount.options.split(',').filter_map(|it| it.split_once('='));
            let layers = layers
                .filter(|(key, _)| key.starts_with("lowerdir") || *key == "upperdir")
                .flat_map(|(_, folders)| folders.split(':'));
            layers.filter_map(absolute).collect()
        }
        "fuse.mergerfs" => match branches(&mount.point) {
            Some(branches) => several(&branches.replace('=', ":=")),
            None => several(&mount.source),
        },
        "ecryptfs" | "aufs" | "unionfs" | "shiftfs" => several(&mount.source),
        name if !is_remote(mount) || name == "fuseblk" => Vec::new(),
        name => match server_of(mount) {
            Some((host, folder)) if is_this_machine(host, mount) => {
                let folder = home_of(host).unwrap_or_default().join(folder);
                let is_known = folder.is_dir();
                place.is_own_share |= !is_known && SERVERS.contains(&name);
                is_known.then_some(folder).into_iter().collect()
            }
            Some(_) => Vec::new(),
            None => several(&mount.source),
        },
    }
}

/// Returns the branches of a mergerfs, whose line in the table of mounts is shortened:
/// `/a=RW:/b=RO,4G`.
fn branches(point: &Path) -> Option<String> {
    let mut bytes = vec![0; 64 << 10];
    // The file has attributes and cannot be opened.
    let control = point.join(".mergerfs");
    let length = rustix::fs::getxattr(control, "user.mergerfs.branches", &mut *bytes).ok()?;
    bytes.truncate(length);
    String::from_utf8(bytes).ok()
}

/// Returns the server and the folder of `host:folder` or `//host/share`.
fn server_of(mount: &Mount) -> Option<(&str, &str)> {
    let source = mount.source.as_str();
    if let Some(share) = source.strip_prefix("//") {
        let (host, _) = share.split_once('/')?;
        return Some((host, "/a share"));
    }
    let (host, folder) = match source.rfind("]:") {
        Some(end) => (&source[..=end], &source[end + 2..]),
        None => source.split_once(':')?,
    };
    (!host.contains('/')).then_some((host, folder))
}

/// Returns the home of the user of `user@host`, where relative paths of sshfs begin.
fn home_of(host: &str) -> Option<PathBuf> {
    let user = host.rsplit_once('@').map(|(user, _)| user);
    let id = rustix::process::getuid().as_raw().to_string();
    let listed = fs::read_to_string("/etc/passwd").ok()?;
    let mut listed = listed.lines().map(|line| line.split(':').collect::<Vec<&str>>());
    let is_user = |it: &[&str]| match user {
        Some(user) => it.first() == Some(&user),
        None => it.get(2) == Some(&&*id),
    };
    listed.find(|it| is_user(it))?.get(5).map(PathBuf::from)
}

/// Says whether a server is this machine. Asks no network.
fn is_this_machine(host: &str, mount: &Mount) -> bool {
    let host = host.rsplit('@').next().unwrap_or(host).trim_matches(['[', ']']);
    let listed = fs::read_to_string("/etc/hosts").unwrap_or_default();
    let listed = listed.lines().filter_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = words.next()?;
        words.any(|word| word == host).then(|| address.to_owned())
    });
    let of_mount = mount.options.split(',').filter_map(|it| it.strip_prefix("addr="));
    let is_own = |text: &str| {
        let address: Option<IpAddr> = text.split('%').next().and_then(|it| it.parse().ok());
        // Only an address of this machine can be bound; nothing is sent.
        address.is_some_and(|it| UdpSocket::bind((it, 0)).is_ok())
    };
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    host == "localhost"
        || (!host.is_empty() && (host == name || name.split('.').next() == Some(host)))
        || is_own(host)
        || of_mount.map(str::to_owned).chain(listed).any(|it| is_own(&it))
}

/// Returns the name of an NVMe device without the number of a namespace: those of one device are
/// lost together.
fn controller(name: &str) -> &str {
    let namespace = name.strip_prefix("nvme").and_then(|rest| rest.find('n'));
    namespace.map_or(name, |at| &name[.."nvme".len() + at])
}

/// Returns the folder of a block device in `/sys`.
fn sysfs_of(number: u64) -> Option<PathBuf> {
    let name = format!("/sys/dev/block/{}:{}", major(number), minor(number));
    fs::canonicalize(name).ok()
}

/// `_IOR(0x15, 0, struct fsuuid2)`: a length, and sixteen bytes.
const GET_UUID: Opcode = opcode::read::<[u8; 17]>(0x15, 0);

/// Returns the identifier of a file system, from Linux 6.9 on.
#[expect(unsafe_code, reason = "rustix has no such call")]
fn uuid(file: &File) -> Option<String> {
    // SAFETY: `GET_UUID` is `FS_IOC_GETFSUUID`, which writes the seventeen bytes of its type.
    let getter = unsafe { Getter::<GET_UUID, [u8; 17]>::new() };
    // SAFETY: the getter above is that of this call, and the file is open.
    let [length, bytes @ ..] = unsafe { ioctl(file, getter) }.ok()?;
    let bytes = bytes.get(..usize::from(length)).filter(|it| !it.is_empty())?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the identifier of the file system on a device, as the system lists it.
fn listed(source: &str) -> Option<String> {
    let device = fs::canonicalize(source).ok().filter(|_| source.starts_with("/dev/"))?;
    let links = fs::read_dir("/dev/disk/by-uuid").ok()?.flatten();
    let mut links = links.filter(|it| fs::canonicalize(it.path()).is_ok_and(|to| to == device));
    let name = links.next()?.file_name().into_vec();
    Some(String::from_utf8_lossy(&name).to_lowercase().replace('-', ""))
}

/// `LOOP_GET_STATUS64`, of `linux/loop.h`.
const LOOP_STATUS: Opcode = 0x4C05;

/// Returns device and inode of the file of a loop device, if this process may open that.
#[expect(unsafe_code, reason = "rustix has no such call")]
fn backing_of(name: &str) -> Option<(u64, u64)> {
    let file = File::open(&Path::new("/dev").join(name)).ok()?;
    // SAFETY: the call writes a `struct loop_info64`, which has 232 bytes, aligned as `u64`.
    let getter = unsafe { Getter::<LOOP_STATUS, [u64; 29]>::new() };
    // SAFETY: the getter above is that of this call, and the file is open.
    let [device, inode, ..] = unsafe { ioctl(&file, getter) }.ok()?;
    Some((device, inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(file_system: &str, source: &str, options: &str) -> Mount {
        let [file_system, source, options] = [file_system, source, options].map(str::to_owned);
        let [root, point] = ["/", "/nowhere"].map(PathBuf::from);
        Mount { id: 1, root, point, file_system, source, options }
    }

    #[test]
    fn the_table_of_mounts_tells_what_a_mount_shows() {
        let shown = |file_system: &str, source: &str, options: &str| {
            let mut place = StoragePlace::default();
            let folders = shown_by(&mount(file_system, source, options), &mut place);
            let names = folders.iter().map(|it| it.display().to_string()).collect::<Vec<_>>();
            (names.join(" "), place.is_own_share)
        };
        let folders = |names: &str| (names.to_owned(), false);
        let layers = "rw,lowerdir=/l/1:/l/2,upperdir=/u,workdir=/w";
        assert_eq!(shown("overlay", "overlay", layers), folders("/l/1 /l/2 /u"));
        assert_eq!(shown("fuse", "/usr", "rw"), folders("/usr"));
        assert_eq!(shown("fuse.mergerfs", "1:2", "rw"), folders(""));
        assert_eq!(shown("fuse.mhddfs", "/a;/b", "rw"), folders("/a /b"));
        assert_eq!(shown("fuseblk", "/dev/sdb1", "rw"), folders(""));
        assert_eq!(shown("fuse.sshfs", "me@localhost:/usr", "rw"), folders("/usr"));
        assert_eq!(shown("fuse.sshfs", "me@nas.example:/usr", "rw"), folders(""));
        assert_eq!(shown("nfs4", "[::1]:/usr", "rw"), folders("/usr"));
        assert_eq!(shown("nfs4", "nas.example:/usr", "rw,addr=127.0.0.1"), folders("/usr"));
        assert_eq!(shown("cifs", "//127.0.0.1/share", "rw"), (String::new(), true));
        assert_eq!(shown("cifs", "//192.0.2.1/share", "rw,addr=192.0.2.1"), folders(""));
        assert_eq!(shown("ext4", "/dev/sda1", "rw"), folders(""));
    }

    #[test]
    fn a_folder_in_memory_is_on_no_disk() {
        let place = storage_place(Path::new("/dev/shm")).unwrap();
        assert!(place.in_memory && !place.are_real && place.devices.is_empty(), "{place:?}");
    }

    #[test]
    fn namespaces_are_parts_of_one_device() {
        for (name, device) in
            [("nvme0n1", "nvme0"), ("nvme12n2", "nvme12"), ("sda", "sda"), ("nvme0", "nvme0")]
        {
            assert_eq!(controller(name), device);
        }
    }
}
