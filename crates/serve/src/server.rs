//! The listener, and the limits of connections.
//!
//! In: a [`Config`]. Out: a bound [`Server`] that runs until it is told to stop. Limits how many
//! connections there are, and how long each may take.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use steadfast_report::escape;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::app::App;
use crate::base_path::ensure_plain;
use crate::config::{Config, Limits};
use crate::error::Error;
use crate::pages;
use crate::session::ensure_hash;
use crate::tls;
use crate::visitor::ClientAddress;
use crate::wire::WriteTimeout;

/// Threads that serve connections. Long work has other threads.
const SERVING_THREADS: usize = 2;

/// Threads for work that waits for the disk.
const BLOCKING_THREADS_MAX: usize = 32;

/// Limits of the head of a request: bytes and lines.
const HEAD_LEN_MAX: usize = 64 << 10;
const HEAD_LINES_MAX: usize = 64;

/// Characters of the token of the metrics, which may be tried without a pause.
const METRICS_TOKEN_LEN_MIN: usize = 20;

/// Time between two checks whether to stop.
const POLL_EVERY: Duration = Duration::from_millis(100);

/// Time for a request and for each wait of a connection that was accepted when few places were
/// left. Clients that are slow on purpose then give their places back soon.
const CROWDED: Duration = Duration::from_secs(2);

/// How long connections may go on when the server stops.
const GRACE: Duration = Duration::from_millis(500);

/// A server that listens, but does not answer yet.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
    bound: SocketAddr,
    tls: Option<TlsAcceptor>,
}

impl Server {
    /// Binds the address.
    ///
    /// # Errors
    /// If the configuration is unsafe or contradictory, or the address is in use.
    pub fn bind(config: Config) -> Result<Server, Error> {
        ensure_safe(&config)?;
        if let Some(records) = config.records.as_deref() {
            let shown = escape::path(records);
            std::fs::read_dir(records)
                .map_err(|error| Error::system(format!("keep records in `{shown}`"), error))?;
        }
        let tls = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let listen = config.listen;
        let refused = |error| Error::system(format!("listen at {listen}"), error);
        let listener = TcpListener::bind(listen).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let bound = listener.local_addr().map_err(refused)?;
        let app = Arc::new(App::new(config, bound)?);
        Ok(Server { app, listener, bound, tls })
    }

    /// Returns the address that it listens at.
    pub fn bound(&self) -> SocketAddr {
        self.bound
    }

    /// Returns the address with the token, which lets one browser in. Show it to the owner only.
    pub fn address(&self) -> String {
        self.app.entrance()
    }

    /// Returns the address by which a command of the owner asks for tickets. Keep it in a file that
    /// only the owner can read.
    pub fn owner_address(&self) -> String {
        self.app.owner_address()
    }

    /// Returns the address of a page to print. It contains the token unless there is a password:
    /// what a service prints ends up in logs.
    pub fn address_to_print(&self, page: &str) -> String {
        match self.app.config.password_hash {
            Some(_) => self.app.page_address(page),
            None => self.app.entrance_to(page),
        }
    }

    /// Returns the address of a page with a ticket instead of the token, which lets one browser in,
    /// once and within a minute. Pass it to a browser, since others may see its arguments.
    ///
    /// # Errors
    /// If the system returns no random bytes.
    pub fn ticket_to(&self, page: &str) -> Result<String, Error> {
        self.app.ticket_to(page)
    }

    /// Returns the page that shows paths, or the start page if one is beneath no root.
    pub fn page_of(&self, paths: &[PathBuf]) -> String {
        self.app.page_of(paths).unwrap_or_else(|| "/".to_owned())
    }

    /// Returns whether only this machine can reach it, and without TLS, so that other commands of
    /// its owner can connect to it.
    pub fn is_plain_loopback(&self) -> bool {
        let config = &self.app.config;
        let named = config.public.hosts.is_empty() && config.public.proxy_origin.is_none();
        self.bound.ip().is_loopback() && self.tls.is_none() && named
    }

