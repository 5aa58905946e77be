//! Axes: their ranges, their marks, and the coordinates of values.
//!
//! In: an axis and the points along it. Out: a linear coordinate. A logarithmic axis has linear
//! coordinates of logarithms, so all axes have the same type.

use crate::document::{Axis, Chart, Mark, Quantity, Scale};
use crate::units::{self, Units};

/// The direction of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AxisSide {
    X,
    Y,
}

/// Most marks on an axis.
const MARKS_MAX: f64 = 5.0;

/// Least width of a logarithmic axis, as a logarithm: about 4 per cent.
const LOG_WIDTH_MIN: f64 = 0.017;

/// Height of a label of a vertical line, as a share of the axis: a line of text in the least
/// height.
const RULE_LABEL_SHARE: f64 = 0.1;

/// The range of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AxisRange {
    from: f64,
    to: f64,
    marks: Vec<f64>,
    log: bool,
    /// Whether all values are powers of two, which are shown in binary units.
    binary: bool,
    /// The unit of the marks of a linear axis.
    unit: f64,
    /// Where bars end that are far longer than all others.
    cut: f64,
}

impl AxisRange {
    /// Finds the range that contains every point of a chart in one direction.
    pub(super) fn of(axis: &Axis, chart: &Chart, direction: AxisSide, units: Units) -> AxisRange {
        if let Scale::Names(names) = &axis.scale {
            let marks = (0..names.len()).map(|index| index as f64).collect();
            let (from, to) = (-0.5, (names.len().max(1)) as f64 - 0.5);
            // The first name is at the top.
            let (from, to) = if direction == AxisSide::Y { (to, from) } else { (from, to) };
            return AxisRange::even((from, to), marks, 1.0);
        }
        let values = || values(chart, direction).filter(|value| value.is_finite());
        let highest = values().fold(0.0, f64::max);
        let cut = match direction {
            AxisSide::X => beside_outlier(chart).unwrap_or(f64::INFINITY),
            AxisSide::Y => f64::INFINITY,
        };
        let highest = highest.min(cut);
        match axis.scale {
            Scale::Log => AxisRange::log(values().filter(|&value| value > 0.0).collect()),
            _ => {
                let unit = unit(axis.of, highest, units);
                match direction {
                    AxisSide::X => AxisRange { cut, ..AxisRange::tight(highest, unit) },
                    AxisSide::Y => AxisRange::linear(highest / (1.0 - words_of_rules(chart)), unit),
                }
            }
        }
    }

    /// A linear range in which nothing is cut.
    fn even((from, to): (f64, f64), marks: Vec<f64>, unit: f64) -> AxisRange {
        AxisRange { from, to, marks, log: false, binary: false, unit, cut: f64::INFINITY }
    }

    /// From zero to the first mark above everything.
    fn linear(highest: f64, unit: f64) -> AxisRange {
        let highest = if highest > 0.0 { highest * 1.02 } else { unit };
        let step = nice_step(highest / MARKS_MAX, unit);
        let steps = (highest / step).ceil();
        let marks = (0..=steps as usize).map(|index| index as f64 * step).collect();
        AxisRange::even((0.0, steps * step), marks, unit)
    }

    /// From zero to the greatest value, wherever the last mark is.
    fn tight(highest: f64, unit: f64) -> AxisRange {
        let to = if highest > 0.0 { highest } else { unit };
        let step = nice_step(to / (MARKS_MAX - 0.5), unit);
        let marks = (0..=(to / step) as usize).map(|index| index as f64 * step).collect();
        AxisRange::even((0.0, to), marks, unit)
    }

    /// A little wider than the values, with marks at 1, 2 and 5 if there is room; at the values
    /// themselves if they are powers of two.
    fn log(mut values: Vec<f64>) -> AxisRange {
        values.sort_by(f64::total_cmp);
        values.dedup();
        let (lowest, highest) = match (values.first(), values.last()) {
            (Some(&lowest), Some(&highest)) if lowest < highest => (lowest, highest),
            (Some(&only), _) => (only / 2.0, only * 2.0),
            _ => (1.0, 10.0),
        };
        let width = highest.log10() - lowest.log10();
        let room = (0.04 * width).max((LOG_WIDTH_MIN - width) / 2.0);
        let (from, to) = (lowest.log10() - room, highest.log10() + room);
        let binary = values.len() > 1 && values.iter().all(|value| value.log2().fract() == 0.0);
        let marks = match binary {
            true => {
                let every = values.len().div_ceil(MARKS_MAX as usize + 1);
                values.iter().step_by(every).map(|value| value.log10()).collect()
            }
            false => log_marks(from, to),
        };
        AxisRange { from, to, marks, log: true, binary, unit: 1e-9, cut: f64::INFINITY }
    }

