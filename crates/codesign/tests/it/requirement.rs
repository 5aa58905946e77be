//! Requirements: bytes, text and truth of each operator.

use std::fs;

use steadfast_codesign::{
    AppleRoot, Binary, CdHash, CodeSubject, ErrorKind, Requirement, RequirementKind, Requirements,
    Signature, SignerVerdict, Value,
};

use crate::builder::{Build, blob, superblob};
use crate::fixtures::fixture;

/// Bytes of an operator or an operand, put together.
fn code(parts: &[&[u8]]) -> Vec<u8> {
    blob(0xfade_0c00, &[&1_u32.to_be_bytes(), &parts.concat()[..]].concat())
}

fn number(value: i32) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

/// A length, bytes, and zeros up to a multiple of four.
fn data(bytes: &[u8]) -> Vec<u8> {
    let mut all = [&(bytes.len() as u32).to_be_bytes(), bytes].concat();
    all.resize(all.len().next_multiple_of(4), 0);
    all
}

/// 1.2.840.113635.100.6.1.13.
const DEVELOPER_ID: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 6, 1, 13];

/// Every operator: its bytes, and the text that Apple's dumper has for them.
pub(crate) fn operators() -> Vec<(Vec<u8>, &'static str)> {
    let field = |how: &[u8]| code(&[&number(11), &number(0), &data(b"subject.OU"), how]);
    let texts = |how: i32, text: &[u8]| [number(how), data(text)].concat();
    let dates = |how: i32| [number(how), 86_400_i64.to_be_bytes().to_vec()].concat();
    let dated = |how: i32| code(&[&number(22), &number(0), &data(DEVELOPER_ID), &dates(how)]);
    let hash = [0xab; 20];
    vec![
        (code(&[&number(0)]), "never"),
        (code(&[&number(1)]), "always"),
        (code(&[&number(2), &data(b"adb")]), "identifier adb"),
        (code(&[&number(2), &data(b"org.example.tool")]), "identifier \"org.example.tool\""),
        (code(&[&number(2), &data(b"7za")]), "identifier \"7za\""),
        (code(&[&number(2), &data(b"apple")]), "identifier \"apple\""),
        (code(&[&number(2), &data(b"a\"b\\c")]), "identifier \"a\\\"b\\\\c\""),
        (code(&[&number(2), &data("ü".as_bytes())]), "identifier 0xc3bc"),
        (code(&[&number(3)]), "anchor apple"),
        (
            code(&[&number(4), &number(-1), &data(&hash)]),
            "certificate root = H\"abababababababababababababababababababab\"",
        ),
        (
            code(&[&number(4), &number(2), &data(&hash)]),
            "certificate 2 = H\"abababababababababababababababababababab\"",
        ),
        (
            code(&[&number(6), &number(1), &number(7), &number(0), &number(1)]),
            "always and (never or always)",
        ),
        (
            code(&[&number(7), &number(1), &number(6), &number(0), &number(1)]),
            "always or never and always",
        ),
        (code(&[&number(9), &number(6), &number(1), &number(0)]), "! (always and never)"),
        (code(&[&number(8), &data(&hash)]), "cdhash H\"abababababababababababababababababababab\""),
        (
            code(&[&number(10), &data(b"CFBundleVersion"), &texts(8, b"1.2")]),
            "info[CFBundleVersion] >= \"1.2\"",
        ),
        (field(&number(0)), "certificate leaf[subject.OU] /* exists */"),
        (field(&number(14)), "certificate leaf[subject.OU] absent"),
        (field(&texts(1, b"S8QB4VV633")), "certificate leaf[subject.OU] = S8QB4VV633"),
        (field(&texts(1, b"6N38VWS5BX")), "certificate leaf[subject.OU] = \"6N38VWS5BX\""),
        (field(&texts(2, b"x")), "certificate leaf[subject.OU] ~ x"),
        (field(&texts(3, b"x")), "certificate leaf[subject.OU] = x*"),
        (field(&texts(4, b"x")), "certificate leaf[subject.OU] = *x"),
        (field(&texts(5, b"x")), "certificate leaf[subject.OU] < x"),
        (field(&texts(6, b"x")), "certificate leaf[subject.OU] > x"),
        (field(&texts(7, b"x")), "certificate leaf[subject.OU] <= x"),
        (code(&[&number(12), &number(0)]), "certificate leaf trusted"),
        (code(&[&number(13)]), "anchor trusted"),
        (
            code(&[&number(14), &number(1), &data(DEVELOPER_ID), &number(0)]),
            "certificate 1[field.1.2.840.113635.100.6.1.13] /* exists */",
        ),
        (code(&[&number(15)]), "anchor apple generic"),
        (
            code(&[&number(16), &data(b"com.apple.a-b"), &number(0)]),
            "entitlement[\"com.apple.a-b\"] /* exists */",
        ),
        (
            code(&[&number(17), &number(-2), &data(DEVELOPER_ID), &number(0)]),
            "certificate -2[policy.1.2.840.113635.100.6.1.13] /* exists */",
        ),
        (code(&[&number(18), &data(b"developer")]), "anchor apple developer"),
        (code(&[&number(19), &data(b"sub")]), "(sub)"),
        (code(&[&number(20), &number(3)]), "platform = 3"),
        (code(&[&number(21)]), "notarized"),
        (
            dated(9),
            "certificate leaf[timestamp.1.2.840.113635.100.6.1.13] = timestamp \"20010102000000Z\"",
        ),
        (
            dated(13),
            "certificate leaf[timestamp.1.2.840.113635.100.6.1.13] \
             >= timestamp \"20010102000000Z\"",
        ),
        (code(&[&number(23)]), "legacy"),
    ]
}

