//! How pages look to one browser: its colours, which a cookie keeps.
//!
//! In: the cookie. Out: its choice, or none, which follows the system.

use strum::{EnumString, IntoStaticStr, VariantArray};

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
    pub(crate) theme: Theme,
}

impl Looks {
    /// Reads the value of the cookie. What it does not say follows the browser.
    pub(crate) fn of(cookie: &str) -> Looks {
        Looks { theme: cookie.parse().unwrap_or_default() }
    }

    /// Writes the value of the cookie.
    pub(crate) fn cookie(self) -> &'static str {
        self.theme.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_read_as_it_was_written() {
        for &theme in Theme::VARIANTS {
            let looks = Looks { theme };
            assert_eq!(Looks::of(looks.cookie()), looks);
        }
        for junk in ["", ".", "en.dark", "DARK", "\"><script>"] {
            assert_eq!(Looks::of(junk).theme, Theme::Follow, "{junk}");
        }
    }
}
