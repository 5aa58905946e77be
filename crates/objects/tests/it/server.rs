//! A small store on loopback: lists, heads, attributes, and faults as they are ordered.
//!
//! It believes no request whose signature it does not compute itself, by its own few lines, and
//! counts every answer that would have had an object's bytes.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use steadfast_digest::sha256;
use steadfast_objects::{Address, Connection, Credentials, ObjectStore, RetryPolicy};

pub(crate) const ACCESS: &str = "AKIDEXAMPLE";
pub(crate) const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
pub(crate) const REGION: &str = "eu-test-1";

/// What the store holds in place of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    pub(crate) length: u64,
    pub(crate) headers: Vec<(String, String)>,
    /// Length and digest in base 64 of each part, as attributes tell them.
    pub(crate) parts: Vec<(u64, Option<String>)>,
    /// Length of the first part and number of parts, as a head of a part tells them.
    pub(crate) first_part: Option<(u64, u64)>,
    /// Lengths of further parts, as a head of each tells them.
    pub(crate) later_parts: Vec<u64>,
    /// Whether the store knows no attributes.
    pub(crate) no_attributes: bool,
}

/// What happens instead of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    Status(u16, Option<u64>),
    Redirect(&'static str),
    Body(&'static str),
    Close,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) objects: BTreeMap<String, Held>,
    pub(crate) page_len: usize,
    pub(crate) parts_page_len: usize,
    /// For the next requests, in turn.
    pub(crate) faults: VecDeque<Fault>,
    /// For every request about this name.
    pub(crate) fault_at: Option<(String, Fault)>,
    pub(crate) requests: Vec<String>,
    pub(crate) downloads: u64,
}

pub(crate) struct Server {
    pub(crate) state: Arc<Mutex<State>>,
    pub(crate) endpoint: String,
}

impl Server {
    pub(crate) fn start(objects: impl IntoIterator<Item = (&'static str, Held)>) -> Server {
        let objects = objects.into_iter().map(|(key, held)| (key.to_owned(), held)).collect();
        let state = State { objects, page_len: 1000, parts_page_len: 1000, ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(&stream, &state));
            }
        });
        Server { state, endpoint }
    }

    /// The same store behind TLS, by a certificate and its key.
    pub(crate) fn encrypted(&self, certificate: &[u8], key: &[u8]) -> String {
        let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<_, _>>().unwrap();
        let key = PrivateKeyDer::from_pem_slice(key).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = Arc::new(config.with_single_cert(chain, key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("https://{}", listener.local_addr().unwrap());
        let shared = Arc::clone(&self.state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(StreamOwned::new(connection, stream), &state));
            }
        });
        endpoint
    }

    pub(crate) fn connection(&self) -> Connection {
        Connection {
            endpoint: Some(self.endpoint.clone()),
            region: REGION.to_owned(),
            credentials: Some(Credentials::new(ACCESS, SECRET, None)),
            authorities: None,
            retries: RetryPolicy { tries: 4, pause: Duration::from_millis(1) },
            now: steadfast::Options::default().now,
            stop: Arc::default(),
        }
    }

    pub(crate) fn store(&self, address: &str) -> ObjectStore {
        ObjectStore::new(self.connection(), Address::parse(address).unwrap()).unwrap()
    }

    pub(crate) fn fault(&self, fault: Fault) {
        self.state.lock().unwrap().faults.push_back(fault);
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

struct Request {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    raw_query: String,
    headers: BTreeMap<String, String>,
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut words = line.split_ascii_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, raw_query) = target.split_once('?').unwrap_or((&target, ""));
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let pairs = raw_query.split('&').filter(|pair| !pair.is_empty());
    let query = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (unescape(name), unescape(value))
    });
    let (query, raw_query) = (query.collect(), raw_query.to_owned());
    Some(Request { method, path: path.to_owned(), query, raw_query, headers })
}

fn unescape(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = str::from_utf8(&tail[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// As forms escape: a blank becomes a plus.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => escaped.push('+'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
                escaped.push(char::from(byte));
            }
            _ => write!(escaped, "%{byte:02X}").unwrap(),
        }
    }
    escaped
}

fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut block = [0_u8; 64];
    block[..key.len()].copy_from_slice(key);
    let inner: Vec<u8> = block.iter().map(|b| b ^ 0x36).chain(message.iter().copied()).collect();
    let outer = block.iter().map(|b| b ^ 0x5c);
    let outer: Vec<u8> = outer.chain(sha256(&inner).as_bytes().iter().copied()).collect();
    sha256(&outer).as_bytes().to_vec()
}

