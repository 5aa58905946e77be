//! Draws a [`Chart`] as one SVG picture.
//!
//! The picture has axes with units, rates from zero, intervals, a title, and a description for
//! readers who cannot see it. Layers differ by shape, dash and hatching as well as by colour.
//! Colours are literal ones, so that any program shows a picture; the style of a page replaces
//! them by its own. Knows nothing of what the values mean.

mod axis;
mod letters;
mod picture;
mod marks;

use crate::document::{Axis, Chart, Layer, Mark, Scale};
use crate::escape;
use crate::units::Units;
use axis::{AxisRange, AxisSide};
use letters::{fitted, lines_of, width_of};
use picture::{Anchor, Ink, Picture, Pixel};

/// Most dots in a picture. If there are more, an even selection is drawn; JSON has all of them.
pub const DOTS_MAX: usize = 900;

/// Size of a picture in its own units; the page scales it. At this width letters are still readable
/// on a telephone.
const WIDTH: i32 = 480;
const HEIGHT: i32 = 300;

/// Space around a picture that is a file of its own.
const MARGIN: i32 = 14;

/// Height of a bar, and of the gap between rows of bars.
const BAR_HEIGHT: i32 = 17;
const ROW_GAP: i32 = 8;

/// Height of a row's name above its bars. Names wider than the second number are above the bars,
/// others beside them.
const NAME_HEIGHT: i32 = 18;
const SIDE_NAME_WIDTH_MAX: i32 = 140;

/// Height of the labels below the frame.
const BELOW_HEIGHT: i32 = 44;

/// The middles of the marks' labels and of the title, below the frame, and the gap between the
/// frame and the labels on its left.
const X_LABEL_DOWN: i32 = 13;
const X_TITLE_DOWN: i32 = 34;
const Y_LABEL_GAP: i32 = 8;

/// Gap between the labels of neighbouring marks along x.
const LABEL_GAP: i32 = 10;

/// Height of a row of the legend, or of the title of the vertical axis.
const LINE_HEIGHT: i32 = 19;

/// Greatest width of a label in the legend.
const LEGEND_WIDTH_MAX: i32 = WIDTH - 30;

/// Most rows of bars or spans in a picture.
const ROWS_MAX: usize = 400;

/// Draws a chart as an SVG element with a title and a description, with at most so many dots.
pub fn svg(chart: &Chart, units: Units, dots_max: usize) -> String {
    let (elements, height) = drawn(chart, units, dots_max);
    let ids = format!(
        "aria-labelledby=\"{0}-title\" aria-describedby=\"{0}-words\"",
        escape::markup(&chart.name)
    );
    let title = described(chart);
    format!(
        "<svg role=\"img\" font-size=\"{}\" viewBox=\"0 0 {WIDTH} {height}\" \
         {ids}>{title}{elements}</svg>",
        letters::SIZE
    )
}

/// Draws a chart as a file of its own: with its title, and with its origin below, such as the
/// machine and the date. It is dark where everything around it is.
pub fn standalone(chart: &Chart, origin: &str, units: Units) -> String {
    let (elements, height) = drawn(chart, units, DOTS_MAX);
    let mut words = Picture::new(&chart.name);
    let mut y = MARGIN + LINE_HEIGHT / 2;
    for line in lines_of(&escape::visible(&chart.title), WIDTH) {
        words.text(&line, (MARGIN, y), Anchor::Start, Ink::Text);
        y += LINE_HEIGHT;
    }
    let top = y;
    y += height + LINE_HEIGHT;
    for line in lines_of(&escape::visible(origin), WIDTH) {
        words.text(&line, (MARGIN, y), Anchor::Start, Ink::Soft);
        y += LINE_HEIGHT;
    }
    let (width, height) = (WIDTH + 2 * MARGIN, y - LINE_HEIGHT / 2 + MARGIN);
    let (title, style, ground) = (described(chart), picture::dark_style(), Ink::Ground.color());
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
         font-family=\"Arial,Helvetica,sans-serif\" font-size=\"{}\" \
         width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\"><!-- steadfast report -->{title}\
         <style>{style}</style><rect width=\"{width}\" height=\"{height}\" fill=\"{ground}\"/>\
         {}<g transform=\"translate({MARGIN} {top})\">{elements}</g></svg>\n",
        letters::SIZE,
        words.into_elements()
    )
}

