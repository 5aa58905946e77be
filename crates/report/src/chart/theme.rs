//! The colours and the descriptions of a picture.
//!
//! The drawing library supports colours as numbers only. Every ink is drawn in a number that no
//! picture uses otherwise; afterwards the number is replaced by a variable such as
//! `var(--chart-1)`.

use std::fmt::Write as _;

use plotters::style::RGBColor;

use crate::document::Chart;
use crate::escape;

/// Inks of layers, after which they repeat.
pub(super) const LAYERS: usize = 6;

/// Lengths of dashes and gaps of each layer's line; the first line is solid.
const DASHES: [&str; LAYERS] = ["", "8 4", "3 3", "12 3", "6 6", "2 5"];

/// The colour and the pattern of something that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Text,
    Soft,
    Grid,
    Axis,
    /// Of the layer with this index.
    Layer(usize),
    /// Of that layer's areas: hatched from the second layer on.
    Area(usize),
    /// Of that layer's lines: dashed from the second layer on.
    Course(usize),
    /// A vertical line with a label.
    Rule,
    /// The background, which separates neighbours.
    Ground,
}

impl Ink {
    const ALL_BUT_LAYERS: [Ink; 6] =
        [Ink::Text, Ink::Soft, Ink::Grid, Ink::Axis, Ink::Ground, Ink::Rule];

    /// Returns the number that represents it.
    pub(super) fn color(self) -> RGBColor {
        match self {
            Ink::Text => RGBColor(1, 0, 1),
            Ink::Grid => RGBColor(1, 0, 2),
            Ink::Axis => RGBColor(1, 0, 3),
            Ink::Ground => RGBColor(1, 0, 4),
            Ink::Soft => RGBColor(1, 0, 5),
            Ink::Rule => RGBColor(1, 0, 6),
            Ink::Course(index) => RGBColor(1, 3, (index % LAYERS) as u8),
            Ink::Layer(index) => RGBColor(1, 1, (index % LAYERS) as u8),
            Ink::Area(index) => RGBColor(1, 2, (index % LAYERS) as u8),
        }
    }

    fn name(self, chart: &str) -> String {
        match self {
            Ink::Text => "var(--ink)".to_owned(),
            Ink::Soft => "var(--soft)".to_owned(),
            Ink::Rule => "var(--ink)\" stroke-dasharray=\"4 3".to_owned(),
            Ink::Course(index) => match DASHES[index % LAYERS] {
                "" => Ink::Layer(index).name(chart),
                dashes => {
                    format!("{}\" stroke-dasharray=\"{dashes}", Ink::Layer(index).name(chart))
                }
            },
            Ink::Grid => "var(--grid)".to_owned(),
            Ink::Axis => "var(--axis)".to_owned(),
            Ink::Ground => "var(--ground)".to_owned(),
            Ink::Layer(index) => format!("var(--chart-{})", index % LAYERS + 1),
            Ink::Area(index) if index % LAYERS == 0 => "var(--chart-1)".to_owned(),
            Ink::Area(index) => format!("url(#{chart}-hatch-{})", index % LAYERS + 1),
        }
    }
}

/// The values of the variables in a picture that is a separate file, in light and dark. Pages have
/// the same in their style. The contrast of each layer to the background is at least 3 to 1, as
/// graphics need, and that of text at least 4.5 to 1.
pub const STANDALONE_STYLE: &str = "\
svg{--ground:#fff;--ink:#1d2129;--soft:#535b67;--grid:#e3e6ea;--axis:#6b7280;\
--chart-1:#0b63b0;--chart-2:#b4510b;--chart-3:#0f7b5f;--chart-4:#8a3ea8;--chart-5:#5f6672;\
--chart-6:#a81f4c;background:var(--ground);font-family:system-ui,sans-serif}\
@media (prefers-color-scheme:dark){svg{--ground:#14171c;--ink:#e6e8eb;--soft:#a9b1bc;\
--grid:#2b3038;--axis:#8b93a0;--chart-1:#62aef0;--chart-2:#f0964f;--chart-3:#4cc3a1;\
--chart-4:#c790e0;--chart-5:#a4acb8;--chart-6:#f07a9e}}";

