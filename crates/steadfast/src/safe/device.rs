//! The device that a place is on, and how far a reading of it proves what is on the medium.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use steadfast_sys::cache;
use steadfast_sys::file::{AlignedBuffer, File, Status};
use steadfast_sys::storage::{
    PlacedFolder, StoragePlace, bytes_in_tree, is_in_tree, storage_place,
};
use strum::{IntoStaticStr, VariantArray};

use crate::beneath;
use crate::catalogue::keeps_inodes;
use crate::read::direct::Direct;
use crate::read::{Engine as _, Origin};

/// What a reading of a copy proves, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Grade {
    /// The bytes came from the medium.
    Medium,
    /// They are kept in the tree of the file system, which has a cache of its own.
    Tree,
    /// They came from a server or another program, past the cache of this machine.
    Server,
    /// Nothing was read: a list says so.
    Listed,
    /// They may have come from a cache.
    Cache,
    /// They are in memory, and gone when the machine is switched off.
    Memory,
    /// They are in a file without a name, and gone when it is closed.
    Deleted,
}

impl Grade {
    /// Every grade, the best first.
    pub const ALL: [Grade; 7] = *Grade::VARIANTS.as_array().expect("there are seven grades");

    /// Returns the name in lower case, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Whether two places are two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Apartness {
    /// They are.
    Apart,
    /// The system does not tell.
    Untold,
    /// They are one.
    Same,
}

/// The device of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The number of its volume, while that is mounted.
    number: u64,
    place: StoragePlace,
    keeps_inodes: bool,
}

impl Device {
    /// Returns the device that a folder is on.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn of(folder: &Path) -> io::Result<Device> {
        let file = File::open(folder)?;
        Ok(Device {
            number: file.status()?.device,
            place: storage_place(folder)?,
            keeps_inodes: keeps_inodes(&file.file_system()?.name),
        })
    }

    /// Returns the device of a folder; an empty path is the working directory.
    fn of_path(folder: &Path) -> Option<Device> {
        let is_empty = folder.as_os_str().is_empty();
        Device::of(if is_empty { Path::new(".") } else { folder }).ok()
    }

    /// Returns the device of what a list names, whose number tells it from those of other lists.
    pub(super) fn listed(number: usize) -> Device {
        Device { number: u64::MAX - 8 - number as u64, ..Device::unknown() }
    }

    /// Returns a device of which the system tells nothing.
    fn unknown() -> Device {
        let place = StoragePlace {
            is_view: true,
            is_served: true,
            is_cached: true,
            ..StoragePlace::default()
        };
        Device { number: 0, place, keeps_inodes: false }
    }

    #[cfg(test)]
    pub(super) fn real(number: u64, names: &[&str]) -> Device {
        let mut device = Device::untold(number, names);
        device.place.are_real = true;
        device
    }

    #[cfg(test)]
    pub(super) fn untold(number: u64, names: &[&str]) -> Device {
        let devices = names.iter().map(|name| (*name).to_owned()).collect();
        let place = StoragePlace { devices, ..StoragePlace::default() };
        Device { number, place, keeps_inodes: true }
    }

    #[cfg(test)]
    pub(super) fn viewing(mut self) -> Device {
        self.place.is_view = true;
        self
    }

    /// Returns whether a place on this device is apart from one on another.
    pub fn apartness(&self, other: &Device) -> Apartness {
        let (a, b) = (&self.place, &other.place);
        let are_real = a.are_real && b.are_real;
        match self.number == other.number || !a.devices.is_disjoint(&b.devices) {
            true => Apartness::Same,
            false if are_real => self.files_apart(other),
            false => self.files_apart(other).max(Apartness::Untold),
        }
    }

    /// Returns whether a file here is another than one there, on whatever devices they are, if
    /// their device numbers and inodes differ.
    pub fn files_apart(&self, other: &Device) -> Apartness {
        let (a, b) = (&self.place, &other.place);
        match () {
            () if self.number == other.number || a.is_one_mount(b) => Apartness::Apart,
            () if a.shares_files(b) => Apartness::Same,
            () if a.is_view || b.is_view || a.has_uuid_of(b) => Apartness::Untold,
            () => Apartness::Apart,
        }
    }

    /// Notes that what was written at one of two places was found at the other.
    pub(crate) fn note_shown(&mut self, other: &mut Device, token: &str) {
        for (device, side) in [(self, "written"), (other, "found")] {
            device.place.folders.push(PlacedFolder {
                file_system: token.to_owned(),
                mounted_as: side.to_owned(),
                path: PathBuf::new(),
                is_own: false,
            });
        }
    }

    /// Returns what is known of the device of a file on the volume of this number, whose folder is
    /// on this device: if that is another volume, no more than that.
    fn of_volume(mut self, number: u64) -> Device {
        self.place.are_real &= self.number == number;
        Device { number, ..self }
    }

    /// Returns whether files there keep their inodes.
    pub(crate) fn keeps_inodes(&self) -> bool {
        self.keeps_inodes
    }

    /// Returns whether files there have a change time that only a change sets.
    pub(super) fn keeps_change_times(&self) -> bool {
        self.keeps_inodes && !self.place.is_served
    }

    /// Returns what a reading of a whole file proved, which came from `origin`: what is kept in the
    /// tree of the file system is read through its cache, and compared with the medium.
    pub(super) fn grade_of(&self, file: &File, origin: Origin) -> Grade {
        let grade = self.grade(origin);
        let may_be_in_tree = grade == Grade::Cache && self.grade(Origin::Media) == Grade::Medium;
        if !may_be_in_tree || !is_in_tree(file) {
            return grade;
        }
        let compare = || {
            let device = self.place.folders.first().map(|own| own.mounted_as.as_str())?;
            let on_medium = bytes_in_tree(file, device).ok()??;
            // The file may be read past its page cache.
            let alignment = AlignedBuffer::ALIGNMENT;
            let mut bytes = AlignedBuffer::new((on_medium.len() + 1).next_multiple_of(alignment));
            let length = file.read_at(&mut bytes, 0).ok()?;
            Some(bytes[..length] == *on_medium)
        };
        match compare() {
            Some(true) => Grade::Medium,
            // What the medium has is something else.
            Some(false) => Grade::Cache,
            None => Grade::Tree,
        }
    }

    /// Returns what a reading proves that came from `origin`.
    pub(crate) fn grade(&self, origin: Origin) -> Grade {
        match origin {
            _ if self.place.is_deleted => Grade::Deleted,
            _ if self.place.in_memory => Grade::Memory,
            _ if self.place.is_cached => Grade::Cache,
            _ if self.place.is_served => Grade::Server,
            Origin::Media => Grade::Medium,
            Origin::Cache => Grade::Cache,
        }
    }
}

