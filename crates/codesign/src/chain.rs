//! Builds the chain from a signer's certificate to a root.
//!
//! Only certificates in the signature and Apple's roots are used; nothing is fetched. Revocation is
//! not checked. Expiry is checked by [`invalid_at`], because the time to check for depends on what
//! proves the time of signing.
//!
//! Source: RFC 5280, section 6.1, as far as Apple's certificates use it.

use crate::certificate::{Certificate, oid};
use crate::key::SignatureCheck;
use crate::roots::AppleRoot;

/// The longest chain. Apple's have three certificates.
const LEN_MAX: usize = 8;

/// The most certificate signatures checked for one chain, which bounds the time of a forged one.
const TRIES_MAX: usize = 24;

/// The purpose that stands for all.
const ANY: &str = "2.5.29.37.0";

/// Critical extensions that are accepted: they are checked here, or cannot grant anything.
const UNDERSTOOD: &[&str] =
    &[oid::KEY_USAGE, oid::BASIC_CONSTRAINTS, oid::EXTENDED_KEY_USAGE, oid::POLICIES];

/// Where a chain ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChainEnd {
    /// At a root of Apple's.
    Apple(AppleRoot),
    /// At a certificate that the user trusts.
    Trusted,
    /// At a certificate that signed itself, whose owner is unknown here.
    Other,
    /// The certificate of this issuer did not come along.
    Missing(String),
    /// A certificate with the name of the issuer did not sign this one.
    Forged(String),
    /// An algorithm that is not known here.
    Unknown(String),
}

/// The certificates from a signer's up to where they end.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    /// The signer's first.
    pub(crate) certificates: Vec<Certificate>,
    pub(crate) end: ChainEnd,
    /// What is wrong with the chain, wherever it ends: lower-case fragments.
    pub(crate) faults: Vec<String>,
}

impl Chain {
    /// Follows the issuers of a certificate up to a root of Apple's or a certificate in `trusted`.
    /// Its extended key usage must include one of the purposes, if there are any.
    pub(crate) fn build(
        leaf: &Certificate,
        others: &[Certificate],
        purposes: &[&str],
        trusted: &[Certificate],
    ) -> Chain {
        let mut chain =
            Chain { certificates: vec![leaf.clone()], end: ChainEnd::Other, faults: Vec::new() };
        let mut tries = 0;
        chain.end = loop {
            let last = chain.certificates.last().expect("there is the leaf at least");
            if let Some(root) = AppleRoot::of(last) {
                break ChainEnd::Apple(root);
            }
            if trusted.contains(last) {
                break ChainEnd::Trusted;
            }
            match issuer_of(last, trusted.iter().chain(others), &mut tries) {
                Issuer::Itself => break ChainEnd::Other,
                Issuer::Found(issuer) if chain.certificates.len() < LEN_MAX => {
                    chain.certificates.push(issuer.clone());
                }
                Issuer::Found(_) | Issuer::Absent => {
                    break ChainEnd::Missing(last.issuer().to_string());
                }
                Issuer::Forged => break ChainEnd::Forged(last.subject().to_string()),
                Issuer::Unknown(algorithm) => break ChainEnd::Unknown(algorithm),
            }
        };
        chain.find_faults(purposes);
        chain
    }

    /// Returns the root of Apple's that the chain ends at.
    pub(crate) fn root(&self) -> Option<AppleRoot> {
        if let ChainEnd::Apple(root) = self.end { Some(root) } else { None }
    }

    fn find_faults(&mut self, wanted: &[&str]) {
        let mut faults = Vec::new();
        let leaf = &self.certificates[0];
        let purposes = leaf.purposes();
        let is_meant = purposes.iter().any(|purpose| wanted.contains(&purpose.as_str()));
        if !wanted.is_empty() && !is_meant {
            faults.push(format!("the certificate of {} is not meant for this", leaf.subject()));
        }
        if !leaf.may_sign() {
            faults.push(format!("the key of {} is not meant to sign", leaf.subject()));
        }
        for (below, issuer) in self.certificates.iter().skip(1).enumerate() {
            let name = issuer.subject();
            match issuer.authority() {
                None => faults.push(format!("{name} is no certification authority")),
                Some(Some(most)) if below as u64 > most => {
                    faults.push(format!("{name} stands too high above the signer"));
                }
                Some(_) => {}
            }
            // An authority that is limited to some purposes issues nothing for others.
            let purposes = issuer.purposes();
            let is_limited = !wanted.is_empty() && AppleRoot::of(issuer).is_none();
            let allows = |purpose: &String| purpose == ANY || wanted.contains(&purpose.as_str());
            if is_limited && !purposes.is_empty() && !purposes.iter().any(allows) {
                faults.push(format!("{name} issues no certificates for this"));
            }
            if !issuer.may_sign_certificates() {
                faults.push(format!("the key of {name} is not meant to sign certificates"));
            }
        }
        for certificate in &self.certificates {
            let critical = certificate.extensions().iter().filter(|extension| extension.critical);
            for extension in critical.filter(|extension| !is_understood(&extension.oid)) {
                let name = certificate.subject();
                let text =
                    format!("{name} has a critical extension, {}, not known here", extension.oid);
                faults.push(text);
            }
        }
        self.faults = faults;
    }
}

/// Returns the first certificate of a chain that was not valid at a time, roots left out.
///
/// A root is trusted as such, so its own dates are not checked.
pub(crate) fn invalid_at(chain: &[Certificate], seconds: i64) -> Option<&Certificate> {
    chain.iter().find(|certificate| {
        let (from, to) = certificate.validity();
        AppleRoot::of(certificate).is_none() && !(from..=to).contains(&seconds)
    })
}

/// The result of searching for an issuer.
enum Issuer<'a> {
    Found(&'a Certificate),
    Itself,
    Absent,
    Forged,
    Unknown(String),
}

/// Finds the certificate whose key signed another: a root of Apple's, or one that came along.
fn issuer_of<'a>(
    certificate: &Certificate,
    others: impl Iterator<Item = &'a Certificate>,
    tries: &mut usize,
) -> Issuer<'a> {
    let mut outcome = Issuer::Absent;
    let roots = AppleRoot::ALL.map(AppleRoot::certificate);
    let candidates = roots.into_iter().chain(others);
    for candidate in candidates.filter(|other| other.subject() == certificate.issuer()) {
        *tries += 1;
        if *tries > TRIES_MAX {
            break;
        }
        match certificate.verify_with(candidate) {
            SignatureCheck::Good if candidate.der() == certificate.der() => return Issuer::Itself,
            SignatureCheck::Good => return Issuer::Found(candidate),
            SignatureCheck::Bad => outcome = Issuer::Forged,
            SignatureCheck::Unknown(algorithm) => outcome = Issuer::Unknown(algorithm),
        }
    }
    // A self-signed certificate need not be among the others.
    if certificate.issuer() == certificate.subject()
        && certificate.verify_with(certificate) == SignatureCheck::Good
    {
        return Issuer::Itself;
    }
    outcome
}

/// Apple marks its own extensions critical so that other software rejects the certificates.
fn is_understood(extension: &str) -> bool {
    UNDERSTOOD.contains(&extension) || extension.starts_with(oid::APPLE_EXTENSIONS)
}
