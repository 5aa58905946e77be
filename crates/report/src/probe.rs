//! Documents about a probe: a table, or JSON lines.
//!
//! In: a [`Probe`]. Out: bytes, with all text from disk or from tools escaped.
//! `docs/reference/probe.md` specifies the JSON form.

mod json;
mod table;

use steadfast_probe::{Outcome, Probe, Time};

pub use json::write_json;
pub use table::write_table;

/// Returns what happened to the modification time, if it is known.
fn time_of(outcome: &Outcome) -> Option<Time> {
    match outcome {
        Outcome::Kept(time) | Outcome::Lost(time) => Some(*time),
        _ => None,
    }
}

fn reason_of(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Changed(reason) | Outcome::Impossible(reason) => Some(reason),
        _ => None,
    }
}

/// Lists the tools that are not installed, if any.
fn absent_tools(probe: &Probe) -> Option<String> {
    let tools: Vec<&str> = probe.absent.iter().copied().collect();
    (!tools.is_empty()).then(|| tools.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast::event::FileError;
    use steadfast_probe::{Direct, Group, NameUnit, Normalisation, Operation, Place, Traits};

    fn place(path: &str, traits: Result<Traits, FileError>) -> Place {
        let file_system = Some("ext4".to_owned());
        Place { path: path.into(), file_system, traits, left_behind: None }
    }

    fn traits(attributes: Result<(), FileError>) -> Traits {
        Traits {
            attributes,
            value_len_max: Some(4040),
            tag_space_bytes: Some(0),
            mtime_step_ns: Some(2_000_000_000),
            case_sensitive: Some(true),
            normalisation: Some(Normalisation::Distinct),
            any_bytes: None,
            name_len_max: Some(255),
            name_unit: NameUnit::Bytes,
            direct: Direct::Untold,
        }
    }

    fn probe() -> Probe {
        let refusal = || FileError::new("set an attribute", "no\x1bway");
        let impossible = || Outcome::Impossible("no\x1bway".to_owned());
        let operation = |group, name, from, outcomes| Operation { group, name, from, outcomes };
        let kept = Outcome::Kept(Time::New);
        Probe {
            places: vec![
                place("a\n", Ok(traits(Ok(())))),
                place("b", Ok(traits(Err(refusal())))),
                place("c", Err(FileError::new("make a folder", "no"))),
            ],
            operations: vec![
                operation(
                    Group::Copy,
                    "cp",
                    None,
                    vec![kept.clone(), impossible(), Outcome::NotTried],
                ),
                operation(Group::Save, "vim", None, vec![kept, impossible(), Outcome::NotTried]),
                operation(
                    Group::Between,
                    "mv",
                    Some(0),
                    vec![Outcome::NotTried, Outcome::Lost(Time::Cut), Outcome::NotTried],
                ),
            ],
            absent: ["rsync", "ditto"].into(),
            interrupted: false,
        }
    }

    #[test]
    fn a_table_for_people() {
        let mut out = Vec::new();
        write_table(&probe(), &mut out);
        let expected = "\
A  a\\n  (ext4)
B  b  (ext4)
C  c  (ext4)
   cannot make a folder: no

the file system                    A                  B                  C
  extended attributes              yes                no [1]             -
  longest value                    4,040 bytes        4,040 bytes        -
  a tag occupies                   nothing more       nothing more       -
  step of modification times       2 s                2 s                -
  upper and lower case             differ             differ             -
  composed and decomposed letters  differ             differ             -
  names that are no UTF-8          unknown            unknown            -
  longest name                     255 bytes          255 bytes          -
  direct reads                     granted, not told  granted, not told  -

copying, moving, packing           A                  B                  C
  cp                               kept, new time     impossible [2]     -

saving other contents              A                  B                  C
  vim                              kept               impossible [2]     -

to another file system             A                  B                  C
  mv from A                        -                  lost               -

[1] cannot set an attribute: no\\x1bway
[2] no\\x1bway
not installed, not tried: ditto, rsync
A tag that is kept with a new time is stale: a check reports touched. Kept with other contents: \
modified. Lost: untagged.
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn objects_for_programs() {
        let mut out = Vec::new();
        write_json(&probe(), &mut out);
        let lines = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = lines.lines().collect();
        let place = "{\"path\":\"a\\n\",\"file_system\":\"ext4\",\"attributes\":true,\
                     \"value_len_max\":4040,\"tag_space_bytes\":0,";
        assert!(lines[0].starts_with(place), "{}", lines[0]);
        assert!(lines[2].ends_with("\"error\":\"cannot make a folder: no\"}"), "{}", lines[2]);
        let copy = "{\"operation\":\"cp\",\"group\":\"copy\",\"outcomes\":[{\"path\":\"a\\n\",\
                    \"outcome\":\"kept\",\"time\":\"new\"},{\"path\":\"b\",\
                    \"outcome\":\"impossible\",\"reason\":\"no\\u001bway\"},{\"path\":\"c\",\
                    \"outcome\":\"not_tried\"}]}";
        assert_eq!(lines[3], copy);
        assert!(lines[5].contains("\"from\":{\"path\":\"a\\n\"}"), "{}", lines[5]);
        let end = "{\"summary\":{\"verb\":\"probe\",\"interrupted\":false,\"exit_status\":2,\
                   \"directories\":3,\"absent\":[\"ditto\",\"rsync\"]}}";
        assert_eq!(lines[6..], [end]);
    }
}
