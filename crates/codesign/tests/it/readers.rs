//! Each reader of foreign bytes by itself, with altered inputs: none panics, runs for long or
//! reserves memory without bound.
//!
//! Every run tries some thousands of each, the same every time. For a record of many more, each
//! reader in a process of its own, so that the peak of memory is its own:
//!
//! ```text
//! STEADFAST_FUZZ_INPUTS=1000000 cargo test --release -p steadfast-codesign --test it -- \
//!     readers --nocapture --test-threads 1
//! ```

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use steadfast_codesign::bundle::{BundleTree as _, EntryKind, ResourceSeal};
use steadfast_codesign::{
    ArchiveTree, Binary, Certificate, Code, CodeSubject, Requirement, Requirements, Signature,
    SignerVerdict, Ticket, Value, VerifyOptions,
};
use steadfast_testing::took_at_most;

use crate::archives::{Entries, LEN_MAX, file, gzipped, link, tarred, zipped};
use crate::builder::superblob;
use crate::fixtures::fixture;
use crate::fuzz::{Random, altered, asked};
use crate::packages::Signers;
use crate::signing::Paper;
use crate::unsealed::find_app;
use crate::xar::{Xar, cpio, pbzx, xz};

/// Inputs that every run gives each reader.
const INPUTS: u64 = 2_000;

/// No input takes longer.
const TIME_MAX: Duration = Duration::from_secs(20);

/// A reader, what is altered, and whether it read it.
struct Reader {
    name: &'static str,
    samples: Vec<Vec<u8>>,
    read: ReadBytes,
}

type ReadBytes = Box<dyn Fn(&[u8]) -> bool>;

/// A seal with every form of entry and of rule.
const SEAL: &[u8] = b"<plist version=\"1.0\"><dict><key>files2</key><dict>\
    <key>a</key><data>AAEC</data>\
    <key>b</key><dict><key>hash2</key><data>AA==</data><key>optional</key><true/></dict>\
    <key>c</key><dict><key>symlink</key><string>a</string></dict>\
    <key>d</key><dict><key>cdhash</key><data>AA==</data>\
    <key>requirement</key><string>identifier d</string></dict></dict>\
    <key>rules2</key><dict><key>^.*</key><true/>\
    <key>^(Frameworks|Library/(Automator|Spotlight))/</key>\
    <dict><key>nested</key><true/><key>weight</key><real>10</real></dict>\
    <key>[[:alpha:]]+\\.lproj{1,3}$</key><false/></dict></dict></plist>";

fn archive(bytes: &[u8]) -> bool {
    matches!(ArchiveTree::read(&bytes.to_vec(), LEN_MAX), Ok(Some(_)))
}

fn archives() -> Vec<Reader> {
    let signers = Signers::new("1.2.840.113635.100.4.13");
    let text = |name: &str| (name.to_owned(), EntryKind::File, b"text ".repeat(200));
    let folder = ("b".to_owned(), EntryKind::Folder, Vec::new());
    let entries: Entries = vec![file("a"), folder, link("b/c"), text("b/d")];
    // Signing takes longer than reading.
    let unsigned = Xar::of(gzipped(&cpio(&entries)), None, &[]);
    let table = unsigned.table().0.into_bytes();
    // Of a payload that cannot be read, nothing is left.
    let with_payload = |bytes: &[u8]| {
        let package = Xar::of(bytes.to_vec(), None, &[]).build();
        let tree = ArchiveTree::read(&package, LEN_MAX).unwrap().unwrap();
        tree.entries(b"Some.pkg/Payload").is_ok_and(|entries| !entries.is_empty())
    };
    let reader = |name, sample, read| Reader { name, samples: vec![sample], read };
    vec![
        reader("zip, whl, ipa", zipped(&entries), Box::new(archive)),
        reader("tgz", gzipped(&tarred(&entries)), Box::new(archive)),
        reader("tar", tarred(&entries), Box::new(archive)),
        reader("pkg", signers.package(gzipped(&cpio(&entries))).build(), Box::new(archive)),
        reader(
            "xar table",
            table,
            Box::new(move |bytes| archive(&unsigned.build_with_table(bytes))),
        ),
        reader("cpio", cpio(&entries), Box::new(with_payload)),
        reader("pbzx", pbzx(&cpio(&entries), 500), Box::new(with_payload)),
        reader("xz", xz(&cpio(&entries)), Box::new(with_payload)),
    ]
}

/// Tickets: one that Apple issued, if it was fetched, and one in the same layout.
fn tickets() -> Vec<Vec<u8>> {
    let person = Paper::authority("Somebody", None).person();
    let certificates = crate::signing::sequence(std::slice::from_ref(&person.certificate));
    let list = [&b"g8tk\x02\0\x14\0\x01\0\0\0\0\0\0\0"[..], &[1; 8], &[2; 21]].concat();
    let len = |part: &[u8]| (part.len() as u32).to_le_bytes();
    let lens = [len(&certificates), len(&list)].concat();
    let made = [b"s8ch\x01\0\0\0", &lens[..], &certificates, &list, &[0x30, 0]].concat();
    let issued = fixture("P5").map(|folder| find_app(&folder).join("Contents/CodeResources"));
    [Some(made), issued.map(|path| std::fs::read(path).unwrap())].into_iter().flatten().collect()
}

