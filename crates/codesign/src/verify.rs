//! Some code with everything that belongs to it, verified: three verdicts for each part of it.
//!
//! In: opened code. Out: for each part the verdicts on bytes, signer and policy; for a bundle the
//! state of its resources; for nested code the same again, and whether it is what was sealed. Must
//! not know: how it is printed. Nothing here is added up to one word: [`Verification::exit_status`]
//! says only which command status follows.

use crate::apple::AppleError;
use crate::bundle::{Bundle, NestedItem, Resources, Subtree, joined};
use crate::code::{Code, CodeKind, CodePart};
use crate::constraint::Constraint;
use crate::coverage::Coverage;
use crate::entitlements::Entitlements;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, FindingKind, Severity};
use crate::hash::CdHash;
use crate::pages::{BytesState, BytesVerdict, CheckOptions, PageChoice};
use crate::plist::Value;
use crate::policy::{PolicyOptions, PolicyVerdict};
use crate::requirement::{Requirement, Subject};
use crate::signature::Signature;
use crate::signer::SignerVerdict;
use crate::superblob::Slot;

/// How deep bundles within bundles are opened.
const DEPTH_MAX: usize = 16;

/// What to verify, and how.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// Whether nested code is verified like what it is in: its pages, its resources, what it nests.
    /// Otherwise its signature is, and what that binds.
    pub deep: bool,
    /// Whether what strict checking has against the code refuses it.
    pub strict: bool,
    /// Which pages. Any but all leave resources and nested code alone.
    pub pages: PageChoice,
    /// Threads and kernels.
    pub check: CheckOptions,
    /// The present, in seconds since 1970, for what expires. `None` does not ask.
    pub now: Option<i64>,
}

/// What became of some code.
#[derive(Clone, Debug)]
pub struct Verification {
    /// What it is.
    pub kind: CodeKind,
    /// Its parts, in the order of [`Code::parts`].
    pub parts: Vec<PartVerification>,
    /// The resources, if it is a bundle of which they were looked at.
    pub resources: Option<Resources>,
    /// Nested code, in the order of the names.
    pub nested: Vec<NestedVerification>,
    /// What was found of the whole: its form, its layout.
    pub findings: Vec<Finding>,
}

/// What became of one part: a slice, or all of it.
#[derive(Clone, Debug)]
pub struct PartVerification {
    /// The architecture, if it is a slice.
    pub architecture: Option<String>,
    /// What the signature calls the code.
    pub identifier: Option<String>,
    /// The team it names.
    pub team: Option<String>,
    /// The chosen CDHash.
    pub cdhash: Option<CdHash>,
    /// The verdict on the bytes.
    pub bytes: BytesVerdict,
    /// The verdict on the signer, if there is a signature.
    pub signer: Option<SignerVerdict>,
    /// The verdict on the policy, if there is a signature.
    pub policy: Option<PolicyVerdict>,
}

/// What became of code in a bundle that has a signature of its own.
#[derive(Clone, Debug)]
pub struct NestedVerification {
    /// What was sealed.
    pub item: NestedItem,
    /// Whether the requirement that was sealed is met, which is what Apple's check asks; or why it
    /// cannot be told.
    pub requirement: Result<bool, String>,
    /// Whether it is exactly the code that was sealed; `None` if the seal does not say.
    pub exact: Option<bool>,
    /// What became of the code itself; `None` if it could not be opened.
    pub code: Option<Box<Verification>>,
    /// What was found of its place in the bundle.
    pub findings: Vec<Finding>,
}

