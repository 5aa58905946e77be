//! What a page knows of a request: the visitor, the query and the form.
//!
//! The guard puts visitor and form into the request; handlers take them as arguments.

use std::net::IpAddr;
use std::sync::Arc;

use crate::fields::NamedValues;
use crate::folders::SideFolder;
use crate::looks::{Looks, Theme};
use crate::refusal::Refusal;
use crate::session::BrowserSession;
use axum::extract::FromRequestParts;
use axum::http::request::Parts as RequestParts;
use maud::{Markup, html};

/// Who sends a request, and what the frame of each page shows.
#[derive(Clone)]
pub(crate) struct Visitor {
    /// What the browser chose.
    pub(crate) looks: Looks,
    /// The folders of the side bar.
    pub(crate) side: Arc<[SideFolder]>,
    /// Whether only this machine reaches the server.
    pub(crate) is_local: bool,
    session: Option<Arc<BrowserSession>>,
}

impl Visitor {
    /// Makes a visitor who has not signed in.
    pub(crate) fn outside(looks: Looks) -> Visitor {
        Visitor { looks, side: Arc::new([]), is_local: false, session: None }
    }

    /// Makes a visitor of a session, with the folders of the side bar.
    pub(crate) fn inside(
        self,
        session: Arc<BrowserSession>,
        side: Arc<[SideFolder]>,
        is_local: bool,
    ) -> Visitor {
        Visitor { session: Some(session), side, is_local, ..self }
    }

    /// Replaces the folders of the side bar, for a page that has just looked at them.
    pub(crate) fn with_side(self, side: Arc<[SideFolder]>) -> Visitor {
        Visitor { side, ..self }
    }

    /// Returns the colours that the browser chose; `None` follows its system.
    pub(crate) fn theme(&self) -> Option<&'static str> {
        (self.looks.theme != Theme::Follow).then(|| self.looks.theme.into())
    }

    /// Returns the session, if there is one.
    pub(crate) fn session(&self) -> Option<&Arc<BrowserSession>> {
        self.session.as_ref()
    }

    /// Returns the hidden field that every form that posts must have.
    pub(crate) fn csrf(&self) -> Markup {
        html! {
            @if let Some(session) = &self.session {
                input type="hidden" name="csrf" value=(session.csrf.letters());
            }
        }
    }

    /// Returns what scripts send in the header `x-csrf` of a request that carries no form.
    pub(crate) fn csrf_letters(&self) -> &str {
        self.session.as_ref().map_or("", |session| session.csrf.letters())
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut RequestParts, _: &S) -> Result<Visitor, Refusal> {
        let visitor = parts.extensions.get::<Visitor>().cloned();
        Ok(visitor.expect("the guard wraps every page"))
    }
}

/// The address at the other end of a connection.
#[derive(Clone, Copy)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

/// The fields of a query.
pub(crate) struct QueryFields(pub(crate) NamedValues);

impl<S: Sync> FromRequestParts<S> for QueryFields {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut RequestParts, _: &S) -> Result<QueryFields, Refusal> {
        let query = parts.uri.query().unwrap_or("");
        NamedValues::parse(query.as_bytes()).map(QueryFields).ok_or(Refusal::Malformed)
    }
}

/// The fields of a posted form, whose token the guard has checked.
#[derive(Clone)]
pub(crate) struct FormFields(pub(crate) Arc<NamedValues>);

impl<S: Sync> FromRequestParts<S> for FormFields {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut RequestParts, _: &S) -> Result<FormFields, Refusal> {
        parts.extensions.get::<FormFields>().cloned().ok_or(Refusal::Malformed)
    }
}
