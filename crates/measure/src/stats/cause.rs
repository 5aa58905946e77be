//! Names the cause of a step of the rate, if there is evidence.
//!
//! A full cache and a hot device look alike in the rates, so rates alone prove no cause.

use strum::IntoStaticStr;

use super::changes::Change;

/// What made a rate step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Cause {
    /// The fast part of the medium was full.
    #[strum(serialize = "write cache exhausted")]
    CacheExhausted,
    /// The processor was held back, being hot or short of power.
    Throttling,
    /// Something else used the machine.
    #[strum(serialize = "other work")]
    OtherWork,
    /// Nothing that was seen explains it.
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

/// Which way the bytes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the medium, or nowhere.
    Read,
    /// To the medium.
    Write,
}

/// What was seen beside a step. What was not looked at is `None`, and names nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Which way the bytes went.
    pub direction: Direction,
    /// Rate of hashing in memory after the step ÷ before it, measured over the same time.
    pub in_core_ratio: Option<f64>,
    /// Processor frequency after ÷ before.
    pub frequency_ratio: Option<f64>,
    /// By how much the temperature rose, in kelvin.
    pub temperature_rise_k: Option<f64>,
    /// By how much the load average rose beyond our own threads, in processors.
    pub load_rise: Option<f64>,
    /// By how much the share of time rose that the host of a virtual machine took, 0 to 1.
    pub steal_rise: Option<f64>,
    /// Whether the old rate came back after idling.
    pub recovered_after_idle: Option<bool>,
    /// How much had been written since idling when the rate stepped another time: in an earlier
    /// round, or an earlier record of the same medium.
    pub earlier_at_amount: Option<f64>,
}

impl Evidence {
    /// Returns evidence of nothing but the direction.
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

/// Below this, an in-core rate or a frequency fell: rates of hashing in memory repeat within 2 %.
const FALLEN: f64 = 0.95;

/// A rise of temperature that goes with throttling, in kelvin.
const WARMER_K: f64 = 5.0;

/// A rise of the load, in processors, and of the stolen share, that slows what runs beside it.
const LOAD_RISEN: f64 = 0.5;
const STEAL_RISEN: f64 = 0.05;

/// Amounts that differ by less, as a share, are the same place on a medium.
const SAME_PLACE: f64 = 0.15;

/// Names the cause of a step.
///
/// - Other work: the load or the stolen share rose with the step.
/// - Throttling: hashing in memory fell as well, and the frequency fell or the temperature rose.
/// - Cache exhausted: a write, nothing of that, the old rate came back after idling, and it had
///   stepped after as many bytes another time. Without that last, a hot device would pass for it.
///
/// A step up is never named.
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
