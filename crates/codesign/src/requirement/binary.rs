//! Reads the binary form of a requirement: each operator before its operands.

use super::{CertificatePart, CertificateSlot, DEPTH_MAX, DateOrder, Expression, Match, Relation};
use crate::error::{Error, ErrorKind};
use crate::fields::IntegerReader;
use crate::superblob::{Blob, magic};

/// The kind of requirement that is made of operators, and the one that is a launch constraint.
const KIND_EXPRESSION: u32 = 1;
const KIND_CONSTRAINT: u32 = 2;

/// Bits of an unknown operator. It states its length, and is false or skipped.
const FLAGS: u32 = 0xff00_0000;
const GENERIC_FALSE: u32 = 0x8000_0000;
const GENERIC_SKIP: u32 = 0x4000_0000;

/// The operators, by their numbers; the others are those of [`CertificatePart`].
mod op {
    pub(super) const FALSE: u32 = 0;
    pub(super) const TRUE: u32 = 1;
    pub(super) const IDENTIFIER: u32 = 2;
    pub(super) const ANCHOR_APPLE: u32 = 3;
    pub(super) const ANCHOR_HASH: u32 = 4;
    pub(super) const INFO_VALUE: u32 = 5;
    pub(super) const AND: u32 = 6;
    pub(super) const OR: u32 = 7;
    pub(super) const CDHASH: u32 = 8;
    pub(super) const NOT: u32 = 9;
    pub(super) const INFO: u32 = 10;
    pub(super) const TRUSTED: u32 = 12;
    pub(super) const ANCHOR_TRUSTED: u32 = 13;
    pub(super) const ANCHOR_APPLE_GENERIC: u32 = 15;
    pub(super) const ENTITLEMENT: u32 = 16;
    pub(super) const NAMED_ANCHOR: u32 = 18;
    pub(super) const NAMED_CODE: u32 = 19;
    pub(super) const PLATFORM: u32 = 20;
    pub(super) const NOTARIZED: u32 = 21;
    pub(super) const LEGACY: u32 = 23;
}

/// The comparisons without a value; [`Relation`] and [`DateOrder`] have the others.
const MATCH_EXISTS: u32 = 0;
const MATCH_ABSENT: u32 = 14;

/// The longest requirement. Apple's have a few hundred bytes; in memory one takes about twenty
/// times its length.
const LEN_MAX: usize = 1 << 20;

/// Reads a requirement.
pub(super) fn read(bytes: &[u8]) -> Result<Expression, Error> {
    let blob = Blob::parse(bytes)?;
    if blob.bytes.len() > LEN_MAX {
        return Err(Error::malformed("a requirement is longer than a mebibyte"));
    }
    if blob.magic != magic::REQUIREMENT {
        return Err(Error::malformed("a requirement has another kind of blob"));
    }
    let mut code = OperatorReader { bytes: blob.payload(), at: 0 };
    match code.number()? {
        KIND_EXPRESSION => code.expression(0),
        KIND_CONSTRAINT => Ok(Expression::Constraint(code.data()?)),
        kind => {
            let text = format!("requirements of kind {kind} are not known");
            Err(Error::new(ErrorKind::Unsupported, text))
        }
    }
}

