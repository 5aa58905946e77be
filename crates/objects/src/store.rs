//! What can be asked of a store: its objects' names, what it says of one, and its parts.
//!
//! In: an address, names of objects. Out: pages, [`Object`]s, parts. Asks for heads and attributes
//! only: no request of this module has an object's bytes for its answer.

use std::fmt;

use crate::address::Address;
use crate::algorithm::ObjectAlgorithm;
use crate::answer;
use crate::client::{Client, Connection};
use crate::error::{Error, ErrorKind};
use crate::listing::{Page, Part, Parts};
use crate::object::{Extent, Object};

/// Parts that an object may have.
const PARTS_MAX: usize = 10_000;

/// What marks buckets of Amazon's directories, whose ETags are no MD5.
const DIRECTORY_BUCKET: &str = "--x-s3";

/// A store's bucket, to be asked by several threads.
pub struct Store {
    client: Client,
    address: Address,
}

impl Store {
    /// Takes a bucket and the way to it. Asks for nothing yet.
    ///
    /// # Errors
    /// If the connection's words make no sense.
    pub fn new(connection: Connection, address: Address) -> Result<Store, Error> {
        Ok(Store { client: Client::new(connection, &address)?, address })
    }

    /// Returns where its objects are.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns how many requests were sent.
    pub fn requests(&self) -> u64 {
        self.client.requests()
    }

    /// Lists names beneath the address: at most `limit` of them, from where `next` says.
    ///
    /// # Errors
    /// If the store does not answer, or not in sense; if there is no such bucket.
    pub fn list(&self, next: Option<&str>, limit: u16) -> Result<Page, Error> {
        let limit = limit.clamp(1, 1000).to_string();
        let mut query = vec![("list-type", "2"), ("encoding-type", "url"), ("max-keys", &limit)];
        query.extend(next.map(|next| ("continuation-token", next)));
        query.push(("prefix", self.address.prefix()));
        let answer = self.client.ask("GET", None, &query, &[])?;
        if answer.status == 404 {
            let bucket = self.address.bucket();
            return Err(Error::usage(match answer::is_no_bucket(&answer.body) {
                true => format!("there is no bucket `{bucket}`"),
                false => format!("the store knows nothing of `{bucket}`: 404"),
            }));
        }
        let page = answer::page(&answer.body)?;
        if page.next.is_some() && page.next.as_deref() == next {
            let message = "the store's list does not come to an end";
            return Err(Error::new(ErrorKind::Malformed, message));
        }
        Ok(page)
    }

    /// Asks what the store says of an object; `None` if there is none.
    ///
    /// # Errors
    /// If the store does not answer, or refuses.
    pub fn head(&self, key: &str) -> Result<Option<Object>, Error> {
        let answer =
            self.client.ask("HEAD", Some(key), &[], &[("x-amz-checksum-mode", "ENABLED")])?;
        let md5 = !self.address.bucket().ends_with(DIRECTORY_BUCKET);
        Ok((answer.status != 404).then(|| Object::of_head(&answer.headers(), md5)))
    }

    /// Asks what the digests of an object are of, where its head left that open. `None` if the
    /// store knows no such question or does not say.
    ///
    /// # Errors
    /// If the store does not answer.
    pub fn extent(&self, key: &str, object: &Object) -> Result<Option<Extent>, Error> {
        let headers =
            [("x-amz-max-parts", "1"), ("x-amz-object-attributes", "Checksum,ObjectParts")];
        let asked = self.client.ask("GET", Some(key), &[("attributes", "")], &headers);
        let extent = match asked {
            Ok(answer) if answer.status == 404 => return Ok(None),
            Ok(answer) => answer::extent(&answer.body),
            Err(error) => Err(error),
        };
        match extent {
            // Attributes without parts are of an object that came in one piece.
            Ok(None) if !object.multipart => Ok(Some(Extent::Whole)),
            Err(error) if is_unsupported(&error) => Ok(None),
            extent => extent,
        }
    }

