//! Draws a [`Chart`] as one SVG picture.
//!
//! The picture has axes with units, rates from zero, intervals, a title, and a description for
//! readers who cannot see it. Layers differ by shape, dash and hatching as well as by colour.
//! Colours are variables of the page's style, so the same picture fits light, dark and print.
//! Knows nothing of what the values mean.

mod axis;
mod letters;
mod marks;
mod theme;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, IntoDrawingArea as _};
use plotters::prelude::SVGBackend;
use plotters::style::{IntoFont as _, TextStyle};

use crate::document::{Axis, Chart, Layer, Mark, Scale};
use crate::escape;
use crate::units::Units;
use axis::{AxisRange, AxisSide};
use letters::{fitted, width_of};
use theme::Ink;

pub use theme::STANDALONE_STYLE;

/// Most dots in a picture. If there are more, an even selection is drawn; JSON has all of them.
pub const DOTS_MAX: usize = 900;

/// Size of a picture in its own units; the page scales it. At this width letters are still readable
/// on a telephone.
const WIDTH: u32 = 480;
const HEIGHT: u32 = 300;

/// Height of a bar, and of the gap between rows of bars.
const BAR_HEIGHT: u32 = 17;
const ROW_GAP: u32 = 8;

/// Height of a row's name above its bars. Names wider than the second number are above the bars,
/// others beside them.
const NAME_HEIGHT: u32 = 18;
const SIDE_NAME_WIDTH_MAX: i32 = 140;

/// Height of the labels below the frame.
const BELOW_HEIGHT: u32 = 44;

/// Height of a line. The drawing library takes it as the size of letters, which are 1.24 times
/// smaller.
const LETTER: f64 = 1.24 * letters::SIZE;

/// Gap between the labels of neighbouring marks along x.
const LABEL_GAP: i32 = 10;

/// Height of a row of the legend, or of the title of the vertical axis.
const LINE_HEIGHT: i32 = 19;

/// Greatest width of a label in the legend.
const LEGEND_WIDTH_MAX: i32 = WIDTH as i32 - 30;

/// Most rows of bars or spans in a picture.
const ROWS_MAX: usize = 400;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Frame<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<AxisRange, AxisRange>>;

/// Draws a chart as an SVG element with a title and a description, with at most so many dots.
pub fn svg(chart: &Chart, units: Units, dots_max: usize) -> String {
    let chart = lying(&legible(thinned(chart, dots_max)));
    let inks = inks(&chart.layers);
    let top = legend_rows(&chart, &inks) * LINE_HEIGHT;
    let height = height_of(&chart, top);
    let mut picture = String::new();
    {
        let area = SVGBackend::with_string(&mut picture, (WIDTH, height)).into_drawing_area();
        draw(&chart, &inks, units, &area).expect("a picture in memory takes everything");
    }
    theme::dress(&picture, &chart, (WIDTH, height))
}

/// Draws a chart as a file of its own, readable in light and dark.
pub fn standalone(chart: &Chart, units: Units) -> String {
    let picture = svg(chart, units, DOTS_MAX);
    let style = format!("<style>{STANDALONE_STYLE}</style>");
    let end = picture.find('>').map_or(0, |end| end + 1);
    let element = picture[..end].replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    format!("{element}<!-- steadfast report -->{style}{}\n", &picture[end..])
}

/// Returns how many dots of a chart are drawn and how many it has, if these differ.
pub fn drawn_of(chart: &Chart, dots_max: usize) -> Option<(usize, usize)> {
    let dots = |chart: &Chart| {
        let layers = chart.layers.iter().filter(|layer| layer.mark == Mark::Dots);
        layers.map(|layer| layer.points.len()).sum::<usize>()
    };
    let (drawn, all) = (dots(&thinned(chart, dots_max)), dots(chart));
    (drawn < all).then_some((drawn, all))
}

