//! Amdahl's law: which share of a task a kernel had, and how much the task can gain.
//!
//! A cipher that becomes twenty times as fast and halves the time of a task had a little more than
//! half of that time.
//!
//! Source: G. M. Amdahl, "Validity of the single processor approach to achieving large scale
//! computing capabilities", AFIPS Conference Proceedings 30 (1967).

/// The gain of a task and of its kernel.
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
    /// Derives the share of the kernel from both gains.
    ///
    /// `None` if the kernel did not gain, or if the task became slower or gained more than its
    /// kernel: then something else changed.
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
