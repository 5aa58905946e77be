//! Computes digests, as fast as this processor allows.
//!
//! In: bytes, and a choice of algorithm, backend and lane count. Out: digests. Must not know files,
//! tags, threads or clocks. SHA-256, SHA-512 and MD5 are implemented here, in kernels that advance
//! several messages at once; the other algorithms come from libraries.
//!
//! ```
//! use steadfast_digest::{Backend, Lanes, Message, Sha256, sha256};
//!
//! let lanes = Lanes::best(Backend::detect());
//! let mut first = Sha256::new(lanes.backend());
//! let mut second = Sha256::new(lanes.backend());
//! lanes.update(&mut [
//!     Message { hasher: &mut first, data: b"abc", last: true },
//!     Message { hasher: &mut second, data: b"", last: true },
//! ]);
//! assert_eq!(first.digest(), sha256(b"abc"));
//! assert_eq!(second.digest(), sha256(b""));
//! ```

mod error;
mod algorithm;
mod digest;
mod state;
mod backend;
mod rules;
mod hasher;
mod lanes;
mod fletcher;
mod algorithm_hasher;
mod messages;
mod pages;

pub use algorithm::Algorithm;
pub use algorithm_hasher::AlgorithmHasher;
pub use backend::Backend;
pub use digest::{Digest, PageDigest};
pub use error::{Error, ErrorKind};
pub use hasher::{BlockHasher, Md5, Sha256, Sha512, sha256};
pub use lanes::{Lanes, LanesOf, Md5Lanes, Message, Sha512Lanes};
pub use messages::Messages;
pub use pages::{LastPage, PageHasher, page_digests};
pub use rules::{Md5Rules, Rules, Sha256Rules, Sha512Rules};
