//! Damage that hides: slices among slices, names that changed, folders that cannot be read.

use std::io;

use steadfast_codesign::bundle::{BundleTree, EntryKind, FolderTree};
use steadfast_codesign::{Code, CodeVerification, FindingKind, ReadAt, Severity, VerifyOptions};

use crate::app::{App, signed};
use crate::builder::{CPU_ARM64, CPU_X86_64, fat};

fn verified(tree: &dyn BundleTree, deep: bool) -> CodeVerification {
    let code = Code::bundle(tree, b"Other.app").unwrap();
    code.verify(&VerifyOptions { deep, ..VerifyOptions::default() }).unwrap()
}

fn failures(verification: &CodeVerification) -> Vec<FindingKind> {
    let findings = verification.all_findings().into_iter();
    let failures = findings.filter(|finding| finding.severity >= Severity::Unverified);
    failures.map(|finding| finding.kind).collect()
}

/// One slice is the one that was sealed, the other is anybody's.
#[test]
fn a_slice_beside_the_sealed_one_is_not_the_sealed_one() {
    let (good, other) = (signed(9000, "helper"), signed(12_000, "helper"));
    for slices in [
        [(CPU_ARM64, &good[..]), (CPU_X86_64, &other[..])],
        [(CPU_X86_64, &other[..]), (CPU_ARM64, &good[..])],
    ] {
        for deep in [false, true] {
            let app = App::new();
            app.write("Contents/MacOS/helper", &fat(&slices, false).0);
            let verification = verified(&FolderTree::open(app.root()).unwrap(), deep);
            // The other slice is not for the processor that its label names, either.
            let expected = [FindingKind::NestedReplaced, FindingKind::SlicesDisagree];
            assert_eq!(failures(&verification), expected, "{deep}");
            let helper = verification.nested.iter().find(|one| !one.item.folder).unwrap();
            assert_eq!((helper.exact, verification.exit_status()), (Some(false), 1));
        }
    }
    let app = App::new();
    let twice = [(CPU_ARM64, &good[..]), (CPU_ARM64, &good[..])];
    app.write("Contents/MacOS/helper", &fat(&twice, false).0);
    let verification = verified(&FolderTree::open(app.root()).unwrap(), true);
    assert_eq!(failures(&verification), [FindingKind::SlicesDisagree]);
}

#[test]
fn a_fat_file_without_slices_is_malformed() {
    let app = App::new();
    app.write("Contents/MacOS/demo", &fat(&[], false).0);
    let verification = verified(&FolderTree::open(app.root()).unwrap(), false);
    assert_eq!(failures(&verification), [FindingKind::Malformed]);
    assert_eq!(verification.exit_status(), 3);
    let code = Code::file(Box::new(fat(&[], true).0)).unwrap();
    let verification = code.verify(&VerifyOptions::default()).unwrap();
    assert_eq!(
        (failures(&verification), verification.exit_status()),
        (vec![FindingKind::Malformed], 3)
    );
}

/// Decay that leaves no property list, another executable's name, or no name.
#[test]
fn decay_of_the_information_hides_no_executable() {
    let info = std::fs::read_to_string(App::new().path("Contents/Info.plist")).unwrap();
    for decayed in ["<dict>", "demo", "CFBundleExecutable"] {
        let app = App::new();
        app.flip("Contents/Info.plist", info.find(decayed).unwrap());
        let verification = verified(&FolderTree::open(app.root()).unwrap(), true);
        let found = failures(&verification);
        assert!(found.contains(&FindingKind::SlotDamaged), "{decayed}: {found:?}");
        assert_eq!(verification.exit_status(), 3, "{decayed}");
    }
}

/// A tree of which a part is closed to who looks.
struct Closed(FolderTree, &'static [u8]);

impl Closed {
    fn open_to(&self, path: &[u8]) -> io::Result<()> {
        match path.starts_with(self.1) {
            true => Err(io::ErrorKind::PermissionDenied.into()),
            false => Ok(()),
        }
    }
}

impl BundleTree for Closed {
    fn kind(&self, path: &[u8]) -> io::Result<Option<EntryKind>> {
        // The folder itself can be looked at, and not into.
        if path != self.1 {
            self.open_to(path)?;
        }
        self.0.kind(path)
    }

    fn entries(&self, path: &[u8]) -> io::Result<Vec<(Vec<u8>, EntryKind)>> {
        self.open_to(path).and_then(|()| self.0.entries(path))
    }

    fn open(&self, path: &[u8]) -> io::Result<Box<dyn ReadAt + Send>> {
        self.open_to(path).and_then(|()| self.0.open(path))
    }

    fn read_link(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        self.open_to(path).and_then(|()| self.0.read_link(path))
    }
}

#[test]
fn what_cannot_be_read_is_neither_damaged_nor_gone() {
    for closed in [&b"Contents/Frameworks/Kit.framework"[..], b"Contents/Resources/folder"] {
        let app = App::new();
        let tree = Closed(FolderTree::open(app.root()).unwrap(), closed);
        let verification = verified(&tree, true);
        assert_eq!(failures(&verification), [FindingKind::ResourceUnreadable]);
        assert_eq!(verification.exit_status(), 2);
    }
}

/// Beside the seal, too, what is there must be known before it is accepted.
#[test]
fn a_root_that_cannot_be_listed_is_not_accepted_if_strict() {
    let app = App::new();
    let tree = Unlisted(FolderTree::open(app.root()).unwrap());
    let code = Code::bundle(&tree, b"Demo.app").unwrap();
    for (strict, status) in [(false, 0), (true, 2)] {
        let options = VerifyOptions { strict, ..VerifyOptions::default() };
        assert_eq!(code.verify(&options).unwrap().exit_status(), status);
    }
}

/// A tree of which the root cannot be listed.
struct Unlisted(FolderTree);

impl BundleTree for Unlisted {
    fn kind(&self, path: &[u8]) -> io::Result<Option<EntryKind>> {
        self.0.kind(path)
    }

    fn entries(&self, path: &[u8]) -> io::Result<Vec<(Vec<u8>, EntryKind)>> {
        match path.is_empty() {
            true => Err(io::ErrorKind::PermissionDenied.into()),
            false => self.0.entries(path),
        }
    }

    fn open(&self, path: &[u8]) -> io::Result<Box<dyn ReadAt + Send>> {
        self.0.open(path)
    }

    fn read_link(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        self.0.read_link(path)
    }
}