/// Computes the signature that a request should have, and compares.
fn is_signed(request: &Request) -> bool {
    let Some(header) = request.headers.get("authorization") else { return false };
    let field = |name: &str| {
        let at = header.find(name).map(|at| at + name.len())?;
        header[at..].split([',', ' ']).next()
    };
    let (Some(scope), Some(names), Some(signature)) =
        (field("Credential="), field("SignedHeaders="), field("Signature="))
    else {
        return false;
    };
    let Some(scope) = scope.strip_prefix(&format!("{ACCESS}/")) else { return false };
    let moment = &request.headers["x-amz-date"];
    if scope != format!("{}/{REGION}/s3/aws4_request", &moment[..8]) {
        return false;
    }
    // Every header that means anything must be among the signed ones.
    for name in request.headers.keys().filter(|name| name.starts_with("x-amz-") || *name == "host")
    {
        if !names.split(';').any(|signed| signed == name) {
            return false;
        }
    }
    let mut query: Vec<&str> =
        request.raw_query.split('&').filter(|pair| !pair.is_empty()).collect();
    query.sort_unstable();
    let mut canonical = format!("{}\n{}\n{}\n", request.method, request.path, query.join("&"));
    for name in names.split(';') {
        writeln!(canonical, "{name}:{}", request.headers[name]).unwrap();
    }
    write!(canonical, "\n{names}\n{}", request.headers["x-amz-content-sha256"]).unwrap();
    let to_sign = format!("AWS4-HMAC-SHA256\n{moment}\n{scope}\n{}", sha256(canonical.as_bytes()));
    let mut key = hmac(format!("AWS4{SECRET}").as_bytes(), &moment.as_bytes()[..8]);
    for part in [REGION, "s3", "aws4_request", &to_sign] {
        key = hmac(&key, part.as_bytes());
    }
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    hex == signature
}

/// Makes a certificate of its own for 127.0.0.1 with its key, both PEM; records a skip and returns
/// `None` without `openssl`.
pub(crate) fn certificate(folder: &Path) -> Option<(Vec<u8>, Vec<u8>)> {
    steadfast_testing::program("openssl")?;
    let made = Command::new("openssl")
        .args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=a store at home"])
        .args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(folder)
        .output();
    assert!(made.is_ok_and(|made| made.status.success()), "openssl makes no certificate");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    Some((read("cert.pem"), read("key.pem")))
}

fn serve(stream: impl Read + Write, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        let Some(answer) = answer(&request, &mut state.lock().unwrap()) else { return };
        let Answer { status, headers, body, length } = answer;
        let mut head = format!("HTTP/1.1 {status} Said\r\n");
        for (name, value) in &headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        write!(head, "content-length: {}\r\n\r\n", length.unwrap_or(body.len() as u64)).unwrap();
        let body = if request.method == "HEAD" { "" } else { &body };
        let out = reader.get_mut();
        if out.write_all(head.as_bytes()).and_then(|()| out.write_all(body.as_bytes())).is_err() {
            return;
        }
    }
}

struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    length: Option<u64>,
}

fn say(status: u16, body: impl Into<String>) -> Option<Answer> {
    Some(Answer { status, headers: Vec::new(), body: body.into(), length: None })
}

fn refuse(status: u16, code: &str) -> Option<Answer> {
    say(status, format!("<Error><Code>{code}</Code><Message>so it is</Message></Error>"))
}

