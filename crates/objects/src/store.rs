//! The requests to a store: listings of objects, the metadata of one object, and its parts.
//!
//! In: an address, names of objects. Out: listings, [`Object`]s, parts. Requests metadata only:
//! no response contains an object's bytes.

use std::fmt;

use crate::address::Address;
use crate::algorithm::ObjectAlgorithm;
use crate::client::{Client, Connection};
use crate::error::{Error, ErrorKind};
use crate::listing::{Listing, ObjectPart, ObjectParts};
use crate::object::{Extent, Object};
use crate::response;

/// Most parts that an object may have.
const PARTS_MAX: usize = 10_000;

/// The suffix of Amazon's directory buckets, whose ETags are not MD5s.
const DIRECTORY_BUCKET: &str = "--x-s3";

/// A bucket of a store. Several threads may use it.
pub struct ObjectStore {
    client: Client,
    address: Address,
}

impl ObjectStore {
    /// Makes a client of a bucket. Sends no request yet.
    ///
    /// # Errors
    /// If the connection is invalid.
    pub fn new(connection: Connection, address: Address) -> Result<ObjectStore, Error> {
        Ok(ObjectStore { client: Client::new(connection, &address)?, address })
    }

    /// Returns the address of its objects.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns how many requests were sent.
    pub fn requests(&self) -> u64 {
        self.client.requests()
    }

    /// Lists up to `limit` objects at the address, beginning at the token `next`.
    ///
    /// # Errors
    /// If the store does not answer, its response is malformed, or the bucket does not exist.
    pub fn list(&self, next: Option<&str>, limit: u16) -> Result<Listing, Error> {
        let limit = limit.clamp(1, 1000).to_string();
        let mut query = vec![("list-type", "2"), ("encoding-type", "url"), ("max-keys", &limit)];
        query.extend(next.map(|next| ("continuation-token", next)));
        query.push(("prefix", self.address.prefix()));
        let answer = self.client.ask("GET", None, &query, &[])?;
        if answer.status == 404 {
            let bucket = self.address.bucket();
            return Err(Error::usage(match response::is_no_bucket(&answer.body) {
                true => format!("there is no bucket `{bucket}`"),
                false => format!("the store knows nothing of `{bucket}`: 404"),
            }));
        }
        let batch = response::listing(&answer.body)?;
        if batch.next.is_some() && batch.next.as_deref() == next {
            let message = "the store's list does not come to an end";
            return Err(Error::new(ErrorKind::Malformed, message));
        }
        Ok(batch)
    }

    /// Requests the metadata of an object. Returns `None` if there is no such object.
    ///
    /// # Errors
    /// If the store does not answer, or refuses.
    pub fn head(&self, key: &str) -> Result<Option<Object>, Error> {
        let answer =
            self.client.ask("HEAD", Some(key), &[], &[("x-amz-checksum-mode", "ENABLED")])?;
        let md5 = !self.address.bucket().ends_with(DIRECTORY_BUCKET);
        Ok((answer.status != 404).then(|| Object::of_head(&answer.headers(), md5)))
    }

    /// Requests the extent of an object's digests, if its headers do not state it. Returns `None`
    /// if the store does not support the request or does not say.
    ///
    /// # Errors
    /// If the store does not answer.
    pub fn extent(&self, key: &str, object: &Object) -> Result<Option<Extent>, Error> {
        let headers =
            [("x-amz-max-parts", "1"), ("x-amz-object-attributes", "Checksum,ObjectParts")];
        let asked = self.client.ask("GET", Some(key), &[("attributes", "")], &headers);
        let extent = match asked {
            Ok(answer) if answer.status == 404 => return Ok(None),
            Ok(answer) => response::extent(&answer.body),
            Err(error) => Err(error),
        };
        match extent {
            // Attributes without parts belong to an object that was uploaded as a whole.
            Ok(None) if !object.multipart => Ok(Some(Extent::Whole)),
            Err(error) if is_unsupported(&error) => Ok(None),
            extent => extent,
        }
    }

    /// Requests the parts of an object. Returns none if the store does not say.
    ///
    /// Stores that keep the parts' digests list each part. Of others, this requests the length of
    /// the first part, which common programs use for all parts but the last: the parts are then
    /// [assumed](ObjectParts::assumed), until [`ObjectStore::each_part`] requests them all.
    ///
    /// # Errors
    /// If the store does not answer, or its response is malformed.
    pub fn parts(
        &self,
        key: &str,
        algorithm: ObjectAlgorithm,
        length: u64,
    ) -> Result<ObjectParts, Error> {
        match self.kept_parts(key, algorithm) {
            Ok(list) if !list.is_empty() => Ok(ObjectParts { list, assumed: false }),
            // Many stores do not support the request.
            Err(error) if !is_unsupported(&error) => Err(error),
            _ => Ok(ObjectParts { list: self.equal_parts(key, length)?, assumed: true }),
        }
    }

    /// Requests the length of each of `count` parts, one by one. Returns none if the store does not
    /// say.
    ///
    /// # Errors
    /// If the store does not answer.
    pub fn each_part(&self, key: &str, count: usize) -> Result<Vec<ObjectPart>, Error> {
        let mut parts = Vec::with_capacity(count);
        for number in 1..=count {
            let Some((length, _)) = self.part(key, number)? else { return Ok(Vec::new()) };
            parts.push(ObjectPart { length, digest: None });
        }
        Ok(parts)
    }

    fn kept_parts(&self, key: &str, algorithm: ObjectAlgorithm) -> Result<Vec<ObjectPart>, Error> {
        let mut parts: Vec<ObjectPart> = Vec::new();
        let mut marker: Option<String> = None;
        loop {
            let mut headers =
                vec![("x-amz-max-parts", "1000"), ("x-amz-object-attributes", "ObjectParts")];
            headers.extend(marker.as_deref().map(|marker| ("x-amz-part-number-marker", marker)));
            let answer = self.client.ask("GET", Some(key), &[("attributes", "")], &headers)?;
            if answer.status == 404 {
                return Ok(Vec::new());
            }
            let (more, next) = response::parts(&answer.body, algorithm)?;
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

    fn equal_parts(&self, key: &str, length: u64) -> Result<Vec<ObjectPart>, Error> {
        let Some((first, count)) = self.part(key, 1)? else { return Ok(Vec::new()) };
        // The last part may be shorter, but is not empty.
        let fits = first > 0 && count == length.div_ceil(first).max(1);
        if !fits || count > PARTS_MAX as u64 {
            return Ok(Vec::new());
        }
        let begin = |part: u64| (part * first).min(length);
        let parts = (0..count).map(|part| begin(part + 1) - begin(part));
        Ok(parts.map(|length| ObjectPart { length, digest: None }).collect())
    }

    /// Requests the length of one part, by its number from 1, and the number of parts.
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

/// Returns whether an error may mean that the store does not support the request.
fn is_unsupported(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused | ErrorKind::Malformed)
}

impl fmt::Debug for ObjectStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("address", &self.address).finish_non_exhaustive()
    }
}
