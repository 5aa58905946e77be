//! What other tools recorded, read, checked, taken over and written.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};

use crate::tree::{Outcome, Tree};

fn set(tree: &Tree, name: &str, attribute: &str, value: &[u8]) {
    let file = steadfast_sys::file::File::open(&tree.path(name)).unwrap();
    steadfast_sys::xattr::set(&file, attribute, value).unwrap();
}

fn get(tree: &Tree, name: &str, attribute: &str) -> Option<Vec<u8>> {
    let file = steadfast_sys::file::File::open(&tree.path(name)).unwrap();
    let mut value = [0; 256];
    let len = steadfast_sys::xattr::get(&file, attribute, &mut value).unwrap()?;
    Some(value[..len].to_vec())
}

fn sha256(contents: &[u8]) -> String {
    steadfast::run::digest_of(&mut &contents[..], steadfast::Algorithm::Sha256).unwrap().to_string()
}

/// What cshatag sets, with its time in nanoseconds.
fn shatag(tree: &Tree, name: &str, contents: &[u8]) {
    let status = fs::metadata(tree.path(name)).unwrap();
    let time = format!("{}.{:09}", status.mtime(), status.mtime_nsec());
    set(tree, name, "user.shatag.sha256", sha256(contents).as_bytes());
    set(tree, name, "user.shatag.ts", time.as_bytes());
}

#[test]
fn a_tag_on_a_coarser_clock_is_exported() {
    let tree = Tree::tagged();
    let path = tree.path("a");
    let file = fs::File::options().write(true).open(&path).unwrap();
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let since = modified.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let whole = std::time::Duration::from_secs(since.as_secs());
    file.set_modified(std::time::SystemTime::UNIX_EPOCH + whole).unwrap();
    let list = tree.run(["export", "--format", "gnu", "."]).succeeds();
    assert!(list.stdout().contains("  a\n"), "{}", list.stdout());
}

#[test]
fn a_record_that_cannot_be_read_keeps_its_file_from_being_tagged() {
    for verb in ["tag", "update"] {
        let tree = Tree::small();
        shatag(&tree, "a", b"alpha");
        set(&tree, "a", "user.shatag.sha256", b"8ed3f6ad");
        tree.corrupt("a");
        for arguments in [&[verb, "--json", "--dry-run", "."][..], &[verb, "--json", "."]] {
            let told = tree.run(arguments).ends(2);
            assert_eq!(told.verdict("a").as_deref(), Some("unreadable"), "{}", told.stdout());
            assert!(told.stdout().contains("not tagged until that record is removed"));
        }
        assert_eq!(get(&tree, "a", steadfast_sys::xattr::TAG), None);
        assert!(get(&tree, "b", steadfast_sys::xattr::TAG).is_some());
        let file = steadfast_sys::file::File::open(&tree.path("a")).unwrap();
        for attribute in ["user.shatag.sha256", "user.shatag.ts"] {
            steadfast_sys::xattr::remove(&file, attribute).unwrap();
        }
        tree.run([verb, "."]).succeeds();
        assert!(get(&tree, "a", steadfast_sys::xattr::TAG).is_some());
    }
}

#[test]
fn a_file_is_checked_by_another_tools_tag_and_it_is_said_whose() {
    let tree = Tree::small();
    shatag(&tree, "a", b"alpha");
    shatag(&tree, "b", b"beta");
    tree.corrupt("b");
    let checked = tree.run(["check", "--json"]).ends(3);
    assert_eq!(checked.verdict("a").as_deref(), Some("intact"), "{}", checked.stdout());
    assert_eq!(checked.verdict("b").as_deref(), Some("corrupt"));
    assert_eq!(checked.verdict("sub/c").as_deref(), Some("untagged"));
    let objects = checked.objects();
    let a = objects.iter().find(|object| object["path"] == "a").unwrap();
    assert_eq!(a["reference"]["source"], "shatag");
    assert_eq!(a["reference"]["digests"]["sha256"], sha256(b"alpha"));
    let text = tree.run(["check"]).ends(3);
    assert!(text.stdout().contains("by shatag"), "{}", text.stdout());
}

#[test]
fn half_a_pair_is_an_unreadable_tag_and_no_corruption() {
    let tree = Tree::small();
    set(&tree, "a", "user.shatag.sha256", sha256(b"other").as_bytes());
    let checked = tree.run(["check", "--json", "a"]).ends(2);
    assert_eq!(checked.verdict("a").as_deref(), Some("unreadable"), "{}", checked.stdout());
}