    /// Extends the range until words fit behind each end: `(end, width)`, with the width as a share
    /// of the axis.
    pub(super) fn with_room(self, words: Vec<(f64, f64)>) -> AxisRange {
        let reach = |&(end, width): &(f64, f64)| {
            self.from + (self.place(end) - self.from) / (1.0 - width.clamp(0.0, 0.6))
        };
        let to = words.iter().map(reach).fold(self.to, f64::max);
        match self.log {
            _ if to <= self.to => self,
            true => AxisRange { to, marks: log_marks(self.from, to), ..self },
            false => AxisRange { cut: self.cut, ..AxisRange::tight(to, self.unit) },
        }
    }

    /// Removes marks until neighbours are at least this far apart, as a share of the axis.
    pub(super) fn with_marks_apart(mut self, share: f64) -> AxisRange {
        let least = share * (self.to - self.from).abs();
        let near = |marks: &[f64]| marks.windows(2).any(|two| (two[1] - two[0]).abs() < least);
        let mut every = 1;
        let thinned = |every: usize| self.marks.iter().copied().step_by(every).collect();
        let mut marks: Vec<f64> = thinned(every);
        while near(&marks) {
            every += 1;
            marks = thinned(every);
        }
        self.marks = marks;
        self
    }

    /// Whether the axis begins at zero, so that bars can begin there.
    pub(super) fn begins_at_zero(&self) -> bool {
        !self.log
    }

    /// Returns the multiples of bytes for the marks.
    pub(super) fn units(&self, units: Units) -> Units {
        if self.binary { Units::Iec } else { units }
    }

    /// Returns the coordinate of a value. A value without a logarithm is at the beginning.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.log {
            true if value > 0.0 => value.log10().max(self.from),
            true => self.from,
            false => value.min(self.cut),
        }
    }

    /// Whether a bar of this length is cut.
    pub(super) fn cuts(&self, value: f64) -> bool {
        value > self.cut
    }

    /// Returns the value at a coordinate.
    pub(super) fn value(&self, place: f64) -> f64 {
        if self.log { 10_f64.powf(place) } else { place }
    }

    /// Returns the pixel of a coordinate, between those of the ends of the range, or not far beyond
    /// them.
    pub(super) fn pixel(&self, place: f64, (begin, end): (i32, i32)) -> i32 {
        let share = ((place - self.from) / (self.to - self.from)).clamp(-9.0, 9.0);
        (f64::from(begin) + share * f64::from(end - begin)).round() as i32
    }

    pub(super) fn marks(&self) -> &[f64] {
        &self.marks
    }
}

/// Returns marks between two logarithms: at 1, 2 and 5 if there is room, at even steps if the ends
/// are less than a factor of four apart.
fn log_marks(from: f64, to: f64) -> Vec<f64> {
    let (lowest, highest) = (10_f64.powf(from), 10_f64.powf(to));
    if highest < 4.0 * lowest {
        let step = nice_step((highest - lowest) / MARKS_MAX, 1e-9);
        let steps = (lowest / step).ceil() as i64..=(highest / step).floor() as i64;
        return steps.map(|index| (index as f64 * step).log10()).collect();
    }
    let digits: &[f64] = match to - from {
        few if few < 0.9 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
        some if some < 1.9 => &[1.0, 2.0, 5.0],
        more if more < 2.9 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let powers = from.floor() as i32..=to.ceil() as i32;
    let every = ((to - from) / (MARKS_MAX + 1.0)).ceil().max(1.0) as i32;
    let powers = powers.filter(|power| power.rem_euclid(every) == 0);
    let marks =
        powers.flat_map(|power| digits.iter().map(move |digit| digit.log10() + f64::from(power)));
    marks.filter(|mark| (from..=to).contains(mark)).collect()
}

/// Fewer bars are all drawn whole.
const BARS_CUT_MIN: usize = 4;

/// From this factor on, the longest bar leaves too little room for the others.
const OUTLIER_FACTOR: f64 = 3.0;

/// Returns where an axis ends if one bar is far longer than all others: a little beyond these.
fn beside_outlier(chart: &Chart) -> Option<f64> {
    let bars = chart.layers.iter().filter(|layer| layer.mark == Mark::Bars);
    let mut rows: Vec<(f64, f64)> = bars
        .flat_map(|layer| layer.points.iter().map(|point| (point.y, point.x)))
        .filter(|(_, value)| value.is_finite())
        .collect();
    rows.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.total_cmp(&one.1)));
    rows.dedup_by_key(|(row, _)| *row);
    let mut longest: Vec<f64> = rows.into_iter().map(|(_, value)| value).collect();
    longest.sort_by(|one, other| other.total_cmp(one));
    let (&first, &second) = (longest.first()?, longest.get(1)?);
    let is_apart = longest.len() >= BARS_CUT_MIN && first > OUTLIER_FACTOR * second;
    (is_apart && second > 0.0).then_some(1.25 * second)
}

