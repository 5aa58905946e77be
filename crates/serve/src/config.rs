//! The configuration: roots, address, authentication and limits, with safe defaults.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use steadfast_measure::workload::Workload;

use crate::automation::Automation;

/// Certificates and their key in PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Tls {
    /// The certificate of this server, followed by its issuers.
    pub certificates: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(..)")
    }
}

/// Limits of time and size for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time. Further ones wait to be accepted.
    pub connections: usize,
    /// Time for the head of a request, also of the next one on the same connection.
    pub head: Duration,
    /// Longest time in which a client sends or takes no byte.
    pub stall: Duration,
    /// Longest form in bytes.
    pub form_len: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 512,
            head: Duration::from_secs(20),
            stall: Duration::from_secs(20),
            form_len: 64 << 10,
        }
    }
}

impl Limits {
    /// Returns these limits with shorter times.
    pub(crate) fn hastened(self, time: Duration) -> Limits {
        Limits { head: self.head.min(time), stall: self.stall.min(time), ..self }
    }
}

/// Where a server is reached, if not at its own address alone.
#[derive(Clone, Debug, Default)]
pub struct PublicAddress {
    /// Further host names by which browsers reach this server.
    pub hosts: Vec<String>,
    /// The origin of a proxy in front of this server, such as `https://nas.example`.
    pub proxy_origin: Option<String>,
    /// The path of the proxy's site beneath which the pages lie, such as `/steadfast`, or nothing.
    pub base_path: String,
}

/// Makes a workload of the arguments of `steadfast measure`. `None` if it cannot be measured.
pub type MakeWorkload = fn(&[OsString]) -> Option<Box<dyn Workload>>;

/// The configuration of a server.
#[derive(Clone, Debug)]
// Over 15 fields: each is one setting of the verb that starts it.
pub struct Config {
    /// The served folders. Nothing outside them is served.
    pub roots: Vec<PathBuf>,
    /// Single files to serve, beside the folders. Nothing else in their folders is served.
    pub files: Vec<PathBuf>,
    /// Where to listen. Port 0 is any free port.
    pub listen: SocketAddr,
    /// The Argon2 hash, in PHC form, of a password that lets a browser in like the token.
    pub password_hash: Option<String>,
    /// The certificates for TLS.
    pub tls: Option<Tls>,
    /// Where it is reached.
    pub public: PublicAddress,
    /// The folder of records of measurements.
    pub records: Option<PathBuf>,
    /// The list of catalogued trees, by which runs detect a deleted catalogue.
    pub trees: Option<PathBuf>,
    /// Whether runs ignore change times: `Options::ignore_change_times`.
    pub ignore_change_times: bool,
    /// Where schedules and alerts are kept, and what timers depend on. `None` offers neither.
    pub automation: Option<Automation>,
    /// Whether pages of a server that others reach may send alerts into its own network.
    pub alerts_within: bool,
    /// What requests for `/metrics` without a session must show, as a bearer token.
    pub metrics_token: Option<String>,
    /// The program, version and system that records of measurements name.
    pub made_by: String,
    /// Makes what `steadfast measure` with these arguments measures.
    pub workload: MakeWorkload,
    /// Ends the server after this time without connections and runs.
    pub ends_when_idle: Option<Duration>,
    /// Limits for clients.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            roots: Vec::new(),
            files: Vec::new(),
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            password_hash: None,
            tls: None,
            public: PublicAddress::default(),
            records: None,
            trees: None,
            ignore_change_times: false,
            automation: None,
            alerts_within: false,
            metrics_token: None,
            made_by: format!("steadfast {}", env!("CARGO_PKG_VERSION")),
            workload: |_| None,
            ends_when_idle: None,
            limits: Limits::default(),
        }
    }
}
