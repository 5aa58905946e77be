//! macOS: blocks have 4 KiB, so SQLite allocates each itself.

pub(super) fn allocate_shared_memory() {}

pub(super) fn was_full() -> bool {
    false
}
