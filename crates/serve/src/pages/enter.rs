//! Signing in with a token, a ticket or a password, and signing out.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use maud::{Markup, html};

use crate::app::App;
use crate::fields::NamedValues;
use crate::layout::{framed, notice, page_with};
use crate::refusal::Refusal;
use crate::session::{WHOLE_LIFE, is_password};
use crate::visitor::{ClientAddress, FormFields, QueryFields, Visitor};

/// The delay after a wrong password.
const WRONG_PASSWORD_DELAY: Duration = Duration::from_millis(500);

/// Longest password in bytes.
const PASSWORD_LEN_MAX: usize = 1024;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/enter", get(ask).post(try_password)).route("/leave", post(leave))
}

/// Begins a session if the address has the token or a ticket. Asks for the password otherwise.
async fn ask(
    State(app): State<Arc<App>>,
    method: Method,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    if visitor.session().is_some() {
        // A browser that loads the address again is in already.
        return Ok(lead_on(&visitor, onward(&query)));
    }
    // A HEAD request, as for a preview of the address, uses nothing up.
    let is_get = method == Method::GET;
    let token = |token: &str| is_get && app.access.entrance.redeem(token);
    let ticket = |ticket: &str| is_get && app.access.tickets.redeem(ticket);
    if query.text("token").is_some_and(token) || query.text("ticket").is_some_and(ticket) {
        return welcome(&app, &visitor, onward(&query));
    }
    match app.config.password_hash.is_some() {
        true => Ok(form(&visitor, SIGN_IN, &onward(&query), None)),
        false => Err(Refusal::NoSession),
    }
}

async fn try_password(
    State(app): State<Arc<App>>,
    Extension(ClientAddress(client)): Extension<ClientAddress>,
    visitor: Visitor,
    FormFields(posted): FormFields,
) -> Result<Response, Refusal> {
    let hash = app.config.password_hash.clone().ok_or(Refusal::NoSession)?;
    let password = posted.text("password").unwrap_or("").to_owned();
    if password.len() > PASSWORD_LEN_MAX {
        return Err(Refusal::TooLarge);
    }
    // Of one client one attempt after another, and few that wait: guessing is slow.
    let lane = app.access.password_lanes.of(client);
    let _waits = lane.queue.try_acquire().map_err(|_| Refusal::TooMuch)?;
    let _turn = lane.turn.acquire().await.map_err(|_| Refusal::TooMuch)?;
    // Of all clients one verification after another: guessing takes one processor.
    let verifying = app.access.password_turn.acquire().await.map_err(|_| Refusal::TooMuch)?;
    let is_right = app.blocking(move |_| is_password(&hash, &password)).await?;
    drop(verifying);
    if is_right {
        return welcome(&app, &visitor, onward(&posted));
    }
    tokio::time::sleep(WRONG_PASSWORD_DELAY).await;
    Ok(form(&visitor, SIGN_IN, &onward(&posted), Some("The password is wrong.")))
}

/// Returns the page of this server to show after signing in.
fn onward(values: &NamedValues) -> String {
    // A path only: two slashes, or a backslash, would begin the name of another server.
    let is_path = |to: &&str| {
        let plain = to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        plain && to.starts_with('/') && !to.starts_with("//")
    };
    values.text("to").filter(is_path).unwrap_or("/").to_owned()
}

/// Begins a session and leads on to a page.
///
/// Not by a redirect: after a link from another server, browsers would not send a strict cookie.
fn welcome(app: &App, visitor: &Visitor, onward: String) -> Result<Response, Refusal> {
    let key = app.access.sessions.begin().map_err(|_| Refusal::TooMuch)?;
    let mut response = lead_on(visitor, onward);
    let lasts = format!("; Max-Age={}", WHOLE_LIFE.as_secs());
    // A browser that others may use forgets it when it is closed.
    set_cookie(app, &mut response, &key, if app.is_local() { &lasts } else { "" });
    Ok(response)
}

fn lead_on(visitor: &Visitor, onward: String) -> Response {
    let head = html! { meta http-equiv="refresh" content=(format!("0;url={onward}")); };
    let content = html! { p { "You are signed in." } p { a href=(onward) { "Go on" } } };
    page_with(visitor, None, "Sign in", &head, &content)
}

async fn leave(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    if let Some(session) = visitor.session() {
        app.access.sessions.end(session);
    }
    let outside = Visitor::outside(visitor.looks);
    let title = "You are signed out";
    let mut response = match app.config.password_hash.is_some() {
        true => form(&outside, (title, "Checks go on without you; nothing is lost."), "/", None),
        false => {
            let text = "Checks go on without you; nothing is lost. To come in again, run \
                        `steadfast serve --open` on the computer of the server: it opens this \
                        page anew.";
            notice(&outside, StatusCode::OK, title, text)
        }
    };
    set_cookie(&app, &mut response, "", "; Max-Age=0");
    response
}

fn set_cookie(app: &App, response: &mut Response, key: &str, end: &str) {
    let secure = if app.names.secure { "; Secure" } else { "" };
    let cookie = &app.names.cookie;
    let line = format!("{cookie}={key}; Path=/; HttpOnly; SameSite=Strict{secure}{end}");
    let line = HeaderValue::from_str(&line).expect("the cookie is letters and digits");
    response.headers_mut().insert(header::SET_COOKIE, line);
}

/// The title of the password page, and the sentence beneath it.
const SIGN_IN: (&str, &str) = ("Sign in", "Enter the password of this server.");

fn form(
    visitor: &Visitor,
    (title, says): (&str, &str),
    onward: &str,
    wrong: Option<&str>,
) -> Response {
    let content: Markup = html! {
        h1 { (title) }
        p .soft { (says) }
        form method="post" action="/enter" {
            @if let Some(wrong) = wrong { p .note.bad role="alert" { (wrong) } }
            input type="hidden" name="to" value=(onward);
            div .field {
                label for="password" { "Password" }
                input #password type="password" name="password" autocomplete="current-password"
                    required autofocus;
            }
            button .button.main type="submit" { "Sign in" }
        }
        p .small.soft {
            "Forgotten? On the computer of the server, " code { "steadfast serve --hash-password" }
            " makes another one."
        }
    };
    let mut response = framed(visitor, None, title, &html! {}, &content);
    if wrong.is_some() {
        *response.status_mut() = StatusCode::FORBIDDEN;
    }
    response
}