/// Returns the share of the height that the labels of vertical lines take, so that no bar is behind
/// them.
fn words_of_rules(chart: &Chart) -> f64 {
    let rules = chart.layers.iter().filter(|layer| layer.mark == Mark::Rule);
    let labels = rules.filter(|layer| !layer.label.is_empty());
    let ends = labels.flat_map(|layer| layer.points.iter().map(|point| point.y + RULE_LABEL_SHARE));
    ends.fold(0.0, f64::max).min(0.5)
}

/// All values of a chart in one direction.
fn values(chart: &Chart, direction: AxisSide) -> impl Iterator<Item = f64> + '_ {
    let lies = matches!(chart.y.scale, Scale::Names(_));
    chart.layers.iter().flat_map(move |layer| {
        // Intervals are along the values: vertical, or horizontal if the names are on the y axis.
        let along = if lies { AxisSide::X } else { AxisSide::Y };
        let spread = direction == along;
        let skip = layer.mark == Mark::Rule && direction == AxisSide::Y;
        layer.points.iter().filter(move |_| !skip).flat_map(move |point| {
            let value = if direction == AxisSide::X { point.x } else { point.y };
            let ends = point.interval.filter(|_| spread);
            [Some(value), ends.map(|ends| ends.0), ends.map(|ends| ends.1)].into_iter().flatten()
        })
    })
}

/// Returns the unit of the marks of an axis up to `highest`: days, hours, mebibytes.
fn unit(of: Quantity, highest: f64, units: Units) -> f64 {
    match (of, units) {
        (Quantity::Days(_), _) => units::DAY_NS,
        (Quantity::Time(_), _) if highest >= 7_200e9 => 3_600e9,
        (Quantity::Time(_), _) if highest >= 120e9 => 60e9,
        (Quantity::Bytes(_) | Quantity::Rate(_), Units::Iec) => {
            let power = (highest.max(1.0).log2() / 10.0).floor();
            1024_f64.powf(power)
        }
        (Quantity::Count(_), _) => 1.0,
        _ => 1e-9,
    }
}

/// Returns the smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `least`, in
/// units. Steps of counts are whole numbers.
fn nice_step(least: f64, unit: f64) -> f64 {
    let least = least / unit;
    let power = 10_f64.powi(least.log10().floor() as i32);
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|factor| factor * power >= least * 0.999);
    let step = factor.unwrap_or(10.0) * power;
    unit * if unit == 1.0 { step.ceil() } else { step }
}

/// Writes a value beside its mark, as short as possible; zero is a plain 0.
pub(super) fn label(axis: &Axis, value: f64, units: Units) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    match axis.of {
        // Marks have few digits in any unit: "5 min", not "5 min 00 s".
        Quantity::Time(_) if value >= 120e9 && (value / 60e9).fract().abs() < 1e-6 => {
            match value >= 7_200e9 && (value / 3_600e9).fract().abs() < 1e-6 {
                true => format!("{:.0} h", value / 3_600e9),
                false => format!("{:.0} min", value / 60e9),
            }
        }
        // One unit for all marks, however great the shares.
        Quantity::Share(_) => short(&units::share(value)),
        of => short(&of.with(value).text(units)),
    }
}

