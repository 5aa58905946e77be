//! What a record says of the machine, the clock and the folders.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use steadfast::Backend;
use steadfast::qos::{Level, Process};
use steadfast_sys::{machine, qos};

/// What it was measured on. Nothing here names a person or a network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Model of the processor, or `unknown`.
    pub cpu: String,
    /// Logical processors that could be used.
    pub logical_cpus: u32,
    /// Types of cores, fastest first; empty where the system does not tell them apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub core_types: Vec<CoreType>,
    /// Backends of SHA-256 that the processor has.
    pub backends: Vec<String>,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Operating system with version and build.
    pub os: String,
    /// What the machine runs in, if it is a virtual one and says so: `kvm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_machine: Option<String>,
    /// Policy by which the processor's frequency is chosen, if the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// `mains` or `battery`, if the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<String>,
    /// What else the machine did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
}

impl Machine {
    /// Looks at the machine. Its load is not looked at: that takes two looks.
    pub fn examine() -> Machine {
        Machine {
            cpu: machine::cpu_model(),
            logical_cpus: u32::try_from(machine::logical_cpus()).unwrap_or(u32::MAX),
            core_types: Vec::new(),
            backends: Backend::detected().map(|backend| backend.name().to_owned()).collect(),
            memory_bytes: machine::memory_bytes(),
            os: machine::os_version(),
            virtual_machine: machine::virtual_machine(),
            governor: machine::governor(),
            power: machine::on_mains()
                .map(|mains| if mains { "mains" } else { "battery" }.to_owned()),
            load: None,
        }
    }
}

/// The QoS level that a session was made at.
///
/// Series with a level of their own, as those of `hash --part levels`, keep it in their factors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionLevel {
    /// Number of the level that the command was run at, as by `qos run`; absent if none was asked
    /// for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<u8>,
    /// Number of the level that comes closest to the settings; absent if the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<u8>,
    /// Settings of the thread that measured, in words: scheduling class, nice value, I/O priority,
    /// processors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// What the requested level asks for and the thread does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

impl SessionLevel {
    /// Looks at the calling thread. `requested` is the level that the command was run at.
    pub fn examine(requested: Option<Level>) -> SessionLevel {
        let own = Process::find(std::process::id()).and_then(|process| process.level());
        SessionLevel {
            requested: requested.map(Level::number),
            effective: own.ok().map(Level::number),
            settings: qos::thread_facts().into_iter().map(|fact| fact.value).collect(),
            refused: requested.map(qos::lacking).unwrap_or_default(),
        }
    }

    /// Returns whether it was made below the default level.
    pub fn is_lowered(&self) -> bool {
        self.effective.is_some_and(|level| level < Level::Default.number())
    }
}

/// A class of cores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoreType {
    /// The system's name for it.
    pub name: String,
    /// Logical processors of this type.
    pub logical_cpus: u32,
}

/// What else the machine did, before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Processes that ran or wanted to, over a minute, before the first sample.
    pub before: f64,
    /// The same after the last; this program's own threads are among them.
    pub after: f64,
    /// Processor time that the host gave to others meanwhile, in nanoseconds, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_ns: Option<u64>,
}

/// What time was taken with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Name of the clock.
    pub name: String,
    /// Smallest step that was seen, in nanoseconds.
    pub resolution_ns: u64,
    /// Median time that timing nothing takes, in nanoseconds. It is in every sample.
    pub overhead_ns: u64,
}

/// A folder, and what holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The folder, as it was named.
    pub path: String,
    /// File system by the system's name for it.
    pub file_system: String,
    /// Options it is mounted with, if the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_options: Option<String>,
    /// Device, with its model where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// `rotating`, `solid` or `virtual`, if the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<String>,
    /// Link to the device, with the speed it was negotiated at, if the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Bytes per second that the link cannot exceed, if the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_s_max: Option<u64>,
    /// What enciphers it, as far as can be seen: `fscrypt`, `dm-crypt`, `fuse.gocryptfs`, `none
    /// seen`.
    pub encryption: String,
    /// Alignment that direct reads need, in bytes; 0 where the file system reads through the page
    /// cache whatever is asked; absent where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_alignment_bytes: Option<u32>,
    /// Room left before measuring, in bytes.
    pub free_bytes: u64,
    /// Whole size, in bytes.
    pub total_bytes: u64,
}
