//! Storage on Linux: partitions, stacked devices and virtual devices in `/sys/dev/block`.

use std::fs;
use std::path::{Path, PathBuf};

use super::Medium;
use crate::kernel_files;

/// How deep stacks of devices are followed: encryption on volumes on an array needs three.
pub(super) const STACK_DEPTH_MAX: usize = 8;

/// Drivers of virtual machines, which report every disk as rotating unless configured otherwise.
const UNTRUSTED: [&str; 3] = ["virtio", "vbd-", "hyperv"];

/// Reads the medium of the device, or of the devices beneath it.
pub(super) fn medium(device: u64) -> Medium {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    medium_at(Path::new("/sys/dev/block"), &format!("{major}:{minor}"))
}

fn medium_at(devices: &Path, number: &str) -> Medium {
    match fs::canonicalize(devices.join(number)) {
        Ok(folder) => medium_of(&folder, STACK_DEPTH_MAX),
        // The numbers of btrfs and of network file systems belong to no device.
        Err(_) => Medium::Unknown,
    }
}

fn medium_of(folder: &Path, depth: usize) -> Medium {
    let disk = disk_of(folder);
    let beneath = stands_on(disk);
    if !beneath.is_empty() && depth > 0 {
        let media = beneath.iter().map(|below| medium_of(below, depth - 1));
        return media.reduce(slower).unwrap_or(Medium::Unknown);
    }
    let virtual_disk = disk.components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        part == "virtual" || UNTRUSTED.iter().any(|driver| part.starts_with(driver))
    });
    match kernel_files::text(disk.join("queue/rotational")).as_deref() {
        Some("0") => Medium::Solid,
        Some("1") if !virtual_disk => Medium::Rotating,
        _ => Medium::Unknown,
    }
}

/// Returns the folder of the disk that a partition is on; of a disk, its own. Only disks have
/// queues.
pub(super) fn disk_of(folder: &Path) -> &Path {
    match folder.join("queue").is_dir() {
        true => folder,
        false => folder.parent().unwrap_or(folder),
    }
}

/// Returns the devices that a stacked one is made of, by name.
pub(super) fn stands_on(disk: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(disk.join("slaves")) else { return Vec::new() };
    let mut links: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    links.sort();
    links.iter().filter_map(|link| fs::canonicalize(link).ok()).collect()
}

/// Seeks of an array are as slow as those of its slowest part.
fn slower(a: Medium, b: Medium) -> Medium {
    match (a, b) {
        (Medium::Rotating, _) | (_, Medium::Rotating) => Medium::Rotating,
        (Medium::Unknown, _) | (_, Medium::Unknown) => Medium::Unknown,
        (Medium::Solid, Medium::Solid) => Medium::Solid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A `/sys` with disks at these places, each with what it says of itself.
    fn fixture(disks: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("dev/block")).unwrap();
        for (number, (place, rotational)) in disks.iter().enumerate() {
            let disk = root.path().join("devices").join(place);
            fs::create_dir_all(disk.join("queue")).unwrap();
            fs::create_dir_all(disk.join("slaves")).unwrap();
            fs::write(disk.join("queue/rotational"), format!("{rotational}\n")).unwrap();
            symlink(&disk, root.path().join(format!("dev/block/8:{number}"))).unwrap();
        }
        root
    }

    fn medium_of(root: &tempfile::TempDir, number: &str) -> Medium {
        medium_at(&root.path().join("dev/block"), number)
    }

    #[test]
    fn disks_say_what_they_are_and_partitions_ask_theirs() {
        let root = fixture(&[("pci0/ata1/block/sda", "1"), ("pci0/nvme0/nvme0n1", "0")]);
        let partition = root.path().join("devices/pci0/ata1/block/sda/sda1");
        fs::create_dir_all(&partition).unwrap();
        symlink(&partition, root.path().join("dev/block/8:17")).unwrap();
        assert_eq!(medium_of(&root, "8:0"), Medium::Rotating);
        assert_eq!(medium_of(&root, "8:1"), Medium::Solid);
        assert_eq!(medium_of(&root, "8:17"), Medium::Rotating);
        assert_eq!(medium_of(&root, "0:42"), Medium::Unknown);
    }

    #[test]
    fn a_virtual_disk_that_claims_to_rotate_is_not_believed() {
        let root = fixture(&[
            ("pci0/virtio1/block/vda", "1"),
            ("virtual/block/loop0", "1"),
            ("pci0/virtio2/block/vdb", "0"),
        ]);
        assert_eq!(medium_of(&root, "8:0"), Medium::Unknown);
        assert_eq!(medium_of(&root, "8:1"), Medium::Unknown);
        assert_eq!(medium_of(&root, "8:2"), Medium::Solid);
    }

    #[test]
    fn a_stacked_device_is_what_it_stands_on() {
        let root = fixture(&[
            ("pci0/ata1/block/sda", "1"),
            ("pci0/nvme0/nvme0n1", "0"),
            ("virtual/block/dm-0", "0"),
            ("virtual/block/md0", "0"),
        ]);
        let slave = |of: &str, name: &str, place: &str| {
            let devices = root.path().join("devices");
            symlink(devices.join(place), devices.join(of).join("slaves").join(name)).unwrap();
        };
        slave("virtual/block/dm-0", "sda", "pci0/ata1/block/sda");
        slave("virtual/block/md0", "nvme0n1", "pci0/nvme0/nvme0n1");
        assert_eq!(medium_of(&root, "8:2"), Medium::Rotating);
        assert_eq!(medium_of(&root, "8:3"), Medium::Solid);
        slave("virtual/block/md0", "dm-0", "virtual/block/dm-0");
        assert_eq!(medium_of(&root, "8:3"), Medium::Rotating);
    }
}
