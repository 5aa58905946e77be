//! Facts of macOS by name: numbers and texts.

use std::ffi::CStr;
use std::io;

/// Returns an integer fact.
pub(crate) fn integer(name: &CStr) -> io::Result<u64> {
    let mut value = [0; 8];
    match read(name, &mut value)? {
        4 => Ok(u64::from(u32::from_ne_bytes([value[0], value[1], value[2], value[3]]))),
        8 => Ok(u64::from_ne_bytes(value)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the fact is not an integer")),
    }
}

/// Returns a textual fact of at most 255 bytes.
pub(crate) fn text(name: &CStr) -> io::Result<String> {
    let mut value = [0; 256];
    let length = read(name, &mut value)?;
    let text = String::from_utf8_lossy(&value[..length]);
    Ok(text.trim_end_matches('\0').to_owned())
}

/// Reads a fact into a buffer and returns its length in bytes.
#[expect(unsafe_code, reason = "rustix has no form of sysctl")]
fn read(name: &CStr, value: &mut [u8]) -> io::Result<usize> {
    let mut length = value.len();
    // SAFETY: `value` is writable for `length` bytes, its own length; nothing is set.
    let code = unsafe {
        libc::sysctlbyname(
            name.as_ptr(),
            value.as_mut_ptr().cast(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    };
    if code == 0 { Ok(length) } else { Err(io::Error::last_os_error()) }
}
