//! The operating system, safely: files, reads in flight, attributes, the page cache, clocks,
//! storage, the machine, its load, energy and sleep, core types, QoS, standard streams.
//!
//! Each topic is one module with a file per system beneath it; `cfg(target_os)` appears nowhere
//! else in the project. What a system cannot do is [`std::io::ErrorKind::Unsupported`], never a
//! silent no-op. This crate imports no other crate of the project.

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("steadfast runs on Linux and macOS");

#[cfg(any(target_os = "macos", test))]
mod darwin;
#[cfg(target_os = "macos")]
mod sysctl;
#[cfg(target_os = "linux")]
mod kernel_files;
#[cfg(target_os = "linux")]
mod mounts;
pub mod file;
pub use steadfast_time::names;
pub mod xattr;
pub mod streams;
pub mod cache;
pub mod source;
pub mod uring;
pub mod clock;
pub mod energy;
pub mod load;
pub mod heap;
pub mod machine;
pub mod cores;
pub mod storage;
pub mod awake;
pub mod qos;
pub mod process;
#[cfg(feature = "crypto")]
pub mod crypto;
#[cfg(feature = "sqlite")]
pub mod sqlite;
