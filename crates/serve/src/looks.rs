//! How pages look to one browser: its language and its colours, which a cookie keeps.
//!
//! In: the cookie. Out: choices, or none, which follows the browser.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::config::Language;

/// The colours of the pages.
#[derive(Clone, Copy, Debug, Default, EnumString, IntoStaticStr, PartialEq, Eq, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Theme {
    /// As the system has it.
    #[default]
    Follow,
    Light,
    Dark,
}

/// What one browser has chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looks {
    /// `None` follows the browser.
    pub(crate) language: Option<Language>,
    pub(crate) theme: Theme,
}

impl Looks {
    /// Reads the value of the cookie. What it does not say follows the browser.
    pub(crate) fn of(cookie: &str) -> Looks {
        let (language, theme) = cookie.split_once('.').unwrap_or((cookie, ""));
        Looks { language: Language::named(language), theme: theme.parse().unwrap_or_default() }
    }

    /// Writes the value of the cookie.
    pub(crate) fn cookie(self) -> String {
        let theme: &str = self.theme.into();
        format!("{}.{theme}", self.language.map_or("", Language::tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_read_as_it_was_written() {
        for language in [None, Some(Language::English), Some(Language::German)] {
            for &theme in Theme::VARIANTS {
                let looks = Looks { language, theme };
                assert_eq!(Looks::of(&looks.cookie()), looks);
            }
        }
        for junk in ["", ".", "xx.yy", "de", "\"><script>"] {
            assert_eq!(Looks::of(junk).theme, Theme::Follow, "{junk}");
        }
    }
}