#[test]
fn attributes_of_others_become_tags_without_reading_where_their_time_fits() {
    let tree = Tree::small();
    shatag(&tree, "a", b"alpha");
    set(&tree, "b", "user.co.eclecticlight.dintch.hash", sha256(b"beta").as_bytes());
    let imported = tree.run(["import", "--attributes", "--json", "."]).succeeds();
    let summary = imported.summary();
    assert_eq!(summary["actions"]["tagged"], 2, "{}", imported.stdout());
    assert_eq!(summary["bytes"], 4, "only what recorded no time is read");
    let checked = tree.run(["check", "--json"]).succeeds();
    assert_eq!(checked.summary()["verdicts"]["intact"], 2);
    let shown = tree.run(["show", "--json", "a"]).succeeds();
    assert_eq!(shown.objects()[0]["stored"]["digest"], sha256(b"alpha"));
}

#[test]
fn a_record_that_does_not_fit_makes_no_tag() {
    let tree = Tree::small();
    set(&tree, "a", "user.co.eclecticlight.dintch.hash", sha256(b"another").as_bytes());
    let imported = tree.run(["import", "--attributes", "--json", "."]).ends(1);
    assert_eq!(imported.verdict("a").as_deref(), Some("differs"), "{}", imported.stdout());
    assert_eq!(get(&tree, "a", steadfast_sys::xattr::TAG), None);
}

#[test]
fn tags_are_written_as_others_have_them() {
    let tree = Tree::tagged();
    let exported = tree.run(["export", "--attributes", "shatag", "--json"]).succeeds();
    assert_eq!(exported.summary()["actions"]["exported"], 3, "{}", exported.stdout());
    let value = get(&tree, "a", "user.shatag.sha256").unwrap();
    assert_eq!(value, sha256(b"alpha").as_bytes());
}

/// Every format that is written, and the algorithm that it needs.
pub(crate) const FORMATS: [(&str, Option<&str>); 13] = [
    ("steadfast", None),
    ("gnu", None),
    ("gnu-zero", None),
    ("bsd", None),
    ("openssl", None),
    ("hashdeep", None),
    ("bagit", None),
    ("chkbit", Some("blake3")),
    ("chkbit-db", Some("blake3")),
    ("bitrot", Some("sha1")),
    ("sfv", Some("crc32")),
    ("ni", None),
    ("mtree", None),
];

#[test]
fn every_format_is_written_checked_and_taken_over() {
    for (format, algorithm) in FORMATS {
        let names = if format == "chkbit" { ["a", "b", "c"] } else { ["a", "b", "sub/c"] };
        let mut tree = Tree::new();
        for name in names {
            tree = tree.file(name, name.as_bytes());
        }
        tree.run(["tag", "."]).succeeds();
        let mut arguments = vec!["export", "--format", format];
        if let Some(algorithm) = algorithm {
            arguments.extend(["--read", "--algorithm", algorithm]);
        }
        let exported = tree.run(arguments).succeeds();
        let outside = Tree::new();
        let document = outside.path("document");
        fs::write(&document, &exported.stdout).unwrap();
        let document = document.to_str().unwrap();

        let check = ["check", "--json", "--manifest", document, "--format", format, "."];
        let checked = tree.run(check).succeeds();
        let summary = checked.summary();
        assert_eq!(summary["verdicts"]["intact"], 3, "{format}: {}", checked.stdout());

        tree.run(["untag", "."]).succeeds();
        let import = ["import", "--json", "--format", format, document, "."];
        let imported = tree.run(import).succeeds();
        assert_eq!(imported.summary()["actions"]["tagged"], 3, "{format}: {}", imported.stdout());
        tree.run(["check", "--require-tags"]).succeeds();

        tree.corrupt("a");
        fs::remove_file(tree.path("b")).unwrap();
        let damaged = tree.run(check);
        let verdict = damaged.verdict("./a").or(damaged.verdict("a"));
        let wrong = ["corrupt", "differs"].map(str::to_owned);
        assert!(verdict.is_some_and(|it| wrong.contains(&it)), "{format}: {}", damaged.stdout());
        assert_eq!(damaged.summary()["verdicts"]["missing"], 1, "{format}");
        assert!([1, 3].contains(&damaged.status), "{format}");
    }
}

