//! Evaluates whether code meets a requirement.
//!
//! What only a Mac knows (its trust settings, its notarization records, the conditions stored on it
//! by name) is unknown. The result is then unknown too, unless the rest of the condition decides
//! it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use steadfast_digest::Algorithm;

use super::parse::SECONDS_TO_2001;
use super::{CertificatePart, CertificateSlot, DateOrder, Expression, LEAF, Match, ROOT, Relation};
use crate::ber::dotted;
use crate::certificate::{Certificate, subject_attribute};
use crate::hash::CdHash;
use crate::plist::Value;
use crate::roots::AppleRoot;
use crate::signature::Signature;
use crate::signer::{SignerState, SignerVerdict};

/// The extension of the certificates that Apple signs its own software with.
const APPLE_SOFTWARE: &str = "1.2.840.113635.100.6.22";

/// The facts of some code that requirements can ask for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CodeSubject<'a> {
    /// Its identifier.
    pub identifier: Cow<'a, str>,
    /// The hash of its best directory.
    pub cdhash: CdHash,
    /// The certificates of its signer, the signer's first; empty without a signature.
    pub chain: &'a [Certificate],
    /// The root of Apple's that they end at.
    pub root: Option<AppleRoot>,
    /// The platform its directory names.
    pub platform: u8,
    /// Its `Info.plist`.
    pub info: Option<&'a Value>,
    /// Its entitlements.
    pub entitlements: Option<&'a Value>,
    /// Whether Apple has notarized it, if that is known.
    pub notarized: Option<bool>,
}