#[test]
fn every_operator_has_a_text_that_reads_back_as_it() {
    for (bytes, text) in operators() {
        let read = Requirement::from_blob(&bytes).unwrap();
        assert_eq!(read.to_string(), text);
        let parsed = Requirement::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed, read, "{text}");
    }
}

#[test]
fn other_spellings_mean_the_same() {
    for (one, other) in [
        ("identifier = adb", "identifier adb"),
        ("identifier == \"adb\" ;", "identifier adb"),
        ("true and false", "always and never"),
        ("anchor generic apple", "anchor apple generic"),
        ("cert leaf[subject.OU] exists", "certificate leaf[subject.OU]"),
        ("anchor[subject.CN] = x", "certificate root[subject.CN] = x"),
        ("certificate -1[subject.CN] = x", "certificate root[subject.CN] = x"),
        ("cert 0[extension.1.2.3] exists", "certificate leaf[field.1.2.3]"),
        ("info[a] = *x*", "info[a] ~ x"),
        ("info[a] = 0x78", "info[a] = x"),
        ("(((always))) // why\n or never # so", "always /* or */ or never"),
        ("!always", "! always"),
        (
            "anchor = H\"ABABABABABABABABABABABABABABABABABABABAB\"",
            "certificate root = H\"abababababababababababababababababababab\"",
        ),
        ("a", ""),
    ] {
        let (one, other) = (Requirement::parse(one), Requirement::parse(other));
        match (one, other) {
            (Ok(one), Ok(other)) => assert_eq!(one, other),
            (Err(_), Err(_)) => {}
            different => panic!("{different:?}"),
        }
    }
}

#[test]
fn what_is_no_requirement_is_refused_in_words() {
    let deep = "(".repeat(100_000) + "always";
    let nots = "! ".repeat(2_000) + "always";
    let long = "always and ".repeat(200_000) + "always";
    for text in [
        "",
        "identifier",
        "identifier adb and",
        "and",
        "anchor apple generic anchor apple",
        "(always",
        "always)",
        "cdhash H\"ab\"",
        "cdhash H\"abc\"",
        "cdhash H\"ab",
        "certificate leaf = /some/file",
        "certificate leaf[colour] = red",
        "certificate leaf[field.1.x]",
        "certificate 99999999999[subject.CN] = x",
        "certificate leaf[timestamp.1.2.3] > timestamp \"soon\"",
        "identifier \"adb",
        "always /* or",
        "always § never",
        &deep,
        &nots,
        &long,
    ] {
        let error = Requirement::parse(text).expect_err(&text[..text.len().min(80)]);
        let message = error.to_string();
        assert!(message.starts_with("the requirement cannot be read: "), "{message}");
    }
}

