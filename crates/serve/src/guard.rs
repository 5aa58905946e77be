//! Before every page: who asks, from where, and with what in hand; after it: what browsers may do.
//!
//! In: any request. Out: a refusal, or the request with its [`Visitor`] and, where it posts, the
//! [`Fields`] of its form. No page can forget any of it: it stands around the router, and a form
//! reaches a page only through it.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use tokio::time::timeout;

use crate::app::App;
use crate::config::Language;
use crate::fields::{Fields, encode};
use crate::pages;
use crate::session::Session;
use crate::texts::{Texts, texts};

/// Bytes of an address: a path of the longest kind, each byte written as `%25XX`.
const ADDRESS_LEN_MAX: usize = 24 << 10;

/// What a page may load and do. Nothing inline, nothing from elsewhere, no frame around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; \
    base-uri 'none'";

/// Pages that need no session; the second wants the token.
const OPEN: [&str; 5] = ["/enter", "/ticket", "/style.css", "/script.js", "/icon.svg"];

/// Who asks.
#[derive(Clone)]
pub(crate) struct Visitor {
    /// The language to answer in.
    pub(crate) language: Language,
    session: Option<Arc<Session>>,
}

impl Visitor {
    /// Makes a visitor without a session.
    pub(crate) fn outside(language: Language) -> Visitor {
        Visitor { language, session: None }
    }

    /// Returns the words to answer with.
    pub(crate) fn texts(&self) -> &'static Texts {
        texts(self.language)
    }

    /// Returns the session, where a page needs one.
    pub(crate) fn session(&self) -> Option<&Arc<Session>> {
        self.session.as_ref()
    }

    /// Returns the field that every form that posts must have.
    pub(crate) fn csrf(&self) -> Markup {
        html! {
            @if let Some(session) = &self.session {
                input type="hidden" name="csrf" value=(session.csrf.letters());
            }
        }
    }

    /// Returns what scripts put in the header `x-csrf` of a request that carries no form.
    pub(crate) fn csrf_letters(&self) -> &str {
        self.session.as_ref().map_or("", |session| session.csrf.letters())
    }
}

/// What a query names.
pub(crate) struct Asked(pub(crate) Fields);

/// The form of a request that posts, whose token was the session's.
#[derive(Clone)]
pub(crate) struct Posted(pub(crate) Arc<Fields>);

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It asks for something else than to get or to post.
    Method,
    /// It cannot be understood.
    Malformed,
    /// Its address is too long.
    LongAddress,
    /// It names another server, or comes from another's page.
    Stranger,
    /// It has no session.
    NoSession,
    /// Its form is not one of this session.
    ForeignForm,
    /// Its body is too large.
    TooLarge,
    /// It took too long.
    TooSlow,
    /// Too much is asked at once.
    TooMuch,
    /// There is no such page or place.
    NotFound,
    /// What is asked for cannot be done now.
    Conflict,
}

impl Refusal {
    fn status(self) -> StatusCode {
        match self {
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::Malformed => StatusCode::BAD_REQUEST,
            Refusal::LongAddress => StatusCode::URI_TOO_LONG,
            Refusal::Stranger | Refusal::ForeignForm => StatusCode::FORBIDDEN,
            Refusal::NoSession => StatusCode::UNAUTHORIZED,
            Refusal::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Refusal::TooMuch => StatusCode::TOO_MANY_REQUESTS,
            Refusal::NotFound => StatusCode::NOT_FOUND,
            Refusal::Conflict => StatusCode::CONFLICT,
        }
    }

    /// Makes the page that says so.
    pub(crate) fn page(self, visitor: &Visitor) -> Response {
        let words = (visitor.texts().refusal)(self);
        pages::notice(visitor, self.status(), words)
    }
}

/// Stands before and after every page.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let visitor = visitor_of(&app, request.headers());
    let entrance = entrance_of(&request);
    let mut response = match admit(&app, &visitor, request).await {
        Ok(request) => next.run(request).await,
        Err(Refusal::NoSession) if app.config.password_hash.is_some() => to(&entrance),
        Err(refusal) => refusal.page(&visitor),
    };
    if response.status() == StatusCode::REQUEST_TIMEOUT {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    protect(response.headers_mut());
    response
}

/// The page that asks for the password and leads on to what was asked for.
fn entrance_of(request: &Request) -> String {
    match (request.method(), request.uri().path_and_query()) {
        (&Method::GET, Some(page)) if page.as_str() != "/" => {
            format!("/enter?to={}", encode(page.as_str().as_bytes()))
        }
        _ => "/enter".to_owned(),
    }
}

