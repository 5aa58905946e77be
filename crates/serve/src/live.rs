//! Something that goes on → the parts of a page that show it, to as many pages as look.
//!
//! In: the latest state, replaced some times a second. Out: server-sent events, one for each part
//! that reads otherwise than before. A page that is slow misses states, never the last; what waits
//! for it is one state, so a thousand pages take no more memory than their connections do.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use maud::Markup;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::config::Language;
use crate::guard::Visitor;
use crate::session::Session;

/// How often a page hears that the server is there, where nothing else is to be told.
const SIGN_EVERY: Duration = Duration::from_secs(10);

/// A part of a page: the name in its `data-live`, and what it shows.
pub(crate) type Part = (&'static str, Arc<str>);

/// A state of something that goes on.
pub(crate) trait Live: Send + Sync + 'static {
    /// Returns the parts that show it, always the same in the same order.
    fn parts(&self, language: Language) -> Parts;

    /// Says whether nothing will follow.
    fn is_over(&self) -> bool;
}

/// The parts of one state.
pub(crate) type Parts = Arc<[Part]>;

/// The parts of a state, written once for each language that somebody reads.
#[derive(Default)]
pub(crate) struct Rendered([OnceLock<Parts>; Language::ALL.len()]);

impl Rendered {
    /// Returns the parts, writing them if nobody has yet.
    pub(crate) fn of(
        &self,
        language: Language,
        write: impl FnOnce() -> Vec<(&'static str, Markup)>,
    ) -> Parts {
        let at = Language::ALL.iter().position(|other| *other == language).unwrap_or(0);
        let written = || write().into_iter().map(|(name, part)| (name, part.into_string().into()));
        Arc::clone(self.0[at].get_or_init(|| written().collect()))
    }
}

/// Answers with the events of something that goes on, until it is over or the page is gone, or who
/// looks has left.
pub(crate) fn follow<L: Live>(states: watch::Receiver<Arc<L>>, visitor: &Visitor) -> Response {
    let session = visitor.session().cloned();
    let reader = Reader { states, language: visitor.language, session, shown: None, over: false };
    let events = stream::unfold(reader, async |mut reader| {
        let event = reader.next().await?;
        Some((Ok::<Bytes, Infallible>(event), reader))
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Body::from_stream(events)).into_response()
}

/// One page that looks.
struct Reader<L> {
    states: watch::Receiver<Arc<L>>,
    language: Language,
    session: Option<Arc<Session>>,
    shown: Option<Parts>,
    over: bool,
}

impl<L: Live> Reader<L> {
    /// Waits for the next event; `None` after the last.
    async fn next(&mut self) -> Option<Bytes> {
        if self.over {
            return None;
        }
        if self.shown.is_some() {
            let changed = tokio::select! {
                changed = timeout(SIGN_EVERY, self.states.changed()) => changed,
                () = left(self.session.as_deref()) => return None,
            };
            match changed {
                Err(_) => return Some(Bytes::from_static(b": \n\n")),
                // Whoever told it is gone; the last state stands.
                Ok(Err(_)) => return None,
                Ok(Ok(())) => {}
            }
        }
        let state = Arc::clone(&self.states.borrow_and_update());
        let parts = state.parts(self.language);
        let mut text = String::new();
        for (at, (name, part)) in parts.iter().enumerate() {
            let before = self.shown.as_ref().and_then(|shown| shown.get(at));
            if before.is_none_or(|(_, before)| before != part) {
                write_event(name, part, &mut text);
            }
        }
        self.shown = Some(parts);
        if state.is_over() {
            self.over = true;
            write_event("over", "", &mut text);
        }
        if text.is_empty() {
            text.push_str(": \n\n");
        }
        Some(Bytes::from(text))
    }
}

/// Returns once a session has ended.
async fn left(session: Option<&Session>) {
    match session {
        Some(session) => session.ended().await,
        None => std::future::pending().await,
    }
}

/// Writes one event. Its data may be of several lines.
fn write_event(name: &str, data: &str, text: &mut String) {
    text.push_str("event: ");
    text.push_str(name);
    for line in data.split(['\n', '\r']) {
        text.push_str("\ndata: ");
        text.push_str(line);
    }
    text.push_str("\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_name_and_lines() {
        let mut text = String::new();
        write_event("bar", "<p>a\nb</p>", &mut text);
        write_event("over", "", &mut text);
        assert_eq!(text, "event: bar\ndata: <p>a\ndata: b</p>\n\nevent: over\ndata: \n\n");
    }
}
