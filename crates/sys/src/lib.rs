//! The operating system, safely: files, reads in flight, attributes, the page cache, clocks,
//! storage, the machine, its load, core types, QoS, standard streams.
//!
//! In come paths, names and descriptors; out go bytes and facts as the system gave them. Each
//! topic is one contract with a file per system beside it, and `cfg(target_os)` appears nowhere
//! else in the project. What a system cannot do is [`std::io::ErrorKind::Unsupported`], never a
//! silent no-op. This crate knows no other crate of the project: not what a tag is, nor a digest,
//! nor why anything is read.

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("steadfast runs on Linux and macOS");

pub mod cache;
pub mod clock;
pub mod cores;
#[cfg(feature = "crypto")]
pub mod crypto;
pub mod file;
pub mod load;
pub mod machine;
pub mod qos;
pub mod source;
pub mod storage;
pub mod streams;
pub mod uring;
pub mod xattr;

#[cfg(target_os = "macos")]
mod sysctl;
