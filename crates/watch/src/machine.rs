//! The facts of the machine that decide whether a run waits.

use steadfast_sys::machine;

/// Returns whether the machine runs on its battery, if the system tells.
pub(crate) fn on_battery() -> Option<bool> {
    machine::on_mains().map(|mains| !mains)
}

/// Returns the load average for each processor, if the system tells.
pub(crate) fn load() -> Option<f64> {
    machine::load_average().map(|load| load / machine::logical_cpus().max(1) as f64)
}