#[test]
fn what_sha256sum_writes_is_known_by_itself_and_faults_have_their_place() {
    let tree = Tree::small();
    let lines = format!("{}  a\nnonsense\n{}  ../b\n", sha256(b"alpha"), sha256(b"beta"));
    fs::write(tree.path("SHA256SUMS"), lines).unwrap();
    let checked = tree.run(["check", "--json", "--manifest", "SHA256SUMS"]).ends(2);
    let text = checked.stdout();
    assert!(text.contains("line 2"), "{text}");
    assert!(text.contains("leads out of its folder"), "{text}");
    assert_eq!(checked.summary()["verdicts"]["intact"], 1, "{text}");
}

#[test]
fn no_link_leads_a_list_out_of_its_root() {
    let tree = Tree::small();
    let outside = Tree::new().file("secret", b"beta");
    std::os::unix::fs::symlink(outside.path("."), tree.path("out")).unwrap();
    fs::write(tree.path("list"), format!("{}  out/secret\n", sha256(b"beta"))).unwrap();
    let checked = tree.run(["check", "--json", "--manifest", "list", "--format", "gnu"]).ends(2);
    assert_eq!(checked.summary()["verdicts"]["unreadable"], 1, "{}", checked.stdout());
}

#[test]
fn files_without_a_tag_of_their_present_contents_are_left_out_and_told() {
    let tree = Tree::tagged().file("new", b"new");
    tree.edit("a");
    let exported = tree.run(["export", "--format", "gnu"]).ends(2);
    assert!(!exported.stdout().contains("  a\n"), "{}", exported.stdout());
    assert!(exported.stdout().contains("  sub/c\n"));
    assert!(exported.stderr().contains("`a` is left out"), "{}", exported.stderr());
    assert!(exported.stderr().contains("`new` is left out"), "{}", exported.stderr());
    let read = tree.run(["export", "--format", "gnu", "--read"]).succeeds();
    assert_eq!(read.stdout().lines().count(), 4);
}

#[test]
fn coreutils_agree_with_what_is_exported() {
    let tree = Tree::tagged().file("new\nline", b"n").file("back\\slash", b"b").file("a b", b"ab");
    tree.run(["tag", "."]).succeeds();
    let exported = tree.run(["export", "--format", "gnu"]).succeeds();
    let outside = Tree::new();
    fs::write(outside.path("list"), &exported.stdout).unwrap();
    let mut command = Command::new("sha256sum");
    command.arg("--check").arg("--strict").arg(outside.path("list")).current_dir(tree.path("."));
    Outcome::of(command.stdin(Stdio::null())).succeeds();
}

#[test]
fn appledouble_files_are_no_data() {
    let mut sidecar = vec![0, 5, 0x16, 7, 0, 2, 0, 0];
    sidecar.extend(b"Mac OS X        ");
    sidecar.extend([0, 1, 0, 0, 0, 9, 0, 0, 0, 38, 0, 0, 0, 32]);
    sidecar.extend([0; 32]);
    let tree = Tree::new().file("a", b"alpha").file("._a", &sidecar).file("._b", b"only so called");
    let tagged = tree.run(["tag", "--json", "."]).succeeds();
    assert_eq!(tagged.summary()["actions"]["tagged"], 2, "{}", tagged.stdout());
    assert_eq!(tagged.summary()["skipped"]["sidecars"], 1, "{}", tagged.stdout());
    let hashed = tree.run(["hash", "."]).succeeds();
    assert_eq!(hashed.stdout().lines().count(), 3, "hash reads what is there");
}

