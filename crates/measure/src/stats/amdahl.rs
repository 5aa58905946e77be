//! Gains of a part and of the whole → how large the part was.
//!
//! In: how many times faster a kernel became, and the task that uses it. Out: the share of the
//! task's time that the kernel must have had, and how far the task could gain at most. A cipher
//! twenty times as fast that halves the time of a task had little more than half of it.
//!
//! Source: G. M. Amdahl, "Validity of the single processor approach to achieving large scale
//! computing capabilities", AFIPS Conference Proceedings 30 (1967).

/// The account of a gain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amdahl {
    /// How many times faster the kernel became.
    pub kernel_gain: f64,
    /// How many times faster the task became.
    pub task_gain: f64,
    /// Share of the slow task's time that the kernel had, 0 to 1.
    pub share: f64,
}

impl Amdahl {
    /// Accounts for a gain.
    ///
    /// `None` if the kernel did not gain, or if the task lost or gained more than its kernel:
    /// then something else changed, and there is no share to tell.
    pub fn of(kernel_gain: f64, task_gain: f64) -> Option<Amdahl> {
        let explained = kernel_gain > 1.0 && (1.0..=kernel_gain).contains(&task_gain);
        let share = (1.0 - 1.0 / task_gain) / (1.0 - 1.0 / kernel_gain);
        (explained && share.is_finite()).then_some(Amdahl { kernel_gain, task_gain, share })
    }

    /// Returns how many times faster the task would be if the kernel took no time: infinite if the
    /// kernel is all of it.
    pub fn limit(&self) -> f64 {
        1.0 / (1.0 - self.share)
    }
}

/// Predicts how many times faster a task becomes, of whose time a kernel has a share, 0 to 1.
pub fn gain_of_task(share: f64, kernel_gain: f64) -> f64 {
    1.0 / (1.0 - share + share / kernel_gain)
}