#[test]
fn bytes_that_are_cut_or_altered_end_in_words() {
    for (bytes, text) in operators() {
        for length in 0..bytes.len() {
            let mut cut = bytes[..length].to_vec();
            assert!(Requirement::from_blob(&cut).is_err(), "{text}, {length}");
            if length >= 8 {
                cut[4..8].copy_from_slice(&(length as u32).to_be_bytes());
                // Filling at the end may be missing; Apple's reader does not miss it either.
                let filling = bytes.len() - length < 4;
                assert!(filling || Requirement::from_blob(&cut).is_err(), "{text}, {length}");
            }
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut altered = bytes.clone();
                altered[at] ^= 1 << bit;
                if let Ok(requirement) = Requirement::from_blob(&altered) {
                    let _ = requirement.to_string();
                }
            }
        }
    }
    // A million operators that each want one more.
    let deep = code(&[&number(9).repeat(1_000_000)]);
    assert!(Requirement::from_blob(&deep).is_err());
    let unknown = code(&[&number(99)]);
    assert_eq!(Requirement::from_blob(&unknown).unwrap_err().kind(), ErrorKind::Unsupported);
    // Those that say their length are false, or passed over.
    let false_one = code(&[&number(0x8000_0063_u32.cast_signed()), &data(&[1, 2, 3, 4])]);
    let text = Requirement::from_blob(&false_one).unwrap().to_string();
    assert_eq!(text, "false /* opcode 99 */");
    let skipped = code(&[&number(0x4000_0063), &data(&[1, 2, 3, 4]), &number(1)]);
    let text = Requirement::from_blob(&skipped).unwrap().to_string();
    assert_eq!(text, "/* opcode 99 */ always");
}

#[test]
fn sets_have_a_kind_for_each() {
    let host = code(&[&number(3)]);
    let designated = code(&[&number(2), &data(b"adb")]);
    let other = code(&[&number(1)]);
    let (mut bytes, _) = superblob(&[(1, host), (3, designated), (9, other)]);
    bytes[..4].copy_from_slice(&0xfade_0c01_u32.to_be_bytes());
    let set = Requirements::from_blob(&bytes).unwrap();
    assert_eq!(
        set.to_string(),
        "host => anchor apple\ndesignated => identifier adb\n/*unknown type*/ 9 => always\n"
    );
    assert_eq!(set.designated().unwrap().to_string(), "identifier adb");
    assert_eq!(set.entries[2].0, RequirementKind::Other(9));
    let none = Requirements::from_blob(&[0xfa, 0xde, 0x0c, 0x01, 0, 0, 0, 12, 0, 0, 0, 0]).unwrap();
    assert!(none.entries.is_empty());
}

/// Judges texts for code that nobody signed, but with the chain of Apple's root if asked for.
fn judge(texts: &[(&str, Option<bool>)], anchored: bool) {
    let built = Build::linker_signed(8_192).build();
    let range = built.signature.clone();
    let signature = Signature::read(&built.bytes, range.start as u64, range.len() as u64).unwrap();
    let signer = SignerVerdict::of(&signature);
    let info = Value::Map(vec![
        ("CFBundleVersion".to_owned(), Value::Text("1.10".to_owned())),
        ("Off".to_owned(), Value::Boolean(false)),
        ("Many".to_owned(), Value::List(["a", "b"].map(|text| Value::Text(text.into())).into())),
        ("When".to_owned(), Value::Date("2026-09-15T10:11:12Z".to_owned())),
    ]);
    let entitlements = Value::Map(vec![("a".to_owned(), Value::Boolean(true))]);
    let chain = [AppleRoot::G1.certificate().clone()];
    let mut subject = CodeSubject::of(&signature, &signer).info(&info).entitlements(&entitlements);
    if anchored {
        subject.chain = &chain;
        subject.root = Some(AppleRoot::G1);
    }
    let hash = signature.chosen_directory().cdhash();
    for (text, expected) in texts {
        let text = text.replace("{cdhash}", &hash.to_string());
        let requirement = Requirement::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(requirement.holds_for(&subject).ok(), *expected, "{text}");
    }
    subject.cdhash = CdHash::from_slice(&[0; 20]).unwrap();
    let own = Requirement::parse(&format!("cdhash H\"{hash}\"")).unwrap();
    assert_eq!(own.holds_for(&subject), Ok(false));
}