/// Sends a browser on to a page of this server.
pub(crate) fn to(page: &str) -> Response {
    // Whatever is no header's value is not in addresses that this server writes.
    let location = HeaderValue::from_str(page).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

fn visitor_of(app: &App, headers: &HeaderMap) -> Visitor {
    let wish = headers.get(header::ACCEPT_LANGUAGE).and_then(|wish| wish.to_str().ok());
    let language = app.config.language.unwrap_or_else(|| Language::wished(wish.unwrap_or("")));
    let session = cookie(headers, &app.address.cookie).and_then(|key| app.sessions.find(key));
    Visitor { language, session }
}

/// Returns the value of a cookie.
fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(|line| line.split(';'));
    cookies
        .find_map(|cookie| cookie.trim().split_once('=').filter(|(other, _)| *other == name))
        .map(|(_, value)| value)
}

/// Lets a request through to its page, with what is known of it.
async fn admit(app: &App, visitor: &Visitor, request: Request) -> Result<Request, Refusal> {
    let (method, uri) = (request.method(), request.uri());
    if !matches!(*method, Method::GET | Method::HEAD | Method::POST) {
        return Err(Refusal::Method);
    }
    if uri.path().len() + uri.query().map_or(0, str::len) > ADDRESS_LEN_MAX {
        return Err(Refusal::LongAddress);
    }
    let is_open = OPEN.contains(&uri.path());
    if !app.address.admits(method, request.headers(), uri.path() == "/enter") {
        return Err(Refusal::Stranger);
    }
    if visitor.session.is_none() && !is_open {
        return Err(Refusal::NoSession);
    }
    let mut request = match *method == Method::POST {
        true => posted(app, visitor, request).await?,
        false => request,
    };
    request.extensions_mut().insert(visitor.clone());
    Ok(request)
}

/// Makes sure that what is posted comes from a form of this session, and reads it if it is a form.
///
/// Anything else keeps its body, which the page reads as it comes, and shows the token in a header:
/// no page of a stranger can set one without asking first.
async fn posted(app: &App, visitor: &Visitor, request: Request) -> Result<Request, Refusal> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or("").split(';').next().unwrap_or("").trim();
    let is_form = kind.eq_ignore_ascii_case("application/x-www-form-urlencoded");
    let shown = request.headers().get("x-csrf").and_then(|shown| shown.to_str().ok());
    let shown = shown.map(str::to_owned);
    let fits = |shown: Option<&str>| match (&visitor.session, shown) {
        (Some(session), Some(shown)) => session.csrf.is(shown),
        _ => false,
    };
    if !is_form {
        return if fits(shown.as_deref()) { Ok(request) } else { Err(Refusal::ForeignForm) };
    }
    let limits = app.config.limits;
    let (parts, body) = request.into_parts();
    let body = timeout(limits.stall, to_bytes(body, limits.form_len)).await;
    let body = body.map_err(|_| Refusal::TooSlow)?.map_err(|_| Refusal::TooLarge)?;
    let fields = Fields::parse(&body).ok_or(Refusal::Malformed)?;
    // To come in there is no session yet whose token could be shown; the origin was.
    if parts.uri.path() != "/enter" && !fits(fields.text("csrf").or(shown.as_deref())) {
        return Err(Refusal::ForeignForm);
    }
    let mut request = Request::from_parts(parts, Body::empty());
    request.extensions_mut().insert(Posted(Arc::new(fields)));
    Ok(request)
}

/// Says what browsers may do with an answer. A page may have said more of itself.
///
/// Not that the host is to be reached by TLS alone: that would hold for its every other port too,
/// which are not this server's.
fn protect(headers: &mut HeaderMap) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        // Not less: a form that posts would then not say its origin even to its own server.
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

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Visitor, StatusCode> {
        let visitor = parts.extensions.get::<Visitor>().cloned();
        Ok(visitor.expect("the guard stands around every page"))
    }
}

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Asked, Response> {
        let query = parts.uri.query().unwrap_or("");
        let visitor = parts.extensions.get::<Visitor>().cloned();
        let visitor = visitor.expect("the guard stands around every page");
        Fields::parse(query.as_bytes()).map(Asked).ok_or_else(|| Refusal::Malformed.page(&visitor))
    }
}

impl<S: Sync> FromRequestParts<S> for Posted {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Posted, Response> {
        let visitor = parts.extensions.get::<Visitor>().cloned();
        let visitor = visitor.expect("the guard stands around every page");
        let posted = parts.extensions.get::<Posted>().cloned();
        posted.ok_or_else(|| Refusal::Malformed.page(&visitor))
    }
}
