//! Foreign tags on real files: found, judged, written, and never destroyed unasked.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use steadfast::appledouble::{self, MAGIC_LEN, companion, is_appledouble};
use steadfast::reference::{Computed, Reference};
use steadfast::store::foreign::{
    self, ExistingTag, FaultReason, ForeignFault, ForeignKind, ForeignTag,
};
use steadfast::store::xattr::Xattr;
use steadfast::store::{Store, is_sidecar};
use steadfast::verdict::ChangeEvidence;
use steadfast::{Action, Algorithm, Selection, Tag, Timestamp, Verb, Verdict};
use steadfast_sys::file::File;
use steadfast_sys::xattr;
use steadfast_testing::{Need, skip};

use crate::tree::{Tree, run_on};

/// The kinds that are written.
const WRITTEN: [ForeignKind; 3] = [ForeignKind::Shatag, ForeignKind::Unraid, ForeignKind::Dintch];

/// Returns the tag that a file's contents would get now.
pub(crate) fn actual(path: &Path, algorithm: Algorithm) -> Tag {
    let contents = fs::read(path).unwrap();
    let mut hasher = steadfast_digest::AlgorithmHasher::new(algorithm);
    hasher.update(&contents);
    let mtime = File::open(path).unwrap().status().unwrap().mtime;
    let tagged = Timestamp { seconds: mtime.seconds + 10, nanoseconds: 0 };
    let length = contents.len() as u64;
    Tag { algorithm, digest: hasher.finalize(), length, mtime, tagged }
}

/// Returns the only foreign tag of a file.
pub(crate) fn only(path: &Path) -> Result<ForeignTag, ForeignFault> {
    let [tag] = foreign::read(&File::open(path).unwrap()).unwrap()[..] else {
        panic!("not one foreign tag");
    };
    tag
}

/// Judges a file by its only foreign tag, as a check does if there is no tag of ours.
pub(crate) fn judge(path: &Path) -> Verdict {
    let stored = match only(path) {
        Ok(stored) => stored,
        Err(fault) if fault.is_signature() => return Verdict::Untagged,
        Err(_) => return Verdict::Unreadable,
    };
    let Tag { algorithm, digest, length, mtime, .. } = actual(path, stored.algorithm);
    let found = Computed { digests: &[(algorithm, digest)], has_parts: None, length, mtime };
    Reference::of_foreign(&stored).judge(&found, || ChangeEvidence::NotKnown).verdict
}

fn write(path: &Path, kind: ForeignKind, tag: &Tag, existing: ExistingTag) -> Result<(), String> {
    let file = File::open(path).unwrap();
    foreign::write(&file, kind, tag, existing).map_err(|trouble| trouble.to_string())
}

fn set(path: &Path, name: &str, value: &[u8]) {
    xattr::set(&File::open(path).unwrap(), name, value).unwrap();
}

fn names(path: &Path) -> Vec<String> {
    let names = xattr::list(&File::open(path).unwrap()).unwrap();
    let mut names: Vec<String> =
        names.into_iter().map(|name| name.into_string().unwrap()).collect();
    // What the system sets of its own accord.
    let system = ["security.", "system.", "com.apple."];
    names.retain(|name| !system.iter().any(|prefix| name.starts_with(prefix)));
    names.sort();
    names
}

#[test]
fn a_file_without_foreign_tags_has_none() {
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    let read = || foreign::read(&File::open(&path).unwrap()).unwrap();
    assert_eq!(read(), []);
    tree.run(Verb::tag());
    set(&path, "user.xdg.origin.url", b"somewhere");
    assert_eq!(read(), []);
    let elsewhere = Path::new("/proc/self/comm");
    if elsewhere.exists() {
        let file = File::open(elsewhere).unwrap();
        assert_eq!(foreign::read(&file).unwrap(), [], "no place for attributes, so no tags");
    }
}