#[test]
fn facts_decide_and_what_nobody_knows_is_unknown() {
    let (yes, no, unknown) = (Some(true), Some(false), None);
    judge(
        &[
            ("identifier \"org.example.tool\"", yes),
            ("identifier \"org.example.tools\"", no),
            ("cdhash H\"{cdhash}\"", yes),
            ("platform = 0", yes),
            ("platform = 1", no),
            ("anchor apple generic", no),
            ("anchor apple", unknown),
            ("certificate leaf[subject.CN] absent", no),
            ("anchor trusted", no),
            ("notarized", unknown),
            ("legacy", unknown),
            ("(sub)", unknown),
            ("! notarized", unknown),
            ("notarized and never", no),
            ("never and notarized", no),
            ("notarized and always", unknown),
            ("notarized or always", yes),
            ("always or notarized", yes),
            ("notarized or never", unknown),
            ("! (notarized and never)", yes),
            ("info[CFBundleVersion] >= \"1.9\"", yes),
            ("info[CFBundleVersion] < \"1.9\"", no),
            ("info[CFBundleVersion] = \"1.10\"", yes),
            ("info[CFBundleVersion] <= \"1.010\"", yes),
            ("info[CFBundleVersion] > \"1.1\"", yes),
            ("info[CFBundleVersion] = \"1.\"*", yes),
            ("info[CFBundleVersion] = *\".10\"", yes),
            ("info[CFBundleVersion] ~ \".1\"", yes),
            ("info[CFBundleVersion] ~ \"\"", no),
            ("info[CFBundleVersion] = \"2\"*", no),
            ("info[CFBundleVersion] exists", yes),
            ("info[Off] exists", no),
            ("info[Off] absent", no),
            ("info[None] absent", yes),
            ("info[None] exists", no),
            ("info[Many] = b", yes),
            ("info[Many] = c", no),
            ("info[When] > timestamp \"20260101000000Z\"", yes),
            ("info[When] < timestamp \"20260101000000Z\"", no),
            ("info[When] = timestamp \"20260915101112Z\"", yes),
            ("entitlement[a] exists", yes),
            ("entitlement[a] = true", no),
            ("entitlement[b] absent", yes),
        ],
        false,
    );
    judge(
        &[
            ("anchor apple generic", yes),
            ("anchor apple", no),
            ("certificate leaf[subject.CN] = \"Apple Root CA\"", yes),
            ("certificate root[subject.O] = \"Apple Inc.\"", yes),
            ("certificate -1[subject.C] = US", yes),
            ("certificate 1[subject.CN] exists", no),
            ("certificate -2[subject.CN] exists", no),
            ("certificate leaf[subject.L] absent", no),
            ("certificate leaf[field.2.5.29.19] exists", yes),
            ("certificate leaf[field.2.5.29.99] exists", no),
            ("certificate leaf[field.2.5.29.99] absent", yes),
            ("certificate leaf[policy.1.2.840.113635.100.5.1] exists", yes),
            ("certificate leaf[policy.1.2.840.113635.100.5.2] exists", no),
            ("certificate leaf = H\"611e5b662c593a08ff58d14ae22452d198df6c60\"", yes),
            ("certificate leaf = H\"611e5b662c593a08ff58d14ae22452d198df6c61\"", no),
            ("anchor trusted", unknown),
        ],
        true,
    );
}

#[test]
fn published_code_meets_its_own_requirement_and_no_other() {
    let developer_id = |identifier: &str, team: &str| {
        format!(
            "identifier {identifier} and anchor apple generic and \
             certificate 1[field.1.2.840.113635.100.6.2.6] /* exists */ and \
             certificate leaf[field.1.2.840.113635.100.6.1.13] /* exists */ and \
             certificate leaf[subject.OU] = {team}"
        )
    };
    let distributor = "3rd Party Mac Developer Application: Microsoft Corporation (UBF8T346G9)";
    let store = format!(
        "identifier \"pymsalruntime.cpython-312-darwin\" and anchor apple generic and \
         certificate leaf[subject.CN] = \"{distributor}\" and \
         certificate 1[field.1.2.840.113635.100.6.2.1] /* exists */"
    );
    let rows = [
        ("P3", "package/dart-sass/src/dart", developer_id("dartaotruntime", "S8QB4VV633")),
        ("P4", "adbutils/binaries/adb", developer_id("adb", "EQHXZ8M8AV")),
        ("P7", "pymsalruntime/pymsalruntime.cpython-312-darwin.so", store),
    ];
    let other = Requirement::parse(&developer_id("adb", "\"6N38VWS5BX\"")).unwrap();
    for (name, path, expected) in rows {
        let Some(folder) = fixture(name) else { continue };
        let bytes = fs::read(folder.join(path)).unwrap();
        for slice in &Binary::read(&bytes).unwrap().slices {
            let signature = slice.signature.as_ref().unwrap();
            let blob = signature.requirements().unwrap();
            let requirements = Requirements::from_blob(blob.bytes).unwrap();
            let designated = requirements.designated().unwrap();
            assert_eq!(designated.to_string(), expected);
            let again = Requirement::parse(&expected).unwrap();
            assert_eq!(again.to_string(), expected);
            let signer = SignerVerdict::of(signature);
            let subject = CodeSubject::of(signature, &signer);
            assert_eq!(designated.holds_for(&subject), Ok(true), "{name}");
            assert_eq!(again.holds_for(&subject), Ok(true), "{name}");
            assert_eq!(other.holds_for(&subject), Ok(false), "{name}");
        }
    }
}
