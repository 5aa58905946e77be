//! Draws the points of one layer into the frame.

use plotters::element::{
    Circle, Cross, EmptyElement, PathElement, Polygon, Rectangle, Text, TriangleMarker,
};
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, ShapeStyle};

use super::axis::AxisRange;
use super::letters::width_of;
use super::theme::{Ink, LAYERS};
use super::{Area, BarRows, DrawResult, Frame, NAME_HEIGHT, ROW_GAP, in_rows, is_course, text};
use crate::document::{Chart, Layer, Mark, Point};
use crate::units::Units;

/// Most bars for which figures are shown.
const FIGURES_MAX: usize = 80;

/// Gap between the end of the longest bar and the column of figures.
const FIGURE_GAP: i32 = 5;

/// Gap between the base line and the name above the bars.
const NAME_GAP: i32 = 3;

/// Half the side of a square dot.
const SQUARE: i32 = 3;

/// Most points of a line with a mark on each.
const MARKED_MAX: usize = 12;

/// Half the thickness of a piece of a timeline, as a share of its row.
const SPAN_HALF: f64 = 0.35;

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
    frame: &mut Frame<'_, '_>,
    chart: &Chart,
    layer: &Layer,
    place: LayerPlace,
    (x, y): (&AxisRange, &AxisRange),
    units: Units,
) -> DrawResult {
    let points = placed(layer, x, y);
    match layer.mark {
        Mark::Dots if in_rows(chart, layer) => {
            return ratios(frame, chart, layer, x, place, units);
        }
        Mark::Dots => dots(frame, &points, place.ink),
        Mark::Line | Mark::Steps => course(frame, &points, layer.mark, place.ink),
        Mark::Band => band(frame, layer, x, y, place.ink),
        Mark::Bars => bars(frame, chart, layer, (x, y), place, units),
        Mark::Histogram => histogram(frame, &points, y.base(), place.ink),
        Mark::Rule => rules(frame, layer, x, y),
        Mark::Spans => spans(frame, layer, x, place.ink),
    }?;
    match layer.mark {
        Mark::Dots | Mark::Line | Mark::Steps => whiskers(frame, layer, x, y, place.ink),
        _ => Ok(()),
    }
}

/// Draws the base line of bars and points.
pub(super) fn base_line(
    frame: &mut Frame<'_, '_>,
    upright: bool,
    (x, y): (&AxisRange, &AxisRange),
) -> DrawResult {
    let ends = match upright {
        true => vec![(x.base(), y.base()), (x.base(), y.top())],
        false => vec![(x.base(), y.base()), (x.top(), y.base())],
    };
    frame.draw_series([PathElement::new(ends, Ink::Axis.color().stroke_width(1))])?;
    Ok(())
}

/// Writes the names of rows above their bars.
pub(super) fn names(
    frame: &mut Frame<'_, '_>,
    rows: BarRows,
    (x, y): (&AxisRange, &AxisRange),
    label: &impl Fn(&f64) -> String,
) -> DrawResult {
    let height = f64::from(rows.height());
    let down = -0.5 + (f64::from(ROW_GAP / 2) + f64::from(NAME_HEIGHT) / 2.0) / height;
    for row in y.marks() {
        let style = text(Ink::Text).pos(Pos::new(HPos::Left, VPos::Center));
        let at = EmptyElement::at((x.base(), row + down));
        frame.draw_series([at + Text::new(label(row), (NAME_GAP, 0), style)])?;
    }
    Ok(())
}

/// Returns the end of each bar, and the width of the column of figures as a share of the frame's
/// width.
pub(super) fn figures(chart: &Chart, units: Units, frame_width: i32) -> Vec<(f64, f64)> {
    let rows = chart.layers.iter().filter(|layer| in_rows(chart, layer));
    let points = rows.flat_map(|layer| &layer.points).filter(|point| point.x.is_finite());
    let told = tells_figures(chart);
    let words = |point: &Point| width_of(&chart.x.of.with(point.x).text(units));
    let widest = points.clone().map(words).max().unwrap_or(0) + FIGURE_GAP + 2;
    let room = |point: &Point| (end_of(point), f64::from(widest) / f64::from(frame_width.max(1)));
    points.filter(|_| told).map(room).collect()
}