/// Selects dots evenly from each layer if there are too many.
fn thinned(chart: &Chart, dots_max: usize) -> Chart {
    let mut chart = chart.clone();
    let is_dots = |layer: &&mut Layer| layer.mark == Mark::Dots;
    let all: usize = chart.layers.iter_mut().filter(is_dots).map(|of| of.points.len()).sum();
    let every = all.div_ceil(dots_max.max(1)).max(1);
    for layer in chart.layers.iter_mut().filter(is_dots) {
        layer.points = layer.points.iter().step_by(every).copied().collect();
    }
    chart
}

/// Escapes control characters in the words of a picture.
fn legible(mut chart: Chart) -> Chart {
    let spell = |words: &mut String| *words = escape::visible(words).into_owned();
    for axis in [&mut chart.x, &mut chart.y] {
        spell(&mut axis.title);
        if let Scale::Names(names) = &mut axis.scale {
            names.iter_mut().for_each(spell);
        }
    }
    chart.layers.iter_mut().for_each(|layer| spell(&mut layer.label));
    chart
}

type DrawResult = Result<(), Box<dyn std::error::Error>>;

fn draw(chart: &Chart, inks: &[usize], units: Units, area: &Area<'_>) -> DrawResult {
    let top = legend(chart, inks, area)?;
    let y = AxisRange::of(&chart.y, chart, AxisSide::Y, units);
    let y_label = labels(&chart.y, &y, units);
    let rows = BarRows::of(chart);
    let left = if rows.above { 0 } else { label_width(&y, &y_label) };
    let frame_width = WIDTH as i32 - left - 2 * LABEL_GAP;
    let x = AxisRange::of(&chart.x, chart, AxisSide::X, units);
    let x = x.with_room(marks::figures(chart, units, frame_width));
    let x_width = |mark: &f64| width_of(&labels(&chart.x, &x, units)(mark));
    let widest = x.marks().iter().map(x_width).max().unwrap_or(0) + LABEL_GAP;
    let x = x.clone().with_marks_apart(f64::from(widest) / f64::from(frame_width));
    let x_label = labels(&chart.x, &x, units);
    let half = |mark: Option<&f64>| mark.map_or(0, |mark| width_of(&x_label(mark)) / 2 + 1);
    let mut builder = ChartBuilder::on(area);
    let mut frame = builder
        .margin_top(top)
        .margin_left((half(x.marks().first()) - left).max(0))
        .margin_right(half(x.marks().last()).max(6))
        .x_label_area_size(BELOW_HEIGHT)
        .y_label_area_size(left)
        .build_cartesian_2d(x.clone(), y.clone())?;
    let middle = left + frame_width / 2;
    let room = 2 * middle.min(WIDTH as i32 - middle);
    mesh(&mut frame, chart, (rows, room), (&x_label, &y_label))?;
    let mut bar = 0;
    for (layer, &ink) in chart.layers.iter().zip(inks) {
        let place = marks::LayerPlace { ink, bar, rows };
        marks::draw(&mut frame, chart, layer, place, (&x, &y), units)?;
        bar += usize::from(in_rows(chart, layer));
    }
    if !rows.named || x.begins_at_zero() {
        marks::base_line(&mut frame, rows.named, (&x, &y))?;
    }
    if rows.above {
        marks::names(&mut frame, rows, (&x, &y), &y_label)?;
    }
    area.present()?;
    Ok(())
}

/// Writes a value of an axis.
type Label<'a> = dyn Fn(&f64) -> String + 'a;

/// Draws the grid and writes along the axes.
fn mesh(
    frame: &mut Frame<'_, '_>,
    chart: &Chart,
    (rows, title_room): (BarRows, i32),
    (x_label, y_label): (&Label<'_>, &Label<'_>),
) -> DrawResult {
    let mut mesh = frame.configure_mesh();
    if rows.above {
        mesh.disable_y_mesh().y_labels(0);
    } else if rows.named {
        mesh.disable_y_mesh();
    } else if is_histogram(chart) {
        mesh.disable_x_mesh();
    }
    mesh.x_desc(fitted(&chart.x.title, title_room))
        .x_label_formatter(x_label)
        .y_label_formatter(y_label)
        .label_style(text(Ink::Text))
        .axis_desc_style(text(Ink::Soft))
        .axis_style(plotters::style::TRANSPARENT)
        .bold_line_style(Ink::Grid.color())
        .light_line_style(plotters::style::TRANSPARENT)
        .draw()?;
    Ok(())
}

