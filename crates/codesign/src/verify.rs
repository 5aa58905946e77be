//! Verifies code: each part of it, the resources of a bundle, and nested code.
//!
//! Each part gets three verdicts: on its bytes, its signer and the policy.
//! [`CodeVerification::outcome`] is the one function that derives a single result from the
//! findings.

mod nested;
mod slices;

use std::borrow::Cow;
use std::thread;

pub use self::nested::NestedVerification;
use self::nested::verify_nested;
use crate::apple::AppleError;
use crate::bundle::{Resources, joined};
use crate::certificate::Certificate;
use crate::code::{Code, CodeKind, CodePart};
use crate::conditions::{Condition, ConditionSubject};
use crate::constraint::Constraint;
use crate::coverage::Coverage;
use crate::entitlements::Entitlements;
use crate::error::{Error, ErrorKind};
use crate::finding::{CodeFinding, CodeOutcome, FindingKind, Severity};
use crate::hash::CdHash;
use crate::package::Package;
use crate::pages::{BytesState, BytesVerdict, PageCheckOptions, PageChoice, SlotState};
use crate::plist::Value;
use crate::policy::{PolicyOptions, PolicyVerdict};
use crate::signature::Signature;
use crate::signer::{SignerState, SignerVerdict};
use crate::superblob::Slot;
use crate::ticket::Ticket;

/// What to verify, and how.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// Whether nested code is verified in full: its pages, its resources, and its own nested code.
    /// Otherwise only its signature and slots are.
    pub deep: bool,
    /// Whether findings of Apple's strict checking are failures.
    pub strict: bool,
    /// Whether any byte that is not sealed and not zero is a failure, also where Apple's strict
    /// checking does not look.
    pub every_byte: bool,
    /// Conditions on the code itself; nested code need not meet them.
    pub conditions: Vec<Condition>,
    /// Certificates that a signer's chain may end at, besides Apple's roots.
    pub trusted: Vec<Certificate>,
    /// Which pages. Resources and nested code are only checked with all pages.
    pub pages: PageChoice,
    /// Threads and kernels.
    pub check: PageCheckOptions,
    /// The present time, in seconds since 1970, to check expiry. `None` skips that check.
    pub now: Option<i64>,
}

/// The result of verifying code.
#[derive(Clone, Debug)]
pub struct CodeVerification {
    /// The kind of code.
    pub kind: CodeKind,
    /// Its parts, in the order of [`Code::parts`].
    pub parts: Vec<PartVerification>,
    /// The resources, if it is a bundle and they were checked.
    pub resources: Option<Resources>,
    /// Nested code, in the order of the names.
    pub nested: Vec<NestedVerification>,
    /// The ticket that is stapled to it, or why that is not valid.
    pub ticket: Option<Result<Ticket, String>>,
    /// Findings about the whole: its form, its layout, conditions.
    pub findings: Vec<CodeFinding>,
}

/// The result of verifying one part: a slice, or the whole file.
#[derive(Clone, Debug)]
pub struct PartVerification {
    /// The architecture, if it is a slice.
    pub architecture: Option<String>,
    /// The identifier in the signature.
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

impl Code<'_> {
    /// Verifies the code.
    ///
    /// # Errors
    /// `Usage` if the code does not have the pages asked for.
    pub fn verify(&self, options: &VerifyOptions) -> Result<CodeVerification, Error> {
        if let PageChoice::Offset(offset) = options.pages {
            let parts = self.parts();
            if !parts.is_empty() && !parts.iter().any(|part| part.holds(offset)) {
                let text = format!("byte {offset} is in no page of the code");
                return Err(Error::new(ErrorKind::Usage, text));
            }
        }
        let mut verification = self.verify_at(options, 0)?;
        let unmet = self.unmet_conditions(options, &verification);
        verification.findings.extend(unmet);
        Ok(verification)
    }

