//! Core types on Linux, from `/sys` and `/proc/cpuinfo`.
//!
//! Favoured cores of one type differ a little in frequency. In a virtual machine the types are not
//! known.

use std::collections::BTreeSet;
use std::path::Path;

use super::{CoreClass, CoreSource, Cores, Knowledge, parse_cpu_list};
use crate::kernel_files::{number, text};

/// The types that Intel's kernel drivers name, the fastest first, with our names for them.
const NAMED: [(&str, &str); 3] = [
    ("cpu_core", "performance (cpu_core)"),
    ("cpu_atom", "efficiency (cpu_atom)"),
    ("cpu_lowpower", "low-power efficiency (cpu_lowpower)"),
];

/// From this ratio in percent on, two capacities are of two types. Cores of one type in servers
/// have capacities some percent apart; the types in phones and laptops differ by more.
const CAPACITY_RATIO_PERCENT: u64 = 110;

/// From this ratio in percent on, two highest frequencies are of two types. Favoured cores of one
/// type are up to a tenth faster than the others; compact cores are a quarter slower or more.
const FREQUENCY_RATIO_PERCENT: u64 = 120;

/// Names of virtual machines in the firmware, in lower case.
const VIRTUAL: [&str; 10] = [
    "qemu",
    "kvm",
    "vmware",
    "virtualbox",
    "innotek",
    "xen",
    "bochs",
    "virtual machine",
    "apple virtualization",
    "google compute engine",
];

/// Reads the files of the running kernel.
pub(super) fn of_machine() -> Cores {
    beneath(Path::new("/"))
}

/// Reads the files of a system beneath `root`.
pub(super) fn beneath(root: &Path) -> Cores {
    let cpus = online(root);
    if is_virtual(root) {
        return Cores::without_classes(Knowledge::VirtualMachine, cpus.len());
    }
    let capacity = |cpu: &usize| number(cpu_folder(root, *cpu).join("cpu_capacity"));
    let frequency = |cpu: &usize| number(cpu_folder(root, *cpu).join("cpufreq/cpuinfo_max_freq"));
    let told = [
        (named_classes(root, &cpus), CoreSource::Named),
        (grouped(&cpus, capacity, CAPACITY_RATIO_PERCENT), CoreSource::Capacity),
        (grouped(&cpus, frequency, FREQUENCY_RATIO_PERCENT), CoreSource::Frequency),
    ];
    // Equal capacities do not prove one type: the frequencies may still differ.
    let mut told: Vec<(Vec<CoreGroup>, CoreSource)> =
        told.into_iter().filter_map(|(groups, source)| Some((groups?, source))).collect();
    let apart = told.iter().position(|(groups, _)| groups.len() > 1);
    if told.is_empty() {
        return Cores::without_classes(Knowledge::NotTold, cpus.len());
    }
    let (groups, source) = told.swap_remove(apart.unwrap_or(0));
    if groups.len() == 1 {
        let physical = physical(root, &cpus);
        let logical = cpus.len();
        return Cores::of_one_type(cpus, logical, physical);
    }
    let classes = groups.into_iter().map(|(name, cpus)| class(root, name, cpus)).collect();
    let logical = cpus.len();
    Cores { knowledge: Knowledge::Types, classes, source: Some(source), logical }
}

/// The name of a class, and its processors.
type CoreGroup = (String, Vec<usize>);

/// Returns the types that the kernel names and that have processors in use.
fn named_classes(root: &Path, online: &[usize]) -> Option<Vec<CoreGroup>> {
    let mut groups = Vec::new();
    for (folder, name) in NAMED {
        let places = ["sys/devices", "sys/bus/event_source/devices"];
        let list = places.iter().find_map(|place| text(root.join(place).join(folder).join("cpus")));
        let Some(cpus) = list.as_deref().and_then(parse_cpu_list) else { continue };
        let cpus: Vec<usize> = cpus.into_iter().filter(|cpu| online.contains(cpu)).collect();
        if !cpus.is_empty() {
            groups.push((name.to_owned(), cpus));
        }
    }
    let together: usize = groups.iter().map(|(_, cpus)| cpus.len()).sum();
    // If a processor has no named type, its type is unknown.
    (!groups.is_empty() && together == online.len()).then_some(groups)
}

