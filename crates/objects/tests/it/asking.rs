//! What is asked, what is believed, and for how long it is asked again.

use std::sync::atomic::Ordering;
use std::time::Duration;

use steadfast_objects::{Address, Connection, Credentials, ErrorKind, ObjectStore, RetryPolicy};

use crate::server::{Fault, Held, SECRET, Server, certificate};
use crate::tree::{algorithm, composite, whole};

/// Names that need care, in the order of a store.
const NAMES: [&str; 8] =
    ["/lead", "a b+c&d=e%f", "a/../b", "a//b", "plain", "sp ace/ü", "z~-_.", "日本/\u{1f600}"];

#[test]
fn every_name_is_listed_once_whatever_the_pages() {
    for page_len in [1, 3, 1000] {
        let server = Server::start(NAMES.map(|name| (name, whole(name.as_bytes(), "CRC32"))));
        server.state.lock().unwrap().page_len = page_len;
        let store = server.store("s3://bucket");
        let (mut names, mut next, mut pages) = (Vec::new(), None, 0);
        loop {
            let page = store.list(next.as_deref(), 1000).unwrap();
            names.extend(page.objects.into_iter().map(|listed| listed.key));
            pages += 1;
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(names, NAMES);
        assert_eq!(pages, NAMES.len().div_ceil(page_len));
    }
}

#[test]
fn every_name_is_asked_for_as_it_is() {
    let server = Server::start(NAMES.map(|name| (name, whole(name.as_bytes(), "CRC64NVME"))));
    let store = server.store("s3://bucket");
    for name in NAMES {
        let object = store.head(name).unwrap().unwrap();
        assert_eq!(object.length, Some(name.len() as u64));
        assert_eq!(object.digests[0].digest, algorithm("CRC64NVME").digest(name.as_bytes()));
    }
    assert_eq!(store.head("absent").unwrap(), None);
}

#[test]
fn a_store_is_believed_by_whoever_is_named_to_vouch_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let Some((own, key)) = certificate(folder.path()) else { return };
    let server = Server::start([("a", whole(b"a", "SHA256"))]);
    let endpoint = Some(server.encrypted(&own, &key));
    let ask = |authorities: Option<&[u8]>| {
        let authorities = authorities.map(<[u8]>::to_vec);
        let endpoint = endpoint.clone();
        let connection = Connection { endpoint, authorities, ..server.connection() };
        ObjectStore::new(connection, Address::parse("s3://bucket").unwrap())?.head("a")
    };
    let object = ask(Some(&own)).unwrap().unwrap();
    assert_eq!(object.length, Some(1));
    assert_eq!(server.requests().len(), 1);
    let (another, _) = certificate(folder.path()).unwrap();
    for authorities in [None, Some(&another[..])] {
        let error = ask(authorities).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(error.to_string().contains("certificate"), "{error}");
        assert!(server.requests().is_empty());
    }
    for nonsense in [&b""[..], b"no certificate", &key] {
        assert_eq!(ask(Some(nonsense)).unwrap_err().kind(), ErrorKind::Usage);
    }
}

