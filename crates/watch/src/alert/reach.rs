//! Whether an alert leads to this computer or its own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _, UdpSocket};

use super::config::{Alert, AlertList, Channel, host_of};
use crate::error::{Error, ErrorKind};

impl AlertList {
    /// Requires that there are fewer alerts than `most`.
    ///
    /// # Errors
    /// `Usage` if there are as many.
    pub fn ensure_room(&self, most: usize) -> Result<(), Error> {
        let text = format!("there are {most} already: remove one first");
        let error = Error::new(ErrorKind::Usage, text);
        if self.alerts().len() < most { Ok(()) } else { Err(error) }
    }
}

impl Alert {
    /// Requires that its address, if it has one, leads to neither this computer nor its own
    /// network: loopback, link-local and private addresses, and the network of the address from
    /// which this computer would reach it.
    ///
    /// # Errors
    /// `Usage` if it does, or if that cannot be told.
    pub fn ensure_elsewhere(&self) -> Result<(), Error> {
        let (Channel::Webhook { url, .. } | Channel::Ping(url)) = &self.channel else {
            return Ok(());
        };
        let refused = |text: &str| Err(Error::new(ErrorKind::Usage, text.to_owned()));
        let Some(host) = name_of(url) else { return refused("this is no address of a server") };
        let Ok(found) = (host, 443).to_socket_addrs() else {
            return refused("no server of this name is known");
        };
        let mut found = found.peekable();
        let is_elsewhere = |address: SocketAddr| {
            is_elsewhere(address.ip())
                && source_for(address).is_none_or(|source| !are_neighbours(source, address.ip()))
        };
        match found.peek().is_some() && found.all(is_elsewhere) {
            true => Ok(()),
            false => refused(
                "this address is in the server's own network: start it with --alerts-within to \
                 allow that",
            ),
        }
    }
}

/// Returns the name of the server in an address of the web, without its port and brackets.
fn name_of(url: &str) -> Option<&str> {
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    // What some readers of addresses take for the end of the name, others do not.
    let host = Some(host_of(url)).filter(|host| is_web && !host.contains('\\'))?;
    let host = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next()?,
        None => host.split(':').next()?,
    };
    (!host.is_empty()).then_some(host)
}

/// Returns the address from which this computer would send to another one. Nothing is sent.
fn source_for(address: SocketAddr) -> Option<IpAddr> {
    let any: IpAddr = match address.ip() {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(address).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// Returns whether two addresses may be of one network: networks of homes and offices have public
/// addresses, too, of which the usual part is compared.
fn are_neighbours(one: IpAddr, other: IpAddr) -> bool {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => one.octets()[..3] == other.octets()[..3],
        (IpAddr::V6(one), IpAddr::V6(other)) => one.segments()[..4] == other.segments()[..4],
        _ => false,
    }
}

fn is_elsewhere(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_elsewhere_v4(address),
        IpAddr::V6(address) => is_elsewhere_v6(address),
    }
}

fn is_elsewhere_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    // Shared addresses of providers, of protocols, and of tests between networks.
    let is_shared = first == 100 && second & 0xc0 == 64;
    let is_special = (first, second, third) == (192, 0, 0) || first == 198 && second & 0xfe == 18;
    let is_here = address.is_loopback() || address.is_private() || address.is_link_local();
    let is_many = address.is_broadcast() || address.is_multicast();
    !(first == 0 || first >= 240 || is_here || is_many || is_shared || is_special)
}

fn is_elsewhere_v6(address: Ipv6Addr) -> bool {
    let inner = |at: usize| {
        let octets = address.octets();
        Ipv4Addr::new(octets[at], octets[at + 1], octets[at + 2], octets[at + 3])
    };
    let segments = address.segments();
    match segments {
        // Addresses that stand for one of IPv4.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
            is_elsewhere_v4(inner(12))
        }
        [0x2002, ..] => is_elsewhere_v4(inner(2)),
        // Only these are given out: all others are local, or for many.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alert::config::WebhookForm;

    #[test]
    fn addresses_of_this_computer_and_its_network_are_refused() {
        let refused = [
            "http://127.0.0.1:9/x",
            "http://127.1.2.3/",
            // As programs wrote addresses once.
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://localhost./",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::a00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://10.0.0.1/",
            "http://172.16.3.4:8080/hook",
            "http://192.168.1.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://100.64.0.1/",
            "http://0.0.0.0/",
            "http://255.255.255.255/",
            "http://user:pass@127.0.0.1/",
            "http://localhost/",
            "ftp://192.0.2.1/",
            "http://",
            "nonsense",
        ];
        let alert = |url: &str| {
            let (url, form) = (url.to_owned(), WebhookForm::Json);
            Alert::new(Channel::Webhook { url, form })
        };
        for url in refused {
            assert!(alert(url).ensure_elsewhere().is_err(), "{url}");
            assert!(Alert::new(Channel::Ping(url.into())).ensure_elsewhere().is_err(), "{url}");
        }
        for url in ["https://1.1.1.1/hook", "http://[2606:4700::1111]:8080/", "http://8.8.8.8"] {
            assert!(alert(url).ensure_elsewhere().is_ok(), "{url}");
        }
        assert!(Alert::new(Channel::Sendmail("me@localhost".into())).ensure_elsewhere().is_ok());
    }

    #[test]
    fn neighbours_with_public_addresses_are_of_the_own_network() {
        let are =
            |one: &str, other: &str| are_neighbours(one.parse().unwrap(), other.parse().unwrap());
        assert!(are("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"));
        assert!(!are("2001:db8:1:2::1", "2001:db8:1:3::1"));
        assert!(are("198.51.100.7", "198.51.100.200") && !are("198.51.100.7", "198.51.101.7"));
        assert!(!are("198.51.100.7", "2001:db8:1:2::1"));
        let here = source_for("127.0.0.1:9".parse().unwrap());
        assert_eq!(here, Some("127.0.0.1".parse().unwrap()));
    }
}
