//! Where a folder lies on macOS: `statfs`. What is beneath a disk would need a framework.

use std::ffi::CStr;
use std::io;
use std::path::Path;

use super::{PlacedFolder, StoragePlace};

pub(super) fn storage_place(folder: &Path) -> io::Result<StoragePlace> {
    let facts = rustix::fs::statfs(folder)?;
    let text = |bytes: &[u8]| {
        let text = CStr::from_bytes_until_nul(bytes).map_err(io::Error::other)?;
        Ok::<_, io::Error>(text.to_string_lossy().into_owned())
    };
    let source = text(&facts.f_mntfromname.map(i8::cast_unsigned))?;
    let name = text(&facts.f_fstypename.map(i8::cast_unsigned))?;
    let disk = source.strip_prefix("/dev/").filter(|it| it.starts_with("disk"));
    let is_view = disk.is_none() || name.contains("fuse");
    // `disk3s5` is a part of `disk3`.
    let whole = |disk: &str| disk["disk".len()..].split('s').next().map(|it| format!("disk{it}"));
    let path = folder.canonicalize()?;
    let own = PlacedFolder {
        file_system: source.clone(),
        mounted_as: source.clone(),
        path,
        is_own: true,
    };
    Ok(StoragePlace {
        folders: vec![own],
        devices: disk.and_then(whole).into_iter().collect(),
        is_view,
        is_served: is_view,
        ..StoragePlace::default()
    })
}
