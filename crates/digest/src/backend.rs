//! The kernels by name: detection and dispatch.
//!
//! Takes a name, or selects the best. Returns a `Backend`, which proves that this processor
//! supports it. Must not know messages, padding, or which lane has which message.

use std::fmt;

use strum::{IntoStaticStr, VariantArray};

use crate::error::{Error, ErrorKind};
use crate::state::{md5, sha256, sha512};

/// Repeats a block for the constant `$t` from 0 to 15.
///
/// The compiler does not unroll a loop over sixteen rounds; schedule and state are then in memory
/// and move in every round. Unrolled, `portable` was measured a fifth faster, `x86_avx512` a tenth.
macro_rules! sixteen_times {
    ($t:ident => $body:block) => {
        sixteen_times!($t => $body; 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    };
    ($t:ident => $body:block; $($value:literal),+) => {
        $({
            const $t: usize = $value;
            $body
        })+
    };
}

/// Makes an array from an expression of the index, as `std::array::from_fn` does, but in place.
///
/// Kernels pass no closure to a function of the standard library, such as `array::map` and
/// `from_fn`. These functions are compiled without the kernel's target features, so a closure is
/// inlined only after the function around it was, and `array::map` is often compiled in another
/// codegen unit. With `codegen-units = 16` and no LTO, each became a call that passes its vectors
/// through memory, and four lanes of `x86_shani` ran at a fifteenth of their throughput.
macro_rules! array_from {
    ($length:expr; $index:ident => $element:expr) => {{
        let mut array = [{
            let $index = 0;
            $element
        }; $length];
        for $index in 1..$length {
            array[$index] = $element;
        }
        array
    }};
}

#[cfg(target_arch = "aarch64")]
mod aarch64_sha2;
mod library;
mod portable;
#[cfg(target_arch = "x86_64")]
#[expect(clippy::needless_range_loop, reason = "the index is that of a block in every lane")]
mod x86_avx2;
#[cfg(target_arch = "x86_64")]
#[expect(clippy::needless_range_loop, reason = "the index is that of a block in every lane")]
mod x86_avx512;
#[cfg(target_arch = "x86_64")]
mod x86_lanes;
#[cfg(target_arch = "x86_64")]
mod x86_md5;
#[cfg(target_arch = "x86_64")]
mod x86_shani;

/// One family of kernels, named after its instructions, that this processor supports.
///
/// Its SHA-256 kernel determines its place. If the instructions also serve SHA-512 or MD5, it has
/// kernels for them as well.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Backend {
    // Private, and made only by `BackendKind::detected`, so that a `Backend` proves the detection.
    kind: BackendKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
enum BackendKind {
    #[cfg(target_arch = "x86_64")]
    X86Shani,
    #[cfg(target_arch = "x86_64")]
    X86Avx512,
    #[cfg(target_arch = "x86_64")]
    X86Avx2,
    #[cfg(target_arch = "aarch64")]
    Aarch64Sha2,
    Portable,
}

impl BackendKind {
    /// The kernels built for this architecture, the best for a single message first.
    const ALL: &'static [BackendKind] = BackendKind::VARIANTS;

    fn detected(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            BackendKind::X86Shani => x86_shani::detected(),
            #[cfg(target_arch = "x86_64")]
            BackendKind::X86Avx512 => x86_avx512::detected(),
            #[cfg(target_arch = "x86_64")]
            BackendKind::X86Avx2 => x86_avx2::detected(),
            #[cfg(target_arch = "aarch64")]
            BackendKind::Aarch64Sha2 => aarch64_sha2::detected(),
            BackendKind::Portable => true,
        }
    }

    fn name(self) -> &'static str {
        self.into()
    }
}

