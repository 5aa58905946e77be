//! The user's exclude patterns, in the syntax of `.gitignore`.
//!
//! Takes patterns. Decides whether a path relative to its root is excluded. Uses the `ignore`
//! crate, so that the syntax is exactly git's.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::error::Error;

/// A compiled set of patterns.
pub(crate) struct Excludes {
    patterns: Gitignore,
}

impl Excludes {
    /// Compiles patterns.
    ///
    /// # Errors
    /// If a pattern is invalid; the message names it.
    pub(crate) fn new(patterns: &[String]) -> Result<Excludes, Error> {
        let mut builder = GitignoreBuilder::new("");
        for pattern in patterns {
            builder
                .add_line(None, pattern)
                .map_err(|error| Error::usage(format!("exclude pattern `{pattern}`: {error}")))?;
        }
        let patterns =
            builder.build().map_err(|error| Error::usage(format!("exclude patterns: {error}")))?;
        Ok(Excludes { patterns })
    }

    /// Returns whether there are any patterns.
    pub(crate) fn any(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Returns whether a path relative to its root is excluded.
    pub(crate) fn matches(&self, relative: &Path, is_directory: bool) -> bool {
        self.patterns.matched(relative, is_directory).is_ignore()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_git_means() {
        let patterns = ["*.tmp", "/top", "build/", "!keep.tmp"].map(str::to_owned);
        let excludes = Excludes::new(&patterns).unwrap();
        let excluded = |path: &str, dir| excludes.matches(Path::new(path), dir);
        assert!(excluded("a.tmp", false) && excluded("deep/a.tmp", false));
        assert!(!excluded("deep/keep.tmp", false));
        assert!(excluded("top", false) && !excluded("deep/top", false));
        assert!(excluded("deep/build", true) && !excluded("deep/build", false));
        assert!(!Excludes::new(&[]).unwrap().any());
    }

    #[test]
    fn a_malformed_pattern_is_named() {
        let error = Excludes::new(&["[z-a]".to_owned()]).err().unwrap();
        assert!(error.to_string().contains("`[z-a]`"), "{error}");
    }
}
