//! The volume of a folder on Linux: `statx`, the table of mounts, `/sys`.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags};

use super::super::platform::{STACK_DEPTH_MAX, disk_of, stands_on};
use super::{Layer, Link, Volume};
use crate::kernel_files;
use crate::mounts::mount_of;

/// Mount options whose values name no person, network or path.
const HARMLESS: &str = "\
    acdirmax acregmax actimeo allocsize atgc_mode barrier bsize cache closetimeo commit \
    compress compression data discard errors logbsize max_read nconnect proto recordsize rsize \
    sec size snapshot stripe swidth vers wsize";

pub(super) fn volume(folder: &Path) -> io::Result<Volume> {
    let facts = rustix::fs::statx(CWD, folder, AtFlags::empty(), StatxFlags::MNT_ID)?;
    let space = rustix::fs::statvfs(folder)?;
    let mount = mount_of(&facts);
    let enciphered = facts
        .stx_attributes_mask
        .contains(StatxAttributes::ENCRYPTED)
        .then(|| facts.stx_attributes.contains(StatxAttributes::ENCRYPTED));
    let number = (facts.stx_dev_major, facts.stx_dev_minor);
    let source = mount.as_ref().map(|mount| mount.source.clone());
    let layers = layers(Path::new("/sys/dev/block"), number, source.as_deref());
    Ok(Volume {
        file_system: match &mount {
            Some(mount) => mount.file_system.clone(),
            None => crate::file::File::open(folder)?.file_system()?.name,
        },
        options: mount.map(|mount| harmless(&mount.options)),
        enciphered,
        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
        total_bytes: space.f_blocks.saturating_mul(space.f_frsize),
        layers,
    })
}

/// Leaves out options that may name a person, a network or a path.
fn harmless(options: &str) -> String {
    let is_harmless = |option: &&str| match option.split_once('=') {
        Some((key, value)) => {
            HARMLESS.split(' ').any(|it| it == key) && !value.contains(['/', '@', '\\'])
        }
        None => true,
    };
    options.split(',').filter(is_harmless).collect::<Vec<&str>>().join(",")
}

/// Returns the devices from the one with this number, or from the mounted one, down.
fn layers(devices: &Path, number: (u32, u32), source: Option<&str>) -> Vec<Layer> {
    let at =
        |(major, minor): (u32, u32)| fs::canonicalize(devices.join(format!("{major}:{minor}")));
    // The numbers of btrfs belong to no device, but its source does.
    let mounted = || {
        let facts = fs::metadata(source.filter(|source| source.starts_with("/dev/"))?).ok()?;
        at((rustix::fs::major(facts.rdev()), rustix::fs::minor(facts.rdev()))).ok()
    };
    let mut layers = Vec::new();
    if let Some(folder) = at(number).ok().or_else(mounted) {
        follow(&folder, STACK_DEPTH_MAX, &mut layers);
    }
    layers
}

fn follow(folder: &Path, depth: usize, layers: &mut Vec<Layer>) {
    let disk = disk_of(folder);
    layers.push(layer(disk));
    if depth > 0 {
        stands_on(disk).iter().for_each(|below| follow(below, depth - 1, layers));
    }
}

fn layer(disk: &Path) -> Layer {
    let text = |name: &str| kernel_files::text(disk.join(name)).filter(|text| !text.is_empty());
    let parts = || disk.components().map(|part| part.as_os_str().to_string_lossy());
    let made_up = parts().any(|part| part == "virtual" || part.starts_with("virtio"));
    Layer {
        name: disk.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        model: text("device/model"),
        cipher: text("dm/uuid").and_then(|uuid| cipher(&uuid)),
        // The place of a virtual disk on the bus does not tell how its medium is connected.
        link: if made_up { None } else { link(disk) },
        backing: text("loop/backing_file")
            .map(|file| (PathBuf::from(file), text("loop/dio").as_deref() == Some("1"))),
        made_up,
    }
}

/// Reads the kind of encryption from the identifier of a device-mapper device: `CRYPT-LUKS2-…`.
fn cipher(uuid: &str) -> Option<String> {
    let rest = uuid.strip_prefix("CRYPT-")?;
    Some(rest.split('-').next().unwrap_or(rest).to_owned())
}

/// Finds the slowest known connection: USB, then SATA, then the PCIe link of the controller.
fn link(disk: &Path) -> Option<Link> {
    let parents = || disk.ancestors().take_while(|folder| folder.parent().is_some());
    let text = |folder: &Path, name: &str| kernel_files::text(folder.join(name));
    let usb = parents().find_map(|folder| {
        text(folder, "bMaxPacketSize0")?;
        usb(&text(folder, "speed")?)
    });
    let sata = || parents().find_map(|folder| sata(&text(&port(folder)?, "sata_spd")?));
    let pcie = || {
        parents().find_map(|folder| {
            pcie(&text(folder, "current_link_speed")?, &text(folder, "current_link_width")?)
        })
    };
    usb.or_else(sata).or_else(pcie)
}

/// Returns the folder with the speed of a SATA port: `ata1/link1/ata_link/link1`.
fn port(folder: &Path) -> Option<PathBuf> {
    let number = folder.file_name()?.to_str()?.strip_prefix("ata")?;
    let link = format!("link{number}");
    Some(folder.join(&link).join("ata_link").join(&link))
}

