//! Reads launch and library constraints: where signed code may run, and what it may load.
//!
//! Only a running system can evaluate them.

use crate::entitlements::parse_der;
use crate::finding::{CodeFinding, FindingKind};
use crate::plist::Value;
use crate::signature::Signature;
use crate::superblob::Slot;

/// One constraint of a signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Whether it constrains the code, its parent, the responsible process, or libraries.
    pub slot: Slot,
    /// The constraint by name; `reqs` has the conditions.
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

    /// Returns the conditions alone, if there are any.
    pub fn conditions(&self) -> Option<&Value> {
        self.value.get("reqs")
    }
}