#[test]
fn what_is_written_is_read_and_judged() {
    for kind in WRITTEN {
        let tree = Tree::new();
        let path = tree.write("file", "contents");
        tree.run(Verb::tag());
        let file = File::open(&path).unwrap();
        let (ours, before) = (Xattr.tag(&file).unwrap(), file.status().unwrap());
        write(&path, kind, &actual(&path, Algorithm::Sha256), ExistingTag::Keep).unwrap();
        assert_eq!(only(&path).unwrap().kind, kind);
        assert_eq!(judge(&path), Verdict::Intact, "{kind}");
        assert_eq!(Xattr.tag(&file).unwrap(), ours, "{kind} left ours alone");
        let after = file.status().unwrap();
        assert_eq!((after.mtime, after.length), (before.mtime, before.length));
        for name in names(&path) {
            let mut value = [0; 128];
            let len = xattr::get(&file, &name, &mut value).unwrap().unwrap();
            let is_text = !name.contains("steadfast") && !name.ends_with("dintch.hash");
            assert!(!is_text || value[len - 1] != 0, "{name}: only Samba ends a text in a NUL");
        }
        write(&path, kind, &actual(&path, Algorithm::Sha256), ExistingTag::Keep).unwrap();
        let again = file.status().unwrap();
        assert_eq!(again.ctime, after.ctime, "{kind}: what is there already is not set again");

        tree.corrupt("file", "c0ntents");
        assert_eq!(judge(&path), Verdict::Corrupt, "{kind}");
        tree.edit("file", "edited");
        assert_eq!(judge(&path), Verdict::Modified, "{kind}");
    }
}

#[test]
fn a_new_time_alone_is_touched_where_the_tag_has_one() {
    for (kind, verdict) in
        WRITTEN.into_iter().zip([Verdict::Touched, Verdict::Touched, Verdict::Intact])
    {
        let tree = Tree::new();
        let path = tree.write("file", "contents");
        write(&path, kind, &actual(&path, Algorithm::Sha256), ExistingTag::Keep).unwrap();
        tree.touch("file");
        assert_eq!(judge(&path), verdict, "{kind}");
        write(&path, kind, &actual(&path, Algorithm::Sha256), ExistingTag::Keep).unwrap();
        assert_eq!(judge(&path), Verdict::Intact, "{kind}: same contents, so brought up to date");
    }
}

#[test]
fn another_tag_stays_unless_it_is_to_be_replaced() {
    for kind in WRITTEN {
        let tree = Tree::new();
        let path = tree.write("file", "contents");
        write(&path, kind, &actual(&path, Algorithm::Sha256), ExistingTag::Keep).unwrap();
        let stored = only(&path);
        tree.edit("file", "edited");
        let new = actual(&path, Algorithm::Sha256);
        let reason = write(&path, kind, &new, ExistingTag::Keep).unwrap_err();
        assert!(reason.ends_with(&format!("another tag of {} is there", kind.owner())), "{reason}");
        assert_eq!(only(&path), stored);
        write(&path, kind, &new, ExistingTag::Replace).unwrap();
        assert_eq!(only(&path).unwrap().digest, new.digest);
        assert_eq!(judge(&path), Verdict::Intact);
    }
}

#[test]
fn half_a_pair_is_unreadable_and_stays_too() {
    let tree = Tree::new();
    for (name, lost, reason) in [
        ("a", "user.shatag.ts", FaultReason::NoTime),
        ("b", "user.shatag.sha256", FaultReason::NoDigest),
    ] {
        let path = tree.write(name, "contents");
        let tag = actual(&path, Algorithm::Sha256);
        write(&path, ForeignKind::Shatag, &tag, ExistingTag::Keep).unwrap();
        xattr::remove(&File::open(&path).unwrap(), lost).unwrap();
        let fault = ForeignFault { kind: ForeignKind::Shatag, reason };
        assert_eq!(only(&path), Err(fault));
        assert_eq!(judge(&path), Verdict::Unreadable);
        assert!(write(&path, ForeignKind::Shatag, &tag, ExistingTag::Keep).is_err());
        assert_eq!(only(&path), Err(fault));
        write(&path, ForeignKind::Shatag, &tag, ExistingTag::Replace).unwrap();
        assert_eq!(judge(&path), Verdict::Intact);
    }
}

#[test]
fn a_value_that_is_too_long_to_be_a_tag_is_unreadable() {
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    set(&path, "user.shatag.sha256", &[b'a'; 1500]);
    set(&path, "user.shatag.ts", b"1.0");
    assert_eq!(only(&path).unwrap_err().reason, FaultReason::TooLong);
    assert_eq!(judge(&path), Verdict::Unreadable);
}

