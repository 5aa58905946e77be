//! Running servers of this user, and how a command talks to one.
//!
//! In: the address of a server with its token, or paths to show. Out: a file that only its owner
//! can read and that is removed with the server, or an address to open. The file of a server that
//! does not answer is ignored.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast::beneath::{FileKind, Status, make_private_folder, write_private};
use steadfast::names::NameBytes as _;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Bytes of an answer, and of a file about a server, at most.
const ANSWER_LEN_MAX: u64 = 64 << 10;

/// The file with the address of a running server.
pub(crate) struct AddressFile(PathBuf);

impl Drop for AddressFile {
    fn drop(&mut self) {
        // A file left behind names a server that does not answer.
        let _ = fs::remove_file(&self.0);
        let name = self.0.file_name().unwrap_or_default().to_string_lossy();
        let _ = fs::remove_file(self.0.with_file_name(page_name(&name)));
    }
}

/// Publishes the address of a server to other commands of this user, if the system has a folder for
/// that.
pub(crate) fn publish(bound: SocketAddr, address: &str) -> Option<AddressFile> {
    write(&name_of(&bound.to_string()), address).map(AddressFile)
}

/// Returns the name of the file about a server.
fn name_of(server: &str) -> String {
    format!("serve-{}", server.replace([':', '[', ']'], "-"))
}

fn page_name(name: &str) -> String {
    format!("{name}.html")
}

/// Writes a page that leads a browser to an address with a ticket: everybody can see the arguments
/// of a browser. It is of no use after a minute.
pub(crate) fn page(address: &str) -> io::Result<PathBuf> {
    let name = page_name(&name_of(address.split('/').nth(2).unwrap_or_default()));
    let address = address.replace('&', "&amp;");
    let page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><title>Steadfast</title>\n\
         <meta http-equiv=\"refresh\" content=\"0;url={address}\">\n"
    );
    let none = || io::Error::other("there is no folder for a page that only this user can read");
    write(&name, &page).ok_or_else(none)
}

/// Writes a file that only this user can read.
fn write(name: &str, text: &str) -> Option<PathBuf> {
    let folder = folder()?;
    make_private_folder(&folder).ok().filter(|()| is_ours(&folder))?;
    let path = folder.join(name);
    // Only one server has an address and port, so an existing file is of one that has ended.
    write_private(&path, text.as_bytes()).ok()?;
    Some(path)
}

/// Finds a server that shows these paths, and returns the address to open.
pub(crate) fn find(paths: &[PathBuf]) -> Option<String> {
    let folder = folder().filter(|folder| is_ours(folder))?;
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files.iter().find_map(|file| ask(file, paths))
}

/// Asks the server in a file.
fn ask(file: &Path, paths: &[PathBuf]) -> Option<String> {
    let mut entrance = String::new();
    fs::File::open(file).ok()?.take(ANSWER_LEN_MAX).read_to_string(&mut entrance).ok()?;
    let (bound, token) = entrance.trim().strip_prefix("http://")?.split_once("/ticket?token=")?;
    let bound: SocketAddr = bound.parse().ok().filter(|at: &SocketAddr| at.ip().is_loopback())?;
    let mut stream = match TcpStream::connect_timeout(&bound, PATIENCE) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            // It ended without removing its file.
            let _ = fs::remove_file(file);
            return None;
        }
        connected => connected.ok()?,
    };
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let mut query = format!("token={token}");
    for path in paths {
        query.push_str("&path=");
        query.push_str(&path.percent_encoded());
    }
    let request =
        format!("GET /ticket?{query} HTTP/1.1\r\nhost: {bound}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.take(ANSWER_LEN_MAX).read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8(answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let is_address =
        head.starts_with("HTTP/1.1 200 ") && body.starts_with(&format!("http://{bound}/enter?"));
    is_address.then(|| body.trim().to_owned())
}

/// The folder of the system for files that last as long as a login.
fn folder() -> Option<PathBuf> {
    let name = if std::env::consts::OS == "macos" { "TMPDIR" } else { "XDG_RUNTIME_DIR" };
    let named = std::env::var_os(name).map(PathBuf::from).filter(|above| above.is_absolute());
    // A Quick Action may be started without the variable.
    let above = named.or_else(steadfast::process::user_folder)?;
    Some(above.join("steadfast"))
}

/// Returns whether this is a folder of this user that is closed to all others.
fn is_ours(folder: &Path) -> bool {
    let temporary = || steadfast::process::user_folder().unwrap_or_else(std::env::temp_dir);
    let own = Status::of(Path::new("/proc/self")).or_else(|_| Status::of(&temporary()));
    let (Ok(there), Ok(own)) = (Status::of_link(folder), own) else { return false };
    there.kind == FileKind::Directory && there.uid == own.uid && there.mode & 0o077 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_answer_is_passed_by() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("serve-1");
        for entrance in [
            "",
            "http://127.0.0.1:1/ticket?token=x",
            "http://192.0.2.1:80/ticket?token=x",
            "https://127.0.0.1:1/ticket?token=x",
            "http://evil.example:80/ticket?token=x",
        ] {
            fs::write(&file, entrance).unwrap();
            assert_eq!(ask(&file, &[PathBuf::from("/x")]), None, "{entrance}");
        }
    }

    #[test]
    fn a_folder_that_others_can_open_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("steadfast");
        fs::create_dir(&at).unwrap();
        assert!(!is_ours(&at));
        fs::remove_dir(&at).unwrap();
        make_private_folder(&at).unwrap();
        assert!(is_ours(&at));
        assert!(!is_ours(&folder.path().join("absent")));
    }
}
