//! Signs a request with a key that is never sent. Pure: reads no clock and uses no network.
//!
//! In: a request, a key, a moment. Out: the headers to add. Source: AWS General Reference,
//! "Signature Version 4", for headers.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use steadfast::Timestamp;
use steadfast_digest::sha256;

const SERVICE: &str = "s3";

/// The credentials of requests. `Debug` prints no secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    access_key: String,
    secret_key: String,
    session_token: Option<String>,
}

impl Credentials {
    /// Makes credentials of an access key, its secret, and the token of a session if there is one.
    pub fn new(
        access_key: impl Into<String>,
        secret_key: impl Into<String>,
        session_token: Option<String>,
    ) -> Credentials {
        let (access_key, secret_key) = (access_key.into(), secret_key.into());
        Credentials { access_key, secret_key, session_token }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// A request without a body, to be signed.
#[derive(Clone, Debug)]
pub(crate) struct UnsignedRequest<'a> {
    pub(crate) method: &'a str,
    /// The host as the request names it, with its port if it names one.
    pub(crate) host: &'a str,
    /// The path, escaped as it is sent.
    pub(crate) path: &'a str,
    /// Names and values, escaped as they are sent, in order.
    pub(crate) query: &'a [(String, String)],
    /// Further headers, with names in lower case.
    pub(crate) headers: &'a [(&'a str, String)],
}

/// Returns the headers that sign a request.
pub(crate) fn sign(
    request: &UnsignedRequest<'_>,
    who: &Credentials,
    region: &str,
    now: Timestamp,
) -> Vec<(&'static str, String)> {
    let (day, moment) = moment(now);
    let mut added = vec![("x-amz-content-sha256", sha256(b"").to_string()), ("x-amz-date", moment)];
    if let Some(token) = &who.session_token {
        added.push(("x-amz-security-token", token.clone()));
    }
    let mut headers: Vec<(&str, &str)> = vec![("host", request.host)];
    headers.extend(request.headers.iter().map(|(name, value)| (*name, value.trim())));
    headers.extend(added.iter().map(|(name, value)| (*name, value.trim())));
    headers.sort_unstable();
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let mut query: Vec<String> =
        request.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    query.sort_unstable();
    let canonical = format!(
        "{}\n{}\n{}\n{lines}\n{names}\n{}",
        request.method,
        request.path,
        query.join("&"),
        added[0].1
    );
    let scope = format!("{day}/{region}/{SERVICE}/aws4_request");
    let signed = sha256(canonical.as_bytes());
    let to_sign = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{signed}", added[1].1);
    let mut key = format!("AWS4{}", who.secret_key).into_bytes();
    for part in [day.as_str(), region, SERVICE, "aws4_request", &to_sign] {
        key = authenticate(&key, part.as_bytes());
    }
    let signature: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={names},Signature={signature}",
        who.access_key
    );
    added.push(("authorization", authorization));
    added
}

fn authenticate(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

/// Formats a moment: the day, and the day with the time. A clock out of range counts as 1970, and
/// the store refuses the signature.
fn moment(now: Timestamp) -> (String, String) {
    let now = jiff::Timestamp::from_second(now.seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    (now.strftime("%Y%m%d").to_string(), now.strftime("%Y%m%dT%H%M%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// The examples of the Amazon S3 API Reference, "Signature Calculations for the Authorization
    /// Header", that have no body.
    #[test]
    fn published_examples() {
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        let who = Credentials::new("AKIAIOSFODNN7EXAMPLE", secret, None);
        let now = Timestamp { seconds: 1_369_353_600, nanoseconds: 0 };
        let range = [("range", "bytes=0-9".to_owned())];
        let rows = [
            (
                "/test.txt",
                pairs(&[]),
                &range[..],
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
            ),
            (
                "/",
                pairs(&[("lifecycle", "")]),
                &[],
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
            ),
            (
                "/",
                pairs(&[("max-keys", "2"), ("prefix", "J")]),
                &[],
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
            ),
        ];
        for (path, query, headers, signature) in rows {
            let host = "examplebucket.s3.amazonaws.com";
            let request = UnsignedRequest { method: "GET", host, path, query: &query, headers };
            let added = sign(&request, &who, "us-east-1", now);
            let (_, authorization) = added.last().unwrap();
            assert!(authorization.ends_with(&format!("Signature={signature}")), "{authorization}");
            assert_eq!(added[1], ("x-amz-date", "20130524T000000Z".to_owned()));
        }
    }

    #[test]
    fn a_session_s_token_is_signed_and_no_secret_is_shown() {
        let who = Credentials::new("AKID", "topsecret", Some("token".to_owned()));
        let request =
            UnsignedRequest { method: "HEAD", host: "h", path: "/", query: &[], headers: &[] };
        let added = sign(&request, &who, "r", Timestamp { seconds: 0, nanoseconds: 0 });
        let (_, authorization) = added.last().unwrap();
        assert!(authorization.contains("x-amz-date;x-amz-security-token,"), "{authorization}");
        let shown = format!("{who:?}{authorization}");
        assert!(!shown.contains("topsecret"), "{shown}");
    }

    #[test]
    fn moments() {
        for (seconds, expected) in [
            (0, "19700101T000000Z"),
            (11_016 * 86_400, "20000229T000000Z"),
            (1_369_353_600 + 45_296, "20130524T123456Z"),
        ] {
            let (day, whole) = moment(Timestamp { seconds, nanoseconds: 9 });
            assert_eq!((day.as_str(), whole.as_str()), (&expected[..8], expected));
        }
    }
}
