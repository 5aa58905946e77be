//! What a store lists: pages of objects' names, and the parts of one object.

use steadfast_digest::Digest;

/// An object in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub key: String,
    /// Its length in bytes.
    pub length: u64,
}

/// Some names, in the store's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// At most a thousand.
    pub objects: Vec<Listed>,
    /// What the next page is asked for with, if there is one.
    pub next: Option<String>,
}

/// A part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its length in bytes.
    pub length: u64,
    /// Its digest, where the store kept it.
    pub digest: Option<Digest>,
}

/// The parts of an object, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Each part; none if the store does not say.
    pub list: Vec<Part>,
    /// Whether only the first one's length was told: a digest of these parts that agrees proves
    /// the object, one that differs proves nothing.
    pub assumed: bool,
}