#[test]
fn a_tree_is_compared_with_a_list_of_what_it_should_hold() {
    for reading in [&[][..], &["--read"]] {
        let tree = Tree::tagged();
        let exported = tree.run(["export", "--format", "steadfast"]).succeeds();
        fs::write(tree.path("list"), &exported.stdout).unwrap();
        let diff = |tree: &Tree| tree.run([&["diff", "--json", ".", "list"], reading].concat());
        diff(&tree).succeeds();
        tree.edit("a");
        tree.run(["update", "a"]).succeeds();
        fs::rename(tree.path("b"), tree.path("sub/b2")).unwrap();
        fs::remove_file(tree.path("sub/c")).unwrap();
        fs::write(tree.path("new"), b"new").unwrap();
        let differs = diff(&tree).ends(1);
        let objects = differs.objects();
        let difference = |path: &str| {
            let found = objects.iter().find(|object| object["path"] == path);
            found.map(|object| object["difference"].as_str().unwrap().to_owned())
        };
        assert_eq!(difference("a").as_deref(), Some("different"), "{}", differs.stdout());
        assert_eq!(difference("sub/b2").as_deref(), Some("moved"), "{}", differs.stdout());
        assert_eq!(difference("sub/c").as_deref(), Some("only_there"));
        assert_eq!(difference("new").as_deref(), Some("only_here"));
        assert_eq!(difference("list").as_deref(), Some("same"), "the list names not itself");
    }
}

#[test]
fn decay_never_becomes_a_reference() {
    let tree = Tree::tagged();
    tree.corrupt("b");
    let exported = tree.run(["export", "--format", "gnu", "--read", "--algorithm", "md5"]).ends(3);
    assert_eq!(exported.stdout().lines().count(), 2, "{}", exported.stdout());
    assert!(exported.stderr().contains("`b` is left out: it is corrupt"), "{}", exported.stderr());
}

#[test]
fn a_record_without_a_digest_that_is_known_proves_nothing() {
    let tree = Tree::new().file("a", b"alpha");
    fs::write(tree.path("list"), "#mtree\na type=file size=5\n").unwrap();
    let arguments = ["check", "--json", "--manifest", "list", "--format", "mtree"];
    let unknown = tree.run(arguments).ends(2);
    assert_eq!(unknown.verdict("./a").or(unknown.verdict("a")).as_deref(), Some("unreadable"));
    fs::write(tree.path("list"), "#mtree\na type=file size=999\n").unwrap();
    let differs = tree.run(arguments).ends(1);
    assert_eq!(differs.summary()["verdicts"]["differs"], 1, "{}", differs.stdout());
}

#[test]
fn the_strongest_digest_of_a_record_is_compared() {
    let tree = Tree::new().file("a", b"alpha");
    let md5 = steadfast::run::digest_of(&mut &b"alpha"[..], steadfast::Algorithm::Md5).unwrap();
    let sha1 = steadfast::run::digest_of(&mut &b"alpha"[..], steadfast::Algorithm::Sha1).unwrap();
    let wrong = sha256(b"another");
    let list = format!(
        "%%%% HASHDEEP-1.0\n%%%% size,md5,sha1,sha256,filename\n##\n5,{md5},{sha1},{wrong},a\n"
    );
    fs::write(tree.path("list"), list).unwrap();
    let checked = tree.run(["check", "--json", "--manifest", "list"]).ends(1);
    assert_eq!(checked.summary()["verdicts"]["differs"], 1, "{}", checked.stdout());
}

#[test]
fn a_list_does_not_cover_up_what_the_catalogue_knows() {
    let tree = Tree::small();
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag", "."]).succeeds();
    tree.corrupt("a");
    let file = steadfast_sys::file::File::open(&tree.path("a")).unwrap();
    steadfast_sys::xattr::remove(&file, steadfast_sys::xattr::TAG).unwrap();
    let contents = fs::read(tree.path("a")).unwrap();
    let outside = Tree::new();
    let list = outside.path("list");
    fs::write(&list, format!("{}  a\n", sha256(&contents))).unwrap();
    tree.run(["import", "--format", "gnu", list.to_str().unwrap(), "."]).ends(1);
    tree.run(["check"]).ends(3);
}

#[test]
fn contradictions_and_what_is_left_out_unasked_are_told() {
    let tree = Tree::new().file("a", b"alpha");
    let lines = format!("{}  a\n{}  a\n", sha256(b"alpha"), sha256(b"bad"));
    fs::write(tree.path("list"), lines).unwrap();
    tree.run(["import", "--trust", "--format", "gnu", "list"]).ends(2);
    tree.run(["import", "--exclude", "*", "--format", "gnu", "list"]).ends(2);
    let one = tree.run(["export", "--format", "gnu", "a"]).succeeds();
    assert_eq!(one.stdout(), format!("{}  a\n", sha256(b"alpha")));
    tree.edit("a");
    tree.run(["export", "--attributes", "dintch", "a"]).ends(2);
}
