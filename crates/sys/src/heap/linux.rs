//! The allocator of glibc keeps what threads have freed; others give memory back by themselves.

#[cfg_attr(
    target_env = "gnu",
    expect(unsafe_code, reason = "no library has a safe form of malloc_trim")
)]
pub(super) fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes a number and may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
