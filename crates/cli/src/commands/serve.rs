//! `steadfast serve`: arguments → a server → its address, and a browser that opens it.

mod open;
mod running;
mod service;

use std::fs;
use std::io::{self, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use steadfast_serve::{Automation, Config, PublicAddress, Server, Tls, hash_password};

use self::service::{install, uninstall};
use super::alert;
use super::measure::made_by;
use crate::args::{ServeArgs, ignores_change_times, workload_of};
use crate::exit::{self, complain};
use crate::output::write_out;
use crate::state_folder;
use steadfast::ExitStatus;

pub(super) fn run(args: &ServeArgs) -> anyhow::Result<ExitStatus> {
    if args.open {
        return open::run(args);
    }
    if args.reach.hash_password {
        return print_hash();
    }
    if args.service.uninstall {
        return uninstall();
    }
    let config = config_of(args)?;
    if args.service.install {
        let roots = config.roots.clone();
        // What the service would refuse is refused here.
        drop(Server::bind(Config { listen: any_port(config.listen), ..config })?);
        return install(args, &roots);
    }
    let server = Server::bind(config)?;
    serve(server, "/", !args.no_open)
}

/// Prints a server's address, opens a page of it, and answers until a signal ends it.
fn serve(server: Server, page: &str, opens: bool) -> anyhow::Result<ExitStatus> {
    let stop = exit::stop_on_signals()?;
    write_out(format!("{}\n", server.address_to_print(page)).as_bytes())
        .context("cannot write to stdout")?;
    let local = server.is_plain_loopback();
    let _told = local.then(|| running::publish(server.bound(), &server.owner_address())).flatten();
    if opens {
        let address = server.ticket_to(page)?;
        // In a thread, because an opener may wait for the page.
        thread::spawn(move || {
            if let Err(error) = open_browser(&address) {
                complain(&format!("no browser could be opened ({error}): open the address above"));
            }
        });
    }
    server.run(&stop)?;
    Ok(ExitStatus::Fine)
}

/// Returns an address with any free port. The service may hold the port that it will get again.
fn any_port(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), 0)
}

fn config_of(args: &ServeArgs) -> anyhow::Result<Config> {
    let reach = &args.reach;
    let loopback = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), args.port.unwrap_or(0));
    let password_hash = reach.password_file.as_deref().map(read_hash).transpose()?;
    let tls = match (&reach.tls_cert, &reach.tls_key) {
        (Some(certificates), Some(key)) => {
            Some(Tls { certificates: read(certificates)?, key: read(key)? })
        }
        _ => None,
    };
    let roots = match args.roots.is_empty() {
        true => vec![PathBuf::from(".")],
        false => args.roots.clone(),
    };
    Ok(Config {
        roots,
        listen: reach.listen.unwrap_or(loopback),
        password_hash,
        tls,
        public: PublicAddress {
            hosts: reach.host.clone(),
            proxy_origin: reach.behind_proxy.clone(),
            base_path: reach.base_path.as_deref().unwrap_or("").trim_end_matches('/').to_owned(),
        },
        records: args.records.clone(),
        trees: state_folder::trees(),
        ignore_change_times: ignores_change_times(),
        automation: automation().ok(),
        alerts_within: reach.alerts_within,
        metrics_token: reach.metrics_token.as_deref().map(read_hash).transpose()?,
        made_by: made_by(),
        workload: |arguments| workload_of(arguments).ok(),
        ..Config::default()
    })
}

/// Returns where schedules and alerts are kept. The pages offer neither without a home folder.
fn automation() -> anyhow::Result<Automation> {
    let sender = super::alert::sender();
    Ok(Automation { places: alert::places()?, host: alert::host()?, sender })
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))
}

fn read_hash(path: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(text.trim().to_owned())
}

fn print_hash() -> anyhow::Result<ExitStatus> {
    let password = read_password()?;
    if password.is_empty() {
        bail!("the password is empty");
    }
    write_out(format!("{}\n", hash_password(&password)?).as_bytes())
        .context("cannot write to stdout")?;
    Ok(ExitStatus::Fine)
}

/// Reads a password: a line of stdin, or twice from a terminal, which does not show it.
fn read_password() -> anyhow::Result<String> {
    if !io::stdin().is_terminal() {
        let mut line = String::new();
        io::stdin().read_line(&mut line).context("cannot read the password from stdin")?;
        return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
    }
    let ask = |prompt| rpassword::prompt_password(prompt).context("cannot read the password");
    let password = ask("Password: ")?;
    if password != ask("The same again: ")? {
        bail!("the two passwords differ");
    }
    Ok(password)
}

/// How long to wait for an opener to fail. After that it is assumed to show the page.
const OPENER_PATIENCE: Duration = Duration::from_secs(3);

/// Asks the desktop to open a page that leads to an address with a ticket.
fn open_browser(address: &str) -> io::Result<()> {
    let page = running::page(address)?;
    let opener = if std::env::consts::OS == "macos" { "open" } else { "xdg-open" };
    let mut child = Command::new(opener)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let begun = Instant::now();
    while begun.elapsed() < OPENER_PATIENCE {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(io::Error::other(format!("{opener} ended with {status}"))),
            None => thread::sleep(Duration::from_millis(50)),
        }
    }
    // Some openers are the browser itself and last as long as that does.
    thread::spawn(move || child.wait());
    Ok(())
}