    /// Returns a finding for each condition that a part does not meet.
    fn unmet_conditions(
        &self,
        options: &VerifyOptions,
        verification: &CodeVerification,
    ) -> Vec<CodeFinding> {
        let info = self.info();
        let mut found = Vec::new();
        for (part, verdict) in self.parts().iter().zip(&verification.parts) {
            let subject = verdict.signer.as_ref().map(|signer| ConditionSubject {
                signature: part.signature,
                cdhashes: verdict.cdhashes().collect(),
                signer,
                info: info.as_ref(),
                ticket: verification.ticket.as_ref(),
            });
            let findings = options.conditions.iter().map(|one| one.finding(subject.as_ref()));
            found.extend(
                findings.flatten().map(|finding| {
                    finding.at(|place| place.slice.clone_from(&verdict.architecture))
                }),
            );
        }
        found
    }

    fn info(&self) -> Option<Value> {
        Value::parse(self.surroundings().info_plist?).ok()
    }

    fn verify_at(&self, options: &VerifyOptions, depth: usize) -> Result<CodeVerification, Error> {
        let mut verification = CodeVerification {
            kind: self.kind(),
            parts: Vec::new(),
            resources: None,
            nested: Vec::new(),
            ticket: self.ticket(),
            findings: self.findings().to_vec(),
        };
        verification.findings.extend(self.ticket_finding(verification.ticket.as_ref()));
        let parts = self.parts();
        if parts.is_empty() {
            let text = "a fat file without a slice";
            let error = AppleError::BadObjectFormat;
            verification.findings.push(CodeFinding::failure(FindingKind::Malformed, error, text));
        }
        if let Some(package) = self.as_package() {
            verification.parts.push(PartVerification::of_package(package, options));
            return Ok(verification);
        }
        for part in parts {
            verification.parts.push(self.verify_part(&part, options)?);
        }
        if self.kind() == CodeKind::DiskImage {
            verification.leave_out_contents(options.deep);
        }
        verification.findings.extend(slices::disagreements(&verification.parts));
        if let Some(binary) = self.as_binary() {
            verification.findings.extend(slices::mislabelled(binary));
        }
        if options.pages == PageChoice::All {
            self.check_uncovered(options, &mut verification.findings)?;
        }
        let Some(bundle) = self.as_bundle() else { return Ok(verification) };
        let whole = options.pages == PageChoice::All && (depth == 0 || options.deep);
        // Without a signature nothing is sealed, so there is no result for the resources.
        if whole && !bundle.signatures().is_empty() {
            let resources =
                bundle.check_resources((options.strict, options.deep), options.check.workers);
            let versions = bundle.other_versions()?;
            for item in resources.nested.iter().chain(&versions) {
                let nested = verify_nested(bundle, item, options, depth + 1);
                verification.nested.push(nested);
            }
            verification.resources = Some(resources);
        }
        Ok(verification)
    }

    /// Checks bytes that no digest covers, and facts that a signature holds in two forms.
    fn check_uncovered(
        &self,
        options: &VerifyOptions,
        found: &mut Vec<CodeFinding>,
    ) -> Result<(), Error> {
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
        found.extend(binary.unsealed_findings(&coverage, options.strict, options.every_byte));
        Ok(())
    }

