//! `serve` and `open`: the address on the first line, pages behind it, and an end without fuss.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::tree::Tree;

/// A server under way, ended when dropped.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn begin(tree: &Tree, arguments: &[&str]) -> Serving {
        Serving::of(tree.command(arguments).stdout(Stdio::piped()))
    }

    fn of(command: &mut Command) -> Serving {
        let mut child = command.spawn().unwrap();
        let mut address = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut address).unwrap();
        Serving { child, address: address.trim_end().to_owned() }
    }

    /// Gets a page by its address, with what a browser says at least.
    fn get(&self, address: &str) -> String {
        self.get_with(address, "")
    }

    /// The same, with further lines of the request.
    fn get_with(&self, address: &str, lines: &str) -> String {
        let rest = address.strip_prefix("http://").unwrap();
        let (host, page) = rest.split_at(rest.find('/').unwrap());
        let mut stream = TcpStream::connect(host).unwrap();
        let request =
            format!("GET {page} HTTP/1.1\r\nhost: {host}\r\n{lines}connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Asks it to end, as Ctrl-C does, and returns its status.
    fn interrupt(&mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_first_line_is_the_address_and_ctrl_c_is_the_end() {
    let tree = Tree::small();
    let mut serving = Serving::begin(&tree, &["serve", "--no-open", "."]);
    assert!(serving.address.starts_with("http://127.0.0.1:"), "{}", serving.address);
    let page = serving.get(&serving.address);
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("You are signed in."), "{page}");
    let without = serving.address.split("/enter").next().unwrap().to_owned() + "/";
    assert!(serving.get(&without).starts_with("HTTP/1.1 401"));
    assert_eq!(serving.interrupt(), Some(0));
}

#[test]
fn open_serves_what_is_named_and_nothing_beside_a_file() {
    let tree = Tree::small();
    let mut serving = Serving::begin(&tree, &["serve", "--open", "--no-open", "sub"]);
    assert!(serving.address.contains("&to=/add%3Fplace%3D0/"), "{}", serving.address);
    let welcome = serving.get(&serving.address);
    assert!(welcome.starts_with("HTTP/1.1 200"), "{welcome}");
    assert!(serving.get(&serving.address).starts_with("HTTP/1.1 401"), "the token is used up");
    let cookie = welcome.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
    let settings = serving.address.split("/enter").next().unwrap().to_owned() + "/settings";
    let settings = serving.get_with(&settings, &format!("cookie: {cookie}\r\n"));
    assert!(settings.contains("Messages about trouble"), "alerts are offered too: {settings}");
    assert_eq!(serving.interrupt(), Some(0));
    tree.run(["init", "--tags-only", "sub"]).succeeds();
    let mut serving = Serving::begin(&tree, &["serve", "--open", "--no-open", "sub"]);
    assert!(serving.address.ends_with("&to=/folders/0"), "{}", serving.address);
    assert_eq!(serving.interrupt(), Some(0));
    let mut serving = Serving::begin(&tree, &["serve", "--open", "--no-open", "a"]);
    assert!(serving.address.contains("&to=/drop%3Fgiven%3D"), "{}", serving.address);
    assert_eq!(serving.interrupt(), Some(0));
    tree.run(["serve", "--open", "--no-open", "nowhere"]).ends(2);
}

#[test]
fn what_is_not_safe_is_refused() {
    let tree = Tree::small();
    let hash = tree.run_with(["serve", "--hash-password"], b"geheim\n").succeeds();
    assert!(hash.stdout().starts_with("$argon2id$"), "{}", hash.stdout());
    let secret = tree.path("secret");
    std::fs::write(&secret, hash.stdout()).unwrap();
    tree.run_with(["serve", "--hash-password"], b"\n").ends(2);
    for arguments in [
        &["--listen", "0.0.0.0:0"][..],
        &["--listen", "0.0.0.0:0", "--password-file", "secret"],
        &["--behind-proxy", "https://nas.example"],
        &["--behind-proxy", "nas.example", "--password-file", "secret"],
        &["--behind-proxy", "http://nas.example", "--password-file", "secret"],
        &["--host", ""],
        &["--host", "evil name/with:stuff"],
        &["--records", "nowhere"],
        &["--records", "a"],
        &["--password-file", "a"],
        &["--tls-cert", "a", "--tls-key", "b"],
        &["nowhere"],
        &["a"],
    ] {
        let said = tree.run(["serve", "--no-open"].iter().chain(arguments)).ends(2);
        assert!(said.stdout().is_empty(), "{arguments:?}");
        assert!(said.stderr().starts_with("steadfast: "), "{arguments:?}: {}", said.stderr());
    }
}

#[test]
fn with_a_password_nothing_that_is_printed_lets_anybody_in() {
    let tree = Tree::small();
    let hash = tree.run_with(["serve", "--hash-password"], b"geheim\n").succeeds();
    std::fs::write(tree.path("secret"), hash.stdout()).unwrap();
    let arguments = ["serve", "--no-open", "--password-file", "secret", "."];
    let mut serving = Serving::begin(&tree, &arguments);
    assert!(serving.address.starts_with("http://127.0.0.1:"), "{}", serving.address);
    assert!(!serving.address.contains("token"), "{}", serving.address);
    let page = serving.get(&serving.address);
    assert!(!page.starts_with("HTTP/1.1 200") && !page.contains("<main"), "{page}");
    assert_eq!(serving.interrupt(), Some(0));
}

/// Types a password at a terminal, twice. Returns what the terminal showed.
#[cfg(target_os = "linux")]
fn typed(tree: &Tree, twice: [&str; 2]) -> (String, Option<i32>) {
    use std::io::{Read as _, Write as _};
    let program = crate::tree::PROGRAM;
    // util-linux: runs a command at a terminal of its own, and ends with its status.
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &format!("{program} serve --hash-password"), "/dev/null"]);
    command.current_dir(tree.path(".")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("`script` of util-linux is there");
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = Vec::new();
    for (at, password) in twice.iter().enumerate() {
        while shown.iter().filter(|byte| **byte == b':').count() <= at {
            let mut byte = [0];
            assert_eq!(output.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&shown));
            shown.push(byte[0]);
        }
        // The prompt comes before the terminal is told not to echo.
        while !is_silent(child.id()) {
            std::thread::yield_now();
        }
        writeln!(input, "{password}").unwrap();
    }
    output.read_to_end(&mut shown).unwrap();
    drop(input);
    (String::from_utf8(shown).unwrap(), child.wait().unwrap().code())
}

