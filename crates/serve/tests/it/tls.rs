//! A server that other machines may reach: encrypted, by a stated name, with a password.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use steadfast_serve::{Config, PublicAddress, Tls, hash_password};

use crate::browser::{PATIENCE, Served};

/// Makes a certificate for `nas.home`; records a skip and returns `None` without `openssl`.
fn certificate(folder: &Path) -> Option<Tls> {
    steadfast_testing::program("openssl")?;
    let made = Command::new("openssl")
        .args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=nas.home"])
        .args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-addext", "subjectAltName=DNS:nas.home"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(folder)
        .output();
    assert!(made.is_ok_and(|made| made.status.success()), "openssl makes no certificate");
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    Some(Tls { certificates: read("cert.pem"), key: read("key.pem") })
}

#[test]
fn pages_are_encrypted_and_cookies_are_kept_to_that() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tls) = certificate(folder.path()) else { return };
    let mut roots = RootCertStore::empty();
    let own = CertificateDer::pem_slice_iter(&tls.certificates).next().unwrap().unwrap();
    roots.add(own).unwrap();
    let served = Served::with(|config| Config {
        tls: Some(tls),
        password_hash: Some(hash_password("open").unwrap()),
        public: PublicAddress { hosts: vec!["nas.home".to_owned()], ..PublicAddress::default() },
        ..config
    });
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider);
    let client = client.with_safe_default_protocol_versions().unwrap();
    let client = Arc::new(client.with_root_certificates(roots).with_no_client_auth());
    let name = ServerName::try_from("nas.home").unwrap();
    let host = format!("nas.home:{}", served.bound.port());
    let ask = |method: &str, lines: &str, body: &str| {
        let connection = ClientConnection::new(Arc::clone(&client), name.clone()).unwrap();
        let stream = TcpStream::connect(served.bound).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let length = body.len();
        let request = format!(
            "{method} /enter HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\
             content-length: {length}\r\n{lines}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    };
    assert!(served.entrance.starts_with(&format!("https://{host}/enter?token=")));
    let page = ask("GET", "", "");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("type=\"password\""), "{page}");
    // That would hold for every other port of the host, too.
    assert!(!page.contains("strict-transport-security"));
    let form = "content-type: application/x-www-form-urlencoded\r\n";
    let own = format!("origin: https://{host}\r\n{form}");
    let page = ask("POST", &own, "password=open");
    assert!(page.contains("set-cookie: __Host-steadfast-"), "{page}");
    assert!(page.contains("; HttpOnly; SameSite=Strict; Secure"), "{page}");
    // The same without encryption is another origin.
    let plain = format!("origin: http://{host}\r\n{form}");
    assert!(ask("POST", &plain, "password=open").starts_with("HTTP/1.1 403"));
    // Who does not speak TLS learns nothing.
    let answer = served.stranger().get("/");
    assert_eq!(answer.status, 0);
}
