//! Checks the strict rules for one file: no bytes before, between or after what is sealed.
//!
//! The strict rules for bundles are in `bundle`.
//!
//! Source: `macho++.cpp` of Apple's Security framework.

use crate::apple::AppleError;
use crate::binary::{Binary, MachSlice};
use crate::coverage::{Coverage, RangeCover};
use crate::finding::{CodeFinding, FindingKind, Severity};

impl Binary {
    /// Returns a finding for each range that nothing seals and that is not zero, and for what
    /// Apple's strict checking refuses in the form of the file. The latter are failures if
    /// `strict`, all of them if `every_byte`, and otherwise warnings.
    pub fn unsealed_findings(
        &self,
        coverage: &Coverage,
        strict: bool,
        every_byte: bool,
    ) -> Vec<CodeFinding> {
        let mut findings = coverage.findings();
        if strict {
            findings.extend(self.slices.iter().filter_map(MachSlice::find_loose_end));
            let last = coverage.ranges.last().filter(|range| range.slice.is_none());
            if let Some(zeros) = last.filter(|range| range.cover == RangeCover::UnsealedZero) {
                let error = AppleError::BadMainExecutable;
                let text = "zeros follow the last slice";
                let finding = CodeFinding::failure(FindingKind::Strict, error, text);
                findings.push(finding.at(|place| place.bytes = Some(zeros.bytes.clone())));
            }
        }
        // In the room for the signature Apple's check does not look.
        for finding in &mut findings {
            if every_byte || (strict && finding.apple.is_some()) {
                finding.severity = Severity::Failure;
            }
        }
        findings
    }
}

impl MachSlice {
    /// Finds out whether the slice ends where its last segment does.
    fn find_loose_end(&self) -> Option<CodeFinding> {
        let mut segments = self.macho.as_ref()?.segments.iter();
        let last = segments.find(|segment| segment.name == "__LINKEDIT")?;
        if self.signature.is_none() || last.range.end == self.len_bytes {
            return None;
        }
        let text = "the slice does not end where its last segment does";
        let finding =
            CodeFinding::failure(FindingKind::Strict, AppleError::BadMainExecutable, text);
        let start = self.offset.saturating_add(last.range.end.min(self.len_bytes));
        let bytes = start..self.offset.saturating_add(self.len_bytes);
        Some(finding.at(|place| {
            place.slice = Some(self.architecture.to_string());
            place.bytes = Some(bytes);
        }))
    }
}
