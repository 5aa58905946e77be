//! Checks reports and the server in a browser, with Chromium and an accessibility checker, and the
//! server in Firefox too.
//!
//! The pages of reports are golden files; those of the server come from a server that is built for
//! this step. The browsers are the system's, which root installs. The packages that drive Chromium
//! have a separate environment, because they are large and only this step needs them. Must not know
//! what the scripts check.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use super::{Session, steps};

/// Pinned versions, which are updated deliberately. The second package contains the checker.
const PACKAGES: &[&str] = &["playwright==1.65.2", "axe-playwright-python==0.1.8"];

/// Opens every golden page and every page of the server. Fails if one does not pass its checks.
pub(super) fn browser(session: &mut Session) -> anyhow::Result<()> {
    if session.lacks(&["python3", "chromium"]) {
        return Ok(());
    }
    let folder = session.root.join(".venv-browser");
    environment(&folder)?;
    let python = |script: &str| {
        let mut command = Command::new(folder.join("bin/python3"));
        command.arg(script).current_dir(&session.root);
        command
    };
    steps::succeed(&mut python("crates/report/tests/browser/pages.py"))?;
    let program = steps::program(session)?;
    steps::succeed(python("crates/serve/tests/browser/serve.py").arg(&program))?;
    if session.lacks(&["firefox-esr"]) {
        return Ok(());
    }
    steps::succeed(python("crates/serve/tests/browser/firefox.py").arg(program))
}

/// Sets up the environment unless it exists.
fn environment(folder: &Path) -> anyhow::Result<()> {
    let stamp = folder.join("packages");
    let wanted = PACKAGES.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    steps::succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))
        .context("making a virtual environment (Debian: python3-venv)")?;
    let mut install = Command::new(folder.join("bin/python3"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    steps::succeed(install.args(PACKAGES))?;
    fs::write(&stamp, wanted).with_context(|| format!("writing `{}`", stamp.display()))
}

#[cfg(test)]
mod tests {
    use super::PACKAGES;

    #[test]
    fn packages_are_pinned() {
        assert!(PACKAGES.iter().all(|package| is_exact(package)));
    }

    fn is_exact(package: &str) -> bool {
        let parts = package.split_once("==");
        parts.is_some_and(|(name, version)| !name.is_empty() && !version.is_empty())
    }
}
