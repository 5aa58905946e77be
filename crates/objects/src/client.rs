//! One request to a store and its answer, patiently.
//!
//! In: what to ask. Out: an answer, whole and of bounded length. Follows no redirect, since the
//! next place might be anybody's; waits and asks again where the store is busy, a bounded number
//! of times. Knows nothing of objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustls::crypto::aws_lc_rs;
use steadfast::Timestamp;
use ureq::Agent;
use ureq::http::{HeaderMap, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::address::Address;
use crate::answer;
use crate::error::{Error, ErrorKind};
use crate::names::{escape, escape_path};
use crate::sign::{Credentials, Unsigned, sign};

/// The longest answer: a page of 1000 names of 1 KiB, escaped, and what stands around them.
const ANSWER_LEN_MAX: u64 = 16 << 20;

/// How long one answer may take, in all.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// The longest that a store may make us wait before the next try.
const PAUSE_MAX: Duration = Duration::from_secs(20);

/// How often a busy store is asked again.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Tries in all, at least one.
    pub tries: u32,
    /// The wait before the second try; each further one is twice as long, up to 20 seconds.
    pub pause: Duration,
}

impl Default for Patience {
    /// Six tries in about six seconds, unless the store asks for longer waits.
    fn default() -> Patience {
        Patience { tries: 6, pause: Duration::from_millis(200) }
    }
}

/// How a store is reached.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The store's address, as `http://127.0.0.1:9000`; `None` for Amazon's in the region.
    pub endpoint: Option<String>,
    /// The region, which is part of what is signed.
    pub region: String,
    /// Who asks; `None` asks as anybody.
    pub credentials: Option<Credentials>,
    /// Certificates, as PEM, of those by whom a store's own must be signed, or its very own; `None`
    /// for those whom browsers believe.
    pub authorities: Option<Vec<u8>>,
    /// How often it is asked.
    pub patience: Patience,
    /// The clock.
    pub now: fn() -> Timestamp,
    /// Ends waiting early.
    pub stop: Arc<AtomicBool>,
}

/// An answer that the store meant.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Returns the headers whose values are text.
    pub(crate) fn headers(&self) -> Vec<(&str, &str)> {
        let headers = self.headers.iter();
        headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect()
    }

    /// Returns the value of one header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Asks one bucket.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    connection: Connection,
    scheme: String,
    /// Host and port, as requests name it.
    host: String,
    /// The path of the bucket, spelt; empty if the host is the bucket's.
    base: String,
    requests: AtomicU64,
}

