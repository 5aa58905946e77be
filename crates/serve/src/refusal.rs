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

    /// Returns the title of its page.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Refusal::Method => "Not supported",
            Refusal::Malformed => "Malformed request",
            Refusal::LongAddress => "Too long",
            Refusal::Stranger => "Not from here",
            Refusal::NoSession => "Please sign in first",
            Refusal::ForeignForm => "Outdated form",
            Refusal::TooLarge => "Too large",
            Refusal::TooSlow => "Too slow",
            Refusal::TooMuch => "Too many requests",
            Refusal::NotFound => "There is nothing here",
            Refusal::Conflict => "Not possible now",
        }
    }

    /// Returns the sentence of its page.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Refusal::Method => "This server accepts GET and POST only.",
            Refusal::Malformed => "The request cannot be parsed.",
            Refusal::LongAddress => "The address is too long.",
            Refusal::Stranger => {
                "The request names another server, or comes from another server's page. Open the \
                 address that the command printed."
            }
            Refusal::NoSession => {
                "Open the address that `steadfast serve` printed. It lets one browser in, once. \
                 For another one, or to come back later, `steadfast serve --open --no-open \
                 FOLDER` prints a new address on the machine of the server."
            }
            Refusal::ForeignForm => {
                "The form belongs to another session. Reload its page and try again."
            }
            Refusal::TooLarge => "The request is too large.",
            Refusal::TooSlow => "The request did not arrive in time.",
            Refusal::TooMuch => "Wait a moment and try again.",
            Refusal::NotFound => {
                "It may be of an earlier start of the server, or be gone. Recorded results are \
                 under Activity."
            }
            Refusal::Conflict => "This is not possible in the present state.",
        }
    }
}

/// An empty response that carries the refusal. The guard replaces the response with a page.
impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status(), Extension(self)).into_response()
    }
}