fn answer(request: &Request, state: &mut State) -> Option<Answer> {
    let path = unescape(&request.path);
    state.requests.push(format!("{} {path}?{}", request.method, request.raw_query));
    let key = path.strip_prefix("/bucket/").map(str::to_owned);
    let at = state.fault_at.clone().filter(|(at, _)| key.as_ref() == Some(at));
    match state.faults.pop_front().or(at.map(|(_, fault)| fault)) {
        Some(Fault::Close) => return None,
        Some(Fault::Body(body)) => return say(200, body),
        Some(Fault::Redirect(place)) => {
            let headers = vec![("location".to_owned(), place.to_owned())];
            return Some(Answer { status: 307, headers, body: String::new(), length: None });
        }
        Some(Fault::Status(status, again)) => {
            let mut answer = refuse(status, "SlowDown")?;
            let again = again.map(|seconds| ("retry-after".to_owned(), seconds.to_string()));
            answer.headers.extend(again);
            return Some(answer);
        }
        None => {}
    }
    if !is_signed(request) {
        return refuse(403, "SignatureDoesNotMatch");
    }
    let get = |name: &str| request.query.iter().find(|(known, _)| known == name).map(|(_, v)| v);
    match (request.method.as_str(), key) {
        ("GET", None) if path == "/bucket" => list(state, &get),
        (_, None) => refuse(404, "NoSuchBucket"),
        (method, Some(key)) => {
            let Some(held) = state.objects.get(&key).cloned() else {
                return refuse(404, "NoSuchKey");
            };
            match method {
                "HEAD" if get("partNumber").is_some() => part(&held, get("partNumber").unwrap()),
                "HEAD" => head(&held, request),
                "GET" if get("attributes").is_some() => {
                    attributes(&held, request, state.parts_page_len)
                }
                _ => {
                    state.downloads += 1;
                    refuse(500, "Downloaded")
                }
            }
        }
    }
}

fn list<'a>(state: &State, get: &impl Fn(&str) -> Option<&'a String>) -> Option<Answer> {
    let prefix = get("prefix").cloned().unwrap_or_default();
    let limit = get("max-keys").unwrap().parse::<usize>().unwrap().min(state.page_len);
    let after = get("continuation-token").cloned().unwrap_or_default();
    let mut names = state.objects.iter().filter(|(key, _)| key.starts_with(&prefix));
    let page: Vec<_> = names.by_ref().filter(|(key, _)| **key > after).take(limit).collect();
    let more = names.next().is_some();
    let mut body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult \
         xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><EncodingType>url</EncodingType>\
         <IsTruncated>{more}</IsTruncated>"
    );
    if more {
        let token = page.last().unwrap().0.replace('&', "&amp;").replace('<', "&lt;");
        write!(body, "<NextContinuationToken>{token}</NextContinuationToken>").unwrap();
    }
    for (key, held) in page {
        let (key, size) = (escape(key), held.length);
        write!(body, "<Contents><Key>{key}</Key><Size>{size}</Size></Contents>").unwrap();
    }
    say(200, body + "</ListBucketResult>")
}

fn head(held: &Held, request: &Request) -> Option<Answer> {
    let asked = request.headers.get("x-amz-checksum-mode").map(String::as_str) == Some("ENABLED");
    let kept = held.headers.iter();
    let kept = kept.filter(|(name, _)| asked || !name.starts_with("x-amz-checksum")).cloned();
    let headers = kept.collect();
    Some(Answer { status: 200, headers, body: String::new(), length: Some(held.length) })
}

fn part(held: &Held, number: &str) -> Option<Answer> {
    let Some((first, count)) = held.first_part else { return refuse(400, "InvalidRequest") };
    let later = number.parse::<usize>().unwrap().checked_sub(2);
    let Some(length) = later.map_or(Some(first), |at| held.later_parts.get(at).copied()) else {
        return refuse(416, "InvalidPartNumber");
    };
    let headers = vec![("x-amz-mp-parts-count".to_owned(), count.to_string())];
    Some(Answer { status: 206, headers, body: String::new(), length: Some(length) })
}

fn attributes(held: &Held, request: &Request, page_len: usize) -> Option<Answer> {
    let marker = request.headers.get("x-amz-part-number-marker");
    let begin: usize = marker.map_or(0, |marker| marker.parse().unwrap());
    let name = held.headers.iter().find_map(|(name, _)| name.strip_prefix("x-amz-checksum-"));
    let name = name.unwrap_or("none").to_ascii_uppercase();
    if held.no_attributes {
        return refuse(501, "NotImplemented");
    }
    if held.parts.is_empty() {
        return say(200, "<GetObjectAttributesResponse/>".to_owned());
    }
    let end = held.parts.len().min(begin + page_len);
    let mut body = format!(
        "<GetObjectAttributesResponse><ObjectParts><IsTruncated>{}</IsTruncated>\
         <NextPartNumberMarker>{end}</NextPartNumberMarker>",
        end < held.parts.len()
    );
    for (length, digest) in &held.parts[begin..end] {
        write!(body, "<Part><Size>{length}</Size>").unwrap();
        if let Some(digest) = digest {
            write!(body, "<Checksum{name}>{digest}</Checksum{name}>").unwrap();
        }
        body.push_str("</Part>");
    }
    say(200, body + "</ObjectParts></GetObjectAttributesResponse>")
}
