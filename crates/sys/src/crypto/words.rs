//! The processor capabilities that the crypto library uses, after the mask of the environment.
//!
//! A measurement trusts a mask only if these words show it. The library has no function that
//! returns them, so its variable is read. The symbol contains the version: another version does not
//! link until the name here is changed.

/// Returns the words that decide which code the library runs.
///
/// x86: EDX and ECX of CPUID leaf 1, EBX and ECX of leaf 7. Arm: one word of the library's own.
/// Elsewhere: none.
#[must_use]
pub fn capabilities() -> Vec<u32> {
    aws_lc_sys::init();
    platform::capabilities()
}

pub use platform::WORDS;

/// A bit: the index of its word, and its number in the word.
pub type Bit = (usize, u32);

/// The meaning of the words, and how the environment masks them.
#[derive(Clone, Copy, Debug)]
pub struct CapabilityWords {
    /// Environment variable that masks them when the library starts; empty if there is none.
    pub variable: &'static str,
    /// How many words one number of the variable covers. Numbers are separated by colons.
    pub per_number: usize,
    /// Bits of the instructions for AES.
    pub aes: &'static [Bit],
    /// Bits of carry-less multiplication.
    pub carry_less: &'static [Bit],
    /// Bits of the instructions for SHA.
    pub sha: &'static [Bit],
}

#[cfg(target_arch = "x86_64")]
mod platform {
    use super::CapabilityWords;

    /// Bits in the numbering of Intel. VAES and VPCLMULQDQ are the wide forms: if they stayed on,
    /// the library would use them in place of the instructions that are switched off.
    pub const WORDS: CapabilityWords = CapabilityWords {
        variable: "OPENSSL_ia32cap",
        per_number: 2,
        aes: &[(1, 25), (3, 9)],
        carry_less: &[(1, 1), (3, 10)],
        sha: &[(2, 29)],
    };

    unsafe extern "C" {
        #[link_name = "aws_lc_0_47_0_OPENSSL_ia32cap_P"]
        static CAPABILITIES: [u32; 4];
    }

    pub(super) fn capabilities() -> Vec<u32> {
        // SAFETY: the library writes the words once, at its start, and `init` waited for that.
        unsafe { CAPABILITIES }.to_vec()
    }
}

#[cfg(target_arch = "aarch64")]
mod platform {
    use super::CapabilityWords;

    /// Bits in the numbering of the library. Instructions for SHA-512 are switched with those for
    /// SHA.
    pub const WORDS: CapabilityWords = CapabilityWords {
        variable: "OPENSSL_armcap",
        per_number: 1,
        aes: &[(0, 2)],
        carry_less: &[(0, 5)],
        sha: &[(0, 3), (0, 4), (0, 6)],
    };

    unsafe extern "C" {
        #[link_name = "aws_lc_0_47_0_OPENSSL_armcap_P"]
        static CAPABILITIES: u32;
    }

    pub(super) fn capabilities() -> Vec<u32> {
        // SAFETY: the library writes the word once, at its start, and `init` waited for that.
        vec![unsafe { CAPABILITIES }]
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod platform {
    use super::CapabilityWords;

    /// No words are known on this architecture.
    pub const WORDS: CapabilityWords =
        CapabilityWords { variable: "", per_number: 1, aes: &[], carry_less: &[], sha: &[] };

    pub(super) fn capabilities() -> Vec<u32> {
        Vec::new()
    }
}