fn property_lists() -> Vec<Vec<u8>> {
    let xml = b"<plist version=\"1.0\"><dict><key>a</key><array><true/><data>AAEC</data><real>2\
                </real></array><key>&lt;</key><string>&#x41;<![CDATA[x]]></string></dict></plist>";
    let mut binary = b"bplist00".to_vec();
    binary.extend([0xd1, 1, 2, 0x51, b'a', 0xa2, 3, 4, 0x09, 0x10, 5]);
    binary.extend([8, 11, 13, 16, 17]);
    binary.extend([[0; 6].to_vec(), vec![1, 1], 5_u64.to_be_bytes().to_vec()].concat());
    binary.extend([0_u64.to_be_bytes(), 19_u64.to_be_bytes()].concat());
    vec![xml.to_vec(), binary]
}

/// What is asked whether it meets requirements.
static TOOL: LazyLock<(Signature, SignerVerdict)> = LazyLock::new(|| {
    let binary = Binary::read(&crate::sample::tool().bytes).unwrap();
    let signature = binary.slices[0].signature.clone().unwrap();
    let signer = SignerVerdict::of(&signature);
    (signature, signer)
});

/// Writes a requirement as text, reads that, and asks whether code meets it.
fn requirement(requirement: &Requirement) -> Option<String> {
    let _ = requirement.holds_for(&CodeSubject::of(&TOOL.0, &TOOL.1));
    Some(Requirement::parse(&requirement.to_string()).ok()?.to_string())
}

fn set_of(requirement: &[u8]) -> Vec<u8> {
    let (mut set, _) = superblob(&[(3, requirement.to_vec())]);
    set[..4].copy_from_slice(&0xfade_0c01_u32.to_be_bytes());
    set
}

fn parts() -> Vec<Reader> {
    let texts = crate::requirement::operators();
    let binaries = texts.iter().map(|(code, _)| set_of(code)).collect();
    let texts = texts.iter().map(|(_, text)| text.as_bytes().to_vec()).collect();
    let seal = |bytes: &[u8]| {
        let names = [&b"Resources/de.lproj/x.strings"[..], b"MacOS/helper", b"", b"\xff/a"];
        let seal = ResourceSeal::parse(bytes);
        seal.is_ok_and(|seal| names.map(|name| seal.rules.decide(name)).len() == names.len())
    };
    let image = |bytes: &[u8]| {
        let code = Code::file(Box::new(bytes.to_vec()));
        code.is_ok_and(|code| code.verify(&VerifyOptions::default()).is_ok())
    };
    let person = Paper::authority("Somebody", None).person();
    let originals = tickets();
    let reader = |name, samples, read| Reader { name, samples, read };
    vec![
        reader("disk image", vec![crate::images::image()], Box::new(image)),
        reader(
            "ticket",
            originals.clone(),
            // None that was altered is accepted.
            Box::new(move |bytes| {
                let read = Ticket::read(bytes).is_ok();
                assert!(!read || originals.iter().any(|original| original == bytes));
                read
            }),
        ),
        reader(
            "requirement, text",
            texts,
            Box::new(|bytes| {
                let text = String::from_utf8_lossy(bytes);
                Requirement::parse(&text).is_ok_and(|parsed| {
                    assert_eq!(requirement(&parsed), Some(parsed.to_string()));
                    true
                })
            }),
        ),
        reader(
            "requirements, binary",
            binaries,
            Box::new(|bytes| {
                let set = Requirements::from_blob(bytes);
                set.is_ok_and(|set| set.designated().and_then(requirement).is_some())
            }),
        ),
        reader("property list", property_lists(), Box::new(|bytes| Value::parse(bytes).is_ok())),
        reader("seal of resources", vec![SEAL.to_vec()], Box::new(seal)),
        reader(
            "certificates",
            vec![person.certificate],
            Box::new(|bytes| Certificate::all_of(bytes).is_ok()),
        ),
    ]
}

#[test]
fn no_bytes_make_a_reader_fall_over() {
    let (inputs, only) = (asked("STEADFAST_FUZZ_INPUTS"), env::var("STEADFAST_FUZZ_READER").ok());
    for reader in archives().into_iter().chain(parts()) {
        match (&only, inputs) {
            (Some(only), _) if only != reader.name => {}
            (None, Some(_)) => {
                let args = ["readers::no_bytes", "--nocapture", "--quiet"];
                let mut again = Command::new(env::current_exe().unwrap());
                let again = again.args(args).env("STEADFAST_FUZZ_READER", reader.name);
                assert!(again.status().unwrap().success(), "{}", reader.name);
            }
            (_, inputs) => println!("{}", try_reader(&reader, inputs.unwrap_or(INPUTS))),
        }
    }
}

/// Returns a row of the record.
fn try_reader(Reader { name, samples, read }: &Reader, inputs: u64) -> String {
    let mut random = Random(0x5e1f_0000);
    let (mut accepted, mut slowest) = (0, (Duration::ZERO, 0));
    let begun = Instant::now();
    for input in 0..inputs {
        let state = random.0;
        let sample = &samples[random.below(samples.len())];
        let bytes = altered(sample, &mut random);
        let before = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&bytes)));
        let outcome = outcome
            .unwrap_or_else(|_| panic!("{name}: input {input}, from {state:#x}: {bytes:x?}"));
        accepted += u64::from(outcome);
        assert!(
            took_at_most(before, TIME_MAX),
            "{name}: input {input} took {:?}",
            before.elapsed()
        );
        slowest = slowest.max((before.elapsed(), input));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let peak = crate::ALLOCATOR.max_allocated() as f64 / 1e6;
    let (longest, input) = slowest;
    format!(
        "| {name} | {inputs} | {accepted} | {seconds:.0} s | {peak:.1} MB | {:.1} ms, {input} |",
        longest.as_secs_f64() * 1e3
    )
}