    fn verify_part(
        &self,
        part: &CodePart<'_>,
        options: &VerifyOptions,
    ) -> Result<PartVerification, Error> {
        let (mut bytes, signer) = self.bytes_and_signer(part, options)?;
        if options.strict {
            bytes.refuse_unchecked();
        }
        let info = self.info();
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

    /// Reads the ticket that is stapled to the bundle or the package, or that its signature holds.
    /// That of the package around it counts if it lists the code.
    pub(crate) fn ticket(&self) -> Option<Result<Ticket, String>> {
        let read = |bytes: &[u8]| Ticket::read(bytes).map_err(|error| error.to_string());
        let parts = self.parts();
        let mut held = parts.iter().filter_map(|part| part.signature?.blob(Slot::TICKET));
        if let Some(blob) = held.next() {
            return Some(read(blob.payload()));
        }
        if let Some(package) = self.as_package() {
            return package.ticket().map(read);
        }
        if let Some(stapled) = self.as_bundle().and_then(|bundle| bundle.stapled()) {
            return Some(stapled.map_err(|error| error.to_string()).and_then(|bytes| read(&bytes)));
        }
        let around = self.package_ticket().filter(|ticket| self.is_listed_by(ticket))?;
        Some(Ok(around.clone()))
    }

    /// Returns whether a ticket lists every part.
    fn is_listed_by(&self, ticket: &Ticket) -> bool {
        if let Some(package) = self.as_package() {
            return package.cdhash().is_some_and(|hash| ticket.lists(&hash));
        }
        self.parts().iter().all(|part| {
            let directories = part.signature.map_or(&[][..], Signature::directories);
            directories.iter().any(|directory| ticket.lists(&directory.cdhash()))
        })
    }

    /// Returns what is wrong with the ticket. A valid one for other code is left from an earlier
    /// signature, and harms nothing.
    fn ticket_finding(&self, ticket: Option<&Result<Ticket, String>>) -> Option<CodeFinding> {
        let finding = match ticket? {
            Err(reason) => {
                let text = format!("the stapled ticket is not valid: {reason}");
                CodeFinding::unverified(FindingKind::Unsealed, None, text)
            }
            Ok(ticket) if self.is_listed_by(ticket) => return None,
            Ok(_) => {
                let text = "the stapled ticket does not list this code: it was issued for other";
                CodeFinding::warning(FindingKind::Unsealed, text)
            }
        };
        let path = self.as_bundle().map(|bundle| bundle.layout.beneath(b"CodeResources"));
        Some(finding.at(|place| place.path = path))
    }

    /// Verifies the signer in parallel with the pages, if the pages are enough work for several
    /// threads: public keys and the hash of a long directory use one thread only.
    fn bytes_and_signer(
        &self,
        part: &CodePart<'_>,
        options: &VerifyOptions,
    ) -> Result<(BytesVerdict, Option<SignerVerdict>), Error> {
        let judge = || part.signature.map(|one| SignerVerdict::prepared(one, &options.trusted));
        let workers = match options.pages {
            PageChoice::All => options.check.workers_for(part.len_bytes).get() as u64,
            _ => 1,
        };
        if workers == 1 {
            return Ok((self.check_part(part, options)?, judge()));
        }
        thread::scope(|scope| {
            let beside = thread::Builder::new().spawn_scoped(scope, judge);
            let bytes = self.check_part(part, options);
            let signer = match beside {
                Ok(beside) => beside.join().expect("judging does not panic"),
                // Without another thread, this one does it.
                Err(_) => judge(),
            };
            Ok((bytes?, signer))
        })
    }

    fn check_part(
        &self,
        part: &CodePart<'_>,
        options: &VerifyOptions,
    ) -> Result<BytesVerdict, Error> {
        let (surroundings, pages, check) = (self.surroundings(), &options.pages, &options.check);
        match (part.slice, part.sealed(self.source())) {
            (Some(slice), _) => slice.check_bytes(self.source(), &surroundings, pages, check),
            (None, Some(sealed)) => sealed.check_bytes(&surroundings, pages, check),
            // The findings of an image say why its signature cannot be read.
            (None, None) if !self.findings().is_empty() && self.kind() == CodeKind::DiskImage => {
                Ok(BytesVerdict::unreadable())
            }
            (None, None) => Ok(BytesVerdict::unsigned()),
        }
    }
}

impl PartVerification {
    /// Verifies a package, which was compared with its checksums when it was read.
    fn of_package(package: &Package, options: &VerifyOptions) -> PartVerification {
        let signer = package.signer(&options.trusted);
        let policy = signer.as_ref();
        let policy =
            policy.map(|signer| PolicyVerdict::of_package(package.algorithm, signer, options.now));
        let team = signer.as_ref().and_then(|signer| signer.team(None)).map(Cow::into_owned);
        PartVerification {
            architecture: None,
            identifier: None,
            team,
            cdhash: package.cdhash(),
            bytes: package.bytes_verdict(options.every_byte),
            signer,
            policy,
        }
    }

