//! Processor time on macOS: not available without a Mach port of the kernel.

use std::io;

use super::CpuTime;

/// Returns `Unsupported`.
pub(super) fn cpu_times() -> io::Result<Vec<CpuTime>> {
    Err(io::ErrorKind::Unsupported.into())
}
