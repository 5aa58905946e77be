//! The volume of a folder on macOS: `statfs`.

use std::ffi::CStr;
use std::io;
use std::path::Path;

use super::Volume;

/// Reads `statfs`. Devices and encryption would need a framework.
pub(super) fn volume(folder: &Path) -> io::Result<Volume> {
    let facts = rustix::fs::statfs(folder)?;
    let name = facts.f_fstypename.map(i8::cast_unsigned);
    let name = CStr::from_bytes_until_nul(&name).map_err(io::Error::other)?;
    let block = u64::from(facts.f_bsize);
    Ok(Volume {
        file_system: name.to_string_lossy().into_owned(),
        options: None,
        enciphered: None,
        free_bytes: facts.f_bavail.saturating_mul(block),
        total_bytes: facts.f_blocks.saturating_mul(block),
        layers: Vec::new(),
    })
}
