//! What `serve` and `open` may be told.
//!
//! In: arguments. Out: folders, an address, and who may come in.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use steadfast_serve::Language;

/// Tag and check in the browser.
///
/// Prints an address with a random token and opens it. The pages show the named folders and nothing
/// else: how they stand, runs at any pace, live, in as many tabs as you like, and the same reports
/// that the command writes. Only this machine can reach it unless told otherwise.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast serve ~/Pictures /mnt/archive          open both in the browser
  steadfast serve --no-open --port 8080 /srv       print the address only
  steadfast serve --hash-password > secret         ask for a password, print its hash
  steadfast serve --listen 0.0.0.0:8443 --host nas.home --password-file secret \\
    --tls-cert cert.pem --tls-key key.pem /archive
  steadfast serve --port 8080 --behind-proxy https://nas.example --password-file secret /archive

Ctrl-C ends it, and with it the runs that it has under way.

Exit status: 0 it was ended; 2 it could not begin.")]
pub(crate) struct ServeArgs {
    /// The folders to show, and all that is in them [default: the current directory]
    #[arg(value_name = "ROOT")]
    pub(crate) roots: Vec<PathBuf>,

    /// Open no browser
    #[arg(long)]
    pub(crate) no_open: bool,

    /// Listen on this port of the loopback address [default: any that is free]
    #[arg(long, value_name = "N", conflicts_with = "listen")]
    pub(crate) port: Option<u16>,

    /// Show all pages in LANGUAGE [default: as each browser wishes]
    #[arg(long, value_name = "LANGUAGE", value_enum)]
    pub(crate) language: Option<LanguageArg>,

    /// Keep records of measurements in DIR, and compare those that are there
    #[arg(long, value_name = "DIR")]
    pub(crate) records: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// Who may reach a server from elsewhere.
#[derive(Debug, Args)]
#[command(next_help_heading = "To be reached from other machines")]
pub(crate) struct ReachArgs {
    /// Listen at ADDRESS:PORT. One that is not loopback wants a password, and a certificate or a
    /// proxy
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,

    /// Let in who knows the password whose hash is in FILE. The printed address then has no token
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,

    /// Ask for a password (or read a line of stdin), print its hash for --password-file, and do
    /// nothing else
    #[arg(long)]
    pub(crate) hash_password: bool,

    /// Speak TLS with the certificates in FILE, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// The private key to them, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Answer to NAME, a host without its port, as well as to the address itself; needed where that
    /// is 0.0.0.0 or `[::]`. Repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,

    /// A proxy on this machine stands in front, and browsers see ORIGIN, as https://nas.example
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) behind_proxy: Option<String>,
}

/// Show files and folders in the browser, from a desktop's menus.
///
/// Serves the folders that the paths are in, opens the browser at them, and ends by itself once no
/// page has been open for ten minutes and nothing is under way.
#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// Files and folders [default: the current directory]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Open no browser; print the address
    #[arg(long)]
    pub(crate) no_open: bool,

    /// Show all pages in LANGUAGE [default: as the browser wishes]
    #[arg(long, value_name = "LANGUAGE", value_enum)]
    pub(crate) language: Option<LanguageArg>,
}

/// A language of the pages.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LanguageArg {
    En,
    De,
}

impl LanguageArg {
    /// Returns the language.
    pub(crate) fn language(self) -> Language {
        match self {
            LanguageArg::En => Language::English,
            LanguageArg::De => Language::German,
        }
    }
}
