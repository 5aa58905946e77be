//! Draws the points of one layer into the frame.

use super::letters::width_of;
use super::picture::{Anchor, Ink, Picture, Pixel};
use super::{BarRows, Frame, NAME_HEIGHT, ROW_GAP, in_rows, is_course};
use crate::document::{Chart, Layer, Mark, Point};
use crate::units::Units;

/// Most bars for which figures are shown.
const FIGURES_MAX: usize = 80;

/// Gap between the end of the longest bar and the column of figures.
const FIGURE_GAP: i32 = 5;

/// Gap between the base line and the name above the bars.
const NAME_GAP: i32 = 3;

/// Most points of a line with a mark on each.
const MARKED_MAX: usize = 12;

/// Half the thickness of a piece of a timeline, as a share of its row.
const SPAN_HALF: f64 = 0.35;

/// Width of the sample of a layer in the legend.
const SAMPLE_WIDTH: i32 = 16;

/// The place of a layer among the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerPlace {
    pub(super) ink: usize,
    /// Number of layers of bars before it.
    pub(super) bar: usize,
    /// The division of rows.
    pub(super) rows: BarRows,
}

/// Draws one layer.
pub(super) fn draw(
    picture: &mut Picture,
    frame: &Frame,
    chart: &Chart,
    layer: &Layer,
    place: LayerPlace,
    units: Units,
) {
    let places = places(layer, frame);
    match layer.mark {
        Mark::Dots if in_rows(chart, layer) => {
            return rows(picture, frame, chart, layer, place, units);
        }
        Mark::Dots => picture.marks(&places, place.ink, false),
        Mark::Line => course(picture, &places, place.ink),
        Mark::Band => band(picture, frame, layer, place.ink),
        Mark::Bars => rows(picture, frame, chart, layer, place, units),
        Mark::Rule => rules(picture, frame, layer),
        Mark::Spans => spans(picture, frame, layer, place.ink),
    }
    if matches!(layer.mark, Mark::Dots | Mark::Line) {
        let ends = layer.points.iter().filter_map(|point| {
            let (low, high) = point.interval?;
            Some((frame.at(point.x, low), frame.at(point.x, high)))
        });
        picture.lines(&ends.collect::<Vec<_>>(), Ink::Layer(place.ink), 1);
    }
}

/// Draws the base line of bars and points.
pub(super) fn base_line(picture: &mut Picture, frame: &Frame, upright: bool) {
    let corner = (frame.left, frame.bottom);
    let end = if upright { (frame.left, frame.top) } else { (frame.right, frame.bottom) };
    picture.lines(&[(corner, end)], Ink::Axis, 1);
}

/// Writes the names of rows above their bars.
pub(super) fn names(
    picture: &mut Picture,
    frame: &Frame,
    rows: BarRows,
    label: &impl Fn(f64) -> String,
) {
    let height = f64::from(rows.height());
    let down = -0.5 + (f64::from(ROW_GAP / 2) + f64::from(NAME_HEIGHT) / 2.0) / height;
    for row in frame.y.marks() {
        let at = (frame.left + NAME_GAP, frame.y_at(row + down));
        picture.text(&label(*row), at, Anchor::Start, Ink::Text);
    }
}

/// Returns the end of each bar, and the width of the column of figures as a share of the frame's
/// width.
pub(super) fn figure_room(chart: &Chart, units: Units, frame_width: i32) -> Vec<(f64, f64)> {
    let rows = chart.layers.iter().filter(|layer| in_rows(chart, layer));
    let points = rows.flat_map(|layer| &layer.points).filter(|point| point.x.is_finite());
    let has_figures = has_figures(chart);
    let words = |point: &Point| width_of(&chart.x.of.with(point.x).text(units));
    let widest = points.clone().map(words).max().unwrap_or(0) + FIGURE_GAP + 2;
    let room = |point: &Point| (end_of(point), f64::from(widest) / f64::from(frame_width.max(1)));
    points.filter(|_| has_figures).map(room).collect()
}

/// Returns the end of a bar, or of its interval if that is farther.
fn end_of(point: &Point) -> f64 {
    point.interval.map_or(point.x, |(_, high)| high.max(point.x))
}

/// Whether there are few enough bars for a figure beside each.
fn has_figures(chart: &Chart) -> bool {
    let rows = chart.layers.iter().filter(|layer| in_rows(chart, layer));
    rows.map(|layer| layer.points.len()).sum::<usize>() <= FIGURES_MAX
}

/// Returns the places of the points.
fn places(layer: &Layer, frame: &Frame) -> Vec<Pixel> {
    let points = layer.points.iter();
    let points = points.filter(|point| point.x.is_finite() && point.y.is_finite());
    points.map(|point| frame.at(point.x, point.y)).collect()
}

fn course(picture: &mut Picture, places: &[Pixel], ink: usize) {
    picture.course(places, ink);
    if is_marked(Mark::Line, places.len()) {
        picture.marks(places, ink, false);
    }
}

/// Whether a line has a mark at each point, so that it differs from others without colour.
fn is_marked(mark: Mark, points: usize) -> bool {
    mark == Mark::Line && points <= MARKED_MAX
}

