//! Draws a chart as lines of blocks on a terminal.
//!
//! In: a chart. Out: a line for each layer, and a caption with the ranges of both axes. Bars have
//! no line because a table shows the same; bands have none because blocks cannot show intervals.

use super::{padded, width_of};
use crate::document::{Align, Axis, Chart, Layer, Mark, Point, Scale};
use crate::escape::visible;
use crate::units::Units;

/// Eighths of a cell, lowest first.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Greatest number of blocks in a line.
const SPARK_LEN_MAX: usize = 60;

/// Greatest width of a label before a line.
const LABEL_LEN_MAX: usize = 36;

/// Least number of points for which a line is drawn.
const POINTS_MIN: usize = 4;

/// Draws a chart. The last line is the caption. Returns no lines if there is no curve to show.
pub(super) fn drawn(chart: &Chart, units: Units) -> Vec<String> {
    let is_course = |layer: &&Layer| {
        let marks = matches!(layer.mark, Mark::Dots | Mark::Line);
        marks && layer.points.len() >= POINTS_MIN
    };
    let bands = chart.layers.iter().any(|layer| layer.mark == Mark::Band);
    let rows = matches!(chart.x.scale, Scale::Names(_)) || matches!(chart.y.scale, Scale::Names(_));
    let mut layers: Vec<&Layer> = chart.layers.iter().filter(is_course).collect();
    // The line through dots of the same label would repeat them.
    layers.dedup_by(|later, earlier| later.label == earlier.label);
    if layers.is_empty() || bands || rows {
        return Vec::new();
    }
    let labels: Vec<String> = layers.iter().map(|layer| cut(&visible(&layer.label))).collect();
    let width = labels.iter().map(|label| width_of(label)).max().unwrap_or(0);
    let heights = Heights::of(&layers, &chart.y);
    let mut lines: Vec<String> = layers
        .iter()
        .zip(&labels)
        .map(|(layer, label)| {
            format!("{}  {}", padded(label, width, Align::Left), spark(layer, &heights))
        })
        .collect();
    let along = layers.iter().flat_map(|layer| &layer.points).map(|point| point.x);
    let along = along.fold((f64::INFINITY, 0.0), |(low, high), x| (x.min(low), x.max(high)));
    let shown = |axis: &Axis, value: f64| axis.of.with(value).text(units);
    // As in a chart: powers of two are shown in binary units.
    let twos = layers.iter().flat_map(|layer| &layer.points).all(|at| at.x.log2().fract() == 0.0);
    let along_units = if chart.x.scale == Scale::Log && twos { Units::Iec } else { units };
    let along_shown = |value: f64| chart.x.of.with(value).text(along_units);
    let up = match heights.log {
        true => {
            let (low, high) = (shown(&chart.y, heights.low), shown(&chart.y, heights.high));
            format!("{low} to {high}, by factors")
        }
        false => format!("up to {}", shown(&chart.y, heights.high)),
    };
    let (from, to) = (along_shown(along.0), along_shown(along.1));
    let caption = format!("{} {up}; {} from {from} to {to}", chart.y.title, chart.x.title);
    lines.push(format!("{}{}", " ".repeat(width + 2), visible(&caption)));
    lines
}

/// The range of values that blocks show.
struct Heights {
    low: f64,
    high: f64,
    log: bool,
}

impl Heights {
    /// From zero on a linear axis; from the least value on a logarithmic one.
    fn of(layers: &[&Layer], axis: &Axis) -> Heights {
        let all = || layers.iter().flat_map(|layer| &layer.points).map(|point| point.y);
        let high = all().fold(0.0, f64::max);
        let low = all().filter(|&y| y > 0.0).fold(f64::INFINITY, f64::min);
        let log = axis.scale == Scale::Log && low < high;
        Heights { low: if log { low } else { 0.0 }, high, log }
    }

    fn share(&self, value: f64) -> f64 {
        match self.log {
            true if value > 0.0 => (value / self.low).ln() / (self.high / self.low).ln(),
            false if self.high > 0.0 => value / self.high,
            _ => 0.0,
        }
    }
}

/// Draws a layer as blocks of up to eight eighths, in the order of x.
fn spark(layer: &Layer, heights: &Heights) -> String {
    let mut points: Vec<Point> = layer.points.clone();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let bins = points.len().min(SPARK_LEN_MAX);
    let block = |bin: usize| {
        let part = &points[bin * points.len() / bins..(bin + 1) * points.len() / bins];
        let mean = part.iter().map(|point| point.y).sum::<f64>() / part.len() as f64;
        // A rounding error in the last bit must not add an eighth.
        BLOCKS[((heights.share(mean) * 8.0 - 1e-9).ceil() as usize).clamp(1, 8) - 1]
    };
    (0..bins).map(block).collect()
}

fn cut(label: &str) -> String {
    match label.char_indices().nth(LABEL_LEN_MAX) {
        Some((end, _)) => format!("{}…", &label[..end]),
        None => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Quantity;

    fn layer(heights: &[f64]) -> Layer {
        let points = (1..).zip(heights).map(|(x, &y)| Point::at(f64::from(x), y));
        Layer::new("runs", Mark::Dots, points)
    }

    fn chart(scale: Scale, heights: &[f64]) -> Chart {
        Chart {
            name: "any".to_owned(),
            title: "Any".to_owned(),
            description: String::new(),
            x: Axis::linear("size", Quantity::Bytes(0)),
            y: Axis { scale, ..Axis::linear("time", Quantity::Time(0.0)) },
            layers: vec![layer(heights)],
        }
    }

    #[test]
    fn what_grows_by_factors_is_seen_to_grow() {
        let lines = drawn(&chart(Scale::Log, &[1e3, 1e4, 1e5, 1e6, 1e7]), Units::Si);
        assert_eq!(lines[0], "runs  ▁▂▄▆█");
        assert!(lines[1].contains("time 1.00 µs to 10.0 ms, by factors"), "{}", lines[1]);
    }

    #[test]
    fn rates_rise_from_zero() {
        let lines = drawn(&chart(Scale::Linear, &[0.0, 5e8, 1e9, 1e9]), Units::Si);
        assert_eq!(lines[0], "runs  ▁▄██");
        assert!(lines[1].ends_with("time up to 1.00 s; size from 1 B to 4 B"), "{}", lines[1]);
    }

    #[test]
    fn few_points_are_no_course() {
        assert!(drawn(&chart(Scale::Linear, &[1.0, 2.0, 3.0]), Units::Si).is_empty());
    }
}
