//! Our own tags under all their names: this system's, another system's, and in the AppleDouble file
//! beside a file.
//!
//! [`steadfast_manifest::own`] decides which names are ours, [`resolve`] which of several tags is
//! used. `docs/formats/tag.md` specifies both.

use std::io;
use std::path::Path;

use steadfast_sys::file::{File, Status, Timestamp};
use steadfast_sys::xattr;

use steadfast_manifest::own::{TagAttribute, TagSlot, decode};

use super::{StoredTag, carrier};
use crate::appledouble;
use crate::verdict::same_mtime;
use steadfast_manifest::tag::{Tag, TagError};

/// The longest attribute that any system keeps in one piece, in bytes.
const ATTRIBUTE_LEN_MAX: usize = 64 << 10;

/// Longer values in an AppleDouble file are not tags, in bytes.
const SIDECAR_VALUE_LEN_MAX: usize = 1024;

/// Decides which of a file's tags is used. All must be whole and of the same contents. Of those, it
/// is the one with the file's present modification time; of several such, the latest.
pub(super) fn resolve(held: &[TagAttribute], mtime: Timestamp) -> Result<Option<Tag>, TagError> {
    let mut best: Option<Tag> = None;
    for tag in held.iter().map(|held| decode(&held.value)) {
        let tag = tag?;
        let rank = |tag: &Tag| (same_mtime(tag.mtime, mtime), tag.tagged.seconds);
        match &best {
            Some(other) if !other.same_contents(&tag) => return Err(TagError::Ambiguous),
            Some(other) if rank(other) >= rank(&tag) => {}
            _ => best = Some(tag),
        }
    }
    Ok(best)
}

/// Decides which of a file's previous tags is shown: the latest whole one.
fn resolve_previous(held: &[TagAttribute]) -> StoredTag {
    let tags = || held.iter().map(|held| decode(&held.value));
    match (tags().flatten().max_by_key(|tag| tag.tagged.seconds), tags().find_map(Result::err)) {
        (Some(tag), _) => StoredTag::Whole(tag),
        (None, Some(error)) => StoredTag::Damaged(error),
        (None, None) => StoredTag::Absent,
    }
}

/// Returns every attribute of ours in a slot, by name, including attributes that are not valid
/// tags.
///
/// # Errors
/// If the system refuses to list or read them.
pub(super) fn held_on(file: &File, slot: TagSlot) -> io::Result<Vec<TagAttribute>> {
    let of_slot = |name: &str| (TagSlot::of(name)? == slot).then_some(());
    let mut held = Vec::new();
    for (name, ()) in carrier::select(file, of_slot)? {
        let mut value = vec![0; ATTRIBUTE_LEN_MAX];
        // Another process may have removed it between the two calls.
        let Some(len) = xattr::get(file, &name, &mut value)? else { continue };
        value.truncate(len);
        held.push(TagAttribute { name, value });
    }
    held.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(held)
}

/// Returns the tag of a file from its attributes.
///
/// # Errors
/// If the system refuses to list or read them.
pub(super) fn tag_on(file: &File) -> io::Result<StoredTag> {
    let held = held_on(file, TagSlot::Tag)?;
    if held.is_empty() {
        return Ok(StoredTag::Absent);
    }
    Ok(stored(resolve(&held, file.status()?.mtime)))
}

/// Returns the previous tag of a file from its attributes.
///
/// # Errors
/// If the system refuses to list or read them.
pub(super) fn previous_on(file: &File) -> io::Result<StoredTag> {
    Ok(resolve_previous(&held_on(file, TagSlot::Previous)?))
}

/// Our tags in the AppleDouble file beside a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SidecarTags {
    pub(crate) tag: StoredTag,
    pub(crate) previous: StoredTag,
}

impl SidecarTags {
    const NOTHING: SidecarTags =
        SidecarTags { tag: StoredTag::Absent, previous: StoredTag::Absent };

