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
    /// Returns what strict rules reject in the form of the file, including bytes that nothing
    /// seals.
    pub fn strict_findings(&self, coverage: &Coverage) -> Vec<CodeFinding> {
        let error = AppleError::BadMainExecutable;
        let mut findings: Vec<CodeFinding> =
            self.slices.iter().filter_map(MachSlice::find_loose_end).collect();
        // Also inside the room for the signature, where Apple's check does not look.
        let unsealed = coverage.findings().into_iter();
        findings.extend(unsealed.map(|found| CodeFinding { severity: Severity::Failure, ..found }));
        let last = coverage.ranges.last().filter(|range| range.slice.is_none());
        if let Some(zeros) = last.filter(|range| range.cover == RangeCover::UnsealedZero) {
            let text = "zeros follow the last slice";
            let finding = CodeFinding::failure(FindingKind::Strict, error, text);
            findings.push(finding.at(|place| place.bytes = Some(zeros.bytes.clone())));
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