#[test]
fn an_unraid_set_with_other_digests_is_another_tag() {
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    let md5 = actual(&path, Algorithm::Md5);
    write(&path, ForeignKind::Unraid, &md5, ExistingTag::Keep).unwrap();
    let sha256 = actual(&path, Algorithm::Sha256);
    assert!(write(&path, ForeignKind::Unraid, &sha256, ExistingTag::Keep).is_err());
    assert_eq!(only(&path).unwrap().algorithm, Algorithm::Md5);
    write(&path, ForeignKind::Unraid, &sha256, ExistingTag::Replace).unwrap();
    assert_eq!(only(&path).unwrap().algorithm, Algorithm::Sha256);
    let expected = ["user.filedate", "user.filesize", "user.scandate", "user.sha256"];
    assert_eq!(names(&path), expected);
}

#[test]
fn what_the_removal_of_an_unraid_digest_leaves_is_no_tag() {
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    for name in ["user.scandate", "user.filedate", "user.filesize"] {
        set(&path, name, b"1");
    }
    assert_eq!(foreign::read(&File::open(&path).unwrap()).unwrap(), []);
    let tag = actual(&path, Algorithm::Blake3);
    write(&path, ForeignKind::Unraid, &tag, ExistingTag::Keep).unwrap();
    assert_eq!(judge(&path), Verdict::Intact);
}

#[test]
fn what_a_kind_has_no_place_for_is_refused() {
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    for (kind, algorithm) in [
        (ForeignKind::Shatag, Algorithm::Blake3),
        (ForeignKind::Dintch, Algorithm::Md5),
        (ForeignKind::Unraid, Algorithm::Crc32c),
        (ForeignKind::Ima, Algorithm::Sha256),
    ] {
        let tag = actual(&path, algorithm);
        let reason = write(&path, kind, &tag, ExistingTag::Replace).unwrap_err();
        assert!(reason.contains(kind.owner()), "{reason}");
    }
    assert_eq!(names(&path), [""; 0]);
}

#[test]
fn a_write_that_is_refused_leaves_the_old_tag_or_nothing() {
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    let tag = actual(&path, Algorithm::Sha256);
    write(&path, ForeignKind::Dintch, &tag, ExistingTag::Keep).unwrap();
    let stored = only(&path);
    // File systems that keep attributes in one block run full; the others have room for all.
    let file = File::open(&path).unwrap();
    for (prefix, len) in [("block", 512), ("rest", 16), ("end", 1)] {
        for index in 0..32 {
            let name = format!("user.{prefix}.{index}");
            if xattr::set(&file, &name, &vec![7; len]).is_err() {
                break;
            }
        }
    }
    let before = names(&path);
    if write(&path, ForeignKind::Unraid, &tag, ExistingTag::Keep).is_err() {
        assert_eq!(names(&path), before);
        assert_eq!(only(&path), stored);
    }
    tree.edit("file", "edited");
    let new = actual(&path, Algorithm::Sha256);
    write(&path, ForeignKind::Dintch, &new, ExistingTag::Replace).unwrap();
    let tags = foreign::read(&file).unwrap();
    assert!(tags.iter().flatten().any(|tag| tag.digest == new.digest), "as long as the old one");
}

#[test]
fn tags_are_found_among_many_attributes() {
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    let file = File::open(&path).unwrap();
    write(&path, ForeignKind::Shatag, &actual(&path, Algorithm::Sha256), ExistingTag::Keep)
        .unwrap();
    for index in 0..24 {
        let name = format!("user.another.{index:0>80}");
        if xattr::set(&file, &name, b"").is_err() {
            break;
        }
    }
    assert!(names(&path).iter().map(|name| name.len() + 1).sum::<usize>() > 1024);
    assert_eq!(judge(&path), Verdict::Intact);
}