impl Code<'_> {
    /// Verifies the code.
    ///
    /// # Errors
    /// `Usage` if pages are asked for that there are not.
    pub fn verify(&self, options: &VerifyOptions) -> Result<Verification, Error> {
        self.verify_at(options, 0)
    }

    fn verify_at(&self, options: &VerifyOptions, depth: usize) -> Result<Verification, Error> {
        let mut verification = Verification {
            kind: self.kind(),
            parts: Vec::new(),
            resources: None,
            nested: Vec::new(),
            findings: self.findings().to_vec(),
        };
        for part in self.parts() {
            verification.parts.push(self.verify_part(&part, options)?);
        }
        if options.pages == PageChoice::All {
            self.look_around(options, &mut verification.findings)?;
        }
        let Some(bundle) = self.as_bundle() else { return Ok(verification) };
        let whole = options.pages == PageChoice::All && (depth == 0 || options.deep);
        if whole {
            let resources = bundle.check_resources(options.strict, options.check.workers);
            for item in &resources.nested {
                verification.nested.push(verify_nested(bundle, item, options, depth + 1));
            }
            verification.resources = Some(resources);
        }
        Ok(verification)
    }

    /// Looks at what no digest covers, and at what is in a signature twice.
    fn look_around(&self, options: &VerifyOptions, found: &mut Vec<Finding>) -> Result<(), Error> {
        for part in self.parts() {
            let Some(signature) = part.signature else { continue };
            let entitlements = Entitlements::of(signature).findings.into_iter();
            let further = entitlements.chain(Constraint::all(signature).1);
            found.extend(further.map(|finding| {
                finding.at(|place| place.slice = place.slice.take().or(part.architecture()))
            }));
        }
        let Some(binary) = self.as_binary() else { return Ok(()) };
        let coverage = Coverage::of(self.source(), binary);
        let coverage = coverage.map_err(|error| Error::system("read what is not sealed", error))?;
        found.extend(coverage.findings());
        if options.strict {
            found.extend(binary.strict_findings(&coverage));
        }
        Ok(())
    }

    fn verify_part(
        &self,
        part: &CodePart<'_>,
        options: &VerifyOptions,
    ) -> Result<PartVerification, Error> {
        let surroundings = self.surroundings();
        let bytes = match (part.slice, part.sealed(self.source())) {
            (Some(slice), _) => {
                slice.check_bytes(self.source(), &surroundings, &options.pages, &options.check)?
            }
            (None, Some(sealed)) => {
                sealed.check_bytes(&surroundings, &options.pages, &options.check)?
            }
            (None, None) => unsigned(),
        };
        let signer = part.signature.map(SignerVerdict::of);
        let info = surroundings.info_plist.and_then(|info| Value::parse(info).ok());
        let policy = part.signature.zip(signer.as_ref()).map(|(signature, signer)| {
            let options = PolicyOptions { now: options.now, info: info.as_ref() };
            PolicyVerdict::of(signature, signer, &options)
        });
        Ok(PartVerification {
            architecture: part.architecture(),
            identifier: part.signature.map(|signature| signature.identifier().into_owned()),
            team: part.signature.and_then(|signature| Some(signature.team()?.into_owned())),
            cdhash: part.signature.map(|signature| signature.chosen_directory().cdhash()),
            bytes,
            signer,
            policy,
        })
    }
}

/// The verdict on bytes that no signature seals.
fn unsigned() -> BytesVerdict {
    let text = AppleError::Unsigned.text();
    BytesVerdict {
        state: BytesState::Unsigned,
        directories: Vec::new(),
        slots: Vec::new(),
        damage: Vec::new(),
        findings: vec![Finding::failure(FindingKind::Unsigned, AppleError::Unsigned, text)],
        read_bytes: 0,
    }
}

/// Verifies nested code, by itself and as what was sealed.
fn verify_nested(
    bundle: &Bundle<'_>,
    item: &NestedItem,
    options: &VerifyOptions,
    depth: usize,
) -> NestedVerification {
    let mut nested = NestedVerification {
        item: item.clone(),
        requirement: Err("it could not be opened".to_owned()),
        exact: None,
        code: None,
        findings: Vec::new(),
    };
    let tree = Subtree::new(bundle.tree(), &item.path);
    let name = item.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let opened = match item.folder {
        _ if depth > DEPTH_MAX => Err(Error::new(ErrorKind::Unsupported, "nested too deep")),
        true => Code::bundle(&tree, name),
        false => match bundle.tree().open(&item.path) {
            Ok(source) => Code::file(source),
            Err(error) => Err(Error::system("open it", error)),
        },
    };
    let of_item = VerifyOptions {
        // Without `deep` the form of the signature and what its slots bind, and no page.
        pages: if options.deep { PageChoice::All } else { PageChoice::Sample(0) },
        ..options.clone()
    };
    match opened.and_then(|code| {
        let verification = code.verify_at(&of_item, depth)?;
        nested.compare(&code);
        Ok(verification)
    }) {
        Ok(verification) => {
            nested.judge(&verification);
            nested.code = Some(Box::new(verification));
        }
        Err(error) => nested.tell(FindingKind::NestedDamaged, error.to_string()),
    }
    nested
}

impl NestedVerification {
    /// Holds the code against what was sealed.
    fn compare(&mut self, code: &Code<'_>) {
        let parts = code.parts();
        let signed = || parts.iter().filter_map(|part| part.signature);
        self.exact = self.item.cdhash.as_ref().map(|sealed| {
            let mut directories = signed().flat_map(Signature::directories);
            directories.any(|directory| directory.cdhash().as_bytes()[..] == sealed[..])
        });
        self.requirement = match Requirement::parse(&self.item.requirement) {
            Err(error) => Err(error.to_string()),
            Ok(requirement) => {
                let info = code.surroundings().info_plist.and_then(|info| Value::parse(info).ok());
                let mut outcome = Ok(signed().next().is_some());
                for signature in signed() {
                    let one = holds(&requirement, signature, info.as_ref());
                    outcome = match (outcome, one) {
                        (Ok(false), _) | (_, Ok(false)) => Ok(false),
                        (Err(unknown), _) | (_, Err(unknown)) => Err(unknown),
                        (Ok(true), Ok(true)) => Ok(true),
                    };
                }
                outcome
            }
        };
    }