/// Returns the end of a bar, or of its interval if that is farther.
fn end_of(point: &Point) -> f64 {
    point.interval.map_or(point.x, |(_, high)| high.max(point.x))
}

/// Whether there are few enough bars for a figure beside each.
fn tells_figures(chart: &Chart) -> bool {
    let rows = chart.layers.iter().filter(|layer| in_rows(chart, layer));
    rows.map(|layer| layer.points.len()).sum::<usize>() <= FIGURES_MAX
}

/// Returns the coordinates of the points.
fn placed(layer: &Layer, x: &AxisRange, y: &AxisRange) -> Vec<(f64, f64)> {
    let points = layer.points.iter();
    let points = points.filter(|point| point.x.is_finite() && point.y.is_finite());
    points.map(|point| (x.place(point.x), y.place(point.y))).collect()
}

fn dots(frame: &mut Frame<'_, '_>, points: &[(f64, f64)], index: usize) -> DrawResult {
    let ink = Ink::Layer(index).color();
    let (filled, line) = (ink.mix(0.55).filled(), ink.stroke_width(2));
    let points = points.iter().copied();
    let square = |at, style| {
        EmptyElement::at(at) + Rectangle::new([(-SQUARE, -SQUARE), (SQUARE, SQUARE)], style)
    };
    match index % LAYERS {
        0 => frame.draw_series(points.map(|at| Circle::new(at, 3, filled)))?,
        1 => frame.draw_series(points.map(|at| TriangleMarker::new(at, 5, filled)))?,
        2 => frame.draw_series(points.map(|at| Cross::new(at, 3, line)))?,
        3 => frame.draw_series(points.map(|at| Circle::new(at, 4, line)))?,
        4 => frame.draw_series(points.map(|at| square(at, filled)))?,
        _ => frame.draw_series(points.map(|at| square(at, ink.stroke_width(1))))?,
    };
    Ok(())
}

fn course(
    frame: &mut Frame<'_, '_>,
    points: &[(f64, f64)],
    mark: Mark,
    index: usize,
) -> DrawResult {
    let style = Ink::Course(index).color().stroke_width(2);
    let mut line: Vec<(f64, f64)> = Vec::with_capacity(2 * points.len());
    for &(x, y) in points {
        if let (Mark::Steps, Some(&(_, before))) = (mark, line.last()) {
            line.push((x, before));
        }
        line.push((x, y));
    }
    frame.draw_series(LineSeries::new(line, style))?;
    match is_marked(mark, points.len()) {
        true => dots(frame, points, index),
        false => Ok(()),
    }
}

/// Whether a line has a mark at each point, so that it is told from others without colour.
fn is_marked(mark: Mark, points: usize) -> bool {
    mark == Mark::Line && points <= MARKED_MAX
}

fn band(
    frame: &mut Frame<'_, '_>,
    layer: &Layer,
    x: &AxisRange,
    y: &AxisRange,
    index: usize,
) -> DrawResult {
    let ends = layer.points.iter().filter_map(|point| Some((point.x, point.interval?)));
    let ends: Vec<(f64, (f64, f64))> = ends.collect();
    let lower = ends.iter().map(|(at, (low, _))| (x.place(*at), y.place(*low)));
    let upper = ends.iter().rev().map(|(at, (_, high))| (x.place(*at), y.place(*high)));
    let style = Ink::Layer(index).color().mix(0.18).filled();
    frame.draw_series([Polygon::new(lower.chain(upper).collect::<Vec<_>>(), style)])?;
    Ok(())
}