/// Says whether the terminal of the programs that `script` started shows what is typed.
#[cfg(target_os = "linux")]
fn is_silent(script: u32) -> bool {
    let children = format!("/proc/{script}/task/{script}/children");
    let children = std::fs::read_to_string(children).unwrap();
    let Some(child) = children.split_whitespace().next() else { return false };
    let terminal = std::fs::read_link(format!("/proc/{child}/fd/0")).unwrap();
    let told = std::process::Command::new("stty").arg("-F").arg(terminal).arg("-a").output();
    String::from_utf8_lossy(&told.unwrap().stdout).contains(" -echo ")
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_shows_no_password() {
    let tree = Tree::small();
    let (shown, status) = typed(&tree, ["sesame-open", "sesame-open"]);
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("Password: ") && shown.contains("$argon2id$"), "{shown}");
    assert!(!shown.contains("sesame"), "{shown}");
    let (shown, status) = typed(&tree, ["sesame-open", "sesame-shut"]);
    assert_eq!(status, Some(2), "{shown}");
    assert!(shown.contains("the two passwords differ") && !shown.contains("$argon"), "{shown}");
}

/// A folder for what lasts as long as its user is there, and a desktop without a browser.
fn desktop(tree: &Tree) -> [(&'static str, std::ffi::OsString); 2] {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    let (runtime, programs) = (tree.path("runtime"), tree.path("programs"));
    std::fs::DirBuilder::new().mode(0o700).create(&runtime).unwrap();
    std::fs::create_dir(&programs).unwrap();
    for opener in ["xdg-open", "open"] {
        let opener = programs.join(opener);
        std::fs::write(&opener, "#!/bin/sh\nexit 3\n").unwrap();
        std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let name = if std::env::consts::OS == "macos" { "TMPDIR" } else { "XDG_RUNTIME_DIR" };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [programs.as_os_str(), ":".as_ref(), &path].into_iter().collect();
    [(name, runtime.into_os_string()), ("PATH", path)]
}

#[test]
fn the_ticket_stands_in_a_private_page_and_not_in_arguments() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = Tree::small();
    let desktop = desktop(&tree);
    for opener in ["xdg-open", "open"] {
        let script = "#!/bin/sh\necho \"$@\" > \"$(dirname \"$0\")/arguments\"\n";
        std::fs::write(tree.path("programs").join(opener), script).unwrap();
    }
    let mut command = tree.command(["serve", "--open", "a"]);
    let mut serving = Serving::of(command.envs(desktop).stdout(Stdio::piped()));
    let arguments = tree.path("programs/arguments");
    let page = loop {
        let path = std::fs::read_to_string(&arguments).unwrap_or_default();
        if path.ends_with('\n') {
            break std::path::PathBuf::from(path.trim_end());
        }
        std::thread::yield_now();
    };
    assert!(page.starts_with(tree.path("runtime/steadfast")), "{}", page.display());
    assert_eq!(std::fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&page).unwrap();
    let bound = serving.address.split("/enter").next().unwrap().to_owned();
    assert!(text.contains(&format!("content=\"0;url={bound}/enter?ticket=")), "{text}");
    let pid = serving.child.id().to_string();
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    assert!(!page.exists());
}

#[test]
fn a_browser_that_does_not_open_is_said_and_two_signals_at_once_are_one() {
    let tree = Tree::small();
    let desktop = desktop(&tree);
    let mut command = tree.command(["serve", "--no-open", "."]);
    command.envs(desktop.clone()).stdout(Stdio::piped());
    let mut serving = Serving::of(&mut command);
    let told = tree.path("runtime/steadfast");
    // It tells of itself once it has printed its address.
    while std::fs::read_dir(&told).map_or(0, Iterator::count) == 0 {
        std::thread::yield_now();
    }
    let opened = tree.command(["serve", "--open", "a"]).envs(desktop).output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&opened.stdout), String::from_utf8_lossy(&opened.stderr));
    let bound = serving.address.split("/enter").next().unwrap();
    assert!(out.starts_with(bound) && out.contains("/enter?ticket="), "{out}{err}");
    assert!(err.contains("no browser could be opened"), "{err}");
    let pid = serving.child.id().to_string();
    // As `timeout` does: one to the process, one to its group.
    let signals = format!("kill -TERM {pid}; kill -TERM {pid}");
    assert!(Command::new("sh").args(["-c", &signals]).status().unwrap().success());
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    assert_eq!(std::fs::read_dir(&told).unwrap().count(), 0, "its token is gone with it");
}
