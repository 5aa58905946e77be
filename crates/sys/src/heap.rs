//! The memory that the allocator keeps for later use.

#[cfg_attr(target_os = "linux", path = "heap/linux.rs")]
#[cfg_attr(target_os = "macos", path = "heap/macos.rs")]
mod platform;

/// Gives free memory back to the system, as far as the allocator can. For a process that goes on
/// after work that took much.
pub fn give_back() {
    platform::give_back();
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_in_use_stays() {
        let kept: Vec<Vec<u8>> = (0..100_u8).map(|byte| vec![byte; 10_000]).collect();
        super::give_back();
        assert!(kept.iter().zip(0..).all(|(bytes, byte)| bytes.iter().all(|one| *one == byte)));
    }
}
