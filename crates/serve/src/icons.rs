//! Icons: symbols that every page carries once, and the markup that refers to them.

use maud::{Markup, PreEscaped, html};

/// Every symbol. Source of the shapes: drawn for this project.
const SYMBOLS: &str = include_str!("../assets/icons.svg");

/// Returns the symbols, for the end of a page.
pub(crate) fn symbols() -> Markup {
    PreEscaped(SYMBOLS.to_owned())
}

/// Returns an icon beside words. Screen readers skip it.
pub(crate) fn icon(name: &str) -> Markup {
    drawn(name, "icon")
}

/// Returns a small icon, for chips and lists.
pub(crate) fn small_icon(name: &str) -> Markup {
    drawn(name, "icon sm")
}

/// Returns an icon with further classes.
pub(crate) fn drawn(name: &str, class: &str) -> Markup {
    html! { svg class=(class) aria-hidden="true" { use href=(format!("#i-{name}")) {} } }
}

/// Returns an icon on a tinted disc. `class` is a state, and "big" if it is the page's own.
pub(crate) fn disc(name: &str, class: &str) -> Markup {
    html! { span .disc.(class) { (drawn(name, &format!("icon {class}"))) } }
}

/// Returns the mark of the project.
pub(crate) fn mark() -> Markup {
    html! {
        svg .mark viewBox="0 0 32 32" aria-hidden="true" {
            path .shell d="M14.2 1.9a3.6 3.6 0 0 1 3.6 0l9.3 5.4a3.6 3.6 0 0 1 1.8 3.1v11.2\
                a3.6 3.6 0 0 1-1.8 3.1l-9.3 5.4a3.6 3.6 0 0 1-3.6 0l-9.3-5.4\
                a3.6 3.6 0 0 1-1.8-3.1V10.4a3.6 3.6 0 0 1 1.8-3.1z" {}
            path .lines d="M16 2v5.2M16 24.8V30M3.8 9l4.6 2.6M28.2 9l-4.6 2.6M3.8 23l4.6-2.6M28.2 \
                23l-4.6-2.6M16 7.2l7.6 4.4v8.8L16 24.8l-7.6-4.4v-8.8z" {}
            path .tick d="M11.6 16.2l3.1 3.2 5.8-6.4" {}
        }
    }
}

/// Returns a bar that is filled to a share from 0 to 1. `label` says the same in words.
pub(crate) fn bar(share: f64, class: &str, size: &str, label: &str) -> Markup {
    let width = format!("{:.1}%", share.clamp(0.0, 1.0) * 100.0);
    html! {
        svg class=(format!("bar {size}")) role="img" aria-label=(label) {
            rect .(class) width=(width) height="100%" {}
        }
    }
}