/// How rows of bars are divided.
#[derive(Clone, Copy, Debug)]
struct BarRows {
    /// Number of bars or dots in each row.
    bars: u32,
    /// Whether rows have names.
    named: bool,
    /// Whether names stand above their bars.
    above: bool,
}

impl BarRows {
    fn of(chart: &Chart) -> BarRows {
        let bars = chart.layers.iter().filter(|layer| in_rows(chart, layer)).count();
        let wide = |name: &String| width_of(name) > SIDE_NAME_WIDTH_MAX;
        let (named, long) = match &chart.y.scale {
            Scale::Names(names) => (true, names.iter().any(wide)),
            _ => (false, false),
        };
        let above = long && bars > 0;
        BarRows { bars: u32::try_from(bars.max(1)).unwrap_or(1), named, above }
    }

    /// Height of a row.
    fn height(self) -> u32 {
        self.bars * BAR_HEIGHT + ROW_GAP + if self.above { NAME_HEIGHT } else { 0 }
    }

    /// Returns the beginning of a bar, from the middle of its row, and its thickness, both as
    /// shares of the row's height.
    fn bar(self, bar: usize) -> (f64, f64) {
        let height = f64::from(self.height());
        let name = if self.above { NAME_HEIGHT } else { 0 };
        let thick = f64::from(BAR_HEIGHT) / height;
        let first = -0.5 + f64::from(ROW_GAP / 2 + name) / height;
        (first + bar as f64 * thick, thick)
    }
}

/// Returns the ink of each layer. Layers with the same label have the same ink.
fn inks(layers: &[Layer]) -> Vec<usize> {
    let mut labels: Vec<&str> = Vec::new();
    let mut inks = Vec::with_capacity(layers.len());
    for layer in layers {
        let known = labels.iter().position(|label| *label == layer.label);
        if known.is_none() && layer.mark != Mark::Rule {
            labels.push(&layer.label);
        }
        inks.push(known.unwrap_or(labels.len().saturating_sub(1)));
    }
    inks
}

/// Whether the points of a layer are in rows with names, each layer on its own line.
fn in_rows(chart: &Chart, layer: &Layer) -> bool {
    matches!(layer.mark, Mark::Bars | Mark::Dots) && matches!(chart.y.scale, Scale::Names(_))
}

fn is_histogram(chart: &Chart) -> bool {
    chart.layers.iter().any(|layer| layer.mark == Mark::Histogram)
}

/// Swaps the axes if bars or dots have names along x, so that the names can be read without
/// turning.
fn lying(chart: &Chart) -> Chart {
    let rows = chart.layers.iter().any(|layer| matches!(layer.mark, Mark::Bars | Mark::Dots));
    let mut chart = chart.clone();
    if !(rows && matches!(chart.x.scale, Scale::Names(_))) {
        return chart;
    }
    std::mem::swap(&mut chart.x, &mut chart.y);
    for point in chart.layers.iter_mut().flat_map(|layer| &mut layer.points) {
        std::mem::swap(&mut point.x, &mut point.y);
    }
    chart
}

/// Returns the height of the picture, which grows with the rows.
fn height_of(chart: &Chart, top: i32) -> u32 {
    let top = u32::try_from(top).unwrap_or(0);
    match &chart.y.scale {
        Scale::Names(names) => {
            let rows = u32::try_from(names.len().clamp(1, ROWS_MAX)).unwrap_or(1);
            top + rows * BarRows::of(chart).height() + BELOW_HEIGHT + 10
        }
        _ => top + HEIGHT,
    }
}

