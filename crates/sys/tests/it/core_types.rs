//! Core types, I/O schedulers and groups of processes: systems of `testdata/cores`, and this one.

use std::fs;
use std::path::PathBuf;

use steadfast_sys::cores::{CoreSource, Cores, Knowledge, cpu_list, parse_cpu_list};

fn root(system: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/cores")).join(system)
}

/// What a Mac tells.
fn of_mac(system: &str) -> Cores {
    let facts = fs::read_to_string(root(system).join("sysctl")).unwrap();
    Cores::of_perflevels(&|name| {
        let line = facts.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.map(str::to_owned)
    })
}

/// Names and processors of the classes.
fn classes(cores: &Cores) -> Vec<(&str, String, Option<usize>)> {
    let shown = cores.classes.iter();
    shown.map(|class| (class.name.as_str(), cpu_list(&class.cpus), class.physical)).collect()
}

#[test]
fn lists_of_processors_are_read_and_written() {
    for text in ["", "0", "0-3", "0,2-3,8", "1,3,5"] {
        assert_eq!(cpu_list(&parse_cpu_list(text).unwrap()), text);
    }
    assert_eq!(parse_cpu_list("3,1-2,2\n"), Some(vec![1, 2, 3]));
    for text in ["a", "3-1", "-1", "0-99999999999", "0-4294967295", "1 2"] {
        assert_eq!(parse_cpu_list(text), None, "{text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn one_type_though_some_cores_are_favoured() {
    let cores = Cores::beneath(&root("one"));
    assert_eq!((cores.knowledge, cores.source, cores.logical), (Knowledge::OneType, None, 8));
    assert_eq!(classes(&cores), [("one type", "0-7".to_owned(), Some(4))]);
    assert_eq!((cores.slower(), cores.slower_cpus()), (&[][..], None));
    let server = Cores::beneath(&root("arm-server"));
    assert_eq!((server.knowledge, server.classes.len()), (Knowledge::OneType, 1));
}

#[test]
#[cfg(target_os = "linux")]
fn intel_names_two_types_or_three() {
    let two = Cores::beneath(&root("intel-two"));
    assert_eq!((two.knowledge, two.source), (Knowledge::Types, Some(CoreSource::Named)));
    let expected = [
        ("performance (cpu_core)", "0-7".to_owned(), Some(4)),
        ("efficiency (cpu_atom)", "8-11".to_owned(), Some(4)),
    ];
    assert_eq!(classes(&two), expected);
    assert_eq!(two.classes[0].frequency_khz_max, Some(5_300_000));
    assert_eq!(two.slower_cpus(), Some(vec![8, 9, 10, 11]));
    let three = Cores::beneath(&root("intel-three"));
    let names: Vec<String> = classes(&three).into_iter().map(|(_, cpus, _)| cpus).collect();
    assert_eq!((three.logical, names), (9, vec!["0-3".into(), "4-6".into(), "8-9".into()]));
    assert_eq!(three.slower_cpus(), Some(vec![8, 9]));
}

#[test]
#[cfg(target_os = "linux")]
fn arm_tells_three_by_capacity() {
    let cores = Cores::beneath(&root("arm-three"));
    assert_eq!((cores.knowledge, cores.source), (Knowledge::Types, Some(CoreSource::Capacity)));
    let expected = [
        ("fastest", "7".to_owned(), Some(1)),
        ("middle", "4-6".to_owned(), Some(3)),
        ("slowest", "0-3".to_owned(), Some(4)),
    ];
    assert_eq!(classes(&cores), expected);
    let capacities: Vec<_> = cores.classes.iter().map(|class| class.capacity).collect();
    assert_eq!(capacities, [Some(1024), Some(620), Some(250)]);
    assert_eq!(cores.slower_cpus(), Some(vec![0, 1, 2, 3]));
    // One small core is not enough: the next class helps, the fastest never does.
    let single = Cores::beneath(&root("arm-single"));
    assert_eq!(single.slower_cpus(), Some(vec![0, 1, 2, 3]));
}

#[test]
#[cfg(target_os = "linux")]
fn frequencies_tell_types_that_nothing_else_does() {
    let cores = Cores::beneath(&root("compact"));
    assert_eq!((cores.knowledge, cores.source), (Knowledge::Types, Some(CoreSource::Frequency)));
    assert_eq!(cores.slower_cpus(), Some(vec![2, 3, 4, 5]));
}

#[test]
#[cfg(target_os = "linux")]
fn of_a_virtual_machine_nothing_is_believed() {
    for (system, logical) in [("virtual", 2), ("virtual-arm", 8)] {
        let cores = Cores::beneath(&root(system));
        assert_eq!(cores.knowledge, Knowledge::VirtualMachine, "{system}");
        assert_eq!((cores.classes.len(), cores.logical), (0, logical), "{system}");
        assert_eq!(cores.slower_cpus(), None);
    }
    for system in ["untold", "nowhere"] {
        let cores = Cores::beneath(&root(system));
        assert_eq!((cores.knowledge, cores.classes.len()), (Knowledge::NotTold, 0), "{system}");
    }
}

#[test]
fn macs_tell_levels_without_numbers() {
    let two = of_mac("mac-two");
    assert_eq!((two.knowledge, two.source), (Knowledge::Types, Some(CoreSource::Named)));
    let expected =
        [("Performance", String::new(), Some(6)), ("Efficiency", String::new(), Some(2))];
    assert_eq!(classes(&two), expected);
    assert_eq!((two.slower()[0].logical, two.slower_cpus()), (2, None));
    let three = of_mac("mac-three");
    let slower: Vec<&str> = three.slower().iter().map(|class| class.name.as_str()).collect();
    assert_eq!((three.classes.len(), slower), (3, vec!["Efficiency"]));
    let intel = of_mac("mac-intel");
    assert_eq!((intel.knowledge, intel.logical), (Knowledge::OneType, 16));
    let guest = of_mac("mac-virtual");
    assert_eq!((guest.knowledge, guest.classes.len()), (Knowledge::VirtualMachine, 0));
}

#[test]
fn this_machine_says_something_that_holds_together() {
    let cores = Cores::of_machine();
    assert!(cores.logical > 0);
    match cores.knowledge {
        Knowledge::Types => assert!(cores.classes.len() > 1 && cores.source.is_some()),
        Knowledge::OneType => assert_eq!(cores.classes.len(), 1),
        Knowledge::VirtualMachine | Knowledge::NotTold => assert_eq!(cores.classes, []),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::root;
    use steadfast_sys::qos::devices::{Honours, block_devices};
    use steadfast_sys::qos::has_uclamp;
    use steadfast_sys::qos::session::{Grouping, grouping};

    #[test]
    fn each_scheduler_is_known_for_what_it_honours() {
        let devices = block_devices(&root("one"));
        let told: Vec<_> = devices
            .iter()
            .map(|device| (device.name.as_str(), device.scheduler.as_deref(), device.honours))
            .collect();
        let expected = [
            ("dm-0", None, Honours::Nothing),
            ("mmcblk0", Some("none"), Honours::Nothing),
            ("nvme0n1", Some("none"), Honours::Nothing),
            ("sda", Some("bfq"), Honours::ClassesAndLevels),
            ("sdb", Some("mq-deadline"), Honours::Classes),
            ("sdc", Some("kyber"), Honours::Nothing),
            ("sdd", Some("adios"), Honours::Unknown),
        ];
        assert_eq!(told, expected);
        assert_eq!(block_devices(&root("untold")), []);
    }

    #[test]
    fn a_control_group_goes_before_a_session() {
        let group = |name: &str, weight, idle| Grouping::ControlGroup {
            name: name.to_owned(),
            weight,
            idle,
        };
        for (system, expected) in [
            ("one", Grouping::Session { nice: 0 }),
            ("intel-two", group("/user.slice/user-1000.slice", Some(200), false)),
            ("intel-three", group("/app.slice/backup.service", Some(1), true)),
            ("arm-three", group("/bg", None, false)),
            ("arm-single", Grouping::Threads),
            ("untold", Grouping::Threads),
        ] {
            assert_eq!(grouping(&root(system)), expected, "{system}");
        }
    }

    #[test]
    fn a_kernel_with_utilisation_clamps_says_so() {
        assert_eq!(has_uclamp(&root("compact")), Some(true));
        assert_eq!(has_uclamp(&root("one")), Some(false));
    }
}
