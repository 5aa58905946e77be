//! The way in and out: a token or a password for a cookie, and the cookie given up.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use maud::{Markup, html};

use super::page_with;
use crate::app::App;
use crate::fields::Fields;
use crate::guard::{Asked, Posted, Refusal, Visitor};
use crate::session::fits;
use crate::texts::Words;

/// How long the next try waits after a wrong password.
const PENANCE: Duration = Duration::from_millis(500);

/// The longest password.
const PASSWORD_LEN_MAX: usize = 1024;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/enter", get(ask).post(try_password)).route("/leave", post(leave))
}

/// Lets in who shows the token; asks others for the password, if there is one.
async fn ask(
    State(app): State<Arc<App>>,
    method: Method,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Response {
    let has_token = asked.text("token").is_some_and(|token| app.is_token(token));
    // Who asks for the head alone, as what shows a preview of an address does, uses nothing up.
    let redeem = |ticket: &str| method == Method::GET && app.tickets.redeem(ticket);
    if has_token || asked.text("ticket").is_some_and(redeem) {
        return welcome(&app, &visitor, onward(&asked));
    }
    match app.config.password_hash.is_some() {
        true => form(&visitor, &onward(&asked), None),
        false => Refusal::NoSession.page(&visitor),
    }
}

async fn try_password(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Posted(posted): Posted,
) -> Response {
    let Some(hash) = app.config.password_hash.clone() else {
        return Refusal::NoSession.page(&visitor);
    };
    let password = posted.text("password").unwrap_or("").to_owned();
    if password.len() > PASSWORD_LEN_MAX {
        return Refusal::TooLarge.page(&visitor);
    }
    // One try after another, and few that wait: guessing is slow and takes one processor at most.
    let Ok(_waits) = app.tries.0.try_acquire() else { return Refusal::TooMuch.page(&visitor) };
    let Ok(_turn) = app.tries.1.acquire().await else { return Refusal::TooMuch.page(&visitor) };
    match super::waiting(move || fits(&hash, &password)).await {
        Ok(true) => welcome(&app, &visitor, onward(&posted)),
        Ok(false) => {
            tokio::time::sleep(PENANCE).await;
            form(&visitor, &onward(&posted), Some(visitor.texts().enter.wrong))
        }
        Err(refusal) => refusal.page(&visitor),
    }
}

/// Returns the page of this server that the address leads on to.
fn onward(asked: &Fields) -> String {
    // Nothing but a path: two slashes, or a backslash, would begin another server's name.
    let is_path = |to: &&str| {
        let plain = to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        plain && to.starts_with('/') && !to.starts_with("//")
    };
    asked.text("to").filter(is_path).unwrap_or("/").to_owned()
}

/// Lets a browser in and leads it on.
///
/// Not by a redirection: a browser that came from elsewhere would not show a strict cookie then.
fn welcome(app: &App, visitor: &Visitor, onward: String) -> Response {
    let Ok(key) = app.sessions.begin() else { return Refusal::TooMuch.page(visitor) };
    let texts = visitor.texts();
    let head = html! { meta http-equiv="refresh" content=(format!("0;url={onward}")); };
    let content =
        html! { p { (texts.enter.welcome) } p { a href=(onward) { (texts.enter.go_on) } } };
    let mut response = page_with(visitor, None, texts.enter.title, &head, &content);
    set_cookie(app, &mut response, &key, "");
    response
}

async fn leave(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    if let Some(session) = visitor.session() {
        app.sessions.end(session);
    }
    let enter = &visitor.texts().enter;
    let outside = Visitor::outside(visitor.language);
    let words = Words { title: enter.left, text: enter.left_text };
    let mut response = super::notice(&outside, StatusCode::OK, words);
    set_cookie(&app, &mut response, "", "; Max-Age=0");
    response
}

fn set_cookie(app: &App, response: &mut Response, key: &str, end: &str) {
    let secure = if app.address.secure { "; Secure" } else { "" };
    let cookie = &app.address.cookie;
    let line = format!("{cookie}={key}; Path=/; HttpOnly; SameSite=Strict{secure}{end}");
    let line = HeaderValue::from_str(&line).expect("the cookie is letters and digits");
    response.headers_mut().insert(header::SET_COOKIE, line);
}

fn form(visitor: &Visitor, onward: &str, wrong: Option<&str>) -> Response {
    let texts = &visitor.texts().enter;
    let content: Markup = html! {
        form .sheet method="post" action="/enter" {
            @if let Some(wrong) = wrong { p .wrong role="alert" { (wrong) } }
            input type="hidden" name="to" value=(onward);
            label for="password" { (texts.password) }
            input #password type="password" name="password" autocomplete="current-password"
                required autofocus;
            button type="submit" { (texts.enter) }
        }
    };
    let mut response = super::page(visitor, None, texts.title, &content);
    if wrong.is_some() {
        *response.status_mut() = StatusCode::FORBIDDEN;
    }
    response
}