impl Backend {
    /// The names of all backends, including those of other architectures.
    pub const ALL_NAMES: &'static [&'static str] =
        &["portable", "x86_shani", "x86_avx2", "x86_avx512", "aarch64_sha2"];

    /// The most lanes that any backend has.
    pub const LANES_MAX: usize = 16;

    /// Returns the backend that is best for a single message on this processor.
    pub fn detect() -> Backend {
        let kind = BackendKind::ALL.iter().copied().find(|kind| kind.detected());
        Backend { kind: kind.expect("the portable kernel runs everywhere") }
    }

    /// Lists every backend that this processor supports, the best for a single message first.
    pub fn detected() -> impl Iterator<Item = Backend> {
        let kinds = BackendKind::ALL.iter().copied().filter(|kind| kind.detected());
        kinds.map(|kind| Backend { kind })
    }

    /// Finds a backend by its name.
    ///
    /// # Errors
    /// If no backend has that name, or this processor does not support it. Another one is never
    /// used instead.
    pub fn named(name: &str) -> Result<Backend, Error> {
        let found = Backend::detected().find(|backend| backend.name() == name);
        found.ok_or_else(|| {
            let (kind, why) = match Backend::ALL_NAMES.contains(&name) {
                true => (
                    ErrorKind::BackendNotDetected,
                    format!("backend `{name}` does not run on this processor"),
                ),
                false => (ErrorKind::UnknownBackend, format!("no backend is named `{name}`")),
            };
            Error::with_choices(kind, why + "; available here: ", Backend::detected())
        })
    }

    /// Returns the name, which is the same in files, flags, reports, tests and benches.
    pub fn name(self) -> &'static str {
        self.kind.name()
    }

    /// Lists how many messages a SHA-256 kernel of this backend can advance, ascending from 1.
    pub fn lane_choices(self) -> &'static [usize] {
        match self.kind {
            #[cfg(target_arch = "x86_64")]
            BackendKind::X86Shani => x86_shani::LANE_CHOICES,
            #[cfg(target_arch = "x86_64")]
            BackendKind::X86Avx512 => x86_avx512::sha256::LANE_CHOICES,
            #[cfg(target_arch = "x86_64")]
            BackendKind::X86Avx2 => x86_avx2::sha256::LANE_CHOICES,
            #[cfg(target_arch = "aarch64")]
            BackendKind::Aarch64Sha2 => aarch64_sha2::LANE_CHOICES,
            BackendKind::Portable => portable::LANE_CHOICES,
        }
    }

    /// Returns the largest of [`Backend::lane_choices`].
    pub fn lanes_max(self) -> usize {
        self.lane_choices().last().copied().expect("every backend has a kernel")
    }

    /// Lists how many messages a SHA-512 kernel of this backend can advance, ascending from 1.
    pub(crate) fn sha512_lane_choices(self) -> &'static [usize] {
        match self.kind {
            #[cfg(target_arch = "x86_64")]
            BackendKind::X86Avx512 => x86_avx512::sha512::LANE_CHOICES,
            #[cfg(target_arch = "x86_64")]
            BackendKind::X86Avx2 => x86_avx2::sha512::LANE_CHOICES,
            _ => library::LANE_CHOICES,
        }
    }

    /// Returns the number of messages from which this backend's SHA-512 lanes are faster than the
    /// library.
    pub(crate) fn sha512_wide_from(self) -> usize {
        match self.kind {
            #[cfg(target_arch = "x86_64")]
            BackendKind::X86Avx2 => x86_avx2::sha512::WIDE_FROM,
            _ => 0,
        }
    }

    /// Lists how many messages an MD5 kernel of this backend can advance, ascending from 1.
    pub(crate) fn md5_lane_choices(self) -> &'static [usize] {
        match self.kind {
            #[cfg(target_arch = "x86_64")]
            BackendKind::X86Avx512 => x86_avx512::md5::LANE_CHOICES,
            #[cfg(target_arch = "x86_64")]
            BackendKind::X86Avx2 => x86_avx2::md5::LANE_CHOICES,
            _ => library::LANE_CHOICES,
        }
    }

    /// Compresses SHA-256 blocks; shape and panics as in `Compression::compress`.
    ///
    /// Units: one block is 64 bytes.
    /// Source: FIPS 180-4 (2015), section 6.2.2.
    #[expect(unsafe_code, reason = "the dispatch calls")]
    pub(crate) fn compress_sha256(self, states: &mut [sha256::State], blocks: &[&[sha256::Block]]) {
        debug_assert!(blocks.iter().all(|lane| lane.len() == blocks[0].len()));
        match self.kind {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kind is in a `Backend` only if `x86_shani::detected()` held.
            BackendKind::X86Shani => unsafe { x86_shani::compress(states, blocks) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kind is in a `Backend` only if `x86_avx512::detected()` held.
            BackendKind::X86Avx512 => unsafe { x86_avx512::sha256::compress(states, blocks) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kind is in a `Backend` only if `x86_avx2::detected()` held.
            BackendKind::X86Avx2 => unsafe { x86_avx2::sha256::compress(states, blocks) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: this kind is in a `Backend` only if `aarch64_sha2::detected()` held.
            BackendKind::Aarch64Sha2 => unsafe { aarch64_sha2::compress(states, blocks) },
            BackendKind::Portable => portable::compress(states, blocks),
        }
    }

    /// Compresses SHA-512 blocks; shape and panics as in `Compression::compress`.
    ///
    /// Units: one block is 128 bytes.
    /// Source: FIPS 180-4 (2015), section 6.4.2.
    #[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the dispatch calls"))]
    pub(crate) fn compress_sha512(self, states: &mut [sha512::State], blocks: &[&[sha512::Block]]) {
        debug_assert!(blocks.iter().all(|lane| lane.len() == blocks[0].len()));
        match self.kind {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kind is in a `Backend` only if `x86_avx512::detected()` held.
            BackendKind::X86Avx512 => unsafe { x86_avx512::sha512::compress(states, blocks) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kind is in a `Backend` only if `x86_avx2::detected()` held.
            BackendKind::X86Avx2 => unsafe { x86_avx2::sha512::compress(states, blocks) },
            _ => library::compress_sha512(states, blocks),
        }
    }

    /// Compresses MD5 blocks; shape and panics as in `Compression::compress`.
    ///
    /// Units: one block is 64 bytes.
    /// Source: RFC 1321 (1992), section 3.4.
    #[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the dispatch calls"))]
    pub(crate) fn compress_md5(self, states: &mut [md5::State], blocks: &[&[md5::Block]]) {
        debug_assert!(blocks.iter().all(|lane| lane.len() == blocks[0].len()));
        match self.kind {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kind is in a `Backend` only if `x86_avx512::detected()` held.
            BackendKind::X86Avx512 => unsafe { x86_avx512::md5::compress(states, blocks) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kind is in a `Backend` only if `x86_avx2::detected()` held.
            BackendKind::X86Avx2 => unsafe { x86_avx2::md5::compress(states, blocks) },
            _ => library::compress_md5(states, blocks),
        }
    }
}

impl Default for Backend {
    fn default() -> Backend {
        Backend::detect()
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Backend({})", self.name())
    }
}