    /// Asks for the parts of an object that came in several; none if the store does not say.
    ///
    /// Stores that keep the parts' digests tell of each. Of others the length of the first part is
    /// asked, which all but the last share with it where common programs stored them: the parts
    /// are then [assumed](Parts::assumed), until each is [asked for](Store::each_part).
    ///
    /// # Errors
    /// If the store does not answer, or not in sense.
    pub fn parts(
        &self,
        key: &str,
        algorithm: ObjectAlgorithm,
        length: u64,
    ) -> Result<Parts, Error> {
        match self.kept_parts(key, algorithm) {
            Ok(list) if !list.is_empty() => Ok(Parts { list, assumed: false }),
            // Many stores know no such question.
            Err(error) if !is_unsupported(&error) => Err(error),
            _ => Ok(Parts { list: self.equal_parts(key, length)?, assumed: true }),
        }
    }

    /// Asks for the length of each of `count` parts, one request a part; none if the store does
    /// not say.
    ///
    /// # Errors
    /// If the store does not answer.
    pub fn each_part(&self, key: &str, count: usize) -> Result<Vec<Part>, Error> {
        let mut parts = Vec::with_capacity(count);
        for number in 1..=count {
            let Some((length, _)) = self.part(key, number)? else { return Ok(Vec::new()) };
            parts.push(Part { length, digest: None });
        }
        Ok(parts)
    }

    fn kept_parts(&self, key: &str, algorithm: ObjectAlgorithm) -> Result<Vec<Part>, Error> {
        let mut parts: Vec<Part> = Vec::new();
        let mut marker: Option<String> = None;
        loop {
            let mut headers =
                vec![("x-amz-max-parts", "1000"), ("x-amz-object-attributes", "ObjectParts")];
            headers.extend(marker.as_deref().map(|marker| ("x-amz-part-number-marker", marker)));
            let answer = self.client.ask("GET", Some(key), &[("attributes", "")], &headers)?;
            if answer.status == 404 {
                return Ok(Vec::new());
            }
            let (more, next) = answer::parts(&answer.body, algorithm)?;
            let none = more.is_empty();
            parts.extend(more);
            if parts.len() > PARTS_MAX || (none && next.is_some()) {
                let message = "the store tells of more parts than an object can have";
                return Err(Error::new(ErrorKind::Malformed, message));
            }
            match next {
                Some(next) => marker = Some(next),
                None => return Ok(parts),
            }
        }
    }

    fn equal_parts(&self, key: &str, length: u64) -> Result<Vec<Part>, Error> {
        let Some((first, count)) = self.part(key, 1)? else { return Ok(Vec::new()) };
        // The last part may be shorter, and is there.
        let fits = first > 0 && count == length.div_ceil(first).max(1);
        if !fits || count > PARTS_MAX as u64 {
            return Ok(Vec::new());
        }
        let begin = |part: u64| (part * first).min(length);
        let parts = (0..count).map(|part| begin(part + 1) - begin(part));
        Ok(parts.map(|length| Part { length, digest: None }).collect())
    }

    /// Asks for the length of one part, by its number from 1, and for how many there are.
    fn part(&self, key: &str, number: usize) -> Result<Option<(u64, u64)>, Error> {
        let number = number.to_string();
        let answer = match self.client.ask("HEAD", Some(key), &[("partNumber", &number)], &[]) {
            Ok(answer) => answer,
            Err(error) if error.kind() == ErrorKind::Refused => return Ok(None),
            Err(error) => return Err(error),
        };
        let number = |name: &str| answer.header(name).and_then(|text| text.parse::<u64>().ok());
        Ok(number("content-length").zip(number("x-amz-mp-parts-count")))
    }
}

/// Says whether an error may mean that a store does not know what it was asked.
fn is_unsupported(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused | ErrorKind::Malformed)
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("address", &self.address).finish_non_exhaustive()
    }
}
