//! Signs a request, so that a store knows who asks. The key itself is never sent.
//!
//! In: a request, a key, a moment. Out: the headers that it must have besides. Does nothing else:
//! no clock, no network. Source: AWS General Reference, "Signature Version 4", for headers.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use steadfast::Timestamp;
use steadfast_digest::sha256;

const SERVICE: &str = "s3";
const DAY_S: i64 = 86_400;

/// Who asks. Shows no secret, however it is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    access_key: String,
    secret_key: String,
    session_token: Option<String>,
}

impl Credentials {
    /// Takes an access key, its secret, and for a session the token.
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

/// What is signed. It has no body.
#[derive(Clone, Debug)]
pub(crate) struct Unsigned<'a> {
    pub(crate) method: &'a str,
    /// The host as the request names it, with its port if it names one.
    pub(crate) host: &'a str,
    /// The path, spelt as it is sent.
    pub(crate) path: &'a str,
    /// Names and values, spelt as they are sent, in order.
    pub(crate) query: &'a [(String, String)],
    /// Further headers, their names in lower case.
    pub(crate) headers: &'a [(&'a str, String)],
}

/// Returns the headers that make a request a signed one.
pub(crate) fn sign(
    request: &Unsigned<'_>,
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

/// Spells a moment: the day, and the whole.
fn moment(now: Timestamp) -> (String, String) {
    let (days, second) = (now.seconds.div_euclid(DAY_S), now.seconds.rem_euclid(DAY_S));
    let (year, month, day) = civil(days);
    let day = format!("{year:04}{month:02}{day:02}");
    let whole = format!("{day}T{:02}{:02}{:02}Z", second / 3600, second / 60 % 60, second % 60);
    (day, whole)
}

/// Turns days since 1970 into a date. Source: Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
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
            let request = Unsigned { method: "GET", host, path, query: &query, headers };
            let added = sign(&request, &who, "us-east-1", now);
            let (_, authorization) = added.last().unwrap();
            assert!(authorization.ends_with(&format!("Signature={signature}")), "{authorization}");
            assert_eq!(added[1], ("x-amz-date", "20130524T000000Z".to_owned()));
        }
    }

    #[test]
    fn a_session_s_token_is_signed_and_no_secret_is_shown() {
        let who = Credentials::new("AKID", "topsecret", Some("token".to_owned()));
        let request = Unsigned { method: "HEAD", host: "h", path: "/", query: &[], headers: &[] };
        let added = sign(&request, &who, "r", Timestamp { seconds: 0, nanoseconds: 0 });
        let (_, authorization) = added.last().unwrap();
        assert!(authorization.contains("x-amz-date;x-amz-security-token,"), "{authorization}");
        let shown = format!("{who:?}{authorization}");
        assert!(!shown.contains("topsecret"), "{shown}");
    }

    #[test]
    fn days() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_778), (2026, 11, 21));
        let (day, whole) = moment(Timestamp { seconds: 1_369_353_600 + 45_296, nanoseconds: 9 });
        assert_eq!((day.as_str(), whole.as_str()), ("20130524", "20130524T123456Z"));
    }
}
