//! Checks everything that special slots bind, for every directory.

use super::{BytesVerdict, Sealed, SlotCheck, SlotState, Surroundings};
use crate::apple::AppleError;
use crate::directory::CodeDirectory;
use crate::fields::IntegerReader;
use crate::finding::{CodeFinding, FindingKind};
use crate::superblob::Slot;
use steadfast_sys::source::read_range;

/// The longest section that is read as a property list.
const INFO_PLIST_LEN_MAX: u64 = 16 << 20;

/// The contents that a slot binds.
enum SlotContents<'a> {
    /// The bytes that the digest covers.
    Bytes(std::borrow::Cow<'a, [u8]>),
    /// They do not exist.
    Absent,
    /// They may exist, and the check was not given them.
    Elsewhere,
    /// They exist, and cannot be read.
    Unreadable,
}

/// Checks every slot of every directory.
pub(super) fn check(
    sealed: &Sealed<'_>,
    surroundings: &Surroundings<'_>,
    verdict: &mut BytesVerdict,
) {
    for number in 1..=Slot::CONSTRAINT_LIBRARY.0 {
        let slot = Slot(number);
        let directories = sealed.signature.directories();
        let bound = directories.iter().any(|directory| directory.special_digest(slot).is_some());
        let thing = thing(sealed, surroundings, slot, bound);
        for directory in directories {
            let Some(state) = state(directory, slot, &thing) else { continue };
            let check = SlotCheck { directory: directory.slot(), slot, state };
            verdict.slots.push(check);
            verdict.findings.extend(finding(check, surroundings));
        }
        if let (Slot::TOP_DIRECTORY, SlotContents::Bytes(list)) = (slot, &thing) {
            verdict.findings.extend(check_top_directory(sealed, list));
        }
    }
    for directory in sealed.signature.directories() {
        let beyond = directory.special_digests().filter(|(slot, _)| !slot.is_special());
        verdict.findings.extend(beyond.map(|(slot, _)| {
            let text = format!("slot {slot} is bound, but its purpose is unknown");
            let finding = CodeFinding::unverified(FindingKind::Unsupported, None, text);
            finding.at(|place| {
                place.directory = Some(directory.slot());
                place.slot = Some(slot);
            })
        }));
    }
}

/// Finds the contents that a slot binds.
fn thing<'a>(
    sealed: &Sealed<'a>,
    surroundings: &Surroundings<'a>,
    slot: Slot,
    bound: bool,
) -> SlotContents<'a> {
    let given = |bytes: Option<&'a [u8]>| match bytes {
        Some(bytes) => SlotContents::Bytes(bytes.into()),
        None if surroundings.in_bundle => SlotContents::Absent,
        None => SlotContents::Elsewhere,
    };
    match slot {
        Slot::INFO_PLIST if surroundings.in_bundle => given(surroundings.info_plist),
        // Read only if it is bound: the pages seal it in any case.
        Slot::INFO_PLIST if bound => match section(sealed) {
            Some(Ok(bytes)) => SlotContents::Bytes(bytes.into()),
            Some(Err(())) => SlotContents::Unreadable,
            None => given(surroundings.info_plist),
        },
        Slot::INFO_PLIST => SlotContents::Absent,
        Slot::RESOURCES => given(surroundings.resources),
        Slot::CONTAINER if surroundings.container.is_some() => given(surroundings.container),
        _ => match sealed.signature.blob(slot) {
            Some(blob) if slot == Slot::TOP_DIRECTORY || slot == Slot::CONTAINER => {
                SlotContents::Bytes(blob.payload().into())
            }
            Some(blob) => SlotContents::Bytes(blob.bytes.into()),
            None => SlotContents::Absent,
        },
    }
}