impl<'a> CodeSubject<'a> {
    /// Takes the facts of a signature; certificates count only if the signature is theirs.
    pub fn of(signature: &'a Signature, signer: &'a SignerVerdict) -> CodeSubject<'a> {
        let directory = signature.chosen_directory();
        CodeSubject {
            identifier: directory.identifier(),
            platform: directory.platform(),
            ..CodeSubject::of_package(directory.cdhash(), signer)
        }
    }

    /// Takes the facts of a package, which has no identifier and names no platform.
    pub(crate) fn of_package(cdhash: CdHash, signer: &'a SignerVerdict) -> CodeSubject<'a> {
        let counts = matches!(signer.state, SignerState::Valid | SignerState::Untrusted);
        CodeSubject {
            identifier: Cow::Borrowed(""),
            cdhash,
            chain: if counts { &signer.chain } else { &[] },
            root: signer.root.filter(|_| counts),
            platform: 0,
            info: None,
            entitlements: None,
            notarized: None,
        }
    }

    /// Adds the code's `Info.plist`.
    pub fn info(mut self, info: &'a Value) -> CodeSubject<'a> {
        self.info = Some(info);
        self
    }

    /// Adds the code's entitlements.
    pub fn entitlements(mut self, entitlements: &'a Value) -> CodeSubject<'a> {
        self.entitlements = Some(entitlements);
        self
    }

    /// Returns the certificate at a position.
    fn certificate(&self, slot: CertificateSlot) -> Option<&'a Certificate> {
        let count = i32::try_from(self.chain.len()).ok()?;
        let index = if slot < 0 { slot.checked_add(count)? } else { slot };
        self.chain.get(usize::try_from(index).ok()?)
    }

    fn is_anchored(&self) -> bool {
        self.root.is_some_and(AppleRoot::is_current)
    }

    /// Returns whether it is Apple's own software.
    fn is_apple(&self) -> Truth {
        let leaf = self.certificate(LEAF);
        let issuer = self.certificate(-2);
        let by_apple = self.is_anchored()
            && issuer.is_some_and(|issuer| {
                let name = issuer.subject();
                name.common_name() == Some("Apple Code Signing Certification Authority")
                    && name.organisation() == Some("Apple Inc.")
            })
            && leaf.is_some_and(|leaf| leaf.extension(APPLE_SOFTWARE).is_some());
        match leaf {
            Some(_) => Truth::from(by_apple),
            // Apple's own code may have no signature and be listed in the system instead.
            None => Truth::unknown("whether Apple's systems list it as their own"),
        }
    }
}

/// What would have to be known to say whether a requirement is met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(String);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unknown {}

/// Yes, no, or what would have to be known.
#[derive(Clone, Debug, PartialEq)]
enum Truth {
    Yes,
    No,
    Unknown(Unknown),
}

impl From<bool> for Truth {
    fn from(truth: bool) -> Truth {
        if truth { Truth::Yes } else { Truth::No }
    }
}

impl Truth {
    fn unknown(what: &str) -> Truth {
        Truth::Unknown(Unknown(what.to_owned()))
    }

    fn not(self) -> Truth {
        match self {
            Truth::Yes => Truth::No,
            Truth::No => Truth::Yes,
            unknown => unknown,
        }
    }

    fn and(self, other: impl FnOnce() -> Truth) -> Truth {
        match self {
            Truth::Yes => other(),
            Truth::No => Truth::No,
            // If one operand is false, the other does not matter.
            Truth::Unknown(_) if other() == Truth::No => Truth::No,
            unknown => unknown,
        }
    }

    fn or(self, other: impl FnOnce() -> Truth) -> Truth {
        self.not().and(|| other().not()).not()
    }
}

/// Returns whether a condition holds.
pub(super) fn evaluate(
    expression: &Expression,
    subject: &CodeSubject<'_>,
) -> Result<bool, Unknown> {
    match truth(expression, subject) {
        Truth::Yes => Ok(true),
        Truth::No => Ok(false),
        Truth::Unknown(unknown) => Err(unknown),
    }
}

fn truth(expression: &Expression, subject: &CodeSubject<'_>) -> Truth {
    use Expression as E;
    match expression {
        E::Never | E::UnknownFalse(_) => Truth::No,
        E::Always => Truth::Yes,
        E::Identifier(text) => Truth::from(subject.identifier.as_bytes() == text),
        E::CdHash(hash) => Truth::from(subject.cdhash.as_bytes()[..] == hash[..]),
        E::Platform(number) => Truth::from(i32::from(subject.platform) == *number),
        E::AnchorApple => subject.is_apple(),
        E::AnchorAppleGeneric => Truth::from(subject.is_anchored()),
        E::CertificateHash(slot, hash) => {
            let certificate = subject.certificate(*slot);
            let same = |one: &Certificate| one.digest(Algorithm::Sha1) == *hash;
            Truth::from(certificate.is_some_and(same))
        }
        E::And(left, right) => truth(left, subject).and(|| truth(right, subject)),
        E::Or(left, right) => truth(left, subject).or(|| truth(right, subject)),
        E::Not(inner) => truth(inner, subject).not(),
        E::Info(key, how) => Truth::from(how.holds_in(subject.info, key)),
        E::Entitlement(key, how) => Truth::from(how.holds_in(subject.entitlements, key)),
        E::Certificate(slot, part, key, how) => {
            Truth::from(how.holds_for_part(subject.certificate(*slot), *part, key))
        }
        E::Notarized => match subject.notarized {
            Some(notarized) => Truth::from(notarized),
            None => Truth::unknown("whether Apple has notarized it"),
        },
        E::LegacyDeveloperId => Truth::unknown("whether it is listed as older than notarization"),
        E::CertificateTrusted(slot) if subject.certificate(*slot).is_none() => Truth::No,
        E::AnchorTrusted if subject.certificate(ROOT).is_none() => Truth::No,
        E::CertificateTrusted(_) | E::AnchorTrusted => {
            Truth::unknown("which certificates a system trusts")
        }
        E::NamedAnchor(_) | E::NamedCode(_) => {
            Truth::unknown("a requirement that is kept on Apple's systems by name")
        }
        E::UnknownSkipped(_, next) => truth(next, subject),
        E::Constraint(_) => Truth::unknown("a launch constraint in the place of a requirement"),
    }
}

impl Match {
    /// Returns whether the value of a key matches. A missing list is treated as one without the
    /// key.
    fn holds_in(&self, list: Option<&Value>, key: &[u8]) -> bool {
        let key = String::from_utf8_lossy(key);
        self.holds_for(list.and_then(|list| list.get(&key)))
    }

    fn holds_for(&self, value: Option<&Value>) -> bool {
        let Some(value) = value else { return *self == Match::Absent };
        // One of several values is enough.
        if let Value::List(values) = value
            && values.iter().any(|one| self.holds_for(Some(one)))
        {
            return true;
        }
        match (self, value) {
            (Match::Exists, value) => *value != Value::Boolean(false),
            (Match::Text(relation, text), Value::Text(value)) => relation.holds(value, text),
            (Match::Date(..), Value::Date(date)) => {
                // `2026-09-15T10:11:12Z`, as property lists have it.
                let digits: String =
                    date.chars().filter(|letter| !"-:T".contains(*letter)).collect();
                self.holds_for_date(crate::ber::generalized_time(&digits))
            }
            _ => false,
        }
    }

    /// Returns whether a part of a certificate matches. Of a missing certificate no part matches,
    /// but its dates are absent.
    fn holds_for_part(
        &self,
        certificate: Option<&Certificate>,
        part: CertificatePart,
        key: &[u8],
    ) -> bool {
        let oid = dotted(key);
        let oid = oid.as_deref();
        let holds = |is_there: bool| self.holds_for(is_there.then_some(&Value::Boolean(true)));
        match (part, certificate) {
            (CertificatePart::Date, certificate) => {
                self.holds_for_date(certificate.and_then(|one| one.date_extension(oid?)))
            }
            (_, None) => false,
            (CertificatePart::Field, Some(one)) => self.holds_for_field(one, key),
            (CertificatePart::Extension, Some(one)) => {
                holds(oid.is_some_and(|oid| one.extension(oid).is_some()))
            }
            (CertificatePart::Policy, Some(one)) => {
                holds(oid.is_some_and(|oid| one.policies().iter().any(|policy| policy == oid)))
            }
        }
    }

    /// A missing field matches nothing, not even `absent`, as in Apple's check.
    fn holds_for_field(&self, certificate: &Certificate, key: &[u8]) -> bool {
        let key = String::from_utf8_lossy(key);
        let subject = certificate.subject();
        let values = match subject_attribute(&key) {
            Some(oid) => subject.last(oid).map(str::to_owned).into_iter().collect(),
            None if key == "email" => certificate.emails(),
            None => Vec::new(),
        };
        values.into_iter().any(|value| self.holds_for(Some(&Value::Text(value))))
    }

    /// `date` is in seconds since 1970.
    fn holds_for_date(&self, date: Option<i64>) -> bool {
        let Some(date) = date else { return *self == Match::Absent };
        let Match::Date(ordering, bound) = self else { return *self == Match::Exists };
        let order = date.saturating_sub(SECONDS_TO_2001).cmp(bound);
        match ordering {
            DateOrder::On => order.is_eq(),
            DateOrder::Before => order.is_lt(),
            DateOrder::After => order.is_gt(),
            DateOrder::OnOrBefore => order.is_le(),
            DateOrder::OnOrAfter => order.is_ge(),
        }
    }
}

impl Relation {
    fn holds(self, value: &str, text: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        // Apple's search finds an empty text nowhere.
        let finds = !text.is_empty();
        match self {
            Relation::Equal => value == text,
            Relation::Contains => finds && value.contains(text),
            Relation::BeginsWith => finds && value.starts_with(text),
            Relation::EndsWith => finds && value.ends_with(text),
            Relation::Less => compare(value, text).is_lt(),
            Relation::Greater => compare(value, text).is_gt(),
            Relation::LessOrEqual => compare(value, text).is_le(),
            Relation::GreaterOrEqual => compare(value, text).is_ge(),
        }
    }
}

/// Compares texts letter by letter, and runs of digits as numbers of any length.
fn compare(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left, right);
    loop {
        let (left_digits, right_digits) = (digits(left), digits(right));
        if !left_digits.is_empty() && !right_digits.is_empty() {
            let numbers = [left_digits, right_digits].map(|run| run.trim_start_matches('0'));
            let order = numbers[0].len().cmp(&numbers[1].len()).then(numbers[0].cmp(numbers[1]));
            if order.is_ne() {
                return order;
            }
            (left, right) = (&left[left_digits.len()..], &right[right_digits.len()..]);
            continue;
        }
        let (mut left_letters, mut right_letters) = (left.chars(), right.chars());
        match (left_letters.next(), right_letters.next()) {
            (None, None) => return Ordering::Equal,
            (one, other) if one != other => return one.cmp(&other),
            _ => (left, right) = (left_letters.as_str(), right_letters.as_str()),
        }
    }
}

/// Returns the digits a text begins with.
fn digits(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}
