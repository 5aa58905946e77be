//! `steadfast serve --install` and `--uninstall`: arguments → a service of systemd or launchd.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use steadfast_report::advice::typed_path;
use steadfast_watch::TimerKind;
use steadfast_watch::timer::UserService;

use super::super::alert::host;
use crate::args::ServeArgs;
use crate::output::write_out;
use steadfast::ExitStatus;

/// The port of an installed server, if none is given. No registered service has it.
const PORT: u16 = 8674;

/// Installs a server with the same arguments, and says how to open it.
pub(super) fn install(args: &ServeArgs, roots: &[PathBuf]) -> anyhow::Result<ExitStatus> {
    let service = service(words(args, roots)?)?;
    let file = service.install(&host()?)?;
    let first = real(&roots[0])?;
    let text = format!(
        "started, and again at each login: {}\nto open it: steadfast serve --open {}\n",
        file.path.display(),
        typed_path(Path::new(&first))
    );
    write_out(text.as_bytes()).context("cannot write to stdout")?;
    Ok(ExitStatus::Fine)
}

/// Stops and removes it.
pub(super) fn uninstall() -> anyhow::Result<ExitStatus> {
    let removed = service(Vec::new())?.uninstall(&host()?)?;
    let text: &[u8] = if removed { b"removed\n" } else { b"there is none\n" };
    write_out(text).context("cannot write to stdout")?;
    Ok(ExitStatus::Fine)
}

fn service(arguments: Vec<String>) -> anyhow::Result<UserService> {
    let kind: TimerKind = host()?.detect(std::env::consts::OS);
    Ok(UserService { description: "Steadfast in the browser".to_owned(), arguments, kind })
}

/// Returns the command line of the service, with absolute paths.
fn words(args: &ServeArgs, roots: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let reach = &args.reach;
    let mut words = vec!["serve".to_owned(), "--no-open".to_owned()];
    let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    match reach.listen {
        Some(listen) => add("--listen", listen.to_string()),
        None => add("--port", args.port.unwrap_or(PORT).to_string()),
    }
    for (flag, path) in [
        ("--records", &args.records),
        ("--password-file", &reach.password_file),
        ("--tls-cert", &reach.tls_cert),
        ("--tls-key", &reach.tls_key),
    ] {
        if let Some(path) = path {
            add(flag, real(path)?);
        }
    }
    for host in &reach.host {
        add("--host", host.clone());
    }
    if let Some(origin) = &reach.behind_proxy {
        add("--behind-proxy", origin.clone());
    }
    if let Some(path) = &reach.base_path {
        add("--base-path", path.clone());
    }
    if reach.alerts_within {
        words.push("--alerts-within".into());
    }
    words.push("--".to_owned());
    for root in roots {
        words.push(real(root)?);
    }
    Ok(words)
}

/// Returns a path for the text of a service.
fn real(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let real = path.canonicalize().with_context(|| format!("cannot open `{shown}`"))?;
    let text = real.to_str().filter(|text| !text.contains(char::is_control));
    let text = text.with_context(|| format!("a service cannot name `{shown}`"))?;
    Ok(text.to_owned())
}
