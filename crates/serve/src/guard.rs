//! The checks before every page, and the headers after it.
//!
//! In: any request. Out: a refusal as a page, or the request with its [`Visitor`] and, if it posts
//! a form, its [`FormFields`]. The guard wraps the whole router, so no page can omit a check.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use tokio::time::timeout;

use crate::app::App;
use crate::assets::{SCRIPT, STYLE};
use crate::base_path::put_before;
use crate::fields::{NamedValues, encode};
use crate::layout::notice;
use crate::looks::Looks;
use crate::refusal::Refusal;
use crate::session::Secret;
use crate::visitor::{FormFields, Visitor};

/// Longest address in bytes: the longest path, each byte written as `%25XX`.
const ADDRESS_LEN_MAX: usize = 24 << 10;

/// The content policy of every page: own scripts and styles only, nothing inline, no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; \
    base-uri 'none'";

/// Returns whether a page needs no session. `/ticket` requires the token instead.
fn is_open(path: &str) -> bool {
    ["/enter", "/ticket", "/icon.svg", STYLE.path.as_str(), SCRIPT.path.as_str()].contains(&path)
}

/// The address of the metrics, which need a session or a token of their own.
pub(crate) const METRICS: &str = "/metrics";

/// Wraps every page: checks the request first, and completes the response afterwards.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let visitor = visitor_of(&app, request.headers());
    let entrance = entrance_of(&request);
    let is_scrape = request.uri().path() == METRICS;
    let mut response = match admit(&app, &visitor, request).await {
        Ok(request) => next.run(request).await,
        Err(Refusal::NoSession) if app.config.password_hash.is_some() && !is_scrape => {
            Redirect::to(&entrance).into_response()
        }
        Err(refusal) => refusal.into_response(),
    };
    if let Some(refusal) = response.extensions().get::<Refusal>().copied() {
        let (title, text) = (refusal.title(), refusal.text());
        response = notice(&visitor, refusal.status(), title, text);
    }
    if matches!(response.status(), StatusCode::REQUEST_TIMEOUT | StatusCode::PAYLOAD_TOO_LARGE) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    protect(response.headers_mut());
    match app.config.public.base_path.as_str() {
        "" => response,
        base => put_before(base, response).await,
    }
}

/// Returns the address of the password page, which leads on to the requested page.
fn entrance_of(request: &Request) -> String {
    match (request.method(), request.uri().path_and_query()) {
        (&Method::GET, Some(page)) if page.as_str() != "/" => {
            format!("/enter?to={}", encode(page.as_str().as_bytes()))
        }
        _ => "/enter".to_owned(),
    }
}

fn visitor_of(app: &App, headers: &HeaderMap) -> Visitor {
    let looks = cookie(headers, &app.names.looks).map(Looks::of).unwrap_or_default();
    let outside = Visitor::outside(looks);
    match cookie(headers, &app.names.cookie).and_then(|key| app.access.sessions.find(key)) {
        Some(session) => outside.inside(session, app.side(), app.is_local()),
        None => outside,
    }
}

/// Returns whether a request is for the metrics and shows their token.
fn may_scrape(app: &App, request: &Request) -> bool {
    let shown = request.headers().get(header::AUTHORIZATION).and_then(|shown| shown.to_str().ok());
    match (&app.config.metrics_token, shown.and_then(|shown| shown.strip_prefix("Bearer "))) {
        (Some(token), Some(shown)) => {
            request.uri().path() == METRICS && Secret::of(token).is(shown)
        }
        _ => false,
    }
}

/// Returns the value of a cookie.
fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(|line| line.split(';'));
    cookies
        .find_map(|cookie| cookie.trim().split_once('=').filter(|(other, _)| *other == name))
        .map(|(_, value)| value)
}

/// Checks a request, and adds the visitor and the form for its page.
async fn admit(app: &App, visitor: &Visitor, request: Request) -> Result<Request, Refusal> {
    let (method, uri) = (request.method(), request.uri());
    if !matches!(*method, Method::GET | Method::HEAD | Method::POST) {
        return Err(Refusal::Method);
    }
    if uri.path().len() + uri.query().map_or(0, str::len) > ADDRESS_LEN_MAX {
        return Err(Refusal::LongAddress);
    }
    let is_open = is_open(uri.path()) || may_scrape(app, &request);
    if !app.names.admits(method, request.headers(), uri.path() == "/enter") {
        return Err(Refusal::Stranger);
    }
    if visitor.session().is_none() && !is_open {
        return Err(Refusal::NoSession);
    }
    let mut request = match *method == Method::POST {
        true => posted(app, visitor, request).await?,
        false => request,
    };
    request.extensions_mut().insert(visitor.clone());
    Ok(request)
}

/// Checks that a posted body comes from this session, and parses it if it is a form.
///
/// Other bodies stay unread for the page and carry the token in a header, which a page of another
/// server cannot set without a preflight request.
async fn posted(app: &App, visitor: &Visitor, request: Request) -> Result<Request, Refusal> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or("").split(';').next().unwrap_or("").trim();
    let is_form = kind.eq_ignore_ascii_case("application/x-www-form-urlencoded");
    let shown = request.headers().get("x-csrf").and_then(|shown| shown.to_str().ok());
    let shown = shown.map(str::to_owned);
    let fits = |shown: Option<&str>| match (visitor.session(), shown) {
        (Some(session), Some(shown)) => session.csrf.is(shown),
        _ => false,
    };
    if !is_form {
        return if fits(shown.as_deref()) { Ok(request) } else { Err(Refusal::ForeignForm) };
    }
    let limits = app.config.limits;
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|l| l.to_str().ok());
    let is_long = |length: &str| length.parse::<usize>().map_or(true, |l| l > limits.form_len);
    if announced.is_some_and(is_long) {
        return Err(Refusal::TooLarge);
    }
    let (parts, body) = request.into_parts();
    let body = timeout(limits.stall, to_bytes(body, limits.form_len)).await;
    let body = body.map_err(|_| Refusal::TooSlow)?.map_err(|_| Refusal::TooLarge)?;
    let fields = NamedValues::parse(&body).ok_or(Refusal::Malformed)?;
    // The password form has no session yet, and so no token. Its origin was checked.
    if parts.uri.path() != "/enter" && !fits(fields.text("csrf").or(shown.as_deref())) {
        return Err(Refusal::ForeignForm);
    }
    let mut request = Request::from_parts(parts, Body::empty());
    request.extensions_mut().insert(FormFields(Arc::new(fields)));
    Ok(request)
}

/// Adds the security headers that the page did not set itself.
///
/// Sets no HSTS: it would also apply to the host's other ports, which belong to other servers.
fn protect(headers: &mut HeaderMap) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        // With a stricter policy, forms would not send their origin even to this server.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
        ("x-frame-options", "DENY"),
    ] {
        if !headers.contains_key(name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
}
