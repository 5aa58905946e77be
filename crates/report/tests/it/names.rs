//! Names that attack: whatever a name holds, text obeys nothing of it and JSON loses nothing.

use std::os::unix::ffi::OsStrExt as _;

use base64::Engine as _;
use proptest::prelude::*;
use steadfast::Verdict;
use steadfast::event::FileError;
use steadfast_report::{FindingRule, Renderer, RunLines, Show, Sums, Text, TextOptions};

use crate::facts;

/// Bytes of a name: anything but NUL and `/`, with what terminals obey more often than by chance.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = any::<u8>().prop_filter("no name has these", |byte| !b"\0/".contains(byte));
    let part = prop_oneof![
        byte.prop_map(|byte| vec![byte]),
        prop::sample::select(vec![
            &b"\x1b[2J"[..],
            b"\n",
            b"\r",
            b"\\",
            b"\xc2\x9b",
            b"\xe2\x80\xae",
            b"\xff",
            b"\x7f",
            "é".as_bytes(),
            b"\xf3\xa0\x81\x81",
        ])
        .prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(part, 1..20).prop_map(|parts| parts.concat())
}

fn rendered(renderer: &mut dyn Renderer, name: &[u8]) -> String {
    let mut event = facts::event(name, Some(Verdict::Unreadable));
    event.actual = Some(facts::tag(1, 2, 3));
    let reason = String::from_utf8_lossy(name).into_owned();
    event.trouble = Some(FileError::new("open", reason));
    let pages = facts::document(renderer, &[facts::said(event)], &facts::check_end());
    String::from_utf8([pages.answer, pages.trouble].concat()).expect("escaped text is UTF-8")
}

fn assert_harmless(text: &str) {
    let obeyed = |letter: char| {
        letter != '\n' && letter.is_control() || steadfast_report::escape::misleads(letter)
    };
    assert!(!text.contains(obeyed), "{text:?}");
}

proptest! {
    #[test]
    fn text_obeys_no_name(name in name()) {
        let verbose = TextOptions { verbose: true, ..TextOptions::default() };
        let text = rendered(&mut Text::new(verbose), &name);
        assert_harmless(&text);
        assert_eq!(text.lines().count(), rendered(&mut Text::new(verbose), b"a").lines().count());
        assert_harmless(&rendered(&mut Show::default(), &name));
        let terminal = Sums { for_terminal: true, ..Sums::default() };
        assert_harmless(&rendered(&mut terminal.clone(), &name));
        assert_harmless(&rendered(&mut RunLines::json(false, FindingRule::default()), &name));
    }

    #[test]
    fn json_loses_no_byte_of_a_name(name in name()) {
        let text = rendered(&mut RunLines::json(false, FindingRule::default()), &name);
        let object: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let path = match &object["path_b64"] {
            serde_json::Value::String(base64) => {
                base64::engine::general_purpose::STANDARD.decode(base64).unwrap()
            }
            _ => object["path"].as_str().unwrap().as_bytes().to_vec(),
        };
        let expected = [b"photos/", name.as_slice()].concat();
        prop_assert_eq!(path, expected);
        prop_assert_eq!(object.get("path_b64").is_some(), str::from_utf8(&name).is_err());
        prop_assert_eq!(object["verdict"].as_str(), Some("unreadable"));
    }

    #[test]
    fn csv_keeps_its_columns(name in name()) {
        let text = rendered(&mut RunLines::csv(false, FindingRule::default()), &name);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let row = reader.records().next().unwrap().unwrap();
        prop_assert_eq!(row.len(), steadfast_report::run::COLUMNS.len());
        let path = [b"photos/", name.as_slice()].concat();
        let shown = std::ffi::OsStr::from_bytes(&path).to_string_lossy().into_owned();
        prop_assert_eq!(&row[0], shown.as_str());
    }
}

#[test]
fn times_beyond_64_bits_are_strings() {
    let mut event = facts::event(b"a", None);
    event.actual = Some(facts::tag(1, 2, 9_223_372_036));
    event.stored = Some(facts::tag(1, 2, 9_223_372_037));
    let pages = facts::document(
        &mut RunLines::json(false, FindingRule::default()),
        &[facts::said(event)],
        &facts::check_end(),
    );
    let text = String::from_utf8(pages.answer).unwrap();
    let object: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(object["mtime_ns"].as_i64(), Some(9_223_372_036_123_456_789));
    assert_eq!(object["stored"]["mtime_ns"].as_str(), Some("9223372037123456789"));
}
