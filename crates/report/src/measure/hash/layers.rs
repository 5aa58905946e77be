//! The layers of a chart of time by size: measured points, fitted lines and their bands.

use steadfast_measure::figures::hash::PathLine;

use crate::document::{Layer, Mark, Point};
use crate::measure::{band_points, lengths_between};

/// Returns the points of a line, its band if it has one, and the line itself.
pub(crate) fn line_layers(line: &PathLine, label: &str) -> Vec<Layer> {
    let mut layers = vec![measured(line, label)];
    layers.extend(band(line, label));
    layers.push(fitted(line, label));
    layers
}

fn measured(line: &PathLine, label: &str) -> Layer {
    let points = line.points.iter().map(|point| Point::at(point.amount, 1e9 * point.time_s));
    Layer::new(label, Mark::Dots, points)
}

fn fitted(line: &PathLine, label: &str) -> Layer {
    let (from, to) = (line.sizes_bytes.0 as f64, line.sizes_bytes.1 as f64);
    let points =
        lengths_between(from, to).map(|size| Point::at(size, 1e9 * line.line.line.time_s(size)));
    Layer::new(label, Mark::Line, points.filter(|point| point.y > 0.0))
}

fn band(line: &PathLine, label: &str) -> Option<Layer> {
    // On logarithmic axes a band cannot reach below nothing. It ends at a tenth of the line, and so
    // begins where its data begin.
    let points = band_points(line.line.band.as_ref()).map(|point| Point {
        interval: point.interval.map(|(low, high)| (low.max(0.1 * point.y), high)),
        ..point
    });
    let points = points.filter(|point| point.y > 0.0);
    let layer = Layer::new(label, Mark::Band, points);
    (!layer.points.is_empty()).then_some(layer)
}