    /// Reads our tags for the file at `path` from `._name`, if that exists.
    ///
    /// # Errors
    /// `InvalidData` if it is a damaged AppleDouble file; otherwise if it cannot be read.
    pub(crate) fn of(path: &Path) -> io::Result<SidecarTags> {
        let Some((file, double)) = appledouble::open_beside(path)? else {
            return Ok(SidecarTags::NOTHING);
        };
        let (mut tags, mut previous) = (Vec::new(), Vec::new());
        for attribute in double.attributes() {
            let Ok(name) = str::from_utf8(&attribute.name) else { continue };
            let slot = match TagSlot::of(name) {
                Some(TagSlot::Tag) => &mut tags,
                Some(TagSlot::Previous) => &mut previous,
                None => continue,
            };
            let value = appledouble::read_span(&file, attribute.value, SIDECAR_VALUE_LEN_MAX)?;
            // A value too long for a tag is taken as empty, which is not a valid tag either.
            slot.push(TagAttribute { name: name.to_owned(), value: value.unwrap_or_default() });
        }
        if tags.is_empty() {
            return Ok(SidecarTags::NOTHING);
        }
        let mtime = Status::of(path)?.mtime;
        let tag = stored(resolve(&tags, mtime));
        Ok(SidecarTags { tag, previous: resolve_previous(&previous) })
    }
}

fn stored(resolved: Result<Option<Tag>, TagError>) -> StoredTag {
    match resolved {
        Ok(Some(tag)) => StoredTag::Whole(tag),
        Ok(None) => StoredTag::Absent,
        Err(error) => StoredTag::Damaged(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_digest::{Algorithm, Digest};
    use steadfast_manifest::own::previous_name;

    fn tag(content: u8, mtime_s: i64, tagged_s: i64) -> Tag {
        Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[content; 32]).unwrap(),
            length: 5,
            mtime: at(mtime_s),
            tagged: at(tagged_s),
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp { seconds, nanoseconds: 0 }
    }

    fn held(name: &str, value: &[u8]) -> TagAttribute {
        TagAttribute { name: name.to_owned(), value: value.to_vec() }
    }

    fn whole(tag: &Tag) -> TagAttribute {
        held("user.steadfast", tag.encode().as_bytes())
    }

    #[test]
    fn own_names_are_recognised_and_paired() {
        assert_eq!(TagSlot::of(xattr::TAG), Some(TagSlot::Tag));
        assert_eq!(TagSlot::of(xattr::TAG_PREVIOUS), Some(TagSlot::Previous));
        assert_eq!(previous_name(xattr::TAG), xattr::TAG_PREVIOUS);
    }

    #[test]
    fn of_tags_that_agree_the_one_of_the_present_time_holds() {
        let (old, new) = (tag(1, 10, 100), tag(1, 20, 90));
        for pair in [[whole(&old), whole(&new)], [whole(&new), whole(&old)]] {
            assert_eq!(resolve(&pair, at(20)), Ok(Some(new)));
            assert_eq!(resolve(&pair, at(10)), Ok(Some(old)));
            assert_eq!(resolve(&pair, at(30)), Ok(Some(old)), "the one that was made last");
        }
        assert_eq!(resolve(&[], at(0)), Ok(None));
    }

    #[test]
    fn no_tag_is_preferred_to_one_that_disagrees_or_is_damaged() {
        let (one, other) = (whole(&tag(1, 10, 100)), whole(&tag(2, 20, 200)));
        let damaged = held("user.org.steadfast.tag", b"not a tag");
        for mtime in [10, 20, 30] {
            let both = [one.clone(), other.clone()];
            assert_eq!(resolve(&both, at(mtime)), Err(TagError::Ambiguous));
            for pair in [[one.clone(), damaged.clone()], [damaged.clone(), one.clone()]] {
                assert!(resolve(&pair, at(mtime)).is_err());
            }
        }
    }

    #[test]
    fn any_whole_previous_tag_is_shown() {
        let (old, new) = (tag(1, 10, 100), tag(2, 20, 200));
        let damaged = held("user.steadfast.previous", b"");
        let all = [whole(&old), damaged.clone(), whole(&new)];
        assert_eq!(resolve_previous(&all), StoredTag::Whole(new));
        assert_eq!(resolve_previous(&[damaged]), StoredTag::Damaged(TagError::Empty));
        assert_eq!(resolve_previous(&[]), StoredTag::Absent);
    }
}
