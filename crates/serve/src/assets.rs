//! The files that every page loads: their names have their digest, so that browsers keep them
//! for as long as they are the same.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse as _, Response};

/// How long a browser may keep a file whose name changes with its contents.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// A file with its address.
pub(crate) struct Asset {
    pub(crate) path: String,
    kind: &'static str,
    content: String,
}

impl Asset {
    fn new(stem: &str, extension: &str, kind: &'static str, content: String) -> Asset {
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        Asset { path: format!("/{stem}-{:016x}.{extension}", hasher.finish()), kind, content }
    }

    /// Returns it as a response that browsers keep.
    pub(crate) fn response(&'static self) -> Response {
        let headers = [(header::CONTENT_TYPE, self.kind), (header::CACHE_CONTROL, FOREVER)];
        (headers, self.content.as_str()).into_response()
    }
}

/// The style of all pages. Documents have the style of reports, and nothing else has.
pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let own = include_str!("../assets/style.css");
    let style = [own, ".document{", steadfast_report::html::STYLE, "}\n"].concat();
    Asset::new("style", "css", "text/css; charset=utf-8", style)
});

pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let script = include_str!("../assets/script.js").to_owned();
    Asset::new("script", "js", "text/javascript; charset=utf-8", script)
});

/// The icon in the tab of a browser.
pub(crate) fn icon() -> Response {
    let kind = (header::CONTENT_TYPE, "image/svg+xml");
    let age = (header::CACHE_CONTROL, "public, max-age=86400");
    ([kind, age], include_str!("../assets/icon.svg")).into_response()
}