/// The devices of files that are found beneath some folders.
#[derive(Default)]
pub(crate) struct Devices {
    folders: HashMap<PathBuf, Option<Device>>,
    /// Those of them that were named, and not a file in them.
    named: HashSet<PathBuf>,
    /// By the folder and the number of the volume.
    known: HashMap<(PathBuf, u64), Device>,
}

impl Devices {
    /// Takes the paths that were named. One that leads nowhere is trouble of whoever walks it.
    pub(crate) fn beneath<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Devices {
        let mut devices = Devices::default();
        for path in paths {
            let folder = match beneath::is_folder(path) {
                true => path,
                false => path.parent().unwrap_or(path),
            };
            let known = devices.folders.entry(folder.to_owned());
            known.or_insert_with(|| Device::of_path(folder));
            devices.named.extend((folder == path).then(|| path.clone()));
        }
        devices
    }

    /// Returns the folders, with their devices.
    pub(crate) fn folders(&mut self) -> impl Iterator<Item = (&Path, &mut Device)> {
        self.folders.iter_mut().filter_map(|(path, device)| Some((&**path, device.as_mut()?)))
    }

    /// Returns whether a folder that was named has or shows another, so that it grows by copies.
    pub(crate) fn have_beneath(&self, other: &Device) -> bool {
        let devices = self.named.iter().filter_map(|path| self.folders.get(path)?.as_ref());
        devices.into_iter().any(|device| other.place.is_beneath(Path::new(""), &device.place))
    }

    /// Returns the device of a file that was found at a path, on the volume of a number.
    ///
    /// It is that of the folder that was named: whether one folder shows the other is known of
    /// these. A volume that is mounted beneath it may show what that folder shows.
    pub(crate) fn of(&mut self, path: &Path, number: u64) -> &Device {
        let folder = path.ancestors().find(|it| self.folders.contains_key(*it));
        let at = (folder.unwrap_or(Path::new("")).to_owned(), number);
        let above = folder.and_then(|folder| self.folders.get(folder)?.as_ref());
        self.known.entry(at).or_insert_with(|| {
            if let Some(above) = above.filter(|above| above.number == number) {
                return above.clone();
            }
            let device = Device::of_path(path.parent().unwrap_or(path));
            let mut device = device.unwrap_or_else(Device::unknown);
            let further = above.map(|above| above.place.folders.clone());
            device.place.folders.extend(further.unwrap_or_default());
            device.of_volume(number)
        })
    }

    /// Returns the device of a volume, if it was looked up.
    pub(crate) fn known(&self, number: u64) -> Option<&Device> {
        Some(self.known.iter().find(|((_, it), _)| *it == number)?.1)
    }
}

/// A file that is prepared to be read past the cache.
pub(crate) struct UncachedFile<'a> {
    file: &'a File,
    status: Status,
    prepared: Origin,
    is_uncached: bool,
}

impl UncachedFile<'_> {
    /// Drops what is cached of a file, and prepares to read it past the cache.
    pub(crate) fn prepare(file: &File) -> io::Result<UncachedFile<'_>> {
        let _ = cache::drop_cached(file);
        let status = file.status()?;
        let prepared = Direct.prepare(file, &status)?;
        // Servers do not tell, but what is not in the cache did not come from there.
        let is_uncached = cache::cached_bytes(file, status.length).is_ok_and(|bytes| bytes == 0);
        Ok(UncachedFile { file, status, prepared, is_uncached })
    }

    /// Reads from an offset, which is that of a block, into whole blocks.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Direct.read_at(self.file, buffer, offset)
    }

    /// Returns where the bytes came from, after the whole file was read.
    pub(crate) fn origin(&self) -> Origin {
        Direct.confirm(self.file, &self.status, self.prepared)
    }

    /// Returns what reading the whole file proved.
    pub(crate) fn grade(&self, device: &Device) -> Grade {
        if self.status.length == 0 {
            return device.grade(Origin::Media);
        }
        match device.grade_of(self.file, self.origin()) {
            Grade::Server if !self.is_uncached => Grade::Cache,
            grade => grade,
        }
    }
}
