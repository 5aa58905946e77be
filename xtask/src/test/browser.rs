//! Checks reports and the server in a browser, with Chromium and an accessibility checker, and the
//! server in Firefox too.
//!
//! The pages of reports are golden files; those of the server come from a server that is built for
//! this step. The browsers are the system's, which root installs. The packages that drive Chromium
//! have a separate environment, because they are large and only this step needs them. Must not know
//! what the scripts check.

use std::process::Command;

use super::{Session, setup, steps};

/// Pinned versions, which are updated deliberately. The second package contains the checker.
const PACKAGES: &[&str] = &["playwright==1.65.2", "axe-playwright-python==0.1.8"];

/// Opens every golden page and every page of the server. Fails if one does not pass its checks.
pub(super) fn browser(session: &mut Session) -> anyhow::Result<()> {
    if session.lacks(&["python3", "chromium"]) {
        return Ok(());
    }
    let folder = session.root.join(".venv-browser");
    if let Err(error) = setup::make_environment(&folder, &PACKAGES.join("\n"), PACKAGES) {
        println!("{error:#}");
        session.leave_out("drivers of browsers");
        return Ok(());
    }
    let python = |script: &str| {
        let mut command = Command::new(folder.join("bin/python3"));
        command.arg(script).current_dir(&session.root);
        command
    };
    steps::succeed(&mut python("crates/report/tests/browser/pages.py"))?;
    let program = steps::trial(session)?;
    steps::succeed(python("crates/serve/tests/browser/serve.py").arg(&program))?;
    if session.lacks(&["firefox-esr"]) {
        return Ok(());
    }
    steps::succeed(python("crates/serve/tests/browser/firefox.py").arg(program))
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