#[test]
fn a_macs_tag_that_samba_keeps_stays_one_of_sambas() {
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    let name = "user.DosStream.co.eclecticlight.dintch.hash#S:$DATA";
    let old = actual(&path, Algorithm::Sha256);
    set(&path, name, &[old.digest.as_bytes(), &[0]].concat());
    assert_eq!(judge(&path), Verdict::Intact);
    tree.edit("file", "edited");
    assert_eq!(judge(&path), Verdict::Differs, "nothing says when it was tagged");
    let new = actual(&path, Algorithm::Sha256);
    write(&path, ForeignKind::Dintch, &new, ExistingTag::Replace).unwrap();
    assert_eq!(names(&path), [name.to_owned(), name.replace("hash", "time")]);
    let mut value = [0; 64];
    let len = xattr::get(&File::open(&path).unwrap(), name, &mut value).unwrap().unwrap();
    assert_eq!(value[..len], [new.digest.as_bytes(), &[0]].concat());
    assert_eq!(judge(&path), Verdict::Intact);
}

#[test]
fn no_second_name_of_a_replaced_tag_stays() {
    let tree = Tree::new();
    let path = tree.write("file", "steadfast");
    for prefix in ["user.", "user.rsync."] {
        set(&path, &format!("{prefix}co.eclecticlight.dintch.hash#S"), &[7; 32]);
        set(&path, &format!("{prefix}co.eclecticlight.dintch.time#S"), b"not a time");
    }
    let tag = actual(&path, Algorithm::Sha256);
    write(&path, ForeignKind::Dintch, &tag, ExistingTag::Replace).unwrap();
    assert_eq!(names(&path).len(), 2, "{:?}", names(&path));
    assert_eq!(judge(&path), Verdict::Intact);
}

#[test]
fn the_kernels_digest_is_read_where_it_may_be_set() {
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    let digest = actual(&path, Algorithm::Sha256).digest;
    let value = [&[4, 4][..], digest.as_bytes()].concat();
    if let Err(error) = xattr::set(&File::open(&path).unwrap(), "security.ima", &value) {
        return skip(Need::Root, format_args!("`security.ima` cannot be set: {error}"));
    }
    assert_eq!(only(&path).unwrap().kind, ForeignKind::Ima);
    assert_eq!(judge(&path), Verdict::Intact);
    tree.corrupt("file", "c0ntents");
    assert_eq!(judge(&path), Verdict::Differs, "it has no time, so it cannot tell decay");
    set(&path, "security.ima", &[3, 2, 4, 1, 2, 3, 4, 0, 1, 9]);
    assert_eq!(judge(&path), Verdict::Untagged, "a signature is no digest");
    assert_eq!(tree.run(Verb::check()).verdict("file"), Some(Verdict::Untagged));
    assert_eq!(tree.run(Verb::tag()).action("file"), Some(Action::Tagged));
}

#[test]
fn a_sidecar_is_told_from_a_file_that_is_called_like_one() {
    let tree = Tree::new();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/formats/attributes/v1/dintch.appledouble");
    let sidecar = tree.write("._photo.jpg", fs::read(sample).unwrap());
    let other = tree.write("._notes", "a file that is merely called so, and long enough");
    for (path, is) in [(&sidecar, true), (&other, false)] {
        assert!(companion(path.file_name().unwrap()).is_some());
        assert_eq!(is_appledouble(&fs::read(path).unwrap()[..MAGIC_LEN]), is);
    }
    let error = appledouble::read(&File::open(&other).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert_eq!(error.to_string(), "the file is not AppleDouble");
    let error = foreign::read_sidecar(&File::open(&other).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);

    let photo = tree.write("photo.jpg", "steadfast");
    for name in ["._notes", "photo.jpg", "absent/._photo.jpg", "._photo.jpg"] {
        let is = is_sidecar(tree.path(), Path::new(name));
        assert_eq!(is, name == "._photo.jpg", "{name}");
    }
    let tags = foreign::read_sidecar(&File::open(&sidecar).unwrap()).unwrap();
    let [Ok(stored)] = tags[..] else { panic!("{tags:?}") };
    assert_eq!(stored.kind, ForeignKind::Dintch);
    let checked = run_on(Verb::check(), &Selection::of([photo]), &crate::tree::usual());
    assert_eq!(checked.verdict("photo.jpg"), Some(Verdict::Intact));
}
