//! The settings of one browser: its colours; who may come in; signing out.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use maud::{Markup, html};
use strum::VariantArray as _;

use super::automation::alerts_panel;
use crate::app::App;
use crate::icons::icon;
use crate::layout::{Tab, framed};
use crate::looks::{Looks, Theme};
use crate::visitor::{FormFields, Visitor};

/// How long a browser keeps its choice: a year, in seconds.
const KEPT_S: u32 = 31_536_000;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/settings", get(show).post(save))
}

async fn show(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    let automation = app.config.automation.as_ref();
    let content = html! {
        div .head { div { h1 { "Settings" } } }
        form .panel method="post" action="/settings" aria-labelledby="looks" {
            (visitor.csrf())
            div .cap { (icon("settings")) h2 #looks { "Looks" } }
            div .set {
                h3 #theme { "Colours" }
                div { (themes(visitor.looks.theme)) }
            }
            div .more {
                span { "These apply to this browser." } button .main type="submit" { "Save" }
            }
        }
        @if let Some(automation) = automation { (alerts_panel(&visitor, automation)) }
        section .panel aria-labelledby="access" {
            div .cap { (icon("lock")) h2 #access { "Access" } }
            div .body.stack.tight {
                p {
                    @if visitor.is_local {
                        "This computer only. Nothing is reachable from the network."
                    } @else {
                        "Other computers can sign in with the password."
                    }
                }
                form method="post" action="/leave" {
                    (visitor.csrf())
                    button type="submit" { "Sign out" }
                }
            }
        }
        section .panel aria-labelledby="keys" {
            div .cap { (icon("help")) h2 #keys { "Keys" } }
            p .body {
                "g then h: folders; g then a: activity; g then l: look up; /: search; p: pause or \
                 go on."
            }
        }
    };
    framed(&visitor, Some(Tab::Settings), "Settings", &html! {}, &content)
}

fn themes(chosen: Theme) -> Markup {
    html! {
        div .pick.three role="radiogroup" aria-labelledby="theme" {
            @for &theme in Theme::VARIANTS {
                @let value: &str = theme.into();
                label {
                    input type="radio" name="theme" value=(value) checked[theme == chosen];
                    span .what { (theme_title(theme)) }
                }
            }
        }
    }
}

/// Keeps the choice in a cookie that scripts cannot read.
async fn save(State(app): State<Arc<App>>, FormFields(form): FormFields) -> Response {
    let looks = Looks {
        theme: form.text("theme").and_then(|theme| theme.parse().ok()).unwrap_or_default(),
    };
    let secure = if app.names.secure { "; Secure" } else { "" };
    let (name, value) = (&app.names.looks, looks.cookie());
    let cookie =
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={KEPT_S}{secure}");
    let cookie = HeaderValue::from_str(&cookie).expect("the cookie is letters and digits");
    let mut response = Redirect::to("/settings").into_response();
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

fn theme_title(theme: Theme) -> &'static str {
    match theme {
        Theme::Follow => "As the system",
        Theme::Light => "Light",
        Theme::Dark => "Dark",
    }
}
