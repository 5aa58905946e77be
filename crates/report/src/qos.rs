//! Documents about the effect of QoS levels on a machine: text, or JSON lines.
//!
//! In: what the machine offers, and the levels that were tried. Out: bytes, with names from the
//! system escaped. `docs/reference/qos.md` specifies the JSON form. Asks nothing of the system
//! itself.

mod json;
mod text;

use steadfast::qos::{Confinement, Cores, Grouping, Honours, Knowledge, Offer, Step};

pub use json::write_json;
pub use text::write_text;

use crate::escape;

/// States what is known of the core types.
fn knowledge_words(cores: &Cores) -> &'static str {
    match cores.knowledge {
        Knowledge::Types => "types that differ",
        Knowledge::OneType => "all of one type",
        Knowledge::VirtualMachine => {
            "types cannot be known: a virtual machine's processors may be any of its host's"
        }
        Knowledge::NotTold => "types not known: the system does not tell",
    }
}

/// States why a level could not be confined to slower processors, if it should have been.
fn confinement_words(confinement: &Confinement) -> Option<&'static str> {
    match confinement {
        Confinement::Free | Confinement::To(_) => None,
        Confinement::NotPossible(Knowledge::OneType) => {
            Some("slower processors: none, all are of one type")
        }
        Confinement::NotPossible(Knowledge::VirtualMachine) => {
            Some("slower processors: cannot be known in a virtual machine")
        }
        Confinement::NotPossible(Knowledge::NotTold) => {
            Some("slower processors: the system does not tell")
        }
        Confinement::NotPossible(Knowledge::Types) => {
            Some("slower processors: the system chooses them by the level")
        }
    }
}

fn honours_words(honours: Honours) -> &'static str {
    match honours {
        Honours::ClassesAndLevels => "I/O priorities count",
        Honours::Classes => "of I/O priorities the classes count (idle last), not the levels",
        Honours::Nothing => "I/O priorities do not count",
        Honours::Unknown => "whether I/O priorities count is not known",
    }
}

/// States what the process shares the processors with, and what that means for levels.
fn grouping_words(grouping: &Grouping) -> String {
    match grouping {
        Grouping::Threads => "by thread: levels count between all threads".to_owned(),
        Grouping::Session { nice } => format!(
            "by session (autogroup, this one's nice {nice}): levels count within a session; a run \
             below default starts one of its own"
        ),
        Grouping::ControlGroup { name, weight, idle } => {
            let weight = match (idle, weight) {
                (true, _) => ", idle".to_owned(),
                (false, Some(weight)) => format!(", weight {weight}"),
                (false, None) => String::new(),
            };
            let name = escape::text(name);
            format!("by control group ({name}{weight}): levels count within the group only")
        }
    }
}

fn uclamp_words(offer: &Offer) -> Option<&'static str> {
    offer.uclamp.map(|there| match there {
        true => "the kernel takes it (uclamp)",
        false => "the kernel is built without it (uclamp)",
    })
}

