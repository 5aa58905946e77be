//! A server under test, and what talks to it as a browser does: cookie, origin, forms.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use steadfast_measure::record::Side;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::cpu::Cpu;
use steadfast_measure::workload::hash::{Hash, Part};
use steadfast_measure::workload::pair::Pair;
use steadfast_serve::{Config, Server};
use steadfast_testing::took_at_most;
use tempfile::TempDir;

/// How long anything may take before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What stands in files that no request may reach.
pub(crate) const SECRET: &str = "sesame-outside-the-root";

/// A server on a tree of its own, ended when dropped.
pub(crate) struct Served {
    pub(crate) tree: TempDir,
    pub(crate) outside: TempDir,
    pub(crate) bound: SocketAddr,
    pub(crate) entrance: String,
    /// By which the owner's commands ask for tickets.
    pub(crate) owner: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Makes the workloads of the tests; no ciphers, which need a program of their own.
fn workload(arguments: &[OsString]) -> Option<Box<dyn Workload>> {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let folder = |at: usize| words.len().checked_sub(at).map(|at| PathBuf::from(words[at]));
    Some(match *words.first()? {
        "hash" => {
            let kernels = words.contains(&"kernels");
            let parts = if kernels { vec![Part::Kernels] } else { Part::ALL.to_vec() };
            Box::new(Hash { parts, ..Hash::quick(folder(1)?, 1) })
        }
        "cpu" => Box::new(Cpu::quick(1)),
        "pair" => {
            let folders = vec![(Side::A, folder(2)?), (Side::B, folder(1)?)];
            Box::new(Pair::quick(folders, 1))
        }
        _ => return None,
    })
}

impl Served {
    /// Serves a small tree with links that lead out of it.
    pub(crate) fn begin() -> Served {
        Served::with(|config| config)
    }

    /// The same with other wishes.
    pub(crate) fn with(wishes: impl FnOnce(Config) -> Config) -> Served {
        // Beside the build, where attributes work; the system's own folder may be in memory.
        // A test that writes bytes as decay would moves the change time, which decay does not.
        let folder = || tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (tree, outside) = (folder(), folder());
        fs::create_dir_all(tree.path().join("photos/2019")).unwrap();
        for name in ["photos/one.jpg", "photos/two.jpg", "photos/2019/three.jpg", "plain.txt"] {
            fs::write(tree.path().join(name), format!("contents of {name}")).unwrap();
        }
        fs::write(outside.path().join(SECRET), SECRET).unwrap();
        symlink(outside.path(), tree.path().join("way-out")).unwrap();
        symlink(outside.path().join(SECRET), tree.path().join("file-out")).unwrap();
        let roots = vec![tree.path().to_owned()];
        let server = Server::bind(wishes(Config {
            roots,
            ignore_change_times: true,
            workload,
            ..Config::default()
        }))
        .unwrap();
        let (bound, entrance) = (server.bound(), server.address());
        let owner = server.owner_address();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || server.run(&flag).unwrap());
        Served { tree, outside, bound, entrance, owner, stop, thread: Some(thread) }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.tree.path().join(name)
    }

    /// Says whether the server has ended by itself.
    pub(crate) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The path and query of the entrance.
    pub(crate) fn door(&self) -> &str {
        &self.entrance[self.entrance.find("/enter").unwrap()..]
    }

    /// A browser that was not let in.
    pub(crate) fn stranger(&self) -> Browser {
        Browser { bound: self.bound, cookie: None, csrf: String::new() }
    }

    /// The path and query by which the owner's commands ask for tickets.
    pub(crate) fn desk(&self) -> &str {
        &self.owner[self.owner.find("/ticket").unwrap()..]
    }

