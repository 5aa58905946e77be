//! Requirements: conditions on code, stored in seals and signatures.
//!
//! The text is that of Apple's tools, so that the two can be compared. What only a Mac can evaluate
//! is [`Unknown`].
//!
//! Source: `requirement.h`, `reqdumper.cpp`, `reqinterp.cpp` and `requirements.grammar` of Apple's
//! Security framework.

mod binary;
mod evaluate;
mod parse;
mod print;

use std::fmt;

use strum::{Display, FromRepr};

pub use self::evaluate::{CodeSubject, Unknown};
use crate::error::Error;
use crate::superblob::SuperBlob;

/// How deep conditions may lie in each other. Apple's own have less than ten levels.
const DEPTH_MAX: u32 = 200;

/// The position of a certificate: counted from the signer's, or with a minus from the root.
type CertificateSlot = i32;

const LEAF: CertificateSlot = 0;
const ROOT: CertificateSlot = -1;

/// A condition on code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    expression: Expression,
}

impl Requirement {
    /// Reads a requirement from its blob, header included.
    ///
    /// # Errors
    /// If it is cut short, nested beyond 200 levels, or has an operator that is not known and does
    /// not say its length.
    pub fn from_blob(bytes: &[u8]) -> Result<Requirement, Error> {
        Ok(Requirement { expression: binary::read(bytes)? })
    }

    /// Reads a requirement from its text.
    ///
    /// # Errors
    /// If it is not a requirement, or names a file.
    pub fn parse(text: &str) -> Result<Requirement, Error> {
        Ok(Requirement { expression: parse::parse(text)? })
    }

    /// Returns whether some code meets it.
    ///
    /// # Errors
    /// What would have to be known. A part that cannot be known makes nothing unknown that other
    /// parts decide.
    pub fn holds_for(&self, subject: &CodeSubject<'_>) -> Result<bool, Unknown> {
        evaluate::evaluate(&self.expression, subject)
    }
}

impl Requirement {
    /// Returns whether only code of certain certificates, or certain code, can meet it.
    pub(crate) fn names_whom_or_what(&self) -> bool {
        self.expression.names_whom_or_what()
    }
}

impl Expression {
    fn names_whom_or_what(&self) -> bool {
        match self {
            Expression::And(one, other) => one.names_whom_or_what() || other.names_whom_or_what(),
            Expression::Or(one, other) => one.names_whom_or_what() && other.names_whom_or_what(),
            Expression::Never
            | Expression::AnchorApple
            | Expression::AnchorAppleGeneric
            | Expression::CertificateHash(..)
            | Expression::CdHash(_) => true,
            _ => false,
        }
    }
}

/// The text, as Apple's tools print it.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print::print(&self.expression, f)
    }
}

/// What a requirement in a signature is a condition on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
#[strum(serialize_all = "lowercase")]
pub enum RequirementKind {
    /// Code that may host this one.
    Host,
    /// Code that this one may host.
    Guest,
    /// Code that counts as this one, in any version.
    Designated,
    /// Libraries that it may load.
    Library,
    /// Plug-ins that it may load.
    Plugin,
    /// A number that means nothing here.
    #[strum(to_string = "/*unknown type*/ {0}")]
    Other(u32),
}

impl RequirementKind {
    fn of(number: u32) -> RequirementKind {
        match number {
            1 => RequirementKind::Host,
            2 => RequirementKind::Guest,
            3 => RequirementKind::Designated,
            4 => RequirementKind::Library,
            5 => RequirementKind::Plugin,
            other => RequirementKind::Other(other),
        }
    }
}

/// The requirements of a signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// Each requirement with its kind, in the order of the signature.
    pub entries: Vec<(RequirementKind, Requirement)>,
}

impl Requirements {
    /// Reads the requirements of a signature from their blob, header included.
    ///
    /// # Errors
    /// If the set or one of them cannot be read.
    pub fn from_blob(bytes: &[u8]) -> Result<Requirements, Error> {
        let set = SuperBlob::parse(bytes)?;
        let mut entries = Vec::new();
        for entry in set.entries() {
            let requirement = Requirement::from_blob(&set.bytes()[entry.range.clone()])?;
            entries.push((RequirementKind::of(entry.slot.0), requirement));
        }
        Ok(Requirements { entries })
    }

    /// Returns the condition that code must meet to count as this one.
    pub fn designated(&self) -> Option<&Requirement> {
        let mut entries = self.entries.iter();
        entries.find(|(kind, _)| *kind == RequirementKind::Designated).map(|(_, found)| found)
    }
}

/// One line for each, as Apple's tools print them.
impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, requirement) in &self.entries {
            writeln!(f, "{kind} => {requirement}")?;
        }
        Ok(())
    }
}

/// A condition, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expression {
    Never,
    Always,
    Identifier(Vec<u8>),
    /// Apple's own software.
    AnchorApple,
    /// Anything whose chain ends at Apple.
    AnchorAppleGeneric,
    /// A requirement kept on every Mac, about certificates.
    NamedAnchor(Vec<u8>),
    /// A requirement kept on every Mac.
    NamedCode(Vec<u8>),
    /// SHA-1 of a certificate.
    CertificateHash(CertificateSlot, Vec<u8>),
    CertificateTrusted(CertificateSlot),
    AnchorTrusted,
    /// A part of a certificate, by its name or the bytes of its object identifier.
    Certificate(CertificateSlot, CertificatePart, Vec<u8>, Match),
    Info(Vec<u8>, Match),
    Entitlement(Vec<u8>, Match),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
    CdHash(Vec<u8>),
    Platform(i32),
    Notarized,
    LegacyDeveloperId,
    /// An operator that is not known and asks to be taken as false.
    UnknownFalse(u32),
    /// An unknown operator that asks to be skipped, and the condition after it.
    UnknownSkipped(u32, Box<Expression>),
    /// A launch constraint in the place of a condition.
    Constraint(Vec<u8>),
}

/// A part of a certificate. The numbers are those of the operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRepr)]
#[repr(u32)]
enum CertificatePart {
    /// A part of the subject, by its name.
    Field = 11,
    /// An extension, by its object identifier.
    Extension = 14,
    /// A policy, by its object identifier.
    Policy = 17,
    /// A date in an extension, by its object identifier.
    Date = 22,
}

/// How a value is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Match {
    Exists,
    Absent,
    Text(Relation, Vec<u8>),
    /// Seconds since the first of January 2001.
    Date(DateOrder, i64),
    /// A comparison that is not known, which never holds.
    Unknown(u32),
}

/// How a text is compared. Numbers in texts are compared as numbers.
///
/// The numbers of the variants are those of the comparisons in the binary form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRepr)]
#[repr(u32)]
enum Relation {
    Equal = 1,
    Contains,
    BeginsWith,
    EndsWith,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
}

/// How a date is compared. The numbers are those of the comparisons in the binary form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRepr)]
#[repr(u32)]
enum DateOrder {
    On = 9,
    Before,
    After,
    OnOrBefore,
    OnOrAfter,
}
