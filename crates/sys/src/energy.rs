//! Energy, and on which type of core this process ran.
//!
//! The difference of two readings tells what happened in between.

#[cfg_attr(target_os = "linux", path = "energy/linux.rs")]
#[cfg_attr(target_os = "macos", path = "energy/macos.rs")]
mod platform;

/// What was used until a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnergyReading {
    /// Processor time of this process, in nanoseconds.
    pub cpu_ns: u64,
    /// The part of it on performance cores, in nanoseconds; `None` if the system does not tell.
    pub performance_cpu_ns: Option<u64>,
    /// Energy, in nanojoules; `None` if the system does not tell.
    pub energy_nj: Option<u64>,
    /// The part of it that performance cores used, in nanojoules.
    pub performance_energy_nj: Option<u64>,
    /// Processor time in each QoS class, by the system's names, in nanoseconds; empty if the system
    /// does not tell.
    pub levels: Vec<(&'static str, u64)>,
    /// Whether the energy is that of all processors of the machine, with whatever else ran, and not
    /// of this process alone.
    pub of_machine: bool,
}

impl EnergyReading {
    /// Reads what was used until now.
    ///
    /// macOS: `proc_pid_rusage`, of this process, from macOS 13 on. Linux: the counters of the
    /// processor packages (RAPL), which usually only root may read. No system call tells there on
    /// which cores a process ran; [`crate::cores::Cores::performance_share`] adds that for a run.
    #[must_use]
    pub fn now() -> Self {
        platform::now()
    }

    /// Returns what was used since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let part = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        let levels = self.levels.iter().zip(&earlier.levels);
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            performance_cpu_ns: part(self.performance_cpu_ns, earlier.performance_cpu_ns),
            energy_nj: part(self.energy_nj, earlier.energy_nj),
            performance_energy_nj: part(self.performance_energy_nj, earlier.performance_energy_nj),
            levels: levels
                .map(|((level, now), (_, then))| (*level, now.saturating_sub(*then)))
                .collect(),
            of_machine: self.of_machine,
        }
    }

    /// Returns the share of the processor time that was on performance cores, 0 to 1.
    #[must_use]
    pub fn performance_share(&self) -> Option<f64> {
        let fast_ns = self.performance_cpu_ns.filter(|_| self.cpu_ns > 0)?;
        Some((fast_ns as f64 / self.cpu_ns as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(cpu_ns: u64, fast_ns: Option<u64>, energy_nj: Option<u64>) -> EnergyReading {
        EnergyReading {
            cpu_ns,
            performance_cpu_ns: fast_ns,
            energy_nj,
            levels: vec![("default", cpu_ns)],
            ..EnergyReading::default()
        }
    }

    #[test]
    fn two_readings_tell_what_was_used_between() {
        let (then, now) = (reading(100, Some(40), Some(9)), reading(300, Some(90), Some(30)));
        let used = now.since(&then);
        assert_eq!((used.cpu_ns, used.performance_cpu_ns), (200, Some(50)));
        assert_eq!((used.energy_nj, used.levels), (Some(21), vec![("default", 200)]));
        assert_eq!(now.since(&then).performance_share(), Some(0.25));
    }

    #[test]
    fn what_was_not_told_twice_is_not_known() {
        let (some, none) = (reading(9, Some(4), Some(7)), reading(5, None, None));
        assert_eq!(some.since(&none).energy_nj, None);
        assert_eq!(some.since(&none).performance_share(), None);
        // A counter that began anew says nothing.
        assert_eq!(reading(9, Some(1), Some(1)).since(&some).energy_nj, None);
        assert_eq!(reading(0, Some(0), None).performance_share(), None);
    }
}
