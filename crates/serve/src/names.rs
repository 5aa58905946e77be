//! The names by which this server may be reached, and the check of `Host`, `Origin` and
//! `Sec-Fetch-Site`.
//!
//! In: the address that it listens on, and names that its owner configures. Out: whether a request
//! is admitted. A page of another server can make a browser send requests here (DNS rebinding), but
//! cannot change these headers.

use std::net::{Ipv6Addr, SocketAddr};

use axum::http::{HeaderMap, Method, header};

use steadfast_report::escape;

use crate::config::Config;
use crate::error::Error;

/// The names of this server.
#[derive(Clone, Debug)]
pub(crate) struct ServerNames {
    /// Admitted values of `Host`.
    hosts: Vec<String>,
    /// Admitted values of `Origin`.
    origins: Vec<String>,
    /// The name of the cookie. It contains the port, since all ports of a host share cookies.
    pub(crate) cookie: String,
    /// The name of the cookie with the looks that a browser chose.
    pub(crate) looks: String,
    /// Whether browsers reach the server by TLS only.
    pub(crate) secure: bool,
}

impl ServerNames {
    /// Collects the names of a server that listens at `bound`.
    ///
    /// # Errors
    /// If the proxy's origin or a host name is invalid, or the address has no name.
    pub(crate) fn new(config: &Config, bound: SocketAddr) -> Result<ServerNames, Error> {
        let tls = config.tls.is_some();
        let (scheme, usual_port) = if tls { ("https", 443) } else { ("http", 80) };
        if bound.ip().is_unspecified()
            && config.public.hosts.is_empty()
            && config.public.proxy_origin.is_none()
        {
            let text = format!("{} is no address that a browser can name: state one", bound.ip());
            return Err(Error::usage(format!("{text} with --host")));
        }
        if let Some(host) = config.public.hosts.iter().find(|host| !is_host(host)) {
            let host = escape::text(host);
            return Err(Error::usage(format!("`{host}` is no name of a host, as nas.home is")));
        }
        let mut names = vec![match bound {
            SocketAddr::V4(address) => address.ip().to_string(),
            SocketAddr::V6(address) => format!("[{}]", address.ip()),
        }];
        if bound.ip().is_loopback() {
            names.push("localhost".to_owned());
        }
        names.extend(config.public.hosts.iter().map(|host| host.to_ascii_lowercase()));
        let mut hosts: Vec<String> =
            names.iter().map(|name| format!("{name}:{}", bound.port())).collect();
        if bound.port() == usual_port {
            hosts.extend(names);
        }
        let mut origins: Vec<String> =
            hosts.iter().map(|host| format!("{scheme}://{host}")).collect();
        let mut secure = tls;
        if let Some(origin) = &config.public.proxy_origin {
            let authority = authority(origin)?;
            origins.push(format!("https://{authority}"));
            hosts.push(authority);
            secure = true;
        }
        // With this prefix, browsers refuse the cookie if another host set it.
        let prefix = if secure { "__Host-" } else { "" };
        let cookie = format!("{prefix}steadfast-{}", bound.port());
        let looks = format!("{cookie}-looks");
        Ok(ServerNames { hosts, origins, cookie, looks, secure })
    }

    /// Returns whether a request names this server and comes from one of its own pages.
    ///
    /// A POST request must state its origin. With `from_outside`, a page of another server may link
    /// here, since the owner may click the printed address anywhere.
    pub(crate) fn admits(&self, method: &Method, headers: &HeaderMap, from_outside: bool) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let named = match (hosts.next(), hosts.next()) {
            (Some(host), None) => {
                self.hosts.iter().any(|own| host.as_bytes().eq_ignore_ascii_case(own.as_bytes()))
            }
            _ => false,
        };
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let own_origin = match (origins.next(), origins.next()) {
            (Some(origin), None) => {
                self.origins.iter().any(|own| origin.as_bytes() == own.as_bytes())
            }
            (None, _) => method != Method::POST,
            _ => false,
        };
        let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
        let own_site = match site {
            None | Some(b"same-origin" | b"none") => true,
            Some(_) => {
                let mode = headers.get("sec-fetch-mode").map(|mode| mode.as_bytes());
                from_outside && method == Method::GET && mode == Some(b"navigate")
            }
        };
        named && own_origin && own_site
    }
}

/// Returns host and port of a proxy's origin as browsers write them: without the default port.
///
/// Accepts `https` only: others could read the password that a browser sends in clear.
fn authority(origin: &str) -> Result<String, Error> {
    let origin_lower = origin.trim_end_matches('/').to_ascii_lowercase();
    let told = || {
        let shown = escape::text(origin);
        Error::usage(format!("`{shown}` is no origin of a proxy, as https://nas.example is"))
    };
    let rest = origin_lower.strip_prefix("https://").ok_or_else(told)?;
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (rest, None),
    };
    let port = port.map(str::parse::<u16>).transpose().map_err(|_| told())?;
    if !is_host(host) {
        return Err(told());
    }
    Ok(match port {
        None | Some(443) => host.to_owned(),
        Some(port) => format!("{host}:{port}"),
    })
}

