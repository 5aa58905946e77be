//! Launch and library constraints: where signed code may run, and what may be loaded into it.
//!
//! In: the blobs of a signature. Out: values by name, as they are encoded. Must not know: how they
//! are evaluated, which only a running system can.

use crate::entitlements::parse_der;
use crate::finding::{CodeFinding, FindingKind};
use crate::plist::Value;
use crate::signature::Signature;
use crate::superblob::Slot;

/// One constraint of a signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// What it constrains: the code, its parent, the responsible process, or libraries.
    pub slot: Slot,
    /// What must hold, by name: `reqs` has the conditions.
    pub value: Value,
}

impl Constraint {
    /// Reads all constraints of a signature; those that cannot be read are findings.
    pub fn all(signature: &Signature) -> (Vec<Constraint>, Vec<CodeFinding>) {
        let (mut constraints, mut findings) = (Vec::new(), Vec::new());
        for slot in (Slot::CONSTRAINT_SELF.0..=Slot::CONSTRAINT_LIBRARY.0).map(Slot) {
            let Some(blob) = signature.blob(slot) else { continue };
            match parse_der(blob.payload()) {
                Ok(value) => constraints.push(Constraint { slot, value }),
                Err(error) => {
                    let text = format!("a constraint cannot be read: {error}");
                    let finding = CodeFinding::unverified(FindingKind::Malformed, None, text);
                    findings.push(finding.at(|place| place.slot = Some(slot)));
                }
            }
        }
        (constraints, findings)
    }

    /// Returns the conditions alone, if they are where they belong.
    pub fn conditions(&self) -> Option<&Value> {
        self.value.get("reqs")
    }
}
