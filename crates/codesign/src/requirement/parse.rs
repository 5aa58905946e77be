//! Parses the text of a requirement.
//!
//! A certificate's hash can be given as a file name. That is rejected, since no files are read
//! here.

mod words;

use self::words::{Token, words};
use super::print::KEYWORDS;
use super::{
    CertificatePart, CertificateSlot, DEPTH_MAX, DateOrder, Expression, LEAF, Match, ROOT, Relation,
};
use crate::ber::{generalized_time, undotted};
use crate::error::Error;

/// Seconds from 1970 to 2001, the epoch of dates in requirements.
pub(super) const SECONDS_TO_2001: i64 = 978_307_200;

/// Conditions joined by `and` nest like those in brackets; this bounds both together.
const WORDS_MAX: usize = 2048;

/// SHA-1, the hash of certificates and directories in requirements.
const HASH_LEN: usize = 20;

/// Reads a requirement.
pub(super) fn parse(text: &str) -> Result<Expression, Error> {
    let mut parser = Parser { tokens: words(text, WORDS_MAX)?, at: 0 };
    let expression = parser.either(0)?;
    while parser.takes(";") {}
    match parser.peek() {
        None => Ok(expression),
        Some(token) => Err(unexpected(token)),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Result<Token, Error> {
        let token = self.peek().cloned().ok_or_else(|| malformed("it ends too early"))?;
        self.at += 1;
        Ok(token)
    }

    /// Takes a sign or a keyword, if it is next.
    fn takes(&mut self, what: &str) -> bool {
        let found = match self.peek() {
            Some(Token::Sign(sign)) => *sign == what,
            Some(Token::Word(word)) => word == what,
            _ => false,
        };
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, what: &str) -> Result<(), Error> {
        match self.takes(what) {
            true => Ok(()),
            false => Err(malformed(&format!("it has no `{what}` where one is needed"))),
        }
    }

    fn either(&mut self, depth: u32) -> Result<Expression, Error> {
        let mut left = self.both(depth)?;
        while self.takes("or") {
            left = Expression::Or(Box::new(left), Box::new(self.both(depth)?));
        }
        Ok(left)
    }

    fn both(&mut self, depth: u32) -> Result<Expression, Error> {
        let mut left = self.primary(depth)?;
        while self.takes("and") {
            left = Expression::And(Box::new(left), Box::new(self.primary(depth)?));
        }
        Ok(left)
    }

    fn primary(&mut self, depth: u32) -> Result<Expression, Error> {
        let depth = depth + 1;
        if depth > DEPTH_MAX {
            return Err(malformed("it is nested too deep"));
        }
        if self.takes("!") {
            return Ok(Expression::Not(Box::new(self.primary(depth)?)));
        }
        if self.takes("(") {
            return self.bracketed(depth);
        }
        let token = self.next()?;
        let Token::Word(word) = &token else { return Err(unexpected(&token)) };
        Ok(match word.as_str() {
            "always" | "true" => Expression::Always,
            "never" | "false" => Expression::Never,
            "notarized" => Expression::Notarized,
            "legacy" => Expression::LegacyDeveloperId,
            "identifier" => {
                self.optional_equals();
                Expression::Identifier(self.text()?)
            }
            "cdhash" => {
                self.optional_equals();
                Expression::CdHash(self.hash()?)
            }
            "platform" => {
                self.optional_equals();
                Expression::Platform(self.integer()?)
            }
            "info" => Expression::Info(self.key()?, self.comparison()?),
            "entitlement" => Expression::Entitlement(self.key()?, self.comparison()?),
            "anchor" => self.anchor()?,
            "certificate" | "cert" => self.certificate()?,
            _ => return Err(unexpected(&token)),
        })
    }

    /// Reads the contents of brackets: a condition, or the name of one.
    fn bracketed(&mut self, depth: u32) -> Result<Expression, Error> {
        let name = match self.peek() {
            Some(Token::Word(word)) if !KEYWORDS.contains(&word.as_str()) => true,
            Some(Token::Text(_)) => true,
            _ => false,
        };
        let inner = match name {
            true => Expression::NamedCode(self.text()?),
            false => self.either(depth)?,
        };
        self.expect(")")?;
        Ok(inner)
    }

    fn anchor(&mut self) -> Result<Expression, Error> {
        if self.takes("apple") {
            return Ok(match self.peek() {
                Some(Token::Word(word)) if word == "generic" => {
                    self.at += 1;
                    Expression::AnchorAppleGeneric
                }
                Some(Token::Word(word)) if KEYWORDS.contains(&word.as_str()) => {
                    Expression::AnchorApple
                }
                Some(Token::Word(_) | Token::Text(_)) => Expression::NamedAnchor(self.text()?),
                _ => Expression::AnchorApple,
            });
        }
        if self.takes("generic") {
            self.expect("apple")?;
            return Ok(Expression::AnchorAppleGeneric);
        }
        match self.takes("trusted") {
            true => Ok(Expression::AnchorTrusted),
            false => self.about_certificate(ROOT),
        }
    }

    fn certificate(&mut self) -> Result<Expression, Error> {
        if self.takes("trusted") {
            return Ok(Expression::AnchorTrusted);
        }
        let slot = if self.takes("leaf") {
            LEAF
        } else if self.takes("root") {
            ROOT
        } else if self.takes("-") {
            -self.integer()?
        } else {
            self.integer()?
        };
        match self.takes("trusted") {
            true => Ok(Expression::CertificateTrusted(slot)),
            false => self.about_certificate(slot),
        }
    }

    /// Reads a condition on one certificate: its hash, or something in it.
    fn about_certificate(&mut self, slot: CertificateSlot) -> Result<Expression, Error> {
        if !matches!(self.peek(), Some(Token::Sign("["))) {
            self.optional_equals();
            return Ok(Expression::CertificateHash(slot, self.hash()?));
        }
        let key = self.key()?;
        let text = String::from_utf8_lossy(&key).into_owned();
        let (kind, rest) = text.split_once('.').unwrap_or((&text, ""));
        let oid = || {
            let known = undotted(rest).filter(|oid| oid.len() <= 64);
            known.ok_or_else(|| malformed(&format!("`{rest}` is no object identifier")))
        };
        let (part, key) = match kind {
            // Apple's interpreter knows `email`, Apple's grammar does not.
            "subject" => (CertificatePart::Field, key),
            "email" if rest.is_empty() => (CertificatePart::Field, key),
            "field" | "extension" => (CertificatePart::Extension, oid()?),
            "policy" => (CertificatePart::Policy, oid()?),
            "timestamp" => (CertificatePart::Date, oid()?),
            _ => return Err(malformed(&format!("`{text}` is no part of a certificate"))),
        };
        Ok(Expression::Certificate(slot, part, key, self.comparison()?))
    }

    fn comparison(&mut self) -> Result<Match, Error> {
        if self.takes("absent") {
            return Ok(Match::Absent);
        }
        let Some(Token::Sign(sign)) = self.peek().cloned() else {
            self.takes("exists");
            return Ok(Match::Exists);
        };
        let (relation, ordering) = match sign {
            "=" | "==" => (Relation::Equal, DateOrder::On),
            "<" => (Relation::Less, DateOrder::Before),
            ">" => (Relation::Greater, DateOrder::After),
            "<=" => (Relation::LessOrEqual, DateOrder::OnOrBefore),
            ">=" => (Relation::GreaterOrEqual, DateOrder::OnOrAfter),
            "~" => {
                self.at += 1;
                return Ok(Match::Text(Relation::Contains, self.text()?));
            }
            _ => return Ok(Match::Exists),
        };
        self.at += 1;
        if self.takes("timestamp") {
            let text = String::from_utf8_lossy(&self.text()?).into_owned();
            let seconds = generalized_time(&text).map(|seconds| seconds - SECONDS_TO_2001);
            let seconds = seconds.ok_or_else(|| malformed(&format!("`{text}` is no time")))?;
            return Ok(Match::Date(ordering, seconds));
        }
        if relation != Relation::Equal {
            return Ok(Match::Text(relation, self.text()?));
        }
        let open_before = self.takes("*");
        let value = self.text()?;
        let open_after = self.takes("*");
        let relation = match (open_before, open_after) {
            (false, false) => Relation::Equal,
            (false, true) => Relation::BeginsWith,
            (true, false) => Relation::EndsWith,
            (true, true) => Relation::Contains,
        };
        Ok(Match::Text(relation, value))
    }

    fn key(&mut self) -> Result<Vec<u8>, Error> {
        self.expect("[")?;
        let key = self.text()?;
        self.expect("]")?;
        Ok(key)
    }

    fn optional_equals(&mut self) {
        if !self.takes("=") {
            self.takes("==");
        }
    }

    fn text(&mut self) -> Result<Vec<u8>, Error> {
        match self.next()? {
            Token::Word(word) => Ok(word.into_bytes()),
            Token::Text(text) => Ok(text),
            // An identifier that is not text is printed in hexadecimal digits.
            Token::Hex(bytes) => Ok(bytes),
            token => Err(unexpected(&token)),
        }
    }

    fn hash(&mut self) -> Result<Vec<u8>, Error> {
        match self.next()? {
            Token::Hash(hash) if hash.len() == HASH_LEN => Ok(hash),
            Token::Hash(_) => Err(malformed("a hash has not 20 bytes")),
            token => Err(unexpected(&token)),
        }
    }

    fn integer(&mut self) -> Result<i32, Error> {
        match self.next()? {
            Token::Integer(digits) => {
                digits.parse().map_err(|_| malformed(&format!("{digits} is too large")))
            }
            token => Err(unexpected(&token)),
        }
    }
}

fn unexpected(token: &Token) -> Error {
    malformed(&format!("{token} is not expected where it is"))
}

fn malformed(what: &str) -> Error {
    Error::malformed(format!("the requirement cannot be read: {what}"))
}