/// Reads the property list that a bare executable carries; `None` if it carries none.
fn section(sealed: &Sealed<'_>) -> Option<Result<Vec<u8>, ()>> {
    let range = sealed.macho?.section("__TEXT", "__info_plist")?.range.clone();
    let len_bytes = range.end - range.start;
    let fits = len_bytes <= INFO_PLIST_LEN_MAX && range.end <= sealed.len_bytes;
    if !fits {
        return Some(Err(()));
    }
    Some(read_range(sealed.source, sealed.offset + range.start, len_bytes).map_err(drop))
}

/// Compares a slot with its contents; `None` if neither exists.
fn state(directory: &CodeDirectory, slot: Slot, thing: &SlotContents<'_>) -> Option<SlotState> {
    Some(match (directory.special_digest(slot), thing) {
        (None, SlotContents::Bytes(_)) => SlotState::Unbound,
        (None, _) => return None,
        (Some(_), SlotContents::Absent) => SlotState::Missing,
        (Some(_), SlotContents::Elsewhere) => SlotState::Unchecked,
        (Some(_), SlotContents::Unreadable) => SlotState::Unreadable,
        (Some(stored), SlotContents::Bytes(bytes)) => {
            let digest = directory.hash_type().digest(bytes);
            if digest.as_bytes() == stored { SlotState::Intact } else { SlotState::Damaged }
        }
    })
}

/// Makes the finding about a slot, if something is wrong.
fn finding(check: SlotCheck, surroundings: &Surroundings<'_>) -> Option<CodeFinding> {
    let name = check.slot.name().unwrap_or("what the slot binds");
    let error = match check.slot {
        Slot::INFO_PLIST => AppleError::InfoPlistFailed,
        Slot::RESOURCES => AppleError::ResourceDirectoryFailed,
        _ => AppleError::SignatureFailed,
    };
    let finding = match check.state {
        SlotState::Intact => return None,
        SlotState::Damaged => {
            let text = format!("{name} is not what was sealed");
            CodeFinding::failure(FindingKind::SlotDamaged, error, text)
        }
        SlotState::Missing => {
            let text = format!("{name} is missing");
            CodeFinding::failure(FindingKind::SlotMissing, error, text)
        }
        SlotState::Unbound => {
            let text = format!("{name} is there, and this code directory does not seal it");
            CodeFinding::unverified(FindingKind::SlotUnbound, None, text)
        }
        SlotState::Unchecked => {
            debug_assert!(!surroundings.in_bundle, "in a bundle it is there or missing");
            let text = format!("{name} is sealed, but was not checked: it belongs to a bundle");
            CodeFinding::warning(FindingKind::SlotUnchecked, text).apple(error)
        }
        SlotState::Unreadable => {
            let text = format!("{name} cannot be read");
            CodeFinding::unverified(FindingKind::Unreadable, error, text)
        }
    };
    Some(finding.at(|place| {
        place.directory = Some(check.directory);
        place.slot = Some(check.slot);
    }))
}

/// Compares the list of required slots with the slots of the signature.
fn check_top_directory(sealed: &Sealed<'_>, list: &[u8]) -> Option<CodeFinding> {
    let listed: Vec<u32> =
        (0..list.len() / 4).filter_map(|index| IntegerReader::big(list).u32(4 * index)).collect();
    let mut there: Vec<u32> =
        sealed.signature.superblob.entries().iter().map(|entry| entry.slot.0).collect();
    there.sort_unstable();
    // Slots 1 and 3 are outside of the signature, and the CMS slot is listed even if empty.
    let comparable = |slot: &u32| {
        ![Slot::INFO_PLIST, Slot::RESOURCES, Slot::CONTAINER, Slot::CMS].contains(&Slot(*slot))
    };
    let equal = listed
        .iter()
        .filter(|slot| comparable(slot))
        .eq(there.iter().filter(|slot| comparable(slot)));
    let text = "the signature does not have the slots that it lists";
    let finding = CodeFinding::failure(FindingKind::Malformed, AppleError::SignatureFailed, text);
    (!equal).then(|| finding.at(|place| place.slot = Some(Slot::TOP_DIRECTORY)))
}
