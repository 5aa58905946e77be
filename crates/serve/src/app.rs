//! What all requests share: the roots, the runs, who is in, and what the server is called.
//!
//! In: a configuration. Out: one value behind an `Arc`, which handlers take as their state.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use crate::address::Address;
use crate::config::{Config, Limits};
use crate::drops::Drops;
use crate::error::Error;
use crate::fields::encode;
use crate::measuring::Measurements;
use crate::pages::home::Facts;
use crate::roots::{Place, Roots};
use crate::runs::Runs;
use crate::session::{Secret, Sessions, Tickets};
use crate::shelf::Shelf;

/// Passwords that wait to be tried, at most.
const TRIES_MAX: usize = 16;

/// Handfuls of paths that are remembered; a page that shows an earlier one has been shown.
const GIVEN_MAX: usize = 32;

/// Applications, comparisons and drops that are looked at, at a time.
const HEAVY_MAX: usize = 2;

/// Files and records that are sent, at a time.
const TAKES_MAX: usize = 8;

/// Handfuls of places, each under its number, and the number of the last.
type Given = (u64, VecDeque<(u64, Arc<[Place]>)>);

/// What all requests share.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) address: Address,
    pub(crate) roots: Roots,
    pub(crate) runs: Runs,
    pub(crate) drops: Drops,
    pub(crate) measurements: Measurements,
    pub(crate) shelf: Shelf,
    /// Whose turn it is with what takes a processor for seconds.
    pub(crate) heavy: Arc<Semaphore>,
    /// Who may send bytes that are no form, at the same time.
    pub(crate) takes: Semaphore,
    pub(crate) sessions: Sessions,
    /// What the catalogues of the roots said a moment ago.
    pub(crate) facts: Facts,
    /// Who may wait for a password to be tried, and whose turn it is: one after another.
    pub(crate) tries: (Semaphore, Semaphore),
    pub(crate) tickets: Tickets,
    /// What was handed over, by number: more paths than an address holds.
    given: Mutex<Given>,
    token: Secret,
    bound: SocketAddr,
}

impl App {
    /// Gathers it for a server that listens at `bound`.
    ///
    /// # Errors
    /// If a root is no folder, or what is asked for makes no sense.
    pub(crate) fn new(config: Config, bound: SocketAddr) -> Result<App, Error> {
        Ok(App {
            address: Address::of(&config, bound)?,
            roots: Roots::new(&config.roots)?,
            runs: Runs::default(),
            drops: Drops::default(),
            measurements: Measurements::default(),
            shelf: Shelf::default(),
            heavy: Arc::new(Semaphore::new(HEAVY_MAX)),
            takes: Semaphore::new(TAKES_MAX),
            sessions: Sessions::default(),
            facts: Facts::default(),
            tries: (Semaphore::new(TRIES_MAX), Semaphore::new(1)),
            tickets: Tickets::default(),
            given: Mutex::default(),
            token: Secret::random()?,
            config,
            bound,
        })
    }

    /// Returns the address that lets a browser in.
    pub(crate) fn entrance(&self) -> String {
        format!("{}/enter?token={}", self.base(), self.token.letters())
    }

    /// Returns the address that lets a browser in and leads on to a page.
    pub(crate) fn entrance_to(&self, page: &str) -> String {
        format!("{}&to={}", self.entrance(), encode(page.as_bytes()))
    }

    /// Returns the address of a page, which lets nobody in by itself.
    pub(crate) fn page_address(&self, page: &str) -> String {
        format!("{}{page}", self.base())
    }

    /// Returns an address that lets one browser in, once and soon, and leads it on to a page.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub(crate) fn ticket_to(&self, page: &str) -> Result<String, Error> {
        let ticket = self.tickets.issue()?;
        let page = encode(page.as_bytes());
        Ok(format!("{}/enter?ticket={}&to={page}", self.base(), ticket.letters()))
    }

    /// Returns the page that shows paths; `None` if one is beneath no root. A folder is to be
    /// checked or tagged; files are looked up.
    pub(crate) fn page_of(&self, paths: &[PathBuf]) -> Option<String> {
        let places: Option<Vec<Place>> =
            paths.iter().map(|path| self.roots.place_of(path)).collect();
        let places = places?;
        Some(match places.as_slice() {
            [] => "/".to_owned(),
            [place] if self.roots.path(place).is_dir() => {
                format!("/run?place={}", place.query())
            }
            places => format!("/drop?given={}", self.give(places)),
        })
    }

    /// Keeps places under a number, since an address has no room for many.
    fn give(&self, places: &[Place]) -> u64 {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.0 += 1;
        let number = given.0;
        if given.1.len() >= GIVEN_MAX {
            given.1.pop_front();
        }
        given.1.push_back((number, places.into()));
        number
    }

    /// Returns what was kept under a number.
    pub(crate) fn given(&self, number: u64) -> Option<Arc<[Place]>> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.1.iter().find(|(other, _)| *other == number).map(|(_, places)| Arc::clone(places))
    }

    /// Says whether this is the token of the entrance.
    pub(crate) fn is_token(&self, shown: &str) -> bool {
        self.token.is(shown)
    }

    /// Returns how long and how much a client may take here: connections and what a run opens
    /// share the system's limit on open files.
    pub(crate) fn limits(&self) -> Limits {
        let limits = self.config.limits;
        let open_files = steadfast::raise_open_files_limit().unwrap_or(1024);
        let connections = usize::try_from(open_files / 16).unwrap_or(usize::MAX).max(32);
        Limits { connections: limits.connections.min(connections), ..limits }
    }

    /// The origin by which its owner reaches it.
    fn base(&self) -> String {
        if let Some(origin) = &self.config.proxy_origin {
            return origin.trim_end_matches('/').to_owned();
        }
        let scheme = if self.config.tls.is_some() { "https" } else { "http" };
        match self.config.hosts.first() {
            Some(host) => format!("{scheme}://{host}:{}", self.bound.port()),
            None => format!("{scheme}://{}", self.bound),
        }
    }
}