fn band(picture: &mut Picture, frame: &Frame, layer: &Layer, ink: usize) {
    let ends = layer.points.iter().filter_map(|point| Some((point.x, point.interval?)));
    let ends: Vec<(f64, (f64, f64))> = ends.collect();
    let lower = ends.iter().map(|(at, (low, _))| frame.at(*at, *low));
    let upper = ends.iter().rev().map(|(at, (_, high))| frame.at(*at, *high));
    picture.band(&lower.chain(upper).collect::<Vec<_>>(), ink);
}

/// Draws the bars or the dots of a layer in the rows of their names, each with its interval, and
/// with its figure if there are not too many.
fn rows(
    picture: &mut Picture,
    frame: &Frame,
    chart: &Chart,
    layer: &Layer,
    place: LayerPlace,
    units: Units,
) {
    let (from, thick) = place.rows.bar(place.bar);
    let middle = |row: f64| frame.y_at(row + from + thick * 0.45);
    let points: Vec<&Point> = layer.points.iter().filter(|point| point.x.is_finite()).collect();
    let intervals: Vec<(Pixel, Pixel)> = points
        .iter()
        .filter_map(|point| {
            let ((low, high), y) = (point.interval?, middle(point.y));
            Some(((frame.x_at(low), y), (frame.x_at(high), y)))
        })
        .collect();
    if layer.mark == Mark::Bars {
        let bars = points.iter().map(|point| {
            let (top, bottom) = (point.y + from, point.y + from + thick * 0.9);
            ((frame.left, frame.y_at(top)), (frame.x_at(point.x), frame.y_at(bottom)))
        });
        let outline = (place.ink > 0).then_some(Ink::Layer(place.ink));
        picture.areas(&bars.collect::<Vec<_>>(), place.ink, outline);
        // Dark on light, so that an interval is visible on its bar and beyond it.
        picture.lines(&intervals, Ink::Ground, 4);
        picture.lines(&intervals, Ink::Text, 2);
    } else {
        picture.lines(&intervals, Ink::Layer(place.ink), 2);
        let dots = points.iter().map(|point| (frame.x_at(point.x), middle(point.y)));
        picture.marks(&dots.collect::<Vec<_>>(), place.ink, true);
    }
    if has_figures(chart) {
        for point in points {
            let words = chart.x.of.with(point.x).text(units);
            // An arrow shows that the bar is cut.
            let words = if frame.x.cuts(point.x) { format!("→ {words}") } else { words };
            // In a column at the right end, clear of all intervals.
            picture.text(&words, (frame.right, middle(point.y)), Anchor::End, Ink::Text);
        }
    }
}

/// Draws vertical lines, each with its label on the side that has room.
fn rules(picture: &mut Picture, frame: &Frame, layer: &Layer) {
    for point in layer.points.iter().filter(|point| point.x.is_finite()) {
        let x = frame.x_at(point.x);
        picture.dashed_line(x, (frame.top, frame.bottom), Ink::Text);
        let is_left = x < (frame.left + frame.right) / 2;
        let (anchor, gap) = if is_left { (Anchor::Start, 4) } else { (Anchor::End, -4) };
        let down = point.y.clamp(0.0, 1.0) * f64::from(frame.bottom - frame.top);
        let y = frame.top + down.round() as i32 + 7;
        picture.text(&layer.label, (x + gap, y), anchor, Ink::Text);
    }
}

fn spans(picture: &mut Picture, frame: &Frame, layer: &Layer, ink: usize) {
    let spans = layer.points.iter().filter_map(|point| {
        let ((from, to), row) = (point.interval?, point.y);
        let (top, bottom) = (frame.y_at(row - SPAN_HALF), frame.y_at(row + SPAN_HALF));
        Some(((frame.x_at(from), top), (frame.x_at(to), bottom)))
    });
    picture.areas(&spans.collect::<Vec<_>>(), ink, None);
}

/// Draws a layer's sample for the legend: all marks with its label, on top of each other.
pub(super) fn sample(
    picture: &mut Picture,
    chart: &Chart,
    layer: &Layer,
    ink: usize,
    (x, y): Pixel,
) {
    let half = SAMPLE_WIDTH / 2;
    for layer in chart.layers.iter().filter(|other| other.label == layer.label) {
        match layer.mark {
            _ if is_course(layer) => {
                picture.course(&[(x, y), (x + SAMPLE_WIDTH, y)], ink);
                if is_marked(layer.mark, layer.points.len()) {
                    picture.marks(&[(x + half, y)], ink, true);
                }
            }
            Mark::Dots => picture.marks(&[(x + half, y)], ink, true),
            Mark::Band => {
                let (left, right, top, bottom) = (x, x + SAMPLE_WIDTH, y - 6, y + 6);
                let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
                picture.band(&corners, ink);
            }
            _ => {
                let ends = ((x + 2, y - 6), (x + SAMPLE_WIDTH - 2, y + 6));
                picture.areas(&[ends], ink, Some(Ink::Layer(ink)));
            }
        }
    }
}