#[test]
fn a_wrong_key_is_refused_at_once_and_not_told() {
    let server = Server::start([("a", whole(b"a", "SHA256"))]);
    let address = || Address::parse("s3://bucket").unwrap();
    for credentials in [Some(Credentials::new("AKIDEXAMPLE", "another secret", None)), None] {
        let connection = Connection { credentials, ..server.connection() };
        let store = ObjectStore::new(connection, address()).unwrap();
        let error = store.list(None, 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        let shown = format!("{error} {error:?} {store:?}");
        assert!(shown.contains("403 SignatureDoesNotMatch"), "{shown}");
        assert!(!shown.contains("secret") && !shown.contains(SECRET), "{shown}");
        assert_eq!(server.requests().len(), 1);
    }
    // A session's token is signed as well.
    let token = Some("a/token==".to_owned());
    let credentials = Some(Credentials::new("AKIDEXAMPLE", SECRET, token));
    let connection = Connection { credentials, ..server.connection() };
    assert_eq!(
        ObjectStore::new(connection, address()).unwrap().list(None, 1).unwrap().objects.len(),
        1
    );
}

#[test]
fn a_busy_store_is_asked_again_and_not_for_ever() {
    let server = Server::start([("a", whole(b"a", "SHA256"))]);
    let store = server.store("s3://bucket");
    for fault in [Fault::Status(503, None), Fault::Status(500, Some(0)), Fault::Close] {
        server.fault(fault);
    }
    assert_eq!(store.list(None, 1).unwrap().objects.len(), 1);
    assert_eq!(server.requests().len(), 4);
    for _ in 0..10 {
        server.fault(Fault::Status(503, None));
    }
    let error = store.list(None, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreachable);
    assert!(error.to_string().contains("503 SlowDown"), "{error}");
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn waiting_ends_when_the_run_does() {
    let server = Server::start([]);
    let mut connection = server.connection();
    connection.retries = RetryPolicy { tries: 3, pause: Duration::from_secs(1000) };
    connection.stop.store(true, Ordering::Relaxed);
    server.fault(Fault::Status(503, None));
    let store = ObjectStore::new(connection, Address::parse("s3://bucket").unwrap()).unwrap();
    assert_eq!(store.list(None, 1).unwrap_err().kind(), ErrorKind::Interrupted);
    assert!(server.requests().is_empty());
}

#[test]
fn no_redirect_is_followed() {
    let elsewhere = Server::start([("a", whole(b"a", "SHA256"))]);
    let place: &'static str = format!("{}/bucket", elsewhere.endpoint).leak();
    let server = Server::start([]);
    let store = server.store("s3://bucket");
    server.fault(Fault::Redirect(place));
    let error = store.list(None, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Redirected);
    assert!(error.to_string().contains(place), "{error}");
    server.fault(Fault::Redirect(place));
    assert_eq!(store.head("a").unwrap_err().kind(), ErrorKind::Redirected);
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn what_makes_no_sense_is_an_error() {
    let server = Server::start([("a", whole(b"a", "SHA256"))]);
    let store = server.store("s3://bucket");
    for body in [
        "",
        "no xml",
        "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><ListBucketResult>&b;</ListBucketResult>",
    ] {
        server.fault(Fault::Body(body));
        assert_eq!(store.list(None, 1).unwrap_err().kind(), ErrorKind::Malformed, "{body}");
    }
    // A list that leads back to where it began would have no end.
    let circle = "<ListBucketResult><IsTruncated>true</IsTruncated>\
        <NextContinuationToken>t</NextContinuationToken></ListBucketResult>";
    server.fault(Fault::Body(circle));
    assert_eq!(store.list(Some("t"), 1).unwrap_err().kind(), ErrorKind::Malformed);
}

#[test]
fn parts_are_told_in_pages_or_by_the_first() {
    let contents = vec![7; 25];
    let mut by_head = composite(&contents, "SHA256", 10);
    by_head.parts.clear();
    by_head.first_part = Some((10, 3));
    let mut unfit = by_head.clone();
    unfit.first_part = Some((10, 4));
    let objects = [
        ("kept", composite(&contents, "SHA256", 10)),
        ("head", by_head),
        ("unfit", unfit),
        ("none", Held { length: 25, ..Held::default() }),
    ];
    let server = Server::start(objects);
    server.state.lock().unwrap().parts_page_len = 2;
    let store = server.store("s3://bucket");
    let lengths = |key: &str| -> Vec<u64> {
        let parts = store.parts(key, algorithm("SHA256"), 25).unwrap();
        assert_eq!(parts.assumed, key != "kept", "{key}");
        parts.list.iter().map(|part| part.length).collect()
    };
    assert_eq!(lengths("kept"), [10, 10, 5]);
    assert_eq!(lengths("head"), [10, 10, 5]);
    assert!(lengths("unfit").is_empty() && lengths("none").is_empty());
    assert!(store.parts("kept", algorithm("SHA256"), 25).unwrap().list[2].digest.is_some());
}
