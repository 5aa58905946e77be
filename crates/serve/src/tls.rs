//! Makes a TLS acceptor from PEM: TLS 1.2 and 1.3, without client certificates.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::config::Tls;
use crate::error::Error;

/// Makes the acceptor.
///
/// # Errors
/// If the certificates or the key are invalid, or do not belong together.
pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, Error> {
    let wrong = |what: &str, why: &dyn std::fmt::Display| Error::usage(format!("{what}: {why}"));
    let certificates: Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(&tls.certificates).collect();
    let certificates = certificates.map_err(|error| wrong("the certificates", &error))?;
    if certificates.is_empty() {
        return Err(Error::usage("the certificates: there is none"));
    }
    let key = PrivateKeyDer::from_pem_slice(&tls.key);
    let key = key.map_err(|error| wrong("the key", &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong("TLS", &error))?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(|error| wrong("the certificates and the key", &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