/// Returns the outcome of a step.
fn outcome_words(step: &Step) -> String {
    match &step.result {
        Ok(()) => "done".to_owned(),
        Err(error) => format!("refused: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use steadfast::Level;
    use steadfast::qos::{BlockDevice, CoreClass, CoreSource, Fact, Trial};

    use super::*;

    fn offer(cores: Cores) -> Offer {
        let device = |name: &str, scheduler: Option<&str>| BlockDevice {
            name: name.to_owned(),
            scheduler: scheduler.map(str::to_owned),
            honours: scheduler.map_or(Honours::Nothing, Honours::of),
        };
        Offer {
            cpu_model: "Example\x1b 9".to_owned(),
            cores,
            uclamp: Some(false),
            grouping: Grouping::ControlGroup {
                name: "/user.slice".to_owned(),
                weight: Some(100),
                idle: false,
            },
            devices: vec![device("dm-0", None), device("sda", Some("bfq"))],
            thread: vec![Fact { what: "nice", value: "nice 0".to_owned() }],
        }
    }

    fn class(name: &str, cpus: &[usize], physical: usize) -> CoreClass {
        CoreClass {
            name: name.to_owned(),
            cpus: cpus.to_vec(),
            logical: cpus.len(),
            physical: Some(physical),
            capacity: None,
            frequency_khz_max: Some(5_100_000),
        }
    }

    fn two() -> Cores {
        Cores {
            knowledge: Knowledge::Types,
            classes: vec![class("fast", &[0, 1, 2, 3], 2), class("slow", &[4, 5], 2)],
            source: Some(CoreSource::Named),
            logical: 6,
        }
    }

    fn trial(confinement: Confinement) -> Trial {
        let refused = io::Error::new(io::ErrorKind::PermissionDenied, "not for you");
        Trial {
            level: Level::Background,
            steps: vec![
                Step { what: "nice 19".to_owned(), result: Ok(()) },
                Step { what: "processors 4-5".to_owned(), result: Err(refused) },
            ],
            confinement,
            workers: 2,
            thread: vec![Fact { what: "nice", value: "nice 19".to_owned() }],
        }
    }

    #[test]
    fn a_page_for_people() {
        let mut out = Vec::new();
        let trials = [trial(Confinement::To(vec![4, 5]))];
        write_text(&offer(two()), &trials, &mut out);
        let expected = "\
Example\\x1b 9: 6 processors in use, types that differ
  fast  4 processors (0-3), 2 cores, up to 5.10 GHz
  slow  2 processors (4-5), 2 cores, up to 5.10 GHz; background is confined to these
utilisation  the kernel is built without it (uclamp)
processors are shared  by control group (/user.slice, weight 100): levels count within the group \
only
dm-0  no I/O scheduler: I/O priorities do not count
sda   bfq: I/O priorities count
this thread  nice 0

background (9, --pace tortoise): 2 workers
  nice 19         done
  processors 4-5  refused: not for you
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_known_is_said() {
        let cores = Cores {
            knowledge: Knowledge::VirtualMachine,
            classes: Vec::new(),
            source: None,
            logical: 2,
        };
        let mut out = Vec::new();
        let confinement = Confinement::NotPossible(Knowledge::VirtualMachine);
        write_text(&offer(cores), &[trial(confinement)], &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("2 processors in use, types cannot be known: a virtual machine"));
        assert!(text.ends_with("slower processors: cannot be known in a virtual machine\n"));
    }

    #[test]
    fn objects_for_programs() {
        let mut out = Vec::new();
        write_json(&offer(two()), &[trial(Confinement::To(vec![4, 5]))], &mut out);
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        let machine = "{\"machine\":{\"cpu_model\":\"Example\\u001b 9\",\"core_types\":\"types\",\
                       \"told_by\":\"named\",\"logical\":6,\"classes\":[{\"name\":\"fast\",\
                       \"cpus\":[0,1,2,3],\"logical\":4,\"physical\":2,\"capacity\":null,\
                       \"frequency_khz_max\":5100000,\"slower\":false},";
        assert!(lines[0].starts_with(machine), "{}", lines[0]);
        assert!(lines[0].contains("\"uclamp\":false,\"shared_by\":\"control_group\""));
        let device =
            "{\"device\":\"sda\",\"scheduler\":\"bfq\",\"honours\":\"classes_and_levels\"}";
        assert_eq!(lines[2], device);
        let level = "{\"level\":\"background\",\"number\":9,\"pace\":\"tortoise\",\"workers\":2,\
                     \"confined_to\":[4,5],\"steps\":[{\"what\":\"nice 19\",\"done\":true},\
                     {\"what\":\"processors 4-5\",\"done\":false,\"error\":\"not for you\"}],\
                     \"thread\":{\"nice\":\"nice 19\"}}";
        assert_eq!(lines[3], level);
        let summary = "{\"summary\":{\"verb\":\"qos show\",\"levels\":1,\"steps\":2,\
                       \"refused\":1,\"exit_status\":0}}";
        assert_eq!(lines[4], summary);
    }
}
