//! Apple's root certificates, where the chains of Apple's signatures end.
//!
//! The certificates are as Apple publishes them; a test compares their SHA-256 digests. Apple's own
//! check accepts the first three. The fourth is kept because some archives are older than its
//! expiry.
//!
//! Source: the digests are those of `SecAppleAnchor.c` of Apple's Security framework.

use std::sync::OnceLock;

use crate::certificate::Certificate;

/// Which root a chain ends at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AppleRoot {
    /// Apple Root CA, 2006 to 2035, RSA.
    G1,
    /// Apple Root CA - G2, 2014 to 2039, RSA.
    G2,
    /// Apple Root CA - G3, 2014 to 2039, ECDSA.
    G3,
    /// Apple Root Certificate Authority of Apple Computer, 2005 to 2025. Apple's check has since
    /// dropped it.
    Computer,
}

impl AppleRoot {
    /// Every root, those in use first.
    pub const ALL: [AppleRoot; 4] =
        [AppleRoot::G1, AppleRoot::G2, AppleRoot::G3, AppleRoot::Computer];

    /// Returns whether Apple's own check still accepts chains that end here.
    pub fn is_current(self) -> bool {
        self != AppleRoot::Computer
    }

    /// Returns the certificate.
    pub fn certificate(self) -> &'static Certificate {
        &roots()[self as usize].1
    }

    /// Returns which root a certificate is, if it is one: byte for byte.
    pub(crate) fn of(certificate: &Certificate) -> Option<AppleRoot> {
        let found = roots().iter().find(|(_, root)| root.der() == certificate.der());
        found.map(|(name, _)| *name)
    }
}

/// In the order of [`AppleRoot::ALL`], which is that of the numbers behind the names.
fn roots() -> &'static [(AppleRoot, Certificate)] {
    static ROOTS: OnceLock<Vec<(AppleRoot, Certificate)>> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let read = |root: AppleRoot| {
            let der: &[u8] = match root {
                AppleRoot::G1 => include_bytes!("roots/apple-g1.cer"),
                AppleRoot::G2 => include_bytes!("roots/apple-g2.cer"),
                AppleRoot::G3 => include_bytes!("roots/apple-g3.cer"),
                AppleRoot::Computer => include_bytes!("roots/apple-2005.cer"),
            };
            (root, Certificate::parse(der).expect("a test reads every root"))
        };
        AppleRoot::ALL.map(read).to_vec()
    })
}

#[cfg(test)]
mod tests {
    use steadfast_digest::Algorithm;

    use super::*;
    use crate::key::SignatureCheck;

    /// What Apple publishes, and for the oldest what everyone else has: SHA-256 of the bytes.
    const DIGESTS: [(AppleRoot, &str); 4] = [
        (AppleRoot::G1, "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024"),
        (AppleRoot::G2, "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050"),
        (AppleRoot::G3, "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"),
        (AppleRoot::Computer, "0d83b611b648a1a75eb8558400795375cad92e264ed8e9d7a757c1f5ee2bb22d"),
    ];

    #[test]
    fn roots_are_the_published_ones_and_sign_themselves() {
        for (root, expected) in DIGESTS {
            let certificate = root.certificate();
            let digest = certificate.digest(Algorithm::Sha256);
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, expected, "{root:?}");
            assert_eq!(certificate.verify_with(certificate), SignatureCheck::Good, "{root:?}");
            assert_eq!(certificate.issuer(), certificate.subject());
            assert_eq!(certificate.authority(), Some(None), "{root:?}");
            assert_eq!(AppleRoot::of(certificate), Some(root));
        }
    }

    #[test]
    fn names_and_dates_of_the_roots_are_read() {
        let g3 = AppleRoot::G3.certificate();
        assert_eq!(g3.subject().common_name(), Some("Apple Root CA - G3"));
        assert_eq!(g3.subject().organisational_unit(), Some("Apple Certification Authority"));
        assert_eq!(g3.validity(), (1_398_881_946, 2_187_800_346));
        assert_eq!(g3.key().name(), "ECDSA P-384");
        assert_eq!(AppleRoot::G1.certificate().key().name(), "RSA 2048");
        assert_eq!(AppleRoot::G2.certificate().key().name(), "RSA 4096");
        assert_eq!(AppleRoot::G1.certificate().signature_hash(), Some(Algorithm::Sha1));
    }
}