/// Returns whether this is a host name or an address. An IPv6 address must be in brackets.
fn is_host(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().is_ok(),
        None => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            !host.is_empty() && host.chars().all(plain)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PublicAddress;

    fn admits(address: &ServerNames, method: &Method, lines: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        address.admits(method, &headers, false)
    }

    #[test]
    fn only_its_own_names_and_pages_are_admitted() {
        let bound: SocketAddr = "127.0.0.1:8080".parse().unwrap();
        let address = ServerNames::new(&Config::default(), bound).unwrap();
        let (get, post) = (Method::GET, Method::POST);
        let own = ("host", "127.0.0.1:8080");
        let origin = ("origin", "http://127.0.0.1:8080");
        assert!(admits(&address, &get, &[own]));
        assert!(admits(&address, &get, &[("host", "LocalHost:8080")]));
        assert!(admits(&address, &post, &[own, origin]));
        for lines in [
            &[][..],
            &[("host", "evil.example:8080")],
            &[("host", "127.0.0.1")],
            &[("host", "127.0.0.1:8081")],
            &[own, own],
            &[own, ("origin", "http://evil.example")],
            &[own, ("origin", "null")],
            &[own, ("sec-fetch-site", "cross-site")],
            &[own, ("sec-fetch-site", "same-site")],
        ] {
            assert!(!admits(&address, &get, lines), "{lines:?}");
        }
        assert!(!admits(&address, &post, &[own]));
        assert!(!admits(&address, &post, &[own, ("origin", "https://127.0.0.1:8080")]));
        assert!(!admits(&address, &post, &[own, origin, origin]));
    }

    #[test]
    fn the_entrance_may_be_opened_from_anywhere() {
        let bound: SocketAddr = "[::1]:9".parse().unwrap();
        let address = ServerNames::new(&Config::default(), bound).unwrap();
        let mut headers = HeaderMap::new();
        headers.append("host", "[::1]:9".parse().unwrap());
        headers.append("sec-fetch-site", "cross-site".parse().unwrap());
        assert!(!address.admits(&Method::GET, &headers, true));
        headers.append("sec-fetch-mode", "navigate".parse().unwrap());
        assert!(address.admits(&Method::GET, &headers, true));
        assert!(!address.admits(&Method::GET, &headers, false));
        assert!(!address.admits(&Method::POST, &headers, true));
    }

    #[test]
    fn a_proxy_is_another_name_and_makes_cookies_secure() {
        let bound: SocketAddr = "127.0.0.1:8080".parse().unwrap();
        let of = |origin: &str| {
            ServerNames::new(
                &Config {
                    public: PublicAddress {
                        proxy_origin: Some(origin.into()),
                        ..PublicAddress::default()
                    },
                    ..Config::default()
                },
                bound,
            )
        };
        let address = of("https://NAS.example/").unwrap();
        assert!(address.secure && address.cookie.starts_with("__Host-"));
        let lines = [("host", "nas.example"), ("origin", "https://nas.example")];
        assert!(admits(&address, &Method::POST, &lines));
        // As browsers write it, whatever its owner wrote.
        let usual = of("https://NAS.example:443").unwrap();
        assert!(admits(&usual, &Method::POST, &lines));
        let other = of("https://[2001:DB8::1]:8443").unwrap();
        let lines = [("host", "[2001:db8::1]:8443"), ("origin", "https://[2001:db8::1]:8443")];
        assert!(admits(&other, &Method::POST, &lines));
        for bad in [
            "nas.example",
            "http://nas.example",
            "https://",
            "https://a/b",
            "ftp://a",
            "https://a b",
            "https://a:b",
            "https://a:99999",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_host_is_a_name_and_every_address_needs_one() {
        let of = |bound: &str, hosts: &[&str]| {
            let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            let public = PublicAddress { hosts, ..PublicAddress::default() };
            ServerNames::new(&Config { public, ..Config::default() }, bound.parse().unwrap())
        };
        assert!(of("0.0.0.0:8443", &["nas.home"]).is_ok());
        assert!(of("127.0.0.1:8443", &["192.0.2.1", "[::1]"]).is_ok());
        for (bound, hosts) in [
            ("0.0.0.0:8443", &[][..]),
            ("[::]:8443", &[]),
            ("127.0.0.1:1", &[""]),
            ("127.0.0.1:1", &["evil name/with:stuff"]),
            ("127.0.0.1:1", &["nas.home:443"]),
        ] {
            assert!(of(bound, hosts).is_err(), "{bound} {hosts:?}");
        }
    }
}