/// Draws horizontal bars in the rows of their names.
fn bars(
    frame: &mut Frame<'_, '_>,
    chart: &Chart,
    layer: &Layer,
    (x, _): (&AxisRange, &AxisRange),
    place: LayerPlace,
    units: Units,
) -> DrawResult {
    let (from, thick) = place.rows.bar(place.bar);
    let (area, line) = (Ink::Area(place.ink).color(), Ink::Layer(place.ink).color());
    for point in layer.points.iter().filter(|point| point.x.is_finite()) {
        let (top, bottom) = (point.y + from, point.y + from + thick * 0.9);
        let ends = [(x.base(), top), (x.place(point.x), bottom)];
        frame.draw_series([Rectangle::new(ends, area.filled())])?;
        if place.ink > 0 {
            frame.draw_series([Rectangle::new(ends, line.stroke_width(1))])?;
        }
        let middle = (top + bottom) / 2.0;
        if let Some((low, high)) = point.interval {
            whisker(frame, (x.place(low), x.place(high)), middle)?;
        }
        figure(frame, chart, point, (x, middle), units)?;
    }
    Ok(())
}

/// Draws dots with horizontal intervals in the rows of their names.
fn ratios(
    frame: &mut Frame<'_, '_>,
    chart: &Chart,
    layer: &Layer,
    x: &AxisRange,
    place: LayerPlace,
    units: Units,
) -> DrawResult {
    let (from, thick) = place.rows.bar(place.bar);
    let line = Ink::Layer(place.ink).color();
    for point in layer.points.iter().filter(|point| point.x.is_finite()) {
        let middle = point.y + from + thick / 2.0;
        if let Some((low, high)) = point.interval {
            let ends = vec![(x.place(low), middle), (x.place(high), middle)];
            frame.draw_series([PathElement::new(ends, line.stroke_width(2))])?;
        }
        let at = (x.place(point.x), middle);
        match place.ink % 2 {
            0 => frame.draw_series([Circle::new(at, 4, line.filled())])?,
            _ => frame.draw_series([TriangleMarker::new(at, 6, line.filled())])?,
        };
        figure(frame, chart, point, (x, middle), units)?;
    }
    Ok(())
}

/// Writes the figure of a point in a column at the right end of the rows, clear of all intervals,
/// if there are not too many.
fn figure(
    frame: &mut Frame<'_, '_>,
    chart: &Chart,
    point: &Point,
    (x, middle): (&AxisRange, f64),
    units: Units,
) -> DrawResult {
    if tells_figures(chart) {
        let words = figure_words(chart, point, x, units);
        let style = text(Ink::Text).pos(Pos::new(HPos::Right, VPos::Center));
        let figure = EmptyElement::at((x.top(), middle)) + Text::new(words, (0, 0), style);
        frame.draw_series([figure])?;
    }
    Ok(())
}

/// Returns the figure of a point, with an arrow if its bar is cut.
fn figure_words(chart: &Chart, point: &Point, x: &AxisRange, units: Units) -> String {
    let words = chart.x.of.with(point.x).text(units);
    if x.cuts(point.x) { format!("→ {words}") } else { words }
}

/// Draws the interval of a bar, dark on light, so that it is visible on the bar and beyond it.
fn whisker(frame: &mut Frame<'_, '_>, (low, high): (f64, f64), middle: f64) -> DrawResult {
    for (ink, width) in [(Ink::Ground, 4), (Ink::Text, 2)] {
        let ends = vec![(low, middle), (high, middle)];
        frame.draw_series([PathElement::new(ends, ink.color().stroke_width(width))])?;
    }
    Ok(())
}

fn histogram(
    frame: &mut Frame<'_, '_>,
    points: &[(f64, f64)],
    base: f64,
    index: usize,
) -> DrawResult {
    let mut width = 0.0;
    for (at, &(x, y)) in points.iter().enumerate() {
        width = points.get(at + 1).map_or(width, |next| next.0 - x);
        let ends = [(x, base), (x + width, y)];
        let (area, line) = (Ink::Area(index).color(), Ink::Ground.color());
        frame.draw_series([Rectangle::new(ends, area.filled())])?;
        frame.draw_series([Rectangle::new(ends, line.stroke_width(1))])?;
    }
    Ok(())
}

