//! The listings of a store: of objects, and of the parts of one object.

use steadfast_digest::Digest;

/// An object of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObject {
    /// Its name.
    pub key: String,
    /// Its length in bytes.
    pub length: u64,
}

/// One batch of a listing, in the store's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The objects, at most a thousand.
    pub objects: Vec<ListedObject>,
    /// The token that requests the next batch. `None` for the last one.
    pub next: Option<String>,
}

/// A part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectPart {
    /// Its length in bytes.
    pub length: u64,
    /// Its digest, if the store kept it.
    pub digest: Option<Digest>,
}

/// The parts of an object in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectParts {
    /// The parts. Empty if the store does not say.
    pub list: Vec<ObjectPart>,
    /// Whether all lengths were derived from that of the first part. A digest that matches still
    /// proves the object intact; one that differs proves nothing.
    pub assumed: bool,
}
