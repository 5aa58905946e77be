//! Names the cause of a step of the rate, if there is evidence.
//!
//! A full cache and a hot device look alike in the rates, so rates alone prove no cause.

use strum::IntoStaticStr;

use super::changes::Change;

/// The cause of a step of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Cause {
    /// The fast part of the medium was full.
    #[strum(serialize = "write cache exhausted")]
    CacheExhausted,
    /// The processor was slowed down because of heat or lack of power.
    Throttling,
    /// Something else used the machine.
    #[strum(serialize = "other work")]
    OtherWork,
    /// No evidence explains it.
    Unexplained,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Cause; 4] =
        [Cause::CacheExhausted, Cause::Throttling, Cause::OtherWork, Cause::Unexplained];

    /// Returns the words that documents show.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The direction of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the medium, or no transfer.
    Read,
    /// To the medium.
    Write,
}

/// The evidence for the cause of a step. What was not measured is `None`, and proves no cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// The direction of the bytes.
    pub direction: Direction,
    /// Rate of hashing in memory after the step ÷ before it, measured in the same time.
    pub in_core_ratio: Option<f64>,
    /// Processor frequency after ÷ before.
    pub frequency_ratio: Option<f64>,
    /// Rise of the temperature, in kelvin.
    pub temperature_rise_k: Option<f64>,
    /// Rise of the load average beyond our own threads, in processors.
    pub load_rise: Option<f64>,
    /// Rise of the share of time that the host of a virtual machine took, 0 to 1.
    pub steal_rise: Option<f64>,
    /// Whether the former rate returned after idling.
    pub recovered_after_idle: Option<bool>,
    /// Bytes written since idling when the rate stepped before: in an earlier round, or an earlier
    /// record of the same medium.
    pub earlier_at_amount: Option<f64>,
}

impl Evidence {
    /// Returns evidence with the direction only.
    pub const fn none(direction: Direction) -> Evidence {
        Evidence {
            direction,
            in_core_ratio: None,
            frequency_ratio: None,
            temperature_rise_k: None,
            load_rise: None,
            steal_rise: None,
            recovered_after_idle: None,
            earlier_at_amount: None,
        }
    }
}

/// A ratio below which a rate in memory or a frequency counts as lower: rates of hashing in memory
/// repeat within 2 %.
const FALLEN: f64 = 0.95;

/// A rise of temperature that indicates throttling, in kelvin.
const WARMER_K: f64 = 5.0;

/// Rises of the load, in processors, and of the stolen share, that slow down other work.
const LOAD_RISEN: f64 = 0.5;
const STEAL_RISEN: f64 = 0.05;

/// Amounts that differ by less, as a share, count as the same place on a medium.
const SAME_PLACE: f64 = 0.15;

/// Names the cause of a step.
///
/// - Other work: the load or the stolen share rose with the step.
/// - Throttling: hashing in memory fell as well, and the frequency fell or the temperature rose.
/// - Cache exhausted: a write, none of the above, the former rate returned after idling, and an
///   earlier step came after as many bytes. Without the earlier step, it could be a hot device.
///
/// A step up never has a cause.
pub fn cause(change: &Change, evidence: &Evidence) -> Cause {
    let risen = |rise: Option<f64>, least: f64| rise.is_some_and(|rise| rise >= least);
    let fallen = |ratio: Option<f64>| ratio.is_some_and(|ratio| ratio <= FALLEN);
    if change.ratio >= 1.0 {
        return Cause::Unexplained;
    }
    if risen(evidence.load_rise, LOAD_RISEN) || risen(evidence.steal_rise, STEAL_RISEN) {
        return Cause::OtherWork;
    }
    if fallen(evidence.in_core_ratio) {
        let seen = fallen(evidence.frequency_ratio) || risen(evidence.temperature_rise_k, WARMER_K);
        return if seen { Cause::Throttling } else { Cause::Unexplained };
    }
    let same_place = evidence.earlier_at_amount.is_some_and(|earlier| {
        (earlier - change.at_amount).abs() <= SAME_PLACE * change.at_amount.max(earlier)
    });
    let recovered = evidence.recovered_after_idle == Some(true);
    if evidence.direction == Direction::Write && recovered && same_place {
        Cause::CacheExhausted
    } else {
        Cause::Unexplained
    }
}
