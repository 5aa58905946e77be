//! What a server is asked for: roots, an address, who may come in, and how long it waits.
//!
//! In: nothing. Out: plain values with defaults that need no thought.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use steadfast_measure::workload::cipher::WorkerCommand;

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    English,
    /// German.
    German,
}

impl Language {
    /// Every language, in the order in which they are offered.
    pub const ALL: [Language; 2] = [Language::English, Language::German];

    /// Returns the tag by which browsers name it.
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::German => "de",
        }
    }

    /// Finds the language of a tag, whatever its region.
    pub fn named(tag: &str) -> Option<Language> {
        let primary = tag.trim().split('-').next().unwrap_or_default();
        Language::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }

    /// Chooses by a browser's wishes, as `de-AT,de;q=0.9,en;q=0.8`; English if none is spoken.
    pub fn wished(header: &str) -> Language {
        let mut best = (Language::English, 0.0_f32);
        for wish in header.split(',').take(32) {
            let (tag, weight) = wish.split_once(';').unwrap_or((wish, "q=1"));
            let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok());
            let weight: f32 = weight.unwrap_or(0.0);
            // Of equal wishes the first counts.
            if weight > best.1
                && let Some(language) = Language::named(tag)
            {
                best = (language, weight);
            }
        }
        best.0
    }
}

/// Certificates and their key, as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Tls {
    /// The certificate of this server and those above it, in that order.
    pub certificates: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(..)")
    }
}

/// How long and how much a client may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time; further ones wait to be accepted.
    pub connections: usize,
    /// Time for the head of a request, also that of the next one on the same connection.
    pub head: Duration,
    /// Time in which a client that is to send or to take bytes moves none.
    pub stall: Duration,
    /// Bytes of a form.
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

/// What a server is asked for.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folders that are served, and nothing else is.
    pub roots: Vec<PathBuf>,
    /// Where to listen; port 0 for any that is free.
    pub listen: SocketAddr,
    /// An argon2 hash in PHC form of the password that lets a browser in, beside the token.
    pub password_hash: Option<String>,
    /// What to speak TLS with.
    pub tls: Option<Tls>,
    /// Names, beside the address itself, by which browsers reach this server.
    pub hosts: Vec<String>,
    /// The origin that browsers see, as `https://nas.example`, where a proxy stands in front.
    pub proxy_origin: Option<String>,
    /// The language of all pages; `None` for each browser's own wish.
    pub language: Option<Language>,
    /// Where records of measurements are kept and found, if anywhere.
    pub records: Option<PathBuf>,
    /// The list of catalogued trees, by which runs notice a catalogue that was deleted.
    pub trees: Option<PathBuf>,
    /// What records of measurements say of who made them: program, version, system.
    pub made_by: String,
    /// What starts the process that times ciphers, if they are to be measured.
    pub worker: Option<WorkerCommand>,
    /// After how long the server ends by itself if nobody is connected and no run is under way.
    pub ends_when_idle: Option<Duration>,
    /// How long and how much a client may take.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            roots: Vec::new(),
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            password_hash: None,
            tls: None,
            hosts: Vec::new(),
            proxy_origin: None,
            language: None,
            records: None,
            trees: None,
            made_by: format!("steadfast {}", env!("CARGO_PKG_VERSION")),
            worker: None,
            ends_when_idle: None,
            limits: Limits::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_wish_that_is_spoken_counts() {
        for (header, language) in [
            ("", Language::English),
            ("de", Language::German),
            ("de-AT,de;q=0.9,en;q=0.8", Language::German),
            ("fr,en;q=0.5,de;q=0.4", Language::English),
            ("fr,en;q=0.3,de;q=0.4", Language::German),
            ("de; q=0.9", Language::German),
            ("*;q=junk,,;q=", Language::English),
        ] {
            assert_eq!(Language::wished(header), language, "{header}");
        }
    }
}