/// Returns the title and the description, for readers who cannot see the picture.
fn described(chart: &Chart) -> String {
    let [name, title, words] =
        [&chart.name, &chart.title, &chart.description].map(|text| escape::markup(text));
    format!("<title id=\"{name}-title\">{title}</title><desc id=\"{name}-words\">{words}</desc>")
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

/// The part of a picture between the axes.
struct Frame {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
    x: AxisRange,
    y: AxisRange,
}

impl Frame {
    /// Returns the pixel of a point.
    fn at(&self, x: f64, y: f64) -> Pixel {
        (self.x_at(x), self.y_at(y))
    }

    fn x_at(&self, value: f64) -> i32 {
        self.x_pixel(self.x.place(value))
    }

    fn y_at(&self, value: f64) -> i32 {
        self.y_pixel(self.y.place(value))
    }

    /// Returns the pixel of a coordinate, as marks have them.
    fn x_pixel(&self, place: f64) -> i32 {
        self.x.pixel(place, (self.left, self.right))
    }

    fn y_pixel(&self, place: f64) -> i32 {
        self.y.pixel(place, (self.bottom, self.top))
    }
}

/// Returns the elements of a picture, and its height.
fn drawn(chart: &Chart, units: Units, dots_max: usize) -> (String, i32) {
    let chart = &lying(&legible(thinned(chart, dots_max)));
    let inks = inks(&chart.layers);
    let mut picture = Picture::new(&chart.name);
    let top = legend(&mut picture, chart, &inks);
    let height = height_of(chart, legend_rows(chart, &inks) * LINE_HEIGHT);
    let rows = BarRows::of(chart);
    let frame = framed(chart, rows, (top, height), units);
    let (x_label, y_label) = (labels(&chart.x, &frame.x, units), labels(&chart.y, &frame.y, units));
    mesh(&mut picture, &frame, chart, rows, (&x_label, &y_label));
    let mut bar = 0;
    for (layer, &ink) in chart.layers.iter().zip(&inks) {
        let place = marks::LayerPlace { ink, bar, rows };
        marks::draw(&mut picture, &frame, chart, layer, place, units);
        bar += usize::from(in_rows(chart, layer));
    }
    if !rows.named || frame.x.begins_at_zero() {
        marks::base_line(&mut picture, &frame, rows.named);
    }
    if rows.above {
        marks::names(&mut picture, &frame, rows, &y_label);
    }
    (picture.into_elements(), height)
}

/// Finds the ranges of the axes, and the room between their labels.
fn framed(chart: &Chart, rows: BarRows, (top, height): (i32, i32), units: Units) -> Frame {
    let y = AxisRange::of(&chart.y, chart, AxisSide::Y, units);
    let left = if rows.above { 0 } else { label_width(&y, &labels(&chart.y, &y, units)) };
    let width = WIDTH - left - 2 * LABEL_GAP;
    let x = AxisRange::of(&chart.x, chart, AxisSide::X, units);
    let x = x.with_room(marks::figure_room(chart, units, width));
    let label_width = |mark: f64| width_of(&labels(&chart.x, &x, units)(mark));
    let widest = x.marks().iter().map(|mark| label_width(*mark)).max().unwrap_or(0) + LABEL_GAP;
    let x = x.clone().with_marks_apart(f64::from(widest) / f64::from(width));
    let half = |mark: Option<&f64>| mark.map_or(0, |mark| label_width(*mark) / 2 + 1);
    let left = left.max(half(x.marks().first()));
    let right = WIDTH - half(x.marks().last()).max(6);
    Frame { left, right, top, bottom: height - BELOW_HEIGHT, x, y }
}

/// Writes a value of an axis.
type Label<'a> = dyn Fn(f64) -> String + 'a;

/// Draws the grid and writes along the axes.
fn mesh(
    picture: &mut Picture,
    frame: &Frame,
    chart: &Chart,
    rows: BarRows,
    (x_label, y_label): (&Label<'_>, &Label<'_>),
) {
    let Frame { left, right, top, bottom, .. } = *frame;
    let mut grid: Vec<(Pixel, Pixel)> = Vec::new();
    for mark in frame.x.marks() {
        let x = frame.x_pixel(*mark);
        grid.push(((x, top), (x, bottom)));
        picture.text(&x_label(*mark), (x, bottom + X_LABEL_DOWN), Anchor::Middle, Ink::Text);
    }
    for mark in frame.y.marks() {
        let y = frame.y_pixel(*mark);
        grid.extend((!rows.named).then_some(((left, y), (right, y))));
        if !rows.above {
            picture.text(&y_label(*mark), (left - Y_LABEL_GAP, y), Anchor::End, Ink::Text);
        }
    }
    picture.lines(&grid, Ink::Grid, 1);
    let middle = (left + right) / 2;
    let title = fitted(&chart.x.title, 2 * middle.min(WIDTH - middle));
    if !title.is_empty() {
        picture.text(&title, (middle, bottom + X_TITLE_DOWN), Anchor::Middle, Ink::Soft);
    }
}

/// How rows of bars are divided.
#[derive(Clone, Copy, Debug)]
struct BarRows {
    /// Number of bars or dots in each row.
    bars: i32,
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
        BarRows { bars: i32::try_from(bars.max(1)).unwrap_or(1), named, above }
    }

    /// Height of a row.
    fn height(self) -> i32 {
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
fn height_of(chart: &Chart, top: i32) -> i32 {
    match &chart.y.scale {
        Scale::Names(names) => {
            let rows = names.len().clamp(1, ROWS_MAX) as i32;
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
        if x > 0 && x + width > WIDTH {
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
fn legend(picture: &mut Picture, chart: &Chart, inks: &[usize]) -> i32 {
    let entries = entries(chart, inks);
    let (places, rows) = arranged(&entries);
    for ((ink, layer), (x, row)) in entries.iter().zip(places) {
        let y = row * LINE_HEIGHT + LINE_HEIGHT / 2;
        marks::sample(picture, chart, layer, *ink, (x, y));
        let label = fitted(&layer.label, LEGEND_WIDTH_MAX);
        picture.text(&label, (x + 20, y), Anchor::Start, Ink::Text);
    }
    let title = fitted(upright_title(chart), WIDTH);
    if !title.is_empty() {
        let y = rows * LINE_HEIGHT + LINE_HEIGHT / 2;
        picture.text(&title, (0, y), Anchor::Start, Ink::Soft);
    }
    legend_rows(chart, inks) * LINE_HEIGHT + 8
}

/// Returns the width of the labels of a vertical axis, with the gap to the frame.
fn label_width(span: &AxisRange, label: &impl Fn(f64) -> String) -> i32 {
    let widest = span.marks().iter().map(|mark| width_of(&label(*mark))).max().unwrap_or(0);
    (widest + 12).min(WIDTH / 2)
}

/// Returns the function that writes the marks of an axis.
fn labels<'a>(axis: &'a Axis, span: &'a AxisRange, units: Units) -> impl Fn(f64) -> String + 'a {
    move |at| match &axis.scale {
        Scale::Names(names) => {
            let name = names.get(at.round().max(0.0) as usize).map_or("", String::as_str);
            fitted(name, WIDTH - 2)
        }
        _ => axis::label(axis, span.value(at), span.units(units)),
    }
}

/// Whether the points of a layer are connected.
fn is_course(layer: &Layer) -> bool {
    layer.mark == Mark::Line
}
