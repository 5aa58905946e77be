//! Inventories of the Oxford Common File Layout. They are read and never written: an inventory
//! belongs to its object.
//!
//! `inventory.json` gives a record for each content path of `manifest`, relative to the object's
//! root, then one for each path of `fixity`, which adds algorithms to the same files: see
//! [`combine`](crate::combine). Memory is constant.
//!
//! Source: OCFL 1.1, section 3.5.

use std::io::BufRead;

use steadfast_digest::{Algorithm, Digest};

use crate::json::{Cursor, Json};
use crate::lines::step_records;
use crate::sums::{algorithm_of_length, digest_of};
use crate::{Fault, FaultKind, Record};

/// Reads records path by path.
pub(crate) fn records<R: BufRead>(reader: R) -> impl Iterator<Item = Result<Record, Fault>> {
    let mut parser = InventoryParser::new(reader);
    step_records(move || parser.step())
}

struct InventoryParser<R> {
    json: Json<R>,
    stage: InventoryStage,
    /// Position in the inventory.
    top: Cursor,
    /// Position in `manifest`, or in a block of `fixity`.
    block: Cursor,
    /// Position in `fixity`.
    blocks: Cursor,
    /// The algorithm of the block. That of `manifest` is the one of the inventory.
    algorithm: Option<Algorithm>,
    /// The value of `digestAlgorithm`.
    declared: Option<Algorithm>,
    /// The algorithm that the digests in `manifest` imply.
    seen: Option<Algorithm>,
    had_manifest: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InventoryStage {
    Start,
    Inventory,
    Fixity,
    Block { fixity: bool },
    Paths { fixity: bool, digest: Option<(Algorithm, Digest)>, cursor: Cursor },
    End,
}

impl<R: BufRead> InventoryParser<R> {
    fn new(reader: R) -> InventoryParser<R> {
        InventoryParser {
            json: Json::new(reader),
            stage: InventoryStage::Start,
            top: Cursor::default(),
            block: Cursor::default(),
            blocks: Cursor::default(),
            algorithm: None,
            declared: None,
            seen: None,
            had_manifest: false,
        }
    }

    /// Returns the next record. An outer error ends the document, an inner one does not.
    fn step(&mut self) -> Result<Option<Result<Record, Fault>>, Fault> {
        loop {
            match self.stage {
                InventoryStage::Start => {
                    self.json.skip_mark()?;
                    self.top = self.json.open_object()?;
                    self.stage = InventoryStage::Inventory;
                }
                InventoryStage::Inventory => match self.json.key(&mut self.top)? {
                    Some(key) => self.member(&key)?,
                    None => {
                        self.json.end()?;
                        self.stage = InventoryStage::End;
                        self.check_whole()?;
                    }
                },
                InventoryStage::Fixity => match self.json.key(&mut self.blocks)? {
                    Some(name) => {
                        let name = str::from_utf8(&name).ok();
                        self.algorithm = name.and_then(|name| name.parse().ok());
                        match self.algorithm {
                            Some(_) => {
                                self.block = self.json.open_object()?;
                                self.stage = InventoryStage::Block { fixity: true };
                            }
                            None => self.json.skip_value()?,
                        }
                    }
                    None => self.stage = InventoryStage::Inventory,
                },
                InventoryStage::Block { fixity } => match self.json.key(&mut self.block)? {
                    Some(hex) => {
                        let cursor = self.json.open_array()?;
                        let digest = self.digest(&hex, fixity);
                        // After a fault, the paths of an invalid digest are skipped.
                        let good = digest.as_ref().ok().copied();
                        self.stage = InventoryStage::Paths { fixity, digest: good, cursor };
                        if let Err(fault) = digest {
                            return Ok(Some(Err(fault)));
                        }
                    }
                    None if fixity => self.stage = InventoryStage::Fixity,
                    None => self.stage = InventoryStage::Inventory,
                },
                InventoryStage::Paths { fixity, digest, mut cursor } => {
                    if !self.json.element(&mut cursor)? {
                        self.stage = InventoryStage::Block { fixity };
                        continue;
                    }
                    let path = self.json.string()?;
                    self.stage = InventoryStage::Paths { fixity, digest, cursor };
                    if let Some(digest) = digest {
                        let record = Record { digests: vec![digest], ..Record::new(path) };
                        return Ok(Some(Ok(record)));
                    }
                }
                InventoryStage::End => return Ok(None),
            }
        }
    }

    fn member(&mut self, key: &[u8]) -> Result<(), Fault> {
        match key {
            b"type" => {
                let unsupported =
                    self.json.fault(FaultKind::Unsupported, "this program knows OCFL 1.0 and 1.1");
                let known = self.json.string()?.starts_with(b"https://ocfl.io/1.");
                known.then_some(()).ok_or(unsupported)?;
            }
            b"digestAlgorithm" => {
                let fault = self.json.fault(
                    FaultKind::Unsupported,
                    "the digest algorithm is neither sha512 nor sha256",
                );
                self.declared = match &self.json.string()?[..] {
                    b"sha512" => Some(Algorithm::Sha512),
                    b"sha256" => Some(Algorithm::Sha256),
                    _ => return Err(fault),
                };
            }
            b"manifest" => {
                self.had_manifest = true;
                self.algorithm = self.declared;
                self.block = self.json.open_object()?;
                self.stage = InventoryStage::Block { fixity: false };
            }
            b"fixity" => {
                self.blocks = self.json.open_object()?;
                self.stage = InventoryStage::Fixity;
            }
            _ => self.json.skip_value()?,
        }
        Ok(())
    }

    fn digest(&mut self, hex: &[u8], fixity: bool) -> Result<(Algorithm, Digest), Fault> {
        let value = |what| self.json.fault(FaultKind::Value, what);
        let algorithm = self.algorithm.or_else(|| algorithm_of_length(hex.len()));
        let algorithm = algorithm.ok_or_else(|| value("the digest has the wrong length"))?;
        let digest = digest_of(hex, algorithm).map_err(|_| value("the key is not a digest"))?;
        if !fixity {
            self.seen = Some(algorithm);
        }
        Ok((algorithm, digest))
    }

    /// `digestAlgorithm` may come after the digests that it describes.
    fn check_whole(&self) -> Result<(), Fault> {
        let fault = |what| Err(self.json.fault(FaultKind::Value, what));
        match (self.declared, self.seen) {
            _ if !self.had_manifest => fault("the inventory has no `manifest`"),
            (None, _) => fault("the inventory has no `digestAlgorithm`"),
            (Some(declared), Some(seen)) if declared != seen => {
                fault("the digests are not of the inventory's `digestAlgorithm`")
            }
            _ => Ok(()),
        }
    }
}