    /// Returns the CDHashes of its directories; of a package, what stands for it.
    fn cdhashes(&self) -> impl Iterator<Item = CdHash> {
        let directories = self.bytes.directories.iter().map(|directory| directory.cdhash);
        self.cdhash.into_iter().chain(directories)
    }
}

impl CodeVerification {
    /// Returns all findings, those of nested code too, with paths relative to the outermost root.
    pub fn all_findings(&self) -> Vec<CodeFinding> {
        let mut found = Vec::new();
        self.collect(b"", &mut found);
        found
    }

    /// Adds the finding that nothing in a disk image was looked into. Its signature vouches for all
    /// of it; without one nothing does, and most images that hold signed applications have none.
    fn leave_out_contents(&mut self, deep: bool) {
        let mut is_signed = true;
        for part in &mut self.parts {
            is_signed &= part.bytes.state != BytesState::Unsigned;
            let unsigned =
                part.bytes.findings.iter_mut().filter(|one| one.kind == FindingKind::Unsigned);
            unsigned.for_each(|finding| finding.severity = Severity::Unverified);
        }
        let text = "what is in the disk image was not looked into";
        self.findings.push(match deep || !is_signed {
            true => CodeFinding::unverified(FindingKind::NotRead, None, text),
            false => CodeFinding::note(FindingKind::NotRead, text),
        });
    }

    fn collect(&self, prefix: &[u8], found: &mut Vec<CodeFinding>) {
        let mut add = |findings: &[CodeFinding], architecture: Option<&str>| {
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

    /// Returns the outcome of all findings. Every overall result is derived from this.
    pub fn outcome(&self) -> CodeOutcome {
        CodeOutcome::of(&self.all_findings())
    }

    /// Returns the status that a command ends with.
    pub fn exit_status(&self) -> u8 {
        self.outcome().exit_status()
    }

    /// Returns the common names of those whose signature over a part was verified, each once. Empty
    /// if nobody signed the code, or that could not be verified.
    pub fn signers(&self) -> Vec<&str> {
        let mut names = Vec::new();
        let signers = self.parts.iter().filter_map(|part| part.signer.as_ref());
        for signer in signers.filter(|signer| signer.state == SignerState::Valid) {
            let name = signer.leaf().and_then(|leaf| leaf.subject().common_name());
            let name = name.unwrap_or("a certificate without a name");
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns whether the ticket that is stapled to the code lists each of its parts; `None` if
    /// there is no ticket, and whether Apple notarized the code is unknown.
    pub fn is_notarized(&self) -> Option<bool> {
        let ticket = self.ticket.as_ref()?.as_ref().ok();
        let lists = |hash: CdHash| ticket.is_some_and(|ticket| ticket.lists(&hash));
        Some(self.parts.iter().all(|part| part.cdhashes().any(lists)))
    }

    /// Returns whether the resources are as they were sealed: none is bad, and every directory
    /// binds the seal they were compared with. `None` if they were not checked.
    pub fn resources_sealed(&self) -> Option<bool> {
        let resources = self.resources.as_ref()?;
        let bound = self.parts.iter().all(|part| {
            let mut seals = part.bytes.slots.iter().filter(|check| check.slot == Slot::RESOURCES);
            seals.all(|check| check.state == SlotState::Intact)
        });
        Some(bound && CodeOutcome::of(&resources.findings) == CodeOutcome::Good)
    }
}
