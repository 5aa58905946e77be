//! Streams the state of a run or measurement to all pages that show it.
//!
//! In: the latest snapshot, replaced several times a second. Out: server-sent events, one for each
//! part of the page that changed. A slow page misses snapshots, but never the last one. Only one
//! snapshot waits for it, so many pages take no more memory than their connections do.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::lock::lock;
use crate::session::BrowserSession;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use maud::{Markup, PreEscaped, html};
use tokio::sync::watch;
use tokio::time::timeout;

/// How often the server sends a sign of life if nothing changes.
const SIGN_EVERY: Duration = Duration::from_secs(10);

/// Least time between two snapshots, however many pages follow. More of them would distort a
/// measurement.
const PUBLISH_EVERY: Duration = Duration::from_millis(300);

/// A part of a page: the name in its `data-live`, and its HTML.
pub(crate) type LivePart = (&'static str, Arc<str>);

/// A snapshot of a run or measurement.
pub(crate) trait Live: Send + Sync + 'static {
    /// Returns the parts that show it: always the same parts in the same order.
    fn parts(&self) -> LiveParts;

    /// Returns whether this is the last snapshot.
    fn is_over(&self) -> bool;
}

/// The status of a run or a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LiveStatus {
    /// It goes on.
    #[default]
    Running,
    /// It is paused. Measurements cannot be paused.
    Paused,
    /// It was told to stop, but has not ended yet.
    Stopping,
    /// It has ended.
    Ended,
}

/// The commands to a run or measurement on a thread of its own, and its latest snapshot.
pub(crate) struct LiveControl<L> {
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) hold: Arc<AtomicBool>,
    snapshots: watch::Sender<Arc<L>>,
    /// When a snapshot was last due.
    due: Mutex<Option<Instant>>,
}

impl<L: Default> Default for LiveControl<L> {
    fn default() -> LiveControl<L> {
        LiveControl {
            stop: Arc::default(),
            hold: Arc::default(),
            snapshots: watch::Sender::new(Arc::default()),
            due: Mutex::default(),
        }
    }
}

impl<L: Live> LiveControl<L> {
    /// Returns the latest snapshot.
    pub(crate) fn snapshot(&self) -> Arc<L> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// Replaces the snapshot and wakes the pages that follow.
    pub(crate) fn publish(&self, snapshot: L) {
        self.snapshots.send_replace(Arc::new(snapshot));
    }

    /// Returns whether it is time for another snapshot, and counts from now on.
    pub(crate) fn is_due(&self) -> bool {
        let mut due = lock(&self.due);
        let is_due = due.is_none_or(|last| last.elapsed() >= PUBLISH_EVERY);
        if is_due {
            *due = Some(Instant::now());
        }
        is_due
    }

    /// Returns whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.snapshots.borrow().is_over()
    }

    /// Waits until it has ended, but not longer than this.
    pub(crate) async fn over_within(&self, patience: Duration) {
        let mut snapshots = self.snapshots.subscribe();
        let over = snapshots.wait_for(|snapshot| snapshot.is_over());
        // In both cases the caller looks at the latest snapshot.
        let _ = timeout(patience, over).await;
    }

    /// Pauses or resumes it.
    pub(crate) fn hold(&self, held: bool) {
        self.hold.store(held, Ordering::Relaxed);
    }

    /// Tells it to stop.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns its status, which follows the latest command at once.
    pub(crate) fn status(&self) -> LiveStatus {
        if self.is_over() {
            LiveStatus::Ended
        } else if self.stop.load(Ordering::Relaxed) {
            LiveStatus::Stopping
        } else if self.hold.load(Ordering::Relaxed) {
            LiveStatus::Paused
        } else {
            LiveStatus::Running
        }
    }
}

/// The parts of one snapshot.
pub(crate) type LiveParts = Arc<[LivePart]>;

/// The parts of a snapshot, rendered at most once.
#[derive(Default)]
pub(crate) struct Rendered(OnceLock<LiveParts>);

impl Rendered {
    /// Returns the parts, rendering them on the first call.
    pub(crate) fn of(&self, render: impl FnOnce() -> Vec<(&'static str, Markup)>) -> LiveParts {
        let parts = || render().into_iter().map(|(name, part)| (name, part.into_string().into()));
        Arc::clone(self.0.get_or_init(|| parts().collect()))
    }
}

/// Returns the element that shows a part and that the script updates.
pub(crate) fn part(parts: &LiveParts, wanted: &str) -> Markup {
    let found = parts.iter().find(|(name, _)| *name == wanted);
    html! { @if let Some((name, part)) = found { div data-live=(name) { (PreEscaped(part)) } } }
}

/// Returns the part that shows a status. `text` is the status in words.
pub(crate) fn stand(status: LiveStatus, text: &str) -> Markup {
    let class = match status {
        LiveStatus::Running => "going",
        LiveStatus::Paused => "held",
        LiveStatus::Stopping => "stopping",
        LiveStatus::Ended => "over",
    };
    html! { p .stand .(class) { (text) } }
}

/// Returns a section with a title and parts. `id` is that of the title.
pub(crate) fn section(parts: &LiveParts, id: &str, title: &str, wanted: &[&str]) -> Markup {
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            @for name in wanted { (part(parts, name)) }
        }
    }
}

/// Responds with events until the run or measurement ends, the page closes, or the session ends.
pub(crate) fn follow<L: Live>(
    control: &LiveControl<L>,
    session: Option<Arc<BrowserSession>>,
) -> Response {
    let snapshots = control.snapshots.subscribe();
    let follower = Follower { snapshots, session, shown: None, over: false };
    let events = stream::unfold(follower, async |mut follower| {
        let event = follower.next().await?;
        Some((Ok::<Bytes, Infallible>(event), follower))
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Body::from_stream(events)).into_response()
}

/// One page that follows.
struct Follower<L> {
    snapshots: watch::Receiver<Arc<L>>,
    session: Option<Arc<BrowserSession>>,
    shown: Option<LiveParts>,
    over: bool,
}

impl<L: Live> Follower<L> {
    /// Waits for the next event; `None` after the last.
    async fn next(&mut self) -> Option<Bytes> {
        if self.over {
            return None;
        }
        if self.shown.is_some() {
            let changed = tokio::select! {
                changed = timeout(SIGN_EVERY, self.snapshots.changed()) => changed,
                () = left(self.session.as_deref()) => return None,
            };
            match changed {
                Err(_) => return Some(Bytes::from_static(b": \n\n")),
                // The sender is gone. The page shows the last snapshot.
                Ok(Err(_)) => return None,
                Ok(Ok(())) => {}
            }
        }
        let snapshot = Arc::clone(&self.snapshots.borrow_and_update());
        let parts = snapshot.parts();
        let mut text = String::new();
        for (at, (name, part)) in parts.iter().enumerate() {
            let before = self.shown.as_ref().and_then(|shown| shown.get(at));
            if before.is_none_or(|(_, before)| before != part) {
                write_event(name, part, &mut text);
            }
        }
        self.shown = Some(parts);
        if snapshot.is_over() {
            self.over = true;
            write_event("over", "", &mut text);
        }
        if text.is_empty() {
            text.push_str(": \n\n");
        }
        Some(Bytes::from(text))
    }
}

/// Waits until a session has ended.
async fn left(session: Option<&BrowserSession>) {
    match session {
        Some(session) => session.ended().await,
        None => std::future::pending().await,
    }
}

/// Writes one event, whose data may have several lines.
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
