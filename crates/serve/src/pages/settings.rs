//! The settings of one browser: language and colours; who may come in; signing out.

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
use crate::config::Language;
use crate::icons::icon;
use crate::layout::{Tab, framed};
use crate::looks::{Looks, Theme};
use crate::texts::folders::SettingsTexts;
use crate::visitor::{FormFields, Visitor};

/// How long a browser keeps its choice: a year, in seconds.
const KEPT_S: u32 = 31_536_000;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/settings", get(show).post(save))
}

async fn show(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    let texts = &visitor.texts().settings;
    let automation = app.config.automation.as_ref();
    let content = html! {
        div .head { div { h1 { (texts.title) } } }
        form .panel method="post" action="/settings" aria-labelledby="looks" {
            (visitor.csrf())
            div .cap { (icon("settings")) h2 #looks { (texts.looks) } }
            div .set {
                h3 { label for="language" { (texts.language) } }
                div { (languages(&visitor, texts)) }
            }
            div .set {
                h3 #theme { (texts.theme) }
                div { (themes(visitor.looks.theme, texts)) }
            }
            div .more { span { (texts.of_browser) } button .main type="submit" { (texts.save) } }
        }
        @if let Some(automation) = automation { (alerts_panel(&visitor, automation)) }
        section .panel aria-labelledby="access" {
            div .cap { (icon("lock")) h2 #access { (texts.access) } }
            div .body.stack.tight {
                p { @if visitor.is_local { (texts.here_only) } @else { (texts.elsewhere) } }
                form method="post" action="/leave" {
                    (visitor.csrf())
                    button type="submit" { (texts.leave) }
                }
            }
        }
        section .panel aria-labelledby="keys" {
            div .cap { (icon("help")) h2 #keys { (texts.keys) } }
            p .body { (texts.keys_text) }
        }
    };
    framed(&visitor, Some(Tab::Settings), texts.title, &html! {}, &content)
}

fn languages(visitor: &Visitor, texts: &SettingsTexts) -> Markup {
    let chosen = visitor.looks.language;
    html! {
        select #language name="language" {
            option value="" selected[chosen.is_none()] { (texts.follow_language) }
            @for language in Language::ALL {
                option value=(language.tag()) lang=(language.tag())
                    selected[chosen == Some(language)] { (language.name()) }
            }
        }
    }
}

fn themes(chosen: Theme, texts: &SettingsTexts) -> Markup {
    html! {
        div .pick.three role="radiogroup" aria-labelledby="theme" {
            @for &theme in Theme::VARIANTS {
                @let value: &str = theme.into();
                label {
                    input type="radio" name="theme" value=(value) checked[theme == chosen];
                    span .what { ((texts.themes)(theme)) }
                }
            }
        }
    }
}

/// Keeps the choice in a cookie that scripts cannot read.
async fn save(State(app): State<Arc<App>>, FormFields(form): FormFields) -> Response {
    let looks = Looks {
        language: form.text("language").and_then(Language::named),
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