/// Splits processors where the sorted values have a gap; `None` unless each has a value.
fn grouped(
    cpus: &[usize],
    value: impl Fn(&usize) -> Option<u64>,
    ratio_percent: u64,
) -> Option<Vec<CoreGroup>> {
    let mut valued: Vec<(u64, usize)> =
        cpus.iter().map(|cpu| Some((value(cpu)?, *cpu))).collect::<Option<_>>()?;
    valued.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut last = 0;
    for (value, cpu) in valued {
        match groups.last_mut() {
            Some(group) if last * 100 < value.saturating_mul(ratio_percent) => group.push(cpu),
            _ => groups.push(vec![cpu]),
        }
        last = value;
    }
    let count = groups.len();
    let named = groups.into_iter().enumerate().map(|(rank, mut cpus)| {
        cpus.sort_unstable();
        (rank_name(rank, count).to_owned(), cpus)
    });
    (count > 0).then(|| named.collect())
}

/// Names a class by its rank, if the system does not name it.
fn rank_name(rank: usize, count: usize) -> &'static str {
    match (rank, count) {
        (_, 1) => "one type",
        (0, _) => "fastest",
        (rank, count) if rank + 1 == count => "slowest",
        (1, 3) => "middle",
        _ => "between",
    }
}

fn class(root: &Path, name: String, cpus: Vec<usize>) -> CoreClass {
    let most = |file: &str| {
        let values = cpus.iter().filter_map(|cpu| number::<u64>(cpu_folder(root, *cpu).join(file)));
        values.max()
    };
    CoreClass {
        name,
        logical: cpus.len(),
        physical: physical(root, &cpus),
        capacity: most("cpu_capacity").and_then(|capacity| u32::try_from(capacity).ok()),
        frequency_khz_max: most("cpufreq/cpuinfo_max_freq"),
        cpus,
    }
}

/// Counts cores: the processors of one core list the same siblings.
fn physical(root: &Path, cpus: &[usize]) -> Option<usize> {
    let siblings = |cpu: &usize| {
        let topology = cpu_folder(root, *cpu).join("topology");
        text(topology.join("core_cpus_list"))
            .or_else(|| text(topology.join("thread_siblings_list")))
    };
    let cores: Option<BTreeSet<String>> = cpus.iter().map(siblings).collect();
    cores.map(|cores| cores.len())
}

/// The processors in use.
fn online(root: &Path) -> Vec<usize> {
    let list = text(root.join("sys/devices/system/cpu/online"));
    list.as_deref().and_then(parse_cpu_list).unwrap_or_default()
}

/// Returns whether the flags of the processor or the firmware name a hypervisor.
fn is_virtual(root: &Path) -> bool {
    let facts = text(root.join("proc/cpuinfo")).unwrap_or_default();
    let mut flags = facts.lines().filter(|line| line.starts_with("flags"));
    if flags.any(|line| line.split_whitespace().any(|flag| flag == "hypervisor")) {
        return true;
    }
    let hypervisor = ["sys/hypervisor/type", "proc/device-tree/hypervisor/compatible"];
    if hypervisor.iter().any(|place| root.join(place).exists()) {
        return true;
    }
    let firmware = |name: &str| {
        let text = text(root.join("sys/class/dmi/id").join(name));
        text.map(|text| text.to_lowercase()).unwrap_or_default()
    };
    let (vendor, product) = (firmware("sys_vendor"), firmware("product_name"));
    let rented = vendor == "amazon ec2" && !product.contains("metal");
    rented || VIRTUAL.iter().any(|name| vendor.contains(name) || product.contains(name))
}

fn cpu_folder(root: &Path, cpu: usize) -> std::path::PathBuf {
    root.join(format!("sys/devices/system/cpu/cpu{cpu}"))
}
