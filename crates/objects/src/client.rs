//! Sends one request to a store, with retries.
//!
//! In: a request. Out: a complete response of bounded length. Follows no redirect, which could lead
//! to another owner's server. Retries a bounded number of times if the store is busy. Knows nothing
//! of objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustls::crypto::ring;
use steadfast::Timestamp;
use ureq::Agent;
use ureq::http::{HeaderMap, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::address::Address;
use crate::error::{Error, ErrorKind};
use crate::names::{escape, escape_path};
use crate::response;
use crate::sign::{Credentials, UnsignedRequest, sign};

/// Longest response in bytes: a listing of 1000 escaped names of 1 KiB, and its markup.
const RESPONSE_LEN_MAX: u64 = 16 << 20;

/// Longest time for one response.
const RESPONSE_TIME_MAX: Duration = Duration::from_secs(60);

/// Longest wait before the next try, even if the store asks for more.
const PAUSE_MAX: Duration = Duration::from_secs(20);

/// How often a request is retried.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Tries in all, at least one.
    pub tries: u32,
    /// The wait before the second try. Each further wait is twice as long, up to 20 seconds.
    pub pause: Duration,
}

impl Default for RetryPolicy {
    /// Six tries within about six seconds, unless the store asks for longer waits.
    fn default() -> RetryPolicy {
        RetryPolicy { tries: 6, pause: Duration::from_millis(200) }
    }
}

/// How a store is reached.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The store's address, such as `http://127.0.0.1:9000`. `None` is Amazon's in the region.
    pub endpoint: Option<String>,
    /// The region, which is part of the signature.
    pub region: String,
    /// The credentials. `None` sends anonymous requests.
    pub credentials: Option<Credentials>,
    /// Trusted certificates in PEM: of authorities, or the store's own. `None` trusts the
    /// authorities that browsers trust.
    pub authorities: Option<Vec<u8>>,
    /// How often a request is retried.
    pub retries: RetryPolicy,
    /// The clock.
    pub now: fn() -> Timestamp,
    /// Ends waiting early.
    pub stop: Arc<AtomicBool>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct StoreResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl StoreResponse {
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

/// Sends requests to one bucket.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    connection: Connection,
    scheme: String,
    /// Host and port, as requests name them.
    host: String,
    /// The escaped path of the bucket. Empty if the bucket has a host of its own.
    base: String,
    requests: AtomicU64,
}

/// Returns the trusted certificates.
fn roots(authorities: Option<&[u8]>) -> Result<RootCerts, Error> {
    let Some(pem) = authorities else { return Ok(RootCerts::WebPki) };
    let certificates = parse_pem(pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        // Ignore other items of the file.
        Ok(_) => None,
        Err(error) => Some(Err(Error::usage(format!("the authorities make no sense: {error}")))),
    });
    let certificates: Vec<_> = certificates.collect::<Result<_, _>>()?;
    if certificates.is_empty() {
        return Err(Error::usage("the authorities hold no certificate in PEM"));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

/// The result of one try.
enum TryResult {
    Answered(StoreResponse),
    /// A retry may succeed, after this time if the store says so.
    Busy(Error, Option<Duration>),
    Failed(Error),
}

impl Client {
    pub(crate) fn new(connection: Connection, address: &Address) -> Result<Client, Error> {
        let (scheme, host, base) = place(&connection, address)?;
        let tls = TlsConfig::builder()
            .root_certs(roots(connection.authorities.as_deref())?)
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // A library reads no environment, so it does not use the proxy that is set there.
            .proxy(None)
            .timeout_global(Some(RESPONSE_TIME_MAX))
            .user_agent(concat!("steadfast/", env!("CARGO_PKG_VERSION")))
            .build();
        let agent = config.new_agent();
        Ok(Client { agent, connection, scheme, host, base, requests: AtomicU64::new(0) })
    }

    /// Returns how many requests were sent.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Sends a request, with retries. The status of the response is 2xx or 404.
    pub(crate) fn ask(
        &self,
        method: &str,
        key: Option<&str>,
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Result<StoreResponse, Error> {
        let RetryPolicy { tries, mut pause } = self.connection.retries;
        let mut tried = 1;
        loop {
            if self.connection.stop.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "it was interrupted"));
            }
            let (error, wished) = match self.once(method, key, query, headers) {
                TryResult::Answered(answer) => return Ok(answer),
                TryResult::Failed(error) => return Err(error),
                TryResult::Busy(error, wished) => (error, wished),
            };
            if tried >= tries {
                return Err(error);
            }
            tried += 1;
            // Spreads the retries of threads that were refused at the same time.
            let spread =
                pause.mul_f64(f64::from((self.connection.now)().nanoseconds % 512) / 1024.0);
            self.wait((pause + spread).max(wished.unwrap_or_default()).min(PAUSE_MAX));
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Waits, unless the command is told to stop.
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
    ) -> TryResult {
        let answer = match self.send(method, key, query, headers) {
            Ok(answer) => answer,
            Err(SendError::Error(error)) => return TryResult::Failed(error),
            Err(SendError::Transport(error)) => return of_transport(&error, &self.host),
        };
        match answer.status {
            200..=299 | 404 => TryResult::Answered(answer),
            300..=399 => TryResult::Failed(redirected(&answer)),
            429 | 500 | 502..=504 => {
                let wished = answer.header("retry-after").and_then(|text| text.parse().ok());
                let wished = wished.map(Duration::from_secs);
                let why = response::error(&answer.body);
                let message = format!("the store is busy: {}{why}", answer.status);
                TryResult::Busy(Error::new(ErrorKind::Unreachable, message), wished)
            }
            status => {
                let why = response::error(&answer.body);
                let message = format!("the store refuses: {status}{why}");
                TryResult::Failed(Error::new(ErrorKind::Refused, message))
            }
        }
    }

    fn send(
        &self,
        method: &str,
        key: Option<&str>,
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Result<StoreResponse, SendError> {
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
        let unsigned = UnsignedRequest {
            method,
            host: &self.host,
            path: &path,
            query: &query,
            headers: &headers,
        };
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
        let mut response = request.call().map_err(SendError::Transport)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.body_mut().with_config().limit(RESPONSE_LEN_MAX).read_to_vec();
        let body = body.map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => {
                SendError::Error(Error::new(ErrorKind::Malformed, "the store's answer is too long"))
            }
            other => SendError::Transport(other),
        })?;
        Ok(StoreResponse { status, headers, body })
    }
}

/// Why there is no response.
enum SendError {
    Error(Error),
    Transport(ureq::Error),
}

/// Decides whether a transport error is worth a retry.
fn of_transport(error: &ureq::Error, host: &str) -> TryResult {
    if let ureq::Error::Io(error) = error
        && let Some(reason) =
            error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>())
    {
        // The next try would meet the same certificate.
        let message = format!("`{host}` is not believed to be the store: {reason}");
        return TryResult::Failed(Error::new(ErrorKind::Refused, message));
    }
    let message = format!("cannot reach `{host}`: {error}");
    match error {
        ureq::Error::Io(_) | ureq::Error::Timeout(_) | ureq::Error::ConnectionFailed => {
            TryResult::Busy(Error::new(ErrorKind::Unreachable, message), None)
        }
        ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => {
            TryResult::Failed(Error::new(ErrorKind::Malformed, message))
        }
        _ => TryResult::Failed(Error::new(ErrorKind::Unreachable, message)),
    }
}

fn redirected(answer: &StoreResponse) -> Error {
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
            retries: RetryPolicy::default(),
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