/// Makes an element for a page: replaces colours by variables, and adds a title and a description.
pub(super) fn dress(picture: &str, chart: &Chart, (width, height): (u32, u32)) -> String {
    let begin = picture.find("<svg").unwrap_or(0);
    let begin = picture[begin..].find('>').map_or(0, |end| begin + end + 1);
    let mut body = picture[begin..].replace('\n', "");
    // The page sets the font; default values are left out.
    for nothing in [" font-family=\"sans-serif\"", " opacity=\"1\"", " stroke=\"none\""] {
        body = body.replace(nothing, "");
    }
    body = body.replace(&font_size(), "");
    for ink in Ink::ALL_BUT_LAYERS {
        body = body.replace(&number(ink), &ink.name(&chart.name));
    }
    let mut hatches = String::new();
    for index in 0..LAYERS {
        body = body.replace(&number(Ink::Layer(index)), &Ink::Layer(index).name(&chart.name));
        body = body.replace(&number(Ink::Course(index)), &Ink::Course(index).name(&chart.name));
        let area = number(Ink::Area(index));
        if body.contains(&area) {
            body = body.replace(&area, &Ink::Area(index).name(&chart.name));
            hatch(&chart.name, index, &mut hatches);
        }
    }
    let body = joined(&body);
    let (name, title) = (&chart.name, escape::markup(&chart.title));
    let words = escape::markup(&chart.description);
    let defs = if hatches.is_empty() { String::new() } else { format!("<defs>{hatches}</defs>") };
    format!(
        "<svg role=\"img\" font-size=\"12.5\" viewBox=\"0 0 {width} {height}\" \
         aria-labelledby=\"{name}-title\" aria-describedby=\"{name}-words\">\
         <title id=\"{name}-title\">{title}</title>\
         <desc id=\"{name}-words\">{words}</desc>{defs}{body}"
    )
}

/// Returns the size of letters as the library writes it; it is the same everywhere.
fn font_size() -> String {
    format!(" font-size=\"{}\"", super::LETTER / 1.24)
}

/// Joins neighbouring dots to one path: a dot is a line of no length with round ends.
fn joined(body: &str) -> String {
    const BEGIN: &str = "<circle cx=\"";
    let mut out = String::with_capacity(body.len());
    let mut open: Option<&str> = None;
    let mut rest = body;
    loop {
        let dot = rest.strip_prefix(BEGIN).and_then(parts_of_dot);
        if let Some((x, y, ink, after)) = dot {
            if open != Some(ink) {
                close(&mut out, open.replace(ink));
                out.push_str("<path d=\"");
            }
            write!(out, "M{x} {y}h0").expect("a string takes everything");
            rest = after;
            continue;
        }
        close(&mut out, open.take());
        let Some(next) = rest
            .char_indices()
            .skip(1)
            .find_map(|(at, _)| rest[at..].starts_with(BEGIN).then_some(at))
        else {
            out.push_str(rest);
            return out;
        };
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
}

fn close(out: &mut String, ink: Option<&str>) {
    if let Some(ink) = ink {
        write!(
            out,
            "\" stroke=\"{ink}\" fill=\"none\" stroke-width=\"6\" stroke-linecap=\"round\" \
             opacity=\"0.6\"/>"
        )
        .expect("a string takes everything");
    }
}

/// Returns the place of a dot, its ink, and the text after it; `None` for any other circle.
fn parts_of_dot(rest: &str) -> Option<(&str, &str, &str, &str)> {
    let (x, rest) = rest.split_once('"')?;
    let (y, rest) = rest.strip_prefix(" cy=\"")?.split_once('"')?;
    let rest = rest.strip_prefix(" r=\"3\" opacity=\"0.55\" fill=\"")?;
    let (ink, rest) = rest.split_once('"')?;
    Some((x, y, ink, rest.strip_prefix("/>")?))
}

/// Writes the pattern of a layer's areas: lines of its colour over a light tint of it.
fn hatch(chart: &str, index: usize, out: &mut String) {
    if index == 0 {
        return;
    }
    let ink = Ink::Layer(index).name(chart);
    let (angle, gap) = [(45, 6), (-45, 6), (90, 5), (0, 5), (45, 3)][index - 1];
    write!(
        out,
        "<pattern id=\"{chart}-hatch-{}\" width=\"{gap}\" height=\"{gap}\" \
         patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate({angle})\">\
         <rect width=\"{gap}\" height=\"{gap}\" fill=\"{ink}\" opacity=\"0.35\"/>\
         <rect width=\"2\" height=\"{gap}\" fill=\"{ink}\"/></pattern>",
        index + 1
    )
    .expect("a string takes everything");
}

fn number(ink: Ink) -> String {
    let RGBColor(red, green, blue) = ink.color();
    format!("#{red:02X}{green:02X}{blue:02X}")
}
