//! Builds a signed application in a folder: nested code, a framework, symlinks, optional resources.
//!
//! Its seals are written from the description of the format, and its digests are those of the
//! builder of Mach-O files, not of the crate.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::builder::{Build, blob, digest};
use crate::signing::base64;

/// The rules that `codesign` writes into seals of applications.
const RULES: &str = "\
<key>^.*</key><true/>\
<key>^[^/]+$</key><dict><key>nested</key><true/><key>weight</key><real>10</real></dict>\
<key>^(Frameworks|SharedFrameworks|PlugIns|Plug-ins|XPCServices|Helpers|MacOS|\
Library/(Automator|Spotlight|LoginItems))/</key>\
<dict><key>nested</key><true/><key>weight</key><real>10</real></dict>\
<key>.*\\.dSYM($|/)</key><dict><key>weight</key><real>11</real></dict>\
<key>^(.*/)?\\.DS_Store$</key>\
<dict><key>omit</key><true/><key>weight</key><real>2000</real></dict>\
<key>^Info\\.plist$</key><dict><key>omit</key><true/><key>weight</key><real>20</real></dict>\
<key>^PkgInfo$</key><dict><key>omit</key><true/><key>weight</key><real>20</real></dict>\
<key>^Resources/</key><dict><key>weight</key><real>20</real></dict>\
<key>^Resources/.*\\.lproj/</key>\
<dict><key>optional</key><true/><key>weight</key><real>1000</real></dict>\
<key>^Resources/Base\\.lproj/</key><dict><key>weight</key><real>1010</real></dict>\
<key>^Resources/.*\\.lproj/locversion.plist$</key>\
<dict><key>omit</key><true/><key>weight</key><real>1100</real></dict>";

const INFO: &str = "<plist version=\"1.0\"><dict><key>CFBundleExecutable</key>\
                    <string>demo</string></dict></plist>";
const KIT_INFO: &str = "<plist version=\"1.0\"><dict><key>CFBundleExecutable</key>\
                        <string>Kit</string></dict></plist>";