/// The bytes of a requirement, and how far they were read.
struct OperatorReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl OperatorReader<'_> {
    fn number(&mut self) -> Result<u32, Error> {
        let number = IntegerReader::big(self.bytes).u32(self.at).ok_or_else(cut_short)?;
        self.at += 4;
        Ok(number)
    }

    fn slot(&mut self) -> Result<CertificateSlot, Error> {
        Ok(self.number()?.cast_signed())
    }

    fn timestamp(&mut self) -> Result<i64, Error> {
        let number = IntegerReader::big(self.bytes).u64(self.at).ok_or_else(cut_short)?;
        self.at += 8;
        Ok(number.cast_signed())
    }

    /// Reads bytes with their length before them, filled up to a multiple of four.
    fn data(&mut self) -> Result<Vec<u8>, Error> {
        let len = self.number()? as usize;
        let rest = self.bytes.get(self.at..).ok_or_else(cut_short)?;
        let data = rest.get(..len).ok_or_else(cut_short)?.to_vec();
        self.at += len.next_multiple_of(4);
        Ok(data)
    }

    fn boxed(&mut self, depth: u32) -> Result<Box<Expression>, Error> {
        self.expression(depth).map(Box::new)
    }

    fn expression(&mut self, depth: u32) -> Result<Expression, Error> {
        if depth >= DEPTH_MAX {
            return Err(Error::malformed("a requirement is nested too deep"));
        }
        let operator = self.number()?;
        let depth = depth + 1;
        Ok(match operator & !FLAGS {
            op::FALSE => Expression::Never,
            op::TRUE => Expression::Always,
            op::IDENTIFIER => Expression::Identifier(self.data()?),
            op::ANCHOR_APPLE => Expression::AnchorApple,
            op::ANCHOR_HASH => Expression::CertificateHash(self.slot()?, self.data()?),
            op::INFO_VALUE => {
                let key = self.data()?;
                Expression::Info(key, Match::Text(Relation::Equal, self.data()?))
            }
            op::AND => Expression::And(self.boxed(depth)?, self.boxed(depth)?),
            op::OR => Expression::Or(self.boxed(depth)?, self.boxed(depth)?),
            op::CDHASH => Expression::CdHash(self.data()?),
            op::NOT => Expression::Not(self.boxed(depth)?),
            op::INFO => Expression::Info(self.data()?, self.comparison()?),
            op::TRUSTED => Expression::CertificateTrusted(self.slot()?),
            op::ANCHOR_TRUSTED => Expression::AnchorTrusted,
            op::ANCHOR_APPLE_GENERIC => Expression::AnchorAppleGeneric,
            op::ENTITLEMENT => Expression::Entitlement(self.data()?, self.comparison()?),
            op::NAMED_ANCHOR => Expression::NamedAnchor(self.data()?),
            op::NAMED_CODE => Expression::NamedCode(self.data()?),
            op::PLATFORM => Expression::Platform(self.slot()?),
            op::NOTARIZED => Expression::Notarized,
            op::LEGACY => Expression::LegacyDeveloperId,
            number => match CertificatePart::from_repr(number) {
                Some(part) => {
                    Expression::Certificate(self.slot()?, part, self.data()?, self.comparison()?)
                }
                None => self.unknown(operator, number, depth)?,
            },
        })
    }

    /// Reads an operator that is not known, if it says how.
    fn unknown(&mut self, operator: u32, number: u32, depth: u32) -> Result<Expression, Error> {
        if operator & (GENERIC_FALSE | GENERIC_SKIP) == 0 {
            let text = format!("operator {number} of a requirement is not known");
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        let len = self.number()? as usize;
        self.at = self.at.checked_add(len).ok_or_else(cut_short)?;
        if self.at > self.bytes.len() {
            return Err(cut_short());
        }
        if operator & GENERIC_FALSE != 0 {
            return Ok(Expression::UnknownFalse(number));
        }
        Ok(Expression::UnknownSkipped(number, self.boxed(depth)?))
    }

    fn comparison(&mut self) -> Result<Match, Error> {
        let number = self.number()?;
        Ok(match (number, Relation::from_repr(number), DateOrder::from_repr(number)) {
            (MATCH_EXISTS, ..) => Match::Exists,
            (MATCH_ABSENT, ..) => Match::Absent,
            (_, Some(relation), _) => Match::Text(relation, self.data()?),
            (_, _, Some(ordering)) => Match::Date(ordering, self.timestamp()?),
            _ => {
                // Assumed to have one operand, so that the rest can be read.
                self.data()?;
                Match::Unknown(number)
            }
        })
    }
}

fn cut_short() -> Error {
    Error::malformed("a requirement is cut short")
}
