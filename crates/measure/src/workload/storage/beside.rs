//! Evidence of disturbances while files are timed.
//!
//! Measures the processor time of other processes during a sample, the frequency and the
//! temperature.

use steadfast_sys::machine;

use crate::record::Beside;
use crate::runner::Timed;

/// The counters of the system.
#[derive(Clone, Copy, Debug)]
pub(in crate::workload) struct Counted {
    busy_ns: Option<u64>,
    stolen_ns: Option<u64>,
}

impl Counted {
    /// Reads the counters before a sample.
    pub(in crate::workload) fn now() -> Counted {
        Counted { busy_ns: machine::busy_ns(), stolen_ns: machine::stolen_ns() }
    }

    /// Reads them again after the sample, and returns the difference.
    pub(in crate::workload) fn beside(self, timed: Timed) -> Option<Beside> {
        let since = |before: Option<u64>, now: Option<u64>| Some(now?.saturating_sub(before?));
        let busy_ns = since(self.busy_ns, machine::busy_ns());
        let beside = Beside {
            others_ns: busy_ns.map(|busy_ns| busy_ns.saturating_sub(timed.cpu_ns)),
            stolen_ns: since(self.stolen_ns, machine::stolen_ns()),
            frequency_khz: machine::frequency_khz(),
            clock_khz: None,
            temperature_millidegrees: machine::temperature_millidegrees(),
        };
        (beside != Beside::default()).then_some(beside)
    }
}
