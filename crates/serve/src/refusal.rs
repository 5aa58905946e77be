//! The reasons for which a request is refused. The guard answers each with a page of its own.

use axum::Extension;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The method is neither GET nor POST.
    Method,
    /// The request cannot be parsed.
    Malformed,
    /// The address is too long.
    LongAddress,
    /// The request names another server, or comes from the page of another server.
    Stranger,
    /// The request has no session.
    NoSession,
    /// The form does not carry the token of this session.
    ForeignForm,
    /// The body is too large.
    TooLarge,
    /// The body did not arrive in time.
    TooSlow,
    /// The server is busy with as many requests of this kind as it accepts.
    TooMuch,
    /// The page or place does not exist.
    NotFound,
    /// The request does not fit the present state.
    Conflict,
}

impl Refusal {
    /// Returns the HTTP status.
    pub(crate) fn status(self) -> StatusCode {
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
}

/// An empty response that carries the refusal. The guard knows the visitor's language and replaces
/// the response with a page.
impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status(), Extension(self)).into_response()
    }
}