    /// A browser that came in by a ticket. The token lets in one only.
    pub(crate) fn browser(&self) -> Browser {
        let mut browser = self.stranger();
        let ticket = browser.get(self.desk()).text();
        let page = browser.get(&ticket[ticket.find("/enter").unwrap()..]);
        assert_eq!(page.status, 200, "{}", page.text());
        browser.cookie = Some(page.cookie());
        let home = browser.get("/");
        assert_eq!(home.status, 200, "{}", home.text());
        browser.csrf = between(&home.text(), "data-csrf=\"", "\"").to_owned();
        browser
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// What talks to a server.
#[derive(Clone)]
pub(crate) struct Browser {
    pub(crate) bound: SocketAddr,
    pub(crate) cookie: Option<String>,
    pub(crate) csrf: String,
}

impl Browser {
    pub(crate) fn get(&self, page: &str) -> Answer {
        self.send("GET", page, &[], b"")
    }

    /// Posts a form of this session.
    pub(crate) fn post(&self, page: &str, form: &str) -> Answer {
        let form = format!("csrf={}&{form}", self.csrf);
        self.send("POST", page, &[], form.as_bytes())
    }

    /// Sends what a browser would, unless `lines` say otherwise of a name.
    pub(crate) fn send(
        &self,
        method: &str,
        page: &str,
        lines: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut stream = self.connect();
        stream.write_all(&self.request(method, page, lines, body)).unwrap();
        Answer::read(stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.bound).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Writes a request, headers in lower case.
    pub(crate) fn request(
        &self,
        method: &str,
        page: &str,
        lines: &[(&str, &str)],
        body: &[u8],
    ) -> Vec<u8> {
        let host = self.bound.to_string();
        let (origin, length) = (format!("http://{host}"), body.len().to_string());
        let mut usual = vec![("host", host.as_str()), ("connection", "close")];
        if method == "POST" {
            usual.push(("origin", &origin));
            usual.push(("content-type", "application/x-www-form-urlencoded"));
            usual.push(("content-length", &length));
        }
        if let Some(cookie) = &self.cookie {
            usual.push(("cookie", cookie));
        }
        usual.retain(|(name, _)| !lines.iter().any(|(other, _)| other == name));
        let mut request = format!("{method} {page} HTTP/1.1\r\n");
        for (name, value) in usual.iter().chain(lines).filter(|(_, value)| !value.is_empty()) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut request = format!("{request}\r\n").into_bytes();
        request.extend_from_slice(body);
        request
    }

    /// Begins a run and returns its page.
    pub(crate) fn run(&self, verb: &str, place: &str) -> String {
        let answer = self.post("/runs", &format!("verb={verb}&place={place}&pace=2"));
        assert_eq!(answer.status, 303, "{}", answer.text());
        answer.header("location").unwrap().to_owned()
    }

    /// Waits for a run to end and returns its page.
    pub(crate) fn ended(&self, run: &str) -> String {
        let mut events = self.listen(run);
        while events.next().is_some_and(|(name, _)| name != "over") {}
        self.get(run).text()
    }

    /// Listens to a run.
    pub(crate) fn listen(&self, run: &str) -> Events {
        let mut stream = self.connect();
        stream.write_all(&self.request("GET", &format!("{run}/events"), &[], b"")).unwrap();
        Events { lines: BufReader::new(stream), begun: Instant::now() }
    }
}

/// What a server answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Reads an answer to its end. Nothing at all is status 0.
    pub(crate) fn read(mut stream: TcpStream) -> Answer {
        let mut bytes = Vec::new();
        // A server that closes early may reset what it did not read.
        let _ = stream.read_to_end(&mut bytes);
        let split = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let Some(split) = split else {
            return Answer { status: 0, head: String::new(), body: bytes };
        };
        let head = String::from_utf8(bytes[..split].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer { status, head, body: bytes[split + 4..].to_vec() };
        if answer.header("transfer-encoding") == Some("chunked") {
            answer.body = joined(&answer.body);
        }
        answer
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The cookie that it sets, as a browser shows it.
    pub(crate) fn cookie(&self) -> String {
        self.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }
}

/// Joins chunks.
fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = chunks.windows(2).position(|window| window == b"\r\n") {
        let length = std::str::from_utf8(&chunks[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        let rest = &chunks[end + 2..];
        body.extend_from_slice(&rest[..length.min(rest.len())]);
        chunks = rest.get(length + 2..).unwrap_or_default();
    }
    body
}

/// The events of a run, as they come.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
    begun: Instant,
}

impl Events {
    /// Waits for the next event: its name and its data. `None` after the last.
    pub(crate) fn next(&mut self) -> Option<(String, String)> {
        let mut name = String::new();
        loop {
            assert!(took_at_most(self.begun, PATIENCE), "the run tells no end");
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(found) = line.strip_prefix("event: ") {
                name = found.trim_end().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, data.trim_end().to_owned()));
            }
        }
    }

    /// Waits until a part says something.
    pub(crate) fn until(&mut self, part: &str, says: &str) -> String {
        loop {
            let (name, data) = self.next().expect("the run goes on");
            if name == part && data.contains(says) {
                return data;
            }
        }
    }
}

/// What stands between two marks.
pub(crate) fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).unwrap_or_else(|| panic!("no {from} in {text}")) + from.len();
    &text[start..start + text[start..].find(to).unwrap()]
}

/// Replaces contents and keeps the modification time, as decay does.
pub(crate) fn decay(path: &Path) {
    let before = fs::metadata(path).unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes[0] ^= 1;
    fs::write(path, bytes).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
}
