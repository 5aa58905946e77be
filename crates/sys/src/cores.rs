//! Core types: classes of processors in order of their speed, or why they are not known.
//!
//! Nothing is guessed. There may be more than two classes. No system tells afterwards which
//! processors a thread ran on.

#[cfg_attr(target_os = "linux", path = "cores/linux.rs")]
#[cfg_attr(target_os = "macos", path = "cores/macos.rs")]
mod platform;

use std::collections::BTreeMap;
use std::path::Path;

use strum::IntoStaticStr;

/// Processors of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreClass {
    /// The name that the system gives the type, or else its rank.
    pub name: String,
    /// The numbers of its logical processors, ascending; empty if the system has no numbers.
    pub cpus: Vec<usize>,
    /// How many logical processors it has.
    pub logical: usize,
    /// How many cores it has, if the system tells.
    pub physical: Option<usize>,
    /// Its capacity by the scale on which the fastest has 1024, if the system tells.
    pub capacity: Option<u32>,
    /// The highest frequency in kHz, if the system tells.
    pub frequency_khz_max: Option<u64>,
}

/// What is known about the types of the processors of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Knowledge {
    /// The types differ, and the classes are known.
    Types,
    /// All are of one type.
    OneType,
    /// The machine is virtual: its host may run it on any processor at any time.
    VirtualMachine,
    /// The system does not tell.
    NotTold,
}

impl Knowledge {
    /// Returns the name, as documents have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How the classes were distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum CoreSource {
    /// The kernel names the types: `cpu_core` and `cpu_atom`, `hw.perflevel0` and so on.
    Named,
    /// By `cpu_capacity`.
    Capacity,
    /// By their highest frequencies.
    Frequency,
}

impl CoreSource {
    /// Returns the name, as documents have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The core types of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cores {
    /// What is known.
    pub knowledge: Knowledge,
    /// The classes, the fastest first: two or more if the types differ, one if not, none if they
    /// are not known.
    pub classes: Vec<CoreClass>,
    /// How they were distinguished, if the types differ.
    pub source: Option<CoreSource>,
    /// How many logical processors are in use in all.
    pub logical: usize,
}

impl Cores {
    /// Returns the core types of this machine.
    #[must_use]
    pub fn of_machine() -> Cores {
        platform::of_machine()
    }

    /// Reads the files of a Linux system beneath `root` in place of `/`. Elsewhere there are no
    /// such files, and the types are not known.
    #[must_use]
    pub fn beneath(root: &Path) -> Cores {
        platform::beneath(root)
    }

    /// Makes the classes from the facts of macOS: `hw.nperflevels` and `hw.perflevelN`, of which 0
    /// is the fastest.
    ///
    /// Source: `sysctl.h` of macOS 12: `hw.perflevelN.{name,logicalcpu,physicalcpu}`.
    #[must_use]
    pub fn of_perflevels(fact: &dyn Fn(&str) -> Option<String>) -> Cores {
        let number = |name: &str| fact(name)?.trim().parse::<usize>().ok();
        let logical = number("hw.logicalcpu").unwrap_or(0);
        if number("kern.hv_vmm_present").is_some_and(|present| present != 0) {
            return Cores::without_classes(Knowledge::VirtualMachine, logical);
        }
        // Macs with Intel processors have no levels and one type of core.
        let levels = number("hw.nperflevels").unwrap_or(1);
        let class = |level: usize| {
            let of_level = |what: &str| format!("hw.perflevel{level}.{what}");
            Some(CoreClass {
                name: fact(&of_level("name")).unwrap_or_else(|| format!("level {level}")),
                cpus: Vec::new(),
                logical: number(&of_level("logicalcpu"))?,
                physical: number(&of_level("physicalcpu")),
                capacity: None,
                frequency_khz_max: None,
            })
        };
        let classes: Option<Vec<CoreClass>> = (0..levels).map(class).collect();
        match classes {
            Some(classes) if levels > 1 => Cores {
                knowledge: Knowledge::Types,
                classes,
                source: Some(CoreSource::Named),
                logical,
            },
            None if levels > 1 => Cores::without_classes(Knowledge::NotTold, logical),
            _ => {
                let physical = number("hw.physicalcpu");
                Cores::of_one_type(Vec::new(), logical, physical)
            }
        }
    }

    /// Returns the classes for background work: the slowest, and the next slowest until they have
    /// two processors together. The fastest is never among them. Empty if the types do not differ
    /// or are not known.
    #[must_use]
    pub fn slower(&self) -> &[CoreClass] {
        let mut logical = 0;
        let wanted = self.classes.iter().rev().take_while(|class| {
            let wanted = logical < 2;
            logical += class.logical;
            wanted
        });
        let first = self.classes.len() - wanted.count();
        &self.classes[first.max(1).min(self.classes.len())..]
    }

    /// Returns the numbers of the processors of [`Cores::slower`], ascending; `None` if there are
    /// none, or the system numbers none.
    #[must_use]
    pub fn slower_cpus(&self) -> Option<Vec<usize>> {
        let mut cpus: Vec<usize> =
            self.slower().iter().flat_map(|class| class.cpus.iter().copied()).collect();
        cpus.sort_unstable();
        (!cpus.is_empty()).then_some(cpus)
    }

    /// Returns the share of processor time, 0 to 1, that was on the fastest class.
    ///
    /// `spent_ns` has the processor time on each processor, by number, in nanoseconds. `None` if
    /// the types do not differ, or none of these processors has a known type.
    #[must_use]
    pub fn performance_share(&self, spent_ns: &BTreeMap<usize, u64>) -> Option<f64> {
        let (fastest, slower) =
            self.classes.split_first().filter(|(_, slower)| !slower.is_empty())?;
        let on = |class: &CoreClass| -> u64 {
            class.cpus.iter().filter_map(|cpu| spent_ns.get(cpu)).sum()
        };
        let known_ns = on(fastest) + slower.iter().map(on).sum::<u64>();
        (known_ns > 0).then(|| on(fastest) as f64 / known_ns as f64)
    }

    fn without_classes(knowledge: Knowledge, logical: usize) -> Cores {
        Cores { knowledge, classes: Vec::new(), source: None, logical }
    }

    fn of_one_type(cpus: Vec<usize>, logical: usize, physical: Option<usize>) -> Cores {
        let name = "one type".to_owned();
        let (capacity, frequency_khz_max) = (None, None);
        let class = CoreClass { name, cpus, logical, physical, capacity, frequency_khz_max };
        Cores { knowledge: Knowledge::OneType, classes: vec![class], source: None, logical }
    }
}

/// Reads a list of processors as Linux writes it: `0-3,8,10-11`.
///
/// `None` for anything else, and for more processors than any machine has.
#[must_use]
pub fn parse_cpu_list(text: &str) -> Option<Vec<usize>> {
    const CPUS_MAX: usize = 1 << 16;
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        if first > last || last >= CPUS_MAX {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// Writes processors as Linux does: `0-3,8,10-11`.
#[must_use]
pub fn cpu_list(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let written = ranges.into_iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    written.collect::<Vec<_>>().join(",")
}