/// Draws vertical lines, each with its label on the side that has room.
fn rules(frame: &mut Frame<'_, '_>, layer: &Layer, x: &AxisRange, y: &AxisRange) -> DrawResult {
    let style = Ink::Rule.color().stroke_width(1);
    for point in layer.points.iter().filter(|point| point.x.is_finite()) {
        let at = x.place(point.x);
        let line = vec![(at, y.base()), (at, y.top())];
        frame.draw_series([PathElement::new(line, style)])?;
        let behind = at < (x.base() + x.top()) / 2.0;
        let (anchor, gap) = if behind { (HPos::Left, 4) } else { (HPos::Right, -4) };
        let style = text(Ink::Text).pos(Pos::new(anchor, VPos::Top));
        let height = y.top() - point.y * (y.top() - y.base());
        let words =
            EmptyElement::at((at, height)) + Text::new(layer.label.clone(), (gap, 1), style);
        frame.draw_series([words])?;
    }
    Ok(())
}

fn spans(frame: &mut Frame<'_, '_>, layer: &Layer, x: &AxisRange, index: usize) -> DrawResult {
    let style = Ink::Area(index).color().filled();
    let spans = layer.points.iter().filter_map(|point| Some((point.y, point.interval?)));
    frame.draw_series(spans.map(|(row, (from, to))| {
        Rectangle::new([(x.place(from), row - SPAN_HALF), (x.place(to), row + SPAN_HALF)], style)
    }))?;
    Ok(())
}

/// Draws the intervals of points.
fn whiskers(
    frame: &mut Frame<'_, '_>,
    layer: &Layer,
    x: &AxisRange,
    y: &AxisRange,
    index: usize,
) -> DrawResult {
    let style: ShapeStyle = Ink::Layer(index).color().stroke_width(1);
    let ends = layer.points.iter().filter_map(|point| Some((point.x, point.interval?)));
    frame.draw_series(ends.map(|(at, (low, high))| {
        PathElement::new(vec![(x.place(at), y.place(low)), (x.place(at), y.place(high))], style)
    }))?;
    Ok(())
}

/// Draws a layer's sample for the legend: all marks with its label, on top of each other.
pub(super) fn swatch(
    area: &Area<'_>,
    chart: &Chart,
    layer: &Layer,
    ink: usize,
    (x, y): (i32, i32),
) -> DrawResult {
    let middle = y + 7;
    let same = chart.layers.iter().filter(|other| other.label == layer.label);
    for layer in same {
        let color = Ink::Layer(ink).color();
        match layer.mark {
            _ if is_course(layer) => {
                let line = vec![(x, middle), (x + 16, middle)];
                area.draw(&PathElement::new(line, Ink::Course(ink).color().stroke_width(2)))?;
                if is_marked(layer.mark, layer.points.len()) {
                    sample(area, ink, (x + 8, middle))?;
                }
            }
            Mark::Dots => sample(area, ink, (x + 8, middle))?,
            Mark::Band => {
                let ends = [(x, y + 1), (x + 16, y + 13)];
                area.draw(&Rectangle::new(ends, color.mix(0.18).filled()))?;
            }
            _ => {
                let ends = [(x + 2, y + 1), (x + 14, y + 13)];
                area.draw(&Rectangle::new(ends, Ink::Area(ink).color().filled()))?;
                area.draw(&Rectangle::new(ends, color.stroke_width(1)))?;
            }
        }
    }
    Ok(())
}

/// Draws the mark of a layer's points.
fn sample(area: &Area<'_>, ink: usize, at: (i32, i32)) -> DrawResult {
    let color = Ink::Layer(ink).color();
    let square = |style| {
        Rectangle::new([(at.0 - SQUARE, at.1 - SQUARE), (at.0 + SQUARE, at.1 + SQUARE)], style)
    };
    let drawn = match ink % LAYERS {
        0 => area.draw(&Circle::new(at, 4, color.filled())),
        1 => area.draw(&TriangleMarker::new(at, 5, color.filled())),
        2 => area.draw(&Cross::new(at, 4, color.stroke_width(2))),
        3 => area.draw(&Circle::new(at, 4, color.stroke_width(2))),
        4 => area.draw(&square(color.filled())),
        _ => area.draw(&square(color.stroke_width(1))),
    };
    Ok(drawn?)
}
