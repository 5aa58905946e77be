//! Authentication: the token of the printed address, tickets, a password, and sessions.
//!
//! In: what a browser presents. Out: a session, or none. Secrets are 32 random bytes, compared in
//! constant time and kept only in memory. Knows nothing of pages.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;
use tokio::sync::{Semaphore, watch};

use crate::error::Error;
use crate::lock::lock;

/// Sessions at a time. A further one ends the oldest.
const SESSIONS_MAX: usize = 256;

/// How long a session lasts without a request, and how long at most: also without one if only this
/// computer reaches the server.
const IDLE_LIFE: Duration = Duration::from_secs(24 * 3600);
pub(crate) const WHOLE_LIFE: Duration = Duration::from_secs(30 * 24 * 3600);

/// How long a ticket is valid: enough for a browser that starts slowly.
const TICKET_LIFE: Duration = Duration::from_secs(60);

/// A secret of 32 random bytes, encoded in characters that an address may contain.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    /// Makes one.
    ///
    /// # Errors
    /// If the system returns no random bytes.
    pub(crate) fn random() -> Result<Secret, Error> {
        let mut bytes = [0; 32];
        let refused = |error: getrandom::Error| std::io::Error::other(error.to_string());
        let filled = getrandom::fill(&mut bytes);
        filled.map_err(|error| Error::system("make a random token", refused(error)))?;
        Ok(Secret(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Takes one that the owner chose.
    pub(crate) fn of(letters: &str) -> Secret {
        Secret(letters.to_owned())
    }

    /// Returns its encoding. Show it to the owner of the secret only.
    pub(crate) fn letters(&self) -> &str {
        &self.0
    }

    /// Compares in constant time.
    pub(crate) fn is(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

/// The secret of the printed address, which lets one browser in, whenever it comes.
pub(crate) struct EntranceToken {
    secret: Secret,
    is_used: AtomicBool,
}

impl EntranceToken {
    /// Makes one.
    ///
    /// # Errors
    /// If the system returns no random bytes.
    pub(crate) fn new() -> Result<EntranceToken, Error> {
        Ok(EntranceToken { secret: Secret::random()?, is_used: AtomicBool::new(false) })
    }

    /// Returns its encoding.
    pub(crate) fn letters(&self) -> &str {
        self.secret.letters()
    }

    /// Uses it up; returns whether it was valid.
    pub(crate) fn redeem(&self, shown: &str) -> bool {
        self.secret.is(shown) && !self.is_used.swap(true, Ordering::AcqRel)
    }
}

/// Secrets that each let one browser in, once and within a minute.
#[derive(Default)]
pub(crate) struct Tickets(Mutex<Vec<(Secret, Instant)>>);

impl Tickets {
    /// Makes one.
    ///
    /// # Errors
    /// If the system returns no random bytes.
    pub(crate) fn issue(&self) -> Result<Secret, Error> {
        let ticket = Secret::random()?;
        let mut tickets = lock(&self.0);
        tickets.push((ticket.clone(), Instant::now()));
        Ok(ticket)
    }

    /// Removes a ticket; returns whether it was valid.
    pub(crate) fn redeem(&self, shown: &str) -> bool {
        let mut tickets = lock(&self.0);
        tickets.retain(|(_, issued)| issued.elapsed() < TICKET_LIFE);
        let before = tickets.len();
        tickets.retain(|(ticket, _)| !ticket.is(shown));
        tickets.len() < before
    }
}

/// Clients whose password attempts are kept apart. Further ones share a lane.
const LANES_MAX: usize = 256;

/// Password attempts of one client that may wait.
const LANE_LEN_MAX: usize = 4;

/// The password attempts of one client: few wait, and one is tried after another.
pub(crate) struct PasswordLane {
    pub(crate) queue: Semaphore,
    pub(crate) turn: Semaphore,
}

/// The password attempts of all clients, by address, so that the wrong passwords of one do not hold
/// up another.
#[derive(Default)]
pub(crate) struct PasswordLanes(Mutex<HashMap<IpAddr, Arc<PasswordLane>>>);

impl PasswordLanes {
    /// Returns the lane of a client.
    pub(crate) fn of(&self, client: IpAddr) -> Arc<PasswordLane> {
        let mut lanes = lock(&self.0);
        if lanes.len() >= LANES_MAX {
            lanes.retain(|_, lane| Arc::strong_count(lane) > 1);
        }
        let is_crowded = lanes.len() >= LANES_MAX && !lanes.contains_key(&client);
        let client = if is_crowded { Ipv6Addr::UNSPECIFIED.into() } else { client };
        let new = || PasswordLane { queue: Semaphore::new(LANE_LEN_MAX), turn: Semaphore::new(1) };
        Arc::clone(lanes.entry(client).or_insert_with(|| Arc::new(new())))
    }
}

/// A browser that was let in.
pub(crate) struct BrowserSession {
    key: Secret,
    /// The token that its forms carry, so that no other page can post in its name.
    pub(crate) csrf: Secret,
    begun: Instant,
    seen: Mutex<Instant>,
    over: watch::Sender<bool>,
}

impl BrowserSession {
    /// Returns whether its time is over at a moment.
    fn has_expired(&self, now: Instant, idle_life: Duration) -> bool {
        let idle = now.saturating_duration_since(*lock(&self.seen));
        idle > idle_life || now.saturating_duration_since(self.begun) > WHOLE_LIFE
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&self) {
        // Cannot fail: the session owns the sender.
        let _ = self.over.subscribe().wait_for(|over| *over).await;
    }
}

/// The browsers that were let in.
pub(crate) struct Sessions {
    all: Mutex<VecDeque<Arc<BrowserSession>>>,
    idle_life: Duration,
}

impl Sessions {
    /// Makes an empty list. Sessions outlast closed browsers if only this computer `is_near`.
    pub(crate) fn new(is_near: bool) -> Sessions {
        let idle_life = if is_near { WHOLE_LIFE } else { IDLE_LIFE };
        Sessions { all: Mutex::default(), idle_life }
    }

    /// Begins a session and returns the value of its cookie.
    pub(crate) fn begin(&self) -> Result<String, Error> {
        let session = BrowserSession {
            key: Secret::random()?,
            csrf: Secret::random()?,
            begun: Instant::now(),
            seen: Mutex::new(Instant::now()),
            over: watch::Sender::new(false),
        };
        let key = session.key.letters().to_owned();
        let mut sessions = lock(&self.all);
        if sessions.len() >= SESSIONS_MAX {
            sessions.pop_front().into_iter().for_each(|first| {
                first.over.send_replace(true);
            });
        }
        sessions.push_back(Arc::new(session));
        Ok(key)
    }

    /// Finds the session of a cookie.
    pub(crate) fn find(&self, key: &str) -> Option<Arc<BrowserSession>> {
        self.find_at(key, Instant::now())
    }

    fn find_at(&self, key: &str, now: Instant) -> Option<Arc<BrowserSession>> {
        let mut sessions = lock(&self.all);
        sessions.retain(|session| {
            let expired = session.has_expired(now, self.idle_life);
            if expired {
                session.over.send_replace(true);
            }
            !expired
        });
        // Compares with all of them, so that the time does not depend on which one it is.
        let mut found = None;
        for session in sessions.iter() {
            if session.key.is(key) {
                *lock(&session.seen) = now;
                found = Some(Arc::clone(session));
            }
        }
        found
    }

    /// Ends a session.
    pub(crate) fn end(&self, session: &Arc<BrowserSession>) {
        let mut sessions = lock(&self.all);
        sessions.retain(|other| !Arc::ptr_eq(other, session));
        session.over.send_replace(true);
    }
}

/// Makes the hash of a password that [`crate::Config::password_hash`] wants.
///
/// # Errors
/// If the system returns no random bytes.
pub fn hash_password(password: &str) -> Result<String, Error> {
    let hash = Argon2::default().hash_password(password.as_bytes());
    let hash = hash.map_err(|error| Error::usage(format!("the password: {error}")))?;
    Ok(hash.to_string())
}

/// Checks that a text is a hash of the form that [`hash_password`] makes.
pub(crate) fn ensure_hash(hash: &str) -> Result<(), Error> {
    let parsed = PasswordHash::new(hash);
    let is_argon2 = parsed.is_ok_and(|parsed| parsed.algorithm.as_str().starts_with("argon2"));
    match is_argon2 {
        true => Ok(()),
        false => Err(Error::usage("the password's hash is not one of argon2")),
    }
}

/// Compares a password with a hash. Takes tens of milliseconds on purpose.
pub(crate) fn is_password(hash: &str, password: &str) -> bool {
    let Ok(parsed) = PasswordHash::new(hash) else { return false };
    Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_its_key_alone() {
        let sessions = Sessions::new(false);
        let (one, two) = (sessions.begin().unwrap(), sessions.begin().unwrap());
        assert_ne!(one, two);
        assert_eq!(one.len(), 43);
        let found = sessions.find(&one).unwrap();
        assert!(sessions.find(&one[1..]).is_none());
        assert!(sessions.find("").is_none());
        sessions.end(&found);
        assert!(sessions.find(&one).is_none());
        assert!(sessions.find(&two).is_some());
    }

    #[test]
    fn wrong_passwords_of_one_client_do_not_hold_up_another() {
        let lanes = PasswordLanes::default();
        let client = |last| IpAddr::from([192, 0, 2, last]);
        let (one, other) = (lanes.of(client(1)), lanes.of(client(2)));
        let waiting: Vec<_> = (0..LANE_LEN_MAX).map(|_| one.queue.try_acquire().unwrap()).collect();
        assert!(lanes.of(client(1)).queue.try_acquire().is_err());
        assert!(other.queue.try_acquire().is_ok());
        drop(waiting);
        // However many clients there are, memory is bounded, and lanes in use stay.
        let held: Vec<_> = (0..=255).map(|last| lanes.of(client(last))).collect();
        let shared = lanes.of(IpAddr::from([198, 51, 100, 1]));
        assert!(Arc::ptr_eq(&shared, &lanes.of(IpAddr::from([198, 51, 100, 2]))));
        drop(held);
        assert!(lock(&lanes.0).len() <= LANES_MAX + 1);
    }

    #[test]
    fn a_session_ends_after_its_time() {
        let sessions = Sessions::new(false);
        let key = sessions.begin().unwrap();
        let start = Instant::now();
        assert!(sessions.find_at(&key, start + IDLE_LIFE / 2).is_some());
        // Each request begins the idle time again, but not the whole time.
        assert!(sessions.find_at(&key, start + IDLE_LIFE + IDLE_LIFE / 4).is_some());
        assert!(sessions.find_at(&key, start + 3 * IDLE_LIFE).is_none());
        let key = sessions.begin().unwrap();
        let mut now = start;
        while sessions.find_at(&key, now).is_some() {
            now += IDLE_LIFE / 2;
        }
        assert!(now - start >= WHOLE_LIFE && now - start < WHOLE_LIFE + 2 * IDLE_LIFE);
    }

    #[test]
    fn a_session_at_this_computer_outlasts_a_closed_browser() {
        let sessions = Sessions::new(true);
        let key = sessions.begin().unwrap();
        let start = Instant::now();
        assert!(sessions.find_at(&key, start + 7 * IDLE_LIFE).is_some());
        assert!(sessions.find_at(&key, start + WHOLE_LIFE + IDLE_LIFE).is_none());
    }

    #[test]
    fn a_ticket_is_good_once() {
        let tickets = Tickets::default();
        let ticket = tickets.issue().unwrap();
        assert!(!tickets.redeem("other"));
        assert!(tickets.redeem(ticket.letters()));
        assert!(!tickets.redeem(ticket.letters()));
    }

    #[test]
    fn sessions_are_bounded() {
        let sessions = Sessions::new(false);
        let first = sessions.begin().unwrap();
        let last: Vec<String> = (0..SESSIONS_MAX).map(|_| sessions.begin().unwrap()).collect();
        assert!(sessions.find(&first).is_none());
        assert!(sessions.find(&last[0]).is_some());
    }

    #[test]
    fn a_password_fits_its_hash_and_no_other() {
        let hash = hash_password("höchst geheim").unwrap();
        assert!(ensure_hash(&hash).is_ok());
        assert!(is_password(&hash, "höchst geheim"));
        assert!(!is_password(&hash, "höchst geheim "));
        assert!(ensure_hash("geheim").is_err());
        assert!(!is_password("geheim", "geheim"));
    }
}