/// Returns who is believed to say who a store is.
fn roots(authorities: Option<&[u8]>) -> Result<RootCerts, Error> {
    let Some(pem) = authorities else { return Ok(RootCerts::WebPki) };
    let certificates = parse_pem(pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        // Whatever else is kept in the same file is not asked for.
        Ok(_) => None,
        Err(error) => Some(Err(Error::usage(format!("the authorities make no sense: {error}")))),
    });
    let certificates: Vec<_> = certificates.collect::<Result<_, _>>()?;
    if certificates.is_empty() {
        return Err(Error::usage("the authorities hold no certificate in PEM"));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

/// What one try came to.
enum Tried {
    Answered(Answer),
    /// To try again may help; after so long, if the store says.
    Busy(Error, Option<Duration>),
    Failed(Error),
}

impl Client {
    pub(crate) fn new(connection: Connection, address: &Address) -> Result<Client, Error> {
        let (scheme, host, base) = place(&connection, address)?;
        let tls = TlsConfig::builder()
            .root_certs(roots(connection.authorities.as_deref())?)
            .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // The library reads no environment, and so no proxy from there.
            .proxy(None)
            .timeout_global(Some(ANSWER_TIME_MAX))
            .user_agent(concat!("steadfast/", env!("CARGO_PKG_VERSION")))
            .build();
        let agent = config.new_agent();
        Ok(Client { agent, connection, scheme, host, base, requests: AtomicU64::new(0) })
    }

    /// Returns how many requests were sent.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Asks, again and again where that may help. An answer is 2xx or 404.
    pub(crate) fn ask(
        &self,
        method: &str,
        key: Option<&str>,
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Result<Answer, Error> {
        let Patience { tries, mut pause } = self.connection.patience;
        let mut tried = 1;
        loop {
            if self.connection.stop.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "it was interrupted"));
            }
            let (error, wished) = match self.once(method, key, query, headers) {
                Tried::Answered(answer) => return Ok(answer),
                Tried::Failed(error) => return Err(error),
                Tried::Busy(error, wished) => (error, wished),
            };
            if tried >= tries {
                return Err(error);
            }
            tried += 1;
            // Threads that were turned away together come back apart.
            let spread =
                pause.mul_f64(f64::from((self.connection.now)().nanoseconds % 512) / 1024.0);
            self.wait((pause + spread).max(wished.unwrap_or_default()).min(PAUSE_MAX));
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Waits, unless it is all to end.
    fn wait(&self, time: Duration) {
        const STEP: Duration = Duration::from_millis(50);
        let mut left = time;
        while !left.is_zero() && !self.connection.stop.load(Ordering::Relaxed) {
            thread::sleep(left.min(STEP));
            left = left.saturating_sub(STEP);
        }
    }

    fn once(
        &self,
        method: &str,
        key: Option<&str>,
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Tried {
        let answer = match self.send(method, key, query, headers) {
            Ok(answer) => answer,
            Err(Sent::Error(error)) => return Tried::Failed(error),
            Err(Sent::Transport(error)) => return of_transport(&error, &self.host),
        };
        match answer.status {
            200..=299 | 404 => Tried::Answered(answer),
            300..=399 => Tried::Failed(redirected(&answer)),
            429 | 500 | 502..=504 => {
                let wished = answer.header("retry-after").and_then(|text| text.parse().ok());
                let wished = wished.map(Duration::from_secs);
                let why = answer::error(&answer.body);
                let message = format!("the store is busy: {}{why}", answer.status);
                Tried::Busy(Error::new(ErrorKind::Unreachable, message), wished)
            }
            status => {
                let why = answer::error(&answer.body);
                let message = format!("the store refuses: {status}{why}");
                Tried::Failed(Error::new(ErrorKind::Refused, message))
            }
        }
    }

    fn send(
        &self,
        method: &str,
        key: Option<&str>,
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Result<Answer, Sent> {
        let path = match key {
            Some(key) => format!("{}/{}", self.base, escape_path(key)),
            None if self.base.is_empty() => "/".to_owned(),
            None => self.base.clone(),
        };
        let query: Vec<(String, String)> =
            query.iter().map(|(name, value)| (escape(name), escape(value))).collect();
        let headers: Vec<(&str, String)> =
            headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let spelt: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mark = if spelt.is_empty() { "" } else { "?" };
        let uri = format!("{}://{}{path}{mark}{}", self.scheme, self.host, spelt.join("&"));
        let unsigned =
            Unsigned { method, host: &self.host, path: &path, query: &query, headers: &headers };
        let who = self.connection.credentials.as_ref();
        let signed =
            who.map(|who| sign(&unsigned, who, &self.connection.region, (self.connection.now)()));
        let mut request = match method {
            "HEAD" => self.agent.head(&uri),
            _ => self.agent.get(&uri),
        };
        let signed = signed.unwrap_or_default();
        for (name, value) in headers.iter().chain(&signed) {
            request = request.header(*name, value);
        }
        request = request.header("host", &self.host);
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut response = request.call().map_err(Sent::Transport)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.body_mut().with_config().limit(ANSWER_LEN_MAX).read_to_vec();
        let body = body.map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => {
                Sent::Error(Error::new(ErrorKind::Malformed, "the store's answer is too long"))
            }
            other => Sent::Transport(other),
        })?;
        Ok(Answer { status, headers, body })
    }
}

/// Why nothing came back.
enum Sent {
    Error(Error),
    Transport(ureq::Error),
}

/// What did not come through may come through the next time, but for what will stay as it is.
fn of_transport(error: &ureq::Error, host: &str) -> Tried {
    if let ureq::Error::Io(error) = error
        && let Some(reason) =
            error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>())
    {
        // Asking again would not make it another.
        let message = format!("`{host}` is not believed to be the store: {reason}");
        return Tried::Failed(Error::new(ErrorKind::Refused, message));
    }
    let message = format!("cannot reach `{host}`: {error}");
    match error {
        ureq::Error::Io(_) | ureq::Error::Timeout(_) | ureq::Error::ConnectionFailed => {
            Tried::Busy(Error::new(ErrorKind::Unreachable, message), None)
        }
        ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => {
            Tried::Failed(Error::new(ErrorKind::Malformed, message))
        }
        _ => Tried::Failed(Error::new(ErrorKind::Unreachable, message)),
    }
}