    /// Answers until `stop` is set. Then stops all runs and waits for them.
    ///
    /// # Errors
    /// If the system refuses threads.
    pub fn run(self, stop: &AtomicBool) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(SERVING_THREADS)
            .max_blocking_threads(BLOCKING_THREADS_MAX)
            .thread_name("serve")
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Error::system("start threads", error))?;
        let Server { app, listener, tls, .. } = self;
        let router = pages::router(Arc::clone(&app));
        let outcome = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)
                .map_err(|error| Error::system("listen", error))?;
            let limits = app.limits();
            let places = Arc::new(Semaphore::new(limits.connections));
            tokio::select! {
                () = accept(&listener, tls, router, limits, Arc::clone(&places)) => {}
                () = until_set(stop) => {}
                () = idle(&app, &places, limits.connections) => {}
            }
            Ok(())
        });
        app.drops.end_all();
        app.measurements.end_all();
        app.runs.end_all();
        app.repairs.end_all();
        app.repair_data.end_all();
        app.copies.end_all();
        runtime.shutdown_timeout(GRACE);
        outcome
    }
}

/// Requires a password and TLS if other machines can reach the server.
fn ensure_safe(config: &Config) -> Result<(), Error> {
    let elsewhere = !config.listen.ip().is_loopback();
    if elsewhere && config.tls.is_none() {
        return Err(Error::usage(
            "to be reached from other machines takes a certificate and its key, or a proxy on \
             this machine that has them and a loopback address that only it reaches",
        ));
    }
    if (elsewhere || config.public.proxy_origin.is_some()) && config.password_hash.is_none() {
        return Err(Error::usage("to be reached from other machines takes a password"));
    }
    ensure_plain(&config.public.base_path)?;
    if config.metrics_token.as_ref().is_some_and(|token| token.len() < METRICS_TOKEN_LEN_MIN) {
        return Err(Error::usage(format!(
            "the token of the metrics has fewer than {METRICS_TOKEN_LEN_MIN} characters"
        )));
    }
    config.password_hash.as_deref().map_or(Ok(()), ensure_hash)
}

/// Waits until the flag is set.
async fn until_set(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(POLL_EVERY).await;
    }
}

/// Waits until there was no connection and no run for the configured time.
async fn idle(app: &App, places: &Semaphore, all: usize) {
    let Some(patience) = app.config.ends_when_idle else { return std::future::pending().await };
    let mut since = Instant::now();
    while since.elapsed() < patience {
        tokio::time::sleep(POLL_EVERY).await;
        // One permit is held for the next connection.
        let works = app.runs.going().is_some() || app.measurements.going().is_some();
        let mends = app.repairs.going().is_some() || app.repair_data.going().is_some();
        let copies = app.copies.going().is_some() || app.drops.any_going();
        let going = works || mends || copies;
        if places.available_permits() + 1 < all || going {
            since = Instant::now();
        }
    }
}

/// Accepts connections, up to the limit at a time.
async fn accept(
    listener: &tokio::net::TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
    places: Arc<Semaphore>,
) {
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let place = place.expect("the semaphore is never closed");
        let Ok((stream, client)) = listener.accept().await else {
            // The client is gone already, or the process has no free file descriptor now.
            tokio::time::sleep(POLL_EVERY).await;
            continue;
        };
        let tls = tls.clone();
        let router = router.clone().layer(Extension(ClientAddress(client.ip())));
        let limits = match places.available_permits() < limits.connections / 4 {
            true => limits.hastened(CROWDED),
            false => limits,
        };
        tokio::spawn(async move {
            // A failed connection concerns its client only.
            let _ = attend(stream, tls, router, limits).await;
            drop(place);
        });
    }
}

async fn attend(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let stream = WriteTimeout::new(stream, limits.stall);
    match tls {
        None => talk(stream, router, limits).await,
        Some(tls) => talk(timeout(limits.head, tls.accept(stream)).await??, router, limits).await,
    }
}

async fn talk<S>(stream: S, router: Router, limits: Limits) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(HEAD_LEN_MAX)
        .max_headers(HEAD_LINES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .await
        .map_err(io::Error::other)
}
