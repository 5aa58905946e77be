//! Which tools and ways of saving keep a tag, as `docs/reference/probe.md` says. A row whose tool
//! is not installed is recorded as skipped.

use std::fs;
use std::process::Command;

use crate::tree::Tree;

/// What a check says afterwards.
const INTACT: &str = "intact";
const TOUCHED: &str = "touched";
const MODIFIED: &str = "modified";
const UNTAGGED: &str = "untagged";

/// A tool, what is typed in a folder with the tagged file `source`, the file to look at then, and
/// the verdict.
type Row = (&'static str, &'static str, &'static str, &'static str);

const EVERYWHERE: [Row; 15] = [
    ("cp", "cp source result", "result", UNTAGGED),
    ("cp", "cp -p source result", "result", UNTAGGED),
    ("cp", "cp -a source result", "result", INTACT),
    ("mv", "mv source result", "result", INTACT),
    ("rsync", "rsync -a source result", "result", UNTAGGED),
    ("rsync", "rsync -aX source result", "result", INTACT),
    ("tar", "tar -cf a.tar source; tar -xf a.tar -C out", "out/source", UNTAGGED),
    ("zip", "zip -q a.zip source; unzip -q a.zip -d out", "out/source", UNTAGGED),
    (
        "cpio",
        "ls source | cpio -o -H newc > a.cpio; cd out; cpio -i -m < ../a.cpio",
        "out/source",
        UNTAGGED,
    ),
    ("7z", "7z a a.7z source; 7z x -oout a.7z", "out/source", UNTAGGED),
    ("sh", "printf other | dd of=source conv=notrunc", "source", MODIFIED),
    ("sh", "printf other > source", "source", MODIFIED),
    ("sh", "printf other > beside; mv beside source", "source", UNTAGGED),
    ("perl", "perl -i -pe s/s/S/ source", "source", UNTAGGED),
    ("vim", "vim -u NONE -i NONE -n -es -c s/s/S/ -c wq source", "source", MODIFIED),
];

#[cfg(target_os = "linux")]
const HERE: [Row; 4] = [
    ("cp", "cp --reflink=auto source result", "result", UNTAGGED),
    ("cp", "cp --preserve=xattr source result", "result", TOUCHED),
    ("tar", "tar --xattrs -cf a.tar source; tar --xattrs -xf a.tar -C out", "out/source", INTACT),
    ("sed", "sed -i s/s/S/ source", "source", UNTAGGED),
];

#[cfg(target_os = "macos")]
const HERE: [Row; 4] = [
    ("cp", "cp -c source result", "result", INTACT),
    ("ditto", "ditto source result", "result", INTACT),
    (
        "ditto",
        "ditto -c -k --sequesterRsrc source a.zip; ditto -x -k a.zip out",
        "out/source",
        INTACT,
    ),
    ("rsync", "/usr/bin/rsync -aE source result", "result", INTACT),
];

#[test]
fn tools_and_ways_of_saving_keep_tags_as_the_page_says() {
    for (tool, typed, result, verdict) in EVERYWHERE.into_iter().chain(HERE) {
        if steadfast_testing::program(tool).is_none() {
            continue;
        }
        let tree = Tree::new().file("source", b"steadfast sees what becomes of its attributes\n");
        fs::create_dir(tree.path("out")).unwrap();
        tree.run(["tag", "source"]).succeeds();
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", typed]).current_dir(tree.path("")).env("LC_ALL", "C");
        for variable in ["TAR_OPTIONS", "ZIPOPT", "UNZIP", "COPYFILE_DISABLE", "RSYNC_RSH"] {
            shell.env_remove(variable);
        }
        let ended = shell.output().unwrap();
        assert!(ended.status.success(), "{typed}: {}", String::from_utf8_lossy(&ended.stderr));
        let said = tree.run(["check", "--json", result]).objects();
        assert_eq!(said[0]["verdict"], verdict, "{typed}: {}", said[0]);
    }
}