fn redirected(answer: &Answer) -> Error {
    let message = match (answer.header("x-amz-bucket-region"), answer.header("location")) {
        (Some(region), _) => format!("the bucket is in the region `{region}`: name it"),
        (None, Some(place)) => format!("the store sends on to `{place}`, where nothing is sent"),
        (None, None) => format!("the store sends on to elsewhere: {}", answer.status),
    };
    Error::new(ErrorKind::Redirected, message)
}

/// Returns scheme, host and the bucket's path.
fn place(connection: &Connection, address: &Address) -> Result<(String, String, String), Error> {
    let (bucket, region) = (address.bucket(), &connection.region);
    let plain = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if !plain(region) {
        return Err(Error::usage(format!("`{region}` is no name of a region")));
    }
    let Some(endpoint) = &connection.endpoint else {
        let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        // A certificate for all buckets covers names without dots.
        return Ok(match bucket.contains(['.', '_']) {
            true => ("https".into(), format!("s3.{region}.{domain}"), format!("/{bucket}")),
            false => ("https".into(), format!("{bucket}.s3.{region}.{domain}"), String::new()),
        });
    };
    let wrong = |why: &str| Error::usage(format!("`{endpoint}` is no address of a store: {why}"));
    let uri: Uri = endpoint.parse().map_err(|_| wrong("it cannot be read"))?;
    let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme));
    let scheme = scheme.ok_or_else(|| wrong("it begins with neither http:// nor https://"))?;
    let authority = uri.authority().ok_or_else(|| wrong("it names no host"))?.as_str();
    if authority.contains('@') {
        return Err(Error::usage("an address of a store has no place for a password"));
    }
    if uri.query().is_some() {
        return Err(wrong("it has a query"));
    }
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let host = authority.strip_suffix(usual).unwrap_or(authority).to_owned();
    let base = uri.path().trim_end_matches('/');
    Ok((scheme.to_owned(), host, format!("{base}/{bucket}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(endpoint: Option<&str>, bucket: &str) -> Result<String, Error> {
        let connection = Connection {
            endpoint: endpoint.map(str::to_owned),
            region: "eu-west-1".to_owned(),
            credentials: None,
            authorities: None,
            patience: Patience::default(),
            now: || Timestamp { seconds: 0, nanoseconds: 0 },
            stop: Arc::default(),
        };
        let (scheme, host, base) = place(&connection, &Address::new(bucket, "").unwrap())?;
        Ok(format!("{scheme}://{host}{base}"))
    }

    #[test]
    fn places() {
        assert_eq!(found(None, "b").unwrap(), "https://b.s3.eu-west-1.amazonaws.com");
        assert_eq!(found(None, "b.c").unwrap(), "https://s3.eu-west-1.amazonaws.com/b.c");
        assert_eq!(found(Some("http://[::1]:9000/"), "b").unwrap(), "http://[::1]:9000/b");
        assert_eq!(found(Some("https://h:443/x"), "b").unwrap(), "https://h/x/b");
        for wrong in ["h:9000", "ftp://h", "http://u:p@h", "http://h/?a=b", "http://"] {
            let error = found(Some(wrong), "b").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{wrong}");
            assert!(!error.to_string().contains("u:p"), "{error}");
        }
    }
}