/// Reads a speed in Mb/s. The line code takes a fifth of the bits at 5,000 and a 33rd above.
fn usb(speed: &str) -> Option<Link> {
    let megabits: u64 = speed.parse().ok()?;
    let bytes_per_s_max = match megabits {
        0..5_000 => megabits * 125_000,
        5_000 => megabits * 100_000,
        _ => megabits * 125_000 / 132 * 128,
    };
    Some(Link { name: format!("USB {megabits} Mb/s"), bytes_per_s_max })
}

/// Reads `6.0 Gbps`. Of ten bits, eight are data.
fn sata(speed: &str) -> Option<Link> {
    let gigabits: f64 = speed.strip_suffix(" Gbps")?.parse().ok()?;
    let bytes_per_s_max = (gigabits * 100e6).round() as u64;
    Some(Link { name: format!("SATA {gigabits:.1} Gb/s"), bytes_per_s_max })
}

/// Reads `16.0 GT/s PCIe` and a number of lanes. Up to 5 GT/s, eight of ten bits are data; above,
/// 128 of 130.
fn pcie(speed: &str, width: &str) -> Option<Link> {
    let transfers: f64 = speed.split(' ').next()?.parse().ok()?;
    let lanes: u32 = width.parse().ok().filter(|&lanes| lanes > 0)?;
    let share = if transfers > 5.0 { 128.0 / 130.0 } else { 0.8 };
    let bytes_per_s_max = (transfers * 1e9 * f64::from(lanes) * share / 8.0) as u64;
    Some(Link { name: format!("PCIe {transfers:.1} GT/s x{lanes}"), bytes_per_s_max })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::mount_in;
    use std::os::unix::fs::symlink;

    const TABLE: &[u8] = b"\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
36 22 0:44 / /mnt/x rw,noatime master:1 - cifs //nas/me rw,vers=3.1.1,username=me,addr=10.0.0.2,\
seal,cache=strict\n\
37 22 0:45 / /mnt/y rw - fuse.sshfs me@host:/home rw,user_id=0,max_read=131072\n";

    #[test]
    fn a_mount_keeps_what_is_harmless() {
        let mount = mount_in(TABLE, 36).unwrap();
        assert_eq!((&*mount.file_system, &*mount.source), ("cifs", "//nas/me"));
        assert_eq!(harmless(&mount.options), "rw,noatime,vers=3.1.1,seal,cache=strict");
        assert_eq!(harmless(&mount_in(TABLE, 37).unwrap().options), "rw,max_read=131072");
        assert_eq!(harmless(&mount_in(TABLE, 22).unwrap().options), "rw,relatime,discard");
        assert_eq!(mount_in(TABLE, 3), None);
        assert_eq!(harmless("lowerdir=/home/me,data=/x,data=ordered"), "data=ordered");
    }

    #[test]
    fn links_are_as_fast_as_their_codes_allow() {
        let bytes = |link: Option<Link>| link.unwrap().bytes_per_s_max;
        assert_eq!(bytes(usb("480")), 60_000_000);
        assert_eq!(bytes(usb("5000")), 500_000_000);
        assert!((1_200_000_000..1_250_000_000).contains(&bytes(usb("10000"))));
        assert_eq!(bytes(sata("6.0 Gbps")), 600_000_000);
        assert_eq!(bytes(pcie("5.0 GT/s PCIe", "4")), 2_000_000_000);
        assert_eq!(bytes(pcie("16.0 GT/s PCIe", "4")), 7_876_923_076);
        assert_eq!(pcie("Unknown", "4"), None);
        assert_eq!(pcie("16.0 GT/s PCIe", "0"), None);
        assert_eq!(sata("<unknown>"), None);
    }

    #[test]
    fn a_stack_is_followed_to_its_disk() {
        let root = tempfile::tempdir().unwrap();
        let disk = root.path().join("devices/pci0/0000:01:00.0/nvme/nvme0/nvme0n1");
        let map = root.path().join("devices/virtual/block/dm-0");
        for (folder, name, text) in [
            (&disk, "queue/rotational", "0"),
            (&disk, "device/model", "Quick Disk 1TB   "),
            (&map, "queue/rotational", "0"),
            (&map, "dm/uuid", "CRYPT-LUKS2-0123456789abcdef-luks"),
        ] {
            fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
            fs::write(folder.join(name), format!("{text}\n")).unwrap();
        }
        let bus = root.path().join("devices/pci0/0000:01:00.0");
        fs::write(bus.join("current_link_speed"), "8.0 GT/s PCIe\n").unwrap();
        fs::write(bus.join("current_link_width"), "4\n").unwrap();
        fs::create_dir_all(disk.join("nvme0n1p2")).unwrap();
        fs::create_dir_all(map.join("slaves")).unwrap();
        symlink(disk.join("nvme0n1p2"), map.join("slaves/nvme0n1p2")).unwrap();
        let devices = root.path().join("dev/block");
        fs::create_dir_all(&devices).unwrap();
        symlink(&map, devices.join("253:0")).unwrap();
        let layers = layers(&devices, (253, 0), None);
        assert_eq!(layers.len(), 2, "{layers:?}");
        assert_eq!(layers[0].cipher.as_deref(), Some("LUKS2"));
        assert!(layers[0].made_up && layers[0].link.is_none());
        assert_eq!(layers[1].name, "nvme0n1");
        assert_eq!(layers[1].model.as_deref(), Some("Quick Disk 1TB"));
        assert_eq!(layers[1].link.as_ref().unwrap().name, "PCIe 8.0 GT/s x4");
        assert!(super::layers(&devices, (253, 1), Some("host:/x")).is_empty());
    }
}