    /// Says what the comparison means.
    fn judge(&mut self, verification: &Verification) {
        let is_unsigned = |part: &PartVerification| part.bytes.state == BytesState::Unsigned;
        if verification.parts.iter().all(is_unsigned) {
            self.tell(FindingKind::NestedUnsigned, "not signed".to_owned());
            return;
        }
        match self.requirement.clone() {
            Ok(true) => {}
            Ok(false) => {
                let text = format!("does not meet `{}`", self.item.requirement);
                self.tell(FindingKind::NestedDamaged, text);
            }
            Err(unknown) => {
                let text = format!("whether it meets `{}`: {unknown}", self.item.requirement);
                let finding = Finding::warning(FindingKind::RequirementUnsupported, text);
                self.push(finding);
            }
        }
        if self.exact == Some(false) && self.requirement != Ok(false) {
            let text = "meets its requirement, and is not the code that was sealed";
            let mut finding = Finding::warning(FindingKind::NestedReplaced, text);
            // Apple's check is content. A keeper of files is not.
            finding.severity = Severity::Failure;
            self.push(finding);
        }
    }

    fn tell(&mut self, kind: FindingKind, text: String) {
        let error = match kind {
            FindingKind::NestedUnsigned => AppleError::UnsignedNestedCode,
            _ => AppleError::BadNestedCode,
        };
        self.push(Finding::failure(kind, error, text));
    }

    fn push(&mut self, finding: Finding) {
        let path = self.item.path.clone();
        self.findings.push(finding.at(|place| place.path = Some(path)));
    }
}

/// Whether a signature meets a requirement.
fn holds(
    requirement: &Requirement,
    signature: &Signature,
    info: Option<&Value>,
) -> Result<bool, String> {
    let signer = SignerVerdict::of(signature);
    let entitlements = signature.blob(Slot::ENTITLEMENTS);
    let entitlements = entitlements.and_then(|blob| Value::parse(blob.payload()).ok());
    let mut subject = Subject::of(signature, &signer);
    if let Some(info) = info {
        subject = subject.info(info);
    }
    if let Some(entitlements) = &entitlements {
        subject = subject.entitlements(entitlements);
    }
    requirement.holds_for(&subject).map_err(|unknown| unknown.to_string())
}

impl Verification {
    /// Returns all that was found, of nested code as well, every path from the root of the whole.
    pub fn all_findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        self.collect(b"", &mut found);
        found
    }

    fn collect(&self, prefix: &[u8], found: &mut Vec<Finding>) {
        let mut add = |findings: &[Finding], architecture: Option<&str>| {
            found.extend(findings.iter().cloned().map(|mut finding| {
                let place = &mut finding.place;
                if !prefix.is_empty() || place.path.is_some() {
                    place.path = Some(joined(prefix, place.path.as_deref().unwrap_or_default()));
                }
                if place.slice.is_none() {
                    place.slice = architecture.map(str::to_owned);
                }
                finding
            }));
        };
        add(&self.findings, None);
        for part in &self.parts {
            let architecture = part.architecture.as_deref();
            add(&part.bytes.findings, architecture);
            add(part.signer.as_ref().map_or(&[], |signer| &signer.findings), architecture);
            add(part.policy.as_ref().map_or(&[], |policy| &policy.findings), architecture);
        }
        add(self.resources.as_ref().map_or(&[], |resources| &resources.findings), None);
        for nested in &self.nested {
            add(&nested.findings, None);
        }
        for nested in &self.nested {
            if let Some(code) = &nested.code {
                code.collect(&joined(prefix, &nested.item.path), found);
            }
        }
    }

    /// Returns how many bytes of code and resources were read.
    pub fn read_bytes(&self) -> u64 {
        let parts: u64 = self.parts.iter().map(|part| part.bytes.read_bytes).sum();
        let resources = self.resources.as_ref().map_or(0, |resources| resources.read_bytes);
        let nested = self.nested.iter().filter_map(|nested| nested.code.as_ref());
        parts + resources + nested.map(|code| code.read_bytes()).sum::<u64>()
    }

    /// Returns the status that a command ends with: 0 if nothing is wrong, 3 if something is not as
    /// it was sealed or signed, 1 if something is missing, added, unsigned or refused, 2 if it
    /// cannot be told. 3 outranks 1, 1 outranks 2.
    pub fn exit_status(&self) -> u8 {
        let findings = self.all_findings();
        let failures = findings.iter().filter(|finding| finding.severity == Severity::Failure);
        let statuses = failures.map(|finding| status_of(finding.kind));
        // In this order the greater outranks the lesser.
        statuses.max_by_key(|status| [0, 2, 1, 3].iter().position(|one| one == status)).unwrap_or(0)
    }
}

/// The status that follows from one failure.
fn status_of(kind: FindingKind) -> u8 {
    match kind {
        FindingKind::PageDamaged
        | FindingKind::CodeLimit
        | FindingKind::PageCount
        | FindingKind::SlotDamaged
        | FindingKind::Duplicate
        | FindingKind::Malformed
        | FindingKind::SignerMalformed
        | FindingKind::ResourceModified
        | FindingKind::NestedDamaged
        | FindingKind::SignerDigest
        | FindingKind::SignerDirectories
        | FindingKind::SignerSignature
        | FindingKind::TimestampDamaged => 3,
        FindingKind::Unsupported
        | FindingKind::Unreadable
        | FindingKind::Scatter
        | FindingKind::ResourcesMalformed
        | FindingKind::ResourceUnreadable
        | FindingKind::RequirementUnsupported => 2,
        _ => 1,
    }
}