/// Returns the entries of the legend: each label once, with its ink. A single layer needs no
/// legend: the title names it.
fn entries<'a>(chart: &'a Chart, inks: &[usize]) -> Vec<(usize, &'a Layer)> {
    let mut entries: Vec<(usize, &Layer)> = Vec::new();
    for (layer, &ink) in chart.layers.iter().zip(inks) {
        let told = entries.iter().any(|(known, _)| *known == ink);
        if !told && !layer.label.is_empty() && layer.mark != Mark::Rule {
            entries.push((ink, layer));
        }
    }
    let spans = chart.layers.iter().any(|layer| layer.mark == Mark::Spans);
    if entries.len() < 2 && !spans { Vec::new() } else { entries }
}

/// Returns the place of each entry of the legend, and the number of rows.
fn arranged(entries: &[(usize, &Layer)]) -> (Vec<(i32, i32)>, i32) {
    let (mut x, mut row) = (0, 0);
    let mut places = Vec::new();
    for (_, layer) in entries {
        let width = 22 + width_of(&layer.label).min(LEGEND_WIDTH_MAX);
        if x > 0 && x + width > WIDTH as i32 {
            (x, row) = (0, row + 1);
        }
        places.push((x, row));
        x += width + 14;
    }
    (places, if entries.is_empty() { 0 } else { row + 1 })
}

/// Returns the number of rows above the frame.
fn legend_rows(chart: &Chart, inks: &[usize]) -> i32 {
    arranged(&entries(chart, inks)).1 + i32::from(!upright_title(chart).is_empty())
}

/// Returns the title of the vertical axis, which is above it. Rows have names instead.
fn upright_title(chart: &Chart) -> &str {
    if matches!(chart.y.scale, Scale::Names(_)) { "" } else { &chart.y.title }
}

/// Draws the legend in rows above the frame; returns where the frame begins.
fn legend(
    chart: &Chart,
    inks: &[usize],
    area: &Area<'_>,
) -> Result<i32, Box<dyn std::error::Error>> {
    let entries = entries(chart, inks);
    let (places, rows) = arranged(&entries);
    for ((ink, layer), (x, row)) in entries.iter().zip(places) {
        let y = row * LINE_HEIGHT + 3;
        marks::swatch(area, chart, layer, *ink, (x, y))?;
        area.draw_text(&fitted(&layer.label, LEGEND_WIDTH_MAX), &text(Ink::Text), (x + 20, y))?;
    }
    let title = upright_title(chart);
    if !title.is_empty() {
        let title = fitted(title, WIDTH as i32);
        area.draw_text(&title, &text(Ink::Soft), (0, rows * LINE_HEIGHT + 3))?;
    }
    Ok(legend_rows(chart, inks) * LINE_HEIGHT + 8)
}

/// Returns the width of the labels of a vertical axis, with the gap to the frame.
fn label_width(span: &AxisRange, label: &impl Fn(&f64) -> String) -> i32 {
    let widest = span.marks().iter().map(|mark| width_of(&label(mark))).max().unwrap_or(0);
    (widest + 12).min(WIDTH as i32 / 2)
}

/// Returns the function that writes the marks of an axis.
fn labels<'a>(axis: &'a Axis, span: &'a AxisRange, units: Units) -> impl Fn(&f64) -> String + 'a {
    move |&at| match &axis.scale {
        Scale::Names(names) => {
            let name = names.get(at.round().max(0.0) as usize).map_or("", String::as_str);
            fitted(name, WIDTH as i32 - 2)
        }
        _ => axis::label(axis, span.value(at), span.units(units)),
    }
}

fn text(ink: Ink) -> TextStyle<'static> {
    ("sans-serif", LETTER).into_font().color(&ink.color())
}

/// Whether the points of a layer are connected.
fn is_course(layer: &Layer) -> bool {
    matches!(layer.mark, Mark::Line | Mark::Steps)
}