/// What one name is sealed as.
pub(crate) enum Entry {
    File(&'static str),
    Optional(&'static str),
    Link(&'static str),
    /// A signed file, with the requirement it is sealed by.
    Code(Vec<u8>, &'static str),
    /// Code that is put there by itself: its CDHash and its requirement.
    Framework(Vec<u8>, &'static str),
}

/// A folder that is removed at the end.
pub(crate) struct App {
    dir: TempDir,
}

/// Signed code of one slice, by SHA-256.
pub(crate) fn signed(code_len: usize, identifier: &'static str) -> Vec<u8> {
    code(code_len, identifier, Vec::new()).build().bytes
}

fn code(code_len: usize, identifier: &'static str, outside: Vec<(u32, Vec<u8>)>) -> Build {
    let mut build = Build::linker_signed(code_len);
    build.directories[0].flags = 2;
    build.directories[0].identifier = identifier;
    build.directories[0].special_count = 3;
    build.blobs = vec![(2, blob(0xfade_0c01, &[0; 4])), (0x1_0000, blob(0xfade_0b01, &[]))];
    build.outside = outside;
    build
}

/// The CDHash of code made here.
pub(crate) fn cdhash(build: &Build) -> Vec<u8> {
    let built = build.build();
    digest(2, &built.bytes[built.blob(0)])[..20].to_vec()
}

/// The seal of some entries.
fn seal(entries: &BTreeMap<&'static str, Entry>) -> Vec<u8> {
    let mut files = String::new();
    for (name, entry) in entries {
        let data =
            |key: &str, bytes: &[u8]| format!("<key>{key}</key><data>{}</data>", base64(bytes));
        let inner = match entry {
            Entry::File(text) => data("hash2", &digest(2, text.as_bytes())),
            Entry::Optional(text) => {
                data("hash2", &digest(2, text.as_bytes())) + "<key>optional</key><true/>"
            }
            Entry::Link(target) => format!("<key>symlink</key><string>{target}</string>"),
            Entry::Code(bytes, requirement) => {
                let start = bytes.windows(4).rposition(|window| window == [0xfa, 0xde, 0x0c, 0x02]);
                let start = start.unwrap();
                let len = u32::from_be_bytes(bytes[start + 4..start + 8].try_into().unwrap());
                let hash = &digest(2, &bytes[start..start + len as usize])[..20];
                nested(&data("cdhash", hash), requirement)
            }
            Entry::Framework(hash, requirement) => nested(&data("cdhash", hash), requirement),
        };
        files += &format!("<key>{name}</key><dict>{inner}</dict>");
    }
    let seal = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict>\
         <key>files2</key><dict>{files}</dict><key>rules2</key><dict>{RULES}</dict></dict></plist>"
    );
    seal.into_bytes()
}

fn nested(cdhash: &str, requirement: &str) -> String {
    let requirement = requirement.replace('"', "&quot;");
    format!("{cdhash}<key>requirement</key><string>{requirement}</string>")
}

impl App {
    /// An application with everything that a seal can hold.
    pub(crate) fn new() -> App {
        let app = App { dir: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
        let framework = app.framework();
        let entries = BTreeMap::from([
            ("Frameworks/Kit.framework", Entry::Framework(framework, "identifier \"kit\"")),
            ("MacOS/helper", Entry::Code(signed(9000, "helper"), "identifier \"helper\"")),
            ("MacOS/script.sh", Entry::File("#!/bin/sh\n")),
            ("Resources/Base.lproj/main.nib", Entry::File("nib")),
            ("Resources/a.txt", Entry::File("alpha")),
            ("Resources/de.lproj/x.strings", Entry::Optional("Guten Tag")),
            ("Resources/folder/b.txt", Entry::File("beta")),
            ("Resources/link", Entry::Link("a.txt")),
            ("Resources/linked", Entry::Link("folder")),
        ]);
        let info = ("Contents/Info.plist", INFO);
        app.bundle("Contents", "Contents/MacOS/demo", info, "demo", &entries);
        app.write("Contents/PkgInfo", b"APPL????");
        app
    }

    /// A versioned framework; returns its CDHash.
    fn framework(&self) -> Vec<u8> {
        let root = "Contents/Frameworks/Kit.framework";
        let base = format!("{root}/Versions/A");
        let entries = BTreeMap::from([
            ("Resources/Info.plist", Entry::File(KIT_INFO)),
            ("Resources/data.txt", Entry::File("data")),
        ]);
        let info_path = format!("{base}/Resources/Info.plist");
        let info = (info_path.as_str(), KIT_INFO);
        let cdhash = self.bundle(&base, &format!("{base}/Kit"), info, "kit", &entries);
        self.link(&format!("{root}/Versions/Current"), "A");
        self.link(&format!("{root}/Kit"), "Versions/Current/Kit");
        self.link(&format!("{root}/Resources"), "Versions/Current/Resources");
        cdhash
    }

    /// Writes a bundle's parts and seals them; returns the CDHash.
    fn bundle(
        &self,
        base: &str,
        executable: &str,
        (info_path, info): (&str, &str),
        identifier: &'static str,
        entries: &BTreeMap<&'static str, Entry>,
    ) -> Vec<u8> {
        for (name, entry) in entries {
            let path = format!("{base}/{name}");
            match entry {
                Entry::File(text) | Entry::Optional(text) => self.write(&path, text.as_bytes()),
                Entry::Link(target) => self.link(&path, target),
                Entry::Code(bytes, _) => self.write(&path, bytes),
                Entry::Framework(..) => {}
            }
        }
        self.write(info_path, info.as_bytes());
        let seal = seal(entries);
        self.write(&format!("{base}/_CodeSignature/CodeResources"), &seal);
        let build = code(20_000, identifier, vec![(1, info.as_bytes().to_vec()), (3, seal)]);
        self.write(executable, &build.build().bytes);
        cdhash(&build)
    }

    /// Puts another seal in the place of the application's, and binds it.
    pub(crate) fn reseal(&self, seal: &str) {
        self.write("Contents/_CodeSignature/CodeResources", seal.as_bytes());
        self.bind(vec![(1, INFO.as_bytes().to_vec()), (3, seal.as_bytes().to_vec())]);
    }

    /// Writes the main executable anew: what its slots bind.
    pub(crate) fn bind(&self, bound: Vec<(u32, Vec<u8>)>) {
        self.write("Contents/MacOS/demo", &code(20_000, "demo", bound).build().bytes);
    }

    /// The seal as text.
    pub(crate) fn seal(&self) -> String {
        fs::read_to_string(self.path("Contents/_CodeSignature/CodeResources")).unwrap()
    }

    /// A seal of the first form: SHA-1 of the files beneath `Resources`, and rules of its own.
    pub(crate) fn first_seal(rules: &str) -> String {
        let names = [
            ("Resources/Base.lproj/main.nib", "nib"),
            ("Resources/a.txt", "alpha"),
            ("Resources/de.lproj/x.strings", "Guten Tag"),
            ("Resources/folder/b.txt", "beta"),
        ];
        let file = |(name, text): (&str, &str)| {
            let digest = base64(&digest(1, text.as_bytes()));
            match name.contains("de.lproj") {
                false => format!("<key>{name}</key><data>{digest}</data>"),
                true => format!(
                    "<key>{name}</key><dict><key>hash</key><data>{digest}</data>\
                     <key>optional</key><true/></dict>"
                ),
            }
        };
        let files: String = names.into_iter().map(file).collect();
        format!(
            "<plist version=\"1.0\"><dict><key>files</key><dict>{files}</dict>\
             <key>rules</key><dict>{rules}</dict></dict></plist>"
        )
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub(crate) fn link(&self, name: &str, target: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        let path = self.path(name);
        match path.symlink_metadata().unwrap().is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }

    /// Flips a bit of one byte.
    pub(crate) fn flip(&self, name: &str, at: usize) {
        let mut bytes = fs::read(self.path(name)).unwrap();
        bytes[at] ^= 1;
        fs::write(self.path(name), bytes).unwrap();
    }
}
