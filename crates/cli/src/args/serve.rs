//! The arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Check and repair folders in the browser.
///
/// Prints an address with a random token, and opens it in the browser. The pages show the named
/// folders only: their state, live runs at any QoS level, and the reports that the command writes.
/// By default, only this machine can connect.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast serve ~/Pictures /mnt/archive          open both in the browser
  steadfast serve --no-open --port 8080 /srv       only print the address
  steadfast serve --open IMG_0042.jpg              show it, by a running server if there is one
  steadfast serve --install ~/Pictures             start it now and at each login
  steadfast serve --hash-password > secret         ask for a password, print its hash
  steadfast serve --listen 0.0.0.0:8443 --host nas.home --password-file secret \\
    --tls-cert cert.pem --tls-key key.pem /archive
  steadfast serve --port 8080 --behind-proxy https://nas.example --password-file secret /archive

Ctrl-C ends the server and its runs.

Exit status: 0 ended by a signal; 2 the server could not start.")]
pub(crate) struct ServeArgs {
    /// The folders to show, with everything in them; with --open, files as well [default: the
    /// current directory]
    #[arg(value_name = "ROOT")]
    pub(crate) roots: Vec<PathBuf>,

    /// Show these files and folders by a running server if it has them, as a desktop's menu does.
    /// Otherwise start one that ends when no page was open for ten minutes and no run goes on
    #[arg(long, conflicts_with_all = [
        "port", "records", "install", "uninstall", "listen", "password_file", "metrics_token",
        "hash_password", "tls_cert", "host", "behind_proxy", "alerts_within"
    ])]
    pub(crate) open: bool,

    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,

    /// Listen on this port of the loopback address [default: any free port]
    #[arg(long, value_name = "N", conflicts_with = "listen")]
    pub(crate) port: Option<u16>,

    /// Save records of measurements in DIR, and compare those that are there
    #[arg(long, value_name = "DIR")]
    pub(crate) records: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) service: ServiceArgs,

    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// A server that is always there.
#[derive(Debug, Args)]
#[command(next_help_heading = "Service")]
pub(crate) struct ServiceArgs {
    /// Start this server now and at each login, as a service of systemd or launchd, at port 8674
    /// unless --port or --listen is given. `serve --open` then uses it
    #[arg(long, conflicts_with_all = ["uninstall", "hash_password"])]
    pub(crate) install: bool,

    /// Stop and remove the service
    #[arg(long, conflicts_with = "hash_password")]
    pub(crate) uninstall: bool,
}

/// Who may connect from other machines.
#[derive(Debug, Args)]
#[command(next_help_heading = "Access from other machines")]
pub(crate) struct ReachArgs {
    /// Listen on ADDRESS:PORT. An address other than loopback needs a password, and a certificate
    /// or a proxy
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,

    /// Ask for the password whose hash is in FILE. The printed address then has no token
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,

    /// Let requests for `/metrics` in that show the token in FILE: `Authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics_token: Option<PathBuf>,

    /// Ask for a password (or read a line of stdin), print its hash for --password-file, and exit
    #[arg(long)]
    pub(crate) hash_password: bool,

    /// Use TLS with the certificates in FILE (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// The private key of the certificates (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Let the pages of a server that others reach send alerts to this machine and its own network
    #[arg(long)]
    pub(crate) alerts_within: bool,

    /// Also accept requests for the host NAME, given without a port. Needed if the address is
    /// 0.0.0.0 or `[::]`. Repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,

    /// A proxy on this machine passes on requests for ORIGIN, for example https://nas.example
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) behind_proxy: Option<String>,

    /// The proxy has the pages beneath PATH of its site, for example /steadfast
    #[arg(long, value_name = "PATH", requires = "behind_proxy")]
    pub(crate) base_path: Option<String>,
}