/// Removes zeros after the point: "2.00 GB/s" → "2 GB/s".
pub(super) fn short(text: &str) -> String {
    let (number, rest) = match text.find(|letter: char| !letter.is_ascii_digit() && letter != '.') {
        Some(end) => text.split_at(end),
        None => (text, ""),
    };
    match number.contains('.') {
        true => format!("{}{rest}", number.trim_end_matches('0').trim_end_matches('.')),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Layer, Point};

    #[test]
    fn linear_axes_begin_at_zero_and_end_at_a_mark() {
        let span = AxisRange::linear(2.71e9, 1e-9);
        assert_eq!(span.from, 0.0);
        assert!((span.to - 3e9).abs() < 1.0, "{}", span.to);
        assert_eq!(span.marks.first(), Some(&0.0));
        assert_eq!(span.marks.last(), Some(&span.to));
    }

    #[test]
    fn axes_count_in_units_that_people_count_in() {
        let days = AxisRange::tight(730.0 * 86_400e9, 86_400e9);
        assert_eq!(days.marks.last(), Some(&(600.0 * 86_400e9)));
        assert_eq!(AxisRange::linear(3.0, 1.0).marks, vec![0.0, 1.0, 2.0, 3.0, 4.0]);
        let binary = unit(Quantity::Bytes(0), 3e9, Units::Iec);
        assert_eq!(binary, 1_073_741_824.0);
    }

    #[test]
    fn logarithmic_axes_hold_their_ends_and_have_marks() {
        let span = AxisRange::log(vec![1e6, 1e10]);
        assert!(span.from < 6.0 && span.to > 10.0);
        assert_eq!(span.marks, vec![6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((span.value(span.place(3e7)) - 3e7).abs() < 1.0);
        assert!(!AxisRange::log(vec![3.0, 9.0]).marks.is_empty());
        assert!(!AxisRange::log(Vec::new()).marks.is_empty());
        assert_eq!(AxisRange::log(vec![1.0, 4.0, 16.0]).marks.len(), 3);
        assert_eq!(AxisRange::log(vec![4096.0, 65536.0]).units(Units::Si), Units::Iec);
    }

    /// 8 is the power of its logarithm, less the last bit.
    #[test]
    fn whole_numbers_keep_their_names_on_a_logarithmic_axis() {
        let names = |values: &[f64]| -> Vec<String> {
            let marks = AxisRange::log(values.to_vec()).marks;
            let name = |mark: f64| Quantity::Count(0).with(10_f64.powf(mark)).text(Units::Si);
            marks.into_iter().map(name).collect()
        };
        assert_eq!(names(&[1.0, 8.0]), ["1", "8"]);
        assert_eq!(names(&[1.0, 4.0, 32.0]), ["1", "4", "32"]);
    }

    #[test]
    fn ratios_near_to_one_have_marks_between_them() {
        let span = AxisRange::log(vec![0.87, 1.04]);
        assert!(span.marks.len() >= 3, "{:?}", span.marks);
        assert!(span.marks.iter().any(|mark| mark.abs() < 1e-9), "one at 1: {:?}", span.marks);
    }

    #[test]
    fn words_fit_behind_what_they_belong_to() {
        let span = AxisRange::tight(100.0, 1.0).with_room(vec![(100.0, 0.2), (50.0, 0.5)]);
        assert!((span.to - 125.0).abs() < 1e-9, "{}", span.to);
        let span = AxisRange::log(vec![1.0, 10.0]).with_room(vec![(10.0, 0.5)]);
        assert!((span.to - span.from) * 0.5 >= span.to - 1.0 - 1e-9, "{span:?}");
    }

    #[test]
    fn one_long_bar_leaves_room_for_the_others() {
        let bars = |values: &[f64]| {
            let points = (0..).zip(values).map(|(row, &value)| Point::at(value, f64::from(row)));
            let names = Axis::names(values.iter().map(f64::to_string));
            let axes = (Axis::linear("", Quantity::Rate(0.0)), names);
            Chart::new("", "", "", axes, vec![Layer::new("", Mark::Bars, points)])
        };
        assert_eq!(beside_outlier(&bars(&[55.0, 4.0, 3.0, 2.0])), Some(5.0));
        assert_eq!(beside_outlier(&bars(&[11.0, 4.0, 3.0, 2.0])), None);
        assert_eq!(beside_outlier(&bars(&[55.0, 4.0, 3.0])), None);
        let span = AxisRange { cut: 5.0, ..AxisRange::tight(5.0, 1.0) };
        let span = span.with_room(vec![(55.0, 0.2)]);
        assert!(span.cuts(55.0) && span.place(55.0) == 5.0 && span.to > 6.0);
    }

    #[test]
    fn labels_of_neighbours_do_not_meet() {
        let span = AxisRange::tight(4.0, 1.0);
        assert!(span.marks.len() > 3);
        let apart = span.with_marks_apart(0.5);
        assert!(apart.marks.len() <= 3, "{:?}", apart.marks);
        assert_eq!(apart.marks.first(), Some(&0.0));
    }

    #[test]
    fn labels_lose_zeros_that_say_nothing() {
        assert_eq!(short("2.00 GB/s"), "2 GB/s");
        assert_eq!(short("2.50 GB/s"), "2.5 GB/s");
        assert_eq!(short("100 MB"), "100 MB");
        assert_eq!(short("0.50×"), "0.5×");
        let time = Axis::linear("", Quantity::Time(0.0));
        assert_eq!(label(&time, 0.0, Units::Si), "0");
        assert_eq!(label(&time, 300e9, Units::Si), "5 min");
    }
}
