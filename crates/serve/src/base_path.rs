//! A path of a proxy's site beneath which the pages lie.
//!
//! In: requests with or without the path. Out: pages whose own addresses begin with it. Pages write
//! addresses from the root of the server; this is the one place that knows better.
//!
//! Considered and not chosen: `<base href>`, which breaks links within a page (`#part-1`) and does
//! not reach redirects; and passing the path to each of the hundred places that write an address,
//! where the parts of a running run, which all visitors share, would need it as well. Quotation
//! marks are escaped in texts, so the attributes below are never part of one.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Uri, header};
use axum::response::Response;

use steadfast_report::escape;

use crate::error::Error;

/// The attributes of pages that begin with an address, and how these begin. No text can contain
/// them, since quotation marks are escaped.
const ADDRESSES: [&str; 9] = [
    " href=\"/",
    " src=\"/",
    " action=\"/",
    " formaction=\"/",
    " data-events=\"/",
    " data-more=\"/",
    " data-part=\"/",
    " data-base=\"/",
    " content=\"0;url=/",
];

/// Returns a path that is plain: slashes between names, none at the end.
///
/// # Errors
/// If it is no such path.
pub(crate) fn ensure_plain(path: &str) -> Result<(), Error> {
    let is_name = |name: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        !name.is_empty() && name.chars().all(plain)
    };
    let names = path.strip_prefix('/').map(|names| names.split('/').all(is_name));
    match path.is_empty() || names == Some(true) {
        true => Ok(()),
        false => {
            let text = format!("`{}` is no path of a site, as /steadfast is", escape::text(path));
            Err(Error::usage(text))
        }
    }
}

/// Takes the path off the address of a request, if the proxy has left it there.
pub(crate) fn strip(base: &str, mut request: Request) -> Request {
    let rest = request.uri().path_and_query().and_then(|path| path.as_str().strip_prefix(base));
    let rest: Option<Uri> = rest.and_then(|rest| match rest.as_bytes().first() {
        None => Some(Uri::from_static("/")),
        Some(b'/') => rest.parse().ok(),
        Some(b'?') => format!("/{rest}").parse().ok(),
        // Another path that begins with the same letters.
        Some(_) => None,
    });
    if let Some(rest) = rest {
        *request.uri_mut() = rest;
    }
    request
}

/// Puts the path before the addresses in a page, and in a redirect.
pub(crate) async fn put_before(base: &str, mut response: Response) -> Response {
    let headers = response.headers_mut();
    let location = headers.get(header::LOCATION).and_then(|to| to.to_str().ok());
    if let Some(to) = location.filter(|to| to.starts_with('/'))
        && let Ok(to) = HeaderValue::from_str(&format!("{base}{to}"))
    {
        headers.insert(header::LOCATION, to);
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_page = kind.is_some_and(|kind| kind.starts_with("text/html"));
    // A saved report has no address of this server.
    if !is_page || headers.contains_key(header::CONTENT_DISPOSITION) {
        return response;
    }
    headers.remove(header::CONTENT_LENGTH);
    let (parts, body) = response.into_parts();
    // A page is made in memory, so this neither waits nor fails.
    let page = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut page = String::from_utf8_lossy(&page).into_owned();
    for address in ADDRESSES {
        let before = address.strip_suffix('/').unwrap_or(address);
        page = page.replace(address, &format!("{before}{base}/"));
    }
    Response::from_parts(parts, Body::from(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_names_between_slashes() {
        for good in ["", "/steadfast", "/a/b-c_d"] {
            assert!(ensure_plain(good).is_ok(), "{good}");
        }
        for bad in ["steadfast", "/", "/a/", "//a", "/a//b", "/a b", "/../a", "/a?b", "/\"x"] {
            assert!(ensure_plain(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_path_is_taken_off_where_it_is_whole() {
        for (asked, left) in [
            ("/s", "/"),
            ("/s/", "/"),
            ("/s?a=/s", "/?a=/s"),
            ("/s/runs/1?x", "/runs/1?x"),
            ("/runs/1", "/runs/1"),
            ("/style.css", "/style.css"),
        ] {
            let request = Request::builder().uri(asked).body(Body::empty()).unwrap();
            assert_eq!(strip("/s", request).uri(), left, "{asked}");
        }
    }
}
